//! Turns the lines of the log into a [`JvmLog`], cut to the measured window. The memory used is bounded, however long the log is.

use super::file;
use super::intervals::{Interval, Union, add};
use super::line::{self, Event, Heap};
use super::stops::Stops;
use std::collections::BTreeMap;
use std::path::Path;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::jvm::{HeapAfterGc, Total};
use threadcount_model::record::jvm_log::{JvmLog, LoggedPause, SafepointReason, Safepoints};
use threadcount_model::window::Window;

/// The number of pauses kept individually, the longest ones.
const PAUSES: usize = 500;

/// The window is divided into this many parts, each with one reading of the heap.
const HEAP_READINGS: u64 = 500;

/// The most seconds for which pauses are added up by second: a day.
const SECONDS: u64 = 86_400;

/// A JVM has some dozens of reasons to stop; a file with more is not its log.
const REASONS: usize = 100;

/// How long after the window lines are still read. An event that ends later has hardly begun in the window.
const AFTER_NS: Nanos = 60 * NANOS_PER_S;

/// The log's figures for the window; `None` if there is no log, or the file is not one.
#[must_use]
pub fn read(path: &Path, window: Window) -> Option<JvmLog> {
    read_with_stops(path, window).map(|(log, _)| log)
}

/// Like [`read`], with the times of the stops too.
#[must_use]
pub fn read_with_stops(path: &Path, window: Window) -> Option<(JvmLog, Stops)> {
    let mut collector = None;
    file::first_lines(path, &mut |line| {
        if let Some((_, Event::Collector(name))) = line::parse(line) {
            collector = Some(name.to_owned());
        }
        collector.is_none()
    })
    .ok()?;
    let mut summary = Summary::new(window, collector?);
    file::lines_from(path, window.started_ns, &mut |t_ns, line| {
        if let Some((_, event)) = line::parse(line) {
            summary.add(t_ns, event);
        }
        t_ns < window.ended_ns.saturating_add(AFTER_NS)
    })
    .ok()?;
    Some(summary.finish())
}

/// The figures read so far.
struct Summary {
    window: Window,
    collector: String,
    gc: Union,
    pauses: Vec<LoggedPause>,
    by_second: Vec<f64>,
    safepoints: Union,
    reaching: Total,
    to_safepoint: Union,
    reasons: BTreeMap<String, Total>,
    stalls: Union,
    heap: BTreeMap<Nanos, HeapAfterGc>,
}

impl Summary {
    fn new(window: Window, collector: String) -> Self {
        let seconds = window.length_ns().div_ceil(NANOS_PER_S);
        Self {
            window,
            collector,
            gc: Union::default(),
            pauses: Vec::new(),
            by_second: vec![0.0; seconds.min(SECONDS) as usize],
            safepoints: Union::default(),
            reaching: Total::default(),
            to_safepoint: Union::default(),
            reasons: BTreeMap::new(),
            stalls: Union::default(),
            heap: BTreeMap::new(),
        }
    }

    fn add(&mut self, t_ns: Nanos, event: Event<'_>) {
        match event {
            Event::Collector(_) => {}
            Event::Pause { name, duration_ns, heap } => {
                self.pause(t_ns, duration_ns, name, heap);
                self.heap(t_ns, heap, is_whole(name));
            }
            Event::Cycle { name, heap } => self.heap(t_ns, Some(heap), is_whole(name)),
            Event::Safepoint { reason, reaching_ns, total_ns } => {
                self.safepoint(t_ns, reason, reaching_ns, total_ns);
            }
            Event::Stall { duration_ns } => {
                Interval::within(self.window, t_ns, duration_ns)
                    .into_iter()
                    .for_each(|it| self.stalls.add(it));
            }
        }
    }

    fn pause(&mut self, end_ns: Nanos, duration_ns: Nanos, name: &str, heap: Option<Heap>) {
        let Some(within) = Interval::within(self.window, end_ns, duration_ns) else { return };
        self.gc.add(within);
        within.by_second(self.window, &mut self.by_second);
        self.pauses.push(LoggedPause {
            t_s: self.window.seconds(within.from_ns),
            duration_ms: within.ms(),
            name: name.to_owned(),
            heap_before_bytes: heap.map(|heap| heap.before_bytes),
            heap_after_bytes: heap.map(|heap| heap.after_bytes),
        });
        if self.pauses.len() >= 2 * PAUSES {
            self.keep_longest();
        }
    }

    fn keep_longest(&mut self) {
        self.pauses.sort_by(|a, b| b.duration_ms.total_cmp(&a.duration_ms));
        self.pauses.truncate(PAUSES);
    }

    fn safepoint(&mut self, end_ns: Nanos, reason: &str, reaching_ns: Nanos, total_ns: Nanos) {
        let Some(within) = Interval::within(self.window, end_ns, total_ns) else { return };
        self.safepoints.add(within);
        add(&mut self.reaching, reaching_ns as f64 / 1e6);
        let stopped_ns = end_ns.saturating_sub(total_ns.saturating_sub(reaching_ns));
        if let Some(reaching) = Interval::within(self.window, stopped_ns, reaching_ns) {
            self.to_safepoint.add(reaching);
        }
        if self.reasons.len() < REASONS || self.reasons.contains_key(reason) {
            add(self.reasons.entry(reason.to_owned()).or_default(), within.ms());
        }
        // ZGC stops the threads for itself at these safepoints; the pause that it logs omits the time to stop them.
        if self.collector.contains("Z Garbage") && reason.starts_with(['Z', 'X']) {
            self.pause(end_ns, total_ns, reason, None);
        }
    }

    fn heap(&mut self, t_ns: Nanos, heap: Option<Heap>, whole: bool) {
        let Some(heap) = heap.filter(|_| self.window.contains(t_ns)) else { return };
        let length_ns = self.window.length_ns().max(1);
        let since_ns = t_ns - self.window.started_ns;
        let part = (u128::from(since_ns) * u128::from(HEAP_READINGS) / u128::from(length_ns)) as u64;
        let reading = HeapAfterGc { t_s: self.window.seconds(t_ns), used_bytes: heap.after_bytes, whole };
        // A collection of the whole heap shows more than the others around it.
        if whole || self.heap.get(&part).is_none_or(|before| !before.whole) {
            self.heap.insert(part, reading);
        }
    }

    fn finish(mut self) -> (JvmLog, Stops) {
        let gc_pauses = self.gc.stopped(self.window);
        self.keep_longest();
        self.pauses.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
        let mut reasons: Vec<_> =
            self.reasons.into_iter().map(|(name, total)| SafepointReason { name, total }).collect();
        reasons.sort_by(|a, b| b.total.total_ms.total_cmp(&a.total.total_ms));
        let heap_after_gc: Vec<_> = self.heap.into_values().collect();
        let log = JvmLog {
            file: None,
            collector: self.collector,
            gc_pauses,
            pauses_left_out: gc_pauses.count - self.pauses.len() as u64,
            pauses: self.pauses,
            gc_paused_ms_by_second: self.by_second,
            safepoints: Safepoints {
                stopped: self.safepoints.stopped(self.window),
                to_safepoint: self.reaching,
                reasons,
            },
            allocation_stalls: self.stalls.stopped(self.window),
            heap_after_whole_gc_bytes: heap_after_gc.iter().rfind(|it| it.whole).map(|it| it.used_bytes),
            heap_after_gc,
        };
        let stops = Stops::new(
            &self.gc.into_intervals(),
            &self.safepoints.into_intervals(),
            self.to_safepoint.into_intervals(),
            self.stalls.into_intervals(),
        );
        (log, stops)
    }
}

/// Whether the collection covered the whole heap and left only live objects. A concurrent cycle of G1 covers all of it but frees the old
/// part later, in young collections; Shenandoah's cycles end with what was allocated meanwhile.
fn is_whole(name: &str) -> bool {
    ["Pause Full", "Major Collection", "Garbage Collection"].iter().any(|it| name.starts_with(it))
}

#[cfg(test)]
mod tests;
