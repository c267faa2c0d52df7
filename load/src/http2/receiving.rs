//! Handles the server's frames.

use super::error_code::ErrorCode;
use super::frames::{self, FrameHead, number};
use super::head::Head;
use super::header_blocks::{Breach, MAX_HEADER_BYTES};
use super::session::{GoAway, Http2Session};
use super::stream_end::{Again, Broken, StreamEnd};
use super::streams::{Found, StreamState};
use super::{flag, kind};
use crate::failure::FailureCause;
use crate::response::{NO_ROOM, ResponseSink as _};

const PRIORITY_BYTES: usize = 5;
const PING_BYTES: usize = 8;
const GOAWAY_BYTES: usize = 8;

impl Http2Session {
    #[inline]
    pub(super) fn on_frame(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        if !self.is_set_up && !matches!(head.kind, kind::SETTINGS | kind::GOAWAY) {
            return Err(ErrorCode::PROTOCOL_ERROR.into());
        }
        if self.partial_block.stream != 0 && head.kind != kind::CONTINUATION {
            return Err(ErrorCode::PROTOCOL_ERROR.into());
        }
        let is_for_connection = matches!(head.kind, kind::SETTINGS | kind::PING | kind::GOAWAY);
        let is_for_either = head.kind == kind::WINDOW_UPDATE || head.kind > kind::CONTINUATION;
        if !is_for_either && is_for_connection != (head.stream == 0) {
            return Err(ErrorCode::PROTOCOL_ERROR.into());
        }
        match head.kind {
            kind::HEADERS => self.on_headers(head, payload),
            kind::DATA => self.on_data(head, payload),
            kind::WINDOW_UPDATE => self.on_window_update(head.stream, payload),
            kind::RST_STREAM => self.on_reset(head.stream, payload),
            kind::SETTINGS => self.on_settings(head, payload),
            kind::PING => self.on_ping(head, payload),
            kind::GOAWAY => self.on_go_away(payload),
            kind::CONTINUATION => self.on_continuation(head, payload),
            // Our settings forbid push.
            kind::PUSH_PROMISE => Err(ErrorCode::PROTOCOL_ERROR.into()),
            kind::PRIORITY if payload.len() != PRIORITY_BYTES => Err(ErrorCode::FRAME_SIZE_ERROR.into()),
            _ => Ok(()),
        }
    }

    fn on_headers(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        let mut block = without_padding(head, payload)?;
        if head.has(flag::PRIORITY) {
            block = block.get(PRIORITY_BYTES..).ok_or(ErrorCode::FRAME_SIZE_ERROR)?;
        }
        let ends_stream = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.on_block(head.stream, ends_stream, block);
        }
        self.partial_block.stream = head.stream;
        self.partial_block.ends_stream = ends_stream;
        self.partial_block.bytes.clear();
        self.keep_block(block)
    }

    fn on_continuation(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        if self.partial_block.stream != head.stream {
            return Err(ErrorCode::PROTOCOL_ERROR.into());
        }
        self.keep_block(payload)?;
        if self.partial_block.bytes.len() > MAX_HEADER_BYTES {
            return Err(Breach::too_large());
        }
        if !head.has(flag::END_HEADERS) {
            return Ok(());
        }
        self.partial_block.stream = 0;
        let block = std::mem::take(&mut self.partial_block.bytes);
        self.on_block(head.stream, self.partial_block.ends_stream, &block)
    }

    /// Holds a part of a header block until the other parts have arrived.
    fn keep_block(&mut self, part: &[u8]) -> Result<(), Breach> {
        let breach = Breach { code: ErrorCode::ENHANCE_YOUR_CALM, cause: NO_ROOM };
        self.partial_block.bytes.push(part).then_some(()).ok_or(breach)
    }

    #[inline]
    fn on_block(&mut self, id: u32, ends_stream: bool, block: &[u8]) -> Result<(), Breach> {
        match self.streams.find(id) {
            Found::Open(place) => self.on_stream_block(place, ends_stream, block),
            Found::GivenUp => self.header_blocks.pass_over(block),
            Found::Closed => Err(ErrorCode::STREAM_CLOSED.into()),
            Found::Idle => Err(ErrorCode::PROTOCOL_ERROR.into()),
        }
    }

    #[inline]
    fn on_stream_block(&mut self, place: u32, ends_stream: bool, block: &[u8]) -> Result<(), Breach> {
        let arrived_ns = self.arrived_ns;
        let stream = self.streams.at(place);
        if stream.head.is_some() {
            if !self.header_blocks.trailers(block)? || !ends_stream {
                self.break_stream(place, ErrorCode::PROTOCOL_ERROR, ends_stream);
            } else {
                self.complete(place);
            }
            return Ok(());
        }
        let head = match &mut stream.reader {
            Some(reader) => self.header_blocks.head_to(block, &mut **reader)?,
            None => self.header_blocks.head(block)?,
        };
        match head {
            Some(head) if !head.is_interim() => {
                stream.head = Some(head);
                stream.head_ns = arrived_ns;
                if ends_stream {
                    self.complete(place);
                }
            }
            Some(_) if !ends_stream => {}
            _ => self.break_stream(place, ErrorCode::PROTOCOL_ERROR, ends_stream),
        }
        Ok(())
    }

    #[inline]
    fn on_data(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        self.receive_window.take(payload.len()).ok_or(ErrorCode::FLOW_CONTROL_ERROR)?;
        if let Some(bytes) = self.receive_window.update() {
            frames::write_window_update(&mut self.outgoing, 0, bytes);
        }
        let data = without_padding(head, payload)?;
        match self.streams.find(head.stream) {
            Found::Open(place) => self.on_stream_data(place, head, payload.len(), data),
            Found::GivenUp => {}
            Found::Closed => return Err(ErrorCode::STREAM_CLOSED.into()),
            Found::Idle => return Err(ErrorCode::PROTOCOL_ERROR.into()),
        }
        Ok(())
    }

    #[inline]
    fn on_stream_data(&mut self, place: u32, head: FrameHead, taken: usize, data: &[u8]) {
        let ends_stream = head.has(flag::END_STREAM);
        let stream = self.streams.at(place);
        if stream.receive_window.take(taken).is_none() {
            return self.break_stream(place, ErrorCode::FLOW_CONTROL_ERROR, ends_stream);
        }
        stream.body_bytes += data.len() as u64;
        let is_allowed = stream.head.is_some_and(|response| {
            let is_in_length = response.content_length.is_none_or(|length| stream.body_bytes <= length);
            is_in_length && (!stream.is_head || data.is_empty())
        });
        if !is_allowed {
            return self.break_stream(place, ErrorCode::PROTOCOL_ERROR, ends_stream);
        }
        if let Some(reader) = &mut stream.reader {
            reader.body(data);
        }
        if ends_stream {
            self.complete(place);
        } else if self.first_byte && !data.is_empty() {
            self.cut_off(place);
        } else if let Some(bytes) = stream.receive_window.update() {
            frames::write_window_update(&mut self.outgoing, head.stream, bytes);
        }
    }

    /// Handles that the server has ended the stream.
    #[inline]
    fn complete(&mut self, place: u32) {
        let stream = self.streams.at(place);
        let body_bytes = stream.body_bytes;
        let Some(head) = stream.head else { return };
        if head.content_length.is_some_and(|length| length != body_bytes)
            && !(body_bytes == 0 && head.may_lack_body(stream.is_head))
        {
            return self.break_stream(place, ErrorCode::PROTOCOL_ERROR, true);
        }
        self.leave_stream(place, ErrorCode::CANCEL, true);
        let Head { status, .. } = head;
        self.ended.push_back((place, StreamEnd::Complete { status, body_bytes }));
    }

    /// Completes the response with the part of its body that has arrived.
    fn cut_off(&mut self, place: u32) {
        let stream = self.streams.at(place);
        let body_bytes = stream.body_bytes;
        let Some(Head { status, .. }) = stream.head else { return };
        self.leave_stream(place, ErrorCode::CANCEL, false);
        self.ended.push_back((place, StreamEnd::Complete { status, body_bytes }));
    }

    /// Handles that the server violated the protocol on one stream. `has_ended` is true if the server sends no more on it.
    fn break_stream(&mut self, place: u32, code: ErrorCode, has_ended: bool) {
        self.leave_stream(place, code, has_ended);
        self.fail_stream(place, code.of_breach(), Again::Never);
    }

    fn fail_stream(&mut self, place: u32, cause: FailureCause, again: Again) {
        let stream = self.streams.at(place);
        let status = stream.head.map(|head| head.status);
        stream.forget_response();
        self.ended.push_back((place, StreamEnd::Broken(Broken { cause, status, again })));
    }

    fn on_reset(&mut self, id: u32, payload: &[u8]) -> Result<(), Breach> {
        let &[a, b, c, d] = payload else { return Err(ErrorCode::FRAME_SIZE_ERROR.into()) };
        match self.streams.find(id) {
            Found::Open(place) => {
                let code = ErrorCode(u32::from_be_bytes([a, b, c, d]));
                let is_unprocessed =
                    code == ErrorCode::REFUSED_STREAM && self.streams.get(place).head.is_none();
                self.close_stream(place);
                let again = if is_unprocessed { Again::Refused } else { Again::Never };
                self.fail_stream(place, code.of_reset(), again);
                Ok(())
            }
            Found::GivenUp | Found::Closed => Ok(()),
            Found::Idle => Err(ErrorCode::PROTOCOL_ERROR.into()),
        }
    }

    fn on_window_update(&mut self, id: u32, payload: &[u8]) -> Result<(), Breach> {
        let &[a, b, c, d] = payload else { return Err(ErrorCode::FRAME_SIZE_ERROR.into()) };
        let bytes = i64::from(u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff);
        let fault = if bytes == 0 { ErrorCode::PROTOCOL_ERROR } else { ErrorCode::FLOW_CONTROL_ERROR };
        if id == 0 {
            self.send_window.change(bytes).filter(|()| bytes > 0).ok_or(fault)?;
            self.send_bodies();
            return Ok(());
        }
        match self.streams.find(id) {
            Found::Open(place) => {
                if self.streams.at(place).send_window.change(bytes).filter(|()| bytes > 0).is_none() {
                    self.break_stream(place, fault, false);
                }
                self.send_bodies();
                Ok(())
            }
            Found::GivenUp | Found::Closed => Ok(()),
            Found::Idle => Err(ErrorCode::PROTOCOL_ERROR.into()),
        }
    }

    fn on_settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        if head.has(flag::ACK) {
            if !payload.is_empty() {
                return Err(ErrorCode::FRAME_SIZE_ERROR.into());
            }
            // The frame acknowledges our settings, which we send once; the server's own settings must come first.
            let is_asked = self.is_set_up && !std::mem::replace(&mut self.is_acknowledged, true);
            return if is_asked { Ok(()) } else { Err(ErrorCode::PROTOCOL_ERROR.into()) };
        }
        let before = self.settings;
        self.settings.change(payload)?;
        self.is_set_up = true;
        self.request_blocks.set_table_bytes(self.settings.least_table_bytes);
        self.request_blocks.set_table_bytes(self.settings.header_table_bytes);
        let wider = self.settings.initial_window_bytes - before.initial_window_bytes;
        for place in 0..self.streams.width() {
            let stream = self.streams.at(place);
            if matches!(stream.state, StreamState::Open) {
                stream.send_window.change(wider).ok_or(ErrorCode::FLOW_CONTROL_ERROR)?;
            }
        }
        self.acknowledge()?;
        frames::write_settings_ack(&mut self.outgoing);
        self.send_bodies();
        Ok(())
    }

    fn on_ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), Breach> {
        if payload.len() != PING_BYTES {
            return Err(ErrorCode::FRAME_SIZE_ERROR.into());
        }
        if !head.has(flag::ACK) {
            self.acknowledge()?;
            frames::write_ping_ack(&mut self.outgoing, payload);
        }
        Ok(())
    }

    /// The server did not process streams above the last one that it names. After a GOAWAY with an error they fail nevertheless: a server
    /// that gives up under load is something that a load should show.
    fn on_go_away(&mut self, payload: &[u8]) -> Result<(), Breach> {
        if payload.len() < GOAWAY_BYTES {
            return Err(ErrorCode::FRAME_SIZE_ERROR.into());
        }
        let last_id = number(payload).unwrap_or_default() & 0x7fff_ffff;
        let code = ErrorCode(number(&payload[4..]).unwrap_or_default());
        if self.go_away.is_some_and(|before| last_id > before.last_id) {
            return Err(ErrorCode::PROTOCOL_ERROR.into());
        }
        self.go_away = Some(GoAway { last_id, code });
        for place in 0..self.streams.width() {
            let stream = self.streams.get(place);
            match stream.state {
                StreamState::Waiting(_) => self.end_unsent(place),
                StreamState::Open if stream.id > last_id => {
                    let is_new = code == ErrorCode::NO_ERROR && stream.head.is_none();
                    let again = if is_new { Again::Resend } else { Again::Never };
                    self.close_stream(place);
                    self.fail_stream(place, code.of_go_away(), again);
                }
                _ => {}
            }
        }
        self.waiting.clear();
        Ok(())
    }
}

/// The payload of DATA or HEADERS without its padding (RFC 9113 section 6.1).
#[inline]
fn without_padding(head: FrameHead, payload: &[u8]) -> Result<&[u8], Breach> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (&padding, rest) = payload.split_first().ok_or(ErrorCode::FRAME_SIZE_ERROR)?;
    let length = rest.len().checked_sub(usize::from(padding)).ok_or(ErrorCode::PROTOCOL_ERROR)?;
    Ok(&rest[..length])
}
