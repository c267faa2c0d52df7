//! From the records of a session to its result.

use crate::explain::explain;
use crate::finding::{Fact, Finding};
use crate::result::{ResultDocument, SCHEMA};
use threadcount_model::experiment::Experiment;
use threadcount_model::machine::Machine;
use threadcount_model::record::Record;
use threadcount_model::request_time::RequestTime;
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
    let findings = explain(experiment, &records);
    let mut request_times = request_times(experiment, &records);
    request_times.iter_mut().for_each(|time| time.queue = queue(time, &findings));
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: origin.threadcount,
        command: origin.command,
        created_at: origin.created_at,
        machine: origin.machine,
        crossover: None,
        comparisons: compare(experiment, &records),
        findings,
        request_times,
        claims: claims(experiment, &records),
        skipped: skipped(experiment),
        trusted,
        why_not,
        experiment: experiment.clone(),
        records,
        rounds,
    }
}

/// Whose queue requests without a thread are in, where a finding names one.
fn queue(time: &RequestTime, findings: &[Finding]) -> Option<String> {
    let is_of_time = |finding: &&Finding| {
        finding.variant.as_ref() == Some(&time.variant) && finding.load.as_ref() == Some(&time.load)
    };
    findings.iter().filter(is_of_time).find_map(|finding| match &finding.fact {
        Fact::ConcurrencyLimit(limit) => limit.queue(),
        Fact::PoolCeiling(_) => Some("the full pool".to_owned()),
        _ => None,
    })
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
