//! Prints `surface` as an indented tree, one node a line, for `--emit-ast`.
//!
//! Types stand on one line as written. A chain of binary operators is one `chain` node: its first operand, then each
//! operator with its right operand, applied from the left.

use std::fmt::Write;

use super::{
    Block, Def, DefKind, ExprId, ExprKind, FieldGroup, FieldInit, File, Function, Loop, Param, Stmt, StmtId, StmtKind,
    TypeId, print_type,
};
use crate::span::Span;

/// The whole tree; with `spans`, each node's byte range stands behind it as `@start..end`.
pub fn dump(file: &File, spans: bool) -> String {
    let mut dumper = Dumper { file, spans, out: String::new(), indent: 0 };
    for def in &file.defs {
        dumper.def(def);
    }
    dumper.out
}

struct Dumper<'a> {
    file: &'a File,
    spans: bool,
    out: String,
    indent: usize,
}

impl Dumper<'_> {
    fn line(&mut self, span: Span, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.out.push_str(text);
        if self.spans {
            let _ = write!(self.out, " @{}..{}", span.start, span.end);
        }
        self.out.push('\n');
    }

    /// A line and what stands below it.
    fn node(&mut self, span: Span, text: &str, below: impl FnOnce(&mut Self)) {
        self.line(span, text);
        self.indent += 1;
        below(self);
        self.indent -= 1;
    }

    fn ty(&self, ty: TypeId) -> String {
        print_type(self.file, ty)
    }

    fn annotated(&self, name: &str, uniform: bool, ty: Option<TypeId>) -> String {
        let ty = ty.map_or(String::new(), |ty| format!(": {}", self.ty(ty)));
        if uniform { format!("<{name}{ty}>") } else { format!("{name}{ty}") }
    }

    fn def(&mut self, def: &Def) {
        let name = def.name.text.as_str();
        match &def.kind {
            DefKind::Scratch(function) => self.function(def, "scratch", function),
            DefKind::Rake(function) => self.function(def, "rake", function),
            DefKind::Run(function) => self.function(def, "run", function),
            DefKind::Slow(function) => self.function(def, "slow", function),
            DefKind::ExternSlow { params, result, header } => {
                let text = format!("extern slow {name} from \"{}\"", header.raw);
                self.node(def.span, &text, |dumper| dumper.signature(params, *result));
            }
            DefKind::Tine { params, predicate } => self.node(def.span, &format!("tine #{name}"), |dumper| {
                dumper.signature(params, None);
                dumper.expr(*predicate);
            }),
            DefKind::Pack { groups } => self.aggregate(def, "pack", None, groups),
            DefKind::Record { header, groups } => self.aggregate(def, "record", header.as_ref(), groups),
            DefKind::Union { header, groups } => self.aggregate(def, "union", header.as_ref(), groups),
            DefKind::State { ty, value } => {
                let text = format!("state {name}: {}", self.ty(*ty));
                self.node(def.span, &text, |dumper| value.iter().for_each(|&value| dumper.expr(value)));
            }
            DefKind::Embed { path } => self.line(def.span, &format!("embed {name} from \"{}\"", path.raw)),
            DefKind::Const { ty, value } => {
                let text = format!("const {name}: {}", self.ty(*ty));
                self.node(def.span, &text, |dumper| dumper.expr(*value));
            }
        }
    }

    fn function(&mut self, def: &Def, word: &str, function: &Function) {
        self.node(def.span, &format!("{word} {}", def.name.text), |dumper| {
            dumper.signature(&function.params, function.result);
            dumper.block("body", &function.body);
        });
    }

    fn signature(&mut self, params: &[Param], result: Option<TypeId>) {
        for param in params {
            let mutable = if param.mutable { " mut" } else { "" };
            let text = format!("param{mutable} {}", self.annotated(&param.name.text, param.uniform, Some(param.ty)));
            self.line(param.span, &text);
        }
        if let Some(result) = result {
            let text = format!("result {}", self.ty(result));
            self.line(self.file.types[result].span, &text);
        }
    }

    fn aggregate(&mut self, def: &Def, word: &str, header: Option<&super::Str>, groups: &[FieldGroup]) {
        let header = header.map_or(String::new(), |header| format!(" from \"{}\"", header.raw));
        self.node(def.span, &format!("{word} {}{header}", def.name.text), |dumper| {
            for group in groups {
                let ty = dumper.ty(group.ty);
                for name in &group.names {
                    dumper.line(name.span, &format!("field {}: {ty}", name.text));
                }
            }
        });
    }

    fn block(&mut self, label: &str, block: &Block) {
        self.node(block.span, label, |dumper| block.stmts.iter().for_each(|&stmt| dumper.stmt(stmt)));
    }

    fn stmt(&mut self, id: StmtId) {
        let file = self.file;
        let stmt: &Stmt = &file.stmts[id];
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Let { name, uniform, ty, value } => {
                let text = format!("let {}", self.annotated(&name.text, *uniform, *ty));
                self.node(span, &text, |dumper| dumper.expr(*value));
            }
            StmtKind::Region(stages) => self.node(span, "region", |dumper| {
                for stage in stages {
                    let text = format!("stage {}", dumper.annotated(&stage.name.text, false, stage.ty));
                    dumper.node(stage.span, &text, |dumper| dumper.expr(stage.value));
                }
            }),
            StmtKind::Location { name, ty, value } => {
                let text = format!("location {}", self.annotated(&name.text, false, *ty));
                self.node(span, &text, |dumper| dumper.expr(*value));
            }
            StmtKind::Assign { place, value } => self.exprs(span, "assign", &[*place, *value]),
            StmtKind::Tine { name, predicate } => self.exprs(span, &format!("tine #{}", name.text), &[*predicate]),
            StmtKind::Through { predicate, otherwise, name, body } => {
                self.node(span, &format!("through {}", name.text), |dumper| {
                    dumper.expr(*predicate);
                    otherwise.iter().for_each(|&value| dumper.exprs(file.exprs[value].span, "else", &[value]));
                    dumper.block("body", body);
                });
            }
            StmtKind::Sweep(arms) => self.node(span, "sweep", |dumper| {
                for arm in arms {
                    let label = if arm.predicate.is_some() { "arm" } else { "arm _" };
                    let parts: Vec<ExprId> = arm.predicate.into_iter().chain([arm.value]).collect();
                    dumper.exprs(arm.span, label, &parts);
                }
            }),
            StmtKind::Repeat(counted) => self.counted(span, "repeat", counted),
            StmtKind::For(counted) => self.counted(span, "for", counted),
            StmtKind::While { condition, body } => self.node(span, "while", |dumper| {
                dumper.expr(*condition);
                dumper.block("body", body);
            }),
            StmtKind::If { arms, otherwise } => self.node(span, "if", |dumper| {
                for (condition, body) in arms {
                    dumper.expr(*condition);
                    dumper.block("then", body);
                }
                otherwise.iter().for_each(|body| dumper.block("else", body));
            }),
            StmtKind::Return(value) => self.exprs(span, "return", value.as_slice()),
            StmtKind::Break => self.line(span, "break"),
            StmtKind::Continue => self.line(span, "continue"),
            StmtKind::With { stack, fields, predicate } => self.node(span, &format!("with {}", stack.text), |dumper| {
                dumper.fields(fields);
                predicate.iter().for_each(|&value| dumper.exprs(file.exprs[value].span, "where", &[value]));
            }),
            StmtKind::Compact { stack, fields, predicate } => {
                self.node(span, &format!("compact {}", stack.text), |dumper| {
                    dumper.fields(fields);
                    dumper.exprs(file.exprs[*predicate].span, "where", &[*predicate]);
                });
            }
            StmtKind::Expr(expr) => self.expr(*expr),
            StmtKind::Error => self.line(span, "error"),
        }
    }

    fn counted(&mut self, span: Span, word: &str, counted: &Loop) {
        let text = format!("{word} {}", self.annotated(&counted.index.text, counted.uniform, counted.ty));
        self.node(span, &text, |dumper| {
            dumper.expr(counted.from);
            dumper.expr(counted.to);
            counted.step.iter().for_each(|&step| dumper.exprs(dumper.file.exprs[step].span, "by", &[step]));
            dumper.block("body", &counted.body);
        });
    }

    fn fields(&mut self, fields: &[FieldInit]) {
        for field in fields {
            self.exprs(field.name.span, &format!("field {}", field.name.text), &[field.value]);
        }
    }

    fn exprs(&mut self, span: Span, label: &str, exprs: &[ExprId]) {
        self.node(span, label, |dumper| exprs.iter().for_each(|&expr| dumper.expr(expr)));
    }

    fn expr(&mut self, id: ExprId) {
        let file = self.file;
        let expr = &file.exprs[id];
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number(number) => {
                let sign = if number.negative { "-" } else { "" };
                self.line(span, &format!("number {sign}{}", number.text));
            }
            ExprKind::Bool(value) => self.line(span, &format!("bool {value}")),
            ExprKind::Str(string) => self.line(span, &format!("string \"{}\"", string.raw)),
            ExprKind::Name(name) => self.line(span, &format!("name {name}")),
            ExprKind::Mark(inner) => self.exprs(span, "mark", &[*inner]),
            ExprKind::Tine { name, args: None } => self.line(span, &format!("tine #{}", name.text)),
            ExprKind::Tine { name, args: Some(args) } => self.exprs(span, &format!("apply #{}", name.text), args),
            ExprKind::Lanes(None) => self.line(span, "lanes"),
            ExprKind::Lanes(Some(ty)) => self.line(span, &format!("lanes {}", self.ty(*ty))),
            ExprKind::LaneIndex => self.line(span, "lane-index"),
            ExprKind::Unary { op, operand } => self.exprs(span, op.as_str(), &[*operand]),
            ExprKind::Binary { .. } => self.node(span, "chain", |dumper| {
                let (first, steps) = file.left_spine(id);
                dumper.expr(first);
                for step in steps {
                    dumper.exprs(file.exprs[step.expr].span, step.op.as_str(), &[step.right]);
                }
            }),
            ExprKind::If { condition, then, otherwise } => self.exprs(span, "if", &[*condition, *then, *otherwise]),
            ExprKind::Field { base, field } => self.exprs(span, &format!("field .{}", field.text), &[*base]),
            ExprKind::Index { base, index, unchecked, bound } => {
                let label = format!("index{}", if *unchecked { " unchecked" } else { "" });
                self.node(span, &label, |dumper| {
                    dumper.expr(*base);
                    dumper.expr(*index);
                    bound.iter().for_each(|&bound| dumper.exprs(file.exprs[bound].span, "up to", &[bound]));
                });
            }
            ExprKind::Gaps(base) => self.exprs(span, "gaps", &[*base]),
            ExprKind::Call { callee, ty, args } => {
                let ty = ty.map_or(String::new(), |ty| format!(" {}", self.ty(ty)));
                self.exprs(span, &format!("call {}{ty}", callee.text), args);
            }
            ExprKind::Convert { ty, args } => self.exprs(span, &format!("convert {}", self.ty(*ty)), args),
            ExprKind::Record { name, fields } => {
                self.node(span, &format!("record {}", name.text), |dumper| dumper.fields(fields))
            }
            ExprKind::Stack { name, fields } => {
                self.node(span, &format!("stack {}", name.text), |dumper| dumper.fields(fields))
            }
            ExprKind::Array(items) => self.exprs(span, "array", items),
            ExprKind::ArrayFill { value, count } => self.exprs(span, "array-fill", &[*value, *count]),
            ExprKind::Slow { body, has_value } => {
                self.block(if *has_value { "slow with value" } else { "slow" }, body);
            }
            ExprKind::Error => self.line(span, "error"),
        }
    }
}
