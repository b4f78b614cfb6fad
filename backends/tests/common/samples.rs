//! Programs of `allocated` that use every row of the x86 table with many registers, operands in memory and immediates.

use rake_ir::allocated::{Function, Program, Returned};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::abi::SYSTEM_V;
use rake_ir::machine::x86::{ALL, X86};
use rake_ir::machine::x86::{Space, table_bytes};
use rake_ir::machine::{Class, Inst, Kind, LiteralId, MachOp, Operand, PhysReg, View};
use rake_ir::profile::Profile;
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};

pub const PROFILES: [Profile; 3] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];

/// A generator of numbers: the same ones each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

pub fn function(name: &str, params: &[Ty], result: Ty, literals: Vec<Vec<u8>>, insts: Vec<Inst<PhysReg>>) -> Function {
    let places = SYSTEM_V.places(params.iter().copied());
    let insts = [defined(&places, SYSTEM_V.result(result), &insts), insts].concat();
    let params = params.iter().zip(places).enumerate();
    Function {
        name: name.into(),
        span: Span::default(),
        params: params
            .map(|(i, (&ty, place))| Param {
                name: format!("p{i}").into(),
                ty,
                points_to: None,
                place: place.unwrap(),
                span: Span::default(),
            })
            .collect(),
        literals,
        insts,
        result: Some(Returned { ty: result, place: SYSTEM_V.result(result) }),
    }
}

/// Zeros in every register that these instructions read first, and in the result's when nothing writes it.
fn defined(places: &[Option<PhysReg>], result: PhysReg, insts: &[Inst<PhysReg>]) -> Vec<Inst<PhysReg>> {
    let mut written: Vec<PhysReg> = places.iter().flatten().copied().collect();
    let mut zeros = Vec::new();
    for inst in insts {
        let reads = inst.args.iter().filter_map(|arg| arg.reg());
        let of_none = inst.op.info().slots.is_empty();
        let last = (inst.op.name() == "ret").then_some(result);
        for register in reads.filter(|_| !of_none).chain(last).filter(|r| r.class != Class::G) {
            if !written.contains(&register) {
                written.push(register);
                zeros.push(register);
            }
        }
        written.extend(inst.dst);
    }
    let zero = |r: &PhysReg| self::inst(if r.class == Class::K { X86::Kzero } else { X86::Zero }, Some(*r), &[], None);
    zeros.iter().map(zero).collect()
}

pub fn inst(op: X86, dst: Option<PhysReg>, args: &[Operand<PhysReg>], imm: Option<u8>) -> Inst<PhysReg> {
    let args = args.iter().copied().collect();
    Inst { op: MachOp::X86(op), dst, args, imm, region: None, span: Span::default() }
}

pub fn program(profile: Profile, functions: Vec<Function>) -> Program {
    Program { profile, fuse: FuseLevel::Full, functions }
}

fn register(random: &mut Random, profile: Profile, view: View) -> PhysReg {
    match view.class() {
        Class::V => PhysReg::v(random.next(profile.info().rack_registers as usize) as u8),
        Class::K => PhysReg::k(1 + random.next(7) as u8),
        // Two are kept for addresses, which no other row reads.
        Class::G if view == View::Address => PhysReg::g(10 + random.next(2) as u8),
        Class::G | Class::F | Class::L | Class::S => PhysReg::g([7, 6, 2, 1, 8, 9][random.next(6)]),
    }
}

pub fn immediate(random: &mut Random, profile: Profile, op: X86, round: usize) -> u8 {
    match op {
        X86::Cmpps if profile == Profile::X86Sse2 => (round % 8) as u8,
        X86::Cmpps | X86::CmppsK | X86::CmppsKZ => (round % 32) as u8,
        X86::PcmpdK | X86::PcmpudK | X86::PcmpdKZ | X86::PcmpudKZ => (round % 8) as u8,
        // A shift by one has an encoding of its own.
        X86::Shr => 2 + random.next(30) as u8,
        // These move by bytes, of which only whole lanes are used.
        X86::Pslldq | X86::Psrldq | X86::Palignr => 4 * (1 + random.next(3) as u8),
        _ if op.info().kind == Kind::Cross => random.next(256) as u8,
        _ => random.next(64) as u8,
    }
}

/// One instruction of `op` with random registers; `memory` puts that operand into memory.
fn sample(
    random: &mut Random,
    profile: Profile,
    op: X86,
    round: usize,
    memory: Option<Operand<PhysReg>>,
    at: usize,
) -> Inst<PhysReg> {
    let row = op.info();
    let tied = MachOp::X86(op).tied(profile);
    let dst = row.dst.map(|view| match view {
        View::Word if tied.is_none() && round.is_multiple_of(3) => PhysReg::g(SYSTEM_V.word_result),
        view => register(random, profile, view),
    });
    let args: Vec<_> = row
        .slots
        .iter()
        .enumerate()
        .map(|(i, slot)| match memory {
            Some(operand) if i == at => operand,
            _ if tied == Some(i) => Operand::Reg(dst.unwrap()),
            _ => Operand::Reg(register(random, profile, slot.view)),
        })
        .collect();
    inst(op, dst, &args, row.imm.then(|| immediate(random, profile, op, round)))
}

fn samples(random: &mut Random, profile: Profile, op: X86, rounds: usize) -> Vec<Inst<PhysReg>> {
    let machine = MachOp::X86(op);
    let mut out = Vec::new();
    for round in 0..rounds {
        if of_table(op) {
            out.extend(entry(random, profile, op));
            continue;
        }
        let must = op
            .info()
            .slots
            .iter()
            .any(|s| matches!(s.mem, rake_ir::machine::Mem::Rack | rake_ir::machine::Mem::Element));
        if !must {
            out.push(sample(random, profile, op, round, None, 0));
        }
        for slot in 0..op.info().slots.len() {
            if machine.takes_rack_literal(slot, profile) {
                let literal = Operand::Literal(LiteralId(random.next(3) as u32));
                out.push(sample(random, profile, op, round, Some(literal), slot));
            }
            if machine.takes_broadcast(slot, profile) {
                let literal = Operand::Broadcast(LiteralId(3 + random.next(3) as u32));
                out.push(sample(random, profile, op, round, Some(literal), slot));
            }
        }
    }
    out
}

/// Whether a row names a table.
fn of_table(op: X86) -> bool {
    MachOp::X86(op).info().slots.iter().any(|slot| slot.mem == rake_ir::machine::Mem::Table)
}

/// A table's address, and for the row that needs it the bits of a mask and the entry.
fn entry(random: &mut Random, profile: Profile, op: X86) -> Vec<Inst<PhysReg>> {
    let [rack, mask] = [0; 2].map(|_| Operand::Reg(register(random, profile, View::Rack)));
    let (base, bits) = (register(random, profile, View::Address), register(random, profile, View::Word));
    let table = Operand::Literal(LiteralId(6));
    let mut out = vec![inst(X86::Address, Some(base), &[table], None)];
    if op != X86::Address {
        out.push(inst(X86::Movmskps, Some(bits), &[mask], None));
        out.push(inst(op, rack.reg(), &[Operand::Reg(base), Operand::Reg(bits), table], None));
    }
    out
}

fn literals(profile: Profile, seed: u8, table: bool) -> Vec<Vec<u8>> {
    let bytes = profile.info().rack_bits as usize / 8;
    let rack = |k: u8| (0..bytes).map(|i| (i as u8).wrapping_mul(7) ^ k).collect::<Vec<u8>>();
    let element = |k: u8| vec![k, k ^ 0x55, 0x80, 0x3f];
    let mut all = vec![rack(1), rack(seed), rack(seed ^ 0x80), element(1), element(seed), element(seed ^ 0x80)];
    if table {
        all.push((0..Space::of(profile).map_or(0, table_bytes)).map(|i| (i % 251) as u8 ^ seed).collect());
    }
    all
}

/// Every row of the table that the profile has, `rounds` times in each of its shapes. The definitions are named like
/// registers and operators of assembly languages.
pub fn every_row(profile: Profile, rounds: usize) -> Program {
    let mut random = Random(profile as u64 + 1);
    let words = [Ty::Uniform(Elem::I32); 6];
    let names = ["rax", "k1", "ymm0", "offset", "rep", "st", "eq", "and", "byte"];
    let rows: Vec<X86> = ALL
        .iter()
        .copied()
        .filter(|&op| {
            MachOp::X86(op).is_in(profile)
                && !matches!(op, X86::Ret | X86::Vzeroupper | X86::MovdOut | X86::Pextrd)
                && !(X86::AddLong..=X86::Pop).contains(&op)
        })
        .collect();
    let mut functions = Vec::new();
    for (index, chunk) in rows.chunks(rows.len().div_ceil(names.len() - 1)).enumerate() {
        let mut insts: Vec<_> = chunk.iter().flat_map(|&op| samples(&mut random, profile, op, rounds)).collect();
        insts.push(inst(X86::Ret, None, &[], None));
        let tables = chunk.iter().any(|&op| of_table(op));
        let literals = literals(profile, (index as u8).wrapping_mul(2), tables);
        functions.push(function(names[index], &words, Ty::Rack(Elem::F32), literals, insts));
    }
    // A word result may come from any rack register, but leaves by `eax` alone and last.
    for number in (0..profile.info().rack_registers as u8).step_by(5) {
        let name = format!("word{number}");
        let out = inst(X86::MovdOut, Some(PhysReg::g(0)), &[Operand::Reg(PhysReg::v(number))], None);
        let mut insts = vec![inst(X86::MovdIn, Some(PhysReg::v(number)), &[Operand::Reg(PhysReg::g(7))], None), out];
        if number % 2 == 1 && profile != Profile::X86Sse2 {
            let args = [Operand::Reg(PhysReg::v(number))];
            insts[1] = inst(X86::Pextrd, Some(PhysReg::g(0)), &args, Some(number % 4));
        }
        insts.extend((profile != Profile::X86Sse2).then(|| inst(X86::Vzeroupper, None, &[], None)));
        insts.push(inst(X86::Ret, None, &[], None));
        functions.push(function(&name, &words[..1], Ty::Uniform(Elem::I32), vec![], insts));
    }
    program(profile, functions)
}

/// As [`every_row`], but one program for each row.
pub fn row_by_row(profile: Profile, rounds: usize) -> Vec<Program> {
    let all = every_row(profile, 1);
    let mut programs: Vec<Program> = ALL
        .iter()
        .filter(|&&op| {
            MachOp::X86(op).is_in(profile)
                && !matches!(op, X86::Ret | X86::Vzeroupper | X86::MovdOut | X86::Pextrd)
                && !(X86::AddLong..=X86::Pop).contains(&op)
        })
        .map(|&op| {
            let mut random = Random(op as u64 + 7);
            let mut insts = samples(&mut random, profile, op, rounds);
            insts.push(inst(X86::Ret, None, &[], None));
            let reads = insts.iter().any(|i| i.args.iter().any(|a| a.literal().is_some()));
            let table = of_table(op);
            let literals = if reads { literals(profile, (op as u8).wrapping_mul(2), table) } else { vec![] };
            let words = [Ty::Uniform(Elem::I32); 6];
            program(profile, vec![function("f", &words, Ty::Rack(Elem::F32), literals, insts)])
        })
        .collect();
    programs
        .extend(all.functions.into_iter().filter(|f| f.name.starts_with("word")).map(|f| program(profile, vec![f])));
    programs
}
