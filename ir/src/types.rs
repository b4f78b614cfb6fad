//! Element types and value types: what every IR from `typed` on says about a value.
//!
//! A type never holds a lane count. Lanes are `profile register bits / element width`, see
//! [`crate::profile::Profile::lanes`].

use smol_str::SmolStr;
use std::fmt;

/// A scalar element: the type of one lane, or of one uniform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Elem {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

/// The class of an element, as the vocabulary's tables write it (F, I, U).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ElemClass {
    /// `bool`.
    Bool,
    /// IEEE 754 binary floating point.
    Float,
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
}

impl Elem {
    /// Every element, in declaration order.
    pub const ALL: [Elem; 11] = [
        Elem::Bool,
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::I64,
        Elem::U8,
        Elem::U16,
        Elem::U32,
        Elem::U64,
        Elem::F32,
        Elem::F64,
    ];

    /// The scalar spelling: `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::Bool => "bool",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::U8 => "u8",
            Elem::U16 => "u16",
            Elem::U32 => "u32",
            Elem::U64 => "u64",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    /// The element with this scalar spelling.
    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Width in bits; a `bool` is one bit.
    pub const fn bits(self) -> u32 {
        match self {
            Elem::Bool => 1,
            Elem::I8 | Elem::U8 => 8,
            Elem::I16 | Elem::U16 => 16,
            Elem::I32 | Elem::U32 | Elem::F32 => 32,
            Elem::I64 | Elem::U64 | Elem::F64 => 64,
        }
    }

    /// Its class.
    pub const fn class(self) -> ElemClass {
        match self {
            Elem::Bool => ElemClass::Bool,
            Elem::F32 | Elem::F64 => ElemClass::Float,
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => ElemClass::Signed,
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => ElemClass::Unsigned,
        }
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::F64)
    }

    /// Whether it is a signed or unsigned integer.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), ElemClass::Signed | ElemClass::Unsigned)
    }

    /// All bits of one lane set.
    pub const fn lane_mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value in vector code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Ty {
    /// One vector register of elements: `f32s`. Never of `bool`.
    Rack(Elem),
    /// One Boolean per lane; the number is the lane width in bits. Prints as `mask` for 32, else `mask64`.
    Mask(u32),
    /// One scalar that all lanes share: `<f32>`.
    Uniform(Elem),
    /// Where something stands in memory: a view's or column's first element, or a stack's descriptor.
    Address,
}

/// What an address that a caller passes leads to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pointee {
    /// Consecutive elements of a view.
    View {
        /// Their type.
        elem: Elem,
        /// Whether the callee writes them.
        mutable: bool,
    },
    /// A stack's descriptor: an `i64` count, then a pointer to each column.
    Stack {
        /// The pack's name.
        pack: SmolStr,
        /// Each column's name and element, in declaration order.
        columns: Vec<(SmolStr, Elem)>,
        /// Whether the callee writes the columns and the count.
        mutable: bool,
    },
}

impl Pointee {
    /// The element of a view.
    pub const fn elem(&self) -> Option<Elem> {
        match self {
            Pointee::View { elem, .. } => Some(*elem),
            Pointee::Stack { .. } => None,
        }
    }

    /// The columns of a stack, of which a view has none.
    pub fn columns(&self) -> &[(SmolStr, Elem)] {
        match self {
            Pointee::View { .. } => &[],
            Pointee::Stack { columns, .. } => columns,
        }
    }

    /// How memory holds a column of a stack.
    pub fn column(&self, column: u32) -> Option<Elem> {
        self.columns().get(column as usize).map(|(_, elem)| *elem)
    }
}

impl fmt::Display for Pointee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |mutable: &bool| if *mutable { "mut " } else { "" };
        match self {
            Pointee::View { elem, mutable } => write!(f, "{}[]{elem}", write(mutable)),
            Pointee::Stack { pack, columns, mutable } => {
                let columns: Vec<String> = columns.iter().map(|(name, elem)| format!("{name}: {elem}")).collect();
                write!(f, "{}stack {pack}({})", write(mutable), columns.join(", "))
            }
        }
    }
}

impl Ty {
    /// What counts and indexes records and elements: `<i64>`.
    pub const LONG: Ty = Ty::Uniform(Elem::I64);

    /// One truth that all lanes share: `<bool>`.
    pub const TRUTH: Ty = Ty::Uniform(Elem::Bool);

    /// The element of a rack or uniform; `bool` for a mask; the bits of an address count as a `u64`.
    pub const fn elem(self) -> Elem {
        match self {
            Ty::Rack(e) | Ty::Uniform(e) => e,
            Ty::Mask(_) => Elem::Bool,
            Ty::Address => Elem::U64,
        }
    }

    /// Whether every lane shares one value; of an address too.
    pub const fn is_uniform(self) -> bool {
        matches!(self, Ty::Uniform(_) | Ty::Address)
    }

    /// Whether it is a mask or a uniform `bool`: what `and or not` combine.
    pub const fn is_truth(self) -> bool {
        matches!(self, Ty::Mask(_) | Ty::TRUTH)
    }

    /// Width of one lane in bits (of the lanes it masks, for a mask); `None` for a uniform, which has no lanes.
    pub const fn lane_bits(self) -> Option<u32> {
        match self {
            Ty::Rack(e) => Some(e.bits()),
            Ty::Mask(w) => Some(w),
            Ty::Uniform(_) | Ty::Address => None,
        }
    }

    /// The truth value type that goes with this type: the mask of its lanes, or a uniform `bool`.
    pub const fn truth(self) -> Ty {
        match self {
            Ty::Rack(e) => Ty::Mask(e.bits()),
            Ty::Mask(w) => Ty::Mask(w),
            Ty::Uniform(_) | Ty::Address => Ty::TRUTH,
        }
    }

    /// The type with this spelling, as [`fmt::Display`] writes it.
    pub fn from_name(name: &str) -> Option<Ty> {
        if let Some(inner) = name.strip_prefix('<').and_then(|s| s.strip_suffix('>')) {
            return Elem::from_name(inner).map(Ty::Uniform);
        }
        if let Some(width) = name.strip_prefix("mask") {
            return match width {
                "" => Some(Ty::Mask(32)),
                "8" | "16" | "64" => width.parse().ok().map(Ty::Mask),
                _ => None,
            };
        }
        if name == "address" {
            return Some(Ty::Address);
        }
        let elem = Elem::from_name(name.strip_suffix('s')?)?;
        (elem != Elem::Bool).then_some(Ty::Rack(elem))
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Rack(e) => write!(f, "{e}s"),
            Ty::Mask(32) => f.write_str("mask"),
            Ty::Mask(w) => write!(f, "mask{w}"),
            Ty::Uniform(e) => write!(f, "<{e}>"),
            Ty::Address => f.write_str("address"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_reads_back() {
        for elem in Elem::ALL {
            assert_eq!(Elem::from_name(elem.name()), Some(elem));
            let uniform = Ty::Uniform(elem);
            assert_eq!(Ty::from_name(&uniform.to_string()), Some(uniform));
            if elem != Elem::Bool {
                assert_eq!(Ty::from_name(&format!("{elem}s")), Some(Ty::Rack(elem)));
            }
        }
        for width in [8, 16, 32, 64] {
            let mask = Ty::Mask(width);
            assert_eq!(Ty::from_name(&mask.to_string()), Some(mask));
        }
        assert_eq!(Ty::from_name("bools"), None);
        assert_eq!(Ty::from_name("mask32"), None);
    }
}
