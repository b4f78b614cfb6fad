//! What every operation of the table computes: its scalar reference function, or a function of whole racks.
//!
//! Floating point is IEEE 754 with round to nearest even and subnormals kept. A NaN that an operation computes is the
//! canonical one; the language leaves payloads open, an evaluator has to be deterministic.

mod float;
mod int;
mod rack;
#[cfg(test)]
mod tests;

pub use rack::RackCall;

use crate::ops::{Imm, Op};
use crate::sequences::{self, on_bits};
use crate::types::Elem;
use crate::value::Lanes;

/// A function of one lane: the element of the first operand (of the second for a choice), the immediate, and the
/// operands' bits.
pub type LaneFn = fn(Elem, &Imm, &[u64]) -> u64;

/// A function of whole racks, without poison.
pub type RackFn = fn(&RackCall) -> Lanes;

/// How an evaluator computes an operation.
#[derive(Clone, Copy, Debug)]
pub enum Reference {
    /// Lane by lane.
    Lane(LaneFn),
    /// Over whole racks.
    Rack(RackFn),
    /// By the evaluator itself: it reads parameters, positions or types, or chooses what to read.
    Structural,
    /// Not defined: the sequence is not published yet, or the machine chooses.
    None,
}

/// The reference of an operation, an explicit decision for each.
pub const fn reference(op: Op) -> Reference {
    use Reference::{Lane, Rack};
    match op {
        Op::Param | Op::Const | Op::LaneIndex | Op::If | Op::Carry | Op::Merge | Op::Index | Op::InRange => {
            Reference::Structural
        }
        Op::CountTrue | Op::Column | Op::Count | Op::SetCount | Op::Check | Op::Load | Op::LoadUniform => {
            Reference::Structural
        }
        Op::Store | Op::StoreSelected | Op::Gather | Op::Scatter => Reference::Structural,
        Op::ToI64 => Lane(|e, _, a| crate::value::to_i128(e, a[0]) as u64),
        Op::Splat => Lane(|_, _, a| a[0]),
        Op::Unsplat => Rack(rack::unsplat),
        Op::Add => Lane(|e, _, a| if e.is_float() { float::add(e, a) } else { int::add(e, a) }),
        Op::Sub => Lane(|e, _, a| if e.is_float() { float::sub(e, a) } else { int::sub(e, a) }),
        Op::Mul => Lane(|e, _, a| if e.is_float() { float::mul(e, a) } else { int::mul(e, a) }),
        Op::Div => Lane(|e, _, a| float::div(e, a)),
        Op::Neg => Lane(|e, _, a| if e.is_float() { float::neg(e, a[0]) } else { int::neg(e, a[0]) }),
        Op::Sqrt => Lane(|e, _, a| float::sqrt(e, a)),
        Op::Fma | Op::MulAdd => Lane(|e, _, a| float::fma(e, a[0], a[1], a[2])),
        Op::MulSub => Lane(|e, _, a| float::fma(e, a[0], a[1], float::neg(e, a[2]))),
        Op::NegMulAdd => Lane(|e, _, a| float::fma(e, float::neg(e, a[0]), a[1], a[2])),
        Op::NegMulSub => Lane(|e, _, a| float::fma(e, float::neg(e, a[0]), a[1], float::neg(e, a[2]))),
        Op::Abs => Lane(|e, _, a| if e.is_float() { float::abs(e, a[0]) } else { int::abs(e, a[0]) }),
        Op::Min => Lane(|e, _, a| minimum(e, a[0], a[1])),
        Op::Max => Lane(|e, _, a| maximum(e, a[0], a[1])),
        Op::Floor => Lane(|e, _, a| float::floor(e, a)),
        Op::Ceil => Lane(|e, _, a| float::ceil(e, a)),
        Op::Trunc => Lane(|e, _, a| float::trunc(e, a)),
        Op::Nearest => Lane(|e, _, a| float::nearest(e, a)),
        // The meaning of these is the sequence of operations published for them.
        Op::Exp => Lane(|_, _, a| on_bits(sequences::exp, a[0])),
        Op::Log => Lane(|_, _, a| on_bits(sequences::log, a[0])),
        Op::Log2 => Lane(|_, _, a| on_bits(sequences::log2, a[0])),
        Op::Tanh => Lane(|_, _, a| on_bits(sequences::tanh, a[0])),
        // Their sequences are not published yet.
        Op::Sin | Op::Cos | Op::Tan | Op::Pow | Op::Atan2 => Reference::None,
        Op::Eq => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_eq()))),
        Op::Ne => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_ne()))),
        Op::Lt => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_lt()))),
        Op::Le => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_le()))),
        Op::Gt => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_gt()))),
        Op::Ge => Lane(|e, _, a| u64::from(compare(e, a).is_some_and(|o| o.is_ge()))),
        Op::And => Lane(|_, _, a| a[0] & a[1]),
        Op::Or => Lane(|_, _, a| a[0] | a[1]),
        Op::Not => Lane(|_, _, a| a[0] ^ 1),
        Op::Select => Lane(|_, _, a| if a[0] & 1 == 1 { a[1] } else { a[2] }),
        Op::BitAnd => Lane(|_, _, a| a[0] & a[1]),
        Op::BitOr => Lane(|_, _, a| a[0] | a[1]),
        Op::BitXor => Lane(|_, _, a| a[0] ^ a[1]),
        Op::BitAndNot => Lane(|_, _, a| a[0] & !a[1]),
        Op::ShiftBitsLeft => Lane(int::shift_left),
        Op::ShiftBitsRight => Lane(int::shift_right),
        Op::ShiftBitsRightSigned => Lane(int::shift_right_signed),
        Op::ToF32 => Lane(float::to_f32),
        Op::ToI32 => Lane(float::to_i32),
        Op::ToU32 => Lane(float::to_u32),
        Op::Dot => Rack(rack::dot),
        Op::Narrow => Rack(rack::narrow),
        Op::WidenLow => Rack(rack::widen_low),
        Op::WidenHigh => Rack(rack::widen_high),
        Op::Bitcast => Rack(rack::bitcast),
        Op::Shuffle => Rack(rack::shuffle),
        Op::ZipLow => Rack(rack::zip_low),
        Op::ZipHigh => Rack(rack::zip_high),
        Op::UnzipEven => Rack(rack::unzip_even),
        Op::UnzipOdd => Rack(rack::unzip_odd),
        Op::ShiftLeft => Rack(rack::shift_left),
        Op::ShiftRight => Rack(rack::shift_right),
        Op::RotateLeft => Rack(rack::rotate_left),
        Op::RotateRight => Rack(rack::rotate_right),
        Op::Extract => Rack(rack::extract),
        Op::Insert => Rack(rack::insert),
        Op::Bitmask => Rack(rack::bitmask),
        Op::All => Rack(rack::all),
        Op::Any => Rack(rack::any),
        Op::Sum => Rack(|c| rack::fold(c, Op::Add)),
        Op::Product => Rack(|c| rack::fold(c, Op::Mul)),
        Op::Minimum => Rack(|c| rack::fold(c, Op::Min)),
        Op::Maximum => Rack(|c| rack::fold(c, Op::Max)),
        Op::ScanSum => Rack(|c| rack::scan(c, Op::Add)),
        Op::ScanProduct => Rack(|c| rack::scan(c, Op::Mul)),
        Op::ScanMinimum => Rack(|c| rack::scan(c, Op::Min)),
        Op::ScanMaximum => Rack(|c| rack::scan(c, Op::Max)),
        Op::Compress => Rack(rack::compress),
        Op::Expand => Rack(rack::expand),
        // The engine chooses among results, so nothing may fold or predict them.
        Op::RelaxedMadd | Op::RelaxedNmadd | Op::RelaxedMin | Op::RelaxedMax => Reference::None,
    }
}

/// How two elements compare; `None` when either is a NaN.
fn compare(elem: Elem, a: &[u64]) -> Option<std::cmp::Ordering> {
    if elem.is_float() { float::compare(elem, a) } else { Some(int::compare(elem, a)) }
}

/// The strict minimum of floats (NaN if either is, -0 below +0), the lesser of integers.
fn minimum(elem: Elem, a: u64, b: u64) -> u64 {
    match compare(elem, &[a, b]) {
        None => float::canonical_nan(elem),
        // Equal floats differ at most in the sign of zero, and the set sign is the lesser.
        Some(std::cmp::Ordering::Equal) => a | b,
        Some(order) => {
            if order.is_lt() {
                a
            } else {
                b
            }
        }
    }
}

/// The strict maximum of floats (NaN if either is, -0 below +0), the greater of integers.
fn maximum(elem: Elem, a: u64, b: u64) -> u64 {
    match compare(elem, &[a, b]) {
        None => float::canonical_nan(elem),
        Some(std::cmp::Ordering::Equal) => a & b,
        Some(order) => {
            if order.is_gt() {
                a
            } else {
                b
            }
        }
    }
}
