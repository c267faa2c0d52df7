//! How long and how often, in full and in quick.

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
    /// One run of the memory table.
    pub memory: Duration,
    /// Connections of the memory table.
    pub connections: Vec<u32>,
}

/// The stall of the truth server.
pub const STALL: Duration = Duration::from_millis(200);
/// How often it stalls.
pub const EVERY: Duration = Duration::from_secs(2);
/// The rate against the truth server.
pub const TRUTH_RATE: u32 = 2_000;
/// The rate of the open cost table.
pub const OPEN_RATE: u32 = 5_000;
/// The delay of the server of the memory table.
pub const MEMORY_DELAY: Duration = Duration::from_millis(300);

impl Sizes {
    /// Nine rounds.
    #[must_use]
    pub fn full() -> Self {
        Self {
            // This machine below has moods of some seconds: many short rounds meet all of them.
            rounds: 9,
            closed: Duration::from_secs(2),
            open: Duration::from_secs(2),
            periods: 10,
            memory: Duration::from_secs(20),
            connections: vec![1_000, 10_000, 15_000],
        }
    }

    /// Fewer, shorter rounds. Good enough to see that everything works, not to quote.
    #[must_use]
    pub fn quick() -> Self {
        Self {
            rounds: 3,
            closed: Duration::from_secs(1),
            open: Duration::from_secs(1),
            periods: 2,
            memory: Duration::from_secs(3),
            connections: vec![1_000, 15_000],
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
