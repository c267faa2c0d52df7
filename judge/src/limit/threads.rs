//! A group of threads with one name as the limit: in nearly every sample the same number of them works while more requests are in flight.
//!
//! Threads of background jobs also work all the time. Threads that serve requests differ from them by the server's frames on their stacks,
//! by the number of tasks that their executor completes, or by how often they begin to wait.

use super::counts::{Counts, inside, is_about};
use super::flow::{Flow, waits_here};
use super::station::{InService, KnownBy, LimitedThreads, Queue, Resource, Servers, Station};
use super::thresholds::{
    AWAITED_PER_THREAD, FEWER, FEWEST_SAMPLES, FEWEST_WAITING, MOST, MUCH_FEWER, NEARLY_ALL,
    ONCE_PER_REQUEST, STEADY, SWITCHES_PER_REQUEST, is_about_as_many,
};
use super::waits::awaits;
use threadcount_model::record::thread_family::{Executor, ThreadFamily};
use threadcount_model::record::wait_profile::ThreadState;

/// Is the executor full, with `working` of its threads at work?
pub(super) fn is_full(executor: &Executor, working: f64) -> bool {
    working >= NEARLY_ALL * f64::from(executor.size)
}

/// The group of threads that lets in the fewest requests. Among equals, threads that read from a socket come first: if the neighbour runs
/// in the same process, its threads are what these wait for.
pub(super) fn station(flow: &Flow<'_>) -> Option<Station> {
    let found = flow.jvm.thread_families.iter().filter_map(|it| station_of_family(it, flow));
    let found: Vec<(f64, Station)> = found.filter_map(|it| Some((it.servers?.count, it))).collect();
    let fewest = found.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
    let reads =
        |it: &Station| it.in_service.as_ref().is_some_and(|it| it.activity.state == ThreadState::Socket);
    let alike = found.into_iter().filter(|it| it.0 * MUCH_FEWER <= fewest);
    alike.min_by(|a, b| reads(&b.1).cmp(&reads(&a.1)).then(a.0.total_cmp(&b.0))).map(|it| it.1)
}

fn station_of_family(family: &ThreadFamily, flow: &Flow<'_>) -> Option<Station> {
    let executor = family.executor.as_ref();
    // A client's reader thread reads the responses for all requests and stays in its read call while nothing arrives.
    let may_read_for_all =
        family.activity.state == ThreadState::Socket && executor.is_none() && family.request_share < MOST;
    let servers = steady(family, flow).filter(|_| !may_read_for_all)?;
    let at_once = servers.count;
    let others = flow.in_flight - at_once;
    let wait = flow.longest_wait(others).map(|it| flow.queue(it, others));
    // If other threads of the same name wait for something, that wait is the limit.
    let is_behind = executor.is_none_or(|it| !is_full(it, at_once))
        && (family.is_virtual || family.request_share >= MOST)
        && wait.as_ref().is_some_and(|it| !it.is_condition());
    let run_elsewhere = flow
        .requests()
        .filter(|group| !waits_here(&group.activity) && group.activity.state != ThreadState::Select);
    let run_elsewhere = flow.threads(run_elsewhere) - at_once * family.request_share;
    let is_limit = !is_behind
        && at_once <= FEWER * flow.in_flight
        && others >= FEWEST_WAITING
        && !flow.is_of_cpu(&family.activity, at_once)
        && run_elsewhere <= MOST * others
        && (is_awaited(flow, at_once) || serves(family, flow, at_once));
    let threads = LimitedThreads {
        name: family.name.clone(),
        is_event_loop: family.is_event_loop,
        executor: executor.cloned(),
    };
    let tasks = executor.map(|_| Queue { requests: mean_queued(family), ..Queue::default() });
    is_limit.then(|| Station {
        in_service: Some(InService { activity: family.activity.clone(), share: family.at_place }),
        queue: wait.or_else(|| tasks.filter(|it| it.requests >= 1.0)),
        ..flow.station(Resource::Threads(threads), servers)
    })
}

/// The number of threads that work in nearly all samples; `None` if it varies, or if it might be steady by chance.
fn steady(family: &ThreadFamily, flow: &Flow<'_>) -> Option<Servers> {
    let counts = counts(family);
    let median = counts.median().filter(|it| *it >= 0.5 && counts.are_steady())?;
    let size = family.executor.as_ref().filter(|it| is_full(it, median)).map(|it| f64::from(it.size));
    // A few samples may be equal by chance, but hardly if the time of a request alone gives the same number.
    let is_by_time = || flow.by_time.is_some_and(|it| is_about(it, median, false));
    let is_one = counts.are_exact && median <= 1.0;
    let is_limit = size.is_some() || is_one || counts.vary_too_little(flow.in_flight) || is_by_time();
    let size = size.filter(|size| counts.most().is_some_and(|most| most <= *size));
    let servers = size.map(|size| Servers::new(size, KnownBy::Gauge));
    servers.or_else(|| Some(counts.servers(counts.usual()?))).filter(|_| is_limit)
}

/// The number of working threads in each sample; includes estimates only if there are too few exact counts.
fn counts(family: &ThreadFamily) -> Counts {
    let samples = inside(&family.samples);
    let exact: Vec<f64> = samples.iter().filter(|it| !it.is_estimate).map(|it| it.working).collect();
    match exact.len() >= FEWEST_SAMPLES {
        true => Counts::new(exact, true),
        false => Counts::new(samples.iter().map(|it| it.working).collect(), false),
    }
}

fn mean_queued(family: &ThreadFamily) -> f64 {
    family.mean(|it| it.queued.unwrap_or_default() as f64)
}

/// Do these threads work for requests?
fn serves(family: &ThreadFamily, flow: &Flow<'_>, at_once: f64) -> bool {
    if family.request_share >= MOST {
        return true;
    }
    let filled = family.samples.iter().filter(|it| it.queued.is_some_and(|tasks| tasks > 0)).count();
    let is_queue_filled = filled as f64 >= STEADY * family.samples.len() as f64;
    let is_like_demand =
        || is_queue_filled && is_about_as_many(mean_queued(family) + at_once, flow.in_flight);
    let by_rate = match (flow.rate_per_s, family.completed_per_s, family.switches_per_s) {
        (Some(rate), Some(completed), switches) => {
            completed >= MOST * rate || switches.is_some_and(|it| ONCE_PER_REQUEST.contains(&(it / rate)))
        }
        (Some(rate), None, Some(switches)) => SWITCHES_PER_REQUEST.contains(&(switches / rate)),
        (Some(_), None, None) => is_queue_filled,
        (None, ..) => false,
    };
    // The rate from the sockets counts a request of several segments more than once.
    by_rate || (flow.rate_per_s.is_none() || flow.is_rate_estimate) && is_like_demand()
}

/// Do about as many requests wait for a result as there are threads that work on results?
fn is_awaited(flow: &Flow<'_>, at_once: f64) -> bool {
    let awaiting = flow.threads(flow.requests().filter(|it| awaits(it)));
    at_once >= 2.0 && AWAITED_PER_THREAD.contains(&(awaiting / at_once))
}
