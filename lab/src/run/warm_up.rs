//! When has a server warmed up? When what it does in a second no longer changes.
//!
//! The test looks at the last seconds of the warm-up: half of the longest warm-up, but 3 to 5 of them. They are level
//! where each of them lies near their mean and the straight line through them (least squares) neither rises nor falls
//! over their length by more than noise would have it. A rate that climbs by 2 % a second is not level however smooth
//! it is; one that jumps by 3 % from second to second is, because it goes nowhere.
//!
//! A steady state in this sense is not for ever: Barrett et al., "Virtual machine warmup blows hot and cold" (OOPSLA
//! 2017), found programs that become slower again, and some that never settle. So a run that was never level says so.

use super::{RunError, Runner, figures};
use crate::host::process_tree::ProcessTree;
use crate::model::experiment::{LoadKind, LoadSpec};
use crate::model::record::{Record, SteadyBy, WarmUp};
use crate::run::watch::{Event, Watch};
use crate::server::launcher::RunningServer;
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadcount_load::clock::now_ns;
use threadcount_load::plan::{LoadPlan, Pacing, RateShape, Stop};

/// The fewest and the most seconds the test looks at.
const SECONDS: (f64, f64) = (3.0, 5.0);

/// A cold server is asked for this part of the rate.
const COLD: f64 = 20.0;

/// How level something must be, as parts of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tolerance {
    /// How far a second may lie from the mean.
    distance: f64,
    /// How far the line may rise or fall from the first to the last second.
    drift: f64,
}

/// The rate of a closed load.
const RATE: Tolerance = Tolerance { distance: 0.10, drift: 0.03 };
/// The CPU of the server under an open load, where the schedule holds the rate: compiling costs CPU until it is done.
/// Garbage collection makes it uneven.
const CPU: Tolerance = Tolerance { distance: 0.30, drift: 0.10 };

impl Runner<'_> {
    /// The same load, not measured, until the server has levelled off or the longest warm-up is over.
    pub(super) fn warm_up(
        &self,
        record: &mut Record,
        load: &LoadSpec,
        plan: &LoadPlan,
        server: &mut RunningServer,
        watch: &mut dyn Watch,
    ) -> Result<(), RunError> {
        let at_most_s = self.experiment.warmup_s(load);
        if at_most_s <= 0.0 {
            return Ok(());
        }
        let warming = plan.clone().with(|changed| {
            changed.stop = Stop::Duration(Duration::from_secs_f64(at_most_s));
            changed.pacing = rising(plan.pacing.clone(), load.kind, at_most_s);
            changed.log = None;
            if changed.pacing == Pacing::Closed {
                changed.lateness = Duration::ZERO;
            }
        });
        let mut test = WarmUpTest::new(at_most_s, matches!(load.kind, LoadKind::Open { .. }));
        let mut tree = ProcessTree::of(server.pid());
        let mut before_ns = (now_ns(), tree.read().cpu_ns);
        let warmed = self.load_until(&warming, server, None, &mut |second, stop| {
            watch.event(Event::Warming(second));
            let after_ns = (now_ns(), tree.read().cpu_ns);
            let passed_ns = after_ns.0.saturating_sub(before_ns.0).max(1);
            let cpu_cores = after_ns.1.saturating_sub(before_ns.1) as f64 / passed_ns as f64;
            before_ns = after_ns;
            // The last second of the longest warm-up is often a part of one.
            if f64::from(second.index) + 1.0 <= at_most_s {
                test.second(second.ok as f64, cpu_cores);
            }
            if test.is_level() == Some(true) {
                stop.store(true, Ordering::Relaxed);
            }
        })?;
        record.warmup_rate_per_s = figures::whole_seconds(&warmed);
        record.warm_up = Some(WarmUp {
            lasted_s: warmed.ended_ns.saturating_sub(warmed.started_ns) as f64 / 1e9,
            at_most_s,
            levelled: test.is_level(),
            judged_by: test.judged_by(),
        });
        self.check(server, "warming up")?;
        self.settle(load, server, None, "warming up")?;
        Ok(())
    }
}

/// The rate of an open load rises to its own over the first half of the longest warm-up. A cold server that is asked for
/// all of it at once may collapse under what it would hold warm, and then measuring begins with its backlog.
/// One that ramps or has steps is warmed up at its mean.
fn rising(pacing: Pacing, kind: LoadKind, at_most_s: f64) -> Pacing {
    match (pacing, kind) {
        (Pacing::Open { arrivals, .. }, LoadKind::Open { rate_per_s, .. }) => {
            let over = Duration::from_secs_f64(at_most_s / 2.0);
            let shape = RateShape::Ramp { from_per_s: rate_per_s / COLD, to_per_s: rate_per_s, over };
            Pacing::Open { shape, arrivals }
        }
        (other, _) => other,
    }
}

/// Follows a warm-up second by second.
#[derive(Clone, Debug)]
pub(super) struct WarmUpTest {
    window: usize,
    rates: Vec<f64>,
    /// CPU in cores; only followed where the rate alone says nothing.
    cpu: Option<Vec<f64>>,
}

impl WarmUpTest {
    /// For a warm-up of at most so many seconds. `open`: the schedule holds the rate.
    pub fn new(at_most_s: f64, open: bool) -> Self {
        let window = (at_most_s / 2.0).clamp(SECONDS.0, SECONDS.1).floor() as usize;
        Self { window, rates: Vec::new(), cpu: open.then(Vec::new) }
    }

    /// A full second has passed. After it was level nothing counts any more: what is left of the load is being stopped.
    pub fn second(&mut self, rate_per_s: f64, cpu_cores: f64) {
        if self.is_level() == Some(true) {
            return;
        }
        self.rates.push(rate_per_s);
        if let Some(cpu) = &mut self.cpu {
            cpu.push(cpu_cores);
        }
    }

    /// Is it level now? `None`: too few seconds have passed to tell.
    pub fn is_level(&self) -> Option<bool> {
        let rate = level(&self.rates, self.window, RATE)?;
        let cpu = self.cpu.as_ref().and_then(|cpu| level(cpu, self.window, CPU));
        Some(rate && cpu.unwrap_or(true))
    }

    /// What has to be level.
    pub const fn judged_by(&self) -> SteadyBy {
        if self.cpu.is_some() { SteadyBy::RateAndCpu } else { SteadyBy::Rate }
    }
}

/// Are the last seconds level? `None`: there are not enough.
fn level(series: &[f64], window: usize, tolerance: Tolerance) -> Option<bool> {
    let last = &series[series.len().checked_sub(window)?..];
    let seconds = last.len() as f64;
    let mean = last.iter().sum::<f64>() / seconds;
    let middle = (seconds - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (place, value) in (0_u32..).zip(last) {
        let place = f64::from(place) - middle;
        products += place * (value - mean);
        squares += place * place;
    }
    let drift = products / squares * (seconds - 1.0);
    let near = last.iter().all(|value| (value - mean).abs() <= tolerance.distance * mean);
    Some(mean > 0.0 && near && drift.abs() <= tolerance.drift * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::plan::Arrivals;

    #[test]
    fn an_open_warm_up_rises_to_its_rate_in_half_its_time_and_a_closed_one_stays_as_it_is() {
        let shape = RateShape::Constant { rate_per_s: 5_000.0 };
        let ramp = RateShape::Ramp { from_per_s: 250.0, to_per_s: 5_000.0, over: Duration::from_secs(7) };
        let open = |shape| Pacing::Open { shape, arrivals: Arrivals::Constant };
        let asked = LoadKind::Open { rate_per_s: 5_000.0, clients: 1 };
        assert_eq!(rising(open(shape), asked, 14.0), open(ramp));
        assert_eq!(rising(Pacing::Closed, LoadKind::Closed { clients: 1 }, 14.0), Pacing::Closed);
    }

    /// The second after which a closed load's warm-up of at most 6 s (a window of 3) ends.
    fn ends_after(rates: &[f64]) -> Option<usize> {
        let mut test = WarmUpTest::new(6.0, false);
        rates.iter().position(|&rate| {
            test.second(rate, 0.0);
            test.is_level() == Some(true)
        })
    }

    #[test]
    fn the_window_is_half_of_the_longest_warm_up_within_three_and_five_seconds() {
        let window = |at_most_s| WarmUpTest::new(at_most_s, false).window;
        assert_eq!([1.0, 6.0, 8.0, 9.0, 10.0, 60.0].map(window), [3, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn a_rate_that_is_level_from_the_fourth_second_on_ends_after_the_sixth() {
        // Seconds 4 to 6 are the first three that are level.
        assert_eq!(ends_after(&[1_000.0, 3_000.0, 3_700.0, 3_990.0, 4_000.0, 3_995.0, 4_000.0]), Some(5));
    }

    #[test]
    fn a_ramp_never_levels_off() {
        let ramp: Vec<f64> = (0..60).map(|second| 1_000.0 * 1.02_f64.powi(second)).collect();
        assert_eq!(ends_after(&ramp), None);
        let fall: Vec<f64> = ramp.into_iter().rev().collect();
        assert_eq!(ends_after(&fall), None);
    }

    #[test]
    fn noise_of_three_per_cent_levels_off() {
        let noisy = [1.03, 0.97, 1.0, 1.03, 0.98, 1.02, 0.97, 1.0].map(|noise| 4_000.0 * noise);
        assert!(ends_after(&noisy).is_some_and(|second| second < 7), "{:?}", ends_after(&noisy));
    }

    #[test]
    fn a_standstill_is_not_level() {
        assert_eq!(ends_after(&[0.0; 10]), None);
        assert_eq!(ends_after(&[4_000.0, 2_000.0, 4_000.0, 4_000.0, 2_000.0, 4_000.0]), None);
    }

    #[test]
    fn the_second_in_which_the_load_is_stopped_does_not_count() {
        let mut test = WarmUpTest::new(6.0, false);
        [3_719.0, 3_834.0, 3_632.0, 12.0].into_iter().for_each(|rate| test.second(rate, 0.0));
        assert_eq!(test.is_level(), Some(true));
    }

    #[test]
    fn two_seconds_are_too_few_to_tell() {
        let mut test = WarmUpTest::new(6.0, false);
        test.second(1.0, 0.0);
        test.second(1.0, 0.0);
        assert_eq!(test.is_level(), None);
    }

    #[test]
    fn under_an_open_load_the_cpu_has_to_be_level_too() {
        let ends_after = |cpu: &[f64]| {
            let mut test = WarmUpTest::new(6.0, true);
            cpu.iter().position(|&cpu| {
                test.second(5_000.0, cpu);
                test.is_level() == Some(true)
            })
        };
        assert_eq!(ends_after(&[1.0, 1.0, 1.0]), Some(2), "at once");
        assert_eq!(ends_after(&[1.8, 1.5, 1.2, 0.9, 0.7, 0.6, 0.6, 0.6]), Some(7));
        assert_eq!(WarmUpTest::new(6.0, true).judged_by(), SteadyBy::RateAndCpu);
    }
}
