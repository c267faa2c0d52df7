//! Metrics and their bounds, in words.

use threadcount_model::experiment::Workload;
use threadcount_model::metric::Metric;

/// The noun for the metric that a load is run for.
pub const fn noun(load: Workload) -> &'static str {
    match load.answer() {
        Metric::Rate if load.expects_losses() => "goodput",
        answer => metric_noun(answer),
    }
}

/// The noun for a metric in a sentence: its label, or something shorter.
pub const fn metric_noun(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "throughput",
        Metric::Capacity => "capacity",
        Metric::Score => "time per operation",
        other => other.label(),
    }
}

/// A bound in per cent, rounded up so that it never looks smaller than it is: `7 %` for 0.061.
pub fn bound(difference: f64) -> String {
    format!("{:.0} %", (difference * 100.0).ceil().max(1.0))
}
