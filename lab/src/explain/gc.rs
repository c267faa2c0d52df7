//! Pauses of the garbage collector: those that the slowest responses waited for, and the time that all of them took.

use super::figure::{ms, percent};
use super::scene::mean_of;
use super::{Rule, Scene, evidence};
use crate::record::jvm::Pause;
use crate::record::{LoadSample, Record};
use crate::result::Finding;

/// More than this share of the time in pauses slows everything down.
const MUCH_TIME: f64 = 0.1;
/// Fewer seconds than this show no coincidence.
const FEWEST_SECONDS: usize = 5;
/// The slowest seconds: a tenth of them, but at least two.
const SLOWEST_SHARE: f64 = 0.1;
/// A response is slow if it takes this many times as long as the median ...
const SLOW: f64 = 2.0;
/// ... and this much longer; what a scheduler does to a thread is shorter.
const SLOWER_BY_MS: f64 = 10.0;
/// A pause explains a slow response if it lasted at least this much of what that took above the median.
const EXPLAINS: f64 = 0.5;
/// The share of the slowest seconds that have such a pause, and how much rarer it must be in the others.
const MOST_OF_THEM: f64 = 0.66;
const RARER: f64 = 2.0;

pub(super) struct GarbageCollection;

/// One run.
struct Seen {
    paused: f64,
    longest_ms: f64,
    pauses: f64,
    slow: Option<SlowSeconds>,
}

/// The seconds with the slowest responses.
#[derive(Clone, Copy)]
struct SlowSeconds {
    slowest_ms: f64,
    /// How many they are, and how many of them have a pause that explains them.
    count: f64,
    explained: f64,
    /// The share of the other seconds with a pause as long as that.
    others: f64,
}

impl Seen {
    fn of(record: &Record) -> Option<Self> {
        let jvm = record.jvm.as_ref()?;
        let load = record.measured.as_ref()?;
        let pauses = &jvm.pauses;
        let total_ms: f64 = pauses.iter().map(|pause| pause.duration_ms).sum();
        let seen = Self {
            paused: total_ms / (load.elapsed_s * 1_000.0),
            longest_ms: pauses.iter().map(|pause| pause.duration_ms).fold(0.0, f64::max),
            pauses: pauses.len() as f64,
            slow: SlowSeconds::of(&record.load_series, load.response_time_ms?.p50, pauses),
        };
        (seen.paused >= MUCH_TIME || seen.slow.is_some()).then_some(seen)
    }
}

impl SlowSeconds {
    /// `None`: nothing is slow, or something else than a pause made it so.
    fn of(series: &[LoadSample], p50_ms: f64, pauses: &[Pause]) -> Option<Self> {
        let mut seconds: Vec<(f64, f64)> =
            series.iter().filter_map(|second| Some((second.t_s.floor(), second.max_ms?))).collect();
        if seconds.len() < FEWEST_SECONDS {
            return None;
        }
        seconds.sort_by(|a, b| b.1.total_cmp(&a.1));
        let number = ((seconds.len() as f64 * SLOWEST_SHARE).ceil() as usize).max(2);
        let (slowest, others) = seconds.split_at(number);
        let is_slow = |max_ms: f64| max_ms >= SLOW * p50_ms && max_ms >= p50_ms + SLOWER_BY_MS;
        let enough = |max_ms: f64| EXPLAINS * (max_ms - p50_ms);
        let explained: Vec<f64> = slowest
            .iter()
            .filter(|&&(_, max_ms)| is_slow(max_ms))
            .filter_map(|&(second, max_ms)| {
                longest_during(pauses, second, max_ms).filter(|&it| it >= enough(max_ms))
            })
            .collect();
        let shortest = explained.iter().copied().fold(f64::INFINITY, f64::min);
        let as_long = |&&(second, max_ms): &&(f64, f64)| {
            longest_during(pauses, second, max_ms).is_some_and(|pause| pause >= shortest)
        };
        let seen = Self {
            slowest_ms: slowest[0].1,
            count: number as f64,
            explained: explained.len() as f64,
            others: others.iter().filter(as_long).count() as f64 / others.len() as f64,
        };
        let share = seen.explained / seen.count;
        (share >= MOST_OF_THEM && share >= RARER * seen.others).then_some(seen)
    }
}

/// The longest pause that a response of this second could have waited through: it ends before the second does, and begins
/// when the slowest of the second's responses was on its way.
fn longest_during(pauses: &[Pause], second: f64, max_ms: f64) -> Option<f64> {
    let during = |pause: &&Pause| {
        let end_s = pause.t_s + pause.duration_ms / 1_000.0;
        end_s <= second + 1.0 && end_s >= second - max_ms / 1_000.0 && pause.t_s >= second - max_ms / 1_000.0
    };
    pauses.iter().filter(during).map(|pause| pause.duration_ms).reduce(f64::max)
}

impl Rule for GarbageCollection {
    fn name(&self) -> &'static str {
        "gc"
    }

    fn look(&self, scene: &Scene<'_>) -> Option<Finding> {
        let (runs, confidence) = scene.in_most(Seen::of)?;
        let mean = |of: fn(&Seen) -> Option<f64>| mean_of(runs.iter().filter_map(of));
        let paused = mean(|it| Some(it.paused))?;
        let slow =
            |of: fn(&SlowSeconds) -> f64| mean_of(runs.iter().filter_map(|it| it.slow.as_ref()).map(of));
        let longest_ms = mean(|it| Some(it.longest_ms))?;
        let sentence = match (slow(|it| it.explained), slow(|it| it.count), slow(|it| it.slowest_ms)) {
            (Some(explained), Some(count), Some(slowest_ms)) => format!(
                "the slowest responses waited for the garbage collector: in {explained:.0} of the {count:.0} slowest \
                 seconds (up to {}) a pause was at least half of what they took too long, in {} of the others; the \
                 longest pause is {}",
                ms(slowest_ms),
                percent(slow(|it| it.others).unwrap_or_default()),
                ms(longest_ms)
            ),
            _ => format!("the garbage collector stopped the server for {} of the time", percent(paused)),
        };
        let figures = [
            ("time in pauses", Some(paused * 100.0), "%"),
            ("pauses", mean(|it| Some(it.pauses)), "in each run"),
            ("longest pause", Some(longest_ms), "ms"),
            ("slowest response", slow(|it| it.slowest_ms), "ms"),
            ("slowest seconds", slow(|it| it.count), "seconds"),
            ("of them with a pause that explains them", slow(|it| it.explained), "seconds"),
            ("other seconds with such a pause", slow(|it| it.others * 100.0), "%"),
        ];
        let seen =
            figures.iter().filter_map(|(what, value, unit)| Some(evidence(what, (*value)?, unit))).collect();
        let advice = "a larger heap (-Xmx), a collector with shorter pauses (-XX:+UseZGC) or fewer allocations for each \
            request may help";
        let finding = scene.finding(self.name(), sentence, seen, confidence);
        Some(Finding { advice: Some(advice.to_owned()), ..finding })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::stage::{look, run};
    use super::*;
    use crate::record::jvm::JvmReadings;

    /// 20 seconds of a server that answers in 50 ms; two of them have a response of 400 ms.
    fn slow_at_5_and_12(pauses: &[(f64, f64)]) -> Record {
        let mut record = run(4_000.0, 49.0, 50.0, 0.9);
        let second = |index: u32| LoadSample {
            t_s: f64::from(index) + 0.5,
            rate_per_s: 4_000.0,
            failed_per_s: 0.0,
            p50_ms: Some(50.0),
            p99_ms: Some(60.0),
            max_ms: Some(if index == 5 || index == 12 { 400.0 } else { 70.0 }),
        };
        record.load_series = (0..20).map(second).collect();
        let pause = |&(t_s, duration_ms): &(f64, f64)| Pause { t_s, duration_ms, name: "Pause".to_owned() };
        record.jvm =
            Some(JvmReadings { pauses: pauses.iter().map(pause).collect(), ..JvmReadings::default() });
        record
    }

    #[test]
    fn pauses_that_fall_on_the_slowest_responses_are_named() {
        let record = slow_at_5_and_12(&[(2.0, 8.0), (5.1, 330.0), (11.8, 340.0), (15.0, 9.0)]);
        let finding = look(&GarbageCollection, "clients: 200", record).expect("a finding");
        let expected = "the slowest responses waited for the garbage collector: in 2 of the 2 slowest seconds (up to \
            400 ms) a pause was at least half of what they took too long, in 0 % of the others; the longest pause is \
            340 ms";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn a_server_that_is_stopped_for_a_fifth_of_the_time_is_named() {
        let pauses: Vec<(f64, f64)> = (0..40).map(|step| (f64::from(step) * 0.5, 50.0)).collect();
        let finding = look(&GarbageCollection, "clients: 200", slow_at_5_and_12(&pauses)).expect("a finding");
        assert_eq!(finding.sentence, "the garbage collector stopped the server for 20 % of the time");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let everywhere: Vec<(f64, f64)> = (0..20).map(|second| (f64::from(second) + 0.2, 40.0)).collect();
        let silent = [
            ("pauses in other seconds", slow_at_5_and_12(&[(3.0, 330.0), (9.0, 330.0)])),
            ("short pauses in the slow seconds", slow_at_5_and_12(&[(5.1, 20.0), (12.2, 20.0)])),
            ("a pause that began after the slow responses", slow_at_5_and_12(&[(5.9, 330.0), (12.9, 330.0)])),
            ("one of the two", slow_at_5_and_12(&[(5.1, 330.0)])),
            ("short pauses in every second", slow_at_5_and_12(&everywhere)),
            ("no probe", Record { jvm: None, ..slow_at_5_and_12(&[(5.1, 330.0), (12.2, 330.0)]) }),
        ];
        for (what, record) in silent {
            assert_eq!(look(&GarbageCollection, "clients: 200", record), None, "{what}");
        }
    }
}
