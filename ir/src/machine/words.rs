//! Semantics on integers of 64 bits, in general registers where a machine has those.

use crate::machine::bits::{Bits, ZERO, long, of_long};

/// From one number.
pub fn long1(args: &[Bits], f: impl Fn(u64) -> u64) -> Bits {
    of_long(f(long(&args[0])))
}

/// From two numbers.
pub fn long2(args: &[Bits], f: impl Fn(u64, u64) -> u64) -> Bits {
    of_long(f(long(&args[0]), long(&args[1])))
}

/// A word's number, its sign extended.
pub fn signed(bits: &Bits) -> u64 {
    i64::from(bits[0] as i32) as u64
}

/// Both operands of a comparison, one behind the other.
pub fn both(first: u64, second: u64) -> Bits {
    let mut out = ZERO;
    (out[0], out[1]) = (first as u32, (first >> 32) as u32);
    (out[2], out[3]) = (second as u32, (second >> 32) as u32);
    out
}

/// `bzhi`: as many low bits as the low byte of the count says.
pub fn low_bits(bits: u32, count: u32) -> u32 {
    bits & 1u32.checked_shl(count & 0xff).map_or(u32::MAX, |bit| bit - 1)
}
