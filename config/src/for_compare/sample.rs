//! What tests ask `threadcount compare` for.

use super::asked::{CompareAsked, Compared, Surroundings};
use threadcount_model::experiment::warm_up::WarmUpTime;
use threadcount_model::experiment::{LoadKind, LoadSpec, RequestSpec};

/// With 64 clients, and nothing else said.
pub(super) fn asked(url: &str, compared: Compared) -> CompareAsked {
    CompareAsked {
        url: url.to_owned(),
        compared,
        surroundings: Surroundings::default(),
        load: LoadSpec::new("c64", LoadKind::Closed { clients: 64 }, RequestSpec::get("/orders/1")),
        runs: None,
        crossover: false,
        budget_s: None,
        warmup: WarmUpTime::Auto,
        ready: None,
    }
}
