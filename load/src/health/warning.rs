//! The warnings that a reader of a load's figures needs, in words.

use crate::failure::FailureCause;
use crate::setting::{Setting, SettingName};
use std::fmt;

/// A warning about a result. `Display` is its sentence with the fields of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are the figures of the text")]
#[non_exhaustive]
pub enum Warning {
    /// A generator thread had no CPU left.
    GeneratorBusy { share: f64, threads: u32 },
    /// Requests were sent late although a connection was free.
    GeneratorLate { p99_ms: f64 },
    /// The whole process was stopped; `share` is the part of the load.
    GeneratorStopped { ms: f64, share: f64 },
    /// The requested rate was not reached.
    RateMissed { asked_per_s: f64, sent_per_s: f64, completed_per_s: f64 },
    /// Requests of the lead-in that were still to be sent when counting began are in the rate.
    RateExceeded { asked_per_s: f64, sent_per_s: f64, waiting: u64 },
    /// Requests were due and never begun.
    NotSent { count: u64, oldest_ms: f64, has_times: bool },
    /// Requests failed; the cause is the most frequent one.
    Failures { failed: u64, sent: u64, cause: Option<FailureCause> },
    /// Every connection was closed or reset without a byte of a response, and TLS was not used.
    ClosedAtOnce,
    /// Source ports ran out.
    NoPortLeft { count: u64 },
    /// The server sent bytes over connections that had no request.
    Unsolicited { count: u64 },
    /// Requests were in flight when the time was up, one of them for longer than any response took.
    Unfinished { count: u64, oldest_ms: f64 },
    /// Requests were in flight when the time was up, and no expected response had come.
    NothingAnswered { count: u64, oldest_ms: f64 },
    /// Responses had begun and did not end, and no expected one was complete.
    EndlessBodies { count: u64 },
    /// The load began, or its lead-in ended, before all of its connections were open.
    BegunPartly { open: u64, wanted: u64, has_lead_in: bool },
    /// Fewer threads were used than requested.
    FewerThreads { asked: u32, used: u32 },
    /// Every response was a redirect, and none is followed.
    OnlyRedirects { status: u16, count: u64, has_times: bool },
    /// The log of requests could not be written to its end.
    LogIncomplete { kind: std::io::ErrorKind },
    /// A closed loop cannot see how long requests would have waited that were never sent.
    ClosedLoop,
}

/// A number with three significant digits, or more if it has more digits before the point.
fn three_digits(number: f64) -> String {
    if number <= 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - number.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.decimals$}")
}

impl Warning {
    /// The kind of the warning, in JSON.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::GeneratorBusy { .. } => "generator-busy",
            Self::GeneratorLate { .. } => "generator-late",
            Self::GeneratorStopped { .. } => "generator-stopped",
            Self::RateMissed { .. } => "rate-missed",
            Self::RateExceeded { .. } => "rate-exceeded",
            Self::NotSent { .. } => "not-sent",
            Self::Failures { .. } => "failures",
            Self::ClosedAtOnce => "closed-at-once",
            Self::NoPortLeft { .. } => "no-port-left",
            Self::Unsolicited { .. } => "unsolicited",
            Self::Unfinished { .. } => "unfinished",
            Self::NothingAnswered { .. } => "nothing-answered",
            Self::BegunPartly { .. } => "begun-partly",
            Self::OnlyRedirects { .. } => "only-redirects",
            Self::FewerThreads { .. } => "fewer-threads",
            Self::EndlessBodies { .. } => "endless-bodies",
            Self::LogIncomplete { .. } => "log-incomplete",
            Self::ClosedLoop => "closed-loop",
        }
    }

    /// The sentence that tells what the warning means, and what to do.
    #[must_use]
    pub fn sentence(&self, name: SettingName) -> String {
        match *self {
            Self::GeneratorBusy { share, threads } => format!(
                "the generator was the bottleneck: its busiest thread used {:.0} % of a core. These figures are \
                 about the generator, not the server. Give it more threads ({setting}, now {threads}) and cores of \
                 its own ({cores}), or send from another machine",
                share * 100.0,
                setting = name(Setting::Threads),
                cores = name(Setting::Cores),
            ),
            Self::GeneratorLate { p99_ms } => format!(
                "the generator was the bottleneck. With a connection free it still sent one in a hundred requests \
                 {p99_ms:.1} ms or more after it was due. Give it cores of its own ({cores}), or ask for less",
                cores = name(Setting::Cores),
            ),
            Self::GeneratorStopped { ms, share } => format!(
                "the generator stood still for {ms:.0} ms ({:.1} % of the load). It was stopped, or got no CPU. Response \
                 times contain that. Measure again",
                share * 100.0
            ),
            Self::RateMissed { asked_per_s, sent_per_s, completed_per_s } => {
                let missed = format!(
                    "the asked rate was missed: {asked_per_s:.1}/s asked, {sent_per_s:.1}/s sent, {completed_per_s:.1}/s \
                     completed"
                );
                if completed_per_s == 0.0 {
                    return missed;
                }
                format!(
                    "{missed}. The times are those of an overloaded system. Ask for less ({rate}), or allow more requests \
                     at once ({connections}) if the server can take them",
                    rate = name(Setting::Rate),
                    connections = name(Setting::Connections),
                )
            }
            Self::RateExceeded { asked_per_s, sent_per_s, waiting } => format!(
                "the rate is not that of a steady state: {sent_per_s:.1}/s sent, {asked_per_s:.1}/s asked. \
                 {waiting} requests that were due in the lead-in were sent after its end. Their waiting is in the \
                 response times. Allow a longer lead-in ({lead_in}) or more requests at once ({connections})",
                lead_in = name(Setting::LeadIn),
                connections = name(Setting::Connections),
            ),
            Self::NotSent { count, oldest_ms, has_times } => format!(
                "{count} {} due and never sent, because no connection was free until the end; the oldest had \
                 waited {} ms{}",
                if count == 1 { "request was" } else { "requests were" },
                three_digits(oldest_ms),
                if has_times {
                    ". They are in no percentile: the true times are longer than those shown"
                } else {
                    ""
                }
            ),
            Self::Failures { failed, sent, cause } => {
                let share = 100.0 * failed as f64 / sent.max(1) as f64;
                let most = cause.map(|it| format!(", most often: {}", it.sentence(name))).unwrap_or_default();
                let no_times = if failed < sent { ". Failures are in no response time" } else { "" };
                format!("{failed} of {sent} requests failed ({share:.2} %){most}{no_times}")
            }
            Self::ClosedAtOnce => {
                "the server closed each connection without a byte of a response. The port may speak TLS: use https://".to_owned()
            }
            Self::NoPortLeft { count } => format!(
                "source ports ran out {count} times: closed connections hold theirs for 60 s (TIME_WAIT). Keep \
                 connections alive, lower the rate, or use `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`"
            ),
            Self::Unsolicited { count } => format!(
                "{count} {} closed because the server sent bytes that belong to no request. The response before them \
                 may have been longer than its length",
                if count == 1 { "connection was" } else { "connections were" }
            ),
            Self::Unfinished { count, oldest_ms } => format!(
                "{count} {} still unanswered at the end, the oldest for {} ms, longer than any answer took. They are in \
                 no percentile: the true times are longer than those shown",
                if count == 1 { "request was" } else { "requests were" },
                three_digits(oldest_ms)
            ),
            Self::NothingAnswered { count, oldest_ms } => format!(
                "{count} {} still unanswered at the end, the oldest for {} ms, and no expected response came",
                if count == 1 { "request was" } else { "requests were" },
                three_digits(oldest_ms)
            ),
            Self::EndlessBodies { count } => format!(
                "{count} {} begun and did not end. If they are streams of events, measure them to the first byte of their \
                 body ({})",
                if count == 1 { "response had" } else { "responses had" },
                name(Setting::FirstByte)
            ),
            Self::BegunPartly { open, wanted, has_lead_in: true } => format!(
                "when the lead-in ended, {open} of {wanted} connections had been opened: the others were refused, or not \
                 established. Times may hold the opening of those, and fewer requests at once were possible than were asked \
                 for. Allow more time ({connect_timeout}) or fewer connections ({connections})",
                connect_timeout = name(Setting::ConnectTimeout),
                connections = name(Setting::Connections),
            ),
            Self::BegunPartly { open, wanted, has_lead_in: false } => format!(
                "the load began with {open} of {wanted} connections open. The others were refused, or not established within \
                 the time of a connect. Times may hold the opening of those, and fewer requests at once were possible at \
                 first. Allow more time ({connect_timeout}) or fewer connections ({connections})",
                connect_timeout = name(Setting::ConnectTimeout),
                connections = name(Setting::Connections),
            ),
            Self::FewerThreads { asked, used } => format!(
                "{used} of {asked} threads were used: an open load needs 16 connections for each, a closed one a \
                 connection. Allow more connections ({}) or fewer threads ({})",
                name(Setting::Connections),
                name(Setting::Threads)
            ),
            Self::OnlyRedirects { status, count, has_times } => format!(
                "every response was a redirect ({count} with status {status} the most frequent). {}Request the address it \
                 names, often https:// or a trailing slash, or follow it ({})",
                if has_times { "These are the times of the redirect itself. " } else { "" },
                name(Setting::Follow)
            ),
            Self::LogIncomplete { kind } => format!(
                "the log of requests is incomplete ({kind}); every other figure is whole. Free room on its disk or \
                 name another file ({log})",
                log = name(Setting::Log),
            ),
            Self::ClosedLoop => format!(
                "closed loop: response times leave out the queueing that users would see. To include it, set a rate ({})",
                name(Setting::Rate)
            ),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence(Setting::field))
    }
}
