//! Sends requests over streams.

use super::error_code::ErrorCode;
use super::frames::{self, FrameHead};
use super::session::{Http2Session, STREAM_WINDOW_BYTES};
use super::stream_end::NotSent;
use super::streams::StreamState;
use super::window::{ReceiveWindow, SendWindow};
use super::{flag, kind};
use crate::request::FieldRequest;
use std::sync::Arc;

/// The largest frame for a body; larger ones save nothing, even if the server accepts them.
const MAX_DATA_BYTES: usize = 64 * 1024;

impl Http2Session {
    /// Begins a request on a stream that has none.
    ///
    /// # Errors
    /// The request was not sent.
    pub fn send(&mut self, place: u32, request: &Arc<FieldRequest>) -> Result<(), NotSent> {
        if !self.takes_requests() {
            return Err(self.not_sent());
        }
        if self.streams.open() < self.settings.max_streams && self.waiting.is_empty() {
            self.begin(place, request);
        } else {
            self.streams.at(place).state = StreamState::Waiting(Arc::clone(request));
            self.waiting.push_back(place);
        }
        Ok(())
    }

    fn begin(&mut self, place: u32, request: &FieldRequest) {
        let Some(id) = self.streams.next_id() else { return self.end_unsent(place) };
        self.request_blocks.write(&mut self.outgoing, id, request, self.settings.max_frame_bytes);
        self.streams.open_at(place, id);
        let stream = self.streams.at(place);
        stream.is_idempotent = request.is_idempotent();
        stream.is_head = request.is_head();
        stream.receive_window = ReceiveWindow::new(STREAM_WINDOW_BYTES);
        stream.send_window = SendWindow::new(self.settings.initial_window_bytes);
        if !request.body().is_empty() {
            stream.unsent = request.body().clone();
            if self.send_body(place) {
                self.blocked.push(place);
            }
        }
    }

    /// Begins requests that wait, as far as the server allows more streams.
    pub(super) fn begin_waiting(&mut self) {
        while self.streams.open() < self.settings.max_streams {
            let Some(place) = self.waiting.pop_front() else { return };
            if let StreamState::Waiting(request) = std::mem::take(&mut self.streams.at(place).state) {
                self.begin(place, &request);
            }
        }
    }

    /// Cancels a stream with RST_STREAM.
    pub fn cancel(&mut self, place: u32) {
        match self.streams.get(place).state {
            StreamState::Idle => {}
            StreamState::Waiting(_) => {
                self.streams.at(place).state = StreamState::Idle;
                self.waiting.retain(|&waiting| waiting != place);
            }
            StreamState::Open => {
                self.leave_stream(place, ErrorCode::CANCEL, false);
                self.streams.at(place).forget_response();
                self.begin_waiting();
            }
        }
    }

    /// Ends a stream, with RST_STREAM if one side would still send. `has_ended` is true if the server sends no more.
    #[inline]
    pub(super) fn leave_stream(&mut self, place: u32, code: ErrorCode, has_ended: bool) {
        let stream = self.streams.get(place);
        if has_ended && stream.unsent.is_empty() {
            return self.streams.close(place);
        }
        frames::write_reset(&mut self.outgoing, stream.id, code);
        self.blocked.retain(|&blocked| blocked != place);
        self.streams.give_up(place);
    }

    /// Handles that the server has closed the stream.
    pub(super) fn close_stream(&mut self, place: u32) {
        self.blocked.retain(|&blocked| blocked != place);
        self.streams.close(place);
    }

    /// Sends as much of all bodies as the windows allow.
    pub(super) fn send_bodies(&mut self) {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.retain(|&place| self.send_body(place));
        self.blocked = blocked;
    }

    /// Sends as much of a body as the windows allow; returns `true` if something is left.
    fn send_body(&mut self, place: u32) -> bool {
        let max_frame = self.settings.max_frame_bytes.min(MAX_DATA_BYTES);
        let stream = self.streams.at(place);
        while !stream.unsent.is_empty() {
            let allowed = stream.send_window.left().min(self.send_window.left()).min(max_frame);
            let length = stream.unsent.len().min(allowed);
            if length == 0 {
                return true;
            }
            let data = stream.unsent.split_to(length);
            stream.send_window.take(length);
            self.send_window.take(length);
            let flags = if stream.unsent.is_empty() { flag::END_STREAM } else { 0 };
            FrameHead { length, kind: kind::DATA, flags, stream: stream.id }.write(&mut self.outgoing);
            self.outgoing.extend_from_slice(&data);
        }
        false
    }
}
