//! Response time and service time side by side.

use threadcount_load::times::TimesSummary;
use threadcount_model::figures;

type Column = fn(&TimesSummary) -> f64;

/// Each row: its name, the share of the responses above it, and its figure.
const ROWS: [(&str, f64, Column); 10] = [
    ("min", 1.0, |times| times.min),
    ("p50", 0.5, |times| times.p50),
    ("p75", 0.25, |times| times.p75),
    ("p90", 0.10, |times| times.p90),
    ("p95", 0.05, |times| times.p95),
    ("p99", 0.01, |times| times.p99),
    ("p99.9", 0.001, |times| times.p99_9),
    ("p99.99", 0.000_1, |times| times.p99_99),
    ("max", 1.0, |times| times.max),
    ("mean", 1.0, |times| times.mean),
];

/// The lines of the table. A percentile that equals the maximum because of too few responses is marked.
#[must_use]
pub fn lines(response: &TimesSummary, service: &TimesSummary, answers: u64) -> Vec<String> {
    let head = [
        format!("{:<10}{:>15}{:>15}", "", "response time", "service time"),
        format!("{:<10}{:>15}{:>15}", "", "from due", "from sent"),
    ];
    let row = |(name, above, figure): &(&str, f64, Column)| {
        let shown = |times: &TimesSummary| {
            if above * answers as f64 >= 1.0 {
                figures::milliseconds(figure(times))
            } else {
                "= max".to_owned()
            }
        };
        format!("{name:<10}{:>15}{:>15}", shown(response), shown(service))
    };
    head.into_iter().chain(ROWS.iter().map(row)).collect()
}
