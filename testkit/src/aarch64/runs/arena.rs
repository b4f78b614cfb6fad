//! The memory that calls of runs happen in, shared with the process in qemu: `runs.c` says what its header is.
//!
//! ```text
//! 0        header
//! PAGE     images                                              read, execute
//! ground   slots between guards, what objects stand in
//! calls    each as words: entry, result, counts of objects and of arguments on the stack, x0-x7, v0-v7, those on the stack,
//!          objects
//! results  of each call a note, and the bytes of its objects
//!
//! argument  0 and a number, or 1 and the number of the object whose address it is
//! object    place in its slot, length, whether it may be written, count of pointers; of each its place and the object that it
//!           leads to; the bytes
//! ```

use super::Job;
use crate::image;
use crate::memory::{Fault, Memory};
use crate::runs::{Argument, Call, End, GUARD, Object, Out, Slots};
use crate::x86::flag;

const PAGE: usize = 4096;
/// A word of zeros is `udf #0`, which is never an instruction.
const UDF: u8 = 0;
/// `brk #1`.
const BRK: [u8; 4] = 0xd420_0020_u32.to_le_bytes();
/// What stands around objects: arithmetic on it raises a flag.
const CANARY: u32 = 0x7fa0_1234;
/// Words of a note.
const NOTE: usize = 9 + X_NAMES.len() + D_NAMES.len();
/// The number of the header's word for the call under way; the signal is the next.
const CALL_WORD: usize = 13;
/// As many as `runs.c` has room for.
const MOST: usize = 64;

const X_NAMES: [&str; 11] = ["x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29"];
const D_NAMES: [&str; 8] = ["d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15"];

/// Shared, mapped memory with all calls in it.
pub struct Arena {
    /// With a file for qemu's process.
    pub memory: Memory,
    slots: Slots,
    code: Vec<u8>,
    /// Offset of each image in the code.
    places: Vec<usize>,
    /// Offset of each call's result.
    results: Vec<usize>,
}

impl Arena {
    /// Lays out and fills the memory for all calls, which may take so much processor time.
    pub fn new(jobs: &[Job], seconds: u64) -> Result<Arena, Fault> {
        let calls = || jobs.iter().flat_map(|job| job.calls);
        let slots = Slots::of(calls().map(|call| call.objects.as_slice()));
        if calls().any(|call| call.objects.len().max(call.arguments.len()) > MOST) {
            return Err(Fault::machinery(format!("a call has more than {MOST} objects or arguments")));
        }
        let mut code = Vec::new();
        let places = image::place(&mut code, jobs.iter().map(|job| job.image), PAGE, UDF)?;
        let code_size = code.len().next_multiple_of(PAGE);
        let (mut words, mut results, mut end) = (Vec::new(), Vec::new(), 0);
        for (job, place) in jobs.iter().zip(&places) {
            for call in job.calls {
                put_call(&mut words, [PAGE + place + job.image.entry, end], call, &slots);
                results.push(end);
                end +=
                    8 * NOTE + call.objects.iter().map(|object| object.bytes.len()).sum::<usize>().next_multiple_of(8);
            }
        }
        let ground = PAGE + code_size;
        let calls_at = ground + slots.len();
        let results_at = calls_at + 8 * words.len();
        let len = (results_at + end).next_multiple_of(PAGE);
        let mut memory = Memory::new(len, true)?;
        let counts = [calls_at, results.len(), results_at, ground, slots.len(), slots.count, slots.data, GUARD];
        let header = [len, PAGE, code_size].into_iter().chain(counts).map(|word| word as u64);
        memory.put(0, &header.chain([CANARY.into(), seconds]).collect::<Vec<_>>());
        memory.bytes()[PAGE..][..code.len()].copy_from_slice(&code);
        memory.put(calls_at, &words);
        results.iter_mut().for_each(|result| *result += results_at);
        Ok(Arena { memory, slots, code, places, results })
    }

    /// The call under way when all ended, and the signal that ended it; 0 when none was noted.
    pub fn end(&mut self) -> (usize, u64) {
        (self.memory.get(8 * CALL_WORD) as usize, self.memory.get(8 * CALL_WORD + 8))
    }

    /// What all calls left.
    pub fn results(&mut self, jobs: &[Job]) -> Vec<Vec<Out>> {
        let mut number = 0;
        let mut outs = Vec::with_capacity(jobs.len());
        for (job, place) in jobs.iter().zip(self.places.clone()) {
            outs.push((number..).zip(job.calls).map(|(number, call)| self.result(number, call, place)).collect());
            number += job.calls.len();
        }
        outs
    }

    fn result(&mut self, number: usize, call: &Call, place: usize) -> Out {
        let start = self.results[number];
        let note: [u64; NOTE] = std::array::from_fn(|word| self.memory.get(start + 8 * word));
        let [signal, in_ground, address, pc, fpsr, fpcr, sp, slot, at, kept @ ..] = note;
        let mut next = start + 8 * NOTE;
        let mut objects = Vec::with_capacity(call.objects.len());
        for object in &call.objects {
            objects.push(self.memory.bytes()[next..][..object.bytes.len()].to_vec());
            next += object.bytes.len();
        }
        let begin = |slot: usize| call.objects.get(slot).map(|object| self.slots.start(object) as i64);
        let near = |(slot, distance): (usize, i64)| Some((slot, distance - begin(slot)?));
        let found = (in_ground == 1).then(|| self.slots.find(address as usize)).and_then(near);
        let inside = usize::try_from(pc).ok().filter(|&pc| pc < self.code.len());
        let end = match (signal as libc::c_int, inside) {
            (0, _) => End::Returned,
            (libc::SIGTRAP, Some(pc)) if self.code[pc..].starts_with(&BRK) => End::Trap(pc - place),
            (libc::SIGSEGV | libc::SIGBUS, Some(pc)) => End::Fault { object: found, address, at: pc - place },
            (signal, Some(pc)) => End::Other(format!("signal {signal} at {:#x} of the image", pc - place)),
            (signal, None) => End::Other(format!("signal {signal} outside of its image, at {pc:#x}")),
        };
        let returned = end == End::Returned;
        let clobbered = if returned { clobbered(&kept, sp, fpcr) } else { Vec::new() };
        let stray = (slot as usize).checked_sub(1).and_then(|slot| near((slot, at as i64)));
        Out { end, mxcsr: if returned { flags(fpsr) } else { 0 }, clobbered, stray, objects }
    }
}

/// A call's words; `offsets` are those of its entry and of its result.
fn put_call(words: &mut Vec<u64>, offsets: [usize; 2], call: &Call, slots: &Slots) {
    let (mut general, mut vectors, mut stack) = (Vec::new(), Vec::new(), Vec::new());
    for argument in &call.arguments {
        let (float, word) = match *argument {
            Argument::Object(number) => (false, [1, number as u64]),
            Argument::Word(bits) | Argument::Long(bits) => (false, [0, bits]),
            Argument::F32(bits) => (true, [0, bits.into()]),
            Argument::F64(bits) => (true, [0, bits]),
        };
        let registers = if float { &mut vectors } else { &mut general };
        if registers.len() < 8 { registers.push(word) } else { stack.push(word) }
    }
    general.resize(8, [0, 0xdead_beef_dead_beef]);
    words.extend(offsets.map(|offset| offset as u64));
    words.extend([call.objects.len() as u64, stack.len() as u64]);
    words.extend(general.iter().flatten());
    // Above a float stands what arithmetic on it tells of.
    let junk = u64::from(CANARY) << 32 | u64::from(CANARY);
    let given = vectors.iter().map(|&[_, bits]| [bits, junk]).chain(std::iter::repeat([junk, junk]));
    words.extend(given.take(8).flatten());
    words.extend(stack.iter().flatten());
    call.objects.iter().for_each(|object| put_object(words, object, slots));
}

fn put_object(words: &mut Vec<u64>, object: &Object, slots: &Slots) {
    let counts = [slots.start(object), object.bytes.len(), usize::from(object.writable), object.pointers.len()];
    words.extend(counts.map(|word| word as u64));
    words.extend(object.pointers.iter().flat_map(|&(at, to)| [at as u64, to as u64]));
    let bytes =
        object.bytes.chunks(8).map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    words.extend(bytes);
}

/// The flags of FPSR as MXCSR has them (DDI 0487, "FPSR"; SDM volume 1, figure 10-3).
fn flags(fpsr: u64) -> u32 {
    let pairs = [(0, flag::IE), (7, flag::DE), (1, flag::ZE), (2, flag::OE), (3, flag::UE), (4, flag::PE)];
    pairs.into_iter().filter(|(bit, _)| fpsr >> bit & 1 == 1).map(|(_, flag)| flag).sum()
}

fn clobbered(kept: &[u64], sp: u64, fpcr: u64) -> Vec<&'static str> {
    let was = |number: usize| match number.checked_sub(X_NAMES.len()) {
        None => 0x0101_0101_0101_0101 * (19 + number as u64),
        Some(number) => 0x0101_0101_0101_0101 * (0xd8 + number as u64),
    };
    let names = X_NAMES.iter().chain(&D_NAMES).copied().enumerate().zip(kept);
    let mut names: Vec<_> = names.filter(|&((number, _), &is)| is != was(number)).map(|((_, name), _)| name).collect();
    names.extend((sp != 0).then_some("sp"));
    names.extend((fpcr != 0).then_some("FPCR"));
    names
}
