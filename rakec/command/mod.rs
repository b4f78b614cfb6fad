//! The command: reads the command line, gives the compiler access to files, and writes what it made.

mod arguments;
mod listing;
mod output;

pub use listing::{passes, targets};

use crate::render::{Format, render};
use crate::{Compiler, Deny, Emit, Files, Options, Outputs, pipeline, report};
use arguments::{Arguments, DumpFormat, MessageFormat, Target};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use output::{Output, print};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::dispatch;
use rake_ir::limits;
use rake_ir::profile::{Family, Profile};
use rake_ir::span::SourceMap;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exit status of a program that was rejected.
const REJECTED: u8 = 1;
/// Exit status of wrong usage.
const USAGE: u8 = 2;

/// Runs the command on the process's arguments.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("rakec: this is a bug in the compiler, not in the program: {panic}");
    }));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if !error.use_stderr() {
                // A reader that went away wants no more words about it.
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            let json = std::env::args().any(|a| a == "--message-format=json")
                || std::env::args().zip(std::env::args().skip(1)).any(|(a, b)| a == "--message-format" && b == "json");
            return misused(error, if json { MessageFormat::Json } else { MessageFormat::Human });
        }
    };
    match run(&arguments) {
        Ok(status) => status.into(),
        Err(Failure::Usage(message)) => {
            let error = Arguments::command().error(ErrorKind::ValueValidation, message);
            misused(error, arguments.message_format)
        }
        Err(Failure::File(message)) => {
            match arguments.message_format {
                MessageFormat::Human => output::complain(&format!("error: {message}\n")),
                MessageFormat::Json => output::complain(&usage_json(&message)),
            }
            USAGE.into()
        }
        Err(Failure::Rejected(diagnostic)) => {
            report_all(&[*diagnostic], &SourceMap::default(), &arguments);
            REJECTED.into()
        }
    }
}

/// Tells of wrong usage.
fn misused(error: clap::Error, format: MessageFormat) -> ExitCode {
    match format {
        MessageFormat::Human => {
            let _ = error.print();
        }
        MessageFormat::Json => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            output::complain(&usage_json(first.strip_prefix("error: ").unwrap_or(first)));
        }
    }
    USAGE.into()
}

/// Wrong usage as the one object of a line.
fn usage_json(message: &str) -> String {
    let diagnostic = Diagnostic::spanless(Code::Usage, message.to_string());
    render(&[diagnostic], &SourceMap::default(), Format::Json)
}

/// Why nothing was compiled.
enum Failure {
    /// The command line asks for something impossible.
    Usage(String),
    /// A file cannot be read or written.
    File(String),
    /// The request is understood and refused.
    Rejected(Box<Diagnostic>),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Usage(message)
    }
}

fn run(arguments: &Arguments) -> Result<u8, Failure> {
    if let Some(text) = listing::answer(&arguments.list)? {
        print(&text)?;
        return Ok(0);
    }
    let Some(file) = &arguments.file else {
        return Err(Failure::Usage("a program is missing: give FILE.rk, or see --help".into()));
    };
    refuse_later_modes(arguments)?;
    refuse_muddle(arguments, file)?;
    let options = options(arguments)?;
    let compiler = Compiler::new(options, &Disk)?;
    let outputs = match compiler.compile(file) {
        Ok(outputs) => outputs,
        Err(error) => return Err(Failure::File(format!("{}: {error}", file.display()))),
    };
    made_for_target(&outputs, arguments)?;
    write_looks(&outputs, arguments)?;
    report_all(&outputs.diagnostics, &outputs.sources, arguments);
    if !outputs.succeeded() {
        return Ok(REJECTED);
    }
    write_results(&outputs, arguments, file)?;
    Ok(0)
}

/// A dump is compiled for the profile that it says; a `--target` beside it says the same or is a mistake.
fn made_for_target(outputs: &Outputs, arguments: &Arguments) -> Result<(), Failure> {
    let made = outputs.ir.as_ref().and_then(pipeline::Ir::made_for).map(|(profile, _)| profile);
    let (Some(made), Some(_), false) = (made, &arguments.from, arguments.target.is_empty()) else { return Ok(()) };
    if profile(arguments)? == made {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "the dump was made for {made}; leave out --target, or dump again for the other profile"
    )))
}

/// Files of the machine; `-` is standard input.
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        if path == Path::new("-") {
            return bounded(std::io::stdin().lock());
        }
        bounded(std::fs::File::open(path)?)
    }
}

/// All of an input that ends within the limit.
fn bounded(input: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limits::INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::INPUT_BYTES {
        return Err(std::io::Error::other(format!("longer than {} MiB", limits::INPUT_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Modes of the language's command that this version understands and does not have.
fn refuse_later_modes(arguments: &Arguments) -> Result<(), Failure> {
    let mode = &arguments.mode;
    let later = [
        (mode.interpret, "--interpret: evaluating `main`; --check-passes evaluates scratches"),
        (mode.run, "--run: compiling for this machine and running"),
        (mode.sentences, "--sentences: column sentences"),
    ];
    match later.iter().find(|(asked, _)| *asked) {
        Some((_, what)) => Err(not_available(what)),
        None => one_target(arguments),
    }
}

/// Requests that would overwrite the program, mix two outputs, or mean nothing.
fn refuse_muddle(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let (mode, look) = (&arguments.mode, &arguments.look);
    let same = |path: &Path| match (path.canonicalize(), file.canonicalize()) {
        (Ok(output), Ok(input)) => output == input,
        _ => false,
    };
    if let Some(output) = arguments.output.as_deref().filter(|output| same(output)) {
        return Err(Failure::Usage(format!("-o {} would overwrite the program itself", output.display())));
    }
    let writes_code = mode.verify_native || mode.emit_obj || mode.emit_asm || mode.emit_c || mode.emit_wasm;
    let extension = written_extension(arguments);
    if let (None, Some(extension)) = (&arguments.output, extension)
        && file != Path::new("-")
        && file.extension().is_some_and(|e| e == extension)
    {
        let message = format!("{} would be overwritten by what is made of it; name another with -o", file.display());
        return Err(Failure::Usage(message));
    }
    let dumps = !look.dump_pass.is_empty() && look.dump_dir.is_none() || look.explain_fusion;
    let written_there = arguments.output.as_deref() == Some(Path::new("-"))
        || mode.emit_tokens
        || mode.emit_ast
        || mode.emit_native_ir
        || file == Path::new("-") && (writes_code || mode.emit_header);
    if dumps && written_there && arguments.output.as_deref().is_none_or(|o| o == Path::new("-")) {
        let message = "dumps and the result would both go to standard output; give --dump-dir DIR, or -o PATH";
        return Err(Failure::Usage(message.into()));
    }
    let idle = [
        (arguments.export && !writes_code, "--export", "an object, assembly or C"),
        (look.only_changed && look.dump_pass.is_empty() && look.dump_dir.is_none(), "--only-changed", "--dump-pass"),
        (
            look.dump_format != DumpFormat::Text && look.dump_pass.is_empty() && look.dump_dir.is_none(),
            "--dump-format",
            "--dump-pass",
        ),
        (!arguments.program_arguments.is_empty(), "arguments after --", "--interpret or --run"),
    ];
    match idle.iter().find(|(idle, ..)| *idle) {
        Some((_, option, of)) => Err(Failure::Usage(format!("{option}: means nothing without {of}"))),
        None => Ok(()),
    }
}

/// The extension of what the mode writes.
fn written_extension(arguments: &Arguments) -> Option<&'static str> {
    let mode = &arguments.mode;
    let wasm = matches!(arguments.target[..], [Target::Profile(profile)] if profile.info().family == Family::Wasm);
    let written = [
        (mode.emit_header, "h"),
        (mode.emit_asm, "s"),
        (mode.emit_c, "c"),
        (mode.emit_wasm || mode.verify_native && wasm, "wasm"),
        (mode.verify_native || mode.emit_obj, "o"),
    ];
    written.into_iter().find(|written| written.0).map(|written| written.1)
}

/// Several profiles are for runs, each with a version in one object; anything else is compiled for one at a time.
fn one_target(arguments: &Arguments) -> Result<(), Failure> {
    let targets = &arguments.target;
    if targets.len() < 2 {
        return Ok(());
    }
    let mut profiles = Vec::with_capacity(targets.len());
    for target in targets {
        match target {
            Target::Profile(profile) => profiles.push(*profile),
            Target::Native => return Err(Failure::Usage(NATIVE_AMONG_SEVERAL.into())),
            Target::Planned(name) => return Err(not_available(&format!("the profile {name}"))),
        }
    }
    dispatch::combine(&profiles).map_err(|refusal| Failure::Usage(format!("{}; {}", refusal.message, refusal.help)))?;
    let message = "not available yet: several profiles at once, which are for runs";
    let diagnostic = Diagnostic::spanless(Code::NotAvailableYet, message);
    let note = "a scratch is one C function, so it has one profile";
    Err(Failure::Rejected(Box::new(diagnostic.note(note).help("compile once for each --target"))))
}

/// Said where `native` stands beside other profiles.
const NATIVE_AMONG_SEVERAL: &str =
    "native is whichever profile this machine has; name each of several profiles instead, or give native alone";

fn not_available(what: &str) -> Failure {
    let message = format!("not available yet: {what}");
    let help = "--print-capabilities lists what there is";
    Failure::Rejected(Box::new(Diagnostic::spanless(Code::NotAvailableYet, message).help(help)))
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    let (mode, look) = (&arguments.mode, &arguments.look);
    let profile = profile(arguments)?;
    let emit = Emit {
        object: mode.emit_obj || mode.verify_native && profile.info().family != Family::Wasm,
        assembly: mode.emit_asm,
        header: mode.emit_header,
        c: mode.emit_c,
        module: mode.emit_wasm || mode.verify_native && profile.info().family == Family::Wasm,
        verify: mode.verify_native,
    };
    let mut dumps = look.dump_pass.clone();
    if dumps.is_empty() && look.dump_dir.is_some() {
        dumps.push("all".into());
    }
    let early_end = if mode.emit_tokens || mode.emit_ast {
        Some("parse".to_string())
    } else if mode.emit_native_ir {
        Some("fused".to_string())
    } else if emit == Emit::default() {
        last_look(arguments, &dumps)?
    } else {
        None
    };
    if arguments.to.is_some() && emit != Emit::default() {
        return Err(Failure::Usage("--to stops before anything is emitted; leave out the mode".into()));
    }
    let prints = mode.emit_tokens || mode.emit_ast || mode.emit_native_ir || arguments.to.is_some();
    if arguments.output.is_some() && emit == Emit::default() && !prints {
        let message = "-o names a file, but nothing is written; give a mode such as --emit-obj, or --to IR";
        return Err(Failure::Usage(message.into()));
    }
    Ok(Options {
        profile,
        fuse: arguments.fuse,
        width: arguments.width,
        from: arguments.from.clone(),
        to: arguments.to.clone().or(early_end),
        dumps,
        explain: look.explain_fusion,
        timings: look.timings,
        check_irs: cfg!(debug_assertions),
        check_passes: arguments.check_passes,
        deny: Deny::parse(&arguments.deny)?,
        emit,
        export: arguments.export,
        tokens: mode.emit_tokens,
    })
}

/// Where a run that only looks inside may end: after the last pass looked at.
fn last_look(arguments: &Arguments, dumps: &[String]) -> Result<Option<String>, String> {
    let mut last = None;
    for name in dumps.iter().flat_map(|names| names.split(',')) {
        if name == "all" {
            return Ok(None);
        }
        last = last.max(Some(pipeline::find(name)?));
    }
    if arguments.look.explain_fusion {
        last = last.max(Some(pipeline::find("fuse")?));
    }
    let nothing_more = !arguments.look.timings && !arguments.check_passes;
    Ok(last.filter(|_| nothing_more).map(|index| pipeline::PASSES[index].name.to_string()))
}

fn profile(arguments: &Arguments) -> Result<Profile, Failure> {
    let profile = match arguments.target.first() {
        Some(Target::Profile(profile)) => *profile,
        Some(Target::Planned(name)) => return Err(not_available(&format!("the profile {name}"))),
        // A module is for no machine's own profile.
        None if arguments.mode.emit_wasm => Profile::WasmSimd128,
        _ => native().ok_or_else(|| not_available("code for this machine; name a --target"))?,
    };
    if profile.info().available {
        return Ok(profile);
    }
    Err(not_available(&format!("the profile {profile}")))
}

/// The strongest profile of the machine that this runs on.
pub fn native() -> Option<Profile> {
    #[cfg(target_arch = "x86_64")]
    {
        let all: Vec<Profile> = Profile::all().collect();
        return dispatch::choose(&dispatch::ThisProcessor, &all);
    }
    #[cfg(target_arch = "aarch64")]
    return Some(Profile::Aarch64Neon);
    #[allow(unreachable_code)]
    None
}

fn report_all(diagnostics: &[Diagnostic], sources: &SourceMap, arguments: &Arguments) {
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let format = match arguments.message_format {
        MessageFormat::Json => Format::Json,
        MessageFormat::Human if coloured => Format::Coloured,
        MessageFormat::Human => Format::Plain,
    };
    output::complain(&render(diagnostics, sources, format));
}

/// Dumps, explanations and times: what is shown even of a program that is rejected later.
fn write_looks(outputs: &Outputs, arguments: &Arguments) -> Result<(), Failure> {
    let look = &arguments.look;
    output::dumps(&outputs.dumps, look).map_err(Failure::File)?;
    if look.explain_fusion {
        print(&outputs.explanation)?;
    }
    if look.timings {
        output::complain(&output::timings(&outputs.timings));
    }
    Ok(())
}

fn write_results(outputs: &Outputs, arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let mode = &arguments.mode;
    let write = |bytes: &[u8], extension: &str| -> Result<(), Failure> {
        let path = arguments.output.clone().unwrap_or_else(|| default_output(file, extension));
        Output::new(&path).write(bytes).map_err(Failure::File)
    };
    if mode.emit_tokens {
        to_stdout_or(arguments, &outputs.tokens)?;
    } else if mode.emit_ast || mode.emit_native_ir || arguments.to.is_some() {
        to_stdout_or(arguments, &outputs.ir.as_ref().map(pipeline::Ir::print).unwrap_or_default())?;
    }
    if let Some(object) = &outputs.object {
        write(object, "o")?;
    }
    if let Some(assembly) = &outputs.assembly {
        write(assembly.as_bytes(), "s")?;
    }
    if let Some(header) = &outputs.header {
        write(header.as_bytes(), "h")?;
    }
    if let Some(c) = &outputs.c {
        write(c.as_bytes(), "c")?;
    }
    if let Some(module) = &outputs.module {
        write(module, "wasm")?;
    }
    let code = outputs.object.is_some() || outputs.assembly.is_some() || outputs.module.is_some();
    if !arguments.no_report && code {
        let text = match arguments.report {
            MessageFormat::Human => report::text(&outputs.report),
            MessageFormat::Json => report::json(&outputs.report),
        };
        output::complain(&text);
    }
    Ok(())
}

/// Text that goes to standard output unless `-o` names a file.
fn to_stdout_or(arguments: &Arguments, text: &str) -> Result<(), Failure> {
    match &arguments.output {
        Some(path) => Output::new(path).write(text.as_bytes()).map_err(Failure::File),
        None => Ok(print(text)?),
    }
}

/// The input's name with another extension; standard output for standard input.
fn default_output(file: &Path, extension: &str) -> PathBuf {
    if file == Path::new("-") { file.to_path_buf() } else { file.with_extension(extension) }
}
