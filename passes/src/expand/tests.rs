use super::*;
use crate::select::rule::NoRules;
use rake_ir::fused;
use rake_ir::ops::LaneRule;
use rake_ir::value::Lanes;

/// As on a machine without instructions: what a profile may need, it needs.
fn run(program: Program) -> Program {
    super::run(program, &NoRules)
}

fn program(body: &str, profile: Profile) -> Program {
    of(Ty::Rack(Elem::F32), Ty::Rack(Elem::F32), body, profile)
}

/// A function of a rack `%0` and a mask `%1`.
fn of(ty: Ty, result: Ty, body: &str, profile: Profile) -> Program {
    let text = format!(
        "rake fused 1\nprofile {profile}\nfuse full\nscratch f(x: {ty}, m: mask) -> {result} {{\n\
         %0 : {ty} = param 0\n%1 : mask = param 1\n{body}\n}}\n"
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

/// A rack's worth of bits after another: edges in every neighbourhood, then random bits.
fn racks(elem: Elem, lanes: usize) -> Vec<Lanes> {
    let floats: Vec<u32> = edges().into_iter().map(f32::to_bits).chain([0xffc0_0007, 0x7f80_0001]).collect();
    let ints = vec![0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffe, 65536, 0x8000_0001];
    let special = if elem.is_float() { floats } else { ints };
    let random = |n: u32| n.wrapping_mul(2_654_435_761) ^ n << 7;
    let mixed = (0..2000u32).map(|n| {
        let pick = random(n * 3 + 1) as usize;
        // Half of the racks hold tame numbers only, whose sums stay finite.
        match (n as usize / lanes % 4, elem.is_float()) {
            (0, _) => special[pick % special.len()],
            (1, true) => (pick as f32 / 3e7).to_bits(),
            (2, true) => ((pick % 1000) as f32 - 500.0).to_bits(),
            _ => random(n),
        }
    });
    let all: Vec<u64> = special.iter().copied().chain(mixed).map(u64::from).collect();
    all.chunks_exact(lanes).map(|rack| Lanes::new(rack.iter().copied())).collect()
}

#[test]
fn each_sequence_agrees_with_its_operation_bit_for_bit() {
    for row in SEQUENCES {
        for (&elem, profile) in
            row.elems.iter().flat_map(|elem| row.profiles(|_| &NoRules).map(move |profile| (elem, profile)))
        {
            let ty = Ty::Rack(elem);
            let result = row.op.infer(&[ty], None).unwrap();
            let body = format!("%2 : {result} = {} %0\nreturn %2", row.op.name());
            let before = of(ty, result, &body, profile);
            let after = run(before.clone());
            assert_eq!(fused::check(&after), Ok(()), "{}", fused::print(&after));
            let values = &after.functions[0].values;
            assert!(values.len() > 4 && values.values().all(|value| value.op != row.op));
            let lanes = profile.lanes(elem);
            for x in racks(elem, lanes) {
                let args = [x, Lanes::truths(&vec![true; lanes])];
                let (want, got) = (fused::eval(&before, "f", &args).unwrap(), fused::eval(&after, "f", &args).unwrap());
                // Strict extrema give one NaN, others any.
                assert!(want.same(&got, elem), "{} {profile} {}: {want:?} {got:?}", row.op.name(), args[0].show(ty));
            }
        }
    }
}

#[test]
fn sums_keep_the_order_of_lanes_at_every_count() {
    for profile in [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512] {
        let sum = "%2 : <f32> = sum %0\nreturn %2";
        let after = run(of(Ty::Rack(Elem::F32), Ty::Uniform(Elem::F32), sum, profile));
        let lanes = profile.lanes(Elem::F32);
        // 2^24 + 1 rounds to 2^24, so that in order every 1 is lost.
        let mut x = vec![1.0; lanes];
        x[0] = 16777216.0;
        let args = [Lanes::f32s(&x), Lanes::truths(&vec![true; lanes])];
        assert_eq!(fused::eval(&after, "f", &args).unwrap(), Lanes::f32s(&[16777216.0]));
        let scan = run(program("%2 : f32s = scan_sum %0\nreturn %2", profile));
        let mut x = vec![1.0; lanes];
        x[..3].copy_from_slice(&[3e38, 3e38, -3e38]);
        let mut want = vec![f32::INFINITY; lanes];
        want[0] = 3e38;
        let args = [Lanes::f32s(&x), Lanes::truths(&vec![true; lanes])];
        assert_eq!(fused::eval(&scan, "f", &args).unwrap(), Lanes::f32s(&want));
    }
}

#[test]
fn steps_are_as_few_as_by_hand() {
    let steps = |op: &str, ty: Ty, profile| {
        let found = Op::from_name(op).unwrap();
        let result = found.infer(&[ty], None).unwrap();
        let after = run(of(ty, result, &format!("%2 : {result} = {op} %0\nreturn %2"), profile));
        let function = &after.functions[0];
        let free = [Op::Param, Op::Const, Op::Bitcast, Op::Splat, Op::Unsplat];
        function.order().filter(|&id| !free.contains(&function.values[id].op)).count()
    };
    let (f, i) = (Ty::Rack(Elem::F32), Ty::Rack(Elem::I32));
    let [sse2, avx2, avx512] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];
    // A move per lane and one per part where there are several, n - 1 additions, and for a scan n - 1 moves that put the
    // prefixes together. Under masks 2 for lane 0, a move and an addition for each other lane; then a choice and
    // an extraction, or a choice each time and a last move.
    assert_eq!([sse2, avx2, avx512].map(|p| steps("sum", f, p)), [7, 17, 34]);
    assert_eq!([sse2, avx2, avx512].map(|p| steps("scan_sum", f, p)), [10, 24, 48]);
    // A move and an addition per doubling.
    assert_eq!([sse2, avx2, avx512].map(|p| steps("sum", i, p)), [4, 6, 8]);
    assert_eq!([sse2, avx2, avx512].map(|p| steps("scan_maximum", i, p)), [4, 6, 9]);
    assert_eq!([sse2, avx2, avx512].map(|p| steps("scan_sum", i, p)), [4, 6, 8]);
    // A doubling that joins is two moves, a comparison, a choice and the joining.
    assert_eq!([sse2, avx2].map(|p| steps("minimum", f, p)), [12, 8]);
    assert_eq!([sse2, avx2].map(|p| steps("maximum", f, p)), [8, 14]);
    assert_eq!([sse2, avx2, avx512].map(|p| steps("maximum", Ty::Rack(Elem::U32), p)), [6, 6, 8]);
    // 2 bounds of a comparison and a choice each, 7 for the reduction, 14 for e^r, 6 for the power of two.
    assert_eq!(steps("exp", f, avx2), 31);
    // 3 for magnitude and sign, 2 for a bound, 7 for the reduction, 15 for half of e^2h, 4 for the far part, 12 for the near
    // part, 2 to choose between them.
    assert_eq!(steps("tanh", f, avx2), 45);
}

#[test]
fn the_steps_stand_under_the_mask_and_in_the_region() {
    let body = "region {\n%2 : f32s = nearest %0 if %1 ~~ cell\n%3 : f32s = neg %2 if %1\n}\n%4 : f32s = if %1, %3, %0\nreturn %4";
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
    assert!(result.same(&Lanes::f32s(&[-2.0, 2.0, f32::NAN, 7.0]), Elem::F32), "{result:?}");
}

#[test]
fn one_choice_keeps_every_inactive_lane_quiet() {
    for row in SEQUENCES.iter().filter(|row| matches!(row.op.info().lane, LaneRule::Sanitise(_))) {
        for profile in row.profiles(|_| &NoRules).filter(|profile| profile.info().fp_flags) {
            let name = row.op.name();
            let body = format!("%2 : f32s = {name} %0 if %1\n%3 : f32s = if %1, %2, %0\nreturn %3");
            let expanded = run(program(&body, profile));
            let choices = |program: &Program| {
                let function = &program.functions[0];
                function.order().filter(|&id| matches!(function.values[id].op, Op::Select | Op::If)).count()
            };
            let before = choices(&expanded);
            let sanitised = crate::sanitise::run(expanded);
            assert_eq!(fused::check_sanitised(&sanitised), Ok(()));
            assert_eq!(choices(&sanitised), before, "{name} on {profile}: {}", fused::print(&sanitised));
        }
    }
}

#[test]
fn profiles_with_the_instruction_keep_the_operation() {
    let before = program("%2 : f32s = floor %0\nreturn %2", Profile::X86Avx2);
    assert_eq!(run(before.clone()), before);
}
