//! A region as a compact graph: values from before it become numbered inputs, constants become exact, equal nodes are one.

use crate::rewrites::constant;
use crate::rewrites::language::{Children, Head, Node, Payload};
use egg::Id;
use indexmap::IndexSet;
use la_arena::Arena;
use rake_ir::cost;
use rake_ir::fused::Cost;
use rake_ir::lane::{Value, ValueId};
use rake_ir::ops::{Imm, Op, TypeRule};
use rake_ir::profile::Profile;
use rake_ir::types::Ty;
use std::collections::HashMap;

/// A graph in program order; operands are indices into [`Term::nodes`] that stand before.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Term {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What the region yields.
    pub roots: Vec<usize>,
}

/// A region's source graph with the way back to its values.
#[derive(Debug, Default)]
pub struct Source {
    /// The graph.
    pub term: Term,
    /// The values that the inputs stand for.
    pub inputs: Vec<ValueId>,
    /// The first source value of each node, where it has one.
    pub values: Vec<Option<ValueId>>,
    /// The node of each source value.
    pub node_of: HashMap<ValueId, usize>,
    /// Operations in the source as written, before equal ones were shared.
    pub written: usize,
}

/// Index of an operand.
pub fn at(id: Id) -> usize {
    usize::from(id)
}

fn payload(value: &Value) -> Payload {
    match (&value.imm, value.op) {
        (Imm::Bits(bits), Op::Const) => match constant::from_bits(*bits, value.ty.elem()) {
            Some(number) => Payload::Exact(std::sync::Arc::new(number)),
            None => Payload::Imm(Imm::Bits(*bits & value.ty.elem().lane_mask())),
        },
        (imm, _) => Payload::Imm(imm.clone()),
    }
}

/// The graph of `values`, of which `yields` are read later.
pub fn import(arena: &Arena<Value>, values: &[ValueId], yields: &[ValueId]) -> Source {
    let mut source = Source::default();
    let mut seen: IndexSet<Node> = IndexSet::with_capacity(values.len() * 2);
    for &id in values {
        let value = &arena[id];
        let mut args = Children::new();
        for &arg in &value.args {
            args.push(Id::from(operand(arena, arg, &mut source, &mut seen)));
        }
        let ty = key_type(arena, value);
        let node = fold_splat(Node { head: Head::Op(value.op), ty, payload: payload(value), args }, &seen);
        source.written += usize::from(!node.is_free());
        let (index, new) = seen.insert_full(node);
        if new {
            source.values.push(Some(id));
        } else if source.values[index].is_none() {
            source.values[index] = Some(id);
        }
        source.node_of.insert(id, index);
    }
    // A chosen graph may yield what stands before the region.
    source.term.roots = yields.iter().map(|&id| operand(arena, id, &mut source, &mut seen)).collect();
    source.term.nodes = seen.into_iter().collect();
    source
}

/// The type in a node: a comparison's is what it compares.
fn key_type(arena: &Arena<Value>, value: &Value) -> Ty {
    match (value.op.info().types, value.args.first()) {
        (TypeRule::Compare, Some(&arg)) => arena[arg].ty,
        _ => value.ty,
    }
}

/// A constant in every lane is a constant.
fn fold_splat(node: Node, seen: &IndexSet<Node>) -> Node {
    let inner = match (node.as_op(), node.args.first()) {
        (Some(Op::Splat), Some(&arg)) => seen.get_index(at(arg)),
        _ => None,
    };
    match inner {
        Some(inner) if inner.as_op() == Some(Op::Const) => Node { ty: node.ty, ..inner.clone() },
        _ => node,
    }
}

fn operand(arena: &Arena<Value>, arg: ValueId, source: &mut Source, seen: &mut IndexSet<Node>) -> usize {
    if let Some(&index) = source.node_of.get(&arg) {
        return index;
    }
    let value = &arena[arg];
    let node = if value.op == Op::Const {
        Node { head: Head::Op(Op::Const), ty: value.ty, payload: payload(value), args: Children::new() }
    } else {
        source.inputs.push(arg);
        let number = source.inputs.len() as u32 - 1;
        Node { head: Head::Input, ty: value.ty, payload: Payload::Input(number), args: Children::new() }
    };
    let (index, new) = seen.insert_full(node);
    if new {
        source.values.push(None);
    }
    source.node_of.insert(arg, index);
    index
}

/// The type that a node's cost goes by: what a conversion converts from, else its own.
pub fn cost_type(nodes: &[Node], node: &Node) -> Ty {
    let converts = matches!(node.as_op().map(|op| op.info().types), Some(TypeRule::Convert(..) | TypeRule::Resize(..)));
    match node.args.first() {
        Some(&id) if converts => nodes[at(id)].result(),
        _ => node.ty,
    }
}

impl Term {
    /// Which nodes the roots need.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        for &root in &self.roots {
            live[root] = true;
        }
        for index in (0..self.nodes.len()).rev() {
            if live[index] {
                for &arg in &self.nodes[index].args {
                    live[at(arg)] = true;
                }
            }
        }
        live
    }

    /// Operations that the roots need.
    pub fn operations(&self) -> usize {
        let live = self.live();
        self.nodes.iter().zip(live).filter(|(node, live)| *live && !node.is_free()).count()
    }

    /// What the graph costs, in the order its nodes stand.
    pub fn cost(&self, profile: Profile) -> Cost {
        let live = self.live();
        let mut ready = vec![0u32; self.nodes.len()];
        let mut last_use = vec![0usize; self.nodes.len()];
        let mut total = Cost::default();
        for (index, node) in self.nodes.iter().enumerate().filter(|(index, _)| live[*index]) {
            let start = node.args.iter().map(|&a| ready[at(a)]).max().unwrap_or(0);
            for &arg in &node.args {
                last_use[at(arg)] = index;
            }
            if let Some(op) = node.as_op() {
                let own = cost::cost(op, cost_type(&self.nodes, node), profile);
                total.throughput = total.throughput.saturating_add(own.throughput);
                ready[index] = start.saturating_add(own.latency);
            }
        }
        for &root in &self.roots {
            last_use[root] = self.nodes.len();
            total.latency = total.latency.max(ready[root]);
        }
        total.live = self.pressure(&live, &last_use);
        total
    }

    /// The most racks live at once. Inputs are live from the start, constants never: they are memory operands.
    fn pressure(&self, live: &[bool], last_use: &[usize]) -> u32 {
        let holds = |index: usize| live[index] && self.nodes[index].as_op() != Some(Op::Const);
        let mut now = (0..self.nodes.len()).filter(|&i| holds(i) && self.nodes[i].head == Head::Input).count() as u32;
        let mut most = now;
        let mut ends = vec![0u32; self.nodes.len() + 1];
        for index in (0..self.nodes.len()).filter(|&i| holds(i)) {
            ends[last_use[index]] += 1;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if holds(index) && node.head != Head::Input {
                now = now.saturating_sub(ends[index]) + 1;
                most = most.max(now);
            }
        }
        most
    }

    /// The types in it, whose rewrites can apply.
    pub fn types(&self) -> Vec<Ty> {
        let mut types: Vec<Ty> = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.is_free()) {
            if !types.contains(&node.ty) {
                types.push(node.ty);
            }
        }
        types
    }
}
