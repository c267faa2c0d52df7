//! CPU time, to the nanosecond for a process and to the tick for the machine.
//!
//! utime + stime in /proc/PID/stat come in ticks of 10 ms, and /proc/PID/schedstat covers the main thread only, while
//! a sum over /proc/PID/task/*/schedstat misses threads that have ended. The process's own CPU clock (`clock_getcpuclockid`,
//! POSIX) has neither problem: it counts nanoseconds of all threads, including those that have ended. It can be read
//! without permissions, for a zombie too. It does not include children; [`super::cpu_account`] adds them.

use super::own_cores;
use rustix::time::{ClockId, clock_gettime};

/// CPU time that all threads of a process used since its start, in nanoseconds; `None` if there is no such process.
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

/// CPU time that the calling thread used since its start, in nanoseconds.
#[must_use]
pub fn own_thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * threadcount_load::clock::NANOS_PER_S + used.tv_nsec as u64
}

/// The busy columns of /proc/stat: user, nice, system, interrupts, soft interrupts.
const BUSY: [usize; 5] = [0, 1, 2, 5, 6];
const STEAL: [usize; 1] = [7];

/// CPU time used since boot on the CPUs in our affinity mask, by all processes, in nanoseconds (user, nice, system and interrupts); and,
/// separately, the stolen time of these CPUs. In a container with 2 of 64 CPUs the other 62 do not count. 0 if /proc/stat is unreadable.
#[must_use]
pub fn machine_ns() -> (u64, u64) {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let used_ns = |columns: &[usize]| ticks_to_ns(ticks(&stat, &own_cores::contains(), columns));
    (used_ns(&BUSY), used_ns(&STEAL))
}

/// The sum over the lines `cpuN` of /proc/stat.
fn ticks(stat: &str, is_ours: &dyn Fn(usize) -> bool, columns: &[usize]) -> u64 {
    let ours = stat.lines().filter_map(|line| {
        let (number, counters) = line.strip_prefix("cpu")?.split_once(' ')?;
        is_ours(number.parse().ok()?).then_some(counters)
    });
    let sum = |counters: &str| -> u64 {
        let counters: Vec<u64> = counters.split_whitespace().map_while(|it| it.parse().ok()).collect();
        columns.iter().filter_map(|&column| counters.get(column)).sum()
    };
    ours.map(sum).sum()
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
    fn only_the_cores_that_we_may_use_count() {
        let stat = "cpu  1000 20 300 9000 50 6 7 8 0 0\ncpu0 600 10 100 4000 30 4 5 6 0 0\n\
                    cpu1 300 5 100 4000 10 1 1 1 0 0\ncpu3 100 5 100 1000 10 1 1 1 0 0\nintr 1 2\nctxt 7\n";
        let of = |is_ours: &dyn Fn(usize) -> bool, columns: &[usize]| ticks(stat, is_ours, columns);
        assert_eq!(of(&|_| true, &BUSY), 719 + 407 + 207);
        assert_eq!(of(&|core| core == 3, &BUSY), 207, "an offline core has no line");
        assert_eq!(of(&|core| core < 2, &STEAL), 7);
        assert_eq!(of(&|_| false, &BUSY), 0);
    }

    #[test]
    fn the_machine_was_busy_at_least_as_long_as_this_process() {
        let own = process_cpu_ns(std::process::id() as i32).unwrap();
        assert!(machine_ns().0 + 20_000_000 >= own);
    }
}
