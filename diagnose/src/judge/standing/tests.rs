use super::*;
use crate::evidence::Synchronizer;
use crate::locks::ThreadPool;
use crate::verdict::BusyChild;

const SERVER: &str = "jdk.httpserver/com.sun.net.httpserver.Filter$Chain.doFilter(Filter.java:95)";
const WAIT: &str = "java.base/java.lang.Object.wait0(Native Method)";

/// A request of a server that Threadcount recognises, in this code of the JDK; it woke up in between.
fn again(tid: u64, of_jdk: &[&str], line: u32) -> Thread {
    let own = format!("shop.Orders.send(Orders.java:{line})");
    let frames = of_jdk.iter().copied().chain([own.as_str(), "shop.Orders.handle(Orders.java:3)", SERVER]);
    let frames = frames.map(Frame::parse).collect();
    let state = Some("TIMED_WAITING".to_owned());
    Thread { tid, frames, state, stood_still: true, went_on: true, ..Thread::default() }
}

/// Evidence of a server with these threads, so many unanswered requests and so many answered meanwhile.
fn evidence_of(threads: Vec<Thread>, unanswered: usize, answered: usize) -> Evidence {
    let server = ServerUse { unanswered, answered: Some(answered), ..ServerUse::default() };
    Evidence { threads, knows_server: true, server: Some(server), ..Evidence::default() }
}

#[test]
fn requests_that_wait_a_second_each_time_are_long_polls_and_never_idle() {
    let poll = || vec![again(1, &[WAIT], 7)];
    let waits = judge(&evidence_of(poll(), 0, 0));
    assert!(matches!(&waits, Some(Verdict::Waiting { requests: 1, .. })), "{waits:?}");
    assert_eq!(judge(&evidence_of(poll(), 0, 1)), None, "one after the other");
}

#[test]
fn requests_that_stand_for_a_lock_name_its_owner_and_what_the_owner_does() {
    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const LOCK: &str = "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)";
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:509)";
    let lock = "ReentrantLock$NonfairSync@1";
    let waits = Thread {
        waits_for: Some(lock.into()),
        state: Some("WAITING".into()),
        went_on: false,
        ..again(1, &[PARK, LOCK], 7)
    };
    let frames = [SLEEP, "shop.Rates.load(Rates.java:4)"].map(Frame::parse).to_vec();
    let owner = Thread { tid: 9, frames, stood_still: true, ..Thread::default() };
    let mut evidence = evidence_of(vec![waits, owner], 1, 0);
    let owned = Synchronizer { owner: Some(9), ..Synchronizer::default() };
    evidence.synchronizers.insert(lock.into(), owned);
    let Some(Verdict::RequestsStand { groups, .. }) = judge(&evidence) else { panic!("not found") };
    let named = groups[0].owner.as_ref().unwrap();
    assert_eq!((named.thread.thread.id, named.what.as_deref()), (9, Some("sleeping")));
    evidence.synchronizers.clear();
    let Some(Verdict::RequestsStand { groups, .. }) = judge(&evidence) else { panic!("not found") };
    assert_eq!(groups[0].owner, None, "the JVM does not name it");
}

#[test]
fn requests_that_sleep_again_and_again_stand_and_those_that_sleep_once_wait() {
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:509)";
    let of_one = |thread: Thread, others: Vec<Thread>| {
        let found = judge(&evidence_of([vec![thread], others].concat(), 1, 0));
        found.map(|it| matches!(it, Verdict::RequestsStand { .. }))
    };
    let once = || Thread { went_on: false, ..again(1, &[SLEEP], 7) };
    assert_eq!(of_one(again(1, &[SLEEP], 7), vec![]), Some(true));
    assert_eq!(of_one(once(), vec![]), Some(false));
    let carrier = |went_on| Thread { tid: 8, is_carrier: true, went_on, ..Thread::default() };
    let on_virtual = || Thread { is_virtual: true, ..once() };
    assert_eq!(of_one(on_virtual(), vec![carrier(true)]), Some(true));
    assert_eq!(of_one(on_virtual(), vec![carrier(false)]), Some(false));
    let moves = Thread { tid: 9, stood_still: false, ..on_virtual() };
    assert_eq!(of_one(on_virtual(), vec![carrier(true), moves]), Some(false), "the other one has had it");
    let other_sleep = Thread { tid: 9, is_virtual: true, ..again(9, &[SLEEP], 8) };
    let beside_other = evidence_of(vec![carrier(true), other_sleep], 1, 0);
    assert!(!polls(&beside_other, &on_virtual()), "the other one may have run");
    let alike = Thread { tid: 9, ..on_virtual() };
    assert_eq!(of_one(on_virtual(), vec![carrier(true), alike]), Some(true));
    let worker = Frame::parse("java.base/java.util.concurrent.ForkJoinWorkerThread.run(F.java:1)");
    let common = Thread { is_carrier: false, frames: vec![worker], ..carrier(true) };
    assert_eq!(of_one(on_virtual(), vec![common]), Some(false), "a worker of another pool");
}

#[test]
fn a_stream_of_events_that_sleeps_between_them_waits_where_nothing_is_asked_or_others_are_answered() {
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:509)";
    let of_sleeper =
        |unanswered, answered| judge(&evidence_of(vec![again(1, &[SLEEP], 7)], unanswered, answered));
    for (unanswered, answered) in [(0, 0), (1, 5)] {
        let found = of_sleeper(unanswered, answered);
        assert!(matches!(&found, Some(Verdict::Waiting { requests: 1, .. })), "{found:?}");
    }
    let stands = of_sleeper(1, 0);
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
    assert_eq!(of_sleeper(0, 5), None, "each is answered");
}

#[test]
fn requests_in_the_queue_of_a_pool_that_goes_on_have_their_turn_later_while_others_are_answered() {
    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const GET: &str = "java.base/java.util.concurrent.FutureTask.awaitDone(FutureTask.java:1)";
    let request = Thread {
        pool: Some("P@1".into()),
        waits_for: Some("F@1".into()),
        went_on: false,
        ..again(1, &[PARK, GET], 7)
    };
    let worker = |stood_still| Thread {
        tid: 2,
        stood_still,
        frames: vec![Frame::parse("shop.Index.write(Index.java:9)")],
        ..Thread::default()
    };
    let of_pool = |worker: Thread, answered| {
        let mut evidence = evidence_of(vec![request.clone(), worker], 1, answered);
        let pool = ThreadPool { threads: vec![2], queued: 1, ..ThreadPool::default() };
        evidence.pools.insert("P@1".into(), pool);
        judge(&evidence)
    };
    assert_eq!(of_pool(worker(false), 4), None);
    let stands = of_pool(worker(false), 0);
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
    let waits = Thread {
        frames: [PARK, GET, "shop.Index.write(Index.java:9)"].map(Frame::parse).to_vec(),
        ..worker(true)
    };
    let stands = of_pool(waits, 4);
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
}

#[test]
fn requests_behind_a_permit_that_a_scheduler_gives_have_their_turn_later_while_others_are_answered() {
    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const ACQUIRE: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)";
    const TASK: &str = "java.base/java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)";
    let request = Thread {
        pool: Some("S@1".into()),
        waits_for: Some("Semaphore$NonfairSync@1".into()),
        state: Some("WAITING".to_owned()),
        went_on: false,
        ..again(1, &[PARK, ACQUIRE], 7)
    };
    let ticker = Thread {
        tid: 2,
        stood_still: true,
        frames: [PARK, TASK].map(Frame::parse).to_vec(),
        ..Thread::default()
    };
    let answered = |answered| {
        let mut evidence = evidence_of(vec![request.clone(), ticker.clone()], 1, answered);
        evidence.has_locks = true;
        let pool = ThreadPool { threads: vec![2], queued: 1, ..ThreadPool::default() };
        evidence.pools.insert("S@1".into(), pool);
        judge(&evidence)
    };
    assert_eq!(answered(4), None);
    let stands = answered(0);
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
}

#[test]
fn requests_that_want_a_permit_have_their_turn_later_where_another_one_got_one_of_the_same() {
    const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
    const ACQUIRE: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)";
    let request = |tid, lock: &str, went_on| Thread {
        waits_for: Some(lock.to_owned()),
        state: Some("WAITING".to_owned()),
        went_on,
        ..again(tid, &[PARK, ACQUIRE], 7)
    };
    let beside = |lock| judge(&evidence_of(vec![request(1, "S@1", false), request(2, lock, true)], 2, 4));
    assert_eq!(beside("S@1"), None);
    let stands = beside("S@2");
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
}

#[test]
fn a_pipe_is_read_without_an_end_though_its_reader_wakes_up() {
    let read = "java.base/java.io.PipedInputStream.read(PipedInputStream.java:326)";
    let pipe = || vec![again(1, &[WAIT, read], 7)];
    let stands = judge(&evidence_of(pipe(), 0, 0));
    assert!(matches!(&stands, Some(Verdict::RequestsStand { requests: 1, .. })), "{stands:?}");
    assert_eq!(judge(&evidence_of(pipe(), 0, 1)), None, "it arrives in pieces");
}

#[test]
fn requests_that_try_again_and_again_are_named_with_their_call() {
    let moving = |line| Thread { stood_still: false, ..again(1, &[], line) };
    let tries = |unanswered| Evidence {
        earlier: vec![vec![moving(8)], vec![moving(9)]],
        ..evidence_of(vec![moving(7)], unanswered, 0)
    };
    let Some(Verdict::RequestsStand { requests: 1, groups, .. }) = judge(&tries(1)) else {
        panic!("not found")
    };
    assert_eq!((groups[0].at.to_string().as_str(), groups[0].computes), ("shop.Orders.send:7", false));
    assert_eq!(groups[0].what.as_deref(), Some(AGAIN));
    assert_eq!(judge(&tries(0)), None, "nothing was asked");
    let mut beside_polls = tries(1);
    beside_polls.threads.push(again(2, &[WAIT], 9));
    assert!(matches!(judge(&beside_polls), Some(Verdict::Waiting { requests: 1, .. })));
}

#[test]
fn requests_wait_whose_answers_are_scheduled_and_stand_where_one_is_not_or_bytes_lie_unread() {
    let with = |delayed_requests, unread| {
        let mut evidence = evidence_of(Vec::new(), 3, 0);
        let pool = ThreadPool { delayed_requests, last_due_ms: 9_000, ..ThreadPool::default() };
        evidence.pools.insert("P@1".into(), pool);
        evidence.server.iter_mut().for_each(|it| it.unread = unread);
        judge(&evidence)
    };
    let waits = with(3, 0);
    assert!(
        matches!(&waits, Some(Verdict::Waiting { requests: 3, last_due_ms: Some(9_000), .. })),
        "{waits:?}"
    );
    for stands in [with(2, 0), with(3, 1)] {
        assert!(matches!(&stands, Some(Verdict::RequestsStand { unanswered: 3, .. })), "{stands:?}");
    }
}

fn is_open(evidence: &Evidence) -> Option<bool> {
    judge(evidence).map(|it| matches!(it, Verdict::RequestsStand { .. }))
}

#[test]
fn requests_that_are_parked_again_and_again_stand_while_nothing_is_answered_and_poll_while_others_are() {
    const PARKED: &str = "java.base/java.util.concurrent.locks.LockSupport.parkNanos(LockSupport.java:1)";
    let of_limiter = |answered| evidence_of(vec![again(1, &[PARKED], 7)], 1, answered);
    let Some(Verdict::RequestsStand { requests: 1, groups, .. }) = judge(&of_limiter(0)) else {
        panic!("not found")
    };
    assert_eq!(groups[0].what.as_deref(), Some("parked again and again"));
    assert_eq!(is_open(&of_limiter(3)), None);
    let poll = "java.base/java.util.concurrent.LinkedBlockingQueue.poll(LinkedBlockingQueue.java:1)";
    let of_poll = evidence_of(vec![again(1, &[PARKED, poll], 7)], 1, 0);
    assert_eq!(is_open(&of_poll), Some(false), "an element ends it");
}

#[test]
fn requests_that_wait_briefly_for_a_signal_stand_and_those_that_wait_a_second_each_time_are_long_polls() {
    let of_rate = |waits_per_second| {
        let thread = Thread { waits_per_second, ..again(1, &[WAIT], 7) };
        is_open(&evidence_of(vec![thread], 1, 0))
    };
    assert_eq!(of_rate(50.0), Some(true));
    assert_eq!(of_rate(1.0), Some(false));
    let on_virtual = |waits_per_second| {
        let carrier =
            Thread { tid: 8, is_carrier: true, went_on: true, waits_per_second, ..Thread::default() };
        let request = |tid| Thread { is_virtual: true, went_on: false, ..again(tid, &[WAIT], 7) };
        is_open(&evidence_of(vec![carrier, request(1), request(2)], 2, 0))
    };
    assert_eq!(on_virtual(100.0), Some(true));
    assert_eq!(on_virtual(2.0), Some(false));
}

#[test]
fn no_limit_excuses_requests_of_which_the_oldest_waits_for_longer_than_any_long_poll() {
    let of_age = |oldest_ms| {
        let once = Thread { went_on: false, ..again(1, &[WAIT], 7) };
        let mut evidence = evidence_of(vec![once], 1, 0);
        evidence.server.iter_mut().for_each(|it| it.oldest_ms = oldest_ms);
        is_open(&evidence)
    };
    assert_eq!(of_age(60_000), Some(false));
    assert_eq!(of_age(130_000), Some(true));
}

#[test]
fn a_limiter_that_lets_its_callers_sleep_for_an_hour_is_no_long_poll_unless_others_are_answered() {
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:509)";
    let of_limit = |seconds, answered| {
        let once =
            Thread { went_on: false, left: Some(Duration::from_secs(seconds)), ..again(1, &[SLEEP], 7) };
        judge(&evidence_of(vec![once], 1, answered))
    };
    let Some(Verdict::RequestsStand { groups, .. }) = of_limit(3_600, 0) else { panic!("not found") };
    assert_eq!((groups[0].left_seconds, groups[0].is_limited), (Some(3_600), false));
    for found in [of_limit(60, 0), of_limit(3_600, 3)] {
        assert!(matches!(&found, Some(Verdict::Waiting { requests: 1, .. })), "{found:?}");
    }
}

#[test]
fn a_child_process_that_works_is_the_cause_where_nothing_is_answered_and_no_hang_while_others_are() {
    const WAIT_FOR: &str = "java.base/java.lang.ProcessImpl.waitFor(ProcessImpl.java:1)";
    let child = BusyChild { pid: 7, name: "sh".into(), others: 0, cores: 1.0 };
    let of_child = |answered| {
        let request = Thread { busy_child: Some(child.clone()), went_on: false, ..again(1, &[WAIT_FOR], 7) };
        evidence_of(vec![request], 1, answered)
    };
    let Some(Verdict::RequestsStand { groups, .. }) = judge(&of_child(0)) else { panic!("not found") };
    assert_eq!(groups[0].child.as_ref(), Some(&child));
    assert_eq!(judge(&of_child(3)), None);
}
