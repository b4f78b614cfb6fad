//! Semantics of what moves racks between registers and memory, and of the lane moves that belong to it.

use crate::machine::Ctx;
use crate::machine::bits::{Bits, ZERO};

/// The lanes of an opmask from one rack, the others from another.
pub fn masked(ctx: Ctx, mask: &Bits, then: &Bits, otherwise: &Bits) -> Bits {
    super::choose(ctx, otherwise, then, |lane| mask[0] >> lane & 1 == 1)
}

/// The lanes whose mask has its sign bit set from one rack, the others from another.
pub fn signed(ctx: Ctx, mask: &Bits, then: &Bits, otherwise: &Bits) -> Bits {
    super::choose(ctx, otherwise, then, |lane| mask[lane] >> 31 == 1)
}

fn byte(bits: &Bits, at: usize) -> u8 {
    (bits[at / 4] >> (8 * (at % 4))) as u8
}

fn half(bits: &Bits, at: usize) -> u16 {
    (bits[at / 2] >> (16 * (at % 2))) as u16
}

/// Lane `l` from byte `l`.
pub fn bytes(ctx: Ctx, from: &Bits, signed: bool) -> Bits {
    let mut out = ZERO;
    for (lane, word) in out.iter_mut().enumerate().take(ctx.lanes) {
        let byte = byte(from, lane);
        *word = if signed { byte as i8 as u32 } else { byte.into() };
    }
    out
}

/// Lane `l` from the 16 bits at `l`.
pub fn halves(ctx: Ctx, from: &Bits, signed: bool) -> Bits {
    let mut out = ZERO;
    for (lane, word) in out.iter_mut().enumerate().take(ctx.lanes) {
        let half = half(from, lane);
        *word = if signed { half as i16 as u32 } else { half.into() };
    }
    out
}

/// The low bytes of the lanes of a mask, over the old ones.
pub fn to_bytes(ctx: Ctx, from: &Bits, old: &Bits, mask: u32) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        let byte = if mask >> lane & 1 == 1 { from[lane] as u8 } else { byte(old, lane) };
        out[lane / 4] |= u32::from(byte) << (8 * (lane % 4));
    }
    out
}

/// The low 16 bits of the lanes of a mask, over the old ones.
pub fn to_halves(ctx: Ctx, from: &Bits, old: &Bits, mask: u32) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        let half = if mask >> lane & 1 == 1 { from[lane] as u16 } else { half(old, lane) };
        out[lane / 2] |= u32::from(half) << (16 * (lane % 2));
    }
    out
}

/// Sixteen bytes of each block from a function of the block's first byte and of the byte in the block.
fn each_byte(ctx: Ctx, f: impl Fn(usize, usize) -> u8) -> Bits {
    let mut out = ZERO;
    for at in 0..4 * ctx.lanes {
        out[at / 4] |= u32::from(f(at & !15, at & 15)) << (8 * (at % 4));
    }
    out
}

/// `pshufb`: each byte the one of its block that the low four bits of the second operand's say; zero where its sign is set.
pub fn shuffle_bytes(ctx: Ctx, from: &Bits, by: &Bits) -> Bits {
    each_byte(ctx, |block, at| match byte(by, block + at) {
        pick @ 0..128 => byte(from, block + usize::from(pick & 15)),
        _ => 0,
    })
}

/// `punpcklwd`: the low four words of 16 bits of both operands, one of each in turn.
pub fn interleave_halves(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    each_byte(ctx, |block, at| byte(if at / 2 % 2 == 0 { a } else { b }, block + at / 4 * 2 + at % 2))
}

/// `packuswb`: the signed words of 16 bits of both operands as bytes, saturated.
pub fn pack_unsigned(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    each_byte(ctx, |block, at| {
        let word = half(if at < 8 { a } else { b }, block / 2 + at % 8) as i16;
        word.clamp(0, 255) as u8
    })
}
