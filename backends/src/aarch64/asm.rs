//! `--emit-asm`: the same object as GNU assembly. Operands name no symbols but literals' labels, so that no definition's
//! name can be taken for a register.
//!
//! ```text
//! advance:
//!     .cfi_startproc
//!     bti c
//! // line 12, region 0
//!     ldr q2, .Ladvance_0
//!     fmla v0.4s, v1.4s, v2.4s
//!     ret
//!     .cfi_endproc
//!     .size advance, .-advance
//!     .p2align 4, 0x0
//! .Ladvance_0:
//!     .long 0x3f000000, 0x3f000000, 0x3f000000, 0x3f000000
//! ```

use super::elf::PROPERTY;
use super::encode::{Pool, above, frame};
use super::jumps::mnemonic;
use super::layout::{PADDING, lay_out};
use super::unwind::STACK;
use crate::Options;
use crate::assembly::{self, Dialect};
use crate::elf::FUNCTION_ALIGN;
use crate::jumps::{Target, is_label, jumps};
use crate::unwind;
use rake_ir::allocated::{Function, Program};
use rake_ir::diag::Diagnostic;
use rake_ir::machine::aarch64::expanded;
use rake_ir::machine::{Address, Class, Inst, MachOp, Operand, PhysReg};
use rake_ir::span::Span;
use std::collections::BTreeSet;
use std::fmt::Write;

const DIALECT: Dialect = Dialect { comment: "//", at: '%', padding: PADDING, landing: "bti c", property: PROPERTY };

/// Writes a program as assembly text. `line` gives a span's file and line for the comments, where it is known.
///
/// # Errors
/// A profile without AArch64 encodings, a function too long to reach its literals, or a fault of an earlier pass.
pub fn emit(
    program: &Program,
    options: &Options<'_>,
    line: &dyn Fn(Span) -> Option<(String, u32)>,
) -> Result<String, Diagnostic> {
    let layout = lay_out(program)?;
    let stamp = options.stamp(program.profile, program.fuse);
    let mut out = assembly::begin(&DIALECT, &stamp);
    out.reserve(layout.text.len() * 8 + 1024);
    for (number, (function, pool)) in program.functions.iter().zip(&layout.pools).enumerate() {
        emit_function(&mut out, (number, function), pool, (options.exported)(&function.name), line);
    }
    assembly::end(&mut out, &DIALECT, &stamp);
    Ok(out)
}

fn emit_function(
    out: &mut String,
    (number, function): (usize, &Function),
    pool: &Pool,
    exported: bool,
    line: &dyn Fn(Span) -> Option<(String, u32)>,
) {
    assembly::begin_function(out, &DIALECT, function, (FUNCTION_ALIGN, exported));
    let places = pool.numbered(function.literals.len());
    let label = |literal: u32| match places.get(literal as usize).copied().flatten() {
        Some(place) => label(&function.name, place),
        None => String::new(),
    };
    let (jumps, frame) = (jumps(function), frame(function));
    let targets: BTreeSet<Target> = jumps.iter().flatten().map(|jump| jump.to).collect();
    let traps = targets.contains(&Target::Trap);
    let rules = unwind::rules(&STACK, function, traps);
    let rules_at = |out: &mut String, at: usize| {
        rules.iter().filter(|(before, _)| *before == at).for_each(|(_, rule)| unwind::directive(out, &STACK, *rule));
    };
    let mut said = (None, None);
    for (at, inst) in function.insts.iter().enumerate() {
        rules_at(out, at);
        if targets.contains(&Target::Inst(at as u32)) {
            let _ = writeln!(out, "{}:", target(number, Target::Inst(at as u32)));
        }
        if is_label(inst.op.flow()) {
            continue;
        }
        let here = (line(inst.span), inst.region);
        if here != said {
            assembly::remark(out, &DIALECT, &here.0, here.1);
            said = here;
        }
        match jumps[at] {
            Some(jump) => {
                let _ = writeln!(out, "\t{:<7} {}", mnemonic(jump.cond), target(number, jump.to));
            }
            None => instruction(out, inst, frame, &label),
        }
    }
    rules_at(out, function.insts.len());
    if traps {
        let _ = writeln!(out, "{}:\n\tbrk     #0x1", target(number, Target::Trap));
    }
    assembly::end_function(out, &function.name);
    if !pool.places.is_empty() {
        let _ = writeln!(out, "\t.p2align {}, {PADDING:#x}", pool.align.trailing_zeros());
    }
    for &(literal, _) in &pool.places {
        let bytes = function.literals.get(literal as usize).map_or(&[][..], Vec::as_slice);
        let _ = writeln!(out, "{}:\n\t.long {}", label(literal), assembly::words(bytes));
    }
}

/// The label of a function's literal: local to the text, and like none that a C compiler makes.
fn label(function: &str, place: usize) -> String {
    format!(".L{function}_{place}")
}

/// The label of a place that jumps lead to.
fn target(function: usize, target: Target) -> String {
    match target {
        Target::Inst(inst) => format!(".L{function}_{inst}"),
        Target::Trap => format!(".L{function}_trap"),
    }
}

/// An address as it is written.
fn place(address: Address<PhysReg>) -> String {
    let base = format!("x{}", address.base.number);
    match address.index {
        None if address.disp == 0 => format!("[{base}]"),
        None => format!("[{base}, #{}]", address.disp),
        Some(index) if address.scale == 0 => format!("[{base}, x{}]", index.number),
        Some(index) => format!("[{base}, x{}, lsl #{}]", index.number, address.scale),
    }
}

/// Writes one instruction: its row's syntax ([`A64::syntax`]), filled in.
fn instruction(out: &mut String, inst: &Inst<PhysReg>, frame: u32, label: &dyn Fn(u32) -> String) {
    let MachOp::A64(op) = inst.op else { return };
    let mut operands = op.syntax().to_owned();
    if let Some(dst) = inst.dst {
        operands = operands.replace("{d}", &dst.number.to_string());
    }
    for (slot, arg) in inst.args.iter().enumerate() {
        let text = match *arg {
            Operand::Reg(word) if word.class == Class::S => match above(word, frame) {
                0 => "[sp]".into(),
                above => format!("[sp, #{above}]"),
            },
            Operand::Reg(register) => register.number.to_string(),
            Operand::Literal(literal) | Operand::Broadcast(literal) => label(literal.0),
            Operand::Memory(address) | Operand::MemoryElement(address) => place(address),
            Operand::Number(number) => number.to_string(),
        };
        operands = operands.replace(&format!("{{{slot}}}"), &text);
    }
    if let Some(imm) = inst.imm {
        let bytes = (0..8).fold(0, |bytes, at| bytes | (u64::from(imm >> at & 1) * 0xff) << (8 * at));
        // As a float each is a short decimal.
        for (hole, text) in [
            ("{i}", imm.to_string()),
            ("{l}", (imm & 15).to_string()),
            ("{h}", (imm >> 4).to_string()),
            ("{f}", format!("{:?}", f32::from_bits(expanded(imm)))),
            ("{m}", format!("{bytes:#018x}")),
        ] {
            operands = operands.replace(hole, &text);
        }
    }
    let mnemonic = op.info().mnemonics[0].unwrap_or_default();
    let _ = writeln!(out, "{}", format!("\t{mnemonic:<7} {operands}").trim_end());
}
