//! Forecasts the throughput on virtual threads from a run on platform threads: the throughput if the pool of threads were no limit.
//!
//! `stations.rs` measures the stations that a request visits, and `threadcount_stats::stations` computes the throughput that they allow.
//! The CPU per request on virtual threads is unknown before they run, so the forecast is a range.

mod stations;

use crate::crossover::crossover_reasons;
use crate::evidence::variant_runs::RunFigures;
use crate::findings::pinned_carriers::FIRST_WITHOUT_MONITOR_PINS;
use crate::limit::thresholds::MOSTLY_FULL;
use crate::result::ResultDocument;
use stations::{NamedStation, stations};
use threadcount_model::crossover::Treatment;
use threadcount_model::experiment::{LoadKind, LoadSpec, Workload};
use threadcount_model::figures::{count, ratio, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::wait_profile::ThreadState;
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::crossover::comparison::CrossoverDocument;
use threadcount_stats::stations::{Bounds, ClosedNetwork, Limit, Station};

/// The assumed CPU per request on virtual threads, divided by that on platform threads. In crossovers of services on a full CPU the
/// throughput changed by factors from 0.8 to 1.2 (docs/measurements/statistics.md).
const CPU_OF_OTHER_KIND: [f64; 2] = [0.80, 1.25];
/// The stations are believed only if the measured throughput lies within their bounds, widened by this share.
const CLOSES_WITHIN: f64 = 0.15;
/// A pool of threads is large enough if it allows this share of the throughput.
const ENOUGH: f64 = 0.95;
/// If requests spend more than this share of their time in other services, the forecast depends on these.
const MUCH_OUTSIDE: f64 = 0.2;

/// The throughput without the pool's limit, divided by the measured one.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub least: f64,
    pub most: f64,
    /// The limit that comes next, in words: `the CPU`.
    pub next_limit: String,
    /// The smallest larger pool that would do as well; `None` if the pool is not the limit, or already has a thread for each client.
    pub enough_threads: Option<f64>,
    /// If the next limit is a pool of connections: that pool, and the size that would be enough.
    pub enough_connections: Option<Connections>,
    /// The condition under which the forecast holds, in words: `if the services behind it keep up`.
    pub condition: Option<&'static str>,
}

/// A pool of connections that is too small, and the size up to which the throughput can grow until something else limits it.
#[derive(Clone, Debug, PartialEq)]
pub struct Connections {
    pub pool: Pool,
    pub enough: f64,
}

/// Figures of a window without the probe, which uses CPU itself.
#[derive(Clone, Copy, Debug)]
struct Unobserved {
    rate_per_s: f64,
    /// CPU of the whole machine.
    cpu_ms_per_request: f64,
}

/// The forecast from a variant's runs under a load; `None` without a closed load, without samples of its threads, or if the stations do not
/// add up to the measured throughput.
#[must_use]
pub fn of_runs(document: &ResultDocument, variant: &str, load: &LoadSpec) -> Option<Forecast> {
    let time = document.request_times.iter().find(|it| it.variant == variant && it.load == load.name)?;
    let runs = document.counted_runs(variant, &load.name);
    let record = *runs.iter().find(|run| run.jvm.as_ref().is_some_and(|jvm| !jvm.pools.is_empty()))?;
    let RunFigures { rate_per_s, cpu, .. } = RunFigures::of(record)?;
    let unobserved = Unobserved { rate_per_s, cpu_ms_per_request: cpu.in_use_cores * 1e3 / rate_per_s };
    forecast(time, record, load.workload, unobserved)
}

/// The forecast from a crossover's seconds on one kind of thread; `None` for the same reasons as [`of_runs`].
#[must_use]
pub fn of_treatment(document: &CrossoverDocument, treatment: Treatment) -> Option<Forecast> {
    let crossover = &document.crossover;
    let workload = match crossover.rate_per_s {
        Some(_) => return None,
        None => LoadKind::Closed { clients: crossover.clients }.into(),
    };
    let name = treatment.to_string();
    let record = crossover.explaining.iter().find(|it| it.variant == name)?;
    let times = crossover_reasons(crossover).request_times;
    let time = times.iter().find(|it| it.variant == name)?;
    let figures = document.figures.iter().find(|it| it.treatment == treatment)?;
    let observed = RunFigures::of(record)?;
    // Figures of a period do not cover the whole machine, but the CPU of the server alone shows what the probe adds.
    let probe_ms = (record.cost?.cpu_us_per_request? - figures.cpu_us_per_request?).max(0.0) / 1e3;
    let cpu_ms_per_request = observed.cpu.in_use_cores * 1e3 / observed.rate_per_s - probe_ms;
    forecast(time, record, workload, Unobserved { rate_per_s: figures.rate_per_s, cpu_ms_per_request })
}

fn forecast(
    time: &RequestTime,
    record: &Record,
    workload: Workload,
    unobserved: Unobserved,
) -> Option<Forecast> {
    let Unobserved { rate_per_s, cpu_ms_per_request } = unobserved;
    let clients = f64::from(workload.closed_clients()?);
    let figures = RunFigures::of(record)?;
    let stations = stations(time, record, &figures, cpu_ms_per_request)?;
    let pool = figures.pool.filter(|_| figures.pool_full.is_some_and(|share| share >= MOSTLY_FULL));
    let within = |inside: f64, cpu: f64| network(&stations, inside, cpu).bounds();
    let measured = within(pool.map_or(clients, |pool| pool.min(clients)), 1.0)?;
    let closes = measured.least_per_s * (1.0 - CLOSES_WITHIN)..measured.most_per_s * (1.0 + CLOSES_WITHIN);
    if !closes.contains(&rate_per_s) {
        return None;
    }
    let without_pool = within(clients, 1.0)?;
    let [cheap, dear] = CPU_OF_OTHER_KIND;
    let (best, worst) = (within(clients, cheap)?, within(clients, dear)?);
    let (next_limit, enough_connections) = next(&stations, &without_pool, clients, &best);
    let is_enough = |threads: &f64| {
        let likely_per_s = within(*threads, 1.0).map_or(0.0, |bounds| bounds.likely_per_s);
        likely_per_s >= without_pool.likely_per_s * ENOUGH
    };
    let larger = |pool: f64| (pool as u32 + 1..=clients as u32).map(f64::from).find(is_enough);
    Some(Forecast {
        least: worst.least_per_s / rate_per_s,
        most: best.most_per_s / rate_per_s,
        next_limit,
        enough_threads: pool.and_then(larger),
        enough_connections,
        condition: condition(time, record),
    })
}

/// The stations with `inside` requests, and with the CPU per request multiplied by `cpu`.
fn network(stations: &[NamedStation], inside: f64, cpu: f64) -> ClosedNetwork {
    let scaled = stations.iter().map(|named| match named.is_cpu {
        true => Station { demand_ms: named.station.demand_ms * cpu, ..named.station },
        false => named.station,
    });
    ClosedNetwork { inside, stations: scaled.collect() }
}

fn condition(time: &RequestTime, record: &Record) -> Option<&'static str> {
    let java =
        record.jvm.as_ref().and_then(|jvm| jvm.java.split(['.', '+', '-']).next()?.parse::<u32>().ok());
    let is_outside =
        |it: &&RequestTimePart| matches!(it.activity.state, ThreadState::Socket | ThreadState::Future);
    let outside: f64 = time.parts.iter().filter(is_outside).map(|part| time.share(part)).sum();
    match java {
        Some(java) if java < FIRST_WITHOUT_MONITOR_PINS => {
            Some("unless they pin their carriers, as they may before Java 24")
        }
        _ if outside > MUCH_OUTSIDE => Some("if the services behind it keep up"),
        _ => None,
    }
}

/// The name of the next limit, and the size that would be enough if it is a pool of connections.
fn next(
    stations: &[NamedStation],
    bounds: &Bounds,
    clients: f64,
    best: &Bounds,
) -> (String, Option<Connections>) {
    let Limit::Station(place) = bounds.limit else {
        return (format!("the {} clients", count(clients as u64)), None);
    };
    let limit = &stations[place];
    let enough = |pool: &Pool| {
        let mut without = network(stations, clients, 1.0);
        without.stations[place].servers = None;
        let rate_per_s = without.bounds()?.most_per_s.max(best.most_per_s);
        let enough = ClosedNetwork::enough(limit.station.demand_ms, rate_per_s);
        Some(Connections { pool: pool.clone(), enough })
    };
    (limit.name.clone(), limit.pool.and_then(enough))
}

impl Forecast {
    /// The forecast as text: `1.60x to 2.00x the throughput, then the limit is the 400 clients; a pool of 400 would do as well`.
    #[must_use]
    pub fn words(&self) -> String {
        let [least, most] = [self.least, self.most].map(ratio);
        let condition = self.condition.map_or_else(String::new, |it| format!(" {it}"));
        let pool = self
            .enough_threads
            .map_or_else(String::new, |threads| format!("; a pool of {} would do as well", whole(threads)));
        format!("{least}x to {most}x the throughput{condition}, then the limit is {}{pool}", self.next_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::jvm::{JvmReadings, PoolKind, PoolSample};
    use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, WaitGroup, WaitProfile};
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

    const fn unobserved(rate_per_s: f64, cpu_ms_per_request: f64) -> Unobserved {
        Unobserved { rate_per_s, cpu_ms_per_request }
    }

    fn with_400_clients(time: &RequestTime, pools: Vec<Pool>, cpu_ms: f64) -> Option<Forecast> {
        let load = Workload::Http(LoadKind::Closed { clients: 400 });
        forecast(time, &record(time.rate_per_s, pools), load, unobserved(time.rate_per_s, cpu_ms))
    }

    #[test]
    fn two_hundred_threads_that_sleep_for_50_ms_leave_twice_the_throughput_to_400_clients() {
        let measured = time(3_950.0, 101.0, &[(ThreadState::Sleep, 50.0), (ThreadState::Running, 0.5)]);
        let found = with_400_clients(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.15).unwrap();
        assert!((1.9..2.05).contains(&found.most) && found.least > 1.6, "{found:?}");
        assert_eq!((found.next_limit.as_str(), found.enough_threads), ("the 400 clients", Some(380.0)));
    }

    #[test]
    fn without_the_pool_ten_connections_are_next_and_sixteen_would_fill_the_cpu() {
        // 200 threads, of which 10 hold a connection for 3.1 ms and 190 wait for one; the CPU could do 5,000/s.
        let parts = [(ThreadState::Pool, 59.0), (ThreadState::Socket, 2.8), (ThreadState::Running, 0.4)];
        let measured = time(3_200.0, 125.0, &parts);
        let pools = vec![pool(PoolKind::Tomcat, 200, 200), pool(PoolKind::Hikari, 10, 10)];
        let found = with_400_clients(&measured, pools, 0.4).unwrap();
        assert!((0.95..1.1).contains(&found.most), "{found:?}");
        assert_eq!(found.next_limit, "the 10 connections of pool");
        assert_eq!(found.enough_connections.map(|it| it.enough), Some(16.0));
    }

    #[test]
    fn a_full_cpu_leaves_only_what_the_other_kind_of_thread_costs() {
        let measured = time(5_000.0, 80.0, &[(ThreadState::Running, 40.0)]);
        let found = with_400_clients(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.4).unwrap();
        assert!(found.least < 0.8 && (found.most - 1.25).abs() < 0.01, "{found:?}");
        assert_eq!(found.next_limit, "the CPU");
    }

    #[test]
    fn stations_that_do_not_add_up_to_the_throughput_have_no_forecast() {
        let measured = time(2_000.0, 100.0, &[(ThreadState::Sleep, 20.0)]);
        assert_eq!(
            with_400_clients(&measured, vec![pool(PoolKind::Tomcat, 200, 200)], 0.1),
            None,
            "20 ms x 200 are 10,000/s"
        );
        let measured = time(3_950.0, 101.0, &[(ThreadState::Sleep, 50.0), (ThreadState::Running, 0.5)]);
        let mut seldom_full = pool(PoolKind::Tomcat, 200, 200);
        seldom_full.samples[0].busy = Some(90);
        assert_eq!(
            with_400_clients(&measured, vec![seldom_full], 0.15),
            None,
            "full in seven readings of eight"
        );
    }

    /// The forecast for a service in which a thread waits for a monitor in this share of the samples.
    fn behind_a_lock(share: f64) -> Option<Forecast> {
        let measured = time(1_000.0, 380.0, &[(ThreadState::Monitor, 199.0), (ThreadState::Sleep, 1.0)]);
        let mut record = record(1_000.0, vec![pool(PoolKind::Tomcat, 200, 200)]);
        let threads = (0..20).map(|it| if f64::from(it) < share * 20.0 { 199.0 } else { 0.0 }).collect();
        let group =
            WaitGroup { activity: measured.parts[0].activity.clone(), threads, ..WaitGroup::default() };
        let profile = WaitProfile { groups: vec![group], ..WaitProfile::default() };
        record.jvm.as_mut().unwrap().wait_profile = Some(profile);
        forecast(
            &measured,
            &record,
            Workload::Http(LoadKind::Closed { clients: 400 }),
            unobserved(1_000.0, 0.1),
        )
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
        assert_eq!(
            with_400_clients(&measured, pools, 0.4),
            None,
            "3.1 ms of a connection, of which requests need 1.4"
        );
        let hidden = time(1_000.0, 400.0, &[(ThreadState::Sleep, 50.0)]);
        assert_eq!(
            with_400_clients(&hidden, Vec::new(), 0.1),
            None,
            "the queue of a pool that does not tell its size"
        );
    }
}
