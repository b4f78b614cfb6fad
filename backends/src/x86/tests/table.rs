//! The selection table itself: every operation of the vocabulary that is due has a rule.

use super::{PROFILES, X86Target};
use rake_ir::machine::MachOp;
use rake_ir::ops::{OPS, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::select::matrix;
use rake_passes::select::rule::{Key, Rule, Target};

const ELEMS: [Elem; 4] = [Elem::F32, Elem::I32, Elem::U32, Elem::Bool];

#[test]
fn what_is_due_has_a_rule() {
    let both =
        [Op::Add, Op::Sub, Op::Mul, Op::Abs, Op::Neg, Op::Min, Op::Max, Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
    let float = [Op::Div, Op::Sqrt];
    let fused = [Op::Fma, Op::MulAdd, Op::MulSub, Op::NegMulAdd, Op::NegMulSub];
    let bits = [Op::BitAnd, Op::BitOr, Op::BitXor, Op::BitAndNot, Op::ShiftBitsLeft, Op::ShiftBitsRight];
    let has = |op, elem, profile| !matches!(X86Target.rule(Key::Op(op), elem, profile), Rule::Unsupported(_));
    for profile in PROFILES {
        assert!(both.iter().chain(&float).all(|&op| has(op, Elem::F32, profile)));
        assert!(both.iter().chain(&bits).all(|&op| has(op, Elem::I32, profile)));
        assert!(bits.iter().all(|&op| has(op, Elem::U32, profile)));
        assert!(fused.iter().all(|&op| has(op, Elem::F32, profile) == profile.info().fma));
        assert!([Op::And, Op::Or, Op::Not].iter().all(|&op| has(op, Elem::Bool, profile)));
        assert!(ELEMS.iter().all(|&elem| has(Op::Select, elem, profile) && has(Op::If, elem, profile)));
        assert!(!has(Op::Neg, Elem::U32, profile) && !has(Op::Div, Elem::I32, profile));
    }
}

#[test]
fn the_matrix_has_a_line_for_each_pair_and_profile() {
    let text = matrix(&X86Target, &PROFILES);
    assert_eq!(text.lines().count(), OPS.len() * ELEMS.len() * PROFILES.len());
    assert!(text.contains("min f32 x86-sse2: minps minps orps\n"));
    assert!(text.contains("mul i32 x86-avx512: vpmulld\n"));
    assert!(text.contains("fma f32 x86-sse2: - SSE2 has no fused multiply-add"));
}

#[test]
fn other_families_have_no_rule() {
    let rule = X86Target.rule(Key::Op(Op::Add), Elem::F32, Profile::Aarch64Neon);
    assert!(matches!(rule, Rule::Unsupported(_)));
    let known = MachOp::from_name(Profile::X86Sse2.info().family, "addps").is_some();
    assert!(known && MachOp::from_name(Profile::Aarch64Neon.info().family, "addps").is_none());
}
