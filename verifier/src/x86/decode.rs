//! Machine code to instructions, by capstone, cross-checked with the bytes' own fields.

use super::encoding::{Fields, Space};
use super::padding::{self, is_padding};
use super::plain;
use crate::obligations::{Refusal, Undecodable};
use capstone::arch::x86::{ArchMode, X86OpMem, X86OperandType, X86Reg};
use capstone::arch::{BuildsCapstone, DetailsArchInsn};
use capstone::{Capstone, RegId};
use smol_str::SmolStr;

/// A register class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The low byte of a general register.
    Byte,
    /// The low 16 bits of a general register.
    Half,
    /// A 32-bit general register.
    Gpr,
    /// A 64-bit general register.
    Address,
    /// An opmask.
    K,
    /// 128 bits.
    Xmm,
    /// 256 bits.
    Ymm,
    /// 512 bits.
    Zmm,
}

impl Class {
    /// Whether it is a general register, or a part of one.
    pub fn is_general(self) -> bool {
        matches!(self, Class::Byte | Class::Half | Class::Gpr | Class::Address)
    }

    /// The vector length field that goes with it; `None` for what is no vector.
    pub fn length(self) -> Option<u8> {
        match self {
            Class::Byte | Class::Half | Class::Gpr | Class::Address | Class::K => None,
            Class::Xmm => Some(0),
            Class::Ymm => Some(1),
            Class::Zmm => Some(2),
        }
    }
}

/// The number of the stack pointer, which stands in no operand but as a base.
pub const STACK: u8 = 4;

/// One decoded operand, in Intel's order (the destination first), the opmask apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register and its number.
    Register(Class, u8),
    /// A RIP-relative memory operand.
    Memory {
        /// Bytes that are read.
        size: u8,
        /// The displacement as it stands in the bytes.
        displacement: i32,
    },
    /// A memory operand at registers.
    Place(Place),
    /// An immediate byte.
    Immediate(u8),
    /// An immediate of four bytes.
    Number(i32),
    /// Where a jump leads, from the start of the decoded bytes.
    Target(i64),
}

/// A memory operand at a base register, plus an index and a displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Bytes that are read or written; of rows of indices those of one element.
    pub size: u8,
    /// The base register.
    pub base: u8,
    /// The index.
    pub index: Option<Index>,
    /// What is added.
    pub displacement: i32,
}

/// The index of a memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Index {
    /// A general register of 64 bits, or a rack of indices.
    pub class: Class,
    /// Its number.
    pub number: u8,
    /// What it is multiplied by.
    pub scale: u8,
}

/// One decoded instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Offset from the start of the decoded bytes.
    pub offset: u32,
    /// Its length.
    pub len: u8,
    /// The mnemonic, a comparison's predicate taken out (it is the last operand then).
    pub mnemonic: SmolStr,
    operands: [Operand; 5],
    count: u8,
    /// The opmask register, if any lane is masked, and whether masked lanes become zero.
    pub mask: Option<(u8, bool)>,
    /// Whether the memory operand is one element for all lanes.
    pub broadcast: bool,
    /// Offset of the displacement inside the instruction.
    pub displacement_at: Option<u8>,
    /// Its encoding space.
    pub space: Space,
}

impl Instruction {
    /// The operands.
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..self.count as usize]
    }

    /// Where it ends, from the start of the decoded bytes.
    pub fn end(&self) -> u32 {
        self.offset + u32::from(self.len)
    }
}

/// A decoder. Making one costs far more than decoding a function: keep one per thread.
pub struct Decoder(Capstone);

impl Decoder {
    /// A decoder of x86-64.
    ///
    /// # Errors
    /// What capstone said, when it has no x86 or no memory.
    pub fn new() -> Result<Decoder, String> {
        let built = Capstone::new().x86().mode(ArchMode::Mode64).detail(true).build();
        built.map(Decoder).map_err(|e| e.to_string())
    }

    /// Decodes all of `code`.
    ///
    /// # Errors
    /// The first bytes that are no instruction of vector code.
    pub fn decode(&self, code: &[u8]) -> Result<Vec<Instruction>, Undecodable> {
        let mut out = Vec::with_capacity(code.len() / 5 + 1);
        let mut end = 0;
        let fail =
            |offset: usize, reason: String| Undecodable { offset: offset as u32, refusal: Refusal::Other, reason };
        let mut found = self.0.disasm_iter(code, 0).map_err(|e| fail(0, e.to_string()))?;
        while let Some(decoded) = found.next() {
            let one = self.convert(&decoded, end as u32).map_err(|reason| {
                let refusal = self.refusal(&decoded);
                Undecodable { refusal, ..fail(end, reason) }
            })?;
            end += one.len as usize;
            out.push(one);
        }
        if end == code.len() { Ok(out) } else { Err(fail(end, "no instruction of x86-64 starts here".into())) }
    }

    /// What a refused instruction is.
    fn refusal(&self, decoded: &capstone::Insn<'_>) -> Refusal {
        let name = decoded.mnemonic().unwrap_or("");
        let plain = name.strip_prefix('v').unwrap_or(name);
        if plain.starts_with("rcp") || plain.starts_with("rsqrt") {
            return Refusal::Estimate;
        }
        if name.contains("call") || name.starts_with("sys") || name.starts_with("int") {
            return Refusal::Call;
        }
        if name.starts_with('j') || name.starts_with("loop") || name.starts_with("xbegin") {
            return Refusal::Branch;
        }
        let Ok(detail) = self.0.insn_detail(decoded) else { return Refusal::Other };
        let arch = detail.arch_detail();
        let operands = arch.x86().map(|x86| x86.operands().collect::<Vec<_>>()).unwrap_or_default();
        let implicit = detail.regs_read().iter().chain(detail.regs_write()).any(|&r| is_stack(r));
        let explicit = operands.iter().any(|o| match o.op_type {
            X86OperandType::Reg(r) => is_stack(r),
            X86OperandType::Mem(m) => is_stack(m.base()) || is_stack(m.index()),
            _ => false,
        });
        let memory = operands.iter().any(|o| matches!(o.op_type, X86OperandType::Mem(_)));
        match (implicit || explicit, memory) {
            (true, _) => Refusal::Stack,
            (false, true) => Refusal::Memory,
            _ => Refusal::Other,
        }
    }

    fn convert(&self, decoded: &capstone::Insn<'_>, offset: u32) -> Result<Instruction, String> {
        let bytes = decoded.bytes();
        let name = decoded.mnemonic().unwrap_or("");
        let mut out = Instruction {
            offset,
            len: bytes.len() as u8,
            mnemonic: SmolStr::new(name),
            operands: [Operand::Immediate(0); 5],
            count: 0,
            mask: None,
            broadcast: false,
            displacement_at: None,
            space: Space::Legacy,
        };
        if is_padding(bytes) {
            return if name == padding::NAME { Ok(out) } else { Err(format!("padding decoded as `{name}`")) };
        }
        if let Some((wanted, operands)) = plain::read(bytes, out.end()) {
            if name != wanted {
                return Err(format!("decoded as `{name}` where the bytes say `{wanted}`"));
            }
            operands.into_iter().flatten().try_for_each(|operand| out.push(operand))?;
            return Ok(out);
        }
        if let Some(plain) = without_modrm(bytes) {
            return if name == plain.0 {
                out.space = plain.1;
                Ok(out)
            } else {
                Err(format!("decoded as `{name}`"))
            };
        }
        let fields = Fields::read(bytes).map_err(|why| format!("`{name}`: {why}"))?;
        let detail = self.0.insn_detail(decoded).map_err(|e| e.to_string())?;
        let arch = detail.arch_detail();
        let x86 = arch.x86().ok_or("no x86 detail")?;
        let [lock, segment, _, address] = *x86.prefix();
        if lock == 0xf0 || segment != 0 || address != 0 {
            return Err(format!("`{name}` has a prefix that vector code does not use"));
        }
        let mask_register = out.push_operands(x86, &fields)?;
        if mask_register != (fields.aaa != 0).then_some((fields.aaa, fields.z)) {
            return Err(format!("`{name}`: the opmask fields contradict the decoded operands"));
        }
        if let Some(plain) = comparison(&fields) {
            if !is_spelling_of(name, plain) {
                return Err(format!("decoded as `{name}` where the bytes say `{plain}`"));
            }
            let imm = fields.imm.ok_or("a comparison without a predicate")?;
            if !out.operands().iter().any(|o| matches!(o, Operand::Immediate(_))) {
                out.push(Operand::Immediate(imm))?;
            }
            out.mnemonic = SmolStr::new_static(plain);
        }
        fields.agrees(&out.mnemonic, out.operands()).map_err(|why| format!("`{name}`: {why}"))?;
        (out.mask, out.broadcast, out.space) = (mask_register, fields.b, fields.space);
        out.displacement_at = fields.displacement;
        Ok(out)
    }
}

/// The displacement of a memory operand that has nothing but RIP and one.
fn rip_relative(memory: &X86OpMem) -> Option<i32> {
    let plain = u32::from(memory.base().0) == X86Reg::X86_REG_RIP && memory.index().0 == 0 && memory.segment().0 == 0;
    plain.then(|| memory.disp() as i32)
}

/// A memory operand that has a base register.
fn place(memory: &X86OpMem, size: u8) -> Option<Place> {
    let (class, base) = match u32::from(memory.base().0) {
        X86Reg::X86_REG_RSP => (Class::Address, STACK),
        _ => register(memory.base())?,
    };
    if class != Class::Address || memory.segment().0 != 0 {
        return None;
    }
    let index = match memory.index().0 {
        0 => None,
        _ => {
            let (class, number) = register(memory.index())?;
            let general = matches!(class, Class::Address | Class::Xmm | Class::Ymm | Class::Zmm);
            Some(Index { class, number, scale: u8::try_from(memory.scale()).ok().filter(|_| general)? })
        }
    };
    // Of a rack of indices each element is accessed by itself.
    let size = if index.is_some_and(|index| index.class != Class::Address) { 4 } else { size };
    Some(Place { size, base, index, displacement: i32::try_from(memory.disp()).ok()? })
}

impl Instruction {
    /// Adds the decoded operands; returns the opmask, which is none of them.
    fn push_operands(
        &mut self,
        x86: &capstone::arch::x86::X86InsnDetail<'_>,
        fields: &Fields,
    ) -> Result<Option<(u8, bool)>, String> {
        let name = self.mnemonic.clone();
        let mut mask_register = None;
        for operand in x86.operands() {
            let converted = match operand.op_type {
                X86OperandType::Reg(id) => {
                    let (class, number) =
                        register(id).ok_or_else(|| format!("`{name}` names a register outside vector code"))?;
                    if fields.aaa != 0 && class == Class::K && self.count == 1 && mask_register.is_none() {
                        mask_register = Some((number, operand.avx_zero_opmask));
                        continue;
                    }
                    Operand::Register(class, number)
                }
                X86OperandType::Imm(found) => match (fields.imm, fields.number) {
                    (Some(imm), _) => Operand::Immediate(imm),
                    (None, Some(number)) if number == found as i32 => Operand::Number(number),
                    _ if fields.shifts_by_one() => Operand::Immediate(1),
                    _ => return Err(format!("`{name}` has an implied immediate")),
                },
                X86OperandType::Mem(memory) => match (rip_relative(&memory), place(&memory, operand.size)) {
                    (Some(displacement), _) => Operand::Memory { size: operand.size, displacement },
                    (None, Some(place)) => Operand::Place(place),
                    (None, None) => {
                        return Err(format!("`{name}` has a memory operand that is not RIP-relative"));
                    }
                },
                X86OperandType::Invalid => return Err(format!("`{name}` has an operand of no kind")),
            };
            self.push(converted)?;
        }
        Ok(mask_register)
    }

    fn push(&mut self, operand: Operand) -> Result<(), String> {
        let place = self.operands.get_mut(self.count as usize).ok_or("too many operands")?;
        *place = operand;
        self.count += 1;
        Ok(())
    }
}

/// The instructions without a ModRM byte that vector code may hold, as their only accepted bytes.
fn without_modrm(bytes: &[u8]) -> Option<(&'static str, Space)> {
    match bytes {
        [0xc3] => Some(("ret", Space::Legacy)),
        [0xf3, 0x0f, 0x1e, 0xfa] => Some(("endbr64", Space::Legacy)),
        [0xc5, 0xf8, 0x77] => Some(("vzeroupper", Space::Vex)),
        _ => None,
    }
}

/// The spelling without predicate of a comparison whose predicate is its immediate.
fn comparison(fields: &Fields) -> Option<&'static str> {
    let vex = fields.space != Space::Legacy;
    match (fields.map, fields.opcode, fields.pp, fields.w) {
        (1, 0xc2, 0, _) => Some(if vex { "vcmpps" } else { "cmpps" }),
        (1, 0xc2, 1, _) => Some(if vex { "vcmppd" } else { "cmppd" }),
        (1, 0xc2, 2, _) => Some(if vex { "vcmpss" } else { "cmpss" }),
        (1, 0xc2, 3, _) => Some(if vex { "vcmpsd" } else { "cmpsd" }),
        (3, 0x1e, 1, false) if vex => Some("vpcmpud"),
        (3, 0x1f, 1, false) if vex => Some("vpcmpd"),
        (3, 0x1e, 1, true) if vex => Some("vpcmpuq"),
        (3, 0x1f, 1, true) if vex => Some("vpcmpq"),
        (3, 0x3e, 1, false) if vex => Some("vpcmpub"),
        (3, 0x3f, 1, false) if vex => Some("vpcmpb"),
        (3, 0x3e, 1, true) if vex => Some("vpcmpuw"),
        (3, 0x3f, 1, true) if vex => Some("vpcmpw"),
        _ => None,
    }
}

/// Whether `name` is `plain` with a predicate spelled between its stem and its element suffix.
fn is_spelling_of(name: &str, plain: &str) -> bool {
    let stem = plain.find("cmp").map_or(0, |at| at + 3);
    name.len() >= plain.len() && name.starts_with(&plain[..stem]) && name.ends_with(&plain[stem..])
}

fn register(id: RegId) -> Option<(Class, u8)> {
    use X86Reg as R;
    let id = u32::from(id.0);
    let within = |first: u32, count: u32| (first..first + count).contains(&id).then(|| (id - first) as u8);
    if let Some(n) = within(R::X86_REG_ZMM0, 32) {
        return Some((Class::Zmm, n));
    }
    if let Some(n) = within(R::X86_REG_YMM0, 32) {
        return Some((Class::Ymm, n));
    }
    if let Some(n) = within(R::X86_REG_XMM0, 32) {
        return Some((Class::Xmm, n));
    }
    if let Some(n) = within(R::X86_REG_K0, 8) {
        return Some((Class::K, n));
    }
    if let Some(n) = within(R::X86_REG_R8B, 8) {
        return Some((Class::Byte, n + 8));
    }
    if let Some(n) = within(R::X86_REG_R8W, 8) {
        return Some((Class::Half, n + 8));
    }
    if let Some(n) = within(R::X86_REG_R8D, 8) {
        return Some((Class::Gpr, n + 8));
    }
    if let Some(n) = within(R::X86_REG_R8, 8) {
        return Some((Class::Address, n + 8));
    }
    // The stack pointer is none of them.
    const NAMED: [[u32; 4]; 7] = [
        [R::X86_REG_AL, R::X86_REG_AX, R::X86_REG_EAX, R::X86_REG_RAX],
        [R::X86_REG_CL, R::X86_REG_CX, R::X86_REG_ECX, R::X86_REG_RCX],
        [R::X86_REG_DL, R::X86_REG_DX, R::X86_REG_EDX, R::X86_REG_RDX],
        [R::X86_REG_BL, R::X86_REG_BX, R::X86_REG_EBX, R::X86_REG_RBX],
        [R::X86_REG_BPL, R::X86_REG_BP, R::X86_REG_EBP, R::X86_REG_RBP],
        [R::X86_REG_SIL, R::X86_REG_SI, R::X86_REG_ESI, R::X86_REG_RSI],
        [R::X86_REG_DIL, R::X86_REG_DI, R::X86_REG_EDI, R::X86_REG_RDI],
    ];
    const CLASSES: [Class; 4] = [Class::Byte, Class::Half, Class::Gpr, Class::Address];
    let found = |(row, names): (usize, &[u32; 4])| Some((row, names.iter().position(|&name| name == id)?));
    let (row, width) = NAMED.iter().enumerate().find_map(found)?;
    Some((CLASSES[width], if row < 4 { row as u8 } else { row as u8 + 1 }))
}

fn is_stack(id: RegId) -> bool {
    use X86Reg as R;
    matches!(
        u32::from(id.0),
        R::X86_REG_RSP
            | R::X86_REG_ESP
            | R::X86_REG_SP
            | R::X86_REG_SPL
            | R::X86_REG_RBP
            | R::X86_REG_EBP
            | R::X86_REG_BP
    )
}
