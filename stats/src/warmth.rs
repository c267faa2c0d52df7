//! Decides whether a JVM was warm when it was measured. Only the window is measured, so it decides if the warm-up did not: a compiler that
//! was busy until the warm-up ended may have nothing left to do.

use super::compiler::{busy_compiler, is_starved};
use super::steady::{RATE, ServedSecond, is_cpu_level, is_level};
use threadcount_model::record::{Record, SteadyBy, WarmUp, WarmUpFigure};

/// Fewer whole seconds tell nothing about a drift.
const FEWEST_SECONDS: usize = 3;
/// The middle of a whole second is at most this far from the half.
const WHOLE: f64 = 0.05;

/// Did the warm-up reach the steady state, or does the measured window pass the same test? `None` if there was no warm-up, or it was
/// too short to tell.
#[must_use]
pub fn was_warm(record: &Record) -> Option<bool> {
    let warm_up = record.warm_up.as_ref()?;
    Some(warm_up.levelled? || is_window_steady(record, warm_up))
}

/// Are the window's rate and CPU level, and is the compiler quiet? Classes loaded in the window are not counted.
fn is_window_steady(record: &Record, warm_up: &WarmUp) -> bool {
    let Some(cost) = &record.cost else { return false };
    let is_open = warm_up.judged_by == SteadyBy::RateAndCpu;
    let seconds = whole_seconds(record);
    let rates: Vec<f64> = seconds.iter().map(|it| it.rate_per_s).collect();
    let [running, waiting] = [cost.jit_cpu_cores, cost.jit_waiting_threads].map(Option::unwrap_or_default);
    let is_compiler_quiet = busy_compiler(record).is_none() && !is_starved(waiting, running);
    seconds.len() >= FEWEST_SECONDS
        && !warm_up.unsteady.contains(&WarmUpFigure::ClassLoading)
        && is_compiler_quiet
        && is_level(&rates, RATE)
        && is_cpu_level(&seconds, is_open)
}

/// The whole seconds of the measured window that have a reading of the server's CPU.
fn whole_seconds(record: &Record) -> Vec<ServedSecond> {
    let whole = record.load_series.iter().filter(|it| (it.t_s.fract() - 0.5).abs() <= WHOLE);
    let second = whole.filter_map(|load| {
        let is_in_it = |t_s: f64| (t_s - load.t_s).abs() <= 0.5;
        let cores = record.process_series.iter().filter(|it| is_in_it(it.t_s)).map(|it| it.cpu_cores);
        let cpu_cores = super::runs::mean(&cores.collect::<Vec<f64>>())?;
        Some(ServedSecond { rate_per_s: load.rate_per_s, cpu_cores })
    });
    second.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::record::{Cost, LoadSample, ProcessSample};
    use threadcount_model::sample::run;

    const RATES: [f64; 5] = [3_958.0, 4_000.0, 4_000.0, 4_000.0, 3_886.0];

    /// A run whose warm-up ended with a busy compiler, and whose measured seconds had these rates.
    fn measured(rates: &[f64], change: impl Fn(&mut Record)) -> Option<bool> {
        let mut record = run("a", "c400", 4_000.0, 100.0);
        let unsteady = vec![WarmUpFigure::Compiler];
        record.warm_up = Some(WarmUp { levelled: Some(false), unsteady, ..WarmUp::default() });
        let of_window = |cost| Cost { cpu_cores: 0.3, jit_cpu_cores: Some(0.004), ..cost };
        record.cost = record.cost.map(of_window);
        let second = |(place, &rate_per_s): (usize, &f64)| LoadSample {
            t_s: place as f64 + 0.5,
            rate_per_s,
            ..LoadSample::default()
        };
        record.load_series = rates.iter().enumerate().map(second).collect();
        let sample = |place: usize| ProcessSample {
            t_s: place as f64 / 4.0,
            cpu_cores: 0.3,
            ..ProcessSample::default()
        };
        record.process_series = (0..4 * rates.len()).map(sample).collect();
        change(&mut record);
        was_warm(&record)
    }

    #[test]
    fn a_window_that_is_steady_was_measured_warm_whatever_the_warm_up_ended_with() {
        assert_eq!(measured(&RATES, |_| ()), Some(true));
        let without_jvm = |it: &mut Record| with_cost(it, |cost| cost.jit_cpu_cores = None);
        assert_eq!(measured(&RATES, without_jvm), Some(true));
        assert_eq!(measured(&RATES, |it| it.warm_up = None), None);
        assert_eq!(measured(&RATES, |it| it.warm_up = Some(WarmUp::default())), None, "too short to tell");
    }

    fn with_cost(record: &mut Record, change: fn(&mut Cost)) {
        record.cost.iter_mut().for_each(change);
    }

    #[test]
    fn a_window_in_which_something_still_changes_is_not_warm() {
        let is_cold = |change: fn(&mut Record)| measured(&RATES, change) == Some(false);
        assert!(is_cold(|it| with_cost(it, |cost| cost.jit_cpu_cores = Some(0.03))), "the compiler is busy");
        assert!(is_cold(|it| with_cost(it, |cost| cost.jit_waiting_threads = Some(0.9))), "it has no core");
        assert!(is_cold(|it| it.process_series.iter_mut().for_each(|it| it.cpu_cores = 0.3 - it.t_s / 50.0)));
        assert!(is_cold(|it| it
            .warm_up
            .iter_mut()
            .for_each(|it| it.unsteady.push(WarmUpFigure::ClassLoading))));
        assert_eq!(measured(&[3_700.0, 3_800.0, 3_900.0, 4_000.0], |_| ()), Some(false), "it gets faster");
        assert_eq!(measured(&RATES[..2], |_| ()), Some(false), "two seconds have no drift");
        let with_a_part = |it: &mut Record| it.load_series[2].t_s = 2.25;
        assert_eq!(measured(&RATES[..3], with_a_part), Some(false), "a part of a second is none");
    }
}
