//! Reads finished objects back and checks each vector function twice, with a decoder other than the encoder that wrote it.
//!
//! *Equality:* decoded instructions, operands, relocations and literal bytes equal the `allocated` program. *Obligations*,
//! from the bytes and what the source selected alone: only the profile's instructions; no calls, branches or stack; general
//! registers only where scalars cross the boundary; every rack in one whole register; memory operands only as constant
//! loads; every register written before it is read; cross-lane instructions and fused multiply-adds only where they were
//! selected; regions contiguous. This crate shares no selection, allocation or encoding code with the backends: it
//! depends on `rake-ir` alone.

mod decode;
mod encoding;
mod equality;
mod facts;
mod image;
mod obligations;
mod shapes;
mod unwind;

pub use decode::{Class, Decoder, Instruction, Operand, Refusal, Undecodable};
pub use facts::{FunctionFacts, Metadata, RegionFacts};
pub use image::{Image, Relocation, Symbol};
pub use obligations::Obligation;

use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use shapes::Shapes;
use smol_str::SmolStr;
use std::cell::OnceCell;

/// What was found in one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionReport {
    /// Its name.
    pub name: SmolStr,
    /// Bytes of code.
    pub bytes: u32,
    /// Instructions decoded, `endbr64` included.
    pub instructions: u32,
    /// Constant loads, folded ones included.
    pub constant_loads: u32,
    /// Fused multiply-adds.
    pub multiply_adds: u32,
}

/// What was found in a verified object, function by function in the order of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The functions.
    pub functions: Vec<FunctionReport>,
}

impl Report {
    /// Instructions of all functions.
    pub fn instructions(&self) -> u32 {
        self.functions.iter().map(|f| f.instructions).sum()
    }
}

/// An object whose layout was checked, ready for the checks of its functions, which are independent of each other.
pub struct Prepared<'a> {
    image: Image<'a>,
    metadata: &'a Metadata,
    program: Option<&'a Program>,
    shapes: Shapes,
}

impl<'a> Prepared<'a> {
    /// Reads an object and checks sections, symbols and padding against the metadata.
    ///
    /// With `program`, [`Prepared::function`] checks equality too; its functions are those of the metadata.
    ///
    /// # Errors
    /// One diagnostic for each violation.
    pub fn new(
        object: &'a [u8],
        metadata: &'a Metadata,
        program: Option<&'a Program>,
    ) -> Result<Prepared<'a>, Vec<Diagnostic>> {
        let malformed = |text: String| vec![Diagnostic::spanless(Code::ObjectMalformed, text)];
        let image = Image::read(object).map_err(malformed)?;
        image.check_text().map_err(malformed)?;
        let shapes = Shapes::of(metadata.profile)
            .ok_or_else(|| malformed(format!("{} is not an x86 profile", metadata.profile)))?;
        let mut found = image.functions.iter();
        let mut wrong = Vec::new();
        for facts in &metadata.functions {
            let (name, place) = (&facts.name, if facts.exported { "exported" } else { "hidden" });
            match found.next() {
                Some(symbol) if symbol.name == name && symbol.exported == facts.exported => {}
                Some(symbol) if symbol.name == name => wrong.push(differs(facts, format!("`{name}` is not {place}"))),
                Some(symbol) => {
                    wrong.push(differs(facts, format!("`{}` stands where `{name}` is expected", symbol.name)));
                    break;
                }
                None => wrong.push(differs(facts, format!("`{name}` has no symbol"))),
            }
        }
        if let (true, Some(symbol)) = (wrong.is_empty(), found.next()) {
            let text = format!("`{}` is no function of the program", symbol.name);
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, text));
        }
        if let Some(program) = program
            && !image.holds_literals(program)
        {
            let text = "`.rodata` does not hold the program's literals, each once and nothing else";
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, text));
        }
        if let (Some(_), Err(text)) = (program, unwind::check(&image)) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, text));
        }
        if let Some(Err(text)) = program.map(|program| image.check_notes(program)) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, text));
        }
        let same = |p: &Program| {
            p.profile == metadata.profile
                && p.functions.iter().map(|f| &f.name).eq(metadata.functions.iter().map(|f| &f.name))
        };
        if !program.is_none_or(same) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, "the metadata is that of another program"));
        }
        if wrong.is_empty() { Ok(Prepared { image, metadata, program, shapes }) } else { Err(wrong) }
    }

    /// How many functions there are to check.
    pub fn len(&self) -> usize {
        self.metadata.functions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks the function at `index`; any thread may check any function.
    ///
    /// # Errors
    /// One diagnostic for each violation.
    pub fn function(&self, index: usize) -> Result<FunctionReport, Vec<Diagnostic>> {
        thread_local!(static DECODER: OnceCell<Result<Decoder, String>> = const { OnceCell::new() });
        DECODER.with(|cell| match cell.get_or_init(Decoder::new) {
            Ok(decoder) => self.function_with(index, decoder),
            Err(why) => Err(vec![Diagnostic::spanless(Code::Internal, format!("no decoder: {why}"))]),
        })
    }

    /// As [`Prepared::function`], with a decoder of the caller's.
    ///
    /// # Errors
    /// One diagnostic for each violation.
    pub fn function_with(&self, index: usize, decoder: &Decoder) -> Result<FunctionReport, Vec<Diagnostic>> {
        let (Some(facts), Some(symbol)) = (self.metadata.functions.get(index), self.image.functions.get(index)) else {
            return Err(vec![Diagnostic::spanless(Code::ObjectDiffers, format!("there is no function {index}"))]);
        };
        let (start, end) = (symbol.start, symbol.start + symbol.len);
        let code = &self.image.text[start as usize..end as usize];
        let insts = match decoder.decode(code) {
            Ok(insts) => insts,
            Err(at) => {
                let text = format!("{}: {}", Obligation::of_refusal(at.refusal).words(), at.reason);
                return Err(vec![broken(facts, at.offset, text)]);
            }
        };
        let mut wrong = Vec::new();
        if let Some(function) = self.program.and_then(|p| p.functions.get(index)) {
            let difference = equality::compare(&self.image, self.metadata.profile, symbol, &insts, function);
            if let Err((at, span, text)) = difference {
                let text = format!("`{}`, offset {at:#x}: {text}", facts.name);
                wrong.push(Diagnostic::error(Code::ObjectDiffers, span.unwrap_or(facts.span), text));
            }
        }
        let loads = obligations::loads(&self.image, symbol, &insts);
        obligations::check(
            &self.shapes,
            &loads,
            self.image.rodata_align,
            facts,
            &insts,
            &mut |at, obligation, text| {
                wrong.push(broken(facts, at, format!("{}: {text}", obligation.words())));
            },
        );
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

    /// Checks every function, one after the other.
    ///
    /// # Errors
    /// One diagnostic for each violation, in the order of the functions.
    pub fn all(&self) -> Result<Report, Vec<Diagnostic>> {
        let (mut report, mut wrong) = (Report::default(), Vec::new());
        for index in 0..self.len() {
            match self.function(index) {
                Ok(function) => report.functions.push(function),
                Err(more) => wrong.extend(more),
            }
        }
        if wrong.is_empty() { Ok(report) } else { Err(wrong) }
    }
}

fn differs(facts: &FunctionFacts, text: String) -> Diagnostic {
    Diagnostic::error(Code::ObjectDiffers, facts.span, text)
}

fn broken(facts: &FunctionFacts, at: u32, text: String) -> Diagnostic {
    let text = format!("`{}`, offset {at:#x}: {text}", facts.name);
    Diagnostic::error(Code::ObligationBroken, facts.span, text)
}

/// Checks an object against the program it was written from: equality and obligations.
///
/// # Errors
/// One diagnostic for each violation.
pub fn verify(object: &[u8], program: &Program, exported: &dyn Fn(&str) -> bool) -> Result<Report, Vec<Diagnostic>> {
    let metadata = Metadata::of(program, exported);
    Prepared::new(object, &metadata, Some(program))?.all()
}

/// Checks the obligations of an object from its bytes.
///
/// # Errors
/// One diagnostic for each violation.
pub fn obligations(object: &[u8], metadata: &Metadata) -> Result<Report, Vec<Diagnostic>> {
    Prepared::new(object, metadata, None)?.all()
}
