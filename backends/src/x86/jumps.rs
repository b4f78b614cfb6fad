//! Jumps: where the markers of bodies lead, and how long each jump is.
//!
//! An innermost loop begins at a multiple of [`LOOP_ALIGN`], behind `nop`s: its instructions then come from as few lines of the
//! cache of decoded ones as can be (Intel Optimization Reference Manual, section 3.4.1.4, "Code Alignment").
//!
//! Every jump is short as long as all that it leads over allows that. They start out short and grow until all reach, which
//! is what GNU `as` does and gives the least lengths.
//!
//! ```text
//! loop                          nopl (%rax)
//!   ...                     .L0_2:
//!   compare g1, g2      =>      cmp %rdx, %rcx
//! again 2                       jl .L0_2
//! ```

use crate::elf::FUNCTION_ALIGN;
pub use crate::jumps::{Jump, Target, is_label, jumps};
use rake_ir::allocated::Function;
use rake_ir::machine::{Cond, Flow, Inst, PhysReg};

/// Innermost loops, and functions that have any, begin at multiples of this.
pub const LOOP_ALIGN: usize = 32;

/// The one-instruction paddings of one to nine bytes (Intel SDM, volume 2, "NOP", table 4-12).
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// So many bytes of padding, in few instructions: as many of the longest as fit, then one.
fn padding(len: usize) -> Vec<u8> {
    let longest = NOPS[NOPS.len() - 1];
    let mut out = longest.repeat(len / longest.len());
    if let Some(last) = (len % longest.len()).checked_sub(1) {
        out.extend_from_slice(NOPS[last]);
    }
    out
}

/// Whether this instruction opens a loop that has no other inside.
pub fn is_aligned(function: &Function, at: usize) -> bool {
    let is_loop = |inst: &Inst<PhysReg>| inst.op.flow() == Some(Flow::Loop);
    let ends = |inst: &Inst<PhysReg>| matches!(inst.op.flow(), Some(Flow::Loop | Flow::Again));
    let next = || function.insts[at + 1..].iter().find(|inst| ends(inst));
    is_loop(&function.insts[at]) && next().is_some_and(|inst| !is_loop(inst))
}

/// What a function's start is a multiple of.
pub fn alignment(function: &Function) -> usize {
    let aligned = (0..function.insts.len()).any(|at| is_aligned(function, at));
    if aligned { LOOP_ALIGN } else { FUNCTION_ALIGN }
}

/// The number that stands for a condition in an instruction (Intel SDM, volume 1, appendix B).
const fn number(cond: Cond) -> u8 {
    match cond {
        Cond::Below => 2,
        Cond::AboveEqual => 3,
        Cond::Equal => 4,
        Cond::NotEqual => 5,
        Cond::BelowEqual => 6,
        Cond::Above => 7,
        Cond::Less => 12,
        Cond::GreaterEqual => 13,
        Cond::LessEqual => 14,
        Cond::Greater => 15,
    }
}

/// The mnemonic of a jump.
pub const fn mnemonic(cond: Option<Cond>) -> &'static str {
    match cond {
        None => "jmp",
        Some(Cond::Below) => "jb",
        Some(Cond::AboveEqual) => "jae",
        Some(Cond::Equal) => "je",
        Some(Cond::NotEqual) => "jne",
        Some(Cond::BelowEqual) => "jbe",
        Some(Cond::Above) => "ja",
        Some(Cond::Less) => "jl",
        Some(Cond::GreaterEqual) => "jge",
        Some(Cond::LessEqual) => "jle",
        Some(Cond::Greater) => "jg",
    }
}

impl Jump {
    /// Its length in bytes.
    const fn len(self, near: bool) -> usize {
        match (near, self.cond) {
            (false, _) => 2,
            (true, None) => 5,
            (true, Some(_)) => 6,
        }
    }

    /// Its bytes, for this distance from its end.
    fn bytes(self, near: bool, distance: i32) -> Vec<u8> {
        let mut out = match (near, self.cond) {
            (false, None) => vec![0xeb],
            (false, Some(cond)) => vec![0x70 | number(cond)],
            (true, None) => vec![0xe9],
            (true, Some(cond)) => vec![0x0f, 0x80 | number(cond)],
        };
        match near {
            false => out.push(distance as u8),
            true => out.extend_from_slice(&distance.to_le_bytes()),
        }
        out
    }
}

/// One instruction of a function.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Its bytes.
    Code(Vec<u8>),
    /// A jump, whose distance decides its bytes.
    Jump(Jump),
    /// Padding up to a multiple of [`LOOP_ALIGN`].
    Align,
}

/// How often padding and the lengths of jumps, each of which follows from the other, are tried against each other.
const MOST_TRIES: usize = 8;

/// The bytes of the pieces and, of each and of the end, the start. The first starts at `at`; the trap is the end.
pub fn link(pieces: &[Piece], at: usize) -> (Vec<u8>, Vec<usize>) {
    let mut pads = vec![0; pieces.len()];
    let mut tries = 0;
    let (near, starts) = loop {
        let near = reach(pieces, &pads, at);
        let starts = starts(pieces, &near, &pads, at);
        let wanted = wanted(pieces, &near, at);
        if wanted == pads || tries > MOST_TRIES {
            break (near, starts);
        }
        tries += 1;
        // Where they do not settle there is no padding.
        pads = if tries > MOST_TRIES { vec![0; pieces.len()] } else { wanted };
    };
    let bytes = pieces.iter().enumerate().flat_map(|(index, piece)| match piece {
        Piece::Code(bytes) => bytes.clone(),
        Piece::Jump(jump) => jump.bytes(near[index], distance(*jump, index, &starts)),
        Piece::Align => padding(pads[index]),
    });
    (bytes.collect(), starts)
}

/// Which jumps are near ones, with this padding.
fn reach(pieces: &[Piece], pads: &[usize], at: usize) -> Vec<bool> {
    let mut near = vec![false; pieces.len()];
    loop {
        let starts = starts(pieces, &near, pads, at);
        let mut grown = false;
        for (index, piece) in pieces.iter().enumerate() {
            if let Piece::Jump(jump) = piece
                && !near[index]
                && i8::try_from(distance(*jump, index, &starts)).is_err()
            {
                (near[index], grown) = (true, true);
            }
        }
        if !grown {
            return near;
        }
    }
}

/// The padding that is missing at each piece, with these jumps.
fn wanted(pieces: &[Piece], near: &[bool], at: usize) -> Vec<usize> {
    let mut start = at;
    let missing = |(piece, &near): (&Piece, &bool)| {
        let pad = if let Piece::Align = piece { start.next_multiple_of(LOOP_ALIGN) - start } else { 0 };
        start += pad + piece.len(near);
        pad
    };
    pieces.iter().zip(near).map(missing).collect()
}

fn starts(pieces: &[Piece], near: &[bool], pads: &[usize], at: usize) -> Vec<usize> {
    let mut starts = vec![at];
    for ((piece, &near), pad) in pieces.iter().zip(near).zip(pads) {
        starts.push(starts[starts.len() - 1] + pad + piece.len(near));
    }
    starts
}

impl Piece {
    /// Its length in bytes, padding apart.
    fn len(&self, near: bool) -> usize {
        match self {
            Piece::Code(bytes) => bytes.len(),
            Piece::Jump(jump) => jump.len(near),
            Piece::Align => 0,
        }
    }
}

/// How far a jump leads from its end.
fn distance(jump: Jump, index: usize, starts: &[usize]) -> i32 {
    let end = starts[starts.len() - 1];
    let to = match jump.to {
        Target::Inst(inst) => starts.get(inst as usize).copied().unwrap_or(end),
        Target::Trap => end,
    };
    (to as i64 - starts[index + 1] as i64) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_of_its_length_and_leads_to_the_multiple() {
        for len in 0..LOOP_ALIGN {
            assert_eq!(padding(len).len(), len);
            let pieces = [Piece::Code(vec![0xc3; len]), Piece::Align, Piece::Code(vec![0xc3])];
            let (bytes, starts) = link(&pieces, 4);
            assert_eq!(starts[2], (4 + len).next_multiple_of(32));
            assert_eq!(bytes.len() + 4, starts[3]);
        }
        assert_eq!(padding(20), [&[0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0].repeat(2)[..], &[0x66, 0x90]].concat());
    }

    #[test]
    fn jumps_are_as_short_as_they_can_be() {
        let over = |count: usize| {
            let jump = Piece::Jump(Jump { cond: Some(Cond::Less), to: Target::Inst(2) });
            link(&[jump, Piece::Code(vec![0x90; count]), Piece::Code(vec![0xc3])], 4)
        };
        let (short, starts) = over(127);
        assert_eq!((&short[..2], &starts[..]), (&[0x7c, 127][..], &[4, 6, 133, 134][..]));
        let (near, _) = over(128);
        assert_eq!(near[..6], [0x0f, 0x8c, 128, 0, 0, 0]);
        let back = Piece::Jump(Jump { cond: None, to: Target::Inst(0) });
        assert_eq!(link(&[Piece::Code(vec![0x90; 126]), back.clone()], 0).0[126..], [0xeb, 0x80]);
        assert_eq!(link(&[Piece::Code(vec![0x90; 127]), back], 0).0[127..], [0xe9, 0x7c, 0xff, 0xff, 0xff]);
    }
}
