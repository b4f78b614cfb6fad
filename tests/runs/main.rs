//! Runs on this CPU, in qemu and in virtual machines: columns between pages that nobody can touch, at every offset, with
//! every count, held against the evaluator of the chosen graph.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

/// One test for each profile, in a module of this name.
macro_rules! on_each {
    ($module:ident, $run:ident) => {
        mod $module {
            use rake_ir::profile::Profile;

            #[test]
            fn sse2() {
                super::$run(Profile::X86Sse2);
            }

            #[test]
            fn avx2() {
                super::$run(Profile::X86Avx2);
            }

            #[test]
            fn avx512() {
                super::$run(Profile::X86Avx512);
            }

            #[test]
            fn neon() {
                super::$run(Profile::Aarch64Neon);
            }

            #[test]
            fn scalar() {
                super::$run(Profile::Scalar);
            }

            #[test]
            fn simd128() {
                super::$run(Profile::WasmSimd128);
            }

            #[test]
            fn simd128_relaxed() {
                super::$run(Profile::WasmSimd128Relaxed);
            }
        }
    };
}

mod aliases;
mod build;
mod calls_from_c;
mod flags;
mod general;
mod modules;
mod node;
mod programs;
mod random;
mod selections;
#[path = "../support/mod.rs"]
mod support;
mod tails;
mod world;
