//! The Rake compiler as a library; the command in `main.rs` is a thin layer over it.
//!
//! [`pipeline`] has the table of passes and the loop that drives them, [`Compiler`] runs it for one set of options,
//! [`render`] turns diagnostics into text, and [`command`] is the command line.

mod backend;
pub mod command;
mod compiler;
pub mod explain;
pub mod pipeline;
pub mod render;
pub mod report;

pub use compiler::{Compiler, Deny, Emit, Files, Options, Outputs};
