//! Lets a test play two parts: the test itself, and a second process that it can stop or limit.

use super::comes_true;
use super::transport::{TRANSPORTS, Transport};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const TRANSPORT: &str = "CORNERS_TRANSPORT";
const PORT: &str = "CORNERS_PORT";

/// The part of this process if it is the second one.
pub fn part() -> Option<(Transport, u16)> {
    let name = std::env::var(TRANSPORT).ok()?;
    let transport = TRANSPORTS.into_iter().find(|transport| format!("{transport:?}") == name).unwrap();
    Some((transport, std::env::var(PORT).unwrap().parse().unwrap()))
}

/// Starts this test as a second process. Its input ends when the caller waits for it.
pub fn start(test: &str, way: Transport, port: u16) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(TRANSPORT, format!("{way:?}"))
        .env(PORT, port.to_string())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Stops the second process during a system call that waits, and lets it go on when `meanwhile` is done. At any other moment it could be
/// about to carry out an earlier decision.
pub fn stop_during(process: &Child, meanwhile: impl FnOnce()) {
    let pid = process.id();
    let signal = |signal| {
        // SAFETY: a system call; the process is a child that nobody has waited for.
        assert_eq!(unsafe { libc::kill(pid as libc::pid_t, signal) }, 0);
    };
    // Between looking at its connections and sending the next requests, nothing could tell it that connections have ended.
    comes_true("it is stopped while it waits", || {
        if !are_threads(pid, 'S') {
            return false;
        }
        signal(libc::SIGSTOP);
        comes_true("it is stopped", || are_threads(pid, 'T'));
        let is_waiting = is_waiting(pid);
        if !is_waiting {
            signal(libc::SIGCONT);
        }
        is_waiting
    });
    meanwhile();
    signal(libc::SIGCONT);
}

/// Whether all threads of a process have this state (proc_pid_stat(5)).
fn are_threads(pid: u32, state: char) -> bool {
    let mut threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.all(|thread| {
        // The text is empty for a thread that has ended meanwhile.
        let stat = text(&thread.unwrap().path().join("stat"));
        stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with(state))
    })
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Whether each thread of a stopped process is in a system call that waits (its number in proc_pid_syscall(5)).
fn is_waiting(pid: u32) -> bool {
    const WAITING: [libc::c_long; 7] = [
        libc::SYS_epoll_pwait,
        libc::SYS_epoll_pwait2,
        libc::SYS_futex,
        libc::SYS_ppoll,
        libc::SYS_clock_nanosleep,
        // Reading its input, which the load does not use.
        libc::SYS_read,
        // The kernel uses this call to continue a wait with a time limit after an earlier stop (restart_syscall(2)).
        libc::SYS_restart_syscall,
    ];
    let mut threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.all(|thread| {
        let call = text(&thread.unwrap().path().join("syscall"));
        let number = call.split_whitespace().next().and_then(|number| number.parse().ok());
        // Not every architecture has the older call.
        #[cfg(target_arch = "x86_64")]
        let is_older = number == Some(libc::SYS_epoll_wait);
        #[cfg(not(target_arch = "x86_64"))]
        let is_older = false;
        is_older || number.is_some_and(|number| WAITING.contains(&number))
    })
}
