//! How long and how often, in full and in quick.

use crate::server::answer::BODY;
use std::io;
use std::time::Duration;

/// The cores that server and client are pinned to.
#[derive(Clone, Copy, Debug)]
pub struct Cores {
    /// The server's.
    pub server: usize,
    /// The client's.
    pub client: usize,
}

impl Cores {
    /// May this process use both, and are they two?
    ///
    /// # Errors
    /// A sentence that names the flag.
    pub fn check(self) -> io::Result<()> {
        let allowed = rustix::thread::sched_getaffinity(None)?;
        for (flag, core) in [("--server-core", self.server), ("--client-core", self.client)] {
            if core >= rustix::thread::CpuSet::MAX_CPU || !allowed.is_set(core) {
                return Err(io::Error::other(format!("{flag} {core}: this machine has no such core for us")));
            }
        }
        if self.server == self.client {
            return Err(io::Error::other("--server-core and --client-core must be two different cores"));
        }
        Ok(())
    }
}

/// The sizes of a comparison.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Alternated rounds of the cost tables.
    pub rounds: u32,
    /// One run of the closed loop.
    pub closed: Duration,
    /// One run of the open loop.
    pub open: Duration,
    /// Periods of the stalling server.
    pub periods: u32,
    /// Connections of the memory table, and how long one run with them takes.
    pub memory: Vec<(u32, Duration)>,
    /// One closed loop over TLS or HTTP/2.
    pub protocol_closed: Duration,
    /// Periods of the stalling server over TLS or HTTP/2.
    pub protocol_periods: u32,
    /// One run of the memory table over TLS or HTTP/2.
    pub protocol_memory: Duration,
    /// Alternated rounds of one thread and two.
    pub thread_rounds: u32,
}

/// The stall of the truth server.
pub const STALL: Duration = Duration::from_millis(200);
/// How often it stalls.
pub const EVERY: Duration = Duration::from_secs(2);
/// The rate against the truth server.
pub const TRUTH_RATE: u32 = 2_000;
/// The rate against it behind nginx, which takes four times as long for what waits when a stall ends.
pub const PROTOCOL_TRUTH_RATE: u32 = 500;
/// The rate of the open cost table.
pub const OPEN_RATE: u32 = 5_000;
/// The connections of the closed loops that every tool has a place in.
pub const CONNECTIONS: u32 = 64;
/// The closed loops: connections and bytes of each response's body. Every tool has a place in the first.
pub const CLOSED: [(u32, usize); 4] = [(CONNECTIONS, BODY.len()), (64, 65_536), (1_000, 13), (1_000, 65_536)];
/// The closed loops over HTTP/2: connections and streams on each.
pub const STREAMS: [(u32, u32); 2] = [(64, 1), (8, 16)];
/// The connections of the memory tables over TLS and HTTP/2.
pub const PROTOCOL_CONNECTIONS: u32 = 1_000;
/// One thread against two: connections, requests, the open loop's rate, and how long the server takes.
pub const THREADS: (u32, u64, u32, Duration) = (3, 1_200, 240, Duration::from_millis(10));
/// The delay of the server of the memory table.
pub const MEMORY_DELAY: Duration = Duration::from_millis(300);

impl Sizes {
    /// All tables in less than half an hour.
    #[must_use]
    pub fn full() -> Self {
        let seconds = Duration::from_secs;
        Self {
            // This machine below has moods of some seconds: many short rounds meet all of them.
            rounds: 15,
            closed: seconds(1),
            open: seconds(2),
            periods: 5,
            // Many connections are opened for a second, of which the completed rate must not consist.
            memory: vec![(1_000, seconds(4)), (15_000, seconds(10))],
            protocol_closed: seconds(1),
            protocol_periods: 3,
            protocol_memory: seconds(5),
            thread_rounds: 2,
        }
    }

    /// Fewer, shorter rounds. Good enough to see that everything works, not to quote.
    #[must_use]
    pub fn quick() -> Self {
        let second = Duration::from_secs(1);
        Self {
            rounds: 2,
            closed: second,
            open: second,
            periods: 1,
            memory: vec![(1_000, second * 3), (15_000, second * 3)],
            protocol_closed: second,
            protocol_periods: 1,
            protocol_memory: second * 3,
            thread_rounds: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_that_is_not_there_is_refused_by_the_flag_that_asked_for_it() {
        let error = Cores { server: 0, client: 1_000_000 }.check().unwrap_err().to_string();
        assert!(error.contains("--client-core 1000000"), "{error}");
        assert!(Cores { server: 0, client: 0 }.check().is_err());
    }
}
