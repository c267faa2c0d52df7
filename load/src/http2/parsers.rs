//! Entry points for fuzzing HTTP/2: each function takes any bytes, and panics if a promise is broken.

use super::hpack::{Decoder, Encoder};
use super::{Http2Session, StreamEnd};
use crate::request::FieldRequest;
use crate::response::ReadParts;
use bytes::Bytes;
use std::sync::Arc;

/// The methods of the requests, one for each stream of the session.
const METHODS: [&str; 4] = ["POST", "GET", "HEAD", "POST"];
const EMPTY_SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const MOST_BLOCK_BYTES: usize = 65_536;

/// Reads frames of a server. Checks that each request ends exactly once, and that it does not matter in which pieces the bytes come. The
/// first byte chooses the size of the pieces, and whether responses are kept.
pub fn session(bytes: &[u8]) {
    let Some((&choice, frames)) = bytes.split_first() else { return };
    let at_once = outcome(frames, choice, usize::MAX);
    let mut places: Vec<u32> = at_once.0.iter().map(|(place, _)| *place).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2, 3], "each request ends once");
    assert_eq!(outcome(frames, choice, 1 + usize::from(choice >> 2)), at_once, "pieces change nothing");
}

/// How requests end when the server sends these frames, and the bytes that are sent to it.
fn outcome(frames: &[u8], choice: u8, piece_bytes: usize) -> (Vec<(u32, StreamEnd)>, Vec<u8>) {
    let reads = (choice & 1 != 0).then(|| Arc::new(ReadParts::whole(&["set-cookie"])));
    let mut session = Http2Session::new(METHODS.len() as u32, reads.as_ref());
    session.first_byte = choice & 2 != 0;
    session.receive(EMPTY_SETTINGS);
    for (place, method) in (0..).zip(METHODS) {
        let request = http::Request::builder().method(method).uri("http://localhost/path");
        let request = request
            .body(Bytes::from_static(b"some body"))
            .map(|it| FieldRequest::new(it, Some(0), |_| false));
        assert!(request.is_ok_and(|request| session.send(place, &Arc::new(request)).is_ok()));
    }
    frames.chunks(piece_bytes).for_each(|piece| session.receive(piece));
    let mut sent = Vec::new();
    session.take_outgoing(&mut sent);
    session.end(None);
    (std::iter::from_fn(|| session.next_end()).collect(), sent)
}

/// Reads header blocks, each after a byte with its length. Checks that fields stay the same after they are written and read again.
pub fn header_blocks(mut bytes: &[u8]) {
    let mut decoder = Decoder::new();
    let (mut encoder, mut second) = (Encoder::new(), Decoder::new());
    while let Some((&length, rest)) = bytes.split_first() {
        let (block, rest) = rest.split_at(rest.len().min(length.into()));
        bytes = rest;
        let mut fields = Vec::new();
        if decoder
            .decode(block, MOST_BLOCK_BYTES, |name, value| fields.push((name.to_vec(), value.to_vec())))
            .is_err()
        {
            return;
        }
        let mut written = Vec::new();
        encoder.begin(&mut written);
        fields.iter().for_each(|(name, value)| encoder.field(&mut written, name, value, length % 2 == 0));
        let mut again = Vec::new();
        let read =
            second.decode(&written, usize::MAX, |name, value| again.push((name.to_vec(), value.to_vec())));
        assert_eq!((read, again), (Ok(()), fields));
    }
}
