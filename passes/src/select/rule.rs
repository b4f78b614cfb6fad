//! What a backend's selection table says: for a [`Key`], an element and a profile, a [`Rule`].

use rake_ir::machine::MachOp;
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;

/// What is to be lowered: an operation, or a shape of several that a machine may have one instruction for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Key {
    /// An operation of the vocabulary.
    Op(Op),
    /// The complement of a float comparison (a NaN makes it true).
    Not(Op),
    /// `a and not b` of truths.
    AndNot,
    /// `m ? a : 0`.
    KeepWhere,
    /// `m ? 0 : a`.
    ClearWhere,
    /// `a < b ? a : b`, exactly.
    Smaller,
    /// `a > b ? a : b`, exactly.
    Larger,
    /// A shift by a uniform count, modulo the width.
    ShiftBy(Op),
    /// Brings a mask parameter (a rack whose sign bits count) into the profile's form of a mask.
    EnterMask,
    /// Brings a uniform parameter into every lane.
    EnterUniform,
    /// Brings a mask into a rack of all ones and zeros.
    LeaveMask,
    /// Brings lane 0 to where a uniform result is left.
    LeaveUniform,
}

/// Where a step's operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Src {
    /// An operand of the operation.
    Arg(u8),
    /// The result of an earlier step.
    Step(u8),
    /// A constant: these 32-bit lanes, over and over. One lane is a splat.
    Lanes(&'static [u32]),
}

/// A step's immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepImm {
    /// None.
    None,
    /// This number.
    Fixed(u8),
    /// The operation's own shift count.
    Count,
}

/// One machine operation of a sequence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The row.
    pub op: MachOp,
    /// Its operands, in the row's order.
    pub args: &'static [Src],
    /// Its immediate.
    pub imm: StepImm,
}

/// How an operation is lowered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// A sequence; its last step is the result.
    Steps(&'static [Step]),
    /// Nothing to do: the result is this operand.
    Free(u8),
    /// The profile cannot, and why.
    Unsupported(&'static str),
}

/// A backend's selection table.
pub trait Target: Sync {
    /// The rule for an operation. `elem` is the result's element, the operands' for comparisons, `bool` for truths.
    fn rule(&self, key: Key, elem: Elem, profile: Profile) -> Rule;
}
