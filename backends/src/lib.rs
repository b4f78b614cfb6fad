//! backends

pub mod x86;
