//! What unwinders are told of a function that saves registers: as bytes of `.eh_frame`, and as directives of `as`.
//!
//! ```text
//! push %rbx      =>      .cfi_def_cfa_offset 16
//!                        .cfi_offset %rbx, -16
//! ```
//!
//! What is popped is not said to be restored where its saved value still stands below the stack's top until the function
//! has returned. Where a trap stands behind `ret`, what held before the first `pop` holds there.

use rake_ir::allocated::Function;
use rake_ir::machine::Flow;
use std::fmt::Write;

/// How a family's stack looks to an unwinder.
pub struct Stack {
    /// How far above the stack's top the frame's address is where a function begins.
    pub first: u8,
    /// Bytes that a saved register takes.
    pub slot: u8,
    /// Bytes that every instruction is a multiple of.
    pub step: usize,
    /// Whether what stands below the stack's top is kept: signals leave a red zone alone.
    pub kept: bool,
    /// The number of a general register in DWARF.
    pub column: fn(u8) -> u8,
    /// The registers' names.
    pub names: &'static [&'static str],
}

/// One thing that an unwinder is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The frame's address is so far above the stack's top.
    Offset(u8),
    /// This register's value is saved so far below the frame's address.
    Saved(u8, u8),
    /// This register holds its caller's value again.
    Restored(u8),
    /// Everything said so far is to be remembered.
    Remember,
    /// What was remembered holds again.
    Restore,
}

/// The rules of a function, each with the instruction before which it is said, in order.
pub fn rules(stack: &Stack, function: &Function, traps: bool) -> Vec<(usize, Rule)> {
    let mut rules = Vec::new();
    let (mut offset, mut remembers) = (stack.first, false);
    for (at, inst) in function.insts.iter().enumerate() {
        match inst.op.flow() {
            Some(Flow::Push) => {
                offset += stack.slot;
                rules.push((at + 1, Rule::Offset(offset)));
                if let Some(register) = inst.args.first().and_then(|arg| arg.reg()) {
                    rules.push((at + 1, Rule::Saved(register.number, offset)));
                }
            }
            Some(Flow::Pop) => {
                if traps && !remembers {
                    remembers = true;
                    rules.push((at, Rule::Remember));
                }
                offset = offset.saturating_sub(stack.slot);
                if let Some(register) = inst.dst.filter(|_| !stack.kept) {
                    rules.push((at + 1, Rule::Restored(register.number)));
                }
                rules.push((at + 1, Rule::Offset(offset)));
            }
            Some(Flow::Return) if remembers => rules.push((at + 1, Rule::Restore)),
            _ => {}
        }
    }
    rules
}

/// The instructions of the frame's description (DWARF 5, section 6.4.2), given where each instruction starts. Saved
/// registers' distances are multiples of eight.
pub fn bytes(stack: &Stack, rules: &[(usize, Rule)], starts: &[usize]) -> Vec<u8> {
    let (mut out, mut said) = (Vec::new(), 0);
    for &(at, rule) in rules {
        let here = starts.get(at).copied().unwrap_or(said);
        advance(&mut out, (here - said) / stack.step);
        said = here;
        match rule {
            // A number of seven bits at a time.
            Rule::Offset(offset @ 128..) => out.extend([0x0e, offset, 1]),
            Rule::Offset(offset) => out.extend([0x0e, offset]),
            Rule::Saved(register, below) => out.extend([0x80 | (stack.column)(register), below / 8]),
            Rule::Restored(register) => out.push(0xc0 | (stack.column)(register)),
            Rule::Remember => out.push(0x0a),
            Rule::Restore => out.push(0x0b),
        }
    }
    out
}

fn advance(out: &mut Vec<u8>, by: usize) {
    match by {
        0 => {}
        1..=0x3f => out.push(0x40 | by as u8),
        0x40..=0xff => out.extend([2, by as u8]),
        0x100..=0xffff => {
            out.push(3);
            out.extend_from_slice(&(by as u16).to_le_bytes());
        }
        _ => {
            out.push(4);
            out.extend_from_slice(&(by as u32).to_le_bytes());
        }
    }
}

/// A rule as a directive's line.
pub fn directive(out: &mut String, stack: &Stack, rule: Rule) {
    let name = |register: u8| stack.names.get(usize::from(register)).copied().unwrap_or_default();
    let _ = match rule {
        Rule::Offset(offset) => writeln!(out, "\t.cfi_def_cfa_offset {offset}"),
        Rule::Saved(register, below) => writeln!(out, "\t.cfi_offset {}, -{below}", name(register)),
        Rule::Restored(register) => writeln!(out, "\t.cfi_restore {}", name(register)),
        Rule::Remember => writeln!(out, "\t.cfi_remember_state"),
        Rule::Restore => writeln!(out, "\t.cfi_restore_state"),
    };
}
