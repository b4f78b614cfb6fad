//! Every selection of the lanes of a rack, kept and replaced.

use crate::build::{Built, Layout};
use crate::world::{Slot, World, random};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::Place;

/// The column `pick` says which records are selected.
const PICKED: &str = "\
pack Row { u8: pick; f32: a; i16: b; u8: c; u32: d; }

run keep(r: stack Row) -> stack Row:
  compact r where widen(r.pick) = <1>

run change(r: stack Row, <k: f32>) -> stack Row:
  compact r with { a: r.a / <k>, c: widen(r.c) + r.d } where widen(r.pick) = <1>

run replace(r: stack Row, <k: f32>) -> stack Row:
  r with { a: r.a / <k>, b: widen(r.b) - <1>, c: <5>, d: widen(r.c) + r.d } where widen(r.pick) = <1>
";

/// Selections of more lanes than can all be tried.
const SOME: usize = 3000;

on_each!(every_selection, selections);

fn selections(profile: Profile) {
    let built = Built::new(PICKED, profile);
    let lanes = profile.lanes_of_bits(32);
    let mut bits = Bits::new(11 + profile as u64);
    let layouts: [Layout; 2] =
        [&|_| Place::BeforeGuard, &|thing| if thing % 2 == 0 { Place::AfterGuard } else { Place::Offset(thing) }];
    let mut patterns: Vec<Vec<bool>> = Vec::new();
    let whole = if lanes <= 8 { 1 << lanes } else { SOME };
    for pattern in 0..whole as u64 {
        let chosen = if lanes <= 8 { pattern } else { bits.u64() };
        patterns.push((0..lanes).map(|lane| chosen >> lane & 1 == 1).collect());
        // The same as a rest, and behind other racks.
        let longer = bits.below(6 * lanes);
        if pattern % 4 == 0 {
            let mut records: Vec<bool> = (0..longer).map(|_| bits.below(3) == 0).collect();
            records.extend((0..lanes).map(|lane| chosen >> lane & 1 == 1));
            records.truncate(records.len() - bits.below(lanes));
            patterns.push(records);
        }
    }
    // None, all, and few in many.
    for count in [1, lanes - 1, lanes, lanes + 1, 4 * lanes, 7 * lanes + 3] {
        for step in [1, 2, lanes, lanes + 1, usize::MAX] {
            patterns.push((0..count).map(|at| (at + 1) % step == 0).collect());
            patterns.push((0..count).map(|at| at % step == 0).collect());
        }
    }
    for number in 0..built.fused.functions.len() {
        let world = |picked: &Vec<bool>| {
            let mut value = |slot: Slot, elem: Elem| match slot {
                Slot::Element(_, 0, record) => u64::from(picked[record]),
                _ => random(elem, &mut bits),
            };
            (World::new(built.function(number), picked.len(), &mut value), layouts.to_vec())
        };
        let worlds: Vec<_> = patterns.iter().map(world).collect();
        built.agrees(number, &worlds);
    }
}
