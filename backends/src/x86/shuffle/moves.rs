//! The machine's lane moves as the planner sees them: each result lane belongs to a field, each field has options, and an
//! option says where its lanes come from.
//!
//! ```text
//! shufps a, b, imm     field l & 3, options 0..4; lanes 0 and 1 of each block from a, lanes 2 and 3 from b
//! unpcklps a, b        one field with one option
//! permps index, a      a field for each lane, an option for each lane; the options are a literal
//! ```

use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;

/// Where an option takes a lane from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pick {
    /// This lane of this operand.
    From(usize, usize),
    /// Nowhere: it becomes zero.
    Zero,
}

/// How the options stand in the instruction.
#[derive(Clone, Copy)]
pub(super) enum Control {
    /// There is nothing to choose.
    Fixed,
    /// In the immediate: the width of a field in bits, and the code of an option.
    Immediate(u32, fn(usize) -> usize),
    /// In a literal of one value for each lane.
    Literal {
        /// The operand that it is.
        at: usize,
        /// Whether it may stay in memory, and so costs no instruction.
        memory: bool,
        /// The value for an option.
        value: fn(usize) -> u32,
        /// The immediate that makes the instruction this move.
        imm: Option<u8>,
    },
}

/// One lane move.
pub(super) struct Move {
    /// Its rows for floats and for integers.
    pub ops: [X86; 2],
    /// Where it exists: SSE, VEX, EVEX.
    pub spaces: [bool; 3],
    /// How many racks it moves lanes of.
    pub operands: usize,
    /// How many fields a rack of `n` lanes has.
    pub fields: fn(usize) -> usize,
    /// The field of a lane.
    pub field: fn(usize) -> usize,
    /// How many options each field has.
    pub options: fn(usize) -> usize,
    /// Where a lane comes from under an option of its field: lanes of the rack, lane, option.
    pub pick: fn(usize, usize, usize) -> Pick,
    /// How the options are encoded.
    pub control: Control,
}

impl Move {
    /// Whether fields are few enough to try their options one by one.
    pub fn is_narrow(&self) -> bool {
        !matches!(self.control, Control::Literal { .. })
    }
}

/// The moves of a space, in the order of preference between equals.
pub(super) fn moves(space: Space) -> impl Iterator<Item = &'static Move> {
    MOVES.iter().filter(move |m| m.spaces[space as usize])
}

const SSE: [bool; 3] = [true, false, false];
const VEX: [bool; 3] = [false, true, false];
const EVEX: [bool; 3] = [false, false, true];
const WIDE: [bool; 3] = [false, true, true];
const ALL: [bool; 3] = [true; 3];

const fn one(_: usize) -> usize {
    1
}

const fn four(_: usize) -> usize {
    4
}

const fn same(option: usize) -> usize {
    option
}

const fn index(option: usize) -> u32 {
    option as u32
}

/// A move without choices.
const fn fixed(ops: [X86; 2], spaces: [bool; 3], operands: usize, pick: fn(usize, usize, usize) -> Pick) -> Move {
    Move { ops, spaces, operands, fields: one, field: |_| 0, options: one, pick, control: Control::Fixed }
}

/// A move by an amount, `count(n)` amounts from 1 on, `scale` in the immediate for each.
const fn by(
    ops: [X86; 2],
    spaces: [bool; 3],
    operands: usize,
    count: fn(usize) -> usize,
    code: fn(usize) -> usize,
    pick: fn(usize, usize, usize) -> Pick,
) -> Move {
    let control = Control::Immediate(8, code);
    Move { ops, spaces, operands, fields: one, field: |_| 0, options: count, pick, control }
}

/// `pshufd` and its kin.
const fn in_block(ops: [X86; 2], spaces: [bool; 3]) -> Move {
    let pick = |_, l: usize, o| Pick::From(0, l & !3 | o);
    let control = Control::Immediate(2, same);
    Move { ops, spaces, operands: 1, fields: four, field: |l| l & 3, options: four, pick, control }
}

/// Units of `unit` lanes of both operands' low or high half blocks, interleaved.
macro_rules! unpack {
    ($float:ident $integer:ident, $spaces:ident, $unit:literal, $from:literal) => {
        fixed([X86::$float, X86::$integer], $spaces, 2, |_, l, _| {
            let unit: usize = $unit;
            Pick::From(l / unit & 1, l & !3 | ((l & 3) / (2 * unit) * unit + l % unit + $from))
        })
    };
}

use X86::*;

static MOVES: &[Move] = &[
    in_block([Pshufd, Pshufd], SSE),
    in_block([Permilps, Pshufd], WIDE),
    fixed([Movss, Movss], SSE, 2, |_, l, _| Pick::From(usize::from(l < 1), l)),
    fixed([Movsd, Movsd], SSE, 2, |_, l, _| Pick::From(usize::from(l < 2), l)),
    unpack!(Unpcklps Punpckldq, ALL, 1, 0),
    unpack!(Unpckhps Punpckhdq, ALL, 1, 2),
    unpack!(Movlhps Punpcklqdq, SSE, 2, 0),
    unpack!(Unpcklpd Punpcklqdq, WIDE, 2, 0),
    unpack!(Unpckhpd Punpckhqdq, ALL, 2, 2),
    fixed([Movhlps, Movhlps], SSE, 2, |_, l, _| if l < 2 { Pick::From(1, l + 2) } else { Pick::From(0, l) }),
    // Blends.
    Move {
        ops: [Blendps, Pblendd],
        spaces: VEX,
        operands: 2,
        fields: |n| n,
        field: |l| l,
        options: |_| 2,
        pick: |_, l, o| Pick::From(o, l),
        control: Control::Immediate(1, same),
    },
    // By a literal of lane masks that may stay in memory: `z ? y : x`.
    Move {
        ops: [Pternlogd, Pternlogd],
        spaces: EVEX,
        operands: 2,
        fields: |n| n,
        field: |l| l,
        options: |_| 2,
        pick: |_, l, o| Pick::From(o, l),
        control: Control::Literal { at: 2, memory: true, value: |o| 0u32.wrapping_sub(o as u32), imm: Some(0xd8) },
    },
    by(
        [Palignr, Palignr],
        WIDE,
        2,
        |_| 3,
        |o| 4 * (o + 1),
        |_, l, o| match (l & 3) + o + 1 {
            at @ 0..4 => Pick::From(1, l & !3 | at),
            at => Pick::From(0, l & !3 | (at - 4)),
        },
    ),
    Move {
        ops: [Shufps, Shufps],
        spaces: ALL,
        operands: 2,
        fields: four,
        field: |l| l & 3,
        options: four,
        pick: |_, l, o| Pick::From(l >> 1 & 1, l & !3 | o),
        control: Control::Immediate(2, same),
    },
    Move {
        ops: [Shufpd, Shufpd],
        spaces: WIDE,
        operands: 2,
        fields: |n| n / 2,
        field: |l| l / 2,
        options: |_| 2,
        pick: |_, l, o| Pick::From(l >> 1 & 1, l & !3 | (2 * o) | l & 1),
        control: Control::Immediate(1, same),
    },
    by(
        [Pslldq, Pslldq],
        ALL,
        1,
        |_| 3,
        |o| 4 * (o + 1),
        |_, l, o| match (l & 3).checked_sub(o + 1) {
            Some(at) => Pick::From(0, l & !3 | at),
            None => Pick::Zero,
        },
    ),
    by(
        [Psrldq, Psrldq],
        ALL,
        1,
        |_| 3,
        |o| 4 * (o + 1),
        |_, l, o| match (l & 3) + o + 1 {
            at @ 0..4 => Pick::From(0, l & !3 | at),
            _ => Pick::Zero,
        },
    ),
    // In its own block each lane from anywhere, by a literal that may stay in memory.
    Move {
        ops: [PermilpsBy, PermilpsBy],
        spaces: WIDE,
        operands: 1,
        fields: |n| n,
        field: |l| l,
        options: four,
        pick: |_, l, o| Pick::From(0, l & !3 | o),
        control: Control::Literal { at: 1, memory: true, value: index, imm: None },
    },
    // Across blocks.
    fixed([SplatLow, SplatLowd], WIDE, 1, |_, _, _| Pick::From(0, 0)),
    Move {
        ops: [Permpd, Permq],
        spaces: WIDE,
        operands: 1,
        fields: four,
        field: |l| (l / 2) & 3,
        options: four,
        pick: |_, l, o| Pick::From(0, l & !7 | (2 * o) | l & 1),
        control: Control::Immediate(2, same),
    },
    Move {
        ops: [Perm2f128, Perm2i128],
        spaces: VEX,
        operands: 2,
        fields: |_| 2,
        field: |l| l / 4,
        options: |_| 5,
        pick: |_, l, o| if o < 4 { Pick::From(o / 2, o % 2 * 4 + l % 4) } else { Pick::Zero },
        control: Control::Immediate(4, |o| if o < 4 { o } else { 8 }),
    },
    by(
        [Alignd, Alignd],
        EVEX,
        2,
        |n| n - 1,
        |o| o + 1,
        |n, l, o| match l + o + 1 {
            at if at < n => Pick::From(1, at),
            at => Pick::From(0, at - n),
        },
    ),
    Move {
        ops: [Shuff32x4, Shufi32x4],
        spaces: EVEX,
        operands: 2,
        fields: four,
        field: |l| l / 4,
        options: four,
        pick: |_, l, o| Pick::From(l / 8, 4 * o + l % 4),
        control: Control::Immediate(2, same),
    },
    // Any lane to any place, by a literal in a register.
    Move {
        ops: [Permps, Permd],
        spaces: WIDE,
        operands: 1,
        fields: |n| n,
        field: |l| l,
        options: |n| n,
        pick: |_, _, o| Pick::From(0, o),
        control: Control::Literal { at: 0, memory: false, value: index, imm: None },
    },
    Move {
        ops: [Permt2ps, Permt2d],
        spaces: EVEX,
        operands: 2,
        fields: |n| n,
        field: |l| l,
        options: |n| 2 * n,
        pick: |n, _, o| Pick::From(o / n, o % n),
        control: Control::Literal { at: 1, memory: false, value: index, imm: None },
    },
];
