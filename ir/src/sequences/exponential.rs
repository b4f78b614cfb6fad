//! `exp` and `tanh`, after `expf.c` and `tanhf.c` of the Cephes Math Library, release 2.2 (Stephen L. Moshier, 1992).
//!
//! e^x is 2^n e^r with n the integer nearest to x / ln 2 and r = x - n ln 2, which lies within ln 2 / 2 of 0. Cephes
//! rounds by `floor(x + 0.5)`; here adding 1.5 * 2^23 does, which leaves n in the sum's low bits too.

use super::{Build, Float};

/// log2(e), `LOG2EF` of expf.c.
const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 in two parts, `C1` and `C2` of expf.c: the first has 9 significant bits, so that its product with n is exact.
const LN2_HIGH: f32 = 0.693_359_375;
#[allow(clippy::excessive_precision)]
const LN2_LOW: f32 = -2.121_944_40e-4;
/// e^r = 1 + r + r^2 times this polynomial, for |r| <= ln 2 / 2; the coefficients of expf.c.
#[allow(clippy::excessive_precision)]
const EXP: [f32; 6] = [
    1.987_569_150_0e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];
/// tanh x = x + x^3 times this polynomial in x^2, for |x| < 0.625; the coefficients of tanhf.c.
#[allow(clippy::excessive_precision)]
const TANH: [f32; 5] =
    [-5.704_988_727_45e-3, 2.063_908_879_54e-2, -5.373_971_555_31e-2, 1.333_144_220_36e-1, -3.333_328_194_22e-1];
/// 1.5 * 2^23: from a sum with it on, floats are the integers.
const INTEGERS: f32 = 12_582_912.0;
/// The bias of an exponent.
const BIAS: f32 = 127.0;

/// n = `near` - `offset`, the integer nearest to `x` / ln 2, and e^r, where `near` is `x` / ln 2 + `offset` rounded.
#[inline(always)]
fn reduced<'a, B: Build>(x: Float<'a, B>, near: Float<'a, B>, offset: f32) -> Float<'a, B> {
    let n = near - offset;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    r.polynomial(&EXP) * (r * r) + r + 1.0
}

/// e^x. The power of two is multiplied in by halves, so that a result below the normal numbers is rounded once.
#[inline(always)]
pub fn exp<B: Build>(x: Float<B>) -> Float<B> {
    // Beyond, the result is +inf and +0 all the same; within, both halves of n are exponents of normal numbers.
    let x = x.at_most(89.0).at_least(-104.0);
    const OFFSET: f32 = INTEGERS + 2.0 * BIAS;
    let near = x * LOG2_E + OFFSET;
    let power = reduced(x, near, OFFSET);
    // The low bits of `near` are n + 254: its half, rounded down, and the rest are two exponents with their bias.
    let biased = near.bits();
    let half = (biased >> 1) << 23;
    let rest = (biased << 23) - half;
    power * half.float() * rest.float()
}

/// tanh x: 1 - 2 / (e^2|x| + 1) with the sign of x, a polynomial near 0.
#[inline(always)]
pub fn tanh<B: Build>(x: Float<B>) -> Float<B> {
    // From 9.02 on the result rounds to 1.
    let size = x.abs().at_most(10.0);
    let sign = x.bits() & 0x8000_0000;
    let twice = size + size;
    const OFFSET: f32 = INTEGERS + BIAS;
    let near = twice * LOG2_E + OFFSET;
    let power = reduced(twice, near, OFFSET) * (near.bits() << 23).float();
    let far = power.number(1.0) - power.number(2.0) / (power + 1.0);
    let square = size * size;
    let close = square.polynomial(&TANH) * square * size + size;
    let result = size.bits().below(0.625_f32.to_bits()).pick(close, far);
    (result.bits() | sign).float()
}
