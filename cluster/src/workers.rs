//! Pods that send one load after the other, each pod its share. All pods are told in advance when a load begins, and report in their
//! logs what they measured.
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
/// The time from an order to the start of its load: enough to tell the pods on a busy cluster, open connections and compare clocks.
const ORDER_AHEAD_NS: u64 = 4_000_000_000;
/// A pod that has not begun this long before the start is told again, because a connection may break after the line was written.
const TOLD_AGAIN_BEFORE_NS: u64 = 2_500_000_000;
/// If a pod has not begun this long before the start, the load is called off.
const BEGUN_BEFORE_NS: u64 = 300_000_000;
/// The number of lines after which the clock of a pod is known.
const CLOCK_LINES: u32 = 5;
/// The time within which pods must end a load that was called off. After that they can send no other load.
const CALLED_OFF_WITHIN: Duration = Duration::from_secs(45);
const STOP_EVERY: Duration = Duration::from_secs(1);

/// The lines that tell pods what to do in a load.
pub trait Orders {
    /// Tells a pod to send load number `step`, starting at this time.
    fn send(&self, step: u32, start_at_unix_ns: u64) -> String;
    /// Tells a pod to end the load early.
    fn stop(&self, step: u32) -> String;
    /// The time for which the load runs before it is measured.
    fn lead_in(&self) -> Duration;
    /// The longest that a load can last, from its start; a load that lasts longer will never end.
    fn lasts_at_most(&self) -> Duration;
}

/// The reason why pods sent no load, or only a part of one.
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

/// The pods of one Job. Dropping them removes the Job.
pub struct Workers {
    pods: u32,
    seen: SeenPods,
    clock_lines: BTreeMap<u32, u32>,
    step: u32,
    /// Pods that did not receive their order, by name, with the reason.
    not_told: BTreeMap<String, ClusterError>,
    is_busy: bool,
    inputs: UnboundedSender<Vec<PodInput>>,
    events: Receiver<Event>,
    /// Shows events to the user.
    on_event: Box<dyn FnMut(&Event) + Send>,
    stop: Arc<AtomicBool>,
    follower: Option<JoinHandle<()>>,
}

impl Workers {
    /// Creates the Job and waits until all pods run and their clocks are known and agree. Also returns how closely the clocks agree, in
    /// words.
    ///
    /// # Errors
    /// The Job could not be created, pods did not run in time, clocks are too far apart, or the user interrupted. Nothing is left then.
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

    /// The number of pods.
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

    /// Tells all pods to send a load, and waits until it has ended or was stopped.
    ///
    /// # Errors
    /// A pod was lost, or did not begin in time. The load was called off, because not all pods sent it.
    pub fn send(&mut self, orders: &dyn Orders, control: Control<'_>) -> Result<Merged, WorkersError> {
        // Take what has happened since the load before.
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
        // The start is given by the pods' clocks, which agree with each other but not always with ours.
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

    /// Sends one load; returns whether it was stopped early.
    fn send_step(
        &mut self,
        merge: &mut Merge,
        orders: &dyn Orders,
        control: Control<'_>,
        (ordered, ours_ahead_ns): (BothClocks, i64),
    ) -> Result<bool, WorkersError> {
        let start_at_unix_ns = ordered.unix_ns + ORDER_AHEAD_NS;
        let order = orders.send(self.step, start_at_unix_ns.saturating_add_signed(-ours_ahead_ns));
        // Clocks drift, so they are compared anew for each load.
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

    /// Ends a load that some pods cannot send, and waits until no pod sends it any more.
    fn call_off(&mut self, merge: &mut Merge, orders: &dyn Orders) {
        let until = Instant::now() + CALLED_OFF_WITHIN;
        let mut stopped_at = None;
        while merge.running().next().is_some() || stopped_at.is_none() {
            if stopped_at.is_none_or(|at: Instant| at.elapsed() >= STOP_EVERY) {
                stopped_at = Some(Instant::now());
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
        // The report counts from the load's own start; all other measurements use this machine's clock.
        let outcome = &mut merged.outcome;
        let started_ns = ordered.ns_at(outcome.started_unix_ns.saturating_add_signed(ours_ahead_ns));
        outcome.started_ns += started_ns;
        outcome.ended_ns += started_ns;
        outcome.last_sent_ns += started_ns;
        Ok(merged)
    }

    /// Checks that all pods have begun and that their clocks agree.
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
            // If the follower is gone, the Job's end is among the events.
            let _ = self.inputs.send(inputs);
        }
    }

    /// Takes the events that have arrived, or waits a moment for the first one.
    fn next(&mut self, mut merge: Option<&mut Merge>) -> Result<(), WorkersError> {
        match self.events.recv_timeout(LOOK_EVERY) {
            Ok(event) => self.take(event, merge.as_deref_mut())?,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(WorkersError::Ended),
        }
        self.catch_up(merge)
    }

    /// Takes the events that have arrived.
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
            // An order of an earlier load no longer matters.
            Event::NotTold { step, name, error } if step == self.step => self.not_told(name, error, merge),
            Event::End(Err(error)) => Err(error.into()),
            Event::End(Ok(())) => Err(WorkersError::Ended),
            _ => Ok(()),
        }
    }

    /// A lost order is fatal only for a pod that has not begun, and only if trying again before the start cannot help.
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
            // The log broke off inside this line. It comes again, or is counted among the lost lines.
            Some(Err(_)) | None => return Ok(()),
        };
        if let Message::Clock { unix_ns } = line.message {
            self.seen.clocks.line(index, unix_ns, read_unix_ns);
            *self.clock_lines.entry(index).or_default() += 1;
        }
        // A log that is read again also contains the loads before this one.
        match merge.filter(|_| line.step == self.step) {
            Some(merge) => merge.take(&line).map(drop).map_err(damaged),
            None => Ok(()),
        }
    }
}

impl Drop for Workers {
    /// Removes the Job, and shows the events until it is gone.
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
