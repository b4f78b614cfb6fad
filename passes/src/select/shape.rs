//! Shapes: what a value is, seen together with what it reads.

use super::rule::{Key, Rule, Target};
use super::{constant_bits, key_elem};
use rake_ir::fused::Function;
use rake_ir::lane::{Args, ValueId};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;

/// What is lowered for a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shape {
    pub key: Key,
    pub elem: Elem,
    pub args: Args,
}

impl Shape {
    fn new(key: Key, elem: Elem, args: &[ValueId]) -> Shape {
        Shape { key, elem, args: args.iter().copied().collect() }
    }
}

/// The shape of a value: the widest that the table has a rule for.
pub(super) fn of(f: &Function, id: ValueId, profile: Profile, target: &dyn Target) -> Shape {
    let value = &f.values[id];
    let elem = key_elem(f, id);
    let has = |shape: &Shape| !matches!(target.rule(shape.key, shape.elem, profile), Rule::Unsupported(_));
    let wider = match value.op {
        Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub => signs(f, id),
        Op::Not => complement(f, id),
        Op::And => and_not(f, id),
        Op::Select | Op::If => return choice(f, id, &has),
        Op::ShiftBitsLeft | Op::ShiftBitsRight | Op::ShiftBitsRightSigned if value.args.len() == 2 => {
            return Shape::new(Key::ShiftBy(value.op), elem, &value.args);
        }
        _ => None,
    };
    wider.filter(has).unwrap_or_else(|| Shape::new(Key::Op(value.op), elem, &value.args))
}

/// The shape of the function's result: when nothing but the caller reads a uniform, no rack needs to hold it.
pub(super) fn of_result(f: &Function, id: ValueId, profile: Profile, target: &dyn Target) -> Shape {
    let value = &f.values[id];
    let left = Shape::new(Key::Leave(value.op), key_elem(f, id), &value.args);
    let supported = !matches!(target.rule(left.key, left.elem, profile), Rule::Unsupported(_));
    if value.ty.is_uniform() && supported { left } else { of(f, id, profile, target) }
}

fn under(f: &Function, op: Op, id: ValueId) -> Option<ValueId> {
    let value = &f.values[id];
    if value.op == op { value.args.first().copied() } else { None }
}

/// Negations of factors and addend go into the signs of a multiply-add; a sign bit flip is exact in all of them.
fn signs(f: &Function, id: ValueId) -> Option<Shape> {
    let value = &f.values[id];
    let [mut a, mut b, mut c] = *value.args.as_slice() else { return None };
    let (mut product, mut addend) = match value.op {
        Op::MulSub => (false, true),
        Op::NegMulAdd => (true, false),
        Op::NegMulSub => (true, true),
        _ => (false, false),
    };
    for (operand, sign) in [(&mut a, 0), (&mut b, 0), (&mut c, 1)] {
        while let Some(inner) = under(f, Op::Neg, *operand) {
            *operand = inner;
            *if sign == 0 { &mut product } else { &mut addend } ^= true;
        }
    }
    let op = match (product, addend) {
        (false, false) => Op::MulAdd,
        (false, true) => Op::MulSub,
        (true, false) => Op::NegMulAdd,
        (true, true) => Op::NegMulSub,
    };
    // An explicit `fma` without negations keeps its own row, so that rejections name it.
    let op = if value.op == Op::Fma && op == Op::MulAdd { Op::Fma } else { op };
    Some(Shape::new(Key::Op(op), value.ty.elem(), &[a, b, c]))
}

fn complement(f: &Function, id: ValueId) -> Option<Shape> {
    let inner = *f.values[id].args.first()?;
    if let Some(twice) = under(f, Op::Not, inner) {
        // `not not m`: the truth itself, as `m and m` would be; free by the rule of `splat`.
        return Some(Shape::new(Key::Op(Op::Splat), Elem::Bool, &[twice]));
    }
    let value = &f.values[inner];
    let elem = key_elem(f, inner);
    let opposite = match value.op {
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        _ => return None,
    };
    let key = if elem.is_float() { Key::Not(value.op) } else { Key::Op(opposite) };
    Some(Shape::new(key, elem, &value.args))
}

fn and_not(f: &Function, id: ValueId) -> Option<Shape> {
    let [a, b] = *f.values[id].args.as_slice() else { return None };
    let (keep, drop) = match (under(f, Op::Not, a), under(f, Op::Not, b)) {
        (_, Some(b)) => (a, b),
        (Some(a), None) => (b, a),
        (None, None) => return None,
    };
    Some(Shape::new(Key::AndNot, Elem::Bool, &[keep, drop]))
}

fn choice(f: &Function, id: ValueId, has: &dyn Fn(&Shape) -> bool) -> Shape {
    let value = &f.values[id];
    let elem = value.ty.elem();
    let [mut mask, mut then, mut otherwise] = *value.args.as_slice() else {
        return Shape::new(Key::Op(Op::Select), elem, &value.args);
    };
    while let Some(inner) = under(f, Op::Not, mask) {
        mask = inner;
        std::mem::swap(&mut then, &mut otherwise);
    }
    let mut shapes = Vec::with_capacity(2);
    if let Some(key) = extremum(f, mask, then, otherwise, elem) {
        // With the arms swapped, `a < b ? b : a` is `b > a ? b : a`: always the arms, in order.
        shapes.push(Shape::new(key, elem, &[then, otherwise]));
    }
    if elem != Elem::Bool {
        if constant_bits(f, otherwise) == Some(0) {
            shapes.push(Shape::new(Key::KeepWhere, elem, &[mask, then]));
        } else if constant_bits(f, then) == Some(0) {
            shapes.push(Shape::new(Key::ClearWhere, elem, &[mask, otherwise]));
        }
    }
    let plain = Shape::new(Key::Op(Op::Select), elem, &[mask, then, otherwise]);
    shapes.into_iter().find(|s| has(s)).unwrap_or(plain)
}

/// `Smaller` or `Larger` when choosing by `mask` between the operands it compares is the machine's raw extremum: the
/// second operand on equality or beside a NaN.
fn extremum(f: &Function, mask: ValueId, then: ValueId, otherwise: ValueId, elem: Elem) -> Option<Key> {
    let compare = &f.values[mask];
    let [a, b] = *compare.args.as_slice() else { return None };
    if f.values[a].ty.elem() != elem {
        return None;
    }
    let less = match compare.op {
        Op::Lt => true,
        Op::Gt => false,
        Op::Le if elem.is_int() => true,
        Op::Ge if elem.is_int() => false,
        _ => return None,
    };
    match (then, otherwise) {
        (t, o) if (t, o) == (a, b) => Some(if less { Key::Smaller } else { Key::Larger }),
        (t, o) if (t, o) == (b, a) => Some(if less { Key::Larger } else { Key::Smaller }),
        _ => None,
    }
}
