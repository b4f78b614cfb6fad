//! Seeds the e-graph with the forms that `factor` finds: each enters by a union with a named reason.

use super::factor::{Decomposition, Form, PolyId, Search, Weights};
use super::graph::{Term, at};
use super::poly::{MOST_TERMS, Poly, residue};
use crate::rewrites::language::{Graph, Node};
use crate::rewrites::{constant, power};
use egg::Id;
use num_rational::BigRational;
use num_traits::One;
use rake_ir::cost::cost;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, ElemClass, Ty};
use std::collections::HashMap;

/// What the region allows and costs.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The profile.
    pub profile: Profile,
    /// The freedom.
    pub level: FuseLevel,
}

/// What became of the seeding of one region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seeded {
    /// Unions made.
    pub unions: usize,
    /// Whether some sum in the source cancels, so that regrouping it could remove an operand.
    pub cancels: bool,
}

/// How the ring's nodes are read as polynomials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// Everything expanded.
    Expanded,
    /// A sum that is multiplied stays an atom.
    Factors,
}

/// The polynomials of one type's nodes.
struct Ring {
    polys: Vec<Option<Poly>>,
    atoms: Vec<usize>,
    targets: Vec<usize>,
    cancels: bool,
    differs: bool,
}

fn ring_op(term: &Term, node: &Node) -> bool {
    match node.as_op() {
        Some(Op::Add | Op::Sub | Op::Mul | Op::Neg) => true,
        Some(Op::Div) => divisor(term, node).is_some(),
        Some(Op::ShiftBitsLeft) => shift(node).is_some(),
        _ => false,
    }
}

fn divisor(term: &Term, node: &Node) -> Option<BigRational> {
    power::reciprocal(term.nodes[at(node.args[1])].exact()?, node.ty)
}

fn shift(node: &Node) -> Option<BigRational> {
    match (&node.payload, node.args.len()) {
        (crate::rewrites::language::Payload::Imm(Imm::Int(count)), 1) => {
            Some(residue(BigRational::from_integer(num_bigint::BigInt::one() << *count), node.ty.elem()))
        }
        _ => None,
    }
}

/// Most terms that a product of sums may expand to; in large regions everything would become one polynomial.
fn most_expanded(term: &Term) -> usize {
    match term.nodes.len() {
        0..=24 => MOST_TERMS,
        25..=48 => 48,
        _ => 16,
    }
}

impl Ring {
    fn read(term: &Term, live: &[bool], ty: Ty, view: View) -> Ring {
        let count = term.nodes.len();
        let mut ring =
            Ring { polys: vec![None; count], atoms: Vec::new(), targets: Vec::new(), cancels: false, differs: false };
        let mut wanted = vec![false; count];
        for &root in &term.roots {
            wanted[root] = true;
        }
        for (index, node) in term.nodes.iter().enumerate().filter(|(index, _)| live[*index]) {
            let of_type = node.ty == ty && node.result() == ty;
            let poly = if of_type && ring_op(term, node) { ring.poly(term, node, view, &mut wanted) } else { None };
            if poly.is_none() && of_type && ring_op(term, node) {
                ring.cancels = true;
            }
            ring.polys[index] = match (poly, node.exact()) {
                (Some(poly), _) => Some(poly),
                (None, Some(value)) if of_type => Some(Poly::constant(residue((**value).clone(), ty.elem()))),
                _ => {
                    node.args.iter().for_each(|&a| wanted[at(a)] = true);
                    of_type.then(|| ring.atom(index))
                }
            };
        }
        let is_target = |&i: &usize| wanted[i] && live[i] && ring_op(term, &term.nodes[i]) && term.nodes[i].ty == ty;
        let is_atom = |i: usize| ring.polys[i].as_ref().is_none_or(|p| p.as_atom().is_some());
        ring.targets = (0..count).filter(is_target).filter(|&i| !is_atom(i)).collect();
        ring
    }

    fn atom(&mut self, index: usize) -> Poly {
        if let Some(at) = self.atoms.iter().position(|&a| a == index) {
            return Poly::atom(at as u16);
        }
        self.atoms.push(index);
        Poly::atom(self.atoms.len() as u16 - 1)
    }

    fn poly(&mut self, term: &Term, node: &Node, view: View, wanted: &mut [bool]) -> Option<Poly> {
        let elem = node.ty.elem();
        let operand = |n: usize| self.polys[at(node.args[n])].clone();
        match node.as_op()? {
            Op::Add => operand(0)?.plus(&operand(1)?, elem),
            Op::Sub => operand(0)?.plus(&operand(1)?.negated(), elem),
            Op::Neg => Some(operand(0)?.negated()),
            Op::Div => operand(0)?.times(&Poly::constant(divisor(term, node)?), elem),
            Op::ShiftBitsLeft => operand(0)?.times(&Poly::constant(shift(node)?), elem),
            Op::Mul => {
                let mut factors = [operand(0)?, operand(1)?];
                for (n, factor) in factors.iter_mut().enumerate() {
                    if factor.0.len() >= 2 {
                        self.differs = true;
                        if view == View::Factors {
                            wanted[at(node.args[n])] = true;
                            *factor = self.atom(at(node.args[n]));
                        }
                    }
                }
                let expands = factors.iter().all(|factor| factor.0.len() >= 2);
                let made = factors[0].times(&factors[1], elem)?;
                (!expands || made.0.len() <= most_expanded(term)).then_some(made)
            }
            _ => None,
        }
    }
}

/// Seeds `graph`, where node `n` of `term` has the class `classes[n]`.
pub fn seed(graph: &mut Graph, term: &Term, classes: &[Id], setting: Setting) -> Seeded {
    let mut seeded = Seeded::default();
    let live = term.live();
    for ty in term.types() {
        let allowed = ty.elem().is_int() || (ty.elem().is_float() && setting.level == FuseLevel::Full);
        if !allowed {
            continue;
        }
        let ring = Ring::read(term, &live, ty, View::Expanded);
        seeded.cancels |= ring.cancels;
        let differs = ring.differs;
        seeded.unions += seed_ring(graph, term, classes, setting, ty, &ring);
        if differs {
            let ring = Ring::read(term, &live, ty, View::Factors);
            seeded.unions += seed_ring(graph, term, classes, setting, ty, &ring);
        }
    }
    seeded
}

fn weights(ty: Ty, setting: Setting) -> Weights {
    let of = |op| cost(op, ty, setting.profile).throughput;
    let fuses = setting.profile.info().fma && ty.elem().is_float() && setting.level != FuseLevel::Exact;
    Weights { add: of(Op::Add), mul: of(Op::Mul), shift: of(Op::ShiftBitsLeft), fused: fuses.then(|| of(Op::MulAdd)) }
}

fn seed_ring(graph: &mut Graph, term: &Term, classes: &[Id], setting: Setting, ty: Ty, ring: &Ring) -> usize {
    let budget = match term.nodes.len() {
        0..=48 => 10_000,
        49..=96 => 6_000,
        97..=160 => 2_500,
        _ => 1_500,
    };
    let mut search = Search::new(ty.elem(), weights(ty, setting), budget);
    let mut emit = Emit { graph, ty, reps: HashMap::new(), done: HashMap::new(), unions: 0, left: 0 };
    for (index, poly) in ring.polys.iter().enumerate() {
        let Some(poly) = poly else { continue };
        let (id, negated) = search.intern(poly.clone());
        emit.know(id, negated, classes[index]);
        let source = source_form(term, ring, index, &mut search);
        search.know(id, source.filter(|s| s.left != id && s.right != id));
    }
    for (atom, &index) in ring.atoms.iter().enumerate() {
        let (id, negated) = search.intern(Poly::atom(atom as u16));
        emit.know(id, negated, classes[index]);
    }
    let targets: Vec<PolyId> =
        ring.targets.iter().filter_map(|&t| Some(search.intern(ring.polys[t].clone()?).0)).collect();
    search.share(&targets);
    emit.left = 60 + 6 * ring.polys.len();
    for target in targets {
        search.solve(target, 0);
        emit.visit(&search, target, 3);
    }
    emit.unions
}

fn source_form(term: &Term, ring: &Ring, index: usize, search: &mut Search) -> Option<Decomposition> {
    let node = &term.nodes[index];
    if ring.atoms.contains(&index) && ring.polys[index].as_ref().is_some_and(|p| p.as_atom().is_some()) {
        return None;
    }
    let mut part = |n: usize| Some(search.intern(ring.polys[at(*node.args.get(n)?)].clone()?));
    let ((left, minus_left), (right, right_negated)) = (part(0)?, part(1)?);
    let form = match node.as_op()? {
        Op::Add => Form::Sum { minus_left, minus_right: right_negated },
        Op::Sub => Form::Sum { minus_left, minus_right: !right_negated },
        Op::Mul => Form::Product,
        _ => return None,
    };
    let flipped = ring.polys[index].as_ref().is_some_and(|p| p.clone().normalised().1);
    let form = match form {
        Form::Sum { minus_left, minus_right } if flipped => {
            Form::Sum { minus_left: !minus_left, minus_right: !minus_right }
        }
        form => form,
    };
    Some(Decomposition { form, left, right, name: SOURCE })
}

/// The name of a decomposition that the source itself has.
const SOURCE: &str = "source";

/// Puts decompositions into the e-graph.
struct Emit<'a> {
    graph: &'a mut Graph,
    ty: Ty,
    /// The class that computes each polynomial, or its negation.
    reps: HashMap<PolyId, (Id, bool)>,
    done: HashMap<PolyId, ()>,
    unions: usize,
    left: usize,
}

impl Emit<'_> {
    fn know(&mut self, id: PolyId, negated: bool, class: Id) {
        match self.reps.get(&id) {
            None => {
                self.reps.insert(id, (class, negated));
            }
            Some(&(rep, sign)) if sign == negated => {
                self.unions += usize::from(self.graph.union_trusted(rep, class, "same-polynomial"));
            }
            Some(_) => {}
        }
    }

    fn has_negation(&self) -> bool {
        self.ty.elem().class() != ElemClass::Unsigned
    }

    fn op(&mut self, op: Op, args: &[Id]) -> Id {
        self.graph.add_uncanonical(Node::op(op, self.ty, args))
    }

    fn constant(&mut self, value: &BigRational) -> Option<Id> {
        let elem = self.ty.elem();
        let value = constant::combined(value.clone(), elem, FuseLevel::Full)?;
        Some(self.graph.add_uncanonical(Node::constant(value, self.ty)))
    }

    /// The class of a polynomial up to sign, with its cheapest forms put in.
    fn visit(&mut self, search: &Search, id: PolyId, most: usize) -> Option<(Id, bool)> {
        if let Some(value) = search.poly(id).as_constant() {
            return Some((self.constant(&value.clone())?, false));
        }
        if self.done.insert(id, ()).is_some() || search.poly(id).as_atom().is_some() {
            return self.reps.get(&id).copied();
        }
        let cheapest = search.found(id).first()?.0;
        for &(cost, step) in search.found(id).iter().take(most) {
            let first = !self.reps.contains_key(&id);
            if !first && (self.left == 0 || cost > cheapest + cheapest / 8) {
                break;
            }
            self.left = self.left.saturating_sub(1);
            let fewer = most.saturating_sub(1).max(1);
            let (Some(left), Some(right)) =
                (self.visit(search, step.left, fewer), self.visit(search, step.right, fewer))
            else {
                continue;
            };
            if step.name != SOURCE {
                self.build(search, id, step, left, right);
            }
        }
        self.reps.get(&id).copied()
    }

    fn build(&mut self, search: &Search, id: PolyId, step: Decomposition, left: (Id, bool), right: (Id, bool)) {
        let rep = self.reps.get(&id).copied();
        let made = match step.form {
            Form::Product => Some((self.op(Op::Mul, &[left.0, right.0]), left.1 != right.1)),
            Form::Sum { minus_left, minus_right } => {
                let flip = rep.is_some_and(|r| r.1);
                let signs = (minus_left != left.1, minus_right != right.1);
                self.sum(search, step, (left.0, signs.0 != flip), (right.0, signs.1 != flip), flip)
            }
        };
        let Some((mut class, mut negated)) = made else { return };
        let Some((rep, sign)) = rep else {
            self.reps.insert(id, (class, negated));
            return;
        };
        if negated != sign {
            if !self.has_negation() {
                return;
            }
            class = self.op(Op::Neg, &[class]);
            negated = sign;
        }
        debug_assert_eq!(negated, sign);
        self.unions += usize::from(self.graph.union_trusted(rep, class, step.name));
    }

    /// The sum of two signed classes, and whether what was made is the negation of what `flip` asks for.
    fn sum(
        &mut self,
        search: &Search,
        step: Decomposition,
        left: (Id, bool),
        right: (Id, bool),
        flip: bool,
    ) -> Option<(Id, bool)> {
        let class = match (left.1, right.1) {
            (false, false) => self.op(Op::Add, &[left.0, right.0]),
            (false, true) => self.op(Op::Sub, &[left.0, right.0]),
            (true, false) => self.op(Op::Sub, &[right.0, left.0]),
            (true, true) => {
                for (side, other) in [(step.left, right.0), (step.right, left.0)] {
                    if let Some(value) = search.poly(side).as_constant() {
                        let value = constant_of(-value.clone(), self.ty.elem());
                        let class = self.constant(&value)?;
                        return Some((self.op(Op::Sub, &[class, other]), flip));
                    }
                }
                return Some((self.op(Op::Add, &[left.0, right.0]), !flip));
            }
        };
        Some((class, flip))
    }
}

fn constant_of(value: BigRational, elem: Elem) -> BigRational {
    if elem.is_float() { value } else { BigRational::from_integer(constant::wrap(value.to_integer(), elem)) }
}
