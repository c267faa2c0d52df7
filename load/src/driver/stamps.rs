//! The kernel's receive stamps (`SO_TIMESTAMPNS`, socket(7)), converted to the load's clock.
//!
//! The kernel stamps a packet when it is received, so the stamp is right however late our thread wakes up. The kernel stamps with
//! `CLOCK_REALTIME`. Its distance from our monotonic clock is constant unless somebody sets the time. The distance is measured at each
//! wait, and after a step the stamps of that wait are not used.

use crate::clock::{NANOS_PER_S, Nanos, now_ns};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The size of the control data with one stamp.
// SAFETY: arithmetic only.
pub(super) const CONTROL_BYTES: usize =
    unsafe { libc::CMSG_SPACE(size_of::<libc::timespec>() as u32) as usize };

/// A change of the distance between the two clocks by more than this is a step.
const STEP_NS: i64 = 1_000;

/// Enables receive stamps on this socket. For packets that are received together, the stamp is that of the last one.
pub(super) fn enable(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option takes an int, which is given by address and size.
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The offset of `tcpi_rcv_ooopack` in `struct tcp_info` (linux/tcp.h, since Linux 5.4); libc's binding ends before it.
const OUT_OF_ORDER_AT: usize = 224;

/// The number of segments that came out of order over a connection so far; `None` if the kernel does not count them.
///
/// A stamp belongs to the last segment by its place in the stream. If an earlier segment arrived later, the bytes were not complete at the
/// time of the stamp.
pub(super) fn out_of_order(socket: impl AsFd) -> Option<u32> {
    let mut info = [0_u8; OUT_OF_ORDER_AT + size_of::<u32>()];
    let mut len = info.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes and reports how many it wrote.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    let count = info.get(OUT_OF_ORDER_AT..len as usize)?.try_into().ok()?;
    (done == 0).then(|| u32::from_ne_bytes(count))
}

/// Whether the kernel accepts the option for receive stamps. Whether it really stamps shows with the first responses.
#[must_use]
pub fn kernel_stamps_receives() -> bool {
    socket(AddressFamily::INET, SocketType::STREAM, None).is_ok_and(|probe| enable(&probe).is_ok())
}

/// The stamp in the control data of a receive, on the kernel's clock.
pub(super) fn stamp_in(control: &[u8]) -> Option<RealNanos> {
    if control.len() < CONTROL_BYTES {
        return None;
    }
    // SAFETY: the check above ensures room for one header and one stamp behind it; both are plain numbers, read unaligned.
    let (head, stamp) = unsafe {
        let head = control.as_ptr().cast::<libc::cmsghdr>().read_unaligned();
        let data = control.as_ptr().add(libc::CMSG_LEN(0) as usize);
        (head, data.cast::<libc::timespec>().read_unaligned())
    };
    let is_stamp = head.cmsg_level == libc::SOL_SOCKET && head.cmsg_type == libc::SCM_TIMESTAMPNS;
    is_stamp.then(|| RealNanos(stamp.tv_sec * NANOS_PER_S as i64 + stamp.tv_nsec))
}

/// Nanoseconds by `CLOCK_REALTIME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RealNanos(i64);

/// The distance of the kernel's clock from ours, which lies between `low_ns` and `high_ns`.
#[derive(Debug)]
pub(super) struct KernelClock {
    low_ns: i64,
    high_ns: i64,
    /// Whether the last reading agreed with the earlier ones.
    is_steady: bool,
}

impl KernelClock {
    /// Creates a clock and reads it once.
    pub(super) fn new() -> Self {
        let mut clock = Self { low_ns: i64::MIN / 2, high_ns: i64::MAX / 2, is_steady: false };
        clock.read();
        clock
    }

    /// Reads both clocks and returns ours.
    pub(super) fn read(&mut self) -> Nanos {
        let before_ns = now_ns();
        let real = clock_gettime(ClockId::Realtime);
        let after_ns = now_ns();
        self.compare(before_ns, RealNanos(real.tv_sec * NANOS_PER_S as i64 + real.tv_nsec), after_ns);
        after_ns
    }

    /// Takes into account that the kernel's clock showed `real` at some moment between two readings of ours.
    fn compare(&mut self, before_ns: Nanos, real: RealNanos, after_ns: Nanos) {
        let (low_ns, high_ns) = (real.0 - after_ns as i64, real.0 - before_ns as i64);
        self.is_steady = low_ns <= self.high_ns + STEP_NS && high_ns >= self.low_ns - STEP_NS;
        if self.is_steady {
            self.low_ns = self.low_ns.max(low_ns).min(high_ns);
            self.high_ns = self.high_ns.min(high_ns).max(self.low_ns);
        } else {
            (self.low_ns, self.high_ns) = (low_ns, high_ns);
        }
    }

    /// The time of a stamp on our clock; `None` if it cannot be known, because the clock was just set, or the stamp lies in the future.
    pub(super) fn ours(&self, stamp: RealNanos, now_ns: Nanos) -> Option<Nanos> {
        let at_ns = stamp.0 - i64::midpoint(self.low_ns, self.high_ns);
        let is_past = at_ns >= 0 && at_ns <= now_ns as i64 + STEP_NS;
        (self.is_steady && is_past).then(|| (at_ns as Nanos).min(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the kernel's clock is ahead of ours.
    const AHEAD: i64 = 1_700_000_000_000_000_000;

    fn clock() -> KernelClock {
        let mut clock = KernelClock { low_ns: i64::MIN / 2, high_ns: i64::MAX / 2, is_steady: false };
        clock.compare(1_000, RealNanos(AHEAD + 1_020), 1_040);
        clock
    }

    #[test]
    fn a_stamp_is_moved_to_our_clock_and_is_never_later_than_now() {
        let clock = clock();
        assert_eq!(clock.ours(RealNanos(AHEAD + 5_000), 9_000), Some(5_000));
        assert_eq!(clock.ours(RealNanos(AHEAD + 9_400), 9_000), Some(9_000), "a difference of rounding");
        assert_eq!(clock.ours(RealNanos(AHEAD + 20_000), 9_000), None, "a stamp from the future");
    }

    #[test]
    fn a_reading_that_was_interrupted_does_not_blur_what_was_known() {
        let mut clock = clock();
        clock.compare(9_000, RealNanos(AHEAD + 10_010), 900_000);
        assert_eq!(clock.ours(RealNanos(AHEAD + 5_000), 900_000), Some(5_000));
        clock.compare(950_000, RealNanos(AHEAD + 950_001), 950_002);
        assert_eq!(clock.ours(RealNanos(AHEAD + 5_000), 950_002), Some(5_000), "and a quick one sharpens it");
    }

    #[test]
    fn after_a_step_of_the_clock_no_stamp_is_used_until_the_next_reading_agrees() {
        for step in [3_600 * NANOS_PER_S as i64, -5_000_000, 50_000] {
            let mut clock = clock();
            clock.compare(20_000, RealNanos(AHEAD + step + 20_010), 20_020);
            assert_eq!(clock.ours(RealNanos(AHEAD + 15_000), 20_020), None, "made before a step of {step}");
            clock.compare(40_000, RealNanos(AHEAD + step + 40_010), 40_020);
            assert_eq!(clock.ours(RealNanos(AHEAD + step + 30_000), 40_020), Some(30_000));
        }
    }

    #[test]
    fn the_real_clocks_agree_with_themselves() {
        let mut clock = KernelClock::new();
        let before_ns = now_ns();
        let real = clock_gettime(ClockId::Realtime);
        let after_ns = clock.read();
        let stamp = RealNanos(real.tv_sec * NANOS_PER_S as i64 + real.tv_nsec);
        let at_ns = clock.ours(stamp, after_ns).expect("the wall clock was not set between two readings");
        assert!(before_ns - 2_000 <= at_ns && at_ns <= after_ns, "{before_ns} {at_ns} {after_ns}");
    }

    #[test]
    fn control_data_without_a_stamp_has_none() {
        assert_eq!(stamp_in(&[]), None);
        assert_eq!(stamp_in(&[0; CONTROL_BYTES]), None);
        let mut control = [0; CONTROL_BYTES];
        let head = [CONTROL_BYTES as u64, (libc::SCM_TIMESTAMPNS as u64) << 32 | libc::SOL_SOCKET as u64];
        for (at, number) in head.into_iter().chain([7, 42]).enumerate() {
            control[8 * at..8 * at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        assert_eq!(stamp_in(&control), Some(RealNanos(7_000_000_042)));
        assert_eq!(stamp_in(&control[..CONTROL_BYTES - 1]), None);
    }
}
