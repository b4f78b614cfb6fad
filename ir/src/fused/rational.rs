//! Rounding an exact rational once.

use crate::types::Elem;
use num_bigint::BigUint;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

/// The bits of the float of `elem` nearest to `value`, ties to even, from the exact number in one step; zero is +0.
/// `None` when it rounds to infinity or `elem` is no float.
pub fn round_rational(elem: Elem, value: &BigRational) -> Option<u64> {
    let (precision, least) = match elem {
        Elem::F32 => (24, -126),
        Elem::F64 => (53, -1022),
        _ => return None,
    };
    if value.is_zero() {
        return Some(0);
    }
    let (n, d) = (value.numer().magnitude(), value.denom().magnitude());
    let guess = n.bits() as i64 - d.bits() as i64;
    let exponent = if less_than_power(n, d, guess) { guess - 1 } else { guess }.max(least);
    if exponent > 1 - least {
        return None;
    }
    let shift = precision - 1 - exponent;
    let (n, d) = scale(n, d, shift);
    let (quotient, rest) = (&n / &d, &n % &d);
    let mut significand = quotient.to_u64()?;
    let twice: BigUint = rest << 1u32;
    if twice > d || twice == d && significand & 1 == 1 {
        significand += 1;
    }
    // A significand of 2^precision carries into the exponent, which is right.
    let bits = (((exponent - least) as u64) << (precision - 1)) + significand;
    let infinity = (elem.lane_mask() >> 1) >> (precision - 1) << (precision - 1);
    let sign = u64::from(value.is_negative()) << (elem.bits() - 1);
    (bits < infinity).then_some(bits | sign)
}

/// n/d times 2^shift as a fraction.
fn scale(n: &BigUint, d: &BigUint, shift: i64) -> (BigUint, BigUint) {
    if shift >= 0 { (n << shift as u64, d.clone()) } else { (n.clone(), d << shift.unsigned_abs()) }
}

/// Whether n/d < 2^power.
fn less_than_power(n: &BigUint, d: &BigUint, power: i64) -> bool {
    let (n, d) = scale(n, d, -power);
    n < d
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    fn f32_of(n: i64, d: i64) -> Option<u64> {
        round_rational(Elem::F32, &BigRational::new(n.into(), d.into()))
    }

    #[test]
    fn fractions_round_to_nearest_even() {
        assert_eq!(f32_of(1, 3), Some(0x3eaa_aaab));
        assert_eq!(f32_of(-1, 2), Some(0xbf00_0000));
        assert_eq!(f32_of(0, 1), Some(0));
        // 2^24 + 1 is a tie; so is 2^24 + 3, whose even neighbour is above.
        assert_eq!(f32_of(16777217, 1), Some(0x4b80_0000));
        assert_eq!(f32_of(16777219, 1), Some(0x4b80_0002));
        // 2^24 - 1/2 carries into the next exponent.
        assert_eq!(f32_of(33554431, 2), Some(0x4b80_0000));
    }

    #[test]
    fn the_ends_of_the_range() {
        let power = |p: u32| BigRational::from_integer(BigInt::from(1) << p);
        let least = power(149).recip();
        assert_eq!(round_rational(Elem::F32, &least), Some(1));
        assert_eq!(round_rational(Elem::F32, &(least.clone() / BigInt::from(2))), Some(0));
        assert_eq!(round_rational(Elem::F32, &(least * BigRational::new(3.into(), 4.into()))), Some(1));
        assert_eq!(round_rational(Elem::F32, &power(126).recip()), Some(0x0080_0000));
        // The midpoint between the greatest float and 2^128 rounds to infinity; anything below does not.
        let midpoint = power(128) - power(103);
        assert_eq!(round_rational(Elem::F32, &midpoint), None);
        assert_eq!(round_rational(Elem::F32, &(midpoint - power(0))), Some(0x7f7f_ffff));
        assert_eq!(round_rational(Elem::F32, &power(100_000)), None);
        assert_eq!(round_rational(Elem::F64, &power(1023)), Some(0x7fe0_0000_0000_0000));
        assert_eq!(round_rational(Elem::I32, &power(1)), None);
    }
}
