//! `fused`: each region is the graph chosen for the profile, with the source graph it was chosen for and the proof between.
//!
//! Since `tined`: a region carries its chosen graph, and everything after the region reads the chosen graph's values. The
//! e-graph itself lives and dies inside the pass `fuse`. Passes that change what a chosen graph computes in inactive lanes
//! or below the vocabulary (`expand`, `sanitise`) drop the proof.
//!
//! ```text
//! region {
//!   %3 : f32s = const 0.75
//!   %4 : f32s = mul_add %1, %3, %0         ~~ moved
//!   exact %3 = 3/4
//!   proof {
//!     source {
//!       %5 : f32s = const 0.5
//!       ...
//!     }
//!     stage moved %8
//!     yield %8 = %4
//!     cost 150 1200 4 -> 50 400 3
//!     stop saturated
//!     chain {
//!       step contract forward (+ (* x 0.75) y)
//!     }
//!   }
//! }
//! ```

mod rational;
#[cfg(test)]
mod tests;
mod text;

pub use rational::round_rational;

use crate::diag::Diagnostic;
use crate::lane::{self, Checker, EvalError, FunctionPrinter, FunctionReader, ValueId};
use crate::value::Lanes;
use num_rational::BigRational;
use smol_str::SmolStr;
use std::collections::HashSet;

/// A region and its chosen graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// The chosen graph, in program order: values in the function's arena whose operands are each other or values from
    /// before the region.
    pub values: Vec<ValueId>,
    /// Combined constants among `values`, unrounded; the value itself holds the constant rounded once.
    pub exact: Vec<(ValueId, BigRational)>,
    /// The source graph and why the chosen one equals it; gone once a later pass changed the graph's meaning.
    pub proof: Option<Proof>,
}

/// What a chosen graph is checked against.
#[derive(Clone, PartialEq, Debug)]
pub struct Proof {
    /// The source graph's values, in program order, in the same arena; nothing but this proof reads them.
    pub source: Vec<ValueId>,
    /// Each stage's name and its source value.
    pub stages: Vec<(SmolStr, ValueId)>,
    /// What later code reads: the source value, and the chosen value that stands for it.
    pub yields: Vec<(ValueId, ValueId)>,
    /// The profile's cost of each graph.
    pub cost: (Cost, Cost),
    /// Why the search ended.
    pub stop: Stop,
    /// The rewrites from source to chosen graph, when they were asked for.
    pub chain: Option<Vec<Step>>,
}

/// What a graph costs on the profile; compared field by field in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cost {
    /// Sum over the graph's operations of reciprocal throughput, in hundredths of a cycle.
    pub throughput: u32,
    /// Longest path, in hundredths of a cycle.
    pub latency: u32,
    /// The most racks live at once in the graph's order.
    pub live: u32,
}

/// Why the search for a better graph ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stop {
    /// No rule found anything new.
    Saturated,
    /// The node limit, with its value.
    Nodes(u32),
    /// The round limit, with its value.
    Rounds(u32),
    /// Nothing to rewrite: the source graph was taken as it is.
    Trivial,
    /// No graph that reads these values can take fewer operations.
    Optimal,
}

/// One rewrite of the chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The rule's or seed's name.
    pub rule: SmolStr,
    /// Whether it was used from right to left.
    pub backward: bool,
    /// The whole graph as a term after the step.
    pub term: String,
}

/// A function of `fused`.
pub type Function = lane::Function<Region>;
/// A program of `fused`.
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

/// As [`check`], after `sanitise`: nothing may raise a floating-point flag in an inactive lane.
///
/// # Errors
/// Each violation in one line.
pub fn check_sanitised(program: &Program) -> Result<(), Vec<String>> {
    lane::check_sanitised(program)
}

/// Evaluates a function; of each region, the chosen graph.
///
/// # Errors
/// See [`EvalError`].
pub fn eval(program: &Program, name: &str, args: &[Lanes]) -> Result<Lanes, EvalError> {
    lane::eval(program, name, args)
}

impl lane::Region for Region {
    const IR: &'static str = "fused";
    const PICKS: bool = true;
    const CONTRACTED: bool = true;

    fn computed(&self) -> &[ValueId] {
        &self.values
    }

    fn hidden(&self) -> &[ValueId] {
        self.proof.as_ref().map_or(&[], |proof| &proof.source)
    }

    fn outputs(&self) -> Option<Vec<ValueId>> {
        let proof = self.proof.as_ref()?;
        Some(proof.yields.iter().map(|pair| pair.1).collect())
    }

    fn only_stages(&self) -> bool {
        self.proof.is_some()
    }

    fn print(&self, printer: &mut FunctionPrinter) {
        text::print(self, printer);
    }

    fn read(reader: &mut FunctionReader) -> crate::text::Result<Region> {
        text::read(reader)
    }

    fn check(&self, checker: &mut Checker) {
        let computed: HashSet<ValueId> = self.values.iter().copied().collect();
        for (id, exact) in &self.exact {
            let (value, name) = (checker.get(*id), checker.show(*id));
            let rounded = round_rational(value.ty.elem(), exact).map(crate::ops::Imm::Bits);
            if !computed.contains(id) {
                checker.fault(format!("{name} has an exact value but stands in another region"));
            } else if value.op != crate::ops::Op::Const || rounded.as_ref() != Some(&value.imm) {
                checker.fault(format!("{name} is not {exact} rounded once"));
            }
        }
        let Some(proof) = &self.proof else { return };
        for (name, value) in &proof.stages {
            checker.names(*value, &format!("stage `{name}`"));
        }
        for &(source, chosen) in &proof.yields {
            checker.reads(source, "a yield");
            checker.reads(chosen, "a yield");
            let (from, to) = (checker.get(source).ty, checker.get(chosen).ty);
            if from != to {
                let name = checker.show(source);
                checker.fault(format!("{name} of type {from} is yielded as a {to}"));
            }
        }
        if proof.source.iter().any(|id| computed.contains(id)) {
            checker.fault("a source graph shares a value with its chosen graph");
        }
    }
}
