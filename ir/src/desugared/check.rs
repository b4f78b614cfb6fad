//! The check of `desugared`: types, scopes, single use.

use super::{
    Access, Arm, Binding, Event, ExprId, ExprKind, For, Function, FunctionKind, LocalId, Program, Stmt, Through,
    Traverse,
};
use crate::ops::{Imm, ImmKind, Op};
use crate::typed::bodies::working_rack;
use crate::types::{Elem, Pointee, Ty};
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
            Event::TraverseEnd(traverse) => self.traverse(traverse),
            Event::Store(access, value) => self.access(access, function.exprs[value].ty),
            Event::ForStart(looped) => self.enter_loop(looped),
            Event::ForEnd(looped) => self.leave_loop(looped),
            Event::If(choice) => {
                if function.exprs[choice.condition].ty != Ty::TRUTH {
                    self.fault("a statement `if` asks for a <bool>".into());
                }
            }
            Event::Else(choice) => self.leave(&choice.then),
            Event::IfEnd(choice) => {
                self.leave(&choice.otherwise);
                for merge in &choice.merges {
                    self.changes(merge.local, [merge.then, merge.otherwise]);
                    self.bind(merge.local);
                }
            }
            Event::TraverseStart(_) | Event::Where(_) => {}
            Event::Then(_) | Event::Otherwise(_) | Event::Arm { .. } | Event::Through(_) => {}
        });
        if (function.kind == FunctionKind::Run) != function.result.is_none() {
            self.fault("runs, and nothing else, have no result".into());
        }
    }

    fn traverse(&mut self, traverse: &Traverse) {
        let function = self.function;
        self.leave(&traverse.body);
        let truth = Ty::Mask(traverse.bits);
        if traverse.predicate.is_some_and(|predicate| function.exprs[predicate].ty != truth) {
            self.fault(format!("the records of a traverse are chosen by no {truth}"));
        }
        for (at, &(column, value)) in traverse.columns.iter().enumerate() {
            let twice = traverse.columns[..at].iter().any(|(other, _)| *other == column);
            if twice || function.column_rack(traverse, column) != Some(function.exprs[value].ty) {
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
        self.bind(looped.index);
        for carry in &looped.carries {
            self.changes(carry.local, [carry.first, carry.next]);
            self.bind(carry.local);
        }
    }

    fn leave_loop(&mut self, looped: &For) {
        self.state.insert(looped.index, false);
        self.leave(&looped.body);
    }

    fn changes(&mut self, local: LocalId, values: [ExprId; 2]) {
        let ty = self.function.locals[local].ty;
        if values.iter().any(|&value| self.function.exprs[value].ty != ty) {
            self.fault(format!("`{}` changes its type", self.function.locals[local].name));
        }
    }

    fn name(&mut self, local: LocalId) {
        if self.state.get(local) != Some(&true) {
            self.fault(format!("`{}` is read outside its scope", self.function.locals[local].name));
        }
    }

    /// The place of an access; `ty` is what is read or written.
    fn access(&mut self, access: &Access, ty: Ty) {
        let function = self.function;
        self.name(access.view);
        self.name(access.count);
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
            ExprKind::Column { stack, column } => {
                self.name(*stack);
                let elem = function.pointees.get(*stack).and_then(|pointee| pointee.column(*column));
                let rack = elem.zip(expr.ty.lane_bits()).and_then(|(elem, bits)| working_rack(elem, bits));
                if rack != Some(expr.ty) {
                    self.fault(format!("column {column} is read as {}", expr.ty));
                }
            }
            ExprKind::Load(access) => {
                if in_region {
                    self.fault("memory is read in a region".into());
                }
                self.access(access, expr.ty);
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
                Stmt::For(looped) => {
                    self.state.extend(looped.carries.iter().map(|carry| (carry.local, false)));
                    continue;
                }
                Stmt::If(choice) => {
                    self.state.extend(choice.merges.iter().map(|merge| (merge.local, false)));
                    continue;
                }
                Stmt::Traverse(_) | Stmt::Store { .. } => continue,
            };
            for binding in bindings {
                self.state.insert(binding.local, false);
            }
        }
    }
}
