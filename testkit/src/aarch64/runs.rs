//! Calls runs - functions that work on their caller's memory - in qemu, with memory that tells on them: as [`crate::x86::runs`]
//! does on this CPU. All calls are made by one process that survives their faults.
//!
//! ```
//! use rake_testkit::aarch64::runs::{Job, run};
//! use rake_testkit::aarch64::Image;
//! use rake_testkit::runs::{Argument, Call, End, Object, Place};
//! // ldr q0, [x0]; fadd v0.4s, v0.4s, v0.4s; str q0, [x0]; ret
//! let code = [0x3dc0_0000_u32, 0x4e20_d400, 0x3d80_0000, 0xd65f_03c0];
//! let twice = Image { bytes: code.iter().flat_map(|word| word.to_le_bytes()).collect(), entry: 0 };
//! let column = |floats: &[f32]| Object::new(floats.iter().flat_map(|x| x.to_le_bytes()).collect(), Place::BeforeGuard);
//! let call = |floats: &[f32]| Call { objects: vec![column(floats)], arguments: vec![Argument::Object(0)] };
//! let calls = [call(&[1.0, 2.0, 3.0, 4.0]), call(&[1.0, 2.0, 3.0])];
//! let outs = run(&[Job { image: &twice, calls: &calls }])?.remove(0);
//! assert_eq!(outs[0].end, End::Returned);
//! assert_eq!(outs[0].objects[0][12..], 8.0f32.to_le_bytes());
//! // Three floats are no whole rack: the access meets the guard, whose first byte is the object's byte 12.
//! assert!(matches!(outs[1].end, End::Fault { object: Some((0, 4..=12)), .. }), "{:?}", outs[1].end);
//! # Ok::<(), String>(())
//! ```

mod arena;

use self::arena::Arena;
use super::runner::start;
use crate::image::Image;
use crate::memory::Fault;
use crate::runs::{Call, Out};
use std::path::Path;

/// A run and the calls to make of it.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Its code.
    pub image: &'a Image,
    /// One call for each.
    pub calls: &'a [Call],
}

/// Seconds of processor time for all calls together.
const CPU_SECONDS: u64 = 120;

/// Makes all calls; the results are in the order of the jobs and of their calls.
///
/// # Errors
///
/// An entry is outside of its image, a call did not end, or qemu or the cross compiler is missing (the message tells what to
/// install).
pub fn run(jobs: &[Job]) -> Result<Vec<Vec<Out>>, String> {
    within(CPU_SECONDS, jobs).map_err(|fault| fault.describe(|call| call))
}

fn within(seconds: u64, jobs: &[Job]) -> Result<Vec<Vec<Out>>, Fault> {
    let mut arena = Arena::new(jobs, seconds)?;
    let file = arena.memory.file.take().ok_or_else(|| Fault::machinery("no shared memory"))?;
    let sources =
        ["runs.c", "call.s"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("src/aarch64/runs").join(name));
    let output = start("runs-aarch64", &sources, file)?;
    if output.status.success() {
        return Ok(arena.results(jobs));
    }
    let (call, signal) = arena.end();
    let said = String::from_utf8_lossy(&output.stderr);
    let message = match signal {
        0 => format!("qemu ended with {}: {}", output.status, said.trim()),
        signal if signal == libc::SIGXCPU as u64 => {
            format!("the code under test ended by using {seconds} s of processor time")
        }
        signal => format!("the calls ended by signal {signal}"),
    };
    Err(Fault { at: Some((call, 0)), message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::{Argument, End, Object, Place};
    use crate::x86::flag;

    fn image(words: &[u32]) -> Image {
        Image { bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(), entry: 0 }
    }

    fn one(words: &[u32], call: Call) -> Out {
        let image = image(words);
        run(&[Job { image: &image, calls: &[call] }]).unwrap().remove(0).remove(0)
    }

    const RET: u32 = 0xd65f_03c0;

    fn bytes(len: usize, place: Place) -> Call {
        Call { objects: vec![Object::new(vec![7; len], place)], arguments: vec![Argument::Object(0)] }
    }

    #[test]
    fn what_is_written_beside_an_object_is_seen() {
        // strb wzr, [x0, #5]; of five bytes the sixth is nobody's
        let out = one(&[0x3900_141f, RET], bytes(5, Place::Offset(3)));
        assert_eq!((out.end, out.stray, &out.objects[0][..]), (End::Returned, Some((0, 5)), &[7; 5][..]));
    }

    #[test]
    fn guards_and_what_is_read_only_fault() {
        // ldrb w1, [x0, #5]; ldurb w1, [x0, #-1]
        let end = |word, call| one(&[word, RET], call).end;
        let at = |distance| move |end: End| matches!(end, End::Fault { object: Some((0, found)), at: 0, .. } if found == distance);
        assert!(at(5)(end(0x3940_1401, bytes(5, Place::BeforeGuard))));
        assert!(at(-1)(end(0x385f_f001, bytes(5, Place::AfterGuard))));
        // strb wzr, [x0]
        let mut call = bytes(5, Place::Offset(0));
        call.objects[0].writable = false;
        assert!(at(0)(end(0x3900_001f, call)));
        // ldrb w1, [x1], at an address that leads nowhere
        let out = one(&[0x3940_0021, RET], bytes(5, Place::Offset(0)));
        assert!(matches!(out.end, End::Fault { object: None, .. }), "{:?}", out.end);
    }

    #[test]
    fn a_trap_is_told_from_an_illegal_instruction() {
        // strb wzr, [x0]; brk #1
        let out = one(&[0x3900_001f, 0xd420_0020], bytes(2, Place::Offset(0)));
        assert_eq!((out.end, &out.objects[0][..]), (End::Trap(4), &[0, 7][..]));
        assert!(matches!(one(&[0], bytes(1, Place::Offset(0))).end, End::Other(_)));
    }

    #[test]
    fn registers_flags_and_the_stack_pointer_are_looked_at() {
        let clobbered = |words: &[u32]| one(words, bytes(1, Place::Offset(0))).clobbered;
        // mov x19, #0; mov x28, #0; mov x29, #0
        assert_eq!(clobbered(&[0xd280_0013, 0xd280_001c, 0xd280_001d, RET]), ["x19", "x28", "x29"]);
        // movi v8.2d, #0; movi v15.2d, #0, whose low halves are the caller's
        assert_eq!(clobbered(&[0x6f00_e408, 0x6f00_e40f, RET]), ["d8", "d15"]);
        // sub sp, sp, #16
        assert_eq!(clobbered(&[0xd100_43ff, RET]), ["sp"]);
        // mov x1, #0x1000000; msr fpcr, x1
        assert_eq!(clobbered(&[0xd2a0_2001, 0xd51b_4401, RET]), ["FPCR"]);
        // movi v0.2d, #0; fdiv v0.4s, v0.4s, v0.4s
        let out = one(&[0x6f00_e400, 0x6e20_fc00, RET], bytes(1, Place::Offset(0)));
        assert_eq!(out.flags(), flag::IE);
    }

    #[test]
    fn arguments_stand_where_the_convention_says() {
        // ldr x9, [sp]; str x9, [x0]; ldr x9, [sp, #8]; str x9, [x0, #8]; str s7, [x0, #16]; str x7, [x0, #24]
        let words = [0xf940_03e9, 0xf900_0009, 0xf940_07e9, 0xf900_0409, 0xbd00_1007, 0xf900_0c07, RET];
        let objects = vec![Object::new(vec![0; 32], Place::Offset(0))];
        let numbers = (1..=8).map(Argument::Word);
        let floats = (1..=9).map(|n| Argument::F32(0x100 + n));
        let arguments = [Argument::Object(0)].into_iter().chain(numbers).chain(floats).collect();
        let out = one(&words, Call { objects, arguments });
        let word = |at: usize| u64::from_le_bytes(out.objects[0][at..][..8].try_into().unwrap());
        assert_eq!(out.end, End::Returned);
        assert_eq!([word(0), word(8), word(16), word(24)], [8, 0x109, 0x108, 7]);
    }

    #[test]
    fn an_endless_loop_is_ended() {
        let image = image(&[0x1400_0000]); // b .
        let error = within(1, &[Job { image: &image, calls: &[bytes(1, Place::Offset(0))] }]).unwrap_err();
        assert_eq!(error.message, "the code under test ended by using 1 s of processor time");
    }
}
