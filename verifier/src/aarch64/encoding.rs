//! The bits of every AArch64 instruction of the table, written down from the Arm Architecture Reference Manual (DDI
//! 0487, section C4.1) a second time, apart from the encoder's.
//!
//! Each row is a word and the fields in it that vary; every other bit is fixed. So no bit of an accepted word is
//! unchecked, also where the machine ignores it, and two words that are accepted are two instructions.

use rake_ir::machine::aarch64::{A64, ALL};

/// A field of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// The destination's register, in bits 0 to 4.
    Dst,
    /// The register of an operand, five bits from this one on.
    Arg(u8, u8),
    /// An immediate.
    Imm(Imm),
    /// The distance of a literal in words, 19 bits from bit 5 on (LDR, literal).
    Words,
    /// The distance of a table in bytes: bits 5 to 23, and below those 29 and 30 (ADR).
    Bytes,
    /// The address of a place; so many times its size is doubled from a byte on.
    Place(u8),
    /// A number.
    Number(Number),
}

/// How a number stands in its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Twelve bits from bit 10 on, twelve bits higher where bit 22 says so.
    Sum,
    /// A run of ones: how many in bits 10 to 15, less one, turned to the right by bits 16 to 21.
    Ones,
    /// Sixteen bits from bit 5 on, sixteen bits higher where bit 21 says so.
    Wide,
    /// What has zeros where that has ones.
    Complement,
    /// How many times eight bytes above the stack's top, in twelve bits from bit 10 on.
    Frame,
}

/// How an immediate stands in its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Imm {
    /// As it is: from which bit, and how many.
    At(u8, u8),
    /// 32, or 64, less the number in the five, or six, bits from bit 16 on: a shift to the right.
    Right(u8),
    /// A lane in H:L, bits 11 and 21 (by element).
    Element,
    /// The lane that is written, in its low four bits, and the lane that is read, in the high ones: each from which
    /// bit, and of how many (INS, element).
    Lanes((u8, u8), (u8, u8)),
    /// `abc` in bits 16 to 18, `defgh` in bits 5 to 9 (modified immediate).
    Modified,
    /// As it is, in two bits from bit 10 on; none is another instruction.
    Index,
}

/// How a word says the address of a place (section C4.1, "Loads and stores").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// It has no place.
    None,
    /// `imm12` from bit 10 on, in units of what is accessed.
    Scaled,
    /// `imm9` from bit 12 on.
    Unscaled,
    /// Another register from bit 16 on, in units of what is accessed where bit 12 says so.
    Indexed,
}

impl Mode {
    /// The modes that an operation has.
    fn of(fields: &[Field]) -> &'static [Mode] {
        let place = fields.iter().any(|field| matches!(field, Place(_)));
        if place { &[Mode::Scaled, Mode::Unscaled, Mode::Indexed] } else { &[Mode::None] }
    }

    /// The bits that tell the mode.
    const fn bits(self) -> u32 {
        match self {
            Mode::None | Mode::Unscaled => 0,
            Mode::Scaled => 1 << 24,
            // A whole register (LSL).
            Mode::Indexed => 1 << 21 | 0b011 << 13 | 0b10 << 10,
        }
    }
}

/// An address as a word says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// The register that is always there.
    pub base: u8,
    /// Another one.
    pub index: Option<u8>,
    /// By how many bits that is shifted to the left.
    pub scale: u8,
    /// What is added.
    pub disp: i32,
    /// Whether that is no multiple of what is accessed, or below zero: assemblers say so by another mnemonic.
    pub unscaled: bool,
}

use Field::{Arg, Bytes, Dst, Imm as I, Number as N, Place, Words};

const DNM: &[Field] = &[Dst, Arg(0, 5), Arg(1, 16)];
const DN: &[Field] = &[Dst, Arg(0, 5)];
/// The destination is the first operand too.
const TIED: &[Field] = &[Dst, Arg(1, 5), Arg(2, 16)];
const TIED_ONE: &[Field] = &[Dst, Arg(1, 5)];
const ELEMENT: &[Field] = &[Dst, Arg(0, 5), Arg(1, 16), Field::Imm(Imm::Element)];
const MODIFIED: &[Field] = &[Dst, Field::Imm(Imm::Modified)];

/// Three same: `0 1 U 01110 size 1 Rm opcode 1 Rn Rd`.
const fn three(u: u32, size: u32, opcode: u32) -> u32 {
    0x4e20_0400 | u << 29 | size << 22 | opcode << 11
}

/// Two-register miscellaneous: `0 1 U 01110 size 10000 opcode 10 Rn Rd`.
const fn two(u: u32, size: u32, opcode: u32) -> u32 {
    0x4e20_0800 | u << 29 | size << 22 | opcode << 12
}

/// Across lanes: `0 1 U 01110 size 11000 opcode 10 Rn Rd`.
const fn across(u: u32, size: u32, opcode: u32) -> u32 {
    0x4e30_0800 | u << 29 | size << 22 | opcode << 12
}

/// By element, 32-bit lanes: `0 1 0 01111 10 L M Rm opcode H 0 Rn Rd`.
const fn element(opcode: u32) -> u32 {
    0x4f80_0000 | opcode << 12
}

/// Shift by immediate: `0 1 U 011110 immh immb opcode 1 Rn Rd`; of `immh` the highest bit that is set tells the lanes.
const fn shift(u: u32, immh: u32, opcode: u32) -> u32 {
    0x4f00_0400 | u << 29 | immh << 19 | opcode << 11
}

/// Permute: `0 1 001110 size 0 Rm 0 opcode 10 Rn Rd`.
const fn permute(size: u32, opcode: u32) -> u32 {
    0x4e00_0800 | size << 22 | opcode << 12
}

/// Copy: `0 1 op 01110000 imm5 0 imm4 1 Rn Rd`.
const fn copy(op: u32, imm5: u32, imm4: u32) -> u32 {
    0x4e00_0400 | op << 29 | imm5 << 16 | imm4 << 11
}

/// Modified immediate: `0 1 op 0111100000 abc cmode 0 1 defgh Rd`.
const fn modified(op: u32, cmode: u32) -> u32 {
    0x4f00_0400 | op << 29 | cmode << 12
}

/// Words of 32-bit lanes, and of floats of 32 bits in two halves of the opcode space.
const S: u32 = 0b10;
const LOW: u32 = 0b00;
const HIGH: u32 = 0b10;

/// The word of an operation, and what varies in it.
#[rustfmt::skip]
pub fn encoding(op: A64) -> (u32, &'static [Field]) {
    match op {
        A64::Fadd => (three(0, LOW, 0b11010), DNM),
        A64::Fsub => (three(0, HIGH, 0b11010), DNM),
        A64::Fmul => (three(1, LOW, 0b11011), DNM),
        A64::FmulLane => (element(0b1001), ELEMENT),
        A64::Fdiv => (three(1, LOW, 0b11111), DNM),
        A64::Fsqrt => (two(1, HIGH, 0b11111), DN),
        A64::Fneg => (two(1, HIGH, 0b01111), DN),
        A64::Fabs => (two(0, HIGH, 0b01111), DN),
        A64::Fmin => (three(0, HIGH, 0b11110), DNM),
        A64::Fmax => (three(0, LOW, 0b11110), DNM),
        A64::Fmaxnm => (three(0, LOW, 0b11000), DNM),
        A64::Fminv => (across(1, HIGH, 0b01111), DN),
        A64::Fmaxv => (across(1, LOW, 0b01111), DN),
        A64::Fmla => (three(0, LOW, 0b11001), TIED),
        A64::Fmls => (three(0, HIGH, 0b11001), TIED),
        A64::FmlaLane => (element(0b0001), &[Dst, Arg(1, 5), Arg(2, 16), I(Imm::Element)]),
        A64::Frintn => (two(0, LOW, 0b11000), DN),
        A64::Frintm => (two(0, LOW, 0b11001), DN),
        A64::Frintp => (two(0, HIGH, 0b11000), DN),
        A64::Frintz => (two(0, HIGH, 0b11001), DN),
        A64::Fcvtns => (two(0, LOW, 0b11010), DN),
        A64::Fcvtnu => (two(1, LOW, 0b11010), DN),
        A64::Scvtf => (two(0, LOW, 0b11101), DN),
        A64::Ucvtf => (two(1, LOW, 0b11101), DN),
        A64::Fcmeq => (three(0, LOW, 0b11100), DNM),
        A64::Fcmgt => (three(1, HIGH, 0b11100), DNM),
        A64::Fcmge => (three(1, LOW, 0b11100), DNM),
        A64::FcmeqZero => (two(0, HIGH, 0b01101), DN),
        A64::FcmgtZero => (two(0, HIGH, 0b01100), DN),
        A64::FcmgeZero => (two(1, HIGH, 0b01100), DN),
        A64::FcmltZero => (two(0, HIGH, 0b01110), DN),
        A64::FcmleZero => (two(1, HIGH, 0b01101), DN),
        A64::Cmeq => (three(1, S, 0b10001), DNM),
        A64::Cmgt => (three(0, S, 0b00110), DNM),
        A64::Cmge => (three(0, S, 0b00111), DNM),
        A64::Cmhi => (three(1, S, 0b00110), DNM),
        A64::Cmhs => (three(1, S, 0b00111), DNM),
        A64::Cmtst => (three(0, S, 0b10001), DNM),
        A64::CmeqZero => (two(0, S, 0b01001), DN),
        A64::CmgtZero => (two(0, S, 0b01000), DN),
        A64::CmgeZero => (two(1, S, 0b01000), DN),
        A64::CmltZero => (two(0, S, 0b01010), DN),
        A64::CmleZero => (two(1, S, 0b01001), DN),
        A64::And => (three(0, 0b00, 0b00011), DNM),
        A64::Bic => (three(0, 0b01, 0b00011), DNM),
        A64::Orr => (three(0, 0b10, 0b00011), DNM),
        A64::Orn => (three(0, 0b11, 0b00011), DNM),
        A64::Eor => (three(1, 0b00, 0b00011), DNM),
        A64::Bsl => (three(1, 0b01, 0b00011), TIED),
        A64::Bit => (three(1, 0b10, 0b00011), TIED),
        A64::Bif => (three(1, 0b11, 0b00011), TIED),
        A64::Mvn => (two(1, 0b00, 0b00101), DN),
        A64::BicImm => (modified(1, 0b0001), MODIFIED),
        A64::Add => (three(0, S, 0b10000), DNM),
        A64::Sub => (three(1, S, 0b10000), DNM),
        A64::Mul => (three(0, S, 0b10011), DNM),
        A64::MulLane => (element(0b1000), ELEMENT),
        A64::Neg => (two(1, S, 0b01011), DN),
        A64::Abs => (two(0, S, 0b01011), DN),
        A64::Smin => (three(0, S, 0b01101), DNM),
        A64::Smax => (three(0, S, 0b01100), DNM),
        A64::Umin => (three(1, S, 0b01101), DNM),
        A64::Umax => (three(1, S, 0b01100), DNM),
        A64::Addv => (across(0, S, 0b11011), DN),
        A64::Sminv => (across(0, S, 0b11010), DN),
        A64::Smaxv => (across(0, S, 0b01010), DN),
        A64::Uminv => (across(1, S, 0b11010), DN),
        A64::Umaxv => (across(1, S, 0b01010), DN),
        A64::Shl => (shift(0, 0b0100, 0b01010), &[Dst, Arg(0, 5), I(Imm::At(16, 5))]),
        A64::Ushr => (shift(1, 0b0100, 0b00000), &[Dst, Arg(0, 5), I(Imm::Right(5))]),
        A64::Sshr => (shift(0, 0b0100, 0b00000), &[Dst, Arg(0, 5), I(Imm::Right(5))]),
        A64::Ushl => (three(1, S, 0b01000), DNM),
        A64::Sshl => (three(0, S, 0b01000), DNM),
        A64::Uzp1 => (permute(0b10, 0b001), DNM),
        A64::Trn1 => (permute(0b10, 0b010), DNM),
        A64::Zip1 => (permute(0b10, 0b011), DNM),
        A64::Uzp2 => (permute(0b10, 0b101), DNM),
        A64::Trn2 => (permute(0b10, 0b110), DNM),
        A64::Zip2 => (permute(0b10, 0b111), DNM),
        A64::Zip1Half => (permute(0b11, 0b011), DNM),
        A64::Zip2Half => (permute(0b11, 0b111), DNM),
        A64::Rev64 => (two(0, S, 0b00000), DN),
        A64::Ext => (0x6e00_0000, &[Dst, Arg(0, 5), Arg(1, 16), I(Imm::At(11, 4))]),
        A64::DupLane => (copy(0, 0b00100, 0b0000), &[Dst, Arg(0, 5), I(Imm::At(19, 2))]),
        A64::DupHalf => (copy(0, 0b01000, 0b0000), &[Dst, Arg(0, 5), I(Imm::At(20, 1))]),
        // The scalar copies and moves have bit 28 where vectors have none.
        A64::OneLane => (copy(0, 0b00100, 0b0000) | 1 << 28, &[Dst, Arg(0, 5), I(Imm::At(19, 2))]),
        A64::HighHalf => (copy(0, 0b11000, 0b0000) | 1 << 28, DN),
        A64::LowHalf => (0x1e60_4000, DN),
        A64::LowLane => (0x1e20_4000, DN),
        A64::InsLane => (copy(1, 0b00100, 0b0000), &[Dst, Arg(1, 5), I(Imm::Lanes((19, 2), (13, 2)))]),
        A64::InsHalf => (copy(1, 0b01000, 0b0000), &[Dst, Arg(1, 5), I(Imm::Lanes((20, 1), (14, 1)))]),
        A64::Tbl => (0x4e00_0000, DNM),
        A64::Tbx => (0x4e00_1000, TIED),
        A64::Smull => (0x0e60_c000, DNM),
        A64::Smull2 => (0x4e60_c000, DNM),
        A64::Addp => (three(0, S, 0b10111), DNM),
        // Bit 30 tells the half that is written, or read.
        A64::Sqxtn => (two(0, 0b01, 0b10100) & !(1 << 30), DN),
        A64::Sqxtn2 => (two(0, 0b01, 0b10100), TIED_ONE),
        A64::Ushll => (shift(1, 0b0001, 0b10100) & !(1 << 30), DN),
        A64::Ushll2 => (shift(1, 0b0001, 0b10100), DN),
        A64::UshllWords => (shift(1, 0b0010, 0b10100) & !(1 << 30), DN),
        A64::SshllWords => (shift(0, 0b0010, 0b10100) & !(1 << 30), DN),
        A64::Sshll => (shift(0, 0b0001, 0b10100) & !(1 << 30), DN),
        A64::Xtn => (two(0, 0b01, 0b10010) & !(1 << 30), DN),
        A64::XtnBytes => (two(0, 0b00, 0b10010) & !(1 << 30), DN),
        A64::CmgtLong => (three(0, 0b11, 0b00110), DNM),
        A64::DupLong => (copy(0, 0b01000, 0b0001), DN),
        A64::DupWord => (copy(0, 0b00100, 0b0001), DN),
        A64::FmovIn => (0x1e27_0000, DN),
        A64::FmovOut => (0x1e26_0000, DN),
        A64::LaneOut => (copy(0, 0b00100, 0b0111) & !(1 << 30), &[Dst, Arg(0, 5), I(Imm::At(19, 2))]),
        A64::InsWord => (copy(0, 0b00100, 0b0011), &[Dst, Arg(1, 5), I(Imm::At(19, 2))]),
        // ORR with the zero register; MOVZ; UBFM to bit 31; the bitmask of bit 0 alone; SBFM of bit 0.
        A64::MovWord => (0x2a00_03e0, &[Dst, Arg(0, 16)]),
        A64::WordConst => (0x5280_0000, &[Dst, I(Imm::At(5, 8))]),
        A64::LsrWord => (0x5300_7c00, &[Dst, Arg(0, 5), I(Imm::At(16, 5))]),
        A64::AndOne => (0x1200_0000, DN),
        // Of the four lowest bits.
        A64::AndFifteen => (0x1200_0000 | 3 << 10, DN),
        A64::EorOne => (0x5200_0000, DN),
        A64::SpreadOne => (0x1300_0000, DN),
        A64::Adr => (0x1000_0000, &[Dst, Bytes]),
        A64::LdrEntry => (0x3ce0_5800, DNM),
        A64::Ldr => (0x9c00_0000, &[Dst, Words]),
        // ORR of a register with itself: the same register twice.
        A64::Mov => (three(0, 0b10, 0b00011), &[Dst, Arg(0, 5), Arg(0, 16)]),
        A64::Zero => (modified(1, 0b1110), &[Dst]),
        A64::Movi => (modified(0, 0b0000), MODIFIED),
        A64::MoviLsl8 => (modified(0, 0b0010), MODIFIED),
        A64::MoviLsl16 => (modified(0, 0b0100), MODIFIED),
        A64::MoviLsl24 => (modified(0, 0b0110), MODIFIED),
        A64::MoviHalves => (modified(0, 0b1000), MODIFIED),
        A64::MoviHalvesLsl8 => (modified(0, 0b1010), MODIFIED),
        A64::MoviMsl8 => (modified(0, 0b1100), MODIFIED),
        A64::MoviMsl16 => (modified(0, 0b1101), MODIFIED),
        A64::MoviBytes => (modified(0, 0b1110), MODIFIED),
        A64::MoviMask => (modified(1, 0b1110), MODIFIED),
        A64::Mvni => (modified(1, 0b0000), MODIFIED),
        A64::MvniLsl8 => (modified(1, 0b0010), MODIFIED),
        A64::MvniLsl16 => (modified(1, 0b0100), MODIFIED),
        A64::MvniLsl24 => (modified(1, 0b0110), MODIFIED),
        A64::MvniHalves => (modified(1, 0b1000), MODIFIED),
        A64::MvniHalvesLsl8 => (modified(1, 0b1010), MODIFIED),
        A64::MvniMsl8 => (modified(1, 0b1100), MODIFIED),
        A64::MvniMsl16 => (modified(1, 0b1101), MODIFIED),
        A64::Fmov => (modified(0, 0b1111), MODIFIED),
        A64::Ret => (0xd65f_03c0, &[]),
        _ => of_run(op),
    }
}

/// Data processing of 64 bits (section C4.1): with a shifted register, `op opc 01010 00 0 Rm imm6 Rn Rd`.
const fn logical(opc: u32) -> u32 {
    0x8a00_0000 | opc << 29
}

/// The same of sums: `sf op S 01011 00 0 Rm imm6 Rn Rd`, of which `S` and no destination make a comparison.
const fn sum(op: u32) -> u32 {
    0x8b00_0000 | op << 30
}

/// With numbers: `1 opc 100100 1 immr imms Rn Rd`, `sf op S 100010 sh imm12 Rn Rd`, `1 opc 100101 hw imm16 Rd`.
const fn logical_number(opc: u32) -> u32 {
    0x9240_0000 | opc << 29
}
const fn sum_number(op: u32) -> u32 {
    0x9100_0000 | op << 30
}
const fn wide(opc: u32) -> u32 {
    0x9280_0000 | opc << 29
}

/// SUBS without a destination.
const COMPARES: u32 = 1 << 30 | 1 << 29 | 31;
const WORD: u32 = 1 << 31;

/// A transfer: `size 111 V 00 opc ... Rn Rt`.
const fn transfer(size: u32, v: u32, opc: u32) -> u32 {
    0x3800_0000 | size << 30 | v << 26 | opc << 22
}

const LONGS_NUMBER: &[Field] = &[Dst, Arg(0, 5), N(Number::Sum)];
const ONES: &[Field] = &[Dst, Arg(0, 5), N(Number::Ones)];

/// The word of an operation of runs. Markers have none: what is a jump is told apart before.
#[rustfmt::skip]
fn of_run(op: A64) -> (u32, &'static [Field]) {
    match op {
        A64::AddLong => (sum(0), DNM),
        A64::AddShifted => (sum(0), &[Dst, Arg(0, 5), Arg(1, 16), I(Imm::Index)]),
        A64::SubLong => (sum(1), DNM),
        A64::CompareLong => (sum(0) | COMPARES, &[Arg(0, 5), Arg(1, 16)]),
        A64::CompareWord => ((sum(0) | COMPARES) & !WORD, &[Arg(0, 5), Arg(1, 16)]),
        A64::AddNumber => (sum_number(0), LONGS_NUMBER),
        A64::SubNumber => (sum_number(1), LONGS_NUMBER),
        A64::CompareLongNumber => (sum_number(0) | COMPARES, &[Arg(0, 5), N(Number::Sum)]),
        A64::CompareWordNumber => ((sum_number(0) | COMPARES) & !WORD, &[Arg(0, 5), N(Number::Sum)]),
        A64::AndLong => (logical(0b00), DNM),
        A64::OrLong => (logical(0b01), DNM),
        A64::XorLong => (logical(0b10), DNM),
        A64::LaneOutLong => (copy(0, 0b00100, 0b0101), &[Dst, Arg(0, 5), I(Imm::At(19, 2))]),
        // ORR with the zero register.
        A64::MovLong => (logical(0b01) | 31 << 5, &[Dst, Arg(0, 16)]),
        A64::AndNumber => (logical_number(0b00), ONES),
        A64::OrNumber => (logical_number(0b01), ONES),
        A64::XorNumber => (logical_number(0b10), ONES),
        // MOVN and MOVZ.
        A64::MovNot => (wide(0b00), &[Dst, N(Number::Complement)]),
        A64::MovNumber => (wide(0b10), &[Dst, N(Number::Wide)]),
        A64::LdrNumber => (0x5800_0000, &[Dst, Words]),
        // MADD with the zero register as its addend.
        A64::MulLong => (0x9b00_0000 | 31 << 10, DNM),
        // UBFM to bit 63, and of bits 0 to 31; SBFM of those.
        A64::ShrLong => (0xd340_0000 | 63 << 10, &[Dst, Arg(0, 5), I(Imm::At(16, 6))]),
        A64::ZeroExtend => (0xd340_0000 | 31 << 10, DN),
        A64::SignExtend => (0x9340_0000 | 31 << 10, DN),
        A64::LdrByte => (transfer(0b00, 0, 0b01), &[Dst, Place(0)]),
        A64::LdrHalf => (transfer(0b01, 0, 0b01), &[Dst, Place(1)]),
        A64::LdrWord => (transfer(0b10, 0, 0b01), &[Dst, Place(2)]),
        A64::LdrLong => (transfer(0b11, 0, 0b01), &[Dst, Place(3)]),
        // To 32 bits.
        A64::LdrSignedByte => (transfer(0b00, 0, 0b11), &[Dst, Place(0)]),
        A64::LdrSignedHalf => (transfer(0b01, 0, 0b11), &[Dst, Place(1)]),
        A64::StrLong => (transfer(0b11, 0, 0b00), &[Arg(1, 0), Place(3)]),
        A64::LdrOne => (transfer(0b00, 1, 0b01), &[Dst, Place(0)]),
        A64::LdrTwo => (transfer(0b01, 1, 0b01), &[Dst, Place(1)]),
        A64::LdrFour => (transfer(0b10, 1, 0b01), &[Dst, Place(2)]),
        A64::LdrEight => (transfer(0b11, 1, 0b01), &[Dst, Place(3)]),
        A64::LdrRack => (transfer(0b00, 1, 0b11), &[Dst, Place(4)]),
        A64::StrOne => (transfer(0b00, 1, 0b00), &[Arg(1, 0), Place(0)]),
        A64::StrTwo => (transfer(0b01, 1, 0b00), &[Arg(1, 0), Place(1)]),
        A64::StrFour => (transfer(0b10, 1, 0b00), &[Arg(1, 0), Place(2)]),
        A64::StrEight => (transfer(0b11, 1, 0b00), &[Arg(1, 0), Place(3)]),
        A64::StrRack => (transfer(0b00, 1, 0b10), &[Arg(1, 0), Place(4)]),
        // At the stack's top, scaled; and STR and LDR that move it by sixteen bytes, before and after.
        A64::TakeArgument => (transfer(0b11, 0, 0b01) | 1 << 24 | 31 << 5, &[Dst, N(Number::Frame)]),
        A64::Push => (transfer(0b11, 0, 0b00) | 0x1f0 << 12 | 0b11 << 10 | 31 << 5, &[Arg(0, 0)]),
        A64::Pop => (transfer(0b11, 0, 0b01) | 0x010 << 12 | 0b01 << 10 | 31 << 5, &[Dst]),
        // A word that no instruction has (section C4.1: floating point of a kind that is not allocated).
        _ => (u32::MAX, &[]),
    }
}

/// `brk #1`.
pub const TRAP: u32 = 0xd420_0020;

/// A jump: the number of its condition (section C1.2.4), if it has one, and how far it leads.
pub fn jump(word: u32) -> Option<(Option<u8>, i32)> {
    match word >> 24 {
        // B.cond, not BC.cond.
        0x54 if word & 0x10 == 0 => Some((Some(word as u8 & 15), (word << 8) as i32 >> 13 << 2)),
        0x14..=0x17 => Some((None, (word << 6) as i32 >> 6 << 2)),
        _ => None,
    }
}

/// `bti c`.
pub const LANDING: u32 = 0xd503_245f;

/// What a word says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The operation.
    pub op: A64,
    /// The destination's register.
    pub dst: Option<u8>,
    /// The registers of its operands.
    pub args: [Option<u8>; 3],
    /// The immediate.
    pub imm: Option<u8>,
    /// How far away the literal is, in bytes.
    pub distance: Option<i32>,
    /// The address of a place.
    pub place: Option<Address>,
    /// The number.
    pub number: Option<i32>,
}

/// The operations by their fixed bits.
#[derive(Clone, Debug)]
pub struct Encodings(Vec<(u32, u32, A64, Mode)>);

impl Encodings {
    /// Those of the table, the rows of runs among them or not.
    pub fn new(runs: bool) -> Encodings {
        let row = |op: A64, mode: Mode| {
            let (word, fields) = encoding(op);
            (mask(fields, mode), word | mode.bits(), op, mode)
        };
        let ops = ALL.iter().filter(|&&op| runs || !is_of_runs(op));
        Encodings(ops.flat_map(|&op| Mode::of(encoding(op).1).iter().map(move |&mode| row(op, mode))).collect())
    }

    /// Reads a word; where it is two operations, the more special one. `None` when it is none.
    pub fn read(&self, word: u32) -> Option<Fields> {
        let found = self.0.iter().filter(|(mask, value, ..)| word & mask == *value);
        let mut found: Vec<Fields> = found.filter_map(|&(.., op, mode)| fields(op, mode, word)).collect();
        found.sort_by_key(|fields| encoding(fields.op).1.len() - usize::from(fields.op == A64::Mov));
        found.first().copied()
    }
}

/// Whether only runs have a row: it touches memory, general registers of 64 bits, or the order of execution.
pub fn is_of_runs(op: A64) -> bool {
    (A64::AddLong..=A64::Pop).contains(&op)
}

/// The bits that no field takes.
fn mask(fields: &[Field], mode: Mode) -> u32 {
    let bits = |from: u8, count: u8| (((1u64 << count) - 1) << from) as u32;
    !fields.iter().fold(0, |taken, field| {
        taken
            | match *field {
                Dst => bits(0, 5),
                Arg(_, from) => bits(from, 5),
                Words => bits(5, 19),
                Bytes => bits(5, 19) | bits(29, 2),
                Field::Imm(Imm::At(from, count)) => bits(from, count),
                Field::Imm(Imm::Right(count)) => bits(16, count),
                Field::Imm(Imm::Element) => bits(11, 1) | bits(21, 1),
                Field::Imm(Imm::Lanes(to, from)) => bits(to.0, to.1) | bits(from.0, from.1),
                Field::Imm(Imm::Modified) => bits(16, 3) | bits(5, 5),
                Field::Imm(Imm::Index) => bits(10, 2),
                Place(_) => {
                    bits(5, 5)
                        | match mode {
                            Mode::None => 0,
                            Mode::Scaled => bits(10, 12),
                            Mode::Unscaled => bits(12, 9),
                            Mode::Indexed => bits(16, 5) | bits(12, 1),
                        }
                }
                N(Number::Sum) => bits(10, 12) | bits(22, 1),
                N(Number::Ones) => bits(10, 6) | bits(16, 6),
                N(Number::Wide | Number::Complement) => bits(5, 16) | bits(21, 1),
                N(Number::Frame) => bits(10, 12),
            }
    })
}

/// The address of a place; `None` of what has a shorter way to be said, and on the stack.
fn address(word: u32, mode: Mode, doubled: u8) -> Option<Address> {
    let bits = |from: u8, count: u8| word >> from & ((1 << count) - 1);
    let base = Some(bits(5, 5) as u8).filter(|&base| base != 31)?;
    let plain = Address { base, index: None, scale: 0, disp: 0, unscaled: false };
    Some(match mode {
        Mode::None => return None,
        Mode::Scaled => Address { disp: (bits(10, 12) << doubled) as i32, ..plain },
        Mode::Unscaled => {
            let disp = (bits(12, 9) << 23) as i32 >> 23;
            let scaled = disp >= 0 && disp & ((1 << doubled) - 1) == 0;
            (!scaled).then_some(Address { disp, unscaled: true, ..plain })?
        }
        Mode::Indexed => {
            let scaled = bits(12, 1) == 1;
            let index = Address { index: Some(bits(16, 5) as u8), scale: if scaled { doubled } else { 0 }, ..plain };
            (!scaled || doubled > 0).then_some(index)?
        }
    })
}

/// The number of a word; `None` where it needs more than 32 bits or has a shorter way to be said.
fn number(word: u32, kind: Number) -> Option<i32> {
    let bits = |from: u8, count: u8| word >> from & ((1 << count) - 1);
    let signed = |number: u64| i32::try_from(number as i64).ok();
    let wide = || {
        let (low, higher) = (u64::from(bits(5, 16)), bits(21, 1) == 1);
        (!higher || low != 0).then_some(if higher { low << 16 } else { low })
    };
    match kind {
        Number::Sum if bits(22, 1) == 0 => Some(bits(10, 12) as i32),
        Number::Sum => Some(bits(10, 12) as i32).filter(|&low| low != 0).map(|low| low << 12),
        Number::Ones => {
            let ones = Some(bits(10, 6) + 1).filter(|&count| count < 64).map(|count| (1u64 << count) - 1)?;
            signed(ones.rotate_right(bits(16, 6)))
        }
        Number::Wide => signed(wide()?),
        Number::Complement => signed(!wide()?),
        Number::Frame => Some(8 * bits(10, 12) as i32),
    }
}

fn fields(op: A64, mode: Mode, word: u32) -> Option<Fields> {
    let (dst, imm, distance, place, number_of) = (None, None, None, None, None);
    let mut out = Fields { op, dst, args: [None; 3], imm, distance, place, number: number_of };
    let bits = |from: u8, count: u8| (u64::from(word) >> from) as u32 & ((1 << count) - 1);
    // The sign of a number of 21 bits.
    let signed = |bits: u32| (bits << 11) as i32 >> 11;
    for field in encoding(op).1 {
        match *field {
            Dst => out.dst = Some(bits(0, 5) as u8),
            Arg(slot, from) => {
                let number = bits(from, 5) as u8;
                if out.args[usize::from(slot)].replace(number).is_some_and(|before| before != number) {
                    return None;
                }
            }
            Words => out.distance = Some(signed(bits(5, 19) << 2)),
            Bytes => out.distance = Some(signed(bits(5, 19) << 2 | bits(29, 2))),
            Place(doubled) => out.place = Some(address(word, mode, doubled)?),
            N(kind) => out.number = Some(number(word, kind)?),
            Field::Imm(imm) => {
                out.imm = Some(match imm {
                    Imm::At(from, count) => bits(from, count),
                    Imm::Right(count) => (1 << count) - bits(16, count),
                    Imm::Element => bits(11, 1) << 1 | bits(21, 1),
                    Imm::Lanes(to, from) => bits(to.0, to.1) | bits(from.0, from.1) << 4,
                    Imm::Modified => bits(16, 3) << 5 | bits(5, 5),
                    Imm::Index => Some(bits(10, 2)).filter(|&by| by != 0)?,
                } as u8)
            }
        }
    }
    if op.info().tied[0] == Some(0) {
        out.args[0] = out.dst;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_fixed_bits_are_apart() {
        for &op in ALL {
            let (value, fields) = encoding(op);
            for &mode in Mode::of(fields) {
                assert_eq!((value | mode.bits()) & !mask(fields, mode), 0, "{op:?} {mode:?}");
            }
        }
    }

    #[test]
    fn words_of_gnu_as_are_read() {
        let read = |word| Encodings::new(false).read(word).unwrap();
        let (place, number) = (None, None);
        let fields = |op, dst, args, imm, distance| Fields { op, dst, args, imm, distance, place, number };
        // fmla v1.4s, v2.4s, v3.4s; mov v1.16b, v2.16b; ushr v0.4s, v1.4s, #32; mov v1.s[3], v2.s[1]; ldr q0, .+8;
        // adr x1, .-1; fmov v1.4s, #2.0
        assert_eq!(read(0x4e23_cc41), fields(A64::Fmla, Some(1), [Some(1), Some(2), Some(3)], None, None));
        assert_eq!(read(0x4ea2_1c41), fields(A64::Mov, Some(1), [Some(2), None, None], None, None));
        assert_eq!(read(0x6f20_0420), fields(A64::Ushr, Some(0), [Some(1), None, None], Some(32), None));
        assert_eq!(read(0x6e1c_2441), fields(A64::InsLane, Some(1), [Some(1), Some(2), None], Some(0x13), None));
        assert_eq!(read(0x9c00_0040), fields(A64::Ldr, Some(0), [None; 3], None, Some(8)));
        assert_eq!(read(0x70ff_ffe1), fields(A64::Adr, Some(1), [None; 3], None, Some(-1)));
        assert_eq!(read(0x4f00_f401), fields(A64::Fmov, Some(1), [None; 3], Some(0), None));
        assert_eq!(Encodings::new(true).read(LANDING), None);
    }
}
