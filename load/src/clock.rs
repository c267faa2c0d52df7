//! The one clock of a load: `CLOCK_MONOTONIC` in nanoseconds. A JVM's `System.nanoTime()` on the same machine reads it too, so readings of
//! the load, of processes and of the JVM share one time axis.

use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;

/// Nanoseconds since an arbitrary origin that all processes of this machine share.
pub type Nanos = u64;

/// Nanoseconds in a second.
pub const NANOS_PER_S: u64 = 1_000_000_000;

/// The wall clock in nanoseconds since 1970, the only clock that processes on several machines share.
#[must_use]
pub fn unix_now_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as u64).saturating_mul(NANOS_PER_S).saturating_add(now.tv_nsec as u64)
}

/// Seconds since 1970, as in the dates of HTTP. The wall clock is read only once: if it is set during a load, no cookie ends early.
#[must_use]
pub(crate) fn unix_now_s() -> i64 {
    static READ: OnceLock<BothClocks> = OnceLock::new();
    READ.get_or_init(BothClocks::now).unix_s(now_ns())
}

/// Both clocks at one moment. Durations are measured with the monotonic clock alone, because the wall clock may be set at any time.
#[derive(Clone, Copy, Debug)]
pub struct BothClocks {
    /// The wall clock, in nanoseconds since 1970.
    pub unix_ns: u64,
    /// The monotonic clock.
    pub ns: Nanos,
}

impl BothClocks {
    /// Reads both clocks.
    #[must_use]
    pub fn now() -> Self {
        Self { unix_ns: unix_now_ns(), ns: now_ns() }
    }

    /// The monotonic time of a moment on the wall clock, provided that the wall clock was not set since.
    #[must_use]
    pub const fn ns_at(&self, unix_ns: u64) -> Nanos {
        self.ns.saturating_add(unix_ns).saturating_sub(self.unix_ns)
    }

    /// The wall clock at a later monotonic time, provided that it was not set since.
    const fn unix_s(&self, now_ns: Nanos) -> i64 {
        ((self.unix_ns + now_ns.saturating_sub(self.ns)) / NANOS_PER_S) as i64
    }
}

/// Reads the clock.
#[must_use]
pub fn now_ns() -> Nanos {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOS_PER_S + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_cookies_goes_on_with_the_monotonic_clock() {
        let read = BothClocks { unix_ns: 1_000 * NANOS_PER_S + 5, ns: 7 * NANOS_PER_S };
        assert_eq!(read.unix_s(7 * NANOS_PER_S), 1_000);
        assert_eq!(read.unix_s(67 * NANOS_PER_S), 1_060);
    }

    #[test]
    fn a_time_of_the_wall_clock_is_as_far_from_that_moment_on_the_one_clock() {
        let read = BothClocks { unix_ns: 1_000 * NANOS_PER_S, ns: 7 * NANOS_PER_S };
        let at = |unix_s: u64| read.ns_at(unix_s * NANOS_PER_S) / NANOS_PER_S;
        assert_eq!([1_000, 1_004, 995, 900].map(at), [7, 11, 2, 0]);
    }
}
