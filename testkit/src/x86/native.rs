//! Runs jobs on this CPU, in a forked child that shares the arena with us.

use super::arena::Arena;
use super::{Fault, Isa, Job, Out, emulator};

/// Seconds of processor time after which the code under test is taken for an endless loop.
const CPU_SECONDS: u64 = 60;

/// Whether this CPU (and the operating system) can execute `isa`.
#[cfg(target_arch = "x86_64")]
pub fn cpu_has(isa: Isa) -> bool {
    match isa {
        Isa::Sse2 => true,
        Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        Isa::Avx512 => {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        }
    }
}

/// Whether this CPU (and the operating system) can execute `isa`.
#[cfg(not(target_arch = "x86_64"))]
pub fn cpu_has(_: Isa) -> bool {
    false
}

pub fn run(jobs: &[Job]) -> Result<Vec<Vec<Out>>, Fault> {
    if let Some(job) = jobs.iter().find(|job| !cpu_has(job.isa)) {
        return Err(Fault::machinery(format!("this CPU cannot execute {:?} code", job.isa)));
    }
    let mut arena = Arena::new(jobs, false)?;
    arena.protect()?;
    let status = in_child(CPU_SECONDS, || {
        for (number, job) in jobs.iter().enumerate() {
            arena.begin(number);
            let (trampoline, job) = arena.call(number, job.isa);
            // SAFETY: the address is that of a C function of this type. What it calls may do
            // anything, but to the child only; the arena is memory that we only read as bytes.
            unsafe {
                let call: extern "C" fn(*const u8) = std::mem::transmute(trampoline);
                call(job);
            }
        }
    })?;
    if status == 0 {
        return Ok(arena.results());
    }
    let (number, record) = arena.progress();
    let mut message = format!("the code under test ended by {}", describe(status));
    let timed_out = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGXCPU;
    if !timed_out && let Some(cause) = cause(jobs, number, record) {
        message = format!("{message} (in the emulator: {cause})");
    }
    Err(Fault { at: Some((number, record)), message })
}

/// Where and why a call breaks off, which the emulator can tell (if it is there).
fn cause(jobs: &[Job], number: usize, record: usize) -> Option<String> {
    let job = jobs.get(number)?;
    let regs = job.regs.get(record..=record)?;
    let fault = emulator::run(&[Job { regs, ..*job }]).err()?;
    fault.at.is_some().then_some(fault.message)
}

/// Runs `body` in a forked child, for so many seconds of processor time at most, and returns the
/// child's wait status. `body` must not allocate or lock: other threads' locks are held for ever in the child.
pub(super) fn in_child(seconds: u64, body: impl FnOnce()) -> Result<libc::c_int, Fault> {
    // SAFETY: the child makes system calls and runs `body`, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: plain system calls with valid arguments.
        unsafe {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            let time = libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 1 };
            libc::setrlimit(libc::RLIMIT_CPU, &time);
            // The parent's handlers would print; the wait status says it all.
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP] {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        body();
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(0) }
    }
    let mut status = 0;
    loop {
        // SAFETY: waits for our own child.
        let done = unsafe { libc::waitpid(child, &mut status, 0) };
        if child > 0 && done == child {
            return Ok(status);
        }
        let error = std::io::Error::last_os_error();
        if child < 0 || error.kind() != std::io::ErrorKind::Interrupted {
            return Err(Fault::machinery(format!("starting a child process: {error}")));
        }
    }
}

pub(super) fn describe(status: libc::c_int) -> String {
    if !libc::WIFSIGNALED(status) {
        return format!("exit status {}", libc::WEXITSTATUS(status));
    }
    match libc::WTERMSIG(status) {
        libc::SIGSEGV => "SIGSEGV (a wrong address, or a misaligned operand)".to_owned(),
        libc::SIGILL => "SIGILL (an illegal instruction)".to_owned(),
        libc::SIGTRAP => "SIGTRAP (it ran out of its image, or into int3)".to_owned(),
        libc::SIGFPE => "SIGFPE (an unmasked exception or a division)".to_owned(),
        libc::SIGXCPU | libc::SIGKILL => format!("using {CPU_SECONDS} s of processor time"),
        signal => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_loop_is_ended() {
        let status = in_child(1, || {
            loop {
                std::hint::spin_loop();
            }
        });
        assert!(describe(status.unwrap()).starts_with("using "));
    }

    #[test]
    fn a_child_reports_its_end() {
        assert_eq!(in_child(5, || ()).unwrap(), 0);
        // SAFETY: ends the child.
        let status = in_child(5, || unsafe { libc::_exit(3) });
        assert_eq!(describe(status.unwrap()), "exit status 3");
        // SAFETY: sends the child a signal.
        let status = in_child(5, || unsafe {
            libc::raise(libc::SIGILL);
        });
        assert!(describe(status.unwrap()).starts_with("SIGILL"));
    }
}
