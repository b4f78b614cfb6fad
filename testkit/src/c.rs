//! Compiles C: to objects for x86-64 and AArch64 with gcc and clang, to WebAssembly with clang.
//!
//! ```
//! use rake_testkit::c::{Compiler, Source, compile};
//! use rake_testkit::link_elf;
//! use rake_testkit::x86::{Isa, Regs, run};
//! let half = compile(Compiler::Gcc, Source::Text("float half(float x) { return x * 0.5f; }"), &["-O2"])?;
//! let image = link_elf(&half)?.image("half").ok_or("no such function")?;
//! let mut regs = Regs::default();
//! regs.set_lanes(0, &[3.0_f32.to_bits()]);
//! assert_eq!(run(Isa::Sse2, &image, &[regs])?[0].lanes(1), [1.5_f32.to_bits()]);
//! # Ok::<(), String>(())
//! ```

use crate::scratch::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler that makes ELF objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compiler {
    /// gcc for x86-64.
    Gcc,
    /// clang for x86-64.
    Clang,
    /// gcc for AArch64.
    GccAarch64,
    /// clang for AArch64.
    ClangAarch64,
}

impl Compiler {
    /// All of them.
    pub const ALL: [Compiler; 4] = [Compiler::Gcc, Compiler::Clang, Compiler::GccAarch64, Compiler::ClangAarch64];
    /// Those for x86-64.
    pub const X86: [Compiler; 2] = [Compiler::Gcc, Compiler::Clang];
    /// Those for AArch64.
    pub const AARCH64: [Compiler; 2] = [Compiler::GccAarch64, Compiler::ClangAarch64];

    /// The command, the arguments that choose the machine, and the Debian packages that have it.
    fn command(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Compiler::Gcc => ("gcc", &["-m64"], "gcc"),
            Compiler::Clang => (CLANG, &["--target=x86_64-linux-gnu"], CLANG),
            Compiler::GccAarch64 => ("aarch64-linux-gnu-gcc", &[], "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
            Compiler::ClangAarch64 => (CLANG, &["--target=aarch64-linux-gnu"], CLANG),
        }
    }
}

/// The command and package of clang; earlier ones know relaxed SIMD only as it was proposed.
const CLANG: &str = "clang-19";

/// C to compile.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A text.
    Text(&'a str),
    /// A file that is there.
    File(&'a Path),
    /// Files by name and text: the first is compiled, the others (headers) lie beside it.
    Files(&'a [(&'a str, &'a str)]),
}

impl Source<'_> {
    /// The path of the file to compile; what is no file yet is written into the folder.
    fn path(self, folder: &Folder) -> Result<PathBuf, String> {
        match self {
            Source::Text(text) => folder.write("input.c", text),
            Source::File(path) => Ok(path.to_owned()),
            Source::Files(files) => {
                for (name, text) in files {
                    folder.write(name, text)?;
                }
                let first = files.first().ok_or("no file to compile")?;
                Ok(folder.file(first.0))
            }
        }
    }
}

/// Compiles to a relocatable ELF object and gives its bytes.
///
/// # Errors
///
/// What the compiler says, or how to get it when it is missing.
pub fn compile(compiler: Compiler, source: Source, flags: &[&str]) -> Result<Vec<u8>, String> {
    let (program, machine, packages) = compiler.command();
    make(program, packages, source, &[machine, &["-c"], flags].concat())
}

/// Compiles to a WebAssembly module, with SIMD and without a library, that exports its memory and
/// the functions named (a function can also say so itself: `__attribute__((export_name("f.memory")))`).
/// Relaxed SIMD needs the flag `-mrelaxed-simd`.
///
/// # Errors
///
/// What the compiler or the linker says, or how to get it when it is missing.
pub fn compile_wasm(source: Source, flags: &[&str], exports: &[&str]) -> Result<Vec<u8>, String> {
    let exports: Vec<String> = exports.iter().map(|name| format!("-Wl,--export={name}")).collect();
    let exports: Vec<&str> = exports.iter().map(String::as_str).collect();
    let machine = ["--target=wasm32", "-msimd128", "-ffreestanding", "-nostdlib", "-Wl,--no-entry"];
    make(CLANG, "clang-19 lld-19", source, &[&machine, &*exports, flags].concat())
}

/// Calls a compiler in a folder of its own and gives what it made.
fn make(program: &str, packages: &str, source: Source, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let folder = Folder::new()?;
    let path = source.path(&folder)?;
    let mut command = Command::new(program);
    command.args(arguments).arg("-o").arg(folder.file("output")).arg(path);
    let output = command.output().map_err(|e| {
        format!("starting {program}: {e}\nIt compiles C. `cargo xtask test` installs it; or `apt install {packages}`.")
    })?;
    if output.status.success() {
        return folder.read("output");
    }
    Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
}
