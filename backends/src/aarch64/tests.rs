//! Instruction sequences, written down by hand, and each rule of one operation on the evaluator's special values.

use crate::testing::{compile, dump};
use rake_ir::profile::Profile;
use std::fmt::Write as _;

const NEON: Profile = Profile::Aarch64Neon;

/// The instructions of `body` over the parameters `p0`, `p1`, ... of these types; its result is `%9`.
fn code(params: &[&str], result: &str, body: &str) -> Vec<String> {
    let list: Vec<String> = params.iter().enumerate().map(|(n, ty)| format!("p{n}: {ty}")).collect();
    let mut text = format!("scratch f({}) -> {result} {{\n", list.join(", "));
    for (n, ty) in params.iter().enumerate() {
        let _ = writeln!(text, "%{n} : {ty} = param {n}");
    }
    let _ = write!(text, "{body}\nreturn %9\n}}");
    let (_, placed) = compile(&dump(NEON, &text)).unwrap();
    let dump = rake_ir::allocated::print(&placed);
    let lines = dump.lines().skip_while(|l| !l.starts_with("scratch")).skip(1).map(|l| l.trim().to_string());
    lines.filter(|l| !l.starts_with("literal") && !["}", "region {", "ret"].contains(&l.as_str())).collect()
}

#[test]
fn advance_is_one_multiply_add() {
    let fused = |op: &str| code(&["f32s"; 3], "f32s", &format!("region {{\n%9 : f32s = {op} %1, %2, %0\n}}"));
    assert_eq!(fused("mul_add"), ["v0 = fmla v0, v1, v2"]);
    assert_eq!(fused("neg_mul_add"), ["v0 = fmls v0, v1, v2"]);
    // a*b - c is c negated, plus the product: -(c - a*b) would give an exact zero the other sign.
    assert_eq!(fused("mul_sub"), ["v0 = fneg v0", "v0 = fmla v0, v1, v2"]);
    assert_eq!(fused("neg_mul_sub"), ["v0 = fneg v0", "v0 = fmls v0, v1, v2"]);
}

#[test]
fn a_choice_overwrites_what_nobody_reads() {
    let raw = "%3 : mask = lt %0, %1\n%9 : f32s = select %3, %0, %1";
    assert_eq!(code(&["f32s"; 2], "f32s", raw), ["v2 = fcmgt v1, v0", "v0 = bif v0, v1, v2"]);
    let strict = "%9 : f32s = min %0, %1";
    assert_eq!(code(&["f32s"; 2], "f32s", strict), ["v0 = fmin v0, v1"]);
    let kept = "%3 : mask = lt %0, %1\n%4 : f32s = const 0.0\n%9 : f32s = select %3, %2, %4";
    assert_eq!(code(&["f32s"; 3], "f32s", kept), ["v0 = fcmgt v1, v0", "v0 = and v0, v2"]);
}

#[test]
fn comparisons_with_zero_need_no_zero() {
    let with = |ty: &str, op: &str| {
        code(
            &[ty],
            "mask",
            &format!("%1 : {ty} = const 0\n%2 : mask = {op}\n%3 : mask = const true\n%9 : mask = and %2, %3"),
        )
    };
    assert_eq!(with("f32s", "lt %0, %1")[0], "v0 = fcmlt_zero v0");
    assert_eq!(with("f32s", "lt %1, %0")[0], "v0 = fcmgt_zero v0");
    assert_eq!(with("i32s", "ge %1, %0")[0], "v0 = cmle_zero v0");
    assert_eq!(with("u32s", "ne %0, %1")[0], "v0 = cmtst v0, v0");
}

#[test]
fn constants_are_made_of_immediates() {
    let added = |number: &str| code(&["f32s"], "f32s", &format!("%1 : f32s = const {number}\n%9 : f32s = add %0, %1"));
    assert_eq!(added("1.0"), ["v1 = fmov 112", "v0 = fadd v0, v1"]);
    assert_eq!(added("0.1"), ["v1 = ldr literal 0", "v0 = fadd v0, v1"]);
}

#[test]
fn scalars_cross_the_boundary_in_their_registers() {
    assert_eq!(code(&["<bool>"], "<bool>", "%9 : <bool> = not %0"), ["g0 = eor_one g0", "g0 = and_one g0"]);
    assert_eq!(
        code(&["<i32>"; 2], "<i32>", "%9 : <i32> = add %0, %1"),
        ["v0 = dup_word g0", "v1 = dup_word g1", "v0 = add v0, v1", "g0 = fmov_out v0"]
    );
    assert_eq!(code(&["i32s"], "<i32>", "%9 : <i32> = extract %0, 2"), ["g0 = lane_out v0, 2"]);
    assert_eq!(code(&["f32s"], "<f32>", "%9 : <f32> = extract %0, 0"), [""; 0]);
    assert_eq!(code(&["i32s", "<i32>"], "i32s", "%9 : i32s = insert %0, %1, 3"), ["v0 = ins_word v0, g0, 3"]);
    assert_eq!(code(&["i32s"], "<i32>", "%9 : <i32> = sum %0"), ["v0 = addv v0", "g0 = fmov_out v0"]);
}

#[test]
fn masks_are_read_by_their_signs() {
    assert_eq!(code(&["mask"; 2], "mask", "%9 : mask = and %0, %1"), ["v0 = and v0, v1", "v0 = sshr v0, 31"]);
    assert_eq!(code(&["mask"], "mask", "%9 : mask = not %0"), ["v0 = cmge_zero v0"]);
    assert_eq!(
        code(&["mask"], "<bool>", "%9 : <bool> = any %0"),
        ["v0 = sminv v0", "g0 = fmov_out v0", "g0 = lsr_word g0, 31"]
    );
}
