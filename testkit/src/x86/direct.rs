//! Calls a function of one rack over whole arrays, in this process and as fast as it goes: for runs over all inputs.

use super::{Image, Isa, cpu_has};
use std::sync::atomic::{Ordering, compiler_fence};

/// A function of one rack to one rack, ready to be called.
#[derive(Debug)]
pub struct Direct {
    base: *mut u8,
    len: usize,
    entry: usize,
    isa: Isa,
}

// SAFETY: the mapping is never written after `new`, and the code keeps nothing.
unsafe impl Send for Direct {}
// SAFETY: as above.
unsafe impl Sync for Direct {}

impl Direct {
    /// Places an image in executable memory.
    ///
    /// # Errors
    /// This CPU lacks the instructions, the entry is outside of the image, or there is no memory.
    ///
    /// # Safety
    /// The code must be a System V function of one vector register to one that writes no memory, such as `rakec` verified.
    /// A fault in it ends this process.
    pub unsafe fn new(isa: Isa, image: &Image) -> Result<Direct, String> {
        if !cpu_has(isa) {
            return Err(format!("this CPU cannot execute {isa:?} code"));
        }
        if image.entry >= image.bytes.len() {
            return Err("the entry is outside of the image".into());
        }
        let len = image.bytes.len();
        // SAFETY: a new mapping at an address of the system's choice, filled before it becomes executable.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if base == libc::MAP_FAILED {
                return Err("no memory for code".into());
            }
            std::ptr::copy_nonoverlapping(image.bytes.as_ptr(), base.cast(), len);
            let direct = Direct { base: base.cast(), len, entry: image.entry, isa };
            if libc::mprotect(base, len, libc::PROT_READ | libc::PROT_EXEC) != 0 {
                return Err("memory cannot be made executable".into());
            }
            Ok(direct)
        }
    }

    /// Applies the function to every rack of `input`; both slices are as long, a multiple of the lane count.
    pub fn apply(&self, input: &[u32], output: &mut [u32]) {
        assert!(input.len() == output.len() && input.len().is_multiple_of(self.isa.lanes()));
        compiler_fence(Ordering::SeqCst);
        // SAFETY: `new` was told that the code is such a function, and the CPU has its instructions.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            let code = self.base.add(self.entry);
            match self.isa {
                Isa::Sse2 => loops::sse2(code, input, output),
                Isa::Avx2 => loops::avx2(code, input, output),
                Isa::Avx512 => loops::avx512(code, input, output),
            }
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing runs in it any more.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

#[cfg(target_arch = "x86_64")]
mod loops {
    use std::arch::x86_64::{
        __m128, __m256, __m512, _mm_loadu_ps, _mm_storeu_ps, _mm256_loadu_ps, _mm256_storeu_ps, _mm512_loadu_ps,
        _mm512_storeu_ps,
    };

    macro_rules! over_racks {
        ($name:ident $feature:literal $rack:ident $load:ident $store:ident $lanes:literal) => {
            /// Calls `code` for each rack.
            #[target_feature(enable = $feature)]
            pub unsafe fn $name(code: *const u8, input: &[u32], output: &mut [u32]) {
                // SAFETY: the caller knows `code` for such a function; the chunks are as long as a rack.
                unsafe {
                    let function: extern "C" fn($rack) -> $rack = std::mem::transmute(code);
                    for (from, to) in input.chunks_exact($lanes).zip(output.chunks_exact_mut($lanes)) {
                        $store(to.as_mut_ptr().cast(), function($load(from.as_ptr().cast())));
                    }
                }
            }
        };
    }

    over_racks!(sse2 "sse2" __m128 _mm_loadu_ps _mm_storeu_ps 4);
    over_racks!(avx2 "avx2" __m256 _mm256_loadu_ps _mm256_storeu_ps 8);
    over_racks!(avx512 "avx512f" __m512 _mm512_loadu_ps _mm512_storeu_ps 16);
}
