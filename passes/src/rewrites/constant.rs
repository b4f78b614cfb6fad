//! Exact constants: from bits to numbers, and rounded once back to bits.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rake_ir::lane::FuseLevel;
use rake_ir::types::{Elem, ElemClass};

/// The bits of positive infinity.
const fn infinity(elem: Elem) -> u64 {
    match elem {
        Elem::F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    }
}

/// The number that these bits denote; `None` where they are not combined: a float's zeros, infinities and NaNs, and
/// `bool`s.
pub fn from_bits(bits: u64, elem: Elem) -> Option<BigRational> {
    let bits = bits & elem.lane_mask();
    match elem.class() {
        ElemClass::Bool => None,
        ElemClass::Unsigned => Some(BigRational::from_integer(bits.into())),
        ElemClass::Signed => {
            let unused = 64 - elem.bits();
            Some(BigRational::from_integer((((bits << unused) as i64) >> unused).into()))
        }
        ElemClass::Float => {
            let value = match elem {
                Elem::F32 => f64::from(f32::from_bits(bits as u32)),
                _ => f64::from_bits(bits),
            };
            if value == 0.0 { None } else { from_float(value) }
        }
    }
}

/// The exact value of a finite float that is not zero. An odd number and a power of two have no common divisor to look
/// for.
fn from_float(value: f64) -> Option<BigRational> {
    let (mantissa, exponent, sign) = num_traits::float::FloatCore::integer_decode(value);
    if !value.is_finite() {
        return None;
    }
    let zeros = mantissa.trailing_zeros();
    let odd = BigInt::from(i64::from(sign) * (mantissa >> zeros) as i64);
    let exponent = i32::from(exponent) + zeros as i32;
    let scale = BigInt::one() << exponent.unsigned_abs();
    Some(if exponent < 0 { BigRational::new_raw(odd, scale) } else { BigRational::from_integer(odd * scale) })
}

/// The bits of `value` rounded once to `elem`, ties to even; infinity where it overflows. Integers wrap.
pub fn to_bits(value: &BigRational, elem: Elem) -> u64 {
    if !elem.is_float() {
        let wrapped = wrap(value.to_integer(), elem);
        let modulus = BigInt::one() << elem.bits();
        let positive = if wrapped.is_negative() { wrapped + modulus } else { wrapped };
        return positive.to_u64().unwrap_or(0);
    }
    rake_ir::fused::round_rational(elem, value).unwrap_or_else(|| {
        let sign = u64::from(value.is_negative()) << (elem.bits() - 1);
        sign | infinity(elem)
    })
}

/// An integer into the range of `elem`.
pub fn wrap(value: BigInt, elem: Elem) -> BigInt {
    let modulus = BigInt::one() << elem.bits();
    let low = ((value % &modulus) + &modulus) % &modulus;
    let half = BigInt::one() << (elem.bits() - 1);
    if elem.class() == ElemClass::Signed && low >= half { low - modulus } else { low }
}

/// What a combined constant becomes, or `None` when the combination must not be made: it reaches zero, overflows, or
/// underflows; below [`FuseLevel::Full`] also when it would round at all.
pub fn combined(value: BigRational, elem: Elem, level: FuseLevel) -> Option<BigRational> {
    if !elem.is_float() {
        let wrapped = wrap(value.to_integer(), elem);
        return (!wrapped.is_zero()).then(|| BigRational::from_integer(wrapped));
    }
    if value.is_zero() {
        return None;
    }
    let bits = to_bits(&value, elem);
    let exact = from_bits(bits, elem)?;
    if level != FuseLevel::Full && exact != value {
        return None;
    }
    let subnormal = bits & infinity(elem) == 0;
    (!subnormal).then_some(value)
}

/// The exponent `n` where `value` is `2^n` or `-2^n`.
pub fn power_of_two(value: &BigRational) -> Option<i64> {
    let single = |n: &BigInt| (n.magnitude().count_ones() == 1).then(|| n.magnitude().bits() as i64 - 1);
    Some(single(value.numer())? - single(value.denom())?)
}

/// Whether the denominator is a power of two.
pub fn is_dyadic(value: &BigRational) -> bool {
    value.denom().magnitude().count_ones() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    #[test]
    fn rounding_agrees_with_the_machine() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..4000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let wide = f64::from_bits(state);
            let Some(value) = BigRational::from_float(wide) else { continue };
            if value.is_zero() {
                continue;
            }
            assert_eq!(to_bits(&value, Elem::F64), state, "{wide:e}");
            assert_eq!(to_bits(&value, Elem::F32), u64::from((wide as f32).to_bits()), "{wide:e}");
        }
        for scale in -150..128 {
            let wide = 2f64.powi(scale) * 1.000_000_059_604_644_8;
            let value = BigRational::from_float(wide).unwrap();
            assert_eq!(to_bits(&value, Elem::F32), u64::from((wide as f32).to_bits()), "{wide:e}");
        }
    }

    #[test]
    fn one_third_and_a_tenth_round_once() {
        assert_eq!(to_bits(&ratio(1, 3), Elem::F32), 0x3eaa_aaab);
        assert_eq!(to_bits(&ratio(-1, 10), Elem::F32), 0xbdcc_cccd);
        assert_eq!(to_bits(&ratio(16_777_217, 1), Elem::F32), 0x4b80_0000);
    }

    #[test]
    fn refused_combinations() {
        let big = BigRational::from_float(3e38_f64).unwrap();
        assert_eq!(combined(&big + &big, Elem::F32, FuseLevel::Full), None);
        assert_eq!(combined(ratio(0, 1), Elem::F32, FuseLevel::Full), None);
        let tiny = BigRational::from_float(1e-40_f64).unwrap();
        assert_eq!(combined(tiny, Elem::F32, FuseLevel::Full), None);
        assert_eq!(combined(ratio(1, 10), Elem::F32, FuseLevel::Exact), None);
        assert_eq!(combined(ratio(3, 1), Elem::F32, FuseLevel::Exact), Some(ratio(3, 1)));
        assert_eq!(combined(ratio(1 << 31, 1), Elem::I32, FuseLevel::Exact), Some(ratio(-(1 << 31), 1)));
    }

    #[test]
    fn powers_of_two() {
        assert_eq!(power_of_two(&ratio(1, 8)), Some(-3));
        assert_eq!(power_of_two(&ratio(-4, 1)), Some(2));
        assert_eq!(power_of_two(&ratio(3, 1)), None);
    }
}
