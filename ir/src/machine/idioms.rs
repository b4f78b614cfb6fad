//! The operations that every compilation for a profile needs beside selection's table.

use super::{Class, MachOp, aarch64, scalar, wasm, x86};
use crate::profile::{Family, Profile};

/// An instruction that makes a constant by itself, with its immediate.
pub type Immediate = (MachOp, Option<u8>);

/// The operations that every compilation for a profile needs beside selection's table.
#[derive(Clone, Copy, Debug)]
pub struct Idioms {
    /// Loads a literal of a whole rack.
    pub load: MachOp,
    /// The instruction, with its immediate, that makes a rack of these 32-bit lanes, over and over, without a literal.
    pub constant: fn(&[u32]) -> Option<Immediate>,
    /// The scalar constant and the operation that put these bits into every lane, where that is shorter than a literal of a
    /// whole rack.
    pub spread: Option<fn(u32) -> (MachOp, MachOp)>,
    /// Where masks have registers of their own.
    pub masks: Option<MaskIdioms>,
    /// Where functions have machine registers.
    pub registers: Option<RegisterIdioms>,
    /// Where code has bodies that are executed again or not at all.
    pub control: Option<ControlIdioms>,
}

/// The markers of bodies, and what stands at them.
#[derive(Clone, Copy, Debug)]
pub struct ControlIdioms {
    /// Opens a loop.
    pub open_loop: MachOp,
    /// Closes it.
    pub again: MachOp,
    /// Opens a body for a condition.
    pub open_if: MachOp,
    /// Closes that and opens the other one.
    pub otherwise: MachOp,
    /// Closes either.
    pub end: MachOp,
    /// Traps unless a condition holds.
    pub trap_unless: MachOp,
    /// Where markers read flags: compares two general registers of 64 bits, the second of which may be a number.
    pub compare_long: Option<MachOp>,
    /// The same of words.
    pub compare_word: Option<MachOp>,
    /// Copies all of an integer of 64 bits to what may have been set before.
    pub copy_word: MachOp,
    /// The same where integers of 64 bits stand apart.
    pub copy_long: Option<MachOp>,
    /// The same of a rack.
    pub copy_rack: MachOp,
    /// Loads a whole rack, where other instructions can read one from memory themselves.
    pub load_rack: Option<MachOp>,
    /// Whether the transfers of a rack's consecutive elements of so many bytes, and of each one of them, take this
    /// displacement.
    pub reaches: fn(i64, u32) -> bool,
    /// Whether the address of one element takes an index of such elements, where that of a rack takes none.
    pub indexed_element: bool,
    /// Where functions have machine registers.
    pub words: Option<WordIdioms>,
}

/// What allocation adds where general registers hold addresses and counts.
#[derive(Clone, Copy, Debug)]
pub struct WordIdioms {
    /// Saves one of the caller's.
    pub push: MachOp,
    /// Brings it back.
    pub pop: MachOp,
    /// Brings an argument from the caller's frame.
    pub argument: MachOp,
}

/// What is done with masks that have registers of their own.
#[derive(Clone, Copy, Debug)]
pub struct MaskIdioms {
    /// A mask of no lanes.
    pub none: MachOp,
    /// A mask of all lanes.
    pub all: MachOp,
    /// Copies a mask register.
    pub copy: MachOp,
    /// Spreads a mask register over a rack.
    pub to_rack: MachOp,
    /// Reads it back from the sign bits.
    pub from_rack: MachOp,
}

/// What allocation adds to a function.
#[derive(Clone, Copy, Debug)]
pub struct RegisterIdioms {
    /// Loads one element into every lane, where one instruction does.
    pub load_splat: Option<MachOp>,
    /// Copies a rack register.
    pub copy_rack: MachOp,
    /// Copies a general register.
    pub copy_word: MachOp,
    /// What a function executes before it returns no rack; `None` where nothing is due.
    pub leave_racks: Option<MachOp>,
    /// The first rack register that makes an instruction longer as its second operand than as its first, where some do.
    pub first_high: Option<u8>,
    /// Returns.
    pub ret: MachOp,
}

impl Idioms {
    /// The operation that copies a register of this class; `None` where the profile has no such registers, or never sets
    /// one again.
    pub fn copy(&self, class: Class) -> Option<MachOp> {
        match class {
            Class::V => match self.registers {
                Some(registers) => Some(registers.copy_rack),
                None => self.control.map(|control| control.copy_rack),
            },
            Class::K => self.masks.map(|masks| masks.copy),
            Class::G => self.registers.map(|registers| registers.copy_word),
            Class::F | Class::L | Class::S => None,
        }
    }

    /// As [`Idioms::copy`], of all 64 bits of a general register.
    pub fn copy_whole(&self, class: Class) -> Option<MachOp> {
        match class {
            Class::G => Some(self.control?.copy_word),
            Class::L => self.control?.copy_long,
            _ => self.copy(class),
        }
    }

    /// The idioms of a profile.
    pub const fn of(profile: Profile) -> &'static Idioms {
        match profile.info().family {
            Family::X86 => x86::idioms(profile),
            Family::Aarch64 => &aarch64::IDIOMS,
            Family::Wasm => &wasm::IDIOMS,
            Family::Scalar => &scalar::IDIOMS,
        }
    }
}
