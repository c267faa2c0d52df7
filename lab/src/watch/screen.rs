//! The state of a JVM, built from its probe's lines. Independent of terminals.

use super::canary::CanaryDelays;
use super::history::History;
use super::last_words::BusiestThreads;
use super::limits::CurrentLimits;
use super::problems::Problems;
use super::sites::Sites;
use super::work::Work;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_machine::probe::line::{Carriers, Line, Pool, Sample};
use threadcount_model::record::jvm::PoolKind;
use threadcount_model::record::jvm::Total;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Screen {
    pub pid: u32,
    pub java: String,
    /// Cores the JVM may use.
    pub processors: u32,
    /// The last reading of the JVM's beans.
    pub sample: Option<Sample>,
    /// The scheduler of virtual threads.
    pub carriers: Option<Carriers>,
    /// The number of readings in a row, up to the last one, in which all carriers were held.
    held_readings: u32,
    /// Pools by kind and name.
    pub pools: BTreeMap<(PoolKind, String), Pool>,
    /// The most busy threads of each pool since the watching began.
    pub busiest_threads: BusiestThreads,
    /// Heap used, bytes.
    pub heap: History,
    /// Allocation, bytes per second.
    pub allocation: History,
    /// CPU of the process, cores.
    pub cpu: History,
    /// Resident set, bytes.
    pub rss: History,
    /// Carriers with a virtual thread mounted.
    pub mounted: History,
    /// Pauses of the collector since the watching began.
    pub pauses: Total,
    /// The last pause: when, how long in ms, its name.
    pub last_pause: Option<(Nanos, f64, String)>,
    /// Virtual threads that could not leave their carrier.
    pub pins: Sites,
    /// The activities of threads that had work in the last seconds.
    pub work: Work,
    /// How long runnable threads waited for a core.
    pub canary: CanaryDelays,
    /// The current limits of the JVM.
    pub limits: CurrentLimits,
    /// Lines that the probe dropped because nobody read them in time.
    pub dropped_lines: u64,
    /// Readings that failed.
    pub problems: Problems,
    /// The number of lines of the probe so far.
    lines_read: usize,
    /// The first line's time.
    started_ns: Option<Nanos>,
    /// The newest line's time.
    now_ns: Nanos,
    /// The JVM has ended, or the probe is detached.
    pub ended: bool,
}

impl Screen {
    #[must_use]
    pub fn new(pid: u32) -> Self {
        Self { pid, ..Self::default() }
    }

    pub fn read(&mut self, line: Line) {
        self.lines_read += 1;
        match line {
            Line::Hello { t_ns, java, processors, .. } => {
                (self.java, self.processors) = (java, processors);
                self.started_ns = Some(t_ns);
                self.now_ns = t_ns;
            }
            Line::Sample(sample) => self.sample(sample),
            Line::Carriers(carriers) => {
                self.mounted.add(f64::from(carriers.mounted));
                self.held_readings = if is_held(&carriers) { self.held_readings + 1 } else { 0 };
                self.carriers = Some(carriers);
            }
            Line::Pool(pool) => self.pool(pool),
            Line::GcPause { t_ns, duration_ns, name, .. } => {
                let ms = duration_ns as f64 / 1e6;
                self.pauses.count += 1;
                self.pauses.total_ms += ms;
                self.pauses.longest_ms = self.pauses.longest_ms.max(ms);
                self.last_pause = Some((t_ns, ms, name));
            }
            Line::Pinned(tally) => self.pins.add(&tally),
            Line::Stacks(ref sample) => self.work.read(self.lines_read, sample.t_ns, line),
            Line::StackGroup(ref group) => self.work.read(self.lines_read, group.t_ns, line),
            Line::StacksEnded { t_ns, .. } => self.work.read(self.lines_read, t_ns, line),
            Line::RunDelay(delay) => self.canary.read(delay),
            Line::Dropped { lines, .. } => self.dropped_lines += lines,
            Line::Problem { what, why, .. } => self.problems.add(what, why),
            Line::Refused { .. }
            | Line::EventsUntil { .. }
            | Line::Gc(_)
            | Line::HeapAfterGc { .. }
            | Line::Running(_)
            | Line::ThreadFamily(_)
            | Line::FileIo(_)
            | Line::Safepoint(_)
            | Line::Allocated(_)
            | Line::AllocationStack(_)
            | Line::AllocationSamples(_)
            | Line::CpuStack(_)
            | Line::CpuSamples(_)
            | Line::CarrierRunTime(_)
            | Line::HeldCarrier(_)
            | Line::NativeMemory { .. } => {}
        }
    }

    fn sample(&mut self, sample: Sample) {
        self.now_ns = sample.t_ns;
        self.heap.add(sample.heap_used_bytes as f64);
        self.rss.add(sample.rss_bytes.max(0) as f64);
        if let Some(before) = &self.sample {
            let between_s = sample.t_ns.saturating_sub(before.t_ns).max(1) as f64 / NANOS_PER_S as f64;
            let grown = |now: u64, before: u64| now.saturating_sub(before) as f64 / between_s;
            self.allocation.add(grown(sample.allocated_bytes, before.allocated_bytes));
            self.cpu.add(grown(sample.process_cpu_ns, before.process_cpu_ns) / NANOS_PER_S as f64);
        }
        self.sample = Some(sample);
        // A pool that was closed gets no more lines.
        let now_ns = self.now_ns;
        self.pools.retain(|_, pool| now_ns.saturating_sub(pool.t_ns) < 3 * NANOS_PER_S);
    }

    fn pool(&mut self, pool: Pool) {
        let key = (pool.kind, pool.name.clone());
        if self.pools.len() < MOST_POOLS || self.pools.contains_key(&key) {
            self.busiest_threads.add(&pool);
            self.pools.insert(key, pool);
        }
    }

    /// Seconds since the first line.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.now_ns.saturating_sub(self.started_ns.unwrap_or(self.now_ns)) / NANOS_PER_S
    }

    /// The thread model in a sentence, as observed.
    #[must_use]
    pub fn thread_model(&self) -> String {
        let pools: Vec<String> = self.thread_pools().map(pool_words).collect();
        let pools = pools.join("; ");
        let carriers = self.carriers.as_ref().filter(|carriers| carriers.threads > 0);
        let threads = self.sample.as_ref().map_or(0, |sample| sample.platform_threads);
        match (pools.is_empty(), carriers) {
            (true, None) => format!("{threads} platform threads; no virtual thread seen so far"),
            (true, Some(carriers)) => format!("virtual threads on {}", carrier_words(carriers.parallelism)),
            (false, None) => format!("a pool of platform threads: {pools}; no virtual thread seen so far"),
            (false, Some(carriers)) => {
                format!(
                    "a pool of platform threads: {pools}; virtual threads on {}",
                    carrier_words(carriers.parallelism)
                )
            }
        }
    }

    /// Thread pools that report their maximum: a Tomcat with virtual threads reports -1.
    fn thread_pools(&self) -> impl Iterator<Item = &Pool> {
        self.pools.values().filter(|pool| !pool.kind.is_of_connections() && pool.max > 0)
    }

    /// Whether something holds the carriers: pinned threads, with or without an event. A single reading is not enough: right after a
    /// collection or a burst of requests the carriers are about to run but do not yet.
    #[must_use]
    pub const fn carriers_held(&self) -> bool {
        self.held_readings >= HELD_READINGS
    }
}

/// More pools than a program has, unless it makes them without end.
const MOST_POOLS: usize = 1_000;

/// The readings in a row that count as held; the probe takes two readings a second.
const HELD_READINGS: u32 = 3;

/// Whether virtual threads wait while the operating system runs fewer carriers than allowed. Java 21 does not count a carrier in
/// `Object.wait` as mounted; there, a queue longer than the number of carriers shows that none is free.
fn is_held(carriers: &Carriers) -> bool {
    let taken = carriers.mounted >= carriers.parallelism || carriers.queued > u64::from(carriers.parallelism);
    carriers.queued > 0 && taken && (0..carriers.parallelism as i32).contains(&carriers.running)
}

fn pool_words(pool: &Pool) -> String {
    let (name, busy, max) = (&pool.name, pool.busy, pool.max);
    if busy < 0 { format!("{name}, at most {max}") } else { format!("{name}, {busy} of {max} busy") }
}

fn carrier_words(parallelism: u32) -> String {
    format!("{parallelism} carrier{}", if parallelism == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
