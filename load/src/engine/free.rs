//! Knows the streams and slots on which a request may begin.

use super::connection::{Connection, Place, State, Stream, StreamState, Width};
use crate::driver::Slot;
use std::collections::VecDeque;

/// Free streams of open connections, and slots without a connection. Each list has the order in which they became free, so that all are
/// used evenly.
pub(super) struct Free {
    streams: VecDeque<Place>,
    closed: VecDeque<Slot>,
}

impl Free {
    pub(super) fn new(slots: u32, width: Width) -> Self {
        let places = slots as usize * width.streams() as usize;
        Self { streams: VecDeque::with_capacity(places), closed: (0..slots).collect() }
    }

    pub(super) fn add_stream(&mut self, place: Place, stream: &mut Stream) {
        // A stream whose connection was closed meanwhile is still listed, and keeps its place.
        if !std::mem::replace(&mut stream.is_listed, true) {
            self.streams.push_back(place);
        }
    }

    pub(super) fn add_closed(&mut self, slot: Slot) {
        self.closed.push_back(slot);
    }

    /// Takes the stream that has been free for longest and whose connection has no unread bytes. Unread bytes are handled first, because
    /// they may be the end of the connection.
    pub(super) fn take_stream(
        &mut self,
        width: Width,
        connections: &[Connection],
        streams: &mut [Stream],
        mut is_quiet: impl FnMut(Slot) -> bool,
    ) -> Option<Place> {
        for _ in 0..self.streams.len() {
            let place = self.streams.pop_front()?;
            let slot = width.slot(place);
            let (connection, stream) = (&connections[slot as usize], &mut streams[place as usize]);
            stream.is_listed = false;
            let is_there = connection.state == State::Open && width.stream(place) < connection.streams;
            if !is_there || stream.state != StreamState::Idle {
                continue;
            }
            if is_quiet(slot) {
                return Some(place);
            }
            self.add_stream(place, stream);
        }
        None
    }

    /// Takes the slot that has been without a connection for longest.
    pub(super) fn take_closed(&mut self) -> Option<Slot> {
        self.closed.pop_front()
    }

    pub(super) fn has_stream(&self) -> bool {
        !self.streams.is_empty()
    }

    pub(super) fn has_closed(&self) -> bool {
        !self.closed.is_empty()
    }
}
