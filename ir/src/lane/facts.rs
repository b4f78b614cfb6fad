//! What values hold in the lanes where they are not computed.
//!
//! `%6 : f32s = mul %4, %5 if %2 else 1.0` says that outside `%2` every lane holds 1.0. Such a fact follows from what the
//! operands hold there; nothing here is assumed. Conjunctions are looked through to a bounded depth, so a fact may be
//! missed, never invented.

use super::{Value, ValueId};
use crate::ops::{Imm, Op};
use crate::reference::Reference;
use crate::types::Elem;
use la_arena::Arena;
use smallvec::SmallVec;

/// Parts of a conjunction that are looked at.
const MOST_PARTS: usize = 16;

/// Whether `truth` holds only in lanes where `part` holds: it is `part` or a conjunction with it.
pub fn implies(values: &Arena<Value>, truth: ValueId, part: ValueId) -> bool {
    holds_for_a_part(values, truth, |at| at == part)
}

/// Whether something is so for `truth` or a part of it, as a conjunction.
pub(super) fn holds_for_a_part(values: &Arena<Value>, truth: ValueId, wanted: impl Fn(ValueId) -> bool) -> bool {
    let mut stack: SmallVec<[ValueId; MOST_PARTS]> = SmallVec::from_slice(&[truth]);
    for _ in 0..MOST_PARTS {
        let Some(at) = stack.pop() else { return false };
        if wanted(at) {
            return true;
        }
        if values[at].op == Op::And {
            stack.extend(values[at].args.iter().rev().copied());
        }
    }
    false
}

/// Whether `truth` holds in no lane where `part` holds: it is its complement or a conjunction with that.
pub fn excludes(values: &Arena<Value>, truth: ValueId, part: ValueId) -> bool {
    holds_for_a_part(values, truth, |at| is_not(values, at, part))
}

/// The bits that `operand` holds in every lane outside `mask`, when they are known: of a constant; of a choice by the mask;
/// of a value whose fact covers those lanes.
pub fn known(values: &Arena<Value>, mut operand: ValueId, mask: ValueId) -> Option<u64> {
    for _ in 0..MOST_PARTS {
        let value = &values[operand];
        match (value.op, &value.imm, &value.args[..]) {
            (Op::Const, Imm::Bits(bits), _) => return Some(*bits),
            _ if value.inactive.is_some() => {
                let own = value.mask?;
                return value.inactive.filter(|_| implies(values, own, mask));
            }
            (Op::Select | Op::If, _, &[by, _, otherwise]) if implies(values, by, mask) => operand = otherwise,
            (Op::Select | Op::If, _, &[by, then, _]) if is_not(values, mask, by) => operand = then,
            _ => return None,
        }
    }
    None
}

fn is_not(values: &Arena<Value>, not: ValueId, of: ValueId) -> bool {
    values[not].op == Op::Not && values[not].args.first() == Some(&of)
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
            } else if is_not(values, mask, by) {
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
