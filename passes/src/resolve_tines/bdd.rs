//! Reduced ordered binary decision diagrams: Boolean formulas over numbered atoms, each formula one node.
//!
//! Two formulas are equivalent exactly when they are the same node, so a tautology is [`TRUE`] and an unsatisfiable
//! formula is [`FALSE`] (Bryant, "Graph-based algorithms for Boolean function manipulation", 1986). Atoms are ordered by
//! their numbers. Some formulas have no small diagram in that order; the work is counted, and more than the limit is
//! [`TooComplex`], never a wrong answer. Nothing recurses: a diagram may be as deep as there are atoms.

use la_arena::{Arena, Idx, RawIdx};
use std::collections::HashMap;

/// A formula: the node that decides its first atom.
pub type Formula = Idx<Node>;

/// The formula that never holds.
pub const FALSE: Formula = Idx::from_raw(RawIdx::from_u32(0));
/// The formula that always holds.
pub const TRUE: Formula = Idx::from_raw(RawIdx::from_u32(1));

/// A decision: `high` where the atom holds, `low` elsewhere; both decide later atoms only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    atom: u32,
    high: Formula,
    low: Formula,
}

/// The counted limit was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooComplex;

/// What a formula is, or that it is too complex.
pub type Decided = Result<Formula, TooComplex>;

/// The diagrams of one function.
pub struct Bdd {
    nodes: Arena<Node>,
    unique: HashMap<Node, Formula>,
    memo: HashMap<[Formula; 3], Formula>,
    steps: usize,
    limit: usize,
}

/// One part of [`Bdd::ite`]'s work.
enum Task {
    Split([Formula; 3]),
    Join(u32, [Formula; 3]),
}

impl Bdd {
    /// No diagrams yet; at most `limit` steps, each of which makes one node at most.
    pub fn new(limit: usize) -> Bdd {
        let mut nodes = Arena::new();
        // The terminals decide no atom; their number orders them after every atom.
        nodes.alloc(Node { atom: u32::MAX, high: FALSE, low: FALSE });
        nodes.alloc(Node { atom: u32::MAX, high: TRUE, low: TRUE });
        Bdd { nodes, unique: HashMap::new(), memo: HashMap::new(), steps: 0, limit }
    }

    /// The steps taken so far.
    #[cfg(test)]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The formula that one atom is.
    pub fn atom(&mut self, atom: u32) -> Formula {
        self.node(atom, TRUE, FALSE)
    }

    /// Where `f` does not hold.
    pub fn not(&mut self, f: Formula) -> Decided {
        self.ite(f, FALSE, TRUE)
    }

    /// Where both hold.
    pub fn and(&mut self, f: Formula, g: Formula) -> Decided {
        self.ite(f, g, FALSE)
    }

    /// Where one holds or both.
    pub fn or(&mut self, f: Formula, g: Formula) -> Decided {
        self.ite(f, TRUE, g)
    }

    /// Where the first holds and the second does not.
    pub fn and_not(&mut self, f: Formula, g: Formula) -> Decided {
        self.ite(g, FALSE, f)
    }

    /// `g` where `f` holds, `h` elsewhere.
    pub fn ite(&mut self, f: Formula, g: Formula, h: Formula) -> Decided {
        let mut tasks = vec![Task::Split([f, g, h])];
        let mut done: Vec<Formula> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Split(key) => {
                    let key = normal(key);
                    if let Some(known) = self.known(key) {
                        done.push(known);
                        continue;
                    }
                    self.steps += 1;
                    if self.steps > self.limit {
                        return Err(TooComplex);
                    }
                    let atom = key.map(|f| self.nodes[f].atom).into_iter().min().unwrap_or(u32::MAX);
                    tasks.push(Task::Join(atom, key));
                    tasks.push(Task::Split(key.map(|f| self.cofactor(f, atom, false))));
                    tasks.push(Task::Split(key.map(|f| self.cofactor(f, atom, true))));
                }
                Task::Join(atom, key) => {
                    let (low, high) = (done.pop().unwrap_or(FALSE), done.pop().unwrap_or(FALSE));
                    let node = self.node(atom, high, low);
                    self.memo.insert(key, node);
                    done.push(node);
                }
            }
        }
        Ok(done.pop().unwrap_or(FALSE))
    }

    fn known(&self, key: [Formula; 3]) -> Option<Formula> {
        let [f, g, h] = key;
        if f == TRUE || g == h {
            Some(g)
        } else if f == FALSE {
            Some(h)
        } else if g == TRUE && h == FALSE {
            Some(f)
        } else {
            self.memo.get(&key).copied()
        }
    }

    /// What remains of a formula once the atom is decided, when no earlier atom stands in it.
    fn cofactor(&self, f: Formula, atom: u32, holds: bool) -> Formula {
        match self.nodes[f] {
            Node { atom: own, high, low } if own == atom => {
                if holds {
                    high
                } else {
                    low
                }
            }
            _ => f,
        }
    }

    fn node(&mut self, atom: u32, high: Formula, low: Formula) -> Formula {
        if high == low {
            return high;
        }
        let node = Node { atom, high, low };
        *self.unique.entry(node).or_insert_with(|| self.nodes.alloc(node))
    }

    /// An assignment under which `f` holds, with as few atoms as any one path through its diagram fixes, in the order
    /// of the atoms; `None` when there is none. Atoms that it does not name may be either.
    pub fn witness(&self, f: Formula) -> Option<Vec<(u32, bool)>> {
        // A node stands after what it leads to, so one sweep gives each its distance to the true terminal.
        let index = |f: Formula| f.into_raw().into_u32() as usize;
        let mut distance = vec![usize::MAX; index(f).max(1) + 1];
        distance[1] = 0;
        for (id, node) in self.nodes.iter().take(index(f) + 1).skip(2) {
            distance[index(id)] = distance[index(node.high)].min(distance[index(node.low)]).saturating_add(1);
        }
        if distance[index(f)] == usize::MAX {
            return None;
        }
        let (mut path, mut at) = (Vec::new(), f);
        while at != TRUE {
            let Node { atom, high, low } = self.nodes[at];
            let holds = distance[index(high)] < distance[index(low)];
            path.push((atom, holds));
            at = if holds { high } else { low };
        }
        Some(path)
    }

    /// Whether `f` holds when the atoms have the values that `holds` gives.
    pub fn holds(&self, f: Formula, holds: impl Fn(u32) -> bool) -> bool {
        let mut at = f;
        while at != TRUE && at != FALSE {
            let Node { atom, high, low } = self.nodes[at];
            at = if holds(atom) { high } else { low };
        }
        at == TRUE
    }
}

/// Spellings of one choice by the same formula.
fn normal([f, g, h]: [Formula; 3]) -> [Formula; 3] {
    [f, if g == f { TRUE } else { g }, if h == f { FALSE } else { h }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of numbers; the same numbers each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }
    }

    /// The truth table of an atom over six atoms: bit `k` is its value in the assignment `k`.
    fn table(atom: u32) -> u64 {
        (0..64u64).filter(|k| k >> atom & 1 == 1).fold(0, |bits, k| bits | 1 << k)
    }

    #[test]
    fn random_formulas_agree_with_truth_tables() {
        let mut random = Random(0x1234_5678_9abc_def1);
        for _ in 0..200 {
            let mut bdd = Bdd::new(100_000);
            let mut pool: Vec<(Formula, u64)> = vec![(FALSE, 0), (TRUE, u64::MAX)];
            for atom in (0..6).rev() {
                pool.push((bdd.atom(atom), table(atom)));
            }
            for _ in 0..60 {
                let mut pick = || pool[random.below(pool.len() as u64) as usize];
                let ((f, a), (g, b), (h, c)) = (pick(), pick(), pick());
                pool.push(match random.below(5) {
                    0 => (bdd.not(f).unwrap(), !a),
                    1 => (bdd.and(f, g).unwrap(), a & b),
                    2 => (bdd.or(f, g).unwrap(), a | b),
                    3 => (bdd.and_not(f, g).unwrap(), a & !b),
                    _ => (bdd.ite(f, g, h).unwrap(), a & b | !a & c),
                });
            }
            for &(f, a) in &pool {
                for &(g, b) in &pool {
                    assert_eq!(f == g, a == b, "one node for each function");
                }
                for k in 0..64 {
                    assert_eq!(bdd.holds(f, |atom| k >> atom & 1 == 1), a >> k & 1 == 1);
                }
                witness_agrees(&bdd, f, a);
            }
        }
    }

    /// The witness holds whatever the atoms that it leaves open are, and no assignment of fewer atoms on a path is shorter
    /// than one atom when one atom suffices.
    fn witness_agrees(bdd: &Bdd, f: Formula, truth: u64) {
        let Some(path) = bdd.witness(f) else { return assert_eq!(truth, 0) };
        let fixed = |k: u64| path.iter().all(|&(atom, holds)| (k >> atom & 1 == 1) == holds);
        assert!((0..64).filter(|&k| fixed(k)).all(|k| truth >> k & 1 == 1));
        assert_eq!(path.is_empty(), truth == u64::MAX);
    }

    #[test]
    fn witnesses_fix_as_few_atoms_as_a_path_can() {
        let mut bdd = Bdd::new(1000);
        let [a, b, c] = [0, 1, 2].map(|atom| bdd.atom(atom));
        let bc = bdd.and(b, c).unwrap();
        let f = bdd.ite(a, bc, b).unwrap();
        assert_eq!(bdd.witness(f), Some(vec![(0, false), (1, true)]));
        assert_eq!(bdd.witness(FALSE), None);
        assert_eq!(bdd.witness(TRUE), Some(vec![]));
    }

    #[test]
    fn twenty_tines_in_priority_order_take_few_steps() {
        let mut bdd = Bdd::new(1000);
        let mut left = TRUE;
        for tine in 0..20 {
            let own = bdd.atom(tine);
            assert_ne!(bdd.and(left, own).unwrap(), FALSE);
            left = bdd.and_not(left, own).unwrap();
        }
        assert_ne!(left, FALSE);
        // Each arm walks the atoms before it, twice.
        assert!(bdd.steps() <= 20 * 21, "{} steps", bdd.steps());
    }

    /// The disjunction of `n` pairs whose second atoms all follow the first ones: its diagram remembers every first atom.
    fn pairs(bdd: &mut Bdd, n: u32) -> Decided {
        let mut any = FALSE;
        for k in 0..n {
            let (first, second) = (bdd.atom(k), bdd.atom(n + k));
            let both = bdd.and(first, second)?;
            any = bdd.or(any, both)?;
        }
        Ok(any)
    }

    #[test]
    fn a_hostile_order_meets_the_limit() {
        let mut bdd = Bdd::new(100_000);
        assert!(pairs(&mut bdd, 8).is_ok());
        let mut bdd = Bdd::new(100_000);
        assert_eq!(pairs(&mut bdd, 24), Err(TooComplex));
        assert_eq!(bdd.steps(), 100_001);
    }

    #[test]
    fn deep_diagrams_need_no_stack() {
        let mut bdd = Bdd::new(500_000);
        let mut all = TRUE;
        for atom in (0..200_000).rev() {
            let own = bdd.atom(atom);
            all = bdd.and(own, all).unwrap();
        }
        let none = bdd.not(all).unwrap();
        assert_eq!(bdd.witness(none), Some(vec![(0, false)]));
        assert_eq!(bdd.witness(all).map(|path| path.len()), Some(200_000));
    }
}
