//! Machine profiles: what a target fixes. One row per profile; everything else is keyed by it.

use crate::types::Elem;

/// A machine profile, an index into [`PROFILES`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Profile {
    X86Sse2,
    X86Avx2,
    X86Avx512,
    Aarch64Neon,
    WasmSimd128,
    WasmSimd128Relaxed,
    Scalar,
}

/// The family whose backend folder serves a profile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Family {
    X86,
    Aarch64,
    Wasm,
    Scalar,
}

/// What is fixed for a profile.
#[derive(Clone, Copy, Debug)]
pub struct ProfileInfo {
    /// The profile this row describes.
    pub profile: Profile,
    /// The name on the command line.
    pub name: &'static str,
    /// Which backend serves it.
    pub family: Family,
    /// Bits of one rack; 0 for `scalar`, whose rack is one element of any width.
    pub rack_bits: u32,
    /// Registers that racks may take, 0 where the machine is virtual.
    pub rack_registers: u32,
    /// Registers for masks apart from racks (AVX-512's `k1`-`k7`), 0 where masks are racks.
    pub mask_registers: u32,
    /// Whether it has a fused multiply-add with all four signs.
    pub fma: bool,
    /// Whether it rounds floats to integral values in one instruction.
    pub rounds: bool,
    /// Whether it multiplies 32-bit lanes, and takes the minimum and maximum of integers, in one instruction each.
    pub whole_integers: bool,
    /// Whether one instruction is the strict minimum, or maximum, of floats.
    pub strict_extrema: bool,
    /// Whether floating-point operations raise flags that a program can observe.
    pub fp_flags: bool,
    /// The instruction set, for people.
    pub instruction_set: &'static str,
    /// What executes it, for people.
    pub runs_on: &'static str,
    /// What its code is tested with, for people.
    pub tested_with: &'static str,
    /// Whether this compiler generates code for it yet.
    pub available: bool,
}

/// The table, in the order that `--print-targets` shows.
pub const PROFILES: &[ProfileInfo] = &[
    ProfileInfo {
        profile: Profile::X86Sse2,
        name: "x86-sse2",
        family: Family::X86,
        rack_bits: 128,
        rack_registers: 16,
        mask_registers: 0,
        fma: false,
        rounds: false,
        whole_integers: false,
        strict_extrema: false,
        fp_flags: true,
        instruction_set: "x86-64 baseline (SSE2)",
        runs_on: "any x86-64 processor",
        tested_with: "the processor; its C with gcc and clang",
        available: true,
    },
    ProfileInfo {
        profile: Profile::X86Avx2,
        name: "x86-avx2",
        family: Family::X86,
        rack_bits: 256,
        rack_registers: 16,
        mask_registers: 0,
        fma: true,
        rounds: true,
        whole_integers: true,
        strict_extrema: false,
        fp_flags: true,
        instruction_set: "x86-64-v3 (AVX2, FMA3)",
        runs_on: "x86-64 with AVX2 and FMA3 (2013 and later)",
        tested_with: "the processor; its C with gcc and clang",
        available: true,
    },
    ProfileInfo {
        profile: Profile::X86Avx512,
        name: "x86-avx512",
        family: Family::X86,
        rack_bits: 512,
        rack_registers: 32,
        mask_registers: 7,
        fma: true,
        rounds: true,
        whole_integers: true,
        strict_extrema: false,
        fp_flags: true,
        instruction_set: "x86-64-v4 (AVX-512 F, BW, CD, DQ, VL)",
        runs_on: "x86-64 with AVX-512 F, BW, CD, DQ and VL",
        tested_with: "the processor, elsewhere an emulator; its C with gcc and clang",
        available: true,
    },
    ProfileInfo {
        profile: Profile::Aarch64Neon,
        name: "aarch64-neon",
        family: Family::Aarch64,
        rack_bits: 128,
        rack_registers: 24,
        mask_registers: 0,
        fma: true,
        rounds: true,
        whole_integers: true,
        strict_extrema: true,
        fp_flags: true,
        instruction_set: "Armv8-A Advanced SIMD",
        runs_on: "any AArch64 processor",
        tested_with: "qemu-aarch64; its C with gcc and clang for AArch64",
        available: true,
    },
    ProfileInfo {
        profile: Profile::WasmSimd128,
        name: "wasm-simd128",
        family: Family::Wasm,
        rack_bits: 128,
        rack_registers: 0,
        mask_registers: 0,
        fma: false,
        rounds: true,
        whole_integers: true,
        strict_extrema: true,
        fp_flags: false,
        instruction_set: "WebAssembly SIMD",
        runs_on: "engines with WebAssembly 2.0",
        tested_with: "wasmtime and Node; its C with clang for wasm32",
        available: true,
    },
    ProfileInfo {
        profile: Profile::WasmSimd128Relaxed,
        name: "wasm-simd128-relaxed",
        family: Family::Wasm,
        rack_bits: 128,
        rack_registers: 0,
        mask_registers: 0,
        fma: false,
        rounds: true,
        whole_integers: true,
        strict_extrema: true,
        fp_flags: false,
        instruction_set: "WebAssembly SIMD and relaxed SIMD",
        runs_on: "engines with relaxed SIMD (WebAssembly 3.0)",
        tested_with: "wasmtime and Node; its C with clang 18 or later for wasm32",
        available: true,
    },
    ProfileInfo {
        profile: Profile::Scalar,
        name: "scalar",
        family: Family::Scalar,
        rack_bits: 0,
        rack_registers: 0,
        mask_registers: 0,
        fma: false,
        rounds: true,
        whole_integers: true,
        strict_extrema: true,
        fp_flags: true,
        instruction_set: "C, one lane, no vector guarantee",
        runs_on: "whatever a C11 compiler compiles for, with IEEE 754 floats; it promises no vector code",
        tested_with: "gcc and clang",
        available: true,
    },
];

impl Profile {
    /// Every profile, in the table's order.
    pub fn all() -> impl Iterator<Item = Profile> {
        PROFILES.iter().map(|row| row.profile)
    }

    /// Its row.
    pub const fn info(self) -> &'static ProfileInfo {
        &PROFILES[self as usize]
    }

    /// Its place among the profiles of its family, which is its column in that family's machine table.
    pub const fn variant(self) -> usize {
        let (mut at, mut variant) = (0, 0);
        while at < self as usize {
            if PROFILES[at].family as u8 == self.info().family as u8 {
                variant += 1;
            }
            at += 1;
        }
        variant
    }

    /// Bytes of a rack; of one 32-bit element where that is a rack.
    pub const fn rack_bytes(self) -> usize {
        if self.info().rack_bits == 0 { 4 } else { self.info().rack_bits as usize / 8 }
    }

    /// Bytes of a pointer in a stack's descriptor.
    pub const fn pointer_bytes(self) -> usize {
        if matches!(self.info().family, Family::Wasm) { 4 } else { 8 }
    }

    /// Where a stack's descriptor, 8 bytes of count and then a pointer per column, holds the address of a column.
    pub const fn column_offset(self, column: u32) -> usize {
        8 + column as usize * self.pointer_bytes()
    }

    /// Whether its instructions take masks, so that inactive lanes are left out by the machine.
    pub const fn native_masks(self) -> bool {
        self.info().mask_registers > 0
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The profile with this name.
    pub fn from_name(name: &str) -> Option<Profile> {
        PROFILES.iter().find(|row| row.name == name).map(|row| row.profile)
    }

    /// Lanes of a rack whose lanes are `bits` wide.
    pub const fn lanes_of_bits(self, bits: u32) -> usize {
        let rack = self.info().rack_bits;
        if rack == 0 { 1 } else { (rack / bits) as usize }
    }

    /// Lanes of a rack of `elem`.
    pub const fn lanes(self, elem: Elem) -> usize {
        self.lanes_of_bits(elem.bits())
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_profiles_index() {
        for (index, row) in PROFILES.iter().enumerate() {
            assert_eq!(row.profile as usize, index);
            assert_eq!(Profile::from_name(row.name), Some(row.profile));
        }
    }

    #[test]
    fn lanes_follow_from_the_register() {
        assert_eq!(Profile::X86Sse2.lanes(Elem::F32), 4);
        assert_eq!(Profile::X86Avx512.lanes(Elem::U8), 64);
        assert_eq!(Profile::Scalar.lanes(Elem::F32), 1);
    }
}
