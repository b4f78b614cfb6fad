//! A linker for one object: lays the code and the constants of a relocatable x86-64 or AArch64 ELF
//! object out as one flat, position-independent image.

mod fields;

use crate::image::Image;
use object::elf;
use object::read::elf::{ElfFile64, SectionHeader};
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol};
use object::{RelocationFlags, RelocationTarget, SymbolSection};
use std::collections::BTreeMap;

/// A flat image and where the object's symbols are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedObject {
    /// Code and constants, relocations applied.
    pub bytes: Vec<u8>,
    /// Offset of every named symbol that is defined in a section of the image.
    pub symbols: BTreeMap<String, usize>,
}

impl LinkedObject {
    /// The image with the entry at a symbol; none if there is no such symbol.
    pub fn image(&self, symbol: &str) -> Option<Image> {
        let entry = *self.symbols.get(symbol)?;
        Some(Image { bytes: self.bytes.clone(), entry })
    }
}

/// Links an object's allocated sections, but for notes and `.eh_frame`, in the order of the file,
/// each at its own alignment (of at most 64).
///
/// # Errors
///
/// The bytes are no relocatable x86-64 or AArch64 ELF object; it has writable data, undefined
/// symbols in use, or relocations other than those relative to their place ([`mod@fields`] has
/// them all) or out of their range.
pub fn link_elf(object_bytes: &[u8]) -> Result<LinkedObject, String> {
    let file = ElfFile64::<Endianness>::parse(object_bytes).map_err(|e| format!("not an ELF object: {e}"))?;
    let (kind, architecture) = (file.kind(), file.architecture());
    let machine = match architecture {
        Architecture::X86_64 => Machine::X86,
        Architecture::Aarch64 => Machine::AArch64,
        _ => return Err(format!("not an x86-64 or AArch64 object, but one for {architecture:?}")),
    };
    if kind != object::ObjectKind::Relocatable {
        return Err(format!("not a relocatable object, but {kind:?}"));
    }
    let (bytes, places) = lay_out(&file, machine)?;
    let mut linked = LinkedObject { bytes, symbols: BTreeMap::new() };
    for symbol in file.symbols() {
        let name = symbol.name().map_err(|e| format!("a symbol's name: {e}"))?;
        // AArch64 assemblers mark code and data with `$x` and `$d`.
        if !name.is_empty()
            && !name.starts_with('$')
            && let Some(at) = symbol_place(&symbol, &places)
        {
            linked.symbols.insert(name.to_owned(), at);
        }
    }
    for section in file.sections() {
        let Some(&base) = places.get(&section.index().0) else {
            continue;
        };
        for (offset, relocation) in section.relocations() {
            relocate(&file, machine, &places, &mut linked.bytes, base.saturating_add(offset as usize), &relocation)
                .map_err(|e| format!("{}+{offset:#x}: {e}", section.name().unwrap_or("?")))?;
        }
    }
    Ok(linked)
}

/// The machines whose relocations are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    X86,
    AArch64,
}

/// Offsets in the image by section index.
type Places = BTreeMap<usize, usize>;

/// The sections' bytes one after the other, and the offset of each.
fn lay_out(file: &ElfFile64<Endianness>, machine: Machine) -> Result<(Vec<u8>, Places), String> {
    // Bytes that trap, between the sections: int3, and udf.
    let filler = if machine == Machine::X86 { 0xcc } else { 0 };
    let mut bytes = Vec::new();
    let mut places = Places::new();
    for section in file.sections() {
        let name = section.name().map_err(|e| format!("a section's name: {e}"))?;
        let header = section.elf_section_header();
        let flags = header.sh_flags(Endianness::Little);
        let kind = header.sh_type(Endianness::Little);
        let skipped = kind == elf::SHT_NOTE || kind == elf::SHT_X86_64_UNWIND || name == ".eh_frame";
        if flags & u64::from(elf::SHF_ALLOC) == 0 || skipped {
            continue;
        }
        if flags & u64::from(elf::SHF_WRITE) != 0 && section.size() > 0 {
            return Err(format!("section {name} is writable data"));
        }
        let align = section.align().max(1);
        if align > 64 {
            return Err(format!("section {name} is aligned to {align}, more than the image's 64"));
        }
        let data = section.data().map_err(|e| format!("section {name}: {e}"))?;
        bytes.resize(bytes.len().next_multiple_of(align as usize), filler);
        places.insert(section.index().0, bytes.len());
        bytes.extend_from_slice(data);
    }
    Ok((bytes, places))
}

/// A symbol's offset in the image, if it is defined in a section that is part of it.
fn symbol_place<'a>(symbol: &impl ObjectSymbol<'a>, places: &Places) -> Option<usize> {
    match symbol.section() {
        SymbolSection::Section(index) => places.get(&index.0)?.checked_add(usize::try_from(symbol.address()).ok()?),
        _ => None,
    }
}

fn relocate(
    file: &ElfFile64<Endianness>,
    machine: Machine,
    places: &Places,
    bytes: &mut [u8],
    at: usize,
    relocation: &object::Relocation,
) -> Result<(), String> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else {
        return Err("not an ELF relocation".to_owned());
    };
    let RelocationTarget::Symbol(index) = relocation.target() else {
        return Err("a relocation without a symbol".to_owned());
    };
    let symbol = file.symbol_by_index(index).map_err(|e| e.to_string())?;
    let target = symbol_place(&symbol, places).ok_or_else(|| {
        let name = symbol.name().unwrap_or("?");
        format!("`{name}` is not defined in the object's code or constants")
    })?;
    let target = i64::try_from(target).ok().and_then(|target| target.checked_add(relocation.addend()));
    let target = target.ok_or("an addend out of range")?;
    let field = bytes.get_mut(at..at.saturating_add(4)).ok_or("a relocation outside its section")?;
    let mut word = [0; 4];
    word.copy_from_slice(field);
    let word = u32::from_le_bytes(word);
    let patched = match machine {
        Machine::X86 => fields::x86(r_type, at as i64, target)?,
        Machine::AArch64 => fields::aarch64(r_type, word, at as i64, target)?,
    };
    field.copy_from_slice(&patched.to_le_bytes());
    Ok(())
}
