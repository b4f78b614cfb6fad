//! Bit operations on integers.

use super::Class::Exact;
use super::On::Int;
use super::{Rule, rule};

/// The rows.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule("commute-bit-and", Exact, Int, "(bit_and ?a ?b)", "(bit_and ?b ?a)"),
    rule("commute-bit-or", Exact, Int, "(bit_or ?a ?b)", "(bit_or ?b ?a)"),
    rule("commute-bit-xor", Exact, Int, "(bit_xor ?a ?b)", "(bit_xor ?b ?a)"),
    rule("bit-and-of-one", Exact, Int, "(bit_and ?a ?a)", "?a"),
    rule("bit-or-of-one", Exact, Int, "(bit_or ?a ?a)", "?a"),
    rule("bit-and-complement", Exact, Int, "(bit_and ?a (bit_xor ?b -1))", "(bit_andnot ?a ?b)"),
    rule("complement-twice", Exact, Int, "(bit_xor (bit_xor ?a -1) -1)", "?a"),
    rule("factor-bit-or", Exact, Int, "(bit_or (bit_and ?a ?b) (bit_and ?a ?c))", "(bit_and ?a (bit_or ?b ?c))"),
    rule("factor-bit-xor", Exact, Int, "(bit_xor (bit_and ?a ?b) (bit_and ?a ?c))", "(bit_and ?a (bit_xor ?b ?c))"),
    rule("neither-bit", Exact, Int, "(bit_and (bit_xor ?a -1) (bit_xor ?b -1))", "(bit_xor (bit_or ?a ?b) -1)"),
];
