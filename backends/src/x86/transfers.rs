//! What moves racks between registers and memory, and what computes words, in the selection table.
//!
//! ```text
//! load u8 into u32s      avx2: vpmovzxbd ymm, [place]        sse2: movd, punpcklbw, punpcklwd
//! ```

use crate::steps::{
    A, B, C, D, S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16, ZERO, steps,
};
use rake_ir::machine::MachOp;
use rake_ir::machine::tables::{COMPRESS, COMPRESS_BY_ONE, COMPRESS_BY_TWO};
use rake_ir::machine::x86::{Space, X86};
use rake_ir::ops::Op;
use rake_ir::types::{Elem, ElemClass};
use rake_passes::select::rule::{Key, Rule, Src, WordKey};

const PLACE: Src = Src::Place;
/// The lane numbers.
const LANES: Src = Src::Lanes(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
const LANES_8: Src = Src::Lanes(&[0, 1, 2, 3, 4, 5, 6, 7]);
const LANES_4: Src = Src::Lanes(&[0, 1, 2, 3]);
/// The lowest byte of a lane.
const LOW_BYTE: Src = Src::Lanes(&[0xff]);
/// The lowest bytes of four lanes to the front, the others cleared; and the low halves.
const BYTES_TO_FRONT: Src = Src::Lanes(&[0x0c08_0400, 0x8080_8080, 0x8080_8080, 0x8080_8080]);
const HALVES_TO_FRONT: Src = Src::Lanes(&[0x0504_0100, 0x0d0c_0908, 0x8080_8080, 0x8080_8080]);
/// The first words of both blocks next to each other, and the first pairs.
const FRONT_WORDS: Src = Src::Lanes(&[0, 4, 1, 1, 1, 1, 1, 1]);
const FRONT_PAIRS: Src = Src::Lanes(&[0, 1, 4, 5, 2, 2, 2, 2]);

/// The first two words, or pairs of words, one in front of each block.
const WORDS_APART: Src = Src::Lanes(&[0, 0, 0, 0, 1, 1, 1, 1]);
const PAIRS_APART: Src = Src::Lanes(&[0, 1, 0, 0, 2, 3, 2, 2]);
/// The bytes, or halves, in front of each block into its lanes, at their bottom or top; zeros beside.
const BYTES_APART: Src = Src::Lanes(&[0x8080_8000, 0x8080_8001, 0x8080_8002, 0x8080_8003]);
const BYTES_ON_TOP: Src = Src::Lanes(&[0x0080_8080, 0x0180_8080, 0x0280_8080, 0x0380_8080]);
const HALVES_APART: Src = Src::Lanes(&[0x8080_0100, 0x8080_0302, 0x8080_0504, 0x8080_0706]);
const HALVES_ON_TOP: Src = Src::Lanes(&[0x0100_8080, 0x0302_8080, 0x0504_8080, 0x0706_8080]);

macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![X86; $($steps)*]) };
}

use Space::{Evex, Sse, Vex};

/// The rule of a key of transfers; `None` of another one.
pub(super) fn rule(key: Key, elem: Elem, space: Space) -> Option<Rule> {
    let none = Rule::Unsupported("it has no such transfer");
    if elem.bits() != 32 && !matches!(key, Key::Op(_) | Key::SomeLane) {
        return match key {
            Key::Load(_) | Key::LoadWhere(_) | Key::Store(_) | Key::StoreWhere(_) | Key::StoreSelected(_) => Some(none),
            _ => None,
        };
    }
    Some(match key {
        Key::Load(memory) => load(memory, space),
        Key::LoadWhere(memory) => load_where(memory, space).unwrap_or(none),
        Key::LoadSplat(memory) if memory.bits() == 32 => match space {
            Sse => seq![MovssLoad(PLACE), Splatps(S0)],
            Vex | Evex => seq![SplatLoad(PLACE)],
        },
        Key::LoadFirst(memory) => match (memory.bits(), space) {
            (32, _) => seq![MovssLoad(PLACE)],
            (16, _) => seq![LoadHalf(PLACE), MovdIn(S0)],
            (8, _) => seq![LoadByte(PLACE), MovdIn(S0)],
            _ => none,
        },
        Key::MoveUp(memory) => match memory.bits() {
            32 => seq![Pslldq(A) #4],
            16 => seq![Pslldq(A) #2],
            _ => seq![Pslldq(A) #1],
        },
        Key::MoveDown(memory) => match memory.bits() {
            32 => seq![Psrldq(A) #4],
            16 => seq![Psrldq(A) #2],
            _ => seq![Psrldq(A) #1],
        },
        Key::Unpack(memory) if space == Sse => unpack(memory),
        Key::Unpack(memory) if space == Vex => unpack_blocks(memory),
        Key::Pack(memory) => pack(memory, space).unwrap_or(none),
        Key::Store(memory) => store(memory, space),
        Key::StoreSelected(_) | Key::LoadPacked(_) | Key::StorePackedSelected(_) => {
            selected(key, space).unwrap_or(none)
        }
        Key::StoreWhere(memory) => store_where(memory, space).unwrap_or(none),
        Key::StoreFirst(memory) => match memory.bits() {
            32 => seq![MovssStore(PLACE, A)],
            16 => seq![MovdOut(A), StoreHalf(PLACE, S0)],
            _ => seq![MovdOut(A), StoreByte(PLACE, S0)],
        },
        Key::Gather(_) | Key::GatherWhere(_) | Key::Scatter(_) => gather(key, space).unwrap_or(none),
        Key::FirstLanes if space == Sse => seq![Unpcklps(A, B), Unpcklps(C, D), Movlhps(S0, S1)],
        Key::SomeLane => match space {
            Sse | Vex => seq![Movmskps(A)],
            Evex => seq![MaskWord(A)],
        },
        Key::IndexLane(lane) if space == Sse => index_lane(lane).unwrap_or(none),
        // A difference of two words may need more than 32 bits; what is negative stays so.
        Key::Op(Op::InRange) => match space {
            Sse => seq![SarLong(A) #63, OrLong(S0, A), MovdIn(S1), Splatps(S2), Pcmpgtd(S3, LANES_4)],
            Vex => seq![SarLong(A) #63, OrLong(S0, A), MovdIn(S1), SplatLowd(S2), Pcmpgtd(S3, LANES_8)],
            Evex => seq![SarLong(A) #63, OrLong(S0, A), SplatWord(S1), PcmpdK(S2, LANES) #6],
        },
        Key::Op(Op::CountTrue) => match space {
            Sse => seq![Psrld(A) #31, Pshufd(S0) #0x4e, Paddd(S0, S1), Pshufd(S2) #0xb1, Paddd(S2, S3), MovdOut(S4)],
            Vex => seq![Movmskps(A), Popcnt(S0)],
            Evex => seq![MaskWord(A), Popcnt(S0)],
        },
        _ => return None,
    })
}

fn signed(elem: Elem) -> bool {
    elem.class() == ElemClass::Signed
}

fn load(memory: Elem, space: Space) -> Rule {
    match (memory.bits(), signed(memory), space) {
        (32, ..) => seq![RackLoad(PLACE)],
        (16, false, Vex | Evex) => seq![PmovzxwdLoad(PLACE)],
        (16, true, Vex | Evex) => seq![PmovsxwdLoad(PLACE)],
        (8, false, Vex | Evex) => seq![PmovzxbdLoad(PLACE)],
        (8, true, Vex | Evex) => seq![PmovsxbdLoad(PLACE)],
        (16, false, Sse) => seq![MovsdLoad(PLACE), Punpcklwd(S0, ZERO)],
        (16, true, Sse) => seq![MovsdLoad(PLACE), Punpcklwd(S0, S0), Psrad(S1) #16],
        (8, false, Sse) => seq![MovssLoad(PLACE), Punpcklbw(S0, ZERO), Punpcklwd(S1, ZERO)],
        (8, true, Sse) => seq![MovssLoad(PLACE), Punpcklbw(S0, S0), Punpcklwd(S1, S1), Psrad(S2) #24],
        _ => Rule::Unsupported("it has no such transfer"),
    }
}

fn unpack(memory: Elem) -> Rule {
    match (memory.bits(), signed(memory)) {
        (16, false) => seq![Punpcklwd(A, ZERO)],
        (16, true) => seq![Punpcklwd(A, A), Psrad(S0) #16],
        (_, false) => seq![Punpcklbw(A, ZERO), Punpcklwd(S0, ZERO)],
        (_, true) => seq![Punpcklbw(A, A), Punpcklwd(S0, S0), Psrad(S1) #24],
    }
}

fn unpack_blocks(memory: Elem) -> Rule {
    match (memory.bits(), signed(memory)) {
        (16, false) => seq![Permd(PAIRS_APART, A), Pshufb(S0, HALVES_APART)],
        (16, true) => seq![Permd(PAIRS_APART, A), Pshufb(S0, HALVES_ON_TOP), Psrad(S1) #16],
        (_, false) => seq![Permd(WORDS_APART, A), Pshufb(S0, BYTES_APART)],
        (_, true) => seq![Permd(WORDS_APART, A), Pshufb(S0, BYTES_ON_TOP), Psrad(S1) #24],
    }
}

fn load_where(memory: Elem, space: Space) -> Option<Rule> {
    Some(match (memory.bits(), signed(memory), space) {
        (32, _, Vex) => seq![MaskLoad(A, PLACE)],
        (32, _, Evex) => seq![RackLoadZ(A, PLACE)],
        (16, false, Evex) => seq![PmovzxwdLoadZ(A, PLACE)],
        (16, true, Evex) => seq![PmovsxwdLoadZ(A, PLACE)],
        (8, false, Evex) => seq![PmovzxbdLoadZ(A, PLACE)],
        (8, true, Evex) => seq![PmovsxbdLoadZ(A, PLACE)],
        _ => return None,
    })
}

/// The lowest bytes or halves of the lanes, wrapped, at the front.
fn pack(memory: Elem, space: Space) -> Option<Rule> {
    Some(match (memory.bits(), space) {
        // Sign-extended halves are saturated to themselves.
        (16, Sse) => seq![Pslld(A) #16, Psrad(S0) #16, Packssdw(S1, S1)],
        (8, Sse) => seq![Pand(A, LOW_BYTE), Packssdw(S0, S0), Packuswb(S1, S1)],
        (16, Vex) => seq![Pshufb(A, HALVES_TO_FRONT), Permd(FRONT_PAIRS, S0)],
        (8, Vex) => seq![Pshufb(A, BYTES_TO_FRONT), Permd(FRONT_WORDS, S0)],
        _ => return None,
    })
}

fn store(memory: Elem, space: Space) -> Rule {
    match (memory.bits(), space) {
        (32, _) => seq![RackStore(PLACE, A)],
        (16, Evex) => seq![PmovdwStore(PLACE, A)],
        (8, Evex) => seq![PmovdbStore(PLACE, A)],
        (16, Sse) => seq![Pslld(A) #16, Psrad(S0) #16, Packssdw(S1, S1), MovsdStore(PLACE, S2)],
        (8, Sse) => seq![Pand(A, LOW_BYTE), Packssdw(S0, S0), Packuswb(S1, S1), MovssStore(PLACE, S2)],
        (16, Vex) => seq![Pshufb(A, HALVES_TO_FRONT), Permd(FRONT_PAIRS, S0), LowStore(PLACE, S1)],
        (8, Vex) => seq![Pshufb(A, BYTES_TO_FRONT), Permd(FRONT_WORDS, S0), MovsdStore(PLACE, S1)],
        _ => Rule::Unsupported("it has no such transfer"),
    }
}

fn store_where(memory: Elem, space: Space) -> Option<Rule> {
    Some(match (memory.bits(), space) {
        (32, Vex) => seq![MaskStore(PLACE, A, B)],
        (32, Evex) => seq![RackStoreK(A, PLACE, B)],
        (16, Evex) => seq![PmovdwStoreK(A, PLACE, B)],
        (8, Evex) => seq![PmovdbStoreK(A, PLACE, B)],
        _ => return None,
    })
}

/// Elements at indices, from or to memory by the machine.
fn gather(key: Key, space: Space) -> Option<Rule> {
    Some(match (key, space) {
        (Key::Gather(Elem::F32 | Elem::I32 | Elem::U32), Vex) => seq![Gather(ZERO, PLACE, Src::Lanes(&[u32::MAX]))],
        (Key::Gather(Elem::F32 | Elem::I32 | Elem::U32), Evex) => seq![Kones(), GatherK(S0, ZERO, PLACE)],
        (Key::GatherWhere(Elem::F32 | Elem::I32 | Elem::U32), Vex) => seq![Gather(ZERO, PLACE, A)],
        (Key::GatherWhere(Elem::F32 | Elem::I32 | Elem::U32), Evex) => seq![GatherK(A, ZERO, PLACE)],
        (Key::Scatter(Elem::F32 | Elem::I32 | Elem::U32), Evex) => seq![Kones(), ScatterK(S0, PLACE, A)],
        _ => return None,
    })
}

/// A lane's index as a word.
fn index_lane(lane: u8) -> Option<Rule> {
    Some(match lane {
        0 => seq![MovdOut(A), SignExtend(S0)],
        1 => seq![Pshufd(A) #0x55, MovdOut(S0), SignExtend(S1)],
        2 => seq![Pshufd(A) #0xaa, MovdOut(S0), SignExtend(S1)],
        3 => seq![Pshufd(A) #0xff, MovdOut(S0), SignExtend(S1)],
        _ => return None,
    })
}

/// A column of which selected records are kept.
fn selected(key: Key, space: Space) -> Option<Rule> {
    Some(match (key, space) {
        (Key::StoreSelected(memory), _) => return store_selected(memory, space),
        (Key::LoadPacked(Elem::I8 | Elem::U8), Vex) => seq![MovsdLoad(PLACE)],
        (Key::StorePackedSelected(Elem::I8 | Elem::U8), Vex) => seq![
            Movmskps(A),
            Address(Src::Literal(&COMPRESS)),
            PackedEntry(S1, S0, Src::Literal(&COMPRESS)),
            Pshufb(B, S2),
            MovsdStore(PLACE, S3),
        ],
        _ => return None,
    })
}

/// The lanes of a mask to the front, whatever comes behind them, and the rack stored. In SSE they move by one and then by
/// two: `x ^ (x ^ moved) & step`.
fn store_selected(memory: Elem, space: Space) -> Option<Rule> {
    macro_rules! moves {
        ($($rest:tt)*) => { seq![
            Movmskps(A),
            Address(Src::Literal(&COMPRESS_BY_ONE)),
            Address(Src::Literal(&COMPRESS_BY_TWO)),
            PackedEntry(S1, S0, Src::Literal(&COMPRESS_BY_ONE)),
            PackedEntry(S2, S0, Src::Literal(&COMPRESS_BY_TWO)),
            Punpcklwd(S3, S3),
            Pshufd(B) #0xf9,
            Pxor(S6, B),
            Pand(S7, S5),
            Pxor(S8, B),
            Pshufd(S9) #0xee,
            Pxor(S10, S9),
            Pand(S11, S4),
            Pxor(S12, S9),
            $($rest)*
        ] };
    }
    macro_rules! permuted {
        ($($rest:tt)*) => { seq![
            Movmskps(A),
            Address(Src::Literal(&COMPRESS)),
            LoadEntry(S1, S0, Src::Literal(&COMPRESS)),
            Permps(S2, B),
            $($rest)*
        ] };
    }
    Some(match (memory.bits(), space) {
        (32, Sse) => moves![RackStore(PLACE, S13)],
        (16, Sse) => moves![Pslld(S13) #16, Psrad(S14) #16, Packssdw(S15, S15), MovsdStore(PLACE, S16)],
        (8, Sse) => moves![Pand(S13, LOW_BYTE), Packssdw(S14, S14), Packuswb(S15, S15), MovssStore(PLACE, S16)],
        (32, Vex) => permuted![RackStore(PLACE, S3)],
        (16, Vex) => permuted![Pshufb(S3, HALVES_TO_FRONT), Permd(FRONT_PAIRS, S4), LowStore(PLACE, S5)],
        (8, Vex) => permuted![Pshufb(S3, BYTES_TO_FRONT), Permd(FRONT_WORDS, S4), MovsdStore(PLACE, S5)],
        _ => return None,
    })
}

/// The row that computes a word.
pub(super) fn word(key: WordKey) -> Option<MachOp> {
    Some(MachOp::X86(match key {
        WordKey::Op(Op::Add, _) => X86::AddLong,
        WordKey::Op(Op::Sub, _) => X86::SubLong,
        WordKey::Op(Op::Mul, _) => X86::MulLong,
        WordKey::Op(Op::BitAnd, _) => X86::AndLong,
        WordKey::Op(Op::BitOr, _) => X86::OrLong,
        WordKey::Op(Op::BitXor, _) => X86::XorLong,
        WordKey::Op(Op::ShiftBitsRight, elem) if elem.bits() == 64 => X86::ShrLong,
        WordKey::Extend(elem) if elem.class() == ElemClass::Signed => X86::SignExtend,
        WordKey::Extend(_) => X86::ZeroExtend,
        WordKey::Load(elem) => match (elem.bits(), signed(elem)) {
            (64, _) => X86::LoadLong,
            (32, _) => X86::LoadWord,
            (16, true) => X86::LoadSignedHalf,
            (16, false) => X86::LoadHalf,
            (8, true) => X86::LoadSignedByte,
            _ => X86::LoadByte,
        },
        WordKey::LoadIndex(_) => X86::LoadSignedWord,
        WordKey::StoreLong => X86::StoreLong,
        WordKey::Constant(_) => X86::LongConst,
        WordKey::Zero => X86::LongZero,
        WordKey::Op(..) => return None,
    }))
}
