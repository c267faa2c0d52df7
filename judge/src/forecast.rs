//! What virtual threads would change, from platform threads alone: the stations of a request as measured, without the pool's limit.
//!
//! The stations are those of `threadcount_stats::stations`: the CPU, each pool of connections, what requests queue for in the code, and the
//! rest of their time as a delay. All are measured: the time of a server is the mean number of busy ones divided by the throughput (Little
//! 1961). The CPU per request of the other kind of thread is not known before it runs, so it has a range.

use crate::crossover::crossover_reasons;
use crate::evidence::variant_runs::{RunFigures, is_request_pool, mean_of};
use crate::result::ResultDocument;
use threadcount_model::crossover::Treatment;
use threadcount_model::experiment::{LoadKind, LoadSpec, Workload};
use threadcount_model::figures::{count, plural, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::stations::{Bounds, ClosedNetwork, Limit, Station};

/// The CPU per request on virtual threads, divided by that on platform threads: assumed, as in crossovers of services on a full CPU, which had
/// 0.8 to 1.2 times the throughput (docs/measurements/statistics.md).
const CPU_OF_OTHER_KIND: [f64; 2] = [0.80, 1.25];
/// A pool is the limit if its threads are all busy in this share of its readings.
const MOSTLY_FULL: f64 = 0.8;
/// Requests queue in the code if this many of those in flight do at once, on average ...
const QUEUEING: f64 = 1.0;
/// ... and at least this share of them. What they queue for is in use all the time if one of them waits in this share of the samples.
const QUEUEING_SHARE: f64 = 0.05;
const NEARLY_ALWAYS: f64 = 0.95;
/// Without a pool that tells its size, this share of the time may pass without a thread; more may be a queue that nobody sees.
const MOST_WITHOUT_THREAD: f64 = 0.2;
/// Connections that others than the sampled requests hold, as a share of those that are busy.
const HELD_BY_OTHERS: f64 = 0.2;
/// A pool is large enough if it allows this share of the throughput.
const ENOUGH: f64 = 0.95;
/// The last Java on which `synchronized` pins a virtual thread (JEP 491).
const LAST_WITH_PINS: u32 = 23;
/// The model is used only if the measured throughput lies within its bounds, give or take this share.
const CLOSES_WITHIN: f64 = 0.15;

/// The throughput without the pool's limit, divided by the measured one.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub least: f64,
    pub most: f64,
    /// The limit that comes next, in words: `the CPU`.
    pub next_limit: String,
    /// The threads with which the pool would do as well; `None`: it is not the limit, or has as many.
    pub enough_threads: Option<f64>,
    /// The size that is enough of the pool of connections that is the next limit.
    pub enough_connections: Option<Connections>,
    /// What the figures do not know and the reader has to.
    pub unless: Option<&'static str>,
}

/// A pool of connections that is too small, and the size up to which the throughput can grow until something else limits it.
#[derive(Clone, Debug, PartialEq)]
pub struct Connections {
    pub pool: Pool,
    pub enough: f64,
}

/// A station with its name.
struct Named {
    name: String,
    station: Station,
    pool: Option<Pool>,
}

/// The forecast from the runs of a variant on platform threads, with the throughput and the CPU per request of windows without the probe. `None` without a closed load, without samples of its threads, or if the
/// stations do not add up to what was measured.
#[must_use]
pub fn forecast(
    time: &RequestTime,
    record: &Record,
    workload: Workload,
    (rate_per_s, cpu_ms_per_request): (f64, f64),
) -> Option<Forecast> {
    let clients = f64::from(workload.closed_clients()?);
    let figures = RunFigures::of(record)?;
    let stations = stations(time, record, &figures, cpu_ms_per_request)?;
    let pool = figures.pool.filter(|_| figures.pool_full.is_some_and(|share| share >= MOSTLY_FULL));
    let within = |inside: f64, cpu: f64| {
        let scaled = stations.iter().enumerate().map(|(place, it)| match place {
            0 => Station { demand_ms: it.station.demand_ms * cpu, ..it.station },
            _ => it.station,
        });
        ClosedNetwork { inside, stations: scaled.collect() }.bounds()
    };
    let measured = within(pool.map_or(clients, |pool| pool.min(clients)), 1.0)?;
    let closes = measured.least_per_s * (1.0 - CLOSES_WITHIN)..measured.most_per_s * (1.0 + CLOSES_WITHIN);
    if !closes.contains(&rate_per_s) {
        return None;
    }
    let [cheap, dear] = CPU_OF_OTHER_KIND;
    let (best, worst) = (within(clients, cheap)?, within(clients, dear)?);
    let (next_limit, connections) = next(&stations, &within(clients, 1.0)?, clients, &best);
    let enough = |now: f64| {
        let all = within(clients, 1.0)?.likely_per_s * ENOUGH;
        (now as u64 + 1..=clients as u64)
            .map(|it| it as f64)
            .find(|it| within(*it, 1.0).is_some_and(|bounds| bounds.likely_per_s >= all))
    };
    Some(Forecast {
        least: worst.least_per_s / rate_per_s,
        most: best.most_per_s / rate_per_s,
        next_limit,
        enough_threads: pool.and_then(enough),
        enough_connections: connections,
        unless: unless(time, record),
    })
}

/// The forecast from a variant's runs under a load.
#[must_use]
pub fn of_runs(document: &ResultDocument, variant: &str, load: &LoadSpec) -> Option<Forecast> {
    let time = document.request_times.iter().find(|it| it.variant == variant && it.load == load.name)?;
    let runs = document.counted_runs(variant, &load.name);
    let record = *runs.iter().find(|run| run.jvm.as_ref().is_some_and(|jvm| !jvm.pools.is_empty()))?;
    let cpu = RunFigures::of(record)?;
    forecast(time, record, load.workload, (cpu.rate_per_s, cpu.machine_cpu_cores * 1e3 / cpu.rate_per_s))
}

/// The forecast from a crossover's seconds on one kind of thread. The probe's own CPU in them is known from the periods without it.
#[must_use]
pub fn of_treatment(document: &CrossoverDocument, treatment: Treatment) -> Option<Forecast> {
    let crossover = &document.crossover;
    let name = treatment.to_string();
    let record = crossover.explaining.iter().find(|it| it.variant == name)?;
    let times = crossover_reasons(crossover).request_times;
    let time = times.iter().find(|it| it.variant == name)?;
    let figures = document.figures.iter().find(|it| it.treatment == treatment)?;
    let cpu = RunFigures::of(record)?;
    let probe_us = record.cost?.cpu_us_per_request? - figures.cpu_us_per_request?;
    let cpu_ms = cpu.machine_cpu_cores * 1e3 / cpu.rate_per_s - probe_us.max(0.0) / 1e3;
    let workload = match crossover.rate_per_s {
        Some(_) => return None,
        None => LoadKind::Closed { clients: crossover.clients }.into(),
    };
    forecast(time, record, workload, (figures.rate_per_s, cpu_ms))
}

/// What may take the forecast away.
fn unless(time: &RequestTime, record: &Record) -> Option<&'static str> {
    let java =
        record.jvm.as_ref().and_then(|jvm| jvm.java.split(['.', '+', '-']).next()?.parse::<u32>().ok());
    let waits_outside =
        |it: &&RequestTimePart| matches!(it.activity.state, ThreadState::Socket | ThreadState::Future);
    let outside: f64 = time.parts.iter().filter(waits_outside).map(|part| time.share(part)).sum();
    match java {
        Some(java) if java <= LAST_WITH_PINS => {
            Some("unless they pin their carriers, as they may before Java 24")
        }
        _ if outside > MOST_WITHOUT_THREAD => Some("if the services behind it keep up"),
        _ => None,
    }
}

/// The CPU first, then the pools of connections, what requests queue for in the code, and the delay. `None`: not all of it is visible.
fn stations(time: &RequestTime, record: &Record, figures: &RunFigures, cpu_ms: f64) -> Option<Vec<Named>> {
    let per_ms = time.rate_per_s / 1e3;
    let named = |name: String, servers, demand_ms| Named {
        name,
        station: Station { servers, demand_ms },
        pool: None,
    };
    let limits = record.resource_limits.as_ref();
    let cores =
        limits.and_then(|it| it.server.quota_cores).map_or(figures.cores, |quota| quota.min(figures.cores));
    let mut all = vec![named("the CPU".to_owned(), Some(cores), cpu_ms)];
    let pools = record.jvm.iter().flat_map(|jvm| &jvm.pools).filter(|pool| !is_request_pool(pool));
    all.extend(pools.filter_map(|pool| {
        let busy = mean_of(pool.samples.iter().filter_map(|it| it.busy).map(f64::from))?;
        let max = f64::from(pool.max?);
        let name = format!("the {} of {}", plural(max as u64, "connection"), pool.name);
        (busy > 0.0).then(|| Named { pool: Some(pool.clone()), ..named(name, Some(max), busy / per_ms) })
    }));
    let in_flight = time.service_time_ms * per_ms;
    let has_gauge = all.len() > 1;
    let queues = time.parts.iter().filter(|part| {
        let state = part.activity.state;
        state.is_contention()
            && !(state == ThreadState::Pool && has_gauge)
            && part.threads >= QUEUEING.max(QUEUEING_SHARE * in_flight)
    });
    for part in queues {
        if !is_always_awaited(record, &part.activity) {
            return None;
        }
        let place = part.activity.application.as_ref().or(part.activity.library.as_ref());
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        all.push(named(format!("what requests wait for{at}"), Some(1.0), 1.0 / per_ms));
    }
    let is_served = |part: &&RequestTimePart| {
        let state = part.activity.state;
        !state.is_contention() && !state.is_runnable() && state != ThreadState::Safepoint
    };
    let served: Vec<&RequestTimePart> = time.parts.iter().filter(is_served).collect();
    let served_ms: f64 = served.iter().map(|it| it.time.ms).sum();
    // A connection is held during calls that are in the samples, too, or while its request runs.
    let held_ms: f64 = all.iter().filter(|it| it.pool.is_some()).map(|it| it.station.demand_ms).sum();
    let running_ms: f64 =
        time.parts.iter().filter(|it| it.activity.state.is_runnable()).map(|it| it.time.ms).sum();
    let is_of_others = held_ms * (1.0 - HELD_BY_OTHERS) > served_ms + running_ms;
    let is_queue_hidden =
        figures.pool.is_none() && time.without_thread.ms > MOST_WITHOUT_THREAD * time.service_time_ms;
    if is_of_others || is_queue_hidden {
        return None;
    }
    let asynchronous_ms = if figures.pool.is_some() { 0.0 } else { time.without_thread.ms.max(0.0) };
    all.push(named(String::new(), None, (served_ms - held_ms).max(0.0) + asynchronous_ms));
    Some(all)
}

/// Whether a thread was seen waiting like this in nearly all samples: then what it waits for was in use all the time.
fn is_always_awaited(record: &Record, activity: &ThreadActivity) -> bool {
    let profile = record.jvm.as_ref().and_then(|jvm| jvm.wait_profile.as_ref());
    let group = profile.and_then(|it| it.groups.iter().find(|group| group.activity == *activity));
    group.is_some_and(|group| {
        let awaited = group.threads.iter().filter(|threads| **threads > 0.0).count();
        awaited as f64 >= NEARLY_ALWAYS * group.threads.len() as f64
    })
}

/// The name of the limit, and the size that is enough if it is a pool of connections.
fn next(stations: &[Named], bounds: &Bounds, clients: f64, best: &Bounds) -> (String, Option<Connections>) {
    let Limit::Station(place) = bounds.limit else {
        return (format!("the {} clients", count(clients as u64)), None);
    };
    let it = &stations[place];
    let connections = it.pool.as_ref().and_then(|pool| {
        let others = stations.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<Station> = others.map(|(_, it)| it.station).collect();
        let delay = Station { servers: None, ..it.station };
        let without = ClosedNetwork { inside: clients, stations: [others, vec![delay]].concat() }.bounds()?;
        let enough = ClosedNetwork::enough(it.station.demand_ms, without.most_per_s.max(best.most_per_s));
        Some(Connections { pool: pool.clone(), enough })
    });
    (it.name.clone(), connections)
}

impl Forecast {
    /// `1.60x to 2.00x the throughput, then the limit is the 400 clients; a pool of 400 would do as well`.
    #[must_use]
    pub fn words(&self) -> String {
        let [least, most] = [self.least, self.most].map(threadcount_model::figures::ratio);
        let unless = self.unless.map_or_else(String::new, |it| format!(" {it}"));
        let pool = self
            .enough_threads
            .map_or_else(String::new, |threads| format!("; a pool of {} would do as well", whole(threads)));
        format!("{least}x to {most}x the throughput{unless}, then the limit is {}{pool}", self.next_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::{JvmReadings, PoolKind, PoolSample};
    use threadcount_model::record::wait_profile::{ThreadRole, WaitGroup, WaitProfile};
    use threadcount_model::request_time::TimeShare;
    use threadcount_model::sample::{run, with_cost};

    fn time(rate_per_s: f64, service_time_ms: f64, parts: &[(ThreadState, f64)]) -> RequestTime {
        let part = |&(state, ms): &(ThreadState, f64)| RequestTimePart {
            activity: ThreadActivity { state, ..ThreadActivity::default() },
            threads: ms * rate_per_s / 1e3,
            time: TimeShare { ms, interval: None },
        };
        let on_threads_ms: f64 = parts.iter().map(|it| it.1).sum();
        RequestTime {
            variant: "platform".to_owned(),
            load: "c400".to_owned(),
            service_time_ms,
            rate_per_s,
            runs: 1,
            samples: 20,
            counted: ThreadRole::Request,
            idle_workers: 0.0,
            parts: parts.iter().map(part).collect(),
            without_thread: TimeShare { ms: service_time_ms - on_threads_ms, interval: None },
            queue: None,
        }
    }

    fn pool(kind: PoolKind, max: u32, busy: u32) -> Pool {
        let sample = PoolSample { busy: Some(busy), ..PoolSample::default() };
        Pool { kind, name: "pool".to_owned(), max: Some(max), samples: vec![sample; 8] }
    }

    fn record(rate_per_s: f64, pools: Vec<Pool>) -> Record {
        let mut record = with_cost(run("platform", "c400", rate_per_s, 100.0), |cost| cost.machine_cores = 2);
        record.jvm = Some(JvmReadings { pools, ..JvmReadings::default() });
        record
    }

    fn of(time: &RequestTime, pools: Vec<Pool>, cpu_ms: f64) -> Option<Forecast> {
        let load = Workload::Http(LoadKind::Closed { clients: 400 });
        forecast(time, &record(time.rate_per_s, pools), load, (time.rate_per_s, cpu_ms))
    }

    #[test]
    fn two_hundred_threads_that_sleep_for_50_ms_leave_twice_the_throughput_to_400_clients() {
        let measured = time(3_950.0, 101.0, &[(ThreadState::Sleep, 50.0), (ThreadState::Running, 0.5)]);
        let found = of(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.15).unwrap();
        assert!((1.9..2.05).contains(&found.most) && found.least > 1.6, "{found:?}");
        assert_eq!((found.next_limit.as_str(), found.enough_threads), ("the 400 clients", Some(380.0)));
    }

    #[test]
    fn without_the_pool_ten_connections_are_next_and_sixteen_would_fill_the_cpu() {
        // 200 threads, of which 10 hold a connection for 3.1 ms and 190 wait for one; the CPU could do 5,000/s.
        let parts = [(ThreadState::Pool, 59.0), (ThreadState::Socket, 2.8), (ThreadState::Running, 0.4)];
        let measured = time(3_200.0, 125.0, &parts);
        let pools = vec![pool(PoolKind::Tomcat, 200, 200), pool(PoolKind::Hikari, 10, 10)];
        let found = of(&measured, pools, 0.4).unwrap();
        assert!((0.95..1.1).contains(&found.most), "{found:?}");
        assert_eq!(found.next_limit, "the 10 connections of pool");
        assert_eq!(found.enough_connections.map(|it| it.enough), Some(16.0));
    }

    #[test]
    fn a_full_cpu_leaves_only_what_the_other_kind_of_thread_costs() {
        let measured = time(5_000.0, 80.0, &[(ThreadState::Running, 40.0)]);
        let found = of(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.4).unwrap();
        assert!(found.least < 0.8 && (found.most - 1.25).abs() < 0.01, "{found:?}");
        assert_eq!(found.next_limit, "the CPU");
    }

    #[test]
    fn stations_that_do_not_add_up_to_the_throughput_have_no_forecast() {
        let measured = time(2_000.0, 100.0, &[(ThreadState::Sleep, 20.0)]);
        assert_eq!(
            of(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.1),
            None,
            "20 ms x 200 are 10,000/s"
        );
    }

    /// The forecast where a thread waits for a monitor in this share of the samples.
    fn behind_a_lock(share: f64) -> Option<Forecast> {
        let measured = time(1_000.0, 380.0, &[(ThreadState::Monitor, 199.0), (ThreadState::Sleep, 1.0)]);
        let mut record = record(1_000.0, vec![pool(PoolKind::Tomcat, 200, 200)]);
        let threads = (0..20).map(|it| if f64::from(it) < share * 20.0 { 199.0 } else { 0.0 }).collect();
        let group =
            WaitGroup { activity: measured.parts[0].activity.clone(), threads, ..WaitGroup::default() };
        let profile = WaitProfile { groups: vec![group], ..WaitProfile::default() };
        record.jvm.as_mut().unwrap().wait_profile = Some(profile);
        forecast(&measured, &record, Workload::Http(LoadKind::Closed { clients: 400 }), (1_000.0, 0.1))
    }

    #[test]
    fn a_lock_that_requests_always_queue_for_is_the_limit_with_any_kind_of_thread() {
        let found = behind_a_lock(1.0).unwrap();
        assert!((found.most - 1.0).abs() < 0.01 && found.next_limit == "what requests wait for", "{found:?}");
        assert_eq!(behind_a_lock(0.7), None, "a lock that is free at times has room that nobody knows");
    }

    #[test]
    fn connections_that_others_hold_and_a_queue_that_nobody_sees_have_no_forecast() {
        let parts = [(ThreadState::Pool, 57.0), (ThreadState::Socket, 1.0), (ThreadState::Running, 0.4)];
        let measured = time(3_200.0, 125.0, &parts);
        let pools = vec![pool(PoolKind::Tomcat, 200, 200), pool(PoolKind::Hikari, 10, 10)];
        assert_eq!(of(&measured, pools, 0.4), None, "3.1 ms of a connection, of which requests need 1.4");
        let hidden = time(1_000.0, 400.0, &[(ThreadState::Sleep, 50.0)]);
        assert_eq!(of(&hidden, Vec::new(), 0.1), None, "the queue of a pool that does not tell its size");
    }
}
