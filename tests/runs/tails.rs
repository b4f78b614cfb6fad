//! Every count from none to several racks in flight and a rest, with columns that end at a page that nobody can touch, or
//! begin right after one, or stand at any offset below a rack.

use crate::build::{Built, Layout};
use crate::programs::ALL;
use crate::world::World;
use rake_ir::profile::Profile;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::Place;

on_each!(every_count_and_place, counts);

fn counts(profile: Profile) {
    let lanes = profile.lanes_of_bits(32);
    let rack = profile.rack_bytes().max(16);
    let places: Vec<Box<dyn Fn(usize) -> Place>> = (0..rack + 3)
        .map(|turn| -> Box<dyn Fn(usize) -> Place> {
            match turn {
                0 => Box::new(|_| Place::BeforeGuard),
                1 => Box::new(|_| Place::AfterGuard),
                2 => Box::new(|thing| if thing % 2 == 0 { Place::BeforeGuard } else { Place::AfterGuard }),
                _ => Box::new(move |thing| Place::Offset((turn - 3 + 5 * thing) % rack)),
            }
        })
        .collect();
    let mut bits = Bits::new(profile as u64);
    for text in ALL {
        let built = Built::new(text, profile);
        for number in 0..built.fused.functions.len() {
            let mut worlds = Vec::new();
            for count in (0..=4 * lanes + 3).chain([9 * lanes + 5, 300]) {
                let layouts: Vec<Layout> = places.iter().map(|place| &**place as Layout).collect();
                worlds.push((World::random(built.function(number), count, &mut bits), layouts));
            }
            built.agrees(number, &worlds);
        }
    }
}
