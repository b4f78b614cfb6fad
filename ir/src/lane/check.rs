//! The check that `tined` and `fused` share.

use super::facts::raises_nothing_outside;
use super::{Function, Program, Region, Stmt, Value, ValueId, fact, number};
use crate::ops::{FpClass, Imm, ImmKind, LaneRule, Op};
use crate::profile::Profile;
use crate::types::Ty;
use crate::value::literal;

/// Checks the invariants of every function.
///
/// # Errors
/// Each violation in one line.
pub fn check<R: Region>(program: &Program<R>) -> Result<(), Vec<String>> {
    gather(program, |_| {})
}

/// As [`check`], and rejects each operation under a mask that may raise a floating-point flag in an inactive lane:
/// what its operands hold there has to raise none, unless the profile's instructions take the mask or it has no flags.
///
/// # Errors
/// Each violation in one line.
pub fn check_sanitised<R: Region>(program: &Program<R>) -> Result<(), Vec<String>> {
    gather(program, |checker| {
        for id in checker.order.clone() {
            checker.sanitised(id);
        }
    })
}

fn gather<R: Region>(program: &Program<R>, more: impl Fn(&mut Checker)) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for function in &program.functions {
        let mut checker = Checker::new(function, program.profile);
        checker.body(function);
        more(&mut checker);
        faults.append(&mut checker.faults);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// What is known of a value at some point of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not computed yet.
    Later,
    /// May be read.
    Visible,
    /// Computed inside a region, which does not give it.
    Inner,
    /// Stands for a proof only.
    Hidden,
}

/// The check of one function.
pub struct Checker<'a> {
    name: &'a str,
    values: &'a la_arena::Arena<Value>,
    params: &'a [super::Param],
    profile: Profile,
    numbers: Vec<Option<u32>>,
    states: Vec<State>,
    order: Vec<ValueId>,
    faults: Vec<String>,
}

impl<'a> Checker<'a> {
    fn new<R: Region>(function: &'a Function<R>, profile: Profile) -> Self {
        Checker {
            name: &function.name,
            values: &function.values,
            params: &function.params,
            profile,
            numbers: number(function),
            states: vec![State::Later; function.values.len()],
            order: function.order().collect(),
            faults: Vec::new(),
        }
    }

    /// Records a violation.
    pub fn fault(&mut self, text: impl std::fmt::Display) {
        self.faults.push(format!("{}: {text}", self.name));
    }

    /// The value's name in dumps.
    pub fn show(&self, id: ValueId) -> String {
        match self.numbers.get(index(id)).copied().flatten() {
            Some(number) => format!("%{number}"),
            None => format!("a value ({})", self.values[id].op.name()),
        }
    }

    /// A value of the function.
    pub fn get(&self, id: ValueId) -> &'a Value {
        &self.values[id]
    }

    fn body<R: Region>(&mut self, function: &Function<R>) {
        for stmt in &function.body {
            match stmt {
                Stmt::Value(id) => {
                    self.value(*id);
                    if self.values[*id].op.info().fp == FpClass::Contracted {
                        let name = self.show(*id);
                        self.fault(format!("{name} is contracted outside a region"));
                    }
                }
                Stmt::Region(region) => self.region(region),
            }
        }
        self.reads(function.result, "the result");
    }

    fn region<R: Region>(&mut self, region: &R) {
        for &id in region.computed() {
            self.value(id);
            let op = self.values[id].op;
            let name = self.show(id);
            let contracted = op.info().fp == FpClass::Contracted;
            if contracted && !(R::CONTRACTED && self.profile.info().fma) {
                self.fault(format!("{name}: `{}` cannot stand here", op.name()));
            }
            let below_vocabulary = !region.only_stages() && op == Op::Bitcast;
            if !op.info().fused && !below_vocabulary {
                self.fault(format!("{name}: `{}` cannot stand in a region", op.name()));
            }
        }
        self.set(region.computed(), State::Later);
        for &id in region.hidden() {
            self.value(id);
            let op = self.values[id].op;
            if !op.info().fused || op.info().fp == FpClass::Contracted {
                let name = self.show(id);
                self.fault(format!("{name}: `{}` cannot stand in a source graph", op.name()));
            }
        }
        self.set(region.computed(), State::Visible);
        region.check(self);
        self.set(region.hidden(), State::Hidden);
        if let Some(outputs) = region.outputs() {
            self.set(region.computed(), State::Inner);
            let outputs: Vec<ValueId> = outputs.into_iter().filter(|o| region.computed().contains(o)).collect();
            self.set(&outputs, State::Visible);
        }
    }

    fn set(&mut self, ids: &[ValueId], state: State) {
        for &id in ids {
            self.states[index(id)] = state;
        }
    }

    /// Checks that a value may be read here; `by` says who reads it.
    pub fn reads(&mut self, id: ValueId, by: &str) {
        let why = match self.states[index(id)] {
            State::Visible => return,
            State::Later => "before it is computed",
            State::Inner => "which is no result of its region",
            State::Hidden => "which belongs to a proof only",
        };
        let name = self.show(id);
        self.fault(format!("{by} reads {name} {why}"));
    }

    /// Checks that a value may be named here, if only for people: it may belong to a proof.
    pub fn names(&mut self, id: ValueId, by: &str) {
        if self.states[index(id)] == State::Later {
            self.reads(id, by);
        }
    }

    fn value(&mut self, id: ValueId) {
        let value = &self.values[id];
        let name = self.show(id);
        if self.states[index(id)] != State::Later {
            self.fault(format!("{name} is computed twice"));
        }
        for &arg in &value.args {
            self.reads(arg, &name);
        }
        let types: smallvec::SmallVec<[Ty; 3]> = value.args.iter().map(|&a| self.values[a].ty).collect();
        match value.op.infer(&types, Some(value.ty)) {
            Ok(ty) if ty == value.ty => {}
            Ok(ty) => self.fault(format!("{name}: `{}` gives {ty}, not {}", value.op.name(), value.ty)),
            Err(needs) => self.fault(format!("{name}: `{}` needs {needs}", value.op.name())),
        }
        if let Err(wrong) = self.immediate(value, &types) {
            self.fault(format!("{name}: `{}` {wrong}", value.op.name()));
        }
        self.mask(value, &name);
        self.fact(id);
        self.states[index(id)] = State::Visible;
    }

    fn mask(&mut self, value: &Value, name: &str) {
        let types: smallvec::SmallVec<[Ty; 3]> = value.args.iter().map(|&a| self.values[a].ty).collect();
        let lane = value.op.lane_rule(&types, value.ty);
        if lane == LaneRule::CrossLane && value.args.iter().any(|&a| self.values[a].mask.is_some()) {
            self.fault(format!("{name}: `{}` reads lanes that have no value", value.op.name()));
        }
        let Some(mask) = value.mask else { return };
        self.reads(mask, name);
        let (mask, fits) = (self.values[mask].ty, value.ty.truth());
        if mask != fits {
            self.fault(format!("{name} of type {} is computed under a {mask}, not a {fits}", value.ty));
        }
        if lane == LaneRule::Unmasked {
            self.fault(format!("{name}: `{}` stands under a mask", value.op.name()));
        }
    }

    fn immediate(&self, value: &Value, types: &[Ty]) -> Result<(), String> {
        let lanes = |ty: Option<&Ty>| ty.and_then(|t| t.lane_bits()).map_or(1, |bits| self.profile.lanes_of_bits(bits));
        let row = value.op.info();
        match (row.imm, &value.imm) {
            (ImmKind::None, Imm::None) if value.op == Op::LaneIndex => match value.ty {
                Ty::Rack(e) if e.is_int() => Ok(()),
                _ => Err("is a rack of integers".into()),
            },
            (ImmKind::None, Imm::None) if value.op == Op::Bitcast => match (types, value.ty) {
                ([Ty::Rack(_)], Ty::Rack(_)) => Ok(()),
                ([Ty::Uniform(from)], Ty::Uniform(to)) if from.bits() == to.bits() => Ok(()),
                _ => Err(format!("gives no {} of these bits", value.ty)),
            },
            (ImmKind::None, Imm::None) => Ok(()),
            (ImmKind::Bits, Imm::Bits(bits)) => {
                let fits = bits & !value.ty.elem().lane_mask() == 0;
                if fits { Ok(()) } else { Err(format!("has the bits {bits:#x}, too wide for {}", value.ty)) }
            }
            (ImmKind::Param, Imm::Int(position)) => match self.params.get(*position as usize) {
                Some(param) if param.ty == value.ty => Ok(()),
                Some(param) => Err(format!("{position} is of type {}", param.ty)),
                None => Err(format!("{position} does not exist")),
            },
            (ImmKind::ShiftCount, Imm::Int(count)) => match types {
                [ty] if *count < ty.elem().bits() => Ok(()),
                [_] => Err(format!("has the count {count}, not below the width")),
                _ => Err("has a literal and an operand as its count".into()),
            },
            (ImmKind::ShiftCount, Imm::None) if types.len() == 2 => Ok(()),
            (ImmKind::Lane, Imm::Int(lane)) if (*lane as usize) < lanes(types.first()) => Ok(()),
            (ImmKind::LaneCount, Imm::Int(count)) if *count as usize <= lanes(types.first()) => Ok(()),
            (ImmKind::Lane | ImmKind::LaneCount, Imm::Int(lane)) => Err(format!("has the lane {lane}")),
            (ImmKind::Lanes, Imm::Lanes(picks)) => {
                let n = lanes(types.first());
                let fits = picks.len() == n && picks.iter().all(|&p| usize::from(p) < n * types.len());
                if fits { Ok(()) } else { Err(format!("picks {n} lanes, each below {}", n * types.len())) }
            }
            (kind, imm) => Err(format!("has the immediate {imm:?} where {kind:?} belongs")),
        }
    }

    /// Whole racks are computed from here on. An operation under a mask that may raise a flag needs operands that raise none
    /// outside it, or a profile whose instructions take the mask: selection emits each such step under it.
    fn sanitised(&mut self, id: ValueId) {
        let profile = self.profile;
        if !profile.info().fp_flags || profile.native_masks() || raises_nothing_outside(self.values, id) {
            return;
        }
        let (name, op) = (self.show(id), self.values[id].op.name());
        self.fault(format!("{name}: `{op}` may raise a flag in lanes where it is not computed"));
    }

    fn fact(&mut self, id: ValueId) {
        let value = &self.values[id];
        let Some(bits) = value.inactive else { return };
        if value.mask.is_none() || fact(self.values, id) != Some(bits) {
            let (name, shown) = (self.show(id), literal(value.ty.elem(), bits));
            self.fault(format!("{name}: nothing shows that it is {shown} where it is not computed"));
        }
    }
}

fn index(id: ValueId) -> usize {
    id.into_raw().into_u32() as usize
}
