//! The bench on every engine, with C that a person wrote in the place of what is compiled: right code passes, wrong code
//! is found.

use crate::arguments::Effort;
use crate::engine::{Signature, codes, scalar_codes};
use crate::machine::Bench;
use crate::support::plain;
use rake_ir::profile::{Family, Profile};
use rake_testkit::c::{Compiler, Source, compile, compile_wasm};
use std::rc::Rc;

const EFFORT: Effort = Effort { tuples: 600, random: 200, uniforms: 20, calls: 400 };

/// Every kind of parameter and result.
const PROGRAM: &str = "\
scratch scale(a: f32s, <x: f32>) -> f32s:
  a * <x>

scratch plus(<n: i32>, a: i32s) -> i32s:
  a + <n>

scratch below(a: f32s, b: f32s) -> mask:
  a < b

scratch pick(m: mask, a: f32s, b: f32s, <t: bool>) -> f32s:
  if <t> then (if m then a else b) else b

scratch some(m: mask) -> bool:
  let <k: bool> = any(m)
  <k>

scratch first(a: f32s) -> f32:
  extract(a, 0)

scratch bits_of(<n: f32>, <k: u32>) -> u32:
  let <b: u32> = bitcast(u32, <n>)
  bit_xor(<b>, <k>)
";

const NEON: &str = "\
#include <arm_neon.h>
#include <stdbool.h>
float32x4_t scale(float32x4_t a, float x) { return vmulq_n_f32(a, x); }
int32x4_t plus(int n, int32x4_t a) { return vaddq_s32(a, vdupq_n_s32(n)); }
uint32x4_t below(float32x4_t a, float32x4_t b) { return vcltq_f32(a, b); }
float32x4_t pick(int32x4_t m, float32x4_t a, float32x4_t b, uint32_t t) {
  // Of a `bool` the language gives a meaning to the lowest bit alone.
  return t & 1 ? vbslq_f32(vreinterpretq_u32_s32(vshrq_n_s32(m, 31)), a, b) : b;
}
bool some(int32x4_t m) { return vminvq_s32(m) < 0; }
float first(float32x4_t a) { return vgetq_lane_f32(a, 0); }
uint32_t bits_of(float n, uint32_t k) { return vget_lane_u32(vreinterpret_u32_f32(vdup_n_f32(n)), 0) ^ k; }
";

const WASM: &str = "\
#include <wasm_simd128.h>
#include <stdbool.h>
#include <stdint.h>
v128_t scale(v128_t a, float x) { return wasm_f32x4_mul(a, wasm_f32x4_splat(x)); }
v128_t plus(int n, v128_t a) { return wasm_i32x4_add(a, wasm_i32x4_splat(n)); }
v128_t below(v128_t a, v128_t b) { return wasm_f32x4_lt(a, b); }
// Of a `bool` the language gives a meaning to the lowest bit alone.
v128_t pick(v128_t m, v128_t a, v128_t b, int t) { return t & 1 ? wasm_v128_bitselect(a, b, wasm_i32x4_shr(m, 31)) : b; }
bool some(v128_t m) { return wasm_i32x4_bitmask(m) != 0; }
float first(v128_t a) { return wasm_f32x4_extract_lane(a, 0); }
uint32_t bits_of(float n, uint32_t k) { return (uint32_t)wasm_i32x4_extract_lane(wasm_f32x4_splat(n), 0) ^ k; }
#define WRAPPER(f) __attribute__((export_name(#f \".memory\")))
typedef const v128_t *in;
WRAPPER(scale) void scale_m(v128_t *o, in a, float x) { *o = scale(*a, x); }
WRAPPER(plus) void plus_m(v128_t *o, int n, in a) { *o = plus(n, *a); }
WRAPPER(below) void below_m(v128_t *o, in a, in b) { *o = below(*a, *b); }
WRAPPER(pick) void pick_m(v128_t *o, in m, in a, in b, int t) { *o = pick(*m, *a, *b, t); }
WRAPPER(some) bool some_m(in m) { return some(*m); }
WRAPPER(first) float first_m(in a) { return first(*a); }
WRAPPER(bits_of) uint32_t bits_m(float n, uint32_t k) { return bits_of(n, k); }
";

const SCALAR: &str = "\
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
float scale(float a, float x) { return a * x; }
int32_t plus(int32_t n, int32_t a) { return (int32_t)((uint32_t)a + (uint32_t)n); }
uint32_t below(float a, float b) { return -(uint32_t)(a < b); }
float pick(uint32_t m, float a, float b, bool t) { return t && m >> 31 ? a : b; }
bool some(uint32_t m) { return m >> 31; }
float first(float a) { return a; }
uint32_t bits_of(float n, uint32_t k) { uint32_t b; memcpy(&b, &n, 4); return b ^ k; }
";

const NAMES: [&str; 7] = ["scale", "plus", "below", "pick", "some", "first", "bits_of"];

/// The objects or the module that a text in C comes to, by every compiler that knows the profile's machine; none for the
/// scalar profile, whose functions are compiled with their entries.
fn builds(profile: Profile, c: &str) -> Vec<Rc<[u8]>> {
    let object = |compiler| compile(compiler, Source::Text(c), &["-O2"]).unwrap();
    let bytes = match profile.info().family {
        Family::Aarch64 => Compiler::AARCH64.map(object).to_vec(),
        Family::Wasm => vec![compile_wasm(Source::Text(c), &["-O2"], &NAMES).unwrap()],
        _ => Vec::new(),
    };
    bytes.into_iter().map(Rc::from).collect()
}

/// Lines the functions of a text in C up, in the place of those of the program.
fn line_up(bench: &mut Bench, profile: Profile, c: &str) {
    let builds = builds(profile, c);
    let code = |name: &str, signature: &Signature| {
        let function = [(name, signature.clone())];
        Some(match profile.info().family {
            Family::Scalar => scalar_codes(c, &function, &["-O3", "-march=native"]).unwrap().concat(),
            _ => builds.iter().flat_map(|bytes| codes(profile, bytes, &function).unwrap().concat()).collect(),
        })
    };
    if let Err(problems) = bench.add_codes("by hand", PROGRAM, profile, EFFORT, code) {
        panic!("{profile}: {}", plain(&problems));
    }
}

const BY_HAND: [(Profile, &str); 3] =
    [(Profile::Aarch64Neon, NEON), (Profile::WasmSimd128, WASM), (Profile::Scalar, SCALAR)];

#[test]
fn right_code_passes() {
    for (profile, c) in BY_HAND {
        let mut bench = Bench::default();
        line_up(&mut bench, profile, c);
        let (functions, calls) = bench.finish();
        // Each on two engines or by two compilers.
        assert!(functions == NAMES.len() && calls > 500, "{profile}: {functions} functions, {calls} calls");
    }
}

#[test]
fn wrong_code_is_found() {
    let damages = [
        (Profile::Aarch64Neon, "vmulq_n_f32(a, x)", "vaddq_f32(a, vdupq_n_f32(x))", "in qemu: it gives"),
        (
            Profile::Aarch64Neon,
            "return vmulq_n_f32(a, x)",
            "__asm__(\"movi v8.16b, #0\"); return vmulq_n_f32(a, x)",
            "in qemu: it clobbers [\"d8\"]",
        ),
        (
            Profile::Aarch64Neon,
            "return vcltq_f32(a, b)",
            "return vshrq_n_u32(vcltq_f32(a, b), 31)",
            "neither all ones nor zero",
        ),
        (Profile::WasmSimd128, "wasm_i32x4_add(a", "wasm_i32x4_sub(a", "in wasmtime: it gives"),
        (Profile::WasmSimd128, "*o = plus(n, *a)", "*o = plus(-n, *a)", "in Node: it gives"),
        (Profile::WasmSimd128, "return wasm_f32x4_extract_lane(a, 0)", "__builtin_trap()", "unreachable"),
        (Profile::Scalar, "t && m >> 31", "m >> 31", "compiled from C: it gives"),
    ];
    for (profile, from, to, message) in damages {
        let c = BY_HAND.iter().find(|row| row.0 == profile).unwrap().1;
        let wrong = c.replacen(from, to, 1);
        assert_ne!(wrong, c);
        let mut bench = Bench::default();
        line_up(&mut bench, profile, &wrong);
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bench.finish())).unwrap_err();
        let found = found.downcast_ref::<String>().unwrap();
        assert!(found.contains(message), "{found}");
    }
}
