//! Everything that happened during one load, before it is turned into figures.

use crate::clock::{NANOS_PER_S, Nanos};
pub use crate::counts::{Bytes, ConnectionsAtStart, Counts, SecondCounts};
use crate::failure::FailureCause;
use crate::log::LogCounts;
use crate::pods::PodReport;
use crate::recorder::Recorder;
use crate::slowest::Slowest;
use crate::times::Times;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that one load measured, summed over threads. Memory is constant in the number of requests. As JSON it is the account of a
/// share (docs/contributing/share-format.md).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoadOutcome {
    /// When counting began, on the shared clock: when the first request was due, or at the end of the lead-in.
    pub started_ns: Nanos,
    /// The same moment on the wall clock, in nanoseconds since 1970; 0: not known.
    pub started_unix_ns: u64,
    /// When measuring ended, on the shared clock.
    pub ended_ns: Nanos,
    /// The protocol that was used, e.g. `HTTP/1.1`, `HTTP/2`, `HTTP/2 over TLS 1.3`.
    pub protocol: String,
    /// The outcomes of the requests.
    pub counts: Counts,
    /// How long the requests in flight at the start had been on their way, added up.
    pub in_flight_at_start_ns: u128,
    /// How long the unfinished requests had been on their way at the end, added up.
    pub in_flight_at_end_ns: u128,
    /// Due → last byte, for requests with an expected response.
    pub response_time: Times,
    /// A sample of the slowest requests with an expected response.
    #[serde(skip)]
    pub slowest: Slowest,
    /// Sent → last byte, for requests with an expected response.
    pub service_time: Times,
    /// Sent → first byte received, for the same requests. An interim response (1xx) counts; over HTTP/2 it is the final header.
    pub first_byte_time: Times,
    /// Due → failure, for failed requests.
    pub failed_time: Times,
    /// Due → sent, for all requests that were sent.
    pub send_lag: Times,
    /// The generator's own part of the send lag: the time after a connection was free for the request.
    pub own_lag: Times,
    /// Due → end of the load, for requests in flight at the end.
    pub unfinished_age: Times,
    /// Due → end of the load, for requests that were due and not sent.
    pub not_sent_age: Times,
    /// Responses by status code, expected or not.
    pub status: BTreeMap<u16, u64>,
    pub failures: BTreeMap<FailureCause, u64>,
    /// The first printable characters of the body of the first response with an unexpected status, secrets masked.
    pub first_failing_body: Option<String>,
    /// When that response was complete.
    #[serde(default)]
    pub first_failing_ns: Nanos,
    /// Bytes written to and read from the sockets (for TLS: of the HTTP stream inside).
    pub bytes: Bytes,
    /// Connections that were established, including those of the lead-in.
    pub connections_opened: u64,
    /// Connections when the load began, or by the end of its lead-in; `None`: the load opens none in advance.
    pub connections_at_start: Option<ConnectionsAtStart>,
    /// Connections that were open when the load ended.
    pub connections_open: u64,
    /// Connections that were closed because the server sent bytes while they had no request. A response that ends the connection,
    /// such as a 408, is not among them: a server may end an idle connection.
    pub unsolicited: u64,
    /// The largest number of concurrent requests that one connection really carried: more than 1 only over HTTP/2, and no more than the
    /// server allows.
    pub streams_per_connection: u32,
    /// Requests whose response had begun when they timed out or the load ended.
    pub begun_unfinished: u64,
    /// Requests of an open load that found every connection busy when they were due: that part of their send lag comes from the server (or
    /// from too few connections), not from the generator.
    pub waited_for_connection: u64,
    /// Responses whose time is the kernel's own receive stamp; for all others it is when the generator saw their last byte. A stamp is
    /// exact if segments arrived in order; otherwise it is too early by 1 ms at most.
    pub stamped: u64,
    /// When the last request was sent, on the shared clock.
    pub last_sent_ns: Nanos,
    /// When the last response was complete, expected or not, on the shared clock; 0: there was none, or it is not known.
    pub last_response_ns: Nanos,
    /// One slice per second of the run.
    #[serde(skip)]
    pub seconds: Vec<Second>,
    /// The cost of the generator itself.
    pub cost: GeneratorCost,
    /// How busy each core of this machine was, 0..=1, by all processes; empty: not known.
    pub cores_busy: Vec<f64>,
    /// How long this whole process was stopped during counting, in nanoseconds, without stops below 250 ms. For several processes, the
    /// longest.
    pub stopped_ns: Nanos,
    /// Whether the user cut the load short.
    pub interrupted: bool,
    /// The rows of the log; `None`: there is no log.
    #[serde(skip)]
    pub log: Option<LogCounts>,
    /// Why the log could not be written to its end.
    #[serde(skip)]
    pub log_failure: Option<std::io::ErrorKind>,
    /// The processes that sent the load, each a share; empty: this process sent all of it.
    #[serde(skip)]
    pub pods: Vec<PodReport>,
}

impl LoadOutcome {
    /// Adds one worker's account.
    pub fn add(&mut self, worker: Recorder) {
        let Recorder { total, status, .. } = worker;
        self.add_requests(&total);
        for (status, &count) in (0..).zip(status.iter()).filter(|&(_, &count)| count > 0) {
            *self.status.entry(status).or_default() += count;
        }
        self.slowest.merge(total.slowest);
        self.last_sent_ns = self.last_sent_ns.max(total.last_sent_ns);
        self.last_response_ns = self.last_response_ns.max(total.last_response_ns);
    }

    /// Adds the requests that others counted, at the same time or later: all sums and histograms.
    pub(crate) fn add_requests(&mut self, other: &Self) {
        self.counts.add(other.counts);
        self.in_flight_at_start_ns += other.in_flight_at_start_ns;
        self.in_flight_at_end_ns += other.in_flight_at_end_ns;
        self.response_time.merge(&other.response_time);
        self.service_time.merge(&other.service_time);
        self.first_byte_time.merge(&other.first_byte_time);
        self.failed_time.merge(&other.failed_time);
        self.send_lag.merge(&other.send_lag);
        self.own_lag.merge(&other.own_lag);
        self.unfinished_age.merge(&other.unfinished_age);
        self.not_sent_age.merge(&other.not_sent_age);
        self.cost.loop_lag.merge(&other.cost.loop_lag);
        self.cost.cpu_ns += other.cost.cpu_ns;
        for (&status, &count) in &other.status {
            *self.status.entry(status).or_default() += count;
        }
        for (&cause, &count) in &other.failures {
            *self.failures.entry(cause).or_default() += count;
        }
        self.note_failing_body(other.first_failing_body.clone(), other.first_failing_ns);
        self.bytes.sent += other.bytes.sent;
        self.bytes.received += other.bytes.received;
        self.connections_opened += other.connections_opened;
        self.streams_per_connection = self.streams_per_connection.max(other.streams_per_connection);
        self.unsolicited += other.unsolicited;
        self.begun_unfinished += other.begun_unfinished;
        self.waited_for_connection += other.waited_for_connection;
        self.stamped += other.stamped;
        self.interrupted |= other.interrupted;
    }

    /// Notes the body of a response with an unexpected status; the earliest one is kept.
    pub(crate) fn note_failing_body(&mut self, body: Option<String>, at_ns: Nanos) {
        let is_earlier = self.first_failing_body.is_none() || at_ns < self.first_failing_ns;
        if let Some(body) = body.filter(|_| is_earlier) {
            (self.first_failing_body, self.first_failing_ns) = (Some(body), at_ns);
        }
    }

    /// The outcome as a process reports it for its share: on a clock that begins with its start, and without the parts that only a single
    /// process has.
    pub(crate) fn of_share(&self) -> Self {
        let since_start = |ns: Nanos| ns.saturating_sub(self.started_ns);
        Self {
            started_ns: 0,
            ended_ns: since_start(self.ended_ns),
            last_sent_ns: since_start(self.last_sent_ns),
            first_failing_ns: since_start(self.first_failing_ns),
            // That one process got no response tells nothing about the others.
            last_response_ns: 0,
            slowest: Slowest::default(),
            seconds: Vec::new(),
            pods: Vec::new(),
            log: None,
            log_failure: None,
            ..self.clone()
        }
    }

    /// Adds a later window of the same load as if it had followed at once: the time between the windows is left out, on the clock and in
    /// every figure.
    pub fn append(&mut self, mut later: Self) {
        let gap_ns = later.started_ns.saturating_sub(self.ended_ns);
        let (before_ns, after_ns) =
            (self.ended_ns.saturating_sub(self.started_ns), later.ended_ns.saturating_sub(later.started_ns));
        let before_s = before_ns as f64 / NANOS_PER_S as f64;
        self.ended_ns += after_ns;
        self.slowest.merge(std::mem::take(&mut later.slowest).earlier_by(gap_ns));
        self.add_requests(&later);
        // The beginning with the fewest open connections is kept.
        self.connections_at_start = match (self.connections_at_start, later.connections_at_start) {
            (Some(one), Some(other)) if other.open < one.open => Some(other),
            (one, other) => one.or(other),
        };
        self.connections_open = later.connections_open;
        self.last_sent_ns = later.last_sent_ns.saturating_sub(gap_ns);
        self.last_response_ns = self.last_response_ns.max(later.last_response_ns.saturating_sub(gap_ns));
        self.stopped_ns += later.stopped_ns;
        self.seconds.extend(later.seconds.into_iter().map(|second| second.later_by(before_s)));
        self.cost.threads = self.cost.threads.max(later.cost.threads);
        // The busiest thread may be another one in each window, so the sum is an upper bound.
        self.cost.busiest_thread_cpu_ns += later.cost.busiest_thread_cpu_ns;
        self.cores_busy = busy_over(&self.cores_busy, before_ns, &later.cores_busy, after_ns);
        for (pod, later) in self.pods.iter_mut().zip(&later.pods) {
            pod.append(later);
        }
        self.log = self.log.take().or(later.log);
        self.log_failure = self.log_failure.or(later.log_failure);
    }
}

/// How busy each core was in two windows together; empty if it is not known for one of them.
fn busy_over(one: &[f64], one_ns: Nanos, other: &[f64], other_ns: Nanos) -> Vec<f64> {
    if one.len() != other.len() || one_ns + other_ns == 0 {
        return Vec::new();
    }
    let (one_ns, other_ns) = (one_ns as f64, other_ns as f64);
    one.iter().zip(other).map(|(a, b)| (a * one_ns + b * other_ns) / (one_ns + other_ns)).collect()
}

/// One second of the run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Second {
    /// The number of the second since the start, from 0.
    pub index: u32,
    /// The part of this second that was measured, in seconds; the last second is often shorter.
    pub length_s: f64,
    /// How long after the whole second it begins. Not zero only after a window whose length is not a whole number of seconds.
    pub offset_s: f64,
    pub counts: SecondCounts,
    /// The p50, p99 and maximum of the response times completed in it, in ms; `None`: no response.
    pub response_ms: Option<SecondTimes>,
    /// The load ended in this second, so that only a part of it may have passed. Known only for loads of one process.
    pub ends_load: bool,
    /// The histogram behind these figures, in microseconds with two digits. It exists only during `on_second`, so that memory stays
    /// constant.
    pub response_us: Option<Histogram<u64>>,
}

impl Second {
    /// When it begins, in seconds since the start.
    #[must_use]
    pub fn began_s(&self) -> f64 {
        f64::from(self.index) + self.offset_s
    }

    /// The same second, moved to a later time.
    fn later_by(self, seconds: f64) -> Self {
        let began_s = self.began_s() + seconds;
        Self { index: began_s.floor() as u32, offset_s: began_s.fract(), ..self }
    }
}

/// Response times within one second, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
#[non_exhaustive]
pub struct SecondTimes {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

/// The cost of the generator, summed over its threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GeneratorCost {
    /// The number of threads that generated load.
    pub threads: u32,
    /// The number of them with real-time priority, which the threads of an open load ask for.
    pub real_time_threads: u32,
    /// CPU time of those threads (user and system), in nanoseconds.
    pub cpu_ns: u64,
    /// The busiest thread's CPU time, in nanoseconds.
    pub busiest_thread_cpu_ns: u64,
    /// The lateness of the event loop: the time between two iterations while something was waiting.
    pub loop_lag: Times,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slowest::SlowRequest;

    const MS: Nanos = 1_000_000;

    /// An outcome of a window of this length with responses of these times, in ms.
    fn window(started_ms: u64, lasted_ms: u64, times_ms: &[u64], busy: f64) -> LoadOutcome {
        let mut outcome = LoadOutcome {
            started_ns: started_ms * MS,
            ended_ns: (started_ms + lasted_ms) * MS,
            last_sent_ns: (started_ms + lasted_ms - 1) * MS,
            cores_busy: vec![busy],
            ..LoadOutcome::default()
        };
        for time_ms in times_ms {
            let ended_ns = (started_ms + time_ms) * MS;
            let slow = SlowRequest { due_ns: started_ms * MS, ended_ns };
            outcome.response_time.record_ns(time_ms * MS);
            outcome.slowest.offer(slow, &outcome.response_time.clone());
            outcome.counts.ok += 1;
            *outcome.status.entry(200).or_default() += 1;
        }
        outcome.cost = GeneratorCost {
            threads: 1,
            cpu_ns: 5 * MS,
            busiest_thread_cpu_ns: 5 * MS,
            ..GeneratorCost::default()
        };
        outcome.seconds = vec![Second { length_s: lasted_ms as f64 / 1e3, ..Second::default() }];
        outcome
    }

    #[test]
    fn a_later_window_follows_at_once_and_the_time_between_is_in_no_figure() {
        let mut whole = LoadOutcome { stopped_ns: 300 * MS, ..window(1_000, 2_000, &[10, 20], 0.5) };
        whole.append(LoadOutcome { stopped_ns: 400 * MS, ..window(9_000, 1_000, &[30], 0.8) });
        assert_eq!((whole.started_ns, whole.ended_ns), (1_000 * MS, 4_000 * MS));
        assert_eq!((whole.counts.ok, whole.status[&200], whole.response_time.count()), (3, 3, 3));
        assert_eq!(whole.last_sent_ns, 3_999 * MS);
        let slow: Vec<_> = whole.slowest.beyond(25 * MS);
        assert_eq!(slow, [SlowRequest { due_ns: 3_000 * MS, ended_ns: 3_030 * MS }]);
        assert_eq!(whole.stopped_ns, 700 * MS);
        assert!((whole.cores_busy[0] - 0.6).abs() < 1e-9, "{:?}", whole.cores_busy);
        assert_eq!((whole.cost.threads, whole.cost.cpu_ns), (1, 10 * MS));
        let seconds: Vec<_> = whole.seconds.iter().map(|second| (second.index, second.length_s)).collect();
        assert_eq!(seconds, [(0, 2.0), (2, 1.0)]);
        assert!(!whole.interrupted);
    }

    #[test]
    fn windows_of_half_a_second_follow_each_other_and_none_is_at_the_time_of_another() {
        let mut whole = window(0, 500, &[1], 1.0);
        for later in 1..5 {
            whole.append(window(later * 3_000, 500, &[1], 1.0));
        }
        let began_s: Vec<f64> = whole.seconds.iter().map(Second::began_s).collect();
        assert_eq!(began_s, [0.0, 0.5, 1.0, 1.5, 2.0]);
    }

    #[test]
    fn each_process_has_its_part_of_all_windows_and_a_limit_in_one_is_one() {
        let pod = |sent: u64, bottleneck: bool| {
            let generator = crate::pods::PodGeneratorReport { bottleneck, ..Default::default() };
            let mut pod = PodReport { complete: true, generator: Some(generator), ..PodReport::default() };
            pod.requests.sent = sent;
            pod
        };
        let with_pods = |started_ms, pods| LoadOutcome { pods, ..window(started_ms, 500, &[1], 1.0) };
        let mut whole = with_pods(0, vec![pod(5, false), pod(6, false)]);
        whole.append(with_pods(900, vec![pod(7, false), pod(8, true)]));
        let limited = |pod: &PodReport| pod.generator.as_ref().is_some_and(|it| it.bottleneck);
        let pods: Vec<_> = whole.pods.iter().map(|pod| (pod.requests.sent, limited(pod))).collect();
        assert_eq!(pods, [(12, false), (14, true)]);
    }

    #[test]
    fn three_windows_are_one_and_an_interruption_of_one_is_that_of_all() {
        let mut whole = window(0, 500, &[1], 1.0);
        whole.append(window(700, 500, &[2], 1.0));
        whole.append(LoadOutcome { interrupted: true, ..window(2_000, 100, &[3], 1.0) });
        assert_eq!(whole.ended_ns, 1_100 * MS);
        assert!(whole.interrupted);
        let starts: Vec<_> = whole.slowest.beyond(0).iter().map(|it| it.due_ns / MS).collect();
        assert_eq!(starts, [0, 500, 1_000]);
    }
}
