//! What runs add to the evaluator of `desugared`: loops, choices, and what touches memory. Runs nest no deeper than their
//! source, so this follows them by recursion.

use super::access::{Elements, Place, Rack, Trips, Visit, holding, scalar};
use super::eval::{Run, malformed};
use super::{Access, Event, ExprId, ExprKind, For, Function, If, LocalId, Stmt, Traverse};
use crate::lane::EvalError;
use crate::typed::bodies::{Check, working_rack};
use crate::types::{Elem, Pointee, Ty};
use crate::value::{Lanes, lanes_of};
use smol_str::SmolStr;

impl Function {
    /// How memory holds the elements of a view.
    pub fn element(&self, access: &Access) -> Elem {
        self.pointees.get(access.view).and_then(Pointee::elem).unwrap_or(Elem::U8)
    }

    /// The columns of a stack.
    pub fn columns(&self, stack: LocalId) -> &[(SmolStr, Elem)] {
        self.pointees.get(stack).map_or(&[], Pointee::columns)
    }

    /// The rack that replaces a column of the traverse's stack.
    pub fn column_rack(&self, traverse: &Traverse, column: u32) -> Option<Ty> {
        working_rack(self.pointees.get(traverse.stack)?.column(column)?, traverse.bits)
    }

    /// The accesses of a loop's body that are checked where the loop is entered, each with the type of what is read or
    /// written.
    pub fn entries<'a>(&'a self, looped: &'a For) -> Vec<(&'a Access, Ty)> {
        let mut found = Vec::new();
        let mut event = |event: Event<'a>| match event {
            Event::Expr(id) => {
                if let ExprKind::Load(access) = &self.exprs[id].kind {
                    found.push((access, self.exprs[id].ty));
                }
            }
            Event::Store(access, value) => found.push((access, self.exprs[value].ty)),
            _ => {}
        };
        for stmt in &looped.body {
            match stmt {
                // What stands in them is not executed by every trip, or has a loop of its own.
                Stmt::For(inner) => {
                    [inner.from, inner.to, inner.step].into_iter().for_each(|id| self.walk_expr(id, &mut event));
                }
                Stmt::If(choice) => self.walk_expr(choice.condition, &mut event),
                stmt => self.walk_stmt(stmt, &mut event),
            }
        }
        found.retain(|(access, _)| access.check == Check::Entry);
        found
    }
}

impl<'a> Run<'a, '_> {
    /// Executes statements, one after the other.
    pub(super) fn block(&mut self, stmts: &'a [Stmt]) -> Result<(), EvalError> {
        stmts.iter().try_for_each(|stmt| match stmt {
            Stmt::Traverse(traverse) => self.traverse(traverse),
            Stmt::For(looped) => self.looped(looped),
            Stmt::If(choice) => self.choose(choice),
            Stmt::Let(_) | Stmt::Region(_) | Stmt::Through(_) | Stmt::Store { .. } => {
                let function = self.function;
                self.follow(|visit| function.walk_stmt(stmt, visit))
            }
        })
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, id: ExprId) -> Result<Lanes, EvalError> {
        let function = self.function;
        self.follow(|visit| function.walk_expr(id, visit))?;
        self.take(id)
    }

    fn follow(&mut self, walk: impl FnOnce(&mut dyn FnMut(Event))) -> Result<(), EvalError> {
        let mut done = Ok(());
        walk(&mut |event| {
            if done.is_ok() {
                done = self.event(event);
            }
        });
        done
    }

    fn uniform(&self, local: LocalId) -> Result<u64, EvalError> {
        self.locals.get(local).map_or_else(|| Err(malformed("a name has no value")), scalar)
    }

    fn elements(&mut self, access: &Access, ty: Ty) -> Result<Elements, EvalError> {
        let bound = access.bound.map(|bound| self.take(bound)).transpose()?;
        let index = self.take(access.index)?;
        Elements::new(ty, (self.function.exprs[access.index].ty, &index), bound.as_ref())
    }

    /// The place of an access whose parts have been computed, checked.
    fn place(&mut self, access: &Access, ty: Ty, writes: bool) -> Result<Place, EvalError> {
        let elements = self.elements(access, ty)?;
        let (base, count) = (self.uniform(access.view)?, self.uniform(access.count)? as i32);
        let lanes = lanes_of(ty, self.profile);
        if access.check != Check::Unchecked {
            elements.check(count.into(), lanes, self.active)?;
            if writes && matches!(elements, Elements::Indices(..)) {
                elements.unique(lanes, self.active)?;
            }
        }
        Ok(Place { base, elem: self.function.element(access), elements })
    }

    pub(super) fn load(&mut self, access: &Access, ty: Ty) -> Result<Lanes, EvalError> {
        let place = self.place(access, ty, false)?;
        place.read(ty, self.profile, self.active, self.memory)
    }

    pub(super) fn store(&mut self, access: &Access, value: ExprId) -> Result<(), EvalError> {
        let ty = self.function.exprs[value].ty;
        let value = self.take(value)?;
        let place = self.place(access, ty, true)?;
        place.write(&value, self.active, self.memory)
    }

    fn column_place(&self, stack: LocalId, column: u32) -> Result<Place, EvalError> {
        let visit = self.visit.ok_or_else(|| malformed("a column outside of a stack run"))?;
        let pointee = self.function.pointees.get(stack).ok_or_else(|| malformed("a column of no stack"))?;
        visit.column((self.uniform(stack)?, pointee), column, self.profile, self.memory)
    }

    pub(super) fn column(&self, stack: LocalId, column: u32, ty: Ty) -> Result<Lanes, EvalError> {
        let existing = self.visit.map_or(0, |visit| visit.existing);
        self.column_place(stack, column)?.read(ty, self.profile, existing, self.memory)
    }

    fn traverse(&mut self, traverse: &'a Traverse) -> Result<(), EvalError> {
        let lanes = self.profile.lanes_of_bits(traverse.bits);
        let descriptor = self.uniform(traverse.stack)?;
        let mut visit = Visit::first(descriptor, self.memory)?;
        while visit.enter(lanes) {
            (self.visit, self.active) = (Some(visit), visit.existing);
            self.block(&traverse.body)?;
            if let Some(predicate) = traverse.predicate {
                self.active &= holding(&self.value(predicate)?);
            }
            let mut columns = Vec::new();
            for &(column, value) in &traverse.columns {
                let value = self.value(value)?;
                columns.push((self.column_place(traverse.stack, column)?, value));
            }
            if traverse.compact {
                self.kept_columns(traverse, &mut columns)?;
            }
            Rack { columns, active: self.active, compact: traverse.compact }.write(&mut visit, self.memory)?;
            visit.record += lanes as u64;
        }
        (self.visit, self.active) = (None, u64::MAX);
        match traverse.compact {
            true => self.memory.write(descriptor, 8, visit.kept).map_err(EvalError::Memory),
            false => Ok(()),
        }
    }

    /// The columns that a compaction moves as they are.
    fn kept_columns(&self, traverse: &Traverse, columns: &mut Vec<(Place, Lanes)>) -> Result<(), EvalError> {
        let lanes = self.profile.lanes_of_bits(traverse.bits);
        for column in 0..self.function.columns(traverse.stack).len() as u32 {
            if traverse.columns.iter().any(|(replaced, _)| *replaced == column) {
                continue;
            }
            let place = self.column_place(traverse.stack, column)?;
            let mut value = Lanes::poison(lanes);
            for lane in (0..lanes).filter(|lane| self.active >> lane & 1 == 1) {
                value.set(lane, place.lane(lane, self.memory)?);
            }
            columns.push((place, value));
        }
        Ok(())
    }

    fn choose(&mut self, choice: &'a If) -> Result<(), EvalError> {
        let holds = scalar(&self.value(choice.condition)?)? & 1 == 1;
        self.block(if holds { &choice.then } else { &choice.otherwise })?;
        for merge in &choice.merges {
            let value = self.value(if holds { merge.then } else { merge.otherwise })?;
            self.locals.insert(merge.local, value);
        }
        Ok(())
    }

    fn looped(&mut self, looped: &'a For) -> Result<(), EvalError> {
        let [from, to, step] = [looped.from, looped.to, looped.step].map(|id| self.value(id));
        for carry in &looped.carries {
            let first = self.value(carry.first)?;
            self.locals.insert(carry.local, first);
        }
        let elem = self.function.locals[looped.index].ty.elem();
        let mut trips = Trips::new(elem, &from?, &to?, &step?)?;
        let Some(last) = trips.last() else { return Ok(()) };
        for (access, ty) in self.function.entries(looped) {
            for index in [trips.index, last] {
                self.index(looped, index, elem);
                self.check_entry(access, ty)?;
            }
        }
        while trips.index < trips.to {
            self.rounds = self.rounds.checked_sub(1).ok_or(EvalError::Endless)?;
            self.index(looped, trips.index, elem);
            self.block(&looped.body)?;
            let next = looped.carries.iter().map(|carry| self.value(carry.next));
            let next: Vec<Lanes> = next.collect::<Result<_, _>>()?;
            for (carry, value) in looped.carries.iter().zip(next) {
                self.locals.insert(carry.local, value);
            }
            trips.index += trips.step;
        }
        Ok(())
    }

    fn index(&mut self, looped: &For, index: i128, elem: Elem) {
        self.locals.insert(looped.index, Lanes::uniform(index as u64 & elem.lane_mask()));
    }

    fn check_entry(&mut self, access: &Access, ty: Ty) -> Result<(), EvalError> {
        let index = self.value(access.index)?;
        let bound = access.bound.map(|bound| self.value(bound)).transpose()?;
        let elements = Elements::new(ty, (self.function.exprs[access.index].ty, &index), bound.as_ref())?;
        let count = self.uniform(access.count)? as i32;
        elements.check(count.into(), lanes_of(ty, self.profile), u64::MAX)
    }
}
