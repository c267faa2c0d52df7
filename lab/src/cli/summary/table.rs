//! Response time, service time and time to the first byte side by side.

use super::LABEL;
use threadcount_load::times::TimesSummary;
use threadcount_model::figures;
use threadcount_report::layout;

/// A column: its two lines of head, and its times.
pub type Times<'a> = (&'static str, &'static str, &'a TimesSummary);

/// The lines of the table. A percentile that equals the maximum because of too few responses is marked.
#[must_use]
pub fn lines(columns: &[Times<'_>], answers: u64) -> Vec<String> {
    let line =
        |name: &str, cells: Vec<String>| [vec![layout::padded(name, LABEL - layout::GAP)], cells].concat();
    let row = |name: &str, above: f64, figure: &dyn Fn(&TimesSummary) -> f64| {
        let shown = |times: &TimesSummary| {
            // The shares are no binary fractions.
            if above * answers as f64 >= 1.0 - 1e-9 {
                figures::milliseconds(figure(times))
            } else {
                "= max".to_owned()
            }
        };
        line(name, columns.iter().map(|column| shown(column.2)).collect())
    };
    let percentile = |(name, quantile): &(&str, f64)| {
        let figure = |times: &TimesSummary| times.percentile(name).unwrap_or(times.max);
        row(&name.replace('_', "."), 1.0 - quantile, &figure)
    };
    let mut rows = vec![
        line("", columns.iter().map(|column| column.0.to_owned()).collect()),
        line("", columns.iter().map(|column| column.1.to_owned()).collect()),
        row("min", 1.0, &|times| times.min),
    ];
    rows.extend(TimesSummary::PERCENTILES.iter().map(percentile));
    rows.push(row("max", 1.0, &|times| times.max));
    rows.push(row("mean", 1.0, &|times| times.mean));
    layout::table(&rows, &("<".to_owned() + &">".repeat(columns.len())))
}
