//! C around the instructions of x86 and AArch64: the assembly text, line by line, in one file-scope `__asm__`.
//!
//! ```c
//! __asm__(
//!     "\t.pushsection .text\n"
//!     ...
//!     "\tvfmadd213ps .LC_advance_0(%rip), %ymm1, %ymm0\n"
//!     "\tret\n"
//!     "\t.popsection\n");
//! ```

use super::{Lines, Options, declared, internal, prototypes, remark, title};
use crate::c_header::includes;
use crate::{aarch64, x86};
use rake_ir::allocated::Program;
use rake_ir::diag::Diagnostic;
use rake_ir::profile::Family;
use std::fmt::Write;

/// Writes a program.
pub fn emit(program: &Program, options: &Options<'_>, stem: &str, line: Lines<'_>) -> Result<String, Diagnostic> {
    let profile = program.profile;
    let (text, guard) = match profile.info().family {
        Family::X86 => (x86::asm::emit(program, options, line)?, X86_GUARD),
        Family::Aarch64 => (aarch64::asm::emit(program, options, line)?, AARCH64_GUARD),
        _ => return Err(internal(format!("C for {profile} is made of selected programs"))),
    };
    let functions =
        program.functions.iter().map(|f| (f.name.as_str(), &f.params[..], f.result.map(|result| result.ty)));
    let declarations = declared(profile, options, functions);
    let mut out = title(stem, options, profile, program.fuse);
    out.push_str(guard);
    out.push_str(includes(profile));
    out.push_str("#include <stdbool.h>\n\n");
    prototypes(&mut out, &declarations);
    out.push_str("\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n__asm__(\n");
    quote(&mut out, "\t.pushsection .text");
    if profile.info().family == Family::X86 {
        quote(&mut out, "\t.att_syntax prefix");
    }
    let mut functions = program.functions.iter().zip(&declarations).peekable();
    let mut written = 0;
    for text in code(&text) {
        if profile.info().family == Family::Aarch64 {
            padding(&mut out, text, &mut written);
        }
        let starts = |name: &str| text.strip_suffix(':') == Some(name);
        if let Some((function, declaration)) = functions.next_if(|(function, _)| starts(&function.name)) {
            let spans = std::iter::once(function.span).chain(function.insts.iter().map(|inst| inst.span));
            out.push_str(&remark(declaration, spans, line));
        }
        quote(&mut out, &labelled(text, stem));
    }
    quote(&mut out, "\t.popsection");
    out.truncate(out.trim_end().len());
    out.push_str(");\n");
    Ok(out)
}

/// What the instructions are for, and what holds them.
const X86_GUARD: &str = "#if !defined(__x86_64__) || defined(__ILP32__)
#error \"compile for x86-64\"
#endif
#if !defined(__ELF__)
#error \"compile for System V and ELF, as on Linux\"
#endif
";

const AARCH64_GUARD: &str = "#if !defined(__aarch64__) || defined(__ILP32__) || defined(__AARCH64EB__)
#error \"compile for little-endian AArch64\"
#endif
#if !defined(__ELF__)
#error \"compile for AAPCS64 and ELF, as on Linux\"
#endif
";

/// The lines of an assembly text that are not empty, no comments and no notes: those the C compiler writes itself.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let mut noted = false;
    text.lines().filter(move |line| {
        let line = line.trim_start();
        match line.split_whitespace().next() {
            Some(".section") => noted = line.contains(".note"),
            Some(".text") => noted = false,
            _ => {}
        }
        let stays = !line.is_empty() && !line.starts_with('#') && !line.starts_with("//");
        stays && !noted
    })
}

/// Zeros before an alignment, which Clang would fill with `nop`s, after so many bytes as were `written`: an instruction has
/// four, and so has a word.
fn padding(out: &mut String, line: &str, written: &mut u32) {
    let (first, rest) = line.trim_start().split_once([' ', '\t']).unwrap_or((line.trim_start(), ""));
    match first {
        ".p2align" => {
            let power = rest.split(',').next().and_then(|power| power.trim().parse::<u32>().ok()).unwrap_or(0);
            let align = 1u32.checked_shl(power).unwrap_or(1);
            let missing = written.next_multiple_of(align) - *written;
            if missing > 0 {
                quote(out, &format!("\t.zero {missing}"));
            }
            *written += missing;
        }
        ".long" => *written += 4 * rest.split(',').count() as u32,
        _ if line.starts_with('\t') && !first.starts_with('.') => *written += 4,
        _ => {}
    }
}

/// A line whose local labels no other file has, should several become one.
fn labelled(line: &str, stem: &str) -> String {
    let stem: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut parts = line.split(".L");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| match part.strip_prefix('C') {
        Some(constant) => format!("{out}.LC_{stem}_{constant}"),
        None if part.starts_with(|c: char| c.is_ascii_digit()) => format!("{out}.L_{stem}_{part}"),
        None => format!("{out}.L{part}"),
    })
}

/// A line as a C string.
fn quote(out: &mut String, line: &str) {
    out.push_str("    \"");
    for c in line.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '"' | '\\' | '?' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
    let _ = out.write_str("\\n\"\n");
}
