use crate::frontend_testing::{SSE2, checked, evaluated, lowered, type_errors, unrolled};
use rake_ir::types::Elem;
use rake_ir::value::Lanes;
use rake_ir::{desugared, typed};

fn one(text: &str) -> String {
    let errors = type_errors(text, SSE2);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap_or_default()
}

/// The one error of a rake with these statements before `sweep:`.
fn bad(body: &str) -> String {
    one(&format!(
        "scratch g(x: f32s) -> f32s:\n  x\nrake f(x: f32s, <k: f32>, m: mask) -> f32s:\n{body}  sweep:\n    | _ => x\n"
    ))
}

const SAFE: &str = "\
tine #within(v: f32s, <limit: f32>) means #above(v, <0.0>) and v < <limit>
tine #above(v: f32s, <low: f32>) means v > <low>
rake safe(x: f32s, <k: f32>) -> f32s:
  tine #ok means #within(x, <k>)
  through #ok else -1.0 into r:
    | a <| 1.0 / x
    a * <k>
  through #ok gaps into s:
    let t = x * x
    t
  sweep:
    | #ok => r
    | x < <0.0> => s
    | _ => 5
";

#[test]
fn a_rake_prints_with_its_tines_and_blocks() {
    let text = SAFE.replace("=> 5\n", "=> 5.0\n");
    let expected = "\
tine #within(v: f32s, limit: <f32>) -> mask:
  #above(v, <0.0>) and v < <limit>

tine #above(v: f32s, low: <f32>) -> mask:
  v > <low>

rake safe(x: f32s, k: <f32>) -> f32s:
  let #ok: mask = #within(x, <k>)
  through #ok else -1.0 into r: f32s:
    region
      | a: f32s <| 1.0 / x
    a * <k>
  through not #ok into s: f32s:
    let t: f32s = x * x
    t
  sweep
    | #ok => r
    | x < 0.0 => s
    | _ => 5.0
  end
";
    let printed = typed::print(&checked(&text, SSE2));
    assert!(printed.ends_with(expected), "{printed}");
    let inlined = typed::print(&unrolled(&text, SSE2));
    assert!(!inlined.contains("tine ") && !inlined.contains("#within"), "{inlined}");
    let lowered = desugared::print(&lowered(&text, SSE2));
    assert!(
        lowered.contains("through #ok else -1.0 into r: f32s:\n") && lowered.contains("a * splat(<k>)\n"),
        "{lowered}"
    );
}

#[test]
fn a_rake_evaluates_alike_in_every_ir() {
    let text = SAFE.replace("=> 5\n", "=> 5.0\n");
    let args = [Lanes::f32s(&[0.5, -3.0, f32::NAN, 8.0]), Lanes::f32s(&[4.0])];
    // 1/0.5*4; (-3)^2; no arm but `_` for a NaN and for 8, which is neither within nor negative.
    assert_eq!(evaluated(&text, "safe", &args, SSE2), Lanes::f32s(&[8.0, 9.0, 5.0, 5.0]));
    let caller = format!("{text}scratch user(x: f32s) -> f32s:\n  if x > 0.0 then safe(x, <4.0>) else x\n");
    let args = [Lanes::f32s(&[0.5, -3.0, 2.0, 8.0])];
    assert_eq!(evaluated(&caller, "user", &args, SSE2), Lanes::f32s(&[8.0, -3.0, 2.0, 5.0]));
}

#[test]
fn a_lane_without_a_value_is_an_error_only_where_it_is_read() {
    let text = "\
rake f(x: f32s) -> f32s:
  through x > 0.0 into r:
    x * 2.0
  let alias = r + 1.0
  sweep:
    | x > 0.0 => alias
    | x < -1.0 => 7.0
    | x <= 0.0 => r
";
    let program = lowered(text, SSE2);
    let typed = checked(text, SSE2);
    let defined = [Lanes::f32s(&[1.0, 2.0, -2.0, 0.5])];
    let expected = Lanes::f32s(&[3.0, 5.0, 7.0, 2.0]);
    assert_eq!(desugared::eval(&program, "f", &defined), Ok(expected.clone()));
    assert_eq!(typed::eval(&typed, "f", &defined), Ok(expected));
    for undefined in [0.0, f32::NAN] {
        let args = [Lanes::f32s(&[1.0, undefined, 1.0, 1.0])];
        let error = desugared::eval(&program, "f", &args).expect_err("lane 1 has no value").to_string();
        assert!(error.contains("lane 1"), "{error}");
        assert!(typed::eval(&typed, "f", &args).is_err());
    }
}

#[test]
fn rakes_hold_masks_uniform_predicates_and_repeats() {
    let text = "\
rake f(x: i32s, m: mask, <on: bool>) -> i32s:
  acc: i32s := 0
  tine #on means <on>
  repeat <i: i32> from <0> up to <3>:
    tine #low means x < <i>
    through #low else 1 into r:
      <i> + 1
    acc <- acc + r
  through m or <on> else <false> into c:
    x > 1
  sweep:
    | #on and c => acc
    | m => @
    | _ => -1
";
    // Trips add 1, 2, 3 where x < 0, 1, 2 and 1 elsewhere.
    let args = |on| {
        let truths = Lanes::truths(&[true, false, true, false]);
        [Lanes::ints(Elem::I32, &[-1, 0, 1, 2]), truths, Lanes::truths(&[on])]
    };
    assert_eq!(evaluated(text, "f", &args(true), SSE2), Lanes::ints(Elem::I32, &[0, -1, 2, 3]));
    assert_eq!(evaluated(text, "f", &args(false), SSE2), Lanes::ints(Elem::I32, &[0, -1, 2, -1]));
}

#[test]
fn tines_are_applied_with_their_arguments() {
    let with = |arm: &str| {
        one(&format!(
            "tine #v(x: f32s, <k: f32>) means x < <k>\nrake f(x: f32s) -> f32s:\n  tine #a means x > 0.0\n  sweep:\n    | {arm} => x\n    | _ => x\n"
        ))
    };
    assert!(with("#v(x)").starts_with("WrongArguments | #v | `#v` takes 2 arguments, found 1"));
    assert!(with("#v").contains("takes 2 arguments and stands without them | write `#v(...)`"));
    assert!(with("#a(x)").contains("is a tine of this rake and takes no arguments | write `#a`"));
    assert!(with("#v(x, x)").starts_with("TypeMismatch | x | expected <f32> as an argument of `#v`"));
    assert!(with("x").starts_with("TypeMismatch | x | the predicate of an arm is a mask, found f32s"));
    assert!(with("sqrt(x)").starts_with("TypeMismatch"));
    assert!(with("sum(x) > 0.0").starts_with("UnderMask | sum | `sum` cannot stand in a predicate"));
}

#[test]
fn a_through_body_refuses_what_needs_every_lane() {
    let body = |line: &str| bad(&format!("  acc: f32s := x\n  through m else 0.0 into r:\n    {line}\n    x\n"));
    assert!(
        body("let t = g(x)")
            .starts_with("NotInThrough | g | a call of the scratch `g` cannot stand in the through body of `r`")
    );
    assert!(
        body("let <t: bool> = all(x < 4.0)")
            .starts_with("UnderMask | all | `all` cannot stand in the through body of `r`")
    );
    assert!(body("let t = scan_sum(x)").starts_with("UnderMask | scan_sum |"));
    assert!(body("acc <- x").contains("`acc` stands outside of the through block `r`"));
    assert!(body("tine #t means m").starts_with("NotInThrough | tine #t means m | a tine cannot stand"));
    let nested = bad("  through m else 0.0 into r:\n    through m else 0.0 into s:\n      x\n    x\n");
    assert!(nested.contains("another through block cannot stand in the through body of `r`"), "{nested}");
}

#[test]
fn a_location_inside_a_through_body_is_its_own() {
    let text = "\
rake f(x: f32s) -> f32s:
  through x > 0.0 else 0.0 into r:
    acc: f32s := x
    repeat <i: i32> from <0> up to <2>:
      acc <- acc * acc
    acc
  sweep:
    | _ => r
";
    let args = [Lanes::f32s(&[1.0, 2.0, -3.0, 3.0])];
    assert_eq!(evaluated(text, "f", &args, SSE2), Lanes::f32s(&[1.0, 16.0, 0.0, 81.0]));
}

#[test]
fn the_parts_of_a_rake_have_their_places() {
    let rack = bad("  through m else x into r:\n    x\n");
    assert!(rack.starts_with("TypeMismatch | x | after `else` stands a uniform or a literal, found f32s"), "{rack}");
    let empty = bad("  through m else 0.0 into r:\n    let t = x\n");
    assert!(empty.contains("the through block of `r` has no result"), "{empty}");
    let result = one("rake f(x: f32s) -> f32s:\n  let y = x\n  y\n");
    assert!(result.contains("sweep"), "{result}");
    let uniform = one("rake f(x: f32s) -> f32:\n  sweep:\n    | _ => 1.0\n");
    assert!(uniform.starts_with("InvalidType | f32 |") && uniform.ends_with("write `-> f32s:`"), "{uniform}");
    let late = one("rake f(x: f32s) -> f32s:\n  sweep:\n    | _ => x\n    | x > 0.0 => x\n");
    assert!(late.contains("the arm `_` is not the last"), "{late}");
    let scratch = one("scratch f(x: f32s) -> f32s:\n  tine #a means x > 0.0\n  x\n");
    assert!(
        scratch.contains("a local tine stands in a rake") && scratch.ends_with("write `rake` instead of `scratch`")
    );
    let kind = bad("  through m else 1 into r:\n    x\n");
    assert!(kind.starts_with("LiteralKind | 1 |"), "{kind}");
}
