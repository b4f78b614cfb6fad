//! Semantics of floating-point instructions, as the Arm Architecture Reference Manual has them (section J1.3): a signalling
//! NaN wins, then the first quiet one; the default NaN is 0x7fc00000 (`FPCR.DN` is clear).

use crate::machine::bits::Bits;
use crate::machine::{Ctx, bits};

/// What an invalid operation gives.
const DEFAULT_NAN: u32 = 0x7fc0_0000;
const QUIET: u32 = 0x0040_0000;
const SIGN: u32 = 0x8000_0000;

fn is_nan(x: u32) -> bool {
    f32::from_bits(x).is_nan()
}

/// `FPProcessNaNs`: the NaN among the operands that becomes the result, quieted.
fn nan_of(operands: &[u32]) -> Option<u32> {
    let mut nans = operands.iter().copied().filter(|&x| is_nan(x));
    let signalling = operands.iter().copied().find(|&x| is_nan(x) && x & QUIET == 0);
    signalling.or_else(|| nans.next()).map(|nan| nan | QUIET)
}

fn settle(operands: &[u32], result: f32) -> u32 {
    let computed = || if result.is_nan() { DEFAULT_NAN } else { result.to_bits() };
    nan_of(operands).unwrap_or_else(computed)
}

/// An operation on each lane.
pub fn map1(ctx: Ctx, a: &Bits, f: impl Fn(f32) -> f32) -> Bits {
    bits::map1(ctx, a, |x| settle(&[x], f(f32::from_bits(x))))
}

/// An operation on each lane of two operands.
pub fn map2(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(f32, f32) -> f32) -> Bits {
    bits::map2(ctx, a, b, |x, y| settle(&[x, y], f(f32::from_bits(x), f32::from_bits(y))))
}

/// An operation on each lane and one lane of the other operand.
pub fn by_lane(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(f32, f32) -> f32) -> Bits {
    let y = b[usize::from(ctx.imm & 3)];
    bits::map1(ctx, a, |x| settle(&[x, y], f(f32::from_bits(x), f32::from_bits(y))))
}

/// Lane masks of a comparison.
pub fn compare(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(f32, f32) -> bool) -> Bits {
    bits::map2(ctx, a, b, |x, y| bits::lane_mask(f(f32::from_bits(x), f32::from_bits(y))))
}

/// `FPMulAdd`: `c + a*b`, or with the product negated, rounded once. Infinity times zero is invalid beside a quiet NaN too.
pub fn multiply_add(c: u32, a: u32, b: u32, negate: bool) -> u32 {
    let a = if negate { a ^ SIGN } else { a };
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let invalid = x.is_infinite() && y == 0.0 || x == 0.0 && y.is_infinite();
    match is_nan(c) && c & QUIET != 0 && invalid {
        true => DEFAULT_NAN,
        false => settle(&[c, a, b], x.mul_add(y, f32::from_bits(c))),
    }
}

/// [`multiply_add`] on each lane.
pub fn fused(ctx: Ctx, c: &Bits, a: &Bits, b: &Bits, negate: bool) -> Bits {
    let mut out = bits::ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = multiply_add(c[lane], a[lane], b[lane], negate);
    }
    out
}

/// [`multiply_add`] on each lane and one lane of the second factor.
pub fn fused_by_lane(ctx: Ctx, c: &Bits, a: &Bits, b: &Bits) -> Bits {
    bits::map2(ctx, c, a, |c, a| multiply_add(c, a, b[usize::from(ctx.imm & 3)], false))
}

/// The lesser of two numbers, or a zero's sign as the lesser.
pub fn least(x: f32, y: f32) -> f32 {
    match x == 0.0 && y == 0.0 {
        true => f32::from_bits(x.to_bits() | y.to_bits()),
        false if x < y => x,
        false => y,
    }
}

/// The greater of two numbers, or of two zeros +0 unless both are negative.
pub fn greatest(x: f32, y: f32) -> f32 {
    match x == 0.0 && y == 0.0 {
        true => f32::from_bits(x.to_bits() & y.to_bits()),
        false if x > y => x,
        false => y,
    }
}

/// `FPMaxNum`: a number beside one quiet NaN wins.
pub fn greatest_number(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let quiet = |x: u32| is_nan(x) && x & QUIET != 0;
    bits::map2(ctx, a, b, |x, y| match (quiet(x), quiet(y)) {
        (true, false) if !is_nan(y) => y,
        (false, true) if !is_nan(x) => x,
        _ => settle(&[x, y], greatest(f32::from_bits(x), f32::from_bits(y))),
    })
}

/// Four lanes folded into lane 0, the halves first (`Reduce`).
pub fn fold(a: &Bits, f: impl Fn(f32, f32) -> f32) -> Bits {
    let two = |x: u32, y: u32| settle(&[x, y], f(f32::from_bits(x), f32::from_bits(y)));
    let mut out = bits::ZERO;
    out[0] = two(two(a[0], a[1]), two(a[2], a[3]));
    out
}

/// `fcvtns`: to the nearest, ties to even, saturating; a NaN gives 0.
pub fn to_signed(x: u32) -> u32 {
    f32::from_bits(x).round_ties_even() as i32 as u32
}

/// `fcvtnu`, likewise.
pub fn to_unsigned(x: u32) -> u32 {
    f32::from_bits(x).round_ties_even() as u32
}

/// `VFPExpandImm`: the number of an 8-bit immediate.
pub const fn expanded(imm: u8) -> u32 {
    let (sign, exponent, fraction) = (imm as u32 >> 7, imm as u32 >> 6 & 1, imm as u32 & 0x3f);
    let upper = if exponent == 1 { 0x1f } else { 0x20 };
    sign << 31 | upper << 25 | fraction << 19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_are_those_of_the_manual() {
        // Table "Floating-point constant values" of the description of FMOV (vector, immediate).
        for (imm, number) in [(0x70, 1.0f32), (0x00, 2.0), (0x60, 0.5), (0x40, 0.125), (0x3f, 31.0), (0xf0, -1.0)] {
            assert_eq!(f32::from_bits(expanded(imm)), number);
        }
    }

    #[test]
    fn nans_are_those_of_the_first_operand_but_signalling_ones_go_before() {
        let two = |x, y| settle(&[x, y], f32::NAN);
        assert_eq!(two(0x7fc0_0001, 0xffc0_0002), 0x7fc0_0001);
        assert_eq!(two(0x7fc0_0001, 0xff80_0002), 0xffc0_0002);
        assert_eq!(two(0, 0), DEFAULT_NAN);
        assert_eq!(multiply_add(0x7fc0_0001, 0x7f80_0000, 0, false), DEFAULT_NAN);
    }

    #[test]
    fn zeros_are_ordered() {
        let bits = |x: f32| x.to_bits();
        assert_eq!((bits(least(0.0, -0.0)), bits(least(-0.0, 0.0))), (SIGN, SIGN));
        assert_eq!((bits(greatest(0.0, -0.0)), bits(greatest(-0.0, 0.0))), (0, 0));
    }
}
