//! Rakes: hand-written lowerings, and random ones decided by trying all assignments.

use crate::frontend_testing::{SSE2, lowered, parsed};
use crate::{desugar, inline, typecheck, unroll};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::span::Source;
use rake_ir::value::Lanes;
use rake_ir::{desugared, tined};

/// The lines of the last function's body.
fn body(text: &str) -> Vec<String> {
    let program = crate::resolve_tines::run(&lowered(text, SSE2)).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let dump = tined::print(&program);
    assert_eq!(tined::check(&program), Ok(()), "{dump}");
    let last = dump.rfind("\nscratch ").unwrap_or(0);
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = dump[last..].lines().skip(2).map(squeezed);
    lines.filter(|line| !line.is_empty() && line != "}" && !line.contains(" = param ")).collect()
}

/// The diagnostics of a program that typechecks, in whose source they point.
fn refused(text: &str) -> (Source, Vec<Diagnostic>) {
    let (source, file) = parsed(text);
    let (program, errors) = typecheck::run(&file, SSE2, FuseLevel::Full);
    assert!(errors.is_empty(), "{errors:#?}");
    let program = desugar::run(unroll::run(inline::run(program).unwrap()).unwrap()).unwrap();
    (source, crate::resolve_tines::run(&program).expect_err("it is refused"))
}

/// The one diagnostic, as `text under the caret | message | label | notes | help`.
fn fault(text: &str, code: Code) -> String {
    let (source, faults) = refused(text);
    assert_eq!(faults.len(), 1, "{faults:#?}");
    let fault = &faults[0];
    assert_eq!(fault.code, code, "{fault:#?}");
    let at = fault.span().map_or("", |span| source.slice(span));
    let label = fault.labels.first().map_or("", |label| &label.text);
    let help = fault.help.as_deref().unwrap_or("-");
    format!("{at} | {} | {label} | {} | {help}", fault.message, fault.notes.join("; "))
}

/// A rake over floats `x`, `y`, masks `m`, `n` and a uniform `on` with this body.
fn rake(body: &str) -> String {
    format!("rake f(x: f32s, y: f32s, m: mask, n: mask, <on: bool>) -> f32s:\n{body}")
}

#[test]
fn a_safe_root_is_a_comparison_a_masked_root_and_a_choice() {
    let text = "\
rake safe(x: f32s) -> f32s:
  tine #ok means x >= <0.0>
  through #ok into r:
    sqrt(x)
  sweep:
    | #ok => r
    | _ => <0.0>
";
    let expected = [
        "%1 : f32s = const 0.0",
        "%2 : mask = ge %0, %1 ~~ #ok",
        "%3 : f32s = sqrt %0 if %2 ~~ r",
        "%4 : f32s = const 0.0",
        "%5 : f32s = if %2, %3, %4 ~~ arm 1: #ok",
        "return %5",
    ];
    assert_eq!(body(text), expected);
}

#[test]
fn a_clamp_is_two_comparisons_and_two_choices() {
    let text = "\
rake clamp(x: f32s, <low: f32>, <high: f32>) -> f32s:
  sweep:
    | x < <low> => <low>
    | x > <high> => <high>
    | _ => x
";
    let body = body(text);
    let count = |op: &str| body.iter().filter(|line| line.contains(&format!(" = {op} "))).count();
    assert_eq!((count("lt"), count("gt"), count("if")), (1, 1, 2), "{body:#?}");
    assert_eq!(count("and") + count("or") + count("not"), 0, "{body:#?}");
    assert!(body.iter().any(|line| line.ends_with("~~ arm 1: x < <low>")), "{body:#?}");
    let masked = |line: &String| line.rsplit_once(" if %").is_some_and(|(before, _)| !before.ends_with('='));
    assert!(!body.iter().any(masked), "every lane of each choice has a value: {body:#?}");
}

#[test]
fn overlapping_arms_take_lanes_in_order() {
    let text = "\
rake f(x: f32s, y: f32s) -> f32s:
  tine #a means x > <0.0>
  tine #b means y > <0.0>
  sweep:
    | #a => sqrt(x)
    | #b => sqrt(y)
    | _ => x / y
";
    let expected = [
        "%2 : f32s = const 0.0",
        "%3 : mask = gt %0, %2 ~~ #a",
        "%4 : f32s = const 0.0",
        "%5 : mask = gt %1, %4 ~~ #b",
        "%6 : f32s = sqrt %0 if %3",
        "%7 : mask = not %3 ~~ left after arm 1",
        "%8 : mask = and %7, %5 ~~ arm 2",
        "%9 : f32s = sqrt %1 if %8",
        "%10 : mask = or %3, %5 ~~ arms 1 to 2",
        "%11 : mask = not %10 ~~ left after arm 2",
        "%12 : f32s = div %0, %1 if %11",
        "%13 : f32s = if %5, %9, %12 if %7 ~~ arm 2: #b",
        "%14 : f32s = if %3, %6, %13 ~~ arm 1: #a",
        "return %14",
    ];
    assert_eq!(body(text), expected);
}

#[test]
fn masks_that_say_the_same_are_made_once() {
    // The second arm's lanes are those of its predicate, which excludes the first; so are the block's.
    let text = "\
rake f(x: f32s) -> f32s:
  tine #a means x > <0.0>
  tine #b means #a gaps
  through <0.0> < x into r:
    sqrt(x)
  through not (x > <0.0>) into s:
    <1.0> / x
  sweep:
    | #a => r
    | #b => s - x
";
    let expected = [
        "%1 : f32s = const 0.0",
        "%2 : mask = gt %0, %1 ~~ #a",
        "%3 : mask = not %2 ~~ #b",
        "%4 : f32s = const 0.0",
        "%5 : mask = lt %4, %0",
        "%6 : f32s = sqrt %0 if %5 ~~ r",
        "%7 : f32s = const 0.0",
        "%8 : mask = gt %0, %7",
        "%9 : mask = not %8",
        "%10 : f32s = const 1.0",
        "%11 : f32s = div %10, %0 if %9 ~~ s",
        "%12 : f32s = sub %11, %0 if %9",
        "%13 : f32s = if %5, %6, %12 ~~ arm 1: #a",
        "return %13",
    ];
    assert_eq!(body(text), expected);
}

#[test]
fn a_block_with_another_value_is_complete() {
    let text = rake(
        "  through m else <1.0> into r:\n    sqrt(x)\n  let s = shuffle(r, [1, 0, 3, 2])\n  sweep:\n    | s > r => s\n    | _ => r\n",
    );
    let lines = body(&text);
    assert!(lines.contains(&"%7 : f32s = if %2, %6, %5 ~~ r".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"%8 : f32s = shuffle %7, [1, 0, 3, 2] ~~ s".to_owned()), "{lines:#?}");
}

#[test]
fn coverage_is_propositional() {
    let covered = |arms: &str| {
        let text = rake(&format!("  sweep:\n{arms}"));
        crate::resolve_tines::run(&lowered(&text, SSE2)).map(|_| ()).map_err(|faults| faults[0].code)
    };
    let arms = |first: &str, second: &str| covered(&format!("    | {first} => x\n    | {second} => y\n"));
    let ints = |first: &str, second: &str| {
        let text = format!("rake f(x: i32s, y: i32s) -> i32s:\n  sweep:\n    | {first} => x\n    | {second} => y\n");
        crate::resolve_tines::run(&lowered(&text, SSE2)).map(|_| ()).map_err(|faults| faults[0].code)
    };
    assert_eq!(arms("m", "m gaps"), Ok(()));
    assert_eq!(arms("m and n", "not m or not n"), Ok(()));
    assert_eq!(arms("x < y", "not (y > x)"), Ok(()));
    assert_eq!(arms("x + <1.0> < y", "not (x + <1.0> < y)"), Ok(()), "one expression written twice");
    assert_eq!(arms("x < y", "x >= y"), Err(Code::NotCovered), "a NaN is in neither");
    assert_eq!(arms("x = y", "x != y"), Err(Code::NotCovered), "nor here");
    assert_eq!(arms("m", "n"), Err(Code::NotCovered));
    assert_eq!(arms("m", "m and n"), Err(Code::UnreachableArm));
    assert_eq!(arms("m and not m", "m or not m"), Err(Code::UnreachableArm));
    assert_eq!(arms("if m then n else x < y", "if m then not n else not (y > x)"), Ok(()));
    assert_eq!(arms("<on>", "not <on>"), Ok(()));
    for (first, second) in [("x < y", "x >= y"), ("x > y", "y >= x"), ("x = y", "y != x"), ("x <= y", "x > y")] {
        assert_eq!(ints(first, second), Ok(()), "{first}, {second}");
    }
    assert_eq!(ints("x < y", "x > y"), Err(Code::NotCovered));
    assert_eq!(ints("x < y", "y < x or x = y"), Err(Code::NotCovered), "three comparisons are three atoms");
}

#[test]
fn a_gap_shows_a_witness() {
    let text =
        rake("  tine #a means x < y\n  tine #b means m and n\n  sweep:\n    | #a and #b => x\n    | #b gaps => y\n");
    let fault_text = fault(&text, Code::NotCovered);
    assert!(fault_text.contains("| no arm applies where #a is false and #b is true |"), "{fault_text}");
    assert!(fault_text.ends_with("| end the sweep with an arm for all other lanes, `| _ => ...`"), "{fault_text}");
    let text = rake("  sweep:\n    | x < <1.0> => x\n    | x >= <1.0> => y\n");
    let fault_text = fault(&text, Code::NotCovered);
    assert!(
        fault_text.contains("no arm applies where `x < <1.0>` is false and `x >= <1.0>` is false |"),
        "{fault_text}"
    );
    assert!(fault_text.contains("NaN"), "{fault_text}");
    let text = rake("  sweep:\n    | false => x\n    | m and <on> => y\n");
    let (_, faults) = refused(&text);
    assert_eq!(faults[0].code, Code::UnreachableArm);
    assert_eq!(faults[0].labels[0].text, "its predicate never holds");
}

#[test]
fn an_unreachable_arm_names_the_arms_that_cover_it() {
    let text = rake(
        "  sweep:\n    | n => y\n    | m => x\n    | m gaps and x < y => y\n    | x < y and m gaps => x\n    | _ => y\n",
    );
    let fault_text = fault(&text, Code::UnreachableArm);
    assert!(fault_text.starts_with("| x < y and m gaps => x | no lane reaches this arm |"), "{fault_text}");
    assert!(fault_text.contains("arm 3 takes every lane where"), "{fault_text}");
    let text = rake(
        "  sweep:\n    | n => y\n    | m and x < y => x\n    | m and not (x < y) => y\n    | m => x\n    | _ => y\n",
    );
    let fault_text = fault(&text, Code::UnreachableArm);
    assert!(fault_text.contains("arms 2 and 3 take every lane where `m` is true"), "{fault_text}");
    let text = rake("  sweep:\n    | m => y\n    | m gaps => x\n    | _ => y\n");
    assert!(fault(&text, Code::UnreachableArm).contains("arms 1 and 2 take every lane"));
}

#[test]
fn an_inlined_arm_may_be_left_without_lanes() {
    let pick = "rake pick(x: f32s, m: mask) -> f32s:\n  sweep:\n    | m => x\n    | _ => <0.0>\n";
    let caller = |branch: &str| format!("{pick}scratch g(x: f32s, m: mask, n: mask) -> f32s:\n  {branch}\n");
    let expected =
        ["%3 : f32s = const 0.0", "%4 : f32s = if %1, %0, %3 ~~ arm 1: m", "%5 : f32s = if %2, %4, %0", "return %5"];
    assert_eq!(body(&caller("if n then pick(x, m) else x")), expected);
    // Under `m` the second arm has no lane, which the caller cannot mend.
    let accepted = |text: &str| crate::resolve_tines::run(&lowered(text, SSE2)).is_ok();
    assert!(accepted(&caller("if m then pick(x, m) else x")));
    // Under `m or n` the arms `m` and `n` leave nothing, and under neither they have nothing.
    let either = |branch: &str| {
        format!(
            "rake either(x: f32s, m: mask, n: mask) -> f32s:\n  sweep:\n    | m => sqrt(x)\n    | n => <0.0>\n    | _ => <1.0>\n\
             scratch g(x: f32s, m: mask, n: mask) -> f32s:\n  if m or n then {branch}\n"
        )
    };
    assert!(accepted(&either("either(x, m, n) else x")));
    assert!(accepted(&either("x else either(x, m, n)")));
    // The rake itself is still held to it.
    let text = "rake twice(x: f32s, m: mask) -> f32s:\n  sweep:\n    | m => x\n    | m => -x\n    | _ => <0.0>\n";
    assert!(fault(text, Code::UnreachableArm).contains("arm 1 takes every lane"));
}

#[test]
fn partial_values_are_read_where_they_have_a_value() {
    let read = |rest: &str| {
        let text = rake(&format!("  tine #a means m\n  through #a into r:\n    sqrt(x)\n{rest}"));
        crate::resolve_tines::run(&lowered(&text, SSE2)).map(|_| ()).map_err(|faults| faults[0].code)
    };
    let arms = |arms: &str| read(&format!("  sweep:\n{arms}"));
    assert_eq!(arms("    | #a => r\n    | _ => x\n"), Ok(()));
    assert_eq!(arms("    | #a and n => r + x\n    | _ => x\n"), Ok(()));
    assert_eq!(arms("    | #a gaps => x\n    | _ => r\n"), Ok(()), "an earlier arm took the other lanes");
    assert_eq!(arms("    | n and #a gaps => x\n    | n => r\n    | #a => r\n    | _ => x\n"), Ok(()));
    assert_eq!(arms("    | n => r\n    | _ => x\n"), Err(Code::UndefinedLanes));
    assert_eq!(arms("    | #a => x\n    | _ => r\n"), Err(Code::UndefinedLanes));
    assert_eq!(arms("    | n => if #a then r else x\n    | _ => x\n"), Ok(()), "a branch refines the mask");
    assert_eq!(arms("    | n => select(#a, r, x)\n    | _ => x\n"), Err(Code::UndefinedLanes), "`select` does not");
    let sweep = "  sweep:\n    | #a => s\n    | _ => x\n";
    assert_eq!(read(&format!("  let s = r\n{sweep}")), Ok(()), "an alias is partial");
    assert_eq!(read(&format!("  let s = r * x\n{sweep}")), Err(Code::UndefinedLanes));
    assert_eq!(read(&format!("  let s = if #a and n then r else x\n{sweep}")), Ok(()));
    assert_eq!(read(&format!("  through #a and n into t:\n    r * x\n  let s = x\n{sweep}")), Ok(()));
    assert_eq!(read(&format!("  through n into t:\n    r * x\n  let s = x\n{sweep}")), Err(Code::UndefinedLanes));
    assert_eq!(read(&format!("  let s = rotate_left(r, 1)\n{sweep}")), Err(Code::PartialLanes));
    assert_eq!(
        read(&format!("  let <k: bool> = any(r > x)\n  let s = if <k> then x else y\n{sweep}")),
        Err(Code::UndefinedLanes)
    );
    assert_eq!(read(&format!("  through #a into s:\n    rotate_left(x * y, 1)\n{sweep}")), Err(Code::PartialLanes));
    assert_eq!(read(&format!("  through #a into s:\n    rotate_left(x, 1)\n{sweep}")), Ok(()));
    assert_eq!(read(&format!("  tine #c means r > x\n  let s = x\n{sweep}")), Err(Code::PartialPredicate));
    assert_eq!(arms("    | #a and r > x => x\n    | _ => x\n"), Err(Code::PartialPredicate));
}

#[test]
fn an_undefined_read_shows_a_witness() {
    let text = rake(
        "  tine #a means m\n  tine #b means n\n  through #a into r:\n    sqrt(x)\n  sweep:\n    | #b => r + x\n    | _ => x\n",
    );
    let fault_text = fault(&text, Code::UndefinedLanes);
    let expected = "r | `r` is read in lanes where it has no value | read where #b is true and #a is false | ";
    assert!(fault_text.starts_with(expected), "{fault_text}");
    assert!(fault_text.contains("`through #a else <...> into r:`"), "{fault_text}");
}

#[test]
fn too_many_comparisons_meet_the_limit() {
    // First atoms of all pairs come before the second ones, so that the diagram remembers each of 20 first atoms.
    let mut text = String::from("rake f(x: i32s) -> i32s:\n  tine #first means false");
    (0..20).for_each(|k| text.push_str(&format!(" or x = <{k}>")));
    text.push_str("\n  tine #pairs means false");
    (0..20).for_each(|k| text.push_str(&format!(" or x = <{k}> and x = <{}>", 100 + k)));
    text.push_str("\n  sweep:\n    | #first and false or #pairs => x\n    | _ => -x\n");
    let in_order = text.replace("#first and false or #pairs", "#pairs");
    assert!(crate::resolve_tines::run(&lowered(&in_order, SSE2)).is_ok());
    let hostile = text.replace("#first and false or #pairs", "#first gaps and #pairs or not #pairs");
    let (_, faults) = refused(&hostile);
    assert_eq!((faults.len(), faults[0].code), (1, Code::LimitExceeded), "{faults:#?}");
    assert!(faults[0].message.contains("500000 steps"), "{}", faults[0].message);
}

/// Bits of every kind of lane.
const LANES: [u32; 8] = [0, 0x8000_0000, 0x3f80_0000, 0xbf80_0000, 0x4110_0000, 0x7fc0_0000, 0xff80_0000, 1];

#[test]
fn what_is_lowered_computes_what_was_written() {
    let bodies = [
        "  tine #a means x >= <0.0>\n  tine #b means y > x or m\n  through #a into r:\n    sqrt(x)\n  through #b else <2.0> into s:\n    let t = x / y\n    t * t\n  sweep:\n    | #a and #b => r * s\n    | #b => s - x\n    | n => -y\n    | #a => r\n    | _ => s\n",
        "  through m into r:\n    | a <| x * y\n    | b <| a + x\n    b * a\n  sweep:\n    | n and m => r / x\n    | m gaps => if n then x / y else sqrt(y)\n    | x < y => r\n    | _ => if <on> then r + x else r\n",
        "  sweep:\n    | <on> and m => x / y\n    | <on> => if n then x else y / x\n    | n => sqrt(x)\n    | m gaps => sqrt(y)\n    | _ => x - y\n",
    ];
    for body in bodies {
        let nested = format!(
            "{}scratch g(x: f32s, y: f32s, m: mask, n: mask, <on: bool>) -> f32s:\n  if x < y then f(y, x, n, m, <on>) else f(x + y, x, m and n, x = y, <on>)\n",
            rake(body)
        );
        let source = lowered(&nested, SSE2);
        let program = crate::resolve_tines::run(&source).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert_eq!(tined::check(&program), Ok(()), "{}", tined::print(&program));
        let lanes = |at: usize| Lanes::new((0..4).map(|k| u64::from(LANES[(at + k * 3) % 8])));
        for (x, y, masks) in (0..8 * 8 * 32).step_by(3).map(|k| (k % 8, k / 8 % 8, k / 64)) {
            let truth = |bit: usize| Lanes::truths(&[0, 1, 0, 1].map(|odd| masks >> (bit + odd) & 1 == 1));
            let args = [lanes(x), lanes(y), truth(0), truth(2), Lanes::truths(&[masks & 16 != 0])];
            for name in ["f", "g"] {
                let expected = desugared::eval(&source, name, &args);
                assert!(expected.is_ok());
                assert_eq!(tined::eval(&program, name, &args), expected, "{}", tined::print(&program));
            }
        }
    }
}
