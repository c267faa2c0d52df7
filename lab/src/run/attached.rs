//! A load on a JVM that already ran, recorded as a run: what was sent and what was read in the same window.

use super::figures;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;
use threadcount_machine::Samples;
use threadcount_machine::probe::line::Line;
use threadcount_machine::probe::readings::readings;
use threadcount_model::experiment::{Experiment, LoadSpec, RemoteTarget, Subject, Variant};
use threadcount_model::record::Record;
use threadcount_model::window::Window;

/// The name of the only variant.
pub const VARIANT: &str = "attached";

/// The experiment behind the run; it compares nothing.
#[must_use]
pub fn experiment(load: &LoadSpec, origin: &str) -> Experiment {
    let target = Subject::Target(RemoteTarget { target_url: origin.to_owned() });
    Experiment::unplanned(VARIANT, vec![Variant::new(VARIANT, target)], vec![load.clone()])
}

/// The record of the run. The probe was attached the whole time, so its window is the measured one.
#[must_use]
pub fn record(
    [variant, load]: [&str; 2],
    plan: &LoadPlan,
    outcome: &LoadOutcome,
    lines: &[Line],
    samples: &Samples,
) -> Record {
    let window = Window::of_load(outcome);
    let mut record = Record {
        variant: variant.to_owned(),
        load: load.to_owned(),
        round: 1,
        position: 1,
        jvm: readings(lines, window),
        ..Record::default()
    };
    figures::measured(&mut record, outcome, plan, window, samples);
    record
}
