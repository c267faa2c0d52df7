//! Turns the outcome of a load and its samples into the figures of a record.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::LoadPlan;
use threadcount_load::report::LoadReport;
use threadcount_load::times::Times;
use threadcount_machine::Samples;
use threadcount_machine::network::difference;
use threadcount_machine::samples::cpu_us_per_request;
use threadcount_model::record::{
    Cost, CurvePoint, LoadSample, MorePercentiles, NetworkCounters, ProcessSample, Record,
};
use threadcount_model::window::Window;
use threadcount_servers::workload::external::ExternalOutcome;

/// Steps of the latency curve in each halving of the distance to 100 %.
const CURVE_STEPS: u32 = 5;

/// A second shorter than this (in seconds) is left out of rate series, because its rate is mostly chance.
const SHORTEST_SECOND_S: f64 = 0.2;

/// Fills in everything that the load and the samples show.
pub fn measured(
    record: &mut Record,
    outcome: &LoadOutcome,
    plan: &LoadPlan,
    window: Window,
    samples: &Samples,
) {
    let report = LoadReport::new(outcome, plan);
    cost(record, &report, window, samples);
    record.load_series = load_series(outcome);
    record.more_percentiles = more_percentiles(&outcome.response_time);
    record.latency_curve = latency_curve(&outcome.response_time);
    record.response_histogram = encoded(&outcome.response_time);
    record.measured = Some(report);
}

/// Fills in the report of an external load tool and the figures of the samples.
pub fn external(record: &mut Record, outcome: ExternalOutcome, window: Window, samples: &Samples) {
    cost(record, &outcome.report, window, samples);
    record.measured = Some(outcome.report);
    record.more_percentiles = Some(outcome.more_percentiles);
    record.external = Some(outcome.load);
}

fn cost(record: &mut Record, report: &LoadReport, window: Window, samples: &Samples) {
    (record.cost, record.process_series) = cost_within(report, window, samples);
    record.server_sockets = samples.sockets(window);
    record.neighbours = samples.neighbours(window);
}

/// The server's cost in a window, in total and per request of the load in it.
pub fn cost_within(
    report: &LoadReport,
    window: Window,
    samples: &Samples,
) -> (Option<Cost>, Vec<ProcessSample>) {
    let (cost, series) = samples.cut(window);
    let per_request = |mut cost: Cost| {
        cost.cpu_us_per_request = cpu_us_per_request(&cost, report.elapsed_s, report.answered());
        cost
    };
    (cost.map(per_request), series)
}

/// The seconds of a load, with the requests in flight if the seconds are contiguous.
fn load_series(outcome: &LoadOutcome) -> Vec<LoadSample> {
    let mut series: Vec<_> = outcome.seconds.iter().filter_map(load_sample).collect();
    let (last, whole) =
        outcome.seconds.split_last().map_or((None, &[][..]), |(last, whole)| (Some(last), whole));
    let is_of_one_piece = whole.iter().all(|second| second.length_s >= 1.0)
        && last.is_some_and(|last| last.index as usize == whole.len());
    if is_of_one_piece {
        let mut in_flight = outcome.counts.in_flight_at_start;
        for (sample, second) in series.iter_mut().zip(&outcome.seconds) {
            in_flight =
                (in_flight + second.counts.sent).saturating_sub(second.counts.ok + second.counts.failed);
            sample.in_flight = Some(in_flight);
        }
    }
    series
}

/// The rate in each second that is long enough.
pub fn whole_seconds(outcome: &LoadOutcome) -> Vec<f64> {
    outcome.seconds.iter().filter_map(load_sample).map(|sample| sample.rate_per_s).collect()
}

fn load_sample(second: &Second) -> Option<LoadSample> {
    (second.length_s >= SHORTEST_SECOND_S).then(|| LoadSample {
        t_s: second.began_s() + second.length_s / 2.0,
        rate_per_s: second.counts.ok as f64 / second.length_s,
        failed_per_s: second.counts.failed as f64 / second.length_s,
        p50_ms: second.response_ms.map(|times| times.p50),
        p99_ms: second.response_ms.map(|times| times.p99),
        max_ms: second.response_ms.map(|times| times.max),
        in_flight: None,
    })
}

fn more_percentiles(times: &Times) -> Option<MorePercentiles> {
    let at = |percent: u32| times.histogram().value_at_quantile(f64::from(percent) / 100.0) as f64 / 1e6;
    (times.count() > 0).then(|| MorePercentiles::read(at))
}

fn latency_curve(times: &Times) -> Vec<CurvePoint> {
    let point =
        |percentile: f64, value_ns: u64| CurvePoint { percentile, response_ms: value_ns as f64 / 1e6 };
    times
        .histogram()
        .iter_quantiles(CURVE_STEPS)
        .map(|step| point(step.quantile_iterated_to() * 100.0, step.value_iterated_to()))
        .collect()
}

fn encoded(times: &Times) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(times.histogram(), &mut bytes).ok()?;
    (times.count() > 0).then(|| STANDARD.encode(bytes))
}

/// The growth of the kernel's counters, if both readings succeeded.
pub fn grown(before: Option<NetworkCounters>, after: Option<NetworkCounters>) -> Option<NetworkCounters> {
    before.zip(after).map(|(before, after)| difference(before, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use threadcount_load::outcome::SecondTimes;

    fn thousand_times() -> Times {
        let mut times = Times::default();
        (1..=1_000).for_each(|ms| times.record_ns(ms * 1_000_000));
        times
    }

    #[test]
    fn the_latency_curve_rises_to_the_slowest_response() {
        let curve = latency_curve(&thousand_times());
        assert!(curve.windows(2).all(|pair| pair[0].percentile <= pair[1].percentile));
        assert!(curve.windows(2).all(|pair| pair[0].response_ms <= pair[1].response_ms));
        let median = curve.iter().find(|point| point.percentile >= 50.0).unwrap();
        assert!((median.response_ms - 500.0).abs() < 1.0, "{median:?}");
        let last = curve.last().unwrap();
        assert_eq!(last.percentile, 100.0);
        assert!((last.response_ms - 1_000.0).abs() < 1.0, "{last:?}");
    }

    #[test]
    fn the_percentiles_of_studies_are_read_from_the_same_times() {
        let more = more_percentiles(&thousand_times()).unwrap();
        let known = [
            (more.p10_ms, 100.0),
            (more.p25_ms, 250.0),
            (more.p66_ms, 660.0),
            (more.p80_ms, 800.0),
            (more.p98_ms, 980.0),
        ];
        assert!(known.iter().all(|(measured, known)| (measured / known - 1.0).abs() < 0.002), "{known:?}");
        assert_eq!(more_percentiles(&Times::default()), None);
    }

    #[test]
    fn the_encoded_histogram_is_read_back_by_the_library() {
        let bytes = STANDARD.decode(encoded(&thousand_times()).unwrap()).unwrap();
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(back.len(), 1_000);
        assert!((back.value_at_quantile(0.99) as f64 / 990e6 - 1.0).abs() < 0.001);
    }

    #[test]
    fn nothing_measured_gives_no_histogram_and_no_curve() {
        assert_eq!(encoded(&Times::default()), None);
        assert!(latency_curve(&Times::default()).is_empty());
    }

    fn second(index: u32, length_s: f64, ok: u64) -> Second {
        let mut second = Second::default();
        (second.index, second.length_s, second.counts.ok) = (index, length_s, ok);
        second
    }

    #[test]
    fn the_last_short_second_is_a_rate_over_its_own_length() {
        let half = load_sample(&second(4, 0.5, 50)).unwrap();
        assert_eq!((half.t_s, half.rate_per_s), (4.25, 100.0));
        assert_eq!(load_sample(&second(5, 0.1, 50)), None);
    }

    fn in_flight(in_flight_at_start: u64, seconds: Vec<Second>) -> Vec<Option<u64>> {
        let mut outcome = LoadOutcome::default();
        outcome.seconds = seconds;
        outcome.counts.in_flight_at_start = in_flight_at_start;
        load_series(&outcome).iter().map(|second| second.in_flight).collect()
    }

    #[test]
    fn requests_in_flight_are_those_at_the_start_and_sent_without_the_ended_ones() {
        let of = |index, length_s, sent, ok, failed| {
            let mut second = second(index, length_s, ok);
            (second.counts.sent, second.counts.failed) = (sent, failed);
            second
        };
        let seconds = vec![of(0, 1.0, 100, 90, 2), of(1, 1.0, 100, 60, 0), of(2, 0.5, 50, 100, 1)];
        assert_eq!(in_flight(3, seconds), [Some(11), Some(51), Some(0)]);
        let of_two_windows = vec![of(0, 0.5, 50, 40, 0), of(1, 1.0, 100, 90, 0)];
        assert_eq!(in_flight(0, of_two_windows), [None, None]);
    }

    #[test]
    fn a_second_without_answers_has_no_latency() {
        let mut second = second(0, 1.0, 0);
        second.counts.failed = 3;
        let sample = load_sample(&second).unwrap();
        assert_eq!((sample.rate_per_s, sample.failed_per_s, sample.p99_ms), (0.0, 3.0, None));
        let mut times = SecondTimes::default();
        times.max = 3.0;
        second.response_ms = Some(times);
        assert_eq!(load_sample(&second).unwrap().max_ms, Some(3.0));
    }

    #[test]
    fn network_counters_are_differences() {
        let at = |listen_overflows| NetworkCounters { listen_overflows, ..NetworkCounters::default() };
        assert_eq!(grown(Some(at(7)), Some(at(19))), Some(at(12)));
        assert_eq!(grown(None, Some(at(19))), None);
    }
}
