//! The order of evaluation, as events, without recursion.

use super::{Binding, ExprId, ExprKind, Function, Stmt, Through};

/// One step of [`Function::walk`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// An expression whose operands, branches or block have all been visited. The last event of each expression.
    Expr(ExprId),
    /// This `if`'s condition has been visited; its first branch starts.
    Then(ExprId),
    /// The first branch of this `if` has been visited; the other starts, and ends at the `if`'s own [`Event::Expr`].
    Otherwise(ExprId),
    /// The predicate of this sweep's arm, if it has one, has been visited; its value starts, and ends where the next arm's
    /// predicate or the sweep's own [`Event::Expr`] comes.
    Arm {
        /// The sweep.
        sweep: ExprId,
        /// Which arm.
        index: usize,
    },
    /// The value has been visited; the name is bound from here on.
    Let(Binding),
    /// A region starts.
    RegionStart,
    /// A stage's value has been visited; the name is bound from here on.
    Stage(Binding),
    /// A region ends.
    RegionEnd,
    /// The predicate of a through block and its value for other lanes have been visited; its body starts.
    Through(&'a Through),
    /// The body and the result have been visited; the name is bound from here on.
    ThroughEnd(&'a Through),
}

enum Task<'a> {
    Visit(ExprId),
    Stmt(&'a Stmt),
    Event(Event<'a>),
}

impl Function {
    /// Visits the body, then the result, in order of evaluation.
    pub fn walk<'a>(&'a self, visit: impl FnMut(Event<'a>)) {
        let mut tasks = vec![Task::Visit(self.result)];
        tasks.extend(self.body.iter().rev().map(Task::Stmt));
        self.drive(tasks, visit);
    }

    /// Visits one expression.
    pub fn walk_expr<'a>(&'a self, expr: ExprId, visit: impl FnMut(Event<'a>)) {
        self.drive(vec![Task::Visit(expr)], visit);
    }

    fn drive<'a>(&'a self, mut tasks: Vec<Task<'a>>, mut visit: impl FnMut(Event<'a>)) {
        while let Some(task) = tasks.pop() {
            match task {
                Task::Event(event) => visit(event),
                Task::Visit(id) => self.push_expr(id, &mut tasks),
                Task::Stmt(Stmt::Let(binding)) => {
                    tasks.push(Task::Event(Event::Let(*binding)));
                    tasks.push(Task::Visit(binding.value));
                }
                Task::Stmt(Stmt::Region(stages)) => {
                    tasks.push(Task::Event(Event::RegionEnd));
                    for stage in stages.iter().rev() {
                        tasks.push(Task::Event(Event::Stage(*stage)));
                        tasks.push(Task::Visit(stage.value));
                    }
                    tasks.push(Task::Event(Event::RegionStart));
                }
                Task::Stmt(Stmt::Through(through)) => {
                    tasks.push(Task::Event(Event::ThroughEnd(through)));
                    tasks.push(Task::Visit(through.result));
                    tasks.extend(through.body.iter().rev().map(Task::Stmt));
                    tasks.push(Task::Event(Event::Through(through)));
                    tasks.extend(through.otherwise.map(Task::Visit));
                    tasks.push(Task::Visit(through.predicate));
                }
            }
        }
    }

    fn push_expr<'a>(&'a self, id: ExprId, tasks: &mut Vec<Task<'a>>) {
        tasks.push(Task::Event(Event::Expr(id)));
        match &self.exprs[id].kind {
            ExprKind::Const(_) | ExprKind::Read(_) => {}
            ExprKind::Op { args, .. } => tasks.extend(args.iter().rev().map(|&arg| Task::Visit(arg))),
            ExprKind::If { condition, then, otherwise } => {
                tasks.push(Task::Visit(*otherwise));
                tasks.push(Task::Event(Event::Otherwise(id)));
                tasks.push(Task::Visit(*then));
                tasks.push(Task::Event(Event::Then(id)));
                tasks.push(Task::Visit(*condition));
            }
            ExprKind::Sweep { arms } => {
                for (index, arm) in arms.iter().enumerate().rev() {
                    tasks.push(Task::Visit(arm.value));
                    tasks.push(Task::Event(Event::Arm { sweep: id, index }));
                    tasks.extend(arm.predicate.map(Task::Visit));
                }
            }
            ExprKind::Block { body, result } => {
                tasks.push(Task::Visit(*result));
                tasks.extend(body.iter().rev().map(Task::Stmt));
            }
        }
    }
}
