//! Runs of AArch64: good objects are accepted, and every change of a bit or an instruction is rejected.

#[path = "../../backends/tests/common/a64_run_samples.rs"]
#[allow(dead_code)]
mod a64_run_samples;
#[path = "../../backends/tests/common/a64_samples.rs"]
#[allow(dead_code)]
mod a64_samples;

use a64_run_samples::{every_row_of_runs, row_of_run_by_row, run};
use a64_samples::{OPTIONS, inst, program};
use object::{Endianness, Object, ObjectSection};
use rake_backends::aarch64;
use rake_ir::allocated::Program;
use rake_ir::machine::aarch64::{A64, ALL};
use rake_ir::machine::{Address, Inst, MachOp, Operand, PhysReg};
use rake_verifier::{Metadata, Prepared, verify};
use std::ops::Range;

fn emit(program: &Program) -> Vec<u8> {
    aarch64::elf::emit(program, &OPTIONS).unwrap()
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
fn with_bodies() -> Program {
    let [number, index] = [PhysReg::g(8), PhysReg::g(23)];
    let place = Address { base: PhysReg::g(20), index: None, scale: 0, disp: 16 };
    let indexed = Address { base: PhysReg::g(0), index: Some(index), scale: 3, disp: 0 };
    let compare = |limit: i32| inst(A64::CompareLongNumber, None, &[Operand::Reg(index), Operand::Number(limit)], None);
    let marker = |op: A64, imm: Option<u8>| inst(op, None, &[], imm);
    let body: Vec<Inst<PhysReg>> = vec![
        compare(300),
        marker(A64::TrapUnless, Some(2)),
        inst(A64::CompareWord, None, &[Operand::Reg(number), Operand::Reg(number)], None),
        marker(A64::If, Some(4)),
        marker(A64::Loop, None),
        inst(A64::LdrRack, Some(PhysReg::v(1)), &[Operand::Memory(place)], None),
        inst(A64::StrRack, None, &[Operand::Memory(place), Operand::Reg(PhysReg::v(1))], None),
        inst(A64::AddNumber, Some(index), &[Operand::Reg(index), Operand::Number(4)], None),
        compare(7),
        marker(A64::Again, Some(6)),
        marker(A64::Else, None),
        inst(A64::StrLong, None, &[Operand::Memory(indexed), Operand::Reg(number)], None),
        inst(A64::TakeArgument, Some(number), &[Operand::Reg(PhysReg::s(1))], None),
        marker(A64::End, None),
    ];
    program(vec![run("f", body)])
}

#[test]
fn good_runs_are_accepted() {
    let mut programs = row_of_run_by_row(3);
    let first = inst(A64::TakeArgument, Some(PhysReg::g(8)), &[Operand::Reg(PhysReg::s(0))], None);
    programs.extend([every_row_of_runs(12), with_bodies(), program(vec![run("f", vec![first])])]);
    for program in programs {
        let object = emit(&program);
        verify(&object, &program, OPTIONS.exported).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
    }
}

/// Flips each bit of a section of these programs.
fn flip_bits(programs: &[Program], name: &str) {
    for program in programs {
        let metadata = Metadata::of(program, OPTIONS.exported);
        let mut object = emit(program);
        let place = section(&object, name);
        for at in place.clone() {
            for bit in 0..8 {
                object[at] ^= 1 << bit;
                assert!(!accepts(&object, &metadata, program), "{name} {:#x}: bit {bit}", at - place.start);
                object[at] ^= 1 << bit;
            }
        }
    }
}

#[test]
fn every_flipped_bit_of_a_row_is_rejected() {
    flip_bits(&row_of_run_by_row(2), ".text");
}

#[test]
fn every_flipped_bit_of_bodies_is_rejected() {
    flip_bits(&[with_bodies()], ".text");
    flip_bits(&[with_bodies()], ".eh_frame");
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
        for number in 0..32 {
            with(&|i| i.dst.iter_mut().for_each(|r| r.number = number));
            for arg in 0..inst.args.len() {
                with(&|i| match &mut i.args[arg] {
                    Operand::Reg(r) => r.number = number,
                    Operand::Memory(place) => place.base.number = number,
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
        for scale in 0..4 {
            with(&|i| i.args.iter_mut().for_each(|arg| set_scale(arg, scale)));
        }
        for &op in ALL {
            with(&|i| i.op = MachOp::A64(op));
        }
        for imm in 0..16 {
            with(&|i| i.imm = Some(imm));
        }
    }
    out
}

fn set_scale(arg: &mut Operand<PhysReg>, scale: u8) {
    if let Operand::Memory(place) = arg {
        place.scale = scale;
    }
}

#[test]
fn every_edit_of_a_run_is_rejected() {
    for program in row_of_run_by_row(1).into_iter().step_by(3).chain([with_bodies()]) {
        let object = emit(&program);
        let metadata = Metadata::of(&program, OPTIONS.exported);
        for edited in edits(&program).into_iter().filter(|edited| *edited != program) {
            if accepts(&object, &metadata, &edited) {
                let again = aarch64::elf::emit(&edited, &OPTIONS);
                assert!(again.as_ref() == Ok(&object), "{:#?}", edited.functions[0].insts);
            }
        }
    }
}
