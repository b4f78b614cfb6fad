//! The check of `typed`: types with their implicit broadcasts, scopes, single use.

use super::bodies::working_rack;
use super::{
    Access, Arm, Binding, Event, ExprId, ExprKind, For, Function, FunctionKind, LocalId, LocalKind, Program, Repeat,
    Stmt, Through, Traverse, broadcasts, lift,
};
use crate::desugared::check::immediate_fits;
use crate::ops::Op;
use crate::types::{Elem, Pointee, Ty};
use la_arena::ArenaMap;

/// Checks the invariants.
///
/// # Errors
/// Each violation in one line.
pub fn check(program: &Program) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for function in &program.functions {
        let (state, used) = (ArenaMap::default(), ArenaMap::default());
        Checker { program, function, faults: &mut faults, state, used }.function();
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

struct Checker<'a> {
    program: &'a Program,
    function: &'a Function,
    faults: &'a mut Vec<String>,
    /// Whether a local is in scope; absent before its binding.
    state: ArenaMap<LocalId, bool>,
    used: ArenaMap<ExprId, ()>,
}

impl Checker<'_> {
    fn fault(&mut self, text: String) {
        self.faults.push(format!("{}: {text}", self.function.name));
    }

    fn function(&mut self) {
        let function = self.function;
        for &param in &function.params {
            self.bind(param);
        }
        let mut in_region = false;
        function.walk(|event| match event {
            Event::Expr(id) => self.expr(id, in_region),
            Event::Stmt(stmt) => self.stmt(stmt),
            Event::Stage(binding) => self.binding(binding),
            Event::RegionStart => in_region = true,
            Event::RegionEnd => in_region = false,
            Event::RepeatStart(repeat) => self.bind(repeat.index),
            Event::RepeatEnd(repeat) => {
                self.state.insert(repeat.index, false);
                self.leave(&repeat.body);
            }
            Event::ThroughEnd(through) => self.through(through),
            Event::TraverseEnd(traverse) => self.traverse(traverse),
            Event::ForStart(looped) => self.enter_loop(looped),
            Event::ForEnd(looped) => {
                self.state.insert(looped.index, false);
                self.leave(&looped.body);
            }
            Event::If(choice) => {
                if function.exprs[choice.condition].ty != Ty::TRUTH {
                    self.fault("a statement `if` asks for a <bool>".into());
                }
            }
            Event::Else(choice) => self.leave(&choice.then),
            Event::IfEnd(choice) => self.leave(&choice.otherwise),
            Event::TraverseStart(_) | Event::Where(_) => {}
            Event::Then(_) | Event::Otherwise(_) | Event::Arm { .. } | Event::Block(_) | Event::Through(_) => {}
        });
        self.result();
    }

    fn result(&mut self) {
        let function = self.function;
        match (function.result, function.ty) {
            (Some(result), Some(ty)) => {
                let found = function.exprs[result].ty;
                if !broadcasts(found, ty) {
                    self.fault(format!("the result is {ty} but its value is {found}"));
                }
            }
            (None, None) => {}
            _ => self.fault("a result without a type, or a type without a result".into()),
        }
        if function.kind == FunctionKind::Tine
            && !(matches!(function.ty, Some(Ty::Mask(_))) && function.body.is_empty())
        {
            self.fault("a tine is one predicate".into());
        }
        if (function.kind == FunctionKind::Run) != function.result.is_none() {
            self.fault("runs, and nothing else, have no result".into());
        }
    }

    fn traverse(&mut self, traverse: &Traverse) {
        let function = self.function;
        self.leave(&traverse.body);
        let truth = Ty::Mask(traverse.bits);
        if traverse.predicate.is_some_and(|predicate| !broadcasts(function.exprs[predicate].ty, truth)) {
            self.fault(format!("the records of a traverse are chosen by no {truth}"));
        }
        for (at, &(column, value)) in traverse.columns.iter().enumerate() {
            let twice = traverse.columns[..at].iter().any(|(other, _)| *other == column);
            let fits = |rack| broadcasts(function.exprs[value].ty, rack);
            if twice || !function.column_rack(traverse, column).is_some_and(fits) {
                self.fault(format!("column {column} is replaced twice, or by what it does not hold"));
            }
        }
    }

    fn enter_loop(&mut self, looped: &For) {
        let function = self.function;
        let ty = function.locals[looped.index].ty;
        let bounds = [looped.from, looped.to, looped.step].map(|id| function.exprs[id].ty);
        if !matches!(ty, Ty::Uniform(elem) if elem.is_int()) || bounds.iter().any(|bound| *bound != ty) {
            self.fault(format!("a loop over {ty} has bounds and a step of {bounds:?}"));
        }
        if !looped.carries.is_empty() {
            self.fault("a loop carries what is a location yet".into());
        }
        self.bind(looped.index);
    }

    fn column(&mut self, stack: LocalId, column: u32, ty: Ty) {
        self.read(stack, false);
        let elem = match self.function.pointees.get(stack) {
            Some(Pointee::Stack { columns, .. }) => columns.get(column as usize).map(|(_, elem)| *elem),
            _ => None,
        };
        let rack = elem.zip(ty.lane_bits()).and_then(|(elem, bits)| working_rack(elem, bits));
        if rack != Some(ty) {
            self.fault(format!("column {column} is read as {ty}"));
        }
    }

    /// The place of an access; `ty` is what is read or written.
    fn access(&mut self, access: &Access, ty: Ty) {
        let function = self.function;
        self.read(access.view, false);
        self.read(access.count, false);
        let view = matches!(function.pointees.get(access.view), Some(Pointee::View { .. }));
        let (elem, index) = (function.element(access), function.exprs[access.index].ty);
        let fits = match (ty, index) {
            (Ty::Uniform(of), _) => of == elem && index == Ty::LONG && access.bound.is_none(),
            (Ty::Rack(of), Ty::Rack(Elem::I32 | Elem::U32)) => of == elem && of.bits() == 32 && access.bound.is_none(),
            (Ty::Rack(of), _) => {
                of == elem && index == Ty::LONG && access.bound.is_none_or(|bound| function.exprs[bound].ty == Ty::LONG)
            }
            _ => false,
        };
        if !view || !fits || function.locals[access.count].ty != Ty::Uniform(Elem::I32) {
            self.fault(format!("{ty} is no part of `{}` at {index}", function.locals[access.view].name));
        }
    }

    fn bind(&mut self, local: LocalId) {
        let (kind, ty) = (self.function.locals[local].kind, self.function.locals[local].ty);
        if kind == LocalKind::Tine && !matches!(ty, Ty::Mask(_)) {
            self.fault(format!("the tine `#{}` is no mask", self.function.locals[local].name));
        }
        if self.state.insert(local, true).is_some() {
            self.fault(format!("`{}` is bound twice", self.function.locals[local].name));
        }
    }

    fn binding(&mut self, binding: Binding) {
        self.value(binding.local, binding.value);
        self.bind(binding.local);
    }

    fn value(&mut self, local: LocalId, value: ExprId) {
        let (local, value) = (&self.function.locals[local], &self.function.exprs[value]);
        if !broadcasts(value.ty, local.ty) {
            self.fault(format!("`{}` is {} but its value is {}", local.name, local.ty, value.ty));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(binding) | Stmt::Location(binding) => self.binding(*binding),
            Stmt::Assign { local, element, value } => {
                self.value(*local, *value);
                self.read(*local, element.is_some());
                if !matches!(self.function.locals[*local].kind, LocalKind::Location | LocalKind::Array(_)) {
                    self.fault(format!("`{}` is assigned but no location", self.function.locals[*local].name));
                }
            }
            Stmt::Store { access, value } => {
                let rack = Ty::Rack(self.function.element(access));
                if !broadcasts(self.function.exprs[*value].ty, rack) {
                    self.fault(format!("what is stored is no {rack}"));
                }
                self.access(access, rack);
            }
            Stmt::Region(_) | Stmt::Repeat(_) | Stmt::Through(_) => {}
            // They have events of their own.
            Stmt::Traverse(_) | Stmt::For(_) | Stmt::If(_) => {}
        }
    }

    fn through(&mut self, through: &Through) {
        let ty = |id: ExprId| self.function.exprs[id].ty;
        let bound = self.function.locals[through.local].ty;
        let values = [Some(through.result), through.otherwise];
        let fits = values.into_iter().flatten().all(|value| broadcasts(ty(value), bound));
        if bound.is_uniform() || !fits || !broadcasts(ty(through.predicate), bound.truth()) {
            self.fault(format!(
                "`{}` of type {bound} does not fit its block",
                self.function.locals[through.local].name
            ));
        }
        self.leave(&through.body);
        self.bind(through.local);
    }

    fn sweep(&mut self, arms: &[Arm], ty: Ty) {
        let of = |id: ExprId| self.function.exprs[id].ty;
        let fits = |arm: &Arm| {
            broadcasts(of(arm.value), ty) && arm.predicate.is_none_or(|predicate| broadcasts(of(predicate), ty.truth()))
        };
        let open = arms.iter().rev().skip(1).any(|arm| arm.predicate.is_none());
        if arms.is_empty() || open || ty.is_uniform() || !arms.iter().all(fits) {
            self.fault(format!("the arms of a sweep do not give {ty}"));
        }
    }

    fn read(&mut self, local: LocalId, element: bool) {
        let bound = &self.function.locals[local];
        if self.state.get(local) != Some(&true) {
            self.fault(format!("`{}` is used outside its scope", bound.name));
        }
        if matches!(bound.kind, LocalKind::Array(_)) != element {
            self.fault(format!("`{}` is an array or else has no elements", bound.name));
        }
    }

    fn expr(&mut self, id: ExprId, in_region: bool) {
        let function = self.function;
        let expr = &function.exprs[id];
        if self.used.insert(id, ()).is_some() {
            self.fault(format!("an expression of type {} has two users", expr.ty));
        }
        let ty = |e: &ExprId| function.exprs[*e].ty;
        match &expr.kind {
            ExprKind::Const(bits) => {
                if bits & !expr.ty.elem().lane_mask() != 0 {
                    self.fault(format!("the constant {bits:#x} exceeds {}", expr.ty.elem()));
                }
            }
            ExprKind::Read(local) | ExprKind::Element { array: local, .. } => {
                self.read(*local, matches!(expr.kind, ExprKind::Element { .. }));
                if function.locals[*local].ty != expr.ty {
                    self.fault(format!("`{}` is read as {}", function.locals[*local].name, expr.ty));
                }
            }
            ExprKind::Column { stack, column } => self.column(*stack, *column, expr.ty),
            ExprKind::Load(access) => {
                if in_region {
                    self.fault("memory is read in a region".into());
                }
                self.access(access, expr.ty);
            }
            ExprKind::Op { op, imm, args } => {
                let types: Vec<Ty> = args.iter().map(ty).collect();
                if op.infer(&lift(*op, &types), Some(expr.ty)) != Ok(expr.ty) || !immediate_fits(*op, imm, types.len())
                {
                    self.fault(format!("`{}` over {types:?} and {imm:?} gives {}", op.name(), expr.ty));
                }
                if in_region && !op.info().fused {
                    self.fault(format!("`{}` stands in a region", op.name()));
                }
            }
            ExprKind::If { condition, then, otherwise } => {
                let types = [condition, then, otherwise].map(ty);
                if Op::If.infer(&lift(Op::If, &types), None) != Ok(expr.ty) {
                    self.fault(format!("an `if` over {types:?} gives {}", expr.ty));
                }
            }
            ExprKind::Call { callee, args } => {
                let types: Vec<Ty> = args.iter().map(ty).collect();
                self.call(callee.0 as usize, &types, expr.ty, in_region);
            }
            ExprKind::Sweep { arms } => {
                if in_region {
                    self.fault("a sweep stands in a region".into());
                }
                self.sweep(arms, expr.ty);
            }
            ExprKind::Block { body, result } => {
                if in_region {
                    self.fault("a block stands in a region".into());
                }
                if !broadcasts(ty(result), expr.ty) {
                    self.fault(format!("a block of type {} ends in {}", expr.ty, ty(result)));
                }
                self.leave(body);
            }
        }
    }

    fn call(&mut self, callee: usize, types: &[Ty], ty: Ty, in_region: bool) {
        let Some(callee) = self.program.functions.get(callee) else {
            return self.fault("a call of no function".into());
        };
        let params = callee.params.iter().map(|p| callee.locals[*p].ty);
        let fits = callee.params.len() == types.len() && types.iter().zip(params).all(|(&a, p)| broadcasts(a, p));
        if !fits || callee.ty != Some(ty) || in_region {
            self.fault(format!("the call of `{}` over {types:?} gives {ty}", callee.name));
        }
    }

    /// Ends the scope of what a body binds.
    fn leave(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let(binding) | Stmt::Location(binding) => {
                    self.state.insert(binding.local, false);
                }
                Stmt::Region(stages) => {
                    for stage in stages {
                        self.state.insert(stage.local, false);
                    }
                }
                Stmt::Through(through) => {
                    self.state.insert(through.local, false);
                }
                Stmt::Assign { .. } | Stmt::Repeat(Repeat { .. }) => {}
                Stmt::Traverse(_) | Stmt::Store { .. } | Stmt::For(_) | Stmt::If(_) => {}
            }
        }
    }
}
