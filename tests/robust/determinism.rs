//! Equal inputs give equal outputs, on any number of threads and in any directory, and outputs name no place on the
//! machine.

use crate::support::{Scratch, profiles};
use rake_ir::profile::{Family, Profile};
use rake_testkit::source::{kernels, random, regions};
use std::collections::BTreeMap;
use std::process::Command;

/// Everything that the command writes for a program, by mode.
fn outputs(folder: &Scratch, text: &str, profile: Profile, threads: &str) -> BTreeMap<String, Vec<u8>> {
    folder.write("kernel.rk", text);
    let code: &[&[&str]] = match profile.info().family {
        Family::X86 | Family::Aarch64 => &[
            &["--verify-native", "-o", "out"],
            &["--verify-native", "--export", "-o", "out"],
            &["--emit-asm", "-o", "out"],
        ],
        Family::Wasm => &[&["--verify-native", "-o", "out"]],
        Family::Scalar => &[],
    };
    let rest: &[&[&str]] = &[
        &["--emit-c", "-o", "out"],
        &["--emit-header", "-o", "out"],
        &["--dump-pass", "all"],
        &["--dump-pass", "all", "--dump-format", "json"],
        &["--explain-fusion"],
    ];
    let mut all = BTreeMap::new();
    for mode in code.iter().chain(rest) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
        command.current_dir(&folder.0).env("RAYON_NUM_THREADS", threads);
        let run = command.args(*mode).args(["--target", profile.name(), "kernel.rk"]).output().unwrap();
        let (said, complaints) = (run.stdout, String::from_utf8_lossy(&run.stderr).into_owned());
        assert!(run.status.success(), "{mode:?}: {complaints}");
        all.insert(format!("{mode:?} printed"), said);
        all.insert(format!("{mode:?} reported"), complaints.into_bytes());
        if mode.contains(&"out") {
            all.insert(format!("{mode:?} wrote"), std::fs::read(folder.0.join("out")).unwrap());
        }
    }
    all
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn two_builds_are_equal() {
    let (one, other) = (Scratch::new("build-one"), Scratch::new("another-build"));
    let random = random::program(7, 40, false).text;
    for profile in profiles() {
        for text in [&regions::program().text, &kernels::functions(60).rake, &random] {
            let first = outputs(&one, text, profile, "1");
            let second = outputs(&other, text, profile, "8");
            for (what, bytes) in &first {
                assert!(*bytes == second[what], "{what} on {profile} differs between builds");
                for place in [env!("CARGO_MANIFEST_DIR"), "build-one", "/root", "/home", "/tmp", "/rustc"] {
                    assert!(!contains(bytes, place), "{what} on {profile} names {place}");
                }
            }
        }
    }
}
