//! Counting what a program is made of; cases expect counts.

use super::Ir;
use crate::report::{by_class, is_multiply_add};
use rake_ir::lane;
use rake_ir::machine::MachOp;
use rake_ir::stacked;
use std::collections::BTreeMap;

impl Ir {
    /// How often each operation or machine instruction stands in the program, those of chosen graphs included; empty
    /// before `tined`.
    pub fn operations(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        let mut add = |name: &'static str| *counts.entry(name).or_insert(0) += 1;
        match self {
            Ir::Text(_) | Ir::Surface(_) | Ir::Typed(_) | Ir::Desugared(_) => {}
            Ir::Tined(program) => program.functions.iter().for_each(|f| names(f, &mut add)),
            Ir::Fused(program) => program.functions.iter().for_each(|f| names(f, &mut add)),
            Ir::Selected(program) => {
                program.functions.iter().flat_map(|f| &f.insts).for_each(|inst| add(inst.op.name()));
            }
            Ir::Allocated(program) => {
                program.functions.iter().flat_map(|f| &f.insts).for_each(|inst| add(inst.op.name()));
            }
            Ir::Stacked(program) => {
                program.functions.iter().flat_map(|f| &f.code).for_each(|inst| add(inst.name()));
            }
        }
        counts
    }

    /// How often each class of instructions stands in an allocated or stacked program; `arithmetic` are those that the profile's
    /// cost of a graph counts (no moves, no constant loads), `multiply_add` the fused multiply-adds. Else empty.
    pub fn instructions_by_class(&self) -> BTreeMap<&'static str, usize> {
        let ops: Vec<MachOp> = match self {
            Ir::Allocated(program) => program.functions.iter().flat_map(|f| &f.insts).map(|inst| inst.op).collect(),
            Ir::Stacked(program) => program.functions.iter().flat_map(stacked::Function::ops).collect(),
            _ => return BTreeMap::new(),
        };
        let mut counts = by_class(ops.iter().copied());
        counts.insert("arithmetic", ops.iter().filter(|op| op.info().kind.is_arithmetic()).count());
        counts.insert("multiply_add", ops.iter().filter(|&&op| is_multiply_add(op)).count());
        counts
    }
}

fn names<R: lane::Region>(f: &lane::Function<R>, add: &mut impl FnMut(&'static str)) {
    f.order().for_each(|value| add(f.values[value].op.name()));
}
