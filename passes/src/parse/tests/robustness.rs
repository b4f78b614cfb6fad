//! No input panics, hangs or overflows the stack, and every span stays in the text.

use std::time::{Duration, Instant};

use rake_ir::diag::Code;

use super::super::{MAX_COMMENT_NESTING, MAX_NESTING};
use super::*;

/// Parses, checks all spans and dumps; answers the diagnostics' codes.
fn survive(text: impl Into<Vec<u8>>) -> Vec<Code> {
    let source = source(text);
    let end = source.text().len() as u32;
    let (file, diagnostics) = super::super::parse(&source);
    let spans = diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels).map(|label| label.span);
    let nodes = file.exprs.iter().map(|(_, expr)| expr.span).chain(file.stmts.iter().map(|(_, stmt)| stmt.span));
    for span in
        spans.chain(nodes).chain(file.types.iter().map(|(_, ty)| ty.span)).chain(file.defs.iter().map(|def| def.span))
    {
        assert!(span.start <= span.end && span.end <= end, "{span:?} of {end}");
        assert!(
            source.text().is_char_boundary(span.start as usize) && source.text().is_char_boundary(span.end as usize)
        );
    }
    let clean = diagnostics.is_empty();
    if clean {
        assert_eq!(file.check(), Ok(()));
        let printed = surface::print(&file);
        let (again, diagnostics) = super::super::parse(&super::source(printed.as_str()));
        assert!(diagnostics.is_empty(), "{printed}\n{diagnostics:#?}");
        assert_eq!(shape(&file), shape(&again));
    } else {
        shape(&file);
        surface::print(&file);
    }
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// The same, in well under the time a quadratic algorithm would take.
#[track_caller]
fn quick(text: impl Into<Vec<u8>>) -> Vec<Code> {
    let start = Instant::now();
    let codes = survive(text);
    assert!(start.elapsed() < Duration::from_secs(5), "took {:?}", start.elapsed());
    codes
}

fn body(expr: &str) -> String {
    format!("scratch f(x: f32s) -> f32s:\n  let y = {expr}\n  y\n")
}

#[test]
fn nesting_is_accepted_up_to_the_limit() {
    let parentheses = |depth: usize| body(&format!("{}x{}", "(".repeat(depth - 1), ")".repeat(depth - 1)));
    assert_eq!(survive(parentheses(MAX_NESTING)), []);
    assert_eq!(survive(parentheses(MAX_NESTING + 1)), [Code::NestedTooDeeply]);
    let sums = |depth: usize| body(&format!("{}x{}", "(x + x * ".repeat(depth - 1), ")".repeat(depth - 1)));
    assert_eq!(survive(sums(MAX_NESTING)), []);
    let ifs = |depth: usize| {
        let lines: String = (1..depth).map(|level| format!("{}if c:\n", " ".repeat(level))).collect();
        format!("slow f():\n{lines}{}a()\n", " ".repeat(depth))
    };
    assert_eq!(survive(ifs(MAX_NESTING)), []);
    assert_eq!(survive(ifs(MAX_NESTING + 1)), [Code::NestedTooDeeply]);
    let comments = |depth: usize| format!("{}{}\n", "(*".repeat(depth), "*)".repeat(depth));
    assert_eq!(survive(comments(MAX_COMMENT_NESTING)), []);
    assert_eq!(survive(comments(MAX_COMMENT_NESTING + 1)), [Code::NestedTooDeeply]);
}

#[test]
fn deep_inputs_are_refused_quickly() {
    const N: usize = 100_000;
    for text in [
        "(".repeat(N),
        format!("{}x{}", "(".repeat(N), ")".repeat(N)),
        format!("{}x", "-".repeat(N)),
        format!("{}x", "not ".repeat(N)),
        "[".repeat(N),
        "f(".repeat(N),
        "a[".repeat(N),
        "R{a:".repeat(N),
        "if a then ".repeat(N),
        "if a then b else ".repeat(N),
        "<a[".repeat(N / 10),
        format!("x{}", ".a".repeat(N)),
        format!("x{}", "[0]".repeat(N)),
        format!("x{}", " gaps".repeat(N)),
        format!("<x{}>", ".a".repeat(N)),
        "slow {".repeat(20_000),
        format!("{}{}", "slow {".repeat(20_000), "}".repeat(20_000)),
    ] {
        let codes = quick(body(&text));
        assert!(!codes.is_empty() && codes.len() <= 3, "{codes:?} for {}...", &text[..20]);
        assert!(codes.iter().any(|code| matches!(code, Code::NestedTooDeeply | Code::InvalidMark)), "{codes:?}");
    }
    for ty in ["ptr ", "[]", "[4]", "slow(", "slow() -> "] {
        let codes = quick(format!("slow f(x: {}i32):\n  x\n", ty.repeat(N)));
        assert!(codes.contains(&Code::NestedTooDeeply), "{ty}: {codes:?}");
    }
    let ifs: String = (1..4000).map(|level| format!("{}if c:\n", " ".repeat(level))).collect();
    assert_eq!(quick(format!("slow f():\n{ifs}{}a()\n", " ".repeat(4000))), [Code::NestedTooDeeply]);
    assert_eq!(quick("(*".repeat(N)).len(), 2);
}

#[test]
fn later_definitions_are_checked_after_one_too_deep() {
    let text = format!("{}const a i32 = 1\n", body(&"(".repeat(1000)));
    let codes = survive(text);
    assert!(codes.contains(&Code::NestedTooDeeply) && codes.contains(&Code::UnexpectedToken), "{codes:?}");
}

#[test]
fn long_flat_inputs_parse() {
    const N: usize = 100_000;
    assert_eq!(quick(body(&format!("x{}", " + x".repeat(N)))), []);
    assert_eq!(quick(body(&format!("x{}", " or x and x".repeat(N / 2)))), []);
    assert_eq!(quick(body(&format!("f(x{})", ", x".repeat(N)))), []);
    assert_eq!(quick(format!("slow f():\n{}", "  a()\n".repeat(N))), []);
    let chain = "  else if c:\n    a()\n".repeat(N / 10);
    assert_eq!(quick(format!("slow f():\n  if c:\n    a()\n{chain}")), []);
    assert_eq!(quick(format!("slow f():\n  slow {{ {} }}\n", "a(); ".repeat(N))), []);
}

#[test]
fn ten_megabyte_lines_are_quick() {
    const N: usize = 10 << 20;
    for text in [
        body(&" ".repeat(N)),
        body(&"x ".repeat(N / 2)),
        body(&"<x x ".repeat(N / 5)),
        body(&"a".repeat(N)),
        body(&") ".repeat(N / 2)),
        body(&"\u{e9}".repeat(N / 2)),
        "\u{e9} ".repeat(N / 3),
        format!("~~ {}", "x".repeat(N)),
        format!("\"{}", "\\".repeat(N)),
    ] {
        let start = Instant::now();
        let (_, _) = super::super::parse(&source(text));
        assert!(start.elapsed() < Duration::from_secs(5), "took {:?}", start.elapsed());
    }
}

#[test]
fn every_truncation_is_survived() {
    for sample in SAMPLES {
        for end in 0..sample.len() {
            survive(&sample.as_bytes()[..end]);
        }
    }
}

/// A small deterministic generator (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % below.max(1)
    }
}

#[test]
fn mutated_samples_are_survived() {
    let mut random = Random(0x5eed);
    for round in 0..1500 {
        let mut text = SAMPLES[round % SAMPLES.len()].as_bytes().to_vec();
        for _ in 0..=random.next(4) {
            let (from, to) = (random.next(text.len()), random.next(text.len()));
            match random.next(6) {
                0 => text[from] = random.next(256) as u8,
                1 => drop(text.remove(from)),
                2 => text.insert(from, b"()[]{}<>|:;,.#@=-+*/%~\"\n\r\t _0aA"[random.next(31)]),
                3 => text.swap(from, to),
                4 => drop(text.drain(from.min(to)..from.max(to).min(from.min(to) + 40))),
                _ => {
                    let piece = text[from..(from + random.next(60)).min(text.len())].to_vec();
                    text.splice(to..to, piece);
                }
            }
        }
        survive(text);
    }
}

#[test]
fn random_tokens_are_survived() {
    let mut random = Random(0xfeed);
    let mut words: Vec<&str> = super::super::token::Keyword::ALL.iter().map(|word| word.as_str()).collect();
    words.extend(super::super::token::Sign::ALL.iter().map(|sign| sign.as_str()));
    words.extend([
        "a", "B", "#t", "1", "2.5", "\"s\"", "f32s", "_", "\n", "\n  ", ":\n    ", "slow {", "(*", "*)", "~~",
    ]);
    words.extend(["with", "where", "compact", "x", "x", "(x)", "<x>", " : f32s", "= x\n", "slow f():\n  "]);
    for _ in 0..6000 {
        let length = random.next(60);
        let glue = [" ", "", " "][random.next(3)];
        let text: Vec<&str> = (0..length).map(|_| words[random.next(words.len())]).collect();
        survive(format!("slow f():\n  {}", text.join(glue)));
    }
}

/// Expressions at random, printed tight and spaced: the trees agree and print back.
#[test]
fn random_expressions_read_back() {
    fn expr(random: &mut Random, depth: usize, out: &mut Vec<&'static str>) {
        match random.next(if depth == 0 { 4 } else { 10 }) {
            0 => out.push("x"),
            1 => out.push("1.5"),
            2 => out.extend(["<", "t", ">"]),
            3 => out.extend(["<", "-", "1", ">"]),
            4 => out.push("-"),
            5 => {
                out.extend(["(", "not", "("]);
                expr(random, depth - 1, out);
                out.extend([")", ")"]);
                return;
            }
            6 => {
                out.extend(["(", "if"]);
                for word in ["then", "else", ")"] {
                    expr(random, depth - 1, out);
                    out.push(word);
                }
                return;
            }
            _ => {
                out.push("(");
                expr(random, depth - 1, out);
                out.push(")");
                out.push(["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "!=", "and", "or"][random.next(13)]);
                out.push("(");
                expr(random, depth - 1, out);
                out.push(")");
                return;
            }
        }
        if out.last() == Some(&"-") {
            expr(random, depth - 1, out);
        }
    }
    let mut random = Random(7);
    for _ in 0..1500 {
        let mut words = Vec::new();
        expr(&mut random, 5, &mut words);
        let spaced = accept(&body(&words.join(" ")));
        let tight: String = words
            .iter()
            .map(|word| if word.as_bytes()[0].is_ascii_alphabetic() { format!(" {word} ") } else { word.to_string() })
            .collect();
        assert_eq!(shape(&spaced), shape(&accept(&body(&tight))), "{tight}");
        let printed = surface::print(&spaced);
        assert_eq!(shape(&spaced), shape(&accept(&printed)), "{printed}");
    }
}
