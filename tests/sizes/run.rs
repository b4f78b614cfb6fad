//! Runs hand-written intrinsics for AArch64 and WebAssembly and compares with the evaluator, on the arguments that x86 has
//! in registers.

use crate::arguments::{Arguments, Effort, calls, lanes_of_words};
use crate::machine::moves_bits;
use crate::support::{ir_at, plain};
use rake_ir::lane::{FuseLevel, eval_function};
use rake_ir::profile::{Family, Profile};
use rake_ir::tined;
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

    /// Whether it has a function.
    fn has(&self, name: &str) -> bool {
        match self {
            Build::Aarch64(linked) => linked.symbols.contains_key(name),
            Build::Wasm(module) => module.functions().contains(&name),
        }
    }

    /// Calls the functions; a rack's words, or those of which a scalar is the first, of each call.
    fn run(&self, tasks: &[Task]) -> Result<Vec<Vec<Vec<u32>>>, String> {
        match self {
            Build::Aarch64(linked) => {
                let image = |task: &Task| linked.image(&task.name).ok_or(format!("no {}", task.name));
                let images = tasks.iter().map(image).collect::<Result<Vec<_>, _>>()?;
                let regs = |task: &Task| task.arguments.iter().map(aarch64_registers).collect::<Vec<_>>();
                let regs: Vec<_> = tasks.iter().map(regs).collect();
                let jobs = images.iter().zip(&regs).map(|(image, regs)| aarch64::Job { image, regs });
                let outs = aarch64::run_many(&jobs.collect::<Vec<_>>())?;
                tasks
                    .iter()
                    .zip(outs)
                    .map(|(task, outs)| outs.iter().map(|out| aarch64_words(task, out)).collect())
                    .collect()
            }
            Build::Wasm(module) => {
                let run = |task: &Task| {
                    let values: Vec<_> = task.arguments.iter().map(|call| wasm_values(&task.tys, call)).collect();
                    let outs = module.run(&task.name, &values).map_err(|error| format!("{}: {error}", task.name))?;
                    Ok(outs.into_iter().map(wasm::Value::words).collect())
                };
                tasks.iter().map(run).collect()
            }
        }
    }
}

/// A function to call.
struct Task {
    name: String,
    tys: Vec<Ty>,
    result: Ty,
    arguments: Vec<Arguments>,
}

/// The result of a call.
fn aarch64_words(task: &Task, out: &aarch64::Out) -> Result<Vec<u32>, String> {
    if !out.callee_saved_ok {
        return Err(format!("{} clobbers {:?}", task.name, out.clobbered));
    }
    let in_general = matches!(task.result, Ty::Uniform(elem) if elem != Elem::F32);
    Ok(if in_general { vec![out.x0 as u32] } else { out.lanes().to_vec() })
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

/// Runs the functions of a program that a build has under the prefix; gives how many there were, and adds what is wrong
/// to `failures`.
pub fn check(
    build: &Build,
    profile: Profile,
    prefix: &str,
    program: &Program,
    effort: Effort,
    failures: &mut Vec<String>,
) -> usize {
    // What a function computes is the same on every profile of as many lanes; but some refuse fused multiply-adds.
    let profile = match profile.info().available {
        true => profile,
        false if program.fma => return 0,
        false => Profile::X86Sse2,
    };
    let functions = match ir_at(&program.text, profile, FuseLevel::Exact, "tined") {
        Ok(Ir::Tined(program)) => program.functions,
        Ok(other) => panic!("`tined` gives {:?}", other.kind()),
        Err(problems) => {
            failures.push(format!("{} on {profile}: {}", program.name, plain(&problems)));
            return 0;
        }
    };
    let functions: Vec<_> = functions.iter().filter(|f| build.has(&format!("{prefix}{}", f.name))).collect();
    let task = |(index, function): (usize, &&tined::Function)| {
        let tys: Vec<Ty> = function.params.iter().map(|param| param.ty).collect();
        let arguments = calls(&tys, profile, effort, index as u64);
        let result = function.result_type().expect("a result");
        Task { name: format!("{prefix}{}", function.name), tys, result, arguments }
    };
    let tasks: Vec<Task> = functions.iter().enumerate().map(task).collect();
    let outs = build.run(&tasks).unwrap_or_else(|error| panic!("peers of {}: {error}", program.name));
    for ((function, task), outs) in functions.iter().zip(&tasks).zip(outs) {
        let (result, exact) = (task.result, moves_bits(function));
        let wrong = task.arguments.iter().zip(&outs).find_map(|(call, words)| {
            let expected = eval_function(function, profile, &call.values).and_then(|run| run.result());
            let expected = expected.unwrap_or_else(|error| panic!("{}: the evaluator: {error}", task.name));
            let same = lanes(result, words).is_some_and(|got| match exact {
                true => got == expected,
                false => got.same(&expected, result.elem()),
            });
            let on = || call.values.iter().map(|value| format!("  {:x?}", value.bits())).collect::<Vec<_>>().join("\n");
            (!same).then(|| format!("gives {words:x?}, not {:x?}, on\n{}", expected.bits(), on()))
        });
        failures.extend(wrong.map(|wrong| format!("{} on {profile} {wrong}", task.name)));
    }
    tasks.len()
}

/// A result's lanes; none of a mask that has lanes that are neither all ones nor zero.
fn lanes(ty: Ty, words: &[u32]) -> Option<Lanes> {
    match ty {
        Ty::Mask(_) if words.iter().any(|&word| word != 0 && word != u32::MAX) => None,
        Ty::Mask(_) => Some(Lanes::new(words.iter().map(|&word| u64::from(word & 1)))),
        Ty::Uniform(_) | Ty::Address => Some(Lanes::uniform(u64::from(*words.first()?))),
        Ty::Rack(elem) => Some(lanes_of_words(elem, words)),
    }
}
