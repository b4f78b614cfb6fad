//! The C that is written for WebAssembly, as clang compiles it at every level, gives what the evaluator gives.

use crate::arguments::Effort;
use crate::engine::{Code, Signature};
use crate::machine::Bench;
use crate::programs::lacks;
use crate::support::{compile, plain};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::c::{Source, compile_wasm};
use rake_testkit::source::operations;
use rakec::{Emit, Options};
use std::rc::Rc;

const EFFORT: Effort = Effort { tuples: 4000, random: 256, uniforms: 64, calls: 1000 };

/// The code of each function by clang at each level.
fn by_clang(c: &str, functions: &[(&str, Signature)], levels: &[&str]) -> Result<Vec<Vec<Code>>, String> {
    let names: Vec<&str> = functions.iter().map(|(name, _)| *name).collect();
    let mut codes = vec![Vec::new(); functions.len()];
    for level in levels {
        let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-mrelaxed-simd", level];
        let module: Rc<[u8]> = compile_wasm(Source::Text(c), &flags, &names)?.into();
        for (codes, name) in codes.iter_mut().zip(&names) {
            codes.push(Code::Clang(module.clone(), (*name).to_owned()));
        }
    }
    Ok(codes)
}

fn c_runs_on(profile: Profile, levels: &[&str]) {
    let mut bench = Bench::default();
    for program in operations::vocabulary(profile.lanes_of_bits(32)) {
        if lacks(&program, profile).is_some() {
            continue;
        }
        let emit = Emit { c: true, ..Emit::default() };
        let outputs = compile(program.text.as_bytes(), Options { emit, export: true, ..Options::new(profile) });
        let c = outputs.c.unwrap_or_else(|| panic!("{}: {}", program.name, plain(&outputs.diagnostics)));
        let codes = |functions: &[(&str, Signature)]| by_clang(&c, functions, levels);
        let (name, text) = (format!("C of {}", program.name), &program.text);
        if let Err(problems) = bench.add_with(&name, text, profile, FuseLevel::Full, EFFORT, codes) {
            panic!("{name} on {profile}: {}", plain(&problems));
        }
    }
    let (functions, calls) = bench.finish();
    assert!(functions > 250 && calls > 100_000, "only {functions} functions and {calls} calls");
}

#[test]
fn c_of_the_vocabulary_on_simd128() {
    c_runs_on(Profile::WasmSimd128, &["-O0", "-O1", "-O2", "-O3"]);
}

#[test]
fn c_of_the_vocabulary_on_relaxed_simd128() {
    c_runs_on(Profile::WasmSimd128Relaxed, &["-O0", "-O3"]);
}
