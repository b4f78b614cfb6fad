//! Regions written as text, for tests: `p = a*b; q = p + c` is a region of two stages over `f32s` parameters.

use la_arena::Arena;
use rake_ir::lane::{Args, Function, FuseLevel, Param, Program, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::span::Span;
use rake_ir::tined;
use rake_ir::types::{Elem, Ty};
use std::collections::HashMap;

/// Reads stages into a function of one region; every stage that no other stage reads is read outside.
pub struct Builder {
    pub ty: Ty,
    values: Arena<Value>,
    params: Vec<Param>,
    body: Vec<Stmt<tined::Region>>,
    names: HashMap<String, ValueId>,
    region: Vec<ValueId>,
    mask: Option<ValueId>,
}

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut token = c.to_string();
        if c.is_alphanumeric() || c == '.' {
            while let Some(next) = chars.next_if(|n| n.is_alphanumeric() || *n == '.' || *n == '_') {
                token.push(next);
            }
        }
        out.push(token);
    }
    out
}

impl Builder {
    pub fn new(elem: Elem) -> Builder {
        Builder {
            ty: Ty::Rack(elem),
            values: Arena::new(),
            params: Vec::new(),
            body: Vec::new(),
            names: HashMap::new(),
            region: Vec::new(),
            mask: None,
        }
    }

    fn value(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty) -> ValueId {
        let mask = if op == Op::Const { None } else { self.mask };
        let args = Args::from_slice(args);
        let id =
            self.values.alloc(Value { op, imm, args, ty, mask, inactive: None, span: Span::default(), name: None });
        self.region.push(id);
        id
    }

    fn param(&mut self, name: &str) -> ValueId {
        let position = self.params.len() as u32;
        self.params.push(Param { name: name.into(), ty: self.ty, points_to: None, span: Span::default() });
        let id = self.values.alloc(Value {
            op: Op::Param,
            imm: Imm::Int(position),
            args: Args::new(),
            ty: self.ty,
            inactive: None,
            mask: None,
            span: Span::default(),
            name: Some(name.into()),
        });
        self.body.push(Stmt::Value(id));
        self.names.insert(name.into(), id);
        id
    }

    fn constant(&mut self, text: &str) -> ValueId {
        let bits = rake_ir::value::parse_literal(self.ty.elem(), text).expect("a literal");
        self.value(Op::Const, Imm::Bits(bits), &[], self.ty)
    }

    fn atom(&mut self, t: &[String], at: &mut usize) -> ValueId {
        let token = t[*at].clone();
        *at += 1;
        if token == "(" {
            let inner = self.choice(t, at);
            *at += 1;
            return inner;
        }
        if token == "-" {
            if t[*at].starts_with(|c: char| c.is_ascii_digit()) {
                let text = format!("-{}", t[*at]);
                *at += 1;
                return self.constant(&text);
            }
            let inner = self.atom(t, at);
            return self.value(Op::Neg, Imm::None, &[inner], self.ty);
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return self.constant(&token);
        }
        if t.get(*at).is_some_and(|n| n == "(") {
            let op = Op::from_name(&token).expect("an operation");
            let mut args = Vec::new();
            *at += 1;
            while t[*at - 1] != ")" {
                args.push(self.choice(t, at));
                *at += 1;
            }
            let ty = if op == Op::Not { self.ty.truth() } else { self.ty };
            return self.value(op, Imm::None, &args, ty);
        }
        match self.names.get(&token) {
            Some(&id) => id,
            None => self.param(&token),
        }
    }

    fn product(&mut self, t: &[String], at: &mut usize) -> ValueId {
        let mut left = self.atom(t, at);
        while let Some(op) = t.get(*at).and_then(|n| [("*", Op::Mul), ("/", Op::Div)].iter().find(|o| o.0 == n)) {
            *at += 1;
            let right = self.atom(t, at);
            left = self.value(op.1, Imm::None, &[left, right], self.ty);
        }
        left
    }

    fn sum(&mut self, t: &[String], at: &mut usize) -> ValueId {
        let mut left = self.product(t, at);
        while let Some(op) = t.get(*at).and_then(|n| [("+", Op::Add), ("-", Op::Sub)].iter().find(|o| o.0 == n)) {
            *at += 1;
            let right = self.product(t, at);
            left = self.value(op.1, Imm::None, &[left, right], self.ty);
        }
        left
    }

    fn compare(&mut self, t: &[String], at: &mut usize) -> ValueId {
        let left = self.sum(t, at);
        let ops = [("<", Op::Lt), (">", Op::Gt)];
        let Some(op) = t.get(*at).and_then(|n| ops.iter().find(|o| o.0 == n)) else { return left };
        *at += 1;
        let right = self.sum(t, at);
        self.value(op.1, Imm::None, &[left, right], self.ty.truth())
    }

    fn choice(&mut self, t: &[String], at: &mut usize) -> ValueId {
        if t[*at] != "if" {
            return self.compare(t, at);
        }
        *at += 1;
        let condition = self.compare(t, at);
        let outer = self.mask;
        let truth = self.ty.truth();
        let both = |b: &mut Builder, literal| match outer {
            Some(outer) => b.value(Op::And, Imm::None, &[outer, literal], truth),
            None => literal,
        };
        *at += 1;
        let mask = self.mask.take();
        let then = both(self, condition);
        self.mask = Some(then);
        let left = self.choice(t, at);
        *at += 1;
        self.mask = None;
        let not = self.value(Op::Not, Imm::None, &[condition], truth);
        let otherwise = both(self, not);
        self.mask = Some(otherwise);
        let right = self.choice(t, at);
        self.mask = mask;
        self.value(Op::If, Imm::None, &[condition, left, right], self.ty)
    }

    /// The stages as one region, and a program that returns the sum of what they yield, added outside the region.
    pub fn program(mut self, text: &str, profile: Profile, fuse: FuseLevel) -> tined::Program {
        let mut stages = Vec::new();
        for stage in text.split(';') {
            let (name, term) = stage.split_once('=').expect("name = term");
            let t = tokens(term);
            let id = self.choice(&t, &mut 0);
            self.names.insert(name.trim().into(), id);
            stages.push((name.trim().to_owned(), id));
        }
        let region = std::mem::take(&mut self.region);
        let inner: Vec<ValueId> = region.iter().flat_map(|&id| self.values[id].args.to_vec()).collect();
        let stages_of = stages.iter().map(|(name, id)| (name.as_str().into(), *id)).collect();
        self.body.push(Stmt::Region(tined::Region { values: region.clone(), stages: stages_of }));
        let mut result = None;
        for (name, id) in &stages {
            if inner.contains(id) && !name.starts_with("out") {
                continue;
            }
            result = Some(match result {
                None => *id,
                Some(before) => {
                    let sum = self.value(Op::Add, Imm::None, &[before, *id], self.ty);
                    self.body.push(Stmt::Value(sum));
                    sum
                }
            });
        }
        let function = Function {
            name: "f".into(),
            span: Span::default(),
            params: self.params,
            values: self.values,
            body: self.body,
            result: Some(result.expect("a stage")),
        };
        Program { profile, fuse, functions: vec![function] }
    }
}

/// The region's program.
pub fn program(text: &str, elem: Elem, profile: Profile, fuse: FuseLevel) -> tined::Program {
    Builder::new(elem).program(text, profile, fuse)
}
