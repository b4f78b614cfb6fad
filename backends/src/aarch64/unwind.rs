//! The stack of AAPCS64, as unwinders know it.

use crate::unwind::Stack;

/// The return address is in a register, the stack's top always a multiple of sixteen, and below it nothing is kept.
pub const STACK: Stack =
    Stack { first: 0, slot: SLOT, step: 4, kept: false, column: |register| register, names: &NAMES };

/// Bytes that a saved register takes.
pub const SLOT: u8 = 16;

const NAMES: [&str; 32] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
    "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
];
