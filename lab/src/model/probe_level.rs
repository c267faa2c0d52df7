//! How much the probe watches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the JVM inside a server is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ProbeLevel {
    /// Nothing: no probe in the JVM.
    Off,
    /// Heap, collections, carriers, pools, pins, contended monitors, a few samples of running threads.
    #[default]
    Light,
    /// Also every start and end of a virtual thread, and every socket read and park of 20 ms and longer. Each costs
    /// something for every request: an idle thread of a pool parks.
    Full,
}
