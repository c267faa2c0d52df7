//! The server's side of a session, byte by byte.

use crate::http2::hpack::Encoder;
use crate::http2::{Http2Session, StreamEnd};
use crate::request::FieldRequest;
use crate::response::ReadParts;
use bytes::Bytes;
use std::sync::Arc;

pub struct Peer {
    pub session: Http2Session,
}

impl Peer {
    /// A session with this many streams, which the server has set up.
    pub fn open(width: u32) -> Self {
        Self::over(Http2Session::new(width, None))
    }

    /// A session with one stream that reads these fields and the body of responses.
    pub fn reading(fields: &[&str]) -> Self {
        Self::over(Http2Session::new(1, Some(&Arc::new(ReadParts::whole(fields)))))
    }

    fn over(session: Http2Session) -> Self {
        let mut peer = Self { session };
        let preface = peer.sent();
        assert!(preface.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04"), "{preface:?}");
        peer.session.receive(&settings(&[]));
        assert_eq!(peer.sent(), frame(4, 1, 0, b""));
        peer
    }

    /// The bytes that the session has sent since the last call.
    pub fn sent(&mut self) -> Vec<u8> {
        let mut sent = Vec::new();
        self.session.take_outgoing(&mut sent);
        sent
    }

    /// The requests that have ended since the last call.
    pub fn ends(&mut self) -> Vec<(u32, StreamEnd)> {
        std::iter::from_fn(|| self.session.next_end()).collect()
    }
}

pub fn request(method: &str, body: &str) -> Arc<FieldRequest> {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let request =
        http::Request::builder().method(method).uri("http://localhost/path").header("user-agent", "test");
    Arc::new(FieldRequest::new(request.body(body).unwrap(), Some(0), |_| false))
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub fn data(stream: u32, body: &str, ends: bool) -> Vec<u8> {
    frame(0, u8::from(ends), stream, body.as_bytes())
}

pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let pair = |(name, value): &(u16, u32)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(4, 0, 0, &settings.iter().flat_map(pair).collect::<Vec<_>>())
}

pub fn go_away(last_id: u32, code: u32) -> Vec<u8> {
    frame(7, 0, 0, &[last_id.to_be_bytes(), code.to_be_bytes()].concat())
}

/// A header block that enters nothing into the table.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut block) = (Encoder::new(), Vec::new());
    fields
        .iter()
        .for_each(|(name, value)| encoder.field(&mut block, name.as_bytes(), value.as_bytes(), true));
    block
}

pub fn headers(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(1, flags, stream, &block(fields))
}

pub fn head_200(stream: u32, ends: bool) -> Vec<u8> {
    frame(1, 4 | u8::from(ends), stream, &[0x88])
}
