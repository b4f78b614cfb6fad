//! What the report says of a run beside its instructions: its records, its columns, how they are selected and how the last of
//! them are transferred. It is read off the chosen graph, before racks are put in flight.
//!
//! ```text
//! keep_near on x86-avx2 (fuse full)
//!   records       32-bit lanes, 8 at a time
//!   columns       reads p.x, p.y, q.x; replaces p.x, p.y, in place
//!   selection     compact, by a permutation by the selection's bits
//!   tail          masked transfers
//! ```

use crate::pipeline::{Ir, Observer, Pass};
use rake_ir::diag::Diagnostic;
use rake_ir::fused::{Function, Program};
use rake_ir::lane::{Open, Stmt, Value};
use rake_ir::machine::MachOp;
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Pointee, Ty};
use rake_passes::select::rule::{Key, Rule, Src, Target};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What is said of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Of a run over stacks: the width of a lane in bits, and how many records are visited at once.
    pub domain: Option<(u32, usize)>,
    /// The columns and views that it loads, in the order of its parameters.
    pub reads: Vec<String>,
    /// Those that it writes.
    pub writes: Vec<String>,
    /// Whether it writes nothing that it does not read: then old values are replaced where they stand.
    pub in_place: bool,
    /// Which records it keeps or replaces, and how, where not all.
    pub selection: Option<(&'static str, String)>,
    /// How the elements of a partial rack are transferred, where there is one.
    pub tail: Option<&'static str>,
    /// How elements at indices are loaded, where any are.
    pub gathers: Option<String>,
}

/// Notes the runs of the first chosen graphs that come by.
#[derive(Default)]
pub struct Runs(pub Option<Vec<Run>>);

impl Runs {
    /// Notes the runs of `ir` when it is the first of chosen graphs.
    pub fn see(&mut self, ir: &Ir) {
        if let (None, Ir::Fused(program)) = (&self.0, ir) {
            self.0 = Some(runs(program));
        }
    }
}

impl Observer for Runs {
    fn wants_before(&self, _: usize, _: &Pass) -> bool {
        false
    }

    fn after(&mut self, _: usize, _: &Pass, _: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic> {
        self.see(after);
        Ok(())
    }
}

/// The runs of a program.
fn runs(program: &Program) -> Vec<Run> {
    let target = rake_backends::target(program.profile);
    let runs = program.functions.iter().filter(|function| function.result.is_none());
    runs.map(|function| Facts { f: function, profile: program.profile, target }.run()).collect()
}

struct Facts<'a> {
    f: &'a Function,
    profile: Profile,
    target: &'a dyn Target,
}

impl Facts<'_> {
    fn run(&self) -> Run {
        let transfers: Vec<&Value> = self.f.order().map(|id| &self.f.values[id]).collect();
        let of = |ops: &[Op]| -> Vec<&Value> { transfers.iter().copied().filter(|v| ops.contains(&v.op)).collect() };
        let (loads, gathers) = (of(&[Op::Load, Op::LoadUniform, Op::Gather]), of(&[Op::Gather]));
        let stores = of(&[Op::Store, Op::StoreSelected, Op::Scatter]);
        let (reads, writes) = (self.places(&loads), self.places(&stores));
        let domain = self.f.body.iter().find_map(|stmt| match stmt {
            Stmt::Open(Open::Traverse { bits, .. }) => Some((*bits, self.profile.lanes_of_bits(*bits))),
            _ => None,
        });
        Run {
            name: self.f.name.to_string(),
            domain,
            in_place: !writes.is_empty() && writes.iter().all(|place| reads.contains(place)),
            selection: domain.and_then(|_| self.selection(&stores)),
            tail: self.tail(domain, &loads, &stores),
            gathers: gathers.first().map(|value| self.method(Key::Gather(value.ty.elem()), value.ty.elem())),
            reads,
            writes,
        }
    }

    /// The columns and views that values access, by parameter and column.
    fn places(&self, values: &[&Value]) -> Vec<String> {
        let mut found = BTreeSet::new();
        for value in values {
            let address = &self.f.values[value.args[0]];
            found.extend(match (address.op, &address.imm) {
                (Op::Column, &Imm::Int(column)) => match &self.f.values[address.args[0]].imm {
                    Imm::Int(param) => Some((*param, column)),
                    _ => None,
                },
                (Op::Param, &Imm::Int(param)) => Some((param, 0)),
                _ => None,
            });
        }
        let name = |(param, column): (u32, u32)| {
            let param = self.f.params.get(param as usize)?;
            Some(match param.points_to.as_ref()? {
                Pointee::View { .. } => param.name.to_string(),
                stack => format!("{}.{}", param.name, stack.columns().get(column as usize)?.0),
            })
        };
        found.into_iter().filter_map(name).collect()
    }

    fn has(&self, key: Key, elem: Elem) -> bool {
        !matches!(self.target.rule(key, elem, self.profile), Rule::Unsupported(_))
    }

    /// Which records are kept or replaced, and how.
    fn selection(&self, stores: &[&Value]) -> Option<(&'static str, String)> {
        if let Some(store) = stores.iter().find(|store| store.op == Op::StoreSelected) {
            return Some(("compact", self.method(Key::Op(Op::Compress), store.ty.elem())));
        }
        let store = stores.iter().find(|store| store.mask.is_some())?;
        let masked = self.has(Key::StoreWhere(memory(store)), store.ty.elem());
        let method = if masked { "masked stores" } else { "a choice between new and old records" };
        Some(("where", method.to_owned()))
    }

    /// How a rule does it: by its instruction, by a table of permutations, or by moves of lanes.
    fn method(&self, key: Key, elem: Elem) -> String {
        if self.profile.lanes(elem) == 1 {
            return "one record at a time".to_owned();
        }
        let mnemonic = |op: MachOp| op.mnemonic(self.profile).unwrap_or(op.name()).to_owned();
        match self.target.rule(key, elem, self.profile) {
            Rule::Steps(steps) => {
                let table = |src: &Src| matches!(src, Src::Literal(bytes) if bytes.len() > self.profile.rack_bytes());
                match steps {
                    _ if steps.iter().any(|step| step.args.iter().any(table)) => {
                        "a permutation by the selection's bits".into()
                    }
                    [.., last] if !matches!(key, Key::Op(_)) => mnemonic(last.op),
                    [one] => mnemonic(one.op),
                    _ => "moves of lanes".to_owned(),
                }
            }
            Rule::Planned(_) => "moves of lanes".to_owned(),
            // What has no gather of its own.
            Rule::Unsupported(_) if matches!(key, Key::Gather(_)) => "lane loads".to_owned(),
            Rule::Free(_) | Rule::Unsupported(_) => "nothing".to_owned(),
        }
    }

    /// How the elements of a partial rack are transferred.
    fn tail(&self, domain: Option<(u32, usize)>, loads: &[&Value], stores: &[&Value]) -> Option<&'static str> {
        let racks = |value: &&&Value| matches!(value.ty, Ty::Rack(_)) && value.op != Op::Gather;
        let tailed =
            |value: &&&Value| value.mask.is_some_and(|mask| self.f.values[mask].op == Op::InRange) || domain.is_some();
        let several = |value: &&&Value| self.profile.lanes(value.ty.elem()) > 1;
        let loads = loads.iter().map(|value| (value, Key::LoadWhere(memory(value))));
        let stores = stores.iter().map(|value| (value, Key::StoreWhere(memory(value))));
        let all = loads.chain(stores).filter(|(value, _)| racks(value) && tailed(value) && several(value));
        let masked: Vec<bool> = all.map(|(value, key)| self.has(key, value.ty.elem())).collect();
        Some(match (masked.contains(&true), masked.contains(&false)) {
            (false, false) => return None,
            (true, false) => "masked transfers",
            (false, true) => "guarded element by element",
            (true, true) => "masked transfers; narrow elements guarded one by one",
        })
    }
}

/// How memory holds what a transfer moves.
fn memory(value: &Value) -> Elem {
    match value.imm {
        Imm::Memory(elem) => elem,
        _ => value.ty.elem(),
    }
}

/// The lines for people.
pub fn text(run: &Run, out: &mut String) {
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    // Writing to a string cannot fail.
    let _ = match run.domain {
        Some((bits, lanes)) => writeln!(out, "  records       {bits}-bit lanes, {lanes} at a time"),
        None => Ok(()),
    };
    let place = if run.in_place { ", in place" } else { "" };
    let what = if run.domain.is_some() { "columns" } else { "views" };
    let verb = if run.domain.is_some() { "replaces" } else { "writes" };
    let _ = writeln!(out, "  {what:<13} reads {}; {verb} {}{place}", list(&run.reads), list(&run.writes));
    if let Some((kind, method)) = &run.selection {
        let _ = writeln!(out, "  selection     {kind}, by {method}");
    }
    if let Some(tail) = run.tail {
        let _ = writeln!(out, "  tail          {tail}");
    }
    if let Some(gathers) = &run.gathers {
        let _ = writeln!(out, "  gathers       by {gathers}");
    }
}

/// The members for programs.
pub fn json(run: &Run) -> Json {
    json!({
        "domain_bits": run.domain.map(|domain| domain.0), "records_at_once": run.domain.map(|domain| domain.1),
        "reads": run.reads, "writes": run.writes, "in_place": run.in_place,
        "selection": run.selection.as_ref().map(|selection| selection.0),
        "selection_method": run.selection.as_ref().map(|selection| &selection.1),
        "tail": run.tail, "gathers": run.gathers,
    })
}
