//! The x86-64 table: every instruction that the three x86 profiles may emit.
//!
//! Mnemonics stand for SSE, VEX (256 bits) and EVEX (512 bits) in that order, `""` where the profile has no such
//! instruction. Costs are reciprocal throughput and latency in hundredths of a cycle, rounded from uops.info for
//! Skylake-X and Ice Lake (512-bit figures for two FMA units).

mod memory;
#[cfg(test)]
mod tests;

use super::bits::{self, Bits, ZERO};
use super::convert;
use super::lanes;
use super::words;
use super::{ControlIdioms, WordIdioms};
use super::{Ctx, Flow, Form, Idioms, ImmMap, Kind, MachInfo, MachOp, MaskIdioms, Mem, RegisterIdioms, VARIANTS};
use super::{Slot, View, row};
use crate::profile::Profile;

/// Bytes of an entry of a table that code reads by the bits of a mask.
pub const ENTRY_BYTES: usize = 8;

/// Bytes of such a table, which has an entry for each mask of a rack's 32-bit lanes.
pub const fn table_bytes(space: Space) -> usize {
    ENTRY_BYTES << (4 << space as u32)
}

/// How instructions are encoded; each profile of the family uses one, and stands at its number among the family's variants.
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

const EVEX: u8 = 1 << Space::Evex as u8;
const EVERY: u8 = 0b111;
/// A whole rack in memory; in EVEX also one element.
const ANY: Mem = Mem::May { rack: EVERY, element: EVEX };
/// The same, only in EVEX.
const ANY_EVEX: Mem = Mem::May { rack: EVEX, element: EVEX };
/// A whole rack in memory; the instruction broadcasts no 32-bit element.
const WHOLE: Mem = Mem::May { rack: EVERY, element: 0 };

/// A rack in a register.
const R: Slot = Slot::new(View::Rack, Mem::No);
/// A rack in a register or in memory.
const M: Slot = Slot::new(View::Rack, ANY);
/// A rack in a register, in EVEX also in memory.
const E: Slot = Slot::new(View::Rack, ANY_EVEX);
/// A rack in a register or, never as one broadcast element, in memory.
const N: Slot = Slot::new(View::Rack, WHOLE);
/// The low half of a rack register.
const H: Slot = Slot::new(View::Half, Mem::No);
/// The low 128 bits of a rack register.
const X: Slot = Slot::new(View::Low, Mem::No);
/// A mask register.
const K: Slot = Slot::new(View::Mask, Mem::No);
/// The opmask.
const W: Slot = Slot { view: View::Mask, mem: Mem::No, opmask: true };
/// A general register.
const G: Slot = Slot::new(View::Word, Mem::No);
/// A general register as part of an address.
const P: Slot = Slot::new(View::Address, Mem::No);
/// All of a general register.
const L: Slot = Slot::new(View::Long, Mem::No);
/// The same, or a number.
const I: Slot = Slot::new(View::Long, Mem::Number);
/// A general register's word, or a number.
const J: Slot = Slot::new(View::Word, Mem::Number);
/// A number.
const C: Slot = Slot::new(View::Long, Mem::Constant);
/// An address at which nothing is accessed.
const S: Slot = Slot::new(View::Long, Mem::Sum);
/// A place of a whole rack, of a quarter and of half as many bytes, and one for each lane.
const PR: Slot = place(View::Rack, [16, 32, 64]);
const PB: Slot = place(View::Rack, [4, 8, 16]);
const PH: Slot = place(View::Rack, [8, 16, 32]);
const PL: Slot = Slot::new(View::Rack, Mem::Places);
/// Places of this many bytes.
const P1: Slot = place(View::Word, [1; VARIANTS]);
const P2: Slot = place(View::Word, [2; VARIANTS]);
const P4: Slot = place(View::Word, [4; VARIANTS]);
const P8: Slot = place(View::Long, [8; VARIANTS]);
const P16: Slot = place(View::Low, [16; VARIANTS]);
const P32: Slot = place(View::Half, [32; VARIANTS]);

const fn place(view: View, bytes: [u8; VARIANTS]) -> Slot {
    Slot::new(view, Mem::Place(bytes))
}

/// A table in memory.
const T: Slot = Slot::new(View::Rack, Mem::Table);

impl MachInfo {
    /// The SSE form overwrites its first operand.
    const fn two_address(mut self) -> MachInfo {
        self.tied[0] = Some(0);
        self
    }

    const fn zeroing(mut self) -> MachInfo {
        self.zeroing = true;
        self
    }

    /// The lanes that the opmask leaves out keep those of the second operand, which EVEX overwrites.
    const fn merging(mut self) -> MachInfo {
        self.tied[2] = Some(1);
        self
    }

    /// Throughput where 256 or 512 bits take longer.
    const fn wide(mut self, vex: u16, evex: u16) -> MachInfo {
        self.cost[1].throughput = vex;
        self.cost[2].throughput = evex;
        self
    }
}

macro_rules! table {
    ($($op:ident = $row:expr;)* @masked { $($plain:ident: $zeroed:ident $($merged:ident)?;)* }) => {
        /// An x86-64 machine operation: an index into [`TABLE`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum X86 { $($op,)* $($zeroed, $($merged,)?)* }

        /// Every operation, in the table's order.
        pub const ALL: &[X86] = &[$(X86::$op,)* $(X86::$zeroed, $(X86::$merged,)?)*];

        /// The rows as they are written.
        const PLAIN: &[MachInfo] = &[$($row),*];

        /// The table: the rows as they are written, then those derived from them.
        pub static TABLE: &[MachInfo] = &[
            $(PLAIN[X86::$op as usize],)*
            $(
                Masked::<{ X86::$plain as usize }, false>::ROW,
                $(Masked::<{ X86::$merged.plain() as usize }, true>::ROW,)?
            )*
        ];

        impl X86 {
            /// The row that this one is derived from; itself when it is written in the table.
            pub const fn plain(self) -> X86 {
                match self {
                    $(X86::$zeroed => X86::$plain, $(X86::$merged => X86::$plain,)?)*
                    _ => self,
                }
            }

            /// The same under an opmask, zero in the lanes that it leaves out; a comparison is false there.
            pub const fn zeroed(self) -> Option<X86> {
                match self {
                    $(X86::$plain => Some(X86::$zeroed),)*
                    _ => None,
                }
            }

            /// The same under an opmask, the destination's old contents in the lanes that it leaves out.
            pub const fn merged(self) -> Option<X86> {
                match self {
                    $($(X86::$plain => Some(X86::$merged),)?)*
                    _ => None,
                }
            }
        }
    };
}

/// The row that is derived from the row `OP` by an opmask: its operands after the mask and, where the destination's old
/// contents are no operand already, after what is kept in the lanes that the mask leaves out.
struct Masked<const OP: usize, const MERGE: bool>;

impl<const OP: usize, const MERGE: bool> Masked<OP, MERGE> {
    /// Operands before those of the plain row.
    const FIRST: usize = if MERGE && PLAIN[OP].tied[2].is_none() { 2 } else { 1 };
    const SLOTS: &'static [Slot; 6] = &{
        let mut slots = [W, R, R, R, R, R];
        let mut at = 0;
        while at < PLAIN[OP].slots.len() {
            slots[Self::FIRST + at] = PLAIN[OP].slots[at];
            at += 1;
        }
        slots
    };
    /// The plain row's forms under the mask; when merging, those that keep the same operand.
    const FORMS: &'static ([Form; 8], usize) = &{
        let (mut forms, mut count, mut at) = ([commuted(X86::Addps); 8], 0, 0);
        while at < PLAIN[OP].forms.len() {
            let Form { op: MachOp::X86(op), from, imm } = PLAIN[OP].forms[at] else {
                panic!("a form of another family")
            };
            let keeps = match (PLAIN[op as usize].tied[2], PLAIN[OP].tied[2]) {
                (Some(there), Some(here)) => from[there as usize] == here,
                (None, None) => true,
                _ => false,
            };
            if let Some(op) = if MERGE { op.merged() } else { op.zeroed() }
                && (keeps || !MERGE)
            {
                let mut moved = [0, 1, 2, 3];
                let mut slot = Self::FIRST;
                while slot < 4 && slot < Self::FIRST + PLAIN[OP].slots.len() {
                    moved[slot] = from[slot - Self::FIRST] + Self::FIRST as u8;
                    slot += 1;
                }
                forms[count] = Form { op: MachOp::X86(op), from: moved, imm };
                count += 1;
            }
            at += 1;
        }
        (forms, count)
    };
    const NAME: &'static [u8; 24] = &{
        let name = PLAIN[OP].name.as_bytes();
        let mut text = [0; 24];
        let mut at = 0;
        while at < name.len() {
            text[at] = name[at];
            at += 1;
        }
        text[at] = b'_';
        text[at + 1] = if MERGE { b'm' } else { b'z' };
        text
    };
    const ROW: MachInfo = {
        let plain = PLAIN[OP];
        let tied = match plain.tied[2] {
            Some(slot) => Some(slot + 1),
            None if MERGE => Some(1),
            None => None,
        };
        MachInfo {
            name: match std::str::from_utf8(Self::NAME.split_at(plain.name.len() + 2).0) {
                Ok(name) => name,
                Err(_) => "",
            },
            mnemonics: [None, None, plain.mnemonics[2]],
            slots: Self::SLOTS.split_at(Self::FIRST + plain.slots.len()).0,
            tied: [None, None, tied],
            zeroing: !MERGE && !matches!(plain.dst, MASK),
            forms: Self::FORMS.0.split_at(Self::FORMS.1).0,
            eval: Self::eval,
            ..plain
        }
    };

    fn eval(ctx: Ctx, args: &[Bits]) -> Bits {
        let plain = &PLAIN[OP];
        let (mask, mut result) = (args[0][0], (plain.eval)(ctx, &args[Self::FIRST..]));
        if plain.dst == MASK {
            result[0] &= mask;
            return result;
        }
        let kept = match plain.tied[2] {
            _ if !MERGE => &ZERO,
            Some(slot) => &args[Self::FIRST + usize::from(slot)],
            None => &args[1],
        };
        choose(ctx, kept, &result, |lane| mask >> lane & 1 == 1)
    }
}

const fn commuted(op: X86) -> Form {
    Form { op: MachOp::X86(op), from: [1, 0, 2, 3], imm: ImmMap::Same }
}

/// The comparison the other way round.
const fn mirrored(op: X86) -> Form {
    Form { op: MachOp::X86(op), from: [1, 0, 2, 3], imm: ImmMap::Mirror }
}

const fn form(op: X86, from: [u8; 3]) -> Form {
    Form { op: MachOp::X86(op), from: [from[0], from[1], from[2], 3], imm: ImmMap::Same }
}

/// The other five ways to write `[0]*[1] + [2]`, seen from the 213 form (`dst = op2*op1 + op3`).
macro_rules! fma_forms {
    ($f132:ident $f213:ident $f231:ident) => {
        &[
            form(X86::$f213, [1, 0, 2]),
            form(X86::$f231, [2, 0, 1]),
            form(X86::$f231, [2, 1, 0]),
            form(X86::$f132, [0, 2, 1]),
            form(X86::$f132, [1, 2, 0]),
        ]
    };
}

const RACK: Option<View> = Some(View::Rack);
const LOW: Option<View> = Some(View::Low);
const MASK: Option<View> = Some(View::Mask);
const WORD: Option<View> = Some(View::Word);
const HALF: Option<View> = Some(View::Half);
const ADDRESS: Option<View> = Some(View::Address);
const LONG: Option<View> = Some(View::Long);

use Kind::{Arith, Boundary, Choose, Compare, Const, Control, Cross, Logic, Move, Transfer, Word};

type A<'a> = &'a [Bits];

table! {
    // Floating point.
    Addps = row("addps", ["addps", "vaddps", "vaddps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x + y))).two_address().forms(&[commuted(X86::Addps)]).raises();
    Subps = row("subps", ["subps", "vsubps", "vsubps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x - y))).two_address().raises();
    Mulps = row("mulps", ["mulps", "vmulps", "vmulps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x * y))).two_address().forms(&[commuted(X86::Mulps)]).raises();
    Divps = row("divps", ["divps", "vdivps", "vdivps"], Arith, RACK, &[R, M], (300, 1100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x / y))).two_address().wide(500, 1000).raises();
    Sqrtps = row("sqrtps", ["sqrtps", "vsqrtps", "vsqrtps"], Arith, RACK, &[M], (300, 1200), |c, a: A| bits::map1(c, &a[0], |x| bits::float1(x, f32::sqrt))).wide(600, 1200).raises();
    Minps = row("minps", ["minps", "vminps", "vminps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::pick(x, y, |x, y| x < y))).two_address().raises();
    Maxps = row("maxps", ["maxps", "vmaxps", "vmaxps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::pick(x, y, |x, y| x > y))).two_address().raises();
    Fmadd213ps = row("fmadd213ps", ["", "vfmadd213ps", "vfmadd213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], false, false)).destructive().forms(fma_forms!(Fmadd132ps Fmadd213ps Fmadd231ps)).contracts();
    Fmadd132ps = row("fmadd132ps", ["", "vfmadd132ps", "vfmadd132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], false, false)).destructive().contracts();
    Fmadd231ps = row("fmadd231ps", ["", "vfmadd231ps", "vfmadd231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], false, false)).destructive().contracts();
    Fmsub213ps = row("fmsub213ps", ["", "vfmsub213ps", "vfmsub213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], false, true)).destructive().forms(fma_forms!(Fmsub132ps Fmsub213ps Fmsub231ps)).contracts();
    Fmsub132ps = row("fmsub132ps", ["", "vfmsub132ps", "vfmsub132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], false, true)).destructive().contracts();
    Fmsub231ps = row("fmsub231ps", ["", "vfmsub231ps", "vfmsub231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], false, true)).destructive().contracts();
    Fnmadd213ps = row("fnmadd213ps", ["", "vfnmadd213ps", "vfnmadd213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], true, false)).destructive().forms(fma_forms!(Fnmadd132ps Fnmadd213ps Fnmadd231ps)).contracts();
    Fnmadd132ps = row("fnmadd132ps", ["", "vfnmadd132ps", "vfnmadd132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], true, false)).destructive().contracts();
    Fnmadd231ps = row("fnmadd231ps", ["", "vfnmadd231ps", "vfnmadd231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], true, false)).destructive().contracts();
    Fnmsub213ps = row("fnmsub213ps", ["", "vfnmsub213ps", "vfnmsub213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], true, true)).destructive().forms(fma_forms!(Fnmsub132ps Fnmsub213ps Fnmsub231ps)).contracts();
    Fnmsub132ps = row("fnmsub132ps", ["", "vfnmsub132ps", "vfnmsub132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], true, true)).destructive().contracts();
    Fnmsub231ps = row("fnmsub231ps", ["", "vfnmsub231ps", "vfnmsub231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], true, true)).destructive().contracts();

    // Bitwise logic, once in the floating-point domain and once in the integer one.
    Andps = row("andps", ["andps", "vandps", "vandps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & y)).two_address().wide(33, 50).forms(&[commuted(X86::Andps)]);
    Andnps = row("andnps", ["andnps", "vandnps", "vandnps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| !x & y)).two_address().wide(33, 50);
    Orps = row("orps", ["orps", "vorps", "vorps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | y)).two_address().wide(33, 50).forms(&[commuted(X86::Orps)]);
    Xorps = row("xorps", ["xorps", "vxorps", "vxorps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x ^ y)).two_address().wide(33, 50).forms(&[commuted(X86::Xorps)]);
    Pand = row("pand", ["pand", "vpand", "vpandd"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & y)).two_address().wide(33, 50).forms(&[commuted(X86::Pand)]);
    Pandn = row("pandn", ["pandn", "vpandn", "vpandnd"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| !x & y)).two_address().wide(33, 50);
    Por = row("por", ["por", "vpor", "vpord"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | y)).two_address().wide(33, 50).forms(&[commuted(X86::Por)]);
    Pxor = row("pxor", ["pxor", "vpxor", "vpxord"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x ^ y)).two_address().wide(33, 50).forms(&[commuted(X86::Pxor)]);

    // Any function of three bits: bit `4x + 2y + z` of the immediate is that of x, y and z.
    Pternlogd = row("pternlogd", ["", "", "vpternlogd"], Logic, RACK, &[R, R, M], (50, 100), |c, a: A| ternary(c, &a[0], &a[1], &a[2])).destructive().imm();

    // Integers.
    Paddd = row("paddd", ["paddd", "vpaddd", "vpaddd"], Arith, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_add)).two_address().wide(33, 50).forms(&[commuted(X86::Paddd)]);
    Psubd = row("psubd", ["psubd", "vpsubd", "vpsubd"], Arith, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_sub)).two_address().wide(33, 50);
    Pmulld = row("pmulld", ["", "vpmulld", "vpmulld"], Arith, RACK, &[R, M], (100, 1000), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_mul)).forms(&[commuted(X86::Pmulld)]);
    Pmuludq = row("pmuludq", ["pmuludq", "vpmuludq", "vpmuludq"], Arith, RACK, &[R, R], (50, 500), |c, a: A| bits::map64(c, &a[0], &a[1], |x, y| (x & 0xffff_ffff) * (y & 0xffff_ffff))).two_address().forms(&[commuted(X86::Pmuludq)]);
    Pabsd = row("pabsd", ["", "vpabsd", "vpabsd"], Arith, RACK, &[M], (50, 100), |c, a: A| bits::map1(c, &a[0], |x| (x as i32).wrapping_abs() as u32));
    Psignd = row("psignd", ["", "vpsignd", ""], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, s| x.wrapping_mul((s as i32).signum() as u32)));
    Pminsd = row("pminsd", ["", "vpminsd", "vpminsd"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).min(y as i32) as u32)).forms(&[commuted(X86::Pminsd)]);
    Pmaxsd = row("pmaxsd", ["", "vpmaxsd", "vpmaxsd"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).max(y as i32) as u32)).forms(&[commuted(X86::Pmaxsd)]);
    Pminud = row("pminud", ["", "vpminud", "vpminud"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.min(y))).forms(&[commuted(X86::Pminud)]);
    Pmaxud = row("pmaxud", ["", "vpmaxud", "vpmaxud"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.max(y))).forms(&[commuted(X86::Pmaxud)]);

    // Shifts by an immediate, then by the low 64 bits of a register; a count past the width clears (or fills).
    Pslld = row("pslld", ["pslld", "vpslld", "vpslld"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| x << n, false)).two_address().imm();
    Psrld = row("psrld", ["psrld", "vpsrld", "vpsrld"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| x >> n, false)).two_address().imm();
    Psrad = row("psrad", ["psrad", "vpsrad", "vpsrad"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| ((x as i32) >> n) as u32, true)).two_address().imm();
    PslldBy = row("pslld_by", ["pslld", "vpslld", "vpslld"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| x << n, false)).two_address();
    PsrldBy = row("psrld_by", ["psrld", "vpsrld", "vpsrld"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| x >> n, false)).two_address();
    PsradBy = row("psrad_by", ["psrad", "vpsrad", "vpsrad"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| ((x as i32) >> n) as u32, true)).two_address();

    // Comparisons: to a rack of lane masks, then to a mask register.
    Cmpps = row("cmpps", ["cmpps", "vcmpps", ""], Compare, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(bits::float_predicate(c.imm, x, y)))).two_address().imm().forms(&[mirrored(X86::Cmpps)]).raises();
    Pcmpeqd = row("pcmpeqd", ["pcmpeqd", "vpcmpeqd", ""], Compare, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x == y))).two_address().forms(&[commuted(X86::Pcmpeqd)]);
    Pcmpgtd = row("pcmpgtd", ["pcmpgtd", "vpcmpgtd", ""], Compare, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x as i32 > y as i32))).two_address();
    CmppsK = row("cmpps_k", ["", "", "vcmpps"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::float_predicate(c.imm, x, y))).imm().forms(&[mirrored(X86::CmppsK)]).raises();
    PcmpdK = row("pcmpd_k", ["", "", "vpcmpd"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::int_predicate(c.imm, x as i32, y as i32))).imm().forms(&[mirrored(X86::PcmpdK)]);
    PcmpudK = row("pcmpud_k", ["", "", "vpcmpud"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::int_predicate(c.imm, x, y))).imm().forms(&[mirrored(X86::PcmpudK)]);

    // Choices: operand 1 where the mask's sign bit is set, else operand 0 (VEX); by an opmask (EVEX).
    Blendvps = row("blendvps", ["", "vblendvps", ""], Choose, RACK, &[R, M, R], (67, 200), |c, a: A| choose(c, &a[0], &a[1], |lane| a[2][lane] >> 31 == 1));
    Blendmps = row("blendmps", ["", "", "vblendmps"], Choose, RACK, &[W, R, M], (50, 100), |c, a: A| choose(c, &a[1], &a[2], |lane| a[0][0] >> lane & 1 == 1));
    Blendmd = row("blendmd", ["", "", "vpblendmd"], Choose, RACK, &[W, R, M], (50, 100), |c, a: A| choose(c, &a[1], &a[2], |lane| a[0][0] >> lane & 1 == 1));
    Keepps = row("keepps", ["", "", "vmovaps"], Choose, RACK, &[W, R], (50, 100), |c, a: A| choose(c, &ZERO, &a[1], |lane| a[0][0] >> lane & 1 == 1)).zeroing();

    // Masks in k registers.
    Kandw = row("kandw", ["", "", "kandw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| x & y)).forms(&[commuted(X86::Kandw)]);
    Kandnw = row("kandnw", ["", "", "kandnw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| !x & y));
    Korw = row("korw", ["", "", "korw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| x | y)).forms(&[commuted(X86::Korw)]);
    Knotw = row("knotw", ["", "", "knotw"], Logic, MASK, &[K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[0], |x, _| !x));
    Kzero = row("kzero", ["", "", "kxorw"], Const, MASK, &[], (100, 100), |_, _: A| ZERO);
    Kones = row("kones", ["", "", "kxnorw"], Const, MASK, &[], (100, 100), |_, _: A| bits::mask2(&ZERO, &ZERO, |_, _| !0));
    Kmov = row("kmov", ["", "", "kmovw"], Move, MASK, &[K], (100, 100), |_, a: A| a[0]);

    // Conversions, and rounding to integral values (the inexact flag is raised where a value changes).
    Cvtdq2ps = row("cvtdq2ps", ["cvtdq2ps", "vcvtdq2ps", "vcvtdq2ps"], Arith, RACK, &[M], (50, 400), |c, a: A| bits::map1(c, &a[0], convert::from_signed)).raises();
    Cvtudq2ps = row("cvtudq2ps", ["", "", "vcvtudq2ps"], Arith, RACK, &[M], (50, 400), |c, a: A| bits::map1(c, &a[0], convert::from_unsigned)).raises();
    Cvtps2dq = row("cvtps2dq", ["cvtps2dq", "vcvtps2dq", "vcvtps2dq"], Arith, RACK, &[M], (50, 400), |c, a: A| bits::map1(c, &a[0], convert::to_signed)).raises();
    Cvttps2dq = row("cvttps2dq", ["cvttps2dq", "", ""], Arith, RACK, &[M], (50, 400), |c, a: A| bits::map1(c, &a[0], convert::to_signed_truncated)).raises();
    Cvtps2udq = row("cvtps2udq", ["", "", "vcvtps2udq"], Arith, RACK, &[M], (50, 400), |c, a: A| bits::map1(c, &a[0], convert::to_unsigned)).raises();
    Roundps = row("roundps", ["", "vroundps", "vrndscaleps"], Arith, RACK, &[M], (100, 800), |c, a: A| bits::map1(c, &a[0], |x| convert::round(c.imm, x))).imm().raises();
    Rangeps = row("rangeps", ["", "", "vrangeps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| convert::range(c.imm, x, y))).imm().raises();

    // Lanes of 16 and 8 bits.
    Pmaddwd = row("pmaddwd", ["pmaddwd", "vpmaddwd", "vpmaddwd"], Arith, RACK, &[R, N], (50, 500), |c, a: A| convert::multiply_pairs(c, &a[0], &a[1])).two_address().forms(&[commuted(X86::Pmaddwd)]);
    Packssdw = row("packssdw", ["packssdw", "vpackssdw", "vpackssdw"], Cross, RACK, &[R, M], (100, 100), |c, a: A| convert::pack_words(c, &a[0], &a[1])).two_address();
    Packsswb = row("packsswb", ["packsswb", "", ""], Cross, RACK, &[R, N], (100, 100), |c, a: A| convert::pack_bytes(c, &a[0], &a[1])).two_address();
    Punpcklbw = row("punpcklbw", ["punpcklbw", "", ""], Cross, RACK, &[R, N], (100, 100), |c, a: A| convert::interleave_bytes(c, &a[0], &a[1], false)).two_address();
    Punpckhbw = row("punpckhbw", ["punpckhbw", "", ""], Cross, RACK, &[R, N], (100, 100), |c, a: A| convert::interleave_bytes(c, &a[0], &a[1], true)).two_address();
    Pmovzxbw = row("pmovzxbw", ["", "vpmovzxbw", "vpmovzxbw"], Cross, RACK, &[H], (100, 300), |c, a: A| convert::widen_bytes(c, &a[0]));
    HighHalf = row("high_half", ["", "vextracti128", "vextracti32x8"], Cross, HALF, &[R], (100, 300), |c, a: A| convert::high_half(c, &a[0])).imm();
    PermqBy = row("permq_by", ["", "", "vpermq"], Cross, RACK, &[R, R], (100, 300), |c, a: A| convert::pick_pairs(c, &a[0], &a[1]));
    Pblendw = row("pblendw", ["", "vpblendw", ""], Choose, RACK, &[R, N], (100, 100), |c, a: A| convert::blend_words(c, &a[0], &a[1])).imm();

    // Shifts of each lane by a count of its own.
    Psllvd = row("psllvd", ["", "vpsllvd", "vpsllvd"], Logic, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, n| x.checked_shl(n).unwrap_or(0)));
    Psrlvd = row("psrlvd", ["", "vpsrlvd", "vpsrlvd"], Logic, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, n| x.checked_shr(n).unwrap_or(0)));
    Psravd = row("psravd", ["", "vpsravd", "vpsravd"], Logic, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, n| ((x as i32) >> n.min(31)) as u32));

    // A mask's bits as a number, and what depends on all of a mask.
    Movmskps = row("movmskps", ["movmskps", "vmovmskps", ""], Word, WORD, &[R], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[0], |x, _| x >> 31 == 1));
    MaskWord = row("mask_word", ["", "", "kmovw"], Word, WORD, &[K], (100, 300), |_, a: A| bits::mask2(&a[0], &a[0], |x, _| x));
    Inc = row("inc", ["inc", "inc", "inc"], Word, WORD, &[G], (25, 100), |_, a: A| low(&[a[0][0].wrapping_add(1); 16], 1)).destructive();
    Neg = row("neg", ["neg", "neg", "neg"], Word, WORD, &[G], (25, 100), |_, a: A| low(&[a[0][0].wrapping_neg(); 16], 1)).destructive();
    Shr = row("shr", ["shr", "shr", "shr"], Word, WORD, &[G], (50, 100), |c, a: A| low(&[a[0][0] >> (c.imm & 31); 16], 1)).destructive().imm();
    AndWord = row("and_word", ["and", "and", "and"], Word, WORD, &[G], (25, 100), |c, a: A| low(&[a[0][0] & u32::from(c.imm); 16], 1)).destructive().imm();
    XorWord = row("xor_word", ["xor", "xor", "xor"], Word, WORD, &[G], (25, 100), |c, a: A| low(&[a[0][0] ^ u32::from(c.imm); 16], 1)).destructive().imm();
    WordConst = row("word_const", ["mov", "mov", "mov"], Boundary, WORD, &[], (25, 100), |c, _: A| low(&[u32::from(c.imm); 16], 1)).imm();
    MoveWord = row("move_word", ["mov", "mov", "mov"], Move, WORD, &[G], (25, 100), |_, a: A| low(&a[0], 1));
    SplatMask = row("splat_mask", ["", "", "vpbroadcastmw2d"], Word, RACK, &[K], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0] & 0xffff));
    PtestmdK = row("ptestmd_k", ["", "", "vptestmd"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| x & y != 0)).forms(&[commuted(X86::PtestmdK)]);

    // Lanes moved by a mask: by the machine, or as an entry of a table says. An address names its table by the operand.
    Compressps = row("compressps", ["", "", "vcompressps"], Cross, RACK, &[W, R], (200, 600), |c, a: A| convert::compress(c, a[0][0], &a[1])).zeroing();
    Expandps = row("expandps", ["", "", "vexpandps"], Cross, RACK, &[W, R, R], (200, 600), |c, a: A| convert::expand(c, a[0][0], &a[1], &a[2])).merging();
    Address = row("address", ["lea", "lea", ""], Const, ADDRESS, &[T], (50, 100), |_, _: A| ZERO);
    PackedEntry = row("packed_entry", ["movq", "vmovq", ""], Word, LOW, &[P, P, T], (50, 500), |_, a: A| a[2]);
    LoadEntry = row("load_entry", ["", "vpmovzxbd", ""], Word, RACK, &[P, P, T], (100, 900), |c, a: A| convert::widen_entry(c, &a[2]));

    // Copies and constants. `zero` and `ones` name one register three times, which the machine knows to need no input.
    Mov = row("mov", ["movaps", "vmovaps", "vmovaps"], Move, RACK, &[R], (25, 100), |_, a: A| a[0]);
    Load = row("load", ["movaps", "vmovaps", "vmovaps"], Const, RACK, &[Slot::new(View::Rack, Mem::Rack)], (50, 700), |_, a: A| a[0]);
    LoadSplat = row("load_splat", ["", "vbroadcastss", "vbroadcastss"], Const, RACK, &[Slot::new(View::Rack, Mem::Element)], (50, 700), |_, a: A| a[0]);
    Zero = row("zero", ["xorps", "vxorps", "vpxord"], Const, RACK, &[], (25, 0), |_, _: A| ZERO);
    Ones = row("ones", ["pcmpeqd", "vpcmpeqd", "vpternlogd"], Const, RACK, &[], (33, 100), |c, _: A| bits::map1(c, &ZERO, |_| u32::MAX));

    // The C boundary.
    MovdIn = row("movd_in", ["movd", "vmovd", "vmovd"], Boundary, LOW, &[G], (100, 200), |_, a: A| low(&a[0], 1));
    MovdOut = row("movd_out", ["movd", "vmovd", "vmovd"], Boundary, WORD, &[X], (100, 200), |_, a: A| low(&a[0], 1));
    SplatWord = row("splat_word", ["", "", "vpbroadcastd"], Boundary, RACK, &[G], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    SplatLow = row("splat_low", ["", "vbroadcastss", "vbroadcastss"], Boundary, RACK, &[X], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    SplatLowd = row("splat_lowd", ["", "vpbroadcastd", "vpbroadcastd"], Boundary, RACK, &[X], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    Splatps = row("splatps", ["shufps", "", ""], Boundary, RACK, &[R], (100, 100), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0])).destructive();
    RackToMask = row("rack_to_mask", ["", "", "vpmovd2m"], Boundary, MASK, &[R], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[0], |x, _| x >> 31 == 1));
    MaskToRack = row("mask_to_rack", ["", "", "vpmovm2d"], Boundary, RACK, &[K], (100, 300), |c, a: A| choose(c, &ZERO, &[u32::MAX; 16], |lane| a[0][0] >> lane & 1 == 1));
    Vzeroupper = row("vzeroupper", ["", "vzeroupper", "vzeroupper"], Control, None, &[], (100, 100), |_, _: A| ZERO);
    Ret = row("ret", ["ret", "ret", "ret"], Control, None, &[], (100, 100), |_, _: A| ZERO).flow(Flow::Return);

    // General registers of 64 bits. A word's upper half is zero.
    AddLong = row("add_long", ["add", "add", "add"], Word, LONG, &[L, I], (25, 100), |_, a: A| words::long2(a, u64::wrapping_add)).destructive();
    SubLong = row("sub_long", ["sub", "sub", "sub"], Word, LONG, &[L, I], (25, 100), |_, a: A| words::long2(a, u64::wrapping_sub)).destructive();
    AndLong = row("and_long", ["and", "and", "and"], Word, LONG, &[L, I], (25, 100), |_, a: A| words::long2(a, |x, y| x & y)).destructive();
    OrLong = row("or_long", ["or", "or", "or"], Word, LONG, &[L, I], (25, 100), |_, a: A| words::long2(a, |x, y| x | y)).destructive();
    XorLong = row("xor_long", ["xor", "xor", "xor"], Word, LONG, &[L, I], (25, 100), |_, a: A| words::long2(a, |x, y| x ^ y)).destructive();
    MulLong = row("mul_long", ["imul", "imul", "imul"], Word, LONG, &[L, L], (100, 300), |_, a: A| words::long2(a, u64::wrapping_mul)).destructive().forms(&[commuted(X86::MulLong)]);
    NegLong = row("neg_long", ["neg", "neg", "neg"], Word, LONG, &[L], (25, 100), |_, a: A| words::long1(a, u64::wrapping_neg)).destructive();
    ShlLong = row("shl_long", ["shl", "shl", "shl"], Word, LONG, &[L], (50, 100), |c, a: A| words::long1(a, |x| x << (c.imm & 63))).destructive().imm();
    ShrLong = row("shr_long", ["shr", "shr", "shr"], Word, LONG, &[L], (50, 100), |c, a: A| words::long1(a, |x| x >> (c.imm & 63))).destructive().imm();
    SarLong = row("sar_long", ["sar", "sar", "sar"], Word, LONG, &[L], (50, 100), |c, a: A| words::long1(a, |x| (x as i64 >> (c.imm & 63)) as u64)).destructive().imm();
    Sum = row("sum", ["lea", "lea", "lea"], Word, LONG, &[S], (50, 100), |_, a: A| a[0]);
    MoveLong = row("move_long", ["mov", "mov", "mov"], Move, LONG, &[L], (25, 100), |_, a: A| low(&a[0], 2));
    LongConst = row("long_const", ["mov", "mov", "mov"], Const, LONG, &[C], (25, 100), |_, a: A| a[0]);
    LongZero = row("long_zero", ["xor", "xor", "xor"], Const, LONG, &[], (25, 0), |_, _: A| ZERO);
    SignExtend = row("sign_extend", ["movsxd", "movsxd", "movsxd"], Word, LONG, &[G], (25, 100), |_, a: A| bits::of_long(i64::from(a[0][0] as i32) as u64));
    ZeroExtend = row("zero_extend", ["mov", "mov", "mov"], Word, LONG, &[G], (25, 100), |_, a: A| low(&a[0], 1));
    Popcnt = row("popcnt", ["", "popcnt", "popcnt"], Word, WORD, &[G], (100, 300), |_, a: A| low(&[a[0][0].count_ones(); 16], 1));
    Bzhi = row("bzhi", ["", "bzhi", "bzhi"], Word, WORD, &[G, G], (50, 100), |_, a: A| low(&[words::low_bits(a[0][0], a[1][0]); 16], 1));
    WordMask = row("word_mask", ["", "", "kmovw"], Word, MASK, &[G], (100, 300), |_, a: A| bits::mask2(&a[0], &a[0], |x, _| x));

    // Scalars in memory.
    LoadByte = row("load_byte", ["movzx", "movzx", "movzx"], Transfer, WORD, &[P1], (50, 500), |_, a: A| a[0]);
    LoadSignedByte = row("load_signed_byte", ["movsx", "movsx", "movsx"], Transfer, WORD, &[P1], (50, 500), |_, a: A| low(&[a[0][0] as i8 as u32; 16], 1));
    LoadHalf = row("load_half", ["movzx", "movzx", "movzx"], Transfer, WORD, &[P2], (50, 500), |_, a: A| a[0]);
    LoadSignedHalf = row("load_signed_half", ["movsx", "movsx", "movsx"], Transfer, WORD, &[P2], (50, 500), |_, a: A| low(&[a[0][0] as i16 as u32; 16], 1));
    LoadWord = row("load_word", ["mov", "mov", "mov"], Transfer, WORD, &[P4], (50, 500), |_, a: A| a[0]);
    LoadSignedWord = row("load_signed_word", ["movsxd", "movsxd", "movsxd"], Transfer, LONG, &[P4], (50, 500), |_, a: A| bits::of_long(i64::from(a[0][0] as i32) as u64));
    LoadLong = row("load_long", ["mov", "mov", "mov"], Transfer, LONG, &[P8], (50, 500), |_, a: A| a[0]);
    TakeArgument = row("take_argument", ["mov", "mov", "mov"], Transfer, LONG, &[Slot::new(View::Frame, Mem::No)], (50, 500), |_, a: A| low(&a[0], 2));
    StoreByte = row("store_byte", ["mov", "mov", "mov"], Transfer, None, &[P1, G], (100, 0), |_, a: A| a[1]).writes();
    StoreHalf = row("store_half", ["mov", "mov", "mov"], Transfer, None, &[P2, G], (100, 0), |_, a: A| a[1]).writes();
    StoreWord = row("store_word", ["mov", "mov", "mov"], Transfer, None, &[P4, G], (100, 0), |_, a: A| a[1]).writes();
    StoreLong = row("store_long", ["mov", "mov", "mov"], Transfer, None, &[P8, I], (100, 0), |_, a: A| a[1]).writes();

    // Racks in memory: as they are, under masks, and as lanes that hold wider numbers than the elements.
    RackLoad = row("rack_load", ["movups", "vmovups", "vmovups"], Transfer, RACK, &[PR], (50, 700), |_, a: A| a[0]);
    RackLoadZ = row("rack_load_z", ["", "", "vmovups"], Transfer, RACK, &[W, PR], (50, 800), |c, a: A| memory::masked(c, &a[0], &a[1], &ZERO)).zeroing();
    RackStore = row("rack_store", ["movups", "vmovups", "vmovups"], Transfer, None, &[PR, R], (100, 0), |_, a: A| a[1]).writes();
    RackStoreK = row("rack_store_k", ["", "", "vmovups"], Transfer, None, &[W, PR, R], (100, 0), |c, a: A| memory::masked(c, &a[0], &a[2], &a[1])).writes();
    MaskLoad = row("mask_load", ["", "vmaskmovps", ""], Transfer, RACK, &[R, PR], (50, 800), |c, a: A| memory::signed(c, &a[0], &a[1], &ZERO));
    MaskStore = row("mask_store", ["", "vmaskmovps", ""], Transfer, None, &[PR, R, R], (100, 0), |c, a: A| memory::signed(c, &a[1], &a[2], &a[0])).writes();
    MovssLoad = row("movss_load", ["movss", "vmovss", "vmovss"], Transfer, LOW, &[P4], (50, 500), |_, a: A| a[0]);
    MovsdLoad = row("movsd_load", ["movsd", "vmovsd", "vmovsd"], Transfer, LOW, &[P8], (50, 500), |_, a: A| a[0]);
    MovssStore = row("movss_store", ["movss", "vmovss", "vmovss"], Transfer, None, &[P4, X], (100, 0), |_, a: A| a[1]).writes();
    MovsdStore = row("movsd_store", ["movsd", "vmovsd", "vmovsd"], Transfer, None, &[P8, X], (100, 0), |_, a: A| a[1]).writes();
    LowStore = row("low_store", ["", "vmovups", "vmovups"], Transfer, None, &[P16, X], (100, 0), |_, a: A| a[1]).writes();
    HalfStore = row("half_store", ["", "", "vmovups"], Transfer, None, &[P32, H], (100, 0), |_, a: A| a[1]).writes();
    SplatLoad = row("splat_load", ["", "vbroadcastss", "vbroadcastss"], Transfer, RACK, &[P4], (50, 700), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    PmovzxbdLoad = row("pmovzxbd_load", ["", "vpmovzxbd", "vpmovzxbd"], Transfer, RACK, &[PB], (100, 900), |c, a: A| memory::bytes(c, &a[0], false));
    PmovsxbdLoad = row("pmovsxbd_load", ["", "vpmovsxbd", "vpmovsxbd"], Transfer, RACK, &[PB], (100, 900), |c, a: A| memory::bytes(c, &a[0], true));
    PmovzxwdLoad = row("pmovzxwd_load", ["", "vpmovzxwd", "vpmovzxwd"], Transfer, RACK, &[PH], (100, 900), |c, a: A| memory::halves(c, &a[0], false));
    PmovsxwdLoad = row("pmovsxwd_load", ["", "vpmovsxwd", "vpmovsxwd"], Transfer, RACK, &[PH], (100, 900), |c, a: A| memory::halves(c, &a[0], true));
    PmovzxbdLoadZ = row("pmovzxbd_load_z", ["", "", "vpmovzxbd"], Transfer, RACK, &[W, PB], (100, 900), |c, a: A| memory::masked(c, &a[0], &memory::bytes(c, &a[1], false), &ZERO)).zeroing();
    PmovsxbdLoadZ = row("pmovsxbd_load_z", ["", "", "vpmovsxbd"], Transfer, RACK, &[W, PB], (100, 900), |c, a: A| memory::masked(c, &a[0], &memory::bytes(c, &a[1], true), &ZERO)).zeroing();
    PmovzxwdLoadZ = row("pmovzxwd_load_z", ["", "", "vpmovzxwd"], Transfer, RACK, &[W, PH], (100, 900), |c, a: A| memory::masked(c, &a[0], &memory::halves(c, &a[1], false), &ZERO)).zeroing();
    PmovsxwdLoadZ = row("pmovsxwd_load_z", ["", "", "vpmovsxwd"], Transfer, RACK, &[W, PH], (100, 900), |c, a: A| memory::masked(c, &a[0], &memory::halves(c, &a[1], true), &ZERO)).zeroing();
    PmovdbStore = row("pmovdb_store", ["", "", "vpmovdb"], Transfer, None, &[PB, R], (200, 0), |c, a: A| memory::to_bytes(c, &a[1], &a[0], u32::MAX)).writes();
    PmovdwStore = row("pmovdw_store", ["", "", "vpmovdw"], Transfer, None, &[PH, R], (200, 0), |c, a: A| memory::to_halves(c, &a[1], &a[0], u32::MAX)).writes();
    PmovdbStoreK = row("pmovdb_store_k", ["", "", "vpmovdb"], Transfer, None, &[W, PB, R], (200, 0), |c, a: A| memory::to_bytes(c, &a[2], &a[1], a[0][0])).writes();
    PmovdwStoreK = row("pmovdw_store_k", ["", "", "vpmovdw"], Transfer, None, &[W, PH, R], (200, 0), |c, a: A| memory::to_halves(c, &a[2], &a[1], a[0][0])).writes();

    // One element for each lane, from or to places of its own: the lanes of the mask, which is lost, over the old ones.
    Gather = row("gather", ["", "vgatherdps", ""], Transfer, RACK, &[R, PL, R], (500, 2000), |c, a: A| memory::signed(c, &a[2], &a[1], &a[0])).destructive().loses(2);
    GatherK = row("gather_k", ["", "", "vgatherdps"], Transfer, RACK, &[W, R, PL], (925, 2600), |c, a: A| memory::masked(c, &a[0], &a[2], &a[1])).merging().loses(0);
    ScatterK = row("scatter_k", ["", "", "vscatterdps"], Transfer, None, &[W, PL, R], (1600, 0), |_, a: A| a[2]).writes().loses(0);

    // What narrows and widens lanes on the way to and from memory.
    Pshufb = row("pshufb", ["", "vpshufb", "vpshufb"], Cross, RACK, &[R, N], (100, 100), |c, a: A| memory::shuffle_bytes(c, &a[0], &a[1]));
    Punpcklwd = row("punpcklwd", ["punpcklwd", "", ""], Cross, RACK, &[R, N], (100, 100), |c, a: A| memory::interleave_halves(c, &a[0], &a[1])).two_address();
    Packuswb = row("packuswb", ["packuswb", "", ""], Cross, RACK, &[R, N], (100, 100), |c, a: A| memory::pack_unsigned(c, &a[0], &a[1])).two_address();

    // Control: comparisons, and the markers that read their flags. A comparison's result is both its operands.
    CompareLong = row("compare_long", ["cmp", "cmp", "cmp"], Control, None, &[L, I], (25, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
    CompareWord = row("compare_word", ["cmp", "cmp", "cmp"], Control, None, &[G, J], (25, 100), |_, a: A| words::both(words::signed(&a[0]), words::signed(&a[1]))).flow(Flow::Compare);
    ComparePlace = row("compare_place", ["cmp", "cmp", "cmp"], Control, None, &[L, P8], (50, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
    TestLong = row("test_long", ["test", "test", "test"], Control, None, &[L, L], (25, 100), |_, a: A| words::both(bits::long(&a[0]) & bits::long(&a[1]), 0)).flow(Flow::Compare);
    TestWord = row("test_word", ["test", "test", "test"], Control, None, &[G, G], (25, 100), |_, a: A| words::both(words::signed(&a[0]) & words::signed(&a[1]), 0)).flow(Flow::Compare);
    Kortest = row("kortest", ["", "", "kortestw"], Control, None, &[K, K], (100, 100), |_, a: A| words::both(u64::from((a[0][0] | a[1][0]) & 0xffff), 0)).flow(Flow::Compare);
    Loop = row("loop", ["loop", "loop", "loop"], Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::Loop);
    Again = row("again", ["jcc", "jcc", "jcc"], Control, None, &[], (50, 0), |_, _: A| ZERO).imm().flow(Flow::Again);
    If = row("if", ["jcc", "jcc", "jcc"], Control, None, &[], (50, 0), |_, _: A| ZERO).imm().flow(Flow::If);
    Else = row("else", ["jmp", "jmp", "jmp"], Control, None, &[], (100, 0), |_, _: A| ZERO).flow(Flow::Else);
    End = row("end", ["end", "end", "end"], Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::End);
    TrapUnless = row("trap_unless", ["jcc", "jcc", "jcc"], Control, None, &[], (50, 0), |_, _: A| ZERO).imm().flow(Flow::TrapUnless);
    Push = row("push", ["push", "push", "push"], Control, None, &[L], (100, 0), |_, a: A| a[0]).flow(Flow::Push);
    Pop = row("pop", ["pop", "pop", "pop"], Control, LONG, &[], (50, 500), |_, _: A| ZERO).flow(Flow::Pop);

    // Lane moves: within blocks of 128 bits, then across them. A mnemonic's `i`, `d` or `q` is its integer form.
    Pshufd = row("pshufd", ["pshufd", "vpshufd", "vpshufd"], Cross, RACK, &[M], (50, 100), |c, a: A| lanes::in_block(c, &a[0])).imm();
    Permilps = row("permilps", ["", "vpermilps", "vpermilps"], Cross, RACK, &[M], (100, 100), |c, a: A| lanes::in_block(c, &a[0])).imm();
    PermilpsBy = row("permilps_by", ["", "vpermilps", "vpermilps"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::in_block_by(c, &a[0], &a[1]));
    Shufps = row("shufps", ["shufps", "vshufps", "vshufps"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::shufps(c, &a[0], &a[1])).two_address().imm();
    Shufpd = row("shufpd", ["shufpd", "vshufpd", "vshufpd"], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::shufpd(c, &a[0], &a[1])).two_address().imm();
    Unpcklps = row("unpcklps", ["unpcklps", "vunpcklps", "vunpcklps"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 1, false)).two_address();
    Unpckhps = row("unpckhps", ["unpckhps", "vunpckhps", "vunpckhps"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 1, true)).two_address();
    Unpcklpd = row("unpcklpd", ["", "vunpcklpd", "vunpcklpd"], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 2, false));
    Unpckhpd = row("unpckhpd", ["unpckhpd", "vunpckhpd", "vunpckhpd"], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 2, true)).two_address();
    Punpckldq = row("punpckldq", ["punpckldq", "vpunpckldq", "vpunpckldq"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 1, false)).two_address();
    Punpckhdq = row("punpckhdq", ["punpckhdq", "vpunpckhdq", "vpunpckhdq"], Cross, RACK, &[R, M], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 1, true)).two_address();
    Punpcklqdq = row("punpcklqdq", ["punpcklqdq", "vpunpcklqdq", "vpunpcklqdq"], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 2, false)).two_address();
    Punpckhqdq = row("punpckhqdq", ["punpckhqdq", "vpunpckhqdq", "vpunpckhqdq"], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 2, true)).two_address();
    Movlhps = row("movlhps", ["movlhps", "", ""], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::unpack(c, &a[0], &a[1], 2, false)).two_address();
    Movhlps = row("movhlps", ["movhlps", "", ""], Cross, RACK, &[R, R], (100, 100), |c, a: A| lanes::movhlps(c, &a[0], &a[1])).two_address();
    Movss = row("movss", ["movss", "", ""], Cross, RACK, &[R, R], (33, 100), |c, a: A| lanes::low_over(c, &a[0], &a[1], 1)).two_address();
    Movsd = row("movsd", ["movsd", "", ""], Cross, RACK, &[R, R], (33, 100), |c, a: A| lanes::low_over(c, &a[0], &a[1], 2)).two_address();
    Pslldq = row("pslldq", ["pslldq", "vpslldq", "vpslldq"], Cross, RACK, &[R], (100, 100), |c, a: A| lanes::pslldq(c, &a[0])).two_address().imm();
    Psrldq = row("psrldq", ["psrldq", "vpsrldq", "vpsrldq"], Cross, RACK, &[R], (100, 100), |c, a: A| lanes::psrldq(c, &a[0])).two_address().imm();
    Palignr = row("palignr", ["", "vpalignr", "vpalignr"], Cross, RACK, &[R, N], (100, 100), |c, a: A| lanes::palignr(c, &a[0], &a[1])).imm();
    Blendps = row("blendps", ["", "vblendps", ""], Cross, RACK, &[R, M], (33, 100), |c, a: A| lanes::blend(c, &a[0], &a[1])).imm();
    Pblendd = row("pblendd", ["", "vpblendd", ""], Cross, RACK, &[R, M], (33, 100), |c, a: A| lanes::blend(c, &a[0], &a[1])).imm();
    Perm2f128 = row("perm2f128", ["", "vperm2f128", ""], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::perm2x128(c, &a[0], &a[1])).imm();
    Perm2i128 = row("perm2i128", ["", "vperm2i128", ""], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::perm2x128(c, &a[0], &a[1])).imm();
    Permpd = row("permpd", ["", "vpermpd", "vpermpd"], Cross, RACK, &[R], (100, 300), |c, a: A| lanes::pairs(c, &a[0])).imm();
    Permq = row("permq", ["", "vpermq", "vpermq"], Cross, RACK, &[R], (100, 300), |c, a: A| lanes::pairs(c, &a[0])).imm();
    Permps = row("permps", ["", "vpermps", "vpermps"], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::permute(c, &a[0], &a[1]));
    Permd = row("permd", ["", "vpermd", "vpermd"], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::permute(c, &a[0], &a[1]));
    Alignd = row("alignd", ["", "", "valignd"], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::align(c, &a[0], &a[1])).imm();
    Shuff32x4 = row("shuff32x4", ["", "", "vshuff32x4"], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::blocks(c, &a[0], &a[1])).imm();
    Shufi32x4 = row("shufi32x4", ["", "", "vshufi32x4"], Cross, RACK, &[R, M], (100, 300), |c, a: A| lanes::blocks(c, &a[0], &a[1])).imm();
    Permt2ps = row("permt2ps", ["", "", "vpermt2ps"], Cross, RACK, &[R, R, M], (100, 300), |c, a: A| lanes::permute2(c, &a[0], &a[1], &a[2])).destructive().forms(&[form(X86::Permi2ps, [1, 0, 2])]);
    Permi2ps = row("permi2ps", ["", "", "vpermi2ps"], Cross, RACK, &[R, R, M], (100, 300), |c, a: A| lanes::permute2(c, &a[1], &a[0], &a[2])).destructive();
    Permt2d = row("permt2d", ["", "", "vpermt2d"], Cross, RACK, &[R, R, M], (100, 300), |c, a: A| lanes::permute2(c, &a[0], &a[1], &a[2])).destructive().forms(&[form(X86::Permi2d, [1, 0, 2])]);
    Permi2d = row("permi2d", ["", "", "vpermi2d"], Cross, RACK, &[R, R, M], (100, 300), |c, a: A| lanes::permute2(c, &a[1], &a[0], &a[2])).destructive();
    Pextrd = row("pextrd", ["", "vpextrd", "vpextrd"], Boundary, WORD, &[X], (100, 300), |c, a: A| lanes::one(c, &a[0])).imm();
    Pinsrd = row("pinsrd", ["", "vpinsrd", ""], Boundary, LOW, &[X, G], (200, 200), |c, a: A| lanes::replaced(c, &a[0], a[1][0])).imm();

    // Under opmasks: zeroing, then merging.
    @masked {
        Addps: AddpsZ AddpsM;
        Subps: SubpsZ SubpsM;
        Mulps: MulpsZ MulpsM;
        Divps: DivpsZ DivpsM;
        Sqrtps: SqrtpsZ SqrtpsM;
        Minps: MinpsZ MinpsM;
        Maxps: MaxpsZ MaxpsM;
        Fmadd213ps: Fmadd213psZ Fmadd213psM;
        Fmadd132ps: Fmadd132psZ Fmadd132psM;
        Fmadd231ps: Fmadd231psZ Fmadd231psM;
        Fmsub213ps: Fmsub213psZ Fmsub213psM;
        Fmsub132ps: Fmsub132psZ Fmsub132psM;
        Fmsub231ps: Fmsub231psZ Fmsub231psM;
        Fnmadd213ps: Fnmadd213psZ Fnmadd213psM;
        Fnmadd132ps: Fnmadd132psZ Fnmadd132psM;
        Fnmadd231ps: Fnmadd231psZ Fnmadd231psM;
        Fnmsub213ps: Fnmsub213psZ Fnmsub213psM;
        Fnmsub132ps: Fnmsub132psZ Fnmsub132psM;
        Fnmsub231ps: Fnmsub231psZ Fnmsub231psM;
        Andps: AndpsZ AndpsM;
        Andnps: AndnpsZ AndnpsM;
        Orps: OrpsZ OrpsM;
        Xorps: XorpsZ XorpsM;
        Pand: PandZ PandM;
        Pandn: PandnZ PandnM;
        Por: PorZ PorM;
        Pxor: PxorZ PxorM;
        Paddd: PadddZ PadddM;
        Psubd: PsubdZ PsubdM;
        Pmulld: PmulldZ PmulldM;
        Pabsd: PabsdZ PabsdM;
        Pminsd: PminsdZ PminsdM;
        Pmaxsd: PmaxsdZ PmaxsdM;
        Pminud: PminudZ PminudM;
        Pmaxud: PmaxudZ PmaxudM;
        Pslld: PslldZ PslldM;
        Psrld: PsrldZ PsrldM;
        Psrad: PsradZ PsradM;
        CmppsK: CmppsKZ;
        PcmpdK: PcmpdKZ;
        PcmpudK: PcmpudKZ;
        Cvtdq2ps: Cvtdq2psZ Cvtdq2psM;
        Cvtudq2ps: Cvtudq2psZ Cvtudq2psM;
        Cvtps2dq: Cvtps2dqZ Cvtps2dqM;
        Cvtps2udq: Cvtps2udqZ Cvtps2udqM;
        Roundps: RoundpsZ RoundpsM;
        Rangeps: RangepsZ RangepsM;
    }
}

impl X86 {
    /// Its row.
    pub const fn info(self) -> &'static MachInfo {
        &TABLE[self as usize]
    }

    /// The operation with this name in dumps.
    pub fn from_name(name: &str) -> Option<X86> {
        ALL.iter().copied().find(|op| op.info().name == name)
    }
}

/// Idioms of the profile without VEX.
const SSE_IDIOMS: Idioms = Idioms {
    load: MachOp::X86(X86::Load),
    constant: |lanes| match lanes {
        [0] => Some((MachOp::X86(X86::Zero), None)),
        [u32::MAX] => Some((MachOp::X86(X86::Ones), None)),
        _ => None,
    },
    spread: None,
    masks: None,
    registers: Some(SSE_REGISTERS),
    control: Some(CONTROL),
};

/// Control is the same with each encoding.
const CONTROL: ControlIdioms = ControlIdioms {
    open_loop: MachOp::X86(X86::Loop),
    again: MachOp::X86(X86::Again),
    open_if: MachOp::X86(X86::If),
    otherwise: MachOp::X86(X86::Else),
    end: MachOp::X86(X86::End),
    trap_unless: MachOp::X86(X86::TrapUnless),
    compare_long: Some(MachOp::X86(X86::CompareLong)),
    compare_word: Some(MachOp::X86(X86::CompareWord)),
    copy_word: MachOp::X86(X86::MoveLong),
    copy_long: None,
    copy_rack: MachOp::X86(X86::Mov),
    load_rack: Some(MachOp::X86(X86::RackLoad)),
    reaches: |_, _| true,
    indexed_element: false,
    words: Some(WordIdioms {
        push: MachOp::X86(X86::Push),
        pop: MachOp::X86(X86::Pop),
        argument: MachOp::X86(X86::TakeArgument),
    }),
};

const SSE_REGISTERS: RegisterIdioms = RegisterIdioms {
    load_splat: None,
    copy_rack: MachOp::X86(X86::Mov),
    copy_word: MachOp::X86(X86::MoveWord),
    leave_racks: None,
    first_high: None,
    ret: MachOp::X86(X86::Ret),
};

/// Idioms with VEX: one instruction broadcasts, and the upper halves are cleared for the caller's SSE code.
const VEX_IDIOMS: Idioms = Idioms { registers: Some(VEX_REGISTERS), ..SSE_IDIOMS };

const VEX_REGISTERS: RegisterIdioms = RegisterIdioms {
    load_splat: Some(MachOp::X86(X86::LoadSplat)),
    leave_racks: Some(MachOp::X86(X86::Vzeroupper)),
    first_high: Some(8),
    ..SSE_REGISTERS
};

/// Idioms with EVEX: masks have registers of their own.
const EVEX_IDIOMS: Idioms = Idioms {
    registers: Some(RegisterIdioms { first_high: None, ..VEX_REGISTERS }),
    masks: Some(MaskIdioms {
        none: MachOp::X86(X86::Kzero),
        all: MachOp::X86(X86::Kones),
        copy: MachOp::X86(X86::Kmov),
        to_rack: MachOp::X86(X86::MaskToRack),
        from_rack: MachOp::X86(X86::RackToMask),
    }),
    ..VEX_IDIOMS
};

/// The idioms of an x86 profile.
pub const fn idioms(profile: Profile) -> &'static Idioms {
    match Space::of(profile) {
        Some(Space::Evex) => &EVEX_IDIOMS,
        Some(Space::Vex) => &VEX_IDIOMS,
        _ => &SSE_IDIOMS,
    }
}

fn fma(ctx: Ctx, a: &Bits, b: &Bits, c: &Bits, negate_product: bool, negate_addend: bool) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = bits::fused(a[lane], b[lane], c[lane], negate_product, negate_addend);
    }
    out
}

fn count(bits: &Bits) -> u64 {
    u64::from(bits[0]) | u64::from(bits[1]) << 32
}

fn shift(ctx: Ctx, a: &Bits, count: u64, f: impl Fn(u32, u32) -> u32, signed: bool) -> Bits {
    bits::map1(ctx, a, |x| match (count > 31, signed) {
        (false, _) => f(x, count as u32),
        (true, true) => f(x, 31),
        (true, false) => 0,
    })
}

fn ternary(ctx: Ctx, x: &Bits, y: &Bits, z: &Bits) -> Bits {
    let holds = |case: u32| ctx.imm >> case & 1 == 1;
    let term = |case: u32, bits: u32, of: u32| if case >> of & 1 == 1 { bits } else { !bits };
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        let cases = (0..8).filter(|&case| holds(case));
        out[lane] =
            cases.fold(0, |all, case| all | term(case, x[lane], 2) & term(case, y[lane], 1) & term(case, z[lane], 0));
    }
    out
}

fn choose(ctx: Ctx, otherwise: &Bits, then: &Bits, holds: impl Fn(usize) -> bool) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = if holds(lane) { then[lane] } else { otherwise[lane] };
    }
    out
}

fn low(bits: &Bits, lanes: usize) -> Bits {
    let mut out = ZERO;
    out[..lanes].copy_from_slice(&bits[..lanes]);
    out
}

/// The predicate that says of `(b, a)` what `imm` says of `(a, b)`, where the space has one.
pub const fn mirror(op: X86, imm: u8, sse: bool) -> Option<u8> {
    match op.plain() {
        X86::PcmpdK | X86::PcmpudK => Some(match imm & 7 {
            1 => 6,
            2 => 5,
            5 => 2,
            6 => 1,
            same => same,
        }),
        _ => match imm {
            0 | 3 | 4 | 7 => Some(imm),
            _ if sse => None,
            8 | 11 | 12 | 15 => Some(imm),
            1 => Some(14),
            2 => Some(13),
            5 => Some(10),
            6 => Some(9),
            9 => Some(6),
            10 => Some(5),
            13 => Some(2),
            14 => Some(1),
            _ => None,
        },
    }
}
