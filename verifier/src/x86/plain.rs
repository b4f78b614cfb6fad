//! The instructions of runs that have no ModRM byte, read from their bytes: jumps, saved registers, constants.
//!
//! ```text
//! 7c f0               jl       to 16 bytes before its end
//! 53                  push     rbx
//! b8 05 00 00 00      mov      eax, 5
//! ```

use super::decode::{Class, Operand};

type Found = (&'static str, [Option<Operand>; 2]);

/// What a condition is called, by its number; runs use those whose names are not empty.
const CONDITIONS: [&str; 16] =
    ["", "", "jb", "jae", "je", "jne", "jbe", "ja", "", "", "", "", "jl", "jge", "jle", "jg"];

/// The instruction, and what its operands are; `end` is where it ends.
pub fn read(bytes: &[u8], end: u32) -> Option<Found> {
    let word = |bytes: [u8; 4]| i32::from_le_bytes(bytes);
    let jump = |name: &'static str, by: i32| {
        (!name.is_empty()).then_some((name, [Some(Operand::Target(i64::from(end) + i64::from(by))), None]))
    };
    let address = |number: u8| [Some(Operand::Register(Class::Address, number)), None];
    let constant = |class: Class, register: u8, number: i32| {
        [Some(Operand::Register(class, register)), Some(Operand::Number(number))]
    };
    Some(match *bytes {
        [opcode @ 0x70..=0x7f, by] => jump(CONDITIONS[usize::from(opcode & 15)], (by as i8).into())?,
        [0x0f, opcode @ 0x80..=0x8f, a, b, c, d] => jump(CONDITIONS[usize::from(opcode & 15)], word([a, b, c, d]))?,
        [0xeb, by] => jump("jmp", (by as i8).into())?,
        [0xe9, a, b, c, d] => jump("jmp", word([a, b, c, d]))?,
        [0x0f, 0x0b] => ("ud2", [None, None]),
        // Neither the stack pointer nor a register in another than its shortest form.
        [opcode @ 0x50..=0x57] if opcode != 0x54 => ("push", address(opcode & 7)),
        [0x41, opcode @ 0x50..=0x57] => ("push", address(opcode & 7 | 8)),
        [opcode @ 0x58..=0x5f] if opcode != 0x5c => ("pop", address(opcode & 7)),
        [0x41, opcode @ 0x58..=0x5f] => ("pop", address(opcode & 7 | 8)),
        [opcode @ 0xb8..=0xbf, a, b, c, d] if opcode != 0xbc => {
            ("mov", constant(Class::Gpr, opcode & 7, word([a, b, c, d])))
        }
        [0x41, opcode @ 0xb8..=0xbf, a, b, c, d] => ("mov", constant(Class::Gpr, opcode & 7 | 8, word([a, b, c, d]))),
        [0x48, opcode, a, b, c, d] => (accumulator(opcode)?, wide(constant(Class::Address, 0, word([a, b, c, d])))?),
        [0x3d, a, b, c, d] => ("cmp", wide(constant(Class::Gpr, 0, word([a, b, c, d])))?),
        _ => return None,
    })
}

/// A number that fits a byte has a shorter form.
fn wide(operands: [Option<Operand>; 2]) -> Option<[Option<Operand>; 2]> {
    match operands[1] {
        Some(Operand::Number(number)) if i8::try_from(number).is_ok() => None,
        _ => Some(operands),
    }
}

/// What is computed with `rax` and a number.
fn accumulator(opcode: u8) -> Option<&'static str> {
    Some(match opcode {
        0x05 => "add",
        0x0d => "or",
        0x25 => "and",
        0x2d => "sub",
        0x35 => "xor",
        0x3d => "cmp",
        _ => return None,
    })
}
