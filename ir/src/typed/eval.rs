//! The evaluator of `typed`: a machine with a stack of tasks and a stack of values, so that no nesting of calls, repeats
//! and operators needs the host's stack.
//!
//! Every operation is total here, so both branches of a conditional are evaluated and each lane takes its own; so are all
//! arms of a sweep. A lane outside a through block's mask has no value, and neither has what is computed from it.

use super::{
    Access, Arm, Binding, ExprId, ExprKind, For, Function, If, LocalId, LocalKind, Program, Repeat, Stmt, Through,
    Traverse, integer, lift,
};
use crate::desugared::access::{Trips, Visit};
use crate::desugared::eval::{apply, check_arguments, first_arm, returned, under};
use crate::lane::{EvalError, MOST_TRIPS};
use crate::memory::Memory;
use crate::ops::{Imm, Op};
use crate::profile::Profile;
use crate::types::Ty;
use crate::value::{Lanes, lanes_of};
use la_arena::ArenaMap;

/// Evaluates a function on one value per parameter.
///
/// # Errors
/// No such function, arguments that do not fit, an operation without a reference, an element of an array that does not
/// exist, a program that its check refuses.
pub fn eval(program: &Program, name: &str, args: &[Lanes]) -> Result<Lanes, EvalError> {
    let function = program.functions.iter().find(|f| f.name == name);
    let function = function.ok_or_else(|| EvalError::NoFunction(name.into()))?;
    let types: Vec<Ty> = function.params.iter().map(|&p| function.locals[p].ty).collect();
    check_arguments(&types, args, program.profile)?;
    let mut memory = Memory::default();
    let mut machine = Machine::new(program, args, &mut memory);
    machine.run(function)?;
    returned(machine.pop()?)
}

/// Executes a run on memory; `args` are what C passes.
///
/// # Errors
/// As [`eval`]; traps, and memory that the caller does not have.
pub fn eval_run(program: &Program, name: &str, args: &[Lanes], memory: &mut Memory) -> Result<(), EvalError> {
    let function = program.functions.iter().find(|f| f.name == name);
    let function = function.ok_or_else(|| EvalError::NoFunction(name.into()))?;
    let types: Vec<Ty> = function.params.iter().map(|&p| function.locals[p].ty).collect();
    check_arguments(&types, args, program.profile)?;
    Machine::new(program, args, memory).run(function)
}

pub(super) enum Task<'a> {
    Visit(ExprId),
    /// Replaces the operands on the value stack by the expression's value.
    Finish(ExprId),
    /// Broadcasts the value on top to a type.
    Broadcast(Ty, Ty),
    Stmt(&'a Stmt),
    /// Binds the value on top.
    Bind(LocalId),
    /// Assigns the value on top to an element whose index lies below it.
    BindElement(LocalId, ExprId),
    Trip(&'a Repeat, i64),
    /// Binds what the block's predicate, value for other lanes and result, on the value stack, make together.
    Through(&'a Through),
    /// Visits a rack of a stack, whether the first.
    Traverse(&'a Traverse, bool),
    /// Leaves the lanes of the mask on top active.
    Where,
    Replace(&'a Traverse),
    Store(&'a Access),
    If(&'a If),
    /// Enters a loop whose bounds and step are on the value stack.
    Loop(&'a For),
    Trips(&'a For, Trips),
    BindIndex(LocalId, i128),
    CheckEntry(&'a Access, Ty),
    Leave,
}

pub(super) struct Frame<'a> {
    pub(super) function: &'a Function,
    pub(super) locals: ArenaMap<LocalId, Vec<Lanes>>,
}

pub(super) struct Machine<'a, 'm> {
    pub(super) program: &'a Program,
    frames: Vec<Frame<'a>>,
    pub(super) tasks: Vec<Task<'a>>,
    pub(super) values: Vec<Lanes>,
    pub(super) memory: &'m mut Memory,
    /// The rack of the stack that is visited.
    pub(super) visit: Option<Visit>,
    /// The lanes in which memory may be touched.
    pub(super) active: u64,
    /// Trips that loops may still make.
    pub(super) rounds: u64,
}

pub(super) fn malformed(text: &str) -> EvalError {
    EvalError::Malformed(text.into())
}

/// The value in every lane of `to`, when it is uniform and `to` is not.
fn broadcast(value: Lanes, from: Ty, to: Ty, profile: Profile) -> Lanes {
    let lanes = lanes_of(to, profile);
    if from == to { value } else { value.get(0).map_or_else(|| Lanes::poison(lanes), |bits| Lanes::splat(bits, lanes)) }
}

impl<'a, 'm> Machine<'a, 'm> {
    fn new(program: &'a Program, args: &[Lanes], memory: &'m mut Memory) -> Self {
        Machine {
            program,
            frames: Vec::new(),
            tasks: Vec::new(),
            values: args.to_vec(),
            memory,
            visit: None,
            active: u64::MAX,
            rounds: MOST_TRIPS,
        }
    }

    fn run(&mut self, function: &'a Function) -> Result<(), EvalError> {
        self.enter(function);
        while let Some(task) = self.tasks.pop() {
            self.step(task)?;
        }
        Ok(())
    }

    /// Starts a function whose arguments are on the value stack, already broadcast.
    fn enter(&mut self, function: &'a Function) {
        let mut locals = ArenaMap::default();
        let args = self.values.split_off(self.values.len().saturating_sub(function.params.len()));
        for (&param, arg) in function.params.iter().zip(args) {
            locals.insert(param, vec![arg]);
        }
        self.frames.push(Frame { function, locals });
        self.tasks.push(Task::Leave);
        if let (Some(result), Some(ty)) = (function.result, function.ty) {
            self.visit_as(function, result, ty);
        }
        self.tasks.extend(function.body.iter().rev().map(Task::Stmt));
    }

    pub(super) fn frame(&mut self) -> Result<&mut Frame<'a>, EvalError> {
        self.frames.last_mut().ok_or_else(|| malformed("no frame"))
    }

    pub(super) fn pop(&mut self) -> Result<Lanes, EvalError> {
        self.values.pop().ok_or_else(|| malformed("an operand has no value"))
    }

    fn step(&mut self, task: Task<'a>) -> Result<(), EvalError> {
        let profile = self.program.profile;
        match task {
            Task::Visit(id) => self.visit(id),
            Task::Finish(id) => self.finish(id),
            Task::Stmt(stmt) => self.stmt(stmt),
            Task::Broadcast(from, to) => {
                let value = self.pop()?;
                self.values.push(broadcast(value, from, to, profile));
                Ok(())
            }
            Task::Bind(local) => {
                let value = self.pop()?;
                let frame = self.frame()?;
                let count = match frame.function.locals[local].kind {
                    LocalKind::Array(count) => count as usize,
                    _ => 1,
                };
                frame.locals.insert(local, vec![value; count]);
                Ok(())
            }
            Task::BindElement(local, index) => {
                let value = self.pop()?;
                let at = self.pop()?;
                *self.element(local, index, &at)? = value;
                Ok(())
            }
            Task::Trip(repeat, trip) => {
                if trip < repeat.to {
                    let frame = self.frame()?;
                    let elem = frame.function.locals[repeat.index].ty.elem();
                    frame.locals.insert(repeat.index, vec![Lanes::uniform(trip as u64 & elem.lane_mask())]);
                    self.tasks.push(Task::Trip(repeat, trip + 1));
                    self.tasks.extend(repeat.body.iter().rev().map(Task::Stmt));
                }
                Ok(())
            }
            Task::Through(through) => self.through(through),
            Task::Traverse(traverse, first) => self.traverse(traverse, first),
            Task::Where => self.narrow(),
            Task::Replace(traverse) => self.replace(traverse),
            Task::Store(access) => self.store(access),
            Task::If(choice) => self.choose(choice),
            Task::Loop(looped) => self.enter_loop(looped),
            Task::Trips(looped, trips) => self.trips(looped, trips),
            Task::BindIndex(local, index) => self.bind_index(local, index),
            Task::CheckEntry(access, ty) => self.check_entry(access, ty),
            Task::Leave => self.frames.pop().map(|_| ()).ok_or_else(|| malformed("no frame")),
        }
    }

    fn element(&mut self, array: LocalId, index: ExprId, at: &Lanes) -> Result<&mut Lanes, EvalError> {
        let frame = self.frame()?;
        let at = integer(at.get(0).unwrap_or(0), frame.function.exprs[index].ty.elem());
        let elements = frame.locals.get_mut(array).ok_or_else(|| malformed("an array has no value"))?;
        let element = usize::try_from(at).ok().and_then(|at| elements.get_mut(at));
        element.ok_or_else(|| EvalError::Malformed(format!("there is no element {at}")))
    }

    /// Evaluates a value, then binds it, broadcast to the local's type.
    fn bind(&mut self, binding: &Binding) -> Result<(), EvalError> {
        let function = self.frame()?.function;
        let (from, to) = (function.exprs[binding.value].ty, function.locals[binding.local].ty);
        self.tasks.push(Task::Bind(binding.local));
        self.tasks.push(Task::Broadcast(from, to));
        self.tasks.push(Task::Visit(binding.value));
        Ok(())
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Result<(), EvalError> {
        match stmt {
            Stmt::Let(binding) | Stmt::Location(binding) => self.bind(binding),
            Stmt::Assign { local, element: None, value } => self.bind(&Binding { local: *local, value: *value }),
            Stmt::Assign { local, element: Some(index), value } => {
                let function = self.frame()?.function;
                let (from, to) = (function.exprs[*value].ty, function.locals[*local].ty);
                self.tasks.push(Task::BindElement(*local, *index));
                self.tasks.push(Task::Broadcast(from, to));
                self.tasks.push(Task::Visit(*value));
                self.tasks.push(Task::Visit(*index));
                Ok(())
            }
            Stmt::Region(stages) => stages.iter().rev().try_for_each(|stage| self.bind(stage)),
            Stmt::Repeat(repeat) => {
                self.tasks.push(Task::Trip(repeat, repeat.from));
                Ok(())
            }
            Stmt::Through(through) => {
                let function = self.frame()?.function;
                let ty = function.locals[through.local].ty;
                self.tasks.push(Task::Through(through));
                self.visit_as(function, through.result, ty);
                self.tasks.extend(through.body.iter().rev().map(Task::Stmt));
                if let Some(otherwise) = through.otherwise {
                    self.visit_as(function, otherwise, ty);
                }
                self.visit_as(function, through.predicate, ty.truth());
                Ok(())
            }
            Stmt::Traverse(traverse) => {
                self.tasks.push(Task::Traverse(traverse, true));
                Ok(())
            }
            Stmt::Store { access, value } => {
                let function = self.frame()?.function;
                self.tasks.push(Task::Store(access));
                self.visit_as(function, *value, Ty::Rack(function.element(access)));
                self.visit_access(access);
                Ok(())
            }
            Stmt::For(looped) => {
                self.tasks.push(Task::Loop(looped));
                self.tasks.extend([looped.step, looped.to, looped.from].map(Task::Visit));
                Ok(())
            }
            Stmt::If(choice) => {
                self.tasks.push(Task::If(choice));
                self.tasks.push(Task::Visit(choice.condition));
                Ok(())
            }
        }
    }

    /// Evaluates an expression next, broadcast to a type.
    pub(super) fn visit_as(&mut self, function: &Function, id: ExprId, ty: Ty) {
        self.tasks.push(Task::Broadcast(function.exprs[id].ty, ty));
        self.tasks.push(Task::Visit(id));
    }

    fn through(&mut self, through: &Through) -> Result<(), EvalError> {
        let result = self.pop()?;
        let otherwise = through.otherwise.map(|_| self.pop()).transpose()?;
        let predicate = self.pop()?;
        self.frame()?.locals.insert(through.local, vec![under(&predicate, &result, otherwise.as_ref())]);
        Ok(())
    }

    fn visit(&mut self, id: ExprId) -> Result<(), EvalError> {
        let profile = self.program.profile;
        let frame = self.frame()?;
        let function = frame.function;
        let expr = &function.exprs[id];
        match &expr.kind {
            ExprKind::Const(bits) => self.values.push(Lanes::splat(*bits, lanes_of(expr.ty, profile))),
            ExprKind::Read(local) => {
                let value = frame.locals.get(*local).and_then(|values| values.first()).cloned();
                self.values.push(value.ok_or_else(|| malformed("a name has no value"))?);
            }
            ExprKind::Element { index, .. } => self.operands(id, &[*index]),
            ExprKind::Column { stack, column } => return self.column(*stack, *column, expr.ty),
            ExprKind::Load(access) => {
                self.tasks.push(Task::Finish(id));
                self.visit_access(access);
            }
            ExprKind::Op { args, .. } => self.operands(id, args),
            ExprKind::If { condition, then, otherwise } => self.operands(id, &[*condition, *then, *otherwise]),
            ExprKind::Call { callee, args } => {
                let callee = self.program.functions.get(callee.0 as usize).ok_or_else(|| malformed("no callee"))?;
                self.tasks.push(Task::Finish(id));
                for (&arg, &param) in args.iter().zip(&callee.params).rev() {
                    self.tasks.push(Task::Broadcast(function.exprs[arg].ty, callee.locals[param].ty));
                    self.tasks.push(Task::Visit(arg));
                }
            }
            ExprKind::Sweep { arms } => {
                self.tasks.push(Task::Finish(id));
                for arm in arms.iter().rev() {
                    self.visit_as(function, arm.value, expr.ty);
                    if let Some(predicate) = arm.predicate {
                        self.visit_as(function, predicate, expr.ty.truth());
                    }
                }
            }
            ExprKind::Block { body, result } => {
                self.visit_as(function, *result, expr.ty);
                self.tasks.extend(body.iter().rev().map(Task::Stmt));
            }
        }
        Ok(())
    }

    fn operands(&mut self, id: ExprId, args: &[ExprId]) {
        self.tasks.push(Task::Finish(id));
        self.tasks.extend(args.iter().rev().map(|&arg| Task::Visit(arg)));
    }

    fn finish(&mut self, id: ExprId) -> Result<(), EvalError> {
        let function = self.frame()?.function;
        match &function.exprs[id].kind {
            ExprKind::Op { op, imm, args } => self.apply(id, *op, imm, args),
            ExprKind::If { condition, then, otherwise } => {
                self.apply(id, Op::If, &Imm::None, &[*condition, *then, *otherwise])
            }
            ExprKind::Element { array, index } => {
                let at = self.pop()?;
                let value = self.element(*array, *index, &at)?.clone();
                self.values.push(value);
                Ok(())
            }
            ExprKind::Load(access) => self.load(access, function.exprs[id].ty),
            ExprKind::Call { callee, .. } => {
                let callee = &self.program.functions[callee.0 as usize];
                self.enter(callee);
                Ok(())
            }
            ExprKind::Sweep { arms } => {
                let mut arms = arms.iter().rev().map(|arm| self.arm(arm)).collect::<Result<Vec<_>, _>>()?;
                arms.reverse();
                let lanes = lanes_of(function.exprs[id].ty, self.program.profile);
                self.values.push(first_arm(&arms, lanes));
                Ok(())
            }
            _ => Err(malformed("nothing to finish")),
        }
    }

    /// The values of the arm evaluated last.
    fn arm(&mut self, arm: &Arm) -> Result<(Option<Lanes>, Lanes), EvalError> {
        let value = self.pop()?;
        Ok((arm.predicate.map(|_| self.pop()).transpose()?, value))
    }

    fn apply(&mut self, id: ExprId, op: Op, imm: &Imm, args: &[ExprId]) -> Result<(), EvalError> {
        let function = self.frame()?.function;
        let profile = self.program.profile;
        let types: Vec<Ty> = args.iter().map(|&arg| function.exprs[arg].ty).collect();
        let lifted = lift(op, &types);
        let values = self.values.split_off(self.values.len().saturating_sub(args.len()));
        let values: Vec<Lanes> = values
            .into_iter()
            .zip(types.iter().zip(&lifted))
            .map(|(value, (&from, &to))| broadcast(value, from, to, profile))
            .collect();
        let value = apply(op, imm, (&lifted, &values), function.exprs[id].ty, profile)?;
        self.values.push(value);
        Ok(())
    }
}
