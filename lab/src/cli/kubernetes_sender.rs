//! `run --kubernetes` and `compare --kubernetes`: pods that stay for the session send its loads.

use super::kubernetes_events::{Purpose, tell};
use super::kubernetes_options::KubernetesOptions;
use super::stdout;
use crate::run::pods::Pods;
use miette::{IntoDiagnostic, miette};
use std::sync::atomic::AtomicBool;
use threadcount_cluster::job::manifest;
use threadcount_cluster::workers::Workers;
use threadcount_model::experiment::{Experiment, LoadSpec, Variant, Workload};
use threadcount_servers::workload::load_plan::load_plan;
use threadcount_servers::workload::order::check_files;

/// A plan needs an address, but its number of connections does not depend on it.
const SOMEWHERE: &str = "http://127.0.0.1:1";

/// Refuses what pods cannot do: start a server, run another tool, read a file of this machine, or share fewer connections than there are
/// pods.
///
/// # Errors
/// The first refusal, with what to write instead.
pub(super) fn check(options: &KubernetesOptions, experiment: &Experiment) -> miette::Result<()> {
    for load in &experiment.loads {
        if !matches!(load.workload, Workload::Http(_) | Workload::Capacity(_)) {
            return Err(miette!(
                help = "leave --kubernetes out, or the load",
                "--kubernetes: the load `{}` is not sent by our generator",
                load.name
            ));
        }
        if options.has_default_image() {
            check_files(load).map_err(|error| {
                miette!(
                    help = "build an image with the file at the same path, and name it by --image",
                    "--kubernetes: {error}, which the pods do not have"
                )
            })?;
        }
        let connections = fewest_connections(load);
        if connections < options.pods() {
            return Err(miette!(
                help = format!("write --pods {connections} or fewer, or more clients"),
                "--pods {}: the load `{}` has {connections} connections, and each pod needs one",
                options.pods(),
                load.name
            ));
        }
    }
    let runs = |variant: &&Variant| experiment.loads.iter().any(|load| load.includes(&variant.name));
    let started = experiment.variants.iter().filter(runs).find(|variant| variant.target().is_none());
    started.map_or(Ok(()), |variant| {
        Err(miette!(
            help = format!(
                "write where it runs: --target-url {}=http://HOST:PORT, or `server: {{target_url: ..}}` in a file",
                variant.name
            ),
            "--kubernetes: the server of `{}` would be started on this machine, where the pods do not reach it",
            variant.name
        ))
    })
}

/// The fewest connections that a load has at any time. A search warms up with fewer than its steps have.
fn fewest_connections(load: &LoadSpec) -> u32 {
    load_plan(load, SOMEWHERE).map_or(load.clients(), |plan| plan.connections.get())
}

/// Prints the Job that would be made.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print(options: &KubernetesOptions) -> miette::Result<()> {
    stdout::print(&manifest(&options.workers()).into_diagnostic()?)
}

/// Makes the Job and waits for its pods.
///
/// # Errors
/// The Job cannot be made, or its pods cannot send.
pub(super) fn start(options: &KubernetesOptions, interrupted: &AtomicBool) -> miette::Result<Pods> {
    let load = options.workers();
    let told = load.clone();
    let on_event = Box::new(move |event: &_| tell(event, &told, Purpose::Session, false));
    let (workers, clocks) = Workers::start(load, options.start_after, interrupted, on_event)?;
    clocks.iter().for_each(|text| note!("{text}"));
    Ok(Pods::new(workers))
}
