//! The rewrites of fused regions: one named line each, compiled once per type for the whole process.
//!
//! A row is a pair of patterns over one type `T`: arithmetic is of type `T`, comparisons and mask logic of `T`'s truth.
//! `?a ?b ?c ?d ?e ?f` match anything, `?k ?l` match constants only, and numbers are constants of type `T`. The class says
//! what the rewrite keeps for floats; over integers every row is exact modulo 2^w.

pub mod bits;
pub mod compare;
pub mod constant;
pub mod contract;
pub mod language;
mod pattern;
pub mod power;
pub mod ring;

use egg::Rewrite;
use language::{Constants, Node};
use rake_ir::lane::FuseLevel;
use rake_ir::types::{Elem, ElemClass, Ty};
use std::sync::OnceLock;

/// What a rewrite keeps, for floats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Every bit, NaN payloads and signs aside.
    Exact,
    /// The value before rounding: a product and a sum round once instead of twice.
    Contract,
    /// The value over the real numbers.
    Real,
}

impl Class {
    /// Whether a region of this freedom may use the class.
    pub const fn allowed(self, level: FuseLevel) -> bool {
        match self {
            Class::Exact => true,
            Class::Contract => !matches!(level, FuseLevel::Exact),
            Class::Real => matches!(level, FuseLevel::Full),
        }
    }
}

/// The types that a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// Floats.
    Float,
    /// Floats and signed integers: what has a negation.
    Signed,
    /// Integers.
    Int,
    /// Floats and integers.
    Number,
    /// Masks and uniform `bool`s.
    Truth,
}

impl On {
    /// Whether rows of this kind hold for the type.
    pub fn holds(self, ty: Ty) -> bool {
        let class = ty.elem().class();
        match self {
            On::Float => class == ElemClass::Float,
            On::Signed => matches!(class, ElemClass::Float | ElemClass::Signed),
            On::Int => matches!(class, ElemClass::Signed | ElemClass::Unsigned),
            On::Number => class != ElemClass::Bool,
            On::Truth => class == ElemClass::Bool,
        }
    }
}

/// How fast a row makes the graph grow; large regions leave the greedy rows to the seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// A bounded number of new nodes.
    Small,
    /// Associativity, distribution: exponential when left alone.
    Large,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, in reports and chains.
    pub name: &'static str,
    /// What it keeps, for floats.
    pub class: Class,
    /// The types it is about.
    pub on: On,
    /// How it grows the graph.
    pub growth: Growth,
    /// The pattern it finds.
    pub from: &'static str,
    /// What equals it.
    pub to: &'static str,
    /// Whether it is also used from right to left.
    pub both: bool,
}

/// A row from left to right.
pub const fn rule(name: &'static str, class: Class, on: On, from: &'static str, to: &'static str) -> Rule {
    Rule { name, class, on, growth: Growth::Small, from, to, both: false }
}

/// A row in both directions.
pub const fn equal(name: &'static str, class: Class, on: On, from: &'static str, to: &'static str) -> Rule {
    Rule { both: true, ..rule(name, class, on, from, to) }
}

/// The same row, as one that grows the graph.
pub const fn growing(row: Rule) -> Rule {
    Rule { growth: Growth::Large, ..row }
}

/// Every row, file by file.
pub fn rows() -> impl Iterator<Item = &'static Rule> {
    [ring::RULES, contract::RULES, compare::RULES, bits::RULES].into_iter().flatten()
}

/// A row compiled for one type and direction.
pub struct Compiled {
    /// What it keeps for this type.
    pub class: Class,
    /// How it grows the graph.
    pub growth: Growth,
    /// The rewrite.
    pub rewrite: Rewrite<Node, Constants>,
}

const TYPES: usize = 26;

fn index(ty: Ty) -> usize {
    match ty {
        Ty::Rack(elem) => elem as usize,
        Ty::Uniform(elem) => 11 + elem as usize,
        Ty::Mask(width) => 22 + (width.trailing_zeros() as usize).saturating_sub(3).min(3),
    }
}

/// The class of a row for an element: over integers all are exact.
pub const fn class_for(class: Class, elem: Elem) -> Class {
    if elem.is_float() { class } else { Class::Exact }
}

/// All rows for a type, compiled on first use and shared by the process.
pub fn compiled(ty: Ty) -> &'static [Compiled] {
    static TABLE: [OnceLock<Vec<Compiled>>; TYPES] = [const { OnceLock::new() }; TYPES];
    TABLE[index(ty)].get_or_init(|| {
        let mut all = Vec::new();
        for row in rows().filter(|row| row.on.holds(ty)) {
            let class = class_for(row.class, ty.elem());
            let ways = [(row.from, row.to, true), (row.to, row.from, row.both)];
            for (from, to, _) in ways.into_iter().filter(|way| way.2) {
                all.push(Compiled { class, growth: row.growth, rewrite: pattern::rewrite(row.name, from, to, ty) });
            }
        }
        all.extend(power::compiled(ty));
        all
    })
}

#[cfg(test)]
mod tests;
