//! Finds what requests wait for: whatever others hold, send or do, even if nobody knows how many are served at once.
//!
//! Samples of threads show how long requests wait and where; the longest wait is named. Counters of pools show how many are served, even if
//! the probe does not know the pool's code. A full pool other than the sampled wait is named as a second wait.

use super::connections;
use super::flow::{request_share, requests, threads};
use super::station::{Queue, Resource, Station};
use super::thresholds::{AT_LEAST, AT_ONE_PLACE, FEWEST_QUEUED, FEWEST_SAMPLES_OF_WAITS, FEWEST_WAITING};
use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use crate::finding::RunsShowing;
use crate::findings::file_io;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::request_time::request_time;

/// The waits in the runs of a variant, each with the number of runs that show it.
pub(super) fn in_runs(runs_of_variant: &VariantRuns<'_>) -> Vec<(Station, RunsShowing)> {
    let sampled = sampled_in_runs(runs_of_variant);
    let counted = runs_of_variant.observed().in_most(|run| {
        let figures = RunFigures::while_observed(run)?;
        let in_flight = figures.rate_per_s * figures.mean_ms / 1_000.0;
        connections::full(run, FEWEST_WAITING.max(AT_ONE_PLACE * in_flight))
    });
    each_once(sampled, counted)
}

/// The waits in a window without a load.
pub(super) fn in_window(record: &Record) -> Vec<(Station, ())> {
    let sampled = sampled_in_window(record).map(|it| (it, ()));
    each_once(sampled, connections::full(record, FEWEST_WAITING).map(|it| (it, ())))
}

/// The sampled wait, and the full pool unless the sampled wait is for it.
fn each_once<R>(sampled: Option<(Station, R)>, counted: Option<(Station, R)>) -> Vec<(Station, R)> {
    let is_another = |pool: &(Station, R)| !sampled.as_ref().is_some_and(|it| names_pool(&it.0, &pool.0));
    let counted = counted.filter(is_another);
    sampled.into_iter().chain(counted).collect()
}

/// Does `sampled` name this pool, or the library that it belongs to?
fn names_pool(sampled: &Station, counted: &Station) -> bool {
    let Resource::ConnectionPool(pool) = &counted.resource else { return false };
    let library = sampled.wait().and_then(connections::awaited_library);
    library.is_some_and(|it| pool.library.is_of_library(it))
        || matches!(&sampled.resource, Resource::ConnectionPool(it) if it.name == pool.name)
}

fn sampled_in_runs(runs_of_variant: &VariantRuns<'_>) -> Option<(Station, RunsShowing)> {
    let runs = &runs_of_variant.runs;
    // Threads of an unknown server may be background jobs, whose waits delay no request.
    let time = request_time(runs).filter(|time| time.counted == ThreadRole::Request)?;
    let per_run: Vec<RequestTime> = runs.iter().filter_map(|run| request_time(&[run])).collect();
    let keeps_carriers =
        |it: &ThreadActivity| it.state == ThreadState::File && file_io::find(runs_of_variant).is_some();
    let mut waits =
        time.parts.iter().filter(|part| is_long(&time, part) && is_certain(&time, &per_run, part));
    let part = waits.find(|part| !keeps_carriers(&part.activity))?;
    let shows = |run: &&RequestTime| {
        let same = run.parts.iter().filter(|it| it.activity.place() == part.activity.place());
        run.least_share(same.map(|it| it.time.ms).sum()) >= AT_ONE_PLACE
    };
    let showing = RunsShowing::new(per_run.iter().filter(shows).count(), time.runs as usize);
    (2 * showing.showing >= showing.complete).then(|| (in_part(runs, &time, part), showing))
}

/// The station that requests wait for in this part of their time.
pub(super) fn in_part(runs: &[&Record], time: &RequestTime, part: &RequestTimePart) -> Station {
    let station = waited(runs, &part.activity, part.threads);
    Station {
        in_flight: Some(time.rate_per_s * time.service_time_ms / 1_000.0),
        rate_per_s: Some(time.rate_per_s),
        service_time_ms: Some(time.service_time_ms),
        queue: station.queue.map(|it| Queue { time: Some(part.time), ..it }),
        ..station
    }
}

/// Do requests wait there for others, and for a large part of their time?
fn is_long(time: &RequestTime, part: &RequestTimePart) -> bool {
    let waits = part.activity.has_place() && part.activity.state.waits_for_others();
    waits && time.least_share(part.time.ms) >= AT_ONE_PLACE
}

/// Is the wait more than chance, in all runs together or in each of them?
fn is_certain(time: &RequestTime, per_run: &[RequestTime], part: &RequestTimePart) -> bool {
    let is_sure = |time: &RequestTime, it: &RequestTimePart| {
        it.activity.place() == part.activity.place()
            && it.time.interval.is_some_and(|interval| time.least_share(interval.low) >= AT_LEAST)
    };
    is_sure(time, part) || per_run.iter().all(|run| run.parts.iter().any(|it| is_sure(run, it)))
}

/// The place at which the largest share of the threads with a request waits for something that other threads of the process hold, in a
/// window without a load. Waits for other services do not count, because only a load shows whether they limit anything.
fn sampled_in_window(record: &Record) -> Option<Station> {
    let profile = record.jvm.as_ref()?.wait_profile.as_ref();
    let profile = profile.filter(|it| it.samples as usize >= FEWEST_SAMPLES_OF_WAITS)?;
    let in_flight = threads(profile, requests(profile));
    let waits = requests(profile).filter(|it| it.activity.has_place() && it.activity.state.is_contention());
    let counted = waits.map(|it| (threads(profile, [it]), it));
    let (waiting, group) = counted.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let station = Station { in_flight: Some(in_flight), ..waited(&[record], &group.activity, waiting) };
    (waiting >= FEWEST_QUEUED.max(AT_ONE_PLACE * in_flight)).then_some(station)
}

/// The station that threads with this activity wait for: a pool if it counts about as many waiting, else whatever the activity names.
fn waited(runs: &[&Record], activity: &ThreadActivity, threads: f64) -> Station {
    let profile = runs.iter().find_map(|run| run.jvm.as_ref()?.wait_profile.as_ref());
    let queue = Queue {
        requests: threads,
        request_share: profile.and_then(|it| request_share(it, activity)),
        activity: Some(activity.clone()),
        ..Queue::default()
    };
    let pool = runs.iter().find_map(|run| connections::pool_of(run, activity, threads));
    Station { queue: Some(queue), ..pool.unwrap_or_default() }
}
