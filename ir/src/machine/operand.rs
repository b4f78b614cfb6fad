//! Operands of machine instructions.
//!
//! ```text
//! %3    literal 0    broadcast 1    [%4 + %5*4 + 16]    broadcast [%4]    -1
//! ```

/// A literal of a function, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LiteralId(pub u32);

/// An address: `base + (index << scale) + disp`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Address<R> {
    /// A general register.
    pub base: R,
    /// A general register; for [`Mem::Places`] a rack.
    pub index: Option<R>,
    /// The logarithm of what the index is multiplied with, at most 3; 0 where there is none.
    pub scale: u8,
    /// The displacement.
    pub disp: i32,
}

impl<R: Copy> Address<R> {
    /// What a register holds, as an address.
    pub const fn at(base: R) -> Address<R> {
        Address { base, index: None, scale: 0, disp: 0 }
    }

    /// Its registers.
    pub fn regs(self) -> impl Iterator<Item = R> {
        [Some(self.base), self.index].into_iter().flatten()
    }

    /// The same over other registers.
    pub fn map<S>(self, mut f: impl FnMut(R) -> Option<S>) -> Option<Address<S>> {
        let base = f(self.base)?;
        let index = match self.index {
            Some(index) => Some(f(index)?),
            None => None,
        };
        Some(Address { base, index, scale: self.scale, disp: self.disp })
    }
}

/// An operand: a register, a literal or a place in memory, or a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Operand<R> {
    /// A register.
    Reg(R),
    /// A literal read as a whole rack.
    Literal(LiteralId),
    /// A literal of one element, read into every lane.
    Broadcast(LiteralId),
    /// What stands at an address.
    Memory(Address<R>),
    /// One element at an address, read into every lane by an instruction that could also read a whole rack.
    MemoryElement(Address<R>),
    /// A number.
    Number(i32),
}

impl<R: Copy> Operand<R> {
    /// The register, when it is one.
    pub fn reg(self) -> Option<R> {
        match self {
            Operand::Reg(r) => Some(r),
            _ => None,
        }
    }

    /// Every register that it reads: itself, or those of its address.
    pub fn regs(self) -> impl Iterator<Item = R> {
        self.reg().into_iter().chain(self.address().into_iter().flat_map(Address::regs))
    }

    /// The literal, when it is one.
    pub fn literal(self) -> Option<LiteralId> {
        match self {
            Operand::Literal(l) | Operand::Broadcast(l) => Some(l),
            _ => None,
        }
    }

    /// The address, when it stands at one.
    pub fn address(self) -> Option<Address<R>> {
        match self {
            Operand::Memory(address) | Operand::MemoryElement(address) => Some(address),
            _ => None,
        }
    }

    /// The same over other registers.
    pub fn map<S>(self, mut f: impl FnMut(R) -> Option<S>) -> Option<Operand<S>> {
        Some(match self {
            Operand::Reg(r) => Operand::Reg(f(r)?),
            Operand::Literal(l) => Operand::Literal(l),
            Operand::Broadcast(l) => Operand::Broadcast(l),
            Operand::Memory(address) => Operand::Memory(address.map(f)?),
            Operand::MemoryElement(address) => Operand::MemoryElement(address.map(f)?),
            Operand::Number(number) => Operand::Number(number),
        })
    }
}
