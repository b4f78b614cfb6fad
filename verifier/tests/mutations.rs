//! The verifier accepts good objects, and rejects every change of a code, relocation or literal byte and every edit of
//! an allocated instruction, unless what is left means exactly the same.

#[path = "../../backends/tests/common/samples.rs"]
#[allow(dead_code)]
mod samples;

use iced_x86::{Decoder, DecoderOptions};
use object::{Endianness, Object, ObjectSection};
use rake_backends::{Options, x86};
use rake_ir::allocated::Program;
use rake_ir::machine::x86::ALL;
use rake_ir::machine::{Class, LiteralId, MachOp, Operand, PhysReg};
use rake_ir::profile::Profile;
use rake_verifier::{Metadata, Prepared, verify};
use samples::{PROFILES, Random, every_row, row_by_row};
use std::ops::Range;

const OPTIONS: Options<'static> = Options { exported: &|name| name == "k1", compiler: "rakec 0.1.0" };

fn emit(program: &Program) -> Vec<u8> {
    x86::elf::emit(program, &OPTIONS).unwrap()
}

fn accepts(object: &[u8], metadata: &Metadata, program: &Program) -> bool {
    Prepared::new(object, metadata, Some(program)).and_then(|p| p.all()).is_ok()
}

/// Where a section's bytes stand in the file; empty when there is no such section.
fn section(object: &[u8], name: &str) -> Range<usize> {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(object).unwrap();
    let range = file.section_by_name(name).and_then(|s| s.file_range());
    range.map_or(0..0, |(start, len)| start as usize..(start + len) as usize)
}

#[test]
fn good_objects_are_accepted() {
    let mut instructions = 0;
    for profile in PROFILES {
        let program = every_row(profile, 40);
        let report = verify(&emit(&program), &program, OPTIONS.exported).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
        instructions += report.instructions();
        for program in row_by_row(profile, 1) {
            verify(&emit(&program), &program, OPTIONS.exported).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
        }
    }
    assert!(instructions > 10_000, "{instructions}");
    eprintln!("{instructions} instructions accepted");
}

/// Decoded by iced-x86, which decoded nothing for the verifier.
fn decoded(code: &[u8]) -> Option<Vec<iced_x86::Instruction>> {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let all: Vec<_> = decoder.iter().collect();
    all.iter().all(|i| !i.is_invalid()).then_some(all)
}

/// The values that a byte is changed to: each of its bits flipped, and eight more that differ from byte to byte. With
/// `RAKE_TEST_BYTES` set, every other value.
fn others(right: u8, at: usize) -> Vec<u8> {
    if std::env::var_os("RAKE_TEST_BYTES").is_some() {
        return (0..=255).filter(|&value| value != right).collect();
    }
    let mut random = Random(at as u64 + 1);
    let flipped = (0..8).map(|bit| right ^ 1 << bit);
    let far = (0..8).map(|_| random.next(256) as u8);
    let mut values: Vec<u8> = flipped.chain(far).filter(|&value| value != right).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Changes every code byte of every row of the table.
fn change_code_bytes(profile: Profile) {
    let (mut tried, mut same) = (0u64, 0u64);
    for program in row_by_row(profile, 1) {
        let metadata = Metadata::of(&program, OPTIONS.exported);
        let mut object = emit(&program);
        let text = section(&object, ".text");
        let before = decoded(&object[text.clone()]);
        for at in text.clone() {
            let right = object[at];
            for value in others(right, at) {
                object[at] = value;
                tried += 1;
                if accepts(&object, &metadata, &program) {
                    let after = decoded(&object[text.clone()]);
                    assert_eq!(before, after, "{profile} byte {:#x}: {right:#x} -> {value:#x}", at - text.start);
                    same += 1;
                }
            }
            object[at] = right;
        }
    }
    eprintln!("{profile}: {tried} code mutations tried, {same} left the same instructions, all others rejected");
    assert!(tried > 20_000);
}

#[test]
fn every_change_of_a_code_byte_is_rejected_on_sse2() {
    change_code_bytes(Profile::X86Sse2);
}

#[test]
fn every_change_of_a_code_byte_is_rejected_on_avx2() {
    change_code_bytes(Profile::X86Avx2);
}

#[test]
fn every_change_of_a_code_byte_is_rejected_on_avx512() {
    change_code_bytes(Profile::X86Avx512);
}

#[test]
fn every_change_of_a_relocation_literal_or_unwind_byte_is_rejected() {
    for name in [".rela.text", ".rodata", ".eh_frame", ".rela.eh_frame"] {
        let mut tried = 0u64;
        for profile in PROFILES {
            for program in row_by_row(profile, 1).into_iter().step_by(29) {
                let metadata = Metadata::of(&program, OPTIONS.exported);
                let mut object = emit(&program);
                // A table is too long to try all.
                let place = section(&object, name);
                let step = if place.len() > 1024 { 37 } else { 1 };
                for at in place.step_by(step) {
                    let right = object[at];
                    for value in (0..=255).filter(|&v| v != right) {
                        object[at] = value;
                        tried += 1;
                        assert!(
                            !accepts(&object, &metadata, &program),
                            "{profile} {name} {at:#x}: {right:#x} -> {value:#x}"
                        );
                    }
                    object[at] = right;
                }
            }
        }
        eprintln!("{tried} mutations of {name} tried, all rejected");
        assert!(tried > 20_000);
    }
}

#[test]
fn damaged_objects_never_panic() {
    let program = every_row(PROFILES[2], 2);
    let metadata = Metadata::of(&program, OPTIONS.exported);
    let good = emit(&program);
    let mut random = Random(5);
    for _ in 0..3000 {
        let mut object = good.clone();
        for _ in 0..1 + random.next(4) {
            let at = random.next(object.len());
            object[at] = random.next(256) as u8;
        }
        let _ = accepts(&object, &metadata, &program);
    }
    for len in 0..good.len().min(2000) {
        assert!(!accepts(&good[..len], &metadata, &program));
        assert!(!accepts(&good[..good.len() - 1 - len], &metadata, &program));
    }
}

/// Every program that differs from `program` in one instruction of its only function.
fn edits(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    let insts = &program.functions[0].insts;
    let mut push = |at: usize, with: Vec<rake_ir::machine::Inst<PhysReg>>| {
        let mut edited = program.clone();
        edited.functions[0].insts.splice(at..=at, with);
        out.push(edited);
    };
    for (at, inst) in insts.iter().enumerate() {
        push(at, vec![]);
        push(at, vec![inst.clone(), inst.clone()]);
        let mut with = |change: &dyn Fn(&mut rake_ir::machine::Inst<PhysReg>)| {
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
        for class in Class::ALL {
            with(&|i| i.dst.iter_mut().for_each(|r| r.class = class));
        }
        for arg in 0..inst.args.len() {
            for other in 0..inst.args.len() {
                with(&|i| i.args.swap(arg, other));
            }
            for literal in (0..7).map(LiteralId) {
                with(&|i| i.args[arg] = Operand::Literal(literal));
                with(&|i| i.args[arg] = Operand::Broadcast(literal));
            }
        }
        for &op in ALL {
            with(&|i| i.op = MachOp::X86(op));
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
    for profile in PROFILES {
        for program in row_by_row(profile, 1).into_iter().step_by(5) {
            let object = emit(&program);
            let metadata = Metadata::of(&program, OPTIONS.exported);
            for edited in edits(&program) {
                if edited == program {
                    continue;
                }
                tried += 1;
                if accepts(&object, &metadata, &edited) {
                    let again = x86::elf::emit(&edited, &OPTIONS);
                    assert!(again.as_ref() == Ok(&object), "{:#?}", edited.functions[0].insts);
                    same += 1;
                }
            }
        }
    }
    eprintln!("{tried} edits of allocated instructions tried, {same} are the same code, all others rejected");
    assert!(tried > 20_000);
}

#[test]
fn symbols_and_exports_are_checked() {
    for profile in PROFILES {
        let program = every_row(profile, 1);
        let object = emit(&program);
        assert!(verify(&object, &program, &|_| false).is_err());
        assert!(verify(&object, &program, &|_| true).is_err());
        let mut renamed = program.clone();
        renamed.functions[0].name = "rbx".into();
        let problems = verify(&object, &renamed, OPTIONS.exported).expect_err("another name is accepted");
        assert!(problems.iter().any(|problem| problem.code == rake_ir::diag::Code::ObjectDiffers), "{problems:?}");
        let mut swapped = program.clone();
        swapped.functions.swap(0, 1);
        assert!(verify(&object, &swapped, OPTIONS.exported).is_err());
        let mut fewer = program.clone();
        fewer.functions.pop();
        assert!(verify(&object, &fewer, OPTIONS.exported).is_err());
    }
}

/// The offset in the file of a section's header.
fn header_of(object: &[u8], name: &str) -> usize {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(object).unwrap();
    let table = u64::from_le_bytes(object[0x28..0x30].try_into().unwrap());
    table as usize + 64 * file.section_by_name(name).unwrap().index().0
}

#[test]
fn types_flags_and_entry_sizes_of_sections_are_exact() {
    let program = &every_row(PROFILES[1], 1);
    let metadata = Metadata::of(program, OPTIONS.exported);
    let good = emit(program);
    assert!(accepts(&good, &metadata, program));
    let names = [".text", ".rodata", ".eh_frame", ".comment", ".note.GNU-stack", ".note.gnu.property", ".rela.text"];
    for name in names {
        // sh_type, sh_flags and sh_entsize of the ELF-64 section header: every bit of the first and of the flags that
        // a linker knows.
        let header = header_of(&good, name);
        let bits = (0..32).map(|bit| (4, bit)).chain((0..12).map(|bit| (8, bit))).chain((0..8).map(|bit| (56, bit)));
        for (field, bit) in bits {
            let mut object = good.clone();
            object[header + field + bit / 8] ^= 1 << (bit % 8);
            assert!(!accepts(&object, &metadata, program), "{name}: bit {bit} of the field at {field}");
        }
    }
}

#[test]
fn an_object_that_says_nothing_of_the_stack_is_rejected() {
    let program = &every_row(PROFILES[1], 1);
    let mut object = emit(program);
    let name = object.windows(16).position(|bytes| bytes == b".note.GNU-stack\0").unwrap();
    object[name + 1] = b'c';
    let problems = verify(&object, program, OPTIONS.exported).unwrap_err();
    assert!(problems.iter().any(|problem| problem.message.contains(".cote.GNU-stack")), "{problems:?}");
}

#[test]
fn functions_may_be_checked_from_many_threads() {
    let program = every_row(PROFILES[1], 2);
    let object = emit(&program);
    let metadata = Metadata::of(&program, OPTIONS.exported);
    let prepared = Prepared::new(&object, &metadata, Some(&program)).unwrap();
    let prepared = &prepared;
    let reports: Vec<_> = std::thread::scope(|scope| {
        let each = (0..prepared.len()).map(|i| scope.spawn(move || prepared.function(i).unwrap())).collect::<Vec<_>>();
        each.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(reports, prepared.all().unwrap().functions);
}
