//! Detects that the whole generator was stopped for a while, by SIGSTOP, a debugger, or a machine that gave it no CPU. A closed loop cannot
//! notice this by sending late, because it rests until a response arrives.

use crate::clock::{NANOS_PER_S, Nanos, now_ns};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often the thread that collects results wakes up.
const BEAT: Duration = Duration::from_millis(100);
/// A shorter delay is normal on a busy machine.
const STOPPED_NS: Nanos = NANOS_PER_S / 4;

/// The results of the workers, received in a way that shows when the process was stopped.
pub(crate) struct Heartbeat<'a, T> {
    received: &'a Receiver<T>,
    stopped_ns: Nanos,
}

impl<'a, T> Heartbeat<'a, T> {
    pub(crate) const fn new(received: &'a Receiver<T>) -> Self {
        Self { received, stopped_ns: 0 }
    }

    /// How long the process was stopped so far.
    pub(crate) const fn stopped_ns(&self) -> Nanos {
        self.stopped_ns
    }
}

impl<T> Iterator for Heartbeat<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            let before_ns = now_ns();
            let received = self.received.recv_timeout(BEAT);
            self.stopped_ns += stopped_ns(now_ns() - before_ns);
            match received {
                Ok(item) => return Some(item),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// The part of a wait in which the process was stopped.
fn stopped_ns(waited_ns: Nanos) -> Nanos {
    let late_ns = waited_ns.saturating_sub(BEAT.as_nanos() as Nanos);
    if late_ns < STOPPED_NS { 0 } else { late_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_that_is_much_longer_than_a_beat_is_a_stop_and_one_that_is_a_little_late_is_none() {
        const MS: Nanos = 1_000_000;
        assert_eq!([100 * MS, 349 * MS].map(stopped_ns), [0, 0]);
        assert_eq!(stopped_ns(2_100 * MS), 2_000 * MS);
    }
}
