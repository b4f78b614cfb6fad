//! Comparisons, minima, magnitudes, selects and mask logic: bit-exact rows only.

use super::Class::Exact;
use super::On::{Float, Int, Number, Signed, Truth};
use super::{Rule, equal, rule};

/// The rows.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    equal("mirror-less", Exact, Number, "(lt ?a ?b)", "(gt ?b ?a)"),
    equal("mirror-less-or-equal", Exact, Number, "(le ?a ?b)", "(ge ?b ?a)"),
    rule("commute-equal", Exact, Number, "(eq ?a ?b)", "(eq ?b ?a)"),
    rule("commute-unequal", Exact, Number, "(ne ?a ?b)", "(ne ?b ?a)"),
    equal("not-less", Exact, Int, "(not (lt ?a ?b))", "(ge ?a ?b)"),
    equal("not-greater", Exact, Int, "(not (gt ?a ?b))", "(le ?a ?b)"),
    equal("not-equal", Exact, Int, "(not (eq ?a ?b))", "(ne ?a ?b)"),
    rule("commute-min", Exact, Number, "(min ?a ?b)", "(min ?b ?a)"),
    rule("commute-max", Exact, Number, "(max ?a ?b)", "(max ?b ?a)"),
    rule("min-of-one", Exact, Number, "(min ?a ?a)", "?a"),
    rule("max-of-one", Exact, Number, "(max ?a ?a)", "?a"),
    rule("min-of-negated", Exact, Float, "(min (neg ?a) (neg ?b))", "(neg (max ?a ?b))"),
    rule("max-of-negated", Exact, Float, "(max (neg ?a) (neg ?b))", "(neg (min ?a ?b))"),
    rule("magnitude-of-negated", Exact, Signed, "(abs (neg ?a))", "(abs ?a)"),
    rule("magnitude-twice", Exact, Signed, "(abs (abs ?a))", "(abs ?a)"),
    rule("magnitude-of-product", Exact, Float, "(mul (abs ?a) (abs ?b))", "(abs (mul ?a ?b))"),
    rule("select-not", Exact, Number, "(select (not ?m) ?a ?b)", "(select ?m ?b ?a)"),
    rule("if-not", Exact, Number, "(if (not ?m) ?a ?b)", "(if ?m ?b ?a)"),
    rule("commute-and", Exact, Truth, "(and ?a ?b)", "(and ?b ?a)"),
    rule("commute-or", Exact, Truth, "(or ?a ?b)", "(or ?b ?a)"),
    rule("and-of-one", Exact, Truth, "(and ?a ?a)", "?a"),
    rule("or-of-one", Exact, Truth, "(or ?a ?a)", "?a"),
    rule("not-twice", Exact, Truth, "(not (not ?a))", "?a"),
    rule("neither", Exact, Truth, "(and (not ?a) (not ?b))", "(not (or ?a ?b))"),
    rule("not-both", Exact, Truth, "(or (not ?a) (not ?b))", "(not (and ?a ?b))"),
    rule("factor-and", Exact, Truth, "(or (and ?a ?b) (and ?a ?c))", "(and ?a (or ?b ?c))"),
];
