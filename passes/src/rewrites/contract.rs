//! Contraction: a product and a sum as one operation with one rounding, in the four signs that the machines have.
//! Used only on profiles with a fused multiply-add. An explicit `fma` is an operation of its own and never matches.

use super::Class::Contract;
use super::On::Float;
use super::{Rule, rule};

/// The rows.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("contract-add", Contract, Float, "(add (mul ?a ?b) ?c)", "(mul_add ?a ?b ?c)"),
    rule("contract-sub", Contract, Float, "(sub (mul ?a ?b) ?c)", "(mul_sub ?a ?b ?c)"),
    rule("contract-sub-from", Contract, Float, "(sub ?c (mul ?a ?b))", "(neg_mul_add ?a ?b ?c)"),
    rule("contract-negated-sub", Contract, Float, "(sub (neg (mul ?a ?b)) ?c)", "(neg_mul_sub ?a ?b ?c)"),
];
