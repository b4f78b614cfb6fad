//! The passes of the Rake compiler, one file (or folder) each, from an IR to an IR, and the rewrites of fused regions.

pub mod allocate;
pub mod desugar;
pub mod expand;
pub mod fuse;
pub mod inline;
#[cfg(test)]
mod lane_tests;
pub mod parse;
pub mod peel;
mod pressure;
pub mod resolve;
pub mod resolve_tines;
pub mod rewrites;
pub mod sanitise;
pub mod schedule;
pub mod select;
pub mod simplify;
pub mod stackify;
pub mod transpose;
pub mod typecheck;
pub mod unroll;

#[cfg(test)]
mod frontend_testing;
#[cfg(test)]
mod run_testing;
#[cfg(test)]
mod run_tests;
