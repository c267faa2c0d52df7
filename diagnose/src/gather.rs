//! Gathers the evidence about a JVM: three thread dumps within three seconds if the heap has room, a snapshot of locks, CPU and
//! collections.

use super::child_process;
use super::commands::Commands;
use super::evidence::{Evidence, MissingSource, SNAPSHOTS, Source, Thread};
use super::file_locks;
use super::gc_use::GcCounters;
use super::judge::{is_of_server, is_timed, is_writing, reads_stream, waits_for_child, waits_for_file_lock};
use super::kernel::KernelReading;
use super::locks::LockSnapshot;
use super::merge::{Clocks, Snapshot, merge};
use super::record::Gathered;
use super::run_time::{self, RunTime};
use super::scheduler;
use super::server_use::ServerUse;
use super::thread_dump::DumpedThread;
use super::thread_names;
use super::thread_print::{self, PrintedCircle};
use super::time_left;
use super::verdict::Missing;
use super::writers;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::attach::{CommandError, Refusal};
use threadcount_machine::probe::attach::AttachError;
use threadcount_machine::probe::target::{self, TargetError};
use threadcount_machine::process_sockets::ProcessSockets;

/// The time limit until the JVM has given its first dump.
const LIMIT: Duration = Duration::from_secs(9);
/// The time limit for a JVM that has given a dump: on a full CPU its dumps and the probe take seconds. A diagnosis takes at most 20 s.
const LIMIT_OF_SLOW: Duration = Duration::from_secs(19);
const BETWEEN: Duration = Duration::from_millis(1_400);
/// The time before the first dump, which shows whether the JVM is busy with collections.
const FIRST_LOOK: Duration = Duration::from_millis(300);
/// A command that got less time than this does not prove that the JVM fails to respond.
const RESPONDS_SECONDS: f64 = 3.0;
/// If collections take this share of the time, no dump is asked for, because Java code writes dumps and needs memory.
const SHORT_SHARE: f64 = 0.3;
/// The share is measured over at least this time, because a single pause is most of a shorter time.
const SHARE_OF: Duration = Duration::from_secs(1);
/// If this share of the heap is in use, no dump is asked for, either.
const SHORT_FULLNESS: f64 = 0.9;
/// The longest time until an interruption is noticed.
const REACTION: Duration = Duration::from_millis(100);

/// The beginning of the names of a debug agent's threads (`-agentlib:jdwp`), as the kernel knows them.
const DEBUGGERS_THREADS: &str = "JDWP";

/// The options of a diagnosis.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Load the probe for the locks of virtual threads.
    pub agent: bool,
}

/// Gathers the evidence. Ends and removes its files once `stop` is set. If a source of evidence fails, the evidence contains the reason
/// instead.
///
/// # Errors
/// The process is not a JVM that we may inspect, or it has ended.
pub fn gather(pid: u32, options: Options, stop: &Arc<AtomicBool>) -> Result<Gathered, AttachError> {
    let mut missing_sources = MissingSources::default();
    let jvm = match target::inspect(pid) {
        Ok(jvm) => Some(jvm.interrupted_by(Arc::clone(stop))),
        Err(TargetError::Refused(refusal)) if is_of_jvm(&refusal) => {
            missing_sources.add(Source::Attach, refusal.to_string());
            None
        }
        Err(other) => return Err(other.into()),
    };
    let began = Instant::now();
    let kernel = KernelReading::take(pid);
    let mut gc = Vec::new();
    let mut run_times = Vec::new();
    look(pid, began, &mut gc);
    look_at_threads(pid, began, &mut run_times);
    let sockets_before = ProcessSockets::read(pid);
    let children_before = (began.elapsed(), child_process::times(pid));
    let mut commands = jvm.map(|jvm| Commands::begin(jvm, began + LIMIT));
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let mut locks: Vec<(Duration, LockSnapshot)> = Vec::new();
    let mut unresponsive = false;
    let mut is_halted = false; // A JVM that was stopped after an answer or two is not slow.
    let mut missing = None;
    let mut next = Some(FIRST_LOOK);
    while let Some((due, commands)) = next.zip(commands.as_mut()).filter(|_| !is_enough(&snapshots)) {
        sleep_until(began + due, stop)?;
        look(pid, began, &mut gc);
        let is_short = is_short(&gc);
        next = after(due, is_short);
        match snapshot(commands, began, is_short, &mut missing_sources) {
            Ok(snapshot) => {
                if !snapshot.printed.is_empty() && !is_short || snapshot.is_whole {
                    commands.extend(began + LIMIT_OF_SLOW);
                }
                if !snapshot.is_whole && !is_short {
                    missing = Some(Missing::ThreadDump);
                }
                snapshots.push(snapshot);
            }
            Err(
                ended @ (CommandError::Interrupted | CommandError::Refused(Refusal::NoSuchProcess { .. })),
            ) => return Err(ended.into()),
            Err(CommandError::Refused(halted @ Refusal::Stopped { .. })) => {
                missing_sources.add(Source::Attach, halted.to_string());
                is_halted = true;
                break;
            }
            Err(CommandError::Silent { seconds, .. }) => {
                unresponsive = !is_short && seconds >= RESPONDS_SECONDS;
                missing = Some(if is_short { Missing::HeapIsShort } else { Missing::Time });
                break;
            }
            // The collections are evidence enough.
            Err(_) if is_short => {}
            Err(other) => missing_sources.add(Source::ThreadPrint, other.to_string()),
        }
        look_at_threads(pid, began, &mut run_times);
        if is_short {
            missing = Some(Missing::HeapIsShort);
            continue;
        }
        // The first snapshot of locks follows the second dump. A second one is taken only to see whether a queue moves.
        let number = whole(&snapshots).len().max(failed_dumps(&snapshots));
        let has_queue = || locks.last().is_some_and(|(_, it)| has_queue(it));
        if options.agent && (number == 2 || number == SNAPSHOTS && has_queue()) {
            match commands.locks(number, snapshots.last().map_or(0, |it| it.dumped.len())) {
                Ok(snapshot) => locks.push((began.elapsed(), snapshot)),
                Err(why) => missing_sources.add(Source::Locks, why),
            }
        }
    }
    sleep_until(Instant::now(), stop)?;
    look_at_threads(pid, began, &mut run_times);
    look(pid, began, &mut gc);
    let missing = missing.filter(|_| whole(&snapshots).len() < SNAPSHOTS);
    let server =
        sockets_before.zip(ProcessSockets::read(pid)).map(|(first, last)| ServerUse::between(&first, &last));
    if server.is_none() {
        missing_sources.add(Source::Sockets, "its descriptors cannot be seen".to_owned());
    }
    if gc.is_empty() {
        let why = "the JVM keeps none (-XX:-UsePerfData), or its file is not in its /tmp";
        missing_sources.add(Source::PerfData, why.to_owned());
    }
    if run_time::names(pid).values().any(|name| name.starts_with(DEBUGGERS_THREADS)) {
        let why = "its debug agent (JDWP) is loaded, and a suspended thread looks like one that waits";
        missing_sources.add(Source::Debugger, why.to_owned());
    }
    // A JVM whose heap is short answers as well as it can, so that it does not count as silent.
    let is_silent =
        unresponsive || is_halted || snapshots.is_empty() && missing != Some(Missing::HeapIsShort);
    let kernel_facts = if is_silent { kernel.facts(&run_times, &run_time::names(pid)) } else { Vec::new() };
    let seconds = (began.elapsed() - children_before.0).as_secs_f64();
    let children = child_process::since(pid, &children_before.1, seconds);
    let MissingSources(missing_sources) = missing_sources;
    let without = Evidence {
        unresponsive,
        missing,
        missing_sources,
        kernel_facts,
        server,
        children,
        ..Evidence::default()
    };
    let mut gathered = Gathered { evidence: without, pid, snapshots, locks, run_times, gc };
    gathered.evidence = evidence(&gathered);
    Ok(gathered)
}

/// The sources that gave nothing, each with the first reason.
#[derive(Default)]
struct MissingSources(Vec<MissingSource>);

impl MissingSources {
    fn add(&mut self, source: Source, why: String) {
        if self.0.iter().all(|it| it.source != source) {
            self.0.push(MissingSource { source, why });
        }
    }
}

/// Whether the refusal comes from a JVM that we may inspect: then the kernel still shows what its process does.
fn is_of_jvm(refusal: &Refusal) -> bool {
    !matches!(
        refusal,
        Refusal::NoSuchProcess { .. }
            | Refusal::NotAJvm { .. }
            | Refusal::OpenJ9 { .. }
            | Refusal::AnotherUser { .. }
            | Refusal::NoPermission { .. }
    )
}

pub(super) fn evidence(all: &Gathered) -> Evidence {
    let whole = whole(&all.snapshots);
    let platform_only = platform_only(&all.snapshots);
    let judged: Vec<&Snapshot> =
        if platform_only.is_empty() { whole.clone() } else { platform_only.iter().collect() };
    let clocks = clocks(&all.run_times, judged.first().map(|it| it.at).unwrap_or_default());
    let locks: Vec<&LockSnapshot> = all.locks.iter().map(|(_, it)| it).collect();
    let (mut threads, synchronizers) = merge(&judged, &locks, &clocks);
    find_targets(all, &mut threads);
    let between = judged.first().zip(judged.last()).map(|(first, last)| last.at - first.at);
    Evidence {
        seconds: all.run_times.last().map(|(at, _)| at.as_secs_f64()).unwrap_or_default(),
        between_seconds: between.unwrap_or_default().as_secs_f64(),
        knows_server: threads.iter().any(is_of_server),
        threads,
        synchronizers,
        has_locks: !locks.is_empty(),
        pools: locks.last().map(|it| it.pools.clone()).unwrap_or_default(),
        java: judged.last().and_then(|it| java_of(&it.texts.0)),
        gc: all.gc.iter().map(|(_, gc)| *gc).collect(),
        cores_used: clocks.cores_used(),
        snapshots: whole.len(),
        lacks_virtual_threads: !platform_only.is_empty(),
        earlier: earlier(&judged),
        parallelism: scheduler::parallelism(all.pid),
        circles_of_jvm: circles_of_jvm(&judged),
        given: given(&all.locks, &judged),
        ..all.evidence.clone()
    }
}

/// Finds what threads wait for outside the JVM: the target of a write, the holder of a file's lock, a child process that they wait for or
/// read from; and how much longer threads with a time limit will wait.
fn find_targets(all: &Gathered, threads: &mut [Thread]) {
    let printed = all.snapshots.last().map(|it| it.printed.as_slice()).unwrap_or_default();
    let ids: HashMap<u64, u32> = printed.iter().filter_map(|it| Some((it.tid, it.os_id?))).collect();
    let tasks = run_time::tasks(all.pid);
    // A virtual thread in a system call keeps its carrier, so the carrier's task shows the call.
    let task_of = |it: &Thread| {
        let id = ids.get(&it.tid).or_else(|| ids.get(&it.carrier?))?;
        tasks.get(id).copied()
    };
    for thread in threads.iter_mut().filter(|it| it.stood_still && is_writing(it)) {
        let task = task_of(thread);
        thread.writes_to = task.and_then(|task| writers::target(all.pid, task));
    }
    for thread in threads.iter_mut().filter(|it| it.stood_still && waits_for_file_lock(it)) {
        let task = task_of(thread);
        thread.peer = task.and_then(|task| file_locks::target(all.pid, task)).or(thread.peer.take());
    }
    let is_timed =
        |it: &&mut Thread| !it.is_virtual && it.stood_still && is_timed(it) && it.application().is_some();
    for thread in threads.iter_mut().filter(is_timed) {
        thread.left = task_of(thread).and_then(|task| time_left::of(all.pid, task));
    }
    let children = &all.evidence.children;
    let for_child = |it: &&mut Thread| it.stood_still && waits_for_child(it);
    let waiting = threads.iter_mut().filter(for_child).count();
    if waiting > 0 {
        let (busy, child) = (child_process::busy(children, waiting), child_process::waited_for(children));
        for thread in threads.iter_mut().filter(for_child) {
            (thread.busy_child, thread.peer) = (busy.clone(), child.clone());
        }
    }
    for thread in threads.iter_mut().filter(|it| it.stood_still && reads_stream(it)) {
        let child = task_of(thread).and_then(|task| child_process::read_by(all.pid, task, children));
        let child = child.map(std::slice::from_ref).unwrap_or_default();
        thread.busy_child = child_process::busy(child, 1);
        thread.peer = child_process::waited_for(child);
    }
}

/// The feature version of Java in a thread dump: 21 for `Full thread dump OpenJDK 64-Bit Server VM (21.0.8+9-LTS mixed mode):`.
fn java_of(print: &str) -> Option<u32> {
    let line = print.lines().find_map(|line| line.strip_prefix("Full thread dump "))?;
    let version = line.split_once('(')?.1;
    version[..version.find(|it: char| !it.is_ascii_digit())?].parse().ok()
}

/// The snapshots that include virtual threads.
fn whole(snapshots: &[Snapshot]) -> Vec<&Snapshot> {
    snapshots.iter().filter(|it| it.is_whole).collect()
}

/// The number of snapshots that lack virtual threads because the JVM could not dump them.
fn failed_dumps(snapshots: &[Snapshot]) -> usize {
    snapshots.iter().filter(|it| it.dump_failed).count()
}

fn is_enough(snapshots: &[Snapshot]) -> bool {
    whole(snapshots).len() >= SNAPSHOTS || failed_dumps(snapshots) >= SNAPSHOTS
}

/// The snapshots reduced to platform threads, if too few snapshots include virtual threads; otherwise empty.
fn platform_only(snapshots: &[Snapshot]) -> Vec<Snapshot> {
    let is_too_few = whole(snapshots).len() < SNAPSHOTS && snapshots.len() >= SNAPSHOTS;
    let all = snapshots.iter().filter(|it| is_too_few && !it.printed.is_empty());
    all.map(|it| Snapshot { dumped: thread_print::as_dumped(&it.printed), ..it.clone() }).collect()
}

/// The kernel's counts for each thread since the beginning; waits are also counted since the first dump.
fn clocks(run_times: &[(Duration, HashMap<u32, RunTime>)], first_dump: Duration) -> Clocks {
    let none = (Duration::ZERO, HashMap::new());
    let first = run_times.first().unwrap_or(&none);
    let last = run_times.last().unwrap_or(&none);
    let since_dump = run_times.iter().skip(1).find(|(at, _)| *at >= first_dump).unwrap_or(last);
    Clocks::of(&first.1, &since_dump.1, &last.1, (last.0 - first.0).as_secs_f64().max(0.001))
}

fn look(pid: u32, began: Instant, gc: &mut Vec<(Duration, GcCounters)>) {
    gc.extend(GcCounters::read(pid).map(|it| (began.elapsed(), it)));
}

fn look_at_threads(pid: u32, began: Instant, run_times: &mut Vec<(Duration, HashMap<u32, RunTime>)>) {
    let threads = run_time::read(pid);
    run_times.push((began.elapsed(), threads));
}

fn is_short(gc: &[(Duration, GcCounters)]) -> bool {
    let (Some(first), Some((now, last))) = (gc.first(), gc.last()) else { return false };
    let is_early = |it: &&(Duration, GcCounters)| *now - it.0 >= SHARE_OF;
    let (then, from) = gc.iter().rev().find(is_early).unwrap_or(first);
    // If less time has passed, the share is uncertain; a heap that looks short is then examined again.
    let seconds = (*now - *then).as_secs_f64().max(0.001);
    (last.seconds - from.seconds) / seconds >= SHORT_SHARE || last.fullness() >= SHORT_FULLNESS
}

/// The time of the next look after the one at `due`, counted from the beginning; `None` if there is no time for it.
fn after(due: Duration, is_short: bool) -> Option<Duration> {
    let is_too_early = is_short && due < SHARE_OF;
    let next = if is_too_early { SHARE_OF } else { due + BETWEEN };
    // Leaves some time for the last look itself.
    (next + BETWEEN <= LIMIT).then_some(next)
}

/// Whether two or more threads wait for the same synchronizer.
fn has_queue(locks: &LockSnapshot) -> bool {
    let mut known = HashSet::new();
    let queued = locks.waits.iter().filter(|it| it.wait != 0).filter_map(|it| it.lock.as_ref());
    queued.into_iter().any(|lock| !known.insert(lock))
}

fn earlier(snapshots: &[&Snapshot]) -> Vec<Vec<Thread>> {
    let thread = |it: &DumpedThread| Thread { tid: it.tid, frames: it.frames.clone(), ..Thread::default() };
    let all = snapshots.iter().rev().skip(1);
    all.map(|it| it.dumped.iter().map(thread).collect()).collect()
}

/// The objects that threads waited for before they ended: somebody gave them. Threads with a time limit may have given up and do not count.
fn given(locks: &[(Duration, LockSnapshot)], snapshots: &[&Snapshot]) -> HashSet<String> {
    let Some((last, earlier)) = snapshots.split_last().filter(|(last, _)| last.is_whole) else {
        return HashSet::new();
    };
    let alive: HashSet<u64> = last.dumped.iter().map(|it| it.tid).collect();
    let probed = locks.iter().filter(|(at, _)| *at < last.at).flat_map(|(_, locks)| &locks.waits);
    let probed = probed.map(|it| (it.tid, Some(it.state.as_str()), it.lock.as_ref()));
    let dumped = earlier.iter().flat_map(|it| &it.dumped);
    let dumped = dumped.map(|it| {
        let waits_for = it.blocked_on.as_ref().or(it.parked_for.as_ref()).or(it.waits_on.as_ref());
        (it.tid, it.state.as_deref(), waits_for)
    });
    let is_without_limit = |state: Option<&str>| matches!(state, Some("WAITING" | "BLOCKED"));
    let ended =
        probed.chain(dumped).filter(|(tid, state, _)| !alive.contains(tid) && is_without_limit(*state));
    ended.filter_map(|(_, _, lock)| lock.cloned()).collect()
}

/// The circles that the JVM found in every snapshot, compared by their threads, because the addresses of objects change.
fn circles_of_jvm(snapshots: &[&Snapshot]) -> Vec<PrintedCircle> {
    let ids = |circle: &PrintedCircle| circle.iter().map(|it| it.0).collect::<BTreeSet<_>>();
    let mut all = snapshots.iter().rev().map(|it| it.circles.clone());
    let mut last = all.next().unwrap_or_default();
    for other in all {
        let known: HashSet<_> = other.iter().map(ids).collect();
        last.retain(|circle| known.contains(&ids(circle)));
    }
    last
}

/// Sleeps until `due`; fails if `stop` is set meanwhile.
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

/// Takes a snapshot: platform threads, which the JVM prints without Java code, and a dump of all threads, which needs memory and is left
/// out if the heap is short. Either may fail alone.
fn snapshot(
    commands: &Commands,
    began: Instant,
    is_short: bool,
    missing_sources: &mut MissingSources,
) -> Result<Snapshot, CommandError> {
    let printed = commands.thread_print();
    let dumped = match &printed {
        Err(CommandError::Silent { .. } | CommandError::Interrupted | CommandError::Refused(_)) => None,
        _ if is_short => None,
        _ => Some(commands.thread_dump()),
    };
    let dump_failed = matches!(dumped, Some(Err(_)));
    let dumped = match dumped {
        Some(Err(why)) => {
            missing_sources.add(Source::ThreadDump, why);
            None
        }
        other => other.and_then(Result::ok),
    };
    let is_whole = dumped.is_some();
    let (printed, print_text) = match printed {
        Err(error) if is_whole => {
            missing_sources.add(Source::ThreadPrint, error.to_string());
            Default::default()
        }
        other => other?,
    };
    let circles = thread_print::circles(&print_text, &printed);
    let (mut dumped, dump_text) =
        dumped.unwrap_or_else(|| (thread_print::as_dumped(&printed), String::new()));
    let (mut printed, mut print_text) = (printed, print_text);
    thread_names::hide_secrets(&mut printed, &mut dumped, &mut print_text);
    let texts = (print_text, dump_text);
    Ok(Snapshot { at: began.elapsed(), is_whole, dump_failed, printed, dumped, circles, texts })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of all looks, and of those that a snapshot followed, for a JVM whose collections have taken `seconds(at)` by then.
    fn gathered(seconds: impl Fn(f64) -> f64, used_bytes: u64) -> (Vec<f64>, Vec<f64>) {
        let moment = |at: Duration| {
            let seconds = seconds(at.as_secs_f64());
            (at, GcCounters { seconds, collections: 0, used_bytes, most_bytes: 100 })
        };
        let (mut looks, mut snapshots) = (vec![moment(Duration::ZERO)], Vec::new());
        let mut next = Some(FIRST_LOOK);
        while let Some(due) = next.filter(|_| snapshots.len() < SNAPSHOTS) {
            looks.push(moment(due));
            let is_short = is_short(&looks);
            next = after(due, is_short);
            snapshots.extend((!is_short).then_some(due.as_secs_f64()));
        }
        (looks.iter().skip(1).map(|it| it.0.as_secs_f64()).collect(), snapshots)
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

    #[test]
    fn platform_threads_are_judged_where_the_heap_was_short_and_all_threads_otherwise() {
        const PRINT: &str = "\"main\" #1 [41] prio=5\n\tat shop.Main.main(Main.java:3)\n";
        let snapshot = |second: u64, is_whole: bool| {
            let printed = thread_print::tests::printed(PRINT);
            let dumped =
                if is_whole { vec![DumpedThread { tid: 9, ..DumpedThread::default() }] } else { vec![] };
            let at = Duration::from_secs(second);
            Snapshot { at, is_whole, printed, dumped, ..Snapshot::default() }
        };
        let of = |kinds: &[bool]| {
            let snapshots = (1..).zip(kinds).map(|(second, it)| snapshot(second, *it)).collect();
            evidence(&Gathered {
                evidence: Evidence::default(),
                pid: i32::MAX.unsigned_abs(),
                snapshots,
                locks: Vec::new(),
                run_times: Vec::new(),
                gc: Vec::new(),
            })
        };
        let short = of(&[false, true, false, false]);
        assert_eq!((short.snapshots, short.lacks_virtual_threads, short.earlier.len()), (1, true, 3));
        assert_eq!((short.threads.len(), short.threads[0].tid, short.threads[0].stood_still), (1, 1, true));
        let made_up_for = of(&[false, true, true, true]);
        assert_eq!((made_up_for.snapshots, made_up_for.lacks_virtual_threads), (3, false));
        assert_eq!((made_up_for.threads[0].tid, made_up_for.earlier.len()), (9, 2));
        let too_few = of(&[false, false]);
        assert!(!too_few.lacks_virtual_threads && too_few.threads.is_empty());
    }
}
