//! WebAssembly.

mod instructions;
pub mod module;
mod moves;
pub mod select;
mod transfers;
