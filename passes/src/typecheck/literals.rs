//! Literals: which expressions take their type from their neighbours, and the bits of a number in a type.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::number::{self, LiteralError};
use rake_ir::ops::{Op, TypeRule};
use rake_ir::span::Span;
use rake_ir::surface::{BinaryOp, ExprId, ExprKind, File, Number, UnaryOp};
use rake_ir::types::Elem;
use std::collections::HashMap;

/// What an expression made of literals only looks like on its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Some leaf has a type of its own.
    Typed,
    /// Integer literals and `@` only.
    Integer,
    /// Literals, some of them floats.
    Float,
}

/// For each expression of a file, whether it is made of literals only.
pub struct Flexible(Vec<Look>);

impl Flexible {
    /// One pass over the arena, in which operands stand before their users.
    pub fn of(file: &File, defs: &HashMap<&str, usize>) -> Flexible {
        let mut this = Flexible(Vec::with_capacity(file.exprs.len()));
        for (_, expr) in file.exprs.iter() {
            let look = match &expr.kind {
                ExprKind::Number(number) if number.float => Look::Float,
                ExprKind::Number(_) | ExprKind::LaneIndex => Look::Integer,
                ExprKind::Mark(inner) | ExprKind::Unary { op: UnaryOp::Neg, operand: inner } => this.look(*inner),
                ExprKind::Binary {
                    op: BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div,
                    left,
                    right,
                    ..
                } => this.all([*left, *right]),
                ExprKind::If { then, otherwise, .. } => this.all([*then, *otherwise]),
                ExprKind::Call { callee, args, .. } if !defs.contains_key(callee.text.as_str()) => {
                    match Op::from_call(&callee.text).map(|op| op.info().types) {
                        Some(TypeRule::Same(_)) => this.all(args.iter().copied()),
                        Some(TypeRule::Choose) => this.all(args.iter().skip(1).copied()),
                        Some(TypeRule::Shift) => this.all(args.iter().take(1).copied()),
                        _ => Look::Typed,
                    }
                }
                _ => Look::Typed,
            };
            this.0.push(look);
        }
        this
    }

    /// What the expression looks like.
    pub fn look(&self, expr: ExprId) -> Look {
        let index = u32::from(expr.into_raw()) as usize;
        self.0.get(index).copied().unwrap_or(Look::Typed)
    }

    /// What several expressions look like together.
    pub fn all(&self, exprs: impl IntoIterator<Item = ExprId>) -> Look {
        let looks = exprs.into_iter().map(|expr| self.look(expr));
        looks.reduce(meet).unwrap_or(Look::Typed)
    }

    /// The element that the expression takes when nothing beside it has one.
    pub fn default(&self, expr: ExprId) -> Option<Elem> {
        default(self.look(expr))
    }
}

/// The element of literals that stand alone.
pub fn default(look: Look) -> Option<Elem> {
    match look {
        Look::Typed => None,
        Look::Integer => Some(Elem::I32),
        Look::Float => Some(Elem::F32),
    }
}

fn meet(a: Look, b: Look) -> Look {
    match (a, b) {
        (Look::Typed, _) | (_, Look::Typed) => Look::Typed,
        (Look::Float, _) | (_, Look::Float) => Look::Float,
        _ => Look::Integer,
    }
}

/// The literal's bits in `elem`, or the error to report.
pub fn bits(literal: &Number, elem: Elem, span: Span) -> Result<u64, Box<Diagnostic>> {
    let sign = if literal.negative { "-" } else { "" };
    let long = literal.text.len() > 40;
    let shown = if long { format!("{sign}{}...", &literal.text[..32]) } else { format!("{sign}{}", literal.text) };
    number::bits(literal, elem).map_err(|error| {
        let diagnostic = match error {
            LiteralError::Range => {
                let message = format!("{shown} does not fit {elem}, which holds {}", number::range_words(elem));
                Diagnostic::error(Code::LiteralRange, span, message)
            }
            LiteralError::Kind => {
                let kind = if literal.float { "a float" } else { "an integer" };
                let error = Diagnostic::error(
                    Code::LiteralKind,
                    span,
                    format!("{shown} is {kind} literal where {elem} is needed"),
                );
                let whole = shown.split_once('.').filter(|(_, rest)| rest.bytes().all(|b| b == b'0'));
                match (elem.is_float() && !literal.text.starts_with("0x"), whole) {
                    _ if long => error,
                    _ if elem == Elem::Bool => error.help("write a comparison, `true` or `false`"),
                    (true, _) => error.help(format!("write `{shown}.0`")),
                    (false, Some((whole, _))) => error.help(format!("write `{whole}`")),
                    (false, None) => error,
                }
            }
        };
        Box::new(diagnostic)
    })
}
