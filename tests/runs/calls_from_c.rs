//! C and C++ call runs through the header that we write, without the profile's instructions.

use crate::support::{Scratch, X86, compile, plain};
use rake_ir::profile::{Family, Profile};
use rake_testkit::x86::{Isa, cpu_has};
use rakec::{Emit, Options};
use std::process::Command;

const KERNEL: &str = "\
pack Samples { f32: value; u8: quality; i16: count, int; }
pack Weights { f32: weight; }

run weigh(s: stack Samples, w: stack Weights, <scale: f32>, <more: i32>) -> stack Samples:
  s with { value: s.value * w.weight + <scale>, count: widen(s.count) + <more> }

run keep(s: stack Samples, <least: u32>) -> stack Samples:
  compact s with { int: widen(s.int) + <1> } where widen(s.quality) >= <least>

run drift(w: stack Weights, v: stack Weights, <a: i32>, <b: u32>, <c: i32>, <d: i32>, <e: i32>, <f: i32>, <g: f32>) -> stack Weights:
  w with { weight: v.weight + <g> + to_f32(<a> - <c> + <d> * <e> - <f>) + to_f32(<b>) }

run floats(x: []f32, out: mut []f32, <n: i32>, <a: f32>, <b: f32>, <c: f32>, <d: f32>, <e: f32>, <f: f32>, <g: f32>, <h: f32>, <i: f32>, <j: i32>, <k: f32>, <l: i32>, <m: bool>, <o: i32>, <p: f32>):
  let <low: f32> = <a> - <b> + <c> - <d> + <e> - <f> + <g> - <h>
  let <whole: i32> = <j> * <l> - <o>
  for <t: i32> from <0> up to <n> by <lanes>:
    let v = x[<t> up to <n>] * <i> + <low>
    out[<t> up to <n>] <- (if <m> then v - <k> else v * <p>) + to_f32(<whole>)
";

/// What is expected was worked out in C, from the meaning of the source.
const CALLER: &str = r#"
#include "kernel.h"
#include "kernel.h"
#include <stdio.h>
#include <stdlib.h>
enum { MOST = 150 };
#define CHECK(c) do { if (!(c)) { printf("line %d, %d of %d: %s\n", __LINE__, k, n, #c); return 1; } } while (0)
static int use(int n) {
  float value[MOST], weight[MOST];
  uint8_t quality[MOST];
  int16_t count[MOST], number[MOST];
  struct rake_stack_Samples_v2 s = {n, value, quality, count, number};
  struct rake_stack_Weights_v2 w = {n, weight};
  int k, kept = 0;
  for (k = 0; k < MOST; k++) {
    value[k] = (float)k; weight[k] = 0.5f; quality[k] = (uint8_t)(k * 7); count[k] = (int16_t)(k - 5); number[k] = (int16_t)k;
  }
  weigh(&s, &w, 2.0f, -3);
  CHECK(s.count == n && w.count == n);
  for (k = 0; k < MOST; k++) {
    CHECK(value[k] == (k < n ? (float)k * 0.5f + 2.0f : (float)k));
    CHECK(count[k] == (k < n ? k - 8 : k - 5) && quality[k] == (uint8_t)(k * 7) && number[k] == k);
  }
  keep(&s, 128);
  for (k = 0; k < n; k++) {
    if ((k * 7 & 255) < 128) continue;
    CHECK(value[kept] == (float)k * 0.5f + 2.0f && quality[kept] == (uint8_t)(k * 7));
    CHECK(count[kept] == k - 8 && number[kept] == k + 1);
    kept++;
  }
  CHECK(s.count == kept && s.value == value && s.quality == quality);
  drift(&w, &w, 10, 20, 3, 2, 7, 1, 0.25f);
  for (k = 0; k < MOST; k++) CHECK(weight[k] == (k < n ? 40.75f : 0.5f));
  for (k = 0; k < MOST; k++) value[k] = (float)k;
  floats(value, MOST, weight, MOST, n, 1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f, 64.0f, 128.0f, 0.5f, 3, 7.0f, 5, n & 1, 6, 0.25f);
  for (k = 0; k < n; k++) {
    float v = (float)k * 0.5f - 85.0f;
    CHECK(weight[k] == (n & 1 ? v - 7.0f : v * 0.25f) + 9.0f);
  }
  return 0;
}
int main(void) {
  struct rake_stack_Weights_v2 none = {0, NULL};
  int n;
  drift(&none, &none, 0, 0, 0, 0, 0, 0, 0.0f);
  for (n = 0; n < MOST; n++) if (use(n)) return 1;
  return 0;
}
"#;

/// A compiler, what it is told of the machine, and whether its language is C++.
type Caller = (&'static str, &'static [&'static str], bool);

const HERE: &[Caller] = &[("gcc", &[], false), ("clang-19", &[], false), ("g++", &[], true), ("clang++-19", &[], true)];
/// Their programs are static, for the libraries of AArch64 may stand anywhere; that of C++ need not be there at all.
const IN_QEMU: &[Caller] = &[
    ("aarch64-linux-gnu-gcc", &["-static"], false),
    ("clang-19", &["--target=aarch64-linux-gnu", "-static"], false),
    ("clang++-19", &["--target=aarch64-linux-gnu", "-static", "-nostdinc++", "-nostdlib++"], true),
];

/// What calls runs of a profile, and the command that runs a program there; none where this CPU has no such instructions.
fn callers(profile: Profile) -> (&'static [Caller], Option<&'static [&'static str]>) {
    let isa = match profile {
        Profile::X86Avx2 => Isa::Avx2,
        Profile::X86Avx512 => Isa::Avx512,
        _ => Isa::Sse2,
    };
    match profile.info().family {
        Family::Aarch64 => (IN_QEMU, Some(&["qemu-aarch64", "-cpu", "cortex-a53"])),
        _ => (HERE, cpu_has(isa).then_some(&[])),
    }
}

#[test]
fn c_and_cpp_call_runs() {
    for profile in X86.into_iter().chain([Profile::Aarch64Neon]) {
        let folder = Scratch::new(&format!("runs-c-{profile}"));
        for name in ["caller.c", "caller.cpp"] {
            folder.write(name, CALLER);
        }
        let emit = Emit { object: true, header: true, verify: true, ..Emit::default() };
        let outputs = compile(KERNEL.as_bytes(), Options { emit, ..Options::new(profile) });
        let (Some(object), Some(header)) = (outputs.object, outputs.header) else {
            panic!("{}", plain(&outputs.diagnostics));
        };
        folder.write("kernel.o", object);
        folder.write("kernel.h", header);
        let (callers, runner) = callers(profile);
        for (compiler, machine, cpp) in callers {
            let (caller, standard) = if *cpp { ("caller.cpp", "-std=c++17") } else { ("caller.c", "-std=c11") };
            let made = Command::new(compiler)
                .current_dir(&folder.0)
                .args([
                    "-O1",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-pedantic",
                    standard,
                    "-o",
                    "program",
                    caller,
                    "kernel.o",
                ])
                .args(*machine)
                .output();
            let made = made.unwrap_or_else(|e| panic!("starting {compiler}: {e}"));
            assert!(made.status.success(), "{compiler}: {}", String::from_utf8_lossy(&made.stderr));
            let Some(runner) = runner else { continue };
            let program = folder.0.join("program").into_os_string();
            let words: Vec<_> = runner.iter().map(std::ffi::OsString::from).chain([program]).collect();
            let run = Command::new(&words[0]).args(&words[1..]).output().expect("the program starts");
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success(), "{compiler} on {profile}: {}\n{said}", run.status);
        }
    }
}
