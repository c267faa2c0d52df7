//! The time at which a response arrived.

use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::Slot;

/// When a response was complete: when its last byte arrived, and when we read it.
///
/// A kernel stamp belongs to the last segment by its place in the stream. If an earlier segment arrived later, by reordering or a
/// retransmission, `came_ns` is too early. The error is at most [`BELIEVED_NS`], because an older stamp is used only if the kernel counted
/// no segment out of order. Checking that for every response would cost a system call (0.7 µs) each.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub came_ns: Nanos,
    pub seen_ns: Nanos,
    pub is_stamped: bool,
    /// When the first byte arrived, if that was earlier than the last one.
    pub first_byte_ns: Option<Nanos>,
}

impl Arrival {
    /// An arrival without a kernel stamp: the time at which we read the response.
    pub(super) fn at(now_ns: Nanos) -> Self {
        Self { came_ns: now_ns, seen_ns: now_ns, is_stamped: false, first_byte_ns: None }
    }

    /// The same arrival for a response whose first byte arrived earlier.
    pub(super) fn since(self, first_byte_ns: Nanos) -> Self {
        Self { first_byte_ns: Some(first_byte_ns), ..self }
    }
}

/// A stamp older than this is used only if no segment came out of order; a younger one can be wrong only by less. Responses that wait for
/// the next request to fall due are hardly older.
const BELIEVED_NS: Nanos = 1_000_000;

impl Worker<'_> {
    /// When the current bytes arrived: the kernel's stamp, unless an earlier segment arrived after the stamped one.
    pub(super) fn arrival(&mut self, slot: Slot, now_ns: Nanos, stamp_ns: Option<Nanos>) -> Arrival {
        let unstamped = Arrival::at(now_ns);
        let Some(stamp_ns) = stamp_ns else { return unstamped };
        // If the bytes had been complete at the stamp, the previous look would have found them.
        if stamp_ns < self.previous_look_ns || now_ns.saturating_sub(stamp_ns) > BELIEVED_NS {
            let connection = &mut self.connections[slot as usize];
            let before = connection.out_of_order;
            let count = self.driver.out_of_order(slot);
            connection.out_of_order = count.unwrap_or(before);
            if count.is_some_and(|count| count != before) {
                return unstamped;
            }
        }
        Arrival { came_ns: stamp_ns, seen_ns: now_ns, is_stamped: true, first_byte_ns: None }
    }
}
