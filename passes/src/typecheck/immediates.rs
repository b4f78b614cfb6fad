//! Arguments that must be literals: shift counts, lanes, lane counts, the index lists of shuffles.

use super::body::{Body, Checked};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{Imm, ImmKind, Op};
use rake_ir::span::Span;
use rake_ir::surface::{ExprId, ExprKind};
use rake_ir::typed::Args;
use rake_ir::types::{Elem, Ty};

impl Body<'_, '_> {
    /// An operation with an immediate among its arguments; their number has been checked.
    pub fn with_immediate(&mut self, op: Op, at: Span, args: &[ExprId], hint: Option<Elem>, span: Span) -> Checked {
        match op.info().imm {
            ImmKind::ShiftCount => self.shift(op, at, args, hint, span),
            ImmKind::Lanes => {
                let (&list, racks) = args.split_last()?;
                let racks = self.operands(op, racks, hint)?;
                let lanes = self.rack_lanes(&racks, op, at)?;
                let imm = self.lane_list(list, lanes, lanes * racks.len())?;
                self.apply(op, Imm::Lanes(imm), racks, span, at)
            }
            ImmKind::Lane | ImmKind::LaneCount => {
                // `extract(x, k)`, `insert(x, k, <u>)`, `rotate_left(x, n)`.
                let mut racks = args.to_vec();
                let number = racks.remove(1);
                let racks = self.operands(op, &racks, hint)?;
                let lanes = self.rack_lanes(&racks, op, at)?;
                let most = if op.info().imm == ImmKind::Lane { lanes - 1 } else { lanes };
                let what = if op.info().imm == ImmKind::Lane { "a lane" } else { "a count of lanes" };
                let number = self.bounded(number, most as i128, what)?;
                self.apply(op, Imm::Int(number), racks, span, at)
            }
            ImmKind::None | ImmKind::Bits | ImmKind::Param => None,
            // Of operations that source does not write.
            ImmKind::Memory | ImmKind::Column | ImmKind::Reason => None,
        }
    }

    fn shift(&mut self, op: Op, at: Span, args: &[ExprId], hint: Option<Elem>, span: Span) -> Checked {
        let (&value, &count) = (args.first()?, args.get(1)?);
        let value = self.group(&[value], hint).into_iter().next().flatten();
        let literal = self.decls.flexible.default(count).is_some();
        let counted = self.expr(count, Some(if literal { Elem::I64 } else { Elem::U32 }));
        let (value, counted) = (value?, counted?);
        let width = self.ty(value).elem().bits();
        let elem = self.ty(counted).elem();
        if let Some(bits) = self.known(counted, &|_| None) {
            let number = rake_ir::typed::integer(bits, elem);
            let count = self.in_range(number, i128::from(width) - 1, "a shift count", counted)?;
            return self.apply(op, Imm::Int(count), [value].into_iter().collect(), span, at);
        }
        let ty = self.ty(counted);
        if !self.is_count(ty) {
            let found = self.exprs[counted].span;
            let message = format!("a shift count is a literal or a uniform u32, found {ty}");
            self.error(Code::TypeMismatch, found, message);
            return None;
        }
        if !self.shift_by_uniform(at) {
            return None;
        }
        self.apply(op, Imm::None, [value, counted].into_iter().collect(), span, at)
    }

    /// The lane count of the first operand, which must be a rack.
    fn rack_lanes(&mut self, racks: &Args, op: Op, at: Span) -> Option<usize> {
        let ty = self.ty(*racks.first()?);
        if let Ty::Rack(elem) = ty {
            return Some(self.decls.profile.lanes(elem));
        }
        let message = format!("`{}` needs a rack, found {ty}", op.info().spelling);
        self.error(Code::TypeMismatch, at, message);
        None
    }

    fn bounded(&mut self, expr: ExprId, most: i128, what: &str) -> Option<u32> {
        let reported = self.diagnostics.len();
        let checked = self.expr(expr, None)?;
        let ty = self.ty(checked);
        let Some(bits) = self.known(checked, &|_| None) else {
            let span = self.exprs[checked].span;
            // A mark would not make it a literal.
            self.diagnostics.truncate(reported);
            let error = Diagnostic::error(Code::NotConstant, span, format!("{what} must be a literal"));
            self.report(error);
            return None;
        };
        self.in_range(rake_ir::typed::integer(bits, ty.elem()), most, what, checked)
    }

    fn in_range(&mut self, number: i128, most: i128, what: &str, at: rake_ir::typed::ExprId) -> Option<u32> {
        if (0..=most).contains(&number) {
            return u32::try_from(number).ok();
        }
        let span = self.exprs[at].span;
        let message = format!("{what} on {} lies between 0 and {most}, found {number}", self.decls.profile);
        self.error(Code::IndexOutOfRange, span, message);
        None
    }

    fn lane_list(&mut self, list: ExprId, lanes: usize, sources: usize) -> Option<Box<[u16]>> {
        let file = self.decls.file;
        let span = file.exprs[list].span;
        let ExprKind::Array(items) = &file.exprs[list].kind else {
            let error = Diagnostic::error(Code::WrongArguments, span, "a shuffle ends in its list of lanes");
            self.report(error.help("write one literal lane for each result lane: `[3, 2, 1, 0]`"));
            return None;
        };
        if items.len() != lanes {
            let profile = self.decls.profile;
            let message = format!(
                "a shuffle on {profile} names {lanes} lanes, one for each of the result, found {}",
                items.len()
            );
            self.error(Code::IndexOutOfRange, span, message);
            return None;
        }
        let items: Vec<Option<u32>> =
            items.iter().map(|&item| self.bounded(item, sources as i128 - 1, "a lane")).collect();
        items.into_iter().map(|item| item.and_then(|item| u16::try_from(item).ok())).collect()
    }
}
