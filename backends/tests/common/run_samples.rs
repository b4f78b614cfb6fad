//! Programs of `allocated` that use the rows of runs: places in memory at many addresses, numbers, bodies and traps.

use super::samples::{Random, immediate, inst, program};
use rake_ir::allocated::{Function, Program};
use rake_ir::machine::abi::SYSTEM_V;
use rake_ir::machine::x86::{ALL, X86};
use rake_ir::machine::{Address, Class, Flow, Inst, MachOp, Mem, Operand, PhysReg, Slot, View};
use rake_ir::profile::Profile;
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Pointee, Ty};

/// General registers that hold addresses all the time: those of parameters, and those that are saved first.
const BASES: [u8; 8] = [7, 6, 2, 1, 3, 5, 12, 13];
/// Those that hold numbers.
const NUMBERS: [u8; 7] = [0, 8, 9, 10, 11, 14, 15];
/// Those that a function saves.
const SAVED: [u8; 6] = [3, 5, 12, 13, 14, 15];
/// Displacements with and without an encoding of a byte, also of racks.
const DISPLACEMENTS: [i32; 14] = [0, 0, 4, 8, -8, 16, 64, 127, 128, -128, -129, 4096, -8192, 100_000];
const VALUES: [i32; 10] = [0, 1, -1, 127, 128, -128, -129, 4096, i32::MAX, i32::MIN];
/// The registers of masks that are lost, which nothing else reads.
const LOST_RACK: PhysReg = PhysReg::v(15);
const LOST_MASK: PhysReg = PhysReg::k(7);

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.next(from.len())]
}

fn rack(random: &mut Random, profile: Profile) -> PhysReg {
    let number = random.next(profile.info().rack_registers as usize - 1) as u8;
    PhysReg::v(if number >= LOST_RACK.number { number + 1 } else { number })
}

fn register(random: &mut Random, profile: Profile, view: View) -> PhysReg {
    match view.class() {
        Class::V => rack(random, profile),
        Class::K => PhysReg::k(1 + random.next(6) as u8),
        Class::S => PhysReg::s(random.next(2) as u8),
        Class::G | Class::F | Class::L => PhysReg::g(pick(random, &NUMBERS)),
    }
}

fn address(random: &mut Random, slot: &Slot, index: Option<PhysReg>) -> Address<PhysReg> {
    let (base, disp) = (PhysReg::g(pick(random, &BASES)), pick(random, &DISPLACEMENTS));
    let number = PhysReg::g(pick(random, &NUMBERS));
    let index = if slot.mem == Mem::Places { index } else { (random.next(2) == 0).then_some(number) };
    Address { base, index, scale: if index.is_some() { random.next(4) as u8 } else { 0 }, disp }
}

/// One instruction of `op`; `at` puts that operand at an address, of one element or of all.
fn sample(
    random: &mut Random,
    profile: Profile,
    op: X86,
    round: usize,
    at: Option<(usize, bool)>,
) -> Vec<Inst<PhysReg>> {
    let row = op.info();
    let tied = MachOp::X86(op).tied(profile);
    let lost = row.loses.map(usize::from);
    let dst = row.dst.map(|view| register(random, profile, view));
    // A gather's racks are all different.
    let index = std::iter::repeat_with(|| rack(random, profile)).find(|&index| Some(index) != dst);
    let args: Vec<_> = row
        .slots
        .iter()
        .enumerate()
        .map(|(i, slot)| match at {
            Some((there, element)) if there == i => {
                let address = address(random, slot, index);
                if element { Operand::MemoryElement(address) } else { Operand::Memory(address) }
            }
            _ if slot.mem.is_address() => Operand::Memory(address(random, slot, index)),
            _ if tied == Some(i) => Operand::Reg(dst.unwrap()),
            _ if lost == Some(i) => Operand::Reg(if slot.view == View::Mask { LOST_MASK } else { LOST_RACK }),
            _ if slot.mem == Mem::Constant || slot.mem == Mem::Number && round % 2 == 1 => {
                Operand::Number(pick(random, &VALUES))
            }
            _ => Operand::Reg(register(random, profile, slot.view)),
        })
        .collect();
    let imm = row.imm.then(|| match op {
        X86::ShlLong | X86::ShrLong | X86::SarLong => 1 + random.next(63) as u8,
        _ => immediate(random, profile, op, round),
    });
    let mask = lost.map(|slot| match row.slots[slot].view {
        View::Mask => inst(X86::Kones, Some(LOST_MASK), &[], None),
        _ => inst(X86::Ones, Some(LOST_RACK), &[], None),
    });
    // An address is no index.
    let clear = matches!(op, X86::Sum | X86::TakeArgument).then(|| inst(X86::LongZero, dst, &[], None));
    mask.into_iter().chain([inst(op, dst, &args, imm)]).chain(clear).collect()
}

/// Whether a row is of runs alone: it touches memory, or general registers of 64 bits.
pub fn is_of_runs(op: X86) -> bool {
    (X86::AddLong..=X86::Pop).contains(&op)
}

/// Every row of runs but the markers, and every row that can read a place, `rounds` times.
fn rows(random: &mut Random, profile: Profile, rounds: usize) -> Vec<Vec<Inst<PhysReg>>> {
    let mut out = Vec::new();
    for &op in ALL.iter().filter(|&&op| MachOp::X86(op).is_in(profile) && op.info().flow.is_none()) {
        for round in 0..rounds {
            if is_of_runs(op) {
                out.push(sample(random, profile, op, round, None));
            }
            for slot in (0..op.info().slots.len()).filter(|&slot| !op.info().slots[slot].mem.is_address()) {
                let machine = MachOp::X86(op);
                if machine.takes_address(slot, profile) {
                    out.push(sample(random, profile, op, round, Some((slot, false))));
                }
                if machine.takes_address_of_element(slot, profile) {
                    out.push(sample(random, profile, op, round, Some((slot, true))));
                }
            }
        }
    }
    // Rows of one kind do not stand together.
    for at in (1..out.len()).rev() {
        out.swap(at, random.next(at + 1));
    }
    out
}

fn marker(op: X86, imm: Option<u8>) -> Inst<PhysReg> {
    inst(op, None, &[], imm)
}

fn compare(random: &mut Random, profile: Profile) -> Vec<Inst<PhysReg>> {
    let compares: Vec<X86> = ALL
        .iter()
        .copied()
        .filter(|&op| op.info().flow == Some(Flow::Compare) && MachOp::X86(op).is_in(profile))
        .collect();
    let (op, round) = (pick(random, &compares), random.next(2));
    sample(random, profile, op, round, None)
}

/// Puts bodies around instructions: short ones and long ones, also empty ones.
fn bodies(random: &mut Random, profile: Profile, rows: Vec<Vec<Inst<PhysReg>>>) -> Vec<Inst<PhysReg>> {
    let (mut out, mut rows) = (Vec::new(), rows.into_iter());
    while rows.len() > 0 {
        let mut some = |random: &mut Random| {
            let count = pick(random, &[0, 1, 3, 12, 50]);
            rows.by_ref().take(count).flatten().collect::<Vec<_>>()
        };
        let cond = Some(random.next(10) as u8);
        match random.next(5) {
            0 => out.extend(some(random)),
            1 => {
                out.push(marker(X86::Loop, None));
                out.extend(some(random));
                out.extend(compare(random, profile));
                out.push(marker(X86::Again, cond));
            }
            kind @ (2 | 3) => {
                out.extend(compare(random, profile));
                out.push(marker(X86::If, cond));
                out.extend(some(random));
                if kind == 3 {
                    out.push(marker(X86::Else, None));
                    out.extend(some(random));
                }
                out.push(marker(X86::End, None));
            }
            _ => {
                out.extend(compare(random, profile));
                out.push(marker(X86::TrapUnless, cond));
            }
        }
    }
    out
}

/// A run of these instructions: it saves what it uses, copies addresses, and clears everything that is read.
pub fn run(name: &str, profile: Profile, body: Vec<Inst<PhysReg>>) -> Function {
    // The last two stand in the caller's frame.
    let tys = [Ty::Address, Ty::Address, Ty::Address, Ty::Address, Ty::LONG, Ty::LONG, Ty::Address, Ty::LONG];
    let column = Pointee::View { elem: Elem::F32, mutable: true };
    let param = |(at, (ty, place)): (usize, (Ty, Option<PhysReg>))| Param {
        name: format!("p{at}").into(),
        ty,
        points_to: (ty == Ty::Address).then(|| column.clone()),
        place: place.unwrap(),
        span: Span::default(),
    };
    let params = tys.into_iter().zip(SYSTEM_V.places(tys.into_iter())).enumerate().map(param).collect();
    let reads_saved = |register: u8| {
        let is = |r: PhysReg| r == PhysReg::g(register);
        body.iter().any(|inst| inst.regs().any(is) || inst.dst.is_some_and(is))
    };
    let saved: Vec<u8> = SAVED.into_iter().filter(|&register| reads_saved(register)).collect();
    let push = |&number: &u8| inst(X86::Push, None, &[Operand::Reg(PhysReg::g(number))], None);
    let mut insts: Vec<_> = saved.iter().map(push).collect();
    for &number in &saved {
        let (register, from) = (PhysReg::g(number), PhysReg::g(BASES[usize::from(number) % 4]));
        insts.push(match BASES.contains(&number) {
            true => inst(X86::MoveLong, Some(register), &[Operand::Reg(from)], None),
            false => inst(X86::LongZero, Some(register), &[], None),
        });
    }
    let mut racks: Vec<PhysReg> = body.iter().flat_map(|inst| inst.regs().chain(inst.dst)).collect();
    racks.sort();
    racks.dedup();
    for register in racks {
        match register.class {
            Class::V => insts.push(inst(X86::Zero, Some(register), &[], None)),
            Class::K => insts.push(inst(X86::Kzero, Some(register), &[], None)),
            Class::G if [0, 10, 11].contains(&register.number) => {
                insts.push(inst(X86::LongZero, Some(register), &[], None));
            }
            _ => {}
        }
    }
    insts.extend(body);
    insts.extend((profile != Profile::X86Sse2).then(|| inst(X86::Vzeroupper, None, &[], None)));
    insts.extend(saved.iter().rev().map(|&number| inst(X86::Pop, Some(PhysReg::g(number)), &[], None)));
    insts.push(inst(X86::Ret, None, &[], None));
    Function { name: name.into(), span: Span::default(), params, literals: vec![], insts, result: None }
}

/// Runs that use every row of runs, and every row with places.
pub fn every_row_of_runs(profile: Profile, rounds: usize) -> Program {
    let mut random = Random(profile as u64 + 77);
    let rows = rows(&mut random, profile, rounds);
    let size = rows.len().div_ceil(8).max(1);
    let functions = rows.chunks(size).enumerate().map(|(number, chunk)| {
        let body = bodies(&mut random, profile, chunk.to_vec());
        run(&format!("run{number}"), profile, body)
    });
    let functions = functions.collect();
    program(profile, functions)
}

/// One run for each row, without bodies.
pub fn row_of_run_by_row(profile: Profile, rounds: usize) -> Vec<Program> {
    let of = |op: X86| {
        let mut random = Random(op as u64 + 9);
        let mut rows = rows(&mut random, profile, rounds);
        rows.retain(|insts| insts.iter().any(|inst| inst.op == MachOp::X86(op)));
        (!rows.is_empty()).then(|| program(profile, vec![run("f", profile, rows.concat())]))
    };
    ALL.iter().filter_map(|&op| of(op)).collect()
}
