//! Which rows of a machine table move lanes: found by executing them, so that no list of names has to be kept.

use rake_ir::machine::bits::Bits;
use rake_ir::machine::{Class, Ctx, Kind, MachInfo};

/// Immediates that are tried: lanes of both operands, bytes, and shifts.
const IMMEDIATES: &[u8] = &[0, 1, 2, 3, 4, 8, 0x10, 0x12, 0x21, 0x30];

/// Whether some 32-bit lane of the result depends on another lane of an operand. Copies and constants do not, and what
/// touches no rack has no lanes.
pub fn crosses(info: &MachInfo, lanes: usize) -> bool {
    let racks = info.dst.iter().chain(info.slots.iter().map(|slot| &slot.view)).any(|view| view.class() == Class::V);
    if !racks || matches!(info.kind, Kind::Move | Kind::Const | Kind::Control) {
        return false;
    }
    let imms = if info.imm { IMMEDIATES } else { &[0] };
    imms.iter().any(|&imm| (0..PATTERNS.len()).any(|pattern| depends(info, Ctx { lanes, imm }, pattern)))
}

/// Numbers that instructions tell apart: any bits, floats, small integers, byte numbers.
const PATTERNS: [fn(u32) -> u32; 4] =
    [|seed| seed, |seed| (seed as f32 / 4096.0).to_bits(), |seed| seed >> 28, |seed| seed & 0x0f0f_0f0f];

/// Whether the result on one pattern changes in another lane than the operand does.
fn depends(info: &MachInfo, ctx: Ctx, pattern: usize) -> bool {
    let mut state = 1u32;
    let mut next = || {
        // Numerical Recipes' linear congruential generator.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        PATTERNS[pattern](state)
    };
    let mut operands: Vec<Bits> = Vec::new();
    for _ in info.slots {
        operands.push(std::array::from_fn(|lane| if lane < ctx.lanes { next() } else { 0 }));
    }
    let before = (info.eval)(ctx, &operands);
    for slot in 0..operands.len() {
        for lane in 0..ctx.lanes {
            for _ in 0..4 {
                let mut changed = operands.clone();
                changed[slot][lane] = next();
                let after = (info.eval)(ctx, &changed);
                if (0..ctx.lanes).any(|other| other != lane && before[other] != after[other]) {
                    return true;
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::machine::aarch64::{A64, ALL};

    #[test]
    fn what_crosses_lanes_is_found() {
        use A64::*;
        #[rustfmt::skip]
        let crossing = [
            FmulLane, Fminv, Fmaxv, FmlaLane, MulLane, Addv, Sminv, Smaxv, Uminv, Umaxv, Zip1, Zip2, Uzp1, Uzp2, Trn1, Trn2,
            Zip1Half, Zip2Half, Rev64, Ext, DupLane, DupHalf, OneLane, HighHalf, InsLane, InsHalf, Tbl, Tbx,
            Smull, Smull2, Addp, Sqxtn, Sqxtn2, Ushll, Ushll2, Sshll, UshllWords, SshllWords, Xtn, XtnBytes, CmgtLong,
            DupLong, DupWord, LaneOut, LaneOutLong, InsWord,
        ];
        for &op in ALL {
            assert_eq!(crosses(op.info(), 4), crossing.contains(&op), "{op:?}");
        }
    }
}
