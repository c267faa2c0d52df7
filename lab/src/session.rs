//! All runs of one experiment, in the order of its plan; the result is saved after each of them.

use crate::compare::{claims, compare, trust};
use crate::experiment::Experiment;
use crate::experiment::plan::plan;
use crate::explain::explain;
use crate::observe::machine;
use crate::record::Record;
use crate::result::{ResultDocument, SCHEMA, Skipped};
use crate::result_folder::FolderError;
use crate::run::Runner;
use crate::run::watch::{Event, Watch};
use std::sync::atomic::Ordering;

/// Runs everything that is planned, or until the user stops it, and returns the last state of `result.json`.
///
/// # Errors
/// A result that cannot be saved ends the session: going on would measure for nothing.
pub fn session(runner: &Runner<'_>, watch: &mut dyn Watch) -> Result<ResultDocument, FolderError> {
    let mut document = conclude(runner.experiment, Vec::new());
    runner.folder.save(&document)?;
    for planned in plan(runner.experiment) {
        if runner.interrupted.load(Ordering::Relaxed) {
            break;
        }
        let record = runner.run(planned, watch);
        watch.event(Event::Ended(&record));
        document.records.push(record);
        document = conclude(runner.experiment, document.records);
        runner.folder.save(&document)?;
    }
    Ok(document)
}

/// What the records say: compared, judged and explained.
fn conclude(experiment: &Experiment, records: Vec<Record>) -> ResultDocument {
    let (trusted, why_not) = trust(experiment, &records);
    ResultDocument {
        schema: SCHEMA.to_owned(),
        threadcount: env!("CARGO_PKG_VERSION").to_owned(),
        command: std::env::args().collect(),
        created_at: jiff::Timestamp::now().to_string(),
        machine: machine::read(),
        comparisons: compare(experiment, &records),
        findings: explain(experiment, &records),
        claims: claims(experiment, &records),
        skipped: skipped(experiment),
        trusted,
        why_not,
        experiment: experiment.clone(),
        records,
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
