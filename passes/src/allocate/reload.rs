//! Loading racks again for each reader, where keeping them needs more registers than there are.
//!
//! ```text
//! %6 : v = rack_load [%2 + %5*4]          %6 : v = rack_load [%2 + %5*4]
//! %7 : v = mulps %6, %4                   %7 : v = mulps %6, %4
//! ...                               =>    ...
//! %9 : v = addps %8, %6                   %9 : v = addps %8, [%2 + %5*4]
//! ```
//!
//! A reader takes the rack from memory itself where some form of it can. Nothing is stored between the first load and the
//! last: what is loaded again is the same.

use crate::pressure::with_address;
use rake_ir::machine::{Idioms, Inst, Kind, Operand};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// The function with its racks loaded again for every reader but the first.
pub(super) fn relieve(f: &Function, profile: Profile) -> Option<Function> {
    let load = Idioms::of(profile).control?.load_rack?;
    let mut out = Function { insts: Vec::with_capacity(f.insts.len() * 2), ..f.clone() };
    // The loads since the last store or marker, with whether somebody read them.
    let mut open: BTreeMap<Reg, (Inst<Reg>, bool)> = BTreeMap::new();
    let mut changed = false;
    for inst in &f.insts {
        let mut inst = inst.clone();
        if inst.op.info().writes || inst.op.info().kind == Kind::Control {
            open.clear();
        }
        let reads: Vec<Reg> = inst.args.iter().filter_map(|arg| arg.reg()).collect();
        for reg in reads {
            let Some((first, read)) = open.get_mut(&reg) else { continue };
            if !std::mem::replace(read, true) {
                continue;
            }
            let Some(address) = first.args.first().and_then(|arg| arg.address()) else { continue };
            if let Some(folded) = with_address(&inst, reg, Operand::Memory(address), profile) {
                (inst, changed) = (folded, true);
                continue;
            }
            // Nothing but its own stands in a region.
            if inst.region.is_some() {
                continue;
            }
            let again = out.new_reg(f.regs[reg.0 as usize].clone());
            changed = true;
            out.insts.push(Inst { dst: Some(again), region: None, ..first.clone() });
            inst.args.iter_mut().filter(|arg| **arg == Operand::Reg(reg)).for_each(|arg| *arg = Operand::Reg(again));
        }
        if let Some(dst) = inst.dst.filter(|_| inst.op == load) {
            open.insert(dst, (inst.clone(), false));
        }
        out.insts.push(inst);
    }
    // Where every reader loads for itself, the first load is of no use.
    let read: BTreeSet<Reg> = out.insts.iter().flat_map(|inst| inst.regs()).collect();
    out.insts.retain(|inst| inst.op != load || inst.dst.is_none_or(|dst| read.contains(&dst)));
    changed.then_some(out)
}
