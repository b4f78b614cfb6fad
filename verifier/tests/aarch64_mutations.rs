//! The verifier accepts good objects for AArch64, and rejects every flipped bit of an instruction, a literal, padding,
//! a mapping symbol, an unwind entry or a note, and every edit of an allocated instruction that makes other code.

#[path = "../../backends/tests/common/a64_samples.rs"]
#[allow(dead_code)]
mod samples;

use object::{Endianness, Object, ObjectSection};
use rake_backends::aarch64;
use rake_ir::allocated::Program;
use rake_ir::machine::aarch64::{A64, ALL};
use rake_ir::machine::{Inst, LiteralId, MachOp, Operand, PhysReg};
use rake_verifier::{Metadata, Prepared, verify};
use samples::{OPTIONS, Registers, function, inst, literals, program, rows};
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

/// An entry of a table, by the bits of a mask.
fn entry() -> Vec<Inst<PhysReg>> {
    let (v, g) = (PhysReg::v, PhysReg::g);
    let bits = [1, 2, 4, 8];
    let mask = |at: usize| inst(A64::Movi, Some(v(17)), &[], Some(bits[at]));
    let table = Operand::Literal(LiteralId(3));
    vec![
        mask(0),
        inst(A64::And, Some(v(17)), &[Operand::Reg(v(16)), Operand::Reg(v(17))], None),
        inst(A64::Addv, Some(v(18)), &[Operand::Reg(v(17))], None),
        inst(A64::FmovOut, Some(g(9)), &[Operand::Reg(v(18))], None),
        inst(A64::Adr, Some(g(10)), &[table], None),
        inst(A64::LdrEntry, Some(v(19)), &[Operand::Reg(g(10)), Operand::Reg(g(9)), table], None),
    ]
}

/// A program of each row, with a few of its immediates and registers.
fn programs(most: usize) -> Vec<Program> {
    let of = |op: A64| {
        let insts = match op {
            A64::LdrEntry => entry(),
            _ => {
                let all = samples::samples(op, Registers::Ours);
                let step = all.len().div_ceil(most).max(1);
                all.into_iter().step_by(step).collect()
            }
        };
        program(vec![function("f", literals(op as u8), &insts)])
    };
    rows().map(of).collect()
}

#[test]
fn good_objects_are_accepted() {
    let mut instructions = 0;
    for program in programs(usize::MAX) {
        let report = verify(&emit(&program), &program, OPTIONS.exported).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
        instructions += report.instructions();
    }
    assert!(instructions > 10_000, "{instructions}");
    eprintln!("{instructions} instructions accepted");
}

#[test]
fn every_flipped_bit_of_every_row_is_rejected() {
    let (mut tried, mut words) = (0u64, 0u64);
    for program in programs(3) {
        let metadata = Metadata::of(&program, OPTIONS.exported);
        let mut object = emit(&program);
        let text = section(&object, ".text");
        // All of the code; of a table every eleventh byte.
        let code = 4 * (program.functions[0].insts.len() + 1);
        words += code as u64 / 4;
        for at in text.clone() {
            if at - text.start >= code + 64 && !(at - text.start).is_multiple_of(11) {
                continue;
            }
            for bit in 0..8 {
                object[at] ^= 1 << bit;
                tried += 1;
                let row = program.functions[0].insts.iter().map(|i| i.op.name()).collect::<Vec<_>>();
                assert!(!accepts(&object, &metadata, &program), "{row:?} byte {:#x}, bit {bit}", at - text.start);
                object[at] ^= 1 << bit;
            }
        }
    }
    eprintln!("{tried} flipped bits of `.text` tried ({words} instructions, all of their bits), all rejected");
    assert!(tried > 20_000);
}

#[test]
fn every_flipped_bit_beside_the_code_is_rejected() {
    let insts = [inst(A64::Ldr, Some(PhysReg::v(0)), &[Operand::Literal(LiteralId(0))], None)];
    let program = program(vec![function("x1", literals(1), &insts), function("sp", literals(2), &entry())]);
    let metadata = Metadata::of(&program, OPTIONS.exported);
    let mut object = emit(&program);
    assert!(accepts(&object, &metadata, &program));
    for name in [".text", ".eh_frame", ".rela.eh_frame", ".note.gnu.property", ".symtab"] {
        let mut tried = 0;
        // The entries of `.symtab` but the first, which is nothing.
        let skipped = if name == ".symtab" { 24 } else { 0 };
        for at in section(&object, name).skip(skipped) {
            for bit in 0..8 {
                object[at] ^= 1 << bit;
                tried += 1;
                let rejected = !accepts(&object, &metadata, &program);
                assert!(rejected, "{name} {:#x}, bit {bit}", at - section(&object, name).start);
                object[at] ^= 1 << bit;
            }
        }
        eprintln!("{name}: {tried} flipped bits tried, all rejected");
        assert!(tried > 200, "{name}: {tried}");
    }
}

#[test]
fn damaged_objects_never_panic() {
    let program = program(vec![function("f", literals(1), &entry())]);
    let metadata = Metadata::of(&program, OPTIONS.exported);
    let good = emit(&program);
    let mut random = samples::Random(5);
    for _ in 0..3000 {
        let mut object = good.clone();
        for _ in 0..1 + random.next(4) {
            let at = random.next(object.len());
            object[at] = random.next(256) as u8;
        }
        let _ = accepts(&object, &metadata, &program);
    }
    for len in 0..good.len() {
        assert!(!accepts(&good[..len], &metadata, &program));
    }
}

/// Every program that differs from `program` in one instruction of its only function.
fn edits(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    let mut push = |at: usize, with: Vec<Inst<PhysReg>>| {
        let mut edited = program.clone();
        edited.functions[0].insts.splice(at..=at, with);
        out.push(edited);
    };
    for (at, inst) in program.functions[0].insts.iter().enumerate() {
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
                with(&|i| {
                    if let Operand::Reg(r) = &mut i.args[arg] {
                        r.number = number;
                    }
                });
            }
        }
        for class in rake_ir::machine::Class::ALL {
            with(&|i| i.dst.iter_mut().for_each(|r| r.class = class));
        }
        for arg in 0..inst.args.len() {
            for other in 0..arg {
                with(&|i| i.args.swap(arg, other));
            }
            for literal in (0..4).map(LiteralId) {
                with(&|i| i.args[arg] = Operand::Literal(literal));
                with(&|i| i.args[arg] = Operand::Broadcast(literal));
            }
        }
        for &op in ALL {
            with(&|i| i.op = MachOp::A64(op));
        }
        for imm in 0..=255 {
            with(&|i| i.imm = Some(imm));
        }
        with(&|i| i.imm = None);
        with(&|i| i.dst = None);
    }
    for literal in 0..program.functions[0].literals.len() {
        let mut edited = program.clone();
        edited.functions[0].literals[literal][1] ^= 4;
        out.push(edited);
    }
    out
}

#[test]
fn every_edit_of_an_allocated_instruction_is_rejected() {
    let (mut tried, mut same) = (0u64, 0u64);
    for program in programs(2).into_iter().step_by(3) {
        let object = emit(&program);
        let metadata = Metadata::of(&program, OPTIONS.exported);
        for edited in edits(&program) {
            if edited == program {
                continue;
            }
            tried += 1;
            if accepts(&object, &metadata, &edited) {
                let again = aarch64::elf::emit(&edited, &OPTIONS);
                assert!(again.as_ref() == Ok(&object), "{:#?}", edited.functions[0].insts);
                same += 1;
            }
        }
    }
    eprintln!("{tried} edits of allocated instructions tried, {same} are the same code, all others rejected");
    assert!(tried > 20_000);
}
