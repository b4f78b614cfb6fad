//! Every possible mask through what depends on all of it, narrow lanes, and the general registers that they need.

use super::random::{Random, lanes};
use super::{Last, PROFILES, agree, dump, finish};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_ir::value::Lanes;

/// Every mask of the profile; of sixteen lanes, one in seven and the ones next to none and all.
fn masks(profile: Profile) -> Vec<Lanes> {
    let lanes = profile.lanes(Elem::F32);
    let all = 1u32 << lanes;
    let some =
        (0..all).filter(|mask| lanes < 16 || mask % 7 == 0 || *mask < 20 || all - mask < 20 || mask.count_ones() == 1);
    some.map(|mask| Lanes::new((0..lanes).map(|lane| u64::from(mask >> lane & 1)))).collect()
}

/// Compares all IRs on every mask, with random racks beside it.
fn every_mask(text: &str) {
    let mut random = Random(9);
    for profile in PROFILES {
        let program = dump(profile, text);
        let (ordered, placed) = finish(&program).unwrap();
        for mask in masks(profile) {
            let params = program.functions[0].params.iter().skip(1);
            let rest: Vec<Lanes> = params.map(|p| lanes(&mut random, p.ty, profile)).collect();
            agree(&program, &ordered, &placed, &[vec![mask], rest].concat());
        }
    }
}

#[test]
fn reductions_of_masks_are_left_to_the_caller_as_words() {
    for (op, ty) in [("bitmask", "<u32>"), ("all", "<bool>"), ("any", "<bool>")] {
        every_mask(&format!("scratch f(m: mask) -> {ty} {{\n%0 : mask = param 0\n%1 : {ty} = {op} %0\nreturn %1\n}}"));
    }
}

#[test]
fn reductions_of_masks_stand_in_every_lane() {
    every_mask(
        "scratch f(m: mask, x: u32s) -> u32s {
%0 : mask = param 0
%1 : u32s = param 1
%2 : <u32> = bitmask %0
%3 : u32s = splat %2
%4 : u32s = add %1, %3
return %4
}",
    );
    for op in ["all", "any"] {
        every_mask(&format!(
            "scratch f(m: mask, x: f32s, y: f32s) -> f32s {{
%0 : mask = param 0
%1 : f32s = param 1
%2 : f32s = param 2
%3 : <bool> = {op} %0
%4 : mask = splat %3
%5 : f32s = select %4, %1, %2
return %5
}}"
        ));
    }
}

#[test]
fn compress_and_expand_take_every_mask() {
    for elem in ["f32s", "i32s"] {
        every_mask(&format!(
            "scratch f(m: mask, x: {elem}) -> {elem} {{
%0 : mask = param 0
%1 : {elem} = param 1
%2 : {elem} = compress %0, %1
return %2
}}"
        ));
        every_mask(&format!(
            "scratch f(m: mask, x: {elem}, p: {elem}) -> {elem} {{
%0 : mask = param 0
%1 : {elem} = param 1
%2 : {elem} = param 2
%3 : {elem} = expand %0, %1, %2
return %3
}}"
        ));
    }
}

/// Compares all IRs on random racks.
fn random_racks(text: &str) {
    let mut random = Random(10);
    for profile in PROFILES {
        let program = dump(profile, text);
        let (ordered, placed) = finish(&program).unwrap();
        for round in 0..200 {
            let params = program.functions[0].params.iter();
            let racks = params.map(|p| {
                let count = rake_ir::value::lanes_of(p.ty, profile);
                let extreme = 1u64 << (p.ty.elem().bits() - 1);
                Lanes::new((0..count).map(|_| match random.below(if round == 0 { 1 } else { 4 }) {
                    0 => extreme,
                    1 => extreme - 1,
                    _ => random.next() & p.ty.elem().lane_mask(),
                }))
            });
            let args: Vec<Lanes> = racks.collect();
            agree(&program, &ordered, &placed, &args);
        }
    }
}

#[test]
fn narrow_lanes_keep_their_meaning() {
    for (params, result, op) in [
        (&["i16s", "i16s"][..], "i32s", "dot %0, %1"),
        (&["i32s", "i32s"], "i16s", "narrow %0, %1"),
        (&["u8s"], "i16s", "widen_low %0"),
        (&["u8s"], "i16s", "widen_high %0"),
        (&["u8s"], "i16s", "bitcast %0"),
        (&["i16s"], "f32s", "bitcast %0"),
        (&[], "i16s", "const -3"),
        (&[], "u8s", "const 200"),
    ] {
        let list: Vec<String> = params.iter().enumerate().map(|(n, ty)| format!("p{n}: {ty}")).collect();
        let mut text = format!("scratch f({}) -> {result} {{\n", list.join(", "));
        params.iter().enumerate().for_each(|(n, ty)| text += &format!("%{n} : {ty} = param {n}\n"));
        random_racks(&format!("{text}%9 : {result} = {op}\nreturn %9\n}}"));
    }
}

#[test]
fn words_share_the_registers_of_arguments_that_are_done_with() {
    // Six arguments that live to the end leave three registers for the words of seven masks.
    let mut text = String::from("scratch f(");
    (0..6).for_each(|n| text += &format!("n{n}: <u32>, "));
    text += "x: f32s) -> <u32> {\n";
    (0..6).for_each(|n| text += &format!("%{n} : <u32> = param {n}\n"));
    text += "%6 : f32s = param 6\n";
    for n in 0..7 {
        text += &format!("%{} : f32s = const {n}.5\n%{} : mask = lt %6, %{}\n", 10 + n, 20 + n, 10 + n);
        text += &format!("%{} : <u32> = bitmask %{}\n", 30 + n, 20 + n);
    }
    let mut last = 30;
    for n in 0..12 {
        let other = if n < 6 { 31 + n } else { n - 6 };
        text += &format!("%{} : <u32> = add %{last}, %{other}\n", 50 + n);
        last = 50 + n;
    }
    random_racks(&format!("{text}return %{last}\n}}"));
}

#[test]
fn extrema_beside_a_constant_are_strict() {
    let mut random = Random(12);
    for (constant, short) in
        [("1.5", [1, 1]), ("-1.5", [1, 1]), ("0.0", [1, 2]), ("-0.0", [3, 1]), ("0x7fc00000", [3, 5])]
    {
        for (at, op) in ["min", "max"].into_iter().enumerate() {
            for operands in ["%0, %1", "%1, %0"] {
                for profile in PROFILES {
                    let text = format!(
                        "scratch f(x: f32s) -> f32s {{
%0 : f32s = param 0
%1 : f32s = const {constant}
%2 : f32s = {op} {operands}
return %2
}}"
                    );
                    let program = dump(profile, &text);
                    let (ordered, placed) = finish(&program).unwrap();
                    let most = match profile {
                        profile if profile.info().strict_extrema => 1,
                        Profile::X86Avx512 => short[at].min(3),
                        _ => short[at],
                    };
                    assert_eq!(placed.arithmetic(), most, "{op} {constant} {profile}");
                    for _ in 0..32 {
                        let x = lanes(&mut random, program.functions[0].params[0].ty, profile);
                        agree(&program, &ordered, &placed, &[x]);
                    }
                }
            }
        }
    }
}
