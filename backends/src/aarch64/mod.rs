//! AArch64.

pub mod select;
