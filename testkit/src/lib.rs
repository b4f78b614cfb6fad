//! Machinery that only the tests use.
//!
//! * [`x86`] runs machine code for real, on this CPU or, where it lacks the instructions, in an
//!   independent emulator of one; nothing is skipped.
//! * [`elf`] lays a relocatable object out as one flat image that [`x86`] can run.
//! * [`special`] has the values that break arithmetic, and deterministic random bits.
//! * [`source`] writes Rake programs: every operation, seeded random ones, damaged text, benchmarks.
//! * [`process`] runs a command and tells its time, its memory and how it ended.
//! * [`requirements`] lists the outside tools all of this needs and how to get them.

pub mod elf;
pub mod process;
pub mod requirements;
pub mod source;
pub mod special;
pub mod x86;

pub use elf::{LinkedObject, link_elf};
pub use requirements::{Requirement, requirements};
