//! One row of a log, for one request.

use crate::clock::Nanos;
use crate::failure::FailureCause;
use std::fmt::Write as _;

/// The names of the columns.
pub(super) const HEADER: &str = "due_s,sent_s,ended_s,status,outcome,failure,connection,target,bytes\n";

/// One request in a log. Its times are on the [`clock`](crate::clock).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogRow {
    /// When the request was due.
    pub due_ns: Nanos,
    /// When the request was sent; `None`: never.
    pub sent_ns: Option<Nanos>,
    /// When its last byte arrived, or when it failed; `None`: it has not ended.
    pub ended_ns: Option<Nanos>,
    /// The status of the response; `None`: none arrived.
    pub status: Option<u16>,
    /// How the request ended.
    pub outcome: RowOutcome,
    /// The number of the connection that carried it, from 0; `None`: none did.
    pub connection: Option<u32>,
    /// The number of its target, from 0.
    pub target: u32,
    /// Bytes received for the request.
    pub bytes: u64,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowOutcome {
    /// The request got an expected response.
    Ok,
    Failed(FailureCause),
    /// The request was in flight at the end.
    Unfinished,
    /// The request was due but never sent.
    NotSent,
}

impl RowOutcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(_) => "failed",
            Self::Unfinished => "unfinished",
            Self::NotSent => "not sent",
        }
    }
}

impl LogRow {
    /// Appends the line. Writing to a `String` cannot fail.
    pub(super) fn write(&self, started_ns: Nanos, line: &mut String) {
        write_seconds(Some(self.due_ns), started_ns, line);
        write_seconds(self.sent_ns, started_ns, line);
        write_seconds(self.ended_ns, started_ns, line);
        write_number(self.status, line);
        line.push_str(self.outcome.word());
        line.push(',');
        if let RowOutcome::Failed(cause) = self.outcome {
            write_quoted(&cause.to_string(), line);
        }
        line.push(',');
        write_number(self.connection, line);
        let _ = writeln!(line, "{},{}", self.target, self.bytes);
    }
}

/// Writes seconds since the start, to the microsecond; times in the lead-in, before the start, are negative.
fn write_seconds(at_ns: Option<Nanos>, started_ns: Nanos, line: &mut String) {
    if let Some(at_ns) = at_ns {
        let us = at_ns.abs_diff(started_ns) / 1_000;
        line.push_str(if at_ns < started_ns && us > 0 { "-" } else { "" });
        let _ = write!(line, "{}.{:06}", us / 1_000_000, us % 1_000_000);
    }
    line.push(',');
}

fn write_number(number: Option<impl std::fmt::Display>, line: &mut String) {
    if let Some(number) = number {
        let _ = write!(line, "{number}");
    }
    line.push(',');
}

/// Writes a text as in RFC 4180: in quotes if it contains a comma, a quote or a line end.
fn write_quoted(text: &str, line: &mut String) {
    if text.contains([',', '"', '\n', '\r']) {
        let _ = write!(line, "\"{}\"", text.replace('"', "\"\""));
    } else {
        line.push_str(text);
    }
}
