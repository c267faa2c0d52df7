//! The streams of a connection, by their place among the load's streams and by their number on the wire.

use super::head::Head;
use super::window::{ReceiveWindow, SendWindow};
use crate::clock::Nanos;
use crate::request::FieldRequest;
use crate::response::{ReadParts, ResponseReader};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// The highest number of a stream.
const LAST_ID: u32 = (1 << 31) - 1;
/// The number of recently cancelled streams that are remembered one by one.
const MAX_GIVEN_UP: usize = 1_024;
/// Stands for a place: the stream has ended.
const ENDED: u32 = u32::MAX;

/// The current stream of a place.
#[derive(Debug)]
pub(super) struct Stream {
    pub state: StreamState,
    /// The stream's number on the wire.
    pub id: u32,
    pub is_idempotent: bool,
    pub is_head: bool,
    /// The head of the final response, once it has arrived.
    pub head: Option<Head>,
    /// When the head arrived.
    pub head_ns: Nanos,
    pub body_bytes: u64,
    /// The part of the request's body that has not been sent yet.
    pub unsent: Bytes,
    pub send_window: SendWindow,
    pub receive_window: ReceiveWindow,
    /// The reader for the parts of the response that the plan needs.
    pub reader: Option<Box<ResponseReader>>,
}

impl Stream {
    /// Forgets the response that was arriving, so that other streams can use its memory.
    pub fn forget_response(&mut self) {
        self.reader.iter_mut().for_each(|reader| reader.clear());
    }
}

#[derive(Debug, Default)]
pub(super) enum StreamState {
    #[default]
    Idle,
    /// The request waits until the server allows another stream.
    Waiting(Arc<FieldRequest>),
    Open,
}

/// The state of the stream with a given number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Open(u32),
    /// We cancelled the stream, which the server may not have known yet.
    GivenUp,
    Closed,
    /// The stream was never opened.
    Idle,
}

#[derive(Debug)]
pub(super) struct Streams {
    places: Vec<Stream>,
    /// The places of the streams from `first_id` on; only every second number is a client's.
    opened: VecDeque<u32>,
    first_id: u32,
    given_up: VecDeque<u32>,
    /// The highest number of a cancelled stream that is no longer remembered.
    forgotten_id: u32,
    open: u32,
}

impl Streams {
    pub fn new(width: u32, window_bytes: u32, reads: Option<&Arc<ReadParts>>) -> Self {
        let stream = |_| Stream {
            state: StreamState::Idle,
            id: 0,
            is_idempotent: false,
            is_head: false,
            head: None,
            head_ns: 0,
            body_bytes: 0,
            unsent: Bytes::new(),
            send_window: SendWindow::new(0),
            receive_window: ReceiveWindow::new(window_bytes),
            reader: reads.map(|parts| Box::new(ResponseReader::new(Arc::clone(parts)))),
        };
        Self {
            places: (0..width).map(stream).collect(),
            opened: VecDeque::new(),
            first_id: 1,
            given_up: VecDeque::new(),
            forgotten_id: 0,
            open: 0,
        }
    }

    pub fn width(&self) -> u32 {
        self.places.len() as u32
    }

    /// The number of open streams.
    pub fn open(&self) -> u32 {
        self.open
    }

    #[inline]
    pub fn at(&mut self, place: u32) -> &mut Stream {
        &mut self.places[place as usize]
    }

    pub fn get(&self, place: u32) -> &Stream {
        &self.places[place as usize]
    }

    /// The number of the next stream; `None` if all numbers are used.
    #[inline]
    pub fn next_id(&self) -> Option<u32> {
        u32::try_from(u64::from(self.first_id) + 2 * self.opened.len() as u64)
            .ok()
            .filter(|&id| id <= LAST_ID)
    }

    /// Opens the next stream at a place.
    pub fn open_at(&mut self, place: u32, id: u32) {
        self.opened.push_back(place);
        self.open += 1;
        let stream = &mut self.places[place as usize];
        stream.state = StreamState::Open;
        stream.id = id;
        stream.head = None;
        stream.body_bytes = 0;
    }

    #[inline]
    pub fn find(&self, id: u32) -> Found {
        // The server opens no streams, because our settings forbid push.
        if id.is_multiple_of(2) || self.next_id().is_some_and(|next| id >= next) {
            return Found::Idle;
        }
        let at = id.checked_sub(self.first_id).and_then(|after| self.opened.get(after as usize / 2));
        match at {
            Some(&place) if place != ENDED => Found::Open(place),
            _ if id <= self.forgotten_id || self.given_up.contains(&id) => Found::GivenUp,
            _ => Found::Closed,
        }
    }

    /// Handles that the stream at a place has ended.
    #[inline]
    pub fn close(&mut self, place: u32) {
        let stream = &mut self.places[place as usize];
        stream.state = StreamState::Idle;
        stream.unsent = Bytes::new();
        self.open -= 1;
        let at = (stream.id - self.first_id) as usize / 2;
        self.opened[at] = ENDED;
        while self.opened.front() == Some(&ENDED) {
            self.opened.pop_front();
            self.first_id += 2;
        }
    }

    /// Remembers that we cancelled a stream.
    pub fn give_up(&mut self, place: u32) {
        self.given_up.push_back(self.places[place as usize].id);
        if self.given_up.len() > MAX_GIVEN_UP {
            let forgotten = self.given_up.pop_front().unwrap_or_default();
            self.forgotten_id = self.forgotten_id.max(forgotten);
        }
        self.close(place);
    }

    #[cfg(test)]
    pub fn use_up(&mut self) {
        self.first_id = LAST_ID;
    }
}
