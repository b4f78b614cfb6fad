//! For each obligation objects for AArch64, made by hand, that break it and nothing else. The words are those of GNU
//! `as`.

use object::elf::{STB_GLOBAL, STB_LOCAL, STT_FUNC, STT_NOTYPE, STV_DEFAULT, STV_HIDDEN};
use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Profile::Aarch64Neon;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_verifier::{FunctionFacts, Metadata, Obligation, RegionFacts, obligations};

const F: Ty = Ty::Rack(Elem::F32);
const WORD: Ty = Ty::Uniform(Elem::I32);

const LANDING: u32 = 0xd503_245f; // bti c
const RET: u32 = 0xd65f_03c0;
const FADD: u32 = 0x4e21_d400; // fadd v0.4s, v0.4s, v1.4s
const FMUL: u32 = 0x6e21_dc00; // fmul v0.4s, v0.4s, v1.4s
const FSQRT: u32 = 0x6ea1_f842; // fsqrt v2.4s, v2.4s
const MOV: u32 = 0x4ea0_1c03; // mov v3.16b, v0.16b
const FMLA: u32 = 0x4e22_cc20; // fmla v0.4s, v1.4s, v2.4s
const FMLS: u32 = 0x4ea2_cc20; // fmls v0.4s, v1.4s, v2.4s
const DUP: u32 = 0x4e04_0c01; // dup v1.4s, w0
const FMOV_OUT: u32 = 0x1e26_0000; // fmov w0, s0
const LSR: u32 = 0x531f_7c00; // lsr w0, w0, #31
const REV64: u32 = 0x4ea0_0800; // rev64 v0.4s, v0.4s

/// The words of a pool that none are in.
const NO_POOL: &[u8] = &[];

/// An object of one function and its pool, and what is said to have been selected for it.
struct Sample {
    code: Vec<u32>,
    /// What follows the code.
    rest: Vec<u8>,
    /// Where the mapping symbols say that data starts.
    data: Option<u64>,
    facts: FunctionFacts,
}

impl Sample {
    /// `bti c`, the words, `ret`.
    fn of(body: &[u32]) -> Sample {
        Sample::raw(&[&[LANDING], body, &[RET]].concat())
    }

    fn raw(code: &[u32]) -> Sample {
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
        Sample { code: code.to_vec(), rest: NO_POOL.to_vec(), data: None, facts }
    }

    fn facts(mut self, change: impl FnOnce(&mut FunctionFacts)) -> Sample {
        change(&mut self.facts);
        self
    }

    /// With these literals at the next multiple of 16.
    fn pool(mut self, literals: &[u8]) -> Sample {
        let end = self.code.len() * 4;
        let start = end.next_multiple_of(16);
        self.rest = [vec![0; start - end], literals.to_vec()].concat();
        self.data = Some(start as u64);
        self
    }

    fn object(&self) -> Vec<u8> {
        let mut out = Object::new(BinaryFormat::Elf, Architecture::Aarch64, Endianness::Little);
        let text = out.section_id(StandardSection::Text);
        let code: Vec<u8> = self.code.iter().flat_map(|word| word.to_le_bytes()).collect();
        out.append_section_data(text, &[&code[..], &self.rest].concat(), 16);
        let mut symbol = |name: &str, value: u64, size: usize, kind: u8, bind: u8, other: u8| {
            let scope = if bind == STB_LOCAL { SymbolScope::Compilation } else { SymbolScope::Linkage };
            out.add_symbol(Symbol {
                name: name.into(),
                value,
                size: size as u64,
                kind: if kind == STT_FUNC { SymbolKind::Text } else { SymbolKind::Label },
                scope,
                weak: false,
                section: SymbolSection::Section(text),
                flags: SymbolFlags::Elf { st_info: (bind << 4) | kind, st_other: other },
            });
        };
        symbol("$x", 0, 0, STT_NOTYPE, STB_LOCAL, STV_DEFAULT);
        if let Some(start) = self.data {
            symbol("$d", start, 0, STT_NOTYPE, STB_LOCAL, STV_DEFAULT);
        }
        symbol("f", 0, code.len(), STT_FUNC, STB_GLOBAL, STV_HIDDEN);
        out.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        out.write().unwrap()
    }

    fn check(&self) -> Vec<Diagnostic> {
        let metadata = Metadata { profile: Aarch64Neon, functions: vec![self.facts.clone()] };
        obligations(&self.object(), &metadata).err().unwrap_or_default()
    }
}

/// The sample breaks exactly this obligation.
fn breaks(obligation: Obligation, sample: Sample) {
    let found = sample.check();
    assert!(!found.is_empty(), "{obligation:?} is not seen in {:08x?}", sample.code);
    for diagnostic in &found {
        assert_eq!(diagnostic.code, Code::ObligationBroken, "{obligation:?}: {}", diagnostic.message);
        let said = diagnostic.message.contains(obligation.words()) && diagnostic.message.contains("`f`");
        assert!(said, "{obligation:?} of {:08x?}: {}", sample.code, diagnostic.message);
    }
}

/// The object is none that this compiler writes.
fn malformed(sample: Sample) {
    let found = sample.check();
    assert!(found.iter().any(|d| d.code == Code::ObjectMalformed), "{:08x?}: {found:?}", sample.code);
}

fn holds(sample: Sample) {
    let found = sample.check();
    assert!(found.is_empty(), "{:08x?}: {found:?}", sample.code);
}

fn counts(of: &[(&str, u32)]) -> std::collections::BTreeMap<smol_str::SmolStr, u32> {
    of.iter().map(|&(name, count)| (name.into(), count)).collect()
}

fn region(operations: &[(&str, u32)]) -> RegionFacts {
    RegionFacts { operations: counts(operations) }
}

#[test]
fn what_the_breaking_objects_are_made_from_holds() {
    holds(Sample::of(&[FADD, FMUL, FSQRT, MOV]));
    holds(Sample::of(&[REV64]).facts(|f| f.cross_lane = counts(&[("rev64", 1)])));
    holds(Sample::of(&[FMLA, FMLS]).facts(|f| f.multiply_adds = [1, 0, 1, 0]));
    holds(Sample::of(&[FMOV_OUT, LSR]).facts(|f| {
        f.result = Some(WORD);
        f.words = counts(&[("fmov_out", 1), ("lsr_word", 1)]);
    }));
}

#[test]
fn other_instructions_than_the_profiles() {
    let alone = |word: u32| breaks(Obligation::ProfileInstructions, Sample::of(&[word]));
    alone(0x0b02_0020); // add w0, w1, w2
    alone(0xd503_201f); // nop
    alone(0x0000_0000); // udf #0
    alone(0x4e82_9420); // sdot v0.4s, v1.16b, v2.16b
    alone(0x4e02_2000); // tbl v0.16b, {v0.16b, v1.16b}, v2.16b
}

#[test]
fn estimates() {
    breaks(Obligation::NoEstimates, Sample::of(&[0x4ea1_d820])); // frecpe v0.4s, v1.4s
    breaks(Obligation::NoEstimates, Sample::of(&[0x6ea1_d820])); // frsqrte v0.4s, v1.4s
}

#[test]
fn calls_branches_and_the_stack() {
    breaks(Obligation::NoCalls, Sample::of(&[0x9400_0000])); // bl .
    breaks(Obligation::NoCalls, Sample::of(&[0xd63f_0020])); // blr x1
    breaks(Obligation::NoCalls, Sample::of(&[0xd400_0001])); // svc #0
    breaks(Obligation::NoBranches, Sample::of(&[0x1400_0000])); // b .
    breaks(Obligation::NoBranches, Sample::of(&[0xd61f_0020])); // br x1
    breaks(Obligation::NoBranches, Sample::of(&[0x3400_0000])); // cbz w0, .
    breaks(Obligation::NoBranches, Sample::of(&[0x3608_0000])); // tbz w0, #1, .
    breaks(Obligation::NoBranches, Sample::of(&[0xd65f_0020])); // ret x1
    breaks(Obligation::NoStack, Sample::of(&[0x3c9f_0fe0])); // str q0, [sp, #-16]!
    breaks(Obligation::NoStack, Sample::of(&[0xd100_43ff])); // sub sp, sp, #16
}

#[test]
fn racks_and_registers() {
    breaks(Obligation::WholeRacks, Sample::of(&[0x0e21_d400])); // fadd v0.2s, v0.2s, v1.2s
    breaks(Obligation::WholeRacks, Sample::of(&[0x1e22_2820])); // fadd s0, s1, s2
    breaks(Obligation::WholeRacks, Sample::of(&[0x4e62_d420])); // fadd v0.2d, v1.2d, v2.2d
    breaks(Obligation::AllowedRegisters, Sample::of(&[0x4e21_d408])); // fadd v8.4s, v0.4s, v1.4s
    breaks(Obligation::AllowedRegisters, Sample::of(&[0x2a00_03f4])); // mov w20, w0
}

#[test]
fn general_registers() {
    let dup = || Sample::of(&[DUP]);
    breaks(Obligation::BoundaryRegisters, dup().facts(|f| f.cross_lane = counts(&[("dup_word", 1)])));
    let lanes = |f: &mut FunctionFacts| f.cross_lane = counts(&[("dup_word", 1)]);
    holds(dup().facts(lanes).facts(|f| f.words = counts(&[("dup_word", 1)])));
    breaks(Obligation::BoundaryRegisters, Sample::of(&[LSR]));
    breaks(Obligation::BoundaryRegisters, Sample::of(&[FADD]).facts(|f| f.words = counts(&[("lsr_word", 1)])));
}

#[test]
fn memory() {
    // ldr q1, .+12, where the literal is; it stands behind bti c, ldr, ret and four bytes of padding.
    let load = |word: u32| Sample::of(&[word]);
    holds(load(0x9c00_0061).pool(&[7; 16]));
    breaks(Obligation::ConstantLoads, load(0x9c00_0061)); // nothing there
    breaks(Obligation::ConstantLoads, load(0x9cff_ffe1)); // ldr q1, .-4: the code
    breaks(Obligation::ConstantLoads, Sample::of(&[0x3dc0_0000])); // ldr q0, [x0]
    breaks(Obligation::ConstantLoads, Sample::of(&[0x3d80_0000])); // str q0, [x0]
    malformed(load(0x9c00_0081).pool(&[7; 32])); // ldr q1, .+16: not aligned
    malformed(load(0x9c00_0061).pool(&[7; 32])); // more than is read
    malformed(load(FADD).pool(&[7; 16])); // not read
    malformed(Sample { data: None, ..load(0x9c00_0061).pool(&[7; 16]) });
    malformed(Sample { data: Some(12), ..load(0x9c00_0061).pool(&[7; 16]) });
    let mut padded = load(0x9c00_0061).pool(&[7; 16]);
    padded.rest[0] = 1;
    malformed(padded);
}

/// `and v3, v0, bits`, `addv s3`, `fmov w1`, `adr x2, table`, `ldr q5`: an entry of a table, by a mask's bits.
fn entry(body: &[u32], bits: u8) -> Sample {
    let literals = [[bits, 0, 0, 0].repeat(4), vec![3; 256]].concat();
    let sample = Sample::of(body).facts(|f| {
        f.cross_lane = counts(&[("addv", 1)]);
        f.words = counts(&[("fmov_out", 1), ("ldr_entry", 1)]);
    });
    sample.pool(&literals)
}

#[test]
fn tables() {
    // ldr q4 from 0x20; and v3, v0, v4; addv s3, v3; fmov w1, s3; adr x2, 0x30; the entry.
    const LOAD: u32 = 0x9c00_00e4;
    const AND: u32 = 0x4e24_1c03;
    const ADDV: u32 = 0x4eb1_b863;
    const FMOV: u32 = 0x1e26_0061;
    const ADR: u32 = 0x1000_00e2;
    const LDR: u32 = 0x3ce1_5845; // ldr q5, [x2, w1, uxtw #4]
    let good = [LOAD, AND, ADDV, FMOV, ADR, LDR];
    holds(entry(&good, 3));
    // Four lanes of 4 make 16, which is past the last entry.
    breaks(Obligation::ConstantLoads, entry(&good, 4));
    let with = |at: usize, word: u32| {
        let mut body = good;
        body[at] = word;
        body
    };
    // ldr q5, [x2, w0, uxtw #4]: any number; ldr q5, [x1, w1, uxtw #4]: no address
    breaks(Obligation::ConstantLoads, entry(&with(5, 0x3ce0_5845), 3));
    breaks(Obligation::ConstantLoads, entry(&with(5, 0x3ce1_5825), 3));
}

#[test]
fn registers_that_nothing_wrote() {
    breaks(Obligation::DefinedReads, Sample::of(&[0x4e25_d400])); // fadd v0.4s, v0.4s, v5.4s
    let fused = Sample::of(&[0x4e22_cc25]); // fmla v5.4s, v1.4s, v2.4s
    breaks(Obligation::DefinedReads, fused.facts(|f| f.multiply_adds = [1, 0, 0, 0]));
    breaks(Obligation::DefinedReads, Sample::of(&[0x2a01_03e0])); // mov w0, w1
    breaks(Obligation::DefinedReads, Sample::of(&[]).facts(|f| f.params.clear()));
    holds(Sample::of(&[0x6f00_e400]).facts(|f| f.params.clear())); // movi v0.2d, #0
    breaks(Obligation::DefinedReads, Sample::of(&[FADD]).facts(|f| (f.params, f.result) = (vec![F, F], Some(WORD))));
}

#[test]
fn cross_lane_instructions_and_multiply_adds() {
    breaks(Obligation::CrossLane, Sample::of(&[REV64]));
    let selected = |f: &mut FunctionFacts| f.cross_lane = counts(&[("rev64", 1)]);
    breaks(Obligation::CrossLane, Sample::of(&[FADD]).facts(selected));
    breaks(Obligation::CrossLane, Sample::of(&[REV64, REV64]).facts(selected));
    breaks(Obligation::CrossLane, Sample::of(&[0x4eb1_b803])); // addv s3, v0.4s
    breaks(Obligation::MultiplyAdds, Sample::of(&[FMLA]));
    breaks(Obligation::MultiplyAdds, Sample::of(&[FADD]).facts(|f| f.multiply_adds = [1, 0, 0, 0]));
    breaks(Obligation::MultiplyAdds, Sample::of(&[FMLS]).facts(|f| f.multiply_adds = [1, 0, 0, 0]));
}

#[test]
fn regions() {
    let once = || vec![region(&[("fmul", 1), ("fadd", 1)])];
    holds(Sample::of(&[FSQRT, FMUL, FADD]).facts(|f| f.regions = once()));
    holds(Sample::of(&[FMUL, MOV, FADD, FSQRT]).facts(|f| f.regions = once()));
    holds(Sample::of(&[FMUL, FSQRT, FADD, FMUL]).facts(|f| f.regions = once()));
    breaks(Obligation::Regions, Sample::of(&[FMUL, FSQRT, FADD]).facts(|f| f.regions = once()));
    breaks(Obligation::Regions, Sample::of(&[FMUL, FMUL, FSQRT]).facts(|f| f.regions = once()));
    let twice = || vec![region(&[("fmul", 1), ("fadd", 1)]), region(&[("fadd", 1), ("fmul", 1)])];
    breaks(Obligation::Regions, Sample::of(&[FMUL, FADD, FMUL]).facts(|f| f.regions = twice()));
}

#[test]
fn entry_and_exit() {
    breaks(Obligation::Landing, Sample::raw(&[FADD, RET]));
    breaks(Obligation::Landing, Sample::of(&[LANDING]));
    breaks(Obligation::Ending, Sample::raw(&[LANDING, FADD]));
    breaks(Obligation::Ending, Sample::of(&[RET]));
}
