//! Tests whether the whole procedure keeps its promises: rounds, interim analyses and the rule that ends them. It uses thousands of
//! simulated sessions with known truth, from a fixed seed. Looking often and stopping at a good moment is the classical way to find
//! differences that do not exist; here it must not help.

use super::is_known;
use crate::noise::{Noise, Shape};
use crate::ratio::{paired, unseen_share};
use crate::two_speeds::{Faster, two_speeds};
use threadcount_config::parse;
use threadcount_model::comparison::{Basis, Ratio, Verdict};
use threadcount_model::metric::Metric;

const SESSIONS: u32 = 1_000;
/// The chance of a false verdict that the headline of two variants under one load has on its page.
const CHANCE: f64 = 0.025;

/// The rounds with interim analyses of an experiment with these sizes.
fn looks(sizes: &str, quick: bool) -> Vec<u32> {
    let text = format!(
        "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\nloads: \
            [{{clients: 1, duration: 1s}}]\n{sizes}\n"
    );
    parse("x", "x.yaml", &text, quick).expect("an experiment").loads[0].interim_analyses()
}

fn by_default() -> Vec<u32> {
    looks("", false)
}

fn of_ten() -> Vec<u32> {
    looks("runs: 10", false)
}

/// Two simulated variants on one machine.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    truth: f64,
    shapes: (Shape, Shape),
    /// The standard deviation of the noise that all runs of a round share.
    shared: f64,
    /// The share of single runs from which something else on the machine takes CPU.
    hit: f64,
    /// The share of runs that fail.
    lost: f64,
    /// The budget is used up after this many rounds.
    budget_rounds: u32,
    /// The chance of a false verdict that the headline has on its page.
    chance: f64,
}

impl Scenario {
    fn new(truth: f64, shapes: (Shape, Shape)) -> Self {
        Self { truth, shapes, shared: 0.0, hit: 0.0, lost: 0.0, budget_rounds: u32::MAX, chance: CHANCE }
    }

    fn alike(truth: f64, noise: f64) -> Self {
        Self::new(truth, (Shape::Normal(noise), Shape::Normal(noise)))
    }

    /// The figure of one run, which may be repeated up to `repeats` times; `None` if the run does not count.
    fn run(&self, noise: &mut Noise, truth: f64, shape: Shape, repeats: &mut u32) -> Option<f64> {
        let figure = noise.run(truth, shape);
        if noise.uniform() < self.lost {
            return None;
        }
        if noise.uniform() >= self.hit {
            return Some(figure);
        }
        // A loop on a core for part of the run takes half a core's worth from a server on two cores: 10 to 40 % of its throughput for
        // 0.2 to 0.8 of the run. It is noticed from 15 % of both cores on, 0.3 of the run.
        let of_the_run = 0.2 + 0.6 * noise.uniform();
        if of_the_run <= 0.3 {
            return Some(figure * (1.0 - of_the_run / 2.0));
        }
        if *repeats == 0 {
            return None;
        }
        *repeats -= 1;
        self.run(noise, truth, shape, repeats)
    }
}

/// The ratio of two variants' figures in the same rounds.
fn ratio(figures: &[(f64, f64)], looks: usize) -> Option<Ratio> {
    let (variant, baseline): (Vec<f64>, Vec<f64>) = figures.iter().copied().unzip();
    let estimate = paired(&variant, &baseline, 0.0, looks)?;
    let two_speeds = [
        two_speeds("a", &variant, &baseline, Faster::Higher),
        two_speeds("b", &baseline, &variant, Faster::Higher),
    ];
    Some(Ratio {
        metric: Metric::Rate,
        variant_value: 0.0,
        baseline_value: 0.0,
        ratio: estimate.ratio,
        interval: estimate.interval,
        verdict: estimate.verdict,
        runs: (0, 0),
        basis: Basis {
            paired: true,
            p_value: estimate.p_value,
            withheld: false,
            unseen_share: estimate.interval.and_then(|interval| unseen_share(interval, figures.len())),
            two_speeds: two_speeds.into_iter().flatten().collect(),
            compiler_share: None,
        },
    })
}

/// The end of a session.
struct Outcome {
    rounds: u32,
    /// The verdict on the page: a difference only if its chance allows it.
    verdict: Verdict,
    ratio: Option<Ratio>,
}

type Rule = fn(&Ratio, f64) -> bool;

/// Stops as soon as there is a difference to show: the worst that a user with Ctrl-C could do.
fn eager(ratio: &Ratio, chance: f64) -> bool {
    matches!(on_the_page(ratio, chance), Verdict::Higher | Verdict::Lower)
}

fn on_the_page(ratio: &Ratio, chance: f64) -> Verdict {
    let is_allowed = ratio.basis.p_value.is_some_and(|p_value| p_value <= chance);
    match ratio.verdict {
        Verdict::Higher | Verdict::Lower if !is_allowed => Verdict::NotEnoughRuns,
        verdict => verdict,
    }
}

fn session(noise: &mut Noise, scenario: &Scenario, looks: &[u32], rule: Rule) -> Outcome {
    let mut figures = Vec::new();
    let mut repeats = (2, 2);
    let last = *looks.last().expect("a last look");
    for round in 1.. {
        let of_round = 1_000.0 * (scenario.shared * noise.normal()).exp();
        let variant = scenario.run(noise, of_round * scenario.truth, scenario.shapes.0, &mut repeats.0);
        let baseline = scenario.run(noise, of_round, scenario.shapes.1, &mut repeats.1);
        figures.extend(variant.zip(baseline));
        let is_last = round == last || round == scenario.budget_rounds;
        if is_last || looks.contains(&round) {
            let ratio = ratio(&figures, looks.len());
            let ends = ratio.as_ref().is_some_and(|ratio| rule(ratio, scenario.chance));
            if ends || is_last {
                let verdict = ratio
                    .as_ref()
                    .map_or(Verdict::NotEnoughRuns, |ratio| on_the_page(ratio, scenario.chance));
                return Outcome { rounds: round, verdict, ratio };
            }
        }
    }
    unreachable!("the last look ends it")
}

#[derive(Debug, Default)]
struct Tally {
    higher: u32,
    lower: u32,
    no_difference: u32,
    missed: u32,
    rounds: u32,
    two_speeds: u32,
    no_difference_with_unseen: u32,
}

fn tally(scenario: Scenario, looks: &[u32], rule: Rule) -> Tally {
    let mut noise = Noise::new();
    let mut tally = Tally::default();
    for _ in 0..SESSIONS {
        let outcome = session(&mut noise, &scenario, looks, rule);
        tally.rounds += outcome.rounds;
        match outcome.verdict {
            Verdict::Higher => tally.higher += 1,
            Verdict::Lower => tally.lower += 1,
            Verdict::NoDifference => tally.no_difference += 1,
            Verdict::NotEnoughRuns => {}
        }
        let Some(ratio) = outcome.ratio else { continue };
        let misses = |ratio: &Ratio| {
            ratio.interval.is_some_and(|it| scenario.truth < it.low || scenario.truth > it.high)
        };
        tally.missed += u32::from(misses(&ratio));
        let says_unseen = outcome.verdict == Verdict::NoDifference && ratio.basis.unseen_share.is_some();
        tally.no_difference_with_unseen += u32::from(says_unseen);
        tally.two_speeds += u32::from(!ratio.basis.two_speeds.is_empty());
    }
    report(&scenario, looks, &tally);
    tally
}

/// Prints, with `--nocapture`, the figures in docs/measurements/statistics.md.
fn report(scenario: &Scenario, looks: &[u32], tally: &Tally) {
    let share = |count: u32| 100.0 * f64::from(count) / f64::from(SESSIONS);
    println!(
        "{scenario:?} looks {looks:?}: higher {:.1} % lower {:.1} % no difference {:.1} % missed {:.1} % rounds {:.2} two speeds {:.1} %",
        share(tally.higher),
        share(tally.lower),
        share(tally.no_difference),
        share(tally.missed),
        f64::from(tally.rounds) / f64::from(SESSIONS),
        share(tally.two_speeds),
    );
}

const SHAPES: [(Shape, Shape); 5] = [
    (Shape::Normal(0.01), Shape::Normal(0.01)),
    (Shape::Normal(0.03), Shape::Normal(0.03)),
    (Shape::Normal(0.03), Shape::Normal(0.003)),
    (Shape::Skewed(0.03), Shape::Skewed(0.03)),
    // Most runs of one variant are 1 to 3 % faster than its mean, and some much slower; the other hardly varies.
    (Shape::Skewed(0.03), Shape::Normal(0.003)),
];

#[test]
fn a_session_without_a_difference_cries_wolf_in_at_most_one_of_twenty() {
    let mut broken = Vec::new();
    for looks in [by_default(), looks("runs: 5", false), looks("quick: {runs: 5}", true)] {
        for (shapes, shared) in SHAPES.into_iter().zip([0.0, 0.1, 0.0, 0.0, 0.0]) {
            let tally = tally(Scenario { shared, ..Scenario::new(1.0, shapes) }, &looks, is_known);
            if tally.higher + tally.lower > SESSIONS / 20 {
                broken.push(format!("{looks:?} {shapes:?} {tally:?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn not_even_who_stops_at_the_first_difference_finds_one_too_often() {
    let mut broken = Vec::new();
    for shapes in &SHAPES[1..4] {
        let tally = tally(Scenario::new(1.0, *shapes), &by_default(), eager);
        if tally.higher + tally.lower > SESSIONS / 20 {
            broken.push(format!("{shapes:?} {tally:?}"));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A few runs cannot show slow runs that are still to come. `unseen_share` tells how many there may be.
#[test]
fn who_stops_early_with_rare_slow_runs_against_none_is_a_known_weakness() {
    let tally = tally(Scenario::new(1.0, SHAPES[4]), &by_default(), eager);
    assert!(tally.higher + tally.lower <= SESSIONS * 12 / 100, "{tally:?}");
}

#[test]
fn the_interval_at_the_end_of_a_session_holds_the_truth_in_nineteen_of_twenty() {
    let mut broken = Vec::new();
    for shapes in SHAPES {
        for (shared, lost) in [(0.0, 0.0), (0.1, 0.2)] {
            let scenario = Scenario { shared, lost, ..Scenario::new(1.3, shapes) };
            let tally = tally(scenario, &by_default(), is_known);
            // With skew on one side only this is a known weakness: three fast runs show nothing of the slow ones.
            let at_most = if matches!(shapes, (Shape::Skewed(_), Shape::Normal(_))) { 60 } else { 50 };
            if tally.missed > SESSIONS * at_most / 1_000 {
                broken.push(format!("{scenario:?} {tally:?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn five_per_cent_are_found_in_five_rounds_of_which_each_has_noise_of_ten_per_cent() {
    for truth in [1.05, 1.0 / 1.05] {
        let scenario = Scenario { shared: 0.1, ..Scenario::alike(truth, 0.01) };
        let tally = tally(scenario, &looks("runs: 5\ndrop: 0", false), is_known);
        let (found, other) =
            if truth > 1.0 { (tally.higher, tally.lower) } else { (tally.lower, tally.higher) };
        assert!(found >= SESSIONS * 95 / 100 && other == 0, "{tally:?}");
    }
}

#[test]
fn five_per_cent_are_found_at_two_per_cent_noise_within_ten_rounds() {
    let tally = tally(Scenario::alike(1.05, 0.02), &of_ten(), is_known);
    assert!(tally.higher >= SESSIONS * 9 / 10 && tally.lower == 0, "{tally:?}");
}

#[test]
fn three_per_cent_are_found_in_a_budget_of_ten_rounds_at_one_per_cent_own_and_five_per_cent_shared_noise() {
    for looks in [by_default(), of_ten()] {
        let scenario = Scenario { shared: 0.05, budget_rounds: 10, ..Scenario::alike(1.03, 0.01) };
        let tally = tally(scenario, &looks, is_known);
        assert!(tally.higher >= SESSIONS * 9 / 10 && tally.lower == 0, "{tally:?}");
    }
}

#[test]
fn twice_as_fast_is_found_after_three_rounds_even_in_noise_of_three_per_cent() {
    let tally = tally(Scenario::alike(2.0, 0.03), &by_default(), is_known);
    assert!(tally.higher >= SESSIONS * 99 / 100, "{tally:?}");
    assert!(tally.rounds <= SESSIONS * 31 / 10, "{tally:?}");
}

#[test]
fn twice_as_fast_is_found_on_a_page_of_four_comparisons_in_three_quick_rounds_and_often_not_in_two() {
    for (noise, budget_rounds, least) in [(0.01, 3, 99), (0.03, 3, 90), (0.01, 2, 50)] {
        let scenario = Scenario { budget_rounds, chance: CHANCE / 4.0, ..Scenario::alike(2.0, noise) };
        let tally = tally(scenario, &looks("quick: {runs: 4}", true), is_known);
        assert!(tally.higher >= SESSIONS * least / 100 && tally.lower == 0, "{tally:?}");
    }
}

#[test]
fn two_identical_variants_are_called_alike() {
    for (noise, shared, sizes, quick) in [
        (0.003, 0.0, "quick: {runs: 5}", true),
        (0.01, 0.05, "quick: {runs: 5}", true),
        (0.01, 0.1, "runs: 10", false),
        (0.03, 0.0, "runs: 10", false),
    ] {
        let scenario = Scenario { shared, ..Scenario::alike(1.0, noise) };
        let tally = tally(scenario, &looks(sizes, quick), is_known);
        assert!(tally.no_difference >= SESSIONS * 19 / 20, "{noise:?} {sizes} {tally:?}");
    }
}

#[test]
fn identical_variants_beside_a_busy_loop_that_comes_and_goes_never_differ_and_are_mostly_called_alike() {
    for (hit, shared, budget_rounds, alike) in
        [(0.3, 0.0, 15, 80), (0.2, 0.05, 15, 80), (0.2, 0.05, 11, 80), (0.2, 0.05, 6, 60)]
    {
        let scenario = Scenario { hit, shared, budget_rounds, ..Scenario::alike(1.0, 0.01) };
        let tally = tally(scenario, &by_default(), is_known);
        assert!(tally.higher + tally.lower <= SESSIONS / 200, "{tally:?}");
        assert!(tally.no_difference >= SESSIONS * alike / 100, "{tally:?}");
    }
}

/// Both variants have the same mean, but one run in five of one variant is slower: four in five are faster than the mean, and sessions
/// that see no slow run believe them.
#[test]
fn a_second_speed_that_makes_up_for_the_others_is_called_a_difference_in_at_most_one_of_twenty_sessions() {
    let mut broken = Vec::new();
    for slower in [0.1, 0.3] {
        for noise in [0.003, 0.005, 0.01] {
            let shapes = (Shape::TwoSpeeds { noise, slower }, Shape::Normal(noise));
            let tally = tally(Scenario::new(1.0, shapes), &by_default(), is_known);
            if tally.higher + tally.lower > SESSIONS / 20 {
                broken.push(format!("{slower} {noise} {tally:?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A session that ends early with "no difference" has not seen the slow runs that are still to come.
#[test]
fn no_difference_before_a_second_speed_was_seen_is_a_known_weakness_and_the_ratio_says_what_is_unseen() {
    for (slower, noise) in [(0.1_f64, 0.005), (0.3, 0.003), (0.3, 0.01)] {
        let shapes = (Shape::TwoSpeeds { noise, slower }, Shape::Normal(noise));
        let mean = (1.0 - slower).powf(0.2);
        let tally = tally(Scenario::new(mean, shapes), &by_default(), is_known);
        assert!(tally.higher == 0 && tally.missed <= SESSIONS / 2, "{tally:?}");
        assert_eq!(tally.no_difference, tally.no_difference_with_unseen, "{tally:?}");
    }
}
