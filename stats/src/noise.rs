//! Noise for simulations: runs around a known truth, from a fixed seed.

use super::random::SplitMix64;

/// The distribution of the noise of a variant's runs.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Log-normal, with this standard deviation of the logarithm.
    Normal(f64),
    /// The same deviation, all of it to one side: most runs are alike, and some are much slower (exponential).
    Skewed(f64),
    /// One run in five is slower by `slower`, and all have this noise.
    TwoSpeeds { noise: f64, slower: f64 },
}

/// The share of slower runs of [`Shape::TwoSpeeds`].
const SLOWER_RUNS: f64 = 0.2;

/// A stream of noise.
pub struct Noise(SplitMix64);

impl Noise {
    pub fn new() -> Self {
        Self(SplitMix64(20_240_205))
    }

    pub fn uniform(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal number, by Box and Muller's transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }

    /// The figure of one run; the mean of its logarithm is that of the truth.
    pub fn run(&mut self, truth: f64, shape: Shape) -> f64 {
        let deviation = match shape {
            Shape::Normal(noise) => noise * self.normal(),
            Shape::Skewed(noise) => noise * (1.0 + (1.0 - self.uniform()).ln()),
            Shape::TwoSpeeds { noise, slower } => {
                let slow = (1.0 - slower).ln();
                let own = if self.uniform() < SLOWER_RUNS { slow } else { 0.0 };
                own - SLOWER_RUNS * slow + noise * self.normal()
            }
        };
        truth * deviation.exp()
    }

    /// The figures of some runs.
    pub fn runs(&mut self, truth: f64, shape: Shape, runs: usize) -> Vec<f64> {
        (0..runs).map(|_| self.run(truth, shape)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_the_mean_and_the_deviation_it_claims() {
        for shape in [Shape::Normal(0.03), Shape::Skewed(0.03)] {
            let logs: Vec<f64> =
                Noise::new().runs(1_000.0, shape, 20_000).iter().map(|run| (run / 1_000.0).ln()).collect();
            let mean = logs.iter().sum::<f64>() / 20_000.0;
            let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
            assert!(mean.abs() < 0.001 && (deviation - 0.03).abs() < 0.001, "{shape:?}: {mean} {deviation}");
        }
    }
}
