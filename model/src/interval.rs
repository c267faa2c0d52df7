//! Confidence intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// The confidence level, e.g. 0.95.
    pub confidence: f64,
}

/// A ratio whose interval reaches beyond its half or its double should not be acted on.
const UNREADABLE: f64 = 2.0;

impl Interval {
    /// The interval of the figure multiplied by a positive number.
    #[must_use]
    pub fn scaled(self, by: f64) -> Self {
        Self { low: self.low * by, high: self.high * by, ..self }
    }

    /// The interval of the figure plus a number.
    #[must_use]
    pub fn shifted(self, by: f64) -> Self {
        Self { low: self.low + by, high: self.high + by, ..self }
    }

    /// Whether the interval is narrow enough to show the ratio.
    #[must_use]
    pub fn is_readable(&self, ratio: f64) -> bool {
        self.high <= ratio * UNREADABLE && self.low >= ratio / UNREADABLE
    }

    /// The largest difference from 1, up or down, that the interval does not exclude: 0.05 for 5 %.
    #[must_use]
    pub fn largest_difference(&self) -> f64 {
        self.high.max(1.0 / self.low) - 1.0
    }

    /// How far the ratio may lie from the middle of the interval, as a part of it: 0.02 for 2 %.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}
