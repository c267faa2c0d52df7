//! The event loop of one thread.

use super::connection::{Connection, Place, Stream, Width};
use super::deadlines::Deadlines;
use super::free::Free;
use super::gate::{Gate, LOOK_EVERY_NS};
use super::inspection::Inspection;
use super::late_looks::{LateLooks, Rest};
use super::pace::Pace;
use super::patience::Patience;
use super::peers::Peers;
use super::window::LoadWindow;
use super::work::{Done, Work};
use crate::clock::{Nanos, now_ns};
use crate::counts::ConnectionsAtStart;
use crate::driver::{Driver, Slot, Wake};
use crate::plan::LoadPlan;
use crate::recorder::Recorder;
use crate::request::RequestWriter;
use crate::schedule::Share;
use crate::secure::SessionKind;
use crate::times::Times;
use std::io;
use std::sync::atomic::AtomicBool;

/// The longest wait of the loop, which then checks the stop flag and passes on a finished second.
const HEARTBEAT_NS: Nanos = 100_000_000;
/// In an open load the clock is read after this many completions: hundreds of responses that arrive together, after a stall of the server,
/// must not delay requests that are due.
pub(super) const LOOK_AFTER: u32 = 16;
/// The largest number of connections that all threads (and processes) open in advance at once. Java's default backlog of unaccepted
/// connections is 50, and the kernel retries a connection beyond it only after a second.
const OPENING_AT_ONCE: u32 = 48;

/// The state of one thread. Its methods are in the files of this folder, by topic.
pub(super) struct Worker<'a> {
    pub(super) driver: Driver<'a>,
    pub(super) writer: RequestWriter<'a>,
    pub(super) plan: &'a LoadPlan,
    pub(super) session_kind: Option<&'a SessionKind>,
    pub(super) connections: Vec<Connection>,
    pub(super) width: Width,
    pub(super) streams: Vec<Stream>,
    pub(super) deadlines: Deadlines,
    pub(super) pace: Pace<'a>,
    pub(super) free: Free,
    /// Requests on free streams that the next flush sends.
    pub(super) to_send: Vec<Place>,
    pub(super) in_flight: u32,
    /// The number of connections still to be opened in advance.
    pub(super) to_open: u32,
    pub(super) opening: u32,
    /// Connections whose session is being set up; each step of the set-up waits for the previous one.
    pub(super) setting_up: u32,
    opening_at_once: u32,
    pub(super) share: Share,
    pub(super) peers: Peers<'a>,
    /// The shortest time of a connect so far, as an estimate of a round trip.
    pub(super) connect_ns: Nanos,
    pub(super) connect_timeout_ns: Nanos,
    pub(super) request_timeout_ns: Nanos,
    pub(super) recorder: Recorder,
    /// The body of a complete response that failed, until it is known whether it ends its request.
    pub(super) failing_body: Option<String>,
    pub(super) patience: Patience,
    pub(super) last_event_ns: Nanos,
    pub(super) protocol: Option<String>,
    /// The inspection of responses; `None` if the load needs none.
    pub(super) inspection: Option<Box<Inspection<'a>>>,
    /// Bytes of sessions for the driver.
    pub(super) outgoing: Vec<u8>,
    /// Bytes of sessions that the driver was given to send.
    pub(super) handed_bytes: u64,
    pub(super) lateness_ns: Nanos,
    /// All bytes that had arrived by this time were brought by the last wait.
    pub(super) known_ns: Nanos,
    pub(super) loop_lag: Times,
    /// The time of the look before the one whose completions are handled now.
    pub(super) previous_look_ns: Nanos,
    pub(super) late_looks: LateLooks,
    pub(super) gate: &'a Gate,
    pub(super) has_arrived: bool,
    /// Until when the start waits for connections.
    pub(super) open_until_ns: Nanos,
    pub(super) connections_at_start: Option<ConnectionsAtStart>,
    pub(super) start: Option<LoadWindow>,
    pub(super) stop: &'a AtomicBool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(work: Work<'a>, driver: Driver<'a>) -> Self {
        let Work { plan, share, .. } = work;
        let slots = share.connections();
        let width = width(&work);
        let connect_timeout_ns = plan.connect_timeout.as_nanos() as Nanos;
        Self {
            driver,
            writer: plan
                .requests
                .writer(share.index(), plan.seed, plan.keep_alive)
                .for_share(share.of_load(), share.all_connections()),
            plan,
            session_kind: work.session_kind,
            connections: (0..slots).map(|_| Connection::new()).collect(),
            width,
            streams: (0..slots * width.streams()).map(|_| Stream::new()).collect(),
            deadlines: Deadlines::new((slots * width.streams()) as usize),
            pace: Pace::new(plan, share, work.gate),
            free: Free::new(slots, width),
            to_send: Vec::with_capacity((slots * width.streams()) as usize),
            in_flight: 0,
            to_open: if plan.keep_alive { slots } else { 0 },
            opening: 0,
            setting_up: 0,
            opening_at_once: (OPENING_AT_ONCE / share.threads()).max(1),
            share,
            peers: Peers {
                endpoints: work.endpoints.len(),
                sources: work.source_addresses,
                next: share.thread(),
                step: share.threads_here(),
            },
            connect_ns: Nanos::MAX,
            connect_timeout_ns,
            request_timeout_ns: plan.request_timeout.as_nanos() as Nanos,
            recorder: work.recorder,
            patience: Patience::default(),
            last_event_ns: 0,
            protocol: None,
            failing_body: None,
            inspection: Inspection::new(plan, slots * width.streams()),
            outgoing: Vec::new(),
            handed_bytes: 0,
            lateness_ns: plan.lateness.as_nanos() as Nanos,
            known_ns: 0,
            loop_lag: Times::default(),
            previous_look_ns: now_ns(),
            late_looks: LateLooks::new(plan.lateness.as_nanos() as Nanos, now_ns()),
            gate: work.gate,
            has_arrived: false,
            open_until_ns: now_ns().saturating_add(connect_timeout_ns),
            connections_at_start: None,
            start: None,
            stop: work.stop,
        }
    }

    /// Runs to the end of the load.
    ///
    /// # Errors
    /// The driver itself failed. Problems of single connections are recorded instead.
    pub(super) fn run(mut self) -> io::Result<Done> {
        let mut passed = Vec::with_capacity(self.streams.len());
        let mut now = now_ns();
        loop {
            self.open_in_advance(now);
            self.start_when_all_are_ready(now);
            self.begin_due(now);
            self.deadlines.take_passed(now, &mut passed);
            for place in passed.drain(..) {
                self.on_deadline(place, now);
            }
            self.flush();
            self.recorder.turn_to(now);
            self.count_from_here();
            if let Some(ended_ns) = self.has_ended(now) {
                return Ok(self.finish(ended_ns));
            }
            let before = now_ns();
            let rest = self.next_rest(before);
            self.late_looks.rest(rest, before);
            self.driver.wait(before, rest.until_ns, rest.wake)?;
            let look_ns = now_ns();
            // A thread that comes back later than that may have been stopped after it asked the kernel.
            self.known_ns = look_ns.min(rest.until_ns);
            let busy_ns = before - self.previous_look_ns;
            let last = self.take_completions(look_ns);
            if self.start.is_some() {
                // How long an event could have waited to be noticed: while the loop was busy, or overslept.
                let waits_from_ns = if last.is_some() { rest.until_ns } else { rest.task_ns };
                self.loop_lag.record_ns(busy_ns.max(look_ns.saturating_sub(waits_from_ns)));
            }
            now = last.unwrap_or(look_ns);
            self.previous_look_ns = look_ns;
        }
    }

    /// Handles all events; returns the time of the last one, if there was any.
    fn take_completions(&mut self, seen_ns: Nanos) -> Option<Nanos> {
        let mut now = seen_ns;
        let mut taken = 0_u32;
        while let Some(completion) = self.driver.next() {
            self.late_looks.on_response(completion.stamp_ns);
            self.on_completion(completion);
            now = now.max(completion.at_ns);
            taken += 1;
            if self.pace.is_open() && taken.is_multiple_of(LOOK_AFTER) {
                now = now_ns();
                self.begin_due(now);
                self.flush();
            }
        }
        (taken > 0).then_some(now)
    }

    /// The next rest: how long there is nothing to do without an event, and whether responses may wait until then.
    fn next_rest(&mut self, now_ns: Nanos) -> Rest {
        let Some(start) = self.start else {
            let look_ns = if self.has_arrived { LOOK_EVERY_NS } else { HEARTBEAT_NS };
            let open_until_ns = self.open_until_ns.max(now_ns + LOOK_EVERY_NS);
            let until_ns = self.deadlines.look_at_ns().min(open_until_ns).min(now_ns + look_ns);
            return Rest { until_ns, task_ns: until_ns, needs_response: false, wake: self.patience.wake() };
        };
        let may_begin = now_ns < start.deadline_ns;
        let due_ns = if may_begin { self.next_leaves_ns() } else { Nanos::MAX };
        let has_room = self.free.has_stream() || (self.may_open_for_request() && self.free.has_closed());
        // A request that is due but waits for a connection leaves with the response that frees one.
        let waits_for_response = !has_room && due_ns <= now_ns;
        let look_ns = if waits_for_response { Nanos::MAX } else { due_ns }.min(self.deadlines.look_at_ns());
        let task_ns = if has_room { due_ns } else { Nanos::MAX }.min(self.deadlines.look_at_ns());
        // The waiting request is delayed by each step of a handshake, and no kernel stamp records when a step came.
        let wake =
            if waits_for_response || self.setting_up > 0 { Wake::AtOnce } else { self.patience.wake() };
        let end_ns = if may_begin { start.deadline_ns } else { start.end_ns };
        let end_ns = if start.is_lead_in { end_ns.min(start.at_ns) } else { end_ns };
        let latest_ns = if self.to_send.is_empty() { now_ns + HEARTBEAT_NS } else { now_ns };
        let until_ns = look_ns.min(end_ns).min(latest_ns);
        Rest { until_ns, task_ns, needs_response: !has_room, wake }
    }

    /// Opens connections before a request needs them, so that no request's time includes a wait that no user would have.
    fn open_in_advance(&mut self, now_ns: Nanos) {
        while self.to_open > 0 && self.opening < self.opening_at_once {
            self.to_open -= 1;
            let Some(slot) = self.free.take_closed() else { return };
            self.opening += 1;
            self.connect(slot, now_ns);
        }
    }

    /// The number of a slot's connection over all threads of all processes.
    pub(super) fn plan_connection(&self, slot: Slot) -> u32 {
        self.share.index() + slot * self.share.threads()
    }
}

/// Streams per connection: more than one only for HTTP/2.
fn width(work: &Work<'_>) -> Width {
    let may_multiplex = work.plan.keep_alive
        && match work.session_kind {
            None => false,
            Some(SessionKind::Http2) => true,
            Some(SessionKind::Tls { choice, .. }) => *choice != crate::plan::ProtocolChoice::Http1,
        };
    Width::new(if may_multiplex { work.plan.streams_per_connection.get() } else { 1 })
}
