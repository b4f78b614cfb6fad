//! General runs: loops over views, tail forms, checks that trap before they touch memory, gathers,
//! scatters.

use crate::build::{Built, Layout};
use crate::programs::{GATHERS, LOOPS, MOVED, NUMBERS, PART, SCATTERS};
use crate::support::{ir_at, plain};
use crate::world::{Slot, World, random};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::{End, Out, Place};

const LAYOUTS: [Layout; 3] = [&|_| Place::BeforeGuard, &|_| Place::AfterGuard, &|thing| Place::Offset(4 * thing + 1)];

on_each!(loops_over_views, loops);

fn loops(profile: Profile) {
    let built = Built::new(LOOPS, profile);
    for number in 0..built.fused.functions.len() {
        let outs = each_count(&built, number);
        let trapped = outs.iter().filter(|out| matches!(out.end, End::Trap(_))).count();
        assert!(outs.is_empty() || trapped > 0 && trapped < outs.len(), "{trapped} of {} trap", outs.len());
    }
}

on_each!(numbers_decide, numbers);

fn numbers(profile: Profile) {
    let built = Built::new(NUMBERS, profile);
    (0..built.fused.functions.len()).for_each(|number| drop(each_count(&built, number)));
}

/// Runs a function of two views and a number on every count and on numbers around it.
fn each_count(built: &Built, number: usize) -> Vec<Out> {
    let lanes = built.fused.profile.lanes_of_bits(32);
    let mut bits = Bits::new(21 + built.fused.profile as u64);
    let mut worlds = Vec::new();
    for count in 0..=3 * lanes + 3 {
        for n in [count as i64, count as i64 - 1, count as i64 + 1, lanes as i64, 0, -3] {
            for (x, out) in [(count, count), (count + lanes, count + 1)] {
                let counts = |parameter: usize| if parameter == 0 { x } else { out };
                let mut value = |slot: Slot, elem: Elem| match slot {
                    Slot::Number(_) => n as u64,
                    Slot::Element(..) => random(elem, &mut bits),
                };
                let world = World::with_counts(built.function(number), &counts, &mut value);
                worlds.push((world, LAYOUTS.to_vec()));
            }
        }
    }
    built.agrees(number, &worlds)
}

on_each!(bounds_far_apart, far_apart);

fn far_apart(profile: Profile) {
    let built = Built::new(PART, profile);
    let ends = [i32::MIN, i32::MIN + 2, -9, -1, 0, 1, 3, 4, 5, i32::MAX - 1, i32::MAX];
    let mut worlds = Vec::new();
    for (i, n) in ends.iter().flat_map(|&i| ends.map(|n| (i, n))) {
        let mut value = |slot: Slot, _: Elem| match slot {
            Slot::Number(4) => i as u64,
            Slot::Number(_) => n as u64,
            Slot::Element(parameter, _, record) => (10 * parameter + record) as u64,
        };
        worlds.push((World::new(built.function(0), 4, &mut value), LAYOUTS.to_vec()));
    }
    built.agrees(0, &worlds);
}

on_each!(gathers_of_active_lanes, gathers);

fn gathers(profile: Profile) {
    let built = Built::new(GATHERS, profile);
    let lanes = profile.lanes_of_bits(32);
    let mut bits = Bits::new(22 + profile as u64);
    for number in 0..built.fused.functions.len() {
        let mut worlds = Vec::new();
        for count in 0..=3 * lanes + 3 {
            for (elements, wrong) in [(1, 0), (7, 0), (40, 0), (7, 1), (7, 7), (0, 0)] {
                let strange = [99, -1, i64::from(i32::MIN), elements, i64::from(i32::MAX)];
                let mut value = |slot: Slot, elem: Elem| match slot {
                    // One index in many is wrong, or the one that is left out.
                    Slot::Element(0, 0, _) if wrong > 0 && bits.below(40) < wrong => strange[bits.below(5)] as u64,
                    Slot::Element(0, 0, _) if bits.below(4) == 0 && number < 2 => 99,
                    Slot::Element(0, 0, _) => bits.below(elements as usize) as u64,
                    _ => random(elem, &mut bits),
                };
                let counts = |parameter: usize| if parameter == 0 { count } else { elements as usize };
                let world = World::with_counts(built.function(number), &counts, &mut value);
                worlds.push((world, LAYOUTS.to_vec()));
            }
        }
        built.agrees(number, &worlds);
    }
}

on_each!(indices_that_memory_holds_no_more, moved);

fn moved(profile: Profile) {
    let built = Built::new(MOVED, profile);
    let mut bits = Bits::new(23 + profile as u64);
    let worlds = (0..=5 * profile.lanes_of_bits(32)).map(|count| {
        let mut value = |slot: Slot, elem: Elem| match slot {
            Slot::Number(_) => count as u64,
            Slot::Element(0, ..) => bits.below(9) as u64,
            _ => random(elem, &mut bits),
        };
        let counts = |parameter: usize| if parameter == 0 { count } else { 9 };
        (World::with_counts(built.function(0), &counts, &mut value), LAYOUTS.to_vec())
    });
    built.agrees(0, &worlds.collect::<Vec<_>>());
}

on_each!(scatters_of_whole_racks, scatters);

fn scatters(profile: Profile) {
    if profile != Profile::X86Avx512 {
        let refused = ir_at(SCATTERS, profile, FuseLevel::default(), "typecheck").map(|_| ()).map_err(|e| plain(&e));
        let said = format!("a scatter cannot be compiled on {profile}");
        assert_eq!(refused.expect_err("refused").matches(&said).count(), 6);
        return;
    }
    let built = Built::new(SCATTERS, profile);
    let mut bits = Bits::new(23);
    for number in 0..built.fused.functions.len() {
        let (mut worlds, mut trapped) = (Vec::new(), 0);
        for n in [0usize, 1, 15, 16, 17, 32, 48, 64] {
            for (elements, wrong) in [(16, 0), (16, 1), (17, 0), (40, 0), (40, 1), (40, 2)] {
                let mut indices = permutations(n.div_ceil(16) * 16, elements, &mut bits);
                if let (Some(one), true) = (indices.get_mut(bits.below(64)), wrong > 0) {
                    // One that another lane of its rack may have, or that is outside.
                    *one =
                        if wrong == 1 { bits.below(elements) as u64 } else { [u64::MAX, 1 << 31, 40][bits.below(3)] };
                }
                let counts = |parameter: usize| if parameter == 4 { elements } else { indices.len().max(16) };
                let mut value = |slot: Slot, elem: Elem| match slot {
                    Slot::Number(_) => n as u64,
                    Slot::Element(0, _, record) => indices.get(record).copied().unwrap_or(record as u64),
                    _ => random(elem, &mut bits),
                };
                worlds.push((World::with_counts(built.function(number), &counts, &mut value), LAYOUTS.to_vec()));
            }
        }
        let outs = built.agrees(number, &worlds);
        outs.iter().for_each(|out| trapped += usize::from(matches!(out.end, End::Trap(_))));
        let never = built.function(number).name == "last";
        assert!(outs.is_empty() || (trapped == 0) == never && trapped < outs.len() / 2, "{trapped} of {}", outs.len());
    }
}

/// So many numbers of elements; each sixteen of them differ.
fn permutations(count: usize, elements: usize, bits: &mut Bits) -> Vec<u64> {
    let mut all: Vec<u64> = (0..elements as u64).collect();
    let mut found = Vec::new();
    while found.len() < count {
        (1..elements).rev().for_each(|at| all.swap(at, bits.below(at + 1)));
        found.extend(&all[..16]);
    }
    found
}
