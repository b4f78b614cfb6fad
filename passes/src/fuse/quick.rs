//! Small regions of sums and products whose contracted source is already as cheap as [`super::bound`] says any graph can be.

use super::bound::Bound;
use super::graph::{Term, at};
use super::seeds::Setting;
use crate::rewrites::language::{Children, Node};
use egg::Id;
use rake_ir::fused::Cost;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::Op;

/// The source with its products contracted, with each node's number in `term`, where it meets the bound.
pub fn cheapest(term: &Term, setting: Setting, bound: Bound) -> Option<(Term, Vec<usize>, Cost)> {
    let (made, origin, cost) = contract(term, setting);
    (cost.throughput <= bound.throughput && cost.latency <= bound.latency).then_some((made, origin, cost))
}

/// The source with every product contracted that can be, each node's number in `term`, and the cost.
pub fn contract(term: &Term, setting: Setting) -> (Term, Vec<usize>, Cost) {
    let fuses = setting.profile.info().fma && setting.level != FuseLevel::Exact;
    let (made, origin) = if fuses { contracted(term) } else { compact(term) };
    let cost = made.cost(setting.profile);
    (made, origin, cost)
}

/// Every product that one sum alone reads, contracted into it; the later product of two.
fn contracted(term: &Term) -> (Term, Vec<usize>) {
    let mut uses = vec![0usize; term.nodes.len()];
    let live = term.live();
    for (node, _) in term.nodes.iter().zip(&live).filter(|(_, live)| **live) {
        node.args.iter().for_each(|&arg| uses[at(arg)] += 1);
    }
    term.roots.iter().for_each(|&root| uses[root] += 1);
    let product = |id: Id| {
        let node = &term.nodes[at(id)];
        (node.as_op() == Some(Op::Mul) && node.ty.elem().is_float() && uses[at(id)] == 1)
            .then(|| (node.args[0], node.args[1]))
    };
    let mut nodes: Vec<Node> = term.nodes.clone();
    for node in &mut nodes {
        let (op, [left, right]) = match (node.as_op(), &node.args[..]) {
            (Some(op @ (Op::Add | Op::Sub)), &[left, right]) => (op, [left, right]),
            _ => continue,
        };
        let (op, args) = match (product(left), product(right), op) {
            (_, Some((a, b)), Op::Add) => (Op::MulAdd, [a, b, left]),
            (_, Some((a, b)), _) => (Op::NegMulAdd, [a, b, left]),
            (Some((a, b)), None, Op::Add) => (Op::MulAdd, [a, b, right]),
            (Some((a, b)), None, _) => (Op::MulSub, [a, b, right]),
            _ => continue,
        };
        *node = Node::op(op, node.ty, &args);
    }
    compact(&Term { nodes, roots: term.roots.clone() })
}

/// The nodes that the roots need, in their order, with each one's old number.
pub fn compact(term: &Term) -> (Term, Vec<usize>) {
    let live = term.live();
    let mut place = vec![0usize; term.nodes.len()];
    let mut origin = Vec::new();
    let mut nodes = Vec::new();
    for (index, node) in term.nodes.iter().enumerate().filter(|(index, _)| live[*index]) {
        place[index] = nodes.len();
        origin.push(index);
        let args: Children = node.args.iter().map(|&arg| Id::from(place[at(arg)])).collect();
        nodes.push(Node { args, ..node.clone() });
    }
    (Term { nodes, roots: term.roots.iter().map(|&root| place[root]).collect() }, origin)
}
