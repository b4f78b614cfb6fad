//! The table against models of processors, whose answers are written here by hand and not taken from the table.

use super::*;

/// Leaf 0 and 0x80000000's EAX, leaf 1's ECX, leaf 7's EBX, leaf 0x80000001's ECX and XCR0.
#[derive(Clone, Copy)]
struct Model {
    name: &'static str,
    last: u32,
    last_extended: u32,
    one: u32,
    seven: u32,
    extended: u32,
    xcr0: Option<u32>,
}

impl Processor for Model {
    fn leaf(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
        assert_eq!(subleaf, 0);
        match leaf {
            0 => [self.last, 0, 0, 0],
            0x8000_0000 => [self.last_extended, 0, 0, 0],
            1 => [0, 0, self.one, 0],
            0x8000_0001 => [0, 0, self.extended, 0],
            // Above the last leaf processors answer as for the last, here with every bit that could mislead.
            7 if self.last < 7 => [u32::MAX; 4],
            7 => [0, self.seven, 0, 0],
            _ => panic!("{}: nobody needs leaf {leaf:#x}", self.name),
        }
    }

    fn xcr0(&self) -> u32 {
        self.xcr0.expect("xgetbv would fault")
    }
}

const fn bits(bits: &[u32]) -> u32 {
    let (mut mask, mut at) = (0, 0);
    while at < bits.len() {
        mask |= 1 << bits[at];
        at += 1;
    }
    mask
}

/// An AMD K8 of 2003: SSE2, no XSAVE.
const K8: Model = Model { name: "K8", last: 1, last_extended: 0x8000_0018, one: 0, seven: 0, extended: 0, xcr0: None };
/// Intel Nehalem: SSE4.2 and POPCNT, leaf 1 ECX 0x0098e3fd, no XSAVE.
const NEHALEM: Model = Model {
    name: "Nehalem",
    last: 11,
    last_extended: 0x8000_0008,
    one: 0x0098_e3fd,
    seven: 0,
    extended: bits(&[0]),
    xcr0: None,
};
/// Intel Sandy Bridge: AVX without FMA, F16C, MOVBE and AVX2 (leaf 1 ECX 0x1fbae3ff), LZCNT absent.
const SANDY_BRIDGE: Model = Model {
    name: "Sandy Bridge",
    last: 13,
    last_extended: 0x8000_0008,
    one: 0x1fba_e3ff,
    seven: 0,
    extended: bits(&[0]),
    xcr0: Some(0x7),
};
/// Intel Haswell: leaf 1 ECX 0x7ffafbff, leaf 7 EBX 0x000027ab, LAHF and LZCNT.
const HASWELL: Model = Model {
    name: "Haswell",
    last: 13,
    last_extended: 0x8000_0008,
    one: 0x7ffa_fbff,
    seven: 0x0000_27ab,
    extended: bits(&[0, 5]),
    xcr0: Some(0x7),
};
/// AMD Zen 2: leaf 1 ECX 0x7ed8320b, leaf 7 EBX 0x219c91a9, XCR0 with PKRU absent.
const ZEN2: Model = Model {
    name: "Zen 2",
    last: 16,
    last_extended: 0x8000_0020,
    one: 0x7ed8_320b,
    seven: 0x219c_91a9,
    extended: 0x75c2_37ff,
    xcr0: Some(0x7),
};
/// Intel Knights Landing: AVX-512 F and CD, without BW, DQ and VL.
const KNIGHTS_LANDING: Model = Model {
    name: "Knights Landing",
    last: 13,
    last_extended: 0x8000_0008,
    one: 0x7ff8_f3bf,
    seven: bits(&[3, 5, 8, 16, 26, 27, 28]),
    extended: bits(&[0, 5]),
    xcr0: Some(0xe7),
};
/// Intel Skylake-SP: leaf 7 EBX 0xd39ffffb, all seven state components of AVX-512 on.
const SKYLAKE_SP: Model = Model {
    name: "Skylake-SP",
    last: 22,
    last_extended: 0x8000_0008,
    one: 0x7ffe_fbff,
    seven: 0xd39f_fffb,
    extended: bits(&[0, 5, 8]),
    xcr0: Some(0x2e7),
};

const ALL: &[Profile] = &[Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];

#[test]
fn processors_get_the_best_that_they_run() {
    use Profile::{X86Avx2, X86Avx512, X86Sse2};
    for (model, best) in [
        (K8, X86Sse2),
        (NEHALEM, X86Sse2),
        (SANDY_BRIDGE, X86Sse2),
        (HASWELL, X86Avx2),
        (ZEN2, X86Avx2),
        (KNIGHTS_LANDING, X86Avx2),
        (SKYLAKE_SP, X86Avx512),
    ] {
        assert_eq!(choose(&model, ALL), Some(best), "{}", model.name);
    }
}

#[test]
fn only_listed_profiles_are_chosen() {
    use Profile::{X86Avx2, X86Avx512, X86Sse2};
    assert_eq!(choose(&SKYLAKE_SP, &[X86Sse2, X86Avx2]), Some(X86Avx2));
    assert_eq!(choose(&SKYLAKE_SP, &[X86Avx512, X86Sse2]), Some(X86Avx512));
    assert_eq!(choose(&HASWELL, &[X86Avx512, X86Sse2]), Some(X86Sse2));
    assert_eq!(choose(&NEHALEM, &[X86Avx2, X86Avx512]), None);
    assert_eq!(choose(&HASWELL, &[X86Avx512]), None);
}

#[test]
fn registers_that_the_system_does_not_keep_are_not_used() {
    // A system that keeps no ZMM registers, or no YMM registers.
    for (xcr0, best) in [
        (0x2e7, Profile::X86Avx512),
        (0x67, Profile::X86Avx2),
        (0xa7, Profile::X86Avx2),
        (0xc7, Profile::X86Avx2),
        (0x07, Profile::X86Avx2),
        (0xe3, Profile::X86Sse2),
        (0x03, Profile::X86Sse2),
    ] {
        assert_eq!(choose(&Model { xcr0: Some(xcr0), ..SKYLAKE_SP }, ALL), Some(best), "XCR0 {xcr0:#x}");
    }
    // One without XSAVE: `xgetbv` would fault, so nobody asks.
    let without = Model { one: SKYLAKE_SP.one & !(1 << 27), xcr0: None, ..SKYLAKE_SP };
    assert_eq!(choose(&without, ALL), Some(Profile::X86Sse2));
}

#[test]
fn leaves_above_the_last_say_nothing() {
    // As a BIOS option does that limits `cpuid` for old systems.
    assert_eq!(choose(&Model { last: 3, ..SKYLAKE_SP }, ALL), Some(Profile::X86Sse2));
    assert_eq!(choose(&Model { last_extended: 0x8000_0000, ..SKYLAKE_SP }, ALL), Some(Profile::X86Sse2));
}

#[test]
fn each_bit_that_is_asked_for_decides() {
    for choice in CHOICES {
        for need in choice.needs {
            for (bit, name) in need.bits {
                let without = !(1 << bit);
                let model = match (need.leaf, need.register) {
                    (0, Register::Xcr0) => Model { xcr0: SKYLAKE_SP.xcr0.map(|xcr0| xcr0 & without), ..SKYLAKE_SP },
                    (1, Register::Ecx) => Model { one: SKYLAKE_SP.one & without, ..SKYLAKE_SP },
                    (7, Register::Ebx) => Model { seven: SKYLAKE_SP.seven & without, ..SKYLAKE_SP },
                    (0x8000_0001, Register::Ecx) => Model { extended: SKYLAKE_SP.extended & without, ..SKYLAKE_SP },
                    other => panic!("no model answers {other:?}"),
                };
                assert!(choose(&SKYLAKE_SP, &[choice.profile]).is_some());
                assert_eq!(choose(&model, &[choice.profile]), None, "{} without {name}", choice.profile);
            }
        }
    }
}

#[test]
fn questions_stand_in_an_order_that_never_faults() {
    for choice in CHOICES {
        let xcr0 = choice.needs.iter().position(|need| need.register == Register::Xcr0);
        let enabled = choice.needs.iter().position(|need| need.leaf == 1 && need.mask() & 1 << 27 != 0);
        assert!(xcr0.is_none_or(|xcr0| enabled.is_some_and(|enabled| enabled < xcr0)), "{}", choice.profile);
    }
}

#[test]
fn better_profiles_need_all_that_lesser_ones_do() {
    let needs = |choice: &Choice, of: &Need| -> u32 {
        let same =
            choice.needs.iter().filter(|n| (n.leaf, n.subleaf, n.register) == (of.leaf, of.subleaf, of.register));
        same.fold(0, |mask, need| mask | need.mask())
    };
    for pair in CHOICES.windows(2) {
        for need in pair[1].needs {
            assert_eq!(needs(&pair[0], need) & need.mask(), need.mask(), "{} and {}", pair[0].profile, pair[1].profile);
        }
        assert!(pair[0].profile.info().rack_bits > pair[1].profile.info().rack_bits);
        assert_eq!(pair[0].profile.info().family, pair[1].profile.info().family);
    }
}

#[test]
fn only_profiles_that_can_be_chosen_go_together_and_each_once() {
    use Profile::{Aarch64Neon, Scalar, WasmSimd128, X86Avx2, X86Avx512, X86Sse2};
    for good in [&[X86Sse2, X86Avx2, X86Avx512][..], &[X86Avx512, X86Sse2], &[X86Avx2, X86Avx512]] {
        assert_eq!(combine(good), Ok(()));
    }
    for (bad, word) in [
        (&[X86Sse2, X86Sse2][..], "twice"),
        (&[X86Sse2, Aarch64Neon], "aarch64-neon"),
        (&[Scalar, X86Avx2], "scalar"),
        (&[WasmSimd128, WasmSimd128], "wasm-simd128"),
        (&[X86Avx2, X86Avx512, X86Avx2], "x86-avx2"),
    ] {
        let refusal = combine(bad).unwrap_err();
        assert!(refusal.message.contains(word) && !refusal.help.is_empty(), "{refusal:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn this_processor_runs_what_is_chosen_for_it() {
    use std::is_x86_feature_detected as has;
    // The standard library asks for fewer features of fewer leaves, and for XCR0 in its own way.
    let avx2 = has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("f16c");
    let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    let chosen = choose(&ThisProcessor, ALL).expect("the baseline fits");
    assert!(chosen != Profile::X86Avx512 || avx2 && avx512);
    assert!(chosen != Profile::X86Avx2 || avx2);
}
