//! Virtual threads against a platform pool that is smaller than the requests in flight differ in two things: the kind of
//! thread, and how many requests are in work at once. Only a platform pool that is as large tells them apart.

mod rule;
mod words;

pub(crate) use rule::find;

use crate::evidence::in_flight::Arrivals;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two variants that are compared differ in the kind of thread and in how many requests may be in work at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindAndNumber {
    /// The variant on the smaller platform pool.
    pub pool_variant: String,
    /// The threads of its pool.
    pub pool_threads: u32,
    /// Requests in flight, each of which has a thread of its own in the other variant; so large a platform pool would tell the
    /// two apart.
    pub requests_in_flight: u32,
    /// A variant of the experiment with such a pool, which was not measured under this load; `None`: it has none.
    pub sized_variant: Option<String>,
    /// What makes so many requests be in flight where the load does not say it; `None`: the clients of a closed loop.
    pub arrivals: Option<Arrivals>,
}
