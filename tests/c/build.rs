//! From source to C to objects.

use crate::support::compile;
use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_testkit::c::{self, Compiler, Source};
use rakec::{Emit, Options};

/// Everything that C compilers can be asked to say.
pub const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"];

/// The C of a program.
///
/// # Errors
/// What the compiler says of it.
pub fn c_of(text: &str, profile: Profile, fuse: FuseLevel) -> Result<String, Vec<Diagnostic>> {
    let emit = Emit { c: true, ..Emit::default() };
    let outputs = compile(text.as_bytes(), Options { fuse, emit, ..Options::new(profile) });
    match outputs.c {
        Some(c) if !outputs.diagnostics.iter().any(Diagnostic::is_error) => Ok(c),
        _ => Err(outputs.diagnostics),
    }
}

/// The compilers that C for a profile goes through, and the flags that choose its machine; none is clang for WebAssembly.
pub fn compilers(profile: Profile) -> Vec<(Option<Compiler>, &'static [&'static str])> {
    let all = |compilers: [Compiler; 2]| compilers.into_iter().map(|c| (Some(c), &[][..])).collect();
    match (profile.info().family, profile) {
        (Family::X86 | Family::Scalar, _) => all(Compiler::X86),
        (Family::Aarch64, _) => all(Compiler::AARCH64),
        (Family::Wasm, Profile::WasmSimd128) => vec![(None, &[])],
        (Family::Wasm, _) => vec![(None, &["-mrelaxed-simd"])],
    }
}

/// Compiles C for a profile; gives the object or module.
///
/// # Errors
/// What the C compiler says.
pub fn build(compiler: Option<Compiler>, c: &str, flags: &[&str]) -> Result<Vec<u8>, String> {
    match compiler {
        Some(compiler) => c::compile(compiler, Source::Text(c), flags),
        None => c::compile_wasm(Source::Text(c), flags, &[]),
    }
}
