//! `nearest` of `f32` where no instruction rounds to integral values.
//!
//! Up to 2^23 in magnitude, adding 2^23 rounds to the nearest integer, ties to even, and subtracting it again is exact;
//! from there on every float is integral, and infinities and NaNs stay what they are: to those 0 is added. So only a value
//! that is truly rounded raises the inexact flag. The comparison that tells them apart is one of integers, which raises
//! nothing.

use super::{Build, Float};

/// 2^23.
const INTEGRAL: f32 = 8_388_608.0;

/// To nearest, ties to even.
#[inline(always)]
pub fn nearest<B: Build>(x: Float<B>) -> Float<B> {
    let absolute = x.abs();
    // 2^23 itself comes out right too, and the comparison has a constant of its own.
    let shift = absolute.bits().below(INTEGRAL.to_bits() + 1).pick(x.number(INTEGRAL), x.number(0.0));
    let sign = x.bits() & 0x8000_0000;
    ((absolute + shift - shift).bits() | sign).float()
}
