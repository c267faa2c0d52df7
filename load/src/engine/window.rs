//! The times at which a load begins, is counted, and ends.

use super::connection::{Connection, Place, State, StreamState};
use super::work::Done;
use super::worker::Worker;
use crate::clock::{self, Nanos};
use crate::driver::Slot;
use crate::times::Times;
use std::sync::atomic::Ordering;

/// The times of a load that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadWindow {
    /// When counting begins: after the lead-in.
    pub(super) at_ns: Nanos,
    /// When the last request may be sent.
    pub(super) deadline_ns: Nanos,
    /// When requests still in flight are given up.
    pub(super) end_ns: Nanos,
    /// Whether counting has not begun yet.
    pub(super) is_lead_in: bool,
    /// The CPU time that this thread had used before.
    cpu_ns: u64,
    /// Bytes that the driver had sent before.
    bytes_sent: u64,
    /// Bytes of sessions that the driver had been given before.
    handed_bytes: u64,
}

impl Worker<'_> {
    /// Reports that this thread's connections are open, and begins the load when those of all threads are.
    pub(super) fn start_when_all_are_ready(&mut self, now_ns: Nanos) {
        if self.start.is_some() {
            return;
        }
        let is_ready = (self.to_open == 0 && self.opening == 0) || now_ns >= self.open_until_ns;
        if is_ready && !std::mem::replace(&mut self.has_arrived, true) {
            self.gate.arrive();
        }
        let Some(began_ns) = self.gate.started_ns() else { return };
        let at_ns = began_ns + self.plan.lead_in.as_nanos() as Nanos;
        let deadline_ns =
            self.plan.stop.duration().map_or(Nanos::MAX, |lasts| at_ns + lasts.as_nanos() as Nanos);
        let end_ns = deadline_ns.saturating_add(self.plan.grace.as_nanos() as Nanos);
        let cpu_ns = super::thread_cpu_ns();
        self.recorder.start(began_ns, at_ns);
        let is_lead_in = self.recorder.is_in_lead_in();
        let (bytes_sent, handed_bytes) = (0, 0);
        self.start =
            Some(LoadWindow { at_ns, deadline_ns, end_ns, is_lead_in, cpu_ns, bytes_sent, handed_bytes });
        self.last_event_ns = began_ns;
        self.connections_at_start = self.connections_at_start(|connection| connection.state == State::Open);
        self.pace.start(began_ns, deadline_ns);
        if !self.pace.is_open() {
            self.fail_what_was_refused(began_ns);
        }
    }

    /// At the end of the lead-in, starts the counts that the recorder does not keep itself.
    pub(super) fn count_from_here(&mut self) {
        if let Some(start) = self.start.as_mut().filter(|start| start.is_lead_in)
            && !self.recorder.is_in_lead_in()
        {
            start.is_lead_in = false;
            start.cpu_ns = super::thread_cpu_ns();
            start.bytes_sent = self.driver.bytes_sent();
            start.handed_bytes = self.handed_bytes;
            self.loop_lag = Times::default();
            self.connections_at_start = self.connections_at_start(|connection| connection.was_opened);
        }
    }

    /// Has the load begun?
    pub(super) fn has_begun(&self) -> bool {
        self.start.is_some()
    }

    /// The time at which the load has ended; `None` while it runs.
    pub(super) fn has_ended(&mut self, now_ns: Nanos) -> Option<Nanos> {
        if self.stop.load(Ordering::Relaxed) || self.gate.is_broken() {
            // Read after the flag, because whoever set the flag knows that the load had not ended before.
            return Some(clock::now_ns());
        }
        let start = self.start?;
        if now_ns >= start.end_ns {
            return Some(now_ns);
        }
        if self.in_flight > 0 {
            return None;
        }
        if now_ns >= start.deadline_ns {
            return Some(self.last_event_ns.max(start.deadline_ns));
        }
        self.pace.is_exhausted().then_some(self.last_event_ns)
    }

    /// Accounts for requests without an end: those in flight, and those that were due but never begun.
    pub(super) fn finish(mut self, ended_ns: Nanos) -> Done {
        self.recorder.end_lead_in();
        self.count_from_here();
        let start = self.start;
        for place in 0..self.streams.len() {
            let stream = &self.streams[place];
            match stream.state {
                StreamState::Idle => {}
                // This request was held back until its connection had been read.
                StreamState::Queued if self.pace.is_open() => {
                    self.recorder.not_sent(stream.exchange.due_ns, ended_ns);
                }
                StreamState::Queued => {}
                StreamState::Waiting | StreamState::Busy | StreamState::Refused => {
                    let has_begun =
                        stream.state == StreamState::Busy && self.has_begun_response(place as Place);
                    self.recorder.total.begun_unfinished += u64::from(has_begun);
                    self.recorder.unfinished(self.streams[place].exchange, ended_ns);
                }
            }
        }
        while let Some(due_ns) = self.pace.take_missed(ended_ns) {
            self.recorder.not_sent(due_ns, ended_ns);
        }
        // Bytes that a session handed over but the kernel did not accept were not sent. Plain HTTP/1.1 hands nothing over.
        let bytes = &mut self.recorder.total.bytes;
        let (taken, handed) = start.map_or((0, 0), |start| (start.bytes_sent, start.handed_bytes));
        bytes.sent =
            (bytes.sent + self.driver.bytes_sent() + handed).saturating_sub(self.handed_bytes + taken);
        self.recorder.finish();
        let is_open = |connection: &&Connection| connection.state == State::Open;
        let connections_open = self.connections.iter().filter(is_open).count() as u32;
        let cpu_ns = super::thread_cpu_ns() - start.map_or(0, |start| start.cpu_ns);
        (0..self.connections.len() as Slot).for_each(|slot| self.send_close_notify(slot));
        Done {
            recorder: self.recorder,
            ended_ns: ended_ns.max(start.map_or(0, |start| start.at_ns)),
            cpu_ns,
            loop_lag: self.loop_lag,
            has_real_time_priority: false,
            protocol: self.protocol,
            connections_at_start: self.connections_at_start,
            connections_open,
            streams_per_connection: self
                .connections
                .iter()
                .map(|connection| connection.streams)
                .max()
                .unwrap_or(1),
        }
    }
}
