//! The backends: selection tables, encoders, object and assembly writers, and the C header.

pub mod c_header;
pub mod x86;
