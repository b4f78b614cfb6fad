//! The IR zoo of the Rake compiler: operations, profiles, spans, diagnostics and every IR from `surface` to `allocated` and `stacked`.
//!
//! This crate knows no pass and no encoder. Each IR is a file (or folder): what it removes and adds, its invariants, its
//! nodes, printer, reader, check and evaluator.

pub mod allocated;
pub mod capabilities;
pub mod cost;
pub mod desugared;
pub mod diag;
pub mod dispatch;
pub mod fused;
pub mod lane;
pub mod limits;
pub mod machine;
pub mod memory;
pub mod number;
pub mod ops;
pub mod profile;
pub mod program;
pub mod reference;
pub mod selected;
pub mod sequences;
pub mod span;
pub mod stacked;
pub mod surface;
pub mod text;
pub mod tined;
pub mod typed;
pub mod types;
pub mod value;
