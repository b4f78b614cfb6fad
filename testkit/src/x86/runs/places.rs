//! The slots of memory that calls' objects stand in, mapped twice: once to be written and once to be read only, so that an
//! object which a run may not write faults when it does, and can be filled all the same.

use super::Object;
use crate::memory::{Fault, Memory, os_error};
use crate::runs::{GUARD, Slots};

/// The slots of all calls of a process.
pub struct Ground {
    /// The mapping that can be written.
    pub memory: Memory,
    readable: *mut u8,
    /// Where the slots are in it.
    pub slots: Slots,
}

impl Ground {
    /// Slots for the objects of any one of these calls.
    pub fn new<'a>(calls: impl Iterator<Item = &'a [Object]> + Clone) -> Result<Ground, Fault> {
        let slots = Slots::of(calls);
        let len = slots.len();
        let mut memory = Memory::new(len, true)?;
        let file = memory.file.take().ok_or_else(|| Fault::machinery("no shared memory"))?;
        // SAFETY: a new mapping of our own file, at an address of the system's choice.
        let readable = unsafe {
            let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
            libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0)
        };
        if readable == libc::MAP_FAILED {
            return Err(os_error("mapping memory to be read"));
        }
        let ground = Ground { memory, readable: readable.cast(), slots };
        for guard in slots.guards() {
            for base in [ground.memory.address(0), ground.readable] {
                // SAFETY: whole pages inside a mapping of ours, to which nothing refers.
                if unsafe { libc::mprotect(base.add(guard).cast(), GUARD, libc::PROT_NONE) } != 0 {
                    return Err(os_error("guarding memory"));
                }
            }
        }
        Ok(ground)
    }

    /// What the code under test takes for the address of the object in a slot.
    pub fn address(&self, slot: usize, object: &Object) -> u64 {
        let base = if object.writable { self.memory.address(0) } else { self.readable };
        base as u64 + (self.slots.slot(slot) + self.slots.start(object)) as u64
    }

    /// The slot that an address is in or next to, and the distance from its data's start.
    pub fn find(&self, address: u64) -> Option<(usize, i64)> {
        let bases = [self.memory.address(0) as u64, self.readable as u64];
        let inside = |base: &u64| address.checked_sub(*base).filter(|&at| at < self.slots.len() as u64);
        bases.iter().find_map(inside).map(|offset| self.slots.find(offset as usize))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrows from it.
        unsafe { libc::munmap(self.readable.cast(), self.slots.len()) };
    }
}
