//! Instruction counts derived by hand.

use super::run;
use crate::allocate;
use rake_ir::machine::Kind;
use rake_ir::{allocated, selected};

/// Instructions and copies of a function of four parameters `%0` to `%3`, with a literal as `%4`, once allocated.
fn counts(profile: &str, body: &str, result: u32) -> (usize, usize) {
    let text = format!(
        "rake selected 1\nprofile {profile}\nfuse full\n\nscratch f(a: f32s = v0, b: f32s = v1, c: f32s = v2, \
         d: f32s = v3) -> f32s = v0 {{\n  literal 0 = 0x00000040\n  %4 : v = load literal 0\n  region {{\n{body}  }}\n  \
         return %{result}\n}}\n"
    );
    let program = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    selected::check(&program).unwrap();
    let ordered = run(&program);
    selected::check(&ordered).unwrap();
    let done = allocate::run(&ordered).unwrap();
    allocated::check(&done).unwrap();
    let insts = &done.functions[0].insts;
    (insts.len(), insts.iter().filter(|i| i.op.info().kind == Kind::Move).count())
}

/// `a*d + (b*(a - c*2) + a*c)`: in the source's order `c` and `a` are both read after `a - c*2`, which overwrites one of
/// its operands. After `a*c`, which is three-address, `c` is not.
#[test]
fn another_order_saves_the_copy() {
    let body = "    %5 : v = fnmadd213ps %2, %4, %0\n    %6 : v = mulps %0, %2\n    %7 : v = fmadd213ps %1, %5, %6\n    \
                %8 : v = fmadd213ps %0, %3, %7\n";
    assert_eq!(counts("x86-avx2", body, 8), (5, 0));
    assert_eq!(counts("x86-avx512", body, 8), (5, 0));
}

/// `a - d*(a - b)`: subtraction overwrites its left operand, and `a` is the left operand of both.
#[test]
fn a_value_overwritten_twice_needs_one_copy_in_any_order() {
    let body = "    %5 : v = subps %0, %1\n    %6 : v = mulps %3, %5\n    %7 : v = subps %0, %6\n";
    assert_eq!(counts("x86-sse2", body, 7), (5, 1));
    assert_eq!(counts("x86-avx2", body, 7), (4, 0));
}

/// `(a*d)^2 - (a*a - c*c)`: whichever of `a*a` and `a*d` goes first overwrites its operand. With `a*d` into `d` and
/// then `a*a` nothing is copied but the result, since `d`'s register is not where it is awaited; with `a*a` first `a` is.
#[test]
fn a_result_in_another_place_costs_as_much_as_a_copy_before() {
    let body = "    %5 : v = mulps %0, %3\n    %6 : v = mulps %5, %5\n    %7 : v = mulps %0, %0\n    \
                %8 : v = mulps %2, %2\n    %9 : v = subps %7, %8\n    %10 : v = subps %6, %9\n";
    assert_eq!(counts("x86-sse2", body, 10), (8, 1));
}

/// `a*b + sqrt(a*c)` where the source computes `a*b` first: both may overwrite another operand than `a`.
#[test]
fn the_order_of_the_source_stands_when_nothing_is_gained() {
    let body =
        "    %5 : v = mulps %0, %1\n    %6 : v = mulps %0, %2\n    %7 : v = sqrtps %6\n    %8 : v = addps %5, %7\n";
    let text = format!(
        "rake selected 1\nprofile x86-avx2\nfuse full\n\nscratch f(a: f32s = v0, b: f32s = v1, c: f32s = v2) -> f32s = v0 \
         {{\n  region {{\n{}  }}\n  return %6\n}}\n",
        "    %3 : v = mulps %0, %1\n    %4 : v = mulps %0, %2\n    %5 : v = sqrtps %4\n    %6 : v = addps %3, %5\n"
    );
    let program = selected::read(&text).unwrap();
    assert_eq!(run(&program), program);
    assert_eq!(counts("x86-avx2", body, 8), (5, 0));
}
