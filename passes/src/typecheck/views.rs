//! Accesses of views: racks, elements, gathers and stores, and where each is checked.
//!
//! ```text
//! for <i: i32> from <0> up to <n> by <4>:
//!   out[<i>] <- x[<i> + <1>]       both are checked where the loop is entered, for the first and the last trip
//!   out[<i>] <- x[indices]         the gather is checked where it stands
//! ```
//!
//! The index of an access is computed exactly: each leaf becomes an `<i64>`, and so does what `+ - *` make of them. An
//! index that 64 bits might not hold is refused.

use super::body::{Body, Checked};
use super::definitions::not_available;
use super::runs::{Around, Run};
use rake_ir::capabilities::{self, Feature, Status};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, Op};
use rake_ir::span::Span;
use rake_ir::surface;
use rake_ir::typed::bodies::Check;
use rake_ir::typed::{Access, Args, Expr, ExprId, ExprKind, LocalId, LocalKind, Stmt, integer};
use rake_ir::types::{Elem, Pointee, Ty};
use rake_ir::value::to_i128;
use smallvec::smallvec;
use std::collections::HashMap;

/// What is done at an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// `<view[i]>`
    Element,
    /// `view[...]` as a value.
    Read,
    /// `view[...] <- value`
    Write,
}

/// An access as written.
#[derive(Clone, Copy)]
pub struct Place {
    pub index: surface::ExprId,
    pub unchecked: bool,
    pub bound: Option<surface::ExprId>,
    pub span: Span,
}

impl Body<'_, '_> {
    /// The view that an expression names.
    pub fn view(&self, base: surface::ExprId) -> Option<LocalId> {
        let surface::ExprKind::Name(name) = &self.decls.file.exprs[base].kind else { return None };
        let local = self.lookup(name)??;
        matches!(self.pointees.get(local), Some(Pointee::View { .. })).then_some(local)
    }

    /// `view[...]` as a rack.
    pub fn view_rack(&mut self, view: LocalId, place: Place) -> Checked {
        let (access, elem) = self.access(view, place, Use::Read)?;
        Some(self.alloc(ExprKind::Load(access), Ty::Rack(elem), place.span))
    }

    /// `<view[i]>`.
    pub fn view_element_of(&mut self, view: LocalId, place: Place) -> Checked {
        let (access, elem) = self.access(view, place, Use::Element)?;
        if !matches!(elem, Elem::F32 | Elem::I32 | Elem::U32) {
            self.report(not_available(Feature::OtherUniforms, self.decls.profile, place.span));
            return None;
        }
        Some(self.alloc(ExprKind::Load(access), Ty::Uniform(elem), place.span))
    }

    /// `view[...] <- value`.
    pub fn view_store(&mut self, view: LocalId, place: Place, value: surface::ExprId) -> Option<Stmt> {
        let name = self.locals[view].name.clone();
        let Some(Pointee::View { elem, mutable }) = self.pointees.get(view) else { return None };
        let (elem, mutable) = (*elem, *mutable);
        if !mutable {
            let error = Diagnostic::error(Code::NotALocation, place.span, format!("the run does not write `{name}`"));
            let bound = self.locals[view].span;
            self.report(error.label(bound, "bound here").help(format!("write `{name}: mut []{elem}`")));
        }
        let access = self.access(view, place, Use::Write);
        let value = self.expr(value, Some(elem));
        let value = self.expect(value, Some(Ty::Rack(elem)), &format!(" in `{name}`"));
        Some(Stmt::Store { access: access?.0, value: value? })
    }

    fn access(&mut self, view: LocalId, place: Place, used: Use) -> Option<(Access, Elem)> {
        let Some(Pointee::View { elem, .. }) = self.pointees.get(view) else { return None };
        let (elem, count) = (*elem, *self.counts.get(&view)?);
        if !self.may_touch(place.span) {
            return None;
        }
        let index = match used {
            Use::Element => self.bare_index(place.index),
            _ => self.expr(place.index, None),
        };
        let bound = place.bound.map(|bound| self.expr(bound, index.map(|index| self.ty(index).elem())));
        let index = index?;
        let index = match self.ty(index) {
            Ty::Rack(Elem::I32 | Elem::U32) if used != Use::Element => {
                self.indices(place, elem, used).then_some(index)?
            }
            Ty::Uniform(from) if from.is_int() => {
                self.by_record(used, place.span).then_some(())?;
                self.exact(index)?
            }
            found => {
                let span = self.exprs[index].span;
                let message = format!("an index is a uniform integer or a rack of 32-bit integers, found {found}");
                self.error(Code::TypeMismatch, span, message);
                return None;
            }
        };
        let bound = match bound {
            Some(bound) => Some(self.tail_bound(bound?)?),
            None => None,
        };
        let check = if place.unchecked { Check::Unchecked } else { Check::Here };
        let mut access = Access { view, count, index, bound, check };
        if let Some(Run { around, .. }) = &self.run
            && let Some(Around::Loop { index, to, known_step: true }) = around.last()
            && check == Check::Here
        {
            access.check = self.moment(&access, *index, Some(*to));
        }
        Some((access, elem))
    }

    /// Whether memory may be touched here.
    fn may_touch(&mut self, span: Span) -> bool {
        if !self.not_in_stage("it touches memory".to_owned(), span) {
            return false;
        }
        if !self.unmasked("a read of memory", Code::NotInThrough, span) {
            return false;
        }
        if self.run.as_ref().is_some_and(|run| run.branches > 0) {
            let error = Diagnostic::error(Code::UnderMask, span, "a branch of a conditional cannot read memory");
            self.report(error.help("bind it with `let` before the conditional"));
            return false;
        }
        true
    }

    /// Refuses a uniform index where a stack run has records: racks of views are none of them.
    fn by_record(&mut self, used: Use, span: Span) -> bool {
        let Some(Run { domain: Some(_), replaces, .. }) = self.run else { return true };
        let (message, help) = match used {
            Use::Element if replaces => (
                "under `where` an element of a view cannot be read, for perhaps no record is chosen",
                "bind it with `let` before the result: `let <name: T> = <view[i]>`",
            ),
            Use::Element => return true,
            _ => (
                "a stack run reads views by racks of indices only",
                "write `view[indices]` with a rack of indices, or `<view[i]>` for one element",
            ),
        };
        self.report(Diagnostic::error(Code::MisplacedStatement, span, message).help(help));
        false
    }

    /// Whether an access by a rack of indices may stand.
    fn indices(&mut self, place: Place, elem: Elem, used: Use) -> bool {
        let span = place.span;
        let word = if used == Use::Write { "scatter" } else { "gather" };
        if elem.bits() != 32 {
            let message = format!("a {word} moves elements of 32 bits, and these are {elem}");
            self.error(Code::TypeMismatch, span, message);
            return false;
        }
        if place.bound.is_some() {
            let error = Diagnostic::error(Code::MisplacedStatement, span, format!("a {word} has no tail form"));
            self.report(error.help("`up to` belongs to consecutive elements, `view[<i> up to <n>]`"));
            return false;
        }
        if used != Use::Write {
            return true;
        }
        if self.run.as_ref().is_some_and(|run| run.domain.is_some()) {
            let error = Diagnostic::error(Code::MisplacedStatement, span, "a stack run writes columns only");
            self.report(error.help("a general run may scatter"));
            return false;
        }
        match capabilities::scatter(self.decls.profile) {
            Status::Available => true,
            Status::NotYet => {
                self.report(not_available(Feature::GeneralRuns, self.decls.profile, span));
                false
            }
            Status::Never(why) => {
                let message = format!("a scatter cannot be compiled on {}: {why}", self.decls.profile);
                let error = Diagnostic::error(Code::NotOnProfile, span, message);
                self.report(error.help("choose x86-avx512, or write racks of consecutive elements"));
                false
            }
        }
    }

    /// The index of an element: names and integers joined by `+` and `-`, as the parser took them, without marks.
    fn bare_index(&mut self, index: surface::ExprId) -> Checked {
        self.bare = true;
        let value = self.expr(index, None);
        self.bare = false;
        value
    }

    fn tail_bound(&mut self, bound: ExprId) -> Checked {
        match self.ty(bound) {
            Ty::Uniform(elem) if elem.is_int() => self.exact(bound),
            found => {
                let span = self.exprs[bound].span;
                let message = format!("the bound of a tail is a uniform integer, found {found}");
                self.error(Code::TypeMismatch, span, message);
                None
            }
        }
    }

    /// The same integer in 64 bits: exact, for every leaf is widened before anything is computed.
    fn exact(&mut self, index: ExprId) -> Checked {
        // Operands stand behind their users here.
        let mut tree = vec![index];
        let mut next = 0;
        while let Some(&id) = tree.get(next) {
            next += 1;
            if let ExprKind::Op { op: Op::Add | Op::Sub | Op::Mul | Op::Neg, args, .. } = &self.exprs[id].kind {
                tree.extend(args.iter().copied());
            }
        }
        let mut made: HashMap<ExprId, (ExprId, i128, i128)> = HashMap::new();
        for &id in tree.iter().rev() {
            let Expr { kind, ty, span } = self.exprs[id].clone();
            let exact = match kind {
                ExprKind::Op { op: op @ (Op::Add | Op::Sub | Op::Mul | Op::Neg), args, .. } => {
                    let parts: Vec<_> = args.iter().filter_map(|arg| made.get(arg).copied()).collect();
                    let (low, high) = range(op, &parts);
                    let args: Args = parts.iter().map(|part| part.0).collect();
                    self.exprs[id] = Expr { kind: ExprKind::Op { op, imm: Imm::None, args }, ty: Ty::LONG, span };
                    (id, low, high)
                }
                ExprKind::Const(bits) => {
                    let value = to_i128(ty.elem(), bits);
                    self.exprs[id] = Expr { kind: ExprKind::Const(value as u64), ty: Ty::LONG, span };
                    (id, value, value)
                }
                _ => {
                    let (low, high) = match ty.elem() {
                        Elem::U32 => (0, i128::from(u32::MAX)),
                        _ => (i32::MIN.into(), i32::MAX.into()),
                    };
                    (self.op(Op::ToI64, Imm::None, smallvec![id], Ty::LONG, span), low, high)
                }
            };
            made.insert(id, exact);
        }
        let &(exact, low, high) = made.get(&index)?;
        if low < i64::MIN.into() || high > i64::MAX.into() {
            let span = self.exprs[exact].span;
            let error = Diagnostic::error(Code::LimitExceeded, span, "64 bits may not hold this index exactly");
            self.report(error.help("bind a part of it with `let <name: i32> = ...`, which wraps"));
            return None;
        }
        Some(exact)
    }

    /// Where an access is checked that stands directly in the body of a loop; `to` is the bound of a `for`.
    pub fn moment(&self, access: &Access, index: LocalId, to: Option<ExprId>) -> Check {
        let alone = match &self.exprs[access.index].kind {
            ExprKind::Op { op: Op::ToI64, args, .. } => self.exprs[args[0]].kind == ExprKind::Read(index),
            _ => false,
        };
        let tail = match (access.bound, to) {
            (None, _) => true,
            // Each trip's index is below the bound of the tail, which is the loop's.
            (Some(bound), Some(to)) => alone && self.same_bound(bound, to, index),
            (Some(_), None) => false,
        };
        let affine =
            self.ty(access.index) == Ty::LONG && self.degree(access.index, index).is_some_and(|degree| degree <= 1);
        if tail && affine { Check::Entry } else { Check::Here }
    }

    /// Whether an exact bound is a loop's bound, and the same in each trip.
    fn same_bound(&self, bound: ExprId, to: ExprId, index: LocalId) -> bool {
        match (&self.exprs[bound].kind, &self.exprs[to].kind) {
            (ExprKind::Op { op: Op::ToI64, args, .. }, &ExprKind::Read(to)) => {
                self.exprs[args[0]].kind == ExprKind::Read(to) && before(to, index)
            }
            (ExprKind::Const(bound), ExprKind::Const(bits)) => {
                i128::from(*bound as i64) == integer(*bits, self.ty(to).elem())
            }
            _ => false,
        }
    }

    /// The degree of an exact index in a loop's index: `None` when it holds what else may change in the loop.
    fn degree(&self, exact: ExprId, index: LocalId) -> Option<u32> {
        let mut stack = vec![(exact, false)];
        let mut degrees: HashMap<ExprId, u32> = HashMap::new();
        while let Some((id, visited)) = stack.pop() {
            let degree = match &self.exprs[id].kind {
                ExprKind::Op { op: op @ (Op::Add | Op::Sub | Op::Mul | Op::Neg), args, .. } => {
                    if !visited {
                        stack.push((id, true));
                        stack.extend(args.iter().map(|&arg| (arg, false)));
                        continue;
                    }
                    let parts = args.iter().map(|arg| degrees.get(arg).copied().unwrap_or(0));
                    if *op == Op::Mul { parts.sum() } else { parts.max().unwrap_or(0) }
                }
                ExprKind::Op { op: Op::ToI64, args, .. } => match self.exprs[args[0]].kind {
                    ExprKind::Read(local) if local == index => 1,
                    _ => self.is_fixed(args[0], index).then_some(0)?,
                },
                ExprKind::Const(_) => 0,
                _ => return None,
            };
            degrees.insert(id, degree);
        }
        degrees.get(&exact).copied()
    }

    /// Whether a leaf of an index is the same in each trip, but for indices of repeats.
    fn is_fixed(&self, leaf: ExprId, index: LocalId) -> bool {
        let mut stack = vec![leaf];
        while let Some(id) = stack.pop() {
            match &self.exprs[id].kind {
                ExprKind::Const(_) => {}
                ExprKind::Read(local) => {
                    let bound = &self.locals[*local];
                    let fixed =
                        bound.kind == LocalKind::Index || bound.kind == LocalKind::Value && before(*local, index);
                    if !fixed {
                        return false;
                    }
                }
                ExprKind::Op { args, .. } if args.iter().all(|&arg| self.ty(arg).is_uniform()) => stack.extend(args),
                _ => return false,
            }
        }
        true
    }
}

/// Whether a name is bound before another.
fn before(local: LocalId, other: LocalId) -> bool {
    local.into_raw().into_u32() < other.into_raw().into_u32()
}

/// The least and greatest value of an operation over exact integers.
fn range(op: Op, parts: &[(ExprId, i128, i128)]) -> (i128, i128) {
    // Numbers far beyond 64 bits stay there.
    const MOST: i128 = 1 << 100;
    let clamp = |value: i128| value.clamp(-MOST, MOST);
    let (low, high) = match (op, parts) {
        (Op::Neg, &[(_, low, high)]) => (-high, -low),
        (Op::Add, &[(_, a, b), (_, c, d)]) => (a + c, b + d),
        (Op::Sub, &[(_, a, b), (_, c, d)]) => (a - d, b - c),
        (Op::Mul, &[(_, a, b), (_, c, d)]) => {
            let products = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y));
            let all: Vec<i128> = products.into_iter().flatten().collect();
            match (all.len(), all.iter().min(), all.iter().max()) {
                (4, Some(&low), Some(&high)) => (low, high),
                _ => (-MOST, MOST),
            }
        }
        _ => (-MOST, MOST),
    };
    (clamp(low), clamp(high))
}
