//! WebAssembly.

pub mod select;
