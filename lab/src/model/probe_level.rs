//! How much the probe records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much the probe records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ProbeLevel {
    /// Nothing: no probe in the JVM.
    Off,
    /// Heap, collections, carriers, pools, pins, contended monitors, a few samples of running threads.
    #[default]
    Light,
    /// Also every start and end of a virtual thread, and every socket read and park of 20 ms and longer. This adds a
    /// cost per request: an idle thread of a pool parks.
    Full,
}
