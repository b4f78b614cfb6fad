//! Masks in racks, where mask registers run out and rack registers do not.
//!
//! At the place that lacks most, the mask whose next reader is farthest is spread over a rack after its definition and
//! read back in front of its later readers. Both copies belong to the region of the instruction they stand beside.

use crate::pressure::{Body, available, registers_of};
use rake_ir::machine::{Class, Idioms, Inst, MachOp, Operand};
use rake_ir::selected::{Function, Reg, RegInfo};

/// The function in this order with one mask more in a rack; `None` when that would not help.
pub(super) fn relieve(body: &Body, order: &[u32]) -> Option<Function> {
    let needs = body.needs(order);
    let [racks, masks, ..] = available(body.profile);
    let place = (0..order.len()).max_by_key(|&p| (needs[p].registers[1], std::cmp::Reverse(p)))?;
    if needs[place].registers[1] <= masks || needs.iter().any(|need| need.registers[0] > racks) {
        return None;
    }
    let victim = farthest(body, order, place)?;
    let idioms = Idioms::of(body.profile).masks?;
    let mut out = Function { insts: Vec::with_capacity(body.f.insts.len() + 8), ..body.f.clone() };
    let info = |class| RegInfo { class, ..body.f.regs[victim.0 as usize].clone() };
    let parked = out.new_reg(info(Class::V));
    let copy = |op: MachOp, dst: Reg, from: Reg, near: &Inst<Reg>| {
        let args = [Operand::Reg(from)].into_iter().collect();
        Inst { op, dst: Some(dst), args, imm: None, region: near.region, span: near.span }
    };
    let constants = body.f.insts.iter().filter(|i| i.dst.is_some_and(|dst| body.constant(dst).is_some()));
    out.insts.extend(constants.filter(|i| i.region.is_none()).cloned());
    for (at, &index) in order.iter().enumerate() {
        let mut inst = body.inst(index).clone();
        if at > place && registers_of(&inst).any(|reg| reg == victim) {
            let again = out.new_reg(info(Class::K));
            out.insts.push(copy(idioms.from_rack, again, parked, &inst));
            inst.args.iter_mut().filter(|a| a.reg() == Some(victim)).for_each(|a| *a = Operand::Reg(again));
        }
        let defines = inst.dst == Some(victim);
        let near = inst.clone();
        out.insts.push(inst);
        if defines {
            out.insts.push(copy(idioms.to_rack, parked, victim, &near));
        }
    }
    Some(out)
}

/// The computed mask that lives across a place without being read there and is read next latest.
fn farthest(body: &Body, order: &[u32], place: usize) -> Option<Reg> {
    let before = order[..place].iter().filter_map(|&at| body.inst(at).dst);
    let here: Vec<Reg> = registers_of(body.inst(order[place])).collect();
    let masks = before.filter(|&reg| body.f.class(reg) == Class::K && !here.contains(&reg));
    let next = |reg: Reg| order[place..].iter().position(|&at| registers_of(body.inst(at)).any(|r| r == reg));
    // A mask that is read right here, or right after, would only move the lack.
    masks.filter_map(|reg| Some((next(reg)?, reg))).filter(|&(gap, _)| gap > 1).max().map(|(_, reg)| reg)
}
