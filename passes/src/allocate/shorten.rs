//! Operands that may be swapped, in the order that takes fewer bytes: VEX names a high register without a third byte of
//! prefix only as the first operand. C compilers that assemble our text may swap them by themselves, and change nothing
//! of what stands so.
//!
//! ```text
//! v2 = paddd v2, v10      =>    v2 = paddd v10, v2
//! ```

use rake_ir::allocated::Function;
use rake_ir::machine::{Class, Idioms, Inst, Operand, PhysReg};
use rake_ir::profile::Profile;

/// The function with such operands swapped.
pub(super) fn run(mut f: Function, profile: Profile) -> Function {
    if let Some(first_high) = Idioms::of(profile).registers.and_then(|registers| registers.first_high) {
        f.insts.iter_mut().filter(|inst| is_long(inst, first_high, profile)).for_each(|inst| inst.args.swap(0, 1));
    }
    f
}

/// Whether the second of two racks is a high register and the first is not, and either order means the same.
fn is_long(inst: &Inst<PhysReg>, first_high: u8, profile: Profile) -> bool {
    let [Operand::Reg(first), Operand::Reg(second)] = inst.args[..] else { return false };
    let racks = first.class == Class::V && second.class == Class::V;
    let mut forms = inst.op.info().forms.iter();
    racks
        && second.number >= first_high
        && first.number < first_high
        && forms.any(|form| {
            form.op == inst.op && form.from[..2] == [1, 0] && form.imm(inst.op, inst.imm, profile) == Some(inst.imm)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::machine::MachOp;
    use rake_ir::machine::x86::X86;
    use rake_ir::span::Span;

    fn swaps(op: X86, first: u8, second: u8, imm: Option<u8>) -> bool {
        let args = [first, second].map(|number| Operand::Reg(PhysReg::v(number))).into_iter().collect();
        let (dst, span) = (Some(PhysReg::v(0)), Span::default());
        is_long(&Inst { op: MachOp::X86(op), dst, args, imm, region: None, span }, 8, Profile::X86Avx2)
    }

    #[test]
    fn a_high_register_comes_first() {
        assert!(swaps(X86::Paddd, 2, 10, None));
        assert!(!swaps(X86::Paddd, 10, 2, None));
        assert!(!swaps(X86::Paddd, 9, 10, None));
        assert!(!swaps(X86::Paddd, 2, 7, None));
        assert!(!swaps(X86::Psubd, 2, 10, None));
    }

    #[test]
    fn only_a_comparison_that_is_its_own_mirror_is_swapped() {
        let [equal, less] = [0, 1];
        assert!(swaps(X86::Cmpps, 2, 10, Some(equal)));
        assert!(!swaps(X86::Cmpps, 2, 10, Some(less)));
    }
}
