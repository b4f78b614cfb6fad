//! The evaluator of `desugared`: values of names, in order of evaluation.
//!
//! Every operation is total here, so both branches of a conditional are evaluated and each lane takes its own; so are all
//! arms of a sweep. A lane outside a through block's mask has no value, and neither has what is computed from it: only a
//! conditional or a sweep that picks another value, or an operand of `and` or `or` that decides alone, gives one again.

use super::access::Visit;
use super::{Arm, Event, ExprId, ExprKind, Function, LocalId, Program, Through};
use crate::lane::{EvalError, MOST_TRIPS};
use crate::memory::Memory;
use crate::ops::{Imm, Op};
use crate::profile::Profile;
use crate::reference::{RackCall, Reference};
use crate::types::Ty;
use crate::value::{Lanes, lanes_of};
use la_arena::ArenaMap;
use smallvec::SmallVec;

/// Evaluates a function on one value per parameter.
///
/// # Errors
/// No such function, arguments that do not fit, an operation without a reference, a program that its check refuses.
pub fn eval(program: &Program, name: &str, args: &[Lanes]) -> Result<Lanes, EvalError> {
    let function = program.functions.iter().find(|f| f.name == name);
    let function = function.ok_or_else(|| EvalError::NoFunction(name.into()))?;
    let types: Vec<Ty> = function.params.iter().map(|&p| function.locals[p].ty).collect();
    check_arguments(&types, args, program.profile)?;
    let mut memory = Memory::default();
    let mut run = Run::new(function, program.profile, args, &mut memory);
    run.block(&function.body)?;
    let result = function.result.ok_or_else(|| malformed("a run gives no result"))?;
    returned(run.value(result)?)
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
    Run::new(function, program.profile, args, memory).block(&function.body)
}

pub(super) fn malformed(text: &str) -> EvalError {
    EvalError::Malformed(text.into())
}

/// What a function gives its caller, who reads every lane.
pub(crate) fn returned(value: Lanes) -> Result<Lanes, EvalError> {
    match value.poisoned() {
        0 => Ok(value),
        lanes => Err(EvalError::Poison {
            reader: "the caller".into(),
            operand: "the result".into(),
            lane: lanes.trailing_zeros() as usize,
        }),
    }
}

/// A through block's value: the result where the predicate holds, elsewhere the other value or none.
pub(crate) fn under(predicate: &Lanes, result: &Lanes, otherwise: Option<&Lanes>) -> Lanes {
    let mut value = Lanes::poison(result.len());
    for lane in 0..result.len() {
        let bits = predicate.get(lane).and_then(|bits| match bits & 1 {
            1 => result.get(lane),
            _ => otherwise?.get(lane),
        });
        value.set(lane, bits);
    }
    value
}

/// A sweep's value: in each lane that of the first arm whose predicate holds, or none.
pub(crate) fn first_arm(arms: &[(Option<Lanes>, Lanes)], lanes: usize) -> Lanes {
    let mut out = Lanes::poison(lanes);
    for lane in 0..lanes {
        for (predicate, value) in arms {
            let holds = predicate.as_ref().map_or(Some(1), |predicate| predicate.get(lane));
            if holds != Some(0) {
                out.set(lane, holds.and_then(|_| value.get(lane)));
                break;
            }
        }
    }
    out
}

/// Whether each argument has the lanes of its type.
pub(crate) fn check_arguments(types: &[Ty], args: &[Lanes], profile: Profile) -> Result<(), EvalError> {
    if types.len() != args.len() {
        return Err(EvalError::Arguments(format!("{} given, {} needed", args.len(), types.len())));
    }
    match types.iter().zip(args).position(|(&ty, arg)| arg.len() != lanes_of(ty, profile)) {
        Some(at) => {
            Err(EvalError::Arguments(format!("argument {at} of type {} has {} lanes", types[at], args[at].len())))
        }
        None => Ok(()),
    }
}

/// One operation on operands of the given types; a uniform operand is read as its one lane in each lane.
pub(crate) fn apply(
    op: Op,
    imm: &Imm,
    (types, args): (&[Ty], &[Lanes]),
    ty: Ty,
    profile: Profile,
) -> Result<Lanes, EvalError> {
    let lanes = lanes_of(ty, profile);
    match op.info().reference {
        _ if op == Op::If => Ok(choose(types, args, lanes)),
        Reference::Structural if op == Op::LaneIndex => Ok(Lanes::new(0..lanes as u64)),
        Reference::Structural | Reference::None => Err(EvalError::Unsupported(op)),
        // Lanes of one width keep their places.
        Reference::Rack(_) if op == Op::Bitcast && types[0].elem().bits() == ty.elem().bits() => Ok(args[0].clone()),
        Reference::Rack(_) if args.iter().any(|arg| arg.poisoned() != 0) => Ok(Lanes::poison(lanes)),
        Reference::Rack(f) => {
            let args: SmallVec<[&Lanes; 3]> = args.iter().collect();
            Ok(f(&RackCall { imm, ty, types, args: &args }))
        }
        Reference::Lane(f) => {
            let typed_by = types.get(usize::from(op == Op::Select)).or(types.first());
            let elem = typed_by.map_or(ty.elem(), |ty| ty.elem());
            Ok(by_lane(lanes, |lane| {
                let args: SmallVec<[Option<u64>; 3]> =
                    types.iter().zip(args).map(|(ty, arg)| read(*ty, arg, lane)).collect();
                let decides = match op {
                    Op::And => Some(0),
                    Op::Or => Some(1),
                    _ => None,
                };
                if decides.is_some() && args.contains(&decides) {
                    return decides;
                }
                let args = args.into_iter().collect::<Option<SmallVec<[u64; 3]>>>()?;
                Some(f(elem, imm, &args))
            }))
        }
    }
}

fn by_lane(lanes: usize, f: impl Fn(usize) -> Option<u64>) -> Lanes {
    let mut value = Lanes::splat(0, lanes);
    (0..lanes).for_each(|lane| value.set(lane, f(lane)));
    value
}

fn read(ty: Ty, value: &Lanes, lane: usize) -> Option<u64> {
    value.get(if ty.is_uniform() { 0 } else { lane })
}

fn choose(types: &[Ty], args: &[Lanes], lanes: usize) -> Lanes {
    let at = |index: usize, lane| read(types[index], &args[index], lane);
    by_lane(lanes, |lane| at(0, lane).and_then(|holds| at(if holds & 1 == 1 { 1 } else { 2 }, lane)))
}

/// The evaluation of one function.
pub(super) struct Run<'a, 'm> {
    pub(super) function: &'a Function,
    pub(super) profile: Profile,
    pub(super) locals: ArenaMap<LocalId, Lanes>,
    values: ArenaMap<ExprId, Lanes>,
    pub(super) memory: &'m mut Memory,
    /// The rack of the stack that is visited.
    pub(super) visit: Option<Visit>,
    /// The lanes in which memory may be touched.
    pub(super) active: u64,
    /// Trips that loops may still make.
    pub(super) rounds: u64,
}

impl<'a, 'm> Run<'a, 'm> {
    fn new(function: &'a Function, profile: Profile, args: &[Lanes], memory: &'m mut Memory) -> Self {
        let mut locals = ArenaMap::default();
        for (&param, arg) in function.params.iter().zip(args) {
            locals.insert(param, arg.clone());
        }
        let values = ArenaMap::default();
        Run { function, profile, locals, values, memory, visit: None, active: u64::MAX, rounds: MOST_TRIPS }
    }

    pub(super) fn event(&mut self, event: Event) -> Result<(), EvalError> {
        match event {
            Event::Expr(id) => {
                let value = self.expr(id)?;
                self.values.insert(id, value);
            }
            Event::Let(binding) | Event::Stage(binding) => {
                let value = self.take(binding.value)?;
                self.locals.insert(binding.local, value);
            }
            Event::ThroughEnd(through) => self.through(through)?,
            Event::Store(access, value) => self.store(access, value)?,
            // Bodies of runs are followed statement by statement.
            Event::TraverseStart(_)
            | Event::Where(_)
            | Event::TraverseEnd(_)
            | Event::ForStart(_)
            | Event::ForEnd(_)
            | Event::If(_)
            | Event::Else(_)
            | Event::IfEnd(_) => return Err(malformed("a body stands in an expression")),
            Event::Then(_)
            | Event::Otherwise(_)
            | Event::Arm { .. }
            | Event::RegionStart
            | Event::RegionEnd
            | Event::Through(_) => {}
        }
        Ok(())
    }

    fn through(&mut self, through: &Through) -> Result<(), EvalError> {
        let (predicate, result) = (self.take(through.predicate)?, self.take(through.result)?);
        let otherwise = through.otherwise.map(|otherwise| self.take(otherwise)).transpose()?;
        self.locals.insert(through.local, under(&predicate, &result, otherwise.as_ref()));
        Ok(())
    }

    fn arm(&mut self, arm: &Arm) -> Result<(Option<Lanes>, Lanes), EvalError> {
        Ok((arm.predicate.map(|predicate| self.take(predicate)).transpose()?, self.take(arm.value)?))
    }

    /// An operand, which has this one user.
    pub(super) fn take(&mut self, id: ExprId) -> Result<Lanes, EvalError> {
        self.values.remove(id).ok_or_else(|| EvalError::Malformed("an operand has no value".into()))
    }

    fn operation(&mut self, op: Op, imm: &Imm, args: &[ExprId], ty: Ty) -> Result<Lanes, EvalError> {
        let types: SmallVec<[Ty; 3]> = args.iter().map(|&arg| self.function.exprs[arg].ty).collect();
        let args = args.iter().map(|&arg| self.take(arg)).collect::<Result<SmallVec<[Lanes; 3]>, _>>()?;
        apply(op, imm, (&types, &args), ty, self.profile)
    }

    fn expr(&mut self, id: ExprId) -> Result<Lanes, EvalError> {
        let function = self.function;
        let ty = function.exprs[id].ty;
        match &function.exprs[id].kind {
            ExprKind::Const(bits) => Ok(Lanes::splat(*bits, lanes_of(ty, self.profile))),
            ExprKind::Read(local) => {
                let value = self.locals.get(*local).cloned();
                value.ok_or_else(|| EvalError::Malformed(format!("`{}` has no value", function.locals[*local].name)))
            }
            ExprKind::Column { stack, column } => self.column(*stack, *column, ty),
            ExprKind::Load(access) => self.load(access, ty),
            ExprKind::Op { op, imm, args } => self.operation(*op, imm, args, ty),
            ExprKind::If { condition, then, otherwise } => {
                self.operation(Op::If, &Imm::None, &[*condition, *then, *otherwise], ty)
            }
            ExprKind::Sweep { arms } => {
                let arms = arms.iter().map(|arm| self.arm(arm)).collect::<Result<Vec<_>, _>>()?;
                Ok(first_arm(&arms, lanes_of(ty, self.profile)))
            }
            ExprKind::Block { result, .. } => self.take(*result),
        }
    }
}
