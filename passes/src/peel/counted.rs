//! Counted loops: trips whose accesses stay below their bounds, several at once, and what is left.
//!
//! ```text
//! if %start < %to {                           if %start < %to {
//!   loop {                                      %7 = sub %to, 31                    ~~ 4 trips by 8 lanes
//!     %1 : <i64> = carry %start                 if %start < %7 {
//!     %2 : <i64> = sub %to, %1                    loop {
//!     %3 : mask = in_range %2          =>           %8 : <i64> = carry %start
//!     %4 : f32s = load f32 %x, %1 if %3             %9 : f32s = load f32 %x, %8
//!     ...                                           ... and of three more trips
//!   } again %6 with %1 = %5                       } again %15 with %8 = %14
//! }                                             }
//!                                               ... the same for one trip
//!                                               if %20 < %to {
//!                                                 ... the last trip as it was
//!                                               }
//!                                             }
//! ```
//!
//! Trips follow each other, since views may overlap, unless they are worth to be done side by side (`apart`). What they add to an integer is added apart and put together behind the
//! loop: such additions may be grouped in any way.

use super::apart::Beside;
use super::copy::Copier;
use super::{Body, Peel, flight, turns};
use rake_ir::fused::Region;
use rake_ir::lane::{Args, Close, Open, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::types::{ElemClass, Ty};
use std::collections::HashMap;

/// A loop that counts.
pub(super) struct Counted {
    /// Where its index stands among the carries.
    pub at: usize,
    pub index: ValueId,
    pub step: i64,
    pub to: ValueId,
    /// Trips at once.
    trips: i64,
    /// What must be apart for them to be done side by side; `None` where they follow each other.
    beside: Option<Beside>,
    /// The masks of the lanes below a bound.
    tails: Vec<Tail>,
    /// The carries that integers are put together in, by place.
    pub sums: Vec<(usize, Op)>,
}

/// The lanes `l` with `index + offset + l < bound`.
struct Tail {
    mask: ValueId,
    bound: ValueId,
    offset: Option<ValueId>,
    lanes: i64,
}

impl Peel<'_> {
    /// Peels a loop, the loops inside it first.
    pub(super) fn counted(&mut self, inside: &[Stmt<Region>], close: &Stmt<Region>) {
        let before = std::mem::take(&mut self.out);
        let holds = self.holds.last().copied().flatten();
        self.holds.push(None);
        self.stmts(inside);
        self.holds.pop();
        let inside = std::mem::replace(&mut self.out, before);
        let close: Option<Stmt<Region>> = close.renamed(|id| self.now(id));
        let Some(Stmt::Close(close)) = &close else { return };
        let body = self.body(None, &inside, close);
        let counted = self.count(&body, close, holds);
        match counted.filter(|counted| counted.trips > 1 || !counted.tails.is_empty()) {
            Some(counted) => self.trips(&counted, &body, close),
            None => {
                self.out.push(Stmt::Open(Open::Loop));
                self.out.extend(body.carries.iter().map(|&carry| Stmt::Value(carry)));
                self.out.extend(body.stmts.iter().map(|&stmt| stmt.clone()));
                self.out.push(Stmt::Close(close.clone()));
            }
        }
    }

    /// What a loop counts, where it is entered only if it makes a trip.
    fn count(&self, body: &Body, close: &Close, holds: Option<ValueId>) -> Option<Counted> {
        let again = &self.values[close.again?];
        let &[next, to] = &again.args[..] else { return None };
        let at = body.carries.iter().position(|carry| body.next.get(carry) == Some(&next))?;
        let (index, advanced) = (body.carries[at], &self.values[next]);
        let step = match self.values[*advanced.args.get(1)?].imm {
            Imm::Bits(bits) => bits as i64,
            _ => return None,
        };
        let counts = again.op == Op::Lt
            && advanced.op == Op::Add
            && advanced.args[0] == index
            && advanced.ty == Ty::LONG
            && self.values[advanced.args[1]].op == Op::Const
            && step > 0
            && !body.changing.contains(&to);
        let entered = &self.values[holds?];
        let from = self.values[index].args[0];
        let guarded = entered.op == Op::Lt && self.same(entered.args[0], from) && self.same(entered.args[1], to);
        let trips = self.racks.min(flight::wanted(self.values, &body.stmts, self.profile)) as i64;
        let (tails, sums) = (Vec::new(), self.sums(body, at));
        let mut counted = Counted { at, index, step, to, trips, beside: None, tails, sums };
        counted.tails = body.stmts.iter().filter_map(|stmt| self.tail(body, &counted, stmt)).collect();
        if let Some(lanes) = flight::across(self.values, &body.stmts, self.profile).filter(|&lanes| lanes <= self.racks)
        {
            counted.beside = self.beside(&counted, body);
            counted.trips = if counted.beside.is_some() { lanes as i64 } else { counted.trips };
        }
        (counts && guarded).then_some(counted)
    }

    /// Whether two values are the same by what they are computed from.
    pub(super) fn same(&self, a: ValueId, b: ValueId) -> bool {
        let (first, second) = (&self.values[a], &self.values[b]);
        let equal = |op: Op| matches!(op, Op::Const | Op::ToI64) && first.args == second.args;
        a == b || first.op == second.op && first.imm == second.imm && first.ty == second.ty && equal(first.op)
    }

    /// A mask of lanes below a bound that no trip changes.
    fn tail(&self, body: &Body, counted: &Counted, stmt: &Stmt<Region>) -> Option<Tail> {
        let &Stmt::Value(mask) = stmt else { return None };
        let value = &self.values[mask];
        let left = &self.values[*value.args.first().filter(|_| value.op == Op::InRange)?];
        let &[bound, first] = &left.args[..] else { return None };
        if left.op != Op::Sub || body.changing.contains(&bound) || !self.only_masks(body, mask) {
            return None;
        }
        let offset = match &self.values[first] {
            _ if first == counted.index => None,
            sum if sum.op == Op::Add && sum.args[0] == counted.index => Some(sum.args[1]),
            sum if sum.op == Op::Add && sum.args[1] == counted.index => Some(sum.args[0]),
            _ => return None,
        };
        if offset.is_some_and(|offset| body.changing.contains(&offset)) {
            return None;
        }
        let lanes = self.profile.lanes_of_bits(value.ty.lane_bits()?) as i64;
        Some(Tail { mask, bound, offset, lanes })
    }

    /// Whether a truth serves only as the mask of values and to choose between racks.
    fn only_masks(&self, body: &Body, mask: ValueId) -> bool {
        let reads = |id: &ValueId, choices: bool| {
            let value = &self.values[*id];
            let args = if choices && value.op == Op::If { &value.args[1..] } else { &value.args[..] };
            args.contains(&mask)
        };
        !body.next.values().any(|next| *next == mask)
            && !body.stmts.iter().any(|stmt| match stmt {
                Stmt::Value(id) => reads(id, true),
                Stmt::Region(region) => region.values.iter().any(|id| reads(id, false)),
                marker => marker.marker_reads().contains(&mask),
            })
    }

    /// The carries that are only put together, trip by trip, with an integer that does not depend on them.
    fn sums(&self, body: &Body, index: usize) -> Vec<(usize, Op)> {
        let mut reads: HashMap<ValueId, usize> = HashMap::new();
        let mut read = |id: ValueId| *reads.entry(id).or_default() += 1;
        for stmt in &body.stmts {
            let ids = match stmt {
                Stmt::Value(id) => std::slice::from_ref(id),
                Stmt::Region(region) => &region.values,
                marker => {
                    marker.marker_reads().into_iter().for_each(&mut read);
                    continue;
                }
            };
            ids.iter()
                .flat_map(|&id| self.values[id].args.iter().chain(&self.values[id].mask))
                .copied()
                .for_each(&mut read);
        }
        body.next.values().copied().for_each(&mut read);
        let sum = |(at, carry): (usize, &ValueId)| {
            let next = *body.next.get(carry).filter(|_| at != index)?;
            let value = &self.values[next];
            let alone = reads.get(carry) == Some(&1) && reads.get(&next) == Some(&1) && value.mask.is_none();
            // What grows by the same number in every trip is no sum.
            let here = value.args.contains(carry) && value.args.iter().all(|arg| body.changing.contains(arg));
            let here = here && body.stmts.contains(&&Stmt::Value(next));
            let integers = !matches!(value.ty.elem().class(), ElemClass::Float);
            (alone && here && integers && neutral(value.op, value.ty).is_some()).then_some((at, value.op))
        };
        body.carries.iter().enumerate().filter_map(sum).collect()
    }

    /// The loop's trips: as many at once as are in flight, then one by one, then what is left as it stands.
    fn trips(&mut self, counted: &Counted, body: &Body, close: &Close) {
        let mut carries: Vec<ValueId> = body.carries.iter().map(|&carry| self.values[carry].args[0]).collect();
        let mut groups = vec![counted.trips];
        if !counted.tails.is_empty() && counted.trips > 1 {
            groups.push(1);
        }
        for trips in groups {
            let limit = self.limit(counted, trips);
            let apart = counted.beside.as_ref().filter(|_| trips > 1).map(|beside| self.apart(beside));
            let mut enough = self.push(Op::Lt, Imm::None, &[carries[counted.at], limit], Ty::TRUTH);
            if let Some(apart) = apart {
                enough = self.push(Op::And, Imm::None, &[enough, apart], Ty::TRUTH);
            }
            self.out.push(Stmt::Open(Open::If(enough)));
            let beside = counted.beside.as_ref().filter(|_| apart.is_some());
            let after = self.group(counted, body, (trips, limit, beside), &carries);
            self.out.push(Stmt::Close(Close::default()));
            carries = self.merged(&after, &carries);
        }
        // Behind whole racks up to the bound there is less than one.
        let last =
            |tail: &Tail| tail.offset.is_none() && self.same(tail.bound, counted.to) && tail.lanes <= counted.step;
        let once = !counted.tails.is_empty() && counted.tails.iter().all(last);
        if !once || counted.tails.iter().any(|tail| tail.lanes > 1) {
            let left = self.push(Op::Lt, Imm::None, &[carries[counted.at], counted.to], Ty::TRUTH);
            self.out.push(Stmt::Open(Open::If(left)));
            let after = self.left(counted, body, close, &carries, once);
            self.out.push(Stmt::Close(Close::default()));
            carries = self.merged(&after, &carries);
        }
        self.last.extend(body.carries.iter().copied().zip(carries));
    }

    /// What the index must be below for so many trips to stay below every bound.
    fn limit(&mut self, counted: &Counted, trips: i64) -> ValueId {
        let before = (trips - 1) * counted.step;
        let mut limits = Vec::new();
        let mut bounded = false;
        let alike = |a: &Tail, b: &Tail| a.lanes == b.lanes && a.offset == b.offset && self.same(a.bound, b.bound);
        let first = |&(at, tail): &(usize, &Tail)| !counted.tails[..at].iter().any(|before| alike(before, tail));
        let tails: Vec<&Tail> = counted.tails.iter().enumerate().filter(first).map(|(_, tail)| tail).collect();
        for tail in tails {
            let mut bound = tail.bound;
            if let Some(offset) = tail.offset {
                bound = self.push(Op::Sub, Imm::None, &[bound, offset], Ty::LONG);
            } else {
                bounded |= self.same(bound, counted.to);
            }
            limits.push(self.below(bound, before + tail.lanes - 1));
        }
        if !bounded {
            limits.push(self.below(counted.to, before));
        }
        let least = |peel: &mut Self, a, b| {
            let less = peel.push(Op::Lt, Imm::None, &[a, b], Ty::TRUTH);
            peel.push(Op::If, Imm::None, &[less, a, b], Ty::LONG)
        };
        limits.into_iter().reduce(|a, b| least(self, a, b)).unwrap_or(counted.to)
    }

    fn below(&mut self, bound: ValueId, by: i64) -> ValueId {
        if by == 0 {
            return bound;
        }
        let by = self.number(by);
        self.push(Op::Sub, Imm::None, &[bound, by], Ty::LONG)
    }

    /// A loop of so many trips at once while the index is below the limit, one after the other or side by side; what the
    /// carries are after it.
    fn group(
        &mut self,
        counted: &Counted,
        body: &Body,
        (trips, limit, beside): (i64, ValueId, Option<&Beside>),
        first: &[ValueId],
    ) -> Vec<ValueId> {
        let sums = if trips > 1 { &counted.sums[..] } else { &[] };
        let neutral: Vec<ValueId> = sums.iter().filter_map(|&(at, op)| self.neutral(op, first[at])).collect();
        self.out.push(Stmt::Open(Open::Loop));
        let own: Vec<ValueId> = first.iter().map(|&first| self.carry(first)).collect();
        let index = own[counted.at];
        let mut apart: Vec<Vec<ValueId>> = sums.iter().map(|&(at, _)| vec![own[at]]).collect();
        for _ in 1..trips {
            for (parts, &neutral) in apart.iter_mut().zip(&neutral) {
                parts.push(self.carry(neutral));
            }
        }
        let (mut now, mut next) = (own.clone(), HashMap::new());
        let all: Vec<ValueId> = counted.tails.iter().map(|tail| tail.mask).collect();
        let mut copiers = Vec::new();
        for trip in 0..trips {
            for (parts, &(at, _)) in apart.iter().zip(sums) {
                now[at] = parts[trip as usize];
            }
            let first = match trip {
                0 => index,
                _ => {
                    let before = self.number(trip * counted.step);
                    self.push(Op::Add, Imm::None, &[index, before], Ty::LONG)
                }
            };
            for &(at, step) in beside.iter().flat_map(|beside| &beside.steps).filter(|_| trip > 0) {
                let ty = self.values[own[at]].ty;
                let before = step.wrapping_mul(trip as u64) & ty.elem().lane_mask();
                let before = self.push(Op::Const, Imm::Bits(before), &[], ty);
                now[at] = self.push(Op::Add, Imm::None, &[own[at], before], ty);
            }
            let mut copier = Copier::new(counted.index, first, &body.carries, &now, None).whole(&all);
            if beside.is_none() {
                body.stmts.iter().for_each(|stmt| copier.stmts(self.values, stmt, &mut self.out));
                now = copier.next(&body.carries, &body.next);
            }
            copiers.push(copier);
        }
        if beside.is_some() {
            turns::copy(&mut copiers, self.values, &body.stmts, &mut self.out);
        }
        for (trip, copier) in copiers.iter().enumerate() {
            now = copier.next(&body.carries, &body.next);
            next.extend(apart.iter().zip(sums).map(|(parts, &(at, _))| (parts[trip], now[at])));
        }
        let step = self.number(trips * counted.step);
        let then = self.push(Op::Add, Imm::None, &[index, step], Ty::LONG);
        let again = self.push(Op::Lt, Imm::None, &[then, limit], Ty::TRUTH);
        now[counted.at] = then;
        for (&carry, now) in own.iter().zip(now) {
            next.entry(carry).or_insert(now);
        }
        let parts = (1..trips as usize).flat_map(|trip| apart.iter().map(move |parts| parts[trip]));
        let next = own.iter().copied().chain(parts).map(|carry| (carry, next[&carry])).collect();
        self.out.push(Stmt::Close(Close { again: Some(again), next }));
        let mut after = own;
        for (parts, &(at, op)) in apart.iter().zip(sums) {
            let ty = self.values[parts[0]].ty;
            let sum = parts.iter().copied().reduce(|a, b| self.push(op, Imm::None, &[a, b], ty));
            after[at] = sum.unwrap_or(after[at]);
        }
        after
    }

    /// What a sum begins with that is added to another, in every lane.
    fn neutral(&mut self, op: Op, like: ValueId) -> Option<ValueId> {
        let (ty, span) = (self.values[like].ty, self.values[like].span);
        let imm = Imm::Bits(neutral(op, ty)?);
        let args = Args::new();
        let id =
            self.values.alloc(Value { op: Op::Const, imm, args, ty, mask: None, inactive: None, span, name: None });
        self.out.push(Stmt::Value(id));
        Some(id)
    }

    /// The trips that are left, or the one; what the carries are after them.
    fn left(&mut self, counted: &Counted, body: &Body, close: &Close, first: &[ValueId], once: bool) -> Vec<ValueId> {
        let own: Vec<ValueId> = if once {
            first.to_vec()
        } else {
            self.out.push(Stmt::Open(Open::Loop));
            first.iter().map(|&first| self.carry(first)).collect()
        };
        let mut copier = Copier::new(counted.index, own[counted.at], &body.carries, &own, None);
        body.stmts.iter().for_each(|stmt| copier.stmts(self.values, stmt, &mut self.out));
        let next = copier.next(&body.carries, &body.next);
        if once {
            return next;
        }
        let again = close.again.map(|again| copier.now(again));
        self.out.push(Stmt::Close(Close { again, next: own.iter().copied().zip(next).collect() }));
        own
    }
}

/// What leaves every integer as it is, for operations that may be grouped in any way.
fn neutral(op: Op, ty: Ty) -> Option<u64> {
    let ones = u64::MAX >> (64 - ty.elem().bits().min(64));
    Some(match op {
        Op::Add | Op::BitOr | Op::BitXor => 0,
        Op::Mul => 1,
        Op::BitAnd => ones,
        _ => return None,
    })
}
