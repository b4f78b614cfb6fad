//! Builds the hand-written intrinsics and measures functions.

use iced_x86::{Code, Decoder, DecoderOptions};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SymbolKind};
use rake_ir::profile::{Family, Profile};
use rake_testkit::c::{Compiler, Source, compile, compile_wasm};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use wasmparser::{ExternalKind, Parser, Payload, TypeRef};

/// Settings of the compilers, which differ in how well they allocate registers; none is the best for all functions.
const X86: [&[&str]; 4] = [
    &["-O2", "-fira-algorithm=priority"],
    &["-O2", "-frename-registers"],
    &["-O2", "-fschedule-insns", "-fsched-pressure"],
    &["-Os"],
];
const AARCH64: [&[&str]; 4] =
    [&["-O3"], &["-O2", "-fira-algorithm=priority"], &["-O2", "-fschedule-insns", "-fsched-pressure"], &["-Os"]];
const WASM: [&[&str]; 3] = [&["-O3"], &["-O2"], &["-Os"]];

/// How code is built whatever the settings.
const FIXED: [&str; 5] = ["-fcf-protection=none", "-ffp-contract=off", "-fno-ipa-icf", "-Wall", "-Wno-psabi"];
/// A constant alone takes no address of its neighbours.
const FIXED_AARCH64: [&str; 5] = ["-fno-section-anchors", "-ffp-contract=off", "-fno-ipa-icf", "-Wall", "-Wno-psabi"];
/// Everything is exported and nothing named.
pub const FIXED_WASM: [&str; 4] = ["-ffp-contract=off", "-Wall", "-Wl,--export-all", "-Wl,--strip-all"];

/// A profile's peers as each setting builds them: objects, or modules for WebAssembly.
pub struct Peers(pub Vec<Vec<u8>>);

impl Peers {
    /// Compiles the profile's file with each setting.
    pub fn build(profile: Profile) -> Peers {
        let (file, settings, machine): (_, &[_], _) = match profile {
            Profile::X86Sse2 => ("sse2.c", &X86, "-march=x86-64"),
            Profile::X86Avx2 => ("avx2.c", &X86, "-march=x86-64-v3"),
            Profile::X86Avx512 => ("avx512.c", &X86, "-march=x86-64-v4"),
            Profile::Aarch64Neon => ("neon.c", &AARCH64, ""),
            Profile::WasmSimd128 => ("wasm.c", &WASM, ""),
            other => panic!("{other} has no peers"),
        };
        let (source, family) = (folder().join(file), profile.info().family);
        let built = settings.iter().enumerate().map(|(index, setting)| match family {
            Family::Aarch64 => {
                compile(Compiler::GccAarch64, Source::File(&source), &[&FIXED_AARCH64, *setting].concat())
            }
            Family::Wasm => compile_wasm(Source::File(&source), &[&FIXED_WASM, *setting].concat(), &[]),
            _ => Ok(object(&source, machine, setting, index)),
        });
        Peers(built.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{file}: {error}")))
    }

    /// The least size of each function in any build.
    pub fn fewest(&self) -> BTreeMap<String, usize> {
        let mut fewest = BTreeMap::new();
        for (name, count) in self.0.iter().flat_map(|built| sizes(built)) {
            // What the linker exports besides.
            if !name.starts_with("__") {
                let least = fewest.entry(name).or_insert(count);
                *least = count.min(*least);
            }
        }
        fewest
    }
}

/// Where the peers stand.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sizes")
}

fn object(source: &Path, machine: &str, build: &[&str], index: usize) -> Vec<u8> {
    // A folder of the process's own: tests run at the same time.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let name = std::thread::current().name().unwrap_or("peers").replace("::", "-");
    let path = folder.join(format!("{name}{machine}-{index}.o"));
    let mut command = Command::new("cc");
    command.args(build).arg(machine).args(FIXED).args(["-c", "-o"]).arg(&path).arg(source);
    let output = command.output().unwrap_or_else(|error| panic!("cc: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The folder stays: another test may be about to write there.
    let _ = std::fs::remove_file(&path);
    bytes
}

/// The compilers' names and versions, as they tell them.
pub fn compilers() -> String {
    let version = |command: &str, option: &str| {
        let output = Command::new(command).arg(option).output().unwrap_or_else(|error| panic!("{command}: {error}"));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let (gcc, cross) = (version("cc", "-dumpfullversion"), version("aarch64-linux-gnu-gcc", "-dumpfullversion"));
    format!("gcc {gcc}, gcc {cross} for AArch64, and clang {} for WebAssembly", version("clang-19", "-dumpversion"))
}

/// The size of each function of an object, in instructions that do its work, or of an exported one of a module, in
/// bytes of its body.
pub fn sizes(bytes: &[u8]) -> BTreeMap<String, usize> {
    if bytes.starts_with(b"\0asm") {
        return bodies(bytes).unwrap_or_else(|error| panic!("the module: {error}"));
    }
    let file = object::File::parse(bytes).unwrap_or_else(|error| panic!("the object: {error}"));
    let mut counts = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let code = section.and_then(|section| section.data_range(symbol.address(), symbol.size()).ok().flatten());
        let (Some(code), Ok(name)) = (code, symbol.name()) else { panic!("a symbol without code: {symbol:?}") };
        let count = match file.architecture() {
            Architecture::Aarch64 => {
                let words = code.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap_or([0; 4])));
                words.filter(|&word| !is_aarch64_overhead(word)).count()
            }
            _ => {
                let decoder = Decoder::new(64, code, DecoderOptions::NONE);
                let works = decoder.into_iter().inspect(|i| assert!(!i.is_invalid(), "{name} does not decode"));
                works.filter(|i| !is_overhead(i.code())).count()
            }
        };
        counts.insert(name.to_owned(), count);
    }
    counts
}

/// What a function's end and alignment take, whoever compiles it.
fn is_overhead(code: Code) -> bool {
    matches!(
        code,
        Code::Retnq | Code::VEX_Vzeroupper | Code::Endbr64 | Code::Nopw | Code::Nopd | Code::Nop_rm16 | Code::Nop_rm32
    )
}

/// `ret`, and the hints that do nothing: `nop`, `bti c` (Arm Architecture Reference Manual, "Hints").
fn is_aarch64_overhead(word: u32) -> bool {
    matches!(word, 0xd65f_03c0 | 0xd503_201f | 0xd503_245f)
}

/// The bytes of each exported function's body: its locals and code, without the size before them.
fn bodies(bytes: &[u8]) -> wasmparser::Result<BTreeMap<String, usize>> {
    let (mut imported, mut exports, mut bodies) = (0, Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(bytes) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        exports.push((export.name.to_owned(), export.index));
                    }
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.range().len()),
            _ => {}
        }
    }
    let size = |index: u32| bodies.get(index.checked_sub(imported)? as usize).copied();
    Ok(exports.into_iter().filter_map(|(name, index)| Some((name, size(index)?))).collect())
}
