//! When it is found.

use super::{RequestWaits, WaitingPart};
use crate::evidence::connection_pools;
use crate::evidence::connection_pools::FullPool;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::findings::file_io;
use crate::findings::waiting;
use crate::findings::waiting::{AT_ONE_PLACE, WaitingPlace};
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::backend_limit::MOSTLY_FULL;
use threadcount_stats::request_time::request_time;

/// The least of the service time that the interval of what is spent at one place must leave.
const AT_LEAST: f64 = 0.1;
/// Without a load it is not known how long a request may take: one that waits keeps no other one waiting.
const FEWEST_THREADS: f64 = 2.0;
/// So many more wait elsewhere than at a pool that is full.
const MANY_MORE: f64 = 2.0;
/// Of the threads that samples show to wait for a connection a pool's own count has this share, or it is another pool.
const MOST_OF_THEM: f64 = 0.5;
/// In fewer samples chance decides.
const FEWEST_SAMPLES: u32 = 5;

/// Where a limit names the threads that give what requests wait for, the wait is said with it.
pub(crate) fn find_after(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Option<Finding> {
    let is_said = |limit: &Finding, waits: &RequestWaits| match &limit.fact {
        Fact::ConcurrencyLimit(limit) => limit.threads.is_some() && limit.names(&waits.part.activity),
        _ => false,
    };
    what_requests_wait_for(runs_of_variant).filter(|finding| {
        let waits = waits_of(finding);
        !waits.is_some_and(|waits| found.iter().any(|limit| is_said(limit, waits)))
    })
}

/// Samples tell how long requests wait for a pool and where; of other waits events know the length of each. Where samples show a larger
/// wait than events do, at another place, it is named.
fn what_requests_wait_for(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let sampled = find(runs_of_variant);
    let counted = waiting::find(runs_of_variant).filter(|counted| {
        sampled.as_ref().is_none_or(|sampled| !is_for_pool(sampled) && !is_larger_elsewhere(sampled, counted))
    });
    counted.or(sampled)
}

fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let time = request_time(&runs_of_variant.runs)?;
    let is_said = |activity: &ThreadActivity| {
        activity.state == ThreadState::File && file_io::find(runs_of_variant).is_some()
    };
    // Threads of an unknown server may be jobs of the application, whose waiting keeps no request.
    let is_known = time.counted == ThreadRole::Request;
    let runs = &runs_of_variant.runs;
    let part = longest_wait(&time, runs, &is_said).filter(|_| is_known)?.clone();
    let pool = pool(runs, &part.activity, part.threads);
    let shown_by = runs_showing(runs, &part);
    if 2 * shown_by < time.runs as usize {
        return None;
    }
    let RequestTimePart { activity, threads, time: spent } = part;
    let fact = RequestWaits {
        part: WaitingPart { activity, threads, time: Some(spent) },
        service_time_ms: Some(time.service_time_ms),
        request_threads: None,
        pool,
    };
    let runs = RunsShowing::of(shown_by, time.runs as usize);
    Some(runs_of_variant.finding(Fact::RequestWaits(fact), runs))
}

/// Of a window without a load: the share of the threads with a request that wait at one place for what other threads of the process
/// hold. Whether a database that is read all the time limits a service shows only under a load. A pool that is full is named by `waiting`.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let profile = record.jvm.as_ref()?.wait_profile.as_ref().filter(|it| it.samples >= FEWEST_SAMPLES)?;
    let of_requests = || profile.groups.iter().filter(|group| group.role == ThreadRole::Request);
    let request_threads: f64 = of_requests().map(|group| profile.mean_threads(group)).sum();
    let waits = of_requests().filter(|group| {
        let activity = &group.activity;
        activity.has_place() && activity.state.is_contention() && !is_full_pool(record, activity)
    });
    let parts = waits.map(|group| WaitingPart {
        activity: group.activity.clone(),
        threads: profile.mean_threads(group),
        time: None,
    });
    let part = parts.max_by(|a, b| a.threads.total_cmp(&b.threads))?;
    let is_worth_saying = part.threads >= FEWEST_THREADS.max(AT_ONE_PLACE * request_threads);
    let pool = pool(&[record], &part.activity, part.threads);
    let waits = RequestWaits { part, service_time_ms: None, request_threads: Some(request_threads), pool };
    is_worth_saying.then_some(Fact::RequestWaits(waits))
}

fn is_full_pool(record: &Record, activity: &ThreadActivity) -> bool {
    awaited_library(activity).is_some_and(|it| connection_pools::is_full_in_window(record, it))
}

/// Does it say which pool of connections is full, or for whose connections requests wait?
fn is_for_pool(finding: &Finding) -> bool {
    waits_of(finding).is_some_and(|it| it.part.activity.state == ThreadState::Pool || it.pool.is_some())
}

/// Do samples show a larger wait than another finding names, and not the same one? The code of a pool that is full may be one that
/// samples do not know: as many then wait at it. Of a library that they know a pool that `sampled` does not name keeps others waiting.
fn is_larger_elsewhere(sampled: &Finding, counted: &Finding) -> bool {
    let Some(waits) = waits_of(sampled) else { return false };
    let Fact::Waiting(place) = &counted.fact else { return false };
    match place {
        WaitingPlace::Pool(pool) => {
            let of_library = |library| pool.kind.is_of_library(library);
            awaited_library(&waits.part.activity).is_some_and(of_library)
                || waits.part.threads > MANY_MORE * pool.waiting_threads
        }
        WaitingPlace::Code { site, waiting_threads, requests_in_flight } => {
            let share = waits.part.time.zip(waits.service_time_ms).map(|(time, whole_ms)| time.ms / whole_ms);
            site.application != waits.part.activity.application
                && share.is_some_and(|share| share > waiting_threads / requests_in_flight)
        }
    }
}

const fn waits_of(finding: &Finding) -> Option<&RequestWaits> {
    match &finding.fact {
        Fact::RequestWaits(waits) => Some(waits),
        _ => None,
    }
}

/// Runs each of which spends about as much of its time there.
fn runs_showing(runs: &[&Record], part: &RequestTimePart) -> usize {
    let shows = |run: &&&Record| {
        request_time(&[run]).is_some_and(|time| {
            let same = time.parts.iter().filter(|it| is_same_place(it, part));
            time.least_share(same.map(|it| it.time.ms).sum()) >= AT_ONE_PLACE
        })
    };
    runs.iter().filter(shows).count()
}

/// The pool for whose connections they wait, over the runs in which it was read.
fn pool(runs: &[&Record], activity: &ThreadActivity, threads: f64) -> Option<FullPool> {
    let library = awaited_library(activity)?;
    let is_meant = |pool: &FullPool| match activity.state {
        ThreadState::Pool => pool.waiting_threads >= MOST_OF_THEM * threads,
        _ => keeps_responses_waiting(pool, threads),
    };
    let of_runs = runs.iter().filter_map(|run| connection_pools::of_library(run, library));
    let pools: Vec<FullPool> = of_runs.filter(is_meant).collect();
    connection_pools::mean(&pools.iter().collect::<Vec<_>>())
}

/// Who has a connection waits at the same place, for the response: are those without one about as many as the pool counts?
fn keeps_responses_waiting(pool: &FullPool, threads: f64) -> bool {
    let without_connection = threads - pool.connections;
    let possible = MOST_OF_THEM * without_connection..=without_connection / MOST_OF_THEM;
    pool.full_share >= MOSTLY_FULL
        && pool.waiting_threads >= connection_pools::FEWEST_WAITING
        && possible.contains(&pool.waiting_threads)
}

/// Whose pool of connections is waited for, or whose response, for which a connection is needed first.
fn awaited_library(activity: &ThreadActivity) -> Option<&str> {
    let waits = activity.state == ThreadState::Pool || activity.waits_for_http();
    activity.resource.as_deref().filter(|_| waits)
}

/// Who holds it and whom it reads from may differ from run to run.
fn is_same_place(one: &RequestTimePart, other: &RequestTimePart) -> bool {
    let place = |it: &RequestTimePart| {
        let activity = it.activity.clone();
        (activity.state, activity.resource, activity.application, activity.library)
    };
    place(one) == place(other)
}

/// The longest one that is surely there, in all runs together or in each of them. `is_said`: another finding names it.
fn longest_wait<'a>(
    time: &'a RequestTime,
    runs: &[&Record],
    is_said: &dyn Fn(&ThreadActivity) -> bool,
) -> Option<&'a RequestTimePart> {
    let of_runs: Vec<RequestTime> = runs.iter().filter_map(|run| request_time(&[run])).collect();
    let is_in_run = |of_run: &RequestTime, part: &RequestTimePart| {
        of_run.parts.iter().any(|it| is_same_place(it, part) && is_sure(of_run, it))
    };
    let is_in_each = |part: &RequestTimePart| of_runs.iter().all(|of_run| is_in_run(of_run, part));
    let is_sure = |part: &&RequestTimePart| is_sure(time, part) || is_in_each(part);
    let parts = time.parts.iter().filter(|part| part.activity.has_place());
    let waits = parts.filter(|part| part.activity.state.waits_for_others());
    let mut sure = waits.filter(is_sure).filter(|part| !is_said(&part.activity));
    sure.find(|part| time.least_share(part.time.ms) >= AT_ONE_PLACE)
}

fn is_sure(time: &RequestTime, part: &RequestTimePart) -> bool {
    part.time.interval.is_some_and(|interval| time.least_share(interval.low) >= AT_LEAST)
}

#[cfg(test)]
mod tests;
