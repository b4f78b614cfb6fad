//! Builds the hand-written intrinsics and counts instructions.

use iced_x86::{Code, Decoder, DecoderOptions};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use rake_ir::profile::Profile;
use rake_testkit::elf::LinkedObject;
use rake_testkit::link_elf;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings of the compiler, which differ in how well they allocate registers; none is the best for all functions.
pub const BUILDS: [&[&str]; 4] = [
    &["-O2", "-fira-algorithm=priority"],
    &["-O2", "-frename-registers"],
    &["-O2", "-fschedule-insns", "-fsched-pressure"],
    &["-Os"],
];

/// The objects of a profile's peers, one for each build.
pub struct Peers(Vec<Vec<u8>>);

impl Peers {
    /// Compiles the profile's file with each setting.
    pub fn build(profile: Profile) -> Peers {
        let (file, machine) = match profile {
            Profile::X86Sse2 => ("sse2.c", "-march=x86-64"),
            Profile::X86Avx2 => ("avx2.c", "-march=x86-64-v3"),
            _ => ("avx512.c", "-march=x86-64-v4"),
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sizes").join(file);
        Peers(BUILDS.iter().enumerate().map(|(index, build)| object(&source, machine, build, index)).collect())
    }

    /// The objects, ready to run.
    pub fn linked(&self) -> Vec<LinkedObject> {
        self.0.iter().map(|object| link_elf(object).unwrap_or_else(|error| panic!("the peers: {error}"))).collect()
    }

    /// The fewest instructions of each function in any build.
    pub fn fewest(&self) -> BTreeMap<String, usize> {
        let mut fewest = BTreeMap::new();
        for (name, count) in self.0.iter().flat_map(|object| counts(object)) {
            let least = fewest.entry(name).or_insert(count);
            *least = count.min(*least);
        }
        fewest
    }
}

fn object(source: &Path, machine: &str, build: &[&str], index: usize) -> Vec<u8> {
    // A folder of the process's own: tests run at the same time.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let name = std::thread::current().name().unwrap_or("peers").replace("::", "-");
    let path = folder.join(format!("{name}{machine}-{index}.o"));
    let fixed = ["-fcf-protection=none", "-ffp-contract=off", "-fno-ipa-icf", "-Wall", "-Wno-psabi", "-c", "-o"];
    let mut command = Command::new("cc");
    command.args(build).arg(machine).args(fixed).arg(&path).arg(source);
    let output = command.output().unwrap_or_else(|error| panic!("cc: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The folder stays: another test may be about to write there.
    let _ = std::fs::remove_file(&path);
    bytes
}

/// The compiler's name and version, as its first line tells them.
pub fn compiler() -> String {
    let output = Command::new("cc").arg("-dumpfullversion").output().unwrap_or_else(|error| panic!("cc: {error}"));
    format!("gcc {}", String::from_utf8_lossy(&output.stdout).trim())
}

/// The instructions of each function of an object that do its work.
pub fn counts(bytes: &[u8]) -> BTreeMap<String, usize> {
    let file = object::File::parse(bytes).unwrap_or_else(|error| panic!("the object: {error}"));
    let mut counts = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let code = section.and_then(|section| section.data_range(symbol.address(), symbol.size()).ok().flatten());
        let (Some(code), Ok(name)) = (code, symbol.name()) else { panic!("a symbol without code: {symbol:?}") };
        let decoder = Decoder::new(64, code, DecoderOptions::NONE);
        let works = decoder.into_iter().inspect(|i| assert!(!i.is_invalid(), "{name} does not decode"));
        counts.insert(name.to_owned(), works.filter(|i| !is_overhead(i.code())).count());
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
