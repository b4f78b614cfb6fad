//! Runs commands and tells what they took and how they ended.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// What a finished process took.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// How it ended.
    pub status: ExitStatus,
    /// From just before its start to its end.
    pub wall: Duration,
    /// User and system time of it and of the children that it waited for.
    pub cpu: Duration,
    /// The most memory that it held, in bytes. A fork counts what its parent held, so keep the measuring process small.
    pub peak: u64,
}

/// Runs a command to its end.
///
/// # Errors
///
/// It could not be started or waited for.
pub fn measure(command: &mut Command) -> io::Result<Usage> {
    let start = Instant::now();
    let child = command.spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: all-zero is a value of this plain structure, and both places outlive the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        while libc::wait4(pid, &raw mut status, 0, &raw mut usage) < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        usage
    };
    let wall = start.elapsed();
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    Ok(Usage {
        status: ExitStatus::from_raw(status),
        wall,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        // Linux counts in KiB.
        peak: usage.ru_maxrss as u64 * 1024,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_time_and_memory_are_told() {
        let usage = measure(Command::new("sh").args(["-c", "sleep 0.05; exit 3"])).unwrap();
        assert_eq!(usage.status.code(), Some(3));
        assert!(usage.wall >= Duration::from_millis(50) && usage.peak > 100_000, "{usage:?}");
        assert!(measure(&mut Command::new("no-such-command")).is_err());
    }
}
