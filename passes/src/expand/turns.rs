//! The steps of racks in flight by turns.
//!
//! A sequence is one long chain, of which a processor's scheduler sees little more than one: of chains behind each other the
//! second starts when the first is nearly done. By turns, each waits while the others are served.
//!
//! ```text
//! %8 : f32s = exp %4          %11 : f32s = mul %4, %10
//! %9 : f32s = exp %5    =>    %31 : f32s = mul %5, %10
//!                             %12 : f32s = add %11, %13
//!                             %32 : f32s = add %31, %13
//!                             ...
//! ```

use crate::select::rule::Target;
use crate::{allocate, sanitise, select, simplify};
use la_arena::Arena;
use rake_ir::fused::{Function, Region};
use rake_ir::lane::{Stmt, Value, ValueId};
use rake_ir::profile::Profile;

/// The most racks whose steps take turns; half as many where registers do not reach.
const MOST: usize = 4;

/// The operations right behind `first` that are the same one of the source in other racks: none waits for another.
/// No more than `most` with the first.
pub(super) fn twins(values: &Arena<Value>, first: ValueId, behind: &[Stmt<Region>], most: usize) -> Vec<ValueId> {
    let like = &values[first];
    let mut group = vec![first];
    for stmt in behind.iter().take(most - 1) {
        let Stmt::Value(id) = stmt else { break };
        let value = &values[*id];
        let waits = value.args.iter().chain(&value.mask).any(|arg| group.contains(arg));
        if (value.op, value.span, value.mask.is_some()) != (like.op, like.span, like.mask.is_some()) || waits {
            break;
        }
        group.push(*id);
    }
    group.split_off(1)
}

/// The steps of several sequences, each in its order, by turns.
pub(super) fn taken(sequences: Vec<Vec<ValueId>>) -> impl Iterator<Item = ValueId> {
    let longest = sequences.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(move |step| {
        let at: Vec<ValueId> = sequences.iter().filter_map(|steps| steps.get(step).copied()).collect();
        at
    })
}

/// The function expanded with as many racks' steps by turns as registers allow; none where no number fits.
pub(crate) fn most(f: &Function, profile: Profile, target: &dyn Target) -> Option<Function> {
    let in_a_run = f.body.iter().any(|stmt| matches!(stmt, Stmt::Open(_)));
    for turns in [MOST, MOST / 2] {
        let mut tried = f.clone();
        if !in_a_run || !super::function(&mut tried, profile, target, turns) {
            break;
        }
        if fits(&tried, profile, target) {
            return Some(tried);
        }
    }
    None
}

/// Whether a function gets by with the profile's registers, whoever takes turns.
pub(crate) fn any_fits(f: &Function, profile: Profile, target: &dyn Target) -> bool {
    most(f, profile, target).is_some() || {
        let mut apart = f.clone();
        super::function(&mut apart, profile, target, 1);
        fits(&apart, profile, target)
    }
}

/// The passes that follow try it.
fn fits(expanded: &Function, profile: Profile, target: &dyn Target) -> bool {
    if profile.info().rack_registers == 0 {
        return true;
    }
    let mut tried = expanded.clone();
    sanitise::function(&mut tried, profile);
    simplify::function(&mut tried);
    select::function(&tried, profile, target).is_ok_and(|chosen| allocate::function(&chosen, profile).is_ok())
}
