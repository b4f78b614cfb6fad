//! The documentation says what is true: generated pages are fresh, code in the reference compiles, commands in the README
//! print what it shows.
//!
//! `cargo xtask docs` (or `RAKEC_WRITE_DOCS=1`) writes the generated pages and the README's output anew.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::ops::{LaneRule, OPS, Op, Syntax};
use rake_ir::profile::Profile;
use rake_ir::types::Ty;
use rakec::render::{Format, render};
use rakec::{Compiler, Files, Options};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Compares a page with what it should be, or writes it.
fn fresh(path: &str, expected: &str) {
    if std::env::var_os("RAKEC_WRITE_DOCS").is_some() {
        std::fs::write(root().join(path), expected).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    let found = std::fs::read_to_string(root().join(path)).unwrap_or_default();
    assert!(found == expected, "{path} is not what the tables say; run `cargo xtask docs`");
}

#[test]
fn the_page_of_diagnostics_is_fresh() {
    let mut page = String::from(
        "# Diagnostics\n\nEvery code of an error or a warning, generated from the table in `ir/src/diag.rs`. A code is \
         stable and never reused.\n`rakec --explain CODE` prints the same text.\n",
    );
    let mut stage = "";
    for code in Code::ALL {
        if code.stage() != stage {
            stage = code.stage();
            let _ = write!(page, "\n## {stage}\n");
        }
        let _ = write!(page, "\n### {code}: {}\n\n{}\n", code.title(), code.explanation());
    }
    fresh("docs/diagnostics.md", &page);
}

#[test]
fn the_page_of_passes_is_fresh() {
    let mut page = String::from(
        "# Passes\n\nGenerated from the table in `rakec/pipeline/table.rs`; `rakec --list-passes` prints the same.\n\n\
         | pass | from | to | profiles | what it does | must follow |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for pass in rakec::pipeline::PASSES {
        let after = pass.after.iter().map(|(earlier, reason)| format!("`{earlier}`: {reason}"));
        let after = after.collect::<Vec<_>>().join("; ");
        let (from, to) = (pass.from.name(), pass.to.name());
        let _ = writeln!(page, "| `{}` | `{from}` | `{to}` | {} | {} | {after} |", pass.name, pass.profiles, pass.doc);
    }
    fresh("docs/passes.md", &page);
}

#[test]
fn the_page_of_capabilities_is_fresh() {
    let table = rake_ir::capabilities::print(&Profile::all().collect::<Vec<_>>());
    let page = format!(
        "# Capabilities\n\nWhat each profile compiles, generated from `ir/src/capabilities.rs`; \
         `rakec --print-capabilities` prints the same.\n\n```text\n{table}```\n"
    );
    fresh("docs/capabilities.md", &page);
}

#[test]
fn the_page_of_operations_is_fresh() {
    let mut page = String::from(
        "# Operations\n\nGenerated from the table in `ir/src/ops.rs`. *Stage*: whether a fused stage may hold it. *Inactive \
         lanes*: what each operand becomes there, or why that is not needed.\n\n\
         | operation | stage | inactive lanes | what it computes |\n| --- | :-: | --- | --- |\n",
    );
    for info in OPS.iter().filter(|info| info.syntax != Syntax::Internal) {
        let lane = match info.lane {
            LaneRule::Total => "nothing to do".to_string(),
            LaneRule::Sanitise(benign) => benign.iter().map(|b| format!("{b:?}")).collect::<Vec<_>>().join(", "),
            LaneRule::CrossLane => "reads other lanes: all of them must be computed".to_string(),
            LaneRule::Unmasked => "cannot stand under a mask".to_string(),
            LaneRule::Reads | LaneRule::Effect => "not touched there".to_string(),
        };
        let name = if info.spelling.is_empty() { info.name } else { info.spelling };
        let stage = if info.fused { "yes" } else { "" };
        let _ = writeln!(page, "| `{name}` | {stage} | {lane} | {} |", info.doc);
    }
    page += "\n## Published sequences\n\nAn operation without an instruction is this sequence of operations, the same bits on \
             every profile that uses it. Read them as dumps of `fused`, here for the first of the profiles. *Steps* are those \
             that compute: constants, `bitcast`, `splat` and `unsplat` cost nothing.\n";
    for sequence in rake_passes::expand::SEQUENCES {
        let steps = sequence.profiles(rake_backends::target).map(|profile| published(sequence, profile));
        let steps: Vec<(Profile, String, usize)> = steps.collect();
        let Some((_, body, _)) = steps.first() else {
            panic!("no profile needs this sequence of {}: {}", sequence.op.name(), sequence.doc);
        };
        let elems = sequence.elems.iter().map(|elem| elem.name()).collect::<Vec<_>>().join(" and ");
        let counts =
            steps.iter().map(|(profile, _, count)| format!("{count} on {profile}")).collect::<Vec<_>>().join(", ");
        let _ = write!(
            page,
            "\n### {} of {elems}\n\n{} Steps: {counts}.\n\n```text\nscratch {body}```\n",
            sequence.op.name(),
            sequence.doc
        );
    }
    fresh("docs/operations.md", &page);
}

/// A sequence on a profile: its dump, and how many steps compute.
fn published(sequence: &rake_passes::expand::Sequence, profile: Profile) -> (Profile, String, usize) {
    let (op, elem) = (sequence.op, sequence.elems[0]);
    let name = op.name();
    let rack = Ty::Rack(elem);
    let result = op.infer(&[rack], None).unwrap_or(rack);
    let dump = format!(
        "rake fused 1\nprofile {profile}\nfuse full\n\nscratch {name}(x: {rack}) -> {result} {{\n  \
         %0 : {rack} = param 0  ~~ x\n  %1 : {result} = {name} %0\n  return %1\n}}\n"
    );
    let program = rake_ir::fused::read(&dump).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
    let program = rake_passes::expand::run(program, rake_backends::target(profile));
    let text = rake_ir::fused::print(&program);
    let free = [Op::Param, Op::Const, Op::Bitcast, Op::Splat, Op::Unsplat];
    let function = &program.functions[0];
    let count = function.order().filter(|&id| !free.contains(&function.values[id].op)).count();
    (profile, text.split_once("scratch ").map_or("", |(_, body)| body).into(), count)
}

#[test]
fn the_page_of_limits_is_fresh() {
    use rake_ir::limits as l;
    use rake_passes::parse as p;
    let rows: &[(&str, u64)] = &[
        ("bytes of a source file or dump", l::INPUT_BYTES),
        ("nesting of expressions, types and bodies", p::MAX_NESTING as u64),
        ("nesting of block comments", p::MAX_COMMENT_NESTING as u64),
        ("errors reported", p::MAX_ERRORS as u64),
        ("definitions in a file", l::DEFINITIONS as u64),
        ("calls in a chain below the first", l::CALL_DEPTH as u64),
        ("statements of a repeat once unrolled, inner repeats multiplied in", l::UNROLLED_STATEMENTS),
        ("statements of a definition once its calls are inlined", l::INLINED_STATEMENTS),
        ("expressions of a definition once its calls are inlined and its repeats unrolled", l::EXPRESSIONS),
        ("elements of an array of racks", l::ARRAY_ELEMENTS),
        ("steps that decide the masks of a definition", l::MASK_STEPS as u64),
        ("steps that make a definition fit the registers", l::RELIEFS as u64),
        ("bytes between an AArch64 instruction and its constant after the code", l::LITERAL_DISTANCE.into()),
        ("rack, mask and float arguments of a scratch", l::VECTOR_ARGUMENTS as u64),
        ("integer and `bool` arguments of a scratch", l::INTEGER_ARGUMENTS as u64),
    ];
    let rows = rows.iter().map(|(what, limit)| format!("| {what} | {limit} |\n")).collect::<String>();
    let page = format!(
        "# Limits\n\nWhat the compiler bounds, so that no input makes it run without end or out of memory; generated from \
         the constants in the code. Exceeding one is an error with a code, never a hang.\n\n\
         | what | most |\n| --- | ---: |\n{rows}"
    );
    fresh("docs/limits.md", &page);
}

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// The fenced blocks of a page whose information string starts with `language`: its rest, line and text.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<(&'a str, usize, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let body: String = body.map(|line| format!("{line}\n")).collect();
        if let Some(rest) = info.strip_prefix(language) {
            found.push((rest.trim(), number + 1, body));
        }
    }
    found
}

#[test]
fn code_in_the_documentation_compiles() {
    let mut tried = 0;
    for page in ["docs/language.md", "docs/contributing.md", "README.md"] {
        for (mode, line, text) in blocks(&read(page), "rake") {
            let refused = mode.strip_prefix("refused ");
            let to = match mode {
                "" => None,
                // As far as this pass.
                "parse" | "simplify" => Some(mode.to_string()),
                _ if refused.is_some() => None,
                other => panic!("{page}:{line}: what is `rake {other}`?"),
            };
            let options =
                Options { to, check_passes: matches!(mode, "" | "simplify"), ..Options::new(Profile::X86Avx2) };
            let compiler = Compiler::new(options, &NoFiles).expect("the options are right");
            let outputs = compiler.compile_bytes(Path::new(page), text.into_bytes());
            let text = render(&outputs.diagnostics, &outputs.sources, Format::Plain);
            let codes: Vec<&str> = outputs.diagnostics.iter().map(|problem| problem.code.as_str()).collect();
            let expected: Vec<&str> = refused.into_iter().collect();
            assert_eq!(codes, expected, "{page}:{line}:\n{text}");
            tried += 1;
        }
    }
    assert!(tried >= 25, "only {tried} blocks were found");
}

#[test]
fn the_readme_shows_true_output() {
    let readme = read("README.md");
    let mut page = String::new();
    let mut shown = String::new();
    let mut inside = false;
    let mut commands = 0;
    for line in readme.lines() {
        if inside && (line.starts_with("$ ") || line == "```") {
            page += &shown;
            shown.clear();
        }
        let plain = !inside || line.starts_with("$ ") || line == "```";
        if plain {
            page += line;
            page.push('\n');
        }
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if inside && line.starts_with("$ rakec ") => {
                shown = output(&line["$ rakec ".len()..]);
                commands += 1;
            }
            _ => {}
        }
    }
    assert!(commands >= 4, "only {commands} commands were found");
    fresh("README.md", &page);
}

/// What the command prints, standard output first; run in a folder of its own that has the examples.
fn output(arguments: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    for examples in ["examples", "examples/runs"] {
        std::fs::create_dir_all(folder.join(examples)).expect("the target folder can be written");
        let entries = std::fs::read_dir(root().join(examples)).expect("there are examples").flatten();
        for entry in entries.filter(|entry| entry.path().is_file()) {
            let to = folder.join(examples).join(entry.file_name());
            std::fs::copy(entry.path(), to).expect("an example can be copied");
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    let output = command.args(arguments.split_whitespace()).current_dir(&folder).output().expect("rakec starts");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("rakec prints UTF-8")
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    for page in ["README.md", "ARCHITECTURE.md", "docs/contributing.md", "docs/language.md"] {
        let folder = Path::new(page).parent().unwrap_or(Path::new(""));
        for link in read(page).split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or("");
            let outside = target.is_empty() || target.contains("://");
            assert!(outside || root().join(folder).join(target).exists(), "{page}: {target} does not exist");
        }
    }
}

#[test]
fn every_code_is_explained_where_a_user_would_look() {
    for code in Code::ALL {
        let diagnostic = Diagnostic::spanless(*code, "x");
        let text = render(&[diagnostic], &Default::default(), Format::Plain);
        assert!(text.contains(code.as_str()) && text.contains(code.stage()), "{text}");
    }
}
