//! Threads: pools, waiting, yielding, and how many of them.

use super::Words;
use super::evidence::{cpu, figure, known};
use super::request_waits::full_pool;
use super::site::{place, waits_for};
use crate::finding::{
    Arrivals, BusyWithoutProgress, KindAndNumber, KindOrSize, PoolCeiling, PoolEvidence, RunsShowing,
    WaitingPlace,
};
use crate::words::metric::bound;
use crate::words::metric::metric_noun;
use threadcount_model::figures::{count, interval, milliseconds as ms, percent, whole};
use threadcount_model::record::jvm::{PoolKind, SiteReason};

impl Words for PoolCeiling {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let threads = whole(self.threads);
        let mut sentence = format!("all {threads} pool threads are busy");
        match (self.shown_by, self.rate_per_s, self.fastest_ms) {
            (PoolEvidence::Arithmetic, Some(rate), Some(fastest_ms)) => sentence.push_str(&format!(
                ": {threads} / {} = {}/s at most, {}/s measured",
                ms(fastest_ms),
                whole(self.threads * 1_000.0 / fastest_ms),
                whole(rate)
            )),
            (PoolEvidence::Counters, Some(rate), _) => {
                // Little's law the other way round.
                let held = ms(self.threads * 1_000.0 / rate);
                sentence.push_str(&format!(", {held} per request: {threads} / {held} = {}/s", whole(rate)));
            }
            _ => {}
        }
        if let Some(full) = self.full_share {
            sentence.push_str(&format!("; pool full in {} of its readings (JMX)", percent(full)));
        }
        sentence
    }

    fn advice(&self) -> Option<String> {
        Some("a larger pool (Tomcat: maxThreads) or virtual threads, as the CPU is not full".to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let most = self.fastest_ms.filter(|ms| *ms > 0.0).map(|ms| self.threads * 1_000.0 / ms);
        let full = self.full_share.map(|full| full * 100.0);
        let mut figures = known(&[
            ("threads of the pool", Some(self.threads), "threads"),
            ("clients", self.clients.map(f64::from), "clients"),
            ("fastest response", self.fastest_ms, "ms"),
            ("maximum throughput of the pool", most, "requests/s"),
            ("measured throughput", self.rate_per_s, "requests/s"),
            ("most OS threads", Some(self.os_threads), "threads"),
            ("readings of the pool (JMX) with all threads busy", full, "%"),
        ]);
        figures.extend(cpu(&self.cpu));
        figures
    }
}

impl Words for BusyWithoutProgress {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "running threads do no work in {} of the samples: they yield (Thread.yield) at {} or are being rescheduled; \
             {:.2} cores{}",
            percent(self.without_work_share),
            place(&self.site),
            self.server_cpu_cores,
            self.rate_per_s.map(|rate| format!(" for {}/s", whole(rate))).unwrap_or_default()
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!(
            "a blocking wait (a lock's condition, a queue, LockSupport.park) instead of Thread.yield in a loop at {}: a \
             blocked virtual thread costs no CPU",
            place(&self.site)
        ))
    }

    fn evidence(&self) -> Vec<String> {
        let percent = |share: f64| share * 100.0;
        known(&[
            ("samples of running threads", Some(self.samples), "samples per run"),
            ("of them without work", Some(percent(self.without_work_share)), "%"),
            ("of them yielding", Some(percent(self.yielding_share)), "%"),
            ("readings with all carriers taken", self.carriers_full_share.map(percent), "%"),
            ("virtual threads waiting for a carrier", self.queued_threads, "threads"),
            ("CPU of the server", Some(self.server_cpu_cores), "cores"),
            ("measured throughput", self.rate_per_s, "requests/s"),
        ])
    }
}

/// What waits for a connection: of a client that works asynchronously no thread has to.
const fn waiters(kind: PoolKind) -> &'static str {
    match kind {
        PoolKind::JettyClient | PoolKind::ReactorPool => "requests",
        _ => "threads",
    }
}

impl Words for WaitingPlace {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        match self {
            Self::Pool(pool) => format!("requests wait for a connection: {}", full_pool(pool)),
            Self::Code { site, waiting_threads, requests_in_flight } => format!(
                "{} of the requests in flight wait at {} ({}): {waiting_threads:.1} threads of {requests_in_flight:.1} \
                 requests, on average",
                percent((waiting_threads / requests_in_flight).min(1.0)),
                place(site),
                waits_for(site)
            ),
        }
    }

    fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Pool(pool) if pool.kind != PoolKind::Hikari => {
                "a larger pool, if what it connects to can serve it, or connections held for a shorter time".to_owned()
            }
            Self::Pool(_) => {
                "a larger pool (Spring Boot: spring.datasource.hikari.maximum-pool-size) if the database can serve it, or \
                 connections held for a shorter time"
                    .to_owned()
            }
            Self::Code { site, .. } => code_advice(site.reason.as_ref(), &place(site)),
        })
    }

    fn evidence(&self) -> Vec<String> {
        match self {
            Self::Pool(pool) => vec![
                figure("readings with all connections in use", pool.full_share * 100.0, "%"),
                figure("connections of the pool", pool.connections, "connections"),
                figure("waiting for one", pool.waiting_threads, waiters(pool.kind)),
            ],
            Self::Code { site, waiting_threads, requests_in_flight } => vec![
                figure("threads waiting there, waits of 20 ms and longer", *waiting_threads, "threads"),
                figure("requests in flight", *requests_in_flight, "requests"),
                figure(
                    "such waits in one run (at `light` an estimate if the JVM was busy)",
                    site.total.count as f64,
                    "waits",
                ),
                figure("longest of them", site.total.longest_ms, "ms"),
            ],
        }
    }
}

fn code_advice(reason: Option<&SiteReason>, at: &str) -> String {
    match reason {
        Some(SiteReason::ReadFrom(peer)) => {
            format!("a look at {peer}, which takes the time, or fewer calls of it at {at}")
        }
        Some(SiteReason::Monitor(_)) => {
            format!("the lock at {at} held for a shorter time, or by fewer requests")
        }
        _ => {
            format!("a larger pool, if {at} takes from one; a lock held for a shorter time, if it takes one")
        }
    }
}

impl Words for KindAndNumber {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let (in_flight, threads) = (count(self.requests_in_flight.into()), count(self.pool_threads.into()));
        if let Some(arrivals) = &self.arrivals {
            return format!(
                "kind and number of threads are confounded: {}/s x {} = {} requests are in flight on average, each has a \
                 thread of its own, with {} {threads} of them have one, and no larger platform pool was measured under this \
                 load",
                whole(arrivals.rate_per_s),
                ms(arrivals.service_time_ms),
                whole(arrivals.in_flight()),
                self.pool_variant
            );
        }
        format!(
            "kind and number of threads are confounded: each of the {in_flight} requests in flight has a thread of its own, \
             with {} {threads} of them have one, and no platform pool of {in_flight} was measured under this load",
            self.pool_variant
        )
    }

    fn advice(&self) -> Option<String> {
        Some(format!("{}, which tells the kind of thread from the number", confounded_advice(self)))
    }

    fn evidence(&self) -> Vec<String> {
        let pool = format!("threads of the pool of {}", self.pool_variant);
        let mut figures = vec![
            figure("requests in flight", self.requests_in_flight.into(), "requests"),
            figure(&pool, self.pool_threads.into(), "threads"),
        ];
        figures.extend(known(&[
            ("throughput of virtual threads", self.arrivals.map(|it| it.rate_per_s), "requests/s"),
            ("their mean service time", self.arrivals.map(|it| it.service_time_ms), "ms"),
        ]));
        figures
    }
}

/// What to add so that kind and number of threads are not confounded: `a variant with a platform pool of 1,000`.
pub fn confounded_advice(confounded: &KindAndNumber) -> String {
    // An average of requests in flight has more of them at times; a closed loop never has more than clients, and a limit on
    // virtual threads holds always.
    let in_flight = u64::from(confounded.requests_in_flight);
    let is_average = |it: &&Arrivals| it.in_flight().round() as u64 == in_flight;
    let pool = match confounded.arrivals.as_ref().filter(is_average) {
        Some(arrivals) => {
            format!("a platform pool of at least {}", count(arrivals.threads_needed().ceil() as u64))
        }
        None => format!("a platform pool of {}", count(in_flight)),
    };
    match &confounded.sized_variant {
        Some(variant) => format!("{variant} under this load ({pool})"),
        None => format!("a variant with {pool}"),
    }
}

impl Words for KindOrSize {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        let noun = metric_noun(self.metric);
        let answer = match self.is_same {
            true => format!("the same {noun} within {}", bound(self.interval.largest_difference())),
            false => format!("{:.2}x the {noun}", self.ratio),
        };
        let cpu = self.cpu_per_request_ratio.map_or_else(String::new, |cpu| {
            let interval = self.cpu_per_request_interval.map(|it| format!(" {}", interval(it)));
            format!(" and {cpu:.2}x the CPU per request{}", interval.unwrap_or_default())
        });
        format!(
            "a platform pool of {} threads has {answer} {}, with {} OS threads{cpu}",
            count(self.pool_threads.into()),
            interval(self.interval),
            whole(self.pool_os_threads),
        )
    }

    fn advice(&self) -> Option<String> {
        None
    }

    fn evidence(&self) -> Vec<String> {
        let answer = format!("{} of the pool by that of virtual threads", metric_noun(self.metric));
        known(&[
            (answer.as_str(), Some(self.ratio), ""),
            ("OS threads of the pool", Some(self.pool_os_threads), "threads"),
            ("OS threads otherwise", self.virtual_os_threads, "threads"),
            ("CPU per request of the pool by that of virtual threads", self.cpu_per_request_ratio, ""),
        ])
    }
}
