//! `floor`, `ceil`, `trunc` and `nearest` of `f32` where no instruction rounds to integral values.
//!
//! Below 2^23 in magnitude, adding 2^23 rounds to the nearest integer, ties to even, and subtracting it again is exact;
//! from 2^23 on every float is integral. Larger magnitudes, infinities and NaNs are replaced by 0 before the arithmetic
//! and chosen at the end, so that only a value that is truly rounded raises the inexact flag. The comparison that tells
//! them apart is one of integers, which raises nothing.

use super::{Step, Steps};
use rake_ir::lane::{Args, ValueId};
use rake_ir::ops::Op;
use rake_ir::types::Elem;

const SIGN: u64 = 0x8000_0000;
/// 2^23 as an `f32`.
const INTEGRAL: u64 = 0x4b00_0000;
const ONE: u64 = 0x3f80_0000;

/// What the four have in common.
struct Parts {
    /// The operand.
    x: ValueId,
    /// Where its magnitude is below 2^23.
    small: ValueId,
    /// The operand's sign bit.
    sign: ValueId,
    /// The operand's magnitude, 0 where not small.
    magnitude: ValueId,
    /// The magnitude rounded to nearest even.
    rounded: ValueId,
}

fn parts(steps: &mut Steps, x: ValueId) -> Parts {
    let (f, i, u) = (steps.of(Elem::F32), steps.of(Elem::I32), steps.of(Elem::U32));
    let bits = steps.push(Op::Bitcast, u, &[x]);
    let mask = steps.constant(Elem::U32, SIGN);
    let sign = steps.push(Op::BitAnd, u, &[bits, mask]);
    let absolute = steps.push(Op::Abs, f, &[x]);
    let ordered = steps.push(Op::Bitcast, i, &[absolute]);
    let limit = steps.constant(Elem::I32, INTEGRAL);
    let small = steps.push(Op::Lt, i.truth(), &[ordered, limit]);
    let zero = steps.constant(Elem::F32, 0);
    let magnitude = steps.push(Op::Select, f, &[small, absolute, zero]);
    let integral = steps.constant(Elem::F32, INTEGRAL);
    let sum = steps.push(Op::Add, f, &[magnitude, integral]);
    let rounded = steps.push(Op::Sub, f, &[sum, integral]);
    Parts { x, small, sign, magnitude, rounded }
}

/// A float with the operand's sign bit added.
fn signed(steps: &mut Steps, parts: &Parts, value: ValueId) -> ValueId {
    let (f, u) = (steps.of(Elem::F32), steps.of(Elem::U32));
    let bits = steps.push(Op::Bitcast, u, &[value]);
    let joined = steps.push(Op::BitOr, u, &[bits, parts.sign]);
    steps.push(Op::Bitcast, f, &[joined])
}

/// `value` moved by 1 with `by` where `compare(value, to)` holds.
fn adjusted(steps: &mut Steps, value: ValueId, compare: Op, to: ValueId, by: Op) -> ValueId {
    let f = steps.of(Elem::F32);
    let off = steps.push(compare, f.truth(), &[value, to]);
    let (one, zero) = (steps.constant(Elem::F32, ONE), steps.constant(Elem::F32, 0));
    let step = steps.push(Op::Select, f, &[off, one, zero]);
    steps.push(by, f, &[value, step])
}

fn finish(parts: &Parts, value: ValueId) -> Step {
    Step { op: Op::Select, args: Args::from_slice(&[parts.small, value, parts.x]) }
}

pub fn nearest(steps: &mut Steps, args: &[ValueId]) -> Step {
    let parts = parts(steps, args[0]);
    let result = signed(steps, &parts, parts.rounded);
    finish(&parts, result)
}

pub fn trunc(steps: &mut Steps, args: &[ValueId]) -> Step {
    let parts = parts(steps, args[0]);
    let below = adjusted(steps, parts.rounded, Op::Gt, parts.magnitude, Op::Sub);
    let result = signed(steps, &parts, below);
    finish(&parts, result)
}

pub fn floor(steps: &mut Steps, args: &[ValueId]) -> Step {
    let parts = parts(steps, args[0]);
    let (near, x) = (signed(steps, &parts, parts.rounded), signed(steps, &parts, parts.magnitude));
    // A zero keeps the sign: -0 is not above -0, and -0 - 0 is -0.
    let result = adjusted(steps, near, Op::Gt, x, Op::Sub);
    finish(&parts, result)
}

pub fn ceil(steps: &mut Steps, args: &[ValueId]) -> Step {
    let parts = parts(steps, args[0]);
    let (near, x) = (signed(steps, &parts, parts.rounded), signed(steps, &parts, parts.magnitude));
    // -1 + 1 and -0 + 0 are +0 and need the sign again.
    let above = adjusted(steps, near, Op::Lt, x, Op::Add);
    let result = signed(steps, &parts, above);
    finish(&parts, result)
}
