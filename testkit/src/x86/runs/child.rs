//! The forked child: makes every call, survives its faults, notes how it ended. Nothing here allocates or locks.

use super::places::Ground;
use super::{Isa, Prepared};
use crate::memory::Memory;
use std::sync::atomic::{AtomicU64, Ordering};

std::arch::global_asm!(include_str!("call.s"));

unsafe extern "C" {
    static mut rake_testkit_run_state: State;
    fn rake_testkit_run_sse2();
    fn rake_testkit_run_avx2();
    fn rake_testkit_run_avx512();
    fn rake_testkit_run_recover();
}

/// What a call takes and leaves; `call.s` knows the offsets.
#[repr(C, align(64))]
struct State {
    entry: u64,
    stack: *const u64,
    stack_words: u64,
    our_rsp: u64,
    our_mxcsr: u64,
    mxcsr: u64,
    in_call: u64,
    rsp: u64,
    words: [u64; 6],
    kept: [u64; 6],
    flags: u64,
    mxcsr_after: u64,
    rsp_before: u64,
    _unused: u64,
    vectors: [[u8; 64]; 8],
    vectors_after: [[u8; 32]; 16],
}

/// What is noted of a call, before the bytes of its objects.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Note {
    /// The signal that ended it; 0 when it returned.
    pub signal: u64,
    /// The address that could not be accessed.
    pub address: u64,
    /// Where.
    pub rip: u64,
    /// MXCSR afterwards.
    pub mxcsr: u64,
    /// `rbx rbp r12-r15` afterwards.
    pub kept: [u64; 6],
    /// How far the stack pointer is off.
    pub rsp: u64,
    /// RFLAGS afterwards.
    pub flags: u64,
    /// Whether anything is left in the upper halves of vector registers.
    pub dirty: u64,
    /// One more than the slot where a byte changed that belongs to no object, and its place there.
    pub stray: [u64; 2],
}

/// Signal, address and instruction of a fault.
static FAULT: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

const SIGNALS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

/// Continues behind the call that faulted.
extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system gives both structures; the state is only used in this thread.
    unsafe {
        let state = &raw mut rake_testkit_run_state;
        if (*state).in_call == 0 {
            // Our own fault: it comes again and ends the child.
            libc::signal(signal, libc::SIG_DFL);
            return;
        }
        (*state).in_call = 0;
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        FAULT[0].store(signal as u64, Ordering::Relaxed);
        FAULT[1].store((*info).si_addr() as u64, Ordering::Relaxed);
        FAULT[2].store(registers[libc::REG_RIP as usize] as u64, Ordering::Relaxed);
        registers[libc::REG_RIP as usize] = rake_testkit_run_recover as *const () as i64;
    }
}

/// Makes the signals of faults come to [`on_signal`], on a stack of their own.
fn catch_faults(stack: &Memory, bytes: usize) {
    // SAFETY: system calls with structures that are filled first; the stack is used for nothing else.
    unsafe {
        let stack = libc::stack_t { ss_sp: stack.address(0).cast(), ss_flags: 0, ss_size: bytes };
        libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        for signal in SIGNALS {
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// What the child shares with its parent.
pub struct Shared<'a> {
    /// The caller's objects.
    pub ground: &'a Ground,
    /// What is in a slot where no object is.
    pub canary: &'a [u8],
    /// Number of the call under way, then the notes.
    pub results: &'a Memory,
    /// A stack for signals.
    pub stack: &'a Memory,
    /// Its size.
    pub stack_bytes: usize,
}

/// Makes all calls.
pub fn work(calls: &[Prepared], shared: &Shared) {
    catch_faults(shared.stack, shared.stack_bytes);
    for (number, call) in calls.iter().enumerate() {
        // SAFETY: the first word of the results is for this, and aligned.
        unsafe { shared.results.address(0).cast::<u64>().write_volatile(number as u64) };
        make(call, shared);
    }
}

fn make(call: &Prepared, shared: &Shared) {
    let ground = shared.ground;
    for (slot, (start, bytes)) in call.objects.iter().enumerate() {
        // SAFETY: a slot has `data` bytes, an object is inside its slot, and nothing else refers to them.
        unsafe {
            let data = ground.memory.address(ground.slots.slot(slot));
            data.copy_from_nonoverlapping(shared.canary.as_ptr(), ground.slots.data);
            data.add(*start).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }
    let mut note = enter(call);
    let mut out = call.out + size_of::<Note>();
    for (slot, (start, bytes)) in call.objects.iter().enumerate() {
        // SAFETY: as above; the results have room for the objects behind the note.
        let data = unsafe {
            let data = std::slice::from_raw_parts(ground.memory.address(ground.slots.slot(slot)), ground.slots.data);
            let object = &data[*start..];
            shared.results.address(out).copy_from_nonoverlapping(object.as_ptr(), bytes.len());
            data
        };
        out += bytes.len();
        let end = start + bytes.len();
        if note.stray[0] == 0 && (data[..*start] != shared.canary[..*start] || data[end..] != shared.canary[end..]) {
            let changed = |at: &usize| data[*at] != shared.canary[*at] && !(*start..end).contains(at);
            let at = (0..data.len()).find(changed).unwrap_or(0);
            note.stray = [slot as u64 + 1, at as u64];
        }
    }
    // SAFETY: the results have room for the note here, aligned for it.
    unsafe { shared.results.address(call.out).cast::<Note>().write(note) };
}

/// The call itself.
fn enter(call: &Prepared) -> Note {
    FAULT.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    // SAFETY: only this thread uses the state. What the code under test does, it does to this child only.
    unsafe {
        let state = &raw mut rake_testkit_run_state;
        (*state).entry = call.entry;
        (*state).stack = call.stack.as_ptr();
        (*state).stack_words = call.stack.len() as u64;
        (*state).mxcsr = u64::from(call.mxcsr);
        (*state).words = call.words;
        (*state).vectors = call.vectors;
        match call.isa {
            Isa::Sse2 => rake_testkit_run_sse2(),
            Isa::Avx2 => rake_testkit_run_avx2(),
            Isa::Avx512 => rake_testkit_run_avx512(),
        }
        let upper = |vector: &[u8; 32]| vector[16..].iter().any(|&byte| byte != 0);
        let after = &(*state).vectors_after;
        Note {
            signal: FAULT[0].load(Ordering::Relaxed),
            address: FAULT[1].load(Ordering::Relaxed),
            rip: FAULT[2].load(Ordering::Relaxed),
            mxcsr: (*state).mxcsr_after,
            kept: (*state).kept,
            rsp: (*state).rsp.wrapping_sub((*state).rsp_before),
            flags: (*state).flags,
            dirty: u64::from(call.isa != Isa::Sse2 && after.iter().any(upper)),
            stray: [0; 2],
        }
    }
}
