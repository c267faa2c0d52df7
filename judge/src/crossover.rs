//! Explains a crossover: treats its observed windows as the records of an experiment and applies the rules to them.

use crate::conclude::times_of_requests;
use crate::explain::explain;
use crate::finding::Finding;
use threadcount_model::crossover::{CROSSOVER, Crossover, Treatment};
use threadcount_model::experiment::{
    Experiment, LoadKind, LoadSpec, Losses, RemoteTarget, RequestSpec, Subject, Variant,
};
use threadcount_model::request_time::RequestTime;

/// Reasons for the figures of a crossover; variants are named after treatments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrossoverReasons {
    pub findings: Vec<Finding>,
    /// How requests spend their time, for each treatment whose threads were sampled.
    pub request_times: Vec<RequestTime>,
}

#[must_use]
pub fn crossover_reasons(crossover: &Crossover) -> CrossoverReasons {
    let (experiment, records) = (experiment(crossover), &crossover.explaining);
    let findings: Vec<Finding> = explain(&experiment, records).into_iter().map(without_runs).collect();
    let request_times = times_of_requests(&experiment, records, &findings);
    CrossoverReasons { findings, request_times }
}

/// Drops the count of runs, which means nothing when each treatment has one observed window.
fn without_runs(finding: Finding) -> Finding {
    Finding { runs: None, ..finding }
}

/// An experiment with one variant per treatment, all under the same load.
fn experiment(crossover: &Crossover) -> Experiment {
    let subject = || Subject::Target(RemoteTarget { target_url: String::new() });
    let variant = |treatment: &Treatment| Variant::new(&treatment.to_string(), subject());
    let clients = crossover.clients;
    let kind = match crossover.rate_per_s {
        Some(rate_per_s) => LoadKind::Open { rate_per_s, clients, losses: Losses::Unexpected },
        None => LoadKind::Closed { clients },
    };
    let load = LoadSpec::new(CROSSOVER, kind, RequestSpec::get("/"));
    let variants = crossover.treatments.iter().map(variant).collect();
    Experiment::unplanned(CROSSOVER, variants, vec![load])
}
