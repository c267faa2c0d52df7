//! A capacity load: the search for the highest sustainable rate under a limit.

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shortest step: its second half must show whether the backlog grows.
pub const SHORTEST_STEP_S: f64 = 2.0;

/// The factor to the next rate while all rates have been sustained.
pub const GROWTH: f64 = 2.0;

/// The fewest connections of a step, and the most by default (Tomcat accepts 8,192).
const CONNECTIONS: (f64, f64) = (100.0, 8_000.0);

/// The limit, and the range and precision of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// The response time that must stay under the limit.
    pub metric: Metric,
    /// The limit on the response time, in milliseconds.
    pub limit_ms: f64,
    /// The first rate, in requests per second.
    pub from_per_s: f64,
    /// The highest rate, in requests per second.
    pub to_per_s: f64,
    /// The search ends when the lowest rate that was not sustained is at most this fraction above the highest that was.
    pub resolution: f64,
    /// The share of requests that may fail, from 0 to 1.
    pub failures: f64,
    /// The most connections of each step; `None`: see [`Self::connections_at`].
    pub connections: Option<u32>,
}

impl Capacity {
    /// A search under this limit with defaults for the rest.
    #[must_use]
    pub const fn under(metric: Metric, limit_ms: f64) -> Self {
        Self {
            metric,
            limit_ms,
            from_per_s: 500.0,
            to_per_s: 200_000.0,
            resolution: 0.05,
            failures: 0.0,
            connections: None,
        }
    }

    /// The connections of a step: the requests in flight if each takes as long as the limit (Little's law), from 100 to 8,000. If all
    /// are busy, the limit is exceeded anyway, and the response time of a waiting request counts from when it was due.
    #[must_use]
    pub fn connections_at(&self, rate_per_s: f64) -> u32 {
        let (least, most) = CONNECTIONS;
        let by_little = (rate_per_s * self.limit_ms / 1e3).clamp(least, most).ceil() as u32;
        self.connections.unwrap_or(by_little)
    }

    /// The expected number of steps, for estimates: growth to a rate `doublings` above the first, bisection, and repeated steps.
    #[must_use]
    pub fn likely_steps(&self, doublings: u32) -> u32 {
        let halvings = (GROWTH.ln() / (1.0 + self.resolution).ln()).log2().ceil().max(0.0) as u32;
        doublings + 1 + halvings + halvings / 2 + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_the_connections_that_the_limit_keeps_busy() {
        let capacity = Capacity::under(Metric::P99, 200.0);
        assert_eq!(capacity.connections_at(4_000.0), 800);
        assert_eq!((capacity.connections_at(10.0), capacity.connections_at(1e6)), (100, 8_000));
        assert_eq!(Capacity { connections: Some(7), ..capacity }.connections_at(4_000.0), 7);
    }
}
