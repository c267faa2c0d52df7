//! The sockets of one thread to the servers of a load, numbered by [`Slot`], over epoll.
//!
//! The engine connects, sends, closes and waits, and then takes the events one [`Completion`] after the other. Received bytes lie in one
//! buffer that all sockets of the thread share, so a silent connection costs no memory.

mod epoll;
mod outgoing;
mod socket;
pub(crate) mod stamps;

/// The driver below the engine. The engine's unit tests use one without a kernel; the tests in `tests/` run whole loads.
#[cfg(not(test))]
pub(crate) use epoll::Epoll as Driver;
#[cfg(test)]
pub(crate) use tests::simulated::Simulated as Driver;

use crate::clock::Nanos;

/// The index of a connection among those of its thread.
pub(crate) type Slot = u32;

/// The smallest number of bytes for which skipping pays.
pub(crate) const LEAST_SKIPPED: u64 = 16 * 1024;

/// An event of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub slot: Slot,
    pub event: Event,
    /// The time at which the driver saw the event, never before it happened.
    pub at_ns: Nanos,
    /// The time at which the kernel received the last of the bytes, never later than `at_ns`; `None` without a stamp.
    pub stamp_ns: Option<Nanos>,
}

/// The events that may end a wait before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Any event ends the wait.
    AtOnce,
    /// No response ends the wait; responses are handled when the time is reached. Connections that are being opened, and requests of which
    /// only a part has left, still end it.
    OnTime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The connection is established.
    Connected,
    /// Bytes were received. They lie in the driver's buffer until the next event is taken.
    Received(usize),
    /// This many of the bytes to skip were received.
    Skipped(u64),
    /// The server closed its side of the connection.
    Ended,
    /// Connecting, sending or receiving failed with this errno.
    Failed(i32),
}

#[cfg(test)]
pub(crate) mod tests;
