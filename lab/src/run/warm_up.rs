//! The warm-up: few clients first, and then the load itself, until the server is warm.

use super::few_clients::{FewClients, alone_s, requests_alone, with_clients};
use super::sender::PlannedLoad;
use super::server_seconds::ServerSeconds;
use super::steady::WarmUpTest;
use super::{DuringLoad, RunError, Runner, figures};
use crate::run::watch::{Event, Watch};
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{LoadPlan, Pacing, RateShape, Stop};
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::record::{Record, RequestsAlone, WarmUp};
use threadcount_servers::running_server::RunningServer;

/// The largest share of the longest warm-up that few clients may take.
const OF_FEW_CLIENTS: f64 = 0.6;

/// The divisor of the rate with which a cold server starts.
const COLD: f64 = 20.0;

impl Runner<'_> {
    /// Sends the load, unmeasured, until the server is warm or the longest warm-up is over.
    pub(super) fn warm_up(
        &self,
        record: &mut Record,
        load: &LoadSpec,
        plan: &LoadPlan,
        server: &mut RunningServer,
        watch: &mut dyn Watch,
    ) -> Result<(), RunError> {
        let at_most_s = self.experiment.longest_warmup_s(load);
        if at_most_s <= 0.0 {
            return Ok(());
        }
        let few_clients_s =
            self.warm_up_with_few_clients(load, plan, server, watch, at_most_s * OF_FEW_CLIENTS)?;
        let at_most_s = at_most_s - few_clients_s;
        let warming = plan.clone().with(|changed| {
            changed.stop = Stop::Duration(Duration::from_secs_f64(at_most_s));
            changed.pacing =
                rising(plan.pacing.clone(), warming_rate_per_s(load.workload, &plan.pacing), at_most_s);
            changed.log = None;
            changed.lead_in = Duration::ZERO;
            if changed.pacing == Pacing::Closed {
                changed.lateness = Duration::ZERO;
            }
        });
        let is_open = load.workload.rate_per_s().is_some();
        // The schedule keeps an open load's rate level, so without the server's CPU nothing shows whether it is warm.
        let can_tell = server.pid().is_some() || !is_open;
        let mut test = WarmUpTest::new(at_most_s, is_open);
        let mut seconds = ServerSeconds::of(server);
        let warming = PlannedLoad { spec: load, plan: &warming };
        let warmed = self.load_until(warming, server, DuringLoad::default(), &mut |second, stop| {
            watch.event(Event::Warming(second));
            let done = seconds.passed(second);
            // The last second of the longest warm-up is often incomplete.
            if f64::from(second.index) + 1.0 <= at_most_s {
                test.second(done);
            }
            if can_tell && test.is_steady() == Some(true) {
                stop.store(true, Ordering::Relaxed);
            }
        })?;
        record.warmup_rate_per_s = figures::whole_seconds(&warmed);
        record.warm_up = Some(WarmUp {
            lasted_s: few_clients_s + warmed.ended_ns.saturating_sub(warmed.started_ns) as f64 / 1e9,
            at_most_s: few_clients_s + at_most_s,
            levelled: test.is_steady().filter(|_| can_tell),
            judged_by: test.judged_by(),
            unsteady: test.unsteady().unwrap_or_default(),
            compiler_share: test.compiler_share(),
            classes_per_s: test.classes_per_s(),
            fastest_ms: None,
            alone: None,
        });
        self.check(server, "warming up")?;
        if server.pid().is_none() && warmed.status.is_empty() {
            return Err(silent(&server.url, &warmed));
        }
        self.settle(load, server, None, "warming up")?;
        if load.workload.is_closed() {
            let alone = self.one_request(load, &server.url)?;
            let alone = self.load(PlannedLoad { spec: load, plan: &alone }, server)?;
            self.check(server, "warming up")?;
            let fastest_alone_ms = fastest_ms(&alone);
            let fastest_ms = fastest_ms(&warmed).into_iter().chain(fastest_alone_ms).reduce(f64::min);
            let requests_alone = self.requests_alone(load, plan, server, fastest_alone_ms)?;
            if let Some(warm_up) = &mut record.warm_up {
                (warm_up.fastest_ms, warm_up.alone) = (fastest_ms, requests_alone);
            }
        }
        Ok(())
    }

    /// The response times of a single client, whose first request took `first_ms`.
    fn requests_alone(
        &self,
        load: &LoadSpec,
        plan: &LoadPlan,
        server: &mut RunningServer,
        first_ms: Option<f64>,
    ) -> Result<Option<RequestsAlone>, RunError> {
        let Some(seconds) = first_ms.and_then(alone_s).filter(|_| self.sender.processes() == 1) else {
            return Ok(None);
        };
        let plan = with_clients(plan, 1, seconds).with(|plan| plan.threads = NonZeroU32::new(1));
        let outcome = self.load(PlannedLoad { spec: load, plan: &plan }, server)?;
        self.check(server, "warming up")?;
        Ok(requests_alone(&outcome))
    }

    /// Returns how long the warm-up with few clients took, in seconds. It is skipped for a load with a rate, which rises slowly anyway, and
    /// for a server on another machine, whose CPU cannot be read.
    fn warm_up_with_few_clients(
        &self,
        load: &LoadSpec,
        plan: &LoadPlan,
        server: &mut RunningServer,
        watch: &mut dyn Watch,
        at_most_s: f64,
    ) -> Result<f64, RunError> {
        let mut few_clients = FewClients::new(server.pid(), plan, self.sender.processes(), at_most_s);
        if server.pid().is_none() || !load.workload.is_closed() || !few_clients.are_fewer() {
            return Ok(0.0);
        }
        while let Some(round) = few_clients.next_round(plan).filter(|_| few_clients.are_fewer()) {
            let round = PlannedLoad { spec: load, plan: &round };
            let outcome = self.load_until(round, server, DuringLoad::default(), &mut |second, stop| {
                watch.event(Event::Warming(second));
                if few_clients.passed(second) {
                    stop.store(true, Ordering::Relaxed);
                }
            })?;
            few_clients.round_ended(&outcome);
            self.check(server, "warming up")?;
        }
        Ok(few_clients.lasted_s())
    }
}

/// The failure of a server that somebody else started, and whose start we have not waited for.
fn silent(url: &str, warmed: &LoadOutcome) -> RunError {
    let most = warmed.failures.iter().max_by_key(|(_, count)| **count).map(|(cause, _)| cause.to_string());
    RunError::Silent { url: url.to_owned(), sent: warmed.counts.sent, why: most }
}

/// The fastest response.
pub(crate) fn fastest_ms(outcome: &LoadOutcome) -> Option<f64> {
    outcome.response_time.summary().map(|times| times.min)
}

/// The rate at which an open load warms up: the mean if its rate changes. An overload would fill the server before it is measured, so it
/// warms up at its lowest rate, at most a quarter of its highest.
pub(super) fn warming_rate_per_s(workload: Workload, pacing: &Pacing) -> Option<f64> {
    match pacing {
        Pacing::Open { shape, .. } if workload.is_overload() => {
            Some(shape.lowest_per_s().min(shape.highest_per_s() / 4.0))
        }
        _ => workload.rate_per_s(),
    }
}

/// Raises an open load's rate to its full value over the first half of the longest warm-up. A cold server that gets all of it at once may
/// collapse under a rate that it would sustain warm, and then measuring begins with its backlog.
fn rising(pacing: Pacing, rate_per_s: Option<f64>, at_most_s: f64) -> Pacing {
    match (pacing, rate_per_s) {
        (Pacing::Open { arrivals, .. }, Some(rate_per_s)) => {
            let over = Duration::from_secs_f64(at_most_s / 2.0);
            let shape = RateShape::Ramp { from_per_s: rate_per_s / COLD, to_per_s: rate_per_s, over };
            Pacing::Open { shape, arrivals }
        }
        (other, _) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::plan::{Arrivals, Step};
    use threadcount_model::experiment::{LoadKind, Losses};

    #[test]
    fn an_overload_is_warmed_up_at_a_rate_that_the_server_can_do() {
        let step = |rate_per_s| Step::new(rate_per_s, Duration::from_secs(8));
        let steps = RateShape::Steps(vec![step(150.0), step(1_200.0)]);
        let rate = |is_overload, shape: &RateShape| {
            let open =
                LoadKind::Open { rate_per_s: 675.0, clients: 4, losses: Losses::of(is_overload, true) };
            warming_rate_per_s(
                open.into(),
                &Pacing::Open { shape: shape.clone(), arrivals: Arrivals::Constant },
            )
        };
        assert_eq!((rate(true, &steps), rate(false, &steps)), (Some(150.0), Some(675.0)));
        assert_eq!(rate(true, &RateShape::Constant { rate_per_s: 1_200.0 }), Some(300.0));
    }

    #[test]
    fn an_open_warm_up_rises_to_its_rate_in_half_its_time_and_a_closed_one_stays_as_it_is() {
        let shape = RateShape::Constant { rate_per_s: 5_000.0 };
        let ramp = RateShape::Ramp { from_per_s: 250.0, to_per_s: 5_000.0, over: Duration::from_secs(7) };
        let open = |shape| Pacing::Open { shape, arrivals: Arrivals::Constant };
        let asked = Some(5_000.0);
        assert_eq!(rising(open(shape), asked, 14.0), open(ramp));
        assert_eq!(rising(Pacing::Closed, None, 14.0), Pacing::Closed);
    }
}
