//! Handles signals.
//!
//! The first Ctrl-C, SIGTERM, SIGHUP or SIGXCPU (a soft limit of CPU time) asks for an early end that keeps everything measured; the second
//! ends the process at once. A signal that this process was started to ignore, as under `nohup`, stays ignored.

use procfs::process::Process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first of these signals sets; the second ends the process with [`FAILED`](super::FAILED).
///
/// # Errors
/// The kernel's error when a handler cannot be installed.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGXCPU].into_iter().filter(|signal| !is_ignored(*signal)) {
        // The order matters: the first signal must find the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(super::FAILED), Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Whether the signal was ignored when this process began, as SIGHUP is under `nohup`.
fn is_ignored(signal: i32) -> bool {
    let status = Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign & (1 << (signal - 1)) != 0)
}

/// Turns a write beyond `ulimit -f` into an error of the write, as on a full disk. Otherwise the signal would end the process.
///
/// # Errors
/// The kernel's error when the handler cannot be installed.
pub fn meet_file_limit_as_an_error() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}
