//! `sanitise`: fused to fused. Inactive lanes get benign operands where an operation might raise a floating-point flag,
//! and every mask goes: from here on each operation computes its whole rack, and the lanes that an `if` leaves out hold
//! what nobody reads.
//!
//! ```text
//! %3 : f32s = mul %0, %1 if %2           %3 : f32s = const 1.0
//! %4 : f32s = add %3, %0 if %2           %4 : f32s = select %2, %0, %3
//! %5 : f32s = if %2, %4, %0        =>    %5 : f32s = select %2, %1, %3
//!                                        %6 : f32s = mul %4, %5
//!                                        %7 : f32s = const 0.0
//!                                        %8 : f32s = select %2, %0, %7
//!                                        %9 : f32s = add %6, %8
//!                                        %10 : f32s = select %2, %9, %0
//! ```
//!
//! Substitution stands at the leaves: what the benign operands of an operation make of an inactive lane is computed here
//! (the product above is 1 there), and an operation on such lanes needs no more when it raises nothing on them. A
//! choice is shared by all readers that need the same operand, mask and number. Profiles without flags only lose the
//! masks. A region whose values change loses its proof.

#[cfg(test)]
mod tests;

use rake_ir::fused::{Function, Program, Region};
use rake_ir::lane::{Args, Stmt, Value, ValueId, benign_bits, needs_benign, raises_nothing};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::reference::Reference;
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Substitutes in every function.
pub fn run(mut program: Program) -> Program {
    for f in &mut program.functions {
        function(f, program.profile);
    }
    program
}

/// Substitutes in one function.
pub fn function(function: &mut Function, profile: Profile) {
    let affected = |value: &Value| value.mask.is_some() || value.op == Op::If;
    if !function.values.values().any(affected) {
        return;
    }
    let body = std::mem::take(&mut function.body);
    let mut pass = Sanitise {
        flags: profile.info().fp_flags,
        inactive: vec![None; function.values.len()],
        function,
        constants: HashMap::new(),
        choices: HashMap::new(),
        done: Vec::new(),
    };
    for stmt in body {
        match stmt {
            Stmt::Value(id) => {
                pass.value(id);
                let done = std::mem::take(&mut pass.done);
                pass.function.body.extend(done.into_iter().map(Stmt::Value));
            }
            Stmt::Region(mut region) => {
                let changes = region.values.iter().any(|&id| affected(&pass.function.values[id]));
                region.values.iter().for_each(|&id| pass.value(id));
                let values = std::mem::take(&mut pass.done);
                let proof = region.proof.take().filter(|_| !changes);
                pass.function.body.push(Stmt::Region(Region { values, proof, ..region }));
            }
        }
    }
}

struct Sanitise<'a> {
    flags: bool,
    function: &'a mut Function,
    /// The mask outside whose lanes a value is known, and its bits there.
    inactive: Vec<Option<(ValueId, u64)>>,
    constants: HashMap<(Ty, u64), ValueId>,
    choices: HashMap<(ValueId, ValueId, u64), ValueId>,
    /// The values of the statement or region so far.
    done: Vec<ValueId>,
}

impl Sanitise<'_> {
    fn value(&mut self, id: ValueId) {
        let value = &mut self.function.values[id];
        if value.op == Op::If {
            value.op = Op::Select;
        }
        if let Some(mask) = value.mask.take() {
            self.substitute(id, mask);
            self.propagate(id, mask);
        } else if let (Op::Select, &[mask, _, other]) = (value.op, &value.args[..])
            && let Some(bits) = self.known(other, mask)
        {
            self.inactive[index(id)] = Some((mask, bits));
        }
        self.done.push(id);
    }

    /// Gives an operation benign operands in the lanes outside `mask` if it needs any.
    fn substitute(&mut self, id: ValueId, mask: ValueId) {
        let value = &self.function.values[id];
        let (op, args) = (value.op, value.args.clone());
        let elem = args.first().map_or(Elem::Bool, |&arg| self.function.values[arg].ty.elem());
        let Some(benign) = needs_benign(op, elem, value.ty.elem()).filter(|_| self.flags) else { return };
        let benign = benign.iter().map(|&number| benign_bits(elem, number));
        let known: SmallVec<[Option<u64>; 3]> = args.iter().map(|&arg| self.known(arg, mask)).collect();
        let mut wanted: SmallVec<[u64; 3]> = known.iter().zip(benign.clone()).map(|(k, b)| k.unwrap_or(b)).collect();
        if !raises_nothing(op, elem, &wanted) {
            wanted = benign.take(args.len()).collect();
        }
        let mut safe = Args::new();
        for ((&arg, known), &bits) in args.iter().zip(known).zip(&wanted) {
            safe.push(if known == Some(bits) { arg } else { self.choice(arg, mask, bits) });
        }
        self.function.values[id].args = safe;
    }

    /// Notes what an operation computes in the lanes outside `mask` when its operands are known there.
    fn propagate(&mut self, id: ValueId, mask: ValueId) {
        let value = &self.function.values[id];
        let Reference::Lane(f) = value.op.info().reference else { return };
        let typed_by = usize::from(value.op == Op::Select);
        let elem = value.args.get(typed_by).map_or(Elem::Bool, |&arg| self.function.values[arg].ty.elem());
        let args: Option<SmallVec<[u64; 3]>> = value.args.iter().map(|&arg| self.known(arg, mask)).collect();
        if let Some(args) = args {
            self.inactive[index(id)] = Some((mask, f(elem, &value.imm, &args)));
        }
    }

    /// The bits of a value in the lanes outside `mask`, when they are known.
    fn known(&self, id: ValueId, mask: ValueId) -> Option<u64> {
        match (self.function.values[id].op, &self.function.values[id].imm) {
            (Op::Const, Imm::Bits(bits)) => Some(*bits),
            _ => self.inactive[index(id)].filter(|known| known.0 == mask).map(|known| known.1),
        }
    }

    /// `operand` in the lanes of `mask`, the constant elsewhere.
    fn choice(&mut self, operand: ValueId, mask: ValueId, bits: u64) -> ValueId {
        if let Some(&made) = self.choices.get(&(operand, mask, bits)) {
            return made;
        }
        let ty = self.function.values[operand].ty;
        let constant = match self.constants.get(&(ty, bits)) {
            Some(&made) => made,
            None => self.push(operand, Op::Const, Imm::Bits(bits), &[]),
        };
        self.constants.insert((ty, bits), constant);
        let made = self.push(operand, Op::Select, Imm::None, &[mask, operand, constant]);
        self.inactive[index(made)] = Some((mask, bits));
        self.choices.insert((operand, mask, bits), made);
        made
    }

    /// A value of the type and place of `like`, in every lane.
    fn push(&mut self, like: ValueId, op: Op, imm: Imm, args: &[ValueId]) -> ValueId {
        let Value { ty, span, .. } = self.function.values[like];
        let args = Args::from_slice(args);
        let id = self.function.values.alloc(Value { op, imm, args, ty, mask: None, span, name: None });
        self.inactive.push(None);
        self.done.push(id);
        id
    }
}

fn index(id: ValueId) -> usize {
    id.into_raw().into_u32() as usize
}
