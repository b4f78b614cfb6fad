//! Seeded stack runs.

use crate::build::{Built, Layout};
use crate::support::{from_environment, ir_at, plain};
use crate::world::World;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::source::random::stacks;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::Place;

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
