//! The load of our own generator: closed, or open at a rate.

use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use super::interleaving::Seat;
use super::watch::Event;
use super::{Measurement, RunError};
use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Stop};
use threadcount_servers::running_server::RunningServer;

/// The workload whose requests our own generator sends.
pub(super) struct HttpWorkload;

impl ServerWorkload for HttpWorkload {
    fn measure(
        &self,
        run: &mut RunContext<'_>,
        plan: &LoadPlan,
        server: &mut RunningServer,
    ) -> Result<MeasuredWindow, RunError> {
        let measurement = match (run.seat, run.load.interleave_s) {
            (Some(seat), Some(turn_s)) => in_turns(run, seat, turn_s, plan, server)?,
            _ => run.runner.measure(run.load, plan.clone(), server, run.watch)?,
        };
        Ok(measurement.fill_in(run.record))
    }
}

/// Sends the load in parts; between them the other servers of the round take their turns.
fn in_turns(
    run: &mut RunContext<'_>,
    seat: &Seat<'_>,
    turn_s: f64,
    plan: &LoadPlan,
    server: &mut RunningServer,
) -> Result<Measurement, RunError> {
    let mut whole: Option<Measurement> = None;
    let mut left_s = plan.stop.duration().map_or(turn_s, |duration| duration.as_secs_f64());
    for nth in 0..u64::from(run.load.turns()) {
        seat.pass();
        run.runner.check(server, "waiting for its turn")?;
        run.watch.event(Event::Turn { variant: &run.variant.name, load: &run.load.name });
        let part = plan.clone().with(|part| {
            part.stop = Stop::Duration(Duration::from_secs_f64(turn_s.min(left_s)));
            part.seed = plan.seed.wrapping_add(nth);
        });
        left_s -= turn_s;
        let measured = run.runner.measure(run.load, part, server, run.watch)?;
        whole = Some(match whole {
            None => measured.alone(),
            Some(before) => before.followed_by(measured),
        });
    }
    // The other servers take their last turn before our heap is counted.
    seat.pass();
    run.runner.check(server, "waiting for the others")?;
    let whole = whole.ok_or(RunError::Interrupted)?;
    Ok(Measurement { plan: plan.clone(), ..whole })
}
