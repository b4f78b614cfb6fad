//! The WebAssembly table: every instruction that the two WebAssembly profiles may emit, but for locals.
//!
//! Names and semantics follow the WebAssembly specification 2.0 (section 4.3) and the relaxed SIMD proposal. Mnemonics are
//! those of the text format, for `wasm-simd128` and `wasm-simd128-relaxed`. Costs are those of the SSE and NEON
//! instructions that engines emit. An `i32` stands in class `G`, an `f32` in class `F`; vectors have one class for all
//! lane types; an `i64` stands in class `L`. Where an engine may choose a result, of relaxed operations, the semantics here are one of the choices:
//! what two operations would give, rounded twice.

use super::bits::{self, Bits, ZERO, lane_mask};
use super::convert;
use super::{
    Cond, ControlIdioms, Ctx, Flow, Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, Semantics, Shortcut, Slot,
};
use super::{VARIANTS, View, machine_table, words};

/// A row of both profiles.
const fn row(
    name: &'static str,
    mnemonic: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    super::row(name, [mnemonic, mnemonic, ""], kind, dst, slots, cost, eval)
}

/// A row of `wasm-simd128-relaxed` alone.
const fn relaxed(
    name: &'static str,
    mnemonic: &'static str,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    super::row(name, ["", mnemonic, ""], Arith, RACK, slots, cost, eval)
}

/// A `v128`.
const R: Slot = Slot::new(View::Rack, Mem::No);
/// An `i32`.
const I: Slot = Slot::new(View::Word, Mem::No);
/// An `i64`.
const J: Slot = Slot::new(View::Wide, Mem::No);
/// An `f32`.
const F: Slot = Slot::new(View::Float, Mem::No);
/// Sixteen bytes in the instruction itself.
const L: Slot = Slot::new(View::Rack, Mem::Rack);

/// Four bytes in the instruction itself.
const N: Slot = Slot::new(View::Word, Mem::Element);
/// Eight.
const M: Slot = Slot::new(View::Wide, Mem::Element);

/// An `i64`, or a number that an `i64.const` makes; the same of an `i32`.
const JN: Slot = Slot::new(View::Wide, Mem::Number);
const IN: Slot = Slot::new(View::Word, Mem::Number);
/// Places of this many bytes, at an `i32` and an offset.
const P1: Slot = place(1);
const P2: Slot = place(2);
const P4: Slot = place(4);
const P8: Slot = place(8);
const P16: Slot = place(16);

const fn place(bytes: u8) -> Slot {
    Slot::new(View::Word, Mem::Place([bytes; VARIANTS]))
}

const RACK: Option<View> = Some(View::Rack);
const WORD: Option<View> = Some(View::Word);
const LONG: Option<View> = Some(View::Wide);
const FLOAT: Option<View> = Some(View::Float);

use Kind::{Arith, Boundary, Choose, Compare, Const, Control, Cross, Logic, Move, Transfer, Word};

type A<'a> = &'a [Bits];

/// From two `i64`s; a test of them, and of two `i32`s.
macro_rules! long {
    ($name:literal $mnemonic:literal $slot:ident $cost:tt |$x:ident, $y:ident| $body:expr) => {
        row($name, $mnemonic, Word, LONG, &[J, $slot], $cost, |_, a: A| words::long2(a, |$x, $y| $body))
    };
}
macro_rules! test_long {
    ($name:literal $mnemonic:literal |$x:ident, $y:ident| $body:expr) => {
        row($name, $mnemonic, Word, WORD, &[J, J], (50, 100), |_, a: A| {
            let ($x, $y) = (bits::long(&a[0]), bits::long(&a[1]));
            scalar(u32::from($body))
        })
    };
}
macro_rules! test_word {
    ($name:literal $mnemonic:literal |$x:ident, $y:ident| $body:expr) => {
        row($name, $mnemonic, Word, WORD, &[I, I], (50, 100), |_, a: A| {
            let ($x, $y) = (a[0][0], a[1][0]);
            scalar(u32::from($body))
        })
    };
}
/// A load, by what it makes of the bytes; a store of a lane, the immediate's.
macro_rules! load {
    ($name:literal $mnemonic:literal $dst:ident $place:ident |$c:pat_param, $x:ident| $body:expr) => {
        row($name, $mnemonic, Transfer, $dst, &[$place], (50, 500), |$c, a: A| {
            let $x = &a[0];
            $body
        })
    };
}
macro_rules! store_lane {
    ($name:literal $mnemonic:literal $place:ident $bytes:literal) => {
        row($name, $mnemonic, Transfer, None, &[$place, R], (100, 0), |c, a: A| {
            let (from, lane) = (bytes(&a[1]), usize::from(c.imm) * $bytes);
            of_bytes(|at| if at < $bytes { from[(lane + at) % 16] } else { 0 })
        })
        .writes()
        .imm()
    };
}
/// What selection writes of control and of values that are set again; [`crate::stacked`] has instructions for it.
macro_rules! marker {
    ($name:literal $flow:ident) => { row($name, $name, Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::$flow) };
    ($name:literal $flow:ident imm) => { marker!($name $flow).imm() };
}

/// One float from one.
fn float1(c: Ctx, a: A, f: impl Fn(f32) -> f32) -> Bits {
    bits::map1(c, &a[0], |x| bits::float1(x, &f))
}

/// One float from two.
fn float2(c: Ctx, a: A, f: impl Fn(f32, f32) -> f32) -> Bits {
    bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, &f))
}

fn lanes1(c: Ctx, a: A, f: impl Fn(u32) -> u32) -> Bits {
    bits::map1(c, &a[0], f)
}

fn lanes2(c: Ctx, a: A, f: impl Fn(u32, u32) -> u32) -> Bits {
    bits::map2(c, &a[0], &a[1], f)
}

fn float_test(c: Ctx, a: A, holds: impl Fn(f32, f32) -> bool) -> Bits {
    lanes2(c, a, |x, y| lane_mask(holds(f32::from_bits(x), f32::from_bits(y))))
}

fn signed_test(c: Ctx, a: A, holds: impl Fn(i32, i32) -> bool) -> Bits {
    lanes2(c, a, |x, y| lane_mask(holds(x as i32, y as i32)))
}

fn test(c: Ctx, a: A, holds: impl Fn(u32, u32) -> bool) -> Bits {
    lanes2(c, a, |x, y| lane_mask(holds(x, y)))
}

/// A shift of every lane by an `i32`, modulo 32.
fn shift(c: Ctx, a: A, f: impl Fn(u32, u32) -> u32) -> Bits {
    let count = a[1][0] % 32;
    lanes1(c, a, |x| f(x, count))
}

/// An `i32` or `f32` alone.
fn scalar(word: u32) -> Bits {
    let mut out = ZERO;
    out[0] = word;
    out
}

fn splat(c: Ctx, a: A) -> Bits {
    lanes1(c, &[[a[0][0]; 16]], |x| x)
}

/// The lane that the immediate names.
fn extract(c: Ctx, a: A) -> Bits {
    scalar(a[0][usize::from(c.imm) % 4])
}

fn replace(c: Ctx, a: A) -> Bits {
    let mut out = lanes1(c, a, |x| x);
    out[usize::from(c.imm) % 4] = a[1][0];
    out
}

/// Bits of the first vector where the third has them, else of the second.
fn bitselect(c: Ctx, a: A) -> Bits {
    let kept = lanes2(c, &[a[0], a[2]], |x, m| x & m);
    let other = lanes2(c, &[a[1], a[2]], |x, m| x & !m);
    lanes2(c, &[kept, other], |x, y| x | y)
}

/// The sixteen bytes of a `v128`.
fn bytes(a: &Bits) -> [u8; 16] {
    std::array::from_fn(|at| (a[at / 4] >> (8 * (at % 4))) as u8)
}

fn of_bytes(bytes: impl Fn(usize) -> u8) -> Bits {
    let mut out = ZERO;
    for at in 0..16 {
        out[at / 4] |= u32::from(bytes(at)) << (8 * (at % 4));
    }
    out
}

/// Bytes of two vectors laid end to end, picked by those of the third.
fn shuffle(a: A) -> Bits {
    let (low, high, picks) = (bytes(&a[0]), bytes(&a[1]), bytes(&a[2]));
    of_bytes(|at| if picks[at] < 16 { low[usize::from(picks[at])] } else { high[usize::from(picks[at] % 16)] })
}

/// Bytes of the first vector, picked by those of the second; zero where there is none.
fn swizzle(a: A) -> Bits {
    let (from, picks) = (bytes(&a[0]), bytes(&a[1]));
    of_bytes(|at| from.get(usize::from(picks[at])).copied().unwrap_or(0))
}

/// Eight bytes from `start` on, each widened to 16 bits.
fn widen(a: A, start: usize) -> Bits {
    let from = bytes(&a[0]);
    of_bytes(|at| if at % 2 == 0 { from[start + at / 2] } else { 0 })
}

/// Four lanes from the first eight bytes, by 16 bits.
fn lanes_of(c: Ctx, from: &Bits, f: impl Fn(u16) -> u32) -> Bits {
    let mut out = ZERO;
    for (lane, word) in out.iter_mut().enumerate().take(c.lanes) {
        *word = f((from[lane / 2] >> (16 * (lane % 2))) as u16);
    }
    out
}

/// Sums of neighbours, two signed numbers of `width` bytes, widened.
fn pairs(a: A, width: usize) -> Bits {
    let from = bytes(&a[0]);
    let number = |at: usize| match width {
        1 => i32::from(from[at] as i8),
        _ => i32::from(i16::from_le_bytes([from[at], from[at + 1]])),
    };
    of_bytes(|at| {
        let first = at / (2 * width) * 2 * width;
        (number(first) + number(first + width)).to_le_bytes()[at - first]
    })
}

fn replace_long(c: Ctx, a: A) -> Bits {
    let (mut out, at) = (lanes1(c, a, |x| x), usize::from(c.imm) % 2 * 2);
    out[at..at + 2].copy_from_slice(&a[1][..2]);
    out
}

/// IEEE 754-2019 `minimum` or `maximum` (4.3.3, `fmin` and `fmax`): -0 is below +0.
fn extremum(x: f32, y: f32, greater: bool) -> f32 {
    let first = if x == y { x.is_sign_negative() } else { x < y };
    if first != greater { x } else { y }
}

/// 4.3.2, `trunc_sat_s`: saturating, zero for a NaN.
fn to_signed(x: u32) -> u32 {
    f32::from_bits(x) as i32 as u32
}

/// 4.3.2, `trunc_sat_u`.
fn to_unsigned(x: u32) -> u32 {
    f32::from_bits(x) as u32
}

machine_table! {
    /// A WebAssembly machine operation: an index into [`TABLE`].
    Wasm {
        // Floats.
        F32x4Add = row("f32x4_add", "f32x4.add", Arith, RACK, &[R, R], (50, 400), |c, a: A| float2(c, a, |x, y| x + y)).forms(&[commuted(Wasm::F32x4Add)]);
        F32x4Sub = row("f32x4_sub", "f32x4.sub", Arith, RACK, &[R, R], (50, 400), |c, a: A| float2(c, a, |x, y| x - y));
        F32x4Mul = row("f32x4_mul", "f32x4.mul", Arith, RACK, &[R, R], (50, 400), |c, a: A| float2(c, a, |x, y| x * y)).forms(&[commuted(Wasm::F32x4Mul)]);
        F32x4Div = row("f32x4_div", "f32x4.div", Arith, RACK, &[R, R], (300, 1100), |c, a: A| float2(c, a, |x, y| x / y));
        F32x4Sqrt = row("f32x4_sqrt", "f32x4.sqrt", Arith, RACK, &[R], (300, 1200), |c, a: A| float1(c, a, f32::sqrt));
        F32x4Abs = row("f32x4_abs", "f32x4.abs", Arith, RACK, &[R], (33, 100), |c, a: A| lanes1(c, a, |x| x & 0x7fff_ffff));
        F32x4Neg = row("f32x4_neg", "f32x4.neg", Arith, RACK, &[R], (33, 100), |c, a: A| lanes1(c, a, |x| x ^ 0x8000_0000));
        F32x4Min = row("f32x4_min", "f32x4.min", Arith, RACK, &[R, R], (150, 900), |c, a: A| float2(c, a, |x, y| extremum(x, y, false))).forms(&[commuted(Wasm::F32x4Min)]);
        F32x4Max = row("f32x4_max", "f32x4.max", Arith, RACK, &[R, R], (250, 1300), |c, a: A| float2(c, a, |x, y| extremum(x, y, true))).forms(&[commuted(Wasm::F32x4Max)]);
        // 4.3.3, `fpmin` and `fpmax`: the first operand unless the second is less, or greater.
        F32x4Pmin = row("f32x4_pmin", "f32x4.pmin", Arith, RACK, &[R, R], (50, 400), |c, a: A| lanes2(c, a, |x, y| bits::pick(y, x, |y, x| y < x)));
        F32x4Pmax = row("f32x4_pmax", "f32x4.pmax", Arith, RACK, &[R, R], (50, 400), |c, a: A| lanes2(c, a, |x, y| bits::pick(y, x, |y, x| x < y)));
        F32x4Ceil = row("f32x4_ceil", "f32x4.ceil", Arith, RACK, &[R], (100, 800), |c, a: A| float1(c, a, f32::ceil));
        F32x4Floor = row("f32x4_floor", "f32x4.floor", Arith, RACK, &[R], (100, 800), |c, a: A| float1(c, a, f32::floor));
        F32x4Trunc = row("f32x4_trunc", "f32x4.trunc", Arith, RACK, &[R], (100, 800), |c, a: A| float1(c, a, f32::trunc));
        F32x4Nearest = row("f32x4_nearest", "f32x4.nearest", Arith, RACK, &[R], (100, 800), |c, a: A| float1(c, a, f32::round_ties_even));
        F32x4Eq = row("f32x4_eq", "f32x4.eq", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x == y)).forms(&[commuted(Wasm::F32x4Eq)]);
        F32x4Ne = row("f32x4_ne", "f32x4.ne", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x != y)).forms(&[commuted(Wasm::F32x4Ne)]);
        F32x4Lt = row("f32x4_lt", "f32x4.lt", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x < y)).forms(&[commuted(Wasm::F32x4Gt)]);
        F32x4Gt = row("f32x4_gt", "f32x4.gt", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x > y)).forms(&[commuted(Wasm::F32x4Lt)]);
        F32x4Le = row("f32x4_le", "f32x4.le", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x <= y)).forms(&[commuted(Wasm::F32x4Ge)]);
        F32x4Ge = row("f32x4_ge", "f32x4.ge", Compare, RACK, &[R, R], (50, 400), |c, a: A| float_test(c, a, |x, y| x >= y)).forms(&[commuted(Wasm::F32x4Le)]);
        F32x4FromSigned = row("f32x4_convert_i32x4_s", "f32x4.convert_i32x4_s", Arith, RACK, &[R], (50, 400), |c, a: A| lanes1(c, a, convert::from_signed));
        F32x4FromUnsigned = row("f32x4_convert_i32x4_u", "f32x4.convert_i32x4_u", Arith, RACK, &[R], (300, 1300), |c, a: A| lanes1(c, a, convert::from_unsigned));

        // Integers.
        I32x4Add = row("i32x4_add", "i32x4.add", Arith, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, u32::wrapping_add)).forms(&[commuted(Wasm::I32x4Add)]);
        I32x4Sub = row("i32x4_sub", "i32x4.sub", Arith, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, u32::wrapping_sub));
        I32x4Mul = row("i32x4_mul", "i32x4.mul", Arith, RACK, &[R, R], (100, 1000), |c, a: A| lanes2(c, a, u32::wrapping_mul)).forms(&[commuted(Wasm::I32x4Mul)]);
        I32x4Neg = row("i32x4_neg", "i32x4.neg", Arith, RACK, &[R], (33, 100), |c, a: A| lanes1(c, a, u32::wrapping_neg));
        I32x4Abs = row("i32x4_abs", "i32x4.abs", Arith, RACK, &[R], (50, 100), |c, a: A| lanes1(c, a, |x| (x as i32).unsigned_abs()));
        I32x4MinS = row("i32x4_min_s", "i32x4.min_s", Arith, RACK, &[R, R], (50, 100), |c, a: A| lanes2(c, a, |x, y| (x as i32).min(y as i32) as u32)).forms(&[commuted(Wasm::I32x4MinS)]);
        I32x4MinU = row("i32x4_min_u", "i32x4.min_u", Arith, RACK, &[R, R], (50, 100), |c, a: A| lanes2(c, a, u32::min)).forms(&[commuted(Wasm::I32x4MinU)]);
        I32x4MaxS = row("i32x4_max_s", "i32x4.max_s", Arith, RACK, &[R, R], (50, 100), |c, a: A| lanes2(c, a, |x, y| (x as i32).max(y as i32) as u32)).forms(&[commuted(Wasm::I32x4MaxS)]);
        I32x4MaxU = row("i32x4_max_u", "i32x4.max_u", Arith, RACK, &[R, R], (50, 100), |c, a: A| lanes2(c, a, u32::max)).forms(&[commuted(Wasm::I32x4MaxU)]);
        I32x4Eq = row("i32x4_eq", "i32x4.eq", Compare, RACK, &[R, R], (50, 100), |c, a: A| test(c, a, |x, y| x == y)).forms(&[commuted(Wasm::I32x4Eq)]);
        I32x4Ne = row("i32x4_ne", "i32x4.ne", Compare, RACK, &[R, R], (83, 200), |c, a: A| test(c, a, |x, y| x != y)).forms(&[commuted(Wasm::I32x4Ne)]);
        I32x4LtS = row("i32x4_lt_s", "i32x4.lt_s", Compare, RACK, &[R, R], (50, 100), |c, a: A| signed_test(c, a, |x, y| x < y)).forms(&[commuted(Wasm::I32x4GtS)]);
        I32x4LtU = row("i32x4_lt_u", "i32x4.lt_u", Compare, RACK, &[R, R], (133, 300), |c, a: A| test(c, a, |x, y| x < y)).forms(&[commuted(Wasm::I32x4GtU)]);
        I32x4GtS = row("i32x4_gt_s", "i32x4.gt_s", Compare, RACK, &[R, R], (50, 100), |c, a: A| signed_test(c, a, |x, y| x > y)).forms(&[commuted(Wasm::I32x4LtS)]);
        I32x4GtU = row("i32x4_gt_u", "i32x4.gt_u", Compare, RACK, &[R, R], (133, 300), |c, a: A| test(c, a, |x, y| x > y)).forms(&[commuted(Wasm::I32x4LtU)]);
        I32x4LeS = row("i32x4_le_s", "i32x4.le_s", Compare, RACK, &[R, R], (100, 200), |c, a: A| signed_test(c, a, |x, y| x <= y)).forms(&[commuted(Wasm::I32x4GeS)]);
        I32x4LeU = row("i32x4_le_u", "i32x4.le_u", Compare, RACK, &[R, R], (100, 200), |c, a: A| test(c, a, |x, y| x <= y)).forms(&[commuted(Wasm::I32x4GeU)]);
        I32x4GeS = row("i32x4_ge_s", "i32x4.ge_s", Compare, RACK, &[R, R], (100, 200), |c, a: A| signed_test(c, a, |x, y| x >= y)).forms(&[commuted(Wasm::I32x4LeS)]);
        I32x4GeU = row("i32x4_ge_u", "i32x4.ge_u", Compare, RACK, &[R, R], (100, 200), |c, a: A| test(c, a, |x, y| x >= y)).forms(&[commuted(Wasm::I32x4LeU)]);
        I32x4Shl = row("i32x4_shl", "i32x4.shl", Logic, RACK, &[R, I], (50, 100), |c, a: A| shift(c, a, |x, n| x << n));
        I32x4ShrS = row("i32x4_shr_s", "i32x4.shr_s", Logic, RACK, &[R, I], (50, 100), |c, a: A| shift(c, a, |x, n| (x as i32 >> n) as u32));
        I32x4ShrU = row("i32x4_shr_u", "i32x4.shr_u", Logic, RACK, &[R, I], (50, 100), |c, a: A| shift(c, a, |x, n| x >> n));
        I64x2Shl = row("i64x2_shl", "i64x2.shl", Logic, RACK, &[R, I], (50, 100), |c, a: A| bits::map64(c, &a[0], &a[0], |x, _| x << (a[1][0] % 64)));
        I64x2ShrU = row("i64x2_shr_u", "i64x2.shr_u", Logic, RACK, &[R, I], (50, 100), |c, a: A| bits::map64(c, &a[0], &a[0], |x, _| x >> (a[1][0] % 64)));
        I32x4TruncS = row("i32x4_trunc_sat_f32x4_s", "i32x4.trunc_sat_f32x4_s", Arith, RACK, &[R], (200, 1000), |c, a: A| lanes1(c, a, to_signed));
        I32x4TruncU = row("i32x4_trunc_sat_f32x4_u", "i32x4.trunc_sat_f32x4_u", Arith, RACK, &[R], (350, 1600), |c, a: A| lanes1(c, a, to_unsigned));
        I32x4Dot = row("i32x4_dot_i16x8_s", "i32x4.dot_i16x8_s", Arith, RACK, &[R, R], (50, 500), |c, a: A| convert::multiply_pairs(c, &a[0], &a[1])).forms(&[commuted(Wasm::I32x4Dot)]);
        I16x8Narrow = row("i16x8_narrow_i32x4_s", "i16x8.narrow_i32x4_s", Cross, RACK, &[R, R], (100, 100), |c, a: A| convert::pack_words(c, &a[0], &a[1]));
        I16x8ExtendLow = row("i16x8_extend_low_i8x16_u", "i16x8.extend_low_i8x16_u", Cross, RACK, &[R], (100, 100), |_, a: A| widen(a, 0));
        I16x8ExtendHigh = row("i16x8_extend_high_i8x16_u", "i16x8.extend_high_i8x16_u", Cross, RACK, &[R], (100, 100), |_, a: A| widen(a, 8));

        // Bytes, which number lanes.
        I8x16Splat = row("i8x16_splat", "i8x16.splat", Cross, RACK, &[I], (100, 300), |_, a: A| of_bytes(|_| a[0][0] as u8));
        I8x16Popcnt = row("i8x16_popcnt", "i8x16.popcnt", Arith, RACK, &[R], (250, 500), |_, a: A| of_bytes(|at| bytes(&a[0])[at].count_ones() as u8));
        I8x16LeS = row("i8x16_le_s", "i8x16.le_s", Compare, RACK, &[R, R], (100, 200), |_, a: A| of_bytes(|at| if bytes(&a[0])[at] as i8 <= bytes(&a[1])[at] as i8 { 0xff } else { 0 }));
        I16x8Pairs = row("i16x8_extadd_pairwise_i8x16_s", "i16x8.extadd_pairwise_i8x16_s", Arith, RACK, &[R], (50, 500), |_, a: A| pairs(a, 1));
        I32x4Pairs = row("i32x4_extadd_pairwise_i16x8_s", "i32x4.extadd_pairwise_i16x8_s", Arith, RACK, &[R], (50, 500), |_, a: A| pairs(a, 2));

        // Bits, choices and lane moves.
        V128Not = row("v128_not", "v128.not", Logic, RACK, &[R], (33, 100), |c, a: A| lanes1(c, a, |x| !x));
        V128And = row("v128_and", "v128.and", Logic, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, |x, y| x & y)).forms(&[commuted(Wasm::V128And)]);
        V128AndNot = row("v128_andnot", "v128.andnot", Logic, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, |x, y| x & !y));
        V128Or = row("v128_or", "v128.or", Logic, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, |x, y| x | y)).forms(&[commuted(Wasm::V128Or)]);
        V128Xor = row("v128_xor", "v128.xor", Logic, RACK, &[R, R], (33, 100), |c, a: A| lanes2(c, a, |x, y| x ^ y)).forms(&[commuted(Wasm::V128Xor)]);
        V128Bitselect = row("v128_bitselect", "v128.bitselect", Choose, RACK, &[R, R, R], (100, 200), |c, a: A| bitselect(c, a));
        Select = row("select", "select", Choose, RACK, &[R, R, I], (100, 100), |_, a: A| if a[2][0] == 0 { a[1] } else { a[0] });
        I8x16Shuffle = row("i8x16_shuffle", "i8x16.shuffle", Cross, RACK, &[R, R, L], (100, 100), |_, a: A| shuffle(a));
        I8x16Swizzle = row("i8x16_swizzle", "i8x16.swizzle", Cross, RACK, &[R, R], (100, 200), |_, a: A| swizzle(a));

        // Between vectors and scalars.
        F32x4Splat = row("f32x4_splat", "f32x4.splat", Boundary, RACK, &[F], (100, 100), |c, a: A| splat(c, a));
        F32x4ExtractLane = row("f32x4_extract_lane", "f32x4.extract_lane", Boundary, FLOAT, &[R], (100, 100), |c, a: A| extract(c, a)).imm();
        F32x4ReplaceLane = row("f32x4_replace_lane", "f32x4.replace_lane", Cross, RACK, &[R, F], (100, 100), |c, a: A| replace(c, a)).imm();
        I32x4Splat = row("i32x4_splat", "i32x4.splat", Boundary, RACK, &[I], (100, 300), |c, a: A| splat(c, a));
        I32x4ExtractLane = row("i32x4_extract_lane", "i32x4.extract_lane", Boundary, WORD, &[R], (100, 300), |c, a: A| extract(c, a)).imm();
        I32x4ReplaceLane = row("i32x4_replace_lane", "i32x4.replace_lane", Cross, RACK, &[R, I], (200, 300), |c, a: A| replace(c, a)).imm();
        I64x2Splat = row("i64x2_splat", "i64x2.splat", Boundary, RACK, &[J], (100, 300), |c, a: A| bits::repeat(&bytes(&a[0])[..8], c.lanes));
        I64x2ReplaceLane = row("i64x2_replace_lane", "i64x2.replace_lane", Cross, RACK, &[R, J], (200, 300), |c, a: A| replace_long(c, a)).imm();
        V128AnyTrue = row("v128_any_true", "v128.any_true", Word, WORD, &[R], (100, 300), |c, a: A| scalar(u32::from(a[0][..c.lanes].iter().any(|&x| x != 0))));
        I32x4AllTrue = row("i32x4_all_true", "i32x4.all_true", Word, WORD, &[R], (200, 400), |c, a: A| scalar(u32::from(a[0][..c.lanes].iter().all(|&x| x != 0))));
        I32x4Bitmask = row("i32x4_bitmask", "i32x4.bitmask", Word, WORD, &[R], (100, 300), |c, a: A| scalar((0..c.lanes).fold(0, |word, lane| word | a[0][lane] >> 31 << lane)));

        // Words of masks, and `bool`s.
        I32And = row("i32_and", "i32.and", Word, WORD, &[I, I], (25, 100), |_, a: A| scalar(a[0][0] & a[1][0])).forms(&[commuted(Wasm::I32And)]);
        I32Sub = row("i32_sub", "i32.sub", Word, WORD, &[I, I], (25, 100), |_, a: A| scalar(a[0][0].wrapping_sub(a[1][0])));
        I32Shl = row("i32_shl", "i32.shl", Word, WORD, &[I, I], (50, 100), |_, a: A| scalar(a[0][0] << (a[1][0] % 32)));
        I32ShrU = row("i32_shr_u", "i32.shr_u", Word, WORD, &[I, I], (50, 100), |_, a: A| scalar(a[0][0] >> (a[1][0] % 32)));
        I32Eq = row("i32_eq", "i32.eq", Word, WORD, &[I, I], (50, 100), |_, a: A| scalar(u32::from(a[0][0] == a[1][0]))).forms(&[commuted(Wasm::I32Eq)]);
        I32Ne = row("i32_ne", "i32.ne", Word, WORD, &[I, I], (50, 100), |_, a: A| scalar(u32::from(a[0][0] != a[1][0]))).forms(&[commuted(Wasm::I32Ne)]);
        I32FromBits = row("i32_reinterpret_f32", "i32.reinterpret_f32", Boundary, WORD, &[F], (100, 100), |_, a: A| a[0]);
        F32FromBits = row("f32_reinterpret_i32", "f32.reinterpret_i32", Boundary, FLOAT, &[I], (100, 100), |_, a: A| a[0]);
        I32Eqz = row("i32_eqz", "i32.eqz", Word, WORD, &[I], (50, 100), |_, a: A| scalar(u32::from(a[0][0] == 0)));

        // Constants.
        V128Const = row("v128_const", "v128.const", Const, RACK, &[L], (50, 100), |_, a: A| a[0]);
        I32Const = row("i32_const", "i32.const", Const, WORD, &[N], (25, 100), |_, a: A| scalar(a[0][0]));
        I64Const = row("i64_const", "i64.const", Const, LONG, &[M], (25, 100), |_, a: A| bits::repeat(&bytes(&a[0])[..8], 2));
        F32Const = row("f32_const", "f32.const", Const, FLOAT, &[N], (50, 100), |_, a: A| scalar(a[0][0]));

        // Addresses, counts and indices.
        I32Add = row("i32_add", "i32.add", Word, WORD, &[I, IN], (25, 100), |_, a: A| scalar(a[0][0].wrapping_add(a[1][0]))).forms(&[commuted(Wasm::I32Add)]);
        I32Mul = row("i32_mul", "i32.mul", Word, WORD, &[I, I], (100, 300), |_, a: A| scalar(a[0][0].wrapping_mul(a[1][0]))).forms(&[commuted(Wasm::I32Mul)]);
        I32Or = row("i32_or", "i32.or", Word, WORD, &[I, I], (25, 100), |_, a: A| scalar(a[0][0] | a[1][0])).forms(&[commuted(Wasm::I32Or)]);
        I32Xor = row("i32_xor", "i32.xor", Word, WORD, &[I, I], (25, 100), |_, a: A| scalar(a[0][0] ^ a[1][0])).forms(&[commuted(Wasm::I32Xor)]);
        I32Popcnt = row("i32_popcnt", "i32.popcnt", Word, WORD, &[I], (50, 300), |_, a: A| scalar(a[0][0].count_ones()));
        I32Wrap = row("i32_wrap_i64", "i32.wrap_i64", Word, WORD, &[J], (25, 100), |_, a: A| scalar(a[0][0]));
        I64ExtendS = row("i64_extend_i32_s", "i64.extend_i32_s", Word, LONG, &[I], (25, 100), |_, a: A| bits::of_long(words::signed(&a[0])));
        I64ExtendU = row("i64_extend_i32_u", "i64.extend_i32_u", Word, LONG, &[I], (25, 100), |_, a: A| bits::of_long(a[0][0].into()));
        I64Add = long!("i64_add" "i64.add" JN (25, 100) |x, y| x.wrapping_add(y)).forms(&[commuted(Wasm::I64Add)]);
        I64Sub = long!("i64_sub" "i64.sub" JN (25, 100) |x, y| x.wrapping_sub(y));
        I64Mul = long!("i64_mul" "i64.mul" JN (100, 300) |x, y| x.wrapping_mul(y)).forms(&[commuted(Wasm::I64Mul)]);
        I64And = long!("i64_and" "i64.and" JN (25, 100) |x, y| x & y).forms(&[commuted(Wasm::I64And)]);
        I64Or = long!("i64_or" "i64.or" JN (25, 100) |x, y| x | y).forms(&[commuted(Wasm::I64Or)]);
        I64Xor = long!("i64_xor" "i64.xor" JN (25, 100) |x, y| x ^ y).forms(&[commuted(Wasm::I64Xor)]);
        I64ShrS = long!("i64_shr_s" "i64.shr_s" JN (50, 100) |x, y| (x as i64 >> (y % 64)) as u64);
        I64ShrU = long!("i64_shr_u" "i64.shr_u" JN (50, 100) |x, y| x >> (y % 64));
        I64Eq = test_long!("i64_eq" "i64.eq" |x, y| x == y);
        I64Ne = test_long!("i64_ne" "i64.ne" |x, y| x != y);
        I64LtS = test_long!("i64_lt_s" "i64.lt_s" |x, y| (x as i64) < y as i64);
        I64LeS = test_long!("i64_le_s" "i64.le_s" |x, y| x as i64 <= y as i64);
        I64GtS = test_long!("i64_gt_s" "i64.gt_s" |x, y| x as i64 > y as i64);
        I64GeS = test_long!("i64_ge_s" "i64.ge_s" |x, y| x as i64 >= y as i64);
        I64LtU = test_long!("i64_lt_u" "i64.lt_u" |x, y| x < y);
        I64LeU = test_long!("i64_le_u" "i64.le_u" |x, y| x <= y);
        I64GtU = test_long!("i64_gt_u" "i64.gt_u" |x, y| x > y);
        I64GeU = test_long!("i64_ge_u" "i64.ge_u" |x, y| x >= y);
        I32LtS = test_word!("i32_lt_s" "i32.lt_s" |x, y| (x as i32) < y as i32);
        I32LeS = test_word!("i32_le_s" "i32.le_s" |x, y| x as i32 <= y as i32);
        I32GtS = test_word!("i32_gt_s" "i32.gt_s" |x, y| x as i32 > y as i32);
        I32GeS = test_word!("i32_ge_s" "i32.ge_s" |x, y| x as i32 >= y as i32);
        I32LtU = test_word!("i32_lt_u" "i32.lt_u" |x, y| x < y);
        I32LeU = test_word!("i32_le_u" "i32.le_u" |x, y| x <= y);
        I32GtU = test_word!("i32_gt_u" "i32.gt_u" |x, y| x > y);
        I32GeU = test_word!("i32_ge_u" "i32.ge_u" |x, y| x >= y);

        // Memory.
        I32x4ExtendLowS = row("i32x4_extend_low_i16x8_s", "i32x4.extend_low_i16x8_s", Cross, RACK, &[R], (100, 100), |c, a: A| lanes_of(c, &a[0], |x| x as i16 as u32));
        I32x4ExtendLowU = row("i32x4_extend_low_i16x8_u", "i32x4.extend_low_i16x8_u", Cross, RACK, &[R], (100, 100), |c, a: A| lanes_of(c, &a[0], u32::from));
        I16x8ExtendLowS = row("i16x8_extend_low_i8x16_s", "i16x8.extend_low_i8x16_s", Cross, RACK, &[R], (100, 100), |_, a: A| {
            let from = bytes(&a[0]);
            of_bytes(|at| if at % 2 == 0 { from[at / 2] } else { (from[at / 2] as i8 >> 7) as u8 })
        });
        V128Load = load!("v128_load" "v128.load" RACK P16 |_, x| *x);
        V128Load32Splat = load!("v128_load32_splat" "v128.load32_splat" RACK P4 |c, x| splat(c, &[*x]));
        V128Load32Zero = load!("v128_load32_zero" "v128.load32_zero" RACK P4 |_, x| scalar(x[0]));
        V128Load16x4S = load!("v128_load16x4_s" "v128.load16x4_s" RACK P8 |c, x| lanes_of(c, x, |x| x as i16 as u32));
        V128Load16x4U = load!("v128_load16x4_u" "v128.load16x4_u" RACK P8 |c, x| lanes_of(c, x, u32::from));
        V128Store = row("v128_store", "v128.store", Transfer, None, &[P16, R], (100, 0), |_, a: A| a[1]).writes();
        V128Store64Lane = store_lane!("v128_store64_lane" "v128.store64_lane" P8 8);
        V128Store32Lane = store_lane!("v128_store32_lane" "v128.store32_lane" P4 4);
        V128Store16Lane = store_lane!("v128_store16_lane" "v128.store16_lane" P2 2);
        V128Store8Lane = store_lane!("v128_store8_lane" "v128.store8_lane" P1 1);
        I32Load = load!("i32_load" "i32.load" WORD P4 |_, x| scalar(x[0]));
        I32Load16S = load!("i32_load16_s" "i32.load16_s" WORD P2 |_, x| scalar(x[0] as i16 as u32));
        I32Load16U = load!("i32_load16_u" "i32.load16_u" WORD P2 |_, x| scalar(x[0]));
        I32Load8S = load!("i32_load8_s" "i32.load8_s" WORD P1 |_, x| scalar(x[0] as i8 as u32));
        I32Load8U = load!("i32_load8_u" "i32.load8_u" WORD P1 |_, x| scalar(x[0]));
        I64Load = load!("i64_load" "i64.load" LONG P8 |_, x| *x);
        I64Store = row("i64_store", "i64.store", Transfer, None, &[P8, J], (100, 0), |_, a: A| a[1]).writes();

        // What is executed next, and what is set again.
        CompareLong = row("compare_long", "compare_long", Control, None, &[J, JN], (25, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
        CompareWord = row("compare_word", "compare_word", Control, None, &[I, IN], (25, 100), |_, a: A| words::both(words::signed(&a[0]), words::signed(&a[1]))).flow(Flow::Compare);
        Loop = marker!("loop" Loop);
        Again = marker!("again" Again imm);
        If = marker!("if" If imm);
        Else = marker!("else" Else);
        End = marker!("end" End);
        TrapUnless = marker!("trap_unless" TrapUnless imm);
        CopyWord = row("copy_word", "copy_word", Move, WORD, &[I], (0, 0), |_, a: A| a[0]);
        CopyLong = row("copy_long", "copy_long", Move, LONG, &[J], (0, 0), |_, a: A| a[0]);
        CopyRack = row("copy_rack", "copy_rack", Move, RACK, &[R], (0, 0), |_, a: A| a[0]);

        // The engine may round once or twice, and choose among the operands beside NaNs and for zeros.
        F32x4RelaxedMadd = relaxed("f32x4_relaxed_madd", "f32x4.relaxed_madd", &[R, R, R], (50, 400), |c, a: A| float2(c, &[float2(c, a, |x, y| x * y), a[2]], |x, y| x + y));
        F32x4RelaxedNmadd = relaxed("f32x4_relaxed_nmadd", "f32x4.relaxed_nmadd", &[R, R, R], (50, 400), |c, a: A| float2(c, &[a[2], float2(c, a, |x, y| x * y)], |x, y| x - y));
        F32x4RelaxedMin = relaxed("f32x4_relaxed_min", "f32x4.relaxed_min", &[R, R], (50, 400), |c, a: A| float2(c, a, |x, y| extremum(x, y, false)));
        F32x4RelaxedMax = relaxed("f32x4_relaxed_max", "f32x4.relaxed_max", &[R, R], (50, 400), |c, a: A| float2(c, a, |x, y| extremum(x, y, true)));
    }
}

/// What `op` makes of what `maker` made, in terms of `maker`'s operand: any lane of a scalar in every lane is the scalar.
pub const fn shortcut(op: Wasm, maker: Wasm) -> Option<Shortcut> {
    match (op, maker) {
        (Wasm::F32x4ExtractLane, Wasm::F32x4Splat) | (Wasm::I32x4ExtractLane, Wasm::I32x4Splat) => Some(Shortcut::Same),
        (Wasm::F32x4ExtractLane, Wasm::I32x4Splat) => Some(Shortcut::By(MachOp::Wasm(Wasm::F32FromBits))),
        (Wasm::I32x4ExtractLane, Wasm::F32x4Splat) => Some(Shortcut::By(MachOp::Wasm(Wasm::I32FromBits))),
        _ => None,
    }
}

/// The constant and the operation that put these bits into every lane in the fewest bytes. An `i32.const` takes one byte
/// for each seven bits, an `f32.const` four for all.
const fn spread(word: u32) -> (MachOp, MachOp) {
    let short = 1 << 27;
    if (word as i32) < short && (word as i32) >= -short {
        (MachOp::Wasm(Wasm::I32Const), MachOp::Wasm(Wasm::I32x4Splat))
    } else {
        (MachOp::Wasm(Wasm::F32Const), MachOp::Wasm(Wasm::F32x4Splat))
    }
}

/// What constants need.
pub const IDIOMS: Idioms = Idioms {
    load: MachOp::Wasm(Wasm::V128Const),
    constant: |_| None,
    spread: Some(spread),
    masks: None,
    registers: None,
    control: Some(CONTROL),
};

const CONTROL: ControlIdioms = ControlIdioms {
    open_loop: MachOp::Wasm(Wasm::Loop),
    again: MachOp::Wasm(Wasm::Again),
    open_if: MachOp::Wasm(Wasm::If),
    otherwise: MachOp::Wasm(Wasm::Else),
    end: MachOp::Wasm(Wasm::End),
    trap_unless: MachOp::Wasm(Wasm::TrapUnless),
    compare_long: Some(MachOp::Wasm(Wasm::CompareLong)),
    compare_word: Some(MachOp::Wasm(Wasm::CompareWord)),
    copy_word: MachOp::Wasm(Wasm::CopyWord),
    copy_long: Some(MachOp::Wasm(Wasm::CopyLong)),
    copy_rack: MachOp::Wasm(Wasm::CopyRack),
    load_rack: None,
    reaches: |disp, _| disp >= 0,
    indexed_element: false,
    words: None,
};

impl Wasm {
    /// Whether a module has it as an instruction: what selection writes of control and of values that are set again has
    /// none of its own.
    pub const fn is_instruction(self) -> bool {
        !matches!(self.info().kind, Control | Move)
    }

    /// The test of two operands of a comparison, of 64 bits or of 32, for a condition.
    pub const fn test(long: bool, cond: Cond) -> Wasm {
        match (cond, long) {
            (Cond::Equal, true) => Wasm::I64Eq,
            (Cond::NotEqual, true) => Wasm::I64Ne,
            (Cond::Less, true) => Wasm::I64LtS,
            (Cond::LessEqual, true) => Wasm::I64LeS,
            (Cond::Greater, true) => Wasm::I64GtS,
            (Cond::GreaterEqual, true) => Wasm::I64GeS,
            (Cond::Below, true) => Wasm::I64LtU,
            (Cond::BelowEqual, true) => Wasm::I64LeU,
            (Cond::Above, true) => Wasm::I64GtU,
            (Cond::AboveEqual, true) => Wasm::I64GeU,
            (Cond::Equal, false) => Wasm::I32Eq,
            (Cond::NotEqual, false) => Wasm::I32Ne,
            (Cond::Less, false) => Wasm::I32LtS,
            (Cond::LessEqual, false) => Wasm::I32LeS,
            (Cond::Greater, false) => Wasm::I32GtS,
            (Cond::GreaterEqual, false) => Wasm::I32GeS,
            (Cond::Below, false) => Wasm::I32LtU,
            (Cond::BelowEqual, false) => Wasm::I32LeU,
            (Cond::Above, false) => Wasm::I32GtU,
            (Cond::AboveEqual, false) => Wasm::I32GeU,
        }
    }
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

    fn floats(lanes: [f32; 4]) -> Bits {
        four(lanes.map(f32::to_bits))
    }

    fn eval(op: Wasm, imm: u8, args: &[Bits]) -> Bits {
        (op.info().eval)(Ctx { imm, ..FOUR }, args)
    }

    /// Section 4.3.3 of the specification, lane by lane.
    #[test]
    fn extrema_follow_the_specification() {
        let (a, b) = (floats([0.0, -0.0, 1.0, f32::NAN]), floats([-0.0, 0.0, f32::NAN, 2.0]));
        let (min, max) = (eval(Wasm::F32x4Min, 0, &[a, b]), eval(Wasm::F32x4Max, 0, &[a, b]));
        assert_eq!(min[..2], [0x8000_0000; 2]);
        assert_eq!(max[..2], [0; 2]);
        assert!([min[2], min[3], max[2], max[3]].iter().all(|&x| f32::from_bits(x).is_nan()));
        // The first operand unless the second is less (greater): zeros and NaNs leave it.
        assert_eq!(eval(Wasm::F32x4Pmin, 0, &[a, b]), a);
        assert_eq!(eval(Wasm::F32x4Pmax, 0, &[a, b]), a);
        let (a, b) = (floats([1.0, 2.0, -1.0, 5.0]), floats([2.0, 1.0, -2.0, 5.0]));
        assert_eq!(eval(Wasm::F32x4Pmin, 0, &[a, b]), floats([1.0, 1.0, -2.0, 5.0]));
        assert_eq!(eval(Wasm::F32x4Pmax, 0, &[a, b]), floats([2.0, 2.0, -1.0, 5.0]));
    }

    #[test]
    fn conversions_saturate() {
        let x = floats([2_147_483_648.0, -3.7, f32::NAN, -1e30]);
        assert_eq!(eval(Wasm::I32x4TruncS, 0, &[x]), four([0x7fff_ffff, -3i32 as u32, 0, 0x8000_0000]));
        assert_eq!(eval(Wasm::I32x4TruncU, 0, &[x]), four([0x8000_0000, 0, 0, 0]));
    }

    #[test]
    fn bytes_are_picked_by_number() {
        let (a, b) = (of_bytes(|at| at as u8), of_bytes(|at| 16 + at as u8));
        let picks = of_bytes(|at| [0, 31, 15, 16][at % 4]);
        assert_eq!(eval(Wasm::I8x16Shuffle, 0, &[a, b, picks]), picks);
        assert_eq!(eval(Wasm::I8x16Swizzle, 0, &[b, picks]), of_bytes(|at| [16, 0, 31, 0][at % 4]));
        assert_eq!(eval(Wasm::I16x8ExtendHigh, 0, &[a])[0], 0x0009_0008);
        assert_eq!(eval(Wasm::I16x8ExtendLow, 0, &[b])[3], 0x0017_0016);
    }

    #[test]
    fn scalars_come_and_go() {
        let x = four([1, 2, 0x8000_0003, 0]);
        assert_eq!(eval(Wasm::I32x4Bitmask, 0, &[x]), scalar(4));
        assert_eq!((eval(Wasm::I32x4AllTrue, 0, &[x])[0], eval(Wasm::V128AnyTrue, 0, &[x])[0]), (0, 1));
        assert_eq!(eval(Wasm::I32x4ExtractLane, 2, &[x]), scalar(0x8000_0003));
        assert_eq!(eval(Wasm::I32x4ReplaceLane, 1, &[x, scalar(9)]), four([1, 9, 0x8000_0003, 0]));
        assert_eq!(eval(Wasm::I32x4Splat, 0, &[scalar(7)]), four([7; 4]));
        assert_eq!(eval(Wasm::I32x4Shl, 0, &[x, scalar(33)]), four([2, 4, 6, 0]));
        let (all, none) = (four([u32::MAX; 4]), ZERO);
        assert_eq!(eval(Wasm::V128Bitselect, 0, &[x, none, all]), x);
        assert_eq!(eval(Wasm::V128AndNot, 0, &[x, all]), none);
    }

    #[test]
    fn mnemonics_are_the_names_with_a_dot() {
        for op in ALL.iter().filter(|op| op.is_instruction()) {
            let row = op.info();
            let dotted = row.name.replacen('_', ".", 1);
            assert_eq!(row.mnemonics[1], Some(dotted.as_str()));
            assert!(row.mnemonics[0].is_none() == row.name.contains("relaxed"));
        }
    }
}
