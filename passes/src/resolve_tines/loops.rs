//! Counted loops and statements `if` of general runs.
//!
//! ```text
//! for i: <i32> from 0 up to <n> by 4 with t: f32s = s:     %5 : <bool> = lt %3, %4      ~~ 0 and n as <i64>
//!   ...                                                    if %5 {
//!   next t = u                                               ... checks of the first and the last trip
//! y[<0>] <- t                                                loop {
//!                                                     =>       %6 : <i64> = carry %3
//!                                                              %7 : <i32> = carry %0
//!                                                              %8 : f32s = carry %2    ~~ t
//!                                                              ...
//!                                                              %13 : <bool> = lt %11, %4
//!                                                            } again %13 with %6 = %11, %7 = %12, %8 = %10
//!                                                          } else {
//!                                                          }
//!                                                          %14 : f32s = merge %8, %2
//! ```
//!
//! The index is carried in 64 bits too: indices of accesses are exact, and the step to the bound cannot overflow there.

use super::{Lowering, index};
use rake_ir::desugared::{Event, ExprId, ExprKind, For, If, LocalId};
use rake_ir::lane::{Close, Open, Stmt, ValueId};
use rake_ir::ops::{Imm, Op, TrapReason};
use rake_ir::span::Span;
use rake_ir::types::Ty;

/// A loop that is open.
pub struct Loop {
    /// The bound and the step in 64 bits.
    to: ValueId,
    step: ValueId,
    /// The step as written.
    short_step: ValueId,
    /// The carried index, in 64 bits and in its own type.
    long: ValueId,
    short: ValueId,
    /// The first values of the carried names.
    first: Vec<ValueId>,
    /// Values below this number stand before the `if` around the loop, and before the loop.
    before: (usize, usize),
}

impl Lowering<'_> {
    pub(super) fn long_const(&mut self, value: i64, span: Span) -> ValueId {
        self.out.push(Op::Const, Imm::Bits(value as u64), &[], Ty::LONG, None, span)
    }

    pub(super) fn uniform(&mut self, op: Op, args: &[ValueId], span: Span) -> ValueId {
        let ty = match op {
            Op::Lt | Op::Le | Op::Ge | Op::Gt | Op::Eq | Op::And | Op::Or => Ty::TRUTH,
            _ => Ty::LONG,
        };
        self.out.push(op, Imm::None, args, ty, None, span)
    }

    /// A uniform integer in 64 bits.
    pub(super) fn long(&mut self, id: ValueId, span: Span) -> ValueId {
        let value = &self.out.values[id];
        match (value.op, &value.imm) {
            (Op::Const, Imm::Bits(bits)) => {
                let exact = rake_ir::value::to_i128(value.ty.elem(), *bits) as i64;
                self.long_const(exact, span)
            }
            _ => self.out.push(Op::ToI64, Imm::None, &[id], Ty::LONG, None, span),
        }
    }

    /// The number that a 64-bit uniform is known to be.
    fn constant(&self, id: ValueId) -> Option<i64> {
        match (self.out.values[id].op, &self.out.values[id].imm) {
            (Op::Const, Imm::Bits(bits)) => Some(*bits as i64),
            _ => None,
        }
    }

    /// The 64-bit value of `to_i64(<i>)` when the name is a loop's index.
    pub fn exact_index(&self, arg: ExprId) -> Option<ValueId> {
        let ExprKind::Read(local) = self.source.exprs[arg].kind else { return None };
        self.longs.get(&local).copied()
    }

    pub fn for_start(&mut self, looped: &For) {
        let span = looped.span;
        let [from, to, short_step] = [looped.from, looped.to, looped.step].map(|id| self.value_of(id));
        let first: Vec<ValueId> = looped.carries.iter().map(|carry| self.value_of(carry.first)).collect();
        let [start, to, step] = [from, to, short_step].map(|id| self.long(id, span));
        if self.constant(step).is_none_or(|step| step <= 0) {
            let zero = self.long_const(0, span);
            let positive = self.uniform(Op::Gt, &[step, zero], span);
            self.out.push(Op::Check, Imm::Reason(TrapReason::Step), &[positive], Ty::TRUTH, None, span);
        }
        let some = self.uniform(Op::Lt, &[start, to], span);
        let outer = self.out.values.len();
        self.out.body.push(Stmt::Open(Open::If(some)));
        self.entry_checks(looped, (from, start), to, step);
        let inner = self.out.values.len();
        self.out.body.push(Stmt::Open(Open::Loop));
        let long = self.out.push(Op::Carry, Imm::None, &[start], Ty::LONG, None, span);
        let index_local = &self.source.locals[looped.index];
        let short = self.out.push(Op::Carry, Imm::None, &[from], index_local.ty, None, span);
        for id in [long, short] {
            self.out.values[id].name = Some(index_local.name.clone());
        }
        self.locals[index(looped.index)] = Some(short);
        self.longs.insert(looped.index, long);
        for (carry, &first) in looped.carries.iter().zip(&first) {
            let ty = self.out.values[first].ty;
            let value = self.out.push(Op::Carry, Imm::None, &[first], ty, None, span);
            self.out.values[value].name = Some(self.source.locals[carry.local].name.clone());
            self.locals[index(carry.local)] = Some(value);
        }
        self.loops.push(Loop { to, step, short_step, long, short, first, before: (outer, inner) });
    }

    pub fn for_end(&mut self, looped: &For) {
        let span = looped.span;
        let Some(Loop { to, step, short_step, long, short, first, before }) = self.loops.pop() else { return };
        let carries: Vec<Option<ValueId>> =
            looped.carries.iter().map(|carry| self.locals[index(carry.local)]).collect();
        let values: Vec<ValueId> = looped.carries.iter().map(|carry| self.value_of(carry.next)).collect();
        let ty = self.out.values[short].ty;
        let next = self.uniform(Op::Add, &[long, step], span);
        let next_short = self.out.push(Op::Add, Imm::None, &[short, short_step], ty, None, span);
        let again = self.uniform(Op::Lt, &[next, to], span);
        let carried = carries.iter().zip(&values).filter_map(|(carry, &next)| Some(((*carry)?, next)));
        let next: Vec<(ValueId, ValueId)> = [(long, next), (short, next_short)].into_iter().chain(carried).collect();
        self.out.close(Close { again: Some(again), next }, before.1);
        if !carries.is_empty() {
            self.out.body.push(Stmt::Else);
        }
        self.out.close(Close::default(), before.0);
        self.longs.remove(&looped.index);
        for (carry, (value, first)) in looped.carries.iter().zip(carries.into_iter().zip(first)) {
            let Some(value) = value else { continue };
            self.merge(carry.local, value, first, span);
        }
    }

    fn merge(&mut self, local: LocalId, then: ValueId, otherwise: ValueId, span: Span) {
        let ty = self.out.values[then].ty;
        let merged = self.out.push(Op::Merge, Imm::None, &[then, otherwise], ty, None, span);
        self.out.values[merged].name = Some(self.source.locals[local].name.clone());
        self.locals[index(local)] = Some(merged);
    }

    /// Checks, before the loop's first trip, the accesses whose indices go from one end to the other.
    fn entry_checks(&mut self, looped: &For, (from, start): (ValueId, ValueId), to: ValueId, step: ValueId) {
        let source = self.source;
        let entries = source.entries(looped);
        let mut last = None;
        self.locals[index(looped.index)] = Some(from);
        for (access, ty) in entries {
            let mut varies = false;
            source.walk_expr(access.index, |event| {
                if let Event::Expr(id) = event {
                    varies |= source.exprs[id].kind == ExprKind::Read(looped.index);
                }
            });
            let span = source.exprs[access.index].span;
            self.longs.insert(looped.index, start);
            self.check_again(access, ty);
            if varies {
                let last = *last.get_or_insert_with(|| self.last_trip((start, to, step), span));
                self.longs.insert(looped.index, last);
                self.check_again(access, ty);
            }
        }
    }

    /// The index of the last trip of a loop that makes some; the step is a constant.
    fn last_trip(&mut self, (start, to, step): (ValueId, ValueId, ValueId), span: Span) -> ValueId {
        let one = self.long_const(1, span);
        let end = self.uniform(Op::Sub, &[to, one], span);
        let by = self.constant(step).unwrap_or(1).max(1);
        if by == 1 {
            return end;
        }
        // Below 2^32, since the bounds are of 32 bits.
        let distance = self.uniform(Op::Sub, &[end, start], span);
        if by & (by - 1) == 0 {
            let whole = self.long_const(!(by - 1), span);
            let steps = self.uniform(Op::BitAnd, &[distance, whole], span);
            return self.uniform(Op::Add, &[start, steps], span);
        }
        // The quotient by way of the reciprocal in 32 bits is right or one too small.
        let reciprocal = self.long_const((1 << 32) / by, span);
        let product = self.uniform(Op::Mul, &[distance, reciprocal], span);
        let quotient = self.out.push(Op::ShiftBitsRight, Imm::Int(32), &[product], Ty::LONG, None, span);
        let steps = self.uniform(Op::Mul, &[quotient, step], span);
        let rest = self.uniform(Op::Sub, &[distance, steps], span);
        let short = self.uniform(Op::Ge, &[rest, step], span);
        let zero = self.long_const(0, span);
        let more = self.out.push(Op::If, Imm::None, &[short, step, zero], Ty::LONG, None, span);
        let steps = self.uniform(Op::Add, &[steps, more], span);
        self.uniform(Op::Add, &[start, steps], span)
    }

    pub fn if_start(&mut self, choice: &If) {
        let condition = self.value_of(choice.condition);
        self.ifs.push(self.out.values.len());
        self.out.body.push(Stmt::Open(Open::If(condition)));
    }

    pub fn if_else(&mut self, choice: &If) {
        if !choice.otherwise.is_empty() || !choice.merges.is_empty() {
            self.out.body.push(Stmt::Else);
        }
        self.out.logic.forget(self.ifs.last().copied().unwrap_or(0));
    }

    pub fn if_end(&mut self, choice: &If) {
        let before = self.ifs.pop().unwrap_or(0);
        self.out.close(Close::default(), before);
        for merge in &choice.merges {
            let (then, otherwise) = (self.value_of(merge.then), self.value_of(merge.otherwise));
            self.merge(merge.local, then, otherwise, choice.span);
        }
    }
}
