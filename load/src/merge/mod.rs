//! One load that several processes sent, each a [share](crate::share::LoadShare), as one result without loss.
//!
//! ```text
//! process 0: begin, second, second, .., end  ──┐
//! process 1: begin, second, second, .., end  ──┼──> Merge ──> LoadOutcome (as of one process) + a PodReport of each
//! process 2: begin, second  (killed)         ──┘              + what is missing, who was the bottleneck
//! ```
//!
//! Each process writes [`Line`]s to its standard output; whoever gathers them gives them to [`Merge`], in any order between
//! processes, while the load runs or later. Histograms are added bucket by bucket, so that a percentile of the result is that of
//! one histogram that recorded every request. Memory does not grow with the number of processes: only one account is taken
//! apart at a time.

mod account;
mod histogram;
mod line;
mod note;
mod plan_text;
mod pod;
mod total;

pub use account::{ShareBegin, ShareEnd, ShareSecond, Throttling};
pub use line::{FORMAT, Line, LineError, Message};
pub use note::MergeNote;
pub use plan_text::PlanText;

use crate::collect;
use crate::outcome::{LoadOutcome, Second};
use crate::plan::{LoadPlan, LoadShare};
use crate::recorder::Slice;
use pod::Pod;
use std::collections::BTreeMap;
use total::Total;

/// The largest difference between the starts of processes that still counts as one load.
pub const MOST_SKEW_NS: u64 = 50_000_000;

/// The lines that have arrived so far, added up.
#[derive(Debug, Default)]
pub struct Merge {
    /// The number of the load, from the first line.
    step: Option<u32>,
    /// The number of shares, from the first line.
    count: Option<u32>,
    plan: Option<PlanText>,
    pods: BTreeMap<u32, Pod>,
    seconds: BTreeMap<u32, Slice>,
    /// The number of the first second that has not been shown.
    shown: u32,
    total: Total,
}

/// The reason why lines do not belong to one load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A line that cannot be used.
    #[error("share {share}: {why}")]
    Damaged {
        /// The share that sent the line.
        share: LoadShare,
        /// The mistake in words.
        why: String,
    },
    /// A line that cannot be read at all.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The lines disagree on the number of shares.
    #[error("share {share} is one of {}, and others are of {count}: these are different loads", share.count())]
    Count {
        /// The share that does not fit.
        share: LoadShare,
        /// The number of shares in the other lines.
        count: u32,
    },
    /// The lines belong to several loads that the same processes sent.
    #[error("share {share}: the lines are of several loads, {first} and {second}; merge those of one only")]
    Step {
        /// The share that does not fit.
        share: LoadShare,
        /// The number of the load that came first.
        first: u32,
        /// The number of the load that came then.
        second: u32,
    },
    /// The processes have different plans.
    #[error("share {share} is of another load: its {what} differs from that of the others")]
    OtherLoad {
        /// The share that does not fit.
        share: LoadShare,
        /// The first difference between the plans.
        what: &'static str,
    },
    /// Two processes had the same share.
    #[error(
        "share {share} was sent twice, by {first} and by {second}: one is of another load, or was started again"
    )]
    Twice {
        /// The share that was sent twice.
        share: LoadShare,
        /// The process that sent it first.
        first: String,
        /// The process that sent it again.
        second: String,
    },
    /// There was nothing to merge.
    #[error("there is no line of {FORMAT} in it")]
    Empty,
    /// No process reached its end.
    #[error("no process reported what it measured: {why}")]
    NoEnd {
        /// The reasons, as far as they are known.
        why: String,
    },
}

/// One load of several processes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The plan of the whole load, without requests to send.
    pub plan: LoadPlan,
    /// The outcome as if one process had measured it, with each process in its `pods`. Its seconds include those of processes without an
    /// end.
    pub outcome: LoadOutcome,
    /// Notes for the reader, the most important first.
    pub notes: Vec<MergeNote>,
}

impl Merge {
    /// Takes a line of any output, and ignores text in other formats. Returns the line if it was new.
    ///
    /// # Errors
    /// The line is damaged, or does not belong to this load.
    pub fn line(&mut self, text: &str) -> Result<Option<Line>, MergeError> {
        match Line::find(text) {
            Some(line) => {
                let line = line?;
                Ok(self.take(&line)?.then_some(line))
            }
            None => Ok(None),
        }
    }

    /// Takes a line. Returns `false` if it was there before, as when a log is read again.
    ///
    /// # Errors
    /// The line does not belong to this load.
    pub fn take(&mut self, line: &Line) -> Result<bool, MergeError> {
        let share = line.share;
        let count = *self.count.get_or_insert(share.count());
        if count != share.count() {
            return Err(MergeError::Count { share, count });
        }
        let first = *self.step.get_or_insert(line.step);
        if first != line.step {
            return Err(MergeError::Step { share, first, second: line.step });
        }
        if let Message::Begin(begin) = &line.message {
            self.check_begin(share, begin)?;
        }
        let pod = self.pods.entry(share.index()).or_insert_with(|| Pod::new(share));
        if !pod.is_new(line.number) {
            return Ok(false);
        }
        let damaged = |why| MergeError::Damaged { share, why };
        match &line.message {
            Message::Begin(begin) => pod.begin = Some(begin.clone()),
            Message::Clock { .. } => {}
            Message::Second(second) => {
                pod.second(second);
                let slice = second.slice().map_err(damaged)?;
                self.seconds.entry(slice.index).or_insert_with(|| Slice::new(slice.index)).merge(&slice);
            }
            Message::End(end) => {
                let plan =
                    self.plan.as_ref().ok_or_else(|| damaged("its first line is missing".to_owned()))?;
                pod.end(end, plan.plan().map_err(damaged)?);
                self.total.add(&end.outcome);
            }
            Message::Failed { why } => pod.error = Some(why.clone()),
        }
        Ok(true)
    }

    fn check_begin(&mut self, share: LoadShare, begin: &ShareBegin) -> Result<(), MergeError> {
        let plan = self.plan.get_or_insert_with(|| begin.plan.clone());
        if let Some(what) = plan.difference(&begin.plan) {
            return Err(MergeError::OtherLoad { share, what });
        }
        let mut known = self.pods.values().filter_map(|pod| pod.begin.as_ref());
        if known.any(|other| other.start_at_unix_ns != begin.start_at_unix_ns) {
            return Err(MergeError::OtherLoad { share, what: "start" });
        }
        match self.pods.get(&share.index()).and_then(|pod| pod.begin.as_ref()) {
            Some(first) if first != begin => {
                Err(MergeError::Twice { share, first: first.pod.clone(), second: begin.pod.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Sets how far the clock of a share's machine is ahead of the reader's, by which the start of the share is corrected.
    pub fn set_clock_offset(&mut self, index: u32, ahead_ns: i64) {
        if let Some(pod) = self.pods.get_mut(&index) {
            pod.clock_ahead_ns = Some(ahead_ns);
        }
    }

    /// Records that a share will not reach its end, with the reason, as reported by somebody who knows.
    pub fn set_lost(&mut self, share: LoadShare, why: &str) {
        self.count.get_or_insert(share.count());
        let pod = self.pods.entry(share.index()).or_insert_with(|| Pod::new(share));
        pod.error.get_or_insert_with(|| why.to_owned());
    }

    /// The shares whose processes have begun and, as far as known, not ended.
    pub fn running(&self) -> impl Iterator<Item = u32> {
        let is_running = |pod: &Pod| pod.begin.is_some() && !pod.has_ended() && pod.error.is_none();
        self.pods.iter().filter(move |(_, pod)| is_running(pod)).map(|(&index, _)| index)
    }

    /// A share that will not reach its end, or sent nothing, with the reason.
    #[must_use]
    pub fn failed(&self) -> Option<(u32, &str)> {
        self.pods.iter().find_map(|(&index, pod)| Some((index, pod.error.as_deref()?)))
    }

    /// The shares whose processes have begun.
    pub fn begun(&self) -> impl Iterator<Item = u32> {
        self.pods.iter().filter(|(_, pod)| pod.begin.is_some()).map(|(&index, _)| index)
    }

    /// Shows each second that is over for all processes, once, while lines still arrive.
    pub fn show_seconds(&mut self, on_second: &mut dyn FnMut(&Second)) {
        let is_all = self.count.is_some_and(|count| self.pods.len() == count as usize);
        let over = self.pods.values().map(Pod::seconds_over).min().filter(|_| is_all).unwrap_or_default();
        for slice in self.seconds.range(self.shown..over.max(self.shown)).map(|(_, slice)| slice) {
            collect::close(slice, false, &mut Vec::new(), on_second);
        }
        self.shown = over.max(self.shown);
    }

    /// Whether all shares have reached their end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let ended = self.pods.values().filter(|pod| pod.has_ended() || pod.error.is_some()).count();
        self.count.is_some_and(|count| ended == count as usize)
    }

    /// The result. Each second goes to `on_second` first, with its histogram.
    ///
    /// # Errors
    /// There is no line, no plan, or no share that reached its end.
    pub fn finish(self, on_second: &mut dyn FnMut(&Second)) -> Result<Merged, MergeError> {
        let Self { count, plan, mut pods, seconds, total, .. } = self;
        let count = count.ok_or(MergeError::Empty)?;
        for share in (0..count).filter_map(|index| LoadShare::new(index, count)) {
            pods.entry(share.index()).or_insert_with(|| Pod::new(share));
        }
        let share = LoadShare::WHOLE;
        let plan = plan.ok_or(MergeError::Empty)?.plan().map_err(|why| MergeError::Damaged { share, why })?;
        let first_unix_ns = pods.values().filter_map(Pod::started_unix_ns).min();
        let Some(first_unix_ns) = first_unix_ns else {
            return Err(MergeError::NoEnd { why: note::why_none_ended(&pods) });
        };
        let mut closed = Vec::with_capacity(seconds.len());
        let mut outcome = total.outcome(&pods, first_unix_ns);
        for slice in seconds.into_values() {
            collect::close(&slice, false, &mut closed, on_second);
        }
        let elapsed_s = outcome.elapsed_s();
        for second in &mut closed {
            second.length_s = (elapsed_s - f64::from(second.index)).clamp(0.0, 1.0);
        }
        outcome.seconds = closed;
        let notes = note::notes(&pods, count, first_unix_ns);
        outcome.pods = pods.into_values().map(|pod| pod.report(&plan, first_unix_ns)).collect();
        Ok(Merged { plan, outcome, notes })
    }
}

#[cfg(test)]
mod tests;
