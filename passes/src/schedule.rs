//! `schedule` (selected → selected): an order whose racks fit the registers.
//!
//! The source's order stands when it fits: instructions that all have registers gain nothing from moving, since the
//! machine reorders them anyway, and a reader finds the code where the source has it. Otherwise the order that needs the
//! fewest registers is taken, among the source's, two depth-first ones and two greedy ones ([`orders`]). A region's
//! instructions stay together in each. Constants stand in front of their first reader.
//!
//! ```text
//! %2 : v = addps %0, %1               %2 : v = addps %0, %1
//! %3 : v = mulps %0, %1         =>    %4 : v = sqrtps %2
//! %4 : v = sqrtps %2                  %3 : v = mulps %0, %1
//! ```

pub(crate) mod orders;

use crate::pressure::{Body, excess, fits, peak};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Program};

/// Schedules every function of a program.
pub fn run(program: &Program) -> Program {
    let functions = program.functions.iter().map(|f| function(f, program.profile)).collect();
    Program { functions, ..*program }
}

/// Schedules one function.
pub fn function(f: &Function, profile: Profile) -> Function {
    let body = Body::new(f, profile);
    let mut best = body.source.clone();
    let mut least = peak(&body.needs(&best));
    if !fits(least, profile) {
        for order in orders::candidates(&body) {
            let peak = peak(&body.needs(&order));
            if excess(peak, profile) < excess(least, profile) {
                (best, least) = (order, peak);
            }
        }
    }
    arrange(&body, &best)
}

/// The function in this order, its constants in front of their first readers.
fn arrange(body: &Body, order: &[u32]) -> Function {
    let mut loaded = vec![false; body.f.regs.len()];
    let mut insts = Vec::with_capacity(body.f.insts.len());
    let readers = order.iter().map(|&at| (Some(body.inst(at)), None));
    for (inst, last) in readers.chain([(None, Some(body.f.result))]) {
        for reg in inst.into_iter().flat_map(crate::pressure::registers_of).chain(last) {
            if let Some(load) = body.constant(reg)
                && !std::mem::replace(&mut loaded[reg.0 as usize], true)
            {
                insts.push(load.clone());
            }
        }
        insts.extend(inst.cloned());
    }
    Function { insts, ..body.f.clone() }
}
