//! Joins the readings of several windows as if the windows had followed each other directly.

use super::{CostlyReading, RawSample, Samples};
use crate::cgroup::cpu::ThrottleCounters;
use crate::context_switches::Switches;
use crate::io_calls::IoCalls;
use crate::jvm_threads::JvmCpu;
use threadcount_model::window::Window;

impl Samples {
    /// Keeps only the readings in a window.
    #[must_use]
    pub fn only_in(self, Window { started_ns, ended_ns }: Window) -> Self {
        let readings = self.readings_in(started_ns, ended_ns).to_vec();
        Self { readings, ..self }
    }

    /// Appends the readings of a later window: the clock and all counters continue from the last reading, so that no difference includes
    /// the time between the windows.
    #[must_use]
    pub fn followed_by(mut self, later: &Self) -> Self {
        let (Some(last), Some(first)) = (self.readings.last().copied(), later.readings.first().copied())
        else {
            self.readings.extend(later.readings.iter().copied());
            return self;
        };
        let last_costly = self.readings.iter().rev().find_map(|it| it.costly);
        let first_costly = later.readings.iter().find_map(|it| it.costly);
        let last_sockets = self.readings.iter().rev().find_map(|it| it.sockets);
        let first_sockets = later.readings.iter().find_map(|it| it.sockets);
        self.readings.extend(later.readings.iter().map(|reading| RawSample {
            costly: reading.costly.map(|it| it.moved(first_costly, last_costly)),
            sockets: reading.sockets.map(|it| it.after(first_sockets, last_sockets)),
            ..reading.moved(&first, &last)
        }));
        self
    }
}

/// Shifts a counter so that it continues from `last` where it was `first`.
const fn moved(counter: u64, first: u64, last: u64) -> u64 {
    counter.saturating_sub(first) + last
}

impl RawSample {
    fn moved(&self, first: &Self, last: &Self) -> Self {
        let next = |counter: fn(&Self) -> u64| moved(counter(self), counter(first), counter(last));
        Self {
            at_ns: next(|it| it.at_ns),
            cpu_ns: next(|it| it.cpu_ns),
            kernel_ns: next(|it| it.kernel_ns),
            machine_busy_ns: next(|it| it.machine_busy_ns),
            stolen_ns: next(|it| it.stolen_ns),
            jvm: JvmCpu {
                gc_ns: next(|it| it.jvm.gc_ns),
                jit_ns: next(|it| it.jvm.jit_ns),
                jit_waited_ns: next(|it| it.jvm.jit_waited_ns),
            },
            throttled: throttled(self.throttled, first.throttled, last.throttled),
            ..*self
        }
    }
}

fn throttled(
    now: Option<ThrottleCounters>,
    first: Option<ThrottleCounters>,
    last: Option<ThrottleCounters>,
) -> Option<ThrottleCounters> {
    let (now, first, last) = (now?, first?, last?);
    let next = |counter: fn(&ThrottleCounters) -> u64| moved(counter(&now), counter(&first), counter(&last));
    Some(ThrottleCounters {
        periods: next(|it| it.periods),
        throttled_periods: next(|it| it.throttled_periods),
        throttled_ns: next(|it| it.throttled_ns),
    })
}

impl CostlyReading {
    fn moved(self, first: Option<Self>, last: Option<Self>) -> Self {
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        let next = |counter: fn(&Self) -> u64| moved(counter(&self), counter(&first), counter(&last));
        Self {
            switches: Switches {
                voluntary: next(|it| it.switches.voluntary),
                involuntary: next(|it| it.switches.involuntary),
            },
            io_calls: IoCalls { reads: next(|it| it.io_calls.reads), writes: next(|it| it.io_calls.writes) },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A second from `from_ms` on, with a reading every 500 ms: the server uses `cores` cores and switches that many hundred times per
    /// second. The counters begin at `begins`.
    fn second(from_ms: u64, cores: u64, begins: u64) -> Samples {
        let reading = |step: u64| {
            let grown = step * 500 * MS * cores;
            RawSample {
                at_ns: (from_ms + step * 500) * MS,
                cpu_ns: begins + grown,
                machine_busy_ns: 7 * begins + 2 * grown,
                jvm: JvmCpu { gc_ns: begins + grown / 10, ..JvmCpu::default() },
                rss_bytes: 100 + step,
                os_threads: 20,
                costly: (step != 1).then(|| CostlyReading {
                    switches: Switches { voluntary: begins + step * 50 * cores, involuntary: 0 },
                    ..CostlyReading::default()
                }),
                ..RawSample::default()
            }
        };
        Samples::new((0..=2).map(reading).collect(), 2)
    }

    #[test]
    fn what_happened_between_two_windows_is_in_no_figure() {
        let joined = second(1_000, 1, 5_000).followed_by(&second(60_000, 2, 999_000 * MS));
        let window = joined.window().unwrap();
        assert_eq!((window.started_ns, window.length_ns()), (1_000 * MS, 2_000 * MS));
        let (cost, series) = joined.cut(window);
        let cost = cost.unwrap();
        assert!((cost.window_s - 2.0).abs() < 1e-9, "{cost:?}");
        assert!(
            (cost.cpu_cores - 1.5).abs() < 1e-9 && (cost.machine_cpu_cores - 3.0).abs() < 1e-9,
            "{cost:?}"
        );
        assert!((cost.gc_cpu_cores.unwrap() - 0.15).abs() < 1e-9, "{cost:?}");
        assert_eq!(cost.voluntary_switches_per_s, Some(150.0));
        assert_eq!((cost.rss_peak_bytes, cost.os_threads_peak), (102, 20));
        let cores: Vec<_> = series.iter().map(|it| (it.cpu_cores * 10.0).round()).collect();
        assert_eq!(cores, [10.0, 10.0, 10.0, 0.0, 20.0, 20.0]);
    }

    #[test]
    fn what_was_read_outside_its_window_is_left_out_before() {
        let window = Window { started_ns: 60_400 * MS, ended_ns: 61_000 * MS };
        let joined = second(1_000, 1, 0).followed_by(&second(60_000, 2, 0).only_in(window));
        assert_eq!(joined.readings().len(), 5);
        assert_eq!(joined.window().unwrap().length_ns(), 1_500 * MS);
        assert_eq!(joined.readings()[4].cpu_ns, 2_000 * MS);
    }

    #[test]
    fn a_window_without_readings_changes_nothing() {
        let empty = || Samples::new(Vec::new(), 2);
        assert_eq!(second(1_000, 1, 0).followed_by(&empty()), second(1_000, 1, 0));
        assert_eq!(empty().followed_by(&second(1_000, 1, 0)).readings().len(), 3);
    }
}
