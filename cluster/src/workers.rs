//! Pods that stay and send one load after the other, each pod its share of each. A load begins at a point in time that all of them
//! are told before; they tell what they measured in their logs.
//!
//! ```text
//! send(step 3) ──> standard input of each pod: order 3 ──> begin, second, .., end of step 3 ──> Merge ──> one result
//! ```

use super::ClusterLoad;
use super::api_error::ClusterError;
use super::clocks::Clocks;
use super::follow::{Event, PodInput, UnboundedSender, follow, unbounded_channel};
use super::seen_pods::{NotReady, SeenPods};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use threadcount_load::clock::{BothClocks, now_ns};
use threadcount_load::merge::{Line, LineError, Merge, MergeError, Merged, Message};
use threadcount_load::plan::LoadShare;
use threadcount_load::run::Control;

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// From an order to its load: time enough to be told on a busy cluster, to open connections, and for clocks to be told.
const ORDER_AHEAD_NS: u64 = 4_000_000_000;
/// A pod that has not begun so long before the start is told again: a connection to it may break after the line was written.
const TOLD_AGAIN_BEFORE_NS: u64 = 2_500_000_000;
/// So long before the start each pod must have begun, or the load is called off.
const BEGUN_BEFORE_NS: u64 = 300_000_000;
/// The clock of a pod is known after so many of its lines.
const CLOCK_LINES: u32 = 5;
/// A load that was called off is over by then, or its pods can send no other one.
const CALLED_OFF_WITHIN: Duration = Duration::from_secs(45);
const STOP_EVERY: Duration = Duration::from_secs(1);

/// What the pods are told for a load.
pub trait Orders {
    /// Send the load with this number, from then on.
    fn send(&self, step: u32, start_at_unix_ns: u64) -> String;
    /// End it early.
    fn stop(&self, step: u32) -> String;
    /// How long it goes on before it is counted.
    fn lead_in(&self) -> Duration;
    /// After this time from its start on it is over, or never will be.
    fn lasts_at_most(&self) -> Duration;
}

/// Why pods did not send a load, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum WorkersError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    NotReady(#[from] NotReady),
    #[error("interrupted before the pods were ready: nothing was sent")]
    Interrupted,
    #[error("{name}: {why}")]
    Lost { name: String, why: String },
    #[error("{name} did not begin in time, so the load was called off{why}")]
    NotBegun { name: String, why: String },
    #[error("{name} did not tell the end of the load")]
    Overdue { name: String },
    #[error("{name}: {error}")]
    Damaged { name: String, error: MergeError },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error("the job has ended, and no pod is left to send the load")]
    Ended,
    #[error("pods still send a load that was called off, so they can send no other one")]
    Busy,
}

/// The pods of one Job. Dropped, they and the Job are removed.
pub struct Workers {
    pods: u32,
    seen: SeenPods,
    clock_lines: BTreeMap<u32, u32>,
    step: u32,
    /// Pods that did not receive their load, by name, and why.
    not_told: BTreeMap<String, ClusterError>,
    is_busy: bool,
    inputs: UnboundedSender<Vec<PodInput>>,
    events: Receiver<Event>,
    /// Shows what happens to somebody.
    on_event: Box<dyn FnMut(&Event) + Send>,
    stop: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
}

impl Workers {
    /// Makes the Job and waits until all of its pods run, and their clocks are known and agree. Returns what is to be said of the
    /// clocks, too.
    ///
    /// # Errors
    /// No Job, pods that do not run in time, clocks that are too far apart, or the user has interrupted. Nothing is left then.
    pub fn start(
        load: ClusterLoad,
        within: Duration,
        interrupted: &AtomicBool,
        on_event: Box<dyn FnMut(&Event) + Send>,
    ) -> Result<(Self, Option<String>), WorkersError> {
        let (stop, pods) = (Arc::new(AtomicBool::new(false)), load.pods);
        let (inputs, to_write) = unbounded_channel();
        let (sender, events) = channel();
        let follower = {
            let stop = Arc::clone(&stop);
            thread::spawn(move || follow(&load, to_write, &stop, &sender))
        };
        let mut workers = Self {
            pods,
            seen: SeenPods::default(),
            clock_lines: BTreeMap::new(),
            step: 0,
            not_told: BTreeMap::new(),
            is_busy: false,
            inputs,
            events,
            on_event,
            stop,
            follower: Some(follower),
        };
        let until = Instant::now() + within;
        while !workers.are_ready() && Instant::now() < until {
            if interrupted.load(Ordering::Relaxed) {
                return Err(WorkersError::Interrupted);
            }
            workers.next(None)?;
        }
        let begun = |index| workers.knows_clock(index);
        let clocks = workers.seen.check(pods, begun, "in time")?;
        Ok((workers, clocks))
    }

    /// How many they are.
    #[must_use]
    pub const fn pods(&self) -> u32 {
        self.pods
    }

    fn are_ready(&self) -> bool {
        (0..self.pods).all(|index| self.seen.runs(index) && self.knows_clock(index))
    }

    fn knows_clock(&self, index: u32) -> bool {
        self.clock_lines.get(&index).is_some_and(|&lines| lines >= CLOCK_LINES)
    }

    /// Has all pods send a load, to its end or until it is stopped.
    ///
    /// # Errors
    /// A pod that is lost, or did not begin in time: the load is not that of all of them, and was called off.
    pub fn send(&mut self, orders: &dyn Orders, control: Control<'_>) -> Result<Merged, WorkersError> {
        // What has happened since the load before.
        self.catch_up(None)?;
        if let Some(lost) = self.lost() {
            return Err(lost);
        }
        if self.is_busy {
            return Err(WorkersError::Busy);
        }
        self.step += 1;
        self.not_told.clear();
        let mut merge = Merge::default();
        // By the clocks of the pods, which agree with each other and not always with ours.
        let ours_ahead_ns = self.seen.clocks.ours_ahead_ns();
        let ordered = BothClocks::now();
        match self.send_step(&mut merge, orders, control, (ordered, ours_ahead_ns)) {
            Ok(is_stopped) => self.finish(merge, is_stopped, (ordered, ours_ahead_ns)),
            Err(error) => {
                self.call_off(&mut merge, orders);
                Err(error)
            }
        }
    }

    /// Was it ended early?
    fn send_step(
        &mut self,
        merge: &mut Merge,
        orders: &dyn Orders,
        control: Control<'_>,
        (ordered, ours_ahead_ns): (BothClocks, i64),
    ) -> Result<bool, WorkersError> {
        let start_at_unix_ns = ordered.unix_ns + ORDER_AHEAD_NS;
        let order = orders.send(self.step, start_at_unix_ns.saturating_add_signed(-ours_ahead_ns));
        // Clocks change: those of this load are read anew.
        self.seen.clocks = Clocks::default();
        self.tell(&order, 0..self.pods);
        let start_ns = ordered.ns + ORDER_AHEAD_NS;
        let counted_ns = start_ns + orders.lead_in().as_nanos() as u64;
        let over_ns = start_ns + orders.lasts_at_most().as_nanos() as u64;
        let Control { stop, on_second, mut on_begin, .. } = control;
        let (mut told_to_stop, mut is_told_again, mut is_checked) = (None, false, false);
        while !merge.is_complete() {
            self.next(Some(merge))?;
            merge.show_seconds(on_second);
            if let Some((index, why)) = merge.failed() {
                return Err(WorkersError::Lost { name: self.seen.name(index), why: why.to_owned() });
            }
            let now = now_ns();
            if !is_told_again && now + TOLD_AGAIN_BEFORE_NS >= start_ns {
                is_told_again = true;
                self.tell(&order, self.not_begun(merge));
            }
            if !is_checked && now + BEGUN_BEFORE_NS >= start_ns {
                is_checked = true;
                self.check_begun(merge)?;
            }
            if now >= counted_ns
                && let Some(on_begin) = on_begin.take()
            {
                on_begin();
            }
            let is_due = told_to_stop.is_none_or(|at: Instant| at.elapsed() >= STOP_EVERY);
            if stop.load(Ordering::Relaxed) && is_due {
                told_to_stop = Some(Instant::now());
                self.tell(&orders.stop(self.step), merge.running().collect::<Vec<_>>());
            }
            if now > over_ns {
                let index = merge.running().next().unwrap_or_default();
                return Err(WorkersError::Overdue { name: self.seen.name(index) });
            }
        }
        if told_to_stop.is_none()
            && let Some(on_begin) = on_begin
        {
            on_begin();
        }
        Ok(told_to_stop.is_some())
    }

    /// Ends a load that is not that of all pods, and waits until nobody sends it any more.
    fn call_off(&mut self, merge: &mut Merge, orders: &dyn Orders) {
        let until = Instant::now() + CALLED_OFF_WITHIN;
        let mut told = None;
        while merge.running().next().is_some() || told.is_none() {
            if told.is_none_or(|at: Instant| at.elapsed() >= STOP_EVERY) {
                told = Some(Instant::now());
                self.tell(&orders.stop(self.step), 0..self.pods);
            }
            if Instant::now() > until || matches!(self.next(Some(merge)), Err(WorkersError::Ended)) {
                self.is_busy = true;
                return;
            }
        }
    }

    fn finish(
        &self,
        mut merge: Merge,
        is_stopped: bool,
        (ordered, ours_ahead_ns): (BothClocks, i64),
    ) -> Result<Merged, WorkersError> {
        for (index, ahead_ns) in self.seen.clocks.ahead_ns() {
            merge.set_clock_offset(index, ahead_ns);
        }
        let mut merged = merge.finish(&mut |_| {})?;
        // A pod that somebody else told to end has sent less than its share.
        let is_cut =
            |pod: &&threadcount_load::pods::PodReport| !pod.complete || (pod.interrupted && !is_stopped);
        if let Some(lost) = merged.outcome.pods.iter().find(is_cut) {
            let why = lost.error.clone().unwrap_or_else(|| "it ended before its time".to_owned());
            return Err(WorkersError::Lost { name: self.seen.name(lost.share), why });
        }
        // Its times are those since its own beginning; others measure by the clock of this machine.
        let outcome = &mut merged.outcome;
        let started_ns = ordered.ns_at(outcome.started_unix_ns.saturating_add_signed(ours_ahead_ns));
        outcome.started_ns += started_ns;
        outcome.ended_ns += started_ns;
        outcome.last_sent_ns += started_ns;
        Ok(merged)
    }

    /// All pods have begun, and their clocks agree.
    fn check_begun(&self, merge: &Merge) -> Result<(), WorkersError> {
        if let Some(&index) = self.not_begun(merge).first() {
            let name = self.seen.name(index);
            let why = self.not_told.get(&name).map(|error| format!(": {error}")).unwrap_or_default();
            return Err(WorkersError::NotBegun { name, why });
        }
        self.seen.check(self.pods, |_| true, "until the start")?;
        Ok(())
    }

    fn not_begun(&self, merge: &Merge) -> Vec<u32> {
        let begun: Vec<u32> = merge.begun().collect();
        (0..self.pods).filter(|index| !begun.contains(index)).collect()
    }

    fn lost(&self) -> Option<WorkersError> {
        let (index, loss) = self.seen.lost()?;
        Some(WorkersError::Lost { name: self.seen.name(index), why: loss.to_string() })
    }

    fn tell(&self, line: &str, pods: impl IntoIterator<Item = u32>) {
        let input = |index| PodInput::new(self.step, self.seen.name(index), line);
        let inputs: Vec<PodInput> = pods.into_iter().map(input).collect();
        if !inputs.is_empty() {
            // Where nobody follows the Job any more, its end is among the events.
            let _ = self.inputs.send(inputs);
        }
    }

    /// Takes what has happened, or waits for it a moment.
    fn next(&mut self, mut merge: Option<&mut Merge>) -> Result<(), WorkersError> {
        match self.events.recv_timeout(LOOK_EVERY) {
            Ok(event) => self.take(event, merge.as_deref_mut())?,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(WorkersError::Ended),
        }
        self.catch_up(merge)
    }

    /// Takes what has happened.
    fn catch_up(&mut self, mut merge: Option<&mut Merge>) -> Result<(), WorkersError> {
        while let Ok(event) = self.events.try_recv() {
            self.take(event, merge.as_deref_mut())?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event, merge: Option<&mut Merge>) -> Result<(), WorkersError> {
        (self.on_event)(&event);
        self.seen.take(&event);
        match event {
            Event::Line { index, text, read_unix_ns } => self.line(index, &text, read_unix_ns, merge),
            Event::Pod { index, .. } | Event::Ending { index, .. } => {
                let loss = self.seen.loss_of(index).map(ToString::to_string);
                if let Some(((merge, share), why)) = merge.zip(LoadShare::new(index, self.pods)).zip(loss) {
                    merge.set_lost(share, &why);
                }
                Ok(())
            }
            // That of a load before is of no interest any more.
            Event::NotTold { step, name, error } if step == self.step => self.not_told(name, error, merge),
            Event::End(Err(error)) => Err(error.into()),
            Event::End(Ok(())) => Err(WorkersError::Ended),
            _ => Ok(()),
        }
    }

    /// Of a pod that has begun it does not matter; what may pass is tried again before the start.
    fn not_told(
        &mut self,
        name: String,
        error: ClusterError,
        merge: Option<&mut Merge>,
    ) -> Result<(), WorkersError> {
        let waited_for =
            |merge: &mut Merge| self.not_begun(merge).into_iter().any(|index| self.seen.name(index) == name);
        if !error.may_pass() && merge.is_some_and(waited_for) {
            return Err(error.into());
        }
        self.not_told.insert(name, error);
        Ok(())
    }

    fn line(
        &mut self,
        index: u32,
        text: &str,
        read_unix_ns: u64,
        merge: Option<&mut Merge>,
    ) -> Result<(), WorkersError> {
        let damaged = |error: MergeError| WorkersError::Damaged { name: format!("pod {index}"), error };
        let line = match Line::find(text) {
            Some(Ok(line)) => line,
            Some(Err(error @ LineError::Format { .. })) => return Err(damaged(error.into())),
            // Cut off where a log broke off: it comes again, or is among the lost lines.
            Some(Err(_)) | None => return Ok(()),
        };
        if let Message::Clock { unix_ns } = line.message {
            self.seen.clocks.line(index, unix_ns, read_unix_ns);
            *self.clock_lines.entry(index).or_default() += 1;
        }
        // A log that is read again has the loads before this one, too.
        match merge.filter(|_| line.step == self.step) {
            Some(merge) => merge.take(&line).map(drop).map_err(damaged),
            None => Ok(()),
        }
    }
}

impl Drop for Workers {
    /// Removes the Job, and shows what happens meanwhile.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while let Ok(event) = self.events.recv() {
            (self.on_event)(&event);
        }
        if let Some(follower) = self.follower.take() {
            let _ = follower.join();
        }
    }
}
