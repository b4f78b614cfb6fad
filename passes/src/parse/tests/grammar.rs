//! The forms of the language and their trees.

use rake_ir::surface::{DefKind, StmtKind};

use super::*;

#[test]
fn precedence_from_loosest_to_tightest() {
    assert_eq!(tree("a or b and c = d + e * f"), "[a or [b and [c = [d + [e * f]]]]]");
    assert_eq!(tree("a * b + c < d and e or f"), "[[[[[a * b] + c] < d] and e] or f]");
    assert_eq!(tree("a - b - c"), "[[a - b] - c]");
    assert_eq!(tree("a - (b - c)"), "[a - [b - c]]");
    assert_eq!(tree("a / b % c * d"), "[[[a / b] % c] * d]");
    assert_eq!(tree("not a and b"), "[[not a] and b]");
    assert_eq!(tree("-a.x * b"), "[[- a.x] * b]");
    assert_eq!(tree("not #a gaps or #b(x)"), "[[not [#a gaps]] or #b(x)]");
    assert_eq!(tree("if a or b then c else d + e"), "[if [a or b] c [d + e]]");
    assert_eq!(tree("if a then b else if c then d else e"), "[if a b [if c d e]]");
    assert_eq!(tree("(if a then b else c) + d"), "[[if a b c] + d]");
    assert_eq!(tree("(not a) = b"), "[[not a] = b]");
    assert_eq!(tree("a = not b"), "[a = [not b]]");
}

#[test]
fn postfixes_and_primaries() {
    for text in [
        "a.b[c].d[unchecked i][<i> up to <n>]",
        "[1, 2, 3]",
        "[0.0; 8]",
        "[]",
        "f()",
        "fma(a, b, c)",
        "bitcast(ptr const (), p)",
        "wrap(u8, x)",
        "i32(x)",
        "stack Samples { value: v, quality: q }",
        "R { a: 1, i32: 2 }",
        "c_type_t { a: 1 }",
        "R {}",
        "lanes",
        "lanes(f32s)",
        "@",
        "true",
        "\"text\"",
        "<weights[i]>",
        "<weights[i + 1 - n].x>",
        "<a.b.c>",
        "<true>",
        "<-1>",
        "<v[unchecked 3]>",
        "slow {}",
    ] {
        assert_eq!(tree(text), text);
    }
}

#[test]
fn regions_go_on_over_blank_and_comment_lines_only() {
    let file = accept(SAMPLES[0]);
    let regions = |name: &str| {
        let def = file.defs.iter().find(|def| def.name.text == name).expect("defined");
        let (DefKind::Scratch(function) | DefKind::Rake(function)) = &def.kind else { panic!("no function") };
        let mut counts = Vec::new();
        let mut blocks = vec![&function.body];
        while let Some(block) = blocks.pop() {
            for &stmt in &block.stmts {
                match &file.stmts[stmt].kind {
                    StmtKind::Region(stages) => counts.push(stages.len()),
                    StmtKind::Through { body, .. } => blocks.push(body),
                    _ => {}
                }
            }
        }
        counts
    };
    assert_eq!(regions("advance"), [2]);
    assert_eq!(regions("shade"), [2]);
    let split = accept("scratch f(x: f32s) -> f32s:\n  | a <| x\n  let b = a\n  | c <| b\n  | d <| c\n  d\n");
    assert_eq!(shape(&split).matches("region").count(), 2);
}

#[test]
fn definitions_have_their_parts() {
    let file = accept(SAMPLES[1]);
    let text = shape(&file);
    for expected in [
        "slow entry\n  param argc: i32\n  param argv: ptr ptr u8\n  result i32\n  body\n    if\n      call is_null\n",
        "state calls: i32\n  number 0\n",
        "state zeroed: [4]Context\n",
        "embed table from \"table.bin\"\n",
        "const limit: u64\n  number 0xFFFFFFFFFFFFFFFF\n",
        "record wasm_trap_t from \"wasmtime.h\"\n",
        "extern slow quit from \"stdlib.h\"\n  param code: i32\n",
        "union foreign_value_t from \"values.h\"\n  field i32: i32\n  field i64: i64\n  field f64: f64\n  field v128: [16]u8\n",
        "  field callback: slow(ptr (), i32) -> ()\n",
        "  param mut name: [4]i32\n",
    ] {
        assert!(text.contains(expected), "{expected}\nin\n{text}");
    }
}

#[test]
fn stack_results_and_sweeps() {
    let text = shape(&accept(SAMPLES[0]));
    for expected in [
        "    with s\n      field value\n        chain\n          field .value\n            name s\n          *\n            mark\n              number 0.5\n      where\n",
        "    compact s\n      where\n        chain\n",
        "      arm _\n        mark\n          number -1.0\n",
        "    through partial\n      tine #near\n      body\n",
        "    for <i: i32>\n",
        "    repeat <i: i32>\n",
    ] {
        assert!(text.contains(expected), "{expected}\nin\n{text}");
    }
}

#[test]
fn spans_cover_what_they_name() {
    let text = "scratch f(<x: f32>) -> f32s:\n  let y = (<x>) * (2.0 + <x>)\n  y\n\nconst a: i32 = 1\n";
    let source = source(text);
    let (file, _) = super::super::parse(&source);
    assert_eq!(source.slice(file.defs[0].span), text.split("\n\n").next().expect("two parts"));
    let DefKind::Scratch(function) = &file.defs[0].kind else { panic!("not a scratch") };
    assert_eq!(source.slice(function.params[0].span), "<x: f32>");
    let StmtKind::Let { value, .. } = file.stmts[function.body.stmts[0]].kind else { panic!("not a let") };
    assert_eq!(source.slice(file.exprs[value].span), "(<x>) * (2.0 + <x>)");
    assert_eq!(source.slice(function.body.span), "let y = (<x>) * (2.0 + <x>)\n  y");
}

#[test]
fn printing_is_canonical_and_reads_back() {
    for sample in SAMPLES {
        let file = accept(sample);
        let printed = surface::print(&file);
        let again = accept(&printed);
        assert_eq!(shape(&file), shape(&again), "{printed}");
        assert_eq!(surface::print(&again), printed);
        let texts = |file: &File| file.comments.iter().map(|comment| comment.text.to_string()).collect::<Vec<_>>();
        assert_eq!(texts(&file), texts(&again));
    }
    let messy =
        "scratch f( x:f32s )->f32s: ~~ head\n      ~~ own\n      let y=x*((2.0)) ~~ tail\n      ((y)+x)*y-(x-(y))\n";
    let neat = "scratch f(x: f32s) -> f32s:\n  ~~ head\n  ~~ own\n  let y = x * 2.0 ~~ tail\n  (y + x) * y - (x - y)\n";
    assert_eq!(surface::print(&accept(messy)), neat);
}

#[test]
fn comments_are_found_whatever_else_is_wrong() {
    let found = super::super::comments(&source("~~ expect a\n)) x\ny ~~ b\n(* c *)\n"));
    let texts: Vec<_> = found.iter().map(|comment| (comment.text.as_str(), comment.follows.is_some())).collect();
    assert_eq!(texts, [("~~ expect a", false), ("~~ b", true), ("(* c *)", false)]);
}
