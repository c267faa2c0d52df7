//! Begins requests that are due, and chooses the connections for them.

use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::Slot;

/// For how long an answer of the kernel about the ends of connections is relied on.
const STALE_NS: Nanos = 1_000_000;

impl Worker<'_> {
    /// When the next request leaves: when it is due, or a little later together with the requests that fall due within its allowed
    /// lateness. If the thread wakes in between, it does not split such a group, because each part would cost further wakes.
    pub(super) fn next_leaves_ns(&mut self) -> Nanos {
        let due_ns = self.pace.next_due_ns();
        let group_ns = due_ns.saturating_add(self.lateness_ns);
        let deadline_ns = self.start.map_or(Nanos::MAX, |start| start.deadline_ns);
        // A group must not be held back beyond the end of the load.
        if group_ns < deadline_ns { group_ns } else { due_ns }
    }

    /// Begins the requests that are due as long as there is a place for them: a free stream, or else a connection that is opened first, for
    /// which the request then waits.
    pub(super) fn begin_due(&mut self, now_ns: Nanos) {
        self.late_looks.look(now_ns);
        if self.next_leaves_ns() > now_ns {
            if self.pace.next_due_ns() > now_ns {
                self.late_looks.clear();
            }
            return;
        }
        while self.pace.next_due_ns() <= now_ns {
            let is_stale = self.is_stale(now_ns);
            let driver = &mut self.driver;
            let is_quiet = |slot| driver.is_quiet(slot, is_stale);
            let place = self.free.take_stream(self.width, &self.connections, &mut self.streams, is_quiet);
            if let Some(place) = place {
                let free_ns = self.streams[place as usize].free_ns;
                if !self.begin(place, now_ns, free_ns) {
                    self.free.add_stream(place, &mut self.streams[place as usize]);
                    return;
                }
            } else if self.free.has_stream() {
                // The bytes that have arrived over the other connections are read next.
                return;
            } else if let Some(slot) = self.take_closed() {
                let free_ns = self.connections[slot as usize].closed_ns;
                if !self.begin(self.width.place(slot, 0), now_ns, free_ns) {
                    self.free.add_closed(slot);
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Whether the last answer of the kernel about the ends of connections is too old.
    pub(super) fn is_stale(&self, now_ns: Nanos) -> bool {
        now_ns > self.known_ns.saturating_add(STALE_NS)
    }

    /// Whether a request may open a connection. In a closed loop, a connection's first request begins only when the connections have been
    /// opened in advance.
    pub(super) fn may_open_for_request(&self) -> bool {
        self.pace.is_open() || self.to_open == 0
    }

    pub(super) fn take_closed(&mut self) -> Option<Slot> {
        if self.may_open_for_request() { self.free.take_closed() } else { None }
    }
}
