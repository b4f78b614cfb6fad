//! What rakes add: tines, through blocks and sweeps.

use super::body::{Body, Checked, In};
use super::definitions::{Meaning, Signature};
use super::literals::Look;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::Span;
use rake_ir::surface::{self, Block, Def, ExprId, Name, StmtKind};
use rake_ir::typed::{self, Arm, Binding, Function, FunctionKind, LocalId, LocalKind, Stmt, Through};
use rake_ir::types::{Elem, Ty};
use smol_str::{SmolStr, format_smolstr};

/// A through block as written.
pub struct ThroughHeader<'a> {
    pub predicate: ExprId,
    pub otherwise: Option<ExprId>,
    pub name: &'a Name,
    pub body: &'a Block,
    pub span: Span,
}

/// The key of a tine among the names in scope.
fn key(name: &str) -> SmolStr {
    format_smolstr!("#{name}")
}

impl Body<'_, '_> {
    /// A global tine's function.
    pub fn global_tine(
        mut self,
        def: &Def,
        params: &[surface::Param],
        predicate: ExprId,
        signature: &Signature,
    ) -> Option<Function> {
        let params = self.params(params, signature);
        let value = self.predicate(predicate, "the tine");
        let result = self.expect(value, signature.result, " as the predicate");
        let (params, result, ty) = (params?, result?, signature.result?);
        if self.failed {
            return None;
        }
        let (name, span) = (key(&def.name.text), def.name.span);
        let (locals, exprs) = (self.locals, self.exprs);
        Some(Function {
            kind: FunctionKind::Tine,
            name,
            span,
            params,
            pointees: self.pointees,
            locals,
            exprs,
            body: Vec::new(),
            result: Some(result),
            ty: Some(ty),
        })
    }

    /// The mask or `<bool>` of a tine, a through block or an arm: of comparisons, masks and other tines.
    pub fn predicate(&mut self, predicate: ExprId, of: &str) -> Checked {
        let outer = self.inside.replace(In::Predicate);
        let value = self.expr(predicate, Some(Elem::Bool));
        self.inside = outer;
        let value = value?;
        let ty = self.ty(value);
        if ty.is_truth() {
            return Some(value);
        }
        let message = format!("the predicate of {of} is a mask, found {ty}");
        let error = Diagnostic::error(Code::TypeMismatch, self.exprs[value].span, message);
        self.report(error.help("compare it, as in `x > <0.0>`"));
        None
    }

    /// `tine #name means predicate`.
    pub fn local_tine(&mut self, name: &Name, predicate: ExprId) -> Option<Binding> {
        let value = self.predicate(predicate, &format!("`#{}`", name.text));
        // A predicate of uniforms holds in all lanes or in none.
        let ty = value.map(|value| match self.ty(value) {
            Ty::Mask(width) => Ty::Mask(width),
            _ => Ty::Mask(32),
        });
        let value = self.expect(value, ty, "");
        let local = self.bind_as(key(&name.text), &name.text, ty, LocalKind::Tine, name.span)?;
        Some(Binding { local, value: value? })
    }

    /// `#name` or `#name(args)`.
    pub fn tine(&mut self, name: &Name, args: Option<&[ExprId]>, span: Span) -> Checked {
        if let Some(local) = self.lookup(&key(&name.text)) {
            return self.read_tine(local, name, args, span);
        }
        let index = self.decls.tines.get(name.text.as_str()).copied();
        let Some((index, Meaning::Function(signature))) = index.map(|index| (index, &self.decls.meanings[index]))
        else {
            self.failed = true;
            return None;
        };
        let text = &name.text;
        if args.is_none() && !signature.params.is_empty() {
            let message = format!("`#{text}` takes {} and stands without them", count(signature.params.len()));
            let error = Diagnostic::error(Code::WrongArguments, name.span, message);
            let help = format!("write `#{text}(...)`");
            self.report(error.label(self.decls.file.defs[index].name.span, "defined here").help(help));
            return None;
        }
        if !self.not_in_stage(format!("it applies the tine `#{text}`, which is inlined"), name.span) {
            return None;
        }
        self.application(signature, index, &key(text), name.span, args.unwrap_or(&[]), span)
    }

    fn read_tine(&mut self, local: Option<LocalId>, name: &Name, args: Option<&[ExprId]>, span: Span) -> Checked {
        let Some(local) = local else {
            self.failed = true;
            return None;
        };
        if args.is_some() {
            let message = format!("`#{}` is a tine of this rake and takes no arguments", name.text);
            let error = Diagnostic::error(Code::WrongArguments, name.span, message);
            let bound = self.locals[local].span;
            self.report(error.label(bound, "bound here").help(format!("write `#{}`", name.text)));
            return None;
        }
        let ty = self.locals[local].ty;
        Some(self.alloc(typed::ExprKind::Read(local), ty, span))
    }

    /// `through P [else u] into name:` and its body.
    pub fn through(&mut self, header: &ThroughHeader) -> Option<Through> {
        let ThroughHeader { otherwise, name, body, span, .. } = *header;
        let predicate = self.predicate(header.predicate, &format!("`{}`", name.text));
        let waits = otherwise.is_some_and(|otherwise| self.decls.flexible.look(otherwise) != Look::Typed);
        let early = otherwise.filter(|_| !waits).map(|otherwise| self.otherwise(otherwise, None));
        let hint = early.flatten().map(|value| self.ty(value).elem());
        let floor = self.locals.len();
        let outer = self.inside.replace(In::Through { name: name.text.clone(), floor });
        self.open();
        let (stmts, result) = self.through_body(name, body, hint);
        self.close();
        self.inside = outer;
        let ty = result.map(|result| match self.ty(result) {
            Ty::TRUTH => Ty::Mask(32),
            Ty::Uniform(elem) => Ty::Rack(elem),
            ty => ty,
        });
        let late = otherwise.filter(|_| waits).map(|otherwise| self.otherwise(otherwise, ty.map(Ty::elem)));
        let place = format!(" as the value of `{}` in the other lanes", name.text);
        let otherwise = early.or(late).map(|value| self.expect(value, ty, &place));
        let predicate = self.expect(predicate, ty.map(Ty::truth), " as the predicate");
        let result = self.expect(result, ty, "");
        let local = self.bind(&name.text, ty, LocalKind::Value, name.span)?;
        let otherwise = match otherwise {
            Some(value) => Some(value?),
            None => None,
        };
        Some(Through { local, predicate: predicate?, otherwise, body: stmts, result: result?, span })
    }

    fn through_body(&mut self, name: &Name, body: &Block, hint: Option<Elem>) -> (Vec<Stmt>, Checked) {
        let file = self.decls.file;
        let last = body.stmts.split_last().map(|(&last, rest)| (&file.stmts[last], rest));
        match last {
            Some((surface::Stmt { kind: StmtKind::Expr(value), .. }, rest)) => {
                let stmts = self.block(rest);
                (stmts, self.expr(*value, hint))
            }
            other => {
                let stmts = self.block(&body.stmts);
                // What cannot stand in a body was refused.
                let refused = |kind: &StmtKind| {
                    matches!(
                        kind,
                        StmtKind::Error | StmtKind::Sweep(_) | StmtKind::Through { .. } | StmtKind::Tine { .. }
                    )
                };
                if other.is_none_or(|(stmt, _)| !refused(&stmt.kind)) {
                    let span = other.map_or(name.span, |(stmt, _)| stmt.span.at_end());
                    let message = format!("the through block of `{}` has no result", name.text);
                    let error = Diagnostic::error(Code::MissingResult, span, message);
                    self.report(error.help("end its body with an expression"));
                }
                self.failed = true;
                (stmts, None)
            }
        }
    }

    /// The value of the lanes outside a through block's mask.
    fn otherwise(&mut self, otherwise: ExprId, hint: Option<Elem>) -> Checked {
        let value = self.expr(otherwise, hint)?;
        let ty = self.ty(value);
        if ty.is_uniform() {
            return Some(value);
        }
        let span = self.exprs[value].span;
        let message = format!("after `else` stands a uniform or a literal, found {ty}");
        let error = Diagnostic::error(Code::TypeMismatch, span, message);
        self.report(error.help("leave `else` out and pick the rack in an arm of the sweep"));
        None
    }

    /// `sweep:`, the result of a rake.
    pub fn sweep(&mut self, arms: &[surface::Arm], ty: Option<Ty>, span: Span) -> Checked {
        let mut predicates = Vec::with_capacity(arms.len());
        for (index, arm) in arms.iter().enumerate() {
            let value = arm.predicate.map(|predicate| self.predicate(predicate, "an arm"));
            predicates.push(value.map(|value| self.expect(value, ty.map(Ty::truth), " as the predicate")));
            if arm.predicate.is_none() && index + 1 < arms.len() {
                let error = Diagnostic::error(Code::MisplacedStatement, arm.span, "the arm `_` is not the last");
                self.report(error.help("`_` takes every lane that is left, so no arm follows it"));
            }
        }
        let values: Vec<ExprId> = arms.iter().map(|arm| arm.value).collect();
        let values = self.group(&values, ty.map(Ty::elem));
        let values: Vec<Checked> =
            values.into_iter().map(|value| self.expect(value, ty, " as the result of an arm")).collect();
        let arm = |((arm, predicate), value): ((&surface::Arm, Option<Checked>), Checked)| {
            let predicate = match predicate {
                Some(predicate) => Some(predicate?),
                None => None,
            };
            Some(Arm { predicate, value: value?, span: arm.span })
        };
        let checked: Option<Vec<Arm>> = arms.iter().zip(predicates).zip(values).map(arm).collect();
        let (checked, ty) = (checked?, ty?);
        if checked.is_empty() {
            let error = Diagnostic::error(Code::MissingResult, span, "this sweep has no arms");
            self.report(error.help("an arm is `| P => e`, the last one may be `| _ => e`"));
            return None;
        }
        Some(self.alloc(typed::ExprKind::Sweep { arms: checked }, ty, span))
    }
}

/// A number of arguments in words.
pub fn count(arguments: usize) -> String {
    format!("{arguments} argument{}", if arguments == 1 { "" } else { "s" })
}
