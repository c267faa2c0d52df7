//! Virtual threads and a platform pool smaller than the requests in flight differ in two things: the kind of thread, and how many
//! requests are in work at once. Only a platform pool that is large enough tells them apart.

mod rule;
mod words;

pub(crate) use rule::find;

use crate::evidence::in_flight::Arrivals;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two compared variants that differ both in the kind of thread and in how many requests may be in work at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindAndNumber {
    /// The variant on the smaller platform pool.
    pub pool_variant: String,
    /// Number of threads in its pool.
    pub pool_threads: u32,
    /// Requests in flight, each with its own thread in the other variant; a platform pool of this size would tell the two apart.
    pub requests_in_flight: u32,
    /// A variant with such a pool in the experiment that was not measured under this load; `None` if there is none.
    pub sized_variant: Option<String>,
    /// The arrivals that make so many requests be in flight, if the load does not give the number; `None` for clients of a closed loop.
    pub arrivals: Option<Arrivals>,
}
