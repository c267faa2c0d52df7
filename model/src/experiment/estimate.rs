//! How long the runs of an experiment take.

use super::explaining::LEAD_IN_S;
use super::plan::{PlannedRun, plan, round_of};
use super::{Experiment, LoadSpec, ProbeLevel, Published, Server, Subject, Variant, Workload};

/// Starting a server with a JVM, reading its flags and native memory, and stopping it, in seconds.
const START_STOP_S: f64 = 3.0;
/// Starting and stopping a peer, which has no JVM, in seconds.
const PEER_START_STOP_S: f64 = 0.5;
/// Filling the server with requests again and counting its heap, in seconds.
const COUNTING_HEAP_S: f64 = 1.0;
/// Counting its heap at rest, in seconds.
const COUNTING_AT_REST_S: f64 = 0.7;
/// Loading the probe into the JVM, and the last events of the flight recorder, in seconds.
const PROBING_S: f64 = 2.0;
/// The pause between two steps of a capacity load, in seconds.
const BETWEEN_STEPS_S: f64 = 0.5;
/// How often a capacity load doubles its rate if no rate is published.
const DOUBLINGS: u32 = 4;

/// The time that all possible runs take, in seconds; `None` if a load ends after a number of requests and no rate is published.
/// Beyond the first round of each load it never exceeds the budget.
#[must_use]
pub fn estimate_s(experiment: &Experiment) -> Option<f64> {
    estimate_with_s(experiment, experiment.usual_recompiling_s())
}

fn estimate_with_s(experiment: &Experiment, recompiling_s: f64) -> Option<f64> {
    let length_s = |run: &PlannedRun| run_s(experiment, run, recompiling_s);
    let longest: Option<f64> = plan(experiment).iter().map(length_s).sum();
    let runs = (0..experiment.loads.len()).flat_map(|load| round_of(experiment, load, 1, 1));
    let shortest: Option<f64> = runs.map(|run| length_s(&run)).sum();
    let (longest, shortest) = (longest?, shortest?);
    Some(experiment.budget_s.map_or(longest, |budget_s| longest.min(budget_s.max(shortest))))
}

/// Like [`estimate_s`] if every `auto` warm-up and recompilation takes as long as it may, because the JVM becomes warm slowly or never.
#[must_use]
pub fn longest_estimate_s(experiment: &Experiment) -> Option<f64> {
    let mut slow = experiment.clone();
    for load in &mut slow.loads {
        load.warmup_s = Some(experiment.longest_warmup_s(load));
    }
    estimate_with_s(&slow, experiment.longest_recompiling_s())
}

/// The duration of one run in seconds, with the longest warm-up that is written, or the usual warm-up for `auto`. The JVM recompiles
/// for `recompiling_s` after attaching.
#[must_use]
pub fn run_s(experiment: &Experiment, run: &PlannedRun, recompiling_s: f64) -> Option<f64> {
    let load = &experiment.loads[run.load];
    let variant = &experiment.variants[run.variant];
    let measured_s = load_length_s(experiment, load, &variant.name)?;
    let lead_in_s = experiment.lead_in_s(load) * f64::from(load.turns());
    let before_s = match &variant.subject {
        Subject::Server(server) => start_stop_s(server) + experiment.warmup_s(load) + lead_in_s,
        // A server that runs elsewhere does not show when it is warm under a rate that the schedule holds, so its warm-up takes as long as
        // it may.
        Subject::Target(_) if load.workload.rate_per_s().is_some() => {
            experiment.longest_warmup_s(load) + lead_in_s
        }
        Subject::Target(_) => experiment.warmup_s(load) + lead_in_s,
        Subject::Benchmark { .. } => START_STOP_S,
    };
    let backends_s: f64 = variant.backends.iter().map(|backend| start_stop_s(&backend.server)).sum();
    Some(
        before_s
            + backends_s
            + measured_s
            + heap_s(variant, load)
            + explaining_s(experiment, run, recompiling_s),
    )
}

const fn start_stop_s(server: &Server) -> f64 {
    match server {
        Server::Peer(_) => PEER_START_STOP_S,
        _ => START_STOP_S,
    }
}

/// Whether the variant runs a JVM. Estimates assume that a command starts one.
fn has_jvm(variant: &Variant) -> bool {
    variant.server().is_some_and(|server| !matches!(server, Server::Peer(_)))
}

/// The time to count the heap, in seconds. The load continues meanwhile; under a changing rate the count falls in its middle.
fn heap_s(variant: &Variant, load: &LoadSpec) -> f64 {
    if !has_jvm(variant) {
        return 0.0;
    }
    let half_s = load.shape.as_ref().and(load.duration_s).map(|duration_s| duration_s / 2.0);
    COUNTING_HEAP_S + half_s.unwrap_or(0.0)
}

/// The extra seconds of a run in a round with an explaining window, which only the first rounds have.
#[must_use]
pub fn explaining_s(experiment: &Experiment, run: &PlannedRun, recompiling_s: f64) -> f64 {
    let load = &experiment.loads[run.load];
    let variant = &experiment.variants[run.variant];
    let is_explained = has_jvm(variant) && experiment.explains(load, run.round);
    let is_probed = is_explained && variant.probe != Some(ProbeLevel::Off);
    let window_s = explaining_lead_in_s(experiment, load) + explaining_window_s(experiment, run);
    let parts = [
        (is_explained, COUNTING_AT_REST_S),
        (is_probed, PROBING_S + recompiling_s),
        (is_probed || (load.thread_dump && variant.server().is_some()), window_s),
    ];
    parts.iter().filter(|(takes_place, _)| *takes_place).map(|(_, seconds)| seconds).sum()
}

/// The lead-in of the explaining window in seconds; none for a load with a shape.
fn explaining_lead_in_s(experiment: &Experiment, load: &LoadSpec) -> f64 {
    if load.shape.is_some() { 0.0 } else { LEAD_IN_S.max(experiment.lead_in_s(load)) }
}

/// The planned length of the explaining window in seconds, without its lead-in. With long requests it lasts longer.
#[must_use]
pub fn explaining_window_s(experiment: &Experiment, run: &PlannedRun) -> f64 {
    let load = &experiment.loads[run.load];
    let measured_s = match load.workload {
        Workload::Capacity(_) => load.duration_s,
        _ => load_length_s(experiment, load, &experiment.variants[run.variant].name),
    };
    match (&load.shape, measured_s) {
        (Some(_), Some(measured_s)) => measured_s,
        _ => experiment.explaining_s(measured_s.unwrap_or(f64::MAX)),
    }
}

fn load_length_s(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    match load.workload {
        Workload::Capacity(capacity) => {
            let doublings = |rate: f64| (rate / capacity.from_per_s).log2().clamp(0.0, 20.0).ceil() as u32;
            let steps =
                capacity.likely_steps(published_rate(experiment, load, variant).map_or(DOUBLINGS, doublings));
            Some(f64::from(steps) * (load.duration_s? + BETWEEN_STEPS_S))
        }
        Workload::Jmh(size) => Some(f64::from(size.all_iterations()) * load.duration_s?),
        Workload::Http(_) | Workload::External(_) => requests_length_s(experiment, load, variant),
    }
}

fn requests_length_s(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let by_requests_s = load.requests.and_then(|requests| {
        if let Some(elapsed_ms) = published_elapsed_ms(experiment, load, variant) {
            return Some(elapsed_ms / 1e3);
        }
        let rate = load.workload.rate_per_s().or_else(|| published_rate(experiment, load, variant))?;
        Some(requests as f64 / rate)
    });
    match (load.duration_s, by_requests_s) {
        (Some(duration_s), Some(by_requests_s)) => Some(duration_s.min(by_requests_s)),
        (one, other) => one.or(other),
    }
}

/// The variant's published rate under this load, or else the slowest published for any variant under it, or else the slowest of all.
fn published_rate(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let first = experiment.loads.first().map(|load| load.name.as_str());
    let here = |entry: &&Published| entry.load.as_deref().or(first) == Some(&*load.name);
    let slowest = |entries: &mut dyn Iterator<Item = &Published>| {
        let rate = |entry: &Published| {
            ["rate_per_s", "capacity_per_s"].iter().find_map(|name| entry.figures.get(*name).copied())
        };
        entries.filter_map(rate).min_by(f64::total_cmp)
    };
    let all = &experiment.published;
    slowest(&mut all.iter().filter(here).filter(|entry| entry.variant == variant))
        .or_else(|| slowest(&mut all.iter().filter(here)))
        .or_else(|| slowest(&mut all.iter()))
}

/// The published duration of the whole load for this variant, or else the longest published for any variant under the load.
fn published_elapsed_ms(experiment: &Experiment, load: &LoadSpec, variant: &str) -> Option<f64> {
    let first = experiment.loads.first().map(|load| load.name.as_str());
    let here = experiment.published.iter().filter(|it| it.load.as_deref().or(first) == Some(&*load.name));
    let elapsed = |it: &Published| it.figures.get("elapsed_ms").copied();
    let own = here.clone().filter(|it| it.variant == variant).find_map(elapsed);
    own.or_else(|| here.filter_map(elapsed).max_by(f64::total_cmp))
}
