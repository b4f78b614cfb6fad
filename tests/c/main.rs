//! The C that the compiler writes, through C compilers: nothing to warn of, the instructions that were selected, and on
//! scalar the evaluator's results bit for bit.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[allow(dead_code)]
#[path = "../exec/arguments.rs"]
mod arguments;
mod build;
#[allow(dead_code)]
#[path = "../exec/engine.rs"]
mod engine;
#[allow(dead_code)]
#[path = "../exec/machine.rs"]
mod machine;
#[allow(dead_code)]
#[path = "../runs/programs.rs"]
mod run_programs;
mod scalar;
#[path = "../support/mod.rs"]
mod support;
mod text;
mod wasm;
