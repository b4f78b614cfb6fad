//! Reductions and scans.
//!
//! Sums and products of floats are rounded in lane order. Every lane computes the same, so that none raises what the fold
//! does not: lane 0 is spread, and takes in the others by element. A sum takes them by a multiply-add with 1, which rounds
//! as the addition does.

use super::{LATER, NO_SUCH, seq};
use crate::steps::{A, NAN, S0, S1, S2, S3, S4, S5, ZERO, steps};
use rake_ir::machine::aarch64::A64;
use rake_ir::ops::Op;
use rake_ir::types::Elem;
use rake_passes::select::rule::{Rule, Src};

const ONE: Src = Src::Lanes(&[0x3f80_0000]);

/// Whether an operation is lowered here.
pub(super) const fn is_fold(op: Op) -> bool {
    use Op::*;
    matches!(op, Sum | Product | Minimum | Maximum | ScanSum | ScanProduct | ScanMinimum | ScanMaximum)
}

/// The rule of a fold whose result is in every lane, or of a scan.
pub(super) fn rule(op: Op, elem: Elem) -> Rule {
    match elem {
        Elem::F32 => float(op),
        Elem::I32 | Elem::U32 => integer(op, elem == Elem::I32),
        _ => LATER,
    }
}

/// The rule of a fold whose result is left to the caller.
pub(super) fn leave(op: Op, elem: Elem) -> Rule {
    match (op, elem) {
        // `fmaxnm` prefers a number to a quiet NaN, and of two quiet NaNs takes the first.
        (Op::Minimum, Elem::F32) => seq![Fminv(A), Fmaxnm(NAN, S0)],
        (Op::Maximum, Elem::F32) => seq![Fmaxv(A), Fmaxnm(NAN, S0)],
        (Op::Sum, Elem::I32 | Elem::U32) => seq![Addv(A), FmovOut(S0)],
        (Op::Product, Elem::I32 | Elem::U32) => seq![Ext(A, A) #8, Mul(A, S0), MulLane(S1, S1) #1, FmovOut(S2)],
        (Op::Minimum, Elem::I32) => seq![Sminv(A), FmovOut(S0)],
        (Op::Maximum, Elem::I32) => seq![Smaxv(A), FmovOut(S0)],
        (Op::Minimum, Elem::U32) => seq![Uminv(A), FmovOut(S0)],
        (Op::Maximum, Elem::U32) => seq![Umaxv(A), FmovOut(S0)],
        _ => NO_SUCH,
    }
}

fn float(op: Op) -> Rule {
    match op {
        Op::Sum => seq![DupLane(A) #0, FmlaLane(S0, ONE, A) #1, FmlaLane(S1, ONE, A) #2, FmlaLane(S2, ONE, A) #3],
        Op::Product => seq![DupLane(A) #0, FmulLane(S0, A) #1, FmulLane(S1, A) #2, FmulLane(S2, A) #3],
        Op::Minimum => seq![Fminv(A), DupLane(S0) #0, Fmaxnm(NAN, S1)],
        Op::Maximum => seq![Fmaxv(A), DupLane(S0) #0, Fmaxnm(NAN, S1)],
        // Each prefix takes its lane's place as soon as the lane has been read.
        Op::ScanSum => seq![
            DupLane(A) #0,
            FmlaLane(S0, ONE, A) #1,
            InsLane(A, S1) #0x01,
            FmlaLane(S1, ONE, S2) #2,
            InsLane(S2, S3) #0x02,
            FmlaLane(S3, ONE, S4) #3,
            InsLane(S4, S5) #0x03,
        ],
        Op::ScanProduct => seq![
            DupLane(A) #0,
            FmulLane(S0, A) #1,
            InsLane(A, S1) #0x01,
            FmulLane(S1, S2) #2,
            InsLane(S2, S3) #0x02,
            FmulLane(S3, S4) #3,
            InsLane(S4, S5) #0x03,
        ],
        // Prefixes within pairs, [0 0 2 2], then lane 1 over the upper half, [0 0 1 1]: what is taken twice does not matter.
        Op::ScanMinimum => seq![Trn1(A, A), Fmin(A, S0), Zip1(S1, S1), Fmin(S1, S2), Fmaxnm(NAN, S3)],
        Op::ScanMaximum => seq![Trn1(A, A), Fmax(A, S0), Zip1(S1, S1), Fmax(S1, S2), Fmaxnm(NAN, S3)],
        _ => LATER,
    }
}

fn integer(op: Op, signed: bool) -> Rule {
    match op {
        Op::Sum => seq![Addv(A), DupLane(S0) #0],
        Op::Product => seq![Ext(A, A) #8, Mul(A, S0), Rev64(S1), Mul(S1, S2)],
        Op::Minimum if signed => seq![Sminv(A), DupLane(S0) #0],
        Op::Maximum if signed => seq![Smaxv(A), DupLane(S0) #0],
        Op::Minimum => seq![Uminv(A), DupLane(S0) #0],
        Op::Maximum => seq![Umaxv(A), DupLane(S0) #0],
        Op::ScanSum => seq![Ext(ZERO, A) #12, Add(A, S0), Ext(ZERO, S1) #8, Add(S1, S2)],
        // The products of lanes 0 and 1 and of 2 and 3, then the former times lane 2 and times the latter.
        Op::ScanProduct => seq![Rev64(A), Mul(A, S0), Trn1(A, S1), MulLane(S2, S1) #0, InsHalf(S2, S3) #0x11],
        Op::ScanMinimum if signed => seq![Trn1(A, A), Smin(A, S0), Zip1(S1, S1), Smin(S1, S2)],
        Op::ScanMaximum if signed => seq![Trn1(A, A), Smax(A, S0), Zip1(S1, S1), Smax(S1, S2)],
        Op::ScanMinimum => seq![Trn1(A, A), Umin(A, S0), Zip1(S1, S1), Umin(S1, S2)],
        Op::ScanMaximum => seq![Trn1(A, A), Umax(A, S0), Zip1(S1, S1), Umax(S1, S2)],
        _ => LATER,
    }
}
