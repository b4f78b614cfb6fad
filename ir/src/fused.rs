//! `fused`: each region is the graph chosen for the profile, with the source graph it was chosen for and the proof between.
//!
//! Since `tined`: a region carries its chosen graph, and everything after the region reads the chosen graph's values. The
//! e-graph itself lives and dies inside the pass `fuse`. Passes that change what a chosen graph computes in inactive lanes
//! or below the vocabulary (`expand`, `sanitise`) drop the proof.

use crate::lane::{self, ValueId};
use num_rational::BigRational;
use smol_str::SmolStr;

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
