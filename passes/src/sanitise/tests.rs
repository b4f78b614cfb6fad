use super::*;
use rake_ir::fused;
use rake_ir::value::Lanes;

/// Sanitises a function over `x`, `y: f32s`, `m: mask`, which are %0, %1, %2; gives the lines of its body after those.
fn sanitised(profile: &str, body: &str) -> Vec<String> {
    let text = format!(
        "rake fused 1\nprofile {profile}\nfuse full\nscratch f(x: f32s, y: f32s, m: mask) -> f32s {{\n\
         %0 : f32s = param 0\n%1 : f32s = param 1\n%2 : mask = param 2\n{body}\n}}\n"
    );
    let program = fused::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(fused::check(&program), Ok(()));
    let after = run(program.clone());
    assert_eq!(fused::check_sanitised(&after), Ok(()), "{}", fused::print(&after));
    let lanes = |values: &[f32]| Lanes::f32s(&values.repeat(program.profile.lanes(Elem::F32) / 4));
    let mask = Lanes::truths(&[true, false, true, false].repeat(program.profile.lanes(Elem::F32) / 4));
    let args = [lanes(&[4.0, -1.0, 0.25, f32::NAN]), lanes(&[2.0, 0.0, 3.0, f32::INFINITY]), mask];
    assert_eq!(fused::eval(&after, "f", &args), fused::eval(&program, "f", &args));
    assert_eq!(fused::read(&fused::print(&after)).map(|again| fused::print(&again)), Ok(fused::print(&after)));
    let (before, now) = (&program.functions[0], &after.functions[0]);
    for id in before.order() {
        assert_eq!(before.values[id].mask, now.values[id].mask, "no mask is lost or changed");
    }
    fused::print(&after).lines().skip(8).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn leaves_get_benign_operands() {
    let body = "%3 : f32s = mul %0, %1 if %2\n%4 : f32s = add %3, %0 if %2\n%5 : f32s = if %2, %4, %0\nreturn %5";
    let expected = [
        "%3 : f32s = const 1.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 1.0",
        "%5 : f32s = select %2, %1, %3 if %2 else 1.0",
        "%6 : f32s = mul %4, %5 if %2 else 1.0",
        "%7 : f32s = add %6, %4 if %2 else 2.0",
        "%8 : f32s = select %2, %7, %0",
        "return %8",
        "}",
    ];
    assert_eq!(sanitised("x86-sse2", body), expected);
}

#[test]
fn choices_are_shared_and_safe_operands_need_none() {
    // The second square root reads the same choice; the first one's result is 1 in inactive lanes, so the product of
    // both needs nothing, and neither do the negation and the comparison.
    let body = "%3 : f32s = sqrt %0 if %2\n%4 : f32s = sqrt %0 if %2\n%5 : f32s = mul %3, %4 if %2\n\
                %6 : f32s = neg %5 if %2\n%7 : mask = lt %6, %3 if %2\n%8 : f32s = if %7, %6, %3 if %2\n\
                %9 : f32s = if %2, %8, %0\nreturn %9";
    let expected = [
        "%3 : f32s = const 1.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 1.0",
        "%5 : f32s = sqrt %4 if %2 else 1.0",
        "%6 : f32s = sqrt %4 if %2 else 1.0",
        "%7 : f32s = mul %5, %6 if %2 else 1.0",
        "%8 : f32s = neg %7 if %2 else -1.0",
        "%9 : mask = lt %8, %5 if %2 else true",
        "%10 : f32s = select %9, %8, %5 if %2 else -1.0",
        "%11 : f32s = select %2, %10, %0",
    ];
    assert_eq!(sanitised("x86-avx2", body)[..9], expected);
}

#[test]
fn constants_are_replaced_only_where_they_raise() {
    let body = "%3 : f32s = const 3.0\n%4 : f32s = div %0, %3 if %2\n%5 : f32s = if %2, %4, %0\nreturn %5";
    let expected = [
        "%3 : f32s = const 3.0",
        "%4 : f32s = const 0.0",
        "%5 : f32s = select %2, %0, %4 if %2 else 0.0",
        "%6 : f32s = div %5, %3 if %2 else 0.0",
    ];
    assert_eq!(sanitised("x86-sse2", body)[..4], expected);
    // 0/0 would be invalid, so the divisor is chosen too.
    let body = "%3 : f32s = const 0.0\n%4 : f32s = div %0, %3 if %2\n%5 : f32s = if %2, %4, %0\nreturn %5";
    let expected = [
        "%3 : f32s = const 0.0",
        "%4 : f32s = const 0.0",
        "%5 : f32s = select %2, %0, %4 if %2 else 0.0",
        "%6 : f32s = const 1.0",
        "%7 : f32s = select %2, %3, %6 if %2 else 1.0",
        "%8 : f32s = div %5, %7 if %2 else 0.0",
    ];
    assert_eq!(sanitised("x86-sse2", body)[..6], expected);
}

#[test]
fn an_inner_mask_needs_its_own_operands() {
    let body = "%3 : mask = lt %1, %0 if %2\n%4 : mask = and %2, %3\n%5 : f32s = sqrt %0 if %2\n\
                %6 : f32s = sqrt %5 if %4\n%7 : f32s = if %3, %6, %5 if %2\n%8 : f32s = if %2, %7, %0\nreturn %8";
    let lines = sanitised("x86-sse2", body);
    let chosen: Vec<&String> = lines.iter().filter(|line| line.contains("= select")).collect();
    // Both operands of the comparison, the first square root's among them, the second's, then the two conditionals.
    assert_eq!(chosen.len(), 5, "{lines:#?}");
}

#[test]
fn a_masked_region_keeps_its_values_and_loses_its_proof() {
    let body = "region {\n%3 : f32s = mul_add %0, %1, %0 if %2\nproof {\nsource {\n%4 : f32s = mul %0, %1 if %2\n\
                %5 : f32s = add %4, %0 if %2\n}\nstage s %5\nyield %5 = %3\ncost 2 2 2 -> 1 1 1\nstop saturated\n}\n}\n\
                %6 : f32s = if %2, %3, %0\nreturn %6";
    let expected = [
        "region {",
        "%3 : f32s = const 0.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 0.0",
        "%5 : f32s = select %2, %1, %3 if %2 else 0.0",
        "%6 : f32s = mul_add %4, %5, %4 if %2 else 0.0",
        "}",
        "%7 : f32s = select %2, %6, %0",
    ];
    assert_eq!(sanitised("x86-avx2", body)[..7], expected);
}

#[test]
fn without_flags_and_with_masked_instructions_nothing_is_substituted() {
    let body = "%3 : f32s = sqrt %0 if %2\n%4 : f32s = if %2, %3, %0\nreturn %4";
    for profile in ["wasm-simd128", "x86-avx512"] {
        assert_eq!(sanitised(profile, body)[..2], ["%3 : f32s = sqrt %0 if %2", "%4 : f32s = select %2, %3, %0"]);
    }
}

#[test]
fn integers_and_bit_moves_need_nothing() {
    let body = "%3 : f32s = neg %0 if %2\n%4 : f32s = abs %3 if %2\n%5 : f32s = if %2, %4, %0\nreturn %5";
    let expected = ["%3 : f32s = neg %0 if %2", "%4 : f32s = abs %3 if %2", "%5 : f32s = select %2, %4, %0"];
    assert_eq!(sanitised("x86-avx2", body)[..3], expected);
}

#[test]
fn a_choice_between_compared_operands_stays_a_minimum() {
    let body = "%3 : mask = lt %0, %1 if %2\n%4 : f32s = if %3, %0, %1 if %2\n%5 : f32s = sqrt %4 if %2\n\
                %6 : f32s = if %2, %5, %0\nreturn %6";
    let expected = [
        "%3 : f32s = const 0.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 0.0",
        "%5 : f32s = select %2, %1, %3 if %2 else 0.0",
        "%6 : mask = lt %4, %5 if %2 else false",
        "%7 : f32s = select %6, %4, %5 if %2 else 0.0",
        "%8 : f32s = sqrt %7 if %2 else 0.0",
    ];
    assert_eq!(sanitised("x86-sse2", body)[..6], expected);
}

#[test]
fn a_choice_serves_every_reader_that_its_number_suits() {
    // 0 + 0, 0 * 0 and 0 / 1: the sum's choices serve the product and the dividend, the divisor needs its own.
    let body = "%3 : f32s = add %0, %1 if %2\n%4 : f32s = mul %0, %1 if %2\n%5 : f32s = div %0, %1 if %2\n\
                %6 : f32s = if %2, %3, %0\n%7 : f32s = if %2, %4, %0\n%8 : f32s = if %2, %5, %0\n\
                %9 : f32s = add %6, %7\n%10 : f32s = add %9, %8\nreturn %10";
    let expected = [
        "%3 : f32s = const 0.0",
        "%4 : f32s = select %2, %0, %3 if %2 else 0.0",
        "%5 : f32s = select %2, %1, %3 if %2 else 0.0",
        "%6 : f32s = add %4, %5 if %2 else 0.0",
        "%7 : f32s = mul %4, %5 if %2 else 0.0",
        "%8 : f32s = const 1.0",
        "%9 : f32s = select %2, %1, %8 if %2 else 1.0",
        "%10 : f32s = div %4, %9 if %2 else 0.0",
    ];
    assert_eq!(sanitised("x86-avx2", body)[..8], expected);
}
