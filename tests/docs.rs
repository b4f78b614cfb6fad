//! The documentation says what is true: generated pages are fresh, code in the reference compiles, commands in the README
//! print what it shows.
//!
//! `cargo xtask docs` (or `RAKEC_WRITE_DOCS=1`) writes the generated pages and the README's output anew.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Profile;
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
                "parse" => Some("parse".to_string()),
                _ if refused.is_some() => None,
                other => panic!("{page}:{line}: what is `rake {other}`?"),
            };
            let options = Options { to, check_passes: mode.is_empty(), ..Options::new(Profile::X86Avx2) };
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
    std::fs::create_dir_all(folder.join("examples")).expect("the target folder can be written");
    for entry in std::fs::read_dir(root().join("examples")).expect("there are examples").flatten() {
        std::fs::copy(entry.path(), folder.join("examples").join(entry.file_name())).expect("an example can be copied");
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
