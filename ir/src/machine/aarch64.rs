//! The AArch64 table: every instruction of Advanced SIMD that `aarch64-neon` may emit.
//!
//! Names and semantics follow the Arm Architecture Reference Manual (DDI 0487, sections C6.2 and C7.2). Costs are reciprocal
//! throughput and latency in hundredths of a cycle, from the Neoverse N1 software optimization guide (sections 3.9 to 3.21).

mod float;
mod lanes;
pub mod numbers;
#[cfg(test)]
mod tests;

use super::bits::{self, Bits, ZERO};
use super::{ControlIdioms, Ctx, Flow, Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, RegisterIdioms, Semantics};
use super::{Slot, VARIANTS, View, WordIdioms, machine_table, words};
pub use float::expanded;
pub use numbers::with_number;

const fn row(
    name: &'static str,
    mnemonic: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    super::row(name, [mnemonic, "", ""], kind, dst, slots, cost, eval)
}

/// A rack in a register.
const R: Slot = Slot::new(View::Rack, Mem::No);
/// A general register.
const G: Slot = Slot::new(View::Word, Mem::No);
/// A general register as part of an address.
const P: Slot = Slot::new(View::Address, Mem::No);
/// A literal, which stands after the function's code.
const L: Slot = Slot::new(View::Rack, Mem::Rack);
/// A table in memory.
const T: Slot = Slot::new(View::Rack, Mem::Table);
/// All of a general register.
const X: Slot = Slot::new(View::Long, Mem::No);
/// A number, for all of a general register and for its word.
const N: Slot = Slot::new(View::Long, Mem::Constant);
const W: Slot = Slot::new(View::Word, Mem::Constant);
/// A word of the caller's frame.
const F: Slot = Slot::new(View::Frame, Mem::No);
/// Places of this many bytes.
const P1: Slot = place(View::Word, 1);
const P2: Slot = place(View::Word, 2);
const P4: Slot = place(View::Word, 4);
const P8: Slot = place(View::Long, 8);
const P16: Slot = place(View::Rack, 16);

const fn place(view: View, bytes: u8) -> Slot {
    Slot::new(view, Mem::Place([bytes; VARIANTS]))
}

const RACK: Option<View> = Some(View::Rack);
const WORD: Option<View> = Some(View::Word);
const ADDRESS: Option<View> = Some(View::Address);
const LONG: Option<View> = Some(View::Long);

const SIGN: u32 = 0x8000_0000;

const fn form(op: A64, from: [u8; 3]) -> Form {
    Form { op: MachOp::A64(op), from: [from[0], from[1], from[2], 3], imm: ImmMap::Same }
}

const fn factors_swapped(op: A64) -> Form {
    form(op, [0, 2, 1])
}

use Kind::{Arith, Boundary, Choose, Compare, Const, Control, Cross, Logic, Move, Transfer, Word};

type A<'a> = &'a [Bits];

/// Declares the table: `Op "operands" = row;` each.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($op:ident $syntax:literal = $row:expr;)* }) => {
        machine_table! { $(#[$doc])* $name { $($op = $row;)* } }

        impl $name {
            /// How its operands are written after the mnemonic, as assemblers read and disassemblers print them. `{d}` stands
            /// for the destination's number, `{0}`, `{1}` and so on for those of the operands (a literal's for its label),
            /// `{i}` for the immediate, `{l}` and `{h}` for its low and high four bits, `{f}` for the number that it
            /// encodes, and `{m}` for its eight bits, each as a byte of its own; other braces stand for themselves. For a
            /// place or a word of the caller's frame stands its address, for a number the number. Jumps, and markers that have no bytes, have none.
            pub const fn syntax(self) -> &'static str {
                match self {
                    $($name::$op => $syntax),*
                }
            }
        }
    };
}

table! {
    /// An AArch64 machine operation: an index into [`TABLE`].
    A64 {
        // Floating point.
        Fadd "v{d}.4s, v{0}.4s, v{1}.4s" = row("fadd", "fadd", Arith, RACK, &[R, R], (50, 200), |c, a: A| float::map2(c, &a[0], &a[1], |x, y| x + y)).forms(&[commuted(A64::Fadd)]).raises();
        Fsub "v{d}.4s, v{0}.4s, v{1}.4s" = row("fsub", "fsub", Arith, RACK, &[R, R], (50, 200), |c, a: A| float::map2(c, &a[0], &a[1], |x, y| x - y)).raises();
        Fmul "v{d}.4s, v{0}.4s, v{1}.4s" = row("fmul", "fmul", Arith, RACK, &[R, R], (50, 300), |c, a: A| float::map2(c, &a[0], &a[1], |x, y| x * y)).forms(&[commuted(A64::Fmul)]).raises();
        FmulLane "v{d}.4s, v{0}.4s, v{1}.s[{i}]" = row("fmul_lane", "fmul", Arith, RACK, &[R, R], (50, 300), |c, a: A| float::by_lane(c, &a[0], &a[1], |x, y| x * y)).imm().raises();
        Fdiv "v{d}.4s, v{0}.4s, v{1}.4s" = row("fdiv", "fdiv", Arith, RACK, &[R, R], (700, 1000), |c, a: A| float::map2(c, &a[0], &a[1], |x, y| x / y)).raises();
        Fsqrt "v{d}.4s, v{0}.4s" = row("fsqrt", "fsqrt", Arith, RACK, &[R], (700, 1000), |c, a: A| float::map1(c, &a[0], f32::sqrt)).raises();
        Fneg "v{d}.4s, v{0}.4s" = row("fneg", "fneg", Arith, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| x ^ SIGN));
        Fabs "v{d}.4s, v{0}.4s" = row("fabs", "fabs", Arith, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| x & !SIGN));
        Fmin "v{d}.4s, v{0}.4s, v{1}.4s" = row("fmin", "fmin", Arith, RACK, &[R, R], (50, 200), |c, a: A| float::map2(c, &a[0], &a[1], float::least)).forms(&[commuted(A64::Fmin)]).raises();
        Fmax "v{d}.4s, v{0}.4s, v{1}.4s" = row("fmax", "fmax", Arith, RACK, &[R, R], (50, 200), |c, a: A| float::map2(c, &a[0], &a[1], float::greatest)).forms(&[commuted(A64::Fmax)]).raises();
        Fmaxnm "v{d}.4s, v{0}.4s, v{1}.4s" = row("fmaxnm", "fmaxnm", Arith, RACK, &[R, R], (50, 200), |c, a: A| float::greatest_number(c, &a[0], &a[1])).raises();
        Fminv "s{d}, v{0}.4s" = row("fminv", "fminv", Arith, RACK, &[R], (100, 500), |_, a: A| float::fold(&a[0], float::least)).raises();
        Fmaxv "s{d}, v{0}.4s" = row("fmaxv", "fmaxv", Arith, RACK, &[R], (100, 500), |_, a: A| float::fold(&a[0], float::greatest)).raises();

        // The addend, which the result overwrites, and the factors.
        Fmla "v{d}.4s, v{1}.4s, v{2}.4s" = row("fmla", "fmla", Arith, RACK, &[R, R, R], (50, 400), |c, a: A| float::fused(c, &a[0], &a[1], &a[2], false)).destructive().forms(&[factors_swapped(A64::Fmla)]).contracts();
        Fmls "v{d}.4s, v{1}.4s, v{2}.4s" = row("fmls", "fmls", Arith, RACK, &[R, R, R], (50, 400), |c, a: A| float::fused(c, &a[0], &a[1], &a[2], true)).destructive().contracts();
        FmlaLane "v{d}.4s, v{1}.4s, v{2}.s[{i}]" = row("fmla_lane", "fmla", Arith, RACK, &[R, R, R], (50, 400), |c, a: A| float::fused_by_lane(c, &a[0], &a[1], &a[2])).destructive().imm().contracts();

        // To integral values; only a signalling NaN raises anything.
        Frintn "v{d}.4s, v{0}.4s" = row("frintn", "frintn", Arith, RACK, &[R], (100, 400), |c, a: A| float::map1(c, &a[0], f32::round_ties_even)).raises();
        Frintm "v{d}.4s, v{0}.4s" = row("frintm", "frintm", Arith, RACK, &[R], (100, 400), |c, a: A| float::map1(c, &a[0], f32::floor)).raises();
        Frintp "v{d}.4s, v{0}.4s" = row("frintp", "frintp", Arith, RACK, &[R], (100, 400), |c, a: A| float::map1(c, &a[0], f32::ceil)).raises();
        Frintz "v{d}.4s, v{0}.4s" = row("frintz", "frintz", Arith, RACK, &[R], (100, 400), |c, a: A| float::map1(c, &a[0], f32::trunc)).raises();

        // Conversions. Those to integers saturate and make 0 of a NaN.
        Fcvtns "v{d}.4s, v{0}.4s" = row("fcvtns", "fcvtns", Arith, RACK, &[R], (100, 400), |c, a: A| bits::map1(c, &a[0], float::to_signed)).raises();
        Fcvtnu "v{d}.4s, v{0}.4s" = row("fcvtnu", "fcvtnu", Arith, RACK, &[R], (100, 400), |c, a: A| bits::map1(c, &a[0], float::to_unsigned)).raises();
        Scvtf "v{d}.4s, v{0}.4s" = row("scvtf", "scvtf", Arith, RACK, &[R], (100, 400), |c, a: A| bits::map1(c, &a[0], |x| (x as i32 as f32).to_bits())).raises();
        Ucvtf "v{d}.4s, v{0}.4s" = row("ucvtf", "ucvtf", Arith, RACK, &[R], (100, 400), |c, a: A| bits::map1(c, &a[0], |x| (x as f32).to_bits())).raises();

        // Comparisons of floats; those with zero spare a register.
        Fcmeq "v{d}.4s, v{0}.4s, v{1}.4s" = row("fcmeq", "fcmeq", Compare, RACK, &[R, R], (50, 200), |c, a: A| float::compare(c, &a[0], &a[1], |x, y| x == y)).forms(&[commuted(A64::Fcmeq)]).raises();
        Fcmgt "v{d}.4s, v{0}.4s, v{1}.4s" = row("fcmgt", "fcmgt", Compare, RACK, &[R, R], (50, 200), |c, a: A| float::compare(c, &a[0], &a[1], |x, y| x > y)).raises();
        Fcmge "v{d}.4s, v{0}.4s, v{1}.4s" = row("fcmge", "fcmge", Compare, RACK, &[R, R], (50, 200), |c, a: A| float::compare(c, &a[0], &a[1], |x, y| x >= y)).raises();
        FcmeqZero "v{d}.4s, v{0}.4s, #0.0" = row("fcmeq_zero", "fcmeq", Compare, RACK, &[R], (50, 200), |c, a: A| float::compare(c, &a[0], &ZERO, |x, y| x == y)).raises();
        FcmgtZero "v{d}.4s, v{0}.4s, #0.0" = row("fcmgt_zero", "fcmgt", Compare, RACK, &[R], (50, 200), |c, a: A| float::compare(c, &a[0], &ZERO, |x, y| x > y)).raises();
        FcmgeZero "v{d}.4s, v{0}.4s, #0.0" = row("fcmge_zero", "fcmge", Compare, RACK, &[R], (50, 200), |c, a: A| float::compare(c, &a[0], &ZERO, |x, y| x >= y)).raises();
        FcmltZero "v{d}.4s, v{0}.4s, #0.0" = row("fcmlt_zero", "fcmlt", Compare, RACK, &[R], (50, 200), |c, a: A| float::compare(c, &a[0], &ZERO, |x, y| x < y)).raises();
        FcmleZero "v{d}.4s, v{0}.4s, #0.0" = row("fcmle_zero", "fcmle", Compare, RACK, &[R], (50, 200), |c, a: A| float::compare(c, &a[0], &ZERO, |x, y| x <= y)).raises();

        // Comparisons of integers.
        Cmeq "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmeq", "cmeq", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x == y))).forms(&[commuted(A64::Cmeq)]);
        Cmgt "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmgt", "cmgt", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x as i32 > y as i32)));
        Cmge "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmge", "cmge", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x as i32 >= y as i32)));
        Cmhi "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmhi", "cmhi", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x > y)));
        Cmhs "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmhs", "cmhs", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x >= y)));
        Cmtst "v{d}.4s, v{0}.4s, v{1}.4s" = row("cmtst", "cmtst", Compare, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::lane_mask(x & y != 0))).forms(&[commuted(A64::Cmtst)]);
        CmeqZero "v{d}.4s, v{0}.4s, #0" = row("cmeq_zero", "cmeq", Compare, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| bits::lane_mask((x as i32) == 0)));
        CmgtZero "v{d}.4s, v{0}.4s, #0" = row("cmgt_zero", "cmgt", Compare, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| bits::lane_mask((x as i32) > 0)));
        CmgeZero "v{d}.4s, v{0}.4s, #0" = row("cmge_zero", "cmge", Compare, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| bits::lane_mask((x as i32) >= 0)));
        CmltZero "v{d}.4s, v{0}.4s, #0" = row("cmlt_zero", "cmlt", Compare, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| bits::lane_mask((x as i32) < 0)));
        CmleZero "v{d}.4s, v{0}.4s, #0" = row("cmle_zero", "cmle", Compare, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| bits::lane_mask((x as i32) <= 0)));

        // Bitwise logic.
        And "v{d}.16b, v{0}.16b, v{1}.16b" = row("and", "and", Logic, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & y)).forms(&[commuted(A64::And)]);
        Orr "v{d}.16b, v{0}.16b, v{1}.16b" = row("orr", "orr", Logic, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | y)).forms(&[commuted(A64::Orr)]);
        Eor "v{d}.16b, v{0}.16b, v{1}.16b" = row("eor", "eor", Logic, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x ^ y)).forms(&[commuted(A64::Eor)]);
        Bic "v{d}.16b, v{0}.16b, v{1}.16b" = row("bic", "bic", Logic, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x & !y));
        Orn "v{d}.16b, v{0}.16b, v{1}.16b" = row("orn", "orn", Logic, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x | !y));
        Mvn "v{d}.16b, v{0}.16b" = row("mvn", "mvn", Logic, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| !x));
        BicImm "v{d}.4s, #{i}" = row("bic_imm", "bic", Logic, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| x & !u32::from(c.imm))).destructive().imm();

        // One choice in three forms: the mask is overwritten, or either of what it chooses between.
        Bsl "v{d}.16b, v{1}.16b, v{2}.16b" = row("bsl", "bsl", Choose, RACK, &[R, R, R], (50, 200), |c, a: A| choose(c, &a[0], &a[1], &a[2])).destructive().forms(&[form(A64::Bit, [2, 1, 0]), form(A64::Bif, [1, 2, 0])]);
        Bit "v{d}.16b, v{1}.16b, v{2}.16b" = row("bit", "bit", Choose, RACK, &[R, R, R], (50, 200), |c, a: A| choose(c, &a[2], &a[1], &a[0])).destructive();
        Bif "v{d}.16b, v{1}.16b, v{2}.16b" = row("bif", "bif", Choose, RACK, &[R, R, R], (50, 200), |c, a: A| choose(c, &a[2], &a[0], &a[1])).destructive();

        // Integers.
        Add "v{d}.4s, v{0}.4s, v{1}.4s" = row("add", "add", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_add)).forms(&[commuted(A64::Add)]);
        Sub "v{d}.4s, v{0}.4s, v{1}.4s" = row("sub", "sub", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_sub));
        Mul "v{d}.4s, v{0}.4s, v{1}.4s" = row("mul", "mul", Arith, RACK, &[R, R], (200, 500), |c, a: A| bits::map2(c, &a[0], &a[1], u32::wrapping_mul)).forms(&[commuted(A64::Mul)]);
        MulLane "v{d}.4s, v{0}.4s, v{1}.s[{i}]" = row("mul_lane", "mul", Arith, RACK, &[R, R], (200, 500), |c, a: A| bits::map1(c, &a[0], |x| x.wrapping_mul(a[1][usize::from(c.imm & 3)]))).imm();
        Neg "v{d}.4s, v{0}.4s" = row("neg", "neg", Arith, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], u32::wrapping_neg));
        Abs "v{d}.4s, v{0}.4s" = row("abs", "abs", Arith, RACK, &[R], (50, 200), |c, a: A| bits::map1(c, &a[0], |x| (x as i32).wrapping_abs() as u32));
        Smin "v{d}.4s, v{0}.4s, v{1}.4s" = row("smin", "smin", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).min(y as i32) as u32)).forms(&[commuted(A64::Smin)]);
        Smax "v{d}.4s, v{0}.4s, v{1}.4s" = row("smax", "smax", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| (x as i32).max(y as i32) as u32)).forms(&[commuted(A64::Smax)]);
        Umin "v{d}.4s, v{0}.4s, v{1}.4s" = row("umin", "umin", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.min(y))).forms(&[commuted(A64::Umin)]);
        Umax "v{d}.4s, v{0}.4s, v{1}.4s" = row("umax", "umax", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| x.max(y))).forms(&[commuted(A64::Umax)]);

        // Integers across lanes, into lane 0.
        Addv "s{d}, v{0}.4s" = row("addv", "addv", Arith, RACK, &[R], (100, 300), |_, a: A| fold(&a[0], u32::wrapping_add));
        Sminv "s{d}, v{0}.4s" = row("sminv", "sminv", Arith, RACK, &[R], (100, 300), |_, a: A| fold(&a[0], |x, y| (x as i32).min(y as i32) as u32));
        Smaxv "s{d}, v{0}.4s" = row("smaxv", "smaxv", Arith, RACK, &[R], (100, 300), |_, a: A| fold(&a[0], |x, y| (x as i32).max(y as i32) as u32));
        Uminv "s{d}, v{0}.4s" = row("uminv", "uminv", Arith, RACK, &[R], (100, 300), |_, a: A| fold(&a[0], |x, y| x.min(y)));
        Umaxv "s{d}, v{0}.4s" = row("umaxv", "umaxv", Arith, RACK, &[R], (100, 300), |_, a: A| fold(&a[0], |x, y| x.max(y)));

        // Shifts by an immediate, which is below the width to the left and from 1 to the width to the right; then by lanes.
        Shl "v{d}.4s, v{0}.4s, #{i}" = row("shl", "shl", Logic, RACK, &[R], (100, 200), |c, a: A| bits::map1(c, &a[0], |x| x << (c.imm & 31))).imm();
        Ushr "v{d}.4s, v{0}.4s, #{i}" = row("ushr", "ushr", Logic, RACK, &[R], (100, 200), |c, a: A| bits::map1(c, &a[0], |x| x.checked_shr(c.imm.into()).unwrap_or(0))).imm();
        Sshr "v{d}.4s, v{0}.4s, #{i}" = row("sshr", "sshr", Logic, RACK, &[R], (100, 200), |c, a: A| bits::map1(c, &a[0], |x| ((x as i32) >> c.imm.min(31)) as u32)).imm();
        Ushl "v{d}.4s, v{0}.4s, v{1}.4s" = row("ushl", "ushl", Logic, RACK, &[R, R], (100, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, n| lanes::shift_by(x, n, false)));
        Sshl "v{d}.4s, v{0}.4s, v{1}.4s" = row("sshl", "sshl", Logic, RACK, &[R, R], (100, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, n| lanes::shift_by(x, n, true)));

        // Lane moves.
        Zip1 "v{d}.4s, v{0}.4s, v{1}.4s" = row("zip1", "zip1", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [0, 4, 1, 5]));
        Zip2 "v{d}.4s, v{0}.4s, v{1}.4s" = row("zip2", "zip2", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [2, 6, 3, 7]));
        Uzp1 "v{d}.4s, v{0}.4s, v{1}.4s" = row("uzp1", "uzp1", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [0, 2, 4, 6]));
        Uzp2 "v{d}.4s, v{0}.4s, v{1}.4s" = row("uzp2", "uzp2", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [1, 3, 5, 7]));
        Trn1 "v{d}.4s, v{0}.4s, v{1}.4s" = row("trn1", "trn1", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [0, 4, 2, 6]));
        Trn2 "v{d}.4s, v{0}.4s, v{1}.4s" = row("trn2", "trn2", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [1, 5, 3, 7]));
        Zip1Half "v{d}.2d, v{0}.2d, v{1}.2d" = row("zip1_half", "zip1", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [0, 1, 4, 5]));
        Zip2Half "v{d}.2d, v{0}.2d, v{1}.2d" = row("zip2_half", "zip2", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[1], [2, 3, 6, 7]));
        Rev64 "v{d}.4s, v{0}.4s" = row("rev64", "rev64", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::pick(&a[0], &a[0], [1, 0, 3, 2]));
        Ext "v{d}.16b, v{0}.16b, v{1}.16b, #{i}" = row("ext", "ext", Cross, RACK, &[R, R], (50, 200), |c, a: A| lanes::extract(c, &a[0], &a[1])).imm();
        DupLane "v{d}.4s, v{0}.s[{i}]" = row("dup_lane", "dup", Cross, RACK, &[R], (50, 200), |c, a: A| lanes::all(a[0][usize::from(c.imm & 3)])).imm();
        DupHalf "v{d}.2d, v{0}.d[{i}]" = row("dup_half", "dup", Cross, RACK, &[R], (50, 200), |c, a: A| { let at = usize::from(c.imm & 1) * 2; lanes::pick(&a[0], &a[0], [at, at + 1, at, at + 1]) }).imm();
        OneLane "s{d}, v{0}.s[{i}]" = row("one_lane", "mov", Cross, RACK, &[R], (50, 200), |c, a: A| lanes::low(a[0][usize::from(c.imm & 3)])).imm();
        HighHalf "d{d}, v{0}.d[1]" = row("high_half", "mov", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::of([a[0][2], a[0][3], 0, 0]));
        LowHalf "d{d}, d{0}" = row("low_half", "fmov", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::of([a[0][0], a[0][1], 0, 0]));
        LowLane "s{d}, s{0}" = row("low_lane", "fmov", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::low(a[0][0]));
        InsLane "v{d}.s[{l}], v{1}.s[{h}]" = row("ins_lane", "mov", Cross, RACK, &[R, R], (50, 200), |c, a: A| lanes::insert(c, &a[0], &a[1])).destructive().imm();
        InsHalf "v{d}.d[{l}], v{1}.d[{h}]" = row("ins_half", "mov", Cross, RACK, &[R, R], (50, 200), |c, a: A| lanes::insert_half(c, &a[0], &a[1])).destructive().imm();
        Tbl "v{d}.16b, { v{0}.16b }, v{1}.16b" = row("tbl", "tbl", Cross, RACK, &[R, R], (50, 200), |_, a: A| lanes::table(&ZERO, &a[0], &a[1]));
        Tbx "v{d}.16b, { v{1}.16b }, v{2}.16b" = row("tbx", "tbx", Cross, RACK, &[R, R, R], (100, 400), |_, a: A| lanes::table(&a[0], &a[1], &a[2])).destructive();

        // Lanes of 64, 16 and 8 bits.
        Smull "v{d}.4s, v{0}.4h, v{1}.4h" = row("smull", "smull", Arith, RACK, &[R, R], (100, 400), |_, a: A| lanes::multiply_long(&a[0], &a[1], false)).forms(&[commuted(A64::Smull)]);
        Smull2 "v{d}.4s, v{0}.8h, v{1}.8h" = row("smull2", "smull2", Arith, RACK, &[R, R], (100, 400), |_, a: A| lanes::multiply_long(&a[0], &a[1], true)).forms(&[commuted(A64::Smull2)]);
        Addp "v{d}.4s, v{0}.4s, v{1}.4s" = row("addp", "addp", Arith, RACK, &[R, R], (50, 200), |_, a: A| lanes::add_pairs(&a[0], &a[1]));
        Sqxtn "v{d}.4h, v{0}.4s" = row("sqxtn", "sqxtn", Cross, RACK, &[R], (100, 400), |_, a: A| lanes::narrow(&[], &a[0]));
        Sqxtn2 "v{d}.8h, v{1}.4s" = row("sqxtn2", "sqxtn2", Cross, RACK, &[R, R], (100, 400), |_, a: A| lanes::narrow(&a[0][..2], &a[1])).destructive();
        Ushll "v{d}.8h, v{0}.8b, #0" = row("ushll", "ushll", Cross, RACK, &[R], (100, 200), |_, a: A| lanes::widen(&a[0], false));
        Ushll2 "v{d}.8h, v{0}.16b, #0" = row("ushll2", "ushll2", Cross, RACK, &[R], (100, 200), |_, a: A| lanes::widen(&a[0], true));

        UshllWords "v{d}.4s, v{0}.4h, #0" = row("ushll_words", "ushll", Cross, RACK, &[R], (100, 200), |_, a: A| lanes::widen_halves(&a[0], false));
        SshllWords "v{d}.4s, v{0}.4h, #0" = row("sshll_words", "sshll", Cross, RACK, &[R], (100, 200), |_, a: A| lanes::widen_halves(&a[0], true));
        Sshll "v{d}.8h, v{0}.8b, #0" = row("sshll", "sshll", Cross, RACK, &[R], (100, 200), |_, a: A| lanes::widen_signed(&a[0]));
        Xtn "v{d}.4h, v{0}.4s" = row("xtn", "xtn", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::of_bytes(a[0][..4].iter().flat_map(|&x| (x as u16).to_le_bytes())));
        XtnBytes "v{d}.8b, v{0}.8h" = row("xtn_bytes", "xtn", Cross, RACK, &[R], (50, 200), |_, a: A| lanes::of_bytes(lanes::bytes(&a[0]).into_iter().step_by(2)));
        CmgtLong "v{d}.2d, v{0}.2d, v{1}.2d" = row("cmgt_long", "cmgt", Compare, RACK, &[R, R], (50, 200), |_, a: A| lanes::greater_longs(&a[0], &a[1]));

        // Between racks and general registers.
        DupLong "v{d}.2d, x{0}" = row("dup_long", "dup", Boundary, RACK, &[X], (100, 300), |_, a: A| lanes::of([a[0][0], a[0][1], a[0][0], a[0][1]]));
        DupWord "v{d}.4s, w{0}" = row("dup_word", "dup", Boundary, RACK, &[G], (100, 300), |_, a: A| lanes::all(a[0][0]));
        FmovIn "s{d}, w{0}" = row("fmov_in", "fmov", Boundary, RACK, &[G], (100, 300), |_, a: A| lanes::low(a[0][0]));
        FmovOut "w{d}, s{0}" = row("fmov_out", "fmov", Boundary, WORD, &[R], (100, 200), |_, a: A| lanes::low(a[0][0]));
        LaneOut "w{d}, v{0}.s[{i}]" = row("lane_out", "mov", Boundary, WORD, &[R], (100, 200), |c, a: A| lanes::low(a[0][usize::from(c.imm & 3)])).imm();
        InsWord "v{d}.s[{i}], w{1}" = row("ins_word", "mov", Boundary, RACK, &[R, G], (100, 500), |c, a: A| { let mut out = a[0]; out[usize::from(c.imm & 3)] = a[1][0]; out }).destructive().imm();

        // General registers.
        MovWord "w{d}, w{0}" = row("mov_word", "mov", Move, WORD, &[G], (33, 100), |_, a: A| lanes::low(a[0][0]));
        WordConst "w{d}, #{i}" = row("word_const", "mov", Boundary, WORD, &[], (33, 100), |c, _: A| lanes::low(c.imm.into())).imm();
        LsrWord "w{d}, w{0}, #{i}" = row("lsr_word", "lsr", Word, WORD, &[G], (33, 100), |c, a: A| lanes::low(a[0][0] >> (c.imm & 31))).imm();
        AndOne "w{d}, w{0}, #0x1" = row("and_one", "and", Word, WORD, &[G], (33, 100), |_, a: A| lanes::low(a[0][0] & 1));
        AndFifteen "w{d}, w{0}, #0xf" = row("and_fifteen", "and", Word, WORD, &[G], (33, 100), |_, a: A| lanes::low(a[0][0] & 15));
        EorOne "w{d}, w{0}, #0x1" = row("eor_one", "eor", Word, WORD, &[G], (33, 100), |_, a: A| lanes::low(a[0][0] ^ 1));
        SpreadOne "w{d}, w{0}, #0, #1" = row("spread_one", "sbfx", Word, WORD, &[G], (33, 100), |_, a: A| lanes::low((a[0][0] & 1).wrapping_neg()));

        // An entry of a table, by its number.
        Adr "x{d}, {0}" = row("adr", "adr", Const, ADDRESS, &[T], (33, 100), |_, _: A| ZERO);
        LdrEntry "q{d}, [x{0}, w{1}, uxtw #4]" = row("ldr_entry", "ldr", Word, RACK, &[P, G, T], (50, 600), |_, a: A| a[2]);

        // Copies and constants. What a constant shifts in stands in its name: zeros (`lsl`) or ones (`msl`).
        Mov "v{d}.16b, v{0}.16b" = row("mov", "mov", Move, RACK, &[R], (50, 200), |_, a: A| a[0]);
        Ldr "q{d}, {0}" = row("ldr", "ldr", Const, RACK, &[L], (50, 500), |_, a: A| a[0]);
        Zero "v{d}.2d, #0000000000000000" = row("zero", "movi", Const, RACK, &[], (50, 200), |_, _: A| ZERO);
        Movi "v{d}.4s, #{i}" = row("movi", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm))).imm();
        MoviLsl8 "v{d}.4s, #{i}, lsl #8" = row("movi_lsl8", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) << 8)).imm();
        MoviLsl16 "v{d}.4s, #{i}, lsl #16" = row("movi_lsl16", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) << 16)).imm();
        MoviLsl24 "v{d}.4s, #{i}, lsl #24" = row("movi_lsl24", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) << 24)).imm();
        MoviMsl8 "v{d}.4s, #{i}, msl #8" = row("movi_msl8", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) << 8 | 0xff)).imm();
        MoviMsl16 "v{d}.4s, #{i}, msl #16" = row("movi_msl16", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) << 16 | 0xffff)).imm();
        MoviHalves "v{d}.8h, #{i}" = row("movi_8h", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) * 0x1_0001)).imm();
        MoviHalvesLsl8 "v{d}.8h, #{i}, lsl #8" = row("movi_8h_lsl8", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) * 0x100_0100)).imm();
        Mvni "v{d}.4s, #{i}" = row("mvni", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!u32::from(c.imm))).imm();
        MvniLsl8 "v{d}.4s, #{i}, lsl #8" = row("mvni_lsl8", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) << 8))).imm();
        MvniLsl16 "v{d}.4s, #{i}, lsl #16" = row("mvni_lsl16", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) << 16))).imm();
        MvniLsl24 "v{d}.4s, #{i}, lsl #24" = row("mvni_lsl24", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) << 24))).imm();
        MvniMsl8 "v{d}.4s, #{i}, msl #8" = row("mvni_msl8", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) << 8 | 0xff))).imm();
        MvniMsl16 "v{d}.4s, #{i}, msl #16" = row("mvni_msl16", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) << 16 | 0xffff))).imm();
        MvniHalves "v{d}.8h, #{i}" = row("mvni_8h", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) * 0x1_0001))).imm();
        MvniHalvesLsl8 "v{d}.8h, #{i}, lsl #8" = row("mvni_8h_lsl8", "mvni", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(!(u32::from(c.imm) * 0x100_0100))).imm();
        MoviBytes "v{d}.16b, #{i}" = row("movi_16b", "movi", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(u32::from(c.imm) * 0x101_0101)).imm();
        MoviMask "v{d}.2d, #{m}" = row("movi_2d", "movi", Const, RACK, &[], (50, 200), |c, _: A| byte_mask(c.imm)).imm();
        Fmov "v{d}.4s, #{f}" = row("fmov", "fmov", Const, RACK, &[], (50, 200), |c, _: A| lanes::all(float::expanded(c.imm))).imm();
        Ret "" = row("ret", "ret", Control, None, &[], (100, 100), |_, _: A| ZERO).flow(Flow::Return);

        // General registers of 64 bits. A word's upper half is zero.
        AddLong "x{d}, x{0}, x{1}" = row("add_long", "add", Word, LONG, &[X, X], (33, 100), |_, a: A| words::long2(a, u64::wrapping_add)).forms(&[commuted(A64::AddLong)]);
        AddNumber "x{d}, x{0}, #{1}" = row("add_number", "add", Word, LONG, &[X, N], (33, 100), |_, a: A| words::long2(a, u64::wrapping_add));
        AddShifted "x{d}, x{0}, x{1}, lsl #{i}" = row("add_shifted", "add", Word, LONG, &[X, X], (33, 100), |c, a: A| words::long2(a, |x, y| x.wrapping_add(y << (c.imm & 63)))).imm();
        SubLong "x{d}, x{0}, x{1}" = row("sub_long", "sub", Word, LONG, &[X, X], (33, 100), |_, a: A| words::long2(a, u64::wrapping_sub));
        SubNumber "x{d}, x{0}, #{1}" = row("sub_number", "sub", Word, LONG, &[X, N], (33, 100), |_, a: A| words::long2(a, u64::wrapping_sub));
        AndLong "x{d}, x{0}, x{1}" = row("and_long", "and", Word, LONG, &[X, X], (33, 100), |_, a: A| words::long2(a, |x, y| x & y)).forms(&[commuted(A64::AndLong)]);
        AndNumber "x{d}, x{0}, #{1}" = row("and_number", "and", Word, LONG, &[X, N], (33, 100), |_, a: A| words::long2(a, |x, y| x & y));
        OrLong "x{d}, x{0}, x{1}" = row("or_long", "orr", Word, LONG, &[X, X], (33, 100), |_, a: A| words::long2(a, |x, y| x | y)).forms(&[commuted(A64::OrLong)]);
        OrNumber "x{d}, x{0}, #{1}" = row("or_number", "orr", Word, LONG, &[X, N], (33, 100), |_, a: A| words::long2(a, |x, y| x | y));
        XorLong "x{d}, x{0}, x{1}" = row("xor_long", "eor", Word, LONG, &[X, X], (33, 100), |_, a: A| words::long2(a, |x, y| x ^ y)).forms(&[commuted(A64::XorLong)]);
        XorNumber "x{d}, x{0}, #{1}" = row("xor_number", "eor", Word, LONG, &[X, N], (33, 100), |_, a: A| words::long2(a, |x, y| x ^ y));
        MulLong "x{d}, x{0}, x{1}" = row("mul_long", "mul", Word, LONG, &[X, X], (300, 400), |_, a: A| words::long2(a, u64::wrapping_mul)).forms(&[commuted(A64::MulLong)]);
        ShrLong "x{d}, x{0}, #{i}" = row("shr_long", "lsr", Word, LONG, &[X], (33, 100), |c, a: A| words::long1(a, |x| x >> (c.imm & 63))).imm();
        SignExtend "x{d}, w{0}" = row("sign_extend", "sxtw", Word, LONG, &[G], (33, 100), |_, a: A| bits::of_long(words::signed(&a[0])));
        ZeroExtend "x{d}, x{0}, #0, #32" = row("zero_extend", "ubfx", Word, LONG, &[G], (33, 100), |_, a: A| lanes::low(a[0][0]));
        LaneOutLong "x{d}, v{0}.s[{i}]" = row("lane_out_long", "smov", Boundary, LONG, &[R], (100, 200), |c, a: A| bits::of_long(i64::from(a[0][usize::from(c.imm & 3)] as i32) as u64)).imm();
        MovLong "x{d}, x{0}" = row("mov_long", "mov", Move, LONG, &[X], (33, 100), |_, a: A| words::long1(a, |x| x));
        MovNumber "x{d}, #{0}" = row("mov_number", "mov", Const, LONG, &[N], (33, 100), |_, a: A| a[0]);
        MovNot "x{d}, #{0}" = row("mov_not", "mov", Const, LONG, &[N], (33, 100), |_, a: A| a[0]);
        LdrNumber "x{d}, {0}" = row("ldr_number", "ldr", Const, LONG, &[L], (50, 400), |_, a: A| words::long1(a, |x| x));

        // Scalars in memory.
        LdrByte "w{d}, {0}" = row("ldr_byte", "ldrb", Transfer, WORD, &[P1], (50, 400), |_, a: A| a[0]);
        LdrSignedByte "w{d}, {0}" = row("ldr_signed_byte", "ldrsb", Transfer, WORD, &[P1], (50, 400), |_, a: A| lanes::low(a[0][0] as i8 as u32));
        LdrHalf "w{d}, {0}" = row("ldr_half", "ldrh", Transfer, WORD, &[P2], (50, 400), |_, a: A| a[0]);
        LdrSignedHalf "w{d}, {0}" = row("ldr_signed_half", "ldrsh", Transfer, WORD, &[P2], (50, 400), |_, a: A| lanes::low(a[0][0] as i16 as u32));
        LdrWord "w{d}, {0}" = row("ldr_word", "ldr", Transfer, WORD, &[P4], (50, 400), |_, a: A| a[0]);
        LdrLong "x{d}, {0}" = row("ldr_long", "ldr", Transfer, LONG, &[P8], (50, 400), |_, a: A| a[0]);
        StrLong "x{1}, {0}" = row("str_long", "str", Transfer, None, &[P8, X], (100, 0), |_, a: A| a[1]).writes();
        TakeArgument "x{d}, {0}" = row("take_argument", "ldr", Transfer, LONG, &[F], (50, 400), |_, a: A| words::long1(a, |x| x));

        // Racks in memory: all of one, half, a lane, and what narrower elements take.
        LdrRack "q{d}, {0}" = row("ldr_rack", "ldr", Transfer, RACK, &[P16], (50, 500), |_, a: A| a[0]);
        LdrEight "d{d}, {0}" = row("ldr_eight", "ldr", Transfer, RACK, &[P8], (50, 500), |_, a: A| a[0]);
        LdrFour "s{d}, {0}" = row("ldr_four", "ldr", Transfer, RACK, &[P4], (50, 500), |_, a: A| a[0]);
        LdrTwo "h{d}, {0}" = row("ldr_two", "ldr", Transfer, RACK, &[P2], (50, 500), |_, a: A| a[0]);
        LdrOne "b{d}, {0}" = row("ldr_one", "ldr", Transfer, RACK, &[P1], (50, 500), |_, a: A| a[0]);
        StrRack "q{1}, {0}" = row("str_rack", "str", Transfer, None, &[P16, R], (100, 0), |_, a: A| a[1]).writes();
        StrEight "d{1}, {0}" = row("str_eight", "str", Transfer, None, &[P8, R], (100, 0), |_, a: A| a[1]).writes();
        StrFour "s{1}, {0}" = row("str_four", "str", Transfer, None, &[P4, R], (100, 0), |_, a: A| a[1]).writes();
        StrTwo "h{1}, {0}" = row("str_two", "str", Transfer, None, &[P2, R], (100, 0), |_, a: A| a[1]).writes();
        StrOne "b{1}, {0}" = row("str_one", "str", Transfer, None, &[P1, R], (100, 0), |_, a: A| a[1]).writes();

        // Control: comparisons, and the markers that read their flags. A comparison's result is both its operands.
        CompareLong "x{0}, x{1}" = row("compare_long", "cmp", Control, None, &[X, X], (33, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
        CompareLongNumber "x{0}, #{1}" = row("compare_long_number", "cmp", Control, None, &[X, N], (33, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
        CompareWord "w{0}, w{1}" = row("compare_word", "cmp", Control, None, &[G, G], (33, 100), |_, a: A| words::both(words::signed(&a[0]), words::signed(&a[1]))).flow(Flow::Compare);
        CompareWordNumber "w{0}, #{1}" = row("compare_word_number", "cmp", Control, None, &[G, W], (33, 100), |_, a: A| words::both(words::signed(&a[0]), words::signed(&a[1]))).flow(Flow::Compare);
        Loop "" = row("loop", "loop", Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::Loop);
        Again "" = row("again", "b", Control, None, &[], (100, 0), |_, _: A| ZERO).imm().flow(Flow::Again);
        If "" = row("if", "b", Control, None, &[], (100, 0), |_, _: A| ZERO).imm().flow(Flow::If);
        Else "" = row("else", "b", Control, None, &[], (100, 0), |_, _: A| ZERO).flow(Flow::Else);
        End "" = row("end", "end", Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::End);
        TrapUnless "" = row("trap_unless", "b", Control, None, &[], (100, 0), |_, _: A| ZERO).imm().flow(Flow::TrapUnless);
        Push "x{0}, [sp, #-16]!" = row("push", "str", Control, None, &[X], (100, 0), |_, a: A| a[0]).flow(Flow::Push);
        Pop "x{d}, [sp], #16" = row("pop", "ldr", Control, LONG, &[], (50, 400), |_, _: A| ZERO).flow(Flow::Pop);
    }
}

fn choose(ctx: Ctx, mask: &Bits, then: &Bits, otherwise: &Bits) -> Bits {
    let mut out = ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = then[lane] & mask[lane] | otherwise[lane] & !mask[lane];
    }
    out
}

fn fold(a: &Bits, f: impl Fn(u32, u32) -> u32) -> Bits {
    lanes::low(f(f(a[0], a[1]), f(a[2], a[3])))
}

/// `movi` of a 64-bit lane: each bit of the immediate is a byte.
fn byte_mask(imm: u8) -> Bits {
    lanes::of_bytes((0..16).map(|at| if imm >> (at % 8) & 1 == 1 { 0xff } else { 0 }))
}

/// What allocation and constants need.
pub const IDIOMS: Idioms = Idioms {
    load: MachOp::A64(A64::Ldr),
    constant,
    spread: None,
    masks: None,
    registers: Some(RegisterIdioms {
        load_splat: None,
        copy_rack: MachOp::A64(A64::Mov),
        copy_word: MachOp::A64(A64::MovWord),
        leave_racks: None,
        first_high: None,
        ret: MachOp::A64(A64::Ret),
    }),
    control: Some(CONTROL),
};

/// The markers of bodies, and what stands at them.
pub const CONTROL: ControlIdioms = ControlIdioms {
    open_loop: MachOp::A64(A64::Loop),
    again: MachOp::A64(A64::Again),
    open_if: MachOp::A64(A64::If),
    otherwise: MachOp::A64(A64::Else),
    end: MachOp::A64(A64::End),
    trap_unless: MachOp::A64(A64::TrapUnless),
    compare_long: Some(MachOp::A64(A64::CompareLong)),
    compare_word: Some(MachOp::A64(A64::CompareWord)),
    copy_word: MachOp::A64(A64::MovLong),
    copy_long: None,
    copy_rack: MachOp::A64(A64::Mov),
    load_rack: Some(MachOp::A64(A64::LdrRack)),
    reaches: numbers::reaches,
    indexed_element: true,
    words: Some(WordIdioms {
        push: MachOp::A64(A64::Push),
        pop: MachOp::A64(A64::Pop),
        argument: MachOp::A64(A64::TakeArgument),
    }),
};

/// The rows that make a constant of an immediate (section C3.5.13, "move immediate"), the first that can is taken.
const IMMEDIATES: &[A64] = &[
    A64::Movi,
    A64::MoviLsl8,
    A64::MoviLsl16,
    A64::MoviLsl24,
    A64::Mvni,
    A64::MvniLsl8,
    A64::MvniLsl16,
    A64::MvniLsl24,
    A64::MoviMsl8,
    A64::MoviMsl16,
    A64::MvniMsl8,
    A64::MvniMsl16,
    A64::MoviBytes,
    A64::MoviHalves,
    A64::MoviHalvesLsl8,
    A64::MvniHalves,
    A64::MvniHalvesLsl8,
    A64::MoviMask,
    A64::Fmov,
];

/// The instruction that makes a rack of these lanes, over and over, of an immediate.
fn constant(lanes: &[u32]) -> Option<(MachOp, Option<u8>)> {
    let lane = |at: usize| lanes.get(at % lanes.len().max(1)).copied().unwrap_or(0);
    let rack = lanes::of([lane(0), lane(1), lane(2), lane(3)]);
    if lanes.len() > 4 {
        return None;
    }
    if rack == ZERO {
        return Some((MachOp::A64(A64::Zero), None));
    }
    let makes = |op: A64, imm: u8| (op.info().eval)(Ctx { lanes: 4, imm }, &[]) == rack;
    let found = IMMEDIATES
        .iter()
        .find_map(|&op| candidates(op, &rack).into_iter().find(|&imm| makes(op, imm)).map(|imm| (op, imm)));
    found.map(|(op, imm)| (MachOp::A64(op), Some(imm)))
}

/// The immediates with which a row may make a rack: each byte of its lane 0 and their complements, a bit for each byte, or
/// the sign, exponent and fraction of a float.
fn candidates(op: A64, rack: &Bits) -> Vec<u8> {
    let lane = rack[0];
    match op {
        A64::MoviMask => vec![(0..8).fold(0, |mask, at| mask | (lanes::bytes(rack)[at] & 1) << at)],
        A64::Fmov => vec![(lane >> 24 & 0x80) as u8 | (lane >> 23 & 0x40) as u8 | (lane >> 19 & 0x3f) as u8],
        _ => lane.to_le_bytes().into_iter().flat_map(|byte| [byte, !byte]).collect(),
    }
}
