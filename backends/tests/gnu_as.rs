//! `--emit-asm` and the object are the same, by GNU `as`.

#[path = "common/samples.rs"]
#[allow(dead_code)]
mod samples;

use object::read::elf::{ElfFile64, FileHeader, Rela, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection};
use rake_backends::{Options, x86};
use rake_ir::allocated::Program;
use samples::{PROFILES, every_row};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

const OPTIONS: Options<'static> = Options { exported: &|name| name == "k1" || name == "eq", compiler: "rakec 0.1.0" };

/// Assembles text; `None` when no assembler is installed.
fn assemble(text: &str, name: &str) -> Option<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("rake-gnu-as-{}-{name}.o", std::process::id()));
    let mut child = Command::new("as").arg("--64").arg("-o").arg(&path).arg("-").stdin(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    assert!(child.wait().ok()?.success(), "as rejects:\n{text}");
    let bytes = std::fs::read(&path).ok()?;
    std::fs::remove_file(&path).ok()?;
    Some(bytes)
}

type Sections = BTreeMap<String, (Vec<u8>, u64, u64)>;
type Symbols = Vec<(String, u64, u64, u8, u8)>;
type Relocations = Vec<(String, u64, u32, String, i64)>;

/// Sections with contents, symbols with names, and relocations, as far as a linker cares.
fn contents(bytes: &[u8]) -> (Sections, Symbols, Relocations) {
    let file = ElfFile64::<Endianness>::parse(bytes).unwrap();
    let endian = Endianness::Little;
    let mut sections = Sections::new();
    for section in file.sections() {
        let header = section.elf_section_header();
        let name = section.name().unwrap().to_owned();
        let tables = [".symtab", ".strtab", ".shstrtab"];
        let empty = section.size() == 0 && name != ".note.GNU-stack";
        if empty || tables.contains(&name.as_str()) || name.starts_with(".rela") {
            continue;
        }
        let align = if name == ".note.GNU-stack" { 1 } else { section.align() };
        sections.insert(name, (section.data().unwrap().to_vec(), header.sh_flags(endian), align));
    }
    let header = file.elf_header();
    let table = header.sections(endian, bytes).unwrap();
    let symbols = table.symbols(endian, bytes, object::elf::SHT_SYMTAB).unwrap();
    let section_name = |index: object::SectionIndex| {
        String::from_utf8(table.section_name(endian, table.section(index).unwrap()).unwrap().to_vec()).unwrap()
    };
    let mut named: Symbols = symbols
        .iter()
        .filter(|s| s.st_type() == object::elf::STT_FUNC)
        .map(|s| {
            let name = String::from_utf8(s.name(endian, symbols.strings()).unwrap().to_vec()).unwrap();
            (name, s.st_value(endian), s.st_size(endian), s.st_info(), s.st_other())
        })
        .collect();
    named.sort();
    let mut relocations = Relocations::new();
    for (_, section) in table.enumerate() {
        if let Some((relas, _)) = section.rela(endian, bytes).unwrap() {
            let target = section_name(section.info_link(endian));
            for rela in relas {
                let symbol = symbols.symbol(rela.symbol(endian, false).unwrap()).unwrap();
                let symbol_name = String::from_utf8_lossy(symbol.name(endian, symbols.strings()).unwrap()).into_owned();
                assert_eq!(
                    symbol.st_type(),
                    object::elf::STT_SECTION,
                    "against {symbol_name} at {}",
                    rela.r_offset(endian)
                );
                let against = section_name(object::SectionIndex(symbol.st_shndx(endian).into()));
                relocations.push((
                    target.clone(),
                    rela.r_offset(endian),
                    rela.r_type(endian, false),
                    against,
                    rela.r_addend(endian),
                ));
            }
        }
    }
    relocations.sort();
    (sections, named, relocations)
}

fn compare(program: &Program, name: &str) {
    let object = x86::elf::emit(program, &OPTIONS).unwrap();
    let text = x86::asm::emit(program, &OPTIONS, &|_| Some(("demo.rk".into(), 3))).unwrap();
    if let Some(dir) = std::env::var_os("RAKE_KEEP_ASM") {
        std::fs::write(std::path::Path::new(&dir).join(name), &text).unwrap();
    }
    assert_eq!(object, x86::elf::emit(program, &OPTIONS).unwrap(), "two builds differ");
    let Some(assembled) = assemble(&text, name) else {
        eprintln!("as is not installed");
        return;
    };
    let (ours, theirs) = (contents(&object), contents(&assembled));
    if ours.0[".text"].0 != theirs.0[".text"].0 {
        report_difference(&text, &ours.0[".text"].0, &theirs.0[".text"].0);
    }
    assert_eq!(ours.1, theirs.1);
    assert_eq!(ours.2, theirs.2);
    assert_eq!(ours.0, theirs.0);
    eprintln!("{name}: {} bytes of code, {} relocations", ours.0[".text"].0.len(), ours.2.len());
}

/// Says where the first bytes differ.
fn report_difference(text: &str, ours: &[u8], theirs: &[u8]) {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let around = |b: &[u8]| format!("{:02x?}", &b[at.saturating_sub(8)..(at + 12).min(b.len())]);
    std::fs::write(std::env::temp_dir().join("rake-gnu-as-difference.s"), text).unwrap();
    panic!("code differs at {at:#x}: ours {} theirs {}", around(ours), around(theirs));
}

#[test]
fn the_assembler_makes_the_same_object_of_every_row() {
    for profile in PROFILES {
        compare(&every_row(profile, 40), profile.name());
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
