//! The kernel interfaces that carry bytes: io_uring and epoll, behind one completion-style trait.
//!
//! A driver owns one thread's sockets, numbered by [`Slot`]. The engine submits operations (connect, send, close), waits,
//! and then takes what happened one [`Completion`] after the other. Received bytes lie in buffers that all sockets of
//! the thread share, so that a silent connection costs no memory. The trait is only ever used with static dispatch.

mod buffers;
#[cfg(test)]
pub(crate) mod burst;
pub(crate) mod epoll;
#[cfg(test)]
pub(crate) mod instant;
mod outgoing;
pub(crate) mod socket;
pub(crate) mod stamps;
pub(crate) mod uring;

use crate::clock::Nanos;
use crate::endpoint::Endpoint;
use crate::request::RenderedRequest;
use std::io;
use std::net::IpAddr;

/// Which of a thread's connections, from 0.
pub(crate) type Slot = u32;

/// Fewer bytes than this are not worth a way of their own.
pub(crate) const LEAST_SKIPPED: u64 = 16 * 1024;
/// Most bytes of one system call (MAX_RW_COUNT in linux/fs.h is a page below 2 GiB).
pub(crate) const MOST_PER_CALL: usize = 1 << 30;

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

/// What ends a wait before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The first thing that happens.
    AtOnce,
    /// Nothing: responses are handled when the time is reached. A driver that has connections or requests to bring on
    /// their way still wakes for them.
    OnTime,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The connection is established.
    Connected,
    /// Bytes were received.
    Received(Chunk),
    /// Received bytes of those that were to be skipped.
    Skipped(u64),
    /// The server closed its side.
    Ended,
    /// Connecting, sending or receiving failed with this errno.
    Failed(i32),
}

/// Where received bytes lie: valid until the next call of [`Driver::next`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    buffer: u16,
    len: u32,
}

/// One thread's sockets to the servers of a load.
///
/// After [`close`](Driver::close) nothing of the old connection is ever reported, even if the slot is used again.
pub(crate) trait Driver: Sized {
    /// The name in the outcome.
    const NAME: &'static str;

    /// How many requests may be sent under one reading of the clock. They are stamped together right before the kernel
    /// takes them all in one call, so the last one's stamp is early by the time the kernel takes for the others.
    const BATCH: usize;

    /// A driver for this many slots and these endpoints. `stamps`: enable the kernel's receive stamps.
    fn new(slots: u32, endpoints: &[Endpoint], stamps: bool) -> io::Result<Self>;

    /// Begins to connect a slot that has no connection to one of the endpoints; ends in [`Event::Connected`] or
    /// [`Event::Failed`].
    fn connect(&mut self, slot: Slot, endpoint: usize, source: Option<IpAddr>) -> io::Result<()>;

    /// Keeps a request for [`send`](Driver::send), which may be called again on another connection of the slot.
    ///
    /// # Safety
    /// Bytes of a static request must stay where they are until the driver is gone.
    unsafe fn keep(&mut self, slot: Slot, request: RenderedRequest<'_>);

    /// Sends the kept request over the slot's connection. It may leave only with the next `submit` or `wait`.
    fn send(&mut self, slot: Slot);

    /// Sends bytes over the slot's connection, after those of the writes before it. They may leave only with the next
    /// `submit` or `wait`.
    fn write(&mut self, slot: Slot, bytes: &[u8]);

    /// Sends the last bytes over the slot's connection, at once and as far as the kernel takes them; not if earlier bytes have not
    /// left.
    fn write_last(&mut self, slot: Slot, bytes: &[u8]);

    /// The content of the next bytes from the slot's connection is not needed: the driver may leave them to the kernel,
    /// which discards them without a copy (`MSG_TRUNC`, tcp(7)), and report their number. To be called right after bytes
    /// of the slot were received, if at all.
    fn skip(&mut self, slot: Slot, bytes: u64);

    /// Whether all bytes of the kept request were sent. If not, its response arrived too early and its connection cannot
    /// carry another request.
    fn has_sent(&self, slot: Slot) -> bool;

    /// Do bytes wait behind a write that the server has not taken yet?
    fn has_queued(&self, slot: Slot) -> bool;

    /// Closes the slot's connection, established or not.
    fn close(&mut self, slot: Slot);

    /// Submits the operations to the kernel without waiting.
    fn submit(&mut self) -> io::Result<()>;

    /// Submits the operations to the kernel and waits until an event that `wake` waits for, or `until_ns` is
    /// past. It may return earlier.
    fn wait(&mut self, now_ns: Nanos, until_ns: Nanos, wake: Wake) -> io::Result<()>;

    /// The next thing that happened, if any.
    fn next(&mut self) -> Option<Completion>;

    /// Did the last wait bring anything of the slot's connection that [`next`](Driver::next) has not handed over yet?
    fn has_pending(&mut self, slot: Slot) -> bool;

    /// Has nothing arrived on the slot's connection that was not handed over? `is_stale`: the last wait is too long ago to know.
    /// Then, and where it may not have brought everything, the kernel is asked.
    fn is_quiet(&mut self, slot: Slot, is_stale: bool) -> bool;

    /// Out-of-order segments of the slot's connection so far (`tcpi_rcv_ooopack`, Linux 5.4); `None`: not
    /// known.
    fn out_of_order(&self, slot: Slot) -> Option<u32>;

    /// The bytes of a completion.
    fn bytes(&self, chunk: Chunk) -> &[u8];

    /// Bytes sent over all connections so far.
    fn bytes_sent(&self) -> u64;
}

#[cfg(test)]
mod tests;
