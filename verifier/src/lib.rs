//! Reads finished objects back and checks each vector function twice, with a decoder other than the encoder that wrote
//! it.
//!
//! *Equality:* decoded instructions, operands, relocations and literal bytes equal the last IR before the bytes: the
//! `allocated` program, for WebAssembly the `stacked` one. *Obligations*, from the bytes and what the source selected
//! alone: only the profile's instructions; no calls, branches or stack; general registers only where scalars cross the
//! boundary; every rack in one whole register; memory operands only as constant loads; every register written before it
//! is read; cross-lane instructions and fused multiply-adds only where they were selected; regions contiguous. Runs may
//! also jump inside themselves, trap, save registers, and access memory at addresses that the caller passed. This
//! crate shares no selection, allocation or encoding code with the backends: it depends on `rake-ir` alone. Each family
//! of machines has a folder; what is general stands beside them.

mod aarch64;
mod crossing;
mod facts;
mod flow;
mod image;
mod obligations;
mod tables;
mod unwind;
pub mod wasm;
mod x86;

pub use facts::{FmaSign, FunctionFacts, Metadata, RegionFacts};
pub use obligations::Obligation;

use facts::Counted;
use image::{Image, Layout};
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::machine::Inst;
use rake_ir::profile::{Family, Profile};
use rake_ir::span::Span;
use smol_str::SmolStr;

/// What is known of the instructions of a profile.
#[derive(Clone, Debug)]
pub(crate) enum Machine {
    X86(x86::Lists),
    Aarch64(&'static aarch64::Forms),
    Wasm(wasm::Rows),
}

impl Machine {
    /// Of a profile; `None` where the verifier reads no code.
    fn of(profile: Profile) -> Option<Machine> {
        match profile.info().family {
            Family::X86 => x86::Lists::of(profile).map(Machine::X86),
            Family::Aarch64 => Some(Machine::Aarch64(aarch64::Forms::get())),
            Family::Wasm => Some(Machine::Wasm(wasm::Rows::of(profile))),
            Family::Scalar => None,
        }
    }

    /// The layout of objects, where there are any.
    fn layout(&self) -> Option<&'static Layout> {
        match self {
            Machine::X86(_) => Some(&x86::LAYOUT),
            Machine::Aarch64(_) => Some(&aarch64::LAYOUT),
            Machine::Wasm(_) => None,
        }
    }

    /// What an instruction of the machine table counts as, `before` standing before it among `insts` of a run, or of
    /// what is none.
    fn counted<R: Copy + PartialEq>(
        &self,
        run: bool,
        inst: &Inst<R>,
        before: Option<&Inst<R>>,
        insts: &[Inst<R>],
    ) -> Option<Counted> {
        match self {
            Machine::X86(lists) => x86::of_machine(lists.choose(run), inst, before),
            Machine::Aarch64(forms) => forms.of_machine(inst),
            Machine::Wasm(rows) if rows.spreads(inst) => {
                // On an operand stack what stands before is the operand.
                let named = inst.args.first().map(|arg| insts.iter().find(|other| other.dst == arg.reg()));
                rows.of_machine(run, inst, named.unwrap_or(before))
            }
            Machine::Wasm(rows) => rows.of_machine(run, inst, None),
        }
    }

    /// What an unwinder is told of a function with these bytes, beside where it is.
    fn unwinding(&self, code: &[u8]) -> Vec<u8> {
        match self {
            Machine::X86(_) => x86::unwinding(code),
            Machine::Aarch64(_) => aarch64::unwinding(code),
            Machine::Wasm(_) => Vec::new(),
        }
    }

    fn check_text(&self, image: &Image<'_>) -> Result<(), String> {
        match self {
            Machine::X86(_) => x86::check_text(image),
            Machine::Aarch64(forms) => aarch64::check_text(image, forms),
            Machine::Wasm(_) => Err("not an object".into()),
        }
    }

    fn check_literals(&self, image: &Image<'_>, program: &Program) -> Result<(), String> {
        match self {
            Machine::X86(_) => x86::check_literals(image, program),
            // Each is compared where it is read, and nothing else stands there.
            Machine::Aarch64(_) | Machine::Wasm(_) => Ok(()),
        }
    }
}

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
    machine: Machine,
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
        let machine = Machine::of(metadata.profile).and_then(|machine| Some((machine.layout()?, machine)));
        let (layout, machine) =
            machine.ok_or_else(|| malformed(format!("there are no objects for {}", metadata.profile)))?;
        let image = Image::read(object, layout).map_err(malformed)?;
        machine.check_text(&image).map_err(malformed)?;
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
        if let Some(program) = program {
            let checks = [
                machine.check_literals(&image, program),
                unwind::check(&image, &|code| machine.unwinding(code)),
                image.check_notes(program),
            ];
            let texts = checks.into_iter().filter_map(Result::err);
            wrong.extend(texts.map(|text| Diagnostic::spanless(Code::ObjectDiffers, text)));
        }
        let same = |p: &Program| {
            p.profile == metadata.profile
                && p.functions.iter().map(|f| &f.name).eq(metadata.functions.iter().map(|f| &f.name))
        };
        if !program.is_none_or(same) {
            wrong.push(Diagnostic::spanless(Code::ObjectDiffers, "the metadata is that of another program"));
        }
        if wrong.is_empty() { Ok(Prepared { image, metadata, program, machine }) } else { Err(wrong) }
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
        let (Some(facts), Some(symbol)) = (self.metadata.functions.get(index), self.image.functions.get(index)) else {
            return Err(vec![Diagnostic::spanless(Code::ObjectDiffers, format!("there is no function {index}"))]);
        };
        let allocated = self.program.and_then(|p| p.functions.get(index));
        match &self.machine {
            Machine::X86(lists) => {
                x86::function(&self.image, lists.choose(facts.result.is_none()), symbol, facts, allocated)
            }
            Machine::Aarch64(forms) => aarch64::function(&self.image, forms, symbol, facts, allocated),
            Machine::Wasm(_) => Err(vec![differs(facts, "there are no objects of WebAssembly".into())]),
        }
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

/// The first difference: offset in the function, the source that asked for it, and what differs.
type Difference = (u32, Option<Span>, String);

fn differs_at(facts: &FunctionFacts, (at, span, text): Difference) -> Diagnostic {
    let text = format!("`{}`, offset {at:#x}: {text}", facts.name);
    Diagnostic::error(Code::ObjectDiffers, span.unwrap_or(facts.span), text)
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
