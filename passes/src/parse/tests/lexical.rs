//! Section 2 of the reference: text, tokens and layout.

use rake_ir::diag::Code;

use super::super::TokenKind;
use super::super::token::{Sign, TokenKind as Kind};
use super::*;

fn kinds(text: &str) -> Vec<TokenKind> {
    super::super::tokens(&source(text)).0.iter().map(|token| token.kind).collect()
}

/// A scratch with the expression as its body.
fn body(expr: &str) -> String {
    format!("scratch f(x: f32s) -> f32s:\n  {expr}\n")
}

fn body_complaints(expr: &str) -> Vec<(Code, u32, u32)> {
    complaints(body(expr))
}

#[test]
fn line_ends_and_the_byte_order_mark_change_nothing() {
    for sample in SAMPLES {
        let expected = shape(&accept(sample));
        assert_eq!(shape(&accept(&sample.replace('\n', "\r\n"))), expected);
        assert_eq!(shape(&accept(&format!("\u{feff}{sample}"))), expected);
        assert_eq!(shape(&accept(sample.trim_end())), expected);
        assert_eq!(shape(&accept(&format!("{sample}~~ note"))), expected);
        assert_eq!(complaints(sample.replace('\n', "\r")).len(), 1);
    }
    assert_eq!(complaints("const a: i32 = 1\rconst b: i32 = 2\r"), [(Code::StrayCarriageReturn, 1, 17)]);
}

#[test]
fn errors_count_lines_and_columns_alike() {
    let text = "~~ é\nconst a: i32 = ~~ x\nconst b: i32 = 1\n";
    assert_eq!(complaints(text), [(Code::ExpectedExpression, 2, 15)]);
    assert_eq!(complaints(text.replace('\n', "\r\n")), [(Code::ExpectedExpression, 2, 15)]);
    assert_eq!(complaints(format!("\u{feff}{text}")), [(Code::ExpectedExpression, 2, 15)]);
    assert_eq!(complaints("(* é *) let\n"), [(Code::ExpectedDefinition, 1, 9)]);
}

#[test]
fn block_comments_nest() {
    accept("(* a (* b *) c *) const a: i32 = (* (**) *) 1 ~~ (* not open\n");
    assert_eq!(complaints("const a: i32 = 1\n  (* a (* b *)\n"), [(Code::UnclosedComment, 2, 3)]);
    assert_eq!(body_complaints("(* open"), [(Code::UnclosedComment, 2, 3)]);
}

#[test]
fn broken_bytes_end_at_once() {
    assert_eq!(complaints(b"const a: i32 = \xff 1\nlet\n".to_vec()), [(Code::InvalidUtf8, 1, 16)]);
    assert_eq!(complaints(b"~~ \xc3\nlet\n".to_vec()), [(Code::InvalidUtf8, 1, 4)]);
    assert!(errors(b"ab\xff".to_vec())[0].message.contains("offset 2"));
    assert_eq!(complaints("const a: i32 = 1\0\n"), [(Code::InvalidCharacter, 1, 17)]);
    assert_eq!(complaints("~~ \0\n"), [(Code::InvalidCharacter, 1, 4)]);
    assert_eq!(complaints("const é: i32 = 1\n"), [(Code::InvalidCharacter, 1, 7)]);
    assert_eq!(complaints("const a: i32 = 1 \u{feff}\n"), [(Code::InvalidCharacter, 1, 18)]);
}

#[test]
fn open_strings_and_brackets_are_one_error_at_the_opening() {
    assert_eq!(complaints("embed a from \"x"), [(Code::UnclosedString, 1, 14)]);
    assert_eq!(body_complaints("f(\"a, b)"), [(Code::UnclosedString, 2, 5)]);
    assert_eq!(body_complaints("f(x"), [(Code::UnclosedBracket, 2, 4)]);
    assert_eq!(body_complaints("f(x, (x + "), [(Code::UnclosedBracket, 2, 8)]);
    assert_eq!(complaints("slow f():\n  slow {\n    x := 1\n"), [(Code::UnclosedBracket, 2, 8)]);
    assert_eq!(complaints("slow f():\n  slow {"), [(Code::UnclosedBracket, 2, 8)]);
    let two = format!("{}{}", body("(x"), body("x x"));
    assert_eq!(complaints(two), [(Code::UnclosedBracket, 2, 3), (Code::UnexpectedToken, 4, 5)]);
    assert_eq!(body_complaints("x)"), [(Code::UnmatchedBracket, 2, 4)]);
}

#[test]
fn strings_keep_their_escapes() {
    let file = accept(
        r#"embed a from "a\"b\\"
"#,
    );
    match &file.defs[0].kind {
        surface::DefKind::Embed { path } => assert_eq!(path.raw, r#"a\"b\\"#),
        _ => panic!("not an embed"),
    }
    accept("embed a from \"caf\u{e9}\"\n");
}

#[test]
fn indentation_is_equal_and_of_spaces() {
    accept("slow f():\n      a()\n\n   ~~ a comment anywhere\n(* and here *)\n      b()\n");
    assert_eq!(complaints("slow f():\n\ta()\n\tb()\n"), [(Code::TabInIndentation, 2, 1)]);
    assert_eq!(complaints("slow f():\n  a()\n    b()\n    c()\n  d()\n"), [(Code::UnexpectedIndentation, 3, 5)]);
    assert_eq!(complaints("slow f():\n    a()\n  b()\n  c()\n"), [(Code::UnexpectedIndentation, 3, 3)]);
    assert_eq!(complaints("  slow f():\n    a()\n"), [(Code::UnexpectedIndentation, 1, 3)]);
    assert_eq!(complaints("slow f():\nslow g():\n  a()\n"), [(Code::ExpectedBody, 1, 9)]);
    assert_eq!(complaints("slow f(): a()\n"), [(Code::ExpectedBody, 1, 9)]);
    assert_eq!(complaints("slow f():"), [(Code::ExpectedBody, 1, 9)]);
    assert_eq!(kinds("slow f():\n  a()\nslow"), kinds("slow f():\n a()\n\n\n  ~~ x\nslow"),);
}

#[test]
fn brackets_continue_lines_and_slow_braces_do_not() {
    let flat = accept("slow f():\n  let x = g(1, [2, 3], R { a: 1 })\n");
    let broken = accept("slow f():\n  let x = g(1,\n[2,\n        3\n], R {\n a:\n1 }\n  )\n");
    assert_eq!(shape(&flat), shape(&broken));
    let line = accept("slow f():\n  let x = g(slow { a(); b() }, 1)\n");
    let lines = accept("slow f():\n  let x = g(slow {\n   a()\n   b()\n}, 1)\n");
    assert_eq!(shape(&line), shape(&lines));
    let nested = accept("slow f():\n  slow {\n    if c:\n      a() }\n  b()\n");
    assert_eq!(shape(&nested), shape(&accept("slow f():\n  slow { if c:\n           a()\n  }\n  b()\n")));
}

#[test]
fn semicolons_separate_only_in_slow_blocks() {
    assert_eq!(complaints("slow f():\n  a(); b()\n"), [(Code::UnexpectedToken, 2, 6)]);
    let value =
        |text: &str| shape(&accept(&format!("slow f():\n  let x = slow {{ {text} }}\n"))).contains("slow with value");
    assert!(value("let x = 2; x + 1"));
    assert!(!value("let x = 2; x + 1;"));
    assert!(!value("let x = 2"));
    assert!(!value(""));
}

#[test]
fn numbers() {
    for text in
        ["0", "007", "0xFfff", "1.0", "2.", "1e-3", "1E+3", "2.5e10", "18446744073709551615", "0xFFFFFFFFFFFFFFFF"]
    {
        assert_eq!(tree(text), text);
    }
    assert_eq!(tree("0000000000000000000000000000001"), "0000000000000000000000000000001");
    for text in ["1e", "1e+", "0x", "0xg", "0X1", "1_000", "1f32", "2.x", "0x1.8", "12abc"] {
        assert_eq!(body_complaints(text), [(Code::MalformedNumber, 2, 3)], "{text}");
    }
    for text in ["18446744073709551616", "99999999999999999999999999", "0x10000000000000000"] {
        assert_eq!(body_complaints(text), [(Code::IntegerTooLarge, 2, 3)], "{text}");
    }
    assert_eq!(body_complaints(".5"), [(Code::ExpectedExpression, 2, 3)]);
    assert_eq!(kinds("1e999999999")[0], Kind::Float);
    assert_eq!(body_complaints(&"9".repeat(1_000_000)), [(Code::IntegerTooLarge, 2, 3)]);
    accept(&body(&format!("{}.5", "9".repeat(1_000_000))));
}

#[test]
fn a_minus_belongs_to_the_number_after_it() {
    assert_eq!(tree("-2147483648"), "-2147483648");
    assert_eq!(tree("- 1.5"), "-1.5");
    assert_eq!(tree("-(2147483648)"), "[- 2147483648]");
    assert_eq!(tree("--1"), "[- -1]");
    assert_eq!(tree("2-1"), "[2 - 1]");
    assert_eq!(tree("x-1.0"), "[x - 1.0]");
    assert_eq!(tree("n-1+a[n-3]-(-2)--1"), "[[[[n - 1] + a[n - 3]] - -2] - -1]");
    assert_eq!(tree("n - 1 + a[n - 3] - (-2) - -1"), tree("n-1+a[n-3]-(-2)--1"));
    let negated = accept("const c: i32 = -(5)\n");
    assert_eq!(surface::print(&negated), "const c: i32 = -(5)\n");
}

#[test]
fn marks_split_tokens() {
    assert_eq!(tree("v<<t>"), "[v < <t>]");
    assert_eq!(tree("v < <t>"), "[v < <t>]");
    assert_eq!(tree("<t>>=v"), "[<t> >= v]");
    assert_eq!(tree("<t>=v"), "[<t> = v]");
    assert_eq!(tree("<t>>v"), "[<t> > v]");
    assert_eq!(tree("v < <-1.0>"), "[v < <-1.0>]");
    assert_eq!(tree("v<<-1.0>"), "[v < <-1.0>]");
    assert_eq!(tree("v < < -1.0 >"), "[v < <-1.0>]");
    assert_eq!(tree("<-1>"), "<-1>");
    assert_eq!(tree("<a>-1"), "[<a> - 1]");
}

#[test]
fn arrows_in_expressions_suggest_the_space() {
    let diagnostics = errors(body("let y = if x <-1.0 then x else x"));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, Code::ArrowInExpression);
    assert!(diagnostics[0].help.as_deref().is_some_and(|help| help.contains("`< -1.0`")), "{diagnostics:?}");
    // At a statement's start it assigns.
    assert!(shape(&accept("slow f():\n  x <-1.0\n")).contains("assign"));
}

#[test]
fn closing_marks_leave_the_rest_of_the_token() {
    let spaced =
        "scratch f(x: f32s, <t: f32>) -> f32s:\n  let <y: f32> = <t>\n  sweep:\n    | x < <t> => x\n    | _ => x\n";
    let tight = "scratch f(x:f32s,<t:f32>)->f32s:\n  let<y:f32>=<t>\n  sweep:\n    |x<<t>=>x\n    |_=>x\n";
    assert_eq!(shape(&accept(spaced)), shape(&accept(tight)));
}

#[test]
fn names_and_reserved_words() {
    accept("slow f():\n  let copy = 1\n  let where = copy\n  let with = compact\n  let wrap = bitcast\n");
    assert_eq!(complaints("const from: i32 = 1\n"), [(Code::ReservedWord, 1, 7)]);
    assert_eq!(complaints("const f32s: i32 = 1\n"), [(Code::ReservedWord, 1, 7)]);
    assert_eq!(complaints("const Big: i32 = 1\n"), [(Code::InvalidName, 1, 7)]);
    assert_eq!(complaints("const _: i32 = 1\n"), [(Code::InvalidName, 1, 7)]);
    assert_eq!(complaints("pack small { f32: x; }\n"), [(Code::InvalidName, 1, 6)]);
    assert_eq!(complaints("tine #if() means x\n"), [(Code::ReservedWord, 1, 6)]);
    assert_eq!(tree("value.i32"), "value.i32");
    accept("const _a9_: i32 = 1\n");
    let kinds = kinds("_ a A #a i32 if =>");
    assert_eq!(kinds[..2], [Kind::Underscore, Kind::Ident]);
    assert_eq!(kinds[2..4], [Kind::TypeName, Kind::Tine]);
    assert_eq!(kinds[6], Kind::Sign(Sign::FatArrow));
}

#[test]
fn tokens_print_with_their_places() {
    let source = source("\u{feff}const é");
    let (tokens, _) = super::super::tokens(&source);
    let expected = "1:1 keyword const\n1:7 error é\n1:8 newline\n1:8 end-of-file\n";
    assert_eq!(super::super::print_tokens(&source, &tokens), expected);
}
