//! Runs: code with effects keeps its order, and a value is computed where it is consumed only where nothing stands between
//! that it must not pass.
//!
//! ```text
//! %7 : v = v128_load [%0 + 16]           local.get 2
//! %8 : v = f32x4_add %7, %5              local.get 0
//! v128_store [%2], %8              =>    v128_load offset 16
//!                                        local.get 5
//!                                        f32x4_add
//!                                        v128_store
//! ```
//!
//! Stores, markers and what is set again divide a function into segments. A value that is read once, in its own segment and
//! region, is computed at its reader; others stay where they are and go into locals. A comparison becomes the test that its
//! marker takes. A local lives from its first set to its last get, or to the end of the loops that it outlives.

use super::{Stacked, taken};
use rake_ir::machine::wasm::Wasm;
use rake_ir::machine::{Class, Cond, Flow, Inst, Kind, LiteralId, MachOp, Operand, Slot, View};
use rake_ir::selected::{self, Reg};
use rake_ir::stacked::Code;
use std::collections::{BTreeMap, HashMap};

/// A run's code, whose locals are still registers, and its literals.
pub(super) struct Linear<'a> {
    f: &'a selected::Function,
    pub code: Vec<Stacked>,
    pub literals: Vec<Vec<u8>>,
    /// The instruction that defines each register, when one alone does.
    definitions: Vec<Option<usize>>,
    /// How often each register is read, and by which instruction last.
    reads: Vec<(u32, usize)>,
    /// Which registers are set more than once.
    pub variables: Vec<bool>,
    /// The segment of each instruction.
    segments: Vec<u32>,
    /// Of each `if` that is open, whether it has no `else` yet.
    alone: Vec<bool>,
}

impl<'a> Linear<'a> {
    pub fn new(f: &'a selected::Function) -> Linear<'a> {
        let count = f.regs.len();
        let (mut definitions, mut variables) = (vec![None; count], vec![false; count]);
        let mut reads = vec![(0, 0); count];
        for (at, inst) in f.insts.iter().enumerate() {
            taken(inst).for_each(|reg| reads[reg.0 as usize] = (reads[reg.0 as usize].0 + 1, at));
            if let Some(dst) = inst.dst {
                let dst = dst.0 as usize;
                variables[dst] |= definitions[dst].is_some();
                definitions[dst] = Some(at);
            }
        }
        let mut segment = 0;
        let divides = |inst: &Inst<Reg>| {
            let marks = inst.op.flow().is_some_and(|flow| flow != Flow::Compare);
            marks || inst.op.info().writes || inst.dst.is_some_and(|dst| variables[dst.0 as usize])
        };
        let of = |inst: &Inst<Reg>| {
            let own = segment;
            segment += u32::from(divides(inst));
            own
        };
        let segments = f.insts.iter().map(of).collect();
        let (code, literals) = (Vec::with_capacity(2 * f.insts.len()), f.literals.clone());
        Linear { f, code, literals, definitions, reads, variables, segments, alone: Vec::new() }
    }

    pub fn emit(&mut self) {
        let mut compared = None;
        for (at, inst) in self.f.insts.iter().enumerate() {
            match (inst.op.flow(), inst.dst) {
                (Some(Flow::Compare), _) => compared = Some(inst),
                (Some(flow), _) => self.marker(inst, flow, compared.take()),
                (None, Some(dst)) if self.is_dead(dst) || self.waits(at, dst) || self.is_again(dst) => {}
                (None, dst) => {
                    self.tree(inst);
                    if let Some(dst) = dst {
                        self.local(Code::Set(dst.0), dst);
                    }
                }
            }
        }
    }

    fn is_dead(&self, reg: Reg) -> bool {
        self.reads[reg.0 as usize].0 == 0
    }

    fn definition(&self, reg: Reg) -> Option<&'a Inst<Reg>> {
        self.definitions[reg.0 as usize].filter(|_| !self.variables[reg.0 as usize]).map(|at| &self.f.insts[at])
    }

    /// Whether a value is computed again for each reader, as [`super::Graph::is_again`] says.
    fn is_again(&self, reg: Reg) -> bool {
        let scalar = self.f.class(reg) != Class::V;
        scalar && self.definition(reg).is_some_and(|inst| inst.op.info().kind == Kind::Const)
    }

    /// Whether the value that the instruction `at` computes is left to its one reader.
    fn waits(&self, at: usize, reg: Reg) -> bool {
        let (count, reader) = self.reads[reg.0 as usize];
        let (inst, by) = (&self.f.insts[at], &self.f.insts[reader]);
        let together = inst.region == by.region || inst.op.info().kind == Kind::Const && inst.region.is_none();
        count == 1 && !self.variables[reg.0 as usize] && self.segments[at] == self.segments[reader] && together
    }

    /// An instruction behind its operands.
    fn tree(&mut self, inst: &Inst<Reg>) {
        let mut offset = 0;
        for (arg, slot) in inst.args.iter().zip(inst.op.info().slots) {
            match *arg {
                Operand::Reg(reg) => self.value(reg),
                Operand::Number(number) => self.number(number, slot, inst),
                Operand::Memory(address) => {
                    self.value(address.base);
                    offset = address.disp as u32;
                }
                _ => {}
            }
        }
        if inst.op.info().kind == Kind::Move {
            return;
        }
        let literals = inst.args.iter().filter_map(|arg| arg.literal()).collect();
        let note = inst.dst.and_then(|dst| self.f.regs[dst.0 as usize].name.clone());
        let code = Code::Op { op: inst.op, literals, imm: inst.imm, offset };
        self.code.push(Stacked { code, region: inst.region, note, span: inst.span });
    }

    fn value(&mut self, reg: Reg) {
        let at = self.definitions[reg.0 as usize];
        match (at, self.definition(reg)) {
            (Some(at), Some(inst)) if self.waits(at, reg) || self.is_again(reg) => self.tree(inst),
            _ => self.local(Code::Get(reg.0), reg),
        }
    }

    fn number(&mut self, number: i32, slot: &Slot, inst: &Inst<Reg>) {
        let (op, bytes) = match slot.view {
            View::Wide => (Wasm::I64Const, i64::from(number).to_le_bytes().to_vec()),
            _ => (Wasm::I32Const, number.to_le_bytes().to_vec()),
        };
        let found = self.literals.iter().position(|literal| *literal == bytes);
        let id = found.unwrap_or_else(|| {
            self.literals.push(bytes);
            self.literals.len() - 1
        });
        let literals = [LiteralId(id as u32)].into_iter().collect();
        let code = Code::Op { op: MachOp::Wasm(op), literals, imm: None, offset: 0 };
        self.code.push(Stacked { code, region: None, note: None, span: inst.span });
    }

    fn local(&mut self, code: Code, reg: Reg) {
        let info = &self.f.regs[reg.0 as usize];
        self.code.push(Stacked { code, region: None, note: info.name.clone(), span: info.span });
    }

    fn plain(&mut self, code: Code, inst: &Inst<Reg>) {
        self.code.push(Stacked { code, region: None, note: None, span: inst.span });
    }

    fn marker(&mut self, inst: &Inst<Reg>, flow: Flow, compared: Option<&Inst<Reg>>) {
        match flow {
            Flow::Loop => self.plain(Code::Loop, inst),
            Flow::Else => {
                self.alone.last_mut().into_iter().for_each(|alone| *alone = false);
                self.plain(Code::Else, inst);
            }
            Flow::End => {
                if self.alone.pop() == Some(true) {
                    self.plain(Code::Else, inst);
                }
                self.plain(Code::End, inst);
            }
            Flow::If => {
                self.test(compared, inst.cond());
                self.plain(Code::If, inst);
                self.alone.push(true);
            }
            Flow::Again => {
                self.test(compared, inst.cond());
                self.plain(Code::Again, inst);
                self.plain(Code::End, inst);
            }
            Flow::TrapUnless => {
                self.test(compared, inst.cond().map(Cond::negated));
                for code in [Code::If, Code::Trap, Code::Else, Code::End] {
                    self.plain(code, inst);
                }
            }
            Flow::Compare | Flow::Push | Flow::Pop | Flow::Return => {}
        }
    }

    /// What was compared, as a word that tells whether a condition holds.
    fn test(&mut self, compared: Option<&Inst<Reg>>, cond: Option<Cond>) {
        let (Some(compared), Some(cond)) = (compared, cond) else { return };
        let slots = compared.op.info().slots;
        for (arg, slot) in compared.args.iter().zip(slots) {
            match *arg {
                Operand::Reg(reg) => self.value(reg),
                Operand::Number(number) => self.number(number, slot, compared),
                _ => {}
            }
        }
        let long = slots.first().is_some_and(|slot| slot.view == View::Wide);
        let op = MachOp::Wasm(Wasm::test(long, cond));
        self.plain(Code::Op { op, literals: Default::default(), imm: None, offset: 0 }, compared);
    }
}

/// Gives the values in `code`, whose locals are still registers, locals; returns the classes of those beyond the parameters,
/// which are not in order yet. Each has its local from its first set to its last get.
pub(super) fn assign(f: &selected::Function, code: &mut [Stacked]) -> Vec<Class> {
    let params = f.params.len();
    let last = last_needed(code, params as u32);
    let mut locals: Vec<(Class, Option<usize>)> =
        (0..params).map(|param| (f.params[param].place.class, last.get(&(param as u32)).copied())).collect();
    let mut places: HashMap<u32, u32> = (0..params as u32).map(|param| (param, param)).collect();
    for (at, inst) in code.iter_mut().enumerate() {
        let (Code::Get(local) | Code::Set(local) | Code::Tee(local)) = &mut inst.code else { continue };
        let place = *places.entry(*local).or_insert_with(|| {
            let (class, last) = (f.regs[*local as usize].class, last[local]);
            let free = |(of, until): &(Class, Option<usize>)| *of == class && until.is_none_or(|until| until < at);
            let place = locals.iter().position(free).unwrap_or(locals.len());
            match locals.get_mut(place) {
                Some(local) => local.1 = Some(last),
                None => locals.push((class, Some(last))),
            }
            place as u32
        });
        *local = place;
    }
    locals.into_iter().map(|(class, _)| class).collect()
}

/// The last instruction for which each local has to hold what it does; those of parameters do from before the first.
fn last_needed(code: &[Stacked], params: u32) -> BTreeMap<u32, usize> {
    let mut lives: BTreeMap<u32, (Option<usize>, usize)> = BTreeMap::new();
    let (mut loops, mut open) = (Vec::new(), Vec::new());
    for (at, inst) in code.iter().enumerate() {
        match inst.code {
            Code::Get(local) | Code::Set(local) | Code::Tee(local) => {
                let first = (local >= params).then_some(at);
                lives.entry(local).or_insert((first, at)).1 = at;
            }
            Code::Loop | Code::If => open.push((at, inst.code == Code::Loop)),
            // Inner loops come first.
            Code::End => loops.extend(open.pop().filter(|(_, looped)| *looped).map(|(from, _)| (from, at))),
            _ => {}
        }
    }
    let last = |(local, (first, mut last)): (u32, (Option<usize>, usize))| {
        for &(from, to) in &loops {
            if first.is_none_or(|first| first < from) && (from..=to).contains(&last) {
                last = to;
            }
        }
        (local, last)
    };
    lives.into_iter().map(last).collect()
}
