//! The terminal summary of a real result fits one screen, whatever went wrong.
//!
//! `tests/data/tomcat-blocking` was made by `threadcount run tomcat-blocking --quick` on a busy machine, so it contains
//! every kind of remark.

use crate::answer::{answer_text, with};
use crate::documents;

use std::path::Path;
use threadcount_judge::explain::explain;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_model::comparison::{Ratio, TwoSpeeds, Verdict};
use threadcount_model::metric::Metric;
use threadcount_model::record::memory::{LiveHeap, MemoryUnderLoad};
use threadcount_model::record::{BeforeAfter, Cost, NativeMemory, WarmUp};
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::{MOST_LINES, TerminalStyle, terminal};
use threadcount_report::view::view;
use threadcount_stats::comparison::compare;
use threadcount_stats::trust::trust;

pub(super) const STYLE: TerminalStyle = TerminalStyle { width: 100, colour: false };
pub(super) const REPORT: Option<&str> = Some("out/tomcat-blocking/report.html");

fn real() -> ResultDocument {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tomcat-blocking");
    let document = ResultFolder::read(&folder).unwrap();
    // The document contains the findings and doubts of the time when it was made; the test needs today's.
    let (experiment, records) = (&document.experiment, &document.records);
    let (findings, (trusted, why_not)) = (explain(experiment, records), trust(experiment, records));
    ResultDocument { findings, trusted, why_not, ..document }
}

/// Every sample result: few and many variants and loads, names and texts of any length, and real results.
fn samples() -> Vec<(&'static str, ResultDocument)> {
    let mut interrupted = documents::demo();
    interrupted.records.truncate(5);
    let mut empty = documents::demo();
    empty.records.clear();
    empty.comparisons.clear();
    vec![
        ("real", real()),
        ("demo", documents::demo()),
        ("big", documents::big()),
        ("wide", documents::wide()),
        ("hostile", documents::hostile()),
        ("interrupted", interrupted),
        ("empty", empty),
    ]
}

#[test]
fn the_summary_of_every_sample_has_at_most_22_lines_of_100_columns() {
    for (name, document) in samples() {
        let text = terminal(&document, REPORT, STYLE);
        assert!(text.lines().count() <= MOST_LINES, "{name}: {} lines\n{text}", text.lines().count());
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= STYLE.width, "{name}: {longest} columns\n{text}");
        let last = text.lines().last().unwrap();
        assert!(last.contains("threadcount report out/tomcat-blocking --details"), "{name}: {last}");
    }
}

#[test]
fn the_order_is_question_setting_answer_tables_why_open_trust_study_and_report() {
    let text = terminal(&documents::demo(), REPORT, STYLE);
    let order = [
        "Do virtual threads help",
        "tomcat-blocking: Java 25",
        "Answer  Yes. virtual has 1.98x the throughput of platform with 400 clients, and 4.70x with 1,000",
        "400 clients ",
        "1,000 clients",
        "Why     platform: all 200 pool threads are busy. 200 / 50.2 ms = 3,984/s is their maximum.",
        "Open ",
        "Trust   good: 2,141,197 requests, none failed.",
        "Study   6 of 7 published figures within 10 %. Claims: 1 holds",
        "Report ",
    ];
    let place = |part: &str| text.lines().position(|line| line.starts_with(part));
    let places: Vec<usize> =
        order.iter().map(|part| place(part).unwrap_or_else(|| panic!("{part}\n{text}"))).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
}

#[test]
fn a_label_of_its_threads_stands_beside_each_variant() {
    let text = terminal(&documents::demo(), REPORT, STYLE);
    for (variant, label) in
        [("platform", "pool of 200"), ("platform-sized", "pool of 1,000"), ("virtual", "virtual threads")]
    {
        let row =
            |line: &str| line.starts_with(&format!("{variant} ")) && line.contains(&format!("  {label} "));
        assert!(text.lines().any(row), "{variant} {label}\n{text}");
    }
}

#[test]
fn where_there_are_more_rows_than_lines_the_most_telling_ones_stay_and_the_others_are_counted() {
    let text = terminal(&documents::wide(), REPORT, STYLE);
    assert!(text.contains("more rows with --details"), "{text}");
    for kept in ["100 clients", "1,600 clients"] {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
    let details = details(&documents::wide(), STYLE);
    assert!(!details.contains("more rows"), "{details}");
}

#[test]
fn snapshots_of_real_results() {
    insta::assert_snapshot!("terminal_of_a_real_result", terminal(&real(), REPORT, STYLE));
    insta::assert_snapshot!(
        "terminal_of_many_variants_and_loads",
        terminal(&documents::wide(), REPORT, STYLE)
    );
}

#[test]
fn what_does_not_lower_the_trust_is_in_the_details() {
    let text = terminal(&documents::demo(), REPORT, STYLE);
    for detail in ["in flight", "of at most 10 rounds", "send lag"] {
        assert!(!text.contains(detail), "{detail}\n{text}");
        assert!(details(&documents::demo(), STYLE).contains(detail), "{detail}");
    }
    let details = details(&real(), STYLE);
    assert_eq!(details.matches("still warming up when").count(), 4, "{details}");
}

#[test]
fn without_trust_the_verdict_is_withheld_above_the_table() {
    let text = terminal(&real(), REPORT, STYLE);
    let head = text.find("Answer  No verdict, the figures are not trusted").expect("a warning");
    assert!(head < text.find("\n400 clients ").unwrap(), "{text}");
    assert!(text.contains("\nTrust   poor: "), "{text}");
    assert!(!text.contains("has 0.41x the throughput"), "{text}");
}

#[test]
fn details_have_each_ratio_and_each_claim_of_the_result() {
    let document = documents::demo();
    let (short, long) = (terminal(&document, None, STYLE), details(&document, STYLE));
    for claim in &document.claims {
        assert!(long.contains(&claim.claim), "{long}");
    }
    for ratio in ["median response time", "server CPU per request"] {
        assert!(long.contains(ratio) && !short.contains(ratio), "{ratio}");
    }
    assert!(long.lines().count() > short.lines().count());
}

#[test]
fn two_speeds_what_few_runs_cannot_see_and_what_is_not_significant_are_open() {
    let mut document = with(&[(Metric::Rate, 1.05, Verdict::Higher)]);
    document.skipped.clear();
    let two_speeds =
        TwoSpeeds { variant: "virtual".into(), runs: 5, slower_runs: 1, share_of_runs: 0.2, slow_by: 0.1 };
    let rate = |document: &mut ResultDocument, change: fn(&mut Ratio)| {
        let ratio = document.comparisons[0].ratios.iter_mut().find(|ratio| ratio.metric == Metric::Rate);
        change(ratio.unwrap());
    };
    rate(&mut document, |ratio| ratio.runs = (5, 5));
    rate(&mut document, |ratio| ratio.basis.unseen_share = Some(0.4507));
    document.comparisons[0].ratios[0].basis.two_speeds = vec![two_speeds];
    assert_eq!(
        view(&document).open,
        [
            "1 of 5 runs of virtual is 10 % slower",
            "virtual vs platform, 400 clients: 5 runs each would miss another speed of up to 45 % of runs"
        ]
    );
    rate(&mut document, |ratio| ratio.verdict = Verdict::NotEnoughRuns);
    rate(&mut document, |ratio| ratio.basis.withheld = true);
    let open = view(&document).open;
    assert!(open[0].ends_with(", too few runs to be sure"), "{open:?}");
    assert!(!open.concat().contains("another speed"), "{open:?}");
}

#[test]
fn what_the_experiment_measured_itself_is_not_advised() {
    let document = documents::demo();
    let advice = |document: &ResultDocument, variant: &str| {
        let why = view(document).why;
        why.into_iter().find(|it| it.variant == variant && it.loads.len() < 2).and_then(|it| it.advice)
    };
    assert_eq!(advice(&document, "platform"), None, "a larger pool and virtual threads are beside it");
    let mut alone = document.clone();
    alone.comparisons.clear();
    assert!(advice(&alone, "platform").is_some_and(|it| it.contains("larger pool")));
}

/// The demo, whose virtual variant has 1.36x the resident memory, with the given live heap in bytes per variant.
fn with_live_heap(live_bytes: impl Fn(&str) -> u64) -> ResultDocument {
    let mut document = documents::demo();
    for record in &mut document.records {
        // Noise that differs from round to round.
        let noise = u64::from(record.round) * 100_000;
        let after = NativeMemory {
            committed_bytes: 380_000_000,
            heap_committed_bytes: 300_000_000,
            ..Default::default()
        };
        record.native_memory = Some(BeforeAfter { before: after, after });
        let under_load = LiveHeap { live_bytes: live_bytes(&record.variant) + noise, ..LiveHeap::default() };
        record.memory = Some(MemoryUnderLoad { under_load, ..MemoryUnderLoad::default() });
    }
    document.comparisons = compare(&document.experiment, &document.records);
    document
}

#[test]
fn a_heap_that_was_touched_and_never_needed_is_no_difference_in_memory() {
    let document = with_live_heap(|_| 20_000_000);
    let virtual_threads = document.comparisons.iter().find(|it| it.variant == "virtual").unwrap();
    assert_eq!(virtual_threads.ratio(Metric::RssPeak).unwrap().verdict, Verdict::Higher);
    assert_eq!(virtual_threads.ratio(Metric::MemoryNeeded).unwrap().verdict, Verdict::NoDifference);
    let text = terminal(&document, REPORT, STYLE);
    assert!(text.contains(" memory ") && text.contains(" 100 MB ") && !text.contains(" RSS "), "{text}");
}

#[test]
fn a_heap_that_is_needed_is_said() {
    let document = with_live_heap(|variant| if variant == "virtual" { 120_000_000 } else { 20_000_000 });
    let words = details(&document, STYLE);
    let is_of_memory = |line: &&str| line.trim_start().starts_with("memory needed") && line.contains("2.00");
    assert!(words.lines().any(|line| is_of_memory(&line)), "{words}");
    assert!(
        terminal(&document, REPORT, STYLE).contains(" 200 MB "),
        "{}",
        terminal(&document, REPORT, STYLE)
    );
}

#[test]
fn a_busy_compiler_leaves_cpu_per_request_out_of_the_tables() {
    let mut document = documents::demo();
    let style = TerminalStyle { width: 132, ..STYLE };
    assert!(details(&document, style).contains("CPU/request"));
    for record in document.records.iter_mut().filter(|record| record.variant == "virtual") {
        record.warm_up = Some(WarmUp { levelled: Some(true), ..WarmUp::default() });
        record.cost = record.cost.map(|cost| Cost { jit_cpu_cores: Some(0.23 * cost.cpu_cores), ..cost });
    }
    document.comparisons = compare(&document.experiment, &document.records);
    document.why_not = trust(&document.experiment, &document.records).1;
    let text = details(&document, style);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("CPU/request"), "{text}");
    assert!(words.contains("compiler took 23 % of the server's CPU while measuring"), "{text}");
    assert!(answer_text(&document).contains("virtual has 1.98x the throughput"), "{text}");
}
