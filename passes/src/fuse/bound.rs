//! What any graph for a small region of float sums and products costs at least.
//!
//! Operations that no rewrite reaches (roots, comparisons, broadcasts …) stay whatever is chosen: what they read are
//! results, what they give is an atom. Between them each result is a polynomial over atoms, and no rewrite lets terms
//! cancel. What `n` operations can make of atoms and constants is bounded four ways:
//!
//! * An operation on at most `k` operands joins at most `k` values into one, so `n` of them read at most `n(k - 1) + 1`.
//! * One operation has at most 2 terms. With a multiply-add, `n` of them have at most `t(t + 1)/2 + t` terms, where `t`
//!   bounds `n - 1` of them: at best a square of the widest plus that again (distinct factors have fewer operations
//!   each). Without it, at most `t(t + 1)/2`.
//! * A degree doubles at best with each operation.
//! * A polynomial of degree one gains one term at best with each operation, for one factor of each product is constant.
//!
//! A path of `d` operations is bounded alike, where the factors may differ: `t*t + t` terms, or `t*t`.
//! What one operation makes is decided exactly, what two make nearly so. Negations only flip signs and are free here.

use super::graph::{Term, at};
use super::seeds::Setting;
use crate::rewrites::language::{Head, Node};
use crate::rewrites::power;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use rake_ir::cost::cost;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{FpClass, Op, TypeRule};
use rake_ir::types::Ty;
use smallvec::{SmallVec, smallvec};

/// Most operations for which the bound is worth computing.
const MOST: usize = 24;
/// Polynomials with more terms than this are not formed.
const MOST_TERMS: usize = 24;

/// A float constant: an odd number times a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Dyadic {
    odd: i128,
    exponent: i32,
}

impl Dyadic {
    const ONE: Dyadic = Dyadic { odd: 1, exponent: 0 };

    fn of(value: &BigRational) -> Option<Dyadic> {
        let denominator = value.denom().magnitude();
        let exponent = i32::try_from(denominator.bits()).ok()? - 1;
        (denominator.count_ones() == 1).then_some(())?;
        Dyadic::reduced(value.numer().to_i128()?, -exponent)
    }

    fn reduced(number: i128, exponent: i32) -> Option<Dyadic> {
        let zeros = number.trailing_zeros();
        (number != 0).then(|| Dyadic { odd: number >> zeros, exponent: exponent + zeros as i32 })
    }

    fn times(self, other: Dyadic) -> Option<Dyadic> {
        Some(Dyadic { odd: self.odd.checked_mul(other.odd)?, exponent: self.exponent + other.exponent })
    }

    /// The sum; `Ok(None)` where it is zero.
    fn plus(self, other: Dyadic) -> Result<Option<Dyadic>, Give> {
        let low = self.exponent.min(other.exponent);
        let aligned = |d: Dyadic| {
            let shift = (d.exponent - low) as u32;
            (shift < 126).then(|| d.odd.checked_mul(1 << shift)).flatten().ok_or(Give::Large)
        };
        let sum = aligned(self)?.checked_add(aligned(other)?).ok_or(Give::Large)?;
        Ok(Dyadic::reduced(sum, low))
    }

    fn negated(self) -> Dyadic {
        Dyadic { odd: -self.odd, ..self }
    }

    fn is_unit(self) -> bool {
        self.odd.abs() == 1 && self.exponent == 0
    }
}

/// Why a polynomial is not formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Give {
    Cancels,
    Large,
}

/// Up to eight atoms, one a byte, greatest first; zero bytes are none.
type Mono = u64;

fn degree(mono: Mono) -> u32 {
    (64 - mono.leading_zeros()).div_ceil(8)
}

fn join(left: Mono, right: Mono) -> Option<Mono> {
    let (l, r) = (degree(left) as usize, degree(right) as usize);
    if l + r > 8 {
        return None;
    }
    let mut bytes = (left | if l < 8 { right << (8 * l) } else { 0 }).to_le_bytes();
    bytes[..l + r].sort_unstable_by(|a, b| b.cmp(a));
    Some(u64::from_le_bytes(bytes))
}

fn atoms(mono: Mono) -> impl Iterator<Item = u8> {
    mono.to_le_bytes().into_iter().take_while(|&atom| atom != 0)
}

/// Every exponent even: sorted bytes come in pairs.
fn is_square(mono: Mono) -> bool {
    mono.to_le_bytes().chunks_exact(2).all(|pair| pair[0] == pair[1])
}

/// A sum of terms, by monomial.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Poly(SmallVec<[(Mono, Dyadic); 4]>);

impl Poly {
    fn term(mono: Mono, value: Dyadic) -> Poly {
        Poly(smallvec![(mono, value)])
    }

    fn add(&mut self, mono: Mono, value: Dyadic) -> Result<(), Give> {
        match self.0.binary_search_by_key(&mono, |t| t.0) {
            Ok(at) => self.0[at].1 = self.0[at].1.plus(value)?.ok_or(Give::Cancels)?,
            Err(_) if self.0.len() >= MOST_TERMS => return Err(Give::Large),
            Err(at) => self.0.insert(at, (mono, value)),
        }
        Ok(())
    }

    fn plus(&self, other: &Poly) -> Result<Poly, Give> {
        let mut sum = self.clone();
        other.0.iter().try_for_each(|&(mono, value)| sum.add(mono, value))?;
        Ok(sum)
    }

    fn negated(&self) -> Poly {
        Poly(self.0.iter().map(|t| (t.0, t.1.negated())).collect())
    }

    fn times(&self, other: &Poly) -> Result<Poly, Give> {
        let mut product = Poly(SmallVec::new());
        for &(m, c) in &self.0 {
            for &(n, d) in &other.0 {
                product.add(join(m, n).ok_or(Give::Large)?, c.times(d).ok_or(Give::Large)?)?;
            }
        }
        Ok(product)
    }

    fn degree(&self) -> u32 {
        self.0.iter().map(|t| degree(t.0)).max().unwrap_or(0)
    }

    fn same_but_sign(&self, other: &Poly) -> bool {
        self == other || *self == other.negated()
    }
}

/// An atom or its negation, or a constant.
fn is_leaf(&(mono, value): &(Mono, Dyadic)) -> bool {
    degree(mono) == 0 || degree(mono) == 1 && value.is_unit()
}

/// A product of two leaves.
fn is_product(&(mono, value): &(Mono, Dyadic)) -> bool {
    degree(mono) == 1 || degree(mono) == 2 && value.is_unit()
}

/// What a machine's operations are like.
#[derive(Clone, Copy)]
struct Machine {
    fuses: bool,
    throughput: u32,
    latency: u32,
}

impl Machine {
    fn of(ty: Ty, setting: Setting) -> Option<Machine> {
        let fuses = setting.profile.info().fma && setting.level != FuseLevel::Exact;
        let own = cost(Op::Add, ty, setting.profile);
        let alike = |op: Op| cost(op, ty, setting.profile) == own;
        (alike(Op::Mul) && alike(Op::Sub) && (!fuses || alike(Op::MulAdd))).then_some(Machine {
            fuses,
            throughput: own.throughput,
            latency: own.latency,
        })
    }

    fn joins(self, leaves: usize) -> usize {
        leaves.saturating_sub(1).div_ceil(if self.fuses { 2 } else { 1 })
    }

    /// Whether one operation makes it.
    fn one(self, poly: &Poly) -> bool {
        match &poly.0[..] {
            [term] => is_leaf(term) || is_product(term),
            [a, b] if self.fuses => is_product(a) && is_leaf(b) || is_product(b) && is_leaf(a),
            [a, b] => is_leaf(a) && is_leaf(b),
            _ => false,
        }
    }

    /// Whether two operations may make it. With `f` of one operation and at most two terms, and leaves `l`, `m`:
    /// `f*l + m`, `l*m + f` and `f*f` have at most three terms, `f*f + l` and `f*f + f` have a square on top, and what is
    /// left is `f*l + f`.
    fn two(self, poly: &Poly) -> bool {
        let top = poly.degree();
        let square_on_top = || top >= 2 && poly.0.iter().any(|t| degree(t.0) == top && is_square(t.0));
        match (poly.0.len(), self.fuses) {
            (0..=2, _) | (3, true) => true,
            (3, false) => poly.0.iter().all(is_leaf) || square_on_top(),
            (4, true) => square_on_top() || is_shifted_multiple(poly),
            (5, true) => square_on_top(),
            _ => false,
        }
    }

    /// The fewest operations; `leaves` is how many run-time values it reads.
    fn operations(self, poly: Option<&Poly>, leaves: usize) -> usize {
        let joins = self.joins(leaves);
        let Some(poly) = poly else { return joins.max(1) };
        if poly.0.len() == 1 && is_leaf(&poly.0[0]) {
            return 0;
        }
        let terms = poly.0.len();
        let exact = match () {
            () if self.one(poly) => 1,
            () if self.two(poly) => 2,
            () => 3,
        };
        let mut by_terms = 2;
        let mut most = if self.fuses { 5 } else { 3 };
        while most < terms {
            by_terms += 1;
            most = most * (most + 1) / 2 + if self.fuses { most } else { 0 };
        }
        let by_terms = if terms > 2 { by_terms } else { 1 };
        let linear = if poly.degree() <= 1 { terms - 1 } else { 0 };
        joins.max(exact).max(by_terms).max(doublings(poly.degree())).max(linear)
    }

    /// The fewest operations on the longest path.
    fn depth(self, poly: Option<&Poly>, leaves: usize) -> usize {
        let arity = if self.fuses { 3 } else { 2 };
        let (mut depth, mut reach) = (0, 1);
        while reach < leaves {
            depth += 1;
            reach *= arity;
        }
        let Some(poly) = poly else { return depth.max(1) };
        if poly.0.len() == 1 && is_leaf(&poly.0[0]) {
            return 0;
        }
        let (mut by_terms, mut most) = (1, 2);
        while most < poly.0.len() {
            by_terms += 1;
            most = most * most + if self.fuses { most } else { 0 };
        }
        depth.max(by_terms).max(doublings(poly.degree())).max(if self.one(poly) { 1 } else { 2 })
    }
}

/// The least `n` with `2^n` at least `degree`.
fn doublings(degree: u32) -> usize {
    degree.max(1).next_power_of_two().trailing_zeros() as usize
}

/// Whether four terms are `f*l + f` or `f*l - f` for two of them as `f` and an atom `l`.
fn is_shifted_multiple(poly: &Poly) -> bool {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    pairs.into_iter().any(|(a, b)| {
        let mut part = Poly(SmallVec::new());
        let mut rest = Poly(SmallVec::new());
        for (n, &term) in poly.0.iter().enumerate() {
            if n == a || n == b { part.0.push(term) } else { rest.0.push(term) }
        }
        atoms(rest.0[0].0).any(|atom| {
            let multiple = part.times(&Poly::term(atom.into(), Dyadic::ONE));
            multiple.is_ok_and(|multiple| multiple.same_but_sign(&rest))
        })
    })
}

fn is_ring(node: &Node) -> bool {
    matches!(node.as_op(), Some(Op::Add | Op::Sub | Op::Mul))
}

fn is_comparison(node: &Node) -> bool {
    node.as_op().is_some_and(|op| op.info().types == TypeRule::Compare)
}

/// Whether no rewrite reaches this operation, in a graph without negations and mask logic.
fn is_opaque(term: &Term, node: &Node) -> bool {
    let arg = |n: usize| &term.nodes[at(node.args[n])];
    match node.as_op() {
        Some(Op::Div) => arg(1).exact().is_none_or(|by| power::reciprocal(by, node.ty).is_none()),
        Some(Op::Abs) => arg(0).as_op() != Some(Op::Abs),
        Some(Op::Min | Op::Max | Op::Select | Op::If | Op::Splat) => true,
        Some(op) if matches!(op.info().fp, FpClass::Rounded | FpClass::Sequence) => true,
        _ => is_comparison(node),
    }
}

/// The least that graphs for a region cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// See [`rake_ir::fused::Cost`].
    pub throughput: u32,
    /// See [`rake_ir::fused::Cost`].
    pub latency: u32,
}

struct Reader<'a> {
    term: &'a Term,
    live: Vec<bool>,
    machine: Machine,
    polys: Vec<Option<Poly>>,
    /// The run-time values that each node reads, by number.
    reads: Vec<u64>,
    /// When each run-time value is there.
    arrivals: Vec<u32>,
    ready: Vec<u32>,
    /// Read by opaque operations, or results.
    wanted: Vec<bool>,
}

/// The bound, for a region that it can say something about.
pub fn lower(term: &Term, setting: Setting) -> Option<Bound> {
    let live = term.live();
    let ops = || term.nodes.iter().zip(&live).filter(|(node, live)| **live && !node.is_free()).map(|(node, _)| node);
    let ty = ops().find(|node| is_ring(node))?.ty;
    let magnitude = |node: &Node| node.as_op() == Some(Op::Abs);
    // Two magnitudes in one product could become one.
    let several = ops().filter(|node| magnitude(node)).count() > 1;
    let loose = |node: &Node| several && node.args.iter().any(|&arg| magnitude(&term.nodes[at(arg)]));
    let fits = |node: &Node| node.ty == ty && (is_ring(node) && !loose(node) || is_opaque(term, node));
    if !ty.elem().is_float() || ops().count() > MOST || term.nodes.len() > 60 || !ops().all(fits) {
        return None;
    }
    let count = term.nodes.len();
    let mut wanted = vec![false; count];
    term.roots.iter().for_each(|&root| wanted[root] = true);
    ops().filter(|node| !is_ring(node)).for_each(|node| node.args.iter().for_each(|&arg| wanted[at(arg)] = true));
    let mut reader = Reader {
        machine: Machine::of(ty, setting)?,
        polys: Vec::with_capacity(count),
        reads: Vec::with_capacity(count),
        arrivals: Vec::new(),
        ready: Vec::with_capacity(count),
        wanted,
        live,
        term,
    };
    let mut opaque = 0;
    for (index, node) in term.nodes.iter().enumerate() {
        let own = node.as_op().map(|op| cost(op, super::graph::cost_type(&term.nodes, node), setting.profile));
        let own = own.unwrap_or_default();
        reader.node(index, node, own.latency)?;
        if reader.live[index] && !node.is_free() && !is_ring(node) {
            opaque += own.throughput;
        }
    }
    if reader.merges() {
        return None;
    }
    let latency = term.roots.iter().map(|&root| reader.ready[root]).max().unwrap_or(0);
    Some(Bound { throughput: opaque + reader.operations() as u32 * reader.machine.throughput, latency })
}

impl Reader<'_> {
    /// Reads one node; `None` where terms cancel, of which the bound knows nothing.
    fn node(&mut self, index: usize, node: &Node, latency: u32) -> Option<()> {
        if is_ring(node) {
            let (left, right) = (at(node.args[0]), at(node.args[1]));
            let made = match (&self.polys[left], &self.polys[right], node.as_op()) {
                (Some(left), Some(right), Some(Op::Mul)) => left.times(right),
                (Some(left), Some(right), Some(Op::Sub)) => left.plus(&right.negated()),
                (Some(left), Some(right), _) => left.plus(right),
                _ => Err(Give::Large),
            };
            if made == Err(Give::Cancels) {
                return None;
            }
            let reads = self.reads[left] | self.reads[right];
            let made = made.ok();
            let ready = if self.wanted[index] { self.when(made.as_ref(), reads) } else { 0 };
            self.polys.push(made);
            self.reads.push(reads);
            self.ready.push(ready);
            return Some(());
        }
        let exact = node.exact().map(|value| Dyadic::of(value).map(|value| Poly::term(0, value)));
        let atom = || Some(Poly::term(index as u64 + 1, Dyadic::ONE));
        self.polys.push(exact.unwrap_or_else(atom));
        let start = node.args.iter().map(|&arg| self.ready[at(arg)]).max().unwrap_or(0);
        self.ready.push(start + latency);
        let run_time = node.as_op() != Some(Op::Const) && node.head != Head::Root;
        self.reads.push(if run_time { 1 << self.arrivals.len() } else { 0 });
        if run_time {
            self.arrivals.push(start + latency);
        }
        Some(())
    }

    fn when(&self, poly: Option<&Poly>, reads: u64) -> u32 {
        let depth = self.machine.depth(poly, reads.count_ones() as usize) as u32;
        let arrivals = || (0..self.arrivals.len()).filter(|n| reads >> n & 1 == 1).map(|n| self.arrivals[n]);
        let (first, last) = (arrivals().min().unwrap_or(0), arrivals().max().unwrap_or(0));
        (first + depth * self.machine.latency).max(last + depth.min(1) * self.machine.latency)
    }

    /// Whether two values are or may be the same one.
    fn alike(&self, left: usize, right: usize) -> bool {
        match (&self.polys[left], &self.polys[right]) {
            (Some(l), Some(r)) => l.same_but_sign(r),
            _ => self.reads[left] == self.reads[right],
        }
    }

    /// Whether opaque operations may turn out as one, or fall away.
    fn merges(&self) -> bool {
        let opaque = |n: &usize| self.live[*n] && !self.term.nodes[*n].is_free() && !is_ring(&self.term.nodes[*n]);
        let all: SmallVec<[usize; 8]> = (0..self.term.nodes.len()).filter(opaque).collect();
        let node = |n: usize| &self.term.nodes[n];
        let chooses = |n: usize| matches!(node(n).as_op(), Some(Op::Min | Op::Max | Op::Select | Op::If));
        let arms_alike = |n: usize| {
            let arms = &node(n).args[node(n).args.len() - 2..];
            self.alike(at(arms[0]), at(arms[1]))
        };
        if all.iter().any(|&n| chooses(n) && arms_alike(n)) {
            return true;
        }
        let same_kind =
            |a: &Node, b: &Node| a.head == b.head && a.payload == b.payload || is_comparison(a) && is_comparison(b);
        let within =
            |a: usize, b: usize| node(a).args.iter().all(|&x| node(b).args.iter().any(|&y| self.alike(at(x), at(y))));
        all.iter()
            .enumerate()
            .any(|(n, &a)| all[..n].iter().any(|&b| same_kind(node(a), node(b)) && within(a, b) && within(b, a)))
    }

    /// The fewest sums and products.
    fn operations(&self) -> usize {
        let mut roots: SmallVec<[(usize, usize); 8]> = SmallVec::new();
        for root in
            (0..self.term.nodes.len()).filter(|&n| self.live[n] && self.wanted[n] && is_ring(&self.term.nodes[n]))
        {
            let least = self.machine.operations(self.polys[root].as_ref(), self.reads[root].count_ones() as usize);
            if least > 0 && !roots.iter().any(|&(other, _)| self.alike(other, root)) {
                roots.push((root, least));
            }
        }
        let largest = roots.iter().map(|r| r.1).max().unwrap_or(0);
        // What reads a value that one result alone reads belongs to that result alone.
        let private = roots.iter().map(|&(root, _)| {
            let others = roots.iter().filter(|other| other.0 != root).fold(0, |all, other| all | self.reads[other.0]);
            let own = (self.reads[root] & !others).count_ones() as usize;
            self.machine.joins(own + usize::from(self.reads[root] & others != 0))
        });
        // Each result is an operation's, and where none of them is a first step, there is one more.
        let steps = roots.len() + usize::from(!roots.is_empty() && roots.iter().all(|r| r.1 > 1));
        largest.max(private.sum()).max(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(n: u64) -> Poly {
        Poly::term(n, Dyadic::ONE)
    }

    fn least(poly: &Poly, leaves: usize, fuses: bool) -> (usize, usize) {
        let machine = Machine { fuses, throughput: 1, latency: 1 };
        (machine.operations(Some(poly), leaves), machine.depth(Some(poly), leaves))
    }

    #[test]
    fn few_operations_make_few_terms() {
        let (x, y, z) = (atom(1), atom(2), atom(3));
        let two = Poly::term(0, Dyadic { odd: 1, exponent: 1 });
        let xy = x.times(&y).unwrap();
        assert_eq!(least(&x, 1, true), (0, 0));
        assert_eq!(least(&xy, 2, false), (1, 1));
        assert_eq!(least(&xy.plus(&z).unwrap(), 3, true), (1, 1));
        assert_eq!(least(&xy.plus(&z).unwrap(), 3, false), (2, 2));
        // 2*x*y takes two products, x*2 + y one multiply-add.
        assert_eq!(least(&xy.times(&two).unwrap(), 2, true), (2, 2));
        assert_eq!(least(&x.times(&two).unwrap().plus(&y).unwrap(), 2, true), (1, 1));
        // A sum of four.
        let sum = x.plus(&y).unwrap().plus(&z).unwrap().plus(&atom(4)).unwrap();
        assert_eq!(least(&sum, 4, true), (3, 2));
        // x*x*x + x*x + x + 1 with other coefficients is (f*x + 1), f of two operations.
        let horner = |f: Poly| f.times(&x).unwrap().plus(&Poly::term(0, Dyadic { odd: 7, exponent: 0 })).unwrap();
        assert_eq!(least(&horner(horner(horner(two.clone()))), 1, true).0, 3);
        // (x + 1)*(y*z + 2) is two multiply-adds.
        let f = y.times(&z).unwrap().plus(&two).unwrap();
        let shifted = f.times(&x).unwrap().plus(&f).unwrap();
        assert_eq!(least(&shifted, 3, true).0, 2);
    }

    #[test]
    fn what_cancels_is_left_alone() {
        let (x, y) = (atom(1), atom(2));
        assert_eq!(x.plus(&x.negated()), Err(Give::Cancels));
        let (sum, difference) = (x.plus(&y).unwrap(), x.plus(&y.negated()).unwrap());
        assert_eq!(sum.times(&difference), Err(Give::Cancels));
    }
}
