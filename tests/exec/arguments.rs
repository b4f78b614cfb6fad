//! Arguments for a function: tuples of special values and random bits, as registers and as the evaluator's values.

use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_testkit::special::{self, Bits};
use rake_testkit::x86::Regs;

/// Bits of a mask's lane; only the sign counts.
const MASKS: &[u32] = &[0, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff, 0x8000_0001, 1];

/// Two 16-bit lanes in a word, low one first: around zero and at the ends of both ranges.
const HALVES: &[u32] = &[
    0,
    0x0000_0001,
    0x0001_0000,
    0x0001_ffff,
    0xffff_0001,
    0xffff_ffff,
    0x7fff_7fff,
    0x8000_8000,
    0x8000_7fff,
    0x7fff_8000,
    0x8001_0002,
    0x0100_00ff,
    0xff00_0080,
    0xb504_b505,
    0x0000_8000,
    0x8000_0000,
];

/// Four 8-bit lanes in a word.
const BYTES: &[u32] = &[0, 0x0302_0100, 0xffff_ffff, 0x8080_8080, 0x7f80_ff01, 0x01ff_807f, 0xc8c9_cacb, 0x0000_00ff];

/// How many arguments to try.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most tuples of special values over the rack parameters.
    pub tuples: usize,
    /// Tuples of random bits over them.
    pub random: usize,
    /// The most tuples over the uniform parameters.
    pub uniforms: usize,
    /// The most calls.
    pub calls: usize,
}

/// One call: what the registers hold, and what the evaluator reads.
#[derive(Clone, Debug)]
pub struct Arguments {
    pub regs: Regs,
    pub values: Vec<Lanes>,
}

/// One parameter's raw bits: of each lane, or of the whole general register.
#[derive(Clone, Debug)]
pub enum Raw {
    Lanes(Vec<u32>),
    Word(u64),
}

/// The calls to try of a function with these parameters.
pub fn calls(params: &[Ty], profile: Profile, effort: Effort, seed: u64) -> Vec<Arguments> {
    let bits = &mut Bits::new(seed);
    let racks: Vec<Ty> = params.iter().copied().filter(|ty| !ty.is_uniform()).collect();
    let uniforms: Vec<Ty> = params.iter().copied().filter(|ty| ty.is_uniform()).collect();
    let mut rows = combinations(&racks, effort.tuples, bits);
    rows.extend((0..effort.random).map(|_| racks.iter().map(|&ty| random(ty, bits)).collect()));
    let lanes = profile.lanes_of_bits(32);
    let chunks: Vec<&[Vec<u32>]> = rows.chunks(lanes).collect();
    let marked = combinations(&uniforms, effort.uniforms, bits);
    let all = chunks.len() * marked.len();
    let count = all.min(effort.calls);
    let call = |index: usize| {
        // All pairs when there is room for them, else every chunk and every tuple in many pairings.
        let (chunk, tuple) = if count == all {
            (index / marked.len(), index % marked.len())
        } else {
            (index % chunks.len(), (index * 7 + index / chunks.len()) % marked.len())
        };
        let raw = raw_of(params, chunks[chunk], &marked[tuple], lanes, bits);
        encode(params, &raw, lanes)
    };
    (0..count).map(call).collect()
}

/// Lays a chunk of rows and a tuple of uniforms out in the order of the parameters.
fn raw_of(params: &[Ty], rows: &[Vec<u32>], uniforms: &[u32], lanes: usize, bits: &mut Bits) -> Vec<Raw> {
    let (mut rack, mut uniform) = (0, 0);
    let mut raw = Vec::new();
    for ty in params {
        if ty.is_uniform() {
            raw.push(uniform_raw(*ty, uniforms[uniform], lanes, bits));
            uniform += 1;
        } else {
            raw.push(Raw::Lanes((0..lanes).map(|lane| rows[lane % rows.len()][rack]).collect()));
            rack += 1;
        }
    }
    raw
}

/// A uniform, with garbage wherever its bits are not.
pub fn uniform_raw(ty: Ty, value: u32, lanes: usize, bits: &mut Bits) -> Raw {
    match ty.elem() {
        Elem::F32 => Raw::Lanes((0..lanes).map(|lane| if lane == 0 { value } else { bits.u32() }).collect()),
        Elem::Bool => Raw::Word(bits.u64() & !1 | u64::from(value & 1)),
        _ => Raw::Word(bits.u64() << 32 | u64::from(value)),
    }
}

/// Places the parameters in the registers of the convention, and reads them as the evaluator does.
pub fn encode(params: &[Ty], raw: &[Raw], lanes: usize) -> Arguments {
    let mut regs = Regs::default();
    let (mut vector, mut general) = (0, 0);
    let mut values = Vec::new();
    for (ty, raw) in params.iter().zip(raw) {
        match raw {
            Raw::Lanes(bits) => {
                regs.set_lanes(vector, bits);
                vector += 1;
                let count = if ty.is_uniform() { 1 } else { lanes };
                values.push(match ty {
                    Ty::Mask(_) => Lanes::new(bits.iter().map(|b| u64::from(b >> 31)).take(count)),
                    _ => lanes_of_words(ty.elem(), &bits[..count]),
                });
            }
            Raw::Word(word) => {
                regs.gpr[general] = *word;
                general += 1;
                values.push(Lanes::uniform(word & if ty.elem() == Elem::Bool { 1 } else { 0xffff_ffff }));
            }
        }
    }
    Arguments { regs, values }
}

/// Lanes of an element of at most 32 bits, from a register's 32-bit words.
pub fn lanes_of_words(elem: Elem, words: &[u32]) -> Lanes {
    let (width, mask) = (elem.bits() as usize, elem.lane_mask());
    let parts = |word: &u32| {
        let word = u64::from(*word);
        (0..32 / width).map(move |part| word >> (part * width) & mask).collect::<Vec<_>>()
    };
    Lanes::new(words.iter().flat_map(parts))
}

fn specials(ty: Ty) -> &'static [u32] {
    match ty {
        Ty::Mask(_) => MASKS,
        _ => match ty.elem() {
            Elem::F32 => special::F32,
            Elem::Bool => &[0, 1],
            Elem::I16 | Elem::U16 => HALVES,
            Elem::I8 | Elem::U8 => BYTES,
            _ => special::I32,
        },
    }
}

/// A random value of a type.
pub fn random(ty: Ty, bits: &mut Bits) -> u32 {
    match ty {
        Ty::Mask(_) => bits.pick(MASKS),
        _ => match ty.elem() {
            Elem::F32 => bits.f32(),
            Elem::Bool => bits.u32() & 1,
            _ => bits.i32(),
        },
    }
}

/// Tuples of special values: all of them if they are no more than `most`, else those of an even choice of values, or
/// random ones for long tuples.
fn combinations(types: &[Ty], most: usize, bits: &mut Bits) -> Vec<Vec<u32>> {
    if types.is_empty() {
        return vec![Vec::new()];
    }
    if types.len() > 4 {
        return (0..most.min(512)).map(|_| types.iter().map(|&ty| bits.pick(specials(ty))).collect()).collect();
    }
    let size = |limit: usize| types.iter().map(|&ty| specials(ty).len().min(limit)).product::<usize>();
    let mut limit = special::F32.len().max(special::I32.len());
    while limit > 2 && size(limit) > most {
        limit -= 1;
    }
    let mut rows = vec![Vec::new()];
    for &ty in types {
        let all = specials(ty);
        let count = all.len().min(limit);
        // A start of its own for each place, so that equal types do not only meet themselves.
        let shift = bits.below(all.len());
        let chosen: Vec<u32> = (0..count).map(|i| all[(i * all.len() / count + shift) % all.len()]).collect();
        rows = rows.iter().flat_map(|row| chosen.iter().map(move |&v| [row.as_slice(), &[v]].concat())).collect();
    }
    rows
}

#[test]
fn pairs_of_all_special_values_come() {
    let f32s = Ty::Rack(Elem::F32);
    let effort = Effort { tuples: 5000, random: 0, uniforms: 64, calls: 5000 };
    let calls = calls(&[f32s, f32s], Profile::X86Avx2, effort, 1);
    let pairs = special::F32.len() * special::F32.len();
    assert_eq!(calls.len(), pairs.div_ceil(8));
    let mut seen = std::collections::BTreeSet::new();
    for call in &calls {
        seen.extend((0..8).map(|lane| (call.values[0].bits()[lane], call.values[1].bits()[lane])));
    }
    assert_eq!(seen.len(), pairs);
}

#[test]
fn a_bool_is_its_lowest_bit_and_a_mask_its_sign() {
    let params = [Ty::Uniform(Elem::Bool), Ty::Mask(32), Ty::Uniform(Elem::I32)];
    let raw =
        [Raw::Word(0xffff_ff00), Raw::Lanes(vec![1, 0x8000_0000, 0x7fff_ffff, !0]), Raw::Word(0xabcd_ef01_ffff_fffe)];
    let call = encode(&params, &raw, 4);
    assert_eq!(call.values[0].bits(), [0]);
    assert_eq!(call.values[1].bits(), [0, 1, 0, 1]);
    assert_eq!(call.values[2].bits(), [0xffff_fffe]);
    assert_eq!(call.regs.gpr[..2], [0xffff_ff00, 0xabcd_ef01_ffff_fffe]);
}
