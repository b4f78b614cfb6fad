//! For each obligation objects, made by hand, that break it and nothing else. The bytes are those of GNU `as`.

use object::elf::{R_X86_64_PC32, STB_GLOBAL, STT_FUNC, STV_HIDDEN};
use object::write::{Object, Relocation, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Profile;
use rake_ir::profile::Profile::{X86Avx2, X86Avx512, X86Sse2};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_verifier::{FunctionFacts, Metadata, Obligation, RegionFacts, obligations};

const F: Ty = Ty::Rack(Elem::F32);
const WORD: Ty = Ty::Uniform(Elem::I32);

const LANDING: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
const RET: &[u8] = &[0xc3];
const ADDPS: &[u8] = &[0x0f, 0x58, 0xc1]; // addps %xmm1, %xmm0
const MULPS: &[u8] = &[0x0f, 0x59, 0xc1]; // mulps %xmm1, %xmm0
const SQRTPS: &[u8] = &[0x0f, 0x51, 0xd2]; // sqrtps %xmm2, %xmm2
const MOVAPS: &[u8] = &[0x0f, 0x28, 0xd8]; // movaps %xmm0, %xmm3
const MOVD_IN: &[u8] = &[0x66, 0x0f, 0x6e, 0xcf]; // movd %edi, %xmm1
const MOVD_OUT: &[u8] = &[0x66, 0x0f, 0x7e, 0xc0]; // movd %xmm0, %eax
const VMOVD_OUT: &[u8] = &[0xc5, 0xf9, 0x7e, 0xc0]; // vmovd %xmm0, %eax
const PSHUFD: &[u8] = &[0x66, 0x0f, 0x70, 0xc0, 0x1b]; // pshufd $0x1b, %xmm0, %xmm0
const VFMADD: &[u8] = &[0xc4, 0xe2, 0x75, 0xa8, 0xc2]; // vfmadd213ps %ymm2, %ymm1, %ymm0
const VFMSUB: &[u8] = &[0xc4, 0xe2, 0x75, 0xaa, 0xc2]; // vfmsub213ps %ymm2, %ymm1, %ymm0
const VZEROUPPER: &[u8] = &[0xc5, 0xf8, 0x77];
const VADDPS_YMM: &[u8] = &[0xc5, 0xfc, 0x58, 0xc1]; // vaddps %ymm1, %ymm0, %ymm0
const KXNORW: &[u8] = &[0xc5, 0xf4, 0x46, 0xc9]; // kxnorw %k1, %k1, %k1
const LOAD: &[u8] = &[0x0f, 0x58, 0x05, 0, 0, 0, 0]; // addps literal(%rip), %xmm0

/// An object of one function and a `.rodata` of 32 bytes unless it says otherwise, and what is said to have been
/// selected for it.
struct Sample {
    profile: Profile,
    code: Vec<u8>,
    /// Offset of a displacement in the function, and the addend.
    relocations: Vec<(u64, i64)>,
    align: u64,
    padding: Vec<u8>,
    /// Bytes of `.rodata`.
    rodata: usize,
    facts: FunctionFacts,
}

impl Sample {
    /// `endbr64`, the instructions, `ret`.
    fn of(profile: Profile, body: &[&[u8]]) -> Sample {
        Sample::raw(profile, &[&[LANDING], body, &[RET]].concat())
    }

    fn raw(profile: Profile, code: &[&[u8]]) -> Sample {
        let facts = FunctionFacts {
            name: "f".into(),
            span: Span::default(),
            exported: false,
            params: vec![F, F, F, WORD],
            result: Some(F),
            multiply_adds: [0; 4],
            cross_lane: Default::default(),
            words: Default::default(),
            relaxed: Default::default(),
            regions: vec![],
        };
        Sample { profile, code: code.concat(), relocations: vec![], align: 32, padding: vec![], rodata: 32, facts }
    }

    fn facts(mut self, change: impl FnOnce(&mut FunctionFacts)) -> Sample {
        change(&mut self.facts);
        self
    }

    fn relocated(mut self, at: u64, addend: i64) -> Sample {
        self.relocations.push((at, addend));
        self
    }

    fn object(&self) -> Vec<u8> {
        let mut out = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = out.section_id(StandardSection::Text);
        out.append_section_data(text, &[&self.code[..], &self.padding].concat(), 16);
        let rodata = out.section_id(StandardSection::ReadOnlyData);
        out.append_section_data(rodata, &vec![7; self.rodata], self.align);
        out.add_symbol(Symbol {
            name: b"f".to_vec(),
            value: 0,
            size: self.code.len() as u64,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::Elf { st_info: (STB_GLOBAL << 4) | STT_FUNC, st_other: STV_HIDDEN },
        });
        for &(offset, addend) in &self.relocations {
            let symbol = out.section_symbol(rodata);
            let flags = RelocationFlags::Elf { r_type: R_X86_64_PC32 };
            out.add_relocation(text, Relocation { offset, symbol, addend, flags }).unwrap();
        }
        out.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        out.write().unwrap()
    }

    fn check(&self) -> Vec<Diagnostic> {
        let metadata = Metadata { profile: self.profile, functions: vec![self.facts.clone()] };
        obligations(&self.object(), &metadata).err().unwrap_or_default()
    }
}

/// The sample breaks exactly this obligation.
fn breaks(obligation: Obligation, sample: Sample) {
    let found = sample.check();
    assert!(!found.is_empty(), "{obligation:?} is not seen in {:02x?}", sample.code);
    for diagnostic in &found {
        assert_eq!(diagnostic.code, Code::ObligationBroken, "{obligation:?}: {}", diagnostic.message);
        let said = diagnostic.message.contains(obligation.words()) && diagnostic.message.contains("`f`");
        assert!(said, "{obligation:?} of {:02x?}: {}", sample.code, diagnostic.message);
    }
}

fn holds(sample: Sample) {
    let found = sample.check();
    assert!(found.is_empty(), "{:02x?}: {found:?}", sample.code);
}

fn region(operations: &[(&str, u32)]) -> RegionFacts {
    RegionFacts { operations: operations.iter().map(|&(name, count)| (name.into(), count)).collect() }
}

#[test]
fn what_the_breaking_objects_are_made_from_holds() {
    holds(Sample::of(X86Sse2, &[ADDPS, MULPS, SQRTPS, MOVAPS, MOVD_IN]));
    holds(Sample::of(X86Sse2, &[LOAD]).relocated(7, 16 - 4));
    holds(Sample::of(X86Sse2, &[PSHUFD]).facts(|f| f.cross_lane = [("pshufd".into(), 1)].into()));
    holds(Sample::of(X86Sse2, &[MOVD_OUT]).facts(|f| f.result = Some(WORD)));
    holds(Sample::of(X86Avx2, &[VADDPS_YMM, VMOVD_OUT, VZEROUPPER]).facts(|f| f.result = Some(WORD)));
    holds(Sample::of(X86Avx2, &[VADDPS_YMM, VZEROUPPER, VMOVD_OUT]).facts(|f| f.result = Some(WORD)));
    holds(Sample::of(X86Avx2, &[VFMADD, VFMSUB]).facts(|f| f.multiply_adds = [1, 1, 0, 0]));
}

#[test]
fn other_instructions_than_the_profiles() {
    let alone = |profile, body: &[u8]| breaks(Obligation::ProfileInstructions, Sample::of(profile, &[body]));
    alone(X86Sse2, &[0x66, 0x0f, 0x58, 0xc1]); // addpd
    alone(X86Sse2, &[0xc5, 0xf8, 0x58, 0xc1]); // vaddps %xmm1, %xmm0, %xmm0
    alone(X86Avx2, ADDPS);
    alone(X86Sse2, &[0x0f, 0x5a, 0xc0]); // cvtps2pd
    alone(X86Avx512, &[0x62, 0xf1, 0xfd, 0x49, 0xf4, 0xc1]); // vpmuludq %zmm1, %zmm0, %zmm0{%k1}
    alone(X86Avx512, &[0x62, 0xf1, 0x7c, 0x18, 0x58, 0xc1]); // vaddps {rn-sae}, %zmm1, %zmm0, %zmm0
    breaks(Obligation::Padding, Sample::of(X86Sse2, &[&[0x90]])); // nop
    alone(X86Sse2, &[0x06]); // nothing in 64-bit mode
}

#[test]
fn estimates() {
    breaks(Obligation::NoEstimates, Sample::of(X86Sse2, &[&[0x0f, 0x53, 0xc1]])); // rcpps
    breaks(Obligation::NoEstimates, Sample::of(X86Avx512, &[&[0x62, 0xf2, 0x7d, 0x48, 0x4e, 0xc1]])); // vrsqrt14ps
}

#[test]
fn calls_branches_and_the_stack() {
    breaks(Obligation::NoCalls, Sample::of(X86Sse2, &[&[0xe8, 0, 0, 0, 0]])); // call
    breaks(Obligation::NoCalls, Sample::of(X86Sse2, &[&[0x0f, 0x05]])); // syscall
    breaks(Obligation::NoBranches, Sample::of(X86Sse2, &[&[0xeb, 0]])); // jmp
    breaks(Obligation::NoBranches, Sample::of(X86Sse2, &[&[0x77, 0]])); // ja
    breaks(Obligation::NoStack, Sample::of(X86Sse2, &[&[0x53]])); // push %rbx
    breaks(Obligation::NoStack, Sample::of(X86Sse2, &[&[0x0f, 0x28, 0x4c, 0x24, 0xf0]])); // movaps -16(%rsp), %xmm1
}

#[test]
fn general_registers() {
    breaks(Obligation::BoundaryRegisters, Sample::of(X86Sse2, &[&[0x66, 0x0f, 0x6e, 0xcb]])); // movd %ebx, %xmm1
    breaks(Obligation::BoundaryRegisters, Sample::of(X86Sse2, &[MOVD_IN]).facts(|f| f.params = vec![F]));
    breaks(Obligation::BoundaryRegisters, Sample::of(X86Sse2, &[MOVD_OUT]));
    breaks(Obligation::BoundaryRegisters, Sample::of(X86Sse2, &[MOVD_OUT, ADDPS]).facts(|f| f.result = Some(WORD)));
}

const MOVMSKPS: &[u8] = &[0x0f, 0x50, 0xc0]; // movmskps %xmm0, %eax
const NEG: &[u8] = &[0xf7, 0xd8]; // neg %eax
const SHR: &[u8] = &[0xc1, 0xe8, 0x1f]; // shr $31, %eax

/// What a function says that leaves whether any lane of a mask holds.
fn any(facts: &mut FunctionFacts) {
    facts.result = Some(WORD);
    facts.words = [("movmskps", 1), ("neg", 1), ("shr", 1)].map(|(name, count)| (name.into(), count)).into();
}

#[test]
fn masks_as_numbers() {
    let broken = |sample| breaks(Obligation::BoundaryRegisters, sample);
    let sample = |body: &[&[u8]]| Sample::of(X86Sse2, body).facts(any);
    holds(sample(&[MOVMSKPS, NEG, SHR]));
    broken(Sample::of(X86Sse2, &[MOVMSKPS, NEG, SHR]).facts(|f| f.result = Some(WORD)));
    broken(sample(&[MOVMSKPS, NEG]));
    broken(sample(&[MOVMSKPS, NEG, NEG, SHR]));
    broken(sample(&[MOVMSKPS, &[0x41, 0xf7, 0xda], SHR])); // neg %r10d
    broken(sample(&[MOVMSKPS, NEG, &[0x0f, 0x50, 0xd8], SHR])); // movmskps %xmm0, %ebx
    // The upper halves are gone after `vzeroupper`.
    let leave: &[u8] = &[0xc5, 0xfc, 0x50, 0xc0]; // vmovmskps %ymm0, %eax
    let wide = |body: &[&[u8]]| {
        let facts = |f: &mut FunctionFacts| (f.result, f.words) = (Some(WORD), [("vmovmskps".into(), 1)].into());
        Sample::of(X86Avx2, body).facts(facts)
    };
    holds(wide(&[leave, VZEROUPPER]));
    breaks(Obligation::UpperHalves, wide(&[VZEROUPPER, leave]));
}

#[test]
fn tables() {
    let bits: &[u8] = &[0xc5, 0xfc, 0x50, 0xc0]; // vmovmskps %ymm0, %eax
    let address: &[u8] = &[0x48, 0x8d, 0x0d, 0, 0, 0, 0]; // lea literal(%rip), %rcx
    let entry = |sib: u8| [0xc4, 0xe2, 0x7d, 0x31, 0x0c, sib]; // vpmovzxbd (%base,%index,8), %ymm1
    let sample = |sib: u8| {
        let facts = |f: &mut FunctionFacts| {
            f.cross_lane = [("vpmovzxbd".into(), 1)].into();
            f.words = [("vmovmskps".into(), 1), ("vpmovzxbd".into(), 1)].into();
        };
        let sample = Sample::of(X86Avx2, &[bits, address, &entry(sib)]).facts(facts).relocated(11, -4);
        Sample { rodata: 2048, ..sample }
    };
    holds(sample(0xc1)); // (%rcx,%rax,8)
    breaks(Obligation::ConstantLoads, sample(0xc7)); // (%rdi,%rax,8)
    breaks(Obligation::ConstantLoads, sample(0xf9)); // (%rcx,%rdi,8)
    breaks(Obligation::ConstantLoads, sample(0x81)); // (%rcx,%rax,4)
    breaks(Obligation::ConstantLoads, Sample { rodata: 2040, ..sample(0xc1) });
}

#[test]
fn racks_and_registers() {
    breaks(Obligation::WholeRacks, Sample::of(X86Avx2, &[&[0xc5, 0xf8, 0x58, 0xc1]])); // vaddps of xmm
    breaks(Obligation::WholeRacks, Sample::of(X86Avx512, &[VADDPS_YMM]));
    breaks(Obligation::AllowedRegisters, Sample::of(X86Avx512, &[KXNORW, &[0xc5, 0xf4, 0x41, 0xc1]])); // kandw %k1, %k1, %k0
}

#[test]
fn memory() {
    let load = || Sample::of(X86Sse2, &[LOAD]);
    breaks(Obligation::ConstantLoads, load());
    breaks(Obligation::ConstantLoads, load().relocated(7, 8 - 4)); // not aligned
    breaks(Obligation::ConstantLoads, load().relocated(7, 32 - 4)); // past the end
    breaks(Obligation::ConstantLoads, load().relocated(7, -16 - 4)); // before the start
    breaks(Obligation::ConstantLoads, load().relocated(6, 16 - 4)); // in the opcode
    breaks(Obligation::ConstantLoads, Sample { align: 8, ..load().relocated(7, 16 - 4) });
    breaks(Obligation::ConstantLoads, load().relocated(7, 16 - 4).relocated(7, 12));
    breaks(Obligation::ConstantLoads, Sample::of(X86Sse2, &[&[0x0f, 0x28, 0x0f]])); // movaps (%rdi), %xmm1
    let store: &[u8] = &[0x0f, 0x29, 0x05, 0, 0, 0, 0]; // movaps %xmm0, literal(%rip)
    breaks(Obligation::ConstantLoads, Sample::of(X86Sse2, &[store]).relocated(7, 16 - 4));
}

#[test]
fn registers_that_nothing_wrote() {
    let alone = |profile, body: &[u8]| breaks(Obligation::DefinedReads, Sample::of(profile, &[body]));
    alone(X86Sse2, &[0x0f, 0x58, 0xc3]); // addps %xmm3, %xmm0
    alone(X86Sse2, &[0x0f, 0x58, 0xd8]); // addps %xmm0, %xmm3
    alone(X86Sse2, &[0x0f, 0x28, 0xc3]); // movaps %xmm3, %xmm0
    alone(X86Avx2, &[0xc5, 0xe4, 0x58, 0xc0]); // vaddps %ymm0, %ymm3, %ymm0
    let fused = Sample::of(X86Avx2, &[&[0xc4, 0xe2, 0x75, 0xa8, 0xd8]]); // vfmadd213ps %ymm0, %ymm1, %ymm3
    breaks(Obligation::DefinedReads, fused.facts(|f| f.multiply_adds = [1, 0, 0, 0]));
    alone(X86Avx512, &[0xc5, 0xec, 0x41, 0xca]); // kandw %k2, %k2, %k1
    // Zeros and ones read nothing, and what they write may be read.
    holds(Sample::of(X86Sse2, &[&[0x0f, 0x57, 0xdb], &[0x0f, 0x58, 0xc3]])); // xorps %xmm3, %xmm3; addps %xmm3, %xmm0
    holds(Sample::of(X86Avx512, &[KXNORW, &[0xc5, 0xf4, 0x41, 0xc9]])); // kandw %k1, %k1, %k1
    let nothing = |body: &[&[u8]]| Sample::of(X86Sse2, body).facts(|f| f.params.clear());
    breaks(Obligation::DefinedReads, nothing(&[]));
    holds(nothing(&[&[0x0f, 0x57, 0xc0]])); // xorps %xmm0, %xmm0
    breaks(Obligation::DefinedReads, Sample::of(X86Sse2, &[ADDPS]).facts(|f| f.result = Some(WORD)));
}

#[test]
fn cross_lane_instructions_and_multiply_adds() {
    breaks(Obligation::CrossLane, Sample::of(X86Sse2, &[PSHUFD]));
    let selected = |f: &mut FunctionFacts| f.cross_lane = [("pshufd".into(), 1)].into();
    breaks(Obligation::CrossLane, Sample::of(X86Sse2, &[ADDPS]).facts(selected));
    breaks(Obligation::CrossLane, Sample::of(X86Sse2, &[PSHUFD, PSHUFD]).facts(selected));
    breaks(Obligation::MultiplyAdds, Sample::of(X86Avx2, &[VFMADD]));
    breaks(Obligation::MultiplyAdds, Sample::of(X86Avx2, &[VADDPS_YMM]).facts(|f| f.multiply_adds = [1, 0, 0, 0]));
    breaks(Obligation::MultiplyAdds, Sample::of(X86Avx2, &[VFMSUB]).facts(|f| f.multiply_adds = [1, 0, 0, 0]));
}

#[test]
fn regions() {
    let once = || vec![region(&[("mulps", 1), ("addps", 1)])];
    let twice = || vec![region(&[("mulps", 1), ("addps", 1)]), region(&[("addps", 1), ("mulps", 1)])];
    holds(Sample::of(X86Sse2, &[SQRTPS, MULPS, ADDPS]).facts(|f| f.regions = once()));
    holds(Sample::of(X86Sse2, &[MULPS, MOVAPS, ADDPS, SQRTPS]).facts(|f| f.regions = once()));
    holds(Sample::of(X86Sse2, &[MULPS, SQRTPS, ADDPS, MULPS]).facts(|f| f.regions = once()));
    holds(Sample::of(X86Sse2, &[MULPS, ADDPS, ADDPS, SQRTPS, ADDPS, MULPS]).facts(|f| f.regions = twice()));
    let torn =
        |body: &[&[u8]], regions| breaks(Obligation::Regions, Sample::of(X86Sse2, body).facts(|f| f.regions = regions));
    torn(&[MULPS, SQRTPS, ADDPS], once());
    torn(&[MULPS, MULPS, SQRTPS], once());
    torn(&[MULPS, ADDPS, MULPS], twice());
    torn(&[MULPS, ADDPS, SQRTPS, MULPS, SQRTPS, ADDPS], twice());
}

#[test]
fn entry_and_exit() {
    breaks(Obligation::Landing, Sample::raw(X86Sse2, &[ADDPS, RET]));
    breaks(Obligation::Landing, Sample::of(X86Sse2, &[LANDING]));
    breaks(Obligation::Ending, Sample::raw(X86Sse2, &[LANDING, ADDPS]));
    breaks(Obligation::Ending, Sample::of(X86Sse2, &[RET]));
    let word = |body: &[&[u8]]| Sample::of(X86Avx2, body).facts(|f| f.result = Some(WORD));
    breaks(Obligation::UpperHalves, word(&[VADDPS_YMM, VMOVD_OUT]));
    breaks(Obligation::UpperHalves, word(&[VZEROUPPER, VADDPS_YMM, VMOVD_OUT]));
    breaks(Obligation::UpperHalves, word(&[VADDPS_YMM, VMOVD_OUT, VZEROUPPER, VZEROUPPER]));
    breaks(Obligation::UpperHalves, Sample::of(X86Avx2, &[VADDPS_YMM, VZEROUPPER]));
}

#[test]
fn only_padding_stands_outside_functions() {
    for padding in [&[0x90][..], &[0xcc], &[0xc3; 4]] {
        let found = Sample { padding: padding.to_vec(), ..Sample::of(X86Sse2, &[ADDPS]) }.check();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, Code::ObjectMalformed);
    }
}
