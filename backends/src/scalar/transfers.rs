//! What moves elements between values and memory, and what computes integers of 64 bits, in the selection table.
//!
//! ```text
//! load i32s, where %6                  load_u32_where %6, [%1 + %2]
//! ```

use crate::steps::{A, B, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::scalar::Scalar;
use rake_ir::ops::Op;
use rake_ir::types::{Elem, ElemClass};
use rake_passes::select::rule::{Key, Rule, Src, WordKey};

const PLACE: Src = Src::Place;

macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![Scalar; $($steps)*]) };
}

/// The rule of a key of transfers; `None` of another one.
pub(super) fn rule(key: Key, elem: Elem) -> Option<Rule> {
    let none = Rule::Unsupported("it has no such transfer");
    if elem.bits() > 32 {
        return None;
    }
    Some(match key {
        Key::Load(memory) | Key::LoadSplat(memory) => match (memory, memory.bits()) {
            (Elem::F32, _) => seq![LoadF32(PLACE)],
            (Elem::I8, _) => seq![LoadI8(PLACE)],
            (Elem::I16, _) => seq![LoadI16(PLACE)],
            (_, 32) => seq![LoadU32(PLACE)],
            (_, 16) => seq![LoadU16(PLACE)],
            (_, 8) => seq![LoadU8(PLACE)],
            _ => none,
        },
        Key::LoadWhere(memory) => match (memory, memory.bits()) {
            (Elem::F32, _) => seq![LoadF32Where(A, PLACE)],
            (_, 32) => seq![LoadU32Where(A, PLACE)],
            _ => none,
        },
        Key::Store(memory) => match (memory, memory.bits()) {
            (Elem::F32, _) => seq![StoreF32(PLACE, A)],
            (_, 32) => seq![StoreU32(PLACE, A)],
            (_, 16) => seq![StoreU16(PLACE, A)],
            (_, 8) => seq![StoreU8(PLACE, A)],
            _ => none,
        },
        Key::StoreWhere(memory) => match (memory, memory.bits()) {
            (Elem::F32, _) => seq![StoreF32Where(A, PLACE, B)],
            (_, 32) => seq![StoreU32Where(A, PLACE, B)],
            (_, 16) => seq![StoreU16Where(A, PLACE, B)],
            (_, 8) => seq![StoreU8Where(A, PLACE, B)],
            _ => none,
        },
        Key::Gather(Elem::F32) => seq![GatherF32(PLACE)],
        Key::Gather(memory) if memory.bits() == 32 => seq![GatherU32(PLACE)],
        Key::GatherWhere(Elem::F32) => seq![GatherF32Where(A, PLACE)],
        Key::GatherWhere(memory) if memory.bits() == 32 => seq![GatherU32Where(A, PLACE)],
        Key::Op(Op::InRange) => seq![InRange(A)],
        Key::Op(Op::CountTrue) => seq![CountTrue(A)],
        _ => return None,
    })
}

/// The row that computes an integer.
pub(super) fn word(key: WordKey) -> Option<MachOp> {
    Some(MachOp::Scalar(match key {
        WordKey::Op(Op::Add, _) => Scalar::AddLong,
        WordKey::Op(Op::Sub, _) => Scalar::SubLong,
        WordKey::Op(Op::Mul, _) => Scalar::MulLong,
        WordKey::Op(Op::BitAnd, _) => Scalar::AndLong,
        WordKey::Op(Op::BitOr, _) => Scalar::OrLong,
        WordKey::Op(Op::BitXor, _) => Scalar::XorLong,
        WordKey::Op(Op::ShiftBitsRight, elem) if elem.bits() == 64 => Scalar::ShrLong,
        WordKey::Extend(elem) if elem.class() == ElemClass::Signed => Scalar::SignExtend,
        WordKey::Extend(_) => Scalar::ZeroExtend,
        WordKey::Load(elem) => match elem.bits() {
            64 => Scalar::LoadLong,
            32 => Scalar::LoadWord,
            _ => return None,
        },
        WordKey::LoadIndex(_) => return None,
        WordKey::StoreLong => Scalar::StoreLong,
        WordKey::Constant(_) => Scalar::LongConst,
        WordKey::Zero | WordKey::Op(..) => return None,
    }))
}
