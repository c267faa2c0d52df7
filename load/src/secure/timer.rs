//! A timer with the kernel's precision: tokio's own counts in milliseconds, which is as long as many answers take.

use crate::clock::{NANOS_PER_S, Nanos, now_ns};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

/// One timer, for one waiter at a time.
#[derive(Debug)]
pub(super) struct Timer(AsyncFd<OwnedFd>);

impl Timer {
    /// Needs a running tokio runtime.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        Ok(Self(AsyncFd::new(timerfd_create(TimerfdClockId::Monotonic, flags)?)?))
    }

    /// Returns at a moment of [`now_ns`]'s clock or a little later.
    pub async fn until(&mut self, at_ns: Nanos) -> io::Result<()> {
        if at_ns == Nanos::MAX {
            return std::future::pending().await;
        }
        while now_ns() < at_ns {
            self.set(at_ns)?;
            let mut ready = self.0.readable().await?;
            // Setting the timer again makes it unreadable, so the expiration itself is never read.
            ready.clear_ready();
        }
        Ok(())
    }

    fn set(&self, at_ns: Nanos) -> io::Result<()> {
        let at = Timespec { tv_sec: (at_ns / NANOS_PER_S) as i64, tv_nsec: (at_ns % NANOS_PER_S) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn it_never_returns_early_and_can_be_used_again_even_when_a_wait_was_given_up() {
        let mut timer = Timer::new().unwrap();
        for wait_ns in [0, 100_000, 3_000_000, 700_000] {
            let at_ns = now_ns() + wait_ns;
            timer.until(at_ns).await.unwrap();
            assert!(now_ns() >= at_ns);
            let given_up =
                tokio::time::timeout(std::time::Duration::ZERO, timer.until(at_ns + 1_000_000_000)).await;
            assert!(given_up.is_err());
        }
    }
}
