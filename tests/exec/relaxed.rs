//! Relaxed operations: the engine chooses among results, so each result must be one that the standard allows (relaxed SIMD,
//! section "Execution"). The allowed ones are computed here, from the language's own floats.

use crate::arguments::{Effort, calls};
use crate::engine::{self, Code, Run, Signature};
use crate::support::{built, plain};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};

const PROGRAM: &str = "
scratch madd(a: f32s, b: f32s, c: f32s) -> f32s:
  relaxed_madd(a, b, c)

scratch nmadd(a: f32s, b: f32s, c: f32s) -> f32s:
  relaxed_nmadd(a, b, c)

scratch least(a: f32s, b: f32s, c: f32s) -> f32s:
  relaxed_min(a, b)

scratch greatest(a: f32s, b: f32s, c: f32s) -> f32s:
  | r <| relaxed_max(a, b)
  r
";

/// The results that a lane may have; a NaN stands for every NaN.
fn allowed(name: &str, [a, b, c]: [f32; 3]) -> Vec<f32> {
    match name {
        "madd" => vec![a.mul_add(b, c), a * b + c],
        "nmadd" => vec![(-a).mul_add(b, c), c - a * b],
        _ if a.is_nan() || b.is_nan() => vec![f32::NAN, a, b],
        // Zeros of either sign too.
        _ if a == b => vec![a, b],
        "least" => vec![if a < b { a } else { b }],
        _ => vec![if a > b { a } else { b }],
    }
}

#[test]
fn results_are_among_those_that_an_engine_may_choose() {
    let profile = Profile::WasmSimd128Relaxed;
    let rack = Ty::Rack(Elem::F32);
    let signature = Signature { params: vec![rack; 3], result: rack };
    let names = PROGRAM.lines().filter_map(|line| line.strip_prefix("scratch ")?.split('(').next());
    let functions: Vec<(&str, Signature)> = names.map(|name| (name, signature.clone())).collect();
    let effort = Effort { tuples: 300_000, random: 100_000, uniforms: 1, calls: 100_000 };
    let arguments = calls(&signature.params, profile, effort, 1);
    let built = built(PROGRAM, profile, FuseLevel::Full).unwrap_or_else(|d| panic!("{}", plain(&d)));
    let codes = engine::codes_of(profile, &built, &functions).unwrap_or_else(|error| panic!("{error}"));
    let runs: Vec<(&str, &Code)> =
        functions.iter().zip(&codes).flat_map(|((name, _), codes)| codes.iter().map(|code| (*name, code))).collect();
    let given: Vec<_> =
        runs.iter().map(|(_, code)| Run { code, signature: &signature, arguments: &arguments }).collect();
    let outs = engine::run(&given).unwrap_or_else(|failure| panic!("{}", failure.message));
    for ((name, code), outs) in runs.iter().zip(outs) {
        let mut seen = 0;
        for (call, out) in arguments.iter().zip(outs).filter_map(|(call, out)| Some((call, out?))) {
            for (lane, &word) in out.words.iter().enumerate() {
                let operand = |n: usize| f32::from_bits(call.values[n].get(lane).map_or(0, |bits| bits as u32));
                let (operands, got) = ([0, 1, 2].map(operand), f32::from_bits(word));
                let is = |one: &f32| one.to_bits() == word || one.is_nan() && got.is_nan();
                let engine = code.engine();
                assert!(allowed(name, operands).iter().any(is), "{name} {engine}: {got:e} of {operands:?}");
                seen += 1;
            }
        }
        assert!(seen >= 4 * engine::IN_NODE, "{name} {}: {seen} lanes", code.engine());
    }
}
