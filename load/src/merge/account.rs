//! What one process measured of its share, as text and back.

use super::histogram;
use super::plan_text::PlanText;
use crate::clock::unix_now_ns;
use crate::counts::{Bytes, ConnectionsAtStart, Counts, SecondCounts};
use crate::failure::FailureCause;
use crate::outcome::{GeneratorCost, LoadOutcome, Second};
use crate::recorder::Slice;
use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who sends which load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShareBegin {
    /// The version of the program.
    pub threadcount: String,
    /// The name of the pod, or of the machine.
    pub pod: String,
    /// The machine that a pod is on, where it is known.
    pub node: Option<String>,
    /// The common start, by the wall clock, in nanoseconds since 1970; `None`: each began when it was ready.
    pub start_at_unix_ns: Option<u64>,
    /// When the process began, by its wall clock.
    pub unix_ns: u64,
    /// The whole load.
    pub plan: PlanText,
}

impl ShareBegin {
    /// A process of this name that begins now.
    #[must_use]
    pub fn new(pod: String, plan: PlanText) -> Self {
        Self { pod, plan, unix_ns: unix_now_ns(), ..Self::default() }
    }
}

/// One second of a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShareSecond {
    /// Which second since the start, from 0.
    pub index: u32,
    #[serde(flatten)]
    pub counts: SecondCounts,
    /// The response times completed in it, in microseconds at two digits, as text; empty: there were none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response_us: String,
}

/// How often a CPU limit held a process back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Periods of the limit in which it had something to run.
    pub periods: u64,
    /// Those in which its limit was used up.
    pub throttled_periods: u64,
    /// How long its threads were held back, added up.
    pub throttled_ns: u64,
}

/// Everything that one share measured. Histograms are text (see [`Times`]); times of the wall clock are that of its machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of LoadOutcome")]
#[non_exhaustive]
pub struct ShareEnd {
    /// When counting began, by the wall clock, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    pub elapsed_ns: u64,
    /// When the last request was sent, after the start.
    pub last_sent_ns: u64,
    pub protocol: String,
    pub driver: String,
    pub requests: Counts,
    pub in_flight_at_start_ns: u64,
    pub in_flight_at_end_ns: u64,
    /// Histograms by their names in [`LoadOutcome`]; one that recorded nothing is left out.
    pub histograms: BTreeMap<String, String>,
    pub status: BTreeMap<u16, u64>,
    pub failures: BTreeMap<FailureCause, u64>,
    pub first_failing_body: Option<String>,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub connections_opened: u64,
    /// Open and wanted.
    pub connections_at_start: Option<(u64, u64)>,
    pub connections_open: u64,
    pub streams_per_connection: u32,
    pub unsolicited: u64,
    pub waited_for_connection: u64,
    pub stamped: u64,
    pub threads: u32,
    pub real_time_threads: u32,
    pub cpu_ns: u64,
    pub busiest_thread_cpu_ns: u64,
    pub cores_busy: Vec<f64>,
    /// How many lines of seconds there are.
    pub seconds: u32,
    pub interrupted: bool,
    /// By a CPU limit; `None`: there is none, or it cannot be read.
    pub throttling: Option<Throttling>,
}

impl ShareSecond {
    /// The text of a second as [`Control::on_second`](crate::run::Control) gives it.
    ///
    /// # Errors
    /// The words of the library.
    pub fn new(second: &Second) -> Result<Self, String> {
        let times = second.response_us.as_ref().filter(|times| !times.is_empty());
        let response_us = times.map(histogram::encode).transpose()?.unwrap_or_default();
        Ok(Self { index: second.index, counts: second.counts, response_us })
    }

    /// Back as it was recorded.
    ///
    /// # Errors
    /// A histogram that is none.
    pub(crate) fn slice(&self) -> Result<Slice, String> {
        let mut slice = Slice::new(self.index);
        slice.counts = self.counts;
        if !self.response_us.is_empty() {
            slice.response_us = histogram::of_second(&self.response_us)?;
        }
        Ok(slice)
    }
}

/// The histograms of an outcome by their names.
fn histograms(outcome: &LoadOutcome) -> [(&'static str, &Times); 9] {
    [
        ("response_time", &outcome.response_time),
        ("service_time", &outcome.service_time),
        ("first_byte_time", &outcome.first_byte_time),
        ("failed_time", &outcome.failed_time),
        ("send_lag", &outcome.send_lag),
        ("own_lag", &outcome.own_lag),
        ("unfinished_age", &outcome.unfinished_age),
        ("not_sent_age", &outcome.not_sent_age),
        ("loop_lag", &outcome.cost.loop_lag),
    ]
}

impl ShareEnd {
    /// The account of an outcome.
    ///
    /// # Errors
    /// The words of the library.
    pub fn new(outcome: &LoadOutcome, throttling: Option<Throttling>) -> Result<Self, String> {
        let recorded = histograms(outcome).into_iter().filter(|(_, times)| times.count() > 0);
        let texts =
            recorded.map(|(name, times)| Ok((name.to_owned(), histogram::encode(times.histogram())?)));
        Ok(Self {
            started_unix_ns: outcome.started_unix_ns,
            elapsed_ns: outcome.ended_ns.saturating_sub(outcome.started_ns),
            last_sent_ns: outcome.last_sent_ns.saturating_sub(outcome.started_ns),
            protocol: outcome.protocol.clone(),
            driver: outcome.driver.to_owned(),
            requests: outcome.counts,
            in_flight_at_start_ns: u64::try_from(outcome.in_flight_at_start_ns).unwrap_or(u64::MAX),
            in_flight_at_end_ns: u64::try_from(outcome.in_flight_at_end_ns).unwrap_or(u64::MAX),
            histograms: texts.collect::<Result<_, String>>()?,
            status: outcome.status.clone(),
            failures: outcome.failures.clone(),
            first_failing_body: outcome.first_failing_body.clone(),
            bytes_sent: outcome.bytes.sent,
            bytes_received: outcome.bytes.received,
            connections_opened: outcome.connections_opened,
            connections_at_start: outcome.connections_at_start.map(|it| (it.open, it.wanted)),
            connections_open: outcome.connections_open,
            streams_per_connection: outcome.streams_per_connection,
            unsolicited: outcome.unsolicited,
            waited_for_connection: outcome.waited_for_connection,
            stamped: outcome.stamped,
            threads: outcome.cost.threads,
            real_time_threads: outcome.cost.real_time_threads,
            cpu_ns: outcome.cost.cpu_ns,
            busiest_thread_cpu_ns: outcome.cost.busiest_thread_cpu_ns,
            cores_busy: outcome.cores_busy.clone(),
            seconds: outcome.seconds.len() as u32,
            interrupted: outcome.interrupted,
            throttling,
        })
    }

    /// Back as it was measured, on a clock that begins with the start; without the sample of the slowest requests.
    ///
    /// # Errors
    /// What is wrong with which histogram.
    pub(crate) fn outcome(&self) -> Result<LoadOutcome, String> {
        let times = |name: &str| match self.histograms.get(name) {
            Some(text) => histogram::times(text).map_err(|why| format!("its histogram {name}: {why}")),
            None => Ok(Times::default()),
        };
        Ok(LoadOutcome {
            started_unix_ns: self.started_unix_ns,
            ended_ns: self.elapsed_ns,
            last_sent_ns: self.last_sent_ns,
            protocol: self.protocol.clone(),
            driver: driver_name(&self.driver),
            counts: self.requests,
            in_flight_at_start_ns: self.in_flight_at_start_ns.into(),
            in_flight_at_end_ns: self.in_flight_at_end_ns.into(),
            response_time: times("response_time")?,
            service_time: times("service_time")?,
            first_byte_time: times("first_byte_time")?,
            failed_time: times("failed_time")?,
            send_lag: times("send_lag")?,
            own_lag: times("own_lag")?,
            unfinished_age: times("unfinished_age")?,
            not_sent_age: times("not_sent_age")?,
            status: self.status.clone(),
            failures: self.failures.clone(),
            first_failing_body: self.first_failing_body.clone(),
            bytes: Bytes { sent: self.bytes_sent, received: self.bytes_received },
            connections_opened: self.connections_opened,
            connections_at_start: self
                .connections_at_start
                .map(|(open, wanted)| ConnectionsAtStart { open, wanted }),
            connections_open: self.connections_open,
            streams_per_connection: self.streams_per_connection,
            unsolicited: self.unsolicited,
            waited_for_connection: self.waited_for_connection,
            stamped: self.stamped,
            cost: GeneratorCost {
                threads: self.threads,
                real_time_threads: self.real_time_threads,
                cpu_ns: self.cpu_ns,
                busiest_thread_cpu_ns: self.busiest_thread_cpu_ns,
                loop_lag: times("loop_lag")?,
            },
            cores_busy: self.cores_busy.clone(),
            interrupted: self.interrupted,
            ..LoadOutcome::default()
        })
    }
}

/// The driver of a text.
fn driver_name(name: &str) -> &'static str {
    match name {
        "io_uring" => "io_uring",
        "epoll" => "epoll",
        _ => "",
    }
}
