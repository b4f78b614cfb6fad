//! `--explain-fusion`: for each fused region its source graph, its chosen graph, and the rewrites between them.

use crate::pipeline::{Ir, Kind, Observer, Pass};
use rake_ir::diag::Diagnostic;
use rake_ir::fused::Program;
use rake_ir::lane::Stmt;
use rake_passes::fuse::explain_fusion;

/// Keeps the explanation of the regions when they have been chosen.
#[derive(Default)]
pub struct Explainer {
    /// The explanation; empty when the pass `fuse` did not run.
    pub text: String,
}

impl Observer for Explainer {
    fn wants_before(&self, _index: usize, _pass: &Pass) -> bool {
        false
    }

    fn after(&mut self, _index: usize, pass: &Pass, _before: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic> {
        if let (Kind::Tined, Ir::Fused(program)) = (pass.from, after) {
            self.text = explain(program);
        }
        Ok(())
    }
}

/// The explanation of every region of a program.
pub fn explain(program: &Program) -> String {
    let mut text = format!("profile {}, fuse {}\n", program.profile, program.fuse.name());
    let before = text.len();
    for function in &program.functions {
        for stmt in &function.body {
            if let Stmt::Region(region) = stmt {
                text.push('\n');
                text += &explain_fusion(function, region);
            }
        }
    }
    if text.len() == before {
        text += "\nno fused regions; stages are written `| name <| value`\n";
    }
    text
}
