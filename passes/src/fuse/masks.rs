//! Which lanes each chosen value is needed in.
//!
//! The search ignores masks. Afterwards demand runs from the results to the leaves: an arm of an `if` is needed only
//! where the condition picks it, and what is needed in several places is needed in any of them. What the source computes
//! in all of the region's lanes stays so: it raises no flag there that the source would not.

use super::graph::{Term, at};
use la_arena::Arena;
use rake_ir::lane::{Value, ValueId};
use rake_ir::ops::Op;
use rake_ir::tined;
use rake_ir::types::Ty;
use std::collections::{BTreeSet, HashSet};

/// A conjunction: (condition's node, whether it must hold), in order of nodes.
pub type Path = Vec<(usize, bool)>;

/// Where a node is needed: everywhere in the region's lanes, or in any of some conjunctions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Demand {
    /// Nobody needs it.
    Nowhere,
    /// In all lanes of the region.
    Everywhere,
    /// Where any of these holds.
    Any(BTreeSet<Path>),
}

/// More conjunctions than this for one node, and the graph is not worth its masks.
const MOST_PATHS: usize = 64;

impl Demand {
    fn add(&mut self, path: Path) {
        match self {
            Demand::Everywhere => {}
            _ if path.is_empty() => *self = Demand::Everywhere,
            Demand::Nowhere => *self = Demand::Any(BTreeSet::from([path])),
            Demand::Any(paths) => {
                insert(paths, path);
                if paths.iter().any(Vec::is_empty) {
                    *self = Demand::Everywhere;
                }
            }
        }
    }

    fn join(&mut self, other: &Demand, literal: Option<(usize, bool)>) {
        let with = |path: &Path| extend(path, literal);
        match other {
            Demand::Nowhere => {}
            Demand::Everywhere => self.add(with(&Path::new()).unwrap_or_default()),
            Demand::Any(paths) => paths.iter().filter_map(with).for_each(|path| self.add(path)),
        }
    }
}

/// The path and one more literal; `None` where they contradict.
fn extend(path: &Path, literal: Option<(usize, bool)>) -> Option<Path> {
    let mut path = path.clone();
    let Some(literal) = literal else { return Some(path) };
    match path.binary_search_by_key(&literal.0, |l| l.0) {
        Ok(at) => (path[at].1 == literal.1).then_some(path),
        Err(at) => {
            path.insert(at, literal);
            Some(path)
        }
    }
}

fn covers(wide: &Path, narrow: &Path) -> bool {
    wide.iter().all(|literal| narrow.contains(literal))
}

/// Adds a path, drops those that others cover, and joins pairs that differ in one literal's sign.
fn insert(paths: &mut BTreeSet<Path>, path: Path) {
    let mut queue = vec![path];
    while let Some(path) = queue.pop() {
        if paths.iter().any(|p| covers(p, &path)) {
            continue;
        }
        paths.retain(|p| !covers(&path, p));
        let partner = paths.iter().find_map(|p| {
            let differs: Vec<usize> = (0..p.len()).filter(|&i| path.get(i) != Some(&p[i])).collect();
            let joins = p.len() == path.len() && differs.len() == 1 && p[differs[0]].0 == path[differs[0]].0;
            joins.then(|| (p.clone(), differs[0]))
        });
        match partner {
            Some((partner, at)) => {
                paths.remove(&partner);
                let mut joined = partner;
                joined.remove(at);
                queue.push(joined);
            }
            None => {
                paths.insert(path);
            }
        }
    }
}

/// The demand of each node; `eager` are those that the source computes in all of the region's lanes. `None` when the
/// formulas grow too large.
pub fn demands(term: &Term, eager: &[bool]) -> Option<Vec<Demand>> {
    let mut demands = vec![Demand::Nowhere; term.nodes.len()];
    for &root in &term.roots {
        demands[root] = Demand::Everywhere;
    }
    for index in (0..term.nodes.len()).rev() {
        if demands[index] != Demand::Nowhere && eager[index] {
            demands[index] = Demand::Everywhere;
        }
        let own = demands[index].clone();
        if let Demand::Any(paths) = &own
            && paths.len() > MOST_PATHS
        {
            return None;
        }
        let node = &term.nodes[index];
        let condition = (node.as_op() == Some(Op::If)).then(|| at(node.args[0]));
        for (place, &arg) in node.args.iter().enumerate() {
            let literal = condition.filter(|_| place > 0).map(|condition| (condition, place == 1));
            demands[at(arg)].join(&own, literal);
        }
    }
    Some(demands)
}

/// The masks under which a whole region stands: one for each kind of value, by its truth.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outer(Vec<(Ty, ValueId)>);

impl Outer {
    /// The mask of values with this truth; `None` where they are computed in every lane.
    pub fn of(&self, truth: Ty) -> Option<ValueId> {
        self.0.iter().find(|outer| outer.0 == truth).map(|outer| outer.1)
    }

    /// Of each kind: the mask of its stages. Where no stage is of that kind, the mask that all values of it have or
    /// that theirs are conjunctions with.
    pub fn read(values: &Arena<Value>, region: &tined::Region) -> Outer {
        let mut outer = Outer::default();
        if region.values.iter().all(|&id| values[id].mask.is_none()) {
            return outer;
        }
        let within: HashSet<ValueId> = region.values.iter().copied().collect();
        // Constants and broadcasts are computed in every lane whatever stands around them.
        let tells = |id: &ValueId| !matches!(values[*id].op, Op::Const | Op::Splat | Op::LaneIndex);
        let truth = |id: ValueId| values[id].ty.truth();
        let kinds: BTreeSet<Ty> = region.values.iter().map(|&id| truth(id)).collect();
        for kind in kinds {
            let of_kind = |id: &ValueId| truth(*id) == kind && tells(id);
            let stages = region.stages.iter().map(|stage| stage.1);
            let mask = match stages.filter(|id| within.contains(id)).find(of_kind) {
                Some(stage) => values[stage].mask,
                None => {
                    let own = |id: &ValueId| values[*id].mask.map(|mask| first(values, &within, mask));
                    let mut all = region.values.iter().filter(|id| of_kind(id)).map(own);
                    let mask = all.next().flatten();
                    mask.filter(|_| all.all(|other| other == mask))
                }
            };
            outer.0.extend(mask.map(|mask| (kind, mask)));
        }
        outer
    }
}

/// The first part of a conjunction that the region made.
fn first(values: &Arena<Value>, within: &HashSet<ValueId>, mut mask: ValueId) -> ValueId {
    while values[mask].op == Op::And && within.contains(&mask) {
        mask = values[mask].args[0];
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_simplify() {
        let mut demand = Demand::Nowhere;
        demand.add(vec![(1, true), (2, true)]);
        demand.add(vec![(1, true), (2, false)]);
        assert_eq!(demand, Demand::Any(BTreeSet::from([vec![(1, true)]])));
        demand.add(vec![(1, true), (3, false)]);
        assert_eq!(demand, Demand::Any(BTreeSet::from([vec![(1, true)]])));
        demand.add(vec![(1, false)]);
        assert_eq!(demand, Demand::Everywhere);
    }
}
