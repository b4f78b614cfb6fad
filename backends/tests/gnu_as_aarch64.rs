//! `--emit-asm` and the object are the same for AArch64, by GNU `as` for it.

#[path = "common/a64_run_samples.rs"]
#[allow(dead_code)]
mod a64_run_samples;
#[path = "common/a64_samples.rs"]
#[allow(dead_code)]
mod a64_samples;
#[path = "common/objects.rs"]
mod objects;

use a64_run_samples::{every_row_of_runs, run};
use a64_samples::{NAMES, OPTIONS, Registers, every_row, function, inst, literals, program};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol};
use rake_backends::aarch64;
use rake_ir::allocated::{Program, check};
use rake_ir::diag::Code;
use rake_ir::limits::LITERAL_DISTANCE;
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::{Inst, LiteralId, Operand, PhysReg};
use std::process::Command;

const ASSEMBLER: &[&str] = &["aarch64-linux-gnu-as"];

fn compare(program: &Program, name: &str) {
    let object = aarch64::elf::emit(program, &OPTIONS).unwrap();
    let text = aarch64::asm::emit(program, &OPTIONS, &|_| Some(("demo.rk".into(), 3))).unwrap();
    assert_eq!(object, aarch64::elf::emit(program, &OPTIONS).unwrap(), "two builds differ");
    objects::compare(&object, ASSEMBLER, &text, name);
    if let Some(assembled) = objects::assemble(ASSEMBLER, &text, name) {
        assert_eq!(mapping(&object), mapping(&assembled));
    }
}

/// The mapping symbols of `.text`.
fn mapping(bytes: &[u8]) -> Vec<(u64, String)> {
    let file = ElfFile64::<Endianness>::parse(bytes).unwrap();
    let text = file.section_by_name(".text").unwrap().index();
    let symbols = file.symbols().filter(|s| s.section_index() == Some(text));
    let marks = symbols.map(|s| (s.address(), s.name().unwrap().to_owned())).filter(|(_, name)| name.starts_with('$'));
    let mut marks: Vec<_> = marks.collect();
    marks.sort();
    marks
}

#[test]
fn the_assembler_makes_the_same_object_of_every_row_register_and_immediate() {
    compare(&every_row(Registers::All), "aarch64-all");
    let ours = every_row(Registers::Ours);
    check(&ours).unwrap();
    compare(&ours, "aarch64-ours");
}

#[test]
fn the_assembler_makes_the_same_object_of_runs() {
    let program = every_row_of_runs(40);
    assert_eq!(check(&program), Ok(()));
    compare(&program, "aarch64-runs");
}

#[test]
fn a_jump_reaches_its_end_or_is_refused() {
    let of_length = |insts: usize| {
        let zero = inst(A64::Zero, Some(PhysReg::v(0)), &[], None);
        let number = [Operand::Reg(PhysReg::g(4)), Operand::Number(0)];
        let open = [inst(A64::CompareLongNumber, None, &number, None), inst(A64::If, None, &[], Some(0))];
        let body = open.into_iter().chain(std::iter::repeat_n(zero, insts)).chain([inst(A64::End, None, &[], None)]);
        program(vec![run("long", body.collect())])
    };
    // A conditional jump leads at most 2^18 - 1 instructions further.
    let most = (1 << 18) - 2;
    compare(&of_length(most), "aarch64-longest-jump");
    let problem = aarch64::elf::emit(&of_length(most + 1), &OPTIONS).unwrap_err();
    assert_eq!(problem.code, Code::LimitExceeded);
}

fn load(literal: u32) -> Inst<PhysReg> {
    inst(A64::Ldr, Some(PhysReg::v(0)), &[Operand::Literal(LiteralId(literal))], None)
}

fn adr(literal: u32) -> Inst<PhysReg> {
    inst(A64::Adr, Some(PhysReg::g(9)), &[Operand::Literal(LiteralId(literal))], None)
}

/// Functions with and without literals by turns, of every length modulo 16, each kind of literal alone and with others.
#[test]
fn code_and_literals_stand_where_the_assembler_puts_them() {
    let zero = inst(A64::Zero, Some(PhysReg::v(0)), &[], None);
    let pools: [&[Inst<PhysReg>]; 6] =
        [&[], &[load(2)], &[adr(3)], &[adr(3), load(1)], &[load(2), load(0), load(2)], &[]];
    let mut functions = Vec::new();
    for length in 0..4 {
        for (kind, reads) in pools.iter().enumerate() {
            let insts: Vec<_> = std::iter::repeat_n(zero.clone(), length).chain(reads.iter().cloned()).collect();
            functions.push(function(&format!("f{length}_{kind}"), literals(kind as u8), &insts));
        }
    }
    for count in [functions.len(), functions.len() - 1, 1, 2] {
        let some = program(functions[..count].to_vec());
        check(&some).unwrap();
        compare(&some, "aarch64-pools");
    }
    functions.clear();
    let none = aarch64::elf::emit(&program(functions), &OPTIONS).unwrap();
    assert!(ElfFile64::<Endianness>::parse(&*none).is_ok());
}

/// Elements are aligned to themselves and follow the racks.
#[test]
fn literals_stand_by_alignment_then_first_use() {
    let one = function("one", vec![vec![1; 4], vec![2; 16], vec![3; 16], vec![4; 16]], &[load(0), load(2), load(1)]);
    let object = aarch64::elf::emit(&program(vec![one]), &OPTIONS).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*object).unwrap();
    let text = file.section_by_name(".text").unwrap().data().unwrap();
    assert_eq!(text[32..], [vec![3; 16], vec![2; 16], vec![1; 4]].concat());
    let symbol = file.symbols().find(|s| s.name() == Ok("one")).unwrap();
    assert_eq!((symbol.address(), symbol.size()), (0, 20));
}

#[test]
fn a_function_reaches_its_literals_or_is_refused() {
    let of_length = |insts: usize| {
        let zero = inst(A64::Zero, Some(PhysReg::v(0)), &[], None);
        let insts: Vec<_> = [load(0)].into_iter().chain(std::iter::repeat_n(zero, insts)).collect();
        program(vec![function("long", vec![vec![7; 16]], &insts)])
    };
    // The load is the first after the landing, and the literal follows `ret` without padding.
    let most = LITERAL_DISTANCE as usize / 4 - 2;
    compare(&of_length(most), "aarch64-longest");
    let problem = aarch64::elf::emit(&of_length(most + 1), &OPTIONS).unwrap_err();
    assert_eq!(problem.code, Code::LimitExceeded);
}

#[test]
fn objects_link_into_a_shared_object_and_keep_their_properties() {
    let base = std::env::temp_dir().join(format!("rake-link-aarch64-{}", std::process::id()));
    let (input, output) = (base.with_extension("o"), base.with_extension("so"));
    std::fs::write(&input, aarch64::elf::emit(&every_row(Registers::Ours), &OPTIONS).unwrap()).unwrap();
    let mut linker = Command::new("aarch64-linux-gnu-ld");
    linker.args(["-shared", "-z", "text", "-z", "force-bti", "--fatal-warnings", "-o"]).arg(&output).arg(&input);
    let Ok(run) = linker.output() else {
        eprintln!("aarch64-linux-gnu-ld is not installed");
        return;
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let linked = std::fs::read(&output).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*linked).unwrap();
    let mut exported: Vec<_> =
        file.exports().unwrap().iter().map(|e| String::from_utf8_lossy(e.name()).into_owned()).collect();
    exported.sort();
    assert_eq!(exported, ["eq", "x1"]);
    assert!(exported.iter().all(|name| NAMES.contains(&name.as_str())));
    std::fs::remove_file(input).unwrap();
    std::fs::remove_file(output).unwrap();
}
