//! The rewrites of fused regions: one named line each, compiled on first use and once per type for the whole process.
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
use rake_ir::ops::Op;
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

/// A set of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ops(u128);

const _: () = assert!(rake_ir::ops::OPS.len() <= 128);

impl Ops {
    /// Adds one.
    pub const fn insert(&mut self, op: Op) {
        self.0 |= 1 << op as u32;
    }

    /// Whether all of these are in `other`.
    pub const fn within(self, other: Ops) -> bool {
        self.0 & !other.0 == 0
    }

    /// The operations of a pattern; of a number or `?k`, the constant.
    fn of_pattern(text: &str) -> Ops {
        let mut ops = Ops::default();
        for word in text.split(['(', ')', ' ']).filter(|word| !word.is_empty()) {
            if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) || pattern::CONSTANTS.contains(&word) {
                ops.insert(Op::Const);
            } else if let Some(op) = Op::from_name(word) {
                ops.insert(op);
            }
        }
        ops
    }
}

/// A row in one direction.
struct Way {
    rule: &'static Rule,
    /// From right to left.
    backward: bool,
    finds: Ops,
    makes: Ops,
}

impl Way {
    fn compile(&self, ty: Ty) -> Compiled {
        let rule = self.rule;
        let (from, to) = if self.backward { (rule.to, rule.from) } else { (rule.from, rule.to) };
        Compiled {
            class: class_for(rule.class, ty.elem()),
            growth: rule.growth,
            rewrite: pattern::rewrite(rule.name, from, to, ty),
        }
    }
}

/// Every row in each of its directions.
fn ways() -> &'static [Way] {
    static WAYS: OnceLock<Vec<Way>> = OnceLock::new();
    WAYS.get_or_init(|| {
        let mut all = Vec::new();
        for rule in rows() {
            let (left, right) = (Ops::of_pattern(rule.from), Ops::of_pattern(rule.to));
            all.push(Way { rule, backward: false, finds: left, makes: right });
            if rule.both {
                all.push(Way { rule, backward: true, finds: right, makes: left });
            }
        }
        all
    })
}

const TYPES: usize = 27;

fn index(ty: Ty) -> usize {
    match ty {
        Ty::Rack(elem) => elem as usize,
        Ty::Uniform(elem) => 11 + elem as usize,
        Ty::Mask(width) => 22 + (width.trailing_zeros() as usize).saturating_sub(3).min(3),
        Ty::Address => 26,
    }
}

/// The class of a row for an element: over integers all are exact.
pub const fn class_for(class: Class, elem: Elem) -> Class {
    if elem.is_float() { class } else { Class::Exact }
}

/// The rows for a type that can ever match a graph with these operations, among those whose class and growth suit. Each
/// is compiled on first use and shared by the process.
pub fn applicable(ty: Ty, present: Ops, suits: impl Fn(Class, Growth) -> bool) -> Vec<&'static Compiled> {
    static TABLE: [OnceLock<Vec<OnceLock<Compiled>>>; TYPES] = [const { OnceLock::new() }; TYPES];
    static POWERS: [OnceLock<Vec<Compiled>>; TYPES] = [const { OnceLock::new() }; TYPES];
    let ways = ways();
    let class = |way: &Way| class_for(way.rule.class, ty.elem());
    let usable = |way: &Way| way.rule.on.holds(ty) && suits(class(way), way.rule.growth);
    let (found, made) = power::ops(ty);
    let mut reachable = present;
    loop {
        let before = reachable;
        for way in ways.iter().filter(|way| usable(way) && way.finds.within(before)) {
            reachable.0 |= way.makes.0;
        }
        if found.within(reachable) {
            reachable.0 |= made.0;
        }
        if reachable == before {
            break;
        }
    }
    let table = TABLE[index(ty)].get_or_init(|| ways.iter().map(|_| OnceLock::new()).collect());
    let rows = ways.iter().zip(table).filter(|(way, _)| usable(way) && way.finds.within(reachable));
    let mut all: Vec<&Compiled> = rows.map(|(way, row)| row.get_or_init(|| way.compile(ty))).collect();
    if found.within(reachable) && suits(Class::Exact, Growth::Small) {
        all.extend(POWERS[index(ty)].get_or_init(|| power::compiled(ty)));
    }
    all
}

#[cfg(test)]
mod tests;
