//! The function being selected.

use super::rule::{Instance, Key, PlannedSrc, PlannedStep, Rule, Src, Step, StepImm, Target};
use super::shape::{Kept, Shape};
use super::words::Word;
use super::{constant_bits, index, known, parts};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::fused;
use rake_ir::lane::ValueId;
use rake_ir::machine::abi::Abi;
use rake_ir::machine::{Address, Class, Form, Idioms, ImmMap, Inst, Kind, LiteralId, MachOp, Operand, Shortcut};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Outcome, Param, Reg, RegInfo};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::lanes_of;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::collections::HashMap;

type Operands = SmallVec<[Operand<Reg>; 3]>;

/// What an instruction gives that gives nothing; nothing reads it.
const NOWHERE: Reg = Reg(u32::MAX);

/// What makes two instructions one.
type Same = (MachOp, Operands, Option<u8>, Option<u32>);

/// Where instructions are being put, and for whom.
#[derive(Clone)]
pub(super) struct Site {
    pub region: Option<u32>,
    pub span: Span,
    pub name: Option<SmolStr>,
    /// The mask of instructions that may raise an exception, and what the last one leaves outside it.
    pub mask: Option<Reg>,
    pub kept: Kept<Reg>,
    /// What transfers access.
    pub place: Option<Address<Reg>>,
}

impl Site {
    /// The place of one step of a sequence.
    fn step(&self, last: bool) -> Site {
        Site { kept: if last { self.kept } else { Kept::Any }, ..self.clone() }
    }
}

pub(super) struct Builder<'a> {
    pub(super) source: &'a fused::Function,
    pub(super) profile: Profile,
    pub(super) target: &'a dyn Target,
    pub(super) idioms: &'static Idioms,
    pub(super) out: Function,
    /// The register of each value.
    pub(super) map: Vec<Option<Reg>>,
    /// What is computed already; by the same region only, since regions share nothing.
    pub(super) done: HashMap<Same, Reg>,
    /// For each open body, what was computed in it.
    pub(super) scopes: Vec<Vec<Same>>,
    /// How many loops are open.
    pub loops: usize,
    /// The narrow columns that were loaded as they stand in memory too.
    pub packed: HashMap<ValueId, Reg>,
    /// The word of each value that has one.
    pub(super) words: Vec<Option<Word>>,
    literals: HashMap<Vec<u8>, LiteralId>,
    /// The register of each argument.
    arguments: Vec<Reg>,
    /// The operation and the operand that made a register of one other.
    makers: HashMap<Reg, (MachOp, Reg)>,
    /// Of which values nothing but sign bits or lane 0 is read.
    parts: Vec<bool>,
    /// Which masks hold more than their sign bits say.
    signs: Vec<bool>,
    /// Whether masks stay racks, of which the sign bits count, though they have registers of their own.
    racks: bool,
    /// Whether the result was computed where the caller looks for it.
    left: bool,
    /// Whether something was computed in a shorter way, so that what it would have read may be read by nobody.
    shortened: bool,
}

impl<'a> Builder<'a> {
    pub fn new(
        source: &'a fused::Function,
        profile: Profile,
        target: &'a dyn Target,
        params: Vec<Param>,
        parts: Vec<bool>,
        racks: bool,
    ) -> Result<Builder<'a>, Vec<Diagnostic>> {
        let unknown = |ty: Ty, span: Span| {
            Diagnostic::error(Code::NotAvailableYet, span, format!("`{ty}` is not available on {profile} yet"))
        };
        let errors: Vec<_> = params.iter().filter(|p| !known(p.ty)).map(|p| unknown(p.ty, p.span)).collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let info = |p: &Param| RegInfo { class: p.place.class, name: Some(p.name.clone()), span: p.span };
        let outcome = |ty| Outcome { reg: Reg(0), ty, place: Abi::of(profile).result(ty) };
        let mut out = Function {
            name: source.name.clone(),
            span: source.span,
            regs: params.iter().map(info).collect(),
            params,
            literals: Vec::new(),
            insts: Vec::with_capacity(source.values.len() + 8),
            result: source.result_type().map(outcome),
        };
        let map = vec![None; source.values.len()];
        let (done, literals, makers) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (signs, idioms) = (vec![false; source.values.len()], Idioms::of(profile));
        let arguments = arguments(source, idioms, &mut out);
        Ok(Builder {
            source,
            profile,
            target,
            idioms,
            out,
            map,
            done,
            scopes: Vec::new(),
            loops: 0,
            packed: HashMap::new(),
            words: vec![None; source.values.len()],
            literals,
            arguments,
            makers,
            parts,
            signs,
            racks,
            left: false,
            shortened: false,
        })
    }

    /// Lowers one value.
    pub fn value(&mut self, id: ValueId, shape: &Shape, region: Option<u32>) -> Result<(), Diagnostic> {
        let value = &self.source.values[id];
        let mut site = Site { region, ..self.at(id) };
        if !known(value.ty) {
            let message = format!("`{}` is not available on {} yet", value.ty, self.profile);
            return Err(Diagnostic::error(Code::NotAvailableYet, value.span, message));
        }
        let reg = match shape.key {
            Key::Op(Op::Param) => self.parameter(id, &site)?,
            Key::Op(Op::Const) => self.constant(value.ty, constant_bits(self.source, id).unwrap_or(0), &site),
            Key::Op(Op::LaneIndex) => {
                let (bits, lanes) = (value.ty.elem().bits() as usize, lanes_of(value.ty, self.profile));
                let word =
                    |first: usize| (0..32 / bits).fold(0, |word, at| word | ((first + at) as u32) << (at * bits));
                let words: Vec<u32> = (0..lanes).step_by(32 / bits).map(word).collect();
                self.lanes(&words, &site)
            }
            Key::Leave(Op::Param | Op::Not) => {
                let Imm::Int(position) = self.source.values[shape.of].imm else {
                    return Err(Diagnostic::error(Code::Internal, value.span, "a parameter that is not declared"));
                };
                self.sequence(self.rule(shape.key, shape.elem), &[self.argument(position)], None, &site)
                    .map_err(|why| Diagnostic::error(Code::NotOnProfile, value.span, why))?
            }
            Key::Op(Op::Load | Op::LoadUniform | Op::Gather) => self.load(id, &site)?,
            Key::Op(Op::InRange) => self.in_range(id, &site)?,
            Key::Op(Op::Splat | Op::Unsplat | Op::Bitcast) => self.operand(shape.args.first().copied(), value.span)?,
            _ => {
                let mut args = SmallVec::<[Reg; 3]>::new();
                for &arg in &shape.args {
                    args.push(self.operand(Some(arg), value.span)?);
                }
                if let Some(param) = shape.word {
                    let Imm::Int(position) = self.source.values[param].imm else {
                        return Err(Diagnostic::error(Code::Internal, value.span, "a parameter that is not declared"));
                    };
                    args.push(self.argument(position));
                }
                if let Some(mask) = shape.mask {
                    site.mask = Some(self.operand(Some(mask), value.span)?);
                }
                site.kept = match shape.kept {
                    Kept::Any => Kept::Any,
                    Kept::Zero => Kept::Zero,
                    Kept::Of(other) => Kept::Of(self.operand(Some(other), value.span)?),
                };
                let value = &self.source.values[shape.of];
                let first = value.args.first().map_or(value.ty, |&a| self.source.values[a].ty);
                let lanes = first.lane_bits().map_or(1, |bits| self.profile.lanes_of_bits(bits));
                let (op, imm, operands, profile) = (value.op, &value.imm, args.len(), self.profile);
                let zero = |&arg: &ValueId| constant_bits(self.source, arg) == Some(0);
                let zeros = shape.args.iter().enumerate().fold(0, |set, (at, arg)| set | u8::from(zero(arg)) << at);
                let instance = Instance { op, imm, operands, zeros, lanes, profile };
                let rule = self.rule_of(shape);
                self.sequence(rule, &args, Some(&instance), &site).map_err(|why| {
                    let what =
                        if value.op.info().spelling.is_empty() { value.op.name() } else { value.op.info().spelling };
                    let message = format!("`{what}` of {} has no instructions on {}", value.ty, self.profile);
                    Diagnostic::error(Code::NotOnProfile, value.span, message).note(why)
                })?
            }
        };
        // Logic of masks passes on what is not spread; a choice by such a mask takes its sign bits.
        if parts::passes_on(shape.key) && shape.elem == Elem::Bool {
            self.signs[index(id)] |= shape.args.iter().any(|&arg| self.signs[index(arg)]);
        }
        self.left |= matches!(shape.key, Key::Leave(_));
        self.map[index(id)] = Some(reg);
        Ok(())
    }

    /// Brings the result to its place.
    pub fn finish(mut self) -> Result<Function, Diagnostic> {
        let Some(result) = self.source.result else {
            drop_unread(&mut self.out);
            constants_first(&mut self.out);
            if let Some(load) = self.idioms.control.and_then(|control| control.load_rack) {
                super::folding::run(&mut self.out, self.profile, load);
            }
            return Ok(self.out);
        };
        let span = self.source.values[result].span;
        let reg = self.operand(Some(result), span)?;
        let ty = self.source.values[result].ty;
        let site = Site { region: None, span, name: None, mask: None, kept: Kept::Any, place: None };
        let key = match ty {
            Ty::Rack(_) => None,
            Ty::Mask(_) if self.racks && self.source.values[result].op == Op::Const => None,
            Ty::Mask(_) if self.signs[index(result)] => Some(Key::EnterMask),
            Ty::Mask(_) => Some(Key::LeaveMask),
            Ty::Uniform(_) | Ty::Address => Some(Key::LeaveUniform),
        };
        // What is left as it was computed has its place already.
        let reg = match key.filter(|_| !self.left) {
            None => reg,
            Some(key) => self
                .sequence(self.rule(key, ty.elem()), &[reg], None, &site)
                .map_err(|why| Diagnostic::error(Code::NotOnProfile, span, why))?,
        };
        self.out.result = self.out.result.map(|outcome| Outcome { reg, ..outcome });
        if self.shortened {
            drop_unread(&mut self.out);
        }
        Ok(self.out)
    }

    pub(super) fn operand(&self, id: Option<ValueId>, span: Span) -> Result<Reg, Diagnostic> {
        let reg = id.and_then(|id| self.map[index(id)]);
        reg.ok_or_else(|| Diagnostic::error(Code::Internal, span, "an operand was not selected before its reader"))
    }

    /// The register of an argument.
    pub(super) fn argument(&self, position: u32) -> Reg {
        self.arguments.get(position as usize).copied().unwrap_or(Reg(position))
    }

    fn parameter(&mut self, id: ValueId, site: &Site) -> Result<Reg, Diagnostic> {
        let value = &self.source.values[id];
        let position = match value.imm {
            Imm::Int(position) if (position as usize) < self.out.params.len() => position,
            _ => return Err(Diagnostic::error(Code::Internal, value.span, "a parameter that is not declared")),
        };
        let key = match value.ty {
            Ty::Rack(_) => return Ok(self.argument(position)),
            Ty::Mask(_) if self.racks => return Ok(self.argument(position)),
            Ty::Mask(_) if self.parts[index(id)] => {
                self.signs[index(id)] = true;
                return Ok(self.argument(position));
            }
            Ty::Mask(_) => Key::EnterMask,
            Ty::Uniform(elem) if self.parts[index(id)] => {
                self.signs[index(id)] = elem == Elem::Bool;
                Key::EnterLow
            }
            Ty::Uniform(_) => Key::EnterUniform,
            Ty::Address => return Ok(self.argument(position)),
        };
        let name = Some(self.out.params[position as usize].name.clone());
        let site = Site { name, ..site.clone() };
        let elem = match value.ty.elem() {
            // What stands in the caller's frame is brought from there as a word.
            Elem::F32 if self.out.class(self.argument(position)) == Class::G => Elem::I32,
            elem => elem,
        };
        self.sequence(self.rule(key, elem), &[self.argument(position)], None, &site)
            .map_err(|why| Diagnostic::error(Code::NotOnProfile, value.span, why))
    }

    /// Emits a rule's sequence; the reason when there is none.
    pub(super) fn sequence(
        &mut self,
        rule: Rule,
        args: &[Reg],
        instance: Option<&Instance>,
        site: &Site,
    ) -> Result<Reg, &'static str> {
        let mut results = SmallVec::<[Reg; 8]>::new();
        match (rule, instance) {
            (Rule::Unsupported(why), _) => return Err(why),
            (Rule::Free(arg), _) => {
                return args.get(usize::from(arg)).copied().ok_or("its rule names a missing operand");
            }
            (Rule::Steps(steps), _) => {
                let count = instance.map_or(0, |i| if let Imm::Int(count) = i.imm { *count as u8 } else { 0 });
                for (at, step) in steps.iter().enumerate() {
                    let site = site.step(at + 1 == steps.len());
                    let reg = self.step(step, args, &results, count, &site)?;
                    results.push(reg);
                }
            }
            (Rule::Planned(plan), Some(instance)) => {
                let steps = plan(instance)?;
                let count = steps.len();
                for (at, step) in steps.into_iter().enumerate() {
                    let site = site.step(at + 1 == count);
                    let reg = self.planned(step, args, &results, &site)?;
                    results.push(reg);
                }
                if results.is_empty() {
                    return args.first().copied().ok_or("its plan is empty");
                }
            }
            (Rule::Planned(_), None) => return Err("its rule needs an operation's immediate"),
        }
        results.last().copied().ok_or("its rule is empty")
    }

    pub(super) fn rule(&self, key: Key, elem: Elem) -> Rule {
        match self.racks {
            true => self.target.signs_rule(key, self.profile),
            false => self.target.rule(key, elem, self.profile),
        }
    }

    /// The rule for a shape; another one where only a mask's sign bits hold and that has one.
    fn rule_of(&self, shape: &Shape) -> Rule {
        let folds = matches!(shape.key, Key::Op(Op::All | Op::Any) | Key::Leave(Op::All | Op::Any));
        let of_mask = folds || matches!(shape.key, Key::IfAll | Key::IfAny);
        let signs = of_mask && shape.args.first().is_some_and(|&mask| self.signs[index(mask)]);
        match self.target.signs_rule(shape.key, self.profile) {
            rule @ Rule::Steps(_) if signs => rule,
            _ => self.rule(shape.key, shape.elem),
        }
    }

    fn step(&mut self, step: &Step, args: &[Reg], done: &[Reg], count: u8, site: &Site) -> Result<Reg, &'static str> {
        let mut operands = Operands::new();
        for src in step.args {
            match *src {
                Src::Literal(bytes) => {
                    operands.push(Operand::Literal(self.literal(bytes.to_vec())));
                    continue;
                }
                Src::Place => {
                    operands.push(Operand::Memory(site.place.ok_or("its rule accesses memory")?));
                    continue;
                }
                Src::Number(number) => {
                    operands.push(Operand::Number(number));
                    continue;
                }
                _ => {}
            }
            let reg = match *src {
                Src::Literal(_) | Src::Place | Src::Number(_) => None,
                Src::Arg(n) => args.get(usize::from(n)).copied(),
                Src::Step(n) => done.get(usize::from(n)).copied(),
                Src::Lanes(lanes) => Some(self.lanes(lanes, site)),
            };
            operands.push(Operand::Reg(reg.ok_or("its rule names a missing operand")?));
        }
        let imm = match step.imm {
            StepImm::None => None,
            StepImm::Fixed(imm) => Some(imm),
            StepImm::Count => Some(count),
        };
        self.under_mask(step.op, operands, imm, site)
    }

    fn planned(&mut self, step: PlannedStep, args: &[Reg], done: &[Reg], site: &Site) -> Result<Reg, &'static str> {
        let mut operands = Operands::new();
        for src in &step.args {
            let reg = match src {
                PlannedSrc::Literal(bytes) => {
                    operands.push(Operand::Literal(self.literal(bytes.clone())));
                    continue;
                }
                PlannedSrc::Place => {
                    operands.push(Operand::Memory(site.place.ok_or("its plan accesses memory")?));
                    continue;
                }
                PlannedSrc::Number(number) => {
                    operands.push(Operand::Number(*number));
                    continue;
                }
                PlannedSrc::Arg(n) => args.get(usize::from(*n)).copied(),
                PlannedSrc::Step(n) => done.get(usize::from(*n)).copied(),
                PlannedSrc::Lanes(lanes) => Some(self.lanes(lanes, site)),
            };
            operands.push(Operand::Reg(reg.ok_or("its plan names a missing operand")?));
        }
        self.under_mask(step.op, operands, step.imm, site)
    }

    /// Emits a step under the site's mask if it may raise an exception or what it leaves outside the mask matters.
    fn under_mask(&mut self, op: MachOp, args: Operands, imm: Option<u8>, site: &Site) -> Result<Reg, &'static str> {
        let none = "one of its instructions cannot take a mask";
        let mut masked: Operands = site.mask.map(Operand::Reg).into_iter().collect();
        let under = match site.kept {
            _ if site.mask.is_none() => op,
            Kept::Any if !op.info().raises || self.is_inside(&args, op, site.mask) => op,
            Kept::Any | Kept::Zero => {
                masked.extend(args.iter().copied());
                op.zeroed().ok_or(none)?
            }
            Kept::Of(other) if op.tied(self.profile).is_none() => {
                masked.extend([Operand::Reg(other)].into_iter().chain(args.iter().copied()));
                op.merged().ok_or(none)?
            }
            Kept::Of(other) => {
                // The form that overwrites the operand whose lanes are kept.
                let same = Form { op, from: [0, 1, 2, 3], imm: ImmMap::Same };
                let keeps = |form: &&Form| {
                    let tied = form.op.tied(self.profile).map(|tied| usize::from(form.from[tied]));
                    tied.is_some_and(|tied| args[tied] == Operand::Reg(other))
                };
                let form = std::iter::once(&same).chain(op.info().forms).find(keeps).ok_or(none)?;
                masked.extend(form.from[..args.len()].iter().map(|&from| args[usize::from(from)]));
                form.op.merged().ok_or(none)?
            }
        };
        let args = if under == op { args } else { masked };
        Ok(self.emit(under, args, imm, site.region, site))
    }

    /// Whether a step takes a mask of its own that was computed under the site's.
    fn is_inside(&self, args: &[Operand<Reg>], op: MachOp, mask: Option<Reg>) -> bool {
        let masked = |op: MachOp| op.info().slots.first().is_some_and(|slot| slot.opmask);
        let Some(own) = args.first().and_then(|arg| arg.reg()).filter(|_| masked(op)) else { return false };
        let under = |inst: &Inst<Reg>| masked(inst.op) && inst.args.first().and_then(|arg| arg.reg()) == mask;
        definition(&self.out.insts, own).is_some_and(|inst| self.out.class(own) == Class::K && under(inst))
    }

    pub(super) fn emit(
        &mut self,
        op: MachOp,
        args: Operands,
        imm: Option<u8>,
        region: Option<u32>,
        site: &Site,
    ) -> Reg {
        if let Some(made) = args.first().and_then(|arg| arg.reg())
            && let Some(&maker) = self.makers.get(&made)
            && let Some(shortcut) = op.shortcut(maker.0)
        {
            self.shortened = true;
            return match shortcut {
                Shortcut::Same => maker.1,
                Shortcut::By(op) => {
                    let args = [Operand::Reg(maker.1)].into_iter().collect();
                    self.emit(op, args, None, region, site)
                }
            };
        }
        // Constants are nobody's.
        let region = region.filter(|_| op.info().kind != Kind::Const);
        let key = (op, args, imm, region);
        let again = !matches!(op.info().kind, Kind::Transfer | Kind::Control);
        if let Some(&reg) = self.done.get(&key).filter(|_| again) {
            return reg;
        }
        if op.info().dst.is_none() {
            let (args, span) = (key.1, site.span);
            self.out.insts.push(Inst { op, dst: None, args, imm, region, span });
            return NOWHERE;
        }
        let class = op.info().dst.map_or(Class::V, |view| view.class());
        let reg = self.out.new_reg(RegInfo { class, name: site.name.clone(), span: site.span });
        let args = key.1.clone();
        if let [Operand::Reg(operand)] = args[..] {
            self.makers.insert(reg, (op, operand));
        }
        self.out.insts.push(Inst { op, dst: Some(reg), args, imm, region, span: site.span });
        if op.info().kind != Kind::Const {
            self.scopes.last_mut().into_iter().for_each(|scope| scope.push(key.clone()));
        }
        self.done.insert(key, reg);
        reg
    }

    pub(super) fn constant(&mut self, ty: Ty, bits: u64, site: &Site) -> Reg {
        if ty.elem() != Elem::Bool {
            // Narrow elements stand side by side in 32 bits.
            let word =
                (0..32).step_by(ty.elem().bits().min(32) as usize).fold(0, |word, at| word | (bits as u32) << at);
            return self.lanes(&[word], site);
        }
        let truth = bits & 1 == 1;
        match self.idioms.masks.filter(|_| !self.racks) {
            None => self.lanes(&[if truth { u32::MAX } else { 0 }], site),
            Some(masks) => {
                let op = if truth { masks.all } else { masks.none };
                self.emit(op, Operands::new(), None, None, site)
            }
        }
    }

    /// A rack of these lanes, over and over.
    pub(super) fn lanes(&mut self, lanes: &[u32], site: &Site) -> Reg {
        let (region, site) = (site.region, Site { region: None, ..site.clone() });
        if let Some((op, imm)) = (self.idioms.constant)(lanes) {
            return self.emit(op, Operands::new(), imm, None, &site);
        }
        if let [word] = *lanes
            && let Some(spread) = self.idioms.spread
        {
            let (constant, splat) = spread(word);
            let literal = Operand::Literal(self.literal(word.to_le_bytes().to_vec()));
            let scalar = self.emit(constant, [literal].into_iter().collect(), None, None, &site);
            return self.emit(splat, [Operand::Reg(scalar)].into_iter().collect(), None, region, &site);
        }
        let bytes: Vec<u8> = lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect();
        let id = self.literal(bytes);
        let args = [Operand::Literal(id)].into_iter().collect();
        self.emit(self.idioms.load, args, None, None, &site)
    }

    pub(super) fn literal(&mut self, bytes: Vec<u8>) -> LiteralId {
        if let Some(&id) = self.literals.get(&bytes) {
            return id;
        }
        let id = LiteralId(self.out.literals.len() as u32);
        self.out.literals.push(bytes.clone());
        self.literals.insert(bytes, id);
        id
    }
}

/// Puts constants in front of all bodies: several may read one.
fn constants_first(f: &mut Function) {
    let (mut constants, others): (Vec<_>, Vec<_>) =
        f.insts.drain(..).partition(|inst| inst.op.info().kind == Kind::Const);
    constants.extend(others);
    f.insts = constants;
}

/// The register of each argument: those that stand in the caller's frame are brought from there first, when they are used.
fn arguments(source: &fused::Function, idioms: &Idioms, out: &mut Function) -> Vec<Reg> {
    let take = idioms.control.and_then(|control| control.words).map(|words| words.argument);
    let used = |position: u32| source.values.iter().any(|(_, v)| v.op == Op::Param && v.imm == Imm::Int(position));
    let mut arguments: Vec<Reg> = (0..out.params.len() as u32).map(Reg).collect();
    for (position, argument) in arguments.iter_mut().enumerate() {
        let span = out.params[position].span;
        if let Some(op) = take.filter(|_| out.class(*argument) == Class::S && used(position as u32)) {
            let info = RegInfo { class: Class::G, ..out.regs[position].clone() };
            let args = [Operand::Reg(*argument)].into_iter().collect();
            let register = out.new_reg(info);
            out.insts.push(Inst { op, dst: Some(register), args, imm: None, region: None, span });
            *argument = register;
        }
    }
    arguments
}

/// Drops the instructions whose results nothing reads.
fn drop_unread(f: &mut Function) {
    let mut read = vec![false; f.regs.len()];
    f.result.into_iter().for_each(|result| read[result.reg.0 as usize] = true);
    // What a body changes is read in its next trip.
    let mut defined = vec![false; f.regs.len()];
    for dst in f.insts.iter().filter_map(|inst| inst.dst) {
        read[dst.0 as usize] |= std::mem::replace(&mut defined[dst.0 as usize], true);
    }
    let mut kept: Vec<Inst<Reg>> = Vec::with_capacity(f.insts.len());
    for inst in f.insts.drain(..).rev() {
        if inst.dst.is_none_or(|dst| read[dst.0 as usize]) {
            inst.regs().for_each(|reg| read[reg.0 as usize] = true);
            kept.push(inst);
        }
    }
    kept.reverse();
    f.insts = kept;
}

/// The instruction that defines a register.
fn definition(insts: &[Inst<Reg>], reg: Reg) -> Option<&Inst<Reg>> {
    insts.iter().rev().find(|inst| inst.dst == Some(reg))
}
