//! The memory a run happens in, the same for both engines: state, code, jobs, records.
//!
//! ```text
//! 0        state of the trampoline, header for the emulator's driver, stack     read, write
//! CODE     trampolines, images                                                  read, execute
//! data     job table, argument records, results                                 read, write
//! ```
//!
//! The three parts begin at multiples of 2 MiB, the page size of the emulated machine. Inside,
//! everything is addressed by offset from the arena's start, so that it runs anywhere.

use super::{Fault, Isa, Job, Out};
use crate::image;
use crate::memory::{Memory, os_error};

/// Offset of the code; `trampoline.s` knows it.
pub const CODE: usize = BIG_PAGE;
/// Bytes of an argument record: eight vectors, six general registers, MXCSR.
const IN_STRIDE: usize = 576;
/// Bytes of a result: a vector, rax, MXCSR (8), six callee-saved registers, rsp, flags.
const OUT_STRIDE: usize = 192;
/// Bytes of a job: offsets of entry, records and results, count, ISA as a number.
const JOB_STRIDE: usize = 64;
/// Offset of the number of records left in the current job.
const STATE_LEFT: usize = 0x10;
/// Offset of the number of the current job, which the engine keeps.
const STATE_JOB: usize = 0x40;
/// Offset of the header that `emu/driver.py` reads.
const HEADER: usize = 1024;
/// The stack of the emulated machine ends here.
const STACK_TOP: usize = BIG_PAGE - 4096;
const BIG_PAGE: usize = 2 << 20;
const INT3: u8 = 0xcc;
/// Of RFLAGS.
pub const DIRECTION_FLAG: u64 = 1 << 10;

/// What the trampoline puts in the callee-saved registers.
pub const SENTINELS: [(&str, u64); 6] = [
    ("rbx", 0xb0b0_b0b0_b0b0_b0b0),
    ("rbp", 0xb5b5_b5b5_b5b5_b5b5),
    ("r12", 0x1212_1212_1212_1212),
    ("r13", 0x1313_1313_1313_1313),
    ("r14", 0x1414_1414_1414_1414),
    ("r15", 0x1515_1515_1515_1515),
];

#[cfg(target_arch = "x86_64")]
mod blob {
    std::arch::global_asm!(include_str!("trampoline.s"));
    unsafe extern "C" {
        static rake_testkit_trampolines: u8;
        static rake_testkit_offsets: [u64; 5];
    }
    /// The trampolines' bytes; offsets of the three trampolines and of the halt.
    pub fn get() -> Option<(&'static [u8], [usize; 4])> {
        // SAFETY: both are constants in trampoline.s; the fifth offset is the blob's size.
        unsafe {
            let [sse2, avx2, avx512, halt, size] = rake_testkit_offsets.map(|o| o as usize);
            let bytes = std::slice::from_raw_parts(&raw const rake_testkit_trampolines, size);
            Some((bytes, [sse2, avx2, avx512, halt]))
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod blob {
    pub fn get() -> Option<(&'static [u8], [usize; 4])> {
        None
    }
}

/// Shared, mapped memory with all of a run in it.
pub struct Arena {
    /// With a file for the emulator's process.
    pub memory: Memory,
    jobs_at: usize,
    first_out: usize,
    counts: Vec<usize>,
    widths: Vec<usize>,
    trampolines: [usize; 4],
}

impl Arena {
    /// Lays out and fills the memory for `jobs`; backed by an (unnamed) file if `shared_file`.
    pub fn new(jobs: &[Job], shared_file: bool) -> Result<Arena, Fault> {
        let (blob, trampolines) = blob::get().ok_or_else(|| {
            Fault::machinery("x86 code is run on x86-64 machines only, which assemble its trampoline")
        })?;
        let mut code = blob.to_vec();
        let places = image::place(&mut code, jobs.iter().map(|job| job.image), 64, INT3)?;
        let jobs_at = CODE + code.len().next_multiple_of(BIG_PAGE);
        let counts: Vec<usize> = jobs.iter().map(|job| job.regs.len()).collect();
        let records: usize = counts.iter().sum();
        let first_in = jobs_at + jobs.len() * JOB_STRIDE;
        let first_out = first_in + records * IN_STRIDE;
        let len = (first_out + records * OUT_STRIDE).next_multiple_of(BIG_PAGE);

        let memory = Memory::new(len, shared_file)?;
        let widths = jobs.iter().map(|job| job.isa.width()).collect();
        let mut arena = Arena { memory, jobs_at, first_out, counts, widths, trampolines };
        arena.memory.bytes()[CODE..][..code.len()].copy_from_slice(&code);
        arena.put_jobs(jobs, &places, first_in);
        let halt = CODE + trampolines[3];
        let places = [len, CODE, jobs_at, halt, STACK_TOP, jobs.len(), JOB_STRIDE, STATE_JOB];
        arena.memory.put(HEADER, &places.map(|place| place as u64));
        let starts = [0, 1, 2].map(|isa| (CODE + trampolines[isa]) as u64);
        arena.memory.put(HEADER + 64, &starts);
        Ok(arena)
    }

    /// Fills the job table and the argument records.
    fn put_jobs(&mut self, jobs: &[Job], places: &[usize], first_in: usize) {
        let (mut next_in, mut next_out) = (first_in, self.first_out);
        for (number, (job, &place)) in jobs.iter().zip(places).enumerate() {
            let entry = CODE + place + job.image.entry;
            let fields = [entry, next_in, next_out, job.regs.len(), job.isa as usize];
            self.memory.put(self.jobs_at + number * JOB_STRIDE, &fields.map(|field| field as u64));
            for regs in job.regs {
                let vecs = regs.vec.as_flattened();
                self.memory.bytes()[next_in..][..vecs.len()].copy_from_slice(vecs);
                self.memory.put(next_in + 512, &regs.gpr);
                self.memory.put(next_in + 560, &[u64::from(regs.mxcsr)]);
                next_in += IN_STRIDE;
            }
            next_out += job.regs.len() * OUT_STRIDE;
        }
    }

    /// Makes the code executable and no longer writable in this process.
    pub fn protect(&self) -> Result<(), Fault> {
        // SAFETY: the range is inside the mapping and starts at a page.
        let code = unsafe {
            let access = libc::PROT_READ | libc::PROT_EXEC;
            libc::mprotect(self.memory.address(CODE).cast(), self.jobs_at - CODE, access)
        };
        if code == 0 { Ok(()) } else { Err(os_error("making memory executable")) }
    }

    /// Address of the trampoline for job `number`'s ISA, and of the job.
    pub fn call(&self, number: usize, isa: Isa) -> (*const u8, *const u8) {
        let job = self.jobs_at + number * JOB_STRIDE;
        (self.memory.address(CODE + self.trampolines[isa as usize]), self.memory.address(job))
    }

    /// Notes that job `number` starts. Allocates nothing, so that a forked child may call it.
    pub fn begin(&self, number: usize) {
        // SAFETY: inside the mapping and aligned.
        unsafe { self.memory.address(STATE_JOB).cast::<u64>().write_volatile(number as u64) }
    }

    /// The job and record that were under way when a run broke off.
    pub fn progress(&mut self) -> (usize, usize) {
        let job = self.memory.get(STATE_JOB) as usize;
        let left = self.memory.get(STATE_LEFT) as usize;
        (job, self.counts.get(job).map_or(0, |count| count.saturating_sub(left)))
    }

    /// The results of a finished run.
    pub fn results(&mut self) -> Vec<Vec<Out>> {
        let (counts, widths) = (self.counts.clone(), self.widths.clone());
        let mut at = self.first_out;
        let mut results = Vec::with_capacity(counts.len());
        for (count, width) in counts.into_iter().zip(widths) {
            let outs = (0..count).map(|i| self.result(at + i * OUT_STRIDE, width));
            results.push(outs.collect());
            at += count * OUT_STRIDE;
        }
        results
    }

    fn result(&mut self, at: usize, width: usize) -> Out {
        let mut vec0 = [0; 64];
        vec0[..width].copy_from_slice(&self.memory.bytes()[at..][..width]);
        let mut clobbered = Vec::new();
        for (i, (name, value)) in SENTINELS.into_iter().enumerate() {
            if self.memory.get(at + 80 + 8 * i) != value {
                clobbered.push(name);
            }
        }
        if self.memory.get(at + 128) != 0 {
            clobbered.push("rsp");
        }
        if self.memory.get(at + 136) & DIRECTION_FLAG != 0 {
            clobbered.push("DF");
        }
        let (rax, mxcsr) = (self.memory.get(at + 64), self.memory.get(at + 72) as u32);
        Out { vec0, rax, mxcsr, callee_saved_ok: clobbered.is_empty(), clobbered }
    }
}
