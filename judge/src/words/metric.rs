//! Metrics and their bounds, in words.

use threadcount_model::experiment::Workload;
use threadcount_model::metric::Metric;

/// What a load is run for, in words.
pub const fn noun(load: Workload) -> &'static str {
    match load.answer() {
        Metric::Rate if load.expects_losses() => "goodput",
        answer => metric_noun(answer),
    }
}

/// The answer of a load that may lose nothing, in words.
pub const fn metric_noun(answer: Metric) -> &'static str {
    match answer {
        Metric::P50 => "median response time",
        Metric::Capacity => "capacity",
        Metric::Score => "time per operation",
        _ => "throughput",
    }
}

/// A bound as per cent, never smaller than it is: `7 %` for 0.061.
pub fn bound(difference: f64) -> String {
    format!("{:.0} %", (difference * 100.0).ceil().max(1.0))
}
