//! The client side of HTTP/2 (RFC 9113): received bytes go in, bytes to send and ended requests come out. It needs no runtime, socket or
//! clock.
//!
//! ```text
//! received bytes ──> Http2Session ─> frames ─> header_blocks (hpack) ─> head ─> StreamEnd
//! FieldRequest ────> Http2Session ─> request_blocks (hpack) ─> frames ─> bytes to send
//! ```
//!
//! It is our own library because its cost is part of what we measure: the work of a general one per frame (a queue, a map of headers, a
//! waker) costs several times what the request itself needs. It is as strict as the HTTP/1.1 parser: whatever the protocol forbids is a
//! failure with a name.

mod error_code;
mod flag;
mod frames;
mod head;
mod header_blocks;
mod hpack;
mod incoming;
mod kind;
#[cfg(feature = "sample")]
pub(crate) mod parsers;
mod receiving;
mod request_blocks;
mod sending;
mod session;
mod settings;
mod stream_end;
mod streams;
#[cfg(test)]
mod tests;
mod window;

pub(crate) use session::Http2Session;
pub(crate) use stream_end::{Again, Broken, NotSent, StreamEnd};
