//! Numbers that stand in AArch64 instructions: which there are, and which rows take them.
//!
//! ```text
//! add x0, x1, #4095      add x0, x1, #0x1000      and x0, x1, #-16      mov x0, #-1      ldr q0, [x1, #65520]
//! ```

use super::A64;
use crate::machine::Address;

/// The row that does the same with a number in the place of its last operand, and the number as that row takes it.
pub fn with_number(op: A64, number: i64) -> Option<(A64, i32)> {
    let (small, number) = (i32::try_from(number).ok()?, number);
    let negated = small.checked_neg()?;
    let one_of = |rows: [(A64, i32, bool); 2]| rows.into_iter().find(|row| row.2).map(|(op, number, _)| (op, number));
    let sum = |add, sub| one_of([(add, small, is_sum(small)), (sub, negated, is_sum(negated))]);
    let pattern = |op| pattern(number as u64).map(|_| (op, small));
    match op {
        A64::AddLong => sum(A64::AddNumber, A64::SubNumber),
        A64::SubLong => sum(A64::SubNumber, A64::AddNumber),
        A64::AndLong => pattern(A64::AndNumber),
        A64::OrLong => pattern(A64::OrNumber),
        A64::XorLong => pattern(A64::XorNumber),
        A64::CompareLong => is_sum(small).then_some((A64::CompareLongNumber, small)),
        A64::CompareWord => is_sum(small).then_some((A64::CompareWordNumber, small)),
        A64::LdrNumber => one_of([
            (A64::MovNumber, small, wide(number as u64).is_some()),
            (A64::MovNot, small, wide(!number as u64).is_some()),
        ]),
        _ => None,
    }
}

/// Whether a number is twelve bits, or those twelve bits higher (DDI 0487, "ADD (immediate)").
pub const fn is_sum(number: i32) -> bool {
    number >= 0 && (number < 1 << 12 || number & 0xfff == 0 && number < 1 << 24)
}

/// Sixteen bits and how many times sixteen higher they stand in a number that has no others ("MOVZ").
pub const fn wide(number: u64) -> Option<(u16, u8)> {
    match (number & !0xffff, number & !0xffff_0000) {
        (0, _) => Some((number as u16, 0)),
        (_, 0) => Some(((number >> 16) as u16, 1)),
        _ => None,
    }
}

/// `immr` and `imms` of a number whose ones stand side by side, the highest bit next to the lowest ("Bitmask immediates",
/// section C3.4.2, of elements of 64 bits).
pub const fn pattern(number: u64) -> Option<(u8, u8)> {
    let ones = number.count_ones();
    if ones == 0 || ones == 64 {
        return None;
    }
    // The lowest of the ones, when the number is turned so that they begin there.
    let from = match number & 1 {
        1 => 64 - number.leading_ones(),
        _ => number.trailing_zeros(),
    } % 64;
    match number.rotate_right(from) == (1 << ones) - 1 {
        true => Some(((64 - from) as u8 % 64, ones as u8 - 1)),
        false => None,
    }
}

/// How an instruction says an address ("Load/store addressing modes", section C1.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A displacement that is so many times as great as what is accessed.
    Scaled(u16),
    /// A displacement of nine bits with a sign.
    Unscaled(i16),
    /// An index, multiplied with the size of what is accessed or not.
    Indexed(bool),
}

/// The mode for an address of so many bytes; the first where there are several, as assemblers choose.
pub fn mode<R>(address: &Address<R>, bytes: u32) -> Option<Mode> {
    let disp = address.disp;
    if address.index.is_some() {
        let scaled = address.scale != 0 && 1 << address.scale == bytes;
        return (disp == 0 && (scaled || address.scale == 0)).then_some(Mode::Indexed(scaled));
    }
    let times = u32::try_from(disp).ok().filter(|disp| disp.is_multiple_of(bytes)).map(|disp| disp / bytes);
    match times.filter(|&times| times < 1 << 12) {
        Some(times) => Some(Mode::Scaled(times as u16)),
        None => (-256..256).contains(&disp).then_some(Mode::Unscaled(disp as i16)),
    }
}

/// Whether transfers of four consecutive elements of so many bytes, and of each one of them, take a displacement.
pub fn reaches(disp: i64, bytes: u32) -> bool {
    let bytes = i64::from(bytes);
    let scaled = disp % (4 * bytes) == 0 && (0..(1 << 12) * bytes - 3 * bytes).contains(&disp);
    scaled || disp >= -256 && disp + 3 * bytes < 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_the_rows_that_take_them() {
        assert_eq!(with_number(A64::AddLong, 4095), Some((A64::AddNumber, 4095)));
        assert_eq!(with_number(A64::AddLong, -1), Some((A64::SubNumber, 1)));
        assert_eq!(with_number(A64::AddLong, 4097), None);
        assert_eq!(with_number(A64::AddLong, 0xfff_000), Some((A64::AddNumber, 0xfff_000)));
        assert_eq!(with_number(A64::SubLong, i64::from(i32::MIN)), None);
        assert_eq!(with_number(A64::CompareLong, -1), None);
        assert_eq!(with_number(A64::MulLong, 3), None);
        assert_eq!(with_number(A64::LdrNumber, 65535), Some((A64::MovNumber, 65535)));
        assert_eq!(with_number(A64::LdrNumber, -65536), Some((A64::MovNot, -65536)));
        assert_eq!(with_number(A64::LdrNumber, 0x1_0001), None);
    }

    /// Of the manual's table of bitmask immediates those with elements of 64 bits.
    #[test]
    fn patterns_are_runs_of_ones() {
        assert_eq!(pattern(1), Some((0, 0)));
        assert_eq!(pattern(2), Some((63, 0)));
        assert_eq!(pattern(-16i64 as u64), Some((60, 59)));
        assert_eq!(pattern(u64::MAX >> 1), Some((0, 62)));
        assert_eq!(pattern(0x8000_0000_0000_0001), Some((1, 1)));
        assert_eq!((pattern(0), pattern(u64::MAX), pattern(5)), (None, None, None));
        assert_eq!((pattern(0x5555_5555_5555_5555), pattern(0x9)), (None, None));
    }

    #[test]
    fn addresses_have_a_mode_or_none() {
        let at = |disp| Address { disp, ..Address::at(0) };
        assert_eq!(mode(&at(65520), 16), Some(Mode::Scaled(4095)));
        assert_eq!(mode(&at(65536), 16), None);
        assert_eq!(mode(&at(-256), 16), Some(Mode::Unscaled(-256)));
        assert_eq!(mode(&at(255), 8), Some(Mode::Unscaled(255)));
        assert_eq!((mode(&at(260), 8), mode(&at(-257), 1)), (None, None));
        let indexed = |scale, disp| Address { index: Some(1), scale, disp, ..Address::at(0) };
        assert_eq!(mode(&indexed(2, 0), 4), Some(Mode::Indexed(true)));
        assert_eq!(mode(&indexed(0, 0), 16), Some(Mode::Indexed(false)));
        assert_eq!((mode(&indexed(2, 0), 16), mode(&indexed(2, 4), 4)), (None, None));
    }

    #[test]
    fn what_is_reached_has_a_mode() {
        for bytes in [1, 2, 4] {
            for disp in (-300..20_000).filter(|&disp| reaches(disp.into(), bytes)) {
                let at = |disp| Address { disp, ..Address::at(0) };
                assert!(mode(&at(disp), 4 * bytes).is_some(), "{disp} of {bytes}");
                let one = |lane: i32| mode(&at(disp + lane * bytes as i32), bytes).is_some();
                assert!((0..4).all(one), "{disp} of {bytes}");
            }
        }
        assert!(reaches(16, 4) && reaches(4, 4) && !reaches(404, 4) && reaches(400, 4));
    }
}
