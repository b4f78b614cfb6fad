//! Code derived by hand.

use super::run;
use rake_ir::{selected, stacked};

/// The lines of a function of two racks and a float, between its head and its end.
fn code(literals: &str, body: &str, result: u32) -> String {
    let text = format!(
        "rake selected 1\nprofile wasm-simd128\nfuse full\n\nscratch f(a: f32s = v0, b: f32s = v1, n: <f32> = f2) -> f32s = \
         v0 {{\n{literals}{body}  return %{result}\n}}\n"
    );
    let program = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    selected::check(&program).unwrap();
    let stacked = run(&program);
    stacked::check(&stacked).unwrap_or_else(|e| panic!("{}\n{e:?}", stacked::print(&stacked)));
    let lanes = |seed: u32| std::array::from_fn(|lane| (seed + lane as u32) as f32).map(f32::to_bits);
    let args = [lanes(3), lanes(40), lanes(500)];
    let profile = program.profile;
    assert_eq!(
        stacked::eval(&stacked.functions[0], profile, &args),
        selected::eval(&program.functions[0], profile, &args)
    );
    let text = stacked::print(&stacked);
    let lines = text.lines().skip(5).map(|line| line.split("~~").next().unwrap_or("").trim());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty() && !line.starts_with("literal")).collect();
    lines[..lines.len() - 1].join("; ").replace("local.", "").replace("f32x4_", "")
}

#[test]
fn what_is_read_once_is_computed_where_it_is_consumed() {
    let body = "  %3 : v = f32x4_add %0, %1\n  %4 : v = f32x4_mul %1, %0\n  %5 : v = f32x4_sub %4, %3\n";
    assert_eq!(code("", body, 5), "get 1; get 0; mul; get 0; get 1; add; sub");
}

/// The sum is read twice: its local is that of `b`, which nobody reads any more.
#[test]
fn what_is_read_twice_is_kept_where_a_parameter_was() {
    let body = "  %3 : v = f32x4_add %0, %1\n  %4 : v = f32x4_mul %0, %3\n  %5 : v = f32x4_mul %3, %4\n";
    assert_eq!(code("", body, 5), "get 0; get 1; add; tee 1; get 0; get 1; mul; mul");
}

/// Both parameters are read after the sum is kept, so that it needs a local of its own.
#[test]
fn a_local_is_added_where_none_is_free() {
    let body = "  %3 : v = f32x4_add %0, %1\n  %4 : v = f32x4_mul %3, %3\n  %5 : v = f32x4_sub %4, %0\n  \
                %6 : v = f32x4_sub %5, %1\n";
    assert_eq!(code("", body, 6), "locals v; get 0; get 1; add; tee 3; get 3; mul; get 0; sub; get 1; sub");
}

/// What the region reads of others is on the stack before its first instruction: the operands of the sum trade places.
#[test]
fn a_region_finds_its_operands_on_the_stack() {
    let body =
        "  %3 : v = f32x4_splat %2\n  region {\n    %4 : v = f32x4_mul %0, %1\n    %5 : v = f32x4_add %4, %3\n  }\n";
    assert_eq!(code("", body, 5), "get 2; splat; region {; get 0; get 1; mul; add; }");
}

/// The operands of a difference cannot trade places.
#[test]
fn or_in_a_local() {
    let body =
        "  %3 : v = f32x4_splat %2\n  region {\n    %4 : v = f32x4_mul %0, %1\n    %5 : v = f32x4_sub %4, %3\n  }\n";
    assert_eq!(code("", body, 5), "locals v; get 2; splat; set 3; region {; get 0; get 1; mul; get 3; sub; }");
}

/// A region that two others read computes both results before either goes on.
#[test]
fn a_region_s_results_are_computed_together() {
    let body = "  region {\n    %3 : v = f32x4_mul %0, %1\n    %4 : v = f32x4_sub %0, %1\n  }\n  \
                %5 : v = f32x4_add %4, %0\n  %6 : v = f32x4_add %5, %3\n";
    assert_eq!(
        code("", body, 6),
        "locals v; region {; get 0; get 1; mul; set 3; get 0; get 1; sub; }; get 0; add; get 3; add"
    );
}

/// A constant of sixteen bytes is loaded once.
#[test]
fn a_long_constant_is_kept() {
    let body = "  %3 : v = v128_const literal 0\n  %4 : v = f32x4_add %0, %3\n  %5 : v = f32x4_mul %4, %3\n";
    assert_eq!(code("  literal 0 = 0x0000803f\n", body, 5), "get 0; v128_const literal 0; tee 0; add; get 0; mul");
}

/// What nothing reads is left out.
#[test]
fn dead_code_is_not_computed() {
    assert_eq!(code("", "  %3 : v = f32x4_add %0, %1\n  %4 : v = f32x4_mul %3, %1\n", 1), "get 1");
}

/// A number in every lane is a constant: it may stand within a region, whose instructions follow each other.
#[test]
fn a_spread_constant_stands_where_it_is_needed() {
    let body = "  %3 : f = f32_const literal 0\n  %4 : v = f32x4_splat %3\n  region {\n    %5 : v = f32x4_mul %0, %1\n    \
                %6 : v = f32x4_sub %5, %4\n  }\n";
    assert_eq!(
        code("  literal 0 = 0x0000803f\n", body, 6),
        "region {; get 0; get 1; mul; f32_const literal 0; splat; sub; }"
    );
}

/// A run keeps its order: the load passes no store, the sum that a later trip reads has a local to the loop's end, and the
/// comparison is the test that the jump takes.
#[test]
fn bodies_keep_the_order_of_effects() {
    let text = "rake selected 1
profile wasm-simd128
fuse full

run f(x: address to mut []f32 = g0, x_count: <i32> = g1) {
  literal 0 = 0x0000000000000000
  %2 : l = i64_const literal 0
  %3 : l = i64_extend_i32_s %1
  %4 : l = copy_long %2
  %5 : g = copy_word %0
  loop
    %6 : v = v128_load [%5]
    %7 : v = f32x4_add %6, %6
    v128_store [%5 + 16], %7
    %8 : v = v128_load [%5]
    v128_store [%0], %8
    %9 : l = i64_add %4, 4
    %10 : g = i32_add %5, 16
    %5 = copy_word %10
    %4 = copy_long %9
    compare_long %9, %3
  again 2
}
";
    let program = selected::read(text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(selected::check(&program), Ok(()));
    let made = run(&program);
    assert_eq!(stacked::check(&made), Ok(()), "{}", stacked::print(&made));
    let text = stacked::print(&made);
    assert_eq!(stacked::read(&text).map(|read| stacked::print(&read)), Ok(text.clone()));
    let lines: Vec<&str> = text.lines().skip(5).map(|line| line.split("~~").next().unwrap_or("").trim()).collect();
    let lines = lines.into_iter().filter(|line| !line.starts_with("literal")).collect::<Vec<_>>();
    // %5 has the local of the count, which is read once, before the loop; what the loop needs to its end shares none.
    let expected = "locals l l l v; get 1; i64_extend_i32_s; set 2; i64_const literal 0; set 3; get 0; set 1; loop; get 1; \
                    v128_load; set 5; get 1; get 5; get 5; add; v128_store offset 16; get 0; get 1; v128_load; v128_store; \
                    get 3; i64_const literal 1; i64_add; set 4; get 1; i32_const literal 2; i32_add; set 1; get 4; set 3; \
                    get 4; get 2; i64_lt_s; br_if; end";
    assert_eq!(lines[..lines.len() - 1].join("; ").replace("local.", "").replace("f32x4_", ""), expected);
}
