//! The parts of a relocatable object that verification is about, read strictly: what this compiler never writes is refused.

use object::elf::{self, SHF_ALLOC, SHF_EXECINSTR};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym};
use object::{Endianness, SectionIndex};
use rake_ir::allocated::Program;
use rake_ir::machine::x86::TABLE_BYTES;
use std::collections::BTreeSet;

type Header = elf::FileHeader64<Endianness>;
const LE: Endianness = Endianness::Little;

/// A function symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its first byte in `.text`.
    pub start: u32,
    /// Its length.
    pub len: u32,
    /// Whether other shared objects see it.
    pub exported: bool,
}

/// A PC-relative 32-bit relocation against the start of a section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Relocation {
    /// Offset in the section that it changes.
    pub at: u32,
    /// What is added to the start of the section that it names.
    pub addend: i64,
}

/// A read object.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The code.
    pub text: &'a [u8],
    /// The literals.
    pub rodata: &'a [u8],
    /// The alignment of `.rodata`.
    pub rodata_align: u64,
    /// The functions by address.
    pub functions: Vec<Symbol<'a>>,
    /// The relocations of `.text` by address.
    pub relocations: Vec<Relocation>,
    /// The stamps: a zero byte, then each with a zero byte after it.
    pub comment: &'a [u8],
    /// The properties that a linker may rely on.
    pub property: &'a [u8],
    /// The unwind entries.
    pub unwind: &'a [u8],
    /// The relocations of `.eh_frame` by address, against the start of `.text`.
    pub unwind_relocations: Vec<Relocation>,
}

/// A section that an object may have, and what its header says.
struct Section {
    name: &'static str,
    kind: u32,
    flags: u32,
    /// Size of an entry, where it has entries of one size.
    entry: u64,
    required: bool,
}

const fn section(name: &'static str, kind: u32, flags: u32, entry: u64) -> Section {
    Section { name, kind, flags, entry, required: false }
}

const fn required(section: Section) -> Section {
    Section { required: true, ..section }
}

/// All of them. The entry sizes of symbols and relocations are those of the ELF-64 object file format; without
/// `.note.GNU-stack`, or with an executable one, a linker makes the stack of the whole program executable. Literals are
/// not to be merged: their alignment and addends are those of this object.
const SECTIONS: &[Section] = &[
    required(section(".text", elf::SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0)),
    section(".rodata", elf::SHT_PROGBITS, SHF_ALLOC, 0),
    section(".eh_frame", elf::SHT_PROGBITS, SHF_ALLOC, 0),
    section(".note.gnu.property", elf::SHT_NOTE, SHF_ALLOC, 0),
    section(".comment", elf::SHT_PROGBITS, elf::SHF_MERGE | elf::SHF_STRINGS, 1),
    required(section(".note.GNU-stack", elf::SHT_PROGBITS, 0, 0)),
    required(section(".symtab", elf::SHT_SYMTAB, 0, 24)),
    required(section(".strtab", elf::SHT_STRTAB, 0, 0)),
    required(section(".shstrtab", elf::SHT_STRTAB, 0, 0)),
    section(".rela.text", elf::SHT_RELA, elf::SHF_INFO_LINK, 24),
    section(".rela.eh_frame", elf::SHT_RELA, elf::SHF_INFO_LINK, 24),
];

/// The row of a section whose header says what the row does.
fn row_of(name: &str, section: &elf::SectionHeader64<Endianness>) -> Result<&'static Section, String> {
    let row = SECTIONS.iter().find(|row| row.name == name).ok_or_else(|| format!("a section `{name}`"))?;
    let wrong = |what: &str, found: u64| Err(format!("section `{name}` has the {what} {found:#x}"));
    if section.sh_flags(LE) != u64::from(row.flags) {
        return wrong("flags", section.sh_flags(LE));
    }
    if section.sh_type(LE) != row.kind {
        return wrong("type", section.sh_type(LE).into());
    }
    if section.sh_entsize(LE) != row.entry {
        return wrong("entry size", section.sh_entsize(LE));
    }
    Ok(row)
}

fn bad(error: object::read::Error) -> String {
    error.to_string()
}

impl<'a> Image<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// What makes it an object that this compiler does not write.
    pub fn read(bytes: &'a [u8]) -> Result<Image<'a>, String> {
        let header = Header::parse(bytes).map_err(bad)?;
        let endian = header.endian().map_err(bad)?;
        let (kind, machine) = (header.e_type(endian), header.e_machine(endian));
        if endian != LE || kind != elf::ET_REL || machine != elf::EM_X86_64 {
            return Err("not a relocatable x86-64 object".into());
        }
        let sections = header.sections(LE, bytes).map_err(bad)?;
        let mut out = Image {
            text: &[],
            rodata: &[],
            rodata_align: 1,
            functions: vec![],
            relocations: vec![],
            comment: &[],
            property: &[],
            unwind: &[],
            unwind_relocations: vec![],
        };
        let mut seen = vec![];
        let (mut text, mut rodata) = (None, None);
        for (index, section) in sections.enumerate().skip(1) {
            let name = name_of(&sections, index)?;
            let row = row_of(name, section)?;
            if seen.contains(&row.name) {
                return Err(format!("two sections `{name}`"));
            }
            seen.push(row.name);
            match name {
                ".text" => {
                    text = Some(index);
                    out.text = section.data(LE, bytes).map_err(bad)?;
                    if section.sh_addralign(LE) < 16 {
                        return Err("`.text` is not aligned to its functions".into());
                    }
                }
                ".rodata" => {
                    rodata = Some(index);
                    out.rodata = section.data(LE, bytes).map_err(bad)?;
                    out.rodata_align = section.sh_addralign(LE);
                }
                ".comment" => out.comment = section.data(LE, bytes).map_err(bad)?,
                ".note.gnu.property" => out.property = section.data(LE, bytes).map_err(bad)?,
                ".eh_frame" => out.unwind = section.data(LE, bytes).map_err(bad)?,
                _ => {}
            }
        }
        if let Some(missing) = SECTIONS.iter().find(|row| row.required && !seen.contains(&row.name)) {
            return Err(format!("no section `{}`", missing.name));
        }
        let text = text.ok_or("no section `.text`")?;
        out.read_symbols(bytes, &sections, text, rodata)?;
        Ok(out)
    }

    fn read_symbols(
        &mut self,
        bytes: &'a [u8],
        sections: &SectionTable<'a, Header>,
        text: SectionIndex,
        rodata: Option<SectionIndex>,
    ) -> Result<(), String> {
        let symbols = sections.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(bad)?;
        for symbol in symbols.iter().skip(1) {
            let name = symbol.name(LE, symbols.strings()).map_err(bad)?;
            let name = std::str::from_utf8(name).map_err(|_| "a symbol that is not UTF-8")?;
            if symbol.st_type() == elf::STT_SECTION && symbol.st_value(LE) == 0 {
                continue;
            }
            let function = symbol.st_type() == elf::STT_FUNC && symbol.st_bind() == elf::STB_GLOBAL;
            if !function || usize::from(symbol.st_shndx(LE)) != text.0 {
                return Err(format!("the symbol `{name}` is not a global function of `.text`"));
            }
            let exported = match symbol.st_other() {
                elf::STV_DEFAULT => true,
                elf::STV_HIDDEN => false,
                other => return Err(format!("the symbol `{name}` has the visibility {other}")),
            };
            let small = |n: u64| u32::try_from(n).map_err(|_| format!("the symbol `{name}` lies outside `.text`"));
            let (start, len) = (small(symbol.st_value(LE))?, small(symbol.st_size(LE))?);
            self.functions.push(Symbol { name, start, len, exported });
        }
        self.functions.sort_by_key(|f| (f.start, f.len));
        for (index, section) in sections.enumerate().skip(1) {
            if section.sh_type(LE) == elf::SHT_REL {
                return Err("relocations without addends".into());
            }
            let Some((relas, link)) = section.rela(LE, bytes).map_err(bad)? else { continue };
            let target = section.info_link(LE);
            let expected = format!(".rela{}", name_of(sections, target)?);
            if name_of(sections, index)? != expected || link != symbols.section() {
                return Err("a relocation section that does not say what it is for".into());
            }
            for rela in relas {
                if target == text {
                    self.relocations.push(relocation(rela, &symbols, rodata)?);
                } else if expected == ".rela.eh_frame" {
                    self.unwind_relocations.push(relocation(rela, &symbols, Some(text))?);
                }
            }
        }
        self.relocations.sort();
        self.unwind_relocations.sort();
        Ok(())
    }

    /// Whether `.rodata` holds each literal of a program once, whole racks before tables before elements, and nothing else.
    pub fn holds_literals(&self, program: &Program) -> bool {
        let rack = program.profile.info().rack_bits as usize / 8;
        if rack == 0 {
            return false;
        }
        let mut rest = self.rodata;
        for size in [rack, TABLE_BYTES, 4] {
            let all = program.functions.iter().flat_map(|f| &f.literals).map(Vec::as_slice);
            let wanted: BTreeSet<&[u8]> = all.filter(|literal| literal.len() == size).collect();
            let Some((part, others)) = rest.split_at_checked(wanted.len() * size) else { return false };
            if part.chunks(size).collect::<BTreeSet<&[u8]>>() != wanted {
                return false;
            }
            rest = others;
        }
        rest.is_empty()
    }

    /// Checks that the object is stamped with what the program was compiled for, and promises branch protection.
    ///
    /// # Errors
    /// What it says else.
    pub fn check_notes(&self, program: &Program) -> Result<(), String> {
        let stamp = self.comment.strip_prefix(&[0]).and_then(|rest| rest.strip_suffix(&[0]));
        let stamp = stamp.filter(|stamp| stamp.iter().all(|byte| (b' '..=b'~').contains(byte)));
        let made_for = format!(" {} --fuse {}", program.profile, program.fuse.name());
        if !stamp.is_some_and(|stamp| stamp.ends_with(made_for.as_bytes())) {
            return Err(format!("`.comment` does not hold one stamp that ends in `{}`", made_for.trim_start()));
        }
        // Sizes of name and content, NT_GNU_PROPERTY_TYPE_0, the name; GNU_PROPERTY_X86_FEATURE_1_AND of four bytes:
        // IBT and SHSTK; padding to eight (x86-64 psABI, "Program Property").
        let words = [4, 16, 5, u32::from_le_bytes(*b"GNU\0"), 0xc000_0002, 4, 3, 0];
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if self.property != expected {
            return Err("`.note.gnu.property` does not say IBT and SHSTK and nothing else".into());
        }
        Ok(())
    }

    /// The relocations in a range of `.text`.
    pub fn relocations_in(&self, start: u32, end: u32) -> &[Relocation] {
        let first = self.relocations.partition_point(|r| r.at < start);
        let last = self.relocations.partition_point(|r| r.at < end);
        self.relocations.get(first..last).unwrap_or(&[])
    }

    /// Checks that functions are aligned and apart, and that only padding and functions are in `.text`.
    ///
    /// # Errors
    /// What else is there.
    pub fn check_text(&self) -> Result<(), String> {
        let mut end = 0usize;
        for function in &self.functions {
            let (start, len, name) = (function.start as usize, function.len as usize, function.name);
            if start < end || start % 16 != 0 || len == 0 {
                return Err(format!("`{name}` overlaps another function or is not aligned"));
            }
            let padding = self.text.get(end..start).ok_or_else(|| format!("`{name}` lies outside `.text`"))?;
            if padding.len() >= 16 || padding.iter().any(|&b| b != 0xcc) {
                return Err(format!("something other than padding stands before `{name}`"));
            }
            end = start + len;
        }
        if end != self.text.len() {
            return Err("`.text` does not end with its last function".into());
        }
        let outside = |r: &&Relocation| {
            let before = self.functions.partition_point(|f| f.start <= r.at);
            before.checked_sub(1).is_none_or(|i| r.at >= self.functions[i].start + self.functions[i].len)
        };
        match self.relocations.iter().find(outside) {
            Some(r) => Err(format!("a relocation at {:#x} belongs to no function", r.at)),
            None => Ok(()),
        }
    }
}

fn name_of<'a>(sections: &SectionTable<'a, Header>, index: SectionIndex) -> Result<&'a str, String> {
    let name = sections.section(index).and_then(|s| sections.section_name(LE, s)).map_err(bad)?;
    std::str::from_utf8(name).map_err(|_| "a section's name is not UTF-8".into())
}

fn relocation(
    rela: &elf::Rela64<Endianness>,
    symbols: &object::read::elf::SymbolTable<'_, Header>,
    against: Option<SectionIndex>,
) -> Result<Relocation, String> {
    let offset = rela.r_offset(LE);
    if rela.r_type(LE, false) != elf::R_X86_64_PC32 {
        return Err(format!("the relocation at {offset:#x} is not R_X86_64_PC32"));
    }
    let index = rela.symbol(LE, false).ok_or("a relocation without a symbol")?;
    let symbol = symbols.symbol(index).map_err(bad)?;
    let section = symbol.st_type() == elf::STT_SECTION && symbol.st_value(LE) == 0;
    if !section || Some(SectionIndex(symbol.st_shndx(LE).into())) != against {
        return Err(format!("the relocation at {offset:#x} is against another section than it may be"));
    }
    let at = u32::try_from(offset).map_err(|_| "a relocation outside `.text`")?;
    Ok(Relocation { at, addend: rela.r_addend(LE) })
}
