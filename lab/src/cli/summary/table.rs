//! Response time and service time side by side.

use threadcount_load::times::TimesSummary;
use threadcount_model::figures;

/// The lines of the table. A percentile that equals the maximum because of too few responses is marked.
#[must_use]
pub fn lines(response: &TimesSummary, service: &TimesSummary, answers: u64) -> Vec<String> {
    let head = [
        format!("{:<10}{:>15}{:>15}", "", "response time", "service time"),
        format!("{:<10}{:>15}{:>15}", "", "from due", "from sent"),
    ];
    let row = |name: &str, above: f64, figure: &dyn Fn(&TimesSummary) -> f64| {
        let shown = |times: &TimesSummary| {
            // The shares are no binary fractions.
            if above * answers as f64 >= 1.0 - 1e-9 {
                figures::milliseconds(figure(times))
            } else {
                "= max".to_owned()
            }
        };
        format!("{name:<10}{:>15}{:>15}", shown(response), shown(service))
    };
    let percentile = |(name, quantile): &(&str, f64)| {
        let figure = |times: &TimesSummary| times.percentile(name).unwrap_or(times.max);
        row(&name.replace('_', "."), 1.0 - quantile, &figure)
    };
    let mut lines = head.to_vec();
    lines.push(row("min", 1.0, &|times| times.min));
    lines.extend(TimesSummary::PERCENTILES.iter().map(percentile));
    lines.push(row("max", 1.0, &|times| times.max));
    lines.push(row("mean", 1.0, &|times| times.mean));
    lines
}
