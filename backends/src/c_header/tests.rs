use super::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

const F: Ty = Ty::Rack(Elem::F32);

fn prototypes() -> Vec<Prototype<'static>> {
    let uniform = Ty::Uniform;
    vec![
        Prototype {
            name: "advance",
            params: vec![("x", F), ("dt", uniform(Elem::F32))],
            result: Some(F),
            exported: true,
        },
        Prototype {
            name: "double",
            params: vec![("int", Ty::Rack(Elem::I32)), ("linux", Ty::Mask(32)), ("flag", uniform(Elem::Bool))],
            result: Some(Ty::Mask(32)),
            exported: false,
        },
        Prototype {
            name: "abs",
            params: vec![("u", Ty::Rack(Elem::U32))],
            result: Some(uniform(Elem::U32)),
            exported: false,
        },
        Prototype { name: "rake_abs", params: vec![], result: Some(uniform(Elem::Bool)), exported: false },
        Prototype {
            name: "sqrt",
            params: vec![("i", uniform(Elem::I32))],
            result: Some(uniform(Elem::F32)),
            exported: true,
        },
        Prototype { name: "rax", params: vec![("k1", F), ("ymm0", F)], result: Some(F), exported: false },
    ]
}

#[test]
fn the_list_is_sorted_so_that_searching_it_finds_every_name() {
    assert!(RESERVED.is_sorted());
    assert!(is_reserved("while") && is_reserved("abs") && !is_reserved("advance"));
}

#[test]
fn guards_and_comments_hold_no_odd_characters() {
    assert_eq!(guard_name("a-b*/c"), "RAKE_A_B__C_H");
    let header = emit(Profile::X86Sse2, "a*/b", "rakec", &[]);
    assert!(header.starts_with("/* a??b for x86-sse2, written by rakec. */\n"), "{header}");
}

/// Compiles `source` from standard input; `None` when the compiler is not installed.
fn compiles(compiler: &str, language: &str, flags: &[&str], source: &str) -> Option<Result<(), String>> {
    let mut child = Command::new(compiler)
        .args(["-x", language, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"])
        .args(flags)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(source.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    Some(if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) })
}

#[test]
fn c_and_cpp_callers_compile_without_a_warning() {
    let mut tried = 0;
    for (profile, march, rack, int) in [
        (Profile::X86Sse2, "-march=x86-64", "__m128", "__m128i"),
        (Profile::X86Avx2, "-march=x86-64-v3", "__m256", "__m256i"),
        (Profile::X86Avx512, "-march=x86-64-v4", "__m512", "__m512i"),
    ] {
        let header = emit(profile, "demo", "rakec", &prototypes());
        let caller = format!(
            "#include <stdlib.h>\n#include <math.h>\n#include <string.h>\n{header}{header}\n\
             {rack} call({rack} x);\n{rack} call({rack} x) {{ return rax(advance(x, 2.0f), x); }}\n\
             {int} other({int} m);\n{int} other({int} m) {{ return rake_double(m, m, true); }}\n\
             uint32_t third({int} m);\nuint32_t third({int} m) {{ return rake_abs_(m) + rake_rake_abs(); }}\n"
        );
        for (compiler, language, standard) in [("gcc", "c", "-std=gnu17"), ("g++", "c++", "-std=c++17")] {
            let outcome = compiles(compiler, language, &[march, standard], &caller);
            let Some(outcome) = outcome else { continue };
            outcome.unwrap_or_else(|e| panic!("{compiler} {standard} {profile}: {e}\n{header}"));
            tried += 1;
        }
    }
    eprintln!("{tried} compilations of the header");
}

#[test]
fn another_profile_is_refused_when_compiling() {
    let header = emit(Profile::X86Avx2, "demo", "rakec", &prototypes());
    if let Some(outcome) = compiles("gcc", "c", &["-march=x86-64"], &header) {
        assert!(outcome.unwrap_err().contains("compile with -mavx2"));
    }
}

#[test]
fn declarations_read_as_expected() {
    let header = emit(Profile::X86Avx2, "demo", "rakec", &prototypes());
    for line in [
        "/* advance(x: f32s, <dt: f32>) -> f32s */",
        "__m256 advance(__m256 x, float dt) RAKE_EXPORTED;",
        "__m256i rake_double(__m256i rake_int, __m256i rake_linux, bool flag) __asm__(\"double\") RAKE_HIDDEN;",
        "uint32_t rake_abs_(__m256i u) __asm__(\"abs\") RAKE_HIDDEN;",
        "bool rake_rake_abs(void) __asm__(\"rake_abs\") RAKE_HIDDEN;",
    ] {
        assert!(header.lines().any(|l| l == line), "{line}\n{header}");
    }
}
