//! Lane moves on the machine: every amount and every lane, every one-rack shuffle of four lanes, and many others.

use crate::arguments::Effort;
use crate::machine::Bench;
use crate::support::plain;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use std::fmt::Write;

const EFFORT: Effort = Effort { tuples: 24, random: 24, uniforms: 2, calls: 12 };

const ELEMENTS: [&str; 3] = ["f32", "i32", "u32"];

/// Scratches of every lane move with every amount or lane.
fn amounts(lanes: usize) -> String {
    let mut text = String::new();
    for elem in ELEMENTS {
        let mut add = |name: String, params: String, result: String, body: String| {
            let _ = writeln!(text, "scratch {name}_{elem}({params}) -> {result}:\n  {body}\n");
        };
        let rack = format!("{elem}s");
        for name in ["shift_left", "shift_right", "rotate_left", "rotate_right"] {
            for n in 0..=lanes {
                add(format!("{name}_{n}"), format!("x: {rack}"), rack.clone(), format!("{name}(x, {n})"));
            }
        }
        for n in 0..lanes {
            add(format!("out_{n}"), format!("x: {rack}"), elem.into(), format!("extract(x, {n})"));
            let spread = format!("let <k: {elem}> = extract(x, {n})\n  <k>");
            add(format!("every_{n}"), format!("x: {rack}"), rack.clone(), spread);
            add(format!("in_{n}"), format!("x: {rack}, <k: {elem}>"), rack.clone(), format!("insert(x, {n}, <k>)"));
        }
        for name in ["zip_low", "zip_high", "unzip_even", "unzip_odd"] {
            add(name.into(), format!("x: {rack}, y: {rack}"), rack.clone(), format!("{name}(x, y)"));
            add(format!("{name}_same"), format!("x: {rack}"), rack.clone(), format!("{name}(x, x)"));
        }
    }
    text
}

/// Scratches of shuffles over one rack or two.
fn shuffles(lists: &[Vec<usize>], racks: usize) -> String {
    let mut text = String::new();
    for (at, list) in lists.iter().enumerate() {
        let elem = ELEMENTS[at % 3];
        let (params, args) = match racks {
            1 => (format!("x: {elem}s"), "x"),
            _ => (format!("x: {elem}s, y: {elem}s"), "x, y"),
        };
        let _ = writeln!(text, "scratch s{racks}_{at}({params}) -> {elem}s:\n  shuffle({args}, {list:?})\n");
    }
    text
}

/// Lists by a generator of full period (Knuth's MMIX constants).
fn lists(count: usize, lanes: usize, limit: usize) -> Vec<Vec<usize>> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    (0..count).map(|_| (0..lanes).map(|_| next()).collect()).collect()
}

/// How many shuffles of one rack and of two to try where there are too many for all.
fn counts(profile: Profile) -> [usize; 2] {
    match profile.lanes_of_bits(32) {
        1 => [1, 2],
        2..=4 => [0, 300],
        5..=8 => [150, 300],
        _ => [100, 150],
    }
}

fn lanes_move_on(profile: Profile) {
    let (lanes, counts) = (profile.lanes_of_bits(32), counts(profile));
    let mut bench = Bench::default();
    let mut programs = vec![("amounts", amounts(lanes))];
    let one = match lanes {
        4 => (0..256).map(|code| (0..4).map(|l| code >> (2 * l) & 3).collect()).collect(),
        _ => lists(counts[0], lanes, lanes),
    };
    programs.push(("one rack", shuffles(&one, 1)));
    programs.push(("two racks", shuffles(&lists(counts[1], lanes, 2 * lanes), 2)));
    for (name, text) in programs {
        if let Err(problems) = bench.add(name, &text, profile, FuseLevel::Full, EFFORT) {
            panic!("{name} on {profile}: {}", plain(&problems));
        }
    }
    bench.finish();
}

on_each_profile!(lanes_move_on, super::lanes_move_on);
