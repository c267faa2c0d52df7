//! Receives with the kernel's stamps.

use super::Uring;
use crate::clock::Nanos;
use crate::driver::Event;
use crate::driver::stamps::{self, CONTROL_BYTES, KernelClock};

/// What receives with stamps need.
pub(super) struct Stamped {
    pub(super) clock: KernelClock,
    /// How much room each receive has for its control data, as the kernel reads it.
    pub(super) message: Box<libc::msghdr>,
}

/// What the kernel writes in front of the bytes of a receive with control data (`io_uring_recvmsg_out`).
const HEAD_BYTES: usize = 16;
/// The offset of the length of the control data (`controllen`).
const CONTROL_LENGTH_AT: usize = 4;
/// Where the bytes begin in such a buffer.
const STAMPED_FROM: usize = HEAD_BYTES + CONTROL_BYTES;

impl Stamped {
    pub(super) fn new() -> Self {
        // SAFETY: a message without name, pieces and control data; zeros are valid.
        let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        message.msg_controllen = CONTROL_BYTES as _;
        Self { clock: KernelClock::new(), message }
    }
}

impl Uring {
    /// Where the bytes begin in a buffer that was received into.
    pub(super) fn bytes_from(&self) -> usize {
        if self.stamped.is_some() { STAMPED_FROM } else { 0 }
    }

    pub(super) fn stamp_of(&self, event: Event, seen_ns: Nanos) -> Option<Nanos> {
        let (Event::Received(chunk), Some(stamped)) = (event, &self.stamped) else { return None };
        // A receive without a stamp leaves what was in the buffer before: the kernel reports how much it wrote.
        let head = self.buffers.bytes(chunk.buffer, 0, HEAD_BYTES);
        let written =
            u32::from_ne_bytes(head.get(CONTROL_LENGTH_AT..CONTROL_LENGTH_AT + 4)?.try_into().ok()?);
        let control = self.buffers.bytes(chunk.buffer, HEAD_BYTES, (written as usize).min(CONTROL_BYTES));
        stamped.clock.ours(stamps::stamp_in(control)?, seen_ns)
    }
}
