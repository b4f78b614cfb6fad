//! The table of `scalar`: operations on one 32-bit element, each an expression of C11.
//!
//! A rack is one element (`float`, `int32_t` or `uint32_t` in C; here 32 bits in class `v`), a mask a `uint32_t` of all ones
//! or zero. Names end in the element that they compute with where it matters. Mnemonics are the rows' names; the backend's
//! table has the C text. Costs only rank.
//!
//! Runs have integers of 64 bits too, in class `g`: addresses, counts and indices. Their rows are C's statements.

use super::bits::{self, Bits, ZERO, lane_mask};
use super::{ControlIdioms, Flow, Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, Semantics, Slot, VARIANTS, View};
use super::{machine_table, words};

const fn row(
    name: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    super::row(name, [name, "", ""], kind, dst, slots, cost, eval)
}

/// An element.
const R: Slot = Slot::new(View::Rack, Mem::No);
/// A constant.
const L: Slot = Slot::new(View::Rack, Mem::Rack);
/// An integer or `bool` argument.
const G: Slot = Slot::new(View::Word, Mem::No);
/// A `float` argument.
const S: Slot = Slot::new(View::Float, Mem::No);

/// An integer of 64 bits; the same or a number; a number.
const L64: Slot = Slot::new(View::Long, Mem::No);
const I64: Slot = Slot::new(View::Long, Mem::Number);
const C64: Slot = Slot::new(View::Long, Mem::Constant);
/// An integer of 32 bits or a number.
const I32: Slot = Slot::new(View::Word, Mem::Number);
/// Places of this many bytes; those of elements in one lane each.
const P1: Slot = place(1);
const P2: Slot = place(2);
const P4: Slot = place(4);
const P8: Slot = place(8);
const PL: Slot = Slot::new(View::Rack, Mem::Places);

const fn place(bytes: u8) -> Slot {
    Slot::new(View::Long, Mem::Place([bytes; VARIANTS]))
}

const RACK: Option<View> = Some(View::Rack);
const LONG: Option<View> = Some(View::Long);
const WORD: Option<View> = Some(View::Word);
const FLOAT: Option<View> = Some(View::Float);

use Kind::{Arith, Boundary, Choose, Compare, Const, Control, Logic, Move, Transfer, Word};

type A<'a> = &'a [Bits];

/// The row of an expression over one or two elements, by a function on their bits.
macro_rules! of {
    ($name:literal $kind:ident $cost:tt |$x:ident| $body:expr) => {
        row($name, $kind, RACK, &[R], $cost, |c, a: A| bits::map1(c, &a[0], |$x| $body))
    };
    ($name:literal $kind:ident $cost:tt |$x:ident, $y:ident| $body:expr) => {
        row($name, $kind, RACK, &[R, R], $cost, |c, a: A| bits::map2(c, &a[0], &a[1], |$x, $y| $body))
    };
}

/// The row of a shift by the immediate.
macro_rules! shift {
    ($name:literal |$x:ident, $n:ident| $body:expr) => {
        row($name, Logic, RACK, &[R], (50, 100), |c, a: A| {
            let $n = u32::from(c.imm) & 31;
            bits::map1(c, &a[0], |$x| $body)
        })
        .imm()
    };
}

/// The row of a comparison: of floats, of signed and of unsigned integers.
macro_rules! compare {
    (f32 $name:literal |$x:ident, $y:ident| $body:expr) => {
        of!($name Compare (50, 400) |x, y| {
            let ($x, $y) = (f32::from_bits(x), f32::from_bits(y));
            lane_mask($body)
        })
        .raises()
    };
    (i32 $name:literal |$x:ident, $y:ident| $body:expr) => {
        of!($name Compare (50, 100) |x, y| {
            let ($x, $y) = (x as i32, y as i32);
            lane_mask($body)
        })
    };
    (u32 $name:literal |$x:ident, $y:ident| $body:expr) => { of!($name Compare (50, 100) |$x, $y| lane_mask($body)) };
}

/// The row of a load, by what it makes of the bytes; the same where a mask holds, zero elsewhere; and of a store.
macro_rules! load {
    ($name:literal $place:ident |$x:ident| $body:expr) => {
        row($name, Transfer, RACK, &[$place], (50, 400), |c, a: A| bits::map1(c, &a[0], |$x| $body))
    };
    (where $name:literal $place:ident |$x:ident| $body:expr) => {
        row($name, Transfer, RACK, &[R, $place], (100, 500), |c, a: A| {
            bits::map2(c, &a[0], &a[1], |holds, $x| if holds != 0 { $body } else { 0 })
        })
    };
}
macro_rules! store {
    ($name:literal $place:ident) => {
        row($name, Transfer, None, &[$place, R], (100, 0), |_, a: A| a[1]).writes()
    };
    (where $name:literal $place:ident) => {
        row($name, Transfer, None, &[R, $place, R], (100, 0), |_, a: A| if a[0][0] != 0 { a[2] } else { a[1] }).writes()
    };
}
macro_rules! word {
    ($name:literal $cost:tt |$x:ident, $y:ident| $body:expr) => {
        row($name, Word, LONG, &[L64, I64], $cost, |_, a: A| words::long2(a, |$x, $y| $body))
    };
}
/// A marker; a condition of the comparison before it is its immediate.
macro_rules! marker {
    ($name:literal $flow:ident) => { row($name, Control, None, &[], (0, 0), |_, _: A| ZERO).flow(Flow::$flow) };
    ($name:literal $flow:ident imm) => { marker!($name $flow).imm() };
}

machine_table! {
    /// A scalar operation: an index into [`TABLE`].
    Scalar {
        // Floating point.
        AddF32 = of!("add_f32" Arith (50, 400) |x, y| bits::float2(x, y, |x, y| x + y)).forms(&[commuted(Scalar::AddF32)]).raises();
        SubF32 = of!("sub_f32" Arith (50, 400) |x, y| bits::float2(x, y, |x, y| x - y)).raises();
        MulF32 = of!("mul_f32" Arith (50, 400) |x, y| bits::float2(x, y, |x, y| x * y)).forms(&[commuted(Scalar::MulF32)]).raises();
        DivF32 = of!("div_f32" Arith (300, 1100) |x, y| bits::float2(x, y, |x, y| x / y)).raises();
        SqrtF32 = of!("sqrt_f32" Arith (300, 1200) |x| bits::float1(x, f32::sqrt)).raises();
        MinF32 = of!("min_f32" Arith (200, 800) |x, y| extremum(x, y, true)).raises();
        MaxF32 = of!("max_f32" Arith (200, 800) |x, y| extremum(x, y, false)).raises();
        LesserF32 = of!("lesser_f32" Arith (50, 400) |x, y| bits::pick(x, y, |x, y| x < y)).raises();
        GreaterF32 = of!("greater_f32" Arith (50, 400) |x, y| bits::pick(x, y, |x, y| x > y)).raises();
        NumberOrF32 = of!("number_or_f32" Choose (100, 500) |x, y| bits::pick(x, y, |x, _| !x.is_nan())).raises();
        FloorF32 = of!("floor_f32" Arith (200, 1500) |x| bits::float1(x, f32::floor)).raises();
        CeilF32 = of!("ceil_f32" Arith (200, 1500) |x| bits::float1(x, f32::ceil)).raises();
        TruncF32 = of!("trunc_f32" Arith (150, 1000) |x| bits::float1(x, f32::trunc)).raises();
        NearestF32 = of!("nearest_f32" Arith (150, 1000) |x| bits::float1(x, f32::round_ties_even)).raises();
        SelectF32 = row("select_f32", Choose, RACK, &[R, R, R], (50, 100), select);

        // Conversions: to the nearest, ties to even; to integers saturating, and 0 of a NaN.
        F32FromI32 = of!("f32_from_i32" Arith (50, 400) |x| (x as i32 as f32).to_bits()).raises();
        F32FromU32 = of!("f32_from_u32" Arith (50, 400) |x| (x as f32).to_bits()).raises();
        I32FromF32 = of!("i32_from_f32" Arith (200, 1200) |x| f32::from_bits(x).round_ties_even() as i32 as u32).raises();
        U32FromF32 = of!("u32_from_f32" Arith (200, 1200) |x| f32::from_bits(x).round_ties_even() as u32).raises();

        // Comparisons of floats, and their complements, which hold beside a NaN. Ordered and unequal is `ne`.
        EqF32 = compare!(f32 "eq_f32" |x, y| x == y);
        NeF32 = compare!(f32 "ne_f32" |x, y| ordered_apart(x, y));
        LtF32 = compare!(f32 "lt_f32" |x, y| x < y);
        LeF32 = compare!(f32 "le_f32" |x, y| x <= y);
        GtF32 = compare!(f32 "gt_f32" |x, y| x > y);
        GeF32 = compare!(f32 "ge_f32" |x, y| x >= y);
        NotEqF32 = compare!(f32 "not_eq_f32" |x, y| x != y);
        NotNeF32 = compare!(f32 "not_ne_f32" |x, y| !ordered_apart(x, y));
        NotLtF32 = compare!(f32 "not_lt_f32" |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_lt()));
        NotLeF32 = compare!(f32 "not_le_f32" |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_le()));
        NotGtF32 = compare!(f32 "not_gt_f32" |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_gt()));
        NotGeF32 = compare!(f32 "not_ge_f32" |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_ge()));

        // Integers, wrapping.
        Add = of!("add" Arith (25, 100) |x, y| x.wrapping_add(y)).forms(&[commuted(Scalar::Add)]);
        Sub = of!("sub" Arith (25, 100) |x, y| x.wrapping_sub(y));
        Mul = of!("mul" Arith (100, 300) |x, y| x.wrapping_mul(y)).forms(&[commuted(Scalar::Mul)]);
        Neg = of!("neg" Arith (25, 100) |x| x.wrapping_neg());
        AbsI32 = of!("abs_i32" Arith (50, 200) |x| (x as i32).wrapping_abs() as u32);
        MinI32 = of!("min_i32" Arith (50, 200) |x, y| (x as i32).min(y as i32) as u32).forms(&[commuted(Scalar::MinI32)]);
        MaxI32 = of!("max_i32" Arith (50, 200) |x, y| (x as i32).max(y as i32) as u32).forms(&[commuted(Scalar::MaxI32)]);
        MinU32 = of!("min_u32" Arith (50, 200) |x, y| x.min(y)).forms(&[commuted(Scalar::MinU32)]);
        MaxU32 = of!("max_u32" Arith (50, 200) |x, y| x.max(y)).forms(&[commuted(Scalar::MaxU32)]);
        Select = row("select", Choose, RACK, &[R, R, R], (50, 100), select);

        // Bits; of floats too.
        And = of!("and" Logic (25, 100) |x, y| x & y).forms(&[commuted(Scalar::And)]);
        AndNot = of!("and_not" Logic (25, 100) |x, y| x & !y);
        Or = of!("or" Logic (25, 100) |x, y| x | y).forms(&[commuted(Scalar::Or)]);
        Xor = of!("xor" Logic (25, 100) |x, y| x ^ y).forms(&[commuted(Scalar::Xor)]);
        Not = of!("not" Logic (25, 100) |x| !x);
        Nand = of!("nand" Logic (50, 200) |x, y| !(x & y)).forms(&[commuted(Scalar::Nand)]);
        Nor = of!("nor" Logic (50, 200) |x, y| !(x | y)).forms(&[commuted(Scalar::Nor)]);
        Shl = shift!("shl" |x, n| x << n);
        Shr = shift!("shr" |x, n| x >> n);
        Sar = shift!("sar" |x, n| (x as i32 >> n) as u32);
        // The count modulo 32.
        ShlBy = of!("shl_by" Logic (50, 100) |x, n| x << (n & 31));
        ShrBy = of!("shr_by" Logic (50, 100) |x, n| x >> (n & 31));
        SarBy = of!("sar_by" Logic (50, 100) |x, n| (x as i32 >> (n & 31)) as u32);

        // Comparisons of integers.
        Eq = compare!(u32 "eq" |x, y| x == y);
        Ne = compare!(u32 "ne" |x, y| x != y);
        LtI32 = compare!(i32 "lt_i32" |x, y| x < y);
        LeI32 = compare!(i32 "le_i32" |x, y| x <= y);
        GtI32 = compare!(i32 "gt_i32" |x, y| x > y);
        GeI32 = compare!(i32 "ge_i32" |x, y| x >= y);
        LtU32 = compare!(u32 "lt_u32" |x, y| x < y);
        LeU32 = compare!(u32 "le_u32" |x, y| x <= y);
        GtU32 = compare!(u32 "gt_u32" |x, y| x > y);
        GeU32 = compare!(u32 "ge_u32" |x, y| x >= y);

        // Constants and copies.
        Const32 = row("const", Const, RACK, &[L], (50, 100), |_, a: A| a[0]);
        MoveF32 = of!("move_f32" Move (25, 100) |x| x);
        Move = of!("move" Move (25, 100) |x| x);

        // Arguments and results. Only the lowest bit of a `bool` argument counts, and of a mask only its top bit.
        FloatIn = row("float_in", Boundary, RACK, &[S], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x));
        FloatOut = row("float_out", Boundary, FLOAT, &[R], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x));
        WordIn = row("word_in", Boundary, RACK, &[G], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x));
        WordOut = row("word_out", Boundary, WORD, &[R], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x));
        BoolIn = row("bool_in", Boundary, RACK, &[G], (50, 100), |c, a: A| bits::map1(c, &a[0], |x| lane_mask(x & 1 == 1)));
        BoolOut = row("bool_out", Boundary, WORD, &[R], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x >> 31));

        // Elements in memory, at any address.
        LoadF32 = load!("load_f32" P4 |x| x);
        LoadU32 = load!("load_u32" P4 |x| x);
        LoadU16 = load!("load_u16" P2 |x| x);
        LoadI16 = load!("load_i16" P2 |x| x as i16 as u32);
        LoadU8 = load!("load_u8" P1 |x| x);
        LoadI8 = load!("load_i8" P1 |x| x as i8 as u32);
        LoadF32Where = load!(where "load_f32_where" P4 |x| x);
        LoadU32Where = load!(where "load_u32_where" P4 |x| x);
        GatherF32 = load!("gather_f32" PL |x| x);
        GatherU32 = load!("gather_u32" PL |x| x);
        GatherF32Where = load!(where "gather_f32_where" PL |x| x);
        GatherU32Where = load!(where "gather_u32_where" PL |x| x);
        StoreF32 = store!("store_f32" P4);
        StoreU32 = store!("store_u32" P4);
        StoreU16 = store!("store_u16" P2);
        StoreU8 = store!("store_u8" P1);
        StoreF32Where = store!(where "store_f32_where" P4);
        StoreU32Where = store!(where "store_u32_where" P4);
        StoreU16Where = store!(where "store_u16_where" P2);
        StoreU8Where = store!(where "store_u8_where" P1);

        // Addresses, counts and indices.
        AddLong = word!("add_long" (25, 100) |x, y| x.wrapping_add(y));
        SubLong = word!("sub_long" (25, 100) |x, y| x.wrapping_sub(y));
        MulLong = word!("mul_long" (100, 300) |x, y| x.wrapping_mul(y));
        AndLong = word!("and_long" (25, 100) |x, y| x & y);
        OrLong = word!("or_long" (25, 100) |x, y| x | y);
        XorLong = word!("xor_long" (25, 100) |x, y| x ^ y);
        BoolWord = row("bool_word", Word, WORD, &[G], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| x & 1));
        NotWord = row("not_word", Word, WORD, &[G], (25, 100), |c, a: A| bits::map1(c, &a[0], |x| !x & 1));
        ShrLong = row("shr_long", Word, LONG, &[L64], (25, 100), |c, a: A| words::long1(a, |x| x >> (c.imm & 63))).imm();
        SignExtend = row("sign_extend", Word, LONG, &[G], (25, 100), |_, a: A| bits::of_long(words::signed(&a[0])));
        ZeroExtend = row("zero_extend", Word, LONG, &[G], (25, 100), |_, a: A| bits::of_long(a[0][0].into()));
        LongConst = row("long_const", Word, LONG, &[C64], (25, 100), |_, a: A| a[0]);
        MoveLong = row("move_long", Move, LONG, &[L64], (25, 100), |_, a: A| bits::of_long(bits::long(&a[0])));
        LoadWord = row("load_word", Transfer, WORD, &[P4], (50, 400), |_, a: A| a[0]);
        LoadLong = row("load_long", Transfer, LONG, &[P8], (50, 400), |_, a: A| a[0]);
        StoreLong = row("store_long", Transfer, None, &[P8, I64], (100, 0), |_, a: A| a[1]).writes();

        // The lane when it is below a count, as a mask; how many lanes hold.
        InRange = row("in_range", Compare, RACK, &[L64], (25, 100), |c, a: A| bits::map1(c, &ZERO, |_| lane_mask(bits::long(&a[0]) as i64 > 0)));
        CountTrue = row("count_true", Word, LONG, &[R], (25, 100), |_, a: A| bits::of_long(u64::from(a[0][0] & 1)));

        // What is executed next.
        CompareLong = row("compare_long", Control, None, &[L64, I64], (25, 100), |_, a: A| words::both(bits::long(&a[0]), bits::long(&a[1]))).flow(Flow::Compare);
        CompareWord = row("compare_word", Control, None, &[G, I32], (25, 100), |_, a: A| words::both(words::signed(&a[0]), words::signed(&a[1]))).flow(Flow::Compare);
        Loop = marker!("loop" Loop);
        Again = marker!("again" Again imm);
        If = marker!("if" If imm);
        Else = marker!("else" Else);
        End = marker!("end" End);
        TrapUnless = marker!("trap_unless" TrapUnless imm);
    }
}

/// What constants need.
pub const IDIOMS: Idioms = Idioms {
    load: MachOp::Scalar(Scalar::Const32),
    constant: |_| None,
    spread: None,
    masks: None,
    registers: None,
    control: Some(CONTROL),
};

const CONTROL: ControlIdioms = ControlIdioms {
    open_loop: MachOp::Scalar(Scalar::Loop),
    again: MachOp::Scalar(Scalar::Again),
    open_if: MachOp::Scalar(Scalar::If),
    otherwise: MachOp::Scalar(Scalar::Else),
    end: MachOp::Scalar(Scalar::End),
    trap_unless: MachOp::Scalar(Scalar::TrapUnless),
    compare_long: Some(MachOp::Scalar(Scalar::CompareLong)),
    compare_word: Some(MachOp::Scalar(Scalar::CompareWord)),
    copy_word: MachOp::Scalar(Scalar::MoveLong),
    copy_long: None,
    copy_rack: MachOp::Scalar(Scalar::Move),
    load_rack: None,
    reaches: |_, _| true,
    indexed_element: false,
    words: None,
};

/// The strict minimum or maximum: the canonical NaN beside a NaN, -0 below +0.
fn extremum(x: u32, y: u32, least: bool) -> u32 {
    match f32::from_bits(x).partial_cmp(&f32::from_bits(y)) {
        None => 0x7fc0_0000,
        // Equal floats differ at most in the sign of zero.
        Some(order) if order.is_eq() => {
            if least {
                x | y
            } else {
                x & y
            }
        }
        Some(order) if order.is_lt() == least => x,
        Some(_) => y,
    }
}

/// The second operand where the mask holds, else the third.
fn select(ctx: super::Ctx, args: &[Bits]) -> Bits {
    let mut out = bits::ZERO;
    for lane in 0..ctx.lanes {
        out[lane] = if args[0][lane] != 0 { args[1][lane] } else { args[2][lane] };
    }
    out
}

/// Unequal numbers: false beside a NaN.
fn ordered_apart(x: f32, y: f32) -> bool {
    x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Ctx;

    fn run(op: Scalar, imm: u8, args: &[u32]) -> u32 {
        let args: Vec<Bits> = args.iter().map(|&x| std::array::from_fn(|lane| if lane == 0 { x } else { 0 })).collect();
        (op.info().eval)(Ctx { lanes: 1, imm }, &args)[0]
    }

    #[test]
    fn names_are_unique_and_find_their_rows() {
        for &op in ALL {
            assert_eq!(Scalar::from_name(op.info().name), Some(op));
        }
    }

    #[test]
    fn extrema_are_strict_and_picks_are_raw() {
        let (plus, minus, nan, one) = (0, 0x8000_0000, 0x7f80_0001, 0x3f80_0000);
        assert_eq!((run(Scalar::MinF32, 0, &[plus, minus]), run(Scalar::MinF32, 0, &[minus, plus])), (minus, minus));
        assert_eq!((run(Scalar::MaxF32, 0, &[plus, minus]), run(Scalar::MaxF32, 0, &[minus, plus])), (plus, plus));
        assert_eq!(
            (run(Scalar::MinF32, 0, &[nan, one]), run(Scalar::MaxF32, 0, &[one, nan])),
            (0x7fc0_0000, 0x7fc0_0000)
        );
        // The second operand for equal ones and beside a NaN, bits as they are.
        assert_eq!((run(Scalar::LesserF32, 0, &[plus, minus]), run(Scalar::LesserF32, 0, &[one, nan])), (minus, nan));
        assert_eq!((run(Scalar::NumberOrF32, 0, &[nan, one]), run(Scalar::NumberOrF32, 0, &[one, nan])), (one, one));
    }

    #[test]
    fn complements_hold_beside_a_nan() {
        let (nan, one) = (0x7fc0_0000, 0x3f80_0000);
        for op in
            [Scalar::NotEqF32, Scalar::NotNeF32, Scalar::NotLtF32, Scalar::NotLeF32, Scalar::NotGtF32, Scalar::NotGeF32]
        {
            assert_eq!(run(op, 0, &[nan, one]), u32::MAX, "{op:?}");
        }
        for op in [Scalar::EqF32, Scalar::NeF32, Scalar::LtF32, Scalar::LeF32, Scalar::GtF32, Scalar::GeF32] {
            assert_eq!(run(op, 0, &[one, nan]), 0, "{op:?}");
        }
        assert_eq!((run(Scalar::NotLtF32, 0, &[one, one]), run(Scalar::NotLeF32, 0, &[one, one])), (u32::MAX, 0));
        assert_eq!((run(Scalar::NotNeF32, 0, &[one, one]), run(Scalar::NotEqF32, 0, &[one, one])), (u32::MAX, 0));
    }

    #[test]
    fn shifts_count_modulo_32() {
        assert_eq!((run(Scalar::Sar, 31, &[0x8000_0001]), run(Scalar::Shr, 31, &[0x8000_0001])), (u32::MAX, 1));
        assert_eq!((run(Scalar::ShlBy, 0, &[3, 33]), run(Scalar::SarBy, 0, &[0x8000_0000, 63])), (6, u32::MAX));
        assert_eq!((run(Scalar::BoolIn, 0, &[0xff02]), run(Scalar::BoolIn, 0, &[0xff03])), (0, u32::MAX));
        assert_eq!(
            (run(Scalar::I32FromF32, 0, &[0xcf00_0000]), run(Scalar::U32FromF32, 0, &[0x4020_0000])),
            (1 << 31, 2)
        );
    }
}
