//! Connections as stations: pools that count themselves, and connections to neighbours that the kernel counts.

use super::flow::Flow;
use super::station::{ConnectionPool, KnownBy, LimitedConnections, Resource, Servers, Station, is_condition};
use super::thresholds::{FEWER, FEWEST_QUEUED, FEWEST_WAITING, MOST, is_about_as_many};
use crate::evidence::variant_runs::{full_share, is_request_pool, mean_of};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pool;
use threadcount_model::record::neighbour::NeighbourConnections;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// The full pool of connections for which most threads wait; `None` if fewer than `fewest_waiting` wait.
pub(super) fn full(record: &Record, fewest_waiting: f64) -> Option<Station> {
    let pools = record.jvm.as_ref()?.pools.iter().filter(|pool| !is_request_pool(pool));
    let full = pools.filter_map(awaited).filter(|it| it.0 >= fewest_waiting && is_full(it.0, &it.1));
    full.max_by(|a, b| a.0.total_cmp(&b.0)).map(|it| it.1)
}

/// A pool of connections for which requests wait, and how many of them.
fn awaited(pool: &Pool) -> Option<(f64, Station)> {
    let waiting = mean_of(pool.samples.iter().filter_map(|it| it.queued).map(|it| it as f64))?;
    let full_share = Some(full_share(pool)?);
    let connections = f64::from(pool.max.unwrap_or_default());
    let resource = ConnectionPool { library: pool.kind, name: pool.name.clone(), waiting };
    let station = Station {
        resource: Resource::ConnectionPool(resource),
        servers: Some(Servers::new(connections, KnownBy::Gauge)),
        full_share,
        ..Station::default()
    };
    (waiting > 0.0).then_some((waiting, station))
}

/// The full pool for whose connections this many threads wait; `None` if several pools fit, because nobody knows which of them is meant.
/// Threads that wait for an HTTP response include those that have a connection.
pub(super) fn pool_of(record: &Record, activity: &ThreadActivity, threads: f64) -> Option<Station> {
    let jvm = record.jvm.as_ref()?;
    let is_http = activity.waits_for_http();
    // Threads in code that the probe does not know wait for a notification or an element. In a known pool's code they name its library.
    let is_known = |pool: &Pool| {
        let groups = jvm.wait_profile.iter().flat_map(|it| &it.groups);
        groups.filter_map(|it| awaited_library(&it.activity)).any(|it| pool.kind.is_of_library(it))
    };
    let pools = jvm.pools.iter().filter(|pool| match awaited_library(activity) {
        Some(library) => pool.kind.is_of_library(library),
        None => is_condition(activity) && !is_request_pool(pool) && !is_known(pool),
    });
    let mut meant = pools.filter_map(awaited).filter(|(waiting, station)| {
        let connections = station.servers.map_or(0.0, |it| it.count);
        let without_connection = if is_http { threads - connections } else { threads };
        is_full(*waiting, station) && is_about_as_many(*waiting, without_connection)
    });
    meant.next().filter(|_| meant.next().is_none()).map(|it| it.1)
}

/// The library whose connection, or whose response, threads with this activity wait for.
pub(super) fn awaited_library(activity: &ThreadActivity) -> Option<&str> {
    let is_named = activity.state == ThreadState::Pool || activity.waits_for_http();
    activity.resource.as_deref().filter(|_| is_named)
}

fn is_full(waiting: f64, station: &Station) -> bool {
    waiting >= FEWEST_WAITING && station.full_share.is_some_and(|it| it >= MOST)
}

/// A few connections to a neighbour that always carry a request, while the other requests have no thread or wait for a result.
pub(super) fn neighbour(flow: &Flow<'_>) -> Option<Station> {
    let neighbours = flow.record.neighbours.iter().filter(|it| is_always_waited_at(it));
    let neighbour = neighbours.max_by_key(|it| it.most)?;
    let at_once = f64::from(neighbour.most);
    let others = flow.in_flight - at_once;
    // A thread that waits for a result may be waiting for the neighbour's response.
    let on_threads = flow
        .requests()
        .filter(|group| !matches!(group.activity.state, ThreadState::Future | ThreadState::Select));
    let is_limit = at_once <= FEWER * flow.in_flight
        && others >= FEWEST_QUEUED
        && flow.cores > 0.0
        && flow.threads(on_threads) <= (1.0 - MOST) * others;
    let resource = Resource::Neighbour(connections_to(neighbour));
    is_limit.then(|| flow.station(resource, Servers::new(at_once, KnownBy::Count)))
}

pub(super) fn connections_to(neighbour: &NeighbourConnections) -> LimitedConnections {
    LimitedConnections { address: neighbour.address.clone(), connections: neighbour.most }
}

/// Does each connection always carry exactly one request? If it carries several at once, its last request was often sent long ago.
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
