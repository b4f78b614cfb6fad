//! `simplify`: fused to fused. Exact rewrites only: every value that remains has the bits it had.
//!
//! ```text
//! %1 : mask = not %0
//! %2 : mask = not %1
//! %3 : f32s = select %2, %8, %9    =>    %3 : f32s = select %0, %8, %9
//! %4 : f32s = select %0, %8, %9
//! %5 : f32s = add %3, %4                 %5 : f32s = add %3, %3
//! ```
//!
//! Dead code goes. Identical values are shared outside regions, and inside one region; a constant or broadcast that was
//! computed before serves everywhere. Values of a region stay in it, in their order, and never move. Regions lose their
//! proofs: from here on a region only says what is emitted together.

#[cfg(test)]
mod tests;

use la_arena::Arena;
use rake_ir::fused::{Function, Program, Region};
use rake_ir::lane::{Args, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::types::Ty;
use std::collections::HashMap;

/// Simplifies every function.
pub fn run(mut program: Program) -> Program {
    program.functions.iter_mut().for_each(function);
    program
}

/// Simplifies one function.
pub fn function(function: &mut Function) {
    let to = forward(function);
    function.result = to[index(function.result)];
    let live = liveness(function);
    rebuild(function, &to, &live);
}

fn index(id: ValueId) -> usize {
    id.into_raw().into_u32() as usize
}

/// What makes two values one: the operation, and the region that holds both, if any.
type Key = (Op, Imm, Args, Ty, Option<ValueId>, Option<usize>);

/// Rewrites operands in order; for each value, the one that stands for it.
fn forward(function: &mut Function) -> Vec<ValueId> {
    let mut to: Vec<ValueId> = function.values.iter().map(|(id, _)| id).collect();
    let mut seen: HashMap<Key, ValueId> = HashMap::new();
    let values = &mut function.values;
    for (at, stmt) in function.body.iter().enumerate() {
        let (ids, place) = match stmt {
            Stmt::Value(id) => (std::slice::from_ref(id), None),
            Stmt::Region(region) => (&region.values[..], Some(at)),
        };
        for &id in ids {
            let value = &mut values[id];
            value.args.iter_mut().chain(&mut value.mask).for_each(|arg| *arg = to[index(*arg)]);
            let found = rewrite(values, id).unwrap_or_else(|| {
                let value = &values[id];
                let anywhere = matches!(value.op, Op::Const | Op::Splat | Op::LaneIndex | Op::Param);
                let place = if anywhere { None } else { place };
                let key = (value.op, value.imm.clone(), value.args.clone(), value.ty, value.mask, place);
                *seen.entry(key).or_insert(id)
            });
            if found != id {
                to[index(id)] = found;
                let name = values[id].name.take();
                let kept = &mut values[found];
                kept.name = kept.name.take().or(name);
            }
        }
    }
    to
}

/// The value that `id` is bit for bit, if an exact rule finds one; may change operands of `id` too.
fn rewrite(values: &mut Arena<Value>, id: ValueId) -> Option<ValueId> {
    let value = &values[id];
    // Another value serves where it is computed in every lane that this one is.
    let serves = |other: ValueId| (values[other].mask.is_none() || values[other].mask == value.mask).then_some(other);
    let under = |op: Op, arg: ValueId| {
        let inner = &values[arg];
        (inner.op == op).then_some(()).and_then(|()| serves(arg)).map(|_| inner.args.clone())
    };
    let constant = |arg: ValueId| match (values[arg].op, &values[arg].imm) {
        (Op::Const, Imm::Bits(bits)) => Some(*bits),
        _ => None,
    };
    match (value.op, &value.args[..]) {
        (Op::Not | Op::Neg, &[x]) => serves(under(value.op, x)?[0]),
        (Op::Abs, &[x]) if values[x].op == Op::Abs => serves(x),
        (Op::Abs, &[x]) => {
            let inner = under(Op::Neg, x)?[0];
            serves(inner)?;
            values[id].args[0] = inner;
            None
        }
        (Op::And | Op::Or, &[a, b]) if a == b => serves(a),
        (Op::And | Op::Or, &[a, b]) => {
            // True is neutral for `and`, false for `or`.
            let neutral = Some(u64::from(value.op == Op::And));
            if constant(a) == neutral {
                serves(b)
            } else if constant(b) == neutral {
                serves(a)
            } else {
                None
            }
        }
        (Op::Select, &[mask, a, b]) => choose(values, id, mask, a, b),
        _ => None,
    }
}

/// The rules of `select(mask, a, b)`.
fn choose(
    values: &mut Arena<Value>,
    id: ValueId,
    mut mask: ValueId,
    mut a: ValueId,
    mut b: ValueId,
) -> Option<ValueId> {
    let own = values[id].mask;
    let serves = |values: &Arena<Value>, other: ValueId| values[other].mask.is_none() || values[other].mask == own;
    if values[mask].op == Op::Not && serves(values, mask) && serves(values, values[mask].args[0]) {
        mask = values[mask].args[0];
        (a, b) = (b, a);
    }
    // A choice by the same mask inside an arm was decided already.
    let decided = |arm: ValueId, side: usize| {
        let inner = &values[arm];
        let same = inner.op == Op::Select && inner.args[0] == mask && serves(values, arm);
        if same && serves(values, inner.args[side]) { inner.args[side] } else { arm }
    };
    (a, b) = (decided(a, 1), decided(b, 2));
    let literal = match (values[mask].op, &values[mask].imm) {
        (Op::Const, Imm::Bits(bits)) => Some(*bits & 1 == 1),
        _ => None,
    };
    let picked = match literal {
        Some(true) => Some(a),
        Some(false) => Some(b),
        None => (a == b).then_some(a),
    };
    values[id].args = Args::from_slice(&[mask, a, b]);
    picked.filter(|&picked| serves(values, picked))
}

/// Whether each value is needed for the result.
fn liveness(function: &Function) -> Vec<bool> {
    let mut live = vec![false; function.values.len()];
    let mut stack = vec![function.result];
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut live[index(id)], true) {
            let value = &function.values[id];
            stack.extend(value.args.iter().copied().chain(value.mask));
        }
    }
    // Parameters keep their places, read or not.
    for (id, value) in function.values.iter() {
        live[index(id)] |= value.op == Op::Param;
    }
    live
}

/// Writes the live values into an arena of their own, in program order.
fn rebuild(function: &mut Function, to: &[ValueId], live: &[bool]) {
    let mut old = std::mem::take(&mut function.values);
    let mut new = Arena::with_capacity(live.iter().filter(|&&l| l).count());
    let mut moved: Vec<Option<ValueId>> = vec![None; live.len()];
    let mut place = |id: ValueId| {
        if !live[index(id)] || to[index(id)] != id {
            return None;
        }
        let value = &mut old[id];
        let renamed = |arg: ValueId| moved[index(arg)].unwrap_or(arg);
        let args = value.args.iter().map(|&arg| renamed(arg)).collect();
        let (mask, name) = (value.mask.map(renamed), value.name.take());
        let made =
            new.alloc(Value { op: value.op, imm: value.imm.clone(), args, ty: value.ty, mask, span: value.span, name });
        moved[index(id)] = Some(made);
        Some(made)
    };
    let mut body = Vec::with_capacity(function.body.len());
    let mut exacts = Vec::new();
    for stmt in std::mem::take(&mut function.body) {
        match stmt {
            Stmt::Value(id) => body.extend(place(id).map(Stmt::Value)),
            Stmt::Region(region) => {
                let values: Vec<ValueId> = region.values.iter().filter_map(|&id| place(id)).collect();
                if !values.is_empty() {
                    exacts.push((body.len(), region.exact));
                    body.push(Stmt::Region(Region { values, exact: Vec::new(), proof: None }));
                }
            }
        }
    }
    for (at, exact) in exacts {
        if let Stmt::Region(region) = &mut body[at] {
            let kept = exact.into_iter().filter_map(|(id, number)| Some((moved[index(id)]?, number)));
            region.exact = kept.collect();
        }
    }
    function.result = moved[index(function.result)].unwrap_or(function.result);
    function.values = new;
    function.body = body;
}
