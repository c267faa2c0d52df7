//! Which streams and which slots a request may begin on.

use super::connection::{Connection, Place, State, Stream, StreamState, Width};
use crate::driver::Slot;
use std::collections::VecDeque;

/// Free streams of open connections, and slots without a connection, each list in the order in which they became so: that
/// uses all of them evenly.
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
        // A stream whose connection was closed meanwhile is listed still; it keeps that place.
        if !std::mem::replace(&mut stream.is_listed, true) {
            self.streams.push_back(place);
        }
    }

    pub(super) fn add_closed(&mut self, slot: Slot) {
        self.closed.push_back(slot);
    }

    /// The stream that has been free for longest, of those whose connection is quiet. What has arrived over another one is to be
    /// read first: it may be the end.
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

    /// The slot that has been without a connection for longest.
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
