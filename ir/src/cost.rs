//! What an operation costs on a profile: the one table that the choice of graphs reads.
//!
//! Numbers are hundredths of a cycle: reciprocal throughput and latency. For x86 they follow uops.info and Agner Fog's
//! instruction tables for Skylake (sse2, avx2) and Ice Lake server (avx512), with the sequences that selection emits
//! where the instruction set has no single instruction; for NEON the Neoverse N1 software optimization guide. A published sequence costs what its steps do. Constants are memory
//! operands and cost nothing; copies and broadcasts neither. Profiles without code generation yet borrow the row of the
//! nearest x86 profile.

use crate::ops::{Imm, Op};
use crate::profile::Profile;
use crate::sequences::{self, Build, Float};
use crate::types::{Elem, ElemClass, Ty};
use std::cell::Cell;

/// One operation's cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpCost {
    /// Reciprocal throughput, hundredths of a cycle.
    pub throughput: u32,
    /// Latency, hundredths of a cycle.
    pub latency: u32,
}

/// Columns of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Machine {
    Sse2 = 0,
    Avx2 = 1,
    Avx512 = 2,
    Neon = 3,
}

const fn machine(profile: Profile) -> Machine {
    match profile {
        Profile::X86Sse2 | Profile::WasmSimd128 | Profile::WasmSimd128Relaxed | Profile::Scalar => Machine::Sse2,
        Profile::X86Avx2 => Machine::Avx2,
        Profile::X86Avx512 => Machine::Avx512,
        Profile::Aarch64Neon => Machine::Neon,
    }
}

/// Throughput and latency on sse2, avx2, avx512, neon.
type Row = [(u32, u32); 4];

/// What one instruction of the simplest kind takes on NEON.
const SIMPLE: (u32, u32) = (50, 200);

const ARITHMETIC: Row = [(50, 400), (50, 400), (50, 400), (50, 300)];
const LOGIC: Row = [(33, 100), (33, 100), (50, 100), SIMPLE];
const SHUFFLE: Row = [(100, 100), (100, 300), (100, 300), SIMPLE];
const FREE: Row = [(0, 0), (0, 0), (0, 0), (0, 0)];

fn float(op: Op, elem: Elem) -> Row {
    let double = elem == Elem::F64;
    match op {
        Op::Div if double => [(400, 1400), (800, 1400), (1600, 2400), (1000, 1500)],
        Op::Div => [(300, 1100), (500, 1100), (1000, 1800), (700, 1000)],
        Op::Sqrt if double => [(600, 1800), (1200, 1900), (2400, 3100), (1000, 1700)],
        Op::Sqrt => [(300, 1200), (600, 1200), (1200, 2000), (700, 1000)],
        Op::Min | Op::Max => [(300, 1000), (250, 900), (250, 900), SIMPLE],
        Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge => [(50, 400), (50, 400), (100, 400), SIMPLE],
        Op::Ne => [(150, 500), (50, 400), (100, 400), (200, 600)],
        // SSE2 converts there and back; `nearest` is a sequence there.
        Op::Floor | Op::Ceil => [(465, 2100), (100, 800), (100, 800), (100, 400)],
        Op::Trunc => [(332, 1300), (100, 800), (100, 800), (100, 400)],
        Op::Nearest => [(0, 0), (100, 800), (100, 800), (100, 400)],
        Op::Neg | Op::Abs => LOGIC,
        Op::ToI32 | Op::ToU32 => [(400, 1600), (250, 1200), (200, 1000), (100, 400)],
        Op::Add | Op::Sub => [(50, 400), (50, 400), (50, 400), SIMPLE],
        Op::Fma | Op::MulAdd | Op::NegMulAdd => [(50, 400); 4],
        // On NEON the addend is negated first.
        Op::MulSub | Op::NegMulSub => [(50, 400), (50, 400), (50, 400), (100, 600)],
        _ => ARITHMETIC,
    }
}

fn integer(op: Op, elem: Elem) -> Row {
    let signed = elem.class() == ElemClass::Signed;
    match op {
        Op::Mul => match elem.bits() {
            8 => [(250, 800), (250, 800), (250, 800), (100, 500)],
            16 => [(50, 500), (50, 500), (100, 500), (200, 500)],
            32 => [(300, 900), (100, 1000), (200, 1000), (200, 500)],
            _ => [(350, 1200), (350, 1200), (150, 1500), (600, 1100)],
        },
        Op::Neg => [(33, 100), (33, 100), (50, 100), SIMPLE],
        Op::Abs => [(100, 300), (50, 100), (50, 100), SIMPLE],
        Op::Min | Op::Max => match (elem.bits(), signed) {
            (16, true) | (8, false) => [(50, 100), (50, 100), (100, 100), SIMPLE],
            _ => [(233, 400), (50, 100), (100, 100), SIMPLE],
        },
        Op::Eq | Op::Gt if signed || op == Op::Eq => [(50, 100), (50, 100), (100, 300), SIMPLE],
        Op::Lt if signed => [(50, 100), (50, 100), (100, 300), SIMPLE],
        Op::Ne => [(83, 200), (83, 200), (100, 300), (100, 400)],
        Op::Ge | Op::Le if signed => [(83, 200), (83, 200), (100, 300), SIMPLE],
        Op::Lt | Op::Gt | Op::Le | Op::Ge => [(150, 300), (150, 300), (100, 300), SIMPLE],
        Op::ShiftBitsLeft | Op::ShiftBitsRight | Op::ShiftBitsRightSigned => {
            [(50, 100), (50, 100), (100, 100), (100, 200)]
        }
        Op::ToF32 if signed => [(50, 400), (50, 400), (50, 400), (100, 400)],
        Op::ToF32 => [(300, 1300), (300, 1300), (50, 400), (100, 400)],
        _ => LOGIC,
    }
}

/// The steps of what profiles have no instruction for. Rounding is one where the row is for a machine beyond SSE2.
fn sequence(op: Op, machine: Machine) -> Option<fn(Float<Tally>) -> Float<Tally>> {
    match op {
        Op::Exp => Some(sequences::exp),
        Op::Log => Some(sequences::log),
        Op::Log2 => Some(sequences::log2),
        Op::Tanh => Some(sequences::tanh),
        Op::Nearest if machine == Machine::Sse2 => Some(sequences::nearest),
        _ => None,
    }
}

/// Adds the steps of a sequence up: their throughputs, and the latencies along the longest path.
struct Tally {
    profile: Profile,
    throughput: Cell<u32>,
}

impl Tally {
    fn of(steps: fn(Float<Tally>) -> Float<Tally>, profile: Profile) -> OpCost {
        let tally = Tally { profile, throughput: Cell::new(0) };
        let (_, latency) = steps(Float::new(&tally, (Elem::F32, 0))).value();
        OpCost { throughput: tally.throughput.get(), latency }
    }
}

impl Build for Tally {
    /// The element, and when it is there.
    type Value = (Elem, u32);

    fn constant(&self, elem: Elem, _: u32) -> (Elem, u32) {
        (elem, 0)
    }

    fn step(&self, op: Op, _: Imm, elem: Elem, args: &[(Elem, u32)]) -> (Elem, u32) {
        let of = if op == Op::Select { elem } else { args.first().map_or(elem, |arg| arg.0) };
        let own = cost(op, Ty::Rack(of), self.profile);
        self.throughput.set(self.throughput.get() + own.throughput);
        (elem, own.latency + args.iter().map(|arg| arg.1).max().unwrap_or(0))
    }
}

/// What an operation costs whose operands have type `of` (the result's type where there are none).
pub fn cost(op: Op, of: Ty, profile: Profile) -> OpCost {
    let elem = of.elem();
    if let Some(steps) = sequence(op, machine(profile)) {
        return Tally::of(steps, profile);
    }
    let row = match op {
        Op::Param | Op::Const | Op::Splat | Op::Unsplat | Op::LaneIndex | Op::Bitcast => FREE,
        Op::And | Op::Or | Op::Not => [(33, 100), (33, 100), (100, 100), SIMPLE],
        Op::Select | Op::If => [(100, 200), (67, 200), (50, 100), SIMPLE],
        Op::Shuffle | Op::RotateLeft | Op::RotateRight | Op::Extract => [(100, 100), (150, 300), (150, 300), SIMPLE],
        Op::ZipLow | Op::ZipHigh | Op::UnzipEven | Op::UnzipOdd => [(100, 100), (250, 400), (150, 300), SIMPLE],
        Op::ShiftLeft | Op::ShiftRight => [(100, 100), (200, 400), (125, 300), SIMPLE],
        Op::Insert => [(133, 200), (33, 100), (150, 300), SIMPLE],
        Op::WidenLow | Op::WidenHigh | Op::Narrow => SHUFFLE,
        _ if elem.is_float() => float(op, elem),
        _ => integer(op, elem),
    };
    let (throughput, latency) = row[machine(profile) as usize];
    OpCost { throughput, latency }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPS;

    #[test]
    fn a_fused_multiply_add_costs_no_more_than_its_parts() {
        let of = Ty::Rack(Elem::F32);
        for profile in Profile::all().filter(|p| p.info().fma) {
            let whole = cost(Op::MulAdd, of, profile);
            let parts = cost(Op::Mul, of, profile).throughput + cost(Op::Add, of, profile).throughput;
            assert!(whole.throughput < parts);
        }
    }

    #[test]
    fn a_sequence_costs_its_steps() {
        // 29 instructions, two to a cycle; the path is the two bounds, 6 steps of reduction, 10 of Horner's rule, 3 to
        // e^r and 2 for the power of two.
        let exp = cost(Op::Exp, Ty::Rack(Elem::F32), Profile::X86Avx2);
        assert!((1450..1800).contains(&exp.throughput), "{exp:?}");
        assert!((9000..10500).contains(&exp.latency), "{exp:?}");
        let floor = |profile| cost(Op::Floor, Ty::Rack(Elem::F32), profile).throughput;
        assert!(floor(Profile::X86Sse2) > 4 * floor(Profile::X86Avx2));
    }

    #[test]
    fn what_computes_has_a_cost() {
        let free = [Op::Param, Op::Const, Op::Splat, Op::Unsplat, Op::LaneIndex, Op::Bitcast];
        for row in OPS {
            let costs = cost(row.op, Ty::Rack(Elem::F32), Profile::X86Avx2);
            assert_eq!(costs.throughput == 0, free.contains(&row.op), "{}", row.name);
        }
    }
}
