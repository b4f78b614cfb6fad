//! `expand`: fused to fused. Replaces an operation that a profile has no instruction for by the sequence of operations
//! that is published for it. All profiles that use a sequence compute the same bits.
//!
//! ```text
//! %1 : f32s = floor %0 if %9    =>    %1 : u32s = bitcast %0 if %9
//!                                     %2 : u32s = const 2147483648
//!                                     %3 : u32s = bit_and %1, %2 if %9
//!                                     ...
//! ```
//!
//! Each step stands under the operation's mask, so that `sanitise` sees to its flags, and inside its region, which
//! loses its proof. The last step keeps the operation's place and name. [`SEQUENCES`] is the table: adding a sequence is
//! one row and one case.

mod rounding;
#[cfg(test)]
mod tests;

use rake_ir::fused::{Function, Program};
use rake_ir::lane::{Args, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};

/// A published sequence.
pub struct Sequence {
    /// The operation that it replaces.
    pub op: Op,
    /// The element of the operation's first operand.
    pub elem: Elem,
    /// The profiles that need it.
    pub profiles: &'static [Profile],
    /// Writes the steps over the operands and gives the last.
    build: fn(&mut Steps, &[ValueId]) -> Step,
    /// One line for the reference.
    pub doc: &'static str,
}

/// Every sequence, in the order of the operation table.
pub const SEQUENCES: &[Sequence] = &[
    Sequence {
        op: Op::Floor,
        elem: Elem::F32,
        profiles: &[Profile::X86Sse2],
        build: rounding::floor,
        doc: "The nearest integral value by adding and subtracting 2^23, less 1 where that is above.",
    },
    Sequence {
        op: Op::Ceil,
        elem: Elem::F32,
        profiles: &[Profile::X86Sse2],
        build: rounding::ceil,
        doc: "The nearest integral value by adding and subtracting 2^23, plus 1 where that is below.",
    },
    Sequence {
        op: Op::Trunc,
        elem: Elem::F32,
        profiles: &[Profile::X86Sse2],
        build: rounding::trunc,
        doc: "The nearest integral magnitude by adding and subtracting 2^23, less 1 where that is above; then the sign.",
    },
    Sequence {
        op: Op::Nearest,
        elem: Elem::F32,
        profiles: &[Profile::X86Sse2],
        build: rounding::nearest,
        doc: "The magnitude plus 2^23 minus 2^23; then the sign.",
    },
];

/// The sequence for an operation on a profile, if it needs one.
pub fn sequence(op: Op, elem: Elem, profile: Profile) -> Option<&'static Sequence> {
    SEQUENCES.iter().find(|s| s.op == op && s.elem == elem && s.profiles.contains(&profile))
}

/// Expands every function.
pub fn run(mut program: Program) -> Program {
    for f in &mut program.functions {
        function(f, program.profile);
    }
    program
}

/// Expands one function.
pub fn function(function: &mut Function, profile: Profile) {
    let values = &function.values;
    let found = |id: ValueId| {
        let value = &values[id];
        let elem = value.args.first().map(|&arg| values[arg].ty.elem())?;
        sequence(value.op, elem, profile)
    };
    if !function.order().any(|id| found(id).is_some()) {
        return;
    }
    for stmt in std::mem::take(&mut function.body) {
        match stmt {
            Stmt::Value(id) => {
                let steps = expanded(function, id, profile);
                function.body.extend(steps.into_iter().map(Stmt::Value));
            }
            Stmt::Region(mut region) => {
                let steps = region.values.iter().flat_map(|&id| expanded(function, id, profile));
                let steps: Vec<ValueId> = steps.collect();
                if steps.len() != region.values.len() {
                    region.proof = None;
                }
                region.values = steps;
                function.body.push(Stmt::Region(region));
            }
        }
    }
}

/// The steps that compute a value: itself when it needs no sequence.
fn expanded(function: &mut Function, id: ValueId, profile: Profile) -> Vec<ValueId> {
    let value = &function.values[id];
    let elem = value.args.first().map_or(Elem::Bool, |&arg| function.values[arg].ty.elem());
    let Some(found) = sequence(value.op, elem, profile) else { return vec![id] };
    let args = value.args.clone();
    let mut steps = Steps { like: value.clone(), function, done: Vec::new() };
    let last = (found.build)(&mut steps, &args);
    let mut done = steps.done;
    let value = &mut function.values[id];
    (value.op, value.imm, value.args) = (last.op, Imm::None, last.args);
    done.push(id);
    done
}

/// The last step of a sequence, which takes the place of the operation.
struct Step {
    op: Op,
    args: Args,
}

/// Writes the steps of one sequence.
struct Steps<'a> {
    function: &'a mut Function,
    like: Value,
    done: Vec<ValueId>,
}

impl Steps<'_> {
    /// The operation's type with another element of the same width: a rack's or a uniform's.
    fn of(&self, elem: Elem) -> Ty {
        match self.like.ty {
            Ty::Uniform(_) => Ty::Uniform(elem),
            _ => Ty::Rack(elem),
        }
    }

    /// One step, under the operation's mask.
    fn push(&mut self, op: Op, ty: Ty, args: &[ValueId]) -> ValueId {
        self.alloc(op, Imm::None, ty, args, self.like.mask)
    }

    /// A constant.
    fn constant(&mut self, elem: Elem, bits: u64) -> ValueId {
        self.alloc(Op::Const, Imm::Bits(bits), self.of(elem), &[], None)
    }

    fn alloc(&mut self, op: Op, imm: Imm, ty: Ty, args: &[ValueId], mask: Option<ValueId>) -> ValueId {
        let args = Args::from_slice(args);
        let value = Value { op, imm, args, ty, mask, inactive: None, span: self.like.span, name: None };
        let id = self.function.values.alloc(value);
        self.done.push(id);
        id
    }
}
