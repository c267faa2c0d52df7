//! Requests that spend their time waiting for something that others hold, by samples of their threads.

use super::{VariantRuns, connection_pools, showing};
use crate::model::finding::{Explanation, Fact, Finding, FullPool, RequestWaits};
use crate::model::record::Record;
use crate::model::record::wait_profile::{ThreadRole, ThreadState};
use crate::model::request_time::{RequestTime, RequestTimePart};
use crate::stats::request_time::request_time;

/// The share of the service time that must be spent at one place ...
const WORTH_SAYING: f64 = 0.2;
/// ... and the least of it that its interval must leave.
const AT_LEAST: f64 = 0.1;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let time = request_time(&runs_of_variant.runs)?;
    // Threads of an unknown server may be jobs of the application, whose waiting keeps no request.
    let is_request = time.counted == ThreadRole::Request;
    let part = is_request.then(|| longest_wait(&time, &runs_of_variant.runs)).flatten()?.clone();
    let pool = pool(&runs_of_variant.runs, &part);
    let fact = RequestWaits { part, service_time_ms: time.service_time_ms, pool };
    let shown_by = runs_showing(&runs_of_variant.runs, &fact.part);
    if 2 * shown_by < time.runs as usize {
        return None;
    }
    let runs = showing(shown_by, time.runs as usize);
    Some(runs_of_variant.finding(Fact::RequestWaits(fact), runs))
}

pub(super) fn is_for_pool(finding: &Finding) -> bool {
    let Explanation::Fact(Fact::RequestWaits(waits)) = &finding.explanation else { return false };
    waits.part.activity.state == ThreadState::Pool
}

/// Runs each of which spends about as much of its time there.
fn runs_showing(runs: &[&Record], part: &RequestTimePart) -> usize {
    let shows = |run: &&&Record| {
        request_time(&[run]).is_some_and(|time| {
            let same = time.parts.iter().filter(|it| is_same_place(it, part));
            same.map(|it| time.share(it)).sum::<f64>() >= WORTH_SAYING
        })
    };
    runs.iter().filter(shows).count()
}

/// The pool for whose connections they wait, over the runs in which it was read.
fn pool(runs: &[&Record], part: &RequestTimePart) -> Option<FullPool> {
    let library = part.activity.resource.as_ref().filter(|_| part.activity.state == ThreadState::Pool)?;
    let pools: Vec<FullPool> =
        runs.iter().filter_map(|run| connection_pools::of_library(run, library)).collect();
    connection_pools::mean(&pools.iter().collect::<Vec<_>>())
}

/// Who holds it and whom it reads from may differ from run to run.
fn is_same_place(one: &RequestTimePart, other: &RequestTimePart) -> bool {
    let place = |it: &RequestTimePart| {
        let activity = it.activity.clone();
        (activity.state, activity.resource, activity.application, activity.library)
    };
    place(one) == place(other)
}

/// The longest one that is surely there, in all runs together or in each of them.
fn longest_wait<'a>(time: &'a RequestTime, runs: &[&Record]) -> Option<&'a RequestTimePart> {
    let of_runs: Vec<RequestTime> = runs.iter().filter_map(|run| request_time(&[run])).collect();
    let is_in_run = |of_run: &RequestTime, part: &RequestTimePart| {
        of_run.parts.iter().any(|it| is_same_place(it, part) && is_sure(of_run, it))
    };
    let is_in_each = |part: &RequestTimePart| of_runs.iter().all(|of_run| is_in_run(of_run, part));
    let is_sure = |part: &&RequestTimePart| is_sure(time, part) || is_in_each(part);
    // Small groups of one state are added up without a place: several waits, and none of them long.
    let is_a_place =
        |part: &&RequestTimePart| part.activity.application.is_some() || part.activity.library.is_some();
    let parts = time.parts.iter().filter(is_a_place);
    let waits = parts.filter(|part| part.activity.state.waits_for_others());
    waits.filter(is_sure).find(|part| time.share(part) >= WORTH_SAYING)
}

fn is_sure(time: &RequestTime, part: &RequestTimePart) -> bool {
    part.time.interval.is_some_and(|interval| interval.low >= AT_LEAST * time.service_time_ms)
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, found_in, run, sentence};
    use super::*;
    use crate::model::finding::RunsShowing;
    use crate::model::record::jvm::{JvmReadings, Pool, PoolKind, PoolSample};
    use crate::model::record::wait_profile::{ThreadActivity, WaitGroup, WaitProfile};
    use crate::stats::sample::{times, with_load};

    /// 80 requests a second of 500 ms each: 40 in flight.
    fn with(state: ThreadState, resource: &str, threads: f64, role: ThreadRole) -> Record {
        let activity = ThreadActivity {
            state,
            resource: Some(resource.to_owned()),
            application: Some("shop.Orders.find:42".to_owned()),
            holder: Some("shop.Orders.save:88".to_owned()),
            ..ThreadActivity::default()
        };
        let groups = vec![WaitGroup { role, activity, threads: vec![threads; 10] }];
        let profile = WaitProfile { samples: 10, groups, ..WaitProfile::default() };
        let mut record = with_load(run(80.0, 50.1, 500.0, 0.2), |load| {
            load.service_time_ms = Some(times(500.0));
        });
        record.jvm = Some(JvmReadings { wait_profile: Some(profile), ..JvmReadings::default() });
        record
    }

    fn of(state: ThreadState, threads: f64) -> Option<Finding> {
        found(
            find,
            "clients: 40",
            with(state, "java.util.concurrent.Semaphore", threads, ThreadRole::Request),
        )
    }

    #[test]
    fn the_longest_wait_is_named_with_its_milliseconds_its_line_and_what_to_try() {
        let finding =
            found(find, "clients: 40", with(ThreadState::Pool, "HikariCP", 30.0, ThreadRole::Request));
        let finding = finding.expect("a finding");
        assert_eq!(
            sentence(&finding),
            "requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at \
             shop.Orders.find:42"
        );
        assert!(advice(&finding).contains("larger pool"), "{}", advice(&finding));
        let lock = of(ThreadState::Lock, 30.0).expect("a finding");
        assert!(sentence(&lock).ends_with("at shop.Orders.find:42; held at shop.Orders.save:88"));
        assert!(of(ThreadState::Socket, 30.0).is_some_and(|it| advice(&it).contains("fewer calls")));
    }

    /// A pool whose readings are all alike.
    fn pool_of(kind: PoolKind, name: &str, busy: u32, queued: u64) -> Pool {
        let sample = PoolSample { t_s: 1.0, busy: Some(busy), size: Some(10), queued: Some(queued) };
        Pool { kind, name: name.to_owned(), max: Some(10), samples: vec![sample; 20] }
    }

    fn sentence_beside(pools: Vec<Pool>) -> String {
        let mut record = with(ThreadState::Pool, "HikariCP", 30.0, ThreadRole::Request);
        record.jvm.as_mut().expect("it was read").pools = pools;
        sentence(&found(find, "clients: 40", record).expect("a finding"))
    }

    #[test]
    fn the_size_of_the_pool_is_named_where_it_is_known_which_pool_is_meant() {
        let orders = || pool_of(PoolKind::Hikari, "orders", 10, 31);
        let known = "requests spend 75 % of their time waiting for a HikariCP connection: 375 ms of 500 ms, at \
             shop.Orders.find:42; all 10 of orders are in use in 100 % of its readings, and 31 wait for one";
        assert_eq!(sentence_beside(vec![orders()]), known);
        let idle = pool_of(PoolKind::Hikari, "reports", 0, 0);
        let of_another_library = pool_of(PoolKind::Agroal, "agroal", 10, 5);
        assert_eq!(sentence_beside(vec![idle, orders(), of_another_library]), known);
        let without = "at shop.Orders.find:42";
        let reports = pool_of(PoolKind::Hikari, "reports", 10, 2);
        assert!(sentence_beside(vec![orders(), reports]).ends_with(without), "one of two");
        let threads = Pool { kind: PoolKind::Tomcat, ..orders() };
        assert!(sentence_beside(vec![threads]).ends_with(without), "no pool of connections");
    }

    #[test]
    fn each_run_is_asked_whether_it_shows_it() {
        let waiting = |threads| with(ThreadState::Semaphore, "a.S", threads, ThreadRole::Request);
        let runs = |threads: [f64; 3]| found_in(find, "clients: 40", &threads.map(waiting)).map(|it| it.runs);
        let shown_by = |showing| Some(Some(RunsShowing { showing, complete: 3 }));
        assert_eq!(runs([30.0, 30.0, 30.0]), shown_by(3));
        assert_eq!(runs([30.0, 4.0, 30.0]), shown_by(2));
        assert_eq!(runs([4.0, 4.0, 39.0]), None, "one run of three");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        assert_eq!(of(ThreadState::Sleep, 40.0), None, "a sleep is meant");
        assert_eq!(of(ThreadState::Running, 40.0), None);
        assert_eq!(of(ThreadState::Semaphore, 7.0), None, "less than a fifth of the requests");
        let job = with(ThreadState::Queue, "a.Queue", 40.0, ThreadRole::Application);
        assert_eq!(found(find, "clients: 40", job), None, "jobs of the application");
        assert_eq!(found(find, "clients: 40", run(80.0, 50.1, 500.0, 0.2)), None, "no samples");
    }
}
