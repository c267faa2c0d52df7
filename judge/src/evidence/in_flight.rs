//! How many requests are in flight: in a closed loop one per client, at a given rate the number from Little's law.

use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::Record;
use threadcount_stats::runs::mean;

/// Requests that arrive at a rate. By Little's law, rate x service time requests are in flight on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Arrivals {
    pub rate_per_s: f64,
    /// Mean service time if each request has a thread of its own.
    pub service_time_ms: f64,
}

impl Arrivals {
    /// How many requests are in flight on average.
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        self.rate_per_s * self.service_time_ms / 1_000.0
    }

    /// The pool size at which nearly every request finds a free thread: a tenth more than the mean in flight, or three standard
    /// deviations of random (Poisson) arrivals if that is more. A pool as large as the mean is full half of the time.
    #[must_use]
    pub fn threads_needed(&self) -> f64 {
        let mean = self.in_flight();
        (1.1 * mean).max(mean + 3.0 * mean.sqrt())
    }
}

/// Requests in flight, and the threads that they need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InFlight {
    /// The most requests in a closed loop, the mean at a given rate.
    pub requests: f64,
    /// `None` for a closed loop.
    pub arrivals: Option<Arrivals>,
}

impl InFlight {
    /// `None` if the rate or the service time is unknown.
    pub fn of(runs_of_variant: &VariantRuns<'_>) -> Option<Self> {
        if runs_of_variant.is_closed() {
            return Some(Self { requests: f64::from(runs_of_variant.clients()), arrivals: None });
        }
        let arrivals = arrivals(runs_of_variant)?;
        // Rounded as in the report: 250.2 requests are no reason to call a pool of 250 too small.
        Some(Self { requests: arrivals.in_flight().round(), arrivals: Some(arrivals) })
    }

    /// Does a pool of `threads` have a thread for each request? At a given rate a pool as large as the mean is full half of the time,
    /// but the pool's own readings overrule this arithmetic.
    pub fn has_room_in(&self, threads: f64, pool: &VariantRuns<'_>) -> bool {
        let enough = self.arrivals.map_or(self.requests, |arrivals| arrivals.threads_needed());
        threads >= enough || (threads >= self.requests && is_never_full(pool))
    }
}

/// Was the pool never full in any run that reads it? `false` if no run does.
fn is_never_full(pool: &VariantRuns<'_>) -> bool {
    let full = pool.runs.iter().filter_map(|run| RunFigures::of(run)?.pool_full);
    full.reduce(f64::max).is_some_and(|full| full <= 0.0)
}

/// The mean rate and service time of the runs; in a search, those at the rate that it found.
fn arrivals(runs_of_variant: &VariantRuns<'_>) -> Option<Arrivals> {
    let of_runs = |figure: fn(&Record) -> Option<f64>| {
        mean(&runs_of_variant.runs.iter().filter_map(|run| figure(run)).collect::<Vec<f64>>())
    };
    Some(Arrivals {
        rate_per_s: of_runs(|run| Some(run.measured.as_ref()?.rate_per_s.completed))?,
        service_time_ms: of_runs(|run| Some(run.measured.as_ref()?.service_time_ms?.mean))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::experiment::Experiment;
    use threadcount_model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
    use threadcount_model::sample::run;

    fn experiment(load: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\n\
             loads: [{{name: load, duration: 2s, {load}}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    /// Gives the run a pool of 250 threads of which `busy` are busy in every reading.
    fn with_busy(record: Record, busy: u32) -> Record {
        let sample = PoolSample { busy: Some(busy), ..PoolSample::default() };
        let pool = Pool {
            kind: PoolKind::Tomcat,
            name: "http-nio".to_owned(),
            max: Some(250),
            samples: vec![sample; 20],
        };
        Record { jvm: Some(JvmReadings { pools: vec![pool], ..JvmReadings::default() }), ..record }
    }

    #[test]
    fn under_a_rate_a_pool_has_room_if_it_is_well_above_the_mean_or_its_readings_were_never_full() {
        let experiment = experiment("rate: 5000/s");
        let has_room = |threads, record: Record| {
            let records = [record];
            let runs = VariantRuns::of(&experiment.variants[0], &experiment.loads[0], &records);
            InFlight::of(&runs).expect("known").has_room_in(threads, &runs)
        };
        // 5,000/s x 50 ms = 250 in flight; three standard deviations of random arrivals more make 297.4.
        let unread = || run("a", "load", 5_000.0, 50.0);
        assert_eq!(
            [250.0, 275.0, 297.0, 298.0].map(|it| has_room(it, unread())),
            [false, false, false, true]
        );
        assert!(has_room(250.0, with_busy(unread(), 200)), "50 were idle in each reading");
        assert!(!has_room(250.0, with_busy(unread(), 249)), "it was full");
        assert!(!has_room(240.0, with_busy(unread(), 200)), "it is smaller than the mean");
    }

    #[test]
    fn a_closed_loop_never_has_more_in_flight_than_clients() {
        let experiment = experiment("clients: 400");
        let records = [run("a", "load", 7_800.0, 51.0)];
        let runs = VariantRuns::of(&experiment.variants[0], &experiment.loads[0], &records);
        let in_flight = InFlight::of(&runs).expect("known");
        assert!(in_flight.has_room_in(400.0, &runs) && !in_flight.has_room_in(399.0, &runs));
    }
}
