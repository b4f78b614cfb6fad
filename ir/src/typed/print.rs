//! The printer of `typed`. It does not recurse, so a chain of any length prints.

use super::bodies::Check;
use super::{Access, Expr, ExprId, ExprKind, Function, LocalId, LocalKind, Program, Stmt};
use crate::desugared::text::{immediate, marked, precedence};
use crate::ops::{Imm, Op};
use crate::types::{Pointee, Ty};
use crate::value::literal;
use std::collections::HashMap;
use std::fmt::Write;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut out = format!("rake typed 1\nprofile {}\nfuse {}\n", program.profile, program.fuse.name());
    for function in &program.functions {
        out.push('\n');
        Printer::new(program, function, &mut out).function();
    }
    out
}

enum Task<'a> {
    Text(String),
    Static(&'static str),
    Expr(ExprId, u8),
    Stmt(&'a Stmt, usize),
    /// A line `prefix value`.
    Line(String, ExprId, usize),
    Depth(usize),
}

struct Printer<'a> {
    program: &'a Program,
    function: &'a Function,
    names: HashMap<LocalId, String>,
    depth: usize,
    tasks: Vec<Task<'a>>,
    out: &'a mut String,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program, function: &'a Function, out: &'a mut String) -> Self {
        let mut used: HashMap<(&str, &str), u32> = HashMap::new();
        let names = function.locals.iter().map(|(id, local)| {
            let sign = if local.kind == LocalKind::Tine { "#" } else { "" };
            let count = used.entry((sign, &local.name)).and_modify(|n| *n += 1).or_insert(1);
            let text =
                if *count == 1 { format!("{sign}{}", local.name) } else { format!("{sign}{}.{count}", local.name) };
            (id, text)
        });
        let names = names.collect();
        Printer { program, function, names, depth: 1, tasks: Vec::new(), out }
    }

    fn function(mut self) {
        let function = self.function;
        let params = function.params.iter().map(|p| {
            let pointee = function.pointees.get(*p).map_or_else(String::new, |pointee| format!(" to {pointee}"));
            format!("{}: {}{pointee}", self.names[p], function.locals[*p].ty)
        });
        let params: Vec<String> = params.collect();
        let (word, name) = (function.kind.word(), &function.name);
        let result = function.ty.map_or_else(String::new, |ty| format!(" -> {ty}"));
        let _ = writeln!(self.out, "{word} {name}({}){result}:", params.join(", "));
        self.tasks.extend(function.result.map(|result| Task::Line("  ".into(), result, 1)));
        self.tasks.extend(function.body.iter().rev().map(|s| Task::Stmt(s, 1)));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(&text),
                Task::Static(text) => self.out.push_str(text),
                Task::Depth(depth) => self.depth = depth,
                Task::Expr(id, outer) => self.expr(id, outer),
                Task::Stmt(stmt, depth) => self.stmt(stmt, depth),
                Task::Line(prefix, value, depth) => {
                    self.depth = depth;
                    self.out.push_str(&prefix);
                    self.tasks.push(Task::Static("\n"));
                    self.tasks.push(Task::Expr(value, 0));
                }
            }
        }
    }

    fn typed_name(&self, local: LocalId) -> String {
        let bound = &self.function.locals[local];
        match bound.kind {
            LocalKind::Array(count) => format!("{}: [{count}]{}", self.names[&local], bound.ty),
            _ => format!("{}: {}", self.names[&local], bound.ty),
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt, depth: usize) {
        let pad = "  ".repeat(depth);
        self.depth = depth;
        match stmt {
            Stmt::Let(b) => {
                let prefix = format!("{pad}let {} = ", self.typed_name(b.local));
                self.tasks.push(Task::Line(prefix, b.value, depth));
            }
            Stmt::Location(b) => {
                let prefix = format!("{pad}{} := ", self.typed_name(b.local));
                self.tasks.push(Task::Line(prefix, b.value, depth));
            }
            Stmt::Region(stages) => {
                let _ = writeln!(self.out, "{pad}region");
                for b in stages.iter().rev() {
                    let prefix = format!("{pad}  | {} <| ", self.typed_name(b.local));
                    self.tasks.push(Task::Line(prefix, b.value, depth));
                }
            }
            Stmt::Assign { local, element: None, value } => {
                self.tasks.push(Task::Line(format!("{pad}{} <- ", self.names[local]), *value, depth));
            }
            Stmt::Assign { local, element: Some(element), value } => {
                let _ = write!(self.out, "{pad}{}[", self.names[local]);
                self.tasks.push(Task::Line("] <- ".into(), *value, depth));
                self.tasks.push(Task::Expr(*element, 0));
            }
            Stmt::Repeat(repeat) => {
                let index = self.typed_name(repeat.index);
                let _ = writeln!(self.out, "{pad}repeat {index} from {} up to {}:", repeat.from, repeat.to);
                self.tasks.extend(repeat.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
            }
            Stmt::Through(through) => {
                let _ = write!(self.out, "{pad}through ");
                self.tasks.push(Task::Line(format!("{pad}  "), through.result, depth + 1));
                self.tasks.extend(through.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                self.tasks.push(Task::Text(format!(" into {}:\n", self.typed_name(through.local))));
                if let Some(otherwise) = through.otherwise {
                    self.tasks.push(Task::Expr(otherwise, 0));
                    self.tasks.push(Task::Static(" else "));
                }
                self.tasks.push(Task::Expr(through.predicate, 0));
            }
            Stmt::Traverse(_) | Stmt::Store { .. } | Stmt::For(_) | Stmt::If(_) => self.body(stmt, depth),
        }
    }

    /// A statement of runs.
    fn body(&mut self, stmt: &'a Stmt, depth: usize) {
        let pad = "  ".repeat(depth);
        match stmt {
            Stmt::Traverse(traverse) => {
                let _ = writeln!(self.out, "{pad}traverse {} by {}:", self.names[&traverse.stack], traverse.bits);
                self.tasks.push(Task::Static("\n"));
                if let Some(predicate) = traverse.predicate {
                    self.tasks.push(Task::Expr(predicate, 0));
                    self.tasks.push(Task::Static(" where "));
                }
                self.tasks.push(Task::Static(" }"));
                for (at, &(column, value)) in traverse.columns.iter().enumerate().rev() {
                    self.tasks.push(Task::Expr(value, 0));
                    let (comma, name) = (if at > 0 { "," } else { "" }, self.column(traverse.stack, column));
                    self.tasks.push(Task::Text(format!("{comma} {name}: ")));
                }
                self.tasks.push(Task::Depth(depth + 1));
                let word = if traverse.compact { "compact" } else { "replace" };
                self.tasks.push(Task::Text(format!("{pad}  {word} {{")));
                self.tasks.extend(traverse.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
            }
            Stmt::Store { access, value } => {
                self.out.push_str(&pad);
                self.tasks.push(Task::Line(" <- ".into(), *value, depth));
                self.access(access);
            }
            Stmt::For(looped) => {
                let _ = write!(self.out, "{pad}for {} from ", self.typed_name(looped.index));
                self.tasks.extend(looped.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                self.tasks.push(Task::Static(":\n"));
                for (word, id) in [(" by ", looped.step), (" up to ", looped.to), ("", looped.from)] {
                    self.tasks.push(Task::Expr(id, 0));
                    self.tasks.push(Task::Static(word));
                }
            }
            Stmt::If(choice) => {
                let _ = write!(self.out, "{pad}if ");
                if !choice.otherwise.is_empty() {
                    self.tasks.extend(choice.otherwise.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                    self.tasks.push(Task::Text(format!("{pad}else:\n")));
                }
                self.tasks.extend(choice.then.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                self.tasks.push(Task::Static(":\n"));
                self.tasks.push(Task::Expr(choice.condition, 0));
            }
            _ => {}
        }
    }

    fn column(&self, stack: LocalId, column: u32) -> String {
        match self.function.pointees.get(stack) {
            Some(Pointee::Stack { columns, .. }) => {
                columns.get(column as usize).map_or_else(|| "?".into(), |(name, _)| name.to_string())
            }
            _ => "?".into(),
        }
    }

    fn access(&mut self, access: &Access) {
        self.tasks.push(Task::Static("]"));
        if let Some(bound) = access.bound {
            self.tasks.push(Task::Expr(bound, 0));
            self.tasks.push(Task::Static(" up to "));
        }
        self.tasks.push(Task::Expr(access.index, 0));
        let check = match access.check {
            Check::Unchecked => "unchecked ",
            Check::Here => "",
            Check::Entry => "entry ",
        };
        self.tasks.push(Task::Text(format!("{}[{check}", self.names[&access.view])));
    }

    fn expr(&mut self, id: ExprId, outer: u8) {
        let Expr { kind, ty, .. } = &self.function.exprs[id];
        match kind {
            ExprKind::Const(bits) => self.out.push_str(&marked(&literal(ty.elem(), *bits), *ty)),
            ExprKind::Read(local) => self.out.push_str(&marked(&self.names[local], *ty)),
            ExprKind::Element { array, index } => {
                let _ = write!(self.out, "{}[", self.names[array]);
                self.tasks.push(Task::Static("]"));
                self.tasks.push(Task::Expr(*index, 0));
            }
            ExprKind::Column { stack, column } => {
                let column = self.column(*stack, *column);
                let _ = write!(self.out, "{}.{column}", self.names[stack]);
            }
            ExprKind::Load(access) => {
                let (open, close) = if ty.is_uniform() { ("<", ">") } else { ("", "") };
                self.out.push_str(open);
                self.tasks.push(Task::Static(close));
                self.access(access);
            }
            ExprKind::Op { op, imm, args } => match (precedence(*op), &args[..]) {
                (Some(own), &[left, right]) => self.infix(*op, own, left, right, outer),
                (Some(own), &[operand]) => {
                    self.out.push_str(if *op == Op::Not { "not " } else { "-" });
                    self.tasks.push(Task::Expr(operand, own + 1));
                }
                _ => self.operation(*op, imm, args, *ty),
            },
            ExprKind::If { condition, then, otherwise } => {
                self.wrap(outer > 0);
                for (word, id) in [(" else ", otherwise), (" then ", then), ("if ", condition)] {
                    self.tasks.push(Task::Expr(*id, 1));
                    self.tasks.push(Task::Static(word));
                }
            }
            ExprKind::Call { callee, args } => {
                let name = self.program.functions.get(callee.0 as usize).map_or("?", |f| &f.name);
                self.call(name.to_owned(), args, None);
            }
            ExprKind::Sweep { arms } => {
                let (depth, pad) = (self.depth + 1, "  ".repeat(self.depth));
                self.out.push_str("sweep\n");
                self.tasks.push(Task::Depth(self.depth));
                self.tasks.push(Task::Text(format!("{pad}end")));
                for arm in arms.iter().rev() {
                    self.tasks.push(Task::Line(" => ".into(), arm.value, depth));
                    self.tasks.push(arm.predicate.map_or(Task::Static("_"), |predicate| Task::Expr(predicate, 0)));
                    self.tasks.push(Task::Text(format!("{pad}  | ")));
                }
                self.tasks.push(Task::Depth(depth));
            }
            ExprKind::Block { body, result } => {
                let (depth, pad) = (self.depth + 1, "  ".repeat(self.depth));
                self.out.push_str("do\n");
                self.tasks.push(Task::Depth(self.depth));
                // Without its own end a block in an operand would seem to go on to the end of the expression.
                self.tasks.push(Task::Text(format!("\n{pad}end")));
                self.tasks.push(Task::Expr(*result, 0));
                self.tasks.push(Task::Depth(depth));
                self.tasks.push(Task::Text(format!("{pad}  in ")));
                self.tasks.extend(body.iter().rev().map(|s| Task::Stmt(s, depth)));
            }
        }
    }

    /// Opens a parenthesis now and closes it after what is pushed next.
    fn wrap(&mut self, needed: bool) {
        if needed {
            self.out.push('(');
            self.tasks.push(Task::Static(")"));
        }
    }

    fn infix(&mut self, op: Op, own: u8, left: ExprId, right: ExprId, outer: u8) {
        self.wrap(outer > own);
        let compares = own == 3;
        self.tasks.push(Task::Expr(right, own + 1));
        self.tasks.push(Task::Text(format!(" {} ", op.info().spelling)));
        self.tasks.push(Task::Expr(left, own + u8::from(compares)));
    }

    fn operation(&mut self, op: Op, imm: &Imm, args: &[ExprId], ty: Ty) {
        match op {
            Op::LaneIndex => self.out.push('@'),
            Op::Bitcast => self.call(format!("bitcast:{ty}"), args, None),
            _ => self.call(op.name().to_owned(), args, immediate(imm)),
        }
    }

    fn call(&mut self, name: String, args: &[ExprId], last: Option<String>) {
        self.out.push_str(&name);
        self.out.push('(');
        self.tasks.push(Task::Static(")"));
        if let Some(text) = last {
            self.tasks.push(Task::Text(if args.is_empty() { text } else { format!(", {text}") }));
        }
        for (index, &arg) in args.iter().enumerate().rev() {
            self.tasks.push(Task::Expr(arg, 0));
            if index > 0 {
                self.tasks.push(Task::Static(", "));
            }
        }
    }
}
