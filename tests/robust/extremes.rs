//! Inputs of extreme size or depth, cut inputs, and bytes that are no text.

use crate::support::{everything, files, profiles};
use crate::watch::{shown, survive};
use rake_ir::lane::FuseLevel;
use rakec::Outputs;

const MANY: usize = 100_000;

fn body(lines: &str) -> String {
    format!("scratch f(x: f32s, i: i32s, m: mask, <k: f32>) -> f32s:\n{lines}\n")
}

fn run(what: &str, text: impl AsRef<[u8]>) -> Outputs {
    run_on(what, text, rake_ir::profile::Profile::X86Avx2)
}

fn run_on(what: &str, text: impl AsRef<[u8]>, profile: rake_ir::profile::Profile) -> Outputs {
    let bytes = text.as_ref();
    match survive(bytes, everything(profile, FuseLevel::Full)) {
        Ok(outputs) => outputs,
        Err(problem) => panic!("{what}: {problem}\n{}", shown(&bytes[..bytes.len().min(300)])),
    }
}

fn rejected(what: &str, text: impl AsRef<[u8]>) -> Outputs {
    let outputs = run(what, text);
    assert!(!outputs.succeeded(), "{what} is accepted");
    let told = outputs.diagnostics.len();
    assert!(told < 200, "{what} is told of {told} times");
    outputs
}

#[test]
fn depth_is_refused_with_a_place() {
    let deep = |open: &str, close: &str| format!("  {}x{}", open.repeat(MANY), close.repeat(MANY));
    for (what, open, close) in [
        ("parentheses", "(", ")"),
        ("negations", "-", ""),
        ("spaced negations", "- ", ""),
        ("complements", "not ", ""),
        ("calls", "abs(", ")"),
        ("conditionals", "if m then x else ", ""),
        ("conditions", "if if ", ""),
        ("brackets", "x[", "]"),
        ("braces", "slow { ", " }"),
        ("marks", "<", ">"),
        ("choices", "select(m, x, ", ")"),
        ("comments", "(*", "*)"),
    ] {
        for text in [body(&deep(open, close)), body(&format!("  | r <| {}\n  r", deep(open, close).trim()))] {
            let outputs = rejected(what, text);
            assert!(outputs.diagnostics[0].span().is_some(), "{what}: no place");
        }
        rejected(what, open.repeat(MANY));
        if !close.is_empty() {
            rejected(what, close.repeat(MANY));
        }
    }
    let nested: String = (1..3000).map(|depth| format!("{}if m:\n", " ".repeat(depth))).collect();
    rejected("nested bodies", body(&nested));
    rejected("types", format!("scratch f(x: {}f32s) -> f32s:\n  x\n", "[]".repeat(MANY)));
}

#[test]
fn flat_chains_of_any_length_end() {
    let chain = |sign: &str, term: &str| format!("{term}{}", format!(" {sign} {term}").repeat(MANY));
    for (what, chain) in [
        ("sum", chain("+", "x")),
        ("difference", chain("-", "x")),
        ("product", chain("*", "x")),
        ("literals", chain("+", "1.0")),
        ("literals beside a rack", format!("x + {}", chain("+", "1.0"))),
        ("uniforms", chain("+", "<k>")),
    ] {
        run(what, body(&format!("  {chain}")));
        run(&format!("{what} in a region"), body(&format!("  | r <| {chain}\n  r")));
    }
    run("conjunction", body(&format!("  select({}, x, x)", chain("and", "m"))));
    run("comparison chain", body(&format!("  select({}, x, x)", chain("<", "x"))));
    run("else chain", body(&format!("  {}x", "if m then x else ".repeat(200))));
    let stages: String = (0..2000)
        .map(|i| format!("  | s{i} <| {} * x + 1.0\n", if i == 0 { "x".into() } else { format!("s{}", i - 1) }))
        .collect();
    run("stages", body(&format!("{stages}  s1999")));
    let lets: String = (0..20_000)
        .map(|i| format!("  let v{i} = {} + x\n", if i == 0 { "x".into() } else { format!("v{}", i - 1) }))
        .collect();
    run("lets", body(&format!("{lets}  v19999")));
}

#[test]
fn long_lines_and_long_tokens_end() {
    let ten_megabytes = 10_000_000;
    run("a line of spaces", body(&format!("  x{}", " ".repeat(ten_megabytes))));
    run("a comment", body(&format!("  x ~~ {}", "c".repeat(ten_megabytes))));
    run("a line of terms", body(&format!("  x{}", " + x".repeat(ten_megabytes / 4))));
    run("a line of names", "x ".repeat(ten_megabytes / 2));
    run("a line of operators", body(&format!("  {}", "+".repeat(ten_megabytes))));
    rejected("a name", body(&format!("  {}", "n".repeat(ten_megabytes))));
    rejected("a number", body(&format!("  {}", "9".repeat(1_000_000))));
    run("a fraction", body(&format!("  x + 0.{}", "3".repeat(1_000_000))));
    rejected("an exponent", body(&format!("  x + 1e{}", "9".repeat(1_000_000))));
    run("a string", format!("embed e from \"{}\"\n", "s".repeat(ten_megabytes)));
    run("many lines", "\n".repeat(ten_megabytes));
    run("many comments", "~~\n".repeat(1_000_000));
    run("many definitions", (0..2000).map(|i| format!("scratch f_{i}(x: f32s) -> f32s:\n  x\n")).collect::<String>());
    run("many equal definitions", "scratch f(x: f32s) -> f32s:\n  x\n".repeat(20_000));
    run("many broken definitions", "scratch f(x: f32s -> :\n  x +\n".repeat(20_000));
}

#[test]
fn calls_and_repeats_do_not_explode() {
    let double: String =
        (1..32).map(|i| format!("scratch f_{i}(x: f32s) -> f32s:\n  f_{}(f_{}(x))\n", i - 1, i - 1)).collect();
    run("doubling calls", format!("scratch f_0(x: f32s) -> f32s:\n  x + x\n{double}"));
    let chain: String = (1..1000).map(|i| format!("scratch f_{i}(x: f32s) -> f32s:\n  f_{}(x)\n", i - 1)).collect();
    rejected("a long chain of calls", format!("scratch f_0(x: f32s) -> f32s:\n  x\n{chain}"));
    rejected("recursion", "scratch f(x: f32s) -> f32s:\n  f(x)\n");
    let repeat =
        |trips: &str| body(&format!("  w := x\n  repeat <i: i32> from <0> up to <{trips}>:\n    w <- w * x\n  w"));
    run("many trips", repeat("4000"));
    rejected("too many trips", repeat("2000000000"));
    let mut nested = "  w := x\n".to_owned();
    for depth in 0..20 {
        nested.push_str(&format!("{}repeat <i{depth}: i32> from <0> up to <1000>:\n", "  ".repeat(depth + 1)));
    }
    rejected("nested repeats", body(&format!("{nested}{}w <- w * x\n  w", "  ".repeat(21))));
}

#[test]
fn every_truncation_of_every_file_ends() {
    let profiles = profiles();
    for (path, text) in files() {
        // The whole pipeline for each prefix of each file would be most of the test's time.
        let step = (text.len() / 120).max(1);
        for end in (0..text.len()).step_by(step) {
            let profile = profiles[end % profiles.len()];
            run_on(&format!("{} up to {end}", path.display()), &text.as_bytes()[..end], profile);
        }
    }
    let (path, text) = files().into_iter().next().expect("there are examples");
    for end in 0..=text.len() {
        run(&format!("{} up to {end}", path.display()), &text.as_bytes()[..end]);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for (what, bytes) in [
        ("invalid UTF-8", &b"scratch f(x: f32s) -> f32s:\n  \xff\xfe\n"[..]),
        ("invalid UTF-8 in a comment", b"~~ \xc3\x28\nscratch f(x: f32s) -> f32s:\n  x\n"),
        ("a cut sequence at the end", b"scratch f(x: f32s) -> f32s:\n  x ~~ \xe2\x82"),
        ("NUL", b"scratch f(x: f32s) -> f32s:\n  x\0\n"),
        ("only NULs", &[0; 1000]),
        ("a surrogate", b"~~ \xed\xa0\x80\n"),
        ("an open string", b"embed e from \"x\n"),
        ("an open comment", b"(* (* *)\nscratch f(x: f32s) -> f32s:\n  x\n"),
        ("a tab", b"scratch f(x: f32s) -> f32s:\n\tx\n"),
    ] {
        rejected(what, bytes);
    }
    let all: Vec<u8> = (0..=255).collect();
    rejected("every byte", all);
    run("nothing", b"");
    run("a BOM", "\u{feff}");
}

/// The same program in every spelling of a line's end gives the same object.
#[test]
fn line_ends_do_not_matter() {
    let text = body("  | s <| x * <k> + 1.0\n\n  ~~ a note\n  select(m, s, x)");
    let object = |text: &str| run("line ends", text).object.expect("it compiles");
    let plain = object(&text);
    assert_eq!(object(&text.replace('\n', "\r\n")), plain);
    assert_eq!(object(&format!("\u{feff}{text}")), plain);
    assert_eq!(object(text.trim_end()), plain);
    assert_eq!(object(&format!("{}~~ note", text)), plain);
}
