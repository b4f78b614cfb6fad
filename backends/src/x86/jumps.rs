//! Jumps: where the markers of bodies lead, and how long each jump is.
//!
//! Every jump is short as long as all that it leads over allows that. They start out short and grow until all reach, which
//! is what GNU `as` does and gives the least lengths.
//!
//! ```text
//! loop                      .L0_1:
//!   ...                         ...
//!   compare g1, g2      =>      cmp %rdx, %rcx
//! again 2                       jl .L0_1
//! ```

use rake_ir::allocated::Function;
use rake_ir::machine::{Cond, Flow};

/// Where a jump leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// To the place of this instruction.
    Inst(u32),
    /// To the trap behind the function's end.
    Trap,
}

/// A jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jump {
    /// Its condition; `None` when it always jumps.
    pub cond: Option<Cond>,
    /// Where it leads.
    pub to: Target,
}

/// The jump that each instruction of a function is; `None` for the others. Markers that have no partner jump nowhere.
pub fn jumps(function: &Function) -> Vec<Option<Jump>> {
    let partners = rake_ir::machine::flow::partners(&function.insts).unwrap_or_default();
    let insts = &function.insts;
    let jump = |at: usize| {
        let partner = partners.get(at).copied().flatten();
        let cond = insts[at].cond();
        Some(match insts[at].op.flow()? {
            Flow::Again => Jump { cond: Some(cond?), to: Target::Inst(partner?) },
            Flow::If => {
                // Behind the jump that closes the first body, when there are two.
                let two = insts.get(partner? as usize)?.op.flow() == Some(Flow::Else);
                Jump { cond: Some(cond?.negated()), to: Target::Inst(partner? + u32::from(two)) }
            }
            Flow::Else => Jump { cond: None, to: Target::Inst(partner?) },
            Flow::TrapUnless => Jump { cond: Some(cond?.negated()), to: Target::Trap },
            _ => return None,
        })
    };
    (0..insts.len()).map(jump).collect()
}

/// Whether an instruction has no bytes of its own.
pub fn is_label(flow: Option<Flow>) -> bool {
    matches!(flow, Some(Flow::Loop | Flow::End))
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
}

/// The bytes of the pieces and, of each and of the end, the start. The first starts at `at`; the trap is the end.
pub fn link(pieces: &[Piece], at: usize) -> (Vec<u8>, Vec<usize>) {
    let mut near = vec![false; pieces.len()];
    loop {
        let starts = starts(pieces, &near, at);
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
            let bytes = pieces.iter().enumerate().flat_map(|(index, piece)| match piece {
                Piece::Code(bytes) => bytes.clone(),
                Piece::Jump(jump) => jump.bytes(near[index], distance(*jump, index, &starts)),
            });
            return (bytes.collect(), starts);
        }
    }
}

fn starts(pieces: &[Piece], near: &[bool], at: usize) -> Vec<usize> {
    let mut starts = vec![at];
    for (piece, &near) in pieces.iter().zip(near) {
        let len = match piece {
            Piece::Code(bytes) => bytes.len(),
            Piece::Jump(jump) => jump.len(near),
        };
        starts.push(starts[starts.len() - 1] + len);
    }
    starts
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
