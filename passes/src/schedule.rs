//! `schedule` (selected → selected): an order whose racks fit the registers.
//!
//! The cheapest order wins, counted on the allocated code: the fewest instructions (an order decides how many copies and
//! loads there are), then the least cost; the source's wins ties, so that a reader finds the code where the source has it.
//! It also stands when it needs no copy and no second load, and in long functions that fit. The others are two depth-first
//! orders and three greedy ones ([`orders`]). Where none fits, the one that lacks the fewest registers is taken. A region's
//! instructions stay together in each. Constants stand in front of their first reader.
//!
//! ```text
//! %2 : v = addps %0, %1               %2 : v = addps %0, %1
//! %3 : v = mulps %0, %1         =>    %4 : v = sqrtps %2
//! %4 : v = sqrtps %2                  %3 : v = mulps %0, %1
//! ```

pub(crate) mod orders;

use crate::allocate::{self, Price};
use crate::pressure::{Body, FILES, excess, fits, peak};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Program};

/// Instructions up to which a function that fits is tried in other orders; making those takes quadratic time.
const TRIED: usize = 256;

/// Schedules every function of a program.
pub fn run(program: &Program) -> Program {
    let functions = program.functions.iter().map(|f| function(f, program.profile)).collect();
    Program { functions, ..*program }
}

/// Schedules one function.
pub fn function(f: &Function, profile: Profile) -> Function {
    let body = Body::new(f, profile);
    if body.bodies.is_some() {
        return f.clone();
    }
    let mut best = body.source.clone();
    let mut least = rank(&body, &best);
    if least.price.is_none_or(|price| price.extra > 0 && body.source.len() <= TRIED) {
        for order in orders::candidates(&body) {
            let rank = rank(&body, &order);
            if rank < least {
                (best, least) = (order, rank);
            }
        }
    }
    arrange(&body, &best)
}

/// How good an order is; less is better.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Registers lacking and needed; zero for what fits.
    excess: (u32, [u32; FILES]),
    /// What is paid in the allocated code; `None` for what does not fit.
    price: Option<Price>,
}

fn rank(body: &Body, order: &[u32]) -> Rank {
    let peak = peak(&body.needs(order));
    match fits(peak, body.profile) {
        true => Rank { excess: Default::default(), price: allocate::price(body, order) },
        false => Rank { excess: excess(peak, body.profile), price: None },
    }
}

/// The function in this order, its constants in front of their first readers.
fn arrange(body: &Body, order: &[u32]) -> Function {
    let mut loaded = vec![false; body.f.regs.len()];
    let mut insts = Vec::with_capacity(body.f.insts.len());
    let readers = order.iter().map(|&at| (Some(body.inst(at)), None));
    for (inst, last) in readers.chain([(None, body.f.result.map(|result| result.reg))]) {
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

#[cfg(test)]
mod tests;
