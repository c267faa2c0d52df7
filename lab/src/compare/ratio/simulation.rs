//! Does the method keep its promises? Thousands of made-up experiments with known truth, from a fixed seed.

use super::ratio;
use crate::result::Verdict;

const EXPERIMENTS: u32 = 2_000;

/// SplitMix64 (Steele, Lea & Flood 2014) and the Box-Muller transform: enough for a test, and the same for ever.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    /// Figures of some runs around a truth, with log-normal noise.
    fn runs(&mut self, truth: f64, noise: f64, runs: usize) -> Vec<f64> {
        (0..runs).map(|_| truth * (noise * self.normal()).exp()).collect()
    }
}

/// How many of the experiments find a difference: (higher, lower, none).
fn found(
    truth: f64,
    noises: (f64, f64),
    runs: usize,
    step: f64,
    round_to: impl Fn(f64) -> f64,
) -> (u32, u32, u32) {
    let mut noise = Noise(20_240_205);
    let mut found = (0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let variant: Vec<f64> = noise.runs(truth, noises.0, runs).into_iter().map(&round_to).collect();
        let baseline: Vec<f64> = noise.runs(1_000.0, noises.1, runs).into_iter().map(&round_to).collect();
        match ratio(&variant, &baseline, step).map(|estimate| estimate.verdict) {
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
            let (higher, lower, _) = found(1_000.0, noises, runs, 0.0, |figure| figure);
            assert!(higher + lower <= at_most_false(), "{runs} runs, noise {noises:?}: {higher} + {lower}");
        }
    }
}

#[test]
fn rounding_to_whole_threads_does_not_cry_wolf_either() {
    for runs in [2, 3, 5] {
        // 1,000 becomes 31.25, so that rounding hides most of 1 % noise.
        let (higher, lower, _) = found(1_000.0, (0.01, 0.01), runs, 1.0, |figure| (figure / 32.0).round());
        assert!(higher + lower <= at_most_false(), "{runs} runs: {higher} + {lower}");
    }
}

#[test]
fn five_per_cent_are_found_with_five_runs_at_one_per_cent_noise() {
    let (higher, lower, _) = found(1_050.0, (0.01, 0.01), 5, 0.0, |figure| figure);
    assert!(higher >= EXPERIMENTS * 9 / 10, "{higher}");
    assert_eq!(lower, 0);
    let (_, lower, _) = found(950.0, (0.01, 0.01), 5, 0.0, |figure| figure);
    assert!(lower >= EXPERIMENTS * 9 / 10, "{lower}");
}

#[test]
fn equal_variants_are_called_equal_at_one_per_cent_noise_with_seven_runs() {
    let (_, _, none) = found(1_000.0, (0.01, 0.01), 7, 0.0, |figure| figure);
    assert!(none >= EXPERIMENTS * 8 / 10, "{none}");
}

#[test]
fn five_per_cent_are_never_called_no_difference() {
    let (_, _, none) = found(1_050.0, (0.01, 0.01), 3, 0.0, |figure| figure);
    assert!(none <= EXPERIMENTS / 40, "{none}");
}
