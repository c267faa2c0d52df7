//! Recognizes a server that hangs: no response was completed in a window, or none in its last half.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadcount_diagnose::verdict::Verdict;
use threadcount_diagnose::{Evidence, Options, gather, judge};
use threadcount_load::failure::FailureCause;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_machine::process_state::ProcessState;
use threadcount_machine::process_tree::ProcessTree;
use threadcount_model::figures;
use threadcount_report::diagnosis;

/// A slow server is silent for as long as its slowest response took. A hung server is silent for more than this many times that.
const SLOWEST_RESPONSES: f64 = 2.0;

/// A busy machine can stop a server for less than this, in seconds.
const LEAST_S: f64 = 0.5;

/// How long a server did not respond, up to the end of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    lasted_s: f64,
    window_s: f64,
    requests: u64,
    quick_failures: Option<QuickFailures>,
}

/// Requests that failed at once, and their most frequent cause: nothing waits for the server.
#[derive(Clone, Copy, Debug, PartialEq)]
struct QuickFailures {
    cause: FailureCause,
    requests: u64,
}

impl QuickFailures {
    /// The quick failures of a load; `None` if at least as many requests timed out or still wait.
    fn find(outcome: &LoadOutcome) -> Option<Self> {
        let is_quick = |cause: &FailureCause| {
            !matches!(cause, FailureCause::RequestTimeout | FailureCause::ConnectTimeout)
        };
        let quick = || outcome.failures.iter().filter(|(cause, _)| is_quick(cause));
        let requests: u64 = quick().map(|(_, requests)| requests).sum();
        let all: u64 = outcome.failures.values().sum();
        let (&cause, _) = quick().max_by_key(|(_, requests)| **requests)?;
        (requests > all - requests + outcome.counts.unfinished).then_some(Self { cause, requests })
    }
}

impl Silence {
    /// The silence of a server that did not respond for `lasted_s` while its load went on.
    pub fn seen(outcome: &LoadOutcome, lasted_s: f64) -> Self {
        let window_s = outcome.ended_ns.saturating_sub(outcome.started_ns) as f64 / 1e9;
        let counts = outcome.counts;
        let requests = counts.in_flight_at_start + counts.sent + counts.not_sent;
        Self { lasted_s, window_s, requests, quick_failures: QuickFailures::find(outcome) }
    }

    /// The silence at the end of a load; `None` if the server responded, or nobody waited for it.
    pub fn of(outcome: &LoadOutcome) -> Option<Self> {
        let whole = Self::seen(outcome, f64::INFINITY);
        let (window_s, requests, counts) = (whole.window_s, whole.requests, outcome.counts);
        if outcome.interrupted || requests == 0 {
            return None;
        }
        if outcome.status.is_empty() {
            return Some(Self { lasted_s: window_s, ..whole });
        }
        let may_be_responses = outcome.failures.keys().any(is_response);
        let responded =
            |second: &&Second| second.counts.ok > 0 || (may_be_responses && second.counts.failed > 0);
        let last = outcome.seconds.iter().rev().find(responded)?;
        // Loads sent by several machines have only whole seconds.
        let responded_s = match outcome.last_response_ns {
            1.. => outcome.last_response_ns.saturating_sub(outcome.started_ns) as f64 / 1e9,
            0 => last.began_s() + last.length_s,
        };
        let lasted_s = window_s - responded_s;
        let failed_since = outcome.seconds.iter().rev().take_while(|second| !responded(second));
        let is_waited_for =
            counts.unfinished > 0 || failed_since.map(|second| second.counts.failed).sum::<u64>() > 0;
        let slowest_s = outcome.response_time.summary().map_or(0.0, |times| times.max / 1e3);
        let is_silent = lasted_s >= LEAST_S.max(window_s / 2.0) && lasted_s > SLOWEST_RESPONSES * slowest_s;
        (is_waited_for && is_silent).then_some(Self { lasted_s, ..whole })
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lasted_s, window_s, requests, quick_failures } = self;
        let requests = figures::plural(*requests, "request");
        if let Some(QuickFailures { cause, requests: failed }) = quick_failures {
            let failed = figures::count(*failed);
            return write!(f, "no expected response: {failed} of {requests} failed ({cause})");
        }
        if lasted_s < window_s {
            // Rounded down: if there was one response, not all of the window was silent.
            let lasted_s = (lasted_s * 10.0 + 1e-6).floor() / 10.0;
            return write!(f, "no response in the last {lasted_s:.1} s of a window of {window_s:.1} s");
        }
        write!(f, "no response to {requests} in a window of {window_s:.1} s")
    }
}

/// Whether a failure is a complete response that is not the expected one.
const fn is_response(cause: &FailureCause) -> bool {
    matches!(
        cause,
        FailureCause::UnexpectedStatus(_) | FailureCause::UnexpectedBody | FailureCause::EncodedBody
    )
}

/// A server without a response, and why.
#[derive(Debug)]
pub struct Hang {
    silence: Option<Silence>,
    state: Option<ProcessState>,
    /// The process no longer exists.
    has_ended: bool,
    /// The lines that `threadcount diagnose` prints about its JVM; empty if there is no JVM, or it cannot be asked.
    diagnosis: Vec<String>,
    /// The diagnosis finds that something hangs.
    is_diagnosed: bool,
}

impl Hang {
    /// The hang of a process, given its silence in a window; `None` if it does not hang. A stopped process hangs, whatever it did before.
    /// `agent`: the probe may be loaded.
    pub fn find(
        pid: Option<u32>,
        silence: Option<Silence>,
        agent: bool,
        interrupted: &Arc<AtomicBool>,
    ) -> Option<Self> {
        if silence.is_none() && !process(pid).1.is_some_and(ProcessState::is_dead) {
            return None;
        }
        Some(Self::inspect(pid, silence, agent, interrupted))
    }

    /// The hang of a process whose load gave up; `None` if nothing proves it.
    pub fn behind_a_failed_load(
        pid: Option<u32>,
        agent: bool,
        interrupted: &Arc<AtomicBool>,
    ) -> Option<Self> {
        let inspected = Self::inspect(pid, None, agent, interrupted);
        inspected.is_proven().then_some(inspected)
    }

    fn inspect(
        pid: Option<u32>,
        silence: Option<Silence>,
        agent: bool,
        interrupted: &Arc<AtomicBool>,
    ) -> Self {
        let (jvm, state) = process(pid);
        let is_dead = state.is_some_and(ProcessState::is_dead);
        let is_waited_for = silence.is_none_or(|silence| silence.quick_failures.is_none());
        let diagnosis =
            jvm.filter(|_| !is_dead && is_waited_for).and_then(|jvm| diagnosed(jvm, agent, interrupted));
        let has_ended = pid.is_some() && state.is_none();
        let (is_diagnosed, diagnosis) = diagnosis.unwrap_or_default();
        Self { silence, state, has_ended, diagnosis, is_diagnosed }
    }

    /// Whether more than silence shows the hang: a service may respond slowly, or its clients may wait for news.
    pub fn is_proven(&self) -> bool {
        self.is_diagnosed || self.has_ended || self.state.is_some_and(ProcessState::is_dead)
    }

    /// The whole report, line by line.
    pub fn lines(&self) -> Vec<String> {
        std::iter::once(self.to_string()).chain(self.details().cloned()).collect()
    }

    /// The diagnosis below its headline.
    pub fn details(&self) -> impl Iterator<Item = &String> {
        self.diagnosis.iter().skip(1)
    }
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headline = match self.silence {
            _ if self.has_ended => "the server has ended",
            _ if self.is_proven() => "the server hangs",
            Some(Silence { quick_failures: Some(_), .. }) => "",
            _ => "the server does not respond",
        };
        let silence = self.silence.map(|silence| silence.to_string());
        let facts: Vec<String> =
            silence.into_iter().chain(self.state.map(|state| state.to_string())).collect();
        let parts = [headline.to_owned(), facts.join("; ")];
        f.write_str(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": "))?;
        self.diagnosis.first().map_or(Ok(()), |headline| write!(f, ". {headline}"))
    }
}

/// The JVM below a process, and the state of the JVM or else of the process itself.
fn process(pid: Option<u32>) -> (Option<u32>, Option<ProcessState>) {
    let jvm = pid.and_then(|pid| ProcessTree::rooted_at(pid).java_pid());
    (jvm, jvm.or(pid).and_then(ProcessState::read))
}

/// The diagnosis of a JVM; `None` if it cannot be inspected, which is not a second failure.
fn diagnosed(jvm: u32, agent: bool, interrupted: &Arc<AtomicBool>) -> Option<(bool, Vec<String>)> {
    let gathered = gather(jvm, Options { agent }, interrupted).ok()?;
    Some(judged(&gathered.evidence))
}

fn judged(evidence: &Evidence) -> (bool, Vec<String>) {
    let verdicts = judge(evidence);
    let lines = diagnosis::text(&verdicts, &evidence.missing_sources).lines().map(str::to_owned).collect();
    (verdicts.iter().any(Verdict::is_trouble), lines)
}

/// The lines that `threadcount diagnose` prints about the JVM below a process that is not ready yet. `None` if it does not hang or cannot
/// be inspected.
pub fn hang_diagnosis(pid: u32) -> Option<Vec<String>> {
    let jvm = ProcessTree::rooted_at(pid).java_pid()?;
    let mut evidence = gather(jvm, Options { agent: true }, &Arc::default()).ok()?.evidence;
    evidence.is_starting = true;
    let (hangs, lines) = judged(&evidence);
    hangs.then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of whole seconds with `per_second` responses in each, all of which took `response_ms`.
    fn window(per_second: &[u64], response_ms: u64, unfinished: u64) -> LoadOutcome {
        let mut outcome = LoadOutcome::default();
        outcome.ended_ns = per_second.len() as u64 * 1_000_000_000;
        for (index, &ok) in (0..).zip(per_second) {
            let mut second = Second::default();
            (second.index, second.length_s, second.counts.ok) = (index, 1.0, ok);
            outcome.seconds.push(second);
            outcome.counts.ok += ok;
            (0..ok).for_each(|_| outcome.response_time.record_ns(response_ms * 1_000_000));
        }
        outcome.counts.unfinished = unfinished;
        outcome.counts.sent = outcome.counts.ok + unfinished;
        if outcome.counts.ok > 0 {
            outcome.status.insert(200, outcome.counts.ok);
        }
        outcome
    }

    fn words(outcome: &LoadOutcome) -> Option<String> {
        Silence::of(outcome).map(|silence| silence.to_string())
    }

    #[test]
    fn a_window_without_a_response_and_one_without_any_in_its_last_half_are_silent() {
        assert_eq!(
            words(&window(&[0, 0, 0, 0], 1, 4)).as_deref(),
            Some("no response to 4 requests in a window of 4.0 s")
        );
        assert_eq!(
            words(&window(&[90, 20, 0, 0], 1, 4)).as_deref(),
            Some("no response in the last 2.0 s of a window of 4.0 s")
        );
        assert_eq!(words(&window(&[90, 20, 1, 0], 1, 4)), None, "a response in the last half");
    }

    #[test]
    fn silence_begins_with_the_last_response_and_not_with_the_second_after_it() {
        let mut outcome = window(&[90, 20, 0], 1, 4);
        (outcome.started_ns, outcome.ended_ns) = (5_000_000_000, 8_000_000_000);
        outcome.last_response_ns = 6_200_000_000;
        assert_eq!(words(&outcome).as_deref(), Some("no response in the last 1.8 s of a window of 3.0 s"));
        outcome.last_response_ns = 6_900_000_000;
        assert_eq!(words(&outcome), None);
    }

    #[test]
    fn a_pause_shorter_than_half_a_second_is_no_silence_and_a_short_window_without_a_response_is() {
        let mut outcome = window(&[9], 1, 4);
        (outcome.ended_ns, outcome.last_response_ns) = (300_000_000, 110_000_000);
        assert_eq!(words(&outcome), None);
        (outcome.ended_ns, outcome.last_response_ns) = (900_000_000, 110_000_000);
        assert_eq!(words(&outcome).as_deref(), Some("no response in the last 0.7 s of a window of 0.9 s"));
        let mut outcome = window(&[0], 1, 4);
        outcome.ended_ns = 300_000_000;
        assert_eq!(words(&outcome).as_deref(), Some("no response to 4 requests in a window of 0.3 s"));
    }

    #[test]
    fn requests_that_time_out_in_the_last_half_are_no_responses_and_a_503_is_one() {
        let mut outcome = window(&[90, 20, 0, 0], 1, 0);
        outcome.seconds[3].counts.failed = 4;
        outcome.counts.failed = 4;
        outcome.failures.insert(FailureCause::RequestTimeout, 4);
        assert!(Silence::of(&outcome).is_some());
        outcome.failures.insert(FailureCause::UnexpectedStatus(503), 1);
        assert_eq!(Silence::of(&outcome), None);
    }

    #[test]
    fn a_server_whose_responses_are_malformed_or_refused_is_not_said_to_hang() {
        let mut failing = window(&[3, 0, 0], 1, 0);
        for second in &mut failing.seconds[1..] {
            second.counts.failed = 2_475;
        }
        (failing.counts.sent, failing.counts.failed) = (4_953, 4_950);
        failing.failures.insert(FailureCause::ConnectionRefused, 4_900);
        failing.failures.insert(FailureCause::RequestTimeout, 50);
        let silence = Silence::of(&failing);
        let expected = "no expected response: 4,900 of 4,953 requests failed (connection refused)";
        let hang =
            Hang { silence, state: None, has_ended: false, diagnosis: Vec::new(), is_diagnosed: false };
        assert_eq!(hang.to_string(), expected);
        failing.failures.insert(FailureCause::RequestTimeout, 4_900);
        let expected = "the server does not respond: no response in the last 2.0 s of a window of 3.0 s";
        assert_eq!(Hang { silence: Silence::of(&failing), ..hang }.to_string(), expected);
    }

    #[test]
    fn a_server_that_has_ended_needs_no_facts() {
        let ended =
            Hang { silence: None, state: None, has_ended: true, diagnosis: Vec::new(), is_diagnosed: false };
        assert_eq!(ended.to_string(), "the server has ended");
        let silence = Silence::of(&window(&[0, 0], 1, 4));
        let expected = "the server has ended: no response to 4 requests in a window of 2.0 s";
        assert_eq!(Hang { silence, ..ended }.to_string(), expected);
    }

    #[test]
    fn a_slow_server_an_ended_load_and_one_that_the_user_ended_are_not_silent() {
        assert_eq!(Silence::of(&window(&[0, 4, 0, 0], 1_900, 4)), None, "the next responses are due at 4 s");
        assert_eq!(Silence::of(&window(&[90, 20, 0, 0], 1, 0)), None, "nobody waits");
        assert_eq!(Silence::of(&window(&[0, 0], 1, 0)), None, "nothing was sent");
        let mut interrupted = window(&[0, 0, 0, 0], 1, 4);
        interrupted.interrupted = true;
        assert_eq!(Silence::of(&interrupted), None);
    }
}
