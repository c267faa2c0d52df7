//! Decides whether the figures may be believed, and if not, why.

use super::backend_limit::backend_limit;
use super::compiler::busy_compiler;
use super::disturbance::{disturbance, left_room};
use super::doubt_groups::{grouped, worst_first};
use super::no_overload::no_overload;
use super::runs::{complete, is_complete};
use super::spread::{Spread, spreads};
use super::unequally_warm::unequally_warm;
use super::warmth::was_warm;
use std::collections::BTreeSet;
use threadcount_load::health::RATE_REACHED;
use threadcount_load::report::{LoadReport, most_frequent_failure};
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::plan::plan;
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::SearchEnd;
use threadcount_model::record::resource_limits::SharedGroup;

/// If the runs of one variant differ by more than this, they disturb each other, or something disturbs them.
const WIDE_SPREAD: f64 = 0.10;
/// If a smaller share was answered, the server falls behind (what is in flight at the end is always missing).
const COMPLETED_OF_ASKED: f64 = 0.95;
/// The request was wrong if the responses that tell so exceed this share of the expected responses.
const MISTAKES_OF_OK: f64 = 0.01;
/// A request hangs if it has had no response for this part of the window, and for this many times the longest response.
const SILENT_PART: f64 = 0.5;
const MUCH_SLOWER: f64 = 10.0;

/// Doubts about the runs, the most important first, and whether the figures may be believed nevertheless.
///
/// Failed runs, a load generator that was the bottleneck, unexpected failures, requests that hang, overflowing accept queues and a
/// machine that is busy with something else end the trust: such figures are not the server's. Runs that the user interrupted, or that
/// never ran, take nothing from the complete runs, but without any complete run there is nothing to trust. A run that is left out
/// because of interference, a missed rate, a warm-up without a steady state, a wide spread and too few runs are reported too, but do
/// not end the trust: the figures are true, and the intervals (or their absence) already show how little they prove.
#[must_use]
pub fn trust(experiment: &Experiment, records: &[Record]) -> (bool, Vec<Doubt>) {
    let doubts = doubts(experiment, records);
    let trusted = records.iter().any(is_complete) && doubts.iter().all(|doubt| !doubt.reason.is_serious());
    (trusted, grouped(doubts))
}

/// All doubts about the runs, one by one, the most important first.
#[must_use]
pub fn doubts(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let mut doubts = failed_runs(experiment, records);
    // No figure of a failed run counts, and anything else seen in it belongs to its failure.
    for record in records.iter().filter(|record| record.failure.is_none()) {
        let may_lose = may_lose(experiment, record, None);
        doubts.extend(serious_doubts(record, records, may_lose));
        doubts.extend(interference(record, records).filter(|reason| !reason.is_serious()).map(about(record)));
        if !may_lose {
            doubts.extend(record.measured.as_ref().and_then(missed_rate).map(about(record)));
        }
        doubts.extend(shared_group(record).map(about(record)));
        doubts.extend(not_steady(record).map(about(record)));
        let compiler = busy_compiler(record).map(|share| DoubtReason::CompilerBusy { share });
        doubts.extend(compiler.map(about(record)));
    }
    doubts.extend(no_overload(experiment, records));
    doubts.extend(unequally_warm(experiment, records));
    doubts.extend(spread_doubts(experiment, records));
    doubts.sort_by(worst_first);
    doubts
}

/// Doubts about one measured run that end the trust. `may_lose` tells that failing requests are what is measured.
fn serious_doubts(record: &Record, records: &[Record], may_lose: bool) -> Vec<Doubt> {
    let load = record.measured.as_ref();
    let reasons = [
        load.and_then(|load| generator(record, load)),
        load.and_then(|_| backend(record, records)),
        load.filter(|_| !may_lose).and_then(failures),
        load.filter(|_| !may_lose).and_then(no_response),
        overflows(record).filter(|_| !may_lose),
        interference(record, records).filter(DoubtReason::is_serious),
    ];
    reasons.into_iter().flatten().map(about(record)).collect()
}

/// The most important reason why nothing may be concluded from this variant's figures under this load; `None` if conclusions may be
/// drawn. If an external load tool was its own bottleneck, its figures are there to show exactly that.
#[must_use]
pub fn doubt_about(
    experiment: &Experiment,
    (variant, load): (&str, &str),
    metric: Metric,
    records: &[Record],
) -> Option<Doubt> {
    doubts_about(experiment, (variant, load), metric, records).into_iter().next()
}

/// All of these reasons, the most important first.
pub(super) fn doubts_about(
    experiment: &Experiment,
    (variant, load): (&str, &str),
    metric: Metric,
    records: &[Record],
) -> Vec<Doubt> {
    let of_both = records.iter().filter(|record| record.variant == variant && record.load == load);
    let doubts = of_both.flat_map(|record| {
        let is_external = record.external.is_some();
        let is_wanted = move |doubt: &Doubt| !(is_external && doubt.reason.is_of_generator());
        let of_survivors = expects_losses(experiment, record) && metric.is_of_survivors();
        let missed = record.measured.as_ref().filter(|_| of_survivors).and_then(missed_rate);
        serious_doubts(record, records, may_lose(experiment, record, Some(metric)))
            .into_iter()
            .chain(missed.map(about(record)))
            .filter(is_wanted)
    });
    grouped(doubts.collect())
}

/// The reason why nothing may be concluded from the server's CPU in particular: a compiler was busy in one of the runs that count.
#[must_use]
pub fn doubt_about_cpu(variant: &str, load: &str, records: &[Record]) -> Option<Doubt> {
    let busy = complete(records, variant, load).into_iter().filter_map(|record| {
        Some(about(record)(DoubtReason::CompilerBusy { share: busy_compiler(record)? }))
    });
    grouped(busy.collect()).into_iter().next()
}

/// Are failing requests and a missed rate what is measured, because losses are expected, as in an overload? Not if nothing succeeds or
/// requests are wrong, and not for figures of the requests that did not fail. With `metric` `None`, asks for the page as a whole.
fn may_lose(experiment: &Experiment, record: &Record, metric: Option<Metric>) -> bool {
    let Some(load) = experiment.load(&record.load).filter(|load| load.workload.expects_losses()) else {
        return false;
    };
    let succeeds = |measured: &LoadReport| {
        let ok = measured.requests.ok as f64;
        ok > 0.0 && mistakes(load, measured) as f64 <= MISTAKES_OF_OK * ok
    };
    record.measured.as_ref().is_some_and(succeeds) && metric.is_none_or(|metric| !metric.is_of_survivors())
}

fn expects_losses(experiment: &Experiment, record: &Record) -> bool {
    experiment.load(&record.load).is_some_and(|load| load.workload.expects_losses())
}

/// Number of unexpected responses that mean that the request was wrong: neither an overload nor a stall produces them.
fn mistakes(load: &LoadSpec, measured: &LoadReport) -> u64 {
    let is_mistake = |status: u16| {
        let says_so = (400..500).contains(&status) && ![408, 429].contains(&status);
        says_so && !load.sending.expect.accepts(status)
    };
    measured.status.iter().filter(|&(&status, _)| is_mistake(status)).map(|(_, count)| count).sum()
}

/// Makes a reason a doubt about one run.
fn about(record: &Record) -> impl Fn(DoubtReason) -> Doubt {
    let (variant, load) = (record.variant.clone(), record.load.clone());
    move |reason| Doubt { variant: variant.clone(), load: load.clone(), runs: 1, reason }
}

fn failed_runs(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let failed = records.iter().filter(|record| !is_complete(record)).map(|record| {
        let why = record.failure.as_ref().map(|failure| failure.why.clone());
        let reason = why.map_or(DoubtReason::RunInterrupted, |why| DoubtReason::RunFailed { why });
        about(record)(reason)
    });
    let mut doubts: Vec<Doubt> = failed.collect();
    let planned: BTreeSet<_> = plan(experiment).iter().map(|run| (run.variant, run.load)).collect();
    for (variant, load) in planned {
        let (variant, load) = (&experiment.variants[variant].name, &experiment.loads[load].name);
        if !records.iter().any(|record| record.variant == *variant && record.load == *load) {
            let reason = DoubtReason::NeverRan;
            doubts.push(Doubt { variant: variant.clone(), load: load.clone(), runs: 1, reason });
        }
    }
    doubts
}

fn generator(record: &Record, load: &LoadReport) -> Option<DoubtReason> {
    if let Some(search) = &record.capacity {
        let above_per_s = search.sustained_per_s.unwrap_or(0.0);
        return (search.ended == SearchEnd::Generator)
            .then_some(DoubtReason::GeneratorBelowCapacity { above_per_s });
    }
    let generator = &load.generator;
    generator.bottleneck.then(|| DoubtReason::GeneratorBottleneck { why: generator.why.clone() })
}

fn backend(record: &Record, records: &[Record]) -> Option<DoubtReason> {
    let alike = records.iter().filter(|it| it.variant == record.variant && it.load == record.load);
    let (backend, by) = backend_limit(record, &alike.collect::<Vec<_>>())?;
    Some(DoubtReason::BackendLimit { backend: backend.to_owned(), by })
}

fn failures(load: &LoadReport) -> Option<DoubtReason> {
    let requests = load.requests;
    let cause = most_frequent_failure([load]).map(|it| it.to_string());
    (requests.failed > 0).then_some(DoubtReason::RequestsFailed {
        failed: requests.failed,
        sent: requests.of_window(),
        cause,
    })
}

/// Does part of the server hang while the rest responds? A closed loop then has fewer clients than it should.
fn no_response(load: &LoadReport) -> Option<DoubtReason> {
    let oldest_s = load.unfinished_age_ms?.max / 1e3;
    let longest_s = load.response_time_ms?.max / 1e3;
    let hangs = oldest_s >= SILENT_PART * load.elapsed_s && oldest_s >= MUCH_SLOWER * longest_s;
    hangs.then_some(DoubtReason::NoResponse { oldest_s })
}

fn overflows(record: &Record) -> Option<DoubtReason> {
    let overflows = record.network?.listen_overflows;
    (overflows > 0).then_some(DoubtReason::AcceptQueueOverflow { overflows })
}

/// Interference in a run: the figures leave the run out if enough others remain, and rest on it if not. That ends the trust, unless
/// everybody had room: then the neighbour's effect is in the noise of the rounds, and so in the intervals.
fn interference(record: &Record, records: &[Record]) -> Option<DoubtReason> {
    let by = disturbance(record)?;
    let counted = complete(records, &record.variant, &record.load);
    let counts = counted.iter().any(|run| std::ptr::eq(*run, record));
    let undisturbed = counted.iter().filter(|run| disturbance(run).is_none()).count();
    Some(match counts {
        false => DoubtReason::LeftOut { by },
        true if left_room(record) => DoubtReason::SharedMachine { by },
        true => DoubtReason::Interference { by, kept: undisturbed > 0 },
    })
}

/// A server and a load generator with cores of their own are kept apart even in one group.
fn shared_group(record: &Record) -> Option<DoubtReason> {
    let (limits, cost) = (record.resource_limits.as_ref()?, record.cost?);
    let group = limits.shared_group?;
    let are_apart = limits.server.affinity_cpus + limits.generator.affinity_cpus <= limits.machine_cpus;
    (!are_apart && SharedGroup::matters(cost.cpu_cores, cost.machine_cores))
        .then_some(DoubtReason::SharedSchedulingGroup { group })
}

fn not_steady(record: &Record) -> Option<DoubtReason> {
    let warm_up = record.warm_up.as_ref().filter(|_| was_warm(record) == Some(false))?;
    Some(DoubtReason::NotSteady {
        judged_by: warm_up.judged_by,
        after_s: warm_up.lasted_s,
        unsteady: warm_up.unsteady.clone(),
    })
}

fn missed_rate(load: &LoadReport) -> Option<DoubtReason> {
    let (rate, asked) = (load.rate_per_s, load.rate_per_s.asked?);
    let missed = rate.sent < RATE_REACHED * asked || rate.completed < COMPLETED_OF_ASKED * asked;
    missed.then_some(DoubtReason::RateMissed {
        asked_per_s: asked,
        sent_per_s: rate.sent,
        completed_per_s: rate.completed,
    })
}

/// Doubts about runs that differ a lot, and about single runs.
fn spread_doubts(experiment: &Experiment, records: &[Record]) -> Vec<Doubt> {
    let reason = |spread: &Spread| match spread.runs {
        0 | 1 => Some(DoubtReason::SingleRun),
        _ => (spread.rate > WIDE_SPREAD)
            .then_some(DoubtReason::WideSpread { metric: spread.metric, share: spread.rate }),
    };
    let spreads = spreads(experiment, records).into_iter();
    let doubts = spreads.filter_map(|spread| {
        let reason = reason(&spread)?;
        Some(Doubt { variant: spread.variant, load: spread.load, runs: spread.runs as u32, reason })
    });
    doubts.collect()
}

#[cfg(test)]
mod tests;
