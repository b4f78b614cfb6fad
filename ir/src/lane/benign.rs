//! Which operands are benign: operands on which an operation raises no floating-point flag.

use crate::ops::{Imm, LaneRule, Op};
use crate::reference::Reference;
use crate::types::Elem;
use crate::value::{is_nan, to_i128};

/// The benign operands that an operation over operands of this element needs in inactive lanes; `None` when it raises
/// no floating-point flag.
pub fn needs_benign(op: Op, operand: Elem, result: Elem) -> Option<&'static [f64]> {
    match op.info().lane {
        LaneRule::Sanitise(benign) if operand.is_float() || result.is_float() => Some(benign),
        _ => None,
    }
}

/// The bits of the benign number `value` in an element.
pub fn benign_bits(elem: Elem, value: f64) -> u64 {
    match elem {
        Elem::F32 => u64::from((value as f32).to_bits()),
        Elem::F64 => value.to_bits(),
        _ => value as i64 as u64 & elem.lane_mask(),
    }
}

/// Whether an operation raises no flag on these operands, all of one element: no NaN, no subnormal, no rounding, no range
/// left. May say no where the truth is yes.
pub fn raises_nothing(op: Op, elem: Elem, args: &[u64]) -> bool {
    if !elem.is_float() {
        return op != Op::ToF32 || args.iter().all(|&a| to_i128(elem, a).abs() < 1 << 24);
    }
    if !args.iter().all(|&a| is_normal_or_zero(elem, a)) {
        return false;
    }
    let sum = |a, b| is_exact_sum(elem, a, b);
    let product = |a, b| is_exact_product(elem, a, b);
    match (op, args) {
        (Op::Add, &[a, b]) => sum(a, b),
        (Op::Sub, &[a, b]) => sum(a, apply(Op::Neg, elem, &[b])),
        (Op::Mul, &[a, b]) => product(a, b),
        // a/b is exact when q*b gives back a exactly.
        (Op::Div, &[a, b]) => {
            let q = apply(Op::Div, elem, &[a, b]);
            !is_zero(elem, b) && is_normal_or_zero(elem, q) && product(q, b) && apply(Op::Mul, elem, &[q, b]) == a
        }
        (Op::Sqrt, &[a]) => {
            let root = apply(Op::Sqrt, elem, &[a]);
            is_finite(elem, root) && product(root, root) && apply(Op::Mul, elem, &[root, root]) == a
        }
        (Op::Fma | Op::MulAdd | Op::MulSub | Op::NegMulAdd | Op::NegMulSub, &[a, b, c]) => {
            let p = apply(Op::Mul, elem, &[a, b]);
            product(a, b) && sum(p, c) && sum(p, apply(Op::Neg, elem, &[c]))
        }
        (Op::Min | Op::Max, _) => true,
        (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, _) => true,
        (Op::Floor | Op::Ceil | Op::Trunc | Op::Nearest, &[a]) => apply(op, elem, &[a]) == a,
        // Unsigned numbers take a sequence that may subtract 2^31.
        (Op::ToI32, &[a]) => is_small_integer(elem, a),
        // A sequence is only known to be quiet on its own benign operands.
        (_, _) => match op.info().lane {
            LaneRule::Sanitise(benign) => args.iter().zip(benign).all(|(&a, &b)| a == benign_bits(elem, b)),
            _ => true,
        },
    }
}

/// The result of an operation of the table on one lane.
fn apply(op: Op, elem: Elem, args: &[u64]) -> u64 {
    match op.info().reference {
        Reference::Lane(f) => f(elem, &Imm::None, args),
        _ => 0,
    }
}

fn exponent_bits(elem: Elem, a: u64) -> u64 {
    if elem == Elem::F64 { a >> 52 & 0x7ff } else { a >> 23 & 0xff }
}

fn is_finite(elem: Elem, a: u64) -> bool {
    exponent_bits(elem, a) != if elem == Elem::F64 { 0x7ff } else { 0xff }
}

fn is_zero(elem: Elem, a: u64) -> bool {
    a & elem.lane_mask() >> 1 == 0
}

fn is_normal_or_zero(elem: Elem, a: u64) -> bool {
    is_finite(elem, a) && (exponent_bits(elem, a) != 0 || is_zero(elem, a))
}

/// Knuth's two-sum: the rounding error of a + b, itself computed without error when nothing overflows.
fn is_exact_sum(elem: Elem, a: u64, b: u64) -> bool {
    let add = |a, b| apply(Op::Add, elem, &[a, b]);
    let sub = |a, b| apply(Op::Sub, elem, &[a, b]);
    let s = add(a, b);
    let from_b = sub(s, a);
    let error = add(sub(a, sub(s, from_b)), sub(b, from_b));
    is_finite(elem, s) && is_zero(elem, error)
}

/// a*b is exact when fma(a, b, -(a*b)) is zero and nothing underflows on the way.
fn is_exact_product(elem: Elem, a: u64, b: u64) -> bool {
    if is_zero(elem, a) || is_zero(elem, b) {
        return true;
    }
    let p = apply(Op::Mul, elem, &[a, b]);
    let error = apply(Op::MulSub, elem, &[a, b, p]);
    // Far above the least normal number, so that the error itself is representable.
    let safe = exponent_bits(elem, p) > if elem == Elem::F64 { 2 * 53 } else { 2 * 24 };
    is_finite(elem, p) && !is_nan(elem, p) && safe && is_zero(elem, error)
}

/// An integer that every conversion gives exactly.
fn is_small_integer(elem: Elem, a: u64) -> bool {
    let value = if elem == Elem::F64 { f64::from_bits(a) } else { f64::from(f32::from_bits(a as u32)) };
    (0.0..16_777_216.0).contains(&value) && value.fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPS;

    fn quiet(op: Op, args: &[f32]) -> bool {
        let bits: Vec<u64> = args.iter().map(|a| u64::from(a.to_bits())).collect();
        raises_nothing(op, Elem::F32, &bits)
    }

    #[test]
    fn every_row_is_quiet_on_its_own_benign_operands() {
        for row in OPS {
            if let LaneRule::Sanitise(benign) = row.lane {
                for elem in [Elem::F32, Elem::F64] {
                    let bits: Vec<u64> = benign.iter().map(|&b| benign_bits(elem, b)).collect();
                    assert!(raises_nothing(row.op, elem, &bits), "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn exact_results_are_quiet_and_others_are_not() {
        assert!(quiet(Op::Add, &[1.0, 1.0]) && quiet(Op::Add, &[1e30, 0.0]) && quiet(Op::Sub, &[1.5, 0.25]));
        assert!(!quiet(Op::Add, &[1e30, 1.0]) && !quiet(Op::Add, &[3e38, 3e38]));
        assert!(quiet(Op::Mul, &[1.0, 0.1]) && quiet(Op::Mul, &[-0.0, 3e38]));
        assert!(!quiet(Op::Mul, &[0.1, 0.1]) && !quiet(Op::Mul, &[1e30, 1e30]) && !quiet(Op::Mul, &[1e-30, 1e-30]));
        assert!(quiet(Op::Div, &[0.0, 3.0]) && quiet(Op::Div, &[6.0, 3.0]));
        assert!(!quiet(Op::Div, &[0.0, 0.0]) && !quiet(Op::Div, &[1.0, 0.0]) && !quiet(Op::Div, &[1.0, 3.0]));
        assert!(quiet(Op::Sqrt, &[4.0]) && quiet(Op::Sqrt, &[0.0]));
        assert!(!quiet(Op::Sqrt, &[2.0]) && !quiet(Op::Sqrt, &[-1.0]));
        assert!(quiet(Op::Fma, &[0.0, 0.1, 0.3]) && quiet(Op::NegMulSub, &[1.0, 2.0, 3.0]));
        assert!(!quiet(Op::Fma, &[0.1, 0.1, 0.0]) && !quiet(Op::Fma, &[0.0, f32::INFINITY, 0.0]));
        assert!(!quiet(Op::Add, &[0.0, 1e-40]) && !quiet(Op::Lt, &[1e-40, 1.0]) && !quiet(Op::Mul, &[1e-40, 0.0]));
        assert!(quiet(Op::Lt, &[0.1, 0.3]) && !quiet(Op::Lt, &[0.1, f32::NAN]));
        assert!(quiet(Op::Floor, &[-2.0]) && !quiet(Op::Floor, &[0.5]));
        assert!(
            quiet(Op::ToU32, &[0.0])
                && !quiet(Op::ToU32, &[3.0])
                && quiet(Op::ToI32, &[7.0])
                && !quiet(Op::ToI32, &[0.5])
                && !quiet(Op::ToU32, &[-1.0])
        );
        assert!(quiet(Op::Exp, &[0.0]) && !quiet(Op::Exp, &[1.0]));
        assert!(raises_nothing(Op::ToF32, Elem::I32, &[0xffff_ffff]));
        assert!(!raises_nothing(Op::ToF32, Elem::I32, &[16_777_217]));
    }
}
