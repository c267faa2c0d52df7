//! Tests of the rule for limits: known answers, and look-alikes that are not limits.

use super::station::{InService, KnownBy, LimitedThreads, Queue, Resource, Servers, Station};
use super::{find, in_window};
use crate::evidence::variant_runs::VariantRuns;
use crate::evidence::variant_runs::stage::{advice, run, sentence};
use crate::finding::{Fact, Finding, Rule};
use crate::findings::pinned_carriers::{PinEvidence, PinnedCarriers};
use crate::words::finding::Words as _;
use threadcount_config::parse;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::server_sockets::ServerSockets;
use threadcount_model::record::thread_family::{Executor, FamilySample, ThreadFamily};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_model::sample::{times, with_load};

const SAMPLES: usize = 20;

pub(super) fn activity(state: ThreadState, place: &str) -> ThreadActivity {
    ThreadActivity { state, application: Some(place.to_owned()), ..ThreadActivity::default() }
}

/// A family of threads that sleep at one place; the samples take their numbers of working threads from `working` in turn.
pub(super) fn family(name: &str, working: &[f64], executor: Option<(&str, u32, u32)>) -> ThreadFamily {
    let sample = |at: usize| FamilySample {
        threads: 20,
        working: working[at % working.len()],
        waiting: 0.0,
        is_estimate: false,
        queued: executor.map(|_| 80),
    };
    ThreadFamily {
        name: name.to_owned(),
        samples: (0..SAMPLES).map(sample).collect(),
        activity: activity(ThreadState::Sleep, "Elastic.load:6"),
        at_place: 1.0,
        executor: executor.map(|(class, size, maximum)| Executor {
            class: format!("java.util.concurrent.{class}"),
            size,
            maximum,
        }),
        completed_per_s: executor.map(|_| 400.0),
        ..ThreadFamily::default()
    }
}

pub(super) fn group(state: ThreadState, place: &str, threads: f64) -> WaitGroup {
    WaitGroup { role: ThreadRole::Request, activity: activity(state, place), threads: vec![threads; SAMPLES] }
}

/// A record of 400 requests per second of 250 ms each: 100 in flight, on an idle machine.
pub(super) fn record(families: Vec<ThreadFamily>, groups: Vec<WaitGroup>) -> Record {
    let profile = WaitProfile { samples: SAMPLES as u32, groups, ..WaitProfile::default() };
    let jvm =
        JvmReadings { wait_profile: Some(profile), thread_families: families, ..JvmReadings::default() };
    let record = with_load(run(400.0, 245.0, 250.0, 0.2), |load| load.service_time_ms = Some(times(250.0)));
    Record { jvm: Some(jvm), ..record }
}

pub(super) fn found(record: &Record) -> Option<Finding> {
    found_after(record, &[])
}

pub(super) fn found_after(record: &Record, others: &[Finding]) -> Option<Finding> {
    let records = [record.clone(), record.clone(), record.clone()];
    found_in_runs(&records, others).into_iter().find(|it| it.rule() == Rule::ConcurrencyLimit)
}

/// All limits that the rule finds in these runs.
pub(super) fn found_in_runs(records: &[Record], others: &[Finding]) -> Vec<Finding> {
    let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {it: {}}\n\
        loads: [{name: load, clients: 100, duration: 10s}]\n";
    let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
    find(&VariantRuns::of(&experiment.variants[0], &experiment.loads[0], records), others)
}

/// The limit that the rule finds in a window without a load.
pub(super) fn found_in_window(record: &Record) -> Option<Station> {
    in_window(record).into_iter().find_map(|fact| match fact {
        Fact::ConcurrencyLimit(station) => Some(station),
        _ => None,
    })
}

fn elastic() -> ThreadFamily {
    family("boundedElastic-*", &[20.0], Some(("ScheduledThreadPoolExecutor", 20, 20)))
}

#[test]
fn a_pool_that_is_full_is_named_with_its_place_its_arithmetic_and_its_queue() {
    let finding = found(&record(vec![elastic()], vec![])).expect("a finding");
    let expected = "never more than 20 requests run at once (`boundedElastic-*`, all at Elastic.load:6) while 100 are in \
        flight. 20 / 50.0 ms = 400/s. 80 wait in the queue of its ScheduledThreadPoolExecutor";
    assert_eq!(sentence(&finding), expected);
    assert_eq!(advice(&finding), "more threads for `boundedElastic-*`, or shorter work at Elastic.load:6");
}

#[test]
fn an_unbounded_queue_and_the_parallelism_of_a_fork_join_pool_are_named_in_the_advice() {
    let core = family("task-*", &[8.0], Some(("ThreadPoolExecutor", 8, 50)));
    let finding = found(&record(vec![core], vec![])).expect("a finding");
    assert!(advice(&finding).contains("core size above 8"), "{}", advice(&finding));
    let mut fork = family("ForkJoinPool-1-worker-*", &[2.0], Some(("ForkJoinPool", 2, 2)));
    fork.completed_per_s = None;
    fork.request_share = 1.0;
    let finding = found(&record(vec![fork], vec![])).expect("a finding");
    assert!(
        sentence(&finding).starts_with("never more than 2 requests run at once"),
        "{}",
        sentence(&finding)
    );
    assert!(advice(&finding).starts_with("more parallelism"), "{}", advice(&finding));
}

#[test]
fn threads_that_give_what_requests_wait_for_are_the_limit_and_those_who_wait_are_named() {
    let mut common = family("ForkJoinPool.commonPool-worker-*", &[1.0], None);
    common.executor = Some(Executor { class: "ForkJoinPool.commonPool".to_owned(), size: 1, maximum: 1 });
    common.switches_per_s = Some(410.0);
    let waits = group(ThreadState::Future, "CommonPool.main:6", 99.0);
    let finding = found(&record(vec![common], vec![waits])).expect("a finding");
    let expected = "never more than 1 request runs at once (`ForkJoinPool.commonPool-worker-*`, at Elastic.load:6) while \
        100 are in flight. 1 / 2.50 ms = 400/s. 99 are waiting for a result of another thread at CommonPool.main:6";
    assert_eq!(sentence(&finding), expected);
    assert!(advice(&finding).starts_with("an executor of its own"), "{}", advice(&finding));
}

#[test]
fn a_blocked_event_loop_is_called_that() {
    let mut loops = family("reactor-http-epoll-*", &[4.0, 4.0, 4.0, 4.0, 4.0, 3.0], None);
    (loops.request_share, loops.is_event_loop) = (1.0, true);
    let finding = found(&record(vec![loops], vec![])).expect("a finding");
    let expected = "never more than 4 requests run at once (event loops `reactor-http-epoll-*`, all sleeping at Elastic.load:6) \
        while 100 are in flight. 4 / 10.0 ms = 400/s";
    assert_eq!(sentence(&finding), expected);
    assert!(advice(&finding).starts_with("the blocking call"), "{}", advice(&finding));
}

#[test]
fn what_lets_requests_in_before_a_pool_with_room_is_the_limit() {
    let pool = || family("exec-*", &[16.0, 16.0, 15.0, 16.0], Some(("ThreadPoolExecutor", 200, 200)));
    let let_in = |mut pool: ThreadFamily| {
        pool.samples.iter_mut().for_each(|sample| sample.queued = Some(0));
        pool
    };
    let finding = found(&record(vec![let_in(pool())], vec![])).expect("a finding");
    let expected = "never more than 16 requests run at once (`exec-*`, all at Elastic.load:6) while 100 are in flight. \
        16 / 40.0 ms = 400/s. Its ThreadPoolExecutor has room for 184 more, so its size is not the limit";
    assert_eq!(sentence(&finding), expected);
    assert!(advice(&finding).starts_with("a higher limit on requests before `exec-*`"), "{finding:?}");
    let few = |mut pool: ThreadFamily| {
        pool.samples.truncate(2);
        pool
    };
    assert_eq!(found(&record(vec![few(let_in(pool()))], vec![])), None, "too few samples to know");
}

#[test]
fn estimates_are_no_counts() {
    let mut drawn = family("exec-*", &[16.0, 9.0, 22.0, 12.0], None);
    drawn.request_share = 1.0;
    let mut counted = drawn.clone();
    drawn.samples.iter_mut().for_each(|sample| sample.is_estimate = true);
    counted.samples.iter_mut().for_each(|sample| sample.is_estimate = sample.working < 16.0);
    counted.samples.iter_mut().filter(|sample| !sample.is_estimate).for_each(|sample| sample.working = 16.0);
    assert_eq!(found(&record(vec![drawn], vec![])), None);
    let finding = found(&record(vec![counted], vec![])).expect("a finding");
    assert!(
        sentence(&finding).starts_with("never more than 16 requests run at once"),
        "{}",
        sentence(&finding)
    );
}

/// The probe does not know this pool's code, so its threads seem to wait for a notification.
#[test]
fn a_pool_that_counts_itself_is_named_once_and_not_as_a_number_of_requests_as_well() {
    let groups =
        vec![group(ThreadState::Wait, "Ftp.borrow:9", 90.0), group(ThreadState::Socket, "Ftp.send:12", 10.0)];
    let mut pooled = record(vec![], groups);
    assert!(found(&pooled).is_some(), "ten requests are counted");
    let sample = PoolSample { t_s: 1.0, busy: Some(10), size: Some(10), queued: Some(88) };
    let (kind, name) = (PoolKind::CommonsPool2, "ftp".to_owned());
    let pool = Pool { kind, name, max: Some(10), samples: vec![sample; 8] };
    pooled.jvm.iter_mut().for_each(|jvm| jvm.pools = vec![pool.clone()]);
    let limits = found_in_runs(&[pooled.clone(), pooled.clone(), pooled], &[]);
    assert_eq!(limits.iter().map(Finding::rule).collect::<Vec<_>>(), [Rule::RequestWaits]);
    assert!(sentence(&limits[0]).contains("All 10 connections of ftp"), "{limits:?}");
}

#[test]
fn one_task_that_serves_request_after_request_is_known_by_its_waits() {
    let mut ordered = family("worker-*", &[1.0], Some(("ThreadPoolExecutor", 20, 20)));
    (ordered.completed_per_s, ordered.switches_per_s) = (Some(0.0), Some(404.0));
    ordered.samples.iter_mut().for_each(|sample| sample.queued = Some(0));
    let finding = found(&record(vec![ordered.clone()], vec![])).expect("a finding");
    let expected = "never more than 1 request runs at once (`worker-*`, at Elastic.load:6) while 100 are in flight. \
        1 / 2.50 ms = 400/s. Its ThreadPoolExecutor has room for 19 more, so what hands them over does so one at a time";
    assert_eq!(sentence(&finding), expected);
    ordered.switches_per_s = Some(50.0);
    assert_eq!(found(&record(vec![ordered], vec![])), None, "a job with a pace of its own");
}

#[test]
fn permits_are_a_limit_of_requests_that_have_a_thread_each() {
    let groups = vec![
        group(ThreadState::Semaphore, "Shop.page:9", 90.0),
        group(ThreadState::Sleep, "Shop.query:12", 10.0),
    ];
    let finding = found(&record(vec![], groups)).expect("a finding");
    let expected = "about 10 requests run at once (all at Shop.query:12) while 100 are in flight. 10 / 25.0 ms = \
        400/s. 90 are waiting for a permit of a Semaphore at Shop.page:9. Requests spend 90 % of their time there: 225 ms of \
        250 ms";
    assert_eq!(sentence(&finding), expected);
}

/// In Spring's `ConcurrencyThrottleSupport` callers wait in `wait`, and callers that were let in wait for a result.
#[test]
fn a_throttle_by_a_condition_is_a_limit_and_those_that_wait_for_a_result_are_let_in() {
    let throttled = |awaited: Vec<f64>| {
        vec![
            group(ThreadState::Wait, "Mail.send:9", 93.0),
            WaitGroup { threads: awaited, ..group(ThreadState::Future, "Mail.send:9", 0.0) },
        ]
    };
    let steady = || throttled((0..SAMPLES).map(|it| if it % 5 == 0 { 7.0 } else { 6.0 }).collect());
    let finding = found(&record(vec![], steady())).expect("a finding");
    let expected = "about 6 requests run at once (all at Mail.send:9) while 100 are in flight. 6 / 15.0 ms = \
        400/s. 93 are waiting for a notification at Mail.send:9. Requests spend 93 % of their time there";
    assert!(sentence(&finding).starts_with(expected), "{finding:?}");
    let threads = || family("mail-*", &[6.0], None);
    let finding = found(&record(vec![threads()], steady())).expect("a finding");
    assert!(
        sentence(&finding).contains("6 requests run at once (`mail-*`, all at Elastic.load:6)"),
        "{finding:?}"
    );
    let news = throttled((0..SAMPLES).map(|it| (it % 7) as f64).collect());
    assert_eq!(found(&record(vec![], news)), None, "news of which some wait for a result");
}

/// `synchronized` on virtual threads of Java 21, where the running thread and the next one in line hold both carriers.
#[test]
fn a_monitor_whose_waiting_threads_keep_their_carriers_is_the_limit_unless_the_carriers_are() {
    let groups = vec![
        group(ThreadState::Carrier, "", 98.0),
        group(ThreadState::Sleep, "Shop.query:12", 1.0),
        group(ThreadState::Monitor, "Shop.page:9", 0.7),
    ];
    let record = record(vec![], groups);
    let pinned = |mean_pin_ms| {
        let pinned = PinnedCarriers {
            shown_by: PinEvidence::Events,
            carriers: 2.0,
            pinned_share: 0.5,
            all_pinned_share: 0.0,
            mean_pin_ms,
            held_share: None,
            queued_threads: None,
            rate_per_s: Some(400.0),
            server_cpu_cores: 0.1,
            site: None,
            wait: None,
            stood: vec![],
            longest_delay_ms: None,
            java: 21,
        };
        [Finding { variant: None, load: None, runs: None, fact: Fact::PinnedCarriers(pinned) }]
    };
    let finding = found_after(&record, &pinned(Some(2.5))).expect("a finding");
    let expected = "about 1 request runs at once (at Shop.query:12) while 100 are in flight. 1 / 2.50 ms = \
        400/s. Threads waiting for a monitor at Shop.page:9 keep their carriers, and 98 wait for a carrier";
    assert_eq!(sentence(&finding), expected);
    assert_eq!(found_after(&record, &pinned(Some(5.0))), None, "2 / 5.0 ms = 400/s");
    assert_eq!(found_after(&record, &pinned(None)), None);
    assert_eq!(found(&record), None, "carriers that are not held");
}

#[test]
fn without_a_load_the_sockets_show_how_many_are_in_flight() {
    let sockets = ServerSockets { readings: 20, in_flight: 100.0, ..ServerSockets::default() };
    let full = Record { server_sockets: Some(sockets), measured: None, ..record(vec![elastic()], vec![]) };
    let limit = found_in_window(&full).expect("a finding");
    assert_eq!(limit.servers, Some(Servers { count: 20.0, known_by: KnownBy::Gauge }));
    assert_eq!((limit.in_flight, limit.rate_per_s), (Some(100.0), None));
    let counted = ServerSockets { requests_per_s: Some(410.0), ..sockets };
    let mut waits = family("consumer-*", &[1.0], None);
    waits.switches_per_s = Some(820.0);
    let window = |waits: &ThreadFamily, sockets| {
        found_in_window(&Record {
            server_sockets: Some(sockets),
            measured: None,
            ..record(vec![waits.clone()], vec![])
        })
    };
    let limit = window(&waits, counted).expect("a finding");
    assert_eq!(
        limit.sentence(),
        "never more than 1 request runs at once (`consumer-*`, at Elastic.load:6) while 100 are \
        in flight. 1 / 2.44 ms = about 410/s"
    );
    assert_eq!(window(&waits, sockets), None, "a rate that is not known");
    waits.switches_per_s = Some(1.0);
    assert_eq!(window(&waits, counted), None, "a job of its own");
    let idle = ServerSockets { in_flight: 0.0, ..sockets };
    assert_eq!(
        found_in_window(&Record { server_sockets: Some(idle), ..full }),
        None,
        "a batch job with a queue"
    );
}

/// Vert.x' WebClient has five connections per host, and its requests occupy no thread.
#[test]
fn connections_that_always_have_a_request_on_them_are_a_limit_of_requests_without_a_thread() {
    let five = NeighbourConnections {
        address: "10.0.0.7:9000".to_owned(),
        readings: 20,
        fewest: 5,
        most: 5,
        waiting: 14,
        answered: 0,
        paced: 90,
        is_own: false,
        late: 3,
    };
    let with = |neighbour: NeighbourConnections, groups| Record {
        neighbours: vec![neighbour],
        ..record(vec![], groups)
    };
    let finding = found(&with(five.clone(), vec![])).expect("a finding");
    let expected = "never more than 5 requests run at once (on 5 connections to 10.0.0.7:9000) while 100 are in flight. \
        5 / 12.5 ms = 400/s";
    assert_eq!(sentence(&finding), expected);
    assert!(advice(&finding).starts_with("more connections to 10.0.0.7:9000"), "{}", advice(&finding));
    let mut of_client = group(ThreadState::Future, "Search.find:7", 100.0);
    of_client.activity.resource = Some("org.elasticsearch.client.RestClient".to_owned());
    let on_threads = found(&with(five.clone(), vec![of_client])).expect("a finding");
    assert_eq!(sentence(&on_threads), expected, "threads that wait for the response of a client");
    let silent = [
        (
            "connections that rest between their requests",
            NeighbourConnections { answered: 3, ..five.clone() },
            vec![],
        ),
        ("several requests share a connection", NeighbourConnections { late: 30, ..five.clone() }, vec![]),
        ("one for each request", NeighbourConnections { fewest: 100, most: 100, ..five.clone() }, vec![]),
        ("as many as are needed at the moment", NeighbourConnections { fewest: 3, ..five.clone() }, vec![]),
        ("stamps that show nothing", NeighbourConnections { waiting: 2, ..five.clone() }, vec![]),
        ("requests that run on threads", five.clone(), vec![group(ThreadState::Sleep, "Shop.page:9", 90.0)]),
    ];
    for (case, neighbour, groups) in silent {
        assert_eq!(found(&with(neighbour, groups)), None, "{case}");
    }
    let mut full = with(five, vec![]);
    full.cost.iter_mut().for_each(|cost| cost.machine_cpu_cores = 1.95);
    assert_eq!(found(&full), None, "a full CPU");
}

#[test]
fn look_alikes_are_left_alone() {
    let asleep = || group(ThreadState::Sleep, "Shop.page:9", 100.0);
    let mut job = family("main", &[1.0], None);
    job.switches_per_s = Some(0.1);
    let mut calls = elastic();
    calls.completed_per_s = Some(2.0);
    let mut reads = family("redis-reader", &[1.0], None);
    (reads.switches_per_s, reads.activity) = (Some(400.0), activity(ThreadState::Socket, "Shop.read:4"));
    let varies = family("exec-*", &[30.0, 41.0, 25.0, 36.0, 28.0], None);
    let mut all = family("exec-*", &[100.0], None);
    (all.request_share, all.activity) = (1.0, activity(ThreadState::Sleep, "Shop.page:9"));
    let mut of_requests = varies.clone();
    of_requests.request_share = 1.0;
    let mut connected = family("exec-*", &[10.0], Some(("ThreadPoolExecutor", 200, 200)));
    connected.request_share = 1.0;
    let wait_for_one = group(ThreadState::Pool, "Shop.page:9", 90.0);
    // Counts of about 40 of 100 vary by 10 % by chance.
    let mut many = family("exec-*", &[40.0, 44.0, 36.0, 43.0, 37.0], None);
    many.request_share = 1.0;
    let mut drawn = family("exec-*", &[0.0, 1.0, 2.0, 1.0], None);
    drawn.request_share = 1.0;
    drawn.samples.iter_mut().for_each(|sample| sample.is_estimate = true);
    let silent = [
        ("as many run as are in flight", vec![all], vec![asleep()]),
        ("a job that sleeps", vec![job], vec![]),
        ("a client's thread that reads for all", vec![reads], vec![]),
        ("a pool of jobs, beside requests that wait without a thread", vec![calls], vec![]),
        (
            "a pool with room",
            vec![family("x-*", &[20.0, 18.0, 22.0, 15.0, 26.0], Some(("ThreadPoolExecutor", 200, 200)))],
            vec![],
        ),
        (
            "a pool that is full for a moment",
            vec![family("x-*", &[16.0, 17.0, 20.0, 20.0], Some(("ThreadPoolExecutor", 20, 20)))],
            vec![],
        ),
        ("as many as it happens to be, of many", vec![many], vec![]),
        ("a draw that shows one or two now and then", vec![drawn], vec![]),
        ("requests that have one of ten connections", vec![connected], vec![wait_for_one]),
        ("as many as it happens to be", vec![of_requests], vec![]),
        ("a full pool beside requests that run elsewhere", vec![elastic()], vec![asleep()]),
        ("long polls", vec![], vec![group(ThreadState::Future, "Shop.poll:3", 100.0)]),
        (
            "long polls that write now and then",
            vec![],
            vec![
                group(ThreadState::Wait, "Shop.poll:3", 97.0),
                WaitGroup {
                    threads: (0..SAMPLES).map(|it| (it % 7) as f64).collect(),
                    ..group(ThreadState::Running, "Shop.write:5", 0.0)
                },
            ],
        ),
    ];
    for (case, families, groups) in silent {
        assert_eq!(found(&record(families, groups)), None, "{case}");
    }
}

#[test]
fn requests_on_connections_that_were_not_accepted_wait_for_no_thread() {
    let mut all = family("exec-*", &[50.0], None);
    all.request_share = 1.0;
    let record = record(vec![all], vec![]);
    assert!(found(&record).is_some());
    let sockets = ServerSockets { not_accepted: 50.0, usually_not_accepted: 50, ..ServerSockets::default() };
    assert_eq!(found(&Record { server_sockets: Some(sockets), ..record }), None);
}

#[test]
fn computing_on_all_cores_is_the_limit_of_the_cpu() {
    let mut computes = family("consumer-*", &[1.0], None);
    computes.switches_per_s = Some(400.0);
    computes.activity = activity(ThreadState::Running, "Shop.price:7");
    let mut both = computes.clone();
    both.samples.iter_mut().for_each(|sample| sample.working = 2.0);
    assert_eq!(found(&record(vec![both], vec![])), None, "each of two cores");
    let mut record = record(vec![computes], vec![]);
    assert!(found(&record).is_some(), "a core is idle");
    if let Some(cost) = &mut record.cost {
        cost.machine_cpu_cores = 1.95;
    }
    assert_eq!(found(&record), None);
}

proptest::proptest! {
    #[test]
    fn each_sentence_has_its_figures_and_no_negative_or_endless_one(
        at_once in 1..5_000_u32,
        more in 0.0..5_000.0_f64,
        rate_per_s in proptest::option::of(0.001..1e6_f64),
        queued in proptest::option::of(0.0..1e6_f64),
        is_event_loop: bool,
        has_place: bool,
    ) {
        let running = if has_place { activity(ThreadState::Sleep, "Shop.page:9") } else { ThreadActivity::default() };
        let name = "exec-*".to_owned();
        let limit = Station {
            resource: Resource::Threads(LimitedThreads { name, is_event_loop, executor: None }),
            servers: Some(Servers { count: at_once.into(), known_by: KnownBy::Count }),
            in_flight: Some(f64::from(at_once) + more),
            rate_per_s,
            in_service: Some(InService { activity: running, share: 1.0 }),
            queue: queued.map(|requests| Queue { requests, ..Queue::default() }),
            ..Station::default()
        };
        let finding = Finding { variant: None, load: None, runs: None, fact: limit.into_fact() };
        let words = crate::words::finding::words(&finding);
        for text in words.evidence.iter().chain([&words.sentence]) {
            proptest::prop_assert!(!["-0", "()", "NaN", "inf"].iter().any(|it| text.contains(it)), "{text}");
        }
    }
}
