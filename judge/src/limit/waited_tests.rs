//! Tests of the waits of requests, with known answers.

use super::waited;
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::variant_runs::stage::{advice, found, found_in, run, sentence, site};
use crate::finding::{Fact, Finding, Rule, RunsShowing};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_model::sample::{times, with_load};

fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    found_waits(runs_of_variant).into_iter().next()
}

fn find_second(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    found_waits(runs_of_variant).into_iter().nth(1)
}

fn found_waits(runs_of_variant: &VariantRuns<'_>) -> Vec<Finding> {
    let waits = waited::in_runs(runs_of_variant).into_iter();
    waits.map(|(station, runs)| runs_of_variant.finding(station.into_fact(), runs)).collect()
}

/// A record of 80 requests per second of 500 ms each, 40 of them in flight.
fn with(state: ThreadState, resource: &str, threads: f64, role: ThreadRole) -> Record {
    let activity = ThreadActivity {
        state,
        resource: Some(resource.to_owned()),
        application: Some("shop.Orders.find:42".to_owned()),
        holder: Some("shop.Orders.save:88".to_owned()),
        ..ThreadActivity::default()
    };
    let groups = vec![WaitGroup { role, activity, threads: vec![threads; 10] }];
    let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
    let mut record = with_load(run(80.0, 50.1, 500.0, 0.2), |load| {
        load.service_time_ms = Some(times(500.0));
    });
    record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
    record
}

fn found_in_state(state: ThreadState, threads: f64) -> Option<Finding> {
    found(find, "clients: 40", with(state, "java.util.concurrent.Semaphore", threads, ThreadRole::Request))
}

#[test]
fn the_longest_wait_is_named_with_its_milliseconds_its_line_and_what_to_try() {
    let finding = found(find, "clients: 40", with(ThreadState::Pool, "HikariCP", 30.0, ThreadRole::Request));
    let finding = finding.expect("a finding");
    assert_eq!(
        sentence(&finding),
        "requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at \
         shop.Orders.find:42"
    );
    assert!(advice(&finding).contains("hikari.maximum-pool-size"), "{}", advice(&finding));
    let lock = found_in_state(ThreadState::Lock, 30.0).expect("a finding");
    assert!(sentence(&lock).ends_with("at shop.Orders.find:42. It is held at shop.Orders.save:88"));
    assert!(found_in_state(ThreadState::Socket, 30.0).is_some_and(|it| advice(&it).contains("fewer calls")));
}

#[test]
fn a_home_made_pool_and_files_are_waits_too_with_advice_of_their_own() {
    let condition = found_in_state(ThreadState::Wait, 36.0).expect("a finding");
    assert!(
        sentence(&condition)
            .starts_with("requests spend 90 % of their time waiting for a notification: 450 ms")
    );
    assert!(
        advice(&condition).contains("if shop.Orders.find:42 waits for a pool, more of it"),
        "{}",
        advice(&condition)
    );
    let file = found_in_state(ThreadState::File, 36.0).expect("a finding");
    assert!(
        sentence(&file).starts_with("requests spend 90 % of their time in file I/O: 450 ms of 500 ms, at")
    );
    assert!(
        advice(&file).contains("fewer, larger reads or writes at shop.Orders.find:42"),
        "{}",
        advice(&file)
    );
}

#[test]
fn files_that_keep_carriers_are_said_once_and_the_next_longest_wait_is_named_beside_them() {
    let files = || {
        let mut record = with(ThreadState::File, "a.F", 20.0, ThreadRole::Request);
        let jvm = record.jvm.as_mut().expect("it was read");
        jvm.file_io = vec![site(None, Some("shop.Orders.find:42"), None, 800, 9_000.0)];
        record
    };
    assert_eq!(found(find, "clients: 40", files()), None);
    let mut both = files();
    let profile = both.jvm.as_mut().and_then(|jvm| jvm.wait_profile.as_mut()).expect("a profile");
    profile.groups.push(request(ThreadState::Lock, LOCK, "shop.Orders.save:88", 12.0));
    let lock = found(find, "clients: 40", both).expect("a finding");
    assert!(sentence(&lock).starts_with("requests spend 30 % of their time waiting for a ReentrantLock"));
}

/// A pool whose readings are all the same.
fn pool_of(kind: PoolKind, name: &str, busy: u32, queued: u64) -> Pool {
    let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(10), queued: Some(queued) };
    Pool { kind, name: name.to_owned(), max: Some(10), samples: vec![sample; 20] }
}

fn sentence_beside(pools: Vec<Pool>) -> String {
    let mut record = with(ThreadState::Pool, "HikariCP", 30.0, ThreadRole::Request);
    record.jvm.as_mut().expect("it was read").pools = pools;
    sentence(&found(find, "clients: 40", record).expect("a finding"))
}

#[test]
fn the_size_of_the_pool_is_named_where_it_is_known_which_pool_is_meant() {
    let orders = || pool_of(PoolKind::Hikari, "orders", 10, 31);
    let known = "requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at shop.Orders.find:42. All 10 connections of orders are in use in 100 % of its readings, and 31 wait for one";
    assert_eq!(sentence_beside(vec![orders()]), known);
    let idle = pool_of(PoolKind::Hikari, "reports", 0, 0);
    let of_another_library = pool_of(PoolKind::Agroal, "agroal", 10, 5);
    assert_eq!(sentence_beside(vec![idle, orders(), of_another_library]), known);
    let without = "at shop.Orders.find:42";
    let reports = pool_of(PoolKind::Hikari, "reports", 10, 2);
    assert_eq!(sentence_beside(vec![orders(), reports]), known, "the one for which as many wait");
    let as_full = pool_of(PoolKind::Hikari, "reports", 10, 29);
    assert!(sentence_beside(vec![orders(), as_full]).ends_with(without), "one of two");
    let threads = Pool { kind: PoolKind::Tomcat, ..orders() };
    assert!(sentence_beside(vec![threads]).ends_with(without), "no pool of connections");
}

#[test]
fn who_waits_for_a_response_may_have_no_connection_yet() {
    let response_beside = |threads, pool| {
        let mut record = with(ThreadState::Future, "Jetty HttpClient", threads, ThreadRole::Request);
        record.jvm.as_mut().expect("it was read").pools = vec![pool];
        found(find, "clients: 40", record).expect("a finding")
    };
    let client = |queued| pool_of(PoolKind::JettyClient, "http://stock:8080", 10, queued);
    let full = response_beside(40.0, client(28));
    let response = "requests spend 100 % of their time waiting for a response to Jetty HttpClient: 500 ms of 500 ms, at \
         shop.Orders.find:42";
    let in_use =
        "All 10 connections of http://stock:8080 are in use in 100 % of its readings, and 28 wait for one";
    assert_eq!(sentence(&full), format!("{response}. {in_use}"));
    assert!(advice(&full).starts_with("a larger pool, if what it connects to"), "{}", advice(&full));
    let few = response_beside(40.0, client(3));
    assert_eq!(sentence(&few), response, "three of thirty: another pool");
    let others = response_beside(40.0, client(500));
    assert_eq!(sentence(&others), response, "500 of thirty: another pool");
    let mut opening = client(28);
    opening.samples.iter_mut().for_each(|it| it.busy = Some(3));
    assert_eq!(sentence(&response_beside(40.0, opening)), response, "they wait while one is opened");
    let once = response_beside(9.0, client(1));
    assert!(sentence(&once).ends_with("at shop.Orders.find:42"), "{}", sentence(&once));
    assert!(advice(&once).starts_with("a faster service behind"), "{}", advice(&once));
    let of_threads = response_beside(40.0, pool_of(PoolKind::Jetty, "qtp", 10, 28));
    assert_eq!(sentence(&of_threads), response, "a server's threads");
}

#[test]
fn each_run_is_asked_whether_it_shows_it() {
    let waiting = |threads| with(ThreadState::Semaphore, "a.S", threads, ThreadRole::Request);
    let runs = |threads: [f64; 3]| found_in(find, "clients: 40", &threads.map(waiting)).map(|it| it.runs);
    let shown_by = |showing| Some(Some(RunsShowing { showing, complete: 3 }));
    assert_eq!(runs([30.0, 30.0, 30.0]), shown_by(3));
    assert_eq!(runs([30.0, 4.0, 30.0]), shown_by(2));
    assert_eq!(runs([4.0, 4.0, 39.0]), None, "one run of three");
}

fn group(role: ThreadRole, state: ThreadState, resource: &str, place: &str, threads: f64) -> WaitGroup {
    let activity = ThreadActivity {
        state,
        resource: Some(resource.to_owned()),
        application: Some(place.to_owned()),
        holder: Some("shop.Orders.pay:90".to_owned()),
        ..ThreadActivity::default()
    };
    WaitGroup { role, activity, threads: vec![threads; 10] }
}

fn request(state: ThreadState, resource: &str, place: &str, threads: f64) -> WaitGroup {
    group(ThreadRole::Request, state, resource, place, threads)
}

/// Ten seconds in which nobody sent a load.
fn watched(groups: Vec<WaitGroup>, pools: Vec<Pool>) -> Record {
    let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
    let jvm = JvmReadings { wait_profile: Some(profile), pools, ..JvmReadings::default() };
    Record { jvm: Some(jvm), ..Record::default() }
}

fn words_in_window(record: &Record) -> Option<(String, String)> {
    let fact = waited::in_window(record).into_iter().next()?.0.into_fact();
    let finding = Finding { variant: None, load: None, runs: None, fact };
    Some((sentence(&finding), advice(&finding)))
}

const LOCK: &str = "java.util.concurrent.locks.ReentrantLock";

#[test]
fn without_a_load_the_threads_that_wait_are_named_of_those_with_a_request() {
    let groups = vec![
        request(ThreadState::Sleep, "", "shop.Orders.pay:90", 60.0),
        request(ThreadState::Lock, LOCK, "shop.Orders.save:88", 40.0),
        group(ThreadRole::Application, ThreadState::Lock, LOCK, "shop.Jobs.run:5", 300.0),
    ];
    let (sentence, advice) = words_in_window(&watched(groups, Vec::new())).expect("a finding");
    assert_eq!(
        sentence,
        "40 % of the threads with a request are waiting for a ReentrantLock at shop.Orders.save:88: 40.0 of 100.0, on average. It is held at shop.Orders.pay:90"
    );
    assert!(advice.contains("the lock at shop.Orders.save:88 held for a shorter time"), "{advice}");
}

#[test]
fn a_fact_without_a_load_has_no_milliseconds_and_is_read_back() {
    let record = watched(vec![request(ThreadState::Lock, LOCK, "a.A.a:1", 40.5)], Vec::new());
    let fact = waited::in_window(&record).into_iter().next().expect("a station").0.into_fact();
    let json = serde_json::to_value(&fact).expect("it is written");
    let (figures, queue) = (&json["figures"], &json["figures"]["queue"]);
    assert_eq!(
        (&figures["service_time_ms"], &queue["time"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert_eq!((&queue["requests"], &queue["activity"]["state"]), (&40.5.into(), &"lock".into()));
    assert_eq!(serde_json::from_value::<Fact>(json).ok(), Some(fact));
}

#[test]
fn a_full_pool_is_named_with_the_line_that_waits_for_it() {
    let hikari = || pool_of(PoolKind::Hikari, "orders", 10, 31);
    let waiting = || request(ThreadState::Pool, "HikariCP", "shop.Orders.find:42", 31.0);
    let lock = request(ThreadState::Lock, LOCK, "shop.Orders.save:88", 20.0);
    let (sentence, advice) = words_in_window(&watched(vec![waiting(), lock], vec![hikari()])).expect("full");
    assert_eq!(
        sentence,
        "61 % of the threads with a request are waiting for a HikariCP connection at shop.Orders.find:42: 31.0 of 51.0, on \
         average. All 10 connections of orders are in use in 100 % of its readings, and 31 wait for one"
    );
    assert!(advice.contains("hikari.maximum-pool-size"), "{advice}");
    let (sentence, advice) =
        words_in_window(&watched(vec![waiting()], Vec::new())).expect("a pool that is not read");
    assert!(sentence.contains("waiting for a HikariCP connection at shop.Orders.find:42"), "{sentence}");
    assert!(advice.contains("hikari.maximum-pool-size"), "without counters as well: {advice}");
    let of_another_library = pool_of(PoolKind::Agroal, "agroal", 10, 5);
    let (sentence, _) = words_in_window(&watched(vec![waiting()], vec![of_another_library])).expect("a wait");
    assert!(!sentence.contains("agroal"), "{sentence}");
}

/// The probe does not know this pool's code, so its threads seem to wait for a notification.
#[test]
fn a_pool_whose_code_is_not_known_is_the_one_for_which_as_many_threads_wait() {
    let beside = |queued| {
        let mut record = with(ThreadState::Wait, "shop.Condition", 30.0, ThreadRole::Request);
        record.jvm.as_mut().expect("it was read").pools =
            vec![pool_of(PoolKind::CommonsPool2, "ftp", 10, queued)];
        record
    };
    let waiting = |queued| sentence(&found(find, "clients: 40", beside(queued)).expect("a finding"));
    let line = "requests spend 75 % of their time waiting for a notification: 375 ms of 500 ms, at shop.Orders.find:42";
    let full = "All 10 connections of ftp are in use in 100 % of its readings, and 29 wait for one";
    assert_eq!(waiting(29), format!("{line}. {full}"));
    assert_eq!(waiting(9), line, "another pool");
    assert_eq!(found(find_second, "clients: 40", beside(29)), None, "named once");
    let most_without_thread = found(find_second, "clients: 40", beside(200)).expect("the pool");
    assert!(sentence(&most_without_thread).starts_with("all 10 connections of ftp are in use"));
}

/// A wait for a lock keeps its name, whichever pool is full at the same time.
#[test]
fn a_full_pool_is_not_what_threads_at_a_lock_or_at_known_code_wait_for_and_is_named_beside_them() {
    let pool = |queued| vec![pool_of(PoolKind::Hikari, "orders", 10, queued)];
    let two = |record: Record| {
        let first = found(find, "clients: 40", record.clone()).expect("a finding");
        (sentence(&first), sentence(&found(find_second, "clients: 40", record).expect("another one")))
    };
    let mut locked = with(ThreadState::Lock, LOCK, 40.0, ThreadRole::Request);
    locked.jvm.as_mut().expect("it was read").pools = pool(31);
    let (lock, orders) = two(locked);
    assert_eq!(
        lock,
        "requests spend 100 % of their time waiting for a ReentrantLock: 500 ms of 500 ms, at shop.Orders.find:42. It \
         is held at shop.Orders.save:88"
    );
    assert!(orders.starts_with("all 10 connections of orders are in use"), "{orders}");
    // As many threads wait for a notification as for the pool, but the probe knows the pool's code and would name it.
    let mut known = with(ThreadState::Wait, "shop.Condition", 22.0, ThreadRole::Request);
    let jvm = known.jvm.as_mut().expect("it was read");
    jvm.pools = pool(16);
    let at_pool = request(ThreadState::Pool, "HikariCP", "shop.Orders.save:88", 16.0);
    jvm.wait_profile.as_mut().expect("a profile").groups.push(at_pool);
    let (notified, orders) = two(known);
    assert!(
        notified.ends_with("waiting for a notification: 275 ms of 500 ms, at shop.Orders.find:42"),
        "{notified}"
    );
    assert!(orders.starts_with("all 10 connections of orders are in use"), "{orders}");
}

/// Both waits are for something that others hold, so both are named; otherwise the findings of a live window would alternate.
#[test]
fn without_a_load_a_full_pool_is_named_beside_a_longer_wait_for_a_lock() {
    let groups = vec![
        request(ThreadState::Pool, "HikariCP", "shop.Orders.find:42", 19.0),
        request(ThreadState::Lock, LOCK, "shop.Orders.save:88", 20.0),
    ];
    let stations = waited::in_window(&watched(groups, vec![pool_of(PoolKind::Hikari, "orders", 10, 19)]));
    let rules: Vec<Rule> = stations.into_iter().map(|it| it.0.into_fact().rule()).collect();
    assert_eq!(rules, [Rule::RequestWaits, Rule::Waiting]);
}

#[test]
fn without_a_load_look_alikes_are_left_alone() {
    use ThreadState::{File, Future, Lock, Queue, Running, Select, Sleep, Socket, Wait};
    let (idle, place) = ("java.util.concurrent.LinkedBlockingQueue", "shop.Orders.save:88");
    let worker = |threads| group(ThreadRole::Application, Queue, idle, "shop.Worker.run:31", threads);
    let silent = [
        ("workers with nothing to do", vec![worker(40.0)]),
        ("the same beside requests that compute", vec![worker(40.0), request(Running, "", place, 2.0)]),
        ("sleepers", vec![request(Sleep, "", place, 100.0)]),
        ("an event loop", vec![request(Select, "", place, 4.0)]),
        ("a service that reads its database", vec![request(Socket, "PostgreSQL", place, 40.0)]),
        ("a call of another service", vec![request(Future, "java.net.http.HttpClient", place, 40.0)]),
        ("files", vec![request(File, "", place, 40.0)]),
        ("long polling", vec![request(Wait, "a.Condition", place, 40.0), request(Queue, idle, place, 40.0)]),
        ("one request", vec![request(Lock, LOCK, place, 1.9)]),
        ("less than a fifth", vec![request(Lock, LOCK, place, 19.0), request(Running, "", place, 81.0)]),
        ("nobody", Vec::new()),
    ];
    for (case, groups) in silent {
        assert_eq!(words_in_window(&watched(groups, Vec::new())), None, "{case}");
    }
    let mut few = watched(vec![request(Lock, LOCK, place, 40.0)], Vec::new());
    few.jvm.as_mut().and_then(|jvm| jvm.wait_profile.as_mut()).expect("a profile").samples = 4;
    assert_eq!(words_in_window(&few), None, "four samples");
}

#[test]
fn threads_that_are_stuck_in_requests_of_earlier_are_no_waits_of_those_that_complete() {
    // The 40 requests in flight sleep; the other threads wait for a lock in requests that timed out before the window.
    let stuck = |threads| {
        let mut record = with(ThreadState::Sleep, "", 40.0, ThreadRole::Request);
        let profile = record.jvm.as_mut().and_then(|jvm| jvm.wait_profile.as_mut()).expect("a profile");
        profile.groups.push(request(ThreadState::Lock, LOCK, "shop.Orders.save:88", threads));
        found(find, "clients: 40", record)
    };
    assert_eq!(stuck(80.0), None);
    assert_eq!(stuck(11.0), None, "as few as might be chance");
    // If all requests wait, samples may by chance count a few threads too many.
    let lock = found_in_state(ThreadState::Lock, 44.0).expect("a finding");
    assert!(
        sentence(&lock)
            .starts_with("requests spend 100 % of their time waiting for a Semaphore: 500 ms of 500 ms"),
        "{}",
        sentence(&lock)
    );
}

#[test]
fn look_alikes_are_left_alone() {
    assert_eq!(found_in_state(ThreadState::Sleep, 40.0), None, "a sleep is meant");
    assert_eq!(found_in_state(ThreadState::Running, 40.0), None);
    assert_eq!(found_in_state(ThreadState::Semaphore, 7.0), None, "less than a fifth of the requests");
    let job = with(ThreadState::Queue, "a.Queue", 40.0, ThreadRole::Application);
    assert_eq!(found(find, "clients: 40", job), None, "jobs of the application");
    let idle = with(ThreadState::Wait, "a.Condition", 40.0, ThreadRole::Application);
    assert_eq!(found(find, "clients: 40", idle), None, "workers that wait for a task");
    assert_eq!(found_in_state(ThreadState::Select, 40.0), None, "an event loop");
    assert_eq!(found(find, "clients: 40", run(80.0, 50.1, 500.0, 0.2)), None, "no samples");
}

/// A record of 80 requests per second of 500 ms each, 40 of them in flight.
fn with_pools(pools: Vec<Pool>) -> Record {
    let mut record = run(80.0, 50.1, 500.0, 0.2);
    record.jvm = Some(JvmReadings { pools, ..JvmReadings::default() });
    record
}

fn pool(name: &str, size: u32, busy: u32, queued: u64) -> Pool {
    let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(size), queued: Some(queued) };
    Pool { kind: PoolKind::Hikari, name: name.to_owned(), max: Some(size), samples: vec![sample; 20] }
}

#[test]
fn a_pool_of_connections_in_full_use_is_named_with_those_who_wait() {
    let record = with_pools(vec![pool("Pool (shop)", 10, 10, 31)]);
    let finding = found(find, "clients: 40", record).expect("a finding");
    let expected =
        "all 10 connections of Pool (shop) are in use in 100 % of its readings, and 31 wait for one";
    assert_eq!(sentence(&finding), expected);
    assert!(advice(&finding).contains("hikari.maximum-pool-size"));
}

/// A background job waits now and then for the only connection of its pool.
#[test]
fn a_full_pool_for_which_few_wait_is_no_limit_and_of_several_the_one_with_most_waiters_is_named() {
    let of_jobs = || pool("jobs", 1, 1, 2);
    let both = with_pools(vec![of_jobs(), pool("Pool (shop)", 10, 10, 31)]);
    let finding = found(find, "clients: 40", both).expect("a finding");
    assert!(sentence(&finding).contains("all 10 connections of Pool (shop)"), "{}", sentence(&finding));
    assert_eq!(found(find, "clients: 40", with_pools(vec![of_jobs()])), None, "2 of 40 requests");
}

#[test]
fn pools_that_keep_few_waiting_are_left_alone() {
    let silent = [
        ("a busy pool of connections that no thread waits for", with_pools(vec![pool("shop", 10, 10, 0)])),
        ("a pool with free connections", with_pools(vec![pool("shop", 10, 6, 0)])),
        ("no probe", run(80.0, 50.1, 500.0, 0.2)),
    ];
    for (case, record) in silent {
        assert_eq!(found(find, "clients: 40", record), None, "{case}");
    }
}
