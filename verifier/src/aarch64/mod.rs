//! What is AArch64's own: the bits of its instructions, decoding, pools of literals, and what the obligations say of
//! them.

mod bounds;
mod decode;
mod encoding;
mod equality;
mod obligations;
mod pool;
mod runs;
mod text;
mod unwind;

pub use pool::check_text;
pub use unwind::unwinding;

use crate::crossing::crosses;
use crate::facts::{Counted, FmaSign, FunctionFacts};
use crate::image::{Image, Layout, Symbol};
use crate::obligations::Obligation;
use crate::{Difference, FunctionReport, broken, differs_at};
use decode::Decoder;
use encoding::Encodings;
use rake_ir::allocated::Function;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::aarch64::{A64, ALL};
use rake_ir::machine::{Flow, Inst, Kind, MachOp};
use smol_str::SmolStr;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// ELF for AArch64. The property is GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI and PAC. The unwind entry: version 1,
/// augmentation "zR" (32-bit PC-relative starts), code alignment 4, data alignment -8, return address in column 30; CFA
/// = sp, which is column 31 (DWARF 5, sections 6.4.1 and 6.4.2; AADWARF64, "DWARF register names").
#[rustfmt::skip]
pub static LAYOUT: Layout = Layout {
    name: "AArch64",
    machine: object::elf::EM_AARCH64,
    relocation: object::elf::R_AARCH64_PREL32,
    rodata: false,
    mapping: true,
    property: (0xc000_0000, 3),
    promise: "BTI and PAC",
    unwind: &[
        16, 0, 0, 0,  0, 0, 0, 0,  1, b'z', b'R', 0,  4, 0x78, 30, 1,
        0x1b, 0x0c, 31, 0,
    ],
};

/// Bytes of a rack.
const RACK_BYTES: usize = 16;
/// Bytes of a table that is read by a mask's bits, an entry of a rack for each mask of four lanes.
const TABLE_BYTES: usize = RACK_BYTES << 4;

/// Bytes at the address that an instruction names.
fn read_size(op: A64) -> usize {
    if op == A64::Adr { TABLE_BYTES } else { RACK_BYTES }
}

/// What is known of the instructions.
#[derive(Clone, Debug)]
pub struct Forms {
    plain: Encodings,
    runs: Encodings,
    /// Whether each row moves lanes, in the table's order.
    crosses: Vec<bool>,
    /// The rows that are another form of another.
    forms: BTreeMap<A64, A64>,
}

impl Forms {
    /// Those of the table, found once.
    pub fn get() -> &'static Forms {
        static FORMS: OnceLock<Forms> = OnceLock::new();
        FORMS.get_or_init(Forms::new)
    }

    fn new() -> Forms {
        let lanes = RACK_BYTES / 4;
        let forms = ALL.iter().flat_map(|&op| op.info().forms.iter().map(move |form| (form.op, op)));
        let forms = forms.filter_map(|(form, op)| match form {
            MachOp::A64(form) if form != op => Some((form, op)),
            _ => None,
        });
        let crosses = ALL.iter().map(|op| crosses(op.info(), lanes)).collect();
        Forms { plain: Encodings::new(false), runs: Encodings::new(true), crosses, forms: forms.collect() }
    }

    /// The words of runs, or of everything else.
    fn encodings(&self, run: bool) -> &Encodings {
        if run { &self.runs } else { &self.plain }
    }

    /// What a row counts as. Which of its forms stands there is the allocator's choice.
    pub fn of_machine<R: Copy + PartialEq>(&self, inst: &Inst<R>) -> Option<Counted> {
        let MachOp::A64(op) = inst.op else { return None };
        Some(self.counted(equality::canonical(op, &inst.args, inst.imm).0))
    }

    /// What an operation counts as.
    fn counted(&self, op: A64) -> Counted {
        let info = op.info();
        if !matches!(info.flow, None | Some(Flow::Compare)) {
            return Counted::default();
        }
        let sign = if op == A64::Fmls { FmaSign::NegAdd } else { FmaSign::Add };
        let multiply_add = info.contracts.then_some(sign);
        let row = self.forms.get(&op).copied().unwrap_or(op).info().name;
        let name = SmolStr::new_static(multiply_add.map_or(row, FmaSign::name));
        let neutral = matches!(info.kind, Kind::Move | Kind::Const);
        let word = matches!(info.kind, Kind::Word | Kind::Boundary);
        Counted {
            multiply_add,
            cross_lane: self.crosses[op as usize].then(|| SmolStr::new_static(row)),
            relaxed: None,
            word: word.then(|| name.clone()),
            operation: (!neutral).then_some(name),
        }
    }
}

/// Checks one function, against its allocated form where that is given.
///
/// # Errors
/// One diagnostic for each violation.
pub fn function(
    image: &Image<'_>,
    forms: &Forms,
    symbol: &Symbol<'_>,
    facts: &FunctionFacts,
    allocated: Option<&Function>,
) -> Result<FunctionReport, Vec<Diagnostic>> {
    thread_local!(static DECODER: OnceCell<Result<Decoder, String>> = const { OnceCell::new() });
    let run = facts.result.is_none();
    let decoded = DECODER.with(|cell| match cell.get_or_init(Decoder::new) {
        Ok(decoder) => decoder.decode(forms.encodings(run), run, image.code(symbol), symbol.start).map_err(|at| {
            let text = format!("{}: {}", Obligation::of_refusal(at.refusal).words(), at.reason);
            vec![broken(facts, at.offset, text)]
        }),
        Err(why) => Err(vec![Diagnostic::spanless(Code::Internal, format!("no decoder: {why}"))]),
    });
    let insts = decoded?;
    let mut wrong = Vec::new();
    if let Some(function) = allocated {
        let difference: Result<(), Difference> = equality::compare(image, symbol, &insts, function);
        wrong.extend(difference.err().map(|difference| differs_at(facts, difference)));
    }
    let pool = pool::place(image, symbol);
    obligations::check(forms, image, (symbol.start, &pool), facts, &insts, &mut |at, obligation, text| {
        wrong.push(broken(facts, at, format!("{}: {text}", obligation.words())));
    });
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(FunctionReport {
        name: facts.name.clone(),
        bytes: symbol.len,
        instructions: insts.len() as u32,
        constant_loads: insts.iter().filter(|inst| inst.op().is_some() && inst.target.is_some()).count() as u32,
        multiply_adds: facts.multiply_adds.iter().sum(),
    })
}
