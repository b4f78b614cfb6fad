//! Encodings on general registers: those with a number, and what GNU `as` makes of it.

use iced_x86::{Code, Instruction, OpKind, Register};
use rake_ir::machine::PhysReg;
use rake_ir::machine::x86::X86;

/// The encodings of an operation with a number of 8 bits, of 32 bits, and of 32 bits with `rax` or `eax`, which has its own.
const fn codes(op: X86) -> Option<[Code; 3]> {
    Some(match op {
        X86::AddLong => [Code::Add_rm64_imm8, Code::Add_rm64_imm32, Code::Add_RAX_imm32],
        X86::SubLong => [Code::Sub_rm64_imm8, Code::Sub_rm64_imm32, Code::Sub_RAX_imm32],
        X86::AndLong => [Code::And_rm64_imm8, Code::And_rm64_imm32, Code::And_RAX_imm32],
        X86::OrLong => [Code::Or_rm64_imm8, Code::Or_rm64_imm32, Code::Or_RAX_imm32],
        X86::XorLong => [Code::Xor_rm64_imm8, Code::Xor_rm64_imm32, Code::Xor_RAX_imm32],
        X86::CompareLong => [Code::Cmp_rm64_imm8, Code::Cmp_rm64_imm32, Code::Cmp_RAX_imm32],
        X86::CompareWord => [Code::Cmp_rm32_imm8, Code::Cmp_rm32_imm32, Code::Cmp_EAX_imm32],
        X86::StoreLong => [Code::Mov_rm64_imm32; 3],
        _ => return None,
    })
}

/// The encoding of an operation with a number; `first` is the register that stands before it.
pub(super) fn numbered(op: X86, number: i32, first: Option<PhysReg>) -> Option<Code> {
    if op == X86::LongConst {
        // A word's upper half is cleared, so the shorter one does for what is not negative.
        return Some(if number >= 0 { Code::Mov_r32_imm32 } else { Code::Mov_rm64_imm32 });
    }
    let [short, long, first_register] = codes(op)?;
    let is_short = i8::try_from(number).is_ok();
    Some(match first {
        _ if is_short => short,
        Some(PhysReg { number: 0, .. }) => first_register,
        _ => long,
    })
}

/// Puts a number into an instruction as its operand `at`, as its encoding holds it.
pub(super) fn put(inst: &mut Instruction, at: u32, number: i32) {
    match inst.code().op_code().op_kind(at) {
        iced_x86::OpCodeOperandKind::imm8sex64 => {
            inst.set_op_kind(at, OpKind::Immediate8to64);
            inst.set_immediate8to64(number.into());
        }
        iced_x86::OpCodeOperandKind::imm8sex32 => {
            inst.set_op_kind(at, OpKind::Immediate8to32);
            inst.set_immediate8to32(number);
        }
        iced_x86::OpCodeOperandKind::imm32sex64 => {
            inst.set_op_kind(at, OpKind::Immediate32to64);
            inst.set_immediate32to64(number.into());
        }
        _ => {
            inst.set_op_kind(at, OpKind::Immediate32);
            inst.set_immediate32(number as u32);
        }
    }
}

/// The low byte, or the low 16 bits, of a general register.
pub(super) fn narrow(register: u8, bytes: usize) -> Option<Register> {
    const BYTES: [Register; 16] = [
        Register::AL,
        Register::CL,
        Register::DL,
        Register::BL,
        Register::SPL,
        Register::BPL,
        Register::SIL,
        Register::DIL,
        Register::R8L,
        Register::R9L,
        Register::R10L,
        Register::R11L,
        Register::R12L,
        Register::R13L,
        Register::R14L,
        Register::R15L,
    ];
    match bytes {
        1 => BYTES.get(usize::from(register)).copied(),
        2 if register < 16 => Some(Register::AX + u32::from(register)),
        _ => None,
    }
}
