//! How a server is stopped: SIGTERM and SIGINT as a descriptor, or, in tests, an event.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A descriptor that becomes readable when it is time to stop.
#[derive(Debug)]
pub struct StopSignal(OwnedFd);

impl StopSignal {
    /// SIGTERM and SIGINT of this process. Call it before the first thread starts: they are blocked for delivery.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn of_process() -> io::Result<Self> {
        // SAFETY: the set is initialised by sigemptyset before it is used, and lives on this stack frame.
        let fd = unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            libc::sigaddset(&raw mut set, libc::SIGINT);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: signalfd just returned this descriptor; it has no other owner.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// An event that [`StopSignal::stop`] raises.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn event() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Raises an event made by [`StopSignal::event`].
    ///
    /// # Errors
    /// When the descriptor is a signal's.
    pub fn stop(&self) -> io::Result<()> {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes())?;
        Ok(())
    }
}

impl AsRawFd for StopSignal {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
