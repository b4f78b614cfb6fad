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

/// The operations right behind `first` that are the same, most often in other racks, none of which waits for another. No more
/// than `most` with the first.
pub(super) fn twins(values: &Arena<Value>, first: ValueId, behind: &[Stmt<Region>], most: usize) -> Vec<ValueId> {
    let like = &values[first];
    let mut group = vec![first];
    for stmt in behind.iter().take(most - 1) {
        let Stmt::Value(id) = stmt else { break };
        let value = &values[*id];
        let waits = value.args.iter().chain(&value.mask).any(|arg| group.contains(arg));
        if (value.op, value.ty, value.mask.is_some()) != (like.op, like.ty, like.mask.is_some()) || waits {
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
    simplify::function(&mut tried, profile);
    select::function(&tried, profile, target).is_ok_and(|chosen| allocate::function(&chosen, profile).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::rule::NoRules;
    use rake_ir::fused;
    use rake_ir::ops::Op;

    fn function(body: &str) -> Function {
        let text = format!(
            "rake fused 1\nprofile x86-avx2\nfuse full\nscratch f(x: f32s, y: f32s) -> f32s {{\n\
             %0 : f32s = param 0\n%1 : f32s = param 1\n{body}\n}}\n"
        );
        fused::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}")).functions.remove(0)
    }

    /// The operations of a body, each with the rack that its first operand comes from: 0 from the first parameter, 1 from the second.
    fn racks(f: &Function) -> Vec<(Op, usize)> {
        let mut of: std::collections::HashMap<ValueId, usize> = std::collections::HashMap::new();
        let mut found = Vec::new();
        for id in f.order() {
            let value = &f.values[id];
            let rack = match value.op {
                Op::Param => Some(of.len()),
                _ => value.args.iter().find_map(|arg| of.get(arg).copied()),
            };
            if let Some(rack) = rack {
                of.insert(id, rack);
                found.push((value.op, rack));
            }
        }
        found.split_off(2)
    }

    #[test]
    fn steps_of_twins_alternate() {
        let mut f = function("%2 : f32s = exp %0\n%3 : f32s = exp %1\n%4 : f32s = add %2, %3\nreturn %4");
        assert!(super::super::function(&mut f, Profile::X86Avx2, &NoRules, MOST));
        let steps = racks(&f);
        // Each step of one rack stands beside the same of the other, so no step waits for the one before it.
        let (sum, pairs) = steps.split_last().expect("steps");
        assert_eq!(sum.0, Op::Add);
        assert!(pairs.len() > 40, "{pairs:?}");
        for pair in pairs.chunks(2) {
            assert_eq!((pair[0].0, pair[0].1, pair[1].1), (pair[1].0, 0, 1), "{pairs:?}");
        }
    }

    #[test]
    fn a_chain_has_no_twins() {
        let mut f = function("%2 : f32s = exp %0\n%3 : f32s = exp %2\n%4 : f32s = add %3, %1\nreturn %4");
        assert!(!super::super::function(&mut f, Profile::X86Avx2, &NoRules, MOST));
    }

    #[test]
    fn no_more_than_asked_take_turns() {
        let body = "%2 : f32s = exp %0\n%3 : f32s = exp %1\n%4 : f32s = exp %0\n%5 : f32s = add %2, %3\n\
                    %6 : f32s = add %4, %5\nreturn %6";
        let f = function(body);
        let order: Vec<ValueId> = f.order().collect();
        let behind: Vec<Stmt<Region>> = order[3..].iter().copied().map(Stmt::Value).collect();
        assert_eq!(twins(&f.values, order[2], &behind, 4), order[3..5]);
        assert_eq!(twins(&f.values, order[2], &behind, 2), order[3..4]);
        assert!(twins(&f.values, order[2], &behind, 1).is_empty());
    }

    #[test]
    fn steps_left_over_follow() {
        let id = |n: u32| ValueId::from_raw(n.into());
        let taken: Vec<ValueId> = taken(vec![vec![id(0), id(1), id(2)], vec![id(3)]]).collect();
        assert_eq!(taken, [0, 3, 1, 2].map(id));
    }
}
