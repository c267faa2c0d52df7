//! Tests whether the intervals of a single analysis keep their promises, in thousands of simulated experiments with known truth, from a
//! fixed seed. Whole sessions are in `stats/decided/simulation.rs`.

use super::interval::BOOTSTRAP_FROM;
use super::{Estimate, paired, unpaired};
use crate::noise::{Noise, Shape};
use threadcount_model::comparison::Verdict;

const EXPERIMENTS: u32 = 2_000;

type Method = fn(&[f64], &[f64], f64) -> Option<Estimate>;
/// The methods for rounds of one session and for runs of two sessions.
const METHODS: [Method; 2] = [|variant, baseline, step| paired(variant, baseline, step, 1), unpaired];

/// Number of experiments that find a difference: (higher, lower, none).
fn found(
    method: Method,
    truth: f64,
    noises: (f64, f64),
    runs: usize,
    step: f64,
    round_to: impl Fn(f64) -> f64,
) -> (u32, u32, u32) {
    let mut noise = Noise::new();
    let mut found = (0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let variant: Vec<f64> =
            noise.runs(truth, Shape::Normal(noises.0), runs).into_iter().map(&round_to).collect();
        let baseline: Vec<f64> =
            noise.runs(1_000.0, Shape::Normal(noises.1), runs).into_iter().map(&round_to).collect();
        match method(&variant, &baseline, step).map(|estimate| estimate.verdict) {
            Some(Verdict::Higher) => found.0 += 1,
            Some(Verdict::Lower) => found.1 += 1,
            Some(Verdict::NoDifference) => found.2 += 1,
            Some(Verdict::NotEnoughRuns) | None => {}
        }
    }
    found
}

/// 5 % of the experiments and three standard deviations of their binomial distribution.
fn at_most_false() -> u32 {
    let n = f64::from(EXPERIMENTS);
    (0.05 * n + 3.0 * (n * 0.05 * 0.95).sqrt()) as u32
}

#[test]
fn without_a_difference_wolf_is_cried_in_at_most_one_of_twenty_experiments() {
    for runs in [2, 3, 5, 7] {
        for noises in [(0.01, 0.01), (0.05, 0.05), (0.001, 0.001), (0.002, 0.03)] {
            for method in METHODS {
                let (higher, lower, _) = found(method, 1_000.0, noises, runs, 0.0, |figure| figure);
                assert!(
                    higher + lower <= at_most_false(),
                    "{runs} runs, noise {noises:?}: {higher} + {lower}"
                );
            }
        }
    }
}

#[test]
fn rounding_to_whole_threads_does_not_cry_wolf_either() {
    for runs in [2, 3, 5] {
        // 1,000 becomes 31.25, so that rounding hides most of 1 % noise.
        for method in METHODS {
            let rounded = |figure: f64| (figure / 32.0).round();
            let (higher, lower, _) = found(method, 1_000.0, (0.01, 0.01), runs, 1.0, rounded);
            assert!(higher + lower <= at_most_false(), "{runs} runs: {higher} + {lower}");
        }
    }
}

#[test]
fn five_per_cent_are_found_with_five_runs_at_one_per_cent_noise() {
    let (higher, lower, _) = found(METHODS[0], 1_050.0, (0.01, 0.01), 5, 0.0, |figure| figure);
    assert!(higher >= EXPERIMENTS * 9 / 10, "{higher}");
    assert_eq!(lower, 0);
    let (_, lower, _) = found(METHODS[0], 950.0, (0.01, 0.01), 5, 0.0, |figure| figure);
    assert!(lower >= EXPERIMENTS * 9 / 10, "{lower}");
}

#[test]
fn five_per_cent_under_ten_per_cent_of_shared_noise_are_found_by_pairs_and_not_without() {
    let mut noise = Noise::new();
    let mut found = [0; 2];
    for _ in 0..EXPERIMENTS {
        let rounds = noise.runs(1_000.0, Shape::Normal(0.1), 5);
        let mut variant = |truth: f64| -> Vec<f64> {
            rounds.iter().map(|&round| noise.run(round * truth, Shape::Normal(0.01))).collect()
        };
        let (faster, baseline) = (variant(1.05), variant(1.0));
        for (found, method) in found.iter_mut().zip(METHODS) {
            let estimate = method(&faster, &baseline, 0.0);
            *found += u32::from(estimate.is_some_and(|estimate| estimate.verdict == Verdict::Higher));
        }
    }
    println!("in pairs {} and without {} of {EXPERIMENTS}", found[0], found[1]);
    assert!(found[0] >= EXPERIMENTS * 95 / 100 && found[1] <= EXPERIMENTS / 20, "{found:?}");
}

#[test]
fn equal_variants_are_called_equal_at_one_per_cent_noise_with_seven_runs() {
    let (_, _, none) = found(METHODS[0], 1_000.0, (0.01, 0.01), 7, 0.0, |figure| figure);
    assert!(none >= EXPERIMENTS * 8 / 10, "{none}");
}

#[test]
fn a_difference_is_not_called_smaller_than_it_is() {
    let mut noise = Noise::new();
    let mut too_small = 0;
    for _ in 0..EXPERIMENTS {
        let (variant, baseline) =
            (noise.runs(1_050.0, Shape::Normal(0.01), 3), noise.runs(1_000.0, Shape::Normal(0.01), 3));
        let estimate = paired(&variant, &baseline, 0.0, 1).expect("an estimate");
        let largest = estimate.interval.expect("an interval").largest_difference();
        too_small += u32::from(estimate.verdict == Verdict::NoDifference && largest < 0.05);
    }
    assert!(too_small <= EXPERIMENTS / 40, "{too_small}");
}

/// Number of experiments whose interval misses the truth: (too low, too high).
fn missed(variant: Shape, baseline: Shape, runs: usize) -> (u32, u32) {
    let mut noise = Noise::new();
    let mut missed = (0, 0);
    for _ in 0..EXPERIMENTS {
        let figures = (noise.runs(1_200.0, variant, runs), noise.runs(1_000.0, baseline, runs));
        let interval = unpaired(&figures.0, &figures.1, 0.0).and_then(|estimate| estimate.interval);
        let interval = interval.expect("an interval");
        missed.0 += u32::from(interval.high < 1.2);
        missed.1 += u32::from(interval.low > 1.2);
    }
    missed
}

#[test]
fn eight_skewed_runs_of_two_sessions_keep_the_promise_and_twelve_where_one_side_alone_is_skewed() {
    let mut broken = Vec::new();
    let (even, skewed) = (Shape::Normal(0.005), Shape::Skewed(0.03));
    for (runs, pairs) in [
        (BOOTSTRAP_FROM, vec![(Shape::Normal(0.03), Shape::Normal(0.03)), (skewed, skewed)]),
        (12, vec![(skewed, skewed), (skewed, even)]),
    ] {
        for (variant, baseline) in pairs {
            let (below, above) = missed(variant, baseline, runs);
            if below + above > at_most_false() {
                broken.push(format!("{runs} runs, {variant:?}, {baseline:?}: {below} + {above}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
