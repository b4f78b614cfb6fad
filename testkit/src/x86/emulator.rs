//! Runs jobs in Bochs' CPU model: starts `emu/driver.py` once, with the arena as its input.

use super::arena::Arena;
use super::{Fault, Job, Out};
use crate::scratch::{build_once, cache};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The directory of `driver.py` and `shim.c`.
const EMU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/emu");

pub fn run(jobs: &[Job]) -> Result<Vec<Vec<Out>>, Fault> {
    let mut arena = Arena::new(jobs, true)?;
    let file = arena.memory.file.take().ok_or_else(|| Fault::machinery("no shared memory"))?;
    let output = start(driver().map_err(Fault::machinery)?.stdin(Stdio::from(file)))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some(fault) = said.strip_prefix("fault: ") {
        return Err(Fault { at: Some(arena.progress()), message: fault.trim().to_owned() });
    }
    if output.status.success() && said.trim() == "ok" {
        return Ok(arena.results());
    }
    let (status, errors) = (output.status, String::from_utf8_lossy(&output.stderr));
    let message = format!("the emulator failed ({status}): {said}{}\n{ADVICE}", errors.trim());
    Err(Fault::machinery(message))
}

fn start(driver: &mut Command) -> Result<Output, Fault> {
    let program = driver.get_program().to_string_lossy().into_owned();
    let failed = |e| Fault::machinery(format!("starting {program}: {e}\n{ADVICE}"));
    driver.output().map_err(failed)
}

/// What to do about most failures to start.
const ADVICE: &str = "The emulator needs python3 with the package bochscpu-python. `cargo xtask \
    test` installs it; or run `pip install bochscpu-python` for the python3 in PATH or for the \
    one that the environment variable RAKE_PYTHON names.";

/// Checks that the emulator starts.
///
/// # Errors
///
/// What is missing, and how to install it.
pub fn check_emulator() -> Result<(), String> {
    let output = start(driver()?.arg("--check").stdin(Stdio::null())).map_err(|e| e.message)?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{ADVICE}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// The Python that runs the emulator: `$RAKE_PYTHON`, else the one of the virtual environment
/// [`venv`], else `python3`.
pub fn python() -> PathBuf {
    if let Some(named) = std::env::var_os("RAKE_PYTHON") {
        return named.into();
    }
    let own = venv().join("bin/python3");
    if own.exists() { own } else { "python3".into() }
}

/// Where a Python virtual environment for the emulator is looked for (`target/testkit/venv`).
pub fn venv() -> PathBuf {
    cache().join("venv")
}

fn driver() -> Result<Command, String> {
    let mut command = Command::new(python());
    command.arg(Path::new(EMU).join("driver.py")).env("LD_PRELOAD", shim()?);
    Ok(command)
}

/// Builds the shim when it is missing or older than its source.
fn shim() -> Result<PathBuf, String> {
    let arguments = ["-shared", "-fPIC", "-O1"];
    build_once("shim.so", "cc", "gcc", &arguments, &[Path::new(EMU).join("shim.c")])
}
