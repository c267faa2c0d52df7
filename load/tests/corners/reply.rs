//! What a server of the tests is asked, and what becomes of it.

use std::time::{Duration, Instant};

/// A request as the server sees it.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which connection carries it, from 0, in the order in which they were accepted.
    pub connection: u32,
    /// Which request of its connection it is, from 1.
    pub nth: u32,
    /// Path and query.
    pub path: String,
    /// The value of `Cookie`.
    pub cookie: String,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) after: Duration,
    pub(super) act: Act,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Answer {
        fields: Vec<(&'static str, String)>,
        body: String,
    },
    /// Sends the header and, so much later, the body.
    AnswerInTwo {
        body_after: Duration,
    },
    /// Leads elsewhere, over HTTP/1.1 with the end of the connection if that is wanted.
    Redirect {
        status: u16,
        location: String,
        ends: bool,
    },
    /// Begins a body that does not end.
    Events,
    /// Answers and ends the connection, over HTTP/1.1 with these bytes, right behind the response or after it was read.
    AnswerAndEnd {
        farewell: &'static str,
        is_apart: bool,
    },
    /// Answers, waits for the next request and closes without having read it. Over HTTP/2 that request must not come within
    /// `STILL_READS`.
    AnswerAndAbandon {
        farewell: &'static str,
    },
    /// Answers, and ends the idle connection in this way alone.
    AnswerAndClose(Closing),
    Close,
    /// Ends the connection with a reset, having read everything.
    Reset,
    Silence,
}

/// How a server ends a connection. The others follow only when the client has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Of TCP.
    Fin,
    /// Of TLS (RFC 8446 section 6.1).
    CloseNotify,
    /// Of HTTP/2 (RFC 9113 section 6.8).
    GoAway,
}

impl Reply {
    pub fn answer(body: &str) -> Self {
        Self { after: Duration::ZERO, act: Act::Answer { fields: Vec::new(), body: body.to_owned() } }
    }

    pub fn with_field(mut self, name: &'static str, value: String) -> Self {
        if let Act::Answer { fields, .. } = &mut self.act {
            fields.push((name, value));
        }
        self
    }

    pub fn answer_in_two(body_after: Duration) -> Self {
        Self { after: Duration::ZERO, act: Act::AnswerInTwo { body_after } }
    }

    /// A redirect that sets a cookie.
    pub fn redirect(status: u16, location: &str) -> Self {
        let act = Act::Redirect { status, location: location.to_owned(), ends: false };
        Self { after: Duration::ZERO, act }
    }

    /// The same, after which an HTTP/1.1 connection ends.
    pub fn redirect_and_end(status: u16, location: &str) -> Self {
        let act = Act::Redirect { status, location: location.to_owned(), ends: true };
        Self { after: Duration::ZERO, act }
    }

    /// A stream of events, whose first comes with the header.
    pub fn events() -> Self {
        Self { after: Duration::ZERO, act: Act::Events }
    }

    pub fn answer_and_end(farewell: &'static str, is_apart: bool) -> Self {
        Self { after: Duration::ZERO, act: Act::AnswerAndEnd { farewell, is_apart } }
    }

    pub fn answer_and_abandon() -> Self {
        Self::answer_and_abandon_with("")
    }

    pub fn answer_and_abandon_with(farewell: &'static str) -> Self {
        Self { after: Duration::ZERO, act: Act::AnswerAndAbandon { farewell } }
    }

    pub fn answer_and_close(closing: Closing) -> Self {
        Self { after: Duration::ZERO, act: Act::AnswerAndClose(closing) }
    }

    pub fn close() -> Self {
        Self { after: Duration::ZERO, act: Act::Close }
    }

    pub fn reset() -> Self {
        Self { after: Duration::ZERO, act: Act::Reset }
    }

    pub fn silence() -> Self {
        Self { after: Duration::ZERO, act: Act::Silence }
    }

    pub fn after_ms(self, ms: u64) -> Self {
        Self { after: Duration::from_millis(ms), ..self }
    }

    /// At a moment, or now where that is over.
    pub fn at(self, moment: Instant) -> Self {
        Self { after: moment.saturating_duration_since(Instant::now()), ..self }
    }
}
