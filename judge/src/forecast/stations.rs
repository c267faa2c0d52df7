//! The stations that a request visits, as measured: the CPU, pools of connections, whatever requests queue for in the code, and the rest of
//! their time as a delay.
//!
//! The service time of a request at a station is the mean number of busy servers divided by the throughput (Little 1961).

use crate::evidence::variant_runs::{RunFigures, is_request_pool, mean_of};
use crate::words::activity::line;
use threadcount_model::figures::plural;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};
use threadcount_model::request_time::{RequestTime, RequestTimePart};
use threadcount_stats::stations::Station;

/// The fewest requests, on average, whose simultaneous wait at one place is a queue.
const QUEUEING: f64 = 1.0;
/// The least share of the requests in flight whose wait at one place is a queue.
const QUEUEING_SHARE: f64 = 0.05;
/// A resource counts as always in use if a request waits for it in this share of the samples.
const NEARLY_ALWAYS: f64 = 0.95;
/// If no thread pool reports its size, requests may spend at most this share of their time without a thread; more may be a hidden queue.
const MOST_WITHOUT_THREAD: f64 = 0.2;
/// At most this share of the busy connections may be held by others than the sampled requests.
const HELD_BY_OTHERS: f64 = 0.2;

/// A station with its name.
pub(super) struct NamedStation<'a> {
    pub name: String,
    pub station: Station,
    pub is_cpu: bool,
    /// The pool, if the station is a pool of connections.
    pub pool: Option<&'a Pool>,
}

impl NamedStation<'_> {
    const fn new(name: String, servers: Option<f64>, demand_ms: f64) -> Self {
        Self { name, station: Station { servers, demand_ms }, is_cpu: false, pool: None }
    }
}

/// All stations; `None` if some of them are not visible.
pub(super) fn stations<'a>(
    time: &RequestTime,
    record: &'a Record,
    figures: &RunFigures,
    cpu_ms: f64,
) -> Option<Vec<NamedStation<'a>>> {
    let quota = record.resource_limits.as_ref().and_then(|it| it.server.quota_cores);
    let cores = quota.map_or(figures.cpu.machine_cores, |quota| quota.min(figures.cpu.machine_cores));
    let cpu = NamedStation { is_cpu: true, ..NamedStation::new("the CPU".to_owned(), Some(cores), cpu_ms) };
    let connections = connections(time, record);
    let held_ms = connections.iter().map(|it| it.station.demand_ms).sum();
    let queues = queues(time, record, !connections.is_empty())?;
    let delay = delay(time, figures, held_ms)?;
    Some([vec![cpu], connections, queues, vec![delay]].into_iter().flatten().collect())
}

/// The pools of connections that requests use.
fn connections<'a>(time: &RequestTime, record: &'a Record) -> Vec<NamedStation<'a>> {
    let pools = record.jvm.iter().flat_map(|jvm| &jvm.pools).filter(|pool| !is_request_pool(pool));
    let used = pools.filter_map(|pool| {
        let busy = mean_of(pool.samples.iter().filter_map(|it| it.busy).map(f64::from))?;
        let max = pool.max?;
        let name = format!("the {} of {}", plural(max, "connection"), pool.name);
        let demand_ms = busy * 1e3 / time.rate_per_s;
        let station = NamedStation::new(name, Some(f64::from(max)), demand_ms);
        (busy > 0.0).then_some(NamedStation { pool: Some(pool), ..station })
    });
    used.collect()
}

/// The locks, permits and queues of the code for which requests wait; `None` if one of them is free at times, because then nobody knows how
/// much more it could serve. If the connection pools count how busy they are, waits for a connection are left to them.
fn queues<'a>(time: &RequestTime, record: &Record, has_pools: bool) -> Option<Vec<NamedStation<'a>>> {
    let in_flight = time.service_time_ms * time.rate_per_s / 1e3;
    let is_queue = |part: &&RequestTimePart| {
        let state = part.activity.state;
        state.is_contention()
            && !(state == ThreadState::Pool && has_pools)
            && part.threads >= QUEUEING.max(QUEUEING_SHARE * in_flight)
    };
    let station = |part: &RequestTimePart| {
        let at = line(&part.activity).map_or_else(String::new, |place| format!(" at {place}"));
        let station =
            NamedStation::new(format!("what requests wait for{at}"), Some(1.0), 1e3 / time.rate_per_s);
        is_always_awaited(record, &part.activity).then_some(station)
    };
    time.parts.iter().filter(is_queue).map(station).collect()
}

/// Whether a thread waited like this in nearly all samples, so that the resource was in use all the time.
fn is_always_awaited(record: &Record, activity: &ThreadActivity) -> bool {
    let profile = record.jvm.as_ref().and_then(|jvm| jvm.wait_profile.as_ref());
    let group = profile.and_then(|it| it.groups.iter().find(|group| group.activity == *activity));
    group.is_some_and(|group| {
        let awaited = group.threads.iter().filter(|threads| **threads > 0.0).count();
        awaited as f64 >= NEARLY_ALWAYS * group.threads.len() as f64
    })
}

/// The rest of a request's time, which no other station accounts for; `None` if other work holds connections, or if a queue may be hidden
/// in it. A request holds a connection while it runs or makes a call; connections that are busy for longer are held by other work.
fn delay<'a>(time: &RequestTime, figures: &RunFigures, held_ms: f64) -> Option<NamedStation<'a>> {
    let time_of = |holds: &dyn Fn(ThreadState) -> bool| {
        time.parts.iter().filter(|it| holds(it.activity.state)).map(|it| it.time.ms).sum::<f64>()
    };
    let is_served =
        |it: ThreadState| !it.is_contention() && !it.is_runnable() && it != ThreadState::Safepoint;
    let (served_ms, running_ms) = (time_of(&is_served), time_of(&ThreadState::is_runnable));
    let is_of_others = held_ms * (1.0 - HELD_BY_OTHERS) > served_ms + running_ms;
    let without_thread_ms = if figures.pool.is_some() { 0.0 } else { time.without_thread.ms.max(0.0) };
    let is_queue_hidden = without_thread_ms > MOST_WITHOUT_THREAD * time.service_time_ms;
    let delay_ms = (served_ms - held_ms).max(0.0) + without_thread_ms;
    (!is_of_others && !is_queue_hidden).then(|| NamedStation::new(String::new(), None, delay_ms))
}
