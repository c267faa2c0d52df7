//! The one clock: `CLOCK_MONOTONIC` in nanoseconds, the clock that `System.nanoTime()` of a JVM on the same
//! machine reads too, so that readings of load, process and JVM can be laid over each other.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since an arbitrary origin that all processes of this machine share.
pub type Nanos = u64;

/// Nanoseconds in a second.
pub const NANOS_PER_S: u64 = 1_000_000_000;

/// The wall clock, in nanoseconds since 1970: the only one that processes on several machines share.
#[must_use]
pub fn unix_now_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as u64).saturating_mul(NANOS_PER_S).saturating_add(now.tv_nsec as u64)
}

/// The same in whole seconds, as the dates of HTTP have them.
#[must_use]
pub(crate) fn unix_now_s() -> i64 {
    (unix_now_ns() / NANOS_PER_S) as i64
}

/// Reads the clock.
#[must_use]
pub fn now_ns() -> Nanos {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NANOS_PER_S + now.tv_nsec as u64
}
