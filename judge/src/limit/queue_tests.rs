//! Tests of limits that a queue makes, and of look-alikes: threads that wait for news from a queue, and requests that sleep.

use super::tests::{family, found, group, record};
use crate::evidence::variant_runs::stage::sentence;
use threadcount_model::record::wait_profile::{ThreadState, WaitGroup};

fn varying(state: ThreadState, place: &str, counts: &[f64]) -> WaitGroup {
    let mut group = group(state, place, 0.0);
    group.threads.iter_mut().enumerate().for_each(|(at, threads)| *threads = counts[at % counts.len()]);
    group
}

/// Threads that sleep in a loop may wait for other requests or for a point in time: samples show only their line.
#[test]
fn requests_that_sleep_are_no_limit_though_a_pool_is_full_beside_them() {
    let sleeping = || group(ThreadState::Sleep, "Limiter.acquire:12", 95.0);
    let past = group(ThreadState::Socket, "Shop.query:20", 5.0);
    assert_eq!(found(&record(vec![], vec![sleeping(), past])), None);
    let mut workers = family("worker-*", &[4.0], Some(("ThreadPoolExecutor", 4, 4)));
    workers.samples.iter_mut().for_each(|it| it.queued = Some(96));
    assert_eq!(found(&record(vec![workers], vec![sleeping()])), None);
}

#[test]
fn elements_of_a_queue_that_let_requests_in_are_a_limit() {
    let groups = vec![
        group(ThreadState::Queue, "Tokens.take:8", 94.0),
        varying(ThreadState::Socket, "Shop.query:20", &[6.0, 6.0, 6.0, 5.0]),
    ];
    let finding = found(&record(vec![], groups)).expect("a finding");
    let expected = "about 6 requests run at once (all at Shop.query:20) while 100 are in flight. 6 / 15.0 ms = \
        400/s. 94 are waiting for a queue at Tokens.take:8. Requests spend 94 % of their time there: 235 ms of 250 ms";
    assert_eq!(sentence(&finding), expected);
}

/// Each sample draws only some threads, so it may count one running request too many or too few.
#[test]
fn a_limit_shows_in_estimates_that_differ_by_one() {
    let groups = vec![
        group(ThreadState::Queue, "Tokens.take:8", 95.0),
        varying(ThreadState::Socket, "Shop.query:20", &[3.0, 4.0, 5.0, 4.0]),
    ];
    let finding = found(&record(vec![], groups)).expect("a finding");
    assert!(sentence(&finding).starts_with("about 4 requests run at once"), "{finding:?}");
}

#[test]
fn look_alikes_are_left_alone() {
    let news = |state| group(state, "News.await:5", 98.0);
    let chance = [0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 0.0, 2.0];
    let silent = [
        (
            "long polls of a queue, of which one or two write at a time by chance",
            vec![news(ThreadState::Queue), varying(ThreadState::Running, "News.write:7", &chance)],
        ),
        (
            "news by a notification, as many by chance",
            vec![news(ThreadState::Wait), varying(ThreadState::Running, "News.write:7", &chance)],
        ),
    ];
    for (case, groups) in silent {
        assert_eq!(found(&record(vec![], groups)), None, "{case}");
    }
}
