//! Executing a run of the program, whichever IR it is in, on memory; memory for checks; and what of it a caller may read.
//!
//! ```text
//! run keep(s: address to mut stack P(x: f32)):     a descriptor with a count and a column of so many elements;
//!   traverse s by 32: ...                          afterwards the elements below the count that it has then
//! ```

use super::Ir;
use super::evaluate::{arguments, random, register};
use rake_ir::lane::{self, EvalError};
use rake_ir::machine::bits::Bits;
use rake_ir::machine::run::Halt;
use rake_ir::memory::Memory;
use rake_ir::ops::TrapReason;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Pointee, Ty};
use rake_ir::value::{Lanes, is_nan};
use rake_ir::{allocated, desugared, selected, stacked, typed};

/// A parameter as C passes it, and what it leads to when it is an address.
pub type Parameter = (Ty, Option<Pointee>);

/// What a caller passes a run.
#[derive(Clone, Default)]
pub struct Passed {
    /// The memory.
    pub memory: Memory,
    /// One value per parameter.
    pub arguments: Vec<Lanes>,
}

/// Why a run did not end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// A check did not hold; machine code does not say which.
    Trap(Option<TrapReason>),
    /// The language leaves it without a meaning, or the program is broken.
    Broken(String),
}

impl Stopped {
    /// Whether two are the same as far as both can tell.
    pub fn same(&self, other: &Stopped) -> bool {
        match (self, other) {
            (Stopped::Trap(Some(a)), Stopped::Trap(Some(b))) => a == b,
            (Stopped::Trap(_), Stopped::Trap(_)) => true,
            _ => self == other,
        }
    }

    /// In words.
    pub fn show(&self) -> String {
        match self {
            Stopped::Trap(Some(reason)) => format!("trap: {}", reason.words()),
            Stopped::Trap(None) => "trap".into(),
            Stopped::Broken(text) => text.clone(),
        }
    }
}

impl Ir {
    /// A run's parameters; `None` where there is no such run.
    pub fn run_parameters(&self, name: &str) -> Option<Vec<Parameter>> {
        macro_rules! described {
            ($program:expr) => {{
                let function = $program.functions.iter().find(|function| function.name == name)?;
                let params = function.params.iter().map(|p| (p.ty, p.points_to.clone()));
                function.result.is_none().then(|| params.collect())
            }};
        }
        macro_rules! local {
            ($program:expr) => {{
                let function = $program.functions.iter().find(|function| function.name == name)?;
                let params = function.params.iter();
                let params = params.map(|p| (function.locals[*p].ty, function.pointees.get(*p).cloned()));
                function.result.is_none().then(|| params.collect())
            }};
        }
        match self {
            Ir::Text(_) | Ir::Surface(_) => None,
            Ir::Typed(program) => local!(program),
            Ir::Desugared(program) => local!(program),
            Ir::Tined(program) => described!(program),
            Ir::Fused(program) => described!(program),
            Ir::Selected(program) => described!(program),
            Ir::Allocated(program) => described!(program),
            Ir::Stacked(program) => described!(program),
        }
    }

    /// Executes a run.
    ///
    /// # Errors
    /// Why it did not end.
    pub fn execute(&self, name: &str, passed: &mut Passed) -> Result<(), Stopped> {
        let Passed { memory, arguments } = passed;
        let broken = |text: &str| Stopped::Broken(text.into());
        let told = |error: EvalError| match error {
            EvalError::Trap(reason) => Stopped::Trap(Some(reason)),
            other => Stopped::Broken(other.to_string()),
        };
        let halted = |halt: Halt| match halt {
            Halt::Trap => Stopped::Trap(None),
            Halt::Broken => broken("it reads what nothing defines, or memory that its caller does not have"),
        };
        match self {
            Ir::Typed(program) => typed::eval_run(program, name, arguments, memory).map_err(told),
            Ir::Desugared(program) => desugared::eval_run(program, name, arguments, memory).map_err(told),
            Ir::Tined(program) => lane::eval_run(program, name, arguments, memory).map_err(told),
            Ir::Fused(program) => lane::eval_run(program, name, arguments, memory).map_err(told),
            Ir::Selected(program) => {
                let registers = self.registers(name, arguments);
                let function = program.functions.iter().find(|function| function.name == name);
                let function = function.ok_or_else(|| broken("there is no such run"))?;
                selected::run(function, program.profile, &registers, memory).map(drop).map_err(halted)
            }
            Ir::Allocated(program) => {
                let registers = self.registers(name, arguments);
                let function = program.functions.iter().find(|function| function.name == name);
                let function = function.ok_or_else(|| broken("there is no such run"))?;
                allocated::run(function, program.profile, &registers, memory).map(drop).map_err(halted)
            }
            Ir::Stacked(program) => {
                let registers = self.registers(name, arguments);
                let function = program.functions.iter().find(|function| function.name == name);
                let function = function.ok_or_else(|| broken("there is no such run"))?;
                stacked::run(function, program.profile, &registers, memory).map(drop).map_err(halted)
            }
            Ir::Text(_) | Ir::Surface(_) => Err(broken("runs are not executed here")),
        }
    }

    fn registers(&self, name: &str, arguments: &[Lanes]) -> Vec<Bits> {
        let params = self.run_parameters(name).unwrap_or_default();
        params.iter().zip(arguments).map(|((ty, _), value)| register(*ty, value)).collect()
    }
}

/// Memory and arguments for checks: stacks and views of several lengths, indices that mostly fit; the same on every run.
pub fn passed(params: &[Parameter], profile: Profile, round: usize) -> Option<Passed> {
    let lanes = profile.lanes(Elem::F32);
    let counts = [3 * lanes + 2, 0, 1, lanes, lanes + 1, 4 * lanes + 3, lanes.max(2) - 1, 2 * lanes];
    let count = counts[round % counts.len()];
    // Views may be longer than the loops over them.
    let length = if round % 3 == 2 { count + lanes } else { count };
    let mut passed = Passed::default();
    let mut counts_view = false;
    for (position, (ty, pointee)) in params.iter().enumerate() {
        let seed = (round as u64) << 32 | (position as u64) << 24;
        let argument = match pointee {
            Some(Pointee::View { elem, mutable }) => {
                let bytes = elements(*elem, length, count, seed);
                Lanes::uniform(passed.memory.add(bytes, *mutable)?)
            }
            Some(Pointee::Stack { columns, mutable, .. }) => {
                let mut addresses = Vec::new();
                for (column, (_, elem)) in columns.iter().enumerate() {
                    let bytes = elements(*elem, count, count, seed + ((column as u64) << 16));
                    // No record needs no column.
                    addresses.push(if count == 0 { 0 } else { passed.memory.add(bytes, *mutable)? });
                }
                Lanes::uniform(passed.memory.add_stack(profile, count as u64, &addresses, *mutable)?)
            }
            None if counts_view => Lanes::uniform(length as u64),
            None => match ty {
                Ty::Uniform(elem) if elem.is_int() && round % 5 < 4 => {
                    let numbers = [count as u64, count as u64, 1, random(seed) % 7];
                    Lanes::uniform(numbers[(round + position) % 4] & elem.lane_mask())
                }
                ty => arguments(std::slice::from_ref(ty), profile, round + 31 * position).pop()?,
            },
        };
        counts_view = matches!(pointee, Some(Pointee::View { .. }));
        passed.arguments.push(argument);
    }
    Some(passed)
}

/// The bytes of so many elements; integers are mostly below `most`, as indices are.
fn elements(elem: Elem, length: usize, most: usize, seed: u64) -> Vec<u8> {
    let bytes = elem.bits() as usize / 8;
    let element = |at: usize| {
        let bits = random(seed ^ at as u64);
        let special = arguments(&[Ty::Uniform(elem)], Profile::Scalar, at + bits as usize % 64);
        match special.first().and_then(|value| value.get(0)) {
            _ if elem.is_int() && !bits.is_multiple_of(8) => (bits >> 8) % most.max(1) as u64,
            Some(special) if bits.is_multiple_of(4) => special,
            _ if elem == Elem::F32 => u64::from(((bits >> 40) as f32 / 65536.0 - 100.0).to_bits()),
            _ => bits,
        }
    };
    (0..length).flat_map(|at| element(at).to_le_bytes().into_iter().take(bytes)).collect()
}

/// What a caller reads afterwards: of each written stack its count, then each column's records; of each written view its
/// elements.
pub fn left(params: &[Parameter], profile: Profile, passed: &Passed) -> Vec<(Elem, Vec<u64>)> {
    let memory = &passed.memory;
    let read = |elem: Elem, base: u64, count: u64| {
        let bytes = elem.bits() as usize / 8;
        let element = |at: u64| memory.read(base + at * bytes as u64, bytes).unwrap_or(0);
        (elem, (0..count).map(element).collect::<Vec<u64>>())
    };
    let mut left = Vec::new();
    for (position, (_, pointee)) in params.iter().enumerate() {
        let argument = |at: usize| passed.arguments.get(at).and_then(|value| value.get(0)).unwrap_or(0);
        let base = argument(position);
        match pointee {
            Some(Pointee::View { elem, mutable: true }) => left.push(read(*elem, base, argument(position + 1))),
            Some(Pointee::Stack { columns, mutable: true, .. }) => {
                let count = memory.count(base).unwrap_or(0);
                left.push((Elem::I64, vec![count]));
                for (column, (_, elem)) in columns.iter().enumerate() {
                    let address = memory.column(profile, base, column as u32).unwrap_or(0);
                    // A count that no caller gave would be a fault of its own.
                    left.push(read(*elem, address, count.min(1 << 16)));
                }
            }
            _ => {}
        }
    }
    left
}

/// Whether two callers read the same, a NaN being as good as any other.
pub fn same(a: &[(Elem, Vec<u64>)], b: &[(Elem, Vec<u64>)]) -> bool {
    let equal = |elem: Elem, a: u64, b: u64| a == b || is_nan(elem, a) && is_nan(elem, b);
    a.len() == b.len()
        && a.iter().zip(b).all(|((elem, a), (other, b))| {
            elem == other && a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| equal(*elem, a, b))
        })
}

/// What a caller reads, for people.
pub fn show(left: &[(Elem, Vec<u64>)]) -> String {
    let list = |(elem, all): &(Elem, Vec<u64>)| Lanes::new(all.iter().copied()).show(Ty::Rack(*elem));
    left.iter().map(list).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Kind;

    const HALVE: &str = "rake tined 1\nprofile x86-sse2\nfuse full\n\nrun halve(s: address to mut stack P(x: f32)) {\n  \
         %0 : address = param 0\n  %1 : <i64> = count %0\n  %2 : address = column %0, 0\n  \
         traverse %3 up to %1 by 32 {\n    %4 : f32s = load f32 %2, %3\n    %5 : f32s = const 0.5\n    \
         %6 : f32s = mul %4, %5\n    %7 : f32s = store f32 %2, %3, %6\n  }\n}\n";

    #[test]
    fn every_length_of_a_stack_is_tried() {
        let ir = Ir::read(Kind::Tined, HALVE).unwrap_or_else(|problems| panic!("{problems:?}"));
        let params = ir.run_parameters("halve").unwrap();
        let mut counts = Vec::new();
        for round in 0..8 {
            let before = passed(&params, Profile::X86Sse2, round).unwrap();
            let mut after = before.clone();
            assert_eq!(ir.execute("halve", &mut after), Ok(()));
            let (before, after) = (left(&params, Profile::X86Sse2, &before), left(&params, Profile::X86Sse2, &after));
            counts.push(before[0].1[0]);
            let half = |bits: &u64| u64::from((f32::from_bits(*bits as u32) * 0.5).to_bits());
            let right = vec![before[0].clone(), (Elem::F32, before[1].1.iter().map(half).collect())];
            assert!(same(&after, &right), "{} is not {}", show(&after), show(&right));
        }
        assert_eq!(counts, [14, 0, 1, 4, 5, 19, 3, 8]);
    }
}
