//! AArch64.

pub mod asm;
mod codes;
pub mod elf;
pub mod encode;
mod jumps;
pub mod layout;
pub mod select;
mod shuffle;
#[cfg(test)]
mod tests;
mod transfers;
mod unwind;
