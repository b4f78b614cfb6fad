//! The verifier accepts good WebAssembly modules, and rejects every flipped bit of one and every edit of a stacked
//! instruction, unless what is left is the same module in other bytes.

#[path = "common/module.rs"]
mod module_said;

use module_said::said;
use rake_backends::Options;
use rake_backends::wasm::module;
use rake_ir::lane::FuseLevel;
use rake_ir::machine::abi::WEBASSEMBLY;
use rake_ir::machine::wasm::{ALL, Wasm};
use rake_ir::machine::{Class, LiteralId, MachOp, Mem, View};
use rake_ir::profile::Profile;
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::stacked::{Code, Function, Inst, Program, Returned, check, local_order};
use rake_ir::types::{Elem, Ty};
use rake_verifier::wasm::verify;

const OPTIONS: Options<'static> = Options { exported: &|_| true, compiler: "rakec 0.1.0" };
const PROFILES: [Profile; 2] = [Profile::WasmSimd128, Profile::WasmSimd128Relaxed];

fn emit(program: &Program) -> Vec<u8> {
    module::emit(program, &OPTIONS).unwrap()
}

fn type_of(class: Class) -> Ty {
    match class {
        Class::G => Ty::Uniform(Elem::I32),
        Class::F => Ty::Uniform(Elem::F32),
        Class::V | Class::K | Class::S => Ty::Rack(Elem::F32),
    }
}

/// A function that takes what a row takes, through a local of each class, and gives what it gives.
fn function(op: Wasm) -> Function {
    let row = op.info();
    let long = |view: View| view == View::Long;
    let mut code = Vec::new();
    let mut push = |one: Code| code.push(Inst { code: one, region: None, note: None, span: Span::default() });
    let op_of = |op: Wasm, literals: &[u32], imm: Option<u8>| Code::Op {
        op: MachOp::Wasm(op),
        literals: literals.iter().map(|&literal| LiteralId(literal)).collect(),
        imm,
    };
    let taken = row.slots.iter().filter(|slot| !slot.mem.is_literal());
    let params: Vec<Class> = taken.clone().filter(|slot| !long(slot.view)).map(|slot| slot.view.class()).collect();
    // One local for each parameter, those of a class together.
    let mut order: Vec<usize> = (0..params.len()).collect();
    order.sort_by_key(|&param| local_order(params[param]));
    let locals = order.iter().map(|&param| params[param]).collect();
    let mut param = 0;
    for slot in taken {
        if long(slot.view) {
            push(op_of(Wasm::I64Const, &[2], None));
            continue;
        }
        let local = order.iter().position(|&at| at == param).unwrap();
        push(Code::Get(param as u32));
        push(Code::Tee((params.len() + local) as u32));
        param += 1;
    }
    let literal = row.slots.iter().find(|slot| slot.mem.is_literal()).map(|slot| match (slot.mem, long(slot.view)) {
        (Mem::Element, true) => 2,
        (Mem::Element, false) => 1,
        _ => 0,
    });
    let last_lane = if row.name.starts_with("i64x2") { 1 } else { 3 };
    push(op_of(op, &literal.into_iter().collect::<Vec<_>>(), row.imm.then_some(last_lane)));
    let mut result = row.dst.unwrap();
    if long(result) {
        push(op_of(Wasm::I64x2Splat, &[], None));
        result = View::Rack;
    }
    let types: Vec<Ty> = params.iter().map(|&class| type_of(class)).collect();
    let places = WEBASSEMBLY.places(types.iter().copied());
    let param = |(at, (&ty, place)): (usize, (&Ty, _))| Param {
        name: format!("p{at}").into(),
        ty,
        points_to: None,
        place: Option::unwrap(place),
        span: Span::default(),
    };
    Function {
        name: row.name.into(),
        span: Span::default(),
        params: types.iter().zip(places).enumerate().map(param).collect(),
        locals,
        literals: vec![(0..16).map(|at| (at * 7) % 32).collect(), vec![1, 2, 3, 0x40], (1..9).collect()],
        code,
        result: Some(Returned { ty: type_of(result.class()), place: WEBASSEMBLY.result(type_of(result.class())) }),
    }
}

fn rows(profile: Profile) -> impl Iterator<Item = Wasm> {
    ALL.iter().copied().filter(move |&op| MachOp::Wasm(op).is_in(profile))
}

fn program(profile: Profile, ops: impl Iterator<Item = Wasm>) -> Program {
    let program = Program { profile, fuse: FuseLevel::Full, functions: ops.map(function).collect() };
    assert_eq!(check(&program), Ok(()));
    program
}

#[test]
fn good_modules_are_accepted() {
    for profile in PROFILES {
        let program = program(profile, rows(profile));
        let report = verify(&emit(&program), &program, None).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
        assert_eq!(report.functions.len(), program.functions.len());
        assert!(report.instructions() > 200);
        eprintln!("{profile}: {} instructions accepted", report.instructions());
    }
}

#[test]
fn every_flipped_bit_is_rejected() {
    let (mut tried, mut same) = (0u64, 0u64);
    let profile = Profile::WasmSimd128Relaxed;
    for op in rows(profile) {
        let program = program(profile, [op].into_iter());
        let mut module = emit(&program);
        let right = said(&module);
        for at in 0..module.len() {
            for bit in 0..8 {
                module[at] ^= 1 << bit;
                tried += 1;
                if verify(&module, &program, None).is_ok() {
                    assert_eq!(said(&module), right, "{} byte {at:#x}, bit {bit}", op.info().name);
                    same += 1;
                }
                module[at] ^= 1 << bit;
            }
        }
    }
    eprintln!("{tried} flipped bits of modules tried, {same} left the same module, all others rejected");
    assert!(tried > 100_000);
}

#[test]
fn damaged_modules_never_panic() {
    let profile = Profile::WasmSimd128Relaxed;
    let program = program(profile, rows(profile).take(6));
    let good = emit(&program);
    let mut state = 5u64;
    let mut random = |bound: usize| {
        // Numerical Recipes' linear congruential generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..3000 {
        let mut module = good.clone();
        for _ in 0..1 + random(4) {
            let at = random(module.len());
            module[at] = random(256) as u8;
        }
        let _ = verify(&module, &program, None);
    }
    for len in 0..good.len() {
        assert!(verify(&good[..len], &program, None).is_err());
    }
}

/// Every program that differs from `program` in one instruction of its only function.
fn edits(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    let mut push = |at: usize, with: Vec<Inst>| {
        let mut edited = program.clone();
        edited.functions[0].code.splice(at..=at, with);
        out.push(edited);
    };
    for (at, inst) in program.functions[0].code.iter().enumerate() {
        push(at, vec![]);
        push(at, vec![inst.clone(), inst.clone()]);
        let mut with = |code: Code| push(at, vec![Inst { code, ..inst.clone() }]);
        for local in 0..8 {
            with(Code::Get(local));
            with(Code::Set(local));
            with(Code::Tee(local));
        }
        let (literals, imm) = match &inst.code {
            Code::Op { literals, imm, .. } => (literals.clone(), *imm),
            _ => Default::default(),
        };
        for &op in ALL {
            with(Code::Op { op: MachOp::Wasm(op), literals: literals.clone(), imm });
        }
        if let Code::Op { op, .. } = inst.code {
            for imm in [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(16), Some(255)] {
                with(Code::Op { op, literals: literals.clone(), imm });
            }
            for literal in (0..4).map(LiteralId) {
                with(Code::Op { op, literals: [literal].into_iter().collect(), imm });
            }
            with(Code::Op { op, literals: Default::default(), imm });
        }
    }
    for literal in 0..program.functions[0].literals.len() {
        let mut edited = program.clone();
        edited.functions[0].literals[literal][1] ^= 4;
        out.push(edited);
    }
    for class in Class::ALL {
        let mut edited = program.clone();
        edited.functions[0].locals.push(class);
        out.push(edited);
    }
    out
}

#[test]
fn every_edit_of_a_stacked_instruction_is_rejected() {
    let (mut tried, mut same) = (0u64, 0u64);
    for profile in PROFILES {
        for op in rows(profile) {
            let program = program(profile, [op].into_iter());
            let module = emit(&program);
            for edited in edits(&program).into_iter().filter(|edited| *edited != program) {
                tried += 1;
                if verify(&module, &edited, None).is_ok() {
                    // A literal that nothing reads is in no module.
                    assert_eq!(emit(&edited), module, "{:#?}", edited.functions[0]);
                    same += 1;
                }
            }
        }
    }
    eprintln!("{tried} edits of stacked instructions tried, {same} are the same module, all others rejected");
    assert!(tried > 20_000);
}
