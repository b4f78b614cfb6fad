//! The conditions around the current point, and the mask values that stand for them.

use super::Builder;
use rake_ir::lane::ValueId;
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};

/// A condition around a branch.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// A mask or `<bool>`.
    pub value: ValueId,
    /// Whether the branch runs where it does not hold.
    pub complement: bool,
}

/// One branch around the current point, with what was computed for it so far.
struct Level {
    condition: Condition,
    /// The complement's value.
    not: Option<Made>,
    /// The conjunction of this and the outer conditions, by its type.
    full: Vec<(Ty, Made)>,
}

/// A value made for a level; one made inside a region does not outlive it.
#[derive(Clone, Copy)]
struct Made {
    value: ValueId,
    in_region: bool,
}

/// The stack of conditions, outermost first.
#[derive(Default)]
pub struct Masks {
    levels: Vec<Level>,
    in_region: bool,
}

impl Masks {
    /// Whether every lane is computed.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Enters a branch.
    pub fn push(&mut self, condition: Condition) {
        self.levels.push(Level { condition, not: None, full: Vec::new() });
    }

    /// Leaves the innermost branch.
    pub fn pop(&mut self) {
        self.levels.pop();
    }

    /// A region starts.
    pub fn enter_region(&mut self) {
        self.in_region = true;
    }

    /// A region ends: what was made in it stays in it.
    pub fn leave_region(&mut self) {
        self.in_region = false;
        for level in &mut self.levels {
            level.not = level.not.filter(|made| !made.in_region);
            level.full.retain(|(_, made)| !made.in_region);
        }
    }

    /// The lane width of the innermost branch over lanes.
    pub fn lane_width(&self, out: &Builder) -> Option<u32> {
        self.levels.iter().rev().find_map(|level| out.values[level.condition.value].ty.lane_bits())
    }

    /// The mask of a value of type `ty` computed here; `None` when every lane is. Conditions over lanes of another width
    /// say nothing about its lanes.
    pub fn of(&mut self, ty: Ty, out: &mut Builder, span: Span) -> Option<ValueId> {
        let truth = ty.truth();
        let known = |level: &Level| level.full.iter().find(|(ty, _)| *ty == truth).map(|(_, made)| made.value);
        let from = self.levels.iter().rposition(|level| known(level).is_some());
        let mut full = from.and_then(|at| known(&self.levels[at]));
        for at in from.map_or(0, |at| at + 1)..self.levels.len() {
            let condition = out.values[self.levels[at].condition.value].ty;
            if condition != truth && condition != Ty::Uniform(Elem::Bool) {
                continue;
            }
            let own = self.own(at, out, span);
            let own = if condition == truth { own } else { out.push(Op::Splat, Imm::None, &[own], truth, full, span) };
            let all = match full {
                Some(outer) => out.push(Op::And, Imm::None, &[outer, own], truth, None, span),
                None => own,
            };
            let made = Made { value: all, in_region: self.in_region };
            self.levels[at].full.push((truth, made));
            full = Some(all);
        }
        full
    }

    /// The condition of one level, complemented where that is asked for; computed in the lanes of the condition.
    fn own(&mut self, at: usize, out: &mut Builder, span: Span) -> ValueId {
        let level = &mut self.levels[at];
        let value = level.condition.value;
        if !level.condition.complement {
            return value;
        }
        if let Some(made) = level.not {
            return made.value;
        }
        let (ty, mask) = (out.values[value].ty, out.values[value].mask);
        let not = out.push(Op::Not, Imm::None, &[value], ty, mask, span);
        level.not = Some(Made { value: not, in_region: self.in_region });
        not
    }
}
