//! The check of `desugared`: types, scopes, single use.

use super::{Arm, Binding, Event, ExprId, ExprKind, Function, FunctionKind, LocalId, Program, Stmt, Through};
use crate::ops::{Imm, ImmKind, Op};
use crate::types::{Elem, Ty};
use la_arena::ArenaMap;

/// Checks the invariants.
///
/// # Errors
/// Each violation in one line.
pub fn check(program: &Program) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for function in &program.functions {
        let mut checker =
            Checker { function, faults: &mut faults, state: ArenaMap::default(), used: ArenaMap::default() };
        checker.function();
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Whether this immediate is of the kind that the row asks for, given how many operands stand.
pub(crate) fn immediate_fits(op: Op, imm: &Imm, args: usize) -> bool {
    match op.info().imm {
        ImmKind::None => *imm == Imm::None,
        ImmKind::Bits => matches!(imm, Imm::Bits(_)),
        ImmKind::ShiftCount if args == 2 => *imm == Imm::None,
        ImmKind::Param | ImmKind::ShiftCount | ImmKind::Lane | ImmKind::LaneCount => matches!(imm, Imm::Int(_)),
        ImmKind::Lanes => matches!(imm, Imm::Lanes(_)),
        ImmKind::Memory => matches!(imm, Imm::Memory(_)),
        ImmKind::Column => matches!(imm, Imm::Int(_)),
        ImmKind::Reason => matches!(imm, Imm::Reason(_)),
    }
}

struct Checker<'a> {
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
        if function.kind == FunctionKind::Tine {
            self.fault("a tine is no function of its own here".into());
        }
        let mut in_region = false;
        function.walk(|event| match event {
            Event::Expr(id) => self.expr(id, in_region),
            Event::Let(binding) | Event::Stage(binding) => self.binding(binding),
            Event::RegionStart => in_region = true,
            Event::RegionEnd => in_region = false,
            Event::ThroughEnd(through) => self.through(through),
            Event::Then(_) | Event::Otherwise(_) | Event::Arm { .. } | Event::Through(_) => {}
        });
    }

    fn bind(&mut self, local: LocalId) {
        let bound = &self.function.locals[local];
        if bound.tine && !matches!(bound.ty, Ty::Mask(_)) {
            self.fault(format!("the tine `#{}` is no mask", bound.name));
        }
        if self.state.insert(local, true).is_some() {
            self.fault(format!("`{}` is bound twice", self.function.locals[local].name));
        }
    }

    fn binding(&mut self, binding: Binding) {
        let (local, value) = (&self.function.locals[binding.local], &self.function.exprs[binding.value]);
        if local.ty != value.ty {
            self.fault(format!("`{}` is {} but its value is {}", local.name, local.ty, value.ty));
        }
        self.bind(binding.local);
    }

    fn through(&mut self, through: &Through) {
        let ty = |id: ExprId| self.function.exprs[id].ty;
        let bound = self.function.locals[through.local].ty;
        let fits = ty(through.result) == bound && through.otherwise.is_none_or(|otherwise| ty(otherwise) == bound);
        if bound.is_uniform() || !fits || ty(through.predicate) != bound.truth() {
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
        let fits = |arm: &Arm| of(arm.value) == ty && arm.predicate.is_none_or(|predicate| of(predicate) == ty.truth());
        let open = arms.iter().rev().skip(1).any(|arm| arm.predicate.is_none());
        if arms.is_empty() || open || ty.is_uniform() || !arms.iter().all(fits) {
            self.fault(format!("the arms of a sweep do not give {ty}"));
        }
    }

    fn expr(&mut self, id: ExprId, in_region: bool) {
        let function = self.function;
        let expr = &function.exprs[id];
        if self.used.insert(id, ()).is_some() {
            self.fault(format!("an expression of type {} has two users", expr.ty));
        }
        match &expr.kind {
            ExprKind::Const(bits) => {
                if bits & !expr.ty.elem().lane_mask() != 0 {
                    self.fault(format!("the constant {bits:#x} exceeds {}", expr.ty.elem()));
                }
            }
            ExprKind::Read(local) => {
                let bound = &function.locals[*local];
                if self.state.get(*local) != Some(&true) {
                    self.fault(format!("`{}` is read outside its scope", bound.name));
                }
                if bound.ty != expr.ty {
                    self.fault(format!("`{}` is {} but read as {}", bound.name, bound.ty, expr.ty));
                }
            }
            ExprKind::Op { op, imm, args } => {
                let types: Vec<Ty> = args.iter().map(|&a| function.exprs[a].ty).collect();
                self.operation(*op, imm, &types, expr.ty, in_region);
            }
            ExprKind::If { condition, then, otherwise } => {
                let types = [*condition, *then, *otherwise].map(|e| function.exprs[e].ty);
                if Op::If.infer(&types, None) != Ok(expr.ty) {
                    self.fault(format!("an `if` over {types:?} gives {}", expr.ty));
                }
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
                if function.exprs[*result].ty != expr.ty {
                    self.fault(format!("a block of type {} ends in {}", expr.ty, function.exprs[*result].ty));
                }
                self.leave(body);
            }
        }
    }

    fn operation(&mut self, op: Op, imm: &Imm, types: &[Ty], ty: Ty, in_region: bool) {
        if matches!(op, Op::Param | Op::Const | Op::If) {
            self.fault(format!("`{}` has a form of its own", op.name()));
        } else if op.infer(types, Some(ty)) != Ok(ty) {
            self.fault(format!("`{}` over {types:?} gives {ty}", op.name()));
        }
        if !immediate_fits(op, imm, types.len()) {
            self.fault(format!("`{}` has the immediate {imm:?}", op.name()));
        }
        if op == Op::LaneIndex
            && !matches!(
                ty,
                Ty::Rack(Elem::I32 | Elem::U32 | Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 | Elem::I64 | Elem::U64)
            )
        {
            self.fault(format!("lane indices of type {ty}"));
        }
        if in_region && !op.info().fused {
            self.fault(format!("`{}` stands in a region", op.name()));
        }
    }

    /// Ends the scope of what a block or a through body binds.
    fn leave(&mut self, body: &[Stmt]) {
        for stmt in body {
            let bindings = match stmt {
                Stmt::Let(binding) => std::slice::from_ref(binding),
                Stmt::Region(stages) => &stages[..],
                Stmt::Through(through) => {
                    self.state.insert(through.local, false);
                    continue;
                }
            };
            for binding in bindings {
                self.state.insert(binding.local, false);
            }
        }
    }
}
