//! desugar: `typed` → `desugared`. Broadcasts become `splat`s, mutable locations the values they hold.
//!
//! ```text
//! scratch f(x: f32s, k: <f32>) -> f32s:        scratch f(x: f32s, k: <f32>) -> f32s:
//!   acc: f32s := x                               let acc: f32s = x
//!   acc <- acc * <k>                       →     let acc.2: f32s = acc * splat(<k>)
//!   acc                                          acc.2
//! ```
//!
//! A location that a loop or a statement `if` changes is one name in it and behind it ([`locations`]):
//!
//! ```text
//! total: f32s := 0.0                           let total: f32s = 0.0
//! for i: <i32> from <0> up to <n> by <4>:      for i: <i32> from <0> up to <n> by <4> with total.2: f32s = total:
//!   total <- total + x[entry to_i64(<i>)]  →     let total.3: f32s = total.2 + x[entry to_i64(<i>)]
//! y[<0>] <- total                                next total.2: f32s = total.3
//!                                              y[<0>] <- total.2
//! ```
//!
//! Runs after `inline` and `unroll`. Each assignment binds a new local; an array of racks is one local per element, its
//! indices known by now. A uniform constant that meets a rack becomes a constant rack. One walk in order of evaluation.

mod locations;

use la_arena::{Arena, ArenaMap};
use rake_ir::desugared::{
    Access, Arm, Binding, Expr, ExprId, ExprKind, Function, Local, LocalId, Program, Stmt, Through, Traverse,
};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::typed::{self, Event, LocalKind, fold_int, integer, lift};
use rake_ir::types::Ty;
use smallvec::smallvec;

/// Rewrites every function.
///
/// # Errors
/// Elements of arrays that do not exist.
pub fn run(program: typed::Program) -> Result<Program, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let functions: Vec<Function> = program.functions.iter().map(|function| desugar(function, &mut errors)).collect();
    let typed::Program { profile, fuse, .. } = program;
    if errors.is_empty() { Ok(Program { profile, fuse, functions }) } else { Err(errors) }
}

/// What a typed local is at this point of the walk.
enum Current {
    One(LocalId),
    /// An array's elements.
    Many(Vec<LocalId>),
}

struct Desugar<'a> {
    function: &'a typed::Function,
    locals: Arena<Local>,
    exprs: Arena<Expr>,
    /// New ids of the expressions visited.
    map: ArenaMap<typed::ExprId, ExprId>,
    current: ArenaMap<typed::LocalId, Current>,
    /// The statements of the blocks around the walk's place, the innermost last.
    blocks: Vec<Vec<Stmt>>,
    /// What the loops and statements `if` around the walk's place change.
    changes: Vec<locations::Changes>,
    /// The stages of the region at the walk's place.
    region: Vec<Binding>,
    errors: &'a mut Vec<Diagnostic>,
}

fn desugar(function: &typed::Function, errors: &mut Vec<Diagnostic>) -> Function {
    let mut this = Desugar {
        function,
        locals: Arena::new(),
        exprs: Arena::with_capacity(function.exprs.len()),
        map: ArenaMap::default(),
        current: ArenaMap::default(),
        blocks: vec![Vec::new()],
        changes: Vec::new(),
        region: Vec::new(),
        errors,
    };
    let params: Vec<LocalId> = function.params.iter().map(|&param| this.bind(param)).collect();
    let pointees = function.params.iter().zip(&params);
    let pointees = pointees.filter_map(|(&old, &new)| Some((new, function.pointees.get(old)?.clone()))).collect();
    function.walk(|event| this.event(event));
    let result = function.result.zip(function.ty).map(|(result, ty)| this.value(result, ty));
    let body = this.blocks.pop().unwrap_or_default();
    let typed::Function { kind, span, .. } = *function;
    let name = function.name.clone();
    Function { kind, name, span, params, pointees, locals: this.locals, exprs: this.exprs, body, result }
}

impl Desugar<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Expr(id) => self.expr(id),
            Event::Block(_) | Event::Through(_) => self.blocks.push(Vec::new()),
            Event::ThroughEnd(through) => self.through(through),
            Event::Stmt(stmt) => self.stmt(stmt),
            Event::RegionStart => self.region = Vec::new(),
            Event::Stage(stage) => {
                let value = self.value(stage.value, self.function.locals[stage.local].ty);
                let local = self.bind(stage.local);
                self.region.push(Binding { local, value });
            }
            Event::RegionEnd => {
                let stages = std::mem::take(&mut self.region);
                self.push(Stmt::Region(stages));
            }
            Event::TraverseStart(_) => self.blocks.push(Vec::new()),
            Event::TraverseEnd(traverse) => self.traverse(traverse),
            Event::ForStart(looped) => self.loop_start(looped),
            Event::ForEnd(looped) => self.loop_end(looped),
            Event::If(choice) => self.if_start(choice),
            Event::Else(_) => self.if_else(),
            Event::IfEnd(choice) => self.if_end(choice),
            Event::Then(_)
            | Event::Otherwise(_)
            | Event::Arm { .. }
            | Event::RepeatStart(_)
            | Event::RepeatEnd(_)
            | Event::Where(_) => {}
        }
    }

    fn push(&mut self, stmt: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    /// A new local for a typed one, which it is from here on.
    fn bind(&mut self, local: typed::LocalId) -> LocalId {
        let new = self.fresh(local);
        self.current.insert(local, Current::One(new));
        new
    }

    fn fresh(&mut self, local: typed::LocalId) -> LocalId {
        let typed::Local { name, ty, kind, span } = &self.function.locals[local];
        self.locals.alloc(Local { name: name.clone(), ty: *ty, tine: *kind == LocalKind::Tine, span: *span })
    }

    /// A visited expression, broadcast to the type that its place asks for.
    fn value(&mut self, id: typed::ExprId, ty: Ty) -> ExprId {
        let new = self.map[id];
        let expr = &mut self.exprs[new];
        if expr.ty == ty {
            return new;
        }
        if let ExprKind::Const(_) = expr.kind {
            expr.ty = ty;
            return new;
        }
        let span = expr.span;
        self.exprs.alloc(Expr { kind: ExprKind::Op { op: Op::Splat, imm: Imm::None, args: smallvec![new] }, ty, span })
    }

    fn expr(&mut self, id: typed::ExprId) {
        let function = self.function;
        let typed::Expr { kind, ty, span } = &function.exprs[id];
        let types = |args: &[typed::ExprId]| args.iter().map(|&arg| function.exprs[arg].ty).collect::<Vec<Ty>>();
        let kind = match kind {
            typed::ExprKind::Const(bits) => ExprKind::Const(*bits),
            typed::ExprKind::Read(local) => self.read(*local, 0, *span),
            typed::ExprKind::Column { stack, column } => {
                let stack = self.param(*stack, *span);
                ExprKind::Column { stack, column: *column }
            }
            typed::ExprKind::Load(access) => ExprKind::Load(self.access(access, *span)),
            typed::ExprKind::Element { array, index } => {
                let index = self.index(*array, *index);
                self.read(*array, index, *span)
            }
            typed::ExprKind::Op { op, imm, args } => {
                let lifted = lift(*op, &types(args));
                let args = args.iter().zip(&lifted).map(|(&arg, &ty)| self.value(arg, ty)).collect();
                ExprKind::Op { op: *op, imm: imm.clone(), args }
            }
            typed::ExprKind::If { condition, then, otherwise } => {
                let lifted = lift(Op::If, &types(&[*condition, *then, *otherwise]));
                ExprKind::If {
                    condition: self.value(*condition, lifted[0]),
                    then: self.value(*then, lifted[1]),
                    otherwise: self.value(*otherwise, lifted[2]),
                }
            }
            typed::ExprKind::Sweep { arms } => {
                let arm = |arm: &typed::Arm| Arm {
                    predicate: arm.predicate.map(|predicate| self.value(predicate, ty.truth())),
                    value: self.value(arm.value, *ty),
                    span: arm.span,
                };
                ExprKind::Sweep { arms: arms.iter().map(arm).collect() }
            }
            typed::ExprKind::Block { result, .. } => {
                let result = self.value(*result, *ty);
                ExprKind::Block { body: self.blocks.pop().unwrap_or_default(), result }
            }
            typed::ExprKind::Call { .. } => {
                self.errors.push(Diagnostic::error(Code::Internal, *span, "a call reached `desugar`"));
                ExprKind::Const(0)
            }
        };
        let new = self.exprs.alloc(Expr { kind, ty: *ty, span: *span });
        self.map.insert(id, new);
    }

    fn read(&mut self, local: typed::LocalId, index: usize, span: Span) -> ExprKind {
        match self.current.get(local) {
            Some(Current::One(local)) => ExprKind::Read(*local),
            Some(Current::Many(elements)) if index < elements.len() => ExprKind::Read(elements[index]),
            Some(Current::Many(_)) => ExprKind::Const(0),
            None => {
                let message = format!("`{}` is read before it is bound", self.function.locals[local].name);
                self.errors.push(Diagnostic::error(Code::Internal, span, message));
                ExprKind::Const(0)
            }
        }
    }

    /// The element that an index means; reports one that does not exist.
    fn index(&mut self, array: typed::LocalId, index: typed::ExprId) -> usize {
        let typed::Local { name, kind, .. } = &self.function.locals[array];
        let LocalKind::Array(count) = *kind else { return 0 };
        let typed::Expr { ty, span, .. } = &self.function.exprs[index];
        let Some(bits) = fold_int(&self.function.exprs, index, &|_| None) else {
            self.errors.push(Diagnostic::error(Code::NotConstant, *span, "this index is not known when compiled"));
            return 0;
        };
        let value = integer(bits, ty.elem());
        if !(0..i128::from(count)).contains(&value) {
            let message = format!("`{name}` has {count} elements and no element {value}");
            let help = format!("elements are numbered from 0 to {}", count - 1);
            let error = Diagnostic::error(Code::IndexOutOfRange, *span, message).help(help);
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
            return 0;
        }
        value as usize
    }

    fn stmt(&mut self, stmt: &typed::Stmt) {
        match stmt {
            typed::Stmt::Let(binding) => self.let_one(binding.local, binding.value),
            typed::Stmt::Location(binding) => {
                self.let_one(binding.local, binding.value);
                if let LocalKind::Array(count) = self.function.locals[binding.local].kind
                    && let Some(Current::One(first)) = self.current.get(binding.local)
                {
                    let elements = vec![*first; count as usize];
                    self.current.insert(binding.local, Current::Many(elements));
                }
            }
            typed::Stmt::Assign { local, element: None, value } => self.let_one(*local, *value),
            typed::Stmt::Assign { local, element: Some(element), value } => {
                let index = self.index(*local, *element);
                let value = self.value(*value, self.function.locals[*local].ty);
                let new = self.fresh(*local);
                if let Some(Current::Many(elements)) = self.current.get_mut(*local)
                    && let Some(slot) = elements.get_mut(index)
                {
                    *slot = new;
                }
                self.push(Stmt::Let(Binding { local: new, value }));
            }
            typed::Stmt::Store { access, value } => {
                let span = self.function.exprs[*value].span;
                let value = self.value(*value, Ty::Rack(self.function.element(access)));
                let access = self.access(access, span);
                self.push(Stmt::Store { access, value });
            }
            typed::Stmt::Region(_) | typed::Stmt::Repeat(_) | typed::Stmt::Through(_) => {}
            typed::Stmt::Traverse(_) | typed::Stmt::For(_) | typed::Stmt::If(_) => {}
        }
    }

    /// A parameter that is an address or belongs to one.
    fn param(&mut self, param: typed::LocalId, span: Span) -> LocalId {
        match self.current.get(param) {
            Some(Current::One(local)) => *local,
            _ => {
                self.errors.push(Diagnostic::error(Code::Internal, span, "memory that is no parameter"));
                self.fresh(param)
            }
        }
    }

    fn access(&mut self, access: &typed::Access, span: Span) -> Access {
        Access {
            view: self.param(access.view, span),
            count: self.param(access.count, span),
            index: self.map[access.index],
            bound: access.bound.map(|bound| self.map[bound]),
            check: access.check,
        }
    }

    fn traverse(&mut self, traverse: &typed::Traverse) {
        let typed::Traverse { bits, compact, span, .. } = *traverse;
        let stack = self.param(traverse.stack, span);
        let predicate = traverse.predicate.map(|predicate| self.value(predicate, Ty::Mask(bits)));
        let mut columns = Vec::with_capacity(traverse.columns.len());
        for &(column, value) in &traverse.columns {
            let rack = self.function.column_rack(traverse, column);
            let value = self.value(value, rack.unwrap_or(self.function.exprs[value].ty));
            columns.push((column, value));
        }
        let body = self.blocks.pop().unwrap_or_default();
        self.push(Stmt::Traverse(Traverse { stack, bits, body, predicate, compact, columns, span }));
    }

    fn through(&mut self, through: &typed::Through) {
        let ty = self.function.locals[through.local].ty;
        let predicate = self.value(through.predicate, ty.truth());
        let otherwise = through.otherwise.map(|otherwise| self.value(otherwise, ty));
        let result = self.value(through.result, ty);
        let body = self.blocks.pop().unwrap_or_default();
        let local = self.bind(through.local);
        self.push(Stmt::Through(Through { local, predicate, otherwise, body, result, span: through.span }));
    }

    fn let_one(&mut self, local: typed::LocalId, value: typed::ExprId) {
        let value = self.value(value, self.function.locals[local].ty);
        let local = self.bind(local);
        self.push(Stmt::Let(Binding { local, value }));
    }
}

#[cfg(test)]
#[path = "desugar_tests.rs"]
mod tests;
