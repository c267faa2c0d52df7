//! The protocol of a load and its response: what is the same for every tool of a table.

use crate::protocol::Protocol;
use crate::server::answer::BODY;
use serde::{Deserialize, Serialize};

/// The circumstances of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The protocol.
    pub protocol: Protocol,
    /// Streams at once on each connection; 1 where there are none.
    pub streams: u32,
    /// How long the body of each response is, in bytes.
    pub body: usize,
    /// The generator's threads.
    pub threads: u32,
    /// Exactly so many requests, however long they take; `None`: for a time.
    pub requests: Option<u64>,
}

impl Default for Condition {
    fn default() -> Self {
        Self { protocol: Protocol::Http1, streams: 1, body: BODY.len(), threads: 1, requests: None }
    }
}

impl Condition {
    /// Over this protocol, with so many streams on each connection.
    #[must_use]
    pub fn over(protocol: Protocol, streams: u32) -> Self {
        Self { protocol, streams, ..Self::default() }
    }

    /// Answers with a body of so many bytes.
    #[must_use]
    pub fn with_body(body: usize) -> Self {
        Self { body, ..Self::default() }
    }
}
