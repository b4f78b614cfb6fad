//! Small regions of sums and products whose contracted source is already as cheap as any graph can be.
//!
//! An operation on at most `n` operands joins at most `n` values into one. A result that reads `L` different run-time
//! values therefore needs at least `(L - 1) / (n - 1)` operations, and each different result needs its own. Where the
//! source, each product contracted into the sum that alone reads it, needs no more, no search can do better. Operations
//! that no rewrite reaches only pass values on: what they read are results, what they give is read.

use super::graph::{Term, at};
use crate::rewrites::language::{Children, Head, Node};
use egg::Id;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::Ty;

/// Most operations for which the bound is worth computing.
const MOST: usize = 16;

/// The cheapest graph, where the bound proves it; with each node's number in `term`.
pub fn cheapest(term: &Term, profile: Profile, level: FuseLevel) -> Option<(Term, Vec<usize>)> {
    let ops: Vec<&Node> = term.nodes.iter().filter(|node| !node.is_free()).collect();
    let ty = ops.iter().find(|node| is_ring(node))?.ty;
    let fits = |node: &&Node| node.ty == ty && (is_ring(node) || is_opaque(term, node));
    let dead = term.live().iter().zip(&term.nodes).any(|(live, node)| !live && !node.is_free());
    if dead || ops.len() > MOST || !ty.elem().is_float() || !ops.iter().all(fits) || folds(term) {
        return None;
    }
    let fuses = profile.info().fma && level != FuseLevel::Exact;
    let (made, origin) = if fuses { contracted(term, ty) } else { (term.clone(), (0..term.nodes.len()).collect()) };
    let opaque = |term: &Term| term.nodes.iter().filter(|node| is_opaque(term, node)).count();
    (made.operations() - opaque(&made) <= bound(term, if fuses { 3 } else { 2 })).then_some((made, origin))
}

fn is_ring(node: &Node) -> bool {
    matches!(node.as_op(), Some(Op::Add | Op::Sub | Op::Mul))
}

/// Operations that no rewrite reaches: a quotient by a run-time value, roots, roundings, an explicit `fma`.
fn is_opaque(term: &Term, node: &Node) -> bool {
    match node.as_op() {
        Some(Op::Div) => term.nodes[at(node.args[1])].as_op() != Some(Op::Const),
        Some(Op::Sqrt | Op::Fma | Op::Floor | Op::Ceil | Op::Trunc | Op::Nearest) => true,
        _ => false,
    }
}

/// Whether some operation has only constants, or a constant that a rewrite may drop.
fn folds(term: &Term) -> bool {
    let constant = |id: &Id| term.nodes[at(*id)].as_op() == Some(Op::Const);
    term.nodes.iter().any(|node| !node.args.is_empty() && node.args.iter().all(constant))
        || term.nodes.iter().any(|node| node.as_op() == Some(Op::Mul) && node.args.iter().any(constant))
}

/// The fewest sums and products that any graph with these results has; results of opaque operations count as read.
fn bound(term: &Term, arity: usize) -> usize {
    let mut reads: Vec<u64> = Vec::with_capacity(term.nodes.len());
    let mut leaves = 0;
    let mut roots: Vec<usize> = term.roots.clone();
    for node in &term.nodes {
        let opaque = is_opaque(term, node);
        if opaque {
            roots.extend(node.args.iter().map(|&arg| at(arg)));
        }
        let own = if node.head == Head::Input || opaque {
            leaves += 1;
            1u64.checked_shl(leaves - 1).unwrap_or(0)
        } else {
            node.args.iter().fold(0, |all, &arg| all | reads[at(arg)])
        };
        reads.push(own);
    }
    roots.retain(|&root| is_ring(&term.nodes[root]));
    roots.sort_unstable();
    roots.dedup();
    // Two results of the same values could be one.
    let alike = |(n, root): (usize, &usize)| roots[..n].iter().any(|&other| reads[other] == reads[*root]);
    if roots.iter().enumerate().any(alike) {
        return 0;
    }
    let joins = |values: usize| values.saturating_sub(1).div_ceil(arity - 1);
    let largest = roots.iter().map(|&root| joins(reads[root].count_ones() as usize)).max().unwrap_or(0);
    // What reads a value that one result alone reads belongs to that result alone.
    let private = roots.iter().map(|&root| {
        let others = roots.iter().filter(|&&other| other != root).fold(0, |all, &other| all | reads[other]);
        let own = (reads[root] & !others).count_ones() as usize;
        joins(own + usize::from(reads[root] & others != 0))
    });
    largest.max(private.sum()).max(roots.len())
}

/// Every product that one sum alone reads, contracted into it; the later product of two.
fn contracted(term: &Term, ty: Ty) -> (Term, Vec<usize>) {
    let mut uses = vec![0usize; term.nodes.len()];
    let live = term.live();
    for (node, _) in term.nodes.iter().zip(&live).filter(|(_, live)| **live) {
        node.args.iter().for_each(|&arg| uses[at(arg)] += 1);
    }
    term.roots.iter().for_each(|&root| uses[root] += 1);
    let product = |id: Id| {
        let node = &term.nodes[at(id)];
        (node.as_op() == Some(Op::Mul) && uses[at(id)] == 1).then(|| (node.args[0], node.args[1]))
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
        *node = Node::op(op, ty, &args);
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
