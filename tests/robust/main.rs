//! No input makes the compiler panic, hang or overflow the stack, and equal inputs give equal outputs.

mod determinism;
mod dumps;
mod extremes;
mod fuzz;
mod process;
#[path = "../support/mod.rs"]
mod support;
mod watch;
