//! Where everything of an object stands: functions in `.text`, literals in `.rodata`, and the relocations between them.

use super::encode::{Encoded, encode};
use super::jumps::alignment;
use crate::elf::{FUNCTION_ALIGN, Placed};
use indexmap::IndexSet;
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::x86::{Space, table_bytes};

/// What stands between functions: `int3`.
pub const PADDING: u8 = 0xcc;

/// The literals of a program: those of a whole rack, then tables, then elements, each in the order of first use, no two
/// alike.
#[derive(Clone, Debug, Default)]
pub struct Pool<'a> {
    racks: IndexSet<&'a [u8]>,
    tables: IndexSet<&'a [u8]>,
    elements: IndexSet<&'a [u8]>,
    rack_bytes: usize,
    table_bytes: usize,
}

impl<'a> Pool<'a> {
    fn of(program: &'a Program, space: Space) -> Pool<'a> {
        let (rack_bytes, table_bytes) = (program.profile.rack_bytes(), table_bytes(space));
        let mut pool = Pool { rack_bytes, table_bytes, ..Pool::default() };
        for literal in program.functions.iter().flat_map(|f| &f.literals) {
            pool.of_size_mut(literal).insert(literal);
        }
        pool
    }

    fn of_size_mut(&mut self, literal: &[u8]) -> &mut IndexSet<&'a [u8]> {
        match literal.len() {
            len if len == self.rack_bytes => &mut self.racks,
            len if len == self.table_bytes => &mut self.tables,
            _ => &mut self.elements,
        }
    }

    /// The literal's offset in `.rodata`.
    pub fn offset(&self, literal: &[u8]) -> Option<u32> {
        let tables = self.racks.len() * self.rack_bytes;
        let elements = tables + self.tables.len() * self.table_bytes;
        let at = match literal.len() {
            len if len == self.rack_bytes => self.racks.get_index_of(literal)? * self.rack_bytes,
            len if len == self.table_bytes => tables + self.tables.get_index_of(literal)? * len,
            _ => elements + self.elements.get_index_of(literal)? * 4,
        };
        Some(at as u32)
    }

    /// The literals in order.
    pub fn literals(&self) -> impl Iterator<Item = &'a [u8]> {
        self.racks.iter().chain(&self.tables).chain(&self.elements).copied()
    }

    /// The section's alignment.
    pub fn align(&self) -> usize {
        if self.racks.is_empty() && self.tables.is_empty() { 4 } else { self.rack_bytes }
    }
}

/// A 32-bit PC-relative relocation in `.text` against the start of `.rodata`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Offset in `.text`.
    pub at: u32,
    /// What is added to the start of `.rodata`.
    pub addend: i64,
}

/// An object before it is written.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    /// The bytes of `.text`.
    pub text: Vec<u8>,
    /// Its alignment.
    pub align: usize,
    /// The functions, in the program's order.
    pub functions: Vec<Placed>,
    /// The relocations of `.text`, in order.
    pub relocations: Vec<Relocation>,
    /// The literals.
    pub pool: Pool<'a>,
}

/// Encodes and lays out a program.
///
/// # Errors
/// A profile without x86 encodings, or a fault of an earlier pass.
pub fn lay_out(program: &Program) -> Result<Layout<'_>, Diagnostic> {
    let space = Space::of(program.profile).ok_or_else(|| {
        Diagnostic::spanless(Code::NotOnProfile, format!("{} is not an x86 profile", program.profile))
    })?;
    let mut out = Layout {
        text: Vec::new(),
        align: FUNCTION_ALIGN,
        functions: Vec::with_capacity(program.functions.len()),
        relocations: Vec::new(),
        pool: Pool::of(program, space),
    };
    for function in &program.functions {
        let Encoded { code, fixups, starts, unwind } = encode(function, space)?;
        let align = alignment(function);
        out.align = out.align.max(align);
        out.text.resize(out.text.len().next_multiple_of(align), PADDING);
        let start = out.text.len() as u32;
        for fixup in fixups {
            let literal = function.literals.get(fixup.literal as usize).and_then(|l| out.pool.offset(l));
            let offset = literal.ok_or_else(|| {
                Diagnostic::error(Code::Internal, function.span, format!("`{}` names a missing literal", function.name))
            })?;
            let addend = i64::from(offset) - i64::from(fixup.to_end);
            out.relocations.push(Relocation { at: start + fixup.at, addend });
        }
        out.text.extend_from_slice(&code);
        let (name, len) = (function.name.clone(), code.len() as u32);
        out.functions.push(Placed { name, start, len, insts: starts, unwind });
    }
    Ok(out)
}
