//! Counts the read and write calls of a process tree, which the kernel counts in `/proc/PID/io` for every process anyway.
//!
//! `syscr` counts `read`, `readv`, `pread` and similar calls, `syscw` the writing ones (proc_pid_io(5)), on files, pipes, event descriptors
//! and sockets. `recv`, `send` and similar calls are not counted. The JDK's sockets use `read` and `write`.

use super::cpu_account::ProcessKey;
use procfs::process::Process;
use std::collections::HashMap;

/// Counters that only grow; take differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCalls {
    /// Calls that read.
    pub reads: u64,
    /// Calls that write.
    pub writes: u64,
}

impl IoCalls {
    /// The calls of a process, of its ended threads and of the children it has waited for; `None` if unreadable.
    #[must_use]
    pub fn read(pid: i32) -> Option<Self> {
        let io = Process::new(pid).and_then(|process| process.io()).ok()?;
        Some(Self { reads: io.syscr, writes: io.syscw })
    }
}

/// Adds up the calls of a changing set of processes as counters that only grow. A child's calls move to its parent when the parent waits
/// for it, so the calls counted while the child lived are subtracted, as in [`CpuAccount`](super::cpu_account::CpuAccount).
#[derive(Debug, Default)]
pub struct IoAccount {
    total: IoCalls,
    /// Calls counted for children that ended before the last reading but were in no parent's calls yet.
    not_reaped: IoCalls,
    last: HashMap<ProcessKey, IoCalls>,
}

impl IoAccount {
    /// Takes the next reading of all processes of the tree; returns the counters.
    pub fn add(&mut self, now: HashMap<ProcessKey, IoCalls>) -> IoCalls {
        let ended = self.last.iter().filter(|(key, _)| !now.contains_key(key)).map(|(_, calls)| calls);
        let counted = ended.fold(IoCalls::default(), |sum, calls| sum.plus(*calls));
        let gained = now.iter().fold(IoCalls::default(), |sum, (key, calls)| {
            sum.plus(calls.since(self.last.get(key).copied().unwrap_or_default()))
        });
        let gained = gained.since(std::mem::take(&mut self.not_reaped));
        self.not_reaped = counted.since(gained);
        self.total = self.total.plus(gained.since(counted));
        self.last = now;
        self.total
    }
}

impl IoCalls {
    const fn plus(self, other: Self) -> Self {
        Self { reads: self.reads + other.reads, writes: self.writes + other.writes }
    }

    const fn since(self, before: Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            writes: self.writes.saturating_sub(before.writes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    const CALLS: u64 = 10_000;

    fn own() -> IoCalls {
        IoCalls::read(std::process::id() as i32).expect("/proc/PID/io")
    }

    #[test]
    fn each_call_of_read_and_write_is_counted_and_those_of_recv_and_send_are_not() {
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        let mut byte = [0];
        let before = own();
        for _ in 0..CALLS {
            writer.write_all(&byte).expect("a byte");
            reader.read_exact(&mut byte).expect("a byte");
        }
        let by_pipe = own().since(before);
        // Other tests of this process read and write too.
        assert!((CALLS..2 * CALLS).contains(&by_pipe.writes) && by_pipe.reads >= CALLS, "{by_pipe:?}");
        // Rust's own sockets call recv and send.
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut client = TcpStream::connect(server.local_addr().expect("an address")).expect("a connection");
        let (mut accepted, _) = server.accept().expect("a connection");
        let before = own();
        for _ in 0..CALLS {
            client.write_all(&byte).expect("a byte");
            accepted.read_exact(&mut byte).expect("a byte");
        }
        let by_socket = own().since(before);
        assert!(by_socket.writes < CALLS, "{by_socket:?}");
    }

    const fn calls(reads: u64) -> IoCalls {
        IoCalls { reads, writes: 0 }
    }

    #[test]
    fn a_child_that_was_waited_for_is_counted_once_and_a_new_process_from_its_start() {
        let mut account = IoAccount::default();
        let reading = |all: &[(i32, u64)]| all.iter().map(|&(pid, reads)| ((pid, 1), calls(reads))).collect();
        let start = account.add(reading(&[(1, 100), (2, 300)]));
        assert_eq!(account.add(reading(&[(1, 110), (2, 305), (3, 7)])).since(start), calls(22));
        // The child read 50 more before it ended, and its parent has waited for it.
        assert_eq!(account.add(reading(&[(1, 465), (3, 7)])).since(start), calls(72));
    }
}
