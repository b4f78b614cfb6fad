//! References of operations over whole racks. Lanes that do not exist read as zero, so that no call can panic.

use super::{Reference, reference};
use crate::ops::{Imm, Op};
use crate::types::{Elem, Ty};
use crate::value::{Lanes, to_i128};

/// One application over whole racks; the operands hold no poison.
#[derive(Clone, Copy, Debug)]
pub struct RackCall<'a> {
    /// The immediate.
    pub imm: &'a Imm,
    /// The result's type.
    pub ty: Ty,
    /// The operands' types.
    pub types: &'a [Ty],
    /// The operands.
    pub args: &'a [&'a Lanes],
}

impl RackCall<'_> {
    /// The bits of one lane of an operand.
    fn lane(&self, arg: usize, lane: usize) -> u64 {
        self.args.get(arg).and_then(|a| a.get(lane)).unwrap_or(0)
    }

    /// The lanes of the first operand.
    fn lanes(&self) -> usize {
        self.args.first().map_or(0, |a| a.len())
    }

    /// The element of the first operand.
    fn elem(&self) -> Elem {
        self.types.first().map_or(Elem::U32, |t| t.elem())
    }

    /// The small number beside the operands.
    fn int(&self) -> usize {
        if let Imm::Int(n) = self.imm { *n as usize } else { 0 }
    }

    /// A result of as many lanes as the first operand, computed by lane.
    fn each(&self, f: impl Fn(usize) -> u64) -> Lanes {
        Lanes::new((0..self.lanes()).map(f))
    }

    /// Lane `lane` of the first two racks laid end to end.
    fn joined(&self, lane: usize) -> u64 {
        let n = self.lanes();
        if lane < n { self.lane(0, lane) } else { self.lane(1, lane - n) }
    }
}

/// Products of adjacent signed pairs, summed, wrapping in 32 bits.
pub fn dot(c: &RackCall) -> Lanes {
    let product = |k| to_i128(c.elem(), c.lane(0, k)) * to_i128(c.elem(), c.lane(1, k));
    Lanes::new((0..c.lanes() / 2).map(|k| (product(2 * k) + product(2 * k + 1)) as u64 & c.ty.elem().lane_mask()))
}

/// The lanes of the first, then of the second rack, each saturated to 16 signed bits.
pub fn narrow(c: &RackCall) -> Lanes {
    Lanes::new((0..2 * c.lanes()).map(|k| {
        let value = to_i128(c.elem(), c.joined(k)).clamp(i16::MIN.into(), i16::MAX.into());
        value as u64 & Elem::I16.lane_mask()
    }))
}

/// The low half's lanes, zero-extended.
pub fn widen_low(c: &RackCall) -> Lanes {
    Lanes::new((0..c.lanes() / 2).map(|k| c.lane(0, k)))
}

/// The high half's lanes, zero-extended.
pub fn widen_high(c: &RackCall) -> Lanes {
    Lanes::new((0..c.lanes() / 2).map(|k| c.lane(0, c.lanes() / 2 + k)))
}

/// The same bytes, cut into lanes of the result's width, low bytes first.
pub fn bitcast(c: &RackCall) -> Lanes {
    let (from, to) = (c.elem().bits() as usize, c.ty.elem().bits() as usize);
    let bit = |at: usize| c.lane(0, at / from) >> (at % from) & 1;
    let lane = |k: usize| (0..to).fold(0, |bits, at| bits | bit(k * to + at) << at);
    if from == to { c.each(|k| c.lane(0, k)) } else { Lanes::new((0..c.lanes() * from / to).map(lane)) }
}

/// Lanes picked by index over one rack or two.
pub fn shuffle(c: &RackCall) -> Lanes {
    let Imm::Lanes(picks) = c.imm else { return c.each(|_| 0) };
    c.each(|k| picks.get(k).map_or(0, |&pick| c.joined(pick.into())))
}

/// Interleaves two racks from lane `start` on.
fn zip(c: &RackCall, start: usize) -> Lanes {
    c.each(|k| c.lane(k % 2, start + k / 2))
}

/// The low halves, interleaved.
pub fn zip_low(c: &RackCall) -> Lanes {
    zip(c, 0)
}

/// The high halves, interleaved.
pub fn zip_high(c: &RackCall) -> Lanes {
    zip(c, c.lanes() / 2)
}

/// The even lanes of the first rack, then of the second.
pub fn unzip_even(c: &RackCall) -> Lanes {
    c.each(|k| c.joined(2 * k))
}

/// The odd lanes of the first rack, then of the second.
pub fn unzip_odd(c: &RackCall) -> Lanes {
    c.each(|k| c.joined(2 * k + 1))
}

/// Toward lane 0; zeros enter.
pub fn shift_left(c: &RackCall) -> Lanes {
    c.each(|k| c.lane(0, k + c.int()))
}

/// Away from lane 0; zeros enter.
pub fn shift_right(c: &RackCall) -> Lanes {
    c.each(|k| k.checked_sub(c.int()).map_or(0, |from| c.lane(0, from)))
}

/// Around, toward lane 0.
pub fn rotate_left(c: &RackCall) -> Lanes {
    c.each(|k| c.lane(0, (k + c.int()) % c.lanes()))
}

/// Around, away from lane 0.
pub fn rotate_right(c: &RackCall) -> Lanes {
    let n = c.lanes();
    c.each(|k| c.lane(0, (k + n - c.int() % n) % n))
}

/// One lane.
pub fn extract(c: &RackCall) -> Lanes {
    Lanes::uniform(c.lane(0, c.int()))
}

/// The value that all lanes hold; no lane at all when they differ, which no evaluator takes for a uniform.
pub fn unsplat(c: &RackCall) -> Lanes {
    let alike = (1..c.lanes()).all(|k| c.lane(0, k) == c.lane(0, 0));
    if alike { Lanes::uniform(c.lane(0, 0)) } else { Lanes::default() }
}

/// The rack with one lane replaced.
pub fn insert(c: &RackCall) -> Lanes {
    c.each(|k| if k == c.int() { c.lane(1, 0) } else { c.lane(0, k) })
}

/// Bit k is lane k.
pub fn bitmask(c: &RackCall) -> Lanes {
    Lanes::uniform((0..c.lanes()).fold(0, |bits, k| bits | (c.lane(0, k) & 1) << k))
}

/// Whether every lane holds.
pub fn all(c: &RackCall) -> Lanes {
    Lanes::uniform(u64::from((0..c.lanes()).all(|k| c.lane(0, k) & 1 == 1)))
}

/// Whether some lane holds.
pub fn any(c: &RackCall) -> Lanes {
    Lanes::uniform(u64::from((0..c.lanes()).any(|k| c.lane(0, k) & 1 == 1)))
}

/// All inclusive prefixes of `step`, lanes in order.
fn prefixes(c: &RackCall, step: Op) -> impl Iterator<Item = u64> {
    let mut total = None;
    (0..c.lanes()).map(move |k| {
        let next = match (total, reference(step)) {
            (Some(total), Reference::Lane(f)) => f(c.elem(), &Imm::None, &[total, c.lane(0, k)]),
            // A NaN in lane 0 becomes the canonical one at once in an extremum; so it does on meeting itself.
            (None, Reference::Lane(f)) if matches!(step, Op::Min | Op::Max) => {
                f(c.elem(), &Imm::None, &[c.lane(0, k), c.lane(0, k)])
            }
            _ => c.lane(0, k),
        };
        total = Some(next);
        next
    })
}

/// Lanes folded in order, each step rounded or wrapped.
pub fn fold(c: &RackCall, step: Op) -> Lanes {
    Lanes::uniform(prefixes(c, step).last().unwrap_or(0))
}

/// Inclusive prefixes in order.
pub fn scan(c: &RackCall, step: Op) -> Lanes {
    Lanes::new(prefixes(c, step))
}

/// Selected lanes to the front in order, then zeros.
pub fn compress(c: &RackCall) -> Lanes {
    let n = c.args.get(1).map_or(0, |a| a.len());
    let kept = (0..n).filter(|&k| c.lane(0, k) & 1 == 1).map(|k| c.lane(1, k));
    Lanes::new(kept.chain(std::iter::repeat(0)).take(n))
}

/// Front lanes to the selected places in order, the third operand elsewhere.
pub fn expand(c: &RackCall) -> Lanes {
    let mut next = 0..;
    let n = c.args.get(1).map_or(0, |a| a.len());
    Lanes::new((0..n).map(|k| match c.lane(0, k) & 1 {
        1 => c.lane(1, next.next().unwrap_or(0)),
        _ => c.lane(2, k),
    }))
}
