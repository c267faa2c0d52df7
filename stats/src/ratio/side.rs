//! One side of an unpaired ratio: its figures on the logarithmic scale.

/// Relative precision of a figure: the histogram keeps three digits of a time, and no other figure is known better.
pub(in super::super) const RELATIVE_STEP: f64 = 0.001;

/// One side's figures on the logarithmic scale.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The logarithms, minus their mean.
    pub deviations: Vec<f64>,
    pub mean: f64,
    /// The squared standard error of the mean.
    pub error: f64,
    /// The variance that rounding alone hides.
    pub rounding: f64,
}

impl Side {
    /// The figures' logarithms; `None` with fewer than two runs, or a figure that has no logarithm.
    pub fn of(figures: &[f64], step: f64) -> Option<Self> {
        if figures.len() < 2 || figures.iter().any(|&figure| figure <= 0.0 || !figure.is_finite()) {
            return None;
        }
        let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
        let runs = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / runs;
        let deviations: Vec<f64> = logs.iter().map(|log| log - mean).collect();
        let variance = deviations.iter().map(|deviation| deviation.powi(2)).sum::<f64>() / (runs - 1.0);
        let rounding = rounding_variance(mean.exp(), step);
        Some(Self { deviations, mean, error: variance.max(rounding) / runs, rounding })
    }

    pub fn runs(&self) -> usize {
        self.deviations.len()
    }
}

/// The variance that rounding alone hides, relative to the figure: that of a uniform distribution as wide as the step, which is the
/// step's square divided by twelve (Sheppard). Without it, runs that happen to agree to the last digit would claim to know the figure
/// exactly.
pub(super) fn rounding_variance(figure: f64, step: f64) -> f64 {
    (RELATIVE_STEP.powi(2) + (step / figure).powi(2)) / 12.0
}
