//! Decides whether pauses of the garbage collector are worth a finding.

use super::tail::tail_of_pauses;
use super::{GcPauses, SlowSeconds};
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use threadcount_model::record::jvm::{Pause, Total};
use threadcount_model::record::{LoadSample, Record};
use threadcount_stats::pause_ledger::EXPLAINS;

/// More than this share of the time in pauses slows everything down.
const MUCH_TIME: f64 = 0.1;
/// With fewer seconds, a coincidence of pauses and slow seconds may be chance.
const FEWEST_SECONDS: usize = 5;
/// The share of the seconds that are examined as the slowest, at least two of them.
const SLOWEST_SHARE: f64 = 0.1;
/// A response is slow if it takes at least this many times as long as the median ...
const SLOW: f64 = 2.0;
/// ... and at least this much longer; delays by the operating system's scheduler are shorter.
const SLOWER_BY_MS: f64 = 10.0;
/// At least this share of the slowest seconds must have such a pause.
const MOST_OF_THEM: f64 = 0.66;
/// The share of the slowest seconds with such a pause must be at least this many times the share of the other seconds.
const RARER: f64 = 2.0;

/// The pauses of a run that are worth a finding.
fn pauses(record: &Record, is_closed: bool) -> Option<GcPauses> {
    let all = record.gc_pauses()?;
    let load = record.measured.as_ref()?;
    let found = GcPauses {
        slow_seconds: slow_seconds(&record.load_series, load.response_time_ms?.p50, &all.pauses),
        tail: tail_of_pauses(record, &all.pauses, is_closed),
        ..GcPauses::of_window(&all.total, load.elapsed_s)
    };
    let is_worth_it = found.paused_share >= MUCH_TIME || found.slow_seconds.is_some() || found.tail.is_some();
    is_worth_it.then_some(found)
}

/// The slow seconds; `None` if no second is slow, or if something other than pauses is the reason.
fn slow_seconds(series: &[LoadSample], p50_ms: f64, pauses: &[Pause]) -> Option<SlowSeconds> {
    let mut seconds: Vec<(f64, f64)> =
        series.iter().filter_map(|second| Some((second.t_s.floor(), second.max_ms?))).collect();
    if seconds.len() < FEWEST_SECONDS {
        return None;
    }
    seconds.sort_by(|a, b| b.1.total_cmp(&a.1));
    let number = ((seconds.len() as f64 * SLOWEST_SHARE).ceil() as usize).max(2);
    let (slowest, others) = seconds.split_at(number);
    let is_slow = |max_ms: f64| max_ms >= SLOW * p50_ms && max_ms >= p50_ms + SLOWER_BY_MS;
    let needs = slowest
        .iter()
        .filter(|&&(_, max_ms)| is_slow(max_ms))
        .map(|&(second, max_ms)| (second, max_ms, EXPLAINS * (max_ms - p50_ms)));
    let Explained { explained, shortest_ms, left } = explain_each(needs.collect(), pauses);
    let as_long = |&&(second, max_ms): &&(f64, f64)| {
        left.iter().any(|pause| pause.duration_ms >= shortest_ms && could_delay(pause, second, max_ms))
    };
    let found = SlowSeconds {
        slowest_ms: slowest[0].1,
        seconds: number as f64,
        explained_seconds: explained as f64,
        others_share: others.iter().filter(as_long).count() as f64 / others.len() as f64,
    };
    let share = found.explained_seconds / found.seconds;
    (share >= MOST_OF_THEM && share >= RARER * found.others_share).then_some(found)
}

/// The coincidence of pauses and slow seconds.
struct Explained {
    /// Number of slow seconds that a pause explains.
    explained: usize,
    /// The shortest pause that explains a second.
    shortest_ms: f64,
    /// The pauses that explain no second.
    left: Vec<Pause>,
}

/// Assigns each pause to at most one second. A pause near the border of two seconds delays responses of both, but a single event is no
/// coincidence. Each of `needs` is a second, its slowest response, and the length of the shortest pause that explains it.
fn explain_each(mut needs: Vec<(f64, f64, f64)>, pauses: &[Pause]) -> Explained {
    needs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = pauses.to_vec();
    left.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    let (mut explained, mut shortest_ms) = (0, f64::INFINITY);
    for (second, max_ms, enough_ms) in needs {
        // The first suitable pause is taken, because a later one may also suit the next second.
        let it = left
            .iter()
            .position(|pause| pause.duration_ms >= enough_ms && could_delay(pause, second, max_ms));
        if let Some(it) = it {
            shortest_ms = shortest_ms.min(left.remove(it).duration_ms);
            explained += 1;
        }
    }
    Explained { explained, shortest_ms, left }
}

/// Could a response of this second have waited through the pause? It must end before the second does, and begin no earlier than the slowest
/// response of the second can have been sent.
fn could_delay(pause: &Pause, second: f64, max_ms: f64) -> bool {
    let end_s = pause.t_s + pause.duration_ms / 1_000.0;
    end_s <= second + 1.0 && pause.t_s >= second - max_ms / 1_000.0
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let is_closed = runs_of_variant.is_closed();
    runs_of_variant.typical_finding(|run| pauses(run, is_closed).map(Fact::Gc))
}

/// Finds the time in pauses in a window without a load. Without requests it cannot tell whether the pauses delay any.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let pauses = GcPauses::of_window(&record.gc_pauses()?.total, record.cost?.window_s);
    (pauses.paused_share >= MUCH_TIME).then_some(Fact::Gc(pauses))
}

impl GcPauses {
    /// All pauses of a window, whose effect on requests is not known.
    fn of_window(all: &Total, window_s: f64) -> Self {
        Self {
            paused_share: all.total_ms / (window_s * 1_000.0),
            pauses_per_run: all.count as f64,
            longest_pause_ms: all.longest_ms,
            slow_seconds: None,
            tail: None,
            allocates_more_than: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::record::jvm::JvmReadings;

    /// 20 seconds of a server that answers in 50 ms; two of them have a response of 400 ms.
    fn slow_at_5_and_12(pauses: &[(f64, f64)]) -> Record {
        slow_in(&[5, 12], pauses)
    }

    fn slow_in(seconds: &[u32], pauses: &[(f64, f64)]) -> Record {
        let mut record = run(4_000.0, 49.0, 50.0, 0.9);
        let second = |index: u32| LoadSample {
            t_s: f64::from(index) + 0.5,
            rate_per_s: 4_000.0,
            failed_per_s: 0.0,
            p50_ms: Some(50.0),
            p99_ms: Some(60.0),
            max_ms: Some(if seconds.contains(&index) { 400.0 } else { 70.0 }),
            in_flight: None,
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
        let finding = found(find, "clients: 200", record).expect("a finding");
        let expected = "garbage collection pauses explain 2 of the 2 slowest seconds (up to 400 ms), and 0 % of the others. The longest pause is 340 ms";
        assert_eq!(sentence(&finding), expected);
    }

    /// The first pause could have delayed responses of both seconds, the second one only those of 12.
    #[test]
    fn two_slow_seconds_side_by_side_need_two_pauses() {
        let record = slow_in(&[11, 12], &[(11.65, 330.0), (12.3, 310.0)]);
        let finding = found(find, "clients: 200", record).expect("a finding");
        assert!(sentence(&finding).contains("in 2 of the 2 slowest seconds"), "{}", sentence(&finding));
    }

    /// As measured: 20 ms of sleep, and one pause of 30 ms just before the border of two seconds.
    #[test]
    fn one_pause_near_the_border_of_two_seconds_is_no_coincidence() {
        let mut record = slow_in(&[], &[(1.962, 30.5)]);
        let maxima = [26.0, 55.8, 52.0, 25.0, 24.0, 26.0];
        record.load_series.truncate(maxima.len());
        for (second, max_ms) in record.load_series.iter_mut().zip(maxima) {
            (second.p50_ms, second.max_ms) = (Some(20.5), Some(max_ms));
        }
        let measured = record.measured.as_mut().expect("it was measured");
        measured.response_time_ms.as_mut().expect("it has times").p50 = 20.5;
        let other = |record: &mut Record| {
            let jvm = record.jvm.as_mut().expect("it has a probe");
            jvm.pauses.push(Pause { t_s: 2.5, duration_ms: 30.0, name: "Pause".to_owned() });
        };
        assert_eq!(found(find, "clients: 20", record.clone()), None);
        other(&mut record);
        assert!(found(find, "clients: 20", record).is_some(), "two pauses are");
    }

    #[test]
    fn a_server_that_is_stopped_for_a_fifth_of_the_time_is_named() {
        let pauses: Vec<(f64, f64)> = (0..40).map(|step| (f64::from(step) * 0.5, 50.0)).collect();
        let finding = found(find, "clients: 200", slow_at_5_and_12(&pauses)).expect("a finding");
        assert_eq!(sentence(&finding), "garbage collection pauses stop the server for 20 % of the time");
    }

    /// 20 s with a pause of 40 ms in each: every second has as slow a response as every other.
    fn steady(p99_ms: f64) -> Record {
        let pauses: Vec<(f64, f64)> = (0..20).map(|second| (f64::from(second) + 0.2, 40.0)).collect();
        let mut record = slow_in(&[], &pauses);
        record.load_series.iter_mut().for_each(|second| second.max_ms = Some(p99_ms + 2.0));
        let load = record.measured.as_mut().expect("it was measured");
        load.elapsed_s = 20.0;
        load.response_time_ms.as_mut().expect("it has times").p99 = p99_ms;
        record
    }

    #[test]
    fn a_steady_pause_in_every_second_that_sets_the_99th_percentile_is_named() {
        let finding = found(find, "clients: 200", steady(88.0)).expect("a finding");
        let expected = "garbage collection pauses set p99 (88.0 ms, median 50.0 ms). They delay at least 2.1 % of the \
            requests by 19.0 ms or more. The longest pause is 40.0 ms";
        assert_eq!(sentence(&finding), expected);
        assert_eq!(found(find, "clients: 200", steady(300.0)), None, "something else makes 250 ms");
        assert_eq!(found(find, "clients: 200", steady(58.0)), None, "nothing waits for them");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let everywhere: Vec<(f64, f64)> = (0..20).map(|second| (f64::from(second) + 0.2, 40.0)).collect();
        let silent = [
            ("pauses in other seconds", slow_at_5_and_12(&[(3.0, 330.0), (9.0, 330.0)])),
            ("short pauses in the slow seconds", slow_at_5_and_12(&[(5.1, 20.0), (12.2, 20.0)])),
            ("a pause that began after the slow responses", slow_at_5_and_12(&[(5.9, 330.0), (12.9, 330.0)])),
            ("one of the two", slow_at_5_and_12(&[(5.1, 330.0)])),
            ("one pause across two slow seconds", slow_in(&[11, 12], &[(11.65, 330.0)])),
            ("short pauses in every second", slow_at_5_and_12(&everywhere)),
            ("no probe", Record { jvm: None, ..slow_at_5_and_12(&[(5.1, 330.0), (12.2, 330.0)]) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 200", record), None, "{case}");
        }
    }
}
