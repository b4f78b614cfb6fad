//! The emulator against this CPU: the same code on the same special and random values, results
//! and exception flags compared bit for bit, NaN payloads included. AVX-512 code, which few
//! machines can check directly, is held against the AVX2 instruction of the same meaning too.
//!
//! One difference is known, see [`unsure`].

#![cfg(target_arch = "x86_64")]

mod common;

use rake_testkit::special::{Bits, F32, I32, tuples};
use rake_testkit::x86::{Engine, Image, Isa, Job, Out, Regs, cpu_has, flag, run_on};

/// Which values an operation's operands take.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    Floats,
    Integers,
}

/// One operation in every ISA that has it.
struct Op {
    name: &'static str,
    values: Values,
    arity: usize,
    /// The three functions, `SLOT` bytes apart in the order of the ISAs; ud2 where there is none.
    image: Image,
}

const SLOT: usize = 32;
const NONE: [u8; 2] = [0x0f, 0x0b];

impl Op {
    /// The operation's function for an ISA.
    fn image(&self, isa: Isa) -> Option<Image> {
        let entry = isa as usize * SLOT;
        let exists = self.image.bytes[entry..][..2] != NONE;
        exists.then(|| Image { bytes: self.image.bytes.clone(), entry })
    }
}

/// Rows of operations; each is: name, values, arity, then the code of SSE2, AVX2 and AVX-512.
macro_rules! ops {
    ($($name:ident $values:ident $arity:literal: $sse:expr, $avx:expr, $evex:expr;)+) => {
        $(kernel!($name, $sse, "ret", ".balign 32", $avx, "ret", ".balign 32", $evex, "ret");)+
        fn ops() -> Vec<Op> {
            vec![$(Op {
                name: stringify!($name),
                values: Values::$values,
                arity: $arity,
                image: $name(),
            }),+]
        }
    };
}

/// The code of a binary operation whose mnemonic only gains a `v`.
macro_rules! sse {
    ($m:literal) => {
        concat!($m, " xmm0, xmm1")
    };
}
macro_rules! avx {
    ($m:literal) => {
        concat!($m, " ymm0, ymm0, ymm1")
    };
}
macro_rules! evex {
    ($m:literal) => { concat!($m, " zmm0, zmm0, zmm1") };
}
/// A fused multiply-add of registers 0, 1 and 2.
macro_rules! fma {
    ($m:literal, $r:literal) => {
        concat!($m, " ", $r, "0, ", $r, "1, ", $r, "2")
    };
}
/// A comparison whose mask becomes lanes of ones and zeros.
macro_rules! lanes_of {
    ($compare:literal) => {
        concat!($compare, "\nvpmovm2d zmm0, k1")
    };
}

ops! {
    add Floats 2: sse!("addps"), avx!("vaddps"), evex!("vaddps");
    sub Floats 2: sse!("subps"), avx!("vsubps"), evex!("vsubps");
    mul Floats 2: sse!("mulps"), avx!("vmulps"), evex!("vmulps");
    div Floats 2: sse!("divps"), avx!("vdivps"), evex!("vdivps");
    min Floats 2: sse!("minps"), avx!("vminps"), evex!("vminps");
    max Floats 2: sse!("maxps"), avx!("vmaxps"), evex!("vmaxps");
    and Floats 2: sse!("andps"), avx!("vandps"), evex!("vandps");
    andnot Floats 2: sse!("andnps"), avx!("vandnps"), evex!("vandnps");
    sqrt Floats 1: "sqrtps xmm0, xmm0", "vsqrtps ymm0, ymm0", "vsqrtps zmm0, zmm0";
    to_integer Floats 1: "cvttps2dq xmm0, xmm0", "vcvttps2dq ymm0, ymm0", "vcvttps2dq zmm0, zmm0";
    to_nearest Floats 1: "cvtps2dq xmm0, xmm0", "vcvtps2dq ymm0, ymm0", "vcvtps2dq zmm0, zmm0";
    to_float Integers 1: "cvtdq2ps xmm0, xmm0", "vcvtdq2ps ymm0, ymm0", "vcvtdq2ps zmm0, zmm0";
    floor Floats 1: "ud2", "vroundps ymm0, ymm0, 9", "vrndscaleps zmm0, zmm0, 9";
    round_even Floats 1: "ud2", "vroundps ymm0, ymm0, 8", "vrndscaleps zmm0, zmm0, 8";
    fma132 Floats 3: "ud2", fma!("vfmadd132ps", "ymm"), fma!("vfmadd132ps", "zmm");
    fma213 Floats 3: "ud2", fma!("vfmadd213ps", "ymm"), fma!("vfmadd213ps", "zmm");
    fma231 Floats 3: "ud2", fma!("vfmadd231ps", "ymm"), fma!("vfmadd231ps", "zmm");
    fms213 Floats 3: "ud2", fma!("vfmsub213ps", "ymm"), fma!("vfmsub213ps", "zmm");
    fnma213 Floats 3: "ud2", fma!("vfnmadd213ps", "ymm"), fma!("vfnmadd213ps", "zmm");
    fnms231 Floats 3: "ud2", fma!("vfnmsub231ps", "ymm"), fma!("vfnmsub231ps", "zmm");
    equal Floats 2: "cmpps xmm0, xmm1, 0", "vcmpps ymm0, ymm0, ymm1, 0", lanes_of!("vcmpps k1, zmm0, zmm1, 0");
    less Floats 2: "cmpps xmm0, xmm1, 1", "vcmpps ymm0, ymm0, ymm1, 1", lanes_of!("vcmpps k1, zmm0, zmm1, 1");
    less_equal Floats 2: "cmpps xmm0, xmm1, 2", "vcmpps ymm0, ymm0, ymm1, 2", lanes_of!("vcmpps k1, zmm0, zmm1, 2");
    unordered Floats 2: "cmpps xmm0, xmm1, 3", "vcmpps ymm0, ymm0, ymm1, 3", lanes_of!("vcmpps k1, zmm0, zmm1, 3");
    not_equal Floats 2: "cmpps xmm0, xmm1, 4", "vcmpps ymm0, ymm0, ymm1, 4", lanes_of!("vcmpps k1, zmm0, zmm1, 4");
    quiet_less Floats 2: "ud2", "vcmpps ymm0, ymm0, ymm1, 17", lanes_of!("vcmpps k1, zmm0, zmm1, 17");
    quiet_greater Floats 2: "ud2", "vcmpps ymm0, ymm0, ymm1, 30", lanes_of!("vcmpps k1, zmm0, zmm1, 30");
    select Floats 3: "ud2", "vblendvps ymm0, ymm0, ymm1, ymm2", "vpmovd2m k1, zmm2\nvblendmps zmm0{{k1}}, zmm0, zmm1";
    add_i Integers 2: sse!("paddd"), avx!("vpaddd"), evex!("vpaddd");
    sub_i Integers 2: sse!("psubd"), avx!("vpsubd"), evex!("vpsubd");
    mul_i Integers 2: "ud2", avx!("vpmulld"), evex!("vpmulld");
    mul_wide Integers 2: sse!("pmuludq"), avx!("vpmuludq"), evex!("vpmuludq");
    min_i Integers 2: "ud2", avx!("vpminsd"), evex!("vpminsd");
    max_u Integers 2: "ud2", avx!("vpmaxud"), evex!("vpmaxud");
    xor_i Integers 2: sse!("pxor"), avx!("vpxor"), evex!("vpxord");
    equal_i Integers 2: sse!("pcmpeqd"), avx!("vpcmpeqd"), lanes_of!("vpcmpeqd k1, zmm0, zmm1");
    greater_i Integers 2: sse!("pcmpgtd"), avx!("vpcmpgtd"), lanes_of!("vpcmpgtd k1, zmm0, zmm1");
    abs_i Integers 1: "ud2", "vpabsd ymm0, ymm0", "vpabsd zmm0, zmm0";
    shift_left Integers 1: "pslld xmm0, 7", "vpslld ymm0, ymm0, 7", "vpslld zmm0, zmm0, 7";
    shift_right Integers 1: "psrad xmm0, 31", "vpsrad ymm0, ymm0, 31", "vpsrad zmm0, zmm0, 31";
    shift_each Integers 2: "ud2", avx!("vpsllvd"), evex!("vpsllvd");
}

/// Records for an operation: first every special tuple (of a few values, for three operands), four
/// different ones in each record, so that every ISA sees each; then random values, one tuple in
/// all lanes, so that flags belong to that tuple alone, half of them under another rounding,
/// flushing of results or flushing of operands.
fn records(values: Values, arity: usize, seed: u64) -> Vec<Regs> {
    let all = if values == Values::Floats { F32 } else { I32 };
    let few: Vec<u32> = all.iter().copied().step_by(if arity == 3 { 5 } else { 1 }).collect();
    let mut records: Vec<Regs> = tuples(&few, arity).chunks(4).map(four_tuples).collect();
    let mut bits = Bits::new(seed);
    for _ in 0..400 {
        let mut regs = Regs::default();
        for register in 0..arity {
            let lane = if values == Values::Floats { bits.f32() } else { bits.i32() };
            regs.splat(register, lane);
        }
        if bits.below(2) == 0 {
            regs.mxcsr |= bits.pick(&[1 << 13, 2 << 13, 3 << 13, 1 << 15, 1 << 6, 0x8040]);
        }
        records.push(regs);
    }
    records
}

fn four_tuples(tuples: &[Vec<u32>]) -> Regs {
    let mut regs = Regs::default();
    let arity = tuples.first().map_or(0, Vec::len);
    (0..arity).for_each(|register| {
        let lane = |i: usize| tuples[i % 4 % tuples.len()][register];
        regs.set_lanes(register, &std::array::from_fn::<u32, 16, _>(lane));
    });
    regs
}

/// Four lanes and the flags: what every ISA shows of a record, as its lanes repeat.
fn seen(out: &Out, isa: Isa) -> (Vec<u32>, u32) {
    let lanes = out.lanes(isa.lanes());
    assert!(lanes.chunks(4).all(|four| four == &lanes[..4]), "unequal lanes: {lanes:x?}");
    assert!(out.callee_saved_ok);
    (lanes[..4].to_vec(), out.mxcsr)
}

/// The flags that the engines need not agree on for these operands: a fused multiply-add of zero
/// and a subnormal number raises DE on AMD's Zen 3, while Bochs returns the addend without looking
/// at the subnormal factor.
fn unsure(op: &Op, regs: &Regs) -> u32 {
    let (a, b) = match op.name.trim_start_matches(|c: char| c.is_ascii_lowercase()) {
        "132" => (0, 2),
        "213" => (0, 1),
        "231" => (1, 2),
        _ => return 0,
    };
    let lane = |v: usize, i: usize| f32::from_le_bytes(regs.vec[v][4 * i..][..4].try_into().unwrap());
    let hit = |x: f32, y: f32| x == 0.0 && y.is_subnormal();
    let hits = (0..4).any(|i| hit(lane(a, i), lane(b, i)) || hit(lane(b, i), lane(a, i)));
    if hits { flag::DE } else { 0 }
}

#[test]
fn emulator_and_cpu_agree_on_every_bit() {
    let ops = ops();
    let inputs: Vec<Vec<Regs>> = ops.iter().enumerate().map(|(i, op)| records(op.values, op.arity, i as u64)).collect();
    let mut images = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        images.extend(Isa::ALL.into_iter().filter_map(|isa| Some((i, isa, op.image(isa)?))));
    }
    let jobs: Vec<Job> = images.iter().map(|(i, isa, image)| Job { isa: *isa, image, regs: &inputs[*i] }).collect();
    let emulated = run_on(Engine::Emulator, &jobs).unwrap();

    // The CPU runs what it has; for AVX-512 that it lacks, the AVX2 function stands in.
    let stand_in = |isa| if cpu_has(isa) { isa } else { Isa::Avx2 };
    let native_images: Vec<(usize, Isa, Image)> =
        images.iter().filter_map(|(i, isa, _)| Some((*i, stand_in(*isa), ops[*i].image(stand_in(*isa))?))).collect();
    assert_eq!(native_images.len(), images.len());
    let jobs: Vec<Job> =
        native_images.iter().map(|(i, isa, image)| Job { isa: *isa, image, regs: &inputs[*i] }).collect();
    let native = run_on(Engine::Native, &jobs).unwrap();

    let mut differences = Vec::new();
    let mut compared = 0;
    for (job, (i, isa, _)) in images.iter().enumerate() {
        let records = emulated[job].iter().zip(&native[job]).zip(&inputs[*i]);
        for ((there, here), regs) in records {
            compared += 1;
            let (mut there, mut here) = (seen(there, *isa), seen(here, stand_in(*isa)));
            let unsure = unsure(&ops[*i], regs);
            there.1 |= unsure;
            here.1 |= unsure;
            if there != here {
                let operands: Vec<_> = regs.vec[..ops[*i].arity].iter().map(|v| &v[..16]).collect();
                let name = ops[*i].name;
                differences.push(format!("{name} {isa:?} {operands:02x?}: emulator {there:x?}, CPU {here:x?}"));
            }
        }
    }
    assert!(compared > 50_000, "{compared}");
    let some = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} of {compared}:\n{some}", differences.len());
}
