//! One thread's bookkeeping: every event of every request goes through here, and nowhere else.
//!
//! No allocation per request; one slice a second leaves the thread through a channel.

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

/// The moments a request carries until it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// When it was due, by the schedule; in a closed loop, when the connection became free for it.
    pub due_ns: Nanos,
    /// When it could have been sent: when it was due, or when a connection became free for it after that.
    pub ready_ns: Nanos,
    /// When it was handed to the kernel for the first time.
    pub sent_ns: Nanos,
    /// Bytes received for it: of HTTP/2 those of the body.
    pub received_bytes: u64,
    /// Which target of the load it is, from 0.
    pub target: u32,
    /// Which connection of the load carries it, from 0; `None`: none.
    pub connection: Option<u32>,
}

/// The events that one thread saw within one second of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Slice {
    /// Which second since the start, from 0.
    pub index: u32,
    pub counts: SecondCounts,
    /// Response times in it, in microseconds at two digits.
    pub response_us: Histogram<u64>,
}

impl Slice {
    /// Lowest and highest time in microseconds, and digits.
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
    /// Which thread.
    pub thread: u32,
    /// The events of that second.
    pub slice: Slice,
    /// Nothing of a second before this one will come from this thread any more.
    pub past: u32,
}

/// One thread's account of its requests.
#[derive(Debug)]
pub struct Recorder {
    /// When counting begins; `MAX` until the load begins.
    started_ns: Nanos,
    /// Until counting begins.
    lead_in: Option<LeadIn>,
    /// Requests fall due by a schedule, and not as others end.
    has_schedule: bool,
    thread: u32,
    /// The period that is counted apart, if there is one.
    period: Option<PeriodRecorder>,
    /// The log of requests, if there is one.
    log: Option<LogSender>,
    /// Dropped after the last slice, which ends the collecting loop.
    progress: Option<Sender<Progress>>,
    slice: Slice,
    /// The sum of its measurements. [`LoadOutcome::add`] adds up those of all threads.
    pub total: LoadOutcome,
    /// Sent → first byte, and below sent → last byte, of the responses whose first byte arrived before the last. All others have their
    /// service time.
    split_first_byte: Times,
    split_last_byte: Times,
    /// Due → sent, and ready → sent, of the requests that waited for a connection, which are few or none in most loads.
    waited_send_lag: Times,
    waited_own_lag: Times,
    /// Responses by status.
    pub status: Box<[u64; 1000]>,
}

/// The knowledge of the requests that is needed before counting begins.
#[derive(Clone, Copy, Debug, Default)]
struct LeadIn {
    /// When those in flight were sent, added up.
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

    /// Writes one line per request, too.
    #[must_use]
    pub fn with_log(self, log: Option<LogSender>) -> Self {
        Self { log, ..self }
    }

    /// Counts periods apart, too.
    #[must_use]
    pub(crate) fn with_periods(self, periods: Option<PeriodRecorder>) -> Self {
        Self { period: periods, ..self }
    }

    /// Its requests fall due by a schedule: those that were due before counting begins and are sent later are counted as such.
    #[must_use]
    pub fn with_schedule(self, has_schedule: bool) -> Self {
        Self { has_schedule, ..self }
    }

    /// The load begins at a known moment, and counting at `started_ns`, now or later: seconds count from there.
    pub fn start(&mut self, began_ns: Nanos, started_ns: Nanos) {
        if let Some(log) = &mut self.log {
            log.start(started_ns);
        }
        self.started_ns = started_ns;
        self.total.last_sent_ns = started_ns;
        self.lead_in = (began_ns < started_ns).then(LeadIn::default);
    }

    /// Is nothing counted yet?
    #[must_use]
    pub fn is_in_lead_in(&self) -> bool {
        self.lead_in.is_some()
    }

    /// Counting begins, with what is in flight.
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

    /// A request was begun.
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

    /// Its expected response is complete.
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

    /// The first byte of its expected response, which is complete at `last_ns` and recorded as such, arrived before the last one.
    pub(crate) fn first_byte(&mut self, exchange: Exchange, first_ns: Nanos, last_ns: Nanos) {
        let first_ns = first_ns.clamp(exchange.sent_ns.min(last_ns), last_ns);
        self.split_first_byte.record_ns(first_ns.saturating_sub(exchange.sent_ns));
        self.split_last_byte.record_ns(last_ns.saturating_sub(exchange.sent_ns));
    }

    /// It failed. `status` where a response arrived all the same.
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

    /// The time is up and it was still in flight.
    pub fn unfinished(&mut self, exchange: Exchange, now_ns: Nanos) {
        self.total.counts.unfinished += 1;
        self.total.in_flight_at_end_ns += u128::from(now_ns.saturating_sub(exchange.sent_ns));
        self.total.unfinished_age.record_ns(now_ns.saturating_sub(exchange.due_ns));
        self.log(exchange, RowOutcome::Unfinished, None, None);
    }

    /// The time is up and a request due at `due_ns` was never begun.
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

    /// Was the request, which has not been sent until now, due before counting began?
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

    /// Hands over the last, partial second. Every worker must end with this: the collector waits for it.
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

    /// Makes the slice of `now_ns` the current one. A slice of a past second is handed over; events that come
    /// slightly out of order count for the current second. Call it from an idle loop too, so that progress shows.
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
            // The receiver is gone only when the run is being torn down; the totals below stay complete.
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
