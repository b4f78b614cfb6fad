//! Every mask there is at a profile's width, through everything that reads a mask as a whole.

use crate::arguments::{Raw, encode};
use crate::engine::isa;
use crate::support::{object, plain};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_testkit::link_elf;
use rake_testkit::special::Bits;
use rake_testkit::x86::{Out, run};

const PROGRAM: &str = "\
scratch word(m: mask, x: f32s, p: f32s) -> u32:
  let <k: u32> = bitmask(m)
  <k>

scratch every(m: mask, x: f32s, p: f32s) -> bool:
  let <k: bool> = all(m)
  <k>

scratch some(m: mask, x: f32s, p: f32s) -> bool:
  let <k: bool> = any(m)
  <k>

scratch word_spread(m: mask, x: f32s, p: f32s) -> u32s:
  let <k: u32> = bitmask(m)
  <k>

scratch every_spread(m: mask, x: f32s, p: f32s) -> f32s:
  let <k: bool> = all(m)
  if <k> then x else p

scratch some_spread(m: mask, x: f32s, p: f32s) -> f32s:
  let <k: bool> = any(m)
  if <k> then x else p

scratch front(m: mask, x: f32s, p: f32s) -> f32s:
  compress(m, x)

scratch back(m: mask, x: f32s, p: f32s) -> f32s:
  expand(m, x, p)

scratch front_back(m: mask, x: f32s, p: f32s) -> f32s:
  expand(m, compress(m, x), p)
";

/// What a function must give for a mask of these bits: written here again, from the language's words.
fn expected(name: &str, mask: u32, x: &[u32], p: &[u32]) -> Vec<u32> {
    let lanes = x.len();
    let holds = |k: usize| mask >> k & 1 == 1;
    let every = mask == u32::MAX >> (32 - lanes);
    let mut kept: Vec<u32> = (0..lanes).filter(|&k| holds(k)).map(|k| x[k]).collect();
    match name {
        "word" => vec![mask],
        "every" => vec![u32::from(every)],
        "some" => vec![u32::from(mask != 0)],
        "word_spread" => vec![mask; lanes],
        "every_spread" => if every { x } else { p }.to_vec(),
        "some_spread" => if mask != 0 { x } else { p }.to_vec(),
        "front" => {
            kept.resize(lanes, 0);
            kept
        }
        "back" => {
            let mut next = x.iter();
            let value = |k| if holds(k) { next.next().copied().unwrap_or(0) } else { p[k] };
            (0..lanes).map(value).collect()
        }
        _ => (0..lanes).map(|k| if holds(k) { x[k] } else { p[k] }).collect(),
    }
}

fn every_mask_on(profile: Profile) {
    let lanes = profile.lanes_of_bits(32);
    let object = object(PROGRAM, profile, FuseLevel::Full).unwrap_or_else(|d| panic!("{}", plain(&d)));
    let linked = link_elf(&object).expect("an object of ours links");
    let rack = Ty::Rack(Elem::F32);
    let mut bits = Bits::new(3);
    let mut calls = Vec::new();
    for mask in 0..1u32 << lanes {
        let m: Vec<u32> = (0..lanes).map(|k| if mask >> k & 1 == 1 { !0 } else { bits.u32() & 0x7fff_ffff }).collect();
        let (x, p): (Vec<u32>, Vec<u32>) = (0..lanes).map(|_| (bits.u32(), bits.u32())).unzip();
        let raw = [Raw::Lanes(m), Raw::Lanes(x.clone()), Raw::Lanes(p.clone())];
        calls.push((mask, x, p, encode(&[Ty::Mask(32), rack, rack], &raw, lanes).regs));
    }
    let regs: Vec<_> = calls.iter().map(|call| call.3.clone()).collect();
    for definition in PROGRAM.lines().filter_map(|line| line.strip_prefix("scratch ")) {
        let (name, rest) = definition.split_once('(').expect("a definition has parameters");
        let scalar = !rest.ends_with("s:");
        let image = linked.image(name).expect("the object has its functions");
        let outs: Vec<Out> =
            run(isa(profile), &image, &regs).unwrap_or_else(|error| panic!("{name} on {profile}: {error}"));
        for ((mask, x, p, _), out) in calls.iter().zip(&outs) {
            let got = if scalar { vec![out.rax as u32] } else { out.lanes(lanes) };
            assert_eq!(got, expected(name, *mask, x, p), "{name} on {profile}, mask {mask:#b}");
            assert!(out.callee_saved_ok && out.flags() == 0, "{name} on {profile}, mask {mask:#b}");
        }
    }
}

#[test]
fn every_mask_on_sse2() {
    every_mask_on(Profile::X86Sse2);
}

#[test]
fn every_mask_on_avx2() {
    every_mask_on(Profile::X86Avx2);
}

#[test]
fn every_mask_on_avx512() {
    every_mask_on(Profile::X86Avx512);
}
