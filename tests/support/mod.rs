//! What the execution and robustness tests share: compiling through the library, and the files to do it to.

// Each test target uses a part of it.
#![allow(dead_code)]

use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rakec::pipeline::Ir;
use rakec::{Compiler, Emit, Files, Options, Outputs};
use std::path::{Path, PathBuf};

/// The profiles of x86.
pub const X86: [Profile; 3] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];

/// The profiles that code can be generated for.
pub fn profiles() -> Vec<Profile> {
    Profile::all().filter(|profile| profile.info().available).collect()
}

/// No file but the one under test.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// Compiles bytes as the file `kernel.rk`.
pub fn compile(bytes: &[u8], options: Options) -> Outputs {
    let compiler = Compiler::new(options, &NoFiles).expect("options of a test are right");
    compiler.compile_bytes(Path::new("kernel.rk"), bytes.to_vec())
}

/// Options that emit everything that there is for a profile, and verify it.
pub fn everything(profile: Profile, fuse: FuseLevel) -> Options {
    let emit = Emit { header: true, c: true, ..code(profile) };
    let emit = Emit { assembly: emit.object, ..emit };
    Options { fuse, emit, ..Options::new(profile) }
}

/// What runs of a profile: a verified object, a verified module or C.
fn code(profile: Profile) -> Emit {
    let none = Emit::default();
    match profile.info().family {
        Family::X86 | Family::Aarch64 => Emit { object: true, verify: true, ..none },
        Family::Wasm => Emit { module: true, verify: true, ..none },
        Family::Scalar => Emit { c: true, ..none },
    }
}

/// The program after a pass or in an IR.
///
/// # Errors
/// What the compiler says of the program.
pub fn ir_at(text: &str, profile: Profile, fuse: FuseLevel, to: &str) -> Result<Ir, Vec<Diagnostic>> {
    let outputs = compile(text.as_bytes(), Options { fuse, to: Some(to.to_owned()), ..Options::new(profile) });
    match outputs.ir {
        Some(ir) if !outputs.diagnostics.iter().any(Diagnostic::is_error) => Ok(ir),
        _ => Err(outputs.diagnostics),
    }
}

/// The verified object of a program.
///
/// # Errors
/// What the compiler says of the program.
pub fn object(text: &str, profile: Profile, fuse: FuseLevel) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let emit = Emit { object: true, verify: true, ..Emit::default() };
    let outputs = compile(text.as_bytes(), Options { fuse, emit, ..Options::new(profile) });
    match outputs.object {
        Some(object) if !outputs.diagnostics.iter().any(Diagnostic::is_error) => Ok(object),
        _ => Err(outputs.diagnostics),
    }
}

/// What is made of a program to run it.
pub enum Built {
    /// An object or a module, verified.
    Bytes(Vec<u8>),
    /// C, for the profile that nothing else is made for.
    C(String),
}

/// The code of a program, in the form that its profile has.
///
/// # Errors
/// What the compiler says of the program.
pub fn built(text: &str, profile: Profile, fuse: FuseLevel) -> Result<Built, Vec<Diagnostic>> {
    let outputs = compile(text.as_bytes(), Options { fuse, emit: code(profile), ..Options::new(profile) });
    if outputs.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(outputs.diagnostics);
    }
    let bytes = outputs.object.or(outputs.module).map(Built::Bytes);
    bytes.or(outputs.c.map(Built::C)).ok_or(outputs.diagnostics)
}

/// A diagnostic for a test's message.
pub fn plain(diagnostics: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| {
        let help = d.help.as_ref().map_or(String::new(), |help| format!(" (help: {help})"));
        format!("{}: {}{} {:?}", d.code.as_str(), d.message, help, d.notes)
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Every example and case of the repository with its text, in the order of their paths.
pub fn files() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec![root.join("examples"), root.join("tests/cases")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rk") {
                found.push(path);
            }
        }
    }
    found.sort();
    let text = |path: &PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    found.into_iter().map(|path| (path.strip_prefix(root).unwrap_or(&path).to_owned(), text(&path))).collect()
}

/// The number that an environment variable gives, for longer runs of the seeded tests.
pub fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A fresh directory for a test's files, removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A directory of this name, which no other test may use.
    pub fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the target directory can be written");
        Scratch(path)
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the target directory can be written");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every rendering of what a compilation says, as the command would print it.
pub fn render(outputs: &Outputs) -> String {
    use rakec::render::{Format, render};
    let formats = [Format::Plain, Format::Coloured, Format::Json];
    formats.map(|format| render(&outputs.diagnostics, &outputs.sources, format)).concat()
}
