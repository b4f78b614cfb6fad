//! Programs of `allocated` that use the rows of AArch64's runs: places in memory at every kind of address, numbers, bodies
//! and traps.

use super::a64_samples::{Random, inst, is_of_runs, literals, program};
use rake_ir::allocated::{Function, Program};
use rake_ir::machine::aarch64::numbers::mode;
use rake_ir::machine::aarch64::{A64, ALL};
use rake_ir::machine::abi::AAPCS64;
use rake_ir::machine::{Address, Class, Flow, Inst, LiteralId, Mem, Operand, PhysReg, View};
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Pointee, Ty};

/// General registers that hold addresses all the time: those of parameters, and those that are saved first.
const BASES: [u8; 8] = [0, 1, 2, 3, 19, 20, 21, 22];
/// Those that hold numbers.
const NUMBERS: [u8; 14] = [8, 9, 10, 11, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28];
/// Those that a function saves.
const SAVED: [u8; 10] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28];
/// Numbers of each kind of row: sums, runs of ones, sixteen bits, and their complements.
const SUMS: [i32; 7] = [0, 1, 15, 4095, 4096, 0x12_3000, 0xff_f000];
const PATTERNS: [i32; 9] = [1, 2, 0xff, 0x00ff_0000, i32::MAX, -2, -16, i32::MIN, 0xfff0];
const WIDE: [i32; 5] = [0, 1, 0xffff, 0x1_0000, 0x7fff_0000];
const COMPLEMENTS: [i32; 5] = [-1, -2, -0x1_0000, -0x1_0001, -0x7fff_0001];

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.next(from.len())]
}

fn register(random: &mut Random, view: View) -> PhysReg {
    match view.class() {
        Class::V => PhysReg::v(pick(random, AAPCS64.rack_registers)),
        Class::S => PhysReg::s(random.next(2) as u8),
        _ => PhysReg::g(pick(random, &NUMBERS)),
    }
}

/// An address of so many bytes: each mode, and the least and the greatest that it can say.
fn address(random: &mut Random, bytes: u8) -> Address<PhysReg> {
    let (base, size) = (PhysReg::g(pick(random, &BASES)), i32::from(bytes));
    let index = (random.next(3) == 0).then(|| PhysReg::g(pick(random, &NUMBERS)));
    let scale = if index.is_some() && random.next(2) == 0 { bytes.trailing_zeros() as u8 } else { 0 };
    let disps = [0, 0, size, 7 * size, 4095 * size, 255, 1, 3, -1, -size, -256];
    let disp = if index.is_some() { 0 } else { pick(random, &disps) };
    let found = Address { base, index, scale: if scale > 3 { 0 } else { scale }, disp };
    assert!(mode(&found, bytes.into()).is_some());
    found
}

fn number(random: &mut Random, op: A64) -> i32 {
    match op {
        A64::AndNumber | A64::OrNumber | A64::XorNumber => pick(random, &PATTERNS),
        A64::MovNumber => pick(random, &WIDE),
        A64::MovNot => pick(random, &COMPLEMENTS),
        _ => pick(random, &SUMS),
    }
}

fn sample(random: &mut Random, op: A64) -> Vec<Inst<PhysReg>> {
    let row = op.info();
    let dst = row.dst.map(|view| register(random, view));
    let args: Vec<_> = row
        .slots
        .iter()
        .map(|slot| match slot.mem {
            Mem::Place(bytes) => Operand::Memory(address(random, bytes[0])),
            Mem::Constant => Operand::Number(number(random, op)),
            Mem::Rack => Operand::Literal(LiteralId(random.next(3) as u32)),
            _ => Operand::Reg(register(random, slot.view)),
        })
        .collect();
    let imm = row.imm.then(|| match op {
        A64::AddShifted => 1 + random.next(3) as u8,
        A64::LaneOutLong => random.next(4) as u8,
        _ => random.next(64) as u8,
    });
    // An address is no index.
    let clear = (op == A64::TakeArgument).then(|| inst(A64::MovNumber, dst, &[Operand::Number(0)], None));
    [inst(op, dst, &args, imm)].into_iter().chain(clear).collect()
}

/// Every row of runs but the markers, `rounds` times.
fn rows(random: &mut Random, rounds: usize) -> Vec<Vec<Inst<PhysReg>>> {
    let plain = ALL.iter().copied().filter(|&op| is_of_runs(op) && op.info().flow.is_none());
    let mut out: Vec<_> = plain.flat_map(|op| std::iter::repeat_n(op, rounds)).map(|op| sample(random, op)).collect();
    // Rows of one kind do not stand together.
    for at in (1..out.len()).rev() {
        out.swap(at, random.next(at + 1));
    }
    out
}

fn marker(op: A64, imm: Option<u8>) -> Inst<PhysReg> {
    inst(op, None, &[], imm)
}

fn compare(random: &mut Random) -> Vec<Inst<PhysReg>> {
    let compares: Vec<A64> = ALL.iter().copied().filter(|op| op.info().flow == Some(Flow::Compare)).collect();
    let op = pick(random, &compares);
    sample(random, op)
}

/// Puts bodies around instructions: short ones and long ones, also empty ones.
fn bodies(random: &mut Random, rows: Vec<Vec<Inst<PhysReg>>>) -> Vec<Inst<PhysReg>> {
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
                out.push(marker(A64::Loop, None));
                out.extend(some(random));
                out.extend(compare(random));
                out.push(marker(A64::Again, cond));
            }
            kind @ (2 | 3) => {
                out.extend(compare(random));
                out.push(marker(A64::If, cond));
                out.extend(some(random));
                if kind == 3 {
                    out.push(marker(A64::Else, None));
                    out.extend(some(random));
                }
                out.push(marker(A64::End, None));
            }
            _ => {
                out.extend(compare(random));
                out.push(marker(A64::TrapUnless, cond));
            }
        }
    }
    out
}

/// A run of these instructions: it saves what it uses, copies addresses, and clears everything that is read.
pub fn run(name: &str, body: Vec<Inst<PhysReg>>) -> Function {
    // The last two stand in the caller's frame.
    let (address, long) = (Ty::Address, Ty::LONG);
    let tys = [address, address, address, address, long, long, long, long, address, long];
    let column = Pointee::View { elem: Elem::F32, mutable: true };
    let param = |(at, (ty, place)): (usize, (Ty, Option<PhysReg>))| Param {
        name: format!("p{at}").into(),
        ty,
        points_to: (ty == Ty::Address).then(|| column.clone()),
        place: place.unwrap(),
        span: Span::default(),
    };
    let params = tys.into_iter().zip(AAPCS64.places(tys.into_iter())).enumerate().map(param).collect();
    let mut used: Vec<PhysReg> = body.iter().flat_map(|inst| inst.regs().chain(inst.dst)).collect();
    used.sort();
    used.dedup();
    let saved: Vec<PhysReg> = SAVED.map(PhysReg::g).into_iter().filter(|register| used.contains(register)).collect();
    let mut insts: Vec<_> =
        saved.iter().map(|&register| inst(A64::Push, None, &[Operand::Reg(register)], None)).collect();
    for &register in &used {
        match register.class {
            Class::V => insts.push(inst(A64::Zero, Some(register), &[], None)),
            Class::G if NUMBERS.contains(&register.number) => {
                insts.push(inst(A64::MovNumber, Some(register), &[Operand::Number(0)], None));
            }
            Class::G if saved.contains(&register) => {
                let from = Operand::Reg(PhysReg::g(BASES[usize::from(register.number) % 4]));
                insts.push(inst(A64::MovLong, Some(register), &[from], None));
            }
            _ => {}
        }
    }
    insts.extend(body);
    insts.extend(saved.iter().rev().map(|&register| inst(A64::Pop, Some(register), &[], None)));
    insts.push(inst(A64::Ret, None, &[], None));
    let literals = literals(2)[..3].to_vec();
    Function { name: name.into(), span: Span::default(), params, literals, insts, result: None }
}

/// Runs that use every row of runs, with many addresses and numbers.
pub fn every_row_of_runs(rounds: usize) -> Program {
    let mut random = Random(77);
    let rows = rows(&mut random, rounds);
    let size = rows.len().div_ceil(8).max(1);
    let function = |(number, chunk): (usize, &[Vec<Inst<PhysReg>>])| {
        let body = bodies(&mut random, chunk.to_vec());
        run(&format!("run{number}"), body)
    };
    program(rows.chunks(size).enumerate().map(function).collect())
}

/// One run for each row, without bodies.
pub fn row_of_run_by_row(rounds: usize) -> Vec<Program> {
    let plain = ALL.iter().copied().filter(|&op| is_of_runs(op) && op.info().flow.is_none());
    let of = |op: A64| {
        let mut random = Random(op as u64 + 9);
        let body = (0..rounds).flat_map(|_| sample(&mut random, op)).collect();
        program(vec![run("f", body)])
    };
    plain.map(of).collect()
}
