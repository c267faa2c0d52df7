//! CPU time, of a process to the nanosecond and of the machine to the tick.
//!
//! utime + stime in /proc/PID/stat come in ticks of 10 ms, and /proc/PID/schedstat tells of the main thread only, while
//! a sum over /proc/PID/task/*/schedstat loses the threads that ended. The process's own CPU clock (`clock_getcpuclockid`,
//! POSIX) has neither diagnostic: the scheduler's nanoseconds of all its threads, those that ended included. It is read
//! without a permission and for a zombie too. It does not contain children; [`super::cpu_account`] sees to those.

use procfs::{CurrentSI, KernelStats};

/// CPU time that all threads of a process used since its start, in nanoseconds; `None`: there is no such process.
#[must_use]
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: writes one clockid_t to the place given; an unknown pid is reported as an error.
    if unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec to the place given; a process that ended since is reported as an error.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    Some(time.tv_sec as u64 * threadcount_load::clock::NANOS_PER_S + time.tv_nsec as u64)
}

/// CPU time in use on the whole machine since boot, in nanoseconds: user, nice, system and interrupts of all cores.
/// Time that the hypervisor took away (steal) was not in use here and does not count. 0 where /proc/stat is unreadable.
#[must_use]
pub fn machine_busy_ns() -> u64 {
    let Ok(stat) = KernelStats::current() else { return 0 };
    let total = stat.total;
    let busy = total.user + total.nice + total.system + total.irq.unwrap_or(0) + total.softirq.unwrap_or(0);
    ticks_to_ns(busy)
}

/// CPU time that the hypervisor gave to others while something here wanted to run, since boot, in nanoseconds.
#[must_use]
pub fn stolen_ns() -> u64 {
    KernelStats::current().map_or(0, |stat| ticks_to_ns(stat.total.steal.unwrap_or(0)))
}

/// Kernel ticks (`sysconf(_SC_CLK_TCK)`, nearly always 10 ms) as nanoseconds.
#[must_use]
pub fn ticks_to_ns(ticks: u64) -> u64 {
    ticks * (threadcount_load::clock::NANOS_PER_S / procfs::ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_work_is_counted_after_it_ended() {
        let own = std::process::id() as i32;
        let before = process_cpu_ns(own).unwrap();
        std::thread::spawn(|| {
            let start = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            loop {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                let used = (now.tv_sec - start.tv_sec) * 1_000_000_000 + now.tv_nsec - start.tv_nsec;
                if used > 50_000_000 {
                    break;
                }
            }
        })
        .join()
        .unwrap();
        assert!(process_cpu_ns(own).unwrap() - before >= 50_000_000);
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_clock() {
        const BEYOND_PID_MAX_LIMIT: i32 = 4_194_305;
        assert_eq!(process_cpu_ns(BEYOND_PID_MAX_LIMIT), None);
    }

    #[test]
    fn the_machine_was_busy_at_least_as_long_as_this_process() {
        let own = process_cpu_ns(std::process::id() as i32).unwrap();
        assert!(machine_busy_ns() + 20_000_000 >= own);
    }
}
