//! The x86-64 table: every instruction that the three x86 profiles may emit.
//!
//! Mnemonics stand for SSE, VEX (256 bits) and EVEX (512 bits) in that order, `""` where the profile has no such
//! instruction. Costs are reciprocal throughput and latency in hundredths of a cycle, rounded from uops.info for
//! Skylake-X and Ice Lake (512-bit figures for two FMA units).

use super::bits::{self, Bits, ZERO};
use super::{Cost, Ctx, Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, Semantics, Slot, View};

const fn slot(view: View, mem: Mem) -> Slot {
    Slot { view, mem, opmask: false }
}

/// A rack in a register.
const R: Slot = slot(View::Rack, Mem::No);
/// A rack in a register or in memory.
const M: Slot = slot(View::Rack, Mem::Any);
/// A rack in a register, in EVEX also in memory.
const E: Slot = slot(View::Rack, Mem::AnyEvex);
/// The low 128 bits of a rack register.
const X: Slot = slot(View::Low, Mem::No);
/// A mask register.
const K: Slot = slot(View::Mask, Mem::No);
/// The opmask.
const W: Slot = Slot { view: View::Mask, mem: Mem::No, opmask: true };
/// A general register.
const G: Slot = slot(View::Word, Mem::No);

const fn column(mnemonic: &'static str) -> Option<&'static str> {
    if mnemonic.is_empty() { None } else { Some(mnemonic) }
}

const fn row(
    name: &'static str,
    mnemonics: [&'static str; 3],
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    let cost = Cost { throughput: cost.0, latency: cost.1 };
    MachInfo {
        name,
        mnemonics: [column(mnemonics[0]), column(mnemonics[1]), column(mnemonics[2])],
        kind,
        dst,
        slots,
        imm: false,
        tied: [None; 3],
        zeroing: false,
        forms: &[],
        cost: [cost; 3],
        eval,
    }
}

impl MachInfo {
    /// The SSE form overwrites its first operand.
    const fn two_address(mut self) -> MachInfo {
        self.tied[0] = Some(0);
        self
    }

    /// Every form overwrites its first operand.
    const fn destructive(mut self) -> MachInfo {
        self.tied = [Some(0); 3];
        self
    }

    const fn imm(mut self) -> MachInfo {
        self.imm = true;
        self
    }

    const fn zeroing(mut self) -> MachInfo {
        self.zeroing = true;
        self
    }

    const fn forms(mut self, forms: &'static [Form]) -> MachInfo {
        self.forms = forms;
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
    ($($op:ident = $row:expr;)*) => {
        /// An x86-64 machine operation: an index into [`TABLE`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum X86 { $($op),* }

        /// Every operation, in the table's order.
        pub const ALL: &[X86] = &[$(X86::$op),*];

        /// The table.
        pub static TABLE: &[MachInfo] = &[$($row),*];
    };
}

const fn commuted(op: X86) -> Form {
    Form { op: MachOp::X86(op), from: [1, 0, 2], imm: ImmMap::Same }
}

const fn form(op: X86, from: [u8; 3]) -> Form {
    Form { op: MachOp::X86(op), from, imm: ImmMap::Same }
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

use Kind::{Arith, Boundary, Choose, Compare, Const, Control, Cross, Logic, Move};

type A<'a> = &'a [Bits];

table! {
    // Floating point.
    Addps = row("addps", ["addps", "vaddps", "vaddps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x + y))).two_address().forms(&[commuted(X86::Addps)]);
    Subps = row("subps", ["subps", "vsubps", "vsubps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x - y))).two_address();
    Mulps = row("mulps", ["mulps", "vmulps", "vmulps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x * y))).two_address().forms(&[commuted(X86::Mulps)]);
    Divps = row("divps", ["divps", "vdivps", "vdivps"], Arith, RACK, &[R, M], (300, 1100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x / y))).two_address().wide(500, 1000);
    Sqrtps = row("sqrtps", ["sqrtps", "vsqrtps", "vsqrtps"], Arith, RACK, &[M], (300, 1200), |c, a: A| bits::map1(c, &a[0], |x| bits::float1(x, f32::sqrt))).wide(600, 1200);
    Minps = row("minps", ["minps", "vminps", "vminps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::pick(x, y, |x, y| x < y))).two_address();
    Maxps = row("maxps", ["maxps", "vmaxps", "vmaxps"], Arith, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::pick(x, y, |x, y| x > y))).two_address();
    Fmadd213ps = row("fmadd213ps", ["", "vfmadd213ps", "vfmadd213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], false, false)).destructive().forms(fma_forms!(Fmadd132ps Fmadd213ps Fmadd231ps));
    Fmadd132ps = row("fmadd132ps", ["", "vfmadd132ps", "vfmadd132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], false, false)).destructive();
    Fmadd231ps = row("fmadd231ps", ["", "vfmadd231ps", "vfmadd231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], false, false)).destructive();
    Fmsub213ps = row("fmsub213ps", ["", "vfmsub213ps", "vfmsub213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], false, true)).destructive().forms(fma_forms!(Fmsub132ps Fmsub213ps Fmsub231ps));
    Fmsub132ps = row("fmsub132ps", ["", "vfmsub132ps", "vfmsub132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], false, true)).destructive();
    Fmsub231ps = row("fmsub231ps", ["", "vfmsub231ps", "vfmsub231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], false, true)).destructive();
    Fnmadd213ps = row("fnmadd213ps", ["", "vfnmadd213ps", "vfnmadd213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], true, false)).destructive().forms(fma_forms!(Fnmadd132ps Fnmadd213ps Fnmadd231ps));
    Fnmadd132ps = row("fnmadd132ps", ["", "vfnmadd132ps", "vfnmadd132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], true, false)).destructive();
    Fnmadd231ps = row("fnmadd231ps", ["", "vfnmadd231ps", "vfnmadd231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], true, false)).destructive();
    Fnmsub213ps = row("fnmsub213ps", ["", "vfnmsub213ps", "vfnmsub213ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[0], &a[2], true, true)).destructive().forms(fma_forms!(Fnmsub132ps Fnmsub213ps Fnmsub231ps));
    Fnmsub132ps = row("fnmsub132ps", ["", "vfnmsub132ps", "vfnmsub132ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[0], &a[2], &a[1], true, true)).destructive();
    Fnmsub231ps = row("fnmsub231ps", ["", "vfnmsub231ps", "vfnmsub231ps"], Arith, RACK, &[R, R, M], (50, 400), |c, a: A| fma(c, &a[1], &a[2], &a[0], true, true)).destructive();

    // Bitwise logic, once in the floating-point domain and once in the integer one.
    Andps = row("andps", ["andps", "vandps", "vandps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & y)).two_address().wide(33, 50).forms(&[commuted(X86::Andps)]);
    Andnps = row("andnps", ["andnps", "vandnps", "vandnps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| !x & y)).two_address().wide(33, 50);
    Orps = row("orps", ["orps", "vorps", "vorps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | y)).two_address().wide(33, 50).forms(&[commuted(X86::Orps)]);
    Xorps = row("xorps", ["xorps", "vxorps", "vxorps"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x ^ y)).two_address().wide(33, 50).forms(&[commuted(X86::Xorps)]);
    Pand = row("pand", ["pand", "vpand", "vpandd"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & y)).two_address().wide(33, 50).forms(&[commuted(X86::Pand)]);
    Pandn = row("pandn", ["pandn", "vpandn", "vpandnd"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| !x & y)).two_address().wide(33, 50);
    Por = row("por", ["por", "vpor", "vpord"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | y)).two_address().wide(33, 50).forms(&[commuted(X86::Por)]);
    Pxor = row("pxor", ["pxor", "vpxor", "vpxord"], Logic, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x ^ y)).two_address().wide(33, 50).forms(&[commuted(X86::Pxor)]);

    // Integers.
    Paddd = row("paddd", ["paddd", "vpaddd", "vpaddd"], Arith, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_add)).two_address().wide(33, 50).forms(&[commuted(X86::Paddd)]);
    Psubd = row("psubd", ["psubd", "vpsubd", "vpsubd"], Arith, RACK, &[R, M], (33, 100), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_sub)).two_address().wide(33, 50);
    Pmulld = row("pmulld", ["", "vpmulld", "vpmulld"], Arith, RACK, &[R, M], (100, 1000), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_mul)).forms(&[commuted(X86::Pmulld)]);
    Pmuludq = row("pmuludq", ["pmuludq", "vpmuludq", "vpmuludq"], Arith, RACK, &[R, R], (50, 500), |c, a: A| bits::map64(c, &a[0], &a[1], |x, y| (x & 0xffff_ffff) * (y & 0xffff_ffff))).two_address().forms(&[commuted(X86::Pmuludq)]);
    Pabsd = row("pabsd", ["", "vpabsd", "vpabsd"], Arith, RACK, &[M], (50, 100), |c, a: A| bits::map1(c, &a[0], |x| (x as i32).wrapping_abs() as u32));
    Pminsd = row("pminsd", ["", "vpminsd", "vpminsd"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).min(y as i32) as u32)).forms(&[commuted(X86::Pminsd)]);
    Pmaxsd = row("pmaxsd", ["", "vpmaxsd", "vpmaxsd"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).max(y as i32) as u32)).forms(&[commuted(X86::Pmaxsd)]);
    Pminud = row("pminud", ["", "vpminud", "vpminud"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.min(y))).forms(&[commuted(X86::Pminud)]);
    Pmaxud = row("pmaxud", ["", "vpmaxud", "vpmaxud"], Arith, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.max(y))).forms(&[commuted(X86::Pmaxud)]);

    // Shifts by an immediate, then by the low 64 bits of a register; a count past the width clears (or fills).
    Pslld = row("pslld", ["pslld", "vpslld", "vpslld"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| x << n, false)).two_address().imm();
    Psrld = row("psrld", ["psrld", "vpsrld", "vpsrld"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| x >> n, false)).two_address().imm();
    Psrad = row("psrad", ["psrad", "vpsrad", "vpsrad"], Logic, RACK, &[E], (50, 100), |c, a: A| shift(c, &a[0], c.imm.into(), |x, n| ((x as i32) >> n) as u32, true)).two_address().imm();
    Psllq = row("psllq", ["psllq", "vpsllq", "vpsllq"], Logic, RACK, &[R], (50, 100), |c, a: A| bits::map64(c, &a[0], &a[0], |x, _| x.checked_shl(c.imm.into()).unwrap_or(0))).two_address().imm();
    Psrlq = row("psrlq", ["psrlq", "vpsrlq", "vpsrlq"], Logic, RACK, &[R], (50, 100), |c, a: A| bits::map64(c, &a[0], &a[0], |x, _| x.checked_shr(c.imm.into()).unwrap_or(0))).two_address().imm();
    PslldBy = row("pslld_by", ["pslld", "vpslld", "vpslld"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| x << n, false)).two_address();
    PsrldBy = row("psrld_by", ["psrld", "vpsrld", "vpsrld"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| x >> n, false)).two_address();
    PsradBy = row("psrad_by", ["psrad", "vpsrad", "vpsrad"], Logic, RACK, &[R, X], (100, 200), |c, a: A| shift(c, &a[0], count(&a[1]), |x, n| ((x as i32) >> n) as u32, true)).two_address();

    // Comparisons: to a rack of lane masks, then to a mask register.
    Cmpps = row("cmpps", ["cmpps", "vcmpps", ""], Compare, RACK, &[R, M], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(bits::float_predicate(c.imm, x, y)))).two_address().imm().forms(&[Form { op: MachOp::X86(X86::Cmpps), from: [1, 0, 2], imm: ImmMap::Mirror }]);
    Pcmpeqd = row("pcmpeqd", ["pcmpeqd", "vpcmpeqd", ""], Compare, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x == y))).two_address().forms(&[commuted(X86::Pcmpeqd)]);
    Pcmpgtd = row("pcmpgtd", ["pcmpgtd", "vpcmpgtd", ""], Compare, RACK, &[R, M], (50, 100), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x as i32 > y as i32))).two_address();
    CmppsK = row("cmpps_k", ["", "", "vcmpps"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::float_predicate(c.imm, x, y))).imm().forms(&[Form { op: MachOp::X86(X86::CmppsK), from: [1, 0, 2], imm: ImmMap::Mirror }]);
    PcmpdK = row("pcmpd_k", ["", "", "vpcmpd"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::int_predicate(c.imm, x as i32, y as i32))).imm().forms(&[Form { op: MachOp::X86(X86::PcmpdK), from: [1, 0, 2], imm: ImmMap::Mirror }]);
    PcmpudK = row("pcmpud_k", ["", "", "vpcmpud"], Compare, MASK, &[R, M], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[1], |x, y| bits::int_predicate(c.imm, x, y))).imm().forms(&[Form { op: MachOp::X86(X86::PcmpudK), from: [1, 0, 2], imm: ImmMap::Mirror }]);

    // Choices: operand 1 where the mask's sign bit is set, else operand 0 (VEX); by an opmask (EVEX).
    Blendvps = row("blendvps", ["", "vblendvps", ""], Choose, RACK, &[R, M, R], (67, 200), |c, a: A| choose(c, &a[0], &a[1], |lane| a[2][lane] >> 31 == 1));
    Blendmps = row("blendmps", ["", "", "vblendmps"], Choose, RACK, &[W, R, M], (50, 100), |c, a: A| choose(c, &a[1], &a[2], |lane| a[0][0] >> lane & 1 == 1));
    Blendmd = row("blendmd", ["", "", "vpblendmd"], Choose, RACK, &[W, R, M], (50, 100), |c, a: A| choose(c, &a[1], &a[2], |lane| a[0][0] >> lane & 1 == 1));
    Keepps = row("keepps", ["", "", "vmovaps"], Choose, RACK, &[W, R], (50, 100), |c, a: A| choose(c, &ZERO, &a[1], |lane| a[0][0] >> lane & 1 == 1)).zeroing();

    // Masks in k registers.
    Kandw = row("kandw", ["", "", "kandw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| x & y)).forms(&[commuted(X86::Kandw)]);
    Kandnw = row("kandnw", ["", "", "kandnw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| !x & y));
    Korw = row("korw", ["", "", "korw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| x | y)).forms(&[commuted(X86::Korw)]);
    Kxorw = row("kxorw", ["", "", "kxorw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| x ^ y)).forms(&[commuted(X86::Kxorw)]);
    Kxnorw = row("kxnorw", ["", "", "kxnorw"], Logic, MASK, &[K, K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[1], |x, y| !(x ^ y))).forms(&[commuted(X86::Kxnorw)]);
    Knotw = row("knotw", ["", "", "knotw"], Logic, MASK, &[K], (100, 100), |_, a: A| bits::mask2(&a[0], &a[0], |x, _| !x));
    Kzero = row("kzero", ["", "", "kxorw"], Const, MASK, &[], (100, 100), |_, _: A| ZERO);
    Kones = row("kones", ["", "", "kxnorw"], Const, MASK, &[], (100, 100), |_, _: A| bits::mask2(&ZERO, &ZERO, |_, _| !0));
    Kmov = row("kmov", ["", "", "kmovw"], Move, MASK, &[K], (100, 100), |_, a: A| a[0]);

    // Copies and constants. `zero` and `ones` name one register three times, which the machine knows to need no input.
    Mov = row("mov", ["movaps", "vmovaps", "vmovaps"], Move, RACK, &[R], (25, 100), |_, a: A| a[0]);
    Load = row("load", ["movaps", "vmovaps", "vmovaps"], Const, RACK, &[slot(View::Rack, Mem::Rack)], (50, 700), |_, a: A| a[0]);
    LoadSplat = row("load_splat", ["", "vbroadcastss", "vbroadcastss"], Const, RACK, &[slot(View::Rack, Mem::Element)], (50, 700), |_, a: A| a[0]);
    Zero = row("zero", ["xorps", "vxorps", "vpxord"], Const, RACK, &[], (25, 0), |_, _: A| ZERO);
    Ones = row("ones", ["pcmpeqd", "vpcmpeqd", "vpternlogd"], Const, RACK, &[], (33, 100), |c, _: A| bits::map1(c, &ZERO, |_| u32::MAX));

    // The C boundary.
    MovdIn = row("movd_in", ["movd", "vmovd", "vmovd"], Boundary, LOW, &[G], (100, 200), |_, a: A| low(&a[0], 1));
    MovdOut = row("movd_out", ["movd", "vmovd", "vmovd"], Boundary, WORD, &[X], (100, 200), |_, a: A| low(&a[0], 1));
    SplatWord = row("splat_word", ["", "", "vpbroadcastd"], Boundary, RACK, &[G], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    SplatLow = row("splat_low", ["", "vbroadcastss", "vbroadcastss"], Boundary, RACK, &[X], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    SplatLowd = row("splat_lowd", ["", "vpbroadcastd", "vpbroadcastd"], Boundary, RACK, &[X], (100, 300), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0]));
    Splatps = row("splatps", ["shufps", "", ""], Boundary, RACK, &[R], (100, 100), |c, a: A| bits::map1(c, &ZERO, |_| a[0][0])).destructive();
    Pshufd = row("pshufd", ["pshufd", "vpshufd", "vpshufd"], Cross, RACK, &[M], (50, 100), |c, a: A| pshufd(c, &a[0])).imm();
    RackToMask = row("rack_to_mask", ["", "", "vpmovd2m"], Boundary, MASK, &[R], (100, 300), |c, a: A| bits::test2(c, &a[0], &a[0], |x, _| x >> 31 == 1));
    MaskToRack = row("mask_to_rack", ["", "", "vpmovm2d"], Boundary, RACK, &[K], (100, 300), |c, a: A| choose(c, &ZERO, &[u32::MAX; 16], |lane| a[0][0] >> lane & 1 == 1));
    Vzeroupper = row("vzeroupper", ["", "vzeroupper", "vzeroupper"], Control, None, &[], (100, 100), |_, _: A| ZERO);
    Ret = row("ret", ["ret", "ret", "ret"], Control, None, &[], (100, 100), |_, _: A| ZERO);
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
pub const SSE_IDIOMS: Idioms = Idioms {
    zero: MachOp::X86(X86::Zero),
    ones: MachOp::X86(X86::Ones),
    load: MachOp::X86(X86::Load),
    load_splat: MachOp::X86(X86::LoadSplat),
    no_lanes: MachOp::X86(X86::Kzero),
    all_lanes: MachOp::X86(X86::Kones),
    move_rack: MachOp::X86(X86::Mov),
    move_mask: MachOp::X86(X86::Kmov),
    mask_to_rack: MachOp::X86(X86::MaskToRack),
    rack_to_mask: MachOp::X86(X86::RackToMask),
    leave_racks: None,
    ret: MachOp::X86(X86::Ret),
};

/// Idioms of the profiles with VEX: as before, and the upper halves are cleared for the caller's SSE code.
pub const AVX_IDIOMS: Idioms = Idioms { leave_racks: Some(MachOp::X86(X86::Vzeroupper)), ..SSE_IDIOMS };

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

fn pshufd(ctx: Ctx, a: &Bits) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = a[lane & !3 | usize::from(ctx.imm >> (2 * (lane & 3)) & 3)];
    }
    out
}

/// The predicate that says of `(b, a)` what `imm` says of `(a, b)`, where the space has one.
pub const fn mirror(op: X86, imm: u8, sse: bool) -> Option<u8> {
    match op {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_find_their_rows() {
        for &op in ALL {
            assert_eq!(X86::from_name(op.info().name), Some(op));
        }
    }

    #[test]
    fn every_form_means_the_same() {
        let ctx = |imm| Ctx { lanes: 4, imm };
        let words = [0x3f80_0000, 0xc048_f5c3, 0x0000_0001, 0x7f80_0000, 0x8000_0000, 0x4b80_0001, 7, u32::MAX];
        let operand = |seed: usize| {
            let mut bits = ZERO;
            for (lane, word) in bits.iter_mut().enumerate().take(4) {
                *word = words[(seed * 3 + lane * 5 + seed * lane) % words.len()];
            }
            bits
        };
        for &op in ALL {
            let row = op.info();
            for form in row.forms {
                let MachOp::X86(other) = form.op;
                let arity = row.slots.len();
                assert_eq!(other.info().slots.len(), arity);
                for seed in 0..8 {
                    let args: Vec<Bits> = (0..arity).map(|i| operand(seed + i)).collect();
                    let moved: Vec<Bits> = (0..arity).map(|i| args[usize::from(form.from[i])]).collect();
                    for imm in 0..if row.imm { 16 } else { 1 } {
                        let imm_there = match form.imm {
                            ImmMap::Same => Some(imm),
                            ImmMap::Mirror => mirror(op, imm, false),
                        };
                        let Some(imm_there) = imm_there else { continue };
                        let (here, there) = ((row.eval)(ctx(imm), &args), (other.info().eval)(ctx(imm_there), &moved));
                        for lane in 0..4 {
                            let nan = |x: u32| f32::from_bits(x).is_nan() && x != u32::MAX;
                            assert!(here[lane] == there[lane] || nan(here[lane]) && nan(there[lane]), "{}", row.name);
                        }
                    }
                }
            }
        }
    }
}
