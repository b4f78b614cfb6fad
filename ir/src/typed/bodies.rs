//! What the bodies of `typed` and `desugared` have alike, over their own ids `L` of locals, `E` of expressions and
//! statements `S`.

use crate::span::Span;
use crate::types::{Elem, Ty};

/// A name and its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Binding<L, E> {
    /// The name, bound here and nowhere else.
    pub local: L,
    /// Its value.
    pub value: E,
}

/// A block computed under a mask, and the name of its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Through<L, E, S> {
    /// The name, a rack or mask; without a value in the other lanes unless there is an `otherwise`.
    pub local: L,
    /// The lanes in which it is computed: a mask of the local's lanes; before `desugar` also a `<bool>`.
    pub predicate: E,
    /// The value of the other lanes.
    pub otherwise: Option<E>,
    /// What it computes first; its names are its own.
    pub body: Vec<S>,
    /// The value of its lanes.
    pub result: E,
    /// The header in source.
    pub span: Span,
}

/// One arm of a sweep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arm<E> {
    /// The lanes it takes, of those that no arm before it took; `None` is `_`, all that are left.
    pub predicate: Option<E>,
    /// Their value, computed in these lanes only.
    pub value: E,
    /// The arm in source.
    pub span: Span,
}

/// The records of a stack, one rack at a time, and what becomes of them: all that a stack run does.
#[derive(Clone, PartialEq, Debug)]
pub struct Traverse<L, E, S> {
    /// The stack, a parameter.
    pub stack: L,
    /// Width of a lane: the run's domain.
    pub bits: u32,
    /// What is computed for each rack; its names are its own.
    pub body: Vec<S>,
    /// The records that are replaced, or kept; `None` is all. A mask of the lanes; before `desugar` also a `<bool>`.
    pub predicate: Option<E>,
    /// Whether the other records go.
    pub compact: bool,
    /// The columns that are replaced, each once: its position and its new values, computed where the predicate holds.
    pub columns: Vec<(u32, E)>,
    /// The result in source.
    pub span: Span,
}

/// The rack in which a run over lanes of `bits` holds a column of these elements; `None` when there is none.
pub fn working_rack(elem: Elem, bits: u32) -> Option<Ty> {
    use Elem::{I8, I16, I32, I64, U8, U16, U32, U64};
    let wide = |list: [Elem; 4]| list.into_iter().find(|wide| wide.bits() == bits);
    match elem {
        _ if elem.bits() == bits => Some(elem),
        _ if elem.bits() > bits => None,
        I8 | I16 | I32 => wide([I8, I16, I32, I64]),
        U8 | U16 | U32 => wide([U8, U16, U32, U64]),
        _ => None,
    }
    .map(Ty::Rack)
}

/// A place in a view: one element, a rack of consecutive ones, or the elements at a rack of indices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Access<L, E> {
    /// The view's address, a parameter.
    pub view: L,
    /// How many elements it has: the `<i32>` parameter behind it.
    pub count: L,
    /// An `<i64>`, exact, or a rack of 32-bit indices.
    pub index: E,
    /// In a rack of consecutive elements only those below this `<i64>` are touched.
    pub bound: Option<E>,
    /// How the index is held to the view.
    pub check: Check,
}

/// Where an access traps when its index is outside the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// Nowhere: the source says that it is inside.
    Unchecked,
    /// Where it stands.
    Here,
    /// Where the loop around it is entered, for the first and the last trip. Its index is affine in the loop's and
    /// otherwise made of what stands before the loop and of indices of repeats, and every trip executes it.
    Entry,
}

/// A counted loop: `for <index> from a up to b by s`.
#[derive(Clone, PartialEq, Debug)]
pub struct For<L, E, S> {
    /// The index.
    pub index: L,
    /// Its first value.
    pub from: E,
    /// The bound, not reached.
    pub to: E,
    /// What is added from trip to trip; a step that is not above zero traps.
    pub step: E,
    /// From `desugar` on, the locations that it changes.
    pub carries: Vec<Carry<L, E>>,
    /// What each trip does.
    pub body: Vec<S>,
    /// The header in source.
    pub span: Span,
}

/// A name whose value a loop changes: after the loop it has the last one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Carry<L, E> {
    /// The name.
    pub local: L,
    /// Its value in the first trip.
    pub first: E,
    /// Its value in the next trip, computed at the end of the body.
    pub next: E,
}

/// The statement `if` on a uniform.
#[derive(Clone, PartialEq, Debug)]
pub struct If<L, E, S> {
    /// A `<bool>`.
    pub condition: E,
    /// What is done when it holds.
    pub then: Vec<S>,
    /// What is done when not.
    pub otherwise: Vec<S>,
    /// From `desugar` on, the locations that it changes.
    pub merges: Vec<Merge<L, E>>,
    /// The condition in source.
    pub span: Span,
}

/// A name whose value depends on which body of an `if` was executed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Merge<L, E> {
    /// The name, bound behind the `if`.
    pub local: L,
    /// Its value at the end of the first body.
    pub then: E,
    /// Its value at the end of the other.
    pub otherwise: E,
}
