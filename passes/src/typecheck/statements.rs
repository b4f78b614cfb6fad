//! Statements of scratches and rakes.

use super::body::{Body, Checked, In};
use super::definitions::{Signature, Written, not_available};
use super::rakes::ThroughHeader;
use super::views::Place;
use rake_ir::capabilities::Feature;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::span::Span;
use rake_ir::surface::{self, Def, DefKind, Loop, Name, Stage, StmtId, StmtKind, TypeId};
use rake_ir::typed::{Binding, ExprKind, Function, FunctionKind, LocalId, LocalKind, Repeat, Stmt, fold_int, integer};
use rake_ir::types::{Elem, Ty};

impl Body<'_, '_> {
    /// The checked function; `None` when it has an error.
    pub fn function(mut self, def: &Def, function: &surface::Function, signature: &Signature) -> Option<Function> {
        self.rake = matches!(def.kind, DefKind::Rake(_));
        let params = self.params(&function.params, signature);
        let stmts = &function.body.stmts;
        let last = stmts.split_last().map(|(&last, rest)| (&self.decls.file.stmts[last], rest));
        let mut body = Vec::new();
        let result = match last {
            Some((surface::Stmt { kind: StmtKind::Sweep(arms), span }, rest)) if self.rake => {
                body = self.block(rest);
                self.sweep(arms, signature.result, *span)
            }
            Some((surface::Stmt { kind: StmtKind::Expr(value), .. }, rest)) if !self.rake => {
                body = self.block(rest);
                let hint = signature.result.map(Ty::elem);
                let value = self.expr(*value, hint);
                self.expect(value, signature.result, " as the result")
            }
            other => {
                self.no_result(def, stmts, other.map(|(last, _)| last));
                None
            }
        };
        let (result, ty, params) = (result?, signature.result?, params?);
        if self.failed {
            return None;
        }
        let (name, span) = (def.name.text.clone(), def.name.span);
        let kind = if self.rake { FunctionKind::Rake } else { FunctionKind::Scratch };
        let (locals, exprs, pointees) = (self.locals, self.exprs, self.pointees);
        let (result, ty) = (Some(result), Some(ty));
        Some(Function { kind, name, span, params, pointees, locals, exprs, body, result, ty })
    }

    /// Checks and reports a body whose last statement is no result.
    fn no_result(&mut self, def: &Def, stmts: &[StmtId], last: Option<&surface::Stmt>) {
        let name = &def.name.text;
        let (message, span) = match last {
            Some(surface::Stmt { kind: StmtKind::Expr(value), span }) => {
                self.block(&stmts[..stmts.len() - 1]);
                self.expr(*value, None);
                (format!("the result of the rake `{name}` is a sweep, and this is an expression"), *span)
            }
            Some(surface::Stmt { kind: StmtKind::Assign { place, value }, span })
                if matches!(self.decls.file.exprs[*value].kind, surface::ExprKind::Number(_))
                    && !self.is_location(*place) =>
            {
                self.block(&stmts[..stmts.len() - 1]);
                let message = format!("`<-` assigns, and `{name}` has no result");
                let error = Diagnostic::error(Code::MissingResult, *span, message);
                self.report(error.help("to compare with a negative number put a space between: `x < -1.0`"));
                return;
            }
            last => {
                self.block(stmts);
                // What was reported for these is enough.
                let file = self.decls.file;
                let misplaced = stmts.iter().any(|&stmt| matches!(file.stmts[stmt].kind, StmtKind::Sweep(_)));
                if misplaced || last.is_some_and(|last| matches!(last.kind, StmtKind::Error)) {
                    return;
                }
                (format!("`{name}` has no result"), last.map_or(def.name.span, |last| last.span.at_end()))
            }
        };
        let help = match self.rake {
            true => "end the body with `sweep:` and its arms, `| P => e` and `| _ => e`",
            false => "end the body with an expression",
        };
        self.report(Diagnostic::error(Code::MissingResult, span, message).help(help));
    }

    /// Whether the place starts with a name that can be assigned.
    fn is_location(&self, place: surface::ExprId) -> bool {
        let base = match self.decls.file.exprs[place].kind {
            surface::ExprKind::Index { base, .. } => base,
            _ => place,
        };
        let surface::ExprKind::Name(name) = &self.decls.file.exprs[base].kind else { return false };
        let local = self.lookup(name).flatten().map(|local| self.locals[local].kind);
        matches!(local, Some(LocalKind::Location | LocalKind::Array(_)))
    }

    /// Binds the parameters; `None` when one has an error.
    pub fn params(&mut self, params: &[surface::Param], signature: &Signature) -> Option<Vec<LocalId>> {
        let params = params.iter().zip(&signature.params);
        let params: Vec<Option<LocalId>> =
            params.map(|(param, ty)| self.bind(&param.name.text, *ty, LocalKind::Value, param.name.span)).collect();
        params.into_iter().collect()
    }

    pub fn block(&mut self, stmts: &[StmtId]) -> Vec<Stmt> {
        stmts.iter().filter_map(|&stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, id: StmtId) -> Option<Stmt> {
        let file = self.decls.file;
        let stmt = &file.stmts[id];
        match &stmt.kind {
            StmtKind::Let { name, uniform, ty, value } => self.bound(name, *uniform, *ty, *value).map(Stmt::Let),
            StmtKind::Region(stages) => {
                let stages: Vec<Option<Binding>> = stages.iter().map(|stage| self.stage(stage)).collect();
                stages.into_iter().collect::<Option<Vec<Binding>>>().map(Stmt::Region)
            }
            StmtKind::Location { name, ty, value } => self.location(name, *ty, *value).map(Stmt::Location),
            StmtKind::Assign { place, value } => self.assign(*place, *value),
            StmtKind::Repeat(looped) => self.repeat(looped).and_then(|repeat| self.repeated(repeat)),
            StmtKind::For(looped) if self.in_general_run() => self.counted(looped).map(Stmt::For),
            StmtKind::If { arms, otherwise } if self.in_general_run() => {
                self.choice(arms, otherwise.as_ref()).map(Stmt::If)
            }
            StmtKind::Tine { name, predicate } if (self.rake || self.run.is_some()) && self.inside.is_none() => {
                self.local_tine(name, *predicate).map(Stmt::Let)
            }
            StmtKind::Through { predicate, otherwise, name, body } if self.rake && self.inside.is_none() => {
                let (predicate, otherwise) = (*predicate, *otherwise);
                let span = Span { end: name.span.end, ..stmt.span };
                self.through(&ThroughHeader { predicate, otherwise, name, body, span }).map(Stmt::Through)
            }
            StmtKind::Expr(value) if self.meant_binding(*value) => {
                self.failed = true;
                None
            }
            StmtKind::Expr(value) => {
                self.expr(*value, None);
                let equals =
                    matches!(file.exprs[*value].kind, surface::ExprKind::Binary { op: surface::BinaryOp::Eq, .. });
                let (message, help) = if equals {
                    (
                        "`=` compares, and the result of this comparison is not used",
                        "`let name = ...` binds a name, `name := ...` declares a location, `name <- ...` assigns it",
                    )
                } else {
                    ("the value of this expression is not used", "bind it with `let`, or make it the last line")
                };
                self.report(Diagnostic::error(Code::MisplacedStatement, stmt.span, message).help(help));
                None
            }
            StmtKind::Error => {
                self.failed = true;
                None
            }
            other => {
                self.misplaced(other, stmt.span);
                None
            }
        }
    }

    /// Whether this is `y = x` with a `y` that nothing binds, which `resolve` reports.
    fn meant_binding(&self, value: surface::ExprId) -> bool {
        let exprs = &self.decls.file.exprs;
        let surface::ExprKind::Binary { op: surface::BinaryOp::Eq, left, .. } = exprs[value].kind else { return false };
        let surface::ExprKind::Name(name) = &exprs[left].kind else { return false };
        self.lookup(name).is_none() && self.decls.meaning(name).is_none()
    }

    fn misplaced(&mut self, stmt: &StmtKind, span: Span) {
        if let Some(In::Through { name, .. }) = &self.inside {
            let what = match stmt {
                StmtKind::Tine { .. } => Some("a tine"),
                StmtKind::Through { .. } => Some("another through block"),
                StmtKind::Sweep(_) => Some("a sweep"),
                _ => None,
            };
            if let Some(what) = what {
                let message = format!("{what} cannot stand in the through body of `{name}`");
                let error = Diagnostic::error(Code::NotInThrough, span, message);
                self.report(error.help("a through body holds bindings and its result; move this before the block"));
                return;
            }
        }
        self.no_general_run(stmt, span);
    }

    /// The word that defines what the body belongs to.
    pub fn word(&self) -> &'static str {
        match (self.rake, &self.run) {
            (true, _) => "rake",
            (_, Some(_)) => "run",
            _ => "scratch",
        }
    }

    /// The declared type of a binding; `Err` when it is written but has an error.
    pub fn annotation(&mut self, ty: Option<TypeId>) -> Result<Option<Written>, ()> {
        let Some(ty) = ty else { return Ok(None) };
        self.decls.written(ty, self.diagnostics).map(Some).ok_or_else(|| self.failed = true)
    }

    fn bound(&mut self, name: &Name, uniform: bool, ty: Option<TypeId>, value: surface::ExprId) -> Option<Binding> {
        let annotation = self.annotation(ty);
        let written = annotation.ok().flatten();
        let declared = written.and_then(Written::ty);
        let checked = self.expr(value, declared.map(Ty::elem));
        let ty = match (annotation, written) {
            (Err(()), _) => None,
            (_, Some(Written::Array(..))) => {
                let error = Diagnostic::error(Code::InvalidType, name.span, "an array of racks is a mutable location");
                self.report(error.help(format!("write `{}: [n]T := value`", name.text)));
                None
            }
            _ => self.marked(name, uniform, declared.or_else(|| checked.map(|value| self.ty(value)))),
        };
        let place = format!(" in `{}`", name.text);
        let checked = self.expect(checked, ty, &place);
        let local = self.bind(&name.text, ty, LocalKind::Value, name.span)?;
        Some(Binding { local, value: checked? })
    }

    /// Refuses a uniform bound without a mark and a rack bound with one.
    fn marked(&mut self, name: &Name, uniform: bool, ty: Option<Ty>) -> Option<Ty> {
        let (ty, text) = (ty?, &name.text);
        match (ty, uniform) {
            (Ty::Uniform(elem), false) => {
                let message = format!("`{text}` is a uniform without its mark");
                let error = Diagnostic::error(Code::UnmarkedUniform, name.span, message);
                self.report(
                    error
                        .help(format!("write `let <{text}: {elem}> = ...`, or `let {text}: {elem}s = ...` for a rack")),
                );
            }
            (Ty::Rack(_) | Ty::Mask(_), true) => {
                let message = format!("`{text}` is marked as a uniform, but it is {ty}");
                let error = Diagnostic::error(Code::MarkedRack, name.span, message);
                self.report(error.help(format!("remove the angle brackets: `let {text} = ...`")));
            }
            _ => {}
        }
        Some(ty)
    }

    fn stage(&mut self, stage: &Stage) -> Option<Binding> {
        let name = &stage.name;
        let annotation = self.annotation(stage.ty);
        let declared = annotation.ok().flatten().and_then(Written::ty);
        self.stage = Some(name.text.clone());
        let mut value = self.expr(stage.value, declared.map(Ty::elem));
        self.stage = None;
        if let (Some(found), Some(ty)) = (value, declared) {
            if self.decls.flexible.default(stage.value).is_some() || self.is_const(found) {
                self.coerce(found, ty);
            }
            if self.ty(found) != ty
                && !(self.ty(found).is_uniform() && self.decls.flexible.default(stage.value).is_some())
            {
                let (found, span) = (self.ty(found), self.exprs[found].span);
                let message = format!("`{}` is declared {ty}, but its value is {found}", name.text);
                let error = Diagnostic::error(Code::TypeMismatch, span, message);
                self.report(
                    error.help("a stage's type, when written, equals the type of its value; it may be left out"),
                );
                value = None;
            }
        }
        let ty = declared.or_else(|| value.map(|value| self.ty(value)));
        let ty = if annotation.is_err() { None } else { ty };
        // A stage that failed is silent to its readers, whatever its declared type.
        let local = self.bind(&name.text, value.and(ty), LocalKind::Value, name.span)?;
        Some(Binding { local, value: value? })
    }

    fn is_const(&self, expr: rake_ir::typed::ExprId) -> bool {
        matches!(self.exprs[expr].kind, ExprKind::Const(_))
    }

    fn location(&mut self, name: &Name, ty: Option<TypeId>, value: surface::ExprId) -> Option<Binding> {
        let annotation = self.annotation(ty);
        let written = annotation.ok().flatten();
        let (declared, count) = match written {
            Some(Written::Array(element, count)) => (self.element_type(element), self.count(count)),
            other => (other.and_then(Written::ty), None),
        };
        let array = matches!(written, Some(Written::Array(..)));
        let checked = match (&self.decls.file.exprs[value].kind, array) {
            (surface::ExprKind::Array(_) | surface::ExprKind::ArrayFill { .. }, true) => {
                let span = self.decls.file.exprs[value].span;
                self.report(not_available(Feature::ArrayLiterals, self.decls.profile, span));
                None
            }
            _ => self.expr(value, declared.map(Ty::elem)),
        };
        let ty = declared.or_else(|| checked.filter(|_| written.is_none()).map(|value| self.ty(value)));
        let ty = self.location_rack(ty, written);
        let ty = ty.filter(|_| annotation.is_ok() && (!array || count.is_some()));
        if let Some(Ty::Uniform(elem)) = ty {
            let message = format!("`{}` is a uniform, but locations in vector code hold racks and masks", name.text);
            let error = Diagnostic::error(Code::InvalidType, name.span, message);
            self.report(error.help(format!("write `{}: {elem}s := ...`", name.text)));
        }
        let place = format!(" in `{}`", name.text);
        let checked = self.expect(checked, ty, &place);
        let kind = count.map_or(LocalKind::Location, LocalKind::Array);
        let local = self.bind(&name.text, ty, kind, name.span)?;
        Some(Binding { local, value: checked? })
    }

    fn element_type(&mut self, ty: TypeId) -> Option<Ty> {
        let written = self.decls.written(ty, self.diagnostics);
        self.failed |= written.is_none();
        if let Some(Written::Array(..)) = written {
            self.error(Code::InvalidType, self.decls.file.types[ty].span, "arrays of racks have one dimension");
        }
        written.and_then(Written::ty)
    }

    fn count(&mut self, count: surface::ExprId) -> Option<u32> {
        let value = self.constant(count, None, "the length of an array")?;
        let span = self.decls.file.exprs[count].span;
        if !(1..=i128::from(limits::ARRAY_ELEMENTS)).contains(&value) {
            let message = format!("an array of racks has 1 to {} elements", limits::ARRAY_ELEMENTS);
            self.error(Code::LimitExceeded, span, message);
            return None;
        }
        u32::try_from(value).ok()
    }

    /// The value of an integer that must be known when compiled.
    pub fn constant(&mut self, expr: surface::ExprId, elem: Option<Elem>, what: &str) -> Option<i128> {
        let checked = self.expr(expr, elem)?;
        let ty = self.ty(checked);
        match self.known(checked, &|_| None) {
            Some(bits) => Some(integer(bits, ty.elem())),
            None => {
                let span = self.exprs[checked].span;
                let error = Diagnostic::error(Code::NotConstant, span, format!("{what} must be known when compiled"));
                self.report(error.help("use literals, constants and `lanes`, joined by `+ - *`"));
                None
            }
        }
    }

    /// The bits of a uniform integer of constants and the locals that `index` knows.
    pub fn known(&self, expr: rake_ir::typed::ExprId, index: &impl Fn(LocalId) -> Option<u64>) -> Option<u64> {
        fold_int(&self.exprs, expr, index)
    }

    fn assign(&mut self, place: surface::ExprId, value: surface::ExprId) -> Option<Stmt> {
        let file = self.decls.file;
        let span = file.exprs[place].span;
        if let surface::ExprKind::Index { base, index, unchecked, bound } = file.exprs[place].kind
            && let Some(view) = self.view(base)
        {
            return self.view_store(view, Place { index, unchecked, bound, span }, value);
        }
        let (base, index) = match &file.exprs[place].kind {
            surface::ExprKind::Index { base, index, .. } => (*base, Some(*index)),
            _ => (place, None),
        };
        let local = match &file.exprs[base].kind {
            surface::ExprKind::Name(name) => self.lookup(name),
            _ => None,
        };
        let Some(Some(local)) = local else {
            if local.is_none() && !matches!(file.exprs[base].kind, surface::ExprKind::Name(_)) {
                self.error(Code::NotALocation, span, "this is no location of vector code");
            }
            self.failed = true;
            self.expr(value, None);
            return None;
        };
        let (kind, ty) = (self.locals[local].kind, self.locals[local].ty);
        if let Some(In::Through { name, floor }) = &self.inside
            && (local.into_raw().into_u32() as usize) < *floor
            && matches!(kind, LocalKind::Location | LocalKind::Array(_))
        {
            let (bound, of) = (self.locals[local].span, &self.locals[local].name);
            let message = format!("`{of}` stands outside of the through block `{name}`, which cannot assign it");
            let help =
                format!("make the new value the block's result, and assign it after the block: `{of} <- {name}`");
            let error = Diagnostic::error(Code::NotInThrough, span, message);
            self.report(error.label(bound, "declared here").help(help));
        }
        let element = match (kind, index) {
            (LocalKind::Array(_), Some(index)) => Some(self.array_index(index)?),
            (LocalKind::Location, None) => None,
            _ => {
                self.not_a_location(local, span);
                return None;
            }
        };
        let checked = self.expr(value, Some(ty.elem()));
        let place = format!(" in `{}`", self.locals[local].name);
        let value = self.expect(checked, Some(ty), &place)?;
        Some(Stmt::Assign { local, element, value })
    }

    fn not_a_location(&mut self, local: LocalId, span: Span) {
        let local = &self.locals[local];
        let name = &local.name;
        let (message, help) = match local.kind {
            LocalKind::Array(_) => {
                (format!("`{name}` is an array"), format!("assign one element: `{name}[<k>] <- ...`"))
            }
            LocalKind::Location => (format!("`{name}` is no array"), format!("assign it whole: `{name} <- ...`")),
            _ => (format!("`{name}` is bound once and no location"), format!("declare it with `{name} := ...`")),
        };
        let bound = local.span;
        self.report(Diagnostic::error(Code::NotALocation, span, message).label(bound, "bound here").help(help));
    }

    fn repeat(&mut self, looped: &Loop) -> Option<Repeat> {
        let name = &looped.index;
        let annotation = self.annotation(looped.ty);
        let elem = match annotation.ok().flatten() {
            Some(Written::Scalar(elem)) if elem.is_int() => Some(elem),
            None => None,
            Some(_) => {
                self.error(
                    Code::InvalidType,
                    name.span,
                    format!("`{}` counts, so its type is `i32` or `u32`", name.text),
                );
                None
            }
        };
        let known = [looped.from, looped.to].map(|bound| self.constant(bound, elem, "a bound of a repeat"));
        if let Some(step) = looped.step {
            let error =
                Diagnostic::error(Code::MisplacedStatement, self.decls.file.exprs[step].span, "a repeat has no step");
            self.report(error.help("multiply the index instead"));
        }
        let elem = elem.unwrap_or(Elem::I32);
        if !looped.uniform {
            let message = format!("the index `{}` is a uniform without its mark", name.text);
            let error = Diagnostic::error(Code::UnmarkedUniform, name.span, message);
            self.report(error.help(format!("write `repeat <{}: {elem}> from ...`", name.text)));
        }
        self.open();
        let index = self.bind(&name.text, Some(Ty::Uniform(elem)), LocalKind::Index, name.span);
        let body = self.block(&looped.body.stmts);
        self.close();
        let [from, to] = known.map(|bound| bound.and_then(|value| i64::try_from(value).ok()));
        Some(Repeat { index: index?, from: from?, to: to?, body, span: name.span })
    }

    /// The index of an array's element: a uniform integer of constants and indices of repeats.
    pub fn array_index(&mut self, index: surface::ExprId) -> Checked {
        let checked = self.expr(index, None)?;
        let of_repeat = |local: LocalId| (self.locals[local].kind == LocalKind::Index).then_some(0);
        if self.known(checked, &of_repeat).is_some() {
            return Some(checked);
        }
        let span = self.exprs[checked].span;
        let error = Diagnostic::error(Code::NotConstant, span, "the index of a rack array must be known when compiled");
        self.report(error.help("registers have no addresses; use literals, constants and the index of a repeat"));
        None
    }
}

pub fn misplaced(stmt: &StmtKind, word: &str) -> (&'static str, &'static str) {
    match (stmt, word) {
        (StmtKind::Tine { .. }, "run") => ("a tine stands in the body of a run itself", "move it up, out of the loop"),
        (StmtKind::Tine { .. }, _) => {
            ("a local tine stands in a rake, not in a scratch", "write `rake` instead of `scratch`")
        }
        (StmtKind::Through { .. }, "run") => (
            "a through block stands in a rake, not in a run",
            "call a rake, or choose lane by lane with `if c then a else b`",
        ),
        (StmtKind::Through { .. }, _) => {
            ("a through block stands in a rake, not in a scratch", "write `rake` instead of `scratch`")
        }
        (StmtKind::Sweep(_), "rake") => (
            "a sweep is the last statement of a rake",
            "move it to the end, and bind other choices with `let` and `if`",
        ),
        (StmtKind::Sweep(_), "run") => {
            ("a sweep stands in a rake, not in a run", "call a rake, or choose lane by lane with `if c then a else b`")
        }
        (StmtKind::Sweep(_), _) => ("a sweep stands in a rake, not in a scratch", "write `rake` instead of `scratch`"),
        (StmtKind::Return(_), "run") => ("vector code has no `return`", "a run ends with its last statement"),
        (StmtKind::With { .. } | StmtKind::Compact { .. }, "run") => {
            ("this result form is the last statement of a stack run", "move it to the end of the body")
        }
        _ => elsewhere(stmt, word == "rake"),
    }
}

fn elsewhere(stmt: &StmtKind, rake: bool) -> (&'static str, &'static str) {
    match stmt {
        StmtKind::For(_) => {
            ("`for` stands in a run", "vector code outside of runs has `repeat <i: i32> from a up to b:`")
        }
        StmtKind::While { .. } => {
            ("vector code has no `while`", "`repeat` takes a number of steps that is known when compiled")
        }
        StmtKind::If { .. } => ("the statement `if` stands in a run", "use the expression `if c then a else b`"),
        StmtKind::Return(_) => (
            "vector code has no `return`",
            if rake { "the sweep is the result" } else { "the last line is the result" },
        ),
        StmtKind::Break | StmtKind::Continue => {
            ("vector code has no `break` and no `continue`", "choose lane by lane with `if c then a else b`")
        }
        StmtKind::With { .. } | StmtKind::Compact { .. } => {
            ("this result form belongs to a stack run", "a scratch or rake returns a rack")
        }
        _ => ("this form cannot stand here", "bind values with `let`"),
    }
}
