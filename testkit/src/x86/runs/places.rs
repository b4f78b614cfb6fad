//! Where a caller's objects stand: slots of memory between pages that nobody can touch.
//!
//! ```text
//! guard | data of slot 0 | guard | data of slot 1 | guard ...
//! ```
//!
//! The same memory is mapped twice, once to be written and once to be read only, so that an object which a run may not
//! write faults when it does, and can be filled all the same.

use super::{Object, Place};
use crate::memory::{Fault, Memory, os_error};

const PAGE: usize = 4096;
/// Bytes of a guard: an access that strays this far still faults.
const GUARD: usize = 16 * PAGE;
/// Bytes before an object at [`Place::Offset`] 0.
const MARGIN: usize = 64;

/// The slots of all calls of a process.
pub struct Ground {
    /// The mapping that can be written.
    pub memory: Memory,
    readable: *mut u8,
    /// Bytes of data of one slot.
    pub data: usize,
    len: usize,
}

impl Ground {
    /// Slots for the objects of any one of these calls.
    pub fn new<'a>(calls: impl Iterator<Item = &'a [Object]> + Clone) -> Result<Ground, Fault> {
        let slots = calls.clone().map(<[Object]>::len).max().unwrap_or(0);
        let need = |object: &Object| match object.place {
            Place::Offset(offset) => object.bytes.len() + offset + 2 * MARGIN,
            Place::BeforeGuard | Place::AfterGuard => object.bytes.len() + MARGIN,
        };
        let data = calls.flatten().map(need).max().unwrap_or(0).next_multiple_of(PAGE);
        let len = GUARD + slots * (data + GUARD);
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
        let ground = Ground { memory, readable: readable.cast(), data, len };
        for guard in (0..=slots).map(|slot| slot * (data + GUARD)) {
            for base in [ground.memory.address(0), ground.readable] {
                // SAFETY: whole pages inside a mapping of ours, to which nothing refers.
                if unsafe { libc::mprotect(base.add(guard).cast(), GUARD, libc::PROT_NONE) } != 0 {
                    return Err(os_error("guarding memory"));
                }
            }
        }
        Ok(ground)
    }

    /// Offset of a slot's data.
    pub fn slot(&self, slot: usize) -> usize {
        GUARD + slot * (self.data + GUARD)
    }

    /// Offset of an object in its slot's data.
    pub fn start(&self, object: &Object) -> usize {
        match object.place {
            Place::BeforeGuard => self.data - object.bytes.len(),
            Place::AfterGuard => 0,
            Place::Offset(offset) => MARGIN + offset,
        }
    }

    /// What the code under test takes for the address of the object in a slot.
    pub fn address(&self, slot: usize, object: &Object) -> u64 {
        let base = if object.writable { self.memory.address(0) } else { self.readable };
        base as u64 + (self.slot(slot) + self.start(object)) as u64
    }

    /// The slot that an address is in or next to, and the distance from its data's start.
    pub fn find(&self, address: u64) -> Option<(usize, i64)> {
        let bases = [self.memory.address(0) as u64, self.readable as u64];
        let offset =
            bases.iter().find_map(|base| address.checked_sub(*base).filter(|&at| at < self.len as u64))? as usize;
        // The nearer half of a guard belongs to the slot before it.
        let stride = self.data + GUARD;
        let slot = offset.saturating_sub(GUARD / 2) / stride;
        Some((slot, offset as i64 - self.slot(slot) as i64))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrows from it.
        unsafe { libc::munmap(self.readable.cast(), self.len) };
    }
}
