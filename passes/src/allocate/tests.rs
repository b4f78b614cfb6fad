//! Random straight lines: what fits is allocated, what is allocated means the same.

use super::attempt;
use crate::pressure::{Body, fits, peak};
use crate::schedule::{self, orders};
use rake_ir::profile::Profile;
use rake_ir::{allocated, selected};
use std::fmt::Write as _;

/// Numerical Recipes' linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// A `selected` dump of random instructions; `window` is how far back operands reach, and so how much is live.
fn line(random: &mut Random, profile: Profile, size: usize, window: usize) -> String {
    let mut text = format!("rake selected 1\nprofile {profile}\nfuse full\nscratch f(");
    for n in 0..4 {
        let _ = write!(text, "{}p{n}: f32s = v{n}", if n == 0 { "" } else { ", " });
    }
    text += ") -> f32s = v0 {\n";
    for n in 0..6 {
        let _ = writeln!(text, "literal {n} = 0x0000{:02x}3f", 16 * n);
    }
    for n in 0..6 {
        let _ = writeln!(text, "%{} : v = load literal {n}", 4 + n);
    }
    let first = 10;
    for n in first..first + size {
        let mut value = || match random.below(5) {
            0 => format!("%{}", 4 + random.below(6)),
            _ => format!("%{}", if n == first { random.below(4) } else { n - 1 - random.below(window.min(n - first)) }),
        };
        let (a, b, c) = (value(), value(), value());
        let fma = profile.info().fma;
        let text_of = match random.below(if fma { 7 } else { 5 }) {
            0 => format!("addps {a}, {b}"),
            1 => format!("subps {a}, {b}"),
            2 => format!("mulps {a}, {b}"),
            3 => format!("sqrtps {a}"),
            4 => format!("andnps {a}, {b}"),
            5 => format!("fmadd213ps {a}, {b}, {c}"),
            _ => format!("fnmsub213ps {a}, {b}, {c}"),
        };
        let _ = writeln!(text, "%{n} : v = {text_of}");
    }
    // Everything in the window is still needed at the end.
    let mut last = first + size - 1;
    for back in 1..window.min(size) {
        let _ = writeln!(text, "%{} : v = subps %{last}, %{}", last + 1, first + size - 1 - back);
        last += 1;
    }
    let _ = writeln!(text, "return %{last}\n}}");
    text
}

#[test]
fn what_fits_is_allocated_and_means_the_same() {
    let mut random = Random(7);
    let (mut fitted, mut not) = (0, 0);
    for round in 0..600 {
        let profile = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512][round % 3];
        let window = 1 + random.below(20);
        let size = 1 + random.below(60);
        let text = line(&mut random, profile, size, window);
        let program = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        selected::check(&program).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        let f = &program.functions[0];
        let body = Body::new(f, profile);
        let candidates = [vec![body.source.clone()], orders::candidates(&body)].concat();
        assert_eq!(candidates.len(), 6);
        for order in candidates {
            let room = fits(peak(&body.needs(&order)), profile);
            let done = attempt(&body, &order);
            assert_eq!(done.is_some(), room, "{text}");
            let Some(done) = done else {
                not += 1;
                continue;
            };
            fitted += 1;
            let inputs: Vec<_> = (0..4u32).map(|n| [0x3f80_0000 + n * 0x0012_3456; 16]).collect();
            let bits = allocated::eval(&done, profile, &inputs);
            // Which of two NaNs goes on depends on the form.
            let expected = selected::eval(f, profile, &inputs).unwrap();
            let got = bits.unwrap();
            let lanes = profile.info().rack_bits as usize / 32;
            let nan = |x: u32| f32::from_bits(x).is_nan();
            let same = |lane: usize| got[lane] == expected[lane] || nan(got[lane]) && nan(expected[lane]);
            let placed = allocated::Program { profile, fuse: program.fuse, functions: vec![done] };
            allocated::check(&placed).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
            let tainted = (0..lanes).any(|lane| nan(got[lane]));
            assert!(tainted || (0..lanes).all(same), "{text}\n{}", allocated::print(&placed));
        }
    }
    assert!(fitted > 1000 && not > 100, "{fitted} fitted, {not} did not");
}

/// Sums of the parameters, each read early and late, so that all are live at once in every order.
fn late_sums(random: &mut Random, profile: Profile, sums: usize) -> String {
    let mut text = format!("rake selected 1\nprofile {profile}\nfuse full\nscratch f(");
    for n in 0..8 {
        let _ = write!(text, "{}p{n}: f32s = v{n}", if n == 0 { "" } else { ", " });
    }
    text += ") -> f32s = v0 {\n";
    let mut next = 8;
    let mut line = |what: String| {
        let _ = writeln!(text, "%{next} : v = {what}");
        next += 1;
        next - 1
    };
    let (a, b): (Vec<usize>, Vec<usize>) = (0..sums).map(|_| (random.below(8), random.below(8))).unzip();
    let made: Vec<usize> = (0..sums).map(|n| line(format!("addps %{}, %{}", a[n], b[n]))).collect();
    let mut last = made[0];
    for &sum in made.iter().chain(&made) {
        last = line(format!("subps %{last}, %{sum}"));
    }
    for param in 0..8 {
        last = line(format!("subps %{last}, %{param}"));
    }
    let _ = writeln!(text, "return %{last}\n}}");
    text
}

#[test]
fn what_is_computed_again_means_the_same() {
    let mut random = Random(5);
    for round in 0..60 {
        let profile = [Profile::X86Sse2, Profile::X86Avx2][round % 2];
        let text = late_sums(&mut random, profile, 9 + round / 2);
        let program = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        let f = &program.functions[0];
        let body = Body::new(f, profile);
        let orders = [vec![body.source.clone()], orders::candidates(&body)].concat();
        assert!(orders.iter().all(|order| attempt(&body, order).is_none()), "{text}");
        // Eight parameters, a sum and the total fit whatever else there is.
        let done = super::function(f, profile).unwrap_or_else(|e| panic!("{text}\n{}", e.message));
        let inputs: Vec<_> = (0..8u32).map(|n| [0x3f80_0000 + n * 0x0012_3456; 16]).collect();
        let lanes = profile.info().rack_bits as usize / 32;
        let got = allocated::eval(&done, profile, &inputs).unwrap();
        assert_eq!(got[..lanes], selected::eval(f, profile, &inputs).unwrap()[..lanes], "{text}");
        let placed = allocated::Program { profile, fuse: program.fuse, functions: vec![done] };
        allocated::check(&placed).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    }
}

#[test]
fn schedule_keeps_meaning_and_makes_what_it_must_fit_or_cheaper() {
    let mut random = Random(11);
    let mut moved = 0;
    for round in 0..200 {
        let profile = [Profile::X86Sse2, Profile::X86Avx2][round % 2];
        let text = line(&mut random, profile, 40, 18);
        let program = selected::read(&text).unwrap();
        let ordered = schedule::run(&program);
        selected::check(&ordered).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        let before = Body::new(&program.functions[0], profile);
        let after = Body::new(&ordered.functions[0], profile);
        let (source, best) = (peak(&before.needs(&before.source)), peak(&after.needs(&after.source)));
        assert_eq!(before.source.len(), after.source.len());
        if fits(source, profile) {
            let instructions = |body: &Body| attempt(body, &body.source).map(|f| f.insts.len()).unwrap();
            assert!(instructions(&after) <= instructions(&before), "{text}");
        } else {
            assert!(best <= source || fits(best, profile));
            moved += usize::from(best < source);
        }
        let inputs: Vec<_> = (0..4u32).map(|n| [0x3f80_0000 + n * 0x0012_3456; 16]).collect();
        let run = |f| selected::eval(f, profile, &inputs);
        assert_eq!(run(&program.functions[0]), run(&ordered.functions[0]));
    }
    assert!(moved > 0);
}

#[test]
fn numbers_that_do_not_fit_are_called_what_they_are() {
    let mut text =
        "rake selected 1\nprofile x86-avx512\nfuse full\nscratch f(m: mask = v0) -> u32s = v0 {\n".to_string();
    text += "%1 : k = rack_to_mask %0\n";
    (2..22).for_each(|n| text += &format!("%{n} : g = mask_word %1\n"));
    (22..42).for_each(|n| text += &format!("%{n} : v = splat_word %{}\n", n - 20));
    (42..61).for_each(|n| text += &format!("%{n} : v = paddd %{}, %{}\n", if n == 42 { 22 } else { n - 1 }, n - 19));
    text += "return %60\n}\n";
    let program = selected::read(&text).expect("the dump reads back");
    let body = Body::new(&program.functions[0], Profile::X86Avx512);
    let fault = super::reject::diagnostic(&body, &body.source);
    assert_eq!(fault.message, "`f` needs more registers for numbers made of masks than x86-avx512 has");
    let all = format!("{fault:?}");
    let available = crate::pressure::available(Profile::X86Avx512)[crate::pressure::file(rake_ir::machine::Class::G)];
    assert!(all.contains(&format!("needs 20 at once; there are {available}")), "{all}");
    assert!(all.contains("20 numbers made of masks are live at once here"), "{all}");
    assert!(all.contains("live there: 20 without a name of their own"), "{all}");
    assert!(all.contains("a number made of a mask is one register"), "{all}");
}

#[test]
fn what_a_run_has_too_many_of_are_numbers_and_addresses() {
    let mut text = "rake selected 1\nprofile x86-avx512\nfuse full\n".to_string();
    text += "run f(x: address to mut []i32 = g7, x_count: <i32> = g6) {\n";
    (2..22).for_each(|n| text += &format!("%{n} : g = sign_extend %1\n"));
    (22..42).for_each(|n| text += &format!("%{n} : g = sub_long %{}, %{}\n", if n == 22 { 1 } else { n - 1 }, n - 20));
    text += "compare_long %41, 0\ntrap_unless 5\n}\n";
    let program = selected::read(&text).expect("the dump reads back");
    let body = Body::new(&program.functions[0], Profile::X86Avx512);
    let fault = super::reject::diagnostic(&body, &body.source);
    assert_eq!(fault.message, "`f` needs more registers for numbers and addresses than x86-avx512 has");
}
