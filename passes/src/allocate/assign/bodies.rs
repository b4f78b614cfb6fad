//! Assigning registers to a function with bodies, in its own order.
//!
//! A register is a value's for all its life, and what a loop reads lives to the loop's end, so that at the end of a trip
//! everything is where the next one looks for it. What a loop changes stays in one register; the value that it is to become
//! is computed there when the old one is not read any more, and copied otherwise. Constants that have a register for a whole
//! loop are loaded in front of it.
//!
//! ```text
//! %4 : g = move_long %1            g2 taken over from %1
//! loop                             loop
//!   ...                              ...
//!   %7 : g = add_long %4, 8    =>    g2 = add_long g2, 8
//!   %4 : g = move_long %7            compare_long g2, g3
//!   compare_long %7, %2              again 2
//! again 2
//! ```

use super::Assign;
use crate::pressure::Bodies;
use rake_ir::allocated::Function;
use rake_ir::machine::abi::Abi;
use rake_ir::machine::{Class, Flow, Inst, Kind, MachOp, Operand, PhysReg, WordIdioms};
use rake_ir::selected::Reg;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Assigns registers in the function's own order.
pub(super) fn run(mut assign: Assign, bodies: &Bodies, order: &[u32]) -> Option<Function> {
    let kept = Abi::of(assign.body.profile).kept_words;
    assign.kept = kept.iter().fold(0, |set, &n| set | 1 << n);
    assign.free[Class::G as usize] |= assign.kept;
    let ending = assign.body.ending(order, &assign.last);
    let (mut starts, mut ends) = (BTreeMap::<u32, Vec<Reg>>::new(), BTreeMap::<u32, Vec<Reg>>::new());
    for (reg, spans) in assign.residence.iter().enumerate() {
        for &(start, end) in spans {
            starts.entry(start).or_default().push(Reg(reg as u32));
            ends.entry(end).or_default().push(Reg(reg as u32));
        }
    }
    for (place, &at) in order.iter().enumerate() {
        let (inst, place) = (assign.body.inst(at), place as u32);
        let sets = inst.op.info().kind == Kind::Move && inst.dst.is_some_and(|dst| bodies.variables[dst.0 as usize]);
        match inst.op.flow() {
            _ if sets => assign.set(inst, place)?,
            Some(Flow::Loop) => {
                // The constants that have registers from here to the end of the loop.
                let constants = starts.get(&place).into_iter().flatten();
                constants.into_iter().try_for_each(|&reg| assign.load(reg, place, None))?;
                assign.out.push(marker(inst));
            }
            Some(flow) if flow != Flow::Compare && inst.args.is_empty() => assign.out.push(marker(inst)),
            _ => assign.inst(inst, assign.body.folds[at as usize], place)?,
        }
        ending[place as usize].iter().for_each(|&reg| assign.end(reg));
        ends.get(&place).into_iter().flatten().for_each(|&reg| assign.end(reg));
    }
    let (used, words) = (assign.used_kept, assign.idioms.control.and_then(|control| control.words));
    let f = assign.finish(order.len() as u32)?;
    let saved: Vec<PhysReg> = kept.iter().filter(|&&n| used >> n & 1 == 1).map(|&n| PhysReg::g(n)).collect();
    if saved.is_empty() { Some(f) } else { Some(saving(f, &saved, words?)) }
}

fn marker(inst: &Inst<Reg>) -> Inst<PhysReg> {
    Inst { op: inst.op, dst: None, args: SmallVec::new(), imm: inst.imm, region: inst.region, span: inst.span }
}

/// The function with registers of the caller's saved around it.
fn saving(mut f: Function, saved: &[PhysReg], words: WordIdioms) -> Function {
    let bare = |op, dst, args| Inst { op, dst, args, imm: None, region: None, span: f.span };
    let pushes = saved.iter().map(|&reg| bare(words.push, None, [Operand::Reg(reg)].into_iter().collect()));
    let pops = saved.iter().rev().map(|&reg| bare(words.pop, Some(reg), SmallVec::new()));
    let (pushes, pops): (Vec<_>, Vec<_>) = (pushes.collect(), pops.collect());
    let ret = f.insts.pop();
    f.insts.splice(0..0, pushes);
    f.insts.extend(pops);
    f.insts.extend(ret);
    f
}

impl Assign<'_> {
    /// The operation that copies all of a register of this class.
    pub(super) fn copies(&self, class: Class) -> Option<MachOp> {
        if self.body.bodies.is_some() { self.idioms.copy_whole(class) } else { self.idioms.copy(class) }
    }

    /// Whether a result may be written over a variable: it is what that becomes, and nobody reads the old value.
    pub(super) fn becomes(&self, dst: Option<Reg>, variable: Reg, place: u32) -> bool {
        let next = || self.body.bodies.as_ref()?.next[dst?.0 as usize];
        next().is_some_and(|(next, set)| next == variable && self.unread(variable, place, set))
    }

    fn unread(&self, variable: Reg, place: u32, set: u32) -> bool {
        self.body.bodies.as_ref().is_some_and(|bodies| bodies.unread(variable, place, set))
    }

    /// The register of the variable that a result becomes, when the result can be there from here on.
    pub(super) fn variable_of(&self, dst: Reg, place: u32) -> Option<PhysReg> {
        let (variable, set) = self.body.bodies.as_ref()?.next[dst.0 as usize]?;
        self.home[variable.0 as usize].filter(|_| self.unread(variable, place, set))
    }

    /// Copies an operand that the instruction leaves without its value, when somebody reads it later.
    pub(super) fn spare(&mut self, inst: &Inst<Reg>, place: u32) -> Option<Option<(usize, PhysReg)>> {
        let Some(slot) = inst.op.info().loses.map(usize::from) else { return Some(None) };
        let reg = inst.args.get(slot)?.reg()?;
        if self.dies(reg, place) && !self.borrowed[reg.0 as usize] {
            return Some(None);
        }
        let from = self.home[reg.0 as usize]?;
        let to = self.pick(from.class, None, place, place)?;
        self.take(to);
        self.copy(from, to, inst)?;
        Some(Some((slot, to)))
    }

    /// Gives a variable a value.
    fn set(&mut self, inst: &Inst<Reg>, place: u32) -> Option<()> {
        let (to, from) = (inst.dst?, inst.args.first()?.reg()?);
        self.load(from, place, None)?;
        let source = self.home[from.0 as usize]?;
        let dies = self.dies(from, place) && !self.borrowed[from.0 as usize];
        match self.home[to.0 as usize] {
            // It begins as what nobody else reads.
            None if dies => self.home[to.0 as usize] = Some(source),
            None => {
                let home = self.pick(source.class, None, place, self.last[to.0 as usize])?;
                self.take(home);
                self.home[to.0 as usize] = Some(home);
                self.copy(source, home, inst)?;
            }
            Some(home) if home != source => {
                self.copy(source, home, inst)?;
                if dies {
                    self.release(source);
                }
            }
            Some(_) => {}
        }
        if dies {
            self.home[from.0 as usize] = None;
        }
        if self.last[to.0 as usize] == place {
            self.end(to);
        }
        Some(())
    }

    fn copy(&mut self, from: PhysReg, to: PhysReg, inst: &Inst<Reg>) -> Option<()> {
        let args = [Operand::Reg(from)].into_iter().collect();
        let op = self.copies(from.class)?;
        self.out.push(Inst { op, dst: Some(to), args, imm: None, region: inst.region, span: inst.span });
        Some(())
    }

    /// What lived up to here lives no longer.
    fn end(&mut self, reg: Reg) {
        if let Some(home) = self.home[reg.0 as usize].take()
            && !self.borrowed[reg.0 as usize]
        {
            self.release(home);
        }
    }
}
