//! The scalar selection table: operation and element to machine operations.
//!
//! It is written with the names of [`crate::steps`].
//! A rack has one lane, so what moves, folds or scans lanes costs nothing, or is a constant.

use super::transfers;
use crate::steps::{A, B, C, MAGNITUDE, NAN, ONE, S0, S1, SIGN, ZERO, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::scalar::Scalar;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::select::rule::{Instance, Key, PlannedSrc, PlannedStep, Rule, Target, WordKey};
use smallvec::smallvec;

/// The selection table.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScalarTarget;

impl Target for ScalarTarget {
    fn rule(&self, key: Key, elem: Elem, _: Profile) -> Rule {
        if let Some(rule) = transfers::rule(key, elem) {
            return rule;
        }
        match (key, elem) {
            (Key::Op(Op::Dot | Op::Narrow | Op::WidenLow | Op::WidenHigh), _) => NO_PAIRS,
            (Key::Op(Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast), _) if elem.bits() <= 32 => Rule::Free(0),
            (Key::Op(Op::Const), _) if elem.bits() <= 32 => seq![Const32()],
            (_, Elem::F32) => float(key),
            (_, Elem::I32 | Elem::U32) => integer(key, elem == Elem::I32),
            (_, Elem::Bool) => truth(key),
            _ => Rule::Unsupported("only 32-bit elements are available yet"),
        }
    }

    fn word(&self, key: WordKey, _: Profile) -> Option<MachOp> {
        transfers::word(key)
    }
}

/// A rule of these steps, as [`steps`] has them.
macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![Scalar; $($steps)*]) };
}
use seq;

const NO_SUCH: Rule = Rule::Unsupported("no such operation on this element");
const NO_PAIRS: Rule = Rule::Unsupported("a rack of one element has no pairs of lanes");
const NO_FMA: Rule = Rule::Unsupported("scalar has no fused multiply-add; write `a * b + c`, which rounds twice");

fn float(key: Key) -> Rule {
    match key {
        Key::Op(op) => float_op(op),
        Key::Not(Op::Eq) => seq![NotEqF32(A, B)],
        Key::Not(Op::Ne) => seq![NotNeF32(A, B)],
        Key::Not(Op::Lt) => seq![NotLtF32(A, B)],
        Key::Not(Op::Le) => seq![NotLeF32(A, B)],
        Key::Not(Op::Gt) => seq![NotGtF32(A, B)],
        Key::Not(Op::Ge) => seq![NotGeF32(A, B)],
        Key::Smaller => seq![LesserF32(A, B)],
        Key::Larger => seq![GreaterF32(A, B)],
        Key::AboveZero => seq![MaxF32(A, ZERO)],
        Key::NumberOr => seq![NumberOrF32(A, B)],
        Key::KeepWhere => seq![SelectF32(A, B, ZERO)],
        Key::ClearWhere => seq![SelectF32(A, ZERO, B)],
        Key::EnterUniform | Key::EnterLow => seq![FloatIn(A)],
        Key::LeaveUniform => seq![FloatOut(A)],
        _ => NO_SUCH,
    }
}

fn float_op(op: Op) -> Rule {
    match op {
        Op::Add => seq![AddF32(A, B)],
        Op::Sub => seq![SubF32(A, B)],
        Op::Mul => seq![MulF32(A, B)],
        Op::Div => seq![DivF32(A, B)],
        Op::Sqrt => seq![SqrtF32(A)],
        Op::Neg => seq![Xor(A, SIGN)],
        Op::Abs => seq![And(A, MAGNITUDE)],
        Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub => NO_FMA,
        Op::Min => seq![MinF32(A, B)],
        Op::Max => seq![MaxF32(A, B)],
        Op::Floor => seq![FloorF32(A)],
        Op::Ceil => seq![CeilF32(A)],
        Op::Trunc => seq![TruncF32(A)],
        Op::Nearest => seq![NearestF32(A)],
        Op::ToI32 => seq![I32FromF32(A)],
        Op::ToU32 => seq![U32FromF32(A)],
        Op::Eq => seq![EqF32(A, B)],
        Op::Ne => seq![NeF32(A, B)],
        Op::Lt => seq![LtF32(A, B)],
        Op::Le => seq![LeF32(A, B)],
        Op::Gt => seq![GtF32(A, B)],
        Op::Ge => seq![GeF32(A, B)],
        Op::Select | Op::If | Op::Expand => seq![SelectF32(A, B, C)],
        Op::Compress => seq![SelectF32(A, B, ZERO)],
        // A NaN becomes the canonical one, as by the steps of a fold.
        Op::Minimum | Op::Maximum | Op::ScanMinimum | Op::ScanMaximum => seq![NumberOrF32(A, NAN)],
        Op::UnzipOdd => Rule::Planned(second_float),
        op => one_lane(op),
    }
}

/// What moves, folds and scans lanes, and takes one for a uniform.
fn one_lane(op: Op) -> Rule {
    match op {
        // A shuffle that reads only one of its racks has only that, and it cannot read more in one lane.
        Op::Shuffle | Op::RotateLeft | Op::RotateRight | Op::Extract => Rule::Free(0),
        Op::ZipLow | Op::ZipHigh | Op::UnzipEven => Rule::Free(0),
        Op::Insert => Rule::Free(1),
        Op::Sum | Op::Product | Op::ScanSum | Op::ScanProduct => Rule::Free(0),
        Op::ShiftLeft | Op::ShiftRight => Rule::Planned(shifted),
        _ => NO_SUCH,
    }
}

fn integer(key: Key, signed: bool) -> Rule {
    match key {
        Key::Op(op @ (Op::Lt | Op::Le | Op::Gt | Op::Ge)) => order(op, signed),
        Key::Op(Op::Min) | Key::Smaller if signed => seq![MinI32(A, B)],
        Key::Op(Op::Max) | Key::Larger if signed => seq![MaxI32(A, B)],
        Key::Op(Op::Min) | Key::Smaller => seq![MinU32(A, B)],
        Key::Op(Op::Max) | Key::Larger => seq![MaxU32(A, B)],
        Key::Op(Op::Neg | Op::Abs) if !signed => NO_SUCH,
        Key::Op(Op::ToF32) if signed => seq![F32FromI32(A)],
        Key::Op(Op::ToF32) => seq![F32FromU32(A)],
        Key::Op(op) => integer_op(op),
        Key::KeepWhere => seq![And(A, B)],
        Key::ClearWhere => seq![AndNot(B, A)],
        Key::ShiftBy(Op::ShiftBitsLeft) => seq![ShlBy(A, B)],
        Key::ShiftBy(Op::ShiftBitsRight) => seq![ShrBy(A, B)],
        Key::ShiftBy(Op::ShiftBitsRightSigned) => seq![SarBy(A, B)],
        Key::Ordered => seq![Sar(A) #31, Shr(S0) #1, Xor(A, S1)],
        Key::InsertWord => seq![WordIn(B)],
        Key::EnterUniform | Key::EnterLow => seq![WordIn(A)],
        Key::LeaveUniform => seq![WordOut(A)],
        _ => NO_SUCH,
    }
}

fn order(op: Op, signed: bool) -> Rule {
    match (op, signed) {
        (Op::Lt, true) => seq![LtI32(A, B)],
        (Op::Le, true) => seq![LeI32(A, B)],
        (Op::Gt, true) => seq![GtI32(A, B)],
        (Op::Ge, true) => seq![GeI32(A, B)],
        (Op::Lt, false) => seq![LtU32(A, B)],
        (Op::Le, false) => seq![LeU32(A, B)],
        (Op::Gt, false) => seq![GtU32(A, B)],
        (Op::Ge, false) => seq![GeU32(A, B)],
        _ => NO_SUCH,
    }
}

fn integer_op(op: Op) -> Rule {
    match op {
        Op::LaneIndex => seq![Const32()],
        Op::Add => seq![Add(A, B)],
        Op::Sub => seq![Sub(A, B)],
        Op::Mul => seq![Mul(A, B)],
        Op::Neg => seq![Neg(A)],
        Op::Abs => seq![AbsI32(A)],
        Op::BitAnd => seq![And(A, B)],
        Op::BitOr => seq![Or(A, B)],
        Op::BitXor => seq![Xor(A, B)],
        Op::BitAndNot => seq![AndNot(A, B)],
        Op::ShiftBitsLeft => seq![Shl(A) #n],
        Op::ShiftBitsRight => seq![Shr(A) #n],
        Op::ShiftBitsRightSigned => seq![Sar(A) #n],
        Op::Eq => seq![Eq(A, B)],
        Op::Ne => seq![Ne(A, B)],
        Op::Select | Op::If | Op::Expand => seq![Select(A, B, C)],
        Op::Compress => seq![And(A, B)],
        Op::Minimum | Op::Maximum | Op::ScanMinimum | Op::ScanMaximum => Rule::Free(0),
        Op::UnzipOdd => Rule::Planned(second),
        op => one_lane(op),
    }
}

fn truth(key: Key) -> Rule {
    match key {
        Key::Op(Op::And) => seq![And(A, B)],
        Key::Op(Op::Or) => seq![Or(A, B)],
        Key::Op(Op::Not) => seq![Not(A)],
        Key::AndNot => seq![AndNot(A, B)],
        Key::Neither => seq![Nor(A, B)],
        Key::NotBoth => seq![Nand(A, B)],
        Key::Op(Op::Select | Op::If) => seq![Select(A, B, C)],
        Key::Op(Op::Bitmask) => seq![And(A, ONE)],
        Key::Op(Op::All | Op::Any) => Rule::Free(0),
        Key::Leave(Op::Bitmask | Op::All | Op::Any) => seq![BoolOut(A)],
        // Only the lowest bit of a `bool` counts.
        Key::Leave(Op::Param) => seq![BoolWord(A)],
        Key::Leave(Op::Not) => seq![NotWord(A)],
        Key::EnterMask => seq![Sar(A) #31],
        Key::LeaveMask => Rule::Free(0),
        Key::EnterUniform | Key::EnterLow => seq![BoolIn(A)],
        Key::LeaveUniform => seq![BoolOut(A)],
        _ => NO_SUCH,
    }
}

/// Lanes moved by a literal count: by none they stay, else a zero enters.
fn shifted(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    let Imm::Int(count) = instance.imm else { return Err("a move of lanes without a count") };
    let zero = PlannedSrc::Lanes(vec![0]);
    let step = PlannedStep { op: MachOp::Scalar(Scalar::Move), args: smallvec![zero], imm: None };
    Ok(if *count == 0 { vec![] } else { vec![step] })
}

/// The second of two racks; of one and the same that one.
fn second(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    Ok(last(instance, Scalar::Move))
}

/// The same of floats.
fn second_float(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    Ok(last(instance, Scalar::MoveF32))
}

fn last(instance: &Instance, copy: Scalar) -> Vec<PlannedStep> {
    let copy = PlannedStep { op: MachOp::Scalar(copy), args: smallvec![PlannedSrc::Arg(1)], imm: None };
    if instance.operands < 2 { vec![] } else { vec![copy] }
}
