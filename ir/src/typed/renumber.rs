//! Copies of expressions and statements under other ids, for passes that duplicate bodies.

use super::{Access, Arm, Binding, Expr, ExprId, ExprKind, For, If, LocalId, Repeat, Stmt, Through, Traverse};

/// New ids for old ones.
pub struct Renumber<E, L> {
    /// Of expressions.
    pub expr: E,
    /// Of locals.
    pub local: L,
}

impl<E: Fn(ExprId) -> ExprId, L: Fn(LocalId) -> LocalId> Renumber<E, L> {
    /// The expression with its operands renumbered.
    pub fn expr(&self, expr: &Expr) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Const(bits) => ExprKind::Const(*bits),
            ExprKind::Read(local) => ExprKind::Read((self.local)(*local)),
            ExprKind::Column { stack, column } => ExprKind::Column { stack: (self.local)(*stack), column: *column },
            ExprKind::Load(access) => ExprKind::Load(self.access(access)),
            ExprKind::Element { array, index } => {
                ExprKind::Element { array: (self.local)(*array), index: (self.expr)(*index) }
            }
            ExprKind::Op { op, imm, args } => {
                ExprKind::Op { op: *op, imm: imm.clone(), args: args.iter().map(|&arg| (self.expr)(arg)).collect() }
            }
            ExprKind::If { condition, then, otherwise } => ExprKind::If {
                condition: (self.expr)(*condition),
                then: (self.expr)(*then),
                otherwise: (self.expr)(*otherwise),
            },
            ExprKind::Call { callee, args } => {
                ExprKind::Call { callee: *callee, args: args.iter().map(|&arg| (self.expr)(arg)).collect() }
            }
            ExprKind::Sweep { arms } => ExprKind::Sweep { arms: arms.iter().map(|arm| self.arm(arm)).collect() },
            ExprKind::Block { body, result } => {
                ExprKind::Block { body: self.stmts(body), result: (self.expr)(*result) }
            }
        };
        Expr { kind, ty: expr.ty, span: expr.span }
    }

    /// The statements with everything in them renumbered.
    pub fn stmts(&self, stmts: &[Stmt]) -> Vec<Stmt> {
        stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Let(binding) => Stmt::Let(self.binding(binding)),
            Stmt::Region(stages) => Stmt::Region(stages.iter().map(|stage| self.binding(stage)).collect()),
            Stmt::Location(binding) => Stmt::Location(self.binding(binding)),
            Stmt::Assign { local, element, value } => Stmt::Assign {
                local: (self.local)(*local),
                element: element.map(&self.expr),
                value: (self.expr)(*value),
            },
            Stmt::Repeat(repeat) => {
                Stmt::Repeat(Repeat { index: (self.local)(repeat.index), body: self.stmts(&repeat.body), ..*repeat })
            }
            Stmt::Through(through) => Stmt::Through(self.through(through)),
            Stmt::Traverse(traverse) => Stmt::Traverse(self.traverse(traverse)),
            Stmt::Store { access, value } => Stmt::Store { access: self.access(access), value: (self.expr)(*value) },
            Stmt::For(looped) => Stmt::For(self.looped(looped)),
            Stmt::If(choice) => Stmt::If(If {
                condition: (self.expr)(choice.condition),
                then: self.stmts(&choice.then),
                otherwise: self.stmts(&choice.otherwise),
                merges: Vec::new(),
                span: choice.span,
            }),
        }
    }

    fn access(&self, access: &Access) -> Access {
        Access {
            view: (self.local)(access.view),
            count: (self.local)(access.count),
            index: (self.expr)(access.index),
            bound: access.bound.map(&self.expr),
            check: access.check,
        }
    }

    fn traverse(&self, traverse: &Traverse) -> Traverse {
        Traverse {
            stack: (self.local)(traverse.stack),
            body: self.stmts(&traverse.body),
            predicate: traverse.predicate.map(&self.expr),
            columns: traverse.columns.iter().map(|&(column, value)| (column, (self.expr)(value))).collect(),
            ..*traverse
        }
    }

    fn looped(&self, looped: &For) -> For {
        For {
            index: (self.local)(looped.index),
            from: (self.expr)(looped.from),
            to: (self.expr)(looped.to),
            step: (self.expr)(looped.step),
            carries: Vec::new(),
            body: self.stmts(&looped.body),
            span: looped.span,
        }
    }

    fn through(&self, through: &Through) -> Through {
        Through {
            local: (self.local)(through.local),
            predicate: (self.expr)(through.predicate),
            otherwise: through.otherwise.map(&self.expr),
            body: self.stmts(&through.body),
            result: (self.expr)(through.result),
            span: through.span,
        }
    }

    fn arm(&self, arm: &Arm) -> Arm {
        Arm { predicate: arm.predicate.map(&self.expr), value: (self.expr)(arm.value), span: arm.span }
    }

    fn binding(&self, binding: &Binding) -> Binding {
        Binding { local: (self.local)(binding.local), value: (self.expr)(binding.value) }
    }
}
