//! The style that numbers can hold: lengths of files and functions, headers, order, and words that do not belong.

use std::path::{Path, PathBuf};

const MOST_LINES: usize = 800;
const MOST_FUNCTION_LINES: usize = 70;
/// Tables: one row per operation, instruction or code; some are the arms of one constant function.
const TABLES: &[&str] = &[
    "ir/src/ops.rs",
    "ir/src/diag.rs",
    "ir/src/machine/x86.rs",
    "ir/src/reference.rs",
    "backends/src/x86/codes.rs",
    "backends/src/aarch64/codes.rs",
    "verifier/src/aarch64/encoding.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of the project with one of these extensions and their text, sorted by path.
fn files(extensions: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).expect("a folder of the project can be read");
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                if name != "target" && !name.starts_with(".git") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|e| extensions.contains(&e.to_string_lossy().as_ref())) {
                let text = std::fs::read_to_string(entry.path()).expect("a file of the project is text");
                found.push((path.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

fn report(problems: Vec<String>) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn files_are_short() {
    let long = files(&["rs"]).into_iter().filter(|(path, _)| !TABLES.contains(&path.as_str()));
    let long = long.filter(|(_, text)| text.lines().count() > MOST_LINES);
    report(long.map(|(path, text)| format!("{path} has {} lines", text.lines().count())).collect());
}

#[test]
fn functions_are_short() {
    let mut problems = Vec::new();
    for (path, text) in files(&["rs"]).into_iter().filter(|(path, _)| !TABLES.contains(&path.as_str())) {
        let mut open: Option<(usize, usize, &str)> = None;
        for (number, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            match open {
                Some((depth, start, name)) if line.trim_end() == format!("{:depth$}}}", "") => {
                    if number - start + 1 > MOST_FUNCTION_LINES {
                        problems.push(format!("{path}:{}: {name} has {} lines", start + 1, number - start + 1));
                    }
                    open = None;
                }
                None if is_function(line) && !line.trim_end().ends_with(['}', ';']) => {
                    open = Some((indent, number, line.trim()));
                }
                _ => {}
            }
        }
    }
    report(problems);
}

fn is_function(line: &str) -> bool {
    let rest = ["pub ", "pub(crate) ", "pub(super) ", "const ", "unsafe ", "extern \"C\" "];
    let mut words = line.trim_start();
    while let Some(after) = rest.iter().find_map(|prefix| words.strip_prefix(prefix)) {
        words = after;
    }
    words.starts_with("fn ")
}

#[test]
fn files_say_what_they_are() {
    let rust = files(&["rs"]);
    let bare = rust.iter().filter(|(path, text)| !path.ends_with("tests.rs") && !text.starts_with("//!"));
    let mut problems: Vec<String> = bare.map(|(path, _)| format!("{path} has no header")).collect();
    for pass in rakec::pipeline::PASSES {
        let name = pass.name.replace('-', "_");
        let places = [format!("passes/src/{name}.rs"), format!("passes/src/{name}/mod.rs")];
        match rust.iter().find(|(path, _)| places.contains(path)) {
            None => problems.push(format!("the pass {} has no file of its name", pass.name)),
            Some((path, text)) if !text.contains("//! ```") => {
                problems.push(format!("{path} has no example before and after"));
            }
            Some(_) => {}
        }
    }
    report(problems);
}

#[test]
fn order_never_comes_from_a_hash() {
    let mut problems = Vec::new();
    for (path, text) in files(&["rs"]) {
        if path.starts_with("tests/") || path.starts_with("testkit/") {
            continue;
        }
        let hashed: Vec<&str> = text.lines().filter_map(hashed_name).collect();
        for (number, line) in text.lines().enumerate() {
            for name in &hashed {
                if walks(line, name) {
                    problems.push(format!("{path}:{}: walks the hash table {name}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    report(problems);
}

/// Whether a line walks over the table of this name (not over a field of that name of something else).
fn walks(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let walks = [".iter()", ".keys()", ".values()", ".drain()", ".into_iter()", ".into_keys()", ".into_values()"];
    walks.iter().any(|walk| {
        let at = code.find(&format!("{name}{walk}"));
        at.is_some_and(|at| {
            let before = &code[..at];
            before.ends_with("self.") || !before.ends_with(|c: char| c == '.' || c == '_' || c.is_alphanumeric())
        })
    })
}

/// The name that a line gives to a hash table.
fn hashed_name(line: &str) -> Option<&str> {
    let at = line.find("HashMap").or_else(|| line.find("HashSet"))?;
    let before = line[..at].trim_end_matches(|c: char| "&' =:<>".contains(c));
    let before = before.trim_end_matches("mut").trim_end();
    let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (name.len() > 2 && name != "use" && !before.contains("use ") && !before.contains("->")).then_some(name)
}

#[test]
fn the_project_speaks_of_itself() {
    // Put together here so that this file does not hold the words that it looks for.
    let words = [["/wo", "rk/"], ["crates", ".io"], ["TO", "DO"], ["FIX", "ME"], ["X", "XX"], ["todo", "!("]];
    let words = words.map(|parts| parts.concat());
    let mut problems = Vec::new();
    for (path, text) in files(&["rs", "md", "toml", "rk", "snap", "sh", "py"]) {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| line.contains(word.as_str())) {
                problems.push(format!("{path}:{}: {word}", number + 1));
            }
        }
    }
    report(problems);
}
