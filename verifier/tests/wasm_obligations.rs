//! For each obligation WebAssembly modules, made by hand byte by byte, that break it and nothing else. Opcodes are
//! those of the specification 2.0 (section 5.4) and the relaxed SIMD proposal.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Profile::{self, WasmSimd128, WasmSimd128Relaxed};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_verifier::{FunctionFacts, Metadata, Obligation, RegionFacts, wasm};
use std::collections::BTreeMap;

const F: Ty = Ty::Rack(Elem::F32);
const WORD: Ty = Ty::Uniform(Elem::I32);

const I32: u8 = 0x7f;
const V128: u8 = 0x7b;

const GET0: &[u8] = &[0x20, 0];
const GET1: &[u8] = &[0x20, 1];
const ADD: &[u8] = &[0xfd, 0xe4, 0x01]; // f32x4.add
const MUL: &[u8] = &[0xfd, 0xe6, 0x01]; // f32x4.mul
const SQRT: &[u8] = &[0xfd, 0xe3, 0x01]; // f32x4.sqrt
const MADD: &[u8] = &[0xfd, 0x85, 0x02]; // f32x4.relaxed_madd
const EXTRACT: &[u8] = &[0xfd, 0x1b, 0]; // i32x4.extract_lane 0
const SWIZZLE: &[u8] = &[0xfd, 0x0e]; // i8x16.swizzle
const END: &[u8] = &[0x0b];
const LOAD: &[u8] = &[0xfd, 0x00, 0, 0]; // v128.load
const STORE: &[u8] = &[0xfd, 0x0b, 0, 0]; // v128.store
const CALL0: &[u8] = &[0x10, 0];

/// A number in LEB128.
fn leb(mut number: usize) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let byte = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            out.push(byte);
            return out;
        }
        out.push(byte | 0x80);
    }
}

fn vector(items: &[Vec<u8>]) -> Vec<u8> {
    [leb(items.len()), items.concat()].concat()
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    [leb(bytes.len()), bytes.to_vec()].concat()
}

fn section(id: u8, items: &[Vec<u8>]) -> Vec<u8> {
    [vec![id], sized(&vector(items))].concat()
}

fn custom(name: &str, content: &[u8]) -> Vec<u8> {
    [vec![0], sized(&[sized(name.as_bytes()), content.to_vec()].concat())].concat()
}

/// A module of one kernel `f` and its wrapper, and what is said to have been selected for it.
struct Sample {
    profile: Profile,
    /// The kernel's parameters and result.
    types: (Vec<u8>, u8),
    locals: Vec<u8>,
    kernel: Vec<u8>,
    /// Another wrapper than the one that the kernel has.
    wrapper: Option<Vec<u8>>,
    /// Other sections, each before the section of this number.
    extra: Vec<(u8, Vec<u8>)>,
    exports: Vec<Vec<u8>>,
    facts: FunctionFacts,
}

fn export(name: &str, kind: u8, number: u8) -> Vec<u8> {
    [sized(name.as_bytes()), vec![kind, number]].concat()
}

impl Sample {
    /// A kernel of two racks that gives one.
    fn of(body: &[&[u8]]) -> Sample {
        let facts = FunctionFacts {
            name: "f".into(),
            span: Span::default(),
            exported: true,
            params: vec![F, F],
            result: Some(F),
            multiply_adds: [0; 4],
            cross_lane: Default::default(),
            words: Default::default(),
            relaxed: Default::default(),
            regions: vec![],
        };
        Sample {
            profile: WasmSimd128Relaxed,
            types: (vec![V128, V128], V128),
            locals: vec![],
            kernel: [&body.concat()[..], END].concat(),
            wrapper: None,
            extra: vec![],
            exports: vec![export("memory", 2, 0), export("f", 0, 0), export("f.memory", 0, 1)],
            facts,
        }
    }

    fn facts(mut self, change: impl FnOnce(&mut FunctionFacts)) -> Sample {
        change(&mut self.facts);
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Sample)) -> Sample {
        change(&mut self);
        self
    }

    /// A kernel of two racks that gives a word, and takes lanes out of racks.
    fn word(body: &[&[u8]]) -> Sample {
        let lanes = |f: &mut FunctionFacts| f.cross_lane = counts(&[("i32x4_extract_lane", 1)]);
        Sample::of(body).with(|s| (s.types.1, s.facts.result) = (I32, Some(WORD))).facts(lanes)
    }

    fn module(&self) -> Vec<u8> {
        let stores = self.types.1 == V128;
        let function = |params: &[u8], results: &[u8]| [vec![0x60], sized(params), sized(results)].concat();
        let kernel_type = function(&self.types.0, &[self.types.1]);
        let addresses = vec![I32; self.types.0.len() + usize::from(stores)];
        let wrapper_type = function(&addresses, if stores { &[] } else { &[I32] });
        let plain: Vec<u8> = match stores {
            true => [GET0, GET1, LOAD, &[0x20, 2], LOAD, CALL0, STORE, END].concat(),
            false => [GET0, LOAD, GET1, LOAD, CALL0, END].concat(),
        };
        let wrapper = self.wrapper.clone().unwrap_or(plain);
        let locals = vector(&self.locals.iter().map(|&ty| vec![1, ty]).collect::<Vec<_>>());
        let bodies = [sized(&[locals, self.kernel.clone()].concat()), sized(&[vec![0], wrapper].concat())];
        let sections = [
            (1, section(1, &[kernel_type, wrapper_type])),
            (3, section(3, &[vec![0], vec![1]])),
            (5, section(5, &[vec![0, 1]])),
            (7, section(7, &self.exports)),
            (10, section(10, &bodies)),
            (20, custom("name", &[])),
            (21, custom("producers", &[0])),
        ];
        let mut out = b"\0asm\x01\0\0\0".to_vec();
        for (number, bytes) in sections {
            for (before, extra) in &self.extra {
                if *before == number {
                    out.extend(extra);
                }
            }
            out.extend(bytes);
        }
        out
    }

    fn check(&self) -> Vec<Diagnostic> {
        let metadata = Metadata { profile: self.profile, functions: vec![self.facts.clone()] };
        wasm::obligations(&self.module(), &metadata).err().unwrap_or_default()
    }
}

/// The sample breaks exactly this obligation.
fn breaks(obligation: Obligation, sample: Sample) {
    let found = sample.check();
    assert!(!found.is_empty(), "{obligation:?} is not seen in {:02x?}", sample.kernel);
    for diagnostic in &found {
        assert_eq!(diagnostic.code, Code::ObligationBroken, "{obligation:?}: {}", diagnostic.message);
        assert!(diagnostic.message.contains(obligation.words()), "{obligation:?}: {}", diagnostic.message);
    }
}

fn holds(sample: Sample) {
    let found = sample.check();
    assert!(found.is_empty(), "{:02x?}: {found:?}", sample.kernel);
}

fn counts(of: &[(&str, u32)]) -> BTreeMap<smol_str::SmolStr, u32> {
    of.iter().map(|&(name, count)| (name.into(), count)).collect()
}

#[test]
fn what_the_breaking_modules_are_made_from_holds() {
    holds(Sample::of(&[GET0, GET1, ADD]));
    holds(Sample::of(&[GET0, &[0x21, 2], &[0x20, 2], GET1, ADD]).with(|s| s.locals = vec![V128])); // local.set 2
    holds(Sample::word(&[GET0, EXTRACT]).facts(|f| f.words = counts(&[("i32x4_extract_lane", 1)])));
    holds(Sample::of(&[GET0, GET1, SWIZZLE]).facts(|f| f.cross_lane = counts(&[("i8x16_swizzle", 1)])));
    holds(Sample::of(&[GET0, GET1, GET0, MADD]).facts(|f| f.relaxed = counts(&[("f32x4_relaxed_madd", 1)])));
}

#[test]
fn other_instructions_than_the_profiles() {
    let alone = |body: &[&[u8]]| breaks(Obligation::ProfileInstructions, Sample::of(body));
    alone(&[GET0, GET1, &[0xfd, 0xf0, 0x01]]); // f64x2.add
    alone(&[GET0, GET1, ADD, GET0, &[0x1a]]); // drop
    alone(&[&[0x01], GET0, GET1, ADD]); // nop
    let relaxed = Sample::of(&[GET0, GET1, GET0, MADD]);
    let relaxed = relaxed.facts(|f| f.relaxed = counts(&[]));
    breaks(Obligation::ProfileInstructions, relaxed.with(|s| s.profile = WasmSimd128));
}

#[test]
fn calls_branches_memory_and_shared_state() {
    breaks(Obligation::NoCalls, Sample::of(&[GET0, GET1, CALL0]));
    breaks(Obligation::NoCalls, Sample::of(&[GET0, GET1, &[0x12, 0]])); // return_call 0
    breaks(Obligation::NoBranches, Sample::of(&[GET0, GET1, ADD, &[0x0f]])); // return
    breaks(Obligation::NoBranches, Sample::of(&[&[0x02, 0x40, 0x0b], GET0, GET1, ADD])); // block, end
    breaks(Obligation::NoBranches, Sample::of(&[&[0x03, 0x40, 0x0b], GET0, GET1, ADD])); // loop, end
    let zero: &[u8] = &[0x41, 0]; // i32.const 0
    breaks(Obligation::ConstantLoads, Sample::of(&[zero, LOAD, GET1, ADD]));
    breaks(Obligation::ConstantLoads, Sample::of(&[zero, GET0, STORE, GET0, GET1, ADD]));
    // ref.null func, ref.is_null
    let reference = Sample::word(&[&[0xd0, 0x70], &[0xd1]]).facts(|f| f.cross_lane = counts(&[]));
    breaks(Obligation::NoSharedState, reference);
}

#[test]
fn locals_that_nothing_wrote() {
    let sample = Sample::of(&[GET0, &[0x20, 2], ADD]).with(|s| s.locals = vec![V128]);
    breaks(Obligation::DefinedReads, sample);
}

#[test]
fn cross_lane_and_relaxed_operations_and_words() {
    breaks(Obligation::CrossLane, Sample::of(&[GET0, GET1, SWIZZLE]));
    let selected = |f: &mut FunctionFacts| f.cross_lane = counts(&[("i8x16_swizzle", 1)]);
    breaks(Obligation::CrossLane, Sample::of(&[GET0, GET1, ADD]).facts(selected));
    breaks(Obligation::CrossLane, Sample::of(&[GET0, GET1, SWIZZLE, GET1, SWIZZLE]).facts(selected));
    breaks(Obligation::BoundaryRegisters, Sample::word(&[GET0, EXTRACT]));
    breaks(Obligation::Relaxed, Sample::of(&[GET0, GET1, GET0, MADD]));
    let relaxed = |f: &mut FunctionFacts| f.relaxed = counts(&[("f32x4_relaxed_madd", 1)]);
    breaks(Obligation::Relaxed, Sample::of(&[GET0, GET1, ADD]).facts(relaxed));
}

#[test]
fn regions() {
    let once = |f: &mut FunctionFacts| {
        f.regions = vec![RegionFacts { operations: counts(&[("f32x4_mul", 1), ("f32x4_add", 1)]) }];
    };
    holds(Sample::of(&[GET0, SQRT, GET1, MUL, GET0, ADD]).facts(once));
    breaks(Obligation::Regions, Sample::of(&[GET0, GET1, MUL, SQRT, GET0, ADD]).facts(once));
    breaks(Obligation::Regions, Sample::of(&[GET0, GET1, MUL, GET0, MUL]).facts(once));
}

#[test]
fn wrappers() {
    let wrapped = |code: &[&[u8]]| Sample::of(&[GET0, GET1, ADD]).with(|s| s.wrapper = Some(code.concat()));
    let get2: &[u8] = &[0x20, 2];
    holds(wrapped(&[GET0, GET1, LOAD, get2, LOAD, CALL0, STORE, END]));
    let broken = |code: &[&[u8]]| breaks(Obligation::Wrappers, wrapped(code));
    broken(&[GET0, get2, LOAD, GET1, LOAD, CALL0, STORE, END]); // the operands the other way round
    broken(&[GET0, GET1, LOAD, get2, LOAD, ADD, STORE, END]); // no call
    broken(&[GET0, GET1, LOAD, get2, LOAD, CALL0, &[0xfd, 0x0b, 0, 16], END]); // at an offset
    broken(&[GET0, GET1, LOAD, get2, LOAD, CALL0, &[0xfd, 0x0b, 4, 0], END]); // that promises alignment
    broken(&[GET0, GET1, LOAD, get2, LOAD, CALL0, STORE, GET0, GET1, LOAD, STORE, END]); // more
}

#[test]
fn what_else_a_module_may_not_have() {
    let with = |before: u8, extra: Vec<u8>| {
        breaks(Obligation::NothingElse, Sample::of(&[GET0, GET1, ADD]).with(|s| s.extra = vec![(before, extra)]));
    };
    with(5, section(4, &[vec![0x70, 0, 0]])); // a table
    with(7, section(6, &[vec![0x7f, 0, 0x41, 0, 0x0b]])); // a global
    with(10, section(12, &[])); // a count of data
    with(20, section(11, &[vec![0, 0x41, 0, 0x0b, 1, 7]])); // data
    with(20, custom("more", &[]));
    with(10, custom("name", &[]));
    with(3, custom("early", &[]));
    let two = |s: &mut Sample| s.exports.push(export("g", 0, 0));
    breaks(Obligation::NothingElse, Sample::of(&[GET0, GET1, ADD]).with(two));
    let swapped = |s: &mut Sample| s.exports.swap(1, 2);
    breaks(Obligation::NothingElse, Sample::of(&[GET0, GET1, ADD]).with(swapped));
    let renamed = |s: &mut Sample| s.exports[1] = export("g", 0, 0);
    breaks(Obligation::NothingElse, Sample::of(&[GET0, GET1, ADD]).with(renamed));
}

#[test]
fn what_is_no_module() {
    let good = Sample::of(&[GET0, GET1, ADD]);
    let metadata = Metadata { profile: good.profile, functions: vec![good.facts.clone()] };
    let bytes = good.module();
    for len in 0..bytes.len() {
        assert!(wasm::obligations(&bytes[..len], &metadata).is_err(), "{len} bytes");
    }
    // An operand too few.
    let found = Sample::of(&[GET0, ADD]).check();
    assert!(found.iter().any(|d| d.code == Code::ObjectMalformed), "{found:?}");
}
