//! What values hold in the lanes where they are not computed.
//!
//! `%6 : f32s = mul %4, %5 if %2 else 1.0` says that outside `%2` every lane holds 1.0. Such a fact follows from what the
//! operands hold there; nothing here is assumed. Masks are looked through for a bounded number of steps, conjunctions,
//! disjunctions and complements alike (arms after the second stand under `and (not (or a, b)), c`), so a fact may be missed, never
//! invented.

use super::{Value, ValueId};
use crate::ops::{Imm, Op};
use crate::reference::Reference;
use crate::types::Elem;
use la_arena::Arena;
use smallvec::SmallVec;

/// Choices that are looked through for one operand.
const MOST_CHOICES: usize = 16;

/// Pairs of masks that are compared for one question.
const MOST_PAIRS: u32 = 48;

/// Whether `truth` holds only in lanes where `part` holds.
pub fn implies(values: &Arena<Value>, truth: ValueId, part: ValueId) -> bool {
    Masks { values, left: MOST_PAIRS }.implies(truth, part)
}

/// Whether `truth` holds in no lane where `part` holds.
pub fn excludes(values: &Arena<Value>, truth: ValueId, part: ValueId) -> bool {
    Masks { values, left: MOST_PAIRS }.excludes(truth, part)
}

/// Whether `part` holds in every lane where `truth` does not.
pub fn completes(values: &Arena<Value>, truth: ValueId, part: ValueId) -> bool {
    Masks { values, left: MOST_PAIRS }.completes(truth, part)
}

/// One question about masks; no when it takes too many steps.
struct Masks<'a> {
    values: &'a Arena<Value>,
    left: u32,
}

impl<'a> Masks<'a> {
    fn step(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn parts(&self, truth: ValueId) -> (Op, &'a [ValueId]) {
        (self.values[truth].op, &self.values[truth].args)
    }

    fn implies(&mut self, truth: ValueId, part: ValueId) -> bool {
        if truth == part || !self.step() {
            return truth == part;
        }
        let (of_truth, of_part) = (self.parts(truth), self.parts(part));
        let by_truth = match of_truth {
            (Op::And, &[a, b]) => self.implies(a, part) || self.implies(b, part),
            (Op::Or, &[a, b]) => self.implies(a, part) && self.implies(b, part),
            (Op::Not, &[a]) => self.completes(a, part),
            _ => false,
        };
        by_truth
            || match of_part {
                (Op::And, &[a, b]) => self.implies(truth, a) && self.implies(truth, b),
                (Op::Or, &[a, b]) => self.implies(truth, a) || self.implies(truth, b),
                (Op::Not, &[a]) => self.excludes(truth, a),
                _ => false,
            }
    }

    fn excludes(&mut self, truth: ValueId, part: ValueId) -> bool {
        if !self.step() {
            return false;
        }
        [(truth, part), (part, truth)].into_iter().any(|(one, other)| match self.parts(one) {
            (Op::And, &[a, b]) => self.excludes(a, other) || self.excludes(b, other),
            (Op::Or, &[a, b]) => self.excludes(a, other) && self.excludes(b, other),
            (Op::Not, &[a]) => self.implies(other, a),
            _ => false,
        })
    }

    fn completes(&mut self, truth: ValueId, part: ValueId) -> bool {
        if !self.step() {
            return false;
        }
        [(truth, part), (part, truth)].into_iter().any(|(one, other)| match self.parts(one) {
            (Op::And, &[a, b]) => self.completes(a, other) && self.completes(b, other),
            (Op::Or, &[a, b]) => self.completes(a, other) || self.completes(b, other),
            (Op::Not, &[a]) => self.implies(a, other),
            _ => false,
        })
    }
}

/// The bits that `operand` holds in every lane outside `mask`, when they are known: of a constant; of a choice by the mask;
/// of a value whose fact covers those lanes.
pub fn known(values: &Arena<Value>, mut operand: ValueId, mask: ValueId) -> Option<u64> {
    for _ in 0..MOST_CHOICES {
        let value = &values[operand];
        match (value.op, &value.imm, &value.args[..]) {
            (Op::Const, Imm::Bits(bits), _) => return Some(*bits),
            _ if value.inactive.is_some() => {
                let own = value.mask?;
                return value.inactive.filter(|_| implies(values, own, mask));
            }
            (Op::Select | Op::If, _, &[by, _, otherwise]) if implies(values, by, mask) => operand = otherwise,
            (Op::Select | Op::If, _, &[by, then, _]) if completes(values, mask, by) => operand = then,
            _ => return None,
        }
    }
    None
}

/// What each operand holds outside `mask`; `None` unless all are known.
fn all_known(values: &Arena<Value>, args: &[ValueId], mask: ValueId) -> Option<SmallVec<[u64; 3]>> {
    args.iter().map(|&arg| known(values, arg, mask)).collect()
}

/// What a value under a mask holds outside it, as far as that follows from its operands.
pub fn fact(values: &Arena<Value>, id: ValueId) -> Option<u64> {
    let value = &values[id];
    let mask = value.mask?;
    let elem = |at: usize| value.args.get(at).map_or(Elem::Bool, |&arg| values[arg].ty.elem());
    match (value.op, &value.args[..]) {
        (Op::Select | Op::If, &[by, then, otherwise]) => {
            let arms = (known(values, then, mask), known(values, otherwise, mask));
            // First what the masks say: of a mask that holds everywhere, nothing lies outside.
            if implies(values, by, mask) {
                arms.1
            } else if completes(values, mask, by) {
                arms.0
            } else {
                match known(values, by, mask).map(|bits| bits & 1 == 1) {
                    Some(true) => arms.0,
                    Some(false) => arms.1,
                    None => arms.0.filter(|_| arms.0 == arms.1),
                }
            }
        }
        (Op::Bitcast, &[arg]) if elem(0).bits() == value.ty.elem().bits() => known(values, arg, mask),
        // What is not read is zero.
        (Op::Load | Op::Gather, _) => Some(0),
        _ => {
            let Reference::Lane(f) = value.op.info().reference else { return None };
            Some(f(elem(0), &value.imm, &all_known(values, &value.args, mask)?))
        }
    }
}

/// Whether a value that is computed on whole racks raises no floating-point flag in the lanes outside its mask.
pub(super) fn raises_nothing_outside(values: &Arena<Value>, id: ValueId) -> bool {
    let value = &values[id];
    let Some(mask) = value.mask else { return true };
    let elem = value.args.first().map_or(Elem::Bool, |&arg| values[arg].ty.elem());
    if super::needs_benign(value.op, elem, value.ty.elem()).is_none() {
        return true;
    }
    all_known(values, &value.args, mask).is_some_and(|args| super::raises_nothing(value.op, elem, &args))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Args;
    use crate::span::Span;
    use crate::types::Ty;

    #[test]
    fn masks_of_later_arms_are_told_apart() {
        let mut values = Arena::new();
        let mut make = |op, args: &[ValueId]| {
            let (args, span) = (Args::from_slice(args), Span::default());
            let value =
                Value { op, imm: Imm::None, args, ty: Ty::Mask(32), mask: None, inactive: None, span, name: None };
            values.alloc(value)
        };
        let [a, b, c] = [(); 3].map(|()| make(Op::Param, &[]));
        let both = make(Op::And, &[a, c]);
        let either = make(Op::Or, &[a, b]);
        let neither = make(Op::Not, &[either]);
        let third = make(Op::And, &[neither, c]);
        let not_a = make(Op::Not, &[a]);
        let (implied, apart) =
            (|x, y| implies(&values, x, y), |x, y| excludes(&values, x, y) && excludes(&values, y, x));
        assert!(apart(third, a) && apart(third, b) && apart(third, both) && !apart(third, c) && !apart(a, b));
        assert!(implied(third, not_a) && implied(third, c) && implied(both, either) && implied(neither, not_a));
        assert!(!implied(either, a) && !implied(not_a, neither) && !implied(c, third) && !implied(either, both));
        assert!(
            completes(&values, neither, either) && completes(&values, not_a, a) && completes(&values, not_a, either)
        );
        assert!(!completes(&values, third, either) && !completes(&values, either, a) && completes(&values, a, not_a));
    }
}
