//! Assigns each request beyond the 99th percentile to the pause that it overlaps.

use threadcount_load::clock::Nanos;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::slowest::SlowRequest;
use threadcount_model::record::pause_ledger::{CauseOfDelay, DelayedRequest, PauseCause, PauseLedger};
use threadcount_model::window::Window;

/// A pause explains a slow response if it delayed the response by at least this share of its time above the median.
pub const EXPLAINS: f64 = 0.5;
/// Number of slowest requests that are kept individually.
const KEPT: usize = 200;

/// A time in which a cause acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    pub from_ns: Nanos,
    pub to_ns: Nanos,
    /// The most by which it delays a request: its length, or less if only samples of it are known.
    pub at_most_ns: Nanos,
}

/// An observed cause with its delays in order of time, none of which overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedCause {
    pub cause: PauseCause,
    /// The delays; empty if the cause never occurred.
    pub delays: Vec<Delay>,
}

/// The slow requests of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowTail {
    /// A random sample of the slow requests.
    pub sample: Vec<SlowRequest>,
    /// Number of slow requests.
    pub count: u64,
    /// The median response time of all requests.
    pub p50_ns: Nanos,
    /// All slow requests took longer than this.
    pub p99_ns: Nanos,
}

impl SlowTail {
    /// The requests beyond the 99th percentile of the response time.
    #[must_use]
    pub fn of(outcome: &LoadOutcome) -> Self {
        let at = |quantile| outcome.response_time.at_quantile(quantile).as_nanos() as Nanos;
        let p99_ns = at(0.99);
        Self {
            sample: outcome.slowest.beyond(p99_ns),
            count: outcome.response_time.count_beyond(p99_ns),
            p50_ns: at(0.5),
            p99_ns,
        }
    }
}

/// The causes of slow requests; `None` if there are no slow requests, or nothing was observed.
#[must_use]
pub fn pause_ledger(tail: &SlowTail, causes: &[ObservedCause], window: Window) -> Option<PauseLedger> {
    if tail.sample.is_empty() || causes.is_empty() {
        return None;
    }
    let given: Vec<_> =
        tail.sample.iter().map(|&request| (request, cause_of(request, tail, causes))).collect();
    let sampled = given.len() as f64;
    let of_cause = |observed: &ObservedCause| {
        let cause = observed.cause;
        let its = given.iter().filter_map(|(_, found)| found.filter(|found| found.cause == cause));
        let delays: Vec<f64> = its.map(|found| found.delay_ns as f64 / 1e6).collect();
        let lasted = || observed.delays.iter().map(|delay| delay.at_most_ns as f64 / 1e6);
        CauseOfDelay {
            cause,
            pauses: observed.delays.len() as u64,
            // The sum of nothing is -0.0.
            total_ms: lasted().sum::<f64>() + 0.0,
            longest_ms: lasted().fold(0.0, f64::max),
            requests_share: delays.len() as f64 / sampled,
            delay_ms: (!delays.is_empty()).then(|| delays.iter().sum::<f64>() / delays.len() as f64),
        }
    };
    let unexplained = given.iter().filter(|(_, found)| found.is_none()).count() as f64;
    Some(PauseLedger {
        p50_ms: tail.p50_ns as f64 / 1e6,
        p99_ms: tail.p99_ns as f64 / 1e6,
        slow_requests: tail.count,
        sampled: given.len() as u64,
        causes: causes.iter().map(of_cause).collect(),
        unexplained_share: unexplained / sampled,
        slowest: slowest(given, window),
    })
}

fn slowest(mut given: Vec<(SlowRequest, Option<Found>)>, window: Window) -> Vec<DelayedRequest> {
    given.sort_by_key(|(request, _)| std::cmp::Reverse(request.response_ns()));
    given.truncate(KEPT);
    given.sort_by_key(|(request, _)| request.due_ns);
    let kept = given.into_iter().map(|(request, found)| DelayedRequest {
        t_s: window.seconds(request.due_ns),
        response_ms: request.response_ns() as f64 / 1e6,
        cause: found.map(|found| found.cause),
    });
    kept.collect()
}

#[derive(Clone, Copy, Debug)]
struct Found {
    cause: PauseCause,
    delay_ns: Nanos,
}

/// The cause of a slow request. Stops of all threads are known exactly and never overlap, so they may explain it together; others alone.
fn cause_of(request: SlowRequest, tail: &SlowTail, causes: &[ObservedCause]) -> Option<Found> {
    let above_ns = request.response_ns().saturating_sub(tail.p50_ns);
    let enough_ns = ((EXPLAINS * above_ns as f64) as Nanos).max(1);
    let found = |tier: Tier| {
        let causes = causes.iter().filter(move |it| Tier::for_cause(it.cause) == tier);
        causes.map(|it| Found { cause: it.cause, delay_ns: delay_ns(request, &it.delays) })
    };
    let stopped_ns: Nanos = found(Tier::AllThreads).map(|found| found.delay_ns).sum();
    if stopped_ns >= enough_ns {
        return found(Tier::AllThreads).max_by_key(|found| found.delay_ns);
    }
    let alone = |tier| found(tier).max_by_key(|found| found.delay_ns).filter(|it| it.delay_ns >= enough_ns);
    alone(Tier::SomeThreads).or_else(|| alone(Tier::Sampled))
}

/// The ledger of several runs together, weighted by their slow requests; `None` if there are no runs.
#[must_use]
pub fn over_runs(runs: &[&PauseLedger]) -> Option<PauseLedger> {
    let slow_requests: u64 = runs.iter().map(|run| run.slow_requests).sum();
    let weight = |run: &PauseLedger| run.slow_requests as f64 / slow_requests as f64;
    let mean =
        |figure: fn(&PauseLedger) -> f64| runs.iter().map(|run| weight(run) * figure(run)).sum::<f64>();
    let mut causes: Vec<CauseOfDelay> = Vec::new();
    for run in runs {
        for &cause in &run.causes {
            let requests_share = weight(run) * cause.requests_share;
            // Weighted by the requests, and divided by their share at the end.
            let delay_ms = cause.delay_ms.map(|delay_ms| delay_ms * requests_share);
            match causes.iter_mut().find(|sum| sum.cause == cause.cause) {
                None => causes.push(CauseOfDelay { requests_share, delay_ms, ..cause }),
                Some(sum) => {
                    sum.pauses += cause.pauses;
                    sum.total_ms += cause.total_ms;
                    sum.longest_ms = sum.longest_ms.max(cause.longest_ms);
                    sum.requests_share += requests_share;
                    sum.delay_ms = sum.delay_ms.map_or(delay_ms, |ms| Some(ms + delay_ms.unwrap_or(0.0)));
                }
            }
        }
    }
    causes.iter_mut().for_each(|cause| cause.delay_ms = cause.delay_ms.map(|ms| ms / cause.requests_share));
    (slow_requests > 0).then(|| PauseLedger {
        p50_ms: mean(|run| run.p50_ms),
        p99_ms: mean(|run| run.p99_ms),
        slow_requests,
        sampled: runs.iter().map(|run| run.sampled).sum(),
        causes,
        unexplained_share: mean(|run| run.unexplained_share),
        slowest: Vec::new(),
    })
}

/// The precision with which a cause is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    AllThreads,
    SomeThreads,
    Sampled,
}

impl Tier {
    const fn for_cause(cause: PauseCause) -> Self {
        match cause {
            PauseCause::GarbageCollection | PauseCause::OtherSafepoint | PauseCause::TimeToSafepoint => {
                Self::AllThreads
            }
            PauseCause::AllocationStall => Self::SomeThreads,
            PauseCause::Compilation | PauseCause::Throttling | PauseCause::Steal => Self::Sampled,
        }
    }
}

fn delay_ns(request: SlowRequest, delays: &[Delay]) -> Nanos {
    let first = delays.partition_point(|delay| delay.to_ns <= request.due_ns);
    let touched = delays[first..].iter().take_while(|delay| delay.from_ns < request.ended_ns);
    let each = touched.map(|delay| {
        let together = request.ended_ns.min(delay.to_ns).saturating_sub(request.due_ns.max(delay.from_ns));
        together.min(delay.at_most_ns)
    });
    each.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    const WINDOW: Window = Window { started_ns: 1_000 * MS, ended_ns: 11_000 * MS };

    fn stopped(cause: PauseCause, all_ms: &[(u64, u64)]) -> ObservedCause {
        let delay = |&(from_ms, length_ms): &(u64, u64)| Delay {
            from_ns: from_ms * MS,
            to_ns: (from_ms + length_ms) * MS,
            at_most_ns: length_ms * MS,
        };
        ObservedCause { cause, delays: all_ms.iter().map(delay).collect() }
    }

    /// Requests of 90 ms, while the median of all is 50 ms.
    fn tail(due_ms: &[u64]) -> SlowTail {
        let request = |due_ms: &u64| SlowRequest { due_ns: due_ms * MS, ended_ns: (due_ms + 90) * MS };
        let sample = due_ms.iter().map(request).collect();
        SlowTail { sample, count: 300, p50_ns: 50 * MS, p99_ns: 85 * MS }
    }

    fn share(ledger: &PauseLedger, cause: PauseCause) -> f64 {
        ledger.causes.iter().find(|it| it.cause == cause).expect("observed").requests_share
    }

    #[test]
    fn requests_that_overlap_a_pause_are_given_to_it_and_the_rest_is_unexplained() {
        let gc = stopped(PauseCause::GarbageCollection, &[(2_000, 40), (3_000, 40)]);
        let other = stopped(PauseCause::OtherSafepoint, &[(5_000, 35)]);
        // Two in the first pause, one in the second, one in the safepoint, one nowhere.
        let ledger = pause_ledger(&tail(&[1_960, 1_990, 2_930, 4_990, 8_000]), &[gc, other], WINDOW).unwrap();
        assert!((share(&ledger, PauseCause::GarbageCollection) - 0.6).abs() < 1e-9, "{ledger:?}");
        assert!((share(&ledger, PauseCause::OtherSafepoint) - 0.2).abs() < 1e-9);
        assert!((ledger.unexplained_share - 0.2).abs() < 1e-9);
        let gc = ledger.main_cause().unwrap();
        assert_eq!((gc.cause, gc.pauses, gc.total_ms), (PauseCause::GarbageCollection, 2, 80.0));
        // Delays of 40 ms, 40 ms, and 20 ms for the third request, which ended during the pause.
        assert!((gc.delay_ms.unwrap() - 100.0 / 3.0).abs() < 1e-9, "{gc:?}");
        assert_eq!((ledger.slow_requests, ledger.sampled), (300, 5));
        assert_eq!((ledger.slowest[0].t_s, ledger.slowest[4].cause), (0.96, None));
    }

    #[test]
    fn as_many_pauses_beside_the_slow_requests_explain_none_of_them() {
        let gc = stopped(PauseCause::GarbageCollection, &[(2_200, 40), (3_200, 40), (4_200, 40)]);
        let ledger = pause_ledger(&tail(&[2_000, 3_000, 4_000]), &[gc], WINDOW).unwrap();
        assert_eq!((share(&ledger, PauseCause::GarbageCollection), ledger.unexplained_share), (0.0, 1.0));
    }

    #[test]
    fn a_pause_that_is_too_short_for_the_delay_explains_nothing_and_several_do_together() {
        let short = |all: &[(u64, u64)]| {
            let gc = stopped(PauseCause::GarbageCollection, all);
            pause_ledger(&tail(&[2_000]), &[gc], WINDOW).unwrap().unexplained_share
        };
        assert_eq!(short(&[(2_010, 15)]), 1.0, "15 of 40 ms above the median");
        assert_eq!(short(&[(2_010, 15), (2_040, 15)]), 0.0);
        let to_safepoint = stopped(PauseCause::TimeToSafepoint, &[(2_010, 14)]);
        let gc = stopped(PauseCause::GarbageCollection, &[(2_024, 9)]);
        let both = pause_ledger(&tail(&[2_000]), &[to_safepoint, gc], WINDOW).unwrap();
        assert_eq!(share(&both, PauseCause::TimeToSafepoint), 1.0, "the longer part");
    }

    #[test]
    fn what_is_known_from_samples_delays_no_more_than_it_took_of_a_core() {
        let steal = |at_most_ms: u64| {
            let delays = vec![Delay { from_ns: 2_000 * MS, to_ns: 2_250 * MS, at_most_ns: at_most_ms * MS }];
            let steal = ObservedCause { cause: PauseCause::Steal, delays };
            pause_ledger(&tail(&[2_050]), &[steal], WINDOW).unwrap().unexplained_share
        };
        assert_eq!((steal(19), steal(21)), (1.0, 0.0));
    }

    #[test]
    fn of_several_runs_each_has_the_weight_of_its_slow_requests() {
        let run = |due_ms: &[u64], count| {
            let gc = stopped(PauseCause::GarbageCollection, &[(2_000, 40)]);
            pause_ledger(&SlowTail { count, ..tail(due_ms) }, &[gc], WINDOW).unwrap()
        };
        let both = over_runs(&[&run(&[1_970], 300), &run(&[4_000], 100)]).unwrap();
        let gc = both.causes[0];
        assert_eq!((both.slow_requests, both.unexplained_share), (400, 0.25));
        assert_eq!((gc.requests_share, gc.pauses, gc.delay_ms), (0.75, 2, Some(40.0)));
        assert_eq!(over_runs(&[]), None);
    }

    #[test]
    fn without_slow_requests_or_anything_observed_there_is_no_ledger() {
        let gc = stopped(PauseCause::GarbageCollection, &[]);
        assert_eq!(pause_ledger(&tail(&[]), &[gc], WINDOW), None);
        assert_eq!(pause_ledger(&tail(&[2_000]), &[], WINDOW), None);
    }
}
