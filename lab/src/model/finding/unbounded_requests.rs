//! Requests that nothing limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests on virtual threads that fill the heap. Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnboundedRequests {
    /// The most requests without a response.
    pub in_flight: f64,
    /// Stacks of parked virtual threads in the heap; a thread with a deep stack has several.
    pub virtual_thread_stacks: f64,
    /// Reachable objects under load.
    pub live_bytes: f64,
    /// The largest heap that the JVM may have.
    pub heap_bytes: f64,
    /// Share of the measured window; `None`: not known.
    pub gc_paused_share: Option<f64>,
}
