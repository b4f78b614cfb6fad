//! `floor`, `ceil`, `trunc` and `nearest` of `f32` where no instruction rounds to integral values.
//!
//! Below 2^23 in magnitude, adding 2^23 rounds to the nearest integer, ties to even, and subtracting it again is exact;
//! from 2^23 on every float is integral. Larger magnitudes, infinities and NaNs are replaced by 0 before the arithmetic
//! and chosen at the end, so that only a value that is truly rounded raises the inexact flag. The comparison that tells
//! them apart is one of integers, which raises nothing.

use super::{Build, Float, Int, Truth};
use crate::ops::Op;

/// 2^23.
const INTEGRAL: f32 = 8_388_608.0;

/// What the four have in common.
struct Parts<'a, B: Build> {
    /// Where the operand's magnitude is below 2^23.
    small: Truth<'a, B>,
    /// The operand's sign bit.
    sign: Int<'a, B>,
    /// The operand's magnitude, 0 where not small.
    magnitude: Float<'a, B>,
    /// The magnitude rounded to nearest even.
    rounded: Float<'a, B>,
}

#[inline(always)]
fn parts<B: Build>(x: Float<B>) -> Parts<B> {
    let sign = x.bits() & 0x8000_0000;
    let absolute = x.abs();
    let small = absolute.bits().below(INTEGRAL.to_bits());
    let magnitude = small.pick(absolute, x.number(0.0));
    let rounded = magnitude + INTEGRAL - INTEGRAL;
    Parts { small, sign, magnitude, rounded }
}

/// A float with the operand's sign bit added.
#[inline(always)]
fn signed<'a, B: Build>(value: Float<'a, B>, sign: Int<'a, B>) -> Float<'a, B> {
    (value.bits() | sign).float()
}

/// 1 where `compare(value, to)` holds, else 0.
#[inline(always)]
fn one_where<'a, B: Build>(compare: Op, value: Float<'a, B>, to: Float<'a, B>) -> Float<'a, B> {
    value.test(compare, to).pick(value.number(1.0), value.number(0.0))
}

/// To nearest, ties to even.
#[inline(always)]
pub fn nearest<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { small, sign, rounded, .. } = parts(x);
    small.pick(signed(rounded, sign), x)
}

/// Toward zero.
#[inline(always)]
pub fn trunc<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { small, sign, magnitude, rounded } = parts(x);
    let below = rounded - one_where(Op::Gt, rounded, magnitude);
    small.pick(signed(below, sign), x)
}

/// Toward negative infinity.
#[inline(always)]
pub fn floor<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { small, sign, magnitude, rounded } = parts(x);
    let (near, x_or_0) = (signed(rounded, sign), signed(magnitude, sign));
    // A zero keeps the sign: -0 is not above -0, and -0 - 0 is -0.
    let result = near - one_where(Op::Gt, near, x_or_0);
    small.pick(result, x)
}

/// Toward positive infinity.
#[inline(always)]
pub fn ceil<B: Build>(x: Float<B>) -> Float<B> {
    let Parts { small, sign, magnitude, rounded } = parts(x);
    let (near, x_or_0) = (signed(rounded, sign), signed(magnitude, sign));
    // -1 + 1 and -0 + 0 are +0 and need the sign again.
    let above = near + one_where(Op::Lt, near, x_or_0);
    small.pick(signed(above, sign), x)
}
