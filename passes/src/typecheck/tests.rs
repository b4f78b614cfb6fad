use crate::frontend_testing::{SSE2, checked, type_errors};
use rake_ir::profile::Profile;
use rake_ir::typed;

fn ok(text: &str) -> String {
    typed::print(&checked(text, SSE2))
}

fn one(text: &str) -> String {
    let errors = type_errors(text, SSE2);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap_or_default()
}

/// The one error of a scratch with this signature and expression.
fn bad(params: &str, result: &str, expr: &str) -> String {
    one(&format!("scratch f({params}) -> {result}:\n  {expr}\n"))
}

fn good(params: &str, result: &str, expr: &str) -> String {
    let text = ok(&format!("scratch f({params}) -> {result}:\n  {expr}\n"));
    text.lines().last().unwrap_or_default().trim().to_owned()
}

#[test]
fn the_seed_checks_and_prints() {
    let text = "\
scratch advance(positions: f32s, velocities: f32s) -> f32s:
  | scaled: f32s <| velocities * <0.5>
  | moved: f32s  <| positions + scaled
  moved
";
    let expected = "\
rake typed 1
profile x86-sse2
fuse full

scratch advance(positions: f32s, velocities: f32s) -> f32s:
  region
    | scaled: f32s <| velocities * 0.5
    | moved: f32s <| positions + scaled
  moved
";
    assert_eq!(ok(text), expected);
}

#[test]
fn the_reduction_of_the_seed_is_refused_by_name_and_reason() {
    let error = one("scratch spread(values: f32s) -> f32:\n  | total: f32 <| sum(values)\n  total\n");
    assert!(error.starts_with("NotInStage | sum | `total` cannot be fused: `sum` is a reduction"), "{error}");
}

#[test]
fn stages_refuse_what_is_no_data_flow() {
    let stage = |expr: &str| {
        one(&format!(
            "scratch g(x: f32s) -> f32s:\n  x\nscratch f(x: f32s, u: u32s, m: mask) -> f32s:\n  a: [2]f32s := x\n  | s <| {expr}\n  x\n"
        ))
    };
    assert!(stage("g(x)").contains("`s` cannot be fused: it calls the scratch `g`"));
    assert!(stage("scan_sum(x)").contains("`scan_sum` is a scan"));
    assert!(stage("bitcast(u32s, x)").contains("`bitcast` is a conversion"));
    assert!(stage("all(m)").contains("`all` is a reduction of a mask"));
    assert!(stage("a[<0>]").contains("it indexes an array"));
    assert!(stage("x + extract(x, 0)").contains("`extract` reaches a single lane"));
}

#[test]
fn uniforms_are_marked_where_they_are_used() {
    assert_eq!(
        bad("x: f32s, <k: f32>", "f32s", "x * k"),
        "UnmarkedUniform | k | `k` is a uniform without its mark | write `<k>`"
    );
    assert_eq!(good("x: f32s, <k: f32>", "f32s", "x * <k>"), "x * <k>");
    assert!(bad("x: f32s", "f32s", "x + <x>").starts_with("MarkedRack | x |"));
    assert!(bad("x: f32s, k: f32", "f32s", "x").contains("write `<k: f32>`"));
    assert!(bad("<x: f32s>", "f32s", "x").starts_with("MarkedRack | <x: f32s> |"));
    let unmarked = one("scratch f(<a: f32>) -> f32:\n  let b = <a> * 2.0\n  <a>\n");
    assert!(unmarked.starts_with("UnmarkedUniform | b |") && unmarked.contains("`let <b: f32> = ...`"), "{unmarked}");
    let marked = one("scratch f(x: f32s) -> f32s:\n  let <b> = x * 2.0\n  x\n");
    assert!(marked.starts_with("MarkedRack | b |"), "{marked}");
}

#[test]
fn a_stage_of_uniforms_is_a_uniform() {
    let text = "scratch f(x: f32s, <a: f32>, <b: f32>) -> f32s:\n  | s <| <a> * <b>\n  | t <| x + <s>\n  t\n";
    assert!(ok(text).contains("| s: <f32> <| <a> * <b>"));
    assert!(one(&text.replace("<s>", "s")).starts_with("UnmarkedUniform | s |"));
}

#[test]
fn a_stage_annotation_equals_the_type() {
    let error = one("scratch f(x: f32s, y: f32s) -> f32s:\n  | s: i32s <| x + y\n  x\n");
    assert!(error.starts_with("TypeMismatch | x + y | `s` is declared i32s, but its value is f32s"), "{error}");
    let wide = one("scratch f(x: f32s, <a: f32>) -> f32s:\n  | s: f32s <| <a>\n  x + s\n");
    assert!(wide.starts_with("TypeMismatch | a |"), "{wide}");
    assert!(ok("scratch f(x: f32s) -> f32s:\n  | s: f32s <| 0.5\n  x + s\n").contains("| s: f32s <| 0.5"));
}

#[test]
fn literals_take_the_type_beside_them() {
    assert_eq!(good("x: u32s", "u32s", "x + 4294967295"), "x + 4294967295");
    assert_eq!(good("x: u32s", "u32s", "1 + 2 + x"), "1 + 2 + x");
    assert_eq!(good("x: u32s", "u32s", "bit_and(x, <4294967295>)"), "bit_and(x, 4294967295)");
    assert_eq!(
        good("m: mask, x: u32s", "u32s", "(if m then 4000000000 else 0) + x"),
        "(if m then 4000000000 else 0) + x"
    );
    assert_eq!(good("x: u32s", "mask", "4000000000 < x"), "4000000000 < x");
    assert_eq!(good("", "f32s", "0.5"), "0.5");
    assert_eq!(good("", "u32", "3000000000"), "<3000000000>");
    assert_eq!(good("<k: u32>", "u32s", "4000000000 - <k>"), "<4000000000> - <k>");
    assert_eq!(good("x: u32s", "u32s", "x + @"), "x + @");
    assert_eq!(good("", "i32s", "@ + 1"), "@ + 1");
    assert_eq!(good("x: f32s", "mask", "true and x < 1.0 or false"), "true and x < 1.0 or false");
}

#[test]
fn literals_are_held_to_their_range() {
    assert_eq!(good("", "i32s", "-2147483648"), "-2147483648");
    for (result, literal, words) in [
        ("i32s", "2147483648", "2147483648 does not fit i32, which holds -2147483648 to 2147483647"),
        ("i32s", "-2147483649", "-2147483649 does not fit i32"),
        ("u32s", "4294967296", "does not fit u32, which holds 0 to 4294967295"),
        ("u32s", "-1", "-1 does not fit u32"),
        ("i32s", "-(2147483648)", "2147483648 does not fit i32"),
        ("f32s", "1e39", "1e39 does not fit f32"),
        ("f32s", "1e999999999", "does not fit f32"),
        ("f32s", "3.4028235677973367e38", "does not fit f32"),
    ] {
        let error = bad("", result, literal);
        assert!(error.starts_with("LiteralRange |") && error.contains(words), "{error}");
    }
    let untyped = one("scratch f(x: f32s) -> f32s:\n  let <a: i32> = 3000000000\n  x\n");
    assert!(untyped.contains("does not fit i32"), "{untyped}");
    assert_eq!(good("", "f32s", "3.4028235677973366e38"), "3.4028235e38");
    assert!(bad("x: f32s", "f32s", "x * 2").ends_with("write `2.0`"));
    assert!(bad("x: i32s", "i32s", "x * 2.0").starts_with("LiteralKind | 2.0 |"));
}

#[test]
fn a_minus_between_operands_is_a_subtraction() {
    assert_eq!(good("x: f32s", "f32s", "x-1.0"), "x - 1.0");
    assert_eq!(good("", "i32s", "2-1"), "2 - 1");
    assert_eq!(good("x: i32s", "i32s", "x--1"), "x - -1");
    assert_eq!(good("x: f32s", "mask", "x < <-1.0>"), "x < -1.0");
}

#[test]
fn types_do_not_convert_by_themselves() {
    let error = bad("x: f32s, y: i32s", "f32s", "x + y");
    assert!(error.starts_with("TypeMismatch | + | `+` needs operands of one type, found f32s and i32s"), "{error}");
    assert!(error.ends_with("conversions are written out: `to_i32(...)`") || error.contains("to_f32"), "{error}");
    assert!(bad("x: f32s", "i32s", "x").contains("expected i32s as the result, found f32s"));
    assert!(bad("x: f32s", "f32", "x").contains("reduce the rack"));
    assert!(bad("x: i32s, y: i32s", "i32s", "x / y").starts_with("NotInVectorCode | / |"));
    assert!(bad("x: i32s, y: i32s", "i32s", "x % y").starts_with("NotInVectorCode | % |"));
    assert!(bad("x: u32s", "u32s", "-x").starts_with("TypeMismatch | -x | `-` needs floats or signed integers"));
    assert!(bad("m: mask, x: f32s", "f32s", "x + m").contains("found f32s and mask"));
    assert!(bad("x: f32s, y: f32s", "f32s", "if x then x else y").contains("`if` needs a mask"));
}

#[test]
fn several_errors_come_at_once_and_do_not_cascade() {
    let text = "\
scratch f(x: f32s, i: i32s, <k: f32>) -> f32s:
  let a = x + i
  let b = a * a + sqrt(a)
  | c <| x * k
  b + c
";
    let errors = type_errors(text, SSE2);
    let codes: Vec<&str> = errors.iter().filter_map(|e| e.split(' ').next()).collect();
    assert_eq!(codes, ["TypeMismatch", "UnmarkedUniform"], "{errors:#?}");
}

#[test]
fn fma_follows_the_profile() {
    let text = "scratch f(x: f32s) -> f32s:\n  fma(x, x, 1.0)\n";
    let error = one(text);
    assert!(
        error.starts_with("NotOnProfile | fma | `fma` cannot be compiled on x86-sse2: the profile has no"),
        "{error}"
    );
    for profile in [Profile::X86Avx2, Profile::X86Avx512] {
        assert_eq!(type_errors(text, profile), Vec::<String>::new());
    }
}

#[test]
fn lanes_follow_the_profile() {
    let text = "scratch f(x: i32s) -> i32s:\n  x + lanes + lanes(i8s)\n";
    assert!(typed::print(&checked(text, SSE2)).ends_with("  x + 4 + 16\n"));
    assert!(typed::print(&checked(text, Profile::X86Avx512)).ends_with("  x + 16 + 64\n"));
}

#[test]
fn shuffle_lists_shift_counts_and_lanes_are_checked() {
    let short = bad("x: f32s", "f32s", "shuffle(x, [0, 1])");
    assert!(short.starts_with("IndexOutOfRange | [0, 1] |") && short.contains("names 4 lanes"), "{short}");
    assert!(bad("x: f32s", "f32s", "shuffle(x, [0, 1, 2, 4])").starts_with("IndexOutOfRange | 4 |"));
    assert_eq!(good("x: f32s", "f32s", "shuffle(x, x, [0, 7, 2, 4])"), "shuffle(x, x, [0, 7, 2, 4])");
    assert!(bad("x: f32s", "f32s", "shuffle(x, x, [0, 8, 2, 4])").starts_with("IndexOutOfRange | 8 |"));
    assert_eq!(good("x: u32s", "u32s", "shift_bits_left(x, 31)"), "shift_bits_left(x, 31)");
    assert!(bad("x: u32s", "u32s", "shift_bits_left(x, 32)").starts_with("IndexOutOfRange | 32 |"));
    assert!(bad("x: u32s, y: u32s", "u32s", "shift_bits_left(x, y)").starts_with("TypeMismatch | y |"));
    assert!(bad("x: f32s", "f32s", "sqrt(x, x)").contains("`sqrt` takes 1 argument, found 2"));
}

#[test]
fn bitcast_keeps_the_width() {
    assert_eq!(good("x: f32s", "u32s", "bitcast(u32s, x)"), "bitcast:u32s(x)");
    assert!(bad("x: f32s", "u32", "bitcast(u32, x)").contains("differ in width or kind"));
}

#[test]
fn locations_are_assigned_and_names_are_not() {
    let text = "\
const n: i32 = 3
scratch f(x: i32s) -> i32s:
  acc: [n]i32s := <0>
  sum1: i32s := x
  repeat <k: i32> from <0> up to n:
    acc[<k>] <- acc[<k>] + x
    sum1 <- sum1 + acc[<k>] * <k>
  sum1 + acc[<2>]
";
    let printed = ok(text);
    assert!(printed.contains("acc: [3]i32s := 0\n"), "{printed}");
    assert!(printed.contains("repeat k: <i32> from 0 up to 3:\n    acc[<k>] <- acc[<k>] + x\n"), "{printed}");
    let name = one("scratch f(x: i32s) -> i32s:\n  let y = x\n  y <- x\n  y\n");
    assert!(name.starts_with("NotALocation | y |") && name.contains("declare it with `y := ...`"), "{name}");
    let index = one("scratch f(x: i32s, <k: i32>) -> i32s:\n  a: [2]i32s := x\n  a[<k>]\n");
    assert!(index.starts_with("NotConstant | k |"), "{index}");
    let bound =
        one("scratch f(x: i32s, <n: i32>) -> i32s:\n  repeat <i: i32> from <0> up to <n>:\n    let a = x\n  x\n");
    assert!(bound.starts_with("NotConstant | n |"), "{bound}");
}

#[test]
fn constants_are_literals() {
    let text = "const half: f32 = 0.5\nconst yes: bool = true\nscratch f(x: f32s) -> f32s:\n  if yes then x * half else x * <half>\n";
    assert!(ok(text).ends_with("  if <true> then x * 0.5 else x * 0.5\n"));
    assert!(one("const n: u32 = -1\nscratch f(x: f32s) -> f32s:\n  x\n").starts_with("LiteralRange | -1 |"));
}

#[test]
fn calls_fit_their_definitions() {
    let text = "scratch g(x: f32s, <k: f32>) -> f32s:\n  x * <k>\nscratch f(x: f32s, <k: f32>) -> f32s:\n  CALL\n";
    let call = |call: &str| text.replace("CALL", call);
    assert!(ok(&call("g(<k>, 2.0)")).ends_with("  g(<k>, <2.0>)\n"));
    assert!(one(&call("g(x)")).contains("`g` takes 2 arguments, found 1"));
    assert!(one(&call("g(x, x)")).starts_with("TypeMismatch | x | expected <f32>"));
}

#[test]
fn registers_bound_the_parameters() {
    let params = |ty: &str, count: usize| (0..count).map(|n| format!("p{n}: {ty}")).collect::<Vec<_>>().join(", ");
    let ints = |count: usize| (0..count).map(|n| format!("<q{n}: i32>")).collect::<Vec<_>>().join(", ");
    assert_eq!(good(&format!("{}, {}", params("f32s", 8), ints(6)), "f32s", "p0"), "p0");
    assert!(bad(&params("f32s", 9), "f32s", "p0").starts_with("TooManyArguments | f | 9 vector"));
    assert!(bad(&format!("x: f32s, {}", ints(7)), "f32s", "x").starts_with("TooManyArguments | f | 7 integer"));
}

#[test]
fn what_is_not_compiled_yet_is_named() {
    assert!(bad("x: f64s", "f32s", "0.5").contains("racks of 64-bit elements are not available yet on x86-sse2"));
    assert!(bad("x: f32s", "f32s", "sin(x)").contains("`sin` on f32s is not available yet"));
    let record = one("record R { f32: x; }\n");
    assert!(record.starts_with("NotAvailableYet | R | records and unions are not available yet"), "{record}");
    let scalar = type_errors("scratch f(x: f64s) -> f64s:\n  x\n", Profile::Scalar);
    assert!(scalar.iter().any(|e| e.contains("not available yet on scalar")), "{scalar:?}");
}

#[test]
fn a_body_ends_in_its_result() {
    let text = one("scratch f(x: f32s) -> f32s:\n  let y = x\n");
    assert!(text.contains("`f` has no result"), "{text}");
    let unused = one("scratch f(x: f32s) -> f32s:\n  x * x\n  x\n");
    assert!(unused.starts_with("MisplacedStatement | x * x |"), "{unused}");
}

#[test]
fn a_long_chain_of_terms_needs_no_stack() {
    let sum = vec!["x"; 100_000].join(" + ");
    let printed = ok(&format!("scratch f(x: f32s) -> f32s:\n  {sum}\n"));
    assert!(printed.trim_end().ends_with(&sum));
    let literals = vec!["1"; 100_000].join(" + ");
    ok(&format!("scratch f(x: i32s) -> i32s:\n  {literals} + x\n"));
}

/// Close to the nesting that the parser allows (an `if` in parentheses counts twice), on a thread with little stack.
#[test]
fn deep_nesting_needs_little_stack() {
    let nest = |open: &str, core: &str, close: &str| format!("{}{core}{}", open.repeat(120), close.repeat(120));
    let exprs = [
        nest("sqrt(", "x", ")"),
        nest("(x + ", "x", ")"),
        nest("if x < 1.0 then x else (", "x", ")"),
        nest("max(x, ", "1.0", ")"),
        nest("(1.0 + ", "x", ")"),
    ];
    let deep = move || {
        for expr in exprs {
            ok(&format!("scratch f(x: f32s) -> f32s:\n  {expr}\n"));
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(deep).expect("thread").join().expect("no overflow");
}

#[test]
fn shifts_by_a_uniform_take_a_u32() {
    assert_eq!(good("x: i32s, <n: u32>", "i32s", "shift_bits_left(x, <n>)"), "shift_bits_left(x, <n>)");
    assert!(bad("x: i32s, <n: i32>", "i32s", "shift_bits_left(x, <n>)").contains("a uniform u32, found <i32>"));
}
