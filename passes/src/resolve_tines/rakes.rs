//! Through blocks and sweeps: proofs of what they promise, and their lowering to values under masks and choices.
//!
//! ```text
//! through #ok into r: sqrt(x)          %3 : f32s = sqrt %0 if %2      ~~ r
//! sweep:                               %4 : f32s = const 0.0
//!   | #ok => r                    =>   %5 : f32s = if %2, %3, %4      ~~ arm 1: #ok
//!   | _ => <0.0>
//! ```
//!
//! Every sweep is proven to cover the lanes around it. Arms are proven to be reachable where the rake is the function
//! itself: where it was inlined, the mask around it and constant arguments may leave an arm no lane, which a caller
//! could not mend.
//!
//! Arms take lanes in order, so an arm's lanes are its predicate's less those of all arms before it, and the last arm
//! needs no choice of its own. Choices are nested with the first arm outermost, which takes the fewest masks. That keeps all
//! arms' values until the last is there; where many arms need their masks anyway, each is put into the result at once.

use super::bdd::{FALSE, Formula, TooComplex};
use super::masks::{Condition, Place};
use super::{Lowering, words};
use rake_ir::desugared::{Arm, Event, Expr, ExprId, ExprKind, Through};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{ValueId, needs_benign};
use rake_ir::limits::MASK_STEPS;
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::types::Ty;
use smol_str::format_smolstr;

/// A sweep whose arms are being visited.
pub struct Sweep {
    id: ExprId,
    /// The conditions around it.
    depth: usize,
    /// The lanes that no arm takes so far, of those around it; `None` once that was too complex.
    left: Option<Formula>,
    /// The predicates as written.
    predicates: Vec<ValueId>,
    /// What stands for each of them.
    masks: Vec<ValueId>,
    /// The arm's value that is being visited.
    current: Option<ExprId>,
    /// The masks of the arms' lanes, when the result is gathered from the first arm on.
    effective: Option<Vec<ValueId>>,
}

/// From so many arms with operations that need their masks the result is gathered arm by arm.
const GATHERED: usize = 8;

impl Lowering<'_> {
    /// Does what may meet the counted limit; reports that once for each function.
    pub fn decide<T>(&mut self, span: Span, decide: impl FnOnce(&mut Self) -> Result<T, TooComplex>) -> Option<T> {
        let decided = decide(self).ok();
        if decided.is_none() && !self.too_complex {
            self.too_complex = true;
            let name = &self.source.name;
            let message = format!("deciding the masks of `{name}` takes more than {MASK_STEPS} steps");
            let fault = Diagnostic::error(Code::LimitExceeded, span, message).at("not decided up to here");
            self.faults.push(
                fault.help("use fewer comparisons together, or use those that belong together one after another"),
            );
        }
        decided
    }

    /// The value that stands for a predicate or condition.
    pub fn canonical(&mut self, value: ValueId) -> ValueId {
        let out = &mut self.out;
        if out.logic.on { out.logic.canonical(&out.values, value, out.region.is_some()) } else { value }
    }

    pub fn through(&mut self, through: &Through) {
        self.out.logic.on = true;
        self.reads(through.predicate, None);
        let predicate = self.value_of(through.predicate);
        let mask = self.canonical(predicate);
        let name = self.source.locals[through.local].name.clone();
        self.masks.push(Condition::Holds(mask), Place::Through(name));
        self.throughs.push((predicate, mask));
    }

    pub fn through_end(&mut self, through: &Through) {
        self.reads(through.result, None);
        let Some((predicate, mask)) = self.throughs.pop() else { return };
        let local = &self.source.locals[through.local];
        let result = self.value_of(through.result);
        let value = match through.otherwise {
            Some(otherwise) => {
                self.masks.pop();
                self.reads(otherwise, None);
                let otherwise = self.value_of(otherwise);
                self.choice(mask, result, otherwise, through.span)
            }
            None => {
                if let Some(partial) = self.partial(local.name.clone(), through.span, predicate) {
                    self.partials.add(through.local, partial);
                }
                self.masks.pop();
                result
            }
        };
        self.name(value, through.local);
        self.locals[super::index(through.local)] = Some(value);
    }

    /// `then` in the lanes of the mask, `otherwise` in the others around here; in every lane when all three have a value
    /// there.
    fn choice(&mut self, mask: ValueId, then: ValueId, otherwise: ValueId, span: Span) -> ValueId {
        let args = [mask, then, otherwise];
        let ty = self.out.values[then].ty;
        let partly = args.iter().any(|&arg| self.out.values[arg].mask.is_some());
        let around = if partly { self.masks.of(ty, &mut self.out, span) } else { None };
        self.out.push(Op::If, Imm::None, &args, ty, around, span)
    }

    /// The predicate of an arm was visited; its value starts.
    pub fn arm(&mut self, id: ExprId, index: usize) {
        let source = self.source;
        let ExprKind::Sweep { arms } = &source.exprs[id].kind else { return };
        let Some(arm) = arms.get(index) else { return };
        if index == 0 {
            self.open_sweep(id, arms);
        }
        let written = arm.predicate.map(|predicate| {
            self.reads(predicate, None);
            self.value_of(predicate)
        });
        let mask = written.map(|written| self.canonical(written));
        let before = self.sweeps.last().and_then(|sweep| sweep.left);
        self.take(id, arms, index, written);
        let Some(sweep) = self.sweeps.last_mut() else { return };
        let earlier = sweep.masks.len();
        sweep.current = Some(arm.value);
        sweep.predicates.extend(written);
        sweep.masks.extend(mask);
        if let Some(mask) = mask {
            self.masks.add_arm(mask);
        }
        if earlier > 0 {
            self.masks.push_left(earlier, before);
        }
        if let Some(mask) = mask {
            self.masks.push(Condition::Holds(mask), Place::Arm(index + 1));
        }
    }

    fn open_sweep(&mut self, id: ExprId, arms: &[Arm]) {
        self.out.logic.on = true;
        let left = self.decide(arms[0].span, |this| this.masks.effective(&mut this.out));
        self.masks.open_sweep();
        let depth = self.masks.depth();
        let rack = matches!(self.source.exprs[id].ty, Ty::Rack(_));
        let gathered = rack && arms.iter().filter(|arm| self.needs_mask(arm.value)).count() >= GATHERED;
        let effective = gathered.then(Vec::new);
        self.sweeps.push(Sweep {
            id,
            depth,
            left,
            predicates: Vec::new(),
            masks: Vec::new(),
            current: None,
            effective,
        });
    }

    /// Whether an arm's value has operations that may raise a flag.
    fn needs_mask(&self, value: ExprId) -> bool {
        let mut needed = false;
        self.source.walk_expr(value, |event| {
            if let Event::Expr(id) = event
                && let Expr { kind: ExprKind::Op { op, args, .. }, ty, .. } = &self.source.exprs[id]
            {
                let operand = args.first().map_or(*ty, |&arg| self.source.exprs[arg].ty);
                needed |= needs_benign(*op, operand.elem(), ty.elem()).is_some();
            }
        });
        needed
    }

    /// Takes the arm's lanes from those left; reports an arm of the function's own sweep that has none.
    fn take(&mut self, id: ExprId, arms: &[Arm], index: usize, predicate: Option<ValueId>) {
        let span = arms[index].span;
        let Some(left) = self.sweeps.last().and_then(|sweep| sweep.left) else { return };
        let decided = self.decide(span, |this| {
            let Some(predicate) = predicate else { return Ok((left, FALSE)) };
            let own = this.out.formula(predicate)?;
            let bdd = &mut this.out.logic.bdd;
            Ok((bdd.and(left, own)?, bdd.and_not(left, own)?))
        });
        if Some(id) == self.source.result && decided.is_some_and(|(taken, _)| taken == FALSE) {
            let fault = self.unreachable(arms, index, predicate);
            self.faults.push(fault);
        }
        if let Some(sweep) = self.sweeps.last_mut() {
            sweep.left = decided.map(|(_, left)| left);
        }
    }

    /// The arm's value was visited: its conditions end.
    pub fn arm_end(&mut self, value: ExprId) {
        let Some(sweep) = self.sweeps.last_mut().filter(|sweep| sweep.current == Some(value)) else { return };
        sweep.current = None;
        let depth = sweep.depth;
        self.reads(value, None);
        let expr = &self.source.exprs[value];
        if let Some(sweep) = self.sweeps.last_mut()
            && let Some(effective) = &mut sweep.effective
            && let Some(mask) = self.masks.of(expr.ty, &mut self.out, expr.span)
        {
            effective.push(mask);
        }
        self.masks.truncate(depth);
    }

    /// All arms were visited: the sweep's value.
    pub fn sweep(&mut self, id: ExprId, arms: &[Arm]) -> Option<ValueId> {
        let sweep = self.sweeps.pop().filter(|sweep| sweep.id == id)?;
        let Expr { span, .. } = self.source.exprs[id];
        if let Some(left) = sweep.left.filter(|&left| left != FALSE) {
            let fault = self.uncovered(&sweep, left, span);
            self.faults.push(fault);
        }
        if let Some(effective) = sweep.effective.as_ref().filter(|effective| effective.len() == arms.len()) {
            self.masks.close_sweep();
            return Some(self.gather(&sweep, effective, arms, span));
        }
        let (last, others) = arms.split_last()?;
        let mut value = self.value_of(last.value);
        for (index, arm) in others.iter().enumerate().rev() {
            let then = self.value_of(arm.value);
            let mask = *sweep.masks.get(index)?;
            if index > 0 {
                self.masks.push_left(index, None);
            }
            value = self.choice(mask, then, value, arm.span);
            self.masks.truncate(sweep.depth);
            let words = words::comment(&self.out, sweep.predicates[index]);
            self.out.values[value].name = Some(format_smolstr!("arm {}: {words}", index + 1));
        }
        self.masks.close_sweep();
        Some(value)
    }

    /// The sweep's value, made of the arms' from the first on: one running result instead of a value for each arm.
    fn gather(&mut self, sweep: &Sweep, effective: &[ValueId], arms: &[Arm], span: Span) -> ValueId {
        let ty = self.source.exprs[sweep.id].ty;
        let mut value = self.out.push(Op::Const, Imm::Bits(0), &[], ty, None, span);
        for (index, (arm, &mask)) in arms.iter().zip(effective).enumerate() {
            let then = self.value_of(arm.value);
            value = self.choice(mask, then, value, arm.span);
            let words = sweep.predicates.get(index).map(|&predicate| words::comment(&self.out, predicate));
            let words = words.map_or_else(String::new, |words| format!(": {words}"));
            self.out.values[value].name = Some(format_smolstr!("arm {}{words}", index + 1));
        }
        value
    }

    fn uncovered(&mut self, sweep: &Sweep, left: Formula, span: Span) -> Diagnostic {
        let mut values = sweep.predicates.clone();
        values.extend(self.masks.conditions());
        let witness = words::witness(&mut self.out, left, &values);
        let fault = Diagnostic::error(Code::NotCovered, span, "the arms of this sweep do not cover every lane")
            .at(format!("no arm applies{witness}"));
        let nan = words::nan(&self.out, &values);
        let fault = if nan {
            fault.note("every comparison with a NaN is false, so `x >= y` is not the complement of `x < y`")
        } else {
            fault
        };
        fault.help("end the sweep with an arm for all other lanes, `| _ => ...`")
    }

    /// The fault of an arm that takes no lane: because of which arms before it, as few as suffice.
    fn unreachable(&mut self, arms: &[Arm], index: usize, predicate: Option<ValueId>) -> Diagnostic {
        let span = arms[index].span;
        let culprits = self.culprits(predicate).unwrap_or_else(|_| (0..index).collect());
        let fault = Diagnostic::error(Code::UnreachableArm, span, "no lane reaches this arm");
        let own = predicate.map(|predicate| words::mask(&self.out, predicate));
        let lanes = own.as_ref().map_or_else(|| "every lane".into(), |own| format!("every lane where {own} is true"));
        let (fault, because) = match &culprits[..] {
            [] => (fault.at("its predicate never holds"), None),
            [one] => {
                let fault = fault.label(arms[*one].span, "this arm takes its lanes");
                (fault, Some(format!("arm {} takes {lanes}", one + 1)))
            }
            [others @ .., last] => {
                let others: Vec<String> = others.iter().map(|arm| (arm + 1).to_string()).collect();
                let mut fault = fault;
                for &arm in &culprits {
                    fault = fault.label(arms[arm].span, "takes some of its lanes");
                }
                (fault, Some(format!("arms {} and {} take {lanes}", others.join(", "), last + 1)))
            }
        };
        let fault = match because {
            Some(because) => fault.at("its lanes are taken before").note(because),
            None => fault,
        };
        fault.help(if culprits.is_empty() {
            "remove the arm"
        } else {
            "remove the arm, or move it before those that take its lanes"
        })
    }

    /// Arms before the current one that leave it no lanes, no more than needed.
    fn culprits(&mut self, predicate: Option<ValueId>) -> Result<Vec<usize>, TooComplex> {
        let mut lanes = self.masks.effective(&mut self.out)?;
        if let Some(predicate) = predicate {
            let own = self.out.formula(predicate)?;
            lanes = self.out.logic.bdd.and(lanes, own)?;
        }
        let earlier = self.sweeps.last().map_or_else(Vec::new, |sweep| sweep.predicates.clone());
        // What is left of the lanes after the arms from each one on, so that dropping an arm is one question.
        let mut after = vec![lanes; earlier.len() + 1];
        for (at, &arm) in earlier.iter().enumerate().rev() {
            let own = self.out.formula(arm)?;
            after[at] = self.out.logic.bdd.and_not(after[at + 1], own)?;
        }
        let (mut needed, mut left) = (Vec::new(), lanes);
        for (at, &arm) in earlier.iter().enumerate() {
            if self.out.logic.bdd.and(left, after[at + 1])? != FALSE {
                let own = self.out.formula(arm)?;
                left = self.out.logic.bdd.and_not(left, own)?;
                needed.push(at);
            }
        }
        Ok(needed)
    }
}
