//! Random graphs of every lowered operation, on special values and random bits.

use super::{PROFILES, agree, dump, finish};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::{Lanes, lanes_of};
use std::fmt::Write as _;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const SPECIAL: [u32; 40] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4000_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x4b80_0001,
    0xcb80_0001,
    31,
    32,
    0x7fff_ffff,
    0xffff_ffff,
    0xffff_fffe,
    0x0000_ffff,
    // Around 2^23, 2^31 and 2^32 as floats, and halves.
    0x4aff_ffff,
    0x4b00_0001,
    0x4eff_ffff,
    0x4f00_0000,
    0x4f00_0001,
    0x4f7f_ffff,
    0x4f80_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x4020_0000,
    0x4060_0000,
    0xc020_0000,
    0x3eff_ffff,
    0x8100_0080,
    0xffff_ff7f,
    0xffff_ff80,
];

/// Lanes of a type; special values more often than not.
pub(crate) fn lanes(random: &mut Random, ty: Ty, profile: Profile) -> Lanes {
    let truth = ty.elem() == Elem::Bool;
    Lanes::new((0..lanes_of(ty, profile)).map(|_| match (truth, random.below(3)) {
        (true, _) => random.next() & 1,
        (false, 0) => random.next() & 0xffff_ffff,
        _ => u64::from(SPECIAL[random.below(SPECIAL.len())]),
    }))
}

/// An operation that a random graph may hold: name, operand types (`t` is a mask), result type.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("add", "f f", "f"),
    ("sub", "f f", "f"),
    ("mul", "f f", "f"),
    ("div", "f f", "f"),
    ("neg", "f", "f"),
    ("sqrt", "f", "f"),
    ("fma", "f f f", "f"),
    ("mul_add", "f f f", "f"),
    ("mul_sub", "f f f", "f"),
    ("neg_mul_add", "f f f", "f"),
    ("neg_mul_sub", "f f f", "f"),
    ("abs", "f", "f"),
    ("min", "f f", "f"),
    ("max", "f f", "f"),
    ("eq", "f f", "t"),
    ("ne", "f f", "t"),
    ("lt", "f f", "t"),
    ("le", "f f", "t"),
    ("gt", "f f", "t"),
    ("ge", "f f", "t"),
    ("add", "i i", "i"),
    ("sub", "i i", "i"),
    ("mul", "i i", "i"),
    ("neg", "i", "i"),
    ("abs", "i", "i"),
    ("min", "i i", "i"),
    ("max", "i i", "i"),
    ("bit_and", "i i", "i"),
    ("bit_or", "i i", "i"),
    ("bit_xor", "i i", "i"),
    ("bit_andnot", "i i", "i"),
    ("shift_bits_left", "i #", "i"),
    ("shift_bits_right", "i #", "i"),
    ("shift_bits_right_signed", "i #", "i"),
    ("eq", "i i", "t"),
    ("ne", "i i", "t"),
    ("lt", "i i", "t"),
    ("le", "i i", "t"),
    ("gt", "i i", "t"),
    ("ge", "i i", "t"),
    ("add", "u u", "u"),
    ("sub", "u u", "u"),
    ("mul", "u u", "u"),
    ("min", "u u", "u"),
    ("max", "u u", "u"),
    ("bit_andnot", "u u", "u"),
    ("shift_bits_right", "u #", "u"),
    ("shift_bits_left", "u n", "u"),
    ("shift_bits_right", "i n", "i"),
    ("shift_bits_right_signed", "i n", "i"),
    ("eq", "u u", "t"),
    ("ne", "u u", "t"),
    ("lt", "u u", "t"),
    ("le", "u u", "t"),
    ("gt", "u u", "t"),
    ("ge", "u u", "t"),
    ("and", "t t", "t"),
    ("or", "t t", "t"),
    ("not", "t", "t"),
    ("select", "t f f", "f"),
    ("select", "t i i", "i"),
    ("select", "t u u", "u"),
    ("select", "t t t", "t"),
    ("if", "t f f", "f"),
    ("floor", "f", "f"),
    ("ceil", "f", "f"),
    ("trunc", "f", "f"),
    ("nearest", "f", "f"),
    ("to_f32", "i", "f"),
    ("to_f32", "u", "f"),
    ("to_i32", "f", "i"),
    ("to_u32", "f", "u"),
    ("compress", "t f", "f"),
    ("compress", "t i", "i"),
    ("expand", "t f f", "f"),
    ("expand", "t u u", "u"),
    ("bitcast", "f", "i"),
    ("bitcast", "u", "f"),
    ("const 0", "", "f"),
    ("const -1.5", "", "f"),
    ("const 3.0", "", "f"),
    ("const 0", "", "i"),
    ("const 7", "", "i"),
    ("const 4294967295", "", "u"),
    ("const -1", "", "i"),
    ("lane_index", "", "i"),
    ("const true", "", "t"),
    ("const 0.1", "", "f"),
];

/// Whether the operation has a rule; where nothing rounds, a sequence of other operations does.
fn lowered(name: &str, profile: Profile) -> bool {
    profile.info().rounds || !["floor", "ceil", "trunc", "nearest"].contains(&name)
}

fn ty(letter: &str) -> &'static str {
    match letter {
        "f" => "f32s",
        "i" => "i32s",
        "u" => "u32s",
        _ => "mask",
    }
}

/// A function of random operations over the parameters `f f i u t <f32> <i32> <u32> <bool>`; operands lean to the recent.
pub(crate) fn graph(random: &mut Random, profile: Profile, size: usize, result: &str) -> String {
    let params = [("f", "f32s"), ("f", "f32s"), ("i", "i32s"), ("u", "u32s"), ("t", "mask")];
    let uniforms = [("f", "f32"), ("i", "i32"), ("u", "u32"), ("t", "bool")];
    let mut text = String::from("scratch g(");
    (0..).zip(params).for_each(|(n, (_, ty)): (u32, _)| text += &format!("p{n}: {ty}, "));
    text += "q0: <f32>, q1: <i32>, q2: <u32>, q3: <bool>) -> ";
    let _ = writeln!(text, "{} {{", ty(result));
    let mut values: Vec<(u32, &str)> = Vec::new();
    for (n, (letter, ty)) in params.iter().enumerate() {
        let _ = writeln!(text, "%{n} : {ty} = param {n}");
        values.push((n as u32, letter));
    }
    let mut next = params.len() as u32;
    let mut counts = Vec::new();
    for (n, (letter, elem)) in uniforms.iter().enumerate() {
        let _ = writeln!(text, "%{next} : <{elem}> = param {}", n + params.len());
        let _ = writeln!(text, "%{} : {} = splat %{next}", next + 1, ty(letter));
        if *elem == "u32" {
            counts.push(next);
        }
        values.push((next + 1, letter));
        next += 2;
    }
    let (start, end) = (random.below(size), random.below(size));
    for at in 0..size {
        if at == start.min(end) && start != end {
            text += "region {\n";
        }
        loop {
            let (name, operands, to) = OPERATIONS[random.below(OPERATIONS.len())];
            if (name.contains("fma") || name.starts_with("mul_") || name.starts_with("neg_mul")) && !profile.info().fma
            {
                continue;
            }
            let inside = start != end && (start.min(end)..=start.max(end)).contains(&at);
            let contracted = name.starts_with("mul_") || name.starts_with("neg_mul");
            if !lowered(name, profile) || inside && (name == "compress" || name == "expand") {
                continue;
            }
            // A computed NaN has no defined bits for integers to see.
            if (name, to) == ("bitcast", "i") || name == "bitcast" && inside || contracted && !inside {
                continue;
            }
            let mut args = Vec::new();
            for letter in operands.split_whitespace() {
                match letter {
                    "#" => args.push(random.below(32).to_string()),
                    "n" => args.push(format!("%{}", counts[random.below(counts.len())])),
                    _ => {
                        let of: Vec<u32> = values.iter().filter(|v| v.1 == letter).map(|v| v.0).collect();
                        let recent = of.len().saturating_sub(6);
                        let from = if random.below(3) == 0 { 0 } else { recent };
                        args.push(format!("%{}", of[from + random.below(of.len() - from)]));
                    }
                }
            }
            let _ = writeln!(text, "%{next} : {} = {name} {}", ty(to), args.join(", "));
            values.push((next, to));
            next += 1;
            break;
        }
        if at == start.max(end) && start != end {
            text += "}\n";
        }
    }
    let last = values.iter().rev().find(|v| v.1 == result).map_or(0, |v| v.0);
    let _ = writeln!(text, "return %{last}\n}}");
    text
}

#[test]
fn random_graphs_keep_their_meaning() {
    let mut random = Random(1);
    let (mut accepted, mut rejected) = (0, 0);
    for round in 0..800 {
        let profile = PROFILES[round % PROFILES.len()];
        let result = ["f", "i", "u", "t"][random.below(4)];
        let size = 1 + random.below(40);
        let program = dump(profile, &graph(&mut random, profile, size, result));
        match finish(&program) {
            Ok((ordered, placed)) => {
                accepted += 1;
                for _ in 0..4 {
                    let params = program.functions[0].params.iter();
                    let args: Vec<Lanes> = params.map(|p| lanes(&mut random, p.ty, profile)).collect();
                    agree(&program, &ordered, &placed, &args);
                }
            }
            Err(errors) => {
                rejected += 1;
                assert!(errors.iter().all(|e| e.code == rake_ir::diag::Code::OutOfRegisters), "{errors:?}");
            }
        }
    }
    assert!(accepted > 700, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn each_operation_keeps_its_meaning() {
    let mut random = Random(2);
    for profile in PROFILES {
        for (name, operands, to) in OPERATIONS {
            let fused = ["fma", "mul_add", "mul_sub", "neg_mul_add", "neg_mul_sub"].contains(name);
            if fused && !profile.info().fma || !lowered(name, profile) {
                continue;
            }
            let (mut params, mut body, mut args) = (Vec::new(), String::new(), Vec::new());
            for (n, letter) in operands.split_whitespace().enumerate() {
                let kind = match letter {
                    "#" => {
                        args.push("9".to_string());
                        continue;
                    }
                    "n" => "<u32>",
                    letter => ty(letter),
                };
                params.push(format!("p{n}: {kind}"));
                let _ = writeln!(body, "%{n} : {kind} = param {n}");
                args.push(format!("%{n}"));
            }
            let text = format!(
                "scratch f({}) -> {} {{\n{body}{}%9 : {} = {name} {}\n{}return %9\n}}",
                params.join(", "),
                ty(to),
                if fused { "region {\n" } else { "" },
                ty(to),
                args.join(", "),
                if fused { "}\n" } else { "" },
            );
            let program = dump(profile, &text);
            let (ordered, placed) = finish(&program).unwrap();
            for _ in 0..64 {
                let params = program.functions[0].params.iter();
                let args: Vec<Lanes> = params.map(|p| lanes(&mut random, p.ty, profile)).collect();
                agree(&program, &ordered, &placed, &args);
            }
        }
    }
}
