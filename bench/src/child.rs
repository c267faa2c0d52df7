//! One child process on one core: what it cost by the kernel's own account when it ended.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::server::Served;

/// How often a running child is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a child cost from its start to its end.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// User and system time of all its threads, from wait4.
    pub cpu: Duration,
    /// The most memory it had resident at any time, in KiB.
    pub peak_rss_kib: u64,
    /// How it ended.
    pub status: ExitStatus,
    /// It was killed because it did not end in time.
    pub too_slow: bool,
}

/// Memory of a process in KiB, from `/proc/PID/status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Resident now (VmRSS).
    pub rss_kib: u64,
    /// The most that was ever resident (VmHWM).
    pub peak_kib: u64,
}

/// Puts the command's process on one core, and lets it die with us.
pub fn pin(command: &mut Command, core: usize) -> &mut Command {
    // SAFETY: between fork and exec only two system calls are made; neither allocates or takes a lock.
    unsafe {
        command.pre_exec(move || {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            if libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) != 0
                || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0
            {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        })
    }
}

/// Lets the command's process go before everything else on its core, where that is allowed: what the machine does besides
/// then delays no other process. Of two on one core that of higher `priority` (from 1) goes first. Not for one that never
/// sleeps: the kernel stops those for a twentieth of each second.
pub fn urgent(command: &mut Command, priority: i32) -> &mut Command {
    // SAFETY: between fork and exec only one system call is made; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || {
            let priority = libc::sched_param { sched_priority: priority };
            // Where it is refused, the process goes like any other.
            libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority);
            Ok(())
        })
    }
}

/// Runs a command to its end, at most `limit`; `look` is called every 20 ms with its memory.
///
/// # Errors
/// When it cannot be started.
pub fn run(command: &mut Command, limit: Duration, mut look: impl FnMut(Memory)) -> io::Result<Spent> {
    let child = command.spawn()?;
    let pid = child.id();
    let started = Instant::now();
    let mut seen = Memory::default();
    let mut too_slow = false;
    loop {
        if let Some(memory) = memory_of(pid) {
            seen = memory;
            look(memory);
        }
        if let Some((status, usage)) = wait4(pid)? {
            let peak_rss_kib = peak_kib(seen.peak_kib, usage.ru_maxrss as u64, own_peak_kib());
            return Ok(Spent { cpu: cpu_of(&usage), peak_rss_kib, status, too_slow });
        }
        if !too_slow && started.elapsed() > limit {
            too_slow = true;
            kill(pid, libc::SIGKILL);
        }
        std::thread::sleep(LOOK);
    }
}

/// The child's peak. `ru_maxrss` is exact to the end, but begins with what we had when we forked (the kernel counts
/// the memory before exec too); below that only our own samples of VmHWM count.
fn peak_kib(sampled: u64, ru_maxrss: u64, own_peak: u64) -> u64 {
    if ru_maxrss > own_peak { ru_maxrss.max(sampled) } else { sampled }
}

fn own_peak_kib() -> u64 {
    memory_of(std::process::id()).map_or(0, |memory| memory.peak_kib)
}

fn wait4(pid: u32) -> io::Result<Option<(ExitStatus, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: both pointers are to this stack frame; zero bytes are a valid rusage.
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid as i32, &raw mut status, libc::WNOHANG, &raw mut usage), usage)
    };
    match ended {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some((ExitStatus::from_raw(status), usage))),
    }
}

fn cpu_of(usage: &libc::rusage) -> Duration {
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1_000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn kill(pid: u32, signal: i32) {
    // SAFETY: kill takes two integers; the process is our child and has not been waited for.
    unsafe { libc::kill(pid as i32, signal) };
}

/// The memory of a running process; `None` when it is gone or a zombie.
#[must_use]
pub fn memory_of(pid: u32) -> Option<Memory> {
    memory_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

fn memory_in(status: &str) -> Option<Memory> {
    let kib = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    Some(Memory { rss_kib: kib("VmRSS:")?, peak_kib: kib("VmHWM:")? })
}

/// One of our servers as a process of its own.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    output: BufReader<ChildStdout>,
    port: u16,
}

impl ServerProcess {
    /// Starts it; returns once it listens and has printed its port.
    ///
    /// # Errors
    /// When it cannot be started, or ends without printing a port.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("the server has no output"))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        match line.trim().parse() {
            Ok(port) => Ok(Self { child, output, port }),
            Err(_) => {
                let _ = child.kill();
                child.wait()?;
                Err(io::Error::other("the server ended before it listened; its own message stands above"))
            }
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Stops it with SIGTERM and reads what it counted.
    ///
    /// # Errors
    /// When it printed no counts.
    pub fn stop(mut self) -> io::Result<Served> {
        kill(self.child.id(), libc::SIGTERM);
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        self.child.wait()?;
        serde_json::from_str(&text).map_err(|_| io::Error::other("the server ended without its counts"))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // After a stop this finds a child that has been waited for and does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_child_that_only_sleeps_costs_next_to_nothing_and_one_that_counts_costs_more() {
        let sleeper = run(&mut shell("sleep 0.1"), LONG, |_| {}).unwrap();
        let worker =
            run(&mut shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"), LONG, |_| {}).unwrap();
        assert!(sleeper.status.success() && worker.status.success());
        assert!(worker.cpu > sleeper.cpu * 2, "{:?} against {:?}", worker.cpu, sleeper.cpu);
    }

    #[test]
    fn a_child_that_takes_64_mib_has_that_peak_even_when_it_gave_it_back() {
        let python =
            "import time; a = bytearray(64 << 20); a[::4096] = b'x' * len(a[::4096]); del a; time.sleep(1)";
        let spent = run(Command::new("python3").args(["-c", python]), LONG, |_| {});
        let spent = spent.expect("this test needs python3, which tools/install.sh installs");
        assert!((64 << 10..128 << 10).contains(&spent.peak_rss_kib), "{} KiB", spent.peak_rss_kib);
    }

    #[test]
    fn our_own_memory_before_exec_is_not_the_childs() {
        assert_eq!(peak_kib(3_000, 9_000, 9_000), 3_000);
        assert_eq!(peak_kib(50_000, 60_000, 9_000), 60_000);
    }

    #[test]
    fn a_child_that_does_not_end_is_killed_and_said_to_be_too_slow() {
        let spent = run(&mut shell("exec sleep 60"), Duration::from_millis(50), |_| {}).unwrap();
        assert!(spent.too_slow && !spent.status.success());
    }

    #[test]
    fn a_pinned_child_may_run_on_its_core_only() {
        let spent = run(pin(&mut shell("test $(nproc) = 1"), 0), LONG, |_| {}).unwrap();
        assert!(spent.status.success());
    }

    #[test]
    fn memory_is_read_from_the_status_file() {
        let status = "Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n";
        assert_eq!(memory_in(status), Some(Memory { rss_kib: 1_024, peak_kib: 2_048 }));
        assert_eq!(memory_in("Name:\tzombie\n"), None);
    }
}
