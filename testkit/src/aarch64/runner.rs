//! Runs jobs in qemu: builds `runner.c` and `trampoline.s` once, starts them with the arena as their input.

use super::arena::{Arena, End};
use super::{Job, Out};
use crate::memory::Fault;
use crate::scratch::build_once;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

const QEMU: &str = "qemu-aarch64";
/// The cross compiler.
const GCC: &str = "aarch64-linux-gnu-gcc";
/// An Armv8.0-A core: no instruction of a later extension is known to it.
const CPU: &str = "cortex-a53";

/// Runs jobs, for so many seconds of processor time at most.
pub fn run(jobs: &[Job], seconds: u64) -> Result<Vec<Vec<Out>>, Fault> {
    let mut arena = Arena::new(jobs, seconds)?;
    let file = arena.memory.file.take().ok_or_else(|| Fault::machinery("no shared memory"))?;
    let sources =
        ["runner.c", "trampoline.s"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("src/aarch64").join(name));
    let output = start("runner-aarch64", &sources, file)?;
    if output.status.success() {
        return Ok(arena.results());
    }
    let end = arena.end();
    if end.signal != 0 {
        return Err(Fault { at: Some(end.at), message: describe(&end, seconds) });
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(unnoted(&end, output.status, said.trim()))
}

/// Starts a program that calls the code under test, which is built once, with an arena for its input; gives what it said.
pub fn start(name: &str, sources: &[PathBuf], arena: File) -> Result<Output, Fault> {
    let packages = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    let flags = ["-O2", "-static", "-Wall", "-Wextra", "-Werror"];
    let runner = build_once(name, GCC, packages, &flags, sources).map_err(Fault::machinery)?;
    let mut qemu = Command::new(QEMU);
    qemu.args(["-cpu", CPU]).arg(runner).stdin(Stdio::from(arena));
    qemu.output().map_err(|e| {
        Fault::machinery(format!(
            "starting {QEMU}: {e}\nAArch64 code is run in qemu's user mode. `cargo xtask test` installs it; or \
             `apt install qemu-user`."
        ))
    })
}

/// An end without a signal that the runner saw: in its own start, or with a ruined runner.
fn unnoted(end: &End, status: ExitStatus, said: &str) -> Fault {
    match status.code() {
        Some(step @ 2..=5) => {
            let steps = ["reading the arena", "mapping the arena", "making code executable", "handling signals"];
            Fault::machinery(format!("{} failed under {QEMU}: {said}", steps[step as usize - 2]))
        }
        _ => Fault { at: Some(end.at), message: format!("{QEMU} ended with {status}: {said}") },
    }
}

/// The signal in words, with the place.
fn describe(end: &End, seconds: u64) -> String {
    let what = match end.signal as i32 {
        libc::SIGSEGV => format!("SIGSEGV (a wrong address, {:#x})", end.address),
        libc::SIGBUS => format!("SIGBUS (a misaligned address, {:#x})", end.address),
        libc::SIGILL => {
            "SIGILL (an illegal instruction, one that Armv8.0-A lacks, or it ran out of its image)".to_owned()
        }
        libc::SIGTRAP => "SIGTRAP (it ran into a brk)".to_owned(),
        libc::SIGXCPU => format!("using {seconds} s of processor time"),
        signal => format!("signal {signal}"),
    };
    let place = match end.pc {
        Some(pc) => format!("at its image's byte {pc:#x}"),
        None => "outside of its image".to_owned(),
    };
    format!("the code under test ended by {what}, {place}")
}
