//! Runs a plan with one worker thread per core of the generator; the threads share nothing but a stop flag.

use crate::clock::{Nanos, now_ns, unix_now_ns};
use crate::engine::{self, Done, Gate, Work};
pub use crate::error::LoadError;
use crate::health::cores::CoreTimes;
use crate::heartbeat::Heartbeat;
use crate::log::RequestLog;
use crate::outcome::{GeneratorCost, LoadOutcome, Second};
use crate::periods::{PeriodRecorder, Periods};
use crate::plan::{LoadPlan, Pacing, ProtocolChoice};
use crate::recorder::Recorder;
use crate::resolve;
pub use crate::resolve::target_addresses;
use crate::schedule::Share;
use crate::secure;
use crate::share::LoadShare;
use crate::{collect, failing_body, limits};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Connections per thread of an open load. A due request can wait only for a connection of its own thread; with this many, waits do not
/// depend on the number of threads.
const OPEN_LOAD_CONNECTIONS_PER_THREAD: u32 = 16;
/// The rate that one thread sends on a slow core with room to spare.
const OPEN_LOAD_RATE_PER_THREAD: f64 = 20_000.0;
/// How often to check whether the load has started.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often a process that waits for a common start checks whether it should stop.
const LOOK_FOR_STOP_EVERY: Duration = Duration::from_millis(50);
/// How long before a common start connections are opened: long enough to open many, and short enough that no server takes them for idle.
const OPEN_BEFORE_START: Duration = Duration::from_secs(5);

/// Lets the caller follow and end a load.
#[non_exhaustive]
pub struct Control<'a> {
    /// If set to true, the load ends as if its time were up, with `interrupted` set in its outcome.
    pub stop: &'a AtomicBool,
    /// Called on the calling thread with each second once all workers are past it.
    pub on_second: &'a mut dyn FnMut(&Second),
    /// Called once on the calling thread when counting begins: when the load begins, or at the end of its lead-in.
    pub on_begin: Option<&'a mut dyn FnMut()>,
    /// Begin at this time on the wall clock, in nanoseconds since 1970, or not at all: the common start of several processes that share a
    /// load.
    pub start_at_unix_ns: Option<u64>,
    /// Periods of the load that are counted separately.
    pub periods: Option<Arc<Periods>>,
}

impl<'a> Control<'a> {
    /// Ends the load when `stop` is set, and calls `on_second`.
    pub fn new(stop: &'a AtomicBool, on_second: &'a mut dyn FnMut(&Second)) -> Self {
        Self { stop, on_second, on_begin: None, start_at_unix_ns: None, periods: None }
    }

    /// Also calls `on_begin` when counting begins.
    #[must_use]
    pub fn with_begin(self, on_begin: &'a mut dyn FnMut()) -> Self {
        Self { on_begin: Some(on_begin), ..self }
    }

    /// Also counts these periods separately.
    #[must_use]
    pub fn with_periods(self, periods: Arc<Periods>) -> Self {
        Self { periods: Some(periods), ..self }
    }

    /// Also begins at a common start.
    #[must_use]
    pub fn starting_at(self, start_at_unix_ns: Option<u64>) -> Self {
        Self { start_at_unix_ns, ..self }
    }
}

/// Runs a plan to its end and returns everything that happened.
///
/// The load begins when its connections are open, or when the time limit of connecting has passed.
///
/// # Errors
/// Only problems that make the whole load impossible; see [`LoadError`].
pub fn run(plan: &LoadPlan, control: Control<'_>) -> Result<LoadOutcome, LoadError> {
    plan.check()?;
    let endpoints = resolve::endpoints(plan)?;
    let own = plan.own_part();
    let threads = worker_count(&own, own.all_connections());
    let source_addresses = limits::prepare(&own, &endpoints, threads)?.source_addresses;
    let log = plan.log.as_deref().map(RequestLog::create).transpose()?;
    let session_kind = secure::session_kind(plan)?;
    let Control { stop, on_second, on_begin, start_at_unix_ns, periods } = control;
    let gate = Gate::new(threads).starting_at(start_at_unix_ns);
    wait_for_common_start(start_at_unix_ns, stop);
    let (progress, received) = channel();
    // A closed loop sends nothing late. With as many threads as cores, nobody else would get a core; and beside a share of a load, other
    // shares may run here. This is checked before threads are pinned.
    let has_room = plan.share == LoadShare::WHOLE
        && thread::available_parallelism().is_ok_and(|cores| (threads as usize) < cores.get());
    let work_of = |index: u32| Work {
        asks_for_real_time: plan.real_time && has_room && plan.pacing != Pacing::Closed,
        plan,
        endpoints: &endpoints,
        source_addresses: &source_addresses,
        session_kind: session_kind.as_ref(),
        share: Share::of(plan.share, index, threads, plan.all_connections()),
        gate: &gate,
        stop,
        recorder: Recorder::new(index, progress.clone())
            .with_log(log.as_ref().map(RequestLog::sender))
            .with_periods(periods.clone().map(PeriodRecorder::new))
            .with_schedule(plan.pacing != Pacing::Closed),
    };
    let works: Vec<Work<'_>> = (0..threads).map(work_of).collect();
    // The workers have the only senders, so collecting ends when the last worker does.
    drop(progress);
    let (done, seconds, cores_busy, stopped_ns) = thread::scope(|scope| {
        let gate = &gate;
        let workers: Vec<_> = works
            .into_iter()
            .map(|work| {
                let worker = thread::Builder::new().spawn_scoped(scope, move || {
                    pin(&plan.cores, work.share.thread());
                    or_break_off(gate, || engine::work(work))
                });
                // The threads that have started would wait for this one forever.
                worker.inspect_err(|_| gate.break_off())
            })
            .collect();
        let has_begun = wait_for_start(gate, stop, plan.lead_in);
        let cores_before = CoreTimes::read();
        if let Some(on_begin) = on_begin.filter(|_| has_begun) {
            on_begin();
        }
        let mut heartbeat = Heartbeat::new(&received);
        let seconds = collect::seconds(&mut heartbeat, threads, on_second);
        let cores_busy = CoreTimes::read().busy_since(&cores_before);
        let done: Result<Vec<Done>, LoadError> = workers
            .into_iter()
            .map(|worker| match worker {
                Ok(worker) => {
                    worker.join().unwrap_or_else(|panic| Err(LoadError::Thread(panic_text(&*panic))))
                }
                Err(error) => Err(LoadError::Thread(error.to_string())),
            })
            .collect();
        (done, seconds, cores_busy, heartbeat.stopped_ns())
    });
    if let Some(late_ns) = gate.late_ns() {
        return Err(LoadError::StartMissed { late_ms: late_ns.div_ceil(1_000_000) });
    }
    let began_ns = gate.started_ns().unwrap_or_else(now_ns);
    let started_ns = began_ns + plan.lead_in.as_nanos() as Nanos;
    let mut outcome = merge(done?, started_ns, seconds);
    let body = outcome.first_failing_body.take();
    outcome.first_failing_body = body.and_then(|body| failing_body::shown(&body, plan.requests.secrets()));
    if outcome.protocol.is_empty() {
        outcome.protocol = asked_protocol(plan).to_owned();
    }
    match log.map(RequestLog::finish) {
        Some(Ok(counts)) => outcome.log = Some(counts),
        // The measurements are kept even if the log fails.
        Some(Err(error)) => outcome.log_failure = Some(error.kind()),
        None => {}
    }
    let began_unix_ns = gate.started_unix_ns().unwrap_or_else(unix_now_ns);
    let started_unix_ns = began_unix_ns + plan.lead_in.as_nanos() as u64;
    let interrupted = stop.load(Ordering::Relaxed);
    Ok(LoadOutcome { cores_busy, started_unix_ns, stopped_ns, interrupted, ..outcome })
}

/// Waits until it is time to open connections for a common start.
fn wait_for_common_start(start_at_unix_ns: Option<u64>, stop: &AtomicBool) {
    let Some(start_at_unix_ns) = start_at_unix_ns else { return };
    let open_at_ns = start_at_unix_ns.saturating_sub(OPEN_BEFORE_START.as_nanos() as u64);
    while !stop.load(Ordering::Relaxed) {
        match open_at_ns.saturating_sub(unix_now_ns()) {
            0 => return,
            left_ns => thread::sleep(Duration::from_nanos(left_ns).min(LOOK_FOR_STOP_EVERY)),
        }
    }
}

/// Does a worker's part. If it fails or panics, the other workers stop too, because their part alone would be another load.
pub(crate) fn or_break_off<T, E>(gate: &Gate, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let breaks = BreaksGate(gate);
    let done = work();
    if done.is_ok() {
        std::mem::forget(breaks);
    }
    done
}

struct BreaksGate<'a>(&'a Gate);

impl Drop for BreaksGate<'_> {
    fn drop(&mut self) {
        self.0.break_off();
    }
}

/// Waits until counting begins; returns `false` if it never will.
fn wait_for_start(gate: &Gate, stop: &AtomicBool, lead_in: Duration) -> bool {
    while !gate.is_broken() && !stop.load(Ordering::Relaxed) {
        let counted_ns = gate.started_ns().map(|began_ns| began_ns + lead_in.as_nanos() as Nanos);
        match counted_ns.map(|counted_ns| counted_ns.saturating_sub(now_ns())) {
            Some(0) => return true,
            Some(left_ns) => thread::sleep(Duration::from_nanos(left_ns).min(LOOK_EVERY)),
            None => thread::sleep(LOOK_EVERY),
        }
    }
    false
}

/// The protocol to report if no connection was established.
fn asked_protocol(plan: &LoadPlan) -> &'static str {
    match (plan.protocol, plan.requests.origin().tls) {
        (ProtocolChoice::Http2, true) => "HTTP/2 over TLS",
        (ProtocolChoice::Http2, false) => "HTTP/2 (h2c)",
        (ProtocolChoice::Auto | ProtocolChoice::Http1, true) => "HTTP/1.1 over TLS",
        (ProtocolChoice::Auto | ProtocolChoice::Http1, false) => "HTTP/1.1",
    }
}

/// The number of worker threads: half of the cores by default, and never more than connections. An open load gets no more threads than its
/// rate needs, and no thread with too few connections.
fn worker_count(plan: &LoadPlan, connections: u32) -> u32 {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let useful = match &plan.pacing {
        Pacing::Closed => connections,
        Pacing::Open { shape, .. } => {
            let by_rate = (shape.highest_per_s() / OPEN_LOAD_RATE_PER_THREAD).ceil();
            let by_connections = connections / OPEN_LOAD_CONNECTIONS_PER_THREAD;
            by_connections.min(if plan.threads.is_some() { u32::MAX } else { by_rate as u32 })
        }
    };
    let wanted = plan.threads.map_or(cores / 2, std::num::NonZeroU32::get);
    wanted.min(useful).clamp(1, connections.max(1))
}

/// Pins the calling thread to its core. A core that does not exist or is not ours does not fail the load; the CPU cost shows where the
/// thread ran instead.
fn pin(cores: &[usize], index: u32) {
    let core = cores.get(index as usize % cores.len().max(1));
    if let Some(&core) = core.filter(|&&core| core < CpuSet::MAX_CPU) {
        let mut one = CpuSet::new();
        one.set(core);
        let _ = sched_setaffinity(None, &one);
    }
}

fn merge(done: Vec<Done>, started_ns: Nanos, mut seconds: Vec<Second>) -> LoadOutcome {
    let ended_ns = done.iter().map(|worker| worker.ended_ns).max().unwrap_or(started_ns).max(started_ns);
    let elapsed_s = (ended_ns - started_ns) as f64 / crate::clock::NANOS_PER_S as f64;
    for second in &mut seconds {
        second.length_s = (elapsed_s - f64::from(second.index)).clamp(0.0, 1.0);
    }
    let mut outcome = LoadOutcome { started_ns, ended_ns, seconds, ..LoadOutcome::default() };
    let mut cost = GeneratorCost { threads: done.len() as u32, ..GeneratorCost::default() };
    for worker in done {
        cost.cpu_ns += worker.cpu_ns;
        cost.busiest_thread_cpu_ns = cost.busiest_thread_cpu_ns.max(worker.cpu_ns);
        cost.loop_lag.merge(&worker.loop_lag);
        cost.real_time_threads += u32::from(worker.has_real_time_priority);
        outcome.protocol = worker.protocol.unwrap_or(outcome.protocol);
        if let Some(at_start) = worker.connections_at_start {
            outcome.connections_at_start.get_or_insert_default().add(at_start);
        }
        outcome.connections_open += u64::from(worker.connections_open);
        outcome.streams_per_connection = outcome.streams_per_connection.max(worker.streams_per_connection);
        outcome.add(worker.recorder);
    }
    outcome.cost = cost;
    outcome
}

/// The message of a caught panic.
#[must_use]
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked without a message".to_owned())
}
