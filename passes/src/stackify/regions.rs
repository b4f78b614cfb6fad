//! Regions: what has to be computed before one starts, and which of its operands comes first.

use super::{Graph, taken};
use rake_ir::machine::{Inst, Kind};
use rake_ir::selected::Reg;
use rake_ir::stacked::{Code, Inst as Stacked};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The regions of a function.
pub(super) struct Regions {
    /// The region that computes each register.
    region: Vec<Option<u32>>,
    /// The values of each region that others read, in order; `None` once it has been entered.
    outputs: BTreeMap<u32, Option<Vec<Reg>>>,
}

impl Regions {
    pub fn new(graph: &Graph) -> Regions {
        let f = graph.f;
        let region_of =
            |reg: Reg| graph.definition(reg).filter(|_| !graph.is_constant(reg)).and_then(|inst| inst.region);
        let mut region = vec![None; f.regs.len()];
        let mut read_outside = vec![false; f.regs.len()];
        f.result.into_iter().for_each(|result| read_outside[result.reg.0 as usize] = true);
        let mut outputs: BTreeMap<u32, Option<Vec<Reg>>> = BTreeMap::new();
        for inst in &f.insts {
            let Some(dst) = inst.dst.filter(|&dst| graph.is_read(dst)) else { continue };
            if graph.is_constant(dst) {
                continue;
            }
            region[dst.0 as usize] = inst.region;
            for arg in taken(inst).filter(|&arg| region_of(arg) != inst.region) {
                read_outside[arg.0 as usize] = true;
            }
        }
        for dst in f.insts.iter().filter_map(|inst| inst.dst).filter(|dst| read_outside[dst.0 as usize]) {
            if let Some(region) = region[dst.0 as usize] {
                outputs.entry(region).or_insert_with(|| Some(Vec::new())).get_or_insert_default().push(dst);
            }
        }
        Regions { region, outputs }
    }

    /// What has to be kept in locals before the value `reg` of a region is computed: what its region reads of others too
    /// late to stand on the stack before it, and then its other outputs. `None` when the region was entered already.
    pub fn enter(&mut self, graph: &Graph, reg: Reg, kept: &[bool]) -> Option<Vec<Reg>> {
        let region = self.region[reg.0 as usize]?;
        let outputs = self.outputs.get_mut(&region)?.take()?;
        let mut roots = Vec::new();
        let mut seen = vec![false; kept.len()];
        // The last outputs first, so that those computed on the way to others are no roots.
        self.reach(graph, region, reg, &mut seen);
        for &output in outputs.iter().rev() {
            if !seen[output.0 as usize] {
                self.reach(graph, region, output, &mut seen);
                roots.push(output);
            }
        }
        roots.reverse();
        let mut before = self.late(graph, region, roots.iter().copied().chain([reg]), kept);
        before.extend(roots);
        Some(before)
    }

    /// Marks what of the region is computed for `root`.
    fn reach(&self, graph: &Graph, region: u32, root: Reg, seen: &mut [bool]) {
        let mut todo = vec![root];
        while let Some(reg) = todo.pop() {
            if self.region[reg.0 as usize] == Some(region) && !std::mem::replace(&mut seen[reg.0 as usize], true) {
                todo.extend(graph.definition(reg).into_iter().flat_map(taken));
            }
        }
    }

    /// What the region reads of others after its first instruction.
    fn late(&self, graph: &Graph, region: u32, roots: impl Iterator<Item = Reg>, kept: &[bool]) -> Vec<Reg> {
        let (mut late, mut seen, mut started) = (Vec::new(), vec![false; kept.len()], false);
        // A value, or the end of its operands.
        let mut todo: Vec<(Reg, bool)> = roots.map(|root| (root, false)).collect();
        todo.reverse();
        while let Some((reg, done)) = todo.pop() {
            if done {
                started = true;
                continue;
            }
            if kept[reg.0 as usize] || std::mem::replace(&mut seen[reg.0 as usize], true) {
                continue;
            }
            let Some(inst) = graph.definition(reg) else { continue };
            if self.region[reg.0 as usize] == Some(region) {
                todo.push((reg, true));
                todo.extend(self.operands(graph, inst).into_iter().rev().map(|arg| (arg, false)));
            } else if !graph.is_constant(reg) && started {
                late.push(reg);
            }
        }
        late
    }

    /// The operands of an instruction in the order in which they are taken. Where they may trade places, what a region
    /// reads of others comes before what it computes itself.
    pub fn operands(&self, graph: &Graph, inst: &Inst<Reg>) -> SmallVec<[Reg; 3]> {
        let mut operands: SmallVec<[Reg; 3]> = taken(inst).collect();
        let commutes = inst.op.info().forms.iter().any(|form| form.op == inst.op && form.from[..2] == [1, 0]);
        if let [a, b] = operands[..]
            && commutes
            && inst.region.is_some()
        {
            let own = |reg: Reg| self.region[reg.0 as usize] == inst.region;
            let computed = |reg: Reg| graph.definition(reg).is_some() && !graph.is_constant(reg);
            if own(a) && !own(b) && computed(b) {
                operands.swap(0, 1);
            }
        }
        operands
    }
}

/// Puts into each region the gets, constants, sets and tees between its instructions, those right before its first, and
/// the tees and sets right after its last.
pub(super) fn widen(code: &mut [Stacked]) {
    let mut spans: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (at, region) in code.iter().enumerate().filter_map(|(at, inst)| Some((at, inst.region?))) {
        spans.entry(region).or_insert((at, at)).1 = at;
    }
    for (region, (mut first, mut last)) in spans {
        let free = |inst: &Stacked| inst.region.is_none();
        let is = |inst: &Stacked, kind: Kind| inst.op().is_some_and(|op| op.info().kind == kind);
        loop {
            // A get, a constant, or a constant in every lane.
            first -= match code[..first] {
                [.., ref last] if free(last) && (matches!(last.code, Code::Get(_)) || is(last, Kind::Const)) => 1,
                [.., ref of, ref last] if free(last) && free(of) && is(last, Kind::Boundary) && is(of, Kind::Const) => {
                    2
                }
                _ => break,
            };
        }
        while code.get(last + 1).is_some_and(|i| free(i) && matches!(i.code, Code::Set(_) | Code::Tee(_))) {
            last += 1;
        }
        code[first..=last].iter_mut().for_each(|inst| inst.region = Some(region));
    }
}
