//! The relocations that run at any address, and the 32-bit fields that they fill.

use object::elf;

/// The field of an x86-64 relocation at `place` to `target` (System V ABI for AMD64, section 4.4.1).
pub fn x86(kind: u32, place: i64, target: i64) -> Result<u32, String> {
    if kind != elf::R_X86_64_PC32 && kind != elf::R_X86_64_PLT32 {
        return Err(format!("relocation of type {kind}; only PC32 and PLT32 run at any address"));
    }
    let distance = i128::from(target) - i128::from(place);
    let distance = i32::try_from(distance).map_err(|_| format!("distance {distance} out of range"))?;
    Ok(distance as u32)
}

/// What an AArch64 relocation computes from its target and place.
#[derive(Clone, Copy)]
enum Value {
    /// The distance, in units of so many bytes (as a power of two).
    Distance(u32),
    /// The distance between the 4096-byte pages, in pages.
    Pages,
    /// The place in the page, in such units.
    InPage(u32),
}

/// Where the value goes in the instruction.
#[derive(Clone, Copy)]
enum Field {
    /// A whole word of data.
    Word,
    /// So many bits from this one on.
    Bits(u32, u32),
    /// The 21 bits of `adr` and `adrp`: two low ones at 29, the others at 5.
    Adr,
}

/// The relocations of "ELF for the Arm 64-bit Architecture", section "Relocation types", that are
/// relative to their place, or to the page when the image lies at a page.
#[rustfmt::skip]
const AARCH64: &[(u32, Value, Field)] = &[
    (elf::R_AARCH64_PREL32,               Value::Distance(0), Field::Word),
    (elf::R_AARCH64_LD_PREL_LO19,         Value::Distance(2), Field::Bits(5, 19)),
    (elf::R_AARCH64_ADR_PREL_LO21,        Value::Distance(0), Field::Adr),
    (elf::R_AARCH64_ADR_PREL_PG_HI21,     Value::Pages,       Field::Adr),
    (elf::R_AARCH64_ADD_ABS_LO12_NC,      Value::InPage(0),   Field::Bits(10, 12)),
    (elf::R_AARCH64_LDST8_ABS_LO12_NC,    Value::InPage(0),   Field::Bits(10, 12)),
    (elf::R_AARCH64_LDST16_ABS_LO12_NC,   Value::InPage(1),   Field::Bits(10, 12)),
    (elf::R_AARCH64_LDST32_ABS_LO12_NC,   Value::InPage(2),   Field::Bits(10, 12)),
    (elf::R_AARCH64_LDST64_ABS_LO12_NC,   Value::InPage(3),   Field::Bits(10, 12)),
    (elf::R_AARCH64_LDST128_ABS_LO12_NC,  Value::InPage(4),   Field::Bits(10, 12)),
    (elf::R_AARCH64_TSTBR14,              Value::Distance(2), Field::Bits(5, 14)),
    (elf::R_AARCH64_CONDBR19,             Value::Distance(2), Field::Bits(5, 19)),
    (elf::R_AARCH64_JUMP26,               Value::Distance(2), Field::Bits(0, 26)),
    (elf::R_AARCH64_CALL26,               Value::Distance(2), Field::Bits(0, 26)),
];

const PAGE: i64 = 4096;

/// The word at `place` with the field of an AArch64 relocation to `target` filled in.
pub fn aarch64(kind: u32, word: u32, place: i64, target: i64) -> Result<u32, String> {
    let Some(&(_, value, field)) = AARCH64.iter().find(|row| row.0 == kind) else {
        return Err(format!("relocation of type {kind}; it does not run at any address"));
    };
    let distance = target.checked_sub(place).ok_or("a distance out of range")?;
    let (bytes, unit) = match value {
        Value::Distance(unit) => (distance, unit),
        Value::Pages => (target.div_euclid(PAGE) - place.div_euclid(PAGE), 0),
        Value::InPage(unit) => (target.rem_euclid(PAGE), unit),
    };
    if bytes % (1 << unit) != 0 {
        return Err(format!("distance {bytes} is no multiple of {}", 1 << unit));
    }
    let units = bytes >> unit;
    let bits = match field {
        Field::Word => 32,
        Field::Bits(_, bits) => bits,
        Field::Adr => 21,
    };
    // A place in the page always fits, and has no sign.
    let fits = matches!(value, Value::InPage(_)) || (-(1_i64 << (bits - 1))..1 << (bits - 1)).contains(&units);
    if !fits {
        return Err(format!("distance {bytes} out of range"));
    }
    let units = units as u32;
    Ok(match field {
        Field::Word => units,
        Field::Bits(low, bits) => insert(word, low, bits, units),
        Field::Adr => insert(insert(word, 29, 2, units), 5, 19, units >> 2),
    })
}

/// The word with `bits` bits from `low` on replaced by the lowest of `value`.
fn insert(word: u32, low: u32, bits: u32, value: u32) -> u32 {
    let mask = ((1 << bits) - 1) << low;
    word & !mask | (value << low) & mask
}
