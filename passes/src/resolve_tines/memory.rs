//! Accesses of views: their checks, and what is read or written.
//!
//! ```text
//! x[to_i64(<i>)]        =>    %4 : <i64> = to_i64 %1            the count
//!                             %5 : <bool> = ge %3, %2           %2 is 0, %3 the index
//!                             %7 : <i64> = sub %4, %6           %6 is the number of lanes
//!                             %8 : <bool> = le %3, %7
//!                             %9 : <bool> = and %5, %8
//!                             %10 : <bool> = check %9, bounds
//!                             %11 : f32s = load f32 %0, %3
//! ```
//!
//! Of a rack of indices the active lanes are counted that are outside, so that no lane is read that is none.

use super::{Lowering, index};
use rake_ir::desugared::Access;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::ValueId;
use rake_ir::ops::{Imm, Op, TrapReason};
use rake_ir::span::Span;
use rake_ir::typed::bodies::Check;
use rake_ir::types::{Elem, Ty};
use smol_str::format_smolstr;

/// The values of an access.
#[derive(Clone, Copy)]
struct Parts {
    base: ValueId,
    count: ValueId,
    index: ValueId,
    bound: Option<ValueId>,
    span: Span,
}

impl Lowering<'_> {
    fn parts(&mut self, access: &Access) -> Option<Parts> {
        let span = self.source.exprs[access.index].span;
        let (base, count) = (self.locals[index(access.view)], self.locals[index(access.count)]);
        let index = self.value_of(access.index);
        let bound = access.bound.map(|bound| self.value_of(bound));
        let parts = base.zip(count).map(|(base, count)| Parts { base, count, index, bound, span });
        if parts.is_none() {
            self.faults.push(Diagnostic::error(Code::Internal, span, "an access of no parameter"));
        }
        parts
    }

    /// What a view holds at an access.
    pub fn load(&mut self, access: &Access, ty: Ty) -> Option<ValueId> {
        let parts = self.parts(access)?;
        self.check(parts, access.check, ty, false);
        let span = parts.span;
        let elem = self.source.element(access);
        let (op, mask) = match (ty, self.out.values[parts.index].ty) {
            (Ty::Uniform(_), _) => (Op::LoadUniform, None),
            (_, Ty::Rack(_)) => (Op::Gather, self.masks.of(ty, &mut self.out, span)),
            _ => (Op::Load, self.tail(parts, ty)),
        };
        let loaded = self.out.push(op, Imm::Memory(elem), &[parts.base, parts.index], ty, mask, span);
        self.out.values[loaded].name = Some(format_smolstr!("{}[]", self.source.locals[access.view].name));
        let (Op::Load, Some(mask)) = (op, mask) else { return Some(loaded) };
        // The lanes from the bound on are zero.
        let zero = self.out.push(Op::Const, Imm::Bits(0), &[], ty, None, span);
        Some(self.out.push(Op::If, Imm::None, &[mask, loaded, zero], ty, None, span))
    }

    /// Writes a rack to a view.
    pub fn store_view(&mut self, access: &Access, value: ValueId) {
        let Some(parts) = self.parts(access) else { return };
        let ty = self.out.values[value].ty;
        self.check(parts, access.check, ty, true);
        let (op, mask) = match self.out.values[parts.index].ty {
            Ty::Rack(_) => (Op::Scatter, None),
            _ => (Op::Store, self.tail(parts, ty)),
        };
        let elem = self.source.element(access);
        let stored = self.out.push(op, Imm::Memory(elem), &[parts.base, parts.index, value], ty, mask, parts.span);
        self.out.values[stored].name = Some(format_smolstr!("{}[]", self.source.locals[access.view].name));
    }

    /// The mask of the lanes below the bound of a tail form.
    fn tail(&mut self, parts: Parts, ty: Ty) -> Option<ValueId> {
        let left = self.uniform(Op::Sub, &[parts.bound?, parts.index], parts.span);
        Some(self.out.push(Op::InRange, Imm::None, &[left], ty.truth(), None, parts.span))
    }

    /// Checks an access where its loop is entered: its index is computed once more, for a trip that `longs` tells.
    pub fn check_again(&mut self, access: &Access, ty: Ty) {
        let source = self.source;
        [Some(access.index), access.bound]
            .into_iter()
            .flatten()
            .for_each(|id| source.walk_expr(id, |event| self.event(event)));
        if let Some(parts) = self.parts(access) {
            self.check(parts, Check::Here, ty, false);
        }
    }

    fn check(&mut self, parts: Parts, check: Check, ty: Ty, writes: bool) {
        if check != Check::Here {
            return;
        }
        if let Ty::Rack(elem) = self.out.values[parts.index].ty {
            return self.check_indices(parts, elem, writes);
        }
        let Parts { index, count, span, .. } = parts;
        let (zero, count) = (self.long_const(0, span), self.long(count, span));
        let above = self.uniform(Op::Ge, &[index, zero], span);
        let below = match ty {
            Ty::Rack(elem) => {
                let lanes = self.long_const(self.profile.lanes(elem) as i64, span);
                let most = self.uniform(Op::Sub, &[count, lanes], span);
                self.uniform(Op::Le, &[index, most], span)
            }
            _ => self.uniform(Op::Lt, &[index, count], span),
        };
        let holds = match parts.bound {
            None => self.uniform(Op::And, &[above, below], span),
            // No element is touched, or the first is there and so is the last below the bound.
            Some(bound) => {
                let within = self.uniform(Op::Le, &[bound, count], span);
                let last = self.uniform(Op::Or, &[below, within], span);
                let both = self.uniform(Op::And, &[above, last], span);
                let none = self.uniform(Op::Ge, &[index, bound], span);
                self.uniform(Op::Or, &[none, both], span)
            }
        };
        self.out.push(Op::Check, Imm::Reason(TrapReason::Bounds), &[holds], Ty::TRUTH, None, span);
    }

    fn check_indices(&mut self, parts: Parts, elem: Elem, writes: bool) {
        let Parts { index, count, span, .. } = parts;
        let indices = Ty::Rack(Elem::U32);
        let mask = self.masks.of(indices, &mut self.out, span);
        let unsigned = match elem {
            Elem::U32 => index,
            _ => self.out.push(Op::Bitcast, Imm::None, &[index], indices, mask, span),
        };
        let count = self.out.push(Op::Bitcast, Imm::None, &[count], Ty::Uniform(Elem::U32), None, span);
        let count = self.out.push(Op::Splat, Imm::None, &[count], indices, None, span);
        let outside = self.out.push(Op::Ge, Imm::None, &[unsigned, count], Ty::Mask(32), mask, span);
        let outside = match mask {
            Some(mask) => self.out.push(Op::And, Imm::None, &[mask, outside], Ty::Mask(32), None, span),
            None => outside,
        };
        self.none(outside, TrapReason::Bounds, span);
        if writes {
            let lanes = self.profile.lanes(Elem::U32) as u32;
            let mut equal = None;
            // Each lane meets each other one by the time the rack is rotated half round.
            for by in 1..=lanes / 2 {
                let rotated = self.out.push(Op::RotateLeft, Imm::Int(by), &[unsigned], indices, None, span);
                let same = self.out.push(Op::Eq, Imm::None, &[unsigned, rotated], Ty::Mask(32), None, span);
                equal = Some(match equal {
                    Some(equal) => self.out.push(Op::Or, Imm::None, &[equal, same], Ty::Mask(32), None, span),
                    None => same,
                });
            }
            equal.into_iter().for_each(|equal| self.none(equal, TrapReason::Conflict, span));
        }
    }

    /// Stops the program when the mask holds somewhere.
    fn none(&mut self, mask: ValueId, reason: TrapReason, span: Span) {
        let found = self.out.push(Op::CountTrue, Imm::None, &[mask], Ty::LONG, None, span);
        let zero = self.long_const(0, span);
        let none = self.uniform(Op::Eq, &[found, zero], span);
        self.out.push(Op::Check, Imm::Reason(reason), &[none], Ty::TRUTH, None, span);
    }
}
