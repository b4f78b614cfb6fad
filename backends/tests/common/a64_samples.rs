//! Programs of `allocated` that use every row of the AArch64 table with every register and every immediate that it takes.

use rake_backends::{Options, aarch64};
use rake_ir::allocated::{Function, Program, Returned};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::aarch64::{A64, ALL};
use rake_ir::machine::abi::AAPCS64;
use rake_ir::machine::tables::TABLES;
use rake_ir::machine::{Class, Inst, LiteralId, MachOp, Mem, Operand, PhysReg, View};
use rake_ir::profile::Profile;
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};

pub const PROFILE: Profile = Profile::Aarch64Neon;
pub const OPTIONS: Options<'static> =
    Options { exported: &|name| name == "x1" || name == "eq", compiler: "rakec 0.1.0" };

/// Names that are registers, operators or instructions of the assembly language, or begin like its labels.
pub const NAMES: [&str; 16] =
    ["v0", "x1", "sp", "wzr", "lsl", "eq", "uxtw", "msl", "q3", "ret", "fadd", "s0", "LC0", "_", "v0_0", "lo12"];

/// Which registers samples use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Registers {
    /// Those that a function may use.
    Ours,
    /// All that there are.
    All,
}

/// A generator of numbers: the same ones each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

pub fn inst(op: A64, dst: Option<PhysReg>, args: &[Operand<PhysReg>], imm: Option<u8>) -> Inst<PhysReg> {
    let args = args.iter().copied().collect();
    Inst { op: MachOp::A64(op), dst, args, imm, region: None, span: Span::default() }
}

pub fn program(functions: Vec<Function>) -> Program {
    Program { profile: PROFILE, fuse: FuseLevel::Full, functions }
}

/// A function of eight words that returns a rack; what it reads before it is written is made zero first.
pub fn function(name: &str, literals: Vec<Vec<u8>>, insts: &[Inst<PhysReg>]) -> Function {
    let params = [Ty::Uniform(Elem::I32); 8];
    let result_ty = Ty::Rack(Elem::F32);
    let places: Vec<PhysReg> = AAPCS64.places(params.into_iter()).into_iter().flatten().collect();
    let result_place = AAPCS64.result(result_ty);
    let mut written = places.clone();
    let mut all = Vec::new();
    let mut define = |register: PhysReg, written: &mut Vec<PhysReg>| {
        if !written.contains(&register) {
            written.push(register);
            all.push(match register.class {
                Class::G => inst(A64::MovWord, Some(register), &[Operand::Reg(places[0])], None),
                _ => inst(A64::Zero, Some(register), &[], None),
            });
        }
    };
    for one in insts {
        one.args.iter().filter_map(|arg| arg.reg()).for_each(|register| define(register, &mut written));
        written.extend(one.dst);
    }
    define(result_place, &mut written);
    all.extend_from_slice(insts);
    all.push(inst(A64::Ret, None, &[], None));
    Function {
        name: name.into(),
        span: Span::default(),
        params: (0..params.len())
            .map(|i| Param {
                name: format!("p{i}").into(),
                ty: params[i],
                points_to: None,
                place: places[i],
                span: Span::default(),
            })
            .collect(),
        literals,
        insts: all,
        result: Some(Returned { ty: result_ty, place: result_place }),
    }
}

/// Literals 0 to 2 are racks and the last is a table of this profile, where there is one.
pub fn literals(seed: u8) -> Vec<Vec<u8>> {
    let rack = |k: u8| (0..16).map(|i: u8| i.wrapping_mul(7) ^ k).collect::<Vec<u8>>();
    let ours = TABLES.iter().rev().filter(|table| table.entry == rack(0).len());
    let table = ours.map(|table| table.bytes.to_vec()).take(1);
    [rack(1), rack(seed ^ 0x80), rack(seed ^ 0x40)].into_iter().chain(table).collect()
}

/// The immediates that an operation takes.
pub fn immediates(op: A64) -> Vec<Option<u8>> {
    if !op.info().imm {
        return vec![None];
    }
    let taken = |&imm: &Option<u8>| {
        let mut random = Random(1);
        let one = sample(&mut random, op, Registers::Ours, None, imm);
        aarch64::elf::emit(&program(vec![function("f", literals(1), &one)]), &OPTIONS).is_ok()
    };
    (0..=255).map(Some).filter(taken).collect()
}

fn register(random: &mut Random, view: View, registers: Registers) -> PhysReg {
    let class = view.class();
    let ours = rake_ir::allocated::registers(PROFILE, class);
    let number = match (registers, class) {
        (Registers::Ours, _) => ours[random.next(ours.len())],
        (Registers::All, Class::G) => random.next(31) as u8,
        (Registers::All, _) => random.next(32) as u8,
    };
    PhysReg { class, number }
}

/// One instruction with random registers and before it what it needs; field `at.0` of its registers has number `at.1`.
fn sample(
    random: &mut Random,
    op: A64,
    registers: Registers,
    at: Option<(usize, u8)>,
    imm: Option<u8>,
) -> Vec<Inst<PhysReg>> {
    let row = op.info();
    let tied = MachOp::A64(op).tied(PROFILE);
    let mut field = 0;
    let mut next = |view: View| {
        let mut register = register(random, view, registers);
        if let Some((_, number)) = at.filter(|at| at.0 == field) {
            register.number = number;
        }
        field += 1;
        register
    };
    let dst = row.dst.map(&mut next);
    let mut before = Vec::new();
    let mut args = Vec::new();
    for (slot, info) in row.slots.iter().enumerate() {
        args.push(match info.mem {
            Mem::Rack => Operand::Literal(LiteralId(u32::from(imm.unwrap_or(0)) % 3)),
            Mem::Table => Operand::Literal(LiteralId(3)),
            _ if tied == Some(slot) => Operand::Reg(dst.unwrap()),
            _ => Operand::Reg(next(info.view)),
        });
        if info.view == View::Address {
            before.push(inst(A64::Adr, args[slot].reg(), &[Operand::Literal(LiteralId(3))], None));
        }
    }
    before.push(inst(op, dst, &args, imm));
    before
}

/// Samples of a row: with each immediate, and with each number in each of its registers.
pub fn samples(op: A64, registers: Registers) -> Vec<Inst<PhysReg>> {
    let mut random = Random(op as u64 + 1);
    let row = op.info();
    let immediates = immediates(op);
    let mut out = Vec::new();
    for &imm in &immediates {
        out.extend(sample(&mut random, op, registers, None, imm));
    }
    let tied = usize::from(MachOp::A64(op).tied(PROFILE).is_some());
    let views: Vec<View> = row.dst.into_iter().chain(row.slots.iter().skip(tied).map(|slot| slot.view)).collect();
    for (field, view) in views.iter().enumerate() {
        let numbers: Vec<u8> = match (registers, view.class()) {
            (Registers::Ours, class) => rake_ir::allocated::registers(PROFILE, class).to_vec(),
            (Registers::All, Class::G) => (0..31).collect(),
            (Registers::All, _) => (0..32).collect(),
        };
        for number in numbers {
            let imm = immediates[random.next(immediates.len())];
            out.extend(sample(&mut random, op, registers, Some((field, number)), imm));
        }
    }
    out
}

/// Whether a row is of runs alone: it touches memory, general registers of 64 bits, or what is executed next.
pub fn is_of_runs(op: A64) -> bool {
    (A64::AddLong..=A64::Pop).contains(&op)
}

/// Every row of scratches but `ret`, which ends each function.
pub fn rows() -> impl Iterator<Item = A64> {
    ALL.iter().copied().filter(|&op| op != A64::Ret && !is_of_runs(op))
}

/// A program of every row.
pub fn every_row(registers: Registers) -> Program {
    let rows: Vec<A64> = rows().collect();
    let chunks = rows.chunks(rows.len().div_ceil(NAMES.len())).enumerate();
    let functions = chunks.map(|(index, chunk)| {
        let insts: Vec<_> = chunk.iter().flat_map(|&op| samples(op, registers)).collect();
        function(NAMES[index], literals((index as u8).wrapping_mul(2)), &insts)
    });
    program(functions.collect())
}

/// As [`every_row`], but one program for each row.
pub fn row_by_row(registers: Registers) -> Vec<Program> {
    rows().map(|op| program(vec![function("f", literals(op as u8), &samples(op, registers))])).collect()
}
