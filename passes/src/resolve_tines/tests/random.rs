//! Random rakes over four mask parameters, decided by trying all sixteen assignments.

use crate::frontend_testing::{SSE2, lowered};
use rake_ir::diag::Code;
use rake_ir::tined;
use rake_ir::value::Lanes;
use std::collections::BTreeSet;

/// A small generator of numbers; the same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// A mask: its text, and the assignments under which it holds, a bit each.
#[derive(Clone)]
struct Mask {
    text: String,
    holds: u16,
}

/// Where parameter `k` holds: assignment `n` gives it bit `k` of `n`.
const PARAMETERS: [u16; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

fn formula(random: &mut Random, known: &[Mask], depth: usize) -> Mask {
    if depth == 0 || random.below(4) == 0 {
        return known[random.below(known.len())].clone();
    }
    let mut part = || formula(random, known, depth - 1);
    let (a, b, c) = (part(), part(), part());
    let (ta, tb, tc) = (a.text, b.text, c.text);
    let (text, holds) = match random.below(5) {
        0 => (format!("({ta} and {tb})"), a.holds & b.holds),
        1 => (format!("({ta} or {tb})"), a.holds | b.holds),
        2 => (format!("(not {ta})"), !a.holds),
        3 => (format!("({ta} gaps)"), !a.holds),
        _ => (format!("(if {ta} then {tb} else {tc})"), a.holds & b.holds | !a.holds & c.holds),
    };
    Mask { text, holds }
}

/// What an arm gives: its text, where its value is defined, and its value beside x = 3, y = 5, r = sqrt(x + y + 1) = 3.
fn value(random: &mut Random, tines: &[Mask], block: &Mask) -> (String, u16, f32) {
    let inside = &tines[random.below(tines.len())];
    match random.below(5) {
        0 => ("x".into(), u16::MAX, 3.0),
        1 => ("x / y".into(), u16::MAX, 3.0 / 5.0),
        2 => ("r".into(), block.holds, 3.0),
        3 => ("r * y".into(), block.holds, 15.0),
        // The same number both ways, so that the assignment decides only what is read.
        _ => (format!("if {} then r + x else x + x", inside.text), !inside.holds | block.holds, 6.0),
    }
}

/// A rake of random arms; the codes that it must be refused with, and its result by assignment.
fn rake(random: &mut Random) -> (String, BTreeSet<&'static str>, [f32; 16]) {
    let mut known: Vec<Mask> =
        (0..4).map(|k| Mask { text: ["a", "b", "c", "d"][k].into(), holds: PARAMETERS[k] }).collect();
    let mut text = String::from("rake f(x: f32s, y: f32s, a: mask, b: mask, c: mask, d: mask) -> f32s:\n");
    for tine in 0..3 {
        let Mask { text: predicate, holds } = formula(random, &known, 2);
        text.push_str(&format!("  tine #t{tine} means {predicate}\n"));
        known.push(Mask { text: format!("#t{tine}"), holds });
    }
    let block = formula(random, &known, 1);
    text.push_str(&format!("  through {} into r:\n    sqrt(x + y + 1.0)\n  sweep:\n", block.text));
    let (mut left, mut codes, mut results) = (u16::MAX, BTreeSet::new(), [f32::NAN; 16]);
    let arms = 1 + random.below(4);
    for arm in 0..arms {
        let last = arm + 1 == arms && random.below(4) > 0;
        let predicate = formula(random, &known, 2);
        let (value, defined, number) = value(random, &known, &block);
        let predicate = if last { Mask { text: "_".into(), holds: u16::MAX } } else { predicate };
        text.push_str(&format!("    | {} => {value}\n", predicate.text));
        let lanes = left & predicate.holds;
        left &= !predicate.holds;
        if lanes == 0 {
            codes.insert(Code::UnreachableArm.as_str());
        }
        if lanes & !defined != 0 {
            codes.insert(Code::UndefinedLanes.as_str());
        }
        (0..16).filter(|n| lanes >> n & 1 == 1).for_each(|n| results[n] = number);
    }
    if left != 0 {
        codes.insert(Code::NotCovered.as_str());
    }
    (text, codes, results)
}

#[test]
fn decisions_agree_with_all_assignments() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut accepted, mut refused) = (0, BTreeSet::new());
    for _ in 0..400 {
        let (text, codes, results) = rake(&mut random);
        match crate::resolve_tines::run(&lowered(&text, SSE2)) {
            Err(faults) => {
                let found: BTreeSet<&str> = faults.iter().map(|fault| fault.code.as_str()).collect();
                assert_eq!(found, codes, "{text}\n{faults:#?}");
                refused.extend(found);
            }
            Ok(program) => {
                assert_eq!(codes, BTreeSet::new(), "{text}");
                assert_eq!(tined::check(&program), Ok(()), "{text}");
                accepted += 1;
                for four in 0..4 {
                    let mask =
                        |k: usize| Lanes::truths(&[0, 1, 2, 3].map(|lane| PARAMETERS[k] >> (4 * four + lane) & 1 == 1));
                    let args = [Lanes::f32s(&[3.0; 4]), Lanes::f32s(&[5.0; 4]), mask(0), mask(1), mask(2), mask(3)];
                    let expected = Lanes::f32s(&results[4 * four..4 * four + 4]);
                    let found = tined::eval(&program, "f", &args);
                    assert_eq!(found, Ok(expected), "{text}\n{}", tined::print(&program));
                }
            }
        }
    }
    assert!(accepted > 40 && refused.len() == 3, "{accepted} accepted, {refused:?}");
}
