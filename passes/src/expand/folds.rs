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

/// The strict minimum of floats: any NaN comes through the steps as some NaN.
pub(super) fn minimum(s: &Steps, x: ValueId) -> ValueId {
    s.unsplat(s.canonical(combined(s, x, Op::Min)))
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

/// Inclusive prefixes of wrapping steps, `identity` entering below lane 0. Where the rack has two parts, they are scanned
/// apart, and then the second takes the last of the first: one move across parts instead of one in each step.
pub(super) fn scan(s: &Steps, x: ValueId, op: Op, identity: u64) -> ValueId {
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut sums = x;
    let mut distance = 1;
    while distance < lanes {
        let moved = if lanes == 2 * part {
            let others = s.shared(s.ty(x), identity);
            s.picked(&[sums, others], |lane| match (distance < part, lane % part, lane / part) {
                (true, at, _) if at < distance => lanes + lane,
                (true, ..) => lane - distance,
                (false, _, 0) => lanes + part - 1,
                (false, ..) => part - 1,
            })
        } else if identity == 0 {
            s.op(Op::ShiftRight, Imm::Int(distance as u32), s.ty(x), &[sums])
        } else {
            let others = s.shared(s.ty(x), identity);
            s.picked(&[sums, others], |lane| if lane < distance { lanes + lane } else { lane - distance })
        };
        sums = s.two(op, sums, moved);
        distance *= 2;
    }
    sums
}

/// Inclusive prefixes of steps that may meet a lane twice: within parts first, then each odd block with the end of the even
/// one before it.
pub(super) fn scan_same(s: &Steps, x: ValueId, op: Op) -> ValueId {
    let (lanes, part) = (s.lanes(x), s.part(x));
    let mut sums = x;
    let mut width = 1;
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

/// Inclusive strict minima of floats.
pub(super) fn scan_minimum(s: &Steps, x: ValueId) -> ValueId {
    s.canonical(scan_same(s, x, Op::Min))
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
