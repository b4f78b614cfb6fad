//! Run-time values of the evaluators: the bits of every lane, and which lanes have no value.

use crate::profile::Profile;
use crate::types::{Elem, Ty};
use smallvec::SmallVec;

/// One value: a rack, a mask or a uniform.
///
/// Each lane holds the bits of its element zero-extended to 64; a lane of a mask is 0 or 1; a uniform is one lane. A lane
/// may be *poison*: its operation was masked out there, so it has no value and reading it is an error of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lanes {
    bits: SmallVec<[u64; 16]>,
    poison: u64,
}

impl Lanes {
    /// The most lanes that a rack has on any profile.
    pub const MAX: usize = 64;

    /// The lanes with these bits, none of them poison. Lanes past [`Lanes::MAX`] are dropped.
    pub fn new(bits: impl IntoIterator<Item = u64>) -> Lanes {
        Lanes { bits: bits.into_iter().take(Lanes::MAX).collect(), poison: 0 }
    }

    /// `lanes` times the same bits.
    pub fn splat(bits: u64, lanes: usize) -> Lanes {
        Lanes::new(std::iter::repeat_n(bits, lanes))
    }

    /// A uniform.
    pub fn uniform(bits: u64) -> Lanes {
        Lanes::splat(bits, 1)
    }

    /// A rack or uniform of `f32`.
    pub fn f32s(values: &[f32]) -> Lanes {
        Lanes::new(values.iter().map(|v| u64::from(v.to_bits())))
    }

    /// A rack or uniform of `f64`.
    pub fn f64s(values: &[f64]) -> Lanes {
        Lanes::new(values.iter().map(|v| v.to_bits()))
    }

    /// A rack or uniform of an integer element, each lane wrapped to the element's width.
    pub fn ints(elem: Elem, values: &[i64]) -> Lanes {
        Lanes::new(values.iter().map(|&v| v as u64 & elem.lane_mask()))
    }

    /// A mask or a uniform `bool`.
    pub fn truths(values: &[bool]) -> Lanes {
        Lanes::new(values.iter().map(|&v| u64::from(v)))
    }

    /// `lanes` lanes without a value.
    pub fn poison(lanes: usize) -> Lanes {
        let mut all = Lanes::splat(0, lanes);
        (0..all.len()).for_each(|lane| all.set(lane, None));
        all
    }

    /// The number of lanes.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether it has no lanes; no value of a type has none.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The bits of a lane; `None` when it is poison or does not exist.
    pub fn get(&self, lane: usize) -> Option<u64> {
        let bits = self.bits.get(lane)?;
        (self.poison >> lane & 1 == 0).then_some(*bits)
    }

    /// Sets a lane's bits, or makes it poison. Does nothing for a lane that does not exist.
    pub fn set(&mut self, lane: usize, bits: Option<u64>) {
        let Some(slot) = self.bits.get_mut(lane) else { return };
        *slot = bits.unwrap_or(0);
        self.poison = self.poison & !(1 << lane) | u64::from(bits.is_none()) << lane;
    }

    /// Every lane's bits; 0 for poison.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Bit k is set when lane k is poison.
    pub fn poisoned(&self) -> u64 {
        self.poison
    }

    /// The lanes as `f32`; poison reads as +0.
    pub fn to_f32s(&self) -> Vec<f32> {
        self.bits.iter().map(|&b| f32::from_bits(b as u32)).collect()
    }

    /// Equality bit for bit, except that any NaN of a float element equals any other.
    pub fn same(&self, other: &Lanes, elem: Elem) -> bool {
        self.len() == other.len()
            && self.poison == other.poison
            && self.bits.iter().zip(&other.bits).all(|(&a, &b)| a == b || is_nan(elem, a) && is_nan(elem, b))
    }

    /// The lanes as a person reads them, `[1.0, -2.5, _]` with `_` for poison, in the element of `ty`.
    pub fn show(&self, ty: Ty) -> String {
        let lanes = (0..self.len()).map(|lane| match self.get(lane) {
            Some(bits) => literal(ty.elem(), bits),
            None => "_".into(),
        });
        let lanes: Vec<String> = lanes.collect();
        if ty.is_uniform() { lanes.join(", ") } else { format!("[{}]", lanes.join(", ")) }
    }
}

/// Whether these bits of `elem` are a NaN.
pub fn is_nan(elem: Elem, bits: u64) -> bool {
    match elem {
        Elem::F32 => f32::from_bits(bits as u32).is_nan(),
        Elem::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// The number of lanes that a value of `ty` has in the evaluators; 1 for a uniform.
pub fn lanes_of(ty: Ty, profile: Profile) -> usize {
    ty.lane_bits().map_or(1, |bits| profile.lanes_of_bits(bits))
}

/// Bits sign-extended from the element's width; zero-extended for unsigned elements and `bool`.
pub fn to_i128(elem: Elem, bits: u64) -> i128 {
    let shift = 64 - elem.bits();
    match elem.class() {
        crate::types::ElemClass::Signed => i128::from((bits << shift) as i64 >> shift),
        _ => i128::from(bits & elem.lane_mask()),
    }
}

/// The text of one element in dumps: shortest decimal that reads back to the same bits, else the bits in hexadecimal.
pub fn literal(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::Bool => if bits & 1 == 1 { "true" } else { "false" }.into(),
        Elem::F32 => match f32::from_bits(bits as u32) {
            v if v.is_finite() => format!("{v:?}"),
            _ => format!("{bits:#010x}"),
        },
        Elem::F64 => match f64::from_bits(bits) {
            v if v.is_finite() => format!("{v:?}"),
            _ => format!("{bits:#018x}"),
        },
        _ => to_i128(elem, bits).to_string(),
    }
}

/// The bits that a dump's `text` means in `elem`; the inverse of [`literal`]. Hexadecimal always means bits.
pub fn parse_literal(elem: Elem, text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        let digits_only = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let bits = digits_only.then(|| u64::from_str_radix(digits, 16).ok())??;
        return (bits <= elem.lane_mask()).then_some(bits);
    }
    match elem {
        Elem::Bool => match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        },
        _ if !text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit()) => None,
        Elem::F32 => text.parse::<f32>().ok().filter(|v| v.is_finite()).map(|v| u64::from(v.to_bits())),
        Elem::F64 => text.parse::<f64>().ok().filter(|v| v.is_finite()).map(f64::to_bits),
        _ => {
            let value: i128 = text.parse().ok()?;
            let bits = value as u64 & elem.lane_mask();
            (to_i128(elem, bits) == value).then_some(bits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_is_kept_per_lane() {
        let mut lanes = Lanes::f32s(&[1.0, 2.0, 3.0, 4.0]);
        lanes.set(2, None);
        assert_eq!(lanes.get(1), Some(0x4000_0000));
        assert_eq!(lanes.get(2), None);
        assert_eq!(lanes.get(4), None);
        assert_eq!(lanes.poisoned(), 0b100);
        assert_eq!(lanes.show(Ty::Rack(Elem::F32)), "[1.0, 2.0, _, 4.0]");
        lanes.set(2, Some(0));
        assert_eq!(lanes.poisoned(), 0);
        assert_eq!(Lanes::poison(64).poisoned(), u64::MAX);
    }

    #[test]
    fn literals_read_back() {
        let cases = [
            (Elem::F32, 0x3f00_0000, "0.5"),
            (Elem::F32, 0x8000_0000, "-0.0"),
            (Elem::F32, 1, "1e-45"),
            (Elem::F32, 0x7fc0_0000, "0x7fc00000"),
            (Elem::F32, 0xff80_0000, "0xff800000"),
            (Elem::F64, 0x7ff8_0000_0000_0000, "0x7ff8000000000000"),
            (Elem::I32, 0x8000_0000, "-2147483648"),
            (Elem::U32, 0x8000_0000, "2147483648"),
            (Elem::I8, 0xff, "-1"),
            (Elem::U64, u64::MAX, "18446744073709551615"),
            (Elem::Bool, 1, "true"),
        ];
        for (elem, bits, text) in cases {
            assert_eq!(literal(elem, bits), text);
            assert_eq!(parse_literal(elem, text), Some(bits), "{text}");
        }
        for (elem, text) in [
            (Elem::I8, "128"),
            (Elem::U8, "-1"),
            (Elem::I8, "0x100"),
            (Elem::F32, "1e39"),
            (Elem::F32, "inf"),
            (Elem::F32, "NaN"),
            (Elem::I32, "0x+1"),
            (Elem::I32, ""),
            (Elem::F32, "-"),
        ] {
            assert_eq!(parse_literal(elem, text), None, "{text}");
        }
    }

    #[test]
    fn any_nan_is_the_same() {
        let (a, b) = (Lanes::uniform(0x7fc0_0000), Lanes::uniform(0xffc0_0001));
        assert!(a.same(&b, Elem::F32));
        assert!(!a.same(&b, Elem::U32));
        assert!(!Lanes::f32s(&[0.0]).same(&Lanes::f32s(&[-0.0]), Elem::F32));
    }
}
