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
//! Choices by one mask inside each other collapse, also where one mask implies the other, and so do choices with an arm
//! in common where the mask of both together is there already. A mask goes where its value raises nothing and reads
//! only what every lane has. Dead code goes. Identical values are shared outside regions, and inside one region; a
//! constant or broadcast that was computed before serves everywhere. Uniform integers and truths that are known are
//! constants, and a check of one that holds is none; checks of lanes that stand together are one ([`checks`]). Values of a region stay in it, in their order, and
//! never move. Regions lose their proofs: from here on a region only says what is emitted together.

mod checks;
#[cfg(test)]
mod tests;

use la_arena::Arena;
use rake_ir::fused::{Function, Program, Region};
use rake_ir::lane::{Args, Open, Stmt, Value, ValueId, completes, excludes, fact, implies, known, needs_benign};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::reference::{Reference, reference};
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Simplifies every function.
pub fn run(mut program: Program) -> Program {
    let profile = program.profile;
    program.functions.iter_mut().for_each(|f| function(f, profile));
    program
}

/// Simplifies one function. What a value is known to hold outside its mask follows from its operands' shapes, and a later
/// rewrite of one of them may hide that: then only dead code goes.
pub fn function(function: &mut Function, profile: Profile) {
    checks::join(function, profile);
    let before = function.values.values().any(|value| value.inactive.is_some()).then(|| function.clone());
    let to = forward(function);
    function.result = function.result.map(|result| to[index(result)]);
    let live = liveness(function, &to);
    rebuild(function, &to, &live);
    let follows =
        |f: &Function| f.order().all(|id| f.values[id].inactive.is_none_or(|is| fact(&f.values, id) == Some(is)));
    if let Some(before) = before.filter(|_| !follows(function)) {
        *function = before;
        let to: Vec<ValueId> = function.values.iter().map(|(id, _)| id).collect();
        let live = liveness(function, &to);
        rebuild(function, &to, &live);
    }
}

fn index(id: ValueId) -> usize {
    id.into_raw().into_u32() as usize
}

/// What makes two values one: the operation, and the region that holds both, if any.
type Key = (Op, Imm, Args, Ty, Option<ValueId>, Option<usize>);

/// What was computed so far and is there still: what a body computes is gone at its end.
#[derive(Default)]
struct Seen {
    values: HashMap<Key, ValueId>,
    /// For each open body, what was added in it.
    bodies: Vec<Vec<Key>>,
}

impl Seen {
    fn insert(&mut self, key: Key, id: ValueId) {
        if let Entry::Vacant(entry) = self.values.entry(key.clone()) {
            entry.insert(id);
            self.bodies.last_mut().into_iter().for_each(|body| body.push(key.clone()));
        }
    }

    fn pass(&mut self, marker: &Stmt<Region>) {
        if matches!(marker, Stmt::Else | Stmt::Close(_)) {
            self.bodies.pop().into_iter().flatten().for_each(|key| {
                self.values.remove(&key);
            });
        }
        if matches!(marker, Stmt::Open(_) | Stmt::Else) {
            self.bodies.push(Vec::new());
        }
    }
}

/// Rewrites operands in order; for each value, the one that stands for it.
fn forward(function: &mut Function) -> Vec<ValueId> {
    let mut to: Vec<ValueId> = function.values.iter().map(|(id, _)| id).collect();
    let mut seen = Seen::default();
    let values = &mut function.values;
    for (at, stmt) in function.body.iter_mut().enumerate() {
        let (ids, place) = match stmt {
            Stmt::Value(id) => (std::slice::from_ref(id), None),
            Stmt::Region(region) => (&region.values[..], Some(at)),
            marker => {
                seen.pass(marker);
                *marker = marker.renamed(|id| to[index(id)]).unwrap_or_else(|| marker.clone());
                continue;
            }
        };
        for &id in ids {
            let value = &mut values[id];
            value.args.iter_mut().chain(&mut value.mask).for_each(|arg| *arg = to[index(*arg)]);
            widen(values, id);
            let found = rewritten(values, id).unwrap_or_else(|| shared(values, id, place, &mut seen));
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

/// Drops the mask of a value that raises nothing and reads only what every lane has: it is the same in every lane.
fn widen(values: &mut Arena<Value>, id: ValueId) {
    let value = &values[id];
    let elem = value.args.first().map_or(Elem::Bool, |&arg| values[arg].ty.elem());
    let quiet = !value.op.depends_on_place() && needs_benign(value.op, elem, value.ty.elem()).is_none();
    if quiet && value.inactive.is_none() && value.args.iter().all(|&arg| values[arg].mask.is_none()) {
        values[id].mask = None;
    }
}

/// An earlier value equal to `id`, computed in the same lanes or in all; `id` itself when there is none.
fn shared(values: &Arena<Value>, id: ValueId, place: Option<usize>, seen: &mut Seen) -> ValueId {
    let value = &values[id];
    // What memory holds changes, and so do carries.
    if value.op.depends_on_place() {
        return id;
    }
    let anywhere = matches!(value.op, Op::Const | Op::Splat | Op::LaneIndex | Op::Param);
    let place = if anywhere { None } else { place };
    let mut key = (value.op, value.imm.clone(), value.args.clone(), value.ty, value.mask, place);
    for mask in [value.mask, None] {
        key.4 = mask;
        if let Some(&found) = seen.values.get(&key).filter(|&&found| serves(values, found, id)) {
            return found;
        }
    }
    key.4 = value.mask;
    seen.insert(key, id);
    id
}

/// Whether `other`, equal to `id` where that is computed, may stand for it: it is computed in all those lanes, and outside
/// them it holds what `id` is known to hold.
fn serves(values: &Arena<Value>, other: ValueId, id: ValueId) -> bool {
    let (value, other_mask) = (&values[id], values[other].mask);
    let computed = other_mask.is_none_or(|wide| value.mask.is_some_and(|mask| implies(values, mask, wide)));
    let same = || value.mask.is_some_and(|mask| known(values, other, mask) == value.inactive);
    other == id || computed && (value.inactive.is_none() || same())
}

/// The value that `id` is bit for bit, if an exact rule finds one; may change operands of `id` too, as long as what is
/// known of it still follows.
fn rewritten(values: &mut Arena<Value>, id: ValueId) -> Option<ValueId> {
    let before = values[id].args.clone();
    let found = rewrite(values, id).filter(|&found| serves(values, found, id));
    let value = &values[id];
    if value.inactive.is_some() && value.args != before && fact(values, id) != value.inactive {
        values[id].args = before;
    }
    found
}

fn rewrite(values: &mut Arena<Value>, id: ValueId) -> Option<ValueId> {
    if let Some(bits) = folded(values, id) {
        let value = &mut values[id];
        (value.op, value.imm) = (Op::Const, Imm::Bits(bits));
        value.args.clear();
        return None;
    }
    let value = &values[id];
    let under = |op: Op, arg: ValueId| values[arg].args.first().copied().filter(|_| values[arg].op == op);
    let constant = |arg: ValueId| match (values[arg].op, &values[arg].imm) {
        (Op::Const, Imm::Bits(bits)) => Some(*bits),
        _ => None,
    };
    match (value.op, &value.args[..]) {
        (Op::Not | Op::Neg, &[x]) => under(value.op, x),
        (Op::Abs, &[x]) if values[x].op == Op::Abs => Some(x),
        (Op::Abs, &[x]) => {
            values[id].args[0] = under(Op::Neg, x)?;
            None
        }
        // A check that holds is none.
        (Op::Check, &[holds]) if constant(holds) == Some(1) => Some(holds),
        (Op::Add | Op::Sub, &[a, b]) if !value.ty.elem().is_float() && constant(b) == Some(0) => Some(a),
        (Op::Add, &[a, b]) if !value.ty.elem().is_float() && constant(a) == Some(0) => Some(b),
        (Op::And | Op::Or, &[a, b]) => {
            // True is neutral for `and`, false for `or`; the other settles it.
            let conjunction = value.op == Op::And;
            let (neutral, settling) = (Some(u64::from(conjunction)), Some(u64::from(!conjunction)));
            if value.ty == Ty::TRUTH && (constant(a) == settling || constant(b) == settling) {
                Some(if constant(a) == settling { a } else { b })
            } else if a == b || constant(b) == neutral || conjunction && implies(values, a, b) {
                Some(a)
            } else if constant(a) == neutral || conjunction && implies(values, b, a) {
                Some(b)
            } else {
                None
            }
        }
        (Op::Select, &[mask, a, b]) => choose(values, id, mask, a, b),
        _ => None,
    }
}

/// What an operation on constant uniforms, of integers and truths, gives, or a comparison of one integer with itself.
fn folded(values: &Arena<Value>, id: ValueId) -> Option<u64> {
    let value = &values[id];
    let whole = |ty: Ty| matches!(ty, Ty::Uniform(elem) if !elem.is_float());
    let Reference::Lane(compute) = reference(value.op) else { return None };
    if value.mask.is_some() || !whole(value.ty) || value.args.is_empty() {
        return None;
    }
    if let (&[a, b], Ty::TRUTH) = (&value.args[..], value.ty)
        && a == b
        && whole(values[a].ty)
    {
        match value.op {
            Op::Eq | Op::Le | Op::Ge => return Some(1),
            Op::Ne | Op::Lt | Op::Gt => return Some(0),
            _ => {}
        }
    }
    let mut bits: SmallVec<[u64; 3]> = SmallVec::new();
    for &arg in &value.args {
        match (values[arg].op, &values[arg].imm) {
            (Op::Const, Imm::Bits(constant)) if whole(values[arg].ty) => bits.push(*constant),
            _ => return None,
        }
    }
    Some(compute(values[value.args[0]].ty.elem(), &value.imm, &bits))
}

/// The rules of `select(mask, a, b)`.
fn choose(
    values: &mut Arena<Value>,
    id: ValueId,
    mut mask: ValueId,
    mut a: ValueId,
    mut b: ValueId,
) -> Option<ValueId> {
    if values[mask].op == Op::Not {
        mask = values[mask].args[0];
        (a, b) = (b, a);
    }
    (a, b) = (decided(values, mask, a, true), decided(values, mask, b, false));
    if let Some(joined) = joined(values, (mask, a, b), values[id].mask) {
        (mask, a, b) = joined;
    }
    values[id].args = Args::from_slice(&[mask, a, b]);
    // A choice that stands for its fact is there for the lanes in which its mask does not hold.
    let own = values[id].mask.filter(|_| values[id].inactive.is_none());
    let literal = match (values[mask].op, &values[mask].imm) {
        (Op::Const, Imm::Bits(bits)) => Some(*bits & 1 == 1),
        _ if own.is_some_and(|own| implies(values, own, mask)) => Some(true),
        _ if own.is_some_and(|own| excludes(values, own, mask)) => Some(false),
        _ => None,
    };
    match literal {
        Some(true) => Some(a),
        Some(false) => Some(b),
        None => (a == b).then_some(a),
    }
}

/// `select(m, select(n, x, c), c)` as `select(k, x, c)`, also with other arms alike, where `x` is computed under a mask
/// `k` that holds, in the lanes of `own`, exactly where it is picked.
fn joined(
    values: &Arena<Value>,
    (mask, a, b): (ValueId, ValueId, ValueId),
    own: Option<ValueId>,
) -> Option<(ValueId, ValueId, ValueId)> {
    for (inner, other, holds) in [(a, b, true), (b, a, false)] {
        let (Op::Select, &[by, then, otherwise]) = (values[inner].op, &values[inner].args[..]) else { continue };
        for (picked, rest, inside) in [(then, otherwise, true), (otherwise, then, false)] {
            let Some(exactly) = values[picked].mask.filter(|_| rest == other) else { continue };
            let literals = [(mask, holds), (by, inside)];
            let needs = literals.iter().all(|&(truth, holds)| match holds {
                true => implies(values, exactly, truth),
                false => excludes(values, exactly, truth),
            });
            let follows = |part: ValueId| {
                own.is_some_and(|own| implies(values, own, part))
                    || literals.iter().any(|&(truth, holds)| match holds {
                        true => implies(values, truth, part),
                        false => completes(values, truth, part),
                    })
            };
            if needs && parts(values, exactly).is_some_and(|parts| parts.into_iter().all(follows)) {
                return Some((exactly, picked, other));
            }
        }
    }
    None
}

/// The truths whose conjunction `truth` is; `None` when they are many.
fn parts(values: &Arena<Value>, truth: ValueId) -> Option<SmallVec<[ValueId; 8]>> {
    let (mut found, mut stack): (SmallVec<[ValueId; 8]>, SmallVec<[ValueId; 8]>) = Default::default();
    stack.push(truth);
    while let Some(at) = stack.pop() {
        match values[at].op {
            Op::And => stack.extend(values[at].args.iter().copied()),
            _ => found.push(at),
        }
        if found.len() + stack.len() > 8 {
            return None;
        }
    }
    Some(found)
}

/// What an arm is in the lanes where `mask` is `holds`: a choice there may be decided already, by the same mask, by one that
/// it implies or by one that it excludes.
fn decided(values: &Arena<Value>, mask: ValueId, mut arm: ValueId, holds: bool) -> ValueId {
    while let (Op::Select, &[by, then, otherwise]) = (values[arm].op, &values[arm].args[..]) {
        arm = match holds {
            true if implies(values, mask, by) => then,
            true if excludes(values, mask, by) => otherwise,
            false if implies(values, by, mask) => otherwise,
            false if completes(values, mask, by) => then,
            _ => return arm,
        };
    }
    arm
}

/// Whether each value is needed: for the result, for an effect that no other stands for, or for what is executed how often.
fn liveness(function: &Function, to: &[ValueId]) -> Vec<bool> {
    let mut live = vec![false; function.values.len()];
    let mut stack: Vec<ValueId> = function.result.into_iter().collect();
    let mut next: HashMap<ValueId, ValueId> = HashMap::new();
    for stmt in &function.body {
        match stmt {
            Stmt::Open(open) => {
                stack.extend(stmt.marker_reads());
                if let Open::Traverse { index, .. } = open {
                    stack.push(*index);
                }
            }
            Stmt::Close(close) => {
                stack.extend(close.again);
                next.extend(close.next.iter().copied());
            }
            _ => {}
        }
    }
    let stays = |id: &ValueId| function.values[*id].op.has_effect() && to[index(*id)] == *id;
    stack.extend(function.order().filter(stays));
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut live[index(id)], true) {
            let value = &function.values[id];
            stack.extend(value.args.iter().copied().chain(value.mask).chain(next.get(&id).copied()));
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
        let (mask, name, imm) = (value.mask.map(renamed), value.name.take(), value.imm.clone());
        let made = new.alloc(Value { imm, args, mask, name, ..*value });
        moved[index(id)] = Some(made);
        Some(made)
    };
    let mut body = Vec::with_capacity(function.body.len());
    let (mut exacts, mut markers) = (Vec::new(), Vec::new());
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
            mut marker => {
                if let Stmt::Open(Open::Traverse { index, .. }) = marker {
                    place(index);
                }
                if let Stmt::Close(close) = &mut marker {
                    close.next.retain(|next| live[index(next.0)]);
                }
                markers.push(body.len());
                body.push(marker);
            }
        }
    }
    for (at, exact) in exacts {
        if let Stmt::Region(region) = &mut body[at] {
            let kept = exact.into_iter().filter_map(|(id, number)| Some((moved[index(id)]?, number)));
            region.exact = kept.collect();
        }
    }
    for at in markers {
        if let Some(renamed) = body[at].renamed(|id| moved[index(id)].unwrap_or(id)) {
            body[at] = renamed;
        }
    }
    function.result = function.result.map(|result| moved[index(result)].unwrap_or(result));
    function.values = new;
    function.body = body;
}
