//! Jumps of AArch64: all of one length, each over a distance of its own.
//!
//! ```text
//! compare g1, g2      cmp x1, x2
//! again 2        =>   b.lt .L0_2
//! ```

use crate::jumps::Jump;
use rake_ir::machine::Cond;

/// `brk #1`, which jumps of checks lead to.
pub const TRAP: u32 = 0xd420_0020;

/// Bits of a jump's distance in words: `imm19` of B.cond, and `imm26` of B.
const NEAR: u32 = 19;
const FAR: u32 = 26;

/// The number and the name of a condition (DDI 0487, section C1.2.4).
const fn condition(cond: Cond) -> (u32, &'static str) {
    match cond {
        Cond::Equal => (0b0000, "eq"),
        Cond::NotEqual => (0b0001, "ne"),
        Cond::AboveEqual => (0b0010, "hs"),
        Cond::Below => (0b0011, "lo"),
        Cond::Above => (0b1000, "hi"),
        Cond::BelowEqual => (0b1001, "ls"),
        Cond::GreaterEqual => (0b1010, "ge"),
        Cond::Less => (0b1011, "lt"),
        Cond::Greater => (0b1100, "gt"),
        Cond::LessEqual => (0b1101, "le"),
    }
}

/// The mnemonic of a jump.
pub fn mnemonic(cond: Option<Cond>) -> String {
    cond.map_or_else(|| "b".into(), |cond| format!("b.{}", condition(cond).1))
}

/// The word of a jump over so many bytes; `None` when that is too far.
pub fn word(jump: Jump, distance: i64) -> Option<u32> {
    let bits = if jump.cond.is_some() { NEAR } else { FAR };
    let words = i32::try_from(distance / 4).ok()?;
    let reaches = (-1 << (bits - 1)..1 << (bits - 1)).contains(&words);
    let field = words as u32 & ((1 << bits) - 1);
    let word = match jump.cond {
        Some(cond) => 0x5400_0000 | field << 5 | condition(cond).0,
        None => 0x1400_0000 | field,
    };
    reaches.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jumps::Target;

    #[test]
    fn jumps_reach_so_far() {
        let jump = |cond| Jump { cond, to: Target::Trap };
        let less = jump(Some(Cond::Less));
        assert_eq!(word(less, 8), Some(0x5400_004b));
        assert_eq!(word(less, -4), Some(0x54ff_ffeb));
        assert!(word(less, (1 << 20) - 4).is_some() && word(less, 1 << 20).is_none());
        assert!(word(less, -(1 << 20)).is_some() && word(less, -(1 << 20) - 4).is_none());
        assert_eq!(word(jump(None), -4), Some(0x17ff_ffff));
        assert!(word(jump(None), (1 << 27) - 4).is_some() && word(jump(None), 1 << 27).is_none());
    }
}
