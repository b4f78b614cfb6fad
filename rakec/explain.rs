//! `--explain-fusion`: for each fused region its source graph, its chosen graph, and the rewrites between them.

use crate::pipeline::{Ir, Kind, Observer, Pass};
use rake_ir::diag::Diagnostic;
use rake_ir::fused::{Cost, Function, Program, Proof, Region, Stop};
use rake_ir::lane::{Stmt, ValueId, number};
use rake_ir::ops::{Imm, Op};
use rake_ir::value::literal;
use std::fmt::Write as _;

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
    for function in &program.functions {
        let regions = function.body.iter().filter_map(|stmt| match stmt {
            Stmt::Region(region) => Some(region),
            Stmt::Value(_) => None,
        });
        for (index, region) in regions.enumerate() {
            let stages = region.proof.iter().flat_map(|proof| &proof.stages).map(|(name, _)| name.as_str());
            let stages: Vec<&str> = stages.collect();
            let _ = writeln!(text, "\n{}, region {}: {}", function.name, index + 1, stages.join(", "));
            explain_region(function, region, &mut text);
        }
    }
    text
}

fn explain_region(function: &Function, region: &Region, text: &mut String) {
    let Some(proof) = &region.proof else {
        text.push_str("  the proof was dropped by a later pass\n");
        return;
    };
    let numbers = number(function);
    let show = |id: ValueId| numbers.get(id.into_raw().into_u32() as usize).copied().flatten();
    let graph = |values: &[ValueId], text: &mut String| {
        for &id in values {
            let line = value_line(function, id, &show);
            let _ = writeln!(text, "    {line}");
        }
    };
    let (source, chosen) = proof.cost;
    let _ = writeln!(text, "  source graph, {}", cost(source));
    graph(&proof.source, text);
    let _ = writeln!(text, "  chosen graph, {}", cost(chosen));
    graph(&region.values, text);
    let _ = writeln!(text, "  the search {}", stop(proof.stop));
    chain(proof, text);
}

fn chain(proof: &Proof, text: &mut String) {
    let Some(steps) = &proof.chain else { return };
    if steps.is_empty() {
        text.push_str("  no rewrites\n");
        return;
    }
    text.push_str("  rewrites\n");
    for step in steps {
        let direction = if step.backward { " (backward)" } else { "" };
        let _ = writeln!(text, "    {}{direction}: {}", step.rule, step.term);
    }
}

fn value_line(function: &Function, id: ValueId, show: &impl Fn(ValueId) -> Option<u32>) -> String {
    let value = &function.values[id];
    let name = |id: ValueId| show(id).map_or("%?".to_string(), |number| format!("%{number}"));
    let mut line = format!("{} : {} = {}", name(id), value.ty, value.op.name());
    match &value.imm {
        Imm::Bits(bits) if value.op == Op::Const => {
            let _ = write!(line, " {}", literal(value.ty.elem(), *bits));
        }
        Imm::Int(number) => {
            let _ = write!(line, " {number}");
        }
        Imm::Lanes(lanes) => {
            let _ = write!(line, " {lanes:?}");
        }
        Imm::None | Imm::Bits(_) => {}
    }
    let operands: Vec<String> = value.args.iter().map(|operand| name(*operand)).collect();
    if !operands.is_empty() {
        let _ = write!(line, " {}", operands.join(", "));
    }
    if let Some(name) = &value.name {
        let _ = write!(line, "  ~~ {name}");
    }
    line
}

fn cost(cost: Cost) -> String {
    let cycles = |hundredths: u32| f64::from(hundredths) / 100.0;
    format!("{:.2} cycles, latency {:.2}, {} racks live", cycles(cost.throughput), cycles(cost.latency), cost.live)
}

fn stop(stop: Stop) -> String {
    match stop {
        Stop::Saturated => "found every graph that the rules reach".into(),
        Stop::Nodes(limit) => format!("stopped at the limit of {limit} nodes; the best graph found is taken"),
        Stop::Rounds(limit) => format!("stopped at the limit of {limit} rounds; the best graph found is taken"),
        Stop::Optimal => "ended at a graph that no rule can better".into(),
        Stop::Trivial => "had nothing to do".into(),
    }
}
