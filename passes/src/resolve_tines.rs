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
//! Values keep their order. The masks are a stack of conditions ([`masks`]): a branch pushes its condition or the
//! complement, a through block its predicate, an arm of a sweep its predicate and the complement of those before it; an
//! inlined body inherits what stands around the call ([`rakes`]). In functions with through blocks and sweeps masks are
//! formulas over comparisons ([`logic`], [`bdd`]): sweeps are proven to cover their lanes, arms to be reachable, partial
//! values to be read only where they exist ([`partial`]), and a mask that another value already is is not made again.
//!
//! A mask says nothing of racks with lanes of another width, so these are computed in every lane: what raises no flag may
//! stand there, other operations are refused, and so is what moves partial lanes into racks of another width.
//!
//! The bodies of runs open and close in the same list ([`traverse`], [`loops`]); what touches views is checked before
//! ([`memory`]).
//!
//! A uniform that a branch over lanes computes is computed as a rack under the branch's mask, so that it raises no flag
//! when the branch takes no lane ([`uniforms`]).

mod bdd;
mod logic;
mod loops;
mod masks;
mod memory;
mod partial;
mod rakes;
#[cfg(test)]
pub(crate) mod tests;
mod traverse;
mod uniforms;
mod words;

use bdd::{Decided, Formula, TooComplex};
use la_arena::Arena;
use logic::Logic;
use masks::{Condition, Masks, Place};
use partial::Partials;
use rake_ir::desugared::{self, Binding, Event, Expr, ExprId, ExprKind, LocalId};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{Args, Param, Stmt, Value, ValueId, needs_benign};
use rake_ir::ops::{Imm, LaneRule, Op};
use rake_ir::profile::Profile;
use rake_ir::span::Span;
use rake_ir::tined::{Function, Program, Region};
use rake_ir::types::Ty;
use smol_str::{SmolStr, format_smolstr};
use std::collections::{BTreeSet, HashMap};

/// Lowers every function.
///
/// # Errors
/// Operations that cannot stand under the mask where they stand; lanes that a sweep leaves out, arms that no lane
/// reaches, reads of lanes without a value; masks that are too complex to decide.
pub fn run(program: &desugared::Program) -> Result<Program, Vec<Diagnostic>> {
    let (mut faults, mut seen) = (Vec::new(), BTreeSet::new());
    let mut functions = Vec::with_capacity(program.functions.len());
    for source in &program.functions {
        match function(source, program.profile) {
            Ok(function) => functions.push(function),
            // What is wrong in a body is wrong again wherever it was inlined.
            Err(more) => {
                faults.extend(more.into_iter().filter(|fault| seen.insert((fault.code.as_str(), fault.span()))));
            }
        }
    }
    let (profile, fuse) = (program.profile, program.fuse);
    if faults.is_empty() { Ok(Program { profile, fuse, functions }) } else { Err(faults) }
}

/// Lowers one function.
///
/// # Errors
/// As [`run`].
pub fn function(source: &desugared::Function, profile: Profile) -> Result<Function, Vec<Diagnostic>> {
    let mut lowering = Lowering {
        source,
        profile,
        exprs: vec![None; source.exprs.len()],
        locals: vec![None; source.locals.len()],
        out: Builder::default(),
        masks: Masks::default(),
        truths: Vec::new(),
        throughs: Vec::new(),
        conditions: Vec::new(),
        sweeps: Vec::new(),
        partials: Partials::default(),
        visit: None,
        loops: Vec::new(),
        ifs: Vec::new(),
        longs: HashMap::new(),
        too_complex: false,
        faults: Vec::new(),
    };
    let mut params = Vec::with_capacity(source.params.len());
    for (position, &id) in source.params.iter().enumerate() {
        let local = &source.locals[id];
        let value = lowering.out.push(Op::Param, Imm::Int(position as u32), &[], local.ty, None, local.span);
        lowering.out.values[value].name = Some(local.name.clone());
        lowering.locals[index(id)] = Some(value);
        params.push(Param {
            name: local.name.clone(),
            ty: local.ty,
            points_to: source.pointees.get(id).cloned(),
            span: local.span,
        });
    }
    source.walk(|event| lowering.event(event));
    let result = source.result.map(|result| {
        lowering.reads(result, None);
        lowering.value_of(result)
    });
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
    /// What is known of its masks.
    logic: Logic,
    /// The names of tines, with their `#`.
    tines: HashMap<ValueId, SmolStr>,
}

impl Builder {
    fn push(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty, mask: Option<ValueId>, span: Span) -> ValueId {
        let id = self.value(op, imm, args, ty, mask, span);
        match &mut self.region {
            Some(region) => region.values.push(id),
            None => self.body.push(Stmt::Value(id)),
        }
        id
    }

    /// A value that no statement computes yet.
    fn value(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty, mask: Option<ValueId>, span: Span) -> ValueId {
        let args = Args::from_slice(args);
        self.values.alloc(Value { op, imm, args, ty, mask, inactive: None, span, name: None })
    }

    fn formula(&mut self, id: ValueId) -> Decided {
        self.logic.formula(&self.values, id)
    }

    /// A formula, in functions that ask for proofs and while it is not too complex.
    fn proven(&mut self, formula: impl FnOnce(&mut Self) -> Result<Formula, TooComplex>) -> Option<Formula> {
        if self.logic.on { formula(self).ok() } else { None }
    }

    /// A value of type `ty` that is this mask in every lane: one of `among`, or any that is known.
    fn same(&mut self, ty: Ty, formula: Formula, among: &[ValueId]) -> Option<ValueId> {
        let mut everywhere = among.iter().copied().filter(|&id| self.values[id].mask.is_none());
        let found = everywhere.find(|&id| self.logic.formula(&self.values, id) == Ok(formula));
        found.or_else(|| self.logic.known(ty, formula))
    }

    /// A mask was made, which may serve later.
    fn note(&mut self, id: ValueId) {
        if self.logic.on {
            self.logic.canonical(&self.values, id, self.region.is_some());
        }
    }
}

struct Lowering<'a> {
    source: &'a desugared::Function,
    profile: Profile,
    exprs: Vec<Option<ValueId>>,
    locals: Vec<Option<ValueId>>,
    out: Builder,
    masks: Masks,
    /// The kinds of truth that go with the function's values, once needed.
    truths: Vec<Ty>,
    /// The predicates of the through blocks around the current point, as written and what stands for them.
    throughs: Vec<(ValueId, ValueId)>,
    /// What stands for the conditions of the conditionals around it.
    conditions: Vec<ValueId>,
    sweeps: Vec<rakes::Sweep>,
    partials: Partials,
    /// The stack run around the current point.
    visit: Option<traverse::Visit>,
    loops: Vec<loops::Loop>,
    /// For each statement `if` around it the number of the first value of its bodies.
    ifs: Vec<usize>,
    /// The indices of the loops around it in 64 bits.
    longs: HashMap<LocalId, ValueId>,
    /// Whether the counted limit was met and reported.
    too_complex: bool,
    faults: Vec<Diagnostic>,
}

impl Lowering<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Expr(id) => self.expr(id),
            Event::Then(id) => self.then(id),
            Event::Otherwise(id) => self.otherwise(id),
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
            Event::Through(through) => self.through(through),
            Event::ThroughEnd(through) => self.through_end(through),
            Event::Arm { sweep, index } => self.arm(sweep, index),
            Event::TraverseStart(traverse) => self.traverse_start(traverse),
            Event::Where(traverse) => self.traverse_where(traverse),
            Event::TraverseEnd(traverse) => self.traverse_end(traverse),
            Event::Store(access, value) => {
                let value = self.value_of(value);
                self.store_view(access, value);
            }
            Event::ForStart(looped) => self.for_start(looped),
            Event::ForEnd(looped) => self.for_end(looped),
            Event::If(choice) => self.if_start(choice),
            Event::Else(choice) => self.if_else(choice),
            Event::IfEnd(choice) => self.if_end(choice),
        }
    }

    /// Makes the masks around a region before it, for they are no part of it: one for each kind of value there is.
    fn masks_before_region(&mut self) {
        if self.masks.is_empty() {
            return;
        }
        if self.truths.is_empty() {
            let truths: BTreeSet<Ty> = self.source.exprs.values().map(|e| e.ty.truth()).collect();
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
        if self.source.locals[binding.local].tine {
            self.reads(binding.value, None);
        }
        let value = self.value_of(binding.value);
        self.locals[index(binding.local)] = Some(value);
        self.partials.bind(binding.local, binding.value);
        self.name(value, binding.local);
        value
    }

    /// Names a value for people. A tine's name joins another name that the mask has.
    fn name(&mut self, value: ValueId, local: LocalId) {
        let local = &self.source.locals[local];
        let name = &mut self.out.values[value].name;
        if !local.tine {
            name.get_or_insert_with(|| local.name.clone());
            return;
        }
        let tine = format_smolstr!("#{}", local.name);
        self.out.tines.entry(value).or_insert_with(|| {
            *name = Some(name.take().map_or_else(|| tine.clone(), |name| format_smolstr!("{name}, {tine}")));
            tine
        });
    }

    fn then(&mut self, id: ExprId) {
        if let ExprKind::If { condition, .. } = self.source.exprs[id].kind {
            self.reads(condition, None);
            let value = self.value_of(condition);
            let value = if self.out.region.is_none() { self.canonical(value) } else { value };
            self.conditions.push(value);
            self.masks.push(Condition::Holds(value), Place::Branch);
        }
    }

    fn otherwise(&mut self, id: ExprId) {
        if let ExprKind::If { then, .. } = self.source.exprs[id].kind {
            self.reads(then, None);
            self.masks.pop();
            if let Some(&value) = self.conditions.last() {
                self.masks.push(Condition::Fails(value), Place::Branch);
            }
        }
    }

    fn expr(&mut self, id: ExprId) {
        let expr = &self.source.exprs[id];
        let value = match &expr.kind {
            ExprKind::Const(bits) => Some(self.out.push(Op::Const, Imm::Bits(*bits), &[], expr.ty, None, expr.span)),
            ExprKind::Read(local) => self.locals[index(*local)],
            ExprKind::Column { stack, column } => self.column(*stack, *column),
            ExprKind::Load(access) => self.load(access, expr.ty),
            ExprKind::Op { op: Op::ToI64, args, .. } => Some(match self.exact_index(args[0]) {
                Some(exact) => exact,
                None => {
                    let short = self.value_of(args[0]);
                    self.long(short, expr.span)
                }
            }),
            ExprKind::Op { op, imm, args } => {
                let refused = args.iter().filter(|&&arg| !self.reads(arg, Some((*op, expr.ty)))).count() > 0;
                let args: Args = args.iter().map(|&arg| self.value_of(arg)).collect();
                if !refused {
                    self.refuse(*op, &args, expr);
                }
                Some(self.operation(*op, imm, args, expr))
            }
            ExprKind::If { then, otherwise, .. } => {
                self.reads(*otherwise, None);
                self.masks.pop();
                self.conditions.pop().map(|condition| {
                    let args = [condition, self.value_of(*then), self.value_of(*otherwise)];
                    self.operation(Op::If, &Imm::None, Args::from_slice(&args), expr)
                })
            }
            ExprKind::Sweep { arms } => self.sweep(id, arms),
            ExprKind::Block { result, .. } => Some(self.value_of(*result)),
        };
        self.exprs[index(id)] = value;
        self.partials.pass_on(id, &expr.kind);
        self.arm_end(id);
    }

    fn operation(&mut self, op: Op, imm: &Imm, mut args: Args, expr: &Expr) -> ValueId {
        let (mut ty, span) = (expr.ty, expr.span);
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
    fn refuse(&mut self, op: Op, args: &[ValueId], expr: &Expr) {
        let (ty, span) = (expr.ty, expr.span);
        let types: Vec<Ty> = args.iter().map(|&arg| self.out.values[arg].ty).collect();
        let lane = op.lane_rule(&types, ty);
        if self.refused_in_traverse(op, args, lane, ty, span) {
            return;
        }
        if let Some(place) = self.masks.place().filter(|_| lane == LaneRule::Unmasked) {
            let (inside, before) = match place {
                Place::Branch => ("a branch of a conditional", "conditional"),
                Place::Where => ("a result with `where`", "result"),
                Place::Through(_) => ("a through body", "block"),
                Place::Arm(_) | Place::Rest(_) => ("an arm of a sweep", "sweep"),
            };
            let message = format!("`{}` cannot stand in {inside}", op.name());
            let fault = Diagnostic::error(Code::UnderMask, span, message).at("only some lanes are computed here");
            self.faults.push(fault.help(format!("bind it with `let` before the {before}")));
        }
        // A uniform of the source may be computed as a rack here, and has all its lanes.
        let wanted = self.wanted(expr);
        let partial = |(arg, wanted): (&ValueId, &Ty)| self.out.values[*arg].mask.is_some() && !wanted.is_uniform();
        if lane == LaneRule::CrossLane && args.iter().zip(&wanted).any(partial) {
            let message = format!("`{}` reads lanes that are not computed here", op.name());
            let fault = Diagnostic::error(Code::PartialLanes, span, message);
            self.faults.push(fault.help("bind its operand with `let` where every lane is computed"));
        }
        let raises = types.first().is_some_and(|from| needs_benign(op, from.elem(), ty.elem()).is_some());
        let other = ty.lane_bits().filter(|_| raises).and_then(|bits| self.masks.other_width(bits, &self.out));
        if let Some(width) = other {
            let message = format!("`{}` of {ty} cannot stand under a mask of {width}-bit lanes", op.name());
            let fault = Diagnostic::error(Code::UnderMask, span, message)
                .at("the mask does not say which of its lanes are computed, and it may raise a floating-point flag");
            self.faults.push(fault.help("bind it with `let` where every lane is computed"));
        }
    }
}
