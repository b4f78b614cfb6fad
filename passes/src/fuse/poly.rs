//! Polynomials with exact coefficients over opaque atoms: what a region's sums and products mean.
//!
//! No operation here ever lets terms cancel: a sum of coefficients that reaches zero makes the whole operation `None`,
//! because a region keeps such sums as the source wrote them.

use crate::rewrites::constant;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rake_ir::types::Elem;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

/// A coefficient; shared, because terms are copied far more often than they are combined.
pub type Coefficient = Rc<BigRational>;

/// A small hasher for keys that no user chooses freely enough to attack: multiply and rotate.
#[derive(Clone, Copy, Default)]
pub struct Fold(u64);

/// Builds [`Fold`]s.
pub type Folding = BuildHasherDefault<Fold>;

impl Hasher for Fold {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

/// A product of atoms: (atom, exponent), by atom.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mono(pub SmallVec<[(u16, u16); 4]>);

impl Mono {
    /// One atom.
    pub fn atom(atom: u16) -> Mono {
        Mono(SmallVec::from_slice(&[(atom, 1)]))
    }

    /// Sum of the exponents.
    pub fn degree(&self) -> u32 {
        self.0.iter().map(|f| u32::from(f.1)).sum()
    }

    /// Exponent of an atom.
    pub fn exponent(&self, atom: u16) -> u16 {
        self.0.iter().find(|f| f.0 == atom).map_or(0, |f| f.1)
    }

    /// The product.
    pub fn times(&self, other: &Mono) -> Mono {
        let mut out = self.clone();
        for &(atom, exponent) in &other.0 {
            match out.0.binary_search_by_key(&atom, |f| f.0) {
                Ok(at) => out.0[at].1 += exponent,
                Err(at) => out.0.insert(at, (atom, exponent)),
            }
        }
        out
    }

    /// The quotient where `other` divides it.
    pub fn over(&self, other: &Mono) -> Option<Mono> {
        let mut out = self.clone();
        for &(atom, exponent) in &other.0 {
            let at = out.0.binary_search_by_key(&atom, |f| f.0).ok()?;
            out.0[at].1 = out.0[at].1.checked_sub(exponent)?;
        }
        out.0.retain(|f| f.1 > 0);
        Some(out)
    }

    /// The greatest common divisor.
    pub fn common(&self, other: &Mono) -> Mono {
        let shared = self.0.iter().map(|&(atom, e)| (atom, e.min(other.exponent(atom))));
        Mono(shared.filter(|f| f.1 > 0).collect())
    }

    /// The square root where every exponent is even.
    pub fn root(&self) -> Option<Mono> {
        self.0.iter().all(|f| f.1 % 2 == 0).then(|| Mono(self.0.iter().map(|&(a, e)| (a, e / 2)).collect()))
    }
}

impl Ord for Mono {
    /// Lexicographic: more of an earlier atom is greater. A monomial order, so leading terms multiply.
    fn cmp(&self, other: &Self) -> Ordering {
        for (a, b) in self.0.iter().zip(&other.0) {
            if a.0 != b.0 {
                return b.0.cmp(&a.0);
            }
            if a.1 != b.1 {
                return a.1.cmp(&b.1);
            }
        }
        self.0.len().cmp(&other.0.len())
    }
}

impl PartialOrd for Mono {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A sum of terms, greatest monomial first; never empty, no coefficient zero.
#[derive(Clone, Eq, Debug)]
pub struct Poly(pub Vec<(Mono, Coefficient)>);

impl PartialEq for Poly {
    /// Coefficients are in lowest terms, so their parts compare; comparing ratios in general divides.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&(Mono, Coefficient), &(Mono, Coefficient))| {
            a.0 == b.0 && (Rc::ptr_eq(&a.1, &b.1) || a.1.numer() == b.1.numer() && a.1.denom() == b.1.denom())
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }
}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (mono, coefficient) in &self.0 {
            mono.hash(state);
            state.write_u64(coefficient.numer().iter_u64_digits().next().unwrap_or(0));
            state.write_u64(coefficient.denom().iter_u64_digits().next().unwrap_or(0));
        }
    }
}

/// Whether a coefficient is one or minus one.
pub fn is_unit(value: &BigRational) -> bool {
    value.denom().is_one() && value.numer().magnitude().is_one()
}

/// Polynomials with more terms than this are not formed.
pub const MOST_TERMS: usize = 128;
/// Nor with a higher degree than this.
pub const MOST_DEGREE: u32 = 64;

/// Coefficients of one element: exact numbers for floats, balanced residues for integers.
pub fn residue(value: BigRational, elem: Elem) -> BigRational {
    if elem.is_float() {
        return value;
    }
    let signed = match elem {
        Elem::U8 => Elem::I8,
        Elem::U16 => Elem::I16,
        Elem::U32 => Elem::I32,
        Elem::U64 => Elem::I64,
        signed => signed,
    };
    BigRational::from_integer(constant::wrap(value.to_integer(), signed))
}

impl Poly {
    /// One atom.
    pub fn atom(atom: u16) -> Poly {
        Poly::term(Mono::atom(atom), BigRational::one())
    }

    /// A constant.
    pub fn constant(value: BigRational) -> Poly {
        Poly::term(Mono::default(), value)
    }

    /// One term.
    pub fn term(mono: Mono, coefficient: BigRational) -> Poly {
        Poly(vec![(mono, Rc::new(coefficient))])
    }

    /// From terms in any order, of different monomials; `None` where there are none.
    pub fn collect(mut terms: Vec<(Mono, Coefficient)>) -> Option<Poly> {
        terms.sort_by(|a, b| b.0.cmp(&a.0));
        (!terms.is_empty()).then_some(Poly(terms))
    }

    /// Whether it is a constant.
    pub fn as_constant(&self) -> Option<&BigRational> {
        match &self.0[..] {
            [(mono, value)] if mono.0.is_empty() => Some(value),
            _ => None,
        }
    }

    /// The atom that it is.
    pub fn as_atom(&self) -> Option<u16> {
        match &self.0[..] {
            [(mono, value)] if value.is_one() && mono.degree() == 1 => Some(mono.0[0].0),
            _ => None,
        }
    }

    /// Its negation.
    pub fn negated(&self) -> Poly {
        Poly(self.0.iter().map(|(m, c)| (m.clone(), Rc::new(-&**c))).collect())
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, mono: &Mono) -> Option<&BigRational> {
        self.0.binary_search_by(|t| mono.cmp(&t.0)).ok().map(|at| &*self.0[at].1)
    }

    /// The polynomial or its negation, whichever leads with a positive coefficient, and whether it was negated.
    pub fn normalised(self) -> (Poly, bool) {
        if self.0[0].1.is_negative() { (self.negated(), true) } else { (self, false) }
    }

    /// The sum, unless terms cancel or there are too many.
    pub fn plus(&self, other: &Poly, elem: Elem) -> Option<Poly> {
        let mut out = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Greater,
                (None, Some(_)) => Ordering::Less,
                (Some(a), Some(b)) => a.0.cmp(&b.0),
            };
            match order {
                Ordering::Greater => out.extend(left.next().cloned()),
                Ordering::Less => out.extend(right.next().cloned()),
                Ordering::Equal => {
                    if let (Some(a), Some(b)) = (left.next(), right.next()) {
                        let sum = residue(&*a.1 + &*b.1, elem);
                        if sum.is_zero() {
                            return None;
                        }
                        out.push((a.0.clone(), Rc::new(sum)));
                    }
                }
            }
        }
        (out.len() <= MOST_TERMS).then_some(Poly(out))
    }

    /// The product, unless terms cancel or there are too many.
    pub fn times(&self, other: &Poly, elem: Elem) -> Option<Poly> {
        let degree = |p: &Poly| p.0.iter().map(|t| t.0.degree()).max().unwrap_or(0);
        if self.0.len() * other.0.len() > 4 * MOST_TERMS || degree(self) + degree(other) > MOST_DEGREE {
            return None;
        }
        let mut sum: Option<Poly> = None;
        for (mono, coefficient) in &self.0 {
            let mut row = Vec::with_capacity(other.0.len());
            for (m, c) in &other.0 {
                let value = if coefficient.is_one() {
                    c.clone()
                } else if c.is_one() {
                    coefficient.clone()
                } else {
                    Rc::new(residue(&**coefficient * &**c, elem))
                };
                if value.is_zero() {
                    return None;
                }
                row.push((mono.times(m), value));
            }
            let row = Poly(row);
            sum = Some(match sum {
                None => row,
                Some(sum) => sum.plus(&row, elem)?,
            });
        }
        sum
    }

    /// What is left of the terms when those of `part` (or of its negation) are taken away. `Err` where that is not
    /// wholly in it: a coefficient may shrink towards zero but never pass it, so that nothing is added only to cancel.
    pub fn without(&self, part: &Poly, negated: bool) -> Result<Option<Poly>, ()> {
        let within = |(mono, coefficient): &(Mono, Coefficient)| {
            self.coefficient(mono).is_some_and(|own| own.is_negative() == (coefficient.is_negative() != negated))
        };
        if part.0.len() > self.0.len() || !part.0.iter().all(within) {
            return Err(());
        }
        let mut rest = self.0.clone();
        for (mono, coefficient) in &part.0 {
            let at = rest.binary_search_by(|t| mono.cmp(&t.0)).map_err(|_| ())?;
            let own = &*rest[at].1;
            let left = if negated { own + &**coefficient } else { own - &**coefficient };
            if left.is_zero() {
                rest.remove(at);
            } else if left.is_negative() == own.is_negative() {
                rest[at].1 = Rc::new(left);
            } else {
                return Err(());
            }
        }
        Ok((!rest.is_empty()).then_some(Poly(rest)))
    }

    /// Quotient and remainder by `divisor`, taking away whole multiples only; `None` where no multiple is in it.
    pub fn divide(&self, divisor: &Poly, elem: Elem) -> Option<(Poly, Option<Poly>)> {
        let lead = divisor.0.first()?;
        let mut quotient = Vec::new();
        let possible = |mono: &Mono| {
            mono.over(&lead.0)
                .is_some_and(|f| divisor.0[1..].iter().all(|t| self.coefficient(&f.times(&t.0)).is_some()))
        };
        if !self.0.iter().any(|t| possible(&t.0)) {
            return None;
        }
        let mut rest = Some(self.clone());
        for (mono, _) in &self.0 {
            let Some(factor) = mono.over(&lead.0) else { continue };
            let Some(now) = &rest else { break };
            let Some(coefficient) = now.coefficient(mono) else { continue };
            if !divisor.0[1..].iter().all(|t| now.coefficient(&factor.times(&t.0)).is_some()) {
                continue;
            }
            let scale = coefficient / &*lead.1;
            let whole = if elem.is_float() { constant::is_dyadic(&scale) } else { scale.is_integer() };
            if !whole {
                continue;
            }
            let Some(multiple) = Poly::term(factor.clone(), scale.clone()).times(divisor, elem) else { continue };
            if let Ok(left) = now.without(&multiple, false) {
                rest = left;
                quotient.push((factor, Rc::new(scale)));
            }
        }
        Some((Poly::collect(quotient)?, rest))
    }

    /// The greatest monomial that divides every term.
    pub fn content(&self) -> Mono {
        let first = self.0[0].0.clone();
        self.0[1..].iter().fold(first, |common, term| common.common(&term.0))
    }

    /// Every term over a monomial that divides them all.
    pub fn over(&self, mono: &Mono) -> Option<Poly> {
        self.0.iter().map(|(m, c)| Some((m.over(mono)?, c.clone()))).collect::<Option<Vec<_>>>().map(Poly)
    }

    /// Terms that hold, and the others.
    pub fn split(&self, holds: impl Fn(&(Mono, Coefficient)) -> bool) -> (Option<Poly>, Option<Poly>) {
        let (with, without): (Vec<_>, Vec<_>) = self.0.iter().cloned().partition(|t| holds(t));
        let some = |terms: Vec<_>| (!terms.is_empty()).then_some(Poly(terms));
        (some(with), some(without))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(n: i64) -> BigRational {
        BigRational::from_integer(n.into())
    }

    #[test]
    fn products_expand_and_divide_back() {
        let (a, b, c) = (Poly::atom(0), Poly::atom(1), Poly::atom(2));
        let sum = a.plus(&b, Elem::F32).unwrap();
        let product = sum.times(&c, Elem::F32).unwrap();
        assert_eq!(product.0.len(), 2);
        assert_eq!(product.divide(&sum, Elem::F32), Some((c.clone(), None)));
        let square = sum.times(&sum, Elem::F32).unwrap();
        assert_eq!(square.coefficient(&Mono::atom(0).times(&Mono::atom(1))), Some(&int(2)));
        assert_eq!(square.divide(&sum, Elem::F32), Some((sum, None)));
    }

    #[test]
    fn nothing_cancels() {
        let (a, b) = (Poly::atom(0), Poly::atom(1));
        let sum = a.plus(&b, Elem::F32).unwrap();
        let difference = a.plus(&b.negated(), Elem::F32).unwrap();
        assert_eq!(a.plus(&a.negated(), Elem::F32), None);
        assert_eq!(sum.times(&difference, Elem::F32), None);
        assert_eq!(sum.without(&difference, false), Err(()));
        let half = Poly::constant(int(1 << 16));
        assert_eq!(half.times(&half, Elem::I32), None);
    }
}
