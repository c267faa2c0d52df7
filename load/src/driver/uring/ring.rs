//! The ring itself: how it is set up, how it sleeps, and which of its errors pass.

use crate::clock::{NANOS_PER_S, Nanos};
use io_uring::types::Timespec;
use io_uring::{EnterFlags, IoUring};
use std::io;

/// Entries of the submission queue; a fuller round is submitted in parts.
const SUBMISSIONS: u32 = 512;
/// Most room for completions; what overflows it is kept by the kernel at a price.
const COMPLETIONS: u32 = 32 * 1024;
/// The timeout of `io_uring_enter` (`io_uring_getevents_arg`).
#[repr(C)]
struct Until {
    mask: u64,
    mask_bytes: u32,
    min_wait_us: u32,
    time: u64,
}

/// A ring whose kernel side runs only when its one thread waits. Whoever has that (Linux 6.1) has multishot receives and
/// provided buffer rings too.
pub(super) fn set_up(slots: u32) -> io::Result<IoUring> {
    let completions = (4 * slots).next_power_of_two().clamp(2 * SUBMISSIONS, COMPLETIONS);
    let mut builder = IoUring::builder();
    builder.setup_cqsize(completions).setup_clamp().setup_submit_all();
    builder.setup_single_issuer().setup_defer_taskrun().build(SUBMISSIONS)
}

/// Submits, and sleeps until a moment or until there are as many completions. Completions in between do not wake the thread.
pub(super) fn sleep_until(ring: &IoUring, completions: u32, until_ns: Nanos) -> io::Result<usize> {
    let time = Timespec::new().sec(until_ns / NANOS_PER_S).nsec((until_ns % NANOS_PER_S) as u32);
    let until = Until { mask: 0, mask_bytes: 0, min_wait_us: 0, time: (&raw const time) as u64 };
    // SAFETY: one thread owns the ring and its submission queue.
    let to_submit = unsafe { ring.submission_shared() }.len() as u32;
    let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG | EnterFlags::ABS_TIMER;
    // SAFETY: the argument and the time that it points at live until the call is over.
    unsafe { ring.submitter().enter(to_submit, completions, flags.bits(), Some(&until)) }
}

pub(super) fn tolerate<T>(entered: io::Result<T>) -> io::Result<()> {
    match entered {
        Err(error) if !is_passing(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Errors that mean: handle the completions first.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EBUSY | libc::EAGAIN | libc::ETIME))
}
