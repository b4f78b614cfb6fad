//! The bits that a number literal denotes in an element type.
//!
//! A float rounds once, from its decimal digits to its own type: the standard library's parser is correctly rounded for
//! each width. It bounds the exponent's digits before it looks at the mantissa's zeros, so the digits are normalised
//! first; that also answers huge exponents and million-digit literals at once.

use crate::surface::Number;
use crate::types::Elem;

/// Why a literal has no bits in a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LiteralError {
    /// The value exceeds the type's range.
    Range,
    /// A float literal where an integer type is expected, or the reverse.
    Kind,
}

/// The literal's bits in `elem`, zero-extended.
///
/// # Errors
/// The literal is of the other kind or does not fit.
pub fn bits(number: &Number, elem: Elem) -> Result<u64, LiteralError> {
    if elem == Elem::Bool || number.float != elem.is_float() {
        return Err(LiteralError::Kind);
    }
    if elem.is_float() {
        return float(number, elem).ok_or(LiteralError::Range);
    }
    let magnitude = i128::from(number.magnitude().ok_or(LiteralError::Range)?);
    let value = if number.negative { -magnitude } else { magnitude };
    let (low, high) = range(elem);
    if (low..=high).contains(&value) { Ok(value as u64 & elem.lane_mask()) } else { Err(LiteralError::Range) }
}

/// The least and greatest value of an integer element.
pub fn range(elem: Elem) -> (i128, i128) {
    let width = elem.bits();
    match elem.class() {
        crate::types::ElemClass::Signed => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        _ => (0, (1 << width) - 1),
    }
}

/// The range of a type in words.
pub fn range_words(elem: Elem) -> String {
    match elem {
        Elem::F32 => "-3.4028235e38 to 3.4028235e38".into(),
        Elem::F64 => "-1.7976931348623157e308 to 1.7976931348623157e308".into(),
        _ => {
            let (low, high) = range(elem);
            format!("{low} to {high}")
        }
    }
}

fn float(number: &Number, elem: Elem) -> Option<u64> {
    let (mantissa, exponent) = number.text.split_once(['e', 'E']).unwrap_or((&number.text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    // The value is 0.significant times ten to this power. Exponents beyond 18 digits saturate: no mantissa that fits in
    // memory brings them back.
    let leading = (digits.len() - significant.len()) as i64;
    let power = decimal_exponent(exponent).saturating_add(whole.len() as i64 - leading);
    let text = match significant.trim_end_matches('0') {
        "" => "0".to_owned(),
        _ if power > 400 => return None,
        _ if power < -400 => "0".to_owned(),
        digits => format!("0.{digits}e{power}"),
    };
    let sign = u64::from(number.negative) << (elem.bits() - 1);
    let magnitude = match elem {
        Elem::F32 => u64::from(text.parse::<f32>().ok().filter(|v| v.is_finite())?.to_bits()),
        _ => text.parse::<f64>().ok().filter(|v| v.is_finite())?.to_bits(),
    };
    Some(sign | magnitude)
}

fn decimal_exponent(text: &str) -> i64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_start_matches('0');
    let value = if digits.len() > 18 { 1 << 60 } else { digits.parse().unwrap_or(0) };
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let float = !digits.starts_with("0x") && digits.contains(['.', 'e', 'E']);
        Number { text: digits.into(), float, negative: text.starts_with('-') }
    }

    #[test]
    fn integers_are_held_to_their_range() {
        let ok = |text: &str, elem| bits(&number(text), elem);
        assert_eq!(ok("-2147483648", Elem::I32), Ok(0x8000_0000));
        assert_eq!(ok("2147483648", Elem::I32), Err(LiteralError::Range));
        assert_eq!(ok("-2147483649", Elem::I32), Err(LiteralError::Range));
        assert_eq!(ok("4294967295", Elem::U32), Ok(0xffff_ffff));
        assert_eq!(ok("4294967296", Elem::U32), Err(LiteralError::Range));
        assert_eq!(ok("-1", Elem::U32), Err(LiteralError::Range));
        assert_eq!(ok("-0", Elem::U32), Ok(0));
        assert_eq!(ok("255", Elem::U8), Ok(255));
        assert_eq!(ok("256", Elem::U8), Err(LiteralError::Range));
        assert_eq!(ok("-128", Elem::I8), Ok(0x80));
        assert_eq!(ok("128", Elem::I8), Err(LiteralError::Range));
        assert_eq!(ok("-9223372036854775808", Elem::I64), Ok(1 << 63));
        assert_eq!(ok("0xffffffffffffffff", Elem::U64), Ok(u64::MAX));
        assert_eq!(ok("99999999999999999999999999", Elem::U64), Err(LiteralError::Range));
        assert_eq!(ok("1.0", Elem::I32), Err(LiteralError::Kind));
        assert_eq!(ok("1", Elem::F32), Err(LiteralError::Kind));
    }

    #[test]
    fn floats_round_once_to_their_own_type() {
        let f32 = |text: &str| bits(&number(text), Elem::F32);
        assert_eq!(f32("3.4028235e38"), Ok(0x7f7f_ffff));
        // Just below and just above the midpoint 2^128 - 2^103; the first read through f64 would overflow.
        assert_eq!(f32("3.4028235677973366e38"), Ok(0x7f7f_ffff));
        assert_eq!(f32("3.4028235677973367e38"), Err(LiteralError::Range));
        assert_eq!(f32("1e39"), Err(LiteralError::Range));
        assert_eq!(f32("1e999999999"), Err(LiteralError::Range));
        assert_eq!(f32("1e-999999999"), Ok(0));
        assert_eq!(f32("-1e-999999999"), Ok(0x8000_0000));
        assert_eq!(f32("-0.0"), Ok(0x8000_0000));
        assert_eq!(f32("2."), Ok(0x4000_0000));
        assert_eq!(f32("1e-45"), Ok(1));
        assert_eq!(f32("1e99999999999999999999999"), Err(LiteralError::Range));
        assert_eq!(f32("0.0e99999999999999999999999"), Ok(0));
    }

    #[test]
    fn long_digit_strings_answer_exactly() {
        let zeros = "0".repeat(1_000_000);
        let one = format!("0.{zeros}1e1000001");
        assert_eq!(bits(&number(&one), Elem::F32), Ok(0x3f80_0000));
        let big = format!("1{zeros}.0e-1000000");
        assert_eq!(bits(&number(&big), Elem::F32), Ok(0x3f80_0000));
        // 1 + 2^-24 is the midpoint between 1 and the next float; any digit beyond it rounds up.
        let above = format!("1.000000059604644775390625{zeros}1");
        assert_eq!(bits(&number(&above), Elem::F32), Ok(0x3f80_0001));
        assert_eq!(bits(&number("1.000000059604644775390625"), Elem::F32), Ok(0x3f80_0000));
    }
}
