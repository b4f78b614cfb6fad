//! The printer of `desugared`. It does not recurse, so a chain of any length prints.

use super::{Binding, Expr, ExprId, ExprKind, Function, LocalId, Program, Stmt};
use crate::ops::{Imm, Op, Syntax};
use crate::types::{Elem, Ty};
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

/// A constant of this element as IR dumps write it: decimal where that reads back to the same bits, else hexadecimal bits.
pub fn constant(bits: u64, elem: Elem) -> String {
    match elem {
        Elem::Bool => (bits & 1 == 1).to_string(),
        Elem::F32 => float(f64::from(f32::from_bits(bits as u32)), &format!("{:?}", f32::from_bits(bits as u32)), bits),
        Elem::F64 => float(f64::from_bits(bits), &format!("{:?}", f64::from_bits(bits)), bits),
        _ if elem.class() == crate::types::ElemClass::Signed => {
            let unused = 64 - elem.bits();
            ((bits << unused) as i64 >> unused).to_string()
        }
        _ => (bits & elem.lane_mask()).to_string(),
    }
}

fn float(value: f64, decimal: &str, bits: u64) -> String {
    if value.is_finite() { decimal.to_owned() } else { format!("bits {bits:#x}") }
}

/// The text of an immediate, with a comma before it when it follows operands.
pub(crate) fn immediate(imm: &Imm) -> Option<String> {
    match imm {
        Imm::None => None,
        Imm::Bits(bits) => Some(format!("{bits:#x}")),
        Imm::Int(value) => Some(value.to_string()),
        Imm::Lanes(lanes) => {
            let lanes: Vec<String> = lanes.iter().map(u16::to_string).collect();
            Some(format!("[{}]", lanes.join(", ")))
        }
    }
}

/// How tightly an infix operation binds, from 1; 6 for prefix operations.
pub(crate) fn precedence(op: Op) -> Option<u8> {
    Some(match op {
        Op::Or => 1,
        Op::And => 2,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
        Op::Add | Op::Sub => 4,
        Op::Mul | Op::Div => 5,
        _ if op.info().syntax == Syntax::Prefix => 6,
        _ => return None,
    })
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
        let mut used: HashMap<&str, u32> = HashMap::new();
        let names = function.locals.iter().map(|(id, local)| {
            let count = used.entry(&local.name).and_modify(|n| *n += 1).or_insert(1);
            let text = if *count == 1 { local.name.to_string() } else { format!("{}.{count}", local.name) };
            (id, text)
        });
        let names = names.collect();
        Printer { function, names, depth: 0, tasks: Vec::new(), out }
    }

    fn function(mut self) {
        let function = self.function;
        let params = function.params.iter().map(|p| format!("{}: {}", self.names[p], function.locals[*p].ty));
        let params: Vec<String> = params.collect();
        let result = function.exprs[function.result].ty;
        let _ = writeln!(self.out, "scratch {}({}) -> {result}:", function.name, params.join(", "));
        self.tasks.push(Task::Static("\n"));
        self.tasks.push(Task::Expr(function.result, 0));
        self.tasks.push(Task::Static("  "));
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
        }
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
            ExprKind::Const(bits) => self.out.push_str(&marked(&constant(*bits, ty.elem()), *ty)),
            ExprKind::Read(local) => self.out.push_str(&marked(&self.names[local], *ty)),
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
            ExprKind::Block { body, result } => {
                let depth = self.depth + 1;
                let pad = "  ".repeat(depth);
                self.out.push_str("do\n");
                self.tasks.push(Task::Depth(self.depth));
                self.tasks.push(Task::Expr(*result, 0));
                self.tasks.push(Task::Text(format!("{pad}in ")));
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

pub(crate) fn marked(text: &str, ty: Ty) -> String {
    if ty.is_uniform() { format!("<{text}>") } else { text.to_owned() }
}
