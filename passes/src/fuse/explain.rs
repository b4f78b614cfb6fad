//! The chain of rewrites between a source graph and the graph chosen for it, and the report that shows both.
//!
//! The chain comes from a second run of the same search with egg's explanations on, so asking for it never changes the
//! choice. A step shows the whole graph as terms, what it rewrote in brackets; where sharing would make those long, the
//! chain is left out and one line says so.

use super::graph::{self, Term, at};
use super::search;
use super::seeds::Setting;
use crate::rewrites::constant;
use crate::rewrites::language::{Head, Node, Payload};
use egg::FlatTerm;
use la_arena::Arena;
use rake_ir::fused::{self, Cost, Step, Stop};
use rake_ir::lane::{Function, Param, Value, ValueId};
use rake_ir::ops::{Imm, Op, Syntax};
use std::fmt::Write;

/// Terms with more operations than this, written out without sharing, are not shown step by step.
const MOST_WRITTEN: usize = 160;
/// Chains with more steps than this are not shown.
const MOST_STEPS: usize = 200;

/// Names for the inputs of a graph.
pub fn input_names(arena: &Arena<Value>, params: &[Param], inputs: &[ValueId]) -> Vec<String> {
    let name = |(number, id): (usize, &ValueId)| {
        let value = &arena[*id];
        match (value.op, &value.imm, &value.name) {
            (_, _, Some(name)) => name.to_string(),
            (Op::Param, Imm::Int(position), _) => match params.get(*position as usize) {
                Some(param) => param.name.to_string(),
                None => format!("v{number}"),
            },
            _ => format!("v{number}"),
        }
    };
    inputs.iter().enumerate().map(name).collect()
}

/// How tightly an operation binds in source.
fn precedence(op: Option<Op>) -> u8 {
    match op {
        Some(Op::Or) => 1,
        Some(Op::And) => 2,
        Some(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) => 3,
        Some(Op::Add | Op::Sub) => 4,
        Some(Op::Mul | Op::Div) => 5,
        Some(Op::Neg | Op::Not) => 6,
        _ => 7,
    }
}

/// One operation over operands already written, each with how tightly it binds.
fn write_node(node: &Node, names: &[String], args: &[(String, u8)]) -> (String, u8) {
    let own = precedence(node.as_op());
    let wrap = |n: usize, least: u8| {
        let (text, binds) = &args[n];
        if *binds < least { format!("({text})") } else { text.clone() }
    };
    let text = match (node.head, &node.payload) {
        (_, Payload::Input(number)) => names.get(*number as usize).cloned().unwrap_or_else(|| format!("v{number}")),
        (Head::Root, _) => args.iter().map(|a| a.0.as_str()).collect::<Vec<_>>().join("; "),
        (Head::Op(Op::Const), Payload::Exact(value)) => {
            let bits = constant::to_bits(value, node.ty.elem());
            let rounded = constant::from_bits(bits, node.ty.elem());
            if rounded.as_ref() == Some(&**value) {
                rake_ir::value::literal(node.ty.elem(), bits)
            } else {
                format!("({value})")
            }
        }
        (Head::Op(Op::Const), Payload::Imm(Imm::Bits(bits))) => rake_ir::value::literal(node.ty.elem(), *bits),
        (Head::Op(op), payload) => match (op.info().syntax, args.len()) {
            (Syntax::Infix, 2) => format!("{} {} {}", wrap(0, own), op.info().spelling, wrap(1, own + 1)),
            (Syntax::Prefix, 1) => {
                let space = if op == Op::Not { " " } else { "" };
                format!("{}{space}{}", op.info().spelling, wrap(0, own + 1))
            }
            _ if op == Op::If => format!("(if {} then {} else {})", args[0].0, args[1].0, args[2].0),
            _ => {
                let mut all: Vec<String> = args.iter().map(|a| a.0.clone()).collect();
                match payload {
                    Payload::Imm(Imm::Int(n)) => all.push(n.to_string()),
                    Payload::Imm(Imm::Lanes(lanes)) => all.push(format!("{lanes:?}")),
                    _ => {}
                }
                format!("{}({})", op.name(), all.join(", "))
            }
        },
        (Head::Input, _) => "?".into(),
    };
    (text, own)
}

/// The term, what the step rewrote in brackets unless that is all of it.
fn flat(term: &FlatTerm<Node>, names: &[String]) -> (String, u8) {
    let whole = term.node.head == Head::Root && term.children.len() == 1;
    let args = term.children.iter().map(|child| {
        let (text, binds) = flat(child, names);
        let rewritten = child.forward_rule.is_some() || child.backward_rule.is_some();
        if rewritten && !whole { (format!("[{text}]"), 7) } else { (text, binds) }
    });
    let args: Vec<(String, u8)> = args.collect();
    write_node(&term.node, names, &args)
}

fn step_of(term: &FlatTerm<Node>) -> Option<(String, bool)> {
    let own = match (&term.forward_rule, &term.backward_rule) {
        (Some(rule), _) => Some((rule.to_string(), false)),
        (_, Some(rule)) => Some((rule.to_string(), true)),
        _ => None,
    };
    own.or_else(|| term.children.iter().find_map(step_of))
}

/// Operations of the term written out without sharing.
fn written(term: &Term) -> usize {
    let mut sizes: Vec<usize> = Vec::with_capacity(term.nodes.len());
    for node in &term.nodes {
        let inner = node.args.iter().fold(0usize, |all, &arg| all.saturating_add(sizes[at(arg)]));
        sizes.push(inner.saturating_add(usize::from(!node.is_free())));
    }
    term.roots.iter().fold(0, |all, &root| all.saturating_add(sizes[root]))
}

fn note(rule: &str, text: String) -> Vec<Step> {
    vec![Step { rule: rule.into(), backward: false, term: text }]
}

/// The rewrites from `source` to `chosen`.
pub fn chain(source: &Term, chosen: &Term, setting: Setting, names: &[String]) -> Vec<Step> {
    let size = written(source).max(written(chosen));
    if size > MOST_WRITTEN {
        return note("chain-left-out", format!("{size} operations without sharing, more than {MOST_WRITTEN}"));
    }
    let (mut searched, root) = search::explore_explained(source, chosen, setting);
    if searched.graph.find(root) != searched.graph.find(searched.root) {
        return note(
            "equal-by-proof",
            "the second search found no chain; the graphs agree over random rationals".into(),
        );
    }
    let mut explanation = searched.graph.explain_id_equivalence(searched.root, root);
    let terms = explanation.make_flat_explanation();
    if terms.len() > MOST_STEPS {
        return note("chain-left-out", format!("{} steps, more than {MOST_STEPS}", terms.len()));
    }
    terms
        .iter()
        .filter_map(|term| {
            let (rule, backward) = step_of(term)?;
            Some(Step { rule: rule.into(), backward, term: flat(term, names).0 })
        })
        .collect()
}

/// A graph as one line per operation that is read more than once or yielded, the others in place.
fn write_graph(out: &mut String, term: &Term, names: &[String], stages: &[(usize, String)]) {
    let live = term.live();
    let mut uses = vec![0usize; term.nodes.len()];
    for (node, _) in term.nodes.iter().zip(&live).filter(|(_, live)| **live) {
        node.args.iter().for_each(|&arg| uses[at(arg)] += 1);
    }
    let mut written: Vec<(String, u8)> = Vec::with_capacity(term.nodes.len());
    let mut fresh = 0;
    for (index, node) in term.nodes.iter().enumerate() {
        let args: Vec<(String, u8)> = node.args.iter().map(|&arg| written[at(arg)].clone()).collect();
        let (text, binds) = write_node(node, names, &args);
        let stage = stages.iter().find(|stage| stage.0 == index).map(|stage| stage.1.clone());
        let shared = live[index] && !node.is_free() && (uses[index] > 1 || text.len() > 90);
        let name = stage.or_else(|| {
            shared.then(|| {
                fresh += 1;
                format!("t{fresh}")
            })
        });
        match name {
            Some(name) if live[index] => {
                let _ = writeln!(out, "    {name} = {text}");
                written.push((name, 7));
            }
            _ => written.push((text, binds)),
        }
    }
}

fn show_cost(cost: Cost) -> String {
    let cycles = |hundredths: u32| format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} cycles throughput, {} latency, {} racks live", cycles(cost.throughput), cycles(cost.latency), cost.live)
}

fn show_stop(stop: Stop) -> String {
    match stop {
        Stop::Saturated => "no rewrite found anything new".into(),
        Stop::Nodes(limit) => format!("the limit of {limit} nodes"),
        Stop::Rounds(limit) => format!("the limit of {limit} rounds"),
        Stop::Trivial => "nothing to rewrite".into(),
        Stop::Optimal => "no graph that reads these values can take fewer operations".into(),
    }
}

/// The report of one region: source graph, chosen graph, costs, why the search stopped, and the chain if recorded.
pub fn explain_fusion(function: &Function<fused::Region>, region: &fused::Region) -> String {
    let mut out = String::new();
    let Some(proof) = &region.proof else { return "region without proof\n".into() };
    let names: Vec<&str> = proof.stages.iter().map(|stage| stage.0.as_str()).collect();
    let _ = writeln!(out, "region {} of `{}`", names.join(", "), function.name);
    let sides = [
        ("source", &proof.source, proof.yields.iter().map(|y| y.0).collect::<Vec<_>>(), proof.cost.0),
        ("chosen", &region.values, proof.yields.iter().map(|y| y.1).collect(), proof.cost.1),
    ];
    for (side, values, yields, cost) in sides {
        let graph = graph::import(&function.values, values, &yields);
        let inputs = input_names(&function.values, &function.params, &graph.inputs);
        let stages: Vec<(usize, String)> = proof
            .yields
            .iter()
            .zip(&graph.term.roots)
            .filter_map(|(pair, &root)| {
                let stage = proof.stages.iter().find(|stage| stage.1 == pair.0)?;
                Some((root, stage.0.to_string()))
            })
            .collect();
        let _ = writeln!(out, "  {side}: {} operations, {}", graph.term.operations(), show_cost(cost));
        write_graph(&mut out, &graph.term, &inputs, &stages);
    }
    let _ = writeln!(out, "  stopped by: {}", show_stop(proof.stop));
    if let Some(chain) = &proof.chain {
        let _ = writeln!(out, "  chain: {} steps", chain.len());
        for step in chain {
            let way = if step.backward { "<-" } else { "->" };
            let _ = writeln!(out, "    {way} {}: {}", step.rule, step.term);
        }
    }
    out
}
