//! Computing a value again, where keeping it needs one register too many.
//!
//! At the place that lacks most, a value that lives across it and whose operands live on anyway is computed a second time
//! in front of its next reader (Briggs, Cooper and Torczon, "Rematerialization", PLDI 1992, in the setting of a straight
//! line). Several values that share an operand may be computed again together when that makes one operand live longer.
//! What belongs to a region is computed again inside that region only, for a region is one run of instructions.
//!
//! ```text
//! %4 = addps %0, %1                      %4 = addps %0, %1
//! %5 = mulps %4, %2                      %5 = mulps %4, %2
//! ...                              =>    ...
//! %9 = subps %8, %4                      %10 = addps %0, %1
//!                                        %9 = subps %8, %10
//! ```

use crate::pressure::{Body, available, excess, peak, registers_of};
use rake_ir::machine::{Class, Inst, Kind};
use rake_ir::selected::{Function, Reg};
use std::collections::BTreeMap;

/// Candidates tried at one place before it is given up, single values and groups each.
const TRIED: usize = 8;

/// The most that a value may cost that is computed again, in hundredths of cycles by throughput: no division, no root.
const CHEAP: u16 = 200;

/// A value to compute again, and where.
struct Again {
    /// The value.
    reg: Reg,
    /// The place of its instruction.
    from: usize,
    /// The place in front of which it is computed again.
    to: usize,
}

/// The function in this order with more values computed twice; `None` when no choice brings it nearer to fitting.
pub(super) fn relieve(body: &Body, order: &[u32]) -> Option<Function> {
    let lack = lacking(body, order);
    let needs = body.needs(order);
    let over = |place: usize| excess(needs[place].registers, body.profile);
    let place = (0..order.len()).max_by_key(|&place| (over(place), std::cmp::Reverse(place)))?;
    let [racks, ..] = available(body.profile);
    if needs[place].registers[0] <= racks {
        return None;
    }
    let (alone, groups) = choices(body, order, place);
    let singles = alone.into_iter().take(TRIED).map(|again| vec![again]);
    singles.chain(groups.into_values().take(TRIED)).find_map(|group| {
        let f = apply(body, order, &group);
        let after = Body::new(&f, body.profile);
        (lacking(&after, &after.source) < lack).then_some(f)
    })
}

/// The worst lack of registers at a place, and the sum over all places.
fn lacking(body: &Body, order: &[u32]) -> (u32, u32) {
    let needs = body.needs(order);
    let total = needs.iter().map(|need| excess(need.registers, body.profile).0).sum();
    (excess(peak(&needs), body.profile).0, total)
}

/// What could be computed again to relieve a place: values all of whose operands live on, next read latest first, then
/// cheapest; and groups of values that need the same one operand to live longer.
fn choices(body: &Body, order: &[u32], place: usize) -> (Vec<Again>, BTreeMap<Reg, Vec<Again>>) {
    let last = body.last_uses(order);
    let here: Vec<Reg> = registers_of(body.inst(order[place])).collect();
    let mut next: Vec<Option<usize>> = vec![None; body.f.regs.len()];
    for at in (place + 1..order.len()).rev() {
        registers_of(body.inst(order[at])).for_each(|reg| next[reg.0 as usize] = Some(at));
    }
    let (mut alone, mut groups) = (Vec::new(), BTreeMap::<Reg, Vec<Again>>::new());
    for (from, &at) in order[..place].iter().enumerate() {
        let inst = body.inst(at);
        let Some(reg) = inst.dst.filter(|&reg| body.f.class(reg) == Class::V && !here.contains(&reg)) else { continue };
        let Some(reader) = next[reg.0 as usize] else { continue };
        let Some(to) = entry(body, order, inst, reader).filter(|&to| to > place) else { continue };
        let words = registers_of(inst).any(|reg| body.f.class(reg) == Class::G);
        if words || !may_repeat(body, inst) {
            continue;
        }
        let dies = |reg: &Reg| body.constant(*reg).is_none() && (last[reg.0 as usize] as usize) < to;
        let mut missing: Vec<Reg> = registers_of(inst).filter(dies).collect();
        missing.dedup();
        let again = Again { reg, from, to };
        match missing[..] {
            [] => alone.push((std::cmp::Reverse(to), inst.op.cost(body.profile).throughput, again)),
            [operand] => groups.entry(operand).or_default().push(again),
            _ => {}
        }
    }
    alone.sort_by_key(|(to, cost, again)| (*to, *cost, again.from));
    groups.retain(|_, group| group.len() > 1);
    (alone.into_iter().map(|(_, _, again)| again).collect(), groups)
}

/// Whether an instruction is cheap and none of those that stand exactly as often as they were selected: what moves lanes,
/// reads masks as numbers, or multiplies and adds with one rounding.
fn may_repeat(body: &Body, inst: &Inst<Reg>) -> bool {
    let row = inst.op.info();
    let counted = matches!(row.kind, Kind::Boundary | Kind::Cross | Kind::Word) || row.contracts;
    !counted && inst.op.cost(body.profile).throughput <= CHEAP
}

/// Where an instruction may stand again for a reader: in front of it, or of the region that it belongs to.
fn entry(body: &Body, order: &[u32], inst: &Inst<Reg>, reader: usize) -> Option<usize> {
    match (inst.region, body.inst(order[reader]).region) {
        (mine, theirs) if mine == theirs => Some(reader),
        (None, Some(region)) => order[..reader]
            .iter()
            .rposition(|&at| body.inst(at).region != Some(region))
            .map_or(Some(0), |at| Some(at + 1)),
        _ => None,
    }
}

/// Computes values again, and gives the copies to the readers from there on.
fn apply(body: &Body, order: &[u32], group: &[Again]) -> Function {
    let mut out = Function { insts: Vec::with_capacity(body.f.insts.len() + group.len()), ..body.f.clone() };
    let mut copies: BTreeMap<Reg, (&Again, Reg)> = BTreeMap::new();
    for again in group {
        let copy = out.new_reg(body.f.regs[again.reg.0 as usize].clone());
        copies.insert(again.reg, (again, copy));
    }
    let reads = |at: u32, reg: Reg| registers_of(body.inst(at)).any(|r| r == reg);
    // Without an earlier reader the computation only moves.
    let moves = |again: &Again| !order[..again.to].iter().any(|&at| reads(at, again.reg));
    let moved: Vec<usize> = group.iter().filter(|again| moves(again)).map(|again| again.from).collect();
    out.insts.extend(body.f.insts.iter().filter(|i| i.dst.is_some_and(|dst| body.constant(dst).is_some())).cloned());
    for (place, &at) in order.iter().enumerate() {
        for again in group.iter().filter(|again| again.to == place) {
            let dst = copies.get(&again.reg).map(|(_, copy)| *copy);
            out.insts.push(Inst { dst, ..body.inst(order[again.from]).clone() });
        }
        if moved.contains(&place) {
            continue;
        }
        let mut inst = body.inst(at).clone();
        for arg in &mut inst.args {
            let copy =
                |reg: Reg| copies.get(&reg).filter(|(again, _)| place >= again.to).map_or(reg, |(_, copy)| *copy);
            *arg = arg.map(|reg| Some(copy(reg))).unwrap_or(*arg);
        }
        out.insts.push(inst);
    }
    if let Some(result) = &mut out.result
        && let Some((_, copy)) = copies.get(&result.reg)
    {
        result.reg = *copy;
    }
    out
}
