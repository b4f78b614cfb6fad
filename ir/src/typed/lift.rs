//! The rule of implicit broadcasts: what type each operand has once uniforms that meet racks are broadcast.

use crate::ops::{Op, TypeRule};
use crate::types::Ty;
use smallvec::SmallVec;

/// Whether a value of type `from` may stand where `to` is required.
pub fn broadcasts(from: Ty, to: Ty) -> bool {
    match (from, to) {
        _ if from == to => true,
        (Ty::TRUTH, Ty::Mask(_)) => true,
        (Ty::Uniform(elem), Ty::Rack(rack)) => elem == rack,
        _ => false,
    }
}

/// The operand types once broadcast. Types that do not fit are left as they are, for
/// [`Op::infer`](crate::ops::Op::infer) to refuse.
pub fn lift(op: Op, types: &[Ty]) -> SmallVec<[Ty; 3]> {
    let mut out: SmallVec<[Ty; 3]> = types.into();
    match op.info().types {
        TypeRule::Same(_) | TypeRule::SameF32 | TypeRule::Compare | TypeRule::Truth => meet(&mut out),
        TypeRule::Choose => choose(&mut out),
        TypeRule::Pack if out.len() == 3 => meet(&mut out[1..]),
        _ => {}
    }
    out
}

fn meet(types: &mut [Ty]) {
    if let Some(wide) = types.iter().copied().find(|t| !t.is_uniform()) {
        for ty in types.iter_mut().filter(|t| broadcasts(**t, wide)) {
            *ty = wide;
        }
    }
}

/// A condition of one truth for all lanes stays uniform; a mask over two uniform branches makes racks of them.
fn choose(types: &mut [Ty]) {
    let [condition, ref mut values @ ..] = *types else { return };
    meet(values);
    let (Ty::Mask(width), true) = (condition, values.iter().all(|t| t.is_uniform())) else { return };
    for ty in values {
        *ty = match *ty {
            Ty::TRUTH => Ty::Mask(width),
            Ty::Uniform(elem) => Ty::Rack(elem),
            other => other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Elem;

    const F: Ty = Ty::Rack(Elem::F32);
    const UF: Ty = Ty::Uniform(Elem::F32);
    const UB: Ty = Ty::TRUTH;
    const M: Ty = Ty::Mask(32);

    #[test]
    fn uniforms_widen_beside_racks_only() {
        assert_eq!(lift(Op::Add, &[F, UF])[..], [F, F]);
        assert_eq!(lift(Op::Add, &[UF, UF])[..], [UF, UF]);
        assert_eq!(lift(Op::And, &[UB, M])[..], [M, M]);
        let int = Ty::Uniform(Elem::I32);
        assert_eq!(lift(Op::Add, &[F, int])[..], [F, int]);
    }

    #[test]
    fn a_mask_widens_both_branches_and_a_uniform_condition_stays() {
        assert_eq!(lift(Op::If, &[M, UF, UF])[..], [M, F, F]);
        assert_eq!(lift(Op::If, &[UB, UF, F])[..], [UB, F, F]);
        assert_eq!(lift(Op::If, &[UB, UF, UF])[..], [UB, UF, UF]);
        assert_eq!(lift(Op::ShiftBitsLeft, &[Ty::Rack(Elem::I32), Ty::Uniform(Elem::U32)])[1], Ty::Uniform(Elem::U32));
    }
}
