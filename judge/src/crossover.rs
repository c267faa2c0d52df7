//! What the observed kinds of thread of a crossover show: an experiment of their records, and what follows from it.

use crate::conclude::times_of_requests;
use crate::explain::explain;
use crate::finding::Finding;
use threadcount_model::crossover::{CROSSOVER, Crossover, Treatment};
use threadcount_model::experiment::{
    Experiment, LoadKind, LoadSpec, Losses, RemoteTarget, RequestSpec, Subject, Variant,
};
use threadcount_model::request_time::RequestTime;

/// Reasons, in the names of the treatments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CrossoverReasons {
    pub findings: Vec<Finding>,
    /// Of each treatment whose threads were sampled.
    pub request_times: Vec<RequestTime>,
}

#[must_use]
pub fn crossover_reasons(crossover: &Crossover) -> CrossoverReasons {
    let (experiment, records) = (experiment(crossover), &crossover.explaining);
    let findings: Vec<Finding> = explain(&experiment, records).into_iter().map(of_one_window).collect();
    let request_times = times_of_requests(&experiment, records, &findings);
    CrossoverReasons { findings, request_times }
}

/// How many runs show it says nothing where each treatment has one.
fn of_one_window(finding: Finding) -> Finding {
    Finding { runs: None, ..finding }
}

/// A variant per treatment, under the load of all of them.
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
