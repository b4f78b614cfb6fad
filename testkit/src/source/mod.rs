//! Rake source text for tests and benchmarks. Nothing here knows the compiler: the texts follow the language reference.
//!
//! * [`operations`]: every operation over every element, in a `let` and in a fused stage.
//! * [`regions`]: fused regions with the number of arithmetic instructions that they should come to.
//! * [`random`]: seeded programs of mixed types.
//! * [`mutate`]: damaged text.
//! * [`kernels`]: what the speed of the compiler is measured on, with the equivalent C.

pub mod kernels;
pub mod mutate;
pub mod operations;
pub mod random;
pub mod regions;

use std::fmt::Write;

/// A program of scratches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it is about, for messages.
    pub name: String,
    /// Its source.
    pub text: String,
    /// Whether it holds an explicit `fma`, which profiles without the instruction reject.
    pub fma: bool,
}

/// Whether a program has runs, which work on memory.
pub fn has_runs(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("run "))
}

impl Program {
    fn new(name: impl Into<String>, text: String) -> Program {
        let fma = text.contains("fma(");
        Program { name: name.into(), text, fma }
    }
}

/// The element of a rack or uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elem {
    /// `f32`
    F32,
    /// `i32`
    I32,
    /// `u32`
    U32,
}

impl Elem {
    /// All three.
    pub const ALL: [Elem; 3] = [Elem::F32, Elem::I32, Elem::U32];

    /// The scalar type's name.
    pub fn name(self) -> &'static str {
        match self {
            Elem::F32 => "f32",
            Elem::I32 => "i32",
            Elem::U32 => "u32",
        }
    }

    /// The rack type's name.
    pub fn rack(self) -> &'static str {
        match self {
            Elem::F32 => "f32s",
            Elem::I32 => "i32s",
            Elem::U32 => "u32s",
        }
    }
}

/// Appends a scratch whose body is these lines.
fn scratch(out: &mut String, name: &str, params: &str, result: &str, body: &[&str]) {
    let _ = writeln!(out, "scratch {name}({params}) -> {result}:");
    for line in body {
        let _ = writeln!(out, "  {line}");
    }
    out.push('\n');
}

/// Appends the scratch `name` that returns the expression, and `name_stage` that computes it in a fused stage.
fn both(out: &mut String, name: &str, params: &str, result: &str, expression: &str) {
    scratch(out, name, params, result, &[expression]);
    scratch(out, &format!("{name}_stage"), params, result, &[&format!("| r <| {expression}"), "r"]);
}
