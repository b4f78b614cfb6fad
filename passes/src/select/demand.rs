//! What a run's values are needed as: racks, or words in general registers. What addresses, counts and conditions are made
//! of are words; what lanes are computed with are racks; a loop's index may be both.
//!
//! ```text
//! %4 : <i64> = carry %0               a word, for %6
//! %5 : f32s = splat %1                a rack, for %7
//! %6 : f32s = load f32 %2, %4
//! %7 : f32s = mul %6, %5
//! ```

use super::rule::Target;
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
    pub words: Vec<bool>,
}

impl Demand {
    /// What a run needs: what has an effect or decides what is executed, and what that reads.
    pub fn of(f: &Function, profile: Profile, target: &dyn Target) -> Demand {
        let order = order(f);
        let seen = Shapes::new(f, profile, target, &order);
        let count = f.values.len();
        let mut needs = Needs { f, racks: vec![false; count], words: vec![false; count], changed: true };
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
    racks: Vec<bool>,
    words: Vec<bool>,
    changed: bool,
}

impl Needs<'_> {
    fn word(&mut self, id: ValueId) {
        self.changed |= !std::mem::replace(&mut self.words[index(id)], true);
    }

    fn rack(&mut self, id: ValueId) {
        if self.f.values[id].ty == Ty::Address {
            return self.word(id);
        }
        self.changed |= !std::mem::replace(&mut self.racks[index(id)], true);
    }

    /// What one value is, another is to be.
    fn same(&mut self, of: ValueId, id: ValueId) {
        if self.words[index(of)] {
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
        let effect = value.op.has_effect();
        // A changed integer has one home, a word, and so has what is computed in 64 bits.
        if self.racks[index(id)] && (changes(value.op) && is_word(value.ty) || computes_longs(value.ty)) {
            self.word(id);
        }
        if self.words[index(id)] {
            match of_words(value.op) && is_word(value.ty) {
                true => self.word_reads(id),
                false if decides(self.f, id) => self.condition(id),
                false => self.rack(id),
            }
        }
        if effect || self.racks[index(id)] && touches(value.op) {
            self.word_reads(id);
            self.rack_reads(id);
        }
        if self.racks[index(id)] {
            let found = shape.get_or_insert_with(|| seen.of(id)).clone();
            if self.words[index(id)] && of_words(value.op) && is_word(value.ty) || touches(value.op) {
                return;
            }
            let kept = if let Kept::Of(other) = found.kept { Some(other) } else { None };
            for read in found.args.iter().copied().chain(found.mask).chain(kept) {
                self.rack(read);
            }
        }
    }

    /// The operands that are words.
    fn word_reads(&mut self, id: ValueId) {
        let value = &self.f.values[id];
        let words: Ids = match value.op {
            Op::Check => return self.condition(value.args[0]),
            Op::Load | Op::LoadUniform | Op::Store => value.args[..2].iter().copied().collect(),
            Op::Gather | Op::Scatter => value.args[..1].iter().copied().collect(),
            Op::CountTrue => return self.rack(value.args[0]),
            _ => value.args.iter().copied().collect(),
        };
        words.into_iter().for_each(|word| self.word(word));
    }

    /// The operands of a transfer that are racks.
    fn rack_reads(&mut self, id: ValueId) {
        let value = &self.f.values[id];
        let racks = match value.op {
            Op::Store => &value.args[2..],
            Op::Gather | Op::Scatter => &value.args[1..],
            _ => &[],
        };
        let racks: Ids = racks.iter().copied().chain(value.mask).collect();
        racks.into_iter().for_each(|rack| self.rack(rack));
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
    matches!(value.op, Op::And | Op::Or | Op::Not) && value.ty == Ty::Uniform(Elem::Bool)
}

/// Whether a truth is made of comparisons of words alone.
pub(super) fn decides(f: &Function, id: ValueId) -> bool {
    let value = &f.values[id];
    comparison(f, id).is_some() || joins(f, id) && value.args.iter().all(|&arg| decides(f, arg))
}

/// Whether a value of this type can be a word.
pub(super) fn is_word(ty: Ty) -> bool {
    match ty {
        Ty::Uniform(elem) => !elem.is_float(),
        Ty::Address => true,
        Ty::Rack(_) | Ty::Mask(_) => false,
    }
}

fn computes_longs(ty: Ty) -> bool {
    matches!(ty, Ty::Uniform(Elem::I64 | Elem::U64) | Ty::Address)
}

fn changes(op: Op) -> bool {
    matches!(op, Op::Carry | Op::Merge | Op::Index)
}

fn touches(op: Op) -> bool {
    matches!(op, Op::Load | Op::LoadUniform | Op::Gather | Op::InRange)
}

/// What general registers compute; a uniform of anything else is computed in a rack and brought over.
pub(super) fn of_words(op: Op) -> bool {
    changes(op)
        || matches!(op, Op::Param | Op::Const | Op::Add | Op::Sub | Op::Mul | Op::BitAnd | Op::BitOr | Op::BitXor)
        || matches!(op, Op::Column | Op::Count | Op::SetCount | Op::ToI64 | Op::CountTrue | Op::LoadUniform | Op::Check)
}
