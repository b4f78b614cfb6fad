//! The verifier against damage to the objects and modules of the examples, as the whole pipeline makes them: every single
//! flipped bit and seeded other values of every byte of code, relocations, literals, unwind entries and notes, or of the
//! whole module, and every edit of one allocated or stacked instruction. What is still accepted must be the same code.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "../../verifier/tests/common/module.rs"]
mod module_said;
#[path = "../support/mod.rs"]
mod support;
mod wasm;

use object::{Endianness, Object as _, ObjectSection as _};
use rake_ir::allocated::{self, Program};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::{Inst, LiteralId, MachOp, Operand, PhysReg, aarch64, x86};
use rake_ir::profile::{Family, Profile};
use rake_verifier::{Metadata, Prepared};
use rakec::pipeline::Ir;
use rayon::prelude::*;
use support::{ir_at, object};

/// Other values tried for each byte beside its eight single-bit flips.
const SEEDED: usize = 16;

/// What the driver asks of the backend.
const SETTINGS: rake_backends::Options<'static> =
    rake_backends::Options { exported: &|_| false, compiler: concat!("rakec ", env!("CARGO_PKG_VERSION")) };

/// The profiles that objects are made for.
const PROFILES: [Profile; 4] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512, Profile::Aarch64Neon];

/// An example compiled for a profile.
struct Made {
    name: String,
    object: Vec<u8>,
    metadata: Metadata,
    program: Program,
}

impl Made {
    fn accepts(&self, object: &[u8], program: &Program) -> bool {
        Prepared::new(object, &self.metadata, Some(program)).and_then(|prepared| prepared.all()).is_ok()
    }
}

fn made(path: &std::path::Path, profile: Profile) -> Made {
    let text = std::fs::read_to_string(path).unwrap();
    let at = |to| ir_at(&text, profile, FuseLevel::Full, to).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let (Ir::Selected(selected), Ir::Allocated(program)) = (at("select"), at("allocate")) else {
        panic!("the passes give other IRs");
    };
    let object = object(&text, profile, FuseLevel::Full).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let metadata = Metadata::selected(&selected, &program, &|_| false);
    Made { name: format!("{} {profile}", path.display()), object, metadata, program }
}

/// The examples.
fn paths() -> Vec<std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "rk"));
    paths.sort();
    assert!(paths.len() >= 6);
    paths
}

/// Every example on every profile that objects are made for.
fn examples() -> Vec<Made> {
    paths().iter().flat_map(|path| PROFILES.map(|profile| made(path, profile))).collect()
}

/// Decoded by iced-x86, which decoded nothing for the verifier: mnemonics and operands. Of a copy from a register to
/// itself there are two encodings, which mean the same.
fn decoded(code: &[u8]) -> Vec<String> {
    let decoder = &mut iced_x86::Decoder::with_ip(64, code, 0, iced_x86::DecoderOptions::NONE);
    let words = |i: iced_x86::Instruction| {
        let operands = (0..i.op_count()).map(|n| match i.op_kind(n) {
            iced_x86::OpKind::Register => format!("{:?}", i.op_register(n)),
            iced_x86::OpKind::Immediate8 => format!("{}", i.immediate8()),
            _ => format!("{:?} {:#x} {:?}", i.memory_base(), i.memory_displacement64(), i.memory_size()),
        });
        let masked = (i.op_mask(), i.zeroing_masking(), i.is_broadcast(), i.rounding_control());
        format!("{:?} {:?} {masked:?}", i.mnemonic(), operands.collect::<Vec<_>>())
    };
    decoder.iter().map(words).collect()
}

/// The values to put where `right` stands: single bits flipped, and some that a seed picks.
fn others(right: u8, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 + 1;
    let seeded = (0..SEEDED).map(|_| {
        // Numerical Recipes' linear congruential generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    });
    let mut values: Vec<u8> = (0..8).map(|bit| right ^ 1 << bit).chain(seeded).filter(|&v| v != right).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Changes one byte of a section in every way; how many changes were tried, and how many left the same code.
fn change(made: &Made, name: &str, at: usize) -> (u64, u64) {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(&*made.object).unwrap();
    let (start, len) = file.section_by_name(".text").and_then(|s| s.file_range()).unwrap();
    let text = start as usize..(start + len) as usize;
    let right = decoded(&made.object[text.clone()]);
    // Of AArch64 every bit of a word is checked, so no changed one is the same code.
    let words = made.program.profile.info().family == Family::Aarch64;
    let mut changed = made.object.clone();
    let (mut tried, mut same) = (0, 0);
    for value in others(made.object[at], at) {
        changed[at] = value;
        tried += 1;
        if made.accepts(&changed, &made.program) {
            let what = format!("{} {name} {at:#x}: {:#x} -> {value:#x}", made.name, made.object[at]);
            assert!(!words && decoded(&changed[text.clone()]) == right, "{what}");
            assert_eq!(name, ".text", "{what}");
            same += 1;
        }
    }
    (tried, same)
}

#[test]
fn every_changed_byte_is_rejected() {
    let examples = examples();
    for made in &examples {
        assert!(made.accepts(&made.object, &made.program), "{}", made.name);
    }
    let sections = [".text", ".rela.text", ".rodata", ".eh_frame", ".rela.eh_frame", ".note.gnu.property"];
    for (name, family) in sections.iter().flat_map(|&name| [(name, Family::X86), (name, Family::Aarch64)]) {
        let places: Vec<(&Made, usize)> = examples
            .iter()
            .filter(|made| made.program.profile.info().family == family)
            .flat_map(|made| {
                let file = object::read::elf::ElfFile64::<Endianness>::parse(&*made.object).unwrap();
                let range = file.section_by_name(name).and_then(|s| s.file_range()).unwrap_or((0, 0));
                (range.0..range.0 + range.1).map(move |at| (made, at as usize))
            })
            .collect();
        let sum = |a: (u64, u64), b: (u64, u64)| (a.0 + b.0, a.1 + b.1);
        let (tried, same) = places.par_iter().map(|&(made, at)| change(made, name, at)).reduce(|| (0, 0), sum);
        eprintln!("{family:?} {name}: {tried} changes tried, {same} left the same instructions, all others rejected");
        // Literals of AArch64 stand in `.text`, which nothing relocates.
        let none = family == Family::Aarch64 && [".rodata", ".rela.text"].contains(&name);
        assert!(tried > 2_000 || none && tried == 0, "{family:?} {name}: {tried}");
    }
}

/// Every operation of the profile's family.
fn operations(profile: Profile) -> Vec<MachOp> {
    match profile.info().family {
        Family::Aarch64 => aarch64::ALL.iter().map(|&op| MachOp::A64(op)).collect(),
        _ => x86::ALL.iter().map(|&op| MachOp::X86(op)).collect(),
    }
}

fn emit(program: &Program) -> Option<Vec<u8>> {
    match program.profile.info().family {
        Family::Aarch64 => rake_backends::aarch64::elf::emit(program, &SETTINGS).ok(),
        _ => rake_backends::x86::elf::emit(program, &SETTINGS).ok(),
    }
}

/// Every program that differs in the instruction `at` of one function: registers, operands, operation, immediate, absence.
fn edits(program: &Program, function: usize, at: usize) -> Vec<Program> {
    let inst = &program.functions[function].insts[at];
    let mut changed: Vec<Vec<Inst<PhysReg>>> = vec![vec![], vec![inst.clone(), inst.clone()]];
    let mut with = |change: &dyn Fn(&mut Inst<PhysReg>)| {
        let mut edited = inst.clone();
        change(&mut edited);
        changed.push(vec![edited]);
    };
    for number in 0..32 {
        with(&|i| i.dst.iter_mut().for_each(|r| r.number = number));
    }
    for arg in 0..inst.args.len() {
        for number in 0..32 {
            with(&|i| {
                if let Operand::Reg(r) = &mut i.args[arg] {
                    r.number = number;
                }
            });
        }
        for other in 0..arg {
            with(&|i| i.args.swap(arg, other));
        }
        for literal in (0..4).map(LiteralId) {
            with(&|i| i.args[arg] = Operand::Literal(literal));
            with(&|i| i.args[arg] = Operand::Broadcast(literal));
        }
    }
    for op in operations(program.profile) {
        with(&|i| i.op = op);
    }
    for imm in [0, 1, 2, 4, 8, 16, 31, 32, 128, 255] {
        with(&|i| i.imm = Some(imm));
    }
    with(&|i| i.imm = None);
    with(&|i| i.dst = None);
    let edited = |insts| {
        let mut edited = program.clone();
        edited.functions[function].insts.splice(at..=at, insts);
        edited
    };
    changed.into_iter().map(edited).filter(|edited| edited != program).collect()
}

#[test]
fn every_edited_allocated_instruction_is_rejected() {
    let examples = examples();
    let places = examples.iter().flat_map(|made| {
        let functions = made.program.functions.iter().enumerate();
        functions.flat_map(move |(index, f)| (0..f.insts.len()).map(move |at| (made, index, at)))
    });
    let places: Vec<(&Made, usize, usize)> = places.collect();
    let each = places.par_iter().map(|&(made, function, at)| {
        let edits = edits(&made.program, function, at);
        for edited in &edits {
            // Two rows may be one instruction: then the bytes are the same too.
            if made.accepts(&made.object, edited) {
                assert!(emit(edited).as_ref() == Some(&made.object), "{}: {}", made.name, allocated::print(edited));
            }
        }
        edits.len()
    });
    let tried: usize = each.sum();
    eprintln!("{tried} edits of {} allocated instructions tried, all others than the same code rejected", places.len());
    assert!(tried > 20_000);
}
