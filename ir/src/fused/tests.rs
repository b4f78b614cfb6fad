use super::*;

const ADVANCE: &str = "\
rake fused 1
profile x86-avx2
fuse full

scratch advance(positions: f32s, velocities: f32s) -> f32s {
  %0 : f32s = param 0                    ~~ positions
  %1 : f32s = param 1                    ~~ velocities
  region {
    %2 : f32s = const 0.33333334
    %3 : f32s = mul_add %1, %2, %0       ~~ moved
    exact %2 = 1/3
    proof {
      source {
        %4 : f32s = const 0.33333334
        %5 : f32s = mul %1, %4
        %6 : f32s = add %0, %5
      }
      stage scaled %5
      stage moved %6
      yield %6 = %3
      cost 100 800 3 -> 50 400 3
      stop nodes 20000
      chain {
        step contract forward (mul_add x0.5 y)
        step seed:horner backward (+ (* x 0.5) y)
      }
    }
  }
  return %3
}
";

fn faults(text: &str) -> Vec<String> {
    let program = read(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    check(&program).err().unwrap_or_default()
}

#[test]
fn dumps_read_back() {
    let plain = ADVANCE.lines().filter(|l| !l.contains("exact ")).map(|l| format!("{l}\n")).collect::<String>();
    for text in [ADVANCE.to_owned(), plain] {
        let program = read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert_eq!(check(&program), Ok(()));
        assert_eq!(print(&program), text);
    }
}

#[test]
fn a_region_without_proof_reads_back() {
    let start = ADVANCE.find("    proof {").unwrap();
    let end = ADVANCE.find("  }\n  return").unwrap();
    let text = format!("{}{}", &ADVANCE[..start], &ADVANCE[end..]);
    assert_eq!(print(&read(&text).unwrap()), text);
    assert_eq!(faults(&text), Vec::<String>::new());
}

#[test]
fn the_check_knows_regions() {
    let cases = [
        ("return %3", "return %2", "advance: the result reads %2 which is no result of its region"),
        ("return %3", "return %6", "advance: the result reads %6 which belongs to a proof only"),
        ("exact %2 = 1/3", "exact %2 = 1/2", "advance: %2 is not 1/2 rounded once"),
        ("exact %2 = 1/3", "exact %3 = 1/3", "advance: %3 is not 1/3 rounded once"),
        ("%5 : f32s = mul %1, %4", "%5 : f32s = mul %1, %2", "advance: %5 reads %2 before it is computed"),
        (
            "%6 : f32s = add %0, %5",
            "%6 : f32s = mul_add %0, %5, %4",
            "advance: %6: `mul_add` cannot stand in a source graph",
        ),
        ("profile x86-avx2", "profile x86-sse2", "advance: %3: `mul_add` cannot stand here"),
    ];
    for (from, to, expected) in cases {
        assert_eq!(faults(&ADVANCE.replace(from, to)), [expected], "{to}");
    }
}

#[test]
fn malformed_proofs_are_named() {
    let cases = [
        ("1/3", "1/0", "the denominator is zero"),
        ("stop nodes 20000", "stop early", "expected `saturated`, `nodes`, `rounds` or `trivial`, found `early`"),
        ("cost 100 800 3 -> 50 400 3", "cost 100 800 -> 50 400 3", "expected a number, found `->`"),
        ("step contract forward", "step contract", "expected `forward`, found `(`"),
        ("yield %6 = %3", "yield %6", "expected `=`, found the end of the line"),
    ];
    for (from, to, expected) in cases {
        let faults = read(&ADVANCE.replace(from, to)).unwrap_err();
        assert_eq!(faults[0].message, expected);
    }
}

#[test]
fn the_chosen_graph_is_what_evaluates() {
    let text = ADVANCE.replace("    exact %2 = 1/3\n", "").replace("0.33333334", "0.1");
    let program = read(&text).unwrap();
    // The exact square of 0.1f32 lies 4.0978193e-10 below its rounding; the source graph would give 0.
    let tenth = Lanes::f32s(&[0.1; 8]);
    let square = Lanes::f32s(&[-(0.1f32 * 0.1f32); 8]);
    assert_eq!(eval(&program, "advance", &[square, tenth]), Ok(Lanes::f32s(&[-4.0978193e-10; 8])));
}

#[test]
fn benign_operands_are_asked_for_under_masks() {
    let body = |lines: &str| {
        let text = format!(
            "rake fused 1\nprofile x86-sse2\nfuse full\nscratch f(x: f32s, m: mask, n: mask) -> f32s {{\n%0 : f32s = param 0\n\
             %1 : mask = param 1\n%2 : mask = param 2\n%3 : f32s = const 1.0\n%4 : f32s = const 0.0\n{lines}\nreturn %0\n}}"
        );
        let program = read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert_eq!(check(&program), Ok(()));
        check_sanitised(&program).err().unwrap_or_default()
    };
    let fault = |op| [format!("f: %6: `{op}` may raise a flag in lanes where it is not computed")];
    let none: [String; 0] = [];
    assert_eq!(body("%5 : f32s = select %1, %0, %3\n%6 : f32s = sqrt %5 if %1"), none);
    assert_eq!(body("%5 : f32s = select %1, %0, %3\n%6 : f32s = div %4, %5 if %1"), none);
    assert_eq!(body("%5 : f32s = neg %0\n%6 : f32s = neg %5 if %1"), none);
    assert_eq!(body("%5 : f32s = neg %0\n%6 : f32s = sqrt %5 if %1"), fault("sqrt"));
    // Another mask, no benign value, and a constant that is not benign beside the other operand.
    assert_eq!(body("%5 : f32s = select %2, %0, %3\n%6 : f32s = sqrt %5 if %1"), fault("sqrt"));
    assert_eq!(body("%5 : f32s = select %1, %0, %0\n%6 : f32s = sqrt %5 if %1"), fault("sqrt"));
    assert_eq!(body("%5 : f32s = select %1, %0, %4\n%6 : f32s = div %5, %4 if %1"), fault("div"));
}

#[test]
fn what_inactive_lanes_hold_is_checked_and_computed() {
    let body = |lines: &str| {
        let text = format!(
            "rake fused 1\nprofile x86-sse2\nfuse full\n\nscratch f(x: f32s, m: mask, n: mask) -> f32s {{\n  %0 : f32s = param 0\n  \
             %1 : mask = param 1\n  %2 : mask = param 2\n  %3 : f32s = const 1.0\n{lines}  return %0\n}}\n"
        );
        let program = read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert_eq!(print(&program), text);
        let faults = check_sanitised(&program).err().unwrap_or_default();
        let args = [[4.0, -1.0, f32::NAN, 0.0], [0.0; 4], [0.0; 4]].map(|lanes| Lanes::f32s(&lanes));
        let masks = [[true, false, true, false], [true, true, false, false]].map(|lanes| Lanes::truths(&lanes));
        let evaluated = eval(&program, "f", &[args[0].clone(), masks[0].clone(), masks[1].clone()]);
        assert_eq!(evaluated.is_ok(), faults.is_empty(), "{evaluated:?} {faults:?}");
        faults
    };
    let none: [String; 0] = [];
    let shows = |what: &str| [format!("f: {what} where it is not computed")];
    let chosen = "  %4 : f32s = select %1, %0, %3 if %1 else 1.0\n";
    assert_eq!(body(&format!("{chosen}  %5 : f32s = neg %4 if %1 else -1.0\n")), none);
    assert_eq!(body(&format!("{chosen}  %5 : f32s = add %4, %3 if %1 else 2.0\n")), none);
    assert_eq!(body(&format!("{chosen}  %5 : mask = lt %4, %3 if %1 else false\n")), none);
    assert_eq!(
        body(&format!("{chosen}  %5 : f32s = add %4, %3 if %1 else 1.0\n")),
        shows("%5: nothing shows that it is 1.0")
    );
    assert_eq!(body("  %4 : f32s = neg %0 if %1 else 1.0\n"), shows("%4: nothing shows that it is 1.0"));
    // Of a conjunction's lanes the fact covers too few; of a wider mask's, enough.
    let both = "  %5 : mask = and %1, %2\n";
    assert_eq!(
        body(&format!("{chosen}{both}  %6 : f32s = neg %4 if %5 else -1.0\n")),
        shows("%6: nothing shows that it is -1.0")
    );
    let narrow = "  %6 : f32s = select %5, %0, %3 if %5 else 1.0\n";
    assert_eq!(body(&format!("{chosen}{both}{narrow}  %7 : f32s = select %5, %6, %3 if %1 else 1.0\n")), none);
}
