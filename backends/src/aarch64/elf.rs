//! ELF objects for AArch64, by the crate `object`.
//!
//! Sections: `.text` with the functions, each followed by its literals, and mapping symbols that tell code from data (ELF
//! for the Arm 64-bit Architecture, AAELF64, "Mapping symbols"); `.eh_frame`; `.comment` with the stamp;
//! `.note.GNU-stack`; `.note.gnu.property` (BTI: every function begins with `bti c`; PAC: none stores its return address).
//! Only `.eh_frame` has relocations, so the object links into executables and shared objects at any address.

use super::layout::{Layout, lay_out};
use crate::Options;
use crate::elf::{self, Machine};
use object::elf::{GNU_PROPERTY_AARCH64_FEATURE_1_AND, GNU_PROPERTY_AARCH64_FEATURE_1_BTI};
use object::elf::{GNU_PROPERTY_AARCH64_FEATURE_1_PAC, R_AARCH64_PREL32, STB_LOCAL, STT_NOTYPE, STV_DEFAULT};
use object::write::{Object, SectionId, Symbol, SymbolSection};
use object::{Architecture, SymbolFlags, SymbolKind, SymbolScope};
use rake_ir::allocated::Program;
use rake_ir::diag::Diagnostic;

/// The branch protection that every function keeps to.
pub(super) const PROPERTY: (u32, u32) =
    (GNU_PROPERTY_AARCH64_FEATURE_1_AND, GNU_PROPERTY_AARCH64_FEATURE_1_BTI | GNU_PROPERTY_AARCH64_FEATURE_1_PAC);

/// Return address in `x30`, CFA = sp (DWARF for the Arm 64-bit Architecture, AADWARF64, "DWARF register names").
#[rustfmt::skip]
const CIE: [u8; 20] = [
    16, 0, 0, 0,  0, 0, 0, 0,  1, b'z', b'R', 0,  4, 0x78, 30, 1,
    0x1b, 0x0c, 31, 0,
];

const MACHINE: Machine =
    Machine { architecture: Architecture::Aarch64, cie: &CIE, relative: R_AARCH64_PREL32, property: PROPERTY };

/// Writes the object of a program.
///
/// # Errors
/// A profile without AArch64 encodings, a function too long to reach its literals, or a fault of an earlier pass.
pub fn emit(program: &Program, options: &Options<'_>) -> Result<Vec<u8>, Diagnostic> {
    let layout = lay_out(program)?;
    write(&layout, options, &options.stamp(program.profile, program.fuse)).map_err(|e| elf::unwritten(&e))
}

fn write(layout: &Layout, options: &Options<'_>, stamp: &str) -> object::write::Result<Vec<u8>> {
    let (mut out, text) = elf::begin(&MACHINE, &layout.text, elf::FUNCTION_ALIGN);
    for &(at, code) in &layout.turns {
        map(&mut out, text, at, if code { "$x" } else { "$d" });
    }
    elf::finish(out, text, &MACHINE, &layout.functions, options, stamp)
}

fn map(out: &mut Object<'_>, text: SectionId, at: u32, name: &str) {
    out.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value: u64::from(at),
        size: 0,
        kind: SymbolKind::Label,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::Elf { st_info: (STB_LOCAL << 4) | STT_NOTYPE, st_other: STV_DEFAULT },
    });
}
