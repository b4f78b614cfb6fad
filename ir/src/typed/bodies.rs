//! What the bodies of `typed` and `desugared` have alike, over their own ids `L` of locals, `E` of expressions and
//! statements `S`.

use crate::span::Span;

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
