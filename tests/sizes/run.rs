//! Runs hand-written intrinsics for AArch64 and WebAssembly on the arguments that x86 has in registers, and compares with
//! the evaluator.

use crate::arguments::{Arguments, Effort, calls, lanes_of_words};
use crate::machine::moves_bits;
use crate::support::{ir_at, plain};
use rake_ir::lane::{FuseLevel, eval_function};
use rake_ir::profile::{Family, Profile};
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_testkit::source::Program;
use rake_testkit::{aarch64, link_elf, wasm};
use rakec::pipeline::Ir;

/// The functions of one build, ready to run.
pub enum Build {
    Aarch64(rake_testkit::LinkedObject),
    Wasm(wasm::Module),
}

impl Build {
    /// From an object or a module.
    pub fn new(profile: Profile, bytes: &[u8]) -> Build {
        let build = match profile.info().family {
            Family::Wasm => wasm::Module::new(bytes).map(Build::Wasm),
            _ => link_elf(bytes).map(Build::Aarch64),
        };
        build.unwrap_or_else(|error| panic!("the peers on {profile}: {error}"))
    }

    /// The words of each call's result: a rack's, or those of which a scalar is the first. None if there is no such
    /// function.
    fn run(&self, name: &str, tys: &[Ty], result: Ty, arguments: &[Arguments]) -> Option<Result<Vec<Vec<u32>>, String>> {
        match self {
            Build::Aarch64(linked) => {
                let image = linked.image(name)?;
                let regs: Vec<_> = arguments.iter().map(aarch64_registers).collect();
                let in_general = matches!(result, Ty::Uniform(elem) if elem != Elem::F32);
                let words = |out: &aarch64::Out| match out.callee_saved_ok {
                    false => Err(format!("it clobbers {:?}", out.clobbered)),
                    true if in_general => Ok(vec![out.x0 as u32]),
                    true => Ok(out.lanes().to_vec()),
                };
                Some(aarch64::run(&image, &regs).and_then(|outs| outs.iter().map(words).collect()))
            }
            Build::Wasm(module) => {
                if !module.functions().contains(&name) {
                    return None;
                }
                let values: Vec<_> = arguments.iter().map(|call| wasm_values(tys, call)).collect();
                let outs = module.run(name, &values);
                Some(outs.map(|outs| outs.into_iter().map(wasm::Value::words).collect()))
            }
        }
    }
}

/// AAPCS64 numbers vector and general arguments as System V does.
fn aarch64_registers(call: &Arguments) -> aarch64::Regs {
    let mut regs = aarch64::Regs::default();
    for (to, from) in regs.v.iter_mut().zip(&call.regs.vec) {
        to.copy_from_slice(&from[..16]);
    }
    regs.x[..call.regs.gpr.len()].copy_from_slice(&call.regs.gpr);
    regs
}

/// The parameters in order: racks and floats from vector registers, the others from general ones.
fn wasm_values(tys: &[Ty], call: &Arguments) -> Vec<wasm::Value> {
    let (mut vectors, mut generals) = (call.regs.vec.iter(), call.regs.gpr.iter());
    let mut value = |ty: &Ty| match ty {
        Ty::Uniform(elem) if *elem != Elem::F32 => generals.next().map(|&word| wasm::Value::I32(word as u32)),
        Ty::Uniform(_) => vectors.next().map(|bytes| wasm::Value::F32(word_at(bytes, 0))),
        _ => vectors.next().map(|bytes| wasm::Value::from_lanes(std::array::from_fn(|lane| word_at(bytes, 4 * lane)))),
    };
    tys.iter().map(|ty| value(ty).expect("as many registers as parameters")).collect()
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

/// Runs the functions of a program that a build has under the prefix; gives how many there were, and adds what is wrong to
/// `failures`.
pub fn check(
    build: &Build,
    profile: Profile,
    prefix: &str,
    program: &Program,
    effort: Effort,
    failures: &mut Vec<String>,
) -> usize {
    let functions = match ir_at(&program.text, profile, FuseLevel::Exact, "tined") {
        Ok(Ir::Tined(program)) => program.functions,
        Ok(other) => panic!("`tined` gives {:?}", other.kind()),
        Err(problems) => {
            failures.push(format!("{} on {profile}: {}", program.name, plain(&problems)));
            return 0;
        }
    };
    let mut count = 0;
    for function in &functions {
        let tys: Vec<Ty> = function.params.iter().map(|param| param.ty).collect();
        let (result, exact) = (function.result_type(), moves_bits(function));
        let arguments = calls(&tys, profile, effort, count as u64);
        let name = format!("{prefix}{}", function.name);
        let Some(outs) = build.run(&name, &tys, result, &arguments) else { continue };
        count += 1;
        let outs = outs.unwrap_or_else(|error| {
            failures.push(format!("{name} on {profile}: {error}"));
            Vec::new()
        });
        for (call, words) in arguments.iter().zip(outs) {
            let expected = eval_function(function, profile, &call.values).and_then(|run| run.result());
            let expected = expected.unwrap_or_else(|error| panic!("{name} on {profile}: the evaluator: {error}"));
            let got = lanes(result, &words);
            let same = match &got {
                Some(got) if exact => *got == expected,
                Some(got) => got.same(&expected, result.elem()),
                None => false,
            };
            if !same {
                let shown = |(ty, value): (&Ty, &Lanes)| format!("  {ty}: {:x?}", value.bits());
                let on: Vec<String> = tys.iter().zip(&call.values).map(shown).collect();
                let (expected, on) = (expected.bits(), on.join("\n"));
                failures.push(format!("{name} on {profile} gives {words:x?}, not {expected:x?}, on\n{on}"));
                break;
            }
        }
    }
    count
}

/// A result's lanes; none of a mask that has lanes that are neither all ones nor zero.
fn lanes(ty: Ty, words: &[u32]) -> Option<Lanes> {
    match ty {
        Ty::Mask(_) if words.iter().any(|&word| word != 0 && word != u32::MAX) => None,
        Ty::Mask(_) => Some(Lanes::new(words.iter().map(|&word| u64::from(word & 1)))),
        Ty::Uniform(_) => Some(Lanes::uniform(u64::from(*words.first()?))),
        Ty::Rack(elem) => Some(lanes_of_words(elem, words)),
    }
}
