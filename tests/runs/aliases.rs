//! The same stack as result and as another argument: the same descriptor, or two descriptors of the same columns.

use crate::build::{Built, Layout};
use crate::programs::TWO;
use crate::world::{Passed, World};
use rake_ir::profile::Profile;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::Place;

on_each!(results_may_be_other_arguments, aliases);

fn aliases(profile: Profile) {
    let built = Built::new(TWO, profile);
    let mut bits = Bits::new(7 + profile as u64);
    let lanes = profile.lanes_of_bits(32);
    let layouts: [Layout; 2] = [&|_| Place::BeforeGuard, &|thing| Place::Offset(4 * thing)];
    for name in ["across", "nearer"] {
        let number = built.fused.functions.iter().position(|function| function.name == name).expect("a run");
        let mut worlds = Vec::new();
        for count in 0..=5 * lanes {
            let apart = World::random(built.function(number), count, &mut bits);
            let (result, other) = (apart.descriptor(0), apart.descriptor(1));
            // One descriptor twice.
            let mut one = apart.clone();
            one.passed[1] = Passed::Thing(result);
            worlds.push((one, layouts.to_vec()));
            // Two descriptors; the other one is only read.
            let mut two = apart.clone();
            two.things[other].columns = two.things[result].columns.clone();
            // A compaction gives the result fewer records than the other stack has.
            if name == "across" {
                worlds.push((two, layouts.to_vec()));
            }
            worlds.push((apart, layouts.to_vec()));
        }
        built.agrees(number, &worlds);
    }
}
