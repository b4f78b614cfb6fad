//! Every row is held to its class: exact rows bit for bit on special values and random bits, the others over rationals.

use super::language::Node;
use super::{Class, Ops, Rule, applicable, class_for, constant, pattern, power, rows};
use egg::{ENodeOrVar, PatternAst, Var};
use num_rational::BigRational;
use rake_ir::lane::FuseLevel;
use rake_ir::ops::{Imm, Op};
use rake_ir::reference::{Reference, reference};
use rake_ir::types::{Elem, Ty};
use std::collections::BTreeMap;

const ELEMS: [Elem; 8] = [Elem::F32, Elem::F64, Elem::I32, Elem::U32, Elem::I8, Elem::U8, Elem::I64, Elem::Bool];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Bits worth trying: zeros, units, limits, subnormals, infinities, NaNs, halves; then random ones.
fn special(elem: Elem) -> Vec<u64> {
    let floats = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -7.25, 1e30, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    match elem {
        Elem::Bool => vec![0, 1],
        Elem::F32 => {
            let mut all: Vec<u64> = floats.iter().map(|&f| u64::from((f as f32).to_bits())).collect();
            all.extend([1, 0x8000_0001, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0xff7f_ffff, 0x3f80_0001]);
            all
        }
        Elem::F64 => {
            let mut all: Vec<u64> = floats.iter().map(|f| f.to_bits()).collect();
            all.extend([1, 0xf_ffff_ffff_ffff, 0x10_0000_0000_0000, 0x7fef_ffff_ffff_ffff]);
            all
        }
        _ => {
            let mask = elem.lane_mask();
            [0, 1, 2, 3, 4, 0x7f, mask, mask >> 1, (mask >> 1) + 1, mask - 1, 0x5555_5555_5555_5555 & mask].to_vec()
        }
    }
}

/// One side of a row on bits.
fn bits_of(ast: &PatternAst<Node>, bound: &BTreeMap<Var, u64>) -> u64 {
    let mut values: Vec<u64> = Vec::new();
    for node in ast.iter() {
        let value = match node {
            ENodeOrVar::Var(v) => bound[v],
            ENodeOrVar::ENode(node) => match node.exact() {
                Some(number) => constant::to_bits(number, node.ty.elem()),
                None => {
                    let args: Vec<u64> = node.args.iter().map(|&a| values[usize::from(a)]).collect();
                    let op = node.as_op().expect("an operation");
                    match (reference(op), op) {
                        (Reference::Lane(f), _) => f(node.ty.elem(), &Imm::None, &args),
                        (_, Op::If) => {
                            if args[0] & 1 == 1 {
                                args[1]
                            } else {
                                args[2]
                            }
                        }
                        _ => panic!("{op:?} has no lane reference"),
                    }
                }
            },
        };
        values.push(value);
    }
    *values.last().expect("a term")
}

fn same(elem: Elem, left: u64, right: u64) -> bool {
    let nan = |bits| rake_ir::value::is_nan(elem, bits);
    left == right || (elem.is_float() && nan(left) && nan(right))
}

fn variables(row: &Rule) -> Vec<&'static str> {
    let names = ["?a", "?b", "?c", "?k", "?l", "?m"];
    names.into_iter().filter(|name| row.from.contains(name) || row.to.contains(name)).collect()
}

/// Binds each variable: truths for `?m`, combinable constants for `?k` and `?l`.
fn bind(names: &[&'static str], elem: Elem, pick: &mut impl FnMut(usize) -> u64) -> Option<BTreeMap<Var, u64>> {
    let mut bound = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        let bits = pick(place) & elem.lane_mask();
        let bits = if *name == "?m" { bits & 1 } else { bits };
        if pattern::CONSTANTS.contains(name) && constant::from_bits(bits, elem).is_none() {
            return None;
        }
        bound.insert(pattern::var(name), bits);
    }
    Some(bound)
}

fn result_elem(ast: &PatternAst<Node>, elem: Elem) -> Elem {
    match ast.iter().last() {
        Some(ENodeOrVar::ENode(node)) => node.result().elem(),
        _ => elem,
    }
}

fn exact_row(row: &Rule, elem: Elem) {
    let ty = if elem == Elem::Bool { Ty::Mask(32) } else { Ty::Rack(elem) };
    let (from, to) = (pattern::parse(row.from, ty), pattern::parse(row.to, ty));
    let names = variables(row);
    let mut random = Random(0x1234_5678_9abc_def1);
    let specials = special(elem);
    let compare = |bound: &BTreeMap<Var, u64>| {
        let (left, right) = (bits_of(&from, bound), bits_of(&to, bound));
        assert!(same(result_elem(&from, elem), left, right), "{} on {elem}: {bound:x?} {left:x} {right:x}", row.name);
    };
    let count = specials.len().pow(names.len() as u32);
    for case in 0..count.min(20_000) {
        let mut rest = if count <= 20_000 { case } else { random.next() as usize };
        let pick = &mut |_| {
            let at = rest % specials.len();
            rest /= specials.len();
            specials[at]
        };
        bind(&names, elem, pick).iter().for_each(compare);
    }
    for _ in 0..2000 {
        bind(&names, elem, &mut |_| random.next()).iter().for_each(compare);
    }
}

/// One side of a row over the rationals.
fn rational_of(ast: &PatternAst<Node>, bound: &BTreeMap<Var, BigRational>) -> BigRational {
    let mut values: Vec<BigRational> = Vec::new();
    for node in ast.iter() {
        let value = match node {
            ENodeOrVar::Var(v) => bound[v].clone(),
            ENodeOrVar::ENode(node) => match (node.exact(), node.as_op()) {
                (Some(number), _) => (**number).clone(),
                (None, op) => {
                    let arg = |n: usize| &values[usize::from(node.args[n])];
                    match op {
                        Some(Op::Add) => arg(0) + arg(1),
                        Some(Op::Sub) => arg(0) - arg(1),
                        Some(Op::Mul) => arg(0) * arg(1),
                        Some(Op::Neg) => -arg(0),
                        Some(Op::MulAdd) => arg(0) * arg(1) + arg(2),
                        Some(Op::MulSub) => arg(0) * arg(1) - arg(2),
                        Some(Op::NegMulAdd) => arg(2) - arg(0) * arg(1),
                        Some(Op::NegMulSub) => -(arg(0) * arg(1)) - arg(2),
                        other => panic!("{other:?} is no operation of the ring"),
                    }
                }
            },
        };
        values.push(value);
    }
    values.pop().expect("a term")
}

fn real_row(row: &Rule, elem: Elem) {
    let ty = Ty::Rack(elem);
    let (from, to) = (pattern::parse(row.from, ty), pattern::parse(row.to, ty));
    let mut random = Random(0xfeed_beef_1357_2468);
    for _ in 0..50 {
        let mut draw = || BigRational::new((random.next() as i32).into(), (1 + (random.next() >> 50)).into());
        let bound = variables(row).into_iter().map(|name| (pattern::var(name), draw())).collect();
        assert_eq!(rational_of(&from, &bound), rational_of(&to, &bound), "{}", row.name);
    }
}

/// A row whose sides read different operands would remove one from the program, or make one up.
#[test]
fn rows_read_the_same_operands_on_both_sides() {
    let operands = |text: &'static str| -> std::collections::BTreeSet<&'static str> {
        text.split(['(', ')', ' ']).filter(|word| word.starts_with('?')).collect()
    };
    for row in rows() {
        assert_eq!(operands(row.from), operands(row.to), "{}", row.name);
    }
}

#[test]
fn every_row_holds_what_its_class_says() {
    let mut checked = 0;
    for row in rows() {
        for elem in ELEMS {
            let ty = if elem == Elem::Bool { Ty::Mask(32) } else { Ty::Rack(elem) };
            if !row.on.holds(ty) {
                continue;
            }
            match class_for(row.class, elem) {
                Class::Exact => exact_row(row, elem),
                Class::Contract | Class::Real => real_row(row, elem),
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn the_bit_check_finds_false_rows() {
    let false_rows = [("(add ?a 0)", "?a"), ("(neg (sub ?a ?b))", "(sub ?b ?a)"), ("(sub ?a ?a)", "0")];
    for (from, to) in false_rows {
        let row = super::rule("false", Class::Exact, super::On::Float, from, to);
        assert!(std::panic::catch_unwind(|| exact_row(&row, Elem::F32)).is_err(), "{from}");
    }
}

#[test]
fn powers_of_two_divide_and_shift_bit_for_bit() {
    let mut random = Random(0x0bad_cafe_dead_10cc);
    for elem in [Elem::F32, Elem::F64] {
        let least = if elem == Elem::F32 { 150 } else { 1075 };
        for exponent in -least..least {
            let two = BigRational::from_integer(2.into());
            let divisor = num_traits::Pow::pow(two, exponent);
            let divisor_bits = constant::to_bits(&divisor, elem);
            if constant::from_bits(divisor_bits, elem).as_ref() != Some(&divisor) {
                continue;
            }
            let Some(by) = power::reciprocal(&divisor, Ty::Rack(elem)) else { continue };
            let by = constant::to_bits(&by, elem);
            let (Reference::Lane(div), Reference::Lane(mul)) = (reference(Op::Div), reference(Op::Mul)) else {
                panic!()
            };
            for x in special(elem).into_iter().chain((0..20).map(|_| random.next() & elem.lane_mask())) {
                let (left, right) = (div(elem, &Imm::None, &[x, divisor_bits]), mul(elem, &Imm::None, &[x, by]));
                assert!(same(elem, left, right), "{x:x} / 2^{exponent}");
            }
        }
    }
    for elem in [Elem::I8, Elem::U8, Elem::I32, Elem::U32] {
        for bits in special(elem) {
            let Some(factor) = constant::from_bits(bits, elem) else { continue };
            if num_traits::Zero::is_zero(&factor) {
                continue;
            }
            let Some(count) = power::shift_count(&factor, Ty::Rack(elem)) else { continue };
            let (Reference::Lane(shift), Reference::Lane(mul)) = (reference(Op::ShiftBitsLeft), reference(Op::Mul))
            else {
                panic!()
            };
            for x in special(elem) {
                assert_eq!(shift(elem, &Imm::Int(count), &[x]), mul(elem, &Imm::None, &[x, bits]), "{x:x} * {bits:x}");
            }
        }
    }
}

#[test]
fn levels_admit_their_classes() {
    assert!(Class::Exact.allowed(FuseLevel::Exact) && !Class::Contract.allowed(FuseLevel::Exact));
    assert!(Class::Contract.allowed(FuseLevel::Contract) && !Class::Real.allowed(FuseLevel::Contract));
    assert!(Class::Real.allowed(FuseLevel::Full));
}

#[test]
fn every_type_compiles_and_names_are_unique() {
    let mut names: Vec<_> = rows().map(|row| row.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "a name stands twice");
    let masks = [8, 16, 32, 64].map(Ty::Mask);
    for ty in Elem::ALL.into_iter().flat_map(|e| [Ty::Rack(e), Ty::Uniform(e)]).chain(masks) {
        if ty != Ty::Rack(Elem::Bool) {
            let mut all = Ops::default();
            rake_ir::ops::OPS.iter().for_each(|row| all.insert(row.op));
            assert!(!applicable(ty, all, |_, _| true).is_empty(), "{ty}");
        }
    }
}
