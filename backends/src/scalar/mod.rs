//! Scalar C: the selection table; [`crate::c`] writes the text.

pub mod select;
#[cfg(test)]
mod tests;
mod transfers;
