//! Decides whether waits are unfair.

use super::UnfairWaits;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState};
use threadcount_model::request_time::RequestTimePart;
use threadcount_stats::request_time::request_time;

/// The slowest hundredth of the requests must take this long: "seconds" ...
const SLOW_MS: f64 = 1_000.0;
/// ... and this many times the median.
const TIMES_MEDIAN: f64 = 20.0;
/// Share of the mean that must be spent waiting for other requests; the mean is mostly that of the slow requests.
const MOSTLY: f64 = 0.5;

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    // Requests of different kinds take different times, and each kind may have a lock of its own.
    if !runs_of_variant.load.more_requests.is_empty() {
        return None;
    }
    let (found, runs) = runs_of_variant.observed().in_most(unfair)?;
    let worst = found.into_iter().max_by(|a, b| a.p99_ms.total_cmp(&b.p99_ms))?;
    Some(
        runs_of_variant.finding(
            Fact::UnfairWaits(worst),
            RunsShowing::new(runs.showing as usize, runs.complete as usize),
        ),
    )
}

fn unfair(record: &Record) -> Option<UnfairWaits> {
    let (load, _) = record.observed_window()?;
    let times = load.service_time_ms.filter(|it| it.p99 >= SLOW_MS && it.p99 >= TIMES_MEDIAN * it.p50)?;
    let time = request_time(&[record]).filter(|time| time.counted == ThreadRole::Request)?;
    let waits: Vec<&RequestTimePart> = time.parts.iter().filter(|part| is_handed_on(part)).collect();
    let waiting_share = time.least_share(waits.iter().map(|part| part.time.ms).sum());
    (waiting_share >= MOSTLY).then_some(())?;
    let part = (*waits.first()?).clone();
    Some(UnfairWaits {
        part,
        waiting_share,
        mean_ms: time.service_time_ms,
        p50_ms: times.p50,
        p99_ms: times.p99,
        oldest_unfinished_ms: load.unfinished_age_ms.map(|age| age.max),
    })
}

/// Does one request get what another one gives back?
const fn is_handed_on(part: &RequestTimePart) -> bool {
    use ThreadState::{Lock, Monitor, Pool, Queue, Semaphore};
    matches!(part.activity.state, Lock | Monitor | Pool | Queue | Semaphore)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{ThreadActivity, WaitGroup, WaitProfile};
    use threadcount_model::sample::{times, with_load};

    /// 1,000 requests per second of 100 ms each: 100 in flight.
    fn with(state: ThreadState, threads: f64, p50_ms: f64, p99_ms: f64) -> Record {
        let activity = ThreadActivity {
            state,
            resource: Some("java.lang.Object".to_owned()),
            application: Some("shop.Orders.find:42".to_owned()),
            ..ThreadActivity::default()
        };
        let group = WaitGroup { role: ThreadRole::Request, activity, threads: vec![threads; 10] };
        let profile = WaitProfile { samples: 10, groups: vec![group], ..WaitProfile::default() };
        let mut record = with_load(run(1_000.0, 1.0, p50_ms, 1.9), |load| {
            let mut service = times(100.0);
            (service.p50, service.p99) = (p50_ms, p99_ms);
            load.service_time_ms = Some(service);
            load.unfinished_age_ms = Some(times(4_000.0));
        });
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    #[test]
    fn requests_that_are_overtaken_for_seconds_are_named_with_what_they_wait_for() {
        let finding = found(find, "clients: 100", with(ThreadState::Monitor, 90.0, 13.0, 3_400.0));
        let finding = finding.expect("a finding");
        assert_eq!(
            sentence(&finding),
            "most requests are fast and some starve: service time p50 13.0 ms, p99 3.40 s. They spend 90 % of the mean waiting for \
             what others hold, most of it at shop.Orders.find:42"
        );
        assert!(advice(&finding).contains("fair"), "{}", advice(&finding));
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("some requests sleep", with(ThreadState::Sleep, 90.0, 13.0, 3_400.0)),
            ("some requests compute", with(ThreadState::Running, 90.0, 13.0, 3_400.0)),
            ("some read from a slow service", with(ThreadState::Socket, 90.0, 13.0, 3_400.0)),
            ("a queue in order of arrival", with(ThreadState::Monitor, 90.0, 1_500.0, 3_400.0)),
            ("nobody waits for seconds", with(ThreadState::Monitor, 90.0, 13.0, 800.0)),
            ("more wait than there are requests", with(ThreadState::Monitor, 190.0, 13.0, 3_400.0)),
            ("the slow ones seldom wait for others", with(ThreadState::Monitor, 40.0, 13.0, 3_400.0)),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 100", record), None, "{what}");
        }
        let two_kinds = "clients: 100, request: [/fast, /slow]";
        assert_eq!(
            found(find, two_kinds, with(ThreadState::Monitor, 90.0, 13.0, 3_400.0)),
            None,
            "two targets"
        );
    }
}
