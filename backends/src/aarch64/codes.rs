//! The encoder table: each machine operation's 32-bit word and where its operands go, from the Arm Architecture Reference
//! Manual (DDI 0487, sections C6.2 and C7.2).

use rake_ir::machine::aarch64::A64;
use rake_ir::machine::aarch64::numbers::{self, Mode};
use rake_ir::machine::{self, PhysReg};

/// An operation's encoding: a word, and what fills the bits that it leaves zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code {
    pub word: u32,
    pub fields: &'static [Field],
}

/// What fills some bits of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// The destination's number, five bits from this one on.
    Dst(u8),
    /// An operand's number, likewise.
    Arg(u8, u8),
    /// `imm19` of LDR (literal): the distance to the literal in words.
    Near,
    /// `immhi:immlo` of ADR: the distance to the literal in bytes.
    Address,
    /// The immediate.
    Imm(Immediate),
    /// The address of a place of so many bytes: register and displacement, or two registers.
    Place(u8, u8),
    /// The number that an operand is.
    Number(u8, Number),
    /// `imm12` of LDR for a word of the caller's frame, above what is saved.
    Frame(u8),
}

/// Where a number goes, and which there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// `sh:imm12` of ADD, SUB and CMP.
    Sum,
    /// `immr:imms` of AND, ORR and EOR of 64 bits.
    Pattern,
    /// `hw:imm16` of MOVZ.
    Wide,
    /// The same of MOVN: of the complement.
    Complement,
}

/// The bits of a number; `None` when it does not fit.
pub(super) fn number(kind: Number, number: i32) -> Option<u32> {
    let bits = i64::from(number) as u64;
    let wide = |bits| numbers::wide(bits).map(|(low, times)| u32::from(times) << 21 | u32::from(low) << 5);
    match kind {
        Number::Sum if !numbers::is_sum(number) => None,
        Number::Sum if number < 1 << 12 => Some((number as u32) << 10),
        Number::Sum => Some(1 << 22 | (number as u32 >> 12) << 10),
        Number::Pattern => numbers::pattern(bits).map(|(immr, imms)| u32::from(immr) << 16 | u32::from(imms) << 10),
        Number::Wide => wide(bits),
        Number::Complement => wide(!bits),
    }
}

/// The bits of an address (DDI 0487, section C4.1, "Loads and stores"): which of the modes, and what belongs to it.
pub(super) fn place(address: &machine::Address<PhysReg>, bytes: u8) -> Option<u32> {
    let register = |register: PhysReg| u32::from(register.number & 31);
    let mode = match numbers::mode(address, bytes.into())? {
        Mode::Scaled(times) => 1 << 24 | u32::from(times) << 10,
        Mode::Unscaled(disp) => (disp as u32 & 0x1ff) << 12,
        // LSL, and whether by the size.
        Mode::Indexed(scaled) => {
            1 << 21 | register(address.index?) << 16 | 0b011 << 13 | u32::from(scaled) << 12 | 0b10 << 10
        }
    };
    Some(mode | register(address.base) << 5)
}

/// Where an immediate goes, and which there are. Sizes are those of a lane in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Immediate {
    /// `immh:immb` of a shift to the left: the size and the distance, below it.
    Left(u32),
    /// `immh:immb` of a shift to the right: twice the size less the distance, which is not zero.
    Right(u32),
    /// `abc:defgh` of MOVI, MVNI and FMOV.
    Byte,
    /// `imm5` of DUP, UMOV and INS (general): the lane above a one that marks the size.
    Lane(u32),
    /// `imm5` of INS (element) from the immediate's low nibble and `imm4` from its high one.
    Lanes(u32),
    /// `H:L` of an arithmetic instruction by a 32-bit lane.
    ByLane,
    /// `imm4` of EXT: the first byte.
    First,
    /// `imm16` of MOVZ.
    Wide,
    /// `immr` of UBFM: the distance of a shift of a general register's 32 bits to the right.
    Rotate,
    /// The same of 64 bits.
    RotateLong,
    /// `imm6` of ADD (shifted register), from 1 to 3.
    Index,
}

/// The bits of an immediate; `None` when it does not fit.
pub(super) fn immediate(kind: Immediate, imm: u32) -> Option<u32> {
    let marked = |size: u32, lane: u32| (lane < 128 / size).then_some(((2 * lane + 1) * (size / 8)) << 16);
    match kind {
        Immediate::Left(size) => (imm < size).then_some((size + imm) << 16),
        Immediate::Right(size) => (1..=size).contains(&imm).then(|| (2 * size - imm) << 16),
        Immediate::Byte => Some(imm >> 5 << 16 | (imm & 31) << 5),
        Immediate::Lane(size) => marked(size, imm),
        Immediate::Lanes(size) => {
            (imm >> 4 < 128 / size).then_some(((imm >> 4) * (size / 8)) << 11 | marked(size, imm & 15)?)
        }
        Immediate::ByLane => (imm < 4).then_some(imm >> 1 << 11 | (imm & 1) << 21),
        Immediate::First => (imm < 16).then_some(imm << 11),
        Immediate::Wide => Some(imm << 5),
        Immediate::Rotate => (imm < 32).then_some(imm << 16),
        Immediate::RotateLong => (imm < 64).then_some(imm << 16),
        Immediate::Index => (1..=3).contains(&imm).then_some(imm << 10),
    }
}

const fn code(word: u32, fields: &'static [Field]) -> Code {
    Code { word, fields }
}

use Field::{Address, Arg, Dst, Imm, Near};
use Immediate::{ByLane, Byte, First, Index, Lane, Lanes, Left, Right, Rotate, RotateLong, Wide};

/// `Rd`: the destination.
const D: Field = Dst(0);
/// `Rn`: operand 0, or operand 1 after one that the destination overwrites.
const N: Field = Arg(0, 5);
const N1: Field = Arg(1, 5);
/// `Rm`: operand 1, or operand 2 after one that the destination overwrites.
const M: Field = Arg(1, 16);
const M2: Field = Arg(2, 16);

const DN: &[Field] = &[D, N];
const AN: &[Field] = &[D, N1];
const DNM: &[Field] = &[D, N, M];
const ANM: &[Field] = &[D, N1, M2];
const DI: &[Field] = &[D, Imm(Byte)];
/// A comparison's operands.
const CN: &[Field] = &[N, M];
/// `Rt` of what is loaded, or stored, and its place of so many bytes.
const fn load<const BYTES: u8>() -> &'static [Field] {
    &[D, Field::Place(0, BYTES)]
}
const fn store<const BYTES: u8>() -> &'static [Field] {
    &[Arg(1, 0), Field::Place(0, BYTES)]
}

/// The encoding of an operation.
#[rustfmt::skip]
pub(super) const fn encoding(op: A64) -> Code {
    match op {
        // Floating point.
        A64::Fadd => code(0x4e20_d400, DNM),
        A64::Fsub => code(0x4ea0_d400, DNM),
        A64::Fmul => code(0x6e20_dc00, DNM),
        A64::FmulLane => code(0x4f80_9000, &[D, N, M, Imm(ByLane)]),
        A64::Fdiv => code(0x6e20_fc00, DNM),
        A64::Fsqrt => code(0x6ea1_f800, DN),
        A64::Fneg => code(0x6ea0_f800, DN),
        A64::Fabs => code(0x4ea0_f800, DN),
        A64::Fmin => code(0x4ea0_f400, DNM),
        A64::Fmax => code(0x4e20_f400, DNM),
        A64::Fmaxnm => code(0x4e20_c400, DNM),
        A64::Fminv => code(0x6eb0_f800, DN),
        A64::Fmaxv => code(0x6e30_f800, DN),

        // The destination is the addend.
        A64::Fmla => code(0x4e20_cc00, ANM),
        A64::Fmls => code(0x4ea0_cc00, ANM),
        A64::FmlaLane => code(0x4f80_1000, &[D, N1, M2, Imm(ByLane)]),

        // Conversions.
        A64::Frintn => code(0x4e21_8800, DN),
        A64::Frintm => code(0x4e21_9800, DN),
        A64::Frintp => code(0x4ea1_8800, DN),
        A64::Frintz => code(0x4ea1_9800, DN),
        A64::Fcvtns => code(0x4e21_a800, DN),
        A64::Fcvtnu => code(0x6e21_a800, DN),
        A64::Scvtf => code(0x4e21_d800, DN),
        A64::Ucvtf => code(0x6e21_d800, DN),

        // Comparisons.
        A64::Fcmeq => code(0x4e20_e400, DNM),
        A64::Fcmgt => code(0x6ea0_e400, DNM),
        A64::Fcmge => code(0x6e20_e400, DNM),
        A64::FcmeqZero => code(0x4ea0_d800, DN),
        A64::FcmgtZero => code(0x4ea0_c800, DN),
        A64::FcmgeZero => code(0x6ea0_c800, DN),
        A64::FcmltZero => code(0x4ea0_e800, DN),
        A64::FcmleZero => code(0x6ea0_d800, DN),
        A64::Cmeq => code(0x6ea0_8c00, DNM),
        A64::Cmgt => code(0x4ea0_3400, DNM),
        A64::Cmge => code(0x4ea0_3c00, DNM),
        A64::Cmhi => code(0x6ea0_3400, DNM),
        A64::Cmhs => code(0x6ea0_3c00, DNM),
        A64::Cmtst => code(0x4ea0_8c00, DNM),
        A64::CmeqZero => code(0x4ea0_9800, DN),
        A64::CmgtZero => code(0x4ea0_8800, DN),
        A64::CmgeZero => code(0x6ea0_8800, DN),
        A64::CmltZero => code(0x4ea0_a800, DN),
        A64::CmleZero => code(0x6ea0_9800, DN),

        // Logic.
        A64::And => code(0x4e20_1c00, DNM),
        A64::Orr => code(0x4ea0_1c00, DNM),
        A64::Eor => code(0x6e20_1c00, DNM),
        A64::Bic => code(0x4e60_1c00, DNM),
        A64::Orn => code(0x4ee0_1c00, DNM),
        A64::Mvn => code(0x6e20_5800, DN),
        A64::BicImm => code(0x6f00_1400, DI),

        // Choices: BSL overwrites the mask, BIT and BIF what is kept.
        A64::Bsl => code(0x6e60_1c00, ANM),
        A64::Bit => code(0x6ea0_1c00, ANM),
        A64::Bif => code(0x6ee0_1c00, ANM),

        // Integers.
        A64::Add => code(0x4ea0_8400, DNM),
        A64::Sub => code(0x6ea0_8400, DNM),
        A64::Mul => code(0x4ea0_9c00, DNM),
        A64::MulLane => code(0x4f80_8000, &[D, N, M, Imm(ByLane)]),
        A64::Neg => code(0x6ea0_b800, DN),
        A64::Abs => code(0x4ea0_b800, DN),
        A64::Smin => code(0x4ea0_6c00, DNM),
        A64::Smax => code(0x4ea0_6400, DNM),
        A64::Umin => code(0x6ea0_6c00, DNM),
        A64::Umax => code(0x6ea0_6400, DNM),

        // Across lanes.
        A64::Addv => code(0x4eb1_b800, DN),
        A64::Sminv => code(0x4eb1_a800, DN),
        A64::Smaxv => code(0x4eb0_a800, DN),
        A64::Uminv => code(0x6eb1_a800, DN),
        A64::Umaxv => code(0x6eb0_a800, DN),

        // Shifts.
        A64::Shl => code(0x4f00_5400, &[D, N, Imm(Left(32))]),
        A64::Ushr => code(0x6f00_0400, &[D, N, Imm(Right(32))]),
        A64::Sshr => code(0x4f00_0400, &[D, N, Imm(Right(32))]),
        A64::Ushl => code(0x6ea0_4400, DNM),
        A64::Sshl => code(0x4ea0_4400, DNM),

        // Lane moves.
        A64::Zip1 => code(0x4e80_3800, DNM),
        A64::Zip2 => code(0x4e80_7800, DNM),
        A64::Uzp1 => code(0x4e80_1800, DNM),
        A64::Uzp2 => code(0x4e80_5800, DNM),
        A64::Trn1 => code(0x4e80_2800, DNM),
        A64::Trn2 => code(0x4e80_6800, DNM),
        A64::Zip1Half => code(0x4ec0_3800, DNM),
        A64::Zip2Half => code(0x4ec0_7800, DNM),
        A64::Rev64 => code(0x4ea0_0800, DN),
        A64::Ext => code(0x6e00_0000, &[D, N, M, Imm(First)]),
        A64::DupLane => code(0x4e00_0400, &[D, N, Imm(Lane(32))]),
        A64::DupHalf => code(0x4e00_0400, &[D, N, Imm(Lane(64))]),
        A64::OneLane => code(0x5e00_0400, &[D, N, Imm(Lane(32))]),
        A64::HighHalf => code(0x5e18_0400, DN),
        A64::LowHalf => code(0x1e60_4000, DN),
        A64::LowLane => code(0x1e20_4000, DN),
        A64::InsLane => code(0x6e00_0400, &[D, N1, Imm(Lanes(32))]),
        A64::InsHalf => code(0x6e00_0400, &[D, N1, Imm(Lanes(64))]),
        A64::Tbl => code(0x4e00_0000, DNM),
        A64::Tbx => code(0x4e00_1000, ANM),

        // Lanes of other sizes.
        A64::Smull => code(0x0e60_c000, DNM),
        A64::Smull2 => code(0x4e60_c000, DNM),
        A64::Addp => code(0x4ea0_bc00, DNM),
        A64::Sqxtn => code(0x0e61_4800, DN),
        A64::Sqxtn2 => code(0x4e61_4800, AN),
        A64::Ushll => code(0x2f08_a400, DN),
        A64::Ushll2 => code(0x6f08_a400, DN),

        A64::UshllWords => code(0x2f10_a400, DN),
        A64::SshllWords => code(0x0f10_a400, DN),
        A64::Sshll => code(0x0f08_a400, DN),
        A64::Xtn => code(0x0e61_2800, DN),
        A64::XtnBytes => code(0x0e21_2800, DN),
        A64::CmgtLong => code(0x4ee0_3400, DNM),

        // Between racks and general registers.
        A64::DupLong => code(0x4e08_0c00, DN),
        A64::DupWord => code(0x4e04_0c00, DN),
        A64::FmovIn => code(0x1e27_0000, DN),
        A64::FmovOut => code(0x1e26_0000, DN),
        A64::LaneOut => code(0x0e00_3c00, &[D, N, Imm(Lane(32))]),
        A64::InsWord => code(0x4e00_1c00, &[D, N1, Imm(Lane(32))]),

        // General registers; MOV is ORR of the zero register.
        A64::MovWord => code(0x2a00_03e0, &[D, Arg(0, 16)]),
        A64::WordConst => code(0x5280_0000, &[D, Imm(Wide)]),
        A64::LsrWord => code(0x5300_7c00, &[D, N, Imm(Rotate)]),
        A64::AndOne => code(0x1200_0000, DN),
        A64::AndFifteen => code(0x1200_0c00, DN),
        A64::EorOne => code(0x5200_0000, DN),
        A64::SpreadOne => code(0x1300_0000, DN),

        // Tables.
        A64::Adr => code(0x1000_0000, &[D, Address]),
        A64::LdrEntry => code(0x3ce0_5800, DNM),

        // Copies and constants; MOV is ORR of a register with itself. In `cmode` and `op` of the modified immediates stand
        // what is shifted in and how far.
        A64::Mov => code(0x4ea0_1c00, &[D, N, Arg(0, 16)]),
        A64::Ldr => code(0x9c00_0000, &[D, Near]),
        A64::Zero => code(0x6f00_e400, &[D]),
        A64::Movi => code(0x4f00_0400, DI),
        A64::MoviLsl8 => code(0x4f00_2400, DI),
        A64::MoviLsl16 => code(0x4f00_4400, DI),
        A64::MoviLsl24 => code(0x4f00_6400, DI),
        A64::MoviMsl8 => code(0x4f00_c400, DI),
        A64::MoviMsl16 => code(0x4f00_d400, DI),
        A64::MoviHalves => code(0x4f00_8400, DI),
        A64::MoviHalvesLsl8 => code(0x4f00_a400, DI),
        A64::Mvni => code(0x6f00_0400, DI),
        A64::MvniLsl8 => code(0x6f00_2400, DI),
        A64::MvniLsl16 => code(0x6f00_4400, DI),
        A64::MvniLsl24 => code(0x6f00_6400, DI),
        A64::MvniMsl8 => code(0x6f00_c400, DI),
        A64::MvniMsl16 => code(0x6f00_d400, DI),
        A64::MvniHalves => code(0x6f00_8400, DI),
        A64::MvniHalvesLsl8 => code(0x6f00_a400, DI),
        A64::MoviBytes => code(0x4f00_e400, DI),
        A64::MoviMask => code(0x6f00_e400, DI),
        A64::Fmov => code(0x4f00_f400, DI),
        A64::Ret => code(0xd65f_03c0, &[]),
        _ => of_run(op),
    }
}

/// The encoding of a row of runs. Markers have none of their own: jumps depend on where they lead.
#[rustfmt::skip]
const fn of_run(op: A64) -> Code {
    match op {
        A64::AddLong => code(0x8b00_0000, DNM),
        A64::AddNumber => code(0x9100_0000, &[D, N, Field::Number(1, Number::Sum)]),
        A64::AddShifted => code(0x8b00_0000, &[D, N, M, Imm(Index)]),
        A64::SubLong => code(0xcb00_0000, DNM),
        A64::SubNumber => code(0xd100_0000, &[D, N, Field::Number(1, Number::Sum)]),
        A64::AndLong => code(0x8a00_0000, DNM),
        A64::AndNumber => code(0x9240_0000, &[D, N, Field::Number(1, Number::Pattern)]),
        A64::OrLong => code(0xaa00_0000, DNM),
        A64::OrNumber => code(0xb240_0000, &[D, N, Field::Number(1, Number::Pattern)]),
        A64::XorLong => code(0xca00_0000, DNM),
        A64::XorNumber => code(0xd240_0000, &[D, N, Field::Number(1, Number::Pattern)]),
        // MADD of the zero register; UBFM to bit 63; SBFM and UBFM of the low 32 bits; ORR of the zero register.
        A64::MulLong => code(0x9b00_7c00, DNM),
        A64::ShrLong => code(0xd340_fc00, &[D, N, Imm(RotateLong)]),
        A64::SignExtend => code(0x9340_7c00, DN),
        A64::ZeroExtend => code(0xd340_7c00, DN),
        A64::LaneOutLong => code(0x4e00_2c00, &[D, N, Imm(Lane(32))]),
        A64::MovLong => code(0xaa00_03e0, &[D, Arg(0, 16)]),
        A64::MovNumber => code(0xd280_0000, &[D, Field::Number(0, Number::Wide)]),
        A64::MovNot => code(0x9280_0000, &[D, Field::Number(0, Number::Complement)]),
        A64::LdrNumber => code(0x5800_0000, &[D, Near]),

        // Transfers, of no mode yet.
        A64::LdrByte => code(0x3840_0000, load::<1>()),
        A64::LdrSignedByte => code(0x38c0_0000, load::<1>()),
        A64::LdrHalf => code(0x7840_0000, load::<2>()),
        A64::LdrSignedHalf => code(0x78c0_0000, load::<2>()),
        A64::LdrWord => code(0xb840_0000, load::<4>()),
        A64::LdrLong => code(0xf840_0000, load::<8>()),
        A64::StrLong => code(0xf800_0000, store::<8>()),
        A64::TakeArgument => code(0xf940_03e0, &[D, Field::Frame(0)]),
        A64::LdrRack => code(0x3cc0_0000, load::<16>()),
        A64::LdrEight => code(0xfc40_0000, load::<8>()),
        A64::LdrFour => code(0xbc40_0000, load::<4>()),
        A64::LdrTwo => code(0x7c40_0000, load::<2>()),
        A64::LdrOne => code(0x3c40_0000, load::<1>()),
        A64::StrRack => code(0x3c80_0000, store::<16>()),
        A64::StrEight => code(0xfc00_0000, store::<8>()),
        A64::StrFour => code(0xbc00_0000, store::<4>()),
        A64::StrTwo => code(0x7c00_0000, store::<2>()),
        A64::StrOne => code(0x3c00_0000, store::<1>()),

        // SUBS to the zero register.
        A64::CompareLong => code(0xeb00_001f, CN),
        A64::CompareLongNumber => code(0xf100_001f, &[N, Field::Number(1, Number::Sum)]),
        A64::CompareWord => code(0x6b00_001f, CN),
        A64::CompareWordNumber => code(0x7100_001f, &[N, Field::Number(1, Number::Sum)]),
        // STR and LDR that move the stack pointer by 16, before and after.
        A64::Push => code(0xf81f_0fe0, &[Arg(0, 0)]),
        A64::Pop => code(0xf841_07e0, &[D]),
        _ => code(0, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many immediates each field has, and where the least and the greatest go, by the manual's drawings.
    #[test]
    fn immediates_that_do_not_fit_are_refused() {
        type Case = (Immediate, u32, &'static [(u32, u32)]);
        let cases: [Case; 10] = [
            (Left(32), 32, &[(0, 0b0100000 << 16), (31, 0b0111111 << 16)]),
            (Right(32), 32, &[(1, 0b0111111 << 16), (32, 0b0100000 << 16)]),
            (Right(64), 64, &[(1, 0b1111111 << 16), (64, 0b1000000 << 16)]),
            (Byte, 256, &[(0b101_00001, 0b101 << 16 | 0b00001 << 5)]),
            (Lane(32), 4, &[(0, 0b00100 << 16), (3, 0b11100 << 16)]),
            (Lane(64), 2, &[(0, 0b01000 << 16), (1, 0b11000 << 16)]),
            (Lanes(32), 16, &[(0x31, 0b01100 << 16 | 0b1100 << 11), (0x13, 0b11100 << 16 | 0b0100 << 11)]),
            (Lanes(64), 4, &[(0x01, 0b11000 << 16), (0x10, 0b01000 << 16 | 0b1000 << 11)]),
            (ByLane, 4, &[(1, 1 << 21), (2, 1 << 11)]),
            (First, 16, &[(15, 0b1111 << 11)]),
        ];
        for (kind, count, places) in cases {
            assert_eq!((0..256).filter(|&imm| immediate(kind, imm).is_some()).count(), count as usize, "{kind:?}");
            for &(imm, bits) in places {
                assert_eq!(immediate(kind, imm), Some(bits), "{kind:?} {imm}");
            }
        }
    }
}
