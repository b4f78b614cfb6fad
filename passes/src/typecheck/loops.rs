//! Counted loops and statements `if` of general runs, and repeats of runs that stay loops.

use super::body::Body;
use super::definitions::Written;
use super::runs::Around;
use super::statements::misplaced;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::span::Span;
use rake_ir::surface::{self, Block, Loop, StmtKind};
use rake_ir::typed::bodies::Check;
use rake_ir::typed::{ExprId, ExprKind, For, If, LocalId, LocalKind, Repeat, Stmt, integer};
use rake_ir::types::{Elem, Ty};

impl Body<'_, '_> {
    /// Whether the body is a general run's.
    pub fn in_general_run(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.domain.is_none())
    }

    fn around(&mut self, around: Around) {
        if let Some(run) = &mut self.run {
            run.around.push(around);
        }
    }

    fn leave(&mut self) {
        if let Some(run) = &mut self.run {
            run.around.pop();
        }
    }

    /// `for <i: T> from a up to b [by s]:`
    pub fn counted(&mut self, looped: &Loop) -> Option<For> {
        let name = &looped.index;
        let annotation = self.annotation(looped.ty);
        let elem = match annotation.ok().flatten() {
            Some(Written::Scalar(elem)) if elem.is_int() => Some(elem),
            None => None,
            Some(_) => {
                let message = format!("`{}` counts, so its type is `i32` or `u32`", name.text);
                self.error(Code::InvalidType, name.span, message);
                None
            }
        };
        let elem = elem.unwrap_or(Elem::I32);
        let ty = Ty::Uniform(elem);
        if !looped.uniform {
            let message = format!("the index `{}` is a uniform without its mark", name.text);
            let error = Diagnostic::error(Code::UnmarkedUniform, name.span, message);
            self.report(error.help(format!("write `for <{}: {elem}> from ...`", name.text)));
        }
        let bounds = [(looped.from, " as the first index"), (looped.to, " as the bound")].map(|(bound, place)| {
            let value = self.expr(bound, Some(elem));
            self.expect(value, Some(ty), place)
        });
        let step = match looped.step {
            Some(step) => {
                let value = self.expr(step, Some(elem));
                self.expect(value, Some(ty), " as the step")
            }
            None => Some(self.constant_of(1, elem, name.span)),
        };
        let [from, to] = bounds;
        let known = step.and_then(|step| self.known(step, &|_| None)).map(|bits| integer(bits, elem));
        if let (Some(step), Some(by)) = (step, known)
            && by <= 0
        {
            let span = self.exprs[step].span;
            let error = Diagnostic::error(Code::IndexOutOfRange, span, "the step of a loop is above zero");
            self.report(error.help("a loop counts up; subtract the index from what it should count down from"));
        }
        self.open();
        let index = self.bind(&name.text, Some(ty), LocalKind::Value, name.span);
        if let (Some(index), Some(to)) = (index, to) {
            self.around(Around::Loop { index, to, known_step: known.is_some() });
        }
        let body = self.block(&looped.body.stmts);
        if index.is_some() && to.is_some() {
            self.leave();
        }
        self.close();
        let (index, from, to, step) = (index?, from?, to?, step?);
        Some(For { index, from, to, step, carries: Vec::new(), body, span: name.span })
    }

    /// `if c: ... else if c: ... else: ...`
    pub fn choice(&mut self, arms: &[(surface::ExprId, Block)], otherwise: Option<&Block>) -> Option<If> {
        let ((condition, body), rest) = arms.split_first()?;
        let span = self.decls.file.exprs[*condition].span;
        let condition = self.expr(*condition, Some(Elem::Bool));
        let condition = condition.and_then(|condition| {
            let found = self.ty(condition);
            if found == Ty::TRUTH {
                return Some(condition);
            }
            let message = format!("the statement `if` asks for a uniform truth, found {found}");
            let error = Diagnostic::error(Code::TypeMismatch, self.exprs[condition].span, message);
            self.report(match found {
                Ty::Mask(_) => {
                    error.help("a mask becomes one by `any` or `all`; `if c then a else b` chooses per lane")
                }
                _ => error.help("compare it, as in `<n> > <0>`"),
            });
            None
        });
        self.around(Around::If);
        let then = self.body_of(body);
        let otherwise = match (rest, otherwise) {
            ([], None) => Some(Vec::new()),
            ([], Some(body)) => Some(self.body_of(body)),
            (rest, otherwise) => self.choice(rest, otherwise).map(|choice| vec![Stmt::If(choice)]),
        };
        self.leave();
        Some(If { condition: condition?, then, otherwise: otherwise?, merges: Vec::new(), span })
    }

    fn body_of(&mut self, body: &Block) -> Vec<Stmt> {
        self.open();
        let stmts = self.block(&body.stmts);
        self.close();
        stmts
    }

    /// Refuses a loop or statement `if` where it cannot stand.
    pub fn no_general_run(&mut self, stmt: &StmtKind, span: Span) {
        let (message, help) = match (stmt, self.run.is_some()) {
            (StmtKind::For(_), true) => (
                "`for` stands in a general run, and a stack run visits the records itself",
                "`repeat <i: i32> from a up to b:` has a number of trips that is known when compiled",
            ),
            (StmtKind::If { .. }, true) => (
                "the statement `if` stands in a general run, and a stack run visits the records itself",
                "use the expression `if c then a else b`",
            ),
            (stmt, _) => misplaced(stmt, self.word()),
        };
        self.report(Diagnostic::error(Code::MisplacedStatement, span, message).help(help));
    }

    /// A repeat of a run: one that is too long to unroll is a counted loop.
    pub fn repeated(&mut self, repeat: Repeat) -> Option<Stmt> {
        let count = statements(&repeat.body).max(1).saturating_mul(repeat.trips());
        if self.run.is_none() || count <= limits::UNROLLED_STATEMENTS {
            return Some(Stmt::Repeat(repeat));
        }
        let Repeat { index, from, to, body, span } = repeat;
        let elem = self.locals[index].ty.elem();
        self.locals[index].kind = LocalKind::Value;
        let exprs = all_exprs(self, &body);
        if let Some(element) = self.element_by(&body, &exprs, index) {
            let name = self.locals[index].name.clone();
            let message = format!("the index of a rack array must be known when compiled, and `{name}` is not");
            let at = self.exprs[element].span;
            let error = Diagnostic::error(Code::NotConstant, at, message);
            let most = limits::UNROLLED_STATEMENTS;
            self.report(error.label(span, format!("{count} statements, more than {most}, so this stays a loop")));
            return None;
        }
        let [from, to, step] = [from, to, 1].map(|value| self.constant_of(value as u64 & elem.lane_mask(), elem, span));
        let mut looped = For { index, from, to, step, carries: Vec::new(), body, span };
        let direct = accesses(self, &looped.body);
        for id in direct {
            if let ExprKind::Load(access) = self.exprs[id].kind
                && access.check != Check::Unchecked
            {
                let check = self.moment(&access, index, None);
                if let ExprKind::Load(access) = &mut self.exprs[id].kind {
                    access.check = check;
                }
            }
        }
        self.stores(&mut looped.body, index);
        Some(Stmt::For(looped))
    }

    /// Decides again where the stores of a loop's body are checked.
    fn stores(&self, stmts: &mut [Stmt], index: LocalId) {
        for stmt in stmts {
            match stmt {
                Stmt::Store { access, .. } if access.check != Check::Unchecked => {
                    access.check = self.moment(access, index, None);
                }
                Stmt::Repeat(repeat) => self.stores(&mut repeat.body, index),
                _ => {}
            }
        }
    }

    /// The index of an array's element that reads a local.
    fn element_by(&self, body: &[Stmt], exprs: &[ExprId], local: LocalId) -> Option<ExprId> {
        let reads = |&id: &ExprId| {
            let mut tree = vec![id];
            let mut next = 0;
            while let Some(&at) = tree.get(next) {
                next += 1;
                match &self.exprs[at].kind {
                    ExprKind::Read(read) if *read == local => return true,
                    ExprKind::Op { args, .. } => tree.extend(args.iter().copied()),
                    _ => {}
                }
            }
            false
        };
        let elements = exprs.iter().filter_map(|&id| match self.exprs[id].kind {
            ExprKind::Element { index, .. } => Some(index),
            _ => None,
        });
        let mut assigned = Vec::new();
        elements_assigned(body, &mut assigned);
        elements.chain(assigned).find(reads)
    }
}

/// Statements as `unroll` counts them.
fn statements(stmts: &[Stmt]) -> u64 {
    let count = |stmt: &Stmt| match stmt {
        Stmt::Region(stages) => stages.len() as u64,
        Stmt::Repeat(repeat) => statements(&repeat.body).max(1).saturating_mul(repeat.trips()),
        Stmt::For(looped) => statements(&looped.body).saturating_add(1),
        Stmt::If(choice) => statements(&choice.then).saturating_add(statements(&choice.otherwise)).saturating_add(1),
        _ => 1,
    };
    stmts.iter().map(count).fold(0, u64::saturating_add)
}

fn elements_assigned(stmts: &[Stmt], out: &mut Vec<ExprId>) {
    for stmt in stmts {
        match stmt {
            Stmt::Assign { element, .. } => out.extend(*element),
            Stmt::Repeat(repeat) => elements_assigned(&repeat.body, out),
            Stmt::For(looped) => elements_assigned(&looped.body, out),
            Stmt::If(choice) => {
                elements_assigned(&choice.then, out);
                elements_assigned(&choice.otherwise, out);
            }
            _ => {}
        }
    }
}

/// The expressions that stand directly in a statement.
fn direct(stmt: &Stmt, out: &mut Vec<ExprId>) {
    match stmt {
        Stmt::Let(binding) | Stmt::Location(binding) => out.push(binding.value),
        Stmt::Region(stages) => out.extend(stages.iter().map(|stage| stage.value)),
        Stmt::Assign { element, value, .. } => out.extend(element.iter().copied().chain([*value])),
        Stmt::Store { access, value } => out.extend([access.index, *value].into_iter().chain(access.bound)),
        Stmt::For(looped) => out.extend([looped.from, looped.to, looped.step]),
        Stmt::If(choice) => out.push(choice.condition),
        Stmt::Repeat(_) | Stmt::Through(_) | Stmt::Traverse(_) => {}
    }
}

/// What expressions are made of, themselves first.
fn closure(body: &Body, mut exprs: Vec<ExprId>) -> Vec<ExprId> {
    let mut next = 0;
    while let Some(&id) = exprs.get(next) {
        next += 1;
        match &body.exprs[id].kind {
            ExprKind::Element { index, .. } => exprs.push(*index),
            ExprKind::Load(access) => exprs.extend([access.index].into_iter().chain(access.bound)),
            ExprKind::Op { args, .. } | ExprKind::Call { args, .. } => exprs.extend(args.iter().copied()),
            ExprKind::If { condition, then, otherwise } => exprs.extend([*condition, *then, *otherwise]),
            ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Column { .. } => {}
            // Only `inline` and rakes make these.
            ExprKind::Sweep { .. } | ExprKind::Block { .. } => {}
        }
    }
    exprs
}

/// All expressions in statements, inner bodies included.
fn all_exprs(body: &Body, stmts: &[Stmt]) -> Vec<ExprId> {
    fn gather(stmts: &[Stmt], out: &mut Vec<ExprId>) {
        for stmt in stmts {
            direct(stmt, out);
            match stmt {
                Stmt::Repeat(repeat) => gather(&repeat.body, out),
                Stmt::For(looped) => gather(&looped.body, out),
                Stmt::If(choice) => {
                    gather(&choice.then, out);
                    gather(&choice.otherwise, out);
                }
                _ => {}
            }
        }
    }
    let mut exprs = Vec::new();
    gather(stmts, &mut exprs);
    closure(body, exprs)
}

/// The expressions that every trip of a loop with this body computes and that have no loop of their own.
fn accesses(body: &Body, stmts: &[Stmt]) -> Vec<ExprId> {
    fn gather(stmts: &[Stmt], out: &mut Vec<ExprId>) {
        for stmt in stmts {
            direct(stmt, out);
            if let Stmt::Repeat(repeat) = stmt {
                gather(&repeat.body, out);
            }
        }
    }
    let mut exprs = Vec::new();
    gather(stmts, &mut exprs);
    closure(body, exprs)
}
