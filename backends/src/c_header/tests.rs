use super::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

const F: Ty = Ty::Rack(Elem::F32);

fn params(params: &[(&'static str, Ty)]) -> Vec<Parameter<'static>> {
    params.iter().map(|&(name, ty)| Parameter { name, ty, points_to: None }).collect()
}

fn prototypes() -> Vec<Prototype<'static>> {
    let uniform = Ty::Uniform;
    vec![
        Prototype {
            name: "advance",
            params: params(&[("x", F), ("dt", uniform(Elem::F32))]),
            result: Some(F),
            exported: true,
        },
        Prototype {
            name: "double",
            params: params(&[("int", Ty::Rack(Elem::I32)), ("linux", Ty::Mask(32)), ("flag", uniform(Elem::Bool))]),
            result: Some(Ty::Mask(32)),
            exported: false,
        },
        Prototype {
            name: "abs",
            params: params(&[("u", Ty::Rack(Elem::U32))]),
            result: Some(uniform(Elem::U32)),
            exported: false,
        },
        Prototype { name: "rake_abs", params: params(&[]), result: Some(uniform(Elem::Bool)), exported: false },
        Prototype {
            name: "sqrt",
            params: params(&[("i", uniform(Elem::I32))]),
            result: Some(uniform(Elem::F32)),
            exported: true,
        },
        Prototype { name: "rax", params: params(&[("k1", F), ("ymm0", F)]), result: Some(F), exported: false },
    ]
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

fn samples(mutable: bool) -> Pointee {
    let columns = [("value", Elem::F32), ("quality", Elem::U8), ("count", Elem::I16), ("int", Elem::U32)];
    let columns = columns.into_iter().map(|(name, elem)| (name.into(), elem)).collect();
    Pointee::Stack { pack: "Samples".into(), columns, mutable }
}

/// A header of two runs: one with stacks, one with views.
fn runs() -> String {
    let (result, other) = (samples(true), samples(false));
    let view = |mutable| Pointee::View { elem: Elem::F32, mutable };
    let (table, out) = (view(false), view(true));
    let to = |name, points_to| Parameter { name, ty: Ty::Address, points_to: Some(points_to) };
    let number = |name, elem| Parameter { name, ty: Ty::Uniform(elem), points_to: None };
    let stacks = vec![to("s", &result), to("other", &other), number("by", Elem::F32)];
    let views = vec![
        to("table", &table),
        number("table_count", Elem::I32),
        to("out", &out),
        number("out_count", Elem::I32),
        number("n", Elem::I32),
    ];
    let run = |name, params| Prototype { name, params, result: None, exported: false };
    emit(Profile::X86Avx2, "demo", "rakec", &[run("weigh", stacks), run("look", views)])
}

#[test]
fn runs_are_declared_with_their_stacks() {
    let header = runs();
    for line in [
        "struct rake_stack_Samples_v2 {",
        "    int64_t count;",
        "    float *value;",
        "    uint8_t *quality;",
        "    int16_t *count_;",
        "    uint32_t *rake_int;",
        "/* run weigh(s: stack Samples, other: stack Samples, <by: f32>) -> stack Samples */",
        "void weigh(struct rake_stack_Samples_v2 *s, const struct rake_stack_Samples_v2 *other, float by) RAKE_HIDDEN;",
        "/* run look(table: []f32, out: mut []f32, <n: i32>) */",
        "void look(const float *table, int32_t table_count, float *out, int32_t out_count, int32_t n) RAKE_HIDDEN;",
    ] {
        assert_eq!(header.lines().filter(|l| *l == line).count(), 1, "{line}\n{header}");
    }
    assert!(!header.contains("immintrin") && !header.contains("__AVX2__"), "{header}");
}

#[test]
fn callers_of_runs_compile_without_the_profile_s_instructions() {
    let header = runs();
    let caller = format!(
        "{header}{header}\nvoid call(float *p, uint8_t *q, int16_t *c, uint32_t *i);\n\
         void call(float *p, uint8_t *q, int16_t *c, uint32_t *i) {{\n  \
         struct rake_stack_Samples_v2 s = {{3, p, q, c, i}};\n  weigh(&s, &s, 2.0f);\n  look(p, 3, p, 3, 1);\n}}\n"
    );
    let compilers = [("gcc", "c", "-std=c11"), ("g++", "c++", "-std=c++17"), ("clang-19", "c", "-std=c11")];
    for (compiler, language, standard) in compilers {
        let Some(outcome) = compiles(compiler, language, &[standard], &caller) else { continue };
        outcome.unwrap_or_else(|e| panic!("{compiler}: {e}\n{header}"));
    }
}
