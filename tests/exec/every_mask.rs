//! Every mask there is at a profile's width, through everything that reads a mask as a whole.

use crate::arguments::{Raw, encode};
use crate::engine::{self, Run, Signature};
use crate::support::{built, plain};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_testkit::special::Bits;

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
    let rack = Ty::Rack(Elem::F32);
    let params = [Ty::Mask(32), rack, rack];
    let mut bits = Bits::new(3);
    let (mut calls, mut arguments) = (Vec::new(), Vec::new());
    for mask in 0..1u32 << lanes {
        let m: Vec<u32> = (0..lanes).map(|k| if mask >> k & 1 == 1 { !0 } else { bits.u32() & 0x7fff_ffff }).collect();
        let (x, p): (Vec<u32>, Vec<u32>) = (0..lanes).map(|_| (bits.u32(), bits.u32())).unzip();
        let raw = [Raw::Lanes(m), Raw::Lanes(x.clone()), Raw::Lanes(p.clone())];
        arguments.push(encode(&params, &raw, lanes));
        calls.push((mask, x, p));
    }
    let signature = |definition: &'static str| {
        let (name, rest) = definition.split_once('(').expect("a definition has parameters");
        let result =
            rest.rsplit_once("-> ").and_then(|(_, ty)| ty.strip_suffix(':')).expect("a definition has a result");
        let scalar = || Elem::from_name(result).map(Ty::Uniform);
        let result = Ty::from_name(result).or_else(scalar).expect("the result has a type");
        (name, Signature { params: params.to_vec(), result })
    };
    let functions: Vec<_> = PROGRAM.lines().filter_map(|line| line.strip_prefix("scratch ")).map(signature).collect();
    let built = built(PROGRAM, profile, FuseLevel::Full).unwrap_or_else(|d| panic!("{}", plain(&d)));
    let codes = engine::codes_of(profile, &built, &functions).unwrap_or_else(|error| panic!("{profile}: {error}"));
    let each = functions.iter().zip(&codes).flat_map(|(f, codes)| codes.iter().map(move |code| (f, code)));
    let each: Vec<_> = each.collect();
    let runs = each.iter().map(|((_, signature), code)| Run { code, signature, arguments: &arguments });
    let outs =
        engine::run(&runs.collect::<Vec<_>>()).unwrap_or_else(|failure| panic!("{profile}: {}", failure.message));
    for (((name, _), code), outs) in each.iter().zip(&outs) {
        let at = |mask| format!("{name} on {profile} {}, mask {mask:#b}", code.engine());
        assert!(outs.iter().flatten().count() >= calls.len().min(engine::IN_NODE), "{}", at(&0));
        for ((mask, x, p), out) in calls.iter().zip(outs).filter_map(|(call, out)| Some((call, out.as_ref()?))) {
            assert_eq!(out.words, expected(name, *mask, x, p), "{}", at(mask));
            assert!(out.wrong.is_none() && out.flags == 0, "{}: {:?}, flags {:#x}", at(mask), out.wrong, out.flags);
        }
    }
}

on_each_profile!(every_mask_on, super::every_mask_on);
