//! Obligations of runs, which may loop, branch, trap, save registers and touch memory, and nothing else that others may not.
//!
//! What each register holds is followed along every path (a forward data flow over the decoded instructions, to its
//! fixpoint): memory is accessed at addresses that came from the caller, in a parameter or in a descriptor, entries of
//! tables by numbers below their count, and nothing is read that was not written on every path.

use super::bounds::Bounds;
use super::decode::{Instruction, What};
use super::encoding::{Address, Fields};
use super::obligations::registers;
use super::{RACK_BYTES, TABLE_BYTES};
use crate::facts::FunctionFacts;
use crate::image::Image;
use crate::obligations::{Obligation, Say};
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::abi::AAPCS64;
use rake_ir::machine::{Class, Flow, PhysReg, View};
use rake_ir::types::Ty;
use std::collections::BTreeSet;

/// What a general register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// What the caller left there.
    Nothing,
    /// A number.
    Number,
    /// Eight bytes from memory: a column's address or a count.
    Loaded,
    /// An address from the caller, or one that was made of it.
    Address,
    /// The address of a table.
    Table,
}

impl Source {
    fn meet(self, other: Source) -> Source {
        match (self, other) {
            (a, b) if a == b => a,
            (Source::Nothing, _) | (_, Source::Nothing) => Source::Nothing,
            (Source::Address | Source::Loaded, Source::Address | Source::Loaded) => Source::Loaded,
            _ => Source::Number,
        }
    }

    const fn is_pointer(self) -> bool {
        matches!(self, Source::Address | Source::Loaded)
    }
}

/// What is known where an instruction starts.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    general: [Source; 32],
    /// The rack registers that were written, a bit each.
    racks: u32,
    bounds: Bounds,
}

impl State {
    fn entry(facts: &FunctionFacts) -> State {
        let mut state = State { general: [Source::Nothing; 32], racks: 0, bounds: Bounds::default() };
        for (ty, place) in facts.params.iter().zip(AAPCS64.places(facts.params.iter().copied())) {
            match place {
                Some(PhysReg { class: Class::G, number }) => {
                    state.general[usize::from(number & 31)] = source_of(*ty);
                }
                Some(PhysReg { class: Class::V, number }) => state.racks |= 1 << number,
                _ => {}
            }
        }
        state
    }

    fn meet(&mut self, other: &State) {
        for (here, there) in self.general.iter_mut().zip(other.general) {
            *here = here.meet(there);
        }
        self.racks &= other.racks;
        self.bounds.meet(&other.bounds);
    }

    fn source(&self, number: u8) -> Source {
        self.general[usize::from(number & 31)]
    }

    fn holds(&self, register: PhysReg) -> bool {
        match register.class {
            Class::V => self.racks >> (register.number & 31) & 1 == 1,
            _ => self.source(register.number) != Source::Nothing,
        }
    }
}

/// What a parameter is.
fn source_of(ty: Ty) -> Source {
    if ty == Ty::Address { Source::Address } else { Source::Number }
}

/// The registers that are pushed first.
pub fn saved(insts: &[Instruction]) -> Vec<u8> {
    let pushed = insts.iter().skip(1).take_while(|inst| inst.op() == Some(A64::Push));
    pushed.filter_map(|inst| inst.fields()?.args[0]).filter(|number| AAPCS64.kept_words.contains(number)).collect()
}

/// Checks what only runs have.
pub fn check(code: &Code<'_>, facts: &FunctionFacts, saved: &[u8], say: &mut Say<'_>) {
    let insts = code.insts;
    let targets = code.check_jumps(say);
    code.check_flags(&targets, say);
    check_saved(insts, saved, say);
    check_ends(insts, say);
    let frame = Frame::of(facts, saved.len());
    for (inst, state) in insts.iter().zip(code.states(facts, &frame)) {
        match state {
            Some(state) => check_instruction(inst, &state, &frame, say),
            None => say(inst.offset, Obligation::Jumps, format!("nothing leads to `{}`", inst.name())),
        }
    }
}

/// A function's instructions.
pub struct Code<'a> {
    /// The object.
    pub image: &'a Image<'a>,
    /// Where the function starts in its section.
    pub start: u32,
    /// The instructions.
    pub insts: &'a [Instruction],
}

impl Code<'_> {
    /// Which instruction one jumps to.
    fn target(&self, inst: &Instruction) -> Option<usize> {
        let What::Jump(_) = inst.what else { return None };
        let offset = inst.target? - i64::from(self.start);
        self.insts.binary_search_by_key(&offset, |inst| inst.offset.into()).ok()
    }

    /// Every jump leads to an instruction of the function behind its landing. Returns the targets.
    fn check_jumps(&self, say: &mut Say<'_>) -> BTreeSet<usize> {
        let mut targets = BTreeSet::new();
        for inst in self.insts.iter().filter(|inst| matches!(inst.what, What::Jump(_))) {
            match self.target(inst).filter(|&index| index > 0) {
                Some(index) => {
                    targets.insert(index);
                }
                None => {
                    say(inst.offset, Obligation::Jumps, format!("`{}` leads out of the function's code", inst.name()))
                }
            }
        }
        targets
    }

    /// A condition is that of the comparison directly before it, and a comparison is made for a condition.
    fn check_flags(&self, targets: &BTreeSet<usize>, say: &mut Say<'_>) {
        let compares = |inst: &Instruction| inst.op().is_some_and(|op| op.info().flow == Some(Flow::Compare));
        let conditional = |inst: &Instruction| matches!(inst.what, What::Jump(Some(_)));
        for (index, inst) in self.insts.iter().enumerate() {
            let before = index.checked_sub(1).is_some_and(|before| compares(&self.insts[before]));
            if conditional(inst) && (!before || targets.contains(&index)) {
                say(inst.offset, Obligation::Jumps, format!("`{}` has no comparison before it", inst.name()));
            }
            if compares(inst) && !self.insts.get(index + 1).is_some_and(conditional) {
                say(inst.offset, Obligation::Jumps, format!("`{}` compares for nothing", inst.name()));
            }
        }
    }

    /// What is known before each instruction; `None` where no path leads.
    fn states(&self, facts: &FunctionFacts, frame: &Frame) -> Vec<Option<State>> {
        let mut states: Vec<Option<State>> = vec![None; self.insts.len()];
        let mut todo = vec![(0, State::entry(facts))];
        while let Some((index, state)) = todo.pop() {
            let Some(inst) = self.insts.get(index) else { continue };
            let merged = match &states[index] {
                None => state,
                Some(known) => {
                    let mut merged = known.clone();
                    merged.meet(&state);
                    if merged == *known {
                        continue;
                    }
                    merged
                }
            };
            let after = self.step(frame, inst, &merged);
            states[index] = Some(merged);
            todo.extend(self.target(inst).map(|to| (to, after.clone())));
            if inst.what != What::Jump(None) && inst.what != What::Trap && inst.op() != Some(A64::Ret) {
                todo.push((index + 1, after));
            }
        }
        states
    }

    /// What is known after an instruction.
    fn step(&self, frame: &Frame, inst: &Instruction, before: &State) -> State {
        let mut after = before.clone();
        let Some(fields) = inst.fields() else { return after };
        let literal = inst.target.and_then(|at| usize::try_from(at).ok());
        after.bounds.follow(fields, literal.and_then(|at| self.image.text.get(at..at + RACK_BYTES)));
        match (fields.dst, fields.op.info().dst.map(View::class)) {
            (Some(dst), Some(Class::V)) => after.racks |= 1 << (dst & 31),
            (Some(dst), Some(_)) => after.general[usize::from(dst & 31)] = result(fields, frame, before),
            _ => {}
        }
        after
    }
}

/// What an instruction leaves in a general register.
fn result(fields: &Fields, frame: &Frame, before: &State) -> Source {
    let operand = |at: usize| fields.args[at].map_or(Source::Number, |number| before.source(number));
    let (first, second) = (operand(0), operand(1));
    match fields.op {
        A64::Pop => Source::Nothing,
        A64::Adr => Source::Table,
        A64::MovLong => first,
        A64::LdrLong => Source::Loaded,
        A64::TakeArgument => frame.source(fields).unwrap_or(Source::Nothing),
        A64::AddLong | A64::AddNumber | A64::AddShifted if first.is_pointer() => first,
        A64::AddLong if second.is_pointer() => second,
        A64::SubLong | A64::SubNumber if first.is_pointer() && !second.is_pointer() => first,
        _ => Source::Number,
    }
}

/// Registers are saved first and brought back last, in the opposite order.
fn check_saved(insts: &[Instruction], saved: &[u8], say: &mut Say<'_>) {
    let back = insts.iter().rev().skip_while(|inst| inst.what == What::Trap || inst.op() == Some(A64::Ret));
    let popped = back.take_while(|inst| inst.op() == Some(A64::Pop));
    let restored: Vec<u8> = popped.filter_map(|inst| inst.fields()?.dst).collect();
    let count = |op: A64| insts.iter().filter(|inst| inst.op() == Some(op)).count();
    let distinct: BTreeSet<u8> = saved.iter().copied().collect();
    if saved != restored || count(A64::Push) != saved.len() || count(A64::Pop) != saved.len() {
        say(0, Obligation::Saves, "what is pushed first is not what is popped last, or not the caller's".into());
    } else if distinct.len() != saved.len() {
        say(0, Obligation::Saves, "a register is saved twice".into());
    }
}

fn check_ends(insts: &[Instruction], say: &mut Say<'_>) {
    let last = insts.len().saturating_sub(1);
    let traps = insts.last().is_some_and(|inst| inst.what == What::Trap);
    let end = last.saturating_sub(usize::from(traps));
    for (index, inst) in insts.iter().enumerate() {
        if (inst.what == What::Landing) != (index == 0) {
            say(inst.offset, Obligation::Landing, "`bti c` is missing or in the middle".into());
        }
        let trap = inst.what == What::Trap;
        if (inst.op() == Some(A64::Ret)) != (index == end) || trap != (traps && index == last) {
            say(inst.offset, Obligation::Ending, "`ret` is missing, or something else than a trap is behind it".into());
        }
    }
}

/// The arguments that stand in the caller's frame.
struct Frame {
    /// Where the first one is, from the stack's top.
    start: i32,
    /// What each is.
    words: Vec<Source>,
}

impl Frame {
    /// Of a function that saves so many registers, each in sixteen bytes.
    fn of(facts: &FunctionFacts, saved: usize) -> Frame {
        let places = facts.params.iter().zip(AAPCS64.places(facts.params.iter().copied()));
        let in_frame = places.filter(|(_, place)| place.is_some_and(|place| place.class == Class::S));
        Frame { start: 16 * saved as i32, words: in_frame.map(|(ty, _)| source_of(*ty)).collect() }
    }

    /// What an instruction takes from the stack; `None` where no argument stands.
    fn source(&self, fields: &Fields) -> Option<Source> {
        let at = fields.number?.checked_sub(self.start).filter(|at| *at >= 0 && at % 8 == 0)? / 8;
        self.words.get(at as usize).copied()
    }
}

fn check_instruction(inst: &Instruction, state: &State, frame: &Frame, say: &mut Say<'_>) {
    let Some(fields) = inst.fields() else { return };
    let (name, op) = (inst.name(), fields.op);
    let mut wrong = |obligation, text: String| say(inst.offset, obligation, text);
    if op == A64::TakeArgument && frame.source(fields).is_none() {
        wrong(Obligation::Saves, format!("`{name}` reads no argument from the stack"));
    }
    // What is saved is the caller's.
    if op == A64::Push {
        return;
    }
    for register in registers(fields).0 {
        if !state.holds(register) {
            wrong(Obligation::DefinedReads, format!("`{name}` reads {register}, which nothing wrote"));
        }
    }
    for (at, number) in fields.args.iter().enumerate() {
        let general = op.info().slots.get(at).is_some_and(|slot| slot.view.class() == Class::G);
        let Some(number) = number.filter(|_| general) else { continue };
        let (table, entry) = (state.source(number) == Source::Table, op == A64::LdrEntry);
        if table != (entry && at == 0) && op != A64::MovLong {
            let text = format!("`{name}` takes general register {number}, an address, for a number or the reverse");
            wrong(Obligation::BoundaryRegisters, text);
        }
        if entry && at == 1 && state.bounds.word(number) as usize >= TABLE_BYTES / RACK_BYTES {
            let text = format!("`{name}` may read outside its table: general register {number} is not bounded");
            wrong(Obligation::ConstantLoads, text);
        }
    }
    if let Some(place) = fields.place.filter(|place| !is_callers(place, state)) {
        let text = format!("`{name}` accesses memory at {place:?}, no address that the caller passed");
        wrong(Obligation::Transfers, text);
    }
}

/// Whether a place is the caller's: its base an address from there, and its index a number.
fn is_callers(place: &Address, state: &State) -> bool {
    let index = place.index.map(|number| state.source(number));
    state.source(place.base).is_pointer() && matches!(index, None | Some(Source::Number | Source::Loaded))
}
