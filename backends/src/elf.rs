//! What the ELF objects of every family have in common: symbols of functions, unwinding, the stamp and the notes.
//!
//! An unwinding entry says where a function is and, of one that saves registers, where those are. No stack is executable.

use crate::Options;
use object::elf::{SHF_ALLOC, STB_GLOBAL, STT_FUNC, STV_DEFAULT, STV_HIDDEN};
use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, RelocationFlags, SectionFlags, SectionKind, SymbolFlags};
use object::{SymbolKind, SymbolScope};
use rake_ir::diag::{Code, Diagnostic};
use smol_str::SmolStr;

/// Functions start at multiples of this, or of more.
pub const FUNCTION_ALIGN: usize = 16;

/// A function in `.text`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its symbol.
    pub name: SmolStr,
    /// Its first byte.
    pub start: u32,
    /// Its length.
    pub len: u32,
    /// Where each of its instructions starts, from `start`.
    pub insts: Vec<u32>,
    /// What an unwinder is told of it beside where it is (DWARF 5, section 6.4.2).
    pub unwind: Vec<u8>,
}

/// What a family's objects differ in.
pub(crate) struct Machine {
    pub architecture: Architecture,
    /// The common information entry that GNU `as` writes for `.cfi_startproc` (DWARF 5 section 6.4.1; the augmentation
    /// is that of the Linux Standard Base).
    pub cie: &'static [u8],
    /// A 32-bit PC-relative relocation.
    pub relative: u32,
    /// The program property of branch protection: its type and its bits.
    pub property: (u32, u32),
}

/// An object that has its code, so aligned, and nothing else yet.
pub(crate) fn begin(machine: &Machine, text: &[u8], align: usize) -> (Object<'static>, SectionId) {
    let mut out = Object::new(BinaryFormat::Elf, machine.architecture, Endianness::Little);
    let section = out.section_id(StandardSection::Text);
    out.append_section_data(section, text, align as u64);
    (out, section)
}

/// Adds what tells of the code, and writes the object.
///
/// # Errors
/// Never for an object of ours: a fault of the compiler.
pub(crate) fn finish(
    mut out: Object<'_>,
    text: SectionId,
    machine: &Machine,
    functions: &[Placed],
    options: &Options<'_>,
    stamp: &str,
) -> object::write::Result<Vec<u8>> {
    for function in functions {
        symbol(&mut out, text, function, (options.exported)(&function.name));
    }
    unwind(&mut out, text, machine, functions)?;
    let comment = out.add_section(Vec::new(), b".comment".to_vec(), SectionKind::OtherString);
    out.append_section_data(comment, format!("\0{stamp}\0").as_bytes(), 1);
    out.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    out.add_elf_gnu_property_u32(machine.property.0, machine.property.1);
    out.write()
}

fn symbol(out: &mut Object<'_>, text: SectionId, function: &Placed, exported: bool) {
    out.add_symbol(Symbol {
        name: function.name.as_bytes().to_vec(),
        value: u64::from(function.start),
        size: u64::from(function.len),
        kind: SymbolKind::Text,
        scope: if exported { SymbolScope::Dynamic } else { SymbolScope::Linkage },
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::Elf {
            st_info: (STB_GLOBAL << 4) | STT_FUNC,
            st_other: if exported { STV_DEFAULT } else { STV_HIDDEN },
        },
    });
}

/// Adds a relocation against the start of a section.
///
/// # Errors
/// Never for an object of ours: a fault of the compiler.
pub(crate) fn relocate(
    out: &mut Object<'_>,
    section: SectionId,
    at: u32,
    r_type: u32,
    target: SectionId,
    addend: i64,
) -> object::write::Result<()> {
    let symbol = out.section_symbol(target);
    let flags = RelocationFlags::Elf { r_type };
    out.add_relocation(section, Relocation { offset: u64::from(at), symbol, addend, flags })
}

fn unwind(out: &mut Object<'_>, text: SectionId, machine: &Machine, functions: &[Placed]) -> object::write::Result<()> {
    let mut bytes = machine.cie.to_vec();
    let mut starts = Vec::with_capacity(functions.len());
    for (index, function) in functions.iter().enumerate() {
        let entry = bytes.len();
        // Length, distance back to the entry above, the start (relocated), the length, no augmentation; padding.
        for word in [0, entry as u32 + 4, 0, function.len] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.push(0);
        bytes.extend_from_slice(&function.unwind);
        // GNU `as` pads the last entry's end to eight bytes, the others' to four.
        let last = index + 1 == functions.len();
        bytes.resize(bytes.len().next_multiple_of(if last { 8 } else { 4 }), 0);
        let len = (bytes.len() - entry - 4) as u32;
        bytes[entry..entry + 4].copy_from_slice(&len.to_le_bytes());
        starts.push(entry as u32 + 8);
    }
    let section = out.add_section(Vec::new(), b".eh_frame".to_vec(), SectionKind::ReadOnlyData);
    out.section_mut(section).flags = SectionFlags::Elf { sh_flags: u64::from(SHF_ALLOC) };
    out.append_section_data(section, &bytes, 8);
    for (at, function) in starts.into_iter().zip(functions) {
        relocate(out, section, at, machine.relative, text, i64::from(function.start))?;
    }
    Ok(())
}

/// What is said when the crate `object` refuses an object.
pub(crate) fn unwritten(error: &object::write::Error) -> Diagnostic {
    Diagnostic::spanless(Code::Internal, format!("cannot write the object: {error}"))
}
