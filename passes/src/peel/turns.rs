//! In which order racks in flight take their turns. Short bodies go operation by operation. Long ones go by stretches at whose
//! ends least is kept, so that of all racks but one only that needs registers: a processor sees several stretches at a time.
//!
//! ```text
//! a step of rack 0, 10 operations
//! a step of rack 1                      =>      at most one rack has more than zr, zi and count in registers
//! ...
//! ```

use super::Stmts;
use super::copy::{Copier, together};
use la_arena::Arena;
use rake_ir::fused::Region;
use rake_ir::lane::{Stmt, Value, ValueId};
use rake_ir::ops::Op;
use std::collections::HashMap;
use std::ops::Range;

/// Operations up to which a body is short.
const SHORT: usize = 48;

/// The most operations of a turn: with four racks, what a processor's scheduler holds (97 in Skylake, 160 in Golden Cove).
const MOST: usize = 24;

/// Copies a body once for each rack in flight.
pub(super) fn copy(copiers: &mut [Copier], values: &mut Arena<Value>, stmts: &[&Stmt<Region>], out: &mut Stmts) {
    for turn in turns(values, stmts) {
        match &stmts[turn] {
            [stmt] => together(copiers, values, stmt, out),
            stretch => {
                copiers.iter_mut().for_each(|copier| stretch.iter().for_each(|stmt| copier.stmts(values, stmt, out)));
            }
        }
    }
}

/// The turns of a body.
fn turns(values: &Arena<Value>, stmts: &[&Stmt<Region>]) -> Vec<Range<usize>> {
    if stmts.len() <= SHORT {
        return (0..stmts.len()).map(|at| at..at + 1).collect();
    }
    let kept = kept(values, stmts);
    let pure = |stmt: &&&Stmt<Region>| matches!(stmt, Stmt::Value(id) if !values[*id].op.has_effect());
    let (mut turns, mut start) = (Vec::new(), 0);
    while start < stmts.len() {
        let longest = stmts[start..].iter().take(MOST).take_while(pure).count();
        // The latest of the places where least is kept.
        let end = (start + 1..=start + longest).rev().min_by_key(|&end| kept[end - 1]).unwrap_or(start + 1);
        turns.push(start..end);
        start = end;
    }
    turns
}

/// How many racks are kept behind each statement, those apart that can be loaded or made again.
fn kept(values: &Arena<Value>, stmts: &[&Stmt<Region>]) -> Vec<usize> {
    let ids = |stmt: &Stmt<Region>| match stmt {
        Stmt::Value(id) => vec![*id],
        Stmt::Region(region) => region.values.clone(),
        _ => Vec::new(),
    };
    let mut last: HashMap<ValueId, usize> = HashMap::new();
    for (at, stmt) in stmts.iter().enumerate() {
        for id in ids(stmt) {
            last.extend(values[id].args.iter().chain(&values[id].mask).map(|&read| (read, at)));
        }
    }
    let again = |id: ValueId| matches!(values[id].op, Op::Const | Op::Splat | Op::Load | Op::LoadUniform);
    let mut changes = vec![0isize; stmts.len() + 1];
    for (at, stmt) in stmts.iter().enumerate() {
        for id in ids(stmt).into_iter().filter(|&id| !again(id)) {
            changes[at] += 1;
            changes[last.get(&id).copied().unwrap_or(stmts.len()).max(at)] -= 1;
        }
    }
    let counts = changes.iter().scan(0isize, |kept, change| {
        *kept += change;
        Some(usize::try_from(*kept).unwrap_or(0))
    });
    counts.take(stmts.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::fused;

    /// `steps` times two operations, of which the second alone is read by the next.
    fn chain(steps: usize) -> fused::Program {
        let mut text =
            "rake fused 1\nprofile x86-avx2\nfuse full\n\nscratch f(x: f32s) -> f32s {\n  %0 : f32s = param 0\n"
                .to_owned();
        for step in 0..steps {
            let (a, b, c) = (2 * step, 2 * step + 1, 2 * step + 2);
            text += &format!("  %{b} : f32s = mul %{a}, %{a}\n  %{c} : f32s = add %{b}, %{a}\n");
        }
        text += &format!("  return %{}\n}}\n", 2 * steps);
        fused::read(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
    }

    #[test]
    fn long_bodies_are_cut_where_least_is_kept() {
        let program = chain(40);
        let f = &program.functions[0];
        let body: Vec<_> = f.body.iter().collect();
        let turns = turns(&f.values, &body);
        assert!(turns.len() > 1 && turns.iter().all(|turn| turn.len() <= MOST), "{turns:?}");
        // Behind a sum only it is kept; between a product and its sum both are.
        let sums = turns.iter().all(|turn| match &f.body[turn.end - 1] {
            Stmt::Value(id) => f.values[*id].op == Op::Add,
            _ => false,
        });
        assert!(sums, "{turns:?}");
        assert_eq!(turns.iter().map(|turn| turn.len()).sum::<usize>(), f.body.len());
    }

    #[test]
    fn short_bodies_go_by_operations() {
        let program = chain(4);
        let f = &program.functions[0];
        let body: Vec<_> = f.body.iter().collect();
        assert!(turns(&f.values, &body).iter().all(|turn| turn.len() == 1));
    }
}
