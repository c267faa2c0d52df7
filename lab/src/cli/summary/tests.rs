use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::outcome::Counts;
use threadcount_load::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
use threadcount_load::recorder::{Exchange, Recorder};
use threadcount_load::request::{Origin, RequestSource};

const MS: u64 = 1_000_000;

fn plan(pacing: Pacing) -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 8080 };
    let requests = Arc::new(RequestSource::get(origin, "/"));
    let stop = Stop::Duration(Duration::from_secs(10));
    LoadPlan::closed(requests, NonZeroU32::new(64).unwrap(), stop).with(|changed| changed.pacing = pacing)
}

fn open(rate_per_s: f64) -> Pacing {
    Pacing::Open { shape: RateShape::Constant { rate_per_s }, arrivals: Arrivals::Constant }
}

/// A load of ten seconds. A request is due every 10 ms, sent 1 ms late, and answered 20 to 29 ms after it was due. The last four are a
/// refusal, two responses with status 503, and one that is still in flight.
fn outcome() -> LoadOutcome {
    let (started_ns, ended_ns) = (MS, 10_001 * MS);
    let (slices, _received) = channel();
    let mut recorder = Recorder::new(0, slices);
    recorder.start(started_ns, started_ns);
    for index in 0..1_000 {
        let due_ns = started_ns + index * 10 * MS;
        let mut exchange = Exchange::default();
        (exchange.due_ns, exchange.ready_ns, exchange.sent_ns) = (due_ns, due_ns, due_ns + MS);
        recorder.sent(exchange);
        match index {
            0..996 => recorder.ok(exchange, 200, due_ns + (20 + index % 10) * MS),
            996 => recorder.failed(exchange, FailureCause::ConnectionRefused, None, due_ns + 2 * MS),
            997 | 998 => {
                let cause = FailureCause::UnexpectedStatus(503);
                recorder.failed(exchange, cause, Some(503), due_ns + 5 * MS);
            }
            _ => recorder.unfinished(exchange, ended_ns),
        }
    }
    recorder.finish();
    recorder.total.bytes.sent = 40_000;
    recorder.total.bytes.received = 125_000;
    let mut outcome = LoadOutcome::default();
    (outcome.started_ns, outcome.ended_ns) = (started_ns, ended_ns);
    outcome.protocol = "HTTP/1.1".to_owned();
    outcome.cost.threads = 1;
    outcome.cost.cpu_ns = 5 * MS;
    outcome.cost.busiest_thread_cpu_ns = 5 * MS;
    outcome.add(recorder);
    outcome
}

fn plain(report: &LoadReport, outcome: &LoadOutcome) -> String {
    anstream::adapter::strip_str(&summary(report, outcome)).to_string()
}

fn summarized(pacing: Pacing, outcome: &LoadOutcome) -> String {
    plain(&LoadReport::naming(flag, outcome, &plan(pacing)), outcome)
}

/// The line that starts with a label, without the label.
fn section<'t>(text: &'t str, label: &str) -> &'t str {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(label));
    line.and_then(|line| line.trim_start().strip_prefix(label)).unwrap_or_default().trim()
}

#[test]
fn what_was_in_flight_when_counting_began_is_part_of_the_sum() {
    let mut led_in = outcome();
    (led_in.counts.in_flight_at_start, led_in.counts.sent) = (5, 995);
    let printed = summarized(open(100.0), &led_in);
    assert_eq!(
        section(&printed, "requests"),
        "5 in flight at the start + 995 sent = 996 ok + 3 failed + 1 unfinished"
    );
}

#[test]
fn an_open_load_reads_from_top_to_bottom() {
    let text = summarized(open(100.0), &outcome());
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "http://127.0.0.1:8080/",
        "HTTP/1.1 · open loop at 100/s · 64 connections · 1 thread · 10.0 s",
        "",
        "requests  1,000 sent = 996 ok + 3 failed + 1 unfinished",
        "          the oldest unfinished one was due 10.0 ms before the end",
        "rate      99.6/s completed, 100/s requested, 100/s sent",
        "bytes     125 kB received, 40.0 kB sent",
        "",
        "          response time  service time  first byte",
        "               from due     from sent   from sent",
        "min             20.0 ms       19.0 ms     19.0 ms",
        "p50             24.0 ms       23.0 ms     23.0 ms",
    ];
    let start = lines.iter().position(|line| line.starts_with("http://")).unwrap();
    assert_eq!(lines[start..start + expected.len()], expected, "{text}");
    assert!(text.contains(" 20.0 ms .. 21.0 ms   10.0 % ████"), "{text}");
    assert!(!text.contains("a closed loop"), "{text}");
}

#[test]
fn statuses_and_failures_are_listed_the_most_frequent_cause_first() {
    let text = summarized(open(100.0), &outcome());
    let expected = "status    200  996\n          503  2\nfailures  2  unexpected status 503\n          \
                    1  connection refused\n          time to failure: p50 5.00 ms, p99 5.00 ms, max 5.00 ms";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_percentile_that_so_few_answers_cannot_tell_from_the_longest_time_says_so() {
    let text = summarized(open(100.0), &outcome());
    assert_eq!(section(&text, "p99"), "29.0 ms       28.0 ms     28.0 ms");
    assert_eq!(section(&text, "p99.9"), "= max         = max       = max");
    assert_eq!(section(&text, "p99.99"), "= max         = max       = max");
}

#[test]
fn a_closed_load_says_what_it_cannot_see() {
    let text = summarized(Pacing::Closed, &outcome());
    assert!(
        section(&text, "note").starts_with("closed loop: response times leave out the queueing"),
        "{text}"
    );
    assert_eq!(section(&text, "rate"), "99.6/s completed, 100/s sent");
    assert!(!text.lines().any(|line| line.starts_with("! closed loop")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= LINE_WIDTH), "{text}");
}

#[test]
fn what_must_be_known_before_believing_the_figures_comes_first() {
    let mut outcome = outcome();
    outcome.interrupted = true;
    let mut report = LoadReport::naming(flag, &outcome, &plan(open(100.0)));
    report.warnings = vec!["the generator was the bottleneck".to_owned()];
    let text = plain(&report, &outcome);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("! the generator was the bottleneck"));
    assert_eq!(lines.next(), Some("! interrupted: the figures cover the 10.0 s until then"));
}

#[test]
fn requests_that_were_due_and_never_sent_are_told() {
    let (slices, _received) = channel();
    let mut recorder = Recorder::new(0, slices);
    recorder.start(0, 0);
    recorder.not_sent(10_001 * MS - 3_100 * MS, 10_001 * MS);
    let mut outcome = outcome();
    outcome.add(recorder);
    let text = summarized(open(100.0), &outcome);
    assert!(text.contains("          1 more were due but never sent, the oldest for 3.10 s"), "{text}");
}

#[test]
fn a_load_without_an_answer_has_no_times_and_no_picture() {
    let mut outcome = LoadOutcome::default();
    outcome.ended_ns = MS;
    let text = summarized(Pacing::Closed, &outcome);
    assert!(text.contains("no request completed as expected, so there are no times"), "{text}");
    assert!(text.contains("no connection"), "{text}");
    assert!(!text.contains("p50") && !text.contains(" .. "), "{text}");
}

#[test]
fn a_load_without_a_connection_sent_nothing() {
    let text = summarized(open(50.0), &outcome_of(&[(Fate::Refused, 1), (Fate::Refused, 1)]));
    let requests = "2 begun = 0 ok + 2 failed + 0 unfinished; no connection was made";
    assert_eq!(section(&text, "requests"), requests);
    assert_eq!(section(&text, "rate"), "0/s completed, 50.0/s requested");
    assert!(text.contains("no connection") && !text.contains("send lag"), "{text}");
}

#[test]
fn a_load_that_is_shorter_than_the_clock_of_the_cpu_has_no_figures_of_it() {
    let mut short = outcome();
    (short.ended_ns, short.cores_busy) = (short.started_ns + 5 * MS, vec![0.0, 1.0]);
    short.cost.cpu_ns = 15 * MS;
    let text = summarized(Pacing::Closed, &short);
    assert_eq!(section(&text, "generator"), "too short a load to measure its CPU");
    assert!(!text.contains("core utilization") && !text.contains("of a core"), "{text}");
    let mut long = outcome();
    long.cost.cpu_ns = 0;
    assert_eq!(section(&summarized(Pacing::Closed, &long), "generator"), "0 % of a core (0.00 cores in all)");
}

#[test]
fn a_full_core_is_named_before_the_shares_of_all() {
    assert_eq!(cores(&[0.991, 0.62]).unwrap(), "core 0 was saturated; core utilization 99 %, 62 %");
    assert_eq!(cores(&[0.5, 0.62]).unwrap(), "core utilization 50 %, 62 %");
    assert!(cores(&[0.99, 0.98, 0.1]).unwrap().starts_with("cores 0, 1 were saturated; "));
    assert!(cores(&[0.99, 0.98]).unwrap().starts_with("every core was saturated; "));
    assert_eq!(cores(&[]), None);
}

/// The result of a request, which comes with a time in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Ok,
    Refused,
    Status(u16),
    Unfinished,
    NotSent,
}

fn fates() -> impl Strategy<Value = Vec<(Fate, u64)>> {
    let fate = prop_oneof![
        4 => Just(Fate::Ok),
        1 => Just(Fate::Refused),
        1 => (400_u16..600).prop_map(Fate::Status),
        1 => Just(Fate::Unfinished),
        1 => Just(Fate::NotSent),
    ];
    vec((fate, 1_u64..3_000), 0..60)
}

/// A load in which these requests are due within a second. Requests without an end lasted until the load was over.
fn outcome_of(fates: &[(Fate, u64)]) -> LoadOutcome {
    let (started_ns, ended_ns) = (MS, 4_001 * MS);
    let (slices, _received) = channel();
    let mut recorder = Recorder::new(0, slices);
    recorder.start(started_ns, started_ns);
    for (index, &(fate, lasts_ms)) in (0..).zip(fates) {
        let due_ns = started_ns + index * MS;
        let mut exchange = Exchange::default();
        (exchange.due_ns, exchange.ready_ns, exchange.sent_ns) = (due_ns, due_ns, due_ns);
        if !matches!(fate, Fate::NotSent) {
            recorder.sent(exchange);
        }
        let until_ns = due_ns + lasts_ms * MS;
        match fate {
            Fate::Ok => recorder.ok(exchange, 200, until_ns),
            Fate::Refused => recorder.failed(exchange, FailureCause::ConnectionRefused, None, until_ns),
            Fate::Status(status) => {
                let cause = FailureCause::UnexpectedStatus(status);
                recorder.failed(exchange, cause, Some(status), until_ns);
            }
            Fate::Unfinished => recorder.unfinished(exchange, ended_ns),
            Fate::NotSent => recorder.not_sent(due_ns, ended_ns),
        }
    }
    recorder.finish();
    let mut outcome = LoadOutcome::default();
    (outcome.started_ns, outcome.ended_ns) = (started_ns, ended_ns);
    outcome.protocol = "HTTP/1.1".to_owned();
    outcome.cost.threads = 1;
    outcome.connections_opened = fates.iter().any(|(fate, _)| !matches!(fate, Fate::Refused)).into();
    outcome.add(recorder);
    outcome
}

/// The numbers at the start of lines in the section of a label.
fn counts(text: &str, label: &str) -> Vec<(u64, String)> {
    let from = text.lines().skip_while(|line| !line.starts_with(label));
    let lines = from.enumerate().take_while(|(at, line)| *at == 0 || line.starts_with("    "));
    lines
        .filter_map(|(_, line)| {
            let rest = line.trim_start().strip_prefix(label).unwrap_or(line).trim_start();
            let (count, what) = rest.split_once("  ")?;
            Some((count.replace(',', "").parse().ok()?, what.to_owned()))
        })
        .collect()
}

proptest! {
    #[test]
    fn no_sentence_contradicts_a_count(fates in fates(), is_open in any::<bool>()) {
        let outcome = outcome_of(&fates);
        let text = summarized(if is_open { open(50.0) } else { Pacing::Closed }, &outcome);
        let Counts { sent, ok, failed, unfinished, not_sent, .. } = outcome.counts;
        let says = |part: &str| text.contains(part);
        let (begun, why) = if sent > 0 && outcome.connections_opened == 0 {
            ("begun", "; no connection was made")
        } else {
            ("sent", "")
        };
        prop_assert_eq!(
            section(&text, "requests"),
            format!("{sent} {begun} = {ok} ok + {failed} failed + {unfinished} unfinished{why}")
        );
        prop_assert_eq!(section(&text, "rate").contains(" sent"), begun == "sent", "{}", text);
        prop_assert_eq!(says("the oldest unfinished one"), unfinished > 0, "{}", text);
        prop_assert_eq!(says("more were due but never sent"), not_sent > 0, "{}", text);
        prop_assert_eq!(says("no request completed as expected"), ok == 0, "{}", text);
        prop_assert_eq!(says("p50 "), ok + failed > 0, "{}", text);
        prop_assert_eq!(says("time to failure"), failed > 0, "{}", text);
        prop_assert_eq!(says(&format!("{failed} of {sent} requests failed")), failed > 0, "{}", text);
        prop_assert_eq!(counts(&text, "failures").iter().map(|(count, _)| count).sum::<u64>(), failed);
        let longest = "longer than any answer took";
        prop_assert!(!says(longest) || (ok > 0 && unfinished > 0), "{text}");
        prop_assert!(!says("NaN") && !says(" -0") && !says("inf"), "{text}");
        let rate = figures::rate(ok as f64 / 4.0);
        prop_assert!(section(&text, "rate").starts_with(&format!("{rate} completed")), "{text}");
        // A percentile is shown if a response lies above it.
        for (row, above) in [("p75", 0.25), ("p90", 0.1), ("p95", 0.05), ("p99", 0.01), ("p99.9", 0.001)] {
            let is_max = section(&text, row).starts_with("= max");
            prop_assert_eq!(is_max, ok > 0 && above * (ok as f64) < 1.0, "{} {}", row, text);
        }
        let bars: f64 = text.lines().filter(|line| line.contains(" .. ")).filter_map(share).sum();
        prop_assert!(ok == 0 || (bars - 100.0).abs() < 1.0, "{bars} %: {text}");
    }
}

/// The share of a bar, in per cent.
fn share(bar: &str) -> Option<f64> {
    bar.split(" %").next()?.split_whitespace().last()?.parse().ok()
}
