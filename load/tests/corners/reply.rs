//! Requests as the tests' server sees them, and its replies.

use std::time::{Duration, Instant};

/// A request as the server sees it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number of the connection that carries it, from 0, in the order in which they were accepted.
    pub connection: u32,
    /// The number of the request on its connection, from 1.
    pub nth: u32,
    /// Path and query.
    pub path: String,
    /// The value of `Cookie`.
    pub cookie: String,
}

/// What the server does with a request.
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
    /// Sends the header and, after `body_after`, the body.
    AnswerInTwo {
        body_after: Duration,
    },
    /// Redirects, and over HTTP/1.1 also ends the connection if `ends` is set.
    Redirect {
        status: u16,
        location: String,
        ends: bool,
    },
    /// Begins a body that does not end.
    Events,
    /// Answers and ends the connection. Over HTTP/1.1 it also sends these bytes, directly behind the response or after the client has read
    /// it.
    AnswerAndEnd {
        farewell: &'static str,
        is_apart: bool,
    },
    /// Answers, waits for the next request, and closes without having read it. Over HTTP/2 the next request must not come within
    /// `STILL_READS`.
    AnswerAndAbandon {
        farewell: &'static str,
    },
    /// Answers, and ends the idle connection in this one way.
    AnswerAndClose(Closing),
    Close,
    /// Ends the connection with a reset, having read everything.
    Reset,
    Silence,
}

/// The first step with which a server ends a connection. The other steps follow only when the client has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The FIN of TCP.
    Fin,
    /// The close_notify of TLS (RFC 8446 section 6.1).
    CloseNotify,
    /// The GOAWAY of HTTP/2 (RFC 9113 section 6.8).
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

    /// A redirect that sets a cookie, after which an HTTP/1.1 connection ends.
    pub fn redirect_and_end(status: u16, location: &str) -> Self {
        let act = Act::Redirect { status, location: location.to_owned(), ends: true };
        Self { after: Duration::ZERO, act }
    }

    /// A stream of events, the first of which comes with the header.
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

    /// The same reply at a given moment, or now if that has passed.
    pub fn at(self, moment: Instant) -> Self {
        Self { after: moment.saturating_duration_since(Instant::now()), ..self }
    }
}
