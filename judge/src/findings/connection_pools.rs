//! Pools of connections that are in use while threads wait for a connection.

use super::variant_runs::{full_share, is_request_pool, mean_of};
use crate::finding::FullPool;
use threadcount_model::record::Record;
use threadcount_model::record::jvm::Pool;

/// A pool is full if all of it is in use in more than this much of its readings.
pub(super) const MOSTLY_FULL: f64 = 0.5;
/// On average; without a load the number of requests is not known.
pub(super) const FEWEST_WAITING: f64 = 1.0;

/// The full one for which most wait, and at least so many.
pub(super) fn full(record: &Record, fewest_waiting: f64) -> Option<FullPool> {
    let pools = &record.jvm.as_ref()?.pools;
    let awaited = pools.iter().filter(|pool| !is_request_pool(pool)).filter_map(awaited);
    let full =
        awaited.filter(|pool| pool.full_share >= MOSTLY_FULL && pool.waiting_threads >= fewest_waiting);
    full.max_by(|a, b| a.waiting_threads.total_cmp(&b.waiting_threads))
}

/// Is the one that is named as full in a window without a load one of this library?
pub(super) fn is_full_in_window(record: &Record, library: &str) -> bool {
    full(record, FEWEST_WAITING).is_some_and(|full| full.kind.is_of_library(library))
}

/// The only one of a library for which threads wait; of several it is not known which one is meant.
pub(super) fn of_library(record: &Record, library: &str) -> Option<FullPool> {
    let pools = record.jvm.as_ref()?.pools.iter();
    let mut awaited = pools.filter(|pool| pool.kind.is_of_library(library)).filter_map(awaited);
    awaited.next().filter(|_| awaited.next().is_none())
}

fn awaited(pool: &Pool) -> Option<FullPool> {
    let waiting_threads = mean_of(pool.samples.iter().filter_map(|it| it.queued).map(|it| it as f64))?;
    let full_share = full_share(pool)?;
    (waiting_threads > 0.0).then(|| FullPool {
        kind: pool.kind,
        name: pool.name.clone(),
        connections: f64::from(pool.max.unwrap_or_default()),
        full_share,
        waiting_threads,
    })
}

/// The first one with the means of those of its name; `None` of nothing.
pub(super) fn mean(pools: &[&FullPool]) -> Option<FullPool> {
    let first = (*pools.first()?).clone();
    let same = || pools.iter().filter(|pool| (pool.kind, &pool.name) == (first.kind, &first.name));
    let mean = |figure: fn(&FullPool) -> f64| mean_of(same().map(|pool| figure(pool))).unwrap_or_default();
    let (full_share, waiting_threads) = (mean(|pool| pool.full_share), mean(|pool| pool.waiting_threads));
    Some(FullPool { full_share, waiting_threads, ..first })
}
