//! Sums and products. Over integers every row is exact; over floats the class says which.

use super::Class::{Exact, Real};
use super::On::{Float, Number, Signed};
use super::{Rule, equal, growing, rule};

/// The rows.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("commute-add", Exact, Number, "(add ?a ?b)", "(add ?b ?a)"),
    rule("commute-mul", Exact, Number, "(mul ?a ?b)", "(mul ?b ?a)"),
    equal("subtract-is-add-negated", Exact, Signed, "(sub ?a ?b)", "(add ?a (neg ?b))"),
    rule("subtract-negated", Exact, Signed, "(sub ?a (neg ?b))", "(add ?a ?b)"),
    rule("negate-twice", Exact, Signed, "(neg (neg ?a))", "?a"),
    equal("negated-factor", Exact, Signed, "(mul (neg ?a) ?b)", "(neg (mul ?a ?b))"),
    rule("negated-constant-factor", Exact, Signed, "(neg (mul ?a ?k))", "(mul ?a (neg ?k))"),
    rule("times-one", Exact, Number, "(mul ?a 1)", "?a"),
    equal("times-minus-one", Exact, Signed, "(mul ?a -1)", "(neg ?a)"),
    equal("double", Exact, Number, "(mul ?a 2)", "(add ?a ?a)"),
    equal("negated-dividend", Exact, Float, "(div (neg ?a) ?b)", "(neg (div ?a ?b))"),
    equal("negated-divisor", Exact, Float, "(div ?a (neg ?b))", "(neg (div ?a ?b))"),
    rule("negated-difference", Real, Signed, "(neg (sub ?a ?b))", "(sub ?b ?a)"),
    equal("negated-sum", Real, Signed, "(neg (add ?a ?b))", "(sub (neg ?a) ?b)"),
    rule("factor-sum", Real, Number, "(add (mul ?a ?b) (mul ?a ?c))", "(mul ?a (add ?b ?c))"),
    rule("factor-difference", Real, Number, "(sub (mul ?a ?b) (mul ?a ?c))", "(mul ?a (sub ?b ?c))"),
    rule("collect-one-more", Real, Number, "(add (mul ?a ?k) ?a)", "(mul ?a (add ?k 1))"),
    rule("collect-one-less", Real, Number, "(sub (mul ?a ?k) ?a)", "(mul ?a (sub ?k 1))"),
    rule("collect-less", Real, Number, "(sub ?a (mul ?a ?k))", "(mul ?a (sub 1 ?k))"),
    rule("combine-factors", Real, Number, "(mul (mul ?a ?k) ?l)", "(mul ?a (mul ?k ?l))"),
    rule("combine-terms", Real, Number, "(add (add ?a ?k) ?l)", "(add ?a (add ?k ?l))"),
    growing(equal("associate-mul", Real, Number, "(mul (mul ?a ?b) ?c)", "(mul ?a (mul ?b ?c))")),
    growing(equal("associate-add", Real, Number, "(add (add ?a ?b) ?c)", "(add ?a (add ?b ?c))")),
    growing(equal("associate-sub", Real, Number, "(sub (add ?a ?b) ?c)", "(add ?a (sub ?b ?c))")),
    growing(equal("subtract-sum", Real, Number, "(sub ?a (add ?b ?c))", "(sub (sub ?a ?b) ?c)")),
    growing(equal("subtract-difference", Real, Number, "(sub ?a (sub ?b ?c))", "(add (sub ?a ?b) ?c)")),
    growing(rule("distribute-sum", Real, Number, "(mul ?a (add ?b ?c))", "(add (mul ?a ?b) (mul ?a ?c))")),
    growing(rule("distribute-difference", Real, Number, "(mul ?a (sub ?b ?c))", "(sub (mul ?a ?b) (mul ?a ?c))")),
];
