//! `allocate` (selected → allocated): a register for each value, without spills.
//!
//! A straight line's live ranges are intervals, so going once from front to back and giving each value a free register
//! succeeds exactly when no place needs more registers than there are. What is needed is known beforehand
//! (`pressure.rs`); the choices are which constants stay in registers ([`residence`]), which operand a two-address
//! instruction overwrites and which form of a multiply-add that takes ([`assign`]). A copy is made only where every operand
//! that could be overwritten is still read later. When the order does not fit, the orders that `schedule` knows are tried
//! again; then masks that find no mask register are kept in racks ([`park`]) and cheap values are computed again where they
//! are needed ([`rematerialise`]); and only then is the definition rejected ([`reject`]).
//!
//! ```text
//! %3 : v = load literal 0
//! %4 : v = fmadd213ps %1, %3, %0     =>    v0 = fmadd231ps v0, v1, literal 0
//! result %4                                ret
//! ```

mod assign;
mod park;
mod reject;
mod reload;
mod rematerialise;
mod residence;
mod shorten;

use crate::pressure::{Body, excess, peak};
use crate::schedule::orders;
use rake_ir::allocated::{Function, Program};
use rake_ir::diag::Diagnostic;
use rake_ir::limits::RELIEFS;
use rake_ir::machine::Kind;
use rake_ir::profile::Profile;
use rake_ir::selected;
use std::collections::BTreeSet;

/// Allocates every function of a program.
///
/// # Errors
/// The definitions that do not fit the profile's registers.
pub fn run(program: &selected::Program) -> Result<Program, Vec<Diagnostic>> {
    let mut functions = Vec::with_capacity(program.functions.len());
    let mut errors = Vec::new();
    for f in &program.functions {
        match function(f, program.profile) {
            Ok(f) => functions.push(f),
            Err(error) => errors.push(error),
        }
    }
    let (profile, fuse) = (program.profile, program.fuse);
    if errors.is_empty() { Ok(Program { profile, fuse, functions }) } else { Err(errors) }
}

/// Allocates one function.
///
/// # Errors
/// When it does not fit the profile's registers, with the place where it needs most.
pub fn function(f: &selected::Function, profile: Profile) -> Result<Function, Diagnostic> {
    let body = Body::new(f, profile);
    if body.bodies.is_some() {
        let again = || {
            let f = reload::relieve(f, profile)?;
            let body = Body::new(&f, profile);
            attempt(&body, &body.source)
        };
        let found = attempt(&body, &body.source).or_else(again);
        return found.ok_or_else(|| reject::diagnostic(&body, &body.source));
    }
    let best = match fitting(&body) {
        Ok(done) => return Ok(done),
        Err(best) => best,
    };
    let mut starts = vec![best.clone()];
    for order in std::iter::once(body.source.clone()).chain(orders::candidates(&body)) {
        if !starts.contains(&order) {
            starts.push(order);
        }
    }
    let mut left = RELIEFS;
    match starts.iter().find_map(|order| relieved(&body, order, &mut left)) {
        Some(done) => Ok(done),
        None => Err(reject::diagnostic(&body, &best)),
    }
}

/// The function in an order that does not fit as it is, with masks parked in racks and values computed again until it
/// fits.
fn relieved(body: &Body, order: &[u32], left: &mut usize) -> Option<Function> {
    let relieve = |body: &Body, order: &[u32]| match park::relieve(body, order) {
        Some(f) => Some(f),
        None => rematerialise::relieve(body, order),
    };
    let mut next = relieve(body, order);
    while let Some(more) = left.checked_sub(1) {
        *left = more;
        let f = next?;
        let body = Body::new(&f, body.profile);
        if let Some(done) = attempt(&body, &body.source) {
            return Some(done);
        }
        next = relieve(&body, &body.source);
    }
    None
}

/// The function in the first order that fits, or the order that lacks least.
fn fitting(body: &Body) -> Result<Function, Vec<u32>> {
    if let Some(done) = attempt(body, &body.source) {
        return Ok(done);
    }
    let badness = |order: &[u32]| excess(peak(&body.needs(order)), body.profile);
    let mut best = (badness(&body.source), body.source.clone());
    for order in orders::candidates(body) {
        if let Some(done) = attempt(body, &order) {
            return Ok(done);
        }
        let lacking = badness(&order);
        if lacking < best.0 {
            best = (lacking, order);
        }
    }
    Err(best.1)
}

/// What an order comes to in allocated code; less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Price {
    /// Instructions.
    pub instructions: usize,
    /// Hundredths of cycles, by throughput.
    pub throughput: u32,
    /// Among the instructions, the copies and the repeated loads of constants: what another order might not need.
    pub extra: usize,
}

/// The price of an order; `None` when it does not fit.
pub(crate) fn price(body: &Body, order: &[u32]) -> Option<Price> {
    let f = attempt(body, order)?;
    let count = |kind| f.insts.iter().filter(|i| i.op.info().kind == kind).count();
    let loaded = f.insts.iter().filter(|i| i.op.info().kind == Kind::Const);
    let distinct: BTreeSet<_> = loaded.map(|i| (i.op, i.args.first())).collect();
    let throughput = f.insts.iter().map(|i| u32::from(i.op.cost(body.profile).throughput)).sum();
    let extra = count(Kind::Move) + count(Kind::Const) - distinct.len();
    Some(Price { instructions: f.insts.len(), throughput, extra })
}

fn attempt(body: &Body, order: &[u32]) -> Option<Function> {
    let needs = body.needs(order);
    if !body.fits(peak(&needs)) {
        return None;
    }
    let residence = residence::choose(body, order, needs);
    assign::run(body, order, &residence).map(|f| shorten::run(f, body.profile))
}

#[cfg(test)]
mod tests;
