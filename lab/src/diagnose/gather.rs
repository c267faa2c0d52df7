//! Gathers the evidence: three thread dumps within about three seconds, one snapshot of locks, CPU and collections.

use super::commands::Commands;
use super::evidence::{Evidence, Synchronizer, Thread};
use super::gc_use::GcCounters;
use super::locks::{LockSnapshot, LockWait};
use super::run_time::{self, RunTime};
use super::scheduler;
use super::thread_dump::DumpedThread;
use super::thread_print::{self, PrintedCircle, PrintedThread};
use super::verdict::Missing;
use crate::host::attach::{CommandError, JvmProcess};
use crate::probe::attach::AttachError;
use crate::probe::target;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// In all; a diagnosis takes ten seconds at most.
const LIMIT: Duration = Duration::from_secs(9);
const BETWEEN: Duration = Duration::from_millis(1_400);
const SNAPSHOTS: usize = 3;
/// Before the first dump: shows whether the JVM is busy with collections.
const FIRST_LOOK: Duration = Duration::from_millis(300);
/// A command that had less is no sign of a JVM that does not respond.
const RESPONDS_SECONDS: f64 = 3.0;
/// Java code that writes dumps needs memory: not where collections take this share of the time or the heap is this full.
const SHORT_SHARE: f64 = 0.3;
const SHORT_FULLNESS: f64 = 0.9;
/// Latency of an interruption.
const REACTION: Duration = Duration::from_millis(100);
/// Names of the scheduler's threads.
const CARRIER: &str = "-worker-";

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Load the probe for the locks of virtual threads.
    pub agent: bool,
}

/// The evidence, and the last texts of the JVM.
pub struct Gathered {
    pub evidence: Evidence,
    pub thread_print: String,
    pub thread_dump: String,
}

struct Snapshot {
    printed: Vec<PrintedThread>,
    dumped: Vec<DumpedThread>,
    texts: (String, String),
}

/// Gathers it. Once `stop` is set it ends, and takes its files away.
///
/// # Errors
/// Why the JVM cannot be looked into. One that does not answer is evidence.
pub fn gather(pid: u32, options: Options, stop: &Arc<AtomicBool>) -> Result<Gathered, AttachError> {
    let jvm: JvmProcess = target::inspect(pid)?.interrupted_by(Arc::clone(stop));
    let began = Instant::now();
    let mut gc: Vec<GcCounters> = GcCounters::read(pid).into_iter().collect();
    let first_times = run_time::read(pid);
    let commands = Commands::begin(jvm, began + LIMIT)?;
    let mut snapshots = Vec::new();
    let mut locks = None;
    let mut unresponsive = false;
    let mut missing = None;
    let mut last_print = String::new();
    for at in 0..SNAPSHOTS {
        let due = began + FIRST_LOOK + BETWEEN * at as u32;
        sleep_until(due, stop)?;
        gc.extend(GcCounters::read(pid));
        if is_short(&gc, began.elapsed().as_secs_f64()) {
            missing = Some(Missing::HeapIsShort);
            // Printed by the JVM itself; one is enough, to be kept.
            if last_print.is_empty() {
                last_print = commands.thread_print().map(|it| it.1).unwrap_or_default();
            }
            continue;
        }
        match snapshot(&commands) {
            Ok(snapshot) => snapshots.push(snapshot),
            Err(CommandError::Silent { seconds, .. }) => {
                unresponsive = seconds >= RESPONDS_SECONDS;
                missing = Some(Missing::Time);
                break;
            }
            Err(other) => return Err(other.into()),
        }
        if at == 1 && options.agent {
            locks = commands.locks();
        }
    }
    sleep_until(Instant::now(), stop)?;
    let seconds = began.elapsed().as_secs_f64();
    let times = shares(&first_times, &run_time::read(pid), seconds);
    let cores_used = times.values().map(|share| share.on_cpu).sum();
    gc.extend(GcCounters::read(pid));
    let last = snapshots.last().map_or((last_print, String::new()), |it| it.texts.clone());
    let (threads, synchronizers) = merge(&snapshots, &locks.clone().unwrap_or_default(), &times);
    let evidence = Evidence {
        seconds,
        unresponsive,
        threads,
        synchronizers,
        has_locks: locks.is_some(),
        gc,
        cores_used,
        snapshots: snapshots.len(),
        missing,
        earlier: earlier(&snapshots),
        parallelism: scheduler::parallelism(pid),
        circles_of_jvm: circles_of_jvm(&snapshots),
    };
    Ok(Gathered { evidence, thread_print: last.0, thread_dump: last.1 })
}

fn is_short(gc: &[GcCounters], seconds: f64) -> bool {
    let (Some(first), Some(last)) = (gc.first(), gc.last()) else { return false };
    (last.seconds - first.seconds) / seconds.max(0.001) >= SHORT_SHARE || last.fullness() >= SHORT_FULLNESS
}

fn earlier(snapshots: &[Snapshot]) -> Vec<Vec<Thread>> {
    let thread = |it: &DumpedThread| Thread { tid: it.tid, frames: it.frames.clone(), ..Thread::default() };
    let all = snapshots.iter().rev().skip(1);
    all.map(|it| it.dumped.iter().map(thread).collect()).collect()
}

/// Those in each snapshot; addresses of objects change when they are moved.
fn circles_of_jvm(snapshots: &[Snapshot]) -> Vec<PrintedCircle> {
    let names = |circle: &PrintedCircle| circle.iter().map(|it| it.0.clone()).collect::<BTreeSet<_>>();
    let mut all = snapshots.iter().rev().map(|it| thread_print::circles(&it.texts.0));
    let mut last = all.next().unwrap_or_default();
    for other in all {
        let known: HashSet<_> = other.iter().map(names).collect();
        last.retain(|circle| known.contains(&names(circle)));
    }
    last
}

/// Unless it is interrupted meanwhile.
fn sleep_until(due: Instant, stop: &AtomicBool) -> Result<(), CommandError> {
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(CommandError::Interrupted);
        }
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        sleep(left.min(REACTION));
    }
}

fn snapshot(commands: &Commands) -> Result<Snapshot, CommandError> {
    let (printed, print_text) = commands.thread_print()?;
    let (dumped, dump_text) = commands.thread_dump()?;
    Ok(Snapshot { printed, dumped, texts: (print_text, dump_text) })
}

struct Share {
    runnable: f64,
    on_cpu: f64,
}

fn shares(
    before: &HashMap<u32, RunTime>,
    after: &HashMap<u32, RunTime>,
    seconds: f64,
) -> HashMap<u32, Share> {
    let share = |id: &u32, now: &RunTime| {
        let then = before.get(id).copied().unwrap_or_default();
        let ran = now.on_cpu_ns.saturating_sub(then.on_cpu_ns) as f64 / 1e9 / seconds;
        let queued = now.queued_ns.saturating_sub(then.queued_ns) as f64 / 1e9 / seconds;
        Share { runnable: ran + queued, on_cpu: ran }
    };
    after.iter().map(|(id, now)| (*id, share(id, now))).collect()
}

fn merge(
    snapshots: &[Snapshot],
    locks: &LockSnapshot,
    times: &HashMap<u32, Share>,
) -> (Vec<Thread>, HashMap<String, Synchronizer>) {
    let Some(last) = snapshots.last() else { return (Vec::new(), HashMap::new()) };
    let printed: HashMap<u64, &PrintedThread> = last.printed.iter().map(|it| (it.tid, it)).collect();
    let waits: HashMap<u64, &LockWait> = locks.waits.iter().map(|it| (it.tid, it)).collect();
    let stacks: Vec<HashMap<u64, &DumpedThread>> =
        snapshots.iter().map(|it| it.dumped.iter().map(|thread| (thread.tid, thread)).collect()).collect();
    let carriers = carriers(snapshots);
    let mounted: HashSet<u64> = last.printed.iter().filter_map(|it| it.carries).collect();
    let pools: HashSet<&str> = last.printed.iter().filter_map(pool_of_carrier).collect();
    let thread = |dumped: &DumpedThread| {
        let platform = printed.get(&dumped.tid);
        let share = platform.and_then(|it| times.get(&it.os_id?));
        let wait = waits.get(&dumped.tid);
        let state = dumped.state.clone().or_else(|| platform.and_then(|it| it.state.clone()));
        let monitors = if dumped.monitors.is_empty() { platform.map(|it| it.locked.clone()) } else { None };
        let monitor = dumped.blocked_on.clone().or_else(|| platform.and_then(|it| it.waits_to_lock.clone()));
        Thread {
            tid: dumped.tid,
            name: dumped.name.clone(),
            is_virtual: platform.is_none(),
            frames: dumped.frames.clone(),
            stood_still: stacks.len() >= SNAPSHOTS
                && stacks.iter().all(|it| it.get(&dumped.tid).is_some_and(|it| it.frames == dumped.frames)),
            carrier: carriers.get(&dumped.tid).copied(),
            is_mounted: mounted.contains(&dumped.tid),
            is_carrier: platform.is_some_and(|it| pools.iter().any(|pool| is_of(pool, &it.name))),
            state: state.or_else(|| wait.map(|it| it.state.clone())),
            waits_for: monitor
                .or_else(|| wait.and_then(|it| it.lock.clone()))
                .or_else(|| dumped.parked_for.clone()),
            monitors: monitors.unwrap_or_else(|| dumped.monitors.clone()),
            peer: locks.peers.get(&dumped.tid).cloned(),
            runnable_share: share.map(|it| it.runnable),
            cpu_share: share.map(|it| it.on_cpu),
        }
    };
    let mut synchronizers: HashMap<String, Synchronizer> = HashMap::new();
    for wait in waits.values() {
        let Some(lock) = &wait.lock else { continue };
        let known = synchronizers.entry(lock.clone()).or_default();
        known.owner = u64::try_from(wait.owner).ok();
        known.value = wait.value;
        known.is_given_back |= wait.gives_back;
    }
    (last.dumped.iter().map(thread).collect(), synchronizers)
}

/// By virtual thread: the carrier that had it in each snapshot.
fn carriers(snapshots: &[Snapshot]) -> HashMap<u64, u64> {
    let in_one = |it: &Snapshot| -> HashMap<u64, u64> {
        it.printed.iter().filter_map(|thread| Some((thread.carries?, thread.tid))).collect()
    };
    let mut all = snapshots.iter().map(in_one);
    let mut first = all.next().unwrap_or_default();
    for other in all {
        first.retain(|thread, carrier| other.get(thread) == Some(carrier));
    }
    first
}

/// `ForkJoinPool-1`: the number is the pool's, and which one is the scheduler's depends on what the program did first.
fn pool_of_carrier(thread: &PrintedThread) -> Option<&str> {
    thread.carries?;
    thread.name.rsplit_once(CARRIER).map(|(pool, _)| pool)
}

fn is_of(pool: &str, name: &str) -> bool {
    name.rsplit_once(CARRIER).is_some_and(|(its, number)| its == pool && number.parse::<u32>().is_ok())
}
