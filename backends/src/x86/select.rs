//! The x86 selection table: operation, element and profile to machine operations.
//!
//! It is written with the names of [`crate::steps`].
//! A mask is a rack of lane masks on SSE2 and AVX2 and a `k` register on AVX-512.

use super::shuffle;
use crate::steps::{
    A, B, C, MAGNITUDE, NAN, ONE, ONES, S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16,
    SIGN, ZERO, steps,
};
use rake_ir::machine::MachOp;
use rake_ir::machine::tables::{COMPRESS, EXPAND};
use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::select::rule::{Instance, Key, PlannedStep, Rule, Src, Target, WordKey};

/// The x86 profiles' selection table.
#[derive(Clone, Copy, Debug, Default)]
pub struct X86Target;

impl Target for X86Target {
    fn rule(&self, key: Key, elem: Elem, profile: Profile) -> Rule {
        let Some(space) = Space::of(profile) else { return Rule::Unsupported("not an x86 profile") };
        if let Some(rule) = super::transfers::rule(key, elem, space) {
            return rule;
        }
        match (key, elem) {
            (Key::Leave(Op::Extract), Elem::F32 | Elem::I32 | Elem::U32) => shuffle::leave(elem.is_int()),
            (Key::Op(op), Elem::F32 | Elem::I32 | Elem::U32) if op.moves_lanes() => shuffle::rule(elem.is_int()),
            (Key::Leave(Op::Const), Elem::Bool) => Rule::Planned(constant_word),
            (Key::Leave(op), _) => leave(op, elem, space),
            (Key::Op(op), Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16) => narrow(op, space),
            (_, Elem::F32) => float(key, space),
            (_, Elem::I32 | Elem::U32) => integer(key, elem, space),
            (_, Elem::Bool) => truth(key, space),
            _ => Rule::Unsupported("only 32-bit elements are available yet"),
        }
    }

    fn signs_rule(&self, key: Key, profile: Profile) -> Rule {
        if Space::of(profile) == Some(Evex) { signs(key) } else { NO_SUCH }
    }

    fn word(&self, key: WordKey, profile: Profile) -> Option<MachOp> {
        Space::of(profile).and_then(|_| super::transfers::word(key))
    }

    fn reads_part(&self, key: Key, imm: &Imm, profile: Profile, operand: usize) -> bool {
        match (key, Space::of(profile)) {
            (Key::Leave(Op::Bitmask | Op::All | Op::Any) | Key::Op(Op::Bitmask), Some(Sse | Vex)) => true,
            (Key::Op(Op::Any), Some(Sse | Vex)) | (Key::Op(Op::All), Some(Vex)) => true,
            (Key::Op(Op::Select | Op::If | Op::Expand), Some(Vex)) => operand == 0,
            (Key::Op(Op::Not) | Key::Neither | Key::NotBoth, Some(Sse | Vex)) => true,
            (Key::ShiftBy(_), Some(Sse | Vex)) => operand == 1,
            (Key::Op(Op::Insert), Some(space)) => operand == 1 && shuffle::inserts_lane_0(imm, space),
            _ => false,
        }
    }
}

/// The low 16 bits of a lane.
const LOW_HALF: Src = Src::Lanes(&[0xffff]);
/// As `f32`s: 2^23, 2^39, both together, 2^31, and the greatest number below that.
const TWO_23: Src = Src::Lanes(&[0x4b00_0000]);
const TWO_39: Src = Src::Lanes(&[0x5300_0000]);
const BIAS: Src = Src::Lanes(&[0x5300_0080]);
const TWO_31: Src = Src::Lanes(&[0x4f00_0000]);
const BELOW_TWO_31: Src = Src::Lanes(&[0x4eff_ffff]);
/// The greatest `i32`.
const GREATEST: Src = Src::Lanes(&[0x7fff_ffff]);
/// The bits of a mask of eight and of sixteen lanes that all hold.
const ALL_8: Src = Src::Lanes(&[0xff]);
const ALL_16: Src = Src::Lanes(&[0xffff]);
/// A shift count modulo 32 in every lane.
const COUNTS: Src = Src::Lanes(&[31]);
/// 64-bit lanes: the even ones, then the odd ones.
const EVEN_THEN_ODD: Src = Src::Lanes(&[0, 0, 2, 0, 4, 0, 6, 0, 1, 0, 3, 0, 5, 0, 7, 0]);
/// A shift count modulo 32 in the low 64 bits.
const COUNT: Src = Src::Lanes(&[31, 0, 0, 0]);

/// A rule of these steps, as [`steps`] has them.
macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![X86; $($steps)*]) };
}

const LATER: Rule = Rule::Unsupported("it is not available on x86 yet");
const NO_FMA: Rule = Rule::Unsupported("SSE2 has no fused multiply-add; write `a * b + c`, which rounds twice");
const NO_SUCH: Rule = Rule::Unsupported("no such operation on this element");

use Space::{Evex, Sse, Vex};

fn float(key: Key, space: Space) -> Rule {
    match (key, space) {
        (Key::Op(op), _) => float_op(op, space),
        (Key::Smaller, _) => seq![Minps(A, B)],
        (Key::Larger, _) => seq![Maxps(A, B)],
        (Key::NumberOr, Vex) => seq![Cmpps(A, A) #3, Blendvps(A, B, S0)],
        (Key::NumberOr, Evex) => seq![CmppsK(A, A) #3, Blendmps(S0, A, B)],
        // Where `a` is a zero or a NaN that stays; its sign is taken away.
        (Key::AboveZero, _) => seq![Maxps(ZERO, A), Andps(S0, MAGNITUDE)],
        (Key::KeepWhere, Sse | Vex) => seq![Andps(A, B)],
        (Key::ClearWhere, Sse | Vex) => seq![Andnps(A, B)],
        (Key::KeepWhere, Evex) => seq![Keepps(A, B)],
        (Key::Not(Op::Eq), Sse | Vex) => seq![Cmpps(A, B) #4],
        (Key::Not(Op::Lt), Sse | Vex) => seq![Cmpps(A, B) #5],
        (Key::Not(Op::Le), Sse | Vex) => seq![Cmpps(A, B) #6],
        (Key::Not(Op::Gt), Sse) => seq![Cmpps(B, A) #5],
        (Key::Not(Op::Ge), Sse) => seq![Cmpps(B, A) #6],
        (Key::Not(Op::Ne), Sse) => seq![Cmpps(A, B) #0, Cmpps(A, B) #3, Orps(S0, S1)],
        (Key::Not(Op::Gt), Vex) => seq![Cmpps(A, B) #10],
        (Key::Not(Op::Ge), Vex) => seq![Cmpps(A, B) #9],
        (Key::Not(Op::Ne), Vex) => seq![Cmpps(A, B) #8],
        (Key::Not(Op::Eq), Evex) => seq![CmppsK(A, B) #4],
        (Key::Not(Op::Lt), Evex) => seq![CmppsK(A, B) #5],
        (Key::Not(Op::Le), Evex) => seq![CmppsK(A, B) #6],
        (Key::Not(Op::Gt), Evex) => seq![CmppsK(A, B) #10],
        (Key::Not(Op::Ge), Evex) => seq![CmppsK(A, B) #9],
        (Key::Not(Op::Ne), Evex) => seq![CmppsK(A, B) #8],
        (Key::EnterUniform, Sse) => seq![Splatps(A)],
        (Key::EnterUniform, Vex | Evex) => seq![SplatLow(A)],
        (Key::EnterLow, _) => Rule::Free(0),
        (Key::LeaveUniform, _) => Rule::Free(0),
        _ => NO_SUCH,
    }
}

fn float_op(op: Op, space: Space) -> Rule {
    match (op, space) {
        (Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast, _) => Rule::Free(0),
        (Op::Const | Op::LaneIndex, _) => seq![Load()],
        (Op::Add, _) => seq![Addps(A, B)],
        (Op::Sub, _) => seq![Subps(A, B)],
        (Op::Mul, _) => seq![Mulps(A, B)],
        (Op::Div, _) => seq![Divps(A, B)],
        (Op::Sqrt, _) => seq![Sqrtps(A)],
        (Op::Neg, _) => seq![Xorps(A, SIGN)],
        (Op::Abs, _) => seq![Andps(A, MAGNITUDE)],
        (Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub, Sse) => NO_FMA,
        (Op::Fma | Op::MulAdd, _) => seq![Fmadd213ps(A, B, C)],
        (Op::MulSub, _) => seq![Fmsub213ps(A, B, C)],
        (Op::NegMulAdd, _) => seq![Fnmadd213ps(A, B, C)],
        (Op::NegMulSub, _) => seq![Fnmsub213ps(A, B, C)],
        // The raw minimum gives its second operand beside a NaN and for two zeros; both orders joined keep -0 and NaNs.
        (Op::Min, _) => seq![Minps(A, B), Minps(B, A), Orps(S0, S1)],
        // Where the orders differ, the difference clears a zero's sign; joined with it a NaN stays.
        (Op::Max, Sse) => seq![Maxps(A, B), Maxps(B, A), Xorps(S0, S1), Orps(S0, S2), Subps(S3, S2)],
        // Joining by `and` keeps +0 over -0, and then every NaN is put in by a comparison.
        (Op::Max, Vex) => seq![Maxps(A, B), Maxps(B, A), Andps(S0, S1), Cmpps(A, B) #3, Orps(S2, S3)],
        // `vrangeps` orders the zeros itself, but prefers a number to a NaN.
        (Op::Max, Evex) => seq![Rangeps(A, B) #5, CmppsK(A, B) #3, Blendmps(S1, S0, NAN)],
        (Op::Minimum | Op::Maximum, Evex) => float_fold(op),
        (Op::Nearest | Op::Floor | Op::Ceil | Op::Trunc, _) => rounded(op, space),
        (Op::ToI32 | Op::ToU32, _) => to_integer(op, space),
        (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => float_compare(op, space),
        (Op::Compress | Op::Expand, _) => by_mask(op, space),
        (Op::Select | Op::If, Sse) => seq![Andps(A, B), Andnps(A, C), Orps(S0, S1)],
        (Op::Select | Op::If, Vex) => seq![Blendvps(C, B, A)],
        (Op::Select | Op::If, Evex) => seq![Blendmps(A, C, B)],
        _ => LATER,
    }
}

/// Strict extrema of the lanes of a rack on AVX-512: `vrangeps` over numbers in a tree; a NaN in any lane makes all lanes
/// one.
fn float_fold(op: Op) -> Rule {
    macro_rules! tree {
        ($which:literal) => {
            seq![
                Shuff32x4(A, A) #0x4e,
                Rangeps(A, S0) #$which,
                Shuff32x4(S1, S1) #0xb1,
                Rangeps(S1, S2) #$which,
                Permilps(S3) #0x4e,
                Rangeps(S3, S4) #$which,
                Permilps(S5) #0xb1,
                Rangeps(S5, S6) #$which,
                CmppsK(A, A) #3,
                SplatMask(S8),
                PtestmdK(S9, S9),
                Blendmps(S10, S7, NAN),
            ]
        };
    }
    match op {
        Op::Minimum => tree!(4),
        Op::Maximum => tree!(5),
        _ => NO_SUCH,
    }
}

/// To integral values.
fn rounded(op: Op, space: Space) -> Rule {
    macro_rules! stepped {
        ($less:ident, $greater:ident, $step:ident) => {
            seq![
                Pand(A, MAGNITUDE),
                Pcmpgtd(TWO_23, S0),
                Pand(S1, A),
                Psrld(S1) #1,
                Pandn(S3, A),
                Cvttps2dq(S2),
                Cvtdq2ps(S5),
                Cmpps($less, $greater) #1,
                $step(S5, S7),
                Cvtdq2ps(S8),
                Orps(S9, S4),
            ]
        };
    }
    match (op, space) {
        // The inexact flag is raised where the value changes, as by the sequences of other profiles.
        (Op::Nearest, Vex | Evex) => seq![Roundps(A) #0],
        (Op::Floor, Vex | Evex) => seq![Roundps(A) #1],
        (Op::Ceil, Vex | Evex) => seq![Roundps(A) #2],
        (Op::Trunc, Vex | Evex) => seq![Roundps(A) #3],
        // A magnitude below 2^23 is converted and back, which drops its fraction, and gets its sign again; anything greater
        // has no fraction and stays. What is compared are integers, which raises nothing.
        (Op::Trunc, Sse) => seq![
            Pand(A, MAGNITUDE),
            Pcmpgtd(TWO_23, S0),
            Psrld(S1) #1,
            Pand(S0, S2),
            Cvttps2dq(S3),
            Cvtdq2ps(S4),
            Pandn(S2, A),
            Orps(S5, S6),
        ],
        // The same, less 1 where the conversion went up, and plus 1 where it went down: a comparison gives -1.
        (Op::Floor, Sse) => stepped!(S2, S6, Paddd),
        (Op::Ceil, Sse) => stepped!(S6, S2, Psubd),
        _ => NO_SUCH,
    }
}

/// Floats to the nearest integers.
fn to_integer(op: Op, space: Space) -> Rule {
    match (op, space) {
        // Out of range and NaN come as 0x80000000; its complement is right from 2^31 up, and a NaN is made 0.
        (Op::ToI32, Sse | Vex) => {
            seq![Cvtps2dq(A), Cmpps(A, TWO_31) #5, Pxor(S0, S1), Cmpps(A, A) #7, Pand(S2, S3)]
        }
        (Op::ToI32, Evex) => {
            seq![CmppsK(A, A) #7, Cvtps2dqZ(S0, A), CmppsK(A, TWO_31) #13, Blendmd(S2, S1, GREATEST)]
        }
        // The maximum with its second operand 0 takes NaNs and negative numbers away. Then the part up to 2147483520 and
        // the rest, an exact difference below 2^32, are converted apart; from there on the rest is 0x80000000.
        (Op::ToU32, Sse) => seq![
            Maxps(A, ZERO),
            Minps(S0, BELOW_TWO_31),
            Subps(S0, S1),
            Cvtps2dq(S1),
            Cvtps2dq(S2),
            Paddd(S3, S4),
            Psrad(S4) #31,
            Por(S5, S6),
        ],
        (Op::ToU32, Vex) => seq![
            Maxps(A, ZERO),
            Minps(S0, BELOW_TWO_31),
            Subps(S0, S1),
            Cvtps2dq(S1),
            Cvtps2dq(S2),
            Paddd(S3, S4),
            Blendvps(S5, ONES, S4),
        ],
        (Op::ToU32, Evex) => seq![Maxps(A, ZERO), Cvtps2udq(S0)],
        _ => NO_SUCH,
    }
}

/// Comparisons of floats.
fn float_compare(op: Op, space: Space) -> Rule {
    match (op, space) {
        (Op::Eq, Sse | Vex) => seq![Cmpps(A, B) #0],
        (Op::Lt, Sse | Vex) => seq![Cmpps(A, B) #1],
        (Op::Le, Sse | Vex) => seq![Cmpps(A, B) #2],
        (Op::Gt, Sse) => seq![Cmpps(B, A) #1],
        (Op::Ge, Sse) => seq![Cmpps(B, A) #2],
        // SSE's "not equal" holds beside a NaN; ours does not.
        (Op::Ne, Sse) => seq![Cmpps(A, B) #4, Cmpps(A, B) #7, Andps(S0, S1)],
        (Op::Gt, Vex) => seq![Cmpps(A, B) #14],
        (Op::Ge, Vex) => seq![Cmpps(A, B) #13],
        (Op::Ne, Vex) => seq![Cmpps(A, B) #12],
        (Op::Eq, Evex) => seq![CmppsK(A, B) #0],
        (Op::Lt, Evex) => seq![CmppsK(A, B) #1],
        (Op::Le, Evex) => seq![CmppsK(A, B) #2],
        (Op::Gt, Evex) => seq![CmppsK(A, B) #14],
        (Op::Ge, Evex) => seq![CmppsK(A, B) #13],
        (Op::Ne, Evex) => seq![CmppsK(A, B) #12],
        _ => NO_SUCH,
    }
}

fn integer(key: Key, elem: Elem, space: Space) -> Rule {
    let signed = elem == Elem::I32;
    match (key, space) {
        (Key::CountWhere, Sse | Vex) => seq![Psubd(A, B)],
        (Key::CountWhere, Evex) => seq![PadddM(B, A, A, ONE)],
        (Key::Op(op @ (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)), _) => compare(op, signed, space),
        (Key::Op(Op::Min) | Key::Smaller, Vex | Evex) if signed => seq![Pminsd(A, B)],
        (Key::Op(Op::Max) | Key::Larger, Vex | Evex) if signed => seq![Pmaxsd(A, B)],
        (Key::Op(Op::Min) | Key::Smaller, Vex | Evex) => seq![Pminud(A, B)],
        (Key::Op(Op::Max) | Key::Larger, Vex | Evex) => seq![Pmaxud(A, B)],
        (Key::Op(Op::Min), Sse) if signed => seq![Pcmpgtd(B, A), Pand(S0, A), Pandn(S0, B), Por(S1, S2)],
        (Key::Op(Op::Max), Sse) if signed => seq![Pcmpgtd(A, B), Pand(S0, A), Pandn(S0, B), Por(S1, S2)],
        (Key::Op(Op::Min), Sse) => {
            seq![Pxor(A, SIGN), Pxor(B, SIGN), Pcmpgtd(S1, S0), Pand(S2, A), Pandn(S2, B), Por(S3, S4)]
        }
        (Key::Op(Op::Max), Sse) => {
            seq![Pxor(A, SIGN), Pxor(B, SIGN), Pcmpgtd(S0, S1), Pand(S2, A), Pandn(S2, B), Por(S3, S4)]
        }
        (Key::Op(Op::Neg), _) if !signed => NO_SUCH,
        (Key::Op(Op::Abs), _) if !signed => NO_SUCH,
        (Key::Op(Op::ToF32), _) if signed => seq![Cvtdq2ps(A)],
        // The low and the high half of the bits, put into the low bits of 2^23 and 2^39, are 2^23 + low and
        // 2^39 + 2^16 high. Taking 2^39 + 2^23 from the second is exact, so that only the sum rounds.
        (Key::Op(Op::ToF32), Sse) => seq![
            Pand(A, LOW_HALF),
            Por(S0, TWO_23),
            Psrld(A) #16,
            Por(S2, TWO_39),
            Subps(S3, BIAS),
            Addps(S4, S1),
        ],
        (Key::Op(Op::ToF32), Vex) => {
            seq![Pblendw(A, TWO_23) #0xaa, Psrld(A) #16, Pblendw(S1, TWO_39) #0xaa, Subps(S2, BIAS), Addps(S3, S0)]
        }
        (Key::Op(Op::ToF32), Evex) => seq![Cvtudq2ps(A)],
        (Key::Op(op), _) => integer_op(op, space),
        (Key::KeepWhere, Sse | Vex) => seq![Pand(A, B)],
        (Key::ClearWhere, Sse | Vex) => seq![Pandn(A, B)],
        (Key::KeepWhere, Evex) => seq![Keepps(A, B)],
        (Key::ShiftBy(Op::ShiftBitsLeft), Sse | Vex) => seq![Pand(B, COUNT), PslldBy(A, S0)],
        (Key::ShiftBy(Op::ShiftBitsRight), Sse | Vex) => seq![Pand(B, COUNT), PsrldBy(A, S0)],
        (Key::ShiftBy(Op::ShiftBitsRightSigned), Sse | Vex) => seq![Pand(B, COUNT), PsradBy(A, S0)],
        // A uniform is spread by one instruction; shifts by lanes are cheaper than those by a register's low bits.
        (Key::ShiftBy(Op::ShiftBitsLeft), _) => seq![Pand(B, COUNTS), Psllvd(A, S0)],
        (Key::ShiftBy(Op::ShiftBitsRight), _) => seq![Pand(B, COUNTS), Psrlvd(A, S0)],
        (Key::ShiftBy(Op::ShiftBitsRightSigned), _) => seq![Pand(B, COUNTS), Psravd(A, S0)],
        (Key::Ordered, Evex) => seq![Psrad(A) #31, Pternlogd(A, S0, MAGNITUDE) #0x78],
        (Key::InsertWord, Vex) => shuffle::insert_word(),
        (Key::EnterUniform, Sse) => seq![MovdIn(A), Splatps(S0)],
        (Key::EnterUniform, Vex) => seq![MovdIn(A), SplatLowd(S0)],
        (Key::EnterUniform, Evex) => seq![SplatWord(A)],
        (Key::EnterLow, Sse | Vex) => seq![MovdIn(A)],
        (Key::EnterLow, Evex) => seq![SplatWord(A)],
        (Key::LeaveUniform, _) => seq![MovdOut(A)],
        _ => NO_SUCH,
    }
}

fn compare(op: Op, signed: bool, space: Space) -> Rule {
    match (op, space, signed) {
        (Op::Eq, Sse | Vex, _) => seq![Pcmpeqd(A, B)],
        (Op::Ne, Sse | Vex, _) => seq![Pcmpeqd(A, B), Xorps(S0, ONES)],
        (Op::Lt, Sse | Vex, true) => seq![Pcmpgtd(B, A)],
        (Op::Gt, Sse | Vex, true) => seq![Pcmpgtd(A, B)],
        (Op::Le, Sse, true) => seq![Pcmpgtd(A, B), Xorps(S0, ONES)],
        (Op::Ge, Sse, true) => seq![Pcmpgtd(B, A), Xorps(S0, ONES)],
        (Op::Le, Vex, true) => seq![Pminsd(A, B), Pcmpeqd(S0, A)],
        (Op::Ge, Vex, true) => seq![Pmaxsd(A, B), Pcmpeqd(S0, A)],
        // With their top bits flipped, unsigned numbers order as signed ones; with all others flipped, the other way.
        (Op::Lt, Vex, false) => seq![Pmaxud(A, B), Pcmpeqd(S0, A), Xorps(S1, ONES)],
        (Op::Gt, Vex, false) => seq![Pminud(A, B), Pcmpeqd(S0, A), Xorps(S1, ONES)],
        (Op::Lt, Sse, false) => seq![Pxor(A, MAGNITUDE), Pxor(B, MAGNITUDE), Pcmpgtd(S0, S1)],
        (Op::Gt, Sse, false) => seq![Pxor(A, SIGN), Pxor(B, SIGN), Pcmpgtd(S0, S1)],
        (Op::Le, Sse, false) => seq![Pxor(A, SIGN), Pxor(B, SIGN), Pcmpgtd(S0, S1), Xorps(S2, ONES)],
        (Op::Ge, Sse, false) => seq![Pxor(A, MAGNITUDE), Pxor(B, MAGNITUDE), Pcmpgtd(S0, S1), Xorps(S2, ONES)],
        (Op::Le, Vex, false) => seq![Pminud(A, B), Pcmpeqd(S0, A)],
        (Op::Ge, Vex, false) => seq![Pmaxud(A, B), Pcmpeqd(S0, A)],
        (Op::Eq, Evex, _) => seq![PcmpdK(A, B) #0],
        (Op::Ne, Evex, _) => seq![PcmpdK(A, B) #4],
        (Op::Lt, Evex, true) => seq![PcmpdK(A, B) #1],
        (Op::Le, Evex, true) => seq![PcmpdK(A, B) #2],
        (Op::Ge, Evex, true) => seq![PcmpdK(A, B) #5],
        (Op::Gt, Evex, true) => seq![PcmpdK(A, B) #6],
        (Op::Lt, Evex, false) => seq![PcmpudK(A, B) #1],
        (Op::Le, Evex, false) => seq![PcmpudK(A, B) #2],
        (Op::Ge, Evex, false) => seq![PcmpudK(A, B) #5],
        (Op::Gt, Evex, false) => seq![PcmpudK(A, B) #6],
        _ => NO_SUCH,
    }
}

fn integer_op(op: Op, space: Space) -> Rule {
    match (op, space) {
        (Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast, _) => Rule::Free(0),
        (Op::Const | Op::LaneIndex, _) => seq![Load()],
        (Op::Add, _) => seq![Paddd(A, B)],
        (Op::Sub, _) => seq![Psubd(A, B)],
        // Products of the even and of the odd lanes, 64 bits each, whose low halves are put together and in order.
        (Op::Mul, Sse) => seq![
            Pmuludq(A, B),
            Pshufd(A) #0xf5,
            Pshufd(B) #0xf5,
            Pmuludq(S1, S2),
            Shufps(S0, S3) #0x88,
            Pshufd(S4) #0xd8,
        ],
        (Op::Mul, _) => seq![Pmulld(A, B)],
        (Op::Product, Sse) => {
            seq![Pshufd(A) #0xf5, Pmuludq(A, S0), Pshufd(S1) #0x4e, Pmuludq(S1, S2), Pshufd(S3) #0]
        }
        // Products of the even lanes: of lanes 0 and 1 and of 2 and 3, then the former by lane 2 and by the latter.
        (Op::ScanProduct, Sse) => seq![
            Pshufd(A) #0xf5,
            Pmuludq(A, S0),
            Shufps(A, S1) #0xaa,
            Pshufd(S1) #0,
            Pmuludq(S2, S3),
            Punpckldq(A, S1),
            Shufps(S5, S4) #0x84,
        ],
        (Op::Div, _) => NO_SUCH,
        // Where the difference overwrites its first operand, the complement and 1 take one less.
        (Op::Neg, Sse) => seq![Pxor(A, ONES), Paddd(S0, ONE)],
        (Op::Neg, Vex) => seq![Psignd(A, ONES)],
        (Op::Neg, Evex) => seq![Psubd(ZERO, A)],
        (Op::Abs, Sse) => seq![Psrad(A) #31, Pxor(A, S0), Psubd(S1, S0)],
        (Op::Abs, _) => seq![Pabsd(A)],
        (Op::BitAnd, _) => seq![Pand(A, B)],
        (Op::BitOr, _) => seq![Por(A, B)],
        (Op::BitXor, _) => seq![Pxor(A, B)],
        (Op::BitAndNot, _) => seq![Pandn(B, A)],
        (Op::ShiftBitsLeft, _) => seq![Pslld(A) #n],
        (Op::ShiftBitsRight, _) => seq![Psrld(A) #n],
        (Op::ShiftBitsRightSigned, _) => seq![Psrad(A) #n],
        (Op::Select | Op::If, Sse) => seq![Pand(A, B), Pandn(A, C), Por(S0, S1)],
        (Op::Select | Op::If, Vex) => seq![Blendvps(C, B, A)],
        (Op::Select | Op::If, Evex) => seq![Blendmd(A, C, B)],
        // The one sum that is too great, of four times -32768, wraps as it should.
        (Op::Dot, _) => seq![Pmaddwd(A, B)],
        (Op::Compress | Op::Expand, _) => by_mask(op, space),
        _ => LATER,
    }
}

fn truth(key: Key, space: Space) -> Rule {
    match (key, space) {
        (Key::Op(Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast), _) => Rule::Free(0),
        (Key::Op(Op::Const), _) => seq![Load()],
        (Key::Op(Op::And), Sse | Vex) => seq![Andps(A, B)],
        (Key::Op(Op::Or), Sse | Vex) => seq![Orps(A, B)],
        // A number is above -1 where its sign bit is clear.
        (Key::Op(Op::Not), Sse | Vex) => seq![Pcmpgtd(A, ONES)],
        (Key::AndNot, Sse | Vex) => seq![Andnps(B, A)],
        (Key::Neither, Sse | Vex) => seq![Orps(A, B), Pcmpgtd(S0, ONES)],
        (Key::NotBoth, Sse | Vex) => seq![Andps(A, B), Pcmpgtd(S0, ONES)],
        (Key::Op(Op::And), Evex) => seq![Kandw(A, B)],
        (Key::Op(Op::Or), Evex) => seq![Korw(A, B)],
        (Key::Op(Op::Not), Evex) => seq![Knotw(A)],
        (Key::AndNot, Evex) => seq![Kandnw(B, A)],
        (Key::Neither, Evex) => seq![Korw(A, B), Knotw(S0)],
        (Key::NotBoth, Evex) => seq![Kandw(A, B), Knotw(S0)],
        (Key::Op(Op::Select | Op::If), Sse) => seq![Andps(A, B), Andnps(A, C), Orps(S0, S1)],
        (Key::Op(Op::Select | Op::If), Vex) => seq![Blendvps(C, B, A)],
        (Key::Op(Op::Select | Op::If), Evex) => seq![Kandw(A, B), Kandnw(A, C), Korw(S0, S1)],
        (Key::EnterMask, Sse | Vex) => seq![Psrad(A) #31],
        (Key::EnterMask, Evex) => seq![RackToMask(A)],
        (Key::LeaveMask, Sse | Vex) => Rule::Free(0),
        (Key::LeaveMask, Evex) => seq![MaskToRack(A)],
        // Only the lowest bit of a `bool` argument counts; moved to the top it fills the lane.
        (Key::EnterUniform, Sse) => seq![MovdIn(A), Pslld(S0) #31, Psrad(S1) #31, Splatps(S2)],
        (Key::EnterUniform, Vex) => seq![MovdIn(A), Pslld(S0) #31, Psrad(S1) #31, SplatLowd(S2)],
        (Key::EnterLow, Sse) => seq![MovdIn(A), Pslld(S0) #31, Splatps(S1)],
        (Key::EnterLow, Vex) => seq![MovdIn(A), Pslld(S0) #31, SplatLowd(S1)],
        (Key::EnterUniform, Evex) => seq![SplatWord(A), PtestmdK(S0, ONE)],
        (Key::LeaveUniform, Sse | Vex) => seq![Psrld(A) #31, MovdOut(S0)],
        (Key::LeaveUniform, Evex) => seq![Keepps(A, ONE), MovdOut(S0)],
        (Key::Op(Op::Bitmask), Sse) => seq![Movmskps(A), MovdIn(S0), Pshufd(S1) #0],
        (Key::Op(Op::Bitmask), Vex) => seq![Movmskps(A), MovdIn(S0), SplatLowd(S1)],
        (Key::Op(Op::Bitmask), Evex) => seq![SplatMask(A)],
        // Saturated to bytes, each lane holds the whole mask.
        (Key::Op(Op::All), Sse) => seq![Packssdw(A, A), Packsswb(S0, S0), Pcmpeqd(S1, ONES)],
        (Key::Op(Op::All), Vex) => seq![Movmskps(A), MovdIn(S0), SplatLowd(S1), Pcmpeqd(S2, ALL_8)],
        (Key::Op(Op::All), Evex) => seq![SplatMask(A), PcmpdK(S0, ALL_16) #0],
        (Key::Op(Op::Any), Sse) => seq![Movmskps(A), MovdIn(S0), Pshufd(S1) #0, Pcmpgtd(S2, ZERO)],
        (Key::Op(Op::Any), Vex) => seq![Movmskps(A), MovdIn(S0), SplatLowd(S1), Pcmpgtd(S2, ZERO)],
        (Key::Op(Op::Any), Evex) => seq![SplatMask(A), PtestmdK(S0, S0)],
        (Key::Op(_), _) => LATER,
        _ => NO_SUCH,
    }
}

/// Masks kept as racks on AVX-512, of which the sign bits count.
fn signs(key: Key) -> Rule {
    match key {
        Key::Op(Op::Splat | Op::Unsplat | Op::Bitcast) => Rule::Free(0),
        Key::Op(Op::And) => seq![Pand(A, B)],
        Key::Op(Op::Or) => seq![Por(A, B)],
        Key::Op(Op::Not) => seq![Pternlogd(A, A, A) #0x55],
        Key::AndNot => seq![Pandn(B, A)],
        Key::Neither => seq![Pternlogd(A, B, B) #0x03],
        Key::NotBoth => seq![Pternlogd(A, B, B) #0x3f],
        Key::EnterUniform => seq![SplatWord(A), Pslld(S0) #31],
        Key::LeaveMask => seq![Psrad(A) #31],
        _ => NO_SUCH,
    }
}

/// Lanes moved by a mask.
fn by_mask(op: Op, space: Space) -> Rule {
    match (op, space) {
        // With the others zeroed, each lane from 2 down that is left out takes what stands above it, and so on up; its
        // own zero goes to the top.
        (Op::Compress, Sse) => seq![
            Andps(A, B),
            Pshufd(A) #0xaa,
            Pshufd(S0) #0xb4,
            Pand(S0, S1),
            Pandn(S1, S2),
            Por(S3, S4),
            Pshufd(A) #0x55,
            Pshufd(S5) #0x78,
            Pand(S5, S6),
            Pandn(S6, S7),
            Por(S8, S9),
            Pshufd(A) #0x00,
            Pshufd(S10) #0x39,
            Pand(S10, S11),
            Pandn(S11, S12),
            Por(S13, S14),
        ],
        // Each lane from 0 up that is left out moves what stands there and above away by one.
        (Op::Expand, Sse) => seq![
            Pshufd(A) #0x00,
            Pshufd(B) #0x90,
            Pand(B, S0),
            Pandn(S0, S1),
            Por(S2, S3),
            Pshufd(A) #0x55,
            Pshufd(S4) #0x94,
            Pand(S4, S5),
            Pandn(S5, S6),
            Por(S7, S8),
            Pshufd(A) #0xaa,
            Pshufd(S9) #0xa4,
            Pand(S9, S10),
            Pandn(S10, S11),
            Por(S12, S13),
            Pand(S14, A),
            Pandn(A, C),
            Por(S15, S16),
        ],
        // What goes to the places behind is one of the zeroed lanes.
        (Op::Compress, Vex) => seq![
            Andps(A, B),
            Movmskps(A),
            Address(Src::Literal(&COMPRESS)),
            LoadEntry(S2, S1, Src::Literal(&COMPRESS)),
            Permps(S3, S0),
        ],
        (Op::Expand, Vex) => seq![
            Movmskps(A),
            Address(Src::Literal(&EXPAND)),
            LoadEntry(S1, S0, Src::Literal(&EXPAND)),
            Permps(S2, B),
            Blendvps(C, S3, A),
        ],
        (Op::Compress, Evex) => seq![Compressps(A, B)],
        (Op::Expand, Evex) => seq![Expandps(A, C, B)],
        _ => LATER,
    }
}

/// A `bool` in the general register of the result.
fn constant_word(instance: &Instance) -> Result<Vec<PlannedStep>, &'static str> {
    let Imm::Bits(bits) = instance.imm else { return Err("a constant without a value") };
    let step = PlannedStep { op: MachOp::X86(X86::WordConst), args: Default::default(), imm: Some((bits & 1) as u8) };
    Ok(vec![step])
}

/// What is left to the caller without a rack that holds it.
fn leave(op: Op, elem: Elem, space: Space) -> Rule {
    match (op, space) {
        (Op::Bitmask, Sse | Vex) => seq![Movmskps(A)],
        (Op::Bitmask, Evex) => seq![MaskWord(A)],
        // One more than all bits is the next bit alone.
        (Op::All, Sse) => seq![Movmskps(A), Inc(S0), Shr(S1) #4],
        (Op::All, Vex) => seq![Movmskps(A), Inc(S0), Shr(S1) #8],
        (Op::All, Evex) => seq![MaskWord(A), Inc(S0), Shr(S1) #16],
        // The negation of a small positive number has the sign bit.
        (Op::Any, Sse | Vex) => seq![Movmskps(A), Neg(S0), Shr(S1) #31],
        (Op::Any, Evex) => seq![MaskWord(A), Neg(S0), Shr(S1) #31],
        (Op::Param, _) if matches!(elem, Elem::I32 | Elem::U32) => seq![MoveWord(A)],
        (Op::Product, Sse) if matches!(elem, Elem::I32 | Elem::U32) => {
            seq![Pshufd(A) #0xf5, Pmuludq(A, S0), Pshufd(S1) #0x4e, Pmuludq(S1, S2), MovdOut(S3)]
        }
        // Only the lowest bit of a `bool` argument counts.
        (Op::Param, _) if elem == Elem::Bool => seq![MoveWord(A), AndWord(S0) #1],
        (Op::Not, _) if elem == Elem::Bool => seq![MoveWord(A), XorWord(S0) #1, AndWord(S1) #1],
        _ => NO_SUCH,
    }
}

/// Racks of 16- and 8-bit lanes.
fn narrow(op: Op, space: Space) -> Rule {
    match (op, space) {
        (Op::Param | Op::Splat | Op::Bitcast, _) => Rule::Free(0),
        (Op::Const, _) => seq![Load()],
        (Op::Narrow, Sse) => seq![Packssdw(A, B)],
        // Packed in each 128 bits, the halves of the racks alternate.
        (Op::Narrow, Vex) => seq![Packssdw(A, B), Permq(S0) #0xd8],
        (Op::Narrow, Evex) => seq![Packssdw(A, B), PermqBy(EVEN_THEN_ODD, S0)],
        (Op::WidenLow, Sse) => seq![Punpcklbw(A, ZERO)],
        (Op::WidenHigh, Sse) => seq![Punpckhbw(A, ZERO)],
        (Op::WidenLow, Vex | Evex) => seq![Pmovzxbw(A)],
        (Op::WidenHigh, Vex | Evex) => seq![HighHalf(A) #1, Pmovzxbw(S0)],
        _ => LATER,
    }
}
