//! Writing the steps of one sequence in the place of one operation.

use super::with_elem;
use crate::sanitise::substitutes;
use rake_ir::fused::Function;
use rake_ir::lane::{Args, Value, ValueId, benign_bits, needs_benign};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::sequences::Build;
use rake_ir::types::{Elem, Ty};
use std::cell::RefCell;

/// The steps of one sequence so far.
pub(super) struct Steps<'a> {
    function: &'a Function,
    /// The operation.
    like: &'a Value,
    /// The place of the first step in the function's values.
    first: u32,
    profile: Profile,
    done: RefCell<Vec<Value>>,
}

/// The steps of a finished sequence.
pub(super) struct Finished {
    first: u32,
    done: Vec<Value>,
    last: ValueId,
}

impl<'a> Steps<'a> {
    pub fn new(function: &'a Function, id: ValueId, profile: Profile) -> Steps<'a> {
        let first = function.values.len() as u32;
        Steps { function, like: &function.values[id], first, profile, done: RefCell::default() }
    }

    /// The type of a value.
    pub fn ty(&self, id: ValueId) -> Ty {
        let at = id.into_raw().into_u32();
        match at.checked_sub(self.first).and_then(|step| self.done.borrow().get(step as usize).map(|value| value.ty)) {
            Some(ty) => ty,
            None => self.function.values[id].ty,
        }
    }

    /// Lanes of the operation's operand.
    pub fn lanes(&self, x: ValueId) -> usize {
        self.ty(x).lane_bits().map_or(1, |bits| self.profile.lanes_of_bits(bits))
    }

    /// The operand with the operation's benign number in lanes outside its mask, where the machine needs that.
    pub fn quiet(&self, x: ValueId) -> ValueId {
        let elem = self.ty(x).elem();
        let benign = needs_benign(self.like.op, elem, self.like.ty.elem()).and_then(|numbers| numbers.first());
        let (Some(mask), Some(&number), true) = (self.like.mask, benign, substitutes(self.profile)) else { return x };
        let number = self.shared(self.ty(x), benign_bits(elem, number));
        self.op(Op::If, Imm::None, self.ty(x), &[mask, x, number])
    }

    /// A step of any type, under the operation's mask.
    pub fn op(&self, op: Op, imm: Imm, ty: Ty, args: &[ValueId]) -> ValueId {
        self.push(op, imm, ty, args, self.like.mask)
    }

    /// A step in the lanes of `mask` alone, of an operation that stands under none.
    pub fn masked(&self, op: Op, ty: Ty, args: &[ValueId], mask: ValueId) -> ValueId {
        self.push(op, Imm::None, ty, args, Some(mask))
    }

    /// A constant, once.
    pub fn shared(&self, ty: Ty, bits: u64) -> ValueId {
        let same = |value: &Value| value.op == Op::Const && value.ty == ty && value.imm == Imm::Bits(bits);
        let made = self.done.borrow().iter().position(same);
        match made {
            Some(at) => self.id(at),
            None => self.push(Op::Const, Imm::Bits(bits), ty, &[], None),
        }
    }

    fn id(&self, step: usize) -> ValueId {
        ValueId::from_raw(la_arena::RawIdx::from_u32(self.first + step as u32))
    }

    fn push(&self, op: Op, imm: Imm, ty: Ty, args: &[ValueId], mask: Option<ValueId>) -> ValueId {
        let args = Args::from_slice(args);
        let mut done = self.done.borrow_mut();
        done.push(Value { op, imm, args, ty, mask, inactive: None, span: self.like.span, name: None });
        self.id(done.len() - 1)
    }

    pub fn finish(self, last: ValueId) -> Finished {
        Finished { first: self.first, done: self.done.into_inner(), last }
    }
}

impl Build for Steps<'_> {
    type Value = ValueId;

    fn constant(&self, elem: Elem, bits: u32) -> ValueId {
        self.shared(with_elem(self.like.ty, elem), bits.into())
    }

    fn step(&self, op: Op, imm: Imm, elem: Elem, args: &[ValueId]) -> ValueId {
        self.op(op, imm, with_elem(self.like.ty, elem), args)
    }
}

impl Finished {
    /// Puts the steps into the function: the last becomes the operation `id`, the others stand before it. Gives their
    /// order.
    pub fn place(mut self, function: &mut Function, id: ValueId) -> Vec<ValueId> {
        debug_assert_eq!(function.values.len() as u32, self.first);
        debug_assert_eq!(self.last.into_raw().into_u32() as usize, self.first as usize + self.done.len() - 1);
        let Some(last) = self.done.pop() else { return vec![id] };
        let mut order: Vec<ValueId> = self.done.into_iter().map(|step| function.values.alloc(step)).collect();
        let value = &mut function.values[id];
        (value.op, value.imm, value.args) = (last.op, last.imm, last.args);
        order.push(id);
        order
    }
}
