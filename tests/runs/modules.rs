//! Calls of modules as if their memory were a caller's: objects stand apart in it, among bytes that are looked at afterwards.
//!
//! ```text
//! 0 .. a5 a5 a5 [column] a5 .. [descriptor] a5 .. [the object of this call that ends at the memory's end]
//! ```
//!
//! Beyond the memory's end every access is a trap of its own, so in turn each object stands there.

use rake_testkit::wasm::{End as Ended, Left, Module, OnMemory, Value, run_on_memory_in_node};
use rake_testkit::x86::MXCSR_DEFAULT;
use rake_testkit::x86::runs::{Argument, Call, End, Object, Out, Place};

/// What stands around objects: arithmetic on it gives what a result would show.
const CANARY: u8 = 0xa5;
const PAGE: usize = 1 << 16;
/// Bytes between objects, more than a rack.
const GAP: usize = 64;

/// What calls a run on memories.
type Engine<'a> = &'a dyn Fn(&[OnMemory]) -> Result<Vec<Left>, String>;

/// Calls a run in wasmtime.
///
/// # Errors
/// What the engine says of the module.
pub fn call(module: &Module, name: &str, calls: &[Call]) -> Result<Vec<Out>, String> {
    call_in(&|memories| module.run_on_memory(name, memories), calls)
}

/// Calls a run in Node.
///
/// # Errors
/// What Node says of the module.
pub fn call_in_node(module: &[u8], name: &str, calls: &[Call]) -> Result<Vec<Out>, String> {
    call_in(&|memories| run_on_memory_in_node(module, name, memories), calls)
}

fn call_in(run: Engine, calls: &[Call]) -> Result<Vec<Out>, String> {
    let mut outs = Vec::with_capacity(calls.len());
    // A memory does not shrink, so all calls have one size, which is no less than what clang begins with.
    let pages = calls.iter().map(|call| size(call).div_ceil(PAGE)).max().unwrap_or(1).max(2);
    for (turn, chunk) in calls.chunks(256).enumerate() {
        let places: Vec<Vec<usize>> =
            chunk.iter().enumerate().map(|(at, call)| places(call, 256 * turn + at, pages * PAGE)).collect();
        let memories: Vec<OnMemory> =
            chunk.iter().zip(&places).map(|(call, places)| image(call, places, pages * PAGE)).collect();
        let left = run(&memories)?;
        outs.extend(chunk.iter().zip(places).zip(left).map(|((call, places), left)| out(call, &places, left)));
    }
    Ok(outs)
}

fn size(call: &Call) -> usize {
    2 * GAP + call.objects.iter().map(|object| object.bytes.len() + 3 * GAP).sum::<usize>()
}

/// Where each object begins. The one whose turn it is, of those that end where nothing may be touched, ends with the memory.
fn places(call: &Call, turn: usize, size: usize) -> Vec<usize> {
    let ends: Vec<usize> = (0..call.objects.len()).filter(|&at| call.objects[at].place == Place::BeforeGuard).collect();
    let last = ends.get(turn % ends.len().max(1)).copied();
    let mut next = GAP;
    let place = |(number, object): (usize, &Object)| {
        if Some(number) == last {
            return size - object.bytes.len();
        }
        let start = match object.place {
            Place::Offset(offset) => next.next_multiple_of(64) + offset,
            // Unaligned, as an object is that ends at a boundary.
            Place::BeforeGuard => (next + object.bytes.len()).next_multiple_of(64) - object.bytes.len(),
            Place::AfterGuard => next.next_multiple_of(64),
        };
        next = start + object.bytes.len() + GAP;
        start
    };
    call.objects.iter().enumerate().map(place).collect()
}

fn image(call: &Call, places: &[usize], size: usize) -> OnMemory {
    let mut memory = vec![CANARY; size];
    for (object, &at) in call.objects.iter().zip(places) {
        memory[at..at + object.bytes.len()].copy_from_slice(&object.bytes);
        for &(offset, to) in &object.pointers {
            memory[at + offset..][..4].copy_from_slice(&(places[to] as u32).to_le_bytes());
        }
    }
    let value = |argument: &Argument| match *argument {
        Argument::Object(number) => Value::I32(places[number] as u32),
        Argument::Word(bits) => Value::I32(bits as u32),
        Argument::Long(bits) => Value::I64(bits),
        Argument::F32(bits) => Value::F32(bits),
        Argument::F64(bits) => Value::I64(bits),
    };
    OnMemory { memory, arguments: call.arguments.iter().map(value).collect() }
}

fn out(call: &Call, places: &[usize], left: Left) -> Out {
    let objects: Vec<Vec<u8>> = call
        .objects
        .iter()
        .zip(places)
        .map(|(object, &at)| left.memory[at..at + object.bytes.len()].to_vec())
        .collect();
    let inside = |at: usize| {
        call.objects.iter().zip(places).any(|(object, &start)| (start..start + object.bytes.len()).contains(&at))
    };
    let strays = left.memory.iter().enumerate().filter(|(_, byte)| **byte != CANARY);
    let stray = strays.map(|(at, _)| at).find(|&at| !inside(at));
    let changed = call.objects.iter().zip(&objects).position(|(object, left)| {
        // Pointers are filled in.
        !object.writable && object.pointers.is_empty() && object.bytes != *left
    });
    let end = match left.end {
        Ended::Returned => End::Returned,
        Ended::Unreachable => End::Trap(0),
        Ended::Other(text) => End::Other(text),
    };
    let stray = stray.map(|at| (0, at as i64 - places.first().copied().unwrap_or(0) as i64));
    Out { end, mxcsr: MXCSR_DEFAULT, clobbered: Vec::new(), stray: stray.or(changed.map(|at| (at, 0))), objects }
}
