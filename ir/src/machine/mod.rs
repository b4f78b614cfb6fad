//! The machine operation tables, and the instruction that `selected` and `allocated` share.
//!
//! One row per machine instruction that the compiler may emit: [`MachInfo`]. Selection names rows, allocation reads their
//! shapes, encoders and the verifier agree on them, and their semantics make both IRs executable. A family of machines
//! adds a table and a variant of [`MachOp`]; nothing else here knows a machine.

pub mod abi;
pub mod bits;
pub mod convert;
pub mod lanes;
pub mod tables;
pub mod text;
pub mod x86;

use crate::profile::{Family, Profile};
use crate::span::Span;
use bits::Bits;
use smallvec::SmallVec;
use std::fmt;

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Racks: `xmm`, `ymm`, `zmm`, `v`.
    V,
    /// Masks apart from racks: `k`.
    K,
    /// General registers; only where scalars cross the C boundary and where a mask's bits become a number.
    G,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 3] = [Class::V, Class::K, Class::G];

    /// The letter in dumps.
    pub const fn letter(self) -> char {
        match self {
            Class::V => 'v',
            Class::K => 'k',
            Class::G => 'g',
        }
    }

    /// The class with this letter.
    pub fn from_letter(letter: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|c| letter.len() == 1 && letter.starts_with(c.letter()))
    }
}

/// How an instruction sees a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum View {
    /// The whole rack.
    Rack,
    /// The low 128 bits of a rack register, as an `xmm` register.
    Low,
    /// The low half of a rack register.
    Half,
    /// A mask register.
    Mask,
    /// The low 32 bits of a general register.
    Word,
    /// A general register that holds an address, or whose upper half is known to be zero where one is made with it.
    Address,
}

impl View {
    /// The register file it looks into.
    pub const fn class(self) -> Class {
        match self {
            View::Rack | View::Low | View::Half => Class::V,
            View::Mask => Class::K,
            View::Word | View::Address => Class::G,
        }
    }
}

/// A physical register: its file and its hardware number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub struct PhysReg {
    pub class: Class,
    pub number: u8,
}

impl PhysReg {
    /// The rack register with this number.
    pub const fn v(number: u8) -> PhysReg {
        PhysReg { class: Class::V, number }
    }

    /// The mask register with this number.
    pub const fn k(number: u8) -> PhysReg {
        PhysReg { class: Class::K, number }
    }

    /// The general register with this hardware number (x86: 0 is `eax`, 7 is `edi`).
    pub const fn g(number: u8) -> PhysReg {
        PhysReg { class: Class::G, number }
    }
}

impl fmt::Display for PhysReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.letter(), self.number)
    }
}

/// How instructions are encoded; the column of a row. Each profile uses one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Space {
    /// Legacy SSE: 128 bits, two operands.
    Sse,
    /// VEX at 256 bits.
    Vex,
    /// EVEX at 512 bits.
    Evex,
}

impl Space {
    /// The space of an x86 profile; `None` for other families.
    pub const fn of(profile: Profile) -> Option<Space> {
        match profile {
            Profile::X86Sse2 => Some(Space::Sse),
            Profile::X86Avx2 => Some(Space::Vex),
            Profile::X86Avx512 => Some(Space::Evex),
            _ => None,
        }
    }
}

/// What an instruction is for. "Vector arithmetic instructions" are [`Kind::Arith`], [`Kind::Logic`], [`Kind::Compare`]
/// and [`Kind::Choose`]; moves and constant loads are not counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Computes numbers lane by lane.
    Arith,
    /// Bitwise logic and shifts on racks or masks.
    Logic,
    /// Compares lane by lane.
    Compare,
    /// Picks lanes under a mask.
    Choose,
    /// Moves lanes to other lanes.
    Cross,
    /// Copies a register.
    Move,
    /// Brings a constant into a register.
    Const,
    /// Brings scalars or masks across the C boundary.
    Boundary,
    /// Turns a mask's bits into a number, computes with that, or picks an entry of a table by it. Apart from
    /// [`Kind::Boundary`], copies and addresses of tables, the only rows that touch general registers.
    Word,
    /// `ret`, `vzeroupper`.
    Control,
}

impl Kind {
    /// Whether the instruction counts as vector arithmetic.
    pub const fn is_arithmetic(self) -> bool {
        matches!(self, Kind::Arith | Kind::Logic | Kind::Compare | Kind::Choose)
    }
}

/// Which operand may be a literal in memory, instead of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mem {
    /// Never.
    No,
    /// A whole rack, aligned to itself; in EVEX also one 32-bit element broadcast.
    Any,
    /// As `Any`, but only in EVEX.
    AnyEvex,
    /// Always a whole rack in memory: the operand of a constant load.
    Rack,
    /// Always one 32-bit element in memory: the operand of a broadcasting load.
    Element,
    /// A whole rack, aligned to itself, in every space: the instruction broadcasts no 32-bit element.
    Whole,
    /// A table of [`TABLE_BYTES`]: the row takes its address, or names it after the address and the number of the entry
    /// that it reads. Evaluators see the entry that the operand before it picks.
    Table,
}

/// Bytes of a table: an entry of eight bytes for each mask of eight lanes.
pub const TABLE_BYTES: usize = 8 << 8;

/// Bytes of an entry of a table.
pub const ENTRY_BYTES: usize = 8;

/// One operand of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// How it sees its register.
    pub view: View,
    /// Whether it may stand in memory.
    pub mem: Mem,
    /// Whether it is the EVEX opmask of the instruction (`{k1}`) rather than an operand of its own.
    pub opmask: bool,
}

/// What happens to the immediate when operands trade places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmMap {
    /// It stays.
    Same,
    /// A comparison predicate becomes its mirror, where the space has it.
    Mirror,
}

/// Another way to say the same thing: `op` with operand `i` taken from the original's operand `from[i]`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Form {
    /// The row of the other form.
    pub op: MachOp,
    /// Where each of its operands comes from.
    pub from: [u8; 4],
    /// What becomes of the immediate.
    pub imm: ImmMap,
}

/// Reciprocal throughput and latency in hundredths of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Cost {
    pub throughput: u16,
    pub latency: u16,
}

/// What an instruction computes with: the rack's 32-bit lanes and the immediate.
#[derive(Clone, Copy, Debug)]
pub struct Ctx {
    /// 32-bit lanes of the profile's rack.
    pub lanes: usize,
    /// The immediate, 0 where there is none.
    pub imm: u8,
}

/// Semantics on register bits, operands in the row's order.
pub type Semantics = fn(Ctx, &[Bits]) -> Bits;

/// One row of a machine table. The arrays run over [`Space`].
#[derive(Clone, Copy, Debug)]
pub struct MachInfo {
    /// Its name in dumps.
    pub name: &'static str,
    /// The assembler's mnemonic in each space; `None` where the profile lacks it.
    pub mnemonics: [Option<&'static str>; 3],
    /// What it is for.
    pub kind: Kind,
    /// How it sees its destination; `None` when it has none.
    pub dst: Option<View>,
    /// Its operands, in Intel's order after the destination (the tied operand included, an opmask first).
    pub slots: &'static [Slot],
    /// Whether it has an 8-bit immediate.
    pub imm: bool,
    /// In each space the operand whose register the destination must share.
    pub tied: [Option<u8>; 3],
    /// Whether the opmask zeroes the lanes it leaves out (`{z}`).
    pub zeroing: bool,
    /// Whether it multiplies and adds with one rounding.
    pub contracts: bool,
    /// Whether it may raise a floating-point exception, in each lane on its own.
    pub raises: bool,
    /// Other forms of the same operation, the row itself not among them.
    pub forms: &'static [Form],
    /// Its cost in each space.
    pub cost: [Cost; 3],
    /// What it computes.
    pub eval: Semantics,
}

/// A machine operation of some family: a row of that family's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MachOp {
    /// x86-64.
    X86(x86::X86),
}

impl MachOp {
    /// Its row.
    pub const fn info(self) -> &'static MachInfo {
        match self {
            MachOp::X86(op) => op.info(),
        }
    }

    /// Its name in dumps.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The operation of this family with this name.
    pub fn from_name(family: Family, name: &str) -> Option<MachOp> {
        match family {
            Family::X86 => x86::X86::from_name(name).map(MachOp::X86),
            _ => None,
        }
    }

    /// The same under an opmask, its first operand: zero, or false, in the lanes that the mask leaves out.
    pub const fn zeroed(self) -> Option<MachOp> {
        match self {
            MachOp::X86(op) => match op.zeroed() {
                Some(op) => Some(MachOp::X86(op)),
                None => None,
            },
        }
    }

    /// The same under an opmask, its first operand: in the lanes that the mask leaves out stays what the overwritten
    /// operand held. That is the second operand, or where the plain row overwrites one already, that one.
    pub const fn merged(self) -> Option<MachOp> {
        match self {
            MachOp::X86(op) => match op.merged() {
                Some(op) => Some(MachOp::X86(op)),
                None => None,
            },
        }
    }

    /// Whether the profile has it.
    pub fn is_in(self, profile: Profile) -> bool {
        Space::of(profile).is_some_and(|s| self.info().mnemonics[s as usize].is_some())
    }

    /// The operand that shares the destination's register on this profile.
    pub fn tied(self, profile: Profile) -> Option<usize> {
        let space = Space::of(profile)?;
        self.info().tied[space as usize].map(usize::from)
    }

    /// Its cost on this profile.
    pub fn cost(self, profile: Profile) -> Cost {
        Space::of(profile).map_or(Cost::default(), |s| self.info().cost[s as usize])
    }

    /// Whether operand `slot` may be a whole rack in memory on this profile.
    pub fn takes_rack_literal(self, slot: usize, profile: Profile) -> bool {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::Any | Mem::Whole | Mem::Rack) => true,
            Some(Mem::AnyEvex) => Space::of(profile) == Some(Space::Evex),
            _ => false,
        }
    }

    /// Whether operand `slot` may be one broadcast element in memory on this profile.
    pub fn takes_broadcast(self, slot: usize, profile: Profile) -> bool {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::Any | Mem::AnyEvex) => Space::of(profile) == Some(Space::Evex),
            Some(Mem::Element) => true,
            _ => false,
        }
    }
}

/// A literal of a function, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LiteralId(pub u32);

/// An operand: a register, or a literal in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Operand<R> {
    /// A register.
    Reg(R),
    /// A literal read as a whole rack.
    Literal(LiteralId),
    /// A literal of one element, read into every lane.
    Broadcast(LiteralId),
}

impl<R: Copy> Operand<R> {
    /// The register, when it is one.
    pub fn reg(self) -> Option<R> {
        match self {
            Operand::Reg(r) => Some(r),
            _ => None,
        }
    }

    /// The literal, when it is one.
    pub fn literal(self) -> Option<LiteralId> {
        match self {
            Operand::Reg(_) => None,
            Operand::Literal(l) | Operand::Broadcast(l) => Some(l),
        }
    }
}

/// One machine instruction over registers `R`.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst<R> {
    /// The row.
    pub op: MachOp,
    /// The register it writes.
    pub dst: Option<R>,
    /// What it reads, in the row's order. A tied operand is listed; in `allocated` it equals `dst`.
    pub args: SmallVec<[Operand<R>; 3]>,
    /// Its immediate.
    pub imm: Option<u8>,
    /// The fused region it computes for. Between a region's first and last instruction stand only its own, constant
    /// loads and register copies.
    pub region: Option<u32>,
    /// The source that asked for it.
    pub span: Span,
}

/// The operations that every compilation for a profile needs beside selection's table.
#[derive(Clone, Copy, Debug)]
pub struct Idioms {
    /// A rack of zeros, and of ones.
    pub zero: MachOp,
    #[allow(missing_docs)]
    pub ones: MachOp,
    /// Loads a whole rack from memory.
    pub load: MachOp,
    /// Loads one element into every lane; some spaces lack it.
    pub load_splat: MachOp,
    /// A mask of no lanes, and of all.
    pub no_lanes: MachOp,
    #[allow(missing_docs)]
    pub all_lanes: MachOp,
    /// Copies a rack register, a mask register, and a general register.
    pub move_rack: MachOp,
    #[allow(missing_docs)]
    pub move_mask: MachOp,
    #[allow(missing_docs)]
    pub move_word: MachOp,
    /// Spreads a mask register over a rack, and reads it back from the sign bits.
    pub mask_to_rack: MachOp,
    #[allow(missing_docs)]
    pub rack_to_mask: MachOp,
    /// What a function executes before it returns no rack; `None` where nothing is due.
    pub leave_racks: Option<MachOp>,
    /// Returns.
    pub ret: MachOp,
}

impl Idioms {
    /// The operation that copies a register of this class.
    pub const fn copy(&self, class: Class) -> MachOp {
        match class {
            Class::V => self.move_rack,
            Class::K => self.move_mask,
            Class::G => self.move_word,
        }
    }

    /// The idioms of a profile; `None` where no machine table serves it.
    pub const fn of(profile: Profile) -> Option<&'static Idioms> {
        match Space::of(profile) {
            Some(Space::Sse) => Some(&x86::SSE_IDIOMS),
            Some(_) => Some(&x86::AVX_IDIOMS),
            None => None,
        }
    }
}

impl Form {
    /// The immediate of this form of an instruction of `op` whose immediate is `imm`; `None` when this form cannot be.
    pub fn imm(&self, op: MachOp, imm: Option<u8>, profile: Profile) -> Option<Option<u8>> {
        match (self.imm, imm) {
            (ImmMap::Mirror, Some(imm)) => {
                let MachOp::X86(op) = op;
                x86::mirror(op, imm, Space::of(profile) == Some(Space::Sse)).map(Some)
            }
            _ => Some(imm),
        }
    }
}
