//! `resolve-tines`: desugared to tined. Expression trees become SSA values in source order, and what a branch computes
//! gets the mask of its lanes.
//!
//! ```text
//! let r: f32s = sqrt(x)                     %1 : f32s = sqrt %0
//! if x > 1.0 then x / r else -r      =>     %2 : f32s = const 1.0
//!                                           %3 : mask = gt %0, %2
//!                                           %4 : f32s = div %0, %1 if %3
//!                                           %5 : mask = not %3
//!                                           %6 : f32s = neg %1 if %5
//!                                           %7 : f32s = if %3, %4, %6
//! ```
//!
//! Nothing is shared or reordered here. The masks are a stack of conditions ([`masks`]): a branch pushes its condition
//! or the complement, and an inlined body inherits what stands around the call. A uniform that a branch over lanes
//! computes is computed as a rack under the branch's mask, so that it raises no flag when the branch takes no lane.

mod bdd;
mod masks;
#[cfg(test)]
pub(crate) mod tests;

use la_arena::Arena;
use masks::{Condition, Masks};
use rake_ir::desugared::{self, Binding, Event, Expr, ExprId, ExprKind};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{Args, Param, Stmt, Value, ValueId, needs_benign};
use rake_ir::ops::{Imm, LaneRule, Op};
use rake_ir::span::Span;
use rake_ir::tined::{Function, Program, Region};
use rake_ir::types::Ty;

/// Lowers every function.
///
/// # Errors
/// Operations that cannot stand under the mask where they stand.
pub fn run(program: &desugared::Program) -> Result<Program, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let mut functions = Vec::with_capacity(program.functions.len());
    for source in &program.functions {
        match function(source) {
            Ok(function) => functions.push(function),
            Err(more) => faults.extend(more),
        }
    }
    let (profile, fuse) = (program.profile, program.fuse);
    if faults.is_empty() { Ok(Program { profile, fuse, functions }) } else { Err(faults) }
}

/// Lowers one function.
///
/// # Errors
/// As [`run`].
pub fn function(source: &desugared::Function) -> Result<Function, Vec<Diagnostic>> {
    let mut lowering = Lowering {
        source,
        exprs: vec![None; source.exprs.len()],
        locals: vec![None; source.locals.len()],
        out: Builder::default(),
        masks: Masks::default(),
        truths: Vec::new(),
        faults: Vec::new(),
    };
    let mut params = Vec::with_capacity(source.params.len());
    for (position, &id) in source.params.iter().enumerate() {
        let local = &source.locals[id];
        let value = lowering.out.push(Op::Param, Imm::Int(position as u32), &[], local.ty, None, local.span);
        lowering.out.values[value].name = Some(local.name.clone());
        lowering.locals[index(id)] = Some(value);
        params.push(Param { name: local.name.clone(), ty: local.ty, span: local.span });
    }
    source.walk(|event| lowering.event(event));
    let result = lowering.value_of(source.result);
    if !lowering.faults.is_empty() {
        return Err(lowering.faults);
    }
    let Builder { values, body, .. } = lowering.out;
    Ok(Function { name: source.name.clone(), span: source.span, params, values, body, result })
}

fn index<T>(id: la_arena::Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

/// The function being written.
#[derive(Default)]
struct Builder {
    values: Arena<Value>,
    body: Vec<Stmt<Region>>,
    /// The region being written, when inside one.
    region: Option<Region>,
}

impl Builder {
    fn push(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty, mask: Option<ValueId>, span: Span) -> ValueId {
        let args = Args::from_slice(args);
        let id = self.values.alloc(Value { op, imm, args, ty, mask, span, name: None });
        match &mut self.region {
            Some(region) => region.values.push(id),
            None => self.body.push(Stmt::Value(id)),
        }
        id
    }
}

struct Lowering<'a> {
    source: &'a desugared::Function,
    exprs: Vec<Option<ValueId>>,
    locals: Vec<Option<ValueId>>,
    out: Builder,
    masks: Masks,
    /// The kinds of truth that go with the function's values, once needed.
    truths: Vec<Ty>,
    faults: Vec<Diagnostic>,
}

impl Lowering<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Expr(id) => self.expr(id),
            Event::Then(id) => self.branch(id, false),
            Event::Otherwise(id) => {
                self.masks.pop();
                self.branch(id, true);
            }
            Event::Let(binding) => {
                self.bind(binding);
            }
            Event::RegionStart => {
                self.masks_before_region();
                self.out.region = Some(Region { values: Vec::new(), stages: Vec::new() });
                self.masks.enter_region();
            }
            Event::Stage(binding) => {
                let value = self.bind(binding);
                let name = self.source.locals[binding.local].name.clone();
                if let Some(region) = &mut self.out.region {
                    region.stages.push((name, value));
                }
            }
            Event::RegionEnd => {
                self.masks.leave_region();
                self.out.body.extend(self.out.region.take().map(Stmt::Region));
            }
            Event::Through(through) => self.unlowered(through.span),
            Event::ThroughEnd(through) => {
                self.bind(Binding { local: through.local, value: through.result });
            }
            Event::Arm { sweep, .. } => self.unlowered(self.source.exprs[sweep].span),
        }
    }

    fn unlowered(&mut self, span: Span) {
        self.faults.push(Diagnostic::error(Code::Internal, span, "through blocks and sweeps are not lowered"));
    }

    /// Makes the masks around a region before it, for they are no part of it: one for each kind of value there is.
    fn masks_before_region(&mut self) {
        if self.masks.is_empty() {
            return;
        }
        if self.truths.is_empty() {
            let truths: std::collections::BTreeSet<Ty> = self.source.exprs.values().map(|e| e.ty.truth()).collect();
            self.truths = truths.into_iter().collect();
        }
        for &truth in &self.truths {
            self.masks.of(truth, &mut self.out, self.source.span);
        }
    }

    /// The value of an expression that was visited. A checked program visits operands first.
    fn value_of(&mut self, id: ExprId) -> ValueId {
        if let Some(value) = self.exprs[index(id)] {
            return value;
        }
        let expr = &self.source.exprs[id];
        self.faults.push(Diagnostic::error(Code::Internal, expr.span, "an expression is used before it is computed"));
        self.out.push(Op::Const, Imm::Bits(0), &[], expr.ty, None, expr.span)
    }

    fn bind(&mut self, binding: Binding) -> ValueId {
        let value = self.value_of(binding.value);
        self.locals[index(binding.local)] = Some(value);
        let name = &mut self.out.values[value].name;
        if name.is_none() {
            *name = Some(self.source.locals[binding.local].name.clone());
        }
        value
    }

    fn branch(&mut self, id: ExprId, complement: bool) {
        if let ExprKind::If { condition, .. } = self.source.exprs[id].kind {
            let value = self.value_of(condition);
            self.masks.push(Condition { value, complement });
        }
    }

    fn expr(&mut self, id: ExprId) {
        let expr = &self.source.exprs[id];
        let value = match &expr.kind {
            ExprKind::Const(bits) => Some(self.out.push(Op::Const, Imm::Bits(*bits), &[], expr.ty, None, expr.span)),
            ExprKind::Read(local) => self.locals[index(*local)],
            ExprKind::Op { op, imm, args } => {
                let args: Args = args.iter().map(|&arg| self.value_of(arg)).collect();
                Some(self.operation(*op, imm, args, expr))
            }
            ExprKind::If { condition, then, otherwise } => {
                self.masks.pop();
                let args = [condition, then, otherwise].map(|&e| self.value_of(e));
                Some(self.operation(Op::If, &Imm::None, Args::from_slice(&args), expr))
            }
            ExprKind::Sweep { arms } => arms.first().map(|arm| self.value_of(arm.value)),
            ExprKind::Block { result, .. } => Some(self.value_of(*result)),
        };
        self.exprs[index(id)] = value;
    }

    fn operation(&mut self, op: Op, imm: &Imm, mut args: Args, expr: &Expr) -> ValueId {
        let (mut ty, span) = (expr.ty, expr.span);
        self.refuse(op, &args, span);
        if let Some(width) = self.raised_width(op, &args, expr) {
            ty = if ty.is_truth() { Ty::Mask(width) } else { Ty::Rack(ty.elem()) };
            for arg in &mut args {
                *arg = self.as_rack(*arg, width, span);
            }
        } else if op == Op::Splat && self.out.values[args[0]].ty == ty {
            return args[0];
        } else if !matches!(op, Op::If | Op::Splat) {
            for (arg, wanted) in args.iter_mut().zip(self.wanted(expr)) {
                if wanted.is_uniform() && !self.out.values[*arg].ty.is_uniform() {
                    *arg = self.as_uniform(*arg, span);
                }
            }
        }
        // A broadcast of a value that every lane has needs no mask, and neither do lane numbers.
        let free = op == Op::LaneIndex || op == Op::Splat && self.out.values[args[0]].mask.is_none();
        let mask = if free { None } else { self.masks.of(ty, &mut self.out, span) };
        self.out.push(op, imm.clone(), &args, ty, mask, span)
    }

    /// The types that the source gives an operation's operands.
    fn wanted(&self, expr: &Expr) -> Vec<Ty> {
        match &expr.kind {
            ExprKind::Op { args, .. } => args.iter().map(|&arg| self.source.exprs[arg].ty).collect(),
            _ => Vec::new(),
        }
    }

    /// Refuses an operation over all lanes where only some are computed.
    fn refuse(&mut self, op: Op, args: &[ValueId], span: Span) {
        let lane = op.info().lane;
        if lane == LaneRule::Unmasked && !self.masks.is_empty() {
            let message = format!("`{}` cannot stand in a branch of a conditional", op.name());
            let fault = Diagnostic::error(Code::UnderMask, span, message).at("only some lanes are computed here");
            self.faults.push(fault.help("bind it with `let` before the conditional"));
        }
        let partial = |&arg: &ValueId| self.out.values[arg].mask.is_some() && !self.out.values[arg].ty.is_uniform();
        if lane == LaneRule::CrossLane && args.iter().any(partial) {
            let message = format!("`{}` reads lanes that this branch does not compute", op.name());
            let fault = Diagnostic::error(Code::PartialLanes, span, message);
            self.faults.push(fault.help("bind its operand with `let` before the conditional"));
        }
    }

    /// The lane width at which an operation on uniforms is computed as a rack: inside a branch over lanes, when it might
    /// raise a flag there or reads what is a rack already.
    fn raised_width(&self, op: Op, args: &[ValueId], expr: &Expr) -> Option<u32> {
        let types = || args.iter().map(|&arg| self.out.values[arg].ty);
        let width = self.masks.lane_width(&self.out)?;
        let fits = |ty: Ty| ty.is_truth() || ty.elem().bits() == width;
        let lane_wise = matches!(op.info().lane, LaneRule::Total | LaneRule::Sanitise(_)) && op != Op::Splat;
        if op == Op::If && !types().next()?.is_uniform() && expr.ty.is_uniform() {
            return Some(width);
        }
        let shifted = args.len() == 2 && matches!(op.info().types, rake_ir::ops::TypeRule::Shift);
        if !expr.ty.is_uniform() || !lane_wise || shifted || !fits(expr.ty) || !types().all(fits) {
            return None;
        }
        let raises = types().next().is_some_and(|ty| needs_benign(op, ty.elem(), expr.ty.elem()).is_some());
        (raises || types().any(|ty| !ty.is_uniform())).then_some(width)
    }

    fn as_rack(&mut self, id: ValueId, width: u32, span: Span) -> ValueId {
        let value = &self.out.values[id];
        let ty = match value.ty {
            Ty::Uniform(_) if value.ty.is_truth() => Ty::Mask(width),
            Ty::Uniform(elem) => Ty::Rack(elem),
            _ => return id,
        };
        let mask = if value.mask.is_some() { self.masks.of(ty, &mut self.out, span) } else { None };
        self.out.push(Op::Splat, Imm::None, &[id], ty, mask, span)
    }

    /// The uniform that a raised rack stands for, computed again in every lane: for the few operations that take a
    /// uniform beside a rack, such as a shift's count.
    fn as_uniform(&mut self, id: ValueId, span: Span) -> ValueId {
        let mut done: std::collections::HashMap<ValueId, ValueId> = std::collections::HashMap::new();
        let mut stack = vec![(id, false)];
        while let Some((id, visited)) = stack.pop() {
            if done.contains_key(&id) {
                continue;
            }
            let value = self.out.values[id].clone();
            if value.ty.is_uniform() {
                done.insert(id, id);
            } else if value.op == Op::Splat {
                done.insert(id, value.args[0]);
            } else if visited {
                let args: Args = value.args.iter().filter_map(|arg| done.get(arg).copied()).collect();
                let ty = Ty::Uniform(value.ty.elem());
                done.insert(id, self.out.push(value.op, value.imm, &args, ty, None, span));
            } else {
                stack.push((id, true));
                stack.extend(value.args.iter().map(|&arg| (arg, false)));
            }
        }
        done.get(&id).copied().unwrap_or(id)
    }
}
