//! The rule: the limit is the station whose servers are all taken while others queue for it.
//!
//! A pool of threads may be full because its threads wait for another station: then both are found, and so is a full pool of connections
//! beside a longer wait. More certain evidence is preferred: first a pool's own counters, then counts of threads, samples of waiting
//! threads, the kernel's counts of connections, and last the time of a request alone.

use super::flow::Flow;
use super::station::{KnownBy, Resource, Servers, Station};
use super::{alone, connections, server_pool, threads, unfair, waited, waits};
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, LimitPlace, Rule, RunsShowing};
use threadcount_model::record::Record;

/// Finds full stations in the runs of a variant; `found` are the findings of earlier rules in the same runs.
pub(crate) fn find(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Vec<Finding> {
    let pool = runs_of_variant.observed().in_most(|run| server_pool::in_run(run, runs_of_variant));
    let counted = if pool.is_none() { counted_in_runs(runs_of_variant, found) } else { None };
    let stations = each_once(counted, waited::in_runs(runs_of_variant));
    let starving = unfair::in_runs(runs_of_variant);
    // If only the place of a wait is known, and requests starve in it, the finding about the starving requests names it.
    let is_starving = |(station, _): &(Station, RunsShowing)| {
        station.servers.is_none() && starving.as_ref().is_some_and(|(it, _)| it.is_same(station))
    };
    let others: Vec<_> = pool.into_iter().chain(stations).filter(|it| !is_starving(it)).collect();
    let finding =
        |(station, runs): (Station, RunsShowing)| runs_of_variant.finding(station.into_fact(), runs);
    others.into_iter().chain(starving).map(finding).collect()
}

/// Finds full stations in a window without a load.
pub(crate) fn in_window(record: &Record) -> Vec<Fact> {
    let pool = server_pool::in_window(record);
    let flow = Flow::in_window(record).filter(|_| pool.is_none());
    let counted = flow.and_then(|flow| counted(&flow)).map(|it| (it, ()));
    let stations = each_once(counted, waited::in_window(record)).into_iter().map(|it| it.0);
    pool.into_iter().chain(stations).map(Station::into_fact).collect()
}

/// The counted station with the time of its wait added, and the other waits, so that no wait is named twice. A pool's own count is more
/// certain than a count of the requests that passed the line where others wait for it.
fn each_once<R>(counted: Option<(Station, R)>, waited: Vec<(Station, R)>) -> Vec<(Station, R)> {
    let is_pool_of = |wait: &Station, counted: &Station| {
        counted.resource == Resource::Awaited && wait.servers.is_some() && wait.is_same(counted)
    };
    let mut counted = counted.filter(|(it, _)| !waited.iter().any(|(wait, _)| is_pool_of(wait, it)));
    let mut others = Vec::new();
    for (wait, runs) in waited {
        match &mut counted {
            Some((counted, _)) if counted.is_same(&wait) => counted.add_time(wait),
            _ => others.push((wait, runs)),
        }
    }
    counted.into_iter().chain(others).collect()
}

/// The station whose number of servers rests on the most certain evidence.
fn counted(flow: &Flow<'_>) -> Option<Station> {
    threads::station(flow)
        .or_else(|| waits::station(flow))
        .or_else(|| connections::neighbour(flow))
        .or_else(|| alone::station(flow))
}

/// The station of the typical run, unless one of `found` already names what keeps threads from running.
fn counted_in_runs(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Option<(Station, RunsShowing)> {
    let keeps_threads_from_running = |finding: &Finding| match &finding.fact {
        Fact::PinnedCarriers(pinned) => pinned.is_the_limit() != Some(false),
        fact => fact.rule().limit_place() == Some(LimitPlace::Inside),
    };
    if found.iter().any(keeps_threads_from_running) {
        return None;
    }
    let are_carriers_held = found.iter().any(|it| it.rule() == Rule::PinnedCarriers);
    // If time passes outside the server, the time of a request does not show how many are in service.
    let is_outside = found.iter().any(|it| it.rule().limit_place() == Some(LimitPlace::Outside));
    let in_flight = runs_of_variant.requests_in_flight()?;
    let (stations, runs) = runs_of_variant.observed().each_in_most(|record| {
        let rate_per_s = Some(record.observed_window()?.0.rate_per_s.completed).filter(|rate| *rate > 0.0)?;
        let flow = Flow::new(record, in_flight, Some(rate_per_s))?;
        counted(&Flow { are_carriers_held, by_time: flow.by_time.filter(|_| !is_outside), ..flow })
    })?;
    Some((most_certain(stations)?, runs))
}

/// The station with the median number of servers among those with the most certain evidence; an estimate if another run counted more.
fn most_certain(stations: Vec<Station>) -> Option<Station> {
    let known_by = stations.iter().filter_map(|it| it.servers).map(|it| it.known_by).min()?;
    let known = stations.into_iter().filter_map(|it| Some((it.servers?, it)));
    let mut known: Vec<(Servers, Station)> = known.filter(|it| it.0.known_by == known_by).collect();
    known.sort_by(|a, b| a.0.count.total_cmp(&b.0.count));
    let most = known.last()?.0.count;
    let (servers, station) = known.swap_remove(known.len() / 2);
    let is_exceeded = servers.is_exact() && most > servers.count;
    let known_by = if is_exceeded { KnownBy::Samples } else { known_by };
    Some(Station { servers: Some(Servers { known_by, ..servers }), ..station })
}
