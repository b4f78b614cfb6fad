//! `selected`: one profile's machine operations over virtual registers, in SSA form.
//!
//! Since `fused`: operations, types and masks are gone; what is left are rows of the machine table over registers of the
//! classes `v`, `k`, `g`, `f`, literals as bytes, and the places where the calling convention puts parameters and result.
//!
//! Invariants: each register is defined once, by a parameter or an instruction, before it is read; classes follow the
//! table; only operands that are always literals (of constant loads, of what reads tables) name them (allocation folds the loads into their readers);
//! tied operands are not yet anyone's concern; between a region's first and last instruction stand only its own and
//! constant loads.

use crate::machine::abi::check_places;
use crate::machine::bits::{self, Bits, ZERO};
use crate::machine::{Class, Ctx, Inst, Kind, Mem, Operand, PhysReg, tables};
use crate::profile::Profile;
use crate::span::Span;
use crate::types::Ty;
use smol_str::SmolStr;

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
    /// The register that holds the result.
    pub result: Reg,
    /// The result's source type.
    pub result_ty: Ty,
    /// Where the caller looks for it.
    pub result_place: PhysReg,
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
    check_places(profile, &f.params, (f.result_ty, f.result_place), &mut say);
    let mut defined = vec![false; f.regs.len()];
    let rack_bytes = profile.rack_bytes();
    for (index, param) in f.params.iter().enumerate() {
        match f.regs.get(index) {
            Some(info) if info.class == param.place.class => defined[index] = true,
            _ => say(format!("parameter {index} has no register of its class")),
        }
    }
    for literal in &f.literals {
        let period = matches!(literal.len(), 4 | 8 | 16 | 32 | 64) && literal.len() <= rack_bytes;
        if !period && tables::of(literal).is_none() {
            say(format!("a literal of {} bytes", literal.len()));
        }
    }
    for (at, inst) in f.insts.iter().enumerate() {
        let row = inst.op.info();
        let mut say = |text: String| say(format!("instruction {at} ({}): {text}", row.name));
        if !inst.op.is_in(profile) {
            say(format!("not an instruction of {profile}"));
        }
        if inst.args.len() != row.slots.len() {
            say(format!("{} operands, {} expected", inst.args.len(), row.slots.len()));
        }
        if inst.imm.is_some() != row.imm {
            say("the immediate does not fit the row".into());
        }
        for (arg, slot) in inst.args.iter().zip(row.slots) {
            match *arg {
                Operand::Reg(r) => match defined.get(r.0 as usize) {
                    Some(true) if f.class(r) == slot.view.class() => {}
                    Some(true) => say(format!("%{} is of another class", r.0)),
                    _ => say(format!("%{} is read before it is defined", r.0)),
                },
                Operand::Literal(l) | Operand::Broadcast(l) => {
                    let table = slot.mem == Mem::Table;
                    let fits = f.literals.get(l.0 as usize).is_some_and(|bytes| tables::is_table(bytes) == table);
                    if !slot.mem.is_literal() || !fits {
                        say("reads a literal that it cannot".into());
                    }
                }
            }
        }
        match (inst.dst, row.dst) {
            (Some(r), Some(view)) => match defined.get_mut(r.0 as usize) {
                Some(seen) if !*seen && f.regs[r.0 as usize].class == view.class() => *seen = true,
                Some(seen) if *seen => say(format!("%{} is defined twice", r.0)),
                _ => say(format!("%{} is of another class", r.0)),
            },
            (None, None) => {}
            _ => say("the destination does not fit the row".into()),
        }
    }
    if !defined.get(f.result.0 as usize).copied().unwrap_or(false) {
        say("the result is not defined".into());
    } else if f.class(f.result) != f.result_place.class {
        say("the result is of another class than its place".into());
    }
    check_regions(&f.insts, &mut say);
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

/// Runs a function on the contents of its parameters' registers; returns those of its result's.
/// `None` when it reads what nothing defines ([`check`] finds that).
pub fn eval(function: &Function, profile: Profile, args: &[Bits]) -> Option<Bits> {
    let lanes = profile.lanes_of_bits(32);
    let mut values: Vec<Option<Bits>> = vec![None; function.regs.len()];
    for (value, arg) in values.iter_mut().zip(args) {
        *value = Some(*arg);
    }
    for inst in &function.insts {
        let row = inst.op.info();
        let mut operands = [ZERO; 4];
        for (at, arg) in inst.args.iter().enumerate() {
            let picked = at.checked_sub(1).map_or(ZERO, |before| operands[before]);
            *operands.get_mut(at)? = match *arg {
                Operand::Reg(r) => (*values.get(r.0 as usize)?)?,
                Operand::Literal(l) if row.slots.get(at).is_some_and(|slot| slot.mem == Mem::Table) => {
                    bits::entry(function.literals.get(l.0 as usize)?, &picked)
                }
                Operand::Literal(l) | Operand::Broadcast(l) => {
                    bits::repeat(function.literals.get(l.0 as usize)?, lanes)
                }
            };
        }
        let ctx = Ctx { lanes, imm: inst.imm.unwrap_or(0) };
        let result = (row.eval)(ctx, &operands[..inst.args.len()]);
        if let Some(dst) = inst.dst {
            *values.get_mut(dst.0 as usize)? = Some(result);
        }
    }
    values.get(function.result.0 as usize).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        found(&|f| f.result = Reg(1), "class");
        found(&|f| f.insts[1].args.clear(), "operands");
        found(&|f| f.params[0].place = PhysReg::v(1), "`a` stands in v1, not in v0");
        found(&|f| f.params[1].place = PhysReg::g(6), "`n` stands in g6, not in g7");
        found(&|f| f.result_place = PhysReg::v(9), "the result is left in v9, not in v0");
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
