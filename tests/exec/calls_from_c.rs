//! C calls compiled functions through the header that we write, in every way that an object is linked.

use crate::support::{Scratch, compile, everything, plain};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rakec::Options;
use std::path::Path;
use std::process::Command;

const KERNEL: &str = "\
scratch advance(positions: f32s, velocities: f32s) -> f32s:
  | scaled: f32s <| velocities * <0.5>
  | moved: f32s <| positions + scaled
  moved

scratch mixed(<i: i32>, a: f32s, <c: bool>, b: i32s, <u: u32>, <x: f32>, m: mask, n: u32s) -> i32s:
  if m then (if <c> then b + <i> else b * <i>) else select(n < <u> and a < <x>, b, <-7>)

scratch below(a: f32s, <limit: f32>) -> mask:
  a < <limit>

scratch scalar(<a: f32>, <b: f32>) -> f32:
  <a> * <b> - <a>

scratch whole(<a: i32>, <b: i32>) -> i32:
  <a> - <b>

scratch natural(<a: u32>) -> u32:
  <a> + <3000000000>

scratch less(<a: i32>, <b: i32>) -> bool:
  <a> < <b>

scratch main2(x: f32s) -> f32s:
  -x
";

/// What the C side expects was worked out in C, from the meaning of the source.
const CALLER: &str = r#"
#include "kernel.h"
#include <stdio.h>
typedef union { FLOATS v; float f[LANES]; } floats;
typedef union { INTEGERS v; NATURALS n; int i[LANES]; unsigned u[LANES]; } integers;
static int wrong;
#define CHECK(c) do { if (!(c)) { printf("line %d, lane %d: %s\n", __LINE__, k, #c); wrong = 1; } } while (0)
int use_kernel(void) {
  floats p, q, r; integers b, m, n, s; int k = 0;
  for (k = 0; k < LANES; k++) {
    p.f[k] = k * 1.25f; q.f[k] = 3 - k; b.i[k] = 1000 - 300 * k; m.i[k] = k % 3 ? -1 : 0; n.u[k] = k % 2 ? 7u : 4000000000u;
  }
  r.v = advance(p.v, q.v);
  for (k = 0; k < LANES; k++) CHECK(r.f[k] == p.f[k] + q.f[k] * 0.5f);
  for (int c = 0; c < 2; c++) {
    s.v = mixed(-5, p.v, c, b.v, 3000000000u, 3.0f, m.n, n.n);
    for (k = 0; k < LANES; k++) {
      int other = n.u[k] < 3000000000u && p.f[k] < 3.0f ? b.i[k] : -7;
      CHECK(s.i[k] == (m.i[k] ? (c ? b.i[k] - 5 : b.i[k] * -5) : other));
    }
  }
  s.n = below(p.v, 2.5f);
  for (k = 0; k < LANES; k++) CHECK(s.i[k] == (k < 2 ? -1 : 0));
  r.v = main2(p.v);
  for (k = 0; k < LANES; k++) CHECK(r.f[k] == -p.f[k]);
  CHECK(scalar(3.0f, 0.5f) == -1.5f);
  CHECK(whole(-2147483647, 2) == 2147483647);
  CHECK(natural(2000000000u) == 705032704u);
  CHECK(less(-1, 0) && !less(0, 0) && less(-2147483647 - 1, 2147483647));
  return wrong;
}
"#;

const MAIN: &str = "int use_kernel(void);\nint main(void) { return use_kernel(); }\n";

/// gcc for a profile, its flags there and the vector types; of masks those of `u32s`.
fn gcc_for(profile: Profile) -> (&'static str, &'static [&'static str]) {
    match profile {
        Profile::X86Sse2 => ("gcc", &["-DFLOATS=__m128", "-DINTEGERS=__m128i", "-DNATURALS=__m128i", "-DLANES=4"]),
        Profile::X86Avx2 => {
            ("gcc", &["-mavx2", "-mfma", "-DFLOATS=__m256", "-DINTEGERS=__m256i", "-DNATURALS=__m256i", "-DLANES=8"])
        }
        Profile::X86Avx512 => {
            ("gcc", &["-march=x86-64-v4", "-DFLOATS=__m512", "-DINTEGERS=__m512i", "-DNATURALS=__m512i", "-DLANES=16"])
        }
        _ => (
            "aarch64-linux-gnu-gcc",
            // Every call may only land where our functions begin with `bti c`.
            &[
                "-mbranch-protection=standard",
                "-DFLOATS=float32x4_t",
                "-DINTEGERS=int32x4_t",
                "-DNATURALS=uint32x4_t",
                "-DLANES=4",
            ],
        ),
    }
}

/// A command that runs a program of a profile. Debian keeps AArch64's libraries apart.
fn runner(profile: Profile, program: &Path) -> Command {
    if profile != Profile::Aarch64Neon {
        return Command::new(program);
    }
    let mut command = Command::new("qemu-aarch64");
    command.args(["-L", "/usr/aarch64-linux-gnu"]).arg(program);
    command
}

fn gcc(compiler: &str, folder: &Path, args: &[&str]) {
    let run = Command::new(compiler)
        .current_dir(folder)
        .args(["-O1", "-Wall", "-Wextra", "-Werror"])
        .args(args)
        .output()
        .unwrap();
    assert!(run.status.success(), "{compiler} {args:?}: {}", String::from_utf8_lossy(&run.stderr));
    assert!(run.stderr.is_empty(), "{compiler} {args:?}: {}", String::from_utf8_lossy(&run.stderr));
}

fn call_from_c(profile: Profile, runs: bool) {
    let folder = Scratch::new(&format!("c-{profile}"));
    folder.write("caller.c", CALLER);
    folder.write("main.c", MAIN);
    for export in [false, true] {
        let options = Options { export, ..everything(profile, FuseLevel::Full) };
        let outputs = compile(KERNEL.as_bytes(), options);
        let (Some(object), Some(header)) = (outputs.object, outputs.header) else {
            panic!("{}", plain(&outputs.diagnostics));
        };
        folder.write("kernel.o", object);
        folder.write("kernel.h", header);
        let (compiler, flags) = gcc_for(profile);
        let gcc = |args: &[&str]| gcc(compiler, &folder.0, args);
        let with = |args: &[&'static str]| [flags, args].concat();
        gcc(&with(&["-no-pie", "-o", "plain", "caller.c", "main.c", "kernel.o"]));
        gcc(&with(&["-fPIE", "-static-pie", "-o", "static", "caller.c", "main.c", "kernel.o"]));
        gcc(&with(&["-fPIC", "-shared", "-o", "libcaller.so", "caller.c", "kernel.o"]));
        gcc(&["-o", "shared", "main.c", "libcaller.so", "-Wl,-rpath,$ORIGIN"]);
        let mut programs = vec!["plain", "static", "shared"];
        if export {
            // Exported functions are called across the border of a shared library.
            gcc(&["-shared", "-o", "libkernel.so", "kernel.o"]);
            gcc(&with(&["-o", "across", "caller.c", "main.c", "libkernel.so", "-Wl,-rpath,$ORIGIN"]));
            programs.push("across");
        }
        for program in programs.into_iter().filter(|_| runs) {
            let run = runner(profile, &folder.0.join(program)).output().unwrap();
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success(), "{program} on {profile}, export {export}: {}\n{said}", run.status);
        }
    }
}

#[test]
fn c_calls_sse2() {
    call_from_c(Profile::X86Sse2, true);
}

#[test]
fn c_calls_avx2() {
    call_from_c(Profile::X86Avx2, is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"));
}

#[test]
fn c_calls_aarch64() {
    call_from_c(Profile::Aarch64Neon, true);
}

/// Compiled and linked everywhere; run where the CPU can. (The objects themselves run in the emulator elsewhere.)
#[test]
fn c_calls_avx512() {
    call_from_c(Profile::X86Avx512, is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl"));
}
