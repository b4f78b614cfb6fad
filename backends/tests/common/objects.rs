//! What an assembler makes of our text, beside our object.

use object::read::elf::{ElfFile64, FileHeader, Rela, SectionHeader, Sym};
use object::{Endianness, Object, ObjectSection};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// Assembles text; `None` when this assembler is not installed.
pub fn assemble(assembler: &[&str], text: &str, name: &str) -> Option<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("rake-gnu-as-{}-{name}.o", std::process::id()));
    let mut child = Command::new(assembler[0])
        .args(&assembler[1..])
        .arg("-o")
        .arg(&path)
        .arg("-")
        .stdin(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    assert!(child.wait().ok()?.success(), "{} rejects:\n{text}", assembler[0]);
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

/// Holds an object against what an assembler makes of its text. `keep` names what is compared.
pub fn compare(object: &[u8], assembler: &[&str], text: &str, keep: &str) {
    if let Some(dir) = std::env::var_os("RAKE_KEEP_ASM") {
        std::fs::write(std::path::Path::new(&dir).join(keep), text).unwrap();
    }
    let Some(assembled) = assemble(assembler, text, keep) else {
        eprintln!("{} is not installed", assembler[0]);
        return;
    };
    let (ours, theirs) = (contents(object), contents(&assembled));
    if ours.0[".text"].0 != theirs.0[".text"].0 {
        report_difference(text, &ours.0[".text"].0, &theirs.0[".text"].0);
    }
    assert_eq!(ours.1, theirs.1);
    assert_eq!(ours.2, theirs.2);
    assert_eq!(ours.0, theirs.0);
    eprintln!("{keep}: {} bytes of code, {} relocations", ours.0[".text"].0.len(), ours.2.len());
}

/// Says where the first bytes differ.
fn report_difference(text: &str, ours: &[u8], theirs: &[u8]) {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let around = |b: &[u8]| format!("{:02x?}", &b[at.saturating_sub(8)..(at + 12).min(b.len())]);
    std::fs::write(std::env::temp_dir().join("rake-gnu-as-difference.s"), text).unwrap();
    panic!("code differs at {at:#x}: ours {} theirs {}", around(ours), around(theirs));
}
