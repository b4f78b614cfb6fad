//! What a backend's selection table says: for a [`Key`], an element and a profile, a [`Rule`].

use rake_ir::machine::MachOp;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use smallvec::SmallVec;

/// What is to be lowered: an operation, or a shape of several that a machine may have one instruction for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Key {
    /// An operation of the vocabulary.
    Op(Op),
    /// The complement of a float comparison (a NaN makes it true).
    Not(Op),
    /// `a and not b` of truths.
    AndNot,
    /// `not (a or b)` of truths.
    Neither,
    /// `not (a and b)` of truths.
    NotBoth,
    /// `all(m) ? a : b`, whole racks.
    IfAll,
    /// `any(m) ? a : b`, whole racks.
    IfAny,
    /// `m ? a : 0`.
    KeepWhere,
    /// `m ? 0 : a`.
    ClearWhere,
    /// `a + (m ? 1 : 0)` of integers, the mask the second operand.
    CountWhere,
    /// `a < b ? a : b`, exactly.
    Smaller,
    /// `a > b ? a : b`, exactly.
    Larger,
    /// `a` where it is a number, else `b`.
    NumberOr,
    /// A float's bits as a signed integer in the same order, or back: the magnitude's bits flipped below zero.
    Ordered,
    /// An insertion of an integer parameter, which is the word that it arrives in.
    InsertWord,
    /// The strict maximum of `a` and +0.
    AboveZero,
    /// A shift by a uniform count, modulo the width.
    ShiftBy(Op),
    /// Brings a mask parameter (a rack whose sign bits count) into the profile's form of a mask.
    EnterMask,
    /// Brings a uniform parameter into every lane.
    EnterUniform,
    /// Brings a uniform parameter into lane 0; an integer's other lanes are zero. A `bool` goes into every lane's sign bit.
    EnterLow,
    /// Brings a mask into a rack of all ones and zeros.
    LeaveMask,
    /// Brings lane 0 to where a uniform result is left.
    LeaveUniform,
    /// An operation whose uniform result is only left to the caller, so that no lane of a rack needs it.
    Leave(Op),
    /// Consecutive elements of this type into the lanes of a rack; where they are narrower, widened.
    Load(Elem),
    /// The same in the lanes of a mask, zero elsewhere, without touching what the others would read.
    LoadWhere(Elem),
    /// One element of this type into every lane.
    LoadSplat(Elem),
    /// One element of this type into lane 0, or to the front of what [`Key::Unpack`] takes; zeros behind it.
    LoadFirst(Elem),
    /// What [`Key::LoadFirst`] gives, moved by so many elements of this type away from the front (its immediate is the
    /// count of bytes).
    MoveUp(Elem),
    /// The other way.
    MoveDown(Elem),
    /// Elements of this type from the front of a rack into its lanes, widened.
    Unpack(Elem),
    /// Lanes to the front of a rack as elements of this type, wrapped; the opposite.
    Pack(Elem),
    /// A rack's lanes to consecutive elements of this type, wrapped where those are narrower.
    Store(Elem),
    /// The same of the lanes of a mask; the others' elements are not touched.
    StoreWhere(Elem),
    /// The lanes of a mask to consecutive elements of this type, in order; whatever behind them, up to a rack. Where there
    /// is no such rule, what `compress` gives is stored.
    StoreSelected(Elem),
    /// Consecutive elements of this type to the front of a rack, as [`Key::Pack`] leaves them.
    LoadPacked(Elem),
    /// The same of what [`Key::LoadPacked`] gave, instead of a rack's lanes.
    StorePackedSelected(Elem),
    /// The first element of this type of what [`Key::Pack`] gives.
    StoreFirst(Elem),
    /// Elements at indices, in the lanes of a mask; zero elsewhere.
    GatherWhere(Elem),
    /// Elements at indices.
    Gather(Elem),
    /// A rack's lanes to elements at indices; where two are one, the last lane's is kept.
    Scatter(Elem),
    /// A word that is not zero where some lane of a mask holds; where a count takes more.
    SomeLane,
    /// The first lanes of as many racks as a rack has lanes, in order; where lanes that are loaded alone are joined so.
    FirstLanes,
    /// This lane of a rack of indices as a word of 64 bits, by its sign; where gathers are made of lane loads.
    IndexLane(u8),
    /// The address of an element of this type, by an address and an index; where addresses of transfers have no index.
    Locate(Elem),
}

/// What is computed of integers that addresses, counts and conditions are made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum WordKey {
    /// An operation of the vocabulary on two integers of this type, the second of which may be a number.
    Op(Op, Elem),
    /// A word to 64 bits, by the sign of its type.
    Extend(Elem),
    /// One element, in 64 bits where it has those, else in a word.
    Load(Elem),
    /// One element of this type, to 64 bits by its sign; where that is one instruction.
    LoadIndex(Elem),
    /// 64 bits to memory.
    StoreLong,
    /// A number of this type that is no operand: the row's own, or its literal.
    Constant(Elem),
    /// Zero, where it is made otherwise than other numbers.
    Zero,
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
    /// The bytes of an operand that is always a literal: all of a table, or a rack.
    Literal(&'static [u8]),
    /// The place in memory that is accessed.
    Place,
    /// A number.
    Number(i32),
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

/// Where a planned step's operand comes from; see [`Src`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PlannedSrc {
    /// An operand of the operation.
    Arg(u8),
    /// The result of an earlier step.
    Step(u8),
    /// A constant: these 32-bit lanes, over and over.
    Lanes(Vec<u32>),
    /// The bytes of an operand that is always a literal.
    Literal(Vec<u8>),
    /// The place in memory that is accessed.
    Place,
    /// A number.
    Number(i32),
}

/// One machine operation of a planned sequence.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlannedStep {
    /// The row.
    pub op: MachOp,
    /// Its operands, in the row's order.
    pub args: SmallVec<[PlannedSrc; 3]>,
    /// Its immediate.
    pub imm: Option<u8>,
}

/// What a plan depends on.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// The operation.
    pub op: Op,
    /// Its immediate.
    pub imm: &'a Imm,
    /// How many operands it has; two of the same value count as one for a shuffle.
    pub operands: usize,
    /// Which operands are zero in every lane: bit k for operand k.
    pub zeros: u8,
    /// Lanes of its first rack.
    pub lanes: usize,
    /// The profile.
    pub profile: Profile,
}

/// Writes the sequence for one instance; an empty one is the first operand as it is.
pub type Plan = fn(&Instance) -> Result<Vec<PlannedStep>, &'static str>;

/// How an operation is lowered.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// A sequence; its last step is the result.
    Steps(&'static [Step]),
    /// A sequence that depends on the operation's immediate.
    Planned(Plan),
    /// Nothing to do: the result is this operand.
    Free(u8),
    /// The profile cannot, and why.
    Unsupported(&'static str),
}

/// A selection table without rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRules;

impl Target for NoRules {
    fn rule(&self, _: Key, _: Elem, _: Profile) -> Rule {
        Rule::Unsupported("there are no rules")
    }
}

/// A backend's selection table.
pub trait Target: Sync {
    /// The rule for an operation. `elem` is the first operand's element for comparisons, conversions and what is made of
    /// a mask, `bool` for truths, and else the result's.
    fn rule(&self, key: Key, elem: Elem, profile: Profile) -> Rule;

    /// The rule for a truth in a function that does nothing but combine the masks it is given, where masks have registers
    /// of their own: there they stay racks, of which the sign bits count. Elsewhere the rule for `all` and `any` of a mask
    /// of which only the sign bits hold, where the other one reads more.
    fn signs_rule(&self, key: Key, profile: Profile) -> Rule {
        let _ = (key, profile);
        Rule::Unsupported("masks have registers of their own")
    }

    /// The row that computes a word; `None` where the family has none.
    fn word(&self, key: WordKey, profile: Profile) -> Option<MachOp> {
        let _ = (key, profile);
        None
    }

    /// Whether the rule reads an operand's sign bits alone, of a mask, or lane 0 alone, of a uniform. `imm` is the
    /// operation's immediate.
    fn reads_part(&self, key: Key, imm: &Imm, profile: Profile, operand: usize) -> bool {
        let _ = (key, imm, profile, operand);
        false
    }
}
