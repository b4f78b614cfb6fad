//! Obligations of runs, which may loop, branch, trap, save registers and touch memory, and nothing else that others may not.
//!
//! What each register holds is followed along every path (a forward data flow over the decoded instructions, to its
//! fixpoint): memory is accessed at addresses that came from the caller, in a parameter or in a descriptor, and nothing is
//! read that was not written on every path.

use super::counted::is_constant;
use super::decode::{Class, Instruction, Operand, Place, STACK};
use super::shapes::{Shape, Shapes};
use crate::facts::FunctionFacts;
use crate::obligations::{Obligation, Say};
use rake_ir::machine::abi::SYSTEM_V;
use rake_ir::machine::x86::{Space, X86};
use rake_ir::machine::{Class as File, Flow};
use rake_ir::types::Ty;
use std::collections::BTreeSet;

/// What a general register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// What the caller left there.
    Nothing,
    /// A number.
    Number,
    /// The bits of a mask: a number below the entries of a table.
    MaskBits,
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
}

/// What is known where an instruction starts.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    general: [Source; 16],
    /// The registers that were written, a bit each.
    racks: u32,
    masks: u32,
}

impl State {
    fn entry(facts: &FunctionFacts) -> State {
        let mut state = State { general: [Source::Nothing; 16], racks: 0, masks: 0 };
        for (ty, place) in facts.params.iter().zip(SYSTEM_V.places(facts.params.iter().copied())) {
            match place {
                Some(place) if place.class == File::G => {
                    let address = *ty == Ty::Address;
                    state.general[usize::from(place.number & 15)] =
                        if address { Source::Address } else { Source::Number };
                }
                Some(place) if place.class == File::V => state.racks |= 1 << place.number,
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
        self.masks &= other.masks;
    }

    fn holds(&self, class: Class, number: u8) -> bool {
        match class {
            Class::K => self.masks >> number & 1 == 1,
            Class::Xmm | Class::Ymm | Class::Zmm => self.racks >> number & 1 == 1,
            _ => self.general[usize::from(number & 15)] != Source::Nothing,
        }
    }

    fn set(&mut self, class: Class, number: u8, source: Source) {
        match class {
            Class::K => self.masks |= 1 << number,
            Class::Xmm | Class::Ymm | Class::Zmm => self.racks |= 1 << number,
            _ => self.general[usize::from(number & 15)] = source,
        }
    }

    fn lose(&mut self, class: Class, number: u8) {
        match class {
            Class::K => self.masks &= !(1 << number),
            Class::Xmm | Class::Ymm | Class::Zmm => self.racks &= !(1 << number),
            _ => self.general[usize::from(number & 15)] = Source::Nothing,
        }
    }

    fn source(&self, operand: Option<&Operand>) -> Source {
        match operand {
            Some(Operand::Register(class, number)) if class.is_general() => self.general[usize::from(number & 15)],
            _ => Source::Number,
        }
    }
}

/// Checks what only runs have.
pub fn check(shapes: &Shapes, facts: &FunctionFacts, insts: &[Instruction], say: &mut Say<'_>) {
    let targets = check_jumps(insts, say);
    check_flags(shapes, insts, &targets, say);
    let saved = check_saved(insts, say);
    check_ends(shapes.space(), insts, say);
    let frame = Frame::of(facts, saved.len());
    let states = states(shapes, facts, &frame, insts);
    for (inst, state) in insts.iter().zip(&states) {
        match state {
            Some(state) => check_instruction(shapes, inst, state, (&saved, &frame), say),
            None => say(inst.offset, Obligation::Jumps, format!("nothing leads to `{}`", inst.mnemonic)),
        }
    }
}

fn is(inst: &Instruction, name: &str) -> bool {
    inst.mnemonic == name
}

/// Where an instruction jumps to.
fn target(inst: &Instruction) -> Option<i64> {
    match *inst.operands() {
        [Operand::Target(target)] => Some(target),
        _ => None,
    }
}

fn index_of(insts: &[Instruction], offset: i64) -> Option<usize> {
    insts.binary_search_by_key(&offset, |inst| inst.offset.into()).ok()
}

/// Every jump leads to an instruction of the function behind its landing. Returns the targets.
fn check_jumps(insts: &[Instruction], say: &mut Say<'_>) -> BTreeSet<usize> {
    let mut targets = BTreeSet::new();
    for inst in insts {
        let Some(to) = target(inst) else { continue };
        match index_of(insts, to).filter(|&index| index > 0) {
            Some(index) => {
                targets.insert(index);
            }
            None => {
                say(inst.offset, Obligation::Jumps, format!("`{}` leads out of the function's code", inst.mnemonic))
            }
        }
    }
    targets
}

/// A condition is that of the comparison directly before it, and a comparison is made for a condition.
fn check_flags(shapes: &Shapes, insts: &[Instruction], targets: &BTreeSet<usize>, say: &mut Say<'_>) {
    let compares = |inst: &Instruction| shapes.of_decoded(inst).any(|form| form.op.info().flow == Some(Flow::Compare));
    let conditional = |inst: &Instruction| target(inst).is_some() && !is(inst, "jmp");
    for (index, inst) in insts.iter().enumerate() {
        let before = index.checked_sub(1).is_some_and(|before| compares(&insts[before])) && !targets.contains(&index);
        if conditional(inst) && !before {
            say(inst.offset, Obligation::Jumps, format!("`{}` has no comparison before it", inst.mnemonic));
        }
        if compares(inst) && !insts.get(index + 1).is_some_and(conditional) {
            say(inst.offset, Obligation::Jumps, format!("`{}` compares for nothing", inst.mnemonic));
        }
    }
}

/// Registers are saved first and brought back last, in the opposite order. Returns those.
fn check_saved(insts: &[Instruction], say: &mut Say<'_>) -> Vec<u8> {
    let number = |inst: &Instruction| match *inst.operands() {
        [Operand::Register(Class::Address, number)] => number,
        _ => u8::MAX,
    };
    let saved: Vec<u8> = insts.iter().skip(1).take_while(|inst| is(inst, "push")).map(number).collect();
    let back = insts.iter().rev().skip_while(|inst| is(inst, "ud2") || is(inst, "ret"));
    let restored: Vec<u8> = back.take_while(|inst| is(inst, "pop")).map(number).collect();
    let count = |name: &str| insts.iter().filter(|inst| is(inst, name)).count();
    let distinct: BTreeSet<u8> = saved.iter().copied().collect();
    let kept = saved.iter().all(|number| SYSTEM_V.kept_words.contains(number));
    if saved != restored || count("push") != saved.len() || count("pop") != saved.len() {
        say(0, Obligation::Saves, "what is pushed first is not what is popped last".into());
    } else if distinct.len() != saved.len() || !kept {
        say(0, Obligation::Saves, "a register is saved twice, or is not the caller's".into());
    }
    saved
}

fn check_ends(space: Space, insts: &[Instruction], say: &mut Say<'_>) {
    let last = insts.len().saturating_sub(1);
    let traps = insts.last().is_some_and(|inst| is(inst, "ud2"));
    let end = last.saturating_sub(usize::from(traps));
    for (index, inst) in insts.iter().enumerate() {
        if is(inst, "endbr64") != (index == 0) {
            say(inst.offset, Obligation::Landing, "`endbr64` is missing or in the middle".into());
        }
        if is(inst, "ret") != (index == end) || is(inst, "ud2") != (traps && index == last) {
            say(inst.offset, Obligation::Ending, "`ret` is missing, or something else than a trap is behind it".into());
        }
    }
    let zeroed: Vec<usize> = (0..insts.len()).filter(|&index| is(&insts[index], "vzeroupper")).collect();
    let ends = |at: usize| insts[at + 1..].iter().all(|inst| ["pop", "ret", "ud2"].contains(&inst.mnemonic.as_str()));
    let right = match zeroed[..] {
        [] => space == Space::Sse,
        [at] => space != Space::Sse && ends(at),
        _ => false,
    };
    if !right {
        say(0, Obligation::UpperHalves, "`vzeroupper` is missing or misplaced".into());
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
    /// Of a function that saves so many registers.
    fn of(facts: &FunctionFacts, saved: usize) -> Frame {
        let places = facts.params.iter().zip(SYSTEM_V.places(facts.params.iter().copied()));
        let in_frame = places.filter(|(_, place)| place.is_some_and(|place| place.class == File::S));
        let source = |ty: Ty| if ty == Ty::Address { Source::Address } else { Source::Number };
        Frame { start: 8 * (1 + saved as i32), words: in_frame.map(|(ty, _)| source(*ty)).collect() }
    }

    /// What stands at a place of the stack; `None` where no argument does.
    fn source(&self, place: Place) -> Option<Source> {
        let at = place.displacement.checked_sub(self.start).filter(|at| *at >= 0 && at % 8 == 0)? / 8;
        self.words.get(at as usize).copied().filter(|_| place.index.is_none())
    }
}

/// What is known before each instruction; `None` where no path leads.
fn states(shapes: &Shapes, facts: &FunctionFacts, frame: &Frame, insts: &[Instruction]) -> Vec<Option<State>> {
    let mut states: Vec<Option<State>> = vec![None; insts.len()];
    let mut todo = vec![(0, State::entry(facts))];
    while let Some((index, state)) = todo.pop() {
        let Some(inst) = insts.get(index) else { continue };
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
        let after = step(shapes, frame, inst, &merged);
        states[index] = Some(merged);
        let jump = target(inst).and_then(|to| index_of(insts, to));
        todo.extend(jump.map(|to| (to, after.clone())));
        if !["jmp", "ret", "ud2"].contains(&inst.mnemonic.as_str()) {
            todo.push((index + 1, after));
        }
    }
    states
}

/// What is known after an instruction.
fn step(shapes: &Shapes, frame: &Frame, inst: &Instruction, before: &State) -> State {
    let mut after = before.clone();
    let Some(form) = shapes.of_decoded(inst).next() else { return after };
    if let Some((class, number)) = lost(form, inst) {
        after.lose(class, number);
    }
    if let Some(Operand::Register(class, number)) = inst.operands().first().filter(|_| form.writes_register()) {
        after.set(*class, *number, result(inst, frame, *class, before));
    }
    if is(inst, "pop")
        && let [Operand::Register(class, number)] = *inst.operands()
    {
        after.lose(class, number);
    }
    after
}

/// The register that an instruction leaves without a value: the mask of a gather or scatter.
fn lost(form: &Shape, inst: &Instruction) -> Option<(Class, u8)> {
    form.op.info().loses?;
    match (inst.mask, inst.operands().last()) {
        (Some((number, _)), _) => Some((Class::K, number)),
        (None, Some(Operand::Register(class, number))) => Some((*class, *number)),
        _ => None,
    }
}

/// What an instruction leaves in a general register.
fn result(inst: &Instruction, frame: &Frame, class: Class, before: &State) -> Source {
    let operands = inst.operands();
    let (first, second) = (before.source(operands.first()), before.source(operands.get(1)));
    let pointer = |source: Source| matches!(source, Source::Address | Source::Loaded);
    match (inst.mnemonic.as_str(), operands.get(1)) {
        ("lea", Some(Operand::Memory { .. })) => Source::Table,
        ("lea", Some(Operand::Place(place))) => match before.general[usize::from(place.base & 15)] {
            base if pointer(base) => base,
            _ => Source::Number,
        },
        ("movmskps" | "vmovmskps", _) => Source::MaskBits,
        ("mov", Some(Operand::Register(..))) if class == Class::Address || second == Source::MaskBits => second,
        ("mov", Some(Operand::Place(place))) if place.base == STACK => frame.source(*place).unwrap_or(Source::Nothing),
        ("mov", Some(Operand::Place(_))) if class == Class::Address => Source::Loaded,
        ("add", _) if class == Class::Address && pointer(first) => first,
        ("add", _) if class == Class::Address && pointer(second) => second,
        ("sub", _) if class == Class::Address && pointer(first) && !pointer(second) => first,
        _ => Source::Number,
    }
}

fn check_instruction(
    shapes: &Shapes,
    inst: &Instruction,
    state: &State,
    (saved, frame): (&[u8], &Frame),
    say: &mut Say<'_>,
) {
    let name = inst.mnemonic.as_str();
    // What has no form is refused for that, and nothing is known of what it reads.
    let Some(form) = shapes.of_decoded(inst).next() else { return };
    let mut wrong: Vec<(Obligation, String)> = Vec::new();
    if form.writes_register()
        && let Some(Operand::Register(class, number)) = inst.operands().first()
        && class.is_general()
        && !SYSTEM_V.word_registers.contains(number)
        && !saved.contains(number)
    {
        wrong.push((Obligation::BoundaryRegisters, format!("`{name}` writes general register {number}")));
    }
    let skipped = usize::from(form.writes_register() && !form.reads_destination);
    let skipped = if is_constant(shapes, inst) || is(inst, "push") { inst.operands().len() } else { skipped };
    let table = shapes.of_decoded(inst).any(|form| matches!(form.op, X86::LoadEntry | X86::PackedEntry));
    for operand in &inst.operands()[skipped..] {
        match *operand {
            Operand::Register(class, number) => {
                if !state.holds(class, number) {
                    wrong.push((
                        Obligation::DefinedReads,
                        format!("`{name}` reads register {number}, which nothing wrote"),
                    ));
                }
                let copies = is(inst, "mov") && class == Class::Address;
                if class.is_general() && state.source(Some(operand)) == Source::Table && !copies {
                    let text = format!("`{name}` computes with the address in general register {number}");
                    wrong.push((Obligation::BoundaryRegisters, text));
                }
            }
            Operand::Place(place) if place.base == STACK && frame.source(place).is_some() => {}
            Operand::Place(place) if place.base == STACK => {
                wrong.push((Obligation::Saves, format!("`{name}` reads no argument from the stack")));
            }
            Operand::Place(place) => {
                wrong.extend(check_place(name, place, state, table).map(|text| (Obligation::Transfers, text)))
            }
            _ => {}
        }
    }
    if let Some((number, _)) = inst.mask
        && !state.holds(Class::K, number)
    {
        wrong.push((Obligation::DefinedReads, format!("`{name}` stands under k{number}, which nothing wrote")));
    }
    if form.op.info().loses.is_some() && form.writes_register() && !apart(inst) {
        wrong.push((Obligation::AllowedRegisters, format!("`{name}` has one register twice")));
    }
    wrong.into_iter().for_each(|(obligation, text)| say(inst.offset, obligation, text));
}

/// Whether a gather's racks are registers apart.
fn apart(inst: &Instruction) -> bool {
    let racks = inst.operands().iter().filter_map(|operand| match *operand {
        Operand::Register(_, number) => Some(number),
        Operand::Place(place) => place.index.map(|index| index.number),
        _ => None,
    });
    let all: Vec<u8> = racks.collect();
    all.iter().collect::<BTreeSet<_>>().len() == all.len()
}

/// What is wrong with a place: its base is the caller's address, or that of a table with the bits of a mask as its index.
fn check_place(name: &str, place: Place, state: &State, table: bool) -> Option<String> {
    let base = state.general[usize::from(place.base & 15)];
    let index = place.index.map(|index| match index.class {
        Class::Address => state.general[usize::from(index.number & 15)],
        class if state.holds(class, index.number) => Source::Number,
        _ => Source::Nothing,
    });
    if name == "lea" {
        let known = base != Source::Nothing && index != Some(Source::Nothing);
        return (!known || base == Source::Table).then(|| "`lea` reads what nothing wrote".into());
    }
    let right = match base {
        Source::Address | Source::Loaded => {
            matches!(index, None | Some(Source::Number | Source::MaskBits | Source::Loaded))
        }
        Source::Table => table && index == Some(Source::MaskBits),
        _ => false,
    };
    (!right).then(|| format!("`{name}` accesses memory at no address that the caller passed"))
}
