//! What a processor and its operating system must have for a profile's code, and which of several profiles that makes
//! the choice.
//!
//! ```text
//! x86-avx2   leaf 7, EBX   bit 5 AVX2      and XCR0 bits 1 and 2: the system keeps XMM and YMM registers
//! ```
//!
//! A row asks for bits of one register that `cpuid` or `xgetbv` gives. Bits and leaves are those of the Intel 64 and IA-32
//! Architectures Software Developer's Manual (volume 2A, CPUID, tables 3-8 to 3-11; volume 1, sections 13.2 and 13.3 for
//! `xgetbv`, 14.3, 14.7 and 15.2 for the order of the questions) and of AMD's Architecture Programmer's Manual (volume
//! 3, appendix E.3 and E.4). The names are those of the x86-64 psABI's levels (table 3.1), which the profiles promise.

use crate::profile::Profile;

/// What answers a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Register {
    Ebx,
    Ecx,
    Edx,
    /// The low half of XCR0, which `xgetbv` puts in EAX; only where OSXSAVE is set.
    Xcr0,
}

/// Bits that must all be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// The leaf of `cpuid`, in EAX; of XCR0 nothing.
    pub leaf: u32,
    /// The subleaf, in ECX.
    pub subleaf: u32,
    /// Which register.
    pub register: Register,
    /// Each bit and its name.
    pub bits: &'static [(u32, &'static str)],
}

impl Need {
    /// The bits as a number.
    pub const fn mask(&self) -> u32 {
        let (mut mask, mut at) = (0, 0);
        while at < self.bits.len() {
            mask |= 1 << self.bits[at].0;
            at += 1;
        }
        mask
    }
}

/// `cpuid` leaf 1, ECX of x86-64-v2 and -v3. OSXSAVE says that the system has enabled `xgetbv`.
const V3_BASIC: Need = Need {
    leaf: 1,
    subleaf: 0,
    register: Register::Ecx,
    bits: &[
        (0, "SSE3"),
        (9, "SSSE3"),
        (12, "FMA"),
        (13, "CMPXCHG16B"),
        (19, "SSE4.1"),
        (20, "SSE4.2"),
        (22, "MOVBE"),
        (23, "POPCNT"),
        (27, "OSXSAVE"),
        (28, "AVX"),
        (29, "F16C"),
    ],
};
const V3_EXTENDED: Need =
    Need { leaf: 0x8000_0001, subleaf: 0, register: Register::Ecx, bits: &[(0, "LAHF/SAHF"), (5, "LZCNT")] };

const AVX2: &[Need] = &[
    V3_BASIC,
    Need { leaf: 0, subleaf: 0, register: Register::Xcr0, bits: &[(1, "XMM state"), (2, "YMM state")] },
    Need { leaf: 7, subleaf: 0, register: Register::Ebx, bits: &[(3, "BMI1"), (5, "AVX2"), (8, "BMI2")] },
    V3_EXTENDED,
];

const AVX512: &[Need] = &[
    V3_BASIC,
    Need {
        leaf: 0,
        subleaf: 0,
        register: Register::Xcr0,
        bits: &[
            (1, "XMM state"),
            (2, "YMM state"),
            (5, "opmask state"),
            (6, "upper halves of ZMM0-ZMM15"),
            (7, "ZMM16-ZMM31"),
        ],
    },
    Need {
        leaf: 7,
        subleaf: 0,
        register: Register::Ebx,
        bits: &[
            (3, "BMI1"),
            (5, "AVX2"),
            (8, "BMI2"),
            (16, "AVX512F"),
            (17, "AVX512DQ"),
            (28, "AVX512CD"),
            (30, "AVX512BW"),
            (31, "AVX512VL"),
        ],
    },
    V3_EXTENDED,
];

/// A profile that a processor can be asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The profile.
    pub profile: Profile,
    /// What its code needs, in the order of asking: XCR0 behind OSXSAVE.
    pub needs: &'static [Need],
}

/// Every profile that can be chosen when a program runs, the best first. What x86-64 always has is not asked for.
pub const CHOICES: &[Choice] = &[
    Choice { profile: Profile::X86Avx512, needs: AVX512 },
    Choice { profile: Profile::X86Avx2, needs: AVX2 },
    Choice { profile: Profile::X86Sse2, needs: &[] },
];

/// A processor's answers and its operating system's.
pub trait Processor {
    /// What `cpuid` gives for a leaf and a subleaf: EAX, EBX, ECX and EDX.
    fn leaf(&self, leaf: u32, subleaf: u32) -> [u32; 4];
    /// The low half of XCR0. Asked for only behind a set OSXSAVE, without which `xgetbv` faults.
    fn xcr0(&self) -> u32;
}

/// The best of `among` that the processor runs and the system keeps the registers of.
pub fn choose(processor: &dyn Processor, among: &[Profile]) -> Option<Profile> {
    CHOICES
        .iter()
        .filter(|choice| among.contains(&choice.profile))
        .find(|choice| fits(processor, choice))
        .map(|c| c.profile)
}

fn fits(processor: &dyn Processor, choice: &Choice) -> bool {
    choice.needs.iter().all(|need| {
        let mask = need.mask();
        let found = match need.register {
            Register::Xcr0 => processor.xcr0(),
            register => answer(processor, need.leaf, need.subleaf, register),
        };
        found & mask == mask
    })
}

/// A register of a leaf; nothing of one above the last of its range, where processors repeat another leaf.
fn answer(processor: &dyn Processor, leaf: u32, subleaf: u32, register: Register) -> u32 {
    if processor.leaf(leaf & 0x8000_0000, 0)[0] < leaf {
        return 0;
    }
    let [_, ebx, ecx, edx] = processor.leaf(leaf, subleaf);
    match register {
        Register::Ebx => ebx,
        Register::Ecx => ecx,
        Register::Edx => edx,
        Register::Xcr0 => 0,
    }
}

/// The processor that this runs on.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct ThisProcessor;

#[cfg(target_arch = "x86_64")]
impl Processor for ThisProcessor {
    fn leaf(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
        // Newer compilers know that every x86-64 processor has `cpuid`.
        #[allow(unused_unsafe)]
        // SAFETY: `cpuid` is part of x86-64.
        let found = unsafe { std::arch::x86_64::__cpuid_count(leaf, subleaf) };
        [found.eax, found.ebx, found.ecx, found.edx]
    }

    fn xcr0(&self) -> u32 {
        let low: u32;
        // SAFETY: asked for only behind OSXSAVE.
        unsafe { std::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _, options(nomem, nostack)) };
        low
    }
}

/// Why profiles cannot stand in one object: what is wrong, and the mend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Whether `profiles`, two or more, may be versions of one object's functions: each a row of [`CHOICES`], which are all of
/// one family, and none twice.
///
/// # Errors
/// The first profile that does not fit the others.
pub fn combine(profiles: &[Profile]) -> Result<(), Refusal> {
    let can = |profile: &Profile| CHOICES.iter().any(|choice| choice.profile == *profile);
    for (index, profile) in profiles.iter().enumerate() {
        if profiles[..index].contains(profile) {
            return Err(Refusal {
                message: format!("the profile {profile} is given twice"),
                help: "name each profile once".into(),
            });
        }
        if !can(profile) {
            let names: Vec<&str> = CHOICES.iter().rev().map(|choice| choice.profile.name()).collect();
            return Err(Refusal {
                message: format!("{profile} cannot be one of several profiles: no program can ask for it when it runs"),
                help: format!("compile once for {profile} alone; together go {}", names.join(", ")),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "dispatch/tests.rs"]
mod tests;
