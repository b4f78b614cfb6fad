//! Register contents and the arithmetic of machine semantics.
//!
//! NaN results follow x86: the first NaN operand, quieted; else the default NaN 0xffc00000.

use super::{Ctx, tables};

/// The contents of any register as 32-bit lanes, lane 0 first; what a register does not have is zero. A mask register's
/// bit `i` is bit `i` of lane 0; a general register's 64 bits are lanes 0 and 1.
pub type Bits = [u32; 16];

/// All bits clear.
pub const ZERO: Bits = [0; 16];

/// The 64 bits of a general register.
pub fn long(bits: &Bits) -> u64 {
    u64::from(bits[0]) | u64::from(bits[1]) << 32
}

/// A general register that holds these 64 bits.
pub fn of_long(long: u64) -> Bits {
    let mut bits = ZERO;
    (bits[0], bits[1]) = (long as u32, (long >> 32) as u32);
    bits
}

/// The literal `bytes` repeated over a rack of `lanes` 32-bit lanes.
pub fn repeat(bytes: &[u8], lanes: usize) -> Bits {
    let mut bits = ZERO;
    for (lane, word) in bits.iter_mut().enumerate().take(lanes) {
        for byte in 0..4 {
            let at = (lane * 4 + byte) % bytes.len().max(1);
            *word |= u32::from(bytes.get(at).copied().unwrap_or(0)) << (8 * byte);
        }
    }
    bits
}

/// The entry of a table that an operand numbers: zeros past the end, or when it is no table.
pub fn entry(table: &[u8], number: &Bits) -> Bits {
    let entry = tables::of(table).map_or(0, |table| table.entry);
    let start = (number[0] as usize).saturating_mul(entry).min(table.len());
    let mut bits = ZERO;
    for (at, byte) in table[start..].iter().enumerate().take(entry) {
        bits[at / 4] |= u32::from(*byte) << (8 * (at % 4));
    }
    bits
}

/// Lane `i` from lane `i` of one operand.
pub fn map1(ctx: Ctx, a: &Bits, f: impl Fn(u32) -> u32) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = f(a[lane]);
    }
    out
}

/// Lane `i` from lane `i` of two operands.
pub fn map2(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(u32, u32) -> u32) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

/// 64-bit lane `i` from 64-bit lane `i` of two operands.
pub fn map64(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
    let wide = |x: &Bits, at: usize| u64::from(x[at]) | u64::from(x[at + 1]) << 32;
    let mut out = ZERO;
    for at in (0..ctx.lanes).step_by(2) {
        let word = f(wide(a, at), wide(b, at));
        (out[at], out[at + 1]) = (word as u32, (word >> 32) as u32);
    }
    out
}

/// A mask register whose bit `i` says whether `f` holds on lane `i`.
pub fn test2(ctx: Ctx, a: &Bits, b: &Bits, f: impl Fn(u32, u32) -> bool) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[0] |= u32::from(f(a[lane], b[lane])) << lane;
    }
    out
}

/// Mask logic on 16 bits.
pub fn mask2(a: &Bits, b: &Bits, f: impl Fn(u32, u32) -> u32) -> Bits {
    let mut out = ZERO;
    out[0] = f(a[0], b[0]) & 0xffff;
    out
}

fn quiet(bits: u32) -> u32 {
    bits | 0x0040_0000
}

fn is_nan(bits: u32) -> bool {
    f32::from_bits(bits).is_nan()
}

/// The default NaN of an invalid operation.
const DEFAULT_NAN: u32 = 0xffc0_0000;

fn settle(operands: &[u32], result: f32) -> u32 {
    match operands.iter().find(|&&x| is_nan(x)) {
        Some(&nan) => quiet(nan),
        None if result.is_nan() => DEFAULT_NAN,
        None => result.to_bits(),
    }
}

/// A rounded operation on one float.
pub fn float1(a: u32, f: impl Fn(f32) -> f32) -> u32 {
    settle(&[a], f(f32::from_bits(a)))
}

/// A rounded operation on two floats.
pub fn float2(a: u32, b: u32, f: impl Fn(f32, f32) -> f32) -> u32 {
    settle(&[a, b], f(f32::from_bits(a), f32::from_bits(b)))
}

/// `a*b + c` rounded once, after the signs are flipped as asked.
pub fn fused(a: u32, b: u32, c: u32, negate_product: bool, negate_addend: bool) -> u32 {
    let flip = |x: u32, when: bool| f32::from_bits(if when { x ^ 0x8000_0000 } else { x });
    let result = flip(a, negate_product).mul_add(f32::from_bits(b), flip(c, negate_addend));
    settle(&[a, b, c], result)
}

/// `a` where `holds(a, b)`, else `b`: the machine's raw minimum and maximum.
pub fn pick(a: u32, b: u32, holds: impl Fn(f32, f32) -> bool) -> u32 {
    if holds(f32::from_bits(a), f32::from_bits(b)) { a } else { b }
}

/// The comparison predicate of `cmpps` with this immediate (Intel SDM, table "Comparison Predicate").
pub fn float_predicate(imm: u8, a: u32, b: u32) -> bool {
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    let unordered = a.is_nan() || b.is_nan();
    match imm & 15 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => unordered,
        4 => unordered || a != b,
        5 => unordered || a >= b,
        6 => unordered || a > b,
        7 => !unordered,
        8 => unordered || a == b,
        9 => unordered || a < b,
        10 => unordered || a <= b,
        11 => false,
        12 => !unordered && a != b,
        13 => a >= b,
        14 => a > b,
        _ => true,
    }
}

/// The comparison predicate of `vpcmpd` and `vpcmpud` with this immediate, on ordered keys.
pub fn int_predicate<T: Ord>(imm: u8, a: T, b: T) -> bool {
    match imm & 7 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => false,
        4 => a != b,
        5 => a >= b,
        6 => a > b,
        _ => true,
    }
}

/// All bits of a lane set or clear.
pub fn lane_mask(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}
