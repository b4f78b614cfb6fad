//! The memory a run happens in, shared with the process in qemu: state, code, jobs, records.
//!
//! ```text
//! 0        the state that runner.c describes
//! CODE     images                                   read, execute
//! data     job table, argument records, results     read, write
//!
//! record   v0–v7, x0–x7 at 128, FPCR at 192, FPSR at 196
//! result   v0, x0 at 16, FPSR at 24, FPCR at 28, d8–d15 at 32, x19–x29 at 96, change of sp at 184
//! ```
//!
//! The three parts begin at pages. Inside, everything is addressed by offset from the start.

use super::{Job, Out};
use crate::image;
use crate::memory::{Fault, Memory};

const PAGE: usize = 4096;
const CODE: usize = PAGE;
/// Bytes of an argument record; `trampoline.s` knows both strides.
const IN_STRIDE: usize = 208;
/// Bytes of a result.
const OUT_STRIDE: usize = 192;
/// Bytes of a job: offsets of entry, records and results, count.
const JOB_STRIDE: usize = 32;
/// Offset in the state of its seventh word, the size: what goes into a run stands from there on.
const STATE_SIZE: usize = 48;
/// Offset in the state of what ended a run: signal, place, address.
const STATE_SIGNAL: usize = 96;
/// A word of zeros is `udf #0`, which is never an instruction.
const UDF: u8 = 0;

/// What the trampoline puts in d8–d15: one byte eight times.
const D_SENTINELS: [(&str, u8); 8] = [
    ("d8", 0xd8),
    ("d9", 0xd9),
    ("d10", 0xda),
    ("d11", 0xdb),
    ("d12", 0xdc),
    ("d13", 0xdd),
    ("d14", 0xde),
    ("d15", 0xdf),
];

/// What it puts in x19–x29: the register's number eight times.
const X_SENTINELS: [(&str, u8); 11] = [
    ("x19", 19),
    ("x20", 20),
    ("x21", 21),
    ("x22", 22),
    ("x23", 23),
    ("x24", 24),
    ("x25", 25),
    ("x26", 26),
    ("x27", 27),
    ("x28", 28),
    ("x29", 29),
];

/// How a run that broke off ended.
pub struct End {
    /// Job and record under way.
    pub at: (usize, usize),
    /// The Linux signal, or 0 when none was noted.
    pub signal: u64,
    /// Offset in the job's image, when it was there.
    pub pc: Option<usize>,
    /// The address that the signal is about.
    pub address: u64,
}

/// Shared, mapped memory with all of a run in it.
pub struct Arena {
    /// With a file for qemu's process.
    pub memory: Memory,
    /// Offset and size of each job's image.
    images: Vec<(usize, usize)>,
    first_out: usize,
    counts: Vec<usize>,
    fpcrs: Vec<u32>,
}

impl Arena {
    /// Lays out and fills the memory for `jobs`, which may take so much processor time.
    pub fn new(jobs: &[Job], seconds: u64) -> Result<Arena, Fault> {
        let mut code = Vec::new();
        let places = image::place(&mut code, jobs.iter().map(|job| job.image), PAGE, UDF)?;
        let code_size = code.len().next_multiple_of(PAGE);
        let jobs_at = CODE + code_size;
        let counts: Vec<usize> = jobs.iter().map(|job| job.regs.len()).collect();
        let records: usize = counts.iter().sum();
        let first_in = (jobs_at + jobs.len() * JOB_STRIDE).next_multiple_of(64);
        let first_out = first_in + records * IN_STRIDE;
        let len = (first_out + records * OUT_STRIDE).next_multiple_of(PAGE);

        let memory = Memory::new(len, true)?;
        let images: Vec<_> =
            places.iter().zip(jobs).map(|(place, job)| (CODE + place, job.image.bytes.len())).collect();
        let fpcrs = jobs.iter().flat_map(|job| job.regs.iter().map(|regs| regs.fpcr)).collect();
        let mut arena = Arena { memory, images, first_out, counts, fpcrs };
        arena.memory.bytes()[CODE..][..code.len()].copy_from_slice(&code);
        let run = [len, CODE, code_size, jobs_at, jobs.len(), seconds as usize];
        arena.memory.put(STATE_SIZE, &run.map(|word| word as u64));
        arena.put_jobs(jobs, jobs_at, first_in);
        Ok(arena)
    }

    /// Fills the job table and the argument records.
    fn put_jobs(&mut self, jobs: &[Job], jobs_at: usize, first_in: usize) {
        let (mut next_in, mut next_out) = (first_in, self.first_out);
        for (number, job) in jobs.iter().enumerate() {
            let entry = self.images[number].0 + job.image.entry;
            let fields = [entry, next_in, next_out, job.regs.len()];
            self.memory.put(jobs_at + number * JOB_STRIDE, &fields.map(|field| field as u64));
            for regs in job.regs {
                let vecs = regs.v.as_flattened();
                self.memory.bytes()[next_in..][..vecs.len()].copy_from_slice(vecs);
                self.memory.put(next_in + 128, &regs.x);
                self.memory.put(next_in + 192, &[u64::from(regs.fpsr) << 32 | u64::from(regs.fpcr)]);
                next_in += IN_STRIDE;
            }
            next_out += job.regs.len() * OUT_STRIDE;
        }
    }

    /// How the run broke off.
    pub fn end(&mut self) -> End {
        let [job, left] = [0, 8].map(|at| self.memory.get(at) as usize);
        let [signal, pc, address] = [0, 8, 16].map(|at| self.memory.get(STATE_SIGNAL + at));
        let record = self.counts.get(job).map_or(0, |count| count.saturating_sub(left));
        let image = self.images.get(job).copied().unwrap_or_default();
        let pc = usize::try_from(pc).ok().and_then(|pc| pc.checked_sub(image.0)).filter(|&pc| pc <= image.1);
        End { at: (job, record), signal, pc, address }
    }

    /// The results of a finished run.
    pub fn results(&mut self) -> Vec<Vec<Out>> {
        let counts = self.counts.clone();
        let mut number = 0;
        let mut results = Vec::with_capacity(counts.len());
        for count in counts {
            results.push((number..number + count).map(|number| self.result(number)).collect());
            number += count;
        }
        results
    }

    fn result(&mut self, number: usize) -> Out {
        let out: [u8; OUT_STRIDE] = self.memory.array(self.first_out + number * OUT_STRIDE);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| out[at + i]));
        let mut clobbered = Vec::new();
        for (i, (name, byte)) in D_SENTINELS.into_iter().chain(X_SENTINELS).enumerate() {
            if word(32 + 8 * i) != u64::from_le_bytes([byte; 8]) {
                clobbered.push(name);
            }
        }
        if word(184) != 0 {
            clobbered.push("sp");
        }
        let (fpsr, fpcr) = (word(24) as u32, (word(24) >> 32) as u32);
        if fpcr != self.fpcrs[number] {
            clobbered.push("FPCR");
        }
        let v0 = std::array::from_fn(|i| out[i]);
        Out { v0, x0: word(16), fpsr, callee_saved_ok: clobbered.is_empty(), clobbered }
    }
}
