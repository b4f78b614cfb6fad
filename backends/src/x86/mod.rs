//! x86-64.

pub mod asm;
mod codes;
pub mod elf;
pub mod encode;
mod jumps;
pub mod layout;
pub mod select;
mod shuffle;
mod transfers;
mod unwind;
mod words;

#[cfg(test)]
mod tests;
