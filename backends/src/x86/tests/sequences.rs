//! Instruction sequences, written down by hand.

use super::{PROFILES, compile, dump};
use rake_ir::diag::Code;
use rake_ir::profile::Profile;
use std::fmt::Write as _;

/// The instructions of a function of this text, one per line, without spaces around.
fn code(profile: Profile, text: &str) -> Vec<String> {
    let (_, placed) = compile(&dump(profile, text)).unwrap();
    let dump = rake_ir::allocated::print(&placed);
    let lines = dump.lines().skip_while(|l| !l.starts_with("scratch")).skip(1).map(|l| l.trim().to_string());
    lines.filter(|l| !l.starts_with("literal") && !l.ends_with('{') && l != "}").collect()
}

const ADVANCE: &str = "scratch advance(x: f32s, v: f32s) -> f32s {
%0 : f32s = param 0
%1 : f32s = param 1
region {
%2 : f32s = const 0.5
%3 : f32s = mul_add %1, %2, %0
}
return %3
}";

#[test]
fn advance_is_one_instruction() {
    assert_eq!(code(Profile::X86Avx2, ADVANCE), ["v0 = fmadd231ps v0, v1, literal 0", "ret"]);
    assert_eq!(code(Profile::X86Avx512, ADVANCE), ["v0 = fmadd231ps v0, v1, broadcast 0", "ret"]);
    let split = ADVANCE.replace("%3 : f32s = mul_add %1, %2, %0", "%4 : f32s = mul %1, %2\n%3 : f32s = add %0, %4");
    assert_eq!(code(Profile::X86Sse2, &split), ["v1 = mulps v1, literal 0", "v0 = addps v0, v1", "ret"]);
}

/// A multiply-add outside an FMA profile is two instructions; a comparison and a choice on its result follow.
const CLAMPED: &str = "scratch clamped(a: f32s, b: f32s, top: <f32>) -> f32s {
%0 : f32s = param 0
%1 : f32s = param 1
%2 : <f32> = param 2
%3 : f32s = splat %2
%4 : f32s = mul %0, %1
%5 : mask = gt %4, %3
%6 : f32s = const 1.0
%7 : f32s = select %5, %6, %4
return %7
}";

#[test]
fn a_choice_is_masked_logic_or_a_blend() {
    assert_eq!(
        code(Profile::X86Sse2, CLAMPED),
        [
            "v2 = splatps v2",
            "v0 = mulps v0, v1",
            "v2 = cmpps v2, v0, 1",
            "v1 = mov v2",
            "v1 = andps v1, literal 0",
            "v2 = andnps v2, v0",
            "v1 = orps v1, v2",
            "v0 = mov v1",
            "ret",
        ]
    );
    assert_eq!(
        code(Profile::X86Avx2, CLAMPED),
        ["v2 = splat_low v2", "v0 = mulps v0, v1", "v1 = cmpps v0, v2, 14", "v0 = blendvps v0, literal 0, v1", "ret"]
    );
    assert_eq!(
        code(Profile::X86Avx512, CLAMPED),
        [
            "v2 = splat_low v2",
            "v0 = mulps v0, v1",
            "k1 = cmpps_k v0, v2, 14",
            "v0 = blendmps k1, v0, broadcast 0",
            "ret"
        ]
    );
}

/// `op` of the parameters `p0`, `p1`, ... of these types.
fn one(profile: Profile, params: &[&str], result: &str, op: &str) -> Vec<String> {
    let list: Vec<String> = params.iter().enumerate().map(|(n, ty)| format!("p{n}: {ty}")).collect();
    let mut text = format!("scratch f({}) -> {result} {{\n", list.join(", "));
    for (n, ty) in params.iter().enumerate() {
        let _ = writeln!(text, "%{n} : {ty} = param {n}");
    }
    let _ = write!(text, "{op}\nreturn %9\n}}");
    code(profile, &text)
}

#[test]
fn signs_and_complements_are_swallowed() {
    let f3 = ["f32s"; 3];
    let negated = "%3 : f32s = neg %0\n%4 : f32s = neg %2\n%9 : f32s = fma %3, %1, %4";
    assert_eq!(one(Profile::X86Avx2, &f3, "f32s", negated), ["v0 = fnmsub213ps v0, v1, v2", "ret"]);
    let dropped = "%3 : mask = not %1\n%9 : mask = and %0, %3";
    let masks = ["mask"; 2];
    assert_eq!(
        one(Profile::X86Sse2, &masks, "mask", dropped),
        ["v1 = andnps v1, v0", "v1 = psrad v1, 31", "v0 = mov v1", "ret"]
    );
    assert_eq!(one(Profile::X86Avx512, &masks, "mask", dropped), ["v0 = pandn v1, v0", "v0 = psrad v0, 31", "ret"]);
    let unordered = "%3 : mask = lt %0, %1\n%9 : mask = not %3";
    assert_eq!(one(Profile::X86Avx2, &f3, "mask", unordered), ["v0 = cmpps v0, v1, 5", "ret"]);
    let extremum = "%3 : mask = lt %0, %1\n%9 : f32s = select %3, %0, %1";
    assert_eq!(one(Profile::X86Sse2, &f3, "f32s", extremum), ["v0 = minps v0, v1", "ret"]);
    let swapped = "%3 : mask = lt %0, %1\n%9 : f32s = select %3, %1, %0";
    assert_eq!(one(Profile::X86Avx2, &f3, "f32s", swapped), ["v0 = maxps v1, v0", "ret"]);
    let kept = "%3 : mask = lt %0, %1\n%4 : f32s = const 0.0\n%9 : f32s = select %3, %2, %4";
    assert_eq!(one(Profile::X86Avx512, &f3, "f32s", kept), ["k1 = cmpps_k v0, v1, 1", "v0 = keepps k1, v2", "ret"]);
}

#[test]
fn integers_compare_by_their_own_order() {
    let u2 = ["u32s"; 2];
    assert_eq!(
        one(Profile::X86Sse2, &u2, "mask", "%9 : mask = lt %0, %1"),
        // Flipping all bits but the top one orders unsigned numbers from the greatest.
        ["v0 = pxor v0, literal 0", "v1 = pxor v1, literal 0", "v0 = pcmpgtd v0, v1", "ret"]
    );
    assert_eq!(
        one(Profile::X86Avx2, &u2, "mask", "%9 : mask = le %0, %1"),
        ["v1 = pminud v0, v1", "v0 = pcmpeqd v1, v0", "ret"]
    );
    assert_eq!(
        one(Profile::X86Avx512, &u2, "mask", "%9 : mask = le %0, %1"),
        ["k1 = pcmpud_k v0, v1, 2", "v0 = mask_to_rack k1", "ret"]
    );
    let unequal = "%9 : mask = ne %0, %1";
    assert_eq!(
        one(Profile::X86Sse2, &["f32s"; 2], "mask", unequal),
        ["v2 = mov v0", "v2 = cmpps v2, v1, 4", "v0 = cmpps v0, v1, 7", "v0 = andps v0, v2", "ret"]
    );
    assert_eq!(one(Profile::X86Avx2, &["f32s"; 2], "mask", unequal), ["v0 = cmpps v0, v1, 12", "ret"]);
}

#[test]
fn scalars_cross_the_boundary_in_their_registers() {
    let flag = ["<bool>"];
    assert_eq!(
        one(Profile::X86Sse2, &flag, "<bool>", "%9 : <bool> = not %0"),
        ["g0 = move_word g7", "g0 = xor_word g0, 1", "g0 = and_word g0, 1", "ret"]
    );
    let last = one(Profile::X86Avx2, &["<i32>"; 2], "<i32>", "%9 : <i32> = add %0, %1");
    assert_eq!(last[last.len() - 3..], ["g0 = movd_out v0", "vzeroupper", "ret"]);
    let float = one(Profile::X86Avx512, &["<f32>"], "<f32>", "%9 : <f32> = sqrt %0");
    assert_eq!(float, ["v0 = splat_low v0", "v0 = sqrtps v0", "vzeroupper", "ret"]);
}

/// Seventeen products of eight parameters, subtracted from first to last and from last to first.
fn both_ways() -> String {
    let params: Vec<String> = (0..8).map(|n| format!("p{n}: f32s")).collect();
    let mut text = format!("scratch both({}) -> f32s {{\n", params.join(", "));
    (0..8).for_each(|n| {
        let _ = writeln!(text, "%{n} : f32s = param {n}");
    });
    for n in 0..17 {
        let _ = writeln!(text, "%{} : f32s = mul %{}, %{} ~~ product{n}", 8 + n, n % 8, (n * 3 + n / 8) % 8);
    }
    let _ = writeln!(text, "%25 : f32s = sub %8, %9\n%41 : f32s = sub %24, %23");
    for n in 0..15 {
        let _ = writeln!(text, "%{} : f32s = sub %{}, %{}", 26 + n, 25 + n, 10 + n);
    }
    for n in 0..15 {
        let _ = writeln!(text, "%{} : f32s = sub %{}, %{}", 42 + n, 41 + n, 22 - n);
    }
    text += "%57 : f32s = div %40, %56\nreturn %57\n}";
    text
}

#[test]
fn what_does_not_fit_is_rejected_by_name() {
    for (profile, registers) in [(Profile::X86Sse2, 16), (Profile::X86Avx2, 16)] {
        let errors = compile(&dump(profile, &both_ways())).unwrap_err();
        let [error] = errors.as_slice() else { panic!("{errors:?}") };
        assert_eq!(error.code, Code::OutOfRegisters);
        assert!(error.message.contains("`both`") && error.message.contains(profile.name()), "{error:?}");
        let notes = error.notes.join("\n");
        assert!(notes.contains(&format!("{registers} registers are available")), "{notes}");
        assert!(notes.contains("`product3`") && notes.contains("`product10`"), "{notes}");
        assert_eq!(error.labels.len(), 2);
        assert!(error.help.is_some());
    }
    let (_, placed) = compile(&dump(Profile::X86Avx512, &both_ways())).unwrap();
    assert_eq!(placed.functions[0].arithmetic(), 17 + 2 * 16 + 1);
}

#[test]
fn constants_beyond_the_registers_come_from_memory() {
    // 24 constants, each needed at the beginning and at the end.
    let mut text = String::from("scratch many(x: f32s) -> f32s {\n%0 : f32s = param 0\n");
    (0..24).for_each(|n| {
        let _ = writeln!(text, "%{} : f32s = const {}.5", 1 + n, n);
    });
    let mut last = 0;
    for n in 0..48 {
        let constant = if n < 24 { n } else { 47 - n };
        // Every third is the left operand of a subtraction, which no form reads from memory.
        let (op, left) = if n % 3 == 0 { ("sub", true) } else { ("mul", false) };
        let (a, b) = if left { (1 + constant, last) } else { (last, 1 + constant) };
        let _ = writeln!(text, "%{} : f32s = {op} %{a}, %{b}", 100 + n);
        last = 100 + n;
    }
    let _ = write!(text, "return %{last}\n}}");
    for profile in PROFILES {
        let program = dump(profile, &text);
        let (ordered, placed) = compile(&program).unwrap();
        assert_eq!(placed.functions[0].arithmetic(), 48);
        let x = rake_ir::value::Lanes::splat(0x3f40_0000, profile.lanes(rake_ir::types::Elem::F32));
        super::agree(&program, &ordered, &placed, &[x]);
    }
}

#[test]
fn a_missing_operation_is_named() {
    let program = dump(
        Profile::X86Sse2,
        "scratch f(a: f32s) -> f32s {\n%0 : f32s = param 0\n%1 : f32s = fma %0, %0, %0\nreturn %1\n}",
    );
    let errors = compile(&program).unwrap_err();
    assert_eq!(errors[0].code, Code::NotOnProfile);
    assert!(errors[0].message.contains("`fma`") && errors[0].message.contains("x86-sse2"), "{errors:?}");
}

#[test]
fn masks_beyond_the_mask_registers_wait_in_racks() {
    // Twelve comparisons, read in their order and then from last to first.
    let mut text = String::from("scratch many(x: f32s, y: f32s) -> f32s {\n%0 : f32s = param 0\n%1 : f32s = param 1\n");
    for n in 0..12 {
        let _ = writeln!(text, "%{} : f32s = const {n}.5\n%{} : mask = lt %0, %{}", 100 + n, 10 + n, 100 + n);
    }
    let mut last = 1;
    for n in 0..24 {
        let mask = 10 + if n < 12 { n } else { 23 - n };
        let _ = writeln!(
            text,
            "%{} : f32s = add %{last}, %0\n%{} : f32s = select %{mask}, %{}, %{last}",
            200 + 2 * n,
            201 + 2 * n,
            200 + 2 * n
        );
        last = 201 + 2 * n;
    }
    let _ = write!(text, "return %{last}\n}}");
    for profile in [Profile::X86Avx2, Profile::X86Avx512] {
        let program = dump(profile, &text);
        let (ordered, placed) = compile(&program).unwrap();
        let parked = placed.functions[0].insts.iter().filter(|i| i.op.name() == "mask_to_rack").count();
        assert_eq!(parked > 0, profile == Profile::X86Avx512);
        let mut random = super::random::Random(3);
        for _ in 0..8 {
            let lanes = |random: &mut _| {
                super::random::lanes(random, rake_ir::types::Ty::Rack(rake_ir::types::Elem::F32), profile)
            };
            super::agree(&program, &ordered, &placed, &[lanes(&mut random), lanes(&mut random)]);
        }
    }
}

/// What may raise an exception stands under its mask on AVX-512, whatever sequence it is; generated from the operation table.
#[test]
fn nothing_that_raises_stands_without_its_mask() {
    use super::X86Target;
    use rake_ir::lane::needs_benign;
    use rake_ir::machine::MachOp;
    use rake_ir::ops::OPS;
    use rake_ir::types::{Elem, Ty};
    use rake_passes::select;
    let mut seen = 0;
    for row in OPS {
        for elem in [Elem::F32, Elem::I32, Elem::U32] {
            let (arity, ty) = (usize::from(row.arity.1), Ty::Rack(elem));
            let Ok(result) = row.op.infer(&vec![ty; arity], None) else { continue };
            if needs_benign(row.op, elem, result.elem()).is_none() {
                continue;
            }
            let args: Vec<String> = (0..arity).map(|n| format!("%{n}")).collect();
            let mut text = format!("scratch f(a: {ty}, b: {ty}, c: {ty}, m: mask, d: {result}) -> {result} {{\n");
            let params = [ty, ty, ty, Ty::Mask(32), result];
            for (n, ty) in params.iter().enumerate() {
                let _ = writeln!(text, "%{n} : {ty} = param {n}");
            }
            let contracted = row.fp == rake_ir::ops::FpClass::Contracted;
            let (open, close) = if contracted { ("region {\n", "}\n") } else { ("", "") };
            let _ = write!(
                text,
                "{open}%5 : {result} = {} {} if %3\n{close}%6 : {result} = select %3, %5, %4\nreturn %6\n}}",
                row.name,
                args.join(", ")
            );
            let Ok(chosen) = select::run(&dump(Profile::X86Avx512, &text), &X86Target) else { continue };
            for inst in &chosen.functions[0].insts {
                let MachOp::X86(op) = inst.op else { panic!("{:?} is not of x86", inst.op) };
                assert!(!op.info().raises || op != op.plain(), "{}\n{}", row.name, rake_ir::selected::print(&chosen));
            }
            seen += 1;
        }
    }
    assert!(seen >= 18, "{seen} operations");
}

/// `op` under the mask `%2`, then a choice by it.
fn guarded(op: &str, choice: &str) -> Vec<String> {
    let text = format!(
        "scratch f(a: f32s, b: f32s, m: mask, c: f32s) -> f32s {{\n%0 : f32s = param 0\n%1 : f32s = param 1\n\
         %2 : mask = param 2\n%3 : f32s = param 3\n%4 : f32s = const 0.0\n%5 : f32s = {op} if %2\n%6 : f32s = {choice}\nreturn %6\n}}"
    );
    code(Profile::X86Avx512, &text)
}

#[test]
fn a_choice_beside_a_masked_operation_is_the_operation() {
    assert_eq!(
        guarded("mul %0, %1", "select %2, %5, %0"),
        ["k1 = rack_to_mask v2", "v0 = mulps_m k1, v0, v0, v1", "ret"]
    );
    assert_eq!(guarded("mul %0, %1", "select %2, %5, %4"), ["k1 = rack_to_mask v2", "v0 = mulps_z k1, v0, v1", "ret"]);
    // The form that overwrites the operand whose lanes stay.
    assert_eq!(
        guarded("fma %0, %1, %3", "select %2, %5, %0"),
        ["k1 = rack_to_mask v2", "v0 = fmadd213ps_m k1, v0, v1, v3", "ret"]
    );
    // Read twice it stays apart.
    let twice = guarded("sqrt %0", "select %2, %5, %5");
    assert_eq!(twice, ["k1 = rack_to_mask v2", "v0 = sqrtps_z k1, v0", "v0 = blendmps k1, v0, v0", "ret"]);
}
