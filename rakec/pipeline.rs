//! The pipeline: one table of passes, and the one loop that drives it.
//!
//! Everything that lists, dumps, times, checks, resumes or documents passes reads [`PASSES`] and nothing else.

mod count;
pub mod dump;
pub mod evaluate;
pub mod ir;
pub mod observe;
pub mod runs;
mod table;

pub use ir::{Ir, Kind};
pub use table::PASSES;

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_ir::span::SourceMap;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Functions that one processor deals with before another is worth waking.
const FUNCTIONS_PER_TASK: usize = 8;

/// One row of the table.
pub struct Pass {
    /// Its name: on the command line, of its file, and of its snapshots' folder.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// The IR it reads.
    pub from: Kind,
    /// The IR it gives.
    pub to: Kind,
    /// The profiles it runs for.
    pub profiles: Profiles,
    /// Whether it sees the program at once or each function alone.
    pub work: Work,
    /// What it does. Functions of the result stand in the order of the input's.
    pub run: fn(&Context, Ir) -> Outcome,
    /// What its result must satisfy.
    pub check: fn(&Ir) -> Result<(), Vec<String>>,
    /// Whether the pass after it still runs on a program that this one rejects, for what more there is to report.
    pub lenient: bool,
    /// Passes that must have run, and why; an order that the IRs alone do not force.
    pub after: &'static [(&'static str, &'static str)],
}

/// Which profiles a pass runs for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profiles {
    /// Every profile.
    All,
    /// Those of these families.
    Families(&'static [Family]),
}

impl Profiles {
    /// Whether `profile` is among them.
    pub fn includes(self, profile: Profile) -> bool {
        match self {
            Profiles::All => true,
            Profiles::Families(families) => families.contains(&profile.info().family),
        }
    }
}

impl std::fmt::Display for Profiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Profiles::All => f.write_str("all"),
            Profiles::Families(families) => {
                let names: Vec<_> = families.iter().map(|family| format!("{family:?}").to_lowercase()).collect();
                f.write_str(&names.join(" "))
            }
        }
    }
}

/// What a pass needs to see at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// The whole program.
    Program,
    /// One function; the driver may run several at once.
    Function,
}

/// What passes may ask about the compilation, besides their input.
pub struct Context<'a> {
    /// The files.
    pub sources: &'a SourceMap,
    /// The profile compiled for.
    pub profile: Profile,
    /// The freedom of fused regions.
    pub fuse: FuseLevel,
    /// Whether `fuse` keeps the rewrites between source and chosen graph.
    pub explain: bool,
}

/// What a pass gives: its result unless the program is rejected, and what it has to say.
pub struct Outcome {
    /// The result; `None` when the program is rejected.
    pub ir: Option<Ir>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T: Into<Ir>> From<Result<T, Vec<Diagnostic>>> for Outcome {
    fn from(result: Result<T, Vec<Diagnostic>>) -> Outcome {
        match result {
            Ok(ir) => Outcome { ir: Some(ir.into()), diagnostics: Vec::new() },
            Err(diagnostics) => Outcome { ir: None, diagnostics },
        }
    }
}

/// A part of the table: where a run begins and where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    first: usize,
    end: usize,
}

impl Range {
    /// From where `from` stands (an IR: before the first pass that reads it; a pass: after it) up to where `to` does
    /// (an IR: after the last pass that gives it; a pass: after it).
    ///
    /// # Errors
    /// An unknown name, or an end before the start, in words that list what is known.
    pub fn new(from: Option<&str>, to: Option<&str>) -> Result<Range, String> {
        let first = match from {
            // A dump of `surface` is source.
            None | Some("surface") => 0,
            Some(name) => start_of(name)?,
        };
        let end = match to {
            None => PASSES.len(),
            Some(name) => PASSES
                .iter()
                .rposition(|pass| pass.name == name || pass.to.name() == name)
                .map(|index| index + 1)
                .ok_or_else(|| unknown(name))?,
        };
        if end < first {
            let (from, to) = (from.unwrap_or_default(), to.unwrap_or_default());
            return Err(format!("`{to}` lies before `{from}` in the pipeline"));
        }
        Ok(Range { first, end })
    }

    /// The passes of this range that run for `profile`.
    pub fn passes(self, profile: Profile) -> impl Iterator<Item = (usize, &'static Pass)> {
        let range = PASSES.iter().enumerate().take(self.end).skip(self.first);
        range.filter(move |(_, pass)| pass.profiles.includes(profile))
    }

    /// The IR that the range starts from.
    pub fn start(self) -> Kind {
        self.before().map_or(PASSES[0].from, |pass| pass.to)
    }

    /// Checks what is given to start from, as the pass before would have been checked.
    ///
    /// # Errors
    /// Each violation as one line.
    pub fn check_start(self, ir: &Ir) -> Result<(), Vec<String>> {
        self.before().map_or(Ok(()), |pass| (pass.check)(ir))
    }

    fn before(self) -> Option<&'static Pass> {
        self.first.checked_sub(1).and_then(|index| PASSES.get(index))
    }
}

fn start_of(name: &str) -> Result<usize, String> {
    let pass = PASSES.iter().position(|pass| pass.name == name).map(|index| index + 1);
    let reader = || PASSES.iter().position(|pass| pass.from.name() == name);
    // No pass reads the last IR: it is only emitted.
    let giver = || PASSES.iter().rposition(|pass| pass.to.name() == name).map(|index| index + 1);
    pass.or_else(reader).or_else(giver).ok_or_else(|| unknown(name))
}

/// The pass whose result `name` means: its own, or for an IR the last that gives it.
///
/// # Errors
/// The valid names.
pub fn find(name: &str) -> Result<usize, String> {
    let found = PASSES.iter().rposition(|pass| pass.name == name || pass.to.name() == name);
    found.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> String {
    let passes: Vec<&str> = PASSES.iter().map(|pass| pass.name).collect();
    let irs: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    format!("there is no pass or IR `{name}`; passes: {}; IRs: {}", passes.join(" "), irs.join(" "))
}

/// Who looks on while the loop runs.
pub trait Observer {
    /// Whether the IR before this pass is to be kept for [`Observer::after`].
    fn wants_before(&self, index: usize, pass: &Pass) -> bool;
    /// Whether it relies on the IR's invariants, so that it looks only after they were checked.
    fn needs_valid(&self) -> bool {
        false
    }
    /// Called after each pass that succeeded.
    ///
    /// # Errors
    /// Ends the run.
    fn after(&mut self, index: usize, pass: &Pass, before: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic>;
}

/// What one pass took.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The pass.
    pub pass: &'static str,
    /// How long it ran.
    pub time: Duration,
    /// Nodes of its input and of its result.
    pub nodes: (usize, usize),
}

/// How the loop runs.
pub struct Drive<'a> {
    /// What the passes may ask.
    pub context: Context<'a>,
    /// Which passes run.
    pub range: Range,
    /// Whether every result is checked.
    pub check: bool,
    /// Filled when times are asked for.
    pub timings: Option<Vec<Timing>>,
}

impl Drive<'_> {
    /// Runs the passes of the range on `ir`.
    pub fn run(&mut self, mut ir: Ir, observers: &mut [&mut dyn Observer]) -> Outcome {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let mut rejected = false;
        for (index, pass) in self.range.passes(self.context.profile) {
            let wanted = observers.iter().any(|observer| observer.wants_before(index, pass));
            let before = wanted.then(|| ir.clone());
            let outcome = self.step(pass, ir);
            let waiting = rejected;
            rejected |= outcome.diagnostics.iter().any(Diagnostic::is_error);
            diagnostics.extend(outcome.diagnostics);
            let Some(result) = outcome.ir.filter(|_| !rejected || pass.lenient) else {
                if waiting {
                    diagnostics.sort_by_key(|diagnostic| (diagnostic.span().is_none(), diagnostic.span()));
                }
                return Outcome { ir: None, diagnostics };
            };
            if rejected {
                // The next pass may have more to say, but there is no program to look at.
                ir = result;
                continue;
            }
            if let Err(problem) = self.look(index, pass, before.as_ref(), &result, observers) {
                diagnostics.push(problem);
                return Outcome { ir: None, diagnostics };
            }
            ir = result;
        }
        Outcome { ir: (!rejected).then_some(ir), diagnostics }
    }

    fn step(&mut self, pass: &'static Pass, ir: Ir) -> Outcome {
        let Some(timings) = &mut self.timings else {
            return apply(pass, &self.context, ir);
        };
        let nodes = ir.nodes();
        let start = Instant::now();
        let outcome = apply(pass, &self.context, ir);
        let time = start.elapsed();
        let after = outcome.ir.as_ref().map_or(0, Ir::nodes);
        timings.push(Timing { pass: pass.name, time, nodes: (nodes, after) });
        outcome
    }

    fn look(
        &self,
        index: usize,
        pass: &Pass,
        before: Option<&Ir>,
        after: &Ir,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(), Diagnostic> {
        // What is wrong is dumped, but not evaluated.
        for observer in observers.iter_mut().filter(|observer| !observer.needs_valid()) {
            observer.after(index, pass, before, after)?;
        }
        if self.check {
            (pass.check)(after).map_err(|violations| broken(pass, after.kind(), &violations))?;
        }
        for observer in observers.iter_mut().filter(|observer| observer.needs_valid()) {
            observer.after(index, pass, before, after)?;
        }
        Ok(())
    }
}

fn broken(pass: &Pass, kind: Kind, violations: &[String]) -> Diagnostic {
    let message = format!("the pass `{}` gave an invalid `{}`", pass.name, kind.name());
    violations.iter().take(8).fold(Diagnostic::spanless(Code::Internal, message), |d, line| d.note(line.clone()))
}

/// Runs one pass; functions in parallel when there are enough of them.
fn apply(pass: &Pass, context: &Context, ir: Ir) -> Outcome {
    let count = ir.functions();
    if pass.work == Work::Program || count < 2 * FUNCTIONS_PER_TASK {
        return (pass.run)(context, ir);
    }
    // More parts than processors, so that one slow function does not leave the others waiting.
    let parts = (count / FUNCTIONS_PER_TASK).min(8 * rayon::current_num_threads());
    let parts = ir.split(parts);
    let outcomes: Vec<Outcome> = parts.into_par_iter().map(|part| (pass.run)(context, part)).collect();
    let mut diagnostics = Vec::new();
    let mut results = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        diagnostics.extend(outcome.diagnostics);
        results.push(outcome.ir);
    }
    let results: Option<Vec<Ir>> = results.into_iter().collect();
    Outcome { ir: results.and_then(Ir::join), diagnostics }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pass_reads_what_the_one_before_gives() {
        for profile in Profile::all().filter(|profile| profile.info().available) {
            let mut kind = Kind::Text;
            for (_, pass) in Range::new(None, None).unwrap().passes(profile) {
                assert_eq!(pass.from, kind, "{} reads another IR", pass.name);
                kind = pass.to;
            }
        }
    }

    #[test]
    fn names_are_unique_and_every_order_asked_for_holds() {
        for (index, pass) in PASSES.iter().enumerate() {
            assert_eq!(PASSES.iter().filter(|other| other.name == pass.name).count(), 1, "{}", pass.name);
            assert!(Kind::ALL.iter().all(|kind| kind.name() != pass.name), "{} is an IR's name", pass.name);
            for (earlier, reason) in pass.after {
                let place = PASSES.iter().position(|other| other.name == *earlier);
                assert!(place.is_some_and(|place| place < index), "{} must follow {earlier}", pass.name);
                assert!(!reason.is_empty());
            }
        }
    }

    #[test]
    fn ranges_start_and_stop_at_irs_and_passes() {
        let names = |from, to| -> Vec<&str> {
            Range::new(from, to).unwrap().passes(Profile::X86Avx2).map(|(_, pass)| pass.name).collect()
        };
        assert_eq!(names(None, Some("surface")), ["parse", "resolve"]);
        assert_eq!(names(Some("tined"), Some("fuse")), ["fuse"]);
        assert_eq!(names(Some("fuse"), Some("fused")), ["peel", "transpose", "expand", "sanitise", "simplify"]);
        assert_eq!(names(Some("surface"), Some("parse")), ["parse"]);
        assert!(Range::new(Some("selected"), Some("tined")).unwrap_err().contains("before"));
        assert!(Range::new(Some("fuze"), None).unwrap_err().contains("fuse"));
    }
}
