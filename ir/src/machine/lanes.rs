//! Semantics of lane moves on register bits.
//!
//! Most x86 lane moves work on each 128-bit block (four 32-bit lanes) alike. All are written here as what lane `l` of the
//! result is taken from.

use super::Ctx;
use super::bits::{Bits, ZERO};

/// Lane `l` from `pick(l)`, for every lane of the rack.
fn each(ctx: Ctx, pick: impl Fn(usize) -> u32) -> Bits {
    let mut out = ZERO;
    for (lane, word) in out.iter_mut().enumerate().take(ctx.lanes) {
        *word = pick(lane);
    }
    out
}

/// Bit field `at` of the immediate, `width` bits wide.
fn field(ctx: Ctx, at: usize, width: usize) -> usize {
    (usize::from(ctx.imm) >> (at * width)) & ((1 << width) - 1)
}

/// `pshufd`, `permilps`: each block permuted by four two-bit fields.
pub fn in_block(c: Ctx, a: &Bits) -> Bits {
    each(c, |l| a[l & !3 | field(c, l & 3, 2)])
}

/// `permilps` by a rack: the low two bits of each lane pick in its own block.
pub fn in_block_by(c: Ctx, a: &Bits, by: &Bits) -> Bits {
    each(c, |l| a[l & !3 | (by[l] & 3) as usize])
}

/// `shufps`: two lanes of each block from the first operand, two from the second.
pub fn shufps(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| if l & 2 == 0 { a } else { b }[l & !3 | field(c, l & 3, 2)])
}

/// `shufpd`: in each block a pair from the first operand, then one from the second.
pub fn shufpd(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| if l & 2 == 0 { a } else { b }[l & !3 | (field(c, l / 2, 1) * 2) | l & 1])
}

/// `unpckl*` and `unpckh*` of units of `unit` lanes: the low or high halves of each block, interleaved.
pub fn unpack(c: Ctx, a: &Bits, b: &Bits, unit: usize, high: bool) -> Bits {
    each(c, |l| {
        let (at, within) = (l % 4 / unit, l % unit);
        let from = if at % 2 == 0 { a } else { b };
        from[l & !3 | (at / 2 * unit + within + if high { 2 } else { 0 })]
    })
}

/// `movhlps`: the high half of the second operand, then that of the first.
pub fn movhlps(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| if l < 2 { b[l + 2] } else { a[l] })
}

/// The first `low` lanes of the second operand over those of the first.
pub fn low_over(c: Ctx, a: &Bits, b: &Bits, low: usize) -> Bits {
    each(c, |l| if l < low { b[l] } else { a[l] })
}

/// `pslldq`: bytes of each block toward its top; zeros enter.
pub fn pslldq(c: Ctx, a: &Bits) -> Bits {
    each_block(c, a, |block, by| if by < 16 { block << (8 * by) } else { 0 })
}

/// `psrldq`: bytes of each block toward its bottom; zeros enter.
pub fn psrldq(c: Ctx, a: &Bits) -> Bits {
    each_block(c, a, |block, by| if by < 16 { block >> (8 * by) } else { 0 })
}

/// Each block of 128 bits as one number, moved by the immediate.
fn each_block(c: Ctx, a: &Bits, f: impl Fn(u128, u8) -> u128) -> Bits {
    let block = |l: usize| (0..4).fold(0u128, |bits, at| bits | u128::from(a[(l & !3) + at]) << (32 * at));
    each(c, |l| (f(block(l), c.imm) >> (32 * (l & 3))) as u32)
}

/// `blendps`: lane `l` from the second operand where bit `l` is set.
pub fn blend(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| if field(c, l, 1) == 1 { b[l] } else { a[l] })
}

/// `perm2f128`: each half one of the four halves, or zero.
pub fn perm2x128(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| {
        let half = field(c, l / 4, 4);
        let from = if half & 2 == 0 { a } else { b };
        if half & 8 == 8 { 0 } else { from[(half & 1) * 4 + (l & 3)] }
    })
}

/// `permpd`, `permq`: each 256 bits' four pairs of lanes permuted alike.
pub fn pairs(c: Ctx, a: &Bits) -> Bits {
    each(c, |l| a[l & !7 | (field(c, (l / 2) & 3, 2) * 2) | l & 1])
}

/// `permps`, `permd`: lane `l` is the lane of `a` that `by` names, modulo the lanes there are.
pub fn permute(c: Ctx, by: &Bits, a: &Bits) -> Bits {
    each(c, |l| a[by[l] as usize % c.lanes])
}

/// `permt2ps` and kin: lane `l` is the lane of both tables laid end to end that `by` names.
pub fn permute2(c: Ctx, low: &Bits, by: &Bits, high: &Bits) -> Bits {
    each(c, |l| {
        let from = by[l] as usize % (2 * c.lanes);
        if from < c.lanes { low[from] } else { high[from - c.lanes] }
    })
}

/// `palignr`: in each block, the first operand above the second moved down by bytes. Whole lanes alone.
pub fn palignr(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    let by = usize::from(c.imm / 4);
    each(c, |l| match (l & 3) + by {
        at @ 0..4 => b[l & !3 | at],
        at @ 4..8 => a[l & !3 | (at - 4)],
        _ => 0,
    })
}

/// `alignd`: the first operand above the second, moved down by lanes.
pub fn align(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    let by = usize::from(c.imm) % c.lanes;
    each(c, |l| if l + by < c.lanes { b[l + by] } else { a[l + by - c.lanes] })
}

/// `shuff32x4`: two blocks of the first operand, then two of the second.
pub fn blocks(c: Ctx, a: &Bits, b: &Bits) -> Bits {
    each(c, |l| if l < 8 { a } else { b }[field(c, l / 4, 2) * 4 + (l & 3)])
}

/// One lane of the low block.
pub fn one(c: Ctx, a: &Bits) -> Bits {
    let mut out = ZERO;
    out[0] = a[usize::from(c.imm & 3)];
    out
}

/// The low block with one lane replaced.
pub fn replaced(c: Ctx, a: &Bits, lane: u32) -> Bits {
    let mut out = ZERO;
    out[..4].copy_from_slice(&a[..4]);
    out[usize::from(c.imm & 3)] = lane;
    out
}
