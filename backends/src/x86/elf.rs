//! ELF objects for x86-64, by the crate `object`.
//!
//! Sections: `.text`; `.rodata` with the literals; `.eh_frame`; `.comment` with the stamp; `.note.GNU-stack` (no executable stack); `.note.gnu.property` (IBT: every
//! function begins with `endbr64`; SHSTK: none touches its return address). All relocations are PC-relative, so the
//! object links into executables and shared objects at any address.

use super::layout::{Layout, lay_out};
use crate::Options;
use crate::elf::{self, Machine};
use object::Architecture;
use object::elf::R_X86_64_PC32;
use object::elf::{GNU_PROPERTY_X86_FEATURE_1_AND, GNU_PROPERTY_X86_FEATURE_1_IBT, GNU_PROPERTY_X86_FEATURE_1_SHSTK};
use object::write::StandardSection;
use rake_ir::allocated::Program;
use rake_ir::diag::Diagnostic;

/// The branch protection that every function keeps to.
pub(super) const PROPERTY: (u32, u32) =
    (GNU_PROPERTY_X86_FEATURE_1_AND, GNU_PROPERTY_X86_FEATURE_1_IBT | GNU_PROPERTY_X86_FEATURE_1_SHSTK);

/// Return address in column 16, stored at CFA-8, CFA = rsp+8.
#[rustfmt::skip]
const CIE: [u8; 24] = [
    20, 0, 0, 0,  0, 0, 0, 0,  1, b'z', b'R', 0,  1, 0x78, 16, 1,
    0x1b, 0x0c, 7, 8,  0x90, 1, 0, 0,
];

const MACHINE: Machine =
    Machine { architecture: Architecture::X86_64, cie: &CIE, relative: R_X86_64_PC32, property: PROPERTY };

/// Writes the object of a program.
///
/// # Errors
/// A profile without x86 encodings, or a fault of an earlier pass.
pub fn emit(program: &Program, options: &Options<'_>) -> Result<Vec<u8>, Diagnostic> {
    let layout = lay_out(program)?;
    write(&layout, options, &options.stamp(program.profile, program.fuse)).map_err(|e| elf::unwritten(&e))
}

fn write(layout: &Layout<'_>, options: &Options<'_>, stamp: &str) -> object::write::Result<Vec<u8>> {
    let (mut out, text) = elf::begin(&MACHINE, &layout.text, layout.align);
    let literals: Vec<u8> = layout.pool.literals().flatten().copied().collect();
    if !literals.is_empty() {
        let rodata = out.section_id(StandardSection::ReadOnlyData);
        out.append_section_data(rodata, &literals, layout.pool.align() as u64);
        for relocation in &layout.relocations {
            elf::relocate(&mut out, text, relocation.at, MACHINE.relative, rodata, relocation.addend)?;
        }
    }
    elf::finish(out, text, &MACHINE, &layout.functions, options, stamp)
}
