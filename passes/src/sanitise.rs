//! `sanitise`: fused to fused. From here on each operation computes its whole rack, and the lanes that an `if` leaves out
//! hold what nobody reads. Where an operation might raise a floating-point flag there, it gets benign operands.
//!
//! ```text
//! %3 : f32s = mul %0, %1 if %2           %3 : f32s = const 1.0
//! %4 : f32s = add %3, %0 if %2           %4 : f32s = select %2, %0, %3 if %2 else 1.0
//! %5 : f32s = if %2, %4, %0        =>    %5 : f32s = select %2, %1, %3 if %2 else 1.0
//!                                        %6 : f32s = mul %4, %5 if %2 else 1.0
//!                                        %7 : f32s = add %6, %4 if %2 else 2.0
//!                                        %8 : f32s = select %2, %7, %0
//! ```
//!
//! Every value keeps its mask: the lanes in which anybody may read it. `else 1.0` is the fact that all others hold 1.0;
//! the check follows it from the operands' facts, and lets no operation pass that may raise a flag on them. So
//! substitution stands at the leaves: an operation whose operands' facts raise nothing needs no more (the sum above is
//! 2.0 there). A choice is shared by all readers of the same operand and mask that its number suits.
//!
//! Which operands need a choice: both of a product, sum or comparison of two unknown ones, for a signalling NaN in either
//! is invalid whatever the other is; of a quotient too, since 0/x is invalid for x = 0 and x/1 for a signalling NaN. A
//! constant that is benign beside the other's number needs none: of `1.0 / x` only the divisor does.
//!
//! Profiles without flags, and those whose instructions take masks, substitute nothing. A region whose values change loses
//! its proof.

#[cfg(test)]
mod tests;

use rake_ir::fused::{Function, Program, Region};
use rake_ir::lane::{Args, Stmt, Value, ValueId, benign_bits, fact, known, needs_benign, raises_nothing};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
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
        substitutes: substitutes(profile),
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
            marker => {
                // What was computed in one body is not there in another.
                pass.constants.clear();
                pass.choices.clear();
                pass.function.body.push(marker);
            }
        }
    }
}

/// The numbers chosen outside a mask so far, and the choices.
type Choices = SmallVec<[(u64, ValueId); 1]>;

struct Sanitise<'a> {
    substitutes: bool,
    function: &'a mut Function,
    constants: HashMap<(Ty, u64), ValueId>,
    /// The choices made of an operand by a mask, with their numbers.
    choices: HashMap<(ValueId, ValueId), Choices>,
    /// The values of the statement or region so far.
    done: Vec<ValueId>,
}

/// Whether masked operations of a profile need benign operands.
pub(crate) fn substitutes(profile: Profile) -> bool {
    profile.info().fp_flags && !profile.native_masks()
}

impl Sanitise<'_> {
    fn value(&mut self, id: ValueId) {
        let value = &mut self.function.values[id];
        if value.op == Op::If {
            value.op = Op::Select;
        }
        if let Some(mask) = value.mask.filter(|_| self.substitutes) {
            self.substitute(id, mask);
            self.compared_arms(id, mask);
            self.function.values[id].inactive = fact(&self.function.values, id);
        }
        self.done.push(id);
    }

    /// Gives an operation benign operands in the lanes outside `mask` if it needs any.
    fn substitute(&mut self, id: ValueId, mask: ValueId) {
        let value = &self.function.values[id];
        let (op, args) = (value.op, value.args.clone());
        let elem = args.first().map_or(Elem::Bool, |&arg| self.function.values[arg].ty.elem());
        let Some(benign) = needs_benign(op, elem, value.ty.elem()) else { return };
        let benign = benign.iter().map(|&number| benign_bits(elem, number));
        let known: SmallVec<[Option<u64>; 3]> =
            args.iter().map(|&arg| known(&self.function.values, arg, mask)).collect();
        // A choice that was made already serves where its number raises nothing beside the others.
        let made = |arg: ValueId| self.choices.get(&(arg, mask)).and_then(|made| made.first()).map(|made| made.0);
        let fill = |number: &dyn Fn(usize) -> Option<u64>| -> SmallVec<[u64; 3]> {
            benign.clone().take(args.len()).enumerate().map(|(at, bits)| number(at).unwrap_or(bits)).collect()
        };
        let tries = [fill(&|at| known[at].or_else(|| made(args[at]))), fill(&|at| known[at]), fill(&|_| None)];
        let quiet = tries.iter().find(|wanted| raises_nothing(op, elem, wanted));
        let wanted = quiet.unwrap_or(&tries[2]).clone();
        let mut safe = Args::new();
        for ((&arg, known), &bits) in args.iter().zip(known).zip(&wanted) {
            safe.push(if known == Some(bits) { arg } else { self.choice(arg, mask, bits) });
        }
        self.function.values[id].args = safe;
    }

    /// A choice between the operands of its own comparison reads what the comparison reads, so that both stay the minimum or
    /// maximum that they may be.
    fn compared_arms(&mut self, id: ValueId, mask: ValueId) {
        let values = &mut self.function.values;
        let (Op::Select, &[by, then, otherwise]) = (values[id].op, &values[id].args[..]) else { return };
        let chosen = |arm: ValueId| {
            let of_arm =
                |&&read: &&ValueId| self.choices.get(&(arm, mask)).is_some_and(|made| made.iter().any(|m| m.1 == read));
            values[by].args.iter().find(of_arm).copied().unwrap_or(arm)
        };
        if values[by].mask == Some(mask) && values[by].args.len() == 2 {
            let arms = [by, chosen(then), chosen(otherwise)];
            values[id].args = Args::from_slice(&arms);
        }
    }

    /// `operand` in the lanes of `mask`, the constant elsewhere.
    fn choice(&mut self, operand: ValueId, mask: ValueId, bits: u64) -> ValueId {
        let made = self.choices.get(&(operand, mask)).into_iter().flatten().find(|made| made.0 == bits);
        if let Some(&(_, made)) = made {
            return made;
        }
        let ty = self.function.values[operand].ty;
        let constant = match self.constants.get(&(ty, bits)) {
            Some(&made) => made,
            None => self.push(operand, Op::Const, Imm::Bits(bits), &[]),
        };
        self.constants.insert((ty, bits), constant);
        let made = self.push(operand, Op::Select, Imm::None, &[mask, operand, constant]);
        let value = &mut self.function.values[made];
        (value.mask, value.inactive) = (Some(mask), Some(bits));
        self.choices.entry((operand, mask)).or_default().push((bits, made));
        made
    }

    /// A value of the type and place of `like`, in every lane.
    fn push(&mut self, like: ValueId, op: Op, imm: Imm, args: &[ValueId]) -> ValueId {
        let Value { ty, span, .. } = self.function.values[like];
        let args = Args::from_slice(args);
        let id = self.function.values.alloc(Value { op, imm, args, ty, mask: None, inactive: None, span, name: None });
        self.done.push(id);
        id
    }
}
