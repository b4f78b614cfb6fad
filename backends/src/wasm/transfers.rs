//! What moves racks between locals and memory, and what computes words, in the selection table.
//!
//! ```text
//! load u8 into u32s      v128.load32_zero, i16x8.extend_low_i8x16_u, i32x4.extend_low_i16x8_u
//! ```
//!
//! WebAssembly has no masked transfers: a partial rack goes element by element.

use crate::steps::{A, B, S0, S1, S2, S3, S4, ZERO, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::wasm::Wasm;
use rake_ir::ops::Op;
use rake_ir::types::{Elem, ElemClass};
use rake_passes::select::rule::{Key, Rule, Src, WordKey};

const PLACE: Src = Src::Place;
/// The lane numbers.
const LANES: Src = Src::Lanes(&[0, 1, 2, 3]);
/// The bytes of `i32.const`s and of an `i64.const`.
const ONE: Src = Src::Literal(&[1, 0, 0, 0]);
const TWO: Src = Src::Literal(&[2, 0, 0, 0]);
const THREE: Src = Src::Literal(&[3, 0, 0, 0]);
const SIGN: Src = Src::Literal(&[63, 0, 0, 0, 0, 0, 0, 0]);
/// The first bytes, and the first pairs of bytes, of four lanes to the front.
const BYTES_TO_FRONT: Src = Src::Literal(&[0, 4, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16]);
const HALVES_TO_FRONT: Src = Src::Literal(&[0, 1, 4, 5, 8, 9, 12, 13, 16, 16, 16, 16, 16, 16, 16, 16]);
/// Bytes moved away from the front, zeros of the other vector entering; and toward it.
const UP_1: Src = Src::Literal(&[16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
const UP_2: Src = Src::Literal(&[16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
const UP_4: Src = Src::Literal(&[16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
const DOWN_1: Src = Src::Literal(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const DOWN_2: Src = Src::Literal(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16]);
const DOWN_4: Src = Src::Literal(&[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16]);

macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![Wasm; $($steps)*]) };
}

/// The rule of a key of transfers; `None` of another one.
pub(super) fn rule(key: Key, elem: Elem) -> Option<Rule> {
    let none = Rule::Unsupported("it has no such transfer");
    if let Key::Locate(elem) = key {
        return Some(locate(elem));
    }
    if elem.bits() != 32 && !matches!(key, Key::Op(_) | Key::SomeLane) {
        return match key {
            Key::Load(_) | Key::Store(_) => Some(none),
            _ => None,
        };
    }
    Some(match key {
        Key::Load(memory) => load(memory),
        Key::LoadSplat(memory) if memory.bits() == 32 => seq![V128Load32Splat(PLACE)],
        Key::LoadFirst(memory) => match memory.bits() {
            32 => seq![V128Load32Zero(PLACE)],
            16 => seq![I32Load16U(PLACE), I32x4ReplaceLane(ZERO, S0) #0],
            8 => seq![I32Load8U(PLACE), I32x4ReplaceLane(ZERO, S0) #0],
            _ => none,
        },
        Key::MoveUp(memory) => match memory.bits() {
            32 => seq![I8x16Shuffle(A, ZERO, UP_4)],
            16 => seq![I8x16Shuffle(A, ZERO, UP_2)],
            _ => seq![I8x16Shuffle(A, ZERO, UP_1)],
        },
        Key::MoveDown(memory) => match memory.bits() {
            32 => seq![I8x16Shuffle(A, ZERO, DOWN_4)],
            16 => seq![I8x16Shuffle(A, ZERO, DOWN_2)],
            _ => seq![I8x16Shuffle(A, ZERO, DOWN_1)],
        },
        Key::Unpack(memory) => match (memory.bits(), signed(memory)) {
            (16, false) => seq![I32x4ExtendLowU(A)],
            (16, true) => seq![I32x4ExtendLowS(A)],
            (_, false) => seq![I16x8ExtendLow(A), I32x4ExtendLowU(S0)],
            (_, true) => seq![I16x8ExtendLowS(A), I32x4ExtendLowS(S0)],
        },
        Key::Pack(memory) => match memory.bits() {
            16 => seq![I8x16Shuffle(A, ZERO, HALVES_TO_FRONT)],
            8 => seq![I8x16Shuffle(A, ZERO, BYTES_TO_FRONT)],
            _ => none,
        },
        Key::Store(memory) => match memory.bits() {
            32 => seq![V128Store(PLACE, A)],
            16 => seq![I8x16Shuffle(A, ZERO, HALVES_TO_FRONT), V128Store64Lane(PLACE, S0) #0],
            8 => seq![I8x16Shuffle(A, ZERO, BYTES_TO_FRONT), V128Store32Lane(PLACE, S0) #0],
            _ => none,
        },
        Key::StoreFirst(memory) => match memory.bits() {
            32 => seq![V128Store32Lane(PLACE, A) #0],
            16 => seq![V128Store16Lane(PLACE, A) #0],
            _ => seq![V128Store8Lane(PLACE, A) #0],
        },
        Key::IndexLane(lane) => match lane {
            0 => seq![I32x4ExtractLane(A) #0, I64ExtendS(S0)],
            1 => seq![I32x4ExtractLane(A) #1, I64ExtendS(S0)],
            2 => seq![I32x4ExtractLane(A) #2, I64ExtendS(S0)],
            3 => seq![I32x4ExtractLane(A) #3, I64ExtendS(S0)],
            _ => none,
        },
        // A difference of two words may need more than 32 bits; what is negative stays so.
        Key::Op(Op::InRange) => {
            seq![I64Const(SIGN), I64ShrS(A, S0), I64Or(S1, A), I32Wrap(S2), I32x4Splat(S3), I32x4GtS(S4, LANES)]
        }
        Key::SomeLane => seq![V128AnyTrue(A)],
        Key::Op(Op::CountTrue) => seq![I32x4Bitmask(A), I32Popcnt(S0), I64ExtendU(S1)],
        _ => return None,
    })
}

/// The address of an element by its index.
fn locate(elem: Elem) -> Rule {
    match elem.bits() {
        8 => seq![I32Wrap(B), I32Add(A, S0)],
        16 => seq![I32Wrap(B), I32Const(ONE), I32Shl(S0, S1), I32Add(A, S2)],
        32 => seq![I32Wrap(B), I32Const(TWO), I32Shl(S0, S1), I32Add(A, S2)],
        _ => seq![I32Wrap(B), I32Const(THREE), I32Shl(S0, S1), I32Add(A, S2)],
    }
}

fn signed(elem: Elem) -> bool {
    elem.class() == ElemClass::Signed
}

fn load(memory: Elem) -> Rule {
    match (memory.bits(), signed(memory)) {
        (32, _) => seq![V128Load(PLACE)],
        (16, false) => seq![V128Load16x4U(PLACE)],
        (16, true) => seq![V128Load16x4S(PLACE)],
        (8, false) => seq![V128Load32Zero(PLACE), I16x8ExtendLow(S0), I32x4ExtendLowU(S1)],
        (8, true) => seq![V128Load32Zero(PLACE), I16x8ExtendLowS(S0), I32x4ExtendLowS(S1)],
        _ => Rule::Unsupported("it has no such transfer"),
    }
}

/// The row that computes a word.
pub(super) fn word(key: WordKey) -> Option<MachOp> {
    Some(MachOp::Wasm(match key {
        WordKey::Op(op, elem) => match (op, elem.bits() == 64) {
            (Op::Add, true) => Wasm::I64Add,
            (Op::Sub, true) => Wasm::I64Sub,
            (Op::Mul, true) => Wasm::I64Mul,
            (Op::BitAnd, true) => Wasm::I64And,
            (Op::BitOr, true) => Wasm::I64Or,
            (Op::BitXor, true) => Wasm::I64Xor,
            (Op::ShiftBitsRight, true) => Wasm::I64ShrU,
            (Op::Add, false) => Wasm::I32Add,
            (Op::Sub, false) => Wasm::I32Sub,
            (Op::Mul, false) => Wasm::I32Mul,
            (Op::BitAnd, false) => Wasm::I32And,
            (Op::BitOr, false) => Wasm::I32Or,
            (Op::BitXor, false) => Wasm::I32Xor,
            _ => return None,
        },
        WordKey::Extend(elem) if signed(elem) => Wasm::I64ExtendS,
        WordKey::Extend(_) => Wasm::I64ExtendU,
        WordKey::Load(elem) => match (elem.bits(), signed(elem)) {
            (64, _) => Wasm::I64Load,
            (32, _) => Wasm::I32Load,
            (16, true) => Wasm::I32Load16S,
            (16, false) => Wasm::I32Load16U,
            (8, true) => Wasm::I32Load8S,
            _ => Wasm::I32Load8U,
        },
        WordKey::LoadIndex(_) => return None,
        WordKey::StoreLong => Wasm::I64Store,
        WordKey::Constant(elem) if elem.bits() == 64 => Wasm::I64Const,
        WordKey::Constant(_) => Wasm::I32Const,
        WordKey::Zero => return None,
    }))
}
