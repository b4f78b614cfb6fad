//! The C text of each scalar operation, and the functions that some of them call.
//!
//! `$0 $1 $2` are the operands, `$n` the immediate. An operand is written once or stands for a variable, so it may be
//! written twice. What leads to memory is an integer of 64 bits there.

use rake_ir::machine::scalar::Scalar;

/// How C sees a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// As `float`.
    F,
    /// As `uint32_t`.
    U,
    /// 64 bits, as `uint64_t`.
    W,
}

impl Kind {
    /// The C type.
    pub const fn ty(self) -> &'static str {
        match self {
            Kind::F => "float",
            Kind::U => "uint32_t",
            Kind::W => "uint64_t",
        }
    }
}

/// The text of a row.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// How it makes its result.
    pub result: Kind,
    /// How it reads its operands.
    pub operands: &'static [Kind],
    /// The expression.
    pub expression: &'static str,
}

use Kind::{F, U, W};

const fn text(result: Kind, operands: &'static [Kind], expression: &'static str) -> Text {
    Text { result, operands, expression }
}

/// The row's text.
pub const fn of(op: Scalar) -> Text {
    match op {
        Scalar::AddF32 => text(F, &[F, F], "$0 + $1"),
        Scalar::SubF32 => text(F, &[F, F], "$0 - $1"),
        Scalar::MulF32 => text(F, &[F, F], "$0 * $1"),
        Scalar::DivF32 => text(F, &[F, F], "$0 / $1"),
        Scalar::SqrtF32 => text(F, &[F], "RAKE_SQRT($0)"),
        Scalar::MinF32 => text(F, &[F, F], "rake_min($0, $1)"),
        Scalar::MaxF32 => text(F, &[F, F], "rake_max($0, $1)"),
        Scalar::LesserF32 => text(F, &[F, F], "$0 < $1 ? $0 : $1"),
        Scalar::GreaterF32 => text(F, &[F, F], "$0 > $1 ? $0 : $1"),
        Scalar::NumberOrF32 => text(F, &[F, F], "$0 == $0 ? $0 : $1"),
        Scalar::FloorF32 => text(F, &[F], "rake_floor($0)"),
        Scalar::CeilF32 => text(F, &[F], "rake_ceil($0)"),
        Scalar::TruncF32 => text(F, &[F], "rake_trunc($0)"),
        Scalar::NearestF32 => text(F, &[F], "rake_nearest($0)"),
        Scalar::SelectF32 => text(F, &[U, F, F], "$0 != 0 ? $1 : $2"),
        Scalar::F32FromI32 => text(F, &[U], "(float)rake_i32($0)"),
        Scalar::F32FromU32 => text(F, &[U], "(float)$0"),
        Scalar::I32FromF32 => text(U, &[F], "rake_to_i32($0)"),
        Scalar::U32FromF32 => text(U, &[F], "rake_to_u32($0)"),
        Scalar::EqF32 => text(U, &[F, F], "rake_mask($0 == $1)"),
        Scalar::NeF32 => text(U, &[F, F], "rake_mask($0 < $1 || $0 > $1)"),
        Scalar::LtF32 => text(U, &[F, F], "rake_mask($0 < $1)"),
        Scalar::LeF32 => text(U, &[F, F], "rake_mask($0 <= $1)"),
        Scalar::GtF32 => text(U, &[F, F], "rake_mask($0 > $1)"),
        Scalar::GeF32 => text(U, &[F, F], "rake_mask($0 >= $1)"),
        Scalar::NotEqF32 => text(U, &[F, F], "rake_mask($0 != $1)"),
        Scalar::NotNeF32 => text(U, &[F, F], "rake_mask(!($0 < $1 || $0 > $1))"),
        Scalar::NotLtF32 => text(U, &[F, F], "rake_mask(!($0 < $1))"),
        Scalar::NotLeF32 => text(U, &[F, F], "rake_mask(!($0 <= $1))"),
        Scalar::NotGtF32 => text(U, &[F, F], "rake_mask(!($0 > $1))"),
        Scalar::NotGeF32 => text(U, &[F, F], "rake_mask(!($0 >= $1))"),
        op => integer(op),
    }
}

const fn integer(op: Scalar) -> Text {
    match op {
        Scalar::Add => text(U, &[U, U], "$0 + $1"),
        Scalar::Sub => text(U, &[U, U], "$0 - $1"),
        Scalar::Mul => text(U, &[U, U], "$0 * $1"),
        Scalar::Neg => text(U, &[U], "UINT32_C(0) - $0"),
        Scalar::AbsI32 => text(U, &[U], "$0 >> 31 != 0 ? UINT32_C(0) - $0 : $0"),
        Scalar::MinI32 => text(U, &[U, U], "rake_i32($0) < rake_i32($1) ? $0 : $1"),
        Scalar::MaxI32 => text(U, &[U, U], "rake_i32($0) > rake_i32($1) ? $0 : $1"),
        Scalar::MinU32 => text(U, &[U, U], "$0 < $1 ? $0 : $1"),
        Scalar::MaxU32 => text(U, &[U, U], "$0 > $1 ? $0 : $1"),
        Scalar::Select => text(U, &[U, U, U], "$0 != 0 ? $1 : $2"),
        Scalar::And => text(U, &[U, U], "$0 & $1"),
        Scalar::AndNot => text(U, &[U, U], "$0 & ~$1"),
        Scalar::Or => text(U, &[U, U], "$0 | $1"),
        Scalar::Xor => text(U, &[U, U], "$0 ^ $1"),
        Scalar::Not => text(U, &[U], "~$0"),
        Scalar::Nand => text(U, &[U, U], "~($0 & $1)"),
        Scalar::Nor => text(U, &[U, U], "~($0 | $1)"),
        Scalar::Shl => text(U, &[U], "$0 << $n"),
        Scalar::Shr => text(U, &[U], "$0 >> $n"),
        Scalar::Sar => text(U, &[U], "rake_sar($0, $n)"),
        Scalar::ShlBy => text(U, &[U, U], "$0 << ($1 & 31)"),
        Scalar::ShrBy => text(U, &[U, U], "$0 >> ($1 & 31)"),
        Scalar::SarBy => text(U, &[U, U], "rake_sar($0, $1 & 31)"),
        Scalar::Eq => text(U, &[U, U], "rake_mask($0 == $1)"),
        Scalar::Ne => text(U, &[U, U], "rake_mask($0 != $1)"),
        Scalar::LtI32 => text(U, &[U, U], "rake_mask(rake_i32($0) < rake_i32($1))"),
        Scalar::LeI32 => text(U, &[U, U], "rake_mask(rake_i32($0) <= rake_i32($1))"),
        Scalar::GtI32 => text(U, &[U, U], "rake_mask(rake_i32($0) > rake_i32($1))"),
        Scalar::GeI32 => text(U, &[U, U], "rake_mask(rake_i32($0) >= rake_i32($1))"),
        Scalar::LtU32 => text(U, &[U, U], "rake_mask($0 < $1)"),
        Scalar::LeU32 => text(U, &[U, U], "rake_mask($0 <= $1)"),
        Scalar::GtU32 => text(U, &[U, U], "rake_mask($0 > $1)"),
        Scalar::GeU32 => text(U, &[U, U], "rake_mask($0 >= $1)"),
        Scalar::MoveF32 | Scalar::FloatIn | Scalar::FloatOut => text(F, &[F], "$0"),
        Scalar::BoolIn => text(U, &[U], "rake_mask(($0 & 1) != 0)"),
        Scalar::BoolOut => text(U, &[U], "$0 >> 31"),
        op => memory(op),
    }
}

const fn memory(op: Scalar) -> Text {
    match op {
        Scalar::LoadF32 | Scalar::GatherF32 => text(F, &[W], "rake_load_f32($0)"),
        Scalar::LoadU32 | Scalar::GatherU32 | Scalar::LoadWord => text(U, &[W], "rake_load_u32($0)"),
        Scalar::LoadU16 => text(U, &[W], "rake_load_u16($0)"),
        Scalar::LoadI16 => text(U, &[W], "rake_load_i16($0)"),
        Scalar::LoadU8 => text(U, &[W], "rake_load_u8($0)"),
        Scalar::LoadI8 => text(U, &[W], "rake_load_i8($0)"),
        Scalar::LoadF32Where | Scalar::GatherF32Where => text(F, &[U, W], "$0 != 0 ? rake_load_f32($1) : 0.0f"),
        Scalar::LoadU32Where | Scalar::GatherU32Where => text(U, &[U, W], "$0 != 0 ? rake_load_u32($1) : UINT32_C(0)"),
        Scalar::StoreF32 => text(F, &[W, F], "rake_store_f32($0, $1)"),
        Scalar::StoreU32 => text(U, &[W, U], "rake_store_u32($0, $1)"),
        Scalar::StoreU16 => text(U, &[W, U], "rake_store_u16($0, $1)"),
        Scalar::StoreU8 => text(U, &[W, U], "rake_store_u8($0, $1)"),
        Scalar::StoreF32Where => text(F, &[U, W, F], "if ($0 != 0) rake_store_f32($1, $2)"),
        Scalar::StoreU32Where => text(U, &[U, W, U], "if ($0 != 0) rake_store_u32($1, $2)"),
        Scalar::StoreU16Where => text(U, &[U, W, U], "if ($0 != 0) rake_store_u16($1, $2)"),
        Scalar::StoreU8Where => text(U, &[U, W, U], "if ($0 != 0) rake_store_u8($1, $2)"),
        Scalar::LoadLong => text(W, &[W], "rake_load_u64($0)"),
        Scalar::StoreLong => text(W, &[W, W], "rake_store_u64($0, $1)"),
        op => long(op),
    }
}

const fn long(op: Scalar) -> Text {
    match op {
        Scalar::AddLong => text(W, &[W, W], "$0 + $1"),
        Scalar::SubLong => text(W, &[W, W], "$0 - $1"),
        Scalar::MulLong => text(W, &[W, W], "$0 * $1"),
        Scalar::AndLong => text(W, &[W, W], "$0 & $1"),
        Scalar::OrLong => text(W, &[W, W], "$0 | $1"),
        Scalar::XorLong => text(W, &[W, W], "$0 ^ $1"),
        Scalar::BoolWord => text(U, &[U], "$0 & 1"),
        Scalar::NotWord => text(U, &[U], "~$0 & 1"),
        Scalar::ShrLong => text(W, &[W], "$0 >> $n"),
        Scalar::SignExtend => text(W, &[U], "(uint64_t)(int64_t)rake_i32($0)"),
        Scalar::ZeroExtend => text(W, &[U], "(uint64_t)$0"),
        Scalar::LongConst | Scalar::MoveLong => text(W, &[W], "$0"),
        Scalar::InRange => text(U, &[W], "rake_mask(rake_i64($0) > 0)"),
        Scalar::CountTrue => text(W, &[U], "$0 & 1"),
        Scalar::CompareLong => text(W, &[W, W], ""),
        Scalar::CompareWord => text(U, &[U, U], ""),
        // A constant is written as one; markers are no expressions.
        _ => text(U, &[U], "$0"),
    }
}

/// A function that reads an element at any address.
macro_rules! load {
    ($name:literal, $result:literal, $of:literal, $value:literal) => {
        (
            $name,
            concat!(
                "static inline ",
                $result,
                " ",
                $name,
                "(uint64_t from)\n{\n    ",
                $of,
                " value;\n    memcpy(&value, (const void *)(uintptr_t)from, sizeof value);\n    return ",
                $value,
                ";\n}\n"
            ),
        )
    };
}

/// A function that writes one.
macro_rules! store {
    ($name:literal, $param:literal, $of:literal, $value:literal) => {
        (
            $name,
            concat!(
                "static inline void ",
                $name,
                "(uint64_t to, ",
                $param,
                " value)\n{\n    const ",
                $of,
                " element = ",
                $value,
                ";\n    memcpy((void *)(uintptr_t)to, &element, sizeof element);\n}\n"
            ),
        )
    };
}

/// A function or macro that expressions may call: its name, and its definition.
pub type Helper = (&'static str, &'static str);

/// Every helper, after those that it calls.
///
/// Everything here is defined by C11 for `float`s of IEEE 754 binary32; only `rake_f32` and `rake_u32` read the bits of a
/// union's other member (6.5.2.3, note 95). Rounding to integral values needs no library: below 2^23 a float converts to
/// an integer and back, or is rounded by adding 2^23, and from there on it has no fraction.
pub const HELPERS: &[Helper] = &[
    ("RAKE_SQRT", SQRT),
    ("RAKE_ROUND", ROUND),
    (
        "rake_f32",
        "static inline float rake_f32(uint32_t bits)
{
    union { uint32_t bits; float value; } both = { bits };
    return both.value;
}
",
    ),
    (
        "rake_u32",
        "static inline uint32_t rake_u32(float value)
{
    union { float value; uint32_t bits; } both = { value };
    return both.bits;
}
",
    ),
    (
        "rake_i32",
        "static inline int32_t rake_i32(uint32_t bits)
{
    return bits <= INT32_MAX ? (int32_t)bits : -(int32_t)~bits - 1;
}
",
    ),
    (
        "rake_i64",
        "static inline int64_t rake_i64(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)~bits - 1;
}
",
    ),
    load!("rake_load_f32", "float", "float", "value"),
    load!("rake_load_u64", "uint64_t", "uint64_t", "value"),
    load!("rake_load_u32", "uint32_t", "uint32_t", "value"),
    load!("rake_load_u16", "uint32_t", "uint16_t", "value"),
    load!("rake_load_i16", "uint32_t", "int16_t", "(uint32_t)(int32_t)value"),
    load!("rake_load_u8", "uint32_t", "uint8_t", "value"),
    load!("rake_load_i8", "uint32_t", "int8_t", "(uint32_t)(int32_t)value"),
    store!("rake_store_f32", "float", "float", "value"),
    store!("rake_store_u64", "uint64_t", "uint64_t", "value"),
    store!("rake_store_u32", "uint32_t", "uint32_t", "value"),
    store!("rake_store_u16", "uint32_t", "uint16_t", "(uint16_t)value"),
    store!("rake_store_u8", "uint32_t", "uint8_t", "(uint8_t)value"),
    ("RAKE_TRAP", TRAP),
    (
        "rake_mask",
        "static inline uint32_t rake_mask(int holds)
{
    return holds ? UINT32_MAX : UINT32_C(0);
}
",
    ),
    (
        "rake_sar",
        "static inline uint32_t rake_sar(uint32_t bits, uint32_t count)
{
    return bits >> 31 != 0 ? ~(~bits >> count) : bits >> count;
}
",
    ),
    (
        "rake_min",
        "static inline float rake_min(float a, float b)
{
    if (a < b)
        return a;
    if (b < a)
        return b;
    return rake_f32(a == b ? rake_u32(a) | rake_u32(b) : UINT32_C(0x7fc00000));
}
",
    ),
    (
        "rake_max",
        "static inline float rake_max(float a, float b)
{
    if (a > b)
        return a;
    if (b > a)
        return b;
    return rake_f32(a == b ? rake_u32(a) & rake_u32(b) : UINT32_C(0x7fc00000));
}
",
    ),
    (
        "rake_signed",
        "static inline float rake_signed(float magnitude, uint32_t sign)
{
    return rake_f32(rake_u32(magnitude) | (sign & UINT32_C(0x80000000)));
}
",
    ),
    (
        "rake_fractional",
        "static inline int rake_fractional(float x)
{
    return (rake_u32(x) & UINT32_C(0x7fffffff)) < UINT32_C(0x4b000000);
}
",
    ),
    (
        "rake_trunc",
        "static inline float rake_trunc(float x)
{
    return rake_fractional(x) ? rake_signed((float)(int32_t)x, rake_u32(x)) : x;
}
",
    ),
    (
        "rake_floor",
        "static inline float rake_floor(float x)
{
    const float whole = rake_trunc(x);
    return whole > x ? whole - 1.0f : whole;
}
",
    ),
    (
        "rake_ceil",
        "static inline float rake_ceil(float x)
{
    const float whole = rake_trunc(x);
    return whole < x ? rake_signed(whole + 1.0f, rake_u32(x)) : whole;
}
",
    ),
    (
        "rake_nearest",
        "static inline float rake_nearest(float x)
{
    const float magnitude = rake_f32(rake_u32(x) & UINT32_C(0x7fffffff));
    return rake_fractional(x) ? rake_signed((magnitude + 8388608.0f) - 8388608.0f, rake_u32(x)) : x;
}
",
    ),
    (
        "rake_to_i32",
        "static inline uint32_t rake_to_i32(float x)
{
    const float whole = rake_nearest(x);
    if (whole >= 2147483648.0f)
        return UINT32_C(0x7fffffff);
    if (whole >= -2147483648.0f)
        return (uint32_t)(int32_t)whole;
    return whole == whole ? UINT32_C(0x80000000) : UINT32_C(0);
}
",
    ),
    (
        "rake_to_u32",
        "static inline uint32_t rake_to_u32(float x)
{
    const float whole = rake_nearest(x);
    if (whole >= 4294967296.0f)
        return UINT32_MAX;
    return whole > 0.0f ? (uint32_t)whole : UINT32_C(0);
}
",
    ),
];

/// One instruction, without a call for the sake of `errno`, where the compiler has a way to say that.
const SQRT: &str = "#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_sqrt)
#define RAKE_SQRT(x) __builtin_elementwise_sqrt(x)
#endif
#endif
#if !defined(RAKE_SQRT) && defined(__SSE__)
#include <xmmintrin.h>
#define RAKE_SQRT(x) _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))
#elif !defined(RAKE_SQRT) && defined(__GNUC__)
#define RAKE_SQRT(x) __builtin_sqrtf(x)
#elif !defined(RAKE_SQRT)
#include <math.h>
#define RAKE_SQRT(x) sqrtf(x)
#endif
";

/// Stops the program.
const TRAP: &str = "#if defined(__GNUC__)
#define RAKE_TRAP() __builtin_trap()
#else
#include <stdlib.h>
#define RAKE_TRAP() abort()
#endif
";

/// No pragma holds Clang back once it is told `-ffp-contract=fast`, and no macro says that it was; so a product passes
/// through an assembler statement without instructions, which nothing is contracted across.
const ROUND: &str = "#if defined(__clang__) && defined(__SSE__)
#define RAKE_ROUND(x) __asm__(\"\" : \"+x\"(x))
#elif defined(__clang__) && defined(__aarch64__)
#define RAKE_ROUND(x) __asm__(\"\" : \"+w\"(x))
#elif defined(__clang__) && !defined(__wasm__)
#define RAKE_ROUND(x) __asm__(\"\" : \"+m\"(x))
#else
#define RAKE_ROUND(x) ((void)0)
#endif
";
