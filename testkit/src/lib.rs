//! Machinery that only the tests use.
//!
//! * [`x86`] runs machine code for real, on this CPU or, where it lacks the instructions, in an
//!   independent emulator of one; nothing is skipped.
//! * [`aarch64`] runs AArch64 code in qemu's user mode.
//! * [`c`] compiles C, for x86, AArch64 and WebAssembly.
//! * [`elf`] lays a relocatable object out as one flat image that they can run.
//! * [`wasm`] runs WebAssembly modules in wasmtime and in Node.
//! * [`special`] has the values that break arithmetic, and deterministic random bits.
//! * [`source`] writes Rake programs: every operation, seeded random ones, damaged text, benchmarks.
//! * [`process`] runs a command and tells its time, its memory and how it ended.
//! * [`scratch`] gives folders for files of one use.
//! * [`requirements`] lists the outside tools all of this needs and how to get them.

pub mod aarch64;
pub mod c;
pub mod elf;
mod image;
mod memory;
pub mod process;
pub mod requirements;
pub mod runs;
pub mod scratch;
pub mod source;
pub mod special;
pub mod wasm;
pub mod x86;

pub use elf::{LinkedObject, link_elf};
pub use image::Image;
pub use requirements::{Requirement, requirements};
