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
use threadcount_report::overview::answer::answer;
use threadcount_report::overview::overview;
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::{TerminalStyle, terminal};
use threadcount_stats::comparison::compare;
use threadcount_stats::trust::trust;

const MOST_LINES: usize = 40;
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

#[test]
fn the_summary_of_a_real_result_has_at_most_40_lines_of_100_columns() {
    for document in [real(), documents::demo()] {
        let text = terminal(&document, REPORT, STYLE);
        assert!(text.lines().count() <= MOST_LINES, "{} lines\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= STYLE.width), "{text}");
    }
}

#[test]
fn the_table_comes_first_then_the_answer_limits_trust_study_and_report() {
    let text = terminal(&documents::demo(), REPORT, STYLE);
    let order = [
        "tomcat-blocking:",
        "400 clients ",
        "1,000 clients ",
        "With 400 clients, virtual has 1.98x the throughput",
        "  platform",
        "trust ",
        "study ",
        "skipped ",
        "report ",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| text.find(&format!("\n{part}")).or(text.find(part)).expect(part)).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
}

#[test]
fn where_the_time_of_a_request_goes_is_a_bar_for_each_variant_in_the_first_screen() {
    let text = terminal(&documents::demo(), REPORT, STYLE);
    assert!(text.lines().count() <= MOST_LINES, "{text}");
    let at = text.lines().position(|line| line.starts_with("request ")).expect("times of requests");
    let bars: Vec<&str> = text.lines().skip(at).take(3).collect();
    assert!(bars[0].starts_with("request   platform        ████···· 101 ms = 50 "), "{text}");
    assert!(
        bars.iter().skip(1).any(|line| line.starts_with("          platform-sized  ████     50.5 ms = ")),
        "{text}"
    );
}

#[test]
fn a_remark_about_several_runs_is_said_once() {
    let text = terminal(&real(), REPORT, STYLE);
    for remark in ["other processes used", "still warming up"] {
        assert_eq!(text.matches(remark).count(), 1, "{remark}\n{text}");
    }
    let details = details(&real(), STYLE);
    assert_eq!(details.matches("still warming up").count(), 4, "{details}");
}

#[test]
fn without_trust_the_verdict_is_withheld_above_the_table() {
    let text = terminal(&real(), REPORT, STYLE);
    let head = text.find("No verdict, the figures are not trusted").expect("a warning");
    assert!(head < text.find("400 clients ").unwrap(), "{text}");
    assert!(!text.contains("has 0.41x the throughput"), "{text}");
}

#[test]
fn details_have_each_ratio_and_each_claim_of_the_result() {
    let document = documents::demo();
    let (short, long) = (terminal(&document, None, STYLE), details(&document, STYLE));
    for claim in &document.claims {
        assert!(long.contains(&claim.claim), "{long}");
    }
    assert!(
        long.contains("0.50x the median response time") && !short.contains("0.80x the CPU per request  [")
    );
    assert!(long.lines().count() > short.lines().count());
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
fn a_sentence_that_says_better_says_what_is_worse_too() {
    use Verdict::{Higher, Lower, NoDifference, NotEnoughRuns};
    let hidden = with(&[
        (Metric::P50, 0.036, Lower),
        (Metric::Mean, 0.57, Lower),
        (Metric::P99, 1.75, Higher),
        (Metric::P99_9, 1.9, Higher),
    ]);
    let said = answer(&hidden);
    assert!(
        said.contains("0.036x its median response time, but 1.90x its p99.9, with 196"),
        "the worst of the tails: {said}"
    );
    let mean = with(&[(Metric::P50, 0.5, Lower), (Metric::Mean, 1.2, Higher)]);
    assert!(answer(&mean).contains(", but 1.20x its mean response time"), "{}", answer(&mean));
    let same = with(&[(Metric::Rate, 1.0, NoDifference), (Metric::P50, 1.3, Higher)]);
    assert!(answer(&same).contains("but 1.30x its median response time"), "{}", answer(&same));
    let unproven = with(&[(Metric::P99, 1.75, NotEnoughRuns), (Metric::P99_9, 1.9, NotEnoughRuns)]);
    assert!(!answer(&unproven).contains("but"), "{}", answer(&unproven));
}

#[test]
fn a_median_that_is_the_same_is_not_said_where_the_mean_and_the_tail_are_shorter() {
    use Verdict::{Higher, Lower, NoDifference};
    let said = answer(&with(&[
        (Metric::Rate, 10.0, Higher),
        (Metric::P50, 1.0, NoDifference),
        (Metric::Mean, 0.12, Lower),
        (Metric::P99, 0.02, Lower),
    ]));
    assert!(said.starts_with("Virtual has 10.0x the throughput of platform"), "{said}");
    for silent in ["median", "same", "but"] {
        assert!(!said.contains(silent), "{silent}: {said}");
    }
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
    answer(&document)
}

#[test]
fn a_load_in_the_middle_that_contradicts_the_ends_is_in_the_answer() {
    use Verdict::{Higher, Lower, NoDifference, NotEnoughRuns};
    let of =
        |rate: f64, verdict| ("virtual", [(Metric::Rate, rate, verdict), (Metric::P99, 1.0, NoDifference)]);
    let tail = |p99: f64| ("virtual", [(Metric::Rate, 2.0, Higher), (Metric::P99, p99, Higher)]);
    let (better, same, worse) = (of(2.0, Higher), of(1.0, NoDifference), of(0.5, Lower));
    let ends = "With 100 clients, virtual has 2.00x the throughput of platform; with 800 clients, 2.00x";
    assert_eq!(
        under_four_loads(&[better, same, worse, better]),
        format!("{ends}; but with 400 clients, 0.50x; but with 200 clients, 1.00x.")
    );
    assert_eq!(
        under_four_loads(&[better, better, tail(1.8), better]),
        format!("{ends}; with 400 clients, 2.00x, but 1.80x its p99.")
    );
    // Look-alikes: as at the ends; not decided; from better to worse by way of no difference; a tail that is said already.
    assert_eq!(under_four_loads(&[better, of(3.0, Higher), better, better]), format!("{ends}."));
    assert_eq!(under_four_loads(&[better, of(0.9, NotEnoughRuns), better, better]), format!("{ends}."));
    assert!(!under_four_loads(&[better, same, worse, worse]).contains("but"));
    let tails = under_four_loads(&[better, tail(1.7), tail(1.8), tail(1.9)]);
    assert_eq!(tails.matches("but").count(), 1, "{tails}");
}

#[test]
fn a_variant_that_is_best_at_one_end_and_worse_at_the_other_is_said_to_be_worse_there() {
    use Verdict::{Higher, Lower, NoDifference};
    let of = |variant, rate: f64, verdict| {
        (variant, [(Metric::Rate, rate, verdict), (Metric::P99, 1.0, NoDifference)])
    };
    let said =
        under_four_loads(&[of("virtual", 2.0, Higher), of("virtual", 0.5, Lower), of("cached", 1.5, Higher)]);
    assert_eq!(
        said,
        "With 100 clients, virtual has 2.00x the throughput of platform; with 400 clients, cached has 1.50x the throughput \
         of platform; but with 200 clients, virtual has 0.50x the throughput of platform."
    );
}

#[test]
fn a_pair_that_the_experiment_asks_for_has_a_sentence_of_its_own_and_no_place_in_the_ranking() {
    let mut document = with(&[]);
    let (before, table) = (answer(&document), terminal(&document, REPORT, STYLE));
    assert!(table.contains("  baseline"), "{table}");
    let mut pair = document.comparisons[0].clone();
    (pair.variant, pair.baseline) = ("platform-sized".to_owned(), "virtual".to_owned());
    pair.ratios.retain(|ratio| ratio.metric == Metric::Rate);
    (pair.ratios[0].ratio, pair.ratios[0].verdict) = (9.0, Verdict::Higher);
    document.comparisons.push(pair);
    let said = answer(&document);
    assert_eq!(
        said,
        format!("{before} With 400 clients, platform-sized has 9.00x the throughput of virtual.")
    );
    let table = terminal(&document, REPORT, STYLE);
    assert_eq!(table.matches("  baseline").count(), 1, "{table}");
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
    let wins = "Platform-sized has 1.08x the throughput of platform";
    let said = answer(&with_rates([better, ("virtual", 1.04, [0.99, 1.09], NoDifference)]));
    assert!(said.starts_with(wins) && !said.contains("virtual"), "fewer OS threads: {said}");
    let said = answer(&with_rates([better, ("virtual", 1.085, [0.99, 1.09], NoDifference)]));
    assert!(said.starts_with(wins) && !said.contains("virtual"), "the larger figure: {said}");
    // Both are better, and their intervals overlap.
    let said = answer(&with_rates([better, ("virtual", 1.07, [1.02, 1.12], Higher)]));
    assert!(said.starts_with("Virtual has 1.07x"), "the fewest OS threads: {said}");
    assert!(said.contains("(platform-sized: 1.08x with 423 OS threads)"), "{said}");
}

#[test]
fn another_baseline_under_the_last_load_is_named() {
    let mut document = documents::demo();
    document.findings.clear();
    let short = answer(&document);
    assert!(short.contains("; with 1,000 clients, 4.70x"), "the same baseline goes without saying: {short}");
    document.experiment.loads[1].only_variants = vec!["platform-sized".to_owned(), "virtual".to_owned()];
    document.comparisons.retain(|it| it.load == "c400" || it.variant == "virtual");
    document.comparisons.last_mut().unwrap().baseline = "platform-sized".to_owned();
    let said = answer(&document);
    assert!(
        said.contains("; with 1,000 clients, virtual has 4.70x the throughput of platform-sized"),
        "{said}"
    );
}

#[test]
fn without_a_ratio_to_the_baseline_the_pairs_that_are_asked_for_are_said_and_else_the_reason() {
    let mut document = with(&[]);
    document.comparisons[0].baseline = "platform-sized".to_owned();
    assert!(
        answer(&document).starts_with("With 400 clients, virtual has 1.98x the throughput of platform-sized"),
        "{}",
        answer(&document)
    );
    document.comparisons.clear();
    assert!(
        answer(&document).starts_with("No ratio: under no load do the baseline"),
        "{}",
        answer(&document)
    );
    document.records.retain(|record| record.variant == "virtual");
    assert_eq!(answer(&document), "Nothing to compare: only one variant has a complete run.");
    document.records.clear();
    assert_eq!(answer(&document), "Nothing to compare: no variant has a complete run.");
}

#[test]
fn a_session_that_the_user_ended_has_its_answer_and_says_that_it_was_interrupted() {
    let mut document = documents::demo();
    let whole = answer(&document);
    document.rounds.truncate(1);
    document.rounds[0].why = RoundsEnd::Interrupted;
    document.records.truncate(8);
    let last = document.records.last_mut().unwrap();
    (last.measured, last.cost) = (None, None);
    (document.trusted, document.why_not) = trust(&document.experiment, &document.records);
    assert!(document.trusted, "{:?}", document.why_not);
    assert_eq!(answer(&document), format!("Interrupted after 7 complete runs. {whole}"));
    let text = terminal(&document, REPORT, STYLE);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("interrupted by the user; it does not count"), "{text}");
    assert!(text.contains("they rest on the runs that were complete"), "{text}");
}

#[test]
fn a_ratio_without_an_interval_says_which_runs_are_missing() {
    let said_of = |runs: (u32, u32)| {
        let mut document = with(&[(Metric::Rate, 2.0, Verdict::NotEnoughRuns)]);
        let rate = &mut document.comparisons[0].ratios[0];
        (rate.interval, rate.runs) = (None, runs);
        answer(&document)
    };
    for (runs, why) in [
        ((1, 1), "one valid run, no interval"),
        ((1, 3), "one valid run of virtual, no interval"),
        ((3, 1), "one valid run of platform, no interval"),
        ((3, 2), "fewer than 2 rounds with a valid run of both, no interval"),
    ] {
        let said = said_of(runs);
        assert!(said.contains(&format!("nconclusive: {why}; virtual has 2.00x")), "{said}");
    }
    let mut document = with(&[]);
    let cell = |document: &ResultDocument| overview(document).tables[0].rows[2].ratio.text();
    for (runs, expected) in [((1, 3), "1.98x (1 run)"), ((3, 2), "1.98x (no interval)")] {
        let rate = &mut document.comparisons[0].ratios[0];
        (rate.interval, rate.runs) = (None, runs);
        assert_eq!(cell(&document), expected);
    }
}

#[test]
fn no_difference_says_how_large_a_one_is_not_ruled_out() {
    let mut document = with(&[(Metric::Rate, 1.0, Verdict::NoDifference)]);
    assert!(answer(&document).contains("the same throughput as platform: 1.00x"), "{}", answer(&document));
    for ratio in &mut document.comparisons[0].ratios {
        ratio.interval = Some(Interval { low: 0.95, high: 1.04, confidence: 0.95 });
    }
    assert!(
        answer(&document).contains("the same throughput as platform within 6 %: 1.00x"),
        "{}",
        answer(&document)
    );
}

#[test]
fn the_sentence_says_two_speeds_what_few_runs_cannot_see_and_what_may_be_chance() {
    let mut document = with(&[(Metric::Rate, 1.05, Verdict::Higher)]);
    let two_speeds =
        TwoSpeeds { variant: "virtual".into(), runs: 5, slower_runs: 1, share_of_runs: 0.2, slow_by: 0.1 };
    let rate = |document: &mut ResultDocument, change: fn(&mut Ratio)| {
        let ratio = document.comparisons[0].ratios.iter_mut().find(|ratio| ratio.metric == Metric::Rate);
        change(ratio.unwrap());
    };
    rate(&mut document, |ratio| ratio.runs = (5, 5));
    rate(&mut document, |ratio| ratio.basis.unseen_share = Some(0.4507));
    document.comparisons[0].ratios[0].basis.two_speeds = vec![two_speeds];
    let said = answer(&document);
    assert!(
        said.contains("; 1 of 5 runs of virtual is 10 % slower; 5 runs each: another speed in up to 45 %"),
        "{said}"
    );
    rate(&mut document, |ratio| ratio.verdict = Verdict::NotEnoughRuns);
    rate(&mut document, |ratio| ratio.basis.withheld = true);
    let said = answer(&document);
    assert!(said.contains("the throughput of platform, which may be chance among all figures"), "{said}");
    assert!(!said.contains("another speed"), "{said}");
}

#[test]
fn the_sentence_says_that_kind_and_number_are_confounded_and_what_would_tell_them_apart() {
    let mut document = with(&[]);
    assert!(!answer(&document).contains("confounded"), "{}", answer(&document));
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
    let said = answer(&document);
    assert!(said.starts_with("Virtual has 1.98x the throughput of platform"), "{said}");
    let doubt = "; kind and number of threads are confounded (200 against 400): add a variant with a platform pool of \
                 400";
    assert!(said.contains(doubt), "{said}");
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
    let text = terminal(&document, REPORT, TerminalStyle { width: 132, ..STYLE });
    assert!(text.contains("memory needed") && text.contains("100 MB"), "{text}");
    assert!(!text.contains("x the memory") && !text.contains("x the resident memory"), "{text}");
}

#[test]
fn a_heap_that_is_needed_is_said() {
    let document = with_live_heap(|variant| if variant == "virtual" { 120_000_000 } else { 20_000_000 });
    let text = terminal(&document, REPORT, TerminalStyle { width: 132, ..STYLE });
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2.00x the memory"), "{text}");
}

#[test]
fn a_busy_compiler_leaves_cpu_per_request_out_of_the_answer() {
    let mut document = documents::demo();
    assert!(terminal(&document, REPORT, STYLE).contains("x the CPU per request"));
    for record in document.records.iter_mut().filter(|record| record.variant == "virtual") {
        record.warm_up = Some(WarmUp { levelled: Some(true), ..WarmUp::default() });
        record.cost = record.cost.map(|cost| Cost { jit_cpu_cores: Some(0.23 * cost.cpu_cores), ..cost });
    }
    document.why_not = trust(&document.experiment, &document.records).1;
    let text = terminal(&document, REPORT, STYLE);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words.contains("x the CPU per request"), "{text}");
    assert!(words.contains("compiler took 23 % of the server's CPU while measuring"), "{text}");
    assert!(words.contains("virtual has 1.98x the throughput"), "{text}");
}
