//! When it is found.
//!
//! Threads of one name that all work in nearly every sample, while more requests are in flight, are a limit. So are requests that run,
//! while the others wait at one place for a lock, a permit or an element, or poll in a loop that those that run are past. Threads of a job of
//! the application's own work all the time as well: those of requests are known by the server's frames, by the tasks that their executor
//! completes, or by how often they begin to wait. Requests without a thread are limited by connections to a neighbour, if each of those
//! always has a request on it.

use super::by_time;
use super::{ConcurrencyLimit, LimitedConnections, LimitedThreads, WaitingThreads, is_full};
use crate::evidence::connection_pools;
use crate::evidence::in_flight::InFlight;
use crate::evidence::variant_runs::{RunFigures, VariantRuns, mean_of};
use crate::finding::{Fact, Finding, Rule};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::thread_family::{FamilySample, ThreadFamily};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_stats::dispersion::{probability_of_so_little_variance, probability_of_so_many_alike};
use threadcount_stats::runs::FULL_MACHINE;

/// In fewer samples chance decides.
const FEWEST_SAMPLES: usize = 3;
/// Of the requests in flight no more may run.
const FEWER: f64 = 0.9;
/// In so many samples as many threads work, within `SPREAD`.
const STEADY: f64 = 0.75;
const SPREAD: f64 = 0.1;
/// Numbers of requests that run independently of each other are seldom as alike as those that a limit lets in.
const SELDOM: f64 = 0.01;
/// Of the requests that do not run, those that run elsewhere or wait for them.
pub(super) const MOST: f64 = 0.5;
/// A request may have several tasks, each of which begins to wait several times.
const SWITCHES_PER_REQUEST: std::ops::RangeInclusive<f64> = 0.5..=20.0;
/// A task that serves one request after the other ends seldom, and waits once for each.
const ONCE_PER_REQUEST: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// The load at the moment of the samples.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    pub in_flight: f64,
    /// `None`: not known.
    rate_per_s: Option<f64>,
    /// No load was sent: the rate is that of the server's sockets.
    is_rate_estimate: bool,
    /// Of the machine; 0: its CPU is full, or it is unknown.
    pub cores: f64,
    /// How many run at once by the time of a request alone; `None`: not known, or nearly all.
    pub by_time: Option<f64>,
    /// Threads that wait are pinned to their carriers.
    are_carriers_held: bool,
}

/// Unless one of `found` names what the threads are kept from running by.
pub(crate) fn find_after(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Option<Finding> {
    const NAMED: [Rule; 6] = [
        Rule::BackendCeiling,
        Rule::Throttled,
        Rule::HeldCarriers,
        Rule::FileIo,
        Rule::BusyWithoutProgress,
        Rule::PoolCeiling,
    ];
    let pinned = found.iter().find_map(|finding| match &finding.fact {
        Fact::PinnedCarriers(pinned) => Some(pinned),
        _ => None,
    });
    // Time that passes outside of the server's threads makes no number of them.
    const OUTSIDE: [Rule; 2] = [Rule::Generator, Rule::HeldSegments];
    let is_found = |rules: &[Rule]| found.iter().any(|finding| rules.contains(&finding.rule()));
    let (is_named, is_outside) = (is_found(&NAMED), is_found(&OUTSIDE));
    if is_named || pinned.is_some_and(|it| it.is_the_limit() != Some(false)) {
        return None;
    }
    let in_flight = InFlight::of(runs_of_variant)?.requests;
    let observed = runs_of_variant.observed();
    let (limits, runs) = observed.in_most(|record| {
        let rate_per_s = Some(record.observed_window()?.0.rate_per_s.completed).filter(|rate| *rate > 0.0)?;
        let demand = Demand::of(record, in_flight, Some(rate_per_s));
        let by_time = demand.by_time.filter(|_| !is_outside);
        limit(record, Demand { are_carriers_held: pinned.is_some(), by_time, ..demand })
    })?;
    let mean = |figure: fn(&ConcurrencyLimit) -> Option<f64>| mean_of(limits.iter().filter_map(figure));
    let most = limits.iter().map(|it| it.at_once).fold(0.0, f64::max);
    let rate_per_s = mean(|it| it.rate_per_s);
    let first = limits.into_iter().next()?;
    let fact = Fact::ConcurrencyLimit(ConcurrencyLimit { at_once: most, rate_per_s, ..first });
    Some(runs_of_variant.finding(fact, runs))
}

/// Without a load the requests in flight are known by the sockets of the server, or by its threads.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
    let by_threads = || {
        let profile = record.jvm.as_ref()?.wait_profile.as_ref()?;
        Some(of_requests(profile).map(|group| profile.mean_threads(group)).sum::<f64>())
    };
    let sockets = record.server_sockets;
    let in_flight = sockets.map(|it| it.in_flight).into_iter().chain(by_threads()).fold(0.0, f64::max);
    let rate_per_s = sockets.and_then(|it| it.requests_per_s).filter(|rate| *rate > 0.0);
    let demand = Demand { is_rate_estimate: true, ..Demand::of(record, in_flight, rate_per_s) };
    limit(record, demand).map(Fact::ConcurrencyLimit)
}

impl Demand {
    fn of(record: &Record, in_flight: f64, rate_per_s: Option<f64>) -> Self {
        let figures = RunFigures::without_load(record);
        let cores = figures.filter(|it| it.machine_share() < FULL_MACHINE).map_or(0.0, |it| it.cores);
        // A request on a connection that was not accepted has not come to the threads.
        let outside = record.server_sockets.map_or(0.0, |it| f64::from(it.usually_not_accepted));
        Self {
            in_flight: in_flight - outside,
            rate_per_s,
            is_rate_estimate: false,
            cores,
            by_time: rate_per_s.and_then(|rate| by_time::at_once(record, in_flight - outside, rate)),
            are_carriers_held: false,
        }
    }

    /// That so many requests run at once; what shows it is for the caller to say.
    pub(super) fn limited_to(&self, at_once: f64) -> ConcurrencyLimit {
        ConcurrencyLimit {
            at_once,
            in_flight: self.in_flight,
            rate_per_s: self.rate_per_s,
            is_rate_estimate: self.is_rate_estimate,
            threads: None,
            running: ThreadActivity::default(),
            at_place: 0.0,
            waiting: None,
            connections: None,
            alone_ms: None,
        }
    }

    /// Are threads that run kept from running more by the CPU?
    fn is_of_cpu(&self, running: &ThreadActivity, at_once: f64) -> bool {
        running.state.is_runnable() && at_once > self.cores - 1.0
    }
}

fn limit(record: &Record, demand: Demand) -> Option<ConcurrencyLimit> {
    let jvm = record.jvm.as_ref()?;
    let profile = jvm.wait_profile.as_ref().filter(|it| it.samples as usize >= FEWEST_SAMPLES)?;
    let limited = jvm.thread_families.iter().filter_map(|it| by_threads(it, profile, demand)).collect();
    first_of(limited)
        .or_else(|| by_waits(record, profile, demand))
        .or_else(|| by_connections(record, profile, demand))
        .or_else(|| by_time::limit(record, profile, demand))
}

/// The one that lets in fewest. Of equals the one that reads what the others send: a neighbour may be in the same process.
fn first_of(limited: Vec<ConcurrencyLimit>) -> Option<ConcurrencyLimit> {
    const ALIKE: f64 = 1.3;
    let fewest = limited.iter().map(|it| it.at_once).fold(f64::INFINITY, f64::min);
    let alike = limited.into_iter().filter(|it| it.at_once <= ALIKE * fewest);
    let reads = |it: &ConcurrencyLimit| it.running.state == ThreadState::Socket;
    alike.min_by(|a, b| reads(b).cmp(&reads(a)).then(a.at_once.total_cmp(&b.at_once)))
}

fn of_requests(profile: &WaitProfile) -> impl Iterator<Item = &WaitGroup> {
    profile.groups.iter().filter(|group| group.role == ThreadRole::Request)
}

/// Does it wait for other threads of this process?
fn waits_here(activity: &ThreadActivity) -> bool {
    match activity.state {
        ThreadState::Future => !activity.waits_for_http(),
        ThreadState::Queue | ThreadState::Poll | ThreadState::Wait => true,
        state => state.is_contention(),
    }
}

/// The threads of one name that requests run on.
fn by_threads(family: &ThreadFamily, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    if may_be_reader(family) {
        return None;
    }
    let at_once = steady(family, demand)?;
    let waiting = waiting(profile, demand.in_flight - at_once);
    let has_full_executor = family.executor.as_ref().is_some_and(|it| is_full(it, at_once));
    let is_of_requests = family.is_virtual || family.request_share >= MOST;
    if waiting.as_ref().is_some_and(|it| !it.is_condition()) && !has_full_executor && is_of_requests {
        // What the others of them wait for is the limit.
        return None;
    }
    let in_queue = family.samples.iter().filter(|it| it.queued.is_some_and(|tasks| tasks > 0)).count();
    let is_queue_filled = in_queue as f64 >= STEADY * family.samples.len() as f64;
    let queued = family.executor.as_ref().map(|_| family.mean(|it| it.queued.unwrap_or_default() as f64));
    let others = demand.in_flight - at_once;
    let run_elsewhere = of_requests(profile)
        .filter(|group| !waits_here(&group.activity) && group.activity.state != ThreadState::Select)
        .map(|group| profile.mean_threads(group))
        .sum::<f64>()
        - at_once * family.request_share;
    let is_limit = at_once <= FEWER * demand.in_flight
        && others >= 1.0
        && !demand.is_of_cpu(&family.activity, at_once)
        && run_elsewhere <= MOST * others
        && (is_awaited(profile, at_once)
            || serves(family, demand, is_queue_filled, queued.unwrap_or_default() + at_once));
    is_limit.then(|| ConcurrencyLimit {
        threads: Some(LimitedThreads {
            name: family.name.clone(),
            is_event_loop: family.is_event_loop,
            executor: family.executor.clone(),
            queued,
        }),
        running: family.activity.clone(),
        at_place: family.at_place,
        waiting: waiting.map(|it| WaitingThreads { threads: it.threads.min(others), ..it }),
        ..demand.limited_to(at_once)
    })
}

/// A client's thread of its own reads responses for all, and is in its call to read while nothing comes.
fn may_be_reader(family: &ThreadFamily) -> bool {
    family.activity.state == ThreadState::Socket && family.executor.is_none() && family.request_share < MOST
}

/// As many work in nearly all samples; `None`: they do not, or as many as it happens to be.
fn steady(family: &ThreadFamily, demand: Demand) -> Option<f64> {
    let working = counts(family);
    let median = *working.get(working.len() / 2)?;
    let alike = working.iter().filter(|it| (*it - median).abs() <= (SPREAD * median).max(0.5)).count();
    let is_steady = alike as f64 >= STEADY * working.len() as f64;
    let size = family.executor.as_ref().filter(|it| is_full(it, median)).map(|it| f64::from(it.size));
    let chance = probability_of_so_little_variance(&working, demand.in_flight);
    let is_seldom = chance.is_some_and(|it| it < SELDOM);
    // A few samples may all be alike by chance: as many by the time of a request alone are not.
    let is_by_time = demand.by_time.is_some_and(|it| is_about(it, median));
    let is_limit = size.is_some() || median <= 1.0 || is_seldom || is_by_time;
    if working.len() < FEWEST_SAMPLES || median < 0.5 || !is_steady || !is_limit {
        return None;
    }
    let of_size = size.filter(|size| working.last().is_some_and(|most| most <= size));
    // One that ends while the threads are listed may be counted with the one that follows it.
    Some(of_size.unwrap_or_else(|| working[(STEADY * working.len() as f64) as usize].round()))
}

/// In ascending order; without those that are estimates, if enough others are there.
fn counts(family: &ThreadFamily) -> Vec<f64> {
    let of = |wanted: fn(&FamilySample) -> bool| {
        let samples = inside(&family.samples);
        let mut working: Vec<f64> = samples.iter().filter(|it| wanted(it)).map(|it| it.working).collect();
        working.sort_by(f64::total_cmp);
        working
    };
    let counted = of(|it| !it.is_estimate);
    if counted.len() >= FEWEST_SAMPLES { counted } else { of(|_| true) }
}

/// Those beside which the load is not complete may be the first and the last one.
fn inside<T>(samples: &[T]) -> &[T] {
    if samples.len() < FEWEST_SAMPLES + 2 { samples } else { &samples[1..samples.len() - 1] }
}

/// Do these threads work for requests?
fn serves(family: &ThreadFamily, demand: Demand, is_queue_filled: bool, at_executor: f64) -> bool {
    if family.request_share >= MOST {
        return true;
    }
    // As many tasks as requests are in flight.
    let is_like_demand =
        || is_queue_filled && (MOST..=1.0 / MOST).contains(&(at_executor / demand.in_flight));
    let by_rate = match (demand.rate_per_s, family.completed_per_s, family.switches_per_s) {
        (Some(rate), Some(completed), switches) => {
            completed >= MOST * rate || switches.is_some_and(|it| ONCE_PER_REQUEST.contains(&(it / rate)))
        }
        (Some(rate), None, Some(switches)) => SWITCHES_PER_REQUEST.contains(&(switches / rate)),
        (Some(_), None, None) => is_queue_filled,
        (None, ..) => false,
    };
    // A request of several segments counts several times.
    by_rate || (demand.rate_per_s.is_none() || demand.is_rate_estimate) && is_like_demand()
}

/// Do as many requests wait for results as threads work on some?
fn is_awaited(profile: &WaitProfile, at_once: f64) -> bool {
    const ALIKE: std::ops::RangeInclusive<f64> = 0.6..=1.0 / 0.6;
    at_once >= 2.0 && ALIKE.contains(&(awaiting(profile) / at_once))
}

/// Requests whose work other threads of this process do.
fn awaiting(profile: &WaitProfile) -> f64 {
    of_requests(profile).filter(|group| awaits(group)).map(|group| profile.mean_threads(group)).sum()
}

fn awaits(group: &WaitGroup) -> bool {
    group.activity.state == ThreadState::Future && waits_here(&group.activity)
}

/// Where most of the others wait, if threads do.
fn waiting(profile: &WaitProfile, others: f64) -> Option<WaitingThreads> {
    let waits =
        of_requests(profile).filter(|group| waits_here(&group.activity) && group.activity.has_place());
    let waiting = waits.map(|group| WaitingThreads {
        activity: group.activity.clone(),
        threads: profile.mean_threads(group),
        without_carrier: 0.0,
    });
    waiting.max_by(|a, b| a.threads.total_cmp(&b.threads)).filter(|it| it.threads >= MOST * others)
}

/// Does a request run, or another thread for it?
fn runs(group: &WaitGroup) -> bool {
    !waits_here(&group.activity) || awaits(group)
}

/// Requests that run, in each sample. The draw that makes groups of threads is an estimate; where all threads that requests run on were
/// counted, it is exact.
fn running_in_samples(jvm: &JvmReadings, profile: &WaitProfile) -> Vec<f64> {
    let at = |sample: usize| -> f64 {
        of_requests(profile).filter(|it| runs(it)).filter_map(|it| it.threads.get(sample)).sum()
    };
    let drawn = || inside(&(0..profile.samples as usize).map(at).collect::<Vec<f64>>()).to_vec();
    let is_let_in = |group: &&WaitGroup| awaits(group) || group.activity.state == ThreadState::Carrier;
    let uncounted: f64 = of_requests(profile).filter(is_let_in).map(|it| profile.mean_threads(it)).sum();
    counted_running(&jvm.thread_families).filter(|_| uncounted < 0.5).unwrap_or_else(drawn)
}

/// `None`: not all of them were counted, or too seldom.
fn counted_running(families: &[ThreadFamily]) -> Option<Vec<f64>> {
    let of_requests: Vec<&ThreadFamily> = families.iter().filter(|it| it.request_share >= MOST).collect();
    let at = |sample: usize| of_requests.iter().filter_map(move |it| it.samples.get(sample));
    let counted = (0..of_requests.first()?.samples.len()).filter(|it| at(*it).all(|of| !of.is_estimate));
    let working: Vec<f64> = counted.map(|it| at(it).map(|of| of.working).sum()).collect();
    (working.len() >= FEWEST_SAMPLES).then(|| inside(&working).to_vec())
}

/// Counts of requests that begin and end meanwhile differ by one, or by a part of them.
fn is_about(count: f64, median: f64) -> bool {
    (count - median).abs() <= (2.0 * SPREAD * median).max(1.0)
}

/// As many requests run in nearly all samples, and not by chance.
fn steady_running(mut counts: Vec<f64>, in_flight: f64) -> Option<f64> {
    counts.sort_by(f64::total_cmp);
    let median = *counts.get(counts.len() / 2)?;
    let alike = counts.iter().filter(|it| is_about(**it, median)).count();
    let is_steady = median >= 1.0 && alike as f64 >= STEADY * counts.len() as f64;
    let chances = [
        probability_of_so_little_variance(&counts, in_flight),
        probability_of_so_many_alike(&counts, in_flight),
    ];
    (is_steady && chances.into_iter().flatten().any(|it| it < SELDOM)).then_some(median)
}

/// Requests on threads of their own, of which most wait at one place for the others.
fn by_waits(record: &Record, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    let threads = |groups: &mut dyn Iterator<Item = &WaitGroup>| {
        groups.map(|group| profile.mean_threads(group)).sum::<f64>()
    };
    let has_no_carrier =
        |group: &&WaitGroup| demand.are_carriers_held && group.activity.state == ThreadState::Carrier;
    let without_carrier = threads(&mut of_requests(profile).filter(has_no_carrier));
    let is_running = |group: &&WaitGroup| runs(group) && !has_no_carrier(group);
    let counts = running_in_samples(record.jvm.as_ref()?, profile);
    let running = match demand.are_carriers_held {
        true => threads(&mut of_requests(profile).filter(is_running)),
        false => counts.iter().sum::<f64>() / counts.len().max(1) as f64,
    };
    let others = demand.in_flight - running;
    let waiting =
        waiting(profile, others - without_carrier).filter(|it| is_limiting(&it.activity, record))?;
    let waiting = WaitingThreads { without_carrier, ..waiting };
    let place = of_requests(profile)
        .filter(is_running)
        .max_by(|a, b| profile.mean_threads(a).total_cmp(&profile.mean_threads(b)))?;
    // What is waited for may be news of any kind: it is a limit where as many run all the time.
    let counted = match waiting.may_be_for_news() {
        true => steady_running(counts, demand.in_flight)?,
        false => running.round().max(1.0),
    };
    let near = (counted - 1.0).min(MOST * counted)..=(counted + 1.0).max(counted / MOST);
    let at_once = demand.by_time.filter(|by_time| near.contains(by_time)).unwrap_or(counted);
    let is_limit = running >= 0.5
        && waiting.threads + without_carrier >= MOST * demand.in_flight
        && others >= 2.0
        && !demand.is_of_cpu(&place.activity, running);
    is_limit.then(|| ConcurrencyLimit {
        running: place.activity.clone(),
        at_place: profile.mean_threads(place) / threads(&mut of_requests(profile).filter(is_running)),
        waiting: Some(WaitingThreads { threads: waiting.threads.min(demand.in_flight - at_once), ..waiting }),
        ..demand.limited_to(at_once)
    })
}

/// May what requests wait for keep others from running? Of those that poll others have to be past their loop. Which pool of connections it
/// is and its size is said by its own readings.
fn is_limiting(activity: &ThreadActivity, record: &Record) -> bool {
    match activity.state {
        ThreadState::Semaphore
        | ThreadState::Lock
        | ThreadState::Monitor
        | ThreadState::Queue
        | ThreadState::Wait => true,
        ThreadState::Poll => activity.holder.is_some(),
        ThreadState::Pool => connection_pools::full(record, connection_pools::FEWEST_WAITING).is_none(),
        _ => false,
    }
}

/// Requests without a thread or that wait for a result, over fewer connections to a neighbour than are in flight.
fn by_connections(record: &Record, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    let neighbour = record.neighbours.iter().filter(|it| is_always_waited_at(it)).max_by_key(|it| it.most)?;
    let at_once = f64::from(neighbour.most);
    let others = demand.in_flight - at_once;
    // A result that a thread waits for may be the neighbour's response.
    let on_threads = of_requests(profile)
        .filter(|group| !matches!(group.activity.state, ThreadState::Future | ThreadState::Select))
        .map(|group| profile.mean_threads(group))
        .sum::<f64>();
    let is_limit = at_once <= FEWER * demand.in_flight
        && others >= 2.0
        && demand.cores > 0.0
        && on_threads <= (1.0 - MOST) * others;
    let address = neighbour.address.clone();
    is_limit.then(|| ConcurrencyLimit {
        connections: Some(LimitedConnections { address, connections: neighbour.most }),
        ..demand.limited_to(at_once)
    })
}

/// Each of its connections has a request on it, one after the other. Of several at once on a connection the last one often is old.
fn is_always_waited_at(neighbour: &NeighbourConnections) -> bool {
    const FEWEST: u64 = 8;
    const FEW: u64 = 20;
    let ends_differ = neighbour.waiting + neighbour.answered;
    neighbour.fewest == neighbour.most
        && neighbour.waiting >= FEWEST
        && neighbour.answered * FEW <= ends_differ
        && neighbour.paced >= FEWEST
        && neighbour.late * FEW <= 2 * neighbour.paced
}
