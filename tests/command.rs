//! The command as its user meets it: exit statuses, where output goes, and what every mode gives.

use rake_ir::profile::Profile;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn rakec(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("rakec starts")
}

fn stdout(arguments: &[&str]) -> String {
    let output = rakec(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The exit status and standard error.
fn fails(arguments: &[&str]) -> (Option<i32>, String) {
    let output = rakec(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?} prints to standard output");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A fresh folder in the target directory.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

const ADVANCE: &str = "examples/advance.rk";
const AVX2: &[&str] = &["--target", "x86-avx2", ADVANCE];

fn with(mode: &[&'static str]) -> Vec<&'static str> {
    [mode, AVX2].concat()
}

#[test]
fn wrong_usage_is_two_and_lists_what_there_is() {
    for (arguments, words) in [
        (&["--target", "x86", ADVANCE][..], "x86-avx512"),
        (&["--dump-pass", "fuze", ADVANCE], "resolve-tines"),
        (&["--from", "nowhere", ADVANCE], "tined"),
        (&["--from", "typed", ADVANCE], "read back"),
        (&["--from", "selected", "--to", "tined", ADVANCE], "before"),
        (&["--fuse", "wild", ADVANCE], "contract"),
        (&["--deny", "R9999", ADVANCE], "all"),
        (&["--explain", "R9999"], "R0001"),
        (&["--emit-obj", "--emit-asm", ADVANCE], "cannot be used"),
        (&["no/such/file.rk"], "no/such/file.rk"),
        (&["-o", "out.o", ADVANCE], "--emit-obj"),
        (&["--emit-asm", "-o", "no/such/folder/advance.s", ADVANCE], "no/such/folder"),
        (&[], "FILE.rk"),
        (&["--emit-asm", "-o", ADVANCE, ADVANCE], "overwrite"),
        (&["--emit-asm", "-o", "-", "--dump-pass", "fuse", ADVANCE], "--dump-dir"),
        (&["--emit-ast", "--dump-pass", "fuse", ADVANCE], "--dump-dir"),
        (&["--export", ADVANCE], "--export"),
        (&["--only-changed", ADVANCE], "--dump-pass"),
        (&["--dump-format", "diff", ADVANCE], "--dump-pass"),
        (&[ADVANCE, "--", "1"], "--interpret"),
        (&["/dev/zero"], "64 MiB"),
        (&["--target", "x86-avx2,x86-sse2,x86-avx2", ADVANCE], "x86-avx2 is given twice"),
        (&["--target", "x86-avx2,aarch64-neon", ADVANCE], "compile once for aarch64-neon alone"),
        (&["--target", "wasm-simd128,wasm-simd128-relaxed", ADVANCE], "compile once for wasm-simd128 alone"),
        (&["--target", "scalar,x86-sse2", ADVANCE], "x86-sse2, x86-avx2, x86-avx512"),
        (&["--target", "native,x86-sse2", ADVANCE], "give native alone"),
    ] {
        let (status, text) = fails(arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

#[test]
fn wrong_usage_is_json_where_json_is_asked_for() {
    for arguments in [
        &["--message-format", "json", "--fuse", "wild", ADVANCE][..],
        &["--message-format=json", "-o", "out.o", ADVANCE],
        &["--message-format=json", "no/such/file.rk"],
    ] {
        let (status, text) = fails(arguments);
        assert_eq!((status, text.lines().count()), (Some(2), 1), "{arguments:?}: {text}");
        assert!(text.starts_with('{') && text.contains("\"R0008\""), "{arguments:?}: {text}");
    }
}

#[test]
fn rejections_are_one() {
    for (arguments, words) in [
        (&["tests/cases/errors/spread.rk"][..], "R0306"),
        (&["--width", "16", "--target", "x86-avx2", ADVANCE], "R0006"),
        (&["--target", "nvidia-ptx-sm90", ADVANCE], "R0001"),
        (&["--emit-obj", "--target", "scalar", ADVANCE], "write C with --emit-c"),
        (&["--emit-asm", "--target", "wasm-simd128", ADVANCE], "R0701"),
        (&["--emit-wasm", "--target", "x86-sse2", ADVANCE], "give --target wasm-simd128"),
        (&["--run", ADVANCE], "R0001"),
        (&["--from", "tined", ADVANCE], "R0021"),
    ] {
        let (status, text) = fails(arguments);
        assert_eq!(status, Some(1), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

#[test]
fn several_profiles_are_refused_with_the_way_out() {
    for mode in ["--emit-obj", "--check-passes"] {
        let (status, text) = fails(&[mode, "--target", "x86-sse2,x86-avx2", ADVANCE]);
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains("R0001") && text.contains("compile once for each --target"), "{text}");
    }
}

#[test]
fn a_dump_that_skips_a_pass_is_refused() {
    let path = folder("unsanitised").join("safe.fused");
    let masked = "rake fused 1\nprofile x86-sse2\nfuse full\n\nscratch f(m: mask, x: f32s) -> f32s {\n  %0 : mask = param 0\n  \
                  %1 : f32s = param 1\n  %2 : f32s = div %1, %1 if %0\n  %3 : f32s = if %0, %2, %1\n  return %3\n}\n";
    std::fs::write(&path, masked).expect("the target folder can be written");
    let (status, text) = fails(&["--from", "sanitise", "--check-passes", &path.to_string_lossy()]);
    assert_eq!(status, Some(1), "{text}");
    // The dump is at fault, not the compiler (R0005).
    assert!(text.contains("R0020") && text.contains("may raise a flag"), "{text}");
}

#[test]
fn a_dump_is_for_its_own_profile() {
    let path = folder("profile").join("advance.fused");
    std::fs::write(&path, stdout(&[&["--to", "fused"], AVX2].concat())).expect("the target folder can be written");
    let path = path.to_string_lossy();
    assert_eq!(stdout(&["--from", "fused", "--target", "x86-avx2", "--width", "8", &path]), "");
    let (status, text) = fails(&["--from", "fused", "--target", "x86-sse2", &path]);
    assert!(status == Some(2) && text.contains("made for x86-avx2"), "{text}");
    let (status, text) = fails(&["--from", "fused", "--width", "4", &path]);
    assert!(status == Some(1) && text.contains("R0006"), "{text}");
}

#[test]
fn a_file_without_regions_says_so() {
    let folder = folder("regions");
    let source = folder.join("twice.rk");
    std::fs::write(&source, "scratch twice(x: f32s) -> f32s:\n  x + x\n").expect("the target folder can be written");
    assert!(
        stdout(&["--explain-fusion", "--target", "x86-sse2", &source.to_string_lossy()]).contains("no fused regions")
    );
}

#[test]
fn a_check_says_nothing() {
    let output = rakec(AVX2);
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn questions_are_answered_without_a_program() {
    assert!(stdout(&["--list-passes"]).contains("allocate"));
    assert!(stdout(&["--print-targets"]).contains("x86-64-v3"));
    assert!(stdout(&["--print-capabilities"]).contains("scratches"));
    assert!(stdout(&["--explain", "r0306"]).contains("R0306"));
    assert!(stdout(&["--help"]).contains("Examples:"));
    assert!(stdout(&["--version"]).starts_with("rakec "));
}

#[test]
fn objects_assembly_and_headers_are_written_where_asked() {
    let folder = folder("outputs");
    let source = folder.join("advance.rk");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(ADVANCE), &source).expect("the example can be copied");
    let source = source.to_string_lossy().into_owned();
    let target = ["--no-report", "--target", "x86-avx512", &source];
    for (mode, extension) in
        [("--verify-native", "o"), ("--emit-asm", "s"), ("--emit-header", "h"), ("--emit-obj", "o")]
    {
        stdout(&[&[mode], &target[..]].concat());
        assert!(folder.join("advance").with_extension(extension).exists(), "{mode}");
    }
    let object = std::fs::read(folder.join("advance.o")).expect("the object was written");
    assert_eq!(&object[..4], b"\x7fELF");
    let printed = rakec(&[&["--emit-obj", "-o", "-"], &target[..]].concat());
    assert_eq!(printed.stdout, object, "two builds differ");
}

#[test]
fn a_dump_continues_to_the_same_object() {
    let folder = folder("resume");
    let whole = rakec(&with(&["--emit-obj", "--no-report", "-o", "-"])).stdout;
    for ir in ["tined", "fused", "selected", "allocated"] {
        let path = folder.join(ir).to_string_lossy().into_owned();
        std::fs::write(&path, stdout(&[&["--to", ir], AVX2].concat())).expect("the target folder can be written");
        let resumed = rakec(&["--from", ir, "--emit-asm", "--no-report", "-o", "-", &path]);
        let text = String::from_utf8_lossy(&resumed.stdout);
        assert!(text.contains("vfmadd"), "{ir}: {text}{}", String::from_utf8_lossy(&resumed.stderr));
        let object = rakec(&["--from", ir, "--emit-obj", "--no-report", "-o", "-", &path]).stdout;
        assert_eq!(object, whole, "from {ir}");
    }
}

#[test]
fn dumps_go_to_files_of_their_own() {
    let folder = folder("dumps").to_string_lossy().into_owned();
    stdout(&[&["--dump-pass", "all", "--dump-dir", &folder], AVX2].concat());
    let names = std::fs::read_dir(&folder).expect("the folder is there").flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    let passes = rakec::pipeline::Range::new(None, None).expect("the whole table").passes(Profile::X86Avx2);
    assert_eq!(names.len(), passes.count());
    assert_eq!(names[0], "01-parse.ir");
    let json = stdout(&with(&["--dump-pass", "fuse,simplify", "--dump-format", "json"]));
    assert_eq!(json.lines().count(), 2);
    let changed = stdout(&with(&["--dump-pass", "all", "--only-changed", "--dump-format", "diff"]));
    assert!(!changed.contains("after sanitise"), "{changed}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    command.arg("--print-capabilities").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("rakec starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("rakec ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn standard_input_is_a_file_called_minus() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rakec"));
    command.args(["--emit-asm", "--no-report", "--target", "x86-sse2", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("rakec starts");
    let text = b"scratch twice(x: f32s) -> f32s:\n  x + x\n";
    std::io::Write::write_all(&mut child.stdin.take().expect("it reads"), text).expect("it reads");
    let output = child.wait_with_output().expect("rakec ends");
    assert!(String::from_utf8_lossy(&output.stdout).contains("addps"));
}

/// What the report says of a run's memory, read off the source by hand, on each profile that differs.
#[test]
fn the_report_tells_what_runs_do_to_memory() {
    let folder = folder("run-report");
    let source = folder.join("kept.rk");
    let text = "pack P { f32: x, y; u8: kind; }\npack Q { f32: x; }\n\
                run kept(p: stack P, <k: f32>) -> stack P:\n  compact p where p.x > <k>\n\
                run moved(q: stack Q, p: stack P) -> stack Q:\n  q with { x: p.y } where p.x > 0.0\n\
                run copied(x: []f32, out: mut []f32, <n: i32>):\n  for <i: i32> from <0> up to <n> by <lanes>:\n    \
                out[<i> up to <n>] <- x[<i> up to <n>]\n";
    std::fs::write(&source, text).expect("the target folder can be written");
    let object = folder.join("kept.o");
    let report = |profile: &str, format: &[&str]| {
        let (object, source) = (object.to_string_lossy(), source.to_string_lossy());
        let out = rakec(&[&["--emit-obj", "--target", profile, "-o", &object, &source], format].concat());
        assert!(out.status.success());
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let all = "reads p.x, p.y, p.kind; replaces p.x, p.y, p.kind, in place";
    let narrow = "masked transfers; narrow elements guarded one by one";
    for (profile, lanes, compact, tail, kept, other) in [
        (
            "x86-sse2",
            4,
            "moves of lanes",
            "guarded element by element",
            "a choice between new and old records",
            "guarded element by element",
        ),
        ("x86-avx2", 8, "a permutation by the selection's bits", narrow, "masked stores", "masked transfers"),
        ("x86-avx512", 16, "vcompressps", "masked transfers", "masked stores", "masked transfers"),
    ] {
        let report = report(profile, &[]);
        let parts: Vec<&str> = report.split(" on ").collect();
        let says = |part: usize, line: &str| assert!(parts[part].contains(line), "{profile}: {line}\n{}", parts[part]);
        for part in [1, 2] {
            says(part, &format!("  records       32-bit lanes, {lanes} at a time\n"));
        }
        says(1, &format!("  columns       {all}\n"));
        says(1, &format!("  selection     compact, by {compact}\n"));
        says(1, &format!("  tail          {tail}\n"));
        says(2, "  columns       reads p.x, p.y; replaces q.x\n");
        says(2, &format!("  selection     where, by {kept}\n"));
        says(2, &format!("  tail          {other}\n"));
        says(3, "  views         reads x; writes out\n");
        says(3, &format!("  tail          {other}\n"));
        assert!(!parts[3].contains("records") && !parts[3].contains("selection") && parts[3].contains("  loop "));
    }
    let json = report("x86-avx512", &["--report", "json"]);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines[0]["run"]["selection"], "compact");
    assert_eq!(lines[0]["run"]["records_at_once"], 16);
    assert_eq!(lines[1]["run"]["writes"], serde_json::json!(["q.x"]));
    assert_eq!((&lines[1]["run"]["in_place"], &lines[2]["run"]["domain_bits"]), (&false.into(), &().into()));
    assert!(lines[2]["loops"][0]["instructions"].as_u64() > Some(0));
}
