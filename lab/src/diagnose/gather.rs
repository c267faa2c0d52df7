//! Gathers the evidence: three thread dumps, within about three seconds where the heap has room for them, one snapshot of locks, CPU
//! and collections.

use super::commands::Commands;
use super::evidence::{Evidence, Thread};
use super::gc_use::GcCounters;
use super::locks::LockSnapshot;
use super::merge::{Clocks, Snapshot, merge};
use super::run_time;
use super::scheduler;
use super::thread_dump::DumpedThread;
use super::thread_print::{self, PrintedCircle};
use super::verdict::Missing;
use crate::host::attach::{CommandError, JvmProcess};
use crate::probe::attach::AttachError;
use crate::probe::target;
use std::collections::{BTreeSet, HashSet};
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
/// The share is that of so long at least: one pause is most of a shorter time.
const SHARE_OF: Duration = Duration::from_secs(1);
const SHORT_FULLNESS: f64 = 0.9;
/// Latency of an interruption.
const REACTION: Duration = Duration::from_millis(100);

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

/// Gathers it. Once `stop` is set it ends, and takes its files away.
///
/// # Errors
/// Why the JVM cannot be looked into. One that does not answer is evidence.
pub fn gather(pid: u32, options: Options, stop: &Arc<AtomicBool>) -> Result<Gathered, AttachError> {
    let jvm: JvmProcess = target::inspect(pid)?.interrupted_by(Arc::clone(stop));
    let began = Instant::now();
    let mut looks: Vec<Look> = Vec::new();
    look(pid, began, &mut looks);
    let first_times = run_time::read(pid);
    let commands = Commands::begin(jvm, began + LIMIT)?;
    let mut snapshots = Vec::new();
    let mut locks: Vec<LockSnapshot> = Vec::new();
    let mut times_since_dump = None;
    let mut unresponsive = false;
    let mut missing = None;
    let mut last_print = String::new();
    let mut next = Some(FIRST_LOOK);
    while let Some(due) = next.filter(|_| snapshots.len() < SNAPSHOTS) {
        sleep_until(began + due, stop)?;
        look(pid, began, &mut looks);
        let is_short = is_short(&looks);
        next = after(due, is_short);
        if is_short {
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
        times_since_dump.get_or_insert_with(|| run_time::read(pid));
        // The second time only where it tells a queue that moves from one that stands still.
        let number = snapshots.len();
        if options.agent && (number == 2 || number == SNAPSHOTS && locks.last().is_some_and(has_queue)) {
            locks.extend(commands.locks(number));
        }
    }
    sleep_until(Instant::now(), stop)?;
    let seconds = began.elapsed().as_secs_f64();
    let clocks =
        Clocks::of(&first_times, &times_since_dump.unwrap_or_default(), &run_time::read(pid), seconds);
    look(pid, began, &mut looks);
    let last = snapshots.last().map_or((last_print, String::new()), |it| it.texts.clone());
    let (threads, synchronizers) = merge(&snapshots, &locks, &clocks);
    let between = snapshots.first().zip(snapshots.last()).map(|(first, last)| last.at - first.at);
    let evidence = Evidence {
        seconds,
        between_seconds: between.unwrap_or_default().as_secs_f64(),
        unresponsive,
        threads,
        synchronizers,
        has_locks: !locks.is_empty(),
        gc: looks.into_iter().map(|it| it.gc).collect(),
        cores_used: clocks.cores_used(),
        snapshots: snapshots.len(),
        missing: missing.filter(|_| snapshots.len() < SNAPSHOTS),
        earlier: earlier(&snapshots),
        parallelism: scheduler::parallelism(pid),
        circles_of_jvm: circles_of_jvm(&snapshots),
    };
    Ok(Gathered { evidence, thread_print: last.0, thread_dump: last.1 })
}

/// The counters of collections so long after the beginning.
struct Look {
    at: Duration,
    gc: GcCounters,
}

fn look(pid: u32, began: Instant, looks: &mut Vec<Look>) {
    looks.extend(GcCounters::read(pid).map(|gc| Look { at: began.elapsed(), gc }));
}

fn is_short(looks: &[Look]) -> bool {
    let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return false };
    let is_early = |it: &&Look| last.at - it.at >= SHARE_OF;
    let from = looks.iter().rev().find(is_early).unwrap_or(first);
    // Before there is enough to tell it, one that may be short is looked at again.
    let seconds = (last.at - from.at).as_secs_f64().max(0.001);
    (last.gc.seconds - from.gc.seconds) / seconds >= SHORT_SHARE || last.gc.fullness() >= SHORT_FULLNESS
}

/// When to look next after the look at `due`, since the beginning. `None`: there is no time for another.
fn after(due: Duration, is_short: bool) -> Option<Duration> {
    let is_too_early = is_short && due < SHARE_OF;
    let next = if is_too_early { SHARE_OF } else { due + BETWEEN };
    // The last one has some time left.
    (next + BETWEEN <= LIMIT).then_some(next)
}

/// Two threads or more wait for the same synchronizer.
fn has_queue(locks: &LockSnapshot) -> bool {
    let mut known = HashSet::new();
    let queued = locks.waits.iter().filter(|it| it.wait != 0).filter_map(|it| it.lock.as_ref());
    queued.into_iter().any(|lock| !known.insert(lock))
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
    Ok(Snapshot { printed, dumped, texts: (print_text, dump_text), at: Instant::now() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the looks, and of those that were followed by a snapshot, of a JVM whose collections have taken `seconds(at)`.
    fn gathered(seconds: impl Fn(f64) -> f64, used_bytes: u64) -> (Vec<f64>, Vec<f64>) {
        let moment = |at: Duration| {
            let seconds = seconds(at.as_secs_f64());
            Look { at, gc: GcCounters { seconds, collections: 0, used_bytes, most_bytes: 100 } }
        };
        let (mut looks, mut snapshots) = (vec![moment(Duration::ZERO)], Vec::new());
        let mut next = Some(FIRST_LOOK);
        while let Some(due) = next.filter(|_| snapshots.len() < SNAPSHOTS) {
            looks.push(moment(due));
            let is_short = is_short(&looks);
            next = after(due, is_short);
            snapshots.extend((!is_short).then_some(due.as_secs_f64()));
        }
        (looks.iter().skip(1).map(|it| it.at.as_secs_f64()).collect(), snapshots)
    }

    #[test]
    fn a_snapshot_that_was_left_out_is_made_up_for() {
        assert_eq!(gathered(|_| 0.0, 50).1, [0.3, 1.7, 3.1]);
        assert_eq!(
            gathered(|at| at.min(0.15), 50).1,
            [1.0, 2.4, 3.8],
            "one pause of 150 ms at the beginning"
        );
        assert_eq!(gathered(|at| at.min(2.0), 50).1, [3.8, 5.2, 6.6], "one of 2 s");
    }

    #[test]
    fn a_heap_that_stays_short_has_no_snapshot_and_the_looks_end_in_time() {
        for (looks, snapshots) in [gathered(|at| at * 0.9, 50), gathered(|_| 0.0, 95)] {
            assert_eq!((looks, snapshots), (vec![0.3, 1.0, 2.4, 3.8, 5.2, 6.6], vec![]));
        }
    }
}
