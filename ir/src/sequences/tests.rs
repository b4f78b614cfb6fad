//! Expected values are mathematics or the 64-bit functions of the C library, not what the sequences gave.

use super::*;
use crate::value::is_nan;

type Sequence = fn(Float<Bits>) -> Float<Bits>;

const INF: f32 = f32::INFINITY;
/// Name, sequence, the function that it stands for, and the most that it may be off, in units of the last place.
type Row = (&'static str, Sequence, fn(f64) -> f64, f64);

const MATHEMATICS: [Row; 4] = [
    ("exp", exp, f64::exp, 1.0),
    ("log", log, f64::ln, 0.9),
    ("log2", log2, f64::log2, 1.5),
    ("tanh", tanh, f64::tanh, 1.34),
];

fn apply(sequence: Sequence, x: f32) -> f32 {
    f32::from_bits(on_bits(sequence, x.to_bits().into()) as u32)
}

fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// The distance of `found` from `exact` in units of the last place of `exact` as an `f32`.
fn error(found: f32, exact: f64) -> f64 {
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    (f64::from(found) - exact).abs() / 2f64.powi(exponent.max(-126) - 23)
}

#[test]
fn special_values_are_the_mathematical_ones() {
    let nan = f32::NAN;
    let least = f32::from_bits(1);
    type Points<'a> = &'a [(f32, f32)];
    let cases: [(&str, Sequence, Points<'_>); 4] = [
        ("exp", exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (89.0, INF), (f32::MAX, INF), (-104.0, 0.0)]),
        ("log", log, &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, nan), (-1.0, nan), (-least, nan)]),
        ("log2", log2, &[(1.0, 0.0), (8.0, 3.0), (0.5, -1.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-2.0, nan)]),
        ("tanh", tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (20.0, 1.0), (-3e38, -1.0)]),
    ];
    for (name, sequence, values) in cases {
        for &(x, expected) in values {
            let found = apply(sequence, x);
            assert!(same(found, expected), "{name} {x:?} is {found:?}, not {expected:?}");
        }
        for payload in [0x7fc0_0000, 0x7f80_0001, 0x7fff_ffff, 0xffc0_0000, 0xff80_0001, 0xffff_ffff] {
            assert!(is_nan(Elem::F32, on_bits(sequence, payload)), "{name} of the NaN {payload:#x}");
        }
    }
    // Every power of two has an exact logarithm, the subnormal ones too.
    for n in -149..128 {
        assert_eq!(apply(log2, 2f64.powi(n) as f32), n as f32);
    }
    // The largest argument with a finite exponential, and its successor.
    assert!(apply(exp, f32::from_bits(0x42b1_7217)).is_finite());
    assert_eq!(apply(exp, f32::from_bits(0x42b1_7218)), INF);
    // Half the least subnormal number is e^-103.97208: results are computed down to there.
    assert_eq!(apply(exp, -103.97), least);
    assert_eq!(apply(exp, -103.98), 0.0);
}

#[test]
fn results_lie_close_to_the_mathematical_ones() {
    for (name, sequence, exact, bound) in MATHEMATICS {
        let mut worst = (0.0, 0.0);
        // A stride without pattern over all bits, so that every exponent occurs.
        for x in (0..300_000u32).map(|n| f32::from_bits(n.wrapping_mul(2_654_435_761))) {
            let (found, expected) = (apply(sequence, x), exact(f64::from(x)));
            if expected.is_nan() || (expected as f32).is_infinite() {
                assert!(same(found, expected as f32), "{name} {x:?} is {found:?}");
                continue;
            }
            let error = error(found, expected);
            if error > worst.0 {
                worst = (error, x);
            }
            assert_eq!(found.is_sign_negative(), expected.is_sign_negative(), "{name} {x:?}");
        }
        assert!(
            worst.0 > 0.4 && worst.0 < bound,
            "{name} is off by {} units of the last place at {:?}",
            worst.0,
            worst.1
        );
    }
}

#[test]
fn the_rounding_sequence_is_the_operation() {
    let halves = (0..64u32).map(|n| (n as f32 / 4.0).to_bits());
    let edges = [0x4aff_ffff, 0x4b00_0000, 0x4b00_0001, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000, 1, 0x0080_0000];
    let bits = halves.chain(edges).flat_map(|x| [x, x | 0x8000_0000]);
    let bits: Vec<u32> = bits.chain((0..100_000).map(|n: u32| n.wrapping_mul(2_654_435_761))).collect();
    let Reference::Lane(reference) = reference(Op::Nearest) else { panic!("no reference") };
    for &x in &bits {
        let (found, expected) = (on_bits(nearest, x.into()), reference(Elem::F32, &Imm::None, &[x.into()]));
        let nan = is_nan(Elem::F32, found) && is_nan(Elem::F32, expected);
        assert!(nan || found == expected, "{x:#x}: {found:#x} {expected:#x}");
    }
}
