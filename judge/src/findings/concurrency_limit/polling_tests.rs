//! Limits made by short sleeps and by queues, and look-alikes that are no limits.

use super::rule::in_window;
use super::tests::{family, found, group, record};
use crate::evidence::variant_runs::stage::{advice, sentence};
use crate::finding::Fact;
use threadcount_model::record::Record;
use threadcount_model::record::server_sockets::ServerSockets;
use threadcount_model::record::thread_family::ThreadFamily;
use threadcount_model::record::wait_profile::{ThreadState, WaitGroup};

/// 95 requests that sleep in a loop while five have passed it.
fn polling(holder: Option<&str>) -> WaitGroup {
    let mut polls = group(ThreadState::Poll, "Limiter.acquire:12", 95.0);
    polls.activity.holder = holder.map(str::to_owned);
    polls
}

fn varying(state: ThreadState, place: &str, counts: &[f64]) -> WaitGroup {
    let mut group = group(state, place, 0.0);
    group.threads.iter_mut().enumerate().for_each(|(at, threads)| *threads = counts[at % counts.len()]);
    group
}

#[test]
fn requests_that_sleep_in_a_loop_wait_for_those_that_are_past_it() {
    let groups = || vec![polling(Some("Shop.query:20")), group(ThreadState::Sleep, "Shop.query:20", 5.0)];
    let finding = found(&record(vec![], groups())).expect("a finding");
    let expected = "never more than 5 requests run at once (all at Shop.query:20) while 100 are in flight. 5 / 12.5 ms = \
        400/s. 95 are polling at Limiter.acquire:12";
    assert_eq!(sentence(&finding), expected);
    assert_eq!(advice(&finding), "whatever lets in 5 at once, or shorter work at Shop.query:20");
    let sockets = ServerSockets { readings: 20, in_flight: 100.0, ..ServerSockets::default() };
    let window = Record { server_sockets: Some(sockets), measured: None, ..record(vec![], groups()) };
    let Some(Fact::ConcurrencyLimit(limit)) = in_window(&window) else { panic!("no finding") };
    assert_eq!((limit.at_once, limit.in_flight), (5.0, 100.0));
}

/// All threads of the server's pool have a request, the polling ones included.
#[test]
fn of_a_pool_whose_threads_poll_those_count_that_do_not() {
    let mut pool = family("exec-*", &[5.0], Some(("ThreadPoolExecutor", 200, 200)));
    pool.request_share = 1.0;
    pool.samples.iter_mut().for_each(|it| (it.waiting, it.queued) = (95.0, Some(0)));
    let drawn =
        vec![polling(Some("Shop.query:20")), varying(ThreadState::Sleep, "Shop.query:20", &[0.0, 10.0, 5.0])];
    let finding = found(&record(vec![pool], drawn)).expect("a finding");
    assert!(sentence(&finding).starts_with("never more than 5 requests run at once"), "{finding:?}");
    assert!(sentence(&finding).ends_with("95 are polling at Limiter.acquire:12"), "{finding:?}");
}

/// No request has passed the loop: other threads of the process produce what it checks for.
#[test]
fn results_that_requests_poll_for_come_from_a_full_pool() {
    let mut workers = family("worker-*", &[4.0], Some(("ThreadPoolExecutor", 4, 4)));
    workers.samples.iter_mut().for_each(|it| it.queued = Some(96));
    let polls = WaitGroup { threads: vec![100.0; 20], ..polling(None) };
    let finding = found(&record(vec![workers], vec![polls])).expect("a finding");
    let expected = "never more than 4 requests run at once (`worker-*`, all at Elastic.load:6) while 100 are in flight. \
        4 / 10.0 ms = 400/s. 96 are polling at Limiter.acquire:12";
    assert_eq!(sentence(&finding), expected);
}

#[test]
fn elements_of_a_queue_that_let_requests_in_are_a_limit() {
    let groups = vec![
        group(ThreadState::Queue, "Tokens.take:8", 94.0),
        varying(ThreadState::Socket, "Shop.query:20", &[6.0, 6.0, 6.0, 5.0]),
    ];
    let finding = found(&record(vec![], groups)).expect("a finding");
    let expected = "never more than 6 requests run at once (all at Shop.query:20) while 100 are in flight. 6 / 15.0 ms = \
        400/s. 94 are waiting for a queue at Tokens.take:8";
    assert_eq!(sentence(&finding), expected);
}

#[test]
fn look_alikes_are_left_alone() {
    let news = |state| group(state, "News.await:5", 98.0);
    let chance = [0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 0.0, 2.0];
    let mut job = family("job-*", &[1.0], Some(("ThreadPoolExecutor", 1, 1)));
    (job.completed_per_s, job.switches_per_s) = (Some(1.0), Some(1.0));
    job.samples.iter_mut().for_each(|it| it.queued = Some(0));
    let silent: [(&str, Vec<ThreadFamily>, Vec<WaitGroup>); 5] = [
        (
            "long polls that sleep, of which one or two write at a time by chance",
            vec![],
            vec![polling(Some("News.write:7")), varying(ThreadState::Running, "News.write:7", &chance)],
        ),
        (
            "long polls that sleep, beside requests that came another way",
            vec![],
            vec![polling(None), group(ThreadState::Sleep, "Shop.page:9", 5.0)],
        ),
        (
            "long polls of a queue, of which one or two write at a time by chance",
            vec![],
            vec![news(ThreadState::Queue), varying(ThreadState::Running, "News.write:7", &chance)],
        ),
        (
            "news by a notification, as many by chance",
            vec![],
            vec![news(ThreadState::Wait), varying(ThreadState::Running, "News.write:7", &chance)],
        ),
        ("requests that poll beside a job of the application's own", vec![job], vec![polling(None)]),
    ];
    for (what, families, groups) in silent {
        assert_eq!(found(&record(families, groups)), None, "{what}");
    }
}
