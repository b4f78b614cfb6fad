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
use rake_ir::machine::{Class, Kind, LiteralId, MachOp, Mem, View};
use rake_ir::profile::Profile;
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::stacked::{self, Code, Function, Inst, Program, Returned, check, local_order};
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
        Class::L => Ty::LONG,
        Class::V | Class::K | Class::S => Ty::Rack(Elem::F32),
    }
}

/// A function that takes what a row takes, through a local of each class, and gives what it gives. A transfer stands in a run,
/// at an offset, and what it gives stays in a local.
fn function(op: Wasm) -> Function {
    let row = op.info();
    let long = |view: View| view == View::Wide;
    let mut code = Vec::new();
    let mut push = |one: Code| code.push(Inst { code: one, region: None, note: None, span: Span::default() });
    let op_of = |op: Wasm, literals: &[u32], imm: Option<u8>| Code::Op {
        op: MachOp::Wasm(op),
        literals: literals.iter().map(|&literal| LiteralId(literal)).collect(),
        imm,
        offset: if op.info().address_slot().is_some() { 16 } else { 0 },
    };
    let run = row.kind == Kind::Transfer;
    let taken = row.slots.iter().filter(|slot| !slot.mem.is_literal());
    let params: Vec<Class> = taken.clone().filter(|slot| !long(slot.view)).map(|slot| slot.view.class()).collect();
    // One local for each parameter, those of a class together.
    let mut order: Vec<usize> = (0..params.len()).collect();
    order.sort_by_key(|&param| local_order(params[param]));
    let mut locals: Vec<Class> = order.iter().map(|&param| params[param]).collect();
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
    let last_lane = if row.name.starts_with("i64x2") || op == Wasm::V128Store64Lane { 1 } else { 3 };
    push(op_of(op, &literal.into_iter().collect::<Vec<_>>(), row.imm.then_some(last_lane)));
    let mut result = row.dst;
    if result.is_some_and(long) {
        push(op_of(Wasm::I64x2Splat, &[], None));
        result = Some(View::Rack);
    }
    if let Some(view) = result.filter(|_| run) {
        push(Code::Set((params.len() + locals.len()) as u32));
        locals.push(view.class());
        assert!(locals.is_sorted_by_key(|class| local_order(*class)), "{}", row.name);
    }
    let result = result.filter(|_| !run).map(|view| type_of(view.class()));
    let mut types: Vec<Ty> = params.iter().map(|&class| type_of(class)).collect();
    if run {
        types[0] = Ty::Address;
    }
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
        result: result.map(|ty| Returned { ty, place: WEBASSEMBLY.result(ty) }),
    }
}

fn rows(profile: Profile) -> impl Iterator<Item = Wasm> {
    ALL.iter().copied().filter(move |&op| op.is_instruction() && MachOp::Wasm(op).is_in(profile))
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

/// A run with every kind of body: a check, and a loop in a choice.
fn bodies() -> Program {
    let text = "rake stacked 1
profile wasm-simd128-relaxed
fuse full

run f(x: address to mut []f32 = g0, x_count: <i32> = g1) {
  locals g l v
  literal 0 = 0x04000000
  literal 1 = 0x0100000000000000
  local.get 1
  literal_op
  i32_lt_s
  if
    unreachable
  else
  end
  local.get 1
  i64_extend_i32_s
  local.set 3
  local.get 1
  if
    local.get 0
    local.set 2
    loop
      local.get 2
      local.get 2
      v128_load
      local.tee 4
      local.get 4
      f32x4_add
      v128_store offset 16
      local.get 2
      i32_const literal 0
      i32_add
      local.set 2
      local.get 3
      i64_const literal 1
      i64_sub
      local.tee 3
      i64_const literal 1
      i64_gt_s
      br_if
    end
  else
    local.get 0
    i64_const literal 1
    i64_store
  end
}
";
    let program = stacked::read(&text.replace("literal_op", "i32_const literal 0")).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(check(&program), Ok(()));
    program
}

/// A program for each row, and one with bodies.
fn samples(profile: Profile) -> impl Iterator<Item = Program> {
    let bodies = Program { profile, ..bodies() };
    rows(profile).map(move |op| program(profile, [op].into_iter())).chain([bodies])
}

#[test]
fn every_flipped_bit_is_rejected() {
    let (mut tried, mut same) = (0u64, 0u64);
    let profile = Profile::WasmSimd128Relaxed;
    for program in samples(profile) {
        let mut module = emit(&program);
        let right = said(&module);
        for at in 0..module.len() {
            for bit in 0..8 {
                module[at] ^= 1 << bit;
                tried += 1;
                if verify(&module, &program, None).is_ok() {
                    assert_eq!(said(&module), right, "{} byte {at:#x}, bit {bit}", program.functions[0].name);
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
        for code in [Code::Loop, Code::If, Code::Else, Code::End, Code::Again, Code::Trap] {
            with(code);
        }
        let (literals, imm, offset) = match &inst.code {
            Code::Op { literals, imm, offset, .. } => (literals.clone(), *imm, *offset),
            _ => Default::default(),
        };
        for &op in ALL {
            with(Code::Op { op: MachOp::Wasm(op), literals: literals.clone(), imm, offset });
        }
        if let Code::Op { op, .. } = inst.code {
            for imm in [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(16), Some(255)] {
                with(Code::Op { op, literals: literals.clone(), imm, offset });
            }
            for offset in [0, 1, 8, 32] {
                with(Code::Op { op, literals: literals.clone(), imm, offset });
            }
            for literal in (0..4).map(LiteralId) {
                with(Code::Op { op, literals: [literal].into_iter().collect(), imm, offset });
            }
            with(Code::Op { op, literals: Default::default(), imm, offset });
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
        for program in samples(profile) {
            let module = emit(&program);
            for edited in edits(&program).into_iter().filter(|edited| *edited != program) {
                tried += 1;
                if verify(&module, &edited, None).is_ok() {
                    // A literal that nothing reads is in no module.
                    let made = module::emit(&edited, &OPTIONS).ok();
                    assert_eq!(made, Some(module.clone()), "{}", stacked::print(&edited));
                    same += 1;
                }
            }
        }
    }
    eprintln!("{tried} edits of stacked instructions tried, {same} are the same module, all others rejected");
    assert!(tried > 20_000);
}
