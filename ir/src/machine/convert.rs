//! Semantics of conversions, of rounding to integral values, and of instructions on lanes narrower than 32 bits.

use super::Ctx;
use super::bits::{self, Bits, ZERO};

/// The integer that a float rounds to, ties to even; `None` for a NaN.
fn rounded(x: u32) -> Option<f64> {
    let x = f32::from_bits(x);
    (!x.is_nan()).then(|| f64::from(x).round_ties_even())
}

/// `cvtps2dq`: what no `i32` holds becomes the "integer indefinite", 0x80000000.
pub fn to_signed(x: u32) -> u32 {
    match rounded(x) {
        Some(value) if (-2_147_483_648.0..2_147_483_648.0).contains(&value) => value as i64 as u32,
        _ => 0x8000_0000,
    }
}

/// `cvttps2dq`: as [`to_signed`], the fraction dropped.
pub fn to_signed_truncated(x: u32) -> u32 {
    let value = f32::from_bits(x).trunc();
    if (-2_147_483_648.0..2_147_483_648.0).contains(&value) { value as i32 as u32 } else { 0x8000_0000 }
}

/// `vcvtps2udq`: what no `u32` holds becomes 0xffffffff.
pub fn to_unsigned(x: u32) -> u32 {
    match rounded(x) {
        Some(value) if (0.0..4_294_967_296.0).contains(&value) => value as u64 as u32,
        _ => 0xffff_ffff,
    }
}

/// `cvtdq2ps`, rounding once to the nearest, ties to even.
pub fn from_signed(x: u32) -> u32 {
    (x as i32 as f32).to_bits()
}

/// `vcvtudq2ps`, likewise.
pub fn from_unsigned(x: u32) -> u32 {
    (x as f32).to_bits()
}

/// `roundps` and `vrndscaleps` to whole numbers: the mode in the two low bits of the immediate.
pub fn round(imm: u8, x: u32) -> u32 {
    bits::float1(x, |x| match imm & 3 {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    })
}

/// `vrangeps` with the result's own sign (immediate 4 or 5): the minimum or maximum by value with -0 below +0; beside
/// one quiet NaN the other operand.
pub fn range(imm: u8, a: u32, b: u32) -> u32 {
    let nan = |x: u32| f32::from_bits(x).is_nan();
    let signalling = |x: u32| nan(x) && x & 0x0040_0000 == 0;
    let quiet = |x: u32| x | 0x0040_0000;
    // An order of all numbers in which -0 is below +0.
    let key = |x: u32| if x >> 31 == 1 { !x } else { x | 0x8000_0000 };
    match (nan(a), nan(b)) {
        _ if signalling(a) => quiet(a),
        _ if signalling(b) => quiet(b),
        (true, false) => b,
        (true, true) | (false, true) => a,
        (false, false) if (key(a) < key(b)) == (imm & 1 == 0) => a,
        (false, false) => b,
    }
}

/// The bytes of a register, as many as the rack has.
fn bytes(ctx: Ctx, a: &Bits) -> Vec<u8> {
    a[..ctx.lanes].iter().flat_map(|lane| lane.to_le_bytes()).collect()
}

/// The register with these bytes.
fn of_bytes(bytes: impl IntoIterator<Item = u8>) -> Bits {
    let mut out = ZERO;
    for (at, byte) in bytes.into_iter().enumerate().take(64) {
        out[at / 4] |= u32::from(byte) << (8 * (at % 4));
    }
    out
}

/// The signed 16-bit lanes of a register.
fn words(ctx: Ctx, a: &Bits) -> Vec<i16> {
    a[..ctx.lanes].iter().flat_map(|&lane| [lane as i16, (lane >> 16) as i16]).collect()
}

/// `pmaddwd`: products of adjacent signed 16-bit lanes, summed, wrapping.
pub fn multiply_pairs(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let (a, b) = (words(ctx, a), words(ctx, b));
    let mut out = ZERO;
    for (lane, out) in out.iter_mut().enumerate().take(ctx.lanes) {
        let product = |at: usize| i32::from(a[at]) * i32::from(b[at]);
        *out = product(2 * lane).wrapping_add(product(2 * lane + 1)) as u32;
    }
    out
}

/// `packssdw`: in each 128 bits, the four lanes of `a` and then those of `b`, saturated to 16 bits.
pub fn pack_words(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let halves = (0..ctx.lanes).step_by(4).flat_map(|at| [&a[at..at + 4], &b[at..at + 4]]).flatten();
    of_bytes(halves.flat_map(|&x| ((x as i32).clamp(i16::MIN.into(), i16::MAX.into()) as i16).to_le_bytes()))
}

/// `packsswb`: in each 128 bits, the eight 16-bit lanes of `a` and then those of `b`, saturated to 8 bits.
pub fn pack_bytes(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let (a, b) = (words(ctx, a), words(ctx, b));
    let halves = (0..a.len()).step_by(8).flat_map(|at| [&a[at..at + 8], &b[at..at + 8]]).flatten();
    of_bytes(halves.map(|&x| x.clamp(i8::MIN.into(), i8::MAX.into()) as u8))
}

/// `punpcklbw` or `punpckhbw`: in each 128 bits, the low or high eight bytes of `a` and `b`, interleaved.
pub fn interleave_bytes(ctx: Ctx, a: &Bits, b: &Bits, high: bool) -> Bits {
    let (a, b) = (bytes(ctx, a), bytes(ctx, b));
    let start = if high { 8 } else { 0 };
    let blocks = (0..a.len()).step_by(16);
    of_bytes(blocks.flat_map(|block| block + start..block + start + 8).flat_map(|at| [a[at], b[at]]))
}

/// `vpmovzxbw`: the bytes of the low half, each widened to 16 bits.
pub fn widen_bytes(ctx: Ctx, a: &Bits) -> Bits {
    let a = bytes(ctx, a);
    of_bytes(a[..a.len() / 2].iter().flat_map(|&byte| [byte, 0]))
}

/// `vpmovzxbd`: the first bytes, each widened to 32 bits.
pub fn widen_entry(ctx: Ctx, a: &Bits) -> Bits {
    let a = bytes(ctx, a);
    of_bytes(a[..ctx.lanes].iter().flat_map(|&byte| [byte, 0, 0, 0]))
}

/// `vpblendw`: in each 128 bits, the 16-bit lanes of `b` whose bits are set in the immediate, else those of `a`.
pub fn blend_words(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let pairs = words(ctx, a).into_iter().zip(words(ctx, b)).enumerate();
    of_bytes(pairs.flat_map(|(at, (a, b))| if ctx.imm >> (at % 8) & 1 == 1 { b } else { a }.to_le_bytes()))
}

/// The upper half of a register in its lower half.
pub fn high_half(ctx: Ctx, a: &Bits) -> Bits {
    let half = ctx.lanes / 2;
    let mut out = ZERO;
    out[..half].copy_from_slice(&a[half..ctx.lanes]);
    out
}

/// `vpermq` by a register: 64-bit lanes of `b` picked by those of `a`.
pub fn pick_pairs(ctx: Ctx, a: &Bits, b: &Bits) -> Bits {
    let mut out = ZERO;
    for at in (0..ctx.lanes).step_by(2) {
        let from = 2 * (a[at] as usize % (ctx.lanes / 2));
        (out[at], out[at + 1]) = (b[from], b[from + 1]);
    }
    out
}

/// The lanes whose bit is set in `mask` to the front in order, zeros after them.
pub fn compress(ctx: Ctx, mask: u32, a: &Bits) -> Bits {
    let mut out = ZERO;
    for (to, from) in (0..ctx.lanes).filter(|&lane| mask >> lane & 1 == 1).enumerate() {
        out[to] = a[from];
    }
    out
}

/// The first lanes of `a` to the lanes whose bit is set in `mask`, in order; `otherwise` elsewhere.
pub fn expand(ctx: Ctx, mask: u32, otherwise: &Bits, a: &Bits) -> Bits {
    let mut out = ZERO;
    let mut next = 0;
    for lane in 0..ctx.lanes {
        let selected = mask >> lane & 1 == 1;
        out[lane] = if selected { a[next] } else { otherwise[lane] };
        next += usize::from(selected);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: Ctx = Ctx { lanes: 4, imm: 0 };

    fn four(lanes: [u32; 4]) -> Bits {
        let mut out = ZERO;
        out[..4].copy_from_slice(&lanes);
        out
    }

    #[test]
    fn conversions_give_the_indefinite_values() {
        for (x, signed, unsigned) in [
            (2.5f32, 2, 2),
            (3.5, 4, 4),
            (-2.5, -2i32 as u32, u32::MAX),
            (-0.5, 0, 0),
            (2_147_483_520.0, 2_147_483_520, 2_147_483_520),
            (2_147_483_648.0, 0x8000_0000, 0x8000_0000),
            (-2_147_483_648.0, 0x8000_0000, u32::MAX),
            (4_294_967_040.0, 0x8000_0000, 4_294_967_040),
            (4_294_967_296.0, 0x8000_0000, u32::MAX),
            (f32::NAN, 0x8000_0000, u32::MAX),
        ] {
            assert_eq!((to_signed(x.to_bits()), to_unsigned(x.to_bits())), (signed, unsigned), "{x}");
        }
        assert_eq!(from_unsigned(0xffff_ff7f), 4_294_967_040f32.to_bits());
        assert_eq!(from_signed(0xffff_ffff), (-1f32).to_bits());
    }

    #[test]
    fn ranges_order_zeros_and_prefer_numbers() {
        let (plus, minus, nan) = (0, 0x8000_0000, 0x7fc0_0000);
        assert_eq!((range(4, plus, minus), range(4, minus, plus)), (minus, minus));
        assert_eq!((range(5, plus, minus), range(5, minus, plus)), (plus, plus));
        assert_eq!((range(4, nan, 7), range(5, 7, nan), range(5, 0x7f80_0001, 7)), (7, 7, 0x7fc0_0001));
    }

    #[test]
    fn narrow_lanes() {
        let (a, b) = (four([0x8000_8000, 0x0001_0002, 0, 0x7fff_ffff]), four([0x8000_8000, 0x0003_0004, 9, 1]));
        assert_eq!(multiply_pairs(FOUR, &a, &b), four([0x8000_0000, 11, 0, u32::MAX]));
        let packed = pack_words(FOUR, &four([70000, -70000i32 as u32, 5, u32::MAX]), &four([1, 2, 3, 4]));
        assert_eq!(packed, four([0x8000_7fff, 0xffff_0005, 0x0002_0001, 0x0004_0003]));
        let mixed = interleave_bytes(FOUR, &four([0x0403_0201, 0x0807_0605, 0, 0]), &ZERO, false);
        assert_eq!(mixed, four([0x0002_0001, 0x0004_0003, 0x0006_0005, 0x0008_0007]));
        assert_eq!(widen_bytes(FOUR, &four([0x0403_0201, 0x0807_0605, 0, 0])), mixed);
        assert_eq!(widen_entry(FOUR, &four([0x0403_0201, 9, 9, 9])), four([1, 2, 3, 4]));
    }

    #[test]
    fn lanes_move_by_masks() {
        let a = four([10, 11, 12, 13]);
        assert_eq!(compress(FOUR, 0b1010, &a), four([11, 13, 0, 0]));
        assert_eq!(expand(FOUR, 0b1010, &four([1, 2, 3, 4]), &a), four([1, 10, 3, 11]));
    }
}
