//! The check of `typed`: types with their implicit broadcasts, scopes, single use.

use super::{
    Arm, Binding, Event, ExprId, ExprKind, Function, FunctionKind, LocalId, LocalKind, Program, Repeat, Stmt, Through,
    broadcasts, lift,
};
use crate::desugared::check::immediate_fits;
use crate::ops::Op;
use crate::types::Ty;
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
            Event::Then(_) | Event::Otherwise(_) | Event::Arm { .. } | Event::Block(_) | Event::Through(_) => {}
        });
        self.result();
    }

    fn result(&mut self) {
        let function = self.function;
        let result = function.exprs[function.result].ty;
        if !broadcasts(result, function.ty) {
            self.fault(format!("the result is {} but its value is {result}", function.ty));
        }
        if function.kind == FunctionKind::Tine && !(matches!(function.ty, Ty::Mask(_)) && function.body.is_empty()) {
            self.fault("a tine is one predicate".into());
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
            Stmt::Region(_) | Stmt::Repeat(_) | Stmt::Through(_) => {}
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
        if !fits || ty != callee.ty || in_region {
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
            }
        }
    }
}
