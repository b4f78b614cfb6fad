//! Both WebAssembly engines on hand-assembled modules and on clang's; expected values are worked out by hand.

use rake_testkit::c::{Source, compile_wasm};
use rake_testkit::special::{self, Bits};
use rake_testkit::wasm::{Job, Module, Type, Value, check_node, run_in_node};

/// A vector of the binary format: its length, then its items. All lengths here take one byte.
fn vector(items: &[Vec<u8>]) -> Vec<u8> {
    [vec![items.len() as u8], items.concat()].concat()
}

fn section(id: u8, items: &[Vec<u8>]) -> Vec<u8> {
    let content = vector(items);
    [vec![id, content.len() as u8], content].concat()
}

/// A module of one page of memory and one function, exported as `f`.
fn module(params: &[u8], results: &[u8], body: &[u8]) -> Vec<u8> {
    let bytes = |items: &[u8]| [vec![items.len() as u8], items.to_vec()].concat();
    let export = |name: &str, kind: u8| [bytes(name.as_bytes()), vec![kind, 0]].concat();
    let code = bytes(&[&[0], body, &[0x0b]].concat());
    [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &[[vec![0x60], bytes(params), bytes(results)].concat()]),
        section(3, &[vec![0]]),
        section(5, &[vec![0, 1]]),
        section(7, &[export("memory", 2), export("f", 0)]),
        section(10, &[code]),
    ]
    .concat()
}

const I32: u8 = 0x7f;
const F32: u8 = 0x7d;
const V128: u8 = 0x7b;
const GET_0: [u8; 2] = [0x20, 0];
const GET_1: [u8; 2] = [0x20, 1];
const GET_2: [u8; 2] = [0x20, 2];

fn rack(lanes: [f32; 4]) -> Value {
    Value::from_lanes(lanes.map(f32::to_bits))
}

#[test]
fn racks_and_scalars_go_in_and_out() {
    // f32x4.add(a, i32x4.splat(n)) after f32x4.mul(a, f32x4.splat(x))
    let body = [&GET_0[..], &GET_2, &[0xfd, 0x13, 0xfd, 0xe6, 0x01], &GET_1, &[0xfd, 0x11, 0xfd, 0xae, 0x01]].concat();
    let scale = Module::new(&module(&[V128, I32, F32], &[V128], &body)).unwrap();
    assert_eq!(scale.functions(), ["f"]);
    // 1.5 * 2 is 3, whose bits are 0x40400000; i32x4.add of -1 takes one from them.
    let call = vec![rack([1.5, -1.5, 0.0, 0.5]), Value::I32(!0), Value::F32(2.0_f32.to_bits())];
    let expected = Value::from_lanes([0x403f_ffff, 0xc03f_ffff, !0, 0x3f7f_ffff]);
    assert_eq!(scale.run("f", &[call.clone(), call]).unwrap(), [expected; 2]);
    assert_eq!(scale.run("f", &[]).unwrap(), []);

    // NaNs pass as bits: f32 by f32x4.extract_lane 3, i32 by i32x4.extract_lane 1.
    let nans = Value::from_lanes([0, 0xff80_0001, 0, 0x7fa0_1234]);
    let float = Module::new(&module(&[V128], &[F32], &[&GET_0[..], &[0xfd, 0x1f, 3]].concat())).unwrap();
    assert_eq!(float.run("f", &[vec![nans]]).unwrap(), [Value::F32(0x7fa0_1234)]);
    let int = Module::new(&module(&[V128], &[I32], &[&GET_0[..], &[0xfd, 0x1b, 1]].concat())).unwrap();
    assert_eq!(int.run("f", &[vec![nans]]).unwrap(), [Value::I32(0xff80_0001)]);
}

#[test]
fn relaxed_instructions_run() {
    // f32x4.relaxed_madd(a, b, c), as in the engines of the other machines: once rounded it is 2^-46.
    let body = [&GET_0[..], &GET_1, &GET_2, &[0xfd, 0x85, 0x02]].concat();
    let module = module(&[V128, V128, V128], &[V128], &body);
    let next = f32::from_bits(0x3f80_0001);
    let call = vec![rack([next; 4]), rack([next; 4]), rack([-f32::from_bits(0x3f80_0002); 4])];
    for run in [Module::new, Module::deterministic] {
        let outs = run(&module).unwrap().run("f", std::slice::from_ref(&call)).unwrap();
        assert_eq!(outs, [Value::from_lanes([0x2880_0000; 4])]);
    }
    // relaxed_min of zeros of both signs gives either; the deterministic profile gives what min does.
    let body = [&GET_0[..], &GET_1, &[0xfd, 0x8d, 0x02]].concat();
    let least = self::module(&[V128, V128], &[V128], &body);
    let zeros = vec![rack([0.0, -0.0, 1.0, -1.0]), rack([-0.0, 0.0, -1.0, 1.0])];
    let outs = Module::deterministic(&least).unwrap().run("f", &[zeros]).unwrap();
    assert_eq!(outs, [rack([-0.0, -0.0, -1.0, -1.0])]);
}

/// Kernels with their wrappers, as a module of ours has them.
const WRAPPED: &str = r#"
#include <wasm_simd128.h>
#define KERNEL(name) __attribute__((export_name(#name)))
#define WRAPPER(name) __attribute__((export_name(#name ".memory")))

KERNEL(scale) v128_t scale(v128_t a, int n, float x, v128_t b) {
  return wasm_i32x4_add(wasm_f32x4_mul(a, wasm_f32x4_splat(x)), wasm_v128_xor(b, wasm_i32x4_splat(n)));
}
WRAPPER(scale) void scale_memory(v128_t *out, const v128_t *a, int n, float x, const v128_t *b) {
  *out = scale(*a, n, x, *b);
}
KERNEL(last) float last(v128_t a) { return wasm_f32x4_extract_lane(a, 3); }
WRAPPER(last) float last_memory(const v128_t *a) { return last(*a); }
KERNEL(second) int second(v128_t a, int n) { if (n == 7) __builtin_trap(); return wasm_i32x4_extract_lane(a, 1) + n; }
WRAPPER(second) int second_memory(const v128_t *a, int n) { return second(*a, n); }
KERNEL(madd) v128_t madd(v128_t a, v128_t b, v128_t c) { return wasm_f32x4_relaxed_madd(a, b, c); }
WRAPPER(madd) void madd_memory(v128_t *out, const v128_t *a, const v128_t *b, const v128_t *c) { *out = madd(*a, *b, *c); }
"#;

fn wrapped() -> Vec<u8> {
    compile_wasm(Source::Text(WRAPPED), &["-O2", "-mrelaxed-simd", "-Wall", "-Werror"], &[]).unwrap()
}

#[test]
fn wrappers_give_what_exports_give() {
    let (bytes, bits) = (wrapped(), &mut Bits::new(1));
    let module = Module::new(&bytes).unwrap();
    let mut random = || Value::from_lanes(std::array::from_fn(|_| bits.u32()));
    let ints = [0, 1, 0x8000_0000, !0];
    let floats = [0, 0x8000_0000, 0x3fc0_0000, 0x7f80_0000];
    let scale: Vec<Vec<Value>> =
        (0..64).map(|i| vec![random(), Value::I32(ints[i % 4]), Value::F32(floats[i / 4 % 4]), random()]).collect();
    let last: Vec<Vec<Value>> = special::F32.iter().map(|&bits| vec![Value::from_lanes([1, 2, 3, bits])]).collect();
    let second: Vec<Vec<Value>> = ints.iter().map(|&n| vec![random(), Value::I32(n)]).collect();
    let job = |name, result, calls| Job { module: &bytes, name, result, calls };
    let jobs = [job("scale", Type::V128, &scale), job("last", Type::F32, &last), job("second", Type::I32, &second)];
    let in_node = run_in_node(&jobs).unwrap();
    for (job, in_node) in jobs.iter().zip(in_node) {
        let whole = module.run(job.name, job.calls).unwrap();
        assert_eq!(module.run_wrapper(job.name, job.result, job.calls).unwrap(), whole);
        for (node, direct) in in_node.into_iter().zip(whole) {
            match (node, direct) {
                (Value::F32(a), Value::F32(b)) if f32::from_bits(b).is_nan() => assert!(f32::from_bits(a).is_nan()),
                // Products may be NaNs, of any sign and payload.
                (Value::V128(_), Value::V128(_)) if job.name == "scale" => {
                    for (a, b) in node.words().into_iter().zip(direct.words()) {
                        assert!(a == b || (a ^ b) & 0x003f_ffff == 0, "{a:x} {b:x}");
                    }
                }
                _ => assert_eq!(node, direct, "{}", job.name),
            }
        }
    }
    // By hand: 2 * 1.5 is 3 (0x40400000), and 5 xor 4 is 1.
    let call = [vec![rack([2.0; 4]), Value::I32(4), Value::F32(1.5_f32.to_bits()), Value::from_lanes([5; 4])]];
    let expected = [Value::from_lanes([0x4040_0001; 4])];
    assert_eq!(module.run_wrapper("scale", Type::V128, &call).unwrap(), expected);
    assert_eq!(run_in_node(&[job("scale", Type::V128, &call)]).unwrap(), [expected]);
    // Node rounds a relaxed_madd once or twice, as the CPU does.
    let next = f32::from_bits(0x3f80_0001);
    let call = [vec![rack([next; 4]), rack([next; 4]), rack([-f32::from_bits(0x3f80_0002); 4])]];
    let outs = run_in_node(&[job("madd", Type::V128, &call)]).unwrap();
    assert!([[0x2880_0000; 4], [0; 4]].map(Value::from_lanes).contains(&outs[0][0]), "{outs:?}");
}

#[test]
fn what_goes_wrong_is_told_with_its_place() {
    let bytes = wrapped();
    let module = Module::new(&bytes).unwrap();
    let call = |n| vec![Value::from_lanes([1, 2, 3, 4]), Value::I32(n)];
    let calls = [call(6), call(7)];
    assert_eq!(module.run("second", &calls[..1]).unwrap(), [Value::I32(8)]);
    for error in [module.run("second", &calls), module.run_wrapper("second", Type::I32, &calls)] {
        let error = error.unwrap_err();
        assert!(error.starts_with("record 1: ") && error.contains("unreachable"), "{error}");
    }
    let job = Job { module: &bytes, name: "second", result: Type::I32, calls: &calls };
    let fine = Job { calls: &calls[..1], ..job };
    assert_eq!(run_in_node(&[fine, job]).unwrap_err(), "job 1, record 1: RuntimeError: unreachable");

    let errors = [
        (module.run("none", &calls), "the module exports no function `none`"),
        (module.run("memory", &calls), "the module exports no function `memory`"),
        (module.run("last", &calls), "`last` takes [V128], not [V128, I32]"),
        (module.run("scale.memory", &calls), "`scale.memory` has no result"),
        (module.run("second", &[call(1), vec![]]), "record 1 has arguments [], record 0 [V128, I32]"),
        (module.run_wrapper("second", Type::V128, &calls), "`second.memory` returns Some(I32), and must give a V128"),
        (module.run_wrapper("last", Type::F32, &calls), "`last.memory` takes [I32], not [I32, I32]"),
    ];
    for (outs, message) in errors {
        assert_eq!(outs.unwrap_err(), message);
    }
    let node = |name, result| run_in_node(&[fine, Job { name, result, ..fine }]).unwrap_err();
    assert_eq!(node("none", Type::I32), "job 1, record 0: Error: the module exports no function `none.memory`");
    assert_eq!(node("last", Type::F32), "job 1, record 0: Error: `last.memory` takes 1 parameters, not 2");
    assert_eq!(check_node(), Ok(()));
}

#[test]
fn invalid_modules_are_refused() {
    // f32x4.add of a rack and an integer
    let wrong = module(&[V128, I32], &[V128], &[&GET_0[..], &GET_1, &[0xfd, 0xe4, 0x01]].concat());
    let error = Module::new(&wrong).unwrap_err();
    assert!(error.contains("type mismatch"), "{error}");
    let job = Job { module: &wrong, name: "f", result: Type::V128, calls: &[] };
    assert!(run_in_node(&[job]).unwrap_err().starts_with("job 0, record 0: CompileError: "));
    assert!(Module::new(b"\0asm").is_err());
    let whole = wrapped();
    for end in (0..whole.len()).step_by(41) {
        assert!(Module::new(&whole[..end]).is_err());
    }
}

#[test]
fn many_calls_are_one_run() {
    let bytes = wrapped();
    let ints: Vec<Vec<Value>> = (0..50_000).map(|i| vec![Value::from_lanes([i; 4]), Value::I32(8)]).collect();
    let expected: Vec<Value> = (8..50_008).map(Value::I32).collect();
    assert_eq!(Module::new(&bytes).unwrap().run("second", &ints).unwrap(), expected);
    let job = Job { module: &bytes, name: "second", result: Type::I32, calls: &ints };
    assert_eq!(run_in_node(&[job, job]).unwrap(), [expected.clone(), expected]);
}
