//! C through every compiler, run: lanes that a person can add and multiply.

#![cfg(target_arch = "x86_64")]

use rake_testkit::c::{Compiler, Source, compile, compile_wasm};
use rake_testkit::x86::{Isa, Regs};
use rake_testkit::{aarch64, link_elf, x86};

const SCALE: [u32; 4] = [0x4040_0000, 0x40a0_0000, 0x40e0_0000, 0x4110_0000]; // 1 + 2 * (1, 2, 3, 4)

/// `x * (1, 2, 3, 4) + 1` with a constant that lies in memory.
const GENERIC: &str = "\
typedef float rack __attribute__((vector_size(16)));
rack scale(rack x) { return x * (rack){1, 2, 3, 4} + 1; }
";

#[test]
fn objects_of_every_compiler_run() {
    for level in ["-O0", "-O3"] {
        for compiler in Compiler::X86 {
            let object = compile(compiler, Source::Text(GENERIC), &[level, "-Wall", "-Wextra", "-Werror"]).unwrap();
            let mut regs = Regs::default();
            regs.splat(0, 2.0_f32.to_bits());
            let outs = x86::run(Isa::Sse2, &link_elf(&object).unwrap().image("scale").unwrap(), &[regs]).unwrap();
            assert_eq!((outs[0].lanes(4), outs[0].callee_saved_ok), (SCALE.to_vec(), true), "{compiler:?} {level}");
        }
        for compiler in Compiler::AARCH64 {
            let object = compile(compiler, Source::Text(GENERIC), &[level, "-Wall", "-Wextra", "-Werror"]).unwrap();
            let mut regs = aarch64::Regs::default();
            regs.splat(0, 2.0_f32.to_bits());
            let outs = aarch64::run(&link_elf(&object).unwrap().image("scale").unwrap(), &[regs]).unwrap();
            assert_eq!((outs[0].lanes(), outs[0].callee_saved_ok), (SCALE, true), "{compiler:?} {level}");
        }
    }
}

#[test]
fn intrinsics_and_headers_are_there() {
    let files = |text| [("main.c", text), ("own.h", "#include <stdint.h>\n#define THREE INT32_C(3)\n")];
    let neon = "#include <arm_neon.h>\n#include \"own.h\"\nint32x4_t f(int32x4_t x) { return vaddq_s32(x, vdupq_n_s32(THREE)); }\n";
    for compiler in Compiler::AARCH64 {
        compile(compiler, Source::Files(&files(neon)), &["-O2", "-std=c11", "-Werror"]).unwrap();
    }
    let sse2 = "#include <immintrin.h>\n#include \"own.h\"\n__m128i f(__m128i x) { return _mm_add_epi32(x, _mm_set1_epi32(THREE)); }\n";
    for compiler in Compiler::X86 {
        compile(compiler, Source::Files(&files(sse2)), &["-O2", "-std=c11", "-Werror"]).unwrap();
    }
    let simd = "#include <wasm_simd128.h>\n#include \"own.h\"\nv128_t f(v128_t x) { return wasm_i32x4_add(x, wasm_i32x4_splat(THREE)); }\n";
    compile_wasm(Source::Files(&files(simd)), &["-O2", "-std=c11", "-Werror"], &["f"]).unwrap();
}

#[test]
fn complaints_come_back() {
    let wrong = Source::Text("int f(void) { return missing; }");
    for compiler in Compiler::ALL {
        let error = compile(compiler, wrong, &[]).unwrap_err();
        assert!(error.contains("undeclared") && error.contains("missing"), "{error}");
    }
    assert!(compile_wasm(wrong, &[], &[]).unwrap_err().contains("undeclared"));
    let undefined = compile_wasm(Source::Text("int f(void) { return 1; }"), &[], &["g"]).unwrap_err();
    assert!(undefined.contains("symbol exported via --export not found: g"), "{undefined}");
    let unused = "static int f(void) { return 1; }";
    assert!(compile(Compiler::Gcc, Source::Text(unused), &["-Wall", "-Werror"]).unwrap_err().contains("not used"));
    let nowhere = std::path::Path::new("/nowhere/at/all.c");
    assert!(compile(Compiler::Clang, Source::File(nowhere), &[]).unwrap_err().contains("/nowhere/at/all.c"));
}

#[test]
fn compilations_at_one_time_do_not_meet() {
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let text = format!("int f{number}(void) {{ return {number}; }}");
                for _ in 0..3 {
                    let object = compile(Compiler::Gcc, Source::Text(&text), &["-O1"]).unwrap();
                    let image = link_elf(&object).unwrap().image(&format!("f{number}")).unwrap();
                    let outs = x86::run(Isa::Sse2, &image, &[Regs::default()]).unwrap();
                    assert_eq!(outs[0].rax & 0xffff_ffff, number);
                }
            });
        }
    });
}
