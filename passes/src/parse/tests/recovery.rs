//! Errors: their codes, places and helps, and several in one run.

use rake_ir::diag::Code;

use super::super::MAX_ERRORS;
use super::*;

/// The only error of a scratch with the statement in it.
#[track_caller]
fn only(statement: &str) -> (Code, String) {
    let diagnostics = errors(format!("scratch f(x: f32s) -> f32s:\n  {statement}\n  x\n"));
    assert_eq!(diagnostics.len(), 1, "{statement}: {diagnostics:#?}");
    let diagnostic = &diagnostics[0];
    (diagnostic.code, format!("{} {}", diagnostic.message, diagnostic.help.clone().unwrap_or_default()))
}

#[test]
fn comparisons_do_not_chain() {
    let (code, text) = only("let y = x < x < x");
    assert_eq!(code, Code::ChainedComparison);
    assert!(text.contains("and"), "{text}");
    assert_eq!(only("let y = a = b != c").0, Code::ChainedComparison);
}

#[test]
fn not_binds_tightly() {
    let (code, text) = only("let y = not x < x");
    assert_eq!(code, Code::NotOfComparison);
    assert!(text.contains("not (a < b)"), "{text}");
    accept("scratch f(x: f32s) -> f32s:\n  let y = not (x < x)\n  x\n");
}

#[test]
fn each_mistake_has_one_error() {
    for (statement, code) in [
        ("let y x", Code::UnexpectedToken),
        ("let y := x", Code::UnexpectedToken),
        ("let = x", Code::InvalidName),
        ("let y = ", Code::ExpectedExpression),
        ("let y = x +", Code::ExpectedExpression),
        ("let y = x == x", Code::ExpectedExpression),
        ("let y = x && x", Code::InvalidCharacter),
        ("let y = f(x,)", Code::ExpectedExpression),
        ("let y = f(x x, x)", Code::UnexpectedToken),
        ("let y = [1; 2; 3]", Code::UnexpectedToken),
        ("let y = <x + 1>", Code::InvalidMark),
        ("let y = <f(x)> + x", Code::InvalidMark),
        ("let y = <v[<i>]>", Code::InvalidMark),
        ("let y = <-1.0", Code::InvalidMark),
        ("let y = f32", Code::ExpectedExpression),
        ("let y = Name", Code::ExpectedExpression),
        ("let y: = x", Code::ExpectedType),
        ("let y = x + if x then x else x", Code::ExpectedExpression),
        ("let y = if x then x", Code::UnexpectedToken),
        ("let y = a.b(c)", Code::UnexpectedToken),
        ("let y = _", Code::ExpectedExpression),
        ("| y = x", Code::UnexpectedToken),
        ("| y => x", Code::UnexpectedToken),
        ("f(x) <- x", Code::InvalidPlace),
        ("<x> <- 3", Code::InvalidPlace),
        ("x + x <- x", Code::ArrowInExpression),
        ("through x into:", Code::InvalidName),
        ("repeat i from 0 to 4:", Code::UnexpectedToken),
        ("compact s", Code::UnexpectedToken),
        ("scratch g(x: f32s) -> f32s:", Code::ExpectedExpression),
        ("else x", Code::ExpectedExpression),
    ] {
        // A header without a body says so once, whatever else is wrong in it.
        assert_eq!(only(statement).0, code, "{statement}");
    }
}

#[test]
fn several_errors_are_found_in_one_run() {
    let text = "\
const a i32 = 1
scratch f(x: f32s) -> f32s:
  let y = x +
  let z = (x x) + y
  if x <:
    let w =
  z w
nonsense here
  and below
slow g() -> i32
  return 1
slow h() -> i32:
  return 1 2
";
    let lines: Vec<(Code, u32)> = complaints(text).into_iter().map(|(code, line, _)| (code, line)).collect();
    let expected = [
        (Code::UnexpectedToken, 1),
        (Code::ExpectedExpression, 3),
        (Code::UnexpectedToken, 4),
        (Code::ExpectedExpression, 5),
        (Code::ExpectedExpression, 6),
        (Code::UnexpectedToken, 7),
        (Code::ExpectedDefinition, 8),
        (Code::UnexpectedIndentation, 9),
    ];
    assert_eq!(lines[..8], expected);
    assert!(lines.contains(&(Code::UnexpectedToken, 13)), "{lines:?}");
}

#[test]
fn errors_are_capped() {
    let text = "const a i32 = 1\n".repeat(MAX_ERRORS * 3);
    let found = errors(text);
    assert_eq!(found.len(), MAX_ERRORS + 1);
    assert_eq!(found.last().map(|last| last.code), Some(Code::TooManyErrors));
    let unreadable = errors("$ ".repeat(100_000));
    assert_eq!(unreadable.len(), MAX_ERRORS + 1);
}

#[test]
fn an_error_in_a_header_does_not_hide_the_body() {
    let found = complaints("scratch f(x f32s) -> f32s:\n  let y = )\n  x\n");
    let codes: Vec<Code> = found.iter().map(|found| found.0).collect();
    assert_eq!(codes, [Code::UnexpectedToken, Code::UnmatchedBracket]);
}

#[test]
fn a_missing_colon_is_one_error_and_the_body_is_read() {
    let text = "slow f(x: i32) -> i32\n  if x\n    return 1\n  else\n    return 1 2\n  return 3\n";
    let expected = [
        (Code::UnexpectedToken, 1, 22),
        (Code::UnexpectedToken, 2, 7),
        (Code::UnexpectedToken, 4, 7),
        (Code::UnexpectedToken, 5, 14),
    ];
    assert_eq!(complaints(text), expected);
    assert_eq!(complaints("slow f():\n  let x = if c then a\n    else b\n").len(), 2);
}

#[test]
fn an_unclosed_bracket_hides_what_its_next_lines_make_of_it() {
    let text = "slow f():\n  let x = g(1\n  let y = 2\n  h y\n\nslow k():\n  h y\n";
    assert_eq!(complaints(text), [(Code::UnclosedBracket, 2, 12), (Code::UnexpectedToken, 7, 5)]);
}
