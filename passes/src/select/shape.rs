//! Shapes: what a value is, seen together with what it reads, and the mask that its instructions take.
//!
//! Where instructions take masks, what may raise an exception is computed under its own: zero elsewhere. A choice between
//! such a value and another is then the same instruction with the other's lanes kept, or nothing at all when it is zero.

use super::rule::{Key, Rule, Target};
use super::{constant_bits, index, key_elem};
use rake_ir::fused::Function;
use rake_ir::lane::{Args, Stmt, ValueId, known, needs_benign};
use rake_ir::machine::MachOp;
use rake_ir::ops::{Imm, Op, TypeRule};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;

/// What is lowered for a value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shape {
    pub key: Key,
    pub elem: Elem,
    pub args: Args,
    /// The value whose operation it is: the value itself, or an arm that was swallowed.
    pub of: ValueId,
    /// Whether its instructions may raise a floating-point exception.
    raises: bool,
    /// The mask that those instructions take, where the profile's can.
    pub mask: Option<ValueId>,
    /// What the result holds outside the mask.
    pub kept: Kept<ValueId>,
    /// The parameter whose general register is the last operand.
    pub word: Option<ValueId>,
}

/// What lanes outside a mask hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept<T> {
    /// Whatever is cheapest.
    Any,
    /// Zero, or false.
    Zero,
    /// What this holds.
    Of(T),
}

/// The shapes of one function's values.
pub(super) struct Shapes<'a> {
    f: &'a Function,
    profile: Profile,
    target: &'a dyn Target,
    /// How often each value is read, as a mask too.
    uses: Vec<u32>,
    /// The region that computes each value.
    regions: Vec<Option<u32>>,
}

impl<'a> Shapes<'a> {
    pub fn new(
        f: &'a Function,
        profile: Profile,
        target: &'a dyn Target,
        order: &[(ValueId, Option<u32>)],
    ) -> Shapes<'a> {
        let mut regions = vec![None; f.values.len()];
        order.iter().for_each(|&(id, region)| regions[index(id)] = region);
        let mut uses = vec![0; f.values.len()];
        for (_, value) in f.values.iter() {
            value.args.iter().chain(&value.mask).for_each(|&read| uses[index(read)] += 1);
        }
        f.body.iter().flat_map(Stmt::marker_reads).chain(f.result).for_each(|read| uses[index(read)] += 1);
        Shapes { f, profile, target, uses, regions }
    }

    /// The shape of a value: the widest that the table has a rule for.
    pub fn of(&self, id: ValueId) -> Shape {
        let value = &self.f.values[id];
        let masked = match value.op {
            Op::Select | Op::If if !self.profile.native_masks() => self.chosen_already(id),
            _ if !self.profile.native_masks() => None,
            Op::Select | Op::If => self.merged(id),
            Op::And => self.masked_comparison(id),
            _ => None,
        };
        let stays = |shape: &Shape| self.keeps_regions(id, shape);
        masked.filter(stays).or_else(|| Some(self.plain(id)).filter(stays)).unwrap_or_else(|| self.bare(id))
    }

    /// Whether nothing that another region than the value's computes becomes part of its shape: a region's instructions
    /// stand together.
    fn keeps_regions(&self, id: ValueId, shape: &Shape) -> bool {
        let kept = if let Kept::Of(other) = shape.kept { Some(other) } else { None };
        let reads = |arg: &ValueId| shape.args.contains(arg) || kept == Some(*arg);
        let mut inside: SmallVec<[ValueId; 4]> = self.f.values[id].args.iter().copied().filter(|a| !reads(a)).collect();
        while let Some(inner) = inside.pop() {
            let args = &self.f.values[inner].args;
            let swallowed = args.iter().any(reads);
            if swallowed && self.regions[index(inner)].is_some_and(|region| self.regions[index(id)] != Some(region)) {
                return false;
            }
            inside.extend(args.iter().copied().filter(|arg| swallowed && !reads(arg)));
        }
        true
    }

    /// The value alone, whatever it reads.
    fn bare(&self, id: ValueId) -> Shape {
        let value = &self.f.values[id];
        let shift = matches!(value.op.info().types, TypeRule::Shift) && value.args.len() == 2;
        let key = if shift { Key::ShiftBy(value.op) } else { Key::Op(value.op) };
        self.shape(id, key, key_elem(self.f, id), &value.args, id)
    }

    /// The shape of the function's result: when nothing but the caller reads a uniform, no rack needs to hold it.
    pub fn of_result(&self, id: ValueId) -> Shape {
        let value = &self.f.values[id];
        if let Some(param) = self.word_parameter(id) {
            return Shape { of: param, ..self.shape(id, Key::Leave(Op::Param), key_elem(self.f, param), &[], id) };
        }
        if let Some(inner) = under(self.f, Op::Not, id) {
            return match self.word_parameter(inner) {
                Some(param) => Shape { of: param, ..self.shape(id, Key::Leave(Op::Not), Elem::Bool, &[], id) },
                None => self.of(id),
            };
        }
        let left = self.shape(id, Key::Leave(value.op), key_elem(self.f, id), &value.args, id);
        if value.ty.is_uniform() && self.has(&left) { left } else { self.of(id) }
    }

    /// The integer or `bool` parameter whose word this uniform is, if the table can leave that.
    fn word_parameter(&self, id: ValueId) -> Option<ValueId> {
        let mut param = id;
        while self.f.values[param].op == Op::Bitcast {
            param = *self.f.values[param].args.first()?;
        }
        let is_word = |id: ValueId| self.f.values[id].ty.is_uniform() && !self.f.values[id].ty.elem().is_float();
        let can = || self.has(&self.shape(param, Key::Leave(Op::Param), key_elem(self.f, param), &[], param));
        Some(param).filter(|&param| self.f.values[param].op == Op::Param && is_word(param) && is_word(id) && can())
    }

    /// A shape of `id` whose exceptions are those of the value `source`.
    fn shape(&self, id: ValueId, key: Key, elem: Elem, args: &[ValueId], source: ValueId) -> Shape {
        let from = &self.f.values[source];
        let operand = from.args.first().map_or(Elem::Bool, |&arg| self.f.values[arg].ty.elem());
        let raises = needs_benign(from.op, operand, from.ty.elem()).is_some();
        let mask = from.mask.filter(|_| raises && self.profile.native_masks());
        Shape { key, elem, args: args.iter().copied().collect(), of: id, raises, mask, kept: Kept::Any, word: None }
    }

    fn has(&self, shape: &Shape) -> bool {
        !matches!(self.target.rule(shape.key, shape.elem, self.profile), Rule::Unsupported(_))
    }

    /// The last instruction of a shape's sequence, if that is always the same.
    fn last(&self, shape: &Shape) -> Option<MachOp> {
        match self.target.rule(shape.key, shape.elem, self.profile) {
            Rule::Steps(steps) => steps.last().map(|step| step.op),
            _ => None,
        }
    }

    /// The value itself, already computed.
    fn same(&self, id: ValueId, as_is: ValueId) -> Shape {
        self.shape(id, Key::Op(Op::Splat), Elem::Bool, &[as_is], id)
    }

    fn plain(&self, id: ValueId) -> Shape {
        let value = &self.f.values[id];
        let elem = key_elem(self.f, id);
        let wider = match value.op {
            Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub => self.signs(id),
            Op::Not => self.complement(id),
            Op::And => self.and_not(id),
            Op::Or => self.not_both(id),
            Op::Min | Op::Max if elem == Elem::F32 => self.exact_extremum(id),
            Op::BitXor => self.ordered(id),
            Op::Add if elem.is_int() => self.count(id),
            Op::ToF32 if elem == Elem::U32 && self.below_sign(value.args[0]) => {
                Some(self.shape(id, Key::Op(Op::ToF32), Elem::I32, &value.args, id))
            }
            Op::Insert if self.insert_word(id).is_some() => self.insert_word(id),
            Op::Select | Op::If => return self.choice(id),
            Op::ShiftBitsLeft | Op::ShiftBitsRight | Op::ShiftBitsRightSigned if value.args.len() == 2 => {
                return self.shape(id, Key::ShiftBy(value.op), elem, &value.args, id);
            }
            Op::ShiftBitsLeft | Op::ShiftBitsRight | Op::ShiftBitsRightSigned if value.imm == Imm::Int(0) => {
                return self.same(id, value.args[0]);
            }
            _ if value.op.info().types == TypeRule::Racks => {
                return self.shape(id, Key::Op(value.op), elem, &racks(self.f, id), id);
            }
            _ => None,
        };
        let plain = || self.shape(id, Key::Op(value.op), elem, &value.args, id);
        wider.filter(|shape| self.has(shape)).unwrap_or_else(plain)
    }

    /// An addition of 1 where a mask holds.
    fn count(&self, id: ValueId) -> Option<Shape> {
        let &[a, b] = &self.f.values[id].args[..] else { return None };
        let one_where = |arg: ValueId| match (&self.f.values[arg].args[..], self.f.values[arg].op) {
            (&[mask, then, otherwise], Op::Select | Op::If) => {
                let is = |arm: ValueId, bits: u64| constant_bits(self.f, arm) == Some(bits);
                let of_lanes = matches!(self.f.values[mask].ty, Ty::Mask(32));
                Some(mask).filter(|_| of_lanes && is(then, 1) && is(otherwise, 0))
            }
            _ => None,
        };
        let found = |(x, arg): (ValueId, ValueId)| Some((x, one_where(arg)?));
        let (x, mask) = [(a, b), (b, a)].into_iter().find_map(found)?;
        Some(self.shape(id, Key::CountWhere, self.f.values[id].ty.elem(), &[x, mask], id))
    }

    /// Whether an unsigned number is known to be below 2^31, so that it is the same as a signed one.
    fn below_sign(&self, id: ValueId) -> bool {
        let value = &self.f.values[id];
        match (value.op, &value.imm, &value.args[..]) {
            (Op::Load, Imm::Memory(elem), _) => elem.bits() < 32,
            (Op::ShiftBitsRight, Imm::Int(count), [_]) => *count > 0,
            (Op::BitAnd, _, args) => {
                args.iter().any(|&arg| constant_bits(self.f, arg).is_some_and(|bits| bits < 1 << 31))
            }
            _ => false,
        }
    }

    /// A choice one of whose arms is an operation that can take the mask itself: what it leaves out is zero, or the
    /// other arm.
    fn merged(&self, id: ValueId) -> Option<Shape> {
        let (f, value) = (self.f, &self.f.values[id]);
        let (mask, then, otherwise) = self.arms(id)?;
        if value.ty.elem().bits() != 32 {
            return None;
        }
        for (arm, other, holds) in [(then, otherwise, true), (otherwise, then, false)] {
            let mut shape = self.plain(arm);
            let Some(last) = self.last(&shape) else { continue };
            let by = match shape.raises {
                true => shape.mask.filter(|&by| picks(f, by, mask, holds, value.mask)),
                false => Some(mask).filter(|_| holds),
            };
            let Some(by) = by else { continue };
            let zero = constant_bits(f, other) == Some(0);
            if zero && shape.raises && last.info().raises {
                return Some(self.same(id, arm));
            }
            // One that overwrites an operand of its own keeps that.
            let fits = last.tied(self.profile).is_none() || shape.args.contains(&other);
            let can = if zero { last.zeroed() } else { last.merged().filter(|_| fits) };
            if can.is_some() && self.uses[index(arm)] == 1 {
                shape.mask = Some(by);
                shape.kept = if zero { Kept::Zero } else { Kept::Of(other) };
                return Some(shape);
            }
        }
        None
    }

    /// A choice between a value and what the value holds outside its mask anyway.
    fn chosen_already(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let (mask, then, otherwise) = self.arms(id)?;
        let already = |&(arm, other, holds): &(ValueId, ValueId, bool)| {
            let by = f.values[arm].mask.filter(|&by| picks(f, by, mask, holds, f.values[id].mask));
            let outside = by.and_then(|by| known(&f.values, arm, by));
            outside.is_some() && outside == constant_bits(f, other)
        };
        let arms = [(then, otherwise, true), (otherwise, then, false)];
        arms.iter().find(|arms| already(arms)).map(|arms| self.same(id, arms.0))
    }

    /// `m and (a < b)` is one comparison under the mask `m`.
    fn masked_comparison(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let [a, b] = *f.values[id].args.as_slice() else { return None };
        for (mask, truth) in [(a, b), (b, a)] {
            let inner = under(f, Op::Not, truth);
            let compare = inner.unwrap_or(truth);
            if f.values[compare].op.info().types != TypeRule::Compare {
                continue;
            }
            let alone = self.uses[index(truth)] == 1 && (inner.is_none() || self.uses[index(compare)] == 1);
            let mut shape = self.plain(truth);
            let Some(last) = self.last(&shape).filter(|last| last.zeroed().is_some()) else { continue };
            match shape.raises {
                true if shape.mask != Some(mask) || !last.info().raises => continue,
                true if inner.is_none() => return Some(self.same(id, truth)),
                _ if !alone => continue,
                _ => {}
            }
            (shape.mask, shape.kept) = (Some(mask), Kept::Zero);
            return Some(shape);
        }
        None
    }

    /// A strict minimum or maximum that the machine's raw one is exactly. That gives its second operand beside a NaN and for
    /// two zeros, which is right when the first is a number and no zero whose sign would have to win: no -0 in a minimum,
    /// no +0 in a maximum.
    fn exact_extremum(&self, id: ValueId) -> Option<Shape> {
        let value = &self.f.values[id];
        let [a, b] = *value.args.as_slice() else { return None };
        for (known, other) in [(a, b), (b, a)] {
            let number = match constant_bits(self.f, known) {
                Some(bits) => bits as u32,
                // An integer as a float is no NaN and no -0, but may be +0.
                None if self.f.values[known].op == Op::ToF32 => 0,
                None => continue,
            };
            let constant = constant_bits(self.f, known).is_some();
            let key = match value.op {
                _ if f32::from_bits(number).is_nan() => continue,
                Op::Min if number != 0x8000_0000 => Key::Smaller,
                Op::Max if number != 0 => Key::Larger,
                Op::Max if constant => {
                    return Some(self.shape(id, Key::AboveZero, Elem::F32, &[other], id));
                }
                _ => continue,
            };
            return Some(self.shape(id, key, Elem::F32, &[known, other], id));
        }
        None
    }

    /// Negations of factors and addend go into the signs of a multiply-add; a sign bit flip is exact in all of them.
    fn signs(&self, id: ValueId) -> Option<Shape> {
        let value = &self.f.values[id];
        let [mut a, mut b, mut c] = *value.args.as_slice() else { return None };
        let (mut product, mut addend) = match value.op {
            Op::MulSub => (false, true),
            Op::NegMulAdd => (true, false),
            Op::NegMulSub => (true, true),
            _ => (false, false),
        };
        for (operand, sign) in [(&mut a, 0), (&mut b, 0), (&mut c, 1)] {
            while let Some(inner) = under(self.f, Op::Neg, *operand) {
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
        Some(self.shape(id, Key::Op(op), value.ty.elem(), &[a, b, c], id))
    }

    fn complement(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let inner = *f.values[id].args.first()?;
        if let Some(twice) = under(f, Op::Not, inner) {
            // `not not m`: the truth itself, as `m and m` would be; free by the rule of `splat`.
            return Some(self.same(id, twice));
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
            Op::And | Op::Or => {
                let given = value.args.iter().all(|&arg| f.values[arg].op == Op::Param);
                let key = if value.op == Op::And { Key::NotBoth } else { Key::Neither };
                let shape = || self.shape(id, key, Elem::Bool, &value.args, id);
                return (given && self.uses[index(inner)] == 1).then(shape);
            }
            _ => return None,
        };
        let key = if elem.is_float() { Key::Not(value.op) } else { Key::Op(opposite) };
        Some(self.shape(id, key, elem, &value.args, inner))
    }

    /// An insertion of the word of an integer parameter.
    fn insert_word(&self, id: ValueId) -> Option<Shape> {
        let value = &self.f.values[id];
        let [rack, inserted] = *value.args.as_slice() else { return None };
        let mut param = inserted;
        while matches!(self.f.values[param].op, Op::Bitcast) {
            param = *self.f.values[param].args.first()?;
        }
        let from = &self.f.values[param];
        let is_word = from.op == Op::Param && from.ty.is_uniform() && from.ty.elem().is_int();
        let shape = || self.shape(id, Key::InsertWord, value.ty.elem(), &[rack], id);
        is_word.then(|| Shape { word: Some(param), ..shape() }).filter(|shape| self.has(shape))
    }

    /// The magnitude's bits flipped below zero, as floats order.
    fn ordered(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let [bits, flips] = *f.values[id].args.as_slice() else { return None };
        let by = |op: Op, id: ValueId, count: u32| {
            under(f, op, id).filter(|_| f.values[id].imm == Imm::Int(count) && self.uses[index(id)] == 1)
        };
        let signs = by(Op::ShiftBitsRight, flips, 1)?;
        let of = by(Op::ShiftBitsRightSigned, signs, 31)?;
        (of == bits).then(|| self.shape(id, Key::Ordered, f.values[id].ty.elem(), &[bits], id))
    }

    fn and_not(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let [a, b] = *f.values[id].args.as_slice() else { return None };
        let (keep, drop) = match (under(f, Op::Not, a), under(f, Op::Not, b)) {
            (_, Some(b)) => (a, b),
            (Some(a), None) => (b, a),
            (None, None) => return None,
        };
        Some(self.shape(id, Key::AndNot, Elem::Bool, &[keep, drop], id))
    }

    /// Two complements joined are one of both, unless they are comparisons, which have their opposites.
    fn not_both(&self, id: ValueId) -> Option<Shape> {
        let f = self.f;
        let [a, b] = *f.values[id].args.as_slice() else { return None };
        let (a, b) = (under(f, Op::Not, a)?, under(f, Op::Not, b)?);
        let free = |truth: ValueId| f.values[truth].op.info().types == TypeRule::Compare;
        (!free(a) && !free(b)).then(|| self.shape(id, Key::NotBoth, Elem::Bool, &[a, b], id))
    }

    /// A choice's mask without complements, and its arms in the order that belongs to that.
    fn arms(&self, id: ValueId) -> Option<(ValueId, ValueId, ValueId)> {
        let [mut mask, mut then, mut otherwise] = *self.f.values[id].args.as_slice() else { return None };
        while let Some(inner) = under(self.f, Op::Not, mask) {
            mask = inner;
            std::mem::swap(&mut then, &mut otherwise);
        }
        Some((mask, then, otherwise))
    }

    fn choice(&self, id: ValueId) -> Shape {
        let (f, value) = (self.f, &self.f.values[id]);
        let elem = value.ty.elem();
        let Some((mask, then, otherwise)) = self.arms(id) else {
            return self.shape(id, Key::Op(Op::Select), elem, &value.args, id);
        };
        let mut shapes = Vec::with_capacity(2);
        let compare = &f.values[mask];
        let whole = under(f, Op::Splat, mask).unwrap_or(mask);
        let key = match f.values[whole].op {
            Op::All => Some(Key::IfAll),
            Op::Any => Some(Key::IfAny),
            _ => None,
        };
        if let (Some(key), &[lanes]) = (key.filter(|_| elem != Elem::Bool), &f.values[whole].args[..]) {
            shapes.push(self.shape(id, key, elem, &[lanes, then, otherwise], id));
        }
        if compare.op == Op::Eq && compare.args[..] == [then, then] && elem.is_float() {
            shapes.push(self.shape(id, Key::NumberOr, elem, &[then, otherwise], mask));
        }
        if let Some(key) = extremum(f, mask, then, otherwise, elem) {
            // With the arms swapped, `a < b ? b : a` is `b > a ? b : a`: always the arms, in order.
            shapes.push(self.shape(id, key, elem, &[then, otherwise], mask));
        }
        if elem != Elem::Bool {
            if constant_bits(f, otherwise) == Some(0) {
                shapes.push(self.shape(id, Key::KeepWhere, elem, &[mask, then], id));
            } else if constant_bits(f, then) == Some(0) {
                shapes.push(self.shape(id, Key::ClearWhere, elem, &[mask, otherwise], id));
            }
        }
        let plain = || self.shape(id, Key::Op(Op::Select), elem, &[mask, then, otherwise], id);
        shapes.into_iter().find(|shape| self.has(shape)).unwrap_or_else(plain)
    }
}

/// Whether the mask `by` holds, in the lanes of `own`, exactly where `mask` is `holds`: it is that truth, or its conjunction
/// with `own`.
fn picks(f: &Function, by: ValueId, mask: ValueId, holds: bool, own: Option<ValueId>) -> bool {
    let is = |truth: ValueId| if holds { truth == mask } else { under(f, Op::Not, truth) == Some(mask) };
    let both = || match (own, f.values[by].op, &f.values[by].args[..]) {
        (Some(own), Op::And, &[a, b]) => a == own && is(b) || b == own && is(a),
        _ => false,
    };
    is(by) || both()
}

/// The operands that a move of lanes reads: one when both are the same value, or when a shuffle names lanes of one alone.
/// Lanes are numbered modulo the lanes of all operands, so the immediate stays.
fn racks(f: &Function, id: ValueId) -> Args {
    let value = &f.values[id];
    let mut args = value.args.clone();
    let [a, b] = *args.as_slice() else { return args };
    let read = |at: usize| match &value.imm {
        Imm::Lanes(picks) => picks.iter().any(|&pick| usize::from(pick) / picks.len() == at),
        _ => true,
    };
    if a == b || !read(1) {
        args.truncate(1);
    } else if !read(0) {
        args.remove(0);
    }
    args
}

fn under(f: &Function, op: Op, id: ValueId) -> Option<ValueId> {
    let value = &f.values[id];
    if value.op == op { value.args.first().copied() } else { None }
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
