//! The evaluator that `tined` and `fused` share: lane by lane, exactly what each operation's reference computes.
//!
//! A value under a mask is poison in the lanes outside it, and an active lane that reads poison is an error: it names a
//! fault of a pass, since the language has no such reads. What a value is said to hold outside its mask is computed and
//! compared, but still nobody may read it. `if` reads only the branch that its condition picks, and so does `select`
//! once it stands for the instruction ([`Region::PICKS`]). `and`, `or` and `not` pass poison on instead, unless one
//! operand decides alone: masks are combined from conditions that were computed under outer masks, and only who reads
//! the combination tells whether it was needed.

use super::{Function, Program, Region, Value, ValueId, number};
use crate::memory::{Fault, Memory};
use crate::ops::{Imm, LaneRule, Op, TrapReason};
use crate::profile::Profile;
use crate::reference::{LaneFn, RackCall, RackFn, Reference};
use crate::types::Elem;
use crate::value::{Lanes, lanes_of};
use smallvec::SmallVec;
use std::fmt;

/// Masks that are looked at to know a combination of masks.
const MOST_TRUTHS: u32 = 48;

/// Choices that are followed to know what a lane holds that nobody reads.
const MOST_CHOICES: usize = 16;

/// Trips of loops, of one evaluation together.
pub(crate) const MOST_TRIPS: u64 = 1 << 24;

/// Why an evaluation gave nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EvalError {
    /// The program has no function of this name.
    NoFunction(String),
    /// The arguments do not fit the parameters.
    Arguments(String),
    /// An active lane reads a lane without a value.
    Poison {
        /// The value that reads, as `%7 (sqrt)`.
        reader: String,
        /// The value read.
        operand: String,
        /// The lane of the operand.
        lane: usize,
    },
    /// The program stops itself.
    Trap(TrapReason),
    /// It touches memory that its caller does not have.
    Memory(Fault),
    /// It goes round a loop more often than evaluators follow.
    Endless,
    /// The operation has no reference.
    Unsupported(Op),
    /// The program breaks an invariant that its check would have named.
    Malformed(String),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::NoFunction(name) => write!(f, "there is no function `{name}`"),
            EvalError::Arguments(text) => write!(f, "wrong arguments: {text}"),
            EvalError::Poison { reader, operand, lane } => {
                write!(f, "{reader} reads lane {lane} of {operand}, which has no value there")
            }
            EvalError::Trap(reason) => write!(f, "trap: {}", reason.words()),
            EvalError::Memory(fault) => write!(f, "{fault}"),
            EvalError::Endless => write!(f, "a loop goes round more than {MOST_TRIPS} times"),
            EvalError::Unsupported(op) => write!(f, "`{}` has no reference function", op.name()),
            EvalError::Malformed(text) => write!(f, "malformed program: {text}"),
        }
    }
}

/// Evaluates a function of a program on one value per parameter.
///
/// # Errors
/// See [`EvalError`].
pub fn eval<R: Region>(program: &Program<R>, name: &str, args: &[Lanes]) -> Result<Lanes, EvalError> {
    let function = program.functions.iter().find(|f| f.name == name);
    let function = function.ok_or_else(|| EvalError::NoFunction(name.into()))?;
    let run = eval_function(function, program.profile, args)?;
    run.result()
}

/// Evaluates a function and keeps every value.
///
/// # Errors
/// See [`EvalError`].
pub fn eval_function<'a, R: Region>(
    function: &'a Function<R>,
    profile: Profile,
    args: &'a [Lanes],
) -> Result<Evaluation<'a, R>, EvalError> {
    let count = function.params.len();
    if args.len() != count {
        return Err(EvalError::Arguments(format!("{} given, {count} needed", args.len())));
    }
    for (param, arg) in function.params.iter().zip(args) {
        if arg.len() != lanes_of(param.ty, profile) {
            return Err(EvalError::Arguments(format!("`{}` has {} lanes", param.name, lanes_of(param.ty, profile))));
        }
    }
    let mut memory = Memory::default();
    let mut run = Evaluation::new(function, profile, args);
    run.execute(&mut memory)?;
    Ok(run)
}

/// Executes a run of a program on memory; `args` are what C passes, one value per parameter.
///
/// # Errors
/// See [`EvalError`].
pub fn eval_run<R: Region>(
    program: &Program<R>,
    name: &str,
    args: &[Lanes],
    memory: &mut Memory,
) -> Result<(), EvalError> {
    let function = program.functions.iter().find(|f| f.name == name);
    let function = function.ok_or_else(|| EvalError::NoFunction(name.into()))?;
    if args.len() != function.params.len() {
        return Err(EvalError::Arguments(format!("{} given, {} needed", args.len(), function.params.len())));
    }
    Evaluation::new(function, program.profile, args).execute(memory)
}

/// The values of a function on given arguments.
#[derive(Clone, Debug)]
pub struct Evaluation<'a, R> {
    pub(super) function: &'a Function<R>,
    pub(super) profile: Profile,
    args: &'a [Lanes],
    pub(super) values: Vec<Option<Lanes>>,
    /// Within a traverse, how wide the lanes are and which of them exist.
    pub(super) existing: Option<(u32, u64)>,
    /// Whether the `if` that was closed last executed its first body.
    pub(super) took: bool,
    /// Trips that loops may still make.
    pub(super) trips: u64,
}

impl<'a, R: Region> Evaluation<'a, R> {
    fn new(function: &'a Function<R>, profile: Profile, args: &'a [Lanes]) -> Self {
        Evaluation {
            function,
            profile,
            args,
            values: vec![None; function.values.len()],
            existing: None,
            took: false,
            trips: MOST_TRIPS,
        }
    }

    /// The value, once computed.
    pub fn get(&self, id: ValueId) -> Option<&Lanes> {
        self.values.get(id.into_raw().into_u32() as usize)?.as_ref()
    }

    /// The function's result.
    ///
    /// # Errors
    /// When it is poison in some lane or was never computed.
    pub fn result(&self) -> Result<Lanes, EvalError> {
        let id = self.function.result.ok_or_else(|| EvalError::Malformed("a run gives no result".into()))?;
        let result = self.read(id)?;
        match result.poisoned() {
            0 => Ok(result.clone()),
            lanes => Err(self.poison("the caller".into(), id, lanes.trailing_zeros() as usize)),
        }
    }

    /// Computes one value from those before it; for values that no statement computes (a proof's source graph) too.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn compute(&mut self, id: ValueId) -> Result<(), EvalError> {
        self.compute_on(id, &mut Memory::default())
    }

    /// Computes one value, with the memory that it may touch.
    pub(super) fn compute_on(&mut self, id: ValueId, memory: &mut Memory) -> Result<(), EvalError> {
        let function = self.function;
        let value = &function.values[id];
        let lanes = lanes_of(value.ty, self.profile);
        let active = self.active(id, value, lanes)?;
        let mut result = match value.op.info().reference {
            Reference::Lane(f) => self.by_lane(id, value, lanes, active, f)?,
            // Lanes of one width keep their places.
            Reference::Rack(_) if value.op == Op::Bitcast && self.keeps_lanes(value) => {
                self.by_lane(id, value, lanes, active, |_, _, args| args[0])?
            }
            Reference::Rack(f) => self.by_rack(id, value, f)?,
            Reference::Structural => self.structural(id, value, lanes, active, memory)?,
            Reference::None => return Err(EvalError::Unsupported(value.op)),
        };
        if result.len() != lanes {
            return Err(EvalError::Malformed(format!("{} has {} lanes", self.show(id), result.len())));
        }
        for lane in (0..lanes).filter(|lane| active >> lane & 1 == 0) {
            result.set(lane, None);
            self.verify(id, value, lane)?;
        }
        self.values[id.into_raw().into_u32() as usize] = Some(result);
        Ok(())
    }

    /// Checks a fact in a lane outside the value's mask.
    fn verify(&self, id: ValueId, value: &Value, lane: usize) -> Result<(), EvalError> {
        let Some(claimed) = value.inactive else { return Ok(()) };
        let whole = |arg: &ValueId| self.whole(*arg, lane);
        let holds = match (value.op, &value.args[..], value.op.info().reference) {
            (Op::Select | Op::If, [by, then, otherwise], _) => match whole(by) {
                Some(bits) => whole(if bits & 1 == 1 { then } else { otherwise }) == Some(claimed),
                None => [then, otherwise].into_iter().all(|arm| whole(arm) == Some(claimed)),
            },
            (Op::Bitcast, [arg], _) => whole(arg) == Some(claimed),
            // What is not read is zero.
            (Op::Load | Op::Gather, ..) => claimed == 0,
            (_, args, Reference::Lane(f)) => {
                let elem = args.first().map_or(Elem::Bool, |&arg| self.function.values[arg].ty.elem());
                let args: Option<SmallVec<[u64; 3]>> = args.iter().map(whole).collect();
                args.is_some_and(|args| f(elem, &value.imm, &args) == claimed)
            }
            _ => false,
        };
        let wrong = || format!("lane {lane} of {} does not hold what it is said to hold there", self.show(id));
        if holds { Ok(()) } else { Err(EvalError::Malformed(wrong())) }
    }

    /// What a lane of an operand holds, read or not: its value, or its fact outside its mask, or that of what a choice
    /// takes there.
    fn whole(&self, mut arg: ValueId, lane: usize) -> Option<u64> {
        for _ in 0..MOST_CHOICES {
            let value = &self.function.values[arg];
            arg = match (self.settled(arg, lane), value.op, &value.args[..]) {
                (Some(bits), ..) => return Some(bits),
                (None, Op::Select | Op::If, &[by, then, otherwise]) => {
                    if self.settled(by, lane)? & 1 == 1 {
                        then
                    } else {
                        otherwise
                    }
                }
                _ => return None,
            };
        }
        None
    }

    /// As [`Self::whole`], of the operand alone.
    fn settled(&self, arg: ValueId, lane: usize) -> Option<u64> {
        let value = &self.function.values[arg];
        let inactive = || {
            let active = value.mask.is_some_and(|mask| self.peek(mask, lane).is_none_or(|bits| bits & 1 == 1));
            value.inactive.filter(|_| !active)
        };
        self.peek(arg, lane).or_else(inactive).or_else(|| {
            let mut left = MOST_TRUTHS;
            self.combined(arg, lane, &mut left).filter(|_| value.ty.is_truth())
        })
    }

    /// The truth that a combination of masks is in a lane, computed there or not: masks are combined on whole racks.
    fn combined(&self, arg: ValueId, lane: usize, left: &mut u32) -> Option<u64> {
        *left = left.checked_sub(1)?;
        if let Some(bits) = self.peek(arg, lane) {
            return Some(bits & 1);
        }
        let value = &self.function.values[arg];
        let settles = match value.op {
            Op::And => 0,
            Op::Or => 1,
            Op::Not => return self.combined(*value.args.first()?, lane, left).map(|bits| bits ^ 1),
            _ => return None,
        };
        let parts: SmallVec<[Option<u64>; 2]> =
            value.args.iter().map(|&part| self.combined(part, lane, left)).collect();
        match parts.contains(&Some(settles)) {
            true => Some(settles),
            false => parts.iter().all(Option::is_some).then_some(settles ^ 1),
        }
    }

    /// Whether the operand's lanes are as wide as the result's.
    fn keeps_lanes(&self, value: &Value) -> bool {
        let from = value.args.first().map(|&arg| self.function.values[arg].ty);
        from.is_some_and(|from| from.elem().bits() == value.ty.elem().bits())
    }

    /// The lanes in which a value is computed, a bit each.
    fn active(&self, id: ValueId, value: &Value, lanes: usize) -> Result<u64, EvalError> {
        let existing = match self.existing {
            Some((width, existing)) if value.ty.lane_bits() == Some(width) => existing,
            _ => u64::MAX,
        };
        let Some(mask) = value.mask else { return Ok(existing) };
        let lanes = (0..lanes).filter(|lane| existing >> lane & 1 == 1);
        lanes.into_iter().try_fold(0, |bits, lane| Ok(bits | (self.lane(id, mask, lane)? & 1) << lane))
    }

    fn by_lane(&self, id: ValueId, value: &Value, lanes: usize, active: u64, f: LaneFn) -> Result<Lanes, EvalError> {
        let typed_by = if matches!(value.op, Op::Select) { 1 } else { 0 };
        let elem = value.args.get(typed_by).map_or(Elem::Bool, |&a| self.function.values[a].ty.elem());
        let passes_on = matches!(value.op, Op::And | Op::Or | Op::Not);
        let mut result = Lanes::splat(0, lanes);
        for lane in (0..lanes).filter(|lane| active >> lane & 1 == 1) {
            let bits = match self.decided(value, lane) {
                Some(bits) => bits,
                None if passes_on && value.args.iter().any(|&arg| self.peek(arg, lane).is_none()) => {
                    result.set(lane, None);
                    continue;
                }
                None if R::PICKS && value.op == Op::Select => self.picked(id, value, lane)?,
                None => {
                    let args = value.args.iter().map(|&arg| self.lane(id, arg, lane));
                    let args: SmallVec<[u64; 3]> = args.collect::<Result<_, _>>()?;
                    f(elem, &value.imm, &args)
                }
            };
            result.set(lane, Some(bits));
        }
        Ok(result)
    }

    /// The truth that one operand of `and` or `or` settles alone.
    fn decided(&self, value: &Value, lane: usize) -> Option<u64> {
        let settles = match value.op {
            Op::And => 0,
            Op::Or => 1,
            _ => return None,
        };
        value.args.iter().any(|&arg| self.peek(arg, lane) == Some(settles)).then_some(settles)
    }

    fn by_rack(&self, id: ValueId, value: &Value, f: RackFn) -> Result<Lanes, EvalError> {
        let args = value.args.iter().map(|&arg| self.read(arg)).collect::<Result<SmallVec<[&Lanes; 3]>, _>>()?;
        for (arg, lanes) in value.args.iter().zip(&args) {
            if lanes.poisoned() != 0 {
                return Err(self.poison(self.show(id), *arg, lanes.poisoned().trailing_zeros() as usize));
            }
        }
        let types = self.function.operand_types(value);
        Ok(f(&RackCall { imm: &value.imm, ty: value.ty, types: &types, args: &args }))
    }

    fn structural(
        &self,
        id: ValueId,
        value: &Value,
        lanes: usize,
        active: u64,
        memory: &mut Memory,
    ) -> Result<Lanes, EvalError> {
        match (value.op, &value.imm, &value.args[..]) {
            (Op::Param, Imm::Int(position), _) => {
                let arg = self.args.get(*position as usize);
                arg.cloned().ok_or_else(|| EvalError::Malformed(format!("parameter {position} does not exist")))
            }
            (Op::Const, Imm::Bits(bits), _) => Ok(Lanes::splat(*bits, lanes)),
            (Op::LaneIndex, ..) => Ok(Lanes::new(0..lanes as u64)),
            (Op::If, ..) => {
                let mut result = Lanes::splat(0, lanes);
                for lane in (0..lanes).filter(|lane| active >> lane & 1 == 1) {
                    result.set(lane, Some(self.picked(id, value, lane)?));
                }
                Ok(result)
            }
            (Op::Carry, _, [first]) => self.read(*first).cloned(),
            (Op::InRange, _, [below]) => {
                let below = self.lane(id, *below, 0)? as i64;
                Ok(Lanes::new((0..lanes as i64).map(|lane| u64::from(lane < below))))
            }
            (Op::CountTrue, _, [mask]) => {
                let lanes = lanes_of(self.function.values[*mask].ty, self.profile);
                let holds = |lane: &usize| self.peek(*mask, *lane).is_some_and(|bits| bits & 1 == 1);
                Ok(Lanes::uniform((0..lanes).filter(holds).count() as u64))
            }
            (Op::Check, Imm::Reason(reason), [holds]) => match self.lane(id, *holds, 0)? & 1 {
                0 => Err(EvalError::Trap(*reason)),
                _ => Ok(Lanes::uniform(1)),
            },
            (_, _, args) if matches!(value.op.info().lane, LaneRule::Reads | LaneRule::Effect) => {
                self.transfer(id, value, args, lanes, active, memory)
            }
            _ => Err(EvalError::Malformed(format!("{} has no immediate", self.show(id)))),
        }
    }

    /// The arm that a choice picks in a lane; the other is not read.
    fn picked(&self, id: ValueId, value: &Value, lane: usize) -> Result<u64, EvalError> {
        let [condition, then, otherwise] = value.args[..] else {
            return Err(EvalError::Malformed(format!("{} needs three operands", self.show(id))));
        };
        let picked = if self.lane(id, condition, lane)? & 1 == 1 { then } else { otherwise };
        self.lane(id, picked, lane)
    }

    pub(super) fn read(&self, id: ValueId) -> Result<&Lanes, EvalError> {
        self.get(id).ok_or_else(|| EvalError::Malformed(format!("{} is read before it is computed", self.show(id))))
    }

    /// An operand's lane, lane 0 of a uniform; `None` when poison.
    pub(super) fn peek(&self, arg: ValueId, lane: usize) -> Option<u64> {
        let lane = if self.function.values[arg].ty.is_uniform() { 0 } else { lane };
        self.get(arg)?.get(lane)
    }

    pub(super) fn lane(&self, reader: ValueId, arg: ValueId, lane: usize) -> Result<u64, EvalError> {
        self.read(arg)?;
        self.peek(arg, lane).ok_or_else(|| self.poison(self.show(reader), arg, lane))
    }

    pub(super) fn poison(&self, reader: String, operand: ValueId, lane: usize) -> EvalError {
        EvalError::Poison { reader, operand: self.show(operand), lane }
    }

    /// A value for people: its number in dumps and its operation.
    pub(super) fn show(&self, id: ValueId) -> String {
        let op = self.function.values[id].op.name();
        match number(self.function).get(id.into_raw().into_u32() as usize) {
            Some(Some(number)) => format!("%{number} ({op})"),
            _ => format!("a value ({op})"),
        }
    }
}
