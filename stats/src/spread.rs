//! How much the runs of one variant differ from each other.

use super::runs::{complete, figures, mean};
use threadcount_model::experiment::Experiment;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// Run-to-run spread of one variant's rate, or of a benchmark's score, under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The variant.
    pub variant: String,
    /// The load.
    pub load: String,
    /// Number of complete runs.
    pub runs: usize,
    /// (highest - lowest) / mean; zero for a single run.
    pub rate: f64,
    /// The metric whose spread this is.
    pub metric: Metric,
}

/// The spread of every variant under every load that has a complete run.
#[must_use]
pub fn spreads(experiment: &Experiment, records: &[Record]) -> Vec<Spread> {
    let mut found = Vec::new();
    for load in &experiment.loads {
        for variant in experiment.variants.iter().filter(|variant| load.includes(&variant.name)) {
            let metric = load.workload.figure();
            let rates = figures(&complete(records, &variant.name, &load.name), metric);
            let Some(mean) = mean(&rates) else { continue };
            let highest = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let rate = if mean > 0.0 { (highest - lowest) / mean } else { 0.0 };
            found.push(Spread {
                variant: variant.name.clone(),
                load: load.name.clone(),
                runs: rates.len(),
                rate,
                metric,
            });
        }
    }
    found
}
