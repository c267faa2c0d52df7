//! Verdicts of a page: Holm's procedure by hand, and thousands of simulated pages.

use super::*;
use crate::noise::{Noise, Shape};
use crate::ratio::paired;
use threadcount_config::parse;

const PAGES: u32 = 1_000;

fn experiment(variants: &str, loads: &str) -> Experiment {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{{variants}}}\nloads: [{loads}]\n"
    );
    parse("x", "x.yaml", &text, false).expect("an experiment")
}

fn two() -> Experiment {
    experiment("a: {}, b: {}", "{clients: 4, duration: 1s}")
}

fn ratio(metric: Metric, p_value: Option<f64>, verdict: Verdict) -> Ratio {
    let basis = Basis { p_value, ..Basis::default() };
    Ratio {
        metric,
        variant_value: 1.0,
        baseline_value: 1.0,
        ratio: 1.0,
        interval: None,
        verdict,
        runs: (5, 5),
        basis,
    }
}

fn comparison(variant: &str, ratios: Vec<Ratio>) -> Comparison {
    Comparison {
        variant: variant.to_owned(),
        baseline: "a".to_owned(),
        load: "c4".to_owned(),
        ratios,
        differences: Vec::new(),
    }
}

fn words(p_values: &[(Metric, f64)]) -> Vec<bool> {
    let ratios = p_values.iter().map(|&(metric, p)| ratio(metric, Some(p), Verdict::Higher)).collect();
    let mut compared = vec![comparison("b", ratios)];
    judge(&two(), &mut compared);
    let has_word = |ratio: &Ratio| {
        assert_eq!(ratio.basis.withheld, ratio.verdict == Verdict::NotEnoughRuns);
        ratio.verdict == Verdict::Higher
    };
    compared[0].ratios.iter().map(has_word).collect()
}

#[test]
fn the_words_are_those_of_holms_weighted_procedure_by_hand() {
    // Weights 0.5 for the rate, 0.15 each for p50 and p99, 0.2 for the maximum: their sum is 1.
    let page = |rate, p50, p99, max| {
        words(&[(Metric::Rate, rate), (Metric::P50, p50), (Metric::P99, p99), (Metric::Max, max)])
    };
    assert_eq!(page(0.024, 0.9, 0.9, 0.9), [true, false, false, false], "0.05 x 0.5 = 0.025");
    assert_eq!(page(0.026, 0.9, 0.9, 0.9), [false; 4]);
    assert_eq!(page(0.9, 0.007, 0.9, 0.9), [false, true, false, false], "0.05 x 0.15 = 0.0075");
    assert_eq!(page(0.9, 0.008, 0.9, 0.9), [false; 4]);
    // With the rate rejected, 0.15 / 0.5 of 0.05 are left for p50: 0.015; then 0.15 / 0.35 for p99: 0.0214; then all for max.
    assert_eq!(page(0.001, 0.014, 0.021, 0.049), [true; 4]);
    assert_eq!(page(0.001, 0.016, 0.021, 0.049), [true, false, false, false]);
    assert_eq!(page(0.001, 0.014, 0.022, 0.049), [true, true, false, false]);
}

#[test]
fn a_planned_comparison_keeps_its_share_before_it_is_measured() {
    let three = experiment("a: {}, b: {}, c: {}", "{clients: 4, duration: 1s}");
    let judged = |p_value| {
        let mut compared = vec![comparison("b", vec![ratio(Metric::Rate, Some(p_value), Verdict::Lower)])];
        judge(&three, &mut compared);
        compared[0].ratios[0].verdict
    };
    // There is no other figure: the headline's half is all there is, in two equal parts.
    assert_eq!((judged(0.024), judged(0.026)), (Verdict::Lower, Verdict::NotEnoughRuns));
    let chance = chance_of_a_headline(&three);
    assert!((chance - 0.0125).abs() < 1e-12, "{chance}: and half of it whatever else is measured");
}

#[test]
fn a_pair_that_may_tell_the_kind_from_the_number_has_a_share_of_its_own() {
    let chance = |sized: &str| {
        let variants = format!("a: {{}}, {sized}, c: {{threads: virtual}}");
        chance_of_a_headline(&experiment(&variants, "{clients: 4, duration: 1s}"))
    };
    let near = |chance: f64, figures: f64| (chance - 0.025 / figures).abs() < 1e-12;
    assert!(near(chance("b: {}"), 2.0), "b and c against a");
    assert!(near(chance("b: {threads: {platform: clients}}"), 3.0), "and c against b");
    assert!(near(chance("b: {threads: {platform: clients}, compare_with: c}"), 4.0), "and c against b");
}

#[test]
fn a_figure_that_cannot_have_a_word_takes_no_weight_from_those_that_can() {
    let judged = |p50: f64, cpu: Option<f64>, max: Option<f64>| {
        let mut compared = vec![comparison(
            "b",
            vec![
                ratio(Metric::Rate, Some(0.9), Verdict::Higher),
                ratio(Metric::P50, Some(p50), Verdict::Higher),
                ratio(Metric::CpuPerRequest, cpu, Verdict::NotEnoughRuns),
                ratio(Metric::Max, max, Verdict::NotEnoughRuns),
            ],
        )];
        judge(&two(), &mut compared);
        compared[0].ratios[1].verdict
    };
    use Verdict::{Higher, NotEnoughRuns};
    // The comparison was measured but has no p-value: the median gets all three tenths of the tables, of 0.8 or of 1.
    assert_eq!(judged(0.018, None, None), Higher, "0.05 x 0.3 / 0.8 = 0.0187");
    assert_eq!(judged(0.019, None, None), NotEnoughRuns);
    assert_eq!(judged(0.0149, None, Some(0.9)), Higher, "0.05 x 0.3 = 0.015");
    assert_eq!(judged(0.0151, None, Some(0.9)), NotEnoughRuns);
    // A figure that was not found to differ could have had a verdict.
    assert_eq!(judged(0.0074, Some(0.9), Some(0.9)), Higher, "0.05 x 0.15 = 0.0075");
    assert_eq!(judged(0.0076, Some(0.9), Some(0.9)), NotEnoughRuns);
}

#[test]
fn no_difference_stays_and_what_has_no_interval_has_no_word() {
    let mut compared = vec![comparison(
        "b",
        vec![
            ratio(Metric::Rate, Some(0.7), Verdict::NoDifference),
            ratio(Metric::P50, None, Verdict::Higher),
        ],
    )];
    judge(&two(), &mut compared);
    let verdicts: Vec<Verdict> = compared[0].ratios.iter().map(|ratio| ratio.verdict).collect();
    assert_eq!(verdicts, [Verdict::NoDifference, Verdict::NotEnoughRuns]);
}

/// Number of pages with a verdict before and after Holm's procedure: 24 metrics of each of three variants against a fourth, in `rounds`
/// rounds, with noise that the metrics of a run share.
fn pages_with_a_word(rounds: usize, shared: f64, shape: Shape) -> (u32, u32) {
    let four = experiment("a: {}, b: {}, c: {}, d: {}", "{clients: 4, duration: 1s}");
    let metrics = &Metric::ALL[..24];
    let mut noise = Noise::new();
    let (mut before, mut with_a_word) = (0, 0);
    for _ in 0..PAGES {
        let runs: Vec<Vec<f64>> = (0..4).map(|_| noise.runs(1.0, Shape::Normal(shared), rounds)).collect();
        let mut compared: Vec<Comparison> =
            ["b", "c", "d"].map(|variant| comparison(variant, Vec::new())).into();
        for &metric in metrics {
            let figures: Vec<Vec<f64>> =
                runs.iter().map(|of| of.iter().map(|&run| noise.run(run, shape)).collect()).collect();
            for (variant, comparison) in compared.iter_mut().enumerate() {
                let estimate = paired(&figures[variant + 1], &figures[0], 0.0, 1).expect("an estimate");
                comparison.ratios.push(ratio(metric, estimate.p_value, estimate.verdict));
            }
        }
        let is_word = |ratio: &Ratio| matches!(ratio.verdict, Verdict::Higher | Verdict::Lower);
        let has_a_word = |of: &[Comparison]| u32::from(of.iter().flat_map(|it| &it.ratios).any(is_word));
        before += has_a_word(&compared);
        judge(&four, &mut compared);
        with_a_word += has_a_word(&compared);
    }
    println!(
        "{rounds} rounds, {shape:?}, shared {shared}: {before}, then {with_a_word} of {PAGES} pages hold a word"
    );
    (before, with_a_word)
}

#[test]
fn of_pages_with_72_figures_without_a_difference_at_most_one_in_twenty_holds_a_word() {
    // 5 % and three standard deviations of the binomial distribution: the figures are independent, and Holm uses all of the 5 %.
    let at_most = (0.05 * f64::from(PAGES) + 3.0 * (0.05 * 0.95 * f64::from(PAGES)).sqrt()) as u32;
    for (rounds, shared) in [(3, 0.0), (5, 0.0), (5, 0.03), (15, 0.0)] {
        let (before, with_a_word) = pages_with_a_word(rounds, shared, Shape::Normal(0.03));
        assert!(with_a_word <= at_most, "{rounds} rounds: {with_a_word}");
        assert!(before > PAGES / 2, "each figure on its own: {before}");
    }
    let (_, with_a_word) = pages_with_a_word(5, 0.0, Shape::Skewed(0.03));
    assert!(with_a_word <= at_most, "skewed: {with_a_word}");
}

/// Applies Holm's procedure to two variants' ratios in two sessions: the rate and one more figure of each.
fn words_of_sessions(p_values: [f64; 4]) -> Vec<bool> {
    let load = two().loads[0].workload;
    let of = |rate, p50| {
        [(Metric::Rate, rate), (Metric::P50, p50)]
            .map(|(metric, p)| ratio(metric, Some(p), Verdict::Lower))
            .to_vec()
    };
    let mut changed = [of(p_values[0], p_values[1]), of(p_values[2], p_values[3])];
    judge_sessions(changed.iter_mut().map(|ratios| (load, ratios)));
    changed.iter().flatten().map(|ratio| ratio.verdict == Verdict::Lower).collect()
}

#[test]
fn ratios_of_two_sessions_get_their_words_from_the_same_procedure() {
    // Weights 0.25 for each rate, 0.15 for each median: their sum is 0.8.
    assert_eq!(
        words_of_sessions([0.015, 0.9, 0.9, 0.9]),
        [true, false, false, false],
        "0.05 x 0.25 / 0.8 = 0.0156"
    );
    assert_eq!(words_of_sessions([0.016, 0.9, 0.9, 0.9]), [false; 4]);
    assert_eq!(
        words_of_sessions([0.001, 0.9, 0.9, 0.013]),
        [true, false, false, true],
        "0.05 x 0.15 / 0.55 = 0.0136"
    );
}

#[test]
fn of_results_compared_without_a_difference_at_most_one_in_twenty_holds_a_word() {
    let load = two().loads[0].workload;
    let at_most = (0.05 * f64::from(PAGES) + 3.0 * (0.05 * 0.95 * f64::from(PAGES)).sqrt()) as u32;
    for runs in [3, 5] {
        let mut noise = Noise::new();
        let (mut before, mut with_a_word) = (0, 0);
        for _ in 0..PAGES {
            let mut changed: Vec<Vec<Ratio>> = (0..4)
                .map(|_| {
                    let mut one = |metric: &Metric| {
                        let [a, b] = [0, 1].map(|_| noise.runs(1.0, Shape::Normal(0.03), runs));
                        let estimate = crate::ratio::unpaired(&a, &b, 0.0).expect("an estimate");
                        ratio(*metric, estimate.p_value, estimate.verdict)
                    };
                    Metric::ALL[..12].iter().map(&mut one).collect()
                })
                .collect();
            let has_a_word = |all: &[Vec<Ratio>]| {
                let is_word = |it: &Ratio| matches!(it.verdict, Verdict::Higher | Verdict::Lower);
                u32::from(all.iter().flatten().any(is_word))
            };
            before += has_a_word(&changed);
            judge_sessions(changed.iter_mut().map(|ratios| (load, ratios)));
            with_a_word += has_a_word(&changed);
        }
        println!(
            "{runs} runs: {before}, then {with_a_word} of {PAGES} comparisons of two results hold a word"
        );
        assert!(with_a_word <= at_most && before > PAGES / 2, "{before}, then {with_a_word}");
    }
}
