//! The AArch64 selection table: operation and element to machine operations.
//!
//! It is written with the names of [`crate::steps`].
//! Masks are racks of lane masks.

mod folds;

use super::{shuffle, transfers};
use crate::steps::{A, B, C, S0, S1, S2, S3, S4, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::tables::{COMPRESS_BYTES, EXPAND_BYTES};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::{Family, Profile};
use rake_ir::types::Elem;
use rake_passes::select::rule::{Instance, Key, PlannedSrc, PlannedStep, Rule, Src, Step, StepImm, Target, WordKey};

/// The selection table.
#[derive(Clone, Copy, Debug, Default)]
pub struct A64Target;

impl Target for A64Target {
    fn rule(&self, key: Key, elem: Elem, profile: Profile) -> Rule {
        if profile.info().family != Family::Aarch64 {
            return Rule::Unsupported("not an AArch64 profile");
        }
        if let Some(rule) = transfers::rule(key, elem) {
            return rule;
        }
        match (key, elem) {
            (Key::Leave(op), _) => leave(op, elem),
            (Key::Op(op), Elem::F32 | Elem::I32 | Elem::U32) if op.moves_lanes() => shuffle::RULE,
            (Key::Op(op), Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16) => narrow(op),
            (Key::Op(op), Elem::F32 | Elem::I32 | Elem::U32) if folds::is_fold(op) => folds::rule(op, elem),
            (_, Elem::F32) => float(key),
            (_, Elem::I32 | Elem::U32) => integer(key, elem == Elem::I32),
            (_, Elem::Bool) => truth(key),
            _ => Rule::Unsupported("only 32-bit elements are available yet"),
        }
    }

    fn word(&self, key: WordKey, _: Profile) -> Option<MachOp> {
        transfers::word(key)
    }

    fn reads_part(&self, key: Key, _: &Imm, _: Profile, operand: usize) -> bool {
        match key {
            Key::Leave(Op::All | Op::Any) | Key::Op(Op::Not) | Key::Neither | Key::NotBoth => true,
            Key::Op(Op::Insert) => operand == 1,
            _ => false,
        }
    }
}

/// The bit of each lane in a mask's number.
const BITS: Src = Src::Lanes(&[1, 2, 4, 8]);

/// A rule of these steps, as [`steps`] has them.
macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![A64; $($steps)*]) };
}

/// A comparison, then what it is with zero on the right, and on the left.
macro_rules! with_zero {
    ([$($both:tt)*], [$($right:tt)*], [$($left:tt)*]) => {
        Rule::Planned(|instance| match instance.zeros & 3 {
            2 => planned(steps![A64; $($right)*], instance),
            1 => planned(steps![A64; $($left)*], instance),
            _ => planned(steps![A64; $($both)*], instance),
        })
    };
}

use seq;

const LATER: Rule = Rule::Unsupported("it is not available on AArch64 yet");
const NO_SUCH: Rule = Rule::Unsupported("no such operation on this element");

/// A plan of these steps.
fn planned(steps: &[Step], instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    let count = if let Imm::Int(count) = instance.imm { *count as u8 } else { 0 };
    let args = |step: &Step| step.args.iter().map(|&src| source(src)).collect();
    let imm = |step: &Step| match step.imm {
        StepImm::None => None,
        StepImm::Fixed(imm) => Some(imm),
        StepImm::Count => Some(count),
    };
    Ok(steps.iter().map(|step| PlannedStep { op: step.op, args: args(step), imm: imm(step) }).collect())
}

fn source(src: Src) -> PlannedSrc {
    match src {
        Src::Arg(n) => PlannedSrc::Arg(n),
        Src::Step(n) => PlannedSrc::Step(n),
        Src::Lanes(lanes) => PlannedSrc::Lanes(lanes.to_vec()),
        Src::Literal(bytes) => PlannedSrc::Literal(bytes.to_vec()),
        Src::Place => PlannedSrc::Place,
        Src::Number(number) => PlannedSrc::Number(number),
    }
}

fn float(key: Key) -> Rule {
    match key {
        Key::Op(op) => float_op(op),
        Key::KeepWhere => seq![And(A, B)],
        Key::ClearWhere => seq![Bic(B, A)],
        Key::Not(Op::Eq) => seq![Fcmeq(A, B), Mvn(S0)],
        Key::Not(Op::Lt) => seq![Fcmgt(B, A), Mvn(S0)],
        Key::Not(Op::Le) => seq![Fcmge(B, A), Mvn(S0)],
        Key::Not(Op::Gt) => seq![Fcmgt(A, B), Mvn(S0)],
        Key::Not(Op::Ge) => seq![Fcmge(A, B), Mvn(S0)],
        Key::Not(Op::Ne) => seq![Fmax(A, B), Fcmeq(S0, S0), Fcmeq(A, B), Orn(S2, S1)],
        Key::EnterUniform => seq![DupLane(A) #0],
        Key::EnterLow | Key::LeaveUniform => Rule::Free(0),
        _ => NO_SUCH,
    }
}

fn float_op(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast => Rule::Free(0),
        Op::Const | Op::LaneIndex => seq![Ldr()],
        Op::Add => seq![Fadd(A, B)],
        Op::Sub => seq![Fsub(A, B)],
        Op::Mul => seq![Fmul(A, B)],
        Op::Div => seq![Fdiv(A, B)],
        Op::Sqrt => seq![Fsqrt(A)],
        Op::Neg => seq![Fneg(A)],
        Op::Abs => seq![Fabs(A)],
        Op::Fma | Op::MulAdd => seq![Fmla(C, A, B)],
        Op::NegMulAdd => seq![Fmls(C, A, B)],
        // The product's sign may turn, the sum's may not: it would turn an exact zero's.
        Op::MulSub => seq![Fneg(C), Fmla(S0, A, B)],
        Op::NegMulSub => seq![Fneg(C), Fmls(S0, A, B)],
        // The machine's extrema are strict.
        Op::Min => seq![Fmin(A, B)],
        Op::Max => seq![Fmax(A, B)],
        Op::Nearest => seq![Frintn(A)],
        Op::Floor => seq![Frintm(A)],
        Op::Ceil => seq![Frintp(A)],
        Op::Trunc => seq![Frintz(A)],
        Op::ToI32 => seq![Fcvtns(A)],
        Op::ToU32 => seq![Fcvtnu(A)],
        Op::Eq => with_zero!([Fcmeq(A, B)], [FcmeqZero(A)], [FcmeqZero(B)]),
        Op::Lt => with_zero!([Fcmgt(B, A)], [FcmltZero(A)], [FcmgtZero(B)]),
        Op::Le => with_zero!([Fcmge(B, A)], [FcmleZero(A)], [FcmgeZero(B)]),
        Op::Gt => with_zero!([Fcmgt(A, B)], [FcmgtZero(A)], [FcmltZero(B)]),
        Op::Ge => with_zero!([Fcmge(A, B)], [FcmgeZero(A)], [FcmleZero(B)]),
        // The greater of two is a NaN where either is. `less or greater` would take one less, but signals beside a quiet NaN.
        Op::Ne => with_zero!(
            [Fmax(A, B), Fcmeq(S0, S0), Fcmeq(A, B), Bic(S1, S2)],
            [Fcmeq(A, A), FcmeqZero(A), Bic(S0, S1)],
            [Fcmeq(B, B), FcmeqZero(B), Bic(S0, S1)]
        ),
        Op::Select | Op::If => seq![Bsl(A, B, C)],
        Op::Compress | Op::Expand => by_mask(op),
        _ => LATER,
    }
}

fn integer(key: Key, signed: bool) -> Rule {
    match key {
        Key::Op(op @ (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)) => compare(op, signed),
        Key::Op(Op::Min) | Key::Smaller if signed => seq![Smin(A, B)],
        Key::Op(Op::Max) | Key::Larger if signed => seq![Smax(A, B)],
        Key::Op(Op::Min) | Key::Smaller => seq![Umin(A, B)],
        Key::Op(Op::Max) | Key::Larger => seq![Umax(A, B)],
        Key::Op(Op::Neg | Op::Abs) if !signed => NO_SUCH,
        Key::Op(Op::ToF32) if signed => seq![Scvtf(A)],
        Key::Op(Op::ToF32) => seq![Ucvtf(A)],
        Key::Op(op) => integer_op(op),
        Key::KeepWhere => seq![And(A, B)],
        Key::ClearWhere => seq![Bic(B, A)],
        // The lowest byte of a lane is the signed count: its upper three bits cleared, it is modulo 32.
        Key::ShiftBy(Op::ShiftBitsLeft) => seq![BicImm(B) #0xe0, Ushl(A, S0)],
        Key::ShiftBy(Op::ShiftBitsRight) => seq![BicImm(B) #0xe0, Neg(S0), Ushl(A, S1)],
        Key::ShiftBy(Op::ShiftBitsRightSigned) => seq![BicImm(B) #0xe0, Neg(S0), Sshl(A, S1)],
        Key::InsertWord => seq![InsWord(A, B) #n],
        Key::EnterUniform => seq![DupWord(A)],
        Key::EnterLow => seq![FmovIn(A)],
        Key::LeaveUniform => seq![FmovOut(A)],
        _ => NO_SUCH,
    }
}

fn compare(op: Op, signed: bool) -> Rule {
    match (op, signed) {
        (Op::Eq, _) => with_zero!([Cmeq(A, B)], [CmeqZero(A)], [CmeqZero(B)]),
        (Op::Ne, _) => with_zero!([Cmeq(A, B), Mvn(S0)], [Cmtst(A, A)], [Cmtst(B, B)]),
        (Op::Lt, true) => with_zero!([Cmgt(B, A)], [CmltZero(A)], [CmgtZero(B)]),
        (Op::Le, true) => with_zero!([Cmge(B, A)], [CmleZero(A)], [CmgeZero(B)]),
        (Op::Gt, true) => with_zero!([Cmgt(A, B)], [CmgtZero(A)], [CmltZero(B)]),
        (Op::Ge, true) => with_zero!([Cmge(A, B)], [CmgeZero(A)], [CmleZero(B)]),
        // Nothing is below zero without a sign.
        (Op::Lt, false) => with_zero!([Cmhi(B, A)], [Cmhi(B, A)], [Cmtst(B, B)]),
        (Op::Le, false) => with_zero!([Cmhs(B, A)], [CmeqZero(A)], [Cmhs(B, A)]),
        (Op::Gt, false) => with_zero!([Cmhi(A, B)], [Cmtst(A, A)], [Cmhi(A, B)]),
        (Op::Ge, false) => with_zero!([Cmhs(A, B)], [Cmhs(A, B)], [CmeqZero(B)]),
        _ => NO_SUCH,
    }
}

/// To the right an immediate counts from 1.
fn shifted(instance: &Instance, steps: &[Step]) -> Result<Vec<PlannedStep>, &'static str> {
    if *instance.imm == Imm::Int(0) { Ok(Vec::new()) } else { planned(steps, instance) }
}

fn integer_op(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast => Rule::Free(0),
        Op::Const | Op::LaneIndex => seq![Ldr()],
        Op::Add => seq![Add(A, B)],
        Op::Sub => seq![Sub(A, B)],
        Op::Mul => seq![Mul(A, B)],
        Op::Div => NO_SUCH,
        Op::Neg => seq![Neg(A)],
        Op::Abs => seq![Abs(A)],
        Op::BitAnd => seq![And(A, B)],
        Op::BitOr => seq![Orr(A, B)],
        Op::BitXor => seq![Eor(A, B)],
        Op::BitAndNot => seq![Bic(A, B)],
        Op::ShiftBitsLeft => seq![Shl(A) #n],
        Op::ShiftBitsRight => Rule::Planned(|instance| shifted(instance, steps![A64; Ushr(A) #n])),
        Op::ShiftBitsRightSigned => Rule::Planned(|instance| shifted(instance, steps![A64; Sshr(A) #n])),
        Op::Select | Op::If => seq![Bsl(A, B, C)],
        // The one sum that is too great, of four times -32768, wraps as it should.
        Op::Dot => seq![Smull(A, B), Smull2(A, B), Addp(S0, S1)],
        Op::Compress | Op::Expand => by_mask(op),
        _ => LATER,
    }
}

fn truth(key: Key) -> Rule {
    match key {
        Key::Op(Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast) => Rule::Free(0),
        Key::Op(Op::Const) => seq![Ldr()],
        Key::Op(Op::And) => seq![And(A, B)],
        Key::Op(Op::Or) => seq![Orr(A, B)],
        // A number is not below zero where its sign bit is clear.
        Key::Op(Op::Not) => seq![CmgeZero(A)],
        Key::AndNot => seq![Bic(A, B)],
        Key::Neither => seq![Orr(A, B), CmgeZero(S0)],
        Key::NotBoth => seq![And(A, B), CmgeZero(S0)],
        Key::Op(Op::Select | Op::If) => seq![Bsl(A, B, C)],
        Key::EnterMask => seq![Sshr(A) #31],
        Key::LeaveMask => Rule::Free(0),
        // Only the lowest bit of a `bool` argument counts.
        Key::EnterUniform | Key::EnterLow => seq![SpreadOne(A), DupWord(S0)],
        Key::LeaveUniform => seq![FmovOut(A), LsrWord(S0) #31],
        Key::Op(Op::Bitmask) => seq![And(A, BITS), Addv(S0), DupLane(S1) #0],
        // As signed numbers, the greatest is -1 if all lanes are, the least if any is.
        Key::Op(Op::All) => seq![Smaxv(A), DupLane(S0) #0],
        Key::Op(Op::Any) => seq![Sminv(A), DupLane(S0) #0],
        Key::Op(_) => LATER,
        _ => NO_SUCH,
    }
}

/// Lanes moved by a mask, whose number picks the bytes to take.
fn by_mask(op: Op) -> Rule {
    match op {
        Op::Compress => seq![
            And(A, BITS),
            Addv(S0),
            FmovOut(S1),
            Adr(Src::Literal(&COMPRESS_BYTES)),
            LdrEntry(S3, S2, Src::Literal(&COMPRESS_BYTES)),
            Tbl(B, S4),
        ],
        Op::Expand => seq![
            And(A, BITS),
            Addv(S0),
            FmovOut(S1),
            Adr(Src::Literal(&EXPAND_BYTES)),
            LdrEntry(S3, S2, Src::Literal(&EXPAND_BYTES)),
            Tbx(C, B, S4),
        ],
        _ => LATER,
    }
}

/// A `bool` in the general register of the result.
fn constant_word(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    let Imm::Bits(bits) = instance.imm else { return Err("a constant without a value") };
    Ok(vec![PlannedStep { op: MachOp::A64(A64::WordConst), args: Default::default(), imm: Some((bits & 1) as u8) }])
}

/// What is left to the caller without a rack that holds it.
fn leave(op: Op, elem: Elem) -> Rule {
    let (float, integer) = (elem == Elem::F32, matches!(elem, Elem::I32 | Elem::U32));
    match op {
        Op::Const if elem == Elem::Bool => Rule::Planned(constant_word),
        Op::Bitmask => seq![And(A, BITS), Addv(S0), FmovOut(S1)],
        Op::All => seq![Smaxv(A), FmovOut(S0), LsrWord(S1) #31],
        Op::Any => seq![Sminv(A), FmovOut(S0), LsrWord(S1) #31],
        Op::Param if integer => Rule::Free(0),
        Op::Param if elem == Elem::Bool => seq![AndOne(A)],
        Op::Not if elem == Elem::Bool => seq![EorOne(A), AndOne(S0)],
        Op::Extract if float => Rule::Planned(|instance| match instance.imm {
            Imm::Int(0) => Ok(Vec::new()),
            _ => planned(steps![A64; OneLane(A) #n], instance),
        }),
        Op::Extract if integer => Rule::Planned(|instance| match instance.imm {
            Imm::Int(0) => planned(steps![A64; FmovOut(A)], instance),
            _ => planned(steps![A64; LaneOut(A) #n], instance),
        }),
        _ if float || integer => folds::leave(op, elem),
        _ => NO_SUCH,
    }
}

/// Racks of 16- and 8-bit lanes.
fn narrow(op: Op) -> Rule {
    match op {
        Op::Param | Op::Splat | Op::Bitcast => Rule::Free(0),
        Op::Const => seq![Ldr()],
        Op::Narrow => seq![Sqxtn(A), Sqxtn2(S0, B)],
        Op::WidenLow => seq![Ushll(A)],
        Op::WidenHigh => seq![Ushll2(A)],
        _ => LATER,
    }
}
