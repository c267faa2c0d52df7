//! A figure of a treatment as a quotient, and the ratio of two treatments' quotients.

use super::CrossoverRatio;
use super::jackknife::jackknife;

/// A figure of a treatment in a block as a quotient, such as responses by seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quotient {
    pub of: f64,
    pub by: f64,
}

impl Quotient {
    /// The quotient of all blocks together without block `left_out`; `None` leaves no block out.
    #[must_use]
    pub fn pooled(all: &[Self], left_out: Option<usize>) -> f64 {
        let kept = all.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let (of, by) = kept.fold((0.0, 0.0), |(of, by), (_, it)| (of + it.of, by + it.by));
        of / by
    }
}

/// The ratio of a figure under two treatments, one value of each per block; `None` if nothing is above zero, or there is no block.
#[must_use]
pub fn ratio(treatment: &[Quotient], baseline: &[Quotient]) -> Option<CrossoverRatio> {
    jackknife(treatment.len().min(baseline.len()), |left_out| {
        Some((Quotient::pooled(treatment, left_out) / Quotient::pooled(baseline, left_out)).ln())
    })
}
