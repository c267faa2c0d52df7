//! How much the probe records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

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

impl fmt::Display for ProbeLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Light => "light",
            Self::Full => "full",
        })
    }
}
