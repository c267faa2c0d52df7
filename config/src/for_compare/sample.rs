//! Comparisons for tests.

use super::asked::{CompareAsked, Compared, Surroundings};
use super::document;
use super::error::CompareError;
use threadcount_model::experiment::Experiment;
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{LoadKind, LoadSpec, RequestSpec};

/// A comparison with 64 clients and defaults for the rest.
pub(super) fn asked(url: &str, compared: Compared) -> CompareAsked {
    let load = LoadSpec::new("c64", LoadKind::Closed { clients: 64 }, RequestSpec::get("/orders/1"));
    CompareAsked {
        url: url.to_owned(),
        compared,
        surroundings: Surroundings::default(),
        load: LoadSpec { duration_s: Some(10.0), ..load },
        runs: None,
        crossover: false,
        budget_s: None,
        warmup: WarmUpTime::Auto,
        ready: None,
    }
}

/// The experiment that the comparison runs.
pub(super) fn experiment(asked: &CompareAsked) -> Result<Experiment, CompareError> {
    document(asked)?.experiment()
}
