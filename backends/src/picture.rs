//! Pictures: what each lane of a result holds, in terms of the operands' lanes.

use rake_ir::ops::{Imm, Op};
use rake_passes::select::rule::Instance;

/// What a lane holds: lane `k` of the first operand is `k`, of the second `n + k` where racks have `n` lanes.
pub(crate) type Symbol = u8;

/// A lane of zero bits.
pub(crate) const ZERO: Symbol = 254;
/// A lane that nobody reads.
pub(crate) const ANY: Symbol = 255;

/// The lanes of a rack. Lanes that the profile does not have are [`ANY`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Picture {
    pub lanes: [Symbol; 16],
}

impl Picture {
    /// A picture nobody reads.
    pub const NOTHING: Picture = Picture { lanes: [ANY; 16] };

    /// The picture of `n` lanes given by a function.
    pub fn of(n: usize, f: impl Fn(usize) -> Symbol) -> Picture {
        let mut lanes = [ANY; 16];
        for (lane, symbol) in lanes.iter_mut().enumerate().take(n) {
            *symbol = f(lane);
        }
        Picture { lanes }
    }

    /// Whether a rack that holds `self` serves where `want` is wanted.
    pub fn serves(&self, want: &Picture) -> bool {
        self.lanes.iter().zip(&want.lanes).all(|(have, want)| *want == ANY || have == want)
    }

    /// The symbols as a set: bit `s` for symbol `s`, bit 63 for zero.
    pub fn symbols(&self) -> u64 {
        self.lanes.iter().fold(0, |set, &s| set | bit(s))
    }
}

/// The set of one symbol.
pub(crate) fn bit(symbol: Symbol) -> u64 {
    match symbol {
        ANY => 0,
        ZERO => 1 << 63,
        s => 1 << s,
    }
}

/// What is to be made, and of what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Task {
    /// Lanes of a rack.
    pub n: usize,
    /// What the operands hold.
    pub given: Vec<Picture>,
    /// What the result shall hold.
    pub want: Picture,
}

/// The task of an operation; `None` for what moves no lanes, or an immediate that does not fit. An inserted uniform is the
/// same in every lane, or has lane 0 `alone`.
pub(crate) fn task(instance: &Instance, alone: bool) -> Option<Task> {
    let n = instance.lanes;
    let count = if let Imm::Int(count) = instance.imm { *count as usize } else { 0 };
    let operands = instance.operands;
    let whole = |at: usize| Picture::of(n, |l| (at * n + l) as u8);
    // Two operands that are one value, or of which one is not read, arrive as one.
    let joined = |at: usize| match at % (n * operands.max(1)) {
        at if instance.zeros >> (at / n) & 1 == 1 => ZERO,
        at => at as u8,
    };
    let mut given: Vec<Picture> = (0..operands).map(whole).collect();
    let want = match (instance.op, instance.imm) {
        (Op::Shuffle, Imm::Lanes(picks)) if picks.len() == n => Picture::of(n, |l| joined(picks[l].into())),
        (Op::ZipLow, _) => Picture::of(n, |l| joined(l % 2 * n + l / 2)),
        (Op::ZipHigh, _) => Picture::of(n, |l| joined(l % 2 * n + n / 2 + l / 2)),
        (Op::UnzipEven, _) => Picture::of(n, |l| joined(2 * l)),
        (Op::UnzipOdd, _) => Picture::of(n, |l| joined(2 * l + 1)),
        (Op::ShiftLeft, _) => Picture::of(n, |l| if l + count < n { (l + count) as u8 } else { ZERO }),
        (Op::ShiftRight, _) => Picture::of(n, |l| l.checked_sub(count).map_or(ZERO, |at| at as u8)),
        (Op::RotateLeft, _) => Picture::of(n, |l| ((l + count) % n) as u8),
        (Op::RotateRight, _) if count <= n => Picture::of(n, |l| ((l + n - count) % n) as u8),
        (Op::Extract, _) if count < n => Picture::of(n, |_| count as u8),
        (Op::Insert, _) if operands == 2 && count < n => {
            given[1] = Picture::of(n, |l| if l == 0 || !alone { n as u8 } else { ANY });
            Picture::of(n, |l| if l == count { n } else { l } as u8)
        }
        _ => return None,
    };
    (n <= 16 && operands > 0).then_some(Task { n, given, want })
}
