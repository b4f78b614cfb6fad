//! The parts of a relocatable object that verification is about, read strictly: what this compiler never writes is
//! refused.

use object::elf::{self, SHF_ALLOC, SHF_EXECINSTR};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym};
use object::{Endianness, SectionIndex};
use rake_ir::allocated::Program;

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

/// What the objects of one machine have apart from those of others.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Its name, for people.
    pub name: &'static str,
    /// `e_machine`.
    pub machine: u16,
    /// The 32-bit PC-relative relocation, in code where code has any, and in unwind entries.
    pub relocation: u32,
    /// Whether literals stand in `.rodata`, and code leads there by relocations.
    pub rodata: bool,
    /// Whether symbols `$x` and `$d` say where in `.text` code and data start.
    pub mapping: bool,
    /// The branch protection that the property note promises: the property and its bits.
    pub property: (u32, u32),
    /// In words.
    pub promise: &'static str,
    /// The unwind entry that all functions share.
    pub unwind: &'static [u8],
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
    /// The alignment of `.text`.
    pub text_align: u64,
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
    /// Where in `.text` code starts (true) and data (false), where the machine says so.
    pub mapping: Vec<(u32, bool)>,
    /// The machine's.
    pub layout: &'static Layout,
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
    pub fn read(bytes: &'a [u8], layout: &'static Layout) -> Result<Image<'a>, String> {
        let header = Header::parse(bytes).map_err(bad)?;
        let endian = header.endian().map_err(bad)?;
        let (kind, machine) = (header.e_type(endian), header.e_machine(endian));
        if endian != LE || kind != elf::ET_REL || machine != layout.machine {
            return Err(format!("not a relocatable {} object", layout.name));
        }
        let sections = header.sections(LE, bytes).map_err(bad)?;
        let mut out = Image {
            text: &[],
            rodata: &[],
            text_align: 1,
            rodata_align: 1,
            functions: vec![],
            relocations: vec![],
            comment: &[],
            property: &[],
            unwind: &[],
            unwind_relocations: vec![],
            mapping: vec![],
            layout,
        };
        let mut seen = vec![];
        let (mut text, mut rodata) = (None, None);
        for (index, section) in sections.enumerate().skip(1) {
            let name = name_of(&sections, index)?;
            let row = row_of(name, section)?;
            if !layout.rodata && [".rodata", ".rela.text"].contains(&name) {
                return Err(format!("a section `{name}`"));
            }
            if seen.contains(&row.name) {
                return Err(format!("two sections `{name}`"));
            }
            seen.push(row.name);
            match name {
                ".text" => {
                    text = Some(index);
                    out.text = section.data(LE, bytes).map_err(bad)?;
                    out.text_align = section.sh_addralign(LE);
                    if out.text_align < 16 {
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
            let plain = symbol.st_bind() == elf::STB_LOCAL && symbol.st_other() == elf::STV_DEFAULT;
            let nothing = symbol.st_name(LE) == 0 && symbol.st_value(LE) == 0 && symbol.st_size(LE) == 0;
            if symbol.st_type() == elf::STT_SECTION && plain && nothing {
                continue;
            }
            if self.layout.mapping && ["$x", "$d"].contains(&name) {
                self.read_mapping(symbol, name, text)?;
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
                    self.relocations.push(relocation(rela, &symbols, rodata, self.layout)?);
                } else if expected == ".rela.eh_frame" {
                    self.unwind_relocations.push(relocation(rela, &symbols, Some(text), self.layout)?);
                }
            }
        }
        self.relocations.sort();
        self.unwind_relocations.sort();
        Ok(())
    }

    /// A mapping symbol: local, of no type and size.
    fn read_mapping(&mut self, symbol: &elf::Sym64<Endianness>, name: &str, text: SectionIndex) -> Result<(), String> {
        let plain = symbol.st_type() == elf::STT_NOTYPE && symbol.st_bind() == elf::STB_LOCAL;
        let plain = plain && symbol.st_size(LE) == 0 && symbol.st_other() == elf::STV_DEFAULT;
        let at = u32::try_from(symbol.st_value(LE)).ok().filter(|_| plain);
        let at = at.ok_or_else(|| format!("`{name}` is not a mapping symbol"))?;
        if usize::from(symbol.st_shndx(LE)) == text.0 {
            self.mapping.push((at, name == "$x"));
        }
        Ok(())
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
        // Sizes of name and content, NT_GNU_PROPERTY_TYPE_0, the name; one property of four bytes and its bits; padding
        // to eight (the program property section of the x86-64 psABI, and of the AArch64 ELF supplement).
        let (property, bits) = self.layout.property;
        let words = [4, 16, 5, u32::from_le_bytes(*b"GNU\0"), property, 4, bits, 0];
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if self.property != expected {
            return Err(format!("`.note.gnu.property` does not say {} and nothing else", self.layout.promise));
        }
        Ok(())
    }

    /// The code of a function; empty where the symbol leads outside.
    pub fn code(&self, symbol: &Symbol<'_>) -> &'a [u8] {
        let start = symbol.start as usize;
        self.text.get(start..start + symbol.len as usize).unwrap_or(&[])
    }

    /// The relocations in a range of `.text`.
    pub fn relocations_in(&self, start: u32, end: u32) -> &[Relocation] {
        let first = self.relocations.partition_point(|r| r.at < start);
        let last = self.relocations.partition_point(|r| r.at < end);
        self.relocations.get(first..last).unwrap_or(&[])
    }

    /// The bytes of `.text` before each function, and those after the last; functions are aligned and apart.
    ///
    /// # Errors
    /// The function that is not, or a relocation of the code that belongs to none.
    pub fn gaps(&self) -> Result<Vec<&'a [u8]>, String> {
        let (mut end, mut gaps) = (0usize, Vec::with_capacity(self.functions.len() + 1));
        for function in &self.functions {
            let (start, len, name) = (function.start as usize, function.len as usize, function.name);
            if start < end || start % 16 != 0 || len == 0 {
                return Err(format!("`{name}` overlaps another function or is not aligned"));
            }
            gaps.push(self.text.get(end..start).ok_or_else(|| format!("`{name}` lies outside `.text`"))?);
            end = start.checked_add(len).filter(|&end| end <= self.text.len()).ok_or("a function outside `.text`")?;
        }
        gaps.push(self.text.get(end..).unwrap_or(&[]));
        let outside = |r: &&Relocation| {
            let before = self.functions.partition_point(|f| f.start <= r.at);
            before.checked_sub(1).is_none_or(|i| r.at >= self.functions[i].start + self.functions[i].len)
        };
        match self.relocations.iter().find(outside) {
            Some(r) => Err(format!("a relocation at {:#x} belongs to no function", r.at)),
            None => Ok(gaps),
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
    layout: &Layout,
) -> Result<Relocation, String> {
    let offset = rela.r_offset(LE);
    if rela.r_type(LE, false) != layout.relocation {
        return Err(format!("the relocation at {offset:#x} is not a PC-relative one of 32 bits"));
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
