//! What is run: every operation, the regions of the optimisation table, the repository's examples and cases, and random
//! programs.

use crate::arguments::Effort;
use crate::harness::{cases, rake_files, root};
use crate::machine::{Bench, chosen};
use crate::support::{from_environment, plain, profiles};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::source::{Program, has_runs, operations, random, regions};

/// For single operations: all pairs of special values.
const THOROUGH: Effort = Effort { tuples: 4000, random: 256, uniforms: 64, calls: 3000 };
/// For programs of which there are many.
const QUICK: Effort = Effort { tuples: 300, random: 100, uniforms: 8, calls: 60 };

/// What a profile lacks that a program needs, so that it must be rejected there: the fault's words and a name for it.
pub fn lacks(program: &Program, profile: Profile) -> Option<(&'static str, &'static str)> {
    if program.fma && !profile.info().fma {
        return Some(("fma", "no fma"));
    }
    let pairs = program.name == "narrow lanes" && profile.lanes_of_bits(32) == 1;
    pairs.then_some(("on scalar", "no pairs of lanes"))
}

/// Why a correct program may be rejected: the machine has too few registers, or no such instruction.
fn may_reject(problem: &Diagnostic, profile: Profile, program: &Program) -> Option<&'static str> {
    match (problem.code, lacks(program, profile)) {
        (Code::OutOfRegisters, _) => Some("too few registers"),
        (_, Some((words, reason))) if problem.message.contains(words) => Some(reason),
        _ => None,
    }
}

/// Lines a program up. One that needs what the profile lacks must be rejected there, and must run elsewhere.
fn add(bench: &mut Bench, program: &Program, profile: Profile, fuse: FuseLevel, effort: Effort, strict: bool) {
    let outcome = bench.add(&program.name, &program.text, profile, fuse, effort);
    let lacking = lacks(program, profile);
    match (outcome, lacking) {
        (Ok(()), Some((_, reason))) => {
            bench.fail(format!("{} compiles on {profile}, which has {reason}", program.name), &[]);
        }
        (Ok(()), None) => {}
        (Err(diagnostics), _) => {
            let errors = diagnostics.iter().filter(|d| d.is_error());
            let reasons: Option<Vec<_>> = errors.map(|d| may_reject(d, profile, program)).collect();
            match reasons.as_deref() {
                Some([first, ..]) if !strict || lacking.is_some() => *bench.rejected.entry(first).or_default() += 1,
                _ => bench.fail(format!("{} on {profile}\n{}", program.name, program.text), &diagnostics),
            }
        }
    }
}

/// For each operation of the vocabulary: all triples of special values, and 100,000 tuples of random bits.
const MATRIX: Effort = Effort { tuples: 300_000, random: 100_000, uniforms: 64, calls: 100_000 };
/// Where a call is of one lane: all pairs, and triples of an even choice.
const ONE_LANE: Effort = Effort { tuples: 20_000, random: 10_000, uniforms: 64, calls: 30_000 };

fn vocabulary_runs_on(profile: Profile) {
    let mut bench = Bench::default();
    for program in operations::vocabulary(profile.lanes_of_bits(32)) {
        // What moves lanes by each literal is many functions of one kind.
        let effort = match profile.lanes_of_bits(32) {
            _ if program.name.starts_with("lane moves") => THOROUGH,
            1 => ONE_LANE,
            _ => MATRIX,
        };
        add(&mut bench, &program, profile, FuseLevel::Full, effort, true);
    }
    let (functions, calls) = bench.finish();
    assert!(functions > 250 && calls > 500_000, "only {functions} functions and {calls} calls");
}

on_each_profile!(vocabulary_on, super::vocabulary_runs_on);

fn operations_run_on(profile: Profile) {
    let mut bench = Bench::default();
    for program in operations::all() {
        add(&mut bench, &program, profile, FuseLevel::Full, THOROUGH, true);
    }
    let (functions, calls) = bench.finish();
    assert!(functions > 800 && calls > 50_000, "only {functions} functions and {calls} calls");
}

on_each_profile!(operations_on, super::operations_run_on);

#[test]
fn regions_of_the_optimisation_table() {
    let mut bench = Bench::default();
    for profile in profiles() {
        for fuse in [FuseLevel::Exact, FuseLevel::Contract, FuseLevel::Full] {
            add(&mut bench, &regions::program(), profile, fuse, THOROUGH, true);
        }
    }
    let (functions, _) = bench.finish();
    // The regions and two of wrapping integers.
    assert_eq!(functions, (regions::REGIONS.len() + 2) * 3 * profiles().len());
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
        for profile in profiles() {
            // NEON subtracts a product from a sum but not a sum from a product; the search does not turn the other sum of the
            // discriminant round (`r*r - ...`), which would save the negation.
            let turned = profile == Profile::Aarch64Neon && region.name.starts_with("discriminant");
            let expected = if profile.info().fma { region.fma } else { region.plain } as usize + usize::from(turned);
            let got = arithmetic(&region.text(), profile);
            if got > expected {
                wrong.push(format!("{} on {profile}: {got}, not {expected}", region.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every example, and every case at its level of fusion, wherever they compile; runs have tests of their own. Where a case says `expect agrees` it must.
fn files_run_on(profile: Profile) {
    let mut bench = Bench::default();
    let examples = rake_files("examples").unwrap();
    assert!(examples.len() > 2, "the examples are not where they were");
    for path in examples {
        let (name, text) = (path.display().to_string(), std::fs::read_to_string(root().join(&path)).unwrap());
        if has_runs(&text) {
            continue;
        }
        if let Err(diagnostics) = bench.add(&name, &text, profile, FuseLevel::Full, THOROUGH) {
            bench.fail(format!("{name} on {profile}"), &diagnostics);
        }
    }
    for case in cases().unwrap().into_iter().filter(|case| !has_runs(&case.source)) {
        let (name, directives) = (case.path.display().to_string(), &case.directives);
        let outcome = bench.add(&name, &case.source, profile, directives.fuse, THOROUGH);
        if let (Err(diagnostics), true) = (outcome, directives.agrees.contains(&profile)) {
            bench.fail(format!("{name} on {profile}"), &diagnostics);
        }
    }
    let (functions, _) = bench.finish();
    assert!(functions > 200, "only {functions} functions");
}

on_each_profile!(files_on, super::files_run_on);

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

on_each_profile!(random_programs_on, super::random_programs_run_on);

/// Random rakes, half as many as programs of scratches.
fn random_rakes_run_on(profile: Profile) {
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

on_each_profile!(random_rakes_on, super::random_rakes_run_on);

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
