//! Runs AArch64 code for real: a function's bytes and its arguments in, its results out.
//!
//! A [`Job`] is an [`Image`] (position-independent code with its literals) and a list of argument
//! records ([`Regs`]). A trampoline (`trampoline.s`) walks the list: it loads v0–v7, x0–x7, FPCR
//! and FPSR from the record, poisons what an AAPCS64 function may not rely on (x8–x18, v16–v31,
//! the high halves of v8–v15, the condition flags), calls the image, and stores v0, x0, FPSR and
//! whether d8–d15, x19–x29, the stack pointer and FPCR survived ([`Out`]).
//!
//! The trampoline and a small C program around it (`runner.c`) run in qemu's user mode, as a
//! Cortex-A53: an instruction beyond Armv8.0-A is illegal there. A fault, an illegal instruction
//! or an endless loop in the code under test is an error message that names job, record and the
//! place in the image, and not the end of the tests. The program is built once, with the cross
//! compiler, into the build directory.
//!
//! Starting costs up to a tenth of a second; then some 400 000 calls of a short function are made
//! in a second. [`run_many`] starts qemu once for all jobs. A call costs 400 bytes of memory while
//! it runs, an image a multiple of 4096.
//!
//! ```
//! use rake_testkit::aarch64::{Image, Regs, run};
//! // fadd v0.4s, v0.4s, v1.4s; ret
//! let code = [0x4e21_d400_u32, 0xd65f_03c0];
//! let add = Image { bytes: code.iter().flat_map(|word| word.to_le_bytes()).collect(), entry: 0 };
//! let mut regs = Regs::default();
//! regs.set_lanes(0, &[1.0, 2.0, 3.0, 4.0].map(f32::to_bits)).splat(1, 0.5_f32.to_bits());
//! let outs = run(&add, &[regs])?;
//! assert_eq!(outs[0].lanes(), [1.5, 2.5, 3.5, 4.5].map(f32::to_bits));
//! assert!(outs[0].callee_saved_ok && outs[0].flags() == 0);
//! # Ok::<(), String>(())
//! ```

mod arena;
mod runner;
pub mod runs;

pub use crate::image::Image;

/// Seconds of processor time after which the code under test is taken for an endless loop.
const CPU_SECONDS: u64 = 120;

/// The sticky flags of FPSR (Arm Architecture Reference Manual, "FPSR, Floating-point Status
/// Register").
pub mod flag {
    /// Invalid operation.
    pub const IOC: u32 = 1;
    /// Division by zero.
    pub const DZC: u32 = 1 << 1;
    /// Overflow.
    pub const OFC: u32 = 1 << 2;
    /// Underflow.
    pub const UFC: u32 = 1 << 3;
    /// Inexact.
    pub const IXC: u32 = 1 << 4;
    /// A subnormal input that FPCR.FZ flushed to zero.
    pub const IDC: u32 = 1 << 7;
    /// The floating-point exceptions, which is all but QC.
    pub const EXCEPTIONS: u32 = 0x9f;
    /// A saturating integer operation saturated.
    pub const QC: u32 = 1 << 27;
}

/// The registers a call starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regs {
    /// v0–v7.
    pub v: [[u8; 16]; 8],
    /// x0–x7, all 64 bits of each: put garbage above what a parameter uses.
    pub x: [u64; 8],
    /// FPCR: 0 rounds to nearest even, flushes nothing and traps nothing.
    pub fpcr: u32,
    /// FPSR: the flags that stand already.
    pub fpsr: u32,
}

impl Regs {
    /// Sets the leading 32-bit lanes of vector register `index` (0–7) from at most 4 bit patterns.
    pub fn set_lanes(&mut self, index: usize, lanes: &[u32]) -> &mut Regs {
        for (bytes, lane) in self.v[index].chunks_exact_mut(4).zip(lanes) {
            bytes.copy_from_slice(&lane.to_le_bytes());
        }
        self
    }

    /// Sets all 4 lanes of vector register `index` (0–7) to one bit pattern.
    pub fn splat(&mut self, index: usize, lane: u32) -> &mut Regs {
        self.set_lanes(index, &[lane; 4])
    }
}

/// What a call left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// Vector register 0.
    pub v0: [u8; 16],
    /// `x0`, all 64 bits.
    pub x0: u64,
    /// FPSR, with the flags that stood before and those that the call raised.
    pub fpsr: u32,
    /// d8–d15 (the low halves of v8–v15), x19–x29, sp and FPCR hold what they held.
    pub callee_saved_ok: bool,
    /// The names of those that do not.
    pub clobbered: Vec<&'static str>,
}

impl Out {
    /// The 32-bit lanes of vector register 0.
    pub fn lanes(&self) -> [u32; 4] {
        std::array::from_fn(|lane| u32::from_le_bytes(std::array::from_fn(|byte| self.v0[4 * lane + byte])))
    }

    /// The exception flags of FPSR, as in [`flag`].
    pub fn flags(&self) -> u32 {
        self.fpsr & flag::EXCEPTIONS
    }
}

/// One function and the calls to make of it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The code.
    pub image: &'a Image,
    /// One call for each.
    pub regs: &'a [Regs],
}

/// Calls `image` once for each of `regs`. See [`run_many`].
pub fn run(image: &Image, regs: &[Regs]) -> Result<Vec<Out>, String> {
    let mut outs = run_many(&[Job { image, regs }])?;
    Ok(outs.pop().unwrap_or_default())
}

/// Runs all jobs; the results are in the order of the jobs and of their records.
///
/// # Errors
///
/// The code faulted, ran an illegal instruction or did not end (the message tells job, record and
/// place), an image's entry is outside of it, or qemu or the cross compiler is missing (the
/// message tells what to install).
pub fn run_many(jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    within(CPU_SECONDS, jobs)
}

fn within(seconds: u64, jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    runner::run(jobs, seconds).map_err(|fault| fault.describe(|job| job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_loop_is_ended() {
        let forever = Image { bytes: 0x1400_0000_u32.to_le_bytes().to_vec(), entry: 0 }; // b .
        let error = within(1, &[Job { image: &forever, regs: &[Regs::default()] }]).unwrap_err();
        let expected =
            "job 0, record 0: the code under test ended by using 1 s of processor time, at its image's byte 0x0";
        assert_eq!(error, expected);
    }
}
