//! The order of evaluation, as events, without recursion.

use super::{Binding, ExprId, ExprKind, Function, Stmt};

/// One step of [`Function::walk`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// An expression whose operands, branches or block have all been visited. The last event of each expression.
    Expr(ExprId),
    /// This `if`'s condition has been visited; its first branch starts.
    Then(ExprId),
    /// The first branch of this `if` has been visited; the other starts, and ends at the `if`'s own [`Event::Expr`].
    Otherwise(ExprId),
    /// The value has been visited; the name is bound from here on.
    Let(Binding),
    /// A region starts.
    RegionStart,
    /// A stage's value has been visited; the name is bound from here on.
    Stage(Binding),
    /// A region ends.
    RegionEnd,
}

enum Task<'a> {
    Visit(ExprId),
    Stmt(&'a Stmt),
    Event(Event),
}

impl Function {
    /// Visits the body, then the result, in order of evaluation.
    pub fn walk(&self, visit: impl FnMut(Event)) {
        let mut tasks = vec![Task::Visit(self.result)];
        tasks.extend(self.body.iter().rev().map(Task::Stmt));
        self.drive(tasks, visit);
    }

    /// Visits one expression.
    pub fn walk_expr(&self, expr: ExprId, visit: impl FnMut(Event)) {
        self.drive(vec![Task::Visit(expr)], visit);
    }

    fn drive<'a>(&'a self, mut tasks: Vec<Task<'a>>, mut visit: impl FnMut(Event)) {
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
            ExprKind::Block { body, result } => {
                tasks.push(Task::Visit(*result));
                tasks.extend(body.iter().rev().map(Task::Stmt));
            }
        }
    }
}
