#!/usr/bin/env bash
# Measures the runs of columns.rk against peers: their folder has kernels.h, run.sh and what they need.
#
#   cargo build --release && benches/runs/run.sh PEERS [options of the peers' harness]
#
# Prints the harness's tables, then for each run the ratio to the best peers (table.py). `-s 1024` measures one size.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
peers=$1
shift
rakec=${RAKEC:-$here/../../target/release/rakec}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

versions=
declare -A lanes=([sse2]=4 [avx2]=8 [avx512]=16)
declare -A level=([sse2]=x86-64 [avx2]=x86-64-v3 [avx512]=x86-64-v4)
for isa in sse2 avx2 avx512; do
  mkdir "$out/$isa"
  objects=
  for runs in columns gather; do
    "$rakec" --no-report --emit-obj --target "x86-$isa" -o "$out/$isa/$runs.o" "$here/$runs.rk"
    "$rakec" --no-report --emit-header --target "x86-$isa" -o "$out/$isa/$runs.h" "$here/$runs.rk"
    objects+="$out/$isa/$runs.o,"
  done
  "${CC:-gcc}" -O2 -Wall -Wextra -march="${level[$isa]}" -DLANES="${lanes[$isa]}" -I"$out/$isa" -c "$here/shim.c" -o "$out/$isa/shim.o"
  versions+=" rake:$isa:$objects$out/$isa/shim.o"
  # The gather that holds its indices against the table's end.
  "${CC:-gcc}" -O2 -Wall -Wextra -I"$out/$isa" -c "$here/checked.c" -o "$out/$isa/checked.o"
  versions+=" rake-checked:$isa:$out/$isa/gather.o,$out/$isa/checked.o"
  # The sequences of exp and log by hand.
  "${CC:-gcc}" -O3 -ffp-contract=off -march="${level[$isa]}" -mprefer-vector-width=512 -DRACKS=4 -c "$here/sequences.c" -o "$out/$isa/sequences.o"
  versions+=" sequence:$isa:$out/$isa/sequences.o"
done
RAKE=$versions BUILD=$out/build "$peers/run.sh" -o "$out/results.tsv" "$@"
python3 "$here/table.py" "$out/results.tsv"
