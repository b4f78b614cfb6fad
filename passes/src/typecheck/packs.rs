//! Packs, and the lanes that a stack run computes in.
//!
//! ```text
//! pack P { f32: x; u8: k; }
//! run f(s: stack P) -> stack P:
//!   s with { x: s.x + to_f32(widen(s.k)) }      reads x and, as u32s, k: lanes of 32 bits
//! ```

use super::definitions::{Declarations, Meaning};
use crate::resolve::suggest;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::Span;
use rake_ir::surface::{ExprKind, FieldGroup, Name, Node, StmtKind, TypeKind};
use rake_ir::types::Elem;
use smol_str::SmolStr;
use std::collections::HashMap;

/// A pack's columns in order.
pub type Columns = Vec<(SmolStr, Elem)>;

/// The columns as declared; reports what is no column.
pub fn columns(this: &Declarations, groups: &[FieldGroup], name: Span, out: &mut Vec<Diagnostic>) -> Columns {
    let mut columns = Columns::new();
    let mut first: HashMap<&str, Span> = HashMap::new();
    for group in groups {
        let span = this.file.types[group.ty].span;
        let elem = match &this.file.types[group.ty].kind {
            TypeKind::Scalar(elem) if *elem != Elem::Bool => Some(*elem),
            TypeKind::Error => None,
            _ => {
                let error = Diagnostic::error(Code::InvalidType, span, "a column of a pack holds numbers");
                out.push(error.help("write one of `i8 i16 i32 i64 u8 u16 u32 u64 f32 f64`; truths are kept as `u8`"));
                None
            }
        };
        for field in &group.names {
            if let Some(&first) = first.get(field.text.as_str()) {
                let message = format!("the pack has two fields `{}`", field.text);
                out.push(Diagnostic::error(Code::BoundTwice, field.span, message).label(first, "first here"));
                continue;
            }
            first.insert(&field.text, field.span);
            columns.extend(elem.map(|elem| (field.text.clone(), elem)));
        }
    }
    if groups.is_empty() {
        let error = Diagnostic::error(Code::InvalidType, name, "a pack has at least one field");
        out.push(error.help("write `pack Name { f32: x, y; }`"));
    }
    columns
}

/// The position and element of a column; reports one that there is not.
pub fn column(columns: &Columns, pack: &str, field: &Name) -> Result<(u32, Elem), Box<Diagnostic>> {
    if let Some(at) = columns.iter().position(|(name, _)| *name == field.text) {
        return Ok((at as u32, columns[at].1));
    }
    let message = format!("the pack `{pack}` has no field `{}`", field.text);
    let error = Diagnostic::error(Code::UndefinedName, field.span, message);
    let nearest = suggest::nearest(&field.text, columns.iter().map(|(name, _)| name.as_str()));
    Err(Box::new(match nearest {
        Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
        None => {
            let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
            error.help(format!("it has {}", names.join(", ")))
        }
    }))
}

/// The width of what `widen` makes of a column that a run over no wider lanes reads.
pub fn widened_bits(elem: Elem) -> u32 {
    if elem.bits() < 32 { 32 } else { 64 }
}

impl Declarations<'_> {
    /// The columns of a pack.
    pub fn pack(&self, name: &str) -> Option<&Columns> {
        match self.meanings.get(*self.by_name.get(name)?)? {
            Meaning::Pack(columns) => Some(columns),
            _ => None,
        }
    }

    /// The width of the lanes of a stack run: of the widest element that it reads, writes, widens to or computes.
    pub fn domain(&self, function: &rake_ir::surface::Function) -> u32 {
        let file = self.file;
        let stacks: HashMap<&str, &Columns> = function
            .params
            .iter()
            .filter_map(|param| match &file.types[param.ty].kind {
                TypeKind::Stack(pack) => Some((param.name.text.as_str(), self.pack(&pack.text)?)),
                _ => None,
            })
            .collect();
        let elem =
            |stack: &str, field: &str| stacks.get(stack)?.iter().find(|(name, _)| name == field).map(|(_, elem)| *elem);
        let mut bits = 0;
        let mut nodes: Vec<Node> = function.body.stmts.iter().map(|&stmt| Node::Stmt(stmt)).collect();
        while let Some(node) = nodes.pop() {
            nodes.extend(file.children(node));
            let width = match node {
                Node::Expr(id) => match &file.exprs[id].kind {
                    ExprKind::Field { base, field } => match &file.exprs[*base].kind {
                        ExprKind::Name(stack) => elem(stack, &field.text).map(Elem::bits),
                        _ => None,
                    },
                    ExprKind::Call { callee, args, .. } => match (callee.text.as_str(), &args[..]) {
                        ("to_f32" | "to_i32" | "to_u32", _) => Some(32),
                        ("widen", &[arg]) => match &file.exprs[arg].kind {
                            ExprKind::Field { base, field } => match &file.exprs[*base].kind {
                                ExprKind::Name(stack) => elem(stack, &field.text).map(widened_bits),
                                _ => None,
                            },
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                },
                Node::Type(id) => match file.types[id].kind {
                    TypeKind::Rack(elem) => Some(elem.bits()),
                    _ => None,
                },
                Node::Stmt(id) => match &file.stmts[id].kind {
                    StmtKind::With { stack, fields, .. } => {
                        fields.iter().filter_map(|field| elem(&stack.text, &field.name.text)).map(Elem::bits).max()
                    }
                    StmtKind::Compact { stack, .. } => {
                        stacks.get(stack.text.as_str()).and_then(|all| all.iter().map(|(_, elem)| elem.bits()).max())
                    }
                    _ => None,
                },
            };
            bits = bits.max(width.unwrap_or(0));
        }
        if bits == 0 { 32 } else { bits }
    }
}
