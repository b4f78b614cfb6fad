//! Expressions: leaves, marks, operators and conditionals.

use super::body::{Body, Checked, In, conversion};
use super::definitions::{Meaning, not_available};
use super::literals::{self, Look};
use super::views::Place;
use rake_ir::capabilities::{self, Feature, Status};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, LaneRule, Op, TypeRule};
use rake_ir::span::Span;
use rake_ir::surface::{BinaryOp, ExprId, ExprKind, Name, Number, SpineStep, UnaryOp};
use rake_ir::typed::{self, Args, LocalKind, lift};
use rake_ir::types::{Elem, Pointee, Ty};
use smallvec::smallvec;
use smol_str::SmolStr;

impl Body<'_, '_> {
    /// Checks an expression. `hint` is the element that its place asks for; literals take it.
    pub fn expr(&mut self, expr: ExprId, hint: Option<Elem>) -> Checked {
        let file = self.decls.file;
        let (base, steps) = file.left_spine(expr);
        let Some(last) = steps.last() else { return self.operand(base, hint) };
        if self.decls.flexible.look(last.expr) != Look::Typed {
            let elem = hint.or(self.decls.flexible.default(last.expr));
            let mut left = self.operand(base, elem);
            for step in &steps {
                let right = self.expr(step.right, elem);
                left = self.infix(step, left, right);
            }
            return left;
        }
        self.spine(base, &steps, hint)
    }

    /// A chain of infix operations with some typed leaf. A literal at its start waits for the first typed operand.
    fn spine(&mut self, base: ExprId, steps: &[SpineStep], hint: Option<Elem>) -> Checked {
        let flexible = &self.decls.flexible;
        let mut waiting = (flexible.look(base) != Look::Typed).then_some(base);
        let first_compares = steps.iter().any(|step| step.op.is_comparison());
        let truth = |op: BinaryOp| matches!(op, BinaryOp::And | BinaryOp::Or);
        // The hint reaches the leftmost operand only through operations that keep its type.
        let base_hint = match steps.iter().find(|step| truth(step.op)) {
            Some(_) if !first_compares => Some(Elem::Bool),
            None if !first_compares => hint,
            _ => None,
        };
        let mut left = if waiting.is_none() { self.operand(base, base_hint) } else { None };
        for step in steps {
            let right_waits = self.decls.flexible.look(step.right) != Look::Typed;
            let truths = truth(step.op).then_some(Elem::Bool);
            match waiting {
                Some(_) if right_waits && !step.op.is_comparison() && truths.is_none() => {
                    waiting = Some(step.expr);
                    continue;
                }
                Some(prefix) => {
                    let both = self.decls.flexible.all([prefix, step.right]);
                    let alone = literals::default(both);
                    let right = self.expr(step.right, truths.or(alone).or(base_hint));
                    let elem = if right_waits { alone } else { right.map(|right| self.ty(right).elem()) };
                    let prefix = if elem.is_some() { self.expr(prefix, truths.or(elem)) } else { None };
                    left = self.infix(step, prefix, right);
                    waiting = None;
                }
                None => {
                    let beside = left.map(|left| self.ty(left).elem());
                    let right = match (right_waits, beside) {
                        (true, None) => None,
                        _ => self.expr(step.right, truths.or(beside)),
                    };
                    left = self.infix(step, left, right);
                }
            }
        }
        left
    }

    fn infix(&mut self, step: &SpineStep, left: Checked, right: Checked) -> Checked {
        let file = self.decls.file;
        let expr = &file.exprs[step.expr];
        let op_span = match &expr.kind {
            ExprKind::Binary { op_span, .. } => *op_span,
            _ => expr.span,
        };
        let op = match step.op {
            BinaryOp::Or => Op::Or,
            BinaryOp::And => Op::And,
            BinaryOp::Eq => Op::Eq,
            BinaryOp::Ne => Op::Ne,
            BinaryOp::Lt => Op::Lt,
            BinaryOp::Le => Op::Le,
            BinaryOp::Gt => Op::Gt,
            BinaryOp::Ge => Op::Ge,
            BinaryOp::Add => Op::Add,
            BinaryOp::Sub => Op::Sub,
            BinaryOp::Mul => Op::Mul,
            BinaryOp::Div => Op::Div,
            BinaryOp::Rem => {
                let error = Diagnostic::error(Code::NotInVectorCode, op_span, "`%` is an operation of slow code");
                self.report(error.help("racks have no remainder; for a power of two use `bit_and`"));
                return None;
            }
        };
        let (left, right) = (left?, right?);
        if op == Op::Div && [left, right].iter().all(|&side| self.ty(side).elem().is_int()) {
            let error = Diagnostic::error(Code::NotInVectorCode, op_span, "integers have no division in vector code");
            self.report(error.help("convert with `to_f32`, or shift by a power of two"));
            return None;
        }
        self.apply(op, Imm::None, smallvec![left, right], expr.span, op_span)
    }

    /// An operation over checked operands: types, stage, profile. `at` is where the caret goes.
    pub fn apply(&mut self, op: Op, imm: Imm, args: Args, span: Span, at: Span) -> Checked {
        let types: Vec<Ty> = args.iter().map(|&arg| self.ty(arg)).collect();
        let lifted = lift(op, &types);
        let ty = match op.infer(&lifted, None) {
            Ok(ty) => ty,
            Err(needs) => {
                self.misfit(op, &types, &args, &needs, at);
                return None;
            }
        };
        for (&arg, &ty) in args.iter().zip(&lifted) {
            self.coerce(arg, ty);
            if !self.visible(arg, ty) {
                return None;
            }
        }
        if !self.in_stage(op, at) || !self.on_profile(op, &lifted, at) {
            return None;
        }
        Some(match (op, &args[..]) {
            (Op::If, &[condition, then, otherwise]) => {
                self.alloc(typed::ExprKind::If { condition, then, otherwise }, ty, span)
            }
            _ => self.op(op, imm, args, ty, span),
        })
    }

    fn misfit(&mut self, op: Op, types: &[Ty], args: &Args, needs: &str, at: Span) {
        let name = op.info().spelling;
        let found: Vec<String> = types.iter().map(Ty::to_string).collect();
        let found = match found.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => found.concat(),
        };
        let mut error = Diagnostic::error(Code::TypeMismatch, at, format!("`{name}` needs {needs}, found {found}"));
        for (&arg, ty) in args.iter().zip(types) {
            error = error.label(self.exprs[arg].span, format!("{ty}"));
        }
        let help = types.iter().zip(types.iter().skip(1)).find_map(|(&a, &b)| conversion(a, b).or(conversion(b, a)));
        if let Some(name) = help {
            error = error.help(format!("conversions are written out: `{name}(...)`"));
        }
        self.report(error);
    }

    /// Whether an operation may stand here as far as fused stages go.
    pub fn in_stage(&mut self, op: Op, at: Span) -> bool {
        if op.info().fused {
            return true;
        }
        let name = op.info().spelling;
        let reason = match op.info().types {
            TypeRule::Reduce(_) => format!("`{name}` is a reduction"),
            TypeRule::MaskTo(_) if op != Op::Bitmask => format!("`{name}` is a reduction of a mask"),
            TypeRule::Scan(_) => format!("`{name}` is a scan"),
            _ if op == Op::Bitcast => "`bitcast` is a conversion that ends the graph".to_owned(),
            TypeRule::Extract | TypeRule::Insert => format!("`{name}` reaches a single lane"),
            _ => format!("`{name}` is no pure element operation"),
        };
        self.not_in_stage(reason, at)
    }

    /// Whether an operation may stand here as far as through bodies and predicates go.
    pub fn in_mask(&mut self, op: Op, at: Span) -> bool {
        let refused = match self.inside {
            None => false,
            Some(In::Predicate) => !op.info().fused,
            Some(In::Through { .. }) => op.info().lane == LaneRule::Unmasked,
        };
        !refused || self.unmasked(&format!("`{}`", op.info().spelling), Code::UnderMask, at)
    }

    /// Refuses what may not stand in a stage, naming the binding and the reason. True outside stages.
    pub fn not_in_stage(&mut self, reason: String, at: Span) -> bool {
        let Some(stage) = self.stage.clone() else { return true };
        let error = Diagnostic::error(Code::NotInStage, at, format!("`{stage}` cannot be fused: {reason}"));
        self.report(error.help("bind it with `let` before the region"));
        false
    }

    /// Whether the profile compiles the operation on these operands.
    pub fn on_profile(&mut self, op: Op, types: &[Ty], at: Span) -> bool {
        let profile = self.decls.profile;
        let subject = match op.info().types {
            TypeRule::Choose | TypeRule::Pack => types.get(1),
            _ => types.first(),
        };
        let (elem, shown) = subject.map_or((Elem::I32, String::new()), |ty| (ty.elem(), format!(" on {ty}")));
        let name = op.info().spelling;
        match capabilities::operation(op, elem, profile) {
            Status::Available => return true,
            Status::NotYet => {
                let message = format!("`{name}`{shown} is not available yet for {profile}");
                let error = Diagnostic::error(Code::NotAvailableYet, at, message);
                self.report(error.help("`--print-capabilities` lists what each profile compiles"));
            }
            Status::Never(why) => {
                let error = Diagnostic::error(
                    Code::NotOnProfile,
                    at,
                    format!("`{name}` cannot be compiled on {profile}: {why}"),
                );
                let help = match op {
                    Op::Fma => "write `a * b + c`, which rounds twice here, or choose a profile with the instruction",
                    _ => "choose another profile",
                };
                self.report(error.help(help));
            }
        }
        false
    }

    /// An expression that is no infix operation.
    fn operand(&mut self, expr: ExprId, hint: Option<Elem>) -> Checked {
        let file = self.decls.file;
        let span = file.exprs[expr].span;
        match &file.exprs[expr].kind {
            ExprKind::Number(number) => self.number(number, hint, span),
            ExprKind::Bool(value) => Some(self.constant_of(u64::from(*value), Elem::Bool, span)),
            ExprKind::Name(name) => self.name(name, span, false),
            ExprKind::Mark(inner) => self.mark(*inner, hint),
            ExprKind::Lanes(ty) => self.lanes(*ty, hint, span),
            ExprKind::LaneIndex => self.lane_index(hint, span),
            ExprKind::Unary { op, operand } => {
                let (op, hint) = match op {
                    UnaryOp::Neg => (Op::Neg, hint.or(self.decls.flexible.default(*operand))),
                    UnaryOp::Not => (Op::Not, Some(Elem::Bool)),
                };
                let operand = self.expr(*operand, hint)?;
                self.apply(op, Imm::None, smallvec![operand], span, span)
            }
            ExprKind::Gaps(inner) => {
                let inner = self.expr(*inner, None)?;
                let (ty, operand) = (self.ty(inner), self.exprs[inner].span);
                if !ty.is_truth() {
                    let error =
                        Diagnostic::error(Code::TypeMismatch, operand, format!("`gaps` needs a mask, found {ty}"));
                    self.report(error.help("`gaps` binds tightly: write `(a < b) gaps`"));
                    return None;
                }
                self.apply(Op::Not, Imm::None, smallvec![inner], span, span)
            }
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.expr(*condition, Some(Elem::Bool));
                self.branch(1);
                let values = self.group(&[*then, *otherwise], hint);
                self.branch(-1);
                let args = std::iter::once(condition).chain(values).collect::<Option<Args>>()?;
                self.apply(Op::If, Imm::None, args, span, span)
            }
            ExprKind::Index { base, index, unchecked, bound } => {
                let place = Place { index: *index, unchecked: *unchecked, bound: *bound, span };
                match self.view(*base) {
                    Some(view) => self.view_rack(view, place),
                    None => self.element(*base, *index, span),
                }
            }
            ExprKind::Call { callee, ty, args } => self.call(callee, *ty, args, hint, span),
            ExprKind::Tine { name, args } => self.tine(name, args.as_deref(), span),
            ExprKind::Field { base, field } => self.field(*base, field, span),
            ExprKind::Error => {
                self.failed = true;
                None
            }
            other => self.foreign(other, span),
        }
    }

    /// Enters or leaves a branch of a conditional.
    fn branch(&mut self, by: isize) {
        if let Some(run) = &mut self.run {
            run.branches = run.branches.saturating_add_signed(by);
        }
    }

    /// Several expressions of one element, the literals among them typed by the others or by the hint.
    pub fn group(&mut self, exprs: &[ExprId], hint: Option<Elem>) -> Vec<Checked> {
        let waits: Vec<bool> = exprs.iter().map(|&expr| self.decls.flexible.look(expr) != Look::Typed).collect();
        let mut out: Vec<Checked> = vec![None; exprs.len()];
        let mut elem = None;
        for index in (0..exprs.len()).filter(|&index| !waits[index]) {
            out[index] = self.expr(exprs[index], elem.or(hint));
            elem = elem.or(out[index].map(|value| self.ty(value).elem()));
        }
        if waits.iter().all(|&waits| waits) {
            elem = hint.or_else(|| literals::default(self.decls.flexible.all(exprs.iter().copied())));
        }
        for index in (0..exprs.len()).filter(|&index| waits[index] && elem.is_some()) {
            out[index] = self.expr(exprs[index], elem);
        }
        out
    }

    pub fn constant_of(&mut self, bits: u64, elem: Elem, span: Span) -> typed::ExprId {
        self.alloc(typed::ExprKind::Const(bits), Ty::Uniform(elem), span)
    }

    fn number(&mut self, number: &Number, hint: Option<Elem>, span: Span) -> Checked {
        let elem = hint.unwrap_or(if number.float { Elem::F32 } else { Elem::I32 });
        if elem != Elem::Bool && elem.bits() < 32 {
            let message = format!("literals of {elem} in vector code are not available yet");
            let error = Diagnostic::error(Code::NotAvailableYet, span, message);
            self.report(error.help("make the rack of 32-bit lanes and `bitcast` it"));
            return None;
        }
        match literals::bits(number, elem, span) {
            Ok(bits) => Some(self.constant_of(bits, elem, span)),
            Err(error) => {
                self.report(*error);
                None
            }
        }
    }

    fn name(&mut self, name: &SmolStr, span: Span, marked: bool) -> Checked {
        let Some(local) = self.lookup(name) else { return self.global(name, span) };
        let Some(local) = local else {
            self.failed = true;
            return None;
        };
        let bound = &self.locals[local];
        let (ty, kind) = (bound.ty, bound.kind);
        if let LocalKind::Array(_) = kind {
            let error = Diagnostic::error(Code::TypeMismatch, span, format!("`{name}` is an array of racks"));
            self.report(error.help(format!("read one element: `{name}[<k>]`")));
            return None;
        }
        if let Some(pointee) = self.pointees.get(local) {
            let (what, help) = match pointee {
                Pointee::Stack { .. } => ("a stack", format!("read a column: `{name}.field`")),
                Pointee::View { .. } => ("a view", format!("read a rack, `{name}[<i>]`, or an element, `<{name}[i]>`")),
            };
            let error = Diagnostic::error(Code::TypeMismatch, span, format!("`{name}` is {what} and no rack"));
            self.report(error.help(help));
            return None;
        }
        if ty.is_uniform() && !marked && !self.bare {
            let error =
                Diagnostic::error(Code::UnmarkedUniform, span, format!("`{name}` is a uniform without its mark"));
            self.report(error.help(format!("write `<{name}>`")));
        }
        if !ty.is_uniform() && marked {
            let error =
                Diagnostic::error(Code::MarkedRack, span, format!("`{name}` is marked as a uniform, but it is {ty}"));
            self.report(error.help(format!("write `{name}` without the angle brackets")));
        }
        Some(self.alloc(typed::ExprKind::Read(local), ty, span))
    }

    fn global(&mut self, name: &SmolStr, span: Span) -> Checked {
        match self.decls.meaning(name) {
            Some(Meaning::Const(Some((bits, elem)))) => Some(self.constant_of(*bits, *elem, span)),
            _ => {
                self.failed = true;
                None
            }
        }
    }

    fn mark(&mut self, inner: ExprId, hint: Option<Elem>) -> Checked {
        let file = self.decls.file;
        let span = file.exprs[inner].span;
        match &file.exprs[inner].kind {
            ExprKind::Name(name) => self.name(name, span, true),
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Lanes(_) => self.operand(inner, hint),
            ExprKind::Field { base, field } => self.field(*base, field, span),
            ExprKind::Index { base, index, unchecked, bound } => {
                if let Some(view) = self.view(*base) {
                    if let Some(bound) = bound {
                        let at = file.exprs[*bound].span;
                        let error = Diagnostic::error(Code::InvalidMark, at, "one element has no tail form");
                        self.report(error.help("`view[<i> up to <n>]` without the mark is a rack"));
                        return None;
                    }
                    let place = Place { index: *index, unchecked: *unchecked, bound: None, span };
                    return self.view_element_of(view, place);
                }
                if let ExprKind::Name(name) = &file.exprs[*base].kind
                    && let Some(Some(local)) = self.lookup(name)
                {
                    let ty = self.locals[local].ty;
                    let message = format!("an element of `{name}` is {ty}, which carries no mark");
                    let error = Diagnostic::error(Code::MarkedRack, span, message);
                    self.report(error.help(format!("write `{name}[<k>]`")));
                    return None;
                }
                self.foreign(&file.exprs[inner].kind, span)
            }
            ExprKind::Error => {
                self.failed = true;
                None
            }
            other => self.foreign(other, span),
        }
    }

    fn lanes(&mut self, ty: Option<rake_ir::surface::TypeId>, hint: Option<Elem>, span: Span) -> Checked {
        use rake_ir::surface::TypeKind;
        let elem = match ty.map(|ty| &self.decls.file.types[ty]) {
            None => hint.filter(|&elem| elem != Elem::Bool).unwrap_or(Elem::I32),
            Some(ty) => match ty.kind {
                TypeKind::Rack(elem) if elem != Elem::Bool => elem,
                TypeKind::Mask => Elem::I32,
                _ => {
                    let error = Diagnostic::error(Code::InvalidType, ty.span, "`lanes` counts the lanes of a rack");
                    self.report(error.help("name a rack type: `lanes(f32s)`"));
                    return None;
                }
            },
        };
        Some(self.constant_of(self.decls.profile.lanes(elem) as u64, Elem::I32, span))
    }

    fn lane_index(&mut self, hint: Option<Elem>, span: Span) -> Checked {
        let elem = hint.unwrap_or(Elem::I32);
        if !elem.is_int() {
            let error =
                Diagnostic::error(Code::LiteralKind, span, format!("`@` is a rack of integers where {elem} is needed"));
            self.report(error.help("convert it: `to_f32(@)`"));
            return None;
        }
        let ty = Ty::Rack(elem);
        if !self.on_profile(Op::LaneIndex, &[ty], span) {
            return None;
        }
        Some(self.op(Op::LaneIndex, Imm::None, Args::new(), ty, span))
    }

    fn element(&mut self, base: ExprId, index: ExprId, span: Span) -> Checked {
        let file = self.decls.file;
        if !self.not_in_stage("it indexes an array".to_owned(), span) {
            return None;
        }
        let array = match &file.exprs[base].kind {
            ExprKind::Name(name) => match self.lookup(name) {
                Some(Some(local)) => Some((local, name)),
                Some(None) => {
                    self.failed = true;
                    return None;
                }
                None => None,
            },
            _ => None,
        };
        let Some((array, name)) = array else {
            self.report(not_available(Feature::GeneralRuns, self.decls.profile, span));
            return None;
        };
        let bound = &self.locals[array];
        let ty = bound.ty;
        if !matches!(bound.kind, LocalKind::Array(_)) {
            let error = Diagnostic::error(Code::TypeMismatch, span, format!("`{name}` is {ty} and has no elements"));
            self.report(
                error.help("lanes are reached by `extract(x, k)`; arrays of racks are declared `name: [n]T := e`"),
            );
            return None;
        }
        let index = self.array_index(index)?;
        Some(self.alloc(typed::ExprKind::Element { array, index }, ty, span))
    }

    /// `base.field`: only stacks have fields.
    fn field(&mut self, base: ExprId, field: &Name, span: Span) -> Checked {
        if let Some(stack) = self.stack_field(base) {
            return self.column(stack, field, false, span);
        }
        let bound = match &self.decls.file.exprs[base].kind {
            ExprKind::Name(name) => match self.lookup(name) {
                // Its marks are not what is wrong.
                Some(local) => local.map(|local| self.locals[local].ty),
                None => {
                    self.failed = true;
                    return None;
                }
            },
            _ => self.expr(base, None).map(|base| self.ty(base)),
        };
        let Some(ty) = bound else {
            self.failed = true;
            return None;
        };
        let what = match &self.decls.file.exprs[base].kind {
            ExprKind::Name(name) => format!("`{name}` is {ty}"),
            _ => format!("this is {ty}"),
        };
        let message = format!("{what} and has no field `{}`", field.text);
        let error = Diagnostic::error(Code::TypeMismatch, span, message);
        self.report(match ty {
            Ty::Rack(_) => {
                error.help("one lane is reached by `extract(x, k)`; fields belong to packs, records and stacks")
            }
            _ => error.help("fields belong to packs, records and stacks"),
        });
        None
    }

    /// Forms that belong to other kinds of code.
    fn foreign(&mut self, kind: &ExprKind, span: Span) -> Checked {
        let (feature, reason) = match kind {
            ExprKind::Slow { .. } => (Some(Feature::Slow), "it holds a slow block"),
            ExprKind::Record { .. } => (Some(Feature::Records), "it builds a record"),
            ExprKind::Index { .. } => (Some(Feature::GeneralRuns), "it reads memory"),
            ExprKind::Stack { .. } => (Some(Feature::Packs), "it builds a stack"),
            ExprKind::Array(_) | ExprKind::ArrayFill { .. } => (Some(Feature::ArrayLiterals), "it builds an array"),
            _ => (None, "it is no vector value"),
        };
        if !self.not_in_stage(reason.to_owned(), span) {
            return None;
        }
        match (kind, feature) {
            (ExprKind::Convert { .. }, _) => {
                let error = Diagnostic::error(Code::NotInVectorCode, span, "this conversion belongs to slow code");
                self.report(error.help("vector code converts with `to_f32`, `to_i32`, `to_u32` and `bitcast`"));
            }
            (_, Some(feature)) => self.report(not_available(feature, self.decls.profile, span)),
            (_, None) => self.error(Code::NotInVectorCode, span, "this is no value of vector code"),
        }
        None
    }
}
