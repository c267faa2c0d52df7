//! Connection pools that are fully in use while threads wait for a connection.

use crate::evidence::variant_runs::{full_share, is_request_pool, mean_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{percent, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{Pool, PoolKind};
use threadcount_stats::backend_limit::MOSTLY_FULL;

/// A connection pool for which threads, or requests without a thread, wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullPool {
    /// The library that the pool belongs to.
    pub kind: PoolKind,
    /// The pool's own name.
    pub name: String,
    /// The most connections that the pool may have.
    pub connections: f64,
    /// Share of the pool's readings in which all connections were in use.
    pub full_share: f64,
    /// Mean number of threads that wait for a connection.
    pub waiting_threads: f64,
}

/// The least mean number of waiting threads in a window without a load, where the number of requests is unknown.
pub(crate) const FEWEST_WAITING: f64 = 1.0;

/// The full pool for which most threads wait, and at least `fewest_waiting`.
pub(crate) fn full(record: &Record, fewest_waiting: f64) -> Option<FullPool> {
    let pools = &record.jvm.as_ref()?.pools;
    let awaited = pools.iter().filter(|pool| !is_request_pool(pool)).filter_map(awaited);
    let full =
        awaited.filter(|pool| pool.full_share >= MOSTLY_FULL && pool.waiting_threads >= fewest_waiting);
    full.max_by(|a, b| a.waiting_threads.total_cmp(&b.waiting_threads))
}

/// Is the pool that a window without a load names as full a pool of this library?
pub(crate) fn is_full_in_window(record: &Record, library: &str) -> bool {
    full(record, FEWEST_WAITING).is_some_and(|full| full.kind.is_of_library(library))
}

/// The library's only pool for which threads wait; `None` if there are several, because nobody knows which one is meant.
pub(crate) fn of_library(record: &Record, library: &str) -> Option<FullPool> {
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

/// The first pool with the means of all pools of its name; `None` if `pools` is empty.
pub(crate) fn mean(pools: &[&FullPool]) -> Option<FullPool> {
    let first = (*pools.first()?).clone();
    let same = || pools.iter().filter(|pool| (pool.kind, &pool.name) == (first.kind, &first.name));
    let mean = |figure: fn(&FullPool) -> f64| mean_of(same().map(|pool| figure(pool))).unwrap_or_default();
    let (full_share, waiting_threads) = (mean(|pool| pool.full_share), mean(|pool| pool.waiting_threads));
    Some(FullPool { full_share, waiting_threads, ..first })
}

pub(crate) fn full_pool(pool: &FullPool) -> String {
    format!(
        "All {} of {} are in use in {} of its readings, and {} wait for one",
        whole(pool.connections),
        pool.name,
        percent(pool.full_share),
        whole(pool.waiting_threads)
    )
}
