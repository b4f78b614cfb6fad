//! From front to back: a register for each value, a form for each instruction.

mod bodies;

use super::residence::Residence;
use crate::pressure::{Body, FILES, file, forms, registers_of};
use rake_ir::allocated::{Function, registers};
use rake_ir::machine::{Class, Ctx, Form, Idioms, Inst, LiteralId, Operand, PhysReg, RegisterIdioms, tables};
use rake_ir::profile::Profile;
use rake_ir::selected::{Outcome, Reg};
use rake_ir::types::Ty;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Assigns registers along an order; `None` when a place lacks one.
pub(super) fn run(body: &Body, order: &[u32], residence: &Residence) -> Option<Function> {
    let mut assign = Assign::new(body, order, residence)?;
    if let Some(bodies) = &body.bodies {
        return bodies::run(assign, bodies, order);
    }
    for (place, &at) in order.iter().enumerate() {
        assign.inst(body.inst(at), body.folds[at as usize], place as u32)?;
    }
    assign.finish(order.len() as u32)
}

struct Assign<'a> {
    body: &'a Body<'a>,
    residence: &'a Residence,
    idioms: &'static Idioms,
    registers: RegisterIdioms,
    /// The last place that reads each register.
    last: Vec<u32>,
    /// Where each value is while it lives.
    home: Vec<Option<PhysReg>>,
    /// The register that a value would best be in.
    hints: Vec<Option<PhysReg>>,
    /// The places, in order, whose results would best be where the caller awaits the function's.
    wanted: Vec<u32>,
    /// Free registers of each file, a bit each.
    free: [u32; FILES],
    /// Registers that the caller wants kept, and those of them that were taken.
    kept: u32,
    used_kept: u32,
    /// Values that are in the register of the variable that they become.
    borrowed: Vec<bool>,
    out: Vec<Inst<PhysReg>>,
    literals: Vec<Vec<u8>>,
    literal_ids: HashMap<Vec<u8>, LiteralId>,
}

/// A form of an instruction, and what it would cost.
struct Choice {
    form: Form,
    /// Whether the overwritten operand is read later, so that a copy is overwritten instead.
    copy: bool,
    /// Where the result would be, when the form decides it.
    at: Option<PhysReg>,
}

impl<'a> Assign<'a> {
    fn new(body: &'a Body, order: &[u32], residence: &'a Residence) -> Option<Assign<'a>> {
        let all = |class| registers(body.profile, class).iter().fold(0u32, |set, &n| set | 1 << n);
        let last = body.last_uses(order);
        let hints = hints(body, order, &last);
        let hinted = |&(_, &at): &(usize, &u32)| body.inst(at).dst.is_some_and(|dst| hints[dst.0 as usize].is_some());
        let wanted = order.iter().enumerate().filter(hinted).map(|(place, _)| place as u32).collect();
        let mut assign = Assign {
            body,
            residence,
            idioms: Idioms::of(body.profile),
            registers: Idioms::of(body.profile).registers?,
            home: vec![None; body.f.regs.len()],
            hints,
            last,
            wanted,
            free: Class::ALL.map(all),
            kept: 0,
            used_kept: 0,
            borrowed: vec![false; body.f.regs.len()],
            out: Vec::with_capacity(order.len() + 8),
            literals: Vec::new(),
            literal_ids: HashMap::new(),
        };
        let read = body.read_params(order);
        for (index, param) in body.f.params.iter().enumerate().filter(|(index, _)| read[*index]) {
            assign.home[index] = Some(param.place);
            assign.take(param.place);
        }
        Some(assign)
    }

    fn take(&mut self, reg: PhysReg) {
        if reg.class == Class::G {
            self.used_kept |= self.kept & 1 << reg.number;
        }
        self.free[file(reg.class)] &= !(1 << reg.number);
    }

    fn release(&mut self, reg: PhysReg) {
        self.free[file(reg.class)] |= 1 << reg.number;
    }

    fn is_free(&self, reg: PhysReg) -> bool {
        self.free[file(reg.class)] >> reg.number & 1 == 1
    }

    /// A free register for a value from this place to that: the hinted one, else the lowest, but not where the result
    /// is awaited when the value would be in the way there.
    fn pick(&self, class: Class, hint: Option<PhysReg>, from: u32, to: u32) -> Option<PhysReg> {
        if let Some(hint) = hint.filter(|&hint| hint.class == class && self.is_free(hint)) {
            return Some(hint);
        }
        let free = self.free[file(class)];
        let place = self.body.f.result.map(|result| result.place);
        let next = self.wanted.partition_point(|&at| at <= from);
        let place = place.filter(|place| place.class == class);
        let in_the_way = self.wanted.get(next).is_some_and(|&at| at < to);
        let others = place.filter(|_| in_the_way).map_or(free, |place| free & !(1 << place.number));
        let set = if others != 0 { others } else { free };
        let lost = if class == Class::G && set & !self.kept != 0 { set & !self.kept } else { set };
        let set = lost;
        (set != 0).then(|| PhysReg { class, number: set.trailing_zeros() as u8 })
    }

    /// Whether nothing reads a register after this place.
    fn dies(&self, reg: Reg, place: u32) -> bool {
        match self.body.constant(reg) {
            Some(_) => self.span(reg, place).is_none_or(|(_, end)| end == place),
            None => self.last[reg.0 as usize] == place,
        }
    }

    /// The stretch around a place over which a constant has a register.
    fn span(&self, reg: Reg, place: u32) -> Option<(u32, u32)> {
        let spans = &self.residence[reg.0 as usize];
        let after = spans.partition_point(|&(start, _)| start <= place);
        spans[..after].last().copied().filter(|&(_, end)| end >= place)
    }

    fn inst(&mut self, inst: &Inst<Reg>, fold: Option<u8>, place: u32) -> Option<()> {
        // A constant that has a register here is not read from memory.
        let fold =
            fold.filter(|&slot| inst.args[usize::from(slot)].reg().is_some_and(|r| self.span(r, place).is_none()));
        let folded = fold.and_then(|slot| inst.args[usize::from(slot)].reg());
        for reg in registers_of(inst).filter(|&reg| Some(reg) != folded) {
            self.load(reg, place, inst.dst)?;
        }
        let choice = self.choose(inst, fold, place)?;
        let lost = self.spare(inst, place)?;
        let dst = self.destination(inst, &choice, place)?;
        let mut args = SmallVec::new();
        for (at, &from) in choice.form.from[..inst.args.len()].iter().enumerate() {
            let operand = match inst.args[usize::from(from)] {
                Operand::Reg(_) if choice.form.op.tied(self.body.profile) == Some(at) => Operand::Reg(dst?),
                Operand::Reg(reg) if Some(from) == fold => self.memory(reg, &choice.form, at)?,
                Operand::Reg(reg) => match lost.filter(|lost| lost.0 == usize::from(from)) {
                    Some((_, copy)) => Operand::Reg(copy),
                    None => Operand::Reg(self.home[reg.0 as usize]?),
                },
                // Before allocation a literal stands only where the operand always is one.
                Operand::Literal(literal) => {
                    Operand::Literal(self.literal(self.body.f.literals.get(literal.0 as usize)?.clone()))
                }
                Operand::Broadcast(_) => return None,
                other => other.map(|reg| self.home[reg.0 as usize])?,
            };
            args.push(operand);
        }
        if let Some((_, copy)) = lost {
            self.release(copy);
        }
        let imm = choice.form.imm(inst.op, inst.imm, self.body.profile)?;
        self.out.push(Inst { op: choice.form.op, dst, args, imm, region: inst.region, span: inst.span });
        for reg in registers_of(inst) {
            // The next stretch of a constant loads it anew.
            if self.body.constant(reg).is_some() && self.dies(reg, place) {
                self.home[reg.0 as usize] = None;
            }
        }
        Some(())
    }

    /// Loads a constant whose stretch starts here.
    fn load(&mut self, reg: Reg, place: u32, reader: Option<Reg>) -> Option<()> {
        let Some(load) = self.body.constant(reg).filter(|_| self.home[reg.0 as usize].is_none()) else {
            return Some(());
        };
        let hint = reader.filter(|_| self.dies(reg, place)).and_then(|reader| self.hints[reader.0 as usize]);
        let end = self.span(reg, place).map_or(place, |(_, end)| end);
        let home =
            self.pick(self.body.f.class(reg), hint.or(self.hints[reg.0 as usize]), place.saturating_sub(1), end)?;
        self.take(home);
        self.home[reg.0 as usize] = Some(home);
        let (mut op, mut args, imm) = (load.op, SmallVec::new(), load.imm);
        // A number stands in the instruction itself.
        args.extend(load.args.iter().filter_map(|arg| match *arg {
            Operand::Number(number) => Some(Operand::Number(number)),
            _ => None,
        }));
        if let Some(literal) = load.args.first().and_then(|a| a.literal()) {
            let bytes = self.body.f.literals.get(literal.0 as usize)?;
            args.push(match self.registers.load_splat.filter(|_| bytes.len() == 4) {
                _ if tables::is_table(bytes) => Operand::Literal(self.literal(bytes.clone())),
                Some(splat) => {
                    op = splat;
                    Operand::Broadcast(self.literal(bytes.clone()))
                }
                None => Operand::Literal(self.whole(bytes)),
            });
        }
        self.out.push(Inst { op, dst: Some(home), args, imm, region: None, span: load.span });
        Some(())
    }

    /// The form that copies least, then the one that leaves the result where it is wanted, then the first.
    fn choose(&self, inst: &Inst<Reg>, fold: Option<u8>, place: u32) -> Option<Choice> {
        let hint = inst.dst.and_then(|dst| self.hints[dst.0 as usize]);
        let mut best: Option<((bool, bool), Choice)> = None;
        for form in forms(inst, self.body.profile) {
            if fold.is_some_and(|slot| !self.body.takes(inst, &form, usize::from(slot))) {
                continue;
            }
            let choice = match form.op.tied(self.body.profile) {
                None => Choice { form, copy: false, at: None },
                Some(tied) => {
                    let reg = inst.args[usize::from(form.from[tied])].reg()?;
                    let copy = !self.dies(reg, place) && !self.becomes(inst.dst, reg, place);
                    Choice { form, copy, at: self.home[reg.0 as usize].filter(|_| !copy) }
                }
            };
            let astray = hint.is_some() && choice.at.is_some() && choice.at != hint;
            let rank = (choice.copy, astray);
            if best.as_ref().is_none_or(|(other, _)| rank < *other) {
                best = Some((rank, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// Frees what dies here and finds the result's register; outer `None` when there is none.
    fn destination(&mut self, inst: &Inst<Reg>, choice: &Choice, place: u32) -> Option<Option<PhysReg>> {
        let hint = inst.dst.and_then(|dst| self.hints[dst.0 as usize]);
        let until = inst.dst.map_or(place, |dst| self.last[dst.0 as usize]);
        let mut copied = None;
        if choice.copy {
            let tied = choice.form.op.tied(self.body.profile)?;
            let from = self.home[inst.args[usize::from(choice.form.from[tied])].reg()?.0 as usize]?;
            let to = self.pick(from.class, hint, place, until)?;
            self.take(to);
            let op = self.copies(from.class)?;
            let args = [Operand::Reg(from)].into_iter().collect();
            self.out.push(Inst { op, dst: Some(to), args, imm: None, region: None, span: inst.span });
            copied = Some(to);
        }
        for reg in registers_of(inst) {
            if self.dies(reg, place)
                && !self.borrowed[reg.0 as usize]
                && let Some(home) = self.home[reg.0 as usize]
            {
                self.release(home);
            }
        }
        let Some(dst) = inst.dst else { return Some(None) };
        let variable = self.variable_of(dst, place);
        if let Some(home) = variable.filter(|&home| copied.is_none() && choice.at.is_none_or(|at| at == home)) {
            self.borrowed[dst.0 as usize] = true;
            self.home[dst.0 as usize] = Some(home);
            return Some(Some(home));
        }
        let home = match copied.or(choice.at) {
            Some(home) => home,
            None => self.pick(self.body.f.class(dst), hint, place, until)?,
        };
        match self.last[dst.0 as usize] > place {
            true => self.take(home),
            // Nothing reads it, so not even a copy made for it lives on.
            false => self.release(home),
        }
        self.home[dst.0 as usize] = Some(home);
        Some(Some(home))
    }

    /// A constant as a memory operand.
    fn memory(&mut self, reg: Reg, form: &Form, at: usize) -> Option<Operand<PhysReg>> {
        let load = self.body.constant(reg)?;
        let bytes = match load.args.first().and_then(|a| a.literal()) {
            Some(literal) => self.body.f.literals.get(literal.0 as usize)?.clone(),
            None => made(load, self.body.profile),
        };
        if bytes.len() == 4 && form.op.takes_broadcast(at, self.body.profile) {
            return Some(Operand::Broadcast(self.literal(bytes)));
        }
        Some(Operand::Literal(self.whole(&bytes)))
    }

    /// A literal of a whole rack.
    fn whole(&mut self, bytes: &[u8]) -> LiteralId {
        self.literal(bytes.iter().copied().cycle().take(self.body.profile.rack_bytes()).collect())
    }

    fn literal(&mut self, bytes: Vec<u8>) -> LiteralId {
        if let Some(&id) = self.literal_ids.get(&bytes) {
            return id;
        }
        let id = LiteralId(self.literals.len() as u32);
        self.literals.push(bytes.clone());
        self.literal_ids.insert(bytes, id);
        id
    }

    /// Brings the result to its place and returns.
    fn finish(mut self, end: u32) -> Option<Function> {
        let f = self.body.f;
        let span = f.result.map_or(f.span, |result| f.regs[result.reg.0 as usize].span);
        let bare = |op, dst, args| Inst { op, dst, args, imm: None, region: None, span };
        if let Some(Outcome { reg, place, .. }) = f.result {
            self.load(reg, end, None)?;
            let home = self.home[reg.0 as usize]?;
            if home != place {
                let args = [Operand::Reg(home)].into_iter().collect();
                self.out.push(bare(self.idioms.copy(home.class)?, Some(place), args));
            }
        }
        if let Some(op) = self.registers.leave_racks
            && f.result.is_none_or(|result| matches!(result.ty, Ty::Uniform(_)))
        {
            self.out.push(bare(op, None, SmallVec::new()));
        }
        self.out.push(bare(self.registers.ret, None, SmallVec::new()));
        Some(Function {
            name: f.name.clone(),
            span: f.span,
            params: f.params.clone(),
            literals: self.literals,
            insts: self.out,
            result: f.result.map(Outcome::returned),
        })
    }
}

/// The bytes of a constant that an instruction makes without a literal: one element when all are alike.
fn made(inst: &Inst<Reg>, profile: Profile) -> Vec<u8> {
    let lanes = profile.lanes_of_bits(32);
    let bits = (inst.op.info().eval)(Ctx { lanes, imm: inst.imm.unwrap_or(0) }, &[]);
    let alike = bits[..lanes].iter().all(|&word| word == bits[0]);
    bits[..if alike { 1 } else { lanes }].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Wishes, from back to front: the result's place for the result, and along the operands that are overwritten on the way
/// to it, so that the last instruction leaves it there.
fn hints(body: &Body, order: &[u32], last: &[u32]) -> Vec<Option<PhysReg>> {
    let mut hints = vec![None; body.f.regs.len()];
    body.f.result.into_iter().for_each(|result| hints[result.reg.0 as usize] = Some(result.place));
    for (place, &at) in order.iter().enumerate().rev() {
        let inst = body.inst(at);
        let Some(hint) = inst.dst.and_then(|dst| hints[dst.0 as usize]) else { continue };
        let mut heir: Option<Reg> = None;
        for form in forms(inst, body.profile) {
            let Some(tied) = form.op.tied(body.profile) else { continue };
            let Some(reg) = inst.args[usize::from(form.from[tied])].reg() else { continue };
            if last[reg.0 as usize] != place as u32 || body.constant(reg).is_some() {
                continue;
            }
            match body.f.params.get(reg.0 as usize) {
                // It is there already.
                Some(param) if param.place == hint => {
                    heir = None;
                    break;
                }
                Some(_) => {}
                // The youngest is the least in the way.
                None if heir.is_none_or(|other| other.0 < reg.0) => heir = Some(reg),
                None => {}
            }
        }
        if let Some(heir) = heir {
            hints[heir.0 as usize] = Some(hint);
        }
    }
    hints
}
