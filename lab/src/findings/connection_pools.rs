//! Pools of connections that are in use while threads wait for a connection.

use super::variant_runs::{full_share, is_request_pool, mean_of};
use crate::model::finding::FullPool;
use crate::model::record::Record;
use crate::model::record::jvm::Pool;

/// A pool is full if all of it is in use in more than this much of its readings.
const MOSTLY_FULL: f64 = 0.5;

/// The first one that is full while threads wait.
pub(super) fn full(record: &Record) -> Option<FullPool> {
    let pools = &record.jvm.as_ref()?.pools;
    let awaited = pools.iter().filter(|pool| !is_request_pool(pool)).filter_map(awaited);
    awaited.into_iter().find(|pool| pool.full_share >= MOSTLY_FULL)
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
        name: pool.name.clone(),
        connections: f64::from(pool.max.unwrap_or_default()),
        full_share,
        waiting_threads,
    })
}

/// The first one with the means of all; `None` of nothing.
pub(super) fn mean(pools: &[&FullPool]) -> Option<FullPool> {
    let first = (*pools.first()?).clone();
    let mean =
        |figure: fn(&FullPool) -> f64| mean_of(pools.iter().map(|pool| figure(pool))).unwrap_or_default();
    Some(FullPool {
        full_share: mean(|pool| pool.full_share),
        waiting_threads: mean(|pool| pool.waiting_threads),
        ..first
    })
}
