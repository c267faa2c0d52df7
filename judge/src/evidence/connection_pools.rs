//! Pools of connections that are in use while threads wait for a connection.

use crate::evidence::variant_runs::{full_share, is_request_pool, mean_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{percent, whole};
use threadcount_model::record::Record;
use threadcount_model::record::jvm::{Pool, PoolKind};
use threadcount_stats::backend_limit::MOSTLY_FULL;

/// A pool of connections for which threads, or requests without a thread, wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FullPool {
    /// Its library.
    pub kind: PoolKind,
    /// Its own name.
    pub name: String,
    /// The most that it may have.
    pub connections: f64,
    /// The share of its readings in which all were in use.
    pub full_share: f64,
    /// On average.
    pub waiting_threads: f64,
}

/// On average; without a load the number of requests is not known.
pub(crate) const FEWEST_WAITING: f64 = 1.0;

/// The full one for which most wait, and at least so many.
pub(crate) fn full(record: &Record, fewest_waiting: f64) -> Option<FullPool> {
    let pools = &record.jvm.as_ref()?.pools;
    let awaited = pools.iter().filter(|pool| !is_request_pool(pool)).filter_map(awaited);
    let full =
        awaited.filter(|pool| pool.full_share >= MOSTLY_FULL && pool.waiting_threads >= fewest_waiting);
    full.max_by(|a, b| a.waiting_threads.total_cmp(&b.waiting_threads))
}

/// Is the one that is named as full in a window without a load one of this library?
pub(crate) fn is_full_in_window(record: &Record, library: &str) -> bool {
    full(record, FEWEST_WAITING).is_some_and(|full| full.kind.is_of_library(library))
}

/// The only one of a library for which threads wait; of several it is not known which one is meant.
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

/// The first one with the means of those of its name; `None` of nothing.
pub(crate) fn mean(pools: &[&FullPool]) -> Option<FullPool> {
    let first = (*pools.first()?).clone();
    let same = || pools.iter().filter(|pool| (pool.kind, &pool.name) == (first.kind, &first.name));
    let mean = |figure: fn(&FullPool) -> f64| mean_of(same().map(|pool| figure(pool))).unwrap_or_default();
    let (full_share, waiting_threads) = (mean(|pool| pool.full_share), mean(|pool| pool.waiting_threads));
    Some(FullPool { full_share, waiting_threads, ..first })
}

/// `all 10 of orders are in use in 97 % of its readings, and 31 wait for one`.
pub(crate) fn full_pool(pool: &FullPool) -> String {
    format!(
        "All {} of {} are in use in {} of its readings, and {} wait for one",
        whole(pool.connections),
        pool.name,
        percent(pool.full_share),
        whole(pool.waiting_threads)
    )
}
