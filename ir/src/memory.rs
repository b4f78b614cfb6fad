//! The memory that evaluators of runs read and write: blocks that a caller passes, each apart from the others.
//!
//! An address is `(block + 1) << 20 | offset`, so that it fits WebAssembly's 32 bits, zero is no address, and an access
//! past a block's end meets no other block.
//!
//! ```text
//! memory.add(vec![1, 2, 3, 4], true)    =>    0x100000
//! memory.read(0x100002, 2)              =>    0x0403
//! memory.read(0x100003, 2)              =>    a fault: two bytes at 0x100003, of which one exists
//! ```

use crate::profile::Profile;
use std::fmt;

/// Bits of an offset in a block.
const OFFSET_BITS: u32 = 20;

/// The most bytes of a block.
pub const BLOCK_BYTES: usize = 1 << OFFSET_BITS;

/// The most blocks.
pub const BLOCKS: usize = (1 << (32 - OFFSET_BITS)) - 1;

/// What a caller passes in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    blocks: Vec<Block>,
}

/// One object of the caller's.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Block {
    bytes: Vec<u8>,
    mutable: bool,
}

/// An access to what the caller did not pass, or may not be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The first byte's address.
    pub address: u64,
    /// How many bytes.
    pub bytes: usize,
    /// Whether they were to be written.
    pub writes: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.writes { "writes" } else { "reads" };
        write!(f, "it {verb} {} bytes at {:#x}, where the caller has none for that", self.bytes, self.address)
    }
}

impl Memory {
    /// Adds a block and returns its address; `None` when it is too large or there are too many.
    pub fn add(&mut self, bytes: Vec<u8>, mutable: bool) -> Option<u64> {
        if bytes.len() > BLOCK_BYTES || self.blocks.len() == BLOCKS {
            return None;
        }
        self.blocks.push(Block { bytes, mutable });
        Some((self.blocks.len() as u64) << OFFSET_BITS)
    }

    /// Adds the descriptor of a stack of `count` records whose columns are at these addresses, and returns its address;
    /// `None` as in [`Memory::add`].
    pub fn add_stack(&mut self, profile: Profile, count: u64, columns: &[u64], mutable: bool) -> Option<u64> {
        let pointer = |column: &u64| column.to_le_bytes().into_iter().take(profile.pointer_bytes());
        self.add(count.to_le_bytes().into_iter().chain(columns.iter().flat_map(pointer)).collect(), mutable)
    }

    /// The count of records in a stack's descriptor.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn count(&self, descriptor: u64) -> Result<u64, Fault> {
        self.read(descriptor, 8)
    }

    /// The address of a column in a stack's descriptor.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn column(&self, profile: Profile, descriptor: u64, column: u32) -> Result<u64, Fault> {
        self.read(descriptor.wrapping_add(profile.column_offset(column) as u64), profile.pointer_bytes())
    }

    /// The bytes of the block at this address, which [`Memory::add`] returned.
    pub fn block(&self, address: u64) -> Option<&[u8]> {
        let block = self.blocks.get((address >> OFFSET_BITS).checked_sub(1)? as usize)?;
        (address & (BLOCK_BYTES as u64 - 1) == 0).then_some(block.bytes.as_slice())
    }

    fn place(address: u64) -> Option<(usize, usize)> {
        let block = (address >> OFFSET_BITS).checked_sub(1)?;
        Some((usize::try_from(block).ok()?, (address & (BLOCK_BYTES as u64 - 1)) as usize))
    }

    /// `bytes` bytes (at most 8) at an address, the lowest first.
    ///
    /// # Errors
    /// When some of them do not exist.
    pub fn read(&self, address: u64, bytes: usize) -> Result<u64, Fault> {
        let fault = Fault { address, bytes, writes: false };
        let (block, offset) = Memory::place(address).ok_or(fault)?;
        let block = self.blocks.get(block).ok_or(fault)?;
        let found = block.bytes.get(offset..offset + bytes).ok_or(fault)?;
        Ok(found.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
    }

    /// Writes the low `bytes` bytes (at most 8) of `bits` at an address.
    ///
    /// # Errors
    /// When some of them do not exist or may not be written.
    pub fn write(&mut self, address: u64, bytes: usize, bits: u64) -> Result<(), Fault> {
        let fault = Fault { address, bytes, writes: true };
        let (block, offset) = Memory::place(address).ok_or(fault)?;
        let block = self.blocks.get_mut(block).filter(|block| block.mutable).ok_or(fault)?;
        let there = block.bytes.get_mut(offset..offset + bytes).ok_or(fault)?;
        for (at, byte) in there.iter_mut().enumerate() {
            *byte = (bits >> (8 * at)) as u8;
        }
        Ok(())
    }

    /// The byte at an address, for machine code that reads whole racks; 0 where there is none.
    pub fn byte(&self, address: u64) -> u8 {
        self.read(address, 1).unwrap_or(0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart() {
        let mut memory = Memory::default();
        let first = memory.add(vec![1, 2, 3, 4], true).unwrap();
        let second = memory.add(vec![5; 8], false).unwrap();
        assert_eq!((first, second), (0x10_0000, 0x20_0000));
        assert_eq!(memory.read(first + 2, 2), Ok(0x0403));
        assert!(
            memory.read(first + 3, 2).is_err() && memory.read(0, 1).is_err() && memory.read(second + 8, 1).is_err()
        );
        assert_eq!(memory.write(first, 4, 0x0a0b_0c0d), Ok(()));
        assert_eq!(memory.block(first), Some(&[0x0d, 0x0c, 0x0b, 0x0a][..]));
        assert!(memory.write(second, 1, 0).is_err() && memory.write(first + 4, 1, 0).is_err());
        assert_eq!(memory.byte(first - 1), 0);
        assert_eq!(memory.read(u64::MAX, 8).unwrap_err().address, u64::MAX);
    }
}
