//! Histograms of durations in constant memory, and their conversion into figures.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest time that a histogram distinguishes; longer ones count as this long.
const LONGEST_NS: u64 = 3_600 * 1_000_000_000;
/// The shortest time that a histogram distinguishes.
const SHORTEST_NS: u64 = 1_000;
/// Three significant digits: a bucket is at most 0.1 % wide.
const DIGITS: u8 = 3;

/// A histogram of nanoseconds from 1 µs to 1 h with three significant digits, in constant memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        #[expect(clippy::expect_used, reason = "the three constants are valid bounds by construction")]
        Self(Histogram::new_with_bounds(SHORTEST_NS, LONGEST_NS, DIGITS).expect("constant bounds are valid"))
    }
}

impl Times {
    /// The lowest and highest time in nanoseconds, and the number of digits.
    pub(crate) const BOUNDS: (u64, u64, u8) = (SHORTEST_NS, LONGEST_NS, DIGITS);

    /// Adds one time.
    pub fn record_ns(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds all times of another histogram.
    pub fn merge(&mut self, other: &Self) {
        // The memory of an empty histogram has not been touched yet, and need not be.
        if other.0.is_empty() {
            return;
        }
        #[expect(clippy::expect_used, reason = "all instances share the same bounds")]
        self.0.add(&other.0).expect("same bounds");
    }

    /// Removes times that were added before.
    pub(crate) fn remove(&mut self, added: &Self) {
        if added.0.is_empty() {
            return;
        }
        let removed = self.0.subtract(&added.0);
        debug_assert!(removed.is_ok(), "they were added before: {removed:?}");
    }

    /// The times of a histogram with our bounds.
    pub(crate) const fn of_histogram(histogram: Histogram<u64>) -> Self {
        Self(histogram)
    }

    /// Forgets all times, keeping the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many times were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// How many times are longer than this.
    #[must_use]
    pub fn count_beyond(&self, ns: u64) -> u64 {
        self.0.len() - self.0.count_between(0, ns)
    }

    /// The time at a quantile in 0..=1.
    #[must_use]
    pub fn at_quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// The summary in milliseconds; `None` if nothing was recorded, because zero would be wrong.
    #[must_use]
    pub fn summary(&self) -> Option<TimesSummary> {
        if self.0.is_empty() {
            return None;
        }
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e6;
        Some(TimesSummary {
            min: self.0.min() as f64 / 1e6,
            mean: self.0.mean() / 1e6,
            stddev: self.0.stdev() / 1e6,
            max: self.0.max() as f64 / 1e6,
            ..TimesSummary::from_quantiles(at)
        })
    }

    /// The underlying histogram (nanoseconds), for exports and curves.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }
}

/// Declares [`TimesSummary`] with its percentiles.
macro_rules! summary {
    ($($name:ident = $quantile:literal,)*) => {
        /// A distribution of times in milliseconds, with three correct digits each.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[schemars(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct TimesSummary {
            /// The shortest time.
            pub min: f64,
            /// The mean.
            pub mean: f64,
            /// The standard deviation.
            pub stddev: f64,
            $(
                #[doc = concat!("The time that this share of all times does not exceed: ", stringify!($quantile), ".")]
                pub $name: f64,
            )*
            /// The longest time.
            pub max: f64,
        }

        impl TimesSummary {
            /// Name and quantile of each percentile, the shortest first.
            pub const PERCENTILES: &[(&str, f64)] = &[$((stringify!($name), $quantile),)*];

            /// A summary whose minimum, maximum and percentiles come from a function of the quantile; mean and deviation are 0.
            #[must_use]
            pub fn from_quantiles(at: impl Fn(f64) -> f64) -> Self {
                Self { min: at(0.0), $($name: at($quantile),)* max: at(1.0), ..Self::default() }
            }

            /// The percentile with a name such as `p99_9`.
            #[must_use]
            pub fn percentile(&self, name: &str) -> Option<f64> {
                [$((stringify!($name), self.$name),)*].into_iter().find(|it| it.0 == name).map(|it| it.1)
            }
        }
    };
}

// A new percentile needs one line here; the JSON, its schema and the tables follow.
summary! {
    p50 = 0.50,
    p75 = 0.75,
    p90 = 0.90,
    p95 = 0.95,
    p99 = 0.99,
    p99_9 = 0.999,
    p99_99 = 0.999_9,
}
