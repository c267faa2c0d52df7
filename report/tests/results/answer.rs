//! The sentences of the answer: what is better, what is also worse, and what is not decided.

use crate::documents;
use crate::view::{REPORT, STYLE};
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Verdict};
use threadcount_model::doubt::{Doubt, DoubtReason, TrustGrade};
use threadcount_model::experiment::{LoadKind, LoadSpec};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_model::rounds::RoundsEnd;
use threadcount_report::terminal::terminal;
use threadcount_report::view::answer::answer;
use threadcount_report::view::view;
use threadcount_stats::trust::trust;

pub(super) fn answer_text(document: &ResultDocument) -> String {
    answer(document).join(" ")
}

/// The demo's first load, with these ratios and verdicts for virtual.
pub(super) fn with(changes: &[(Metric, f64, Verdict)]) -> ResultDocument {
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
    assert!(!answer_text(&unproven).contains("But"), "{}", answer_text(&unproven));
}

/// A variant with its throughput and p99 under a load.
type Figures<'a> = (&'a str, [(Metric, f64, Verdict); 2]);

/// The answer of the demo under 100, 200, 400 and 800 clients, with these figures of the best variant under each.
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
    answer_text(&document)
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
            "A trade. {ends} But virtual has 0.50x the throughput with 400 clients. But virtual has 1.00x the throughput with 200 clients."
        )
    );
    assert_eq!(
        under_four_loads(&[better, better, tail(1.8), better]),
        format!("A trade. {ends} But virtual has 2.00x the throughput and 1.80x the p99 with 400 clients.")
    );
    // Look-alikes: as at both ends; not decided; from better to worse through no difference; a tail that the answer already contains.
    let yes = format!("Yes. {ends}");
    assert_eq!(under_four_loads(&[better, of(3.0, Higher), better, better]), yes);
    assert_eq!(under_four_loads(&[better, of(0.9, NotEnoughRuns), better, better]), yes);
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

/// The demo's first load, with these throughput ratios to platform.
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
    let better = ("platform-sized", 1.08, [1.05, 1.11], Higher);
    let wins = "platform-sized has 1.08x the throughput of platform with 400 clients.";
    let of = |rates| answer(&with_rates(rates));
    let same = "Not known yet. virtual has the same throughput as platform within 10 % with 400 clients.";
    assert_eq!(of([better, ("virtual", 1.04, [0.99, 1.09], NoDifference)]), [same, wins], "fewer OS threads");
    let larger = ("virtual", 1.085, [0.99, 1.09], NoDifference);
    assert_eq!(of([better, larger]), [same, wins], "the larger figure");
    // Both are better, and their intervals overlap.
    assert_eq!(
        of([better, ("virtual", 1.07, [1.04, 1.10], Higher)]),
        [
            "Yes. virtual has 1.07x the throughput of platform with 400 clients.",
            "With 400 clients, platform-sized has as much (1.08x), with 423 OS threads; virtual has 27."
        ],
        "the fewest OS threads"
    );
}

#[test]
fn a_variant_is_said_to_have_as_much_where_the_intervals_leave_no_room_for_a_difference() {
    use Verdict::Higher;
    let virtual_threads = ("virtual", 4.83, [4.75, 4.90], Higher);
    let lines = |sized| {
        let document = with_rates([("platform-sized", 4.60, sized, Higher), virtual_threads]);
        answer(&document)
    };
    let narrow = lines([4.46, 4.76]);
    assert!(narrow[1].contains("platform-sized has as much (4.60x)"), "{narrow:?}");
    for wide in [[4.24, 4.98], [2.93, 6.18]] {
        assert_eq!(lines(wide), ["Yes. virtual has 4.83x the throughput of platform with 400 clients."]);
    }
    // The best variant may be the one with the wide interval.
    let best = with_rates([("platform-sized", 5.4, [2.93, 6.18], Higher), virtual_threads]);
    assert_eq!(answer(&best), ["Yes. virtual has 4.83x the throughput of platform with 400 clients."]);
}

#[test]
fn a_variant_that_does_as_well_under_both_loads_has_one_sentence() {
    let mut document = documents::demo();
    document.findings.clear();
    let of = |document: &ResultDocument, variant: &str, load: &str| {
        document.comparisons.iter().position(|it| it.variant == variant && it.load == load).unwrap()
    };
    let best = of(&document, "virtual", "c1000");
    let mut equal = document.comparisons[of(&document, "platform-sized", "c400")].clone();
    equal.load = "c1000".to_owned();
    equal.ratios[0] = document.comparisons[best].ratios[0].clone();
    equal.ratios[0].ratio = 4.5;
    document.comparisons.retain(|it| it.variant != "platform-sized" || it.load != "c1000");
    document.comparisons.push(equal);
    let sentence = "platform-sized has as much with 400 clients (1.97x) and with 1,000 clients (4.50x), \
                    with 423 OS threads; virtual has 27.";
    assert_eq!(answer(&document)[1], sentence);
    let lower = &mut document.comparisons.last_mut().unwrap().ratios[0];
    (lower.ratio, lower.interval) = (3.0, Some(Interval { low: 2.9, high: 3.1, confidence: 0.95 }));
    assert!(!answer_text(&document).contains("1,000 clients (3.00x)"), "it is not near");
}

#[test]
fn another_baseline_under_the_last_load_is_named() {
    let mut document = documents::demo();
    document.findings.clear();
    let short = answer_text(&document);
    assert!(
        short.contains(", and 4.70x with 1,000 clients."),
        "the same baseline goes without saying: {short}"
    );
    document.experiment.loads[1].only_variants = vec!["platform-sized".to_owned(), "virtual".to_owned()];
    document.comparisons.retain(|it| it.load == "c400" || it.variant == "virtual");
    document.comparisons.last_mut().unwrap().baseline = "platform-sized".to_owned();
    let named = answer_text(&document);
    assert!(
        named.contains(" virtual has 4.70x the throughput of platform-sized with 1,000 clients."),
        "{named}"
    );
}

#[test]
fn without_a_ratio_to_the_baseline_the_pairs_that_are_asked_for_are_said_and_else_the_reason() {
    let mut document = with(&[]);
    document.comparisons[0].baseline = "platform-sized".to_owned();
    assert_eq!(
        answer_text(&document),
        "virtual has 1.98x the throughput of platform-sized with 400 clients."
    );
    document.comparisons.clear();
    assert!(
        answer_text(&document).starts_with("No ratio: under no load do the baseline"),
        "{}",
        answer_text(&document)
    );
    document.records.retain(|record| record.variant == "virtual");
    assert_eq!(answer_text(&document), "Nothing to compare: only one variant has a complete run.");
    document.records.clear();
    assert_eq!(answer_text(&document), "Nothing to compare: no variant has a complete run.");
}

#[test]
fn a_session_that_the_user_ended_has_its_answer_and_says_that_it_was_interrupted() {
    let mut document = documents::demo();
    let whole = answer_text(&document);
    document.rounds.truncate(1);
    document.rounds[0].why = RoundsEnd::Interrupted;
    document.records.truncate(8);
    let last = document.records.last_mut().unwrap();
    (last.measured, last.cost) = (None, None);
    (document.trusted, document.why_not) = trust(&document.experiment, &document.records);
    assert!(document.trusted, "{:?}", document.why_not);
    assert_eq!(answer_text(&document), format!("Interrupted after 7 complete runs. {whole}"));
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
        answer_text(&document)
    };
    for (runs, why) in [
        ((1, 1), "one valid run"),
        ((1, 3), "one valid run of virtual"),
        ((3, 1), "one valid run of platform"),
        ((3, 2), "fewer than 2 rounds with a valid run of both"),
    ] {
        let expected =
            format!("Not known yet, {why}: virtual has 2.00x the throughput of platform with 400 clients.");
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
    let times = "0.50x the median response time and 0.38x the p99";
    assert_eq!(
        answer_text(&document),
        format!("Yes. virtual has the same throughput as platform, {times} with 400 clients.")
    );
    document.comparisons[0].ratios[0].interval = Some(Interval { low: 0.95, high: 1.04, confidence: 0.95 });
    assert_eq!(
        answer_text(&document),
        format!("Yes. virtual has the same throughput as platform within 6 %, {times} with 400 clients.")
    );
}

#[test]
fn a_serious_doubt_takes_the_verdict_from_the_comparisons_that_it_is_about_and_from_no_other() {
    let mut document = documents::demo();
    document.trusted = false;
    let overflow = DoubtReason::AcceptQueueOverflow { overflows: 48 };
    let doubt = |load: &str| Doubt {
        variant: "virtual".to_owned(),
        load: load.to_owned(),
        runs: 1,
        reason: overflow.clone(),
    };
    let loads: Vec<String> = document.experiment.loads.iter().map(|load| load.name.clone()).collect();
    document.why_not = vec![doubt(&loads[1])];
    let shown = view(&document);
    let answer = shown.answer.join(" ");
    assert_eq!((shown.no_verdict.is_none(), shown.trust.grade), (true, TrustGrade::Poor));
    assert!(answer.contains("the throughput of platform with 400 clients"), "{answer}");
    assert!(answer.contains("No verdict on virtual with 1,000 clients: "), "{answer}");
    assert!(
        !answer.starts_with("Not known yet"),
        "connections that were accepted late did not fail: {answer}"
    );
    document.why_not = loads.iter().map(|load| doubt(load)).collect();
    document.comparisons.retain(|it| it.variant == "virtual");
    assert!(view(&document).no_verdict.is_some(), "nothing is left");
}

#[test]
fn a_pool_that_does_as_well_as_virtual_threads_makes_it_only_the_number_of_threads() {
    let mut document = documents::demo();
    document.experiment.loads.truncate(1);
    document.comparisons.retain(|it| it.load == "c400");
    let word = |document: &ResultDocument| answer_text(document).split(". ").next().unwrap().to_owned();
    assert_eq!(word(&document), "Yes");
    let interval = |low, high| Some(Interval { low, high, confidence: 0.95 });
    let mut direct = document.comparisons.iter().find(|it| it.variant == "virtual").unwrap().clone();
    direct.baseline = "platform-sized".to_owned();
    let against_the_pool = |rate, p99: f64| {
        let mut direct = direct.clone();
        direct.ratios.retain(|it| [Metric::Rate, Metric::P50, Metric::P99].contains(&it.metric));
        for ratio in &mut direct.ratios {
            (ratio.ratio, ratio.interval) = match ratio.metric {
                Metric::Rate => (1.0, rate),
                Metric::P99 => (p99, None),
                _ => (1.0, None),
            };
        }
        let mut document = document.clone();
        document.comparisons.push(direct);
        word(&document)
    };
    assert_eq!(against_the_pool(interval(0.97, 1.03), 1.0), "Only the number of threads");
    assert_eq!(
        against_the_pool(interval(0.85, 0.95), 1.0),
        "Only the number of threads",
        "the pool is better"
    );
    assert_eq!(against_the_pool(interval(0.97, 1.03), 0.80), "Yes", "its p99 is longer");
    assert_eq!(against_the_pool(interval(0.97, 1.10), 1.0), "Yes", "virtual threads may be better");
}

#[test]
fn the_answer_is_about_virtual_threads_and_a_better_variant_comes_after_it() {
    use Verdict::{Higher, Lower};
    let better = ("platform-sized", 1.30, [1.28, 1.32], Higher);
    let document = with_rates([better, ("virtual", 0.81, [0.79, 0.83], Lower)]);
    assert_eq!(
        answer(&document),
        [
            "No. virtual has 0.81x the throughput of platform with 400 clients.",
            "platform-sized has 1.30x the throughput of platform with 400 clients."
        ]
    );
}
