//! `tined`: masks are Boolean formulas over comparison atoms; through and sweep are gone; SSA lane operations.
//!
//! Since `desugared`: expression trees became SSA values; each value computed in some lanes only names its mask.
//! A fused region is the list of values that its stages compute, still exactly as the source wrote them.

use crate::lane::{self, ValueId};
use smol_str::SmolStr;

/// A region: what consecutive stages `| name <| e` compute, in source order.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// The values that the stages compute, in program order; all pure and allowed in stages.
    pub values: Vec<ValueId>,
    /// Each stage's name and its value (in `values`, or one from outside when the stage only renames).
    pub stages: Vec<(SmolStr, ValueId)>,
}

/// A function of `tined`.
pub type Function = lane::Function<Region>;
/// A program of `tined`.
pub type Program = lane::Program<Region>;
