//! Finds how much longer a thread with a time limit will wait, from its system call.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The number of the system call `futex` on this architecture.
#[cfg(target_arch = "x86_64")]
const FUTEX: u64 = 202;
#[cfg(not(target_arch = "x86_64"))]
const FUTEX: u64 = 98;
/// The operation that waits until a point in time, which the JDK uses (FUTEX_WAIT_BITSET).
const WAITS_UNTIL: u64 = 9;
const OPERATION: u64 = 0x7f;
/// The flag for a point in time of the calendar, which `parkUntil` sets (FUTEX_CLOCK_REALTIME).
const CALENDAR_TIME: u64 = 0x100;

/// The time that is left; `None` if the thread does not wait until a point in time, or if its memory cannot be read.
pub(super) fn of(pid: u32, task: u32) -> Option<Duration> {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{task}/syscall")).ok()?;
    let (address, is_calendar_time) = moment_at(&call)?;
    let mut moment = [0; 16];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut moment, address).ok()?;
    let number = |at: usize| i64::from_ne_bytes(moment[at..at + 8].try_into().unwrap_or_default());
    let until = Duration::new(u64::try_from(number(0)).ok()?, u32::try_from(number(8)).ok()?);
    let clock =
        if is_calendar_time { rustix::time::ClockId::Realtime } else { rustix::time::ClockId::Monotonic };
    let now = rustix::time::clock_gettime(clock);
    let now = Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?);
    Some(until.saturating_sub(now))
}

/// The address of the point in time in the process's memory, and whether the calendar's clock counts, from `202 0x7f.. 0x189 0x0 0x7f..
/// ..`: the call's number and its arguments.
fn moment_at(call: &str) -> Option<(u64, bool)> {
    let mut words = call.split_ascii_whitespace();
    let is_futex = words.next()?.parse() == Ok(FUTEX);
    let arguments: Vec<u64> =
        words.filter_map(|it| u64::from_str_radix(it.strip_prefix("0x")?, 16).ok()).collect();
    let [_, operation, _, moment, ..] = arguments[..] else { return None };
    (is_futex && operation & OPERATION == WAITS_UNTIL && moment != 0)
        .then_some((moment, operation & CALENDAR_TIME != 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    /// The time that is left to a thread that waits in this way, once it waits.
    fn left(wait: fn(), is_found: fn(&Option<Duration>) -> bool) -> Option<Duration> {
        let (send, id) = mpsc::channel();
        thread::spawn(move || {
            send.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            loop {
                wait();
            }
        });
        let task = id.recv().unwrap();
        loop {
            let stat = fs::read_to_string(format!("/proc/self/task/{task}/stat")).unwrap();
            let is_asleep = stat.rsplit(')').next().unwrap().trim_start().starts_with('S');
            let found = of(std::process::id(), task);
            if is_asleep && is_found(&found) {
                return found;
            }
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_is_parked_for_an_hour_has_an_hour_left_and_one_that_is_parked_without_a_limit_has_none()
    {
        let hour = left(|| thread::park_timeout(Duration::from_secs(3_600)), Option::is_some).unwrap();
        assert!(hour <= Duration::from_secs(3_600) && hour > Duration::from_secs(3_000), "{hour:?}");
        assert_eq!(left(thread::park, Option::is_none), None);
    }

    #[test]
    fn only_a_wait_until_a_moment_has_one() {
        let call = |words: &str| moment_at(&format!("{FUTEX} {words} 0x0 0x0 0x7ffc 0x7f1a\n"));
        assert_eq!(call("0x7f01 0x89 0x0 0x7f02"), Some((0x7f02, false)));
        assert_eq!(call("0x7f01 0x189 0x0 0x7f02"), Some((0x7f02, true)));
        assert_eq!(call("0x7f01 0x89 0x0 0x0"), None, "without a limit");
        assert_eq!(call("0x7f01 0x80 0x0 0x7f02"), None, "for a time");
        assert_eq!(moment_at("running\n"), None);
    }
}
