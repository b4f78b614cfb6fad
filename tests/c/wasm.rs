//! C for WebAssembly: every row of the machine table through Clang, and in wasmtime against its semantics.

use crate::build::{WARNINGS, compilers};
use rake_backends::c::{self, Source};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::abi::Abi;
use rake_ir::machine::bits::Bits as Word;
use rake_ir::machine::wasm::{ALL, Wasm};
use rake_ir::machine::{Cond, Ctx, Inst, LiteralId, MachOp, Mem, Operand, View};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Outcome, Param, Program, Reg, RegInfo, check};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_testkit::c::{Source as Text, compile_wasm};
use rake_testkit::special::{self, Bits};
use rake_testkit::wasm::{Module, Value};

const PROFILES: [Profile; 2] = [Profile::WasmSimd128, Profile::WasmSimd128Relaxed];

/// What a literal of sixteen bytes holds: lanes to pick, for a shuffle.
const LITERAL: [u8; 16] = [0, 17, 2, 31, 4, 5, 22, 7, 8, 25, 10, 11, 28, 13, 14, 15];

fn ty(view: View) -> Ty {
    match view {
        View::Float => Ty::Uniform(Elem::F32),
        View::Word => Ty::Uniform(Elem::U32),
        _ => Ty::Rack(Elem::F32),
    }
}

/// A function that does what the row does.
fn function(profile: Profile, op: Wasm) -> Function {
    let (row, abi) = (op.info(), Abi::of(profile));
    let literal = |mem: Mem| mem.is_literal();
    let types: Vec<Ty> = row.slots.iter().filter(|slot| !literal(slot.mem)).map(|slot| ty(slot.view)).collect();
    let places = abi.places(types.iter().copied());
    let param = |(at, (&ty, place)): (usize, (&Ty, &Option<_>))| Param {
        name: format!("p{at}").into(),
        ty,
        points_to: None,
        place: place.unwrap(),
        span: Span::default(),
    };
    let params: Vec<Param> = types.iter().zip(&places).enumerate().map(param).collect();
    let mut next = 0..;
    let args = row.slots.iter().map(|slot| match slot.mem {
        Mem::Element => Operand::Broadcast(LiteralId(0)),
        mem if literal(mem) => Operand::Literal(LiteralId(0)),
        _ => Operand::Reg(Reg(next.next().unwrap())),
    });
    let (args, result) = (args.collect(), Reg(types.len() as u32));
    let imm = row.imm.then_some(2);
    let inst = Inst { op: MachOp::Wasm(op), dst: Some(result), args, imm, region: None, span: Span::default() };
    let info = |class| RegInfo { class, name: None, span: Span::default() };
    let result_ty = ty(row.dst.unwrap());
    let literals = row.slots.iter().filter(|slot| literal(slot.mem)).map(|slot| match slot.mem {
        Mem::Element => LITERAL[4..8].to_vec(),
        _ => LITERAL.to_vec(),
    });
    Function {
        name: format!("row_{}", row.name).into(),
        span: Span::default(),
        regs: params.iter().map(|p| info(p.place.class)).chain([info(row.dst.unwrap().class())]).collect(),
        params,
        literals: literals.collect(),
        insts: vec![inst],
        result: Some(Outcome { reg: Reg(types.len() as u32), ty: result_ty, place: abi.result(result_ty) }),
    }
}

/// Conditions whose tests stand in `stacked` alone: C writes them where it branches.
const ORDERS: [Cond; 8] = [
    Cond::Less,
    Cond::LessEqual,
    Cond::Greater,
    Cond::GreaterEqual,
    Cond::Below,
    Cond::BelowEqual,
    Cond::Above,
    Cond::AboveEqual,
];

/// Whether a row takes or gives an `i64`, reads or writes memory or decides what is next: no scratch does, so those run
/// in the programs that fold lanes and, by `tests/runs`, in runs.
fn is_of_bodies(op: Wasm) -> bool {
    let views = op.info().slots.iter().map(|slot| slot.view).chain(op.info().dst);
    let places = op.info().slots.iter().any(|slot| slot.mem.is_address() || slot.mem == Mem::Number);
    let orders = ORDERS.iter().any(|&cond| Wasm::test(false, cond) == op);
    places || orders || op.info().dst.is_none() || views.into_iter().any(|view| matches!(view, View::Long | View::Wide))
}

fn word(lanes: &[u32]) -> Word {
    std::array::from_fn(|lane| lanes.get(lane).copied().unwrap_or(0))
}

/// The row's operands: arguments in order, and the literal's words where it stands.
fn operands(op: Wasm, call: &[Value]) -> Vec<Word> {
    let mut given = call.iter();
    let words: Vec<u32> = LITERAL.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    let one = |mem: Mem| match mem {
        Mem::Element => word(&words[1..2]),
        mem if mem.is_literal() => word(&words),
        _ => word(&given.next().unwrap().words()),
    };
    op.info().slots.iter().map(|slot| slot.mem).map(one).collect()
}

fn arguments(params: &[Param], bits: &mut Bits) -> Vec<Value> {
    let float = |bits: &mut Bits| if bits.below(2) == 0 { bits.pick(special::F32) } else { bits.pick(special::I32) };
    let value = |param: &Param| match param.ty {
        Ty::Uniform(Elem::F32) => Value::F32(bits.pick(special::F32)),
        Ty::Uniform(_) => Value::I32(bits.pick(special::I32)),
        _ => Value::from_lanes(std::array::from_fn(|_| float(bits))),
    };
    params.iter().map(value).collect()
}

fn same(a: &[u32], b: &[u32], floats: bool) -> bool {
    let nan = |x: u32| floats && f32::from_bits(x).is_nan();
    a.iter().zip(b).all(|(&a, &b)| a == b || nan(a) && nan(b))
}

#[test]
fn every_row_is_one_intrinsic_and_means_the_same() {
    let exported = |_: &str| false;
    let options = rake_backends::Options { exported: &exported, compiler: "rakec" };
    for profile in PROFILES {
        let rows = ALL.iter().copied().filter(|&op| MachOp::Wasm(op).is_in(profile) && !is_of_bodies(op));
        let rows: Vec<Wasm> = rows.collect();
        let functions: Vec<Function> = rows.iter().map(|&op| function(profile, op)).collect();
        let program = Program { profile, fuse: FuseLevel::Full, functions };
        assert_eq!(check(&program), Ok(()));
        let c = c::emit(Source::Selected(&program), &options, "rows", &|_| None).unwrap();
        let names: Vec<&str> = program.functions.iter().map(|f| f.name.as_str()).collect();
        let (_, machine) = compilers(profile)[0];
        for level in ["-O0", "-O3"] {
            let flags = [&WARNINGS[..], machine, &["-std=c11", level]].concat();
            let module = compile_wasm(Text::Text(&c), &flags, &names).unwrap_or_else(|e| panic!("{profile}: {e}\n{c}"));
            let module = Module::new(&module).unwrap();
            for (&op, f) in rows.iter().zip(&program.functions).filter(|(op, _)| !op.info().name.contains("relaxed")) {
                let mut bits = Bits::new(op as u64);
                let calls: Vec<Vec<Value>> = (0..200).map(|_| arguments(&f.params, &mut bits)).collect();
                let results = module.run(&f.name, &calls).unwrap_or_else(|e| panic!("{}: {e}", f.name));
                for (call, result) in calls.iter().zip(results) {
                    let ctx = Ctx { lanes: 4, imm: f.insts[0].imm.unwrap_or(0) };
                    let expected = (op.info().eval)(ctx, &operands(op, call));
                    let floats = op.info().name.starts_with("f32");
                    let got = result.words();
                    assert!(same(&got, &expected, floats), "{} {level}: {got:x?} on {call:x?}", f.name);
                }
            }
        }
    }
}
