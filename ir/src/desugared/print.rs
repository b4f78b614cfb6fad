//! The printer of `desugared`. It does not recurse, so a chain of any length prints.

use super::text::{immediate, marked, precedence};
use super::{Access, Binding, Expr, ExprId, ExprKind, Function, LocalId, Program, Stmt};
use crate::ops::{Imm, Op};
use crate::typed::bodies::{Check, Merge};
use crate::types::{Pointee, Ty};
use crate::value::literal;
use std::collections::HashMap;
use std::fmt::Write;

/// The program as text.
pub fn print(program: &Program) -> String {
    let mut out = format!("rake desugared 1\nprofile {}\nfuse {}\n", program.profile, program.fuse.name());
    for function in &program.functions {
        out.push('\n');
        Printer::new(function, &mut out).function();
    }
    out
}

enum Task<'a> {
    Text(String),
    Static(&'static str),
    Expr(ExprId, u8),
    Stmt(&'a Stmt, usize),
    Depth(usize),
    Binding(&'static str, &'a Binding, &'static str, usize),
}

struct Printer<'a> {
    function: &'a Function,
    names: HashMap<LocalId, String>,
    depth: usize,
    tasks: Vec<Task<'a>>,
    out: &'a mut String,
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function, out: &'a mut String) -> Self {
        let mut used: HashMap<(&str, &str), u32> = HashMap::new();
        let names = function.locals.iter().map(|(id, local)| {
            let sign = if local.tine { "#" } else { "" };
            let count = used.entry((sign, &local.name)).and_modify(|n| *n += 1).or_insert(1);
            let text =
                if *count == 1 { format!("{sign}{}", local.name) } else { format!("{sign}{}.{count}", local.name) };
            (id, text)
        });
        let names = names.collect();
        Printer { function, names, depth: 0, tasks: Vec::new(), out }
    }

    fn function(mut self) {
        let function = self.function;
        let params = function.params.iter().map(|p| {
            let pointee = function.pointees.get(*p).map_or_else(String::new, |pointee| format!(" to {pointee}"));
            format!("{}: {}{pointee}", self.names[p], function.locals[*p].ty)
        });
        let params: Vec<String> = params.collect();
        let result = function.result.map_or_else(String::new, |id| format!(" -> {}", function.exprs[id].ty));
        let (word, name) = (function.kind.word(), &function.name);
        let _ = writeln!(self.out, "{word} {name}({}){result}:", params.join(", "));
        if let Some(result) = function.result {
            self.tasks.push(Task::Static("\n"));
            self.tasks.push(Task::Expr(result, 0));
            self.tasks.push(Task::Depth(1));
            self.tasks.push(Task::Static("  "));
        }
        self.tasks.extend(function.body.iter().rev().map(|s| Task::Stmt(s, 1)));
        self.depth = 1;
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(&text),
                Task::Static(text) => self.out.push_str(text),
                Task::Expr(id, outer) => self.expr(id, outer),
                Task::Depth(depth) => self.depth = depth,
                Task::Stmt(stmt, depth) => self.stmt(stmt, depth),
                Task::Binding(prefix, binding, equals, depth) => self.binding(prefix, binding, equals, depth),
            }
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt, depth: usize) {
        self.depth = depth;
        match stmt {
            Stmt::Let(binding) => self.tasks.push(Task::Binding("let ", binding, "=", depth)),
            Stmt::Region(stages) => {
                let stages = stages.iter().rev().map(|stage| Task::Binding("  | ", stage, "<|", depth));
                self.tasks.extend(stages);
                let _ = writeln!(self.out, "{}region", "  ".repeat(depth));
            }
            Stmt::Through(through) => {
                let pad = "  ".repeat(depth);
                let _ = write!(self.out, "{pad}through ");
                self.tasks.push(Task::Static("\n"));
                self.tasks.push(Task::Expr(through.result, 0));
                self.tasks.push(Task::Depth(depth + 1));
                self.tasks.push(Task::Text(format!("{pad}  ")));
                self.tasks.extend(through.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                let ty = self.function.locals[through.local].ty;
                self.tasks.push(Task::Text(format!(" into {}: {ty}:\n", self.names[&through.local])));
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
                let _ = write!(self.out, "{pad}");
                self.tasks.push(Task::Static("\n"));
                self.tasks.push(Task::Expr(*value, 0));
                self.tasks.push(Task::Static(" <- "));
                self.access(access);
            }
            Stmt::For(looped) => {
                let _ = write!(self.out, "{pad}for {}: ", self.names[&looped.index]);
                let _ = write!(self.out, "{} from ", self.function.locals[looped.index].ty);
                self.changes("next", looped.carries.iter().map(|carry| (carry.local, carry.next)), depth + 1);
                self.tasks.extend(looped.body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                self.tasks.push(Task::Static(":\n"));
                for (at, carry) in looped.carries.iter().enumerate().rev() {
                    self.tasks.push(Task::Expr(carry.first, 0));
                    let (local, word) = (carry.local, if at > 0 { "," } else { " with" });
                    let ty = self.function.locals[local].ty;
                    self.tasks.push(Task::Text(format!("{word} {}: {ty} = ", self.names[&local])));
                }
                for (word, id) in [(" by ", looped.step), (" up to ", looped.to), ("", looped.from)] {
                    self.tasks.push(Task::Expr(id, 0));
                    self.tasks.push(Task::Static(word));
                }
            }
            Stmt::If(choice) => {
                let _ = write!(self.out, "{pad}if ");
                let bodies = [(&choice.otherwise, false), (&choice.then, true)];
                for (body, holds) in bodies {
                    let value = |merge: &Merge<LocalId, ExprId>| {
                        (merge.local, if holds { merge.then } else { merge.otherwise })
                    };
                    self.changes("merge", choice.merges.iter().map(value), depth + 1);
                    self.tasks.extend(body.iter().rev().map(|s| Task::Stmt(s, depth + 1)));
                    self.tasks.push(if holds { Task::Static(":\n") } else { Task::Text(format!("{pad}else:\n")) });
                }
                self.tasks.push(Task::Expr(choice.condition, 0));
            }
            Stmt::Let(_) | Stmt::Region(_) | Stmt::Through(_) => {}
        }
    }

    /// Lines `next total = total.2`.
    fn changes(&mut self, word: &str, all: impl DoubleEndedIterator<Item = (LocalId, ExprId)>, depth: usize) {
        for (local, value) in all.rev() {
            let ty = self.function.locals[local].ty;
            self.tasks.push(Task::Static("\n"));
            self.tasks.push(Task::Expr(value, 0));
            let pad = "  ".repeat(depth);
            self.tasks.push(Task::Text(format!("{pad}{word} {}: {ty} = ", self.names[&local])));
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

    fn binding(&mut self, prefix: &str, binding: &Binding, equals: &str, depth: usize) {
        self.depth = depth;
        let ty = self.function.locals[binding.local].ty;
        let _ = write!(self.out, "{}{prefix}{}: {ty} {equals} ", "  ".repeat(depth), self.names[&binding.local]);
        self.tasks.push(Task::Static("\n"));
        self.tasks.push(Task::Expr(binding.value, 0));
    }

    fn expr(&mut self, id: ExprId, outer: u8) {
        let Expr { kind, ty, .. } = &self.function.exprs[id];
        match kind {
            ExprKind::Const(bits) => self.out.push_str(&marked(&literal(ty.elem(), *bits), *ty)),
            ExprKind::Read(local) => self.out.push_str(&marked(&self.names[local], *ty)),
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
                _ => self.call(*op, imm, args, *ty),
            },
            ExprKind::If { condition, then, otherwise } => {
                self.wrap(outer > 0);
                for (word, id) in [(" else ", otherwise), (" then ", then), ("if ", condition)] {
                    self.tasks.push(Task::Expr(*id, 1));
                    self.tasks.push(Task::Static(word));
                }
            }
            ExprKind::Sweep { arms } => {
                let (depth, pad) = (self.depth + 1, "  ".repeat(self.depth));
                self.out.push_str("sweep\n");
                self.tasks.push(Task::Depth(self.depth));
                self.tasks.push(Task::Text(format!("{pad}end")));
                for arm in arms.iter().rev() {
                    self.tasks.push(Task::Static("\n"));
                    self.tasks.push(Task::Expr(arm.value, 0));
                    self.tasks.push(Task::Static(" => "));
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

    fn call(&mut self, op: Op, imm: &Imm, args: &[ExprId], ty: Ty) {
        if op == Op::LaneIndex {
            self.out.push_str("lane_index");
            return;
        }
        let _ = write!(self.out, "{}(", op.name());
        if op == Op::Bitcast {
            let _ = write!(self.out, "{ty}, ");
        }
        self.tasks.push(Task::Static(")"));
        if let Some(text) = immediate(imm) {
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
