//! Semantics of instructions that move lanes, or whose lanes are not 32 bits wide.

use crate::machine::Ctx;
use crate::machine::bits::{Bits, ZERO};

/// The bytes of a register.
pub fn bytes(a: &Bits) -> [u8; 16] {
    let mut out = [0; 16];
    for (at, byte) in out.iter_mut().enumerate() {
        *byte = (a[at / 4] >> (8 * (at % 4))) as u8;
    }
    out
}

/// The register with these bytes.
pub fn of_bytes(bytes: impl IntoIterator<Item = u8>) -> Bits {
    let mut out = ZERO;
    for (at, byte) in bytes.into_iter().enumerate().take(16) {
        out[at / 4] |= u32::from(byte) << (8 * (at % 4));
    }
    out
}

/// The register with these lanes.
pub fn of(lanes: [u32; 4]) -> Bits {
    let mut out = ZERO;
    out[..4].copy_from_slice(&lanes);
    out
}

/// The same number in every lane.
pub fn all(lane: u32) -> Bits {
    of([lane; 4])
}

/// Only lane 0; the others are cleared.
pub fn low(lane: u32) -> Bits {
    of([lane, 0, 0, 0])
}

/// Lanes of `a`, numbered 0 to 3, and of `b`, numbered 4 to 7.
pub fn pick(a: &Bits, b: &Bits, lanes: [usize; 4]) -> Bits {
    of(lanes.map(|lane| if lane < 4 { a[lane] } else { b[lane - 4] }))
}

/// `ext`: sixteen bytes of both from this byte on.
pub fn extract(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    of_bytes(bytes(a).into_iter().chain(bytes(b)).skip(usize::from(ctx.imm & 15)))
}

/// The low nibble and the high nibble of the immediate.
const fn nibbles(ctx: Ctx) -> (usize, usize) {
    ((ctx.imm & 15) as usize, (ctx.imm >> 4) as usize)
}

/// `ins`: a lane of `b`, the immediate's high nibble, in the lane of `a` that its low nibble numbers.
pub fn insert(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let (to, from) = nibbles(ctx);
    let mut out = *a;
    out[to & 3] = b[from & 3];
    out
}

/// `ins` of 64-bit lanes.
pub fn insert_half(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let (to, from) = nibbles(ctx);
    let (to, from) = (2 * (to & 1), 2 * (from & 1));
    let mut out = *a;
    (out[to], out[to + 1]) = (b[from], b[from + 1]);
    out
}

/// `tbl` and `tbx`: bytes of `a` picked by those of `picks`; past the end what `otherwise` holds.
pub fn table(otherwise: &Bits, a: &Bits, picks: &Bits) -> Bits {
    let (bytes_of, otherwise) = (bytes(a), bytes(otherwise));
    of_bytes((0..16).map(|at| bytes_of.get(usize::from(bytes(picks)[at])).copied().unwrap_or(otherwise[at])))
}

/// `ushl` and `sshl`: each lane by the signed number in the lowest byte of the other's lane, to the right if negative.
pub fn shift_by(x: u32, count: u32, signed: bool) -> u32 {
    let count = i32::from(count as u8 as i8);
    match (count < 0, signed) {
        (false, _) => x.checked_shl(count.unsigned_abs()).unwrap_or(0),
        (true, false) => x.checked_shr(count.unsigned_abs()).unwrap_or(0),
        (true, true) => ((x as i32) >> count.unsigned_abs().min(31)) as u32,
    }
}

fn halves(a: &Bits) -> [i16; 8] {
    let mut out = [0; 8];
    for (at, half) in out.iter_mut().enumerate() {
        *half = (a[at / 2] >> (16 * (at % 2))) as i16;
    }
    out
}

/// `smull` and `smull2`: products of signed 16-bit lanes of the low or the high half.
pub fn multiply_long(a: &Bits, b: &Bits, high: bool) -> Bits {
    let (a, b, start) = (halves(a), halves(b), if high { 4 } else { 0 });
    of([0, 1, 2, 3].map(|at| (i32::from(a[start + at]) * i32::from(b[start + at])) as u32))
}

/// `addp`: sums of adjacent lanes of `a`, then of `b`.
pub fn add_pairs(a: &Bits, b: &Bits) -> Bits {
    of([a[0].wrapping_add(a[1]), a[2].wrapping_add(a[3]), b[0].wrapping_add(b[1]), b[2].wrapping_add(b[3])])
}

/// `sqxtn` and `sqxtn2`: lanes saturated to signed 16 bits, in the half after `before`.
pub fn narrow(before: &[u32], a: &Bits) -> Bits {
    let narrowed = a[..4].iter().flat_map(|&x| ((x as i32).clamp(-32768, 32767) as i16).to_le_bytes());
    of_bytes(before.iter().flat_map(|lane| lane.to_le_bytes()).chain(narrowed))
}

/// `uxtl` and `uxtl2`: bytes of the low or the high half, each widened to 16 bits.
pub fn widen(a: &Bits, high: bool) -> Bits {
    let bytes = bytes(a);
    of_bytes(bytes[if high { 8..16 } else { 0..8 }].iter().flat_map(|&byte| [byte, 0]))
}

/// `sxtl` of the low half: bytes, each widened to 16 bits by its sign.
pub fn widen_signed(a: &Bits) -> Bits {
    of_bytes(bytes(a)[..8].iter().flat_map(|&byte| i16::from(byte as i8).to_le_bytes()))
}

/// `uxtl` and `sxtl` of the low half: 16 bits, each widened to 32.
pub fn widen_halves(a: &Bits, signed: bool) -> Bits {
    let halves = halves(a);
    of([0, 1, 2, 3].map(|at| if signed { i32::from(halves[at]) as u32 } else { u32::from(halves[at] as u16) }))
}

/// `cmgt` of 64-bit lanes.
pub fn greater_longs(a: &Bits, b: &Bits) -> Bits {
    let long = |bits: &Bits, at: usize| (u64::from(bits[at]) | u64::from(bits[at + 1]) << 32) as i64;
    let greater = |at: usize| if long(a, at) > long(b, at) { u32::MAX } else { 0 };
    of([greater(0), greater(0), greater(2), greater(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ctx(imm: u8) -> Ctx {
        Ctx { lanes: 4, imm }
    }

    #[test]
    fn lanes_move() {
        let (a, b) = (of([10, 11, 12, 13]), of([20, 21, 22, 23]));
        assert_eq!(extract(ctx(12), &a, &b), of([13, 20, 21, 22]));
        assert_eq!(insert(ctx(0x31), &a, &b), of([10, 23, 12, 13]));
        assert_eq!(insert_half(ctx(0x01), &a, &b), of([10, 11, 20, 21]));
        let picks = of([0x0706_0504, 0xffff_ffff, 0x0302_0100, 0x0f0e_0d0c]);
        assert_eq!(table(&ZERO, &a, &picks), of([11, 0, 10, 13]));
        assert_eq!(table(&b, &a, &picks), of([11, 21, 10, 13]));
    }

    #[test]
    fn counts_are_signed_bytes() {
        assert_eq!((shift_by(3, 0xffff_ff01, false), shift_by(3, 32, false)), (6, 0));
        assert_eq!((shift_by(0x8000_0000, 0xff, false), shift_by(0x8000_0000, 0xe0, true)), (0x4000_0000, u32::MAX));
    }

    #[test]
    fn narrow_lanes() {
        let (a, b) = (of([0x0002_ffff, 0x8000_0003, 1, 0]), of([0x0005_0004, 0x8000_0006, 7, 0]));
        assert_eq!(multiply_long(&a, &b, false), of([-4i32 as u32, 10, 18, 0x4000_0000]));
        assert_eq!(multiply_long(&a, &b, true), of([7, 0, 0, 0]));
        assert_eq!(add_pairs(&of([1, 2, 3, 4]), &of([5, 6, 7, u32::MAX])), of([3, 7, 11, 6]));
        assert_eq!(narrow(&[7, 9], &of([70000, -70000i32 as u32, 5, 6])), of([7, 9, 0x8000_7fff, 0x0006_0005]));
        assert_eq!(widen(&of([1, 0, 0x0403_0201, 5]), true), of([0x0002_0001, 0x0004_0003, 5, 0]));
        assert_eq!(widen_signed(&of([0x80ff_7f01, 2, 3, 4])), of([0x007f_0001, 0xff80_ffff, 2, 0]));
        let halves = of([0x8000_7fff, 0xffff_0001, 5, 6]);
        assert_eq!(widen_halves(&halves, false), of([0x7fff, 0x8000, 1, 0xffff]));
        assert_eq!(widen_halves(&halves, true), of([0x7fff, 0xffff_8000, 1, u32::MAX]));
    }

    #[test]
    fn lanes_of_64_bits_are_signed() {
        let (a, b) = (of([0, 1, u32::MAX, u32::MAX]), of([u32::MAX, 0, 0, 0]));
        assert_eq!(greater_longs(&a, &b), of([u32::MAX, u32::MAX, 0, 0]));
        assert_eq!(greater_longs(&b, &a), of([0, 0, u32::MAX, u32::MAX]));
    }
}
