//! `stacked`: WebAssembly code, an operand stack and locals; one instruction here is one instruction of the module.
//!
//! Since `selected`: registers are gone. A value stands on the stack from the instruction that leaves it to the one that
//! takes it, or in a local. Parameters are the first locals; what they are afterwards used for is the code's own choice.
//!
//! Invariants: each instruction finds operands of its row's classes on the stack, the last on top; the code leaves
//! exactly the result; a local is written before it is read and holds one class; a region's instructions follow each
//! other, with the gets, sets and constants among them.

mod text;

use crate::machine::abi::check_places;
use crate::machine::bits::{self, Bits, ZERO};
use crate::machine::{Class, Ctx, LiteralId, MachOp, View};
use crate::profile::Profile;
use crate::span::Span;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::collections::BTreeSet;

pub use crate::selected::{Param, Returned};
pub use text::{print, read};

/// What one instruction does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Code {
    /// Puts a local on the stack.
    Get(u32),
    /// Takes the top of the stack into a local.
    Set(u32),
    /// Copies the top of the stack into a local.
    Tee(u32),
    /// Takes the operands of a row that are no literals, and leaves its result.
    Op {
        /// The row.
        op: MachOp,
        /// Its operands that are literals, in the row's order.
        literals: SmallVec<[LiteralId; 1]>,
        /// Its immediate.
        imm: Option<u8>,
    },
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// What it does.
    pub code: Code,
    /// The fused region that it stands in: gets, sets and constants too, since they stand where they are needed.
    pub region: Option<u32>,
    /// The source name of what it leaves or stores, for people.
    pub note: Option<SmolStr>,
    /// The source that asked for it.
    pub span: Span,
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name, under which the module exports it.
    pub name: SmolStr,
    /// Its definition's name in source.
    pub span: Span,
    /// Its parameters; parameter `i` is local `i`.
    pub params: Vec<Param>,
    /// The classes of the locals beyond the parameters, in the order of [`local_order`].
    pub locals: Vec<Class>,
    /// Literals as one period of their bytes: 4, 8 or 16; distinct.
    pub literals: Vec<Vec<u8>>,
    /// The instructions in order.
    pub code: Vec<Inst>,
    /// What is left on the stack; a run leaves nothing.
    pub result: Option<Returned>,
}

/// A program of `stacked`.
pub type Program = crate::program::Program<Function>;

impl Inst {
    /// The row of its operation, when it is one.
    pub fn op(&self) -> Option<MachOp> {
        match self.code {
            Code::Op { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Its name in dumps.
    pub fn name(&self) -> &'static str {
        match self.code {
            Code::Get(_) => "local.get",
            Code::Set(_) => "local.set",
            Code::Tee(_) => "local.tee",
            Code::Op { op, .. } => op.name(),
        }
    }
}

impl Function {
    /// The class of a local, parameters first.
    pub fn local(&self, local: u32) -> Option<Class> {
        let (local, params) = (local as usize, self.params.len());
        match local.checked_sub(params) {
            None => Some(self.params[local].place.class),
            Some(local) => self.locals.get(local).copied(),
        }
    }

    /// The operations in order: everything but gets, sets and tees.
    pub fn ops(&self) -> impl Iterator<Item = MachOp> {
        self.code.iter().filter_map(Inst::op)
    }

    /// Vector arithmetic instructions: constants and what moves lanes or scalars not counted.
    pub fn arithmetic(&self) -> usize {
        self.ops().filter(|op| op.info().kind.is_arithmetic()).count()
    }
}

/// The place of a class among the locals beyond the parameters: `i32`, `f32`, `v128`, each declared once.
pub const fn local_order(class: Class) -> u8 {
    match class {
        Class::G | Class::S => 0,
        Class::F => 1,
        Class::V | Class::K => 2,
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
        for literal in function.literals.iter().filter(|l| !matches!(l.len(), 4 | 8 | 16)) {
            say(format!("a literal of {} bytes", literal.len()));
        }
        if !function.locals.is_sorted_by_key(|class| local_order(*class)) {
            say("locals of one class do not stand together, or not in order".into());
        }
        check_code(function, program.profile, &mut say);
        check_regions(function, &mut say);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What a local of a class holds.
fn type_of(class: Class) -> View {
    match class {
        Class::G | Class::S => View::Word,
        Class::F => View::Float,
        Class::V | Class::K => View::Rack,
    }
}

fn check_code(f: &Function, profile: Profile, say: &mut impl FnMut(String)) {
    let mut stack: Vec<View> = Vec::new();
    let mut written: BTreeSet<u32> = (0..f.params.len() as u32).collect();
    for (at, inst) in f.code.iter().enumerate() {
        let mut say = |text: String| say(format!("instruction {at}: {text}"));
        match &inst.code {
            Code::Get(local) | Code::Set(local) | Code::Tee(local) => {
                let Some(class) = f.local(*local) else {
                    say(format!("there is no local {local}"));
                    continue;
                };
                if let Code::Get(_) = inst.code {
                    if !written.contains(local) {
                        say(format!("local {local} is read before it is written"));
                    }
                    stack.push(type_of(class));
                    continue;
                }
                let found = if let Code::Set(_) = inst.code { stack.pop() } else { stack.last().copied() };
                match found {
                    Some(found) if found == type_of(class) => {}
                    Some(_) => say(format!("local {local} is of another type than the top of the stack")),
                    None => say("the stack is empty".into()),
                }
                written.insert(*local);
            }
            Code::Op { op, literals, imm } => check_op(f, profile, (*op, literals, *imm), &mut stack, &mut say),
        }
    }
    let left: Vec<View> = f.result.iter().map(|result| type_of(result.place.class)).collect();
    if stack != left {
        let letters = |views: &[View]| views.iter().map(|view| view.class().letter()).collect::<String>();
        say(format!("`{}` is left on the stack, not `{}` alone", letters(&stack), letters(&left)));
    }
}

fn check_op(
    f: &Function,
    profile: Profile,
    (op, literals, imm): (MachOp, &[LiteralId], Option<u8>),
    stack: &mut Vec<View>,
    say: &mut impl FnMut(String),
) {
    let row = op.info();
    let mut say = |text: String| say(format!("{}: {text}", row.name));
    if !op.is_in(profile) {
        say(format!("not an instruction of {profile}"));
    }
    if imm.is_some() != row.imm {
        say("the immediate does not fit the row".into());
    }
    if literals.len() != row.slots.iter().filter(|slot| slot.mem.is_literal()).count()
        || literals.iter().any(|l| l.0 as usize >= f.literals.len())
    {
        say("the literals do not fit the row".into());
    }
    for slot in row.slots.iter().rev().filter(|slot| !slot.mem.is_literal()) {
        match stack.pop() {
            Some(found) if found == slot.view => {}
            Some(_) => say("an operand on the stack is of another type".into()),
            None => say("the stack has too few operands".into()),
        }
    }
    match row.dst {
        Some(view) => stack.push(view),
        None => say("leaves nothing".into()),
    }
}

/// A region's instructions follow each other, once.
fn check_regions(f: &Function, say: &mut impl FnMut(String)) {
    let (mut seen, mut open) = (BTreeSet::new(), None);
    for (at, inst) in f.code.iter().enumerate() {
        if inst.region != open {
            open = inst.region;
            if open.is_some_and(|region| !seen.insert(region)) {
                say(format!("instruction {at} stands apart from its region"));
            }
        }
    }
}

/// Runs a function on the contents of its parameters; returns those of its result.
/// `None` when it takes what is not there ([`check`] finds that). Locals start out filled with a pattern.
pub fn eval(function: &Function, profile: Profile, args: &[Bits]) -> Option<Bits> {
    const JUNK: Bits = [0xdead_beef; 16];
    let lanes = profile.lanes_of_bits(32);
    let mut locals = vec![JUNK; function.params.len() + function.locals.len()];
    for (local, arg) in locals.iter_mut().zip(args) {
        *local = *arg;
    }
    let mut stack: Vec<Bits> = Vec::new();
    for inst in &function.code {
        match &inst.code {
            Code::Get(local) => stack.push(*locals.get(*local as usize)?),
            Code::Set(local) => *locals.get_mut(*local as usize)? = stack.pop()?,
            Code::Tee(local) => *locals.get_mut(*local as usize)? = *stack.last()?,
            Code::Op { op, literals, imm } => {
                let slots = op.info().slots;
                let (mut operands, mut literals) = ([ZERO; 4], literals.iter().rev());
                for (at, slot) in slots.iter().enumerate().rev() {
                    *operands.get_mut(at)? = match slot.mem.is_literal() {
                        true => bits::repeat(function.literals.get(literals.next()?.0 as usize)?, lanes),
                        false => stack.pop()?,
                    };
                }
                let ctx = Ctx { lanes, imm: imm.unwrap_or(0) };
                stack.push((op.info().eval)(ctx, operands.get(..slots.len())?));
            }
        }
    }
    stack.pop().filter(|_| stack.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "rake stacked 1
profile wasm-simd128
fuse full

scratch f(a: f32s = v0, b: f32s = v1) -> f32s = v0 {
  locals v
  literal 0 = 0x0000803f
  local.get 0                            ~~ a
  v128_const literal 0
  f32x4_add
  local.tee 2                            ~~ up
  local.get 1                            ~~ b
  region {
    f32x4_add
    local.get 2                          ~~ up
    f32x4_add
  }
}
";

    #[test]
    fn a_dump_reads_back_and_runs() {
        let program = read(GOOD).unwrap();
        assert_eq!(print(&program), GOOD);
        assert_eq!(check(&program), Ok(()));
        let f = &program.functions[0];
        assert_eq!(f.arithmetic(), 3);
        assert_eq!(f.code[3].note.as_deref(), Some("up"));
        // ((2 + 1) + 5) + (2 + 1) = 11 in the four lanes there are.
        let splat = |x: f32| [x.to_bits(); 16];
        let result = eval(f, program.profile, &[splat(2.0), splat(5.0)]).unwrap();
        assert_eq!(result[..4], [11.0f32.to_bits(); 4]);
        assert_eq!(result[4..], [0; 12]);
    }

    #[test]
    fn each_violation_is_found() {
        let found = |from: &str, to: &str, what: &str| {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let errors = check(&read(&text).unwrap_or_else(|e| panic!("{to}: {e:?}"))).unwrap_err();
            assert!(errors.iter().any(|e| e.contains(what)), "{what}: {errors:?}");
        };
        found("local.tee 2", "local.set 2", "too few operands");
        found("local.get 1", "local.get 3", "no local 3");
        found("locals v", "locals v g", "do not stand together");
        found("locals v", "locals g", "another type than the top");
        found("b: f32s = v1", "b: <f32> = f1", "an operand on the stack is of another type");
        found("  local.tee 2                            ~~ up\n", "", "local 2 is read before it is written");
        found("  }\n}", "  }\n  local.get 0\n}", "`vv` is left on the stack");
        found("literal 0 = 0x0000803f", "literal 0 = 0x803f", "a literal of 2 bytes");
        found("v128_const literal 0", "v128_const literal 1", "literals do not fit");
        found("-> f32s = v0", "-> f32s = v1", "the result is left in v1, not in v0");
    }

    #[test]
    fn an_interrupted_region_is_found() {
        let mut program = read(GOOD).unwrap();
        program.functions[0].code[6].region = None;
        let errors = check(&program).unwrap_err();
        assert!(errors.iter().any(|e| e.contains("apart from its region")), "{errors:?}");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (from, to) in [
            ("local.get 0", "local.put 0"),
            ("local.get 0", "local.get"),
            ("locals v", "locals q"),
            ("v128_const literal 0", "v128_const"),
            ("f32x4_add", "addps"),
            ("  }\n}", "  }\n"),
        ] {
            assert!(read(&GOOD.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
