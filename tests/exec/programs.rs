//! What is run: every operation, the regions of the optimisation table, the repository's examples and cases, and random
//! programs.

use crate::arguments::Effort;
use crate::machine::{Bench, chosen};
use crate::support::{PROFILES, files, from_environment, plain};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::source::{Program, operations, random, regions};

/// For single operations: all pairs of special values.
const THOROUGH: Effort = Effort { tuples: 4000, random: 256, uniforms: 64, calls: 3000 };
/// For programs of which there are many.
const QUICK: Effort = Effort { tuples: 300, random: 100, uniforms: 8, calls: 60 };

/// Why a correct program may be rejected: the machine has too few registers, or no such instruction.
fn may_reject(problem: &Diagnostic, profile: Profile, program: &Program) -> Option<&'static str> {
    match problem.code {
        Code::OutOfRegisters => Some("too few registers"),
        _ if program.fma && !profile.info().fma && problem.message.contains("fma") => Some("no fma"),
        _ => None,
    }
}

/// Lines a program up. One that needs `fma` must be rejected where there is none, and must run elsewhere.
fn add(bench: &mut Bench, program: &Program, profile: Profile, fuse: FuseLevel, effort: Effort, strict: bool) {
    let outcome = bench.add(&program.name, &program.text, profile, fuse, effort);
    let lacks_fma = program.fma && !profile.info().fma;
    match outcome {
        Ok(()) if lacks_fma => bench.fail(format!("{} compiles on {profile}, which has no fma", program.name), &[]),
        Ok(()) => {}
        Err(diagnostics) => {
            let errors = diagnostics.iter().filter(|d| d.is_error());
            let reasons: Option<Vec<_>> = errors.map(|d| may_reject(d, profile, program)).collect();
            match reasons.as_deref() {
                Some([first, ..]) if !strict || lacks_fma => *bench.rejected.entry(first).or_default() += 1,
                _ => bench.fail(format!("{} on {profile}\n{}", program.name, program.text), &diagnostics),
            }
        }
    }
}

/// For each operation of the vocabulary: all triples of special values, and 100,000 tuples of random bits.
const MATRIX: Effort = Effort { tuples: 300_000, random: 100_000, uniforms: 64, calls: 100_000 };

fn vocabulary_runs_on(profile: Profile) {
    let mut bench = Bench::default();
    for program in operations::vocabulary(profile.lanes_of_bits(32)) {
        // What moves lanes by each literal is many functions of one kind.
        let effort = if program.name.starts_with("lane moves") { THOROUGH } else { MATRIX };
        add(&mut bench, &program, profile, FuseLevel::Full, effort, true);
    }
    let (functions, calls) = bench.finish();
    assert!(functions > 250 && calls > 500_000, "only {functions} functions and {calls} calls");
}

#[test]
fn vocabulary_on_sse2() {
    vocabulary_runs_on(Profile::X86Sse2);
}

#[test]
fn vocabulary_on_avx2() {
    vocabulary_runs_on(Profile::X86Avx2);
}

#[test]
fn vocabulary_on_avx512() {
    vocabulary_runs_on(Profile::X86Avx512);
}

fn operations_run_on(profile: Profile) {
    let mut bench = Bench::default();
    for program in operations::all() {
        add(&mut bench, &program, profile, FuseLevel::Full, THOROUGH, true);
    }
    let (functions, calls) = bench.finish();
    assert!(functions > 800 && calls > 50_000, "only {functions} functions and {calls} calls");
}

#[test]
fn operations_on_sse2() {
    operations_run_on(Profile::X86Sse2);
}

#[test]
fn operations_on_avx2() {
    operations_run_on(Profile::X86Avx2);
}

#[test]
fn operations_on_avx512() {
    operations_run_on(Profile::X86Avx512);
}

#[test]
fn regions_of_the_optimisation_table() {
    let mut bench = Bench::default();
    for profile in PROFILES {
        for fuse in [FuseLevel::Exact, FuseLevel::Contract, FuseLevel::Full] {
            add(&mut bench, &regions::program(), profile, fuse, THOROUGH, true);
        }
    }
    bench.finish();
}

/// Operations that cost an instruction: neither moves nor constants.
fn arithmetic(text: &str, profile: Profile) -> usize {
    use rake_ir::ops::Op;
    let program = chosen(text, profile);
    let function = &program.functions[0];
    let free = |op: Op| matches!(op, Op::Param | Op::Const | Op::Splat);
    function.order().filter(|&id| !free(function.values[id].op)).count()
}

#[test]
fn regions_come_to_the_known_number_of_operations() {
    let mut wrong = Vec::new();
    for region in regions::REGIONS {
        for profile in PROFILES {
            let expected = if profile.info().fma { region.fma } else { region.plain } as usize;
            let got = arithmetic(&region.text(), profile);
            if got > expected {
                wrong.push(format!("{} on {profile}: {got}, not {expected}", region.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_and_cases() {
    let mut bench = Bench::default();
    let files = files();
    assert!(files.len() > 5, "the repository's examples and cases are not where they were");
    for (path, text) in files {
        for profile in PROFILES {
            // Rejected files have their own expectations; here those that compile run.
            let name = path.display().to_string();
            match bench.add(&name, &text, profile, FuseLevel::Full, THOROUGH) {
                Ok(()) => {}
                Err(_) if text.contains("expect error") => {}
                Err(diagnostics) if text.contains(profile.name()) || !text.contains("x86-") => {
                    bench.fail(format!("{name} on {profile}"), &diagnostics);
                }
                Err(_) => {}
            }
        }
    }
    bench.finish();
}

/// Random programs, `RAKE_TEST_PROGRAMS` of them from the seed `RAKE_TEST_SEED` on.
fn random_programs_run_on(profile: Profile) {
    let mut bench = Bench::default();
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_PROGRAMS", 120);
    for seed in first..first + count {
        let fma = profile.info().fma && seed % 3 == 0;
        let program = random::program(seed, 4, fma);
        let fuse = [FuseLevel::Full, FuseLevel::Full, FuseLevel::Contract, FuseLevel::Exact][seed as usize % 4];
        add(&mut bench, &program, profile, fuse, QUICK, false);
    }
    let rejected: usize = bench.rejected.values().sum();
    assert!(rejected as u64 * 10 <= count, "too many are rejected: {:?}", bench.rejected);
    bench.finish();
}

#[test]
fn random_programs_on_sse2() {
    random_programs_run_on(Profile::X86Sse2);
}

#[test]
fn random_programs_on_avx2() {
    random_programs_run_on(Profile::X86Avx2);
}

#[test]
fn random_programs_on_avx512() {
    random_programs_run_on(Profile::X86Avx512);
}

/// Random rakes, half as many as programs of scratches.
#[test]
fn random_rakes() {
    for profile in PROFILES {
        let mut bench = Bench::default();
        let first = from_environment("RAKE_TEST_SEED", 1);
        let count = from_environment("RAKE_TEST_PROGRAMS", 120) / 2;
        for seed in first..first + count {
            let fma = profile.info().fma && seed % 3 == 0;
            let program = random::rakes(seed, 3, fma);
            let fuse = [FuseLevel::Full, FuseLevel::Exact][seed as usize % 2];
            add(&mut bench, &program, profile, fuse, QUICK, false);
        }
        let rejected: usize = bench.rejected.values().sum();
        assert!(rejected as u64 * 10 <= count, "too many are rejected: {:?}", bench.rejected);
        bench.finish();
    }
}

/// Different targets may round a region differently; with `--fuse exact` they must not.
#[test]
fn exact_programs_agree_across_profiles() {
    use rake_ir::lane::eval_function;
    use rakec::pipeline::Ir;
    let tined = |text: &str, profile| match crate::support::ir_at(text, profile, FuseLevel::Exact, "tined") {
        Ok(Ir::Tined(program)) => program,
        Ok(other) => panic!("{:?}", other.kind()),
        Err(diagnostics) => panic!("{}\n{text}", plain(&diagnostics)),
    };
    for seed in 1..40 {
        let text = random::program(seed, 3, false).text;
        let (narrow, wide) = (tined(&text, Profile::X86Sse2), tined(&text, Profile::X86Avx512));
        for (a, b) in narrow.functions.iter().zip(&wide.functions) {
            let params: Vec<_> = a.params.iter().map(|p| p.ty).collect();
            for call in crate::arguments::calls(&params, Profile::X86Avx512, QUICK, seed) {
                let short = call.values.iter().map(|v| rake_ir::value::Lanes::new(v.bits().iter().copied().take(4)));
                let short: Vec<_> = short.collect();
                let small = eval_function(a, Profile::X86Sse2, &short).and_then(|run| run.result()).unwrap();
                let large = eval_function(b, Profile::X86Avx512, &call.values).and_then(|run| run.result()).unwrap();
                assert_eq!(small.bits(), &large.bits()[..small.len()], "{}\n{text}", a.name);
            }
        }
    }
}
