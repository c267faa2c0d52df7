//! Requests that have a thread each, most of which wait at one place for the requests in service.

use super::connections;
use super::counts::{Counts, inside};
use super::flow::{Flow, waits_here};
use super::station::{InService, KnownBy, Queue, Resource, Servers, Station};
use super::thresholds::{FEWEST_QUEUED, FEWEST_SAMPLES, FEWEST_WAITING, MOST, is_about_as_many};
use threadcount_model::record::thread_family::ThreadFamily;
use threadcount_model::record::wait_profile::{ThreadState, WaitGroup};

pub(super) fn station(flow: &Flow<'_>) -> Option<Station> {
    let has_no_carrier =
        |it: &&WaitGroup| flow.are_carriers_held && it.activity.state == ThreadState::Carrier;
    let without_carrier = flow.threads(flow.requests().filter(has_no_carrier));
    let in_service: Vec<&WaitGroup> =
        flow.requests().filter(|it| is_in_service(it) && !has_no_carrier(it)).collect();
    let exact = exact(&flow.jvm.thread_families);
    let counts = in_samples(flow, &exact);
    let running = match flow.are_carriers_held {
        true => flow.threads(in_service.iter().copied()),
        false => counts.mean(),
    };
    let others = flow.in_flight - running;
    let wait = flow.longest_wait(others - without_carrier).filter(|it| is_limiting(it, flow))?;
    let place = flow.largest(in_service.iter().copied())?;
    let queue = flow.queue(wait, f64::INFINITY);
    let exact = Counts::new(inside(&exact).to_vec(), true);
    let is_no_chance =
        || counts.vary_too_little(flow.in_flight) || counts.are_too_often_alike(flow.in_flight);
    let is_steady = counts.are_steady() && counts.median() >= Some(1.0) && is_no_chance();
    let count = match queue.is_condition() {
        // Threads wait like this for news of any kind, so it is a limit only if the number of running requests is steady.
        true => counts.median().filter(|_| is_steady)?,
        // A draw of few threads may miss some of the running ones; a count of all threads does not.
        false => exact.median().unwrap_or(running).round().max(1.0),
    };
    let is_near = |by_time: &f64| is_about_as_many(*by_time, count) || (by_time - count).abs() <= 1.0;
    let counted = exact.servers(count);
    let servers = match flow.by_time.filter(is_near) {
        Some(by_time) if !counted.is_exact() => Servers::new(by_time, KnownBy::Arithmetic),
        _ => counted,
    };
    let at_once = servers.count;
    let is_limit = running >= 0.5
        && queue.requests + without_carrier >= MOST * flow.in_flight
        && others >= FEWEST_QUEUED
        && !flow.is_of_cpu(&place.activity, running);
    let share = flow.threads([place]) / flow.threads(in_service.iter().copied());
    is_limit.then(|| Station {
        in_service: Some(InService { activity: place.activity.clone(), share }),
        queue: Some(Queue {
            without_carrier: Some(without_carrier).filter(|it| *it > 0.0),
            ..flow.queue(wait, flow.in_flight - at_once)
        }),
        ..flow.station(Resource::Awaited, servers)
    })
}

/// Does the request of this group wait for a result that another thread works on?
pub(super) fn awaits(group: &WaitGroup) -> bool {
    group.activity.state == ThreadState::Future && waits_here(&group.activity)
}

/// Is the request of this group in service, on its own thread or on another one that works on its result?
fn is_in_service(group: &WaitGroup) -> bool {
    !waits_here(&group.activity) || awaits(group)
}

/// Can the awaited thing keep other requests from running? Not a full pool of connections, which its own readings name with its size.
fn is_limiting(group: &WaitGroup, flow: &Flow<'_>) -> bool {
    use ThreadState::{Lock, Monitor, Pool, Queue, Semaphore, Wait};
    match group.activity.state {
        Semaphore | Lock | Monitor | Queue | Wait => true,
        Pool => connections::full(flow.record, FEWEST_WAITING).is_none(),
        _ => false,
    }
}

/// The number of requests in service in each sample. Groups of threads come from a draw and give estimates; the counts are exact if all
/// threads that requests run on were counted.
fn in_samples(flow: &Flow<'_>, exact: &[f64]) -> Counts {
    let is_let_in = |it: &&WaitGroup| awaits(it) || it.activity.state == ThreadState::Carrier;
    let uncounted = flow.threads(flow.requests().filter(is_let_in));
    if uncounted < 0.5 && exact.len() >= FEWEST_SAMPLES {
        return Counts::new(inside(exact).to_vec(), true);
    }
    let at = |sample: usize| -> f64 {
        flow.requests().filter(|it| is_in_service(it)).filter_map(|it| it.threads.get(sample)).sum()
    };
    let drawn: Vec<f64> = (0..flow.profile.samples as usize).map(at).collect();
    Counts::new(inside(&drawn).to_vec(), false)
}

/// The number of working threads in each sample in which all threads that requests run on were counted.
fn exact(families: &[ThreadFamily]) -> Vec<f64> {
    let serving: Vec<&ThreadFamily> = families.iter().filter(|it| it.request_share >= MOST).collect();
    let samples = serving.first().map_or(0, |it| it.samples.len());
    let at = |sample: usize| serving.iter().filter_map(move |it| it.samples.get(sample));
    let counted = (0..samples).filter(|it| at(*it).all(|family| !family.is_estimate));
    counted.map(|it| at(it).map(|family| family.working).sum()).collect()
}
