//! Walks `surface` without recursion, and checks its invariants.

use la_arena::Idx;

use super::{
    Block, DefKind, ExprId, ExprKind, FieldGroup, FieldInit, File, Function, Loop, Param, StmtId, StmtKind, TypeId,
    TypeKind,
};
use crate::span::Span;

/// A node of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// An expression.
    Expr(ExprId),
    /// A statement.
    Stmt(StmtId),
    /// A type.
    Type(TypeId),
}

impl File {
    /// A node's place.
    pub fn span(&self, node: Node) -> Span {
        match node {
            Node::Expr(id) => self.exprs[id].span,
            Node::Stmt(id) => self.stmts[id].span,
            Node::Type(id) => self.types[id].span,
        }
    }

    /// The nodes directly below a definition, in source order.
    pub fn def_children(&self, kind: &DefKind) -> Vec<Node> {
        let mut out = Children::default();
        match kind {
            DefKind::Scratch(function) | DefKind::Rake(function) | DefKind::Run(function) | DefKind::Slow(function) => {
                out.function(function);
            }
            DefKind::ExternSlow { params, result, .. } => {
                out.params(params);
                out.types(*result);
            }
            DefKind::Tine { params, predicate } => {
                out.params(params);
                out.exprs([*predicate]);
            }
            DefKind::Pack { groups } | DefKind::Record { groups, .. } | DefKind::Union { groups, .. } => {
                out.groups(groups)
            }
            DefKind::State { ty, value } => {
                out.types([*ty]);
                out.exprs(*value);
            }
            DefKind::Embed { .. } => {}
            DefKind::Const { ty, value } => {
                out.types([*ty]);
                out.exprs([*value]);
            }
        }
        out.0
    }

    /// The nodes directly below a node, in source order.
    pub fn children(&self, node: Node) -> Vec<Node> {
        let mut out = Children::default();
        match node {
            Node::Expr(id) => out.expr(&self.exprs[id].kind),
            Node::Stmt(id) => out.stmt(&self.stmts[id].kind),
            Node::Type(id) => match &self.types[id].kind {
                TypeKind::View(element) => out.types([*element]),
                TypeKind::Array { count, element } => {
                    out.exprs([*count]);
                    out.types([*element]);
                }
                TypeKind::Ptr { target, .. } => out.types([*target]),
                TypeKind::Function { params, result } => out.types(params.iter().copied().chain([*result])),
                _ => {}
            },
        }
        out.0
    }

    /// The number of nodes, for reports.
    pub fn node_count(&self) -> usize {
        self.defs.len() + self.stmts.len() + self.exprs.len() + self.types.len()
    }

    /// Checks the invariants of a file that parsed without errors; names the first that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let mut seen = std::collections::BTreeSet::new();
        for def in &self.defs {
            let mut stack: Vec<(Node, Span)> =
                self.def_children(&def.kind).into_iter().map(|node| (node, def.span)).collect();
            while let Some((node, outer)) = stack.pop() {
                self.check_node(node, outer)?;
                if !seen.insert(key(node)) {
                    return Err(format!("{node:?} stands in two places"));
                }
                let span = self.span(node);
                stack.extend(self.children(node).into_iter().map(|child| (child, span)));
            }
        }
        Ok(())
    }

    fn check_node(&self, node: Node, outer: Span) -> Result<(), String> {
        let exists = match node {
            Node::Expr(id) => raw(id) < self.exprs.len(),
            Node::Stmt(id) => raw(id) < self.stmts.len(),
            Node::Type(id) => raw(id) < self.types.len(),
        };
        if !exists {
            return Err(format!("{node:?} does not exist"));
        }
        let span = self.span(node);
        if span.file != self.id || span.start < outer.start || span.end > outer.end {
            return Err(format!("{node:?} at {span:?} is not inside {outer:?}"));
        }
        let error = match node {
            Node::Expr(id) => matches!(self.exprs[id].kind, ExprKind::Error),
            Node::Type(id) => matches!(self.types[id].kind, TypeKind::Error),
            Node::Stmt(id) => match &self.stmts[id].kind {
                StmtKind::Region(stages) => stages.is_empty(),
                StmtKind::If { arms, .. } => arms.is_empty(),
                kind => matches!(kind, StmtKind::Error),
            },
        };
        if error { Err(format!("{node:?} is empty or an error")) } else { Ok(()) }
    }
}

fn raw<T>(id: Idx<T>) -> usize {
    u32::from(id.into_raw()) as usize
}

fn key(node: Node) -> (u8, usize) {
    match node {
        Node::Expr(id) => (0, raw(id)),
        Node::Stmt(id) => (1, raw(id)),
        Node::Type(id) => (2, raw(id)),
    }
}

/// Collects nodes.
#[derive(Default)]
struct Children(Vec<Node>);

impl Children {
    fn exprs(&mut self, ids: impl IntoIterator<Item = ExprId>) {
        self.0.extend(ids.into_iter().map(Node::Expr));
    }

    fn types(&mut self, ids: impl IntoIterator<Item = TypeId>) {
        self.0.extend(ids.into_iter().map(Node::Type));
    }

    fn block(&mut self, block: &Block) {
        self.0.extend(block.stmts.iter().copied().map(Node::Stmt));
    }

    fn params(&mut self, params: &[Param]) {
        self.types(params.iter().map(|param| param.ty));
    }

    fn groups(&mut self, groups: &[FieldGroup]) {
        self.types(groups.iter().map(|group| group.ty));
    }

    fn fields(&mut self, fields: &[FieldInit]) {
        self.exprs(fields.iter().map(|field| field.value));
    }

    fn function(&mut self, function: &Function) {
        self.params(&function.params);
        self.types(function.result);
        self.block(&function.body);
    }

    fn counted(&mut self, counted: &Loop) {
        self.types(counted.ty);
        self.exprs([counted.from, counted.to]);
        self.exprs(counted.step);
        self.block(&counted.body);
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { ty, value, .. } | StmtKind::Location { ty, value, .. } => {
                self.types(*ty);
                self.exprs([*value]);
            }
            StmtKind::Region(stages) => {
                for stage in stages {
                    self.types(stage.ty);
                    self.exprs([stage.value]);
                }
            }
            StmtKind::Assign { place, value } => self.exprs([*place, *value]),
            StmtKind::Tine { predicate, .. } => self.exprs([*predicate]),
            StmtKind::Through { predicate, otherwise, body, .. } => {
                self.exprs([*predicate]);
                self.exprs(*otherwise);
                self.block(body);
            }
            StmtKind::Sweep(arms) => {
                arms.iter().for_each(|arm| self.exprs(arm.predicate.into_iter().chain([arm.value])));
            }
            StmtKind::Repeat(counted) | StmtKind::For(counted) => self.counted(counted),
            StmtKind::While { condition, body } => {
                self.exprs([*condition]);
                self.block(body);
            }
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.exprs([*condition]);
                    self.block(body);
                }
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::Return(value) => self.exprs(*value),
            StmtKind::With { fields, predicate, .. } => {
                self.fields(fields);
                self.exprs(*predicate);
            }
            StmtKind::Compact { fields, predicate, .. } => {
                self.fields(fields);
                self.exprs([*predicate]);
            }
            StmtKind::Expr(expr) => self.exprs([*expr]),
            StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
        }
    }

    fn expr(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Mark(inner) | ExprKind::Gaps(inner) | ExprKind::Unary { operand: inner, .. } => {
                self.exprs([*inner])
            }
            ExprKind::Field { base, .. } => self.exprs([*base]),
            ExprKind::Tine { args, .. } => self.exprs(args.iter().flatten().copied()),
            ExprKind::Lanes(ty) => self.types(*ty),
            ExprKind::Binary { left, right, .. } => self.exprs([*left, *right]),
            ExprKind::If { condition, then, otherwise } => self.exprs([*condition, *then, *otherwise]),
            ExprKind::Index { base, index, bound, .. } => self.exprs([*base, *index].into_iter().chain(*bound)),
            ExprKind::Call { ty, args, .. } => {
                self.types(*ty);
                self.exprs(args.iter().copied());
            }
            ExprKind::Convert { ty, args } => {
                self.types([*ty]);
                self.exprs(args.iter().copied());
            }
            ExprKind::Record { fields, .. } | ExprKind::Stack { fields, .. } => self.fields(fields),
            ExprKind::Array(items) => self.exprs(items.iter().copied()),
            ExprKind::ArrayFill { value, count } => self.exprs([*value, *count]),
            ExprKind::Slow { body, .. } => self.block(body),
            ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_)
            | ExprKind::LaneIndex
            | ExprKind::Error => {}
        }
    }
}
