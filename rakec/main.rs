//! rakec
fn main() {}
