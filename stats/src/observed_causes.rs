//! Causes that could delay requests: stops from the JVM's log, and bursts in the samples of the machine.

use super::pause_ledger::{Delay, ObservedCause};
use crate::runs::FULL_MACHINE;
use threadcount_load::clock::Nanos;
use threadcount_machine::Samples;
use threadcount_machine::jvm_log::intervals::Interval;
use threadcount_machine::jvm_log::stops::Stops;
use threadcount_machine::jvm_threads::JvmCpu;
use threadcount_machine::samples::RawSample;
use threadcount_model::record::pause_ledger::PauseCause;
use threadcount_model::record::resource_limits::Throttling;

/// CPU time below this between two samples may be chance, because the kernel's clock ticks every 10 ms.
const LEAST_NS: Nanos = 2_000_000;

/// The stops that the JVM logged.
#[must_use]
pub fn of_log(stops: &Stops) -> Vec<ObservedCause> {
    let cause = |cause, intervals: &[Interval]| {
        let delay =
            |it: &Interval| Delay { from_ns: it.from_ns, to_ns: it.to_ns, at_most_ns: it.to_ns - it.from_ns };
        ObservedCause { cause, delays: intervals.iter().map(delay).collect() }
    };
    vec![
        cause(PauseCause::GarbageCollection, &stops.gc),
        cause(PauseCause::OtherSafepoint, &stops.other),
        cause(PauseCause::TimeToSafepoint, &stops.to_safepoint),
        cause(PauseCause::AllocationStall, &stops.stalls),
    ]
}

/// The bursts in the samples: time that the compiler, another guest or a CPU quota took beyond what it usually takes.
#[must_use]
pub fn of_samples(samples: &Samples, throttling: Option<Throttling>) -> Vec<ObservedCause> {
    let cores = f64::from(samples.machine_cores().max(1));
    let readings = samples.readings();
    let mut causes = Vec::new();
    // A server that runs elsewhere has no samples, so nothing is known of what delayed it.
    if readings.len() < 2 {
        return causes;
    }
    if readings.iter().any(|it| it.jvm != JvmCpu::default()) {
        causes.push(burst(PauseCause::Compilation, readings, |from, to| {
            let length_ns = to.at_ns.saturating_sub(from.at_ns) as f64;
            let busy_ns = to.machine_busy_ns.saturating_sub(from.machine_busy_ns) as f64;
            let is_full = busy_ns >= FULL_MACHINE * cores * length_ns;
            let jit_ns = to.jvm.jit_ns.saturating_sub(from.jvm.jit_ns) as f64;
            if is_full { jit_ns / cores } else { 0.0 }
        }));
    }
    if let Some(throttling) = throttling {
        causes.push(throttled(readings, throttling, cores));
    }
    causes.push(burst(PauseCause::Steal, readings, |from, to| {
        to.stolen_ns.saturating_sub(from.stolen_ns) as f64 / cores
    }));
    causes
}

/// A delay between each two readings, as long as `taken_ns` exceeds its own median.
fn burst(
    cause: PauseCause,
    readings: &[RawSample],
    taken_ns: impl Fn(&RawSample, &RawSample) -> f64,
) -> ObservedCause {
    let taken: Vec<f64> = readings.windows(2).map(|pair| taken_ns(&pair[0], &pair[1])).collect();
    let mut sorted = taken.clone();
    sorted.sort_by(f64::total_cmp);
    let usual_ns = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let delays = readings
        .windows(2)
        .zip(taken)
        .filter_map(|(pair, taken)| delay(&pair[0], &pair[1], (taken - usual_ns).max(0.0) as Nanos));
    ObservedCause { cause, delays: delays.collect() }
}

/// When the quota is used up, all threads of the group wait for the next period: longest if all cores used the quota at once.
fn throttled(readings: &[RawSample], throttling: Throttling, cores: f64) -> ObservedCause {
    let longest_ns = throttling.period_ms * 1e6 * (1.0 - (throttling.quota_cores / cores).min(1.0));
    let delays = readings.windows(2).filter_map(|pair| {
        let (before, after) = (pair[0].throttled?, pair[1].throttled?);
        let periods = after.throttled_periods.saturating_sub(before.throttled_periods) as f64;
        let throttled_ns = after.throttled_ns.saturating_sub(before.throttled_ns);
        delay(&pair[0], &pair[1], throttled_ns.min((periods * longest_ns) as Nanos))
    });
    ObservedCause { cause: PauseCause::Throttling, delays: delays.collect() }
}

fn delay(from: &RawSample, to: &RawSample, at_most_ns: Nanos) -> Option<Delay> {
    (at_most_ns >= LEAST_NS).then_some(Delay { from_ns: from.at_ns, to_ns: to.at_ns, at_most_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::cgroup::cpu::ThrottleCounters;

    const MS: Nanos = 1_000_000;

    /// Samples every 250 ms on two cores; `change` sets the counters of a sample by its number.
    fn samples(change: impl Fn(u64, &mut RawSample)) -> Samples {
        let reading = |step: u64| {
            let mut sample = RawSample { at_ns: step * 250 * MS, ..RawSample::default() };
            change(step, &mut sample);
            sample
        };
        Samples::new((0..40).map(reading).collect(), 2)
    }

    fn delays(samples: &Samples, throttling: Option<Throttling>, cause: PauseCause) -> Vec<Delay> {
        let all = of_samples(samples, throttling);
        all.into_iter().find(|it| it.cause == cause).map(|it| it.delays).unwrap_or_default()
    }

    #[test]
    fn a_burst_of_steal_is_a_delay_and_steady_steal_is_none() {
        let burst = samples(|step, it| it.stolen_ns = step * 10 * MS + if step > 7 { 120 * MS } else { 0 });
        let expected = Delay { from_ns: 1_750 * MS, to_ns: 2_000 * MS, at_most_ns: 60 * MS };
        assert_eq!(delays(&burst, None, PauseCause::Steal), [expected]);
        let steady = samples(|step, it| it.stolen_ns = step * 50 * MS);
        assert_eq!(delays(&steady, None, PauseCause::Steal), []);
    }

    #[test]
    fn the_compiler_delays_requests_on_a_full_machine_only() {
        let compiling = |busy_ms: u64| {
            samples(|step, it| {
                it.machine_busy_ns = step * busy_ms * MS;
                it.jvm.jit_ns = MS + if step > 7 { 200 * MS } else { 0 };
            })
        };
        assert_eq!(delays(&compiling(490), None, PauseCause::Compilation)[0].at_most_ns, 100 * MS);
        assert_eq!(delays(&compiling(300), None, PauseCause::Compilation), []);
        assert!(of_samples(&samples(|_, _| {}), None).iter().all(|it| it.cause == PauseCause::Steal));
    }

    #[test]
    fn a_throttled_period_delays_by_no_more_than_what_the_quota_leaves_of_it() {
        let throttling = Throttling { quota_cores: 0.5, period_ms: 100.0, ..Throttling::default() };
        let seen = samples(|step, it| {
            let (throttled_periods, throttled_ns) = if step > 7 { (1, 150 * MS) } else { (0, 0) };
            it.throttled = Some(ThrottleCounters { periods: step * 2, throttled_periods, throttled_ns });
        });
        let seen = delays(&seen, Some(throttling), PauseCause::Throttling);
        assert_eq!(seen, [Delay { from_ns: 1_750 * MS, to_ns: 2_000 * MS, at_most_ns: 75 * MS }]);
    }
}
