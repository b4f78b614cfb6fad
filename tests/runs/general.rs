//! General runs: loops over views, tail forms, checks that trap before they touch memory, gathers.

use crate::build::{Built, Layout};
use crate::world::{Slot, World, random};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::{End, Out, Place};

/// Loops that stop at `n`, whatever the views hold.
const LOOPS: &str = "\
run sums(x: []f32, out: mut []f32, <n: i32>):
  total := <0.0>
  for <i: i32> from <0> up to <n> by <lanes>:
    total <- total + x[<i> up to <n>]
    out[<i> up to <n>] <- total

run firsts(x: []i32, out: mut []i32, <n: i32>):
  last := <-1>
  for <i: i32> from <0> up to <n> by <lanes>:
    if <i> > <5>:
      last <- x[<i> up to <n>]
    else:
      last <- last + <x[i]>
    out[<i> up to <n>] <- last

run twice(x: []u32, out: mut []u32, <n: i32>):
  for <i: i32> from <0> up to <n> by <lanes>:
    out[<i>] <- x[<i>] + x[<i>]

run thirds(x: []f32, out: mut []f32, <n: i32>):
  for <i: i32> from <0> up to <n> by <3>:
    out[<i> up to <n>] <- x[<i> up to <n>] * 2.0

run both(x: []f32, out: mut []f32, <n: i32>):
  for <i: i32> from <-2> up to <n> by <lanes>:
    out[<i> + <2> up to <n>] <- x[<i> + <1> up to <n> - <1>] + 1.0

run ends(x: []f32, out: mut []f32, <n: i32>):
  out[<0> up to <n>] <- x[<0> up to <n>] * <x[n-1]>
";

/// Numbers, truths and choices that no lane holds. On one lane no access is out of range.
const NUMBERS: &str = "\
run numbers(x: []i32, out: mut []i32, <n: i32>):
  let <a: i32> = <n> * <3> - <7>
  let <c: i32> = if <a> > <n> then <n> else <a>
  let <h: i32> = abs(bit_xor(<c>, <n>))
  let <m: i32> = min(<h>, <n>)
  if <m> < <h> and <n> >= <2>:
    out[<0> up to <n>] <- x[<0> up to <n>] * <m>
  for <i: i32> from <m> up to <c> by <7>:
    if <i> = <21> or <h> > <9>:
      out[<i> up to <n>] <- x[<i> up to <n>] + <h>
";

/// Bounds that differ by more than 32 bits hold.
const PART: &str = "\
run part(x: []f32, out: mut []f32, <i: i32>, <n: i32>):
  out[<i> up to <n>] <- x[<i> up to <n>]
";

/// Elements by number.
const GATHERS: &str = "\
pack P { i32: at; f32: x; }

run look(p: stack P, table: []f32) -> stack P:
  p with { x: table[p.at] } where p.at != <99>

run all(p: stack P, table: []f32, <k: f32>) -> stack P:
  let t = table[p.at]
  p with { x: t * <k> + p.x }
";

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
    each_count(&Built::new(NUMBERS, profile), 0);
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

/// Of the profiles that have an instruction for it.
#[test]
fn gathers_of_active_lanes() {
    [Profile::X86Avx2, Profile::X86Avx512, Profile::Scalar].into_iter().for_each(gathers);
}

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
                    Slot::Element(0, 0, _) if bits.below(4) == 0 && number == 0 => 99,
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
