//! The table of passes.

use super::{Context, Ir, Kind, Outcome, Pass, Profiles, Work};

/// Every pass, in the order in which they run.
pub const PASSES: &[Pass] = &[Pass {
    name: "parse",
    doc: "text to syntax tree",
    from: Kind::Text,
    to: Kind::Surface,
    profiles: Profiles::All,
    work: Work::Program,
    run: parse,
    after: &[],
}];

fn parse(context: &Context, ir: Ir) -> Outcome {
    let _ = context;
    Outcome { ir: Some(ir), diagnostics: Vec::new() }
}
