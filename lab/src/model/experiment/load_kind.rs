//! What kind of work a load is, and what follows from it for figures.

use super::benchmark::Benchmark;
use super::capacity::Capacity;
use crate::model::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Closed, open, or searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadKind {
    /// N clients, each sends as soon as it has its answer.
    Closed {
        /// Connections.
        clients: u32,
    },
    /// A rate, whatever the answers do.
    Open {
        /// Requests per second, in total.
        rate_per_s: f64,
        /// Connections at most.
        clients: u32,
    },
    /// The highest rate that is sustained under a limit, searched in steps of `duration_s`.
    Capacity(Capacity),
    /// No load: JMH repeats a benchmark, each iteration as long as `duration_s`.
    Benchmark(Benchmark),
}

impl LoadKind {
    /// The figure that each run has, in which rounds differ.
    #[must_use]
    pub const fn figure(self) -> Metric {
        match self {
            Self::Benchmark(_) => Metric::Score,
            _ => Metric::Rate,
        }
    }

    /// What the answer is about: the rate, and where the schedule holds it, the response time too.
    #[must_use]
    pub const fn headline(self) -> &'static [Metric] {
        match self {
            Self::Closed { .. } => &[Metric::Rate],
            Self::Open { .. } => &[Metric::Rate, Metric::P50],
            Self::Benchmark(_) => &[Metric::Score],
            Self::Capacity(_) => &[Metric::Capacity],
        }
    }

    /// How many connections it has at most, and so how many requests may be on their way at once.
    #[must_use]
    pub fn clients(self) -> u32 {
        match self {
            Self::Closed { clients } | Self::Open { clients, .. } => clients,
            Self::Capacity(capacity) => capacity.connections_at(capacity.to_per_s),
            Self::Benchmark(_) => 0,
        }
    }
}
