//! The live heap under load: the measured load goes on for a moment, and the JVM counts the live objects.

use super::context::RunContext;
use super::lasting::lasting;
use super::sender::PlannedLoad;
use super::{DuringLoad, Question, halfway};
use std::thread;
use std::time::Duration;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;
use threadcount_model::record::Record;
use threadcount_model::record::memory::MemoryUnderLoad;
use threadcount_servers::running_server::RunningServer;

/// The load has as many requests in flight as in the measured window once it has lasted twice as long as its slow responses, and at least
/// this long.
const FILLING: Duration = Duration::from_millis(500);
/// If requests take longer than half of this, the heap is counted before the load has reached its full number in flight.
const LONGEST_FILLING: Duration = Duration::from_secs(10);
/// The load ends when the heap has been counted, or after this time.
const LONGEST: Duration = Duration::from_secs(40);
/// The server notices within this time that its connections are closed.
const EMPTYING: Duration = Duration::from_millis(200);

/// Counts the heap under load and, in rounds that look for reasons, at rest. The figures measured before stand, whatever happens here.
pub(super) fn count(
    run: &RunContext<'_>,
    plan: &LoadPlan,
    server: &mut RunningServer,
) -> Option<MemoryUnderLoad> {
    let heap = server.heap_reader()?;
    let plan = lasting(plan, LONGEST).with(|plan| plan.lead_in = Duration::ZERO);
    let after = if plan.is_steady() { filling(run.record) } else { halfway(&plan) };
    let mut counted = None;
    let mut ask = |_: &RunningServer| {
        let from_ns = now_ns();
        counted = heap.read().map(|heap| (heap, from_ns, now_ns()));
    };
    let question = Some(Question { after, ask: &mut ask, ends_load: true });
    let during = DuringLoad { on_begin: None, question };
    let load = PlannedLoad { spec: run.load, plan: &plan };
    let outcome = run.runner.load_until(load, server, during, &mut |_, _| {}).ok()?;
    let (under_load, from_ns, until_ns) = counted?;
    if !is_under_load(from_ns, until_ns, &outcome) {
        return None;
    }
    let at_rest = if run.runner.experiment.explains(run.load, run.record.round) {
        thread::sleep(EMPTYING);
        heap.read()
    } else {
        None
    };
    Some(MemoryUnderLoad { under_load, at_rest, connections: plan.connections.get().into() })
}

/// Whether the load lasted for the whole count. A load with a fixed number of requests may have ended before.
fn is_under_load(from_ns: Nanos, until_ns: Nanos, outcome: &LoadOutcome) -> bool {
    outcome.started_ns <= from_ns && until_ns <= outcome.ended_ns
}

/// How long the load runs before the heap is counted.
fn filling(record: &Record) -> Duration {
    let times = record.measured.as_ref().and_then(|load| load.response_time_ms);
    let slow = times.map_or(0.0, |times| times.p99);
    FILLING.max(Duration::from_secs_f64(2.0 * slow / 1_000.0)).min(LONGEST_FILLING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::{run, times, with_load};

    #[test]
    fn a_heap_that_was_counted_before_or_after_the_load_is_not_that_under_load() {
        let mut outcome = LoadOutcome::default();
        (outcome.started_ns, outcome.ended_ns) = (1_000, 2_000);
        let is_counted = |from_ns, until_ns| is_under_load(from_ns, until_ns, &outcome);
        assert!(is_counted(1_500, 1_900) && is_counted(1_000, 2_000));
        assert!(!is_counted(900, 1_100), "its connections were not open");
        assert!(!is_counted(1_900, 2_100), "its last request had ended");
    }

    #[test]
    fn the_heap_is_counted_when_slow_requests_are_in_flight_too() {
        let after = |p99_ms| {
            let record = with_load(run("it", "load", 1_000.0, 1.0), |load| {
                load.response_time_ms = Some(times(p99_ms))
            });
            filling(&record).as_millis()
        };
        assert_eq!([10.0, 400.0, 3_000.0, 60_000.0].map(after), [500, 800, 6_000, 10_000]);
        assert_eq!(filling(&Record::default()), FILLING);
    }
}
