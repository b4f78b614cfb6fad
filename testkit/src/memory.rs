//! Memory that a run happens in, shared with the process that runs it.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

/// Mapped memory that forked or started processes can share.
pub(crate) struct Memory {
    base: *mut u8,
    len: usize,
    /// The memory as a file, if it is one.
    pub file: Option<File>,
}

impl Memory {
    /// Maps `len` zero bytes; backed by an (unnamed) file if `shared_file`.
    pub fn new(len: usize, shared_file: bool) -> Result<Memory, Fault> {
        let mut file = None;
        if shared_file {
            // SAFETY: the name is a C string; the descriptor, if valid, is ours alone.
            let made = unsafe {
                let fd = libc::memfd_create(c"rake-testkit".as_ptr(), libc::MFD_CLOEXEC);
                if fd < 0 { None } else { Some(File::from_raw_fd(fd)) }
            };
            let made = made.ok_or_else(|| os_error("making shared memory"))?;
            made.set_len(len as u64).map_err(|_| os_error("sizing shared memory"))?;
            file = Some(made);
        }
        let fd = file.as_ref().map_or(-1, |file| file.as_raw_fd());
        let kind = if file.is_some() { 0 } else { libc::MAP_ANONYMOUS | libc::MAP_NORESERVE };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the system's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED | kind, fd, 0) };
        if base == libc::MAP_FAILED {
            Err(os_error("mapping memory"))
        } else {
            Ok(Memory { base: base.cast(), len, file })
        }
    }

    /// The address of an offset, which must be inside.
    pub fn address(&self, at: usize) -> *mut u8 {
        assert!(at < self.len, "offset {at} in memory of {} bytes", self.len);
        // SAFETY: inside the mapping.
        unsafe { self.base.add(at) }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is ours and `len` bytes long. Other processes write to it only
        // while we wait for them.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len) }
    }

    /// The bytes from `at` on.
    pub fn array<const N: usize>(&mut self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes()[at..][..N]);
        bytes
    }

    pub fn get(&mut self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    pub fn put(&mut self, at: usize, words: &[u64]) {
        for (i, word) in words.iter().enumerate() {
            self.bytes()[at + 8 * i..][..8].copy_from_slice(&word.to_le_bytes());
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing borrows from it any more.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

/// Why an engine stopped.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Job and record under way, or none when it is about the machinery.
    pub at: Option<(usize, usize)>,
    pub message: String,
}

impl Fault {
    pub fn machinery(message: impl Into<String>) -> Fault {
        Fault { at: None, message: message.into() }
    }

    /// The message, with the job's number as `number` translates it.
    pub fn describe(self, number: impl Fn(usize) -> usize) -> String {
        match self.at {
            None => self.message,
            Some((job, record)) => format!("job {}, record {record}: {}", number(job), self.message),
        }
    }
}

pub(crate) fn os_error(what: &str) -> Fault {
    Fault::machinery(format!("{what}: {}", std::io::Error::last_os_error()))
}
