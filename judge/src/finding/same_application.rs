//! What two variants of one application show that differ in their threads only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;

/// Requests that compute: another kind of thread does not change how many there can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuBound {
    /// The variant on threads of the other kind.
    pub other: String,
    /// Of the mean service time, running or waiting for a core or a carrier, with this variant.
    pub on_cpu_share: f64,
    /// The mean service time of this variant.
    pub service_time_ms: f64,
    /// What the load is run for.
    pub metric: Metric,
    /// This variant divided by the other.
    pub ratio: f64,
    /// Of the ratio.
    pub interval: Interval,
}

/// Virtual threads with a limit of the requests at once, beside the same without one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestBound {
    /// The variant without a limit.
    pub unlimited: String,
    /// Requests at once.
    pub at_once: f64,
    /// What it changes.
    pub effect: BoundEffect,
}

/// What a limit changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum BoundEffect {
    /// In an overload more is done. Means of the runs that show it.
    Saves {
        /// Expected responses with the limit.
        goodput_per_s: f64,
        /// Without it.
        unlimited_goodput_per_s: f64,
        /// How long requests piled up with the limit; `None`: not known of both.
        behind_ms: Option<f64>,
        /// Without it.
        unlimited_behind_ms: Option<f64>,
    },
    /// Under an ordinary load the answer is the same.
    CostsNothing {
        /// What the load is run for.
        metric: Metric,
        /// With the limit divided by without it.
        ratio: f64,
        /// Of the ratio.
        interval: Interval,
    },
}
