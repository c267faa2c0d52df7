//! Decides where requests wait.

use super::{RequestWaits, WaitingPart};
use crate::evidence::connection_pools;
use crate::evidence::connection_pools::FullPool;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::findings::file_io;
use crate::findings::waiting;
use threadcount_model::record::Record;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadRole, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::backend_limit::MOSTLY_FULL;
use threadcount_stats::request_time::request_time;

/// Least share of the service time, or of the requests in flight, that must be waiting at one place ...
pub(crate) const AT_ONE_PLACE: f64 = 0.2;
/// ... and the least share of the service time by the low end of its interval.
const AT_LEAST: f64 = 0.1;
/// Least number of waiting threads without a load: nobody knows how long a request may take, and a single one keeps no other waiting.
const FEWEST_THREADS: f64 = 2.0;
/// A place beats a full pool if this many times as many threads wait there as at the pool.
const MANY_MORE: f64 = 2.0;
/// A pool's own count must show this share of the threads that samples show to wait for a connection, or it is another pool.
const MOST_OF_THEM: f64 = 0.5;
/// With fewer samples chance decides.
const FEWEST_SAMPLES: u32 = 5;

/// Finds a wait, unless a limit that names the threads which provide what requests wait for already tells it.
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

/// Samples show how long requests wait and where; counters show full pools, also those whose code the samples do not know.
fn what_requests_wait_for(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let sampled = find(runs_of_variant);
    let counted = waiting::find(runs_of_variant).filter(|counted| {
        let Fact::Waiting(pool) = &counted.fact else { return false };
        !sampled.as_ref().and_then(waits_of).is_some_and(|waits| tells_more(waits, pool))
    });
    counted.or(sampled)
}

fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let time = request_time(&runs_of_variant.runs)?;
    let is_said = |activity: &ThreadActivity| {
        activity.state == ThreadState::File && file_io::find(runs_of_variant).is_some()
    };
    // Threads of an unknown server may be jobs of the application, and their waits delay no request.
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
    let runs = RunsShowing::new(shown_by, time.runs as usize);
    Some(runs_of_variant.finding(Fact::RequestWaits(fact), runs))
}

/// In a window without a load: the share of the threads with a request that wait at one place for what other threads of the process
/// hold. Whether a much-read database limits a service shows only under a load. The rule `waiting` names full pools.
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

/// Do samples name the pool for whose connections requests wait, or a larger wait than the counters of a full pool? Samples may not know
/// the code of a full pool, and then as many threads wait there. If they know its library, a pool that `waits` does not name keeps other
/// threads waiting.
fn tells_more(waits: &RequestWaits, full: &FullPool) -> bool {
    let activity = &waits.part.activity;
    activity.state == ThreadState::Pool
        || waits.pool.is_some()
        || awaited_library(activity).is_some_and(|library| full.kind.is_of_library(library))
        || waits.part.threads > MANY_MORE * full.waiting_threads
}

const fn waits_of(finding: &Finding) -> Option<&RequestWaits> {
    match &finding.fact {
        Fact::RequestWaits(waits) => Some(waits),
        _ => None,
    }
}

/// Number of runs that spend about as much of their time at this place.
fn runs_showing(runs: &[&Record], part: &RequestTimePart) -> usize {
    let shows = |run: &&&Record| {
        request_time(&[run]).is_some_and(|time| {
            let same = time.parts.iter().filter(|it| is_same_place(it, part));
            time.least_share(same.map(|it| it.time.ms).sum()) >= AT_ONE_PLACE
        })
    };
    runs.iter().filter(shows).count()
}

/// The pool for whose connections the threads wait, over the runs in which it was read.
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

/// Threads with a connection wait at the same place for the response: are the threads without one about as many as the pool counts?
fn keeps_responses_waiting(pool: &FullPool, threads: f64) -> bool {
    let without_connection = threads - pool.connections;
    let possible = MOST_OF_THEM * without_connection..=without_connection / MOST_OF_THEM;
    pool.full_share >= MOSTLY_FULL
        && pool.waiting_threads >= connection_pools::FEWEST_WAITING
        && possible.contains(&pool.waiting_threads)
}

/// The library whose pool of connections, or whose response, is waited for; a response needs a connection first.
fn awaited_library(activity: &ThreadActivity) -> Option<&str> {
    let waits = activity.state == ThreadState::Pool || activity.waits_for_http();
    activity.resource.as_deref().filter(|_| waits)
}

/// Are both at the same place? The holder, and the address that is read from, may differ from run to run.
fn is_same_place(one: &RequestTimePart, other: &RequestTimePart) -> bool {
    let place = |it: &RequestTimePart| {
        let activity = it.activity.clone();
        (activity.state, activity.resource, activity.application, activity.library)
    };
    place(one) == place(other)
}

/// The longest wait that is certain, in all runs together or in each of them. `is_said` tells whether another finding names it.
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
