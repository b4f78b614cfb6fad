//! The runs of `examples/runs` called from C and from Rust, as their users would build them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The examples, and what their callers print.
const RUNS: [(&str, &str); 5] = [
    // Of every seven, those that start at 3, 4, 5 and 6 are kept: 143 times four and two more of the rest of two.
    ("particles", "572 of 1003 particles are above the floor\n"),
    ("spheres", "41 of 77 rays hit\n"),
    ("blend", "18 blends of 65536 pixels are exact\n"),
    ("lookup", "1000 values were found\n"),
    // 246 times 5 and the first four of another five, which are -1, 0, 1 and 2.
    ("sums", "the last of 1234 sums is 1232\n"),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/runs")
}

/// Runs a command to its successful end; what it printed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Calls every example from C: compiled with arguments of rakec, by compilers with theirs, run by a command.
fn c_calls(name: &str, target: &[&str], compilers: &[(&str, &[&str])], runner: &[&str]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    for (run, printed) in RUNS {
        let source = examples().join(run).with_extension("rk");
        let (object, header) = (folder.join(run).with_extension("o"), folder.join(run).with_extension("h"));
        for (mode, to) in [("--verify-native", &object), ("--emit-header", &header)] {
            let mut rakec = Command::new(env!("CARGO_BIN_EXE_rakec"));
            output(rakec.args(target).args([mode, "--check-passes", "--no-report", "-o"]).arg(to).arg(&source));
        }
        for (compiler, machine) in compilers {
            let program = folder.join(format!("{run}-{compiler}"));
            let mut c = Command::new(compiler);
            c.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(&folder).args(*machine);
            c.arg(examples().join(run).with_extension("c")).arg(&object).arg("-o").arg(&program);
            output(&mut c);
            let words: Vec<_> = runner.iter().map(std::ffi::OsString::from).chain([program.into_os_string()]).collect();
            assert_eq!(output(Command::new(&words[0]).args(&words[1..])), printed, "{run} by {compiler}");
        }
    }
}

#[test]
fn c_calls_every_example() {
    c_calls("callers", &[], &[("gcc", &["-march=native"]), ("clang-19", &["-march=native"])], &[]);
}

/// Programs are static: the libraries of AArch64 may stand anywhere.
#[test]
fn c_calls_every_example_on_aarch64() {
    let clang = ("clang-19", &["--target=aarch64-linux-gnu", "-static"][..]);
    let compilers = [("aarch64-linux-gnu-gcc", &["-static"][..]), clang];
    let runner = ["qemu-aarch64", "-cpu", "cortex-a53"];
    c_calls("callers-aarch64", &["--target", "aarch64-neon"], &compilers, &runner);
}

#[test]
fn rust_calls_every_example() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("callers-from-rust");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--quiet"]).current_dir(examples().join("rust"));
    output(cargo.env("CARGO_TARGET_DIR", &target).env("RAKEC", env!("CARGO_BIN_EXE_rakec")));
    for (run, printed) in RUNS {
        assert_eq!(output(&mut Command::new(target.join("debug").join(run))), printed, "{run}");
    }
}
