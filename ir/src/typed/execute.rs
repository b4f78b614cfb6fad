//! What runs add to the evaluator of `typed`: loops, choices, and what touches memory.
//!
//! ```text
//! for i: <i32> from 0 up to <n> by 4:      checks x[0] and x[last] when there is a trip,
//!   out[<i>] <- x[<i>]                     then goes round
//! ```

use super::eval::{Machine, Task, malformed};
use super::{Access, Event, ExprId, ExprKind, For, Function, If, LocalId, Repeat, Stmt, Traverse};
use crate::desugared::access::{Elements, Place, Rack, Trips, Visit, holding, scalar};
use crate::lane::EvalError;
use crate::typed::bodies::{Check, working_rack};
use crate::types::{Elem, Pointee, Ty};
use crate::value::{Lanes, lanes_of};

/// An access that is checked where its loop is entered.
struct Entry<'a> {
    access: &'a Access,
    /// The type of what is read or written.
    ty: Ty,
    /// The repeats between the loop and it.
    repeats: Vec<&'a Repeat>,
}

/// The accesses of a loop's body that are checked where the loop is entered.
fn entries<'a>(function: &'a Function, body: &'a [Stmt], repeats: &mut Vec<&'a Repeat>, out: &mut Vec<Entry<'a>>) {
    for stmt in body {
        match stmt {
            Stmt::Repeat(repeat) => {
                repeats.push(repeat);
                entries(function, &repeat.body, repeats, out);
                repeats.pop();
            }
            Stmt::For(looped) => {
                [looped.from, looped.to, looped.step].iter().for_each(|&id| loads(function, id, repeats, out));
            }
            Stmt::If(choice) => loads(function, choice.condition, repeats, out),
            stmt => function.walk_stmt(stmt, |event| match event {
                Event::Expr(id) => load(function, id, repeats, out),
                Event::Stmt(Stmt::Store { access, .. }) if access.check == Check::Entry => {
                    let ty = Ty::Rack(function.element(access));
                    out.push(Entry { access, ty, repeats: repeats.clone() });
                }
                _ => {}
            }),
        }
    }
}

fn loads<'a>(function: &'a Function, id: ExprId, repeats: &[&'a Repeat], out: &mut Vec<Entry<'a>>) {
    function.walk_expr(id, |event| {
        if let Event::Expr(id) = event {
            load(function, id, repeats, out);
        }
    });
}

fn load<'a>(function: &'a Function, id: ExprId, repeats: &[&'a Repeat], out: &mut Vec<Entry<'a>>) {
    if let ExprKind::Load(access) = &function.exprs[id].kind
        && access.check == Check::Entry
    {
        out.push(Entry { access, ty: function.exprs[id].ty, repeats: repeats.to_vec() });
    }
}

impl Function {
    /// How memory holds the elements of a view.
    pub fn element(&self, access: &Access) -> Elem {
        self.pointees.get(access.view).and_then(Pointee::elem).unwrap_or(Elem::U8)
    }
}

impl<'a> Machine<'a, '_> {
    /// The bits of a uniform local.
    fn uniform(&mut self, local: LocalId) -> Result<u64, EvalError> {
        let value = self.frame()?.locals.get(local).and_then(|values| values.first());
        value.map_or_else(|| Err(malformed("a name has no value")), scalar)
    }

    /// Evaluates the parts of an access next; they end on the value stack, the bound on top.
    pub(super) fn visit_access(&mut self, access: &Access) {
        self.tasks.extend(access.bound.map(Task::Visit));
        self.tasks.push(Task::Visit(access.index));
    }

    fn elements(&mut self, access: &Access, ty: Ty) -> Result<Elements, EvalError> {
        let bound = access.bound.map(|_| self.pop()).transpose()?;
        let index = self.pop()?;
        let index_ty = self.frame()?.function.exprs[access.index].ty;
        Elements::new(ty, (index_ty, &index), bound.as_ref())
    }

    /// The place of an access whose parts lie on the value stack, checked.
    fn place(&mut self, access: &Access, ty: Ty, writes: bool) -> Result<Place, EvalError> {
        let elements = self.elements(access, ty)?;
        let (base, count) = (self.uniform(access.view)?, self.uniform(access.count)? as i32);
        let lanes = lanes_of(ty, self.program.profile);
        if access.check != Check::Unchecked {
            elements.check(count.into(), lanes, self.active)?;
            if writes && matches!(elements, Elements::Indices(..)) {
                elements.unique(lanes, self.active)?;
            }
        }
        let elem = self.frame()?.function.element(access);
        Ok(Place { base, elem, elements })
    }

    pub(super) fn load(&mut self, access: &Access, ty: Ty) -> Result<(), EvalError> {
        let place = self.place(access, ty, false)?;
        let value = place.read(ty, self.program.profile, self.active, self.memory)?;
        self.values.push(value);
        Ok(())
    }

    /// The parts of the place and the value lie on the value stack.
    pub(super) fn store(&mut self, access: &Access) -> Result<(), EvalError> {
        let ty = Ty::Rack(self.frame()?.function.element(access));
        let value = self.pop()?;
        let place = self.place(access, ty, true)?;
        place.write(&value, self.active, self.memory)
    }

    /// A column's place in the current rack.
    fn column_place(&mut self, stack: LocalId, column: u32) -> Result<Place, EvalError> {
        let visit = self.visit.ok_or_else(|| malformed("a column outside of a stack run"))?;
        let descriptor = self.uniform(stack)?;
        let function = self.frame()?.function;
        let pointee = function.pointees.get(stack).ok_or_else(|| malformed("a column of no stack"))?;
        visit.column((descriptor, pointee), column, self.program.profile, self.memory)
    }

    pub(super) fn column(&mut self, stack: LocalId, column: u32, ty: Ty) -> Result<(), EvalError> {
        let existing = self.visit.map_or(0, |visit| visit.existing);
        let place = self.column_place(stack, column)?;
        self.values.push(place.read(ty, self.program.profile, existing, self.memory)?);
        Ok(())
    }

    /// Visits the next rack of a stack, if there is one; `first` in the beginning.
    pub(super) fn traverse(&mut self, traverse: &'a Traverse, first: bool) -> Result<(), EvalError> {
        let profile = self.program.profile;
        let lanes = profile.lanes_of_bits(traverse.bits);
        let descriptor = self.uniform(traverse.stack)?;
        let mut visit = match self.visit.filter(|_| !first) {
            Some(visit) => Visit { record: visit.record + lanes as u64, ..visit },
            None => Visit::first(descriptor, self.memory)?,
        };
        if !visit.enter(lanes) {
            if traverse.compact {
                self.memory.write(descriptor, 8, visit.kept).map_err(EvalError::Memory)?;
            }
            (self.visit, self.active) = (None, u64::MAX);
            return Ok(());
        }
        (self.visit, self.active) = (Some(visit), visit.existing);
        let function = self.frame()?.function;
        self.tasks.push(Task::Traverse(traverse, false));
        self.tasks.push(Task::Replace(traverse));
        for &(column, value) in traverse.columns.iter().rev() {
            if let Some(ty) = function.column_rack(traverse, column) {
                self.visit_as(function, value, ty);
            }
        }
        if let Some(predicate) = traverse.predicate {
            self.tasks.push(Task::Where);
            self.visit_as(function, predicate, Ty::Mask(traverse.bits));
        }
        self.tasks.extend(traverse.body.iter().rev().map(Task::Stmt));
        Ok(())
    }

    /// What follows is computed where the mask on top holds.
    pub(super) fn narrow(&mut self) -> Result<(), EvalError> {
        let mask = self.pop()?;
        self.active &= holding(&mask);
        Ok(())
    }

    /// Writes the columns, whose new values lie on the value stack.
    pub(super) fn replace(&mut self, traverse: &Traverse) -> Result<(), EvalError> {
        let mut columns = Vec::new();
        for &(column, _) in traverse.columns.iter().rev() {
            let value = self.pop()?;
            columns.push((self.column_place(traverse.stack, column)?, value));
        }
        if traverse.compact {
            let replaced = |column| traverse.columns.iter().any(|(replaced, _)| *replaced == column);
            let count = match self.frame()?.function.pointees.get(traverse.stack) {
                Some(Pointee::Stack { columns, .. }) => columns.len() as u32,
                _ => 0,
            };
            for column in (0..count).filter(|&column| !replaced(column)) {
                let place = self.column_place(traverse.stack, column)?;
                let lanes = self.program.profile.lanes_of_bits(traverse.bits);
                let mut value = Lanes::poison(lanes);
                for lane in (0..lanes).filter(|lane| self.active >> lane & 1 == 1) {
                    value.set(lane, place.lane(lane, self.memory)?);
                }
                columns.push((place, value));
            }
        }
        let rack = Rack { columns, active: self.active, compact: traverse.compact };
        let visit = self.visit.as_mut().ok_or_else(|| malformed("a result outside of a stack run"))?;
        rack.write(visit, self.memory)
    }

    pub(super) fn choose(&mut self, choice: &'a If) -> Result<(), EvalError> {
        let holds = scalar(&self.pop()?)? & 1 == 1;
        let body = if holds { &choice.then } else { &choice.otherwise };
        self.tasks.extend(body.iter().rev().map(Task::Stmt));
        Ok(())
    }

    /// The bounds and the step of a loop lie on the value stack.
    pub(super) fn enter_loop(&mut self, looped: &'a For) -> Result<(), EvalError> {
        let (step, to, from) = (self.pop()?, self.pop()?, self.pop()?);
        let function = self.frame()?.function;
        let trips = Trips::new(function.locals[looped.index].ty.elem(), &from, &to, &step)?;
        let Some(last) = trips.last() else { return Ok(()) };
        self.tasks.push(Task::Trips(looped, trips));
        let mut found = Vec::new();
        entries(function, &looped.body, &mut Vec::new(), &mut found);
        for entry in found {
            let mut bindings: Vec<Vec<(LocalId, i128)>> =
                [trips.index, last].map(|index| vec![(looped.index, index)]).into();
            for repeat in entry.repeats {
                let each = |bound: &Vec<(LocalId, i128)>| -> Vec<Vec<(LocalId, i128)>> {
                    let trip = |index| bound.iter().copied().chain([(repeat.index, i128::from(index))]).collect();
                    (repeat.from..repeat.to).map(trip).collect()
                };
                bindings = bindings.iter().flat_map(each).collect();
            }
            for bound in bindings {
                self.tasks.push(Task::CheckEntry(entry.access, entry.ty));
                self.visit_access(entry.access);
                self.tasks.extend(bound.into_iter().map(|(local, index)| Task::BindIndex(local, index)));
            }
        }
        Ok(())
    }

    pub(super) fn bind_index(&mut self, local: LocalId, index: i128) -> Result<(), EvalError> {
        let frame = self.frame()?;
        let elem = frame.function.locals[local].ty.elem();
        frame.locals.insert(local, vec![Lanes::uniform(index as u64 & elem.lane_mask())]);
        Ok(())
    }

    pub(super) fn check_entry(&mut self, access: &Access, ty: Ty) -> Result<(), EvalError> {
        let elements = self.elements(access, ty)?;
        let count = self.uniform(access.count)? as i32;
        elements.check(count.into(), lanes_of(ty, self.program.profile), u64::MAX)
    }

    /// The next trip of a loop, if there is one.
    pub(super) fn trips(&mut self, looped: &'a For, trips: Trips) -> Result<(), EvalError> {
        if trips.index >= trips.to {
            return Ok(());
        }
        self.rounds = self.rounds.checked_sub(1).ok_or(EvalError::Endless)?;
        self.bind_index(looped.index, trips.index)?;
        self.tasks.push(Task::Trips(looped, Trips { index: trips.index + trips.step, ..trips }));
        self.tasks.extend(looped.body.iter().rev().map(Task::Stmt));
        Ok(())
    }
}

impl Function {
    /// The rack that replaces a column of the traverse's stack.
    pub fn column_rack(&self, traverse: &Traverse, column: u32) -> Option<Ty> {
        working_rack(self.pointees.get(traverse.stack)?.column(column)?, traverse.bits)
    }
}
