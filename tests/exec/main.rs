//! Generated objects run for real, on this CPU or in the emulator, and agree bit for bit with the evaluator of the
//! chosen graph.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod arguments;
mod assembly;
mod calls_from_c;
mod engine;
mod engines;
mod every_mask;
mod flags;
mod lanes;
mod machine;
mod programs;
#[path = "../support/mod.rs"]
mod support;
