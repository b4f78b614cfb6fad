//! Writing: files, standard output, and standard error, all quiet when the reader went away.

use super::arguments::{DumpFormat, Look};
use crate::pipeline::Timing;
use crate::pipeline::dump::Dump;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// A file, or standard output for `-`.
pub struct Output<'a> {
    path: &'a Path,
}

impl<'a> Output<'a> {
    /// The output at `path`.
    pub fn new(path: &'a Path) -> Output<'a> {
        Output { path }
    }

    /// Writes everything.
    ///
    /// # Errors
    /// The path and what the file system says.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        if self.path == Path::new("-") {
            return print_bytes(bytes);
        }
        std::fs::write(self.path, bytes).map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// Prints to standard output.
///
/// # Errors
/// What the file system says, except that nobody reads.
pub fn print(text: &str) -> Result<(), String> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Prints to standard error. When that fails there is nobody left to tell.
pub fn complain(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes the dumps to standard output or into a folder.
///
/// # Errors
/// The path and what the file system says.
pub fn dumps(dumps: &[Dump], look: &Look) -> Result<(), String> {
    let shown: Vec<&Dump> = dumps.iter().filter(|dump| !look.only_changed || dump.changed()).collect();
    let Some(folder) = &look.dump_dir else {
        let several = shown.len() > 1 && look.dump_format != DumpFormat::Json;
        let texts = shown.iter().map(|dump| {
            let title = if several { format!("~~ after {}\n", dump.pass) } else { String::new() };
            let end = if several { "\n" } else { "" };
            format!("{title}{}{end}", text_of(dump, look.dump_format))
        });
        return print(&texts.collect::<String>());
    };
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for dump in shown {
        Output::new(&folder.join(dump.file_name())).write(text_of(dump, look.dump_format).as_bytes())?;
    }
    Ok(())
}

fn text_of(dump: &Dump, format: DumpFormat) -> String {
    match format {
        DumpFormat::Text => dump.text.clone(),
        DumpFormat::Diff => dump.diff(),
        DumpFormat::Json => dump.json() + "\n",
    }
}

/// A table of times and node counts.
pub fn timings(timings: &[Timing]) -> String {
    let mut text = format!("{:<14} {:>10} {:>10} {:>10}\n", "pass", "us", "nodes in", "nodes out");
    for timing in timings {
        let micros = timing.time.as_secs_f64() * 1e6;
        let (before, after) = timing.nodes;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<14} {micros:>10.1} {before:>10} {after:>10}", timing.pass);
    }
    let total: f64 = timings.iter().map(|timing| timing.time.as_secs_f64() * 1e6).sum();
    let _ = writeln!(text, "{:<14} {total:>10.1}", "total");
    text
}
