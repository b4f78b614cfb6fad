//! What a run's values are needed as: racks, or words in general registers. What addresses, counts and conditions are made
//! of are words; what lanes are computed with are racks; a loop's index may be both.
//!
//! ```text
//! %4 : <i64> = carry %0               a word, for %6
//! %5 : f32s = splat %1                a rack, for %7
//! %6 : f32s = load f32 %2, %4
//! %7 : f32s = mul %6, %5
//! ```

use super::rule::{Target, WordKey};
use super::shape::{Kept, Shape, Shapes};
use super::{index, order};
use rake_ir::fused::Function;
use rake_ir::lane::{Open, Stmt, ValueId};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;

type Ids = SmallVec<[ValueId; 4]>;

/// What each value is needed as.
pub(super) struct Demand {
    /// The shapes of those that are needed as racks.
    pub shapes: Vec<Option<Shape>>,
    /// Those that are needed as words.
    pub words: Vec<Option<How>>,
}

/// How a value becomes a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// General registers compute it.
    Words,
    /// It is a truth made of comparisons of words.
    Conditions,
    /// Racks compute it, and it is brought over.
    Racks,
}

impl Demand {
    /// What a run needs: what has an effect or decides what is executed, and what that reads.
    pub fn of(f: &Function, profile: Profile, target: &dyn Target) -> Demand {
        let order = order(f);
        let seen = Shapes::new(f, profile, target, &order);
        let count = f.values.len();
        let (racks, words) = (vec![false; count], vec![None; count]);
        let mut needs = Needs { f, profile, target, racks, words, changed: true };
        for stmt in &f.body {
            match stmt {
                Stmt::Open(Open::If(condition)) => needs.condition(*condition),
                Stmt::Close(close) => close.again.into_iter().for_each(|again| needs.condition(again)),
                _ => {}
            }
        }
        let mut shapes: Vec<Option<Shape>> = vec![None; count];
        // What a trip leaves to the next stands behind its readers.
        while std::mem::take(&mut needs.changed) {
            for stmt in &f.body {
                if let Stmt::Close(close) = stmt {
                    close.next.iter().for_each(|&(carry, next)| needs.same(carry, next));
                }
            }
            for &(id, _) in order.iter().rev() {
                needs.value(id, &seen, &mut shapes[index(id)]);
            }
        }
        Demand { shapes, words: needs.words }
    }
}

struct Needs<'a> {
    f: &'a Function,
    profile: Profile,
    target: &'a dyn Target,
    racks: Vec<bool>,
    words: Vec<Option<How>>,
    changed: bool,
}

impl Needs<'_> {
    fn word(&mut self, id: ValueId) {
        if self.words[index(id)].is_none() {
            self.words[index(id)] = Some(self.how(id));
            self.changed = true;
        }
    }

    fn rack(&mut self, id: ValueId) {
        self.changed |= !std::mem::replace(&mut self.racks[index(id)], true);
    }

    /// How a value becomes a word: as general registers can, where the target has a row for it.
    fn how(&self, id: ValueId) -> How {
        let value = &self.f.values[id];
        let integer = matches!(value.ty, Ty::Uniform(elem) if elem.is_int() || elem == Elem::Bool);
        let moves = matches!(value.op, Op::Param | Op::Const | Op::Carry | Op::Merge | Op::LoadUniform);
        let row = || self.target.word(WordKey::Op(value.op, value.ty.elem()), self.profile).is_some();
        if only_word(value.ty) || integer && (moves || row()) {
            How::Words
        } else if decides(self.f, id) {
            How::Conditions
        } else {
            How::Racks
        }
    }

    /// What one value is, another is to be.
    fn same(&mut self, of: ValueId, id: ValueId) {
        if self.words[index(of)].is_some() {
            self.word(id);
        } else if self.racks[index(of)] {
            self.rack(id);
        }
    }

    /// A condition: comparisons of integers compare words.
    fn condition(&mut self, id: ValueId) {
        match comparison(self.f, id) {
            Some(args) => args.into_iter().for_each(|arg| self.word(arg)),
            None if joins(self.f, id) => {
                let args: Ids = self.f.values[id].args.iter().copied().collect();
                args.into_iter().for_each(|arg| self.condition(arg));
            }
            None => self.word(id),
        }
    }

    fn value(&mut self, id: ValueId, seen: &Shapes, shape: &mut Option<Shape>) {
        let value = &self.f.values[id];
        // A changed integer has one home, a word, and so has what is computed in 64 bits.
        let changed = matches!(value.op, Op::Carry | Op::Merge) && !value.ty.elem().is_float();
        if self.racks[index(id)] && (only_word(value.ty) || changed && value.ty.is_uniform()) {
            self.word(id);
        }
        match self.words[index(id)] {
            Some(How::Words) => self.operands(id),
            Some(How::Conditions) => self.condition(id),
            Some(How::Racks) => self.rack(id),
            None if value.op.has_effect() => self.operands(id),
            None => {}
        }
        if self.racks[index(id)] {
            let found = shape.get_or_insert_with(|| seen.of(id)).clone();
            if self.words[index(id)] == Some(How::Words) {
                return;
            }
            if value.op.depends_on_place() || value.op == Op::InRange {
                return self.operands(id);
            }
            let kept = if let Kept::Of(other) = found.kept { Some(other) } else { None };
            for read in found.args.iter().copied().chain(found.mask).chain(kept) {
                self.rack(read);
            }
        }
    }

    /// The operands of what words compute or of what touches memory: racks and masks are racks, truths conditions, all
    /// else is words.
    fn operands(&mut self, id: ValueId) {
        let value = &self.f.values[id];
        let operands: Ids = value.args.iter().copied().chain(value.mask).collect();
        for operand in operands {
            match self.f.values[operand].ty {
                Ty::Rack(_) | Ty::Mask(_) => self.rack(operand),
                Ty::TRUTH if matches!(value.op, Op::Check | Op::If | Op::Select) => self.condition(operand),
                Ty::Uniform(elem) if elem.is_float() => self.rack(operand),
                Ty::Uniform(_) | Ty::Address => self.word(operand),
            }
        }
    }
}

/// The operands of a comparison of uniform integers.
pub(super) fn comparison(f: &Function, id: ValueId) -> Option<[ValueId; 2]> {
    let value = &f.values[id];
    let compares = matches!(value.op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
    let &[a, b] = &value.args[..] else { return None };
    let integers = matches!(f.values[a].ty, Ty::Uniform(elem) if elem.is_int());
    (compares && integers).then_some([a, b])
}

/// Whether a value joins truths.
pub(super) fn joins(f: &Function, id: ValueId) -> bool {
    let value = &f.values[id];
    matches!(value.op, Op::And | Op::Or | Op::Not) && value.ty == Ty::TRUTH
}

/// Whether a truth is made of comparisons of words alone.
fn decides(f: &Function, id: ValueId) -> bool {
    let value = &f.values[id];
    comparison(f, id).is_some() || joins(f, id) && value.args.iter().all(|&arg| decides(f, arg))
}

/// Whether a value of this type is never in a rack.
fn only_word(ty: Ty) -> bool {
    matches!(ty, Ty::Uniform(Elem::I64 | Elem::U64) | Ty::Address)
}
