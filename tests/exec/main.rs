//! Generated code runs for real - on this CPU, in an emulator of one, in engines of WebAssembly, compiled from C - and
//! agrees bit for bit with the evaluator of the chosen graph.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

/// One test for each profile, in a module of this name.
macro_rules! on_each_profile {
    ($module:ident, $run:path) => {
        mod $module {
            use rake_ir::profile::Profile;

            #[test]
            fn x86_sse2() {
                $run(Profile::X86Sse2);
            }

            #[test]
            fn x86_avx2() {
                $run(Profile::X86Avx2);
            }

            #[test]
            fn x86_avx512() {
                $run(Profile::X86Avx512);
            }

            #[test]
            fn aarch64_neon() {
                $run(Profile::Aarch64Neon);
            }

            #[test]
            fn wasm_simd128() {
                $run(Profile::WasmSimd128);
            }

            #[test]
            fn wasm_simd128_relaxed() {
                $run(Profile::WasmSimd128Relaxed);
            }

            #[test]
            fn scalar() {
                $run(Profile::Scalar);
            }
        }
    };
}

mod arguments;
mod assembly;
mod c;
mod calls_from_c;
mod engine;
mod engines;
mod every_mask;
mod flags;
#[path = "../harness/mod.rs"]
mod harness;
mod lanes;
mod machine;
mod programs;
mod relaxed;
#[path = "../support/mod.rs"]
mod support;
