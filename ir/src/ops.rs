//! The operation table: one row per operation of the language's vocabulary.
//!
//! Parser, type checker, printers, readers, checks, evaluators, capability list and the documentation's tables read
//! these rows. Adding a pure operation is one row here, one row in each backend's selection table, and one case.

use crate::reference::{Reference, reference};
use crate::types::{Elem, ElemClass, Ty};
use smallvec::SmallVec;

/// How an operation is written in source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `name(a, b)`.
    Call,
    /// `a name b`.
    Infix,
    /// `name a`.
    Prefix,
    /// A form of its own in the grammar (`if`, `@`, a literal).
    Form,
    /// Not written in source: passes introduce it.
    Internal,
}

/// What stands beside the operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmKind {
    /// Nothing.
    None,
    /// The bits of one element, all lanes alike.
    Bits,
    /// The position of a parameter.
    Param,
    /// A shift count below the element's width.
    ShiftCount,
    /// A lane number.
    Lane,
    /// How many lanes to move by.
    LaneCount,
    /// One source lane per result lane.
    Lanes,
    /// The element as memory holds it.
    Memory,
    /// A column of a stack, by position.
    Column,
    /// Why a check stops the program.
    Reason,
}

/// The immediate of one operation instance. The row's [`ImmKind`] says which variant stands.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Imm {
    /// None.
    #[default]
    None,
    /// Bits of one element, zero-extended ([`ImmKind::Bits`]).
    Bits(u64),
    /// A small number: parameter position, shift count, lane, lane count.
    Int(u32),
    /// Source lanes of a shuffle.
    Lanes(Box<[u16]>),
    /// The element as memory holds it ([`ImmKind::Memory`]).
    Memory(Elem),
    /// Why a check stops the program ([`ImmKind::Reason`]).
    Reason(TrapReason),
}

/// Why a run stops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TrapReason {
    /// An index outside a view.
    Bounds,
    /// A loop's step that is not above zero.
    Step,
    /// Two active lanes of a scatter name one element.
    Conflict,
}

impl TrapReason {
    /// Every reason.
    pub const ALL: [TrapReason; 3] = [TrapReason::Bounds, TrapReason::Step, TrapReason::Conflict];

    /// The word in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            TrapReason::Bounds => "bounds",
            TrapReason::Step => "step",
            TrapReason::Conflict => "conflict",
        }
    }

    /// What a person reads after `trap: `.
    pub const fn words(self) -> &'static str {
        match self {
            TrapReason::Bounds => "index out of bounds",
            TrapReason::Step => "a loop's step is not above zero",
            TrapReason::Conflict => "two lanes scatter to one element",
        }
    }
}

/// Which types an operation takes and gives. [`Op::infer`] reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeRule {
    /// All operands of one type of these classes, which is the result's.
    Same(&'static [ElemClass]),
    /// As `Same`, on float32 only.
    SameF32,
    /// Two operands of one type; the result is that type's truth.
    Compare,
    /// Truths (mask or `<bool>`) of one kind; the same kind results.
    Truth,
    /// A truth, then two values of one type whose lanes it masks.
    Choose,
    /// From one of these element types to another, lane for lane.
    Convert(&'static [Elem], Elem),
    /// Shift: an integer, optionally a uniform `u32` count.
    Shift,
    /// Operands of the first element, result of the second, in whole racks (`dot`, `narrow`, `widen_low`).
    Resize(Elem, Elem),
    /// One or two racks of one type, which is the result's.
    Racks,
    /// A rack; a uniform of its element results.
    Reduce(&'static [ElemClass]),
    /// A rack of these classes; the same type results.
    Scan(&'static [ElemClass]),
    /// A mask to a uniform of this element (`bitmask`, `all`, `any`).
    MaskTo(Elem),
    /// `extract`: a rack to a uniform of its element.
    Extract,
    /// `insert`: a rack and a uniform of its element.
    Insert,
    /// `compress` and `expand`: a mask, then racks of its lane width.
    Pack,
    /// A uniform or literal truth to the rack or mask given by the instance.
    Splat,
    /// The instance says its type (`param`, `const`, `@`, `bitcast`, loads).
    Given,
    /// Operands of one type, which is the result's, whatever it is (`carry`, `merge`).
    Any,
    /// A stack's descriptor or a column: the operands' types in order, then the result's.
    Signature(&'static [Ty], Ty),
    /// An address and an `<i64>` index, then a rack, which is the result's type; `store_selected` has a mask of its lanes
    /// besides.
    Store,
    /// An address and a rack of 32-bit indices, then maybe a rack, which is the result's type.
    Indexed,
    /// A mask and nothing else; the result is an `<i64>`.
    CountTrue,
    /// A uniform integer to an `<i64>`.
    ToI64,
}

/// What an operation does in a lane that its mask leaves inactive, when computed on the whole rack.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LaneRule {
    /// Nothing observable: safe as it is.
    Total,
    /// May raise a floating-point flag: these operand values, one per operand, raise none.
    Sanitise(&'static [f64]),
    /// Reads other lanes: never under a mask with partial operands.
    CrossLane,
    /// May never stand under a mask.
    Unmasked,
    /// Reads memory, in active lanes only.
    Reads,
    /// Writes memory, in active lanes only, or stops the program: it stays though nobody reads its value.
    Effect,
}

/// How an operation's floating-point result relates to the real numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FpClass {
    /// Has no floating-point meaning.
    None,
    /// `+ - *`, unary `-`: an element of the ring; rewritten over the reals in regions.
    Ring,
    /// A contracted multiply-add: an element of the ring, one rounding.
    Contracted,
    /// Rounds once; opaque to rewriting over the reals.
    Rounded,
    /// Moves or picks bits; exact.
    Exact,
    /// A published sequence of rounded operations.
    Sequence,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Its name in IR dumps, and in source for [`Syntax::Call`].
    pub name: &'static str,
    /// Its spelling in source for infix and prefix operations; else the name.
    pub spelling: &'static str,
    /// How source writes it.
    pub syntax: Syntax,
    /// Fewest and most operands.
    pub arity: (u8, u8),
    /// Its immediate.
    pub imm: ImmKind,
    /// Its type rule.
    pub types: TypeRule,
    /// Its rule for inactive lanes.
    pub lane: LaneRule,
    /// Its floating-point class.
    pub fp: FpClass,
    /// Whether it may stand in a fused stage.
    pub fused: bool,
    /// What it computes; see [`crate::reference`].
    pub reference: Reference,
    /// One line for the reference.
    pub doc: &'static str,
}

macro_rules! ops {
    ($($variant:ident $name:literal $spelling:literal $syntax:ident $lo:literal..=$hi:literal $imm:ident
       $types:expr, $lane:expr, $fp:ident, $fused:literal, $doc:literal;)*) => {
        /// An operation: an index into [`OPS`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Op { $(#[doc = $doc] $variant),* }

        /// The table, in the order of the reference.
        pub const OPS: &[OpInfo] = &[$(OpInfo {
            op: Op::$variant, name: $name, spelling: $spelling, syntax: Syntax::$syntax, arity: ($lo, $hi),
            imm: ImmKind::$imm, types: $types, lane: $lane, fp: FpClass::$fp, fused: $fused,
            reference: reference(Op::$variant), doc: $doc,
        }),*];
    };
}

use ElemClass::{Float, Signed, Unsigned};
use LaneRule::{CrossLane, Effect, Reads, Sanitise, Total, Unmasked};
use TypeRule as T;

const FIU: &[ElemClass] = &[Float, Signed, Unsigned];
const FI: &[ElemClass] = &[Float, Signed];
const IU: &[ElemClass] = &[Signed, Unsigned];
const F: &[ElemClass] = &[Float];

ops! {
    Param "param" "" Internal 0..=0 Param T::Given, Total, Exact, false, "A parameter, by position.";
    Const "const" "" Form 0..=0 Bits T::Given, Total, Exact, true, "A literal; in a rack, the same in every lane.";
    Splat "splat" "" Internal 1..=1 None T::Splat, Total, Exact, true, "A uniform in every lane of a rack or mask.";
    Unsplat "unsplat" "" Internal 1..=1 None T::Extract, CrossLane, Exact, false, "The value that every lane of a rack holds, as a uniform.";
    LaneIndex "lane_index" "@" Form 0..=0 None T::Given, Total, Exact, true, "The lane numbers 0, 1, 2, ...";
    Add "add" "+" Infix 2..=2 None T::Same(FIU), Sanitise(&[0.0, 0.0]), Ring, true, "Sum; integers wrap.";
    Sub "sub" "-" Infix 2..=2 None T::Same(FIU), Sanitise(&[0.0, 0.0]), Ring, true, "Difference; integers wrap.";
    Mul "mul" "*" Infix 2..=2 None T::Same(FIU), Sanitise(&[1.0, 1.0]), Ring, true, "Product; integers wrap.";
    Div "div" "/" Infix 2..=2 None T::Same(F), Sanitise(&[0.0, 1.0]), Rounded, true, "Quotient of floats.";
    Neg "neg" "-" Prefix 1..=1 None T::Same(FI), Total, Ring, true, "Negation: flips a float's sign bit; integers wrap.";
    Sqrt "sqrt" "sqrt" Call 1..=1 None T::Same(F), Sanitise(&[1.0]), Rounded, true, "Square root, correctly rounded.";
    Fma "fma" "fma" Call 3..=3 None T::Same(F), Sanitise(&[0.0, 0.0, 0.0]), Rounded, true, "a*b + c with one rounding, never split or re-fused.";
    MulAdd "mul_add" "" Internal 3..=3 None T::Same(F), Sanitise(&[0.0, 0.0, 0.0]), Contracted, true, "a*b + c, contracted by the compiler.";
    MulSub "mul_sub" "" Internal 3..=3 None T::Same(F), Sanitise(&[0.0, 0.0, 0.0]), Contracted, true, "a*b - c, contracted by the compiler.";
    NegMulAdd "neg_mul_add" "" Internal 3..=3 None T::Same(F), Sanitise(&[0.0, 0.0, 0.0]), Contracted, true, "c - a*b, contracted by the compiler.";
    NegMulSub "neg_mul_sub" "" Internal 3..=3 None T::Same(F), Sanitise(&[0.0, 0.0, 0.0]), Contracted, true, "-(a*b) - c, contracted by the compiler.";
    Abs "abs" "abs" Call 1..=1 None T::Same(FI), Total, Exact, true, "Magnitude: clears a float's sign bit; integers wrap at the minimum.";
    Min "min" "min" Call 2..=2 None T::Same(FIU), Sanitise(&[0.0, 0.0]), Exact, true, "IEEE 754-2019 minimum: NaN if either is, -0 below +0.";
    Max "max" "max" Call 2..=2 None T::Same(FIU), Sanitise(&[0.0, 0.0]), Exact, true, "IEEE 754-2019 maximum: NaN if either is, -0 below +0.";
    Floor "floor" "floor" Call 1..=1 None T::Same(F), Sanitise(&[0.0]), Rounded, true, "Greatest integral value not above; a zero keeps the sign.";
    Ceil "ceil" "ceil" Call 1..=1 None T::Same(F), Sanitise(&[0.0]), Rounded, true, "Least integral value not below; a zero keeps the sign.";
    Trunc "trunc" "trunc" Call 1..=1 None T::Same(F), Sanitise(&[0.0]), Rounded, true, "Integral part; a zero keeps the sign.";
    Nearest "nearest" "nearest" Call 1..=1 None T::Same(F), Sanitise(&[0.0]), Rounded, true, "Nearest integral value, ties to even; a zero keeps the sign.";
    Exp "exp" "exp" Call 1..=1 None T::SameF32, Sanitise(&[0.0]), Sequence, true, "Exponential, a fixed sequence.";
    Log "log" "log" Call 1..=1 None T::SameF32, Sanitise(&[1.0]), Sequence, true, "Natural logarithm, a fixed sequence.";
    Log2 "log2" "log2" Call 1..=1 None T::SameF32, Sanitise(&[1.0]), Sequence, true, "Binary logarithm, a fixed sequence.";
    Tanh "tanh" "tanh" Call 1..=1 None T::SameF32, Sanitise(&[0.0]), Sequence, true, "Hyperbolic tangent, a fixed sequence.";
    Eq "eq" "=" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Equal; false beside a NaN.";
    Ne "ne" "!=" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Ordered and unequal; false beside a NaN.";
    Lt "lt" "<" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Less; false beside a NaN.";
    Le "le" "<=" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Less or equal; false beside a NaN.";
    Gt "gt" ">" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Greater; false beside a NaN.";
    Ge "ge" ">=" Infix 2..=2 None T::Compare, Sanitise(&[0.0, 0.0]), Exact, true, "Greater or equal; false beside a NaN.";
    And "and" "and" Infix 2..=2 None T::Truth, Total, None, true, "Both.";
    Or "or" "or" Infix 2..=2 None T::Truth, Total, None, true, "Either.";
    Not "not" "not" Prefix 1..=1 None T::Truth, Total, None, true, "Complement.";
    Select "select" "select" Call 3..=3 None T::Choose, Total, Exact, true, "Per lane the second operand where the first holds, else the third; both computed in every active lane.";
    If "if" "if" Form 3..=3 None T::Choose, Total, Exact, true, "As `select`, each branch computed only in the lanes that take it.";
    BitAnd "bit_and" "bit_and" Call 2..=2 None T::Same(IU), Total, None, true, "Bitwise and.";
    BitOr "bit_or" "bit_or" Call 2..=2 None T::Same(IU), Total, None, true, "Bitwise or.";
    BitXor "bit_xor" "bit_xor" Call 2..=2 None T::Same(IU), Total, None, true, "Bitwise exclusive or.";
    BitAndNot "bit_andnot" "bit_andnot" Call 2..=2 None T::Same(IU), Total, None, true, "a & ~b.";
    ShiftBitsLeft "shift_bits_left" "shift_bits_left" Call 1..=2 ShiftCount T::Shift, Total, None, true, "Bits toward the top; zeros enter.";
    ShiftBitsRight "shift_bits_right" "shift_bits_right" Call 1..=2 ShiftCount T::Shift, Total, None, true, "Bits toward the bottom; zeros enter.";
    ShiftBitsRightSigned "shift_bits_right_signed" "shift_bits_right_signed" Call 1..=2 ShiftCount T::Shift, Total, None, true, "Bits toward the bottom; copies of the top bit enter.";
    Dot "dot" "dot" Call 2..=2 None T::Resize(Elem::I16, Elem::I32), CrossLane, None, true, "Products of adjacent pairs, summed, wrapping.";
    Narrow "narrow" "narrow" Call 2..=2 None T::Resize(Elem::I32, Elem::I16), CrossLane, None, true, "Two racks saturated into one of half the width.";
    WidenLow "widen_low" "widen_low" Call 1..=1 None T::Resize(Elem::U8, Elem::I16), CrossLane, None, true, "The low half's lanes, zero-extended.";
    WidenHigh "widen_high" "widen_high" Call 1..=1 None T::Resize(Elem::U8, Elem::I16), CrossLane, None, true, "The high half's lanes, zero-extended.";
    ToF32 "to_f32" "to_f32" Call 1..=1 None T::Convert(&[Elem::I32, Elem::U32], Elem::F32), Sanitise(&[0.0]), Rounded, true, "To the nearest float, ties to even.";
    ToI32 "to_i32" "to_i32" Call 1..=1 None T::Convert(&[Elem::F32], Elem::I32), Sanitise(&[0.0]), Rounded, true, "To the nearest integer, ties to even, saturating; NaN gives 0.";
    ToU32 "to_u32" "to_u32" Call 1..=1 None T::Convert(&[Elem::F32], Elem::U32), Sanitise(&[0.0]), Rounded, true, "To the nearest integer, ties to even, saturating; NaN gives 0.";
    Bitcast "bitcast" "bitcast" Form 1..=1 None T::Given, Total, Exact, false, "The same bits as another type; between lane widths it reads other lanes.";
    Shuffle "shuffle" "shuffle" Call 1..=2 Lanes T::Racks, CrossLane, Exact, true, "Lanes picked by literal indices, over one rack or two.";
    ZipLow "zip_low" "zip_low" Call 2..=2 None T::Racks, CrossLane, Exact, true, "The low halves of two racks, interleaved.";
    ZipHigh "zip_high" "zip_high" Call 2..=2 None T::Racks, CrossLane, Exact, true, "The high halves of two racks, interleaved.";
    UnzipEven "unzip_even" "unzip_even" Call 2..=2 None T::Racks, CrossLane, Exact, true, "The even lanes of two racks.";
    UnzipOdd "unzip_odd" "unzip_odd" Call 2..=2 None T::Racks, CrossLane, Exact, true, "The odd lanes of two racks.";
    ShiftLeft "shift_left" "shift_left" Call 1..=1 LaneCount T::Racks, CrossLane, Exact, true, "Lanes moved toward lane 0; zeros enter.";
    ShiftRight "shift_right" "shift_right" Call 1..=1 LaneCount T::Racks, CrossLane, Exact, true, "Lanes moved away from lane 0; zeros enter.";
    RotateLeft "rotate_left" "rotate_left" Call 1..=1 LaneCount T::Racks, CrossLane, Exact, true, "Lanes rotated toward lane 0.";
    RotateRight "rotate_right" "rotate_right" Call 1..=1 LaneCount T::Racks, CrossLane, Exact, true, "Lanes rotated away from lane 0.";
    Extract "extract" "extract" Call 1..=1 Lane T::Extract, CrossLane, Exact, false, "One lane as a uniform.";
    Insert "insert" "insert" Call 2..=2 Lane T::Insert, CrossLane, Exact, false, "The rack with one lane replaced by a uniform.";
    Bitmask "bitmask" "bitmask" Call 1..=1 None T::MaskTo(Elem::U32), Unmasked, None, false, "Bit k is lane k of the mask (u64 for 64 lanes).";
    All "all" "all" Call 1..=1 None T::MaskTo(Elem::Bool), Unmasked, None, false, "Whether every lane holds.";
    Any "any" "any" Call 1..=1 None T::MaskTo(Elem::Bool), Unmasked, None, false, "Whether some lane holds.";
    Sum "sum" "sum" Call 1..=1 None T::Reduce(FIU), Unmasked, Rounded, false, "Lanes added in order.";
    Product "product" "product" Call 1..=1 None T::Reduce(FIU), Unmasked, Rounded, false, "Lanes multiplied in order.";
    Minimum "minimum" "minimum" Call 1..=1 None T::Reduce(FIU), Unmasked, Exact, false, "Strict minimum of the lanes in order.";
    Maximum "maximum" "maximum" Call 1..=1 None T::Reduce(FIU), Unmasked, Exact, false, "Strict maximum of the lanes in order.";
    ScanSum "scan_sum" "scan_sum" Call 1..=1 None T::Scan(FIU), Unmasked, Rounded, false, "Inclusive prefix sums in order.";
    ScanProduct "scan_product" "scan_product" Call 1..=1 None T::Scan(FIU), Unmasked, Rounded, false, "Inclusive prefix products in order.";
    ScanMinimum "scan_minimum" "scan_minimum" Call 1..=1 None T::Scan(FIU), Unmasked, Exact, false, "Inclusive prefix minima in order.";
    ScanMaximum "scan_maximum" "scan_maximum" Call 1..=1 None T::Scan(FIU), Unmasked, Exact, false, "Inclusive prefix maxima in order.";
    Compress "compress" "compress" Call 2..=2 None T::Pack, CrossLane, Exact, false, "Selected lanes to the front in order, then zeros.";
    Expand "expand" "expand" Call 3..=3 None T::Pack, CrossLane, Exact, false, "Front lanes to the selected places, the third operand elsewhere.";
    RelaxedMadd "relaxed_madd" "relaxed_madd" Call 3..=3 None T::SameF32, Unmasked, Rounded, true, "a*b + c with one rounding or two.";
    RelaxedNmadd "relaxed_nmadd" "relaxed_nmadd" Call 3..=3 None T::SameF32, Unmasked, Rounded, true, "c - a*b with one rounding or two.";
    RelaxedMin "relaxed_min" "relaxed_min" Call 2..=2 None T::SameF32, Unmasked, Rounded, true, "Minimum; NaN and zeros as the engine likes.";
    RelaxedMax "relaxed_max" "relaxed_max" Call 2..=2 None T::SameF32, Unmasked, Rounded, true, "Maximum; NaN and zeros as the engine likes.";
    Sin "sin" "sin" Call 1..=1 None T::SameF32, Sanitise(&[0.0]), Sequence, true, "Sine; rejected until its sequence is defined.";
    Cos "cos" "cos" Call 1..=1 None T::SameF32, Sanitise(&[0.0]), Sequence, true, "Cosine; rejected until its sequence is defined.";
    Tan "tan" "tan" Call 1..=1 None T::SameF32, Sanitise(&[0.0]), Sequence, true, "Tangent; rejected until its sequence is defined.";
    Pow "pow" "pow" Call 2..=2 None T::SameF32, Sanitise(&[1.0, 1.0]), Sequence, true, "Power; rejected until its sequence is defined.";
    Atan2 "atan2" "atan2" Call 2..=2 None T::SameF32, Sanitise(&[0.0, 1.0]), Sequence, true, "Angle of a point; rejected until its sequence is defined.";
    Carry "carry" "" Internal 1..=1 None T::Any, Total, Exact, false, "What a loop changes: at first its operand, then what the end of each trip gives.";
    Merge "merge" "" Internal 2..=2 None T::Any, Total, Exact, false, "The value of the body that an `if` executed.";
    Index "index" "" Internal 0..=0 None T::Signature(&[], Ty::LONG), Total, None, false, "The number of the first record that a traverse visits.";
    Column "column" "" Internal 1..=1 Column T::Signature(&[Ty::Address], Ty::Address), Reads, None, false, "Where a column of a stack stands.";
    Count "count" "" Internal 1..=1 None T::Signature(&[Ty::Address], Ty::LONG), Reads, None, false, "How many records a stack has.";
    SetCount "set_count" "" Internal 2..=2 None T::Signature(&[Ty::Address, Ty::LONG], Ty::LONG), Effect, None, false, "Gives a stack another count.";
    ToI64 "to_i64" "" Internal 1..=1 None T::ToI64, Total, None, false, "The same number in 64 bits; of an address, where it leads.";
    InRange "in_range" "" Internal 1..=1 None T::Given, Total, None, false, "Whether the lane's number is below the operand.";
    CountTrue "count_true" "" Internal 1..=1 None T::CountTrue, Total, None, false, "How many lanes hold.";
    Check "check" "" Internal 1..=1 Reason T::Signature(&[Ty::TRUTH], Ty::TRUTH), Effect, None, false, "Stops the program unless its operand holds.";
    Load "load" "" Internal 2..=2 Memory T::Given, Reads, Exact, false, "Consecutive elements, in lanes that are at least as wide; zeros in inactive lanes.";
    LoadUniform "load_uniform" "" Internal 2..=2 Memory T::Given, Reads, Exact, false, "One element.";
    Store "store" "" Internal 3..=3 Memory T::Store, Effect, Exact, false, "Lanes to consecutive elements, wrapping where these are narrower.";
    StoreSelected "store_selected" "" Internal 4..=4 Memory T::Store, Effect, Exact, false, "The selected lanes to consecutive elements, in order; what stands behind them up to a rack is unspecified.";
    Gather "gather" "" Internal 2..=2 Memory T::Indexed, Reads, Exact, false, "Elements at indices; zeros in inactive lanes.";
    Scatter "scatter" "" Internal 3..=3 Memory T::Indexed, Effect, Exact, false, "Lanes to elements at indices, which differ.";
}

impl Op {
    /// Its row.
    pub const fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// Its name in dumps.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The rule for inactive lanes of an instance. A `bitcast` between lane widths moves lanes: each of its lanes reads
    /// several, or a part of one.
    pub fn lane_rule(self, args: &[Ty], result: Ty) -> LaneRule {
        match (self, args) {
            (Op::Bitcast, &[from]) if from.lane_bits() != result.lane_bits() => CrossLane,
            _ => self.info().lane,
        }
    }

    /// Whether it is a move of lanes by literals: what a selection table plans for each immediate.
    pub const fn moves_lanes(self) -> bool {
        let moves = matches!(self.info().types, TypeRule::Racks | TypeRule::Extract | TypeRule::Insert);
        moves && !matches!(self, Op::Unsplat)
    }

    /// Whether it does something beside giving its value, so that it stays though nobody reads that.
    pub fn has_effect(self) -> bool {
        self.info().lane == Effect
    }

    /// Whether it touches memory or what a loop changes, so that equal ones may give different values.
    pub fn depends_on_place(self) -> bool {
        matches!(self.info().lane, Reads | Effect) || matches!(self, Op::Carry | Op::Merge | Op::Index)
    }

    /// The operation with this name in dumps.
    pub fn from_name(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.name == name).map(|row| row.op)
    }

    /// The operation that source calls by this name, `shuffle(...)`.
    pub fn from_call(name: &str) -> Option<Op> {
        OPS.iter().find(|row| row.syntax == Syntax::Call && row.spelling == name).map(|row| row.op)
    }

    /// The result type over operands of these types; operands are broadcast already (all racks or all uniform).
    /// Rules whose result the instance gives ([`TypeRule::Given`], [`TypeRule::Splat`]) return `given`.
    ///
    /// # Errors
    /// What the operands should have been, in words that complete "`name` needs ...".
    pub fn infer(self, args: &[Ty], given: Option<Ty>) -> Result<Ty, String> {
        let row = self.info();
        let (lo, hi) = row.arity;
        if args.len() < lo as usize || args.len() > hi as usize {
            return Err(if lo == hi { format!("{lo} operands") } else { format!("{lo} to {hi} operands") });
        }
        infer(row.types, args, given)
    }
}

fn class_words(classes: &[ElemClass]) -> String {
    let words: SmallVec<[&str; 4]> = classes
        .iter()
        .map(|c| match c {
            ElemClass::Bool => "masks",
            Float => "floats",
            Signed => "signed integers",
            Unsigned => "unsigned integers",
        })
        .collect();
    words.join(" or ")
}

fn same(args: &[Ty]) -> Result<Ty, String> {
    let first = args[0];
    if args.iter().all(|&t| t == first) { Ok(first) } else { Err("operands of one type".into()) }
}

fn of_class(ty: Ty, classes: &[ElemClass]) -> Result<Ty, String> {
    let fits = !matches!(ty, Ty::Mask(_)) && classes.contains(&ty.elem().class());
    if fits { Ok(ty) } else { Err(class_words(classes)) }
}

fn rack_of(ty: Ty, classes: &[ElemClass]) -> Result<Elem, String> {
    match ty {
        Ty::Rack(elem) if classes.contains(&elem.class()) => Ok(elem),
        _ => Err(format!("a rack of {}", class_words(classes))),
    }
}

fn infer(rule: TypeRule, args: &[Ty], given: Option<Ty>) -> Result<Ty, String> {
    match rule {
        T::Same(classes) => of_class(same(args)?, classes),
        T::SameF32 => match same(args)? {
            ty if ty.elem() == Elem::F32 => Ok(ty),
            _ => Err("f32 operands".into()),
        },
        T::Compare => of_class(same(args)?, FIU).map(Ty::truth),
        T::Truth => match same(args)? {
            ty if ty.is_truth() => Ok(ty),
            _ => Err("masks".into()),
        },
        T::Choose => {
            let value = same(&args[1..])?;
            match args[0] {
                Ty::TRUTH => Ok(value),
                Ty::Mask(w) if value.lane_bits() == Some(w) => Ok(value),
                Ty::Mask(_) => Err("racks whose lanes are as wide as the mask's".into()),
                _ => Err("a mask or a `bool` uniform first".into()),
            }
        }
        T::Convert(from, to) => match args[0] {
            Ty::Rack(e) if from.contains(&e) => Ok(Ty::Rack(to)),
            Ty::Uniform(e) if from.contains(&e) => Ok(Ty::Uniform(to)),
            _ => Err(from.iter().map(|e| format!("{e}s")).collect::<Vec<_>>().join(" or ")),
        },
        T::Shift => match args.get(1) {
            None | Some(Ty::Uniform(Elem::U32)) => of_class(args[0], IU),
            Some(_) => Err("a literal or a uniform `u32` as its count".into()),
        },
        T::Resize(from, to) => match same(args)? {
            Ty::Rack(e) if e == from => Ok(Ty::Rack(to)),
            _ => Err(format!("{from}s")),
        },
        T::Racks => match same(args)? {
            Ty::Rack(e) => Ok(Ty::Rack(e)),
            _ => Err("racks".into()),
        },
        T::Reduce(classes) => rack_of(args[0], classes).map(Ty::Uniform),
        T::Scan(classes) => rack_of(args[0], classes).map(Ty::Rack),
        T::MaskTo(elem) => match args[0] {
            Ty::Mask(8) if elem == Elem::U32 => Ok(given.unwrap_or(Ty::Uniform(Elem::U32))),
            Ty::Mask(_) => Ok(Ty::Uniform(elem)),
            _ => Err("a mask".into()),
        },
        T::Extract => rack_of(args[0], FIU).map(Ty::Uniform),
        T::Insert => match (args[0], args[1]) {
            (Ty::Rack(e), Ty::Uniform(u)) if e == u => Ok(Ty::Rack(e)),
            _ => Err("a rack and a uniform of its element".into()),
        },
        T::Pack => {
            let value = same(&args[1..])?;
            match (args[0], value) {
                (Ty::Mask(w), Ty::Rack(e)) if e.bits() == w => Ok(value),
                _ => Err("a mask and racks of its lane width".into()),
            }
        }
        T::Splat => match (args[0], given) {
            (Ty::Uniform(e), Some(Ty::Rack(to))) if e == to => Ok(Ty::Rack(to)),
            (Ty::TRUTH, Some(Ty::Mask(w))) => Ok(Ty::Mask(w)),
            _ => Err("a uniform of the rack's element".into()),
        },
        T::Given => given.ok_or_else(|| "a type".into()),
        T::Any => same(args),
        T::Signature(params, result) => match args == params {
            true => Ok(result),
            false => Err(params.iter().map(Ty::to_string).collect::<Vec<_>>().join(" and ")),
        },
        T::Store => match *args {
            [Ty::Address, Ty::LONG, Ty::Rack(elem)] => Ok(Ty::Rack(elem)),
            [Ty::Address, Ty::LONG, Ty::Rack(elem), Ty::Mask(bits)] if bits == elem.bits() => Ok(Ty::Rack(elem)),
            _ => Err("an address, an <i64>, a rack and perhaps a mask of its lanes".into()),
        },
        T::Indexed => match (args, given) {
            ([Ty::Address, Ty::Rack(Elem::I32 | Elem::U32)], Some(ty)) => Ok(ty),
            ([Ty::Address, Ty::Rack(Elem::I32 | Elem::U32), Ty::Rack(elem)], _) => Ok(Ty::Rack(*elem)),
            _ => Err("an address and a rack of 32-bit indices".into()),
        },
        T::CountTrue => match args[0] {
            Ty::Mask(_) => Ok(Ty::LONG),
            _ => Err("a mask".into()),
        },
        T::ToI64 => match args[0] {
            Ty::Address => Ok(Ty::LONG),
            Ty::Uniform(elem) if elem.is_int() => Ok(Ty::LONG),
            _ => Err("a uniform integer or an address".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_operations_index_and_names_are_unique() {
        for (index, row) in OPS.iter().enumerate() {
            assert_eq!(row.op as usize, index);
            assert_eq!(Op::from_name(row.name), Some(row.op), "{} names two rows", row.name);
            if let LaneRule::Sanitise(benign) = row.lane {
                assert_eq!(benign.len(), row.arity.1 as usize, "{}", row.name);
            }
        }
    }

    #[test]
    fn a_bitcast_between_lane_widths_moves_lanes() {
        let rule = |from, to| Op::Bitcast.lane_rule(&[Ty::Rack(from)], Ty::Rack(to));
        assert_eq!(rule(Elem::F32, Elem::U32), Total);
        assert_eq!(rule(Elem::F32, Elem::U8), CrossLane);
        assert_eq!(rule(Elem::U8, Elem::F32), CrossLane);
        assert_eq!(Op::Bitcast.lane_rule(&[Ty::Uniform(Elem::F32)], Ty::Uniform(Elem::U32)), Total);
    }

    #[test]
    fn inference_follows_the_rules() {
        let f = Ty::Rack(Elem::F32);
        let i = Ty::Rack(Elem::I32);
        let u = Ty::Rack(Elem::U32);
        assert_eq!(Op::Add.infer(&[f, f], None), Ok(f));
        assert!(Op::Add.infer(&[f, i], None).is_err());
        assert!(Op::Neg.infer(&[u], None).is_err());
        assert_eq!(Op::Lt.infer(&[u, u], None), Ok(Ty::Mask(32)));
        assert_eq!(Op::Select.infer(&[Ty::Mask(32), i, i], None), Ok(i));
        assert!(Op::Select.infer(&[Ty::Mask(64), i, i], None).is_err());
        assert_eq!(Op::ToF32.infer(&[u], None), Ok(f));
        assert_eq!(Op::Sum.infer(&[f], None), Ok(Ty::Uniform(Elem::F32)));
        assert_eq!(Op::All.infer(&[Ty::Mask(32)], None), Ok(Ty::TRUTH));
    }
}
