//! Decides whether requests are limited.
//!
//! Threads of one name that all work in nearly every sample while more requests are in flight are a limit. So are running requests if
//! the others wait at one place for a lock, a permit or an element. Threads of the application's own jobs work all the time too, so
//! threads of requests are recognised by the server's frames, by the tasks that their executor completes, or by how often they begin to
//! wait. Requests without a thread are limited by connections to a neighbour if each connection always has a request on it.

use super::by_time;
use super::{ConcurrencyLimit, LimitedConnections, LimitedThreads, WaitingThreads, is_full};
use crate::evidence::connection_pools;
use crate::evidence::variant_runs::{RunFigures, VariantRuns, mean_of};
use crate::finding::{Fact, Finding, LimitPlace, Rule};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::JvmReadings;
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::thread_family::{FamilySample, ThreadFamily};
use threadcount_model::record::wait_profile::{
    ThreadActivity, ThreadRole, ThreadState, WaitGroup, WaitProfile,
};
use threadcount_stats::dispersion::{probability_of_so_little_variance, probability_of_so_many_alike};
use threadcount_stats::runs::FULL_MACHINE;

/// With fewer samples chance decides.
const FEWEST_SAMPLES: usize = 3;
/// At most this share of the requests in flight may run, or nothing limits them.
const FEWER: f64 = 0.9;
/// Least share of the samples in which the same number of threads works, within `SPREAD`.
const STEADY: f64 = 0.75;
const SPREAD: f64 = 0.1;
/// With less than this probability, requests that run independently would be as alike in number as those that a limit lets in.
const SELDOM: f64 = 0.01;
/// From this share on, threads or requests count as most of them.
pub(super) const MOST: f64 = 0.5;
/// Waits per request: a request may have several tasks, each of which begins to wait several times.
const SWITCHES_PER_REQUEST: std::ops::RangeInclusive<f64> = 0.5..=20.0;
/// Waits per request of a task that serves one request after the other: it seldom ends, and waits once for each.
const ONCE_PER_REQUEST: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// The load at the moment of the samples.
#[derive(Clone, Copy)]
pub(super) struct Demand {
    pub in_flight: f64,
    /// Requests per second; `None` if unknown.
    rate_per_s: Option<f64>,
    /// Whether the rate is that of the server's sockets because no load was sent.
    is_rate_estimate: bool,
    /// Cores of the machine; 0 if its CPU is full, or if the machine is unknown.
    pub cores: f64,
    /// Requests that run at once by the time of a request alone; `None` if unknown, or if nearly all run.
    pub by_time: Option<f64>,
    /// Whether waiting threads are pinned to their carriers.
    are_carriers_held: bool,
}

/// Finds a limit unless one of `found` already names what keeps the threads from running.
pub(crate) fn find_after(runs_of_variant: &VariantRuns<'_>, found: &[Finding]) -> Option<Finding> {
    let keeps_threads_from_running = |finding: &Finding| match &finding.fact {
        Fact::PinnedCarriers(pinned) => pinned.is_the_limit() != Some(false),
        fact => fact.rule().limit_place() == Some(LimitPlace::Inside),
    };
    if found.iter().any(keeps_threads_from_running) {
        return None;
    }
    let are_carriers_held = found.iter().any(|it| it.rule() == Rule::PinnedCarriers);
    // Time that passes outside the server's threads tells nothing about their number.
    let is_outside = found.iter().any(|it| it.rule().limit_place() == Some(LimitPlace::Outside));
    let in_flight = runs_of_variant.requests_in_flight()?;
    let observed = runs_of_variant.observed();
    let (limits, runs) = observed.in_most(|record| {
        let rate_per_s = Some(record.observed_window()?.0.rate_per_s.completed).filter(|rate| *rate > 0.0)?;
        let demand = Demand::of(record, in_flight, Some(rate_per_s));
        let by_time = demand.by_time.filter(|_| !is_outside);
        limit(record, Demand { are_carriers_held, by_time, ..demand })
    })?;
    let mean = |figure: fn(&ConcurrencyLimit) -> Option<f64>| mean_of(limits.iter().filter_map(figure));
    let most = limits.iter().map(|it| it.at_once).fold(0.0, f64::max);
    let rate_per_s = mean(|it| it.rate_per_s);
    let first = limits.into_iter().next()?;
    let fact = Fact::ConcurrencyLimit(ConcurrencyLimit { at_once: most, rate_per_s, ..first });
    Some(runs_of_variant.finding(fact, runs))
}

/// Finds a limit in a window without a load, where the server's sockets or its threads show the requests in flight.
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
        // A request on a connection that was not accepted has not reached the threads.
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

    /// A limit of `at_once` requests, to which the caller adds the evidence.
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

    /// Is the CPU what keeps more threads from running?
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

/// The limit that lets in fewest. Among equals the one that reads what the others send, because a neighbour may be in the same process.
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

/// Does a thread with this activity wait for other threads of this process?
fn waits_here(activity: &ThreadActivity) -> bool {
    match activity.state {
        ThreadState::Future => !activity.waits_for_http(),
        ThreadState::Queue | ThreadState::Wait => true,
        state => state.is_contention(),
    }
}

/// The limit that threads of one name make, if requests run on them.
fn by_threads(family: &ThreadFamily, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    if may_be_reader(family) {
        return None;
    }
    let at_once = steady(family, demand)?;
    let waiting = waiting(profile, demand.in_flight - at_once);
    let has_full_executor = family.executor.as_ref().is_some_and(|it| is_full(it, at_once));
    let is_of_requests = family.is_virtual || family.request_share >= MOST;
    if waiting.as_ref().is_some_and(|it| !it.is_condition()) && !has_full_executor && is_of_requests {
        // The limit is what the other threads of this name wait for.
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

/// Is it a client's own reader thread? It reads the responses for all, and stays in its read call while nothing comes.
fn may_be_reader(family: &ThreadFamily) -> bool {
    family.activity.state == ThreadState::Socket && family.executor.is_none() && family.request_share < MOST
}

/// The number of threads that work in nearly all samples; `None` if it varies, or if it may be steady by chance.
fn steady(family: &ThreadFamily, demand: Demand) -> Option<f64> {
    let working = counts(family);
    let median = *working.get(working.len() / 2)?;
    let alike = working.iter().filter(|it| (*it - median).abs() <= (SPREAD * median).max(0.5)).count();
    let is_steady = alike as f64 >= STEADY * working.len() as f64;
    let size = family.executor.as_ref().filter(|it| is_full(it, median)).map(|it| f64::from(it.size));
    let chance = probability_of_so_little_variance(&working, demand.in_flight);
    let is_seldom = chance.is_some_and(|it| it < SELDOM);
    // A few samples may be alike by chance, but not if the time of a request alone gives the same number.
    let is_by_time = demand.by_time.is_some_and(|it| is_about(it, median));
    let is_limit = size.is_some() || median <= 1.0 || is_seldom || is_by_time;
    if working.len() < FEWEST_SAMPLES || median < 0.5 || !is_steady || !is_limit {
        return None;
    }
    let of_size = size.filter(|size| working.last().is_some_and(|most| most <= size));
    // A thread that ends while the threads are listed may be counted together with its successor.
    Some(of_size.unwrap_or_else(|| working[(STEADY * working.len() as f64) as usize].round()))
}

/// Working threads in each sample, in ascending order; without estimates if enough exact counts remain.
fn counts(family: &ThreadFamily) -> Vec<f64> {
    let counts = |wanted: fn(&FamilySample) -> bool| {
        let samples = inside(&family.samples);
        let mut working: Vec<f64> = samples.iter().filter(|it| wanted(it)).map(|it| it.working).collect();
        working.sort_by(f64::total_cmp);
        working
    };
    let counted = counts(|it| !it.is_estimate);
    if counted.len() >= FEWEST_SAMPLES { counted } else { counts(|_| true) }
}

/// The samples without the first and the last one, during which the load may not be complete.
fn inside<T>(samples: &[T]) -> &[T] {
    if samples.len() < FEWEST_SAMPLES + 2 { samples } else { &samples[1..samples.len() - 1] }
}

/// Do these threads work for requests?
fn serves(family: &ThreadFamily, demand: Demand, is_queue_filled: bool, at_executor: f64) -> bool {
    if family.request_share >= MOST {
        return true;
    }
    // There are about as many tasks as requests in flight.
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
    // The sockets' rate counts a request of several segments several times.
    by_rate || (demand.rate_per_s.is_none() || demand.is_rate_estimate) && is_like_demand()
}

/// Do about as many requests wait for results as threads work on results?
fn is_awaited(profile: &WaitProfile, at_once: f64) -> bool {
    const ALIKE: std::ops::RangeInclusive<f64> = 0.6..=1.0 / 0.6;
    at_once >= 2.0 && ALIKE.contains(&(awaiting(profile) / at_once))
}

/// Mean number of requests whose work other threads of this process do.
fn awaiting(profile: &WaitProfile) -> f64 {
    of_requests(profile).filter(|group| awaits(group)).map(|group| profile.mean_threads(group)).sum()
}

fn awaits(group: &WaitGroup) -> bool {
    group.activity.state == ThreadState::Future && waits_here(&group.activity)
}

/// The place where most of the other requests wait, if they wait on threads.
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

/// Does a request run in this group, or another thread on its behalf?
fn runs(group: &WaitGroup) -> bool {
    !waits_here(&group.activity) || awaits(group)
}

/// Running requests in each sample. Groups of threads come from a draw, so their counts are estimates; if all threads that requests run
/// on were counted, the counts are exact.
fn running_in_samples(jvm: &JvmReadings, profile: &WaitProfile) -> Vec<f64> {
    let at = |sample: usize| -> f64 {
        of_requests(profile).filter(|it| runs(it)).filter_map(|it| it.threads.get(sample)).sum()
    };
    let drawn = || inside(&(0..profile.samples as usize).map(at).collect::<Vec<f64>>()).to_vec();
    let is_let_in = |group: &&WaitGroup| awaits(group) || group.activity.state == ThreadState::Carrier;
    let uncounted: f64 = of_requests(profile).filter(is_let_in).map(|it| profile.mean_threads(it)).sum();
    let counted = counted_running(&jvm.thread_families);
    if uncounted < 0.5 && counted.len() >= FEWEST_SAMPLES { inside(&counted).to_vec() } else { drawn() }
}

/// Running requests in each sample in which all threads that requests run on were counted.
fn counted_running(families: &[ThreadFamily]) -> Vec<f64> {
    let of_requests: Vec<&ThreadFamily> = families.iter().filter(|it| it.request_share >= MOST).collect();
    let samples = of_requests.first().map_or(0, |it| it.samples.len());
    let at = |sample: usize| of_requests.iter().filter_map(move |it| it.samples.get(sample));
    let counted = (0..samples).filter(|it| at(*it).all(|of| !of.is_estimate));
    counted.map(|it| at(it).map(|of| of.working).sum()).collect()
}

/// The median; of an even number of counts the higher one of the middle two, so that it was counted.
fn median(mut counts: Vec<f64>) -> Option<f64> {
    counts.sort_by(f64::total_cmp);
    counts.get(counts.len() / 2).copied()
}

/// Is `count` about the median? Requests that begin or end meanwhile change a count by one, or by a part of it.
fn is_about(count: f64, median: f64) -> bool {
    (count - median).abs() <= (2.0 * SPREAD * median).max(1.0)
}

/// The number of requests that run in nearly all samples; `None` if it varies, or may be steady by chance.
fn steady_running(counts: Vec<f64>, in_flight: f64) -> Option<f64> {
    let median = median(counts.clone())?;
    let alike = counts.iter().filter(|it| is_about(**it, median)).count();
    let is_steady = median >= 1.0 && alike as f64 >= STEADY * counts.len() as f64;
    let chances = [
        probability_of_so_little_variance(&counts, in_flight),
        probability_of_so_many_alike(&counts, in_flight),
    ];
    (is_steady && chances.into_iter().flatten().any(|it| it < SELDOM)).then_some(median)
}

/// The limit on requests with threads of their own, most of which wait at one place for the others.
fn by_waits(record: &Record, profile: &WaitProfile, demand: Demand) -> Option<ConcurrencyLimit> {
    let threads = |groups: &mut dyn Iterator<Item = &WaitGroup>| {
        groups.map(|group| profile.mean_threads(group)).sum::<f64>()
    };
    let has_no_carrier =
        |group: &&WaitGroup| demand.are_carriers_held && group.activity.state == ThreadState::Carrier;
    let without_carrier = threads(&mut of_requests(profile).filter(has_no_carrier));
    let is_running = |group: &&WaitGroup| runs(group) && !has_no_carrier(group);
    let jvm = record.jvm.as_ref()?;
    let counts = running_in_samples(jvm, profile);
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
    // The threads may wait for news of any kind; that is a limit only if the number of running requests is steady.
    let counted = match waiting.is_condition() {
        true => steady_running(counts, demand.in_flight)?,
        // A draw of few threads may miss some of those that run; a count of all does not.
        false => median(counted_running(&jvm.thread_families)).unwrap_or(running).round().max(1.0),
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

/// Can what requests wait for keep others from running? A full connection pool does not count here, because its own readings name it
/// and its size.
fn is_limiting(activity: &ThreadActivity, record: &Record) -> bool {
    match activity.state {
        ThreadState::Semaphore
        | ThreadState::Lock
        | ThreadState::Monitor
        | ThreadState::Queue
        | ThreadState::Wait => true,
        ThreadState::Pool => connection_pools::full(record, connection_pools::FEWEST_WAITING).is_none(),
        _ => false,
    }
}

/// The limit that few connections to a neighbour set to requests that have no thread or wait for a result.
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

/// Does each connection always carry a request, one after the other? If it carries several at once, the last one often is old.
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
