//! `--emit-asm` and the object are the same, by GNU `as`.

#[path = "common/objects.rs"]
mod objects;
#[path = "common/run_samples.rs"]
#[allow(dead_code)]
mod run_samples;
#[path = "common/samples.rs"]
#[allow(dead_code)]
mod samples;

use object::read::elf::ElfFile64;
use object::{Endianness, Object};
use rake_backends::{Options, x86};
use rake_ir::allocated::{Program, check};
use run_samples::every_row_of_runs;
use samples::{PROFILES, every_row};
use std::process::Command;

const OPTIONS: Options<'static> = Options { exported: &|name| name == "k1" || name == "eq", compiler: "rakec 0.1.0" };

fn compare(program: &Program, name: &str) {
    let object = x86::elf::emit(program, &OPTIONS).unwrap();
    let text = x86::asm::emit(program, &OPTIONS, &|_| Some(("demo.rk".into(), 3))).unwrap();
    assert_eq!(object, x86::elf::emit(program, &OPTIONS).unwrap(), "two builds differ");
    objects::compare(&object, &["as", "--64"], &text, name);
}

#[test]
fn the_assembler_makes_the_same_object_of_every_row() {
    for profile in PROFILES {
        compare(&every_row(profile, 40), profile.name());
    }
}

#[test]
fn the_assembler_makes_the_same_object_of_runs() {
    for profile in PROFILES {
        let program = every_row_of_runs(profile, 12);
        assert_eq!(check(&program), Ok(()));
        compare(&program, &format!("runs-{}", profile.name()));
    }
}

#[test]
fn a_program_without_literals_or_without_functions_is_an_object_too() {
    for profile in PROFILES {
        let mut program = every_row(profile, 1);
        program.functions.retain(|f| f.literals.is_empty());
        compare(&program, "no-literals");
        program.functions.clear();
        let object = x86::elf::emit(&program, &OPTIONS).unwrap();
        assert!(ElfFile64::<Endianness>::parse(&*object).is_ok());
    }
}

#[test]
fn objects_link_into_a_shared_object_and_keep_their_properties() {
    let object = x86::elf::emit(&every_row(PROFILES[1], 2), &OPTIONS).unwrap();
    let base = std::env::temp_dir().join(format!("rake-link-{}", std::process::id()));
    let (input, output) = (base.with_extension("o"), base.with_extension("so"));
    std::fs::write(&input, object).unwrap();
    let Ok(run) =
        Command::new("ld").args(["-shared", "-z", "text", "--fatal-warnings", "-o"]).arg(&output).arg(&input).output()
    else {
        eprintln!("ld is not installed");
        return;
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let linked = std::fs::read(&output).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*linked).unwrap();
    let exported: Vec<_> =
        file.exports().unwrap().iter().map(|e| String::from_utf8_lossy(e.name()).into_owned()).collect();
    assert_eq!(exported, ["eq", "k1"]);
    std::fs::remove_file(input).unwrap();
    std::fs::remove_file(output).unwrap();
}
