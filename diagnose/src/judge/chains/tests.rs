use super::*;
use crate::evidence::Synchronizer;
use crate::frame::Frame;
use crate::locks::ThreadPool;
use crate::server_use::ServerUse;
use crate::verdict::Bond;

const LOCK: &str = "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)";
const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
const GET: &str = "java.base/java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)";
const TAKE: &str = "java.base/java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)";
const SERVER: &str = "jdk.httpserver/sun.net.httpserver.ServerImpl$Exchange.run(ServerImpl.java:1)";

fn thread(tid: u64, frames: &[&str]) -> Thread {
    let frames = frames.iter().map(|it| Frame::parse(it)).collect();
    Thread { tid, stood_still: true, frames, ..Thread::default() }
}

/// A thread that is blocked at `lock` and owns `has`.
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

/// Each thread waits for the next one. Following the list anew for each thread would take 50,000 times 50,000 steps.
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

/// Each request holds a monitor that the worker wants which computes its result; other results wait in the queue of the pool.
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

/// Two threads load entries of a cache and need each other's entry; a third request waits for one of these entries.
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

/// Searching all threads for each result would take minutes.
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

/// A layout of the log that itself logs, on the only thread that empties the log's queue.
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

/// The worker's task is a method of another class, so only the kind of the task shows that the worker completes the result.
#[test]
fn a_result_is_completed_by_threads_in_such_tasks_and_one_that_works_completes_it() {
    const JOIN: &str =
        "java.base/java.util.concurrent.CompletableFuture.waitingGet(CompletableFuture.java:1)";
    const TASK: &str =
        "java.base/java.util.concurrent.CompletableFuture$AsyncSupply.run(CompletableFuture.java:1)";
    let request = Thread {
        waits_for: Some("S@1".into()),
        monitors: vec!["A@1".into()],
        ..thread(1, &[PARK, JOIN, "shop.Orders.page(Orders.java:7)", SERVER])
    };
    let task = waiter(9, "A@1", "");
    let blocked = Thread { frames: thread(9, &["shop.Rows.load(Rows.java:2)", TASK]).frames, ..task };
    let found = all(&of(vec![request.clone(), blocked]));
    assert!(matches!(&found[..], [Verdict::Deadlock { links, .. }] if links.len() == 2), "{found:?}");
    assert_eq!(all(&of(vec![request, thread(9, &["shop.Rows.load(Rows.java:2)", TASK])])), []);
}

#[test]
fn a_task_of_a_serial_executor_waits_for_itself_where_what_it_waits_for_is_in_its_queue() {
    const AWAIT: &str = "java.base/java.util.concurrent.CountDownLatch.await(CountDownLatch.java:1)";
    const RUN: &str =
        "com.google.common.util.concurrent.SequentialExecutor.workOnQueue(SequentialExecutor.java:1)";
    let waits = |queue: &str| Thread {
        waits_for: Some("L@1".into()),
        kept_in: vec![queue.to_owned()],
        ..thread(9, &[PARK, AWAIT, "shop.Stream.next(Stream.java:7)", RUN, SERVER])
    };
    let found = all(&of(vec![waits("com.google.common.util.concurrent.SequentialExecutor.queue")]));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, .. }]
            if matches!(&links[0].bond, crate::verdict::Bond::Kept { .. })),
        "{found:?}"
    );
    let found = all(&of(vec![waits("shop.Other.waiting")]));
    assert!(matches!(&found[..], [Verdict::DeadEnd { end: DeadEnd::Nobody { .. }, .. }]), "{found:?}");
}

/// A loop of the application serves a queue that requests fill with code of the same class.
#[test]
fn a_loop_is_waited_for_by_those_in_its_queue_and_by_the_one_whose_task_it_has_taken() {
    const LOCKS: &str = "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)";
    let request = |tid: u64, kept_in: &[&str]| Thread {
        waits_for: Some(format!("F@{tid}")),
        kept_in: kept_in.iter().map(|it| (*it).to_owned()).collect(),
        ..thread(
            tid,
            &[PARK, GET, "shop.Orders.place(Orders.java:7)", "shop.Orders.run(Orders.java:3)", SERVER],
        )
    };
    let queued = || (2..5).map(|tid| request(tid, &["shop.Orders.waiting"]));
    let without_loop = all(&of(queued().collect()));
    assert!(matches!(&without_loop[..], [Verdict::DeadEnd { waiters: 3, .. }]), "{without_loop:?}");
    let serves = Thread {
        waits_for: Some("L@1".into()),
        ..thread(9, &[PARK, LOCKS, "shop.Orders.serve(Orders.java:9)"])
    };
    let mut with_loop = of(queued().chain([request(1, &[]), serves]).collect());
    with_loop
        .synchronizers
        .insert("L@1".into(), Synchronizer { owner: Some(1), value: 1, ..Synchronizer::default() });
    let found = all(&with_loop);
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 3, .. }] if links.len() == 2),
        "{found:?}"
    );
    with_loop.threads[4].stood_still = false;
    assert_eq!(all(&with_loop), [], "it serves them");
}

/// Requests whose results are kept in a queue of `shop.Orders`; `below` is the frame that has called the application.
fn queued_orders(below: &str) -> impl Iterator<Item = Thread> {
    (1..4).map(move |tid| Thread {
        waits_for: Some(format!("F@{tid}")),
        kept_in: vec!["shop.Orders.waiting".into()],
        ..thread(tid, &[PARK, GET, "shop.Orders.place(Orders.java:7)", below])
    })
}

#[test]
fn a_loop_that_computes_serves_the_queue_of_a_server_that_we_do_not_know() {
    const RUN: &str = "java.base/java.lang.Thread.run(Thread.java:1)";
    let with = |loops: Option<Thread>| {
        let server = ServerUse { unanswered: 3, answered: Some(0), ..Default::default() };
        all(&Evidence { server: Some(server), ..of(queued_orders(RUN).chain(loops).collect()) })
    };
    let without_loop = with(None);
    assert!(matches!(&without_loop[..], [Verdict::DeadEnd { waiters: 3, .. }]), "{without_loop:?}");
    let computes = thread(9, &["shop.Orders.serve(Orders.java:20)", RUN]);
    let computes = Thread { stood_still: false, runnable_share: Some(0.9), ..computes };
    assert_eq!(with(Some(computes.clone())), [], "the next one comes");
    let elsewhere = Thread { frames: thread(9, &["shop.Rows.load(Rows.java:2)", RUN]).frames, ..computes };
    assert_eq!(with(Some(elsewhere)), [], "it may be the one");
    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    let stuck = with(Some(thread(9, &[READ, "shop.Orders.serve(Orders.java:20)", RUN])));
    assert!(
        matches!(&stuck[..], [Verdict::DeadEnd { waiters: 3, end: DeadEnd::Outside { .. }, .. }]),
        "{stuck:?}"
    );
}

#[test]
fn a_request_that_empties_the_queue_itself_gives_what_the_others_wait_for() {
    let with = |drains: Thread| all(&of(queued_orders(SERVER).chain([drains]).collect()));
    let drains =
        thread(9, &["shop.Orders.drain(Orders.java:20)", "shop.Orders.place(Orders.java:5)", SERVER]);
    assert_eq!(with(Thread { runnable_share: Some(0.9), ..drains.clone() }), []);
    let blocked = Thread { frames: drains.frames, ..waiter(9, "A@1", "") };
    let monitor = Thread { monitors: vec!["A@1".into()], ..queued_orders(SERVER).next().unwrap() };
    let mut circle = of(queued_orders(SERVER).skip(1).chain([monitor, blocked]).collect());
    let found = all(&circle);
    assert!(matches!(&found[..], [Verdict::Deadlock { behind: 2, .. }]), "{found:?}");
    circle.threads.pop();
    let found = all(&circle);
    assert!(matches!(&found[..], [Verdict::DeadEnd { end: DeadEnd::Nobody { .. }, .. }]), "{found:?}");
}

#[test]
fn two_writers_of_a_pipe_wait_for_its_reader_and_not_for_each_other() {
    const ROOM: &str = "java.base/java.io.PipedInputStream.awaitSpace(PipedInputStream.java:1)";
    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    let writes = |tid| Thread {
        waits_for: Some("java.io.PipedInputStream@1".into()),
        givers: vec![9],
        ..thread(tid, &[WAIT, ROOM, "shop.Rows.write(Rows.java:4)", SERVER])
    };
    let reader = thread(9, &[READ, "shop.Rows.send(Rows.java:8)"]);
    let found = all(&of(vec![writes(1), writes(2), reader]));
    assert!(
        matches!(&found[..], [Verdict::DeadEnd { waiters: 2, end: DeadEnd::Outside { .. }, .. }]),
        "{found:?}"
    );
}

/// The only thread that empties a library's ring wants room in it; both look for it again and again.
#[test]
fn a_ring_of_a_library_is_emptied_by_the_thread_that_the_library_began() {
    const NEXT: &str = "com.lmax.disruptor.MultiProducerSequencer.next(MultiProducerSequencer.java:1)";
    const RUN: &str = "com.lmax.disruptor.BatchEventProcessor.run(BatchEventProcessor.java:1)";
    const PARK_NANOS: &str = "java.base/java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:1)";
    let publishes = |tid, below: &[&str]| Thread {
        went_on: true,
        ..thread(tid, &[&[PARK, PARK_NANOS, NEXT, "shop.Log.publish(Log.java:7)"], below].concat())
    };
    let with = |answered| {
        let server = ServerUse { unanswered: 2, answered: Some(answered), ..Default::default() };
        let threads = vec![
            publishes(1, &[SERVER]),
            publishes(2, &[SERVER]),
            publishes(9, &["shop.Log.handle(Log.java:9)", RUN]),
        ];
        all(&Evidence { server: Some(server), ..of(threads) })
    };
    let found = with(0);
    assert!(matches!(&found[..], [Verdict::Deadlock { behind: 2, .. }]), "{found:?}");
    assert_eq!(with(1), [], "the ring moves");
}

#[test]
fn the_main_thread_of_a_server_that_is_not_ready_waits_in_vain_unless_another_one_may_let_it_go_on() {
    const AWAIT: &str = "java.base/java.util.concurrent.CountDownLatch.await(CountDownLatch.java:1)";
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:1)";
    let main = || Thread {
        waits_for: Some("L@1".into()),
        ..thread(1, &[PARK, AWAIT, "shop.Main.main(Main.java:3)"])
    };
    let starting = |threads| all(&Evidence { is_starting: true, ..of(threads) });
    let found = starting(vec![main(), thread(2, &[PARK, TAKE])]);
    assert!(matches!(&found[..], [Verdict::DeadEnd { waiters: 1, .. }]), "{found:?}");
    assert_eq!(starting(vec![main(), thread(2, &[SLEEP, "shop.Loader.load(Loader.java:5)"])]), []);
    assert_eq!(all(&of(vec![main()])), [], "until the JVM ends");
}

/// A handler of rejected tasks waits for room, on threads of the same pool.
#[test]
fn threads_that_empty_a_queue_by_what_the_probe_names_wait_for_themselves_where_they_want_room_in_it() {
    const PUT: &str = "java.base/java.util.concurrent.ArrayBlockingQueue.put(ArrayBlockingQueue.java:1)";
    let puts = |tid, givers: &[u64], below: &str| Thread {
        waits_for: Some("Q@1".into()),
        givers: givers.to_vec(),
        ..thread(tid, &[PARK, PUT, "shop.Blocking.rejected(Blocking.java:3)", below])
    };
    let worker = || puts(9, &[9], "shop.Stages.first(Stages.java:7)");
    let request = || puts(1, &[9], SERVER);
    let found = all(&of(vec![request(), worker()]));
    assert!(
        matches!(&found[..], [Verdict::Deadlock { links, behind: 1, .. }] if links.len() == 1),
        "{found:?}"
    );
    assert_eq!(all(&of(vec![request(), thread(9, &[PARK, TAKE])])), [], "it is idle");
}

const WAIT: &str = "java.base/java.lang.Object.wait0(Native Method)";
const COMPLETE: &str = "java.base/java.util.concurrent.CompletableFuture.complete(CompletableFuture.java:1)";
const CALLED_BACK: [&str; 5] =
    [PARK, GET, "shop.Web.lambda$user$0(Web.java:8)", COMPLETE, "shop.Client.run(Client.java:5)"];

/// Two requests and an event loop wait for results that only the work of thread `server` leads to.
fn served_by(server: u64, event_loop: &[&str]) -> Evidence {
    let waits = |tid, frames: &[&str]| Thread {
        waits_for: Some(format!("F@{tid}")),
        served_by: Some(server),
        served_in: Some("shop.Client.pending".into()),
        ..thread(tid, frames)
    };
    let request = |tid| waits(tid, &[PARK, GET, "shop.Web.user(Web.java:7)", SERVER]);
    of(vec![request(1), request(2), waits(9, event_loop)])
}

#[test]
fn an_event_loop_that_was_called_back_waits_for_what_only_its_own_work_leads_to() {
    let found = all(&served_by(9, &CALLED_BACK));
    let [Verdict::Deadlock { links, circles: 1, behind: 2, .. }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(links[0].bond, Bond::Kept { field: "shop.Client.pending".into() });
    let by_library = [
        PARK,
        GET,
        "shop.Web.orders(Web.java:8)",
        COMPLETE,
        "io.netty.channel.nio.NioEventLoop.run(N.java:5)",
    ];
    assert!(matches!(&all(&served_by(9, &by_library))[..], [Verdict::Deadlock { behind: 2, .. }]));
}

#[test]
fn a_loop_waits_for_no_result_of_itself_that_another_one_or_another_machine_gives() {
    let is_silent =
        |evidence: &Evidence| !all(evidence).iter().any(|it| matches!(it, Verdict::Deadlock { .. }));
    let of_own_code = [PARK, GET, "shop.Feed.next(Feed.java:8)", "shop.Feed.run(Feed.java:5)"];
    assert!(is_silent(&served_by(9, &of_own_code)), "it has called nothing");
    let mut of_other = served_by(8, &CALLED_BACK);
    of_other.threads.push(thread(
        8,
        &["java.base/sun.nio.ch.SelectorImpl.select(S.java:1)", "shop.Client.run(C.java:4)"],
    ));
    assert!(is_silent(&of_other));
    let mut owed = served_by(9, &CALLED_BACK);
    owed.server = Some(ServerUse { waits_for: vec!["10.0.0.9:6379".into()], ..ServerUse::default() });
    assert!(is_silent(&owed));
}

/// Each thread waits for an element of a queue of the program itself, and its work refers to the lock of the other's queue.
#[test]
fn two_stages_without_work_are_no_circle_though_each_refers_to_the_queue_of_the_other() {
    const AWAIT: &str =
        "java.base/java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(A.java:1)";
    let idle = |tid: u64, condition: &str| Thread {
        waits_for: Some(condition.into()),
        users: vec![17 - tid],
        ..thread(tid, &[PARK, AWAIT, "shop.Bounded.take(Bounded.java:9)", "shop.Stage.run(Stage.java:5)"])
    };
    assert_eq!(all(&of(vec![idle(8, "Condition@1"), idle(9, "Condition@2")])), []);
}
