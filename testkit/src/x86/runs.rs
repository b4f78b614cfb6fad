//! Calls runs - functions that work on their caller's memory - on this CPU, with memory that tells on them.
//!
//! A [`Call`] has [`Object`]s and arguments. An object is a descriptor, a column or a view; it ends at a page that nobody
//! can touch, begins right after one, or stands at any offset among bytes that are looked at afterwards. One that may
//! not be written is mapped to be read only. Afterwards [`Out`] tells how the call ended - it returned, it trapped, it
//! faulted at which byte of which object - what it left in memory, the exception flags, and what of the calling
//! convention it broke.
//!
//! All calls are made in one forked child that survives its faults: some hundred thousand a second.
//!
//! ```
//! use rake_testkit::x86::runs::{Argument, Call, End, Job, Object, Place, run};
//! use rake_testkit::x86::{Image, Isa};
//! // movups xmm0, [rdi]; addps xmm0, xmm0; movups [rdi], xmm0; ret
//! let bytes = vec![0x0f, 0x10, 0x07, 0x0f, 0x58, 0xc0, 0x0f, 0x11, 0x07, 0xc3];
//! let twice = Image { bytes, entry: 0 };
//! let column = |floats: &[f32]| Object::new(floats.iter().flat_map(|x| x.to_le_bytes()).collect(), Place::BeforeGuard);
//! let call = |floats: &[f32]| Call { objects: vec![column(floats)], arguments: vec![Argument::Object(0)] };
//! let calls = [call(&[1.0, 2.0, 3.0, 4.0]), call(&[1.0, 2.0, 3.0])];
//! let outs = run(&[Job { isa: Isa::Sse2, image: &twice, calls: &calls }])?.remove(0);
//! assert_eq!(outs[0].end, End::Returned);
//! assert_eq!(outs[0].objects[0][12..], 8.0f32.to_le_bytes());
//! // Three floats are no whole rack: the access meets the guard, whose first byte is the object's byte 12.
//! assert!(matches!(outs[1].end, End::Fault { object: Some((0, 12)), .. }), "{:?}", outs[1].end);
//! # Ok::<(), String>(())
//! ```

mod child;
mod places;

use self::child::{Note, Shared};
use self::places::Ground;
use super::arena::{DIRECTION_FLAG, SENTINELS};
use super::native::{describe, in_child};
use super::{Image, Isa, MXCSR_DEFAULT, cpu_has, flag};
use crate::image;
use crate::memory::{Fault, Memory, os_error};
pub use crate::runs::{Argument, Call, End, Object, Out, Place};

/// A run and the calls to make of it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its instruction set.
    pub isa: Isa,
    /// Its code.
    pub image: &'a Image,
    /// One call for each.
    pub calls: &'a [Call],
}

/// A call as the child makes it.
struct Prepared {
    isa: Isa,
    entry: u64,
    words: [u64; 6],
    vectors: [[u8; 64]; 8],
    stack: Vec<u64>,
    mxcsr: u32,
    /// Each object's start in its slot, and its bytes.
    objects: Vec<(usize, Vec<u8>)>,
    /// Where its note and its objects go.
    out: usize,
}

/// Seconds of processor time for all calls together.
const CPU_SECONDS: u64 = 60;
const STACK_BYTES: usize = 1 << 18;
const UD2: [u8; 2] = [0x0f, 0x0b];
/// What stands around objects: arithmetic on it raises a flag.
const CANARY: [u8; 4] = 0x7fa0_1234_u32.to_le_bytes();

/// Makes all calls; the results are in the order of the jobs and of their calls.
///
/// # Errors
///
/// This CPU lacks an instruction set, an entry is outside of its image, or a call did not end.
pub fn run(jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    let place = |call: usize| {
        let mut left = call;
        let within = |(_, job): &(usize, &Job)| {
            let found = left < job.calls.len();
            left -= if found { 0 } else { job.calls.len() };
            found
        };
        let job = jobs.iter().enumerate().find(within).map_or(jobs.len(), |(number, _)| number);
        format!("job {job}, call {left}")
    };
    run_all(jobs).map_err(|fault| match fault.at {
        Some((call, _)) => format!("{}: {}", place(call), fault.message),
        None => fault.message,
    })
}

fn run_all(jobs: &[Job]) -> Result<Vec<Vec<Out>>, Fault> {
    if let Some(job) = jobs.iter().find(|job| !cpu_has(job.isa)) {
        return Err(Fault::machinery(format!("this CPU cannot execute {:?} code", job.isa)));
    }
    let calls = || jobs.iter().flat_map(|job| job.calls);
    let ground = Ground::new(jobs.iter().flat_map(|job| job.calls).map(|call| call.objects.as_slice()))?;
    let (code, entries) = place_code(jobs)?;
    let (prepared, bytes) = prepare(jobs, &entries, &ground);
    let mut results = Memory::new(bytes, false)?;
    let stack = Memory::new(STACK_BYTES, false)?;
    let canary = CANARY.repeat(ground.slots.data / CANARY.len());
    let shared =
        Shared { ground: &ground, canary: &canary, results: &results, stack: &stack, stack_bytes: STACK_BYTES };
    let status = in_child(CPU_SECONDS, || child::work(&prepared, &shared))?;
    if status != 0 {
        let call = results.get(0) as usize;
        let message = format!("the code under test ended by {}", describe(status));
        return Err(Fault { at: Some((call, 0)), message });
    }
    let mut outs = calls().zip(&prepared).map(|(call, ready)| read(call, ready, &mut results, &ground, &code));
    Ok(jobs.iter().map(|job| outs.by_ref().take(job.calls.len()).collect()).collect())
}

/// The code of all jobs, and the address of each entry.
fn place_code(jobs: &[Job]) -> Result<(Code, Vec<u64>), Fault> {
    let mut bytes = Vec::new();
    let places = image::place(&mut bytes, jobs.iter().map(|job| job.image), 64, 0xcc)?;
    let mut memory = Memory::new(bytes.len(), false)?;
    memory.bytes().copy_from_slice(&bytes);
    let base = memory.address(0);
    // SAFETY: the whole mapping, which is not written any more.
    if unsafe { libc::mprotect(base.cast(), bytes.len(), libc::PROT_READ | libc::PROT_EXEC) } != 0 {
        return Err(os_error("making memory executable"));
    }
    let entries = places.iter().zip(jobs).map(|(&place, job)| base as u64 + (place + job.image.entry) as u64);
    let entries = entries.collect();
    Ok((Code { base: base as u64, bytes, places, _memory: memory }, entries))
}

/// Code in memory.
struct Code {
    base: u64,
    bytes: Vec<u8>,
    /// Offset of each image.
    places: Vec<usize>,
    _memory: Memory,
}

impl Code {
    /// The offset of an instruction in its image, and whether it is `ud2`.
    fn find(&self, rip: u64) -> Option<(usize, bool)> {
        let at = usize::try_from(rip.checked_sub(self.base)?).ok().filter(|&at| at < self.bytes.len())?;
        let place = self.places.iter().rev().find(|&&place| place <= at)?;
        Some((at - place, self.bytes[at..].starts_with(&UD2)))
    }
}

/// The calls with addresses, and how many bytes their results take.
fn prepare(jobs: &[Job], entries: &[u64], ground: &Ground) -> (Vec<Prepared>, usize) {
    let mut out = size_of::<u64>();
    let mut all = Vec::new();
    for (job, &entry) in jobs.iter().zip(entries) {
        for call in job.calls {
            let address = |object: usize| ground.address(object, &call.objects[object]);
            let bytes = |object: &Object| {
                let mut bytes = object.bytes.clone();
                for &(at, to) in &object.pointers {
                    bytes[at..][..8].copy_from_slice(&address(to).to_le_bytes());
                }
                (ground.slots.start(object), bytes)
            };
            let mut ready = Prepared {
                isa: job.isa,
                entry,
                words: [0xdead_beef_dead_beef; 6],
                vectors: [std::array::from_fn(|at| CANARY[at % 4]); 8],
                stack: Vec::new(),
                mxcsr: MXCSR_DEFAULT,
                objects: call.objects.iter().map(bytes).collect(),
                out,
            };
            pass(&mut ready, &call.arguments, &address);
            let held: usize = call.objects.iter().map(|object| object.bytes.len()).sum();
            out = (out + size_of::<Note>() + held).next_multiple_of(8);
            all.push(ready);
        }
    }
    (all, out)
}

/// Puts arguments where System V wants them.
fn pass(ready: &mut Prepared, arguments: &[Argument], address: &dyn Fn(usize) -> u64) {
    let (mut words, mut vectors) = (ready.words.iter_mut(), ready.vectors.iter_mut());
    for argument in arguments {
        let (bits, bytes) = match *argument {
            Argument::Object(number) => (address(number), 0),
            Argument::Word(bits) | Argument::Long(bits) => (bits, 0),
            Argument::F32(bits) => (u64::from(bits), 4),
            Argument::F64(bits) => (bits, 8),
        };
        match (bytes, if bytes == 0 { None } else { vectors.next() }) {
            (0, _) => match words.next() {
                Some(word) => *word = bits,
                None => ready.stack.push(bits),
            },
            (_, Some(vector)) => vector[..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]),
            (_, None) => ready.stack.push(bits),
        }
    }
}

fn read(call: &Call, ready: &Prepared, results: &mut Memory, ground: &Ground, code: &Code) -> Out {
    // SAFETY: the child wrote a note here, which is plain numbers.
    let note = unsafe { results.address(ready.out).cast::<Note>().read() };
    let mut at = ready.out + size_of::<Note>();
    let mut objects = Vec::with_capacity(call.objects.len());
    for object in &call.objects {
        // An empty object may stand at the results' end.
        objects.push(results.bytes()[at..at + object.bytes.len()].to_vec());
        at += object.bytes.len();
    }
    let end = end(&note, call, ground, code);
    let returned = end == End::Returned;
    let mxcsr = if returned { note.mxcsr as u32 } else { ready.mxcsr };
    let clobbered = if returned { clobbered(&note, ready.mxcsr) } else { Vec::new() };
    let [slot, place] = note.stray;
    let stray = (slot as usize).checked_sub(1);
    let stray = stray.map(|slot| (slot, place as i64 - ready.objects[slot].0 as i64));
    Out { end, mxcsr, clobbered, stray, objects }
}

fn end(note: &Note, call: &Call, ground: &Ground, code: &Code) -> End {
    let place = code.find(note.rip);
    match (note.signal as libc::c_int, place) {
        (0, _) => End::Returned,
        (libc::SIGILL, Some((at, true))) => End::Trap(at),
        (libc::SIGSEGV | libc::SIGBUS, Some((at, _))) => {
            let near = |(slot, distance): (usize, i64)| {
                let object = call.objects.get(slot)?;
                Some((slot, distance - ground.slots.start(object) as i64))
            };
            End::Fault { object: ground.find(note.address).and_then(near), address: note.address, at }
        }
        (signal, Some((at, _))) => End::Other(format!("{} at {at:#x} of the image", describe(signal))),
        (signal, None) => End::Other(format!("{} outside of its image, at {:#x}", describe(signal), note.rip)),
    }
}

fn clobbered(note: &Note, mxcsr: u32) -> Vec<&'static str> {
    let kept = note.kept.iter().zip(SENTINELS);
    let mut names: Vec<_> = kept.filter(|(is, (_, was))| **is != *was).map(|(_, (name, _))| name).collect();
    names.extend((note.rsp != 0).then_some("rsp"));
    names.extend((note.flags & DIRECTION_FLAG != 0).then_some("DF"));
    names.extend(((note.mxcsr as u32 ^ mxcsr) & !flag::ALL != 0).then_some("MXCSR"));
    names.extend((note.dirty != 0).then_some("upper halves of vector registers"));
    names
}
