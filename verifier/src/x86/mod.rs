//! What is x86's own: decoding by capstone and by the bytes' own fields, the forms of each profile's instructions, and
//! what the obligations say of them.

mod counted;
mod decode;
mod encoding;
mod equality;
mod obligations;
mod padding;
mod plain;
mod runs;
mod shapes;
mod unwind;

pub use counted::of_machine;
pub use unwind::unwinding;

use crate::facts::FunctionFacts;
use crate::image::{Image, Layout, Symbol};
use crate::obligations::Obligation;
use crate::{Difference, FunctionReport, broken, differs_at};
use decode::Decoder;
use rake_ir::allocated::{Function, Program};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::x86::{Space, table_bytes};
use rake_ir::profile::Profile;
use shapes::Shapes;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// ELF for x86-64. The property is GNU_PROPERTY_X86_FEATURE_1_AND: IBT and SHSTK. The unwind entry: version 1,
/// augmentation "zR" (32-bit PC-relative starts), code alignment 1, data alignment -8, return address in column 16; CFA
/// = rsp + 8, return address at CFA - 8; two bytes of padding (DWARF 5, sections 6.4.1 and 6.4.2).
#[rustfmt::skip]
pub static LAYOUT: Layout = Layout {
    name: "x86-64",
    machine: object::elf::EM_X86_64,
    relocation: object::elf::R_X86_64_PC32,
    rodata: true,
    mapping: false,
    property: (0xc000_0002, 3),
    promise: "IBT and SHSTK",
    unwind: &[
        20, 0, 0, 0,  0, 0, 0, 0,  1, b'z', b'R', 0,  1, 0x78, 16, 1,
        0x1b, 0x0c, 7, 8,  0x90, 1, 0, 0,
    ],
};

/// The profile's instruction lists.
#[derive(Clone, Debug)]
pub struct Lists {
    plain: Shapes,
    runs: Shapes,
}

impl Lists {
    /// Of an x86 profile.
    pub fn of(profile: Profile) -> Option<Lists> {
        Some(Lists { plain: Shapes::of(profile, false)?, runs: Shapes::of(profile, true)? })
    }

    /// That of runs, or of everything else.
    pub fn choose(&self, run: bool) -> &Shapes {
        if run { &self.runs } else { &self.plain }
    }
}

/// Checks that only functions and padding between them are in `.text`.
///
/// # Errors
/// What else is there.
pub fn check_text(image: &Image<'_>) -> Result<(), String> {
    let gaps = image.gaps()?;
    for (gap, function) in gaps.iter().zip(&image.functions) {
        // A function that has a padded loop starts where its loops do.
        let short = gap.len() < 16 || gap.len() < 32 && function.start.is_multiple_of(32);
        if !short || gap.iter().any(|&b| b != 0xcc) {
            return Err(format!("something other than padding stands before `{}`", function.name));
        }
    }
    match gaps.last() {
        Some([]) => Ok(()),
        _ => Err("`.text` does not end with its last function".into()),
    }
}

/// Whether `.rodata` holds each literal of a program once, whole racks before tables before elements, and nothing else.
///
/// # Errors
/// That it does not.
pub fn check_literals(image: &Image<'_>, program: &Program) -> Result<(), String> {
    let wrong = || Err("`.rodata` does not hold the program's literals, each once and nothing else".to_string());
    let mut rest = image.rodata;
    for size in [program.profile.rack_bytes(), Space::of(program.profile).map_or(0, table_bytes), 4] {
        let all = program.functions.iter().flat_map(|f| &f.literals).map(Vec::as_slice);
        let wanted: BTreeSet<&[u8]> = all.filter(|literal| literal.len() == size).collect();
        let Some((part, others)) = rest.split_at_checked(wanted.len() * size) else { return wrong() };
        if part.chunks(size).collect::<BTreeSet<&[u8]>>() != wanted {
            return wrong();
        }
        rest = others;
    }
    if rest.is_empty() { Ok(()) } else { wrong() }
}

/// Checks one function, against its allocated form where that is given.
///
/// # Errors
/// One diagnostic for each violation.
pub fn function(
    image: &Image<'_>,
    shapes: &Shapes,
    symbol: &Symbol<'_>,
    facts: &FunctionFacts,
    allocated: Option<&Function>,
) -> Result<FunctionReport, Vec<Diagnostic>> {
    // Making a decoder costs far more than decoding a function.
    thread_local!(static DECODER: OnceCell<Result<Decoder, String>> = const { OnceCell::new() });
    let decoded = DECODER.with(|cell| match cell.get_or_init(Decoder::new) {
        Ok(decoder) => decoder.decode(image.code(symbol)).map_err(|at| {
            let text = format!("{}: {}", Obligation::of_refusal(at.refusal).words(), at.reason);
            vec![broken(facts, at.offset, text)]
        }),
        Err(why) => Err(vec![Diagnostic::spanless(Code::Internal, format!("no decoder: {why}"))]),
    });
    let (insts, pad) = padding::take_out(image, symbol, decoded?);
    let mut wrong = Vec::new();
    if let Some(at) = pad {
        let text = format!("{}: this is not where a loop needs it", Obligation::Padding.words());
        wrong.push(broken(facts, at, text));
    }
    if let Some(function) = allocated {
        let difference: Result<(), Difference> = equality::compare(image, shapes, symbol, &insts, function);
        wrong.extend(difference.err().map(|difference| differs_at(facts, difference)));
    }
    let loads = obligations::loads(image, symbol, &insts, shapes.space());
    obligations::check(shapes, &loads, image.rodata_align, facts, &insts, &mut |at, obligation, text| {
        wrong.push(broken(facts, at, format!("{}: {text}", obligation.words())));
    });
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(FunctionReport {
        name: facts.name.clone(),
        bytes: symbol.len,
        instructions: insts.len() as u32,
        constant_loads: loads.len() as u32,
        multiply_adds: facts.multiply_adds.iter().sum(),
    })
}
