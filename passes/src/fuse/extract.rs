//! Picks the cheapest graph out of an e-graph, counting a shared node once.
//!
//! First bottom-up over sets of classes (the greedy method of the extraction literature: each class keeps the node whose
//! set of needed classes is cheapest), then by changing one class's node at a time as long as the whole gets cheaper.
//! Both from the greedy choice and from the source's own nodes; counted budgets, deterministic order.

use super::graph::Term;
use crate::rewrites::language::{Children, Graph, Head, Node};
use egg::Id;
use rake_ir::cost::cost;
use rake_ir::ops::{Op, TypeRule};
use rake_ir::profile::Profile;
use std::collections::{HashMap, VecDeque};

/// Throughput, latency, and nodes that the source does not have.
pub type Score = (u32, u32, u32);

struct Choice {
    node: Node,
    args: Vec<usize>,
    own: (u32, u32),
    foreign: u32,
}

struct Class {
    id: Id,
    choices: Vec<Choice>,
    parents: Vec<usize>,
    /// Place of its first node in the source; later for what the source lacks.
    rank: usize,
}

/// The classes of an e-graph, numbered densely.
struct Classes {
    all: Vec<Class>,
    root: usize,
}

/// A graph picked, with each node's class.
pub struct Picked {
    /// The graph.
    pub term: Term,
    /// The class of each node.
    pub classes: Vec<Id>,
}

fn gather(graph: &Graph, root: Id, source: &[(Node, Id)], profile: Profile) -> Classes {
    let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
    ids.sort_unstable();
    let number: HashMap<Id, usize> = ids.iter().enumerate().map(|(n, &id)| (id, n)).collect();
    let mut ranks: HashMap<Id, usize> = HashMap::new();
    let mut own_nodes: HashMap<Node, ()> = HashMap::new();
    for (place, (node, id)) in source.iter().enumerate() {
        ranks.entry(graph.find(*id)).or_insert(place);
        own_nodes.insert(node.clone().canonical(graph), ());
    }
    let mut all: Vec<Class> = Vec::with_capacity(ids.len());
    for &id in &ids {
        let choices = graph[id].nodes.iter().map(|node| {
            let node = node.clone().canonical(graph);
            let args = node.args.iter().map(|arg| number[arg]).collect();
            let foreign = u32::from(!own_nodes.contains_key(&node));
            Choice { own: own_cost(graph, &node, profile), foreign, args, node }
        });
        let choices = choices.collect();
        let rank = ranks.get(&id).copied().unwrap_or(usize::MAX);
        all.push(Class { id, choices, parents: Vec::new(), rank });
    }
    for class in 0..all.len() {
        let mut children: Vec<usize> = all[class].choices.iter().flat_map(|c| c.args.iter().copied()).collect();
        children.sort_unstable();
        children.dedup();
        children.into_iter().for_each(|child| all[child].parents.push(class));
    }
    Classes { all, root: number[&graph.find(root)] }
}

impl Node {
    fn canonical(mut self, graph: &Graph) -> Node {
        self.args.iter_mut().for_each(|arg| *arg = graph.find(*arg));
        self
    }
}

fn own_cost(graph: &Graph, node: &Node, profile: Profile) -> (u32, u32) {
    let Some(op) = node.as_op() else { return (0, 0) };
    let of = match (op.info().types, node.args.first()) {
        (TypeRule::Convert(..) | TypeRule::Resize(..), Some(&arg)) => graph[arg].nodes[0].result(),
        _ => node.ty,
    };
    let own = cost(op, of, profile);
    (own.throughput, own.latency)
}

/// What the greedy method knows of a class.
#[derive(Clone)]
struct Best {
    score: Score,
    choice: usize,
    /// The classes needed, itself among them, with their throughput and foreignness.
    needs: Vec<(usize, u32, u32)>,
}

fn greedy(classes: &Classes) -> Vec<Option<Best>> {
    let mut best: Vec<Option<Best>> = vec![None; classes.all.len()];
    let mut queue: VecDeque<usize> =
        (0..classes.all.len()).filter(|&c| classes.all[c].choices.iter().any(|n| n.args.is_empty())).collect();
    let mut queued = vec![false; classes.all.len()];
    queue.iter().for_each(|&c| queued[c] = true);
    while let Some(class) = queue.pop_front() {
        queued[class] = false;
        let mut improved = false;
        for (number, choice) in classes.all[class].choices.iter().enumerate() {
            let Some(candidate) = weigh(class, number, choice, &best) else { continue };
            if best[class].as_ref().is_none_or(|now| candidate.score < now.score) {
                best[class] = Some(candidate);
                improved = true;
            }
        }
        if improved {
            for &parent in classes.all[class].parents.iter().filter(|&&p| p != class) {
                if !std::mem::replace(&mut queued[parent], true) {
                    queue.push_back(parent);
                }
            }
        }
    }
    best
}

fn weigh(class: usize, number: usize, choice: &Choice, best: &[Option<Best>]) -> Option<Best> {
    let mut needs: Vec<(usize, u32, u32)> = vec![(class, choice.own.0, choice.foreign)];
    let mut latency = 0;
    for &arg in &choice.args {
        let child = best[arg].as_ref()?;
        latency = latency.max(child.score.1);
        if needs.len() == 1 {
            if child.needs.binary_search_by_key(&class, |n| n.0).is_ok() {
                return None;
            }
            let at = child.needs.partition_point(|n| n.0 < class);
            let own = needs[0];
            needs.clone_from(&child.needs);
            needs.insert(at, own);
        } else {
            let mut merged = Vec::with_capacity(needs.len() + child.needs.len());
            let (mut i, mut j) = (0, 0);
            while i < needs.len() || j < child.needs.len() {
                let (left, right) = (needs.get(i), child.needs.get(j));
                match (left, right) {
                    (Some(l), Some(r)) if l.0 == r.0 => {
                        if r.0 == class {
                            return None;
                        }
                        merged.push(*l);
                        i += 1;
                        j += 1;
                    }
                    (Some(l), Some(r)) if l.0 < r.0 => {
                        merged.push(*l);
                        i += 1;
                    }
                    (_, Some(r)) => {
                        merged.push(*r);
                        j += 1;
                    }
                    (Some(l), None) => {
                        merged.push(*l);
                        i += 1;
                    }
                    (None, None) => break,
                }
            }
            needs = merged;
        }
    }
    let throughput = needs.iter().map(|n| n.1).sum();
    let foreign = needs.iter().map(|n| n.2).sum();
    Some(Best { score: (throughput, latency + choice.own.1, foreign), choice: number, needs })
}

/// Evaluates a choice per class from the root.
struct Walk<'a> {
    classes: &'a Classes,
    state: Vec<(u32, u8)>,
    ready: Vec<u32>,
    epoch: u32,
    visits: usize,
}

impl Walk<'_> {
    /// The score, and the classes reached, operands first; `None` for a cycle.
    fn score(&mut self, choice: &[usize]) -> Option<(Score, Vec<usize>)> {
        self.epoch += 1;
        let mut order = Vec::new();
        let mut stack = vec![(self.classes.root, 0usize)];
        let mut score = (0u32, 0u32, 0u32);
        self.state[self.classes.root] = (self.epoch, 1);
        while let Some((class, next)) = stack.pop() {
            self.visits += 1;
            let node = self.classes.all[class].choices.get(choice[class])?;
            if let Some(&arg) = node.args.get(next) {
                stack.push((class, next + 1));
                match self.state[arg] {
                    (epoch, 1) if epoch == self.epoch => return None,
                    (epoch, 2) if epoch == self.epoch => {}
                    _ => {
                        self.state[arg] = (self.epoch, 1);
                        stack.push((arg, 0));
                    }
                }
                continue;
            }
            self.state[class] = (self.epoch, 2);
            let start = node.args.iter().map(|&a| self.ready[a]).max().unwrap_or(0);
            self.ready[class] = start + node.own.1;
            score.0 += node.own.0;
            score.1 = score.1.max(self.ready[class]);
            score.2 += node.foreign;
            order.push(class);
        }
        Some((score, order))
    }

    /// Changes one class at a time while the whole gets cheaper, within a budget of visits.
    fn improve(&mut self, mut choice: Vec<usize>, budget: usize) -> Option<(Score, Vec<usize>)> {
        let (mut score, mut order) = self.score(&choice)?;
        let end = self.visits + budget;
        loop {
            let mut better = false;
            for &class in order.clone().iter().rev() {
                for other in 0..self.classes.all[class].choices.len() {
                    let now = choice[class];
                    if other == now || self.visits > end {
                        continue;
                    }
                    choice[class] = other;
                    match self.score(&choice) {
                        Some((next, reached)) if next < score => {
                            score = next;
                            order = reached;
                            better = true;
                        }
                        _ => choice[class] = now,
                    }
                }
            }
            if !better || self.visits > end {
                return Some((score, choice));
            }
        }
    }
}

/// The cheapest graph found; `source` lists the source's nodes, over classes, with each one's class.
pub fn pick(graph: &Graph, root: Id, source: &[(Node, Id)], profile: Profile) -> Option<Picked> {
    let classes = gather(graph, root, source, profile);
    let best = greedy(&classes);
    let first: Vec<usize> = best.iter().map(|b| b.as_ref().map_or(usize::MAX, |b| b.choice)).collect();
    let mut second = first.clone();
    for (number, class) in classes.all.iter().enumerate() {
        if let Some(own) = class.choices.iter().position(|c| c.foreign == 0) {
            second[number] = own;
        }
    }
    let count = classes.all.len();
    let mut walk = Walk { classes: &classes, state: vec![(0, 0); count], ready: vec![0; count], epoch: 0, visits: 0 };
    let budget = if source.len() <= 48 { 60_000 } else { 30_000 };
    let found: Vec<(Score, Vec<usize>)> =
        [first, second].into_iter().filter_map(|start| walk.improve(start, budget)).collect();
    let (_, choice) = found.into_iter().min_by_key(|f| f.0)?;
    let (_, order) = walk.score(&choice)?;
    Some(build(&classes, &choice, &order))
}

fn build(classes: &Classes, choice: &[usize], order: &[usize]) -> Picked {
    let mut place = vec![0usize; classes.all.len()];
    let mut picked = Picked { term: Term::default(), classes: Vec::new() };
    for &class in order {
        let chosen = &classes.all[class].choices[choice[class]];
        let mut args = chosen.args.clone();
        if chosen.foreign == 1 {
            orient(classes, chosen.node.as_op(), &mut args);
        }
        let args: Vec<usize> = args.iter().map(|&arg| place[arg]).collect();
        if chosen.node.head == Head::Root {
            picked.term.roots = args;
            continue;
        }
        place[class] = picked.term.nodes.len();
        let args: Children = args.into_iter().map(Id::from).collect();
        picked.term.nodes.push(Node { args, ..chosen.node.clone() });
        picked.classes.push(classes.all[class].id);
    }
    picked
}

/// Operands of what the source does not have stand in the source's order, constants last.
fn orient(classes: &Classes, op: Option<Op>, args: &mut [usize]) {
    let commutes = matches!(
        op,
        Some(Op::Add | Op::Mul | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub | Op::BitAnd | Op::BitOr)
    );
    let key = |class: usize| {
        let constant = classes.all[class].choices.iter().any(|c| c.node.as_op() == Some(Op::Const));
        (constant, classes.all[class].rank)
    };
    if commutes && key(args[0]) > key(args[1]) {
        args.swap(0, 1);
    }
}
