//! The number of requests that run at once, by Little's law: rate x time of a request that had the server to itself. Needs no threads, so it
//! also counts asynchronous requests, requests that wait in native code, and requests that a neighbour works on.

use super::rule::{Demand, MOST};
use super::{ConcurrencyLimit, LimitedConnections, WaitingThreads};
use crate::evidence::connection_pools;
use crate::evidence::variant_runs::RunFigures;
use threadcount_model::record::Record;
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState, WaitGroup, WaitProfile};

/// A limit lets in at most this share of the requests in flight; a smaller gap may only mean that the machine is busy.
const MUCH_FEWER: f64 = 0.75;
/// Least share of the requests that do not run which must wait at the place that is named.
const AT_ONE_PLACE: f64 = 0.25;
/// Ratio of an unknown server's threads to the requests that do not run; a few threads of a known server may belong to another server.
const AS_MANY: std::ops::RangeInclusive<f64> = MOST..=1.2;
/// A number of requests that is this close to a whole number, relatively, counts as that number.
const WHOLE: f64 = 0.25;
/// Fewer requests at once than this are no limit, because a single client alone would do more.
const LEAST: f64 = 0.9;

/// How many requests run at once if each takes as long as a request alone; `None` if unknown, or about as many as are in flight.
pub(super) fn at_once(record: &Record, in_flight: f64, rate_per_s: f64) -> Option<f64> {
    let at_once = rate_per_s * alone_ms(record)? / 1_000.0;
    let whole = at_once.round();
    let is_whole = whole >= 1.0 && (at_once / whole - 1.0).abs() <= WHOLE;
    let is_fewer = at_once <= MUCH_FEWER * in_flight;
    is_fewer.then_some(if is_whole { whole } else { at_once }).filter(|it| *it >= LEAST)
}

/// Is the median longer than a request alone? A pause of the whole service lowers the rate but does not lengthen the median.
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

fn alone_ms(record: &Record) -> Option<f64> {
    record.warm_up.as_ref()?.alone.filter(|it| it.is_sure()).map(|it| it.time_ms())
}

/// The limit on requests that wait for no core, wherever they wait.
pub(super) fn limit(record: &Record, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    let at_once = by_connections(record, demand.by_time?);
    let others = demand.in_flight - at_once;
    let has_cores = demand.cores > 0.0 || gets_a_core(record);
    if !has_cores || others < 2.0 || computes(record, at_once, demand.cores) {
        return None;
    }
    let waiting = waiting_on_threads(profile, others);
    let (runnable, blocked): (Vec<&WaitGroup>, Vec<&WaitGroup>) =
        waiting.into_iter().partition(|group| group.activity.state.is_runnable());
    let mean = |groups: &[&WaitGroup]| groups.iter().map(|group| profile.mean_threads(group)).sum::<f64>();
    if mean(&runnable) >= MOST * others {
        return None;
    }
    let placed = blocked.iter().filter(|group| group.activity.has_place());
    let most = placed.map(|group| (profile.mean_threads(group), *group)).max_by(|a, b| a.0.total_cmp(&b.0));
    // Requests that run may be on threads too; that many of the blocked threads wait for nobody.
    let beyond = mean(&blocked) - at_once;
    let waits = most.filter(|(threads, _)| threads.min(beyond) >= AT_ONE_PLACE * others);
    let are_on_threads = beyond >= MOST * others;
    let is_known = if are_on_threads { waits.is_some() } else { is_median_longer(record) };
    let is_named = waits.is_some_and(|(_, group)| is_full_pool(record, group));
    (is_known && !is_named).then(|| ConcurrencyLimit {
        waiting: waits.map(|(threads, group)| WaitingThreads {
            activity: group.activity.clone(),
            threads: threads.min(others),
            without_carrier: 0.0,
        }),
        connections: shared(record, at_once),
        alone_ms: alone_ms(record),
        ..demand.limited_to(at_once)
    })
}

/// The groups of request threads; for an unknown server, application threads if they are about as many as the requests that wait.
fn waiting_on_threads(profile: &WaitProfile, others: f64) -> Vec<&WaitGroup> {
    let groups_of = |role: ThreadRole| -> Vec<&WaitGroup> {
        let groups = profile.groups.iter().filter(|group| group.role == role);
        groups.filter(|group| group.activity.state != ThreadState::Select).collect()
    };
    let mean = |groups: &[&WaitGroup]| groups.iter().map(|group| profile.mean_threads(group)).sum::<f64>();
    let (requests, application) = (groups_of(ThreadRole::Request), groups_of(ThreadRole::Application));
    let is_unknown = mean(&requests) < MOST * others && AS_MANY.contains(&(mean(&application) / others));
    if is_unknown { application } else { requests }
}

/// The number of connections to a neighbour in use if it is about `at_once`: then these connections are what was counted.
fn by_connections(record: &Record, at_once: f64) -> f64 {
    let about = (1.0 - MUCH_FEWER).mul_add(-at_once, at_once)..=at_once / MUCH_FEWER;
    let counts = record.neighbours.iter().filter(|it| is_in_use(it)).map(|it| f64::from(it.most));
    counts.filter(|it| about.contains(it)).max_by(f64::total_cmp).unwrap_or(at_once)
}

fn is_in_use(neighbour: &NeighbourConnections) -> bool {
    2 * neighbour.paced >= u64::from(neighbour.readings) && neighbour.waiting > neighbour.answered
}

/// Connections to a neighbour that are in use but fewer than the running requests: each may carry several at once, up to a limit.
fn shared(record: &Record, at_once: f64) -> Option<LimitedConnections> {
    let few = record.neighbours.iter().filter(|it| f64::from(it.most) < at_once && is_in_use(it));
    few.max_by_key(|it| it.paced)
        .map(|it| LimitedConnections { address: it.address.clone(), connections: it.most })
}

/// Do the running requests compute, that is, use about a core each and nearly all cores there are?
fn computes(record: &Record, at_once: f64, cores: f64) -> bool {
    let used = RunFigures::without_load(record).map_or(cores, |it| it.server_cpu_cores);
    used >= MOST * at_once && at_once > cores - 1.0
}

/// Do the readings of a full connection pool already name the pool and its size?
fn is_full_pool(record: &Record, group: &WaitGroup) -> bool {
    group.activity.state == ThreadState::Pool
        && connection_pools::full(record, connection_pools::FEWEST_WAITING).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::rule::in_window;
    use super::super::tests::{activity, family, found, found_after, group, record};
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
        let expected = "never more than about 6 requests run at once while 100 are in flight. 6 / 15.0 ms = 400/s. The \
            others wait without a thread";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).starts_with("whatever lets in 6 at once without a thread"), "{finding:?}");
        let mean = found(&alone(record(vec![], vec![]), 3.5, 0.2)).expect("a finding");
        let expected = "no more than 1.4 requests run at once on average while 100 are in flight. 1.4 / 3.50 ms = 400/s. The \
            others wait without a thread";
        assert_eq!(sentence(&mean), expected);
    }

    /// Ten streams of one HTTP/2 connection are the limit.
    #[test]
    fn where_threads_wait_for_a_client_its_limit_is_the_number_and_their_line_the_place() {
        let finding = found(&alone(record(vec![], vec![at_a_client(98.0)]), 25.0, 2.0)).expect("a finding");
        let expected = "never more than about 10 requests run at once while 100 are in flight. 10 / 25.0 ms = 400/s. 90 are \
            waiting for a result of gRPC at Shop.page:9";
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
        assert!(
            sentences(20).ends_with("at Shop.page:9. 1 connection to 10.0.0.7:9000 is in use"),
            "{}",
            sentences(20)
        );
        assert!(sentences(0).ends_with("at Shop.page:9"), "it is idle");
        let mut counted = with(160);
        counted.neighbours.iter_mut().for_each(|it| it.most = 8);
        let counted = sentence(&found(&counted).expect("a finding"));
        assert!(
            counted.starts_with("never more than about 8 requests run at once"),
            "one after the other: {counted}"
        );
    }

    #[test]
    fn threads_of_a_server_that_is_not_known_wait_as_those_of_requests_do() {
        let mut native = group(ThreadState::Native, "Shop.save:4", 97.0);
        native.role = ThreadRole::Application;
        let finding = found(&alone(record(vec![], vec![native]), 2.5, 0.1)).expect("a finding");
        let expected = "never more than about 1 request runs at once while 100 are in flight. 1 / 2.50 ms = 400/s. 97 are \
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
            "never more than about 40 requests run at once while 100 are in flight. 40 / 100 ms = 400/s. The others \
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

    /// In a pool of 200 threads only some are drawn for each sample, so the counts are estimates.
    #[test]
    fn permits_that_few_samples_count_badly_have_the_number_of_the_time_alone_or_of_all_threads() {
        let groups = || {
            vec![
                group(ThreadState::Semaphore, "Shop.page:9", 90.0),
                group(ThreadState::Sleep, "Shop.query:12", 5.0),
            ]
        };
        let by_time = found(&alone(record(vec![], groups()), 7.6, 0.2)).expect("a finding");
        assert!(
            sentence(&by_time).starts_with("never more than 3 requests run at once (all at"),
            "{by_time:?}"
        );
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
        let expected = "never more than 2 requests run at once (all at Shop.page:9) while 100 are in flight. 2 / 5.00 ms = \
            400/s. 97 are waiting for an Apache HttpClient 4 connection at Shop.page:9";
        assert_eq!(sentence(&finding), expected);
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
        let few = RequestsAlone { requests: 3, mean_ms: 15.0, p50_ms: 15.0, stddev_ms: 0.1 };
        let mut too_few = record(vec![], vec![]);
        too_few.warm_up = Some(WarmUp { alone: Some(few), ..WarmUp::default() });
        let silent = [
            ("about as long as with others", alone(record(vec![], vec![]), 230.0, 5.0)),
            ("times that differ too much to know their mean", alone(record(vec![], vec![]), 15.0, 15.0)),
            ("too few", too_few),
            ("a request of less than a millisecond", alone(record(vec![], vec![]), 0.5, 0.01)),
            ("a service that was paused", paused),
            ("requests that compute or have no core", alone(record(vec![], many()), 15.0, 0.1)),
            ("a full CPU", busy(1.95, 0.3)),
            ("a CPU that others fill, where threads wait for a core", delayed(3.0, 0.1)),
            ("a full CPU of which the server has more than those that run", delayed(0.1, 1.2)),
            ("requests that compute on all cores but one", busy(1.3, 1.2)),
        ];
        for (what, record) in silent {
            assert_eq!(found(&record), None, "{what}");
        }
        let held =
            HeldSegments { held: 70.0, connections: 100.0, held_ms: Some(40.0), service_time_ms: Some(60.0) };
        let held = Finding { variant: None, load: None, runs: None, fact: Fact::HeldSegments(held) };
        let record = alone(record(vec![], vec![]), 15.0, 0.1);
        assert_eq!(found_after(&record, &[held]), None, "time in the server's sockets");
        assert_eq!(in_window(&Record { measured: None, ..record }), None, "no load");
    }
}
