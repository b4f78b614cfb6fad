//! Tests of the lexer, the layout and the parser. Expected trees are written by hand.

mod grammar;
mod lexical;
mod recovery;
mod robustness;

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::{FileId, Source};
use rake_ir::surface::{self, File, print_expr};

/// The whole vector part, the whole slow tier, and a program of both.
pub const SAMPLES: [&str; 3] =
    [include_str!("samples/vector.rk"), include_str!("samples/slow.rk"), include_str!("samples/whole.rk")];

pub fn source(text: impl Into<Vec<u8>>) -> Source {
    Source::new(FileId(0), "test.rk", text.into())
}

/// The tree of a text that must parse.
#[track_caller]
pub fn accept(text: &str) -> File {
    let (file, diagnostics) = super::parse(&source(text));
    let brief: Vec<_> = diagnostics.iter().map(|diagnostic| (diagnostic.span(), &diagnostic.message)).collect();
    assert!(brief.is_empty(), "{text}\n{brief:?}");
    assert_eq!(file.check(), Ok(()), "{text}");
    file
}

pub fn errors(text: impl Into<Vec<u8>>) -> Vec<Diagnostic> {
    super::parse(&source(text)).1
}

/// Codes with `line:column`, for a text that must be rejected.
pub fn complaints(text: impl Into<Vec<u8>>) -> Vec<(Code, u32, u32)> {
    let source = source(text);
    let place = |diagnostic: &Diagnostic| {
        let at = source.line_column(diagnostic.span().expect("a parse error has a place").start);
        (diagnostic.code, at.line, at.column)
    };
    super::parse(&source).1.iter().map(place).collect()
}

/// The tree of an expression, as canonical text with every binary operator's operands in brackets.
#[track_caller]
pub fn tree(expr: &str) -> String {
    let file = accept(&format!("const c: i32 = {expr}\n"));
    match file.defs[0].kind {
        surface::DefKind::Const { value, .. } => bracketed(&file, value),
        _ => panic!("not a constant"),
    }
}

fn bracketed(file: &File, expr: surface::ExprId) -> String {
    use surface::ExprKind::*;
    match &file.exprs[expr].kind {
        Binary { op, left, right, .. } => {
            format!("[{} {} {}]", bracketed(file, *left), op.as_str(), bracketed(file, *right))
        }
        Unary { op, operand } => format!("[{} {}]", op.as_str(), bracketed(file, *operand)),
        Gaps(base) => format!("[{} gaps]", bracketed(file, *base)),
        Mark(inner) => format!("<{}>", bracketed(file, *inner)),
        If { condition, then, otherwise } => {
            format!("[if {} {} {}]", bracketed(file, *condition), bracketed(file, *then), bracketed(file, *otherwise))
        }
        _ => print_expr(file, expr),
    }
}

/// The tree of a file, comments and spans aside.
pub fn shape(file: &File) -> String {
    surface::dump(file, false)
}
