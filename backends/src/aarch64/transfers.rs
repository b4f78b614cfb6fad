//! What moves racks between registers and memory, and what computes words, in the selection table.
//!
//! ```text
//! load u8 into u32s      ldr s0, [place]; ushll v0.8h, v0.8b, #0; ushll v0.4s, v0.4h, #0
//! ```
//!
//! There are no masked transfers: a partial rack goes element by element. An index of a rack is multiplied with an
//! element's size, which no address of a whole rack can say, so an instruction of its own computes the address.

use crate::steps::{A, B, S0, S1, S2, S3, S4, S5, S6, S7, S8, ZERO, steps};
use rake_ir::machine::MachOp;
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::tables::COMPRESS_BYTES;
use rake_ir::ops::Op;
use rake_ir::types::{Elem, ElemClass};
use rake_passes::select::rule::{Key, Rule, Src, WordKey};

const PLACE: Src = Src::Place;
/// The lane numbers in 64 bits each: of the first two lanes and of the others.
const LOW_LANES: Src = Src::Lanes(&[0, 0, 1, 0]);
const HIGH_LANES: Src = Src::Lanes(&[2, 0, 3, 0]);
/// The bit of each lane in a mask's number, and one of a count in the four bits above.
const COUNTED: Src = Src::Lanes(&[0x11, 0x12, 0x14, 0x18]);

macro_rules! seq {
    ($($steps:tt)*) => { Rule::Steps(steps![A64; $($steps)*]) };
}

/// The lanes of a mask to the front, whatever comes behind them.
macro_rules! selected {
    ($($rest:tt)*) => { seq![
        And(A, COUNTED),
        Addv(S0),
        FmovOut(S1),
        AndFifteen(S2),
        Adr(Src::Literal(&COMPRESS_BYTES)),
        LdrEntry(S4, S3, Src::Literal(&COMPRESS_BYTES)),
        Tbl(B, S5),
        $($rest)*
    ] };
}

/// The rule of a key of transfers; `None` of another one.
pub(super) fn rule(key: Key, elem: Elem) -> Option<Rule> {
    let none = Rule::Unsupported("it has no such transfer");
    if let Key::Locate(elem) = key {
        return Some(match elem.bits() {
            8 => seq![AddLong(A, B)],
            16 => seq![AddShifted(A, B) #1],
            32 => seq![AddShifted(A, B) #2],
            _ => seq![AddShifted(A, B) #3],
        });
    }
    if elem.bits() != 32 && !matches!(key, Key::Op(_) | Key::SomeLane) {
        return match key {
            Key::Load(_) | Key::Store(_) | Key::StoreSelected(_) => Some(none),
            _ => None,
        };
    }
    Some(match key {
        Key::Load(memory) => load(memory),
        Key::LoadSplat(memory) if memory.bits() == 32 => seq![LdrFour(PLACE), DupLane(S0) #0],
        Key::LoadFirst(memory) => match memory.bits() {
            32 => seq![LdrFour(PLACE)],
            16 => seq![LdrTwo(PLACE)],
            8 => seq![LdrOne(PLACE)],
            _ => none,
        },
        Key::MoveUp(memory) => match memory.bits() {
            32 => seq![Ext(ZERO, A) #12],
            16 => seq![Ext(ZERO, A) #14],
            _ => seq![Ext(ZERO, A) #15],
        },
        Key::MoveDown(memory) => match memory.bits() {
            32 => seq![Ext(A, ZERO) #4],
            16 => seq![Ext(A, ZERO) #2],
            _ => seq![Ext(A, ZERO) #1],
        },
        Key::Unpack(memory) => match (memory.bits(), signed(memory)) {
            (16, false) => seq![UshllWords(A)],
            (16, true) => seq![SshllWords(A)],
            (_, false) => seq![Ushll(A), UshllWords(S0)],
            (_, true) => seq![Sshll(A), SshllWords(S0)],
        },
        Key::Pack(memory) => match memory.bits() {
            16 => seq![Xtn(A)],
            8 => seq![Xtn(A), XtnBytes(S0)],
            _ => none,
        },
        Key::Store(memory) => match memory.bits() {
            32 => seq![StrRack(PLACE, A)],
            16 => seq![Xtn(A), StrEight(PLACE, S0)],
            8 => seq![Xtn(A), XtnBytes(S0), StrFour(PLACE, S1)],
            _ => none,
        },
        Key::StoreFirst(memory) => match memory.bits() {
            32 => seq![StrFour(PLACE, A)],
            16 => seq![StrTwo(PLACE, A)],
            _ => seq![StrOne(PLACE, A)],
        },
        _ => return of_lanes(key),
    })
}

/// The rule of a key of whole racks and masks: of indices, counts and selections.
fn of_lanes(key: Key) -> Option<Rule> {
    Some(match key {
        Key::IndexLane(lane) => match lane {
            0 => seq![LaneOutLong(A) #0],
            1 => seq![LaneOutLong(A) #1],
            2 => seq![LaneOutLong(A) #2],
            _ => seq![LaneOutLong(A) #3],
        },
        // A count is compared whole, in two lanes at once.
        Key::Op(Op::InRange) => {
            seq![DupLong(A), CmgtLong(S0, LOW_LANES), CmgtLong(S0, HIGH_LANES), Uzp1(S1, S2)]
        }
        Key::SomeLane => seq![Sminv(A), FmovOut(S0)],
        // The entry of a table that moves the lanes, and above it how many there are.
        Key::Op(Op::CountTrue) => seq![And(A, COUNTED), Addv(S0), FmovOut(S1), LsrWord(S2) #4],
        Key::StoreSelected(memory) => match memory.bits() {
            32 => selected![StrRack(PLACE, S6)],
            16 => selected![Xtn(S6), StrEight(PLACE, S7)],
            8 => selected![Xtn(S6), XtnBytes(S7), StrFour(PLACE, S8)],
            _ => return None,
        },
        _ => return None,
    })
}

fn signed(elem: Elem) -> bool {
    elem.class() == ElemClass::Signed
}

fn load(memory: Elem) -> Rule {
    match (memory.bits(), signed(memory)) {
        (32, _) => seq![LdrRack(PLACE)],
        (16, false) => seq![LdrEight(PLACE), UshllWords(S0)],
        (16, true) => seq![LdrEight(PLACE), SshllWords(S0)],
        (8, false) => seq![LdrFour(PLACE), Ushll(S0), UshllWords(S1)],
        (8, true) => seq![LdrFour(PLACE), Sshll(S0), SshllWords(S1)],
        _ => Rule::Unsupported("it has no such transfer"),
    }
}

/// The row that computes a word.
pub(super) fn word(key: WordKey) -> Option<MachOp> {
    Some(MachOp::A64(match key {
        WordKey::Op(Op::Add, _) => A64::AddLong,
        WordKey::Op(Op::Sub, _) => A64::SubLong,
        WordKey::Op(Op::Mul, _) => A64::MulLong,
        WordKey::Op(Op::BitAnd, _) => A64::AndLong,
        WordKey::Op(Op::BitOr, _) => A64::OrLong,
        WordKey::Op(Op::BitXor, _) => A64::XorLong,
        WordKey::Op(Op::ShiftBitsRight, elem) if elem.bits() == 64 => A64::ShrLong,
        WordKey::Extend(elem) if signed(elem) => A64::SignExtend,
        WordKey::Extend(_) => A64::ZeroExtend,
        WordKey::Load(elem) => match (elem.bits(), signed(elem)) {
            (64, _) => A64::LdrLong,
            (32, _) => A64::LdrWord,
            (16, true) => A64::LdrSignedHalf,
            (16, false) => A64::LdrHalf,
            (8, true) => A64::LdrSignedByte,
            _ => A64::LdrByte,
        },
        WordKey::LoadIndex(_) => return None,
        WordKey::StoreLong => A64::StrLong,
        WordKey::Constant(_) => A64::LdrNumber,
        WordKey::Zero | WordKey::Op(..) => return None,
    }))
}
