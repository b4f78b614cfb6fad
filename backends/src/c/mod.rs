//! `--emit-c`: a program as C11, for every profile.
//!
//! What was selected stays what runs. x86 and AArch64 get the assembly text in a file-scope `__asm__`, which no C compiler
//! changes; WebAssembly one intrinsic for each instruction; scalar one statement.
//!
//! ```c
//! /* advance(x: f32s, v: f32s, <dt: f32>) -> f32s
//!    lines 1, 2 */
//! float advance(float x, float v, float dt)
//! {
//!     const float v3 = dt;
//!     float v4 = v * v3;
//!     RAKE_ROUND(v4);
//!     const float v5 = x + v4;
//!     return v5;
//! }
//! ```

mod bodies;
mod native;
mod rows;
mod scalar;
#[cfg(test)]
mod tests;
mod wasm;

use crate::Options;
use crate::c_header::{Declaration, Prototype, declarations, printable, structures};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_ir::selected::{self, Param};
use rake_ir::span::Span;
use rake_ir::types::Ty;
use rake_ir::{allocated, selected::Function};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What C is made of.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Instructions in machine registers, of x86 and AArch64.
    Native(&'a allocated::Program),
    /// Instructions over values, of WebAssembly and scalar.
    Selected(&'a selected::Program),
}

/// Gives a span's file and line, where it is known.
pub type Lines<'a> = &'a dyn Fn(Span) -> Option<(String, u32)>;

/// Writes a program as C. `stem` is the file's name without its extension.
///
/// # Errors
/// A profile whose programs are of the other kind, or a fault of an earlier pass.
pub fn emit(source: Source<'_>, options: &Options<'_>, stem: &str, line: Lines<'_>) -> Result<String, Diagnostic> {
    match source {
        Source::Native(program) => native::emit(program, options, stem, line),
        Source::Selected(program) => match program.profile.info().family {
            Family::Scalar => scalar::emit(program, options, stem, line),
            Family::Wasm => wasm::emit(program, options, stem, line),
            _ => Err(internal(format!("C for {} is made of allocated programs", program.profile))),
        },
    }
}

/// A fault of an earlier pass.
fn internal(message: impl Into<String>) -> Diagnostic {
    Diagnostic::spanless(Code::Internal, message)
}

/// The comment at the top.
fn title(stem: &str, options: &Options<'_>, profile: Profile, fuse: FuseLevel) -> String {
    format!("/* {}: {} */\n", printable(stem), comment(&options.stamp(profile, fuse)))
}

/// Text that stays inside its comment and on its line; also no trigraph.
fn comment(text: &str) -> String {
    let safe = |c: char| if c.is_control() || c == '?' || c == '\\' { '_' } else { c };
    text.chars().map(safe).collect::<String>().replace("*/", "* /").replace("/*", "/ *")
}

/// How each function is declared.
fn declared<'a>(
    profile: Profile,
    options: &Options<'_>,
    functions: impl Iterator<Item = (&'a str, &'a [Param], Option<Ty>)>,
) -> Vec<Declaration> {
    let prototype = |(name, params, result): (&'a str, &'a [Param], Option<Ty>)| Prototype {
        name,
        params: params.iter().map(Into::into).collect(),
        result,
        exported: (options.exported)(name),
    };
    declarations(profile, &functions.map(prototype).collect::<Vec<_>>())
}

/// The declarations of functions of `selected`.
fn declared_selected(program: &selected::Program, options: &Options<'_>) -> Vec<Declaration> {
    let functions =
        program.functions.iter().map(|f| (f.name.as_str(), &f.params[..], f.result.map(|result| result.ty)));
    declared(program.profile, options, functions)
}

/// The prototypes with the structures that they need, before any definition.
fn prototypes(out: &mut String, declarations: &[Declaration]) {
    let structures = structures(declarations);
    if !structures.is_empty() {
        let _ = writeln!(out, "{}", structures.trim_start());
    }
    for declaration in declarations {
        let visibility = if declaration.exported { "default" } else { "hidden" };
        let _ = writeln!(out, "{} __attribute__((visibility(\"{visibility}\")));", declaration.declared());
    }
}

/// The comment before a function: its signature and the lines that it was made of.
fn remark(declaration: &Declaration, spans: impl Iterator<Item = Span>, line: Lines<'_>) -> String {
    let lines: BTreeSet<u32> = spans.filter_map(|span| line(span).map(|(_, line)| line)).collect();
    let mut out = format!("/* {}", comment(&declaration.source));
    // Consecutive lines are written as a range.
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let words: Vec<String> =
        ranges.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") }).collect();
    if !words.is_empty() {
        let single = matches!(ranges[..], [(a, b)] if a == b);
        let _ = write!(out, "\n   {} {}", if single { "line" } else { "lines" }, words.join(", "));
    }
    out.push_str(" */\n");
    out
}

/// What locals of a function are called: `v3`, with underscores where a parameter has that name.
fn local(declaration: &Declaration, number: u32) -> String {
    let mut name = format!("v{number}");
    while declaration.params.iter().any(|(_, param)| *param == name) {
        name.push('_');
    }
    name
}

/// `(void)x;` for each parameter that nothing reads.
fn unread(out: &mut String, declaration: &Declaration, function: &Function) {
    let read = |index: usize| {
        let is = |reg: selected::Reg| reg.0 as usize == index;
        function.result.is_some_and(|result| is(result.reg)) || function.insts.iter().any(|inst| inst.regs().any(is))
    };
    for (_, (_, name)) in declaration.params.iter().enumerate().filter(|(index, _)| !read(*index)) {
        let _ = writeln!(out, "    (void){name};");
    }
}
