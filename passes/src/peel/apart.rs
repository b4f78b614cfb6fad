//! Trips side by side: what a loop must not do for it, and the condition under which the views that it touches are apart.
//!
//! ```text
//! for i: y[<i>] <- scan_sum(x[<i>])     %9 : <i64> = to_i64 %y
//!                                       %10 : <i64> = to_i64 %x
//!                                  =>   %11 : <i64> = sub %10, %9
//!                                       %12 : <bool> = ge %11, %13        x begins where y has ended
//!                                       ...                               or y where x has; or both are the same
//! ```
//!
//! Side by side all trips load before the first stores. That shows where a store is to an element that a later trip loads: in
//! the view itself, if it is accessed elsewhere than at the index, and in another that lies over it.

use super::counted::Counted;
use super::{Body, Peel};
use rake_ir::lane::{Stmt, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::types::{Pointee, Ty};

/// What makes trips side by side as good as trips one after the other.
pub(super) struct Beside {
    /// What changes by the same number in each trip: its place among the carries and that number.
    pub steps: Vec<(usize, u64)>,
    /// The views that must be apart: each one that is written with each other.
    pairs: Vec<[View; 2]>,
}

/// A view that a loop touches.
#[derive(Clone, Copy)]
struct View {
    address: ValueId,
    count: ValueId,
    /// Bytes of an element.
    bytes: i64,
    /// Whether it is touched at the index alone.
    at_index: bool,
    written: bool,
}

impl Peel<'_> {
    /// What must be known for a loop's trips to be done side by side; `None` where that cannot be.
    pub(super) fn beside(&self, counted: &Counted, body: &Body) -> Option<Beside> {
        let mut steps = Vec::new();
        for (at, &carry) in body.carries.iter().enumerate() {
            let next = &self.values[*body.next.get(&carry)?];
            if at == counted.at || counted.sums.iter().any(|sum| sum.0 == at) {
                continue;
            }
            let by = next.args.get(1).map(|&by| &self.values[by]);
            match by.map(|by| (by.op, &by.imm)) {
                Some((Op::Const, Imm::Bits(bits)))
                    if next.op == Op::Add && next.args[0] == carry && next.ty.elem().is_int() =>
                {
                    steps.push((at, *bits));
                }
                _ => return None,
            }
        }
        let mut views: Vec<View> = Vec::new();
        for stmt in &body.stmts {
            let ids = match stmt {
                Stmt::Value(id) => std::slice::from_ref(id),
                Stmt::Region(region) => &region.values,
                _ => return None,
            };
            for &id in ids {
                self.touch(counted, id, &mut views)?;
            }
        }
        let alone = |view: &View| !view.written || view.at_index;
        let pairs = views
            .iter()
            .enumerate()
            .flat_map(|(at, first)| views[at + 1..].iter().map(move |second| [*first, *second]));
        let pairs = pairs.filter(|[a, b]| a.written || b.written).collect();
        views.iter().all(alone).then_some(Beside { steps, pairs })
    }

    /// Adds what a value touches; `None` where it does more than load and store racks.
    fn touch(&self, counted: &Counted, id: ValueId, views: &mut Vec<View>) -> Option<()> {
        let value = &self.values[id];
        if !matches!(value.op, Op::Load | Op::Store) {
            return (!value.op.depends_on_place() && !value.op.has_effect()).then_some(());
        }
        let address = value.args[0];
        let &Imm::Int(position) = &self.values[address].imm else { return None };
        let param = self.params.get(position as usize)?;
        let (Some(Pointee::View { elem, .. }), Op::Param) = (&param.points_to, self.values[address].op) else {
            return None;
        };
        let is_count = |other: &ValueId| {
            let value = &self.values[*other];
            value.op == Op::Param && value.imm == Imm::Int(position + 1)
        };
        // Parameters stand before everything else.
        let before = self.values.iter().map(|(id, _)| id).take_while(|id| *id != counted.index);
        let count = before.into_iter().find(is_count)?;
        let lanes = self.profile.lanes_of_bits(value.ty.lane_bits()?) as i64;
        let (at_index, written) = (value.args[1] == counted.index && lanes <= counted.step, value.op == Op::Store);
        match views.iter_mut().find(|view| view.address == address) {
            Some(view) => (view.at_index, view.written) = (view.at_index && at_index, view.written || written),
            None => views.push(View { address, count, bytes: i64::from(elem.bits() / 8), at_index, written }),
        }
        Some(())
    }

    /// Whether all pairs are apart, or lie exactly over each other and are touched alike.
    pub(super) fn apart(&mut self, beside: &Beside) -> ValueId {
        let mut all = None;
        for [a, b] in &beside.pairs {
            let [from_a, from_b] = [a, b].map(|view| self.push(Op::ToI64, Imm::None, &[view.address], Ty::LONG));
            let [up, down] =
                [[from_b, from_a], [from_a, from_b]].map(|pair| self.push(Op::Sub, Imm::None, &pair, Ty::LONG));
            let [behind_a, behind_b] = [(up, a), (down, b)].map(|(distance, view)| {
                let bytes = self.bytes(view);
                self.push(Op::Ge, Imm::None, &[distance, bytes], Ty::TRUTH)
            });
            let mut apart = self.push(Op::Or, Imm::None, &[behind_a, behind_b], Ty::TRUTH);
            if a.at_index && b.at_index && a.bytes == b.bytes {
                let zero = self.number(0);
                let same = self.push(Op::Eq, Imm::None, &[up, zero], Ty::TRUTH);
                apart = self.push(Op::Or, Imm::None, &[apart, same], Ty::TRUTH);
            }
            all = Some(match all {
                Some(all) => self.push(Op::And, Imm::None, &[all, apart], Ty::TRUTH),
                None => apart,
            });
        }
        all.unwrap_or_else(|| self.push(Op::Const, Imm::Bits(1), &[], Ty::TRUTH))
    }

    /// The bytes of a view.
    fn bytes(&mut self, view: &View) -> ValueId {
        let count = self.push(Op::ToI64, Imm::None, &[view.count], Ty::LONG);
        let bytes = self.number(view.bytes);
        self.push(Op::Mul, Imm::None, &[count, bytes], Ty::LONG)
    }
}
