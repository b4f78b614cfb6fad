//! `log` and `log2`, after `logf.c` and `log2f.c` of the Cephes Math Library, release 2.2 (Stephen L. Moshier, 1992).
//!
//! x is 2^n (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) is f - f^2/2 + f^3 times a polynomial.

use super::{Build, Float, Int, LN2};

/// log(1 + f) = f - f^2/2 + f^3 times this polynomial, for sqrt(1/2) <= 1 + f < sqrt(2); the coefficients of logf.c.
#[allow(clippy::excessive_precision)] // As the source prints them.
const LOG: [f32; 9] = [
    7.037_683_629_2e-2,
    -1.151_461_031_0e-1,
    1.167_699_874_0e-1,
    -1.242_014_084_6e-1,
    1.424_932_278_7e-1,
    -1.666_805_766_5e-1,
    2.000_071_476_5e-1,
    -2.499_999_399_3e-1,
    3.333_333_117_4e-1,
];
/// log2(e) - 1, `LOG2EA` of log2f.c.
const LOG2_E_LESS_1: f32 = (std::f64::consts::LOG2_E - 1.0) as f32;
/// The bits of sqrt(1/2), rounded up.
const SQRT_HALF: u32 = 0x3f35_04f4;
/// The bits of the least normal number: 1 in an exponent.
const EXPONENT: u32 = 0x0080_0000;
/// The bits of +inf.
const INFINITY: u32 = 0x7f80_0000;

/// n and f of a positive finite x.
struct Parts<'a, B: Build> {
    n: Float<'a, B>,
    f: Float<'a, B>,
}

#[inline(always)]
fn parts<'a, B: Build>(x: Float<'a, B>) -> Parts<'a, B> {
    // A subnormal number is made normal by 2^23; all others are multiplied by 2^0.
    let raise = x.bits().below(EXPONENT).keep(x.bits().number(23 * EXPONENT));
    let normal = x * (raise + 1.0_f32.to_bits()).float();
    // How far the bits lie above those of sqrt(1/2): n in the exponent's place, and what 1 + f has beyond sqrt(1/2).
    let above: Int<B> = normal.bits() - SQRT_HALF;
    let n = ((above - raise) >> 23).to_f32();
    let f = ((above & (EXPONENT - 1)) + SQRT_HALF).float() - 1.0;
    Parts { n, f }
}

/// `result` where x is positive and finite, and else what both logarithms give.
#[inline(always)]
fn special<'a, B: Build>(x: Float<'a, B>, result: Float<'a, B>) -> Float<'a, B> {
    let bits = x.bits();
    // All bits set, where the sign is, are a NaN.
    let result = (result.bits() | bits >> 31).float();
    let result = bits.above(INFINITY - 1).pick(x, result);
    x.test(crate::ops::Op::Eq, x.number(0.0)).pick(x.number(f32::NEG_INFINITY), result)
}

/// The natural logarithm.
#[inline(always)]
pub fn log<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { n, f } = parts(x);
    let square = f * f;
    let tail = f.polynomial(&LOG) * f * square + n * LN2[1] - square * 0.5;
    special(x, f + tail + n * LN2[0])
}

/// The binary logarithm.
#[inline(always)]
pub fn log2<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { n, f } = parts(x);
    let square = f * f;
    let tail = (f.polynomial(&LOG) * f - 0.5) * square;
    // The small parts are added first.
    special(x, f * LOG2_E_LESS_1 + tail * std::f32::consts::LOG2_E + f + n)
}
