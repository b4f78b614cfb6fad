//! Lanes without a record, and records that are not selected, raise no floating-point exception.

use crate::build::{Built, Layout};
use crate::world::{Slot, World};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_testkit::special::F32;
use rake_testkit::x86::runs::Place;

/// Each raises something on zeros, which is what lanes without a record read.
const EVERY_RECORD: &str = "\
pack P { f32: x, y; u8: k; }

run quotients(p: stack P, <one: f32>) -> stack P:
  p with { x: <one> / p.x }

run ratios(p: stack P, <one: f32>) -> stack P:
  p with { x: p.x / p.y, y: <one> / to_f32(widen(p.k)) }

run logarithms(p: stack P, <one: f32>) -> stack P:
  p with { y: log(p.x) }

run roots(p: stack P, <one: f32>) -> stack P:
  p with { y: sqrt(p.x - <one>) }

run shifted(p: stack P, <one: f32>) -> stack P:
  | r <| (p.x + <one>) / (p.x * p.y)
  p with { y: r }
";

/// Each raises something on records that are not selected, and on zeros.
const SELECTED: &str = "\
pack P { f32: x, y; u8: k; }

run quotients(p: stack P, <one: f32>) -> stack P:
  p with { x: <one> / p.y } where widen(p.k) > <0>

run roots(p: stack P, <one: f32>) -> stack P:
  p with { x: sqrt(p.y) + p.x / p.y } where widen(p.k) > <0>

run logarithms(p: stack P, <one: f32>) -> stack P:
  p with { y: log(p.y) * p.x } where widen(p.k) > <0>

run kept(p: stack P, <one: f32>) -> stack P:
  compact p with { x: <one> / p.y, y: sqrt(p.y) } where widen(p.k) > <0>
";

const LAYOUTS: [Layout; 2] = [&|_| Place::BeforeGuard, &|thing| Place::Offset(thing)];

/// Powers of two, so that nothing is inexact: 1, 2, 4 or 8.
fn quiet(record: usize) -> u64 {
    u64::from(((1 << (record % 4)) as f32).to_bits())
}

on_each!(lanes_without_a_record, tails);

fn tails(profile: Profile) {
    let built = Built::new(EVERY_RECORD, profile);
    let lanes = profile.lanes_of_bits(32);
    for number in 0..built.fused.functions.len() {
        let name = built.function(number).name.as_str();
        let mut value = |slot: Slot, elem: Elem| match (slot, elem) {
            (Slot::Number(_), _) => u64::from(1.0f32.to_bits()),
            // Differences and logarithms of one are exact.
            (Slot::Element(_, 0, _), _) if ["roots", "logarithms", "shifted"].contains(&name) => {
                u64::from(1.0f32.to_bits())
            }
            (Slot::Element(_, _, record), Elem::U8) => 1 << (record % 8),
            (Slot::Element(_, _, record), _) => quiet(record),
        };
        let world = |count| (World::new(built.function(number), count, &mut value), LAYOUTS.to_vec());
        let worlds: Vec<_> = (0..=4 * lanes + 3).map(world).collect();
        for (call, out) in built.agrees(number, &worlds).iter().enumerate() {
            assert_eq!(out.flags(), 0, "{name} on {profile}, {} records", call / LAYOUTS.len());
        }
    }
}

on_each!(records_that_are_not_selected, selections);

fn selections(profile: Profile) {
    let built = Built::new(SELECTED, profile);
    let lanes = profile.lanes_of_bits(32);
    for number in 0..built.fused.functions.len() {
        let name = built.function(number).name.as_str();
        let mut worlds = Vec::new();
        for count in 0..=4 * lanes + 3 {
            for pattern in [0_usize, 0x5555_5555, 0x9249_2492, 0x1248_1248] {
                let picked = |record: usize| pattern >> (record % 32) & 1 == 1;
                let mut value = |slot: Slot, elem: Elem| match (slot, elem) {
                    (Slot::Number(_), _) => u64::from(1.0f32.to_bits()),
                    (Slot::Element(_, _, record), Elem::U8) => u64::from(picked(record)),
                    (Slot::Element(_, _, record), _) if picked(record) => u64::from(1.0f32.to_bits()),
                    (Slot::Element(_, column, record), _) => {
                        u64::from(F32[(record * 7 + column * 3 + pattern + count) % F32.len()])
                    }
                };
                worlds.push((World::new(built.function(number), count, &mut value), LAYOUTS.to_vec()));
            }
        }
        for (call, out) in built.agrees(number, &worlds).iter().enumerate() {
            assert_eq!(out.flags(), 0, "{name} on {profile}, {:?}", worlds[call / LAYOUTS.len()].0);
        }
    }
}
