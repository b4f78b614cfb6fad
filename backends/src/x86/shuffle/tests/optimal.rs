//! No sequence of lane moves on SSE2 is shorter than its plan: the rows' own semantics, tried breadth first.

use super::{length, picks, plan};
use rake_ir::machine::bits::Bits;
use rake_ir::machine::x86::{ALL, X86};
use rake_ir::machine::{Ctx, Kind, MachOp, View};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::select::rule::Key;
use std::collections::BTreeSet;

/// What racks of lanes `given` can become by one lane move, every row and every immediate tried.
fn one_move(given: &[Bits]) -> BTreeSet<[u32; 4]> {
    let rows: Vec<X86> = ALL
        .iter()
        .copied()
        .filter(|op| MachOp::X86(*op).is_in(Profile::X86Sse2) && op.info().kind == Kind::Cross)
        .filter(|op| op.info().dst == Some(View::Rack))
        .collect();
    let mut all = BTreeSet::new();
    for op in rows {
        let row = op.info();
        for x in given {
            for y in given {
                for imm in 0..=if row.imm { 255 } else { 0 } {
                    if matches!(op, X86::Pslldq | X86::Psrldq) && imm % 4 != 0 {
                        continue;
                    }
                    let args = [*x, *y];
                    let out = (row.eval)(Ctx { lanes: 4, imm }, &args[..row.slots.len()]);
                    all.insert([out[0], out[1], out[2], out[3]]);
                }
            }
        }
    }
    all
}

#[test]
fn one_move_is_found_whenever_there_is_one() {
    let rack = |from: u32| -> Bits { std::array::from_fn(|l| if l < 4 { from + l as u32 } else { 0 }) };
    for (count, given) in [(1, vec![rack(1)]), (2, vec![rack(1), rack(5)])] {
        let lanes = 4usize * count;
        let reachable = one_move(&given);
        let mut singles = 0;
        for code in 0..lanes.pow(4) {
            let list: Vec<usize> = (0..4).map(|l| code / lanes.pow(l) % lanes).collect();
            let wanted: [u32; 4] = std::array::from_fn(|l| list[l] as u32 + 1);
            let steps = plan(Key::Op(Op::Shuffle), &picks(list.iter().copied()), count, Elem::F32, Profile::X86Sse2);
            let found = length(&steps, Profile::X86Sse2).0;
            let identity = list == [0, 1, 2, 3];
            if list == [4, 5, 6, 7] {
                // Selection passes on the second operand alone.
                continue;
            }
            let best = match (identity, reachable.contains(&wanted)) {
                (true, _) => 0,
                (_, true) => 1,
                // Two always do, and fewer do not.
                _ => 2,
            };
            assert_eq!(found, best, "{list:?}: {steps:?}");
            singles += usize::from(best == 1);
        }
        println!("{count} racks: {singles} by one move");
    }
}
