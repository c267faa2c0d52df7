//! Waits in which most requests are fast and a few starve for seconds, because a lock, a permit or a connection goes to whoever comes at
//! the right moment.
//!
//! In a queue that serves in order of arrival, all wait about equally long. Requests that are slow by themselves spend their time
//! elsewhere.

use super::station::{Station, Tail};
use super::thresholds::MOST;
use super::waited;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::RunsShowing;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState};
use threadcount_stats::request_time::request_time;

/// The slowest hundredth of the requests must take at least this long, so that their wait lasts "seconds".
const SLOW_MS: f64 = 1_000.0;
/// The slowest hundredth must take at least this many times as long as the median.
const TIMES_MEDIAN: f64 = 20.0;

/// The wait in the typical run, if requests starve in most runs.
pub(super) fn in_runs(runs_of_variant: &VariantRuns<'_>) -> Option<(Station, RunsShowing)> {
    // Different kinds of request take different times, and each kind may have its own lock.
    let is_one_kind = runs_of_variant.load.more_requests.is_empty();
    runs_of_variant.observed().in_most(in_run).filter(|_| is_one_kind)
}

/// The longest wait for other requests, if such waits make up most of the mean, which the slow requests dominate.
fn in_run(record: &Record) -> Option<Station> {
    let (load, _) = record.observed_window()?;
    let times = load.service_time_ms.filter(|it| it.p99 >= SLOW_MS && it.p99 >= TIMES_MEDIAN * it.p50)?;
    let time = request_time(&[record]).filter(|time| time.counted == ThreadRole::Request)?;
    let waits = || time.parts.iter().filter(|part| is_handed_on(part.activity.state));
    let waiting_share = time.least_share(waits().map(|part| part.time.ms).sum());
    let longest = waits().next().filter(|_| waiting_share >= MOST)?;
    let tail = Some(Tail { p50_ms: times.p50, p99_ms: times.p99, waiting_share });
    Some(Station { tail, ..waited::in_part(&[record], &time, longest) })
}

/// Does one request get what another request gives back?
const fn is_handed_on(state: ThreadState) -> bool {
    use ThreadState::{Lock, Monitor, Pool, Queue, Semaphore};
    matches!(state, Lock | Monitor | Pool | Queue | Semaphore)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{family, found_in_runs};
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use crate::finding::{Finding, Rule};
    use threadcount_model::record::jvm::JvmReadings;
    use threadcount_model::record::wait_profile::{ThreadActivity, WaitGroup, WaitProfile};
    use threadcount_model::sample::{times, with_load};

    fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let found = crate::limit::find(runs_of_variant, &[]);
        found.into_iter().find(|it| it.rule() == Rule::UnfairWaits)
    }

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
            "requests spend 90 % of their time waiting for the monitor of Object: 90.0 ms of 100 ms, at shop.Orders.find:42. Most are \
             fast and some starve: service time p50 13.0 ms, p99 3.40 s. They spend 90 % of the mean waiting for what others hold"
        );
        assert!(advice(&finding).contains("fair"), "{}", advice(&finding));
    }

    fn rules(found: &[Finding]) -> Vec<Rule> {
        found.iter().map(Finding::rule).collect()
    }

    #[test]
    fn requests_that_starve_at_several_locks_are_named_though_none_of_these_waits_is_the_longest() {
        let mut several = with(ThreadState::Socket, 45.0, 13.0, 3_400.0);
        let profile = several.jvm.as_mut().and_then(|jvm| jvm.wait_profile.as_mut()).expect("a profile");
        for line in ["shop.Cart.add:1", "shop.Cart.drop:2", "shop.Cart.list:3"] {
            let activity = ThreadActivity {
                state: ThreadState::Monitor,
                application: Some(line.to_owned()),
                ..profile.groups[0].activity.clone()
            };
            profile.groups.push(WaitGroup { activity, threads: vec![18.0; 10], ..profile.groups[0].clone() });
        }
        let found = found_in_runs(&[several.clone(), several.clone(), several], &[]);
        assert_eq!(rules(&found), [Rule::RequestWaits, Rule::UnfairWaits]);
        let starving = sentence(&found[1]);
        assert!(
            starving.starts_with("requests spend 18 % of their time waiting for the monitor"),
            "{starving}"
        );
        assert!(starving.ends_with("They spend 54 % of the mean waiting for what others hold"), "{starving}");
    }

    #[test]
    fn a_full_executor_keeps_its_finding_and_its_advice_where_requests_starve_as_well() {
        let mut elastic = family("elastic-*", &[20.0], Some(("ThreadPoolExecutor", 20, 20)));
        elastic.completed_per_s = Some(1_000.0);
        let mut full = with(ThreadState::Monitor, 60.0, 13.0, 3_400.0);
        full.jvm.as_mut().expect("it was read").thread_families = vec![elastic];
        let found = found_in_runs(&[full.clone(), full.clone(), full], &[]);
        assert_eq!(rules(&found), [Rule::ConcurrencyLimit, Rule::UnfairWaits]);
        assert!(advice(&found[0]).starts_with("more threads for `elastic-*`"), "{found:?}");
        assert!(advice(&found[1]).contains("a fair lock"), "{found:?}");
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
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 100", record), None, "{case}");
        }
        let two_kinds = "clients: 100, request: [/fast, /slow]";
        assert_eq!(
            found(find, two_kinds, with(ThreadState::Monitor, 90.0, 13.0, 3_400.0)),
            None,
            "two targets"
        );
    }
}
