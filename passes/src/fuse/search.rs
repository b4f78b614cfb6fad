//! The search for one region: fast path, seeds, rewriting to a counted limit, extraction.

use super::bound::{self, Bound};
use super::extract::{self, Picked};
use super::graph::{Term, at};
use super::quick;
use super::seeds::{self, Setting};
use crate::rewrites::language::{Children, Constants, Graph, Head, Node, Payload};
use crate::rewrites::{self, Class, Compiled, Growth, Ops};
use egg::{EGraph, Id};
use rake_ir::fused::{Cost, Stop};
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{Imm, Op};
use rake_ir::types::Ty;
use std::collections::HashMap;
use std::rc::Rc;

/// A graph chosen for a source graph.
pub struct Chosen {
    /// The graph.
    pub term: Term,
    /// For each node of the source, its class; for each node of the chosen graph, its class. Equal numbers mean equal
    /// values.
    pub source_classes: Vec<usize>,
    /// See `source_classes`.
    pub classes: Vec<usize>,
    /// Costs of source and chosen graph.
    pub cost: (Cost, Cost),
    /// Why the search ended.
    pub stop: Stop,
}

/// Counted limits of one search.
#[derive(Clone, Copy, Debug)]
struct Limits {
    nodes: usize,
    rounds: u32,
    matches: usize,
    growth: bool,
}

fn limits(operations: usize) -> Limits {
    match operations {
        // What so few operations can become is soon found.
        0..=4 => Limits { nodes: 160, rounds: 4, matches: 100, growth: true },
        5..=12 => Limits { nodes: 500, rounds: 5, matches: 200, growth: true },
        13..=24 => Limits { nodes: 700, rounds: 4, matches: 200, growth: true },
        25..=64 => Limits { nodes: 2000, rounds: 4, matches: 600, growth: false },
        // Room for the source itself and a few forms of each operation, however large the region.
        _ => Limits { nodes: 2000.max(operations * 6), rounds: 2, matches: 1200.max(operations * 2), growth: false },
    }
}

/// The e-graph of a region after the search.
pub struct Searched {
    /// The graph.
    pub graph: Graph,
    /// The class of each source node.
    pub classes: Vec<Id>,
    /// The root's class.
    pub root: Id,
    /// Why it ended.
    pub stop: Stop,
}

/// The node over all results, without them.
pub fn root_node() -> Node {
    Node { head: Head::Root, ty: Ty::TRUTH, payload: Payload::Imm(Imm::None), args: Children::new() }
}

/// An e-graph with explanations in which `chosen` was put beside `term` before rewriting; and the root of `chosen`.
/// Its limits are wider: rewriting with explanations on may take another way to the same graph.
pub fn explore_explained(term: &Term, chosen: &Term, setting: Setting) -> (Searched, Id) {
    let (mut graph, classes, root, mut limits) = prepare(term, setting, true);
    let (_, chosen) = insert(&mut graph, chosen);
    graph.rebuild();
    limits.nodes *= 4;
    limits.rounds += 2;
    let stop = rewrite(&mut graph, term, setting, limits);
    (Searched { graph, classes, root, stop }, chosen)
}

/// Builds the e-graph, seeds it, and rewrites it unless the seeds meet the bound; then picks the cheapest graph.
fn explore(term: &Term, setting: Setting, bound: Option<Bound>) -> (Searched, Option<Picked>) {
    let (graph, classes, root, limits) = prepare(term, setting, false);
    let mut searched = Searched { graph, classes, root, stop: Stop::Optimal };
    if let Some(bound) = bound {
        contract(&mut searched.graph, setting);
        let picked = pick(term, &searched, setting);
        let meets = |picked: &Picked| {
            let cost = picked.term.cost(setting.profile);
            cost.throughput <= bound.throughput && cost.latency <= bound.latency
        };
        if picked.as_ref().is_some_and(meets) {
            return (searched, picked);
        }
    }
    searched.stop = rewrite(&mut searched.graph, term, setting, limits);
    let picked = pick(term, &searched, setting);
    (searched, picked)
}

fn pick(term: &Term, searched: &Searched, setting: Setting) -> Option<Picked> {
    let own = |(node, &id): (&Node, &Id)| {
        let args = node.args.iter().map(|&arg| searched.classes[at(arg)]).collect();
        (Node { args, ..node.clone() }, id)
    };
    let source: Vec<(Node, Id)> = term.nodes.iter().zip(&searched.classes).map(own).collect();
    extract::pick(&searched.graph, searched.root, &source, setting.profile)
}

/// What the rows of contraction do, once, without matching: every sum of a product is a multiply-add.
fn contract(graph: &mut Graph, setting: Setting) {
    if !setting.profile.info().fma || setting.level == FuseLevel::Exact {
        return;
    }
    let mut sums: Vec<(Id, Node)> = Vec::new();
    for class in graph.classes() {
        let is_sum = |node: &&Node| node.ty.elem().is_float() && matches!(node.as_op(), Some(Op::Add | Op::Sub));
        sums.extend(class.nodes.iter().filter(is_sum).map(|node| (class.id, node.clone())));
    }
    sums.sort_unstable_by_key(|sum| sum.0);
    for (class, sum) in sums {
        let (left, right) = (sum.args[0], sum.args[1]);
        let subtracts = sum.as_op() == Some(Op::Sub);
        let first = if subtracts { (Op::MulSub, "contract-sub") } else { (Op::MulAdd, "contract-add") };
        let second = if subtracts { (Op::NegMulAdd, "contract-sub-from") } else { (Op::MulAdd, "contract-add") };
        for ((op, name), product, other) in [(first, left, right), (second, right, left)] {
            let is_product = |node: &&Node| node.ty == sum.ty && node.as_op() == Some(Op::Mul);
            let products: Vec<Children> =
                graph[product].nodes.iter().filter(is_product).map(|node| node.args.clone()).collect();
            for factors in products {
                let made = graph.add_uncanonical(Node::op(op, sum.ty, &[factors[0], factors[1], other]));
                graph.union_trusted(class, made, name);
            }
        }
    }
    graph.rebuild();
}

/// Adds a graph; the classes of its nodes and of the node over all results.
fn insert(graph: &mut Graph, term: &Term) -> (Vec<Id>, Id) {
    let mut classes: Vec<Id> = Vec::with_capacity(term.nodes.len());
    for node in &term.nodes {
        let args = node.args.iter().map(|&arg| classes[at(arg)]).collect();
        classes.push(graph.add_uncanonical(Node { args, ..node.clone() }));
    }
    let root = Node { args: term.roots.iter().map(|&root| classes[root]).collect(), ..root_node() };
    let root = graph.add_uncanonical(root);
    (classes, root)
}

/// The seeded e-graph before rewriting, and the limits for it.
fn prepare(term: &Term, setting: Setting, explain: bool) -> (Graph, Vec<Id>, Id, Limits) {
    let analysis = Constants { level: setting.level, conflicts: 0 };
    let mut graph: Graph = EGraph::new(analysis);
    if explain {
        graph = graph.with_explanations_enabled();
    }
    let (classes, root) = insert(&mut graph, term);
    let operations = term.operations();
    let mut limits = limits(operations);
    if operations <= MOST_SEEDED {
        let seeded = seeds::seed(&mut graph, term, &classes, setting);
        limits.growth &= !seeded.cancels;
    }
    // Matching finds only what a rebuilt graph has indexed.
    graph.rebuild();
    (graph, classes, root, limits)
}

/// Regions with more operations than this are only contracted and shared.
const MOST_SEEDED: usize = 600;

/// Regions with more operations than this are only contracted as they stand: extraction keeps a set of classes for each
/// class, quadratic in memory and time.
const MOST_SEARCHED: usize = 2048;

fn rewrite(graph: &mut Graph, term: &Term, setting: Setting, limits: Limits) -> Stop {
    let fma = setting.profile.info().fma;
    let usable = |class: Class, growth: Growth| {
        class.allowed(setting.level) && (fma || class != Class::Contract) && (limits.growth || growth == Growth::Small)
    };
    let mut present = Ops::default();
    graph.classes().flat_map(|class| &class.nodes).filter_map(Node::as_op).for_each(|op| present.insert(op));
    let types = term.types();
    let rows: Vec<&Compiled> = types.iter().flat_map(|&ty| rewrites::applicable(ty, present, usable)).collect();
    for _ in 0..limits.rounds {
        let matches: Vec<_> = rows.iter().map(|row| row.rewrite.search_with_limit(graph, limits.matches)).collect();
        let mut changed = false;
        for (row, matches) in rows.iter().zip(&matches) {
            if matches.is_empty() {
                continue;
            }
            changed |= !row.rewrite.apply(graph, matches).is_empty();
            if graph.total_size() > limits.nodes {
                graph.rebuild();
                return Stop::Nodes(limits.nodes as u32);
            }
        }
        graph.rebuild();
        if !changed {
            return Stop::Saturated;
        }
    }
    Stop::Rounds(limits.rounds)
}

/// Whether no rewrite can do anything: nothing to compute, or a single operation without constants.
fn is_trivial(term: &Term) -> bool {
    let mut operations = term.nodes.iter().filter(|node| !node.is_free());
    match (operations.next(), operations.next()) {
        (None, _) => true,
        (Some(node), None) => {
            let constant = |id: &Id| term.nodes[at(*id)].as_op() == Some(Op::Const);
            let alike = node.args.len() >= 2 && node.args.windows(2).any(|pair| pair[0] == pair[1]);
            !node.args.iter().any(constant) && !alike
        }
        _ => false,
    }
}

/// What was chosen so far: the same graph gets the same one again.
pub struct Choices {
    setting: Setting,
    made: HashMap<Term, Rc<Chosen>>,
}

impl Choices {
    /// None yet.
    pub fn new(setting: Setting) -> Choices {
        Choices { setting, made: HashMap::new() }
    }

    /// What a region allows and costs.
    pub fn setting(&self) -> Setting {
        self.setting
    }

    /// As [`choose`].
    pub fn choose(&mut self, term: &Term) -> Rc<Chosen> {
        if let Some(chosen) = self.made.get(term) {
            return Rc::clone(chosen);
        }
        let chosen = Rc::new(choose(term, self.setting));
        self.made.insert(term.clone(), Rc::clone(&chosen));
        chosen
    }
}

/// Chooses the cheapest graph found for `term`, never one that costs more than it.
pub fn choose(term: &Term, setting: Setting) -> Chosen {
    let bound = if is_trivial(term) { None } else { bound::lower(term, setting) };
    choose_within(term, setting, bound)
}

/// As [`choose`], ending early where the bound is met.
pub fn choose_within(term: &Term, setting: Setting, bound: Option<Bound>) -> Chosen {
    let source_cost = term.cost(setting.profile);
    if is_trivial(term) {
        return keep(term, source_cost, Stop::Trivial);
    }
    if let Some((made, origin, cost)) = bound.and_then(|bound| quick::cheapest(term, setting, bound)) {
        return take(term, made, origin, (source_cost, cost), Stop::Optimal);
    }
    if term.operations() > MOST_SEARCHED {
        let (made, origin, cost) = quick::contract(term, setting);
        return take(term, made, origin, (source_cost, cost), Stop::Nodes(MOST_SEARCHED as u32));
    }
    let (searched, picked) = explore(term, setting, bound);
    debug_assert_eq!(searched.graph.analysis.conflicts, 0);
    let Some(picked) = picked else {
        return keep(term, source_cost, searched.stop);
    };
    let cost = picked.term.cost(setting.profile);
    if cost >= source_cost {
        return keep(term, source_cost, searched.stop);
    }
    let find = |id: &Id| at(searched.graph.find(*id));
    Chosen {
        source_classes: searched.classes.iter().map(find).collect(),
        classes: picked.classes.iter().map(find).collect(),
        term: picked.term,
        cost: (source_cost, cost),
        stop: searched.stop,
    }
}

/// A graph made from the source node by node, where it is cheaper.
fn take(term: &Term, made: Term, origin: Vec<usize>, cost: (Cost, Cost), stop: Stop) -> Chosen {
    if cost.1 >= cost.0 {
        return keep(term, cost.0, stop);
    }
    Chosen { term: made, source_classes: (0..term.nodes.len()).collect(), classes: origin, cost, stop }
}

fn keep(term: &Term, cost: Cost, stop: Stop) -> Chosen {
    let (kept, origin) = quick::compact(term);
    Chosen { term: kept, source_classes: (0..term.nodes.len()).collect(), classes: origin, cost: (cost, cost), stop }
}

/// What a search is bounded by.
pub const fn setting(profile: rake_ir::profile::Profile, level: FuseLevel) -> Setting {
    Setting { profile, level }
}
