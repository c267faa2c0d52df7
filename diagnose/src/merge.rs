//! Merges snapshots, locks and CPU times into one list of threads.

use super::evidence::{SNAPSHOTS, Synchronizer, Thread};
use super::locks::{LockSnapshot, LockWait};
use super::run_time::RunTime;
use super::thread_dump::DumpedThread;
use super::thread_print::{PrintedCircle, PrintedThread};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The part of a carrier's name between its pool and its number.
const CARRIER: &str = "-worker-";

/// The threads of one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Time since the beginning.
    pub at: Duration,
    /// Whether it includes virtual threads.
    pub is_whole: bool,
    /// Whether the JVM failed to dump the virtual threads.
    pub dump_failed: bool,
    pub printed: Vec<PrintedThread>,
    pub dumped: Vec<DumpedThread>,
    /// The circles that the JVM found itself.
    pub circles: Vec<PrintedCircle>,
    /// The text of `Thread.print` and that of the dump of all threads.
    pub texts: (String, String),
}

/// The kernel's counts of one thread between two dumps.
struct Clock {
    runnable: f64,
    on_cpu: f64,
    /// Number of waits since the first dump.
    waits: u64,
    waits_per_second: f64,
}

/// The kernel's counts for the threads of a process, by the id that the process sees.
pub(super) struct Clocks {
    by_id: HashMap<u32, Clock>,
    seconds: f64,
}

impl Clocks {
    pub fn of(
        before: &HashMap<u32, RunTime>,
        since_dump: &HashMap<u32, RunTime>,
        after: &HashMap<u32, RunTime>,
        seconds: f64,
    ) -> Self {
        let clock = |id: &u32, now: &RunTime| {
            let then = before.get(id).copied().unwrap_or_default();
            let ran = now.on_cpu_ns.saturating_sub(then.on_cpu_ns) as f64 / 1e9 / seconds;
            let queued = now.queued_ns.saturating_sub(then.queued_ns) as f64 / 1e9 / seconds;
            let waits = since_dump.get(id).map_or(0, |it| now.waits.saturating_sub(it.waits));
            let waits_per_second = now.waits.saturating_sub(then.waits) as f64 / seconds;
            Clock { runnable: ran + queued, on_cpu: ran, waits, waits_per_second }
        };
        Self { by_id: after.iter().map(|(id, now)| (*id, clock(id, now))).collect(), seconds }
    }

    /// Cores that the whole process used.
    pub fn cores_used(&self) -> f64 {
        self.by_id.values().map(|clock| clock.on_cpu).sum()
    }

    fn of_thread(&self, thread: &PrintedThread) -> Option<&Clock> {
        self.by_id.get(&thread.os_id?)
    }

    /// Whether the thread ran in between. One that stands still never wakes up; before Java 24, one at a monitor checks it once a second.
    fn went_on(&self, thread: &PrintedThread, is_blocked: bool) -> bool {
        let most = if is_blocked { 3.0 + 2.0 * self.seconds } else { 1.0 };
        self.of_thread(thread).is_some_and(|clock| clock.waits as f64 > most)
    }
}

pub(super) fn merge(
    snapshots: &[&Snapshot],
    locks: &[&LockSnapshot],
    clocks: &Clocks,
) -> (Vec<Thread>, HashMap<String, Synchronizer>) {
    let Some(last) = snapshots.last() else { return (Vec::new(), HashMap::new()) };
    let printed: HashMap<u64, &PrintedThread> = last.printed.iter().map(|it| (it.tid, it)).collect();
    let waits = waits(locks);
    let served = served(locks);
    let stacks: Vec<HashMap<u64, &DumpedThread>> =
        snapshots.iter().map(|it| it.dumped.iter().map(|thread| (thread.tid, thread)).collect()).collect();
    let carriers = carriers(&snapshots.iter().map(|it| it.printed.as_slice()).collect::<Vec<_>>());
    let mounted: HashSet<u64> = last.printed.iter().filter_map(|it| it.carries).collect();
    let pools: HashSet<&str> = last.printed.iter().filter_map(pool_of_carrier).collect();
    // Carriers without a thread at the moment of a dump are known from the probe.
    let is_probed_carrier = |tid: u64| locks.iter().any(|it| it.carriers.contains(&tid));
    let mut by_scope: HashMap<u64, Vec<u64>> = HashMap::new();
    for it in &last.dumped {
        it.scope_owner.into_iter().for_each(|owner| by_scope.entry(owner).or_default().push(it.tid));
    }
    let of_scope = |it: &DumpedThread| {
        let waits_for_all = it.frames.iter().any(|frame| frame.is("ThreadFlock.awaitAll"));
        by_scope.get(&it.tid).filter(|_| waits_for_all).into_iter().flatten().copied()
    };
    let thread = |dumped: &DumpedThread| {
        let platform = printed.get(&dumped.tid);
        let clock = platform.and_then(|it| clocks.of_thread(it));
        let wait = waits.get(&dumped.tid);
        let carrier = carriers.get(&dumped.tid).copied();
        let state = dumped.state.clone().or_else(|| platform.and_then(|it| it.state.clone()));
        let state = state.or_else(|| wait.map(|it| it.state.clone()));
        let monitors = if dumped.monitors.is_empty() { platform.map(|it| it.locked.clone()) } else { None };
        let monitor = dumped.blocked_on.clone().or_else(|| platform.and_then(|it| it.waits_to_lock.clone()));
        // A pinned virtual thread runs whenever its carrier does.
        let kernel_thread = platform.or_else(|| printed.get(&carrier?));
        let is_blocked = state.as_deref() == Some("BLOCKED");
        Thread {
            tid: dumped.tid,
            name: dumped.name.clone(),
            is_virtual: platform.is_none(),
            frames: dumped.frames.clone(),
            stood_still: stacks.len() >= SNAPSHOTS
                && stacks.iter().all(|it| it.get(&dumped.tid).is_some_and(|it| it.frames == dumped.frames)),
            went_on: served.contains(&dumped.tid)
                || kernel_thread.is_some_and(|it| clocks.went_on(it, is_blocked)),
            carrier,
            is_mounted: mounted.contains(&dumped.tid),
            is_carrier: is_probed_carrier(dumped.tid)
                || platform.is_some_and(|it| pools.iter().any(|pool| is_of(pool, &it.name))),
            state,
            waits_for: wait
                .filter(|it| is_blocked && !it.givers.is_empty())
                .and_then(|it| it.lock.clone())
                .or(monitor)
                .or_else(|| wait.and_then(|it| it.lock.clone()))
                .or_else(|| dumped.parked_for.clone()),
            givers: wait
                .map(|it| it.givers.clone())
                .unwrap_or_default()
                .into_iter()
                .chain(of_scope(dumped))
                .collect(),
            pool: wait.and_then(|it| it.pool.clone().or_else(|| kept_in(it).find(|it| it.contains('@')))),
            users: wait.map(|it| it.users.clone()).unwrap_or_default(),
            kept_in: wait.into_iter().flat_map(|it| kept_in(it)).filter(|it| !it.contains('@')).collect(),
            served_by: wait.and_then(|it| it.served_by),
            served_in: wait.and_then(|it| it.served_in.clone()),
            class_to_begin: platform.and_then(|it| it.class_to_begin.clone()),
            writes_to: None,
            monitors: monitors.unwrap_or_else(|| dumped.monitors.clone()),
            peer: locks.iter().rev().find_map(|it| it.peers.get(&dumped.tid).cloned()),
            runnable_share: kernel_thread.and_then(|it| clocks.of_thread(it)).map(|it| it.runnable),
            cpu_share: clock.map(|it| it.on_cpu),
            waits_per_second: clock.map_or(0.0, |it| it.waits_per_second),
            left: wait.and_then(|it| it.left_ms).map(Duration::from_millis),
            busy_child: None,
        }
    };
    (last.dumped.iter().map(thread).collect(), synchronizers(locks))
}

/// The fields and pools that lead to what a thread waits for; the name of a pool contains an `@`.
fn kept_in(wait: &LockWait) -> impl Iterator<Item = String> {
    wait.kept_in.split(' ').filter(|it| !it.is_empty()).map(str::to_owned)
}

/// The waits in the last snapshot, by thread.
fn waits<'a>(locks: &[&'a LockSnapshot]) -> HashMap<u64, &'a LockWait> {
    locks.last().map(|it| it.waits.iter().map(|wait| (wait.tid, wait)).collect()).unwrap_or_default()
}

/// The threads that stand anew in the queue of a synchronizer: they were served between two snapshots.
fn served(locks: &[&LockSnapshot]) -> HashSet<u64> {
    let mut first: HashMap<u64, &LockWait> = HashMap::new();
    let mut served = HashSet::new();
    for wait in locks.iter().flat_map(|it| &it.waits).filter(|wait| wait.wait != 0) {
        let before = first.entry(wait.tid).or_insert(wait);
        if before.lock != wait.lock || before.wait != wait.wait {
            served.insert(wait.tid);
        }
    }
    served
}

fn synchronizers(locks: &[&LockSnapshot]) -> HashMap<String, Synchronizer> {
    let mut all: HashMap<String, Synchronizer> = HashMap::new();
    for wait in locks.iter().flat_map(|it| &it.waits) {
        let Some(lock) = &wait.lock else { continue };
        let known = all.entry(lock.clone()).or_default();
        known.owner = u64::try_from(wait.owner).ok();
        known.owner_name = wait.owner_name.clone().unwrap_or_default();
        known.owner_ended = wait.owner_ended;
        known.value = known.value.max(wait.value);
        known.has_queue |= wait.wait != 0;
    }
    all
}

/// The carrier that had a virtual thread in each snapshot, by virtual thread. A carrier that sets a timer for its thread says for a moment
/// that it carries itself; this is ignored.
fn carriers(printed: &[&[PrintedThread]]) -> HashMap<u64, u64> {
    let mut by_carrier: HashMap<u64, Vec<Option<u64>>> = HashMap::new();
    for thread in printed.iter().copied().flatten() {
        by_carrier.entry(thread.tid).or_default().push(thread.carries);
    }
    let carried = by_carrier.into_iter().filter_map(|(carrier, carried)| {
        let in_all = carried.len() == printed.len();
        let all: Option<HashSet<u64>> = carried.into_iter().collect();
        let known: Vec<u64> = all?.into_iter().filter(|thread| *thread != carrier).collect();
        let [thread] = known[..] else { return None };
        in_all.then_some((thread, carrier))
    });
    carried.collect()
}

/// The pool of a carrier: `ForkJoinPool-1`. Its number depends on the pools that the program made before.
fn pool_of_carrier(thread: &PrintedThread) -> Option<&str> {
    thread.carries?;
    thread.name.rsplit_once(CARRIER).map(|(pool, _)| pool)
}

fn is_of(pool: &str, name: &str) -> bool {
    name.rsplit_once(CARRIER).is_some_and(|(its, number)| its == pool && number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(waits: &[(u64, i64)]) -> LockSnapshot {
        let wait = |&(tid, wait): &(u64, i64)| LockWait {
            tid,
            lock: Some("Semaphore@1".into()),
            wait,
            ..LockWait::default()
        };
        LockSnapshot { waits: waits.iter().map(wait).collect(), ..LockSnapshot::default() }
    }

    #[test]
    fn who_waits_anew_was_served_and_who_waits_on_was_not() {
        let both = [snapshot(&[(1, 70), (2, 71), (3, 0)]), snapshot(&[(1, 70), (2, 80), (3, 0), (4, 90)])];
        assert_eq!(served(&[&both[0], &both[1]]), HashSet::from([2]));
        assert_eq!(served(&[&both[0]]), HashSet::new());
    }

    #[test]
    fn an_owner_that_waits_for_its_scope_waits_for_each_thread_of_it() {
        let dumped = |tid, frame: &str, scope_owner| DumpedThread {
            tid,
            frames: vec![crate::frame::Frame::parse(frame)],
            scope_owner,
            ..DumpedThread::default()
        };
        const JOINS: &str = "java.base/jdk.internal.misc.ThreadFlock.awaitAll(ThreadFlock.java:1)";
        let givers = |owner_in: &str| {
            let dumped = vec![
                dumped(1, owner_in, None),
                dumped(2, "shop.Audit.run(Audit.java:3)", Some(1)),
                dumped(3, "shop.Audit.run(Audit.java:3)", Some(9)),
            ];
            let snapshot = Snapshot { dumped, ..Snapshot::default() };
            let none = Clocks::of(&HashMap::new(), &HashMap::new(), &HashMap::new(), 1.0);
            merge(&[&snapshot], &[], &none).0[0].givers.clone()
        };
        assert_eq!(givers(JOINS), [2]);
        assert_eq!(givers("shop.Audit.all(Audit.java:9)"), [0; 0], "it works meanwhile");
    }

    #[test]
    fn permits_that_were_there_at_one_of_two_moments_were_given_back() {
        let mut both = [snapshot(&[(1, 70)]), snapshot(&[(1, 70)])];
        both[0].waits[0].value = 2;
        assert_eq!(synchronizers(&[&both[0], &both[1]])["Semaphore@1"].value, 2);
    }

    #[test]
    fn a_carrier_has_had_a_thread_all_the_time_also_where_it_said_once_that_it_carries_itself() {
        let carrier = |tid, carries| PrintedThread { tid, carries, ..PrintedThread::default() };
        let [first, second, third] = [
            [carrier(31, Some(48)), carrier(32, Some(49)), carrier(33, Some(50))],
            [carrier(31, Some(48)), carrier(32, Some(32)), carrier(33, Some(51))],
            [carrier(31, Some(48)), carrier(32, Some(49)), carrier(33, None)],
        ];
        let all: [&[PrintedThread]; 3] = [&first, &second, &third];
        assert_eq!(carriers(&all), HashMap::from([(48, 31), (49, 32)]));
    }

    #[test]
    fn a_thread_that_wakes_up_went_on_and_one_at_a_monitor_may_look_after_it() {
        let time = |waits: u64| HashMap::from([(7, RunTime { waits, ..RunTime::default() })]);
        let clocks = |waits: u64| Clocks::of(&time(0), &time(10), &time(10 + waits), 3.0);
        let thread = PrintedThread { os_id: Some(7), ..PrintedThread::default() };
        assert!(!clocks(0).went_on(&thread, false) && clocks(5).went_on(&thread, false));
        assert!(!clocks(5).went_on(&thread, true) && clocks(50).went_on(&thread, true));
    }
}
