//! Calls: operations of the vocabulary, scratches, rakes and tines.

use super::body::{Body, Checked};
use super::definitions::{Meaning, Signature, not_available};
use super::rakes::count;
use rake_ir::capabilities::{self, Feature, Status};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, ImmKind, Op, TypeRule};
use rake_ir::span::Span;
use rake_ir::surface::{DefKind, ExprId, Name, TypeId};
use rake_ir::typed::{self, Args, broadcasts};
use rake_ir::types::{Elem, Ty};
use smallvec::smallvec;

impl Body<'_, '_> {
    pub fn call(
        &mut self,
        callee: &Name,
        ty: Option<TypeId>,
        args: &[ExprId],
        hint: Option<Elem>,
        span: Span,
    ) -> Checked {
        if callee.text == "bitcast" {
            return self.bitcast(ty, args, span);
        }
        let operation = Op::from_call(&callee.text);
        let definition = self.decls.by_name.get(callee.text.as_str()).copied();
        match (definition, operation) {
            (Some(index), Some(op)) if index == self.index => self.operation(op, callee.span, args, hint, span),
            (Some(index), _) => self.definition(index, callee, args, span),
            (None, Some(op)) => self.operation(op, callee.span, args, hint, span),
            (None, None) if callee.text == "widen" => self.widen(args, callee.span, span),
            (None, None) => {
                let slow = match callee.text.as_str() {
                    "wrap" => Some("`wrap` converts scalars in slow code"),
                    _ => None,
                };
                match slow {
                    Some(message) => self.error(Code::NotInVectorCode, callee.span, message),
                    None => self.failed = true,
                }
                None
            }
        }
    }

    fn operation(&mut self, op: Op, at: Span, args: &[ExprId], hint: Option<Elem>, span: Span) -> Checked {
        if !self.in_stage(op, at) || !self.in_mask(op, at) {
            return None;
        }
        let row = op.info();
        let name = row.spelling;
        let shift = row.imm == ImmKind::ShiftCount;
        let extra = usize::from(row.imm != ImmKind::None && !shift);
        let (low, high) = (row.arity.0 as usize + extra, row.arity.1 as usize + extra);
        let (low, high) = if shift { (2, 2) } else { (low, high) };
        if args.len() < low || args.len() > high {
            let count = if low == high { low.to_string() } else { format!("{low} or {high}") };
            let plural = if high == 1 { "" } else { "s" };
            let message = format!("`{name}` takes {count} argument{plural}, found {}", args.len());
            self.report(Diagnostic::error(Code::WrongArguments, at, message).note(format!("`{name}`: {}", row.doc)));
            return None;
        }
        if row.imm == ImmKind::None {
            let args = self.operands(op, args, hint)?;
            return self.apply(op, Imm::None, args, span, at);
        }
        self.with_immediate(op, at, args, hint, span)
    }

    /// The operands of an operation, literals typed by their neighbours.
    pub fn operands(&mut self, op: Op, args: &[ExprId], hint: Option<Elem>) -> Option<Args> {
        let values = match op.info().types {
            TypeRule::Choose | TypeRule::Pack => {
                let condition = args.first().map(|&condition| self.expr(condition, Some(Elem::Bool)));
                condition.into_iter().chain(self.group(args.get(1..).unwrap_or(&[]), hint)).collect()
            }
            TypeRule::Truth | TypeRule::MaskTo(_) => self.group(args, Some(Elem::Bool)),
            TypeRule::SameF32 => self.group(args, Some(Elem::F32)),
            TypeRule::Resize(from, _) => self.group(args, Some(from)),
            TypeRule::Convert(..) => self.group(args, None),
            _ => self.group(args, hint),
        };
        values.into_iter().collect()
    }

    fn bitcast(&mut self, ty: Option<TypeId>, args: &[ExprId], span: Span) -> Checked {
        if !self.in_stage(Op::Bitcast, span) || !self.in_mask(Op::Bitcast, span) {
            return None;
        }
        let &[value] = args else {
            self.error(Code::WrongArguments, span, "`bitcast(T, x)` takes a type and one value");
            return None;
        };
        let written = match ty {
            Some(ty) => self.decls.written(ty, self.diagnostics),
            None => None,
        };
        let value = self.expr(value, None);
        let Some(to) = written.and_then(super::definitions::Written::ty) else {
            self.failed = true;
            return None;
        };
        let (value, at) = (value?, span);
        let from = self.ty(value);
        let profile = self.decls.profile;
        let bits = |elem: Elem| profile.lanes(elem) * elem.bits() as usize;
        let to = match (from, to) {
            (Ty::Rack(from), Ty::Rack(to)) if bits(from) != bits(to) => {
                let message = format!("{from}s and {to}s differ in width, and a rack on {profile} is one element");
                let error = Diagnostic::error(Code::NotOnProfile, at, message);
                self.report(error.help("`bitcast` between elements of one width, or choose another profile"));
                return None;
            }
            // A rack is one register, however many lanes it is cut into.
            (Ty::Rack(_), Ty::Rack(to)) => Ty::Rack(to),
            (Ty::Uniform(from), Ty::Uniform(to)) if from.bits() == to.bits() && from != Elem::Bool => Ty::Uniform(to),
            _ => {
                let message = format!("`bitcast` keeps every bit, but {from} and {to} differ in width or kind");
                let error = Diagnostic::error(Code::TypeMismatch, at, message);
                self.report(error.help("it goes from rack to rack, and from uniform to uniform of one width"));
                return None;
            }
        };
        self.on_profile(Op::Bitcast, &[from], at).then(|| self.op(Op::Bitcast, Imm::None, smallvec![value], to, span))
    }

    fn definition(&mut self, index: usize, callee: &Name, args: &[ExprId], span: Span) -> Checked {
        let def = &self.decls.file.defs[index];
        let name = &callee.text;
        let kind = match def.kind {
            DefKind::Scratch(_) => "the scratch",
            DefKind::Rake(_) => "the rake",
            DefKind::Run(_) => "the run",
            _ => "the slow function",
        };
        if !self.not_in_stage(format!("it calls {kind} `{name}`, and calls never enter a region"), callee.span) {
            return None;
        }
        match (&self.decls.meanings[index], &def.kind) {
            (Meaning::Function(signature), _) => {
                if !self.unmasked(&format!("a call of {kind} `{name}`"), Code::NotInThrough, callee.span) {
                    return None;
                }
                if Feature::Calls.status(self.decls.profile) != Status::Available {
                    self.report(not_available(Feature::Calls, self.decls.profile, span));
                    return None;
                }
                self.application(signature, index, name, callee.span, args, span)
            }
            (_, DefKind::Slow(_) | DefKind::ExternSlow { .. }) => {
                let error = Diagnostic::error(Code::NotInVectorCode, callee.span, format!("`{name}` is slow code"));
                self.report(error.help("vector code reaches slow code only in a run's `slow { ... }` block"));
                None
            }
            (_, DefKind::Run(_)) => {
                self.error(Code::NotInVectorCode, callee.span, format!("`{name}` is a run, which slow code calls"));
                None
            }
            _ => {
                self.failed = true;
                None
            }
        }
    }

    /// A call of the definition at `index`, which messages call `name`.
    pub fn application(
        &mut self,
        signature: &Signature,
        index: usize,
        name: &str,
        at: Span,
        args: &[ExprId],
        span: Span,
    ) -> Checked {
        if args.len() != signature.params.len() {
            let message = format!("`{name}` takes {}, found {}", count(signature.params.len()), args.len());
            let error = Diagnostic::error(Code::WrongArguments, at, message);
            self.report(error.label(self.decls.file.defs[index].name.span, "defined here"));
            return None;
        }
        let mut checked = Args::new();
        let mut sound = true;
        for (&arg, &param) in args.iter().zip(&signature.params) {
            let value = self.expr(arg, param.map(Ty::elem));
            let place = format!(" as an argument of `{name}`");
            match self.expect(value, param, &place) {
                Some(value) => checked.push(value),
                None => sound = false,
            }
        }
        let ty = signature.result?;
        sound.then(|| self.alloc(typed::ExprKind::Call { callee: signature.id, args: checked }, ty, span))
    }

    /// Whether the profile shifts by a count that is no literal.
    pub fn shift_by_uniform(&mut self, at: Span) -> bool {
        let profile = self.decls.profile;
        if capabilities::shift_by_uniform(profile) == Status::Available {
            return true;
        }
        let message = format!("shifts by a uniform count are not available yet on {profile}");
        self.report(Diagnostic::error(Code::NotAvailableYet, at, message).help("shift by a literal"));
        false
    }

    /// Whether a count of this type may stand.
    pub fn is_count(&self, ty: Ty) -> bool {
        broadcasts(ty, Ty::Uniform(Elem::U32))
    }
}
