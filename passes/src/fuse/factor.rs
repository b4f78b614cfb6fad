//! Searches cheap ways to compute polynomials: Horner's form in every variable, common factors, squares, powers, shared
//! parts. Saturation alone does not find these in sensible time.
//!
//! Every polynomial met becomes an entry with its decompositions, each a sum or a product of two smaller polynomials
//! that equals it exactly and in which no term cancels. Costs are over sets of entries, so a part used twice counts once.

use super::poly::{Coefficient, Folding, Mono, Poly, is_unit, residue};
use indexmap::IndexSet;
use num_rational::BigRational;
use num_traits::{One, Signed};
use rake_ir::types::Elem;
use std::collections::HashMap;

/// A polynomial that leads with a positive coefficient, by number.
pub type PolyId = usize;

/// How a polynomial is computed from two others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The first or its negation plus the second or its negation.
    Sum {
        /// Whether the first is subtracted.
        minus_left: bool,
        /// Whether the second is subtracted.
        minus_right: bool,
    },
    /// The product.
    Product,
}

/// One decomposition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decomposition {
    /// The operation.
    pub form: Form,
    /// The first part.
    pub left: PolyId,
    /// The second part.
    pub right: PolyId,
    /// What it is called in chains.
    pub name: &'static str,
}

/// What operations weigh, from the profile's cost table.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// An addition or subtraction.
    pub add: u32,
    /// A multiplication.
    pub mul: u32,
    /// An integer multiplication by a power of two.
    pub shift: u32,
    /// A multiply-add, where the profile has one and the level allows it.
    pub fused: Option<u32>,
}

/// A set of entries that are computed, with each one's weight, by number.
type Computed = Vec<(PolyId, u32)>;

#[derive(Default)]
struct Entry {
    given: Vec<Decomposition>,
    found: Vec<(u32, Decomposition)>,
    best: Option<Computed>,
    open: bool,
}

/// The search over one region's polynomials of one type.
pub struct Search {
    elem: Elem,
    weights: Weights,
    polys: IndexSet<Poly, Folding>,
    entries: Vec<Entry>,
    /// Polynomials of source values with two terms or more, and parts that several of them share.
    known: Vec<PolyId>,
    order: HashMap<Mono, usize, Folding>,
    work: usize,
    budget: usize,
}

impl Search {
    /// An empty search with a counted budget.
    pub fn new(elem: Elem, weights: Weights, budget: usize) -> Search {
        Search {
            elem,
            weights,
            polys: IndexSet::default(),
            entries: Vec::new(),
            known: Vec::new(),
            order: HashMap::default(),
            work: 0,
            budget,
        }
    }

    /// The number of a polynomial, and whether it stands negated.
    pub fn intern(&mut self, poly: Poly) -> (PolyId, bool) {
        let (poly, negated) = poly.normalised();
        let (id, new) = self.polys.insert_full(poly);
        if new {
            self.entries.push(Entry::default());
        }
        (id, negated)
    }

    /// The polynomial with this number.
    pub fn poly(&self, id: PolyId) -> &Poly {
        &self.polys[id]
    }

    /// Records how the source computes a polynomial, and the order in which its terms first stand.
    pub fn know(&mut self, id: PolyId, source: Option<Decomposition>) {
        for (mono, _) in &self.polys[id].0 {
            let next = self.order.len();
            self.order.entry(mono.clone()).or_insert(next);
        }
        if let Some(source) = source {
            self.entries[id].given.push(source);
        }
        if self.polys[id].0.len() >= 2 && !self.known.contains(&id) && self.known.len() < 64 {
            self.known.push(id);
        }
    }

    /// Parts of two terms or more that stand in two targets become candidates for sharing.
    pub fn share(&mut self, targets: &[PolyId]) {
        for (n, &left) in targets.iter().enumerate().take(8) {
            for &right in targets.iter().take(8).skip(n + 1) {
                let (left, right) = (self.polys[left].clone(), self.polys[right].clone());
                for sign in [right.clone(), right.negated()] {
                    let (part, rest) = left.split(|t| sign.coefficient(&t.0) == Some(&*t.1));
                    if let (Some(part), Some(_)) = (part, rest)
                        && part.0.len() >= 2
                    {
                        let (id, _) = self.intern(part);
                        if !self.known.contains(&id) && self.known.len() < 64 {
                            self.known.push(id);
                        }
                    }
                }
            }
        }
    }

    /// The decompositions found, cheapest first.
    pub fn found(&self, id: PolyId) -> &[(u32, Decomposition)] {
        &self.entries[id].found
    }

    fn is_leaf(&self, id: PolyId) -> bool {
        self.polys[id].as_constant().is_some() || self.polys[id].as_atom().is_some()
    }

    /// Finds the cheapest way to compute a polynomial; a fault-free bound on recursion follows from its getting smaller.
    pub fn solve(&mut self, id: PolyId, depth: usize) {
        if self.is_leaf(id) || self.entries[id].best.is_some() || self.entries[id].open {
            return;
        }
        self.entries[id].open = true;
        let mut moves = self.moves(id, depth);
        for given in self.entries[id].given.clone() {
            if !moves.iter().any(|m| (m.form, m.left, m.right) == (given.form, given.left, given.right)) {
                moves.push(given);
            }
        }
        let mut found: Vec<(u32, usize, Decomposition, Computed)> = Vec::new();
        for (rank, step) in moves.into_iter().enumerate() {
            self.solve(step.left, depth + 1);
            self.solve(step.right, depth + 1);
            if let Some(computed) = self.computed(id, step) {
                found.push((computed.iter().map(|c| c.1).sum(), rank, step, computed));
            }
        }
        found.sort_by_key(|f| (f.0, f.1));
        let entry = &mut self.entries[id];
        entry.open = false;
        entry.best = found.first().map(|f| f.3.clone());
        entry.found = found.into_iter().take(4).map(|f| (f.0, f.2)).collect();
    }

    fn best(&self, id: PolyId) -> Option<Computed> {
        if self.is_leaf(id) { Some(Vec::new()) } else { self.entries[id].best.clone() }
    }

    fn product_weight(&self, left: PolyId, right: PolyId) -> u32 {
        let shifts = |id: PolyId| {
            !self.elem.is_float()
                && self.polys[id].as_constant().is_some_and(|c| crate::rewrites::constant::power_of_two(c).is_some())
        };
        if shifts(left) || shifts(right) { self.weights.shift } else { self.weights.mul }
    }

    /// Everything that one decomposition computes.
    fn computed(&self, id: PolyId, step: Decomposition) -> Option<Computed> {
        let (left, right) = (self.best(step.left)?, self.best(step.right)?);
        let mut all = union(&left, &right);
        let weight = match step.form {
            Form::Product => self.product_weight(step.left, step.right),
            Form::Sum { .. } => {
                let mut plain = all.clone();
                insert(&mut plain, (id, self.weights.add));
                let mut best = plain;
                if let Some(fused) = self.weights.fused {
                    for (product, other) in [(step.left, &right), (step.right, &left)] {
                        if let Some(mut contracted) = self.factors(product, other) {
                            insert(&mut contracted, (id, fused));
                            if total(&contracted) < total(&best) {
                                best = contracted;
                            }
                        }
                    }
                }
                return Some(best);
            }
        };
        insert(&mut all, (id, weight));
        Some(all)
    }

    /// The factors of a product and the other summand, for a multiply-add that never computes the product itself.
    fn factors(&self, product: PolyId, other: &Computed) -> Option<Computed> {
        let entry = &self.entries[product];
        let (_, step) = entry.found.iter().find(|f| f.1.form == Form::Product)?;
        Some(union(&union(&self.best(step.left)?, &self.best(step.right)?), other))
    }

    fn moves(&mut self, id: PolyId, depth: usize) -> Vec<Decomposition> {
        let poly = self.polys[id].clone();
        self.work += poly.0.len() * (1 + self.known.len());
        let width = match () {
            () if self.work > self.budget => 1,
            () if depth <= 2 => 6,
            () if depth <= 5 => 3,
            () => 2,
        };
        let mut out = Vec::new();
        if poly.0.len() == 1 {
            self.split_term(&poly, if width == 1 { 1 } else { 4 }, &mut out);
            return out;
        }
        let content = poly.content();
        if content.degree() > 0 {
            self.take_content(&poly, &content, width, &mut out);
            return out;
        }
        if self.take_scale(&poly, &mut out) {
            return out;
        }
        let cheap = width == 1;
        if !cheap {
            self.squares(&poly, &mut out);
            self.use_known(id, &poly, &mut out);
        }
        let before = out.len();
        self.horner(&poly, width, &mut out);
        self.equal_coefficients(&poly, &mut out);
        if out.len() == before || (depth <= 1 && !cheap) {
            self.peel(&poly, &mut out);
        }
        out
    }

    fn product(&mut self, left: Poly, right: Poly, name: &'static str, out: &mut Vec<Decomposition>) {
        let (left, _) = self.intern(left);
        let (right, _) = self.intern(right);
        out.push(Decomposition { form: Form::Product, left, right, name });
    }

    fn sum(&mut self, left: Poly, right: Poly, name: &'static str, out: &mut Vec<Decomposition>) {
        let (left, minus_left) = self.intern(left);
        let (right, minus_right) = self.intern(right);
        out.push(Decomposition { form: Form::Sum { minus_left, minus_right }, left, right, name });
    }

    /// A product without one of its last `width` factors.
    fn split_term(&mut self, poly: &Poly, width: usize, out: &mut Vec<Decomposition>) {
        let (mono, coefficient) = &poly.0[0];
        if !coefficient.is_one() {
            let unit = Poly::term(mono.clone(), BigRational::one());
            self.product(unit, Poly::constant((**coefficient).clone()), "scale", out);
            return;
        }
        if mono.degree() < 2 {
            return;
        }
        if let Some(root) = mono.root() {
            let root = Poly::term(root, BigRational::one());
            self.product(root.clone(), root, "power", out);
        }
        for &(atom, _) in mono.0.iter().rev().take(width) {
            let atom = Mono::atom(atom);
            if let Some(rest) = mono.over(&atom) {
                let rest = Poly::term(rest, BigRational::one());
                self.product(rest, Poly::term(atom, BigRational::one()), "power", out);
            }
        }
    }

    fn take_content(&mut self, poly: &Poly, content: &Mono, width: usize, out: &mut Vec<Decomposition>) {
        let mut divisors = vec![content.clone()];
        for &(atom, _) in content.0.iter().take(width.min(3)) {
            let atom = Mono::atom(atom);
            if !divisors.contains(&atom) {
                divisors.push(atom);
            }
        }
        for divisor in divisors {
            if let Some(rest) = poly.over(&divisor) {
                self.product(Poly::term(divisor, BigRational::one()), rest, "factor", out);
            }
        }
    }

    /// All coefficients alike: one multiplication by the constant.
    fn take_scale(&mut self, poly: &Poly, out: &mut Vec<Decomposition>) -> bool {
        if is_unit(&poly.0[0].1) {
            return false;
        }
        let scale = poly.0[0].1.abs();
        if poly.0.iter().any(|t| t.1.abs() != scale) {
            return false;
        }
        let unit = poly.0.iter().map(|(m, c)| (m.clone(), Coefficient::new(c.signum()))).collect();
        self.product(Poly(unit), Poly::constant(scale), "factor-constant", out);
        true
    }

    /// Several terms with one coefficient besides others.
    fn equal_coefficients(&mut self, poly: &Poly, out: &mut Vec<Decomposition>) {
        let mut done: Vec<BigRational> = Vec::new();
        for (_, coefficient) in &poly.0 {
            if is_unit(coefficient) {
                continue;
            }
            let scale = coefficient.abs();
            if done.contains(&scale) || done.len() >= 3 {
                continue;
            }
            if let (Some(part), Some(rest)) = poly.split(|t| t.1.abs() == scale)
                && part.0.len() >= 2
            {
                self.sum(part, rest, "factor-constant", out);
            }
            done.push(scale);
        }
    }

    /// `p = v*q + r` for the variables that most terms share, and `q*(v + d) + r'` where `q` divides part of `r`.
    fn horner(&mut self, poly: &Poly, width: usize, out: &mut Vec<Decomposition>) {
        let mut counts: Vec<(usize, u16)> = Vec::new();
        for (mono, _) in &poly.0 {
            for &(atom, _) in &mono.0 {
                match counts.iter_mut().find(|c| c.1 == atom) {
                    Some(count) => count.0 += 1,
                    None => counts.push((1, atom)),
                }
            }
        }
        counts.retain(|c| c.0 >= 2);
        counts.sort_by_key(|&(count, atom)| (std::cmp::Reverse(count), atom));
        for (_, atom) in counts.into_iter().take(width) {
            let (Some(part), Some(rest)) = poly.split(|t| t.0.exponent(atom) > 0) else { continue };
            self.sum(part.clone(), rest.clone(), "horner", out);
            let content = part.content();
            let Some(quotient) = part.over(&content) else { continue };
            if let Some((more, left)) = rest.divide(&quotient, self.elem) {
                let factor = Poly::term(content, BigRational::one()).plus(&more, self.elem);
                self.multiple(&quotient, factor, left, out);
            }
        }
    }

    /// `p = divisor * factor + rest`.
    fn multiple(&mut self, divisor: &Poly, factor: Option<Poly>, rest: Option<Poly>, out: &mut Vec<Decomposition>) {
        let Some(factor) = factor else { return };
        let Some(whole) = divisor.times(&factor, self.elem) else { return };
        match rest {
            None => self.product(divisor.clone(), factor, "factor", out),
            Some(rest) => {
                let (id, _) = self.intern(whole.clone());
                let mut inner = Vec::new();
                self.product(divisor.clone(), factor, "factor", &mut inner);
                if self.entries[id].best.is_none() && !self.entries[id].open {
                    self.entries[id].given.extend(inner);
                }
                self.sum(whole, rest, "factor", out);
            }
        }
    }

    /// Parts that are already computed: as a summand, or as a factor.
    fn use_known(&mut self, id: PolyId, poly: &Poly, out: &mut Vec<Decomposition>) {
        for known in self.known.clone() {
            if known == id || self.polys[known].0.len() > poly.0.len() {
                continue;
            }
            let part = self.polys[known].clone();
            for negated in [false, true] {
                if let Ok(Some(rest)) = poly.without(&part, negated) {
                    let part = if negated { part.negated() } else { part.clone() };
                    self.sum(part, rest, "share", out);
                }
            }
            if let Some((factor, rest)) = poly.divide(&part, self.elem) {
                let trivial = factor.as_constant().is_some_and(is_unit);
                if !trivial {
                    self.multiple(&part, Some(factor), rest, out);
                }
            }
        }
    }

    /// `a*a + 2*a*b + b*b` within a sum.
    fn squares(&mut self, poly: &Poly, out: &mut Vec<Decomposition>) {
        let two = BigRational::from_integer(2.into());
        let roots: Vec<(Mono, BigRational)> = poly
            .0
            .iter()
            .filter_map(|(mono, coefficient)| Some((mono.root()?, exact_root(coefficient)?)))
            .take(8)
            .collect();
        for (first, start) in roots.iter().enumerate().take(3) {
            let mut root = vec![start.clone()];
            for other in &roots[first + 1..] {
                let cross = |sign: &BigRational| {
                    root.iter().all(|(mono, value)| {
                        let wanted = residue(&two * value * &other.1 * sign, self.elem);
                        poly.coefficient(&mono.times(&other.0)) == Some(&wanted)
                    })
                };
                let signs = [BigRational::one(), -BigRational::one()];
                if let Some(sign) = signs.into_iter().find(cross) {
                    root.push((other.0.clone(), &other.1 * sign));
                }
            }
            let Some(root) = (root.len() >= 2).then(|| Poly::collect(shared(root))).flatten() else { continue };
            let Some(square) = root.times(&root, self.elem) else { continue };
            let Ok(rest) = poly.without(&square, false) else { continue };
            let (root, _) = root.normalised();
            self.multiple(&root.clone(), Some(root), rest, out);
        }
    }

    /// Takes one term off the end of the source's order: the last one, or the last product.
    fn peel(&mut self, poly: &Poly, out: &mut Vec<Decomposition>) {
        let place = |mono: &Mono| self.order.get(mono).copied().unwrap_or(usize::MAX);
        let last = poly.0.iter().max_by_key(|t| place(&t.0)).map(|t| t.0.clone());
        let is_product = |t: &&(Mono, Coefficient)| t.0.degree() >= 2 || (t.0.degree() == 1 && !is_unit(&t.1));
        let product = poly.0.iter().filter(is_product).max_by_key(|t| place(&t.0)).map(|t| t.0.clone());
        let product = product.filter(|mono| Some(mono) != last.as_ref());
        for mono in [last, product].into_iter().flatten() {
            if let (Some(term), Some(rest)) = poly.split(|t| t.0 == mono) {
                self.sum(rest, term, "reorder", out);
            }
        }
    }
}

fn shared(terms: Vec<(Mono, BigRational)>) -> Vec<(Mono, Coefficient)> {
    terms.into_iter().map(|(mono, value)| (mono, Coefficient::new(value))).collect()
}

fn exact_root(value: &BigRational) -> Option<BigRational> {
    if value.is_negative() {
        return None;
    }
    let root = BigRational::new(value.numer().sqrt(), value.denom().sqrt());
    (&root * &root == *value).then_some(root)
}

fn total(computed: &Computed) -> u32 {
    computed.iter().map(|c| c.1).sum()
}

fn insert(computed: &mut Computed, item: (PolyId, u32)) {
    if let Err(at) = computed.binary_search_by_key(&item.0, |c| c.0) {
        computed.insert(at, item);
    }
}

fn union(left: &Computed, right: &Computed) -> Computed {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        match left[i].0.cmp(&right[j].0) {
            std::cmp::Ordering::Less => {
                out.push(left[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                out.push(right[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                out.push((left[i].0, left[i].1.min(right[j].1)));
                i += 1;
                j += 1;
            }
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend_from_slice(&right[j..]);
    out
}
