//! What the tests of the passes up to `desugar` share.

use crate::{desugar, inline, parse, resolve, resolve_tines, typecheck, unroll};
use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::span::{FileId, Source};
use rake_ir::surface::File;
use rake_ir::value::Lanes;
use rake_ir::{desugared, tined, typed};

/// The profile of most tests: four lanes of 32 bits.
pub const SSE2: Profile = Profile::X86Sse2;

/// The source and its tree; fails the test when it does not parse.
pub fn parsed(text: &str) -> (Source, File) {
    let source = Source::new(FileId(0), "test.rk", text);
    let (file, errors) = parse::parse(&source);
    assert!(errors.is_empty(), "{errors:#?}");
    (source, file)
}

/// Each diagnostic as `code | text under the caret | message | help`.
pub fn lines(source: &Source, diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let at = d.span().map_or("", |span| source.slice(span));
        format!("{:?} | {at} | {} | {}", d.code, d.message, d.help.as_deref().unwrap_or("-"))
    };
    diagnostics.iter().map(line).collect()
}

/// What `resolve` reports.
pub fn resolve_errors(text: &str) -> Vec<String> {
    let (source, file) = parsed(text);
    lines(&source, &resolve::run(&file))
}

/// What `typecheck` reports.
pub fn type_errors(text: &str, profile: Profile) -> Vec<String> {
    let (source, file) = parsed(text);
    lines(&source, &typecheck::run(&file, profile, FuseLevel::Full).1)
}

/// The checked program; fails the test on any error or violated invariant.
pub fn checked(text: &str, profile: Profile) -> typed::Program {
    let (source, file) = parsed(text);
    let mut errors = resolve::run(&file);
    let (program, more) = typecheck::run(&file, profile, FuseLevel::Full);
    errors.extend(more);
    assert!(errors.is_empty(), "{:#?}", lines(&source, &errors));
    assert_eq!(typed::check(&program), Ok(()));
    program
}

/// The program through `inline` and `unroll`.
pub fn unrolled(text: &str, profile: Profile) -> typed::Program {
    let program = unroll::run(inline::run(checked(text, profile)).expect("inline")).expect("unroll");
    assert_eq!(typed::check(&program), Ok(()));
    program
}

/// The desugared program.
pub fn lowered(text: &str, profile: Profile) -> desugared::Program {
    let program = desugar::run(unrolled(text, profile)).expect("desugar");
    assert_eq!(desugared::check(&program), Ok(()));
    program
}

/// The result of a function, which every stage from `typecheck` to `desugar` must agree on.
pub fn evaluated(text: &str, name: &str, args: &[Lanes], profile: Profile) -> Lanes {
    let program = checked(text, profile);
    let expected = typed::eval(&program, name, args).expect("typed");
    let program = inline::run(program).expect("inline");
    assert_eq!(typed::eval(&program, name, args).as_ref(), Ok(&expected), "inline");
    let program = unroll::run(program).expect("unroll");
    assert_eq!(typed::eval(&program, name, args).as_ref(), Ok(&expected), "unroll");
    let program = desugar::run(program).expect("desugar");
    assert_eq!(desugared::check(&program), Ok(()));
    assert_eq!(desugared::eval(&program, name, args).as_ref(), Ok(&expected), "desugar");
    expected
}

/// Every pass on a damaged program: errors are fine, panics and violated invariants are not.
fn survives(text: &str) {
    let source = Source::new(FileId(0), "test.rk", text);
    let (file, errors) = parse::parse(&source);
    let resolved = resolve::run(&file);
    for profile in [SSE2, Profile::X86Avx512] {
        let (program, more) = typecheck::run(&file, profile, FuseLevel::Full);
        if errors.iter().chain(&resolved).chain(&more).any(Diagnostic::is_error) {
            continue;
        }
        assert_eq!(typed::check(&program), Ok(()), "{text}");
        let unrolled = inline::run(program).and_then(unroll::run);
        if let Ok(program) = unrolled.and_then(desugar::run) {
            assert_eq!(desugared::check(&program), Ok(()), "{text}");
            if let Ok(program) = resolve_tines::run(&program) {
                assert_eq!(tined::check(&program), Ok(()), "{text}");
            }
        }
    }
}

const SAMPLE: &str = "\
const half: f32 = 0.5
const n: i32 = 3
scratch g(x: f32s, <k: f32>, m: mask) -> f32s:
  | a: f32s <| x * <k> + half
  | b <| if m then sqrt(a) else -a
  | c <| <k> * 2.0
  b + <c>
scratch f(x: f32s, i: i32s, <k: f32>, <b: bool>, <u: u32>) -> f32s:
  acc: [n]f32s := <0.0>
  let m = x < <k> and not (i >= @) or <b>
  repeat <j: i32> from <0> up to <3>:
    let t = select(m, x, <-1.5>)
    acc[<j>] <- acc[<j>] + g(t, <k>, m)
  let w = shift_bits_left(bit_and(i, 0xff), 3) + lanes - shift_bits_right(i, <u>)
  let <s: f32> = <k> * <k>
  if w = 1 then acc[<0>] * <s> else max(acc[<2>], bitcast(f32s, w))
";

const RUNS: &str = "\
pack P { f32: x, y; u8: k; }
tine #near(x: f32s, <k: f32>) means x < <k>
run f(s: stack P, t: stack P, <k: f32>, table: []f32) -> stack P:
  let q = to_f32(widen(s.k))
  | a <| s.x * <k> + q
  acc: [2]f32s := a
  repeat <i: i32> from <0> up to <2>:
    acc[<i>] <- acc[<i>] + t.y
  compact s with { x: acc[<1>] + table[widen(s.k)], k: widen(t.k) } where #near(s.y, <k>) or s.x > <0.0>
run g(x: []f32, out: mut []f32, <n: i32>):
  r := <0.0>
  for <i: i32> from <0> up to <n> by <4>:
    r <- r + x[<i> + <1> up to <n>]
    if <i> > <8>:
      out[<i>] <- r * <x[i-1]>
    else if <n> < <3>:
      r <- x[@]
    else:
      repeat <j: i32> from <0> up to <3>:
        out[unchecked <i> * <2> + <j>] <- x[<j>]
  let <total: f32> = sum(r)
  out[<0> up to <1>] <- <total>
";

#[test]
fn the_samples_are_sound() {
    lowered(SAMPLE, SSE2);
    let program = lowered(RUNS, SSE2);
    assert_eq!(tined::check(&resolve_tines::run(&program).expect("resolve-tines")), Ok(()));
}

#[test]
fn damaged_programs_never_panic() {
    let tokens: Vec<&str> = vec![
        "<",
        ">",
        "(",
        ")",
        "x",
        "<k>",
        "1",
        "-",
        "1.0",
        "@",
        "lanes",
        "i",
        "m",
        "if ",
        " then ",
        " else ",
        "[",
        "]",
        "acc",
        "+",
        "4294967295",
        "f32s",
        "mask",
        "u32",
        "sum(",
        "shuffle(",
        ",",
        "\n  ",
        ":",
        "<-",
        ":=",
        "| z <| ",
        "g(",
        "not ",
        "true",
        "s",
        "s.x",
        "out[",
        "<i>",
        " up to ",
        "widen(",
        "[]f32",
        "stack P",
        "for <z: i32> from <0> up to <n>:",
        " where ",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..6000 {
        let mut text = if round % 3 == 0 { SAMPLE } else { RUNS }.to_owned();
        for _ in 0..=random(3) {
            let start = random(text.len());
            let end = (start + random(6)).min(text.len());
            text.replace_range(start..end, tokens[random(tokens.len())]);
        }
        survives(&text);
    }
}
