//! Machine code of one function: rows of the machine table to iced-x86 instructions to bytes.
//!
//! The bytes are those that GNU `as` chooses for the same text: the two-byte VEX prefix wherever it is possible, and with it
//! the store form of a register copy whose source alone is a high register. A literal is a RIP-relative operand whose
//! displacement is left zero for a relocation.

use super::codes::codes;
use iced_x86::{Code, Encoder, IcedError, Instruction, OpKind, Register};
use rake_ir::allocated::Function;
use rake_ir::diag::{self, Diagnostic};
use rake_ir::machine::x86::X86;
use rake_ir::machine::x86::{ENTRY_BYTES, Space};
use rake_ir::machine::{Class, Inst, MachOp, Mem, Operand, PhysReg, Slot, View};

/// A displacement that a relocation fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixup {
    /// Offset of the four bytes in the function.
    pub at: u32,
    /// Where the instruction ends, from `at`: what a relocation's addend makes up for.
    pub to_end: u8,
    /// The function's literal that they lead to.
    pub literal: u32,
}

/// A function's machine code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Encoded {
    /// The bytes, `endbr64` first.
    pub code: Vec<u8>,
    /// The literals' references, in order.
    pub fixups: Vec<Fixup>,
    /// Where each instruction of the function starts.
    pub starts: Vec<u32>,
}

/// Encodes a function. Each begins with `endbr64`, so that indirect calls reach it under branch protection.
///
/// # Errors
/// An instruction that the profile does not have, which is a fault of the compiler.
pub fn encode(function: &Function, space: Space) -> Result<Encoded, Diagnostic> {
    let mut encoder = Encoder::try_with_capacity(64, function.insts.len() * 7 + 4).map_err(|e| fault(function, &e))?;
    let mut out = Encoded { starts: Vec::with_capacity(function.insts.len()), ..Encoded::default() };
    let landing = Instruction::with(Code::Endbr64);
    let mut at = encoder.encode(&landing, 0).map_err(|e| fault(function, &e))?;
    let mut holes: Vec<usize> = Vec::new();
    for inst in &function.insts {
        let one = instruction(inst, space, |_| at as u64).ok_or_else(|| unsupported(function, inst))?;
        let len = encoder.encode(&one, at as u64).map_err(|e| fault(function, &e))?;
        if let Some(literal) = inst.args.iter().find_map(|a| a.literal()).filter(|_| one.is_ip_rel_memory_operand()) {
            let displacement = encoder.get_constant_offsets().displacement_offset();
            let to_end = (len - displacement) as u8;
            out.fixups.push(Fixup { at: (at + displacement) as u32, to_end, literal: literal.0 });
            holes.push(at + displacement);
        }
        out.starts.push(at as u32);
        at += len;
    }
    out.code = encoder.take_buffer();
    for hole in holes {
        out.code[hole..hole + 4].fill(0);
    }
    Ok(out)
}

fn fault(function: &Function, error: &IcedError) -> Diagnostic {
    Diagnostic::error(diag::Code::Internal, function.span, format!("cannot encode `{}`: {error}", function.name))
}

fn unsupported(function: &Function, inst: &Inst<PhysReg>) -> Diagnostic {
    let message = format!("`{}` has no encoding for {} with these operands", function.name, inst.op.name());
    Diagnostic::error(diag::Code::Internal, inst.span, message)
}

/// The iced-x86 instruction for one instruction; `address` places the literals. `None` when the space lacks it.
pub(super) fn instruction(inst: &Inst<PhysReg>, space: Space, address: impl Fn(u32) -> u64) -> Option<Instruction> {
    let MachOp::X86(op) = inst.op else { return None };
    let info = op.info();
    let code = codes(op)[space as usize];
    if code == Code::INVALID || info.mnemonics[space as usize].is_none() || inst.args.len() != info.slots.len() {
        return None;
    }
    let mut out = Builder { inner: Instruction::default(), next: 0, address: &address };
    out.inner.set_code(code);
    if let (Some(dst), Some(view)) = (inst.dst, info.dst) {
        out.register(register(dst, view, space)?);
        for _ in 0..implied_reads(op, space) {
            out.register(register(dst, view, space)?);
        }
    }
    let tied = info.tied[space as usize].map(usize::from);
    for (index, (arg, slot)) in inst.args.iter().zip(info.slots).enumerate() {
        if tied != Some(index) {
            out.operand(*arg, slot, space)?;
        }
    }
    if info.zeroing {
        out.inner.set_zeroing_masking(true);
    }
    if let Some(imm) = inst.imm.or(implied_imm(op, space)) {
        // In a general register's instruction the byte's sign is extended, but for a constant.
        if op == X86::WordConst {
            out.inner.set_op_kind(out.next, OpKind::Immediate32);
            out.inner.set_immediate32(imm.into());
        } else if matches!(op, X86::AndWord | X86::XorWord) {
            out.inner.set_op_kind(out.next, OpKind::Immediate8to32);
            out.inner.set_immediate8to32(i32::from(imm as i8));
        } else {
            out.inner.set_op_kind(out.next, OpKind::Immediate8);
            out.inner.set_immediate8(imm);
        }
    }
    as_gnu_chooses(&mut out.inner);
    Some(out.inner)
}

struct Builder<'a, F> {
    inner: Instruction,
    next: u32,
    address: &'a F,
}

impl<F: Fn(u32) -> u64> Builder<'_, F> {
    fn register(&mut self, register: Register) {
        self.inner.set_op_kind(self.next, OpKind::Register);
        self.inner.set_op_register(self.next, register);
        self.next += 1;
    }

    /// The address of a table, then the number of an entry of it.
    fn address(&mut self, register: Register) {
        if self.inner.memory_base() == Register::None {
            self.inner.set_op_kind(self.next, OpKind::Memory);
            self.inner.set_memory_base(register);
            self.next += 1;
        } else {
            self.inner.set_memory_index(register);
            self.inner.set_memory_index_scale(ENTRY_BYTES as u32);
        }
    }

    fn operand(&mut self, arg: Operand<PhysReg>, slot: &Slot, space: Space) -> Option<()> {
        match arg {
            Operand::Reg(r) if slot.opmask => {
                self.inner.set_op_mask(register(r, View::Mask, space)?);
            }
            Operand::Reg(r) if slot.view == View::Address => self.address(register(r, slot.view, space)?),
            Operand::Reg(r) => self.register(register(r, slot.view, space)?),
            // The address before it, and the number of the entry, are the operand.
            Operand::Literal(_) if slot.mem == Mem::Table && self.inner.memory_base() != Register::None => {}
            Operand::Literal(literal) | Operand::Broadcast(literal) => {
                self.inner.set_op_kind(self.next, OpKind::Memory);
                self.inner.set_memory_base(Register::RIP);
                self.inner.set_memory_displ_size(8);
                self.inner.set_memory_displacement64((self.address)(literal.0));
                let embedded = matches!(arg, Operand::Broadcast(_)) && slot.mem != Mem::Element;
                self.inner.set_is_broadcast(embedded);
                self.next += 1;
            }
            Operand::Memory(_) | Operand::MemoryElement(_) | Operand::Number(_) => return None,
        }
        Some(())
    }
}

/// How often the destination also stands among the sources without the table naming it.
fn implied_reads(op: X86, space: Space) -> u8 {
    match (op, space) {
        (X86::Kzero | X86::Kones, _) => 2,
        (X86::Zero | X86::Ones, Space::Sse) | (X86::Splatps, _) => 1,
        (X86::Zero | X86::Ones, _) => 2,
        _ => 0,
    }
}

/// The immediate that the row leaves out because it is always the same.
fn implied_imm(op: X86, space: Space) -> Option<u8> {
    match (op, space) {
        (X86::Ones, Space::Evex) => Some(0xff),
        (X86::Splatps, _) => Some(0),
        _ => None,
    }
}

fn register(r: PhysReg, view: View, space: Space) -> Option<Register> {
    let number = u32::from(r.number);
    let (first, count) = match (view, space) {
        (View::Rack, Space::Vex) => (Register::YMM0, 16),
        (View::Rack, Space::Evex) => (Register::ZMM0, 32),
        (View::Low, Space::Evex) => (Register::XMM0, 32),
        (View::Half, Space::Evex) => (Register::YMM0, 32),
        (View::Rack | View::Low | View::Half, _) => (Register::XMM0, 16),
        (View::Mask, _) => (Register::K0, 8),
        (View::Float | View::Long, _) => return None,
        (View::Word, _) => (Register::EAX, 16),
        (View::Address, _) => (Register::RAX, 16),
    };
    (r.class == view.class() && number < count && r != PhysReg { class: Class::K, number: 0 }).then(|| first + number)
}

/// Replaces the encoding where GNU `as` takes another for the same text.
fn as_gnu_chooses(inst: &mut Instruction) {
    let high = |r: Register| r.number() >= 8;
    match inst.code() {
        Code::VEX_Vmovaps_ymm_ymmm256
            if inst.op1_kind() == OpKind::Register && high(inst.op1_register()) && !high(inst.op0_register()) =>
        {
            inst.set_code(Code::VEX_Vmovaps_ymmm256_ymm);
        }
        Code::VEX_Vmovd_xmm_rm32 if inst.op0_register().number() >= 16 => inst.set_code(Code::EVEX_Vmovd_xmm_rm32),
        Code::VEX_Vmovd_rm32_xmm if inst.op1_register().number() >= 16 => inst.set_code(Code::EVEX_Vmovd_rm32_xmm),
        Code::VEX_Vpextrd_rm32_xmm_imm8 if inst.op1_register().number() >= 16 => {
            inst.set_code(Code::EVEX_Vpextrd_rm32_xmm_imm8);
        }
        _ => {}
    }
}
