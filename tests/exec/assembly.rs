//! The assembly text is the object: `as` assembles it to the same bytes.

use crate::support::{Scratch, compile, everything, files, plain};
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionKind};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_testkit::source::{operations, random, regions};
use std::collections::BTreeMap;
use std::process::Command;

/// The profiles that have assembly.
const PROFILES: [Profile; 4] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512, Profile::Aarch64Neon];

/// GNU `as` for a profile.
fn assembler(profile: Profile) -> Command {
    let mut command = Command::new(if profile.info().family == Family::X86 { "as" } else { "aarch64-linux-gnu-as" });
    command.args((profile.info().family == Family::X86).then_some("--64"));
    command
}

/// Names that an assembler would take for something else: registers, operators, directives' words, instructions.
const NAMES: &[&str] = &[
    "rax", "eax", "al", "k1", "ymm0", "xmm15", "zmm31", "rip", "st", "cr0", "offset", "dword", "byte", "ymmword",
    "flat", "near", "far", "eq", "ne", "lt", "mod", "shl", "shr", "xor", "addps", "vaddps", "ret", "lock", "rep",
    "text", "d", "b", "dup", "low", "high", "se_h", "_start", "l0", "length", "size", "type", "v0", "q3", "s31", "x1",
    "w0", "sp", "wzr", "xzr", "lr", "fp", "lsl", "msl", "uxtw", "lo12", "nzcv", "hi", "cs", "bti", "fadd", "ldr",
    "adr",
];

/// Sections that are loaded, by name, and their relocations: place, type, and section and offset of the target.
type Contents = BTreeMap<String, (Vec<u8>, Vec<(u64, u32, String, i64)>)>;

fn contents(bytes: &[u8]) -> Contents {
    let file = object::File::parse(bytes).unwrap();
    let mut all = Contents::new();
    for section in file.sections() {
        let name = section.name().unwrap().to_owned();
        let loaded =
            matches!(section.kind(), SectionKind::Text | SectionKind::ReadOnlyData | SectionKind::ReadOnlyString);
        if !loaded || section.size() == 0 || name == ".eh_frame" {
            continue;
        }
        let relocations = section.relocations().map(|(at, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else { panic!("{name}: no symbol") };
            let RelocationFlags::Elf { r_type } = relocation.flags() else { panic!("{name}: not ELF") };
            let symbol = file.symbol_by_index(index).unwrap();
            let place =
                symbol.section_index().map(|index| file.section_by_index(index).unwrap().name().unwrap().to_owned());
            // An assembler refers to a local label as section and offset.
            (at, r_type, place.unwrap_or_default(), symbol.address() as i64 + relocation.addend())
        });
        let mut relocations: Vec<_> = relocations.collect();
        relocations.sort();
        all.insert(name, (section.data().unwrap().to_vec(), relocations));
    }
    all
}

/// Function symbols with their places and sizes.
fn functions(bytes: &[u8]) -> BTreeMap<String, (u64, u64)> {
    let file = object::File::parse(bytes).unwrap();
    let functions = file.symbols().filter(|s| s.kind() == object::SymbolKind::Text && s.size() > 0);
    functions.map(|s| (s.name().unwrap().to_owned(), (s.address(), s.size()))).collect()
}

fn assembles_to_the_object(folder: &Scratch, what: &str, text: &str) -> usize {
    let mut compiled = 0;
    for profile in PROFILES {
        let outputs = compile(text.as_bytes(), everything(profile, FuseLevel::Full));
        let (Some(object), Some(assembly)) = (outputs.object, outputs.assembly) else {
            assert!(!outputs.diagnostics.is_empty(), "{what} on {profile}: neither output nor error");
            continue;
        };
        compiled += 1;
        let (source, assembled) = (folder.write("k.s", &assembly), folder.0.join("k.o"));
        let run = assembler(profile).arg("-o").arg(&assembled).arg(&source).output().unwrap();
        let complaints = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && complaints.is_empty(), "{what} on {profile}: {complaints}\n{assembly}");
        let assembled = std::fs::read(&assembled).unwrap();
        let (ours, theirs) = (contents(&object), contents(&assembled));
        assert!(ours == theirs, "{what} on {profile}: {ours:x?}\n{theirs:x?}\n{assembly}");
        assert_eq!(functions(&object), functions(&assembled), "{what} on {profile}");
    }
    compiled
}

#[test]
fn every_example_and_case_assembles_to_its_object() {
    let folder = Scratch::new("as-files");
    for (path, text) in files() {
        assembles_to_the_object(&folder, &path.display().to_string(), &text);
    }
}

#[test]
fn every_operation_assembles_to_its_object() {
    let folder = Scratch::new("as-operations");
    for program in operations::all() {
        let compiled = assembles_to_the_object(&folder, &program.name, &program.text);
        assert!(compiled >= 2, "{}", program.name);
    }
    assert_eq!(assembles_to_the_object(&folder, "regions", &regions::program().text), PROFILES.len());
    for seed in 0..20 {
        assembles_to_the_object(&folder, "random", &random::program(seed, 12, false).text);
    }
}

#[test]
fn names_that_mean_something_to_an_assembler_stay_names() {
    let folder = Scratch::new("as-names");
    let mut text = String::new();
    for name in NAMES {
        text.push_str(&format!("scratch {name}(x: f32s, y: f32s) -> f32s:\n  x * 1.5 + y\n\n"));
    }
    for profile in PROFILES {
        let outputs = compile(text.as_bytes(), everything(profile, FuseLevel::Full));
        assert!(outputs.object.is_some(), "{}", plain(&outputs.diagnostics));
    }
    assert_eq!(assembles_to_the_object(&folder, "names", &text), PROFILES.len());
}
