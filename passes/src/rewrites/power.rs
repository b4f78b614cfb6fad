//! Rewrites by an exact power of two: division of floats, multiplication of integers. Both are bit-exact.

use super::language::{Children, Constants, Graph, Head, Node, Payload};
use super::{Class, Compiled, Growth, Ops, constant, pattern};
use egg::{Applier, Id, Pattern, PatternAst, Rewrite, Subst, Symbol, Var};
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{Imm, Op};
use rake_ir::types::Ty;

/// `x / 2^n` is `x * 2^-n`: the same real number, rounded once either way.
pub const DIVIDE: &str = "divide-by-power-of-two";
/// `x * 2^n` is a shift, modulo 2^w.
pub const SHIFT: &str = "multiply-is-shift";

struct Power {
    ty: Ty,
    value: Var,
    by: Var,
}

/// The exact reciprocal, where multiplying by it gives the same bits as dividing: a power of two whose reciprocal is a
/// normal number.
pub fn reciprocal(divisor: &BigRational, ty: Ty) -> Option<BigRational> {
    constant::power_of_two(divisor)?;
    constant::combined(divisor.recip(), ty.elem(), FuseLevel::Exact)
}

/// The shift count that multiplies by the constant.
pub fn shift_count(factor: &BigRational, ty: Ty) -> Option<u32> {
    let count = constant::power_of_two(factor)?;
    let fits = count >= 1 && count < i64::from(ty.elem().bits()) && !factor.is_zero();
    let top = count == i64::from(ty.elem().bits()) - 1;
    (fits && (factor.is_positive() || top)).then_some(count as u32)
}

impl Applier<Node, Constants> for Power {
    fn apply_one(
        &self,
        graph: &mut Graph,
        class: Id,
        subst: &Subst,
        _: Option<&PatternAst<Node>>,
        rule: Symbol,
    ) -> Vec<Id> {
        let value = subst[self.value];
        let Some(by) = graph[subst[self.by]].data.as_ref().and_then(Node::exact).cloned() else { return vec![] };
        let from = if self.ty.elem().is_float() { Op::Div } else { Op::Mul };
        let made = if self.ty.elem().is_float() {
            let Some(reciprocal) = reciprocal(&by, self.ty) else { return vec![] };
            let reciprocal = graph.add(Node::constant(reciprocal, self.ty));
            Node::op(Op::Mul, self.ty, &[value, reciprocal])
        } else {
            let Some(count) = shift_count(&by, self.ty) else { return vec![] };
            Node {
                head: Head::Op(Op::ShiftBitsLeft),
                ty: self.ty,
                payload: Payload::Imm(Imm::Int(count)),
                args: Children::from_slice(&[value]),
            }
        };
        let source = graph.add_uncanonical(Node::op(from, self.ty, &[value, subst[self.by]]));
        let made = graph.add_uncanonical(made);
        if graph.union_trusted(source, made, rule) { vec![class] } else { vec![] }
    }
}

/// The operations that the rewrites of this file find, and that they make.
pub fn ops(ty: Ty) -> (Ops, Ops) {
    let (from, to) = if ty.elem().is_float() { (Op::Div, Op::Mul) } else { (Op::Mul, Op::ShiftBitsLeft) };
    let (mut found, mut made) = (Ops::default(), Ops::default());
    [from, Op::Const].into_iter().for_each(|op| found.insert(op));
    made.insert(to);
    (found, made)
}

/// The rewrites of this file for a type.
pub fn compiled(ty: Ty) -> Vec<Compiled> {
    let class = ty.elem();
    let (name, text) = match (class.is_float(), class.is_int()) {
        (true, _) => (DIVIDE, "(div ?a ?k)"),
        (_, true) => (SHIFT, "(mul ?a ?k)"),
        _ => return vec![],
    };
    let applier = Power { ty, value: pattern::var("?a"), by: pattern::var("?k") };
    let searcher = Pattern::new(pattern::parse(text, ty));
    Rewrite::new(name, searcher, applier)
        .map(|rewrite| vec![Compiled { class: Class::Exact, growth: Growth::Small, rewrite }])
        .unwrap_or_default()
}
