//! Reads the pattern language of the rule rows into egg's patterns over one type.

use super::constant;
use super::language::{Constants, Graph, Node};
use egg::{ConditionalApplier, ENodeOrVar, Id, Pattern, PatternAst, RecExpr, Rewrite, Subst, Var};
use num_rational::BigRational;
use num_traits::Zero;
use rake_ir::ops::{Op, TypeRule};
use rake_ir::types::Ty;
use smallvec::SmallVec;

/// Variables that match only constants.
pub const CONSTANTS: [&str; 2] = ["?k", "?l"];

/// The type of an operation in a row about `ty`; a comparison's is what it compares.
pub fn type_of(op: Op, ty: Ty) -> Ty {
    match op.info().types {
        TypeRule::Truth => ty.truth(),
        _ => ty,
    }
}

/// The variable with this name.
pub fn var(name: &str) -> Var {
    name.parse().expect("a variable of a built-in row starts with `?`")
}

fn tokens(text: &str) -> Vec<String> {
    text.replace('(', " ( ").replace(')', " ) ").split_whitespace().map(str::to_owned).collect()
}

/// Reads one term; rows are built in, so a malformed one is a fault of this compiler and found by a test.
fn term(tokens: &mut std::slice::Iter<'_, String>, ty: Ty, out: &mut PatternAst<Node>) -> Id {
    let token = tokens.next().expect("a row ends early");
    if token.starts_with('?') {
        return out.add(ENodeOrVar::Var(var(token)));
    }
    if token != "(" {
        let number: i64 = token.parse().expect("a row holds an unknown word");
        let value = BigRational::from_integer(number.into());
        let value = if ty.elem().is_float() {
            value
        } else {
            BigRational::from_integer(constant::wrap(value.to_integer(), ty.elem()))
        };
        return out.add(ENodeOrVar::ENode(Node::constant(value, ty)));
    }
    let name = tokens.next().expect("a row ends early");
    let op = Op::from_name(name).expect("a row names an unknown operation");
    let mut args: SmallVec<[Id; 3]> = SmallVec::new();
    while tokens.as_slice().first().is_some_and(|t| t != ")") {
        args.push(term(tokens, ty, out));
    }
    tokens.next();
    out.add(ENodeOrVar::ENode(Node::op(op, type_of(op, ty), &args)))
}

/// The pattern that the text describes.
pub fn parse(text: &str, ty: Ty) -> PatternAst<Node> {
    let tokens = tokens(text);
    let mut out = RecExpr::default();
    term(&mut tokens.iter(), ty, &mut out);
    out
}

/// Whether the constant variables are bound to constants, and what `to` combines them into is not refused.
fn constants_fit(graph: &Graph, to: &PatternAst<Node>, subst: &Subst) -> bool {
    let mut values: Vec<Option<BigRational>> = Vec::with_capacity(to.len());
    for node in to.iter() {
        let value = match node {
            ENodeOrVar::Var(v) => {
                let bound = subst.get(*v).and_then(|id| graph[*id].data.as_ref()).and_then(Node::exact);
                if bound.is_none() && CONSTANTS.iter().any(|name| var(name) == *v) {
                    return false;
                }
                bound.map(|value| (**value).clone())
            }
            ENodeOrVar::ENode(node) => match node.exact() {
                Some(value) => Some((**value).clone()),
                None => match combine(node, &values, graph) {
                    Combined::Refused => return false,
                    Combined::Number(value) => Some(value),
                    Combined::NotConstant => None,
                },
            },
        };
        values.push(value);
    }
    true
}

enum Combined {
    Refused,
    Number(BigRational),
    NotConstant,
}

fn combine(node: &Node, values: &[Option<BigRational>], graph: &Graph) -> Combined {
    let operand = |n: usize| node.args.get(n).and_then(|&id| values[usize::from(id)].as_ref());
    let value = match (node.as_op(), operand(0), operand(1)) {
        (Some(Op::Add), Some(a), Some(b)) => a + b,
        (Some(Op::Sub), Some(a), Some(b)) => a - b,
        (Some(Op::Mul), Some(a), Some(b)) => a * b,
        _ => return Combined::NotConstant,
    };
    if value.is_zero() {
        return Combined::Refused;
    }
    match constant::combined(value, node.ty.elem(), graph.analysis.level) {
        Some(value) => Combined::Number(value),
        None => Combined::Refused,
    }
}

/// Whether the right side adds or multiplies two operands that could both be constants.
fn may_combine(to: &PatternAst<Node>) -> bool {
    let leaf = |id: &Id| match &to[*id] {
        ENodeOrVar::Var(_) => true,
        ENodeOrVar::ENode(node) => node.exact().is_some() || node.args.len() == 2,
    };
    to.iter().any(|node| match node {
        ENodeOrVar::ENode(n) => matches!(n.as_op(), Some(Op::Add | Op::Sub | Op::Mul)) && n.args.iter().all(leaf),
        ENodeOrVar::Var(_) => false,
    })
}

/// The rewrite of one direction of a row.
pub fn rewrite(name: &str, from: &str, to: &str, ty: Ty) -> Rewrite<Node, Constants> {
    let searcher = Pattern::new(parse(from, ty));
    let target = parse(to, ty);
    let guarded = CONSTANTS.iter().any(|v| from.contains(v)) || may_combine(&target);
    let made = if guarded {
        let ast = target.clone();
        let condition = move |graph: &mut Graph, _: Id, subst: &Subst| constants_fit(graph, &ast, subst);
        Rewrite::new(name, searcher, ConditionalApplier { condition, applier: Pattern::new(target) })
    } else {
        Rewrite::new(name, searcher, Pattern::new(target))
    };
    made.expect("a row's right side uses a variable that its left side binds")
}
