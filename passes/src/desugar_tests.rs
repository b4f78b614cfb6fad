use crate::frontend_testing::{SSE2, evaluated, lowered, unrolled};
use rake_ir::desugared;
use rake_ir::diag::Code;
use rake_ir::types::Elem;
use rake_ir::value::Lanes;

fn printed(text: &str) -> String {
    desugared::print(&lowered(text, SSE2))
}

#[test]
fn broadcasts_are_explicit() {
    let text =
        "scratch f(x: f32s, <k: f32>, <b: bool>) -> f32s:\n  let m = x < <k> and <b>\n  if m then <k> else x * 2.0\n";
    let expected = "\
scratch f(x: f32s, k: <f32>, b: <bool>) -> f32s:
  let m: mask = x < splat(<k>) and splat(<b>)
  if m then splat(<k>) else x * 2.0
";
    assert!(printed(text).ends_with(expected), "{}", printed(text));
}

#[test]
fn uniform_work_stays_uniform_until_it_meets_a_rack() {
    let text = "scratch f(x: f32s, <k: f32>) -> f32s:\n  let <t: f32> = <k> * <k> + 1.0\n  x + <t>\n";
    let expected = "  let t: <f32> = <k> * <k> + <1.0>\n  x + splat(<t>)\n";
    assert!(printed(text).ends_with(expected), "{}", printed(text));
}

#[test]
fn a_uniform_condition_stays_one() {
    let text = "scratch f(x: f32s, <b: bool>) -> f32s:\n  if <b> then x else 0.0\n";
    assert!(printed(text).ends_with("  if <b> then x else 0.0\n"), "{}", printed(text));
}

#[test]
fn a_uniform_result_is_broadcast() {
    assert!(printed("scratch f(<k: f32>) -> f32s:\n  <k>\n").ends_with("  splat(<k>)\n"));
    assert!(printed("scratch f(<k: f32>) -> f32:\n  <k>\n").ends_with("  <k>\n"));
}

#[test]
fn locations_become_values() {
    let text = "scratch f(x: f32s, <k: f32>) -> f32s:\n  acc: f32s := x\n  acc <- acc * <k>\n  acc <- acc + x\n  acc\n";
    let expected = "\
  let acc: f32s = x
  let acc.2: f32s = acc * splat(<k>)
  let acc.3: f32s = acc.2 + x
  acc.3
";
    assert!(printed(text).ends_with(expected), "{}", printed(text));
}

#[test]
fn array_elements_are_values_of_their_own() {
    let text = "\
scratch f(x: i32s) -> i32s:
  a: [3]i32s := <1>
  repeat <k: i32> from <0> up to <2>:
    a[<k> + 1] <- a[<k>] * x + <k>
  a[<2>] - a[<0>]
";
    // a1 = x, a2 = x*x + 1, a2 - a0 = x*x
    let result = evaluated(text, "f", &[Lanes::ints(Elem::I32, &[1, 2, 3, -4])], SSE2);
    assert_eq!(result, Lanes::ints(Elem::I32, &[1, 4, 9, 16]));
}

#[test]
fn elements_that_do_not_exist_are_refused() {
    let text = "scratch f(x: i32s) -> i32s:\n  a: [2]i32s := x\n  repeat <k: i32> from <0> up to <3>:\n    a[<k>] <- x\n  a[<0>]\n";
    let errors = super::run(unrolled(text, SSE2)).expect_err("element 2");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code, Code::IndexOutOfRange);
    assert_eq!(errors[0].message, "`a` has 2 elements and no element 2");
}

#[test]
fn regions_keep_their_identity() {
    let text = "\
scratch prod(a: f32s, b: f32s) -> f32s:
  | p <| a * b
  p
scratch z(a: f32s, b: f32s) -> f32s:
  prod(a, b) - prod(a, b)
";
    assert_eq!(printed(text).matches("region\n").count(), 3);
    // Outside regions nothing contracts: the products are equal, so is their difference with +0.
    let a = Lanes::f32s(&[2396747.0, 0.1, 7.0, -3.0]);
    let b = Lanes::f32s(&[7.0, 0.1, 0.5, 2.0]);
    assert_eq!(evaluated(text, "z", &[a, b], SSE2), Lanes::f32s(&[0.0; 4]));
}

#[test]
fn operations_round_and_wrap_as_written() {
    let max = f32::MAX;
    let text = "scratch f(a: f32s, b: f32s, c: f32s) -> f32s:\n  a * b + a * c\n";
    let args = [Lanes::f32s(&[0.5; 4]), Lanes::f32s(&[3e38; 4]), Lanes::f32s(&[3e38; 4])];
    assert_eq!(evaluated(text, "f", &args, SSE2), Lanes::f32s(&[3e38; 4]));
    let text = "scratch f(x: f32s) -> f32s:\n  sqrt(abs(x * x))\n";
    assert_eq!(evaluated(text, "f", &[Lanes::f32s(&[max; 4])], SSE2), Lanes::f32s(&[f32::INFINITY; 4]));
    let text = "scratch f(x: f32s, y: f32s) -> f32s:\n  x - (x + y) + y\n";
    assert_eq!(evaluated(text, "f", &[Lanes::f32s(&[1e30; 4]), Lanes::f32s(&[1.0; 4])], SSE2), Lanes::f32s(&[1.0; 4]));
    let ints = Lanes::ints(Elem::I32, &[-2147483648, -2147483647, -1, 0]);
    let wrapped = Lanes::ints(Elem::I32, &[-2147483648, 2147483647, 1, 0]);
    for text in ["abs(x)", "-x"] {
        let text = format!("scratch m(x: i32s) -> i32s:\n  {text}\n");
        assert_eq!(evaluated(&text, "m", std::slice::from_ref(&ints), SSE2), wrapped);
    }
    let text = "scratch m() -> i32s:\n  abs(-2147483648)\n";
    assert_eq!(evaluated(text, "m", &[], SSE2), Lanes::ints(Elem::I32, &[-2147483648; 4]));
}

#[test]
fn a_long_chain_of_terms_needs_no_stack() {
    let sum = vec!["x"; 100_000].join(" + ");
    let text = format!("scratch f(x: i32s) -> i32s:\n  {sum}\n");
    let result = evaluated(&text, "f", &[Lanes::ints(Elem::I32, &[1, 2, 3, -4])], SSE2);
    assert_eq!(result, Lanes::ints(Elem::I32, &[100_000, 200_000, 300_000, -400_000]));
    assert!(printed(&text).trim_end().ends_with(&sum));
}
