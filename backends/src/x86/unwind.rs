//! The stack of System V on x86-64, as unwinders know it.

use crate::unwind::Stack;

/// The return address lies on the stack, and what is saved below it.
pub const STACK: Stack = Stack { first: 8, slot: 8, step: 1, kept: true, column, names: &NAMES };

const NAMES: [&str; 16] = [
    "%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13",
    "%r14", "%r15",
];

/// The number of a general register in DWARF (System V x86-64 psABI, figure 3.36).
const fn column(register: u8) -> u8 {
    match register {
        1 => 2,
        2 => 1,
        4 => 7,
        5 => 6,
        6 => 4,
        7 => 5,
        other => other,
    }
}
