//! One thread's accounting of requests. Every event of every request is recorded here, and nowhere else.
//!
//! There is no allocation per request; one slice a second leaves the thread through a channel.

use crate::clock::{NANOS_PER_S, Nanos};
use crate::counts::SecondCounts;
use crate::failure::FailureCause;
use crate::log::{LogRow, LogSender, RowOutcome};
use crate::outcome::LoadOutcome;
use crate::periods::PeriodRecorder;
use crate::slowest::{SlowRequest, Slowest};
use crate::times::Times;
use hdrhistogram::Histogram;
use std::sync::mpsc::Sender;

/// The times of a request, which accompany it until it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// When it was due by the schedule; in a closed loop, when the connection became free for it.
    pub due_ns: Nanos,
    /// When it could have been sent: when it was due, or when a connection became free for it after that.
    pub ready_ns: Nanos,
    /// When it was first passed to the kernel.
    pub sent_ns: Nanos,
    /// Bytes received for it; over HTTP/2 those of the body.
    pub received_bytes: u64,
    /// The number of its target, from 0.
    pub target: u32,
    /// The number of the connection that carries it, from 0; `None`: none.
    pub connection: Option<u32>,
}

/// The events that one thread saw within one second of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Slice {
    /// The number of the second since the start, from 0.
    pub index: u32,
    pub counts: SecondCounts,
    /// The response times in it, in microseconds with two digits.
    pub response_us: Histogram<u64>,
}

impl Slice {
    /// The lowest and highest time in microseconds, and the number of digits.
    pub(crate) const BOUNDS: (u64, u64, u8) = (1, 3_600_000_000, 2);

    /// An empty slice.
    #[must_use]
    pub fn new(index: u32) -> Self {
        let (low, high, digits) = Self::BOUNDS;
        #[expect(clippy::expect_used, reason = "constant bounds are valid")]
        let response_us = Histogram::new_with_bounds(low, high, digits).expect("constant bounds are valid");
        Self { index, counts: SecondCounts::default(), response_us }
    }

    /// Adds another worker's slice of the same second.
    pub fn merge(&mut self, other: &Self) {
        self.counts.add(other.counts);
        #[expect(clippy::expect_used, reason = "all slices share the same bounds")]
        self.response_us.add(&other.response_us).expect("same bounds");
    }
}

/// A second that is over for one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// The number of the thread.
    pub thread: u32,
    /// The events of that second.
    pub slice: Slice,
    /// The number of the first second for which this thread may still report events.
    pub past: u32,
}

/// One thread's account of its requests.
#[derive(Debug)]
pub struct Recorder {
    /// When counting begins; `MAX` until the load begins.
    started_ns: Nanos,
    /// The lead-in; `None` once counting has begun.
    lead_in: Option<LeadIn>,
    /// Whether requests fall due by a schedule rather than when others end.
    has_schedule: bool,
    thread: u32,
    /// The part of the current period, if the load has periods.
    period: Option<PeriodRecorder>,
    /// The log of requests, if there is one.
    log: Option<LogSender>,
    /// Dropped after the last slice, which ends the loop that collects slices.
    progress: Option<Sender<Progress>>,
    slice: Slice,
    /// The sum of this thread's measurements. [`LoadOutcome::add`] adds up those of all threads.
    pub total: LoadOutcome,
    /// Sent → first byte, and below sent → last byte, for responses whose first byte arrived earlier than the last one. For all others both
    /// equal the service time.
    split_first_byte: Times,
    split_last_byte: Times,
    /// Due → sent, and below ready → sent, for requests that waited for a connection. In most loads there are few or none.
    waited_send_lag: Times,
    waited_own_lag: Times,
    /// Responses by status.
    pub status: Box<[u64; 1000]>,
}

/// The sums over requests of the lead-in that are needed when counting begins.
#[derive(Clone, Copy, Debug, Default)]
struct LeadIn {
    /// The sum of the sent times of the requests in flight.
    sent_sum_ns: u128,
}

impl Recorder {
    /// An empty account of thread `thread`; each full second goes to `progress`.
    #[must_use]
    pub fn new(thread: u32, progress: Sender<Progress>) -> Self {
        Self { progress: Some(progress), ..Self::empty(thread) }
    }

    fn empty(thread: u32) -> Self {
        Self {
            log: None,
            period: None,
            started_ns: Nanos::MAX,
            lead_in: None,
            has_schedule: false,
            thread,
            progress: None,
            slice: Slice::new(0),
            total: LoadOutcome { slowest: Slowest::with_room(), ..LoadOutcome::default() },
            split_first_byte: Times::default(),
            split_last_byte: Times::default(),
            waited_send_lag: Times::default(),
            waited_own_lag: Times::default(),
            status: Box::new([0; 1000]),
        }
    }

    /// Also writes one line per request to this log.
    #[must_use]
    pub fn with_log(self, log: Option<LogSender>) -> Self {
        Self { log, ..self }
    }

    /// Also counts periods separately.
    #[must_use]
    pub(crate) fn with_periods(self, periods: Option<PeriodRecorder>) -> Self {
        Self { period: periods, ..self }
    }

    /// Sets whether requests fall due by a schedule. If so, those that were due before counting began but are sent later are counted
    /// separately.
    #[must_use]
    pub fn with_schedule(self, has_schedule: bool) -> Self {
        Self { has_schedule, ..self }
    }

    /// Sets when the load begins and when counting begins: at `started_ns`, from which seconds count.
    pub fn start(&mut self, began_ns: Nanos, started_ns: Nanos) {
        if let Some(log) = &mut self.log {
            log.start(started_ns);
        }
        self.started_ns = started_ns;
        self.total.last_sent_ns = started_ns;
        self.lead_in = (began_ns < started_ns).then(LeadIn::default);
    }

    /// Whether nothing is counted yet.
    #[must_use]
    pub fn is_in_lead_in(&self) -> bool {
        self.lead_in.is_some()
    }

    /// Begins counting, with the requests in flight.
    pub(crate) fn end_lead_in(&mut self) {
        let Some(lead_in) = self.lead_in.take() else { return };
        let in_flight = self.total.counts.sent - self.total.counts.ok - self.total.counts.failed;
        let ages_ns = u128::from(self.started_ns) * u128::from(in_flight);
        let counted = Self {
            log: self.log.take(),
            period: self.period.take(),
            progress: self.progress.take(),
            started_ns: self.started_ns,
            has_schedule: self.has_schedule,
            ..Self::empty(self.thread)
        };
        let connections_opened = self.total.connections_opened;
        *self = counted;
        self.total.last_sent_ns = self.started_ns;
        self.total.connections_opened = connections_opened;
        self.total.counts.in_flight_at_start = in_flight;
        self.total.in_flight_at_start_ns = ages_ns.saturating_sub(lead_in.sent_sum_ns);
    }

    /// Records a request that was begun.
    pub fn sent(&mut self, exchange: Exchange) {
        self.turn_to(exchange.sent_ns);
        if let Some(lead_in) = &mut self.lead_in {
            lead_in.sent_sum_ns += u128::from(exchange.sent_ns);
        }
        self.total.counts.sent += 1;
        self.total.counts.waiting_at_start += u64::from(self.was_waiting(exchange.due_ns));
        self.slice.counts.sent += 1;
        self.total.last_sent_ns = exchange.sent_ns;
        let lag_ns = exchange.sent_ns.saturating_sub(exchange.due_ns);
        if exchange.ready_ns > exchange.due_ns {
            self.total.waited_for_connection += 1;
            self.waited_send_lag.record_ns(lag_ns);
            self.waited_own_lag.record_ns(exchange.sent_ns.saturating_sub(exchange.ready_ns));
        } else {
            self.total.send_lag.record_ns(lag_ns);
        }
    }

    /// Records an expected response that is complete.
    pub fn ok(&mut self, exchange: Exchange, status: u16, now_ns: Nanos) {
        self.turn_to(now_ns);
        self.leaves_lead_in(exchange);
        let response_ns = now_ns.saturating_sub(exchange.due_ns);
        self.total.counts.ok += 1;
        self.slice.counts.ok += 1;
        self.total.last_response_ns = now_ns;
        self.slice.response_us.saturating_record(response_ns / 1_000);
        self.total.response_time.record_ns(response_ns);
        self.total
            .slowest
            .offer(SlowRequest { due_ns: exchange.due_ns, ended_ns: now_ns }, &self.total.response_time);
        self.total.service_time.record_ns(now_ns.saturating_sub(exchange.sent_ns));
        if let Some(period) = &mut self.period {
            period.ok(exchange.due_ns, response_ns);
        }
        self.count_status(status);
        self.log(exchange, RowOutcome::Ok, Some(status), Some(now_ns));
    }

    /// Records that the first byte of an expected response, which is complete at `last_ns` and recorded as such, arrived before the last
    /// one.
    pub(crate) fn first_byte(&mut self, exchange: Exchange, first_ns: Nanos, last_ns: Nanos) {
        let first_ns = first_ns.clamp(exchange.sent_ns.min(last_ns), last_ns);
        self.split_first_byte.record_ns(first_ns.saturating_sub(exchange.sent_ns));
        self.split_last_byte.record_ns(last_ns.saturating_sub(exchange.sent_ns));
    }

    /// Records a failed request; `status` is that of its response, if there was one.
    pub fn failed(&mut self, exchange: Exchange, cause: FailureCause, status: Option<u16>, now_ns: Nanos) {
        self.turn_to(now_ns);
        self.leaves_lead_in(exchange);
        self.total.counts.failed += 1;
        self.slice.counts.failed += 1;
        self.total.failed_time.record_ns(now_ns.saturating_sub(exchange.due_ns));
        *self.total.failures.entry(cause).or_default() += 1;
        if let Some(period) = &mut self.period {
            period.failed(exchange.due_ns);
        }
        if let Some(status) = status {
            self.count_status(status);
            self.total.last_response_ns = now_ns;
        }
        self.log(exchange, RowOutcome::Failed(cause), status, Some(now_ns));
    }

    /// Records a request that was still in flight at the end.
    pub fn unfinished(&mut self, exchange: Exchange, now_ns: Nanos) {
        self.total.counts.unfinished += 1;
        self.total.in_flight_at_end_ns += u128::from(now_ns.saturating_sub(exchange.sent_ns));
        self.total.unfinished_age.record_ns(now_ns.saturating_sub(exchange.due_ns));
        self.log(exchange, RowOutcome::Unfinished, None, None);
    }

    /// Records a request that was due at `due_ns` but never begun.
    pub fn not_sent(&mut self, due_ns: Nanos, now_ns: Nanos) {
        self.total.counts.not_sent += 1;
        self.total.counts.waiting_at_start += u64::from(self.was_waiting(due_ns));
        self.total.not_sent_age.record_ns(now_ns.saturating_sub(due_ns));
        if let Some(log) = &mut self.log {
            log.record(LogRow {
                due_ns,
                sent_ns: None,
                ended_ns: None,
                status: None,
                outcome: RowOutcome::NotSent,
                connection: None,
                target: 0,
                bytes: 0,
            });
        }
    }

    /// Whether the request, which is sent only now, was due before counting began.
    #[inline]
    fn was_waiting(&self, due_ns: Nanos) -> bool {
        self.has_schedule && due_ns < self.started_ns && self.lead_in.is_none()
    }

    #[inline]
    fn leaves_lead_in(&mut self, exchange: Exchange) {
        if let Some(lead_in) = &mut self.lead_in {
            lead_in.sent_sum_ns -= u128::from(exchange.sent_ns);
        }
    }

    /// Passes on the last, partial second. Every worker must call this at its end, because the collector waits for it.
    pub fn finish(&mut self) {
        let next = Slice::new(self.slice.index + 1);
        self.hand_over(next, true);
        self.log = None;
        self.progress = None;
        if let Some(mut period) = self.period.take() {
            period.hand_over();
        }
        self.total.first_byte_time = self.total.service_time.clone();
        self.total.first_byte_time.remove(&self.split_last_byte);
        self.total.first_byte_time.merge(&self.split_first_byte);
        self.total.own_lag = self.total.send_lag.clone();
        self.total.own_lag.merge(&self.waited_own_lag);
        self.total.send_lag.merge(&self.waited_send_lag);
    }

    /// Makes the slice of `now_ns` the current one, and passes on a slice that is over. Events that come slightly out of order count for
    /// the current second. An idle loop should call this too, so that progress shows.
    pub fn turn_to(&mut self, now_ns: Nanos) {
        if self.lead_in.is_some() && now_ns >= self.started_ns {
            self.end_lead_in();
        }
        let index = (now_ns.saturating_sub(self.started_ns) / NANOS_PER_S) as u32;
        if index > self.slice.index {
            self.hand_over(Slice::new(index), false);
        }
        if let Some(period) = &mut self.period {
            period.turn();
        }
    }

    fn hand_over(&mut self, next: Slice, is_last: bool) {
        let past = if is_last { u32::MAX } else { next.index };
        let slice = std::mem::replace(&mut self.slice, next);
        if let Some(progress) = &self.progress {
            // The receiver is gone only while the run is being torn down; the totals below stay complete.
            let _ = progress.send(Progress { thread: self.thread, slice, past });
        }
    }

    #[inline]
    fn log(&mut self, exchange: Exchange, outcome: RowOutcome, status: Option<u16>, ended_ns: Option<Nanos>) {
        if let Some(log) = self.log.as_mut().filter(|_| self.lead_in.is_none()) {
            log.record(LogRow {
                due_ns: exchange.due_ns,
                sent_ns: Some(exchange.sent_ns),
                ended_ns,
                status,
                outcome,
                connection: exchange.connection,
                target: exchange.target,
                bytes: exchange.received_bytes,
            });
        }
    }

    fn count_status(&mut self, status: u16) {
        if let Some(count) = self.status.get_mut(usize::from(status)) {
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests;
