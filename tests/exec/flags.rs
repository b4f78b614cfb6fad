//! Inactive lanes raise no floating-point exception, whatever stands in them.

use crate::arguments::{Arguments, Raw, encode, random};
use crate::engine::{self, Code, Outcome, Run, Signature, codes};
use crate::support::{from_environment, object, plain, profiles};
use rake_ir::capabilities::{Status, operation};
use rake_ir::lane::{FuseLevel, needs_benign};
use rake_ir::ops::{OPS, Op, Syntax};
use rake_ir::profile::{Family, Profile};
use rake_ir::types::{Elem, Ty};
use rake_testkit::source::random::guarded;
use rake_testkit::special::Bits;
use std::collections::BTreeMap;
use std::rc::Rc;

const F: Ty = Ty::Rack(Elem::F32);

/// Operands that raise what each operation can raise: signalling NaNs, zeros, subnormals, infinities of both signs, the
/// greatest numbers, negative and inexact ones.
const TEMPTATIONS: &[u32] = &[
    0x7fa0_0001,
    0xffa0_0001,
    0,
    0x8000_0000,
    1,
    0x807f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0xbf80_0001,
    0x3eaa_aaab,
    0x0080_0001,
];

/// Operations under `if m`, whose other branch is a parameter.
const GUARDED: &[(&str, &str)] = &[
    ("sum", "if m then a + b else c"),
    ("difference", "if m then a - b else c"),
    ("multiple", "if m then a * b else c"),
    ("quotient", "if m then a / b else c"),
    ("root", "if m then sqrt(a) else c"),
    ("below", "if m then (if a < b then a else b) else c"),
    ("equal", "if m then select(a = b, c, a) else c"),
    ("unequal", "if m then select(a != b, c, a) else c"),
    ("other_branch", "if not m then c else a / b"),
    ("both_branches", "if m then a / b else sqrt(c)"),
    ("nested", "if m then (if n then a / b else a * b) else c"),
    ("nested_twice", "if m then (if n then (if a > b then a - b else b / a) else sqrt(a)) else c"),
    ("shared", "if m then a * b + a * b else c"),
    ("contracted", "if m then a * b + a else c"),
    ("contracted_minus", "if m then a * b - a else c"),
    ("contracted_negated", "if m then a - a * b else c"),
    ("longer", "if m then (a + b) * (a - b) / (a * b + 1.0) else c"),
    ("literal", "if m then a / 3.0 + 0.1 else c"),
    ("disjunction", "if m or n then a / b else c"),
    ("conjunction", "if m and not n then a / b else c"),
    ("flag", "if <t> then a / b else c"),
    ("flag_lanes", "if <t> then (if m then sqrt(a / b) else c) else c"),
];

fn program() -> String {
    let mut text = String::new();
    for (name, expression) in GUARDED {
        let params = "m: mask, n: mask, a: f32s, b: f32s, c: f32s, <t: bool>";
        text.push_str(&format!("scratch {name}({params}) -> f32s:\n  {expression}\n\n"));
        text.push_str(&format!("scratch {name}_stage({params}) -> f32s:\n  | r <| {expression}\n  r\n\n"));
    }
    text
}

/// The profiles whose machine code raises flags. Of `scalar` only the values are promised: once a C compiler has the
/// text, it may compute in any lane or branch what it can prove to have no effect on them.
fn flagged() -> Vec<Profile> {
    let native = |family| matches!(family, Family::X86 | Family::Aarch64);
    profiles().into_iter().filter(|profile| profile.info().fp_flags && native(profile.info().family)).collect()
}

/// A function of an object and its calls.
struct Task {
    what: String,
    profile: Profile,
    code: Code,
    signature: Signature,
    arguments: Vec<Arguments>,
}

impl Task {
    /// What a call got as its fifth rack, where it is the third `f32s` after two masks or the other branch after four.
    fn fifth(&self, call: usize) -> Vec<u32> {
        let bytes = &self.arguments[call].regs.vec[4][..4 * self.profile.lanes_of_bits(32)];
        bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
    }
}

/// The code of functions of an object.
fn code(object: Vec<u8>, profile: Profile, names: &[&str], signature: &Signature) -> Vec<Code> {
    let functions: Vec<_> = names.iter().map(|&name| (name, signature.clone())).collect();
    codes(profile, &Rc::from(object), &functions).unwrap().concat()
}

fn run(tasks: &[Task]) -> Vec<Vec<Outcome>> {
    let runs = tasks.iter().map(|t| Run { code: &t.code, signature: &t.signature, arguments: &t.arguments });
    let outs = engine::run(&runs.collect::<Vec<_>>()).unwrap_or_else(|failure| panic!("{}", failure.message));
    outs.into_iter().map(|outs| outs.into_iter().flatten().collect()).collect()
}

/// With every lane inactive, whatever the operands, the result is `c` and no flag is raised.
#[test]
fn no_active_lane_no_flag() {
    let params = [Ty::Mask(32), Ty::Mask(32), F, F, F, Ty::Uniform(Elem::Bool)];
    let mut tasks = Vec::new();
    for profile in flagged() {
        let lanes = profile.lanes_of_bits(32);
        let object = object(&program(), profile, FuseLevel::Full).unwrap_or_else(|d| panic!("{}", plain(&d)));
        let mut bits = Bits::new(5);
        let mut arguments = Vec::new();
        for _ in 0..40 {
            let tempting = |bits: &mut Bits| Raw::Lanes((0..lanes).map(|_| bits.pick(TEMPTATIONS)).collect());
            let (none, a, b) = (Raw::Lanes(vec![0x7fff_ffff; lanes]), tempting(&mut bits), tempting(&mut bits));
            // `both_branches` takes the root of `c` in these lanes.
            let c = Raw::Lanes((0..lanes).map(|_| bits.pick(&[0x4080_0000, 0x3f80_0000])).collect());
            let raw = [none.clone(), none, a, b, c, Raw::Word(0xffff_ff00)];
            arguments.push(encode(&params, &raw, lanes));
        }
        let functions =
            GUARDED.iter().flat_map(|(name, what)| [((*name).to_owned(), what), (format!("{name}_stage"), what)]);
        let functions: Vec<(String, &&str)> = functions.collect();
        let names: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
        let signature = Signature { params: params.to_vec(), result: F };
        for ((name, expression), code) in functions.iter().zip(code(object, profile, &names, &signature)) {
            let (what, signature, arguments) = (format!("{name}: {expression}"), signature.clone(), arguments.clone());
            tasks.push(Task { what, profile, code, signature, arguments });
        }
    }
    for (task, outs) in tasks.iter().zip(run(&tasks)) {
        for (call, out) in outs.iter().enumerate() {
            let (profile, what) = (task.profile, &task.what);
            assert_eq!(out.flags, 0, "{what} on {profile}: flags {:#x}", out.flags);
            if !what.starts_with("both_branches") {
                assert_eq!(out.words, task.fifth(call), "{what} on {profile}");
            }
        }
    }
}

/// Integers whose conversions are inexact or exact, of both signs.
const INTEGERS: &[u32] = &[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0100_0001, 0xfeff_ffff, 31];

/// An operation of the table over operands of one type, as source.
fn written(op: Op, arity: usize) -> Option<String> {
    let row = op.info();
    let names = &["a", "b", "c"][..arity.min(3)];
    match (row.syntax, names) {
        (Syntax::Call, names) => Some(format!("{}({})", row.spelling, names.join(", "))),
        (Syntax::Infix, [a, b]) => Some(format!("{a} {} {b}", row.spelling)),
        (Syntax::Prefix, [a]) => Some(format!("{} {a}", row.spelling)),
        _ => None,
    }
}

/// The forms in which an operation stands under the mask `m`; `d` is the other branch.
fn under_masks(what: &str, elem: &str, result: &str) -> String {
    let params = format!("m: mask, a: {elem}, b: {elem}, c: {elem}, d: {result}");
    let order = "a < b";
    format!(
        "scratch branch({params}) -> {result}:\n  if m then {what} else d\n\n\
         scratch other({params}) -> {result}:\n  if not m then d else {what}\n\n\
         scratch nested({params}) -> {result}:\n  \
         if m then (if {order} then {what} else {what}) else d\n\n\
         rake block({params}) -> {result}:\n  tine #on means m\n  through #on into r:\n    {what}\n  \
         sweep:\n    | #on => r\n    | _ => d\n"
    )
}

/// Every operation of the table that may raise a flag, on every profile that has it, under a mask without lanes.
#[test]
fn no_operation_raises_a_flag_in_inactive_lanes() {
    let mut tasks = Vec::new();
    for profile in flagged() {
        let (mut seen, lanes) = (0, profile.lanes_of_bits(32));
        for row in OPS {
            for elem in [Elem::F32, Elem::I32, Elem::U32] {
                let arity = usize::from(row.arity.1);
                let args = vec![Ty::Rack(elem); arity];
                let Ok(result) = row.op.infer(&args, None) else { continue };
                if needs_benign(row.op, elem, result.elem()).is_none()
                    || operation(row.op, elem, profile) != Status::Available
                {
                    continue;
                }
                let Some(mut what) = written(row.op, arity) else { continue };
                let mut result = result;
                if matches!(result, Ty::Mask(_)) {
                    (what, result) = (format!("select({what}, a, b)"), Ty::Rack(elem));
                }
                let ty = Ty::Rack(elem);
                let text = under_masks(&what, &ty.to_string(), &result.to_string());
                let object = object(&text, profile, FuseLevel::Full)
                    .unwrap_or_else(|d| panic!("{} on {profile}: {}\n{text}", row.name, plain(&d)));
                let mut bits = Bits::new(11);
                let params = [Ty::Mask(32), ty, ty, ty, result];
                let from = if elem == Elem::F32 { TEMPTATIONS } else { INTEGERS };
                let mut arguments = Vec::new();
                for _ in 0..24 {
                    let mut lanes_of = |from: &[u32]| Raw::Lanes((0..lanes).map(|_| bits.pick(from)).collect());
                    let raw =
                        [lanes_of(&[0x7fff_ffff, 0]), lanes_of(from), lanes_of(from), lanes_of(from), lanes_of(&[7])];
                    arguments.push(encode(&params, &raw, lanes));
                }
                let names = ["branch", "other", "nested", "block"];
                let signature = Signature { params: params.to_vec(), result };
                for (name, code) in names.into_iter().zip(code(object, profile, &names, &signature)) {
                    let (signature, arguments) = (signature.clone(), arguments.clone());
                    tasks.push(Task { what: format!("{name}: {what}"), profile, code, signature, arguments });
                }
                seen += 1;
            }
        }
        // `+ - * / sqrt min max` and the six comparisons at the least.
        assert!(seen >= 13, "{seen} operations on {profile}");
    }
    for (task, outs) in tasks.iter().zip(run(&tasks)) {
        for (call, out) in outs.iter().enumerate() {
            assert_eq!(out.flags, 0, "{} on {}: flags {:#x}", task.what, task.profile, out.flags);
            assert_eq!(out.words, task.fifth(call), "{} on {}", task.what, task.profile);
        }
    }
}

/// Flags and active lanes stay as they are when the inactive lanes' operands change.
#[test]
fn inactive_lanes_change_nothing() {
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_PROGRAMS", 120) / 4;
    let mut tasks = Vec::new();
    for profile in flagged() {
        for seed in first..first + count {
            let program = guarded(seed, 4, profile.info().fma);
            let Ok(object) = object(&program.text, profile, FuseLevel::Full) else {
                panic!("{} on {profile}\n{}", program.name, program.text);
            };
            let object: Rc<[u8]> = Rc::from(object);
            for name in ["g_0", "g_1", "g_2", "g_3"] {
                let first = program.text.lines().find(|l| l.starts_with(&format!("scratch {name}("))).unwrap();
                let result = first.rsplit_once("-> ").and_then(|(_, result)| Ty::from_name(result.strip_suffix(':')?));
                let signature = Signature { params: types(first), result: result.unwrap() };
                let code = codes(profile, &object, &[(name, signature.clone())]).unwrap().remove(0).remove(0);
                let mut bits = Bits::new(seed);
                let arguments = (0..6).flat_map(|_| pair(&signature.params, profile, &mut bits)).collect();
                let what = format!("{}: {name}\n{}", program.name, program.text);
                tasks.push(Task { what, profile, code, signature, arguments });
            }
        }
    }
    let mut raised = BTreeMap::new();
    for (task, outs) in tasks.iter().zip(run(&tasks)) {
        for (pair, arguments) in outs.chunks(2).zip(task.arguments.chunks(2)) {
            let (calm, tempted) = (&pair[0], &pair[1]);
            *raised.entry(task.profile).or_insert(0) += usize::from(calm.flags != 0);
            assert_eq!(calm.flags, tempted.flags, "{} on {}", task.what, task.profile);
            for lane in (0..task.profile.lanes_of_bits(32)).filter(|lane| lane % 2 == 0) {
                let active = arguments[0].regs.vec[0][4 * lane..4 * lane + 4] != [0; 4];
                let (a, b) = (calm.words[lane], tempted.words[lane]);
                assert!(!active || a == b, "{} on {}: lane {lane}", task.what, task.profile);
            }
        }
    }
    for profile in flagged() {
        let raised = raised.get(&profile).copied().unwrap_or(0);
        assert!(raised > 10, "the active lanes raise too little on {profile} to show anything: {raised}");
    }
}

/// Parameter types of a scratch's first line.
fn types(signature: &str) -> Vec<Ty> {
    let inside = signature.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    inside.split(", ").filter_map(|param| Ty::from_name(param.split_once(": ")?.1)).collect()
}

/// Two calls with the even lanes active: with ordinary numbers in the odd lanes, and with temptations.
fn pair(params: &[Ty], profile: Profile, bits: &mut Bits) -> [Arguments; 2] {
    let lanes = profile.lanes_of_bits(32);
    let (mut calm, mut tempted) = (Vec::new(), Vec::new());
    for &ty in params {
        let mut values: Vec<u32> = (0..lanes).map(|_| random(ty, bits)).collect();
        if matches!(ty, Ty::Mask(_)) {
            (0..lanes).for_each(|lane| values[lane] = if lane % 2 == 0 { u32::MAX } else { 0 });
            calm.push(Raw::Lanes(values.clone()));
            tempted.push(Raw::Lanes(values));
            continue;
        }
        let mut other = values.clone();
        for lane in (1..lanes).step_by(2) {
            values[lane] = if ty == F { 0x3f80_0000 } else { 1 };
            other[lane] = if ty == F { bits.pick(TEMPTATIONS) } else { bits.i32() };
        }
        calm.push(Raw::Lanes(values));
        tempted.push(Raw::Lanes(other));
    }
    [calm, tempted].map(|raw| encode(params, &raw, lanes))
}
