//! HTTP/1.1 answers, parsed strictly and incrementally (RFC 9112).

/// A complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The final status (never 1xx).
    pub status: u16,
    /// May the connection carry another request? (version, `Connection` header, and how the body was delimited)
    pub keep_alive: bool,
    /// Body bytes, without framing.
    pub body_bytes: u64,
}

/// What feeding bytes led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// All bytes were taken and the answer is not complete.
    More,
    /// The answer is complete after `consumed` bytes of this call; the rest belongs to whatever follows.
    Complete {
        /// The answer.
        answer: Answer,
        /// Bytes of this call that belong to it.
        consumed: usize,
    },
}

/// How an answer breaks the grammar; the words of `FailureCause::Malformed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);
