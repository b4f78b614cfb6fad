//! How many racks one trip of a loop deals with.
//!
//! Short bodies go several at once because the loop's own instructions are then shared. Of long ones a processor sees only a
//! part at a time; where their operations wait for each other more than they work, several racks take turns. The passes that
//! follow say whether the registers reach; if not, fewer racks are tried.
//!
//! ```text
//! sqrt(x * x + y * y)               4 racks: five short instructions
//! 16 steps of z * z + c             2 racks on AVX2, 4 on AVX-512: each step waits for the one before
//! ```

use crate::select::rule::Target;
use crate::{expand, transpose};
use la_arena::Arena;
use rake_ir::cost;
use rake_ir::fused::{Function, Region};
use rake_ir::lane::{Stmt, Value, ValueId};
use rake_ir::ops::{FpClass, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Ty;
use std::collections::HashMap;

/// Instructions that a trip's racks have together, where they only share the loop's own.
const SHORT: usize = 64;

/// Instructions among which a processor finds what can be executed; reorder buffers have 224 to 512 entries (Skylake, Golden
/// Cove), schedulers, which hold what waits, 97 to 200.
const WINDOW: usize = 160;

/// The most racks in flight, and the most instructions that they come to.
const MOST_RACKS: usize = 4;
const MOST_INSTRUCTIONS: usize = 1500;

/// About how many steps a published sequence has.
const SEQUENCE: usize = 36;

/// The racks in flight that a body would like; a power of two.
pub(super) fn wanted(values: &Arena<Value>, stmts: &[&Stmt<Region>], profile: Profile) -> usize {
    let ids: Vec<ValueId> = stmts
        .iter()
        .flat_map(|stmt| match stmt {
            Stmt::Value(id) => std::slice::from_ref(id),
            Stmt::Region(region) => &region.values,
            _ => &[],
        })
        .copied()
        .collect();
    // C compilers unroll by themselves.
    if profile.info().rack_bits == 0 {
        return 1;
    }
    let size: usize = ids.iter().map(|&id| instructions(&values[id])).sum::<usize>().max(1);
    let short = (SHORT / size).clamp(1, MOST_RACKS);
    let (path, work) = costs(values, &ids, profile);
    // As many as are needed to fill the waiting twice, since no order is the ideal one, less those that the processor overlaps
    // by itself; none when one rack fills it.
    let waiting = path as usize * size / (work as usize).max(1) / WINDOW.max(size);
    let filled = if waiting > 1 { 2 * waiting } else { 1 };
    // Of a sequence no step overlaps the next: several racks take turns in it, however short it is.
    let chained = ids.iter().any(|&id| values[id].op.info().fp == FpClass::Sequence);
    let wanted = match size > WINDOW / 2 {
        _ if chained => MOST_RACKS,
        true => filled.clamp(1, MOST_RACKS),
        false => short,
    };
    1 << wanted.min(MOST_INSTRUCTIONS / size).max(1).ilog2()
}

/// The racks in flight whose ordered scans are computed across them: as many as a rack has lanes.
pub(super) fn across(values: &Arena<Value>, stmts: &[&Stmt<Region>], profile: Profile) -> Option<usize> {
    stmts.iter().find_map(|stmt| match stmt {
        Stmt::Value(id) => {
            let value = &values[*id];
            transpose::ordered_step(value.op, value.ty).map(|_| profile.lanes(value.ty.elem()))
        }
        _ => None,
    })
}

/// About how many instructions a value is.
fn instructions(value: &Value) -> usize {
    match value.op {
        Op::Const | Op::Splat => 0,
        op if op.info().fp == FpClass::Sequence => SEQUENCE,
        _ => 1,
    }
}

/// The longest path through a body and the sum of what it asks of the machine, in hundredths of cycles.
fn costs(values: &Arena<Value>, ids: &[ValueId], profile: Profile) -> (u32, u32) {
    let mut ready: HashMap<ValueId, u32> = HashMap::new();
    let (mut path, mut work) = (0, 0);
    for &id in ids {
        let value = &values[id];
        let of = value.args.first().map_or(value.ty, |&arg| values[arg].ty);
        let cost = if of == Ty::Address { Default::default() } else { cost::cost(value.op, of, profile) };
        let start = value.args.iter().filter_map(|arg| ready.get(arg)).max().copied().unwrap_or(0);
        ready.insert(id, start + cost.latency);
        path = path.max(start + cost.latency);
        work += cost.throughput;
    }
    (path, work)
}

/// The next number of racks to try where so many find no registers.
pub(super) const fn fewer(racks: usize) -> usize {
    if racks <= MOST_RACKS { racks - 1 } else { racks / 2 }
}

/// Whether a function with so many racks in flight gets by with the profile's registers: the passes that follow try it.
pub(super) fn fits(f: &Function, profile: Profile, target: &dyn Target, racks: usize) -> bool {
    let mut tried = f.clone();
    super::with_racks(&mut tried, profile, racks);
    transpose::function(&mut tried, profile);
    expand::turns::any_fits(&tried, profile, target)
}
