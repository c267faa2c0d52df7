//! When a response arrived.

use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::Slot;

/// When a response was complete: when its last byte arrived, and when we read it.
///
/// A kernel stamp is that of the last segment by its place in the stream. Where an earlier one arrived after it, by reordering or
/// a retransmission, `came_ns` is too early, but by no more than [`BELIEVED_NS`]: an older stamp is taken only where the kernel
/// counted no segment out of order. Asking for each response would find those too and costs a system call (0.7 µs) for each.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub came_ns: Nanos,
    pub seen_ns: Nanos,
    pub is_stamped: bool,
    /// When its first byte arrived, where that was before.
    pub first_byte_ns: Option<Nanos>,
}

impl Arrival {
    /// When we read it: there is no kernel stamp.
    pub(super) fn at(now_ns: Nanos) -> Self {
        Self { came_ns: now_ns, seen_ns: now_ns, is_stamped: false, first_byte_ns: None }
    }

    /// The same of a response whose first byte arrived earlier.
    pub(super) fn since(self, first_byte_ns: Nanos) -> Self {
        Self { first_byte_ns: Some(first_byte_ns), ..self }
    }
}

/// A stamp that is older than this is taken only where nothing came out of order: a younger one is wrong by less. Responses that
/// wait for the next request to fall due are hardly older.
const BELIEVED_NS: Nanos = 1_000_000;

impl Worker<'_> {
    /// When the current bytes arrived: by the kernel's stamp, unless a segment before the stamped one arrived later.
    pub(super) fn arrival(&mut self, slot: Slot, now_ns: Nanos, stamp_ns: Option<Nanos>) -> Arrival {
        let unstamped = Arrival::at(now_ns);
        let Some(stamp_ns) = stamp_ns else { return unstamped };
        // What was complete at the previous look would have been there then.
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
