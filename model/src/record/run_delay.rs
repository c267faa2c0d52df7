//! How long threads that could run waited until they did, by the probe's canary and by the kernel.

use super::wait_profile::ThreadState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of the threads of a JVM, in the explaining window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDelays {
    /// Of a platform thread that was due every 10 ms: what delays any thread of the process; `None`: not read.
    pub platform_threads: Option<RunDelay>,
    /// Of a virtual thread that was unparked as often: what waiting for a carrier adds to it; `None`: there were no carriers.
    pub virtual_threads: Option<RunDelay>,
    /// Of each carrier, by the kernel; empty: not read.
    pub carriers: Vec<CarrierRunTime>,
    /// Where virtual threads stayed on their carrier while others waited for one, the longest first.
    pub held_carriers: Vec<HeldCarrier>,
}

/// A delay for every 10 ms. Percentiles are up to an eighth too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct RunDelay {
    pub count: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

/// A carrier in the window, by the kernel's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierRunTime {
    /// The kernel's number of the thread.
    pub thread: u32,
    /// Between its first and its last reading.
    pub window_s: f64,
    /// On a core.
    pub ran_ms: f64,
    /// Runnable, and waiting for a core.
    pub waited_ms: f64,
}

/// A place in the code that kept carriers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldCarrier {
    /// What the virtual thread does there.
    pub state: ThreadState,
    /// The first frame of the application that stayed at its line.
    pub application: Option<String>,
    /// The first frame above it that is neither the application's nor the JDK's.
    pub library: Option<String>,
    /// Samples that show it.
    pub samples: u64,
    /// The time between these samples and those before, added up over the carriers.
    pub held_ms: f64,
    /// The longest time that one thread was seen on its carrier, while the same other one waited.
    pub longest_ms: f64,
    /// The most CPU that a carrier used in such a time: less than its length where the carrier waited for a core; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_ran_ms: Option<f64>,
}
