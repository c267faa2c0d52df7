//! Tests of the engine over a driver without a kernel: lateness, the choice of connections, and counts.

use super::Gate;
use super::work::{Done, Work};
use super::worker::{LOOK_AFTER, Worker};
use crate::clock::now_ns;
use crate::driver::Wake;
use crate::driver::tests::simulated::{Account, Habits, Simulated, Step};
use crate::endpoint::Endpoint;
use crate::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
use crate::recorder::Recorder;
use crate::request::{Origin, RequestSource};
use crate::schedule::Share;
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn open_plan(rate_per_s: f64, connections: u32, stop: Stop) -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 1 };
    let requests = Arc::new(RequestSource::get(origin, "/"));
    let shape = RateShape::Constant { rate_per_s };
    LoadPlan::open(requests, shape, Arrivals::Constant, NonZeroU32::new(connections).unwrap(), stop)
}

fn requests(count: u64) -> Stop {
    Stop::Requests(NonZeroU64::new(count).unwrap())
}

static SERVER: [Endpoint; 1] = [Endpoint::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1))];

fn work<'a>(plan: &'a LoadPlan, share: Share, gate: &'a Gate, stop: &'a AtomicBool) -> Work<'a> {
    Work {
        plan,
        endpoints: &SERVER,
        source_addresses: &[],
        session_kind: None,
        share,
        gate,
        stop,
        recorder: Recorder::new(share.index(), channel().0),
        asks_for_real_time: false,
    }
}

/// Runs a worker of a load with a driver of these habits.
fn run_share(plan: &LoadPlan, share: Share, gate: &Gate, habits: Habits) -> (io::Result<Done>, Account) {
    let account = Rc::new(RefCell::new(Account::default()));
    let driver = Simulated::with(habits, share.connections(), Rc::clone(&account));
    let done = Worker::new(work(plan, share, gate, &AtomicBool::new(false)), driver).run();
    (done, account.take())
}

fn run_alone(plan: &LoadPlan, habits: Habits) -> (Done, Account) {
    let (done, account) = run_share(plan, Share::new(0, 1, plan.connections.get()), &Gate::new(1), habits);
    (done.unwrap(), account)
}

#[test]
fn a_thread_that_comes_back_late_says_so_and_does_not_blame_the_connections() {
    let late = Duration::from_millis(300);
    let habits = Habits { late_after: Some((100, late)), ..Habits::default() };
    let (done, _) = run_alone(&open_plan(1_000.0, 1_000, requests(600)), habits);
    let recorder = done.recorder;
    assert_eq!(
        (recorder.total.counts.ok, recorder.total.waited_for_connection),
        (600, 0),
        "1,000 connections, 600 requests"
    );
    // A request that fell due t ms after the start, while the thread was away, left 300 ms - t late.
    let own_lag = |quantile| recorder.total.own_lag.at_quantile(quantile);
    assert!(own_lag(1.0) >= Duration::from_millis(295), "{:?}", recorder.total.own_lag.summary());
    assert!(own_lag(0.7) >= Duration::from_millis(100), "{:?}", recorder.total.own_lag.summary());
    assert_eq!(recorder.total.own_lag.count(), 600);
}

#[test]
fn a_thread_that_comes_back_late_to_few_connections_says_so_too() {
    let late = Duration::from_millis(300);
    let habits = Habits { late_after: Some((100, late)), ..Habits::default() };
    let (done, _) = run_alone(&open_plan(1_000.0, 10, requests(600)), habits);
    let recorder = done.recorder;
    // The requests that fell due meanwhile found all connections busy with the late requests before them.
    assert_eq!((recorder.total.counts.ok, recorder.total.waited_for_connection), (600, 0));
    let own_lag = |quantile| recorder.total.own_lag.at_quantile(quantile);
    assert!(own_lag(1.0) >= Duration::from_millis(295), "{:?}", recorder.total.own_lag.summary());
    assert!(own_lag(0.7) >= Duration::from_millis(100), "{:?}", recorder.total.own_lag.summary());
}

#[test]
fn a_request_that_finds_every_connection_busy_waited_for_one() {
    // Two responses come every 10 ms, while ten requests fall due.
    let habits = Habits { answers_after: Duration::from_millis(10), ..Habits::default() };
    let (done, _) = run_alone(&open_plan(1_000.0, 2, requests(200)), habits);
    let recorder = done.recorder;
    assert_eq!(recorder.total.counts.ok, 200);
    assert!(recorder.total.waited_for_connection >= 150, "{}", recorder.total.waited_for_connection);
    let (own_lag, send_lag) =
        (recorder.total.own_lag.at_quantile(0.5), recorder.total.send_lag.at_quantile(0.5));
    assert!(own_lag < send_lag / 4, "{own_lag:?} of {send_lag:?}");
}

#[test]
fn of_a_long_wait_for_a_connection_no_more_is_the_threads_than_it_was_late() {
    let late = Duration::from_millis(100);
    let answers_after = Duration::from_millis(20);
    let habits = Habits { late_after: Some((20, late)), answers_after, ..Habits::default() };
    let (done, _) = run_alone(&open_plan(1_000.0, 2, requests(200)), habits);
    let recorder = done.recorder;
    assert_eq!(recorder.total.counts.ok, 200);
    assert!(recorder.total.waited_for_connection >= 100, "{}", recorder.total.waited_for_connection);
    let (own_lag, send_lag) =
        (recorder.total.own_lag.at_quantile(1.0), recorder.total.send_lag.at_quantile(1.0));
    assert!(own_lag >= late.mul_f64(0.8) && own_lag < send_lag / 2, "{own_lag:?} of {send_lag:?}");
}

#[test]
fn a_thread_that_comes_back_late_while_there_is_nothing_to_do_before_the_next_response_is_not_late() {
    // The only connection waits 1,200 ms for the first response, and the thread is away for the first 1,000 ms of them.
    let (late_after, answers_after) = (Some((1, Duration::from_secs(1))), Duration::from_millis(1_200));
    let habits = Habits { late_after, answers_after, ..Habits::default() };
    let (done, _) = run_alone(&open_plan(4.0, 1, requests(2)), habits);
    let recorder = done.recorder;
    assert_eq!((recorder.total.counts.ok, recorder.total.waited_for_connection), (2, 1));
    let (own_lag, send_lag) =
        (recorder.total.own_lag.at_quantile(1.0), recorder.total.send_lag.at_quantile(1.0));
    assert!(own_lag < Duration::from_millis(600), "{own_lag:?} of {send_lag:?}");
    let loop_lag = done.loop_lag.at_quantile(1.0);
    assert!(loop_lag < Duration::from_millis(600), "{loop_lag:?}");
}

#[test]
fn a_closed_loop_that_only_waits_for_responses_is_not_late_before_they_arrive() {
    let plan = open_plan(1.0, 2, requests(2)).with(|plan| plan.pacing = Pacing::Closed);
    let loop_lag = |answers_after_ms| {
        let answers_after = Duration::from_millis(answers_after_ms);
        let late_after = Some((2, Duration::from_secs(1)));
        let (done, _) = run_alone(&plan, Habits { late_after, answers_after, ..Habits::default() });
        assert_eq!(done.recorder.total.counts.ok, 2);
        done.loop_lag.at_quantile(1.0)
    };
    let (before, meanwhile) = (loop_lag(1_200), loop_lag(300));
    assert!(before < Duration::from_millis(600), "{before:?}, and no response waited");
    assert!(meanwhile > Duration::from_millis(850), "{meanwhile:?}, and two responses waited");
}

#[test]
fn responses_do_not_wait_while_a_request_waits_for_a_connection() {
    let (done, account) = run_alone(&open_plan(100_000.0, 3, requests(3_000)), Habits::default());
    assert_eq!(done.recorder.total.counts.ok, 3_000);
    assert!(done.recorder.total.waited_for_connection > 0, "three connections cannot carry that much");
    let busy = account.waits.iter().filter(|wait| wait.all_busy && wait.sent < 3_000);
    let blind = busy.clone().filter(|wait| wait.wake == Wake::OnTime && wait.at_most.as_micros() > 10);
    assert_eq!((blind.count(), busy.count() > 0), (0, true), "a request each 10 µs waits for a response");
}

#[test]
fn a_burst_of_responses_does_not_hold_up_what_is_due() {
    // 300 requests fall due within 300 µs, and 200 responses arrive together much later.
    let habits = Habits { stalls_until_ns: now_ns() + 20_000_000, ..Habits::default() };
    let (done, account) = run_alone(&open_plan(1e6, 200, requests(300)), habits);
    assert_eq!(done.recorder.total.counts.ok, 300);
    let steps = account.steps;
    let left = steps.iter().rposition(|&step| step == Step::Sent).unwrap();
    let longest = steps[..left].split(|&step| step == Step::Sent).map(<[Step]>::len).max();
    assert_eq!(longest, Some(LOOK_AFTER as usize), "responses taken in a row while a request was due");
}

#[test]
fn all_connections_carry_the_same() {
    let (done, account) = run_alone(&open_plan(40_000.0, 1_000, requests(4_000)), Habits::default());
    assert_eq!(done.recorder.total.counts.ok, 4_000);
    let most = account.carried.iter().max();
    assert!(most <= Some(&8), "one of 1,000 connections carried {most:?} of 4,000 requests");
    assert_eq!(account.carried.iter().sum::<u64>(), 4_000);
}

#[test]
fn the_cpu_of_opening_the_connections_is_not_the_loads() {
    let habits = Habits { connect_costs: Duration::from_millis(20), ..Habits::default() };
    let plan = open_plan(1_000.0, 20, requests(20));
    let (done, _) = run_alone(&plan, habits);
    assert_eq!(done.recorder.total.counts.ok, 20);
    let cpu = Duration::from_nanos(done.cpu_ns);
    assert!(cpu < Duration::from_millis(200), "20 requests after 400 ms of connecting cost {cpu:?}");
}

#[test]
fn a_request_that_needs_a_connection_is_sent_when_that_is_begun_and_not_with_the_first_of_those_due() {
    let habits = Habits { connect_costs: Duration::from_millis(1), ..Habits::default() };
    let mut plan = open_plan(1e6, 50, requests(50));
    plan.keep_alive = false;
    let (done, _) = run_alone(&plan, habits);
    let recorder = done.recorder;
    assert_eq!((recorder.total.counts.ok, recorder.total.waited_for_connection), (50, 0));
    // All fall due within 50 µs, and each connect takes a millisecond.
    let (middle, last) = (recorder.total.own_lag.at_quantile(0.5), recorder.total.own_lag.at_quantile(1.0));
    assert!(middle >= Duration::from_millis(23) && last >= Duration::from_millis(48), "{middle:?} {last:?}");
}

#[test]
fn no_more_connections_are_opened_at_once_than_a_small_backlog_takes() {
    for threads in [1, 2, 3, 7, 48] {
        let plan = open_plan(100_000.0, 960, requests(10));
        let gate = Gate::new(1);
        let (done, account) = run_share(&plan, Share::new(0, threads, 960), &gate, Habits::default());
        assert_eq!(done.unwrap().recorder.total.connections_opened, u64::from(960_u32.div_ceil(threads)));
        let over_all = account.most_connecting * threads;
        assert!((1..=48).contains(&over_all), "{over_all} over {threads} threads");
    }
}

#[test]
fn a_stamp_that_is_too_early_makes_no_time_shorter_by_more_than_a_millisecond() {
    let answers_after = Duration::from_millis(8);
    let run = |early_us, is_out_of_order| {
        let stamps_early = Duration::from_micros(early_us);
        let habits = Habits { answers_after, stamps_early, is_out_of_order, ..Habits::default() };
        let (done, _) = run_alone(&open_plan(500.0, 50, requests(200)), habits);
        assert_eq!(done.recorder.total.counts.ok, 200);
        (done.recorder.total.service_time.at_quantile(0.0), done.recorder.total.stamped)
    };
    for early_us in [0, 300, 900, 1_100, 4_000, 7_000] {
        let (least, _) = run(early_us, true);
        assert!(least >= answers_after.mul_f64(0.998) - Duration::from_millis(1), "{early_us}: {least:?}");
    }
    // The same stamps are right if all segments came in order.
    let (least, stamped) = run(4_000, false);
    assert!((least.as_secs_f64() - 0.004).abs() < 0.001 && stamped == 200, "{least:?}, {stamped}");
}

#[test]
fn a_load_that_begins_with_a_part_of_its_connections_reports_how_many() {
    let at_start = |accepts, connect_timeout| {
        let mut plan = open_plan(1_000.0, 10, requests(20));
        plan.connect_timeout = connect_timeout;
        let (done, _) = run_alone(&plan, Habits { accepts, ..Habits::default() });
        assert_eq!(done.recorder.total.counts.sent, 20);
        done.connections_at_start.map(|at_start| (at_start.open, at_start.wanted))
    };
    assert_eq!(at_start(Some(3), Duration::from_millis(100)), Some((3, 10)));
    assert_eq!(at_start(None, Duration::from_secs(60)), Some((10, 10)));
    let mut plan = open_plan(1_000.0, 10, requests(20));
    plan.keep_alive = false;
    assert_eq!(run_alone(&plan, Habits::default()).0.connections_at_start, None);
}

#[test]
fn with_a_lead_in_the_connections_that_were_opened_by_its_end_are_reported() {
    let at_start = |lead_in_ms, accepts_again_from| {
        // Five requests are due at a time, so that each connection is needed, and the first connects to two of four are not accepted.
        let plan = open_plan(100.0, 4, Stop::Duration(Duration::from_millis(300))).with(|plan| {
            plan.connect_timeout = Duration::from_millis(100);
            plan.lead_in = Duration::from_millis(lead_in_ms);
        });
        let (accepts, answers_after) = (Some(2), Duration::from_millis(50));
        let habits = Habits { accepts, accepts_again_from, answers_after, ..Habits::default() };
        let at_start = run_alone(&plan, habits).0.connections_at_start.unwrap();
        (at_start.open, at_start.wanted)
    };
    assert_eq!(at_start(0, Some(5)), (2, 4));
    assert_eq!(at_start(400, Some(5)), (4, 4), "the others were opened in the lead-in");
    assert_eq!(at_start(400, None), (2, 4), "they never were");
}

#[test]
fn a_response_in_two_pieces_ends_patience_for_a_while_and_not_for_good() {
    // However late the thread is, there is a wait between the two pieces and the following row of whole responses.
    let habits = Habits { splits: Some(100), most_per_wait: Some(16), ..Habits::default() };
    let (done, account) = run_alone(&open_plan(2_000.0, 700, requests(600)), habits);
    assert_eq!(done.recorder.total.counts.ok, 600);
    let mut wakes: Vec<Wake> = account.waits.iter().map(|wait| wait.wake).collect();
    wakes.dedup();
    let granted_lost_regained = [Wake::AtOnce, Wake::OnTime, Wake::AtOnce, Wake::OnTime];
    assert_eq!(wakes, granted_lost_regained);
}

#[test]
fn a_worker_that_breaks_stops_the_others() {
    let plan = open_plan(100.0, 2, Stop::Duration(Duration::from_secs(600)));
    let gate = Gate::new(2);
    let begun_ns = now_ns();
    thread::scope(|scope| {
        let (plan, gate) = (&plan, &gate);
        scope.spawn(move || {
            let habits = Habits { breaks_after: Some(5), ..Habits::default() };
            let work = || run_share(plan, Share::new(0, 2, 2), gate, habits).0.map_err(|_| ());
            assert!(crate::run::or_break_off(gate, work).is_err());
        });
        let (done, _) = run_share(plan, Share::new(1, 2, 2), gate, Habits::default());
        assert!(done.unwrap().recorder.total.counts.ok < 10_000);
    });
    assert!(now_ns() - begun_ns < 120_000_000_000, "it did not go on for its 600 s");
}

#[test]
fn a_worker_that_breaks_before_the_start_stops_those_that_wait_for_it() {
    let plan = open_plan(100.0, 2, Stop::Duration(Duration::from_secs(600)));
    let gate = Gate::new(2);
    thread::scope(|scope| {
        let (plan, gate) = (&plan, &gate);
        scope.spawn(move || {
            let failing = || -> Result<(), ()> { panic!("on purpose") };
            let _ = std::panic::catch_unwind(|| crate::run::or_break_off(gate, failing));
        });
        let (done, _) = run_share(plan, Share::new(1, 2, 2), gate, Habits::default());
        assert_eq!(done.unwrap().recorder.total.counts.sent, 0, "its part alone would be another load");
    });
    assert!(gate.is_broken());
}

#[test]
fn a_load_that_is_stopped_while_its_thread_does_not_run_ends_after_the_stop() {
    let (plan, gate, stop) = (open_plan(1.0, 1, requests(1)), Gate::new(1), AtomicBool::new(false));
    let driver = Simulated::new(1, &SERVER, false).unwrap();
    let mut worker = Worker::new(work(&plan, Share::new(0, 1, 1), &gate, &stop), driver);
    let looked_ns = now_ns();
    assert_eq!(worker.has_ended(looked_ns), None);
    let before_stop_ns = now_ns();
    stop.store(true, Ordering::Relaxed);
    let ended_ns = worker.has_ended(looked_ns).expect("it is stopped");
    assert!(ended_ns >= before_stop_ns, "{ended_ns} is before {before_stop_ns}");
}
