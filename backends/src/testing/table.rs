//! The selection tables: every rule is well-formed, and every operation of the vocabulary that is due has a rule or a
//! sequence.

use super::PROFILES;
use crate::target;
use rake_ir::capabilities::{self, Status};
use rake_ir::machine::bits::{self, Bits, ZERO};
use rake_ir::machine::{Class, Ctx, MachOp, Mem, tables};
use rake_ir::ops::{Imm, OPS, Op, Syntax, TypeRule};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::expand::sequence;
use rake_passes::select::rule::{Instance, Key, PlannedSrc, Rule, Src, Step, StepImm};

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
    keys.extend([Key::IfAll, Key::IfAny]);
    keys.extend([Key::Neither, Key::NotBoth, Key::NumberOr, Key::Ordered]);
    keys.extend(OPS.iter().map(|row| Key::Leave(row.op)));
    keys.extend([Key::EnterMask, Key::EnterUniform, Key::EnterLow, Key::LeaveMask, Key::LeaveUniform]);
    keys
}

/// An operand of a step.
enum Operand {
    Arg,
    Step(u8),
    Lanes(usize),
    Literal(bool),
}

/// The steps of a rule: operations, operands and whether there is an immediate. A plan is tried on operands of which none,
/// the first or the second is zero.
fn sequences(rule: Rule, key: Key, profile: Profile) -> Vec<Vec<(MachOp, Vec<Operand>, bool)>> {
    let is_table = |bytes: &[u8]| tables::of(bytes).is_some();
    match (rule, key) {
        (Rule::Steps(steps), _) => {
            let operand = |src: &Src| match *src {
                Src::Arg(_) => Operand::Arg,
                Src::Step(n) => Operand::Step(n),
                Src::Lanes(lanes) => Operand::Lanes(lanes.len()),
                Src::Literal(bytes) => Operand::Literal(is_table(bytes)),
                Src::Place | Src::Number(_) => Operand::Arg,
            };
            let step = |s: &Step| (s.op, s.args.iter().map(operand).collect(), s.imm != StepImm::None);
            vec![steps.iter().map(step).collect()]
        }
        (Rule::Planned(plan), Key::Op(op) | Key::Leave(op)) => {
            let operand = |src: &PlannedSrc| match src {
                PlannedSrc::Arg(_) => Operand::Arg,
                PlannedSrc::Step(n) => Operand::Step(*n),
                PlannedSrc::Lanes(lanes) => Operand::Lanes(lanes.len()),
                PlannedSrc::Literal(bytes) => Operand::Literal(is_table(bytes)),
                PlannedSrc::Place | PlannedSrc::Number(_) => Operand::Arg,
            };
            let (lanes, operands) = (profile.lanes_of_bits(32), usize::from(op.info().arity.1));
            let picks = (0..lanes as u16).rev().collect();
            let imms = [Imm::None, Imm::Bits(1), Imm::Int(0), Imm::Int(1), Imm::Lanes(picks)];
            let instances = imms.iter().flat_map(|imm| [0, 1, 2].map(|zeros| (imm, zeros)));
            let plans =
                instances.filter_map(|(imm, zeros)| plan(&Instance { op, imm, operands, zeros, lanes, profile }).ok());
            let step = |s: &rake_passes::select::rule::PlannedStep| {
                (s.op, s.args.iter().map(operand).collect(), s.imm.is_some())
            };
            plans.map(|steps| steps.iter().map(step).collect()).collect()
        }
        _ => Vec::new(),
    }
}

fn fits(steps: &[(MachOp, Vec<Operand>, bool)], profile: Profile, place: &str) {
    let mut classes: Vec<Class> = Vec::new();
    for (op, operands, imm) in steps {
        let row = op.info();
        let place = format!("{place}: {}", row.name);
        assert!(op.is_in(profile), "{place}");
        assert_eq!(operands.len(), row.slots.len(), "{place}");
        assert_eq!(*imm, row.imm, "{place}");
        for (operand, slot) in operands.iter().zip(row.slots) {
            match *operand {
                Operand::Step(n) => assert_eq!(classes[usize::from(n)], slot.view.class(), "{place}"),
                Operand::Lanes(count) => {
                    assert!([1, 2, 4, 8, 16].contains(&count), "{place}");
                    assert_eq!(slot.view.class(), Class::V, "{place}");
                }
                Operand::Literal(table) => {
                    assert!(slot.mem.is_literal() && table == (slot.mem == Mem::Table), "{place}");
                }
                Operand::Arg => {}
            }
        }
        classes.push(row.dst.unwrap().class());
    }
    let read = |n: usize| {
        let reads = |operand: &Operand| matches!(operand, Operand::Step(at) if usize::from(*at) == n);
        steps.iter().any(|(_, operands, _)| operands.iter().any(reads))
    };
    assert!((1..steps.len()).all(|n| read(n - 1)), "{place} computes something for nobody");
}

#[test]
fn sequences_fit_the_machine_tables() {
    let mut seen = 0;
    for profile in PROFILES.into_iter().chain([Profile::Scalar]) {
        for (key, elem) in
            keys().into_iter().flat_map(|key| ELEMS.into_iter().chain(NARROW).map(move |elem| (key, elem)))
        {
            if matches!(key, Key::Op(Op::Const | Op::LaneIndex)) {
                continue;
            }
            for steps in sequences(target(profile).rule(key, elem, profile), key, profile) {
                fits(&steps, profile, &format!("{key:?} {elem} {profile}"));
                seen += 1;
            }
        }
    }
    assert!(seen > 600, "{seen} sequences");
}

/// What a sequence computes; `None` when it reads a table.
fn computed(steps: &[Step], args: &[Bits], lanes: usize) -> Option<Bits> {
    let mut done: Vec<Bits> = Vec::new();
    for step in steps {
        let operands = step.args.iter().map(|src| match *src {
            Src::Arg(n) => args.get(usize::from(n)).copied(),
            Src::Step(n) => done.get(usize::from(n)).copied(),
            Src::Lanes(words) => Some(std::array::from_fn(|lane| words[lane % words.len()])),
            Src::Place | Src::Number(_) => None,
            Src::Literal(bytes) if tables::of(bytes).is_some() => None,
            Src::Literal(bytes) => Some(bits::repeat(bytes, lanes)),
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
            let rule = target(profile).rule(key, elem, profile);
            // Where the rule reads whole masks, another serves those of which the signs hold.
            let of_signs = target(profile).signs_rule(key, profile);
            let signs = matches!(of_signs, Rule::Steps(_)) && !profile.native_masks();
            let Rule::Steps(steps) = (if signs { of_signs } else { rule }) else { continue };
            for operand in (0..3).filter(|&operand| target(profile).reads_part(key, &Imm::None, profile, operand)) {
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
            for profile in Profile::all().filter(|profile| profile.info().available) {
                let said = capabilities::operation(row.op, elem, profile) == Status::Available;
                let rule = target(profile).rule(Key::Op(row.op), keyed(row.op, elem), profile);
                let lowered =
                    !matches!(rule, Rule::Unsupported(_)) || sequence(row.op, elem, profile, target(profile)).is_some();
                if said != lowered {
                    wrong.push(format!("{} {elem} {profile}: said {said}, lowered {lowered}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
