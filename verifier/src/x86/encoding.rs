//! The fields of one x86-64 instruction, read from its bytes without the decoder's help.
//!
//! The decoder's answer is not enough on its own: it hides the predicate of a comparison in the mnemonic, and it passes
//! over prefix bits that the machine ignores, or that make the machine fault. So the prefix, the register fields and
//! the immediate are read here a second time (Intel SDM volume 2, chapter 2: REX, VEX, EVEX), and [`Fields::agrees`]
//! holds them against the decoded operands. Each bit that no operand uses must have its one canonical value, so two
//! encodings that are accepted as the same instruction differ at most in the choice between the 2- and 3-byte VEX
//! prefix and in the direction of a register move.

use super::decode::{Class, Operand, Place};

/// The encoding space of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Legacy, with or without REX.
    Legacy,
    /// VEX.
    Vex,
    /// EVEX.
    Evex,
}

/// What the bytes say. Register numbers include their extension bits; an inverted field is stored upright.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The encoding space.
    pub space: Space,
    /// Opcode map: 0 one-byte, 1 `0F`, 2 `0F38`, 3 `0F3A`.
    pub map: u8,
    /// Mandatory prefix: 0 none, 1 `66`, 2 `F3`, 3 `F2`.
    pub pp: u8,
    /// The opcode byte.
    pub opcode: u8,
    /// REX.W, VEX.W or EVEX.W.
    pub w: bool,
    /// Vector length: 0, 1, 2 for 128, 256, 512 bits.
    pub length: u8,
    /// The ModRM `reg` field, extended.
    pub reg: u8,
    /// The ModRM `rm` field of the register form, extended.
    pub rm: Option<u8>,
    /// The `vvvv` field, extended; 0 also when unused.
    pub vvvv: u8,
    /// EVEX opmask register.
    pub aaa: u8,
    /// EVEX zeroing.
    pub z: bool,
    /// EVEX broadcast (or static rounding, in the register form).
    pub b: bool,
    /// Offset of the 32-bit displacement of a RIP-relative operand.
    pub displacement: Option<u8>,
    /// The memory operand that has a base register.
    pub place: Option<RawPlace>,
    /// The immediate byte.
    pub imm: Option<u8>,
    /// The immediate of four bytes.
    pub number: Option<i32>,
}

/// A memory operand with a base register, as it stands in the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawPlace {
    /// The base register.
    base: u8,
    /// The index field, extended, and what it is multiplied by, where there is a SIB byte; 4 means none.
    sib: Option<(u8, u8)>,
    /// The displacement, and how many bytes it has.
    displacement: (i32, u8),
}

const TRUNCATED: &str = "the instruction ends inside its encoding";

struct Prefix {
    space: Space,
    map: u8,
    pp: u8,
    w: bool,
    /// R, X, B upright; `high` is EVEX.R'.
    r: bool,
    x: bool,
    b: bool,
    high: bool,
    vvvv: u8,
    length: u8,
    aaa: u8,
    z: bool,
    broadcast: bool,
    /// Bytes before the opcode.
    len: usize,
}

impl RawPlace {
    /// Reads the SIB byte and the displacement behind a ModRM byte.
    fn read(bytes: &[u8], modrm: u8, prefix: &Prefix, end: &mut usize) -> Result<RawPlace, &'static str> {
        let mode = modrm >> 6;
        let sib = if modrm & 7 == 4 { Some(*bytes.get(*end).ok_or(TRUNCATED)?) } else { None };
        *end += usize::from(sib.is_some());
        let base = (sib.unwrap_or(modrm) & 7) | (u8::from(prefix.b) << 3);
        if mode == 0 && base & 7 == 5 {
            return Err("a memory operand has no base register");
        }
        if sib.is_none() && prefix.x {
            return Err("an unused prefix bit is set");
        }
        let width = [0, 1, 4][usize::from(mode.min(2))];
        let value = match *bytes.get(*end..*end + width).ok_or(TRUNCATED)? {
            [byte] => i32::from(byte as i8),
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]),
            _ => 0,
        };
        *end += width;
        let sib = sib.map(|sib| (((sib >> 3) & 7) | (u8::from(prefix.x) << 3), 1 << (sib >> 6)));
        Ok(RawPlace { base, sib, displacement: (value, width as u8) })
    }
}

impl Fields {
    /// Reads the bytes of exactly one instruction that has a ModRM byte.
    ///
    /// # Errors
    /// What is not canonical or not allowed in vector code, in words.
    pub fn read(bytes: &[u8]) -> Result<Fields, &'static str> {
        let first = *bytes.first().ok_or(TRUNCATED)?;
        let prefix = match first {
            0xc5 => vex2(bytes)?,
            0xc4 => vex3(bytes)?,
            0x62 => evex(bytes)?,
            _ => legacy(bytes)?,
        };
        let opcode = *bytes.get(prefix.len).ok_or(TRUNCATED)?;
        let modrm = *bytes.get(prefix.len + 1).ok_or(TRUNCATED)?;
        let mut end = prefix.len + 2;
        let bit = |on: bool, at: u32| u8::from(on) << at;
        let reg = ((modrm >> 3) & 7) | bit(prefix.r, 3) | bit(prefix.high, 4);
        let mut place = None;
        let (rm, displacement) = match modrm >> 6 {
            // Only EVEX extends a register in `rm` by X; elsewhere X is unused here and must be clear.
            3 if prefix.x && prefix.space != Space::Evex => return Err("an unused prefix bit is set"),
            3 => (Some((modrm & 7) | bit(prefix.b, 3) | bit(prefix.x, 4)), None),
            0 if modrm & 7 == 5 => {
                if prefix.x || prefix.b {
                    return Err("an unused prefix bit is set");
                }
                end += 4;
                (None, Some(end as u8 - 4))
            }
            _ => {
                place = Some(RawPlace::read(bytes, modrm, &prefix, &mut end)?);
                (None, None)
            }
        };
        let reversed = matches!(opcode, 0x03 | 0x0b | 0x23 | 0x2b | 0x33 | 0x3b | 0x8b);
        if prefix.space == Space::Legacy && prefix.map == 0 && rm.is_some() && reversed {
            return Err("general registers stand in the order that is not written");
        }
        let (imm, number) = match bytes.get(end..).ok_or(TRUNCATED)? {
            [] => (None, None),
            &[imm] => (Some(imm), None),
            &[a, b, c, d] if prefix.space == Space::Legacy && prefix.map == 0 && matches!(opcode, 0x81 | 0xc7) => {
                (None, Some(i32::from_le_bytes([a, b, c, d])))
            }
            _ => return Err("the immediate is wider than a byte"),
        };
        Ok(Fields {
            space: prefix.space,
            map: prefix.map,
            pp: prefix.pp,
            opcode,
            w: prefix.w,
            length: prefix.length,
            reg,
            rm,
            vvvv: prefix.vvvv,
            aaa: prefix.aaa,
            z: prefix.z,
            b: prefix.broadcast,
            displacement,
            place,
            imm,
            number,
        })
    }

    /// Whether the low half of the opcode's ModRM `reg` field selects the operation instead of a register.
    fn is_group(&self) -> bool {
        match self.map {
            0 => matches!(self.opcode, 0x80..=0x83 | 0xc0 | 0xc1 | 0xc7 | 0xd0..=0xd3 | 0xf6 | 0xf7 | 0xfe | 0xff),
            1 => matches!(self.opcode, 0x71..=0x73),
            _ => false,
        }
    }

    /// Whether it shifts by one, which its bytes do not say as a number.
    pub fn shifts_by_one(&self) -> bool {
        self.map == 0 && self.opcode == 0xd1 && self.space == Space::Legacy
    }

    /// Whether the immediate's upper half names a register.
    fn has_register_in_immediate(&self) -> bool {
        self.space == Space::Vex && self.map == 3 && matches!(self.opcode, 0x4a..=0x4c)
    }

    /// Checks the decoded operands (without the opmask) against the fields, and that unused bits are canonical.
    ///
    /// # Errors
    /// What contradicts the operands, in words.
    pub fn agrees(&self, mnemonic: &str, operands: &[Operand]) -> Result<(), &'static str> {
        self.check_registers(operands)?;
        self.check_width(mnemonic, operands)?;
        let memory = operands.iter().find_map(|o| match o {
            Operand::Memory { size, .. } => Some(*size),
            _ => None,
        });
        let place = operands.iter().find_map(|o| if let Operand::Place(place) = o { Some(*place) } else { None });
        self.check_place(place)?;
        let memory = memory.or(place.filter(|_| self.b).map(|place| place.size));
        if place.is_none() && memory.is_some() != self.displacement.is_some() {
            return Err("the memory operand contradicts the ModRM byte");
        }
        if self.b && !matches!(memory, Some(4 | 8)) {
            return Err("the broadcast bit is set on an operand that is no element in memory");
        }
        if self.z && self.aaa == 0 {
            return Err("zeroing is set without an opmask");
        }
        if self.z && matches!(operands.first(), Some(Operand::Register(Class::K, _))) {
            return Err("zeroing is set on an instruction that writes an opmask");
        }
        Ok(())
    }

    /// Checks a memory operand against its bytes, which are the shortest that there are for it.
    fn check_place(&self, decoded: Option<Place>) -> Result<(), &'static str> {
        const CONTRADICTS: &str = "the memory operand contradicts its bytes";
        let (raw, place) = match (self.place, decoded) {
            (None, None) => return Ok(()),
            (Some(raw), Some(place)) => (raw, place),
            _ => return Err(CONTRADICTS),
        };
        // EVEX's V' is the fifth bit of a rack of indices.
        let high = if self.space == Space::Evex { self.vvvv & 16 } else { 0 };
        let index = match (raw.sib, place.index) {
            (None, None) => true,
            // Only `rsp` and `r12` as bases have a SIB byte without an index.
            (Some((4, 1)), None) => raw.base & 7 == 4,
            (Some((number, scale)), Some(index)) if index.class == Class::Address => {
                (number, scale) == (index.number, index.scale) && number != 4
            }
            (Some((number, scale)), Some(index)) => (number | high, scale) == (index.number, index.scale),
            _ => false,
        };
        let unit = if self.space != Space::Evex { 1 } else { i32::from(if self.b { 4 } else { place.size }) };
        let unit = unit.max(1);
        let (value, all, always) = (raw.displacement.0, place.displacement, raw.base & 7 == 5);
        let displacement = match raw.displacement.1 {
            0 => all == 0,
            1 => value.checked_mul(unit) == Some(all) && (all != 0 || always),
            _ => value == all && !(all % unit == 0 && i8::try_from(all / unit).is_ok()),
        };
        if raw.base == place.base && index && displacement { Ok(()) } else { Err(CONTRADICTS) }
    }

    /// Whether EVEX's V' belongs to a rack of indices.
    fn extends_index(&self, operands: &[Operand]) -> bool {
        let vector =
            |o: &Operand| matches!(o, Operand::Place(Place { index: Some(i), .. }) if i.class != Class::Address);
        self.space == Space::Evex && operands.iter().any(vector)
    }

    fn check_registers(&self, operands: &[Operand]) -> Result<(), &'static str> {
        let mut fields = [0u8; 4];
        let mut count = 0;
        let mut push = |n: u8| {
            fields[count] = n;
            count += 1;
        };
        if self.is_group() {
            if self.reg > 7 {
                return Err("an unused prefix bit is set");
            }
        } else {
            push(self.reg);
        }
        if let Some(rm) = self.rm {
            push(rm);
        }
        if self.has_register_in_immediate() {
            let imm = self.imm.ok_or(TRUNCATED)?;
            if imm & 15 != 0 {
                return Err("unused bits of the immediate are set");
            }
            push(imm >> 4);
        }
        let mut decoded = [0u8; 4];
        let mut decoded_count = 0;
        for operand in operands {
            if let Operand::Register(_, number) = operand {
                *decoded.get_mut(decoded_count).ok_or("too many register operands")? = *number;
                decoded_count += 1;
            }
        }
        let vvvv = if self.extends_index(operands) { self.vvvv & 15 } else { self.vvvv };
        if decoded_count == count + 1 && self.space != Space::Legacy {
            fields[count] = vvvv;
            count += 1;
        } else if vvvv != 0 {
            return Err("unused prefix bits are not all ones");
        }
        let (fields, decoded) = (&mut fields[..count], &mut decoded[..decoded_count]);
        fields.sort_unstable();
        decoded.sort_unstable();
        if fields == decoded { Ok(()) } else { Err("the register fields contradict the decoded operands") }
    }

    fn check_width(&self, mnemonic: &str, operands: &[Operand]) -> Result<(), &'static str> {
        let mut widest = None;
        for operand in operands {
            if let Operand::Register(class, number) = operand {
                widest = widest.max(class.length());
                if self.space != Space::Evex && *number > 15 {
                    return Err("a register beyond 15 outside EVEX");
                }
            }
        }
        if self.space == Space::Legacy {
            if widest > Some(0) {
                return Err("a wide register in a legacy encoding");
            }
            // What has a register of 64 bits has 64 bits, and so has a number that goes to a place of eight bytes.
            let address = |o: &Operand| match o {
                Operand::Register(class, _) => *class == Class::Address,
                Operand::Place(place) => self.number.is_some() && place.size == 8,
                _ => false,
            };
            return if self.w == operands.iter().any(address) {
                Ok(())
            } else {
                Err("REX.W contradicts the decoded operands")
            };
        }
        let general = |o: &Operand| matches!(o, Operand::Register(class, _) if class.is_general());
        if operands.iter().all(general) && self.length != 0 {
            return Err("a vector length without vectors");
        }
        if widest.is_some_and(|l| l != self.length) {
            return Err("the vector length contradicts the decoded operands");
        }
        // W tells 64-bit elements from others; where it is ignored it is clear. `kmov`, `kand` and the like of 32 and
        // 64 bits set it, which are not used.
        let wide = mnemonic.ends_with("pd") || mnemonic.ends_with("sd") || mnemonic.ends_with('q');
        if self.w && !wide { Err("the W bit is set on an instruction of narrower elements") } else { Ok(()) }
    }
}

fn blank(space: Space) -> Prefix {
    Prefix {
        space,
        map: 1,
        pp: 0,
        w: false,
        r: false,
        x: false,
        b: false,
        high: false,
        vvvv: 0,
        length: 0,
        aaa: 0,
        z: false,
        broadcast: false,
        len: 0,
    }
}

fn legacy(bytes: &[u8]) -> Result<Prefix, &'static str> {
    let mut prefix = blank(Space::Legacy);
    let mut at = 0;
    prefix.pp = match bytes[0] {
        0x66 => 1,
        0xf3 => 2,
        0xf2 => 3,
        _ => 0,
    };
    at += usize::from(prefix.pp != 0);
    if let Some(rex @ 0x40..=0x4f) = bytes.get(at) {
        // Without one the low bytes of `rbp`, `rsi` and `rdi` cannot be named.
        let byte = matches!(bytes.get(at + 1..at + 3), Some([0x88, modrm]) if modrm & 0x20 != 0);
        if rex & 15 == 0 && !byte {
            return Err("a REX prefix without effect");
        }
        (prefix.w, prefix.r) = (rex & 8 != 0, rex & 4 != 0);
        (prefix.x, prefix.b) = (rex & 2 != 0, rex & 1 != 0);
        at += 1;
    }
    prefix.map = match (bytes.get(at), bytes.get(at + 1)) {
        (Some(0x0f), Some(0x38)) => 2,
        (Some(0x0f), Some(0x3a)) => 3,
        (Some(0x0f), _) => 1,
        _ => 0,
    };
    prefix.len = at + [0, 1, 2, 2][prefix.map as usize];
    Ok(prefix)
}

fn vex2(bytes: &[u8]) -> Result<Prefix, &'static str> {
    let byte = *bytes.get(1).ok_or(TRUNCATED)?;
    let mut prefix = blank(Space::Vex);
    prefix.r = byte & 0x80 == 0;
    vex_tail(&mut prefix, byte);
    prefix.len = 2;
    Ok(prefix)
}

fn vex3(bytes: &[u8]) -> Result<Prefix, &'static str> {
    let (&rxbm, &tail) = bytes.get(1).zip(bytes.get(2)).ok_or(TRUNCATED)?;
    let mut prefix = blank(Space::Vex);
    (prefix.r, prefix.x, prefix.b) = (rxbm & 0x80 == 0, rxbm & 0x40 == 0, rxbm & 0x20 == 0);
    prefix.map = rxbm & 31;
    prefix.w = tail & 0x80 != 0;
    vex_tail(&mut prefix, tail);
    prefix.len = 3;
    Ok(prefix)
}

fn vex_tail(prefix: &mut Prefix, byte: u8) {
    prefix.vvvv = !(byte >> 3) & 15;
    prefix.length = (byte >> 2) & 1;
    prefix.pp = byte & 3;
}

fn evex(bytes: &[u8]) -> Result<Prefix, &'static str> {
    let &[_, p0, p1, p2] = bytes.first_chunk::<4>().ok_or(TRUNCATED)?;
    if p0 & 0x08 != 0 || p1 & 0x04 == 0 {
        return Err("a reserved EVEX bit has the wrong value");
    }
    let mut prefix = blank(Space::Evex);
    (prefix.r, prefix.x, prefix.b) = (p0 & 0x80 == 0, p0 & 0x40 == 0, p0 & 0x20 == 0);
    prefix.high = p0 & 0x10 == 0;
    prefix.map = p0 & 7;
    prefix.w = p1 & 0x80 != 0;
    prefix.vvvv = (!(p1 >> 3) & 15) | (u8::from(p2 & 0x08 == 0) << 4);
    prefix.pp = p1 & 3;
    prefix.z = p2 & 0x80 != 0;
    prefix.length = (p2 >> 5) & 3;
    prefix.broadcast = p2 & 0x10 != 0;
    prefix.aaa = p2 & 7;
    prefix.len = 4;
    Ok(prefix)
}
