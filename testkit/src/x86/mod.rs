//! Runs x86-64 code for real: a function's bytes and its arguments in, its results out.
//!
//! A [`Job`] is an [`Isa`], an [`Image`] (position-independent code with its literals) and a list
//! of argument records ([`Regs`]). A trampoline (`trampoline.s`) walks the list: it loads every
//! argument register and MXCSR from the record, poisons what a System V function may not rely
//! on, calls the image, and stores register 0, `rax`, MXCSR and whether the callee-saved
//! registers, the stack pointer and the direction flag survived ([`Out`]).
//!
//! Two engines run the very same trampoline over the very same memory layout:
//!
//! * [`Engine::Native`]: this CPU, in a forked child, so that a fault, an illegal instruction or
//!   an endless loop in the code under test is an error message and not the end of the tests;
//! * [`Engine::Emulator`]: Bochs' CPU model (the Python package `bochscpu-python`), an
//!   implementation of the architecture that shares nothing with ours. It enables only the
//!   register state of the job's ISA, so an AVX instruction in SSE2 code faults there.
//!
//! [`Engine::Auto`], which [`run`] and [`run_many`] use, takes the CPU for what it has and the
//! emulator for the rest. Starting the emulator costs about a third of a second; then it makes
//! some 150 000 calls of a short function a second (6 million zmm instructions, 20 million scalar
//! ones). So give it many jobs at a time: [`run_many`] starts it at most once. A call costs 768
//! bytes of memory while it runs.
//!
//! ```
//! use rake_testkit::x86::{Image, Isa, Regs, run};
//! // addps xmm0, xmm1; ret
//! let add = Image { bytes: vec![0x0f, 0x58, 0xc1, 0xc3], entry: 0 };
//! let mut regs = Regs::default();
//! regs.set_lanes(0, &[1.0, 2.0, 3.0, 4.0].map(f32::to_bits)).splat(1, 0.5_f32.to_bits());
//! let outs = run(Isa::Sse2, &add, &[regs])?;
//! assert_eq!(outs[0].lanes(4), [1.5, 2.5, 3.5, 4.5].map(f32::to_bits));
//! assert!(outs[0].callee_saved_ok && outs[0].flags() == 0);
//! # Ok::<(), String>(())
//! ```
//!
//! `tests/cross.rs` holds the two engines against each other, bit for bit. One difference is
//! known: Bochs does not raise DE ([`flag::DE`]) for a fused multiply-add of zero and a subnormal
//! number, while AMD's Zen 3 does. The approximations (`rcpps`, `rsqrtps`, `vrcp14ps`) are not
//! compared; they differ between makes of CPU too.
//!
//! [`runs`] calls functions that work on their caller's memory.
//!
//! This needs Linux on x86-64. Setting `RAKE_TEST_ENGINE=emulator` makes `Auto` use the emulator
//! for everything.

mod arena;
mod direct;
mod emulator;
mod native;
#[cfg(target_arch = "x86_64")]
pub mod runs;

use crate::memory::Fault;

pub use crate::image::Image;
pub use direct::Direct;
pub use emulator::{check_emulator, python, venv};
pub use native::cpu_has;

/// An instruction set: the widest vector registers the trampoline loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// SSE and SSE2 on `xmm` registers.
    Sse2,
    /// AVX, AVX2 and FMA on `ymm` registers.
    Avx2,
    /// AVX-512 F, BW, CD, DQ and VL on `zmm` registers and opmasks.
    Avx512,
}

impl Isa {
    /// Every ISA, narrowest first.
    pub const ALL: [Isa; 3] = [Isa::Sse2, Isa::Avx2, Isa::Avx512];

    /// Bytes in a vector register.
    pub fn width(self) -> usize {
        match self {
            Isa::Sse2 => 16,
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
        }
    }

    /// 32-bit lanes in a vector register.
    pub fn lanes(self) -> usize {
        self.width() / 4
    }
}

/// The default MXCSR: all exceptions masked, none raised, round to nearest even, no flushing.
pub const MXCSR_DEFAULT: u32 = 0x1f80;

/// The sticky exception flags of MXCSR.
pub mod flag {
    /// Invalid operation.
    pub const IE: u32 = 1;
    /// Denormal operand.
    pub const DE: u32 = 1 << 1;
    /// Division by zero.
    pub const ZE: u32 = 1 << 2;
    /// Overflow.
    pub const OE: u32 = 1 << 3;
    /// Underflow.
    pub const UE: u32 = 1 << 4;
    /// Inexact.
    pub const PE: u32 = 1 << 5;
    /// All six.
    pub const ALL: u32 = 0x3f;
}

/// The registers a call starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regs {
    /// Vector registers 0–7; an ISA narrower than 64 bytes loads the first [`Isa::width`] bytes.
    pub vec: [[u8; 64]; 8],
    /// `rdi rsi rdx rcx r8 r9`, all 64 bits of each: put garbage above what a parameter uses.
    pub gpr: [u64; 6],
    /// MXCSR, flags included.
    pub mxcsr: u32,
}

impl Default for Regs {
    fn default() -> Regs {
        Regs { vec: [[0; 64]; 8], gpr: [0; 6], mxcsr: MXCSR_DEFAULT }
    }
}

impl Regs {
    /// Sets the leading 32-bit lanes of vector register `index` (0–7) from at most 16 bit patterns.
    pub fn set_lanes(&mut self, index: usize, lanes: &[u32]) -> &mut Regs {
        for (bytes, lane) in self.vec[index].chunks_exact_mut(4).zip(lanes) {
            bytes.copy_from_slice(&lane.to_le_bytes());
        }
        self
    }

    /// Sets all 16 lanes of vector register `index` (0–7) to one bit pattern.
    pub fn splat(&mut self, index: usize, lane: u32) -> &mut Regs {
        self.set_lanes(index, &[lane; 16])
    }
}

/// What a call left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// Vector register 0: the first [`Isa::width`] bytes, zeros after them. A function that owes
    /// its caller a `vzeroupper` shows zeros from byte 16 on.
    pub vec0: [u8; 64],
    /// `rax`, all 64 bits.
    pub rax: u64,
    /// MXCSR, flags included.
    pub mxcsr: u32,
    /// `rbx rbp r12–r15 rsp` hold what they held and the direction flag is clear.
    pub callee_saved_ok: bool,
    /// The names of those that do not.
    pub clobbered: Vec<&'static str>,
}

impl Out {
    /// The first `count` (at most 16) 32-bit lanes of vector register 0.
    pub fn lanes(&self, count: usize) -> Vec<u32> {
        let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        self.vec0.chunks_exact(4).take(count).map(word).collect()
    }

    /// The exception flags of MXCSR, as in [`flag`].
    pub fn flags(&self) -> u32 {
        self.mxcsr & flag::ALL
    }
}

/// One function and the calls to make of it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The registers to load and store.
    pub isa: Isa,
    /// The code.
    pub image: &'a Image,
    /// One call for each.
    pub regs: &'a [Regs],
}

/// What executes the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The CPU where [`cpu_has`] the ISA, the emulator where not.
    Auto,
    /// This CPU.
    Native,
    /// Bochs.
    Emulator,
}

/// Calls `image` once for each of `regs`. See [`run_many`].
pub fn run(isa: Isa, image: &Image, regs: &[Regs]) -> Result<Vec<Out>, String> {
    let mut outs = run_many(&[Job { isa, image, regs }])?;
    Ok(outs.pop().unwrap_or_default())
}

/// Runs all jobs; the results are in the order of the jobs and of their records.
///
/// # Errors
///
/// The code faulted, ran an illegal instruction or did not end (the message tells job, record and
/// place), an image's entry is outside of it, or the emulator is needed and missing (the message
/// tells what to install).
pub fn run_many(jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    run_on(Engine::Auto, jobs)
}

/// As [`run_many`], on the engine asked for.
pub fn run_on(engine: Engine, jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    let forced = std::env::var_os("RAKE_TEST_ENGINE").is_some_and(|v| v == "emulator");
    let is_native = |job: &&Job| match engine {
        Engine::Auto => cpu_has(job.isa) && !forced,
        Engine::Native => true,
        Engine::Emulator => false,
    };
    // The engines number the jobs they are given; keep the caller's numbers for the messages.
    let numbered = || jobs.iter().enumerate();
    let here: Vec<_> = numbered().filter(|(_, job)| is_native(job)).collect();
    let there: Vec<_> = numbered().filter(|(_, job)| !is_native(job)).collect();
    let mut outs = vec![Vec::new(); jobs.len()];
    for (jobs, run) in [(here, native::run as fn(&[Job]) -> _), (there, emulator::run)] {
        if jobs.is_empty() {
            continue;
        }
        let (numbers, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
        let results =
            run(&jobs).map_err(|fault: Fault| fault.describe(|job| numbers.get(job).copied().unwrap_or(job)))?;
        for (number, result) in numbers.into_iter().zip(results) {
            outs[number] = result;
        }
    }
    Ok(outs)
}
