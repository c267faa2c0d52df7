//! Tests of the number of requests in service, from counts, from draws of threads and from arithmetic, with known answers.

use super::find;
use super::station::{Queue, Station};
use super::tests::{activity, family, found, found_in_runs, group, record};
use crate::evidence::variant_runs::stage::{found as found_under, sentence};
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};
use threadcount_model::record::{Record, RequestsAlone, WarmUp};

/// For each sample 10 of 26 threads are drawn, among them 2 of the 4 that have a permit.
#[test]
fn permits_have_the_median_of_the_counts_of_all_threads_and_not_that_of_draws() {
    let draws = || {
        vec![
            group(ThreadState::Semaphore, "Shop.page:9", 97.0),
            group(ThreadState::Sleep, "Shop.query:12", 2.0),
        ]
    };
    let at_once = |families| sentence(&found(&record(families, draws())).expect("a finding"));
    let counted = |counts: &[f64]| {
        let mut counted = family("exec-*", counts, Some(("ThreadPoolExecutor", 200, 200)));
        counted.samples.truncate(counts.len());
        counted.request_share = 1.0;
        at_once(vec![counted])
    };
    let begins = |counts: &[f64], words: &str| assert!(counted(counts).starts_with(words), "{counts:?}");
    begins(&[4.0, 4.0, 4.0], "never more than 4 requests run at once");
    begins(&[4.0], "about 4 requests run at once");
    begins(&[3.0, 3.0, 8.0], "about 3 requests run at once");
    begins(&[40.0, 4.0, 4.0, 4.0, 40.0], "never more than 4 requests run at once");
    assert!(at_once(vec![]).starts_with("about 2 requests run at once"), "a draw is no count");
}

#[test]
fn the_most_certain_number_is_taken_over_all_runs_and_of_several_the_median() {
    let run = |working: f64, is_estimate: bool| {
        let mut pool = family("exec-*", &[working], Some(("ThreadPoolExecutor", 200, 200)));
        pool.samples.iter_mut().for_each(|sample| sample.is_estimate = is_estimate);
        record(vec![pool], vec![])
    };
    let begins = |runs: [Record; 3], words: &str| {
        let found = sentence(&found_in_runs(&runs, &[])[0]);
        assert!(found.starts_with(words), "{found}");
    };
    let drawn = run(30.0, true);
    begins([drawn.clone(), run(16.0, false), drawn], "never more than 16 requests run at once");
    begins([run(16.0, false), run(16.0, false), run(14.0, false)], "never more than 16 requests run at once");
    begins([run(16.0, false), run(16.0, false), run(20.0, false)], "about 16 requests run at once");
}

/// By arithmetic, 400/s x 8.0 ms = 3.2 requests are in service.
#[test]
fn arithmetic_gives_the_number_that_draws_miss_and_never_that_of_exact_counts() {
    let groups = vec![
        group(ThreadState::Semaphore, "Shop.page:9", 95.0),
        group(ThreadState::Sleep, "Shop.query:12", 4.0),
    ];
    let found_beside = |families| {
        let alone = RequestsAlone { requests: 20, mean_ms: 8.0, p50_ms: 8.0, stddev_ms: 0.1 };
        let warm_up = Some(WarmUp { alone: Some(alone), ..WarmUp::default() });
        sentence(&found(&Record { warm_up, ..record(families, groups.clone()) }).expect("a finding"))
    };
    let mut counted = family("exec-*", &[4.0], Some(("ThreadPoolExecutor", 200, 200)));
    counted.request_share = 1.0;
    assert!(found_beside(vec![counted]).starts_with("never more than 4 requests run at once"));
    assert!(found_beside(vec![]).starts_with("about 3 requests run at once"));
}

/// From run to run the holder and the address may differ, but not the lock.
#[test]
fn two_locks_at_one_line_are_two_waits_and_one_lock_with_another_holder_is_one() {
    let lock = activity(ThreadState::Lock, "Shop.page:9");
    let at = |activity: ThreadActivity| {
        let queue = Queue { requests: 90.0, activity: Some(activity), ..Queue::default() };
        Station { queue: Some(queue), ..Station::default() }
    };
    let held = ThreadActivity { holder: Some("Shop.save:3".to_owned()), ..lock.clone() };
    let other = ThreadActivity { resource: Some("shop.Lock".to_owned()), ..lock.clone() };
    let in_library = ThreadActivity { library: Some("lib.Cache.get:5".to_owned()), ..lock.clone() };
    assert!(at(lock.clone()).is_same(&at(held)));
    assert!(!at(lock.clone()).is_same(&at(other)) && !at(lock).is_same(&at(in_library)));
    assert!(!Station::default().is_same(&Station::default()), "no threads wait");
}

/// Two clients: one request runs, and one is in the queue.
#[test]
fn two_clients_fill_an_executor_of_one_thread_and_a_single_one_does_not() {
    let limit = |clients: &str| {
        let mut single = family("single-*", &[1.0], Some(("ThreadPoolExecutor", 1, 1)));
        single.samples.iter_mut().for_each(|sample| sample.queued = Some(1));
        found_under(|runs| find(runs, &[]).into_iter().next(), clients, record(vec![single], vec![]))
    };
    let finding = limit("clients: 2").expect("a finding");
    let expected = "never more than 1 request runs at once (`single-*`, at Elastic.load:6) while 2 are in flight. \
        1 / 2.50 ms = 400/s. 1 wait in the queue of its ThreadPoolExecutor";
    assert_eq!(sentence(&finding), expected);
    assert_eq!(limit("clients: 1"), None);
}

#[test]
fn threads_work_on_the_results_that_requests_wait_for_if_there_are_about_as_many_of_both() {
    let awaited = |requests| {
        let groups = vec![group(ThreadState::Future, "Shop.page:9", requests)];
        found(&record(vec![family("task-*", &[20.0], None)], groups))
    };
    let finding = awaited(13.0).expect("a finding");
    let expected = "never more than 20 requests run at once (`task-*`";
    assert!(sentence(&finding).starts_with(expected), "{finding:?}");
    assert_eq!(awaited(11.0), None, "eleven of twenty");
}
