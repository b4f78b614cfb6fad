//! `tined`: masks are Boolean formulas over comparison atoms; through and sweep are gone; SSA lane operations.
//!
//! Since `desugared`: expression trees became SSA values; each value computed in some lanes only names its mask.
//! A fused region is the list of values that its stages compute, still exactly as the source wrote them.
//!
//! ```text
//! region {
//!   %3 : f32s = const 0.5
//!   %4 : f32s = mul %1, %3                 ~~ scaled
//!   stage scaled %4
//! }
//! ```

use crate::diag::Diagnostic;
use crate::lane::{self, Checker, EvalError, FunctionPrinter, FunctionReader, ValueId};
use crate::value::Lanes;
use smol_str::SmolStr;

/// A region: what consecutive stages `| name <| e` compute, in source order.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// The values that the stages compute, in program order; all pure and allowed in stages.
    pub values: Vec<ValueId>,
    /// Each stage's name and its value (in `values`, or one from outside when the stage only renames).
    pub stages: Vec<(SmolStr, ValueId)>,
}

/// A function of `tined`.
pub type Function = lane::Function<Region>;
/// A program of `tined`.
pub type Program = lane::Program<Region>;

/// The program as a dump.
pub fn print(program: &Program) -> String {
    lane::print(program)
}

/// Reads a dump.
///
/// # Errors
/// What cannot be read, the first fault of each function.
pub fn read(text: &str) -> Result<Program, Vec<Diagnostic>> {
    lane::read(text)
}

/// Checks the invariants.
///
/// # Errors
/// Each violation in one line.
pub fn check(program: &Program) -> Result<(), Vec<String>> {
    lane::check(program)
}

/// Evaluates a function.
///
/// # Errors
/// See [`EvalError`].
pub fn eval(program: &Program, name: &str, args: &[Lanes]) -> Result<Lanes, EvalError> {
    lane::eval(program, name, args)
}

impl lane::Region for Region {
    const IR: &'static str = "tined";
    const PICKS: bool = false;
    const CONTRACTED: bool = false;

    fn computed(&self) -> &[ValueId] {
        &self.values
    }

    fn hidden(&self) -> &[ValueId] {
        &[]
    }

    fn outputs(&self) -> Option<Vec<ValueId>> {
        Some(self.stages.iter().map(|stage| stage.1).collect())
    }

    fn only_stages(&self) -> bool {
        true
    }

    fn print(&self, printer: &mut FunctionPrinter) {
        self.values.iter().for_each(|&id| printer.value(id));
        print_stages(&self.stages, printer);
    }

    fn read(reader: &mut FunctionReader) -> crate::text::Result<Region> {
        let values = reader.values()?;
        let stages = read_stages(reader)?;
        reader.close()?;
        Ok(Region { values, stages })
    }

    fn check(&self, checker: &mut Checker) {
        for (name, value) in &self.stages {
            checker.reads(*value, &format!("stage `{name}`"));
        }
    }
}

/// The lines `stage scaled %3`.
pub(crate) fn print_stages(stages: &[(SmolStr, ValueId)], printer: &mut FunctionPrinter) {
    for (name, value) in stages {
        let line = format!("stage {name} {}", printer.name(*value));
        printer.line(&line, None);
    }
}

/// Reads what [`print_stages`] prints.
pub(crate) fn read_stages(reader: &mut FunctionReader) -> crate::text::Result<Vec<(SmolStr, ValueId)>> {
    let mut stages = Vec::new();
    while reader.peek().is_some_and(|mut line| line.keyword("stage")) {
        let mut line = reader.next("a stage")?;
        line.expect_keyword("stage")?;
        let name = line.word("a stage's name")?.into();
        stages.push((name, reader.operand(&mut line)?));
        line.end()?;
    }
    Ok(stages)
}

#[cfg(test)]
mod tests;
