//! `--emit-asm`: the same object as GNU assembly in AT&T syntax, where no definition's name can be taken for a register.
//!
//! ```text
//! advance:
//!     .cfi_startproc
//!     endbr64
//!                                     # line 12, region 0
//!     vfmadd213ps .LC0(%rip), %ymm1, %ymm0
//!     ret
//! ```

use super::elf::PROPERTY;
use super::encode::{frame, instruction};
use super::jumps::{LOOP_ALIGN, Target, alignment, is_aligned, is_label, jumps, mnemonic};
use super::layout::{Layout, PADDING, lay_out};
use super::unwind::STACK;
use crate::Options;
use crate::assembly::{self, Dialect};
use crate::unwind;
use iced_x86::{Formatter, GasFormatter, OpKind, SymbolResolver, SymbolResult};
use rake_ir::allocated::{Function, Program};
use rake_ir::diag::Diagnostic;
use rake_ir::machine::MachOp;
use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;
use rake_ir::span::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

const DIALECT: Dialect = Dialect { comment: "#", at: '@', padding: PADDING, landing: "endbr64", property: PROPERTY };

/// Writes a program as assembly text. `line` gives a span's file and line for the comments, where it is known.
///
/// # Errors
/// A profile without x86 encodings, or a fault of an earlier pass.
pub fn emit(
    program: &Program,
    options: &Options<'_>,
    line: &dyn Fn(Span) -> Option<(String, u32)>,
) -> Result<String, Diagnostic> {
    let layout = lay_out(program)?;
    let stamp = options.stamp(program.profile, program.fuse);
    let mut out = assembly::begin(&DIALECT, &stamp);
    out.reserve(layout.text.len() * 8 + 1024);
    let mut formatter = GasFormatter::with_options(Some(Box::new(Labels)), None);
    let settings = formatter.options_mut();
    settings.set_rip_relative_addresses(true);
    settings.set_space_after_operand_separator(true);
    settings.set_first_operand_char_index(13);
    settings.set_small_hex_numbers_in_decimal(true);
    for (number, function) in program.functions.iter().enumerate() {
        let exported = (options.exported)(&function.name);
        emit_function(&mut out, program, &layout, (number, function), exported, &mut formatter, line);
    }
    literals(&mut out, &layout);
    assembly::end(&mut out, &DIALECT, &stamp);
    Ok(out)
}

struct Labels;

impl SymbolResolver for Labels {
    fn symbol(
        &mut self,
        instruction: &iced_x86::Instruction,
        _: u32,
        operand: Option<u32>,
        address: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let memory = instruction.op_kind(operand?) == OpKind::Memory && instruction.is_ip_rel_memory_operand();
        memory.then(|| SymbolResult::with_string(address, label(address)))
    }
}

fn label(offset: u64) -> String {
    format!(".LC{offset}")
}

/// The label of a place that jumps lead to.
fn target(function: usize, target: Target) -> String {
    match target {
        Target::Inst(inst) => format!(".L{function}_{inst}"),
        Target::Trap => format!(".L{function}_trap"),
    }
}

fn emit_function(
    out: &mut String,
    program: &Program,
    layout: &Layout<'_>,
    (number, function): (usize, &Function),
    exported: bool,
    formatter: &mut GasFormatter,
    line: &dyn Fn(Span) -> Option<(String, u32)>,
) {
    let Some(space) = Space::of(program.profile) else { return };
    assembly::begin_function(out, &DIALECT, function, (alignment(function), exported));
    let mut said = (None, None);
    let jumps = jumps(function);
    let targets: BTreeSet<Target> = jumps.iter().flatten().map(|jump| jump.to).collect();
    let traps = targets.contains(&Target::Trap);
    let rules = unwind::rules(&STACK, function, traps);
    let rules_at = |out: &mut String, at: usize| {
        rules.iter().filter(|(before, _)| *before == at).for_each(|(_, rule)| unwind::directive(out, &STACK, *rule));
    };
    for (at, inst) in function.insts.iter().enumerate() {
        rules_at(out, at);
        if targets.contains(&Target::Inst(at as u32)) {
            let _ = writeln!(out, "{}:", target(number, Target::Inst(at as u32)));
        }
        if is_aligned(function, at) {
            pad(out, layout, number, at);
        }
        if is_label(inst.op.flow()) {
            continue;
        }
        let here = (line(inst.span), inst.region);
        if here != said {
            assembly::remark(out, &DIALECT, &here.0, here.1);
            said = here;
        }
        if let Some(jump) = jumps[at] {
            let _ = writeln!(out, "\t{:<12}{}", mnemonic(jump.cond), target(number, jump.to));
            continue;
        }
        let address = |l: u32| {
            let literal = function.literals.get(l as usize).and_then(|l| layout.pool.offset(l));
            u64::from(literal.unwrap_or(u32::MAX))
        };
        if let Some(one) = instruction(inst, space, frame(function), address) {
            // GNU `as` has no spelling for the always false and always true predicates of integer comparisons.
            let integers = matches!(inst.op, MachOp::X86(op) if matches!(op.plain(), X86::PcmpdK | X86::PcmpudK));
            formatter.options_mut().set_use_pseudo_ops(!integers);
            out.push('\t');
            formatter.format(&one, out);
            out.push('\n');
        }
    }
    rules_at(out, function.insts.len());
    if traps {
        let _ = writeln!(out, "{}:\n\tud2", target(number, Target::Trap));
    }
    assembly::end_function(out, &function.name);
}

/// The padding before a loop, in bytes: assemblers do not agree on theirs.
fn pad(out: &mut String, layout: &Layout<'_>, function: usize, at: usize) {
    let placed = &layout.functions[function];
    let (Some(&from), Some(&to)) = (placed.insts.get(at), placed.insts.get(at + 1)) else { return };
    let bytes = &layout.text[(placed.start + from) as usize..(placed.start + to) as usize];
    if !bytes.is_empty() {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
        let _ = writeln!(out, "# to a multiple of {LOOP_ALIGN}\n\t.byte {}", bytes.join(", "));
    }
}

fn literals(out: &mut String, layout: &Layout<'_>) {
    let mut at = 0;
    for literal in layout.pool.literals() {
        if at == 0 {
            let align = layout.pool.align().trailing_zeros();
            let _ = write!(out, "\n\t.section .rodata,\"a\",@progbits\n\t.p2align {align}\n");
        }
        let _ = writeln!(out, "{}:\n\t.long {}", label(at), assembly::words(literal));
        at += literal.len() as u64;
    }
}
