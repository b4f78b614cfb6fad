//! The evaluator of `desugared`: values of names, in order of evaluation.
//!
//! Every operation is total here, so both branches of a conditional are evaluated and each lane takes its own.

use super::{Event, ExprId, ExprKind, Function, LocalId, Program};
use crate::lane::EvalError;
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
    let mut run = Run { function, profile: program.profile, locals: ArenaMap::default(), values: ArenaMap::default() };
    for (&param, arg) in function.params.iter().zip(args) {
        run.locals.insert(param, arg.clone());
    }
    let mut failed = None;
    function.walk(|event| {
        if failed.is_none() {
            failed = run.event(event).err();
        }
    });
    match failed {
        Some(error) => Err(error),
        None => run.take(function.result),
    }
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
        Reference::Rack(f) => {
            let args: SmallVec<[&Lanes; 3]> = args.iter().collect();
            Ok(f(&RackCall { imm, ty, types, args: &args }))
        }
        Reference::Lane(f) => {
            let typed_by = types.get(usize::from(op == Op::Select)).or(types.first());
            let elem = typed_by.map_or(ty.elem(), |ty| ty.elem());
            Ok(Lanes::new((0..lanes).map(|lane| {
                let args: SmallVec<[u64; 3]> = types.iter().zip(args).map(|(ty, arg)| read(*ty, arg, lane)).collect();
                f(elem, imm, &args)
            })))
        }
    }
}

fn read(ty: Ty, value: &Lanes, lane: usize) -> u64 {
    value.get(if ty.is_uniform() { 0 } else { lane }).unwrap_or(0)
}

fn choose(types: &[Ty], args: &[Lanes], lanes: usize) -> Lanes {
    let at = |index: usize, lane| read(types[index], &args[index], lane);
    Lanes::new((0..lanes).map(|lane| if at(0, lane) & 1 == 1 { at(1, lane) } else { at(2, lane) }))
}

struct Run<'a> {
    function: &'a Function,
    profile: Profile,
    locals: ArenaMap<LocalId, Lanes>,
    values: ArenaMap<ExprId, Lanes>,
}

impl Run<'_> {
    fn event(&mut self, event: Event) -> Result<(), EvalError> {
        match event {
            Event::Expr(id) => {
                let value = self.expr(id)?;
                self.values.insert(id, value);
            }
            Event::Let(binding) | Event::Stage(binding) => {
                let value = self.take(binding.value)?;
                self.locals.insert(binding.local, value);
            }
            Event::Then(_) | Event::Otherwise(_) | Event::RegionStart | Event::RegionEnd => {}
        }
        Ok(())
    }

    /// An operand, which has this one user.
    fn take(&mut self, id: ExprId) -> Result<Lanes, EvalError> {
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
            ExprKind::Op { op, imm, args } => self.operation(*op, imm, args, ty),
            ExprKind::If { condition, then, otherwise } => {
                self.operation(Op::If, &Imm::None, &[*condition, *then, *otherwise], ty)
            }
            ExprKind::Block { result, .. } => self.take(*result),
        }
    }
}
