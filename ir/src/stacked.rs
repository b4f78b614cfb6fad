//! `stacked`: WebAssembly code, an operand stack and locals; one instruction here is one instruction of the module.
//!
//! Since `selected`: registers are gone. A value stands on the stack from the instruction that leaves it to the one that
//! takes it, or in a local. Parameters are the first locals; what they are afterwards used for is the code's own choice.
//!
//! Runs have bodies, flat between markers as in `selected`, and transfers, which take an address from the stack.
//!
//! Invariants: each instruction finds operands of its row's classes on the stack, the last on top; the code leaves
//! exactly the result, a body leaves nothing; a local is written before it is read and holds one class; a region's instructions follow each
//! other, with the gets, sets and constants among them.

mod execute;
mod text;

use crate::machine::abi::check_places;
use crate::machine::flow::Paths;
use crate::machine::{Class, Flow, LiteralId, MachOp, View};
use crate::profile::Profile;
use crate::span::Span;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::collections::BTreeSet;

pub use crate::selected::{Param, Returned};
pub use execute::{eval, run};
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
        /// What is added to the address that it takes.
        offset: u32,
    },
    /// Opens a body that is executed again where a jump leads back.
    Loop,
    /// Takes an `i32` and opens a body that is executed unless it is zero.
    If,
    /// Closes that, and opens the other one, which every `if` has.
    Else,
    /// Closes a body.
    End,
    /// Takes an `i32` and jumps to the beginning of the loop whose body it stands in, unless it is zero.
    Again,
    /// Traps.
    Trap,
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
            Code::Loop => "loop",
            Code::If => "if",
            Code::Else => "else",
            Code::End => "end",
            Code::Again => "br_if",
            Code::Trap => "unreachable",
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

/// The place of a class among the locals beyond the parameters: `i32`, `i64`, `f32`, `v128`, each declared once.
pub const fn local_order(class: Class) -> u8 {
    match class {
        Class::G | Class::S => 0,
        Class::L => 1,
        Class::F => 2,
        Class::V | Class::K => 3,
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
        Class::L => View::Wide,
        Class::F => View::Float,
        Class::V | Class::K => View::Rack,
    }
}

/// What the check knows at an instruction.
struct Checked {
    stack: Vec<View>,
    written: Paths<BTreeSet<u32>>,
    /// Of each open body what opened it, and how much stood on the stack.
    open: Vec<(Code, usize)>,
}

fn check_code(f: &Function, profile: Profile, say: &mut impl FnMut(String)) {
    let written = Paths::new((0..f.params.len() as u32).collect());
    let mut known = Checked { stack: Vec::new(), written, open: Vec::new() };
    for (at, inst) in f.code.iter().enumerate() {
        let mut say = |text: String| say(format!("instruction {at}: {text}"));
        match &inst.code {
            Code::Get(local) | Code::Set(local) | Code::Tee(local) => {
                let Some(class) = f.local(*local) else {
                    say(format!("there is no local {local}"));
                    continue;
                };
                if let Code::Get(_) = inst.code {
                    if !known.written.here.contains(local) {
                        say(format!("local {local} is read before it is written"));
                    }
                    known.stack.push(type_of(class));
                    continue;
                }
                let found = if let Code::Set(_) = inst.code { known.stack.pop() } else { known.stack.last().copied() };
                match found {
                    Some(found) if found == type_of(class) => {}
                    Some(_) => say(format!("local {local} is of another type than the top of the stack")),
                    None => say("the stack is empty".into()),
                }
                known.written.here.insert(*local);
            }
            Code::Op { op, literals, imm, offset } => {
                check_op(f, profile, (*op, literals, *imm, *offset), &mut known.stack, &mut say);
            }
            Code::Trap => {}
            marker => known.marker(marker, &mut say),
        }
    }
    if !known.open.is_empty() {
        say("a body is not closed".into());
    }
    let left: Vec<View> = f.result.iter().map(|result| type_of(result.place.class)).collect();
    if known.stack != left {
        let letters = |views: &[View]| views.iter().map(|view| view.class().letter()).collect::<String>();
        say(format!("`{}` is left on the stack, not `{}` alone", letters(&known.stack), letters(&left)));
    }
}

impl Checked {
    fn marker(&mut self, marker: &Code, say: &mut impl FnMut(String)) {
        if matches!(marker, Code::If | Code::Again) && self.stack.pop() != Some(View::Word) {
            say("a condition is no `i32`".into());
        }
        if *marker == Code::Again {
            if !matches!(self.open.last(), Some((Code::Loop, height)) if *height == self.stack.len()) {
                say("a jump back from outside a loop's own body, or with something on the stack".into());
            }
            return;
        }
        if matches!(marker, Code::Else | Code::End) {
            let opener = self.open.pop();
            match &opener {
                Some((_, height)) if *height != self.stack.len() => say("a body leaves something on the stack".into()),
                Some((Code::If, _)) if *marker == Code::Else => {}
                Some((Code::Loop | Code::Else, _)) if *marker == Code::End => {}
                _ => say("it closes no body of its kind".into()),
            }
            let looped = matches!(opener, Some((Code::Loop, _)));
            self.written.pass(Some(match marker {
                Code::Else => Flow::Else,
                _ if looped => Flow::Again,
                _ => Flow::End,
            }));
        }
        if matches!(marker, Code::Loop | Code::If) {
            self.written.pass(Some(if *marker == Code::Loop { Flow::Loop } else { Flow::If }));
        }
        if matches!(marker, Code::Loop | Code::If | Code::Else) {
            self.open.push((marker.clone(), self.stack.len()));
        }
    }
}

fn check_op(
    f: &Function,
    profile: Profile,
    (op, literals, imm, offset): (MachOp, &[LiteralId], Option<u8>, u32),
    stack: &mut Vec<View>,
    say: &mut impl FnMut(String),
) {
    let row = op.info();
    let mut say = |text: String| say(format!("{}: {text}", row.name));
    if !op.is_in(profile) || matches!(op, MachOp::Wasm(op) if !op.is_instruction()) {
        say(format!("not an instruction of {profile}"));
    }
    if imm.is_some() != row.imm {
        say("the immediate does not fit the row".into());
    }
    if offset > 0 && row.address_slot().is_none() {
        say("an offset without an address".into());
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
        None if row.writes => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::run::Halt;
    use crate::memory::Memory;

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

    const BODIES: &str = "rake stacked 1
profile wasm-simd128
fuse full

run f(x: address to mut []f32 = g0, x_count: <i32> = g1) {
  locals g
  local.get 1
  if
    local.get 0
    local.set 2
    loop
      local.get 2
      local.get 2
      v128_load offset 16
      v128_store
      local.get 1
      br_if
    end
  else
    local.get 0
    local.set 2
  end
  local.get 2
  if
    unreachable
  else
  end
}
";

    #[test]
    fn bodies_and_memory_read_back_and_run() {
        let program = read(BODIES).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(print(&program), BODIES);
        assert_eq!(check(&program), Ok(()));
        // The address is not zero, so each call ends in the trap; without elements nothing comes before it.
        let mut memory = Memory::default();
        let x = memory.add((0..32).collect(), true).unwrap();
        let word = |bits: u64| {
            let mut out = [0; 16];
            out[0] = bits as u32;
            out
        };
        let run = |count: u64, memory: &mut Memory| {
            run(&program.functions[0], program.profile, &[word(x), word(count)], memory)
        };
        assert_eq!(run(0, &mut memory), Err(Halt::Trap));
        assert_eq!(memory.block(x).unwrap()[..16], (0..16).collect::<Vec<u8>>());
        // Executed once: what stands in the second half comes to the first.
        let once = BODIES.replace("      local.get 1\n      br_if", "      i32_const literal 0\n      br_if");
        let once = once.replace("  locals g\n", "  locals g\n  literal 0 = 0x00000000\n");
        let once = read(&once).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(check(&once), Ok(()));
        let done = super::run(&once.functions[0], once.profile, &[word(x), word(1)], &mut memory);
        assert_eq!(done, Err(Halt::Trap));
        assert_eq!(memory.block(x).unwrap()[..16], (16..32).collect::<Vec<u8>>());
    }

    #[test]
    fn each_violation_of_bodies_is_found() {
        let found = |from: &str, to: &str, what: &str| {
            let text = BODIES.replacen(from, to, 1);
            assert_ne!(text, BODIES);
            let errors = check(&read(&text).unwrap_or_else(|e| panic!("{to}: {e:?}"))).unwrap_err();
            assert!(errors.iter().any(|e| e.contains(what)), "{what}: {errors:?}");
        };
        found("  else\n    local.get 0\n    local.set 2\n  end\n", "  else\n  end\n", "read before it is written");
        found("  else\n  end\n}", "  end\n}", "closes no body of its kind");
        found("  else\n  end\n}", "  else\n}", "a body is not closed");
        found("      br_if\n    end\n", "    end\n    br_if\n", "a jump back from outside");
        found("      v128_store\n", "", "a body leaves something on the stack");
        found("v128_load offset 16", "i32_load offset 16", "an operand on the stack is of another type");
        found("local.get 1\n  if", "local.get 1\n  i64_extend_i32_s\n  if", "a condition is no `i32`");
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
