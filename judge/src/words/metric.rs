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

/// A metric in a sentence: its label, or what is shorter.
pub const fn metric_noun(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "throughput",
        Metric::Capacity => "capacity",
        Metric::Score => "time per operation",
        other => other.label(),
    }
}

/// A bound as per cent, never smaller than it is: `7 %` for 0.061.
pub fn bound(difference: f64) -> String {
    format!("{:.0} %", (difference * 100.0).ceil().max(1.0))
}
