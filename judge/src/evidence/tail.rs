//! Thresholds for a tail of response times that is much longer than the rest.

/// The 99th percentile stands out if it is this many times the median.
pub(crate) const STANDS_OUT: f64 = 1.2;
/// The share of the requests that take longer than the 99th percentile.
pub(crate) const ABOVE_P99: f64 = 0.01;
