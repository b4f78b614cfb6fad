//! Of which values only a part is read: the sign bits of a mask or `bool`, or lane 0 of another uniform. A parameter of
//! which no more is read needs not be spread.
//!
//! ```text
//! %0 : mask = param 0          %0 is the argument, whatever its lower bits
//! %1 : mask = param 1     =>   %1 too
//! %2 : mask = and %0, %1       %2 : v = andps %0, %1
//! return %2                    result psrad %2, 31
//! ```

use super::index;
use super::rule::{Key, Rule, Target};
use super::shape::{Kept, Shape};
use rake_ir::fused::Function;
use rake_ir::lane::ValueId;
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};

/// For each value whether nothing but its part is read, by the shapes that are needed.
pub(super) fn only_parts(
    f: &Function,
    profile: Profile,
    target: &dyn Target,
    order: &[(ValueId, Option<u32>)],
    shapes: &[Option<Shape>],
) -> Vec<bool> {
    let has_part = |ty: Ty| match ty {
        // Where masks have registers of their own they are never racks.
        Ty::Mask(_) | Ty::TRUTH => !profile.native_masks(),
        Ty::Uniform(_) => true,
        Ty::Rack(_) | Ty::Address => false,
    };
    let mut only: Vec<bool> = f.values.iter().map(|(_, value)| has_part(value.ty)).collect();
    // Readers come before what they read.
    for &(id, _) in order.iter().rev() {
        let Some(shape) = &shapes[index(id)] else { continue };
        for (operand, &arg) in shape.args.iter().enumerate() {
            let same_kind = shape.elem == Elem::Bool || f.values[arg].ty.is_uniform() == f.values[id].ty.is_uniform();
            let mask = matches!(f.values[arg].ty, Ty::Mask(_));
            let passes = same_kind && passes_on(shape.key) && (shape.elem == Elem::Bool || !mask);
            let part = target.reads_part(shape.key, &f.values[shape.of].imm, profile, operand)
                || (passes || converts(f, shape, arg)) && only[index(id)];
            only[index(arg)] &= part;
        }
        let kept = if let Kept::Of(other) = shape.kept { Some(other) } else { None };
        for &read in shape.mask.iter().chain(&kept) {
            only[index(read)] = false;
        }
    }
    only
}

/// Whether a function does nothing but combine masks and `bool`s that it is given, so that masks may stay the racks that
/// they are to the caller.
pub(super) fn only_logic(f: &Function, target: &dyn Target, profile: Profile, shapes: &[Option<Shape>]) -> bool {
    let logic = |shape: &Shape| {
        let of_truths = matches!(shape.key, Key::Op(Op::Param | Op::Const | Op::Not) | Key::Neither | Key::NotBoth);
        shape.elem == Elem::Bool && shape.mask.is_none() && (of_truths || passes_on(shape.key))
    };
    matches!(f.result_type(), Some(Ty::Mask(_)))
        && !matches!(target.signs_rule(Key::LeaveMask, profile), Rule::Unsupported(_))
        && shapes.iter().flatten().all(logic)
}

/// Whether each lane and bit of the result is of the same ones of the operands.
pub(super) fn passes_on(key: Key) -> bool {
    matches!(key, Key::AndNot | Key::Op(Op::And | Op::Or | Op::Splat | Op::Unsplat | Op::Bitcast))
}

/// A conversion of an integer parameter: its other lanes are zero, which raises nothing.
fn converts(f: &Function, shape: &Shape, arg: ValueId) -> bool {
    let value = &f.values[arg];
    shape.key == Key::Op(Op::ToF32) && value.op == Op::Param && value.ty.is_uniform() && value.ty.elem().is_int()
}
