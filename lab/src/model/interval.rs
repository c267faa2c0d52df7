//! Confidence intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// e.g. 0.95
    pub confidence: f64,
}
