//! The effect of pauses on the slowest hundredth of the requests. A pause in every second makes no second slower than the others, but it
//! still sets the 99th percentile.

use super::PauseTail;
use crate::evidence::tail::{ABOVE_P99, STANDS_OUT};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pause;
use threadcount_stats::pause_ledger::EXPLAINS;

/// A tail that stands out is also this much longer than the median.
const LONGER_BY_MS: f64 = 10.0;

/// The tail that the pauses cause; `None` if the tail is not much longer than the rest, or if pauses alone do not cause it.
///
/// Requests are assumed to arrive or end as evenly during a pause as outside it. A pause of length D delays, by x or more, the requests
/// that would arrive (open load) or end (closed load) in its first D - x; under a closed load, no more than those in flight.
pub(crate) fn tail_of_pauses(record: &Record, pauses: &[Pause], is_closed: bool) -> Option<PauseTail> {
    let load = record.measured.as_ref()?;
    let times = load.response_time_ms?;
    let above_ms = times.p99 - times.p50;
    if above_ms < LONGER_BY_MS || times.p99 < STANDS_OUT * times.p50 {
        return None;
    }
    let delay_ms = EXPLAINS * above_ms;
    let most_ms = if is_closed { times.mean } else { f64::INFINITY };
    let delaying_ms = pauses.iter().map(|pause| (pause.duration_ms - delay_ms).clamp(0.0, most_ms));
    let delayed_share = delaying_ms.sum::<f64>() / (load.elapsed_s * 1_000.0);
    let tail = PauseTail { p50_ms: times.p50, p99_ms: times.p99, delay_ms, delayed_share };
    (delayed_share >= ABOVE_P99).then_some(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::{run, with_load};

    /// 10 s of a server that answers in 50 ms, the slowest hundredth in `p99_ms`.
    fn tail(p99_ms: f64, pauses_ms: &[f64], is_closed: bool) -> Option<PauseTail> {
        let record = with_load(run("a", "c", 4_000.0, 50.0), |load| {
            if let Some(times) = load.response_time_ms.as_mut() {
                times.p99 = p99_ms;
            }
        });
        let pause = |&duration_ms: &f64| Pause { t_s: 1.0, duration_ms, name: String::new() };
        tail_of_pauses(&record, &pauses_ms.iter().map(pause).collect::<Vec<_>>(), is_closed)
    }

    #[test]
    fn a_pause_of_40_ms_in_each_of_ten_seconds_delays_two_hundredths_by_19_ms() {
        let seen = tail(88.0, &[40.0; 10], true).unwrap();
        assert!((seen.delayed_share - 0.021).abs() < 1e-9 && seen.delay_ms == 19.0, "{seen:?}");
        assert_eq!(tail(88.0, &[40.0; 10], false), Some(seen));
    }

    #[test]
    fn one_long_pause_delays_no_more_than_the_requests_that_are_on_their_way() {
        // A pause of 1 s delays a tenth of the requests of an open load, but under a closed one only those in flight: 50 ms' worth.
        let long = &[1_000.0];
        assert!(tail(400.0, long, false).is_some());
        assert_eq!(tail(400.0, long, true), None);
    }

    #[test]
    fn a_tail_that_pauses_are_too_short_or_too_rare_for_is_not_theirs() {
        assert_eq!(tail(250.0, &[40.0; 10], true), None, "200 ms above the median");
        assert_eq!(tail(88.0, &[40.0; 4], true), None, "less than a hundredth");
        assert_eq!(tail(88.0, &[2.0; 900], true), None, "a fifth of the time, in pauses of 2 ms");
        assert_eq!(tail(55.0, &[40.0; 10], true), None, "there is no tail");
        assert_eq!(tail(88.0, &[], true), None);
    }
}
