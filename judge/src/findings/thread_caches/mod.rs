//! Thread locals cache a value so that the same thread can reuse it. If each request has its own virtual thread, the value is made anew for
//! each request.
//!
//! The probe recognises such values by their stacks: everything that a virtual thread allocates while a thread local makes its first value.

mod rule;
mod words;

pub(crate) use rule::{find, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values of thread locals that each virtual thread makes anew. Under a load the figures are per request, in the typical run of those that
/// show it; in a running JVM they are per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCaches {
    /// Bytes per request of these values.
    pub bytes_per_request: Option<f64>,
    /// Bytes per request of everything that is allocated.
    pub all_bytes_per_request: Option<f64>,
    /// Bytes per second of these values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// Bytes per second of everything that the JVM allocates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_bytes_per_s: Option<f64>,
    /// Code that asked for these values, most bytes first; at most 3 places.
    pub places: Vec<ThreadCache>,
}

/// Code that asked for the value of a thread local, in the run with the most bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCache {
    /// The frame that asked.
    pub asked_by: String,
    /// The first frame of the application.
    pub application: Option<String>,
    /// The class of most of the bytes.
    pub class: String,
    /// Bytes per request.
    pub bytes_per_request: Option<f64>,
    /// Bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
}
