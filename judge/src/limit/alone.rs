//! Counts the requests in service by Little's law: throughput x time of a request that had the server to itself. This needs no samples of
//! threads, so it also counts asynchronous requests, requests that wait in native code, and requests on which a neighbour works.

use super::connections::{self, connections_to};
use super::flow::{Flow, threads};
use super::station::{KnownBy, Queue, Resource, Servers, Station};
use super::thresholds::{
    AS_MANY_THREADS, AT_ONE_PLACE_BY_TIME, FEWER, FEWEST_QUEUED, FEWEST_WAITING, MOST, MUCH_FEWER,
};
use crate::evidence::variant_runs::RunFigures;
use threadcount_model::record::Record;
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState, WaitGroup};

/// The number of requests in service if each takes as long as a request alone; `None` if unknown, or if it is about the number in flight.
pub(super) fn at_once(record: &Record, in_flight: f64, rate_per_s: f64) -> Option<f64> {
    let at_once = rate_per_s * alone_ms(record)? / 1_000.0;
    let whole = at_once.round();
    let is_whole = whole >= 1.0 && (at_once / whole - 1.0).abs() <= 1.0 - MUCH_FEWER;
    let number = if is_whole { whole } else { at_once };
    // A number below one cannot be right, because a single client alone already keeps one request in service.
    (at_once <= MUCH_FEWER * in_flight && number >= FEWER).then_some(number)
}

fn alone_ms(record: &Record) -> Option<f64> {
    record.warm_up.as_ref()?.alone.filter(|it| it.is_sure()).map(|it| it.time_ms())
}

/// The station that requests wait for although the CPU would let them run, wherever they wait.
pub(super) fn station(flow: &Flow<'_>) -> Option<Station> {
    let at_once = in_use(flow.record, flow.by_time?);
    let others = flow.in_flight - at_once;
    let has_cores = flow.cores > 0.0 || gets_a_core(flow.record);
    if !has_cores || others < FEWEST_QUEUED || computes(flow, at_once) {
        return None;
    }
    let (runnable, blocked): (Vec<&WaitGroup>, Vec<&WaitGroup>) =
        on_threads(flow, others).into_iter().partition(|group| group.activity.state.is_runnable());
    if flow.threads(runnable) >= MOST * others {
        return None;
    }
    // Requests in service may be on threads too, so that many of the blocked threads are not in the queue.
    let beyond = flow.threads(blocked.iter().copied()) - at_once;
    let wait = flow.largest(blocked.into_iter().filter(|group| group.activity.has_place()));
    let wait = wait.filter(|it| flow.threads([*it]).min(beyond) >= AT_ONE_PLACE_BY_TIME * others);
    let is_known = if beyond >= MOST * others { wait.is_some() } else { is_median_longer(flow.record) };
    let is_pool = wait.is_some_and(|it| it.activity.state == ThreadState::Pool);
    // The pool's own readings name it and its size.
    let is_named = is_pool && connections::full(flow.record, FEWEST_WAITING).is_some();
    let queue = wait.map(|it| flow.queue(it, others));
    (is_known && !is_named).then(|| Station {
        queue: queue.map(|it| Queue { request_share: it.request_share.filter(|share| *share > 0.0), ..it }),
        unqueued_ms: alone_ms(flow.record),
        ..flow.station(shared(flow.record, at_once), Servers::new(at_once, KnownBy::Arithmetic))
    })
}

/// Is the median longer than a request alone? A pause of the whole service lowers the throughput but does not lengthen the median.
fn is_median_longer(record: &Record) -> bool {
    let times = record.observed_window().and_then(|(load, _)| load.response_time_ms);
    alone_ms(record).zip(times).is_some_and(|(alone_ms, times)| alone_ms <= MUCH_FEWER * times.p50)
}

/// Does a runnable thread of the server get a core soon even though other processes fill the CPU?
fn gets_a_core(record: &Record) -> bool {
    const SOON: f64 = 0.05;
    let delays = record.jvm.as_ref().and_then(|jvm| jvm.run_delays.as_ref()?.platform_threads);
    delays.zip(alone_ms(record)).is_some_and(|(delay, alone_ms)| delay.p50_ms <= SOON * alone_ms)
}

/// Do the requests in service compute, that is, use about a core each and nearly all cores there are?
fn computes(flow: &Flow<'_>, at_once: f64) -> bool {
    let used = RunFigures::without_load(flow.record).map_or(flow.cores, |it| it.cpu.server_cores);
    used >= MOST * at_once && at_once > flow.cores - 1.0
}

/// The groups of request threads; for an unknown server, application threads if they are about as many as the requests that wait.
fn on_threads<'a>(flow: &Flow<'a>, others: f64) -> Vec<&'a WaitGroup> {
    let groups_of = |role: ThreadRole| -> Vec<&WaitGroup> {
        let groups = flow.profile.groups.iter().filter(|group| group.role == role);
        groups.filter(|group| group.activity.state != ThreadState::Select).collect()
    };
    let (requests, application) = (groups_of(ThreadRole::Request), groups_of(ThreadRole::Application));
    let mean = |groups: &[&WaitGroup]| threads(flow.profile, groups.iter().copied());
    let are_as_many = AS_MANY_THREADS.contains(&(mean(&application) / others));
    let is_unknown = mean(&requests) < MOST * others && are_as_many;
    if is_unknown { application } else { requests }
}

/// The number of busy connections to a neighbour if it is close to `at_once`: these connections are then the requests in service.
fn in_use(record: &Record, at_once: f64) -> f64 {
    let about = MUCH_FEWER * at_once..=at_once / MUCH_FEWER;
    let counts = record.neighbours.iter().filter(|it| is_in_use(it)).map(|it| f64::from(it.most));
    counts.filter(|it| about.contains(it)).max_by(f64::total_cmp).unwrap_or(at_once)
}

fn is_in_use(neighbour: &NeighbourConnections) -> bool {
    2 * neighbour.paced >= u64::from(neighbour.readings) && neighbour.waiting > neighbour.answered
}

/// The busy connections to a neighbour if they are fewer than the requests in service: each may carry several requests, up to a limit.
fn shared(record: &Record, at_once: f64) -> Resource {
    let few = record.neighbours.iter().filter(|it| f64::from(it.most) < at_once && is_in_use(it));
    few.max_by_key(|it| it.paced).map_or(Resource::Awaited, |it| Resource::Neighbour(connections_to(it)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{activity, family, found, found_after, found_in_window, group, record};
    use crate::evidence::variant_runs::stage::{advice, sentence};
    use crate::finding::{Fact, Finding};
    use crate::findings::held_segments::HeldSegments;
    use threadcount_model::record::jvm::{Pool, PoolKind, PoolSample};
    use threadcount_model::record::neighbour::NeighbourConnections;
    use threadcount_model::record::run_delay::{RunDelay, RunDelays};
    use threadcount_model::record::wait_profile::{ThreadRole, ThreadState, WaitGroup};
    use threadcount_model::record::{Record, RequestsAlone, WarmUp};

    /// Adds 20 requests of one client that had the server to itself, with this mean time and deviation.
    fn alone(record: Record, mean_ms: f64, stddev_ms: f64) -> Record {
        let alone = RequestsAlone { requests: 20, mean_ms, p50_ms: mean_ms, stddev_ms };
        let warm_up = WarmUp { fastest_ms: Some(mean_ms), alone: Some(alone), ..WarmUp::default() };
        Record { warm_up: Some(warm_up), ..record }
    }

    fn at_a_client(threads: f64) -> WaitGroup {
        let mut group = group(ThreadState::Future, "Shop.page:9", threads);
        group.activity.resource = Some("gRPC".to_owned());
        group
    }

    /// Reactor's `flatMap` with a concurrency of 6: 400/s x 14.7 ms = 5.9.
    #[test]
    fn requests_without_a_thread_are_counted_by_the_time_of_one_alone() {
        let finding = found(&alone(record(vec![], vec![]), 14.7, 2.0)).expect("a finding");
        let expected = "about 6 requests run at once while 100 are in flight. 6 / 15.0 ms = 400/s. The \
            others wait without a thread";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).starts_with("whatever lets in 6 at once without a thread"), "{finding:?}");
        let mean = found(&alone(record(vec![], vec![]), 3.5, 0.2)).expect("a finding");
        let expected = "about 1.4 requests run at once while 100 are in flight. 1.4 / 3.50 ms = 400/s. The \
            others wait without a thread";
        assert_eq!(sentence(&mean), expected);
    }

    /// Ten streams of one HTTP/2 connection are the limit.
    #[test]
    fn where_threads_wait_for_a_client_its_limit_is_the_number_and_their_line_the_place() {
        let finding = found(&alone(record(vec![], vec![at_a_client(98.0)]), 25.0, 2.0)).expect("a finding");
        let expected = "about 10 requests run at once while 100 are in flight. 10 / 25.0 ms = 400/s. 90 are \
            waiting for a result of gRPC at Shop.page:9. Requests spend 98 % of their time there: 245 ms of 250 ms";
        assert_eq!(sentence(&finding), expected);
        assert!(
            advice(&finding).starts_with("a higher limit of gRPC on connections, streams"),
            "{finding:?}"
        );
        let mut unnamed = at_a_client(98.0);
        unnamed.activity.resource = Some("org.apache.http.concurrent.BasicFuture".to_owned());
        let finding = found(&alone(record(vec![], vec![unnamed]), 25.0, 2.0)).expect("a finding");
        assert_eq!(advice(&finding), "whatever lets in 10 at once at Shop.page:9");
        let connections = |paced| NeighbourConnections {
            address: "10.0.0.7:9000".to_owned(),
            readings: 20,
            fewest: 1,
            most: 1,
            paced,
            waiting: 9,
            late: paced,
            ..NeighbourConnections::default()
        };
        let with = |paced| Record {
            neighbours: vec![connections(paced)],
            ..alone(record(vec![], vec![at_a_client(98.0)]), 25.0, 2.0)
        };
        let sentences = |paced| sentence(&found(&with(paced)).expect("a finding"));
        assert!(sentences(20).starts_with("about 10 requests run at once while"), "{}", sentences(20));
        assert!(sentences(20).ends_with("1 connection to 10.0.0.7:9000 is in use"), "{}", sentences(20));
        assert!(!sentences(0).contains("10.0.0.7"), "it is idle");
        let mut counted = with(160);
        counted.neighbours.iter_mut().for_each(|it| it.most = 8);
        let counted = sentence(&found(&counted).expect("a finding"));
        assert!(counted.starts_with("about 8 requests run at once"), "one after the other: {counted}");
    }

    #[test]
    fn the_limit_of_a_client_is_to_be_raised_and_not_the_service_behind_it_to_be_faster() {
        let advice_at = |group: WaitGroup| {
            let finding = found(&alone(record(vec![], vec![group]), 25.0, 2.0));
            advice(&finding.expect("a limit"))
        };
        let mut streams = at_a_client(98.0);
        streams.activity.resource = Some("Jetty HttpClient".to_owned());
        let more_streams = "a higher limit of Jetty HttpClient on connections, streams or requests";
        assert!(advice_at(streams).starts_with(more_streams));
        let mut reads = group(ThreadState::Socket, "Shop.page:9", 98.0);
        reads.activity.peer = Some("10.0.0.7:9000".to_owned());
        let more_at_once = "more requests at once at 10.0.0.7:9000, or fewer that need it";
        assert_eq!(advice_at(reads), more_at_once);
    }

    #[test]
    fn threads_of_a_server_that_is_not_known_wait_as_those_of_requests_do() {
        let mut native = group(ThreadState::Native, "Shop.save:4", 97.0);
        native.role = ThreadRole::Application;
        let finding = found(&alone(record(vec![], vec![native]), 2.5, 0.1)).expect("a finding");
        let expected = "about 1 request runs at once while 100 are in flight. 1 / 2.50 ms = 400/s. 97 are \
            waiting in native code of a library at Shop.save:4";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn requests_that_sleep_until_their_turn_have_a_rate_and_no_number() {
        let sleeping = group(ThreadState::Sleep, "Limiter.acquire:12", 97.0);
        let finding = found(&alone(record(vec![], vec![sleeping]), 3.1, 0.1)).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "requests pass Limiter.acquire:12 at no more than 400/s while 100 are in flight. 97 are sleeping at \
            Limiter.acquire:12"
        );
        assert_eq!(advice(&finding), "a higher rate at Limiter.acquire:12");
    }

    #[test]
    fn as_many_threads_as_requests_run_at_once_are_those_that_run_and_not_those_that_wait() {
        let running = group(ThreadState::Sleep, "Shop.page:9", 40.0);
        let finding = found(&alone(record(vec![], vec![running]), 100.0, 1.0)).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "about 40 requests run at once while 100 are in flight. 40 / 100 ms = 400/s. The others \
             wait without a thread"
        );
    }

    #[test]
    fn few_samples_of_threads_that_are_alike_are_a_limit_where_the_time_of_a_request_alone_is_too() {
        let few = |alone_ms: f64| {
            let mut pool = family("exec-*", &[3.0], Some(("ThreadPoolExecutor", 200, 200)));
            pool.samples.truncate(3);
            pool.request_share = 1.0;
            found(&alone(record(vec![pool], vec![]), alone_ms, 0.2))
        };
        let named = few(8.0).expect("a finding");
        assert!(
            sentence(&named).starts_with("never more than 3 requests run at once (`exec-*`"),
            "{named:?}"
        );
        let by_time_alone = few(100.0).expect("a finding");
        assert!(sentence(&by_time_alone).contains("about 40"), "{by_time_alone:?}");
    }

    /// Only some of the pool's 200 threads are drawn for each sample, so the counts are estimates.
    #[test]
    fn permits_that_few_samples_count_badly_have_the_number_of_the_time_alone_or_of_all_threads() {
        let groups = || {
            vec![
                group(ThreadState::Semaphore, "Shop.page:9", 90.0),
                group(ThreadState::Sleep, "Shop.query:12", 5.0),
            ]
        };
        let by_time = found(&alone(record(vec![], groups()), 7.6, 0.2)).expect("a finding");
        assert!(sentence(&by_time).starts_with("about 3 requests run at once (all at"), "{by_time:?}");
        let mut pool = family("exec-*", &[3.0], Some(("ThreadPoolExecutor", 200, 200)));
        pool.request_share = 1.0;
        let counted = found(&record(vec![pool], groups())).expect("a finding");
        assert!(
            sentence(&counted).starts_with("never more than 3 requests run at once (all at"),
            "{counted:?}"
        );
    }

    #[test]
    fn connections_of_a_pool_without_readings_have_a_number_and_those_of_one_with_are_left_to_it() {
        let groups = || {
            let mut waits = group(ThreadState::Pool, "Shop.page:9", 97.0);
            waits.activity.resource = Some("Apache HttpClient 4".to_owned());
            vec![waits, group(ThreadState::Socket, "Shop.page:9", 2.0)]
        };
        let finding = found(&record(vec![], groups())).expect("a finding");
        let expected = "about 2 requests run at once (all at Shop.page:9) while 100 are in flight. 2 / 5.00 ms = \
            400/s. 97 are waiting for an Apache HttpClient 4 connection at Shop.page:9. Requests spend 97 % of their time there";
        assert!(sentence(&finding).starts_with(expected), "{finding:?}");
        assert!(advice(&finding).starts_with("a larger pool"), "{finding:?}");
        let mut read = record(vec![], groups());
        let sample = PoolSample { t_s: 1.0, busy: Some(2), size: Some(2), queued: Some(97) };
        let pool =
            Pool { kind: PoolKind::Hikari, name: "shop".to_owned(), max: Some(2), samples: vec![sample; 8] };
        read.jvm.iter_mut().for_each(|jvm| jvm.pools = vec![pool.clone()]);
        assert_eq!(found(&alone(read, 5.0, 0.1)), None);
    }

    #[test]
    fn a_client_that_reads_is_named_and_not_its_neighbour_in_the_same_process() {
        let mut backend = family("backend-*", &[5.0], Some(("ThreadPoolExecutor", 200, 200)));
        backend.request_share = 1.0;
        let mut client = family("client-*", &[5.0], Some(("ThreadPoolExecutor", 1_000, 1_000)));
        client.activity = activity(ThreadState::Socket, "Client.send:7");
        let finding = found(&record(vec![backend, client], vec![])).expect("a finding");
        assert!(sentence(&finding).contains("(`client-*`, all at Client.send:7)"), "{finding:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let many = || vec![group(ThreadState::Running, "Shop.page:9", 90.0)];
        let busy = |machine: f64, server: f64| {
            let mut record = alone(record(vec![], vec![]), 5.0, 0.1);
            record
                .cost
                .iter_mut()
                .for_each(|cost| (cost.machine_cpu_cores, cost.cpu_cores) = (machine, server));
            record
        };
        let delayed = |p50_ms: f64, server: f64| {
            let mut record = busy(1.95, server);
            let platform_threads = Some(RunDelay { count: 1_000, p50_ms, p99_ms: 9.0, max_ms: 20.0 });
            let delays = RunDelays { platform_threads, ..RunDelays::default() };
            record.jvm.iter_mut().for_each(|jvm| jvm.run_delays = Some(delays.clone()));
            record
        };
        assert!(found(&delayed(0.1, 0.1)).is_some(), "others fill the CPU, and threads get a core at once");
        let mut paused = alone(record(vec![], vec![]), 150.0, 1.0);
        paused.measured.iter_mut().for_each(|load| {
            load.response_time_ms.iter_mut().for_each(|times| times.p50 = 150.0);
        });
        // 60 requests are in service, and 40 are not.
        let mut beside_idle = paused.clone();
        let mut idle = group(ThreadState::Queue, "Worker.take:31", 80.0);
        idle.role = ThreadRole::Application;
        let profile = beside_idle.jvm.as_mut().and_then(|jvm| jvm.wait_profile.as_mut());
        profile.expect("a profile").groups.push(idle);
        let at_lines = ["a", "b", "c", "d"].map(|line| group(ThreadState::Native, line, 22.0));
        let four_lines = alone(record(vec![], at_lines.to_vec()), 2.5, 0.1);
        let few = RequestsAlone { requests: 3, mean_ms: 15.0, p50_ms: 15.0, stddev_ms: 0.1 };
        let mut too_few = record(vec![], vec![]);
        too_few.warm_up = Some(WarmUp { alone: Some(few), ..WarmUp::default() });
        let silent = [
            ("about as long as with others", alone(record(vec![], vec![]), 230.0, 5.0)),
            ("times that differ too much to know their mean", alone(record(vec![], vec![]), 15.0, 15.0)),
            ("too few", too_few),
            ("a request of less than a millisecond", alone(record(vec![], vec![]), 0.5, 0.01)),
            ("a wait of less than a quarter of the others", four_lines),
            ("a service that was paused", paused),
            ("a service that was paused beside twice as many idle workers", beside_idle),
            ("requests that compute or have no core", alone(record(vec![], many()), 15.0, 0.1)),
            ("a full CPU", busy(1.95, 0.3)),
            ("a CPU that others fill, where threads wait for a core", delayed(3.0, 0.1)),
            ("a full CPU of which the server has more than those that run", delayed(0.1, 1.2)),
            ("requests that compute on all cores but one", busy(1.3, 1.2)),
        ];
        for (case, record) in silent {
            assert_eq!(found(&record), None, "{case}");
        }
        let held =
            HeldSegments { held: 70.0, connections: 100.0, held_ms: Some(40.0), service_time_ms: Some(60.0) };
        let held = Finding { variant: None, load: None, runs: None, fact: Fact::HeldSegments(held) };
        let record = alone(record(vec![], vec![]), 15.0, 0.1);
        assert_eq!(found_after(&record, &[held]), None, "time in the server's sockets");
        assert_eq!(found_in_window(&Record { measured: None, ..record }), None, "no load");
    }
}
