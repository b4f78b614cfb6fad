//! Proves a chosen graph again, without the e-graph that chose it: source and chosen graph agree exactly over random
//! rational numbers.
//!
//! Sums and products are computed exactly, combined constants unrounded, integers modulo 2^w. Comparisons, selects,
//! minima, magnitudes and bit operations mean what they mean; any other operation is an unknown function, a number drawn
//! from its name and its operands. Zeros, infinities and NaNs of floats are unknown numbers too, so an operand that only
//! they would swallow is missed when it is gone. A lane outside a value's mask holds nothing, so a mask that is too
//! narrow shows as well. Two different polynomials agree on a random point with a probability below one in 2^10 a trial.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rake_ir::fused;
use rake_ir::lane::{Function, Stmt, Value, ValueId};
use rake_ir::ops::{FpClass, Imm, Op};
use rake_ir::types::{Elem, ElemClass, Ty};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// What one lane holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Lane {
    Number(BigRational),
    Truth(bool),
}

/// Random points per region.
const TRIALS: u64 = 4;
/// A number with more bits ends a trial at random numbers; the next is at units, where products do not grow.
const MOST_BITS: u64 = 1 << 16;

struct Trial<'a> {
    function: &'a Function<fused::Region>,
    exact: HashMap<ValueId, &'a BigRational>,
    lanes: HashMap<ValueId, Option<Lane>>,
    seed: u64,
    units: bool,
}

/// A number too large to go on with.
struct TooLarge;

/// A hash that is the same for every build of the compiler, which the standard library's need not be: each byte stirs the
/// state by a step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ z >> 31;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// 64 bits that depend on nothing but what is given.
fn draw(of: impl Hash, seed: u64) -> u64 {
    let mut mixer = Mixer(0x6a09_e667_f3bc_c908);
    mixer.write_u64(seed);
    of.hash(&mut mixer);
    mixer.finish()
}

/// A lane of this type drawn from 64 random bits.
fn lane_of(ty: Ty, bits: u64, units: bool) -> Lane {
    let elem = ty.elem();
    match elem.class() {
        ElemClass::Bool => Lane::Truth(bits >> 17 & 1 == 1),
        ElemClass::Float if units => Lane::Number(BigRational::from_integer(if bits & 1 == 0 { 1 } else { -1 }.into())),
        ElemClass::Float => {
            let top = 1 + (bits >> 8 & 0xfff) as i64;
            let bottom = 1 + (bits >> 32 & 0xf) as i64;
            Lane::Number(BigRational::new(if bits & 1 == 0 { top } else { -top }.into(), bottom.into()))
        }
        _ => Lane::Number(integer(bits.into(), elem)),
    }
}

/// An integer in its element's range.
fn integer(value: BigInt, elem: Elem) -> BigRational {
    let modulus = BigInt::one() << elem.bits();
    let low = ((value % &modulus) + &modulus) % &modulus;
    let negative = elem.class() == ElemClass::Signed && low.bit(u64::from(elem.bits()) - 1);
    BigRational::from_integer(if negative { low - modulus } else { low })
}

impl Trial<'_> {
    fn read(&mut self, id: ValueId) -> Option<Lane> {
        if let Some(lane) = self.lanes.get(&id) {
            return lane.clone();
        }
        let value = &self.function.values[id];
        let lane = match value.op {
            Op::Const => self.constant(id, value),
            _ => lane_of(value.ty, draw(("input", u32::from(id.into_raw())), self.seed), self.units),
        };
        self.lanes.insert(id, Some(lane.clone()));
        Some(lane)
    }

    fn constant(&self, id: ValueId, value: &Value) -> Lane {
        if let Some(&exact) = self.exact.get(&id) {
            return Lane::Number(exact.clone());
        }
        let Imm::Bits(bits) = value.imm else { return Lane::Truth(false) };
        let elem = value.ty.elem();
        let opaque = || lane_of(value.ty, draw(("constant", bits, elem), self.seed), false);
        match elem {
            Elem::Bool => Lane::Truth(bits & 1 == 1),
            Elem::F32 | Elem::F64 => {
                let wide = if elem == Elem::F32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
                match BigRational::from_float(wide) {
                    Some(number) if !number.is_zero() => Lane::Number(number),
                    _ => opaque(),
                }
            }
            _ => Lane::Number(integer(bits.into(), elem)),
        }
    }

    fn compute(&mut self, id: ValueId) -> Result<(), TooLarge> {
        let value = &self.function.values[id];
        let active = match value.mask {
            Some(mask) => matches!(self.read(mask), Some(Lane::Truth(true))),
            None => true,
        };
        let lane = if !active {
            None
        } else if value.op == Op::Const {
            Some(self.constant(id, value))
        } else {
            self.operation(value)
        };
        if let Some(Lane::Number(number)) = &lane
            && number.numer().bits() + number.denom().bits() > MOST_BITS
        {
            return Err(TooLarge);
        }
        self.lanes.insert(id, lane);
        Ok(())
    }

    /// One operation; nothing where an operand that it needs holds nothing.
    fn operation(&mut self, value: &Value) -> Option<Lane> {
        let args: Vec<Option<Lane>> = value.args.iter().map(|&arg| self.read(arg)).collect();
        let truth = |n: usize| match args.get(n) {
            Some(Some(Lane::Truth(truth))) => Some(*truth),
            _ => None,
        };
        match value.op {
            Op::And if truth(0) == Some(false) || truth(1) == Some(false) => return Some(Lane::Truth(false)),
            Op::Or if truth(0) == Some(true) || truth(1) == Some(true) => return Some(Lane::Truth(true)),
            Op::If => return if truth(0)? { args[1].clone() } else { args[2].clone() },
            _ => {}
        }
        let args: Vec<Lane> = args.into_iter().collect::<Option<_>>()?;
        let of = value.args.first().map_or(value.ty, |&arg| self.function.values[arg].ty);
        Some(match value.op {
            Op::And => Lane::Truth(true),
            Op::Or => Lane::Truth(false),
            Op::Not => Lane::Truth(args[0] == Lane::Truth(false)),
            Op::Splat => args[0].clone(),
            Op::Select => args[if args[0] == Lane::Truth(true) { 1 } else { 2 }].clone(),
            op => {
                let numbers: Option<Vec<&BigRational>> = args.iter().map(number).collect();
                let known = numbers.and_then(|n| arithmetic(op, &n, value, of.elem(), self.divides(value)));
                known.unwrap_or_else(|| self.unknown(value, &args))
            }
        })
    }

    /// Whether a division is by a constant power of two, which is exact.
    fn divides(&self, value: &Value) -> bool {
        let divisor = value.args.get(1).map(|&arg| &self.function.values[arg]);
        let Some(Imm::Bits(bits)) = divisor.filter(|d| d.op == Op::Const).map(|d| &d.imm) else { return false };
        let (fraction, exponent) = match value.ty.elem() {
            Elem::F32 => (0x7f_ffff, 0x7f80_0000),
            _ => (0xf_ffff_ffff_ffff, 0x7ff0_0000_0000_0000),
        };
        bits & fraction == 0 && bits & exponent != 0 && bits & exponent != exponent
    }

    /// A number drawn from the operation and its operands. A quotient's sign is its operands'.
    fn unknown(&self, value: &Value, args: &[Lane]) -> Lane {
        let own = |args: &[Lane]| {
            lane_of(value.ty, draw((value.op.name(), &value.imm, value.ty, args), self.seed), self.units)
        };
        if value.op != Op::Div {
            return own(args);
        }
        let magnitude = |lane: &Lane| match lane {
            Lane::Number(n) => Lane::Number(n.abs()),
            truth => truth.clone(),
        };
        let negative = args.iter().filter_map(number).filter(|n| n.is_negative()).count() % 2 == 1;
        match own(&args.iter().map(magnitude).collect::<Vec<_>>()) {
            Lane::Number(n) if negative => Lane::Number(-n),
            lane => lane,
        }
    }
}

fn number(lane: &Lane) -> Option<&BigRational> {
    match lane {
        Lane::Number(number) => Some(number),
        Lane::Truth(_) => None,
    }
}

/// The operations whose exact meaning the check knows.
fn arithmetic(op: Op, n: &[&BigRational], value: &Value, of: Elem, divides: bool) -> Option<Lane> {
    let elem = value.ty.elem();
    let wrapped = |v: BigRational| Lane::Number(if elem.is_float() { v } else { integer(v.to_integer(), elem) });
    let bits = |v: BigInt| Lane::Number(integer(v, elem));
    let int = |i: usize| n[i].to_integer();
    let shift = || match (&value.imm, n.get(1)) {
        (Imm::Int(count), _) => Some(*count),
        (_, Some(count)) => (count.to_integer() % of.bits()).to_u32(),
        _ => None,
    };
    Some(match op {
        Op::Add => wrapped(n[0] + n[1]),
        Op::Sub => wrapped(n[0] - n[1]),
        Op::Mul => wrapped(n[0] * n[1]),
        Op::Neg => wrapped(-n[0]),
        Op::Div if divides => Lane::Number(n[0] / n[1]),
        Op::MulAdd => Lane::Number(n[0] * n[1] + n[2]),
        Op::MulSub => Lane::Number(n[0] * n[1] - n[2]),
        Op::NegMulAdd => Lane::Number(n[2] - n[0] * n[1]),
        Op::NegMulSub => Lane::Number(-(n[0] * n[1]) - n[2]),
        Op::Abs => wrapped(n[0].abs()),
        Op::Min => Lane::Number(n[0].min(n[1]).clone()),
        Op::Max => Lane::Number(n[0].max(n[1]).clone()),
        Op::Eq => Lane::Truth(n[0] == n[1]),
        Op::Ne => Lane::Truth(n[0] != n[1]),
        Op::Lt => Lane::Truth(n[0] < n[1]),
        Op::Le => Lane::Truth(n[0] <= n[1]),
        Op::Gt => Lane::Truth(n[0] > n[1]),
        Op::Ge => Lane::Truth(n[0] >= n[1]),
        Op::BitAnd => bits(int(0) & int(1)),
        Op::BitOr => bits(int(0) | int(1)),
        Op::BitXor => bits(int(0) ^ int(1)),
        Op::BitAndNot => bits(int(0) & !int(1)),
        Op::ShiftBitsLeft => bits(int(0) << shift()?),
        _ => return None,
    })
}

fn trial(
    function: &Function<fused::Region>,
    region: &fused::Region,
    seed: u64,
    units: bool,
) -> Result<Option<String>, TooLarge> {
    let Some(proof) = &region.proof else { return Ok(None) };
    let exact = region.exact.iter().map(|(id, number)| (*id, number)).collect();
    let mut trial = Trial { function, exact, lanes: HashMap::new(), seed, units };
    for &id in proof.source.iter().chain(&region.values) {
        trial.compute(id)?;
    }
    for &(source, chosen) in &proof.yields {
        let (source_lane, chosen_lane) = (trial.read(source), trial.read(chosen));
        if source_lane.is_some() && source_lane != chosen_lane {
            let name = proof.stages.iter().find(|stage| stage.1 == source).map_or("a value", |stage| &stage.0);
            let values = format!("the source gives {source_lane:?}, the chosen graph {chosen_lane:?}");
            return Ok(Some(format!("`{name}` of the region differs: {values}")));
        }
    }
    Ok(None)
}

/// Whether the chosen graph of a region computes what its source graph does, over the reals. A region without proof
/// has nothing to prove.
///
/// # Errors
/// The first difference, in words.
pub fn prove(function: &Function<fused::Region>, region: &fused::Region) -> Result<(), String> {
    let contracted = |id: &ValueId| function.values[*id].op.info().fp == FpClass::Contracted;
    if region.proof.as_ref().is_some_and(|proof| proof.source.iter().any(contracted)) {
        return Err("a source graph holds a contracted operation".into());
    }
    let faulty = |found: Option<String>| found.map_or(Ok(()), |fault| Err(format!("{}: {fault}", function.name)));
    for seed in 0..TRIALS {
        match trial(function, region, seed, false) {
            Ok(found) => faulty(found)?,
            Err(TooLarge) => match trial(function, region, seed, true) {
                Ok(found) => faulty(found)?,
                Err(TooLarge) => return Err(format!("{}: the numbers of a region grow too large", function.name)),
            },
        }
    }
    Ok(())
}

/// Proves every region of a program.
///
/// # Errors
/// Each difference in one line.
pub fn prove_program(program: &fused::Program) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for function in &program.functions {
        for stmt in &function.body {
            if let Stmt::Region(region) = stmt
                && let Err(fault) = prove(function, region)
            {
                faults.push(fault);
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
