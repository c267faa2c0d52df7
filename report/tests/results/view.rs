//! The terminal summary of a real result: one screen, whatever went wrong.
//!
//! `tests/data/tomcat-blocking` was made by `threadcount run tomcat-blocking --quick` on a machine that was busy with other
//! things, so it has every kind of remark.

use crate::documents;

use std::path::Path;
use threadcount_judge::explain::explain;
use threadcount_judge::finding::{Fact, Finding};
use threadcount_judge::findings::kind_and_number::KindAndNumber;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_model::comparison::{Comparison, Ratio, TwoSpeeds, Verdict};
use threadcount_model::experiment::{LoadKind, LoadSpec};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::record::memory::{LiveHeap, MemoryUnderLoad};
use threadcount_model::record::{BeforeAfter, Cost, NativeMemory, WarmUp};
use threadcount_model::rounds::RoundsEnd;
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::{MOST_LINES, TerminalStyle, terminal};
use threadcount_report::view::answer::answer;
use threadcount_report::view::view;
use threadcount_stats::comparison::compare;
use threadcount_stats::trust::trust;

const STYLE: TerminalStyle = TerminalStyle { width: 100, colour: false };
const REPORT: Option<&str> = Some("out/tomcat-blocking/report.html");

fn real() -> ResultDocument {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tomcat-blocking");
    let document = ResultFolder::read(&folder).unwrap();
    // The sentences of findings and doubts are stored; those of today are meant.
    let (experiment, records) = (&document.experiment, &document.records);
    let (findings, (trusted, why_not)) = (explain(experiment, records), trust(experiment, records));
    ResultDocument { findings, trusted, why_not, ..document }
}

/// Every sample result: few and many variants and loads, names and texts of any length, real ones.
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
        "Answer  virtual has 1.98x the throughput of platform with 400 clients, and 4.70x with 1,000 clients.",
        "400 clients ",
        "1,000 clients",
        "Why     platform: all 200 pool threads are busy. 200 / 50.2 ms = 3,984/s is their maximum.",
        "        platform (400 clients): 101 ms per request = 50 ms sleeping + 51 ms waiting without a",
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
    assert!(long.contains("0.50x the median response time") && !short.contains("0.80x the CPU per request"));
    assert!(long.lines().count() > short.lines().count());
}

/// The answer in one text.
fn said(document: &ResultDocument) -> String {
    answer(document).join(" ")
}

/// The demo with other verdicts and ratios of virtual under its first load.
fn with(changes: &[(Metric, f64, Verdict)]) -> ResultDocument {
    let mut document = documents::demo();
    document.experiment.loads.truncate(1);
    document.comparisons.retain(|it| it.load == "c400" && it.variant == "virtual");
    for ratio in &mut document.comparisons[0].ratios {
        if let Some((_, value, verdict)) = changes.iter().find(|(metric, ..)| *metric == ratio.metric) {
            (ratio.ratio, ratio.verdict) = (*value, *verdict);
            ratio.interval = Some(Interval { low: value * 0.99, high: value * 1.01, confidence: 0.95 });
        }
    }
    document
}

#[test]
fn an_answer_that_says_better_says_what_is_worse_too() {
    use Verdict::{Higher, Lower, NoDifference, NotEnoughRuns};
    let hidden = with(&[
        (Metric::P50, 0.036, Lower),
        (Metric::Mean, 0.57, Lower),
        (Metric::P99, 1.75, Higher),
        (Metric::P99_9, 1.9, Higher),
    ]);
    assert_eq!(
        answer(&hidden)[1],
        "But virtual has 1.90x the p99.9 with 400 clients.",
        "the worst of the tails"
    );
    let mean = with(&[(Metric::P50, 0.5, Lower), (Metric::Mean, 1.2, Higher)]);
    assert_eq!(answer(&mean)[1], "But virtual has 1.20x the mean response time with 400 clients.");
    let same = with(&[(Metric::Rate, 1.0, NoDifference), (Metric::P50, 1.3, Higher)]);
    assert_eq!(answer(&same)[1], "But virtual has 1.30x the median response time with 400 clients.");
    let unproven = with(&[(Metric::P99, 1.75, NotEnoughRuns), (Metric::P99_9, 1.9, NotEnoughRuns)]);
    assert!(!said(&unproven).contains("But"), "{}", said(&unproven));
}

/// Throughput and p99 of a variant under a load.
type Figures<'a> = (&'a str, [(Metric, f64, Verdict); 2]);

/// The demo under 100, 200, 400 and 800 clients, with the figures of the best variant under each.
fn under_four_loads(figures: &[Figures<'_>]) -> String {
    let mut document = with(&[]);
    let (load, comparison) = (document.experiment.loads.remove(0), document.comparisons.remove(0));
    for (clients, (variant, ratios)) in [100, 200, 400, 800].into_iter().zip(figures) {
        let name = format!("c{clients}");
        let workload = LoadKind::Closed { clients }.into();
        document.experiment.loads.push(LoadSpec { name: name.clone(), workload, ..load.clone() });
        let mut here = Comparison { load: name, variant: (*variant).to_owned(), ..comparison.clone() };
        here.ratios.retain_mut(|ratio| {
            let Some((_, value, verdict)) = ratios.iter().find(|(metric, ..)| *metric == ratio.metric) else {
                return false;
            };
            (ratio.ratio, ratio.verdict) = (*value, *verdict);
            ratio.interval = Some(Interval { low: value * 0.99, high: value * 1.01, confidence: 0.95 });
            true
        });
        document.comparisons.push(here);
    }
    document.findings.clear();
    said(&document)
}

#[test]
fn a_load_in_the_middle_that_contradicts_the_ends_is_in_the_answer() {
    use Verdict::{Higher, Lower, NoDifference, NotEnoughRuns};
    let of =
        |rate: f64, verdict| ("virtual", [(Metric::Rate, rate, verdict), (Metric::P99, 1.0, NoDifference)]);
    let tail = |p99: f64| ("virtual", [(Metric::Rate, 2.0, Higher), (Metric::P99, p99, Higher)]);
    let (better, same, worse) = (of(2.0, Higher), of(1.0, NoDifference), of(0.5, Lower));
    let ends = "virtual has 2.00x the throughput of platform with 100 clients, and 2.00x with 800 clients.";
    assert_eq!(
        under_four_loads(&[better, same, worse, better]),
        format!(
            "{ends} But virtual has 0.50x the throughput with 400 clients. But virtual has 1.00x the throughput with 200 clients."
        )
    );
    assert_eq!(
        under_four_loads(&[better, better, tail(1.8), better]),
        format!("{ends} But virtual has 2.00x the throughput and 1.80x the p99 with 400 clients.")
    );
    // Look-alikes: as at the ends; not decided; from better to worse by way of no difference; a tail that is said already.
    assert_eq!(under_four_loads(&[better, of(3.0, Higher), better, better]), ends);
    assert_eq!(under_four_loads(&[better, of(0.9, NotEnoughRuns), better, better]), ends);
    assert!(!under_four_loads(&[better, same, worse, worse]).contains("But"));
    let tails = under_four_loads(&[better, tail(1.7), tail(1.8), tail(1.9)]);
    assert_eq!(tails.matches("But").count(), 1, "{tails}");
}

#[test]
fn a_variant_that_is_best_at_one_end_and_worse_at_the_other_is_said_to_be_worse_there() {
    use Verdict::{Higher, Lower, NoDifference};
    let of = |variant, rate: f64, verdict| {
        (variant, [(Metric::Rate, rate, verdict), (Metric::P99, 1.0, NoDifference)])
    };
    let text =
        under_four_loads(&[of("virtual", 2.0, Higher), of("virtual", 0.5, Lower), of("cached", 1.5, Higher)]);
    assert_eq!(
        text,
        "virtual has 2.00x the throughput of platform with 100 clients. cached has 1.50x the throughput of platform with \
         400 clients. But virtual has 0.50x the throughput with 200 clients."
    );
}

#[test]
fn a_pair_that_the_experiment_asks_for_has_a_sentence_of_its_own_and_no_place_in_the_ranking() {
    let mut document = with(&[]);
    let before = answer(&document);
    let mut pair = document.comparisons[0].clone();
    (pair.variant, pair.baseline) = ("platform-sized".to_owned(), "virtual".to_owned());
    pair.ratios.retain(|ratio| ratio.metric == Metric::Rate);
    let interval = pair.ratios[0].interval.map(|it| Interval { low: 8.0, high: 10.0, ..it });
    (pair.ratios[0].ratio, pair.ratios[0].interval, pair.ratios[0].verdict) =
        (9.0, interval, Verdict::Higher);
    document.comparisons.push(pair);
    let with_pair = answer(&document);
    assert_eq!(with_pair[..before.len()], before);
    assert_eq!(
        with_pair[before.len()..],
        ["platform-sized has 9.00x the throughput of virtual with 400 clients."]
    );
    let table = terminal(&document, REPORT, STYLE);
    assert_eq!(table.matches("  baseline").count(), 1, "{table}");
    document.comparisons[1].ratios[0].verdict = Verdict::NotEnoughRuns;
    assert_eq!(answer(&document), before, "what is not decided is open, and no answer");
    let open = view(&document).open;
    assert!(open[0].starts_with("platform-sized vs virtual, 400 clients: 9.00x ["), "{open:?}");
}

/// The demo under its first load, with these throughputs against platform.
fn with_rates(rates: [(&str, f64, [f64; 2], Verdict); 2]) -> ResultDocument {
    let mut document = documents::demo();
    document.experiment.loads.truncate(1);
    document.comparisons.retain(|it| it.load == "c400");
    document.findings.clear();
    for (variant, value, [low, high], verdict) in rates {
        let of_variant = document.comparisons.iter_mut().find(|it| it.variant == variant).unwrap();
        of_variant.ratios.retain(|ratio| [Metric::Rate, Metric::OsThreads].contains(&ratio.metric));
        let rate = &mut of_variant.ratios[0];
        (rate.ratio, rate.verdict) = (value, verdict);
        rate.interval = Some(Interval { low, high, confidence: 0.95 });
    }
    document
}

#[test]
fn a_variant_without_a_difference_does_not_tie_with_one_that_is_better() {
    use Verdict::{Higher, NoDifference};
    let better = ("platform-sized", 1.08, [1.03, 1.13], Higher);
    let wins = "platform-sized has 1.08x the throughput of platform with 400 clients.";
    let of = |rates| answer(&with_rates(rates));
    assert_eq!(of([better, ("virtual", 1.04, [0.99, 1.09], NoDifference)]), [wins], "fewer OS threads");
    assert_eq!(of([better, ("virtual", 1.085, [0.99, 1.09], NoDifference)]), [wins], "the larger figure");
    // Both are better, and their intervals overlap.
    assert_eq!(
        of([better, ("virtual", 1.07, [1.02, 1.12], Higher)]),
        [
            "virtual has 1.07x the throughput of platform with 400 clients.",
            "With 400 clients, platform-sized has as much (1.08x), with 423 OS threads; virtual has 27."
        ],
        "the fewest OS threads"
    );
}

#[test]
fn another_baseline_under_the_last_load_is_named() {
    let mut document = documents::demo();
    document.findings.clear();
    let short = said(&document);
    assert!(
        short.contains(", and 4.70x with 1,000 clients."),
        "the same baseline goes without saying: {short}"
    );
    document.experiment.loads[1].only_variants = vec!["platform-sized".to_owned(), "virtual".to_owned()];
    document.comparisons.retain(|it| it.load == "c400" || it.variant == "virtual");
    document.comparisons.last_mut().unwrap().baseline = "platform-sized".to_owned();
    let named = said(&document);
    assert!(
        named.contains(" virtual has 4.70x the throughput of platform-sized with 1,000 clients."),
        "{named}"
    );
}

#[test]
fn without_a_ratio_to_the_baseline_the_pairs_that_are_asked_for_are_said_and_else_the_reason() {
    let mut document = with(&[]);
    document.comparisons[0].baseline = "platform-sized".to_owned();
    assert_eq!(said(&document), "virtual has 1.98x the throughput of platform-sized with 400 clients.");
    document.comparisons.clear();
    assert!(said(&document).starts_with("No ratio: under no load do the baseline"), "{}", said(&document));
    document.records.retain(|record| record.variant == "virtual");
    assert_eq!(said(&document), "Nothing to compare: only one variant has a complete run.");
    document.records.clear();
    assert_eq!(said(&document), "Nothing to compare: no variant has a complete run.");
}

#[test]
fn a_session_that_the_user_ended_has_its_answer_and_says_that_it_was_interrupted() {
    let mut document = documents::demo();
    let whole = said(&document);
    document.rounds.truncate(1);
    document.rounds[0].why = RoundsEnd::Interrupted;
    document.records.truncate(8);
    let last = document.records.last_mut().unwrap();
    (last.measured, last.cost) = (None, None);
    (document.trusted, document.why_not) = trust(&document.experiment, &document.records);
    assert!(document.trusted, "{:?}", document.why_not);
    assert_eq!(said(&document), format!("Interrupted after 7 complete runs. {whole}"));
    let text = terminal(&document, REPORT, STYLE);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Trust fair: a run was interrupted"), "{text}");
    assert!(text.contains("the figures are those of complete runs"), "{text}");
}

#[test]
fn a_ratio_without_an_interval_says_which_runs_are_missing() {
    let answer_of = |runs: (u32, u32)| {
        let mut document = with(&[(Metric::Rate, 2.0, Verdict::NotEnoughRuns)]);
        let rate = &mut document.comparisons[0].ratios[0];
        (rate.interval, rate.runs) = (None, runs);
        said(&document)
    };
    for (runs, why) in [
        ((1, 1), "one valid run"),
        ((1, 3), "one valid run of virtual"),
        ((3, 1), "one valid run of platform"),
        ((3, 2), "fewer than 2 rounds with a valid run of both"),
    ] {
        let expected =
            format!("Inconclusive, {why}: virtual has 2.00x the throughput of platform with 400 clients.");
        assert_eq!(answer_of(runs), expected);
    }
    let mut document = with(&[]);
    let cell = |document: &ResultDocument| view(document).tables[0].rows[2].ratio.text();
    for (runs, expected) in [((1, 3), "1.98x (1 run)"), ((3, 2), "1.98x (no interval)")] {
        let rate = &mut document.comparisons[0].ratios[0];
        (rate.interval, rate.runs) = (None, runs);
        assert_eq!(cell(&document), expected);
    }
}

#[test]
fn no_difference_says_how_large_a_one_is_not_ruled_out() {
    let mut document = with(&[(Metric::Rate, 1.0, Verdict::NoDifference)]);
    assert_eq!(said(&document), "virtual has the same throughput as platform with 400 clients.");
    for ratio in &mut document.comparisons[0].ratios {
        ratio.interval = Some(Interval { low: 0.95, high: 1.04, confidence: 0.95 });
    }
    assert_eq!(said(&document), "virtual has the same throughput as platform within 6 % with 400 clients.");
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
fn that_kind_and_number_of_threads_differ_at_once_is_open() {
    let mut document = with(&[]);
    document.skipped.clear();
    assert_eq!(view(&document).open, [] as [String; 0]);
    let confounded = KindAndNumber {
        pool_variant: "platform".to_owned(),
        pool_threads: 200,
        requests_in_flight: 400,
        sized_variant: None,
        arrivals: None,
    };
    document.findings.push(Finding {
        variant: Some("virtual".to_owned()),
        load: Some("c400".to_owned()),
        runs: None,
        fact: Fact::KindAndNumber(confounded),
    });
    assert_eq!(
        view(&document).open,
        ["virtual vs platform, 400 clients: without a pool of 400 threads, kind or number is open"]
    );
    assert!(view(&document).why.iter().all(|it| !it.brief.contains("kind or number")));
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

/// The demo, whose virtual variant has 1.36x the resident memory, with a live heap of so many bytes in each variant.
fn with_live_heap(live_bytes: impl Fn(&str) -> u64) -> ResultDocument {
    let mut document = documents::demo();
    for record in &mut document.records {
        // What differs from round to round.
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
    assert!(details(&document, STYLE).contains("2.00x the memory needed"), "{}", details(&document, STYLE));
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
    assert!(said(&document).contains("virtual has 1.98x the throughput"), "{text}");
}
