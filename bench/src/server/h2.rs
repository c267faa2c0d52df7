//! The server's side of one HTTP/2 connection (RFC 9113), without a socket: frames in, frames out.
//!
//! Every request gets the same response, so the header blocks are not decoded: that would cost time which the generator on
//! the other core then waits. Flow control, settings, pings and resets are kept.

use crate::server::answer::BODY;
use std::collections::VecDeque;

/// What a client sends first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEAD: usize = 9;
/// The longest frame that a peer may send when nothing else was agreed.
const LONGEST_FRAME: usize = 16_384;
const FIRST_WINDOW: i64 = 65_535;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status: 200`, `content-type: text/plain` and `content-length: 13`, none of them entered into the dynamic table.
const HEADER_BLOCK: &[u8] = b"\x88\x0f\x10\x0atext/plain\x0f\x0d\x0213";
/// The length of a response: a HEADERS frame and a DATA frame.
pub const ANSWER_BYTES: usize = FRAME_HEAD + HEADER_BLOCK.len() + FRAME_HEAD + BODY.len();
/// The length of what comes before the first response: settings, and the acknowledgement of the client's.
pub const GREETING_BYTES: usize = FRAME_HEAD + 6 + FRAME_HEAD;
/// At most so many streams at once: SETTINGS_MAX_CONCURRENT_STREAMS.
const STREAMS: u8 = 250;

/// What a frame meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A request is complete on this stream.
    Request(u32),
    /// Number of responses sent that had waited for the window.
    Released(u64),
    /// Nothing to do.
    Control,
}

/// Something that ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// One connection.
#[derive(Debug)]
pub struct H2Connection {
    greeted: bool,
    /// What the peer is ready to take on the connection.
    window: i64,
    /// What it is ready to take on each new stream.
    stream_window: i64,
    /// Answers that wait for the window.
    waiting: VecDeque<u32>,
    /// The stream whose header block goes on, and whether the request ends with it.
    continued: Option<(u32, bool)>,
}

impl Default for H2Connection {
    fn default() -> Self {
        Self {
            greeted: false,
            window: FIRST_WINDOW,
            stream_window: FIRST_WINDOW,
            waiting: VecDeque::new(),
            continued: None,
        }
    }
}

impl H2Connection {
    /// Reads one frame: what it meant and its length; `None` when more bytes are needed. What must be sent at once is
    /// appended to `out`.
    ///
    /// # Errors
    /// When the bytes are not HTTP/2, or a stream's window is too small for a response.
    pub fn read(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<(Frame, usize)>, Malformed> {
        if !self.greeted {
            return self.greet(bytes, out);
        }
        let Some((head, rest)) = bytes.split_at_checked(FRAME_HEAD) else { return Ok(None) };
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        if length > LONGEST_FRAME {
            return Err(Malformed);
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let (kind, flags) = (head[3], head[4]);
        let stream = u32_of(&head[5..]).ok_or(Malformed)? & 0x7FFF_FFFF;
        let frame = self.frame(kind, flags, stream, payload, out)?;
        Ok(Some((frame, FRAME_HEAD + length)))
    }

    fn greet(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<(Frame, usize)>, Malformed> {
        let common = bytes.len().min(PREFACE.len());
        if bytes[..common] != PREFACE[..common] {
            return Err(Malformed);
        }
        if common < PREFACE.len() {
            return Ok(None);
        }
        self.greeted = true;
        push_frame(out, SETTINGS, 0, 0, &[0, 3, 0, 0, 0, STREAMS]);
        Ok(Some((Frame::Control, PREFACE.len())))
    }

    fn frame(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Frame, Malformed> {
        if self.continued.is_some() && kind != CONTINUATION {
            return Err(Malformed);
        }
        match kind {
            HEADERS | CONTINUATION => {
                let ends = match self.continued.take() {
                    Some((continued, ends)) if continued == stream => ends,
                    None if kind == HEADERS && stream % 2 == 1 => flags & END_STREAM != 0,
                    _ => return Err(Malformed),
                };
                if flags & END_HEADERS == 0 {
                    self.continued = Some((stream, ends));
                }
                Ok(if ends && self.continued.is_none() { Frame::Request(stream) } else { Frame::Control })
            }
            // Requests have no body here; one is accepted up to the first window.
            DATA if flags & END_STREAM != 0 => Ok(Frame::Request(stream)),
            SETTINGS if flags & ACK == 0 => {
                self.settings(payload)?;
                push_frame(out, SETTINGS, ACK, 0, &[]);
                Ok(Frame::Control)
            }
            PING if flags & ACK == 0 => {
                push_frame(out, PING, ACK, 0, payload);
                Ok(Frame::Control)
            }
            WINDOW_UPDATE if stream == 0 => {
                self.window += i64::from(u32_of(payload).ok_or(Malformed)? & 0x7FFF_FFFF);
                Ok(Frame::Released(self.release(out)))
            }
            RST_STREAM => {
                self.waiting.retain(|&waiting| waiting != stream);
                Ok(Frame::Control)
            }
            _ => Ok(Frame::Control),
        }
    }

    fn settings(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        const INITIAL_WINDOW_SIZE: [u8; 2] = [0, 4];
        for setting in payload.chunks(6) {
            if setting.starts_with(&INITIAL_WINDOW_SIZE) {
                self.stream_window = i64::from(u32_of(&setting[2..]).ok_or(Malformed)?);
            }
        }
        if self.stream_window < BODY.len() as i64 { Err(Malformed) } else { Ok(()) }
    }

    /// Appends the response on `stream` to `out`; false: it waits until the peer takes more.
    pub fn answer(&mut self, stream: u32, out: &mut Vec<u8>) -> bool {
        if self.window < BODY.len() as i64 {
            self.waiting.push_back(stream);
            return false;
        }
        self.window -= BODY.len() as i64;
        push_frame(out, HEADERS, END_HEADERS, stream, HEADER_BLOCK);
        push_frame(out, DATA, END_STREAM, stream, BODY);
        true
    }

    fn release(&mut self, out: &mut Vec<u8>) -> u64 {
        let mut released = 0;
        while self.window >= BODY.len() as i64
            && let Some(stream) = self.waiting.pop_front()
        {
            self.answer(stream, out);
            released += 1;
        }
        released
    }
}

fn u32_of(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|&bytes| u32::from_be_bytes(bytes))
}

fn push_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_frame(&mut bytes, kind, flags, stream, payload);
        bytes
    }

    /// A connection that has been greeted, and what it means by all of `bytes`.
    fn read_all(connection: &mut H2Connection, bytes: &[u8], out: &mut Vec<u8>) -> Vec<Frame> {
        let (mut frames, mut used) = (Vec::new(), 0);
        while let Some((frame, length)) = connection.read(&bytes[used..], out).unwrap() {
            frames.push(frame);
            used += length;
        }
        assert_eq!(used, bytes.len());
        frames
    }

    fn greeted() -> H2Connection {
        let mut connection = H2Connection::default();
        read_all(&mut connection, PREFACE, &mut Vec::new());
        connection
    }

    #[test]
    fn the_preface_is_answered_with_settings_and_anything_else_is_refused() {
        let (mut connection, mut out) = (H2Connection::default(), Vec::new());
        assert_eq!(connection.read(&PREFACE[..10], &mut out), Ok(None));
        assert_eq!(connection.read(PREFACE, &mut out), Ok(Some((Frame::Control, PREFACE.len()))));
        assert_eq!(out, frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, STREAMS]));
        assert_eq!(H2Connection::default().read(b"GET / HTTP/1.1\r\n", &mut out), Err(Malformed));
    }

    #[test]
    fn a_request_is_complete_when_its_header_block_is() {
        let mut connection = greeted();
        let bytes = [
            frame(HEADERS, END_STREAM | END_HEADERS, 1, b"\x82"),
            frame(HEADERS, END_STREAM, 3, b"\x82"),
            frame(CONTINUATION, END_HEADERS, 3, b"\x84"),
        ];
        let frames = read_all(&mut connection, &bytes.concat(), &mut Vec::new());
        assert_eq!(frames, [Frame::Request(1), Frame::Control, Frame::Request(3)]);
    }

    #[test]
    fn settings_and_pings_are_acknowledged_and_acknowledgements_are_not() {
        let (mut connection, mut out) = (greeted(), Vec::new());
        let bytes = [
            frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]),
            frame(SETTINGS, ACK, 0, &[]),
            frame(PING, 0, 0, b"12345678"),
        ];
        read_all(&mut connection, &bytes.concat(), &mut out);
        assert_eq!(out, [frame(SETTINGS, ACK, 0, &[]), frame(PING, ACK, 0, b"12345678")].concat());
    }

    #[test]
    fn an_answer_is_as_long_as_it_is_said_to_be() {
        let (mut connection, mut out) = (H2Connection::default(), Vec::new());
        read_all(&mut connection, &[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat(), &mut out);
        assert_eq!(out.len(), GREETING_BYTES);
        out.clear();
        connection.answer(1, &mut out);
        assert_eq!(out.len(), ANSWER_BYTES);
    }

    #[test]
    fn what_does_not_fit_into_the_window_waits_until_it_grows() {
        let (mut connection, mut out) = (greeted(), Vec::new());
        let fits = FIRST_WINDOW as u32 / BODY.len() as u32;
        for n in 0..fits {
            assert!(connection.answer(2 * n + 1, &mut out), "answer {n}");
        }
        assert!(!connection.answer(99_999, &mut out));
        out.clear();
        let update = frame(WINDOW_UPDATE, 0, 0, &13_u32.to_be_bytes());
        assert_eq!(read_all(&mut connection, &update, &mut out), [Frame::Released(1)]);
        assert_eq!(out[5..9], 99_999_u32.to_be_bytes());
    }

    #[test]
    fn an_answer_to_a_stream_that_was_reset_is_dropped() {
        let (mut connection, mut out) = (greeted(), Vec::new());
        connection.window = 0;
        connection.answer(1, &mut out);
        let bytes = [
            frame(RST_STREAM, 0, 1, &8_u32.to_be_bytes()),
            frame(WINDOW_UPDATE, 0, 0, &99_u32.to_be_bytes()),
        ];
        assert_eq!(
            read_all(&mut connection, &bytes.concat(), &mut out),
            [Frame::Control, Frame::Released(0)]
        );
        assert!(out.is_empty());
    }

    #[test]
    fn a_frame_that_is_too_long_or_out_of_place_ends_the_connection() {
        let long = [0, 0x40, 1, DATA, 0, 0, 0, 0, 1];
        assert_eq!(greeted().read(&long, &mut Vec::new()), Err(Malformed));
        let even = frame(HEADERS, END_STREAM | END_HEADERS, 2, b"\x82");
        assert_eq!(greeted().read(&even, &mut Vec::new()), Err(Malformed));
    }
}
