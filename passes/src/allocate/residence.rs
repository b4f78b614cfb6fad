//! Which constants stay in registers, and from where to where.
//!
//! A constant that is read up to [`FEW`] times, by instructions that can take it from memory, is taken from there. One that
//! is read more often is loaded before its first reader and kept to its last where a register is free all the way; else it
//! is kept over as many readers as that holds for, and taken from memory or loaded again for the rest.

mod bodies;

use crate::pressure::{Body, Need, available, file, registers_of};
use rake_ir::selected::Reg;

/// For each register that is a constant, the places from load to last reader, in order; disjoint.
pub(super) type Residence = Vec<Vec<(u32, u32)>>;

/// So many readers take a constant from memory: a load in front of them would be one instruction more.
const FEW: usize = 4;

/// A reader of a constant.
#[derive(Clone, Copy)]
struct Reader {
    place: u32,
    /// Whether it must have the constant in a register.
    held: bool,
}

pub(super) fn choose(body: &Body, order: &[u32], mut needs: Vec<Need>) -> Residence {
    let mut readers: Vec<Vec<Reader>> = vec![Vec::new(); body.f.regs.len()];
    let mut constants: Vec<Reg> = Vec::new();
    for (place, &at) in order.iter().enumerate() {
        let held = body.held_constants(at);
        for reg in registers_of(body.inst(at)).filter(|&reg| body.constant(reg).is_some()) {
            let list = &mut readers[reg.0 as usize];
            if list.is_empty() {
                constants.push(reg);
            }
            if list.last().is_none_or(|last| last.place != place as u32) {
                list.push(Reader { place: place as u32, held: held.contains(&reg) });
            }
        }
    }
    let mut residence = vec![Vec::new(); body.f.regs.len()];
    if let Some(result) = body.f.result.filter(|result| body.constant(result.reg).is_some()) {
        let end = order.len() as u32;
        residence[result.reg.0 as usize].push((end, end));
    }
    // Those that need registers anyway come first, then the most read.
    constants.sort_by_key(|reg| {
        let list = &readers[reg.0 as usize];
        (std::cmp::Reverse(list.iter().filter(|r| r.held).count()), std::cmp::Reverse(list.len()), reg.0)
    });
    if let Some(bodies) = &body.bodies {
        return bodies::choose(body, bodies, &constants, &readers, &mut needs);
    }
    for reg in constants {
        let spans = spans(body, reg, &readers[reg.0 as usize], &mut needs);
        residence[reg.0 as usize].splice(0..0, spans);
    }
    residence
}

/// The stretches over which one constant is kept; `needs` grows by them.
fn spans(body: &Body, reg: Reg, readers: &[Reader], needs: &mut [Need]) -> Vec<(u32, u32)> {
    let class = file(body.f.class(reg));
    let most = available(body.profile)[class];
    let mut spans: Vec<(u32, u32)> = Vec::new();
    if readers.len() <= FEW && readers.iter().all(|reader| !reader.held) {
        return spans;
    }
    let mut at = 0;
    while at < readers.len() {
        let first = readers[at];
        // As far as a register is free from the first of these readers.
        let mut end = at;
        let mut free = first.place;
        while end + 1 < readers.len() {
            let next = readers[end + 1];
            let upto = if next.held { next.place } else { next.place + 1 };
            if (free..upto).any(|place| needs[place as usize].registers[class] >= most) {
                break;
            }
            free = upto;
            end += 1;
        }
        let last = readers[end];
        let alone = end == at;
        if first.held || !alone {
            let upto = if last.held { last.place } else { last.place + 1 };
            let from = if first.held && alone { upto } else { first.place };
            (from..upto).for_each(|place| needs[place as usize].registers[class] += 1);
            spans.push((first.place, last.place));
        }
        at = end + 1;
    }
    spans
}
