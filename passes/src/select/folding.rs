//! Loads that one instruction reads become its operand, where some form of it takes one at an address.
//!
//! ```text
//! %6 : v = rack_load [%2 + %5*4]
//! %7 : v = addps %6, %4              =>    %7 : v = addps %4, [%2 + %5*4]
//! ```
//!
//! Between the load and its reader nothing is stored and no body begins or ends.

use crate::pressure::with_address;
use rake_ir::machine::{Inst, Kind, MachOp, Operand};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Reg};

/// Folds the loads of a run whose row this is.
pub(super) fn run(f: &mut Function, profile: Profile, load: MachOp) {
    let mut uses = vec![0u32; f.regs.len()];
    f.insts.iter().flat_map(Inst::regs).for_each(|reg| uses[reg.0 as usize] += 1);
    // The loads since the last store or marker, by the register that they define.
    let mut open: Vec<(Reg, usize)> = Vec::new();
    let mut folded = vec![false; f.insts.len()];
    for at in 0..f.insts.len() {
        let inst = &f.insts[at];
        if inst.op == load {
            open.extend(inst.dst.filter(|dst| uses[dst.0 as usize] == 1).map(|dst| (dst, at)));
            continue;
        }
        if inst.op.info().writes || inst.op.info().kind == Kind::Control {
            open.clear();
            continue;
        }
        // The one that was loaded last is nearest.
        let reads = |&&(reg, _): &&(Reg, usize)| inst.args.contains(&Operand::Reg(reg));
        let found = open.iter().rev().find(reads).copied();
        if let Some((reg, from)) = found
            && let Some(address) = f.insts[from].args.first().and_then(|arg| arg.address())
            && let Some(next) = with_address(inst, reg, Operand::Memory(address), profile)
        {
            f.insts[at] = next;
            folded[from] = true;
        }
    }
    let mut at = 0;
    f.insts.retain(|_| {
        at += 1;
        !folded[at - 1]
    });
}
