use super::*;
use crate::evidence::Synchronizer;

const WAIT: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)";
const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
const CODE: [&str; 2] = ["shop.Neighbour.call(Neighbour.java:20)", "shop.Orders.find(Orders.java:4)"];

fn thread(tid: u64, top: &str) -> Thread {
    let frames = [top].into_iter().chain(CODE).map(Frame::parse).collect();
    let waits_for = (top == WAIT).then(|| "Semaphore@1".to_owned());
    Thread { tid, stood_still: true, frames, waits_for, ..Thread::default() }
}

fn of(threads: Vec<Thread>) -> Evidence {
    let synchronizers = HashMap::from([(
        "Semaphore@1".to_owned(),
        Synchronizer { has_queue: true, ..Synchronizer::default() },
    )]);
    let earlier = vec![threads.clone()];
    Evidence { seconds: 3.0, threads, synchronizers, has_locks: true, earlier, ..Evidence::default() }
}

#[test]
fn permits_that_readers_have_are_exhausted_and_those_that_nobody_has_may_be_signals() {
    let waiting = vec![thread(1, WAIT), thread(2, WAIT)];
    assert_eq!(judge(&of(waiting.clone())), [], "it may be a signal");
    assert!(has_no_holder(&of(waiting.clone()), &waiting[0]));
    let peer = Some("127.0.0.1:5432".to_owned());
    let all = [waiting.clone(), vec![Thread { peer, ..thread(3, READ) }]].concat();
    let [Verdict::PoolExhausted { holders, waits_in, peer, .. }] = &judge(&of(all.clone()))[..] else {
        panic!("not found")
    };
    assert_eq!((holders[0].thread.id, waits_in.as_deref()), (3, Some("reading from a socket")));
    assert!(!has_no_holder(&of(all.clone()), &waiting[0]));
    assert_eq!(peer.as_deref(), Some("127.0.0.1:5432"));
    let mut once = of(all.clone());
    once.earlier = vec![vec![thread(3, "shop.Json.write(Json.java:3)")]];
    assert_eq!(judge(&once), [], "only this moment");
    let mut moving = of(all);
    moving.threads.iter_mut().for_each(|it| it.stood_still = false);
    assert_eq!(judge(&moving), [], "other waiters each time");
    let working = [waiting, vec![thread(3, "shop.Json.write(Json.java:3)")]].concat();
    assert_eq!(judge(&of(working)), [], "who has one works");
}

#[test]
fn a_virtual_thread_that_began_while_the_dump_was_written_is_not_counted_with_those_that_have_ended_since() {
    let virtual_thread = |tid, stood_still| Thread { is_virtual: true, stood_still, ..thread(tid, WAIT) };
    let reader = thread(9, READ);
    let before = vec![virtual_thread(1, true), virtual_thread(2, true), reader.clone()];
    let now = [before.clone(), vec![virtual_thread(3, false), thread(4, WAIT)]].concat();
    let evidence = Evidence { earlier: vec![before], ..of(now) };
    let [Verdict::PoolExhausted { waiters, waiting, .. }] = &judge(&evidence)[..] else {
        panic!("not found")
    };
    let counted: Vec<u64> = waiting.iter().map(|it| it.thread.id).collect();
    assert_eq!((*waiters, counted), (3, vec![1, 2, 4]), "a thread of a pool was there before");
}

const BORROW: &str = "com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:1)";

fn elsewhere(tid: u64, frames: &[&str]) -> Thread {
    Thread {
        tid,
        stood_still: true,
        frames: frames.iter().map(|it| Frame::parse(it)).collect(),
        ..Thread::default()
    }
}

#[test]
fn connections_are_leaked_where_no_other_thread_is_in_the_application_s_code() {
    const SLEEP: &str = "java.base/java.lang.Thread.sleep(Thread.java:1)";
    const TAKE: &str = "java.base/java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:1)";
    const CONSOLE: &str = "java.base/java.io.FileInputStream.readBytes(Native Method)";
    let idle = vec![
        elsewhere(7, &[SLEEP, "shop.Main.main(Main.java:3)"]),
        elsewhere(8, &[TAKE, "shop.Mail.next(Mail.java:3)", "shop.Mail.run(Mail.java:3)"]),
        elsewhere(9, &["java.base/java.lang.ref.ReferenceQueue.remove(ReferenceQueue.java:1)"]),
        elsewhere(10, &[CONSOLE, "shop.Console.main(Console.java:3)"]),
    ];
    let mut all = of([vec![thread(1, BORROW), thread(2, BORROW)], idle].concat());
    let [Verdict::LeakedPermits { waiters: 2, what, .. }] = &judge(&all)[..] else { panic!("not found") };
    assert_eq!(what, "a HikariCP connection");
    all.threads[1].stood_still = false;
    assert!(matches!(&judge(&all)[..], []), "one thread alone may have just come");
}

#[test]
fn a_pool_whose_holders_may_be_in_other_code_is_exhausted_and_not_leaked() {
    let report = elsewhere(5, &[READ, "shop.Report.write(Report.java:8)", "shop.Report.run(Report.java:2)"]);
    let all = of(vec![thread(1, BORROW), thread(2, BORROW), report]);
    let [Verdict::PoolExhausted { holders, waits_in: None, .. }] = &judge(&all)[..] else {
        panic!("not found")
    };
    assert_eq!(holders.iter().map(|it| it.thread.id).collect::<Vec<_>>(), [5]);
    let result =
        "reactor.core.publisher.BlockingSingleSubscriber.blockingGet(BlockingSingleSubscriber.java:1)";
    let [Verdict::PoolExhausted { holders, .. }] =
        &judge(&of(vec![thread(1, result), thread(2, result)]))[..]
    else {
        panic!("nobody gives results back")
    };
    assert!(holders.is_empty());
}

#[test]
fn without_the_virtual_threads_nothing_is_leaked_or_exhausted_as_one_of_them_may_have_it() {
    let mut of_pool = of(vec![thread(1, BORROW), thread(2, BORROW)]);
    of_pool.lacks_virtual_threads = true;
    assert_eq!(judge(&of_pool), []);
    of_pool.threads.push(elsewhere(5, &[READ, "shop.Report.write(Report.java:8)"]));
    assert!(matches!(&judge(&of_pool)[..], [Verdict::PoolExhausted { waits_in: None, waiters: 2, .. }]));
}

#[test]
fn connections_of_apache_http_client_5_c3p0_mongodb_and_keyed_pools_are_told_apart() {
    const HTTP: [&str; 3] = [
        "org.apache.hc.core5.concurrent.BasicFuture.get(BasicFuture.java:1)",
        "org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager$3.get(PoolingHttpClientConnectionManager.java:1)",
        "org.apache.hc.client5.http.impl.classic.InternalExecRuntime.acquireEndpoint(InternalExecRuntime.java:1)",
    ];
    const C3P0: &str =
        "com.mchange.v2.resourcepool.BasicResourcePool.awaitAvailable(BasicResourcePool.java:1)";
    const MONGO: [&str; 2] = [
        "com.mongodb.internal.connection.ConcurrentPool$StateAndPermits.acquirePermit(ConcurrentPool.java:1)",
        "com.mongodb.internal.connection.ConcurrentPool.acquirePermit(ConcurrentPool.java:1)",
    ];
    const KEYED: &str =
        "org.apache.commons.pool2.impl.GenericKeyedObjectPool.borrowObject(GenericKeyedObjectPool.java:1)";
    let of_wait = |frames: &[&str]| {
        let own = |tid| elsewhere(tid, &[frames, &CODE].concat());
        match &judge(&of(vec![own(1), own(2)]))[..] {
            [Verdict::LeakedPermits { what, .. }] => what.clone(),
            other => panic!("{frames:?}: {other:?}"),
        }
    };
    assert_eq!(of_wait(&HTTP), "an HTTP connection of a pool");
    assert_eq!(of_wait(&[C3P0]), "a c3p0 connection");
    assert_eq!(of_wait(&MONGO), "a MongoDB connection");
    assert_eq!(of_wait(&[KEYED]), "an object of a commons-pool2 pool");
}

#[test]
fn who_waits_for_the_response_over_its_http_connection_does_not_wait_for_one() {
    const EXECUTE: &str =
        "org.apache.hc.client5.http.impl.classic.InternalExecRuntime.execute(InternalExecRuntime.java:1)";
    const CONNECT: &str = "org.apache.hc.client5.http.impl.classic.InternalExecRuntime.connectEndpoint(InternalExecRuntime.java:1)";
    let own = |tid, frames: &[&str]| elsewhere(tid, &[frames, &CODE].concat());
    let both = of(vec![own(1, &[READ, EXECUTE]), own(2, &[READ, EXECUTE]), own(3, &[READ, CONNECT])]);
    assert_eq!(judge(&both), []);
}

#[test]
fn threads_of_a_client_library_hold_no_connection_of_a_pool() {
    const WAIT_OBJECT: &str = "java.base/java.lang.Object.wait0(Native Method)";
    let of_library = |frame: &str| {
        let heartbeat = elsewhere(5, &[WAIT_OBJECT, frame]);
        judge(&of(vec![thread(1, BORROW), thread(2, BORROW), Thread { stood_still: false, ..heartbeat }]))
    };
    let kafka = "app//org.apache.kafka.clients.consumer.internals.AbstractCoordinator$HeartbeatThread.run(AbstractCoordinator.java:1)";
    assert!(matches!(&of_library(kafka)[..], [Verdict::LeakedPermits { waiters: 2, .. }]));
    let own = "app//shop.kafka.Heartbeat.run(Heartbeat.java:1)";
    assert!(matches!(&of_library(own)[..], [Verdict::PoolExhausted { waits_in: None, .. }]));
}

#[test]
fn who_opens_a_connection_within_the_pool_has_a_place_in_it() {
    const CONNECT: &str = "java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:1)";
    const TOMCAT: &str = "org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection(ConnectionPool.java:1)";
    let own = |tid, frames: &[&str]| elsewhere(tid, &[frames, &CODE].concat());
    let mut all = of(vec![own(1, &[TOMCAT]), own(2, &[TOMCAT]), own(3, &[CONNECT, TOMCAT])]);
    let [Verdict::PoolExhausted { waiters: 2, waits_in, .. }] = &judge(&all)[..] else { panic!("not found") };
    assert_eq!(waits_in.as_deref(), Some("connecting a socket"));
    all.threads.drain(..2);
    assert_eq!(judge(&all), [], "nobody waits for the pool");
}

#[test]
fn holders_that_change_fast_are_no_slow_neighbour() {
    let waiting: Vec<Thread> = (1..=10).map(|tid| thread(tid, WAIT)).collect();
    let of_moment =
        |holders: [u64; 2]| [waiting.clone(), holders.map(|tid| thread(tid, READ)).to_vec()].concat();
    let mut all = of(of_moment([20, 21]));
    all.between_seconds = 2.8;
    let hold = |all: &Evidence| match &judge(all)[..] {
        [Verdict::PoolExhausted { hold_seconds, .. }] => Some(*hold_seconds),
        _ => None,
    };
    assert_eq!(hold(&all), Some(None), "the same all the time");
    all.earlier = vec![[of_moment([30, 31]), vec![thread(20, WAIT), thread(21, WAIT)]].concat()];
    assert_eq!(hold(&all), Some(Some(2.8)), "two were served: each holds it as long as that takes");
    all.earlier[0].extend((40..60).map(|tid| thread(tid, WAIT)));
    assert_eq!(hold(&all), None, "22 were served within 2.8 s by 2");
    all.earlier = vec![of_moment([30, 31])];
    all.synchronizers.clear();
    assert_eq!(hold(&all), None, "it is not known which threads wait again, and the holders are others");
}

#[test]
fn waiters_that_move_on_or_find_permits_are_not_stuck() {
    let mut moving = of(vec![thread(1, WAIT), thread(2, WAIT)]);
    moving.threads[1].stood_still = false;
    assert_eq!(judge(&moving), []);
    let mut left = of(vec![thread(1, WAIT), thread(2, WAIT)]);
    left.synchronizers.insert("Semaphore@1".into(), Synchronizer { value: 2, ..Synchronizer::default() });
    assert_eq!(judge(&left), []);
}
