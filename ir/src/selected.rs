//! `selected`: one profile's machine operations over virtual registers, in SSA form.
//!
//! Since `fused`: operations, types and masks are gone; what is left are rows of the machine table over registers of the
//! classes `v`, `k`, `g`, `f`, literals as bytes, and the places where the calling convention puts parameters and result.
//!
//! Control is structured: bodies stay in the one list between markers ([`Flow`]), comparisons directly before theirs.
//!
//! Invariants: each register is defined by a parameter or an instruction before it is read, on every path; classes follow
//! the table; only what a body changes is written again, by copies at the ends of bodies ("sets"); only operands that are always literals (of constant loads, of what reads tables) name them (allocation folds the loads into their readers);
//! tied operands are not yet anyone's concern; between a region's first and last instruction stand only its own and
//! constant loads.

use crate::machine::abi::check_places;
use crate::machine::bits::Bits;
use crate::machine::flow::{Paths, check_flow};
use crate::machine::run::{Machine, Registers};
use crate::machine::{Class, Flow, Inst, Kind, Mem, Operand, PhysReg, tables};
use crate::memory::Memory;
use crate::profile::Profile;
use crate::span::Span;
use crate::types::{Pointee, Ty};
use smallvec::SmallVec;
use smol_str::SmolStr;

pub use crate::machine::run::Halt;
pub use crate::machine::text::{print_selected as print, read_selected as read};

/// A virtual register; `%3` in dumps: parameters first, then instructions in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reg(pub u32);

/// What is known of a register beside its definition.
#[derive(Clone, PartialEq, Debug)]
pub struct RegInfo {
    /// Its file.
    pub class: Class,
    /// The source name of what it holds, for people.
    pub name: Option<SmolStr>,
    /// Where the source asks for it.
    pub span: Span,
}

/// A parameter; parameter `i` defines register `i`.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its source name.
    pub name: SmolStr,
    /// Its source type.
    pub ty: Ty,
    /// What an address leads to.
    pub points_to: Option<Pointee>,
    /// Where the caller puts it.
    pub place: PhysReg,
    /// Its declaration.
    pub span: Span,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name, which is its C symbol.
    pub name: SmolStr,
    /// Its definition's name in source.
    pub span: Span,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Every register.
    pub regs: Vec<RegInfo>,
    /// Literals as one period of their bytes: 4, 8, 16, 32 or 64, no longer than a rack; or a whole table; distinct.
    pub literals: Vec<Vec<u8>>,
    /// The instructions in order.
    pub insts: Vec<Inst<Reg>>,
    /// What it returns; a run returns nothing.
    pub result: Option<Outcome>,
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The register that holds it.
    pub reg: Reg,
    /// Its source type.
    pub ty: Ty,
    /// Where the caller looks for it.
    pub place: PhysReg,
}

impl Outcome {
    /// The same once it is left where the caller looks for it.
    pub fn returned(self) -> Returned {
        Returned { ty: self.ty, place: self.place }
    }
}

/// What a caller finds when a function has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Returned {
    /// Its source type.
    pub ty: Ty,
    /// Where it is.
    pub place: PhysReg,
}

/// A program of `selected`.
pub type Program = crate::program::Program<Function>;

impl Function {
    /// A new register.
    pub fn new_reg(&mut self, info: RegInfo) -> Reg {
        self.regs.push(info);
        Reg(self.regs.len() as u32 - 1)
    }

    /// The class of a register.
    pub fn class(&self, reg: Reg) -> Class {
        self.regs[reg.0 as usize].class
    }

    /// Vector arithmetic instructions: moves and constant loads not counted.
    pub fn arithmetic(&self) -> usize {
        self.insts.iter().filter(|i| i.op.info().kind.is_arithmetic()).count()
    }
}

/// Every violation of the invariants, one line each.
///
/// # Errors
/// The violations.
pub fn check(program: &Program) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for function in &program.functions {
        check_function(function, program.profile, &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_function(f: &Function, profile: Profile, errors: &mut Vec<String>) {
    let mut say = |text: String| errors.push(format!("{}: {text}", f.name));
    check_places(profile, &f.params, f.result.map(Outcome::returned), &mut say);
    let mut known = vec![false; f.regs.len()];
    for (index, param) in f.params.iter().enumerate() {
        match f.regs.get(index) {
            Some(info) if info.class == param.place.class => known[index] = true,
            _ => say(format!("parameter {index} has no register of its class")),
        }
    }
    let rack_bytes = profile.rack_bytes();
    for literal in &f.literals {
        let period = matches!(literal.len(), 4 | 8 | 16 | 32 | 64) && literal.len() <= rack_bytes;
        if !period && tables::of(literal).is_none() {
            say(format!("a literal of {} bytes", literal.len()));
        }
    }
    let (mut defined, mut paths) = (known.clone(), Paths::new(known));
    for (at, inst) in f.insts.iter().enumerate() {
        let mut say = |text: String| say(format!("instruction {at} ({}): {text}", inst.op.name()));
        check_shape(inst, profile, &mut say);
        for (slot, arg) in inst.args.iter().enumerate() {
            if let Err(text) = check_operand(f, profile, inst, slot, *arg, &paths.here) {
                say(text);
            }
        }
        if let Some(r) = inst.dst {
            match defined.get_mut(r.0 as usize) {
                Some(_) if inst.op.info().dst.is_some_and(|view| view.class() != f.class(r)) => {
                    say(format!("%{} is of another class", r.0));
                }
                Some(seen) if *seen && !sets(&f.insts, at) => say(format!("%{} is defined twice", r.0)),
                Some(seen) => (*seen, paths.here[r.0 as usize]) = (true, true),
                None => say(format!("%{} is of another class", r.0)),
            }
        }
        paths.pass(inst.op.flow());
    }
    if let Some(Outcome { reg, place, .. }) = f.result {
        if !paths.here.get(reg.0 as usize).copied().unwrap_or(false) {
            say("the result is not defined".into());
        } else if f.class(reg) != place.class {
            say("the result is of another class than its place".into());
        }
    }
    check_flow(&f.insts, &mut say);
    check_regions(&f.insts, &mut say);
}

/// Says where an instruction has other parts than its row.
pub(crate) fn check_shape<R: Copy>(inst: &Inst<R>, profile: Profile, say: &mut impl FnMut(String)) {
    let row = inst.op.info();
    if !inst.op.is_in(profile) {
        say(format!("not an instruction of {profile}"));
    }
    if inst.args.len() != row.slots.len() {
        say(format!("{} operands, {} expected", inst.args.len(), row.slots.len()));
    }
    if inst.imm.is_some() != row.imm {
        say("the immediate does not fit the row".into());
    }
    if inst.dst.is_some() != row.dst.is_some() {
        say("the destination does not fit the row".into());
    }
}

/// Whether a copy into a register that is defined already stands where bodies end: only further such copies are between it
/// and the marker, or the comparison of the marker.
fn sets(insts: &[Inst<Reg>], at: usize) -> bool {
    let is_copy = |inst: &Inst<Reg>| inst.op.info().kind == Kind::Move;
    let ends = |inst: &Inst<Reg>| matches!(inst.op.flow(), Some(Flow::Again | Flow::Else | Flow::End));
    let behind = insts[at..].iter().skip_while(|inst| is_copy(inst)).collect::<SmallVec<[&Inst<Reg>; 2]>>();
    let compares = |inst: &Inst<Reg>| inst.op.flow() == Some(Flow::Compare);
    is_copy(&insts[at])
        && match behind[..] {
            [first, ..] if ends(first) => true,
            [first, second, ..] => compares(first) && second.op.flow() == Some(Flow::Again),
            _ => false,
        }
}

fn check_operand(
    f: &Function,
    profile: Profile,
    inst: &Inst<Reg>,
    slot: usize,
    arg: Operand<Reg>,
    defined: &[bool],
) -> Result<(), String> {
    let Some(row) = inst.op.info().slots.get(slot) else { return Ok(()) };
    let class = |reg: Reg, class: Class| match defined.get(reg.0 as usize) {
        Some(true) if f.class(reg) == class => Ok(()),
        Some(true) => Err(format!("%{} is of another class", reg.0)),
        _ => Err(format!("%{} is read before it is defined", reg.0)),
    };
    match arg {
        Operand::Reg(reg) => match row.mem {
            mem if mem.is_literal() || mem.is_address() || mem == Mem::Constant => Err("takes no register".into()),
            _ => class(reg, row.view.class()),
        },
        Operand::Literal(l) | Operand::Broadcast(l) => {
            let table = row.mem == Mem::Table;
            let fits = f.literals.get(l.0 as usize).is_some_and(|bytes| tables::is_table(bytes) == table);
            if row.mem.is_literal() && fits { Ok(()) } else { Err("reads a literal that it cannot".into()) }
        }
        _ => check_place(profile, inst, slot, arg, &class),
    }
}

/// Says why an operand cannot stand at an address or be a number.
pub(crate) fn check_place<R: Copy>(
    profile: Profile,
    inst: &Inst<R>,
    slot: usize,
    arg: Operand<R>,
    class: &impl Fn(R, Class) -> Result<(), String>,
) -> Result<(), String> {
    let Some(row) = inst.op.info().slots.get(slot) else { return Ok(()) };
    let address = match arg {
        Operand::Number(_) if matches!(row.mem, Mem::Number | Mem::Constant) => return Ok(()),
        Operand::Memory(address) if inst.op.takes_address(slot, profile) => address,
        Operand::MemoryElement(address) if inst.op.takes_address_of_element(slot, profile) => address,
        _ => return Err(format!("operand {slot} cannot stand in memory or be a number")),
    };
    class(address.base, Class::G)?;
    let wanted = if row.mem == Mem::Places { Class::V } else { Class::G };
    match address.index {
        Some(index) => class(index, wanted)?,
        None if wanted == Class::V || address.scale != 0 => return Err("the address has no index".into()),
        None => {}
    }
    if address.scale > 3 { Err("the address multiplies with more than 8".into()) } else { Ok(()) }
}

/// Regions are contiguous: between a region's first and last instruction stand its own, constant loads and copies.
pub(crate) fn check_regions<R>(insts: &[Inst<R>], say: &mut impl FnMut(String)) {
    let mut last = std::collections::BTreeMap::new();
    for (at, inst) in insts.iter().enumerate() {
        if let Some(region) = inst.region {
            last.insert(region, at);
        }
    }
    let mut open: Option<u32> = None;
    let mut seen = std::collections::BTreeSet::new();
    for (at, inst) in insts.iter().enumerate() {
        if let Some(region) = inst.region {
            if open.is_some_and(|o| o != region) || open.is_none() && !seen.insert(region) {
                say(format!("instruction {at} stands in the middle of another region than its own"));
            }
            open = (last.get(&region) != Some(&at)).then_some(region);
        } else if open.is_some() && !matches!(inst.op.info().kind, Kind::Const | Kind::Move) {
            say(format!("instruction {at} ({}) interrupts a region", inst.op.name()));
        }
    }
}

/// The registers of an evaluation.
struct Values(Vec<Option<Bits>>);

impl Registers<Reg> for Values {
    fn get(&self, register: Reg) -> Option<Bits> {
        self.0.get(register.0 as usize).copied().flatten()
    }

    fn set(&mut self, register: Reg, bits: Bits) -> Option<()> {
        *self.0.get_mut(register.0 as usize)? = Some(bits);
        Some(())
    }
}

/// Runs a function on the contents of its parameters' registers and on memory; returns those of its result's.
///
/// # Errors
/// When a check does not hold, or the function reads what nothing defines ([`check`] finds that).
pub fn run(function: &Function, profile: Profile, args: &[Bits], memory: &mut Memory) -> Result<Option<Bits>, Halt> {
    let mut registers = Values(vec![None; function.regs.len()]);
    for (value, arg) in registers.0.iter_mut().zip(args) {
        *value = Some(*arg);
    }
    let mut machine = Machine { profile, literals: &function.literals, registers, memory };
    machine.run(&function.insts)?;
    match function.result {
        Some(result) => machine.registers.get(result.reg).map(Some).ok_or(Halt::Broken),
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
    use crate::machine::bits::ZERO;

    const GOOD: &str = "rake selected 1
profile x86-sse2
fuse full

scratch f(a: f32s = v0, n: <i32> = g7) -> f32s = v0 {
  literal 0 = 0x0000803f
  %2 : v = movd_in %1                    ~~ n
  %3 : v = splatps %2
  %4 : v = load literal 0
  region {
    %5 : v = mulps %0, %4
    %6 : v = cmpps %5, %3, 1
  }
  return %6
}
";

    #[test]
    fn a_dump_reads_back_and_runs() {
        let program = read(GOOD).unwrap();
        assert_eq!(print(&program), GOOD);
        assert_eq!(check(&program), Ok(()));
        let f = &program.functions[0];
        assert_eq!(f.arithmetic(), 2);
        assert_eq!(f.regs[2].name.as_deref(), Some("n"));
        // 2.5 * 1.0 < 3.0 in lane 0, 4.0 in lane 1 is not; the word holds the bits of 3.0.
        let mut a = ZERO;
        (a[0], a[1]) = (2.5f32.to_bits(), 4.0f32.to_bits());
        let mut n = ZERO;
        n[0] = 3.0f32.to_bits();
        let result = eval(f, program.profile, &[a, n]).unwrap();
        assert_eq!(result[..4], [u32::MAX, 0, u32::MAX, u32::MAX]);
    }

    #[test]
    fn each_violation_is_found() {
        let found = |change: &dyn Fn(&mut Function), what: &str| {
            let mut program = read(GOOD).unwrap();
            change(&mut program.functions[0]);
            let errors = check(&program).unwrap_err();
            assert!(errors.iter().any(|e| e.contains(what)), "{what}: {errors:?}");
        };
        found(&|f| f.insts.swap(0, 1), "before it is defined");
        found(&|f| f.insts[3].args[1] = Operand::Reg(Reg(1)), "another class");
        found(&|f| f.insts[3].args[1] = Operand::Literal(crate::machine::LiteralId(0)), "literal");
        found(&|f| f.insts[3].dst = Some(Reg(0)), "defined twice");
        found(&|f| f.insts[4].imm = None, "immediate");
        found(&|f| (f.insts[2].region, f.insts[3].region) = (Some(0), Some(7)), "region");
        found(&|f| (f.insts[1].region, f.insts[3].region) = (Some(0), None), "interrupts a region");
        found(&|f| f.literals[0] = vec![0; 32], "literal of 32 bytes");
        found(&|f| f.result = f.result.map(|result| Outcome { reg: Reg(1), ..result }), "class");
        found(&|f| f.insts[1].args.clear(), "operands");
        found(&|f| f.params[0].place = PhysReg::v(1), "`a` stands in v1, not in v0");
        found(&|f| f.params[1].place = PhysReg::g(6), "`n` stands in g6, not in g7");
        found(
            &|f| f.result = f.result.map(|result| Outcome { place: PhysReg::v(9), ..result }),
            "the result is left in v9, not in v0",
        );
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (from, to) in
            [("mulps %0", "mulps %9"), (": v = mulps", ": q = mulps"), ("%5 : v", "%4 : v"), ("return %6", "return")]
        {
            assert!(read(&GOOD.replace(from, to)).is_err(), "{to}");
        }
    }
}
