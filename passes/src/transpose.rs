//! `transpose` (fused → fused): ordered scans of as many racks as a rack has lanes are computed across the racks.
//!
//! ```text
//! %4 : f32s = scan_sum %0        %8 ..%15: the racks transposed, so that rack k holds the lanes k
//! %5 : f32s = scan_sum %1   =>   %16 : f32s = add %8, %10         the sums of lanes 0 and 1, of all four at once
//! %6 : f32s = scan_sum %2        %17 : f32s = add %16, %9
//! %7 : f32s = scan_sum %3        ...
//!                                %4 ..%7: transposed again
//! ```
//!
//! A strict scan adds lane by lane, which for one rack leaves all lanes but one idle. Across the racks every step is the one
//! that the scan of each rack makes, in its order: the same bits and the same flags. A transposition of `n` racks takes
//! `n log n` moves of two racks, each of which a machine does in one step: it interleaves lanes within parts of 128 bits, then it
//! puts such parts together. They are moved as integers: from Ice Lake on Intel's processors interleave those on two ports
//! (`punpckldq`), floats on one (`unpcklps`; Abel and Reineke, uops.info).

use rake_ir::fused::{Function, Program};
use rake_ir::lane::{Args, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, ElemClass, Ty};

/// Racks of fewer lanes are scanned as fast one by one.
const FEWEST: usize = 4;

/// Transposes in every function.
pub fn run(mut program: Program) -> Program {
    for f in &mut program.functions {
        function(f, program.profile);
    }
    program
}

/// Transposes in one function.
pub fn function(f: &mut Function, profile: Profile) {
    let mut body = Vec::with_capacity(f.body.len());
    let stmts = std::mem::take(&mut f.body);
    let mut at = 0;
    while let Some(stmt) = stmts.get(at) {
        match scans(f, profile, &stmts[at..]) {
            Some((step, ids)) => {
                at += ids.len();
                body.extend(across(f, step, &ids).into_iter().map(Stmt::Value));
            }
            None => {
                at += 1;
                body.push(stmt.clone());
            }
        }
    }
    f.body = body;
}

/// The step of an ordered scan.
pub fn ordered_step(op: Op, ty: Ty) -> Option<Op> {
    let float = matches!(ty, Ty::Rack(elem) if elem.class() == ElemClass::Float);
    match op {
        Op::ScanSum if float => Some(Op::Add),
        Op::ScanProduct if float => Some(Op::Mul),
        _ => None,
    }
}

/// The scans that a list begins with, if there are as many as lanes and none reads another.
fn scans<R>(f: &Function, profile: Profile, stmts: &[Stmt<R>]) -> Option<(Op, Vec<ValueId>)> {
    let Some(Stmt::Value(first)) = stmts.first() else { return None };
    let first = &f.values[*first];
    let step = ordered_step(first.op, first.ty)?;
    let lanes = profile.lanes(first.ty.elem());
    let mut ids: Vec<ValueId> = Vec::with_capacity(lanes);
    for stmt in stmts.get(..lanes).filter(|_| lanes >= FEWEST)? {
        let Stmt::Value(id) = stmt else { return None };
        let value = &f.values[*id];
        if value.op != first.op || value.ty != first.ty || value.mask.is_some() || ids.contains(&value.args[0]) {
            return None;
        }
        ids.push(*id);
    }
    Some((step, ids))
}

/// The scans computed across the racks; every value in order.
fn across(f: &mut Function, step: Op, ids: &[ValueId]) -> Vec<ValueId> {
    let racks: Vec<ValueId> = ids.iter().map(|&id| f.values[id].args[0]).collect();
    let mut writer = Writer { like: f.values[ids[0]].clone(), f, order: Vec::new() };
    let mut columns = writer.transposed(racks);
    for at in 1..columns.len() {
        columns[at] = writer.push(step, Imm::None, &[columns[at - 1], columns[at]]);
    }
    let results = writer.transposed(columns);
    let mut order = writer.order;
    // The last moves take the scans' own places, so that what reads them needs no change.
    for (&id, result) in ids.iter().zip(results) {
        let Value { op, imm, args, .. } = f.values[result].clone();
        let value = &mut f.values[id];
        (value.op, value.imm, value.args) = (op, imm, args);
        order.iter_mut().filter(|made| **made == result).for_each(|made| *made = id);
    }
    order
}

struct Writer<'a> {
    f: &'a mut Function,
    like: Value,
    order: Vec<ValueId>,
}

impl Writer<'_> {
    fn push(&mut self, op: Op, imm: Imm, args: &[ValueId]) -> ValueId {
        self.typed(op, imm, args, self.like.ty)
    }

    fn typed(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty) -> ValueId {
        let (args, name) = (Args::from_slice(args), None);
        let id = self.f.values.alloc(Value { op, imm, args, ty, name, ..self.like.clone() });
        self.order.push(id);
        id
    }

    /// Lane `l` of rack `k` of the result is lane `k` of rack `l`.
    fn transposed(&mut self, mut racks: Vec<ValueId>) -> Vec<ValueId> {
        let lanes = racks.len();
        let part = (128 / self.like.ty.elem().bits() as usize).min(lanes);
        let bits = Ty::Rack(if self.like.ty.elem().bits() == 64 { Elem::I64 } else { Elem::I32 });
        racks.iter_mut().for_each(|rack| *rack = self.typed(Op::Bitcast, Imm::None, &[*rack], bits));
        // A bit of a rack's place goes into the lowest of the lane's within a part and takes the highest's, or into the highest
        // of the part's place and takes the lowest's.
        let inner = part.ilog2();
        for bit in (0..inner).rev().chain(inner..lanes.ilog2()) {
            let distance = 1 << bit;
            for low in (0..lanes).filter(|at| at & distance == 0) {
                let pair = [racks[low], racks[low | distance]];
                for (half, at) in [low, low | distance].into_iter().enumerate() {
                    let from = if bit < inner { interleaved } else { gathered };
                    let picks = (0..lanes).map(|lane| from(lane, lanes, part, half) as u16).collect();
                    racks[at] = self.typed(Op::Shuffle, Imm::Lanes(picks), &pair, bits);
                }
            }
        }
        racks.iter_mut().for_each(|rack| *rack = self.push(Op::Bitcast, Imm::None, &[*rack]));
        racks
    }
}

/// Of two racks end to end, the lane that comes to this place when one half of each part is taken from both in turn.
fn interleaved(lane: usize, lanes: usize, part: usize, half: usize) -> usize {
    let (base, at) = (lane / part * part, lane % part);
    at % 2 * lanes + base + half * part / 2 + at / 2
}

/// The lane that comes to this place when the even parts, or the odd ones, are taken of the one rack and then of the other.
fn gathered(lane: usize, lanes: usize, part: usize, half: usize) -> usize {
    let (block, of_each) = (lane / part, lanes / part / 2);
    block / of_each * lanes + (2 * (block % of_each) + half) * part + lane % part
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::fused;
    use rake_ir::lane;
    use rake_ir::value::Lanes;

    fn text(profile: Profile, lanes: usize) -> String {
        let params: Vec<String> = (0..lanes).map(|at| format!("p{at}: f32s")).collect();
        let mut text =
            format!("rake fused 1\nprofile {profile}\nfuse full\n\nscratch f({}) -> f32s {{\n", params.join(", "));
        (0..lanes).for_each(|at| text += &format!("  %{at} : f32s = param {at}\n"));
        (0..lanes).for_each(|at| text += &format!("  %{} : f32s = scan_sum %{at}\n", lanes + at));
        // Which scan is returned is edited in.
        text + "  return %RESULT\n}\n"
    }

    #[test]
    fn every_rack_gets_its_own_prefixes() {
        for profile in ["x86-sse2", "x86-avx2", "x86-avx512", "aarch64-neon", "wasm-simd128"] {
            let profile = Profile::from_name(profile).unwrap();
            let lanes = profile.lanes(rake_ir::types::Elem::F32);
            let racks: Vec<Vec<f32>> =
                (0..lanes).map(|rack| (0..lanes).map(|lane| (rack * 17 + lane * lane) as f32).collect()).collect();
            let args: Vec<Lanes> = racks.iter().map(|rack| Lanes::f32s(rack)).collect();
            for (rack, own) in racks.iter().enumerate() {
                let text = text(profile, lanes).replace("%RESULT", &format!("%{}", lanes + rack));
                let program = run(fused::read(&text).unwrap());
                assert_eq!(fused::check(&program), Ok(()), "{}", fused::print(&program));
                let printed = fused::print(&program);
                assert!(!printed.contains("scan"), "{printed}");
                // Two transpositions of lanes * log lanes moves each, and one addition for each lane but the first.
                let moves = 2 * lanes * lanes.ilog2() as usize;
                assert_eq!(printed.matches(" = shuffle ").count(), moves, "{printed}");
                assert_eq!(printed.matches(" = add ").count(), lanes - 1, "{printed}");
                let result = lane::eval(&program, "f", &args).unwrap();
                // Whole numbers below 2^24: sums are exact.
                let sum = |lane: usize| own[..=lane].iter().sum::<f32>();
                assert_eq!(result.to_f32s(), (0..lanes).map(sum).collect::<Vec<_>>(), "{profile}, rack {rack}");
            }
        }
    }

    #[test]
    fn fewer_scans_and_those_that_read_each_other_stay() {
        let all = text(Profile::X86Sse2, 4).replace("%RESULT", "%7");
        let fewer = all.replace("  %6 : f32s = scan_sum %2\n", "  %6 : f32s = add %2, %2\n");
        let dependent = all.replace("scan_sum %3", "scan_sum %6");
        for text in [fewer, dependent] {
            let program = fused::read(&text).unwrap();
            assert_eq!(fused::print(&run(program.clone())), fused::print(&program));
        }
    }
}
