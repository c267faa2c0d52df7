//! Tests of merging several processes into one load.

use super::*;
use crate::failure::FailureCause;
use crate::health;
use crate::plan::{Arrivals, RateShape, Stop};
use crate::recorder::{Exchange, Recorder};
use crate::report::LoadReport;
use crate::request::{Origin, RequestSource};
use crate::setting::Setting;
use crate::slowest::Slowest;
use crate::times::Times;
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// When the first process began, on the wall clock.
const START: u64 = 1_700_000_000 * S;

fn plan() -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 8080 };
    let requests = Arc::new(RequestSource::get(origin, "/x"));
    let shape = RateShape::Constant { rate_per_s: 400.0 };
    let stop = Stop::Duration(Duration::from_secs(2));
    LoadPlan::open(requests, shape, Arrivals::Constant, NonZeroU32::new(8).unwrap(), stop)
}

/// The outcome of a process that sent a request every 10 ms, with these response times. Every hundredth failed, and the last is unfinished.
fn outcome(response_ns: &[u64], started_unix_ns: u64) -> LoadOutcome {
    let (progress, slices) = channel();
    let mut recorder = Recorder::new(0, progress);
    recorder.start(0, 0);
    for (index, &ns) in response_ns.iter().enumerate() {
        let due_ns = index as u64 * 10 * MS;
        let exchange = Exchange { due_ns, ready_ns: due_ns, sent_ns: due_ns + 1_000, ..Exchange::default() };
        recorder.sent(exchange);
        match index {
            _ if index + 1 == response_ns.len() => recorder.unfinished(exchange, due_ns + ns),
            _ if index % 100 == 99 => {
                recorder.failed(exchange, FailureCause::UnexpectedStatus(503), Some(503), due_ns + ns);
            }
            _ => recorder.ok(exchange, 200, due_ns + ns),
        }
    }
    recorder.finish();
    let mut outcome = LoadOutcome { started_unix_ns, ended_ns: 2 * S, ..LoadOutcome::default() };
    outcome.add(recorder);
    for progress in slices {
        collect::close(&progress.slice, false, &mut outcome.seconds, &mut |_| {});
        if let Some(second) = outcome.seconds.last_mut() {
            second.response_us = Some(progress.slice.response_us);
        }
    }
    outcome.protocol = "HTTP/1.1".to_owned();
    outcome.cost.threads = 1;
    outcome
}

fn begin(index: u32) -> ShareBegin {
    ShareBegin {
        threadcount: "0.1.0".to_owned(),
        pod: format!("load-{index}"),
        start_at_unix_ns: Some(START),
        unix_ns: START - S,
        plan: PlanText::new(&plan()),
        ..ShareBegin::default()
    }
}

/// The lines of share `index` of `count`.
fn lines(index: u32, count: u32, outcome: &LoadOutcome) -> Vec<String> {
    let share = LoadShare::new(index, count).unwrap();
    let mut messages = vec![Message::Begin(begin(index)), Message::Clock { unix_ns: START }];
    messages.extend(outcome.seconds.iter().map(|second| Message::Second(ShareSecond::new(second).unwrap())));
    messages.push(Message::End(Box::new(ShareEnd::new(outcome, None))));
    (0..).zip(messages).map(|(number, message)| Line::new(share, number, message).text().unwrap()).collect()
}

fn merged(lines: impl IntoIterator<Item = String>) -> Merged {
    let mut merge = Merge::default();
    lines.into_iter().for_each(|line| drop(merge.line(&line).unwrap()));
    merge.finish(&mut |_| {}).unwrap()
}

/// Four processes whose response times are far apart.
fn four() -> Vec<LoadOutcome> {
    let times = |index: u64| (0..190).map(|n| (index + 1) * 7 * MS + n * n * 1_313).collect::<Vec<u64>>();
    (0..4).map(|index| outcome(&times(index), START + index * 3 * MS)).collect()
}

fn lines_of_all(outcomes: &[LoadOutcome]) -> Vec<Vec<String>> {
    (0..).zip(outcomes).map(|(index, outcome)| lines(index, outcomes.len() as u32, outcome)).collect()
}

/// The requests that all processes sent in a second.
fn sent_in(outcomes: &[LoadOutcome], second: usize) -> u64 {
    outcomes.iter().map(|outcome| outcome.seconds[second].counts.sent).sum()
}

#[test]
fn lines_about_several_loads_are_not_one_load() {
    let share = LoadShare::new(0, 1).unwrap();
    let clock = Message::Clock { unix_ns: 1 };
    let mut merge = Merge::default();
    let line = |step| Line::new(share, 0, clock.clone()).of_step(step);
    assert_eq!(merge.take(&line(3)), Ok(true));
    assert_eq!(merge.take(&line(4)), Err(MergeError::Step { share, first: 3, second: 4 }));
}

#[test]
fn merged_percentiles_are_those_of_one_histogram_that_recorded_all() {
    let outcomes = four();
    let merged = merged(lines_of_all(&outcomes).concat());
    let mut all = Times::default();
    let mut service = Times::default();
    for outcome in &outcomes {
        all.merge(&outcome.response_time);
        service.merge(&outcome.service_time);
    }
    assert_eq!(merged.outcome.response_time.summary(), all.summary());
    assert_eq!(merged.outcome.response_time.histogram(), all.histogram());
    assert_eq!(merged.outcome.service_time.summary(), service.summary());
    let counts = merged.outcome.counts;
    assert_eq!(counts.sent, 4 * 190);
    assert_eq!(counts.sent, counts.ok + counts.failed + counts.unfinished);
    assert_eq!((counts.failed, counts.unfinished), (4, 4));
    assert_eq!(merged.outcome.failures[&FailureCause::UnexpectedStatus(503)], 4);
    assert_eq!(merged.notes, []);
}

#[test]
fn a_share_comes_back_as_it_was_measured_but_for_the_sample_of_its_slowest_requests() {
    let measured = LoadOutcome {
        started_ns: 7 * S,
        ended_ns: 9 * S,
        last_response_ns: 8 * S,
        begun_unfinished: 3,
        in_flight_at_end_ns: 1 << 65,
        cores_busy: vec![0.5],
        ..outcome(&[MS; 50], START)
    };
    let end = Message::End(Box::new(ShareEnd::new(&measured, None)));
    let line = Line::find(&Line::new(LoadShare::WHOLE, 0, end.clone()).text().unwrap());
    let Some(Ok(Line { message: Message::End(back), .. })) = line else { panic!("{line:?}") };
    let expected = LoadOutcome {
        started_ns: 0,
        ended_ns: 2 * S,
        last_sent_ns: 0,
        last_response_ns: 0,
        slowest: Slowest::default(),
        seconds: Vec::new(),
        ..measured.clone()
    };
    assert_eq!((&back.outcome, back.seconds), (&expected, measured.seconds.len() as u32));
    let merged = merged(lines_of_all(&[measured.clone(), measured]).concat());
    assert_eq!(merged.outcome.begun_unfinished, 6);
}

#[test]
fn a_process_that_was_stopped_is_named_and_makes_the_load_one_of_its_generator() {
    let stopped = |ms: [u64; 3]| {
        let all = ms.map(|ms| LoadOutcome { stopped_ns: ms * MS, ..outcome(&[MS; 190], START) });
        let Merged { plan, outcome, notes } = merged(lines_of_all(&all).concat());
        let warnings = health::judge(&outcome, &plan).warnings.into_iter();
        let sentences = notes.iter().map(|it| it.sentence(Setting::field));
        sentences.chain(warnings.map(|it| it.sentence(Setting::field))).collect::<Vec<_>>().join("\n")
    };
    let long = stopped([0, 500, 19]);
    assert!(long.starts_with("load-1 could not keep up: the generator stood still for 500 ms"), "{long}");
    assert!(long.contains("\nthe generator stood still for 500 ms (25.0 % of the load)"), "{long}");
    let short = stopped([0, 0, 19]);
    assert!(!short.contains("could not keep up") && short.contains("stood still for 19 ms"), "{short}");
    assert!(!stopped([0; 3]).contains("stood still"));
}

#[test]
fn a_damaged_histogram_is_said() {
    let text = serde_json::to_string(&ShareEnd::new(&outcome(&[MS; 50], START), None)).unwrap();
    let mut end: serde_json::Value = serde_json::from_str(&text).unwrap();
    end["outcome"]["response_time"] = "???".into();
    let error = serde_json::from_value::<ShareEnd>(end).unwrap_err().to_string();
    assert!(error.contains("a histogram: it is not base64"), "{error}");
}

#[test]
fn seconds_are_added_up_with_their_histograms() {
    let outcomes = four();
    let mut merge = Merge::default();
    lines_of_all(&outcomes).concat().iter().for_each(|line| drop(merge.line(line).unwrap()));
    let mut histograms = Vec::new();
    let merged = merge.finish(&mut |second| histograms.extend(second.response_us.clone())).unwrap();
    let sent: Vec<u64> = merged.outcome.seconds.iter().map(|second| second.counts.sent).collect();
    assert_eq!(sent, [sent_in(&outcomes, 0), sent_in(&outcomes, 1)]);
    assert_eq!(histograms.iter().map(|it| it.len()).sum::<u64>(), merged.outcome.counts.ok);
}

#[test]
fn a_second_is_shown_once_when_it_is_over_for_all() {
    let outcomes = four();
    let all = lines_of_all(&outcomes);
    let mut merge = Merge::default();
    let mut shown = Vec::new();
    // Each process writes a first line, one about the clock, two about seconds and an end.
    for number in 0..5 {
        for (index, lines) in all.iter().enumerate() {
            merge.line(&lines[number]).unwrap();
            merge.show_seconds(&mut |second| shown.push((number, index, second.index, second.counts.sent)));
        }
    }
    let expected = [(2, 3, 0, sent_in(&outcomes, 0)), (3, 3, 1, sent_in(&outcomes, 1))];
    assert_eq!(shown, expected, "with the last process's line");
    assert_eq!(merge.begun().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn it_lasts_from_the_first_start_to_the_last_end() {
    let merged = merged(lines_of_all(&four()).concat());
    assert_eq!(merged.outcome.elapsed_s(), 2.009);
    let started: Vec<f64> = merged.outcome.pods.iter().filter_map(|pod| pod.started_ms).collect();
    assert_eq!(started, [0.0, 3.0, 6.0, 9.0]);
    let report = LoadReport::new(&merged.outcome, &merged.plan);
    assert_eq!((report.rate_per_s.asked, report.plan.connections, report.plan.threads), (Some(400.0), 8, 4));
    assert_eq!(report.target, "http://127.0.0.1:8080/x");
}

#[test]
fn clocks_that_are_apart_are_corrected_where_it_is_known() {
    let outcomes = four();
    let mut merge = Merge::default();
    lines_of_all(&outcomes).concat().iter().for_each(|line| drop(merge.line(line).unwrap()));
    (0..4).for_each(|index| merge.set_clock_offset(index, i64::from(index) * 3_000_000));
    let merged = merge.finish(&mut |_| {}).unwrap();
    assert!(merged.outcome.pods.iter().all(|pod| pod.started_ms == Some(0.0)));
    assert_eq!(merged.outcome.pods[3].clock_ahead_ms, Some(9.0));
}

#[test]
fn starts_more_than_50_ms_apart_are_said_and_those_just_below_are_not() {
    let merged_with = |apart_ms: u64| {
        let outcomes = [outcome(&[MS; 50], START), outcome(&[MS; 50], START + apart_ms * MS)];
        merged(lines_of_all(&outcomes).concat()).notes
    };
    assert_eq!(merged_with(50), []);
    assert_eq!(merged_with(51), [MergeNote::Skew { ms: 51.0 }]);
}

#[test]
fn a_share_without_an_end_is_named_and_its_seconds_are_kept() {
    let outcomes = four();
    let mut all = lines_of_all(&outcomes);
    all[2].truncate(3);
    let merged = merged(all.concat());
    let missing = MergeNote::Missing { shares: vec![2], count: 4, why: None };
    assert_eq!(merged.notes, std::slice::from_ref(&missing));
    assert!(missing.sentence(Setting::field).starts_with("share 2 of 4 is missing"));
    assert_eq!(merged.outcome.counts.sent, 3 * 190);
    assert_eq!(merged.outcome.seconds[0].counts.sent, sent_in(&outcomes, 0), "of all four");
    let lost = &merged.outcome.pods[2];
    assert!(!lost.complete && lost.generator.is_none());
    assert_eq!((lost.requests.sent, lost.elapsed_s), (outcomes[2].seconds[0].counts.sent, 1.0));
}

#[test]
fn a_share_that_ended_before_the_others_is_named_with_the_reason_and_an_interrupted_load_is_not() {
    let mut outcomes = four();
    outcomes[1].interrupted = true;
    let mut merge = Merge::default();
    for line in lines_of_all(&outcomes).concat() {
        merge.line(&line).unwrap();
    }
    merge.set_lost(LoadShare::new(1, 4).unwrap(), "deleted by another client");
    let merged = merge.finish(&mut |_| {}).unwrap();
    let note = &merged.notes[0];
    assert_eq!(
        note.sentence(Setting::field),
        "share 1 of 4 ended early (deleted by another client): from then on the load was smaller than asked for"
    );
    assert_eq!(merged.notes.len(), 1, "{:?}", merged.notes);
    assert!(merged.outcome.pods[1].complete && merged.outcome.pods[1].interrupted);
    outcomes.iter_mut().for_each(|outcome| outcome.interrupted = true);
    assert!(super::tests::merged(lines_of_all(&outcomes).concat()).notes.is_empty());
}

#[test]
fn a_share_that_never_told_anything_or_why_it_failed_is_missing() {
    let mut all = lines_of_all(&four());
    let share = LoadShare::new(1, 4).unwrap();
    let failed = Message::Failed { why: "no file descriptor".to_owned() };
    all[1] = vec![
        Line::new(share, 0, Message::Begin(begin(1))).text().unwrap(),
        Line::new(share, 1, failed).text().unwrap(),
    ];
    all.pop();
    let mut merge = Merge::default();
    all.concat().iter().for_each(|line| drop(merge.line(line).unwrap()));
    assert!(!merge.is_complete());
    merge.set_lost(LoadShare::new(3, 4).unwrap(), "evicted");
    assert!(merge.is_complete());
    let merged = merge.finish(&mut |_| {}).unwrap();
    let why = Some("no file descriptor".to_owned());
    assert_eq!(merged.notes, [MergeNote::Missing { shares: vec![1, 3], count: 4, why }]);
    assert_eq!(merged.outcome.pods[3].error.as_deref(), Some("evicted"));
}

#[test]
fn lines_that_come_again_are_passed_over_and_lost_ones_are_counted() {
    let outcomes = four();
    let mut all = lines_of_all(&outcomes);
    let again = all[0].clone();
    all[0].extend(again);
    all[3].remove(2);
    let merged = merged(all.concat());
    assert_eq!(merged.outcome.counts.sent, 4 * 190);
    assert_eq!(merged.outcome.seconds[0].counts.sent, sent_in(&outcomes[..3], 0));
    assert_eq!(merged.notes, [MergeNote::LostLines { pod: "load-3".to_owned(), lines: 1, others: 0 }]);
}

#[test]
fn the_pod_that_could_not_keep_up_is_named() {
    let mut outcomes = four();
    outcomes[1].cost.busiest_thread_cpu_ns = 1_960 * MS;
    outcomes[1].cost.cpu_ns = 1_960 * MS;
    let merged = merged(lines_of_all(&outcomes).concat());
    let [MergeNote::Bottleneck { pod, others: 0, why }] = &merged.notes[..] else {
        panic!("{:?}", merged.notes)
    };
    assert_eq!(pod, "load-1");
    assert!(why.sentence(Setting::field).contains("98 % of a core"), "{why:?}");
    let bottlenecks: Vec<bool> =
        merged.outcome.pods.iter().filter_map(|pod| Some(pod.generator.as_ref()?.bottleneck)).collect();
    assert_eq!(bottlenecks, [false, true, false, false]);
}

#[test]
fn a_cpu_limit_that_was_used_up_is_named_and_one_that_was_not_is_none() {
    let with = |throttled_periods: u64| {
        let throttling =
            Throttling { periods: 20, throttled_periods, throttled_ns: throttled_periods * 50 * MS };
        let share = LoadShare::WHOLE;
        let end = ShareEnd::new(&outcome(&[MS; 50], START), Some(throttling));
        let messages = [Message::Begin(begin(0)), Message::End(Box::new(end))];
        let lines = (0..).zip(messages).map(|(n, message)| Line::new(share, n, message).text().unwrap());
        merged(lines.collect::<Vec<_>>()).notes
    };
    assert_eq!(with(0), []);
    let [note @ MergeNote::Throttled { .. }] = &with(5)[..] else { panic!("it was throttled") };
    assert!(
        note.sentence(Setting::field).contains("held the generator back: 250 ms in all, in 25 %"),
        "{note:?}"
    );
}

#[test]
fn lines_of_different_loads_are_refused() {
    let outcome = outcome(&[MS; 20], START);
    let refused = |line: String| {
        let mut merge = Merge::default();
        lines(0, 4, &outcome).iter().for_each(|line| drop(merge.line(line).unwrap()));
        merge.line(&line).unwrap_err().to_string()
    };
    let share = LoadShare::new(1, 4).unwrap();
    let other = |change: fn(&mut ShareBegin)| {
        let mut begin = begin(1);
        change(&mut begin);
        Line::new(share, 0, Message::Begin(begin)).text().unwrap()
    };
    assert!(refused(lines(1, 5, &outcome)[0].clone()).contains("one of 5, and others are of 4"));
    assert!(refused(other(|begin| begin.plan.seed = 7)).contains("its seed differs"));
    assert!(refused(other(|begin| begin.start_at_unix_ns = None)).contains("its start differs"));
    let mut restarted = begin(0);
    restarted.unix_ns += 1;
    let restarted = Line::new(LoadShare::new(0, 4).unwrap(), 0, Message::Begin(restarted)).text().unwrap();
    assert!(refused(restarted).contains("was sent twice"));
}

#[test]
fn without_any_end_there_is_no_result_but_a_reason() {
    assert_eq!(Merge::default().finish(&mut |_| {}).unwrap_err(), MergeError::Empty);
    let mut merge = Merge::default();
    lines(0, 1, &outcome(&[MS; 20], START)).iter().take(2).for_each(|line| drop(merge.line(line).unwrap()));
    let error = merge.finish(&mut |_| {}).unwrap_err();
    assert!(matches!(&error, MergeError::NoEnd { .. }), "{error}");
}

proptest! {
    #[test]
    fn however_requests_are_divided_the_result_is_that_of_one_process(
        response_ns in proptest::collection::vec(1_000u64..50_000_000, 8..200), count in 1u32..8,
    ) {
        let mut parts = vec![Vec::new(); count as usize];
        for (index, &ns) in response_ns.iter().enumerate() {
            parts[index % count as usize].push(ns);
        }
        let outcomes: Vec<LoadOutcome> = parts.iter().map(|part| outcome(part, START)).collect();
        let mut all = Times::default();
        outcomes.iter().for_each(|outcome| all.merge(&outcome.response_time));
        let merged = merged(lines_of_all(&outcomes).concat());
        prop_assert_eq!(merged.outcome.response_time.summary(), all.summary());
        prop_assert_eq!(merged.outcome.counts.sent, response_ns.len() as u64);
    }
}

#[test]
fn a_second_that_no_load_reaches_is_refused_and_the_last_one_of_a_year_is_not() {
    let second = |index| ShareSecond::new(&Second { index, ..Second::default() }).unwrap();
    assert!(second(366 * 24 * 60 * 60).slice().is_ok());
    assert_eq!(second(u32::MAX).slice().unwrap_err(), "its second 4294967295 is beyond a year");
}
