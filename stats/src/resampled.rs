//! The mean of a series whose neighbouring samples are alike, with an interval by resampling.

use super::random::SplitMix64;
use super::ratio::CONFIDENCE;
use super::student::t_quantile;
use std::ops::Range;
use threadcount_model::interval::Interval;

/// With fewer samples than this, their variation is unknown, so there is no interval.
const FEWEST_SAMPLES: usize = 5;
/// With fewer blocks than this there is no interval either.
const FEWEST_BLOCKS: f64 = 2.5;
const RESAMPLES: usize = 1_000;
const SHORTEST_BLOCK: usize = 3;
const FEWEST_RUNS: usize = 3;
/// The 97.5 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.96;
const SEED: u64 = 15;

/// Samples with weights. Consecutive samples are alike, so they are drawn together, in blocks (H. R. Künsch, "The jackknife and the
/// bootstrap for general stationary observations", Annals of Statistics 17, 1989).
pub(super) struct Samples {
    weights: Vec<f64>,
    /// The resampled places; empty if there are too few samples.
    draws: Vec<Vec<usize>>,
    /// Factor for the interval, by Student's distribution, because a few resampled blocks vary less than the truth.
    widening: f64,
    /// The range of sample places of each run.
    runs: Vec<Range<usize>>,
}

impl Samples {
    /// Prepares the resampling of several runs. `resembling` is how many samples after a sample still resemble it.
    pub fn new(weights_of_runs: Vec<Vec<f64>>, resembling: f64) -> Self {
        let mut runs = Vec::new();
        for weights in &weights_of_runs {
            let begin = runs.last().map_or(0, |before: &Range<usize>| before.end);
            runs.push(begin..begin + weights.len());
        }
        let weights = weights_of_runs.concat();
        let number = weights.len();
        // A block of twice that length contains nearly all samples that are alike.
        let block = ((2.0 * resembling).ceil() as usize + 1).max(SHORTEST_BLOCK);
        let blocks = number as f64 / block as f64;
        if number < FEWEST_SAMPLES || (block > SHORTEST_BLOCK && blocks < FEWEST_BLOCKS) {
            return Self { weights, draws: Vec::new(), widening: 1.0, runs };
        }
        let freedom = (blocks - 1.0).max(1.0);
        let quantile = t_quantile(freedom, 0.5 + CONFIDENCE / 2.0).unwrap_or(NORMAL_QUANTILE);
        let widening = quantile / NORMAL_QUANTILE * ((freedom + 1.0) / freedom).sqrt();
        Self { weights, draws: draws(number, block), widening, runs }
    }

    pub fn number(&self) -> usize {
        self.weights.len()
    }

    /// The weighted mean.
    pub fn mean(&self, figures: &[f64]) -> f64 {
        self.mean_over(0..self.number(), figures)
    }

    fn mean_over(&self, places: impl Iterator<Item = usize>, figures: &[f64]) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for place in places {
            sum += self.weights[place] * figures[place];
            all += self.weights[place];
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// Interval of the mean; `None` if samples are too few or too much alike. Runs may differ by more than their samples show.
    pub fn interval(&self, figures: &[f64]) -> Option<Interval> {
        let within = self.interval_within(figures)?;
        let Some((mean, half)) = self.between_runs(figures) else { return Some(within) };
        Some(Interval { low: within.low.min(mean - half), high: within.high.max(mean + half), ..within })
    }

    /// The mean of the runs' means, and half of Student's interval; `None` for two runs, whose interval would say nothing about most figures.
    fn between_runs(&self, figures: &[f64]) -> Option<(f64, f64)> {
        let means: Vec<f64> = self.runs.iter().map(|run| self.mean_over(run.clone(), figures)).collect();
        let number = means.len() as f64;
        if means.len() < FEWEST_RUNS {
            return None;
        }
        let mean = means.iter().sum::<f64>() / number;
        let variance = means.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (number - 1.0);
        let quantile = t_quantile(number - 1.0, 0.5 + CONFIDENCE / 2.0)?;
        Some((mean, quantile * (variance / number).sqrt()))
    }

    fn interval_within(&self, figures: &[f64]) -> Option<Interval> {
        let mean = self.mean(figures);
        let mut means: Vec<f64> =
            self.draws.iter().map(|draw| self.mean_over(draw.iter().copied(), figures)).collect();
        means.sort_by(f64::total_cmp);
        let quantile =
            |share: f64| means.get((share * means.len().saturating_sub(1) as f64).round() as usize).copied();
        let widened = |share: f64| Some(self.widening.mul_add(quantile(share)? - mean, mean));
        Some(Interval {
            low: widened((1.0 - CONFIDENCE) / 2.0)?,
            high: widened((1.0 + CONFIDENCE) / 2.0)?,
            confidence: CONFIDENCE,
        })
    }
}

/// Draws samples in blocks that wrap around at the end.
fn draws(samples: usize, block: usize) -> Vec<Vec<usize>> {
    let mut random = SplitMix64(SEED);
    let draw = |random: &mut SplitMix64| {
        let starts: Vec<usize> = (0..samples.div_ceil(block)).map(|_| random.below(samples)).collect();
        let all = starts.into_iter().flat_map(|start| (0..block).map(move |step| (start + step) % samples));
        all.take(samples).collect()
    };
    (0..RESAMPLES).map(|_| draw(&mut random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_as_much_as_it_stands_for() {
        let samples = Samples::new(vec![vec![0.1, 0.1, 0.1, 0.1, 1.6]], 0.0);
        assert!((samples.mean(&[10.0, 10.0, 10.0, 10.0, 20.0]) - 18.0).abs() < 1e-9);
        let interval = samples.interval(&[7.0; 5]).expect("an interval");
        assert!((interval.low - 7.0).abs() < 1e-9 && (interval.high - 7.0).abs() < 1e-9);
    }

    /// Ten requests of two seconds each that spend half of their time in a lock: a second there, on average, and a second elsewhere;
    /// ten samples per second.
    fn in_the_lock(random: &mut SplitMix64, samples: usize) -> Vec<f64> {
        let mut is_in_lock: Vec<bool> = (0..10).map(|_| random.below(2) == 0).collect();
        let mut sample = || {
            for state in &mut is_in_lock {
                *state ^= random.below(10) == 0;
            }
            is_in_lock.iter().filter(|state| **state).count() as f64
        };
        (0..samples).map(|_| sample()).collect()
    }

    #[test]
    fn requests_that_are_long_against_the_time_between_samples_have_intervals_that_cover_the_truth() {
        let covered = |resembling: f64| {
            let mut random = SplitMix64(7);
            (0..200)
                .filter(|_| {
                    let figures = in_the_lock(&mut random, 200);
                    let interval = Samples::new(vec![vec![0.1; 200]], resembling).interval(&figures);
                    interval.is_some_and(|it| (it.low..=it.high).contains(&5.0))
                })
                .count()
        };
        // Two seconds are 20 samples; from a random moment on, with a standard deviation of 1.4 s, they are 15.
        let (long, short) = (covered(15.0), covered(0.0));
        assert!((180..=200).contains(&long), "{long} of 200");
        assert!(short < 150, "blocks of three are too short: {short} of 200");
    }

    #[test]
    fn runs_that_differ_widen_the_interval_of_three_and_more() {
        let of_runs = |means: &[f64]| {
            let figures: Vec<f64> =
                means.iter().flat_map(|mean| [mean - 1.0, mean + 1.0].repeat(30)).collect();
            let samples = Samples::new(vec![vec![0.1; 60]; means.len()], 0.0);
            samples.interval(&figures).expect("an interval")
        };
        // Student's t of two degrees of freedom: 4.303 x 10 / sqrt 3.
        let wide = of_runs(&[10.0, 20.0, 30.0]);
        assert!((wide.low + 4.84).abs() < 0.01 && (wide.high - 44.84).abs() < 0.01, "{wide:?}");
        let alike = of_runs(&[20.0, 20.0, 20.0]);
        assert!(alike.low > 19.0 && alike.high < 21.0, "{alike:?}");
        let two = of_runs(&[10.0, 30.0]);
        assert!(two.low > 15.0, "{two:?}");
    }

    #[test]
    fn samples_of_the_same_few_requests_have_no_interval() {
        assert!(Samples::new(vec![vec![0.1; 50]], 15.0).interval(&[1.0; 50]).is_none());
        assert!(Samples::new(vec![vec![0.1; 4]], 0.0).interval(&[1.0; 4]).is_none());
    }
}
