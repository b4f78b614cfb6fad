//! Runs memory wrappers in Node: writes all jobs into one file, starts `runner.js` on it once.

use super::{Job, Type, Value, types, wrapper};
use crate::scratch::Folder;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Seconds of processor time after which the code under test is taken for an endless loop.
const CPU_SECONDS: u64 = 120;
const NODE: &str = "node";
const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wasm/runner.js");
/// What Node needs before version 21; later ones refuse to know it.
const RELAXED: &str = "--experimental-wasm-relaxed-simd";
pub(super) const ADVICE: &str = "`cargo xtask test` installs it; or `apt install nodejs`, version 20 or later.";

/// Runs all jobs; the results are in the order of the jobs and of their calls.
///
/// A float scalar is a number of JavaScript on its way, so a NaN among them (not in a rack) keeps
/// neither its sign nor its payload.
///
/// # Errors
///
/// A module is invalid, an export is missing or a call trapped (the message tells job and record),
/// the arguments of a job differ in type, a call did not end, or Node is missing (the message tells
/// what to install).
pub fn run_in_node(jobs: &[Job]) -> Result<Vec<Vec<Value>>, String> {
    within(CPU_SECONDS, jobs)
}

fn within(seconds: u64, jobs: &[Job]) -> Result<Vec<Vec<Value>>, String> {
    let folder = Folder::new()?;
    let input: Vec<u8> = encode(jobs)?.into_iter().flat_map(u32::to_le_bytes).collect();
    let input = folder.write("input", input)?;
    let mut node = Command::new(NODE);
    node.args(flags()).arg(RUNNER).arg(input).arg(folder.file("output")).stdin(Stdio::null());
    let time = libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 1 };
    // SAFETY: the child makes one plain system call with a valid argument.
    unsafe {
        node.pre_exec(move || match libc::setrlimit(libc::RLIMIT_CPU, &raw const time) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let output = node.output().map_err(|e| format!("starting {NODE}: {e}\nIt runs WebAssembly. {ADVICE}"))?;
    if matches!(output.status.signal(), Some(libc::SIGXCPU | libc::SIGKILL)) {
        return Err(format!("Node ended after using {seconds} s of processor time"));
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    decode(jobs, &folder.read("output")?)
}

/// Checks that Node is there.
///
/// # Errors
///
/// What is missing, and how to install it.
pub fn check_node() -> Result<(), String> {
    run_in_node(&[]).map(|_| ()).map_err(|e| format!("{e}\n{ADVICE}"))
}

/// Node, as it runs what we compile.
pub(super) fn node() -> Command {
    let mut node = Command::new(NODE);
    node.args(flags()).stdin(Stdio::null());
    node
}

/// The flags that let this Node run relaxed SIMD.
fn flags() -> &'static [&'static str] {
    static KNOWS: OnceLock<bool> = OnceLock::new();
    let knows = KNOWS.get_or_init(|| {
        let quiet = Stdio::null;
        let mut node = Command::new(NODE);
        node.args([RELAXED, "-e", "0"]).stdin(quiet()).stdout(quiet()).stderr(quiet());
        node.status().is_ok_and(|status| status.success())
    });
    if *knows { &[RELAXED] } else { &[] }
}

/// The jobs as the words that `runner.js` reads.
fn encode(jobs: &[Job]) -> Result<Vec<u32>, String> {
    let mut words = Vec::new();
    let put_bytes = |words: &mut Vec<u32>, bytes: &[u8]| {
        words.push(bytes.len() as u32);
        let word = |chunk: &[u8]| u32::from_le_bytes(std::array::from_fn(|i| chunk.get(i).copied().unwrap_or(0)));
        words.extend(bytes.chunks(4).map(word));
    };
    words.push(jobs.len() as u32);
    let mut last: Option<&[u8]> = None;
    for (number, job) in jobs.iter().enumerate() {
        // Jobs of one module mostly follow each other: it is compiled once for them.
        let same = last == Some(job.module);
        words.push(u32::from(same));
        if !same {
            put_bytes(&mut words, job.module);
            last = Some(job.module);
        }
        put_bytes(&mut words, wrapper(job.name).as_bytes());
        let params = types(job.calls).map_err(|e| format!("job {number}: {e}"))?;
        words.push(code(job.result));
        words.push(params.len() as u32);
        words.extend(params.iter().map(|&ty| code(ty)));
        words.push(job.calls.len() as u32);
        words.extend(job.calls.iter().flatten().flat_map(|value| value.words()));
    }
    Ok(words)
}

fn code(ty: Type) -> u32 {
    match ty {
        Type::I32 => 0,
        Type::F32 => 1,
        Type::V128 => 2,
        // No wrapper has one.
        Type::I64 => 3,
    }
}

fn decode(jobs: &[Job], bytes: &[u8]) -> Result<Vec<Vec<Value>>, String> {
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    let mut rest = &words[..];
    let mut outs = Vec::with_capacity(jobs.len());
    for job in jobs {
        let size = if job.result == Type::V128 { 4 } else { 1 };
        let (of_job, after) = rest.split_at_checked(size * job.calls.len()).ok_or("Node gave too few results")?;
        rest = after;
        outs.push(of_job.chunks(size).filter_map(|words| Value::from_words(job.result, words)).collect());
    }
    if rest.is_empty() { Ok(outs) } else { Err("Node gave too many results".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_loop_is_ended() {
        // (module (memory (export "memory") 1) (func (export "f.memory") (result i32) loop br 0 end i32.const 0))
        let mut module = b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x05\x03\x01\0\x01".to_vec();
        module.extend(b"\x07\x15\x02\x06memory\x02\0\x08f.memory\0\0");
        module.extend(b"\x0a\x0b\x01\x09\0\x03\x40\x0c\0\x0b\x41\0\x0b");
        let job = Job { module: &module, name: "f", result: Type::I32, calls: &[vec![]] };
        assert_eq!(within(1, &[job]).unwrap_err(), "Node ended after using 1 s of processor time");
        let error = crate::wasm::Module::new(&module).unwrap().run("f.memory", &[vec![]]).unwrap_err();
        assert!(error.starts_with("record 0: ") && error.contains("fuel"), "{error}");
    }
}
