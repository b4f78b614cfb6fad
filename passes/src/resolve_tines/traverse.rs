//! Stack runs: the body of a traverse, between loads of all columns that it reads and stores of those that it replaces.
//!
//! ```text
//! traverse s by 32:                            %1 : <i64> = count %0
//!   replace { x: s.x * splat(<k>) } where p    %2 : address = column %0, 0
//!                                         =>   traverse %3 up to %1 by 32 {
//!                                                %4 : f32s = load f32 %2, %3          ~~ s.x
//!                                                %7 : mask = ...                      the predicate
//!                                                %8 : f32s = mul %4, %6 if %7
//!                                                %9 : f32s = store f32 %2, %3, %8 if %7
//!                                              }
//! ```
//!
//! A compaction carries the number of records that it kept. It moves each column behind those, whole racks at a time, and
//! gives the stack its new count in the end. Everything that moves or folds lanes is refused: the last rack is partial.

use super::masks::{Condition, Place};
use super::{Lowering, index};
use rake_ir::desugared::{Event, ExprKind, LocalId, Traverse};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{Close, Open, Stmt, ValueId};
use rake_ir::ops::{Imm, LaneRule, Op};
use rake_ir::span::Span;
use rake_ir::typed::bodies::working_rack;
use rake_ir::types::{Elem, Pointee, Ty};
use smol_str::{SmolStr, format_smolstr};

/// A column of a stack, where it stands and what the current rack of it holds.
struct Column {
    stack: LocalId,
    column: u32,
    address: ValueId,
    value: Option<ValueId>,
}

/// The stack run whose body is being lowered.
pub struct Visit {
    record: ValueId,
    columns: Vec<Column>,
    /// How many records a compaction kept.
    kept: Option<ValueId>,
    /// Values below this number stand before the body.
    before: usize,
}

impl Lowering<'_> {
    /// The name and element of a column.
    fn described(&self, stack: LocalId, column: u32) -> Option<(SmolStr, Elem)> {
        let Some(Pointee::Stack { columns, .. }) = self.source.pointees.get(stack) else { return None };
        let (name, elem) = columns.get(column as usize)?;
        Some((format_smolstr!("{}.{name}", self.source.locals[stack].name), *elem))
    }

    /// The columns that the run reads, in the order of their first reads, then the others that it moves.
    fn columns_read(&self, traverse: &Traverse) -> Vec<(LocalId, u32)> {
        let mut read = Vec::new();
        self.source.walk(|event| {
            if let Event::Expr(id) = event
                && let ExprKind::Column { stack, column } = self.source.exprs[id].kind
                && !read.contains(&(stack, column))
            {
                read.push((stack, column));
            }
        });
        if traverse.compact {
            let all = 0..self.source.columns(traverse.stack).len() as u32;
            let moved = all.filter(|column| traverse.columns.iter().all(|(replaced, _)| replaced != column));
            for column in moved.map(|column| (traverse.stack, column)) {
                if !read.contains(&column) {
                    read.push(column);
                }
            }
        }
        read
    }

    pub fn traverse_start(&mut self, traverse: &Traverse) {
        let span = traverse.span;
        let Some(stack) = self.locals[index(traverse.stack)] else { return };
        let count = self.out.push(Op::Count, Imm::None, &[stack], Ty::LONG, None, span);
        self.out.values[count].name = Some("count".into());
        let read = self.columns_read(traverse);
        let written = traverse.columns.iter().map(|&(column, _)| (traverse.stack, column));
        let mut columns: Vec<Column> = Vec::new();
        for (of, column) in read.iter().copied().chain(written) {
            if columns.iter().any(|known| (known.stack, known.column) == (of, column)) {
                continue;
            }
            let Some(base) = self.locals[index(of)] else { continue };
            let address = self.out.push(Op::Column, Imm::Int(column), &[base], Ty::Address, None, span);
            self.out.values[address].name = self.described(of, column).map(|(name, _)| name);
            columns.push(Column { stack: of, column, address, value: None });
        }
        let zero = traverse.compact.then(|| self.out.push(Op::Const, Imm::Bits(0), &[], Ty::LONG, None, span));
        let before = self.out.values.len();
        let record = self.out.open_traverse(count, traverse.bits, span);
        let kept = zero.map(|zero| self.out.push(Op::Carry, Imm::None, &[zero], Ty::LONG, None, span));
        kept.into_iter().for_each(|kept| self.out.values[kept].name = Some("kept".into()));
        for at in 0..columns.len().min(read.len()) {
            let Column { stack, column, address, .. } = columns[at];
            let Some((name, elem)) = self.described(stack, column) else { continue };
            let Some(ty) = working_rack(elem, traverse.bits) else { continue };
            let value = self.out.push(Op::Load, Imm::Memory(elem), &[address, record], ty, None, span);
            self.out.values[value].name = Some(name);
            columns[at].value = Some(value);
        }
        self.visit = Some(Visit { record, columns, kept, before });
    }

    /// The current rack of a column.
    pub fn column(&mut self, stack: LocalId, column: u32) -> Option<ValueId> {
        self.visit.as_ref()?.column(stack, column)?.value
    }

    pub fn traverse_where(&mut self, traverse: &Traverse) {
        if let Some(predicate) = traverse.predicate {
            self.reads(predicate, None);
            let value = self.value_of(predicate);
            let value = self.canonical(value);
            self.masks.push(Condition::Holds(value), Place::Where);
        }
    }

    pub fn traverse_end(&mut self, traverse: &Traverse) {
        let span = traverse.span;
        let Some(visit) = self.visit.take() else { return };
        let predicate = traverse.predicate.map(|predicate| self.value_of(predicate));
        let replaced: Vec<(u32, ValueId)> =
            traverse.columns.iter().map(|&(column, value)| (column, self.value_of(value))).collect();
        let mut next = Vec::new();
        match (visit.kept, predicate) {
            (Some(kept), Some(selection)) => {
                for at in 0..self.source.columns(traverse.stack).len() as u32 {
                    let replaced = replaced.iter().find(|(column, _)| *column == at).map(|(_, value)| *value);
                    let Some(column) = visit.column(traverse.stack, at) else { continue };
                    let Some(value) = replaced.or(column.value) else { continue };
                    let value = self.complete(value, selection, span);
                    self.store(
                        Op::StoreSelected,
                        (traverse.stack, at),
                        &[column.address, kept, value, selection],
                        span,
                    );
                }
                let more = self.out.push(Op::CountTrue, Imm::None, &[selection], Ty::LONG, None, span);
                let sum = self.out.push(Op::Add, Imm::None, &[kept, more], Ty::LONG, None, span);
                next.push((kept, sum));
            }
            _ => {
                for (at, value) in replaced {
                    let Some(column) = visit.column(traverse.stack, at) else { continue };
                    self.store(Op::Store, (traverse.stack, at), &[column.address, visit.record, value], span);
                }
            }
        }
        if predicate.is_some() {
            self.masks.pop();
        }
        self.out.close(Close { again: None, next }, visit.before);
        if let (Some(kept), Some(stack)) = (visit.kept, self.locals[index(traverse.stack)]) {
            self.out.push(Op::SetCount, Imm::None, &[stack, kept], Ty::LONG, None, span);
        }
    }

    /// A value computed in the selected lanes only, with zeros in the others: moving lanes reads all.
    fn complete(&mut self, value: ValueId, selection: ValueId, span: Span) -> ValueId {
        let ty = self.out.values[value].ty;
        if self.out.values[value].mask.is_none() {
            return value;
        }
        let zero = self.out.push(Op::Const, Imm::Bits(0), &[], ty, None, span);
        self.out.push(Op::If, Imm::None, &[selection, value, zero], ty, None, span)
    }

    fn store(&mut self, op: Op, (stack, column): (LocalId, u32), args: &[ValueId], span: Span) {
        let Some((name, elem)) = self.described(stack, column) else { return };
        let ty = self.out.values[args[2]].ty;
        // A selection says itself which lanes are stored.
        let mask = if op == Op::Store { self.masks.of(ty, &mut self.out, span) } else { None };
        let stored = self.out.push(op, Imm::Memory(elem), args, ty, mask, span);
        self.out.values[stored].name = Some(name);
    }

    /// Refuses, in a stack run, an operation that moves or folds lanes. Gives true when it did.
    pub fn refused_in_traverse(&mut self, op: Op, args: &[ValueId], lane: LaneRule, ty: Ty, span: Span) -> bool {
        let lanes = |ty: Ty| !ty.is_uniform();
        let over_lanes = lanes(ty) || args.iter().any(|&arg| lanes(self.out.values[arg].ty));
        let moves = matches!(lane, LaneRule::CrossLane | LaneRule::Unmasked);
        if self.visit.is_none() || !moves || !over_lanes {
            return false;
        }
        let message = format!("`{}` cannot stand in a stack run", op.name());
        let fault = Diagnostic::error(Code::UnderMask, span, message)
            .at("it moves or folds lanes, and some lanes of the last rack have no record");
        self.faults.push(fault.help("a general run over views may, for it reads whole racks"));
        true
    }
}

impl Visit {
    fn column(&self, stack: LocalId, column: u32) -> Option<&Column> {
        self.columns.iter().find(|known| (known.stack, known.column) == (stack, column))
    }
}

impl super::Builder {
    /// Begins a body that visits racks; gives the number of the rack's first record.
    fn open_traverse(&mut self, count: ValueId, bits: u32, span: Span) -> ValueId {
        let record = self.value(Op::Index, Imm::None, &[], Ty::LONG, None, span);
        self.body.push(Stmt::Open(Open::Traverse { index: record, count, bits }));
        record
    }

    /// Ends a body in which the values from this number on were made.
    pub fn close(&mut self, close: Close, before: usize) {
        self.body.push(Stmt::Close(close));
        self.logic.forget(before);
    }
}
