//! The WebAssembly selection table: operation and element to machine operations, the shortest in bytes.
//!
//! It is written with the names of [`crate::steps`].
//! A mask is a rack of lane masks. What costs bytes: a `v128.const` and an `i8x16.shuffle` take 18, a number in every lane
//! 4 to 7, a lane in every lane 5, instructions 1 to 3.

use super::{moves, transfers};
use crate::steps::{A, B, C, NAN, S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::wasm::Wasm;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::{Family, Profile};
use rake_ir::types::Elem;
use rake_passes::select::rule::{Instance, Key, PlannedSrc, PlannedStep, Rule, Src, Target, WordKey};

/// A rule of these steps, as [`steps`] has them.
macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![Wasm; $($steps)*]) };
}

/// Steps whose order does not matter: each lane with the next, then lane 0 with lane 2. What the others hold does not
/// matter.
macro_rules! tree {
    ($step:ident, $($rest:tt)*) => {
        seq![
            I32Const(HALF),
            I64x2ShrU(A, S0),
            $step(A, S1),
            F32x4ExtractLane(S2) #2,
            F32x4Splat(S3),
            $step(S2, S4),
            $($rest)*
        ]
    };
}

/// The same of floats; then any NaN is made the canonical one.
macro_rules! strict {
    ($step:ident, $($rest:tt)*) => {
        tree!($step, F32x4Eq(S5, S5), V128Bitselect(S5, NAN, S6), $($rest)*)
    };
}

/// Each prefix of the ordered fold in every lane of a rack, and from there put in its lane.
macro_rules! ordered {
    ($step:ident) => {
        seq![
            F32x4ExtractLane(A) #0,
            F32x4Splat(S0),
            F32x4ExtractLane(A) #1,
            F32x4Splat(S2),
            $step(S1, S3),
            F32x4ExtractLane(A) #2,
            F32x4Splat(S5),
            $step(S4, S6),
            F32x4ExtractLane(A) #3,
            F32x4Splat(S8),
            $step(S7, S9),
            F32x4ExtractLane(S4) #0,
            F32x4ReplaceLane(A, S11) #1,
            F32x4ExtractLane(S7) #0,
            F32x4ReplaceLane(S12, S13) #2,
            F32x4ExtractLane(S10) #0,
            F32x4ReplaceLane(S14, S15) #3,
        ]
    };
}

/// The selection table.
#[derive(Clone, Copy, Debug, Default)]
pub struct WasmTarget;

impl Target for WasmTarget {
    fn rule(&self, key: Key, elem: Elem, profile: Profile) -> Rule {
        if profile.info().family != Family::Wasm {
            return Rule::Unsupported("not a WebAssembly profile");
        }
        if let Some(rule) = transfers::rule(key, elem) {
            return rule;
        }
        match (key, elem) {
            (Key::IfAll, _) => seq![I32x4AllTrue(A), Select(B, C, S0)],
            (Key::IfAny, _) => seq![V128AnyTrue(A), Select(B, C, S0)],
            (Key::Leave(Op::Extract), Elem::F32 | Elem::I32 | Elem::U32) => moves::leave(elem.is_int()),
            (Key::Op(op), Elem::F32 | Elem::I32 | Elem::U32) if op.moves_lanes() => moves::rule(),
            (Key::Leave(op), _) => leave(op, elem),
            (Key::Op(op), Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16) => narrow(op),
            (_, Elem::F32) => float(key, profile == Profile::WasmSimd128Relaxed),
            (_, Elem::I32 | Elem::U32) => integer(key, elem == Elem::I32),
            (_, Elem::Bool) => truth(key),
            _ => Rule::Unsupported("only 32-bit elements are available yet"),
        }
    }

    fn word(&self, key: WordKey, _: Profile) -> Option<MachOp> {
        transfers::word(key)
    }

    fn signs_rule(&self, key: Key, _: Profile) -> Rule {
        match key {
            Key::Leave(Op::All) => seq![I32x4Bitmask(A), I32Const(FIFTEEN), I32Eq(S0, S1)],
            Key::Leave(Op::Any) => seq![I32x4Bitmask(A), I32Const(NONE), I32Ne(S0, S1)],
            Key::IfAll => seq![I32x4Bitmask(A), I32Const(FIFTEEN), I32Eq(S0, S1), Select(B, C, S2)],
            Key::IfAny => seq![I32x4Bitmask(A), Select(B, C, S0)],
            Key::Op(Op::All) => {
                seq![I32Const(NONE), I32x4Bitmask(A), I32Const(FIFTEEN), I32Eq(S1, S2), I32Sub(S0, S3), I32x4Splat(S4),]
            }
            Key::Op(Op::Any) => {
                seq![I32Const(NONE), I32x4Bitmask(A), I32Ne(S0, S1), I32Sub(S0, S2), I32x4Splat(S3)]
            }
            _ => NO_SUCH,
        }
    }

    fn reads_part(&self, key: Key, _: &Imm, _: Profile, operand: usize) -> bool {
        match key {
            Key::Leave(Op::Bitmask | Op::All | Op::Any) | Key::Op(Op::Bitmask | Op::All | Op::Any) => true,
            Key::Neither | Key::NotBoth => true,
            Key::IfAll | Key::IfAny => operand == 0,
            Key::ShiftBy(_) | Key::Op(Op::Insert) => operand == 1,
            Key::Op(Op::Compress) => operand == 0,
            _ => false,
        }
    }
}

/// The bytes of `i32.const`s.
const NONE: Src = Src::Literal(&[0; 4]);
const ONE: Src = Src::Literal(&[1, 0, 0, 0]);
const TWO: Src = Src::Literal(&[2, 0, 0, 0]);
const FIFTEEN: Src = Src::Literal(&[15, 0, 0, 0]);
const SIGN: Src = Src::Literal(&[31, 0, 0, 0]);
const HALF: Src = Src::Literal(&[32, 0, 0, 0]);
/// The bytes of `i64.const`s: 0, 1, and 1 in both halves.
const LONG_NONE: Src = Src::Literal(&[0; 8]);
const LONG_ONE: Src = Src::Literal(&[1, 0, 0, 0, 0, 0, 0, 0]);
const LONG_ONES: Src = Src::Literal(&[1, 0, 0, 0, 1, 0, 0, 0]);
/// The numbers of a lane's bytes, less those of the lanes before it.
const WITHIN: Src = Src::Lanes(&[0x0302_0100]);

const LATER: Rule = Rule::Unsupported("it is not available on WebAssembly yet");
const NO_FMA: Rule = Rule::Unsupported("WebAssembly has no fused multiply-add; write `a * b + c`, which rounds twice");
const NO_RELAXED: Rule = Rule::Unsupported("relaxed operations exist on wasm-simd128-relaxed only");
const NO_SUCH: Rule = Rule::Unsupported("no such operation on this element");

fn float(key: Key, relaxed: bool) -> Rule {
    match key {
        Key::Op(op @ (Op::RelaxedMadd | Op::RelaxedNmadd | Op::RelaxedMin | Op::RelaxedMax)) => match op {
            _ if !relaxed => NO_RELAXED,
            Op::RelaxedMadd => seq![F32x4RelaxedMadd(A, B, C)],
            Op::RelaxedNmadd => seq![F32x4RelaxedNmadd(A, B, C)],
            Op::RelaxedMin => seq![F32x4RelaxedMin(A, B)],
            _ => seq![F32x4RelaxedMax(A, B)],
        },
        Key::Op(op) => float_op(op),
        // The raw extrema give their first operand unless the second is less, or greater.
        Key::Smaller => seq![F32x4Pmin(B, A)],
        Key::Larger => seq![F32x4Pmax(B, A)],
        Key::NumberOr => seq![F32x4Eq(A, A), V128Bitselect(A, B, S0)],
        Key::KeepWhere => seq![V128And(A, B)],
        Key::ClearWhere => seq![V128AndNot(B, A)],
        Key::Not(Op::Eq) => seq![F32x4Ne(A, B)],
        Key::EnterUniform | Key::EnterLow => seq![F32x4Splat(A)],
        Key::LeaveUniform => seq![F32x4ExtractLane(A) #0],
        _ => NO_SUCH,
    }
}

fn float_op(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast => Rule::Free(0),
        Op::Const | Op::LaneIndex => seq![V128Const()],
        Op::Add => seq![F32x4Add(A, B)],
        Op::Sub => seq![F32x4Sub(A, B)],
        Op::Mul => seq![F32x4Mul(A, B)],
        Op::Div => seq![F32x4Div(A, B)],
        Op::Sqrt => seq![F32x4Sqrt(A)],
        Op::Neg => seq![F32x4Neg(A)],
        Op::Abs => seq![F32x4Abs(A)],
        Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub => NO_FMA,
        Op::Min => seq![F32x4Min(A, B)],
        Op::Max => seq![F32x4Max(A, B)],
        Op::Nearest => seq![F32x4Nearest(A)],
        Op::Floor => seq![F32x4Floor(A)],
        Op::Ceil => seq![F32x4Ceil(A)],
        Op::Trunc => seq![F32x4Trunc(A)],
        Op::ToI32 => seq![F32x4Nearest(A), I32x4TruncS(S0)],
        Op::ToU32 => seq![F32x4Nearest(A), I32x4TruncU(S0)],
        Op::Eq => seq![F32x4Eq(A, B)],
        // The machine's "not equal" holds beside a NaN; ours does not.
        Op::Ne => seq![F32x4Lt(A, B), F32x4Gt(A, B), V128Or(S0, S1)],
        Op::Lt => seq![F32x4Lt(A, B)],
        Op::Le => seq![F32x4Le(A, B)],
        Op::Gt => seq![F32x4Gt(A, B)],
        Op::Ge => seq![F32x4Ge(A, B)],
        Op::Select | Op::If => seq![V128Bitselect(B, C, A)],
        Op::Minimum => strict!(F32x4Min, F32x4ExtractLane(S7) #0, F32x4Splat(S8)),
        Op::Maximum => strict!(F32x4Max, F32x4ExtractLane(S7) #0, F32x4Splat(S8)),
        Op::ScanSum => ordered!(F32x4Add),
        Op::ScanProduct => ordered!(F32x4Mul),
        Op::Compress | Op::Expand => by_mask(op),
        _ => LATER,
    }
}

fn integer(key: Key, signed: bool) -> Rule {
    match key {
        Key::Op(Op::Min) | Key::Smaller if signed => seq![I32x4MinS(A, B)],
        Key::Op(Op::Max) | Key::Larger if signed => seq![I32x4MaxS(A, B)],
        Key::Op(Op::Min) | Key::Smaller => seq![I32x4MinU(A, B)],
        Key::Op(Op::Max) | Key::Larger => seq![I32x4MaxU(A, B)],
        Key::Op(Op::Minimum) if signed => tree!(I32x4MinS, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        Key::Op(Op::Maximum) if signed => tree!(I32x4MaxS, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        Key::Op(Op::Minimum) => tree!(I32x4MinU, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        Key::Op(Op::Maximum) => tree!(I32x4MaxU, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        Key::Op(Op::Neg | Op::Abs) if !signed => NO_SUCH,
        Key::Op(Op::ToF32) if signed => seq![F32x4FromSigned(A)],
        Key::Op(Op::ToF32) => seq![F32x4FromUnsigned(A)],
        Key::Op(op @ (Op::Lt | Op::Le | Op::Gt | Op::Ge)) => compare(op, signed),
        Key::Op(op) => integer_op(op),
        Key::InsertWord => moves::insert_word(),
        Key::KeepWhere => seq![V128And(A, B)],
        Key::ClearWhere => seq![V128AndNot(B, A)],
        Key::ShiftBy(Op::ShiftBitsLeft) => seq![I32x4ExtractLane(B) #0, I32x4Shl(A, S0)],
        Key::ShiftBy(Op::ShiftBitsRight) => seq![I32x4ExtractLane(B) #0, I32x4ShrU(A, S0)],
        Key::ShiftBy(Op::ShiftBitsRightSigned) => seq![I32x4ExtractLane(B) #0, I32x4ShrS(A, S0)],
        Key::EnterUniform | Key::EnterLow => seq![I32x4Splat(A)],
        Key::LeaveUniform => seq![I32x4ExtractLane(A) #0],
        _ => NO_SUCH,
    }
}

fn compare(op: Op, signed: bool) -> Rule {
    match (op, signed) {
        (Op::Lt, true) => seq![I32x4LtS(A, B)],
        (Op::Le, true) => seq![I32x4LeS(A, B)],
        (Op::Gt, true) => seq![I32x4GtS(A, B)],
        (Op::Ge, true) => seq![I32x4GeS(A, B)],
        (Op::Lt, false) => seq![I32x4LtU(A, B)],
        (Op::Le, false) => seq![I32x4LeU(A, B)],
        (Op::Gt, false) => seq![I32x4GtU(A, B)],
        (Op::Ge, false) => seq![I32x4GeU(A, B)],
        _ => NO_SUCH,
    }
}

fn integer_op(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast => Rule::Free(0),
        Op::Const | Op::LaneIndex => seq![V128Const()],
        Op::Add => seq![I32x4Add(A, B)],
        Op::Sub => seq![I32x4Sub(A, B)],
        Op::Mul => seq![I32x4Mul(A, B)],
        Op::Div => NO_SUCH,
        Op::Neg => seq![I32x4Neg(A)],
        Op::Abs => seq![I32x4Abs(A)],
        Op::Eq => seq![I32x4Eq(A, B)],
        Op::Ne => seq![I32x4Ne(A, B)],
        Op::BitAnd => seq![V128And(A, B)],
        Op::BitOr => seq![V128Or(A, B)],
        Op::BitXor => seq![V128Xor(A, B)],
        Op::BitAndNot => seq![V128AndNot(A, B)],
        Op::ShiftBitsLeft => Rule::Planned(|i| shifted(i, Wasm::I32x4Shl)),
        Op::ShiftBitsRight => Rule::Planned(|i| shifted(i, Wasm::I32x4ShrU)),
        Op::ShiftBitsRightSigned => Rule::Planned(|i| shifted(i, Wasm::I32x4ShrS)),
        Op::Select | Op::If => seq![V128Bitselect(B, C, A)],
        Op::Dot => seq![I32x4Dot(A, B)],
        Op::Sum => tree!(I32x4Add, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        Op::Product => tree!(I32x4Mul, F32x4ExtractLane(S5) #0, F32x4Splat(S6)),
        // Prefixes of pairs, then lane 1 over the upper half, beside what changes nothing.
        Op::ScanSum => seq![
            I32Const(HALF),
            I64x2Shl(A, S0),
            I32x4Add(A, S1),
            F32x4ExtractLane(S2) #1,
            F32x4Splat(S3),
            I64Const(LONG_NONE),
            I64x2ReplaceLane(S4, S5) #0,
            I32x4Add(S2, S6),
        ],
        Op::ScanProduct => seq![
            I32Const(HALF),
            I64x2Shl(A, S0),
            I64Const(LONG_ONE),
            I64x2Splat(S2),
            V128Or(S1, S3),
            I32x4Mul(A, S4),
            F32x4ExtractLane(S5) #1,
            F32x4Splat(S6),
            I64Const(LONG_ONES),
            I64x2ReplaceLane(S7, S8) #0,
            I32x4Mul(S5, S9),
        ],
        Op::Compress | Op::Expand => by_mask(op),
        _ => LATER,
    }
}

/// A shift by a literal count.
fn shifted(instance: &Instance, shift: Wasm) -> Result<Vec<PlannedStep>, &'static str> {
    let Imm::Int(count) = *instance.imm else { return Err("a shift without a count") };
    let args = [PlannedSrc::Arg(0), PlannedSrc::Step(0)].into_iter().collect();
    Ok(vec![scalar(Wasm::I32Const, count), PlannedStep { op: MachOp::Wasm(shift), args, imm: None }])
}

fn scalar(op: Wasm, word: u32) -> PlannedStep {
    let args = [PlannedSrc::Literal(word.to_le_bytes().to_vec())].into_iter().collect();
    PlannedStep { op: MachOp::Wasm(op), args, imm: None }
}

fn truth(key: Key) -> Rule {
    match key {
        Key::Op(Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast) => Rule::Free(0),
        Key::Op(Op::Const) => seq![V128Const()],
        Key::Op(Op::And) => seq![V128And(A, B)],
        Key::Op(Op::Or) => seq![V128Or(A, B)],
        Key::Op(Op::Not) => seq![V128Not(A)],
        Key::AndNot => seq![V128AndNot(A, B)],
        Key::Neither => seq![V128Or(A, B), I32Const(SIGN), I32x4ShrS(S0, S1), V128Not(S2)],
        Key::NotBoth => seq![V128And(A, B), I32Const(SIGN), I32x4ShrS(S0, S1), V128Not(S2)],
        Key::Op(Op::Select | Op::If) => seq![V128Bitselect(B, C, A)],
        Key::EnterMask => seq![I32Const(SIGN), I32x4ShrS(A, S0)],
        Key::LeaveMask => Rule::Free(0),
        // Only the lowest bit of a `bool` argument counts.
        Key::EnterUniform => {
            seq![I32Const(NONE), I32Const(ONE), I32And(A, S1), I32Sub(S0, S2), I32x4Splat(S3)]
        }
        Key::EnterLow => seq![I32Const(SIGN), I32Shl(A, S0), I32x4Splat(S1)],
        Key::LeaveUniform => seq![I32x4ExtractLane(A) #0, I32Const(SIGN), I32ShrU(S0, S1)],
        Key::Op(Op::Bitmask) => seq![I32x4Bitmask(A), I32x4Splat(S0)],
        Key::Op(Op::All) => seq![I32Const(NONE), I32x4AllTrue(A), I32Sub(S0, S1), I32x4Splat(S2)],
        Key::Op(Op::Any) => seq![I32Const(NONE), V128AnyTrue(A), I32Sub(S0, S1), I32x4Splat(S2)],
        Key::Op(_) => LATER,
        _ => NO_SUCH,
    }
}

/// Lanes moved by a mask. How many lanes are selected up to each, or before it, is the population count of the mask's
/// bits there.
fn by_mask(op: Op) -> Rule {
    match op {
        // A lane of the result comes from after as many lanes as have counts not above its own number: the comparison
        // gives -1 for each, pairwise additions their sum. What is out of range is zero.
        Op::Compress => seq![
            I32x4Bitmask(A),
            I8x16Splat(S0),
            V128And(S1, Src::Lanes(&[0x0f07_0301])),
            I8x16Popcnt(S2),
            I8x16LeS(S3, Src::Lanes(&[0, 0x0101_0101, 0x0202_0202, 0x0303_0303])),
            I16x8Pairs(S4),
            I32x4Pairs(S5),
            I32x4Mul(S6, Src::Lanes(&[0xfbfb_fbfc])),
            I32x4Add(S7, WITHIN),
            I8x16Swizzle(B, S8),
        ],
        // A lane comes from after as many lanes as are selected before it.
        Op::Expand => seq![
            I32x4Bitmask(A),
            I8x16Splat(S0),
            V128And(S1, Src::Lanes(&[0, 0x0101_0101, 0x0303_0303, 0x0707_0707])),
            I8x16Popcnt(S2),
            I32Const(TWO),
            I32x4Shl(S3, S4),
            V128Or(S5, WITHIN),
            I8x16Swizzle(B, S6),
            V128Bitselect(S7, C, A),
        ],
        _ => LATER,
    }
}

/// What is left to the caller without a rack that holds it.
fn leave(op: Op, elem: Elem) -> Rule {
    let word = matches!(elem, Elem::I32 | Elem::U32);
    match op {
        Op::Bitmask => seq![I32x4Bitmask(A)],
        Op::All => seq![I32x4AllTrue(A)],
        Op::Any => seq![V128AnyTrue(A)],
        Op::Param if word => Rule::Free(0),
        Op::Const if word || elem == Elem::Bool => Rule::Planned(|i| constant(i, Wasm::I32Const)),
        Op::Const if elem == Elem::F32 => Rule::Planned(|i| constant(i, Wasm::F32Const)),
        // Only the lowest bit of a `bool` argument counts.
        Op::Param if elem == Elem::Bool => seq![I32Const(ONE), I32And(A, S0)],
        Op::Not if elem == Elem::Bool => seq![I32Const(ONE), I32And(A, S0), I32Eqz(S1)],
        _ => NO_SUCH,
    }
}

fn constant(instance: &Instance, op: Wasm) -> Result<Vec<PlannedStep>, &'static str> {
    let Imm::Bits(bits) = *instance.imm else { return Err("a constant without a value") };
    Ok(vec![scalar(op, bits as u32)])
}

/// Racks of 16- and 8-bit lanes.
fn narrow(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Bitcast => Rule::Free(0),
        Op::Const => seq![V128Const()],
        Op::Narrow => seq![I16x8Narrow(A, B)],
        Op::WidenLow => seq![I16x8ExtendLow(A)],
        Op::WidenHigh => seq![I16x8ExtendHigh(A)],
        _ => LATER,
    }
}
