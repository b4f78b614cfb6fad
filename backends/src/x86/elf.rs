//! ELF objects for x86-64, by the crate `object`.
//!
//! Sections: `.text`; `.rodata` with the literals; `.eh_frame` (no function touches the stack, so each entry says only
//! where it is); `.comment` with the stamp; `.note.GNU-stack` (no executable stack); `.note.gnu.property` (IBT: every
//! function begins with `endbr64`; SHSTK: none touches its return address). All relocations are PC-relative, so the
//! object links into executables and shared objects at any address.

use super::layout::{FUNCTION_ALIGN, Layout, lay_out};
use crate::Options;
use object::elf::{GNU_PROPERTY_X86_FEATURE_1_AND, GNU_PROPERTY_X86_FEATURE_1_IBT, GNU_PROPERTY_X86_FEATURE_1_SHSTK};
use object::elf::{R_X86_64_PC32, SHF_ALLOC, STB_GLOBAL, STT_FUNC, STV_DEFAULT, STV_HIDDEN};
use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, RelocationFlags, SectionFlags, SectionKind, SymbolFlags};
use object::{SymbolKind, SymbolScope};
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};

/// Writes the object of a program.
///
/// # Errors
/// A profile without x86 encodings, or a fault of an earlier pass.
pub fn emit(program: &Program, options: &Options<'_>) -> Result<Vec<u8>, Diagnostic> {
    let layout = lay_out(program)?;
    write(&layout, options, &options.stamp(program.profile, program.fuse))
        .map_err(|e| Diagnostic::spanless(Code::Internal, format!("cannot write the object: {e}")))
}

fn write(layout: &Layout<'_>, options: &Options<'_>, stamp: &str) -> object::write::Result<Vec<u8>> {
    let mut out = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = out.section_id(StandardSection::Text);
    out.append_section_data(text, &layout.text, FUNCTION_ALIGN as u64);
    let literals: Vec<u8> = layout.pool.literals().flatten().copied().collect();
    if !literals.is_empty() {
        let rodata = out.section_id(StandardSection::ReadOnlyData);
        out.append_section_data(rodata, &literals, layout.pool.align() as u64);
        for relocation in &layout.relocations {
            relocate(&mut out, text, relocation.at, rodata, relocation.addend)?;
        }
    }
    for function in &layout.functions {
        let exported = (options.exported)(&function.name);
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
    unwind(&mut out, text, layout)?;
    let comment = out.add_section(Vec::new(), b".comment".to_vec(), SectionKind::OtherString);
    out.append_section_data(comment, format!("\0{stamp}\0").as_bytes(), 1);
    out.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    out.add_elf_gnu_property_u32(
        GNU_PROPERTY_X86_FEATURE_1_AND,
        GNU_PROPERTY_X86_FEATURE_1_IBT | GNU_PROPERTY_X86_FEATURE_1_SHSTK,
    );
    out.write()
}

fn relocate(
    out: &mut Object<'_>,
    section: SectionId,
    at: u32,
    target: SectionId,
    addend: i64,
) -> object::write::Result<()> {
    let symbol = out.section_symbol(target);
    let flags = RelocationFlags::Elf { r_type: R_X86_64_PC32 };
    out.add_relocation(section, Relocation { offset: u64::from(at), symbol, addend, flags })
}

/// The common information entry that GNU `as` writes for `.cfi_startproc`: return address in column 16, stored at
/// CFA-8, CFA = rsp+8 (DWARF 5 section 6.4.1; the augmentation is that of the Linux Standard Base).
#[rustfmt::skip]
const CIE: [u8; 24] = [
    20, 0, 0, 0,  0, 0, 0, 0,  1, b'z', b'R', 0,  1, 0x78, 16, 1,
    0x1b, 0x0c, 7, 8,  0x90, 1, 0, 0,
];
/// Bytes of one frame description entry.
const FDE_LEN: u32 = 20;

fn unwind(out: &mut Object<'_>, text: SectionId, layout: &Layout<'_>) -> object::write::Result<()> {
    let mut bytes = CIE.to_vec();
    for (index, function) in layout.functions.iter().enumerate() {
        let start = CIE.len() as u32 + FDE_LEN * index as u32;
        // Length, distance back to the entry above, the start (relocated), the length, no augmentation, padding.
        for word in [FDE_LEN - 4, start + 4, 0, function.len, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    // GNU `as` pads the last entry's end to eight bytes.
    let excess = bytes.len() % 8;
    if excess != 0 && !layout.functions.is_empty() {
        let last = bytes.len() - FDE_LEN as usize;
        bytes[last] += (8 - excess) as u8;
        bytes.resize(bytes.len() + 8 - excess, 0);
    }
    let section = out.add_section(Vec::new(), b".eh_frame".to_vec(), SectionKind::ReadOnlyData);
    out.section_mut(section).flags = SectionFlags::Elf { sh_flags: u64::from(SHF_ALLOC) };
    out.append_section_data(section, &bytes, 8);
    for (index, function) in layout.functions.iter().enumerate() {
        let field = CIE.len() as u32 + FDE_LEN * index as u32 + 8;
        relocate(out, section, field, text, i64::from(function.start))?;
    }
    Ok(())
}
