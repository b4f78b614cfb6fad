//! Expected values are derived by hand or from IEEE 754, not from these functions.

use super::*;
use crate::types::Ty;

fn lane(op: Op, elem: Elem, args: &[u64]) -> u64 {
    with(op, elem, &Imm::None, args)
}

fn with(op: Op, elem: Elem, imm: &Imm, args: &[u64]) -> u64 {
    match reference(op) {
        Reference::Lane(f) => f(elem, imm, args),
        other => panic!("{op:?} is {other:?}"),
    }
}

fn f(op: Op, args: &[f32]) -> u32 {
    let bits: Vec<u64> = args.iter().map(|v| u64::from(v.to_bits())).collect();
    lane(op, Elem::F32, &bits) as u32
}

fn rack(op: Op, imm: &Imm, ty: Ty, types: &[Ty], args: &[&Lanes]) -> Lanes {
    match reference(op) {
        Reference::Rack(g) => g(&RackCall { imm, ty, types, args }),
        other => panic!("{op:?} is {other:?}"),
    }
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

#[test]
fn minimum_and_maximum_are_ieee_2019() {
    for (a, b) in [(NAN, 1.0), (1.0, NAN), (NAN, -INF)] {
        assert_eq!(f(Op::Min, &[a, b]), 0x7fc0_0000);
        assert_eq!(f(Op::Max, &[a, b]), 0x7fc0_0000);
    }
    assert_eq!(f(Op::Min, &[2.0, 3.0]), 0x4000_0000);
    assert_eq!(f(Op::Max, &[2.0, 3.0]), 0x4040_0000);
    for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
        assert_eq!(f(Op::Min, &[a, b]), 0x8000_0000);
        assert_eq!(f(Op::Max, &[a, b]), 0);
    }
    assert_eq!(f(Op::Min, &[1e-45, 0.0]), 0);
    assert_eq!(lane(Op::Min, Elem::U32, &[0x8000_0000, 0x7fff_ffff]), 0x7fff_ffff);
    assert_eq!(lane(Op::Max, Elem::U32, &[0x8000_0000, 0x7fff_ffff]), 0x8000_0000);
    assert_eq!(lane(Op::Min, Elem::I32, &[0x8000_0000, 0x7fff_ffff]), 0x8000_0000);
}

#[test]
fn comparisons_beside_a_nan_are_false() {
    let against_one = |op| [NAN, 0.0, 1.0, 2.0].map(|x| f(op, &[x, 1.0]));
    assert_eq!(against_one(Op::Lt), [0, 1, 0, 0]);
    assert_eq!(against_one(Op::Ge), [0, 0, 1, 1]);
    assert_eq!(against_one(Op::Le), [0, 1, 1, 0]);
    assert_eq!(against_one(Op::Gt), [0, 0, 0, 1]);
    assert_eq!(against_one(Op::Eq), [0, 0, 1, 0]);
    assert_eq!(against_one(Op::Ne), [0, 1, 0, 1]);
    assert_eq!([NAN, 0.0, 1.0].map(|x| f(Op::Ne, &[x, x])), [0, 0, 0]);
    assert_eq!(f(Op::Eq, &[0.0, -0.0]), 1);
    assert_eq!(f(Op::Gt, &[1e-45, 0.0]), 1);
    assert_eq!(lane(Op::Gt, Elem::U32, &[0x8000_0000, 0x7fff_ffff]), 1);
    assert_eq!(lane(Op::Gt, Elem::I32, &[0x8000_0000, 0x7fff_ffff]), 0);
    assert_eq!(lane(Op::Lt, Elem::I8, &[0x80, 0x7f]), 1);
}

#[test]
fn conversions_saturate_and_round_to_even() {
    let cases: [(f32, i32); 11] = [
        (3e9, 2147483647),
        (2147483648.0, 2147483647),
        (2147483520.0, 2147483520),
        (-2147483648.0, -2147483648),
        (-INF, -2147483648),
        (INF, 2147483647),
        (NAN, 0),
        (2.5, 2),
        (3.5, 4),
        (-2.5, -2),
        (0.49999997, 0),
    ];
    for (x, expected) in cases {
        assert_eq!(f(Op::ToI32, &[x]), expected as u32, "{x}");
    }
    let cases: [(f32, u32); 6] =
        [(3e9, 3000000000), (5e9, u32::MAX), (-1.0, 0), (-0.5, 0), (NAN, 0), (4294967040.0, 4294967040)];
    for (x, expected) in cases {
        assert_eq!(f(Op::ToU32, &[x]), expected, "{x}");
    }
    // 2^24 + 1 is a tie between 2^24 and 2^24 + 2; the even significand is 2^24's.
    assert_eq!(lane(Op::ToF32, Elem::I32, &[16777217]), 0x4b80_0000);
    assert_eq!(lane(Op::ToF32, Elem::U32, &[0xffff_ffff]), 0x4f80_0000);
    assert_eq!(lane(Op::ToF32, Elem::I32, &[0xffff_ffff]), 0xbf80_0000);
}

#[test]
fn rounding_keeps_the_sign_of_zero() {
    let cases: [(Op, f32, f32); 15] = [
        (Op::Nearest, 8388609.0, 8388609.0),
        (Op::Nearest, 8388687.0, 8388687.0),
        (Op::Nearest, 4194304.5, 4194304.0),
        (Op::Nearest, 0.5, 0.0),
        (Op::Nearest, 2.5, 2.0),
        (Op::Nearest, -0.2, -0.0),
        (Op::Nearest, 3e9, 3e9),
        (Op::Floor, 105.0, 105.0),
        (Op::Floor, -5.9e-41, -1.0),
        (Op::Floor, -0.0, -0.0),
        (Op::Ceil, 5.9e-41, 1.0),
        (Op::Ceil, -0.9, -0.0),
        (Op::Ceil, 104.0, 104.0),
        (Op::Trunc, -0.9, -0.0),
        (Op::Trunc, -3e9, -3e9),
    ];
    for (op, x, expected) in cases {
        assert_eq!(f(op, &[x]), expected.to_bits(), "{op:?} {x}");
    }
}

#[test]
fn integers_wrap() {
    let min = 0x8000_0000;
    assert_eq!([min, 0x8000_0001, 0xffff_ffff, 0].map(|x| lane(Op::Abs, Elem::I32, &[x])), [min, 0x7fff_ffff, 1, 0]);
    assert_eq!([min, 0x8000_0001, 0xffff_ffff, 0].map(|x| lane(Op::Neg, Elem::I32, &[x])), [min, 0x7fff_ffff, 1, 0]);
    assert_eq!(lane(Op::Sub, Elem::U32, &[0, 5]), 0xffff_fffb);
    assert_eq!(lane(Op::Lt, Elem::U32, &[lane(Op::Sub, Elem::U32, &[4, 5]), 3]), 0);
    assert_eq!(lane(Op::Lt, Elem::U32, &[lane(Op::Sub, Elem::U32, &[7, 5]), 3]), 1);
    assert_eq!(lane(Op::Mul, Elem::U16, &[0xffff, 0xffff]), 1);
    assert_eq!(lane(Op::Add, Elem::I8, &[0x7f, 1]), 0x80);
    assert_eq!(lane(Op::Add, Elem::U64, &[u64::MAX, 2]), 1);
    assert_eq!(lane(Op::BitAndNot, Elem::U8, &[0b1111, 0b0101]), 0b1010);
}

#[test]
fn shift_counts_are_modulo_the_width() {
    let counts = [0, 31, 32, 33, 64, 0x80, 0xffff_ffff];
    let shift = |op, x| counts.map(|n| lane(op, Elem::U32, &[x, n]));
    assert_eq!(shift(Op::ShiftBitsLeft, 1), [1, 0x8000_0000, 1, 2, 1, 1, 0x8000_0000]);
    let x = 0x8000_0001;
    assert_eq!(shift(Op::ShiftBitsRight, x), [x, 1, x, 0x4000_0000, x, x, 1]);
    assert_eq!(shift(Op::ShiftBitsRightSigned, x), [x, 0xffff_ffff, x, 0xc000_0000, x, x, 0xffff_ffff]);
    assert_eq!(with(Op::ShiftBitsLeft, Elem::U8, &Imm::Int(7), &[3]), 0x80);
    assert_eq!(with(Op::ShiftBitsRightSigned, Elem::I16, &Imm::Int(4), &[0x8000]), 0xf800);
}

#[test]
fn division_is_correctly_rounded_and_subnormals_stay() {
    assert_eq!(f(Op::Div, &[1.0, 0.0]), 0x7f80_0000);
    assert_eq!(f(Op::Div, &[1.0, -0.0]), 0xff80_0000);
    assert_eq!(f(Op::Div, &[1.0, INF]), 0);
    assert_eq!(f(Op::Div, &[3e38, 1e-40]), 0x7f80_0000);
    assert_eq!(f(Op::Div, &[1e-40, 3e38]), 0);
    assert_eq!(f(Op::Div, &[1.0, 3.0]), 0x3eaa_aaab);
    assert_eq!(f(Op::Div, &[0.0, 0.0]), 0x7fc0_0000);
    assert_eq!(f(Op::Mul, &[1e-40, 0.5]), 0x0000_8b61);
    assert_eq!(f(Op::Mul, &[1.175_494_4e-38, 0.5]), 0x0040_0000);
    assert_eq!(f(Op::Add, &[1e-45, 1e-45]), 2);
    assert_eq!(f(Op::Sqrt, &[-0.0]), 0x8000_0000);
    assert_eq!(f(Op::Sqrt, &[-1.0]), 0x7fc0_0000);
}

#[test]
fn multiply_adds_round_once_with_all_signs() {
    // The exact square of 0.1f32 lies below its rounding by 4.0978193e-10.
    let x = 0.1f32;
    let p = x * x;
    assert_eq!(f(Op::MulSub, &[x, x, p]), (-4.0978193e-10f32).to_bits());
    assert_eq!(f(Op::Fma, &[x, x, -p]), (-4.0978193e-10f32).to_bits());
    assert_eq!(f(Op::NegMulAdd, &[x, x, p]), 4.0978193e-10f32.to_bits());
    assert_eq!(f(Op::MulAdd, &[2.0, 3.0, 4.0]), 10.0f32.to_bits());
    assert_eq!(f(Op::MulSub, &[2.0, 3.0, 4.0]), 2.0f32.to_bits());
    assert_eq!(f(Op::NegMulAdd, &[2.0, 3.0, 4.0]), (-2.0f32).to_bits());
    assert_eq!(f(Op::NegMulSub, &[2.0, 3.0, 4.0]), (-10.0f32).to_bits());
    let double = |v: f64| v.to_bits();
    assert_eq!(lane(Op::Fma, Elem::F64, &[2.0, 3.0, 4.0].map(double)), double(10.0));
}

#[test]
fn sign_operations_move_bits_of_nans_too() {
    assert_eq!(lane(Op::Neg, Elem::F32, &[0x7f80_0001]), 0xff80_0001);
    assert_eq!(lane(Op::Abs, Elem::F32, &[0xffc0_1234]), 0x7fc0_1234);
    assert_eq!(lane(Op::Neg, Elem::F64, &[0]), 1 << 63);
}

#[test]
fn lanes_move_by_index() {
    let u = Ty::Rack(Elem::U32);
    let a = Lanes::new(0..8);
    let b = Lanes::new(8..16);
    let one = |op, imm: &Imm| rack(op, imm, u, &[u], &[&a]).bits().to_vec();
    let two = |op, imm: &Imm| rack(op, imm, u, &[u, u], &[&a, &b]).bits().to_vec();
    let picks = |p: &[u16]| Imm::Lanes(p.into());
    assert_eq!(one(Op::Shuffle, &picks(&[7, 6, 5, 4, 3, 2, 1, 0])), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(one(Op::Shuffle, &picks(&[4, 5, 6, 7, 0, 1, 2, 3])), [4, 5, 6, 7, 0, 1, 2, 3]);
    assert_eq!(two(Op::Shuffle, &picks(&[0, 8, 1, 9, 2, 10, 3, 11])), [0, 8, 1, 9, 2, 10, 3, 11]);
    assert_eq!(two(Op::ZipLow, &Imm::None), [0, 8, 1, 9, 2, 10, 3, 11]);
    assert_eq!(two(Op::ZipHigh, &Imm::None), [4, 12, 5, 13, 6, 14, 7, 15]);
    assert_eq!(two(Op::UnzipEven, &Imm::None), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(two(Op::UnzipOdd, &Imm::None), [1, 3, 5, 7, 9, 11, 13, 15]);
    assert_eq!(one(Op::ShiftLeft, &Imm::Int(3)), [3, 4, 5, 6, 7, 0, 0, 0]);
    assert_eq!(one(Op::ShiftRight, &Imm::Int(3)), [0, 0, 0, 0, 1, 2, 3, 4]);
    assert_eq!(one(Op::RotateLeft, &Imm::Int(3)), [3, 4, 5, 6, 7, 0, 1, 2]);
    assert_eq!(one(Op::RotateRight, &Imm::Int(3)), [5, 6, 7, 0, 1, 2, 3, 4]);
    assert_eq!(one(Op::RotateRight, &Imm::Int(8)), [0, 1, 2, 3, 4, 5, 6, 7]);
    let uniform = Ty::Uniform(Elem::U32);
    assert_eq!(rack(Op::Extract, &Imm::Int(5), uniform, &[u], &[&a]).bits(), [5]);
    let nine = Lanes::uniform(9);
    assert_eq!(rack(Op::Insert, &Imm::Int(1), u, &[u, uniform], &[&a, &nine]).bits(), [0, 9, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn resizing_keeps_the_order() {
    let (u8s, i16s, i32s) = (Ty::Rack(Elem::U8), Ty::Rack(Elem::I16), Ty::Rack(Elem::I32));
    let bytes = Lanes::new(200..208);
    assert_eq!(rack(Op::WidenLow, &Imm::None, i16s, &[u8s], &[&bytes]).bits(), [200, 201, 202, 203]);
    assert_eq!(rack(Op::WidenHigh, &Imm::None, i16s, &[u8s], &[&bytes]).bits(), [204, 205, 206, 207]);
    let wide = Lanes::ints(Elem::I32, &[40000, -40000]);
    let other = Lanes::ints(Elem::I32, &[-1, 7]);
    let narrow = rack(Op::Narrow, &Imm::None, i16s, &[i32s, i32s], &[&wide, &other]);
    assert_eq!(narrow.bits(), [0x7fff, 0x8000, 0xffff, 7]);
    // Twice (-32768)^2 is 2^31, which wraps to the minimum.
    let least = Lanes::ints(Elem::I16, &[-32768, -32768, 3, -4]);
    assert_eq!(rack(Op::Dot, &Imm::None, i32s, &[i16s, i16s], &[&least, &least]).bits(), [0x8000_0000, 25]);
    let words = Lanes::new([0x0403_0201, 0x0807_0605]);
    let cast = rack(Op::Bitcast, &Imm::None, u8s, &[Ty::Rack(Elem::U32)], &[&words]);
    assert_eq!(cast.bits(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let back = rack(Op::Bitcast, &Imm::None, Ty::Rack(Elem::U32), &[u8s], &[&cast]);
    assert_eq!(back, words);
}

#[test]
fn reductions_fold_in_lane_order() {
    let (ty, uniform) = (Ty::Rack(Elem::F32), Ty::Uniform(Elem::F32));
    for lanes in [4, 8, 16] {
        let mut x = vec![1.0; lanes];
        x[0] = 16777216.0;
        let sum = rack(Op::Sum, &Imm::None, uniform, &[ty], &[&Lanes::f32s(&x)]);
        assert_eq!(sum, Lanes::f32s(&[16777216.0]));
    }
    let scan = rack(Op::ScanSum, &Imm::None, ty, &[ty], &[&Lanes::f32s(&[3e38, 3e38, -3e38, 1.0])]);
    assert_eq!(scan, Lanes::f32s(&[3e38, INF, INF, INF]));
    let least = rack(Op::ScanMinimum, &Imm::None, ty, &[ty], &[&Lanes::f32s(&[0.0, -0.0, 5.0, NAN])]);
    assert_eq!(least.bits(), [0, 0x8000_0000, 0x8000_0000, 0x7fc0_0000]);
    let odd_nan = Lanes::new([0xffc0_0007, 0x3f80_0000]);
    let greatest = rack(Op::Maximum, &Imm::None, uniform, &[ty], &[&odd_nan]);
    assert_eq!(greatest.bits(), [0x7fc0_0000]);
    let (i32s, iu) = (Ty::Rack(Elem::I32), Ty::Uniform(Elem::I32));
    let product = rack(Op::Product, &Imm::None, iu, &[i32s], &[&Lanes::ints(Elem::I32, &[65536, 65536, 1, -1])]);
    assert_eq!(product.bits(), [0]);
}

#[test]
fn masks_reduce_and_pack() {
    let (mask, u) = (Ty::Mask(32), Ty::Rack(Elem::U32));
    let m = Lanes::truths(&[true, false, true, true]);
    assert_eq!(rack(Op::Bitmask, &Imm::None, Ty::Uniform(Elem::U32), &[mask], &[&m]).bits(), [0b1101]);
    assert_eq!(rack(Op::All, &Imm::None, Ty::TRUTH, &[mask], &[&m]).bits(), [0]);
    assert_eq!(rack(Op::Any, &Imm::None, Ty::TRUTH, &[mask], &[&m]).bits(), [1]);
    let (x, p) = (Lanes::new(10..14), Lanes::new(20..24));
    assert_eq!(rack(Op::Compress, &Imm::None, u, &[mask, u], &[&m, &x]).bits(), [10, 12, 13, 0]);
    assert_eq!(rack(Op::Expand, &Imm::None, u, &[mask, u, u], &[&m, &x, &p]).bits(), [10, 21, 11, 12]);
}

#[test]
fn every_row_agrees_with_its_arity() {
    // Each lane function reads no more operands than its row's most, each rack function than its row's least.
    for row in crate::ops::OPS {
        let args = vec![1u64; row.arity.1.into()];
        match reference(row.op) {
            Reference::Lane(g) => {
                for elem in Elem::ALL {
                    assert!(g(elem, &Imm::None, &args) <= elem.lane_mask().max(u64::from(u32::MAX)), "{}", row.name);
                }
            }
            Reference::Rack(g) => {
                let rack = Lanes::splat(1, 4);
                let types = vec![Ty::Rack(Elem::U32); args.len()];
                let racks = vec![&rack; row.arity.0.into()];
                let call = RackCall { imm: &Imm::None, ty: Ty::Rack(Elem::U32), types: &types, args: &racks };
                assert!(!g(&call).is_empty(), "{}", row.name);
            }
            Reference::Structural | Reference::None => {}
        }
    }
}
