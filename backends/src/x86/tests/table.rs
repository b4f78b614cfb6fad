//! The selection table itself: every rule is well-formed, and every operation of the vocabulary that is due has one.

use super::{PROFILES, X86Target};
use rake_ir::capabilities::{self, Status};
use rake_ir::machine::bits::{Bits, ZERO};
use rake_ir::machine::x86::TABLE_BYTES;
use rake_ir::machine::{Class, Ctx, MachOp, Mem};
use rake_ir::ops::{Imm, OPS, Op, Syntax, TypeRule};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::expand::sequence;
use rake_passes::select::matrix;
use rake_passes::select::rule::{Key, Rule, Src, Step, StepImm, Target};

const ELEMS: [Elem; 4] = [Elem::F32, Elem::I32, Elem::U32, Elem::Bool];
/// Elements of 16 and 8 bits that some rule takes or gives.
const NARROW: [Elem; 2] = [Elem::I16, Elem::U8];

/// Every key that selection can ask for.
fn keys() -> Vec<Key> {
    let compares = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
    let shifts = [Op::ShiftBitsLeft, Op::ShiftBitsRight, Op::ShiftBitsRightSigned];
    let mut keys: Vec<Key> = OPS.iter().map(|row| Key::Op(row.op)).collect();
    keys.extend(compares.map(Key::Not));
    keys.extend(shifts.map(Key::ShiftBy));
    keys.extend([Key::AndNot, Key::KeepWhere, Key::ClearWhere, Key::Smaller, Key::Larger, Key::AboveZero]);
    keys.extend([Key::Neither, Key::NotBoth, Key::NumberOr, Key::Ordered]);
    keys.extend(OPS.iter().map(|row| Key::Leave(row.op)));
    keys.extend([Key::EnterMask, Key::EnterUniform, Key::EnterLow, Key::LeaveMask, Key::LeaveUniform]);
    keys
}

#[test]
fn sequences_fit_the_machine_table() {
    for profile in PROFILES {
        for (key, elem) in
            keys().into_iter().flat_map(|key| ELEMS.into_iter().chain(NARROW).map(move |elem| (key, elem)))
        {
            let Rule::Steps(steps) = X86Target.rule(key, elem, profile) else { continue };
            if matches!(key, Key::Op(Op::Const | Op::LaneIndex)) {
                continue;
            }
            let mut classes: Vec<Class> = Vec::new();
            for step in steps {
                let row = step.op.info();
                let place = format!("{key:?} {elem} {profile}: {}", row.name);
                assert!(step.op.is_in(profile), "{place}");
                assert_eq!(step.args.len(), row.slots.len(), "{place}");
                assert_eq!(step.imm != StepImm::None, row.imm, "{place}");
                for (src, slot) in step.args.iter().zip(row.slots) {
                    match *src {
                        Src::Step(n) => assert_eq!(classes[usize::from(n)], slot.view.class(), "{place}"),
                        Src::Lanes(lanes) => {
                            assert!([1, 2, 4, 16].contains(&lanes.len()), "{place}");
                            assert_eq!(slot.view.class(), Class::V, "{place}");
                        }
                        Src::Literal(bytes) => {
                            assert_eq!((bytes.len(), slot.mem), (TABLE_BYTES, Mem::Table), "{place}");
                        }
                        Src::Arg(_) => {}
                    }
                }
                classes.push(row.dst.unwrap().class());
            }
            let results = (0..steps.len() - 1).all(|n| steps.iter().any(|s| s.args.contains(&Src::Step(n as u8))));
            assert!(results, "{key:?} {elem} {profile} computes something for nobody");
        }
    }
}

/// What a sequence computes; `None` when it reads a table.
fn computed(steps: &[Step], args: &[Bits], lanes: usize) -> Option<Bits> {
    let mut done: Vec<Bits> = Vec::new();
    for step in steps {
        let operands = step.args.iter().map(|src| match *src {
            Src::Arg(n) => args.get(usize::from(n)).copied(),
            Src::Step(n) => done.get(usize::from(n)).copied(),
            Src::Lanes(words) => Some(std::array::from_fn(|lane| words[lane % words.len()])),
            Src::Literal(_) => None,
        });
        let operands: Vec<Bits> = operands.collect::<Option<_>>()?;
        let imm = if let StepImm::Fixed(imm) = step.imm { imm } else { 0 };
        done.push((step.op.info().eval)(Ctx { lanes, imm }, &operands));
    }
    done.last().copied()
}

#[test]
fn what_lies_outside_the_part_that_a_rule_reads_does_not_matter() {
    let mut word = 0x1234_5678u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        word ^ word >> 15
    };
    let mut tried = 0;
    for profile in PROFILES {
        let lanes = profile.lanes_of_bits(32);
        for (key, elem) in keys().into_iter().flat_map(|key| ELEMS.into_iter().map(move |elem| (key, elem))) {
            let Rule::Steps(steps) = X86Target.rule(key, elem, profile) else { continue };
            for operand in (0..3).filter(|&operand| X86Target.reads_part(key, &Imm::None, profile, operand)) {
                for _ in 0..64 {
                    let truths = |next: &mut dyn FnMut() -> u32| -> Bits {
                        std::array::from_fn(|lane| if lane < lanes { 0u32.wrapping_sub(next() >> 31) } else { 0 })
                    };
                    let mut args = [ZERO; 3];
                    args.iter_mut().for_each(|arg| *arg = truths(&mut next));
                    let mut other = args;
                    if matches!(key, Key::ShiftBy(_)) {
                        // Lane 0 of a uniform is the count.
                        args[operand] = [next(); 16];
                        other[operand] = std::array::from_fn(|lane| if lane == 0 { args[operand][0] } else { next() });
                    } else {
                        // The sign of a mask's lane is the truth.
                        other[operand].iter_mut().take(lanes).for_each(|lane| *lane ^= next() >> 1);
                    }
                    let results = [args, other].map(|args| computed(steps, &args, lanes));
                    assert_eq!(results[0], results[1], "{key:?} {elem} {profile}, operand {operand}");
                    tried += usize::from(results[0].is_some());
                }
            }
        }
    }
    assert!(tried > 1000, "only {tried} tried");
}

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

/// The element under which the table keys an operation whose first rack has this element.
fn keyed(op: Op, first: Elem) -> Elem {
    match op.info().types {
        TypeRule::Resize(_, to) => to,
        _ => first,
    }
}

#[test]
fn capabilities_say_what_selection_and_the_sequences_can() {
    let mut wrong = Vec::new();
    for row in OPS.iter().filter(|row| row.syntax != Syntax::Internal) {
        for elem in capabilities::elements(row.op) {
            for profile in PROFILES {
                let said = capabilities::operation(row.op, elem, profile) == Status::Available;
                let rule = X86Target.rule(Key::Op(row.op), keyed(row.op, elem), profile);
                let lowered =
                    !matches!(rule, Rule::Unsupported(_)) || sequence(row.op, elem, profile, &X86Target).is_some();
                if said != lowered {
                    wrong.push(format!("{} {elem} {profile}: said {said}, lowered {lowered}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
