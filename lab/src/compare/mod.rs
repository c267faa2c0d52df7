//! Ratios, intervals, verdicts and claims over records.

pub mod metric;
