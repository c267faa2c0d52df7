//! Whether the probe is in a JVM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the probe is in a JVM while a run is explained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeLevel {
    /// No probe in the JVM.
    Off,
    /// Heap, collections, carriers, pools, pins and samples of threads: no event per request.
    #[default]
    Light,
}
