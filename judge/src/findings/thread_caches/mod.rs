//! Values of thread locals that are meant to be used again by the same thread, and are made anew for each request, because each request
//! has a virtual thread of its own.
//!
//! The probe marks them by their stacks: what is allocated on a virtual thread while a thread local makes its first value.

mod rule;
mod words;

pub(crate) use rule::{find, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values of thread locals that each virtual thread makes anew. Under a load the figures are per request, and means of the runs that show
/// it; of a running JVM they are per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCaches {
    /// Bytes per request of such values.
    pub bytes_per_request: Option<f64>,
    /// All that a request allocates.
    pub all_bytes_per_request: Option<f64>,
    /// Bytes per second of such values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<f64>,
    /// All that the JVM allocates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_bytes_per_s: Option<f64>,
    /// Who asked for them, the most bytes first; at most 3.
    pub places: Vec<ThreadCache>,
}

/// Who asked for the value of a thread local, in the run with the most bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCache {
    /// The frame.
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
