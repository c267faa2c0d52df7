//! One thread's part of the load: whose turn it is, and what became of each request.
//!
//! Nothing here is borrowed across an await, so a `RefCell` is all the locking there is.

use super::http1::Http1Request;
use super::timer::Timer;
use crate::clock::{Nanos, now_ns};
use crate::failure::FailureCause;
use crate::plan::{LoadPlan, Pacing};
use crate::recorder::{Exchange, Recorder};
use crate::request::RequestWriter;
use crate::run::Work;
use crate::schedule::Schedule;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use tokio::sync::Mutex;

/// What ended a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A complete answer with this status.
    Answered(u16),
    /// Anything else; the status where an answer had begun.
    Failed(FailureCause, Option<u16>),
}

/// One thread's turns and account.
pub(super) struct Shard<'w> {
    pub plan: &'w LoadPlan,
    connections: u32,
    started_ns: Nanos,
    deadline_ns: Nanos,
    /// Free streams queue here in the order in which they became free; the first one waits for the next due time.
    gate: Mutex<Timer>,
    schedule: RefCell<Option<Schedule>>,
    /// The first due time that no stream has taken yet.
    next_due_ns: Cell<Nanos>,
    /// How many requests may still be begun; `None`: until the time is up.
    remaining: Cell<Option<u64>>,
    writer: RefCell<RequestWriter<'w>>,
    recorder: RefCell<Recorder>,
    in_flight: RefCell<Vec<Option<Exchange>>>,
}

impl<'w> Shard<'w> {
    pub fn new(work: Work<'w>, timer: Timer) -> Self {
        let plan = work.plan;
        let schedule = match &plan.pacing {
            Pacing::Closed => None,
            Pacing::Open { shape, arrivals } => {
                Some(Schedule::new(shape, *arrivals, work.index, work.threads, plan.seed))
            }
        };
        let shard = Self {
            plan,
            connections: work.connections,
            started_ns: work.started_ns,
            deadline_ns: work.deadline_ns.unwrap_or(Nanos::MAX),
            gate: Mutex::new(timer),
            schedule: RefCell::new(schedule),
            next_due_ns: Cell::new(0),
            remaining: Cell::new(work.requests),
            writer: RefCell::new(plan.requests.writer(work.index, work.threads, plan.seed, plan.keep_alive)),
            recorder: RefCell::new(work.recorder),
            in_flight: RefCell::new(Vec::new()),
        };
        shard.look_ahead();
        shard
    }

    /// A load never needs more connections than it has requests.
    pub fn connections(&self) -> u32 {
        self.remaining.get().map_or(self.connections, |requests| requests.min(self.connections.into()) as u32)
    }

    pub fn is_closed_loop(&self) -> bool {
        self.plan.pacing == Pacing::Closed
    }

    /// What the next request says over HTTP/1.1.
    pub fn next_http1(&self) -> Http1Request {
        let mut writer = self.writer.borrow_mut();
        let request = writer.next_http1();
        Http1Request {
            bytes: request.bytes.to_vec(),
            is_head: request.is_head,
            is_idempotent: request.is_idempotent,
        }
    }

    /// What the next request says over HTTP/2.
    pub fn next_http2(&self) -> http::Request<Bytes> {
        self.writer.borrow_mut().next_http()
    }

    /// Shows progress although nothing happens.
    pub fn turn_to(&self, now_ns: Nanos) {
        self.recorder.borrow_mut().turn_to(now_ns);
    }

    /// Waits for the next request of a free stream and counts it as begun. `None`: nothing is left to begin.
    pub async fn begin(&self, stream: usize) -> Option<Exchange> {
        let free_ns = now_ns();
        let mut timer = self.gate.lock().await;
        let due_ns =
            if self.is_closed_loop() { self.started_ns.max(free_ns) } else { self.next_due_ns.get() };
        if due_ns >= self.deadline_ns || self.remaining.get() == Some(0) {
            return None;
        }
        if timer.until(due_ns).await.is_err() {
            return None;
        }
        self.take_turn();
        drop(timer);
        let exchange = Exchange { due_ns, sent_ns: now_ns() };
        let mut recorder = self.recorder.borrow_mut();
        recorder.sent(exchange);
        if !self.is_closed_loop() && due_ns < free_ns {
            recorder.waited_for_connection += 1;
        }
        self.keep(stream, Some(exchange));
        Some(exchange)
    }

    /// In a closed loop a connection's first request is due when the connection is established: opening all of them at
    /// once is the generator's doing, and nobody waits for it.
    pub fn begin_again(&self, stream: usize) -> Exchange {
        let now_ns = now_ns();
        let exchange = Exchange { due_ns: now_ns, sent_ns: now_ns };
        self.keep(stream, Some(exchange));
        exchange
    }

    /// A request went out a second time.
    pub fn resent(&self) {
        self.recorder.borrow_mut().counts.resent += 1;
    }

    /// A begun request has ended.
    pub fn end(&self, stream: usize, exchange: Exchange, end: End) {
        let now_ns = now_ns();
        self.keep(stream, None);
        let mut recorder = self.recorder.borrow_mut();
        match end {
            End::Answered(status) if self.plan.expected_status.accepts(status) => {
                recorder.ok(exchange, status, now_ns);
            }
            End::Answered(status) => {
                let cause = FailureCause::UnexpectedStatus(status);
                recorder.failed(exchange, cause, Some(status), now_ns);
            }
            End::Failed(cause, status) => recorder.failed(exchange, cause, status, now_ns),
        }
    }

    /// The time is up, or all is done: what is in flight is unfinished, what is due and was not begun is not sent.
    pub fn close(self, now_ns: Nanos) -> Recorder {
        let until_ns = now_ns.min(self.deadline_ns);
        while !self.is_closed_loop() && self.next_due_ns.get() < until_ns && self.remaining.get() != Some(0) {
            self.recorder.borrow_mut().not_sent(self.next_due_ns.get(), now_ns);
            self.take_turn();
        }
        let mut recorder = self.recorder.into_inner();
        for exchange in self.in_flight.into_inner().into_iter().flatten() {
            recorder.unfinished(exchange, now_ns);
        }
        recorder.finish();
        recorder
    }

    /// The next due time is taken.
    fn take_turn(&self) {
        self.remaining.set(self.remaining.get().map(|remaining| remaining.saturating_sub(1)));
        self.look_ahead();
    }

    fn look_ahead(&self) {
        if let Some(schedule) = self.schedule.borrow_mut().as_mut() {
            self.next_due_ns.set(self.started_ns.saturating_add(schedule.next_due_ns()));
        }
    }

    fn keep(&self, stream: usize, exchange: Option<Exchange>) {
        let mut in_flight = self.in_flight.borrow_mut();
        if stream >= in_flight.len() {
            in_flight.resize(stream + 1, None);
        }
        in_flight[stream] = exchange;
    }
}
