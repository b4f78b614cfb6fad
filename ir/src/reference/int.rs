//! Scalar references of integer operations, on bits: everything wraps at the element's width.

use crate::ops::Imm;
use crate::types::Elem;
use crate::value::to_i128;
use std::cmp::Ordering;

/// a + b.
pub fn add(elem: Elem, a: &[u64]) -> u64 {
    a[0].wrapping_add(a[1]) & elem.lane_mask()
}

/// a - b.
pub fn sub(elem: Elem, a: &[u64]) -> u64 {
    a[0].wrapping_sub(a[1]) & elem.lane_mask()
}

/// a * b.
pub fn mul(elem: Elem, a: &[u64]) -> u64 {
    a[0].wrapping_mul(a[1]) & elem.lane_mask()
}

/// -a.
pub fn neg(elem: Elem, a: u64) -> u64 {
    a.wrapping_neg() & elem.lane_mask()
}

/// Magnitude; the minimum stays.
pub fn abs(elem: Elem, a: u64) -> u64 {
    if to_i128(elem, a) < 0 { neg(elem, a) } else { a }
}

/// The order, by the element's signedness.
pub fn compare(elem: Elem, a: &[u64]) -> Ordering {
    to_i128(elem, a[0]).cmp(&to_i128(elem, a[1]))
}

/// The count of a shift: a literal, or the second operand modulo the width.
fn count(elem: Elem, imm: &Imm, a: &[u64]) -> u32 {
    let count = match (imm, a.get(1)) {
        (Imm::Int(n), _) => *n,
        (_, Some(&n)) => n as u32,
        (_, None) => 0,
    };
    count % elem.bits()
}

/// Bits toward the top.
pub fn shift_left(elem: Elem, imm: &Imm, a: &[u64]) -> u64 {
    a[0] << count(elem, imm, a) & elem.lane_mask()
}

/// Bits toward the bottom, zeros enter.
pub fn shift_right(elem: Elem, imm: &Imm, a: &[u64]) -> u64 {
    a[0] >> count(elem, imm, a)
}

/// Bits toward the bottom, copies of the top bit enter, whatever the signedness.
pub fn shift_right_signed(elem: Elem, imm: &Imm, a: &[u64]) -> u64 {
    let unused = 64 - elem.bits();
    let extended = (a[0] << unused) as i64 >> unused;
    (extended >> count(elem, imm, a)) as u64 & elem.lane_mask()
}
