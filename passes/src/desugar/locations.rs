//! Locations that loops and statements `if` change: which they are, and the names that hold their values there.

use super::{Current, Desugar};
use rake_ir::desugared::{Expr, ExprId, ExprKind, For, If, LocalId, Stmt};
use rake_ir::span::Span;
use rake_ir::typed::bodies::{Carry, Merge};
use rake_ir::typed::{self, fold_int, integer};

/// A location, or one element of an array.
#[derive(Clone, Copy, PartialEq)]
struct Slot {
    local: typed::LocalId,
    element: usize,
}

/// What an open loop or statement `if` changes.
#[derive(Default)]
pub struct Changes {
    slots: Vec<Slot>,
    /// In a loop the name that each has in it; in an `if` the value that each has before it.
    names: Vec<LocalId>,
    /// In a loop, the first values.
    first: Vec<ExprId>,
    /// In the second body of an `if`, the first body and what each is at its end.
    then: (Vec<Stmt>, Vec<ExprId>),
}

impl Desugar<'_> {
    /// The slots that exist here and that statements assign, in the order of their first assignment.
    fn assigned(&self, stmts: &[typed::Stmt], out: &mut Vec<Slot>) {
        for stmt in stmts {
            match stmt {
                typed::Stmt::Assign { local, element, .. } => {
                    let exprs = &self.function.exprs;
                    let known = |&id: &typed::ExprId| {
                        fold_int(exprs, id, &|_| None).map(|bits| integer(bits, exprs[id].ty.elem()))
                    };
                    let element = element.as_ref().map_or(Some(0), known).and_then(|at| at.try_into().ok());
                    // An element that does not exist is reported where it is assigned.
                    let slot = element.map(|element| Slot { local: *local, element });
                    out.extend(slot.filter(|slot| self.slot(*slot).is_some() && !out.contains(slot)));
                }
                typed::Stmt::For(looped) => self.assigned(&looped.body, out),
                typed::Stmt::If(choice) => {
                    self.assigned(&choice.then, out);
                    self.assigned(&choice.otherwise, out);
                }
                _ => {}
            }
        }
    }

    /// The name that a slot's value has now.
    fn slot(&self, slot: Slot) -> Option<LocalId> {
        match self.current.get(slot.local)? {
            Current::One(local) => (slot.element == 0).then_some(*local),
            Current::Many(elements) => elements.get(slot.element).copied(),
        }
    }

    fn set(&mut self, slot: Slot, name: LocalId) {
        match self.current.get_mut(slot.local) {
            Some(Current::One(local)) => *local = name,
            Some(Current::Many(elements)) => {
                if let Some(element) = elements.get_mut(slot.element) {
                    *element = name;
                }
            }
            None => {}
        }
    }

    /// Reads of what slots hold now.
    fn reads(&mut self, slots: &[Slot], span: Span) -> Vec<ExprId> {
        let names: Vec<LocalId> = slots.iter().filter_map(|&slot| self.slot(slot)).collect();
        let read = |name: LocalId| Expr { kind: ExprKind::Read(name), ty: self.locals[name].ty, span };
        names.into_iter().map(read).map(|expr| self.exprs.alloc(expr)).collect()
    }

    pub(super) fn loop_start(&mut self, looped: &typed::For) {
        self.bind(looped.index);
        let mut slots = Vec::new();
        self.assigned(&looped.body, &mut slots);
        let first = self.reads(&slots, looped.span);
        let names: Vec<LocalId> = slots.iter().map(|slot| self.fresh(slot.local)).collect();
        slots.iter().zip(&names).for_each(|(&slot, &name)| self.set(slot, name));
        self.changes.push(Changes { slots, names, first, ..Changes::default() });
        self.blocks.push(Vec::new());
    }

    pub(super) fn loop_end(&mut self, looped: &typed::For) {
        let Changes { slots, names, first, .. } = self.changes.pop().unwrap_or_default();
        let next = self.reads(&slots, looped.span);
        slots.iter().zip(&names).for_each(|(&slot, &name)| self.set(slot, name));
        let carries = names.into_iter().zip(first.into_iter().zip(next));
        let carries = carries.map(|(local, (first, next))| Carry { local, first, next }).collect();
        let body = self.blocks.pop().unwrap_or_default();
        let [from, to, step] = [looped.from, looped.to, looped.step].map(|id| self.map[id]);
        let index = self.param(looped.index, looped.span);
        self.push(Stmt::For(For { index, from, to, step, carries, body, span: looped.span }));
    }

    pub(super) fn if_start(&mut self, choice: &typed::If) {
        let mut slots = Vec::new();
        self.assigned(&choice.then, &mut slots);
        self.assigned(&choice.otherwise, &mut slots);
        let names = slots.iter().filter_map(|&slot| self.slot(slot)).collect();
        self.changes.push(Changes { slots, names, ..Changes::default() });
        self.blocks.push(Vec::new());
    }

    pub(super) fn if_else(&mut self) {
        let mut changes = self.changes.pop().unwrap_or_default();
        let values = self.reads(&changes.slots, Span::default());
        changes.then = (self.blocks.pop().unwrap_or_default(), values);
        changes.slots.iter().zip(&changes.names).for_each(|(&slot, &name)| self.set(slot, name));
        self.changes.push(changes);
        self.blocks.push(Vec::new());
    }

    pub(super) fn if_end(&mut self, choice: &typed::If) {
        let changes = self.changes.pop().unwrap_or_default();
        let values = self.reads(&changes.slots, choice.span);
        let otherwise = self.blocks.pop().unwrap_or_default();
        let (then, firsts) = changes.then;
        let mut merges = Vec::with_capacity(values.len());
        for (slot, (then, otherwise)) in changes.slots.into_iter().zip(firsts.into_iter().zip(values)) {
            self.exprs[then].span = choice.span;
            let local = self.fresh(slot.local);
            self.set(slot, local);
            merges.push(Merge { local, then, otherwise });
        }
        let condition = self.map[choice.condition];
        self.push(Stmt::If(If { condition, then, otherwise, merges, span: choice.span }));
    }
}
