use super::*;
use rake_ir::fused;
use rake_ir::types::Elem;
use rake_ir::value::Lanes;

/// Simplifies a function over `x`, `y: f32s`, `m: mask`, which are %0, %1, %2; gives the lines of its body after those.
fn simplified(body: &str) -> Vec<String> {
    let text = format!(
        "rake fused 1\nprofile x86-sse2\nfuse full\nscratch f(x: f32s, y: f32s, m: mask) -> f32s {{\n\
         %0 : f32s = param 0\n%1 : f32s = param 1\n%2 : mask = param 2\n{body}\n}}\n"
    );
    let program = fused::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(fused::check(&program), Ok(()));
    let after = run(program.clone());
    assert_eq!(fused::check(&after), Ok(()), "{}", fused::print(&after));
    let args = [
        Lanes::f32s(&[4.0, -1.0, 0.25, -0.0]),
        Lanes::f32s(&[2.0, 0.0, 3.0, f32::INFINITY]),
        Lanes::truths(&[true, false, true, false]),
    ];
    let (before, now) = (fused::eval(&program, "f", &args).unwrap(), fused::eval(&after, "f", &args).unwrap());
    assert!(before.same(&now, Elem::F32), "{before:?} {now:?}");
    fused::print(&after).lines().skip(8).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn double_complements_and_negations_go() {
    let body = "%3 : mask = not %2\n%4 : mask = not %3\n%5 : f32s = neg %0\n%6 : f32s = neg %5\n\
                %7 : f32s = select %4, %6, %1\nreturn %7";
    assert_eq!(simplified(body), ["%3 : f32s = select %2, %0, %1", "return %3", "}"]);
    let body = "%3 : f32s = neg %0\n%4 : f32s = abs %3\n%5 : f32s = abs %4\nreturn %5";
    assert_eq!(simplified(body), ["%3 : f32s = abs %0", "return %3", "}"]);
}

#[test]
fn choices_by_one_mask_collapse() {
    let body = "%3 : f32s = select %2, %0, %1\n%4 : f32s = select %2, %3, %0\n%5 : f32s = select %2, %4, %4\nreturn %5";
    // select(m, select(m, x, y), x) is x where m holds and x elsewhere.
    assert_eq!(simplified(body), ["return %0", "}"]);
    let body = "%3 : mask = not %2\n%4 : f32s = select %3, %0, %1\nreturn %4";
    assert_eq!(simplified(body), ["%3 : f32s = select %2, %1, %0", "return %3", "}"]);
    let body = "%3 : mask = const true\n%4 : mask = and %2, %3\n%5 : f32s = select %4, %0, %1\n\
                %6 : f32s = select %3, %5, %0\nreturn %6";
    assert_eq!(simplified(body), ["%3 : f32s = select %2, %0, %1", "return %3", "}"]);
}

#[test]
fn identical_values_are_shared_outside_regions() {
    let body = "%3 : f32s = const 2.0\n%4 : f32s = mul %0, %3\n%5 : f32s = const 2.0\n%6 : f32s = mul %0, %5 ~~ twice\n\
                %7 : f32s = sub %4, %6\nreturn %7";
    let lines = simplified(body);
    assert_eq!(lines[0], "%3 : f32s = const 2.0");
    assert!(lines[1].starts_with("%4 : f32s = mul %0, %3") && lines[1].ends_with("~~ twice"));
    assert_eq!(lines[2..], ["%5 : f32s = sub %4, %4", "return %5", "}"]);
}

#[test]
fn values_of_regions_stay_apart() {
    let region = "region {\n%3 : f32s = const 2.0\n%4 : f32s = mul %0, %3\n%5 : f32s = neg %0\n}\n";
    let again = "region {\n%6 : f32s = const 2.0\n%7 : f32s = mul %0, %6\n%8 : f32s = mul %0, %6\n}\n";
    let body = format!(
        "{region}{again}%9 : f32s = mul %0, %3\n%10 : f32s = add %4, %7\n%11 : f32s = add %10, %8\n\
                        %12 : f32s = add %11, %9\nreturn %12"
    );
    let expected = [
        "region {",
        "%3 : f32s = const 2.0",
        "%4 : f32s = mul %0, %3",
        "}",
        "region {",
        "%5 : f32s = mul %0, %3",
        "}",
        "%6 : f32s = mul %0, %3",
        "%7 : f32s = add %4, %5",
        "%8 : f32s = add %7, %5",
        "%9 : f32s = add %8, %6",
        "return %9",
        "}",
    ];
    assert_eq!(simplified(&body), expected);
}

#[test]
fn proofs_go_and_exact_constants_follow_their_values() {
    let body = "region {\n%3 : f32s = const 0.75\n%4 : f32s = mul %0, %3\n%5 : f32s = const 0.5\nexact %3 = 3/4\n\
                exact %5 = 1/2\nproof {\nsource {\n%6 : f32s = mul %0, %1\n}\nstage s %6\nyield %6 = %4\n\
                cost 1 1 1 -> 1 1 1\nstop trivial\n}\n}\nreturn %4";
    let expected =
        ["region {", "%3 : f32s = const 0.75", "%4 : f32s = mul %0, %3", "exact %3 = 3/4", "}", "return %4", "}"];
    assert_eq!(simplified(body), expected);
}

#[test]
fn a_value_that_raises_nothing_loses_its_mask() {
    let body = "%3 : f32s = neg %0 if %2\n%4 : f32s = neg %0\n%5 : f32s = add %3, %4 if %2\n%6 : f32s = add %4, %4\n\
                %7 : f32s = if %2, %5, %6\nreturn %7";
    // The addition in every lane serves in those of the mask too, but it stands behind the other.
    let expected =
        ["%3 : f32s = neg %0", "%4 : f32s = add %3, %3 if %2", "%5 : f32s = add %3, %3", "%6 : f32s = if %2, %4, %5"];
    assert_eq!(simplified(body)[..4], expected);
    let body = "%3 : f32s = add %0, %1\n%4 : f32s = add %0, %1 if %2\n%5 : f32s = if %2, %4, %3\nreturn %5";
    assert_eq!(simplified(body)[..2], ["%3 : f32s = add %0, %1", "%4 : f32s = if %2, %3, %3"]);
}

#[test]
fn a_value_under_a_mask_does_not_serve_outside_it() {
    let body = "%3 : f32s = sqrt %0 if %2\n%4 : f32s = sqrt %0\n%5 : f32s = sqrt %0 if %2\n%6 : f32s = add %5, %3 if %2\n\
                %7 : f32s = if %2, %6, %4\nreturn %7";
    let expected = [
        "%3 : f32s = sqrt %0 if %2",
        "%4 : f32s = sqrt %0",
        "%5 : f32s = add %3, %3 if %2",
        "%6 : f32s = if %2, %5, %4",
    ];
    assert_eq!(simplified(body)[..4], expected);
}

#[test]
fn choices_by_masks_that_imply_each_other_collapse() {
    // Where m and n hold, m holds; where m does not, neither do m and n.
    let masks = "%3 : mask = lt %0, %1\n%4 : mask = and %2, %3\n%5 : mask = not %3\n%6 : mask = and %2, %5\n";
    let inner = |by: &str, inside: &str, outer: &str| {
        let body = format!(
            "{masks}%7 : f32s = select {by}, %0, %1\n%8 : f32s = neg %0\n%9 : f32s = select {outer}\nreturn %9"
        );
        simplified(&body.replace("INNER", inside)).into_iter().rev().nth(2).unwrap()
    };
    assert!(inner("%2", "%7", "%4, INNER, %8").ends_with("select %4, %0, %5"));
    assert!(inner("%4", "%7", "%2, %8, INNER").ends_with("select %2, %3, %1"));
    assert!(inner("%3", "%7", "%6, INNER, %8").ends_with("select %5, %1, %6"));
    // Where m holds, m and n may hold or not.
    assert!(inner("%4", "%7", "%2, INNER, %8").ends_with("select %2, %5, %6"));
}

#[test]
fn choices_that_make_facts_stay_and_others_under_their_mask_go() {
    let body = "%3 : f32s = const 1.0\n%4 : f32s = select %2, %0, %3 if %2 else 1.0\n%5 : f32s = sqrt %4 if %2 else 1.0\n\
                %6 : f32s = select %2, %5, %1 if %2\n%7 : f32s = select %2, %6, %1\nreturn %7";
    let expected = [
        "%3 : f32s = const 1.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 1.0",
        "%5 : f32s = sqrt %4 if %2 else 1.0",
        "%6 : f32s = select %2, %5, %1",
    ];
    assert_eq!(simplified(body)[..4], expected);
    let body =
        "%3 : f32s = const 1.0\n%4 : f32s = select %2, %0, %3 if %2 else 1.0\n%5 : f32s = select %2, %4, %1\nreturn %5";
    assert_eq!(simplified(body)[..1], ["%3 : f32s = select %2, %0, %1"]);
}

#[test]
fn nested_choices_with_an_arm_in_common_are_one() {
    let body = "%3 : mask = lt %0, %1\n%4 : mask = and %2, %3\n%5 : f32s = sqrt %0 if %4\n\
                %6 : f32s = select %3, %5, %1 if %2\n%7 : f32s = select %2, %6, %1\nreturn %7";
    let expected = [
        "%3 : mask = lt %0, %1",
        "%4 : mask = and %2, %3",
        "%5 : f32s = sqrt %0 if %4",
        "%6 : f32s = select %4, %5, %1",
    ];
    assert_eq!(simplified(body)[..4], expected);
    // The inner choice's second arm, in the lanes where the outer mask does not hold.
    let body = "%3 : mask = lt %0, %1\n%4 : mask = not %2\n%5 : mask = not %3\n%6 : mask = and %4, %5\n\
                %7 : f32s = sqrt %0 if %6\n%8 : f32s = select %3, %1, %7 if %4\n%9 : f32s = select %2, %1, %8\nreturn %9";
    assert_eq!(simplified(body)[5], "%8 : f32s = select %6, %7, %1");
    // Another arm, and a mask that says more.
    let body = "%3 : mask = lt %0, %1\n%4 : mask = and %2, %3\n%5 : f32s = sqrt %0 if %4\n\
                %6 : f32s = select %3, %5, %0 if %2\n%7 : f32s = select %2, %6, %1\nreturn %7";
    assert_eq!(simplified(body)[4], "%7 : f32s = select %2, %6, %1");
}

#[test]
fn known_uniforms_are_constants() {
    let text = "rake fused 1
profile x86-sse2
fuse full

run f(x: address to mut []f32, x_count: <i32>) {
  %0 : address = param 0
  %1 : <i32> = param 1
  %2 : <i64> = const 3
  %3 : <i64> = const -8
  %4 : <i64> = bit_and %2, %3
  %5 : <i64> = to_i64 %1
  %6 : <i64> = add %5, %4
  %7 : <bool> = ge %4, %4
  %8 : <bool> = lt %6, %2
  %9 : <bool> = or %8, %7
  %10 : <bool> = check %9, bounds
  %11 : <bool> = and %8, %7
  %12 : <bool> = check %11, bounds
  %13 : <bool> = le %1, %1
  %14 : <bool> = lt %1, %1
  %15 : <bool> = not %14
  %16 : <bool> = and %13, %15
  %17 : <bool> = check %16, bounds
  %18 : f32s = const 0.0
  %19 : f32s = store f32 %0, %6, %18
}
";
    let program = fused::read(text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(fused::check(&program), Ok(()));
    let after = run(program);
    assert_eq!(fused::check(&after), Ok(()));
    // 3 and -8 is 0; 0 >= 0 holds, so the first check does, and the second is of the comparison alone. An integer is at
    // most and not below itself, so the third check holds.
    let lines: Vec<String> = fused::print(&after).lines().skip(5).map(|line| line.trim().to_owned()).collect();
    let expected = [
        "%0 : address = param 0",
        "%1 : <i32> = param 1",
        "%2 : <i64> = const 3",
        "%3 : <i64> = to_i64 %1",
        "%4 : <bool> = lt %3, %2",
        "%5 : <bool> = check %4, bounds",
        "%6 : f32s = const 0.0",
        "%7 : f32s = store f32 %0, %3, %6",
        "}",
    ];
    assert_eq!(lines, expected);
}
