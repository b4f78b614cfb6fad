//! Unary operations over all 2^32 inputs: the machine's result against the evaluator's reference, and of the sequences
//! after Cephes also the distance from the mathematical result.
//!
//! `cargo xtask exhaustive exp log` or `cargo xtask exhaustive all` builds with the release profile and prints a table. The
//! code is of the widest profile that this CPU executes. Any NaN equals any NaN. An operation that the profile does not
//! compile is measured by its reference alone, and the table says so.
//!
//! The evaluator takes a call for each step of a sequence, too slow for all inputs: the same steps on plain numbers stand in
//! for it, and it is held against them in one block of 2^16 inputs in [`BLOCKS`].

use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::reference::{LaneFn, Reference};
use rake_ir::sequences::{self, Build, Float};
use rake_ir::types::{Elem, Ty};
use rake_ir::value::is_nan;
use rake_testkit::link_elf;
use rake_testkit::x86::{Direct, Isa, cpu_has};
use rakec::{Compiler, Emit, Files, Options};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// An operation on an element, and its steps and its mathematics where it is a sequence.
struct Row {
    op: Op,
    elem: Elem,
    sequence: Option<(Steps, Mathematics)>,
}

/// Carries a sequence out on many inputs.
type Steps = fn(&[u32], &mut [u32]);

/// The function that a sequence stands for.
type Mathematics = fn(f64) -> f64;

const fn row(op: Op, elem: Elem) -> Row {
    Row { op, elem, sequence: None }
}

const fn measured(op: Op, steps: Steps, exact: fn(f64) -> f64) -> Row {
    Row { op, elem: Elem::F32, sequence: Some((steps, exact)) }
}

/// Steps on plain numbers, whose NaNs have whatever bits.
struct Plain;

impl Build for Plain {
    /// The bits of one lane, 0 or 1 of a truth.
    type Value = (Elem, u32);

    #[inline(always)]
    fn constant(&self, elem: Elem, bits: u32) -> (Elem, u32) {
        (elem, bits)
    }

    #[inline(always)]
    fn step(&self, op: Op, imm: Imm, elem: Elem, args: &[(Elem, u32)]) -> (Elem, u32) {
        let bits = |n: usize| args[n].1;
        let (float, int) = (|n| f32::from_bits(bits(n)), |n| bits(n) as i32);
        let count = if let Imm::Int(count) = imm { count } else { 0 };
        let of_floats = args[0].0 == Elem::F32;
        let result = match op {
            Op::Add if of_floats => (float(0) + float(1)).to_bits(),
            Op::Sub if of_floats => (float(0) - float(1)).to_bits(),
            Op::Mul => (float(0) * float(1)).to_bits(),
            Op::Div => (float(0) / float(1)).to_bits(),
            Op::Lt if of_floats => u32::from(float(0) < float(1)),
            Op::Gt if of_floats => u32::from(float(0) > float(1)),
            Op::Eq if of_floats => u32::from(float(0) == float(1)),
            Op::Lt => u32::from(int(0) < int(1)),
            Op::Gt => u32::from(int(0) > int(1)),
            Op::Add => bits(0).wrapping_add(bits(1)),
            Op::Sub => bits(0).wrapping_sub(bits(1)),
            Op::Abs => bits(0) & 0x7fff_ffff,
            Op::BitAnd => bits(0) & bits(1),
            Op::BitOr => bits(0) | bits(1),
            Op::BitXor => bits(0) ^ bits(1),
            Op::ShiftBitsLeft => bits(0) << count,
            Op::ShiftBitsRightSigned => (int(0) >> count) as u32,
            Op::ToF32 => (int(0) as f32).to_bits(),
            Op::Select if bits(0) == 1 => bits(1),
            Op::Select => bits(2),
            Op::Bitcast => bits(0),
            _ => unreachable!("no sequence has this step"),
        };
        (elem, result)
    }
}

macro_rules! steps {
    ($name:ident) => {
        |input, output| {
            for (x, y) in input.iter().zip(output) {
                *y = sequences::$name(Float::new(&Plain, (Elem::F32, *x))).value().1;
            }
        }
    };
}

const ROWS: &[Row] = &[
    row(Op::Neg, Elem::F32),
    row(Op::Neg, Elem::I32),
    row(Op::Sqrt, Elem::F32),
    row(Op::Abs, Elem::F32),
    row(Op::Abs, Elem::I32),
    row(Op::Floor, Elem::F32),
    row(Op::Ceil, Elem::F32),
    row(Op::Trunc, Elem::F32),
    row(Op::Nearest, Elem::F32),
    // A 64-bit function is off by less than 2^-52 of the result, a billionth of what is measured.
    measured(Op::Exp, steps!(exp), f64::exp),
    measured(Op::Log, steps!(log), f64::ln),
    measured(Op::Log2, steps!(log2), f64::log2),
    measured(Op::Tanh, steps!(tanh), f64::tanh),
    row(Op::ToF32, Elem::I32),
    row(Op::ToF32, Elem::U32),
    row(Op::ToI32, Elem::F32),
    row(Op::ToU32, Elem::F32),
];

/// Inputs that a thread takes at once.
const CHUNK: u64 = 1 << 16;
const INPUTS: u64 = 1 << 32;
/// The evaluator carries out a sequence in one block of so many: a prime, so that every part of a binade occurs.
const BLOCKS: u64 = 1021;

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// What a run, or a part of it, found.
#[derive(Clone, Default)]
struct Found {
    different: u64,
    /// An input with its results on the machine and by the reference.
    example: Option<(u32, u32, u32)>,
    /// The largest error in units of the last place, and its input.
    worst: (f64, u32),
    sum: f64,
    finite: u64,
}

impl Found {
    fn join(&mut self, other: Found) {
        self.different += other.different;
        self.example = self.example.or(other.example);
        // Of equal errors the least input, so that the table does not depend on the threads.
        let order = |w: (f64, u32)| (w.0, std::cmp::Reverse(w.1));
        if order(other.worst) > order(self.worst) {
            self.worst = other.worst;
        }
        self.sum += other.sum;
        self.finite += other.finite;
    }
}

/// The distance of `found` from `exact` in units of the last place of an `f32` of that size.
fn error(found: f32, exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i64 - 1023).max(-126);
    let unit = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
    (f64::from(found) - exact).abs() / unit
}

fn widest() -> (Profile, Isa) {
    let all = [(Profile::X86Avx512, Isa::Avx512), (Profile::X86Avx2, Isa::Avx2)];
    all.into_iter().find(|&(_, isa)| cpu_has(isa)).unwrap_or((Profile::X86Sse2, Isa::Sse2))
}

/// The operation as machine code.
fn machine(row: &Row, profile: Profile, isa: Isa) -> Result<Direct, String> {
    let info = row.op.info();
    let result = row.op.infer(&[Ty::Rack(row.elem)], None)?;
    let body = if row.op == Op::Neg { "-x".to_string() } else { format!("{}(x)", info.spelling) };
    let text = format!("scratch f(x: {}s) -> {result}:\n  {body}\n", row.elem);
    let emit = Emit { object: true, verify: true, ..Emit::default() };
    let compiler = Compiler::new(Options { emit, ..Options::new(profile) }, &NoFiles)?;
    let outputs = compiler.compile_bytes(Path::new("f.rk"), text.into_bytes());
    let first = outputs.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.clone());
    let object = match (first, outputs.object) {
        (Some(message), _) => return Err(message),
        (None, object) => object.ok_or("no object")?,
    };
    let image = link_elf(&object)?.image("f").ok_or("the object has no `f`")?;
    // SAFETY: a verified function of one rack.
    unsafe { Direct::new(isa, &image) }
}

/// The inputs from `start` on.
fn chunk(
    row: &Row,
    reference: LaneFn,
    code: Option<&Direct>,
    start: u64,
    input: &mut [u32],
    output: &mut [u32],
) -> Found {
    let mut found = Found::default();
    let result = row.op.infer(&[Ty::Rack(row.elem)], None).map_or(row.elem, |ty| ty.elem());
    input.iter_mut().enumerate().for_each(|(at, slot)| *slot = start as u32 + at as u32);
    if let Some(code) = code {
        code.apply(input, output);
    }
    let evaluate = |x: u32| reference(row.elem, &Imm::None, &[x.into()]) as u32;
    let same = |a: u32, b: u32| a == b || is_nan(result, a.into()) && is_nan(result, b.into());
    let by_steps = row.sequence.map(|(steps, _)| {
        let mut all = vec![0; input.len()];
        steps(input, &mut all);
        all
    });
    let by_evaluator = (start / CHUNK).is_multiple_of(BLOCKS);
    for (at, (&x, &machine)) in input.iter().zip(&*output).enumerate() {
        let expected = by_steps.as_ref().map_or_else(|| evaluate(x), |all| all[at]);
        let evaluated = if by_evaluator && by_steps.is_some() { evaluate(x) } else { expected };
        if !same(evaluated, expected) || code.is_some() && !same(machine, expected) {
            found.different += 1;
            found.example = found.example.or(Some((x, machine, evaluated)));
        }
        let Some((_, exact)) = row.sequence else { continue };
        let (value, exact) = (f32::from_bits(expected), exact(f64::from(f32::from_bits(x))));
        // Zeros, and what underflows to them, have the sign that mathematics has.
        if value.is_sign_negative() != exact.is_sign_negative() && !value.is_nan() {
            found.worst = (f64::INFINITY, x);
        }
        if !value.is_finite() || !(exact as f32).is_finite() {
            // Overflow, poles and NaNs must be where mathematics has them.
            if value.to_bits() != (exact as f32).to_bits() && !(value.is_nan() && exact.is_nan()) {
                found.worst = (f64::INFINITY, x);
            }
            continue;
        }
        let error = error(value, exact);
        found.sum += error;
        found.finite += 1;
        if error > found.worst.0 {
            found.worst = (error, x);
        }
    }
    found
}

fn run(row: &Row, code: Option<&Direct>) -> Option<Found> {
    let Reference::Lane(reference) = row.op.info().reference else { return None };
    let (next, all) = (AtomicU64::new(0), Mutex::new(Found::default()));
    let name = row.op.name();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                let (mut input, mut output) = (vec![0; CHUNK as usize], vec![0; CHUNK as usize]);
                let mut mine = Found::default();
                loop {
                    let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                    if start >= INPUTS {
                        break;
                    }
                    if start % (INPUTS / 16) == 0 {
                        eprintln!("{name} {}: {} %", row.elem, start * 100 / INPUTS);
                    }
                    mine.join(chunk(row, reference, code, start, &mut input, &mut output));
                }
                if let Ok(mut all) = all.lock() {
                    all.join(mine);
                }
            });
        }
    });
    all.into_inner().ok()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let wanted = |row: &&Row| words.iter().any(|word| word == "all" || word == row.op.name());
    let known = |word: &String| word == "all" || ROWS.iter().any(|row| row.op.name() == word);
    if words.is_empty() || !words.iter().all(known) {
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.op.name()).collect();
        names.dedup();
        println!("usage: cargo xtask exhaustive OPERATION... | all\noperations: {}", names.join(" "));
        // `cargo bench` without a name runs every benchmark; this one has nothing to do then.
        return if words.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let (profile, isa) = widest();
    println!("| operation | on | differ of 2^32 | largest error, ulp | at | mean error, ulp | seconds |");
    println!("| --- | --- | ---: | ---: | --- | ---: | ---: |");
    let mut passed = true;
    for row in ROWS.iter().filter(wanted) {
        let start = Instant::now();
        let code = machine(row, profile, isa);
        let Some(found) = run(row, code.as_ref().ok()) else { continue };
        let errors = match row.sequence {
            Some(_) => {
                let (worst, at) = found.worst;
                let mean = found.sum / found.finite as f64;
                format!("{worst:.3} | {:e} ({at:#010x}) | {mean:.3}", f32::from_bits(at))
            }
            None => " | | ".into(),
        };
        let (on, differ) = match &code {
            Ok(_) => (profile.name(), found.different.to_string()),
            Err(_) => ("the reference", String::new()),
        };
        let (name, elem, seconds) = (row.op.name(), row.elem, start.elapsed().as_secs());
        println!("| `{name}` of {elem} | {on} | {differ} | {errors} | {seconds} |");
        if let Err(why) = &code {
            eprintln!("{name} of {elem} is not compiled for {profile}: {why}");
        }
        if let Some((x, machine, expected)) = found.example {
            eprintln!("{name} of {elem} {x:#010x}: {machine:#010x} on the machine, {expected:#010x} by the reference");
        }
        passed &= found.different == 0 && found.worst.0.is_finite();
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
