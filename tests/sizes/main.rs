//! Our code is never longer than hand-written intrinsics: each function of the vocabulary beside the peer of the same
//! name in `sse2.c`, `avx2.c`, `avx512.c`, `neon.c` and `wasm.c`, which are run and held against the evaluator first.
//!
//! `cargo xtask docs` (or `RAKEC_WRITE_DOCS=1`) writes the table `docs/code-size.md` anew.

#[path = "../exec/arguments.rs"]
mod arguments;
#[allow(dead_code)]
#[path = "../exec/engine.rs"]
mod engine;
#[allow(dead_code)] // Of what it shares, only peers are run here.
#[path = "../exec/machine.rs"]
mod machine;
mod module;
mod peers;
mod run;
#[path = "../support/mod.rs"]
mod support;

use arguments::Effort;
use machine::Bench;
use peers::{Peers, sizes};
use rake_ir::diag::Diagnostic;
use rake_ir::profile::{Family, Profile};
use rake_testkit::link_elf;
use rake_testkit::source::{Elem, Program, operations};
use rakec::{Emit, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use support::{X86, plain};

/// The columns of the table.
const COLUMNS: [Profile; 5] =
    [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512, Profile::Aarch64Neon, Profile::WasmSimd128];

/// The verified object or module of a program.
fn ours(text: &str, profile: Profile) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let wasm = profile.info().family == Family::Wasm;
    let emit = Emit { object: !wasm, module: wasm, verify: true, ..Emit::default() };
    let outputs = support::compile(text.as_bytes(), Options { emit, ..Options::new(profile) });
    match outputs.object.or(outputs.module) {
        Some(bytes) if !outputs.diagnostics.iter().any(Diagnostic::is_error) => Ok(bytes),
        _ => Err(outputs.diagnostics),
    }
}

/// Shifts by a uniform count, which the vocabulary has by literal counts only.
const SHIFTS_BY: &str = "\
scratch left_by(a: T, <n: u32>) -> T:
  shift_bits_left(a, <n>)

scratch right_by(a: T, <n: u32>) -> T:
  shift_bits_right(a, <n>)

scratch right_signed_by(a: T, <n: u32>) -> T:
  shift_bits_right_signed(a, <n>)
";

/// Functions that need no peer: those of several operations, and those whose sequence of operations the language fixes.
const WITHOUT: [&str; 7] = ["both_ways", "flags", "kinds", "exponential", "logarithm", "binary_logarithm", "tangent"];

/// The programs for a profile, each with what its functions' names start with in C.
fn programs(profile: Profile) -> Vec<(String, Program)> {
    let mut programs = operations::vocabulary(profile.lanes_of_bits(32));
    programs.retain(|program| profile.info().fma || !program.fma);
    for elem in [Elem::I32, Elem::U32] {
        let (name, text) = (format!("shifts by a uniform {}", elem.name()), SHIFTS_BY.replace('T', elem.rack()));
        programs.push(Program { name, text, fma: false });
    }
    let elements = Elem::ALL.map(Elem::name);
    let prefix = |program: &Program| match program.name.rsplit(' ').next() {
        Some(elem) if elements.contains(&elem) => format!("{elem}_"),
        _ => String::new(),
    };
    programs.into_iter().map(|program| (prefix(&program), program)).collect()
}

/// The names of a program's functions.
fn functions(program: &Program) -> impl Iterator<Item = &str> {
    program.text.lines().filter_map(|line| line.strip_prefix("scratch ")?.split('(').next())
}

/// Whether a program moves lanes or shifts by each literal there is, of which the peers have a choice.
fn is_sampled(program: &Program) -> bool {
    program.name.starts_with("lane moves") || program.name.starts_with("shifts ")
}

#[test]
fn peers_compute_what_the_language_says() {
    let mut bench = Bench::default();
    let effort = Effort { tuples: 4000, random: 256, uniforms: 64, calls: 3000 };
    for profile in X86 {
        for (index, object) in Peers::build(profile).0.iter().enumerate() {
            let linked = link_elf(object).unwrap_or_else(|error| panic!("the peers on {profile}: {error}"));
            for (prefix, program) in programs(profile) {
                let what = format!("peers of {}, build {index}", program.name);
                let image = |name: &str| linked.image(&format!("{prefix}{name}"));
                if let Err(problems) = bench.add_images(&what, &program.text, profile, effort, image) {
                    bench.fail(what, &problems);
                }
            }
        }
    }
    let (functions, _) = bench.finish();
    assert!(functions > 2000, "only {functions} functions");
}

#[test]
fn peers_of_other_machines_compute_what_the_language_says() {
    let effort = Effort { tuples: 2000, random: 64, uniforms: 32, calls: 1000 };
    let (mut count, mut failures) = (0, Vec::new());
    for profile in [Profile::Aarch64Neon, Profile::WasmSimd128] {
        for object in &Peers::build(profile).0 {
            let build = run::Build::new(profile, object);
            for (prefix, program) in programs(profile) {
                count += run::check(&build, profile, &prefix, &program, effort, &mut failures);
            }
        }
    }
    let told = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} functions are wrong, among them:\n{told}", failures.len());
    assert!(count > 1500, "only {count} functions");
}

/// What one operation comes to.
#[derive(Default)]
struct Row {
    /// The operation as the source has it.
    operation: String,
    element: String,
    /// Our size and the peer's, by profile: instructions, or bytes of the body on WebAssembly.
    sizes: BTreeMap<usize, (usize, usize)>,
}

/// The expression of a function, or its name where the expression names lanes.
fn operation(program: &Program, name: &str) -> String {
    let text = &program.text;
    let Some(start) = text.find(&format!("scratch {name}(")) else { return name.to_owned() };
    let body = text[start..].lines().skip(1).take_while(|line| line.starts_with(' ')).map(str::trim);
    let body = body.map(|line| line.strip_prefix("let ").unwrap_or(line)).collect::<Vec<_>>().join("; ");
    if body.contains('[') { format!("{name} of a shuffle") } else { body }
}

/// What was measured.
#[derive(Default)]
struct Measured {
    /// In the order of the vocabulary.
    rows: Vec<Row>,
    /// Functions longer than their peers, with their profile, our size and the peer's.
    longer: BTreeMap<String, (usize, usize)>,
    /// Functions without a peer, peers without a function, programs that do not compile.
    wrong: Vec<String>,
}

fn measure() -> Measured {
    let (mut places, mut measured) = (BTreeMap::<String, usize>::new(), Measured::default());
    let Measured { rows, longer, wrong } = &mut measured;
    for (column, profile) in COLUMNS.into_iter().enumerate().filter(|(_, profile)| profile.info().available) {
        let peers = Peers::build(profile).fewest();
        let mut used = BTreeSet::new();
        for (prefix, program) in programs(profile) {
            let object = match ours(&program.text, profile) {
                Ok(object) => object,
                Err(problems) => {
                    wrong.push(format!("{} on {profile}: {}", program.name, plain(&problems)));
                    continue;
                }
            };
            let ours = sizes(&object);
            for name in functions(&program) {
                let base = name.strip_suffix("_stage").unwrap_or(name);
                let symbol = format!("{prefix}{base}");
                let (Some(&ours), Some(&peer)) = (ours.get(name), peers.get(&symbol)) else {
                    if !is_sampled(&program) && !WITHOUT.contains(&base) {
                        wrong.push(format!("{symbol} on {profile} has no peer"));
                    }
                    continue;
                };
                if ours > peer {
                    longer.insert(format!("{prefix}{name} {profile}"), (ours, peer));
                }
                used.insert(symbol.clone());
                if name == base {
                    let place = *places.entry(symbol).or_insert_with(|| {
                        let element = prefix.trim_end_matches('_').to_owned();
                        rows.push(Row { operation: operation(&program, name), element, ..Row::default() });
                        rows.len() - 1
                    });
                    rows[place].sizes.insert(column, (ours, peer));
                }
            }
        }
        let unused = peers.keys().filter(|name| !used.contains(*name));
        wrong.extend(unused.map(|name| format!("the peer {name} on {profile} is of no function")));
    }
    measured
}

const PAGE: &str = "docs/code-size.md";

/// The whole vocabulary's module: ours and clang's, in bytes. None where our compiler makes no modules.
fn modules() -> Option<(usize, usize)> {
    let profile = Profile::WasmSimd128;
    let peers = Peers::build(profile).fewest().into_keys().collect();
    let vocabulary = module::vocabulary(profile, &peers);
    let theirs = vocabulary.peers();
    let exported = sizes(&theirs);
    let missing = vocabulary.names.iter().filter(|name| !exported.contains_key(&format!("{name}.memory")));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "not exported");
    assert_eq!(exported.len(), 2 * vocabulary.names.len());
    profile.info().available.then(|| {
        let ours = vocabulary.ours(profile).unwrap_or_else(|problems| panic!("our module: {}", plain(&problems)));
        (stripped(&ours), stripped(&theirs))
    })
}

/// Bytes of a module without custom sections: names and stamps, which wasm-ld leaves out and no engine needs. A section is
/// its number, the length of its contents in groups of seven bits, and those (WebAssembly specification, section 5.5.2).
fn stripped(module: &[u8]) -> usize {
    let (mut at, mut bytes) = (8, 8);
    while at < module.len() {
        let start = at;
        let (mut length, mut shift) = (0, 0);
        loop {
            at += 1;
            length |= usize::from(module[at] & 0x7f) << shift;
            shift += 7;
            if module[at] & 0x80 == 0 {
                break;
            }
        }
        at += 1 + length;
        bytes += if module[start] == 0 { 0 } else { at - start };
    }
    bytes
}

fn page(rows: &[Row], modules: Option<(usize, usize)>) -> String {
    let header = COLUMNS.map(|profile| format!("{profile} |")).join(" ");
    let mut page = format!(
        "# Code size\n\nSize of each operation of the vocabulary, alone in a function: ours, then that of hand-written \
         intrinsics. It is the number of instructions;\non WebAssembly it is the bytes of the function's body, locals \
         included.\n\nBoth are read from the bytes of finished objects and modules by one decoder; `ret`, \
         `vzeroupper`, `endbr64`, `bti` and `nop` do not count, everything\nelse does. The intrinsics are in \
         `tests/sizes`; each function counts as the shortest of several builds by {},\nand is run against the evaluator like our code. \
         `cargo test --test sizes` checks this page and that no row is longer;\n`cargo xtask docs` writes it.\n\n\
         | operation | element | {header}\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
        peers::compilers(),
    );
    let mut totals = BTreeMap::<usize, (usize, usize)>::new();
    let cell = |sizes: Option<&(usize, usize)>| match sizes {
        None => "–".to_owned(),
        Some((ours, peer)) => format!("{ours} / {peer}"),
    };
    let cells = |sizes: &BTreeMap<usize, (usize, usize)>| {
        (0..COLUMNS.len()).map(|column| cell(sizes.get(&column))).collect::<Vec<_>>().join(" | ")
    };
    for row in rows {
        for (column, (ours, peer)) in &row.sizes {
            let total = totals.entry(*column).or_default();
            *total = (total.0 + ours, total.1 + peer);
        }
        let _ = writeln!(page, "| `{}` | {} | {} |", row.operation, row.element, cells(&row.sizes));
    }
    let _ = writeln!(page, "| all | | {} |", cells(&totals));
    if let Some((ours, theirs)) = modules {
        let _ = write!(
            page,
            "\n## A module\n\nThe functions above in one WebAssembly module, each exported over `v128` and once more with \
             a wrapper that takes and gives racks in memory.\nClang builds the intrinsics with `-O3` and wasm-ld strips \
             the module; custom sections (names, stamps) do not count in either.\n\n| module | ours | clang's |\n| --- | ---: | ---: |\n| bytes | {ours} | {theirs} |\n",
        );
    }
    page
}

/// What a page says but for the peers, which another compiler may build shorter or longer.
fn without_peers(page: &str) -> Vec<String> {
    let ours = |cell: &str| cell.split(" / ").next().unwrap_or("").trim().to_owned();
    page.lines().filter(|line| line.starts_with('|')).map(|line| line.split('|').map(ours).collect()).collect()
}

#[test]
fn no_operation_is_longer_than_its_peer_and_the_page_says_so() {
    let Measured { rows, longer, wrong } = measure();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let longer =
        longer.iter().map(|(name, (ours, peer))| format!("{name}: {ours} instructions, the peer has {peer}\n"));
    let longer = longer.collect::<String>();
    assert!(longer.is_empty(), "longer than their peers:\n{longer}");
    assert!(rows.len() > 350, "only {} rows", rows.len());
    let modules = modules();
    if let Some((ours, theirs)) = modules {
        assert!(ours <= theirs, "our module has {ours} bytes, clang's {theirs}");
    }
    let (path, expected) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), page(&rows, modules));
    if std::env::var_os("RAKEC_WRITE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
    let same = if found.contains(&peers::compilers()) {
        found == expected
    } else {
        without_peers(&found) == without_peers(&expected)
    };
    assert!(same, "docs/code-size.md is not what was measured; run `cargo xtask docs`");
}
