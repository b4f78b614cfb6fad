//! Runs: their parameters, and the result of a stack run.

use super::body::{Body, Checked};
use super::definitions::{Written, not_available};
use super::packs::{self, Columns};
use rake_ir::capabilities::Feature;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::span::Span;
use rake_ir::surface::{self, Def, ExprId, FieldInit, Name, Param, StmtKind, TypeKind};
use rake_ir::typed::bodies::working_rack;
use rake_ir::typed::{self, Function, FunctionKind, LocalId, LocalKind, Stmt, Traverse};
use rake_ir::types::{Elem, Pointee, Ty};
use smol_str::{SmolStr, format_smolstr};

/// What the checker knows of the run around an expression.
pub struct Run {
    /// The width of a stack run's lanes; `None` in a general run.
    pub domain: Option<u32>,
    /// Whether the new value of a column under a `where` is being checked.
    pub replaces: bool,
    /// How many branches of conditionals are around the current point.
    pub branches: usize,
    /// The loops and statements `if` around it, innermost last.
    pub around: Vec<Around>,
}

/// A body around the current point.
#[derive(Clone, Copy)]
pub enum Around {
    /// A counted loop: its index, and whether its step is known when compiled.
    Loop { index: LocalId, to: typed::ExprId, known_step: bool },
    /// A body of a statement `if`.
    If,
}

/// The result of a stack run as written.
struct Replaced<'a> {
    stack: &'a Name,
    fields: &'a [FieldInit],
    predicate: Option<ExprId>,
    compact: bool,
    span: Span,
}

impl Body<'_, '_> {
    /// The checked run; `None` when it has an error.
    pub fn run(mut self, def: &Def, function: &surface::Function) -> Option<Function> {
        let file = self.decls.file;
        let result = self.result_pack(function);
        let last = function.body.stmts.split_last().map(|(&last, rest)| (&file.stmts[last], rest));
        let replaced = last.and_then(|(last, _)| match &last.kind {
            StmtKind::With { stack, fields, predicate } => {
                Some(Replaced { stack, fields, predicate: *predicate, compact: false, span: last.span })
            }
            StmtKind::Compact { stack, fields, predicate } => {
                Some(Replaced { stack, fields, predicate: Some(*predicate), compact: true, span: last.span })
            }
            _ => None,
        });
        let gives = function.result.is_some_and(|ty| matches!(file.types[ty].kind, TypeKind::Stack(_)));
        let stack_run = gives || replaced.is_some();
        let feature = if stack_run { Feature::StackRuns } else { Feature::GeneralRuns };
        if !feature.is_checked() {
            self.report(not_available(feature, self.decls.profile, def.name.span));
            return None;
        }
        let domain = stack_run.then(|| self.decls.domain(function));
        self.run = Some(Run { domain, replaces: false, branches: 0, around: Vec::new() });
        let written = replaced.as_ref().map(|replaced| replaced.stack.text.as_str());
        let params = self.run_params(&function.params, written);
        let body = match (replaced, last) {
            (Some(replaced), Some((_, rest))) => {
                let stmts = self.block(rest);
                if function.result.is_none() {
                    let message = format!("`{}` gives a stack, and does not name its type", def.name.text);
                    let error = Diagnostic::error(Code::MissingResult, def.name.span, message);
                    let pack = self.pack_of(replaced.stack).unwrap_or_else(|| "Name".into());
                    self.report(error.help(format!("write `-> stack {pack}:` after the parameters")));
                }
                let traverse = self.replaced(&replaced, result, stmts, domain.unwrap_or(32));
                vec![Stmt::Traverse(traverse?)]
            }
            (_, last) => {
                let stmts = self.block(&function.body.stmts);
                let reported = |last: &surface::Stmt| matches!(last.kind, StmtKind::Error | StmtKind::Expr(_));
                if gives && last.is_none_or(|(last, _)| !reported(last)) {
                    let span = last.map_or(def.name.span, |(last, _)| last.span.at_end());
                    let message = format!("`{}` has no result", def.name.text);
                    let error = Diagnostic::error(Code::MissingResult, span, message);
                    self.report(error.help(
                        "end the body with `s with { field: value }` or `compact s where p`, with a stack parameter `s`",
                    ));
                }
                stmts
            }
        };
        let params = params?;
        if self.failed {
            return None;
        }
        let (name, span) = (def.name.text.clone(), def.name.span);
        let (locals, exprs, pointees) = (self.locals, self.exprs, self.pointees);
        let kind = FunctionKind::Run;
        Some(Function { kind, name, span, params, pointees, locals, exprs, body, result: None, ty: None })
    }

    /// The pack of the stack that a run gives.
    fn result_pack(&mut self, function: &surface::Function) -> Option<SmolStr> {
        let written = &self.decls.file.types[function.result?];
        match &written.kind {
            TypeKind::Stack(pack) => {
                self.known_pack(pack)?;
                Some(pack.text.clone())
            }
            TypeKind::Error => {
                self.failed = true;
                None
            }
            _ => {
                let error = Diagnostic::error(Code::InvalidType, written.span, "a run gives a stack or nothing");
                self.report(error.help("other results are written to a view: `out: mut []T`"));
                None
            }
        }
    }

    fn known_pack(&mut self, pack: &Name) -> Option<Columns> {
        let found = self.decls.pack(&pack.text).cloned();
        if found.is_none() {
            let error = self.decls.no_pack(pack);
            self.report(error);
        }
        found
    }

    /// Binds the parameters as C passes them; `None` when one has an error.
    fn run_params(&mut self, params: &[Param], written: Option<&str>) -> Option<Vec<LocalId>> {
        let mut bound = Vec::new();
        let mut sound = true;
        let mut vectors = 0;
        for param in params {
            let before = bound.len();
            self.run_param(param, written, &mut bound);
            sound &= bound.len() > before;
            for &local in &bound[before..] {
                let ty = self.locals[local].ty;
                let vector = matches!(ty, Ty::Rack(_) | Ty::Mask(_)) || matches!(ty, Ty::Uniform(e) if e.is_float());
                vectors += usize::from(vector);
                if !ty.is_uniform() && vectors > limits::VECTOR_ARGUMENTS {
                    let most = limits::VECTOR_ARGUMENTS;
                    let message = format!("`{}` is no rack that a register carries", param.name.text);
                    let error = Diagnostic::error(Code::TooManyArguments, param.span, message);
                    self.report(error.help(format!(
                        "racks and float uniforms share {most} registers, and racks never go on the stack; move it up"
                    )));
                }
            }
        }
        sound.then_some(bound)
    }

    fn run_param(&mut self, param: &Param, written: Option<&str>, bound: &mut Vec<LocalId>) {
        let file = self.decls.file;
        let (name, ty) = (&param.name, &file.types[param.ty]);
        let stack_run = self.run.as_ref().is_some_and(|run| run.domain.is_some());
        let memory = matches!(ty.kind, TypeKind::Stack(_) | TypeKind::View(_));
        if memory && param.uniform {
            let message = format!("`{}` is no uniform but carries a mark", name.text);
            let error = Diagnostic::error(Code::MarkedRack, param.span, message);
            self.report(error.help("remove the angle brackets"));
        }
        match &ty.kind {
            TypeKind::Stack(pack) => {
                if param.mutable {
                    let message = format!("`{}` is a stack, which is not marked `mut`", name.text);
                    let error = Diagnostic::error(Code::InvalidType, param.span, message);
                    self.report(error.help("a run writes the stack that it gives, which is moved in, and no other"));
                }
                if !stack_run {
                    let message = format!("`{}` is a stack, and this run gives none", name.text);
                    let error = Diagnostic::error(Code::InvalidType, param.span, message);
                    self.report(
                        error.help(format!("write `-> stack {}:` and end with `{} with ...`", pack.text, name.text)),
                    );
                }
                let Some(columns) = self.known_pack(pack) else {
                    self.bind(&name.text, None, LocalKind::Value, name.span);
                    return;
                };
                let mutable = written == Some(name.text.as_str());
                let pointee = Pointee::Stack { pack: pack.text.clone(), columns, mutable };
                let local = self.bind(&name.text, Some(Ty::Address), LocalKind::Value, name.span);
                bound.extend(local.inspect(|&local| drop(self.pointees.insert(local, pointee))));
            }
            TypeKind::View(element) => {
                let elem = self.view_element(*element);
                let address = self.bind(&name.text, elem.map(|_| Ty::Address), LocalKind::Value, name.span);
                let count = format_smolstr!("{}_count", name.text);
                // No name of the source has a space.
                let key = format_smolstr!("{} count", name.text);
                let ty = elem.map(|_| Ty::Uniform(Elem::I32));
                let count = self.bind_as(key, &count, ty, LocalKind::Value, name.span);
                if let (Some(elem), Some(address), Some(count)) = (elem, address, count) {
                    self.pointees.insert(address, Pointee::View { elem, mutable: param.mutable });
                    self.counts.insert(address, count);
                    bound.extend([address, count]);
                }
            }
            _ => {
                let ty = self.decls.param(param, "run", self.diagnostics);
                self.failed |= ty.is_none();
                if stack_run && ty.is_some_and(|ty| !ty.is_uniform()) {
                    let message = format!("`{}` is a rack, which a stack run does not take", name.text);
                    let error = Diagnostic::error(Code::InvalidType, param.span, message);
                    self.report(error.help("make it a column of a stack, or a uniform"));
                }
                bound.extend(self.bind(&name.text, ty, LocalKind::Value, name.span));
            }
        }
    }

    fn view_element(&mut self, element: surface::TypeId) -> Option<Elem> {
        let ty = &self.decls.file.types[element];
        let feature = match ty.kind {
            TypeKind::Scalar(Elem::Bool) => None,
            TypeKind::Scalar(elem) if elem.bits() <= 32 => return Some(elem),
            TypeKind::Scalar(_) => Some(Feature::OtherRacks),
            TypeKind::Error => {
                self.failed = true;
                return None;
            }
            _ => None,
        };
        self.report(match feature {
            Some(feature) => not_available(feature, self.decls.profile, ty.span),
            None => Diagnostic::error(Code::InvalidType, ty.span, "a view of vector code holds numbers")
                .help("write `[]f32`, or `mut []f32` when the run writes it"),
        });
        None
    }

    /// The pack of a stack in scope.
    fn pack_of(&self, stack: &Name) -> Option<SmolStr> {
        match self.pointees.get(self.lookup(&stack.text)??)? {
            Pointee::Stack { pack, .. } => Some(pack.clone()),
            Pointee::View { .. } => None,
        }
    }

    /// The result of a stack run.
    fn replaced(
        &mut self,
        replaced: &Replaced,
        result: Option<SmolStr>,
        body: Vec<Stmt>,
        bits: u32,
    ) -> Option<Traverse> {
        let Replaced { stack: name, fields, predicate, compact, span } = *replaced;
        let stack = self.written_stack(name, result);
        let stack = stack.filter(|&stack| !compact || self.moves(stack, bits, span));
        let predicate = predicate.map(|predicate| {
            let value = self.predicate(predicate, "`where`");
            self.expect(value, Some(Ty::Mask(bits)), " after `where`")
        });
        if let Some(run) = &mut self.run {
            run.replaces = predicate.is_some();
        }
        let mut columns = Vec::with_capacity(fields.len());
        let mut sound = true;
        for (at, field) in fields.iter().enumerate() {
            let value = self.field_value(stack, &fields[..at], field, bits);
            sound &= value.is_some();
            columns.extend(value);
        }
        if let Some(run) = &mut self.run {
            run.replaces = false;
        }
        let predicate = match predicate {
            Some(predicate) => Some(predicate?),
            None => None,
        };
        let stack = stack?;
        sound.then_some(Traverse { stack, bits, body, predicate, compact, columns, span })
    }

    /// The stack that the run gives.
    fn written_stack(&mut self, name: &Name, result: Option<SmolStr>) -> Option<LocalId> {
        let Some(Some(local)) = self.lookup(&name.text) else {
            self.failed = true;
            return None;
        };
        let Some(Pointee::Stack { pack, .. }) = self.pointees.get(local) else {
            let message = format!("`{}` is no stack", name.text);
            let error = Diagnostic::error(Code::WrongKind, name.span, message);
            let bound = self.locals[local].span;
            self.report(error.label(bound, "bound here").help("the result is a stack parameter of the run"));
            return None;
        };
        if let Some(result) = result
            && *pack != result
        {
            let message = format!("the run gives a stack of `{result}`, and `{}` is one of `{pack}`", name.text);
            let error = Diagnostic::error(Code::TypeMismatch, name.span, message);
            let bound = self.locals[local].span;
            self.report(
                error.label(bound, "bound here").help("a run gives the stack that it writes, and writes no other"),
            );
            return None;
        }
        Some(local)
    }

    /// `field: value` of a result.
    fn field_value(
        &mut self,
        stack: Option<LocalId>,
        earlier: &[FieldInit],
        field: &FieldInit,
        bits: u32,
    ) -> Option<(u32, typed::ExprId)> {
        let pointee = stack.and_then(|stack| self.pointees.get(stack)).cloned();
        let Some(Pointee::Stack { pack, columns, .. }) = pointee else {
            self.expr(field.value, None);
            return None;
        };
        let name = &field.name;
        let (column, elem) = match packs::column(&columns, &pack, name) {
            Ok(found) => found,
            Err(error) => {
                self.report(*error);
                self.expr(field.value, None);
                return None;
            }
        };
        if let Some(first) = earlier.iter().find(|earlier| earlier.name.text == name.text) {
            let message = format!("the field `{}` is given twice", name.text);
            let error = Diagnostic::error(Code::BoundTwice, name.span, message);
            self.report(error.label(first.name.span, "first here").help("give each column one new value"));
        }
        let Some(ty) = working_rack(elem, bits) else {
            self.no_rack(&name.text, elem, bits, name.span);
            return None;
        };
        if !self.lanes_of(bits, name.span) {
            return None;
        }
        let value = self.expr(field.value, Some(ty.elem()));
        let place = match Ty::Rack(elem) == ty {
            true => format!(" for the column `{}`", name.text),
            false => format!(" for the column `{}` of {elem}, which keeps its low {} bits", name.text, elem.bits()),
        };
        Some((column, self.expect(value, Some(ty), &place)?))
    }

    fn no_rack(&mut self, column: &str, elem: Elem, bits: u32, span: Span) {
        let message = format!("the column `{column}` is {elem} and has no rack in a run over {bits}-bit lanes");
        let error = Diagnostic::error(Code::TypeMismatch, span, message);
        let error = match elem {
            Elem::F32 => error
                .note("the widest element that the run reads, writes or computes decides its lanes")
                .help("split the run in two: one over 32-bit lanes, and one for what is wider"),
            _ => error.help(format!("read it with `widen(...{column})`")),
        };
        self.report(error);
    }

    /// The stack column that `base.field` names; `None` when `base` is no stack.
    pub fn stack_field(&self, base: ExprId) -> Option<LocalId> {
        let surface::ExprKind::Name(name) = &self.decls.file.exprs[base].kind else { return None };
        let local = self.lookup(name)??;
        matches!(self.pointees.get(local), Some(Pointee::Stack { .. })).then_some(local)
    }

    /// `s.x`, or `widen(s.x)`.
    pub fn column(&mut self, stack: LocalId, field: &Name, widens: bool, span: Span) -> Checked {
        let Some(Pointee::Stack { pack, columns, .. }) = self.pointees.get(stack).cloned() else { return None };
        let (column, elem) = match packs::column(&columns, &pack, field) {
            Ok(found) => found,
            Err(error) => {
                self.report(*error);
                return None;
            }
        };
        let bits = self.run.as_ref().and_then(|run| run.domain).unwrap_or(32);
        let ty = match (widens, working_rack(elem, bits)) {
            (false, Some(ty)) if elem.bits() == bits => ty,
            (true, Some(ty)) if elem.bits() < bits => ty,
            (true, _) if elem.is_float() || elem.bits() == 64 => {
                let message = format!("`widen` takes a column of integers below 64 bits, and this is one of {elem}");
                self.error(Code::TypeMismatch, span, message);
                return None;
            }
            _ => {
                self.no_rack(&field.text, elem, bits, span);
                return None;
            }
        };
        if !self.lanes_of(bits, span) {
            return None;
        }
        Some(self.alloc(typed::ExprKind::Column { stack, column }, ty, span))
    }

    /// Whether the profile computes lanes of this width.
    fn lanes_of(&mut self, bits: u32, span: Span) -> bool {
        let feature = match bits {
            32 => Feature::StackRuns,
            64 => Feature::OtherRacks,
            _ => Feature::NarrowRacks,
        };
        let available = feature.is_checked();
        if !available {
            self.report(not_available(feature, self.decls.profile, span));
        }
        available
    }

    /// Whether every column of a stack can be moved in lanes of this width.
    fn moves(&mut self, stack: LocalId, bits: u32, span: Span) -> bool {
        let Some(Pointee::Stack { columns, .. }) = self.pointees.get(stack).cloned() else { return false };
        if let Some((name, elem)) = columns.iter().find(|(_, elem)| working_rack(*elem, bits).is_none()) {
            self.no_rack(name, *elem, bits, span);
            return false;
        }
        if bits != 32 {
            let message = format!("compaction in {bits}-bit lanes is not available yet on {}", self.decls.profile);
            let error = Diagnostic::error(Code::NotAvailableYet, span, message);
            self.report(error.help("the widest column of the stack decides the lanes; give it one of 32 bits"));
        }
        bits == 32
    }

    /// `widen(s.x)`.
    pub fn widen(&mut self, args: &[ExprId], at: Span, span: Span) -> Checked {
        let file = self.decls.file;
        let column = match args {
            [arg] => match &file.exprs[*arg].kind {
                surface::ExprKind::Field { base, field } => self.stack_field(*base).map(|stack| (stack, field)),
                _ => None,
            },
            _ => None,
        };
        let Some((stack, field)) = column else {
            let error = Diagnostic::error(Code::NotInVectorCode, at, "`widen` reads a column of a stack run");
            self.report(error.help("write `widen(s.field)` with a stack parameter `s`"));
            return None;
        };
        self.column(stack, field, true, span)
    }

    /// The type of a location whose first value is a uniform: in runs the rack that holds it everywhere.
    pub fn location_rack(&self, ty: Option<Ty>, written: Option<Written>) -> Option<Ty> {
        match (ty, &self.run, written) {
            (Some(Ty::TRUTH), Some(run), None) => Some(Ty::Mask(run.domain.unwrap_or(32))),
            (Some(Ty::Uniform(elem)), Some(_), None) => Some(Ty::Rack(elem)),
            (ty, ..) => ty,
        }
    }
}
