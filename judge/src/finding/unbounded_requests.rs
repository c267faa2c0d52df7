//! Requests that nothing limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests on virtual threads that fill the heap. Means of the runs that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnboundedRequests {
    /// Stacks of parked virtual threads in the heap; a thread with a deep stack has several.
    pub virtual_thread_stacks: f64,
    /// Reachable objects under load, counted at the same time.
    pub live_bytes: f64,
    /// The largest heap that the JVM may have.
    pub heap_bytes: f64,
    /// The variant with the fewest live bytes under the same load.
    pub least_variant: String,
    /// Its live bytes.
    pub least_live_bytes: f64,
}
