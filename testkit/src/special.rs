//! The values that break arithmetic, as bit patterns, and deterministic random bits.

/// Special `f32`s: zeros, ones, infinities, quiet and signalling NaNs with payloads of both
/// signs, the ends of the normal and subnormal ranges, ties of rounding, the limits of the integer
/// types and of exact integers.
pub const F32: &[u32] = &[
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x3f80_0000, // 1
    0xbf80_0000, // -1
    0x3f80_0001, // the number after 1
    0x3f7f_ffff, // the number before 1
    0x7f80_0000, // inf
    0xff80_0000, // -inf
    0x7fc0_0000, // quiet NaN without payload
    0xffc0_0000, // the quiet NaN that x86 makes
    0x7fc1_2345, // quiet NaN with a payload
    0xffd5_4321, // another, negative
    0xffff_ffff, // all ones
    0x7f80_0001, // signalling NaN, least payload
    0xffbf_ffff, // negative signalling NaN, greatest payload
    0x7fa0_1234, // signalling NaN with a payload
    0x7f7f_ffff, // greatest normal
    0xff7f_ffff, // its negative
    0x7f00_0000, // 2^127
    0x0080_0000, // least normal
    0x8080_0000, // its negative
    0x0080_0001, // the next
    0x007f_ffff, // greatest subnormal
    0x807f_ffff, // its negative
    0x0000_0001, // least subnormal
    0x8000_0001, // its negative
    0x0040_0000, // 2^-127, a subnormal
    0x1f80_0000, // 2^-64: its square is subnormal
    0x5f80_0000, // 2^64: its square overflows
    0x3f00_0000, // 0.5
    0xbf00_0000, // -0.5
    0x3eff_ffff, // the number before 0.5
    0x3f00_0001, // the number after 0.5
    0x3fc0_0000, // 1.5
    0xbfc0_0000, // -1.5
    0x4000_0000, // 2
    0x4020_0000, // 2.5
    0xc020_0000, // -2.5
    0x4040_0000, // 3
    0x3eaa_aaab, // 1/3
    0x3dcc_cccd, // 0.1
    0x4049_0fdb, // pi
    0x4a7f_fffe, // 2^22 - 0.5
    0x4a80_0001, // 2^22 + 0.5
    0x4aff_fffe, // 2^23 - 1
    0x4aff_ffff, // 2^23 - 0.5
    0x4b00_0000, // 2^23
    0x4b00_0001, // 2^23 + 1
    0xcb00_0001, // -(2^23 + 1)
    0x4b7f_ffff, // 2^24 - 1
    0x4b80_0000, // 2^24
    0x4b80_0001, // 2^24 + 2
    0x4eff_ffff, // greatest below 2^31
    0x4f00_0000, // 2^31
    0x4f00_0001, // the number after 2^31
    0xcf00_0000, // -2^31
    0xcf00_0001, // the number below -2^31
    0x4f7f_ffff, // greatest below 2^32
    0x4f80_0000, // 2^32
    0x4f80_0001, // the number after 2^32
    0xcf80_0000, // -2^32
    0x5f00_0000, // 2^63
];

/// Special 32-bit integers, signed and unsigned: around 0, the ends of both types, powers of two
/// and their neighbours, the limits of exact `f32`s, alternating bits.
pub const I32: &[u32] = &[
    0,
    1,
    2,
    3,
    0xffff_ffff,
    0xffff_fffe,
    0xffff_fffd,
    0x7fff_ffff,
    0x7fff_fffe,
    0x8000_0000,
    0x8000_0001,
    0x8000_0002,
    0x4000_0000,
    0x3fff_ffff,
    0xc000_0000,
    0xbfff_ffff,
    31,
    32,
    33,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x1_0000,
    0x1_0001,
    0xffff_8000,
    0xffff_7fff,
    0x007f_ffff,
    0x0080_0000,
    0x0080_0001,
    0x00ff_ffff,
    0x0100_0000,
    0x0100_0001,
    0xff00_0000,
    0xfeff_ffff,
    0x7fff_ff80,
    0x7fff_ffc0,
    0xffff_ff00,
    0xffff_ff80,
    0x5555_5555,
    0xaaaa_aaaa,
    0x0f0f_0f0f,
    0xb504,
    0xb505,
    0x1234_5678,
    0xdead_beef,
];

/// Special `u32`s: those of [`I32`], whose patterns cover the ends of the unsigned range too.
pub const U32: &[u32] = I32;

/// All tuples of `arity` values, the last place running fastest: `values.len()` to the `arity`th
/// power of them, so keep `arity` at 3 or less for the whole sets.
pub fn tuples(values: &[u32], arity: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..arity {
        let longer = |tuple: &Vec<u32>, v: u32| [tuple.as_slice(), &[v]].concat();
        all = all.iter().flat_map(|t| values.iter().map(move |&v| longer(t, v))).collect();
    }
    all
}

/// Marsaglia's 64-bit xorshift (13, 7, 17): the same bits from the same seed, for ever.
#[derive(Clone, Debug)]
pub struct Bits(u64);

impl Bits {
    /// A generator; different seeds give unrelated bits.
    pub fn new(seed: u64) -> Bits {
        // The state may not be 0, and small seeds should not start with mostly zeros.
        let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Bits((mixed ^ (mixed >> 31)).max(1))
    }

    /// 64 random bits (never all zero).
    pub fn u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// 32 random bits.
    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// A number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.u64()) * bound as u128) >> 64) as usize
    }

    /// A member of `values`, or 0 if there is none.
    pub fn pick(&mut self, values: &[u32]) -> u32 {
        let index = self.below(values.len());
        values.get(index).copied().unwrap_or(0)
    }

    /// An `f32` for tests: a special value, any bits, a number near 1, a small integer, or a
    /// number of middling exponent, so that sums round and cancel.
    pub fn f32(&mut self) -> u32 {
        match self.below(8) {
            0 | 1 => self.pick(F32),
            2 | 3 => self.u32(),
            4 => (self.u32() & 0x8000_0000) | 0x3f00_0000 | (self.u32() & 0x00ff_ffff),
            5 => (self.below(65) as f32 - 32.0).to_bits(),
            _ => (self.u32() & 0x807f_ffff) | ((110 + self.below(36) as u32) << 23),
        }
    }

    /// A 32-bit integer for tests: a special value, any bits, a small number of either sign.
    pub fn i32(&mut self) -> u32 {
        match self.below(4) {
            0 => self.pick(I32),
            1 => (self.below(257) as u32).wrapping_sub(128),
            _ => self.u32(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_sets_have_no_doubles_and_every_class() {
        for set in [F32, I32] {
            assert_eq!(set.iter().collect::<BTreeSet<_>>().len(), set.len());
        }
        let class = |&bits: &u32| f32::from_bits(bits).classify();
        assert_eq!(F32.iter().map(|bits| format!("{:?}", class(bits))).collect::<BTreeSet<_>>().len(), 5);
        for signed in [0.5_f32, 1.0, 1.5, 2.5, f32::INFINITY, f32::MAX, 2147483648.0, 4294967296.0] {
            for value in [signed, -signed] {
                assert!(F32.contains(&value.to_bits()), "{value}");
            }
        }
        for whole in [4194304.5_f32, 8388607.0, 8388609.0, 16777215.0, 16777216.0, 16777218.0] {
            assert!(F32.contains(&whole.to_bits()), "{whole}");
        }
    }

    #[test]
    fn tuples_run_the_last_place_fastest() {
        assert_eq!(tuples(&[1, 2], 2), [[1, 1], [1, 2], [2, 1], [2, 2]]);
        assert_eq!(tuples(&[1, 2, 3], 3).len(), 27);
        assert_eq!(tuples(&[1], 0), [vec![]; 1]);
    }

    #[test]
    fn bits_repeat_and_spread() {
        let draw = |seed| (0..64).map(|_| 0).scan(Bits::new(seed), |bits, _: i32| Some(bits.u32())).collect::<Vec<_>>();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let mut bits = Bits::new(0);
        let mean = (0..10_000).map(|_| bits.u32().count_ones()).sum::<u32>() as f64 / 10_000.0;
        assert!((mean - 16.0).abs() < 0.2, "{mean}");
        let seen: BTreeSet<usize> = (0..200).map(|_| bits.below(5)).collect();
        assert_eq!(seen, BTreeSet::from([0, 1, 2, 3, 4]));
        let drawn: Vec<u32> = (0..2000).map(|_| bits.f32()).collect();
        assert!(drawn.iter().any(|&b| f32::from_bits(b).is_nan()) && drawn.contains(&0));
        assert!(drawn.iter().filter(|&&b| f32::from_bits(b).is_normal()).count() > 1200);
    }
}
