//! The machine operation tables, and the instruction that `selected` and `allocated` share.
//!
//! One row per machine instruction that the compiler may emit: [`MachInfo`]. Selection names rows, allocation reads their
//! shapes, encoders and the verifier agree on them, and their semantics make both IRs executable. A family of machines
//! adds a table and a variant of [`MachOp`]; nothing else here knows a machine.

pub mod aarch64;
pub mod abi;
pub mod bits;
pub mod convert;
pub mod flow;
mod idioms;
pub mod lanes;
mod operand;
pub mod run;
pub mod scalar;
pub mod tables;
pub mod text;
pub mod wasm;
mod words;
pub mod x86;

pub use flow::{Cond, Flow};
pub use idioms::{ControlIdioms, Idioms, Immediate, MaskIdioms, RegisterIdioms, WordIdioms};
pub use operand::{Address, LiteralId, Operand};

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
    /// Floats where the boundary does not pass them in rack registers: WebAssembly's `f32`, C's `float`.
    F,
    /// Integers of 64 bits where those stand apart from shorter ones: WebAssembly's `i64`.
    L,
    /// Words of eight bytes that a caller left in its frame, where arguments have no register any more. Nothing writes them.
    S,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 6] = [Class::V, Class::K, Class::G, Class::F, Class::L, Class::S];

    /// The letter in dumps.
    pub const fn letter(self) -> char {
        match self {
            Class::V => 'v',
            Class::K => 'k',
            Class::G => 'g',
            Class::F => 'f',
            Class::L => 'l',
            Class::S => 's',
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
    /// All 64 bits of a general register.
    Long,
    /// An integer of 64 bits that is no general register.
    Wide,
    /// A float that is no rack.
    Float,
    /// A word of the caller's frame.
    Frame,
}

impl View {
    /// The register file it looks into.
    pub const fn class(self) -> Class {
        match self {
            View::Rack | View::Low | View::Half => Class::V,
            View::Mask => Class::K,
            View::Word | View::Address | View::Long => Class::G,
            View::Wide => Class::L,
            View::Float => Class::F,
            View::Frame => Class::S,
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

    /// The word with this number of the caller's frame.
    pub const fn s(number: u8) -> PhysReg {
        PhysReg { class: Class::S, number }
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
    /// [`Kind::Boundary`], [`Kind::Transfer`], copies and addresses of tables, the only rows that touch general registers.
    Word,
    /// Reads or writes memory that the caller passed.
    Transfer,
    /// Decides what is executed next, or belongs to the machine alone: markers of bodies, `ret`, `push`, `vzeroupper`.
    Control,
}

impl Kind {
    /// Whether the instruction counts as vector arithmetic.
    pub const fn is_arithmetic(self) -> bool {
        matches!(self, Kind::Arith | Kind::Logic | Kind::Compare | Kind::Choose)
    }
}

/// Which operand may be a literal in memory, a place in memory or a number, instead of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mem {
    /// Never.
    No,
    /// In these variants of the family, a bit each: as a whole rack, aligned to itself, and as one 32-bit element that is
    /// read into every lane.
    May {
        #[allow(missing_docs)]
        rack: u8,
        #[allow(missing_docs)]
        element: u8,
    },
    /// Always a literal of a whole rack: the operand of a constant load, or what an instruction holds in itself.
    Rack,
    /// Always one 32-bit element in memory: the operand of a broadcasting load.
    Element,
    /// One of [`tables::TABLES`]: the row takes its address, or names it after the address and the number of the entry
    /// that it reads. Evaluators see the entry that the operand before it picks.
    Table,
    /// Always an address, where this many bytes are accessed in each variant; at most a rack's.
    Place([u8; VARIANTS]),
    /// Always an address whose index is a rack of signed lanes: one element of 32 bits for each lane.
    Places,
    /// Always an address, at which nothing is accessed: evaluators see the address itself.
    Sum,
    /// A register or a number of 32 bits, whose sign is extended.
    Number,
    /// Always a number of 32 bits, whose sign is extended.
    Constant,
}

impl Mem {
    /// Whether the operand is always a literal.
    pub const fn is_literal(self) -> bool {
        matches!(self, Mem::Rack | Mem::Element | Mem::Table)
    }

    /// Whether the operand is always an address.
    pub const fn is_address(self) -> bool {
        matches!(self, Mem::Place(_) | Mem::Places | Mem::Sum)
    }
}

/// One operand of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// How it sees its register.
    pub view: View,
    /// Whether it may stand in memory.
    pub mem: Mem,
    /// Whether it is the mask that the instruction stands under (EVEX's `{k1}`) rather than an operand of its own.
    pub opmask: bool,
}

impl Slot {
    /// An operand of its own.
    pub(crate) const fn new(view: View, mem: Mem) -> Slot {
        Slot { view, mem, opmask: false }
    }
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

/// The most profiles that a family has.
pub const VARIANTS: usize = 3;

/// One row of a machine table. The arrays run over the profiles of the family ([`Profile::variant`]).
#[derive(Clone, Copy, Debug)]
pub struct MachInfo {
    /// Its name in dumps.
    pub name: &'static str,
    /// The assembler's mnemonic in each variant; `None` where the profile lacks it.
    pub mnemonics: [Option<&'static str>; VARIANTS],
    /// What it is for.
    pub kind: Kind,
    /// How it sees its destination; `None` when it has none.
    pub dst: Option<View>,
    /// Its operands, in Intel's order after the destination (the tied operand included, an opmask first).
    pub slots: &'static [Slot],
    /// Whether it has an 8-bit immediate.
    pub imm: bool,
    /// In each variant the operand whose register the destination must share.
    pub tied: [Option<u8>; VARIANTS],
    /// Whether the opmask zeroes the lanes it leaves out (`{z}`).
    pub zeroing: bool,
    /// Whether it multiplies and adds with one rounding.
    pub contracts: bool,
    /// Whether it may raise a floating-point exception, in each lane on its own.
    pub raises: bool,
    /// Whether it writes its place: evaluators hand it the old bytes as that operand, and it computes the new ones.
    pub writes: bool,
    /// The operand whose register it leaves without a defined value.
    pub loses: Option<u8>,
    /// What it does to what is executed next.
    pub flow: Option<Flow>,
    /// Other forms of the same operation, the row itself not among them.
    pub forms: &'static [Form],
    /// Its cost in each variant.
    pub cost: [Cost; VARIANTS],
    /// What it computes.
    pub eval: Semantics,
}

/// A row of a family: mnemonics by variant (`""` where the profile lacks it), and the same cost in each, reciprocal
/// throughput and latency in hundredths of a cycle.
pub(crate) const fn row(
    name: &'static str,
    mnemonics: [&'static str; VARIANTS],
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    const fn column(mnemonic: &'static str) -> Option<&'static str> {
        if mnemonic.is_empty() { None } else { Some(mnemonic) }
    }
    let cost = Cost { throughput: cost.0, latency: cost.1 };
    MachInfo {
        name,
        mnemonics: [column(mnemonics[0]), column(mnemonics[1]), column(mnemonics[2])],
        kind,
        dst,
        slots,
        imm: false,
        tied: [None; VARIANTS],
        zeroing: false,
        contracts: false,
        raises: false,
        writes: false,
        loses: None,
        flow: None,
        forms: &[],
        cost: [cost; VARIANTS],
        eval,
    }
}

impl MachInfo {
    /// Every variant overwrites its first operand.
    pub(crate) const fn destructive(mut self) -> MachInfo {
        self.tied = [Some(0); VARIANTS];
        self
    }

    /// It has an immediate.
    pub(crate) const fn imm(mut self) -> MachInfo {
        self.imm = true;
        self
    }

    /// It may raise a floating-point exception, in each lane on its own.
    pub(crate) const fn raises(mut self) -> MachInfo {
        self.raises = true;
        self
    }

    /// It multiplies and adds with one rounding.
    pub(crate) const fn contracts(mut self) -> MachInfo {
        (self.contracts, self.raises) = (true, true);
        self
    }

    /// It writes its place.
    pub(crate) const fn writes(mut self) -> MachInfo {
        self.writes = true;
        self
    }

    /// It leaves this operand's register without a defined value.
    pub(crate) const fn loses(mut self, slot: u8) -> MachInfo {
        self.loses = Some(slot);
        self
    }

    /// It decides what is executed next.
    pub(crate) const fn flow(mut self, flow: Flow) -> MachInfo {
        self.flow = Some(flow);
        self
    }

    /// The operand that is always an address.
    pub fn address_slot(&self) -> Option<usize> {
        self.slots.iter().position(|slot| slot.mem.is_address())
    }

    pub(crate) const fn forms(mut self, forms: &'static [Form]) -> MachInfo {
        self.forms = forms;
        self
    }
}

/// Declares a family's table: `Op = row;` each.
macro_rules! machine_table {
    ($(#[$doc:meta])* $name:ident { $($op:ident = $row:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum $name { $($op),* }

        /// Every operation, in the table's order.
        pub const ALL: &[$name] = &[$($name::$op),*];

        /// The table.
        pub static TABLE: &[MachInfo] = &[$($row),*];

        /// The operation with its first two operands the other way round.
        const fn commuted(op: $name) -> Form {
            Form { op: MachOp::$name(op), from: [1, 0, 2, 3], imm: ImmMap::Same }
        }

        impl $name {
            /// Its row.
            pub const fn info(self) -> &'static MachInfo {
                &TABLE[self as usize]
            }

            /// The operation with this name in dumps.
            pub fn from_name(name: &str) -> Option<$name> {
                ALL.iter().copied().find(|op| op.info().name == name)
            }
        }
    };
}
use machine_table;

/// A machine operation of some family: a row of that family's table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MachOp {
    /// x86-64.
    X86(x86::X86),
    /// AArch64.
    A64(aarch64::A64),
    /// WebAssembly.
    Wasm(wasm::Wasm),
    /// Scalar C.
    Scalar(scalar::Scalar),
}

impl MachOp {
    /// Its row.
    pub const fn info(self) -> &'static MachInfo {
        match self {
            MachOp::X86(op) => op.info(),
            MachOp::A64(op) => op.info(),
            MachOp::Wasm(op) => op.info(),
            MachOp::Scalar(op) => op.info(),
        }
    }

    /// Its name in dumps.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The family whose table has it.
    pub const fn family(self) -> Family {
        match self {
            MachOp::X86(_) => Family::X86,
            MachOp::A64(_) => Family::Aarch64,
            MachOp::Wasm(_) => Family::Wasm,
            MachOp::Scalar(_) => Family::Scalar,
        }
    }

    /// The operation of this family with this name.
    pub fn from_name(family: Family, name: &str) -> Option<MachOp> {
        match family {
            Family::X86 => x86::X86::from_name(name).map(MachOp::X86),
            Family::Aarch64 => aarch64::A64::from_name(name).map(MachOp::A64),
            Family::Wasm => wasm::Wasm::from_name(name).map(MachOp::Wasm),
            Family::Scalar => scalar::Scalar::from_name(name).map(MachOp::Scalar),
        }
    }

    /// The same under an opmask, its first operand: zero, or false, in the lanes that the mask leaves out.
    pub const fn zeroed(self) -> Option<MachOp> {
        match self {
            MachOp::X86(op) => match op.zeroed() {
                Some(op) => Some(MachOp::X86(op)),
                None => None,
            },
            _ => None,
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
            _ => None,
        }
    }

    /// Whether the profile has it.
    pub fn is_in(self, profile: Profile) -> bool {
        self.mnemonic(profile).is_some()
    }

    /// Its mnemonic on this profile; `None` where the profile lacks it.
    pub fn mnemonic(self, profile: Profile) -> Option<&'static str> {
        let row = Some(self.info()).filter(|_| profile.info().family == self.family())?;
        row.mnemonics[profile.variant()]
    }

    /// The operand that shares the destination's register on this profile.
    pub fn tied(self, profile: Profile) -> Option<usize> {
        self.info().tied[profile.variant()].map(usize::from)
    }

    /// Its cost on this profile.
    pub fn cost(self, profile: Profile) -> Cost {
        self.info().cost[profile.variant()]
    }

    /// Whether operand `slot` may be a whole rack in memory on this profile.
    pub fn takes_rack_literal(self, slot: usize, profile: Profile) -> bool {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::Rack) => true,
            Some(Mem::May { rack, .. }) => rack >> profile.variant() & 1 == 1,
            _ => false,
        }
    }

    /// Whether operand `slot` may be one broadcast element in memory on this profile.
    pub fn takes_broadcast(self, slot: usize, profile: Profile) -> bool {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::Element) => true,
            Some(Mem::May { element, .. }) => element >> profile.variant() & 1 == 1,
            _ => false,
        }
    }

    /// Whether operand `slot` may be an address on this profile: of a place of its own, or of a whole rack where a literal
    /// could stand, unless racks in memory must be aligned there.
    pub fn takes_address(self, slot: usize, profile: Profile) -> bool {
        let aligned = matches!(self, MachOp::X86(_)) && profile.variant() == x86::Space::Sse as usize;
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(mem) if mem.is_address() => true,
            Some(Mem::May { rack, .. }) => !aligned && rack >> profile.variant() & 1 == 1,
            _ => false,
        }
    }

    /// Whether operand `slot` may be the address of one element, which is read into every lane, on this profile.
    pub fn takes_address_of_element(self, slot: usize, profile: Profile) -> bool {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::May { element, .. }) => element >> profile.variant() & 1 == 1,
            _ => false,
        }
    }

    /// How many bytes operand `slot` has in memory on this profile, when it stands at an address; those of one element
    /// for [`Mem::Places`].
    pub fn place_bytes(self, slot: usize, profile: Profile) -> usize {
        match self.info().slots.get(slot).map(|s| s.mem) {
            Some(Mem::Place(bytes)) => usize::from(bytes[profile.variant()]),
            Some(Mem::Places) => 4,
            Some(Mem::May { .. }) => profile.rack_bytes(),
            _ => 0,
        }
    }

    /// What it does to what is executed next.
    pub const fn flow(self) -> Option<Flow> {
        self.info().flow
    }

    /// What this makes of what `maker` made, when that is less than both.
    pub const fn shortcut(self, maker: MachOp) -> Option<Shortcut> {
        match (self, maker) {
            (MachOp::Wasm(op), MachOp::Wasm(maker)) => wasm::shortcut(op, maker),
            _ => None,
        }
    }

    /// The row that does the same with a number in the place of its last operand, and the number as that row takes it.
    pub fn with_number(self, number: i64) -> Option<(MachOp, i32)> {
        match self {
            MachOp::A64(op) => aarch64::with_number(op, number).map(|(op, number)| (MachOp::A64(op), number)),
            _ => {
                let last = self.info().slots.last().map(|slot| slot.mem);
                let takes = matches!(last, Some(Mem::Number | Mem::Constant));
                Some((self, i32::try_from(number).ok()?)).filter(|_| takes)
            }
        }
    }

    /// The immediate that says the same of the first two operands the other way round, where the profile has it.
    fn mirror(self, imm: u8, profile: Profile) -> Option<u8> {
        match self {
            MachOp::X86(op) => x86::mirror(op, imm, profile.variant() == x86::Space::Sse as usize),
            _ => None,
        }
    }
}

/// An operation on another's result, in terms of the other's operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortcut {
    /// It is that operand.
    Same,
    /// It is this of that operand.
    By(MachOp),
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

impl<R: Copy> Inst<R> {
    /// Every register that it reads, those of addresses too.
    pub fn regs(&self) -> impl Iterator<Item = R> {
        self.args.iter().flat_map(|arg| arg.regs())
    }

    /// The condition of a marker whose immediate is one.
    pub fn cond(&self) -> Option<Cond> {
        self.imm.and_then(Cond::from_imm)
    }
}

impl Form {
    /// The immediate of this form of an instruction of `op` whose immediate is `imm`; `None` when this form cannot be.
    pub fn imm(&self, op: MachOp, imm: Option<u8>, profile: Profile) -> Option<Option<u8>> {
        match (self.imm, imm) {
            (ImmMap::Mirror, Some(imm)) => op.mirror(imm, profile).map(Some),
            _ => Some(imm),
        }
    }
}
