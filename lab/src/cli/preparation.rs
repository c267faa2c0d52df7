//! Prepares an experiment on this machine: finds what it needs, and skips with a message what cannot be had here.

use crate::run;
use threadcount_machine::{machine, own_cores};
use threadcount_model::experiment::{Experiment, LoadSpec, Variant, open_files};
use threadcount_report::load_words::load_words;
use threadcount_servers::LaunchError;
use threadcount_servers::launcher::Launcher;
use threadcount_servers::workload::external;

/// Finds, fetches or builds everything that the variants need.
///
/// # Errors
/// A server that cannot be had.
pub(super) fn prepare_variants(launcher: &Launcher, experiment: &mut Experiment) -> miette::Result<()> {
    for variant in &mut experiment.variants {
        match &variant.skipped {
            Some(why) => note!("{} is skipped: {why}", variant.name),
            None => prepare(launcher, variant)?,
        }
    }
    Ok(())
}

/// Fits the loads to this machine, and finds the cores and tools that they need. It starts nothing.
pub(super) fn prepare_loads(experiment: &mut Experiment) {
    let cores = machine::read().cores;
    for load in &mut experiment.loads {
        load.scale_to(cores);
        if load.is_scaled() {
            note!("{}: {} to this machine's {cores}", load.name, load_words(load));
        }
    }
    pin_roles(experiment);
    experiment.loads.iter_mut().for_each(look_for_tool);
    experiment.loads.iter_mut().for_each(look_for_cores);
}

/// Finds everything that a variant needs. Without it, the variant is skipped with a message.
fn prepare(launcher: &Launcher, variant: &mut Variant) -> miette::Result<()> {
    if let Some(archive) = launcher.missing_download(variant) {
        note!("fetching {archive} from Maven Central into the cache");
    }
    let Err(error) = run::prepare(launcher, variant) else { return Ok(()) };
    match error.cannot_here() {
        Some(why) => {
            note!("{} is skipped: {why}", variant.name);
            variant.skipped = Some(why.to_owned());
            Ok(())
        }
        None => Err(launch_error_report(error)),
    }
}

/// Skips a load whose external tool is not installed, with a message.
fn look_for_tool(load: &mut LoadSpec) {
    if let Some(Err(missing)) = load.workload.tool().map(external::program) {
        note!("{} is skipped: {missing}", load.name);
        load.skipped = Some(missing.to_string());
    }
}

/// If the machine lacks one of the cores, no process is pinned. The variants are compared nevertheless, with a message.
fn pin_roles(experiment: &mut Experiment) {
    let refused = experiment.cores.as_ref().and_then(|cores| own_cores::cannot_be_had(&cores.all()));
    if let Some(why) = &refused {
        note!("no role is pinned to cores: {why}");
    }
    experiment.pin_roles(refused);
}

/// Skips a load whose generator is pinned to cores that do not exist.
fn look_for_cores(load: &mut LoadSpec) {
    if let Some(why) = own_cores::cannot_be_had(&load.sending.cores) {
        note!("{} is skipped (`cores`): {why}", load.name);
        load.skipped = Some(format!("`cores`: {why}"));
    }
}

/// Skips the loads for which this machine does not allow enough open files, with a message.
pub(super) fn leave_out_too_large(experiment: &mut Experiment) {
    for (load, why) in open_files::leave_out_too_large(experiment, machine::read().max_open_files) {
        note!("{load} is skipped: {why}");
    }
}

/// A launch error with the last lines of the log that it is about.
fn launch_error_report(error: LaunchError) -> miette::Report {
    match error.log_tail() {
        [] => miette::Report::from_err(error),
        lines => miette::miette!(help = lines.join("\n"), "{error}"),
    }
}
