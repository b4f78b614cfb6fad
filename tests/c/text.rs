//! The text: it compiles without a warning, keeps its instructions, and refuses what would change them.

use crate::build::{WARNINGS, build, c_of, compilers};
use crate::run_programs::{self, GATHERS, LOOPS, NUMBERS, PART};
use crate::support::{files, object, plain};
use object::{Object, ObjectSection};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_testkit::c::{Compiler, Source, compile};
use rake_testkit::source::{Program, operations};

fn available() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.info().available)
}

/// Names that C, the headers or our own text have for something else.
const NAMES: &str = "\
scratch v1(while_: f32s, linux: f32s, int: u32s, v3: mask, v4: i32s, <static: i32>, <signed: bool>, <v9: f32>) -> f32s:
  if v3 and <signed> then linux * <v9> else to_f32(v4 + <static>)

scratch unread(x: f32s, char: i32s, <short: u32>, <bool_: bool>) -> f32s:
  x

scratch nothing() -> u32:
  <7>
";

#[test]
fn every_program_compiles_without_a_warning() {
    let mut programs: Vec<(String, String)> =
        files().into_iter().map(|(path, text)| (path.display().to_string(), text)).collect();
    programs.push(("names".to_owned(), NAMES.to_owned()));
    for profile in available() {
        let mut compiled = 0;
        for (name, text) in &programs {
            let Ok(c) = c_of(text, profile, FuseLevel::Full) else { continue };
            // Where there are two compilers, each takes every other program.
            let all = compilers(profile);
            for (compiler, machine) in all.iter().skip(compiled % all.len()).step_by(2).copied() {
                let flags = [&WARNINGS[..], &["-std=c11", "-O1"], machine].concat();
                build(compiler, &c, &flags).unwrap_or_else(|e| panic!("{name} on {profile}: {e}\n{c}"));
            }
            compiled += 1;
        }
        assert!(compiled > 60, "only {compiled} programs compile on {profile}");
    }
}

fn text_section(bytes: &[u8]) -> Vec<u8> {
    let file = object::File::parse(bytes).unwrap();
    file.section_by_name(".text").map(|section| section.data().unwrap().to_vec()).unwrap_or_default()
}

#[test]
fn c_compilers_keep_native_instructions_byte_for_byte() {
    let native = |profile: &Profile| matches!(profile.info().family, Family::X86 | Family::Aarch64);
    for profile in available().filter(native) {
        let mut compared = 0;
        let some = |program: &Program| ["vocabulary", "folds", "narrow"].iter().any(|w| program.name.starts_with(w));
        let vocabulary = operations::vocabulary(profile.lanes_of_bits(32)).into_iter().filter(some);
        let vocabulary = vocabulary.map(|program| (program.name, program.text));
        let runs = run_programs::ALL.iter().chain(&[LOOPS, NUMBERS, PART, GATHERS]);
        let runs = runs.map(|text| ("runs".to_owned(), text.to_string()));
        for (name, text) in vocabulary.chain(runs) {
            let Ok(c) = c_of(&text, profile, FuseLevel::Full) else { continue };
            let expected = text_section(&object(&text, profile, FuseLevel::Full).map_err(|e| plain(&e)).unwrap());
            for (compiler, _) in compilers(profile) {
                for flags in [["-O0", "-std=c11"], ["-O3", "-std=gnu11"]] {
                    let made = build(compiler, &c, &flags).unwrap_or_else(|e| panic!("{}: {e}", name));
                    assert!(text_section(&made) == expected, "{} on {profile} by {compiler:?}", name);
                }
            }
            compared += 1;
        }
        assert!(compared >= 7, "only {compared} programs on {profile}");
    }
}

#[test]
fn another_machine_or_arithmetic_is_refused() {
    let c_for = |profile| c_of(NAMES, profile, FuseLevel::Full).unwrap();
    let refused = |compiler, c: &str, flags: &[&str], why: &str| {
        let error = compile(compiler, Source::Text(c), flags).unwrap_err();
        assert!(error.contains(why), "{compiler:?} {flags:?}: {error}");
    };
    let scalar = c_for(Profile::Scalar);
    for compiler in Compiler::X86 {
        refused(compiler, &scalar, &["-O2", "-ffast-math"], "compile without -ffast-math");
        refused(compiler, &scalar, &["-O2", "-ffinite-math-only"], "compile without -ffast-math");
    }
    refused(
        Compiler::Gcc,
        &scalar,
        &["-O2", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
        "without",
    );
    refused(Compiler::Gcc, &scalar, &["-mfpmath=387"], "excess precision");
    refused(Compiler::ClangAarch64, &c_for(Profile::X86Avx2), &[], "compile for x86-64");
    if available().any(|profile| profile == Profile::Aarch64Neon) {
        refused(Compiler::Gcc, &c_for(Profile::Aarch64Neon), &[], "compile for little-endian AArch64");
    }
}
