//! A load of an experiment (or of `threadcount load`), against a server that runs, as the generator's plan.

use crate::model::experiment::{LoadKind, LoadSpec, Shape};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Pacing, RateShape, Stop};
use threadcount_load::request::{RequestError, RequestSource};

/// Why a load cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum LoadPlanError {
    /// The request is not one.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Zero clients or requests, or no end.
    #[error("the load `{load}` has {what}")]
    Empty {
        /// Its name.
        load: String,
        /// What is missing.
        what: &'static str,
    },
}

/// Clients of the warm-up of a capacity load: closed, so that it never asks for more than the server does.
const WARMING_CLIENTS: u32 = 64;

/// The plan that sends `load` to the server at `url`; of a capacity load, what warms the server up.
///
/// # Errors
/// A request that cannot be sent, a load without clients or end.
pub fn load_plan(load: &LoadSpec, url: &str) -> Result<LoadPlan, LoadPlanError> {
    let empty = |what| LoadPlanError::Empty { load: load.name.clone(), what };
    let (clients, pacing) = match load.kind {
        LoadKind::Closed { clients } => (clients, Pacing::Closed),
        LoadKind::Open { rate_per_s, clients } => {
            let constant = RateShape::Constant { rate_per_s };
            (clients, open(load, load.shape.as_ref().map_or(constant, Shape::for_generator)))
        }
        LoadKind::Capacity(_) => (WARMING_CLIENTS, Pacing::Closed),
        LoadKind::Benchmark(_) => return Err(empty("nothing to send: it is for a benchmark")),
    };
    let connections = NonZeroU32::new(clients).ok_or_else(|| empty("no clients"))?;
    let stop = stop(load).ok_or_else(|| empty("neither requests nor a duration"))?;
    let targets = load.all_requests().map(|request| request.target(url));
    let source = Arc::new(RequestSource::new(targets.collect::<Result<_, _>>()?)?);
    Ok(load.sending.plan(source, pacing, connections, stop, load.keep_alive))
}

/// A step of a capacity load.
///
/// # Errors
/// As [`load_plan`].
pub fn at_rate(
    load: &LoadSpec,
    url: &str,
    rate_per_s: f64,
    connections: u32,
) -> Result<LoadPlan, LoadPlanError> {
    let plan = load_plan(load, url)?;
    let connections = NonZeroU32::new(connections).unwrap_or(plan.connections);
    Ok(LoadPlan { pacing: open(load, RateShape::Constant { rate_per_s }), connections, ..plan })
}

/// One request of a load, given up after a time.
///
/// # Errors
/// As [`load_plan`].
pub fn one_request(load: &LoadSpec, url: &str, limit: Duration) -> Result<LoadPlan, LoadPlanError> {
    let one = Stop::Either(NonZeroU64::MIN, limit);
    Ok(LoadPlan { connections: NonZeroU32::MIN, pacing: Pacing::Closed, stop: one, ..load_plan(load, url)? })
}

fn open(load: &LoadSpec, shape: RateShape) -> Pacing {
    Pacing::Open { shape, arrivals: load.sending.arrivals }
}

fn stop(load: &LoadSpec) -> Option<Stop> {
    let requests = load.requests.and_then(NonZeroU64::new);
    let duration = load.duration_s.map(Duration::from_secs_f64);
    match (requests, duration) {
        (Some(requests), Some(duration)) => Some(Stop::Either(requests, duration)),
        (Some(requests), None) => Some(Stop::Requests(requests)),
        (None, Some(duration)) => Some(Stop::Duration(duration)),
        (None, None) => None,
    }
}
