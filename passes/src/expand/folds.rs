//! Reductions and scans over the lanes of a rack.
//!
//! Floats are added and multiplied in lane order, each step rounded, so every prefix is a uniform: a whole rack whose lanes
//! are alike computes no sum that the fold does not, and raises no other flag. Integers wrap, and extrema do not depend
//! on the order, so those take as many steps as the logarithm of the lane count.
//!
//! Machines move lanes most cheaply within 128 bits, here a *part*; the picks keep to parts where they can.

use super::emit::Steps;
use rake_ir::lane::ValueId;
use rake_ir::ops::{Imm, Op};
use rake_ir::types::{Elem, Ty};

impl Steps<'_> {
    /// `op(a, b)` of the type of `a`.
    fn two(&self, op: Op, a: ValueId, b: ValueId) -> ValueId {
        self.op(op, Imm::None, self.ty(a), &[a, b])
    }

    /// Lanes of `racks` laid end to end: for each lane of the result, one by number.
    fn picked(&self, racks: &[ValueId], from: impl Fn(usize) -> usize) -> ValueId {
        let picks = (0..self.lanes(racks[0])).map(|lane| from(lane) as u16).collect();
        self.op(Op::Shuffle, Imm::Lanes(picks), self.ty(racks[0]), racks)
    }

    /// Lanes in 128 bits, or in the rack if that is less.
    fn part(&self, x: ValueId) -> usize {
        self.lanes(x).min(128 / self.ty(x).elem().bits() as usize)
    }

    /// The value that all lanes of a rack hold.
    fn unsplat(&self, x: ValueId) -> ValueId {
        self.op(Op::Unsplat, Imm::None, Ty::Uniform(self.ty(x).elem()), &[x])
    }

    /// Every NaN made the canonical one.
    fn canonical(&self, x: ValueId) -> ValueId {
        let ty = self.ty(x);
        let number = self.op(Op::Eq, Imm::None, ty.truth(), &[x, x]);
        let nan = if ty.elem() == Elem::F64 { 0x7ff8_0000_0000_0000 } else { 0x7fc0_0000 };
        self.op(Op::Select, Imm::None, ty, &[number, x, self.shared(ty, nan)])
    }

    fn negated(&self, x: ValueId) -> ValueId {
        self.op(Op::Neg, Imm::None, self.ty(x), &[x])
    }

    /// The rack of signed integers as wide.
    fn signed(&self, ty: Ty) -> Ty {
        Ty::Rack(if ty.elem().bits() == 64 { Elem::I64 } else { Elem::I32 })
    }

    /// Floats as signed integers in the same order, -0 below +0 and the canonical NaN above all: the magnitude's bits are
    /// flipped below zero. It undoes itself.
    fn ordered(&self, x: ValueId) -> ValueId {
        let ty = self.signed(self.ty(x));
        let bits = if self.ty(x) == ty { x } else { self.op(Op::Bitcast, Imm::None, ty, &[x]) };
        let sign = self.op(Op::ShiftBitsRightSigned, Imm::Int(ty.elem().bits() - 1), ty, &[bits]);
        let magnitude = self.op(Op::ShiftBitsRight, Imm::Int(1), ty, &[sign]);
        self.two(Op::BitXor, bits, magnitude)
    }

    /// The floats again.
    fn unordered(&self, x: ValueId, ty: Ty) -> ValueId {
        self.op(Op::Bitcast, Imm::None, ty, &[self.ordered(x)])
    }
}

/// All prefixes of the lanes in order, each in every lane of a rack.
fn running(s: &Steps, x: ValueId, op: Op) -> Vec<ValueId> {
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut prefixes: Vec<ValueId> = Vec::with_capacity(lanes);
    for base in (0..lanes).step_by(part) {
        // One move across parts serves all lanes of one.
        let alike = if lanes == part { x } else { s.picked(&[x], |lane| base + lane % part) };
        for at in 0..part {
            let next = s.picked(&[alike], |lane| lane / part * part + at);
            prefixes.push(prefixes.last().map_or(next, |&before| s.two(op, before, next)));
        }
    }
    prefixes
}

/// The lanes folded in order.
pub(super) fn chain(s: &Steps, x: ValueId, op: Op) -> ValueId {
    s.unsplat(running(s, x, op).last().copied().unwrap_or(x))
}

/// Lane 0 alone, as a mask.
fn lane_0(s: &Steps, x: ValueId) -> ValueId {
    let numbers = s.signed(s.ty(x));
    let index = s.op(Op::LaneIndex, Imm::None, numbers, &[]);
    s.op(Op::Lt, Imm::None, numbers.truth(), &[index, s.shared(numbers, 1)])
}

/// `op(a, b)` in the lanes of the mask, which no other lane computes; elsewhere `otherwise`.
fn only(s: &Steps, mask: ValueId, op: Op, (a, b): (ValueId, ValueId), otherwise: ValueId) -> ValueId {
    let ty = s.ty(a);
    let there = s.masked(op, ty, &[a, b], mask);
    s.op(Op::Select, Imm::None, ty, &[mask, there, otherwise])
}

/// [`chain`] where instructions take masks: lane 0 alone takes in the others.
pub(super) fn chain_in_lane_0(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let (mask, last) = (lane_0(s, x), s.lanes(x) as u32 - 1);
    let next = |lane: u32| s.op(Op::RotateLeft, Imm::Int(lane), s.ty(x), &[x]);
    // Nothing reads the other lanes until the end.
    let folded = (1..last).fold(x, |sum, lane| s.masked(op, s.ty(x), &[sum, next(lane)], mask));
    let folded = only(s, mask, op, (folded, next(last)), x);
    s.op(Op::Extract, Imm::Int(0), Ty::Uniform(s.ty(x).elem()), &[folded])
}

/// [`prefixes`] where instructions take masks: the rack turns, and lane 0 alone takes in what comes to it. What it held goes
/// round to its place.
pub(super) fn prefixes_in_lane_0(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let (mask, turn) = (lane_0(s, x), |x: ValueId| s.op(Op::RotateLeft, Imm::Int(1), s.ty(x), &[x]));
    let turned = (1..s.lanes(x)).fold(x, |sums, _| {
        let next = turn(sums);
        only(s, mask, op, (sums, next), next)
    });
    turn(turned)
}

/// The lanes combined with those at half the distance, again and again, until all are alike.
fn combined(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let mut all = x;
    let mut distance = s.lanes(x) / 2;
    while distance > 0 {
        let exchanged = s.picked(&[all], |lane| lane ^ distance);
        all = s.two(op, all, exchanged);
        distance /= 2;
    }
    all
}

/// A fold whose steps have no order.
pub(super) fn tree(s: &Steps, x: ValueId, op: Op) -> ValueId {
    s.unsplat(combined(s, x, op))
}

/// The strict minimum or maximum of floats: any NaN comes through the steps as some NaN.
pub(super) fn extremum(s: &Steps, x: ValueId, op: Op) -> ValueId {
    s.unsplat(s.canonical(combined(s, x, op)))
}

/// The strict minimum of floats by the machine's raw one, which gives its second operand beside a NaN and for two zeros:
/// what two lanes that are exchanged hold, joined, has any sign of a zero and any NaN.
pub(super) fn minimum_joined(s: &Steps, x: ValueId) -> ValueId {
    let (ty, bits) = (s.ty(x), s.signed(s.ty(x)));
    let mut least = x;
    let mut distance = s.lanes(x) / 2;
    while distance > 0 {
        let exchanged = s.picked(&[least], |lane| lane ^ distance);
        let below = s.op(Op::Lt, Imm::None, ty.truth(), &[least, exchanged]);
        let raw = s.op(Op::Select, Imm::None, ty, &[below, least, exchanged]);
        let pair = [raw, s.picked(&[raw], |lane| lane ^ distance)];
        let [a, b] = pair.map(|half| s.op(Op::Bitcast, Imm::None, bits, &[half]));
        least = s.op(Op::Bitcast, Imm::None, ty, &[s.two(Op::BitOr, a, b)]);
        distance /= 2;
    }
    s.unsplat(s.canonical(least))
}

/// The strict maximum of floats, where integers have no maximum in one step: that of the negated, negated.
pub(super) fn maximum_negated(s: &Steps, x: ValueId) -> ValueId {
    let least = combined(s, s.negated(x), Op::Min);
    s.unsplat(s.canonical(s.negated(least)))
}

/// The strict maximum of floats, as integers.
pub(super) fn maximum(s: &Steps, x: ValueId) -> ValueId {
    let greatest = combined(s, s.ordered(s.canonical(x)), Op::Max);
    s.unsplat(s.unordered(greatest, s.ty(x)))
}

/// An extremum of unsigned integers, where only signed ones compare in one step: with the top bits flipped.
pub(super) fn flipped(s: &Steps, x: ValueId, fold: impl Fn(&Steps, ValueId) -> ValueId) -> ValueId {
    let ty = s.ty(x);
    let top = s.shared(ty, 1 << (ty.elem().bits() - 1));
    let signed = s.op(Op::Bitcast, Imm::None, s.signed(ty), &[s.two(Op::BitXor, x, top)]);
    let folded = s.op(Op::Bitcast, Imm::None, ty, &[fold(s, signed)]);
    s.two(Op::BitXor, folded, top)
}

/// As [`tree`], with top bits flipped.
pub(super) fn tree_flipped(s: &Steps, x: ValueId, op: Op) -> ValueId {
    s.unsplat(flipped(s, x, |s, x| combined(s, x, op)))
}

/// Inclusive prefixes in order.
pub(super) fn prefixes(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let mut racks = running(s, x, op);
    // Rack k has the right lanes from k * width on; two become one with twice as many.
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut width = 1;
    while let [_, _, ..] = racks[..] {
        let pick = |lane: usize| joined(lane, width, lanes, part);
        racks = racks.chunks(2).map(|pair| s.picked(pair, pick)).collect();
        width *= 2;
    }
    racks[0]
}

/// Where a lane comes from when two racks of `width` lanes of content each become one of twice as many. Within a part the
/// content stands at the start of every part; wider content stands over the parts in order, each part as often as it takes
/// to fill the rack.
fn joined(lane: usize, width: usize, lanes: usize, part: usize) -> usize {
    if width < part {
        let (base, at) = (lane / part * part, lane % part);
        let second = at / width % 2;
        second * lanes + base + at / (2 * width) * width + at % width
    } else {
        let (half, at) = (lane / (lanes / 2), lane % (lanes / 2));
        half * lanes + at / part * 2 * part + at % part
    }
}

/// Inclusive prefixes of wrapping steps, `identity` entering below lane 0. Where a rack has two parts, within them first.
pub(super) fn scan(s: &Steps, x: ValueId, op: Op, identity: u64) -> ValueId {
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut sums = x;
    let mut distance = 1;
    while distance < lanes {
        let others = s.shared(s.ty(x), identity);
        // What enters are the last lanes of the other rack or its part, as if the two stood side by side.
        let moved = s.picked(&[sums, others], |lane| match lane % part {
            _ if lanes > 2 * part && lane < distance => 2 * lanes - distance + lane,
            _ if lanes > 2 * part => lane - distance,
            at if distance < part && at < distance => lanes + lane - at + part - distance + at,
            _ if distance < part => lane - distance,
            _ if lane < distance => lanes + lane,
            _ => distance - 1,
        });
        sums = s.two(op, sums, moved);
        distance *= 2;
    }
    sums
}

/// Inclusive prefixes of steps that may meet a lane twice: by ever greater distances in racks of many parts; else within
/// parts first, then each odd block with the end of the even one before it.
pub(super) fn scan_same(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut sums = x;
    let mut width = 1;
    if lanes > 2 * part {
        // Lane 0 enters from below.
        let first = s.picked(&[x], |_| 0);
        while width < lanes {
            let moved =
                s.picked(&[sums, first], |lane| if lane < width { 2 * lanes - width + lane } else { lane - width });
            sums = s.two(op, sums, moved);
            width *= 2;
        }
        return sums;
    }
    while width < lanes {
        let moved = if width < part {
            s.picked(&[sums], |lane| if lane % part < width { lane } else { lane - width })
        } else {
            s.picked(&[sums], |lane| if lane / width % 2 == 0 { lane } else { lane / width * width - 1 })
        };
        sums = s.two(op, sums, moved);
        width *= 2;
    }
    sums
}

/// Inclusive strict minima of floats as integers, NaNs below all.
pub(super) fn scan_minimum_ordered(s: &Steps, x: ValueId) -> ValueId {
    let ty = s.ty(x);
    let number = s.op(Op::Eq, Imm::None, ty.truth(), &[x, x]);
    let lowest = s.op(Op::Select, Imm::None, ty, &[number, x, s.shared(ty, ty.elem().lane_mask())]);
    let least = scan_same(s, s.ordered(lowest), Op::Min);
    s.canonical(s.unordered(least, ty))
}

/// Inclusive strict minima or maxima of floats.
pub(super) fn scan_extremum(s: &Steps, x: ValueId, op: Op) -> ValueId {
    s.canonical(scan_same(s, x, op))
}

/// As [`maximum_negated`], inclusive prefixes.
pub(super) fn scan_maximum_negated(s: &Steps, x: ValueId) -> ValueId {
    let least = scan_same(s, s.negated(x), Op::Min);
    s.canonical(s.negated(least))
}

/// As [`maximum`], inclusive prefixes.
pub(super) fn scan_maximum(s: &Steps, x: ValueId) -> ValueId {
    let greatest = scan_same(s, s.ordered(s.canonical(x)), Op::Max);
    s.unordered(greatest, s.ty(x))
}
