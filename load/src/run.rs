//! Runs a plan: one worker thread per core given to the generator, nothing shared between them but a stop flag.

use crate::clock::{Nanos, now_ns};
use crate::health::cores::CoreTimes;
use crate::outcome::{GeneratorCost, LoadOutcome, Second, SecondTimes};
use crate::plan::{LoadPlan, ProtocolChoice, Stop};
use crate::recorder::{Recorder, Slice};
use crate::times::Times;
use crate::{engine, limits, secure};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Time for all workers to be up before the first request is due, and for each connection to be opened in advance.
const START_DELAY_NS: Nanos = 5_000_000;
const START_DELAY_PER_CONNECTION_NS: Nanos = 50_000;

/// How long one of several addresses of a host may take to show that its port is open.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a load could not be started at all. What goes wrong with single requests is a
/// [`FailureCause`](crate::failure::FailureCause) instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The host name has no address.
    #[error("cannot find the address of `{host}`: {source}")]
    Resolve {
        /// As it was written.
        host: String,
        /// What the resolver said.
        source: std::io::Error,
    },
    /// A limit of this machine is too low.
    #[error(transparent)]
    Limit(#[from] limits::LimitError),
    /// Fields of the plan that do not go together.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
    /// A file of the TLS options that cannot be used.
    #[error(transparent)]
    TlsFile(#[from] crate::plan::TlsFileError),
    /// The log of requests cannot be written.
    #[error(transparent)]
    Log(#[from] crate::log::LogError),
    /// The driver that was asked for cannot be had.
    #[error("the {driver} driver cannot be used here: {source}")]
    Driver {
        /// `io_uring` or `epoll`.
        driver: &'static str,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The TLS set-up failed.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// A thread could not be started or died.
    #[error("a generator thread failed: {0}")]
    Thread(String),
}

/// How the caller follows and ends a load.
pub struct Control<'a> {
    /// Set it to true and the load ends as if its time were up, with `interrupted` set in its outcome.
    pub stop: &'a AtomicBool,
    /// Called on the calling thread with each second once all workers are past it.
    pub on_second: &'a mut dyn FnMut(&Second),
}

/// What one worker thread is given.
pub(crate) struct Work<'a> {
    pub plan: &'a LoadPlan,
    /// Resolved address of the origin.
    pub address: SocketAddr,
    /// Bind connections to these, one after the other; empty: the kernel chooses.
    pub source_addresses: &'a [IpAddr],
    /// The TLS set-up, for an origin that has it.
    pub tls: Option<Arc<rustls::ClientConfig>>,
    /// Which worker this is, of how many.
    pub index: u32,
    pub threads: u32,
    /// How many of the plan's connections are this worker's (at least one).
    pub connections: u32,
    /// How many of the plan's requests are this worker's, where the plan has a number.
    pub requests: Option<u64>,
    /// The load's zero: due times count from here. A moment in the near future, the same for all workers.
    pub started_ns: Nanos,
    /// When to stop sending and count the rest as unfinished.
    pub deadline_ns: Option<Nanos>,
    pub stop: &'a AtomicBool,
    pub recorder: Recorder,
}

/// What one worker thread gives back.
pub(crate) struct Done {
    pub recorder: Recorder,
    /// When its last request ended or was given up.
    pub ended_ns: Nanos,
    /// CPU time of the thread (`CLOCK_THREAD_CPUTIME_ID`).
    pub cpu_ns: u64,
    pub loop_lag: Times,
    pub protocol: String,
    pub driver: &'static str,
}

/// Runs a plan to its end and returns everything that happened.
///
/// # Errors
/// Only what makes the whole load impossible; see [`LoadError`].
pub fn run(plan: &LoadPlan, control: Control<'_>) -> Result<LoadOutcome, LoadError> {
    let address = resolve(plan)?;
    let resources = limits::prepare(plan, address)?;
    let tls = secure::client_config(plan)?;
    let threads = worker_count(plan);
    let (slices, received) = channel();
    let connections = u64::from(plan.connections.get());
    let started_ns = now_ns() + START_DELAY_NS + connections * START_DELAY_PER_CONNECTION_NS;
    let Control { stop, on_second } = control;
    let share_of = |index: u32| Work {
        plan,
        address,
        source_addresses: &resources.source_addresses,
        tls: tls.clone(),
        index,
        threads,
        connections: share(connections, index, threads) as u32,
        requests: request_limit(plan.stop).map(|requests| share(requests, index, threads)),
        started_ns,
        deadline_ns: duration_limit(plan.stop).map(|duration| started_ns + duration.as_nanos() as Nanos),
        stop,
        recorder: Recorder::new(started_ns, slices.clone()),
    };
    let shares: Vec<Work<'_>> = (0..threads).map(share_of).collect();
    // The workers hold the only senders, so that collecting ends when the last worker does.
    drop(slices);
    let speaks_plain_http1 = !plan.requests.origin().tls && !matches!(plan.protocol, ProtocolChoice::Http2);
    let (done, seconds, cores_busy) = thread::scope(|scope| {
        let workers: Vec<_> = shares
            .into_iter()
            .map(|work| {
                scope.spawn(|| {
                    pin(&plan.cores, work.index);
                    if speaks_plain_http1 { engine::work(work) } else { secure::work(work) }
                })
            })
            .collect();
        thread::sleep(Duration::from_nanos(started_ns.saturating_sub(now_ns())));
        let cores_before = CoreTimes::read();
        let seconds = collect_seconds(&received, threads, on_second);
        let cores_busy = CoreTimes::read().busy_since(&cores_before);
        let done: Result<Vec<Done>, LoadError> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| Err(LoadError::Thread(panic_text(&*panic)))))
            .collect();
        (done, seconds, cores_busy)
    });
    let outcome = merge(done?, seconds, started_ns, stop.load(std::sync::atomic::Ordering::Relaxed));
    Ok(LoadOutcome { cores_busy, ..outcome })
}

/// The first address of the host at which the port is open: a name like `localhost` often has one at which nobody listens.
fn resolve(plan: &LoadPlan) -> Result<SocketAddr, LoadError> {
    let origin = plan.requests.origin();
    let failed = |source| LoadError::Resolve { host: origin.host.clone(), source };
    let addresses: Vec<SocketAddr> =
        (origin.host.as_str(), origin.port).to_socket_addrs().map_err(failed)?.collect();
    let is_open = |address: &&SocketAddr| TcpStream::connect_timeout(address, PROBE_TIMEOUT).is_ok();
    let first = match addresses.as_slice() {
        [] => return Err(failed(std::io::ErrorKind::NotFound.into())),
        [only] => only,
        [first, ..] => addresses.iter().find(is_open).unwrap_or(first),
    };
    Ok(*first)
}

/// Half of the cores unless asked otherwise, and never more threads than connections.
fn worker_count(plan: &LoadPlan) -> u32 {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let wanted = plan.threads.map_or(cores / 2, std::num::NonZeroU32::get);
    wanted.clamp(1, plan.connections.get())
}

/// Keeps the calling thread on its core. A core that does not exist or is not ours is no reason to fail: where the load
/// then ran shows in the CPU it cost.
fn pin(cores: &[usize], index: u32) {
    let core = cores.get(index as usize % cores.len().max(1));
    if let Some(&core) = core.filter(|&&core| core < CpuSet::MAX_CPU) {
        let mut one = CpuSet::new();
        one.set(core);
        let _ = sched_setaffinity(None, &one);
    }
}

/// Worker `index`'s part of `total`, so that the parts of all workers add up to it exactly.
fn share(total: u64, index: u32, threads: u32) -> u64 {
    let (index, threads) = (u64::from(index), u64::from(threads));
    total / threads + u64::from(index < total % threads)
}

fn request_limit(stop: Stop) -> Option<u64> {
    match stop {
        Stop::Requests(requests) | Stop::Either(requests, _) => Some(requests.get()),
        Stop::Duration(_) => None,
    }
}

fn duration_limit(stop: Stop) -> Option<Duration> {
    match stop {
        Stop::Duration(duration) | Stop::Either(_, duration) => Some(duration),
        Stop::Requests(_) => None,
    }
}

/// Adds up the workers' slices of each second, and reports a second as soon as every worker is past it.
fn collect_seconds(
    slices: &Receiver<Slice>,
    threads: u32,
    on_second: &mut dyn FnMut(&Second),
) -> Vec<Second> {
    let mut open: BTreeMap<u32, (Slice, u32)> = BTreeMap::new();
    let mut seconds = Vec::new();
    for slice in slices {
        let index = slice.index;
        let (sum, parts) = open.entry(index).or_insert_with(|| (Slice::new(index), 0));
        sum.merge(&slice);
        *parts += 1;
        // A worker skips the seconds in which nothing happened to it, so an older second may stay incomplete:
        // it is closed by the first complete one after it.
        if *parts == threads {
            let later = open.split_off(&(index + 1));
            for (_, (sum, _)) in std::mem::replace(&mut open, later) {
                close_second(&sum, &mut seconds, on_second);
            }
        }
    }
    for (sum, _) in open.into_values() {
        close_second(&sum, &mut seconds, on_second);
    }
    seconds
}

fn close_second(slice: &Slice, seconds: &mut Vec<Second>, on_second: &mut dyn FnMut(&Second)) {
    let ms = |us: u64| us as f64 / 1e3;
    let times = &slice.response_us;
    let mut second = Second {
        index: slice.index,
        length_s: 1.0,
        sent: slice.sent,
        ok: slice.ok,
        failed: slice.failed,
        response_ms: (!times.is_empty()).then(|| SecondTimes {
            p50: ms(times.value_at_quantile(0.5)),
            p99: ms(times.value_at_quantile(0.99)),
            max: ms(times.max()),
        }),
        response_us: Some(times.clone()),
    };
    on_second(&second);
    second.response_us = None;
    seconds.push(second);
}

fn merge(done: Vec<Done>, mut seconds: Vec<Second>, started_ns: Nanos, interrupted: bool) -> LoadOutcome {
    let ended_ns = done.iter().map(|worker| worker.ended_ns).max().unwrap_or(started_ns).max(started_ns);
    let elapsed_s = (ended_ns - started_ns) as f64 / crate::clock::NANOS_PER_S as f64;
    for second in &mut seconds {
        second.length_s = (elapsed_s - f64::from(second.index)).clamp(0.0, 1.0);
    }
    let mut outcome = LoadOutcome { started_ns, ended_ns, seconds, interrupted, ..LoadOutcome::default() };
    let mut cost = GeneratorCost { threads: done.len() as u32, ..GeneratorCost::default() };
    for worker in done {
        cost.cpu_ns += worker.cpu_ns;
        cost.busiest_thread_cpu_ns = cost.busiest_thread_cpu_ns.max(worker.cpu_ns);
        cost.loop_lag.merge(&worker.loop_lag);
        outcome.protocol = worker.protocol;
        outcome.driver = worker.driver;
        outcome.add(worker.recorder);
    }
    outcome.cost = cost;
    outcome
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked without a message".to_owned())
}
