//! The command itself: whatever the input, it ends with 0, 1 or 2, and never by a signal.

use crate::support::{Scratch, files, from_environment, profiles};
use rake_testkit::process::measure;
use rake_testkit::source::mutate;
use rake_testkit::special::Bits;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Every mode and look that reads a program.
const MODES: &[&[&str]] = &[
    &[],
    &["--verify-native", "-o", "k.o"],
    &["--emit-obj", "-o", "k.o"],
    &["--emit-wasm", "-o", "k.wasm"],
    &["--emit-asm", "-o", "-"],
    &["--emit-header", "-o", "-"],
    &["--emit-tokens"],
    &["--emit-ast"],
    &["--emit-native-ir"],
    &["--emit-c"],
    &["--interpret"],
    &["--dump-pass", "all"],
    &["--dump-pass", "all", "--dump-format", "diff"],
    &["--dump-pass", "all", "--dump-format", "json", "--message-format", "json"],
    &["--explain-fusion"],
    &["--timings", "--check-passes"],
    &["--deny", "all", "--fuse", "exact"],
];

fn ends_well(folder: &Path, input: &Path, mode: &[&str], profile: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    command.current_dir(folder).args(mode).args(["--target", profile]).arg(input);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let usage = measure(&mut command).expect("the compiler starts");
    let what = || {
        format!(
            "{mode:?} on {profile}: {}",
            String::from_utf8_lossy(&std::fs::read(input).unwrap_or_default()).chars().take(2000).collect::<String>()
        )
    };
    assert!(matches!(usage.status.code(), Some(0 | 1)), "{}\n{}", usage.status, what());
    // Evaluating a hundred thousand operations after every pass takes its time in a test build.
    let budget = Duration::from_secs(if mode.contains(&"--check-passes") { 120 } else { 20 });
    assert!(usage.wall < budget, "took {:?}\n{}", usage.wall, what());
}

#[test]
fn every_mode_ends_well_on_damaged_programs() {
    let folder = Scratch::new("process-fuzz");
    let (seeds, profiles) = (files(), profiles());
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_FUZZ", 1500) / 8;
    for seed in first..first + count {
        let mut bits = Bits::new(seed ^ 5 << 32);
        let text = seeds[bits.below(seeds.len())].1.as_bytes();
        let bytes = if bits.below(4) == 0 { text.to_vec() } else { mutate::mutate(text, &mut bits) };
        let input = folder.write("k.rk", bytes);
        let mode = MODES[bits.below(MODES.len())];
        let profile = profiles[bits.below(profiles.len())];
        ends_well(&folder.0, &input, mode, profile.name());
    }
}

#[test]
fn every_mode_ends_well_on_extremes() {
    let folder = Scratch::new("process-extremes");
    let head = "scratch f(x: f32s, m: mask) -> f32s:\n";
    let many = 100_000;
    let inputs = [
        format!("{head}  {}x{}\n", "(".repeat(many), ")".repeat(many)),
        format!("{head}  {}x\n", "-".repeat(many)),
        format!("{head}  x{}\n", " + x".repeat(many)),
        format!("{head}  | r <| x{}\n  r\n", " + x * x".repeat(many)),
        format!("{head}  {}x\n", "if m then x else ".repeat(many)),
        format!("{head}  x ~~ {}\n", "c".repeat(10_000_000)),
        format!("{head}  {}\n", "x ".repeat(5_000_000)),
        "(".repeat(many),
        "\0".repeat(1000),
        "slow { ".repeat(20_000),
        String::new(),
    ];
    for (index, text) in inputs.iter().enumerate() {
        let input = folder.write(&format!("k{index}.rk"), text);
        for mode in
            [&[][..], &["--verify-native", "-o", "k.o"], &["--emit-tokens"], &["--emit-ast"], &["--check-passes"]]
        {
            ends_well(&folder.0, &input, mode, "x86-avx2");
        }
    }
    let input = folder.write("bytes.rk", [0xff, 0xfe, b'x', 0xc3, b'\n'].repeat(1000));
    for mode in MODES {
        ends_well(&folder.0, &input, mode, "x86-sse2");
    }
}

#[test]
fn wrong_usage_is_status_2() {
    for args in [
        &["--no-such-option", "k.rk"][..],
        &["--target", "no-such-profile", "k.rk"],
        &["--dump-pass", "no-such-pass", "k.rk"],
        &["--from", "no-such-ir", "k.rk"],
        &["--fuse", "sometimes", "k.rk"],
        &["--emit-asm", "--emit-obj", "k.rk"],
        &[],
    ] {
        let run = Command::new(env!("CARGO_BIN_EXE_rakec")).args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
    let run = Command::new(env!("CARGO_BIN_EXE_rakec")).arg("no-such-file.rk").output().unwrap();
    assert!(matches!(run.status.code(), Some(1 | 2)) && !run.stderr.is_empty());
}
