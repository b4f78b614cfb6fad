//! Scalar references of floating-point operations, on bits.

use crate::ops::Imm;
use crate::types::Elem;
use std::cmp::Ordering;

/// The quiet NaN with a clear sign and no payload.
pub fn canonical_nan(elem: Elem) -> u64 {
    if elem == Elem::F64 { 0x7ff8_0000_0000_0000 } else { 0x7fc0_0000 }
}

/// Bits of an `f32` result, NaNs made canonical.
fn single(v: f32) -> u64 {
    if v.is_nan() { canonical_nan(Elem::F32) } else { u64::from(v.to_bits()) }
}

/// Bits of an `f64` result, NaNs made canonical.
fn double(v: f64) -> u64 {
    if v.is_nan() { canonical_nan(Elem::F64) } else { v.to_bits() }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Defines an operation over either width by one expression.
macro_rules! float_op {
    ($($(#[$doc:meta])* $name:ident($($x:ident),*) = $body:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(elem: Elem, args: &[u64]) -> u64 {
            let mut args = args.iter().copied();
            $(let $x = args.next().unwrap_or(0);)*
            if elem == Elem::F64 {
                $(let $x = f64::from_bits($x);)*
                double($body)
            } else {
                $(let $x = f32_of($x);)*
                single($body)
            }
        }
    )*};
}

float_op! {
    /// a + b.
    add(a, b) = a + b;
    /// a - b.
    sub(a, b) = a - b;
    /// a * b.
    mul(a, b) = a * b;
    /// a / b, correctly rounded.
    div(a, b) = a / b;
    /// Square root, correctly rounded.
    sqrt(a) = a.sqrt();
    /// Toward negative infinity.
    floor(a) = a.floor();
    /// Toward positive infinity.
    ceil(a) = a.ceil();
    /// Toward zero.
    trunc(a) = a.trunc();
    /// To nearest, ties to even.
    nearest(a) = a.round_ties_even();
}

/// a*b + c with one rounding.
pub fn fma(elem: Elem, a: u64, b: u64, c: u64) -> u64 {
    if elem == Elem::F64 {
        double(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
    } else {
        single(f32_of(a).mul_add(f32_of(b), f32_of(c)))
    }
}

/// The sign bit flipped, of a NaN too.
pub fn neg(elem: Elem, a: u64) -> u64 {
    a ^ (1 << (elem.bits() - 1))
}

/// The sign bit cleared, of a NaN too.
pub fn abs(elem: Elem, a: u64) -> u64 {
    a & (elem.lane_mask() >> 1)
}

/// The order of two floats; `None` beside a NaN.
pub fn compare(elem: Elem, args: &[u64]) -> Option<Ordering> {
    let (a, b) = (*args.first()?, *args.get(1)?);
    if elem == Elem::F64 {
        f64::from_bits(a).partial_cmp(&f64::from_bits(b))
    } else {
        f32_of(a).partial_cmp(&f32_of(b))
    }
}

/// An `i32` or `u32` to the nearest float, ties to even.
pub fn to_f32(elem: Elem, _: &Imm, args: &[u64]) -> u64 {
    let bits = args[0] as u32;
    single(if elem == Elem::U32 { bits as f32 } else { bits as i32 as f32 })
}

/// To the nearest `i32`, ties to even, saturating; a NaN gives 0.
pub fn to_i32(_: Elem, _: &Imm, args: &[u64]) -> u64 {
    u64::from(f32_of(args[0]).round_ties_even() as i32 as u32)
}

/// To the nearest `u32`, ties to even, saturating; a NaN gives 0.
pub fn to_u32(_: Elem, _: &Imm, args: &[u64]) -> u64 {
    u64::from(f32_of(args[0]).round_ties_even() as u32)
}
