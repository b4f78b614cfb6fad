//! `exp` and `tanh`, after `expf.c` and `tanhf.c` of the Cephes Math Library, release 2.2 (Stephen L. Moshier, 1992).
//!
//! e^x is 2^n e^r with n the integer nearest to x / ln 2 and r = x - n ln 2, which lies within ln 2 / 2 of 0. Cephes
//! rounds by `floor(x + 0.5)`; here adding 1.5 * 2^23 does, which leaves n in the sum's low bits too.

use super::{Build, Float, LN2};

/// log2(e), `LOG2EF` of expf.c.
const LOG2_E: f32 = std::f32::consts::LOG2_E;
const HALF_LN2: [f32; 2] = [LN2[0] / 2.0, LN2[1] / 2.0];
/// e^r = 1 + r + r^2 times this polynomial, for |r| <= ln 2 / 2; the coefficients of expf.c.
#[allow(clippy::excessive_precision)] // As the source prints them.
const EXP: [f32; 6] = [
    1.987_569_150_0e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];
/// Half of e^2h = 1/2 + h + h^2 times this polynomial in h: powers of two times those of `EXP`.
const HALF_EXP_TWICE: [f32; 6] =
    [64.0 * EXP[0], 32.0 * EXP[1], 16.0 * EXP[2], 8.0 * EXP[3], 4.0 * EXP[4], 2.0 * EXP[5]];
/// tanh x = x + x^3 times this polynomial in x^2, for |x| < 0.625; the coefficients of tanhf.c.
#[allow(clippy::excessive_precision)] // As the source prints them.
const TANH: [f32; 5] =
    [-5.704_988_727_45e-3, 2.063_908_879_54e-2, -5.373_971_555_31e-2, 1.333_144_220_36e-1, -3.333_328_194_22e-1];
/// 1.5 * 2^23: from a sum with it on, floats are the integers.
const INTEGERS: f32 = 12_582_912.0;
/// The bias of an exponent.
const BIAS: f32 = 127.0;

/// x - n times the logarithm of the base, given in two parts.
#[inline(always)]
fn rest<'a, B: Build>(x: Float<'a, B>, n: Float<'a, B>, [high, low]: [f32; 2]) -> Float<'a, B> {
    x - n * high - n * low
}

/// e^x. The power of two is multiplied in by halves, so that a result below the normal numbers is rounded once.
///
/// n alone is bounded above: beyond, r is the rest, however large, whose polynomial is so too, and a NaN goes on in it.
#[inline(always)]
pub fn exp<B: Build>(x: Float<B>) -> Float<B> {
    // Below, the result is +0 all the same.
    let x = x.at_least(-104.0);
    const OFFSET: f32 = INTEGERS + 2.0 * BIAS;
    let near = (x * LOG2_E + OFFSET).below_or(OFFSET + 128.0);
    let r = rest(x, near - OFFSET, LN2);
    let power = r.polynomial(&EXP) * (r * r) + r + 1.0;
    // The low bits of `near` are n + 254: its half, rounded down, and the rest are two exponents with their bias.
    let biased = near.bits();
    let half = (biased >> 1) << 23;
    let rest = (biased << 23) - half;
    power * half.float() * rest.float()
}

/// tanh x: 1 - 2 / (e^2|x| + 1) with the sign of x, a polynomial near 0.
///
/// With h = |x| - n (ln 2) / 2, half of e^2|x| is 2^n times half of e^2h: the steps of `exp` with every number half as
/// large, which rounds alike. n alone is bounded, as in `exp`: from |x| = 9.02 on the result rounds to 1.
#[inline(always)]
pub fn tanh<B: Build>(x: Float<B>) -> Float<B> {
    let size = x.abs();
    let sign = x.bits() ^ size.bits();
    const OFFSET: f32 = INTEGERS + BIAS;
    let near = (size * (2.0 * LOG2_E) + OFFSET).below_or(OFFSET + 30.0);
    let h = rest(size, near - OFFSET, HALF_LN2);
    let half_power = (h.polynomial(&HALF_EXP_TWICE) * (h * h) + h + 0.5) * (near.bits() << 23).float();
    let far = size.number(1.0) - size.number(1.0) / (half_power + 0.5);
    let square = size * size;
    let close = square.polynomial(&TANH) * square * size + size;
    let result = size.bits().above(0.625_f32.to_bits() - 1).pick(far, close);
    (result.bits() | sign).float()
}
