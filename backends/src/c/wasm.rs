//! C for WebAssembly: one intrinsic of `wasm_simd128.h` for each selected instruction.

use super::{Lines, Options};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::selected::Program;

/// Writes a program.
pub fn emit(program: &Program, _: &Options<'_>, _: &str, _: Lines<'_>) -> Result<String, Diagnostic> {
    Err(Diagnostic::spanless(Code::NotAvailableYet, format!("not available yet: C for {}", program.profile)))
}
