use super::*;
use rake_ir::fused;
use rake_ir::value::Lanes;

fn program(body: &str, profile: Profile) -> Program {
    let text = format!(
        "rake fused 1\nprofile {profile}\nfuse full\nscratch f(x: f32s, m: mask) -> f32s {{\n\
         %0 : f32s = param 0\n%1 : mask = param 1\n{body}\n}}\n"
    );
    let program = fused::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(fused::check(&program), Ok(()));
    program
}

/// Values around every edge of rounding.
fn edges() -> Vec<f32> {
    let plain = [
        0.0,
        0.2,
        0.5,
        0.49999997,
        0.50000006,
        0.7,
        0.9,
        1.0,
        1.5,
        2.5,
        3.5,
        104.0,
        105.0,
        4194304.5,
        4194305.5,
        8388607.0,
        8388607.5,
        8388608.0,
        8388609.0,
        8388687.0,
        3e9,
        3.4e38,
        1e-45,
        5.9e-41,
        1.1754944e-38,
        f32::INFINITY,
        f32::NAN,
    ];
    plain.iter().flat_map(|&x| [x, -x]).collect()
}

#[test]
fn each_sequence_agrees_with_its_operation_bit_for_bit() {
    let random = (0..4000u32).map(|n| f32::from_bits(n.wrapping_mul(2_654_435_761) ^ n << 7));
    let mut inputs: Vec<f32> = edges().into_iter().chain(random).collect();
    inputs.truncate(inputs.len() / 4 * 4);
    for row in SEQUENCES {
        for &profile in row.profiles {
            let before = program(&format!("%2 : f32s = {} %0\nreturn %2", row.op.name()), profile);
            let after = run(before.clone());
            assert_eq!(fused::check(&after), Ok(()), "{}", fused::print(&after));
            let values = &after.functions[0].values;
            assert!(values.len() > 4 && values.values().all(|value| value.op != row.op));
            for x in inputs.chunks(profile.lanes(Elem::F32)) {
                let args = [Lanes::f32s(x), Lanes::truths(&vec![true; x.len()])];
                let (want, got) = (fused::eval(&before, "f", &args).unwrap(), fused::eval(&after, "f", &args).unwrap());
                assert!(
                    want.same(&got, Elem::F32),
                    "{} {x:?}: {:?} {:?}",
                    row.op.name(),
                    want.to_f32s(),
                    got.to_f32s()
                );
            }
        }
    }
}

#[test]
fn the_steps_stand_under_the_mask_and_in_the_region() {
    let body = "region {\n%2 : f32s = floor %0 if %1 ~~ cell\n%3 : f32s = neg %2 if %1\n}\n%4 : f32s = if %1, %3, %0\nreturn %4";
    let after = run(program(body, Profile::X86Sse2));
    assert_eq!(fused::check(&after), Ok(()));
    let function = &after.functions[0];
    let Stmt::Region(region) = &function.body[2] else { panic!("{}", fused::print(&after)) };
    let masked = region.values.iter().filter(|&&id| function.values[id].mask.is_some()).count();
    let constants = region.values.iter().filter(|&&id| function.values[id].op == Op::Const).count();
    assert_eq!(masked + constants, region.values.len());
    assert!(fused::print(&after).contains("~~ cell"));
    let sanitised = crate::sanitise::run(after);
    assert_eq!(fused::check_sanitised(&sanitised), Ok(()));
    let simplified = crate::simplify::run(sanitised);
    let args = [Lanes::f32s(&[1.5, -1.5, f32::NAN, 7.0]), Lanes::truths(&[true, true, false, false])];
    let result = fused::eval(&simplified, "f", &args).unwrap();
    assert!(result.same(&Lanes::f32s(&[-1.0, 2.0, f32::NAN, 7.0]), Elem::F32), "{result:?}");
}

#[test]
fn profiles_with_the_instruction_keep_the_operation() {
    let before = program("%2 : f32s = floor %0\nreturn %2", Profile::X86Avx2);
    assert_eq!(run(before.clone()), before);
}
