//! An experiment on this machine: what it needs is found, and what cannot be had here is skipped with a message.

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

/// Fits the loads to this machine: its cores, and the tools that they need. Nothing is started.
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

/// Finds everything a variant needs. A variant whose requirements are not installed is skipped, with a message.
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

/// A load whose external tool is not installed is skipped, with a message.
fn look_for_tool(load: &mut LoadSpec) {
    if let Some(Err(missing)) = load.workload.tool().map(external::program) {
        note!("{} is skipped: {missing}", load.name);
        load.skipped = Some(missing.to_string());
    }
}

/// Where the machine lacks one of the cores, no role is pinned, with a message: the variants are compared all the same.
fn pin_roles(experiment: &mut Experiment) {
    let refused = experiment.cores.as_ref().and_then(|cores| own_cores::cannot_be_had(&cores.all()));
    if let Some(why) = &refused {
        note!("no role is pinned to cores: {why}");
    }
    experiment.pin_roles(refused);
}

/// A load whose generator is pinned to cores that do not exist is skipped.
fn look_for_cores(load: &mut LoadSpec) {
    if let Some(why) = own_cores::cannot_be_had(&load.sending.cores) {
        note!("{} is skipped (`cores`): {why}", load.name);
        load.skipped = Some(format!("`cores`: {why}"));
    }
}

/// Skips the loads that need more open files than this machine allows the variants that can run, with a message.
pub(super) fn leave_out_too_large(experiment: &mut Experiment) {
    for (load, why) in open_files::leave_out_too_large(experiment, machine::read().max_open_files) {
        note!("{load} is skipped: {why}");
    }
}

/// A launch error with the last lines of what it is about.
fn launch_error_report(error: LaunchError) -> miette::Report {
    match error.log_tail() {
        [] => miette::Report::from_err(error),
        lines => miette::miette!(help = lines.join("\n"), "{error}"),
    }
}
