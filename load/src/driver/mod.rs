//! One thread's sockets to the servers of a load, numbered by [`Slot`], over epoll.
//!
//! The engine connects, sends and closes, waits, and then takes what happened one [`Completion`] after the other. Received
//! bytes lie in one buffer that all sockets of the thread share, so that a silent connection costs no memory.

mod epoll;
mod outgoing;
mod socket;
pub(crate) mod stamps;

/// The driver below the engine. The engine's own tests run over one without a kernel; whole loads are tested in `tests/`.
#[cfg(not(test))]
pub(crate) use epoll::Epoll as Driver;
#[cfg(test)]
pub(crate) use tests::simulated::Simulated as Driver;

use crate::clock::Nanos;

/// Which of a thread's connections, from 0.
pub(crate) type Slot = u32;

/// Fewer bytes than this are not worth a way of their own.
pub(crate) const LEAST_SKIPPED: u64 = 16 * 1024;

/// Something that happened to one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub slot: Slot,
    pub event: Event,
    /// When the driver saw it; never before it happened.
    pub at_ns: Nanos,
    /// When the kernel received the last of the bytes, if it stamps; never later than `at_ns`.
    pub stamp_ns: Option<Nanos>,
}

/// The reason why a wait may end before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The first thing that happens ends it.
    AtOnce,
    /// Nothing does: responses are handled when the time is reached. Connections that are being opened and requests that have
    /// partly left still end the wait.
    OnTime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The connection is established.
    Connected,
    /// So many bytes were received, which lie in the driver's buffer until the next event is taken.
    Received(usize),
    /// So many of the bytes that were to be skipped were received.
    Skipped(u64),
    /// The server closed its side.
    Ended,
    /// Connecting, sending or receiving failed with this errno.
    Failed(i32),
}

#[cfg(test)]
pub(crate) mod tests;
