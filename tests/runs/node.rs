//! Runs in another engine than the one that makes all calls.

use crate::build::{Built, Layout, check};
use crate::modules::call_in_node;
use crate::programs::ALL;
use crate::world::World;
use rake_ir::profile::Profile;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::Place;

/// Counts with whole racks and without, several in flight and not.
const COUNTS: [usize; 6] = [0, 1, 3, 4, 17, 41];
const LAYOUTS: [Layout; 2] = [&|_| Place::BeforeGuard, &|thing| Place::Offset(thing + 1)];

#[test]
fn node_agrees() {
    for profile in [Profile::WasmSimd128, Profile::WasmSimd128Relaxed] {
        let mut bits = Bits::new(31 + profile as u64);
        for text in ALL {
            let built = Built::new(text, profile);
            let module = built.module.as_ref().expect("a module");
            for function in &built.fused.functions {
                let worlds: Vec<World> =
                    COUNTS.iter().map(|&count| World::random(function, count, &mut bits)).collect();
                let calls: Vec<_> =
                    worlds.iter().flat_map(|world| LAYOUTS.map(|layout| world.call(layout, profile))).collect();
                let outs = call_in_node(module, &function.name, &calls).unwrap_or_else(|e| panic!("{e}\n{text}"));
                for (at, out) in outs.iter().enumerate() {
                    let world = &worlds[at / LAYOUTS.len()];
                    let right = check(world, &world.evaluated(&built.fused, &function.name), out);
                    right.unwrap_or_else(|problem| panic!("{} on {profile}: {problem}\n{text}", function.name));
                }
            }
        }
    }
}
