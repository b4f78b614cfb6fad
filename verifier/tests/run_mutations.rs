//! Runs: good objects are accepted, and every change of a byte or an instruction is rejected unless what is left means
//! exactly the same.

#[path = "../../backends/tests/common/run_samples.rs"]
#[allow(dead_code)]
mod run_samples;
#[path = "../../backends/tests/common/samples.rs"]
#[allow(dead_code)]
mod samples;

use iced_x86::{Decoder, DecoderOptions};
use object::{Endianness, Object, ObjectSection};
use rake_backends::{Options, x86};
use rake_ir::allocated::Program;
use rake_ir::machine::x86::{ALL, X86};
use rake_ir::machine::{Address, Inst, MachOp, Operand, PhysReg};
use rake_ir::profile::Profile;
use rake_verifier::{Metadata, Prepared, verify};
use run_samples::{every_row_of_runs, row_of_run_by_row, run};
use samples::{PROFILES, inst, program};
use std::ops::Range;

const OPTIONS: Options<'static> = Options { exported: &|_| false, compiler: "rakec 0.1.0" };

fn emit(program: &Program) -> Vec<u8> {
    x86::elf::emit(program, &OPTIONS).unwrap()
}

fn accepts(object: &[u8], metadata: &Metadata, program: &Program) -> bool {
    Prepared::new(object, metadata, Some(program)).and_then(|p| p.all()).is_ok()
}

fn section(object: &[u8], name: &str) -> Range<usize> {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(object).unwrap();
    let range = file.section_by_name(name).and_then(|s| s.file_range());
    range.map_or(0..0, |(start, len)| start as usize..(start + len) as usize)
}

/// A run with every kind of body: a loop in a branch, a check, and what it saves.
fn with_bodies(profile: Profile) -> Program {
    let [number, index] = [PhysReg::g(8), PhysReg::g(14)];
    let place = Address { base: PhysReg::g(12), index: Some(index), scale: 2, disp: 16 };
    let compare = |limit: i32| inst(X86::CompareLong, None, &[Operand::Reg(index), Operand::Number(limit)], None);
    let marker = |op: X86, imm: Option<u8>| inst(op, None, &[], imm);
    let body: Vec<Inst<PhysReg>> = vec![
        compare(300),
        marker(X86::TrapUnless, Some(2)),
        inst(X86::TestLong, None, &[Operand::Reg(number), Operand::Reg(number)], None),
        marker(X86::If, Some(4)),
        marker(X86::Loop, None),
        inst(X86::RackLoad, Some(PhysReg::v(1)), &[Operand::Memory(place)], None),
        inst(X86::RackStore, None, &[Operand::Memory(place), Operand::Reg(PhysReg::v(1))], None),
        inst(X86::AddLong, Some(index), &[Operand::Reg(index), Operand::Number(4)], None),
        compare(7),
        marker(X86::Again, Some(6)),
        marker(X86::Else, None),
        inst(X86::StoreLong, None, &[Operand::Memory(place), Operand::Number(0)], None),
        marker(X86::End, None),
    ];
    program(profile, vec![run("f", profile, body)])
}

#[test]
fn good_runs_are_accepted() {
    for profile in PROFILES {
        let mut programs = row_of_run_by_row(profile, 3);
        programs.extend([every_row_of_runs(profile, 12), with_bodies(profile)]);
        for program in programs {
            let object = emit(&program);
            verify(&object, &program, OPTIONS.exported).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
        }
    }
}

/// Decoded by iced-x86, which decoded nothing for the verifier.
fn decoded(code: &[u8]) -> Option<Vec<iced_x86::Instruction>> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let all: Vec<_> = decoder.iter().collect();
    all.iter().all(|i| !i.is_invalid()).then_some(all)
}

/// Puts other values into every byte of a section of these programs: every one, or those with one bit flipped.
fn change_bytes(profile: Profile, programs: &[Program], name: &str, all: bool) {
    for program in programs {
        let metadata = Metadata::of(program, OPTIONS.exported);
        let mut object = emit(program);
        let place = section(&object, name);
        let text = section(&object, ".text");
        let before = decoded(&object[text.clone()]);
        for at in place.clone() {
            let right = object[at];
            let flipped = |v: u8| (v ^ right).is_power_of_two();
            for value in (0..=255).filter(|&v| v != right && (all || flipped(v))) {
                object[at] = value;
                if accepts(&object, &metadata, program) {
                    let after = decoded(&object[text.clone()]);
                    assert!(
                        name == ".text" && before == after,
                        "{profile} {name} {:#x}: {right:#x} -> {value:#x}",
                        at - place.start
                    );
                }
            }
            object[at] = right;
        }
    }
}

#[test]
fn every_flipped_bit_of_a_row_is_rejected() {
    for profile in PROFILES {
        let programs: Vec<Program> = row_of_run_by_row(profile, 1).into_iter().step_by(5).collect();
        change_bytes(profile, &programs, ".text", false);
    }
}

#[test]
fn every_change_of_a_byte_of_bodies_is_rejected() {
    for profile in PROFILES {
        change_bytes(profile, &[with_bodies(profile)], ".text", true);
        change_bytes(profile, &[with_bodies(profile)], ".eh_frame", true);
    }
}

/// Every program that differs from `program` in one instruction of its only function.
fn edits(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    let insts = &program.functions[0].insts;
    let mut push = |at: usize, with: Vec<Inst<PhysReg>>| {
        let mut edited = program.clone();
        edited.functions[0].insts.splice(at..=at, with);
        out.push(edited);
    };
    for (at, inst) in insts.iter().enumerate() {
        push(at, vec![]);
        push(at, vec![inst.clone(), inst.clone()]);
        let mut with = |change: &dyn Fn(&mut Inst<PhysReg>)| {
            let mut edited = inst.clone();
            change(&mut edited);
            push(at, vec![edited]);
        };
        for number in 0..16 {
            with(&|i| i.dst.iter_mut().for_each(|r| r.number = number));
            for arg in 0..inst.args.len() {
                with(&|i| match &mut i.args[arg] {
                    Operand::Reg(r) => r.number = number,
                    Operand::Memory(place) | Operand::MemoryElement(place) => place.base.number = number,
                    _ => {}
                });
                with(&|i| match &mut i.args[arg] {
                    Operand::Memory(place) => place.index = Some(PhysReg::g(number)),
                    Operand::Number(other) => *other ^= 1 << number,
                    _ => {}
                });
                with(&|i| match &mut i.args[arg] {
                    Operand::Memory(place) => place.disp ^= 1 << number,
                    Operand::Reg(_) => i.args[arg] = Operand::Number(number.into()),
                    _ => {}
                });
            }
        }
        for &op in ALL {
            with(&|i| i.op = MachOp::X86(op));
        }
        for imm in 0..16 {
            with(&|i| i.imm = Some(imm));
        }
    }
    out
}

#[test]
fn every_edit_of_a_run_is_rejected() {
    for profile in PROFILES {
        for program in row_of_run_by_row(profile, 1).into_iter().step_by(23).chain([with_bodies(profile)]) {
            let object = emit(&program);
            let metadata = Metadata::of(&program, OPTIONS.exported);
            for edited in edits(&program).into_iter().filter(|edited| *edited != program) {
                if accepts(&object, &metadata, &edited) {
                    let again = x86::elf::emit(&edited, &OPTIONS);
                    assert!(again.as_ref() == Ok(&object), "{:#?}", edited.functions[0].insts);
                }
            }
        }
    }
}
