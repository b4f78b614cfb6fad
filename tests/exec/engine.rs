//! The engines that functions run on: their registers are made from one kind of arguments, their results read as words.

use crate::arguments::Arguments;
use crate::support::Built;
use rake_backends::c_header::c_type;
use rake_ir::profile::{Family, Profile};
use rake_ir::types::{Elem, Ty};
use rake_testkit::c::{Compiler, Source, compile};
use rake_testkit::x86::{Image, Isa, MXCSR_DEFAULT, cpu_has, flag};
use rake_testkit::{aarch64, link_elf, wasm, x86};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write;
use std::rc::Rc;

/// Calls that Node makes of a function: beside wasmtime it is to show that the wrapper works.
pub const IN_NODE: usize = 64;

/// One function for one engine.
#[derive(Clone, Debug)]
pub enum Code {
    /// Of an x86 profile.
    X86(Isa, Image),
    /// For qemu.
    Aarch64(Image),
    /// An export, for wasmtime.
    Wasm(Rc<[u8]>, String),
    /// An export that a C compiler made, for wasmtime: C's callers owe it a `bool` that is 0 or 1.
    Clang(Rc<[u8]>, String),
    /// One, for wasmtime with relaxed instructions as the standard's deterministic profile has them.
    Deterministic(Rc<[u8]>, String),
    /// Its memory wrapper, for Node.
    Node(Rc<[u8]>, String),
    /// A [`scalar_entry`] that this machine's C compiler compiled.
    Scalar(Image),
}

impl Code {
    /// Where it runs, for messages.
    pub fn engine(&self) -> &'static str {
        match self {
            Code::X86(..) => "on x86",
            Code::Aarch64(..) => "in qemu",
            Code::Wasm(..) | Code::Clang(..) => "in wasmtime",
            Code::Deterministic(..) => "in deterministic wasmtime",
            Code::Node(..) => "in Node",
            Code::Scalar(_) => "compiled from C",
        }
    }
}

/// What crosses a function's boundary.
#[derive(Clone, Debug)]
pub struct Signature {
    pub params: Vec<Ty>,
    pub result: Ty,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The 32-bit words of a rack, or the one of a scalar.
    pub words: Vec<u32>,
    /// What the call did to the machine that it may not do.
    pub wrong: Option<String>,
    /// The exception flags that the call raised, as MXCSR or FPSR has them; 0 where there are none.
    pub flags: u32,
    /// Whether the words beyond the first four were zeros: a function that returns no rack owes that to its caller on AVX.
    pub cleared: bool,
}

/// A function and its calls.
pub struct Run<'a> {
    pub code: &'a Code,
    pub signature: &'a Signature,
    pub arguments: &'a [Arguments],
}

/// Why a run broke off.
pub struct Failure {
    /// The number of the run, when it is one's fault.
    pub run: Option<usize>,
    pub message: String,
}

/// The instruction set of a profile.
pub fn isa(profile: Profile) -> Isa {
    match profile {
        Profile::X86Sse2 => Isa::Sse2,
        Profile::X86Avx2 => Isa::Avx2,
        _ => Isa::Avx512,
    }
}

/// Runs everything, each engine started once. A call that the engine cannot be given has no outcome.
pub fn run(runs: &[Run]) -> Result<Vec<Vec<Option<Outcome>>>, Failure> {
    let mut outcomes: Vec<Vec<Option<Outcome>>> = vec![Vec::new(); runs.len()];
    for engine in [on_x86, on_aarch64, in_wasmtime, in_node] {
        for (number, outs) in engine(runs)? {
            outcomes[number] = outs;
        }
    }
    Ok(outcomes)
}

type Outcomes = Result<Vec<(usize, Vec<Option<Outcome>>)>, Failure>;

/// Whose fault an engine's message tells, by the numbers of the runs that were its jobs.
fn failure(numbers: &[usize], message: String) -> Failure {
    let job = message.strip_prefix("job ").and_then(|rest| rest.split(',').next()?.parse::<usize>().ok());
    Failure { run: job.and_then(|job| numbers.get(job).copied()), message }
}

fn on_x86(runs: &[Run]) -> Outcomes {
    let mut numbers = Vec::new();
    let mut jobs = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let (isa, image, regs) = match run.code {
            Code::X86(isa, image) => (*isa, image, run.arguments.iter().map(|a| a.regs.clone()).collect()),
            Code::Scalar(image) => {
                let isa = if cpu_has(Isa::Avx2) { Isa::Avx2 } else { Isa::Sse2 };
                (isa, image, run.arguments.iter().map(|a| scalar_registers(run.signature, a)).collect::<Vec<_>>())
            }
            _ => continue,
        };
        numbers.push(number);
        jobs.push((isa, image, regs));
    }
    let given: Vec<x86::Job> = jobs.iter().map(|(isa, image, regs)| x86::Job { isa: *isa, image, regs }).collect();
    let outs = x86::run_many(&given).map_err(|message| failure(&numbers, message))?;
    let read = |(number, outs): (usize, Vec<x86::Out>)| {
        let outcome = |out| Some(x86_outcome(runs[number].code, runs[number].signature, out));
        (number, outs.iter().map(outcome).collect())
    };
    Ok(numbers.into_iter().zip(outs).map(read).collect())
}

fn x86_outcome(code: &Code, signature: &Signature, out: &x86::Out) -> Outcome {
    let wrong = if !out.callee_saved_ok {
        Some(format!("it clobbers {:?}", out.clobbered))
    } else if (out.mxcsr ^ MXCSR_DEFAULT) & !flag::ALL != 0 {
        Some(format!("it changes MXCSR to {:#x}", out.mxcsr))
    } else {
        None
    };
    let words = match (code, signature.result) {
        (Code::Scalar(_), _) | (_, Ty::Uniform(Elem::F32)) => out.lanes(1),
        (_, Ty::Uniform(_)) => vec![out.rax as u32],
        (Code::X86(isa, _), _) => out.lanes(isa.lanes()),
        _ => Vec::new(),
    };
    // Other compilers see to that themselves.
    let cleared = matches!(code, Code::Scalar(_)) || out.vec0[16..].iter().all(|&byte| byte == 0);
    Outcome { words, wrong, flags: out.flags(), cleared }
}

fn on_aarch64(runs: &[Run]) -> Outcomes {
    let mut numbers = Vec::new();
    let mut jobs = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if let Code::Aarch64(image) = run.code {
            numbers.push(number);
            jobs.push((image, run.arguments.iter().map(aarch64_registers).collect::<Vec<_>>()));
        }
    }
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let given: Vec<aarch64::Job> = jobs.iter().map(|(image, regs)| aarch64::Job { image, regs }).collect();
    let outs = aarch64::run_many(&given).map_err(|message| failure(&numbers, message))?;
    let read = |(number, outs): (usize, Vec<aarch64::Out>)| {
        let words = |out: &aarch64::Out| match runs[number].signature.result {
            Ty::Uniform(Elem::F32) => vec![out.lanes()[0]],
            Ty::Uniform(_) => vec![out.x0 as u32],
            _ => out.lanes().to_vec(),
        };
        let wrong = |out: &aarch64::Out| (!out.callee_saved_ok).then(|| format!("it clobbers {:?}", out.clobbered));
        let outcome = |out: &aarch64::Out| {
            Some(Outcome { words: words(out), wrong: wrong(out), flags: out.flags(), cleared: true })
        };
        (number, outs.iter().map(outcome).collect())
    };
    Ok(numbers.into_iter().zip(outs).map(read).collect())
}

/// AAPCS64 numbers vector and general arguments as System V does, and has two general ones more.
fn aarch64_registers(call: &Arguments) -> aarch64::Regs {
    let mut regs = aarch64::Regs::default();
    for (to, from) in regs.v.iter_mut().zip(&call.regs.vec) {
        to.copy_from_slice(&from[..16]);
    }
    regs.x[..call.regs.gpr.len()].copy_from_slice(&call.regs.gpr);
    regs
}

fn in_wasmtime(runs: &[Run]) -> Outcomes {
    // A module is compiled once for all its functions.
    let mut modules: BTreeMap<(*const u8, bool), wasm::Module> = BTreeMap::new();
    let mut all = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let (bytes, name, deterministic) = match run.code {
            Code::Wasm(bytes, name) | Code::Clang(bytes, name) => (bytes, name, false),
            Code::Deterministic(bytes, name) => (bytes, name, true),
            _ => continue,
        };
        let failed = |message| Failure { run: Some(number), message };
        let module = match modules.entry((bytes.as_ptr(), deterministic)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let compile = if deterministic { wasm::Module::deterministic } else { wasm::Module::new };
                entry.insert(compile(bytes).map_err(failed)?)
            }
        };
        let mut calls: Vec<_> = run.arguments.iter().map(|a| wasm_values(run.signature, a)).collect();
        if matches!(run.code, Code::Clang(..)) {
            calls.iter_mut().for_each(|call| clean_bools(run.signature, call));
        }
        let outs = module.run(name, &calls).map_err(failed)?;
        all.push((number, outs.into_iter().map(|out| Some(wasm_outcome(out))).collect()));
    }
    Ok(all)
}

fn in_node(runs: &[Run]) -> Outcomes {
    let mut numbers = Vec::new();
    let mut jobs = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if let Code::Node(bytes, name) = run.code {
            // A NaN among the float scalars would not arrive as it is.
            let nan = |value: &wasm::Value| matches!(value, wasm::Value::F32(bits) if f32::from_bits(*bits).is_nan());
            let calls = run.arguments.iter().map(|a| wasm_values(run.signature, a)).enumerate();
            let calls = calls.filter(|(_, call)| !call.iter().any(nan)).take(IN_NODE);
            let (places, calls): (Vec<usize>, Vec<_>) = calls.unzip();
            numbers.push(number);
            jobs.push((bytes, name, wasm_type(run.signature.result), places, calls));
        }
    }
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let given = jobs.iter().map(|(module, name, result, _, calls)| wasm::Job { module, name, result: *result, calls });
    let outs = wasm::run_in_node(&given.collect::<Vec<_>>()).map_err(|message| failure(&numbers, message))?;
    let mut all = Vec::new();
    for ((number, (_, _, _, places, _)), outs) in numbers.iter().zip(&jobs).zip(outs) {
        let mut outcomes = vec![None; runs[*number].arguments.len()];
        for (&place, out) in places.iter().zip(outs) {
            outcomes[place] = Some(wasm_outcome(out));
        }
        all.push((*number, outcomes));
    }
    Ok(all)
}

fn wasm_outcome(out: wasm::Value) -> Outcome {
    Outcome { words: out.words(), wrong: None, flags: 0, cleared: true }
}

fn wasm_type(ty: Ty) -> wasm::Type {
    match ty {
        Ty::Uniform(Elem::F32) => wasm::Type::F32,
        Ty::Uniform(_) => wasm::Type::I32,
        _ => wasm::Type::V128,
    }
}

/// The arguments in order: racks and floats from vector registers, the others from general ones.
fn wasm_values(signature: &Signature, call: &Arguments) -> Vec<wasm::Value> {
    let words = words_of(signature, call);
    let value = |(ty, words): (&Ty, [u32; 4])| match wasm_type(*ty) {
        wasm::Type::F32 => wasm::Value::F32(words[0]),
        wasm::Type::I32 => wasm::Value::I32(words[0]),
        wasm::Type::V128 => wasm::Value::from_lanes(words),
        wasm::Type::I64 => wasm::Value::I64(u64::from(words[0]) | u64::from(words[1]) << 32),
    };
    signature.params.iter().zip(words).map(value).collect()
}

/// Leaves of each `bool` only its value bit.
fn clean_bools(signature: &Signature, call: &mut [wasm::Value]) {
    for (ty, value) in signature.params.iter().zip(call) {
        if let (Ty::Uniform(Elem::Bool), wasm::Value::I32(word)) = (ty, value) {
            *word &= 1;
        }
    }
}

/// The first words of each argument's register.
fn words_of(signature: &Signature, call: &Arguments) -> Vec<[u32; 4]> {
    let (mut vectors, mut generals) = (call.regs.vec.iter(), call.regs.gpr.iter());
    let word = |bytes: &[u8; 64], at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
    let words = |ty: &Ty| match ty {
        Ty::Uniform(elem) if *elem != Elem::F32 => {
            generals.next().map(|&bits| [bits as u32, (bits >> 32) as u32, 0, 0])
        }
        _ => vectors.next().map(|bytes| std::array::from_fn(|lane| word(bytes, lane))),
    };
    signature.params.iter().map_while(words).collect()
}

/// A function in C that takes the words of all arguments in `xmm0`-`xmm7`, however many registers the C function itself
/// would need, and gives the result's in `xmm0`. The C function is declared by its symbol.
pub fn scalar_entry(name: &str, signature: &Signature) -> String {
    let ctype = |ty: Ty| c_type(Profile::Scalar, ty);
    let types: Vec<&str> = signature.params.iter().map(|&ty| ctype(ty)).collect();
    let params = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
    let mut text = String::new();
    let result = ctype(signature.result);
    let _ = writeln!(text, "extern {result} called_{name}({params}) __asm__(\"{name}\");");
    let racks: Vec<String> = (0..8).map(|n| format!("__m128i r{n}")).collect();
    let _ = writeln!(text, "__m128i entry_{name}({}) {{", racks.join(", "));
    let all: Vec<String> = (0..8).map(|n| format!("r{n}")).collect();
    let _ = writeln!(text, "  __m128i racks[8] = {{{}}};\n  uint32_t words[32];", all.join(", "));
    let _ = writeln!(text, "  memcpy(words, racks, sizeof words);");
    let mut given = Vec::new();
    for (at, (ty, name)) in signature.params.iter().zip(&types).enumerate() {
        match ty {
            Ty::Uniform(Elem::Bool) => _ = writeln!(text, "  {name} p{at} = words[{at}] & 1;"),
            _ => _ = writeln!(text, "  {name} p{at};\n  memcpy(&p{at}, &words[{at}], sizeof p{at});"),
        }
        given.push(format!("p{at}"));
    }
    let _ = writeln!(text, "  {result} result = called_{name}({});", given.join(", "));
    let _ = writeln!(text, "  uint32_t word = 0;\n  memcpy(&word, &result, sizeof result);");
    let _ = writeln!(text, "  return _mm_cvtsi32_si128((int)word);\n}}");
    text
}

/// Compiles C for the scalar profile with an entry for each function; gives the code by each of this machine's compilers.
///
/// # Errors
/// What a compiler says.
pub fn scalar_codes(c: &str, functions: &[(&str, Signature)], flags: &[&str]) -> Result<Vec<Vec<Code>>, String> {
    let mut text =
        format!("{c}\n#include <emmintrin.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <string.h>\n");
    functions.iter().for_each(|(name, signature)| text.push_str(&scalar_entry(name, signature)));
    let mut codes = vec![Vec::new(); functions.len()];
    for compiler in Compiler::X86 {
        let linked = link_elf(&compile(compiler, Source::Text(&text), flags)?)?;
        for (codes, (name, _)) in codes.iter_mut().zip(functions) {
            let image = linked.image(&format!("entry_{name}")).ok_or_else(|| format!("no entry of `{name}`"))?;
            codes.push(Code::Scalar(image));
        }
    }
    Ok(codes)
}

/// The registers of a [`scalar_entry`].
fn scalar_registers(signature: &Signature, call: &Arguments) -> x86::Regs {
    let mut regs = x86::Regs::default();
    let words: Vec<u32> = words_of(signature, call).iter().map(|words| words[0]).collect();
    for (rack, words) in words.chunks(4).enumerate().take(8) {
        regs.set_lanes(rack, words);
    }
    regs
}

/// How C for the scalar profile is compiled: everything that could tempt a compiler to round differently. The
/// square root is one instruction where nobody asks for `errno`.
const C_FLAGS: [&str; 3] = ["-O3", "-march=native", "-fno-math-errno"];

/// The code of each function of a program that was built for a profile.
///
/// # Errors
/// What was built does not link or compile, or lacks a function.
pub fn codes_of(profile: Profile, built: &Built, functions: &[(&str, Signature)]) -> Result<Vec<Vec<Code>>, String> {
    match built {
        Built::Bytes(bytes) => codes(profile, &Rc::from(bytes.as_slice()), functions),
        Built::C(c) => scalar_codes(c, functions, &C_FLAGS),
    }
}

/// The code of each function of an object or a module for a profile.
///
/// # Errors
/// The object does not link, or lacks a function.
pub fn codes(profile: Profile, bytes: &Rc<[u8]>, functions: &[(&str, Signature)]) -> Result<Vec<Vec<Code>>, String> {
    let family = profile.info().family;
    if family == Family::Wasm {
        let all = |name: &str| {
            let code = |make: fn(Rc<[u8]>, String) -> Code| make(bytes.clone(), name.to_owned());
            let relaxed = profile != Profile::WasmSimd128;
            let mut codes = vec![code(Code::Wasm), code(Code::Node)];
            codes.extend(relaxed.then(|| code(Code::Deterministic)));
            codes
        };
        return Ok(functions.iter().map(|(name, _)| all(name)).collect());
    }
    let linked = link_elf(bytes)?;
    let code = |(name, _): &(&str, Signature)| {
        let image = linked.image(name).ok_or_else(|| format!("the object has no symbol `{name}`"))?;
        Ok(vec![if family == Family::X86 { Code::X86(isa(profile), image) } else { Code::Aarch64(image) }])
    };
    functions.iter().map(code).collect()
}
