use crate::frontend_testing::{SSE2, checked, evaluated, lowered};
use rake_ir::diag::Code;
use rake_ir::value::Lanes;
use rake_ir::{desugared, typed};

#[test]
fn a_call_under_a_mask_becomes_a_block_in_the_arm() {
    let text = "\
scratch sq(x: f32s) -> f32s:
  | s <| x * x
  s
scratch f(m: mask, a: f32s) -> f32s:
  if m then sq(a) else a
";
    let program = super::run(checked(text, SSE2)).expect("inline");
    let printed = typed::print(&program);
    let expected = "\
scratch f(m: mask, a: f32s) -> f32s:
  if m then do
    let x: f32s = a
    region
      | s: f32s <| x * x
    in s
  end else a
";
    assert!(printed.ends_with(expected), "{printed}");
    assert_eq!(typed::check(&program), Ok(()));
}

#[test]
fn a_uniform_argument_and_result_are_broadcast() {
    let text = "\
scratch g(x: f32s, <k: f32>) -> f32s:
  <k>
scratch f(<a: f32>) -> f32s:
  g(<a>, 2.0) + g(<a>, <a>)
";
    let result = evaluated(text, "f", &[Lanes::f32s(&[3.0])], SSE2);
    assert_eq!(result, Lanes::f32s(&[5.0; 4]));
}

#[test]
fn nested_calls_evaluate_alike() {
    let text = "\
scratch h(x: i32s) -> i32s:
  let y = x * 3
  y + 1
scratch g(x: i32s) -> i32s:
  h(h(x)) - x
scratch f(x: i32s, m: mask) -> i32s:
  if m then g(x) else h(g(x))
";
    // h(x) = 3x+1; g(x) = 9x+4-x = 8x+4; h(g(x)) = 24x+13.
    let args = [Lanes::ints(rake_ir::types::Elem::I32, &[1, 2, -1, 10]), Lanes::truths(&[true, false, true, false])];
    let expected = Lanes::ints(rake_ir::types::Elem::I32, &[12, 61, -4, 253]);
    assert_eq!(evaluated(text, "f", &args, SSE2), expected);
}

#[test]
fn doubling_calls_stop_at_the_limit() {
    let link = |n: usize| {
        let next = n + 1;
        format!("scratch step{n}(x: f32s) -> f32s:\n  step{next}(x) + step{next}(x)\n")
    };
    let links: String = (0..32).map(link).collect();
    let text = format!("{links}scratch step32(x: f32s) -> f32s:\n  x * x\n");
    let errors = super::run(checked(&text, SSE2)).expect_err("2^32 bodies");
    assert!(errors.iter().all(|e| e.code == Code::LimitExceeded) && !errors.is_empty());
    assert!(errors[0].message.contains("65536 statements"), "{}", errors[0].message);
}

#[test]
fn long_chains_of_terms_pass_through() {
    let sum = vec!["g(x)"; 10_000].join(" + ");
    let text = format!("scratch g(x: i32s) -> i32s:\n  x\nscratch f(x: i32s) -> i32s:\n  {sum}\n");
    let program = lowered(&text, SSE2);
    let args = [Lanes::ints(rake_ir::types::Elem::I32, &[1, 2, 3, -4])];
    let expected = Lanes::ints(rake_ir::types::Elem::I32, &[10_000, 20_000, 30_000, -40_000]);
    assert_eq!(desugared::eval(&program, "f", &args), Ok(expected));
}
