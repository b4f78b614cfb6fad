//! Chooses the cheapest graph for each fused region on the profile: tined → fused.
//!
//! ```text
//! | scaled <| velocities * <dt>            %5 = mul_add velocities, dt, positions
//! | moved  <| positions + scaled     =>    (one instruction where the profile has a fused multiply-add)
//! ```
//!
//! A region becomes an e-graph; seeds (Horner's form, common factors, squares, shared parts) and the rows of
//! [`crate::rewrites`] add equal graphs to it; extraction picks the cheapest under the cost table, a shared node counted
//! once, and the source graph stays unless something is strictly cheaper. All limits are counted, never timed, so the
//! choice is a function of region, profile and freedom alone.

mod bound;
mod explain;
mod export;
mod extract;
mod factor;
mod graph;
mod masks;
mod poly;
mod prove;
mod quick;
mod search;
mod seeds;

pub use explain::explain_fusion;
pub use prove::{prove, prove_program};

use export::{Exported, Site};
use graph::Source;
use la_arena::Arena;
use masks::Outer;
use rake_ir::diag::Diagnostic;
use rake_ir::fused::{self, Proof};
use rake_ir::lane::{Param, Stmt, Value, ValueId};
use rake_ir::tined;
use search::Choices;
use std::collections::{HashMap, HashSet};

/// What a caller may ask for; none of it changes which graph is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Record the chain of rewrites from source to chosen graph.
    pub explain: bool,
}

/// The pass.
///
/// # Errors
/// None today: every region has its source graph to fall back on.
pub fn run(program: tined::Program, options: &Options) -> Result<fused::Program, Vec<Diagnostic>> {
    let (profile, fuse) = (program.profile, program.fuse);
    let mut choices = Choices::new(search::setting(profile, fuse));
    let functions = program.functions.into_iter().map(|f| function(f, &mut choices, *options));
    // The e-graph notes for its log when a rebuild starts. Calibrating the real clock for that takes milliseconds.
    let (still, _) = quanta::Clock::mock();
    let functions = quanta::with_clock(&still, || functions.collect::<Result<_, _>>())?;
    Ok(fused::Program { profile, fuse, functions })
}

/// The pass on one function.
fn function(
    mut function: tined::Function,
    choices: &mut Choices,
    options: Options,
) -> Result<fused::Function, Vec<Diagnostic>> {
    let yields = yields(&function);
    let mut replaced: HashMap<ValueId, ValueId> = HashMap::new();
    let mut body = Vec::with_capacity(function.body.len());
    let mut regions = yields.into_iter();
    for stmt in std::mem::take(&mut function.body) {
        match stmt {
            Stmt::Value(id) => {
                redirect(&mut function.values[id], &replaced);
                body.push(Stmt::Value(id));
            }
            Stmt::Region(region) => {
                for &id in &region.values {
                    redirect(&mut function.values[id], &replaced);
                }
                let yields = regions.next().unwrap_or_default();
                let site = Region { params: &function.params, yields: &yields, replaced: &replaced };
                let region = fuse(&mut function.values, region, &site, choices, options);
                if let Some(proof) = &region.proof {
                    replaced.extend(proof.yields.iter().copied());
                }
                body.push(Stmt::Region(region));
            }
            marker => body.extend(marker.renamed(|id| replaced.get(&id).copied().unwrap_or(id))),
        }
    }
    let result = function.result.map(|result| replaced.get(&result).copied().unwrap_or(result));
    Ok(fused::Function {
        name: function.name,
        span: function.span,
        params: function.params,
        values: function.values,
        body,
        result,
    })
}

fn redirect(value: &mut Value, replaced: &HashMap<ValueId, ValueId>) {
    for id in value.args.iter_mut().chain(value.mask.as_mut()) {
        if let Some(&new) = replaced.get(id) {
            *id = new;
        }
    }
}

/// Of each region, the values that something outside reads, in program order.
fn yields(function: &tined::Function) -> Vec<Vec<ValueId>> {
    let mut region_of: HashMap<ValueId, usize> = HashMap::new();
    let mut count = 0;
    for stmt in &function.body {
        if let Stmt::Region(region) = stmt {
            region_of.extend(region.values.iter().map(|&id| (id, count)));
            count += 1;
        }
    }
    let mut read: HashSet<ValueId> = HashSet::new();
    let mut reads = |id: ValueId, reader: Option<usize>| {
        if region_of.get(&id).is_some_and(|&owner| Some(owner) != reader) {
            read.insert(id);
        }
    };
    for id in function.order() {
        let value = &function.values[id];
        let reader = region_of.get(&id).copied();
        value.args.iter().chain(&value.mask).for_each(|&arg| reads(arg, reader));
    }
    function.body.iter().flat_map(Stmt::marker_reads).chain(function.result).for_each(|id| reads(id, None));
    let regions = function.body.iter().filter_map(|stmt| match stmt {
        Stmt::Region(region) => Some(region),
        _ => None,
    });
    regions.map(|region| region.values.iter().copied().filter(|id| read.contains(id)).collect()).collect()
}

/// What a region's surroundings say about it.
struct Region<'a> {
    params: &'a [Param],
    yields: &'a [ValueId],
    replaced: &'a HashMap<ValueId, ValueId>,
}

fn fuse(
    values: &mut Arena<Value>,
    region: tined::Region,
    around: &Region,
    choices: &mut Choices,
    options: Options,
) -> fused::Region {
    let yields = around.yields;
    let source = graph::import(values, &region.values, yields);
    let outer = Outer::read(values, &region);
    let chosen = choices.choose(&source.term);
    let site =
        Site { source: &source, source_classes: &chosen.source_classes, classes: &chosen.classes, outer: &outer };
    let chain = options.explain.then(|| {
        let names = explain::input_names(values, around.params, &source.inputs);
        explain::chain(&source.term, &chosen.term, choices.setting(), &names)
    });
    let exported = export::export(values, &chosen.term, &site);
    let kept = exported.is_none();
    let Exported { values: graph, roots, exact } =
        exported.unwrap_or_else(|| verbatim(values, &region.values, &source, yields));
    let cost = if kept { (chosen.cost.0, chosen.cost.0) } else { chosen.cost };
    let now = |id: ValueId| around.replaced.get(&id).copied().unwrap_or(id);
    let proof = Proof {
        source: region.values,
        stages: region.stages.into_iter().map(|(name, id)| (name, now(id))).collect(),
        yields: yields.iter().copied().zip(roots).collect(),
        cost,
        stop: chosen.stop,
        chain,
    };
    fused::Region { values: graph, exact, proof: Some(proof) }
}

/// The source graph value for value, masks included: for graphs whose masks would be too large.
fn verbatim(arena: &mut Arena<Value>, values: &[ValueId], source: &Source, yields: &[ValueId]) -> Exported {
    let mut copies: HashMap<ValueId, ValueId> = HashMap::new();
    let mut made = Vec::with_capacity(values.len());
    debug_assert!(values.iter().all(|id| source.node_of.contains_key(id)));
    for &id in values {
        let mut value = arena[id].clone();
        redirect(&mut value, &copies);
        let copy = arena.alloc(value);
        copies.insert(id, copy);
        made.push(copy);
    }
    Exported { values: made, roots: yields.iter().map(|id| copies[id]).collect(), exact: Vec::new() }
}

#[cfg(test)]
mod tests;
