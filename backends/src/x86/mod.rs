//! x86-64.

pub mod select;

#[cfg(test)]
mod tests;
