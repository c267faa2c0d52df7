//! TLS and HTTP/2 without sockets: received bytes go in, bytes to send and ended requests come out.
//!
//! ```text
//! engine ─ bytes from the driver ─> Session ─> TlsSession (rustls) ─> HTTP/1.1 bytes, back to the engine's parser
//!                                      │                           └> Http2Session    ─> ended streams
//!                                      └ bytes for the driver
//! ```
//!
//! A session never waits and never reads a clock, so that one engine paces, resends and accounts for every protocol, and
//! takes the times of all of them where the bytes arrive.

mod cause;
mod session;
mod tls;
mod tls_session;

pub(crate) use session::{Reading, Session, SessionKind, Spoken, session_kind};
