//! Machine code of one function: rows of the machine table to iced-x86 instructions to bytes.
//!
//! The bytes are those that GNU `as` chooses for the same text: the two-byte VEX prefix wherever it is possible, and with it
//! the store form of a register copy whose source alone is a high register. A literal is a RIP-relative operand whose
//! displacement is left zero for a relocation.

use super::codes::codes;
use super::jumps::{Piece, is_aligned, is_label, jumps, link};
use super::unwind::STACK;
use super::words::{narrow, numbered, put};
use crate::jumps::traps;
use crate::unwind;
use iced_x86::{Code, Encoder, IcedError, Instruction, OpKind, Register};
use rake_ir::allocated::{Function, saved};
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
    /// What an unwinder is told of it.
    pub unwind: Vec<u8>,
}

/// Encodes a function. Each begins with `endbr64`, so that indirect calls reach it under branch protection.
///
/// # Errors
/// An instruction that the profile does not have, which is a fault of the compiler.
pub fn encode(function: &Function, space: Space) -> Result<Encoded, Diagnostic> {
    let (jumps, frame) = (jumps(function), frame(function));
    let mut pieces = Vec::with_capacity(function.insts.len() + 1);
    let mut holes = Vec::new();
    for (index, inst) in function.insts.iter().enumerate() {
        pieces.push(match jumps[index] {
            Some(jump) => Piece::Jump(jump),
            None if is_aligned(function, index) => Piece::Align,
            None if is_label(inst.op.flow()) => Piece::Code(Vec::new()),
            None => {
                let one = instruction(inst, space, frame, |_| 0).ok_or_else(|| unsupported(function, inst))?;
                let (bytes, displacement) = bytes(&one).map_err(|e| fault(function, &e))?;
                let literal = inst.args.iter().find_map(|a| a.literal());
                if let Some(literal) = literal.filter(|_| one.is_ip_rel_memory_operand()) {
                    holes.push((index, displacement, literal.0));
                }
                Piece::Code(bytes)
            }
        });
    }
    let (landing, _) = bytes(&Instruction::with(Code::Endbr64)).map_err(|e| fault(function, &e))?;
    let (code, mut starts) = link(&pieces, landing.len());
    let mut out = Encoded { code: [landing, code].concat(), ..Encoded::default() };
    for (index, displacement, literal) in holes {
        let at = starts[index] + displacement;
        out.code[at..at + 4].fill(0);
        out.fixups.push(Fixup { at: at as u32, to_end: (starts[index + 1] - at) as u8, literal });
    }
    let traps = traps(&jumps);
    out.unwind = unwind::bytes(&STACK, &unwind::rules(&STACK, function, traps), &starts);
    if traps {
        let (trap, _) = bytes(&Instruction::with(Code::Ud2)).map_err(|e| fault(function, &e))?;
        out.code.extend(trap);
    }
    starts.pop();
    out.starts = starts.into_iter().map(|start| start as u32).collect();
    Ok(out)
}

/// How far the arguments in the caller's frame are from the stack's top: what is saved and the return address lie between.
pub(super) fn frame(function: &Function) -> i32 {
    8 * (1 + saved(function).count() as i32)
}

/// The bytes of an instruction, and where among them its displacement stands.
fn bytes(one: &Instruction) -> Result<(Vec<u8>, usize), IcedError> {
    let mut encoder = Encoder::try_with_capacity(64, 16)?;
    encoder.encode(one, 0)?;
    let displacement = encoder.get_constant_offsets().displacement_offset();
    Ok((encoder.take_buffer(), displacement))
}

fn fault(function: &Function, error: &IcedError) -> Diagnostic {
    Diagnostic::error(diag::Code::Internal, function.span, format!("cannot encode `{}`: {error}", function.name))
}

fn unsupported(function: &Function, inst: &Inst<PhysReg>) -> Diagnostic {
    let message = format!("`{}` has no encoding for {} with these operands", function.name, inst.op.name());
    Diagnostic::error(diag::Code::Internal, inst.span, message)
}

/// The iced-x86 instruction for one instruction; `address` places the literals, `frame` the arguments that have no
/// registers. `None` when the space lacks it.
pub(super) fn instruction(
    inst: &Inst<PhysReg>,
    space: Space,
    frame: i32,
    address: impl Fn(u32) -> u64,
) -> Option<Instruction> {
    let MachOp::X86(op) = inst.op else { return None };
    let info = op.info();
    let number = inst.args.iter().find_map(|arg| if let Operand::Number(number) = arg { Some(*number) } else { None });
    let code = match number {
        Some(number) => numbered(op, number, inst.args.first().and_then(|arg| arg.reg()))?,
        None => codes(op)[space as usize],
    };
    if code == Code::INVALID || info.mnemonics[space as usize].is_none() || inst.args.len() != info.slots.len() {
        return None;
    }
    let mut out = Builder { inner: Instruction::default(), next: 0, address: &address };
    out.inner.set_code(code);
    if let (Some(dst), Some(view)) = (inst.dst, info.dst) {
        // What is cleared or set as a word has no upper half left.
        let whole = op == X86::LongConst && code == Code::Mov_rm64_imm32;
        let view =
            if matches!(op, X86::LongZero | X86::LongConst | X86::ZeroExtend) && !whole { View::Word } else { view };
        out.register(register(dst, view, space)?);
        for _ in 0..implied_reads(op, space) {
            out.register(register(dst, view, space)?);
        }
    }
    let tied = info.tied[space as usize].map(usize::from);
    for (index, (arg, slot)) in inst.args.iter().zip(info.slots).enumerate() {
        if tied == Some(index) {
            continue;
        }
        match (op, arg) {
            (X86::StoreByte, Operand::Reg(r)) => out.register(narrow(r.number, 1)?),
            (X86::StoreHalf, Operand::Reg(r)) => out.register(narrow(r.number, 2)?),
            (X86::TakeArgument, Operand::Reg(r)) => out.frame(frame + 8 * i32::from(r.number)),
            _ => out.operand(*arg, slot, space)?,
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

    /// A word of the caller's frame.
    fn frame(&mut self, disp: i32) {
        self.inner.set_op_kind(self.next, OpKind::Memory);
        self.inner.set_memory_base(Register::RSP);
        self.inner.set_memory_displ_size(1);
        self.inner.set_memory_displacement64(disp as u64);
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
            Operand::Memory(address) | Operand::MemoryElement(address) => {
                let index_view = if slot.mem == Mem::Places { View::Rack } else { View::Address };
                self.inner.set_op_kind(self.next, OpKind::Memory);
                self.inner.set_memory_base(register(address.base, View::Address, space)?);
                if let Some(index) = address.index {
                    self.inner.set_memory_index(register(index, index_view, space)?);
                    self.inner.set_memory_index_scale(1 << address.scale);
                }
                if address.disp != 0 {
                    self.inner.set_memory_displ_size(1);
                    self.inner.set_memory_displacement64(i64::from(address.disp) as u64);
                }
                self.inner.set_is_broadcast(matches!(arg, Operand::MemoryElement(_)));
                self.next += 1;
            }
            Operand::Number(number) => {
                put(&mut self.inner, self.next, number);
                self.next += 1;
            }
        }
        Some(())
    }
}

/// How often the destination also stands among the sources without the table naming it.
fn implied_reads(op: X86, space: Space) -> u8 {
    match (op, space) {
        (X86::Kzero | X86::Kones, _) => 2,
        (X86::LongZero, _) => 1,
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
        (View::Float | View::Wide | View::Frame, _) => return None,
        (View::Word, _) => (Register::EAX, 16),
        (View::Address | View::Long, _) => (Register::RAX, 16),
    };
    (r.class == view.class() && number < count && r != PhysReg { class: Class::K, number: 0 }).then(|| first + number)
}

/// Whether a register is one that only EVEX reaches.
fn high_rack(inst: &Instruction) -> bool {
    let high = |at: u32| {
        let register = inst.op_register(at);
        inst.op_kind(at) == OpKind::Register && register.is_vector_register() && register.number() >= 16
    };
    (0..inst.op_count()).any(high)
}

/// The EVEX encoding of what VEX encodes as well, where a row has either.
fn with_evex(code: Code) -> Code {
    match code {
        Code::VEX_Vmovd_xmm_rm32 => Code::EVEX_Vmovd_xmm_rm32,
        Code::VEX_Vmovd_rm32_xmm => Code::EVEX_Vmovd_rm32_xmm,
        Code::VEX_Vpextrd_rm32_xmm_imm8 => Code::EVEX_Vpextrd_rm32_xmm_imm8,
        Code::VEX_Vmovss_xmm_m32 => Code::EVEX_Vmovss_xmm_k1z_m32,
        Code::VEX_Vmovsd_xmm_m64 => Code::EVEX_Vmovsd_xmm_k1z_m64,
        Code::VEX_Vmovss_m32_xmm => Code::EVEX_Vmovss_m32_k1_xmm,
        Code::VEX_Vmovsd_m64_xmm => Code::EVEX_Vmovsd_m64_k1_xmm,
        Code::VEX_Vmovups_xmmm128_xmm => Code::EVEX_Vmovups_xmmm128_k1z_xmm,
        Code::VEX_Vmovups_ymmm256_ymm => Code::EVEX_Vmovups_ymmm256_k1z_ymm,
        other => other,
    }
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
        Code::Shl_rm64_imm8 if inst.immediate8() == 1 => inst.set_code(Code::Shl_rm64_1),
        Code::Shr_rm64_imm8 if inst.immediate8() == 1 => inst.set_code(Code::Shr_rm64_1),
        Code::Sar_rm64_imm8 if inst.immediate8() == 1 => inst.set_code(Code::Sar_rm64_1),
        code if high_rack(inst) => inst.set_code(with_evex(code)),
        _ => {}
    }
}
