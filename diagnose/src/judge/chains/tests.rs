use super::*;
use crate::evidence::Synchronizer;
use crate::frame::Frame;
use crate::locks::ThreadPool;

const LOCK: &str = "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)";
const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
const GET: &str = "java.base/java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)";
const TAKE: &str = "java.base/java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)";
const SERVER: &str = "jdk.httpserver/sun.net.httpserver.ServerImpl$Exchange.run(ServerImpl.java:1)";

fn thread(tid: u64, frames: &[&str]) -> Thread {
    let frames = frames.iter().map(|it| Frame::parse(it)).collect();
    Thread { tid, stood_still: true, frames, ..Thread::default() }
}

/// At a monitor, or at a lock where it has frames of one.
fn waiter(tid: u64, lock: &str, has: &str) -> Thread {
    Thread {
        state: Some("BLOCKED".to_owned()),
        waits_for: Some(lock.to_owned()),
        monitors: vec![has.to_owned()],
        ..thread(tid, &["shop.Orders.book(Orders.java:7)"])
    }
}

fn of(threads: Vec<Thread>) -> Evidence {
    Evidence { threads, has_locks: true, ..Evidence::default() }
}

fn all(evidence: &Evidence) -> Vec<Verdict> {
    let (circles, ends) = judge(evidence);
    [circles, ends].concat()
}

#[test]
fn a_circle_of_monitors_and_locks_is_found_once() {
    let locked = Thread { state: None, ..waiter(1, "B@2", "A@1") };
    let locked =
        Thread { frames: thread(1, &[PARK, LOCK, "shop.Orders.pay(Orders.java:9)"]).frames, ..locked };
    let mut both = of(vec![locked, waiter(2, "A@1", "")]);
    both.synchronizers
        .insert("B@2".into(), Synchronizer { owner: Some(2), value: 1, ..Synchronizer::default() });
    let found = all(&both);
    assert!(matches!(&found[..], [Verdict::Deadlock { links, owners_known: true, .. }] if links.len() == 2));
    both.threads[1].stood_still = false;
    assert_eq!(all(&both), [], "it moves");
}

#[test]
fn a_queue_behind_a_working_owner_is_no_circle() {
    let owner = Thread { waits_for: None, state: None, ..waiter(3, "", "A@1") };
    assert_eq!(all(&of(vec![waiter(1, "A@1", ""), waiter(2, "A@1", ""), owner])), []);
}

/// Each waits for the next: a walk per thread over a list would take 50,000 times 50,000 steps.
#[test]
fn fifty_thousand_threads_in_a_row_are_judged_and_a_circle_at_their_end_is_found() {
    let lock = |at: u64| format!("L@{at}");
    let row = (0..50_000).map(|at| waiter(at, &lock(at + 1), &lock(at))).collect();
    let mut evidence = of(row);
    assert_eq!(all(&evidence), []);
    evidence.threads[49_999].waits_for = Some(lock(49_998));
    let found = all(&evidence);
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 49_998, .. }] if links.len() == 2),
        "{} found",
        found.len()
    );
}

/// Each holds a monitor that the worker wants which computes its result; others wait in the queue of the pool.
fn lock_and_future(worker: Thread) -> Evidence {
    let request = |tid| Thread {
        waits_for: Some(format!("F@{tid}")),
        ..thread(tid, &[PARK, GET, "shop.Orders.book(Orders.java:7)", SERVER])
    };
    let holder = Thread { givers: vec![9], monitors: vec!["A@1".into()], ..request(1) };
    let queued = Thread { pool: Some("P@1".into()), ..request(2) };
    let mut evidence = of(vec![holder, queued, worker]);
    evidence.pools.insert("P@1".into(), ThreadPool { threads: vec![9], queued: 1, ..ThreadPool::default() });
    evidence
}

#[test]
fn a_circle_of_a_monitor_and_a_result_has_those_in_the_queue_behind_it() {
    let evidence = lock_and_future(waiter(9, "A@1", ""));
    let found = all(&evidence);
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 1, circles: 1, .. }] if links.len() == 2),
        "{found:?}"
    );
    let works = thread(9, &["shop.Json.write(Json.java:3)"]);
    assert_eq!(all(&lock_and_future(works)), [], "the result comes");
    let idle = thread(9, &[PARK, TAKE]);
    assert_eq!(all(&lock_and_future(idle)), [], "the next task is taken");
}

fn of_lock(owner: Option<Thread>, owner_ended: bool) -> Vec<Verdict> {
    let wait = Thread {
        waits_for: Some("java.util.concurrent.locks.ReentrantLock$NonfairSync@1".into()),
        ..thread(1, &[PARK, LOCK, "shop.Stock.reserve(Stock.java:9)"])
    };
    let lock =
        Synchronizer { owner: Some(9), owner_name: "job".into(), owner_ended, ..Synchronizer::default() };
    let mut evidence = of([wait].into_iter().chain(owner).collect());
    evidence.synchronizers.insert("java.util.concurrent.locks.ReentrantLock$NonfairSync@1".into(), lock);
    all(&evidence)
}

#[test]
fn an_owner_that_is_no_more_gives_nothing_back_and_one_that_is_in_no_dump_may() {
    let [Verdict::LockNotGivenBack { owner: LostOwner::Ended { id: 9, name }, waiters: 1, .. }] =
        &of_lock(None, true)[..]
    else {
        panic!("not found")
    };
    assert_eq!(name, "job");
    assert_eq!(of_lock(None, false), [], "not every thread is in a dump");
}

#[test]
fn an_owner_that_waits_for_other_work_has_forgotten_it_and_one_that_works_has_not() {
    let of = |frames: &[&str]| of_lock(Some(thread(9, frames)), false);
    let found = of(&[PARK, TAKE]);
    assert!(
        matches!(&found[..], [Verdict::LockNotGivenBack { owner: LostOwner::Idle(it), .. }] if it.id == 9),
        "{found:?}"
    );
    assert_eq!(of(&["shop.Json.write(Json.java:3)"]), []);
}

#[test]
fn a_latch_that_nobody_counts_is_a_dead_end_of_requests_and_not_of_other_threads() {
    const AWAIT: &str = "java.base/java.util.concurrent.CountDownLatch.await(CountDownLatch.java:1)";
    let waits = |below: &str| {
        let waits = thread(1, &[PARK, AWAIT, "shop.Orders.book(Orders.java:7)", below]);
        all(&of(vec![Thread { waits_for: Some("L@1".into()), ..waits }]))
    };
    assert!(matches!(&waits(SERVER)[..], [Verdict::DeadEnd { end: DeadEnd::Nobody { .. }, .. }]));
    assert_eq!(waits("shop.Main.main(Main.java:3)"), [], "until the JVM ends");
}

#[test]
fn an_event_loop_that_stands_in_the_application_may_have_to_give_what_requests_wait_for() {
    let request = Thread {
        waits_for: Some("F@1".into()),
        ..thread(1, &[PARK, GET, "shop.Web.user(Web.java:1)", SERVER])
    };
    let found = |frames: &[&str]| all(&of(vec![request.clone(), thread(2, frames)]));
    let others = |found: &[Verdict]| {
        let of_user = found.iter().find_map(|it| match it {
            Verdict::DeadEnd { at, end: DeadEnd::Nobody { others, .. }, .. } if at.line == Some(1) => {
                Some(others.len())
            }
            _ => None,
        });
        of_user.unwrap_or_else(|| panic!("{found:?}"))
    };
    const LOOP: &str = "io.netty.channel.nio.NioEventLoop.run(NioEventLoop.java:1)";
    assert_eq!(others(&found(&[PARK, GET, "shop.Web.profile(Web.java:9)", LOOP])), 1);
    assert_eq!(others(&found(&[PARK, TAKE])), 0, "idle");
}

/// Two loads of a cache need each other's entries; a third request waits for one of them.
fn loads(second: &[&str]) -> Evidence {
    const CACHE: &str = "com.google.common.cache.LocalCache$Segment.waitForLoadingValue(LocalCache.java:1)";
    const LOAD: &str = "com.google.common.cache.LocalCache$Segment.loadSync(LocalCache.java:2)";
    const AWAIT: &str = "com.google.common.util.concurrent.AbstractFuture.get(AbstractFuture.java:1)";
    let waits = |tid: u64, entry: u64, frames: &[&str]| Thread {
        waits_for: Some(format!("com.google.common.util.concurrent.SettableFuture@{entry}")),
        ..thread(tid, &[&[PARK, AWAIT, CACHE], frames].concat())
    };
    let loads = |tid, entry| {
        waits(tid, entry, &["shop.Rates.load(Rates.java:9)", LOAD, "shop.Web.rate(Web.java:4)", SERVER])
    };
    let behind = waits(3, 1, &["shop.Web.rate(Web.java:4)", SERVER]);
    let second = if second.is_empty() { loads(2, 1) } else { thread(2, &[second, &[LOAD, SERVER]].concat()) };
    of(vec![loads(1, 2), second, behind])
}

#[test]
fn loads_of_a_cache_that_need_each_other_are_a_circle_and_one_that_works_gives_its_entry() {
    let found = all(&loads(&[]));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 1, .. }] if links.len() == 2),
        "{found:?}"
    );
    let works = loads(&["shop.Json.read(Json.java:3)"]);
    assert_eq!(all(&works), [], "the entry comes");
}

/// To look through all threads for each result would take minutes.
#[test]
fn ten_thousand_threads_that_wait_for_a_result_each_are_judged() {
    const AWAIT: &str = "com.google.common.util.concurrent.AbstractFuture.get(AbstractFuture.java:1)";
    let of_result = |tid: u64| Thread {
        waits_for: Some(format!("com.google.common.util.concurrent.SettableFuture@{tid}")),
        ..thread(tid, &[PARK, AWAIT, "shop.Web.rate(Web.java:4)", SERVER])
    };
    let found = all(&of((0..10_000).map(of_result).collect()));
    assert!(matches!(&found[..], [Verdict::DeadEnd { waiters: 10_000, .. }]), "{} found", found.len());
}

/// A task closes the executor that runs it, and holds a monitor meanwhile.
#[test]
fn a_thread_that_waits_for_the_end_of_its_own_pool_waits_for_itself_and_one_of_another_pool_does_not() {
    const CLOSE: &str =
        "java.base/java.util.concurrent.ThreadPoolExecutor.awaitTermination(ThreadPoolExecutor.java:1)";
    let closes = |worker: u64| Thread {
        waits_for: Some("C@1".into()),
        givers: vec![worker],
        monitors: vec!["A@1".into()],
        ..thread(9, &[PARK, CLOSE, "shop.Store.reopen(Store.java:12)"])
    };
    let behind = |worker| {
        of(vec![waiter(1, "A@1", ""), closes(worker), thread(8, &["shop.Store.save(Store.java:3)"])])
    };
    let found = all(&behind(9));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 1, .. }]
            if links.len() == 1 && links[0].bond == crate::verdict::Bond::BelongsToIt),
        "{found:?}"
    );
    assert_eq!(all(&behind(8)), [], "a task of another pool ends");
}

/// A parallel stream in a static initialiser: a worker needs the class for its part of the stream.
#[test]
fn a_class_whose_initialiser_waits_for_a_worker_that_waits_for_the_class_is_a_circle() {
    const JOIN: &str = "java.base/java.util.concurrent.ForkJoinTask.awaitDone(ForkJoinTask.java:1)";
    const WORKER: &str =
        "java.base/java.util.concurrent.ForkJoinWorkerThread.run(ForkJoinWorkerThread.java:1)";
    const STREAM: &str = "java.base/java.util.stream.AbstractTask.compute(AbstractTask.java:1)";
    let begins =
        |tid, frames: &[&str]| Thread { class_to_begin: Some("shop.Rates".into()), ..thread(tid, frames) };
    let initialiser = thread(1, &[PARK, JOIN, "shop.Rates.<clinit>(Rates.java:9)", SERVER]);
    let behind = begins(2, &["shop.Web.rate(Web.java:4)", SERVER]);
    let found = all(&of(vec![initialiser.clone(), behind.clone(), begins(3, &[STREAM, WORKER])]));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 1, .. }] if links.len() == 2),
        "{found:?}"
    );
    let works = Thread { stood_still: false, ..thread(3, &["shop.Csv.parse(Csv.java:2)", STREAM, WORKER]) };
    assert_eq!(all(&of(vec![initialiser, behind, works])), [], "its part is computed");
}

/// A layout of the log that logs, on the only thread that empties the queue.
#[test]
fn the_only_thread_that_empties_a_queue_and_waits_for_room_in_it_waits_for_itself() {
    const PUT: &str = "java.base/java.util.concurrent.ArrayBlockingQueue.put(ArrayBlockingQueue.java:1)";
    const APPEND: &str = "ch.qos.logback.core.AsyncAppenderBase.put(AsyncAppenderBase.java:1)";
    const EMPTIES: &str = "ch.qos.logback.core.AsyncAppenderBase$Worker.run(AsyncAppenderBase.java:2)";
    let logs = |tid, called: &[&str]| Thread {
        waits_for: Some("Q@1".into()),
        ..thread(tid, &[&[PARK, PUT, APPEND], called].concat())
    };
    let request = |tid| logs(tid, &["shop.Web.pay(Web.java:4)", SERVER]);
    let worker = logs(9, &["shop.Masking.append(Masking.java:11)", EMPTIES]);
    let found = all(&of(vec![request(1), request(2), worker]));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 2, .. }] if links.len() == 1),
        "{found:?}"
    );
}
