//! The check that `tined` and `fused` share.

use super::facts::raises_nothing_outside;
use super::{Close, Function, Open, Program, Region, Stmt, Value, ValueId, extents, fact, number};
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

/// An open body.
#[derive(Default)]
struct Body {
    kind: Option<Open>,
    carries: Vec<ValueId>,
    /// Whether something other than a carry was computed.
    carries_end: bool,
    /// Whether the second body of an `if` is open.
    otherwise: bool,
    /// What the first body of an `if` computed, once the second is open.
    first: Vec<ValueId>,
    computed: Vec<ValueId>,
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
        if let Err(at) = extents(&function.body) {
            return self.fault(format!("statement {at} opens or closes a body that has no other end"));
        }
        let mut bodies: Vec<Body> = Vec::new();
        // What `merge` may take: the bodies of the `if` that was closed last.
        let mut closed: Option<(Vec<ValueId>, Vec<ValueId>)> = None;
        for stmt in &function.body {
            match stmt {
                Stmt::Value(id) => {
                    self.placed(*id, bodies.last_mut(), closed.as_ref());
                    if !matches!(self.values[*id].op, Op::Carry | Op::Merge) {
                        bodies.iter_mut().last().into_iter().for_each(|body| body.carries_end = true);
                    }
                    if self.values[*id].op != Op::Merge {
                        closed = None;
                    }
                    bodies.last_mut().into_iter().for_each(|body| body.computed.push(*id));
                }
                Stmt::Region(region) => {
                    self.region(region);
                    closed = None;
                    bodies.last_mut().into_iter().for_each(|body| body.computed.extend(region.computed()));
                }
                Stmt::Open(open) => {
                    self.open(open);
                    bodies.push(Body { kind: Some(open.clone()), ..Body::default() });
                }
                Stmt::Else => {
                    let Some(body) = bodies.last_mut() else { continue };
                    if !matches!(body.kind, Some(Open::If(_))) {
                        self.fault("`else` stands in a body that is no `if`'s");
                    }
                    body.otherwise = true;
                    body.first = std::mem::take(&mut body.computed);
                    let first = body.first.clone();
                    self.set(&first, State::Later);
                }
                Stmt::Close(close) => {
                    let Some(body) = bodies.pop() else { continue };
                    self.close(close, &body);
                    // They outlive their own body, but not the one around it.
                    bodies.last_mut().into_iter().for_each(|around| around.computed.extend(&body.carries));
                    closed = match body.otherwise {
                        false => Some((body.computed, Vec::new())),
                        true => Some((body.first, body.computed)),
                    };
                }
            }
        }
        if let Some(result) = function.result {
            self.reads(result, "the result");
        }
    }

    /// A value outside regions: carries stand first in a loop, merges behind an `if`.
    fn placed(&mut self, id: ValueId, body: Option<&mut Body>, closed: Option<&(Vec<ValueId>, Vec<ValueId>)>) {
        let value = &self.values[id];
        let name = self.show(id);
        match (value.op, body, closed) {
            (Op::Carry, Some(body), _) if !body.carries_end && !matches!(body.kind, Some(Open::If(_))) => {
                body.carries.push(id);
            }
            (Op::Carry, ..) => self.fault(format!("{name}: `carry` does not stand first in a loop")),
            (Op::Merge, _, Some((first, second))) => {
                // For this line they can be read.
                let was: Vec<State> = value.args.iter().map(|&arg| self.states[index(arg)]).collect();
                for (&arg, body) in value.args.iter().zip([first, second]) {
                    if body.contains(&arg) {
                        self.set(&[arg], State::Visible);
                    }
                }
                self.value(id);
                for (&arg, was) in value.args.iter().zip(was) {
                    self.set(&[arg], was);
                }
                return;
            }
            (Op::Merge, ..) => self.fault(format!("{name}: `merge` does not stand behind an `if`")),
            _ => {}
        }
        self.value(id);
        if value.op.info().fp == FpClass::Contracted {
            self.fault(format!("{name} is contracted outside a region"));
        }
    }

    fn open(&mut self, open: &Open) {
        match open {
            Open::Traverse { index, count, bits } => {
                self.reads(*count, "a traverse");
                self.value(*index);
                if self.values[*count].ty != Ty::LONG || !matches!(bits, 8 | 16 | 32 | 64) {
                    self.fault("a traverse needs an <i64> count and lanes of 8, 16, 32 or 64 bits");
                }
            }
            Open::Loop => {}
            Open::If(condition) => self.truth(*condition, "an `if`"),
        }
    }

    fn truth(&mut self, id: ValueId, what: &str) {
        self.reads(id, what);
        if self.values[id].ty != Ty::TRUTH {
            let name = self.show(id);
            self.fault(format!("{what} needs a <bool>, which {name} is not"));
        }
    }

    fn close(&mut self, close: &Close, body: &Body) {
        if close.again.is_some() != matches!(body.kind, Some(Open::Loop)) {
            self.fault("a loop, and nothing else, ends in `again`");
        }
        if let Some(again) = close.again {
            self.truth(again, "`again`");
        }
        for &(carry, next) in &close.next {
            let name = self.show(carry);
            self.reads(next, &format!("the next {name}"));
            if self.values[next].ty != self.values[carry].ty {
                self.fault(format!("the next {name} has another type"));
            }
        }
        let assigned: Vec<ValueId> = close.next.iter().map(|next| next.0).collect();
        if assigned != body.carries {
            self.fault("what is assigned at the end of a body are not its carries, in order");
        }
        self.set(&body.first, State::Later);
        self.set(&body.computed, State::Later);
        if let Some(Open::Traverse { index, .. }) = body.kind {
            self.set(&[index], State::Later);
        }
        self.set(&body.carries, State::Visible);
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
            (ImmKind::None, Imm::None) | (ImmKind::Reason, Imm::Reason(_)) | (ImmKind::Column, Imm::Int(_)) => Ok(()),
            (ImmKind::Memory, Imm::Memory(elem)) => match value.ty {
                _ if *elem == value.ty.elem() => Ok(()),
                // Integers only are widened and wrapped.
                Ty::Rack(lane) if elem.is_int() && lane.is_int() && elem.bits() < lane.bits() => Ok(()),
                _ => Err(format!("of {elem} in memory is no {}", value.ty)),
            },
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
