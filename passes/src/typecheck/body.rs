//! The state of checking one body: its locals, expressions and scopes.

use super::definitions::Declarations;
use super::runs::Run;
use la_arena::{Arena, ArenaMap};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, Op, TypeRule};
use rake_ir::span::Span;
use rake_ir::typed::{Args, Expr, ExprId, ExprKind, Local, LocalId, LocalKind, broadcasts};
use rake_ir::types::{Pointee, Ty};
use smol_str::SmolStr;
use std::collections::HashMap;

/// A checked value; `None` when an error has been reported for it.
pub type Checked = Option<ExprId>;

/// A place where some forms are refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum In {
    /// A predicate.
    Predicate,
    /// The body of the through block of this name; locals from `floor` on are its own.
    Through { name: SmolStr, floor: usize },
}

/// One body under construction.
pub struct Body<'a, 'd> {
    pub decls: &'a Declarations<'a>,
    /// The definition's position in the file.
    pub index: usize,
    pub locals: Arena<Local>,
    pub exprs: Arena<Expr>,
    /// `None` is a name whose binding has an error.
    scope: HashMap<SmolStr, Option<LocalId>>,
    scopes: Vec<Vec<SmolStr>>,
    /// The fused binding whose value is being checked.
    pub stage: Option<SmolStr>,
    /// The predicate or through body that is being checked.
    pub inside: Option<In>,
    /// Whether it is a rake's.
    pub rake: bool,
    /// What there is to know of a run.
    pub run: Option<Run>,
    /// What parameters that are addresses lead to.
    pub pointees: ArenaMap<LocalId, Pointee>,
    /// For each view the local that counts its elements.
    pub counts: HashMap<LocalId, LocalId>,
    /// Whether names need no mark: in the index of a marked element.
    pub bare: bool,
    pub failed: bool,
    pub diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a, 'd> Body<'a, 'd> {
    pub fn new(decls: &'a Declarations<'a>, index: usize, diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        Body {
            decls,
            index,
            locals: Arena::new(),
            exprs: Arena::new(),
            scope: HashMap::new(),
            scopes: vec![Vec::new()],
            stage: None,
            inside: None,
            rake: false,
            run: None,
            pointees: ArenaMap::default(),
            counts: HashMap::new(),
            bare: false,
            failed: false,
            diagnostics,
        }
    }

    /// Reports an error. Past the limit only the fact counts.
    pub fn report(&mut self, error: Diagnostic) {
        self.failed = true;
        if self.diagnostics.len() <= super::MAX_ERRORS {
            self.diagnostics.push(error);
        }
    }

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    pub fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub fn close(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            self.scope.remove(&name);
        }
    }

    /// Brings a name into scope; without a type, as one whose error has been reported.
    pub fn bind(&mut self, name: &SmolStr, ty: Option<Ty>, kind: LocalKind, span: Span) -> Option<LocalId> {
        self.bind_as(name.clone(), name, ty, kind, span)
    }

    /// As [`Body::bind`], under a key of its own among the names in scope.
    pub fn bind_as(
        &mut self,
        key: SmolStr,
        name: &SmolStr,
        ty: Option<Ty>,
        kind: LocalKind,
        span: Span,
    ) -> Option<LocalId> {
        let local = ty.map(|ty| self.locals.alloc(Local { name: name.clone(), ty, kind, span }));
        self.failed |= local.is_none();
        self.scope.insert(key.clone(), local);
        if let Some(names) = self.scopes.last_mut() {
            names.push(key);
        }
        local
    }

    /// Refuses a form that belongs neither in a through body nor in a predicate; true elsewhere.
    pub fn unmasked(&mut self, what: &str, code: Code, at: Span) -> bool {
        let (place, help) = match &self.inside {
            None => return true,
            Some(In::Predicate) => ("a predicate".to_owned(), "bind its result with `let` before and compare that"),
            Some(In::Through { name, .. }) => {
                (format!("the through body of `{name}`"), "bind its result with `let` before the through block")
            }
        };
        self.report(Diagnostic::error(code, at, format!("{what} cannot stand in {place}")).help(help));
        false
    }

    /// What a name in scope is; the inner `None` is a name whose error has been reported.
    pub fn lookup(&self, name: &SmolStr) -> Option<Option<LocalId>> {
        self.scope.get(name).copied()
    }

    pub fn alloc(&mut self, kind: ExprKind, ty: Ty, span: Span) -> ExprId {
        self.exprs.alloc(Expr { kind, ty, span })
    }

    pub fn ty(&self, expr: ExprId) -> Ty {
        self.exprs[expr].ty
    }

    pub fn op(&mut self, op: Op, imm: Imm, args: Args, ty: Ty, span: Span) -> ExprId {
        self.alloc(ExprKind::Op { op, imm, args }, ty, span)
    }

    /// Makes what consists of literals only the rack that its place asks for; other broadcasts stay implicit.
    pub fn coerce(&mut self, expr: ExprId, ty: Ty) {
        if self.ty(expr) == ty || !broadcasts(self.ty(expr), ty) {
            return;
        }
        let mut tree = vec![expr];
        let mut next = 0;
        while let Some(&id) = tree.get(next) {
            next += 1;
            match &self.exprs[id].kind {
                ExprKind::Const(_) => {}
                ExprKind::Op { op, args, .. } if matches!(op.info().types, TypeRule::Same(_)) => tree.extend(args),
                _ => return,
            }
        }
        for id in tree {
            self.exprs[id].ty = ty;
        }
    }

    /// Refuses a broadcast that no mark shows: of a uniform that an operation takes from a rack.
    pub fn visible(&mut self, expr: ExprId, ty: Ty) -> bool {
        let found = self.ty(expr);
        if found == ty || !found.is_uniform() {
            return true;
        }
        let mut tree = vec![expr];
        while let Some(id) = tree.pop() {
            match &self.exprs[id].kind {
                ExprKind::Op { op, args, .. } => {
                    if args.iter().all(|&arg| self.ty(arg).is_uniform()) {
                        tree.extend(args);
                        continue;
                    }
                    let name = op.info().spelling;
                    let message = format!("`{name}` gives a uniform, and nothing here shows that it meets a {ty}");
                    let error = Diagnostic::error(Code::UnmarkedUniform, self.exprs[id].span, message);
                    let elem = self.ty(id).elem();
                    self.report(
                        error.help(format!("bind it before: `let <name: {elem}> = {name}(...)`, and read `<name>`")),
                    );
                    return false;
                }
                ExprKind::If { condition, then, otherwise } => tree.extend([*condition, *then, *otherwise]),
                _ => {}
            }
        }
        true
    }

    /// Holds a value to the type of its place.
    pub fn expect(&mut self, value: Checked, ty: Option<Ty>, place: &str) -> Checked {
        let (value, ty) = (value?, ty?);
        let found = self.ty(value);
        if broadcasts(found, ty) {
            self.coerce(value, ty);
            return self.visible(value, ty).then_some(value);
        }
        let span = self.exprs[value].span;
        let error = Diagnostic::error(Code::TypeMismatch, span, format!("expected {ty}{place}, found {found}"));
        let error = match (found, ty) {
            (Ty::Rack(_), Ty::Uniform(_)) => error.help("`extract` one lane, or reduce the rack, as in `sum(...)`"),
            (Ty::Mask(_), Ty::Uniform(_)) => error.help("a mask becomes a `bool` by `all` or `any`"),
            _ => match conversion(found, ty) {
                Some(name) => error.help(format!("conversions are written out: `{name}(...)`")),
                None => error,
            },
        };
        self.report(error);
        None
    }
}

/// The conversion that leads from one element type to another.
pub fn conversion(from: Ty, to: Ty) -> Option<&'static str> {
    use rake_ir::types::Elem::{F32, I32, U32};
    if from.is_truth() || to.is_truth() || from.is_uniform() && !to.is_uniform() {
        return None;
    }
    match (from.elem(), to.elem()) {
        (I32 | U32, F32) => Some("to_f32"),
        (F32, I32) => Some("to_i32"),
        (F32, U32) => Some("to_u32"),
        _ => None,
    }
}
