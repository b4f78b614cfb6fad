//! The order of evaluation, as events, without recursion.

use super::{Access, Binding, ExprId, ExprKind, For, Function, If, Stmt, Through, Traverse};

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
    /// The parts of the place and the value have been visited.
    Store(&'a Access, ExprId),
    /// A stack run's body starts.
    TraverseStart(&'a Traverse),
    /// The predicate of its result, if it has one, has been visited; the new values of columns start.
    Where(&'a Traverse),
    /// The new values of its columns have been visited.
    TraverseEnd(&'a Traverse),
    /// A loop's bounds and step and the first values of its carries have been visited; its body starts and is visited once.
    ForStart(&'a For),
    /// A loop's body and its carries' next values ends.
    ForEnd(&'a For),
    /// The condition of a statement `if` has been visited; its first body starts.
    If(&'a If),
    /// The first body and its values of the merges has been visited; the other starts.
    Else(&'a If),
    /// The other body and its values of the merges has been visited.
    IfEnd(&'a If),
}

enum Task<'a> {
    Visit(ExprId),
    Stmt(&'a Stmt),
    Event(Event<'a>),
}

impl Function {
    /// Visits the body, then the result, in order of evaluation.
    pub fn walk<'a>(&'a self, visit: impl FnMut(Event<'a>)) {
        let mut tasks: Vec<Task> = self.result.into_iter().map(Task::Visit).collect();
        tasks.extend(self.body.iter().rev().map(Task::Stmt));
        self.drive(tasks, visit);
    }

    /// Visits one statement.
    pub fn walk_stmt<'a>(&'a self, stmt: &'a Stmt, visit: impl FnMut(Event<'a>)) {
        self.drive(vec![Task::Stmt(stmt)], visit);
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
                Task::Stmt(stmt) => push_stmt(stmt, &mut tasks),
            }
        }
    }

    fn push_expr<'a>(&'a self, id: ExprId, tasks: &mut Vec<Task<'a>>) {
        tasks.push(Task::Event(Event::Expr(id)));
        match &self.exprs[id].kind {
            ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Column { .. } => {}
            ExprKind::Load(access) => push_access(access, tasks),
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

/// The parts of an access; visited before what was pushed earlier.
fn push_access(access: &Access, tasks: &mut Vec<Task>) {
    tasks.extend(access.bound.map(Task::Visit));
    tasks.push(Task::Visit(access.index));
}

fn push_stmt<'a>(stmt: &'a Stmt, tasks: &mut Vec<Task<'a>>) {
    match stmt {
        Stmt::Let(binding) => {
            tasks.push(Task::Event(Event::Let(*binding)));
            tasks.push(Task::Visit(binding.value));
        }
        Stmt::Region(stages) => {
            tasks.push(Task::Event(Event::RegionEnd));
            for stage in stages.iter().rev() {
                tasks.push(Task::Event(Event::Stage(*stage)));
                tasks.push(Task::Visit(stage.value));
            }
            tasks.push(Task::Event(Event::RegionStart));
        }
        Stmt::Through(through) => {
            tasks.push(Task::Event(Event::ThroughEnd(through)));
            tasks.push(Task::Visit(through.result));
            tasks.extend(through.body.iter().rev().map(Task::Stmt));
            tasks.push(Task::Event(Event::Through(through)));
            tasks.extend(through.otherwise.map(Task::Visit));
            tasks.push(Task::Visit(through.predicate));
        }
        Stmt::Traverse(traverse) => {
            tasks.push(Task::Event(Event::TraverseEnd(traverse)));
            tasks.extend(traverse.columns.iter().rev().map(|&(_, value)| Task::Visit(value)));
            tasks.push(Task::Event(Event::Where(traverse)));
            tasks.extend(traverse.predicate.map(Task::Visit));
            tasks.extend(traverse.body.iter().rev().map(Task::Stmt));
            tasks.push(Task::Event(Event::TraverseStart(traverse)));
        }
        Stmt::Store { access, value } => {
            tasks.push(Task::Event(Event::Store(access, *value)));
            tasks.push(Task::Visit(*value));
            push_access(access, tasks);
        }
        Stmt::For(looped) => {
            tasks.push(Task::Event(Event::ForEnd(looped)));
            tasks.extend(looped.carries.iter().rev().map(|carry| Task::Visit(carry.next)));
            tasks.extend(looped.body.iter().rev().map(Task::Stmt));
            tasks.push(Task::Event(Event::ForStart(looped)));
            tasks.extend(looped.carries.iter().rev().map(|carry| Task::Visit(carry.first)));
            tasks.extend([looped.step, looped.to, looped.from].map(Task::Visit));
        }
        Stmt::If(choice) => {
            tasks.push(Task::Event(Event::IfEnd(choice)));
            tasks.extend(choice.merges.iter().rev().map(|merge| Task::Visit(merge.otherwise)));
            tasks.extend(choice.otherwise.iter().rev().map(Task::Stmt));
            tasks.push(Task::Event(Event::Else(choice)));
            tasks.extend(choice.merges.iter().rev().map(|merge| Task::Visit(merge.then)));
            tasks.extend(choice.then.iter().rev().map(Task::Stmt));
            tasks.push(Task::Event(Event::If(choice)));
            tasks.push(Task::Visit(choice.condition));
        }
    }
}
