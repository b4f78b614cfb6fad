//! Plans against the operations' references, and how long they are.

mod optimal;

use crate::x86::select::X86Target;
use rake_ir::machine::bits::{Bits, ZERO};
use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;
use rake_ir::machine::{Ctx, MachOp, Mem};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::reference::{RackCall, Reference, reference};
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_passes::select::rule::{Instance, Key, PlannedSrc, PlannedStep, Rule, Target};
use std::collections::BTreeMap;

const PROFILES: [Profile; 3] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];

/// The plan of an operation over this many operands.
fn plan(key: Key, imm: &Imm, operands: usize, elem: Elem, profile: Profile) -> Vec<PlannedStep> {
    let Rule::Planned(plan) = X86Target.rule(key, elem, profile) else { panic!("{key:?} is not planned") };
    let (Key::Op(op) | Key::Leave(op)) = key else { panic!("{key:?} is no operation") };
    let lanes = profile.lanes(elem);
    plan(&Instance { op, imm, operands, zeros: 0, lanes, profile })
        .unwrap_or_else(|why| panic!("{key:?} {imm:?} on {profile}: {why}"))
}

/// Executes a plan by the machine table's semantics.
fn execute(steps: &[PlannedStep], profile: Profile, args: &[Bits]) -> Bits {
    let lanes = profile.lanes(Elem::F32);
    let mut done: Vec<Bits> = Vec::new();
    for step in steps {
        assert!(step.op.is_in(profile), "{} on {profile}", step.op.name());
        assert_eq!(step.imm.is_some(), step.op.info().imm, "{}", step.op.name());
        let operands: Vec<Bits> = step
            .args
            .iter()
            .map(|arg| match arg {
                PlannedSrc::Literal(_) | PlannedSrc::Place | PlannedSrc::Number(_) => panic!("{arg:?} in a shuffle"),
                PlannedSrc::Arg(n) => args[usize::from(*n)],
                PlannedSrc::Step(n) => done[usize::from(*n)],
                PlannedSrc::Lanes(words) => std::array::from_fn(|l| if l < lanes { words[l % words.len()] } else { 0 }),
            })
            .collect();
        assert_eq!(operands.len(), step.op.info().slots.len(), "{}", step.op.name());
        done.push((step.op.info().eval)(Ctx { lanes, imm: step.imm.unwrap_or(0) }, &operands));
    }
    done.last().copied().unwrap_or(args[0])
}

/// Instructions of a plan: steps, what they load, and copies of what is overwritten while still read.
fn length(steps: &[PlannedStep], profile: Profile) -> (u32, u32) {
    let space = Space::of(profile).unwrap();
    let mut loads: Vec<&PlannedSrc> = Vec::new();
    for step in steps {
        for (arg, slot) in step.args.iter().zip(step.op.info().slots) {
            let literal = matches!(arg, PlannedSrc::Lanes(words) if *words == [0] || slot.mem == Mem::No);
            if literal && !loads.contains(&arg) {
                loads.push(arg);
            }
        }
    }
    (steps.len() as u32 + super::plan::copies(space, steps), loads.len() as u32)
}

fn operands(count: usize, lanes: usize) -> Vec<Bits> {
    let rack = |at: usize| std::array::from_fn(|l| if l < lanes { (0x0101 * at + 16 * l + 3) as u32 } else { 0 });
    (1..=count).map(rack).collect()
}

/// Checks one instance against the reference; its length.
fn check(op: Op, imm: &Imm, count: usize, elem: Elem, profile: Profile) -> (u32, u32) {
    let lanes = profile.lanes(elem);
    let steps = plan(Key::Op(op), imm, count, elem, profile);
    let mut args = operands(count, lanes);
    if op == Op::Insert {
        args[1] = std::array::from_fn(|l| if l < lanes { 0x777 } else { 0 });
    }
    let got = execute(&steps, profile, &args);
    let expected = expect(op, imm, elem, &args, lanes);
    assert_eq!(got[..lanes], expected[..], "{} {imm:?} of {elem}s on {profile}: {steps:#?}", op.name());
    length(&steps, profile)
}

fn expect(op: Op, imm: &Imm, elem: Elem, args: &[Bits], lanes: usize) -> Vec<u32> {
    let Reference::Rack(f) = reference(op) else { panic!("{} has no reference", op.name()) };
    let mut racks: Vec<Lanes> =
        args.iter().map(|a| Lanes::new(a[..lanes].iter().map(|&word| u64::from(word)))).collect();
    let mut types = vec![Ty::Rack(elem); args.len()];
    if op == Op::Insert {
        (racks[1], types[1]) = (Lanes::uniform(args[1][0].into()), Ty::Uniform(elem));
    }
    let racks: Vec<&Lanes> = racks.iter().collect();
    let result = f(&RackCall { imm, ty: Ty::Rack(elem), types: &types, args: &racks });
    // An extracted lane stands in every lane.
    (0..lanes).map(|l| result.get(if op == Op::Extract { 0 } else { l }).unwrap() as u32).collect()
}

fn picks(picks: impl IntoIterator<Item = usize>) -> Imm {
    Imm::Lanes(picks.into_iter().map(|p| p as u16).collect())
}

type Histogram = BTreeMap<(u32, u32), usize>;

fn show(what: &str, histogram: &Histogram) {
    println!("{what}: {histogram:?} (instructions, loads among their operands): how many");
}

#[test]
fn every_shuffle_of_four_lanes() {
    for elem in [Elem::F32, Elem::I32] {
        for (count, lanes) in [(1, 4usize), (2, 8)] {
            let mut histogram = Histogram::new();
            for code in 0..lanes.pow(4) {
                let imm = picks((0..4).map(|l| code / lanes.pow(l) % lanes));
                let length = check(Op::Shuffle, &imm, count, elem, Profile::X86Sse2);
                // With both operands named and one read, selection passes on that one alone.
                *histogram.entry(length).or_default() += 1;
            }
            show(&format!("sse2 {elem}s, {count} racks"), &histogram);
            assert!(histogram.keys().all(|(steps, loads)| *loads == 0 && *steps <= count as u32));
        }
    }
}

#[test]
fn every_amount_and_every_lane() {
    for profile in PROFILES {
        let lanes = profile.lanes(Elem::F32);
        let moves = [Op::ShiftLeft, Op::ShiftRight, Op::RotateLeft, Op::RotateRight];
        for elem in [Elem::F32, Elem::I32, Elem::U32] {
            for op in moves {
                let mut histogram = Histogram::new();
                for count in 0..=lanes as u32 {
                    let length = check(op, &Imm::Int(count), 1, elem, profile);
                    assert!(length.0 + length.1 <= 2, "{} {count} on {profile}: {length:?}", op.name());
                    *histogram.entry(length).or_default() += 1;
                }
                show(&format!("{profile} {} {elem}s", op.name()), &histogram);
            }
            for (op, operands) in [(Op::Extract, 1), (Op::Insert, 2)] {
                let mut histogram = Histogram::new();
                for lane in 0..lanes as u32 {
                    let length = check(op, &Imm::Int(lane), operands, elem, profile);
                    assert!(length.0 + length.1 <= 2, "{} {lane} on {profile}: {length:?}", op.name());
                    *histogram.entry(length).or_default() += 1;
                }
                show(&format!("{profile} {} {elem}s", op.name()), &histogram);
            }
        }
    }
}

#[test]
fn extractions_left_to_the_caller_bring_one_lane() {
    for profile in PROFILES {
        let lanes = profile.lanes(Elem::F32);
        let args = operands(1, lanes);
        for elem in [Elem::F32, Elem::I32, Elem::U32] {
            for lane in 0..lanes {
                let imm = Imm::Int(lane as u32);
                let steps = plan(Key::Leave(Op::Extract), &imm, 1, elem, profile);
                assert_eq!(execute(&steps, profile, &args)[0], args[0][lane], "{lane} of {elem}s on {profile}");
                let (steps, loads) = length(&steps, profile);
                assert!(steps + loads <= 2, "lane {lane} on {profile}");
            }
        }
    }
}

#[test]
fn zips_and_unzips() {
    for profile in PROFILES {
        for op in [Op::ZipLow, Op::ZipHigh, Op::UnzipEven, Op::UnzipOdd] {
            for elem in [Elem::F32, Elem::U32] {
                for operands in [1, 2] {
                    // Over the same value twice, selection passes it on once.
                    let length =
                        if operands == 2 { check(op, &Imm::None, 2, elem, profile) } else { twice(op, elem, profile) };
                    println!("{profile} {} of {operands} {elem}s: {length:?}", op.name());
                    let most = [1, 3, 2][Space::of(profile).unwrap() as usize];
                    assert!(length.0 + length.1 <= most);
                }
            }
        }
    }
}

/// A two-rack operation over one value.
fn twice(op: Op, elem: Elem, profile: Profile) -> (u32, u32) {
    let lanes = profile.lanes(elem);
    let steps = plan(Key::Op(op), &Imm::None, 1, elem, profile);
    let args = operands(1, lanes);
    let got = execute(&steps, profile, &args);
    assert_eq!(got[..lanes], expect(op, &Imm::None, elem, &[args[0], args[0]], lanes)[..]);
    length(&steps, profile)
}

/// A small generator (Steele and Lea's SplitMix64), so that failures repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Pictures with a pattern, over `n` lanes and two racks.
fn structured(n: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut add = |f: &dyn Fn(usize) -> usize| all.push((0..n).map(f).collect());
    add(&|l| n - 1 - l);
    for bit in (0..).map(|b| 1 << b).take_while(|b| *b < n) {
        // Swaps of neighbours, of halves; the steps of a transposition; interleaving in units; blends in units.
        add(&|l| l ^ bit);
        add(&|l| if l & bit == 0 { l } else { n + l - bit });
        add(&|l| if l & bit == 0 { l + bit } else { n + l });
        add(&|l| ((l / bit) & 1) * n + l / (2 * bit) * bit + l % bit);
        add(&|l| ((l / bit) & 1) * n + n / 2 + l / (2 * bit) * bit + l % bit);
        add(&|l| ((l / bit) & 1) * n + l);
        add(&|l| l % bit);
        add(&|l| l / bit * bit);
    }
    for lane in 0..n {
        add(&|_| lane);
        add(&|l| (l + lane) % (2 * n));
        add(&|l| (l + lane) % n);
        add(&|l| if l == lane { n } else { l });
        add(&|l| if l == lane { n + (lane + 3) % n } else { l });
        add(&|l| if l < lane { l } else { n + l - lane });
    }
    all
}

fn sample(profile: Profile, count: usize, random: usize) -> (Histogram, Histogram) {
    let n = profile.lanes(Elem::F32);
    let (mut patterned, mut scattered) = (Histogram::new(), Histogram::new());
    let limit = n * count;
    let record = |histogram: &mut Histogram, list: &[usize], elem| {
        let length = check(Op::Shuffle, &picks(list.iter().copied()), count, elem, profile);
        *histogram.entry(length).or_default() += 1;
    };
    for list in structured(n) {
        if list.iter().all(|&pick| pick < limit) {
            record(&mut patterned, &list, Elem::F32);
            record(&mut patterned, &list, Elem::U32);
        }
    }
    let mut generator = Random(count as u64 + 17);
    for _ in 0..random {
        let list: Vec<usize> = (0..n).map(|_| generator.below(limit)).collect();
        record(&mut scattered, &list, Elem::F32);
    }
    (patterned, scattered)
}

#[test]
fn pictures_of_eight_and_sixteen_lanes() {
    for (profile, random) in [(Profile::X86Avx2, 2000), (Profile::X86Avx512, 4000)] {
        for count in [1, 2] {
            let start = std::time::Instant::now();
            let (patterned, scattered) = sample(profile, count, random);
            println!("{:?}", start.elapsed());
            show(&format!("{profile}, {count} racks, patterns"), &patterned);
            show(&format!("{profile}, {count} racks, random"), &scattered);
            let most = if profile == Profile::X86Avx2 && count == 2 { 3 } else { 1 };
            for (steps, loads) in patterned.keys().chain(scattered.keys()) {
                assert!(*loads <= 1 && *steps <= most);
            }
        }
    }
}

#[test]
fn cross_rows_are_what_the_planner_thinks() {
    assert!(
        super::moves::moves(Space::Evex).all(|m| m.ops.iter().all(|&op| MachOp::X86(op).is_in(Profile::X86Avx512)))
    );
    assert!(super::moves::moves(Space::Vex).all(|m| m.ops.iter().all(|&op| MachOp::X86(op).is_in(Profile::X86Avx2))));
    assert!(super::moves::moves(Space::Sse).all(|m| m.ops.iter().all(|&op| MachOp::X86(op).is_in(Profile::X86Sse2))));
    assert_eq!(execute(&[], Profile::X86Sse2, &[ZERO])[0], 0);
    assert_eq!(X86::Pshufd.info().slots.len(), 1);
}
