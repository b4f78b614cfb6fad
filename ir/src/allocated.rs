//! `allocated`: physical registers, final order, no spill; one instruction here is one instruction of the object.
//!
//! Since `selected`: registers are the machine's, copies and constant loads stand where they happen, literals are folded
//! into their readers as memory operands where that is best, forms are chosen, and the function ends in `ret`.
//!
//! Invariants: operands follow the table, a tied operand is the destination; nothing is read before it is written;
//! literals hold exactly the bytes that are read (one element for a broadcast, a table for an address, else a whole
//! rack); the stack holds what the function saved for its caller, and nothing else.

use crate::machine::abi::{Abi, check_places};
use crate::machine::bits::Bits;
use crate::machine::flow::{Paths, check_flow};
use crate::machine::run::{Machine, Registers};
use crate::machine::{Class, Flow, Inst, LiteralId, Mem, Operand, PhysReg, View, tables};
use crate::memory::Memory;
use crate::profile::Profile;
use crate::selected::{check_place, check_regions, check_shape};
use crate::span::Span;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::machine::text::{print_allocated as print, read_allocated as read};
pub use crate::selected::{Halt, Param, Returned};

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name, which is its C symbol.
    pub name: SmolStr,
    /// Its definition's name in source.
    pub span: Span,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The bytes of its literals: 4 for one element, a whole rack (aligned to its size), or a table; distinct.
    pub literals: Vec<Vec<u8>>,
    /// The instructions in order; the last is `ret`.
    pub insts: Vec<Inst<PhysReg>>,
    /// What it returns; a run returns nothing.
    pub result: Option<Returned>,
}

/// A program of `allocated`.
pub type Program = crate::program::Program<Function>;

impl Function {
    /// Vector arithmetic instructions: moves and constant loads not counted.
    pub fn arithmetic(&self) -> usize {
        self.insts.iter().filter(|i| i.op.info().kind.is_arithmetic()).count()
    }

    /// The distinct registers of a class that it reads or writes.
    pub fn registers_used(&self, class: Class) -> usize {
        let params = self.params.iter().map(|p| p.place);
        let written = self.insts.iter().filter_map(|i| i.dst);
        params.chain(written).filter(|r| r.class == class).collect::<BTreeSet<_>>().len()
    }
}

/// The registers of a class that the profile has for a function; none where functions have no machine registers.
pub fn registers(profile: Profile, class: Class) -> &'static [u8] {
    let abi = Abi::of(profile);
    match class {
        Class::V => &abi.rack_registers[..(profile.info().rack_registers as usize).min(abi.rack_registers.len())],
        Class::K if profile.native_masks() => abi.mask_registers,
        Class::G => abi.word_registers,
        Class::S => abi.frame(),
        Class::K | Class::F | Class::L => &[],
    }
}

/// Every violation of the invariants, one line each.
///
/// # Errors
/// The violations.
pub fn check(program: &Program) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for function in &program.functions {
        let mut say = |text: String| errors.push(format!("{}: {text}", function.name));
        check_places(program.profile, &function.params, function.result, &mut say);
        check_function(function, program.profile, &mut say);
        check_flow(&function.insts, &mut say);
        check_regions(&function.insts, &mut say);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_function(f: &Function, profile: Profile, say: &mut impl FnMut(String)) {
    let rack_bytes = profile.rack_bytes();
    let mut paths = Paths::new(f.params.iter().map(|p| p.place).collect::<BTreeSet<PhysReg>>());
    let mut tables: BTreeMap<PhysReg, LiteralId> = BTreeMap::new();
    let whole = |l: &&Vec<u8>| [4, rack_bytes].contains(&l.len()) || tables::of(l).is_some();
    for literal in f.literals.iter().filter(|l| !whole(l)) {
        say(format!("a literal of {} bytes", literal.len()));
    }
    for (at, inst) in f.insts.iter().enumerate() {
        let row = inst.op.info();
        let mut say = |text: String| say(format!("instruction {at} ({}): {text}", row.name));
        check_shape(inst, profile, &mut say);
        if let Some(tied) = inst.op.tied(profile)
            && inst.args.get(tied).and_then(|a| a.reg()) != inst.dst
        {
            say("the tied operand is not the destination".into());
        }
        for (slot, arg) in inst.args.iter().enumerate() {
            if let Err(text) = check_operand(f, profile, inst, slot, *arg, &paths.here) {
                say(text);
            }
        }
        check_table(inst, &mut tables, &mut say);
        let memory = inst.args.iter().filter(|a| a.literal().is_some() || a.address().is_some()).count();
        if memory > 1 {
            say("more than one operand in memory".into());
        }
        if let (Some(r), Some(view)) = (inst.dst, row.dst) {
            if r.class != view.class() {
                say(format!("{r} is of another class"));
            }
            let restored = row.flow == Some(Flow::Pop) && Abi::of(profile).kept_words.contains(&r.number);
            if !restored && !writable(f, profile, r) {
                say(format!("{r} is not a register to write on {profile}"));
            }
            paths.here.insert(r);
        }
        check_gather(inst, &mut say);
        // What an instruction leaves without a value is not read again.
        if let Some(lost) = row.loses.and_then(|slot| inst.args.get(usize::from(slot))?.reg()) {
            paths.here.remove(&lost);
        }
        paths.pass(inst.op.flow());
    }
    if f.insts.last().is_none_or(|i| i.op.name() != "ret") {
        say("does not end in ret".into());
    }
    if let Some(Returned { place, .. }) = f.result
        && !paths.here.contains(&place)
    {
        say(format!("the result's register {place} is never written"));
    }
    check_saved(f, say);
}

/// A gather's result, indices and mask are registers apart: the machine traps where two are one.
fn check_gather(inst: &Inst<PhysReg>, say: &mut impl FnMut(String)) {
    let slots = inst.op.info().slots;
    let gathers = inst.dst.filter(|_| slots.iter().any(|slot| slot.mem == Mem::Places));
    let Some(dst) = gathers else { return };
    let index = inst.args.iter().find_map(|arg| arg.address()).and_then(|address| address.index);
    let mask = inst.op.info().loses.and_then(|slot| inst.args.get(usize::from(slot))?.reg());
    if index == Some(dst) || mask == Some(dst) || mask == index {
        say("its registers are not apart".into());
    }
}

/// Whether a function may write a register: one that the caller expects to be lost, or one that it has saved.
fn writable(f: &Function, profile: Profile, register: PhysReg) -> bool {
    registers(profile, register.class).contains(&register.number) || saved(f).any(|saved| saved == register)
}

/// The registers that a function saves.
pub fn saved(f: &Function) -> impl Iterator<Item = PhysReg> {
    let pushes = f.insts.iter().take_while(|inst| inst.op.flow() == Some(Flow::Push));
    pushes.filter_map(|inst| inst.args.first().and_then(|arg| arg.reg()))
}

/// Registers are saved before everything else and brought back, the last first, at the end.
fn check_saved(f: &Function, say: &mut impl FnMut(String)) {
    let is = |flow: Flow| move |inst: &&Inst<PhysReg>| inst.op.flow() == Some(flow);
    let mut saved: Vec<PhysReg> = saved(f).collect();
    let returns = usize::from(f.insts.last().is_some_and(|inst| inst.op.flow() == Some(Flow::Return)));
    let pops = f.insts.iter().rev().skip(returns).take_while(is(Flow::Pop));
    let restored: Vec<PhysReg> = pops.filter_map(|inst| inst.dst).collect();
    if saved != restored {
        say("what is saved is not brought back in the opposite order".into());
    }
    let count = |flow| f.insts.iter().filter(is(flow)).count();
    if count(Flow::Push) != saved.len() || count(Flow::Pop) != saved.len() {
        say("registers are saved or brought back in the middle".into());
    }
    saved.sort();
    saved.dedup();
    if saved.len() != restored.len() {
        say("a register is saved twice".into());
    }
}

/// An entry is read through a register that holds the address of the table that it names.
fn check_table(inst: &Inst<PhysReg>, tables: &mut BTreeMap<PhysReg, LiteralId>, say: &mut impl FnMut(String)) {
    let slots = inst.op.info().slots;
    let table = slots.iter().position(|slot| slot.mem == Mem::Table).and_then(|at| inst.args.get(at)?.literal());
    let address = slots.first().filter(|slot| slot.view == View::Address).and_then(|_| inst.args.first()?.reg());
    if let Some(address) = address
        && tables.get(&address) != table.as_ref()
    {
        say(format!("{address} does not hold the table's address"));
    }
    if let Some(dst) = inst.dst {
        tables.remove(&dst);
        if let (Some(table), None) = (table, address) {
            tables.insert(dst, table);
        }
    }
}

fn check_operand(
    f: &Function,
    profile: Profile,
    inst: &Inst<PhysReg>,
    slot: usize,
    arg: Operand<PhysReg>,
    written: &BTreeSet<PhysReg>,
) -> Result<(), String> {
    let Some(row) = inst.op.info().slots.get(slot) else { return Ok(()) };
    let rack_bytes = profile.rack_bytes();
    let literal = arg.literal().map(|l| f.literals.get(l.0 as usize).map_or(&[][..], Vec::as_slice));
    let (bytes, is_table) = (literal.map(<[u8]>::len), literal.is_some_and(tables::is_table));
    match arg {
        Operand::Reg(_) if row.mem.is_literal() => Err("needs a literal".into()),
        Operand::Reg(_) if row.mem.is_address() || row.mem == Mem::Constant => Err("takes no register".into()),
        // What the caller's register holds is saved, not read.
        Operand::Reg(r) if inst.op.flow() == Some(Flow::Push) && Abi::of(profile).kept_words.contains(&r.number) => {
            Ok(())
        }
        Operand::Reg(r) if r.class != row.view.class() => Err(format!("{r} is of another class")),
        Operand::Reg(r) if !written.contains(&r) => Err(format!("{r} is read before it is written")),
        Operand::Reg(_) => Ok(()),
        Operand::Literal(_) if row.mem == Mem::Table && is_table => Ok(()),
        Operand::Literal(_) if row.mem == Mem::Table => Err("the literal is not a table".into()),
        Operand::Literal(_) if bytes != Some(rack_bytes) => Err("the literal is not a whole rack".into()),
        Operand::Literal(_) if inst.op.takes_rack_literal(slot, profile) => Ok(()),
        Operand::Broadcast(_) if bytes != Some(4) => Err("the literal is not one element".into()),
        Operand::Broadcast(_) if inst.op.takes_broadcast(slot, profile) => Ok(()),
        Operand::Literal(_) | Operand::Broadcast(_) => Err(format!("operand {slot} cannot stand in memory")),
        _ => check_place(profile, inst, slot, arg, &|r: PhysReg, class| match written.contains(&r) {
            _ if r.class != class => Err(format!("{r} is of another class")),
            false => Err(format!("{r} is read before it is written")),
            true => Ok(()),
        }),
    }
}

/// The register files of an evaluation.
struct Files([[Bits; 32]; Class::ALL.len()]);

impl Registers<PhysReg> for Files {
    fn get(&self, register: PhysReg) -> Option<Bits> {
        self.0[register.class as usize].get(usize::from(register.number)).copied()
    }

    fn set(&mut self, register: PhysReg, bits: Bits) -> Option<()> {
        *self.0[register.class as usize].get_mut(usize::from(register.number))? = bits;
        Some(())
    }
}

/// Runs a function on the contents of its parameters' registers and on memory; returns those of its result's.
/// Registers start out filled with a pattern.
///
/// # Errors
/// When a check does not hold, or the function names what it does not have ([`check`] finds that).
pub fn run(function: &Function, profile: Profile, args: &[Bits], memory: &mut Memory) -> Result<Option<Bits>, Halt> {
    const JUNK: Bits = [0xdead_beef; 16];
    let mut registers = Files([[JUNK; 32]; Class::ALL.len()]);
    for (param, arg) in function.params.iter().zip(args) {
        registers.set(param.place, *arg).ok_or(Halt::Broken)?;
    }
    let mut machine = Machine { profile, literals: &function.literals, registers, memory };
    machine.run(&function.insts)?;
    match function.result {
        Some(result) => machine.registers.get(result.place).map(Some).ok_or(Halt::Broken),
        None => Ok(None),
    }
}

/// Runs a function that returns a result and touches no memory. `None` when it does not complete.
pub fn eval(function: &Function, profile: Profile, args: &[Bits]) -> Option<Bits> {
    run(function, profile, args, &mut Memory::default()).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "scratch f(a: f32s = v0, b: f32s = v1) -> f32s = v0 {
  literal 0 = 0x0000803f
  v2 = load_splat broadcast 0
  region {
    v1 = fmadd213ps v1, v0, v2
    v0 = sqrtps v1
  }
  ret
}
";

    fn program(profile: &str, text: &str) -> Program {
        let text = format!("rake allocated 1\nprofile {profile}\nfuse full\n\n{text}");
        let program = read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        assert_eq!(print(&program), text);
        program
    }

    #[test]
    fn a_dump_reads_back_and_runs() {
        let program = program("x86-avx2", GOOD);
        assert_eq!(check(&program), Ok(()));
        let f = &program.functions[0];
        assert_eq!((f.arithmetic(), f.registers_used(Class::V)), (2, 3));
        assert_eq!(f.insts.iter().map(|i| i.region).collect::<Vec<_>>(), [None, Some(0), Some(0), None]);
        // sqrt(3 * 5 + 1) = 4 in the eight lanes there are.
        let splat = |x: f32| [x.to_bits(); 16];
        let result = eval(f, program.profile, &[splat(3.0), splat(5.0)]).unwrap();
        assert_eq!(result[..8], [4.0f32.to_bits(); 8]);
        assert_eq!(result[8..], [0; 8]);
    }

    #[test]
    fn each_violation_is_found() {
        let found = |from: &str, to: &str, what: &str| {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let errors = check(&program("x86-avx2", &text)).unwrap_err();
            assert!(errors.iter().any(|e| e.contains(what)), "{errors:?}");
        };
        found("v1 = fmadd213ps v1, v0, v2", "v3 = fmadd213ps v1, v0, v2", "tied");
        found("fmadd213ps v1, v0, v2", "fmadd213ps v1, v0, v7", "read before it is written");
        found("fmadd213ps v1, v0, v2", "fmadd213ps v1, v0, literal 0", "not a whole rack");
        found("fmadd213ps v1, v0, v2", "fmadd213ps v1, v0, broadcast 0", "cannot stand in memory");
        found("sqrtps v1", "sqrtps k1", "another class");
        found("  v0 = sqrtps", "  v20 = sqrtps", "not a register to write");
        found("  ret\n", "", "does not end in ret");
        found("v0 = sqrtps v1", "k1 = cmpps_k v0, v1, 1", "not an instruction of x86-avx2");
        found("b: f32s = v1", "b: f32s = v0", "`b` stands in v0, not in v1");
        found("-> f32s = v0", "-> f32s = v9", "the result is left in v9, not in v0");
        let sse = check(&program("x86-sse2", GOOD)).unwrap_err();
        assert!(sse.iter().any(|e| e.contains("not an instruction of x86-sse2")), "{sse:?}");
    }

    #[test]
    fn an_interrupted_region_is_found() {
        let mut program = program("x86-avx2", GOOD);
        program.functions[0].insts[2].region = Some(1);
        assert_eq!(check(&program), Ok(()));
        let mut stranger = program.functions[0].insts[2].clone();
        program.functions[0].insts[2].region = Some(0);
        stranger.region = None;
        program.functions[0].insts.insert(2, stranger);
        let errors = check(&program).unwrap_err();
        assert!(errors.iter().any(|e| e.contains("interrupts a region")), "{errors:?}");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (from, to) in
            [("v1, v0, v2", "v1, v0"), ("sqrtps", "sqrtpd"), ("803f", "803"), ("= v0 {", "= x0 {"), ("ret\n}", "ret")]
        {
            let text = format!("rake allocated 1\nprofile x86-avx2\nfuse full\n\n{}", GOOD.replace(from, to));
            assert!(read(&text).is_err(), "{to}");
        }
    }
}
