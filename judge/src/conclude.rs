//! From the records of a session to its result.

use crate::explain::explain;
use crate::result::{ResultDocument, SCHEMA};
use threadcount_model::experiment::Experiment;
use threadcount_model::machine::Machine;
use threadcount_model::record::Record;
use threadcount_model::rounds::{RoundsDone, Skipped};
use threadcount_stats::{claims, compare, request_times, trust};

/// Where a result comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Threadcount's version.
    pub threadcount: String,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339.
    pub created_at: String,
    pub machine: Machine,
}

/// What the records say: compared, judged and explained.
#[must_use]
pub fn conclude(
    experiment: &Experiment,
    records: Vec<Record>,
    rounds: Vec<RoundsDone>,
    origin: Origin,
) -> ResultDocument {
    let (trusted, why_not) = trust(experiment, &records);
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: origin.threadcount,
        command: origin.command,
        created_at: origin.created_at,
        machine: origin.machine,
        comparisons: compare(experiment, &records),
        findings: explain(experiment, &records),
        request_times: request_times(experiment, &records),
        claims: claims(experiment, &records),
        skipped: skipped(experiment),
        trusted,
        why_not,
        experiment: experiment.clone(),
        records,
        rounds,
    }
}

fn skipped(experiment: &Experiment) -> Vec<Skipped> {
    let whole = experiment.variants.iter().filter_map(|variant| {
        let why = variant.skipped.clone()?;
        Some(Skipped { variant: variant.name.clone(), load: None, why })
    });
    let under_a_load = experiment.loads.iter().flat_map(|load| {
        let here = experiment.variants.iter().filter(|variant| variant.runs_under(load));
        here.filter_map(|variant| {
            let why = load.skipped.clone()?;
            Some(Skipped { variant: variant.name.clone(), load: Some(load.name.clone()), why })
        })
    });
    whole.chain(under_a_load).collect()
}
