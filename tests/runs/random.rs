//! Seeded runs, of stacks and general ones.

use crate::build::{Built, Layout};
use crate::support::{from_environment, ir_at, plain};
use crate::world::{Slot, World, random};
use rake_ir::capabilities::{Status, scatter};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Pointee};
use rake_testkit::source::random::{general, stacks};
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::{End, Place};

on_each!(random_runs, runs);

fn runs(profile: Profile) {
    let first = from_environment("RAKE_FIRST_SEED", 0);
    let programs = from_environment("RAKE_PROGRAMS", 40);
    let lanes = profile.lanes_of_bits(32);
    let mut refused = 0;
    for seed in first..first + programs {
        let text = stacks(seed, 1, profile.info().fma).text;
        if let Err(problems) = ir_at(&text, profile, FuseLevel::default(), "allocate") {
            // Some need more registers than there are; nothing else is refused.
            assert!(plain(&problems).contains("registers"), "{}\n{text}", plain(&problems));
            refused += 1;
            continue;
        }
        let built = Built::new(&text, profile);
        let mut bits = Bits::new(seed + 1000);
        let counts = (0..lanes + 2).chain([2 * lanes - 1, 4 * lanes, 4 * lanes + 1, 5 * lanes + 3, 100]);
        let offset = bits.below(64);
        let offsets = move |thing: usize| Place::Offset((offset + 13 * thing) % 64);
        let layouts: [Layout; 3] = [&|_| Place::BeforeGuard, &|_| Place::AfterGuard, &offsets];
        let world = |count| (World::random(built.function(0), count, &mut bits), layouts.to_vec());
        let worlds: Vec<_> = counts.map(world).collect();
        built.agrees(0, &worlds);
    }
    assert!(refused <= programs / 3, "{refused} of {programs} are refused");
}

on_each!(random_general_runs, general_runs);

fn general_runs(profile: Profile) {
    let first = from_environment("RAKE_FIRST_SEED", 0);
    let programs = from_environment("RAKE_PROGRAMS", 40);
    let lanes = profile.lanes_of_bits(32) as i64;
    let (mut refused, mut returned, mut trapped) = (0, 0, 0);
    for seed in first..first + programs {
        let text = general(seed, profile.info().fma, scatter(profile) == Status::Available).text;
        if let Err(problems) = ir_at(&text, profile, FuseLevel::default(), "allocate") {
            assert!(plain(&problems).contains("registers"), "{}\n{text}", plain(&problems));
            refused += 1;
            continue;
        }
        let built = Built::new(&text, profile);
        let number = built.fused.functions.iter().position(|function| function.name == "r").expect("the run");
        let mut bits = Bits::new(seed + 2000);
        let offset = bits.below(64);
        let offsets = move |thing: usize| Place::Offset((offset + 13 * thing) % 64);
        let layouts: [Layout; 3] = [&|_| Place::BeforeGuard, &|_| Place::AfterGuard, &offsets];
        let mut worlds = Vec::new();
        for n in [-3, 0, 1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3, 3 * lanes] {
            for enough in [true, true, false] {
                // An access that nothing checks is owed its elements.
                if enough || !text.contains("unchecked") {
                    worlds.push((viewed(&built, number, n, enough, &mut bits), layouts.to_vec()));
                }
            }
        }
        for out in built.agrees(number, &worlds) {
            *(if matches!(out.end, End::Trap(_)) { &mut trapped } else { &mut returned }) += 1;
        }
    }
    assert!(refused <= programs / 3, "{refused} of {programs} are refused");
    let executed = returned + trapped;
    assert!(executed == 0 || returned > executed / 3 && trapped > executed / 20, "{trapped} of {executed} trap");
}

/// Views of `n` and a few more elements, or of any number; now and then two of them are the same.
fn viewed(built: &Built, number: usize, n: i64, enough: bool, bits: &mut Bits) -> World {
    let function = built.function(number);
    let lanes = built.fused.profile.lanes_of_bits(32);
    let more: Vec<usize> = function.params.iter().map(|_| bits.below(2 * lanes + 10)).collect();
    let count = |parameter: usize| {
        let least = (n.max(0) as usize).max(16);
        if enough { least + [0, 2 * lanes + 9, more[parameter]][more[parameter] % 3] } else { 2 * more[parameter] }
    };
    let mut value = |slot: Slot, elem: Elem| match slot {
        Slot::Number(parameter) => match function.params[parameter].name.as_str() {
            "n" => n as u64,
            // Now and then a step that traps.
            "s" => bits.below(24).clamp(1, 7).saturating_sub(usize::from(bits.below(12) == 0)) as u64,
            "k" => bits.below(7) as u64,
            _ => random(elem, bits),
        },
        // Numbers that choose elements, among others.
        Slot::Element(..) if elem != Elem::F32 && bits.below(3) > 0 => bits.below(8) as u64,
        Slot::Element(..) => random(elem, bits),
    };
    let mut world = World::with_counts(function, &count, &mut value);
    let views = |elem: Elem| {
        let same = function.params.iter().enumerate();
        let of = move |param: &rake_ir::lane::Param| matches!(&param.points_to, Some(Pointee::View { elem: of, .. }) if *of == elem);
        same.filter(move |(_, param)| of(param)).map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let of = [Elem::F32, Elem::I32, Elem::U32].map(views);
    let of = &of[bits.below(3)];
    if let (&[one, .., other], 0) = (&of[..], bits.below(3)) {
        // Where it is written, the last one is.
        world.passed[one] = world.passed[other];
        world.passed[one + 1] = world.passed[other + 1];
    }
    world
}
