//! How many requests a variant can work on at once, and on which kind of thread.

use crate::evidence::variant_runs::{RunFigures, VariantRuns};
use threadcount_model::experiment::{DropIn, Server, ThreadKind, Threads, Variant};
use threadcount_stats::runs::mean;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Workers {
    pub kind: ThreadKind,
    pub at_once: f64,
}

impl Workers {
    /// `None` if no run is complete, or if neither the experiment nor the server reports the number.
    pub fn of(runs_of_variant: &VariantRuns<'_>) -> Option<Self> {
        let (kind, variant) = (kind(runs_of_variant)?, runs_of_variant.variant);
        let most = runs_of_variant.runs.iter().filter_map(|run| RunFigures::of(run)?.pool);
        let most = mean(&most.collect::<Vec<f64>>());
        let is_unlimited = kind == ThreadKind::Virtual
            || matches!(variant.server().and_then(Server::threads), Some(Threads::Executor(DropIn::Cached)));
        let at_once = most
            .or_else(|| request_limit(variant).or_else(|| variant.pool_setting()).map(f64::from))
            .or(is_unlimited.then_some(f64::INFINITY))?;
        Some(Self { kind, at_once })
    }
}

/// The kind of thread that requests run on; `None` if no run is complete, or if neither the experiment nor the server tells.
pub(crate) fn kind(runs_of_variant: &VariantRuns<'_>) -> Option<ThreadKind> {
    let first = runs_of_variant.runs.first()?;
    let reported = || first.server.request_thread.as_ref().map(|thread| thread.kind());
    let variant = runs_of_variant.variant;
    configured_kind(variant).or(variant.answers_on).or_else(reported).or_else(|| variant.kind_setting())
}

/// The limit of Threadcount's own bounded virtual threads, which plays the role of a pool's size.
fn request_limit(variant: &Variant) -> Option<u32> {
    match variant.server().and_then(Server::threads) {
        Some(Threads::Executor(DropIn::BoundedVirtual(limit))) => Some(limit.max_concurrent),
        _ => variant.limit_setting(),
    }
}

fn configured_kind(variant: &Variant) -> Option<ThreadKind> {
    Some(match variant.server().and_then(Server::threads)? {
        Threads::Platform(_) | Threads::Executor(DropIn::Cached) => ThreadKind::Platform,
        Threads::Virtual | Threads::Executor(DropIn::Virtual | DropIn::BoundedVirtual(_)) => {
            ThreadKind::Virtual
        }
    })
}
