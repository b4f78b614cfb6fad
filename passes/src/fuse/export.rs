//! A chosen graph back into values, with its masks explicit.

use super::graph::{Source, Term, at};
use super::masks::{Demand, Outer, Path, demands};
use crate::rewrites::constant;
use crate::rewrites::language::{Head, Node, Payload};
use la_arena::Arena;
use num_rational::BigRational;
use rake_ir::lane::{Args, Value, ValueId, needs_benign};
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};

/// What a graph is exported with.
pub struct Site<'a> {
    /// The region's source graph.
    pub source: &'a Source,
    /// The class of each source node, comparable with `classes`.
    pub source_classes: &'a [usize],
    /// The class of each node of the graph.
    pub classes: &'a [usize],
    /// The region's own masks, one for each kind of value.
    pub outer: &'a Outer,
}

/// A chosen graph as values.
pub struct Exported {
    /// The values in program order.
    pub values: Vec<ValueId>,
    /// The values of the graph's roots.
    pub roots: Vec<ValueId>,
    /// Constants that were rounded, unrounded.
    pub exact: Vec<(ValueId, BigRational)>,
}

struct Exporter<'a> {
    arena: &'a mut Arena<Value>,
    term: &'a Term,
    site: &'a Site<'a>,
    demands: Vec<Demand>,
    made: Vec<Option<ValueId>>,
    /// Nodes whose operands and conditions are being made.
    open: Vec<bool>,
    /// First source value of each class.
    origin: HashMap<usize, ValueId>,
    spans: Vec<Span>,
    masks: BTreeMap<(Path, u32), ValueId>,
    disjunctions: HashMap<(ValueId, ValueId), ValueId>,
    out: Exported,
}

/// Puts the graph into the arena; `None` when its masks would be too large or need each other.
pub fn export(arena: &mut Arena<Value>, term: &Term, site: &Site) -> Option<Exported> {
    let mut origin = HashMap::new();
    let mut eager = HashMap::new();
    for (index, &class) in site.source_classes.iter().enumerate() {
        let Some(id) = site.source.values[index] else { continue };
        origin.entry(class).or_insert(id);
    }
    for (&id, &index) in &site.source.node_of {
        if arena[id].mask == site.outer.of(arena[id].ty.truth()) {
            eager.insert(site.source_classes[index], ());
        }
    }
    let is_eager: Vec<bool> = site.classes.iter().map(|class| eager.contains_key(class)).collect();
    let demands = demands(term, &is_eager)?;
    let made = vec![None; term.nodes.len()];
    let out = Exported { values: Vec::new(), roots: Vec::new(), exact: Vec::new() };
    let mut exporter = Exporter {
        spans: spans(arena, term, site, &origin),
        arena,
        term,
        site,
        demands,
        made,
        open: vec![false; term.nodes.len()],
        origin,
        masks: BTreeMap::new(),
        disjunctions: HashMap::new(),
        out,
    };
    for &root in &term.roots {
        exporter.visit(root)?;
    }
    exporter.out.roots = term.roots.iter().filter_map(|&root| exporter.made[root]).collect();
    Some(exporter.out)
}

/// Where each node comes from: its own source value, else its reader's.
fn spans(arena: &Arena<Value>, term: &Term, site: &Site, origin: &HashMap<usize, ValueId>) -> Vec<Span> {
    let mut spans: Vec<Option<Span>> =
        site.classes.iter().map(|class| origin.get(class).map(|&id| arena[id].span)).collect();
    for index in (0..term.nodes.len()).rev() {
        if let Some(span) = spans[index] {
            for &arg in &term.nodes[index].args {
                spans[at(arg)].get_or_insert(span);
            }
        }
    }
    spans.into_iter().map(Option::unwrap_or_default).collect()
}

impl Exporter<'_> {
    /// Makes a node after its operands and the conditions that its mask reads; `None` where two conditions are needed
    /// only under each other, so that neither can be first.
    fn visit(&mut self, root: usize) -> Option<()> {
        let mut stack = vec![(root, false)];
        while let Some((index, ready)) = stack.pop() {
            if self.made[index].is_some() {
                continue;
            }
            if ready {
                self.made[index] = Some(self.make(index)?);
                continue;
            }
            self.open[index] = true;
            stack.push((index, true));
            let mut before: Vec<usize> = self.term.nodes[index].args.iter().map(|&arg| at(arg)).collect();
            if let Demand::Any(paths) = &self.demands[index] {
                before.extend(paths.iter().flatten().map(|literal| literal.0));
            }
            before.retain(|&b| self.made[b].is_none() && b != index);
            if before.iter().any(|&b| self.open[b]) {
                return None;
            }
            stack.extend(before.into_iter().rev().map(|b| (b, false)));
        }
        Some(())
    }

    /// Makes a node whose operands are made; `None` where its mask cannot be said.
    fn make(&mut self, index: usize) -> Option<ValueId> {
        let node = &self.term.nodes[index];
        if let Payload::Input(number) = node.payload {
            return Some(self.site.source.inputs[number as usize]);
        }
        let args: Args = node.args.iter().filter_map(|&arg| self.made[at(arg)]).collect();
        let mask = if node.is_free() { None } else { self.mask(index, node.result().truth())? };
        let op = match node.head {
            Head::Op(op) => op,
            // Inputs returned above, and a root is no node of a graph.
            Head::Input | Head::Root => Op::Const,
        };
        let origin = self.origin.get(&self.site.classes[index]).copied();
        let name = origin.and_then(|id| self.arena[id].name.clone());
        let id = self.push(op, immediate(node), args, node.result(), mask, self.spans[index], name);
        if let Some(exact) = node.exact()
            && let Imm::Bits(bits) = self.arena[id].imm
            && constant::from_bits(bits, node.ty.elem()).as_ref() != Some(exact)
        {
            self.out.exact.push((id, (**exact).clone()));
        }
        Some(id)
    }

    #[allow(clippy::too_many_arguments)]
    fn push(
        &mut self,
        op: Op,
        imm: Imm,
        args: Args,
        ty: Ty,
        mask: Option<ValueId>,
        span: Span,
        name: Option<SmolStr>,
    ) -> ValueId {
        let id = self.arena.alloc(Value { op, imm, args, ty, mask, inactive: None, span, name });
        self.out.values.push(id);
        id
    }

    fn truth(&mut self, op: Op, args: &[ValueId], ty: Ty, span: Span) -> ValueId {
        self.push(op, Imm::None, Args::from_slice(args), ty, None, span, None)
    }

    /// The mask of a node as a value of the kind that is wanted; inside, `None` is every lane of the region.
    ///
    /// Conditions over lanes of another width say nothing about these lanes. Without them the mask is wider, which only what
    /// raises no flag may have; `None` outside for what might raise one.
    fn mask(&mut self, index: usize, want: Ty) -> Option<Option<ValueId>> {
        let span = self.spans[index];
        let outer = self.site.outer.of(want);
        let Demand::Any(paths) = self.demands[index].clone() else { return Some(outer) };
        let mut all: Option<ValueId> = None;
        for path in &paths {
            let speaks = |literal: &&(usize, bool)| self.speaks(literal.0, want);
            let heard: Path = path.iter().filter(speaks).copied().collect();
            if heard.len() < path.len() && self.raises(index) {
                return None;
            }
            let mut conjunction = outer;
            for length in 1..=heard.len() {
                conjunction = Some(self.conjunction(&heard[..length], want, conjunction, span)?);
            }
            // Every lane, by one of the paths.
            let Some(right) = conjunction.filter(|_| !heard.is_empty()) else { return Some(outer) };
            all = Some(match all {
                Some(left) => self.disjunction(left, right, want, span),
                None => right,
            });
        }
        Some(all)
    }

    /// Whether a condition is a truth of these lanes.
    fn speaks(&self, condition: usize, want: Ty) -> bool {
        let ty = self.made[condition].map(|value| self.arena[value].ty);
        ty == Some(want) || ty == Some(Ty::TRUTH)
    }

    fn raises(&self, index: usize) -> bool {
        let node = &self.term.nodes[index];
        let elem = node.args.first().map_or(Elem::Bool, |&arg| self.term.nodes[at(arg)].result().elem());
        node.as_op().is_some_and(|op| needs_benign(op, elem, node.result().elem()).is_some())
    }

    /// A path's conjunction, the shorter path's being `before`; `None` where a condition's own mask cannot be said.
    fn conjunction(
        &mut self,
        path: &[(usize, bool)],
        want: Ty,
        before: Option<ValueId>,
        span: Span,
    ) -> Option<ValueId> {
        let key = (path.to_vec(), want.lane_bits().unwrap_or(0));
        if let Some(&made) = self.masks.get(&key) {
            return Some(made);
        }
        let &(condition, holds) = path.last()?;
        let single = (vec![(condition, holds)], key.1);
        let literal = match self.masks.get(&single) {
            Some(&literal) => literal,
            None => self.literal(condition, holds, want, span)?,
        };
        let made = match before {
            Some(before) => self.truth(Op::And, &[before, literal], want, span),
            None => literal,
        };
        self.masks.insert(key, made);
        Some(made)
    }

    fn literal(&mut self, condition: usize, holds: bool, want: Ty, span: Span) -> Option<ValueId> {
        let mut value = self.made[condition]?;
        let ty = self.arena[value].ty;
        if ty == Ty::TRUTH && want != ty {
            // A broadcast reads a lane that must be there.
            let mask = self.mask(condition, want)?;
            value = self.push(Op::Splat, Imm::None, Args::from_slice(&[value]), want, mask, span, None);
        } else if ty != want {
            return None;
        }
        Some(if holds { value } else { self.truth(Op::Not, &[value], want, span) })
    }

    fn disjunction(&mut self, left: ValueId, right: ValueId, want: Ty, span: Span) -> ValueId {
        if let Some(&made) = self.disjunctions.get(&(left, right)) {
            return made;
        }
        let made = self.truth(Op::Or, &[left, right], want, span);
        self.disjunctions.insert((left, right), made);
        made
    }
}

fn immediate(node: &Node) -> Imm {
    match &node.payload {
        Payload::Imm(imm) => imm.clone(),
        Payload::Exact(value) => Imm::Bits(constant::to_bits(value, node.ty.elem())),
        Payload::Input(_) => Imm::None,
    }
}
