//! The conditions around the current point, and the mask values that stand for them.
//!
//! Masks are made when something asks for them, and no mask is made that another value already is: in a function that
//! asks for proofs the formulas tell.

use super::Builder;
use super::bdd::{Decided, Formula, TRUE};
use rake_ir::lane::ValueId;
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::types::Ty;
use smol_str::{SmolStr, format_smolstr};

/// Where something is computed. The values are masks or `<bool>`s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// Where the value holds.
    Holds(ValueId),
    /// Where it does not.
    Fails(ValueId),
    /// Where none of the first arms of a sweep applies: how many, at least one.
    Left {
        /// The sweep, counted from the outermost open one.
        sweep: usize,
        /// The number of arms.
        arms: usize,
    },
}

/// What stands under a condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// A branch of a conditional.
    Branch,
    /// The new values of a stack run's columns.
    Where,
    /// The body of a through block that gives this name.
    Through(SmolStr),
    /// An arm of a sweep, counted from 1.
    Arm(usize),
    /// The arms after this many.
    Rest(usize),
}

impl Place {
    /// The comment on a mask that is made for it.
    fn comment(&self) -> Option<SmolStr> {
        match self {
            Place::Branch | Place::Where => None,
            Place::Through(name) => Some(format_smolstr!("through into {name}")),
            Place::Arm(arm) => Some(format_smolstr!("arm {arm}")),
            Place::Rest(arms) => Some(format_smolstr!("left after arm {arms}")),
        }
    }
}

/// One condition around the current point, with what was computed for it so far.
struct Level {
    condition: Condition,
    place: Place,
    /// The lanes of this and the outer conditions.
    effective: Option<Formula>,
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

/// A sweep whose arms are being lowered.
struct Sweep {
    /// The conditions around it.
    depth: usize,
    /// The arms' predicates.
    predicates: Vec<ValueId>,
    /// Where one of the first arms applies; the entry `k` is about arms 0 to k + 1.
    taken: Vec<ValueId>,
}

/// The stack of conditions, outermost first.
#[derive(Default)]
pub struct Masks {
    levels: Vec<Level>,
    sweeps: Vec<Sweep>,
    in_region: bool,
}

impl Masks {
    /// Whether every lane is computed.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// How many conditions there are.
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The innermost condition's place.
    pub fn place(&self) -> Option<&Place> {
        self.levels.last().map(|level| &level.place)
    }

    /// The values that the conditions around the current point are made of, outermost first.
    pub fn conditions(&self) -> Vec<ValueId> {
        self.described().into_iter().map(|(value, _)| value).collect()
    }

    /// The same values, each with whether it holds here.
    pub fn described(&self) -> Vec<(ValueId, bool)> {
        let mut all = Vec::new();
        for level in &self.levels {
            match level.condition {
                Condition::Holds(value) => all.push((value, true)),
                Condition::Fails(value) => all.push((value, false)),
                Condition::Left { sweep, arms } => {
                    all.extend(self.sweeps[sweep].predicates[..arms].iter().map(|&value| (value, false)));
                }
            }
        }
        all
    }

    /// Enters a branch, a body or an arm.
    pub fn push(&mut self, condition: Condition, place: Place) {
        self.levels.push(Level { condition, place, effective: None, not: None, full: Vec::new() });
    }

    /// Enters the arms after the first `arms` of the innermost sweep, whose lanes are `left`.
    pub fn push_left(&mut self, arms: usize, left: Option<Formula>) {
        let sweep = self.sweeps.len().saturating_sub(1);
        self.push(Condition::Left { sweep, arms }, Place::Rest(arms));
        if let Some(level) = self.levels.last_mut() {
            level.effective = left;
        }
    }

    /// Leaves the innermost branch.
    pub fn pop(&mut self) {
        self.levels.pop();
    }

    /// Leaves all but `depth` conditions.
    pub fn truncate(&mut self, depth: usize) {
        self.levels.truncate(depth);
    }

    /// A sweep starts.
    pub fn open_sweep(&mut self) {
        self.sweeps.push(Sweep { depth: self.levels.len(), predicates: Vec::new(), taken: Vec::new() });
    }

    /// The innermost sweep has one more arm.
    pub fn add_arm(&mut self, predicate: ValueId) {
        if let Some(sweep) = self.sweeps.last_mut() {
            sweep.predicates.push(predicate);
        }
    }

    /// The innermost sweep ends.
    pub fn close_sweep(&mut self) {
        self.sweeps.pop();
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
        self.levels.iter().rev().find_map(|level| out.values[self.value(level.condition)].ty.lane_bits())
    }

    /// The lane width of a condition over lanes that are not `bits` wide.
    pub fn other_width(&self, bits: u32, out: &Builder) -> Option<u32> {
        let widths = self.levels.iter().filter_map(|level| out.values[self.value(level.condition)].ty.lane_bits());
        widths.into_iter().find(|&width| width != bits)
    }

    /// A value of the condition's type.
    fn value(&self, condition: Condition) -> ValueId {
        match condition {
            Condition::Holds(value) | Condition::Fails(value) => value,
            Condition::Left { sweep, .. } => self.sweeps[sweep].predicates[0],
        }
    }

    /// The lanes in which the current point is computed, as a formula.
    ///
    /// # Errors
    /// The counted limit was met.
    pub fn effective(&mut self, out: &mut Builder) -> Decided {
        let from = self.levels.iter().rposition(|level| level.effective.is_some());
        let mut lanes = from.and_then(|at| self.levels[at].effective).unwrap_or(TRUE);
        for at in from.map_or(0, |at| at + 1)..self.levels.len() {
            lanes = match self.levels[at].condition {
                Condition::Holds(value) => {
                    let formula = out.formula(value)?;
                    out.logic.bdd.and(lanes, formula)?
                }
                Condition::Fails(value) => {
                    let formula = out.formula(value)?;
                    out.logic.bdd.and_not(lanes, formula)?
                }
                Condition::Left { sweep, arms } => {
                    for arm in 0..arms {
                        let formula = out.formula(self.sweeps[sweep].predicates[arm])?;
                        lanes = out.logic.bdd.and_not(lanes, formula)?;
                    }
                    lanes
                }
            };
            self.levels[at].effective = Some(lanes);
        }
        Ok(lanes)
    }

    /// The mask of a value of type `ty` computed here; `None` when every lane is. Conditions over lanes of another width
    /// say nothing about its lanes: it is computed in all of them, so it must raise nothing ([`super::Lowering::refuse`]).
    pub fn of(&mut self, ty: Ty, out: &mut Builder, span: Span) -> Option<ValueId> {
        self.upto(self.levels.len(), ty, out, span)
    }

    /// As [`Masks::of`], under the outermost `depth` conditions only.
    fn upto(&mut self, depth: usize, ty: Ty, out: &mut Builder, span: Span) -> Option<ValueId> {
        let truth = ty.truth();
        let known = |level: &Level| level.full.iter().find(|(ty, _)| *ty == truth).map(|(_, made)| made.value);
        let from = self.levels[..depth].iter().rposition(|level| known(level).is_some());
        let mut full = from.and_then(|at| known(&self.levels[at]));
        for at in from.map_or(0, |at| at + 1)..depth {
            let condition = out.values[self.value(self.levels[at].condition)].ty;
            if condition != truth && condition != Ty::TRUTH {
                continue;
            }
            let own = self.own(at, out, span);
            let own = if condition == truth { own } else { out.push(Op::Splat, Imm::None, &[own], truth, full, span) };
            let all = match full {
                Some(outer) => self.both(at, outer, own, out, span),
                None => own,
            };
            let made = Made { value: all, in_region: self.in_region };
            self.levels[at].full.push((truth, made));
            full = Some(all);
        }
        full
    }

    /// The mask of the lanes of both, in every lane; one of them or another mask when that says the same.
    fn both(&self, at: usize, outer: ValueId, own: ValueId, out: &mut Builder, span: Span) -> ValueId {
        let truth = out.values[outer].ty;
        let formula = out.proven(|out| {
            let (f, g) = (out.formula(outer)?, out.formula(own)?);
            out.logic.bdd.and(f, g)
        });
        if let Some(same) = formula.and_then(|formula| out.same(truth, formula, &[outer, own])) {
            return same;
        }
        let made = out.push(Op::And, Imm::None, &[outer, own], truth, None, span);
        out.values[made].name = self.levels[at].place.comment();
        out.note(made);
        made
    }

    /// The condition of one level, computed in the lanes around it.
    fn own(&mut self, at: usize, out: &mut Builder, span: Span) -> ValueId {
        let value = match self.levels[at].condition {
            Condition::Holds(value) => return value,
            Condition::Fails(value) => value,
            Condition::Left { sweep, arms } => self.taken(sweep, arms, out, span),
        };
        if let Some(made) = self.levels[at].not {
            return made.value;
        }
        let (ty, mask) = (out.values[value].ty, out.values[value].mask);
        let formula = out.proven(|out| {
            let formula = out.formula(value)?;
            out.logic.bdd.not(formula)
        });
        let not = formula.and_then(|formula| out.same(ty, formula, &[])).unwrap_or_else(|| {
            let not = out.push(Op::Not, Imm::None, &[value], ty, mask, span);
            out.values[not].name = self.levels[at].place.comment();
            out.note(not);
            not
        });
        self.levels[at].not = Some(Made { value: not, in_region: self.in_region });
        not
    }

    /// Where one of the first arms of a sweep applies, in the lanes around the sweep.
    fn taken(&mut self, sweep: usize, arms: usize, out: &mut Builder, span: Span) -> ValueId {
        let depth = self.sweeps[sweep].depth;
        for arm in self.sweeps[sweep].taken.len() + 1..arms {
            let Sweep { predicates, taken, .. } = &self.sweeps[sweep];
            let (before, own) = (taken.last().copied().unwrap_or(predicates[0]), predicates[arm]);
            let ty = out.values[own].ty;
            let formula = out.proven(|out| {
                let (f, g) = (out.formula(before)?, out.formula(own)?);
                out.logic.bdd.or(f, g)
            });
            let either = match formula.and_then(|formula| out.same(ty, formula, &[before, own])) {
                Some(same) => same,
                None => {
                    let everywhere = [before, own].iter().all(|&id| out.values[id].mask.is_none());
                    let mask = if everywhere { None } else { self.upto(depth, ty, out, span) };
                    let either = out.push(Op::Or, Imm::None, &[before, own], ty, mask, span);
                    out.values[either].name = Some(format_smolstr!("arms 1 to {}", arm + 1));
                    out.note(either);
                    either
                }
            };
            self.sweeps[sweep].taken.push(either);
        }
        let Sweep { predicates, taken, .. } = &self.sweeps[sweep];
        if arms < 2 { predicates[0] } else { taken[arms - 2] }
    }
}
