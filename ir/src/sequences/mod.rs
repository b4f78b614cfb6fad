//! Published sequences: operations that are defined as, or may be computed by, a fixed sequence of other operations.
//!
//! Each is written once, over [`Build`], and reads as arithmetic. [`Bits`] carries it out on the bits of one lane, which is
//! the meaning of `exp`, `log`, `log2` and `tanh`; the pass `expand` writes the very same steps into a program. So an
//! evaluator and every machine compute the same bits.
//!
//! ```text
//! let near = x * LOG2_E + MAGIC;    =>    %2 : f32s = mul %0, %1
//!                                         %4 : f32s = add %2, %3
//! ```
//!
//! Every step rounds on its own: passes that contract run before `expand`. There are no branches, only choices.

mod exponential;
mod logarithm;
mod rounding;
#[cfg(test)]
mod tests;

pub use exponential::{exp, tanh};
pub use logarithm::{log, log2};
pub use rounding::nearest;

use crate::ops::{Imm, Op};
use crate::reference::{Reference, reference};
use crate::types::Elem;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Shl, Shr, Sub};

/// ln 2 in two parts, `C1` and `C2` of Cephes' expf.c and in logf.c: the first has 9 significant bits, so that its product
/// with an exponent is exact.
const LN2: [f32; 2] = [355.0 / 512.0, -2.121_944_4e-4];

/// What carries out the steps of a sequence.
pub trait Build {
    /// One lane of a step's result, in whatever form.
    type Value: Copy;

    /// These bits of an element in every lane.
    fn constant(&self, elem: Elem, bits: u32) -> Self::Value;

    /// One operation of the table; `elem` is its result's element, `bool` for a truth.
    fn step(&self, op: Op, imm: Imm, elem: Elem, args: &[Self::Value]) -> Self::Value;
}

/// Carries steps out on the bits of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits;

impl Build for Bits {
    type Value = (Elem, u64);

    #[inline(always)]
    fn constant(&self, elem: Elem, bits: u32) -> (Elem, u64) {
        (elem, bits.into())
    }

    #[inline(always)]
    fn step(&self, op: Op, imm: Imm, elem: Elem, args: &[(Elem, u64)]) -> (Elem, u64) {
        let typed_by = usize::from(matches!(op, Op::Select));
        let of = args[typed_by].0;
        let bits = match (reference(op), args) {
            (Reference::Lane(f), &[a]) => f(of, &imm, &[a.1]),
            (Reference::Lane(f), &[a, b]) => f(of, &imm, &[a.1, b.1]),
            (Reference::Lane(f), &[a, b, c]) => f(of, &imm, &[a.1, b.1, c.1]),
            // What is left is `bitcast`.
            _ => args[0].1,
        };
        (elem, bits)
    }
}

/// A sequence of one `f32` operand and result on the bits of one lane.
#[inline(always)]
pub fn on_bits(sequence: fn(Float<Bits>) -> Float<Bits>, bits: u64) -> u64 {
    sequence(Float { with: &Bits, value: (Elem::F32, bits) }).value.1
}

macro_rules! operand {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'a, B: Build> {
            with: &'a B,
            value: B::Value,
        }

        impl<B: Build> Clone for $name<'_, B> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<B: Build> Copy for $name<'_, B> {}

        impl<'a, B: Build> $name<'a, B> {
            /// A value of this kind in the hands of `with`.
            pub fn new(with: &'a B, value: B::Value) -> Self {
                $name { with, value }
            }

            /// The value.
            pub fn value(self) -> B::Value {
                self.value
            }
        }
    };
}

operand! {
    /// An `f32`.
    Float
}
operand! {
    /// An `i32`.
    Int
}
operand! {
    /// A truth.
    Truth
}

/// Writes an operator of two operands as a step, with a number on the right too.
macro_rules! operator {
    ($name:ident, $number:ty, $elem:ident: $($trait:ident $method:ident $op:ident),*) => {$(
        impl<B: Build> $trait for $name<'_, B> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let value = self.with.step(Op::$op, Imm::None, Elem::$elem, &[self.value, other.value]);
                Self { value, ..self }
            }
        }
        impl<B: Build> $trait<$number> for $name<'_, B> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, number: $number) -> Self {
                self.$method(self.number(number))
            }
        }
    )*};
}

operator!(Float, f32, F32: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);
operator!(Int, u32, I32: Add add Add, Sub sub Sub, BitAnd bitand BitAnd, BitOr bitor BitOr, BitXor bitxor BitXor);

impl<B: Build> Shl<u32> for Int<'_, B> {
    type Output = Self;
    #[inline(always)]
    fn shl(self, count: u32) -> Self {
        Self { value: self.step(Op::ShiftBitsLeft, Imm::Int(count), Elem::I32), ..self }
    }
}

impl<B: Build> Shr<u32> for Int<'_, B> {
    type Output = Self;
    /// Copies of the sign enter.
    #[inline(always)]
    fn shr(self, count: u32) -> Self {
        Self { value: self.step(Op::ShiftBitsRightSigned, Imm::Int(count), Elem::I32), ..self }
    }
}

impl<'a, B: Build> Float<'a, B> {
    #[inline(always)]
    fn step(self, op: Op, imm: Imm, elem: Elem) -> B::Value {
        self.with.step(op, imm, elem, &[self.value])
    }

    /// A number in every lane.
    #[inline(always)]
    fn number(self, number: f32) -> Self {
        Self { value: self.with.constant(Elem::F32, number.to_bits()), ..self }
    }

    /// Its bits.
    #[inline(always)]
    fn bits(self) -> Int<'a, B> {
        Int { with: self.with, value: self.step(Op::Bitcast, Imm::None, Elem::I32) }
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self { value: self.step(Op::Abs, Imm::None, Elem::F32), ..self }
    }

    #[inline(always)]
    fn test(self, op: Op, other: Self) -> Truth<'a, B> {
        Truth { with: self.with, value: self.with.step(op, Imm::None, Elem::Bool, &[self.value, other.value]) }
    }

    /// `bound` where this is not below it, so for a NaN too.
    #[inline(always)]
    fn below_or(self, bound: f32) -> Self {
        let bound = self.number(bound);
        self.test(Op::Lt, bound).pick(self, bound)
    }

    /// `bound` where this is below it; a NaN stays.
    #[inline(always)]
    fn at_least(self, bound: f32) -> Self {
        let bound = self.number(bound);
        bound.test(Op::Gt, self).pick(bound, self)
    }

    /// The polynomial with these coefficients, highest first, by Horner's rule.
    #[inline(always)]
    fn polynomial(self, coefficients: &[f32]) -> Self {
        let [first, second, rest @ ..] = coefficients else { return self };
        rest.iter().fold(self * *first + *second, |sum, &next| sum * self + next)
    }
}

impl<'a, B: Build> Int<'a, B> {
    #[inline(always)]
    fn step(self, op: Op, imm: Imm, elem: Elem) -> B::Value {
        self.with.step(op, imm, elem, &[self.value])
    }

    /// A number in every lane, by its bits.
    #[inline(always)]
    fn number(self, bits: u32) -> Self {
        Self { value: self.with.constant(Elem::I32, bits), ..self }
    }

    /// The float of these bits.
    #[inline(always)]
    fn float(self) -> Float<'a, B> {
        Float { with: self.with, value: self.step(Op::Bitcast, Imm::None, Elem::F32) }
    }

    /// The nearest float.
    #[inline(always)]
    fn to_f32(self) -> Float<'a, B> {
        Float { with: self.with, value: self.step(Op::ToF32, Imm::None, Elem::F32) }
    }

    /// Whether it is below `other`, which raises no flag.
    #[inline(always)]
    fn below(self, other: u32) -> Truth<'a, B> {
        let other = self.number(other);
        Truth { with: self.with, value: self.with.step(Op::Lt, Imm::None, Elem::Bool, &[self.value, other.value]) }
    }

    /// Whether it is above `other`, which raises no flag.
    #[inline(always)]
    fn above(self, other: u32) -> Truth<'a, B> {
        let other = self.number(other);
        Truth { with: self.with, value: self.with.step(Op::Gt, Imm::None, Elem::Bool, &[self.value, other.value]) }
    }
}

impl<'a, B: Build> Truth<'a, B> {
    /// `then` where this holds, else `otherwise`.
    #[inline(always)]
    fn pick(self, then: Float<'a, B>, otherwise: Float<'a, B>) -> Float<'a, B> {
        let args = [self.value, then.value, otherwise.value];
        Float { with: self.with, value: self.with.step(Op::Select, Imm::None, Elem::F32, &args) }
    }

    /// `number` where this holds, else 0.
    #[inline(always)]
    fn keep(self, number: Int<'a, B>) -> Int<'a, B> {
        let args = [self.value, number.value, number.number(0).value];
        Int { with: self.with, value: self.with.step(Op::Select, Imm::None, Elem::I32, &args) }
    }
}
