//! How many requests are in flight: as many as a closed loop has clients; under a rate as many as Little's law says.

use super::VariantRuns;
use crate::model::finding::Arrivals;
use crate::model::record::Record;
use crate::stats::runs::mean;

/// What makes requests be in flight under a rate, on average of the runs; of a search at the rate that it found. `None`: a
/// closed loop, or nothing was measured.
pub(super) fn arrivals(runs_of_variant: &VariantRuns<'_>) -> Option<Arrivals> {
    if runs_of_variant.is_closed() {
        return None;
    }
    let of_runs = |figure: fn(&Record) -> Option<f64>| {
        mean(&runs_of_variant.runs.iter().filter_map(|run| figure(run)).collect::<Vec<f64>>())
    };
    Some(Arrivals {
        rate_per_s: of_runs(|run| Some(run.measured.as_ref()?.rate_per_s.completed))?,
        service_time_ms: of_runs(|run| Some(run.measured.as_ref()?.service_time_ms?.mean))?,
    })
}

/// How many threads the requests in flight need, each its own; `None`: not known.
pub(super) fn needed_threads(runs_of_variant: &VariantRuns<'_>) -> Option<f64> {
    if runs_of_variant.is_closed() {
        return Some(f64::from(runs_of_variant.clients()));
    }
    // As the report prints it: 250.2 requests are no reason to call a pool of 250 too small.
    arrivals(runs_of_variant).map(|arrivals| arrivals.in_flight().round())
}
