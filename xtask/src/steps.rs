//! The steps of the test command.

use crate::install;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What one step came to.
struct Step {
    name: &'static str,
    passed: bool,
    seconds: f32,
}

/// Runs every step, goes on after a failure so that one run shows everything, and returns whether all passed.
pub fn test() -> bool {
    let mut steps = Vec::new();
    let mut step = |name: &'static str, run: &dyn Fn() -> bool| {
        println!("\n== {name}");
        let start = Instant::now();
        let passed = run();
        steps.push(Step { name, passed, seconds: start.elapsed().as_secs_f32() });
    };
    step("tools", &install::tools);
    step("formatting", &|| cargo(&["fmt", "--all", "--check"], &[]));
    step("lints", &|| cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"], &[]));
    // Snapshots are compared, never written: a change waits for nobody's review here, it fails.
    let tests = ["test", "--workspace", "--no-fail-fast"];
    step("tests", &|| cargo(&tests, &[("INSTA_UPDATE", "no"), ("INSTA_FORCE_PASS", "0")]));
    step("snapshots", &pending);
    println!("\n== summary");
    for step in &steps {
        println!("{:>6.1} s  {:<12} {}", step.seconds, step.name, if step.passed { "ok" } else { "FAILED" });
    }
    for missing in install::missing() {
        println!("without tests that need {missing}");
    }
    let passed = steps.iter().all(|step| step.passed);
    println!("{}", if passed { "everything holds" } else { "something failed; see above" });
    passed
}

/// Writes the generated pages anew.
pub fn docs() -> bool {
    cargo(&["test", "--quiet", "--package", "rakec", "--test", "docs", "--test", "sizes"], &[("RAKEC_WRITE_DOCS", "1")])
}

/// Runs the fuzz tests alone.
pub fn fuzz() -> bool {
    cargo(&["test", "--package", "rakec", "--test", "robust", "--", "--nocapture"], &[])
}

/// Runs unary operations over all inputs, in a release build.
pub fn exhaustive(operations: &[&str]) -> bool {
    let command = ["bench", "--quiet", "--package", "rakec", "--bench", "exhaustive", "--"];
    cargo(&[&command, operations].concat(), &[])
}

fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command.envs(variables.iter().copied());
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            println!("cargo: {error}");
            false
        }
    }
}

/// No snapshot waits for review.
fn pending() -> bool {
    let mut open = vec![root().join("snapshots")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "new" || extension == "pending-snap") {
                found.push(path);
            }
        }
    }
    found.sort();
    for path in &found {
        println!("{} waits for review: cargo insta review", path.display());
    }
    found.is_empty()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}
