//! Printer and reader of `stacked`, in the line grammar of [`crate::text`].
//!
//! ```text
//! scratch advance(x: f32s = v0, v: f32s = v1) -> f32s = v0 {
//!   literal 0 = 0x0000003f
//!   region {
//!     local.get 1                        ~~ v
//!     v128_const literal 0
//!     f32x4_mul
//!     local.get 0                        ~~ x
//!     f32x4_add                          ~~ moved
//!   }
//! }
//! ```
//!
//! What is added to an address is `offset 16`, and stands in front of an immediate; bodies are indented.
//!
//! `locals v g` declares the locals beyond the parameters. An immediate stands last, as a number.

use super::{Code, Function, Inst, Program};
use crate::diag::Diagnostic;
use crate::machine::text::{self, Head, Opening};
use crate::machine::{Class, LiteralId, MachOp};
use crate::profile::Profile;
use crate::text::{Line, Lines, Result, Token, header, malformed, push_note};
use smallvec::SmallVec;
use std::fmt::Write as _;

/// The dump of a program.
pub fn print(program: &Program) -> String {
    let mut out = header("stacked", program.profile, program.fuse);
    for f in &program.functions {
        text::print_head(&mut out, &Head { name: &f.name, params: &f.params, literals: &f.literals, result: f.result });
        if !f.locals.is_empty() {
            out.push_str("  locals");
            f.locals.iter().for_each(|class| out.extend([' ', class.letter()]));
            out.push('\n');
        }
        text::print_literals(&mut out, &f.literals);
        print_code(&mut out, &f.code);
        out.push_str("}\n");
    }
    out
}

fn print_code(out: &mut String, code: &[Inst]) {
    let (mut inside, mut depth) = (None, 0usize);
    for inst in code {
        if inst.region != inside {
            let indent = "  ".repeat(1 + depth);
            if inside.is_some() {
                let _ = writeln!(out, "{indent}}}");
            }
            if inst.region.is_some() {
                let _ = writeln!(out, "{indent}region {{");
            }
            inside = inst.region;
        }
        if matches!(inst.code, Code::Else | Code::End) {
            depth = depth.saturating_sub(1);
        }
        let start = out.len();
        out.push_str(&"  ".repeat(1 + depth + usize::from(inside.is_some())));
        out.push_str(inst.name());
        if matches!(inst.code, Code::Loop | Code::If | Code::Else) {
            depth += 1;
        }
        let _ = match &inst.code {
            Code::Get(local) | Code::Set(local) | Code::Tee(local) => write!(out, " {local}"),
            Code::Op { literals, imm, offset, .. } => {
                let literals = literals.iter().map(|literal| format!("literal {}", literal.0));
                let offset = (*offset > 0).then(|| format!("offset {offset}"));
                let operands: Vec<_> = literals.chain(offset).chain(imm.map(|imm| imm.to_string())).collect();
                let space = if operands.is_empty() { "" } else { " " };
                write!(out, "{space}{}", operands.join(", "))
            }
            _ => Ok(()),
        };
        push_note(out, start, inst.note.as_deref());
    }
    if inside.is_some() {
        out.push_str("  }\n");
    }
}

/// Reads a dump.
///
/// # Errors
/// What cannot be read: the header's fault, or the first fault of a function.
pub fn read(dump: &str) -> std::result::Result<Program, Vec<Diagnostic>> {
    let (profile, fuse, mut lines) = text::start(dump, "stacked")?;
    let mut functions = Vec::new();
    while let Some(line) = lines.next() {
        functions.push(function(line, &mut lines, profile).map_err(|e| vec![e])?);
    }
    Ok(Program { profile, fuse, functions })
}

fn function<'a>(mut line: Line<'a>, lines: &mut Lines<'a>, profile: Profile) -> Result<Function> {
    let Opening { name, span, params, result } = text::opening(&mut line)?;
    let (mut locals, mut literals, mut code) = (Vec::new(), Vec::new(), Vec::new());
    let (mut regions, mut inside) = (0u32, None);
    loop {
        let mut line = lines.expect("`}`")?;
        match line.peek() {
            Token::Word("locals") if locals.is_empty() => locals = classes(line)?,
            Token::Word("literal") => literals.push(text::literal(&mut line, literals.len())?),
            Token::Word("region") if inside.is_none() => {
                line.expect_keyword("region")?;
                line.expect("{")?;
                line.end()?;
                inside = Some(regions);
                regions += 1;
            }
            Token::Sign("}") => {
                text::close(&mut line)?;
                if inside.take().is_none() {
                    return Ok(Function { name, span, params, locals, literals, code, result });
                }
            }
            _ => code.push(instruction(line, profile, inside)?),
        }
    }
}

fn classes(mut line: Line) -> Result<Vec<Class>> {
    line.expect_keyword("locals")?;
    let mut classes = Vec::new();
    while !line.at_end() {
        let wrong = line.expected("a class: `v`, `k`, `g` or `f`");
        classes.push(Class::from_letter(line.word("a class")?).ok_or(wrong)?);
    }
    Ok(classes)
}

fn instruction(mut line: Line, profile: Profile, region: Option<u32>) -> Result<Inst> {
    let span = line.whole();
    let note = line.note().map(Into::into);
    let wrong = line.expected("an instruction");
    let code = match line.word("an instruction")? {
        "local.get" => Code::Get(line.number()?),
        "local.set" => Code::Set(line.number()?),
        "local.tee" => Code::Tee(line.number()?),
        "loop" => Code::Loop,
        "if" => Code::If,
        "else" => Code::Else,
        "end" => Code::End,
        "br_if" => Code::Again,
        "unreachable" => Code::Trap,
        word => {
            let op = MachOp::from_name(profile.info().family, word).ok_or(wrong)?;
            let (mut literals, mut imm, mut offset) = (SmallVec::new(), None, 0);
            let mut more = !line.at_end();
            while more {
                if line.keyword("literal") {
                    literals.push(LiteralId(line.number()?));
                } else if line.keyword("offset") {
                    offset = line.number()?;
                } else {
                    imm = Some(line.number()?);
                    break;
                }
                more = line.sign(",");
            }
            if literals.len() != op.info().slots.iter().filter(|slot| slot.mem.is_literal()).count() {
                return Err(malformed(span, format!("`{word}` has other literals")));
            }
            Code::Op { op, literals, imm, offset }
        }
    };
    line.end()?;
    Ok(Inst { code, region, note, span })
}
